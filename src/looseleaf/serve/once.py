"""Requests that may come twice, if their answer was lost: what they write bears their mark, in the record itself.

So no crash can part a record from the key of the request that made it. Half of the mark is from the hash of the key,
half from the hash of what was asked: so the same key with another request is told apart.
"""

from __future__ import annotations

import hashlib
import os
import time
from collections import OrderedDict
from contextlib import contextmanager

from looseleaf.base.errors import Busy, Invalid, Refused, is_text
from looseleaf.base.ids import is_id, time_of
from looseleaf.base.immutable import frozen
from looseleaf.log.talk_streams import own_talk
from looseleaf.store import JOURNAL, TOMBSTONES
from looseleaf.store.streams import REQUEST, REQUEST_KEY, REQUEST_SECONDS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import TypeVar

    from looseleaf.base.values import LogLine, Position, Record
    from looseleaf.memory import Memory
    from looseleaf.store.protocol import Store

    _T = TypeVar("_T")

_PROMPTS = "prompts/"
_ANSWERS = 50
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
            "Nothing was done: this request was done already, and what it wrote, or part of that, has been forgotten. "
            "To do it again, give it another Idempotency-Key."
        )


def mark_of(asker: str, key: str, asked: bytes) -> str:
    """Return the mark of a request: who asks, by which key, and for what."""
    name = hashlib.sha256(f"{asker}\n{key}".encode()).hexdigest()[:REQUEST_KEY]
    return name + hashlib.sha256(asked).hexdigest()[:REQUEST_KEY]


class Once:
    """The marked records of one memory, of the last day. Only its thread uses it."""

    def __init__(self) -> None:
        self._seen: object = ()
        """The folder, and the last forget in it, of which all below is known."""
        self._read_to: dict[str, Position] = {}
        self._found: dict[str, list[_Found]] = {}
        """Where the records of each mark stand, the oldest marks first."""
        self._marks: dict[str, str] = {}
        self._answers: OrderedDict[str, object] = OrderedDict()
        self._gone: set[str] = set()
        """The keys of requests whose records a forget took, or changed."""

    def __call__(
        self, memory: Memory, mark: str, act: Callable[[], _T], again: Callable[[list[Record]], _T]
    ) -> _T:
        """Run `act`, whose records get the mark; or, if the request came before, return its answer, if need be made
        `again` from its records, which may lack the last ones: then `again` completes them."""
        with _alone(memory, mark[:REQUEST_KEY]):
            return self._run(memory, mark, act, again)

    def _run(
        self, memory: Memory, mark: str, act: Callable[[], _T], again: Callable[[list[Record]], _T]
    ) -> _T:
        name = mark[:REQUEST_KEY]
        with memory.parts.store.look():
            self._catch_up(memory)
        if name in self._gone:
            raise GoneSince
        if self._marks.get(name, mark) != mark:
            raise KeyUsed
        if mark in self._answers:
            return self._answers[mark]  # type: ignore[return-value]
        places = self._found.get(mark)
        with marked(mark):
            if places is None:
                answer = act()
            else:
                store = memory.parts.context.store
                answer = again([next(store.read(each.stream, each.position)).record for each in places])
        self._marks[name] = mark
        self._answers[mark] = answer
        if len(self._answers) > _ANSWERS:
            oldest, _ = self._answers.popitem(last=False)
            if oldest not in self._found:
                self._marks.pop(oldest[:REQUEST_KEY], None)
        return answer

    def _catch_up(self, memory: Memory) -> None:
        """Read what was written since the last look; at first, the last day."""
        store, least = memory.parts.context.store, time.time() - REQUEST_SECONDS
        if self._seen != (seen := (_place_of(memory), store.edition())):
            # A forget moved the records, or another memory is in this one's place. Answers may say what is gone.
            for known in (self._read_to, self._found, self._marks, self._answers, self._gone):
                known.clear()
            self._seen = seen
            for line in store.read_back(TOMBSTONES):
                if _written_at(line.record) < least:
                    break
                requests = line.record.get("requests")
                self._gone.update(filter(is_text, requests) if isinstance(requests, list) else ())
        while self._found and next(iter(self._found.values()))[0].ts < least:
            mark = next(iter(self._found))
            del self._found[mark]
            self._answers.pop(mark, None)
            self._marks.pop(mark[:REQUEST_KEY], None)
        prompts = (stream for stream in store.streams() if stream.startswith(_PROMPTS))
        new = [
            each
            for stream in (JOURNAL, *own_talk(store), *prompts)
            for each in self._read(store, stream, least)
        ]
        for each in sorted(new, key=lambda each: each.ts):
            self._found.setdefault(each.mark, []).append(each)
            self._marks[each.mark[:REQUEST_KEY]] = each.mark

    def _read(self, store: Store, stream: str, least: float) -> list[_Found]:
        """Return the marked records of a stream that were not read yet, in order."""
        start, found = self._read_to.get(stream), []
        if start is not None:
            if store.is_far and store.end(stream) == start:
                return []
            for line in store.read(stream, start):
                self._read_to[stream] = line.end
                found += _found(stream, line)
            return found
        self._read_to[stream] = store.end(stream)
        for line in store.read_back(stream, self._read_to[stream]):
            if _written_at(line.record) < least:
                break
            found += _found(stream, line)
        return found[::-1]


@frozen
class _Found:
    """Where a marked record stands, and when it was written."""

    mark: str
    stream: str
    position: Position
    ts: float


def _found(stream: str, line: LogLine) -> list[_Found]:
    mark = line.record.get("request")
    if not isinstance(mark, str) or len(mark) != 2 * REQUEST_KEY:
        return []
    return [_Found(mark, stream, line.position, _written_at(line.record))]


@contextmanager
def _alone(memory: Memory, name: str) -> Iterator[None]:
    """Be the only one that does a request. In a folder, the memory's thread is; a database may have several servers."""
    store = memory.parts.store
    if not store.is_far:
        yield
        return
    with store.alone(f"requests/{name}") as is_alone:
        if not is_alone:
            raise Busy(
                "Nothing was done: another server is at work on this request. Send it again in a moment."
            )
        with store.lock():
            pass  # what a server was writing for it when it was killed has arrived by now, or never will
        yield


def _place_of(memory: Memory) -> list[tuple[int, int]]:
    """Return what tells a memory from another that was put in its place."""
    if memory.parts.store.tables is not None:
        return [(0, memory.parts.store.tables[1])]
    found = (os.stat(os.path.join(memory.path, each)) for each in ("", "log"))
    return [(each.st_dev, each.st_ino) for each in found]


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
