"""Read streams, from either end and without a lock (FORMAT §4).

A stream is its sealed segments `archive/000001.jsonl`, … and one active file, which has the next number. A reader sees
whole records only: it ignores an unfinished end of the active file, and skips and reports damage.
"""

from __future__ import annotations

import os
import re
import time
from functools import lru_cache

from looseleaf.base.errors import NotFound, Refused
from looseleaf.base.paths import quoted, safe_name
from looseleaf.base.values import START, LogLine, Position, Problem
from looseleaf.store import IMPORTS, TOMBSTONES, records
from looseleaf.store.root import unreadable

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from looseleaf.store.disk import Disk
    from looseleaf.store.records import Bodies
    from looseleaf.store.root import Root

    OnProblem = Callable[[Problem], None] | None

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
    """Return the active file of a stream and the folder of its sealed segments."""
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


def segment_name(number: int) -> str:
    return f"{number:06d}.jsonl"


def segment_number(name: str) -> int | None:
    stem = name.removesuffix(".jsonl")
    return int(stem) if stem != name and len(stem) >= 6 and stem.isascii() and stem.isdecimal() else None


_RACY_NS = 100_000_000
"""File times are coarse: a folder that changed this recently may change again and look the same."""


def missing_segments(archive: str, first: int, count: int) -> Problem:
    more = f"and the {count - 1} after it are" if count > 1 else "is"
    return Problem(f"{archive}/{segment_name(first)}", None, f"this segment {more} missing")


class Segments:
    def __init__(self, root: Root, bodies: Bodies) -> None:
        self._root = root
        self._disk = root.disk
        self._numbers_by_archive: dict[str, tuple[tuple[int, ...], list[int]]] = {}
        self.bodies = bodies

    def streams(self) -> list[str]:
        """Return all streams, unreadable ones too. Skip names that cannot be a stream's (`.DS_Store`)."""
        traces = (f"traces/{name}" for name in self._list_names("log/traces"))
        files = (name for name in self._list_names("log/prompts") if name.endswith(".jsonl"))
        agents = {name.removesuffix(".jsonl") for name in files} | {*self._list_names("log/prompts/archive")}
        prompts = (f"prompts/{agent}" for agent in sorted(agents))
        found = ("journal", "calls", TOMBSTONES, IMPORTS, *traces, *prompts)
        return [stream for stream in found if self._has_stream(stream)]

    def _has_stream(self, stream: str) -> bool:
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
        if look is not None and max(look[2:]) < seen_ns - _RACY_NS:
            self._numbers_by_archive[archive] = look, found
        return found

    def _stat_archive(self, archive: str) -> tuple[int, ...] | None:
        """Return a value that changes with any name in the folder, and when a missing folder appears."""
        above = archive.rpartition("/")[0]
        for folder, sign in ((archive, 1), (above, -1)):
            try:
                found = self._disk.stat(self._root.fd, folder)
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
                return fd, path, True
            self._disk.close(fd)  # sealed meanwhile: this may be the next segment

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
        if not raw:
            return
        for piece in records.pieces(raw):
            record, reason = piece.record, piece.reason
            if record is not None and "bodies" in record:
                try:
                    record, reason = self.bodies.put_in(record)
                except Refused as refused:
                    if on_problem is None:
                        raise  # it would go unreported, and may be no loss
                    record, reason = None, str(refused)
            begin, end = at.offset + piece.start, at.offset + piece.end
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
