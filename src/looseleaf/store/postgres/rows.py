"""The rows of one memory: who asks, over which connection, and what a thread has seen of them.

Every query of a store goes through here: over the connection that holds the memory's lock, if this thread holds it.
"""

from __future__ import annotations

import os
from contextlib import contextmanager
from typing import TYPE_CHECKING

from looseleaf.base.errors import Displaced, Outdated, Unreachable, Unreadable, Unwritten
from looseleaf.base.policy import Policy
from looseleaf.store.postgres.database import moved_sentence
from looseleaf.store.postgres.lock import MemoryLock
from looseleaf.store.postgres.look import LOOK, Asked, Lines, Looks, Seen
from looseleaf.store.reading import OpenReading, Readings

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from typing import Any

    from looseleaf.base.values import Edition
    from looseleaf.store.postgres.address import Address
    from looseleaf.store.postgres.database import Database, Lost, Wire


class MemoryRows:
    """The rows of a memory, and the lock and the looks on them. `reads_only`: nothing but views may be written."""

    def __init__(
        self,
        database: Database,
        memory: int,
        address: Address,
        policy: Policy | None = None,
        *,
        reads_only: bool = False,
    ) -> None:
        self.database = database
        self.memory = memory
        self.address = address
        self.policy = policy or Policy()
        self.reads_only = reads_only
        self._readings = Readings()
        self._looks_of_threads = Looks()
        self._asked = Asked()
        self._lines_read = Lines()
        self._lock = MemoryLock(
            database,
            memory,
            self.path,
            look=self._look_query,
            admit=self._admit,
            leave=self._leave_look,
            seconds=lambda: self.policy.lock_seconds,
        )
        self._sums: dict[str, tuple[int, int, int]] = {}
        """By stream: a segment, a byte in it, and the checksum up to there."""
        self._edition_seen: int | None = None
        self._is_closed = False

    # --- queries ---------------------------------------------------------------------------

    @property
    def path(self) -> str:
        """The address as people may see it."""
        return self.address.shown

    @property
    def tables(self) -> tuple[Database, int]:
        return self.database, self.memory

    def run(self, query: str, values: Sequence[Any] = (), *, again: bool = True) -> list[tuple[Any, ...]]:
        """Run a query for this memory, over the connection that holds the lock if this thread does."""
        self._require_open()
        on = self._lock.wire
        return self.database.run(self.memory, query, values, on=on, again=again)

    @contextmanager
    def transaction(self, *, isolation: str = "") -> Iterator[Wire]:
        self._require_open()
        with self.database.transaction(self.memory, self._lock.wire, isolation=isolation) as wire:
            yield wire

    def _require_open(self) -> None:
        if self._is_closed:
            raise Unreadable("This memory is closed. Open it again.")

    def _since(self) -> int | None:
        """Return the edition that a write of this thread must still find; None: any."""
        began = self._readings.began
        return began[0] if began else None

    # --- writes, and answers that are lost -------------------------------------------------

    def _write(self, query: str, values: Sequence[Any]) -> list[tuple[Any, ...]]:
        """Run a statement that writes; raise `Lost` if it is not known whether it was done. Threads of a process that
        hold the lock go first, so that those that wait do not take all connections."""
        self._require_open()
        if self.reads_only:
            raise Unwritten(f"Nothing was written: {self.path} is only read from here.")
        if not self._lock.is_mine():
            self._lock.let_pass()
        return self.database.run(self.memory, query, values, on=self._lock.wire, again=False)

    def _end_lost(self, lost: Lost) -> None:
        """End what the server may still be doing for a write: after this, what is not there will not come."""
        self.look_again()
        self.database.end(lost)

    def _require_lock(self) -> None:
        """Refuse to send a write again that was made under a lock, which ended with its connection."""
        if self._lock.is_mine():
            raise Unreachable(
                f"Nothing was written: the connection that held the lock of {self.path} broke, and the lock ended with "
                "it. Repeat the command."
            )

    def _never_answered(self, what: str) -> Unreachable:
        return Unreachable(
            f"{what} was not written: the connection to {self.database.shown} broke each time. Look at its log."
        )

    # --- the lock and looks ----------------------------------------------------------------

    def lock(self) -> MemoryLock:
        return self._lock

    def is_locked(self) -> bool:
        """True if this thread holds the lock."""
        return self._lock.is_mine()

    @property
    def _looks(self) -> Looks:
        looks = self._looks_of_threads
        if looks.pid != os.getpid():
            looks.pid, looks.depth, looks.seen = os.getpid(), 0, None
        return looks

    @contextmanager
    def look(self) -> Iterator[None]:
        """A block in which this thread asks once for what it needs of the memory's state: see `look.py`."""
        pid = os.getpid()
        self._looks.depth += 1
        try:
            yield
        finally:
            if pid == os.getpid():
                self._leave_look()

    def look_again(self) -> None:
        """Let the rest of the block see what happened meanwhile."""
        self._looks.seen = None

    def _seen(self) -> Seen | None:
        """Return what this thread's look sees; None outside of one."""
        looks = self._looks
        if looks.depth and looks.seen is None:
            query, values = self._look_query()
            looks.seen = self._take_look(self.run(query, values), values)
        return looks.seen

    def _look_query(self) -> tuple[str, tuple[object, ...]]:
        return LOOK, (*self._asked.lists(), self.memory)

    def _admit(self, rows: Sequence[Sequence[Any]], values: Sequence[Any]) -> None:
        """Begin a look with the lock: while it is held, nothing changes but by its holder."""
        self._looks.depth += 1
        self._looks.seen = self._take_look(rows, values)
        if self._looks.seen.moved_to is not None:
            raise Displaced(moved_sentence(self._looks.seen.moved_to))
        if self._since() not in (None, self._looks.seen.edition):
            raise Outdated

    def _leave_look(self) -> None:
        looks = self._looks
        looks.depth -= 1
        if looks.depth == 0:
            looks.seen = None

    def _take_look(self, rows: Sequence[Sequence[Any]], values: Sequence[Any]) -> Seen:
        if not rows:
            raise Displaced(f"Nothing was done: {self.path} was removed while it was open.")
        seen = Seen(rows[0], values[0], values[1])
        if seen.edition != self._edition_seen:
            if self._edition_seen is not None:  # something was forgotten: it may be in what was read
                self._drop_read()
            self._edition_seen = seen.edition
        seen.generation = self._lines_read.generation
        return seen

    def _drop_read(self) -> None:
        self._sums.clear()
        self._asked.drop()
        self._lines_read.drop()

    # --- what a look tells -----------------------------------------------------------------

    def _ends(self) -> dict[str, int]:
        """Return where each stream ends."""
        if (seen := self._seen()) is not None:
            return seen.ends
        rows = self.run("SELECT name, next FROM looseleaf.streams WHERE memory = %s", (self.memory,))
        return {str(name): int(end) for name, end in rows}

    def edition(self) -> Edition:
        return (self._edition_number(),)

    def _edition_number(self) -> int:
        if (seen := self._seen()) is not None:
            return seen.edition
        rows = self.run("SELECT edition FROM looseleaf.memories WHERE memory = %s", (self.memory,))
        if not rows:
            raise Unwritten(f"{self.path} was removed while it was open. Open it again.")
        return int(rows[0][0])

    def reading(self, of: Edition | tuple[()] = ()) -> OpenReading:
        return OpenReading(self._readings, self.edition() if of == () else of)
