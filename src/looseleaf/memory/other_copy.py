"""Another copy of a memory, opened to be merged: a folder, or an export of the whole memory in one file. Nothing in it
is written to. Its writers wait meanwhile, if its disk has locks."""

from __future__ import annotations

import os
import time

from looseleaf.base.errors import Busy, Invalid, NotFound, Refused
from looseleaf.pages.folder import NAME, is_memory
from looseleaf.store.disk import LOCK, this_disk
from looseleaf.store.machines import OTHERS, is_name, log_of
from looseleaf.store.root import Root, is_committed

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tempfile import TemporaryDirectory
    from types import TracebackType

_PAUSE = 0.05
_SWELLS = 200
"""How many times its packed size an export may unpack to: text packs to a tenth, a zip bomb to a thousandth."""
_HARMLESS = 64 * 1024**2
_IMPORT = "`looseleaf import` takes conversations, notes and other memories."


class OtherCopy:
    """`with OtherCopy(where, memory, seconds) as copy:`: `copy.root` is its folder. `seconds`: how long to wait for a
    process that writes to it."""

    def __init__(self, where: str, memory: str, seconds: float) -> None:
        self._where, self._memory, self._seconds = where, memory, seconds
        self._unpacked: TemporaryDirectory[str] | None = None
        self._locks: list[int] = []

    def __enter__(self) -> OtherCopy:
        path = os.path.abspath(os.path.expanduser(self._where))
        try:
            if os.path.isfile(path):
                path = self._unpack(path)
            self._refuse(path)
            self.path = path
            self.root = Root(this_disk(), path)
            try:
                self._wait_for_writers()
            except BaseException:
                self._close()
                raise
        except BaseException:
            self._remove()
            raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._close()
        self._remove()

    def _refuse(self, path: str) -> None:
        if not os.path.lexists(path):
            raise NotFound(f"Nothing was merged: there is no {self._where}.")
        if os.path.realpath(path) == os.path.realpath(self._memory):
            raise Invalid(
                f"Nothing was merged: {self._where} is this memory itself. Give another copy of it."
            )
        if not os.path.isdir(os.path.join(path, "log")):
            raise NotFound(
                f"Nothing was merged: {self._where} is not a memory, as it has no log. "
                + (
                    f"It has one in it; give that: {os.path.join(self._where, NAME)}"
                    if is_memory(os.path.join(path, NAME))
                    else f"Give the folder of a copy, or a whole export. {_IMPORT}"
                )
            )

    def _wait_for_writers(self) -> None:
        """Share the locks of all machines that have a log there: a lock is a mark on an open file, and writes
        nothing."""
        names = [LOCK, *(f"{log_of(name)}/lock" for name in self.root.names(OTHERS) if is_name(name))]
        deadline = time.monotonic() + self._seconds
        for name in names:
            try:
                fd = self.root.open_file(name, os.O_RDONLY)
            except FileNotFoundError:
                continue
            self._locks.append(fd)
            try:
                while not self.root.disk.try_share(fd):
                    if time.monotonic() > deadline:
                        raise Busy(
                            f"Nothing was merged: another process has been writing to {self._where} for "
                            f"{self._seconds:g} seconds. Repeat the command when it is done."
                        )
                    time.sleep(_PAUSE)
            except OSError:
                continue  # a disk without locks
        if is_committed(self.root):
            raise Busy(
                f"Nothing was merged: a forget in {self._where} is not finished. Any command there finishes it: "
                f"looseleaf --memory {self._where} check"
            )

    def _close(self) -> None:
        for fd in self._locks:
            self.root.disk.close(fd)
        self._locks = []
        self.root.close()

    def _remove(self) -> None:
        if self._unpacked is not None:
            self._unpacked.cleanup()

    def _unpack(self, path: str) -> str:
        """Unpack an export of the whole memory; return its folder."""
        import tarfile
        import zlib
        from tempfile import TemporaryDirectory

        if not _is_packed(path):
            raise Refused(
                f"Nothing was merged: {self._where} is not an export of a whole memory (.tar.gz, or a folder), "
                f"and has no log. {_IMPORT}"
            )
        self._unpacked = TemporaryDirectory(prefix="looseleaf-")
        try:
            with tarfile.open(path) as tar:
                return _unpack(tar, self._unpacked.name, max(_HARMLESS, _SWELLS * os.path.getsize(path)))
        except (tarfile.TarError, OSError, EOFError, zlib.error) as error:
            raise Refused(
                f"Nothing was merged: {self._where} could not be unpacked ({error}). Get it again."
            ) from error


def _is_packed(path: str) -> bool:
    with open(path, "rb") as file:
        head = file.read(512)
    return head[:2] == b"\x1f\x8b" or head[257:262] == b"ustar"


def _unpack(tar: tarfile.TarFile, folder: str, limit: int) -> str:  # type: ignore[name-defined]  # noqa: F821
    """Unpack files and folders, and nothing that could lead elsewhere; return the top folder that has a log, or the
    folder that all was unpacked to."""
    import tarfile
    from shutil import copyfileobj

    for member in tar:
        parts = member.name.split("/")
        if member.name.startswith("/") or ".." in parts or not (member.isreg() or member.isdir()):
            raise tarfile.TarError(f"{member.name!r} leads out of it")
        limit -= member.size
        if limit < 0:
            raise tarfile.TarError("it unpacks to far more than its size")
        path = os.path.join(folder, *parts)
        os.makedirs(path if member.isdir() else os.path.dirname(path), mode=0o700, exist_ok=True)
        source = tar.extractfile(member) if member.isreg() else None
        if source is not None:
            with source, open(path, "xb") as target:
                copyfileobj(source, target)
            os.utime(path, (member.mtime, member.mtime))
        tar.members.clear()  # it would keep them all
    tops = [os.path.join(folder, name) for name in os.listdir(folder)]
    return next((top for top in tops if os.path.isdir(os.path.join(top, "log"))), folder)
