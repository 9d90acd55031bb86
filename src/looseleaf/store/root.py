"""The memory's folder as one open handle; every path is resolved beneath it.

Files are written in `log/staged/` and renamed into place in one step, so that no name ever shows half a file.
"""

from __future__ import annotations

import errno
import os
import stat
import time

from looseleaf.base.errors import Displaced, Refused, Unreadable, Unwritten
from looseleaf.base.ids import random_id
from looseleaf.store.machines import ALONE, OTHERS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from looseleaf.store.disk import Disk
    from looseleaf.store.machines import Machines

LOG = "log"
STAGED = "log/staged"
ASIDE = "log/aside"
LATE = f"{ASIDE}/late"
PLAN = "log/forgetting.json"
FORGETTER = "log/forgetter"
"""Locked by the process that prepares a forget."""
MOVED = "log/moved"
"""Says where the memory moved to: what writes to the folder is sent there."""
GATE = "views/gate.lock"
"""Shared by those that write a view; locked by the one that removes them all, for a forget. It goes with them: what is
written after that is of the new edition, or not at all."""
GATE_SECONDS = 10.0
_CHUNK = 1 << 20
_CLOSED = 0x7FFFFFFF
"""Replaces a closed handle: no open file has this number, so that using it fails and never reaches another file."""


class _OpenFolder:
    """A folder's handle, closed at the end of the `with` block."""

    def __init__(self, disk: Disk, fd: int) -> None:
        self._disk = disk
        self._fd = fd

    def __enter__(self) -> int:
        return self._fd

    def __exit__(self, *_: object) -> None:
        self._disk.close(self._fd)


class _NameInFolder(_OpenFolder):
    """A name in an open folder."""

    def __init__(self, disk: Disk, fd: int, name: str) -> None:
        super().__init__(disk, fd)
        self._name = name

    def __enter__(self) -> tuple[int, str]:  # type: ignore[override]
        return self._fd, self._name


class Root:
    """`machines` says where this machine keeps its log and views, and where those of others are."""

    def __init__(self, disk: Disk, path: str, machines: Machines = ALONE) -> None:
        self.disk = disk
        self.path = path
        self.machines = machines
        self.has_log = False
        """True once the log was there: if it is gone then, it is not made anew."""
        self.on_odd: Callable[[str, str], None] | None = None
        """Told the path of what lies in the logs of other machines and is no folder or file of its own, and what it is.
        It is then read as if it were not there. None: reading it fails."""
        self._durable: set[str] = set()
        try:
            self.fd = disk.open_root(path)
        except OSError as error:
            raise unreadable(path, error) from error

    def close(self) -> None:
        if not self.closed:
            self.disk.close(self.fd)
            self.fd = _CLOSED

    @property
    def closed(self) -> bool:
        return self.fd == _CLOSED

    def folder(self, path: str) -> _OpenFolder:
        """Open a folder for a `with` block."""
        return _OpenFolder(self.disk, self._open_folder(path))

    def parent(self, path: str) -> _NameInFolder:
        """Open the folder above a path for a `with` block, which also gets the name within it."""
        folder, _, name = self.machines.place(path).rpartition("/")
        above = path.rpartition("/")[0]
        is_same = self.machines.place(above) == folder
        opened = self._open_folder(above) if is_same else self.disk.open_dir(self.fd, folder)
        return _NameInFolder(self.disk, opened, name)

    def _open_folder(self, path: str) -> int:
        try:
            return self.disk.open_dir(self.fd, self.machines.place(path))
        except OSError as error:
            self._pass_over(path, error)
            raise

    def stat(self, path: str) -> os.stat_result:
        try:
            return self.disk.stat(self.fd, self.machines.place(path))
        except OSError as error:
            self._pass_over(path.rpartition("/")[0], error)
            raise

    def _pass_over(self, path: str, error: OSError | Refused, *, is_file: bool = False) -> None:
        """Raise `FileNotFoundError` if what failed to open is odd, and lies in the log of another machine: the damaged
        log of another costs no answer here."""
        if (
            self.on_odd is None
            or isinstance(error, FileNotFoundError)
            or not f"{path}/".startswith(f"{OTHERS}/")
        ):
            return
        parts, place = path.split("/"), self.machines.place(path)
        for count in range(2, len(parts) + 1):
            at = "/".join(parts[:count])
            here = self.machines.place(at)
            if not f"{place}/".startswith(f"{here}/"):
                continue  # the log of the first machine lies elsewhere
            try:
                found = self.disk.stat(self.fd, here)
            except OSError:
                return
            odd = _odd_about(found, is_file=is_file and count == len(parts))
            if odd:
                self.on_odd(at, odd)
                raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), path) from error

    def make(self, path: str, *, durable: bool = True) -> None:
        """Make the folder and those above it, durably.

        An existing folder may not be on disk yet: a process may have died before syncing it, or the sync may have
        failed. So the first call syncs it too (FORMAT §6.1).
        """
        self._make(self.machines.place(path), durable=durable)

    def _make(self, path: str, *, durable: bool) -> None:
        there = path == "" or self._is_there(path)
        if there and (path == "" or path in self._durable or not durable):
            return
        if path == LOG and self.has_log and not there:
            raise log_gone(self.path)
        above, _, name = path.rpartition("/")
        self._make(above, durable=durable)
        with _OpenFolder(self.disk, self.disk.open_dir(self.fd, above)) as fd:
            if not there:
                try:
                    self.disk.mkdir(fd, name)
                except FileExistsError:
                    pass
            self.has_log = self.has_log or path == LOG
            if durable:
                self.disk.sync(fd)
                self._durable.add(path)

    def is_folder(self, path: str) -> bool:
        try:
            self.disk.close(self._open_folder(path))
            return True
        except FileNotFoundError:
            return False

    def _is_there(self, path: str) -> bool:
        try:
            self.disk.close(self.disk.open_dir(self.fd, path))
            return True
        except FileNotFoundError:
            return False

    def sync(self, *folders: str) -> None:
        for path in dict.fromkeys(folders):
            with self.folder(path) as fd:
                self.disk.sync(fd)

    def names(self, path: str) -> list[str]:
        """Return the names in a folder, sorted; an empty list if it does not exist."""
        try:
            with self.folder(path) as fd:
                return sorted(self.disk.names(fd))
        except FileNotFoundError:
            return []

    def open_file(self, path: str, flags: int) -> int:
        """Open a regular file with one name. A link, a device or a pipe is a trap."""
        try:
            return self._open_file(path, flags)
        except (OSError, Refused) as error:
            self._pass_over(path, error, is_file=True)
            raise

    def _open_file(self, path: str, flags: int) -> int:
        fd = self.disk.open(self.fd, self.machines.place(path), flags)
        try:
            found = self.disk.fstat(fd)
            if not stat.S_ISREG(found.st_mode):
                raise _not_regular(path)
            if found.st_nlink > 1 and not self._has_one_name(fd):
                raise Refused(
                    f"{path} has a second name (a hard link), which may lie outside the memory. "
                    f"Replace it with a copy: cp {path} copy && mv copy {path}"
                )
        except BaseException:
            self.disk.close(fd)
            raise
        return fd

    def _has_one_name(self, fd: int) -> bool:
        """Wait a moment: without an atomic exchange, a page that is being replaced has two names (FORMAT §6.6)."""
        for _ in range(20):
            time.sleep(0.001)
            if self.disk.fstat(fd).st_nlink <= 1:
                return True
        return False

    def read(self, path: str, limit: int | None = None) -> bytes | None:
        """Return a file's bytes, or None if it does not exist. Any other failure raises."""
        try:
            fd = self.open_file(path, os.O_RDONLY)
        except FileNotFoundError:
            return None
        except OSError as error:
            raise unreadable(path, error) from error
        try:
            return self._read_all(fd, path, limit)
        except OSError as error:
            raise unreadable(path, error) from error
        finally:
            self.disk.close(fd)

    def _read_all(self, fd: int, path: str, limit: int | None) -> bytes:
        chunks: list[bytes] = []
        total = 0
        while chunk := self.disk.read(fd, _CHUNK):
            chunks.append(chunk)
            total += len(chunk)
            if limit is not None and total > limit:
                raise over_limit(path, limit)
        return b"".join(chunks)

    def digest(self, path: str) -> str:
        """Return the SHA-256 of a large file, read piece by piece."""
        import hashlib

        found = hashlib.sha256()
        fd = self.open_file(path, os.O_RDONLY)
        try:
            while chunk := self.disk.read(fd, _CHUNK):
                found.update(chunk)
        finally:
            self.disk.close(fd)
        return found.hexdigest()

    def write_all(self, fd: int, data: bytes) -> None:
        done = self.disk.write(fd, data)
        if done < len(data):  # a nearly full disk writes only a part
            rest = memoryview(data)[done:]
            while rest:
                rest = rest[self.disk.write(fd, rest) :]

    def stage(self, name: str, data: bytes, *, durable: bool = True, when: float | None = None) -> str:
        """Write a new file in `log/staged/` and return its path. A failure removes it again. `when`: its time."""
        path = f"{STAGED}/{name}"
        fd = self.disk.open(self.fd, self.machines.place(path), os.O_WRONLY | os.O_CREAT | os.O_EXCL)
        try:
            self.write_all(fd, data)
            if when is not None:
                self.disk.set_time(fd, when)
            if durable:
                self.disk.sync(fd)
        except BaseException:
            self.discard(path)
            raise
        finally:
            self.disk.close(fd)
        return path

    def extend(self, staged: str, data: bytes) -> None:
        """Add bytes to a staged file."""
        fd = self.disk.open(self.fd, self.machines.place(staged), os.O_WRONLY | os.O_APPEND)
        try:
            self.write_all(fd, data)
            self.disk.sync(fd)
        finally:
            self.disk.close(fd)

    def open_lock(self, path: str) -> int:
        """Open a file that is only locked, making it if it is missing."""
        self.make(path.rpartition("/")[0], durable=False)  # made durable by the first write into it
        return self.open_file(path, os.O_RDWR | os.O_CREAT)

    def discard(self, path: str) -> None:
        """Remove a staged file. If that fails, recovery removes it later."""
        try:
            with self.parent(path) as (fd, name):
                self.disk.unlink(fd, name)
        except OSError:
            pass

    def replace(self, path: str, data: bytes, *, durable: bool = True, when: float | None = None) -> None:
        """Make `data` the file, whole or not at all. Only for files that people do not edit. `when`: its time."""
        folder = path.rpartition("/")[0]
        self.make(STAGED, durable=durable)
        self.make(folder, durable=durable)
        staged = self.stage(f"{random_id()}.put", data, durable=durable, when=when)
        try:
            with self.parent(staged) as (source, old), self.parent(path) as (target, new):
                self.disk.rename(source, old, target, new)
                if durable:
                    self.disk.sync(target)
        except BaseException:
            self.discard(staged)
            raise

    def put_aside(self, data: bytes, label: str) -> str:
        """Copy bytes that are about to be moved or cut to `log/aside/`; return the copy's path."""
        path = f"{ASIDE}/{random_id()}-{label.replace('/', '.')}"
        self.replace(path, data)
        return path


def is_committed(root: Root) -> bool:
    """True if a committed forget is not finished yet (FORMAT §17.4). Every opening checks this once."""
    try:
        root.stat(PLAN)
    except FileNotFoundError:
        return False
    except OSError as error:
        raise unreadable(PLAN, error) from error
    return True


def over_limit(path: str, limit: int) -> Refused:
    return Refused(
        f"{path} was not read: it is larger than {limit:,} bytes, the size cap of a page. "
        "Split it into several pages, or raise `page_bytes` in looseleaf.toml."
    )


def unreadable(path: str, error: OSError) -> Refused:
    if error.errno == errno.EBADF:
        return _closed_error()
    if error.errno in (errno.ELOOP, errno.EXDEV, errno.EMLINK):
        return Refused(f"{path} is, or lies behind, a symbolic link. Put a real file in its place.")
    if error.errno == errno.ENOTDIR:
        return Refused(f"{path} lies in something that is not a folder. Move that away.")
    if error.errno in (errno.ENXIO, errno.EISDIR):
        return _not_regular(path)
    return Unreadable(
        f"{path} could not be read ({error.strerror or error}), so nothing was changed. "
        "Check the file's permissions and the disk, then repeat the command."
    )


def _odd_about(found: os.stat_result, *, is_file: bool) -> str:
    """Return what stands where a folder or a file belongs; "": that."""
    if stat.S_ISLNK(found.st_mode):
        return "a symbolic link"
    if stat.S_ISREG(found.st_mode):
        return ("" if found.st_nlink == 1 else "a hard link") if is_file else "a file"
    if stat.S_ISDIR(found.st_mode):
        return "a folder" if is_file else ""
    return "no file or folder"


def _not_regular(path: str) -> Refused:
    return Refused(f"{path} is not a regular file. Move it out of the memory.")


def log_gone(path: str) -> Displaced:
    return Displaced(
        f"Nothing was written: the log of {path} is gone. It was removed or moved while this memory was open "
        "(`git clean -x` removes it). Put it back from a copy, then open the memory again."
    )


def _closed_error() -> Unreadable:
    return Unreadable("This memory is closed. Open it again.")


def unwritten(what: str, error: OSError) -> Refused:
    if error.errno == errno.EBADF:
        return _closed_error()
    return Unwritten(
        f"{what} was not written ({error.strerror or error}); everything written before is intact. "
        "Free some space, or check the disk and the permissions, then try again."
    )


def remove_staged(root: Root, staged: str) -> None:
    """Remove a staged file or folder. If that fails, the next recovery does it."""
    try:
        for name in root.names(staged):
            root.discard(f"{staged}/{name}")
        with root.parent(staged) as (folder, name):
            root.disk.rmdir(folder, name)
    except NotADirectoryError:
        root.discard(staged)
    except OSError:
        pass
