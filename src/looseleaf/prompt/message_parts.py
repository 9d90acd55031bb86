"""The parts of one prompt: which messages it has, in which order, what each costs and why it is there."""

from __future__ import annotations

from looseleaf.log.trace_messages import MESSAGE_TOKENS
from looseleaf.prompt.manifest import Item, Omitted
from looseleaf.prompt.prompt_log import after_of, inserted, task_message, trim, without
from looseleaf.prompt.slot_forms import OVER
from looseleaf.window.window import costs_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from looseleaf.base.messages import Message
    from looseleaf.base.values import Record
    from looseleaf.prompt.epoch import Change, Epoch
    from looseleaf.window.window import Count, Window

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
