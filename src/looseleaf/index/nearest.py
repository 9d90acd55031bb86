"""The nearest of many rows, exactly: arithmetic over arrays, wherever they are kept.

The int8 rows rule out rows that cannot be among the best, by a bound on the rounding error; the float32 rows decide
among the rest. Without a library that multiplies int8 (numpy is slow at it), all float32 rows are read.
"""

from __future__ import annotations

from collections import namedtuple

from looseleaf.base.errors import Refused

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    Matrix = Any
    """A numpy array. Untyped: numpy is an extra, and type checks must not depend on it."""

Table = namedtuple("Table", "rows scan marks done")
"""Row n of each belongs together; `scan` may be None. `done(name, first, count)` is called with the rows of one that
were read."""

MARK = [("hash", "<i8"), ("scale", "<f4"), ("slack", "<f4")]
"""Of each row: the hash of its text (0: a free row), the step of its int8 row, and that row's distance from it."""

SCAN_FROM = 50_000
"""From this many rows on, int8 is read first: below, float32 takes a few milliseconds and loads faster."""

_BLOCK = 16_384
"""Rows read at once: about 25 MB, the memory that a search takes however many rows there are."""

_SCATTERED = 32
"""Scattered rows read at once: the system may load a megabyte around each."""

ROUNDING = 2e-5
"""More than the rounding error of any float32 product of normalized rows."""


def check_query(query: Matrix, name: str, dimensions: int, away: str) -> Matrix:
    """Return the vector of a question, scaled to length 1. `away`: what to delete, for those of another model."""
    import numpy

    query = numpy.ascontiguousarray(query, dtype=numpy.float32).reshape(-1)
    length = float(numpy.linalg.norm(query))
    if query.size != dimensions or not 0 < length < float("inf"):
        fault = f"has {query.size} numbers" if query.size != dimensions else "is zero or not a number"
        raise Refused(
            f"Vectors of {name} have {dimensions} numbers, and that of the question {fault}. Ask with the model that "
            f"made them, or delete {away}."
        )
    return query / numpy.float32(length)


def check_rows(rows: Matrix, count: int) -> tuple[Matrix, str]:
    """Return an embedder's rows, each scaled to length 1, and what is wrong with them; "" if nothing is."""
    import numpy

    with numpy.errstate(all="ignore"):  # too large for float32 becomes infinite, which is refused below
        rows = numpy.asarray(rows, dtype=numpy.float32)
    if rows.ndim != 2 or len(rows) != count or (count and not rows.shape[1]):
        return rows, f"gave the shape {rows.shape} instead of a row for each of {count} texts"
    lengths = numpy.sqrt(numpy.einsum("ij,ij->i", rows, rows, dtype=numpy.float64))
    if not (numpy.isfinite(lengths) & (lengths > 0)).all():
        return rows, "gave a row that is zero or not a number"
    return numpy.ascontiguousarray(rows / lengths[:, None], dtype=numpy.float32), ""


def quantize(rows: Matrix) -> tuple[Matrix, Matrix]:
    """Return the rows in int8, and their marks, still without hashes."""
    import numpy

    marks = numpy.zeros(len(rows), dtype=MARK)
    marks["scale"] = numpy.abs(rows).max(axis=1, initial=0) / 127
    scan = numpy.rint(rows / marks["scale"][:, None]).astype(numpy.int8)
    marks["slack"] = numpy.linalg.norm(rows - scan * marks["scale"][:, None], axis=1)
    return scan, marks


def nearest(table: Table, query: Matrix, top: int) -> tuple[Matrix, Matrix]:
    """Return the places and cosines of the `top` nearest rows, highest first. All rows are normalized."""
    if table.scan is not None and len(table.rows) >= SCAN_FROM and (product := int8_product()):
        return scan_rows(table, query, top, product)
    best = _Best(top)
    for first in range(0, len(table.rows), _BLOCK):
        rows, marks = table.rows[first : first + _BLOCK], table.marks[first : first + _BLOCK]
        best.add(_score_rows(rows, marks, query), first)
        table.done("rows", first, len(rows))
    return best.sorted()


def nearest_of(table: Table, query: Matrix, top: int, places: Matrix) -> tuple[Matrix, Matrix]:
    """Return the same of the rows at these places only, which are sorted."""
    best = _Best(top)
    for first in range(0, len(places), _SCATTERED):
        some = places[first : first + _SCATTERED]
        best.add(_score_rows(table.rows[some], table.marks[some], query), some)
        table.done("rows", int(some[0]), int(some[-1] - some[0]) + 1)
    return best.sorted()


def _score_rows(rows: Matrix, marks: Matrix, query: Matrix) -> Matrix:
    """Return the cosines; -inf for a free row and for an impossible cosine, so that a damaged row is never found."""
    import numpy

    with numpy.errstate(all="ignore"):
        scores = rows @ query
    scores[(marks["hash"] == 0) | ~(numpy.abs(scores) < 1 + 1e-3)] = float("-inf")
    return scores


def scan_rows(
    table: Table, query: Matrix, top: int, product: Callable[[Matrix, Matrix], Matrix]
) -> tuple[Matrix, Matrix]:
    """Return the exact best, reading most rows in int8 only.

    By Cauchy and Schwarz |q·x - q'·x'| <= |q||x - x'| + |q - q'||x'|, which bounds each row's cosine. The `top` rows
    with the highest bounds are scored exactly. A row whose bound is below the worst of those is ruled out; all others
    are scored exactly too.
    """
    import numpy

    one, mark = quantize(query[None, :])
    scale, slack = float(mark["scale"][0]), float(mark["slack"][0])
    most = numpy.empty(len(table.rows), dtype=numpy.float32)
    likely = _Best(top)
    for first in range(0, len(most), _BLOCK):
        marks, bound = table.marks[first : first + _BLOCK], most[first : first + _BLOCK]
        numpy.multiply(product(table.scan[first : first + _BLOCK], one), scale, out=bound, casting="unsafe")
        with numpy.errstate(all="ignore"):
            bound *= marks["scale"]
            bound += marks["slack"] * (1 + slack) + (slack + ROUNDING)
        bound[marks["hash"] == 0] = float("-inf")  # else free rows crowd out the likely ones
        likely.add(bound, first)
        table.done("scan", first, len(bound))
    _, scores = nearest_of(table, query, top, numpy.sort(likely.sorted()[0]))
    least = scores[-1] if len(scores) == top else float("-inf")
    return nearest_of(table, query, top, numpy.flatnonzero(most >= least))


class _Best:
    """The highest of many scores, which come in blocks."""

    def __init__(self, top: int) -> None:
        self._top = top
        self._least = float("-inf")
        self._places: list[Matrix] = []
        self._scores: list[Matrix] = []
        self._held = 0

    def add(self, scores: Matrix, places: Matrix | int) -> None:
        """Add scores. `places`: the place of each, or the first of a run."""
        import numpy

        chosen = numpy.flatnonzero(scores > self._least)  # never true of a NaN
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
        """Return places and scores, highest first; equal ones in the order of rows."""
        import numpy

        if not self._places:
            return numpy.empty(0, dtype=numpy.int64), numpy.empty(0, dtype=numpy.float32)
        self._shrink()
        order = numpy.lexsort((self._places[0], -self._scores[0]))
        return self._places[0][order], self._scores[0][order]


def int8_product() -> Callable[[Matrix, Matrix], Matrix] | None:
    """Return the product of int8 rows and one row, by a library with the CPU's instructions; None without it."""
    try:
        import numkong
    except ImportError:
        return None
    import numpy

    def product(rows: Matrix, one: Matrix) -> Matrix:
        return numpy.asarray(numkong.cdist(rows, one, metric="dot")).reshape(-1)

    return product
