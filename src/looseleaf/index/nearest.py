"""The nearest of many rows, exactly: arithmetic over arrays, ignorant of where they are kept.

The int8 rows say which rows cannot be among the best, by a bound on what rounding may have changed; the float32 rows
decide among the others. Where no library multiplies int8 (numpy does it slowly), the float32 rows are all read.
"""

from __future__ import annotations

from collections import namedtuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    Matrix = Any
    """A numpy array. The types of numpy are not asked for: it is an extra, and checking must not depend on it."""

Table = namedtuple("Table", "rows scan marks done")
"""Row n of each belongs together. `done(name, first, count)` is told which rows of one of them were read."""

MARK = [("hash", "<i8"), ("scale", "<f4"), ("slack", "<f4")]
"""What is known of a row: whose it is (0: nobody's), the step of its int8 row, and how far that is from the row."""

SCAN_FROM = 50_000
"""Rows from which on the int8 rows are read first: below, float32 takes a few milliseconds, and less to load."""

_BLOCK = 16_384
"""Rows looked at at once: some 25 MB, which is what a search takes of memory, however many rows there are."""

_SCATTERED = 32
"""Rows looked at at once that do not stand together: the system may bring in a megabyte around each."""

_ROUNDING = 2e-5
"""More than what float32 sums of products of normalised rows are ever off."""


def unit(matrix: Matrix) -> Matrix | None:
    """Scale each row to length 1; return None if a row is zero or holds a non-number."""
    import numpy

    lengths = numpy.sqrt(numpy.einsum("ij,ij->i", matrix, matrix, dtype=numpy.float64))
    if not (numpy.isfinite(lengths) & (lengths > 0)).all():
        return None
    return numpy.ascontiguousarray(matrix / lengths[:, None], dtype=numpy.float32)


def coarse(rows: Matrix) -> tuple[Matrix, Matrix]:
    """The rows in int8, and their marks, which say nothing yet of whose they are."""
    import numpy

    marks = numpy.zeros(len(rows), dtype=MARK)
    marks["scale"] = numpy.abs(rows).max(axis=1, initial=0) / 127
    scan = numpy.rint(rows / marks["scale"][:, None]).astype(numpy.int8)
    marks["slack"] = numpy.linalg.norm(rows - scan * marks["scale"][:, None], axis=1)
    return scan, marks


def nearest(table: Table, query: Matrix, top: int) -> tuple[Matrix, Matrix]:
    """The places of the rows with the highest cosines, and those; the highest first. All rows are normalised."""
    if len(table.rows) >= SCAN_FROM and (product := _int8_product()):
        return _scan(table, query, top, product)
    best = _Best(top)
    for first in range(0, len(table.rows), _BLOCK):
        rows, marks = table.rows[first : first + _BLOCK], table.marks[first : first + _BLOCK]
        best.add(_cosines(rows, marks, query), first)
        table.done("rows", first, len(rows))
    return best.sorted()


def nearest_of(table: Table, query: Matrix, top: int, places: Matrix) -> tuple[Matrix, Matrix]:
    """The same, of the rows at those places only, which are in order."""
    best = _Best(top)
    for first in range(0, len(places), _SCATTERED):
        some = places[first : first + _SCATTERED]
        best.add(_cosines(table.rows[some], table.marks[some], query), some)
        table.done("rows", int(some[0]), int(some[-1] - some[0]) + 1)
    return best.sorted()


def _cosines(rows: Matrix, marks: Matrix, query: Matrix) -> Matrix:
    """Lowest for a row that is nobody's, and for what is no cosine: a damaged row is one that is not found."""
    import numpy

    with numpy.errstate(all="ignore"):
        scores = rows @ query
    scores[(marks["hash"] == 0) | ~(numpy.abs(scores) < 1 + 1e-3)] = float("-inf")
    return scores


def _scan(
    table: Table, query: Matrix, top: int, product: Callable[[Matrix, Matrix], Matrix]
) -> tuple[Matrix, Matrix]:
    """The exact best, most rows being read in int8 only.

    By Cauchy and Schwarz |q·x - q'·x'| <= |q||x - x'| + |q - q'||x'|, which gives for each row the most its cosine can
    be. The `top` rows that could be best are scored exactly. A row that cannot reach the worst of those is none of the
    best; all others are scored exactly too.
    """
    import numpy

    one, mark = coarse(query[None, :])
    scale, slack = float(mark["scale"][0]), float(mark["slack"][0])
    most = numpy.empty(len(table.rows), dtype=numpy.float32)
    likely = _Best(top)
    for first in range(0, len(most), _BLOCK):
        marks, bound = table.marks[first : first + _BLOCK], most[first : first + _BLOCK]
        numpy.multiply(product(table.scan[first : first + _BLOCK], one), scale, out=bound, casting="unsafe")
        with numpy.errstate(all="ignore"):
            bound *= marks["scale"]
            bound += marks["slack"] * (1 + slack) + (slack + _ROUNDING)
        bound[marks["hash"] == 0] = float("-inf")  # else free rows crowd out the likely ones
        likely.add(bound, first)
        table.done("scan", first, len(bound))
    _, scores = nearest_of(table, query, top, numpy.sort(likely.sorted()[0]))
    least = scores[-1] if len(scores) == top else float("-inf")
    return nearest_of(table, query, top, numpy.flatnonzero(most >= least))


class _Best:
    """The highest scores of many, which come in blocks."""

    def __init__(self, top: int) -> None:
        self._top = top
        self._least = float("-inf")
        self._places: list[Matrix] = []
        self._scores: list[Matrix] = []
        self._held = 0

    def add(self, scores: Matrix, places: Matrix | int) -> None:
        """`places`: of each score, or the first of as many that follow each other."""
        import numpy

        chosen = numpy.flatnonzero(scores > self._least)  # what is no number never is
        self._places.append(chosen + places if isinstance(places, int) else places[chosen])
        self._scores.append(scores[chosen])
        self._held += len(chosen)
        if self._held > 4 * self._top + 4096:
            self._shrink()

    def _shrink(self) -> None:
        import numpy

        places, scores = numpy.concatenate(self._places), numpy.concatenate(self._scores)
        if len(scores) > self._top:
            kept = numpy.argpartition(scores, len(scores) - self._top)[len(scores) - self._top :]
            places, scores = places[kept], scores[kept]
            self._least = float(scores.min())
        self._places, self._scores, self._held = [places], [scores], len(scores)

    def sorted(self) -> tuple[Matrix, Matrix]:
        """Places and scores, the highest first; equal ones in the order of rows."""
        import numpy

        if not self._places:
            return numpy.empty(0, dtype=numpy.int64), numpy.empty(0, dtype=numpy.float32)
        self._shrink()
        order = numpy.lexsort((self._places[0], -self._scores[0]))
        return self._places[0][order], self._scores[0][order]


def _int8_product() -> Callable[[Matrix, Matrix], Matrix] | None:
    """Rows in int8 times one of them, by a library that has the instructions for it; None without the library."""
    try:
        import numkong
    except ImportError:
        return None
    import numpy

    def product(rows: Matrix, one: Matrix) -> Matrix:
        return numpy.asarray(numkong.cdist(rows, one, metric="dot")).reshape(-1)

    return product
