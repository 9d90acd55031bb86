"""A store in a folder: the default, and all that most people ever need."""

from __future__ import annotations

import os
import socket
from typing import TYPE_CHECKING

from looseleaf.errors import Refused
from looseleaf.policy import Policy
from looseleaf.store.bodies import Bodies
from looseleaf.store.disk import PRIVATE_DIR, this_disk
from looseleaf.store.documents import Documents
from looseleaf.store.lock import LOCK, Lock
from looseleaf.store.root import Root, unwritten
from looseleaf.store.segments import Segments
from looseleaf.store.streams import Streams
from looseleaf.values import START

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from looseleaf.store.disk import Disk
    from looseleaf.values import Document, Line, Position, Problem, Record, Stat

WRITER = "log/writer"


class FileStore:
    """See `Store`. Every path is beneath one open folder; every file is private to its owner."""

    def __init__(
        self, path: str | os.PathLike[str], policy: Policy | None = None, disk: Disk | None = None
    ) -> None:
        policy = policy or Policy()
        self._disk = disk or this_disk()
        self._root = Root(self._disk, os.fspath(path))
        self._lock = Lock(self._disk, self._open_lock, policy.lock_seconds)
        bodies = Bodies(self._root, policy.body_bytes)
        self._segments = Segments(self._root, bodies)
        self._streams = Streams(self._root, self._lock, policy, bodies, self._segments)
        self._documents = Documents(self._root, self._lock, policy, self._streams, self._segments)
        self._claimed = False

    @classmethod
    def make(cls, path: str | os.PathLike[str], policy: Policy | None = None) -> FileStore:
        """The store in a folder that is made if it is missing."""
        try:
            os.makedirs(path, PRIVATE_DIR, exist_ok=True)
        except OSError as error:
            raise unwritten(os.fspath(path), error) from error
        return cls(path, policy)

    @property
    def path(self) -> str:
        return self._root.path

    def lock(self) -> Lock:
        return self._lock

    def _open_lock(self, path: str) -> int:
        try:
            self._root.make("log")
            fd = self._root.open_file(path, os.O_RDWR | os.O_CREAT)
        except OSError as error:
            raise unwritten("Anything", error) from error
        if path == LOCK:
            self._claim()
        return fd

    # --- one writer on a network share -------------------------------------------------

    def _claim(self) -> None:
        """A lock may not hold between hosts (FORMAT §7.3): there, the first writer is the only one."""
        kind = self._disk.network_type(self._root.fd)
        if kind is None or self._claimed:
            return
        me = f"{socket.gethostname()} {os.getpid()}\n"
        found = self._root.read(WRITER)
        if found is not None and found.decode("utf-8", "replace") != me:
            host, _, pid = found.decode("utf-8", "replace").strip().rpartition(" ")
            if host != socket.gethostname() or not pid.isdecimal() or _is_alive(int(pid)):
                raise Refused(
                    f"Nothing was written: the memory lies on a network share ({kind}) and process {pid} on {host} "
                    "writes to it. Locks do not hold between hosts there, so only one process may write. End that "
                    f"one, or delete {WRITER} in the memory if it is gone, or move the memory to a local disk."
                )
        self._root.replace(WRITER, me.encode())
        self._claimed = True

    def close(self) -> None:
        if self._claimed:
            self._root.discard(WRITER)
            self._claimed = False
        self._streams.close()
        self._lock.close()
        self._root.close()

    def __enter__(self) -> FileStore:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    # --- streams -----------------------------------------------------------------------

    def append(self, stream: str, records: Sequence[Record]) -> list[Position]:
        return self._streams.append(stream, records)

    def read(
        self, stream: str, start: Position = START, on_problem: Callable[[Problem], None] | None = None
    ) -> Iterator[Line]:
        return self._segments.read(stream, start, on_problem)

    def read_back(self, stream: str, end: Position | None = None) -> Iterator[Line]:
        return self._segments.read_back(stream, end)

    def end(self, stream: str) -> Position:
        return self._segments.end(stream)

    def rotate(self, stream: str) -> None:
        self._streams.rotate(stream)

    def streams(self) -> list[str]:
        return self._segments.streams()

    # --- documents ---------------------------------------------------------------------

    def get(self, path: str, limit: int | None = None) -> Document | None:
        return self._documents.get(path, limit)

    def stat(self, path: str) -> Stat | None:
        return self._documents.stat(path)

    def put(self, path: str, data: bytes, *, base: str | None, record: Record | None = None) -> str:
        return self._documents.put(path, data, base=base, record=record)

    def delete(self, path: str, *, base: str, record: Record | None = None) -> None:
        self._documents.delete(path, base=base, record=record)

    def view(self, path: str, data: bytes) -> None:
        self._documents.view(path, data)

    def publish(self, folder: str, files: Mapping[str, bytes]) -> None:
        self._documents.publish(folder, files)

    # --- care --------------------------------------------------------------------------

    def recover(self) -> None:
        self._documents.recover()
        self._documents.sweep()

    def check(self) -> Iterator[Problem]:
        from looseleaf.store.care import check_log

        return check_log(self._root, self._segments)

    def repair(self) -> list[str]:
        from looseleaf.store.care import repair_log

        with self._lock:
            self.recover()
            return repair_log(self._root, self._segments, self._streams)

    # Last, because its name hides the type of the same name from what follows it.
    def list(self, folder: str = "") -> list[Stat]:
        return self._documents.list(folder)


def _is_alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except OSError:
        return True
    return True
