"""The connections of this process to one database, shared by all memories that it has there.

Each query names its memory: its connection is set to that one, and the database lets it see no other. Even so, a query
is one round trip. What the driver raises becomes a sentence here.
"""

from __future__ import annotations

import logging
import os
import threading
import time
from collections import Counter
from contextlib import contextmanager
from typing import TYPE_CHECKING

import psycopg
from psycopg import errors
from psycopg.pq import TransactionStatus
from psycopg_pool import ConnectionPool, PoolClosed, PoolTimeout

from looseleaf.base.errors import Busy, Displaced, Refused, Unreachable, Unreadable, Unwritten
from looseleaf.store.postgres.address import without_password

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from typing import Any

    from looseleaf.store.postgres.address import Address

    Cursor = psycopg.Cursor[tuple[Any, ...]]

CONNECTIONS = 10
"""Connections of a process to a database, besides the one for chores and the one that listens."""

WAIT_SECONDS = 2.0
"""The longest wait for a free connection: past this, the process has more to do than it can."""

AWAY_SECONDS = 20.0
"""How long a query is tried again while the server is away: a restart takes less."""

LOCK_SECONDS = 60.0
"""The longest wait for a memory's lock."""

_FIRST_PAUSE, _LONGEST_PAUSE = 0.05, 1.0

_DEADLOCKS = 5
"""How often a query is run again that the server undid."""

_FEW_ROWS = 100
"""A connection does not keep a larger answer."""

_ALIVE = {"keepalives_idle": 30, "keepalives_interval": 10, "keepalives_count": 3, "tcp_user_timeout": 30_000}
"""Seconds, and milliseconds, after which a connection that loses what is sent counts as cut: else it takes hours."""

_OPTIONS = (
    f"-c lock_timeout={int(LOCK_SECONDS * 1000)} -c tcp_keepalives_idle=30 -c tcp_keepalives_interval=10 "
    "-c tcp_keepalives_count=3 -c standard_conforming_strings=on -c row_security=on -c DateStyle=ISO "
    r"-c default_transaction_isolation=read\ committed "
    "-c plan_cache_mode=force_generic_plan -c enable_seqscan=off -c jit=off"
)
"""The server looks too: a machine that lost its power must not hold a memory's lock. And what a role or a database may
have set otherwise is as it must be: with other strings, bytes would arrive as other bytes. Last: all that is asked is
asked by key, and a plan that was made while a table was small would stay."""

logging.getLogger("psycopg").addHandler(logging.NullHandler())  # what fails is said once, in a sentence


class Wire(psycopg.Connection[tuple[object, ...]]):
    """A connection, and the memory that it is set to."""

    memory: int | None = None
    server: tuple[object, ...] = (0, None)
    """The server's process: its number, and when it began."""
    is_pooled = False
    """True if each transaction may go to another process."""
    _cursor: Cursor | None = None

    def ask(self, query: str, values: Sequence[Any]) -> list[tuple[Any, ...]]:
        """Run a query, and return its rows. A new cursor would learn anew how to read each type."""
        cursor = self._cursor
        if cursor is None:
            cursor = self._cursor = self.cursor(binary=True)
        cursor.execute(query, values)
        if cursor.description is None:
            return []
        rows = cursor.fetchall()
        if len(rows) > _FEW_ROWS:
            cursor.close()  # it keeps what it read
            self._cursor = None
        return rows


class Lost(Exception):
    """The connection broke while a query was on its way: it may have been done or not. `server`: the process that the
    server had for it."""

    def __init__(self, why: str, server: tuple[object, ...]) -> None:
        super().__init__(why)
        self.server = server


class Overloaded(Busy):
    """All connections are in use, and stayed so."""


class Claims:
    """Chores that one process at a time does, each named by a memory and a path. They may be held for any time, so one
    connection of the process holds all of them."""

    def __init__(self, connect: Callable[[], Wire]) -> None:
        self._connect = connect
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
                    self._wire = self._connect()
                try:
                    row = self._wire.execute("SELECT pg_try_advisory_lock(%s, %s)", key).fetchone()
                except psycopg.Error:
                    self._wire.close()
                    continue
                if row is not None and row[0] is True:
                    self._held.add(key)
                    return True
                return False
            return False

    def renew(self, key: tuple[int, int]) -> bool:
        """Take a chore again that ended with its connection; True if it is ours now."""
        with self._alone:
            try:
                if self._wire is not None and self._pid == os.getpid() and key in self._held:
                    self._wire.execute("SELECT 1")
                    return True
            except psycopg.Error:
                self._wire = None
            self._held.discard(key)
        return self.take(key)

    def drop(self, key: tuple[int, int]) -> None:
        with self._alone:
            if key not in self._held or self._wire is None or self._pid != os.getpid():
                return
            self._held.discard(key)
            try:
                self._wire.execute("SELECT pg_advisory_unlock(%s, %s)", key)
            except psycopg.Error:
                self._wire.close()

    def close(self) -> None:
        with self._alone:
            if self._wire is not None and self._pid == os.getpid():
                self._wire.close()
            self._wire = None
            self._held.clear()


class Database:
    """One database. `trips` counts round trips. Threads share it; a forked child begins anew."""

    def __init__(self, address: Address, size: int = CONNECTIONS) -> None:
        self.url = address.url
        self._direct_url = address.direct_url
        self._asked_options = address.options
        self.pooled = bool(address.direct)
        """Whether what only reads goes through a pooler."""
        self.trips = 0
        self.waited = 0.0
        """Seconds that queries waited for a free connection."""
        self.patience = AWAY_SECONDS
        """How long a query is tried again while the server is away."""
        self._size = size
        self._alone = threading.Lock()
        self._pools: dict[bool, ConnectionPool[Wire]] = {}
        """The connections to the server itself (True), and through the pooler."""
        self._pid = os.getpid()
        self.claims = Claims(self.connect)

    @property
    def shown(self) -> str:
        """The address, without a password."""
        return without_password(self.url)

    # --- connections -----------------------------------------------------------------------

    def _open_pool(self, *, direct: bool) -> ConnectionPool[Wire]:
        direct = direct or not self.pooled
        with self._alone:
            if self._pid != os.getpid():
                self._pid, self._pools = os.getpid(), {}
            found = self._pools.get(direct)
            if found is None:
                found = self._pools[direct] = ConnectionPool(
                    self._direct_url if direct else self.url,
                    connection_class=Wire,
                    kwargs=self._options(direct=direct),
                    min_size=0,
                    max_size=self._size,
                    timeout=WAIT_SECONDS,
                    configure=_note_beginning if direct else _note_pooled,
                    reconnect_timeout=0.0,
                    open=False,
                    name=f"looseleaf {self.shown}",
                )
                found.open()
            return found

    def _options(self, *, direct: bool) -> dict[str, Any]:
        return {
            "autocommit": True,
            "prepare_threshold": 2 if direct else None,
            "connect_timeout": 5,
            "application_name": "looseleaf",
            "client_encoding": "UTF8",
            **{name: value for name, value in _ALIVE.items() if f"{name}=" not in self.url},
            **({"options": f"{self._asked_options} {_OPTIONS}".strip()} if direct else {}),
        }

    def connect(self) -> Wire:
        """Open a connection to the server itself that is its caller's alone, for claims or for listening."""
        try:
            wire = Wire.connect(self._direct_url, **self._options(direct=True))
        except psycopg.Error as error:
            raise self.explain(error) from error
        _note_beginning(wire)
        return wire

    def end(self, lost: Lost) -> None:
        """End what the server may still be doing for a connection that broke: after this, what is not there will not
        appear."""
        query = "SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity WHERE pid = %s AND backend_start = %s"
        deadline = time.monotonic() + self.patience
        while self.run(None, query, lost.server) == [(False,)]:
            if time.monotonic() > deadline:
                raise Unreachable(
                    f"It is not known whether it was written: the connection to {self.shown} broke, and the server "
                    "does not end what it was doing. Look there, then repeat the command."
                )

    @contextmanager
    def wire(self, *, direct: bool = True) -> Iterator[Wire]:
        """Borrow a connection of a pool."""
        began = time.monotonic()
        pool = self._open_pool(direct=direct)
        try:
            with pool.connection() as wire:
                self.waited += time.monotonic() - began
                yield wire
        except PoolTimeout as error:
            raise self._why_no_connection(pool, error) from error
        except PoolClosed as error:
            raise Unreadable("This memory is closed. Open it again.") from error

    def _why_no_connection(self, pool: ConnectionPool[Wire], error: PoolTimeout) -> Refused:
        """A pool says only that no connection came: find out whether there is none, or all are in use."""
        if pool.get_stats().get("pool_size", 0) >= self._size:
            return Overloaded(
                f"Nothing was done: all {self._size} connections to {self.shown} are in use. Repeat it in a moment."
            )
        try:
            self.connect().close()
        except Refused as refused:
            return refused
        return Unreachable(
            f"Nothing was done: {self.shown} does not answer in time ({error}). Repeat it in a moment."
        )

    def counts(self) -> dict[str, int]:
        """Return the counts of connections: open, idle, and how many queries wait for one or did."""
        counts: Counter[str] = Counter()
        for pool in list(self._pools.values()) if self._pid == os.getpid() else ():
            counts.update({str(name): int(value) for name, value in pool.get_stats().items()})
        return dict(counts)

    def close(self) -> None:
        self.claims.close()
        with self._alone:
            pools, self._pools = self._pools, {}
        for pool in pools.values():
            pool.close(timeout=1.0)

    # --- queries ---------------------------------------------------------------------------

    def run(
        self,
        memory: int | None,
        query: str,
        values: Sequence[Any] = (),
        *,
        on: Wire | None = None,
        again: bool = True,
    ) -> list[tuple[Any, ...]]:
        """Run a query for a memory, and return its rows: one round trip. `on`: a connection that the caller holds.

        While the server is away, a query is tried again for a while. With `again` false it raises `Lost` instead if
        it may have been done: its caller finds out.
        """
        if on is not None:
            was_closed = on.closed
            try:
                return self._run_again(on, memory, query, values)
            except psycopg.Error as error:
                if not is_away(error):
                    raise self.explain(error) from error
                if not again and not was_closed:
                    raise Lost(str(error), on.server) from error
                raise Unreachable(
                    f"Nothing was done: the connection that held the lock of this memory in {self.shown} broke "
                    f"({_first_line(error)}), and the lock ended with it. Repeat the command."
                ) from error
        deadline, pause = time.monotonic() + self.patience, _FIRST_PAUSE
        server: tuple[object, ...] = ()
        while True:
            is_sent = False
            try:
                # A write must be sent to a process that is known: it is ended if its answer is lost.
                with self.wire(direct=not again) as wire:
                    is_sent, server = True, wire.server
                    return self._run_again(wire, memory, query, values)
            except psycopg.Error as error:
                if is_sent and not is_away(error):
                    raise self.explain(error) from error
                if is_sent and not again:
                    raise Lost(str(error), server) from error
                if time.monotonic() > deadline:
                    raise self.explain(error) from error
            except Unreadable as refused:
                if time.monotonic() > deadline or not is_away(refused.__cause__):
                    raise
            time.sleep(pause)
            pause = min(2 * pause, _LONGEST_PAUSE)

    def _run_again(
        self, wire: Wire, memory: int | None, query: str, values: Sequence[Any]
    ) -> list[tuple[Any, ...]]:
        """Run a query; again, where the server undid it to let another one pass, as while tables are upgraded."""
        for _ in range(_DEADLOCKS):
            try:
                return self._run(wire, memory, query, values)
            except errors.DeadlockDetected:
                if wire.info.transaction_status != TransactionStatus.IDLE:
                    raise
        return self._run(wire, memory, query, values)

    def _run(
        self, wire: Wire, memory: int | None, query: str, values: Sequence[Any]
    ) -> list[tuple[Any, ...]]:
        self.trips += 1
        if memory is None or (wire.memory == memory and not wire.is_pooled):
            return wire.ask(query, values)
        with wire.pipeline():
            wire.memory = None  # until the answer is there
            wire.execute("SELECT set_config('looseleaf.memory', %s, %s)", (str(memory), wire.is_pooled))
            cursor = wire.execute(query, values, binary=True)
        wire.memory = memory
        return cursor.fetchall() if cursor.description is not None else []

    def run_two(
        self, memory: int, first: tuple[str, Sequence[Any]], second: tuple[str, Sequence[Any]], *, on: Wire
    ) -> list[tuple[Any, ...]]:
        """Run two statements on a held connection in one round trip; return the second's rows. It sees what was
        committed while the first one waited."""
        self.trips += 1
        try:
            with on.pipeline():
                if on.memory != memory:
                    on.memory = None
                    on.execute("SELECT set_config('looseleaf.memory', %s, false)", (str(memory),))
                on.execute(*first)
                # Each statement of a pipeline has a snapshot of its own, as long as no block is open.
                cursor = on.execute(second[0], second[1], binary=True)
            on.memory = memory
            return cursor.fetchall() if cursor.description is not None else []
        except psycopg.Error as error:
            raise self.explain(error) from error

    # --- connections that a caller holds ---------------------------------------------------

    def hold(self) -> Wire:
        """Take a connection, until `give_back`. The server must be there within the usual time."""
        deadline, pause = time.monotonic() + self.patience, _FIRST_PAUSE
        while True:
            pool = self._open_pool(direct=True)
            try:
                return pool.getconn()
            except PoolTimeout as error:
                refused = self._why_no_connection(pool, error)
                if (
                    time.monotonic() > deadline
                    or isinstance(refused, Overloaded)
                    or not is_away(refused.__cause__)
                ):
                    raise refused from error
            except PoolClosed as error:
                raise Unreadable("This memory is closed. Open it again.") from error
            time.sleep(pause)
            pause = min(2 * pause, _LONGEST_PAUSE)

    def give_back(self, wire: Wire) -> None:
        pool = self._pools.get(True)
        if pool is None:
            wire.close()
        else:
            pool.putconn(wire)

    @contextmanager
    def transaction(self, memory: int, wire: Wire | None = None, *, isolation: str = "") -> Iterator[Wire]:
        """A transaction for a memory: all of the block or nothing. `isolation`: another one than READ COMMITTED."""
        if wire is None:
            with self.wire() as own, self.transaction(memory, own, isolation=isolation):
                yield own
            return
        is_complete = False
        try:
            with wire.transaction():
                if isolation:
                    wire.execute(f"SET TRANSACTION ISOLATION LEVEL {isolation}")
                wire.memory = None
                wire.execute("SELECT set_config('looseleaf.memory', %s, true)", (str(memory),))
                yield wire
                is_complete = True
        except psycopg.Error as error:
            if is_complete and is_away(error):
                raise self.unknown(error) from error
            raise self.explain(error) from error

    def unknown(self, error: psycopg.Error) -> Unreachable:
        """Return the error for a commit without an answer."""
        return Unreachable(
            f"It is not known whether it was done: the connection to {self.shown} broke at the commit "
            f"({_first_line(error)}). Repeat the command: what was done is not done twice."
        )

    def explain(self, error: psycopg.Error) -> Refused:
        """Return what an error means for the person who asked, and what to do."""
        why = without_password(_first_line(error).removeprefix("connection failed: "))
        if error.sqlstate == "LL001":
            return Displaced(moved_sentence(why))
        if any(each in why for each in _FULL):
            return Overloaded(
                f"Nothing was done: {self.shown} takes no more connections ({why}). Repeat it in a moment."
            )
        for kinds, say in _SAYS:
            if isinstance(error, kinds):
                return say(self.shown, why)
        if is_away(error):
            return Unreachable(
                f"Nothing was done: the database {self.shown} cannot be reached ({why}). Check that it runs, then "
                "repeat the command."
            )
        then = " Passwords are read from PGPASSWORD or ~/.pgpass." if "password" in why else ""
        return Unwritten(f"Nothing was done: the database {self.shown} refused it ({why}).{then}")


def is_away(error: BaseException | None) -> bool:
    """True if there was no answer because the server, or the way to it, is gone for now."""
    if isinstance(
        error,
        (errors.AdminShutdown, errors.CrashShutdown, errors.CannotConnectNow, errors.IdleSessionTimeout),
    ):
        return True
    if isinstance(error, (psycopg.OperationalError, psycopg.InterfaceError)):
        if error.sqlstate is not None:
            return error.sqlstate.startswith(("08", "57P"))
        said = str(error)
        return not any(each in said for each in (*_NOT_AWAY, *_FULL))
    return False


def _first_line(error: psycopg.Error) -> str:
    return str(error).strip().splitlines()[0] if str(error).strip() else type(error).__name__


_NOT_AWAY = (
    "authentication failed",
    "no password supplied",
    "does not exist",
    "no pg_hba.conf entry",
    "certificate",
)
"""What a server says that runs but lets nobody in: libpq gives no code for that."""

_FULL = ("too many clients already", "remaining connection slots", "too many connections for")
"""What it says when it has no connection left."""


def moved_sentence(to: str) -> str:
    """Return the sentence that says that a memory has moved."""
    return f"Nothing was done: this memory moved to {to}. Open that one."


def _say(kind: Callable[[str], Refused], sentence: str) -> Callable[[str, str], Refused]:
    return lambda shown, why: kind(sentence.format(shown=shown, why=why))


_SAYS: tuple[tuple[tuple[type[psycopg.Error], ...], Callable[[str, str], Refused]], ...] = (
    (
        (errors.QueryCanceled,),
        _say(
            Busy, "Nothing was done: {shown} ended it, as it took too long there ({why}). Repeat the command."
        ),
    ),
    (
        (errors.LockNotAvailable,),
        _say(Busy, "Nothing was done: another process held the memory too long ({why}). Repeat the command."),
    ),
    (
        (errors.DiskFull, errors.OutOfMemory, errors.ConfigurationLimitExceeded),
        _say(
            Unwritten,
            "Nothing was written: {shown} has no room left ({why}); everything written before is intact. Free some "
            "space there, then repeat the command.",
        ),
    ),
    (
        (errors.TooManyConnections,),
        _say(
            Overloaded, "Nothing was done: {shown} takes no more connections ({why}). Repeat it in a moment."
        ),
    ),
    (
        (errors.UndefinedTable, errors.UndefinedFunction, errors.UndefinedColumn, errors.InvalidSchemaName),
        _say(
            Unreadable,
            "Nothing was done: the database {shown} has no looseleaf tables, or those of another version ({why}). "
            "Run, as the role that owns them: looseleaf database migrate ADDRESS",
        ),
    ),
    (
        (errors.InsufficientPrivilege,),
        _say(
            Unreadable,
            "Nothing was done: this role may not do that in {shown} ({why}). If memories are used as this role, run, "
            "as the owner of the tables: looseleaf database migrate ADDRESS --role ROLE",
        ),
    ),
    (
        (errors.ReadOnlySqlTransaction,),
        _say(
            Unwritten,
            "Nothing was written: {shown} is a standby, or read-only ({why}). Connect to the primary.",
        ),
    ),
)


def _note_beginning(wire: Wire) -> None:
    query = "SELECT pid, backend_start FROM pg_stat_activity WHERE pid = pg_backend_pid()"
    wire.server = wire.execute(query).fetchone() or (0, None)


def _note_pooled(wire: Wire) -> None:
    wire.is_pooled = True


# --- one database for all memories of a process ------------------------------------------

_open: dict[tuple[str, str], Database] = {}
_open_alone = threading.Lock()


def database_at(address: Address) -> Database:
    """Return this process's connections to a database; there is one set of them."""
    key = address.url, address.direct
    with _open_alone:
        found = _open.get(key)
        if found is None:
            found = _open[key] = Database(address)
        return found


def close_all() -> None:
    """Close the connections of this process to all databases."""
    with _open_alone:
        found = list(_open.values())
        _open.clear()
    for each in found:
        each.close()
