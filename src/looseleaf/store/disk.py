"""The calls of the operating system, thin and without policy, and the lock; no other module knows which system it is.

Every file system call of the store goes through a `Disk`, so that a test can replace it with a failing one. A folder
is a handle, a file in it a single name: no call follows a symbolic link, and no path is ever resolved from the
process's working directory (FORMAT §9).

Linux has every guarantee. macOS has the same with other calls (F_FULLFSYNC, renameatx_np), written from their
documentation and never run. Windows works through WSL, which is Linux.

The lock admits one writer at a time, across threads and processes (FORMAT §7), with two files that are never deleted:
`log/lock` is the lock, `log/turn` the turnstile before it. A process that waits for the lock holds the turnstile, so
that one that releases the lock and takes it again queues behind it; without the turnstile a busy writer starves the
others. The kernel releases both when a process dies.
"""

from __future__ import annotations

import errno
import os
import stat as stat_module
import sys
import time
from _thread import RLock, get_ident
from _weakref import ref  # the one part of `weakref` needed here, and already loaded

from looseleaf.base.errors import Busy, Unwritten

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from contextlib import AbstractContextManager
    from types import TracebackType
    from typing import Any


PRIVATE_FILE = 0o600
PRIVATE_DIR = 0o700

NETWORK_TYPES = frozenset(
    "9p acfs afs beegfs ceph cifs coda davfs fuse.blobfuse2 fuse.ceph fuse.ceph-fuse fuse.curlftpfs fuse.davfs2 "
    "fuse.gcsfuse fuse.glusterfs fuse.goofys fuse.juicefs fuse.mfs fuse.mount-s3 fuse.prl_fsd fuse.rclone "
    "fuse.s3fs fuse.seaweedfs fuse.smbnetfs fuse.sshfs fuse.vmhgfs-fuse gfs gfs2 glusterfs gpfs lustre moosefs "
    "ncpfs nfs nfs4 ocfs2 orangefs panfs prl_fs pvfs2 smb2 smb3 smbfs vboxsf vmhgfs webdav".split()
)

# O_NONBLOCK: opening a planted FIFO must not hang the reader.
_SAFE = os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NONBLOCK

_GATE_PAUSE = 0.002

_RENAME_NOREPLACE = 1
_RENAME_EXCHANGE = 2


class Disk:
    """The calls of a POSIX system. Each does one thing, and raises OSError if it fails."""

    def __init__(self) -> None:
        self._libc: Any = None
        self._lacking: set[int] = set()  # kinds of rename that this system lacks

    def open_root(self, path: str) -> int:
        """Open the memory's folder. Only this call may follow a link: the user gave the path."""
        return os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)

    def make_root(self, path: str, mode: int = PRIVATE_DIR) -> None:
        """Make the memory's folder and any missing ones above it, each durable in its parent."""
        if os.path.isdir(path):
            return
        above = os.path.dirname(path.rstrip(os.sep)) or os.curdir
        self.make_root(above, 0o777)
        try:
            os.mkdir(path, mode)
        except FileExistsError:
            if not os.path.isdir(path):
                raise
        try:
            fd = self.open_root(above)
        except PermissionError:  # a folder that may be written and not read cannot be synced either
            return
        try:
            self.sync(fd)
        finally:
            self.close(fd)

    def open(self, root: int, path: str, flags: int, mode: int = PRIVATE_FILE) -> int:
        """Open `path` beneath `root`, folder by folder; fail on a symbolic link anywhere in it. The kernel's own call
        for this (`openat2`) opens the same, as the tests show, and is no faster from Python."""
        refuse_upward(path)
        if "/" not in path:
            return _open_here(root, path, flags | _SAFE, mode)
        *folders, name = path.split("/")
        here = root
        try:
            for folder in folders:
                there = _open_here(here, folder, os.O_RDONLY | os.O_DIRECTORY | _SAFE)
                if here != root:
                    self.close(here)
                here = there
            return _open_here(here, name, flags | _SAFE, mode)
        finally:
            if here != root:
                self.close(here)

    def open_dir(self, root: int, path: str) -> int:
        if path == "":
            return os.dup(root)
        return self.open(root, path, os.O_RDONLY | os.O_DIRECTORY)

    def _load_libc(self) -> Any:
        if self._libc is None:
            import ctypes

            self._libc = ctypes.CDLL(None, use_errno=True)
        return self._libc

    # These are the system calls themselves, for speed: an append is little more than them.

    read = staticmethod(os.read)
    write = staticmethod(os.write)
    truncate = staticmethod(os.ftruncate)

    def pread(self, fd: int, count: int, offset: int) -> bytes:
        return os.pread(fd, count, offset)

    def sync_data(self, fd: int) -> None:
        if sys.platform == "linux":
            os.fdatasync(fd)
        else:  # pragma: no cover - macOS
            self.sync(fd)

    def sync(self, fd: int) -> None:
        if sys.platform == "darwin":  # pragma: no cover - macOS
            # fsync(2) on macOS leaves the bytes in the drive's cache; F_FULLFSYNC (51) does not.
            import fcntl

            fcntl.fcntl(fd, 51)
            return
        try:
            os.fsync(fd)
        except OSError as error:
            # EINVAL of a folder: this file system cannot sync folders, and there is no better way.
            if error.errno != errno.EINVAL or not stat_module.S_ISDIR(self.fstat(fd).st_mode):
                raise

    def close(self, fd: int) -> None:
        """Close a handle. Errors do not matter: everything that had to be on disk was synced before."""
        try:
            os.close(fd)
        except OSError:
            pass

    def stat(self, folder: int, path: str) -> os.stat_result:
        """Stat a single name. In a longer path a folder may be a link, so use that only to compare identities."""
        return os.stat(path, dir_fd=folder, follow_symlinks=False)

    def stat_path(self, path: str) -> os.stat_result:
        """Stat what the user's own path leads to now."""
        return os.stat(path)

    def set_time(self, fd: int, seconds: float) -> None:
        """Give a file the time of a change. A disk that cannot do so keeps its own."""
        try:
            os.utime(fd, (seconds, seconds))
        except OSError:
            pass

    def fstat(self, fd: int) -> os.stat_result:
        return os.fstat(fd)

    def names(self, folder: int) -> list[str]:
        return os.listdir(folder)

    def entries(self, folder: int) -> Iterator[os.DirEntry[str]]:
        with os.scandir(folder) as found:
            yield from found

    def mkdir(self, folder: int, name: str) -> None:
        os.mkdir(name, PRIVATE_DIR, dir_fd=folder)

    def unlink(self, folder: int, name: str) -> None:
        os.unlink(name, dir_fd=folder)

    def rmdir(self, folder: int, name: str) -> None:
        os.rmdir(name, dir_fd=folder)

    def rename(self, source: int, old: str, target: int, new: str) -> None:
        os.rename(old, new, src_dir_fd=source, dst_dir_fd=target)

    def rename_new(self, source: int, old: str, target: int, new: str) -> None:
        """Rename unless `new` exists (FileExistsError)."""
        if not self._rename_with(source, old, target, new, _RENAME_NOREPLACE):
            # Weaker: a file made in between is replaced (FORMAT §6.6). Link and unlink would not replace it, but a
            # crash between the two leaves a file with two names, which is never opened.
            try:
                self.stat(target, new)
            except FileNotFoundError:
                self.rename(source, old, target, new)
            else:
                raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), old, None, new)

    def exchange(self, source: int, old: str, target: int, new: str) -> None:
        """Swap two names in one step, so that both always exist and no bytes are ever dropped."""
        if not self._rename_with(source, old, target, new, _RENAME_EXCHANGE):
            # Weaker: a save between these two steps is lost without a trace (FORMAT §6.6).
            aside = old + ".was"
            try:
                os.link(new, aside, src_dir_fd=target, dst_dir_fd=source, follow_symlinks=False)
            except OSError as error:
                if error.errno not in (errno.EPERM, errno.ENOSYS, errno.ENOTSUP, errno.EMLINK):
                    raise
                self._copy_file(target, new, source, aside)  # a file system without second names
            try:
                self.rename(source, old, target, new)
            except OSError:
                self.unlink(source, aside)  # a page with a second name is never opened
                raise
            self.rename(source, aside, source, old)

    def _copy_file(self, source: int, old: str, target: int, new: str) -> None:
        original = self.open(source, old, os.O_RDONLY)
        try:
            copy = self.open(target, new, os.O_WRONLY | os.O_CREAT | os.O_EXCL)
            try:
                while rest := self.read(original, 1 << 20):
                    while rest:
                        rest = rest[self.write(copy, rest) :]
                self.sync(copy)
            finally:
                self.close(copy)
        finally:
            self.close(original)

    def _rename_with(self, source: int, old: str, target: int, new: str, how: int) -> bool:
        """Call renameat2 or its macOS twin; return False if the kernel or the file system lacks it."""
        if how in self._lacking:
            return False
        import ctypes

        libc = self._load_libc()
        flags = how
        call = getattr(libc, "renameat2", None)
        if call is None:  # pragma: no cover - macOS
            call = getattr(libc, "renameatx_np", None)
            flags = {_RENAME_NOREPLACE: 0x4, _RENAME_EXCHANGE: 0x2}[how]
        if call is None:  # pragma: no cover - old C libraries
            self._lacking.add(how)
            return False
        while call(source, _encode_path(old), target, _encode_path(new), flags) != 0:
            number = ctypes.get_errno()
            if number == errno.EINTR:
                continue
            if number in (errno.ENOSYS, errno.EINVAL, errno.ENOTSUP):
                self._lacking.add(how)
                return False
            raise OSError(number, os.strerror(number), old, None, new)
        return True

    def try_lock(self, fd: int) -> bool:
        import fcntl  # not at the top: readers take no lock

        try:
            fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        return True

    def try_share(self, fd: int) -> bool:
        """Lock a file together with others that share it."""
        import fcntl

        try:
            fcntl.flock(fd, fcntl.LOCK_SH | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        return True

    def unlock(self, fd: int) -> None:
        import fcntl

        fcntl.flock(fd, fcntl.LOCK_UN)

    def network_type(self, root: int) -> str | None:
        """Return the file system's type if it is a network share, where locks may not hold between hosts."""
        if sys.platform != "linux":  # pragma: no cover - macOS
            return None
        device = self.fstat(root).st_dev
        try:
            with open("/proc/self/mountinfo", encoding="utf-8", errors="replace") as mounts:
                kind = mount_type(mounts.read(), os.major(device), os.minor(device))
        except OSError:
            return None
        return kind if kind in NETWORK_TYPES else None

    def host(self) -> str:
        return os.uname().nodename

    def is_alive(self, pid: int) -> bool:
        """True if a process of this host may still be running."""
        try:
            os.kill(pid, 0)
        except (ProcessLookupError, OverflowError):
            return False
        except PermissionError:
            pass  # another user's process
        return True


def _open_here(folder: int, name: str, flags: int, mode: int = PRIVATE_FILE) -> int:
    """Open a single name. Where a folder is wanted, a link still fails with ELOOP, as with `openat2`."""
    try:
        return os.open(name, flags, mode, dir_fd=folder)
    except NotADirectoryError as error:
        try:
            is_link = stat_module.S_ISLNK(os.stat(name, dir_fd=folder, follow_symlinks=False).st_mode)
        except OSError:
            is_link = False
        if not is_link:
            raise
        raise OSError(errno.ELOOP, os.strerror(errno.ELOOP), name) from error


def make_folders(folder: str, inside: str) -> None:
    """Make a folder, for what opens files by itself, and those above it that are inside another. That one is not made:
    what was deleted stays deleted."""
    if len(folder) <= len(inside):
        return
    make_folders(os.path.dirname(folder), inside)
    try:
        os.mkdir(folder, PRIVATE_DIR)
    except FileExistsError:
        if os.path.islink(folder):  # it could lead anywhere
            raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR), folder) from None


def refuse_upward(path: str) -> None:
    """Refuse `..`, which leads out of any folder. Callers judge names long before; this is the last guard."""
    if ".." in path.split("/"):
        raise OSError(errno.EXDEV, os.strerror(errno.EXDEV), path)


def _encode_path(path: str) -> bytes:
    """Encode a path for C, where a NUL would silently cut it short."""
    encoded = os.fsencode(path)
    if b"\0" in encoded:
        raise ValueError("embedded null byte")
    return encoded


def mount_type(mountinfo: str, major: int, minor: int) -> str | None:
    """Return the file system type of a device, from the text of /proc/self/mountinfo."""
    for line in mountinfo.splitlines():
        left, dash, right = line.partition(" - ")
        parts = left.split(" ")
        if dash and len(parts) > 2 and parts[2] == f"{major}:{minor}":
            return right.split(" ", 1)[0]
    return None


def this_disk() -> Disk:
    return Disk()


# --- the lock ---------------------------------------------------------------------------

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
        _reach_after_fork(self)
        self._file = self._open(self._path)
        return self.try_again()

    def __exit__(self, *_: object) -> None:
        if self._file >= 0:  # else forked inside the block: only the parent holds it
            try:
                self._disk.unlock(self._file)
            except OSError:
                pass  # closing releases it too
            self.after_fork()

    def try_again(self) -> bool:
        return self._disk.try_lock(self._file)

    def after_fork(self) -> None:
        """Close a copy of the parent's file: it would hold the chore for as long as this process lives."""
        if self._file >= 0:
            self._disk.close(self._file)
        self._file = -1


class ViewGate:
    """A block in which any number of writers may be together, or one `alone`. Each is there for moments only."""

    def __init__(self, disk: Disk, file: int, seconds: float, *, alone: bool = False) -> None:
        self._disk = disk
        self._file = file
        self._seconds = seconds
        self._try = disk.try_lock if alone else disk.try_share

    def __enter__(self) -> None:
        until = time.monotonic() + self._seconds
        try:
            while not self._try(self._file):
                if time.monotonic() > until:
                    raise Busy(
                        f"Another process has been writing a view for {self._seconds:g} seconds. Look for a looseleaf "
                        "process that hangs or is stopped, end it, and repeat the command."
                    )
                time.sleep(_GATE_PAUSE)
        except BaseException:
            self._disk.close(self._file)
            raise

    def __exit__(self, *_: object) -> None:
        try:
            self._disk.unlock(self._file)  # a forked child may have a copy
        except OSError:
            pass  # closing releases it too
        self._disk.close(self._file)


class Lock:
    """A context manager that its thread may enter again.

    `admit` runs each time the lock was taken, before the block does; it may refuse.
    """

    def __init__(
        self,
        disk: Disk,
        open_file: Callable[[str], int],
        stat: Callable[[str], os.stat_result | None],
        admit: Callable[[], None],
        seconds: float,
    ) -> None:
        self._disk = disk
        self._open = open_file
        self._stat = stat
        self._admit = admit
        self._seconds = seconds
        self._lock = self._turn = -1
        self._identity = (0, 0)
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

    def is_mine(self) -> bool:
        """True inside the block, for its own thread."""
        return self._owner == get_ident()

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
            _reach_after_fork(self)
            self._lock = self._open(LOCK)
            found = self._disk.fstat(self._lock)
            self._identity = found.st_dev, found.st_ino
            self._turn = self._open(TURN)

    def _has_name(self) -> bool:
        """True if the name of the lock still leads to the open file."""
        named = self._stat(LOCK)
        return named is not None and (named.st_dev, named.st_ino) == self._identity

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


_opened: dict[int, ref[Lock | Alone]] = {}
"""Locks in use, for a fork to reach."""


def _reach_after_fork(lock: Lock | Alone) -> None:
    name = id(lock)
    _opened[name] = ref(lock, lambda _: _opened.pop(name, None) and None)


def _after_fork() -> None:
    for each in list(_opened.values()):
        lock = each()
        if lock is not None:
            lock.after_fork()


os.register_at_fork(after_in_child=_after_fork)
