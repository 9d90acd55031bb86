"""The messages of one prompt, in order: what each costs and why it is there; and the changes since its epoch began."""

from __future__ import annotations

import json
from itertools import accumulate

from looseleaf.base import ids as clock
from looseleaf.base.errors import Refused
from looseleaf.base.ids import new_id
from looseleaf.base.paths import STATE
from looseleaf.base.values import sha256
from looseleaf.facts.placement import PROFILE
from looseleaf.log.turns import MESSAGE_TOKENS, open_calls
from looseleaf.prompt import slot_forms
from looseleaf.prompt.manifest import EpochChange, ManifestItem, Omitted
from looseleaf.prompt.prompt_log import (
    apply_trim,
    drop_sentences,
    insert_changes,
    place_of_change,
    task_message,
)
from looseleaf.prompt.slot_forms import OVER
from looseleaf.prompt.snapshot import CHARTER, LISTED
from looseleaf.text import untrusted
from looseleaf.window.window import costs_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from typing import Any

    from looseleaf.base.messages import Message, Trace
    from looseleaf.base.values import Record
    from looseleaf.pages.pages import Pages
    from looseleaf.prompt.manifest import Epoch
    from looseleaf.prompt.snapshot import SlotReader
    from looseleaf.window.window import Count, Window


# --- changes in the folder since an epoch began, each reported once ---------------------

_TOP = (*CHARTER, PROFILE)
_SHOWN = "shown"
"""The mark of a farther layer's fact that was shown; its line never changes."""


class VersionLost(Exception):
    """The journal no longer has the version of a page that was shown, so what changed since cannot be told."""


class ChangeTracker:
    """Remembers what was shown of each page, to report what is new."""

    def __init__(self, pages: Pages, gather: SlotReader, note: Callable[[str], None]) -> None:
        self._pages = pages
        self._gather = gather
        self._note = note
        self._texts: dict[str, tuple[str, str | None]] = {}
        self._states: tuple[str, dict[str, Any]] = "", {}
        self._looked: object = None
        """How far the journals were read at the last look."""

    def begin(self) -> dict[str, str]:
        """Remember what the top pages say; return their revisions."""
        self._texts = {}
        self._texts = {path: self._read_now(path) for path in _TOP}
        told = self._gather.state()[0]
        revision = _hash_state(told)
        self._states = revision, told
        self._looked = self._position()
        seen = {path: known[0] for path, known in self._texts.items()} | {STATE: revision}
        seen |= {name: _SHOWN for name, _ in self._gather.farther.profile()}
        return {path: revision for path, revision in seen.items() if revision}

    def _position(self) -> object:
        return self._pages.absorb.heads.position, self._gather.farther.position()

    def forget(self) -> None:
        """Look again: the last change was not used."""
        self._looked = None

    def change(
        self, epoch: Epoch, before: Sequence[EpochChange], window: Window, last: Record | None
    ) -> EpochChange | None:
        """Return the change to report now; `last` is the record of the last prompt.

        Not between a call and its result: providers accept no message there. A request that no prompt has shown yet
        comes after the change, so that the prompt ends with its subject. VersionLost: the journal lost what was shown.
        """
        position = self._position()
        if self._looked == position or _is_calling(window.traces):
            return None
        seen = epoch.seen | {path: each for change in before for path, each in change.seen.items()}
        parts: list[tuple[str, list[str]]] = []
        new: dict[str, str] = {}
        name = new_id()
        word = untrusted.word(name)
        for path in _TOP:
            revision, text = self._read_now(path)
            if revision != seen.get(path, ""):
                foreign = self._gather.untrusted_lines(path) if path == PROFILE else ()
                was, before_it = self._texts.get(path, ("", None))
                if was != seen.get(path, ""):
                    before_it = self._rebuild_text(path, seen.get(path, ""))
                    if before_it is None and seen.get(path):
                        raise VersionLost(path)
                elsewhere = self._gather.facts_elsewhere() if path == PROFILE else ()
                is_doubted = path == PROFILE and not self._gather.trusts
                own = slot_forms.diff_page(before_it, text, foreign, word, elsewhere, is_doubted=is_doubted)
                parts.append((path, list(own)))
                new[path] = revision
                self._texts[path] = revision, text
        told = self._gather.state()[0]
        revision = _hash_state(told)
        if revision != seen.get(STATE, _hash_state({})):
            said = list(slot_forms.diff_state(self._read_state_at(seen.get(STATE, "")), told))
            if said and self._gather.untrusted_lines(STATE):
                said = [untrusted.fenced("\n".join(said), word)]
            parts.append((STATE, said))
            new[STATE] = revision
            self._states = revision, told
        farther: dict[str, str] = {}
        for layer, told_there, names in self._find_farther_changes(seen, farther):
            parts.append((layer, told_there))
            new |= names
        fresh, gone = self._find_page_changes(epoch, before)
        pages = slot_forms.list_page_changes(self._gather.summaries(fresh), sorted(gone))
        parts.append(("Pages", list(pages)))
        self._looked = position
        message = slot_forms.join_changes(parts, word)
        if not message:
            return None
        traces = window.traces
        is_asked = bool(traces) and traces[-1].trace_type == "user"
        behind = traces[-2:-1] if is_asked and _count_shown(traces, last) < len(traces) else traces[-1:]
        after = behind[0].id if behind else None
        came, went = tuple(sorted(fresh)), tuple(sorted(gone))
        lines = tuple((line, each) for each, line in farther.items())
        return EpochChange(name, clock.now(), after, message, new, came, went, lines)

    def _find_farther_changes(
        self, seen: dict[str, str], lines: dict[str, str]
    ) -> Iterator[tuple[str, list[str], dict[str, str]]]:
        """Yield, for each layer whose user's facts changed, its page, what it says, and the facts with their new marks;
        put their lines into `lines`."""
        known = {name for name, mark in seen.items() if mark == _SHOWN}
        for layer, now, gone in self._gather.farther.compare(known):
            lines |= now | gone
            says = [f"- {slot_forms.SAYS}: {line}" for line in now.values()]
            says += [f"- {slot_forms.NO_LONGER}: {line}" for line in gone.values()]
            yield f"{layer}:{PROFILE}", says, dict.fromkeys(now, _SHOWN) | dict.fromkeys(gone, "")

    def _find_page_changes(self, epoch: Epoch, before: Sequence[EpochChange]) -> tuple[set[str], set[str]]:
        """Return the drawers' pages that came and went since the last report."""
        known = {path for item in epoch.items if item.slot == "index" for path in item.of}
        known.update(path for each in epoch.omitted if each.slot == "index" for path in each.of)
        known = {path for path in known if path.startswith(LISTED)}
        for change in before:
            known = (known | set(change.came)) - set(change.went)
        now = self._gather.drawers()
        return self._gather.keep_trusted(now - known), self._gather.keep_trusted(known - now)

    def _read_now(self, path: str) -> tuple[str, str | None]:
        """Return the revision and text of a top page. An unreadable one keeps its last text."""
        head = self._pages.absorb.heads.get(path).sha256 or ""
        known = self._texts.get(path)
        if known is not None and known[0] == head:
            return known
        try:
            return head, self._gather.text(path)
        except Refused as refused:
            self._note(str(refused))
            return known or (head, self._rebuild_text(path, head))

    def _rebuild_text(self, path: str, revision: str) -> str | None:
        data = self._pages.history.rebuild(path, revision) if revision else None
        return None if data is None else data.decode("utf-8", "replace")

    def _read_state_at(self, revision: str) -> dict[str, Any]:
        if self._states[0] == revision:
            return self._states[1]
        from looseleaf.state.rules import for_prompt

        now = self._pages.absorb.head_bytes(STATE)
        for edit in self._pages.history.back(STATE) if revision else ():
            try:
                told: dict[str, Any] = for_prompt(json.loads(self._pages.history.after(edit, now) or b"{}"))
            except (Refused, ValueError, RecursionError, TypeError, AttributeError):
                continue  # broken at that time
            if _hash_state(told) == revision:
                return told
        if revision not in ("", _hash_state({})):
            raise VersionLost(STATE)
        return {}


def _hash_state(told: dict[str, Any]) -> str:
    """Return the revision of a state: a hash of what a prompt shows of it, without times."""
    return sha256(json.dumps(told, ensure_ascii=False, sort_keys=True).encode("utf-8", "surrogatepass"))


def _is_calling(traces: Sequence[Trace]) -> bool:
    """True if a call of the current turn is open. One of an older turn may stay open for ever."""
    turn = traces[-1].turn_id if traces else ""
    return bool(open_calls([trace for trace in traces if trace.turn_id == turn]))


def _count_shown(traces: Sequence[Trace], last: Record | None) -> int:
    """Return how many traces the last prompt showed, including its task if that is recorded by now."""
    shown = (last or {}).get("shown")
    number = next((at for at in range(len(traces), 0, -1) if traces[at - 1].id == shown), 0)
    task = (last or {}).get("task")
    is_task = task is not None and number < len(traces) and traces[number].trace_type == "user"
    return number + 1 if is_task and traces[number].content == task else number


SHORT_TERM = "short_term"
_OWN_ITEMS = 8
"""Changes with an item of their own: more would make each record grow with the epoch."""

COMPACTED, UNDISTILLED = "compacted", "not_distilled"


class PromptParts:
    """`asked_at` is the number of the window's message that is already the task; None: the task is not in the window
    yet. `trimmed` says which part of the window is shown, if not all."""

    def __init__(
        self,
        epoch: Epoch,
        window: Window,
        changes: Sequence[EpochChange],
        task: str | None,
        asked_at: int | None,
        count: Count,
        unit: str,
        trimmed: Record | None = None,
    ) -> None:
        self.epoch = epoch
        self.changes = changes
        self.asked_at = asked_at
        self.trimmed = trimmed
        self._count = count
        self._window = window
        self._first_messages = epoch.messages
        self._request = [task_message(task)] if task is not None and asked_at is None else []
        self._talk_messages = drop_sentences(window, epoch.left)
        self._places = [place_of_change(window, change) for change in changes]
        if trimmed is not None:
            self._talk_messages = apply_trim(self._talk_messages, trimmed)
            self._sums = list(accumulate(costs_of(self._talk_messages, count), initial=0))
        else:
            self._sums = window.weights(unit, count)
            if epoch.left and self._talk_messages:
                more = costs_of(self._talk_messages[:1], count)[0] - self._sums[1]
                self._sums = [0, *(cost + more for cost in self._sums[1:])]
        self.items = tuple(self._build_items())
        self.total = sum(item.tokens for item in self.items)

    def messages(self) -> list[Message]:
        told = self._talk_messages
        if self.trimmed is None:
            changes = (each.message for each in self.changes)
            told = insert_changes(told, list(zip(self._places, changes, strict=True)))
        return [*self._first_messages, *told, *self._request]

    def omitted(self) -> list[Omitted]:
        found: list[Omitted] = []
        mark = self._window.mark
        if self.trimmed is not None:
            left = len(self._window.messages) - len(self._talk_messages)
            found += [Omitted(f"{left} messages", "window", OVER)] if left else []
            if self.trimmed.get("text") is not None:
                found.append(Omitted("the beginning of a message", "window", OVER))
            short = self.trimmed.get("short", {})
            found += [Omitted("the ends of results", "window", OVER, tuple(short))] if short else []
        if mark is not None:
            found.append(Omitted("earlier turns", "window", COMPACTED, self._list_entries()))
            found += [Omitted("earlier turns", "window", UNDISTILLED, mark.left[:2])] if mark.left else []
            short = tuple(trace for trace, _ in mark.short)
            found += [Omitted("what is too long", "window", COMPACTED, short)] if short else []
        return found

    def _build_items(self) -> Iterator[ManifestItem]:
        yield from self._weigh_beginning()
        at = len(self._first_messages)
        for item in self._split_talk(at):
            yield item
            at = item.end
        for message in self._request:
            tokens = costs_of([message], self._count)[0]
            yield ManifestItem("task", "task", "task", "text", tokens, "the_request", at, at + 1)

    def _weigh_beginning(self) -> Iterator[ManifestItem]:
        """Weigh the beginning again: its model may have counted otherwise."""
        for number, message in enumerate(self._first_messages):
            own = [item for item in self.epoch.items if item.first == number]
            text = message.content or ""
            upto = self._count([text[: item.stop] for item in own])
            before = 0
            for item, tokens in zip(own, upto, strict=True):
                yield item.but(tokens=tokens + MESSAGE_TOKENS - before)
                before = tokens + MESSAGE_TOKENS

    def _split_talk(self, first: int) -> Iterator[ManifestItem]:
        """Yield the window in runs: its snapshot, the talk, the changes in between, the task if it was said already.
        The last changes get their own items; older ones are part of the talk."""
        begins, asked_at = self._window.begins, self.asked_at
        told: list[tuple[int, EpochChange, int]] = []
        if self.trimmed is None:
            costs = costs_of([change.message for change in self.changes], self._count)
            told = list(zip(self._places, self.changes, costs, strict=True))
        else:
            begins, start, end = 0, int(self.trimmed["first"]), int(self.trimmed["end"])
            asked_at = asked_at - start if asked_at is not None and start <= asked_at < end else None
        own, old = told[-_OWN_ITEMS:], told[:-_OWN_ITEMS]
        cuts = {0, begins, len(self._talk_messages), *(at for at, _, _ in own)}
        cuts |= {asked_at, asked_at + 1} if asked_at is not None else set()
        bounds, traces = sorted(cuts), self._window.traces
        at = first
        number = 0

        def item_of(name: str, tokens: int, end: int, reason: str, of: tuple[str, ...]) -> ManifestItem:
            return ManifestItem(name, "window", SHORT_TERM, "text", tokens, reason, at, end, of=of)

        for start, stop in zip(bounds, [*bounds[1:], bounds[-1]], strict=True):
            here = [cost for place, _, cost in old if place == start]
            if here:
                end = at + len(here)
                yield _item_of_changes(str(at), sum(here), at, end)
                at = end
            for place, change, tokens in own:
                if place == start:
                    of = tuple(sorted({*change.seen, *change.came, *change.went}))
                    yield _item_of_changes(change.id, tokens, at, at + 1, of)
                    at += 1
            if start == stop:
                continue
            within = [cost for place, _, cost in old if start < place < stop]
            end, tokens = at + stop - start + len(within), self._sums[stop] - self._sums[start] + sum(within)
            if start == asked_at:
                yield ManifestItem("task", "task", "task", "text", tokens, "the_request", at, end)
            elif start < begins:
                yield item_of("summary", tokens, end, "compacted", self._list_entries())
            else:
                number += 1
                name, of = f"conversation/{number}", ()
                if number == 1:
                    name, of = "conversation", tuple(trace.turn_id for trace in traces[:1] + traces[-1:])
                yield item_of(name, tokens, end, "recent_turns", of)
            at = end

    def _list_entries(self) -> tuple[str, ...]:
        mark = self._window.mark
        return tuple(entry for entry, _ in mark.episodic) if mark is not None else ()


def _item_of_changes(name: str, tokens: int, at: int, end: int, of: tuple[str, ...] = ()) -> ManifestItem:
    return ManifestItem(
        f"changes/{name}", "window", "changes", "lines", tokens, "changed_since", at, end, of=of
    )
