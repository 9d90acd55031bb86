"""A conflict copy that comes after a forget, or is there when a machine hears of one, loses what was forgotten."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from looseleaf import Memory
from machines import FIRST, HASTY, Machines

WORD = "zanzibar"
MARK = ".sync-conflict-20261119-010203-ABCDEFG"
PAGE, STATE = f"facts/boat{MARK}.md", f"state{MARK}.json"
BOTH = (FIRST, "lap")


def meet(machines: Machines) -> None:
    for _ in range(3):
        machines.carry_all(BOTH)
        for name in BOTH:
            with machines.open(name) as memory:
                memory.facts()


def copy(machines: Machines, source: str = "lap", target: str = FIRST) -> None:
    for path, there in ((PAGE, "facts/boat.md"), (STATE, "state.json")):
        shutil.copy2(machines[source] / there, machines[target] / path)


def holding(folder: Path, word: str = WORD, *, but: str = "nothing") -> list[str]:
    """The files with a word, without the log of a machine, which that machine cleans, and what is made of it."""
    found = (
        str(path.relative_to(folder))
        for path in sorted(folder.rglob("*"))
        if path.is_file() and word.encode() in path.read_bytes().lower()
    )
    return [path for path in found if not path.startswith((f"log/on/{but}/", f"views/machines/{but}/"))]


def tasks(folder: Path) -> list[str]:
    return [each["title"] for each in json.loads((folder / STATE).read_text())["tasks_open"]]


@pytest.fixture
def machines(tmp_path: Path) -> Machines:
    """The desk has forgotten a word that the lap said, and still writes beside."""
    machines = Machines(tmp_path)
    with machines.open("lap") as memory:
        memory.remember(f"My boat {WORD} is red.", topic="boat")
        memory.remember("The mast is high.", topic="boat")
        memory.state.add_task(f"Sail {WORD}")
    meet(machines)
    with machines.open(FIRST) as memory:
        memory.forget(match=WORD)
    with machines.open("lap") as memory:
        memory.remember("The sail is white.", topic="boat")
        memory.state.add_task("Buy hawser")
    return machines


@pytest.mark.parametrize("way", ["log with it", "log before", "log after", "by hand"])
def test_a_copy_of_a_file_of_a_machine_that_has_not_heard_loses_the_words(
    machines: Machines, way: str
) -> None:
    if way == "by hand":  # no journal has these bytes
        with (machines["lap"] / "facts/boat.md").open("a") as file:
            file.write("- By hand on the lap\n")
    if way == "log before":
        machines.carry("lap", FIRST)
        machines.pages(FIRST)
    copy(machines)
    if way == "log after":
        machines.pages(FIRST)
    machines.carry("lap", FIRST)
    machines.pages(FIRST)
    assert holding(machines[FIRST], but="lap") == []
    meet(machines)
    assert holding(machines.folder) == []
    with machines.open(FIRST) as memory:
        left = [held.path for held in memory.review.held()]
        done = memory.forget(match="the mast is high")
    assert done.probe is not None
    assert (done.probe.hits, done.probe.theirs) == ((), ())
    if way == "by hand":
        assert left == [PAGE]
        assert "By hand on the lap" in (machines[FIRST] / PAGE).read_text()


def test_a_copy_that_is_there_when_a_machine_hears_loses_the_words(machines: Machines) -> None:
    (machines["lap"] / PAGE).write_text(
        f"# Boat\n\n- The mast is high.\n- The bow of {WORD} is new.\n- Keel: oak\n"
    )
    state = json.loads((machines["lap"] / "state.json").read_text())
    assert WORD in state["tasks_open"][0]["title"]
    state["tasks_open"][1]["title"] = "Mend the keel"
    (machines["lap"] / STATE).write_text(json.dumps(state))
    meet(machines)
    assert holding(machines["lap"]) == []
    assert (machines["lap"] / PAGE).read_text() == "# Boat\n\n- The mast is high.\n- Keel: oak\n"
    assert tasks(machines["lap"]) == ["Mend the keel"]
    with machines.open("lap") as memory:
        memory.remember(f"I met {WORD}.", topic="boat")  # said again
    meet(machines)
    shutil.copy2(machines["lap"] / "facts/boat.md", machines["lap"] / PAGE)
    with (machines["lap"] / PAGE).open("a") as file:
        file.write(f"- Some {WORD}\n- Flag: blue\n")
    machines.pages("lap")
    text = (machines["lap"] / PAGE).read_text()
    assert f"I met {WORD}" in text
    assert f"- Some {WORD}" not in text
    assert "- Flag: blue" in text


@pytest.mark.parametrize("by", ["fact", "topic"])
def test_whatever_was_forgotten_leaves_copies(machines: Machines, by: str) -> None:
    meet(machines)
    with machines.open("lap") as memory:
        text = memory.pages.read("facts/boat.md").text
        memory.pages.edit("facts/boat.md", f"{text}- Skipper: Quillon\n", reason="a page", author="person")
    meet(machines)
    with machines.open(FIRST) as memory:
        fact = next(fact.id for fact in memory.facts() if fact.object == "Quillon")
        memory.forget(**({"fact": fact} if by == "fact" else {"topic": "boat"}))
    (machines[FIRST] / PAGE).write_text(
        "# Boat\n\n> Summary: Mast is high. Skipper is Quillon\n\n- Skipper: Quillon\n- Keel: oak\n"
    )
    machines.pages(FIRST)
    if by == "topic":
        assert not (machines[FIRST] / PAGE).exists()
    else:
        assert (machines[FIRST] / PAGE).read_text() == "# Boat\n\n\n- Keel: oak\n"
        assert holding(machines[FIRST], "quillon", but="lap") == []


def test_a_copy_of_the_state_loses_the_words_at_once_and_stays_sound(machines: Machines) -> None:
    meet(machines)
    text = (machines["lap"] / "state.json").read_text()
    row = '{"id": "T-9", "title": "Mend the keel", "status": "open"},'
    (machines[FIRST] / STATE).write_text(text.replace('"tasks_open": [', f'"tasks_open": [{row}'))
    with machines.open(FIRST) as memory:
        done = memory.forget(match="hawser")
        assert done.probe is not None
        assert (done.probe.hits, done.probe.theirs) == ((), ())
    assert tasks(machines[FIRST]) == ["Mend the keel"]
    assert holding(machines[FIRST], "hawser", but="lap") == []


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16", "latin-1"])
def test_a_memory_of_one_machine_cuts_copies_too_and_keeps_the_rest_of_their_bytes(
    tmp_path: Path, encoding: str
) -> None:
    with Memory(tmp_path / "memory", policy=HASTY) as memory:
        memory.remember(f"My boat {WORD} is red.", topic="boat")
        memory.remember("The mast is high.", topic="boat")
        memory.forget(match=WORD)
        text = f"# Boat\n\n- The mast is high.\n- A {WORD}\n- Café: öde\n"
        (tmp_path / "memory" / PAGE).write_bytes(text.encode(encoding))
        memory.facts()
        left = (tmp_path / "memory" / PAGE).read_bytes()
        assert left == text.replace(f"- A {WORD}\n", "").encode(encoding)
        assert [note for note in memory.notes if f"came back in {PAGE}" in note]
