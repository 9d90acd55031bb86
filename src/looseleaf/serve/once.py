"""Requests that may come twice, if their answer was lost: what they write bears their mark, in the record itself.

So no crash can part a record from the key of the request that made it. Half of the mark is from the hash of the key,
half from the hash of what was asked: so the same key with another request is told apart.
"""

from __future__ import annotations

import hashlib
import time
from collections import OrderedDict
from contextlib import contextmanager

from looseleaf.base.errors import Invalid, Refused
from looseleaf.base.ids import is_id, time_of
from looseleaf.base.values import Position
from looseleaf.log.talk_streams import own_talk
from looseleaf.store import JOURNAL
from looseleaf.store.streams import REQUEST

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import TypeVar

    from looseleaf.base.values import Record
    from looseleaf.memory import Memory

    _T = TypeVar("_T")

KEPT_SECONDS = 86_400.0
_HALF = 16
_PROMPTS = "prompts/"
_ANSWERS = 1_000
"""How many answers are kept to be given again; others are made again from what was written."""


class KeyUsed(Invalid):
    """A key that was used for another request."""

    def __init__(self) -> None:
        super().__init__(
            "Nothing was done: this Idempotency-Key was used for another request. Give each request a key of its own."
        )


class GoneSince(Refused):
    """A request that was done, but what it wrote has been forgotten since."""

    def __init__(self) -> None:
        super().__init__(
            "Nothing was done: this request was done already, and what it wrote has been forgotten. To do it again, "
            "give it another Idempotency-Key."
        )


def mark_of(asker: str, key: str, asked: bytes) -> str:
    """Return the mark of a request: who asks, by which key, and for what."""
    name = hashlib.sha256(f"{asker}\n{key}".encode()).hexdigest()[:_HALF]
    return name + hashlib.sha256(asked).hexdigest()[:_HALF]


class Once:
    """The marked records of one memory, of the last day. Only its thread uses it."""

    def __init__(self) -> None:
        self._edition: object = ()
        self._read_to: dict[str, Position] = {}
        self._found: dict[str, list[Record]] = {}
        self._marks: dict[str, str] = {}
        self._answers: OrderedDict[str, object] = OrderedDict()
        self._gone: set[str] = set()
        """Requests whose records, or answers, a forget may have taken."""

    def __call__(
        self, memory: Memory, mark: str, act: Callable[[], _T], again: Callable[[list[Record]], _T]
    ) -> _T:
        """Run `act`, whose records get the mark; or, if the request came before, return its answer, if need be made
        `again` from its records, which may lack the last ones: then `again` completes them."""
        name = mark[:_HALF]
        self._catch_up(memory)
        if self._marks.get(name, mark) != mark:
            raise KeyUsed
        if mark in self._answers:
            return self._answers[mark]  # type: ignore[return-value]
        found = self._found.get(mark)
        if found is None and mark in self._gone:
            raise GoneSince
        with marked(mark):
            answer = act() if found is None else again(found)
        self._marks[name] = mark
        self._answers[mark] = answer
        if len(self._answers) > _ANSWERS:
            oldest, _ = self._answers.popitem(last=False)
            if oldest not in self._found:
                self._marks.pop(oldest[:_HALF], None)
        return answer

    def _catch_up(self, memory: Memory) -> None:
        """Read what was written since the last look; at first, the last day."""
        store, least = memory.parts.context.store, time.time() - KEPT_SECONDS
        if self._edition != (edition := store.edition()):  # a forget moved the records
            self._edition = edition
            self._gone |= self._found.keys() | self._answers.keys()
            self._read_to.clear()
            self._found.clear()
            self._answers.clear()  # they may say what was forgotten
        for mark in [mark for mark, found in self._found.items() if _written_at(found[0]) < least]:
            del self._found[mark]
            self._answers.pop(mark, None)
            self._marks.pop(mark[:_HALF], None)
        prompts = (stream for stream in store.streams() if stream.startswith(_PROMPTS))
        for stream in (JOURNAL, *own_talk(store), *prompts):
            if (start := self._read_to.get(stream)) is not None:
                lines = list(store.read(stream, start))
            else:
                lines = []
                for line in store.read_back(stream):
                    if _written_at(line.record) < least:
                        break
                    lines.append(line)
                lines.reverse()
            self._read_to[stream] = lines[-1].end if lines else start or store.end(stream)
            for line in lines:
                given = line.record.get("request")
                if isinstance(given, str) and len(given) == 2 * _HALF:
                    self._found.setdefault(given, []).append(line.record)
                    self._marks[given[:_HALF]] = given


def _written_at(record: Record) -> float:
    """Return when a record was written, by its id: a trace's `ts` is what its caller says."""
    name = record.get("id")
    return time_of(name) if isinstance(name, str) and is_id(name) else float(record.get("ts") or 0.0)


@contextmanager
def marked(mark: str) -> Iterator[None]:
    """Mark the records that this thread writes meanwhile."""
    token = REQUEST.set(mark)
    try:
        yield
    finally:
        REQUEST.reset(token)
