"""Vectors of texts in PostgreSQL, of one memory and one model: rows of float16.

Where the extension pgvector is there and runs, they are compared in the database: all of a memory's, or through an
index of its own if it has many. Else the process that searches reads them once, and compares them as those of files.
"""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

from looseleaf.base.errors import Refused
from looseleaf.index.nearest import MARK, Table, check_query, check_rows, nearest, nearest_of
from looseleaf.index.postgres import plain
from looseleaf.store.postgres.probe import vectors

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator
    from typing import Any

    from looseleaf.index.nearest import Matrix
    from looseleaf.store.postgres.database import Database

MANY = 20_000
"""A memory with this many vectors has an index of its own: comparing fewer takes a few milliseconds, and an index would
have to be kept up to date."""

_READ_AT_ONCE = 8_192
_MEMORIES_AT_ONCE = 1_000
_WRITTEN_AT_ONCE = 512

_MODEL = (
    "SELECT model, making, dimensions FROM looseleaf.models WHERE memory = %s AND key = looseleaf.key_of(%s)"
)


class PostgresVectors:
    """`Vectors` of a memory in a database. `is_compared_there`: pgvector runs in it (`are_compared_there`)."""

    def __init__(
        self,
        database: Database,
        memory: int,
        name: str,
        dimensions: int | None = None,
        *,
        is_compared_there: bool = False,
    ) -> None:
        self.name = name
        self._database, self._memory = database, memory
        self._asked = dimensions
        self._is_compared_there = is_compared_there
        self._rows = _Rows()

    def _ask(self, query: str, *values: object) -> list[tuple[Any, ...]]:
        return self._database.run(self._memory, query, (self._memory, *values))

    def _ask_of_table(self, here: str, there: str, *values: object) -> list[tuple[Any, ...]]:
        """Ask about the vectors of this model: of the table whose rows are compared here, or there."""
        return self._ask(there if self._is_compared_there else here, *values)

    @property
    def dimensions(self) -> int | None:
        rows = self._ask(_MODEL, plain(self.name))
        return int(rows[0][2]) if rows else self._asked

    @property
    def making(self) -> str:
        rows = self._ask(_MODEL, plain(self.name))
        return f"{rows[0][1]}" if rows else ""

    def __len__(self) -> int:
        return len(self.hashes())

    def hashes(self) -> list[int]:
        rows = self._ask_of_table(_HASHES.format("vectors"), _HASHES.format("halfvectors"), plain(self.name))
        return [row[0] for row in rows]

    def missing(self, hashes: Iterable[int]) -> list[int]:
        asked = list(dict.fromkeys(hashes))
        if not asked:
            return []
        rows = self._ask_of_table(
            f"{_HASHES.format('vectors')} AND v.hash = ANY (%s::bigint[])",
            f"{_HASHES.format('halfvectors')} AND v.hash = ANY (%s::bigint[])",
            plain(self.name),
            asked,
        )
        kept = {row[0] for row in rows}
        return [each for each in asked if each not in kept]

    def cosines(self, query: Matrix, hashes: Collection[int]) -> dict[int, float]:
        return dict(self.search(query, len(hashes), hashes))

    def search(
        self, query: Matrix, top: int, among: Collection[int] | None = None
    ) -> list[tuple[int, float]]:
        if top < 1 or (among is not None and not among):
            return []
        if self._is_compared_there:
            return self._search_there(query, top, among)
        with self._rows.alone:
            rows = self._read_rows()
            if not rows.count:
                return []
            query = check_query(query, self.name, rows.dimensions, self._away)
            return rows.search(query, top, among)

    def _search_there(
        self, query: Matrix, top: int, among: Collection[int] | None
    ) -> list[tuple[int, float]]:
        dimensions = self._rows.dimensions or self.dimensions
        if dimensions is None:
            return []
        self._rows.dimensions = dimensions
        asked = _text_of(check_query(query, self.name, dimensions, self._away))
        rows = self._ask(
            "SELECT hash, cosine FROM looseleaf.nearest(%s, %s, %s, %s, %s::bigint[])",
            plain(self.name),
            asked,
            top,
            None if among is None else list(among),
        )
        return [(row[0], row[1]) for row in rows]

    @property
    def _away(self) -> str:
        return f"them with `forget` of {type(self).__name__}"

    def _read_rows(self) -> _Rows:
        """Read what is new, or all again if some were removed."""
        rows = self._rows
        query = "SELECT * FROM looseleaf.vectors_after(%s, %s, %s, %s, %s, %s)"
        while True:
            values = plain(self.name), rows.making, rows.erased, rows.place, _READ_AT_ONCE
            row = self._ask(query, *values)[0]
            rows.take(*row)
            if len(row[4]) < _READ_AT_ONCE:
                return rows

    def add(self, hashes: Collection[int], matrix: Matrix) -> int:

        asked = [int(each) for each in hashes]
        matrix, fault = check_rows(matrix, len(asked))
        if fault:
            raise Refused(f"The embedder {self.name} {fault}. Fix the embedder.")
        if not all(asked):
            raise ValueError("0 is the hash of no text; text_hash() never gives it")
        if not asked:
            return 0
        if self._asked not in (None, matrix.shape[1]):
            raise Refused(
                f"{self.name} was opened for {self._asked} numbers and gave {matrix.shape[1]}. Open it for as many as "
                "it gives."
            )
        once = list({each: number for number, each in reversed(list(enumerate(asked)))}.values())
        added = 0
        for first in range(0, len(once), _WRITTEN_AT_ONCE):
            some = once[first : first + _WRITTEN_AT_ONCE]
            if self._is_compared_there:
                query = "SELECT * FROM looseleaf.add_halfvectors(%s, %s, %s, %s::bigint[], %s::text[])"
                values: list[Any] = [_text_of(row) for row in matrix[some]]
            else:
                query = "SELECT * FROM looseleaf.add_vectors(%s, %s, %s, %s::bigint[], %s::bytea[])"
                values = [row.tobytes() for row in matrix[some].astype("<f2")]
            given = plain(self.name), matrix.shape[1], [asked[each] for each in some], values
            there, new = self._ask(query, *given)[0]
            if there != matrix.shape[1]:
                raise Refused(
                    f"Vectors of {self.name} have {there} numbers, and the new ones {matrix.shape[1]}. Give the other "
                    f"model another name, or delete {self._away}."
                )
            added += new
        return added

    def forget(self, hashes: Collection[int]) -> int:
        if not hashes:
            return 0
        rows = self._ask_of_table(
            _FORGET.format("vectors"),
            _FORGET.format("halfvectors"),
            plain(self.name),
            self._memory,
            list(hashes),
            self._memory,
        )
        return int(rows[0][0])

    def close(self) -> None:
        self._rows = _Rows()


_HASHES = (
    "SELECT v.hash FROM looseleaf.models k JOIN looseleaf.{} v ON v.memory = k.memory AND v.model = k.model "
    "WHERE k.memory = %s AND k.key = looseleaf.key_of(%s)"
)
_FORGET = (
    "WITH k AS (SELECT model FROM looseleaf.models WHERE memory = %s AND key = looseleaf.key_of(%s)), "
    "gone AS (DELETE FROM looseleaf.{} v USING k WHERE v.memory = %s AND v.model = k.model "
    "AND v.hash = ANY (%s::bigint[]) RETURNING v.hash), "
    "noted AS (UPDATE looseleaf.models x SET erased = x.erased + 1 FROM k WHERE x.memory = %s AND x.model = k.model) "
    "SELECT count(*) FROM gone"
)


class _Rows:
    """Rows that were read, to be compared in the process."""

    def __init__(self) -> None:
        self.alone = threading.Lock()
        self.making = self.erased = self.place = self.count = self.dimensions = 0
        self._rows: Matrix = None
        self._marks: Matrix = None

    def take(
        self, making: int, erased: int, dimensions: int, place: int, hashes: list[int], rows: list[bytes]
    ) -> None:
        """Add rows; they replace all, if some were removed meanwhile."""
        import numpy

        if (making, erased) != (self.making, self.erased) or self._rows is None:
            self.making, self.erased, self.dimensions = making or 0, erased or 0, dimensions or 0
            self.count = 0
            self._rows = numpy.empty((0, self.dimensions), dtype=numpy.float32)
            self._marks = numpy.zeros(0, dtype=MARK)
        self.place = place
        if not hashes:
            return
        ends = self.count + len(hashes)
        if ends > len(self._rows):  # with room for as many again: not all are copied each time
            more = max(len(hashes), self.count // 2)
            self._rows = numpy.concatenate(
                [self._rows[: self.count], numpy.zeros((more, self.dimensions), "<f4")]
            )
            self._marks = numpy.concatenate([self._marks[: self.count], numpy.zeros(more, dtype=MARK)])
        read = numpy.frombuffer(b"".join(rows), dtype="<f2").reshape(len(hashes), self.dimensions)
        self._rows[self.count : ends] = read
        self._marks["hash"][self.count : ends] = hashes
        self.count = ends

    def search(self, query: Matrix, top: int, among: Collection[int] | None) -> list[tuple[int, float]]:
        import numpy

        marks = self._marks[: self.count]
        table = Table(self._rows[: self.count], None, marks, lambda *_: None)
        if among is None:
            places, scores = nearest(table, query, top)
        else:
            asked = numpy.fromiter(among, dtype=numpy.int64, count=len(among))
            places, scores = nearest_of(
                table, query, top, numpy.flatnonzero(numpy.isin(marks["hash"], asked))
            )
        return list(zip(marks["hash"][places].tolist(), scores.tolist(), strict=True))


def _text_of(row: Matrix) -> str:
    """Return a row as pgvector reads it; five figures are more than float16 holds."""
    return f"[{','.join(f'{value:.5g}' for value in row.tolist())}]"


def are_compared_there(database: Database) -> bool:
    """True if vectors are compared in the database: pgvector does not kill the server, and has its tables."""
    if not database.run(None, "SELECT 1 WHERE to_regclass('looseleaf.halfvectors') IS NOT NULL"):
        return False
    return vectors(database) == "works"


# --- what the owner of the tables does now and then ----------------------------------------


def index_all(owner: Database) -> Iterator[str]:
    """Make the vectors of all memories as fast to search as they can be, and yield what was done."""
    if not are_compared_there(owner):
        return
    after = ""
    query = "SELECT memory, namespace FROM looseleaf.list_memories(%s, %s)"
    while rows := owner.run(None, query, (after, _MEMORIES_AT_ONCE)):
        for memory, namespace in rows:
            models = owner.run(memory, "SELECT name FROM looseleaf.models WHERE memory = %s", (memory,))
            for (name,) in models:
                for done in index_many(owner, memory, str(name)):
                    yield f"{namespace}: {done}"
        after = str(rows[-1][1])


def index_many(owner: Database, memory: int, name: str) -> Iterator[str]:
    """Make a memory's vectors as fast to search as they can be, in a database that compares them, and yield what was
    done. `owner`: the database, as the role that owns the tables, which alone may make an index.

    Vectors from before pgvector was there move to where they are compared. A memory with many gets an index of its own.
    Both may be repeated, and an index that was not finished is made again.
    """
    import numpy
    from psycopg import sql

    there = PostgresVectors(owner, memory, name, is_compared_there=True)
    here = PostgresVectors(owner, memory, name)
    moved = 0
    while some := here.hashes()[:_READ_AT_ONCE]:
        query = "SELECT v.hash, v.v FROM looseleaf.vectors v JOIN looseleaf.models k USING (memory, model) "
        query += "WHERE v.memory = %s AND k.key = looseleaf.key_of(%s) AND v.hash = ANY (%s::bigint[])"
        rows = owner.run(memory, query, (memory, plain(name), some))
        matrix = numpy.frombuffer(b"".join(row[1] for row in rows), dtype="<f2").reshape(len(rows), -1)
        there.add([row[0] for row in rows], matrix)
        moved += here.forget([row[0] for row in rows])
    if moved:
        yield f"moved {moved} vectors of {name}"
    rows = owner.run(memory, _MODEL, (memory, plain(name)))
    if not rows or len(there) < MANY:
        return
    model, _, dimensions = rows[0]
    query = (
        "SELECT c.relname, i.indisvalid FROM pg_class c JOIN pg_index i ON i.indexrelid = c.oid "
        "WHERE c.relname = %s AND c.relnamespace = 'looseleaf'::regnamespace"
    )
    index = f"nearest_{memory}_{model}"
    found = owner.run(None, query, (index,))
    if found and found[0][1]:
        return
    (table,) = owner.run(
        memory,
        "SELECT tableoid::regclass::text FROM looseleaf.halfvectors WHERE memory = %s LIMIT 1",
        (memory,),
    )[0]
    (place,) = owner.run(
        None,
        "SELECT n.nspname FROM pg_extension e JOIN pg_namespace n ON n.oid = e.extnamespace WHERE e.extname = 'vector'",
    )[0]
    wire = owner.connect()
    try:
        if found:  # what a killed job left
            wire.execute(sql.SQL("DROP INDEX CONCURRENTLY {}").format(sql.Identifier("looseleaf", index)))
        wire.execute(
            sql.SQL(
                "CREATE INDEX CONCURRENTLY {index} ON {table} USING hnsw ((v::{place}.halfvec({dimensions})) "
                "{place}.halfvec_ip_ops) WHERE memory = {memory} AND model = {model}"
            ).format(
                index=sql.Identifier(index),
                table=sql.Identifier("looseleaf", table.rpartition(".")[2]),
                place=sql.Identifier(place),
                dimensions=sql.Literal(dimensions),
                memory=sql.Literal(memory),
                model=sql.Literal(model),
            )
        )
    finally:
        wire.close()
    yield f"made an index of the vectors of {name}"
