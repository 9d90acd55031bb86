"""A backup is copied over a memory that has forgotten something since: what was forgotten does not come back to the
other machines, `check` says what to do, and `repair` forgets it again."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pytest

from looseleaf import Memory
from looseleaf.base.errors import Refused
from machines import FIRST, Machines

WORD = "Zanzibarium"


@pytest.fixture
def machines(tmp_path: Path) -> Machines:
    return Machines(tmp_path)


def selected(memory: Memory, by: str) -> dict[str, Any]:
    if by == "fact":
        return {"fact": next(fact.id for fact in memory.facts() if fact.relation == "Home")}
    if by == "session":
        return {"session": next(each.session_id for each in memory.talk.sessions() if WORD in each.opening)}
    return {"match": WORD}


def restored(machines: Machines, by: str) -> None:
    """Both machines have forgotten it, and then the first has the log of before again, and its tombstones."""
    with machines.open(FIRST) as memory:
        memory.record(user=f"I live in {WORD}.")
        memory.record(assistant="I see.")
        memory.distill()
    shutil.rmtree(machines["lap"])
    shutil.copytree(machines[FIRST], machines["lap"])
    shutil.copytree(machines[FIRST], machines.folder / "backup")
    with machines.open("lap") as memory:
        memory.remember("My dog is called Rex.")
    with machines.open(FIRST) as memory:
        assert memory.forget(**selected(memory, by)).is_complete
    for _ in range(2):
        merge(machines, "lap", FIRST)
        merge(machines, FIRST, "lap")
    assert holding(machines, "lap") == holding(machines, FIRST) == []
    shutil.copytree(machines.folder / "backup", machines[FIRST], dirs_exist_ok=True)


def merge(machines: Machines, name: str, other: str) -> None:
    with machines.open(name) as memory:
        memory.merge(machines[other])


def holding(machines: Machines, name: str) -> list[str]:
    return [
        str(path)
        for path in machines[name].rglob("*")
        if path.is_file() and "late" not in path.parts and WORD.encode() in path.read_bytes()
    ]


def errors(memory: Memory) -> list[str]:
    return [str(each) for each in memory.check() if each.severity == "error"]


@pytest.mark.parametrize("by", ["match", "fact", "session"])
@pytest.mark.parametrize("says_more", [False, True])
def test_what_a_backup_brings_back_is_not_spread_and_is_forgotten_again_by_repair(
    machines: Machines, by: str, says_more: bool
) -> None:
    restored(machines, by)
    with machines.open(FIRST) as memory:
        if says_more:
            memory.remember("My boat is red.")
            memory.record(user="Good evening.")
        found = errors(memory)
        assert len(found) == 1
        assert "older than what was forgotten" in found[0]
        assert "looseleaf repair" in found[0]
    if says_more:
        with pytest.raises(Refused, match=r"Nothing was merged: .*older than what was forgotten.*repair"):
            merge(machines, "lap", FIRST)
    else:
        merge(machines, "lap", FIRST)
    assert holding(machines, "lap") == []
    assert [path.name for path in (machines["lap"] / "log" / "on").iterdir()] == ["lap"]
    with machines.open(FIRST) as memory:
        with pytest.raises(Refused, match=r"Nothing was merged: .*older than what was forgotten.*repair"):
            memory.merge(machines["lap"])
        assert any("forgotten again" in each for each in memory.repair())
        assert errors(memory) == []
        assert not any(WORD in fact.object for fact in memory.facts())
        assert memory.repair() == []
    assert holding(machines, FIRST) == []
    for _ in range(2):
        merge(machines, "lap", FIRST)
        merge(machines, FIRST, "lap")
    assert holding(machines, "lap") == holding(machines, FIRST) == []
    for name in (FIRST, "lap"):
        with machines.open(name) as memory:
            assert errors(memory) == []
            assert {"Rex", *(["red"] if says_more else [])} <= {
                word for fact in memory.facts() for word in fact.object.replace(".", "").split()
            }
    assert machines.pages(FIRST) == machines.pages("lap")


def test_an_older_log_at_the_place_of_a_sync_is_replaced(machines: Machines) -> None:
    place = machines.folder / "place"
    with machines.open(FIRST) as memory:
        memory.remember(f"I live in {WORD}.")
        memory.sync(str(place))
    shutil.copytree(place, machines.folder / "backup")
    with machines.open(FIRST) as memory:
        memory.forget(match=WORD)
        memory.sync(str(place))
    shutil.copytree(machines.folder / "backup", place, dirs_exist_ok=True)
    with machines.open(FIRST) as memory:
        memory.sync(str(place))
        assert not any(WORD in fact.object for fact in memory.facts())
    assert not [path for path in place.rglob("*") if path.is_file() and WORD.encode() in path.read_bytes()]
    assert holding(machines, FIRST) == []
