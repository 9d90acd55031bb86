"""Streams: read from either end without a lock, appended to, and sealed in segments (FORMAT §3, §4).

A stream is its sealed segments `archive/000001.jsonl`, … and one active file, which has the next number. A reader sees
whole records only: it ignores an unfinished end of the active file, and skips and reports damage.

An acknowledged record is on disk; bytes before the end of the last whole record never change; a file whose sync failed
is never written to again.
"""

from __future__ import annotations

import os
import re
import time
from contextvars import ContextVar
from functools import lru_cache

from looseleaf.base.errors import NotFound, Refused
from looseleaf.base.paths import quoted, safe_name
from looseleaf.base.values import START, LogLine, Position, Problem
from looseleaf.store import IMPORTS, TOMBSTONES
from looseleaf.store import records as codec
from looseleaf.store.machines import OTHERS, as_own, log_of, log_with, stream_of
from looseleaf.store.root import unreadable, unwritten

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from looseleaf.base.policy import Policy
    from looseleaf.base.values import Record
    from looseleaf.store.disk import Disk, Lock
    from looseleaf.store.records import Bodies
    from looseleaf.store.root import Root

    OnProblem = Callable[[Problem], None] | None


REQUEST: ContextVar[str] = ContextVar("request", default="")
"""The mark of the request for which this thread writes: its records get it as `request`, so that a request that comes
again finds what it wrote (FORMAT §3.2)."""

ASKER: ContextVar[str] = ContextVar("asker", default="")
"""The person for whom this thread writes, as the server knows them: records get the name as `person` (FORMAT §3.2)."""

REQUEST_KEY = 16
"""The characters of a mark that are of the key of a request; the rest are of what was asked."""

REQUEST_SECONDS = 86_400.0
"""How long a request that comes again is known."""


def stamped(record: Record) -> Record:
    """Return a record with what the server knows of the request for which it is written."""
    if mark := REQUEST.get():
        record = {**record, "request": mark}
    person = ASKER.get()
    return {"person": person, **record} if person else record


# --- reading ----------------------------------------------------------------------------

_WHOLE = "this record is damaged; the record itself is whole"
_CHUNK = 1 << 20
_BLOCK = 1 << 16
_FIRST_BLOCK = 1 << 12
"""The first read is small: often only one record is wanted."""

SUMS = "SHA256SUMS"
SEAL = rb"([0-9a-f]{64})  ([0-9]{6,}\.jsonl)"
"""A line of `SHA256SUMS`, as `sha256sum -c` reads it."""


@lru_cache(maxsize=256)
def stream_files(stream: str) -> tuple[str, str]:
    """Return the active file of a stream and the folder of its sealed segments. `on/<machine>/…` is a stream of another
    machine."""
    if stream.startswith("on/"):
        _, machine, own = stream.split("/", 2)
        log = log_of(safe_name(machine, "machine's name"))
        path, archive = (f"{log}/{each.removeprefix('log/')}" for each in stream_files(own))
        return path, archive
    if stream == "journal":
        return "log/journal.jsonl", "log/archive"
    if stream in ("calls", TOMBSTONES, IMPORTS):
        return f"log/{stream}.jsonl", f"log/{stream}/archive"
    kind, _, agent = stream.partition("/")
    if kind not in ("traces", "prompts"):
        raise NotFound(
            f"There is no stream {quoted(stream)}. Use journal, calls, tombstones, imports, traces/<agent> or "
            "prompts/<agent>."
        )
    agent = safe_name(agent, "agent's name")
    if kind == "traces":
        return f"log/traces/{agent}/raw_traces.jsonl", f"log/traces/{agent}/archive"
    return f"log/prompts/{agent}.jsonl", f"log/prompts/archive/{agent}"


_FILES = re.compile(
    r"log/(?:on/(?P<machine>[^/]+)/)?(?:"
    r"(?P<plain>journal|calls|tombstones|imports)\.jsonl"
    r"|(?:(?P<old>calls|tombstones|imports)/)?archive/(?P<number>[0-9]{6,})\.jsonl"
    r"|traces/(?P<agent>[^/]+)/(?:raw_traces|archive/(?P<traces>[0-9]{6,}))\.jsonl"
    r"|prompts/(?:(?P<prompter>[^/]+)|archive/(?P<earlier>[^/]+)/(?P<prompts>[0-9]{6,}))\.jsonl)"
)


def stream_of_file(path: str) -> tuple[str, int | None] | None:
    """Return the stream that a file of a log is of, and the number of its segment (None: it is the active file); None
    if it is no such file. The other way round: `stream_files`."""
    found = _FILES.fullmatch(path)
    if found is None:
        return None
    number = found["number"] or found["traces"] or found["prompts"]
    own = found["plain"] or (found["old"] or "journal" if found["number"] else "")
    if agent := found["agent"]:
        own = f"traces/{agent}"
    elif agent := found["prompter"] or found["earlier"]:
        own = f"prompts/{agent}"
    return (f"on/{found['machine']}/{own}" if found["machine"] else own), int(number) if number else None


def segment_name(number: int) -> str:
    return f"{number:06d}.jsonl"


def segment_number(name: str) -> int | None:
    stem = name.removesuffix(".jsonl")
    return int(stem) if stem != name and len(stem) >= 6 and stem.isascii() and stem.isdecimal() else None


RACY_NS = 100_000_000
"""File times are coarse: a folder that changed this recently may change again and look the same."""


_START = 4096
_LEFT_OVER = 8
"""So many of the newest segments may have been an active file that is still there."""


def begins_segment(root: Root, start: bytes, archive: str, numbers: Sequence[int]) -> bool:
    """True if one of the last of these segments begins with the record that a file begins with."""
    first = _first_id(start)
    sealed = (f"{archive}/{segment_name(number)}" for number in numbers[-_LEFT_OVER:])
    return first is not None and any(first == _first_id(read_start(root, path)) for path in sealed)


def read_start(root: Root, path: str) -> bytes:
    """Return the first bytes of a file; none if it is missing."""
    try:
        fd = root.open_file(path, os.O_RDONLY)
    except FileNotFoundError:
        return b""
    try:
        return root.disk.pread(fd, _START, 0)
    finally:
        root.disk.close(fd)


def _first_id(start: bytes) -> bytes | None:
    """Return the id of the record that a file begins with; not of one that a forget put before it in several files."""
    said = (line for line in start.split(b"\n") if b'"kind":"forgotten"' not in line)
    found = re.search(rb'"id":"([^"]+)"', next(said, b""))
    return found[1] if found is not None else None


def missing_segments(archive: str, first: int, count: int) -> Problem:
    more = f"and the {count - 1} after it are" if count > 1 else "is"
    return Problem(f"{archive}/{segment_name(first)}", None, f"this segment {more} missing")


class Segments:
    def __init__(self, root: Root, bodies: Bodies) -> None:
        self._root = root
        self._disk = root.disk
        self._numbers_by_archive: dict[str, tuple[tuple[int, ...], list[int]]] = {}
        self._left_over: dict[str, tuple[int, bytes, bool]] = {}
        self.bodies = bodies
        self.distrusts = False
        """True if this machine's own log is read like another's: it is a copy from anywhere."""

    def streams(self, machine: str = "") -> list[str]:
        """Return all streams of this machine, or of another, unreadable ones too. Skip names that cannot be a stream's
        (`.DS_Store`)."""
        log = log_of(machine) if machine else "log"
        traces = (f"traces/{name}" for name in self._list_names(f"{log}/traces"))
        files = (name for name in self._list_names(f"{log}/prompts") if name.endswith(".jsonl"))
        agents = {name.removesuffix(".jsonl") for name in files}
        agents |= {*self._list_names(f"{log}/prompts/archive")}
        prompts = (f"prompts/{agent}" for agent in sorted(agents))
        found = ("journal", "calls", TOMBSTONES, IMPORTS, *traces, *prompts)
        streams = (stream_of(machine, each) for each in found) if machine else found
        return [stream for stream in streams if self.has_stream(stream)]

    def has_stream(self, stream: str) -> bool:
        """True if anything of a stream is there."""
        try:
            path, archive = stream_files(stream)
        except Refused:
            return False
        folder, _, name = path.rpartition("/")
        try:
            return name in self._root.names(folder) or bool(self._root.names(archive))
        except NotADirectoryError:
            return False
        except (OSError, Refused):
            return True  # something is there; reading it reports why it is unreadable

    def _list_names(self, folder: str) -> list[str]:
        try:
            return self._root.names(folder)
        except OSError as error:
            raise unreadable(folder, error) from error

    def numbers(self, archive: str) -> list[int]:
        """Return the numbers of the sealed segments in an archive, in order.

        Each record asks for them several times, and the folder may hold thousands: it is read again only when its
        stat has changed.
        """
        look = self._stat_archive(archive)
        known = self._numbers_by_archive.get(archive)
        if known is not None and known[0] == look:
            return known[1]
        seen_ns = time.time_ns()
        numbers = map(segment_number, self._list_names(archive))
        found = sorted(number for number in numbers if number is not None)
        self._numbers_by_archive.pop(archive, None)
        if look is not None and max(look[2:]) < seen_ns - RACY_NS:
            self._numbers_by_archive[archive] = look, found
        return found

    def _stat_archive(self, archive: str) -> tuple[int, ...] | None:
        """Return a value that changes with any name in the folder, and when a missing folder appears."""
        above = archive.rpartition("/")[0]
        for folder, sign in ((archive, 1), (above, -1)):
            try:
                found = self._root.stat(folder)
            except FileNotFoundError:
                continue
            except OSError:
                break  # reading it reports why
            return found.st_dev, sign * found.st_ino, found.st_mtime_ns, found.st_ctime_ns
        return None

    def active_number(self, archive: str) -> int:
        numbers = self.numbers(archive)
        return numbers[-1] + 1 if numbers else 1

    def seals(self, archive: str) -> dict[str, str]:
        """Return name → hash from `SHA256SUMS`, which `sha256sum -c` reads too. A later line wins."""
        lines = (self._root.read(f"{archive}/{SUMS}") or b"").split(b"\n")
        found = (re.fullmatch(SEAL, line) for line in lines)
        return {seal[2].decode(): seal[1].decode() for seal in found if seal is not None}

    def read(self, stream: str, start: Position = START, on_problem: OnProblem = None) -> Iterator[LogLine]:
        path, archive = stream_files(stream)
        segment, offset = start
        if segment == 0:
            segment, offset = (self.numbers(archive) or [1])[0], 0
        number = 0 if offset == 0 else None
        while True:
            is_sealed = segment < self.active_number(archive)  # before opening: it may be sealed meanwhile
            opened = self._open_segment(path, archive, segment)
            if opened is None:
                if not is_sealed:
                    return
                numbers = self.numbers(archive)
                following = next((each for each in numbers if each > segment), numbers[-1] + 1)
                if on_problem:
                    on_problem(missing_segments(archive, segment, following - segment))
                segment = following - 1
            else:
                fd, name, active = opened
                try:
                    for begin, raw, ended in lines(self._disk, fd, offset):
                        if active and not ended:
                            break  # an unfinished write
                        number = number + 1 if number is not None else None
                        yield from self.records(name, Position(segment, begin), raw, number, on_problem)
                        offset = begin + len(raw) + 1
                except OSError as error:
                    raise unreadable(name, error) from error
                finally:
                    self._disk.close(fd)
                if active:
                    if segment >= self.active_number(archive):
                        return
                    continue  # sealed while it was read: the records before the seal follow at `offset`
            segment, offset, number = segment + 1, 0, 0

    def open(self, stream: str, segment: int) -> tuple[int, str, bool] | None:
        """Open a segment: its handle, its path, and whether it is the active one. None: it does not exist."""
        return self._open_segment(*stream_files(stream), segment)

    def line_before(self, stream: str, place: Position) -> Record | None:
        """Return the record that ends at a place, without its bodies; {} if the line has none, None if no line ends
        there."""
        opened = self.open(stream, place.segment)
        if opened is None:
            return None
        fd = opened[0]
        try:
            if place.offset > self._disk.fstat(fd).st_size:
                return None
            begin, raw, ended = next(lines_back(self._disk, fd, place.offset), (0, b"", False))
        except OSError as error:
            raise unreadable(opened[1], error) from error
        finally:
            self._disk.close(fd)
        if not ended or begin + len(raw) + 1 != place.offset:
            return None
        last = list(codec.pieces(raw))[-1] if raw else None
        return last.record if last is not None and last.record is not None and last.end == len(raw) else {}

    def _open_segment(self, path: str, archive: str, segment: int) -> tuple[int, str, bool] | None:
        """Open a segment: its handle, its path, and whether it is the active one. None: it does not exist."""
        sealed = f"{archive}/{segment_name(segment)}"
        while True:
            active = self.active_number(archive)
            if segment < active:
                fd = self._open_file(sealed)
                return None if fd is None else (fd, sealed, False)
            if segment > active:
                return None
            fd = self._open_file(path)
            if fd is None:
                if segment == self.active_number(archive):
                    return None
                continue  # sealed meanwhile
            try:
                active = self.active_number(archive)
            except BaseException:
                self._disk.close(fd)
                raise
            if segment == active:
                return (fd, path, True) if not self._closes_left_over(fd, path, archive, segment) else None
            self._disk.close(fd)  # sealed meanwhile: this may be the next segment

    def _closes_left_over(self, fd: int, path: str, archive: str, segment: int) -> bool:
        try:
            if not self.is_left_over(fd, archive, segment):
                return False
        except OSError as error:
            self._disk.close(fd)
            raise unreadable(path, error) from error
        except BaseException:
            self._disk.close(fd)
            raise
        self._disk.close(fd)
        return True

    def is_left_over(self, fd: int, archive: str, segment: int) -> bool:
        """True if the active file, which has this number, has the records of a sealed segment: a copier that brings the
        segment before it takes the file away, or that takes nothing away, leaves it like that."""
        if segment == 1:
            return False
        start = self._disk.pread(fd, _START, 0)
        known = self._left_over.get(archive)
        if known is None or known[:2] != (segment, start):
            numbers = [number for number in self.numbers(archive) if number < segment]
            known = segment, start, begins_segment(self._root, start, archive, numbers)
            self._left_over[archive] = known
        return known[2]

    def files(self, stream: str) -> dict[int, tuple[str, tuple[int, int], int]]:
        """Return the path, the identity and the size of each segment's file, by number."""
        path, archive = stream_files(stream)
        numbers = self.numbers(archive)
        places = {number: f"{archive}/{segment_name(number)}" for number in numbers}
        places[numbers[-1] + 1 if numbers else 1] = path
        found: dict[int, tuple[str, tuple[int, int], int]] = {}
        for number, place in places.items():
            try:
                stat = self._root.stat(place)
            except FileNotFoundError:
                continue
            found[number] = place, (stat.st_dev, stat.st_ino), stat.st_size
        return found

    def whole(self, stream: str, number: int, start: int = 0) -> bytes:
        """Return the bytes of a segment from a place on; none if it is missing."""
        opened = self._open_segment(*stream_files(stream), number)
        if opened is None:
            return b""
        fd, name, _ = opened
        parts: list[bytes] = []
        try:
            while part := self._disk.pread(fd, _CHUNK, start):
                parts.append(part)
                start += len(part)
            return b"".join(parts)
        except OSError as error:
            raise unreadable(name, error) from error
        finally:
            self._disk.close(fd)

    def _open_file(self, path: str) -> int | None:
        try:
            return self._root.open_file(path, os.O_RDONLY)
        except FileNotFoundError:
            return None
        except OSError as error:
            raise unreadable(path, error) from error

    def records(
        self, name: str, at: Position, raw: bytes, number: int | None, on_problem: OnProblem
    ) -> Iterator[LogLine]:
        return records_in(self.bodies, name, at, raw, number, on_problem, distrusts=self.distrusts)

    def read_back(self, stream: str, end: Position | None = None) -> Iterator[LogLine]:
        path, archive = stream_files(stream)
        numbers = self.numbers(archive) or [0]
        segment, stop = end if end is not None else (numbers[-1] + 1, None)
        while segment >= max(numbers[0], 1):
            opened = self._open_segment(path, archive, segment)
            if opened is not None:
                fd, name, active = opened
                try:
                    size = self._disk.fstat(fd).st_size
                    bound = size if stop is None else min(stop, size)
                    # Only the end of the active file can be unfinished.
                    sure = not active or bound < size
                    for begin, raw, ended in lines_back(self._disk, fd, bound):
                        if ended or sure:
                            yield from reversed(
                                list(self.records(name, Position(segment, begin), raw, None, None))
                            )
                except OSError as error:
                    raise unreadable(name, error) from error
                finally:
                    self._disk.close(fd)
                below = segment - 1
            else:  # missing: on to the nearest one before it
                below = max((each for each in self.numbers(archive) if each < segment), default=0)
            segment, stop = below, None

    def end(self, stream: str) -> Position:
        number = self.active_number(stream_files(stream)[1])
        last = next(self.read_back(stream), None)
        return last.end if last is not None and last.end.segment >= number else Position(number, 0)


def records_in(
    bodies: Bodies,
    name: str,
    at: Position,
    raw: bytes,
    number: int | None,
    on_problem: OnProblem,
    *,
    distrusts: bool = False,
) -> Iterator[LogLine]:
    """Yield the records of a line without its line end, of the file `name`, in which it begins `at` this place."""
    if not raw:
        return
    for piece in codec.pieces(raw):
        record, reason = piece.record, piece.reason
        if record is not None and "bodies" in record:
            try:
                record, reason = bodies.put_in(record, log_with(name))
            except Refused as refused:
                if on_problem is None:
                    raise  # it would go unreported, and may be no loss
                record, reason = None, str(refused)
        begin, end = at.offset + piece.start, at.offset + piece.end
        if record is not None and (distrusts or name.startswith(f"{OTHERS}/")):
            record = _believable(name, record, number, on_problem)
        if record is None:
            if on_problem:
                on_problem(Problem(name, number, f"this record is damaged: {reason}"))
            continue
        if piece.end == len(raw):
            end += 1
        elif on_problem:
            on_problem(Problem(name, number, f"the end of {_WHOLE}"))
        if on_problem and piece.checked and not raw.startswith(b" ", piece.start):
            on_problem(Problem(name, number, f"the beginning of {_WHOLE}"))
        yield LogLine(record, Position(at.segment, begin), Position(at.segment, end), piece.checked)


def _believable(name: str, record: Record, number: int | None, on_problem: OnProblem) -> Record:
    """Return a record of another machine, or a stand-in for one that no looseleaf can have meant."""
    from looseleaf.store.foreign import (
        SAYS,
        fault_in,
        stand_in,
        stream_at,
    )  # most memories have one machine

    stream = stream_at(as_own(name))
    fault = fault_in(stream, record)
    if fault is None:
        return record
    if on_problem:
        on_problem(Problem(name, number, f"{SAYS}: {fault}"))
    return stand_in(stream, record)


def lines(disk: Disk, fd: int, offset: int) -> Iterator[tuple[int, bytes, bool]]:
    """Yield (offset, line, whether it ends in a line end), from `offset` to the end of the file."""
    begin = position = offset
    parts: list[bytes] = []  # of a line longer than a chunk: joined once, at its end
    step = _FIRST_BLOCK
    while chunk := disk.pread(fd, step, position):
        step = min(4 * step, _CHUNK)
        position += len(chunk)
        first, *rest = chunk.split(b"\n")
        parts.append(first)
        for following in rest:
            line = b"".join(parts)
            yield begin, line, True
            begin += len(line) + 1
            parts = [following]
    if any(parts):
        yield begin, b"".join(parts), False


def lines_back(disk: Disk, fd: int, end: int) -> Iterator[tuple[int, bytes, bool]]:
    """Yield the same from `end` towards the beginning, last line first."""
    ended = False
    tail: list[bytes] = []  # of the line being collected, last part first
    position = end
    first = True
    step = _FIRST_BLOCK
    while position > 0:
        size = min(step, position)
        step = min(2 * step, _BLOCK)
        position -= size
        block = disk.pread(fd, size, position)
        *earlier, last = block.split(b"\n")
        tail.append(last)
        at = position + len(block) - len(last)  # shorter while a torn end is being cut
        while earlier:
            line = b"".join(reversed(tail))
            if not (first and not line):  # after the last line end there is no empty line
                yield at, line, ended
            first, ended = False, True
            last = earlier.pop()
            at -= len(last) + 1
            tail = [last]
    if tail and not (first and not tail[0]):
        yield 0, b"".join(reversed(tail)), ended


# --- appending --------------------------------------------------------------------------

INTERRUPTED = Refused("The record was not written: the process was interrupted. Repeat it.")


class _OpenEnd:
    """The open end of a stream. `size` is where the last record known to be whole ends; -1: not known."""

    __slots__ = ("fd", "identity", "segment", "size")

    def __init__(self, fd: int, identity: tuple[int, int], segment: int, size: int) -> None:
        self.fd, self.identity, self.segment, self.size = fd, identity, segment, size


class _Job:
    """One caller's records on their way to disk; another thread may write them. `last`: the id of the last one."""

    __slots__ = ("done", "error", "last", "lines", "positions")

    def __init__(self, lines: list[bytes], last: object) -> None:
        self.lines = lines
        self.last = last
        self.positions: list[Position] = []
        self.done = False
        self.error: Refused | None = None


class Streams:
    """`on_write` is told the end of each write, and the id of its last record; `on_replaced`, under the lock, that a
    stream's file is not the one that this process wrote to."""

    def __init__(
        self,
        root: Root,
        lock: Lock,
        policy: Policy,
        bodies: Bodies,
        segments: Segments,
        on_write: Callable[[str, Position, object], None],
        on_replaced: Callable[[str], None],
    ) -> None:
        self._on_write = on_write
        self._on_replaced = on_replaced
        self._root = root
        self._disk = root.disk
        self._lock = lock
        self._policy = policy
        self._bodies = bodies
        self._segments = segments
        self._active: dict[str, _OpenEnd] = {}
        self._poisoned: set[tuple[int, int]] = set()
        self._drop_waiting()

    def _drop_waiting(self) -> None:
        self._pid = os.getpid()
        self._waiting: dict[str, list[_Job]] = {}

    def close(self) -> None:
        for stream in list(self._active):
            self.close_stream(stream)

    def append(self, stream: str, records: Sequence[Record]) -> list[Position]:
        """Append by group commit: the first thread to get the lock writes for all that wait, with one sync."""
        try:
            job = _Job(
                [self._encode(record) for record in records], records[-1].get("id") if records else None
            )
        except OSError as error:
            raise unwritten(f"A record of {stream}", error) from error
        if not job.lines:
            return []
        if self._pid != os.getpid():
            self._drop_waiting()  # forked: the waiting jobs are the parent's
        waiting = self._waiting.setdefault(stream, [])
        waiting.append(job)  # the one change to this list without the lock: appending is atomic
        with self._lock.threads():
            if not job.done:  # else another thread wrote it meanwhile, and no file lock is needed
                try:
                    with self._lock:
                        self._write_waiting(stream, waiting)
                finally:
                    if not job.done:  # the lock was not available: no thread may write this job later
                        waiting.remove(job)
        if job.error is not None:
            raise job.error
        return job.positions

    def _encode(self, record: Record) -> bytes:
        record = stamped(record)
        line = codec.encode_new(record)
        if len(line) > self._policy.body_bytes:
            line = codec.encode(self._bodies.take_out(record))
        return line

    def _write_waiting(self, stream: str, waiting: list[_Job]) -> None:
        jobs = waiting[:]
        failed: Refused | None = INTERRUPTED
        try:
            self._write(stream, jobs)
            failed = None
        except OSError as error:
            failed = unwritten(f"A record of {stream}", error)
            failed.__cause__ = error
        except Refused as refused:
            failed = refused
        finally:
            del waiting[: len(jobs)]
            for job in jobs:
                job.error = failed
                job.done = True

    def _write(self, stream: str, jobs: list[_Job]) -> None:
        lines = jobs[0].lines if len(jobs) == 1 else [line for job in jobs for line in job.lines]
        buffer = lines[0] if len(lines) == 1 else b"".join(lines)
        active = self._open_active(stream)
        if active.size and active.size + len(buffer) > self._policy.segment_bytes:
            self._rotate(stream, active)
            active = self._open_active(stream)
        start = active.size
        try:
            self._root.write_all(active.fd, buffer)
            self._sync(active)
        except BaseException:
            self._undo_write(active, start)
            if active.identity in self._poisoned:
                self._seal_poisoned(stream, active)
            raise
        active.size = offset = start + len(buffer)
        for job in reversed(jobs):
            for line in reversed(job.lines):
                offset -= len(line)
                job.positions.append(Position(active.segment, offset))
            job.positions.reverse()
        self._on_write(stream, Position(active.segment, active.size), jobs[-1].last)

    def _sync(self, active: _OpenEnd) -> None:
        """Sync, or poison the file: after a failed sync its bytes on disk are unknown, and a second sync would succeed
        all the same (FORMAT §3.6)."""
        try:
            self._disk.sync_data(active.fd)
        except BaseException:
            self._poisoned.add(active.identity)
            raise

    def _try_sync(self, active: _OpenEnd) -> None:
        """Sync bytes that no caller waits for. A failure only poisons the file."""
        try:
            self._sync(active)
        except OSError:
            pass

    def _undo_write(self, active: _OpenEnd, size: int) -> None:
        """Cut the rest of a failed write. If that fails too, the next append finds the torn end and cuts it."""
        try:
            self._disk.truncate(active.fd, size)
        except OSError:
            active.size = -1

    def _seal_poisoned(self, stream: str, active: _OpenEnd) -> None:
        """Seal the whole records of a poisoned file, which is never written to again."""
        try:
            if active.size >= 0:
                self._rotate(stream, active)
                return
        except (OSError, Refused):
            pass
        self.close_stream(stream)  # the next append knows it is poisoned, cuts its end and rotates

    def close_stream(self, stream: str) -> None:
        """Close the open end; the next append opens the file again."""
        active = self._active.pop(stream, None)
        if active is not None:
            self._disk.close(active.fd)

    def _open_active(self, stream: str) -> _OpenEnd:
        path, archive = stream_files(stream)
        active = self._active.get(stream)
        if active is not None:
            try:
                found = self._root.stat(path)
            except FileNotFoundError:
                found = None
            # Another process may have rotated: the name decides which file is active, not our handle.
            named = None if found is None else (found.st_dev, found.st_ino)
            if found is not None and named == active.identity and named not in self._poisoned:
                if found.st_size != active.size:
                    is_shorter = found.st_size < active.size
                    active.size = self._cut_torn_end(active, path, found.st_size, trusting=active.size >= 0)
                    if is_shorter:
                        self._on_replaced(stream)
            else:
                self.close_stream(stream)
                active = None
                self._on_replaced(stream)
        if active is None:
            active = self._open_file(stream, path, archive)
        if active.identity in self._poisoned:
            self._rotate(stream, active)
            active = self._open_file(stream, path, archive)
        return active

    def _open_file(self, stream: str, path: str, archive: str) -> _OpenEnd:
        self._root.make(path.rpartition("/")[0])
        fd = self._root.open_file(path, os.O_RDWR | os.O_APPEND | os.O_CREAT)
        try:
            self._root.sync(path.rpartition("/")[0])
            self._seal_missing(archive)
            if self._segments.is_left_over(fd, archive, self._segments.active_number(archive)):
                self._root.put_aside(self._root.read(path) or b"", f"left-over-{path}")
                self._disk.truncate(fd, 0)
            found = self._disk.fstat(fd)
            active = _OpenEnd(fd, (found.st_dev, found.st_ino), self._segments.active_number(archive), -1)
            active.size = self._cut_torn_end(active, path, found.st_size, trusting=False)
        except BaseException:
            self._disk.close(fd)
            raise
        self._active[stream] = active
        return active

    def _cut_torn_end(self, active: _OpenEnd, path: str, size: int, *, trusting: bool) -> int:
        """Copy aside and cut anything after the last whole record; return where that ends.

        `trusting`: other processes wrote since the last look. No power cut came in between, which no process survives,
        so the only possible damage is an unfinished write, and no checksum is needed to see it.
        """
        fd = active.fd
        if size == 0 or (trusting and self._disk.pread(fd, 1, size - 1) == b"\n"):
            return size
        offset, line, ended = next(lines_back(self._disk, fd, size))
        # A damaged line end joins the last records into one line: do not cut the whole ones in it.
        if ended and (not line or any(piece.record is not None for piece in codec.pieces(line))):
            return size
        self._root.put_aside(self._disk.pread(fd, size - offset, offset), f"torn-{path}-{offset}")
        self._disk.truncate(fd, offset)
        self._try_sync(active)
        return offset

    def confirm(self, stream: str) -> None:
        """Sync the end of a stream: its writer may have been killed before it did."""
        active = self._open_active(stream)
        try:
            if active.size > 0:
                self._sync(active)
        except OSError:
            self._seal_poisoned(stream, active)
            raise

    def mend_end(self, stream: str) -> None:
        """Cut an unfinished or damaged last record, keeping a copy; seal an unsealed last segment."""
        self.close_stream(stream)
        self._open_active(stream)

    def rotate(self, stream: str) -> None:
        try:
            with self._lock:
                active = self._open_active(stream)
                if active.size > 0:
                    self._rotate(stream, active)
        except OSError as error:
            raise unwritten(f"The seal of {stream}", error) from error

    def _rotate(self, stream: str, active: _OpenEnd) -> None:
        path, archive = stream_files(stream)
        self._root.make(archive)
        if active.identity not in self._poisoned:
            # A seal covers every byte, including a record whose writer was killed between write and sync.
            self._try_sync(active)
        with self._root.parent(path) as (source, old), self._root.folder(archive) as target:
            self._disk.rename_new(source, old, target, segment_name(active.segment))
            self._disk.sync(target)
            self._disk.sync(source)
        self.close_stream(stream)
        self._seal_missing(archive)

    def _seal_missing(self, archive: str) -> None:
        """Seal the newest segment if it has no seal: it was just rotated, or a crash left it without."""
        numbers = self._segments.numbers(archive)
        if not numbers:
            return
        seals = self._segments.seals(archive)
        # Only the newest: an older one has lost its seal, which `check` must keep reporting.
        name = segment_name(numbers[-1])
        if name not in seals:
            old = self._root.read(f"{archive}/{SUMS}") or b""
            if old and not old.endswith(b"\n"):
                old += b"\n"
            digest = self._root.digest(f"{archive}/{name}")
            self._root.replace(f"{archive}/{SUMS}", old + f"{digest}  {name}\n".encode())
