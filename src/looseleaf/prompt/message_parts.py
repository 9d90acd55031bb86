"""The parts of one prompt: which messages it has, in which order, what each costs and why it is there."""

from __future__ import annotations

import json

from looseleaf.base import ids as clock
from looseleaf.base.errors import Refused
from looseleaf.base.hashing import sha256
from looseleaf.base.ids import new_id
from looseleaf.base.paths import STATE
from looseleaf.facts.placement import PROFILE
from looseleaf.log.trace_messages import MESSAGE_TOKENS
from looseleaf.log.turns import open_calls
from looseleaf.prompt import slot_forms as tell
from looseleaf.prompt.manifest import Change, Item, Omitted
from looseleaf.prompt.prompt_log import after_of, inserted, task_message, trim, without
from looseleaf.prompt.slot_forms import OVER
from looseleaf.prompt.snapshot import CHARTER, LISTED
from looseleaf.text import untrusted
from looseleaf.window.window import costs_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from typing import Any

    from looseleaf.base.messages import Message, Trace
    from looseleaf.base.values import Position, Record
    from looseleaf.pages.pages import Pages
    from looseleaf.prompt.manifest import Change, Epoch
    from looseleaf.prompt.snapshot import Gather
    from looseleaf.window.window import Count, Window


# Since: what changed in the folder after an epoch began, told once (DESIGN §7).

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


SHORT_TERM = "short_term"
_OWN_ITEMS = 8
"""Changes that are items of their own: else a record would grow with all that ever changed in an epoch."""

COMPACTED = "compacted"


class Parts:
    """`asked_at` is the number of the window's message that is the task already; None: it is still to be said.
    `trimmed`: the window is not shown whole, but as this says."""

    def __init__(
        self,
        epoch: Epoch,
        window: Window,
        changes: Sequence[Change],
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
        self._begun = epoch.messages
        self._request = [task_message(task)] if task is not None and asked_at is None else []
        self._told = without(window, epoch.left)
        self._places = [after_of(window, change) for change in changes]
        if trimmed is not None:
            self._told = trim(self._told, trimmed)
            self._sums = _sums(costs_of(self._told, count))
        else:
            self._sums = window.weights(unit, count)
            if epoch.left and self._told:
                more = costs_of(self._told[:1], count)[0] - self._sums[1]
                self._sums = [0, *(cost + more for cost in self._sums[1:])]
        self.items = tuple(self._items())
        self.total = sum(item.tokens for item in self.items)

    def messages(self) -> list[Message]:
        told = self._told
        if self.trimmed is None:
            told = inserted(
                told, [(at, each.message) for at, each in zip(self._places, self.changes, strict=True)]
            )
        return [*self._begun, *told, *self._request]

    def omitted(self) -> list[Omitted]:
        found: list[Omitted] = []
        mark = self._window.mark
        if self.trimmed is not None:
            left = len(self._window.messages) - len(self._told)
            found += [Omitted(f"{left} messages", "window", OVER)] if left else []
            if self.trimmed.get("text") is not None:
                found.append(Omitted("the beginning of a message", "window", OVER))
            short = self.trimmed.get("short", {})
            found += [Omitted("the ends of results", "window", OVER, tuple(short))] if short else []
        if mark is not None:
            found.append(Omitted("earlier turns", "window", COMPACTED, self._entries()))
            short = tuple(trace for trace, _ in mark.short)
            found += [Omitted("what is too long", "window", COMPACTED, short)] if short else []
        return found

    # --- items -------------------------------------------------------------------------

    def _items(self) -> Iterator[Item]:
        yield from self._beginning()
        at = len(self._begun)
        for item in self._talk(at):
            yield item
            at = item.end
        for message in self._request:
            tokens = costs_of([message], self._count)[0]
            yield Item("task", "task", "task", "text", tokens, "the_request", at, at + 1)

    def _beginning(self) -> Iterator[Item]:
        """Weighed anew: it may have been rendered for a model that counts otherwise."""
        for number, message in enumerate(self._begun):
            own = [item for item in self.epoch.items if item.first == number]
            text = message.content or ""
            upto = self._count([text[: item.stop] for item in own])
            before = 0
            for item, tokens in zip(own, upto, strict=True):
                yield item.but(tokens=tokens + MESSAGE_TOKENS - before)
                before = tokens + MESSAGE_TOKENS

    def _talk(self, first: int) -> Iterator[Item]:
        """The window in runs: its snapshot, what was said, what changed in between, the task if it was said already.
        The last changes are items of their own; older ones have become part of the talk."""
        if self.trimmed is not None:
            begins, asked_at, told = 0, self._asked_in(self.trimmed), []
        else:
            begins, asked_at = self._window.begins, self.asked_at
            told = list(zip(self._places, self.changes, self._told_costs(), strict=True))
        own, old = told[-_OWN_ITEMS:], told[:-_OWN_ITEMS]
        cuts = {0, begins, len(self._told), *(at for at, _, _ in own)}
        cuts |= {asked_at, asked_at + 1} if asked_at is not None else set()
        bounds = sorted(cuts)
        at = first
        number = 0
        for start, stop in zip(bounds, [*bounds[1:], bounds[-1]], strict=True):
            here = [cost for place, _, cost in old if place == start]
            if here:
                end = at + len(here)
                yield Item(f"changes/{at}", "window", "changes", "lines", sum(here), "changed_since", at, end)
                at = end
            for place, change, tokens in own:
                if place == start:
                    yield _told_item(change, tokens, at)
                    at += 1
            if start == stop:
                continue
            within = [cost for place, _, cost in old if start < place < stop]
            end, tokens = at + stop - start + len(within), self._sums[stop] - self._sums[start] + sum(within)
            if start == asked_at:
                yield Item("task", "task", "task", "text", tokens, "the_request", at, end)
            elif start < begins:
                yield Item(
                    "summary", "window", SHORT_TERM, "text", tokens, "compacted", at, end, of=self._entries()
                )
            else:
                number += 1
                name = "conversation" if number == 1 else f"conversation/{number}"
                yield Item(
                    name,
                    "window",
                    SHORT_TERM,
                    "text",
                    tokens,
                    "recent_turns",
                    at,
                    end,
                    of=self._turns(number),
                )
            at = end

    def _told_costs(self) -> list[int]:
        return costs_of([change.message for change in self.changes], self._count)

    def _asked_in(self, trimmed: Record) -> int | None:
        first, end = int(trimmed["first"]), int(trimmed["end"])
        return self.asked_at - first if self.asked_at is not None and first <= self.asked_at < end else None

    def _entries(self) -> tuple[str, ...]:
        mark = self._window.mark
        return tuple(entry for entry, _ in mark.episodic) if mark is not None else ()

    def _turns(self, number: int) -> tuple[str, ...]:
        """The first and the last turn, once for all runs."""
        traces = self._window.traces
        return (traces[0].turn_id, traces[-1].turn_id) if number == 1 and traces else ()


def _told_item(change: Change, tokens: int, at: int) -> Item:
    of = tuple(sorted({*change.seen, *change.came, *change.went}))
    return Item(
        f"changes/{change.id}", "window", "changes", "lines", tokens, "changed_since", at, at + 1, of=of
    )


def _sums(costs: Sequence[int]) -> list[int]:
    found = [0]
    for cost in costs:
        found.append(found[-1] + cost)
    return found
