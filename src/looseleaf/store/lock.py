"""One writer at a time, across threads and processes (FORMAT §7).

Two files, never deleted: `log/lock` is the lock, `log/turn` the turnstile before it. Who waits for the lock
holds the turnstile, so a process that lets go and comes straight back queues behind the one that waited;
without it a busy writer starves the others. The kernel releases both when a process dies.
"""

from __future__ import annotations

import os
import time
from _thread import RLock, get_ident
from _weakref import ref  # all of `weakref` that is needed, and there already

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
    """One thread at a time, of this process. After a fork it is a new lock: a thread of the parent may have held it."""

    def __init__(self) -> None:
        self._lock, self._pid = RLock(), os.getpid()

    def __call__(self) -> AbstractContextManager[object]:
        if self._pid != os.getpid():
            self._lock, self._pid = RLock(), os.getpid()
        return self._lock


class Alone:
    """Gives whether nobody else is in the same block, in any process; nobody is waited for.

    Other than the lock it may be held across anything, a model's answer too: it only keeps a chore from being done
    twice at once. The kernel lets go of it when the process dies.
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
    """A context manager that may be entered again by the thread that holds it.

    `admit` is asked each time the lock was got and before anything is done with it; it may refuse.
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
            raise Busy(self._sentence())
        try:
            if self._depth == 0:
                self._acquire(deadline)
                self._owner = get_ident()
            self._depth += 1
        except BaseException:
            if self._depth == 0:
                self.close()  # whatever was got of the two is released with the files
            self._threads.release()
            raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._owner != get_ident():
            return  # forked inside the block: the parent still holds it, and this process never did
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
        """The part of the lock that is between this process's own threads."""
        return self._threads

    def after_fork(self) -> None:
        """The parent's locks are the parent's. Closing the copies releases nothing; keeping them would hold the
        lock for as long as this process lives if the parent died with it."""
        self.close()
        self._reset()

    def _acquire(self, deadline: float) -> None:
        try:
            while True:
                self._open_files()
                # Whoever waits at the turnstile is one of several and sleeps longer; at the lock there is only one.
                self._take(self._turn, 0.002, deadline)
                self._take(self._lock, 0.0002, deadline)
                self._disk.unlock(self._turn)
                if self._is_there():
                    break
                self.close()  # somebody deleted the file: whoever comes next locks a new one, and so must we
        except OSError as error:
            raise Unwritten(
                f"Nothing was done: this memory's lock could not be taken ({error.strerror or error}). "
                "Repeat the command; if it fails again, move the memory to a disk whose file system has locks."
            ) from error
        self._admit()

    def _open_files(self) -> None:
        if self._lock < 0:
            _watch_forks(self)
            self._lock = self._open(LOCK)
            self._turn = self._open(TURN)

    def _is_there(self) -> bool:
        """Whether the file that was opened still has its name."""
        return self._disk.fstat(self._lock).st_nlink > 0

    def is_free(self) -> bool:
        """Whether it could be had at once. For chores, for which nobody should wait."""
        if not self._threads.acquire(blocking=False):
            return False
        try:
            if self._depth == 0:
                self._open_files()
                if not self._is_there() or not self._disk.try_lock(self._lock):
                    return False
                self._disk.unlock(self._lock)
            return True
        finally:
            self._threads.release()

    def _take(self, fd: int, pause: float, deadline: float) -> None:
        if self._disk.try_lock(fd):
            return
        import random  # not on the path of a process that never waits

        while not self._disk.try_lock(fd):
            if time.monotonic() > deadline:
                raise Busy(self._sentence())
            time.sleep(pause * (0.5 + random.random()))

    def _sentence(self) -> str:
        return (
            f"Nothing was done: somebody else has held this memory's lock for {self._seconds:g} seconds. "
            "Look for a looseleaf process that hangs or is stopped, end it, and repeat the command; "
            "nothing that was acknowledged is lost."
        )

    def close(self) -> None:
        for fd in (self._lock, self._turn):
            if fd >= 0:
                self._disk.close(fd)
        self._lock = self._turn = -1


_opened: dict[int, ref[Lock]] = {}
"""The locks that were used, as long as there are such, and somebody may fork beside them."""


def _watch_forks(lock: Lock) -> None:
    """From its first use on, a lock is told of forks."""
    name = id(lock)
    _opened[name] = ref(lock, lambda _: _opened.pop(name, None) and None)


def _after_fork() -> None:
    for each in list(_opened.values()):
        lock = each()
        if lock is not None:
            lock.after_fork()


os.register_at_fork(after_in_child=_after_fork)
