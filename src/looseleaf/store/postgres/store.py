"""A store in PostgreSQL. A write is one statement, one round trip and one commit.

Streams and documents are rows; what the folder would hold follows from them byte for byte (`folder_view.py`). There is
no other way to these rows than through the program, so a page is always as the journal has it, and what could only
happen to files (torn ends, a copied folder, a save by an editor) is not looked for.
"""

from __future__ import annotations

import datetime
import os
import re
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING

from looseleaf.base.errors import (
    Displaced,
    Invalid,
    NotFound,
    Outdated,
    Refused,
    Stale,
    Unreachable,
    Unreadable,
    Unwritten,
)
from looseleaf.base.ids import random_id
from looseleaf.base.paths import canonical, fold_name
from looseleaf.base.policy import Policy
from looseleaf.base.values import START, Document, LogLine, Position, Stat, sha256
from looseleaf.store import JOURNAL
from looseleaf.store import records as codec
from looseleaf.store.claim import ChoreClaim
from looseleaf.store.machines import OTHERS, is_name, log_of, stream_of
from looseleaf.store.postgres.address import Address, default_namespace
from looseleaf.store.postgres.check_database import refuse_unfit
from looseleaf.store.postgres.database import Lost, database_at, moved_sentence
from looseleaf.store.postgres.folder_view import FolderView
from looseleaf.store.postgres.lock import AloneInDatabase, MemoryLock
from looseleaf.store.postgres.look import LOOK, Asked, Lines, Looks, Seen, stat_of
from looseleaf.store.reading import OpenReading, Readings
from looseleaf.store.records import BODIES, Bodies
from looseleaf.store.root import ASIDE, over_limit
from looseleaf.store.streams import SUMS, records_in, segment_name, stamped, stream_files, stream_of_file

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
    from types import TracebackType
    from typing import Any, Self

    from looseleaf.base.values import Edition, Problem, Record
    from looseleaf.store.postgres.database import Database, Wire
    from looseleaf.store.postgres.switch import DatabaseSwitch

_SHIFT = 40
_MASK = (1 << _SHIFT) - 1
FIRST = 1 << _SHIFT
"""Where the first record of a stream begins: segment 1, byte 0."""

_FIRST_ROWS, _MOST_ROWS = 64, 2048
"""Records to read at once: few at first, since often one is wanted."""

_TRIES = 20
"""How often a write is sent again whose connection broke each time."""

_APPEND_ONE = "SELECT looseleaf.append_line(%s, %s, %s, %s, %s, %s) AS start"
_APPEND = "SELECT looseleaf.append_lines(%s, %s, %s::bytea[], %s::bigint[], %s, %s, %s, %s) AS start"
_PUT = (
    "SELECT outcome, present, other, line_at FROM looseleaf.put(%s, %s, %s, %s, %s::bytea, %s::bytea, %s::bytea, "
    "%s::bytea, %s, %s, %s::timestamptz)"
)
_VIEW = "SELECT looseleaf.view(%s, %s, %s, %s, %s, %s)"
_PUBLISH = "SELECT looseleaf.publish(%s, %s, %s::text[], %s::text[], %s::bytea[], %s::bytea[], %s)"
_WITH_BODIES = (
    "WITH w AS MATERIALIZED ({query}), b AS (INSERT INTO looseleaf.documents "
    "(memory, path, folder, sha256, version, data) "
    "SELECT %s, u.path, %s, u.hash, nextval('looseleaf.versions'), u.data FROM w, "
    "unnest(%s::text[], %s::bytea[], %s::bytea[]) AS u (path, hash, data) WHERE {is_done} "
    "ON CONFLICT (memory, path) DO NOTHING) SELECT * FROM w"
)
"""A write and the bodies of its records, in one statement: where it is refused, they are not there either."""

_STAT = "path, octet_length(data), sha256, extract(epoch FROM changed)::float8"


def pack(position: Position) -> int:
    return (position.segment << _SHIFT) | position.offset


def unpack(number: int) -> Position:
    return Position(number >> _SHIFT, number & _MASK)


class PostgresStore:
    """A `Store` in a database: one memory of it."""

    is_far = True
    edited_outside = False
    """Nothing changes a page but the program."""

    def __init__(
        self,
        database: Database,
        memory: int,
        address: Address,
        policy: Policy | None = None,
        *,
        reads_only: bool = False,
    ) -> None:
        """`reads_only`: nothing but views may be written. The memory lies under another one."""
        policy = policy or Policy()
        self.reads_only = reads_only
        self.database = database
        self.memory = memory
        self.address = address
        self.veil: Callable[[str], Callable[[Record], Record]] = lambda machine: lambda record: record
        """Returns what another machine recorded, or a stand-in for what is forgotten."""
        self.policy = policy
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
        self._view_of_folder = FolderView(self)
        self._bodies = Bodies(self._view_of_folder, policy.body_bytes)  # type: ignore[arg-type]
        self._sums: dict[str, tuple[int, int, int]] = {}
        self._edition_seen: int | None = None
        self._machine: str | None = None
        self._is_closed = False

    @classmethod
    def open(
        cls, address: Address, policy: Policy | None = None, *, make: bool = False, reads_only: bool = False
    ) -> Self:
        """Open a memory; with `make`, make it if it is missing. Raise NotFound if there is none."""
        named = address if address.namespace else address.of(default_namespace())
        database = database_at(named)
        refuse_unfit(database)
        query = "SELECT memory, state, note FROM looseleaf.find_memory(%s, %s)"
        rows = database.run(None, query, (named.namespace, make))
        if not rows:
            raise NotFound(f"There is no memory at {named.shown}. `looseleaf init` makes one.")
        if rows[0][1] == "left":
            raise Displaced(moved_sentence(str(rows[0][2])))
        return cls(database, int(rows[0][0]), named, policy, reads_only=reads_only)

    # --- names -----------------------------------------------------------------------------

    @property
    def path(self) -> str:
        """The address as people may see it."""
        return self.address.shown

    @property
    def machine(self) -> str:
        """The name of the machine whose log this is: the database's own, or that of the folder it came from."""
        if self._machine is None:
            raw = codec.whole(self._read_file("log/machine") or b"")
            name = raw.get("id")
            self._machine = name if isinstance(name, str) and is_name(name) else "database"
        return self._machine

    def machines(self) -> list[str]:
        """Return the other machines that have a log here: they came with a folder."""
        found = {name.split("/")[1] for name in self._ends() if name.startswith("on/")}
        return sorted(name for name in found if is_name(name) and name != self.machine)

    def owner(self, place: str) -> str:
        """Return the other machine whose log a file is; "": none."""
        name = place.removeprefix(f"{OTHERS}/").partition("/")[0]
        return name if place.startswith(f"{OTHERS}/") and name != self.machine else ""

    def names(self, folder: str) -> list[str]:
        """Return the names of all that lies directly in a folder."""
        documents = (stat.path.rpartition("/")[2] for stat in self.list(folder))
        return sorted({*documents, *self.folders(folder)})

    def place(self, path: str) -> str:
        """Return where a file would lie in the folder."""
        return path

    def is_in_place(self) -> bool:
        return True

    # --- queries ---------------------------------------------------------------------------

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

    # --- the lock --------------------------------------------------------------------------

    @property
    def tables(self) -> tuple[Database, int]:
        return self.database, self.memory

    def lock(self) -> MemoryLock:
        return self._lock

    def is_locked(self) -> bool:
        """True if this thread holds the lock."""
        return self._lock.is_mine()

    def _look_query(self) -> tuple[str, tuple[object, ...]]:
        return LOOK, (*self._asked.lists(), self.memory)

    def _admit(self, rows: Sequence[Sequence[Any]], values: Sequence[Any]) -> None:
        """Begin a look with the lock: while it is held, nothing changes but by its holder."""
        self._looks.depth += 1
        self._looks.seen = self._take_look(rows, values)
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

    # --- looks -----------------------------------------------------------------------------

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

    def alone(self, path: str) -> AloneInDatabase:
        """Try to be the only one that does a chore, which a path names."""
        self.look_again()  # another may just have done it
        return AloneInDatabase(self.database.claims, self.memory, path)

    def claim(self, path: str) -> ChoreClaim:
        """Do work once for all that need it at the same time: see `ChoreClaim`."""
        patience = 0.0 if self._lock.is_mine() else self.policy.lock_seconds
        return ChoreClaim(self.alone(path), f"{self.path}/{path}", patience)

    # --- streams ---------------------------------------------------------------------------

    def append(self, stream: str, records: Sequence[Record]) -> list[Position]:
        found = self._append(stream, records, None, self._since())
        if found is None:
            self.look_again()
            raise Outdated
        return found

    def append_after(
        self, stream: str, last: Position, records: Sequence[Record], of: Edition
    ) -> list[Position] | None:
        since = of[0] if of is not None else None
        if self._since() not in (None, since):
            raise Outdated
        return self._append(stream, records, pack(last), since)

    def _append(
        self, stream: str, records: Sequence[Record], after: int | None, since: int | None
    ) -> list[Position] | None:
        """Append records; return their places, or None if what was asked of the stream is not so."""
        stream_files(stream)  # refuses a name that is none
        bodies: dict[str, bytes] = {}
        lines = [self._encode(record, bodies) for record in records]
        if not lines:
            return []
        offsets, size = [], 0
        for line in lines:
            offsets.append(size)
            size += len(line)
        query, cap = _APPEND_ONE, self.policy.segment_bytes
        values: tuple[object, ...] = self.memory, stream, lines[0], cap, after, since
        if len(lines) > 1:
            query, values = _APPEND, (self.memory, stream, lines, offsets, size, cap, after, since)
        query, values = self._with_bodies(query, values, bodies, "w.start IS NOT NULL")
        generation = self._lines_read.generation
        for _ in range(_TRIES):
            try:
                start = self._write(query, values)[0][0]
                break
            except Lost as lost:
                places = self._find_written(lost, stream, records[-1].get("id"), lines)
                if places is not None:
                    return [unpack(at) for at in places]
        else:
            raise self._never_answered(stream)
        if start is None:
            return None
        places = [int(start) + at for at in offsets]
        self._note_appended(stream, [*zip(places, lines, strict=True)], generation)
        return [unpack(at) for at in places]

    def _note_appended(self, stream: str, lines: list[tuple[int, bytes]], generation: int) -> None:
        """Take in lines that this thread appended itself."""
        start, end = lines[0][0], lines[-1][0] + len(lines[-1][1])
        if self._looks.seen is not None:
            self._looks.seen.ends[stream] = end
        tail = self._lines_read.tail(stream)
        if tail is not None and tail.end == start:
            self._lines_read.note(stream, start, end, lines, generation)

    def _write(self, query: str, values: Sequence[Any]) -> list[tuple[Any, ...]]:
        """Run a statement that writes; raise `Lost` if it may have been done or not. Threads of a process that hold the
        lock go first, so that those that wait do not take all connections."""
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
            f"{what} was not written: the connection to {self.database.shown} broke each time. Look at the log there."
        )

    def _find_written(
        self, lost: Lost, stream: str, name: object, lines: Sequence[bytes]
    ) -> list[int] | None:
        """Return where lines begin that may have been written before the connection broke; None: they were not. The
        last one is known by its bytes, or by its id where it was forgotten meanwhile."""
        self._end_lost(lost)
        if not isinstance(name, str):
            raise Unreachable(
                f"It is not known whether it was written: the connection to {self.database.shown} broke, and the "
                "record has no id to look for. Look whether it is there, then repeat it."
            )
        marked = b'"id":' + codec.to_json(name)
        of_stream = (
            "memory = %s AND stream = (SELECT stream FROM looseleaf.streams WHERE memory = %s AND name = %s)"
        )
        query = (
            f"SELECT pos, line FROM looseleaf.records WHERE {of_stream} AND "
            "(line = %s OR position(%s::bytea IN line) > 0) ORDER BY pos DESC LIMIT 100"
        )
        values = self.memory, self.memory, stream
        for at, line in self.database.run(self.memory, query, (*values, lines[-1], marked)):
            if bytes(line) == lines[-1] or _record_of(bytes(line)).get("id") == name:
                query = f"SELECT pos FROM looseleaf.records WHERE {of_stream} AND pos <= %s ORDER BY pos DESC LIMIT %s"
                rows = self.database.run(self.memory, query, (*values, at, len(lines)))
                return [int(row[0]) for row in reversed(rows)]
        self._require_lock()
        return None

    def _encode(self, record: Record, bodies: dict[str, bytes]) -> bytes:
        """Return a record's line. `bodies` gets what is too long for it, by path."""
        record = stamped(record)
        line = codec.encode_new(record)
        if len(line) > self.policy.body_bytes:
            taken = Bodies(_NewFiles(bodies), self.policy.body_bytes)  # type: ignore[arg-type]
            line = codec.encode(taken.take_out(record))
        return line

    def _with_bodies(
        self, query: str, values: tuple[object, ...], bodies: Mapping[str, bytes], is_done: str
    ) -> tuple[str, tuple[object, ...]]:
        if not bodies:
            return query, values
        hashes = [bytes.fromhex(path.rpartition("/")[2]) for path in bodies]
        more = self.memory, BODIES, [*bodies], hashes, [*bodies.values()]
        return _WITH_BODIES.format(query=query, is_done=is_done), (*values, *more)

    def _ends(self) -> dict[str, int]:
        """Return where each stream ends."""
        if (seen := self._seen()) is not None:
            return seen.ends
        rows = self.run("SELECT name, next FROM looseleaf.streams WHERE memory = %s", (self.memory,))
        return {str(name): int(end) for name, end in rows}

    def read(
        self, stream: str, start: Position = START, on_problem: Callable[[Problem], None] | None = None
    ) -> Iterator[LogLine]:
        lines = self._lines(stream, start, on_problem)
        return self._as_shown(stream, lines) if "/traces/" in stream else lines

    def _lines(
        self, stream: str, start: Position, on_problem: Callable[[Problem], None] | None
    ) -> Iterator[LogLine]:
        for at, line in self.raw_lines(stream, pack(start)):
            place = unpack(at)
            name = self._file_of(stream, place.segment) if on_problem or stream.startswith("on/") else stream
            yield from records_in(self._bodies, name, place, line.removesuffix(b"\n"), None, on_problem)

    def _file_of(self, stream: str, segment: int) -> str:
        """Return the file that would hold a segment."""
        path, archive = stream_files(stream)
        end = self._ends().get(stream, FIRST) if stream else FIRST
        return path if segment >= end >> _SHIFT else f"{archive}/{segment_name(segment)}"

    def raw_lines(self, stream: str, start: int = 0, end: int | None = None) -> Iterator[tuple[int, bytes]]:
        """Yield the lines of a stream with their places, from one place to another."""
        stream_files(stream)
        query = (
            "SELECT pos, line FROM looseleaf.records WHERE memory = %s AND pos >= %s AND pos < %s AND stream = "
            "(SELECT stream FROM looseleaf.streams WHERE memory = %s AND name = %s) ORDER BY pos LIMIT %s"
        )
        stop = (1 << 62) if end is None else end
        seen = self._seen()
        if start >= stop:
            return
        if seen is not None:
            last = seen.ends.get(stream, 0)
            if start >= last:
                return
            single = self._lines_read.line(stream, start)
            if single is not None:
                yield start, single
                start += len(single)
            tail = self._lines_read.tail(stream)
            if tail is not None and tail.begin <= start < tail.end:
                for at, line in list(tail.lines):
                    if start <= at < stop:
                        yield at, line
                start = tail.end
            if start >= min(last, stop):
                return
        begin, limit = start, _FIRST_ROWS
        found: list[tuple[int, bytes]] = []
        while True:
            rows = self.run(query, (self.memory, start, stop, self.memory, stream, limit))
            lines = [(int(at), bytes(line)) for at, line in rows]
            if seen is not None and end is None:
                found += lines
                if len(found) > 2 * _MOST_ROWS:
                    found = found[-_MOST_ROWS:]
                    begin = found[0][0]
            if seen is not None and end is None and len(rows) < limit:
                last = max(seen.ends.get(stream, 0), lines[-1][0] + len(lines[-1][1]) if lines else 0)
                seen.ends[stream] = last
                self._lines_read.note(stream, begin, last, found, seen.generation)
            yield from lines
            if len(rows) < limit:
                return
            start, limit = lines[-1][0] + 1, min(4 * limit, _MOST_ROWS)

    def fetch(self, places: Iterable[tuple[str, Position]]) -> None:
        """Read single lines at once, for the reads that follow in this look."""
        if not self._looks.depth:
            return
        wanted: dict[str, list[int]] = {}
        for stream, place in places:
            if self._lines_read.line(stream, pack(place)) is None:
                wanted.setdefault(stream, []).append(pack(place))
        if not wanted:
            return
        names = [stream for stream, own in wanted.items() for _ in own]
        query = (
            "SELECT u.name, r.pos, r.line FROM unnest(%s::text[], %s::bigint[]) AS u (name, pos) "
            "JOIN looseleaf.streams s ON s.memory = %s AND s.name = u.name "
            "JOIN looseleaf.records r ON r.memory = %s AND r.stream = s.stream AND r.pos = u.pos"
        )
        values = (names, [at for own in wanted.values() for at in own], self.memory, self.memory)
        seen = self._seen()
        generation = seen.generation if seen is not None else -1
        for name, at, line in self.run(query, values):
            self._lines_read.keep(str(name), int(at), bytes(line), generation)

    def read_back(self, stream: str, end: Position | None = None) -> Iterator[LogLine]:
        lines = self._lines_back(stream, end)
        return self._as_shown(stream, lines) if "/traces/" in stream else lines

    def _lines_back(self, stream: str, end: Position | None) -> Iterator[LogLine]:
        stream_files(stream)
        query = (
            "SELECT pos, line FROM looseleaf.records WHERE memory = %s AND pos < %s AND stream = "
            "(SELECT stream FROM looseleaf.streams WHERE memory = %s AND name = %s) ORDER BY pos DESC LIMIT %s"
        )
        stop, limit = (1 << 62) if end is None else pack(end), _FIRST_ROWS
        seen = self._seen()
        if seen is not None:
            last = seen.ends.get(stream, 0)
            if not last:
                return
            tail = self._lines_read.tail(stream)
            if tail is not None and tail.begin < stop and (stop <= tail.end or tail.end == last):
                for at, line in reversed(tail.lines):
                    if at < stop:
                        yield from self._back(stream, at, line)
                stop = tail.begin
            if stop <= FIRST:
                return
        is_first = stop == 1 << 62
        while True:
            rows = self.run(query, (self.memory, stop, self.memory, stream, limit))
            lines = [(int(at), bytes(line)) for at, line in rows]
            if seen is not None and is_first:
                begin = lines[-1][0] if len(lines) == limit else 0
                last = max(last, lines[0][0] + len(lines[0][1]) if lines else 0)
                seen.ends[stream] = last
                self._lines_read.note(stream, begin, last, lines[::-1], seen.generation)
            is_first = False
            for at, line in lines:
                yield from self._back(stream, at, line)
            if len(lines) < limit:
                return
            stop, limit = lines[-1][0], min(4 * limit, _MOST_ROWS)

    def _back(self, stream: str, at: int, line: bytes) -> Iterator[LogLine]:
        place = unpack(at)
        name = self._file_of(stream, place.segment) if stream.startswith("on/") else stream
        return reversed(list(records_in(self._bodies, name, place, line.removesuffix(b"\n"), None, None)))

    def _as_shown(self, stream: str, lines: Iterator[LogLine]) -> Iterator[LogLine]:
        """Yield the talk of another machine, as it is shown here."""
        show = self.veil(stream.split("/")[1])
        for line in lines:
            record = show(line.record)
            yield line if record is line.record else LogLine(record, line.position, line.end, line.checked)

    def shown(self, machine: str, record: Record) -> Record:
        return self.veil(machine)(record)

    def end(self, stream: str) -> Position:
        stream_files(stream)
        if (seen := self._seen()) is not None:
            return unpack(seen.ends.get(stream, FIRST))
        query = "SELECT next FROM looseleaf.streams WHERE memory = %s AND name = %s"
        rows = self.run(query, (self.memory, stream))
        return unpack(int(rows[0][0])) if rows else unpack(FIRST)

    def line_before(self, stream: str, position: Position) -> Record | None:
        query = (
            "SELECT line FROM looseleaf.records WHERE memory = %s AND pos < %s AND pos >= %s AND stream = "
            "(SELECT stream FROM looseleaf.streams WHERE memory = %s AND name = %s) ORDER BY pos DESC LIMIT 1"
        )
        place = pack(position)
        tail = self._lines_read.tail(stream) if self._seen() is not None else None
        if tail is not None and tail.begin < place <= tail.end:
            line = next((line for at, line in tail.lines if at + len(line) == place), None)
            return None if line is None else _record_of(line)
        values = (self.memory, place, position.segment << _SHIFT, self.memory, stream)
        rows = self.run(query.replace("SELECT line", "SELECT line, pos"), values)
        if not rows or int(rows[0][1]) + len(rows[0][0]) != place:
            return None
        return _record_of(bytes(rows[0][0]))

    def sum(self, stream: str, position: Position) -> str | None:
        """Return the checksum of a stream up to a place: of the seals of earlier segments, and the bytes of this."""
        from zlib import crc32

        if pack(self.end(stream)) < pack(position):
            return None
        segment, at, sum = self._sums.get(stream, (0, 0, 0))
        if segment != position.segment or at > position.offset:
            before = self.seals(stream, position.segment)
            segment, at, sum = position.segment, 0, crc32(before) if before else 0
        base = segment << _SHIFT
        for _, line in self.raw_lines(stream, base + at, base + position.offset):
            sum, at = crc32(line, sum), at + len(line)
        self._sums[stream] = segment, at, sum
        return f"{sum:08x}"

    def seals(self, stream: str, before: int | None = None) -> bytes:
        """Return the file with the seals of a stream's sealed segments (before one). What it lacks is computed, and
        kept."""
        archive = stream_files(stream)[1]
        path = f"{archive}/{SUMS}"
        document = self._document(path)
        data = document if document is not None else b""
        sealed = [
            number
            for number in self._segment_numbers(stream)
            if number < (self._ends().get(stream, FIRST) >> _SHIFT)
        ]
        listed = re.findall(rb"  ([0-9]{6,})\.jsonl\n", data)
        # Only the newest: an older one has lost its seal, which `check` must keep reporting.
        newest = max(map(int, listed), default=0)
        missing = [number for number in sealed if number > newest]
        if missing:
            for number in missing:
                digest = sha256(self.segment(stream, number))
                data += f"{digest}  {segment_name(number)}\n".encode()
            self._upsert(path, data)
        if before is None:
            return data
        last = f"  {segment_name(before - 1)}\n".encode()
        at = data.rfind(last)
        return data[: at + len(last)] if at >= 0 else b""

    def _segment_numbers(self, stream: str) -> list[int]:
        query = (
            "WITH RECURSIVE s AS (SELECT stream FROM looseleaf.streams WHERE memory = %s AND name = %s), "
            "n(segment) AS (SELECT (SELECT min(pos) >> 40 FROM looseleaf.records WHERE memory = %s AND stream = "
            "(SELECT stream FROM s)) UNION ALL SELECT (SELECT min(pos) >> 40 FROM looseleaf.records WHERE memory = %s "
            "AND stream = (SELECT stream FROM s) AND pos >= (n.segment + 1) << 40) FROM n WHERE n.segment IS NOT NULL) "
            "SELECT segment FROM n WHERE segment IS NOT NULL"
        )
        return [int(row[0]) for row in self.run(query, (self.memory, stream, self.memory, self.memory))]

    def segments(self, stream: str) -> dict[int, tuple[str, tuple[int, int], int]]:
        """Return the path, the identity and the size of each segment, by number."""
        found: dict[int, tuple[str, tuple[int, int], int]] = {}
        path, archive = stream_files(stream)
        active = self._ends().get(stream, FIRST) >> _SHIFT
        for number in self._segment_numbers(stream):
            last = self.run(
                "SELECT pos, octet_length(line) FROM looseleaf.records WHERE memory = %s AND pos < %s AND stream = "
                "(SELECT stream FROM looseleaf.streams WHERE memory = %s AND name = %s) ORDER BY pos DESC LIMIT 1",
                (self.memory, (number + 1) << _SHIFT, self.memory, stream),
            )
            size = (int(last[0][0]) & _MASK) + int(last[0][1])
            place = path if number >= active else f"{archive}/{segment_name(number)}"
            found[number] = place, (self._edition_number(), number), size
        return found

    def segment(self, stream: str, number: int, start: int = 0) -> bytes:
        """Return the bytes of a segment from a place on."""
        base = number << _SHIFT
        return b"".join(line for _, line in self.raw_lines(stream, base + start, base + FIRST))

    def rotate(self, stream: str) -> None:
        stream_files(stream)
        query = (
            "UPDATE looseleaf.streams SET next = ((next >> 40) + 1) << 40 WHERE memory = %s AND name = %s "
            "AND (next & 1099511627775) > 0 RETURNING next"
        )
        for _ in range(_TRIES):
            try:
                rows = self._write(query, (self.memory, stream))
            except Lost as lost:
                self._end_lost(lost)
                self._require_lock()
                continue  # twice is once
            if rows and self._looks.seen is not None:
                self._looks.seen.ends[stream] = int(rows[0][0])
            return
        raise self._never_answered(stream)

    def streams(self, machine: str = "") -> list[str]:
        """Return the streams of this memory's own log, or of another machine's, in their order."""
        prefix = stream_of(machine, "") if machine else ""
        found = {name.removeprefix(prefix) for name in self._ends() if name.startswith(prefix)}
        plain = [name for name in ("journal", "calls", "tombstones", "imports") if name in found]
        agents = sorted(name for name in found if name.startswith("traces/"))
        prompts = sorted(name for name in found if name.startswith("prompts/"))
        return [prefix + name for name in (*plain, *agents, *prompts)]

    def compare(self, streams: Sequence[str], on_loss: Callable[[str], None]) -> None:
        """A log in a database does not go back."""

    # --- documents -------------------------------------------------------------------------

    def get(self, path: str, limit: int | None = None) -> Document | None:
        path = canonical(path)
        most = (1 << 31) - 1 if limit is None else limit
        stat = self._known_stat(path)
        if stat is not None:
            if stat.size > most:
                raise over_limit(path, most)
            data = self._asked.get(stat)
            if data is not None:
                return Document(path, data)
        elif self._is_known(path):
            return self._log_file(path)
        query = (
            f"SELECT {_STAT}, CASE WHEN octet_length(data) <= %s THEN data END FROM looseleaf.documents "
            "WHERE memory = %s AND path = %s"
        )
        rows = self.run(query, (most, self.memory, path))
        if not rows:
            self._note_gone(path)
            return self._log_file(path)
        *row, found = rows[0]
        stat = stat_of(*row)
        if self._looks.seen is not None:
            self._looks.seen.note(stat)
        if found is None:
            raise over_limit(path, most)
        if self._looks.depth:
            self._asked.keep(path, stat.mark[0], bytes(found))
        return Document(path, bytes(found))

    def _log_file(self, path: str) -> Document | None:
        data = self._view_of_folder.read_log(path)
        return None if data is None else Document(path, data)

    def _known_stat(self, path: str) -> Stat | None:
        seen = self._seen()
        if seen is not None:
            self._asked.path(path)
        return seen.stats.get(path) if seen is not None else None

    def _is_known(self, path: str) -> bool:
        """True if this thread's look saw whether the document is there."""
        return self._looks.seen is not None and self._looks.seen.knows(path)

    def _note_gone(self, path: str) -> None:
        if self._looks.seen is not None:
            self._looks.seen.note_gone(path)

    def _note_written(self, path: str, data: bytes, digest: bytes) -> None:
        """Take in what this thread wrote itself."""
        if self._looks.seen is not None:
            stat = stat_of(path, len(data), digest, time.time())
            self._looks.seen.note(stat)
            self._asked.keep(path, stat.mark[0], data)

    def _document(self, path: str) -> bytes | None:
        rows = self.run(
            "SELECT data FROM looseleaf.documents WHERE memory = %s AND path = %s", (self.memory, path)
        )
        return bytes(rows[0][0]) if rows else None

    def _read_file(self, path: str) -> bytes | None:
        return self._document(path)

    def stat(self, path: str) -> Stat | None:
        path = canonical(path)
        found = stream_of_file(path)
        if found is not None and found[1] is None:
            end = self._ends().get(found[0])
            return None if end is None else Stat(path, end & _MASK, 0, (self._edition_number(), end))
        stat = self._known_stat(path)
        if stat is not None or self._is_known(path):
            return stat
        query = f"SELECT {_STAT} FROM looseleaf.documents WHERE memory = %s AND path = %s"
        rows = self.run(query, (self.memory, path))
        stat = stat_of(*rows[0]) if rows else None
        if self._looks.seen is not None:
            self._looks.seen.stats[path] = stat
        return stat

    def put(
        self,
        path: str,
        data: bytes,
        *,
        base: str | None,
        record: Record | None = None,
        when: float | None = None,
    ) -> str:
        new = str(record["new"]) if record is not None and record.get("new") else sha256(data)
        self._change(canonical(path), data, base, new, record, when)
        return new

    def delete(self, path: str, *, base: str, record: Record | None = None) -> None:
        self._change(canonical(path), None, base, None, record)

    def _change(
        self,
        path: str,
        data: bytes | None,
        base: str | None,
        new: str | None,
        record: Record | None,
        when: float | None = None,
    ) -> None:
        if data is None and base is None:
            raise Stale(path, base, None)
        since, bodies = self._since(), dict[str, bytes]()
        line = self._encode(record, bodies) if record is not None else None
        values: tuple[object, ...] = (
            self.memory,
            path,
            path.rpartition("/")[0],
            fold_name(path),
            data,
            bytes.fromhex(new) if new is not None else None,
            bytes.fromhex(base) if base is not None else None,
            line,
            self.policy.segment_bytes,
            since,
            None if when is None else datetime.datetime.fromtimestamp(when, datetime.UTC),
        )
        query, values = self._with_bodies(_PUT, values, bodies, "w.outcome = 'done'")
        generation = self._lines_read.generation
        for _ in range(100):
            try:
                outcome, present, other, line_at = self._write(query, values)[0]
            except Lost as lost:
                if self._is_done(lost, path, new, record, line):
                    return
                continue
            if outcome == "done":
                if line is not None:
                    self._note_appended(JOURNAL, [(int(line_at), line)], generation)
                if data is None or new is None:
                    self._note_gone(path)
                else:
                    self._note_written(path, data, bytes.fromhex(new))
                return
            self.look_again()
            if outcome == "outdated":
                raise Outdated
            if outcome == "twin":
                raise Refused(
                    f"{path} was not made: {other} exists, and some systems take the two names for one. "
                    f"Change {other}, or choose a name that differs in more than case or accents."
                )
            if outcome == "stale":
                raise Stale(path, base, bytes(present).hex() if present is not None else None)
        raise Unwritten(f"{path} was not written: it changes all the time. Repeat it.")

    def _is_done(
        self, lost: Lost, path: str, new: str | None, record: Record | None, line: bytes | None
    ) -> bool:
        """True if a change was made before its connection broke."""
        if record is not None and line is not None:
            return self._find_written(lost, JOURNAL, record.get("id"), [line]) is not None
        self._end_lost(lost)
        data = self._committed(path)
        is_done = (None if data is None else sha256(data)) == new
        if not is_done:
            self._require_lock()
        return is_done

    def _committed(self, path: str) -> bytes | None:
        """Return a document as another connection sees it than the one that may hold the lock."""
        query = "SELECT data FROM looseleaf.documents WHERE memory = %s AND path = %s"
        rows = self.database.run(self.memory, query, (self.memory, path))
        return bytes(rows[0][0]) if rows else None

    def view(self, path: str, data: bytes, *, of: Edition | tuple[()] = ()) -> None:
        path = canonical(path)
        if not path.startswith("views/"):
            raise Invalid(
                f"{path} was not written: only files in views/ may be written without a base. Use put."
            )
        since = self._since()
        asked = since if since is not None else of[0] if of else None
        digest = bytes.fromhex(sha256(data))
        values = self.memory, path, path.rpartition("/")[0], data, digest, asked
        if self.run(_VIEW, values)[0][0]:
            self._note_written(path, data, digest)
            return
        self.look_again()
        if since is not None:
            raise Outdated

    def _upsert(self, path: str, data: bytes) -> None:
        """Write a file of the log that follows from the rest, or whose name says what is in it."""
        self.run(
            "INSERT INTO looseleaf.documents (memory, path, folder, sha256, version, data) "
            "VALUES (%s, %s, %s, %s, nextval('looseleaf.versions'), %s) ON CONFLICT (memory, path) DO UPDATE "
            "SET data = excluded.data, sha256 = excluded.sha256, version = excluded.version",
            (self.memory, path, path.rpartition("/")[0], bytes.fromhex(sha256(data)), data),
        )
        self._note_written(path, data, bytes.fromhex(sha256(data)))

    def publish(self, folder: str, files: Mapping[str, bytes], *, again: bool = False) -> None:
        folder = canonical(folder)
        paths = {f"{folder}/{canonical(name)}": data for name, data in files.items()}
        rows = [
            (path, path.rpartition("/")[0], bytes.fromhex(sha256(data)), data) for path, data in paths.items()
        ]
        paths_of, folders, hashes, bodies = (
            (list(each) for each in zip(*rows, strict=True)) if rows else ([],) * 4
        )
        for _ in range(_TRIES):
            try:
                values = self.memory, folder, paths_of, folders, hashes, bodies, self._since()
                is_new = self._write(_PUBLISH, values)[0][0]
                break
            except Lost as lost:
                self._end_lost(lost)
                if all(self._committed(path) == data for path, data in paths.items()):
                    return
                self._require_lock()
        else:
            raise self._never_answered(folder)
        self.look_again()
        if is_new is None:
            raise Outdated
        if not is_new and not again:
            raise Refused(
                f"{folder} was not written: it exists, and a published folder never changes. Use a new name."
            )

    def folders(self, folder: str) -> tuple[str, ...]:
        """Return the names of the folders directly in a folder. It skips from one to the next, whatever they hold."""
        prefix = f"{canonical(folder)}/" if folder else ""
        if prefix in ("log/traces/", OTHERS + "/"):  # of logs only
            return tuple(sorted(self._view_of_folder.log_folders(folder)))
        query = (
            "WITH RECURSIVE f(folder) AS ((SELECT folder FROM looseleaf.documents WHERE memory = %s AND folder >= %s "
            "AND folder < %s ORDER BY folder LIMIT 1) UNION ALL SELECT (SELECT d.folder FROM looseleaf.documents d "
            "WHERE d.memory = %s AND d.folder >= CASE WHEN strpos(substr(f.folder, %s), '/') = 0 THEN f.folder || "
            "chr(1) ELSE left(f.folder, %s) || split_part(substr(f.folder, %s), '/', 1) || '0' END COLLATE \"C\" "
            "AND d.folder < %s ORDER BY d.folder LIMIT 1) FROM f WHERE f.folder IS NOT NULL) "
            "SELECT DISTINCT split_part(substr(folder, %s), '/', 1) FROM f WHERE folder IS NOT NULL"
        )
        at, last = len(prefix) + 1, f"{prefix[:-1]}0" if prefix else "\U0010ffff"
        values = (self.memory, prefix, last, self.memory, at, at - 1, at, last, at)
        found = {str(row[0]) for row in self.run(query, values)} - {""}
        return tuple(sorted(found | self._view_of_folder.log_folders(folder)))

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

    def put_aside(self, data: bytes, label: str) -> str:
        """Keep bytes that are about to be replaced below `log/aside/`; return the copy's path."""
        path = f"{ASIDE}/{random_id()}-{label.replace('/', '.')}"
        self._upsert(path, data)
        return path

    # --- what the folder would hold --------------------------------------------------------

    def everything(self) -> Iterator[tuple[str, bytes]]:
        """Yield the path and the bytes of each file that the folder would have, as of one moment."""
        return self._view_of_folder.everything()

    def furnish(self, folders: Sequence[str], files: Mapping[str, bytes]) -> None:
        """Write those of the files that are missing."""
        for name, data in files.items():
            if self.stat(name) is None:
                self._upsert(name, data)

    def locate(self, path: str) -> str:
        raise Refused(
            f"{path} is not a file: this memory is in a database, {self.path}. `looseleaf export` writes files."
        )

    def leave(self, to: str) -> None:
        """Close it for all that write: it moved there. Under the lock."""
        with self.transaction() as wire:
            wire.execute("UPDATE looseleaf.streams SET closed = true WHERE memory = %s", (self.memory,))
            wire.execute(
                "UPDATE looseleaf.memories SET state = 'left', note = %s WHERE memory = %s", (to, self.memory)
            )

    # --- forgetting ------------------------------------------------------------------------

    def switch(self, name: str) -> DatabaseSwitch:
        """Return an act that replaces many files. Only for forget (FORMAT §17.4)."""
        from looseleaf.store.postgres.switch import DatabaseSwitch

        return DatabaseSwitch(self, name)

    def mend_ends(self) -> None:
        """No stream has an unfinished end."""

    def adopt_ends(self) -> None:
        """Drop what was computed of the streams, and read, before."""
        self._drop_read()
        self.look_again()

    def _drop_read(self) -> None:
        self._sums.clear()
        self._asked.drop()
        self._lines_read.drop()

    def drop_aside(self, is_told: Callable[[bytes], bool]) -> None:
        """Remove bytes that were set aside on other machines, if they say what is forgotten."""
        for machine in self.machines():
            for path, data in self._view_of_folder.documents_below(f"{log_of(machine)}/aside"):
                if is_told(data):
                    self.remove_from(machine, path)

    def remove_from(self, machine: str, path: str) -> None:
        """Remove a file of another machine's log that it removed itself."""
        if path.startswith(f"{log_of(machine)}/"):
            self._remove(path)

    def _remove(self, path: str) -> None:
        self.run("DELETE FROM looseleaf.documents WHERE memory = %s AND path = %s", (self.memory, path))

    def drop_views_of(self, machine: str) -> None:
        self.run(
            "DELETE FROM looseleaf.documents WHERE memory = %s AND folder >= %s AND folder < %s",
            (self.memory, f"views/on/{machine}", f"views/on/{machine}0"),
        )

    # --- check and repair ------------------------------------------------------------------

    def recover(self) -> None:
        """No change is ever half made."""

    def check(self) -> Iterator[Problem]:
        return self._view_of_folder.check()

    def repair(self) -> list[str]:
        return self._view_of_folder.repair()

    def take_out(self, stream: str, numbers: Collection[int]) -> None:
        raise Refused(f"Nothing was changed: {self.path} is in a database, where no log has two beginnings.")

    def distrust(self) -> None:
        """A database is never a copy from anywhere."""

    def close(self) -> None:
        self._is_closed = True

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    # Last: its name hides the type `list` from the lines below it.
    def list(self, folder: str = "") -> list[Stat]:
        name = canonical(folder) if folder else ""
        seen = self._seen()
        if seen is not None:
            self._asked.folder(name)
            if name in seen.lists:
                return [stat for _, stat in sorted(seen.lists[name].items())]
        query = f"SELECT {_STAT} FROM looseleaf.documents WHERE memory = %s AND folder = %s ORDER BY path"
        found = [stat_of(*row) for row in self.run(query, (self.memory, name))]
        if seen is not None:
            seen.lists[name] = {stat.path: stat for stat in found}
            seen.stats |= seen.lists[name]
        return found


class _NewFiles:
    """Where the bodies of new records go until they are written with them."""

    def __init__(self, files: dict[str, bytes]) -> None:
        self._files = files

    def read(self, path: str, limit: int | None = None) -> bytes | None:
        return self._files.get(path)

    def replace(self, path: str, data: bytes) -> None:
        self._files[path] = data

    def make(self, path: str) -> None:
        """A folder is there as soon as something is in it."""

    def sync(self, *folders: str) -> None:
        """What was committed is durable."""


def _record_of(line: bytes) -> Record:
    """Return the record that ends with a line, without its bodies; {} if it has none."""
    raw = line.removesuffix(b"\n")
    last = list(codec.pieces(raw))[-1] if raw else None
    return last.record if last is not None and last.record is not None and last.end == len(raw) else {}
