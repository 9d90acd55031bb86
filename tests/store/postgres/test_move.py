"""Memories of every kind move into a database and back, byte for byte: also damaged ones, which stay as damaged."""

from __future__ import annotations

import json
import re
import shlex
import shutil
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from looseleaf import Memory
from looseleaf.base.errors import NotFound, Refused
from looseleaf.cli.main import main
from looseleaf.pages.in_database import clear
from looseleaf.transfer.move import move
from tables import check_rows

if TYPE_CHECKING:
    from postgres import Running

FOLDERS = Path(__file__).parents[2] / "folders"
LOCOMO = Path(__file__).parents[4] / "shared/data/locomo10.json"
ONLY = ("views/", "log/lock", "log/turn", "log/moved", "log/aside/late", "log/forgetter")


def files_of(folder: Path) -> dict[str, bytes]:
    """Return what a memory is: all but views and locks. An empty file of a log says nothing."""
    found = {
        path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()
    }
    return {
        name: data
        for name, data in found.items()
        if not name.startswith(ONLY) and (data or not name.endswith(".jsonl"))
    }


def there_and_back(folder: Path, address: str, back: Path) -> None:
    with Memory(folder) as memory:
        facts = [fact.to_dict() for fact in memory.facts()]
    assert move(str(folder), address).left_out == ()
    before = files_of(folder)
    with Memory(address) as memory:
        assert [fact.to_dict() for fact in memory.facts()] == facts
    move(address, str(back))
    after = files_of(back)
    assert after.keys() == before.keys()
    assert [name for name, data in before.items() if after[name] != data] == []


def test_every_folder_that_can_be_opened_comes_back_as_it_was(tmp_path: Path, postgres: Running) -> None:
    moved: list[str] = []

    def check(name: str) -> None:
        shutil.copytree(FOLDERS / name / "memory", tmp_path / name, symlinks=True)
        try:
            with Memory(tmp_path / name) as memory:
                memory.facts()
        except Refused:
            return  # it is refused as a folder too
        there_and_back(tmp_path / name, postgres.memory(), tmp_path / f"{name} back")
        moved.append(name)

    check_rows(check, sorted(path.parent.name for path in FOLDERS.glob("*/memory")))
    assert len(moved) > 25


@pytest.mark.skipif(not LOCOMO.exists(), reason="the conversations of LoCoMo are not here")
@pytest.mark.long
def test_long_talks_come_back_as_they_were(tmp_path: Path, postgres: Running) -> None:
    for number, raw in enumerate(json.loads(LOCOMO.read_text("utf-8"))[:3]):
        folder = tmp_path / str(number)
        talk = raw["conversation"]
        with Memory(folder) as memory:
            with memory.batch() as batch:
                for name in sorted(
                    key for key in talk if key.startswith("session_") and isinstance(talk[key], list)
                ):
                    for said in talk[name]:
                        batch.record(user=f"{said['speaker']}: {said['text']}")
            memory.distill()
            memory.prompt("What happened?", budget=8000)
        there_and_back(folder, postgres.memory(), tmp_path / f"{number} back")


def test_what_a_memory_left_in_a_database_is_removed_by_the_command_that_is_told(
    tmp_path: Path, postgres: Running, capsys: pytest.CaptureFixture[str]
) -> None:
    address = postgres.memory()
    with pytest.raises(NotFound, match="there is no memory at"):
        clear(address)
    with Memory(address) as memory:
        memory.record(user="I live in Lyon.")
    with pytest.raises(Refused, match="has not moved away"):
        clear(address)
    with Memory(address) as memory:
        assert memory.recall("Where do I live?")
    assert main(["move", address, str(tmp_path / "back")]) == 0
    told = re.search(r"`looseleaf (database clear [^`]*)` removes it", capsys.readouterr().err)
    assert told is not None
    number = "(SELECT memory FROM looseleaf.memories WHERE namespace = %s)"
    query = f"SELECT count(*) FROM looseleaf.records WHERE memory = {number}"
    name, database = address.partition("namespace=")[2], address.partition("?")[0].rpartition("/")[2]
    assert postgres.execute(query, (name,), database=database) != [(0,)]
    assert main(shlex.split(told[1])) == 0
    assert capsys.readouterr().out == f"What was left is removed. The memory is at {tmp_path / 'back'}.\n"
    for table in ("records", "documents", "streams", "items"):
        query = f"SELECT count(*) FROM looseleaf.{table} WHERE memory = {number}"
        assert postgres.execute(query, (name,), database=database) == [(0,)], table
    with pytest.raises(Refused, match=f"this memory moved to {tmp_path / 'back'}"):
        Memory(address)
    with Memory(tmp_path / "back") as memory:
        assert memory.recall("Where do I live?")
    assert move(str(tmp_path / "back"), address).files > 0
    with Memory(address) as memory:
        assert memory.recall("Where do I live?")
