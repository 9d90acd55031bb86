"""Move a memory between a folder and a database: the same bytes, the same ids.

The source stays whole until the target is proven, byte by byte. What writes to it meanwhile waits, and is then told
where to go. A move that was killed can be repeated: a target that was not proven is not there, and one that was is
found to be the same.
"""

from __future__ import annotations

import os
import time
from contextlib import ExitStack
from hashlib import sha256
from io import BytesIO
from typing import TYPE_CHECKING

from looseleaf.base.errors import Displaced, Invalid, NotFound, Refused
from looseleaf.base.immutable import frozen
from looseleaf.base.paths import INCOMING, is_address
from looseleaf.memory import Memory
from looseleaf.pages.folder import is_memory
from looseleaf.store.root import MOVED
from looseleaf.transfer.export_folder import Copy, ExportTarget, export_whole

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Any, BinaryIO

    from looseleaf.store.postgres.arrival import Arrival
    from looseleaf.store.postgres.store import PostgresStore

    Progress = Callable[[int, int], None]


_LONGEST = 1000
"""Bytes of a path that an index of a database holds."""


@frozen
class Moved:
    """The result: where the memory was and is now, as people may see it, its files, their bytes, and what stayed."""

    source: str
    to: str
    files: int
    bytes: int
    left_out: tuple[str, ...]

    def to_dict(self) -> dict[str, Any]:
        return {
            "from": self.source,
            "to": self.to,
            "files": self.files,
            "bytes": self.bytes,
            "left_out": list(self.left_out),
        }


def move(source: str, target: str, progress: Progress | None = None) -> Moved:
    """Move a memory: from a folder to a database, or from a database to a folder."""
    if is_address(source) == is_address(target):
        raise Invalid(
            "Nothing was moved: give a folder and the address of a memory in a database, in the order from, to. An "
            "address is postgresql://host/database?namespace=NAME."
        )
    if is_address(target):
        return _to_database(source, target, progress)
    return _to_folder(source, target, progress)


# --- into a database ---------------------------------------------------------------------


def _to_database(source: str, target: str, progress: Progress | None) -> Moved:
    from looseleaf.pages.in_database import read_address
    from looseleaf.store.postgres.arrival import Arrival

    path = os.path.abspath(os.path.expanduser(source))
    if not is_memory(path):
        raise NotFound(f"Nothing was moved: there is no memory at {path}.")
    address = read_address(target)
    with Memory(path) as memory:
        store = memory.parts.files
        if (to := store.moved_to()) not in (None, address.shown):
            raise Refused(f"Nothing was moved: this memory has already moved to {to}. Move it from there.")
        if to is None:
            store.mend_ends()
        with ExitStack() as held:
            sink = _Sink(held.enter_context(Arrival(address, path, is_repeated=to is not None)))
            # All of this within the source's lock: who waits for it is told where to go.
            taken = export_whole(
                memory, sink, progress, at_end=lambda: _settle(sink, held, store, address.shown)
            )
        return Moved(path, address.shown, taken.files, taken.bytes, (*taken.left_out, *sink.left_out))


def _settle(sink: _Sink, held: ExitStack, store: object, to: str) -> None:
    sink.arrival.prove(sink.sums)
    held.close()
    store.leave(to)  # type: ignore[attr-defined]
    sink.arrival.open()


class _Sink:
    """A database as the target of copied files."""

    def __init__(self, arrival: Arrival) -> None:
        self.arrival = arrival
        self.sums: dict[str, bytes] = {}
        self.left_out: list[str] = []

    def begin(self) -> None:
        self.arrival.begin()
        self.sums, self.left_out = {}, []

    def folder(self, path: str, mtime: int) -> None:
        """A folder is there as soon as something is in it."""

    def file(self, path: str, size: int, mtime: int, stream: BinaryIO) -> None:
        if not _can_be_named(path):
            self.left_out.append(path)
            return
        data = stream.read()
        self.arrival.put(path, data)
        self.sums[path] = sha256(data).digest()

    def finish(self) -> None: ...

    def close(self) -> None: ...


def _can_be_named(path: str) -> bool:
    """True if a database can hold a file's path, and a folder can get it back: files that people put there too."""
    parts = path.split("/")
    return (
        path.isprintable()
        and len(path.encode("utf-8", "replace")) <= _LONGEST
        and not {"", ".", ".."} & {*parts}
    )


# --- into a folder -----------------------------------------------------------------------


def _to_folder(source: str, target: str, progress: Progress | None) -> Moved:
    path = os.path.abspath(os.path.expanduser(target))
    from looseleaf.pages.in_database import open_store, read_address
    from looseleaf.store.postgres.database import moved_sentence

    shown = read_address(source).shown
    try:
        opened = open_store(source)
    except Displaced as displaced:
        if displaced.args == Displaced(moved_sentence(path)).args and _left_for(path) == shown:
            _open_again(path)  # all that a move which was killed had not done
            return Moved(shown, path, 0, 0, ())
        raise
    with opened as store, store.lock():
        _refuse_while_imports_wait(store)
        files = ((name, data) for name, data in store.everything() if not name.startswith("views/"))
        if os.path.isdir(path) and is_memory(path):
            count, size = _compare(path, files)  # the one that it came from, or a repeated move
        else:
            with ExportTarget(path, None) as new:
                new.refuse_nesting()
                count, size = _write(new.draft, files, progress)
                _close(new.draft, shown)
        store.leave(path)
        if _left_for(path) == shown:
            _open_again(path)
    return Moved(shown, path, count, size, ())


def _left_for(path: str) -> str | None:
    """Return where a folder says that its memory is."""
    try:
        with open(os.path.join(path, MOVED), encoding="utf-8", errors="replace") as file:
            return file.read().strip() or None
    except OSError:
        return None


def _close(path: str, to: str) -> None:
    """Have a folder say that its memory is elsewhere: until that is closed, everybody goes on there."""
    os.makedirs(os.path.join(path, os.path.dirname(MOVED)), mode=0o700, exist_ok=True)
    with open(os.path.join(path, MOVED), "w", encoding="utf-8") as file:
        file.write(f"{to}\n")
        file.flush()
        os.fsync(file.fileno())


def _open_again(path: str) -> None:
    os.unlink(os.path.join(path, MOVED))
    fd = os.open(os.path.join(path, os.path.dirname(MOVED)), os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(fd)
    finally:
        os.close(fd)


def _refuse_while_imports_wait(store: PostgresStore) -> None:
    if store.folders(INCOMING):
        raise Refused(
            "Nothing was moved: an import of this memory waits for a worker. Have one do it, or cancel it; then repeat "
            "the command."
        )


def _write(draft: str, files: Iterator[tuple[str, bytes]], progress: Progress | None) -> tuple[int, int]:
    """Write the files, read them back, and refuse what differs."""
    copy = Copy(draft)
    copy.begin()
    sums: dict[str, str] = {}
    size = 0
    for name, data in files:
        if not _can_be_named(name):
            raise Refused(
                f"Nothing was moved: the database has a file named {name!r:.80}, which no folder can hold."
            )
        copy.file(name, len(data), int(time.time()), BytesIO(data))
        sums[name] = sha256(data).hexdigest()
        size += len(data)
        if progress is not None:
            progress(size, size)
    copy.finish()
    for name, digest in sums.items():
        with open(os.path.join(draft, name), "rb") as file:
            if sha256(file.read()).hexdigest() != digest:
                raise Refused(
                    f"Nothing was moved: {name} was not written as it is. Check the disk, then repeat it."
                )
    return len(sums), size


def _compare(path: str, files: Iterator[tuple[str, bytes]]) -> tuple[int, int]:
    names: set[str] = set()
    size = 0
    for name, data in files:
        try:
            with open(os.path.join(path, name), "rb") as file:
                is_same = file.read() == data
        except OSError:
            is_same = False
        if not is_same:
            raise _another(path)
        names.add(name)
        size += len(data)
    for folder, folders, found in os.walk(path):
        if folder == path:
            folders[:] = [each for each in folders if each not in ("log", "views")]
        if any(os.path.relpath(os.path.join(folder, each), path) not in names for each in found):
            raise _another(path)
    return len(names), size


def _another(path: str) -> Refused:
    return Refused(
        f"Nothing was moved: {path} is already another memory, or has gone on since. Choose a new folder."
    )
