"""A folder whose journal has the lines of two copies, as a union leaves it: it opens, says so, and `repair` makes one
memory of both, in which nothing is lost."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from looseleaf.base.errors import Refused
from machines import FIRST, Machines, unname

LAP = "lap"
FILES = ("log/journal.jsonl", "log/traces/main/raw_traces.jsonl")


@pytest.fixture
def machines(place: Path) -> Iterator[Machines]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("LOOSELEAF_MACHINE", FIRST)
        machines = Machines(place)
        with machines.open(FIRST) as memory:
            memory.record(user="Said before the copies were made.")
        shutil.rmtree(machines[LAP])
        shutil.copytree(machines[FIRST], machines[LAP])
        for name, words in (
            (FIRST, ("My name is Ana.", "I live in Lyon.")),
            (LAP, ("I live in Rome.", "My sister is Zoe.")),
        ):
            unname(machines[name])
            with machines.open(name) as memory:
                memory.record(user=f"Hello, {name}.")
                for each in words:
                    memory.remember(each)
            (machines[name] / "log" / "machine").unlink()
        yield machines


def join(machines: Machines, *, is_sealed: bool) -> None:
    """Join the lines of both copies in the folder of the first."""
    for name in FILES:
        ours, theirs = (
            (machines[each] / name).read_bytes().splitlines(keepends=True) for each in (FIRST, LAP)
        )
        both = ours + [line for line in theirs if line not in ours]
        (machines[FIRST] / name).write_bytes(b"".join(both))
    entries = Path("log") / "entries"
    shutil.copytree(machines[LAP] / entries, machines[FIRST] / entries, dirs_exist_ok=True)
    if is_sealed:
        with machines.open(FIRST) as memory:
            memory.parts.files.rotate("journal")


@pytest.mark.parametrize("is_sealed", [False, True])
@pytest.mark.parametrize("is_used", [False, True])
def test_two_copies_in_one_journal_are_told_parted_and_both_taken_in(
    machines: Machines, is_sealed: bool, is_used: bool
) -> None:
    join(machines, is_sealed=is_sealed)
    if is_used:
        with machines.open(FIRST) as memory:
            memory.facts()
            memory.record(user="Said since.")
    with machines.open(FIRST) as memory:
        problems = [each for each in memory.check() if each.severity == "error"]
        told = (
            "it has the records of two copies in one file; `looseleaf repair` parts them, and takes in both"
        )
        assert told in [each.message for each in problems]
        done = memory.repair()
        assert any("it has the records of two copies in one file; " in each for each in done)
        assert any("became a log of its own, log/on/desk-" in each for each in done)
        assert [str(each) for each in memory.check() if each.severity == "error"] == []
        facts = {fact.object: fact.level for fact in memory.facts()}
        assert {"Ana", "Rome", "green tea"} <= facts.keys()
        assert {facts[each] for each in ("Ana", "Rome")} == {"confirmed"}
        assert any("Zoe" in each for each in facts)
        page = memory.pages.read("USER.md").text
        assert memory.repair() == []
    with machines.open(LAP) as memory:
        memory.merge(machines[FIRST])
        assert memory.pages.read("USER.md").text == page
    with machines.open(FIRST) as memory:
        memory.merge(machines[LAP])
        assert memory.pages.read("USER.md").text == page
        assert [str(each) for each in memory.check() if each.severity == "error"] == []


def test_long_texts_and_entries_go_with_the_records_that_name_them(machines: Machines) -> None:
    for name in (FIRST, LAP):
        with machines.open(name) as memory:
            text = f"# {name}\n\n" + "".join(f"Part {number}{' of all' * 100}.\n\n" for number in range(400))
            memory.pages.edit(f"facts/{name}.md", text, reason="x", author="person")
        (machines[name] / "log" / "machine").unlink()
    bodies = Path("log") / "bodies"
    shutil.copytree(machines[LAP] / bodies, machines[FIRST] / bodies, dirs_exist_ok=True)
    join(machines, is_sealed=False)
    with machines.open(FIRST) as memory:
        assert memory.repair()
        assert [str(each) for each in memory.check() if each.severity == "error"] == []
        assert {"facts/desk.md", "facts/lap.md"} <= {*memory.pages.list()}
    (branch,) = (machines[FIRST] / "log" / "on").iterdir()
    assert {each.name for each in branch.iterdir()} == {"journal.jsonl", "bodies", "entries"}


def test_a_merge_names_the_journal_that_is_to_be_parted_first(machines: Machines) -> None:
    shutil.copytree(machines[FIRST], machines.folder / "alone")
    join(machines, is_sealed=False)
    shutil.copytree(machines["phone"], machines.folder / "third")
    for into, given in ((LAP, FIRST), (FIRST, "phone")):
        with machines.open("phone") as memory:
            memory.remember("I like rain.")
        with machines.open(into) as memory:
            for dry_run in (True, False):
                with pytest.raises(Refused, match=r"two copies in one file.*desk repair"):
                    memory.merge(machines[given], dry_run=dry_run)
