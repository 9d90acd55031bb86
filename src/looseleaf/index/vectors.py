"""Vectors of texts on disk, searched by nearness: a view, rebuilt where it is lost or damaged.

Three files, in which row n belongs together: `rows` (float32), `scan` (the same rows in int8, a quarter of the bytes)
and `marks` (the hash of the text, and the rounding error of its int8 row). Each begins with the same header, so that
files of different models, sizes or makings are never read together.

A mark is written after its row is on disk, so a torn end is rows without marks, which the next rows overwrite; hash 0
marks a free row. No file is ever cut: another process may have it mapped. Readers take no lock. A row that is not of
length 1, or does not match its int8 row, is damaged: it counts as missing, and is overwritten.
"""

from __future__ import annotations

import io
import os
import re
from _thread import allocate_lock
from collections import namedtuple
from contextlib import contextmanager
from functools import partial
from stat import S_ISDIR, S_ISLNK

from looseleaf.base.errors import Busy, Refused, Unwritten
from looseleaf.base.values import sha256
from looseleaf.index.nearest import MARK, Table, check_query, check_rows, nearest, nearest_of, quantize

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator

    from looseleaf.index.nearest import Matrix

_MAGIC = b"looseleaf vectors 1\n"
_HEADER = 96
_HEADER_SAYS = len(_MAGIC) + 32 + 4  # version, model and size; then the making
_MARK_BYTES = 16
_FILES = ("rows", "scan", "marks")

_LOCK_SECONDS = 60.0
_OFF = 1e-3  # more than any rounding error of a length
_FLAGS = os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NONBLOCK

_Open = namedtuple("_Open", "state making count dimensions rows scan marks maps")


class FileVectors:
    """`Vectors` in their own folder below `folder`. Safe for threads and processes.

    From `inside` (`folder`, or one above it) downwards, no folder may be a link: it could lead anywhere."""

    def __init__(
        self, folder: str, name: str, dimensions: int | None = None, inside: str | None = None
    ) -> None:
        self.name, self.path = name, os.path.join(folder, folder_name(name))
        self._folders = [self.path]
        while len(self._folders[0]) > len(inside or folder):
            self._folders.insert(0, os.path.dirname(self._folders[0]))
        self._begin = _MAGIC + bytes.fromhex(sha256(name.encode()))
        self._asked = dimensions
        self._threads = allocate_lock()
        self._opened: _Open | None = None

    @property
    def dimensions(self) -> int | None:
        """The numbers in a row; None while nothing is kept."""
        opened = self._current()
        return opened.dimensions if opened else self._asked

    @property
    def making(self) -> str:
        """The id of these files, which changes when they are made again; "" if there are none."""
        opened = self._current()
        return opened.making if opened else ""

    def __len__(self) -> int:
        return len(self.hashes())

    def hashes(self) -> list[int]:
        opened = self._current()
        kept: list[int] = opened.marks["hash"][opened.marks["hash"] != 0].tolist() if opened else []
        return kept

    def missing(self, hashes: Iterable[int]) -> list[int]:
        """Return those without a vector, each once, in their order."""
        asked = list(dict.fromkeys(hashes))
        opened = self._current()
        if opened is None:
            return asked
        places, found = _find_rows(opened, asked)
        kept = set(found[_are_sound(opened, places)].tolist())
        return [each for each in asked if each not in kept]

    def cosines(self, query: Matrix, hashes: Collection[int]) -> dict[int, float]:
        """Return the cosine of each of these texts that has a vector."""
        return dict(self.search(query, len(hashes), hashes))

    def search(
        self, query: Matrix, top: int, among: Collection[int] | None = None
    ) -> list[tuple[int, float]]:
        """Return the nearest texts by hash, with their cosines, nearest first. `among`: search only these."""
        opened = self._current()
        if opened is None or opened.count == 0 or top < 1:
            return []
        query = check_query(query, self.name, opened.dimensions, self.path)
        table = Table(opened.rows, opened.scan, opened.marks, partial(_release_rows, opened))
        if among is None:
            places, scores = nearest(table, query, top)
        else:
            places, scores = nearest_of(table, query, top, _find_rows(opened, among)[0])
        pairs = zip(opened.marks["hash"][places].tolist(), scores.tolist(), strict=True)
        return [(each, score) for each, score in pairs if each]  # 0: forgotten meanwhile

    def add(self, hashes: Collection[int], matrix: Matrix) -> int:
        """Keep one row for each hash; a hash that has one keeps it. Return how many were new."""
        import numpy

        asked = numpy.fromiter(hashes, dtype=numpy.int64, count=len(hashes))
        matrix, fault = check_rows(matrix, len(asked))
        if fault:
            raise Refused(f"The embedder {self.name} {fault}. Fix the embedder.")
        if not asked.all():
            raise ValueError("0 is the hash of a free row; text_hash() never gives it")
        if not len(asked):
            return 0
        with self._lock_files():
            opened = self._map_files() or self._create_files(matrix.shape[1])
            if opened.dimensions != matrix.shape[1]:
                raise Refused(
                    f"Vectors of {self.name} have {opened.dimensions} numbers, and the new ones {matrix.shape[1]}. "
                    f"Give the other model another name, or delete {self.path}."
                )
            once = numpy.sort(numpy.unique(asked, return_index=True)[1])
            there, found = _find_rows(opened, asked)
            sound = _are_sound(opened, there)
            new = once[~numpy.isin(asked[once], found[sound])]
            free = numpy.concatenate([there[~sound], numpy.flatnonzero(opened.marks["hash"] == 0)])
            behind = numpy.arange(opened.count, opened.count + len(new))
            places = numpy.concatenate([free, behind])[: len(new)]
            rows = matrix[new]
            scan, marks = quantize(rows)
            marks["hash"] = asked[new]
            self._write_rows(places, (rows, scan, marks))
        return len(new)

    def forget(self, hashes: Collection[int]) -> int:
        """Overwrite their rows, so that nothing of a forgotten text stays. Return how many there were."""
        import numpy

        with self._lock_files():
            opened = self._map_files()
            if opened is None:
                return 0
            places = _find_rows(opened, hashes)[0]
            blank = tuple(
                numpy.zeros((len(places), *array.shape[1:]), dtype=array.dtype)
                for array in (opened.rows, opened.scan, opened.marks)
            )
            self._write_rows(places, blank)
        return len(places)

    def _write_rows(self, places: Matrix, arrays: tuple[Matrix, ...]) -> None:
        """Write rows, sync them, then write their marks; blank marks go first. Adjacent places are written at once."""
        import numpy

        values = dict(zip(_FILES, arrays, strict=True))
        is_blank = not values["marks"]["hash"].all()
        ends = numpy.flatnonzero(numpy.diff(places) != 1) + 1
        for name in ("marks", "rows", "scan") if is_blank else _FILES:
            data = values[name]
            width = data.dtype.itemsize * (data.shape[1] if data.ndim > 1 else 1)
            with self._open_file(name, "r+b") as file:
                for part, of in zip(numpy.split(data, ends), numpy.split(places, ends), strict=True):
                    if len(of):
                        file.seek(_HEADER + int(of[0]) * width)
                        rest = memoryview(part.tobytes())
                        while rest:
                            rest = rest[file.write(rest) :]
                os.fsync(file.fileno())

    def _current(self) -> _Open | None:
        """Return the files as they are now; None if there are none, or none readable, which `add` replaces."""
        self._refuse_links()
        with self._threads:
            try:
                found = os.stat(os.path.join(self.path, "marks"), follow_symlinks=False)
            except OSError:
                return None
            state = (found.st_dev, found.st_ino, found.st_size)
            if self._opened is None or self._opened.state != state:
                self._opened = self._map_files()
            return self._opened

    def close(self) -> None:
        """Give the files back until they are needed again."""
        with self._threads:
            self._opened = None

    def _map_files(self) -> _Open | None:
        import mmap

        import numpy

        maps, making = {}, b""
        try:
            for name in reversed(_FILES):  # marks first: the rows they count are in the others by then
                with self._open_file(name, "rb") as file:
                    maps[name] = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
                    if name == "marks":
                        found = os.fstat(file.fileno())
                        making = maps[name][:_HEADER]
                    elif maps[name][:_HEADER] != making:
                        return None
        except (OSError, ValueError):  # ValueError: nothing in it to map
            return None
        # Also None for a header of another version, model or size than wanted.
        dimensions = int.from_bytes(making[len(self._begin) : _HEADER_SAYS], "little")
        is_ours = len(making) == _HEADER and making.startswith(self._begin)
        if not is_ours or not dimensions or self._asked not in (None, dimensions):
            return None
        count = (len(maps["marks"]) - _HEADER) // _MARK_BYTES
        size = count * dimensions
        if len(maps["rows"]) < _HEADER + 4 * size or len(maps["scan"]) < _HEADER + size:
            return None
        return _Open(
            (found.st_dev, found.st_ino, found.st_size),
            making[_HEADER_SAYS : _HEADER_SAYS + 16].hex(),
            count,
            dimensions,
            numpy.frombuffer(maps["rows"], "<f4", size, _HEADER).reshape(count, dimensions),
            numpy.frombuffer(maps["scan"], "i1", size, _HEADER).reshape(count, dimensions),
            numpy.frombuffer(maps["marks"], MARK, count, _HEADER),
            maps,
        )

    def _create_files(self, dimensions: int) -> _Open:
        """Make new files in place of any old ones. The marks come last: without them the rest counts for nothing."""
        header = self._begin + dimensions.to_bytes(4, "little") + os.urandom(16)
        for name in reversed(_FILES):
            try:
                os.unlink(os.path.join(self.path, name))
            except FileNotFoundError:
                pass
        for name in _FILES:
            with self._open_file(name, "xb") as file:
                file.write(header.ljust(_HEADER, b"\0"))
        opened = self._map_files()
        if opened is None:
            raise Refused(
                f"{self.name} was opened for {self._asked} numbers and gave {dimensions}. Open it for as many as it "
                "gives."
            )
        return opened

    def _open_file(self, name: str, mode: str) -> io.FileIO:
        def private(path: str, flags: int) -> int:
            return os.open(path, flags | _FLAGS, 0o600)

        return io.FileIO(os.path.join(self.path, name), mode, opener=private)

    def _refuse_links(self) -> None:
        for folder in self._folders:
            try:
                mode = os.lstat(folder).st_mode
            except OSError:
                return  # a writer makes it, or fails
            if not S_ISDIR(mode):
                raise Unwritten(
                    f"Vectors cannot be kept: {folder} is {'a link' if S_ISLNK(mode) else 'not a folder'}. Move it "
                    "away, and a new folder takes its place. Until then recall searches by words."
                )

    @contextmanager
    def _lock_files(self) -> Iterator[None]:
        """Let one writer in at a time, among threads and processes."""
        try:
            self._refuse_links()
            for folder in self._folders:
                os.makedirs(folder, 0o700, exist_ok=True)
            with self._open_file("lock", "ab") as lock:
                free = _take_lock(lock.fileno(), self.path)
                try:
                    yield
                finally:
                    free()
        except OSError as error:
            raise Unwritten(
                f"Vectors were not written to {self.path} ({error.strerror or error}). Recall still searches by words; "
                "if this happens again, delete that folder, and it is made anew."
            ) from error


def folder_name(name: str) -> str:
    """Return a safe folder name that shows the model's name, and differs for every model."""
    return f"{re.sub(r'[^A-Za-z0-9._-]+', '_', name)[:60].lstrip('.')}-{sha256(name.encode())[:8]}"


def _take_lock(lock: int, path: str) -> Callable[[], object]:
    """Take the lock; return the call that frees it. Closing is not enough: a forked child keeps the file open."""
    import fcntl
    import time

    deadline = time.monotonic() + _LOCK_SECONDS
    while True:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return partial(fcntl.flock, lock, fcntl.LOCK_UN)
        except BlockingIOError:
            if time.monotonic() > deadline:
                raise Busy(
                    f"Another process has been writing to {path} for {_LOCK_SECONDS:g} seconds. Try again when it is "
                    "done."
                ) from None
            time.sleep(0.005)


def _find_rows(opened: _Open, hashes: Collection[int]) -> tuple[Matrix, Matrix]:
    """Return the places of those that have a row, in order, and their hashes."""
    import numpy

    asked = numpy.unique(numpy.fromiter(hashes, dtype=numpy.int64, count=len(hashes)))
    kept = opened.marks["hash"]
    if not len(asked) or not len(kept):
        return numpy.empty(0, dtype=numpy.int64), asked[:0]
    near = numpy.minimum(numpy.searchsorted(asked, kept), len(asked) - 1)
    places = numpy.flatnonzero((asked[near] == kept) & (kept != 0))
    return places, kept[places]


def _are_sound(opened: _Open, places: Matrix) -> Matrix:
    """Return which of the rows at these places are as they were written."""
    import numpy

    rows, marks = opened.rows[places], opened.marks[places]
    with numpy.errstate(all="ignore"):
        length = numpy.linalg.norm(rows, axis=1)
        rows -= opened.scan[places] * marks["scale"][:, None]
        off = numpy.abs(numpy.linalg.norm(rows, axis=1) - marks["slack"])
    if len(places):
        _release_rows(opened, "rows", int(places[0]), int(places[-1] - places[0]) + 1)
    return (numpy.abs(length - 1) < _OFF) & (off < _OFF)  # never true of a NaN


def _release_rows(opened: _Open, name: str, first: int, count: int) -> None:
    """Release rows that were read: they stay in the system's cache, but no longer count as this process's memory."""
    import mmap

    width = opened.dimensions * (4 if name == "rows" else 1)
    start = (_HEADER + first * width) // mmap.PAGESIZE * mmap.PAGESIZE
    opened.maps[name].madvise(mmap.MADV_DONTNEED, start, _HEADER + (first + count) * width - start)
