"""Since: what changed in the folder after an epoch began, told once (DESIGN §7)."""

from __future__ import annotations

import json

from looseleaf.base import clock
from looseleaf.base.errors import Refused
from looseleaf.base.hashing import sha256
from looseleaf.base.ids import new_id
from looseleaf.base.page_paths import STATE
from looseleaf.facts.placement import PROFILE
from looseleaf.log.turns import open_calls
from looseleaf.prompt import changes as tell
from looseleaf.prompt.epoch import Change
from looseleaf.prompt.snapshot import CHARTER, LISTED
from looseleaf.text import untrusted

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Any

    from looseleaf.base.messages import Trace
    from looseleaf.base.values import Position, Record
    from looseleaf.pages.pages import Pages
    from looseleaf.prompt.epoch import Epoch
    from looseleaf.prompt.snapshot import Gather
    from looseleaf.window.window import Window

_TOP = (*CHARTER, PROFILE)


class Since:
    """Knows what was shown of each page, so that it can tell what is new."""

    def __init__(self, pages: Pages, gather: Gather, note: Callable[[str], None]) -> None:
        self._pages = pages
        self._gather = gather
        self._note = note
        self._texts: dict[str, tuple[str, str | None]] = {}
        self._states: tuple[str, dict[str, Any]] = "", {}
        self._looked: Position | None = None

    def begin(self) -> dict[str, str]:
        """Remember what the pages at the top say; their revisions."""
        self._texts = {}
        for path in _TOP:
            revision, text = self._now(path)
            self._texts[path] = revision, text
        told = self._gather.state()[0]
        revision = _hash(told)
        self._states = revision, told
        self._looked = self._pages.absorb.heads.position
        seen = {path: known[0] for path, known in self._texts.items()} | {STATE: revision}
        return {path: revision for path, revision in seen.items() if revision}

    def forget(self) -> None:
        """What was to be told was not: it is looked for again."""
        self._looked = None

    def change(
        self, epoch: Epoch, before: Sequence[Change], window: Window, last: Record | None
    ) -> Change | None:
        """What is to be told now; `last` is the record of the last prompt.

        Not between a call and its result: providers take no message there. A request that no prompt has shown yet is
        told after it: so the prompt ends with what it is about.
        """
        position = self._pages.absorb.heads.position
        if self._looked == position or _is_calling(window.traces):
            return None
        seen = epoch.seen | {path: each for change in before for path, each in change.seen.items()}
        parts: list[tuple[str, list[str]]] = []
        new: dict[str, str] = {}
        name = new_id()
        word = untrusted.word(name)
        for path in _TOP:
            revision, text = self._now(path)
            if revision != seen.get(path, ""):
                foreign = self._gather.foreign(path) if path == PROFILE else ()
                before_it = self._text_at(path, seen.get(path, ""))
                elsewhere = self._gather.holding() if path == PROFILE else ()
                is_doubted = path == PROFILE and not self._gather.trusts
                own = tell.of_page(before_it, text, foreign, word, elsewhere, is_doubted=is_doubted)
                parts.append((path, list(own)))
                new[path] = revision
                self._texts[path] = revision, text
        told = self._gather.state()[0]
        revision = _hash(told)
        if revision != seen.get(STATE, _hash({})):
            said = list(tell.of_state(self._state_at(seen.get(STATE, "")), told))
            if said and self._gather.foreign(STATE):
                said = [untrusted.fenced("\n".join(said), word)]
            parts.append((STATE, said))
            new[STATE] = revision
            self._states = revision, told
        fresh, gone = self._pages_since(epoch, before)
        parts.append(("Pages", list(tell.of_pages(self._gather.summaries(fresh), sorted(gone)))))
        self._looked = position
        message = tell.told(parts, word)
        if not message:
            return None
        traces = window.traces
        is_asked = bool(traces) and traces[-1].trace_type == "user" and _shown(traces, last) < len(traces)
        behind = traces[-2:-1] if is_asked else traces[-1:]
        after = behind[0].id if behind else None
        return Change(name, clock.now(), after, message, new, tuple(sorted(fresh)), tuple(sorted(gone)))

    def _pages_since(self, epoch: Epoch, before: Sequence[Change]) -> tuple[set[str], set[str]]:
        """Pages of the drawers that came, and those that went, since that was last told."""
        known = {path for item in epoch.items if item.slot == "index" for path in item.of}
        known.update(path for each in epoch.omitted if each.slot == "index" for path in each.of)
        known = {path for path in known if path.startswith(LISTED)}
        for change in before:
            known = (known | set(change.came)) - set(change.went)
        now = self._gather.drawers()
        return self._gather.vouched_for(now - known), self._gather.vouched_for(known - now)

    def _now(self, path: str) -> tuple[str, str | None]:
        """The revision of a page at the top, and what it says. One that cannot be read is what it was."""
        head = self._pages.absorb.heads.get(path).sha256 or ""
        known = self._texts.get(path)
        if known is not None and known[0] == head:
            return known
        try:
            return head, self._gather.text(path)
        except Refused as refused:
            self._note(str(refused))
            return known or (head, self._rebuilt(path, head))

    def _text_at(self, path: str, revision: str) -> str | None:
        known = self._texts.get(path)
        return known[1] if known is not None and known[0] == revision else self._rebuilt(path, revision)

    def _rebuilt(self, path: str, revision: str) -> str | None:
        data = self._pages.history.rebuild(path, revision) if revision else None
        return None if data is None else data.decode("utf-8", "replace")

    def _state_at(self, revision: str) -> dict[str, Any]:
        if self._states[0] == revision:
            return self._states[1]
        from looseleaf.state.rules import for_prompt

        now = self._pages.absorb.head_bytes(STATE)
        for edit in self._pages.history.back(STATE) if revision else ():
            try:
                told: dict[str, Any] = for_prompt(json.loads(self._pages.history.after(edit, now) or b"{}"))
            except (Refused, ValueError, RecursionError, TypeError, AttributeError):
                continue  # it was broken then
            if _hash(told) == revision:
                return told
        return {}


def _hash(told: dict[str, Any]) -> str:
    """The revision of a state is that of what a prompt shows of it: when it was written says nothing."""
    return sha256(json.dumps(told, ensure_ascii=False, sort_keys=True).encode("utf-8", "surrogatepass"))


def _is_calling(traces: Sequence[Trace]) -> bool:
    """Whether a call of the turn that goes on is open. One of an older turn may stay so for ever."""
    turn = traces[-1].turn_id if traces else ""
    return bool(open_calls([trace for trace in traces if trace.turn_id == turn]))


def _shown(traces: Sequence[Trace], last: Record | None) -> int:
    """How many of the traces the last prompt has shown; also the one that was its task and is recorded by now."""
    shown = (last or {}).get("shown")
    number = next((at for at in range(len(traces), 0, -1) if traces[at - 1].id == shown), 0)
    task = (last or {}).get("task")
    is_task = task is not None and number < len(traces) and traces[number].trace_type == "user"
    return number + 1 if is_task and traces[number].content == task else number
