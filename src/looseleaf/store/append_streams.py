"""Append to streams, and seal their segments (FORMAT §3, §4).

An acknowledged record is on disk; bytes before the end of the last whole record never change; a file whose sync failed
is never written to again.
"""

from __future__ import annotations

import os

from looseleaf.base.errors import Refused
from looseleaf.base.hashing import sha256
from looseleaf.base.values import Position
from looseleaf.store import records as codec
from looseleaf.store.read_streams import SUMS, lines_back, segment_name, stream_files
from looseleaf.store.root import unwritten

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from looseleaf.base.policy import Policy
    from looseleaf.base.values import Record
    from looseleaf.store.lock import Lock
    from looseleaf.store.read_streams import Segments
    from looseleaf.store.records import Bodies
    from looseleaf.store.root import Root


INTERRUPTED = Refused("The record was not written: the process was interrupted. Repeat it.")


class _OpenEnd:
    """The open end of a stream. `size` is where the last record known to be whole ends; -1: not known."""

    __slots__ = ("fd", "identity", "segment", "size")

    def __init__(self, fd: int, identity: tuple[int, int], segment: int, size: int) -> None:
        self.fd, self.identity, self.segment, self.size = fd, identity, segment, size


class _Job:
    """One caller's records on their way to disk; another thread may write them."""

    __slots__ = ("done", "error", "lines", "positions")

    def __init__(self, lines: list[bytes]) -> None:
        self.lines = lines
        self.positions: list[Position] = []
        self.done = False
        self.error: Refused | None = None


class Streams:
    def __init__(self, root: Root, lock: Lock, policy: Policy, bodies: Bodies, segments: Segments) -> None:
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
            job = _Job([self._encode(record) for record in records])
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
                found = self._disk.stat(self._root.fd, path)
            except FileNotFoundError:
                found = None
            # Another process may have rotated: the name decides which file is active, not our handle.
            named = None if found is None else (found.st_dev, found.st_ino)
            if found is not None and named == active.identity and named not in self._poisoned:
                if found.st_size != active.size:
                    active.size = self._cut_torn_end(active, path, found.st_size, trusting=active.size >= 0)
            else:
                self.close_stream(stream)
                active = None
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
            digest = sha256(self._root.read(f"{archive}/{name}") or b"")
            self._root.replace(f"{archive}/{SUMS}", old + f"{digest}  {name}\n".encode())
