"""A log of another machine that is gone for a while, or an older file in its place, takes nothing away: no page is made
without it. If it never comes back, `repair` goes on, and the pages keep their lines."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from looseleaf import Refused
from machines import FIRST, NAMES, Machines

SAID = {"Rome", "Acme", "Tom"}


@pytest.fixture
def machines(tmp_path: Path) -> Machines:
    return Machines(tmp_path)


def meet(machines: Machines) -> None:
    for _ in range(3):
        machines.carry_all()
        for name in NAMES:
            with machines.open(name) as memory:
                memory.facts()


def know(machines: Machines, name: str) -> set[str]:
    with machines.open(name) as memory:
        return {fact.object for fact in memory.facts()}


def lose(machines: Machines, how: str) -> None:
    """Lap says things in two steps, and all know them. Then the log of lap is not what it was on the first machine."""
    with machines.open("lap") as memory:
        memory.remember("I live in Rome.")
    meet(machines)
    older = machines.folder / "older"
    shutil.copytree(machines.log("lap", "lap"), older)
    with machines.open("lap") as memory:
        memory.remember("I work at Acme.")
        memory.remember("My cat is called Tom.")
        memory.state.update(goal="Win", author="person")
        memory.state.add_task("Run", author="person")
    meet(machines)
    assert know(machines, FIRST) >= SAID
    shutil.rmtree(machines.log(FIRST, "lap"))
    if how == "older":
        shutil.copytree(older, machines.log(FIRST, "lap"))
    elif how == "restored":  # from a backup, on lap itself, which goes on from there
        for part in (machines.log("lap", "lap"), machines["lap"] / "views"):
            shutil.rmtree(part)
        shutil.copytree(older, machines.log("lap", "lap"))
        with machines.open("lap") as memory:
            memory.record(user="I am here again.")
            memory.distill()
            memory.remember("I like figs.")
        machines.carry("lap", FIRST)


def write_on_both(machines: Machines) -> None:
    with machines.open(FIRST) as memory:
        memory.remember("I like pears.")
    with machines.open("phone") as memory:
        memory.remember("I like apples.")
    machines.carry("phone", FIRST)


@pytest.mark.parametrize("views", ["kept", "deleted"])
@pytest.mark.parametrize("how", ["older", "gone"])
def test_what_a_log_lacks_for_a_while_is_not_lost(machines: Machines, how: str, views: str) -> None:
    lose(machines, how)
    write_on_both(machines)
    if views == "deleted":
        shutil.rmtree(machines[FIRST] / "views")
    with machines.open(FIRST) as memory:
        found = {fact.object for fact in memory.facts()}
        assert found >= SAID | {"pears"}
        assert "apples" not in found  # nothing of other machines is taken in
        assert [note for note in memory.parts.notes if "The log of lap is gone" in note]
        assert [
            str(each) for each in memory.check() if "lap" in each.path and "older than it was" in each.message
        ]
    meet(machines)
    for name in NAMES:
        assert know(machines, name) == SAID | {"green tea", "pears", "apples"}
        with machines.open(name) as memory:
            assert memory.check() == []
    assert machines.pages(FIRST) == machines.pages("lap") == machines.pages("phone")


@pytest.mark.parametrize("how", ["older", "gone"])
def test_repair_goes_on_without_it_and_loses_no_line_of_a_page(machines: Machines, how: str) -> None:
    lose(machines, how)
    write_on_both(machines)
    with machines.open(FIRST) as memory:
        memory.state.add_task("Paint", author="person")
        assert [each for each in memory.repair() if "log of lap" in each]
        assert {fact.object for fact in memory.facts()} >= SAID | {"pears", "apples"}
        assert memory.check() == []
        assert memory.repair() == []
    shutil.rmtree(machines[FIRST] / "views")
    with machines.open(FIRST) as memory:
        assert {fact.object for fact in memory.facts()} >= SAID | {"pears", "apples"}
        assert memory.state.to_dict()["goal"] == "Win"
        assert [each["title"] for each in memory.state.to_dict()["tasks_open"]] == ["Run", "Paint"]
    for _ in range(2):
        machines.carry_all()
        for name in NAMES:
            with machines.open(name) as memory:
                memory.repair()
    meet(machines)
    for name in NAMES:
        assert know(machines, name) >= SAID | {"green tea", "pears", "apples"}
    assert machines.pages(FIRST) == machines.pages("lap") == machines.pages("phone")


@pytest.mark.parametrize("how", ["restored", "repaired"])
def test_what_a_log_has_lost_for_good_stays_on_the_pages_of_the_others(machines: Machines, how: str) -> None:
    if how == "restored":
        lose(machines, how)
    else:
        lose(machines, "gone")
        journal = machines.log("lap", "lap") / "journal.jsonl"
        lines = journal.read_bytes().splitlines(keepends=True)
        last = max(at for at, line in enumerate(lines) if b"USER.md" in line)
        lines[last] = b'{"x' + lines[last][5:]
        journal.write_bytes(b"".join(lines))
        with machines.open("lap") as memory:
            assert memory.repair()
            assert [str(each) for each in memory.check() if each.severity == "error"] == []
            memory.remember("I like figs.")
        machines.carry("lap", FIRST)
    with machines.open(FIRST) as memory:
        assert {fact.object for fact in memory.facts()} >= SAID | {"figs"}
        assert [note for note in memory.parts.notes if "the log of lap lacks" in note]
        assert [str(each) for each in memory.check() if each.severity == "error"] == []
    write_on_both(machines)
    assert know(machines, FIRST) >= SAID | {"pears", "apples", "figs"}
    meet(machines)
    for name in NAMES:
        assert know(machines, name) >= SAID | {"green tea", "pears", "apples", "figs"}
        with machines.open(name) as memory:
            assert [str(each) for each in memory.check() if each.severity == "error"] == []
            assert memory.parts.notes == []
    assert machines.pages(FIRST) == machines.pages("lap") == machines.pages("phone")


def test_repair_leaves_the_words_of_a_person_theirs_on_all_machines(machines: Machines) -> None:
    with machines.open("lap") as memory:
        memory.remember("I like plums.")
    machines.carry("lap", FIRST)
    assert "plums" in know(machines, FIRST)
    shutil.rmtree(machines.log(FIRST, "lap"))
    with machines.open("phone") as memory:
        memory.remember("I like kiwis.")
    machines.carry("phone", FIRST)
    with machines.open(FIRST) as memory:
        assert memory.repair()
    names = (FIRST, "phone")
    for _ in range(3):
        machines.carry_all(names)
        assert all(know(machines, name) for name in names)
    assert machines.facts(FIRST) == machines.facts("phone")
    with machines.open("phone") as memory:
        assert {fact.object: fact.level for fact in memory.facts()}["plums"] == "confirmed"


def test_nothing_is_undone_while_a_log_is_away(machines: Machines) -> None:
    with machines.open("lap") as memory:
        memory.remember("I live in Rome.")
    meet(machines)
    with machines.open(FIRST) as memory:
        memory.remember("I like pears.")
    with machines.open("phone") as memory:
        memory.remember("I like apples.")
    meet(machines)
    shutil.rmtree(machines.log(FIRST, "lap"))
    with machines.open(FIRST) as memory:
        before = memory.pages.read("USER.md").text
        with pytest.raises(Refused, match="The log of lap is gone"):
            memory.history.undo()
        assert memory.pages.read("USER.md").text == before


def test_what_a_machine_forgot_is_missed_by_nobody(machines: Machines) -> None:
    with machines.open("lap") as memory:
        memory.remember("I live in Rome.")
    meet(machines)
    with machines.open("lap") as memory:
        memory.forget(match="Rome")
    machines.carry("lap", FIRST)
    with machines.open("phone") as memory:
        memory.remember("I like apples.")
    machines.carry("phone", FIRST)
    with machines.open(FIRST) as memory:
        assert {fact.object for fact in memory.facts()} == {"green tea", "apples"}
        assert memory.check() == []
