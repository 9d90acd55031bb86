"""What the servers of one database share: who may come in, the audit, what became of jobs, and word of each change.

It lies in a memory of its own in that database, `.server`, whose name no person can give: documents, and the audit as
its journal. Each process has a copy of the documents, and one connection on which the database tells it what changed;
so nothing is asked for while a request waits. Invariant: a process that does not hear the database lets nobody in.
"""

from __future__ import annotations

import asyncio
import json
import logging
import os
import socket
import threading
import time
from concurrent.futures import Future, InvalidStateError
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING

import psycopg

from looseleaf.base.errors import Refused, Stale, Unreachable
from looseleaf.base.ids import new_id
from looseleaf.base.values import sha256
from looseleaf.serve.access import access_folder
from looseleaf.serve.handed import Workers
from looseleaf.serve.state import Draft, Seen
from looseleaf.store import JOURNAL
from looseleaf.store.postgres.address import Address
from looseleaf.store.postgres.database import database_at
from looseleaf.store.postgres.store import PostgresStore

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Any

    from looseleaf.store.postgres.database import Wire
    from looseleaf.store.postgres.lock import AloneInDatabase

NAMESPACE = ".server"
CHANNEL = "looseleaf"
REMOVED, MADE = ".removed", ".made"
"""What is told in place of a document's path: that a memory was put aside, or made."""

PATIENCE = 4.0
"""How long a query of a server is tried again while the database is away: a client waits for the answer."""
BEAT_SECONDS = 1.0
"""How often a silent connection is tried."""
DEAF_SECONDS = 5.0
"""After this long without a sign of the database, a server lets nobody in."""
_PAUSE, _LONGEST_PAUSE = 0.1, 1.0

_FOLDERS = ("", "jobs", "servers")
_LINES = 10_000
"""Lines of the audit that may wait to be written."""
_WRITTEN_SECONDS = 2.0
_SEGMENTS = 4
"""Full segments of the audit that are kept."""
_log = logging.getLogger("looseleaf")


class Listening:
    """The connection on which the database tells this process what changed. Callbacks run in its thread.

    `on_told` gets the number of a memory and the path that changed there; `on_beat` is called each second, with True
    after a connection was made: anything may have changed before.
    """

    def __init__(self, address: Address) -> None:
        self.database = database_at(address)
        self.database.patience = PATIENCE
        self.on_told: list[Callable[[int, str], None]] = []
        self.on_beat: list[Callable[[bool], None]] = []
        self._heard = 0.0
        self._is_stopping = threading.Event()
        self._ready = threading.Event()
        self._thread = threading.Thread(target=self._run, name="looseleaf-listening", daemon=True)

    @property
    def is_well(self) -> bool:
        """True while the database answers."""
        return time.monotonic() - self._heard < DEAF_SECONDS

    def require(self) -> None:
        if (
            not self.is_well and threading.current_thread() is not self._thread
        ):  # it reads all before it is well
            raise Unreachable(
                f"Nothing was done: the database {self.database.shown} cannot be reached. Try again in a moment."
            )

    def start(self) -> None:
        """Begin to listen; return when everything that is there has been read."""
        self._thread.start()
        if not self._ready.wait(4 * DEAF_SECONDS):
            self.require()

    def close(self) -> None:
        self._is_stopping.set()
        if self._thread.ident is not None:
            self._thread.join(2 * DEAF_SECONDS)

    def _run(self) -> None:
        pause = _PAUSE
        while not self._is_stopping.is_set():
            try:
                with self.database.connect() as wire:
                    self._listen(wire)
                    pause = _PAUSE
            except (psycopg.Error, Refused) as error:
                if self._heard:
                    _log.warning("the database is away: %s", str(error).strip().partition("\n")[0])
                self._heard = 0.0
                self._is_stopping.wait(pause)
                pause = min(2 * pause, _LONGEST_PAUSE)

    def _listen(self, wire: Wire) -> None:
        wire.execute(f"LISTEN {CHANNEL}".encode())
        self._beat(is_new=True)
        while not self._is_stopping.is_set():
            for told in wire.notifies(timeout=BEAT_SECONDS):
                number, _, path = told.payload.partition(" ")
                self._tell(int(number), path)
            wire.execute("SELECT 1")
            self._beat(is_new=False)

    def _beat(self, *, is_new: bool) -> None:
        for each in self.on_beat:
            each(is_new)
        self._heard = time.monotonic()
        self._ready.set()

    def _tell(self, memory: int, path: str) -> None:
        for each in self.on_told:
            each(memory, path)


_NOTHING = Seen(None, None)


class SharedState:
    """Documents of the memory `.server`. Without `listening`, each is read when it is asked for."""

    is_shared = True

    def __init__(self, address: Address, listening: Listening | None = None) -> None:
        self.address = Address(address.url, NAMESPACE, address.direct)
        self.folder = access_folder(self.address.shown)
        self.store = PostgresStore.open(self.address, make=True)
        self.workers = Workers(self.address)
        self.on_change: list[Callable[[str], None]] = []
        """Told the name of each document that changed, in the thread that listens, or that changed it."""
        self._seen: dict[str, Seen] = {}
        self._writing = threading.RLock()
        """Held while a document is asked for or written: what is here is never older than it was."""
        self._depth = 0
        self._lives: list[AloneInDatabase] = []
        """What says that this process lives."""
        self._own: dict[str, bytes] = {}
        """Documents that are there as long as it does."""
        self._changed: list[str] = []
        """Documents that changed, which nobody was told yet."""
        self._listening = listening
        if listening is not None:
            listening.on_told.append(self._hear)
            listening.on_beat.append(self._beat)

    def place(self, name: str) -> str:
        return f"{name} of {self.address.shown}"

    # --- reading ---------------------------------------------------------------------------

    def see(self, name: str, before: Seen | None = None) -> Seen:
        if self._listening is None:
            self._fetch(name)
        else:
            self._listening.require()
        found = self._seen.get(name, _NOTHING)
        return before if before is not None and before.mark == found.mark else found

    def names(self, folder: str) -> list[str]:
        if self._listening is None:
            return sorted(each.path for each in self.store.list(folder))
        return sorted(name for name in list(self._seen) if name.rpartition("/")[0] == folder)

    def look_again(self, name: str = "") -> None:
        if name:
            self._fetch(name)
            return
        with self._alone():
            found = {each.path: each.mark[0] for folder in _FOLDERS for each in self.store.list(folder)}
            changed = [name for name, mark in found.items() if self._seen.get(name, _NOTHING).mark != mark]
            for name in (*changed, *(set(self._seen) - set(found))):
                self._fetch(name)

    @contextmanager
    def _alone(self) -> Iterator[None]:
        """Hold the documents; tell what changed when they are free again."""
        changed: list[str] = []
        try:
            with self._writing:
                self._depth += 1
                try:
                    yield
                finally:
                    self._depth -= 1
                    if not self._depth:
                        changed, self._changed = self._changed, changed
        finally:
            for name in changed:
                for told in self.on_change:
                    told(name)

    def _fetch(self, name: str) -> None:
        with self._alone():
            document = self.store.get(name)
            self._take(name, document.data if document is not None else None)

    def _take(self, name: str, data: bytes | None) -> None:
        seen = Seen(_mark(data), data) if data is not None else _NOTHING
        if seen.mark == self._seen.get(name, _NOTHING).mark:
            return
        if data is None:
            self._seen.pop(name, None)
        else:
            self._seen[name] = seen
        self._changed.append(name)

    def _hear(self, memory: int, path: str) -> None:
        if memory == self.store.memory:
            self._fetch(path)

    def _beat(self, is_new: bool) -> None:
        if is_new:
            self.look_again()
        # What says that this process lives ends with its connection, and others may have taken it for dead.
        for claim in list(self._lives):
            claim.renew()
        for name, data in list(self._own.items()):
            if self.see(name).data is None:
                self.put(name, data)

    # --- writing ---------------------------------------------------------------------------

    @contextmanager
    def changing(self, name: str) -> Iterator[Draft]:
        with self._alone(), self.store.lock():
            self._fetch(name)
            before = self._seen.get(name, _NOTHING).data
            draft = Draft(before)
            yield draft
            if draft.data is not before:
                self._replace(name, before, draft.data)

    def put(self, name: str, data: bytes | None) -> None:
        with self._alone():
            if self._listening is None:
                self._fetch(name)
            while True:
                before = self._seen.get(name, _NOTHING).data
                try:
                    self._replace(name, before, data)
                    return
                except Stale:
                    self._fetch(name)

    def _replace(self, name: str, before: bytes | None, data: bytes | None) -> None:
        base = sha256(before) if before is not None else None
        if data is not None:
            self.store.put(name, data, base=base)
        elif base is not None:
            self.store.delete(name, base=base)
        self._take(name, data)

    # --- who serves ------------------------------------------------------------------------

    @contextmanager
    def hold(self, name: str) -> Iterator[object]:
        claim = self.claim(name)
        with claim:
            self._lives.append(claim)
            try:
                yield claim
            finally:
                self._lives.remove(claim)

    def is_held(self, name: str) -> bool:
        with self.claim(name) as is_free:
            return not is_free

    def told(self) -> dict[str, str]:
        return {"address": self.address.database.where}

    def claim(self, name: str) -> AloneInDatabase:
        """Return a chore that only one process at a time owns; the claim ends with its process."""
        return self.store.alone(name)

    @contextmanager
    def tell(self, address: str) -> Iterator[None]:
        """Say where this process serves, while the block runs and the process lives."""
        name = f"servers/{new_id()}.json"
        told = {"address": address, "host": socket.gethostname(), "pid": os.getpid()}
        with self.hold(name):
            self._own[name] = json.dumps(told).encode()
            self.put(name, self._own[name])
            try:
                yield
            finally:
                del self._own[name]
                with suppress(Refused):
                    self.put(name, None)

    def servers(self) -> list[str]:
        """Return the addresses of the servers that run, the newest last; those of killed ones are removed."""
        found = []
        for name in self.names("servers"):
            data = self.see(name).data
            if not self.is_held(name):
                self.put(name, None)
            elif data is not None:
                with suppress(ValueError, KeyError):
                    found.append(str(json.loads(data)["address"]))
        return found


def _mark(data: bytes) -> int:
    """Return what a document's `Stat` has as its mark."""
    return int.from_bytes(bytes.fromhex(sha256(data))[:8], "big")


class SharedAudit:
    """The audit of all servers: the journal of `.server`. Lines are written in batches, in a thread; an answer waits
    for its own (`written`). Invariant: what is done has its line, unless the process was killed before its answer."""

    def __init__(self, state: SharedState, listening: Listening) -> None:
        self._store = state.store
        self._listening = listening
        self._changed = threading.Condition()
        self._owed: list[dict[str, Any]] = []
        self._waiting: list[Future[None]] = []
        self._is_stopping = False
        self._segment = 0
        self._thread = threading.Thread(target=self._run, name="looseleaf-audit", daemon=True)
        self._thread.start()

    def require(self) -> None:
        """Refuse, before anything is done, where what is done could not be written down."""
        self._listening.require()
        if len(self._owed) > _LINES:
            raise Unreachable(
                "Nothing was done: the audit cannot be written as fast as it grows, and nothing is done without a line "
                "in it. Try again in a moment."
            )

    def write(self, **told: Any) -> None:
        """Add a line. Members are names, numbers and ids: never words of a memory."""
        with self._changed:
            self._owed.append({"id": new_id(), "ts": round(time.time(), 3), **told})
            self._changed.notify_all()

    async def written(self) -> None:
        """Wait until all lines so far are written; not for long, if they cannot be: they stay owed."""
        with self._changed:
            if not self._owed or not self._listening.is_well:
                return
            done: Future[None] = Future()
            self._waiting.append(done)
        await asyncio.wait((asyncio.wrap_future(done),), timeout=_WRITTEN_SECONDS)

    def _run(self) -> None:
        while True:
            with self._changed:
                while not self._owed and not self._is_stopping:
                    self._changed.wait()
                if not self._owed:
                    return
                lines, waiting, self._waiting = list(self._owed), self._waiting, []
            try:
                last = self._store.append(JOURNAL, lines)[-1]
            except Refused as refused:
                _log.error("the audit cannot be written (%s): nothing more is done until it can", refused)
                with self._changed:
                    self._waiting += waiting
                    if self._is_stopping:
                        return
                    self._changed.wait(BEAT_SECONDS)
                continue
            with self._changed:
                del self._owed[: len(lines)]
            for each in waiting:
                with suppress(InvalidStateError):  # the request that waited is gone
                    each.set_result(None)
            if last.segment != self._segment:
                self._drop_old(last.segment)

    def _drop_old(self, segment: int) -> None:
        self._segment = segment
        memory = self._store.memory
        with suppress(Refused):
            self._store.run(
                "DELETE FROM looseleaf.records WHERE memory = %s AND pos < %s AND stream = "
                "(SELECT stream FROM looseleaf.streams WHERE memory = %s AND name = %s)",
                (memory, (segment - _SEGMENTS) << 40, memory, JOURNAL),
            )

    def read_back(self) -> Iterator[dict[str, Any]]:
        """Yield the lines, newest first."""
        for line in self._store.read_back(JOURNAL):
            yield {name: value for name, value in line.record.items() if name != "id"}

    def close(self) -> None:
        """Write what is owed, if it can be."""
        with self._changed:
            self._is_stopping = True
            self._changed.notify_all()
        self._thread.join(PATIENCE + 1)
