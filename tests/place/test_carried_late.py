"""What a copier carries comes in any order: a journal before the talk that it rests on, a file before its journal, an
old file over a new one. In the end it makes no difference."""

from __future__ import annotations

import json
import os
import shutil
import time
from typing import TYPE_CHECKING

import pytest

from looseleaf.pages.outside_edits import OutsideEdits
from machines import FIRST, NOT_CARRIED, Machines

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

LAP = "lap"


@pytest.fixture
def machines(place: Path) -> Iterator[Machines]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("LOOSELEAF_MACHINE", FIRST)
        yield Machines(place)


def learn(machines: Machines, name: str, *said: str) -> None:
    with machines.open(name) as memory:
        for text in said:
            memory.record(user=text)
            memory.record(assistant="I see.")
        memory.record(user="Bye.")
        memory.distill()


def levels(machines: Machines, name: str, topic: str | None = None) -> dict[str, str | None]:
    with machines.open(name) as memory:
        return {fact.object: fact.level for fact in memory.facts(topic=topic)}


# --- a journal before what it rests on -----------------------------------------------------


@pytest.mark.parametrize("late", ["traces", "entries"])
def test_a_level_is_decided_again_when_its_proof_arrives(machines: Machines, late: str) -> None:
    learn(machines, LAP, "I live in Lyon.")
    assert levels(machines, LAP)["Lyon"] == "said"
    journal = machines.log(LAP, LAP) / "journal.jsonl"
    lines = journal.read_bytes().splitlines(keepends=True)
    # Of what was distilled, the record that says from what is cut off as well: it is on its way.
    cut = next(at for at, line in enumerate(lines) if b'"placed"' in line)
    there = machines.log(FIRST, LAP)
    there.mkdir(parents=True)
    (there / "journal.jsonl").write_bytes(b"".join(lines[:cut]))
    shutil.copy(machines.log(LAP, LAP) / "machine", there)
    assert levels(machines, FIRST)["Lyon"] == "inferred"
    if late == "traces":
        shutil.copytree(machines.log(LAP, LAP) / "entries", there / "entries")
    else:
        shutil.copytree(machines.log(LAP, LAP) / "traces", there / "traces")
        shutil.copytree(machines.log(LAP, LAP) / "entries", there / "entries")
    assert levels(machines, FIRST)["Lyon"] == "said"
    machines.carry_all()
    assert machines.facts(FIRST) == machines.facts(LAP)


def test_what_is_never_proven_is_looked_at_only_when_talk_arrives(machines: Machines) -> None:
    learn(machines, LAP, "I live in Lyon.")
    shutil.copytree(
        machines.log(LAP, LAP),
        machines.log(FIRST, LAP),
        ignore=shutil.ignore_patterns(*NOT_CARRIED, "traces", "entries"),
    )
    journal = machines.log(FIRST, LAP) / "journal.jsonl"
    lines = [line for line in journal.read_bytes().splitlines(keepends=True) if b'"placed"' not in line]
    journal.write_bytes(b"".join(lines))
    assert levels(machines, FIRST)["Lyon"] == "inferred"
    own = machines.log(FIRST, FIRST) / "journal.jsonl"
    before = own.read_bytes()
    for _ in range(2):
        assert levels(machines, FIRST)["Lyon"] == "inferred"
    assert own.read_bytes() == before


# --- a file before its journal, an old file over a new one ----------------------------------


def put_file(machines: Machines, source: str, target: str, path: str, when: float | None = None) -> None:
    """Carry a page with its time, or another one, as a copier does: at least a moment later."""
    there = machines[target] / path
    there.parent.mkdir(exist_ok=True)
    shutil.copy2(machines[source] / path, there)
    at = when if when is not None else (machines[source] / path).stat().st_mtime
    os.utime(there, (at, at))


def two_with_a_page(machines: Machines) -> None:
    with machines.open(LAP) as memory:
        memory.remember("The first fence is green.", topic="garden")
    machines.carry_all()
    for name in (FIRST, LAP):
        assert "The first fence is green." in levels(machines, name)


GARDEN = "facts/garden.md"


def test_an_old_file_with_a_newer_time_that_comes_before_its_journal_takes_nothing_away(
    machines: Machines, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The other machine wrote the old version again (it merged it), and that record has not arrived."""
    monkeypatch.setattr("looseleaf.place.brought_files._AT_ONCE", 0.0)  # the records here are older than that
    two_with_a_page(machines)
    with machines.open(FIRST) as memory:
        memory.remember("The second fence is red.", topic="garden")
    time.sleep(0.1)
    put_file(machines, LAP, FIRST, GARDEN, when=time.time() - 0.06)
    found = levels(machines, FIRST)
    assert {"The first fence is green.", "The second fence is red."} <= found.keys()
    assert "second fence" in (machines[FIRST] / GARDEN).read_text()


def test_what_is_put_back_though_no_log_explains_it_is_told(machines: Machines) -> None:
    """It may be that a person took that version back, and copied the folder before it was looked at."""
    two_with_a_page(machines)
    with machines.open(FIRST) as memory:
        memory.remember("The second fence is red.", topic="garden")
        middle = (machines[FIRST] / GARDEN).read_bytes()
        memory.remember("The third fence is blue.", topic="garden")
    time.sleep(0.1)
    (machines[FIRST] / GARDEN).write_bytes(middle)
    at = time.time() - 0.06
    os.utime(machines[FIRST] / GARDEN, (at, at))
    with machines.open(FIRST) as memory:
        assert "The third fence is blue." in {fact.object for fact in memory.facts()}
        assert any("save it once more" in note for note in memory.notes)
        (machines[FIRST] / GARDEN).write_bytes(middle)
        assert "The third fence is blue." not in {fact.object for fact in memory.facts()}


@pytest.mark.parametrize("line", ["first", "second", "third"])
def test_a_line_that_a_person_took_out_before_news_came_stays_out(machines: Machines, line: str) -> None:
    with machines.open(FIRST) as memory:
        for each in ("first", "second", "third"):
            memory.remember(f"The {each} fence stands.", topic="garden")
    machines.carry_all()
    with machines.open(LAP) as memory:
        memory.remember("The fourth fence stands.", topic="garden")
    time.sleep(0.1)
    page = machines[FIRST] / GARDEN
    page.write_text("".join(each for each in page.read_text().splitlines(True) if line not in each))
    machines.carry(LAP, FIRST)
    for name in (FIRST, LAP, FIRST):
        found = levels(machines, name)
        assert f"The {line} fence stands." not in found
        machines.carry_all()
    assert len([each for each in found if "fence stands" in each]) == 3


def test_a_person_who_saves_an_old_version_takes_back_what_came_after(machines: Machines) -> None:
    two_with_a_page(machines)
    with machines.open(FIRST) as memory:
        memory.remember("The second fence is red.", topic="garden")
    (machines[FIRST] / GARDEN).write_bytes((machines[LAP] / GARDEN).read_bytes())
    assert "The second fence is red." not in levels(machines, FIRST)


def test_a_file_and_its_journal_that_come_while_pages_are_looked_at_are_no_persons(
    machines: Machines, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As `git merge` brings them, with new times."""
    two_with_a_page(machines)
    with machines.open(LAP) as memory:
        memory.pages.edit(GARDEN, lambda old: f"{old}- Gate: oak\n", author="agent:main", reason="x")
    real = OutsideEdits._read_changed
    came: list[str] = []

    def read(self: OutsideEdits, path: str) -> object:
        if path == GARDEN and not came:
            came.append(path)
            shutil.copy(machines[LAP] / GARDEN, machines[FIRST] / GARDEN)
            machines.carry(LAP, FIRST)
        return real(self, path)

    monkeypatch.setattr(OutsideEdits, "_read_changed", read)
    os.utime(machines[FIRST] / GARDEN)
    assert levels(machines, FIRST)["oak"] == "inferred"
    assert came


def test_what_a_person_writes_on_an_old_file_does_not_make_it_the_latest_page(machines: Machines) -> None:
    two_with_a_page(machines)
    for name, words in ((LAP, "second fence is red."), (FIRST, "third fence is blue.")):
        with machines.open(name) as memory:
            memory.remember(f"The {words}", topic="garden")
    machines.carry_all()
    for name in (FIRST, LAP):
        levels(machines, name)
    with machines.open(FIRST) as memory:
        memory.remember("The fourth fence is black.", topic="garden")
    page = machines[FIRST] / GARDEN
    shutil.copy(machines[LAP] / GARDEN, page)  # before its log, and with a time of its own
    assert "The fourth fence is black." not in levels(machines, FIRST)
    page.write_text(page.read_text() + "- Gate: oak\n")
    assert "oak" in levels(machines, FIRST)
    for name in (LAP, FIRST, LAP, FIRST):
        machines.carry_all()
        found = levels(machines, name)
    assert found == levels(machines, LAP)
    assert {"oak", *(f"The {each}." for each in ("second fence is red", "fourth fence is black"))} <= {*found}


def test_a_file_that_one_machine_took_in_and_another_found_takes_nothing_away(machines: Machines) -> None:
    """The editor there did not know yet what was written here; its file came here before it was looked at there."""
    two_with_a_page(machines)
    for name, line in ((FIRST, "- Likes: hay\n"), (LAP, "- Likes: oats\n")):
        with (machines[name] / GARDEN).open("a") as page:
            page.write(line)
        if name == FIRST:
            levels(machines, FIRST)
            machines.carry(FIRST, LAP)
    shutil.copy(machines[LAP] / GARDEN, machines[FIRST] / GARDEN)
    assert {"hay", "oats"} <= levels(machines, LAP).keys()
    assert "hay" not in levels(machines, FIRST)
    for name in (FIRST, LAP, FIRST, LAP):
        machines.carry_all()
        assert {"hay", "oats"} <= levels(machines, name).keys()


def test_a_page_that_is_put_back_looks_as_old_as_its_last_edit(machines: Machines) -> None:
    """Else a copier would carry it over what another machine wrote since."""
    two_with_a_page(machines)
    page = machines[FIRST] / GARDEN
    time.sleep(0.3)
    page.write_bytes(b"")
    emptied = page.stat().st_mtime
    with machines.open(FIRST) as memory:
        memory.pages.absorb()
        memory.review.settle(GARDEN, "keep")
    assert "first fence" in page.read_text()
    assert page.stat().st_mtime < emptied - 0.2


def test_a_look_at_one_topic_hears_of_other_machines_too(machines: Machines) -> None:
    with machines.open(LAP) as memory:
        memory.remember("The first fence is green.", topic="garden")
    machines.carry_all()
    with machines.open(FIRST) as memory:
        assert [fact.object for fact in memory.facts(topic="garden")] == ["The first fence is green."]


# --- whose words in the state they are -------------------------------------------------------

TASKS = tuple(f"Look after number {number} of all that has to be looked after" for number in range(30))
"""More than the state has room for: the oldest tasks leave it for a page."""


def tasks(machines: Machines, name: str) -> list[str]:
    return [row["title"] for row in json.loads((machines[name] / "state.json").read_text())["tasks_open"]]


@pytest.mark.parametrize(("author", "level"), [("agent:main", "inferred"), ("person", "confirmed")])
@pytest.mark.parametrize("way", ["log", "file"])
def test_a_task_that_another_machine_moves_to_a_page_keeps_its_level(
    machines: Machines, author: str, level: str, way: str
) -> None:
    with machines.open(LAP) as memory:
        memory.state.add_task("Paint the fence", author=author)
    if way == "file":  # its log comes later
        put_file(machines, LAP, FIRST, "state.json")
        with machines.open(FIRST) as memory:
            memory.facts()
    machines.carry(LAP, FIRST)
    with machines.open(FIRST) as memory:
        for title in TASKS:
            memory.state.add_task(title, author="agent:main")
    for _ in range(2):
        machines.carry_all()
        for name in (FIRST, LAP):
            assert levels(machines, name, "project")["Paint the fence"] == level
    assert machines.facts(FIRST) == machines.facts(LAP)


def test_what_the_user_planned_is_the_users_word_on_all_machines(machines: Machines) -> None:
    learn(machines, LAP, "I still have to paint the fence.")
    with machines.open(LAP) as memory:
        (task,) = tasks(machines, LAP)
        for title in TASKS:
            memory.state.add_task(title, author="agent:main")
    assert levels(machines, LAP, "project")[task] == "said"
    machines.carry_all()
    assert levels(machines, FIRST, "project")[task] == "said"


def test_rows_that_git_merged_into_the_state_are_not_a_persons(machines: Machines) -> None:
    """The file has the rows of both machines, one with another id; a person added a third."""
    for name, title in ((FIRST, "Paint the fence"), (LAP, "Mow the lawn")):
        with machines.open(name) as memory:
            memory.state.add_task(title, author="agent:main")
    file = machines[FIRST] / "state.json"
    state = json.loads(file.read_text())
    first = state["tasks_open"][0]
    state["tasks_open"] += [
        json.loads((machines[LAP] / "state.json").read_text())["tasks_open"][0] | {"id": "T-2"},
        first | {"id": "T-3", "title": "Feed the cat"},
    ]
    machines.carry(LAP, FIRST)
    file.write_text(json.dumps(state))
    with machines.open(FIRST) as memory:
        memory.facts()
    assert sorted(tasks(machines, FIRST)) == ["Feed the cat", "Mow the lawn", "Paint the fence"]
    lines = (machines.log(FIRST, FIRST) / "journal.jsonl").read_text().splitlines()
    (saved,) = [each for each in map(json.loads, lines) if each.get("author") == "external"]
    added = [line for hunk in saved["diff"] for line in hunk["add"] if '"title"' in line]
    assert [json.loads("{" + line.strip().strip(",") + "}") for line in added] == [{"title": "Feed the cat"}]
