"""The lock of a memory in a database, and the claims on chores: advisory locks, which end with their connection.

A write takes the lock of its memory together with others, for its moment; `MemoryLock` takes it alone. What its holder
writes goes over the same connection. So a holder that is cut off can no longer write: the lock and the way to write end
together, and no clock decides who holds it.
"""

from __future__ import annotations

import os
import threading
import time
from typing import TYPE_CHECKING

import psycopg

from looseleaf.base.errors import Busy, Unreachable
from looseleaf.base.values import sha256
from looseleaf.store.postgres.database import LOCK_SECONDS

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Any

    from looseleaf.store.postgres.database import Claims, Database, Wire

_LOCK = "SELECT set_config('lock_timeout', %s, true), pg_advisory_lock(%s)"
_UNLOCK = "SELECT pg_advisory_unlock(%s)"


class MemoryLock:
    """A context manager that its thread may enter again. `look` gives a query that is asked each time the lock is
    taken, in the same trip; `admit` gets its rows and values, and may refuse; `leave` is called at its end."""

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
        """Wait for a thread of this process that holds the lock: waiting at the server takes a connection."""
        self._begin_anew_if_forked()
        if not self.threads.acquire(timeout=self._seconds):
            raise Busy(f"Nothing was done: another thread held {self._shown} too long. Repeat the command.")
        self.threads.release()

    def _begin_anew_if_forked(self) -> None:
        if self._pid != os.getpid():
            self._reset()  # the connection is the parent's

    def __enter__(self) -> MemoryLock:
        self._begin_anew_if_forked()
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
        deadline = time.monotonic() + self._database.patience
        while True:
            try:
                self._take_once()
                return
            except Unreachable:
                # An idle connection may have been cut by a restart, or by something in between.
                if time.monotonic() > deadline:
                    raise
            time.sleep(0.05)

    def _take_once(self) -> None:
        wire = self._database.hold()
        try:
            query, values = self._look()
            rows = self._database.run_two(
                self._memory,
                (_LOCK, (f"{max(1, int(1000 * self._seconds))}ms", self._memory)),
                (query, values),
                on=wire,
            )
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

    def renew(self) -> None:
        """Take it again, if it ended with its connection."""
        if self._is_mine:
            self._claims.renew(self._key)

    def try_again(self) -> bool:
        self._is_mine = self._is_mine or self._claims.take(self._key)
        return self._is_mine
