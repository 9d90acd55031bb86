"""One writer at a time, across threads and processes (FORMAT §7).

Two files, never deleted: `log/lock` is the lock, `log/turn` the turnstile before it. Who waits for the lock
holds the turnstile, so a process that lets go and comes straight back queues behind the one that waited;
without it a busy writer starves the others. The kernel releases both when a process dies.
"""

from __future__ import annotations

import os
import random
import threading
import time
from typing import TYPE_CHECKING

from looseleaf.errors import Busy

if TYPE_CHECKING:
    from collections.abc import Callable
    from contextlib import AbstractContextManager
    from types import TracebackType

    from looseleaf.store.disk import Disk

LOCK = "log/lock"
TURN = "log/turn"


class Lock:
    """A context manager that may be entered again by the thread that holds it."""

    def __init__(self, disk: Disk, open_file: Callable[[str], int], seconds: float) -> None:
        self._disk = disk
        self._open = open_file
        self._seconds = seconds
        self._reset()

    def _reset(self) -> None:
        self._pid = os.getpid()
        self._threads = threading.RLock()
        self._depth = 0
        self._lock = -1
        self._turn = -1

    @property
    def held(self) -> bool:
        """Whether this process holds it (in whichever thread)."""
        return self._depth > 0 and self._pid == os.getpid()

    def __enter__(self) -> Lock:
        if self._pid != os.getpid():
            self._after_fork()
        if not self._threads.acquire(timeout=self._seconds):
            raise Busy(self._sentence())
        if self._depth == 0:
            try:
                self._acquire()
            except BaseException:
                self._threads.release()
                raise
        self._depth += 1
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._pid != os.getpid():
            return  # forked inside the block: the parent still holds it
        self._depth -= 1
        try:
            if self._depth == 0:
                self._disk.unlock(self._lock)
        except OSError:
            self.close()  # closing the file releases the lock too
        finally:
            self._threads.release()

    def threads(self) -> AbstractContextManager[bool]:
        """The part of the lock that is between this process's own threads."""
        if self._pid != os.getpid():
            self._after_fork()
        return self._threads

    def _after_fork(self) -> None:
        """The parent's locks are the parent's. Closing the copies releases nothing."""
        self.close()
        self._reset()

    def _acquire(self) -> None:
        if self._lock < 0:
            self._lock = self._open(LOCK)
            self._turn = self._open(TURN)
        try_lock = self._disk.try_lock
        # Whoever waits at the turnstile is one of several and sleeps longer; at the lock there is only one.
        if not try_lock(self._turn):
            self._wait(self._turn, 0.002)
        try:
            if not try_lock(self._lock):
                self._wait(self._lock, 0.0002)
        finally:
            self._disk.unlock(self._turn)

    def _wait(self, fd: int, pause: float) -> None:
        deadline = time.monotonic() + self._seconds
        while not self._disk.try_lock(fd):
            if time.monotonic() > deadline:
                raise Busy(self._sentence())
            time.sleep(pause * (0.5 + random.random()))

    def _sentence(self) -> str:
        return (
            f"Nothing was done: another process has held this memory's lock for {self._seconds:g} seconds. "
            "Look for a looseleaf process that hangs or is stopped, end it, and repeat the command; "
            "nothing that was acknowledged is lost."
        )

    def close(self) -> None:
        for fd in (self._lock, self._turn):
            if fd >= 0:
                self._disk.close(fd)
        self._lock = self._turn = -1
