"""One writer at a time, across threads and processes (FORMAT §7).

Two files, never deleted: `log/lock` is the lock, `log/turn` the turnstile before it. A process that waits for the lock
holds the turnstile, so that one that releases the lock and takes it again queues behind it; without the turnstile a
busy writer starves the others. The kernel releases both when a process dies.
"""

from __future__ import annotations

import os
import time
from _thread import RLock, get_ident
from _weakref import ref  # the one part of `weakref` needed here, and already loaded

from looseleaf.base.errors import Busy, Unwritten

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from contextlib import AbstractContextManager
    from types import TracebackType

    from looseleaf.store.disk import Disk

LOCK = "log/lock"
TURN = "log/turn"


class Threads:
    """A lock between the threads of this process. A fork makes a new one: a parent's thread may have held it."""

    def __init__(self) -> None:
        self._lock, self._pid = RLock(), os.getpid()

    def __call__(self) -> AbstractContextManager[object]:
        if self._pid != os.getpid():
            self._lock, self._pid = RLock(), os.getpid()
        return self._lock


class Alone:
    """Yields True if no other process or thread is in the same block; never waits.

    Unlike the lock it may be held across anything, even a model's answer: it only keeps a chore from running twice at
    once. The kernel releases it when the process dies.
    """

    def __init__(self, disk: Disk, open_file: Callable[[str], int], path: str) -> None:
        self._disk = disk
        self._open = open_file
        self._path = path
        self._file = -1

    def __enter__(self) -> bool:
        self._file = self._open(self._path)
        return self._disk.try_lock(self._file)

    def __exit__(self, *_: object) -> None:
        self._disk.close(self._file)


class Lock:
    """A context manager that its thread may enter again.

    `admit` runs each time the lock was taken, before the block does; it may refuse.
    """

    def __init__(
        self, disk: Disk, open_file: Callable[[str], int], admit: Callable[[], None], seconds: float
    ) -> None:
        self._disk = disk
        self._open = open_file
        self._admit = admit
        self._seconds = seconds
        self._lock = self._turn = -1
        self._reset()

    def _reset(self) -> None:
        self._threads = RLock()
        self._owner = 0
        self._depth = 0

    def __enter__(self) -> Lock:
        deadline = time.monotonic() + self._seconds
        if not self._threads.acquire(timeout=self._seconds):
            raise Busy(self._busy_message())
        try:
            if self._depth == 0:
                self._acquire(deadline)
                self._owner = get_ident()
            self._depth += 1
        except BaseException:
            if self._depth == 0:
                self.close()  # closing the files releases what was taken of the two
            self._threads.release()
            raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._owner != get_ident():
            return  # forked inside the block: only the parent holds the lock
        self._depth -= 1
        try:
            if self._depth == 0:
                self._owner = 0
                if self._lock >= 0:  # else closed inside the block
                    self._disk.unlock(self._lock)
        except OSError:
            self.close()  # closing the file releases the lock too
        finally:
            self._threads.release()

    def threads(self) -> AbstractContextManager[bool]:
        """Return the part of the lock between this process's own threads."""
        return self._threads

    def after_fork(self) -> None:
        """Close the copies of the parent's lock files. That releases nothing; keeping them open would hold the lock
        until this process ends if the parent died with it."""
        self.close()
        self._reset()

    def _acquire(self, deadline: float) -> None:
        try:
            while True:
                self._open_files()
                # Several may wait at the turnstile, so each sleeps longer; at the lock there is only one.
                self._wait_for(self._turn, 0.002, deadline)
                self._wait_for(self._lock, 0.0002, deadline)
                self._disk.unlock(self._turn)
                if self._has_name():
                    break
                self.close()  # the file was deleted: the next process locks a new one, and so must we
        except OSError as error:
            raise Unwritten(
                f"The memory's lock could not be taken ({error.strerror or error}). Repeat the command; if it fails "
                "again, move the memory to a disk whose file system has locks."
            ) from error
        self._admit()

    def _open_files(self) -> None:
        if self._lock < 0:
            name = id(self)
            _opened[name] = ref(self, lambda _: _opened.pop(name, None) and None)
            self._lock = self._open(LOCK)
            self._turn = self._open(TURN)

    def _has_name(self) -> bool:
        """True if the open lock file still has its name."""
        return self._disk.fstat(self._lock).st_nlink > 0

    def is_free(self) -> bool:
        """True if the lock could be taken at once. For chores, which should not wait."""
        if not self._threads.acquire(blocking=False):
            return False
        try:
            if self._depth == 0:
                self._open_files()
                if not self._has_name() or not self._disk.try_lock(self._lock):
                    return False
                self._disk.unlock(self._lock)
            return True
        finally:
            self._threads.release()

    def _wait_for(self, fd: int, pause: float, deadline: float) -> None:
        if self._disk.try_lock(fd):
            return
        import random  # late: a process that never waits does not load it

        while not self._disk.try_lock(fd):
            if time.monotonic() > deadline:
                raise Busy(self._busy_message())
            time.sleep(pause * (0.5 + random.random()))

    def _busy_message(self) -> str:
        return (
            f"Another process has held the memory's lock for {self._seconds:g} seconds. Look for a looseleaf process "
            "that hangs or is stopped, end it, and repeat the command; nothing that was acknowledged is lost."
        )

    def close(self) -> None:
        for fd in (self._lock, self._turn):
            if fd >= 0:
                self._disk.close(fd)
        self._lock = self._turn = -1


_opened: dict[int, ref[Lock]] = {}
"""Locks in use, for a fork to reach."""


def _after_fork() -> None:
    for each in list(_opened.values()):
        lock = each()
        if lock is not None:
            lock.after_fork()


os.register_at_fork(after_in_child=_after_fork)
