"""What is forgotten is in no row, no statistics and no process's answers, and no late write brings it back."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import psycopg
import pytest

from database_actors import STREAM, forget_word, open_store
from looseleaf import Memory
from looseleaf.base.errors import Displaced, NotFound, Outdated, Refused
from looseleaf.base.ids import new_id
from looseleaf.pages.folder import init
from looseleaf.store.postgres.address import parse_address
from looseleaf.store.postgres.embedded import SUPERUSER
from looseleaf.store.postgres.look import Lines
from looseleaf.store.postgres.rows import MemoryRows
from looseleaf.store.postgres.store import PostgresStore
from looseleaf.transfer.move import move
from tables import check_rows

if TYPE_CHECKING:
    from postgres import Running

WORD = "Zwibberdonk"
NEEDLE = b"zwibberd"
"""What is left of the word wherever a piece of it is."""


# --- where it may stand ------------------------------------------------------------------------


def rows_with(running: Running, database: str) -> list[str]:
    """Return the tables that have the word in a row, and the columns that statistics have it of."""
    found = []
    with psycopg.connect(running.address(database, SUPERUSER), autocommit=True) as wire:
        tables = (
            "SELECT oid::regclass::text FROM pg_class "
            "WHERE relnamespace = 'looseleaf'::regnamespace AND relkind = 'r'"
        )
        for (table,) in wire.execute(tables).fetchall():
            with wire.cursor().copy(f"COPY {table} TO STDOUT (FORMAT binary)".encode()) as copy:
                if NEEDLE in b"".join(bytes(data) for data in copy).lower():
                    found.append(str(table))
        columns = "SELECT starelid::regclass::text, stavalues1::text, stavalues2::text FROM pg_statistic"
        for table, *values in wire.execute(columns).fetchall():
            hexed = [NEEDLE[1:].hex(), NEEDLE.decode()]
            if any(each in str(value).lower() for value in values for each in hexed):
                found.append(f"statistics of {table}")
    return sorted({each.rstrip("0123456789").rstrip("_") for each in found})


def files_with(running: Running) -> list[str]:
    """Return the server's files with the word, but for its log of changes, which expires."""
    running.execute("CHECKPOINT")
    base = running.server.data / "base"
    paths = (each for each in base.rglob("*") if each.is_file())
    return [str(path.relative_to(base)) for path in paths if NEEDLE in path.read_bytes().lower()]


def vacuum(running: Running, database: str) -> None:
    """Write all tables with rows anew."""
    used = (
        "SELECT string_agg(oid::regclass::text, ', ') FROM pg_class "
        "WHERE relnamespace = 'looseleaf'::regnamespace AND relkind = 'r' AND pg_relation_size(oid) > 0"
    )
    ((tables,),) = running.execute(used, database=database)
    running.execute(f"VACUUM FULL {tables}", database=database)


def say_everywhere(where: str) -> None:
    """Say it in talk, in a long text, in facts, in pages, in prompts and in what recall searches."""
    with Memory(where) as memory:
        for number in range(30):
            memory.record(user=f"Message {number} about the garden and the weather.")
        memory.record(user=f"I live in {WORD}.")
        memory.record(assistant=f"{WORD} is a fine place. " + "x" * 300_000)
        memory.remember(f"My sister works in {WORD}.")
        memory.distill()
        assert any(WORD in str(hit) for hit in memory.recall(f"Where is {WORD}?"))
        assert WORD in memory.prompt("Where do I live?").text


def test_after_a_forgetting_no_row_and_no_file_has_the_words(durable: Running) -> None:
    database = durable.database()
    where = durable.address(database, namespace="forgets")
    say_everywhere(where)
    durable.execute("ANALYZE", database=database)
    before = rows_with(durable, database)
    assert not [each for each in before if "statistics" in each]
    assert {"looseleaf.records", "looseleaf.documents", "looseleaf.items"} <= {*before}
    assert files_with(durable)
    with Memory(where) as other, Memory(where) as memory:
        recalled = other.recall(f"Where is {WORD}?")
        assert WORD in str(recalled) + other.prompt("Where do I live?").text
        done = memory.forget(match=WORD)
        assert done.is_complete
        assert WORD not in str(other.recall(f"Where is {WORD}?"))
        assert WORD not in other.prompt("Where do I live?").text
        assert WORD not in str(other.facts())
        assert WORD not in str([line.record for line in other.parts.store.read(STREAM)])
    assert rows_with(durable, database) == []
    vacuum(durable, database)
    assert files_with(durable) == []


def test_the_dump_finds_what_a_clearing_leaves(durable: Running) -> None:
    """A mutant: the index is not cleared, and the views stay."""
    database = durable.database()
    where = durable.address(database, namespace="forgets")
    say_everywhere(where)
    durable.execute(
        "CREATE OR REPLACE FUNCTION looseleaf.clear_views(m bigint) RETURNS void LANGUAGE sql AS 'SELECT NULL::void'",
        database=database,
    )
    with open_store(where) as store:
        forget_word(store, WORD)
    assert {"looseleaf.items", "looseleaf.documents"} <= {*rows_with(durable, database)}


# --- other processes -------------------------------------------------------------------------


@pytest.fixture
def two(postgres: Running) -> Iterator[tuple[PostgresStore, PostgresStore]]:
    where = postgres.memory()
    with open_store(where) as store, open_store(where) as other:
        store.append(STREAM, [{"id": new_id(), "text": WORD}, {"id": new_id(), "text": "more"}])
        store.put(f"facts/{WORD}.md", WORD.encode(), base=None)
        store.view("views/x.md", WORD.encode())
        yield store, other


def answers(store: PostgresStore) -> str:
    pages = [store.get(path) for path in (f"facts/{WORD}.md", "views/x.md")]
    lines = [*store.read(STREAM), *store.read_back(STREAM)]
    return str([line.record for line in lines]) + str([page.data for page in pages if page is not None])


def test_another_process_s_next_look_answers_without_what_was_forgotten(
    two: tuple[PostgresStore, PostgresStore],
) -> None:
    store, other = two
    for look in (other.look, other.lock):
        with look():
            assert (WORD in answers(other)) == (look == other.look)
        if look == other.look:
            forget_word(store, WORD)
    with other.look():
        assert WORD not in answers(other)
    assert WORD not in answers(other)


def keep_all(self: Any, *_: object) -> None:
    pass


def one_edition(self: MemoryRows, rows: Any, values: Any) -> Any:
    return take_look(self, [(0, *rows[0][1:])], values)


take_look = MemoryRows._take_look


@pytest.mark.parametrize(
    ("where", "name", "fault"), [(Lines, "drop", keep_all), (MemoryRows, "_take_look", one_edition)]
)
def test_a_process_that_keeps_what_it_read_is_found_out(
    two: tuple[PostgresStore, PostgresStore],
    monkeypatch: pytest.MonkeyPatch,
    where: Any,
    name: str,
    fault: Any,
) -> None:
    monkeypatch.setattr(where, name, fault)
    with pytest.raises(AssertionError):
        test_another_process_s_next_look_answers_without_what_was_forgotten(two)


def test_lines_read_before_a_move_are_not_answered_after_the_way_back(
    postgres: Running, tmp_path: Path
) -> None:
    """Forgotten in the folder, meanwhile: the process that knew the memory in the database must not know it better."""
    where, begun = postgres.memory(), str(tmp_path / "begun")
    init(begun)
    with Memory(begun) as memory:
        memory.record(user=f"I live in {WORD}.")
    move(begun, where)
    with PostgresStore.open(parse_address(where)) as store:
        with store.look():
            assert WORD in str([line.record for line in store.read(STREAM)])
        move(where, str(tmp_path / "memory"))
        with pytest.raises(Displaced):
            store.append(STREAM, [{"id": new_id()}])
        with Memory(str(tmp_path / "memory")) as memory:
            memory.forget(match=WORD)
        move(str(tmp_path / "memory"), where)
        with store.look():
            assert WORD not in str([line.record for line in store.read(STREAM)])


def test_a_memory_that_moved_away_forgets_nothing_here(postgres: Running, tmp_path: Path) -> None:
    """Who says that it is forgotten must have looked where it is."""
    where = postgres.memory()
    with Memory(where) as memory:
        memory.record(user=f"I live in {WORD}.")
        move(where, str(tmp_path / "memory"))
        with pytest.raises(Displaced, match="moved to"):
            memory.forget(match=WORD)


# --- writes that rest on it ------------------------------------------------------------------

Act = Callable[[PostgresStore], object]

LATE: dict[str, Act] = {
    "append": lambda store: store.append(STREAM, [{"id": "late", "text": WORD}]),
    "batch": lambda store: store.append(
        STREAM, [{"id": "late", "text": WORD}, {"id": "late2", "text": WORD}]
    ),
    "append with a body": lambda store: store.append(STREAM, [{"id": "late", "text": WORD * 500}]),
    "put": lambda store: store.put("facts/late.md", WORD.encode(), base=None),
    "put with record": lambda store: store.put(
        "facts/late.md", WORD.encode(), base=None, record={"id": "late", "text": WORD * 500}
    ),
    "publish": lambda store: store.publish("log/entries/late/1", {"raw.md": WORD.encode()}),
    "view": lambda store: store.view("views/late.md", WORD.encode()),
    "lock": lambda store: store.lock().__enter__(),
}


def write_late(store: PostgresStore, other: PostgresStore, act: Act) -> BaseException | None:
    """Write what rests on text that is forgotten while the write waits for the lock; return what it raised."""
    raised: list[BaseException | None] = []

    def write() -> None:
        try:
            with store.reading(of=began):
                act(store)
            raised.append(None)
        except Refused as error:
            raised.append(error)

    began = store.edition()
    thread = threading.Thread(target=write)
    with other.lock():
        thread.start()
        query = "SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND NOT granted AND objid = %s"
        deadline = time.monotonic() + 10
        while other.database.run(None, query, (other.memory,)) == [(0,)]:
            assert time.monotonic() < deadline, "it did not wait"
        forget_word(other, WORD)
    thread.join()
    return raised[0]


def is_there(store: PostgresStore) -> bool:
    query = "SELECT count(*) FROM looseleaf.documents WHERE memory = %s AND position(%s IN data) > 0"
    rows = store.run(query, (store.memory, WORD.encode()))
    return rows != [(0,)] or WORD in answers(store)


def test_a_write_that_waited_while_its_text_was_forgotten_is_refused(postgres: Running) -> None:
    def check(name: str) -> None:
        where = postgres.memory()
        with open_store(where) as store, open_store(where) as other:
            store.append(STREAM, [{"id": new_id(), "text": WORD}])
            assert isinstance(write_late(store, other, LATE[name]), Outdated)
            assert not is_there(store)

    check_rows(check, LATE)


def test_a_write_that_asks_before_it_waits_brings_it_back(postgres: Running) -> None:
    """A mutant: the edition is looked at before the lock is had."""
    database = postgres.database()
    source = "SELECT pg_get_functiondef('looseleaf.append_line'::regproc)"
    ((text,),) = postgres.execute(source, database=database)
    wait = "    PERFORM pg_advisory_xact_lock_shared(m);\n"
    before, loop, after = text.replace(wait, "").partition("    LOOP\n")
    assert wait in text
    postgres.execute(f"{before}{wait}{loop}{after}", database=database)
    where = postgres.address(database, namespace="late")
    with open_store(where) as store, open_store(where) as other:
        store.append(STREAM, [{"id": new_id(), "text": WORD}])
        assert write_late(store, other, LATE["append"]) is None
        assert is_there(store)


def test_what_was_never_said_is_not_forgotten(postgres: Running) -> None:
    with Memory(postgres.memory()) as memory, pytest.raises(NotFound):
        memory.forget(match=WORD)
