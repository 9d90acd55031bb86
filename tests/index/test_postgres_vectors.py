"""Vectors in PostgreSQL keep the contract, compared in the process and, where pgvector runs, in the database."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from postgres import Running, refuse_without_server
from vectors_contract import D, OpenVectors, VectorsContract, expected, some

refuse_without_server()
numpy = pytest.importorskip("numpy", reason="the extra `semantic` is not installed")

from looseleaf.index import postgres_vectors  # noqa: E402 (needs the extra)
from looseleaf.index.postgres_vectors import PostgresVectors, are_compared_there, index_all, index_many  # noqa: E402
from looseleaf.store.postgres.address import database_of, parse_address  # noqa: E402
from looseleaf.store.postgres.database import Database  # noqa: E402
from looseleaf.store.postgres.embedded import OWNER, SUPERUSER  # noqa: E402
from looseleaf.store.postgres.migrate import migrate  # noqa: E402
from looseleaf.store.postgres.store import PostgresStore  # noqa: E402

if TYPE_CHECKING:
    from typing import Any

HALF = 1e-3
"""How much a cosine of float16 rows may be off."""


def new_memory(postgres: Running) -> tuple[Database, int]:
    return PostgresStore.open(parse_address(postgres.memory()), make=True).tables


@pytest.fixture
def tables(postgres: Running) -> tuple[Database, int]:
    return new_memory(postgres)


@pytest.fixture
def compared_there(tables: tuple[Database, int]) -> tuple[Database, int]:
    if not are_compared_there(tables[0]):
        pytest.skip("pgvector does not run on this processor")
    return tables


class TestVectorsComparedInTheProcess(VectorsContract):
    off = HALF

    @pytest.fixture
    def open_vectors(self, tables: tuple[Database, int]) -> OpenVectors:
        return lambda name="model", dimensions=None: PostgresVectors(*tables, name, dimensions)


class TestVectorsComparedInTheDatabase(VectorsContract):
    off = HALF

    @pytest.fixture
    def open_vectors(self, compared_there: tuple[Database, int]) -> OpenVectors:
        return lambda name="model", dimensions=None: PostgresVectors(
            *compared_there, name, dimensions, is_compared_there=True
        )


@pytest.mark.parametrize("there", [False, True])
def test_each_memory_finds_its_own_vectors_only(postgres: Running, *, there: bool) -> None:
    one, other = new_memory(postgres), new_memory(postgres)
    if there and not are_compared_there(one[0]):
        pytest.skip("pgvector does not run on this processor")
    first = PostgresVectors(*one, "model", is_compared_there=there)
    second = PostgresVectors(*other, "model", is_compared_there=there)
    first.add([1, 2], some(2))
    second.add([2, 3], some(2, 5))
    assert {each for each, _ in first.search(some(1)[0], 9)} == {1, 2}
    assert {each for each, _ in second.search(some(1)[0], 9)} == {2, 3}
    assert first.forget([2, 3]) == 1
    assert sorted(second.hashes()) == [2, 3]


def test_a_process_reads_only_what_is_new(
    tables: tuple[Database, int], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(postgres_vectors, "_READ_AT_ONCE", 100)
    made, rows = PostgresVectors(*tables, "model"), some(250)
    made.add(range(1, 251), rows)
    database = tables[0]

    def trips(query: Any) -> int:
        before = database.trips
        found = made.search(query, 50)
        assert [score for _, score in found] == pytest.approx(expected(rows, query, 50), abs=HALF)
        return database.trips - before

    assert [trips(query) for query in some(3, 9)] == [3, 1, 1]
    rows = numpy.concatenate([rows, some(1, 99)])
    made.add([251], rows[-1:])
    assert [trips(query) for query in some(2, 8)] == [1, 1]


def name_of(owner: Database, memory: int) -> str:
    return str(
        owner.run(memory, "SELECT namespace FROM looseleaf.memories WHERE memory = %s", (memory,))[0][0]
    )


def owner_of(postgres: Running, database: Database) -> Database:
    return Database(parse_address(postgres.address(database_of(database.url), OWNER)))


def test_vectors_move_to_where_they_are_compared_and_many_get_an_index(
    postgres: Running, compared_there: tuple[Database, int], monkeypatch: pytest.MonkeyPatch
) -> None:
    database, memory = compared_there
    monkeypatch.setattr(postgres_vectors, "MANY", 300)
    monkeypatch.setattr(postgres_vectors, "_READ_AT_ONCE", 100)
    rows, owner = some(400), owner_of(postgres, database)
    PostgresVectors(database, memory, "model").add(range(1, 251), rows[:250])
    made = PostgresVectors(database, memory, "model", is_compared_there=True)
    assert made.missing(range(1, 251)) == list(range(1, 251))
    assert list(index_many(owner, memory, "model")) == ["moved 250 vectors of model"]
    assert sorted(made.hashes()) == list(range(1, 251))
    made.add(range(1, 401), rows)
    made_one = f"{name_of(owner, memory)}: made an index of the vectors of model"
    assert made_one in list(index_all(owner))
    assert list(index_all(owner)) == []
    assert list(index_many(owner, memory, "unheard of")) == []
    other = PostgresVectors(*new_memory(postgres), "model", is_compared_there=True)
    other.add(range(1, 401), some(400, 77))

    def plan_of(query: str) -> str:
        return "\n".join(str(row[0]) for row in database.run(memory, query))

    nearest = (
        "EXPLAIN SELECT hash FROM looseleaf.halfvectors WHERE memory = {} AND model = 1 "
        "ORDER BY v::public.halfvec(16) OPERATOR(public.<#>) array_fill(1, ARRAY[16])::public.halfvec LIMIT 5"
    )
    assert f"nearest_{memory}_1" in plan_of(nearest.format(memory))
    for query in some(5, 3):
        found = [score for _, score in made.search(query, 10)]
        assert found == pytest.approx(expected(rows, query, 10), abs=HALF)
        found = [score for _, score in other.search(query, 10)]
        assert found == pytest.approx(expected(some(400, 77), query, 10), abs=HALF)


def test_a_database_whose_extension_came_late_or_again_compares_there(postgres: Running) -> None:
    name = postgres.database()
    address = parse_address(postgres.address(name, namespace="a"))
    if not are_compared_there(Database(address)):
        pytest.skip("pgvector does not run on this processor")
    postgres.execute("DROP EXTENSION vector CASCADE", database=name)
    assert not are_compared_there(Database(address))
    postgres.execute("CREATE EXTENSION vector", database=name, role=SUPERUSER)
    migrate(parse_address(postgres.address(name, OWNER)))
    assert are_compared_there(Database(address))
    made = PostgresVectors(*PostgresStore.open(address, make=True).tables, "model", D, is_compared_there=True)
    assert made.add([1], some(1)) == 1
    assert made.search(some(1)[0], 1)[0][0] == 1
