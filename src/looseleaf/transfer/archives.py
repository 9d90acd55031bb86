"""The kinds of source: file, folder, zip and tar. Each lists its files by name, and opens one at a time."""

from __future__ import annotations

import os

from looseleaf.base.errors import Invalid, NotFound, Refused

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Any, BinaryIO

MOST_FILES = 200_000
"""The most files of a source: more than any vault of notes, and few enough to keep their names in memory."""

LARGEST = 16 * 1024**3
"""The most bytes of one file, and of a whole unpacked tar."""

SWELLS = 200
"""The most times its packed size that a file may have: text packs to a tenth, a bomb to a thousandth."""

HARMLESS = 64 * 1024**2
"""Bytes up to which the packed size of a file does not matter."""

_DEEPEST = 32

_FAULTS = (OSError, EOFError, ValueError, RuntimeError, OverflowError)
_UNPACKERS = (("lzma", "LZMAError"), ("compression.zstd", "ZstdError"))
"""Optional modules that a zip may need, each with its error for broken data."""


class BrokenArchive(Refused):
    """A file of a source cannot be read (to its end). Others may be."""


def unpacking_errors() -> tuple[type[Exception], ...]:
    import sys
    import zlib
    from tarfile import TarError
    from zipfile import BadZipFile

    loaded = ((sys.modules.get(module), name) for module, name in _UNPACKERS)
    others = (getattr(module, name) for module, name in loaded if hasattr(module, name))
    return (*_FAULTS, zlib.error, BadZipFile, TarError, *others)


def reason_of(error: BaseException) -> str:
    return getattr(error, "strerror", None) or str(error) or type(error).__name__


def open_pack(path: str, note: Callable[[str], None]) -> tuple[str, FileSource | ZipSource | TarSource]:
    try:
        if os.path.isdir(path):
            return "folder", FileSource(dict(_walk_folder(path, note)), os.O_NOFOLLOW)
        stream = _open_regular(path)
    except (OSError, ValueError) as error:
        raise _cannot_read(path, error) from error
    try:
        head = stream.read(512)
        stream.seek(0)
        if head[:4] in (b"PK\x03\x04", b"PK\x05\x06"):
            return "zip", ZipSource(stream, path, note)
        if head[:2] == b"\x1f\x8b" or head[257:262] == b"ustar":
            return "tar", TarSource(stream, path, note, is_packed=head[:2] == b"\x1f\x8b")
        if head[:3] == b"BZh" or head[:6] in (b"\xfd7zXZ\0", b"7z\xbc\xaf'\x1c") or head[:4] == b"Rar!":
            raise Invalid(
                f"Nothing was imported: the packing of {path} is not supported. Unpack it, and import the folder."
            )
    except BaseException as error:
        stream.close()
        if isinstance(error, OSError):
            raise _cannot_read(path, error) from error
        raise
    stream.close()
    return "file", FileSource({os.path.basename(path): path})


def _cannot_read(path: str, error: BaseException) -> Refused:
    kind = NotFound if isinstance(error, FileNotFoundError) else Refused
    return kind(
        f"Nothing was imported: {path} cannot be read ({reason_of(error)}). Give a readable file or folder."
    )


def _open_regular(path: str, flags: int = 0) -> BinaryIO:
    """Open a regular file and nothing else: a pipe may never answer, and a device never end."""
    flags |= os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC
    stream = os.fdopen(os.open(path, flags), "rb", buffering=0)
    if os.fstat(stream.fileno()).st_mode & 0o170000 != 0o100000:
        stream.close()
        raise ValueError("it is not a file")
    return stream


def _name_fault(name: str) -> str | None:
    """Return why a name from an archive is refused, or None."""
    parts = name.split("/")
    if not name:
        return "is empty"
    if name.startswith("/") or (len(name) > 1 and name[1] == ":"):
        return "is absolute"
    if ".." in parts:
        return "leads out of the archive"
    if len(parts) > _DEEPEST or len(name) > 1000:
        return "is too long"
    if not name.isprintable():
        return "has invisible characters"
    return None


def _quote_name(name: str) -> str:
    return repr(name if len(name) <= 120 else f"{name[:120]}…")


def _too_many_files(path: str) -> Refused:
    return Refused(f"Nothing was imported: {path} has more than {MOST_FILES:,} files. Import a part of it.")


def _damaged_archive(path: str, error: BaseException) -> Refused:
    return Refused(
        f"Nothing was imported: {path} is a broken archive ({reason_of(error)}). Get it again, or unpack "
        "it and import the folder."
    )


def _swells_too_far(path: str) -> Refused:
    return Refused(
        f"Nothing was imported: {path} unpacks to far more than its size, like an archive bomb. If you trust it, "
        "unpack it yourself, and import the folder."
    )


class Pack:
    """The files of a source by name; each kind keeps its own value per name."""

    def __init__(self) -> None:
        self.files: dict[str, Any] = {}

    def add(self, name: str, what: Any, path: str, note: Callable[[str], None]) -> None:
        """Add a file of an archive, if its name is allowed and new."""
        name = "/".join(part for part in name.replace("\\", "/").split("/") if part != ".")
        fault = _name_fault(name) if name not in self.files else "occurs twice; the first file counts"
        if fault is not None:
            note(f"{_quote_name(name)} was passed over: the name {fault}.")
            return
        if len(self.files) >= MOST_FILES:
            raise _too_many_files(path)
        self.files[name] = what


class FileSource(Pack):
    """A file, or those of a folder: there, links are not followed, neither to files nor to folders."""

    def __init__(self, files: dict[str, str], flags: int = 0) -> None:
        self.files, self._flags = files, flags

    def close(self) -> None: ...

    def modified(self, name: str) -> float | None:
        try:
            return os.stat(self.files[name]).st_mtime
        except OSError:  # deleted meanwhile
            return None

    def open(self, name: str) -> BinaryIO:
        try:
            return _open_regular(self.files[name], self._flags)
        except (OSError, ValueError) as error:
            raise BrokenArchive(f"{name} was not read: {reason_of(error)}.") from error


def _walk_folder(top: str, note: Callable[[str], None]) -> Iterator[tuple[str, str]]:
    count = 0
    waiting = [("", 0)]
    while waiting:
        folder, depth = waiting.pop()
        below: list[tuple[str, int]] = []
        for entry in _list_entries(os.path.join(top, folder), folder, note):
            name = f"{folder}/{entry.name}" if folder else entry.name
            is_folder = entry.is_dir(follow_symlinks=False)
            if is_folder and depth < _DEEPEST:
                below.append((name, depth + 1))
            elif entry.is_file(follow_symlinks=False):
                count += 1
                if count > MOST_FILES:
                    raise _too_many_files(top)
                yield name, entry.path
            else:
                why = "too deep" if is_folder else "a link" if entry.is_symlink() else "not a file"
                note(f"{_quote_name(name)} was passed over: it is {why}.")
        waiting += below[::-1]


def _list_entries(path: str, name: str, note: Callable[[str], None]) -> list[os.DirEntry[str]]:
    found: list[os.DirEntry[str]] = []
    try:
        with os.scandir(path) as entries:
            for entry in entries:
                found.append(entry)
                if len(found) > MOST_FILES:
                    raise _too_many_files(path)
    except OSError as error:
        note(f"{_quote_name(name or path)} was passed over: {reason_of(error)}.")
    return sorted(found, key=lambda entry: entry.name)


class ZipSource(Pack):
    def __init__(self, stream: BinaryIO, path: str, note: Callable[[str], None]) -> None:
        from zipfile import ZipFile

        super().__init__()
        self._path = path
        if _directory_size(stream) > MOST_FILES * 400:
            raise _too_many_files(path)
        try:
            self._zip = ZipFile(stream)
        except unpacking_errors() as error:
            raise _damaged_archive(path, error) from error
        self._stream = stream
        most, total = min(LARGEST, HARMLESS + SWELLS * os.fstat(stream.fileno()).st_size), 0
        for info in self._zip.infolist():
            if info.filename.endswith("/"):  # `is_dir` fails on an empty name
                continue
            fault = _zip_fault(info)
            if fault is not None:
                note(f"{_quote_name(info.filename)} was passed over: it {fault}.")
                continue
            total += info.file_size
            if total > most:  # also where files share their bytes
                self._zip.close()
                raise _swells_too_far(path)
            self.add(info.filename, info, path, note)

    def close(self) -> None:
        self._zip.close()
        self._stream.close()

    def modified(self, name: str) -> float | None:
        from calendar import timegm

        try:
            return float(timegm((*self.files[name].date_time, 0, 0, 0)))
        except (ValueError, OverflowError):
            return None

    def open(self, name: str) -> BinaryIO:
        try:
            found: Any = self._zip.open(self.files[name])
        except unpacking_errors() as error:
            raise BrokenArchive(
                f"{os.path.basename(self._path)}: {name} was not read: {reason_of(error)}."
            ) from error
        return found  # type: ignore[no-any-return]


def _zip_fault(info: Any) -> str | None:
    kind = (info.external_attr >> 16) & 0o170000
    if kind not in (0, 0o100000):
        return "is a link" if kind == 0o120000 else "is not a file"
    if info.flag_bits & 1:
        return "is encrypted; unpack it with its password, and import the folder"
    if info.file_size > LARGEST or info.file_size > HARMLESS + SWELLS * info.compress_size:
        return "unpacks to far more than its size"
    return None


def _directory_size(stream: BinaryIO) -> int:
    """Return the bytes of a zip's list of files, since reading it takes memory in proportion. `zipfile` looks in the
    same places."""
    size = stream.seek(0, os.SEEK_END)
    begin = stream.seek(max(0, size - 65_557))
    tail = stream.read(size - begin)
    at = len(tail) - 22
    if tail[at : at + 4] != b"PK\x05\x06" or tail[-2:] != b"\0\0":
        at = tail.rfind(b"PK\x05\x06")
    found = int.from_bytes(tail[at + 12 : at + 16], "little") if at >= 0 else 0
    if at >= 20 and tail[at - 20 : at - 16] == b"PK\x06\x07":
        stream.seek(max(0, begin + at - 20 - 56))
        long = stream.read(56)
        found = max(found if found != 0xFFFFFFFF else 0, int.from_bytes(long[40:48], "little"))
    stream.seek(0)
    return found if found <= size else 0  # `zipfile` reports an impossible size


class TarSource(Pack):
    """A tar. Its list is read to the end once, and only the place of each file is kept."""

    def __init__(self, stream: BinaryIO, path: str, note: Callable[[str], None], *, is_packed: bool) -> None:
        import tarfile

        super().__init__()
        self._stream = stream
        below: Any = BoundedStream(stream, path, None)
        if is_packed:
            from gzip import GzipFile

            most = min(LARGEST, HARMLESS + SWELLS * os.fstat(stream.fileno()).st_size)
            below = BoundedStream(GzipFile(fileobj=stream), path, most)
        try:
            self._tar = tarfile.TarFile(fileobj=below)
            self._read_list(path, note)
        except unpacking_errors() as error:
            raise _damaged_archive(path, error) from error

    def _read_list(self, path: str, note: Callable[[str], None]) -> None:
        count = 0
        while (info := self._tar.next()) is not None:
            self._tar.members.clear()  # type: ignore[attr-defined]  # it would keep them all
            count += 1
            if count > 2 * MOST_FILES:
                raise _too_many_files(path)
            if info.isdir():
                continue
            if info.isreg() and not info.issparse() and info.size <= LARGEST:
                self.add(info.name, (info.offset_data, info.size, info.mtime), path, note)
            else:
                is_link, is_file = info.issym() or info.islnk(), info.isreg() and not info.issparse()
                why = "too large" if is_file else "a link" if is_link else "not a file"
                note(f"{_quote_name(info.name)} was passed over: it is {why}.")

    def close(self) -> None:
        self._tar.close()
        self._stream.close()

    def modified(self, name: str) -> float | None:
        return float(self.files[name][2])

    def open(self, name: str) -> BinaryIO:
        from tarfile import TarInfo

        info = TarInfo(name)
        info.offset_data, info.size, _ = self.files[name]
        found: Any = self._tar.extractfile(info)
        return found  # type: ignore[no-any-return]


class BoundedStream:
    """The stream below a tar: it limits the size of one read, and of all that is unpacked."""

    _HEADER = 16 * 1024 * 1024

    def __init__(self, below: Any, path: str, most: int | None) -> None:
        self._below = below
        self._path = path
        self._most = most

    def read(self, size: int) -> bytes:
        if size > self._HEADER:
            raise ValueError("a name in it is longer than 16 MB")
        data: bytes = self._below.read(size)
        self._check_size(self.tell())
        return data

    def _check_size(self, at: int) -> None:
        if self._most is not None and at > self._most:
            raise _swells_too_far(self._path)

    def tell(self) -> int:
        return int(self._below.tell())

    def seek(self, at: int) -> int:
        self._check_size(at)
        return int(self._below.seek(at))
