"""Vectors of texts on disk, found by their nearness to another: a view, made again wherever it is lost or damaged.

Three files beside each other, row n of each belonging together: `rows` (float32), `scan` (the same rows in int8, a
quarter of the bytes to read) and `marks` (the hash of the text, and how coarse its int8 row is). Each begins with the
same header, so that files of another model, size or making are never read together.

A mark is written after its row is on disk, so a torn end is rows without marks, which the next rows overwrite; a mark
whose hash is 0 is a free row. No file is ever cut: another process may have it mapped. Readers take no lock. A row that
is not of length 1, or not what its int8 row says, is damaged: it counts as missing, and is overwritten.
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
from looseleaf.base.hashing import sha256
from looseleaf.index.nearest import MARK, Table, coarse, nearest, nearest_of, unit

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator

    from looseleaf.index.nearest import Matrix

_MAGIC = b"looseleaf vectors 1\n"
_HEADER = 96
_HEADER_SAYS = len(_MAGIC) + 32 + 4  # version, model and size; after it, which making it is
_MARK_BYTES = 16
_FILES = ("rows", "scan", "marks")

_LOCK_SECONDS = 60.0
_OFF = 1e-3  # more than rounding ever makes of a length
_FLAGS = os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NONBLOCK

_Open = namedtuple("_Open", "state making count dimensions rows scan marks maps")


class Vectors:
    """The vectors of one model, in a folder of their own below `folder`. Safe for threads and for processes.

    `inside`: `folder`, or one above it, from which on down no folder may be a link: it could lead anywhere."""

    def __init__(
        self, folder: str, name: str, dimensions: int | None = None, inside: str | None = None
    ) -> None:
        self.name = name
        self.path = os.path.join(folder, folder_name(name))
        self._folders = [self.path]
        while len(self._folders[0]) > len(inside or folder):
            self._folders.insert(0, os.path.dirname(self._folders[0]))
        self._begin = _MAGIC + bytes.fromhex(sha256(name.encode()))
        self._asked = dimensions
        self._threads = allocate_lock()
        self._opened: _Open | None = None

    @property
    def dimensions(self) -> int | None:
        """None as long as nobody knows: nothing is kept yet."""
        opened = self._now()
        return opened.dimensions if opened else self._asked

    @property
    def making(self) -> str:
        """Which files these are: another one for files that were made again; "" for none."""
        opened = self._now()
        return opened.making if opened else ""

    def __len__(self) -> int:
        return len(self.hashes())

    def hashes(self) -> list[int]:
        opened = self._now()
        kept: list[int] = opened.marks["hash"][opened.marks["hash"] != 0].tolist() if opened else []
        return kept

    # --- reading ---------------------------------------------------------------------

    def missing(self, hashes: Iterable[int]) -> list[int]:
        """Those that have no vector, each once, in their order."""
        asked = list(dict.fromkeys(hashes))
        opened = self._now()
        if opened is None:
            return asked
        places, found = _find(opened, asked)
        kept = set(found[_sound(opened, places)].tolist())
        return [each for each in asked if each not in kept]

    def cosines(self, query: Matrix, hashes: Collection[int]) -> dict[int, float]:
        """How near those texts are; texts without a vector are left out."""
        return dict(self.search(query, len(hashes), hashes))

    def search(
        self, query: Matrix, top: int, among: Collection[int] | None = None
    ) -> list[tuple[int, float]]:
        """The nearest texts, by hash, with the cosine; the nearest first. `among`: only these are looked at."""
        opened = self._now()
        if opened is None or opened.count == 0 or top < 1:
            return []
        query = self._query(query, opened.dimensions)
        table = Table(opened.rows, opened.scan, opened.marks, partial(_let_go, opened))
        if among is None:
            places, scores = nearest(table, query, top)
        else:
            places, scores = nearest_of(table, query, top, _find(opened, among)[0])
        pairs = zip(opened.marks["hash"][places].tolist(), scores.tolist(), strict=True)
        return [(each, score) for each, score in pairs if each]  # 0: forgotten meanwhile

    def _query(self, query: Matrix, dimensions: int) -> Matrix:
        import numpy

        query = numpy.ascontiguousarray(query, dtype=numpy.float32).reshape(-1)
        length = float(numpy.linalg.norm(query))
        if query.size != dimensions or not 0 < length < float("inf"):
            fault = f"has {query.size} numbers" if query.size != dimensions else "is zero or no number"
            raise Refused(
                f"Nothing was looked for by meaning: vectors of {self.name} have {dimensions} numbers, and that "
                f"of the question {fault}. Ask with the model that made them, or delete {self.path}."
            )
        return query / numpy.float32(length)

    # --- writing ---------------------------------------------------------------------

    def add(self, hashes: Collection[int], matrix: Matrix) -> int:
        """Keep one row for each hash; those that have one keep it. How many were new."""
        import numpy

        asked = numpy.fromiter(hashes, dtype=numpy.int64, count=len(hashes))
        matrix = self._checked(asked, matrix)
        if not len(asked):
            return 0
        with self._writing() as files:
            opened = self._open() or self._make(matrix.shape[1])
            if opened.dimensions != matrix.shape[1]:
                raise Refused(
                    f"No vectors were kept: rows of {matrix.shape[1]} numbers do not go with the "
                    f"{opened.dimensions} of {self.name}. Give the other model another name, or delete {self.path}."
                )
            once = numpy.sort(numpy.unique(asked, return_index=True)[1])
            there, found = _find(opened, asked)
            sound = _sound(opened, there)
            new = once[~numpy.isin(asked[once], found[sound])]
            free = numpy.concatenate([there[~sound], numpy.flatnonzero(opened.marks["hash"] == 0)])[
                : len(new)
            ]
            end = numpy.arange(opened.count, opened.count + len(new) - len(free))
            places = numpy.concatenate([free, end])
            rows = matrix[new]
            scan, marks = coarse(rows)
            marks["hash"] = asked[new]
            self._write(files, opened, places, (rows, scan, marks))
        return len(new)

    def forget(self, hashes: Collection[int]) -> int:
        """Overwrite their rows: nothing of a forgotten text may stay. How many there were."""
        import numpy

        with self._writing() as files:
            opened = self._open()
            if opened is None:
                return 0
            places = _find(opened, hashes)[0]
            blank = tuple(
                numpy.zeros((len(places), *array.shape[1:]), dtype=array.dtype)
                for array in (opened.rows, opened.scan, opened.marks)
            )
            self._write(files, opened, places, blank)
        return len(places)

    def _checked(self, asked: Matrix, matrix: Matrix) -> Matrix:
        import numpy

        with numpy.errstate(over="ignore"):  # too large for float32 is no number, which is told below
            matrix = numpy.asarray(matrix, dtype=numpy.float32)
        if matrix.ndim != 2 or len(matrix) != len(asked) or (len(asked) and not matrix.shape[1]):
            raise Refused(
                f"No vectors were kept: {len(asked)} texts want {len(asked)} rows, not the shape {matrix.shape}. "
                f"Look at the embedder {self.name}."
            )
        if not asked.all():
            raise ValueError("0 is the hash of a free row; text_hash() never gives it")
        units = unit(matrix)
        if units is None:
            raise Refused(
                f"No vectors were kept: {self.name} gave a row that is zero or no number. Look at that embedder."
            )
        return units

    def _write(
        self, files: dict[str, io.FileIO], opened: _Open, places: Matrix, arrays: tuple[Matrix, ...]
    ) -> None:
        """Rows first, and on disk; then their marks. Neighbouring places are written together."""
        import numpy

        gone = not arrays[2]["hash"].all()
        order = ("marks", "rows", "scan") if gone else _FILES
        values = dict(zip(_FILES, arrays, strict=True))
        ends = numpy.flatnonzero(numpy.diff(places) != 1) + 1
        for name in order:
            file = files.get(name) or files.setdefault(name, self._file(name, "r+b"))
            data = values[name]
            width = data.dtype.itemsize * (data.shape[1] if data.ndim > 1 else 1)
            for part, of in zip(numpy.split(data, ends), numpy.split(places, ends), strict=True):
                if len(of):
                    file.seek(_HEADER + int(of[0]) * width)
                    rest = memoryview(part.tobytes())
                    while rest:
                        rest = rest[file.write(rest) :]
            os.fsync(file.fileno())

    # --- files -----------------------------------------------------------------------

    def _now(self) -> _Open | None:
        """The files as they are now; None if there are none that can be read, which an `add` makes anew."""
        self._refuse_links()
        with self._threads:
            try:
                found = os.stat(os.path.join(self.path, "marks"), follow_symlinks=False)
            except OSError:
                return None
            state = (found.st_dev, found.st_ino, found.st_size)
            if self._opened is None or self._opened.state != state:
                self._opened = self._open()
            return self._opened

    def _open(self) -> _Open | None:
        import mmap

        import numpy

        maps, making = {}, b""
        try:
            for name in reversed(_FILES):  # marks first: what they count is in the others by then
                with self._file(name, "rb") as file:
                    maps[name] = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
                    if name == "marks":
                        found = os.fstat(file.fileno())
                        making = maps[name][:_HEADER]
                    elif maps[name][:_HEADER] != making:
                        return None
        except (OSError, ValueError):  # ValueError: nothing in it to map
            return None
        dimensions = self._dimensions_of(making)
        count = (len(maps["marks"]) - _HEADER) // _MARK_BYTES
        if dimensions is None or any(
            len(maps[name]) < _HEADER + count * dimensions * width
            for name, width in (("rows", 4), ("scan", 1))
        ):
            return None
        size = count * dimensions
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

    def _dimensions_of(self, header: bytes) -> int | None:
        """None for a header of another version, another model, other sizes than were asked for, or none at all."""
        if len(header) < _HEADER or not header.startswith(self._begin):
            return None
        dimensions = int.from_bytes(header[len(self._begin) : _HEADER_SAYS], "little")
        return dimensions if dimensions and self._asked in (None, dimensions) else None

    def _make(self, dimensions: int) -> _Open:
        """New files in the place of whatever is there. The marks come last: without them there is nothing."""
        header = self._begin + dimensions.to_bytes(4, "little") + os.urandom(16)
        for name in reversed(_FILES):
            try:
                os.unlink(os.path.join(self.path, name))
            except FileNotFoundError:
                pass
        for name in _FILES:
            with self._file(name, "xb") as file:
                file.write(header.ljust(_HEADER, b"\0"))
        opened = self._open()
        if opened is None:
            raise Refused(
                f"No vectors were kept: {self.name} was opened for {self._asked} numbers and gave {dimensions}. "
                "Open it for as many as it gives."
            )
        return opened

    def _file(self, name: str, mode: str) -> io.FileIO:
        def private(path: str, flags: int) -> int:
            return os.open(path, flags | _FLAGS, 0o600)

        return io.FileIO(os.path.join(self.path, name), mode, opener=private)

    def _refuse_links(self) -> None:
        for folder in self._folders:
            try:
                mode = os.lstat(folder).st_mode
            except OSError:
                return  # whoever writes makes it, or is told why not
            if not S_ISDIR(mode):
                raise Unwritten(
                    f"No vectors are kept: {folder} is {'a link' if S_ISLNK(mode) else 'no folder'}. Move it away, and "
                    "a folder is made in its place; until then recall finds by words."
                )

    @contextmanager
    def _writing(self) -> Iterator[dict[str, io.FileIO]]:
        """One writer at a time, among threads and processes. The files opened in it are closed after it."""
        files: dict[str, io.FileIO] = {}
        try:
            self._refuse_links()
            for folder in self._folders:
                os.makedirs(folder, 0o700, exist_ok=True)
            with self._file("lock", "ab") as lock:
                free = _take(lock.fileno(), self.path)
                try:
                    yield files
                finally:
                    for file in files.values():
                        file.close()
                    free()
        except OSError as error:
            raise Unwritten(
                f"Vectors were not written to {self.path} ({error.strerror or error}). Recall goes on by words; if it "
                "happens again, delete that folder, which is made again."
            ) from error


def folder_name(name: str) -> str:
    """A name for a file that says the model's, and differs wherever that does."""
    return f"{re.sub(r'[^A-Za-z0-9._-]+', '_', name)[:60].lstrip('.')}-{sha256(name.encode())[:8]}"


def _take(lock: int, path: str) -> Callable[[], object]:
    """What frees it. To close it is not enough: a child that was forked meanwhile has it open as long as it lives."""
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
                    f"No vectors were written: another process has been writing to {path} for "
                    f"{_LOCK_SECONDS:g} seconds. Repeat it when that one is done."
                ) from None
            time.sleep(0.005)


def _find(opened: _Open, hashes: Collection[int]) -> tuple[Matrix, Matrix]:
    """Where those of them that have a row have it, in the order of rows, and which they are."""
    import numpy

    asked = numpy.unique(numpy.fromiter(hashes, dtype=numpy.int64, count=len(hashes)))
    kept = opened.marks["hash"]
    if not len(asked) or not len(kept):
        return numpy.empty(0, dtype=numpy.int64), asked[:0]
    near = numpy.minimum(numpy.searchsorted(asked, kept), len(asked) - 1)
    places = numpy.flatnonzero((asked[near] == kept) & (kept != 0))
    return places, kept[places]


def _sound(opened: _Open, places: Matrix) -> Matrix:
    """Which of the rows at those places are as they were written."""
    import numpy

    rows, marks = opened.rows[places], opened.marks[places]
    with numpy.errstate(all="ignore"):
        length = numpy.linalg.norm(rows, axis=1)
        rows -= opened.scan[places] * marks["scale"][:, None]
        off = numpy.abs(numpy.linalg.norm(rows, axis=1) - marks["slack"])
    if len(places):
        _let_go(opened, "rows", int(places[0]), int(places[-1] - places[0]) + 1)
    return (numpy.abs(length - 1) < _OFF) & (off < _OFF)  # never, for what is no number


def _let_go(opened: _Open, name: str, first: int, count: int) -> None:
    """Tell the system that rows were read: they stay in its cache, and are no longer counted as this process's."""
    import mmap

    width = opened.dimensions * (4 if name == "rows" else 1)
    start = (_HEADER + first * width) // mmap.PAGESIZE * mmap.PAGESIZE
    opened.maps[name].madvise(mmap.MADV_DONTNEED, start, _HEADER + (first + count) * width - start)
