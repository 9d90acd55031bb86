"""The last steps of a move: killed at any of them, one place is open, and the same command repeated ends it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from looseleaf import Memory
from looseleaf.base.errors import Displaced, Refused
from looseleaf.store.files import FileStore
from looseleaf.store.postgres.arrival import Arrival
from looseleaf.store.postgres.store import PostgresStore
from looseleaf.transfer import move as moving
from looseleaf.transfer.move import move
from looseleaf.work.queue import cancel, defer, receive

if TYPE_CHECKING:
    from postgres import Running


class Killed(BaseException):
    """The process ends here."""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    with Memory(tmp_path / "memory") as memory:
        memory.record(user="I live in Lyon.")
        memory.remember("My cat is called Mimi.")
    return tmp_path / "memory"


def kill(*_: Any, **__: Any) -> None:
    raise Killed


def is_open(where: str | Path) -> bool:
    """True if somebody can write there."""
    try:
        with Memory(where) as memory:
            memory.record(user="Written meanwhile.")
    except Displaced:
        return False
    return True


def said(where: str | Path) -> list[str]:
    with Memory(where) as memory:
        return [trace.content for turn in memory.talk.turns(100) for trace in turn.traces]


def test_killed_before_the_folder_is_closed_all_goes_on_there(
    folder: Path, postgres: Running, monkeypatch: pytest.MonkeyPatch
) -> None:
    address = postgres.memory()
    with monkeypatch.context() as killed:
        killed.setattr(FileStore, "leave", kill)
        with pytest.raises(Killed):
            move(str(folder), address)
    assert (is_open(address), is_open(folder)) == (False, True)
    move(str(folder), address)
    assert said(address) == ["I live in Lyon.", "Written meanwhile."]
    assert (is_open(address), is_open(folder)) == (True, False)


def test_killed_before_the_database_is_opened_the_same_command_opens_it(
    folder: Path, postgres: Running, monkeypatch: pytest.MonkeyPatch
) -> None:
    address = postgres.memory()
    with monkeypatch.context() as killed:
        killed.setattr(Arrival, "open", kill)
        with pytest.raises(Killed):
            move(str(folder), address)
    assert (is_open(address), is_open(folder)) == (False, False)
    move(str(folder), address)
    assert said(address) == ["I live in Lyon."]
    move(str(folder), address)  # and again, when all is done
    assert (is_open(address), is_open(folder)) == (True, False)


@pytest.mark.parametrize("step", ["leave", "_open_again"])
def test_killed_on_the_way_back_one_place_at_most_is_open_and_the_same_command_ends_it(
    folder: Path, postgres: Running, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, step: str
) -> None:
    address, back = postgres.memory(), tmp_path / "back"
    move(str(folder), address)
    with monkeypatch.context() as killed:
        killed.setattr(PostgresStore if step == "leave" else moving, step, kill)
        with pytest.raises(Killed):
            move(address, str(back))
    assert not is_open(back)
    move(address, str(back))
    assert (is_open(address), is_open(back)) == (False, True)
    assert said(back) == ["I live in Lyon.", "Written meanwhile."]


def test_it_moves_back_to_where_it_came_from(folder: Path, postgres: Running) -> None:
    address = postgres.memory()
    move(str(folder), address)
    move(address, str(folder))
    assert (is_open(address), is_open(folder)) == (False, True)
    move(str(folder), address)
    assert said(address) == ["I live in Lyon.", "Written meanwhile."]
    assert is_open(address)
    with pytest.raises(Refused, match="has gone on since"):
        move(address, str(folder))
    assert (is_open(address), is_open(folder)) == (True, False)


def test_a_folder_with_more_in_it_is_another_memory(folder: Path, postgres: Running) -> None:
    address = postgres.memory()
    move(str(folder), address)
    (folder / "facts/more.md").write_text("# More\n")
    with pytest.raises(Refused, match="another memory"):
        move(address, str(folder))
    assert is_open(address)


def test_a_memory_whose_import_waits_does_not_move(folder: Path, postgres: Running, tmp_path: Path) -> None:
    address = postgres.memory()
    move(str(folder), address)
    with Memory(address) as memory:
        store = memory.parts.store
        number = defer(store, "import", source=receive(store, "talk.jsonl", b"{}\n"), format="messages")
        with pytest.raises(Refused, match="an import of this memory waits"):
            move(address, str(tmp_path / "back"))
        cancel(store, number)
    move(address, str(tmp_path / "back"))
    assert is_open(tmp_path / "back")
