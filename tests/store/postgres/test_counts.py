"""Token counts in a database: kept for all processes, and never missed."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from looseleaf.models.tokens import TokenCounts, load
from postgres import Running, refuse_without_server

refuse_without_server()

from looseleaf.store.postgres import counts as module  # noqa: E402 (needs the extra)
from looseleaf.store.postgres.address import Address, parse_address  # noqa: E402
from looseleaf.store.postgres.counts import CountsTable  # noqa: E402
from looseleaf.store.postgres.database import Database  # noqa: E402
from looseleaf.store.postgres.store import PostgresStore  # noqa: E402

if TYPE_CHECKING:
    from looseleaf.models.tokens import TokenCounter

TEXTS = ["green tea", "", "a tool said \ud800", "\0", "straßenbahn " * 50]


def unloadable(name: str) -> TokenCounter:
    raise AssertionError(f"{name} was loaded")


@pytest.fixture
def tables(postgres: Running) -> tuple[Database, int]:
    return PostgresStore.open(parse_address(postgres.memory()), make=True).tables


def test_what_one_process_counted_another_reads_without_a_vocabulary(tables: tuple[Database, int]) -> None:
    counted = TokenCounts(None, kept=CountsTable(*tables, "o200k_base")).count(TEXTS)
    again = TokenCounts(None, loader=unloadable, kept=CountsTable(*tables, "o200k_base"))
    assert again.count(TEXTS) == counted == [load()(text) for text in TEXTS]
    with pytest.raises(AssertionError, match="was loaded"):
        TokenCounts(None, "llama2", loader=unloadable, kept=CountsTable(*tables, "llama2")).count(TEXTS)


def test_another_memory_has_counts_of_its_own(postgres: Running, tables: tuple[Database, int]) -> None:
    other = PostgresStore.open(parse_address(postgres.memory()), make=True).tables
    CountsTable(*tables, "o200k_base").write({b"x" * 16: 3})
    assert CountsTable(*tables, "o200k_base").read([b"x" * 16]) == {b"x" * 16: 3}
    assert CountsTable(*other, "o200k_base").read([b"x" * 16]) == {}


def test_counts_that_grow_too_many_are_begun_again(
    tables: tuple[Database, int], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "MOST", 10)
    table = CountsTable(*tables, "o200k_base")
    table.write({bytes([200, number]) * 8: number for number in range(20)})
    assert len(table.read([bytes([200, number]) * 8 for number in range(20)]) or ()) == 20
    table.write({bytes(16): 7})
    assert table.read([bytes(16), bytes([200, 1]) * 8]) == {bytes(16): 7}


def test_a_database_that_is_away_fails_no_count(postgres: Running, monkeypatch: pytest.MonkeyPatch) -> None:
    from looseleaf.store.postgres import database

    monkeypatch.setattr(database, "AWAY_SECONDS", 0.0)
    away = Database(Address("postgresql://looseleaf@127.0.0.1:1/nowhere"))
    counts = TokenCounts(None, kept=CountsTable(away, 1, "o200k_base"))
    assert counts.count(TEXTS) == [load()(text) for text in TEXTS]
