"""Export of the whole folder, as one file or as a copy: all that is the truth, and nothing that can be rebuilt.

A memory in use changes while it is copied. Files that are written once (sealed segments, bodies, entries) are most of
it, and are copied without the lock; the rest under the lock, so that writers wait as little as possible. People save
pages without a lock: so everything is checked again at the end, and if anything changed, the copy starts again.
"""

from __future__ import annotations

import os
import re
import shutil
import stat
import time
from contextlib import ExitStack, suppress

from looseleaf.base.errors import Invalid, NotFound, Refused, Unwritten
from looseleaf.base.ids import is_id, new_id, time_of
from looseleaf.base.immutable import frozen
from looseleaf.base.paths import is_address
from looseleaf.pages.folder import above, is_memory, open_store
from looseleaf.store import records
from looseleaf.store.disk import LOCK, TURN, this_disk
from looseleaf.store.files import locate_in
from looseleaf.store.machines import as_own
from looseleaf.store.root import FORGETTER, LATE, MOVED, STAGED, Root, unreadable, unwritten
from looseleaf.store.share import WRITER
from looseleaf.store.streams import segment_number

TYPE_CHECKING = False
if TYPE_CHECKING:
    import gzip
    from collections.abc import Callable, Iterator
    from types import TracebackType
    from typing import BinaryIO, Protocol

    from looseleaf.memory import Memory

    Mark = tuple[int, ...]
else:
    Protocol = object

STALE_SECONDS = 86_400.0
"""The age after which no export still writes."""

_DRAFT = re.compile(r"\.looseleaf-([0-9A-Z]{26})(?:-(\d{1,10})@(.+))?\.part")


class ExportTarget:
    """A new file or folder that appears whole, or not at all. `with New(path, memory) as new:` write to `new.draft`,
    which becomes `path` at the end of the block; if the block fails, it is removed. The draft lies beside the path, so
    that one rename is enough."""

    def __init__(self, path: str, memory: str | None) -> None:
        """`memory`: the folder that is exported; None: it is in a database."""
        self.path = os.path.abspath(path)
        self._folder, self._name = os.path.split(self.path)
        if not path or not self._name:
            raise Invalid("Nothing was exported: the path is empty. Name a new file or folder.")
        if not os.path.isdir(self._folder):
            raise NotFound(
                f"Nothing was exported: there is no folder {self._folder}. Make it first, or choose another place."
            )
        real = os.path.realpath(self._folder)
        if memory is not None and os.path.realpath(memory) in (real, *above(real)):
            raise Invalid(
                f"Nothing was exported: {self.path} lies inside the memory, and the next export would include it. "
                "Choose a place outside of it."
            )
        if os.path.lexists(self.path):
            raise Refused(
                f"Nothing was exported: {self.path} already exists, and is not overwritten. "
                "Choose another name, or move it away first."
            )
        self._real = real
        self.removed = _remove_stale(self._folder)
        """Drafts of killed exports, removed now."""
        self.draft = os.path.join(self._folder, f".looseleaf-{new_id()}-{os.getpid()}@{_host_name()}.part")

    def refuse_nesting(self) -> None:
        """Refuse a target inside a memory: an exported folder is a memory, and memories do not nest."""
        around = next((folder for folder in (self._real, *above(self._real)) if is_memory(folder)), None)
        if around is not None:
            raise Invalid(
                f"Nothing was exported: {self.path} would lie inside the memory {around}, and memories do not nest. "
                "Choose a place outside of it."
            )

    def __enter__(self) -> ExportTarget:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        try:
            if error is None:
                disk = this_disk()
                folder = disk.open_root(self._folder)
                try:
                    disk.rename_new(folder, os.path.basename(self.draft), folder, self._name)
                    disk.sync(folder)
                finally:
                    disk.close(folder)
        except FileExistsError:
            raise Refused(
                f"Nothing was exported: another program made {self.path} meanwhile. Choose another name."
            ) from None
        except OSError as failed:
            raise unwritten(self.path, failed) from failed
        finally:
            _remove_draft(self.draft)
        if isinstance(error, OSError):
            raise unwritten(self.path, error) from error


def private(path: str) -> int:
    """Open a new file that only its owner may read."""
    return os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)


def _remove_draft(draft: str) -> None:
    if os.path.isdir(draft):
        shutil.rmtree(draft, ignore_errors=True)
    elif os.path.lexists(draft):
        os.unlink(draft)


def _host_name() -> str:
    return re.sub(r"[^\w.-]", "_", this_disk().host())[:100]


def _remove_stale(folder: str) -> list[str]:
    """Remove drafts of killed exports by this user, and return them."""
    try:
        names = os.listdir(folder)
    except OSError:
        return []  # a folder may be writable without being listable
    removed: list[str] = []
    for path in (os.path.join(folder, name) for name in names if _is_stale(name)):
        try:
            if os.path.islink(path) or os.lstat(path).st_uid != os.geteuid():
                continue
            _remove_draft(path)
        except OSError:
            continue
        removed += [path] if not os.path.lexists(path) else []
    return removed


def _is_stale(name: str) -> bool:
    """True for a draft that no process writes: its process is dead, or it is too old."""
    draft = _DRAFT.fullmatch(name)
    if draft is None or not is_id(draft[1]):
        return False
    if time.time() - time_of(draft[1]) > STALE_SECONDS:
        return True
    return draft[3] == _host_name() and not this_disk().is_alive(int(draft[2]))


NOT_TAKEN = frozenset({"views", LOCK, TURN, WRITER, STAGED, LATE, MOVED, FORGETTER})
"""Paths that the next command rebuilds, or that only matter while this machine uses the folder."""

TRIES = 4
"""The most attempts. During the last, writers wait all the time; then only people can change something."""

_CHUNK = 1 << 20


class Sink(Protocol):
    """A target of copied files."""

    def begin(self) -> None:
        """Start empty: earlier copies do not count."""

    def folder(self, path: str, mtime: int) -> None: ...
    def file(self, path: str, size: int, mtime: int, stream: BinaryIO) -> None: ...
    def finish(self) -> None: ...
    def close(self) -> None:
        """Close all handles, finished or not."""


@frozen
class Whole:
    """The result: the number of files, their bytes, and the paths left out."""

    files: int
    bytes: int
    left_out: tuple[str, ...]


@frozen
class _Entry:
    """A file or folder of the memory; `mark` changes whenever its bytes may have."""

    path: str
    is_folder: bool
    size: int
    mtime: int
    mark: Mark


class _Changed(Exception):
    """Something changed during the copy."""


COPY = "views/copy.json"
"""Where the last whole export is, and when it was made: `doctor` says so. Only a cache."""


def note_copy(memory: Memory, path: str) -> None:
    try:
        told = {"schema": "copy.v1", "ts": time.time(), "path": os.path.abspath(path)}
        memory.parts.context.store.view(COPY, records.encode(told))
    except Refused:
        pass  # the export was made


def last_copy(memory: str) -> tuple[str, float] | None:
    """Return the last whole export of a memory on this machine, if it is still there, and when it was made."""
    import json

    try:
        if is_address(memory):
            store = open_store(memory, reads_only=True)
            try:
                found = store.get(COPY)
            finally:
                store.close()
            told = json.loads(found.data if found is not None else b"")
        else:
            with open(locate_in(memory, COPY), encoding="utf-8") as file:
                told = json.load(file)
        path, ts = str(told["path"]), float(told["ts"])
    except (OSError, ValueError, KeyError, TypeError):
        return None
    return (path, ts) if os.path.lexists(path) else None


def export_whole(
    memory: Memory,
    sink: Sink,
    progress: Callable[[int, int], None] | None = None,
    at_end: Callable[[], None] | None = None,
) -> Whole:
    """Copy a whole memory, as it was at one moment. `at_end` is done while nothing can write to it."""
    if memory.parts.store.tables is not None:
        return _copy_rows(memory, sink, progress, at_end)
    root = Root(this_disk(), memory.path)
    try:
        for left in reversed(range(TRIES)):
            sink.begin()
            try:
                with ExitStack() as held:
                    if left == 0:
                        held.enter_context(memory.parts.context.store.lock())
                    taken = _copy_once(memory, root, sink, progress, at_end)
            except _Changed:
                continue
            sink.finish()
            return taken
    finally:
        sink.close()
        root.close()
    raise Refused(
        f"Nothing was exported: the memory changed during all {TRIES} attempts to copy it. "
        "Try again when nothing writes to it."
    )


def _copy_rows(
    memory: Memory,
    sink: Sink,
    progress: Callable[[int, int], None] | None,
    at_end: Callable[[], None] | None,
) -> Whole:
    """Copy a memory from its database: the files that its folder would have, as they are at one moment."""
    from io import BytesIO

    from looseleaf.index.opening import all_files

    files = size = 0
    sink.begin()
    try:
        for path, data in all_files(memory.parts.store):
            if path.split("/")[0] not in NOT_TAKEN:
                sink.file(path, len(data), int(time.time()), BytesIO(data))
                files, size = files + 1, size + len(data)
                if progress is not None:
                    progress(size, 0)
        if at_end is not None:
            at_end()
        sink.finish()
    finally:
        sink.close()
    return Whole(files, size, ())


def _copy_once(
    memory: Memory,
    root: Root,
    sink: Sink,
    progress: Callable[[int, int], None] | None,
    at_end: Callable[[], None] | None,
) -> Whole:
    found = list(_walk(root, []))
    total = sum(each.size for each in found)
    taken: dict[str, Mark] = {}
    strangers: list[str] = []
    left_out: list[str] = []
    files = size = 0

    def copy(each: _Entry) -> None:
        nonlocal files, size
        taken[each.path] = each.mark
        if each.is_folder:
            sink.folder(each.path, each.mtime)
            return
        try:
            fd = root.open_file(each.path, os.O_RDONLY)
        except FileNotFoundError:
            raise _Changed from None
        except (Refused, OSError) as error:
            if each.path.startswith("log/"):  # without it the copy would not be a memory
                raise unreadable(each.path, error) if isinstance(error, OSError) else error from error
            left_out.append(each.path)
            return
        with os.fdopen(fd, "rb") as stream:
            sink.file(each.path, each.size, each.mtime, stream)
        files += 1
        size += each.size
        if progress is not None:
            progress(size, max(size, total))

    for each in found:
        if each.is_folder or _is_written_once(each.path):
            copy(each)
    memory.pages.absorb()  # waits for running saves, while no others wait for us
    with ExitStack() as held:
        try:
            held.enter_context(memory.parts.context.store.lock())
            memory.parts.context.store.recover()
        except Unwritten:
            pass  # nothing writes to a read-only disk; if it does, the check below sees it
        memory.pages.absorb()
        now = list(_walk(root, strangers))
        marks = {each.path: each.mark for each in now}
        if any(marks.get(path) != mark for path, mark in taken.items()):
            raise _Changed
        for each in now:
            if each.path not in taken:
                copy(each)
        if {each.path: each.mark for each in _walk(root, [])} != marks:
            raise _Changed
        if at_end is not None:
            at_end()
    return Whole(files, size, (*strangers, *left_out))


def _walk(root: Root, strangers: list[str]) -> Iterator[_Entry]:
    """Yield all entries by name: each folder ("" is the memory itself), its files, then the folders in it. Links, pipes
    and devices go to `strangers`: they lead elsewhere."""
    waiting = [""]
    while waiting:
        path = waiting.pop()
        below: list[str] = []
        try:
            with root.folder(path) as folder:
                yield _Entry(path, True, 0, int(root.disk.fstat(folder).st_mtime), (0,))
                for name in sorted(root.disk.names(folder)):
                    each = f"{path}/{name}" if path else name
                    if as_own(each) in NOT_TAKEN:
                        continue
                    try:
                        seen = root.disk.stat(folder, name)
                    except FileNotFoundError:
                        continue
                    if stat.S_ISREG(seen.st_mode):
                        mark = (seen.st_ino, seen.st_size, seen.st_mtime_ns, seen.st_ctime_ns)
                        yield _Entry(each, False, seen.st_size, int(seen.st_mtime), mark)
                    elif stat.S_ISDIR(seen.st_mode):
                        below.append(each)
                    else:
                        strangers.append(each)
        except FileNotFoundError:
            pass  # deleted meanwhile: the next walk finds it missing
        except OSError as error:
            raise unreadable(path or root.path, error) from error
        waiting += reversed(below)


def _is_written_once(path: str) -> bool:
    """True for a file that is written once, and changes only by `forget`."""
    path = as_own(path)
    is_segment = path.startswith("log/") and segment_number(path.rpartition("/")[2]) is not None
    return is_segment or path.startswith(("log/bodies/", "log/entries/"))


class TarWriter:
    """A .tar.gz. The same memory gives the same bytes: it has no owner, no mode and no time of the export."""

    def __init__(self, file: BinaryIO, top: str) -> None:
        self._file = file
        self._top = top
        self._packed: gzip.GzipFile | None = None

    def begin(self) -> None:
        import gzip
        import tarfile

        self.close()
        self._file.seek(0)
        self._file.truncate()
        self._packed = gzip.GzipFile(filename="", mode="wb", fileobj=self._file, mtime=0, compresslevel=6)
        self._tar = tarfile.open(fileobj=self._packed, mode="w", format=tarfile.PAX_FORMAT)  # noqa: SIM115
        self._info: type[tarfile.TarInfo] = tarfile.TarInfo
        self._kind = tarfile.DIRTYPE

    def folder(self, path: str, mtime: int) -> None:
        info = self._info(f"{self._top}/{path}".rstrip("/"))
        info.type, info.mode, info.mtime = self._kind, 0o700, mtime
        self._tar.addfile(info)

    def file(self, path: str, size: int, mtime: int, stream: BinaryIO) -> None:
        info = self._info(f"{self._top}/{path}")
        info.size, info.mode, info.mtime = size, 0o600, mtime
        self._tar.addfile(info, _FixedLength(stream))  # type: ignore[arg-type]
        self._tar.members.clear()  # type: ignore[attr-defined]  # it would keep them all

    def finish(self) -> None:
        self._tar.close()
        if self._packed is not None:
            self._packed.close()

    def close(self) -> None:
        """Close it now: an open one would write its end when it is garbage-collected."""
        packed, self._packed = self._packed, None
        with suppress(OSError):
            if packed is not None:
                packed.close()


class _FixedLength:
    """A stream with as many bytes as its file had: one that was cut meanwhile is filled up with zeros, and the check at
    the end starts the copy again."""

    def __init__(self, stream: BinaryIO) -> None:
        self._stream = stream

    def read(self, size: int) -> bytes:
        return self._stream.read(size).ljust(size, b"\0")


class Copy:
    """A folder with the same files, each private to its owner."""

    def __init__(self, path: str) -> None:
        self._path = path

    def begin(self) -> None:
        shutil.rmtree(self._path, ignore_errors=True)
        os.mkdir(self._path, 0o700)

    def folder(self, path: str, mtime: int) -> None:
        os.makedirs(os.path.join(self._path, path), mode=0o700, exist_ok=True)

    def file(self, path: str, size: int, mtime: int, stream: BinaryIO) -> None:
        where = os.path.join(self._path, path)
        os.makedirs(os.path.dirname(where), mode=0o700, exist_ok=True)
        with os.fdopen(private(where), "wb") as file:
            shutil.copyfileobj(stream, file, _CHUNK)
        os.utime(where, (mtime, mtime))

    def close(self) -> None: ...

    def finish(self) -> None:
        os.sync()
