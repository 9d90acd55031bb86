"""Disks that fail: each is the real `Disk`, with one way of going wrong at a call that the test chooses."""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Callable
from typing import Any

from looseleaf.store.disk import Disk

CALLS = (
    "open_root open open_dir read write truncate pread sync_data sync close stat fstat names entries mkdir unlink "
    "rmdir rename rename_new exchange try_lock unlock"
).split()

Inode = tuple[int, int]


class CountedDisk(Disk):
    """Every call of the store passes through `called`."""

    def __init__(self, *, exchange: bool = True) -> None:
        super().__init__()
        if not exchange:
            self._lacking = {1, 2}  # a file system that can neither exchange nor refuse to replace
        for name in CALLS:
            setattr(self, name, self._through(name, getattr(self, name)))

    def _through(self, name: str, real: Callable[..., Any]) -> Callable[..., Any]:
        def call(*args: Any) -> Any:
            return self.called(name, real, args)

        return call

    def called(self, name: str, real: Callable[..., Any], args: tuple[Any, ...]) -> Any:
        return real(*args)


class DyingDisk(CountedDisk):
    """Ends the process at the call number `at`: before it, after it, or (`half`) in the middle of a write."""

    EXIT = 137

    def __init__(self, at: int, how: str, *, exchange: bool = True) -> None:
        super().__init__(exchange=exchange)
        self._at = at
        self._how = how
        self.count = 0

    def called(self, name: str, real: Callable[..., Any], args: tuple[Any, ...]) -> Any:
        self.count += 1
        if self.count != self._at:
            return real(*args)
        if self._how == "half" and name == "write":
            real(args[0], args[1][: len(args[1]) // 2])
        elif self._how == "after":
            try:
                real(*args)
            except OSError:
                pass  # the call was made, and its answer is heard by nobody
        os._exit(self.EXIT)


class FaultyDisk(CountedDisk):
    """Fails the call number `at` after `arm`, or that one and all that follow, until `heal`.

    It also keeps account of what is on disk for sure: which files were written and not synced since, which
    folders got or lost a name and were not synced since, which files had a sync that failed; and of open handles.
    """

    def __init__(self, *, exchange: bool = True) -> None:
        super().__init__(exchange=exchange)
        self._armed = False
        self._number = 0
        self._at = 0
        self._lasting = False
        self._writes_only = False
        self._short = False
        self.count = 0
        self.fired: list[str] = []
        self.open_handles: set[int] = set()
        self.unsynced: set[Inode] = set()
        self.names_unsynced: dict[Inode, set[str]] = {}
        self.failed: set[Inode] = set()
        self.written: set[Inode] = set()

    # --- the fault ---------------------------------------------------------------------

    def arm(self, number: int, at: int, *, lasting: bool = False, short: bool = False) -> None:
        """`number` is the errno. `short`: write half first; and with number 0 nothing but that."""
        self._armed = True
        self._number, self._at, self._lasting = number, at, lasting
        self._writes_only = self._short = short
        self.count = 0
        self.fired = []
        self.written = set()

    def heal(self) -> None:
        self._armed = False

    def called(self, name: str, real: Callable[..., Any], args: tuple[Any, ...]) -> Any:
        # `Disk.close` never raises: nothing rests on it.
        if self._armed and name != "close" and (name == "write" or not self._writes_only):
            self.count += 1
            if self.count == self._at or (self._lasting and self.count > self._at):
                self.fired.append(name)
                return self._fail(name, real, args)
        return self._watched(name, real, args)

    def _fail(self, name: str, real: Callable[..., Any], args: tuple[Any, ...]) -> Any:
        if self._short and self.count == self._at and len(args[1]) > 1:
            if self._number:
                self._lasting = True
            return self._watched(name, real, (args[0], args[1][: len(args[1]) // 2]))
        if self._number == 0:
            return self._watched(name, real, args)
        if name in ("sync", "sync_data"):
            found = os.fstat(args[0])
            if stat.S_ISREG(found.st_mode):
                self.failed.add((found.st_dev, found.st_ino))
        raise OSError(self._number, os.strerror(self._number))

    # --- the account -------------------------------------------------------------------

    def _watched(self, name: str, real: Callable[..., Any], args: tuple[Any, ...]) -> Any:
        watch = getattr(self, f"_watch_{name}", None)
        done = real(*args) if watch is None else watch(real, *args)
        if name in ("open", "open_root", "open_dir"):
            self.open_handles.add(done)
        elif name == "close":
            self.open_handles.discard(args[0])
        return done

    def _watch_write(self, real: Callable[..., Any], fd: int, data: bytes) -> Any:
        done = real(fd, data)
        self.unsynced.add(_inode(fd))
        self.written.add(_inode(fd))
        return done

    def _watch_sync(self, real: Callable[..., Any], fd: int) -> None:
        real(fd)
        self.unsynced.discard(_inode(fd))
        self.names_unsynced.pop(_inode(fd), None)

    _watch_sync_data = _watch_sync

    def _watch_open(self, real: Callable[..., Any], root: int, path: str, flags: int, *mode: int) -> Any:
        if not flags & os.O_CREAT:
            return real(root, path, flags, *mode)
        is_new = _found(root, path) is None
        fd = real(root, path, flags, *mode)
        if is_new:
            above, _, name = path.rpartition("/")
            self._renamed(_inode_of(os.stat(above or ".", dir_fd=root)), name)
            self._forget(_inode(fd))
        return fd

    def _watch_mkdir(self, real: Callable[..., Any], folder: int, name: str) -> None:
        real(folder, name)
        self._renamed(_inode(folder), name)

    def _watch_unlink(self, real: Callable[..., Any], folder: int, name: str) -> None:
        gone = _found(folder, name)
        real(folder, name)
        self._renamed(_inode(folder), name)
        self._forget(gone)

    def _watch_rename(self, real: Callable[..., Any], source: int, old: str, target: int, new: str) -> None:
        gone = _found(target, new)
        real(source, old, target, new)
        self._renamed(_inode(source), old)
        self._renamed(_inode(target), new)
        self._forget(gone)
        if "/views/" in os.readlink(f"/proc/self/fd/{target}"):
            self._forget(_found(target, new))  # a view may be lost

    def _watch_exchange(self, real: Callable[..., Any], source: int, old: str, target: int, new: str) -> None:
        real(source, old, target, new)
        self._renamed(_inode(source), old)
        self._renamed(_inode(target), new)

    _watch_rename_new = _watch_exchange

    def _renamed(self, folder: Inode, name: str) -> None:
        self.names_unsynced.setdefault(folder, set()).add(name)

    def _forget(self, inode: Inode | None) -> None:
        """The number of a file that is gone may come back as another file's, which begins with a clean slate."""
        if inode is not None:
            for known in (self.unsynced, self.failed, self.written):
                known.discard(inode)

    def doubts(self, root: str, paths: list[str]) -> list[str]:
        """Why what was just written, and found at these paths, may not survive a power cut after all."""
        doubts = []
        if self.written & self.failed:
            doubts.append("it lies in a file whose sync failed before")
        if self.written & self.unsynced:
            doubts.append("its file was written and not synced")
        names = set()
        for path in paths:
            while path:
                names.add(path)
                path = path.rpartition("/")[0]
        for path in sorted(names):
            above, _, name = path.rpartition("/")
            full = os.path.join(root, above)
            if os.path.isdir(full) and name in self.names_unsynced.get(_inode_of(os.stat(full)), ()):
                doubts.append(f"the name {path} was changed and its folder not synced")
        return doubts


def _inode_of(found: os.stat_result) -> Inode:
    return found.st_dev, found.st_ino


def _inode(fd: int) -> Inode:
    return _inode_of(os.fstat(fd))


def _found(folder: int, name: str) -> Inode | None:
    try:
        return _inode_of(os.stat(name, dir_fd=folder, follow_symlinks=False))
    except OSError:
        return None


class InterruptedC:
    """The C library, with calls that are interrupted by a signal some times before they are done."""

    def __init__(self, real: Any, times: int) -> None:
        self._real = real
        self._left = times
        self.fired = 0
        self.renameat2 = self._interrupted(real.renameat2)

    def _interrupted(self, real: Callable[..., int]) -> Callable[..., int]:
        def call(*args: Any) -> int:
            import ctypes

            if self._left:
                self._left -= 1
                self.fired += 1
                ctypes.set_errno(errno.EINTR)
                return -1
            return real(*args)

        return call
