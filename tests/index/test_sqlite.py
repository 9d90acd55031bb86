"""The index in SQLite keeps the contract, in a file and in memory, whatever it is told and by however many."""

from __future__ import annotations

import os
import threading
from contextlib import closing
from pathlib import Path
from tempfile import mkdtemp
from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck, given, settings

from drawing import COSTLY, core, few
from index_contract import ANY, VOCABULARY, Act, IndexContract, Model, acts, ask, carry_out, is_as, item
from looseleaf.index.sqlite import DamagedIndex, SqliteIndex, error_of
from tables import check_rows

if TYPE_CHECKING:
    from collections.abc import Iterator


def opened(path: Path | None) -> SqliteIndex:
    index = SqliteIndex(str(path) if path is not None else None)
    assert index.open(make=True)
    return index


class TestIndexInAFile(IndexContract):
    @pytest.fixture
    def index(self, place: Path) -> Iterator[SqliteIndex]:
        with closing(opened(place / "index.sqlite")) as index:
            yield index
            assert index.faults() == []


class TestIndexInMemory(IndexContract):
    @pytest.fixture
    def index(self) -> Iterator[SqliteIndex]:
        with closing(opened(None)) as index:
            yield index


# --- whatever it is told -----------------------------------------------------------------


@settings(core, max_examples=few(100, COSTLY))
@given(acts)
def test_after_any_acts_an_index_in_memory_says_what_a_plain_dict_says(told: list[Act]) -> None:
    with closing(opened(None)) as index:
        model = Model()
        carry_out(index, model, told)
        is_as(index, model, VOCABULARY)


@settings(deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=few(25))
@given(told=acts)
def test_after_any_acts_an_index_in_a_file_says_what_a_plain_dict_says(place: Path, told: list[Act]) -> None:
    path = place / "index.sqlite"
    with closing(opened(path)) as index:
        model = Model()

        def open_again() -> None:
            index.close()
            assert index.open(make=False)

        carry_out(index, model, told, open_again)
        is_as(index, model, VOCABULARY)
        assert index.faults() == []
        with closing(opened(path)) as other:  # as another process sees it
            is_as(other, model, VOCABULARY)
        index.remove()


def test_an_index_that_forgets_to_count_down_fails_the_comparison(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(SqliteIndex, "_remove_items", lambda self, source, name: None)
    index, model = opened(None), Model()
    with closing(index):
        for each in (index, model):
            each.take("page:x", "1", [item("a", "tea", "prose")])
            each.take("page:x", "2", [item("b", "pot", "prose")], anew=True)
        with pytest.raises(AssertionError):
            is_as(index, model, VOCABULARY)


# --- its file --------------------------------------------------------------------------


def test_a_missing_file_is_made_only_on_demand_and_for_nobody_else_to_read(place: Path) -> None:
    path = place / "index.sqlite"
    index = SqliteIndex(str(path))
    assert not index.open(make=False)
    assert not path.exists()
    assert index.open(make=True)
    if os.name == "posix":
        assert {file.stat().st_mode & 0o777 for file in place.iterdir()} == {0o600}
    index.close()


@pytest.mark.parametrize("name", ["a?mode=memory.sqlite", "a%20b#c.sqlite", "ä ö;'\".sqlite"])
def test_a_path_that_means_something_in_a_uri_is_a_path(place: Path, name: str) -> None:
    with closing(opened(place / name)) as index:
        index.take("page:x", "1", [item("a", "tea", "prose")])
    assert name in os.listdir(place)
    with closing(opened(place / name)) as index:
        assert ask(index, "tea") == ["a"]


def test_what_one_handle_wrote_another_reads_at_once(place: Path) -> None:
    path = place / "index.sqlite"
    with closing(opened(path)) as one, closing(opened(path)) as other:
        for number in range(20):
            writer, reader = (one, other) if number % 2 else (other, one)
            writer.take("traces/a", str(number), [item(f"t{number}", f"tea w{number}", session="s")])
            assert ask(reader, f"w{number}") == [f"t{number}"]
            assert reader.mark("traces/a") == str(number)


def test_threads_that_write_through_handles_of_their_own_lose_nothing(place: Path) -> None:
    path = place / "index.sqlite"
    opened(path).close()
    failed: list[BaseException] = []

    def write(who: int) -> None:
        try:
            with closing(opened(path)) as index:
                for number in range(15):
                    index.take(
                        f"traces/{who}",
                        str(number),
                        [item(f"{who}.{number}", f"tea t{who}n{number}", session="s")],
                    )
        except BaseException as error:
            failed.append(error)
            raise

    threads = [threading.Thread(target=write, args=(who,)) for who in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failed == []
    model = Model()
    for who in range(4):
        for number in range(15):
            model.take(
                f"traces/{who}", str(number), [item(f"{who}.{number}", f"tea t{who}n{number}", session="s")]
            )
    with closing(opened(path)) as index:
        is_as(index, model, ["tea"])


def test_a_file_removed_under_it_is_let_go_and_what_stood_beside_it_too(place: Path) -> None:
    path = place / "index.sqlite"
    index = opened(path)
    index.take("page:x", "1", [item("a", "tea", "prose")])
    assert (place / "index.sqlite-wal").stat().st_size > 0
    path.unlink()
    assert not index.open(make=False)
    assert index.open(make=True)
    is_as(index, Model(), ["tea"])
    index.close()


def test_removing_leaves_a_file_that_another_process_has_made_meanwhile(place: Path) -> None:
    path = place / "index.sqlite"
    old = opened(path)
    path.unlink()
    with closing(opened(path)) as new:
        new.take("page:x", "1", [item("a", "tea", "prose")])
        old.remove()
        assert path.exists()
        assert ask(new, "tea") == ["a"]


def test_a_handle_of_a_removed_file_does_not_harm_its_successor_when_it_closes(place: Path) -> None:
    path = place / "index.sqlite"
    old = opened(path)
    old.take("page:x", "old", [item("a", "pot", "prose")])
    path.unlink()
    with closing(opened(path)) as new:
        new.take("page:x", "new", [item("a", "tea", "prose")])
        old.close()
        with closing(opened(path)) as third:
            assert ask(third, "tea") == ["a"]
            assert ask(third, "pot") == []
        assert new.faults() == []


def test_a_file_that_defines_something_else_is_not_ours(place: Path) -> None:
    def check(statement: str) -> None:
        folder = Path(mkdtemp(dir=place))
        import sqlite3

        path = folder / "index.sqlite"
        opened(path).close()
        with closing(sqlite3.connect(path)) as connection:
            connection.execute(statement)
            connection.commit()
        with pytest.raises(DamagedIndex):
            opened(path)

    check_rows(
        check,
        [
            "PRAGMA user_version = 99",
            "PRAGMA user_version = 0",
            "CREATE VIEW v AS SELECT 1",
            "CREATE TRIGGER t AFTER INSERT ON item BEGIN DELETE FROM word; END",
            "CREATE TABLE more (x)",
            "DROP TABLE mean",
            "ALTER TABLE item ADD COLUMN more",
            "CREATE INDEX another ON item (name)",
        ],
    )


def test_the_index_by_hash_is_ours(place: Path) -> None:
    path = place / "index.sqlite"
    with closing(opened(path)) as index:
        index.by_hash([1], ANY)
    opened(path).close()


def test_a_disk_error_is_no_damage() -> None:
    import sqlite3

    full = sqlite3.OperationalError("database or disk is full")
    full.sqlite_errorcode = sqlite3.SQLITE_FULL
    assert isinstance(error_of(full), OSError)
    torn = sqlite3.DatabaseError("malformed")
    torn.sqlite_errorcode = sqlite3.SQLITE_CORRUPT
    assert isinstance(error_of(torn), DamagedIndex)
    assert isinstance(error_of(UnicodeDecodeError("utf-8", b"\xff", 0, 1, "")), DamagedIndex)
