"""Events: what is written into a memory, told to those who listen as it comes, whichever process wrote it.

The ends of the streams of a memory are looked at now and then, by one follower for all who listen to it; in a database
also at once, when it tells that a document changed, and when this process has written. A follower reads beside the
memory and never through it: no listener keeps a memory open or waiting. Invariant: an event has ids and no words.
"""

from __future__ import annotations

import asyncio
import json
import time
from collections import deque
from contextlib import suppress
from itertools import takewhile

from looseleaf.base.errors import NotFound, Refused
from looseleaf.base.ids import is_id
from looseleaf.base.immutable import frozen
from looseleaf.base.paths import is_address
from looseleaf.base.values import START
from looseleaf.pages.folder import open_store
from looseleaf.serve.access import PERSON
from looseleaf.store import JOURNAL
from looseleaf.store.files import FileStore
from looseleaf.store.streams import stream_files

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Coroutine, Iterator
    from typing import Any

    from looseleaf.base.values import Position, Record
    from looseleaf.serve.access import Token
    from looseleaf.serve.jobs import Job

NAMES = ("traced", "placed", "edited", "waiting", "compacted", "prompted", "spent", "job")

LOOK_SECONDS = 0.5
FAR_SECONDS = 1.0
"""The same where each look is a question to a database."""
HEARTBEAT_SECONDS = 15.0
"""How often a comment is sent when nothing happens: else a proxy takes the connection for dead."""
_QUEUE = 256
"""Events that may wait for a slow reader."""
_KEPT = 1_000
"""Events that can be given to a reader who was away for a while."""
_CALLS, _REVIEW = "calls", "review/"
_IDS = ("turn_id", "session_id", "entry", "edit", "fact")
"""Members of a record that are ids, and are sent with it."""


@frozen
class Event:
    """Something that was written: `id` is its record's. `agent`: whose talk it is of; "" for all."""

    id: str
    name: str
    told: tuple[tuple[str, str], ...] = ()
    agent: str = ""

    def encode(self) -> bytes:
        data = json.dumps({"id": self.id, **dict(self.told)}, ensure_ascii=False)
        return f"id: {self.id}\nevent: {self.name}\ndata: {data}\n\n".encode()


def event_of(stream: str, record: Record) -> Event | None:
    """Return what a record is told as; None for what nobody waits for."""
    id, kind = record.get("id"), record.get("kind")
    if not isinstance(id, str) or not is_id(id):
        return None
    agent = ""
    if stream.startswith("traces/"):
        name, agent = ("traced" if kind not in ("turn", "gone") else ""), stream.rpartition("/")[2]
    elif stream.startswith("prompts/"):
        name, agent = ("prompted" if kind == "prompt" else ""), stream.rpartition("/")[2]
    elif stream == _CALLS:
        name, agent = "spent", str(record.get("agent") or "")
    else:
        name = _JOURNALED.get(str(kind), "")
        if kind == "edit" and str(record.get("path")).startswith(_REVIEW):
            name = "waiting"
        if kind == "placed" and not record.get("entry"):
            name = ""  # how far an agent's talk is read
        agent = str(record.get("agent") or "") if kind == "mark" else ""
    if not name:
        return None
    ids = ((each, record.get(each)) for each in _IDS)
    told = tuple((each, value) for each, value in ids if isinstance(value, str) and len(value) < 200)
    return Event(id, name, told, agent)


_JOURNALED = {
    "edit": "edited",
    "void": "edited",
    "fact": "edited",
    "forgotten": "edited",
    "merged": "edited",
    "placed": "placed",
    "mark": "compacted",
}


# --- one who listens --------------------------------------------------------------------


class Listener:
    """One stream of events: `token` says what it may see."""

    def __init__(self, token: Token) -> None:
        self._sees_all = token is PERSON
        self._agent = token.agent
        self._waiting: asyncio.Queue[Event | None] = asyncio.Queue(_QUEUE)
        self.is_over = False

    def may_see(self, event: Event) -> bool:
        return self._sees_all or event.agent in ("", self._agent)

    def put(self, event: Event) -> None:
        """Have an event sent; end the stream if too many wait."""
        if self.may_see(event):
            try:
                self._waiting.put_nowait(event)
            except asyncio.QueueFull:
                self.end()

    def end(self) -> None:
        self.is_over = True
        with suppress(asyncio.QueueFull):
            self._waiting.put_nowait(None)

    async def take(self) -> Event | None:
        """Return the next event; None after a while without."""
        with suppress(TimeoutError):
            async with asyncio.timeout(HEARTBEAT_SECONDS):
                return await self._waiting.get()
        return None


# --- one memory, followed ---------------------------------------------------------------


class StreamReader:
    """The streams of one memory, read from where they ended at the last look. Only one thread at a time uses it."""

    def __init__(self, path: str) -> None:
        self._store = open_store(path, reads_only=True)
        self._root = self._store.root if isinstance(self._store, FileStore) else None
        self._at: dict[str, Position] = {}
        self._last: dict[str, str] = {}
        self._marks: dict[str, tuple[int, ...]] = {}
        with self._store.look():
            self._edition = self._store.edition()
            for stream in self._streams():
                self._at[stream] = self._store.end(stream)
                self._last[stream] = self._last_id(stream)
                self._marks[stream] = self._mark(stream)

    def close(self) -> None:
        self._store.close()

    def look(self) -> list[Event]:
        """Return what was written since the last look, in order."""
        if not self._store.is_in_place():
            raise NotFound("The memory is gone, or another one is in its place.")
        with self._store.look():
            edition = self._store.edition()
            if edition != self._edition:
                self._edition = edition
                self._find_again()
            found = [event for stream in self._streams() for event in self._read(stream)]
        return sorted(found, key=lambda event: event.id)

    def since(self, last: str) -> list[Event]:
        """Return what was written after the record of an id, as far as it is told at all."""
        found: list[Event] = []
        for stream in self._streams():
            lines = self._store.read_back(stream, self._at.get(stream))
            for record in takewhile(lambda record: _id(record) > last, (line.record for line in lines)):
                event = event_of(stream, record)
                found += [event] if event is not None else []
                if len(found) > 4 * _KEPT:
                    break
        return sorted(found, key=lambda event: event.id)[-_KEPT:]

    def _streams(self) -> list[str]:
        return [each for each in self._store.streams() if each in (JOURNAL, _CALLS) or "/" in each]

    def _read(self, stream: str) -> Iterator[Event]:
        mark = self._mark(stream)
        if mark == self._marks.get(stream):
            return
        start = self._at.get(stream, START)
        for line in self._store.read(stream, start):
            self._at[stream], self._last[stream] = line.end, _id(line.record)
            event = event_of(stream, line.record)
            if event is not None:
                yield event
        self._marks[stream] = mark

    def _mark(self, stream: str) -> tuple[int, ...]:
        """Return what changes with each record."""
        if self._root is None:
            return tuple(self._store.end(stream))
        try:
            found = self._root.stat(stream_files(stream)[0])
        except OSError:
            return ()
        return found.st_ino, found.st_size, found.st_mtime_ns

    def _find_again(self) -> None:
        """Find where to read on after a forget, which moves records: after the last one told that is still there."""
        self._marks.clear()
        for stream in self._streams():
            last, end = self._last.get(stream, ""), self._store.end(stream)
            if not last:
                self._at[stream] = START
                continue
            for line in self._store.read_back(stream):
                if _id(line.record) <= last:
                    break
                end = line.position
            self._at[stream] = end

    def _last_id(self, stream: str) -> str:
        return next((_id(line.record) for line in self._store.read_back(stream)), "")


def _id(record: Record) -> str:
    return str(record.get("id") or "")


class Follower:
    """All who listen to one memory. `kept`: the last events, for those who come back."""

    def __init__(self, path: str) -> None:
        self._path = path
        self._is_told = asyncio.Event()
        self._pause = FAR_SECONDS if is_address(path) else LOOK_SECONDS
        self.listeners: set[Listener] = set()
        self.joining = 0
        self.kept: deque[Event] = deque(maxlen=_KEPT)
        self._reader: StreamReader | None = None
        self._reading = asyncio.Lock()
        self._task: asyncio.Task[None] | None = None

    async def join(self, listener: Listener, last: str) -> list[Event]:
        """Add a listener; return what came after the record of the id `last`, if that is one."""
        self.joining += 1
        try:
            async with self._reading:
                missed = await self._begin(last)
                self.listeners.add(listener)
        finally:
            self.joining -= 1
        return [event for event in missed if listener.may_see(event)]

    async def _begin(self, last: str) -> list[Event]:
        if self._reader is None:
            self._reader = await asyncio.to_thread(StreamReader, self._path)
            self._task = asyncio.create_task(self._follow())
        if not is_id(last):
            return []
        ids = [event.id for event in self.kept]
        if last in ids:
            return list(self.kept)[len(ids) - ids[::-1].index(last) :]
        return await _finish(asyncio.to_thread(self._reader.since, last))

    @property
    def is_idle(self) -> bool:
        return not self.listeners and not self.joining

    async def leave(self, listener: Listener) -> None:
        """Remove a listener; with the last one, following ends."""
        self.listeners.discard(listener)
        async with self._reading:
            if self.is_idle and self._reader is not None:
                if self._task is not None:
                    self._task.cancel()
                    await asyncio.wait([self._task])
                self._reader.close()
                self._reader = self._task = None
                self.kept.clear()

    async def _follow(self) -> None:
        while True:
            with suppress(TimeoutError):
                async with asyncio.timeout(self._pause):
                    await self._is_told.wait()
            self._is_told.clear()
            async with self._reading:
                assert self._reader is not None
                try:
                    found = await _finish(asyncio.to_thread(self._reader.look))
                except Refused:  # the memory is gone, or was replaced: readers come back, and find out
                    for listener in list(self.listeners):
                        listener.end()
                    return
                for event in found:
                    self.tell(event)

    def look_soon(self) -> None:
        """Look at once: something was written."""
        self._is_told.set()

    def tell(self, event: Event) -> None:
        self.kept.append(event)
        for listener in list(self.listeners):
            listener.put(event)


async def _finish(work: Coroutine[Any, Any, list[Event]]) -> list[Event]:
    """Wait for a thread that reads, also if this is cancelled: the store is not closed under it."""
    task = asyncio.ensure_future(work)
    try:
        return await asyncio.shield(task)
    except asyncio.CancelledError:
        await asyncio.wait([task])
        raise


class Events:
    """The followers of one server."""

    def __init__(self) -> None:
        self._followers: dict[str, Follower] = {}
        self._jobs: dict[str, tuple[str, float]] = {}
        """For each memory the job told last, its state, and when: progress is not told all the time."""
        self._loop: asyncio.AbstractEventLoop | None = None

    @property
    def open_streams(self) -> int:
        return sum(len(each.listeners) for each in self._followers.values())

    @property
    def followed(self) -> list[str]:
        """The names of the memories that are followed."""
        return sorted(self._followers)

    def start(self) -> None:
        self._loop = asyncio.get_running_loop()

    def tell_job(self, job: Job) -> None:
        """Tell of a job; in any thread."""
        if self._loop is not None and not self._loop.is_closed():
            with suppress(RuntimeError):  # it was closed between the two
                self._loop.call_soon_threadsafe(self._tell_job, job.memory, job.id, job.state)

    def look_soon(self, name: str) -> None:
        """Have a memory looked at, if somebody listens to it. In the server's own thread."""
        follower = self._followers.get(name)
        if follower is not None:
            follower.look_soon()

    def tell_changed(self, names: list[str]) -> None:
        """Have memories looked at in which another process wrote; in any thread."""
        if self._loop is not None and not self._loop.is_closed():
            with suppress(RuntimeError):  # it was closed between the two
                for name in names:
                    self._loop.call_soon_threadsafe(self.look_soon, name)

    def _tell_job(self, memory: str, id: str, state: str) -> None:
        follower, now = self._followers.get(memory), time.monotonic()
        before, then = self._jobs.get(memory, ("", 0.0))
        if follower is not None and (before != id + state or now - then >= LOOK_SECONDS):
            self._jobs[memory] = id + state, now
            follower.tell(Event(id, "job", (("state", state),)))

    async def join(self, name: str, path: str, listener: Listener, last: str) -> list[Event]:
        follower = self._followers.setdefault(name, Follower(path))
        return await follower.join(listener, last)

    async def leave(self, name: str, listener: Listener) -> None:
        follower = self._followers.get(name)
        if follower is not None:
            await follower.leave(listener)
            if follower.is_idle and self._followers.get(name) is follower:
                del self._followers[name]

    def end_of(self, name: str) -> None:
        """End the streams of a memory: it is gone, or another one will be in its place."""
        follower = self._followers.get(name)
        for listener in list(follower.listeners) if follower is not None else ():
            listener.end()

    def end(self) -> None:
        """End all streams: the server stops."""
        for follower in self._followers.values():
            for listener in list(follower.listeners):
                listener.end()
