"""The logs up to where they were at one moment: a forget is planned from them while others go on writing."""

from __future__ import annotations

from looseleaf.base.values import START
from looseleaf.log.entries import entries_in
from looseleaf.store import JOURNAL

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Any

    from looseleaf.base.values import LogLine, Position, Problem
    from looseleaf.store.protocol import OpenStore


class LogMoved(Exception):
    """Something was written meanwhile that changes the plan: make it again."""


class LogSnapshot:
    """A store whose logs end where they ended when this was made, under the lock. All else is as it is now; what
    `is_current` compares tells if that matters."""

    def __init__(self, store: OpenStore) -> None:
        self.under = store
        self.ends = {stream: store.end(stream) for stream in store.streams()}
        self._look = self._look_again()

    def __getattr__(self, name: str) -> Any:
        return getattr(self.under, name)

    def _look_again(self) -> tuple[object, ...]:
        """Return all that a plan rests on, but for the ends of the logs other than the journal."""
        known = {stream: self.under.segments(stream) for stream in self.ends}
        segments = {
            (stream, number): found[1]
            for stream, each in known.items()
            for number, found in each.items()
            if number <= self.ends[stream].segment
        }
        journal = self.under.end(JOURNAL) if JOURNAL in self.ends else START
        return self.under.edition(), journal, segments, frozenset(entries_in(self.under))

    def is_current(self) -> bool:
        """True if nothing was edited, distilled, compacted, repaired or forgotten since. Ask under the lock."""
        return self._look_again() == self._look

    def streams(self) -> list[str]:
        return list(self.ends)

    def end(self, stream: str) -> Position:
        return self.ends.get(stream, START)

    def read(
        self, stream: str, start: Position = START, on_problem: Callable[[Problem], None] | None = None
    ) -> Iterator[LogLine]:
        for line in self.under.read(stream, start, on_problem):
            if line.end > self.end(stream):
                return
            yield line

    def read_back(self, stream: str, end: Position | None = None) -> Iterator[LogLine]:
        return self.under.read_back(stream, self.end(stream) if end is None else end)

    def cut_segments(self, stream: str) -> Iterator[tuple[int, bytes]]:
        """Yield the number and the bytes of each segment of a stream, up to its end."""
        end = self.end(stream)
        for number in sorted(self.under.segments(stream)):
            if number <= end.segment:
                data = self.under.segment(stream, number)
                yield number, data[: end.offset] if number == end.segment else data
