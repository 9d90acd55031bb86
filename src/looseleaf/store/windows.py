"""The calls of Windows, written from their documentation and never run (FORMAT §12)."""

from __future__ import annotations

import errno
import os
import stat as stat_module

from looseleaf.store.disk import PRIVATE_FILE, Disk, refuse_upward

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

_O_BINARY = getattr(os, "O_BINARY", 0)


class WindowsDisk(Disk):  # pragma: no cover - Windows
    """Windows has no directory handles in Python: a handle here is a number for a checked path."""

    def __init__(self) -> None:
        super().__init__()
        self._paths: dict[int, str] = {}
        self._next = -2

    def _handle(self, path: str) -> int:
        self._next -= 1
        self._paths[self._next] = path
        return self._next

    def _full(self, folder: int, path: str) -> str:
        """The whole path, refused when any part of it below the root is a link or junction."""
        refuse_upward(path)
        here = self._paths[folder]
        for part in path.split("/"):
            here = os.path.join(here, part)
            attributes = getattr(os.lstat(here), "st_file_attributes", 0) if os.path.lexists(here) else 0
            if attributes & stat_module.FILE_ATTRIBUTE_REPARSE_POINT:
                raise OSError(errno.ELOOP, "is a link", here)
        return here

    def open_root(self, path: str) -> int:
        return self._handle(os.path.realpath(path))

    def open(self, root: int, path: str, flags: int, mode: int = PRIVATE_FILE) -> int:
        return os.open(self._full(root, path), flags | _O_BINARY, mode)

    def open_dir(self, root: int, path: str) -> int:
        full = self._full(root, path) if path else self._paths[root]
        if not os.path.isdir(full):
            raise FileNotFoundError(errno.ENOENT, "no such folder", full)
        return self._handle(full)

    def pread(self, fd: int, count: int, offset: int) -> bytes:
        os.lseek(fd, offset, os.SEEK_SET)
        return os.read(fd, count)

    def sync_data(self, fd: int) -> None:
        self.sync(fd)

    def sync(self, fd: int) -> None:
        if fd not in self._paths:  # a folder cannot be synced here; NTFS journals its names
            os.fsync(fd)

    def close(self, fd: int) -> None:
        if self._paths.pop(fd, None) is None:
            super().close(fd)

    def stat(self, folder: int, path: str) -> os.stat_result:
        return os.lstat(self._full(folder, path))

    def fstat(self, fd: int) -> os.stat_result:
        return os.stat(self._paths[fd]) if fd in self._paths else os.fstat(fd)

    def names(self, folder: int) -> list[str]:
        return os.listdir(self._paths[folder])

    def entries(self, folder: int) -> Iterator[os.DirEntry[str]]:
        with os.scandir(self._paths[folder]) as found:
            yield from found

    def mkdir(self, folder: int, name: str) -> None:
        os.mkdir(self._full(folder, name))

    def unlink(self, folder: int, name: str) -> None:
        os.unlink(self._full(folder, name))

    def rmdir(self, folder: int, name: str) -> None:
        os.rmdir(self._full(folder, name))

    def rename(self, source: int, old: str, target: int, new: str) -> None:
        os.replace(self._full(source, old), self._full(target, new))

    def rename_new(self, source: int, old: str, target: int, new: str) -> None:
        os.rename(self._full(source, old), self._full(target, new))  # fails when `new` exists

    def exchange(self, source: int, old: str, target: int, new: str) -> None:
        import ctypes

        staged, page = self._full(source, old), self._full(target, new)
        kernel: Any = getattr(ctypes, "windll").kernel32  # noqa: B009
        if not kernel.ReplaceFileW(page, staged, staged + ".was", 0, None, None):
            raise OSError(errno.EIO, "ReplaceFileW failed", page)
        os.rename(staged + ".was", staged)

    def try_lock(self, fd: int) -> bool:
        import importlib

        msvcrt = importlib.import_module("msvcrt")
        os.lseek(fd, 0, os.SEEK_SET)
        try:
            msvcrt.locking(fd, msvcrt.LK_NBLCK, 1)
        except OSError:
            return False
        return True

    def unlock(self, fd: int) -> None:
        import importlib

        msvcrt = importlib.import_module("msvcrt")
        os.lseek(fd, 0, os.SEEK_SET)
        msvcrt.locking(fd, msvcrt.LK_UNLCK, 1)

    def network_type(self, root: int) -> str | None:
        return "unc" if self._paths[root].startswith("\\\\") else None

    def host(self) -> str:
        import platform

        return platform.node()

    def is_alive(self, pid: int) -> bool:
        """os.kill(pid, 0) would interrupt the process here: 0 is CTRL_C_EVENT."""
        import ctypes

        kernel: Any = getattr(ctypes, "windll").kernel32  # noqa: B009
        handle = kernel.OpenProcess(0x1000, False, pid)  # PROCESS_QUERY_LIMITED_INFORMATION
        if not handle:
            return bool(kernel.GetLastError() == 5)  # ERROR_ACCESS_DENIED: somebody else's
        code = ctypes.c_ulong()
        kernel.GetExitCodeProcess(handle, ctypes.byref(code))
        kernel.CloseHandle(handle)
        return code.value == 259  # STILL_ACTIVE
