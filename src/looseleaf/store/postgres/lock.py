"""The lock of a memory in a database, and the claims on chores: advisory locks, which end with their connection.

A write takes the lock of its memory together with others, for its moment; `MemoryLock` takes it alone. What its holder
writes goes over the same connection. So a holder that is cut off can no longer write: the lock and the way to write end
together, and no clock decides who holds it.
"""

from __future__ import annotations

import os
import threading
from typing import TYPE_CHECKING

import psycopg

from looseleaf.base.errors import Busy
from looseleaf.base.values import sha256
from looseleaf.store.postgres.database import LOCK_SECONDS

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Any

    from looseleaf.store.postgres.database import Database, Wire

_LOCK = "SELECT pg_advisory_lock(%s)"
_UNLOCK = "SELECT pg_advisory_unlock(%s)"


class MemoryLock:
    """A context manager that its thread may enter again. `look` gives a query that is asked each time the lock was
    taken, in the same trip; `admit` gets its rows and values, and may refuse; `leave` is called when it is given back."""

    def __init__(
        self,
        database: Database,
        memory: int,
        shown: str,
        look: Callable[[], tuple[str, Sequence[Any]]],
        admit: Callable[[Sequence[Sequence[Any]], Sequence[Any]], None],
        leave: Callable[[], None],
        seconds: Callable[[], float],
    ) -> None:
        self._database = database
        self._memory = memory
        self._shown = shown
        self._look = look
        self._admit = admit
        self._leave = leave
        self._patience = seconds
        self._reset()

    def _reset(self) -> None:
        self._pid = os.getpid()
        self.threads = threading.RLock()
        self._owner = 0
        self._depth = 0
        self._wire: Wire | None = None

    @property
    def _seconds(self) -> float:
        return min(self._patience(), LOCK_SECONDS)

    @property
    def wire(self) -> Wire | None:
        """The connection that holds the lock, for the thread inside the block; None elsewhere."""
        return self._wire if self.is_mine() else None

    def is_mine(self) -> bool:
        """True inside the block, for its own thread."""
        return self._owner == threading.get_ident() and self._pid == os.getpid()

    def let_pass(self) -> None:
        """Wait for a thread of this process that holds the lock: those that wait at the server take connections."""
        if not self.threads.acquire(timeout=self._seconds):
            raise Busy(f"Nothing was done: another thread held {self._shown} too long. Repeat the command.")
        self.threads.release()

    def __enter__(self) -> MemoryLock:
        if self._pid != os.getpid():
            self._reset()  # forked: the connection is the parent's
        if not self.threads.acquire(timeout=self._seconds):
            raise Busy(f"Nothing was done: another thread held {self._shown} too long. Repeat the command.")
        try:
            if self._depth == 0:
                self._take()
            self._depth += 1
        except BaseException:
            self.threads.release()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        if self._pid != os.getpid():
            return  # forked inside the block: only the parent holds it
        self._depth -= 1
        try:
            if self._depth == 0:
                self._leave()
                self._release()
        finally:
            self.threads.release()

    def _take(self) -> None:
        wire = self._database.hold()
        try:
            query, values = self._look()
            rows = self._database.run_two(self._memory, (_LOCK, (self._memory,)), (query, values), on=wire)
            self._wire, self._owner = wire, threading.get_ident()
        except BaseException:
            self._wire = wire
            self._release()
            raise
        try:
            self._admit(rows, values)
        except BaseException:
            self._leave()
            self._release()
            raise

    def _release(self) -> None:
        wire, self._wire, self._owner = self._wire, None, 0
        if wire is None:
            return
        try:
            if not wire.closed:
                self._database.trips += 1
                wire.execute(_UNLOCK, (self._memory,))
        except psycopg.Error:
            wire.close()  # closing it releases the lock too
        finally:
            self._database.give_back(wire)


class Claims:
    """Chores that one process of all does at a time, each named by a memory and a path. They may be held across
    anything, so one connection of the process holds all of them."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._alone = threading.Lock()
        self._wire: Wire | None = None
        self._pid = os.getpid()
        self._held: set[tuple[int, int]] = set()

    def take(self, key: tuple[int, int]) -> bool:
        """Take a chore, if no one has it; never waits."""
        with self._alone:
            if self._pid != os.getpid():
                self._wire, self._held, self._pid = None, set(), os.getpid()
            if key in self._held:
                return False
            for _ in range(2):
                if self._wire is None or self._wire.closed:
                    self._held.clear()  # they ended with their connection
                    self._wire = self._database.connect()
                try:
                    self._database.trips += 1
                    row = self._wire.execute("SELECT pg_try_advisory_lock(%s, %s)", key).fetchone()
                except psycopg.Error:
                    self._wire.close()
                    continue
                if row is not None and row[0] is True:
                    self._held.add(key)
                    return True
                return False
            return False

    def drop(self, key: tuple[int, int]) -> None:
        with self._alone:
            if key not in self._held or self._wire is None or self._pid != os.getpid():
                return
            self._held.discard(key)
            try:
                self._database.trips += 1
                self._wire.execute("SELECT pg_advisory_unlock(%s, %s)", key)
            except psycopg.Error:
                self._wire.close()

    def close(self) -> None:
        with self._alone:
            if self._wire is not None and self._pid == os.getpid():
                self._wire.close()
            self._wire = None
            self._held.clear()


def claim_key(memory: int, path: str) -> tuple[int, int]:
    """Return the two numbers that name a chore of a memory; PostgreSQL keeps them apart from the lock's one."""
    digest = bytes.fromhex(sha256(f"{memory} {path}".encode())[:16])
    return int.from_bytes(digest[:4], "big", signed=True), int.from_bytes(digest[4:], "big", signed=True)


class AloneInDatabase:
    """Yields True if no other process or thread is in the same block; never waits."""

    def __init__(self, claims: Claims, memory: int, path: str) -> None:
        self._claims = claims
        self._key = claim_key(memory, path)
        self._is_mine = False

    def __enter__(self) -> bool:
        return self.try_again()

    def __exit__(self, *_: object) -> None:
        if self._is_mine:
            self._is_mine = False
            self._claims.drop(self._key)

    def try_again(self) -> bool:
        self._is_mine = self._is_mine or self._claims.take(self._key)
        return self._is_mine
