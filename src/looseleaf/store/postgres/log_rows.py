"""The log of a memory as rows: a line is added, and read from either end, as in a file.

A place in a stream is one number: the segment and the byte in it. A write is one statement; one whose answer was lost
is looked for by its id before it is sent again.
"""

from __future__ import annotations

import re
import time
from typing import TYPE_CHECKING

from looseleaf.base.errors import Outdated, Unreachable
from looseleaf.base.values import START, LogLine, Position, sha256
from looseleaf.store import records as codec
from looseleaf.store.machines import stream_of
from looseleaf.store.postgres.database import Lost
from looseleaf.store.postgres.look import stat_of
from looseleaf.store.postgres.places import FIRST, begin_of, byte_of, pack, segment_of, unpack
from looseleaf.store.postgres.rows import MemoryRows
from looseleaf.store.records import BODIES, Bodies
from looseleaf.store.streams import SUMS, records_in, segment_name, stamped, stream_files, stream_of_file

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from looseleaf.base.policy import Policy
    from looseleaf.base.values import Edition, Problem, Record
    from looseleaf.store.postgres.address import Address
    from looseleaf.store.postgres.database import Database

_FIRST_ROWS, _MOST_ROWS = 64, 2048
"""Records to read at once: few at first, since often one is wanted."""

TRIES = 20
"""How often a write is sent again when its connection breaks each time."""

_APPEND_ONE = "SELECT looseleaf.append_line(%s, %s, %s, %s, %s, %s) AS start"
_APPEND = "SELECT looseleaf.append_lines(%s, %s, %s::bytea[], %s::bigint[], %s, %s, %s, %s) AS start"
_WITH_BODIES = (
    "WITH w AS MATERIALIZED ({query}), b AS (INSERT INTO looseleaf.documents "
    "(memory, path, folder, sha256, version, data) "
    "SELECT %s, u.path, %s, u.hash, nextval('looseleaf.versions'), u.data FROM w, "
    "unnest(%s::text[], %s::bytea[], %s::bytea[]) AS u (path, hash, data) WHERE {is_done} "
    "ON CONFLICT (memory, path) DO NOTHING) SELECT * FROM w"
)
"""A write and the bodies of its records, in one statement: where it is refused, they are not there either."""


class LogRows(MemoryRows):
    """The streams of a memory."""

    def __init__(
        self,
        database: Database,
        memory: int,
        address: Address,
        policy: Policy | None = None,
        *,
        reads_only: bool = False,
    ) -> None:
        super().__init__(database, memory, address, policy, reads_only=reads_only)
        self.veil: Callable[[str], Callable[[Record], Record]] = lambda machine: lambda record: record
        """Returns what another machine recorded, or a stand-in for what is forgotten."""
        self.bodies = Bodies(_KeptFiles(self), self.policy.body_bytes)  # type: ignore[arg-type]

    # --- adding ----------------------------------------------------------------------------

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
        """Append records; return their places, or None if the stream is not as the caller expects."""
        stream_files(stream)  # refuses a name that no stream may have
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
        for _ in range(TRIES):
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

    def _find_written(
        self, lost: Lost, stream: str, name: object, lines: Sequence[bytes]
    ) -> list[int] | None:
        """Return where the lines begin, if they were written before the connection broke; None: they were not. The last
        one is known by its bytes, or by its id if it was forgotten meanwhile."""
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

    def rotate(self, stream: str) -> None:
        stream_files(stream)
        query = (
            "UPDATE looseleaf.streams SET next = ((next >> 40) + 1) << 40 WHERE memory = %s AND name = %s "
            "AND (next & 1099511627775) > 0 RETURNING next"
        )
        for _ in range(TRIES):
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

    # --- reading ---------------------------------------------------------------------------

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
            yield from records_in(self.bodies, name, place, line.removesuffix(b"\n"), None, on_problem)

    def _file_of(self, stream: str, segment: int) -> str:
        """Return the file that would hold a segment."""
        path, archive = stream_files(stream)
        end = self._ends().get(stream, FIRST) if stream else FIRST
        return path if segment >= segment_of(end) else f"{archive}/{segment_name(segment)}"

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
        return reversed(list(records_in(self.bodies, name, place, line.removesuffix(b"\n"), None, None)))

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
        values = (self.memory, place, begin_of(position.segment), self.memory, stream)
        rows = self.run(query.replace("SELECT line", "SELECT line, pos"), values)
        if not rows or int(rows[0][1]) + len(rows[0][0]) != place:
            return None
        return _record_of(bytes(rows[0][0]))

    def streams(self, machine: str = "") -> list[str]:
        """Return the streams of this memory's own log, or of another machine's, in their order."""
        prefix = stream_of(machine, "") if machine else ""
        found = {name.removeprefix(prefix) for name in self._ends() if name.startswith(prefix)}
        plain = [name for name in ("journal", "calls", "tombstones", "imports") if name in found]
        agents = sorted(name for name in found if name.startswith("traces/"))
        prompts = sorted(name for name in found if name.startswith("prompts/"))
        return [prefix + name for name in (*plain, *agents, *prompts)]

    def all_streams(self) -> list[str]:
        """Return the streams of all machines."""
        return sorted(self._ends())

    # --- as files --------------------------------------------------------------------------

    def sum(self, stream: str, position: Position) -> str | None:
        """Return the checksum of a stream up to a place: of the seals of earlier segments and the bytes of this one."""
        from zlib import crc32

        if pack(self.end(stream)) < pack(position):
            return None
        segment, at, sum = self._sums.get(stream, (0, 0, 0))
        if segment != position.segment or at > position.offset:
            before = self.seals(stream, position.segment)
            segment, at, sum = position.segment, 0, crc32(before) if before else 0
        base = begin_of(segment)
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
            if number < segment_of(self._ends().get(stream, FIRST))
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
        active = segment_of(self._ends().get(stream, FIRST))
        for number in self._segment_numbers(stream):
            last = self.run(
                "SELECT pos, octet_length(line) FROM looseleaf.records WHERE memory = %s AND pos < %s AND stream = "
                "(SELECT stream FROM looseleaf.streams WHERE memory = %s AND name = %s) ORDER BY pos DESC LIMIT 1",
                (self.memory, begin_of(number + 1), self.memory, stream),
            )
            size = byte_of(int(last[0][0])) + int(last[0][1])
            place = path if number >= active else f"{archive}/{segment_name(number)}"
            found[number] = place, (self._edition_number(), number), size
        return found

    def segment(self, stream: str, number: int, start: int = 0) -> bytes:
        """Return the bytes of a segment from a place on."""
        base = begin_of(number)
        return b"".join(line for _, line in self.raw_lines(stream, base + start, base + FIRST))

    def log_file(self, path: str) -> bytes | None:
        """Return the bytes of a file of a log, or of its seals; None if there is no such file."""
        if not path.startswith("log/"):
            return None
        folder, _, name = path.rpartition("/")
        if name == SUMS:
            own = (each for each in self.all_streams() if stream_files(each)[1] == folder)
            stream = next(own, None)
            return (self.seals(stream) or None) if stream is not None else None
        found = stream_of_file(path)
        if found is None:
            return None
        stream, number = found
        segments = self.segments(stream)
        at = next((each for each, (place, _, _) in segments.items() if place == path), number)
        return self.segment(stream, at) if at in segments else None

    def log_folders(self, folder: str) -> set[str]:
        """Return the folders directly in a folder that are there for logs."""
        prefix = f"{folder}/"
        if not prefix.startswith("log/"):
            return set()
        paths = (stream_files(stream)[0] for stream in self.all_streams())
        below = (path.removeprefix(prefix) for path in paths if path.startswith(prefix))
        return {each.partition("/")[0] for each in below if "/" in each}

    # --- documents that belong to the log ----------------------------------------------------

    def _document(self, path: str) -> bytes | None:
        rows = self.run(
            "SELECT data FROM looseleaf.documents WHERE memory = %s AND path = %s", (self.memory, path)
        )
        return bytes(rows[0][0]) if rows else None

    def _upsert(self, path: str, data: bytes) -> None:
        """Write a file of the log that follows from the rest, or whose name says what is in it."""
        self.run(
            "INSERT INTO looseleaf.documents (memory, path, folder, sha256, version, data) "
            "VALUES (%s, %s, %s, %s, nextval('looseleaf.versions'), %s) ON CONFLICT (memory, path) DO UPDATE "
            "SET data = excluded.data, sha256 = excluded.sha256, version = excluded.version",
            (self.memory, path, path.rpartition("/")[0], bytes.fromhex(sha256(data)), data),
        )
        self._note_written(path, data, bytes.fromhex(sha256(data)))

    def _note_written(self, path: str, data: bytes, digest: bytes) -> None:
        """Take in what this thread wrote itself."""
        if self._looks.seen is not None:
            stat = stat_of(path, len(data), digest, time.time())
            self._looks.seen.note(stat)
            self._asked.keep(path, stat.mark[0], data)


class _KeptFiles:
    """The bodies of records, for those who read them."""

    def __init__(self, rows: LogRows) -> None:
        self._rows = rows

    def read(self, path: str, limit: int | None = None) -> bytes | None:
        return self._rows._document(path)


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
