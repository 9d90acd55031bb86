"""Logs that no other machine ever opens: those that a merge made of a machine's own, which it cleans when it forgets or
hears of it; and folders with a name that no machine can have, which are files of a person."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from conftest import Run
from machines import FIRST, Machines

WORD = "zanzibar"


def holding(folder: Path, word: str = WORD) -> list[str]:
    found = (path for path in sorted(folder.rglob("*")) if path.is_file())
    return [str(path.relative_to(folder)) for path in found if word.encode() in path.read_bytes().lower()]


@pytest.fixture
def machines(tmp_path: Path) -> Machines:
    return Machines(tmp_path)


def merge_own_copy(machines: Machines, name: str, how: str = "used") -> Path:
    """Let a machine use two copies of its memory, and merge them; return the folder of the log that this made."""
    copy = machines.folder / "copy"
    with machines.open(name) as memory:
        memory.remember("My favourite colour is teal.")
    shutil.copytree(machines[name], copy)
    if how == "used":
        with machines.open(name) as memory:
            memory.remember("I live in Lyon.")
        with machines.open(name, copy) as memory:
            memory.record(user=f"I love {WORD}. It is late.")
            memory.record(user=f"x{WORD} " * 30_000)  # a body
            memory.distill()
            memory.remember(f"My boat {WORD} is red.")
    else:
        with (copy / "USER.md").open("a") as file:
            file.write(f"- My boat {WORD} is red.\n")
    with machines.open(name) as memory:
        memory.merge(copy)
        assert any(WORD in fact.object for fact in memory.facts())
    (log,) = machines.folder.glob(f"{name}/log/on/{name}-??????")
    return log


def listening(machines: Machines, rounds: int = 3) -> None:
    for _ in range(rounds):
        machines.pages(FIRST)


@pytest.mark.parametrize("how", ["used", "by hand"])
@pytest.mark.parametrize("by", ["match", "fact"])
def test_a_machine_forgets_at_once_in_the_log_that_a_merge_made_of_its_own(
    machines: Machines, how: str, by: str
) -> None:
    log = merge_own_copy(machines, FIRST, how)
    assert holding(log)
    with machines.open(FIRST) as memory:
        told = next(fact.id or "" for fact in memory.facts() if "boat" in fact.object)
        done = memory.forget(match=WORD) if by == "match" else memory.forget(fact=told)
        assert done.is_complete
        assert done.probe is not None
        assert (done.probe.hits, done.probe.machines, done.probe.theirs) == ((), (), ())
        assert holding(machines[FIRST], WORD if by == "match" else "my boat") == []
        assert all(any(word in fact.object for fact in memory.facts()) for word in ("teal", "green tea"))
    listening(machines)
    before = {path: path.read_bytes() for path in machines[FIRST].rglob("log/**/*") if path.is_file()}
    listening(machines)
    assert {path: path.read_bytes() for path in machines[FIRST].rglob("log/**/*") if path.is_file()} == before
    with machines.open(FIRST) as memory:
        assert [str(each) for each in memory.check() if each.severity == "error"] == []


def test_a_machine_that_hears_of_a_forget_also_cleans_the_log_that_a_merge_made_of_its_own(
    machines: Machines,
) -> None:
    log = merge_own_copy(machines, "lap")
    there = machines[FIRST] / "log" / "on" / log.name
    machines.carry("lap", FIRST)
    shutil.copytree(log, there)
    with machines.open(FIRST) as memory:
        memory.facts()
        done = memory.forget(match=WORD)
        assert done.probe is not None
        assert (done.probe.hits, log.name in done.probe.machines) == ((), True)  # the lap has to hear
    machines.carry(FIRST, "lap")
    machines.pages("lap")
    assert holding(machines["lap"]) == []
    machines.carry("lap", FIRST)
    shutil.rmtree(there)
    shutil.copytree(log, there)
    listening(machines)
    assert holding(machines[FIRST]) == []
    assert machines.facts(FIRST) == machines.facts("lap")


def test_what_was_forgotten_and_is_merged_once_more_goes_again(machines: Machines) -> None:
    merge_own_copy(machines, FIRST)
    with machines.open(FIRST) as memory:
        memory.forget(match=WORD)
        memory.merge(machines.folder / "copy")
        assert not [fact for fact in memory.facts() if WORD in fact.object]
    listening(machines)
    assert holding(machines[FIRST]) == []


def test_a_killed_forget_is_finished_in_these_logs_when_the_memory_is_next_opened(
    machines: Machines, monkeypatch: pytest.MonkeyPatch
) -> None:
    log = merge_own_copy(machines, FIRST)
    with machines.open(FIRST) as memory, monkeypatch.context() as patch:
        patch.setattr("looseleaf.memory.in_place.hear", lambda parts: None)
        done = memory.forget(match=WORD)
        assert done.probe is not None
        assert not done.is_complete
        assert {path.partition(log.name)[1] for path in done.probe.hits} == {log.name}
    machines.pages(FIRST)
    assert holding(machines[FIRST]) == []


def test_folders_that_no_machine_can_have_made_are_files_of_the_person(machines: Machines, run: Run) -> None:
    with machines.open("lap") as memory:
        memory.record(user=f"My cat lives in {WORD} town.")
        memory.distill()
        memory.remember("My favourite colour is teal.")
    machines.carry("lap", FIRST)
    names = ("Lap", "lap (1)", "lap.sync-conflict-20261119-010203-ABCDEF")
    for name in names:
        shutil.copytree(machines[FIRST] / "log/on/lap", machines[FIRST] / "log/on" / name)
    with machines.open(FIRST) as memory:
        done = memory.forget(match=WORD)
        assert done.probe is not None
        assert done.is_complete
        assert (done.probe.hits, done.probe.machines) == ((), ("lap",))
        assert done.probe.theirs == tuple(sorted(f"log/on/{name}" for name in names))
    for name in names:
        shutil.rmtree(machines[FIRST] / "log/on" / name)
        shutil.copytree(machines[FIRST] / "log/on/lap", machines[FIRST] / "log/on" / name)
    code, out, _ = run("forget", "--match", "teal", "--yes", "--memory", str(machines[FIRST]))
    assert code == 0
    assert "Still in files of yours: log/on/Lap, log/on/lap (1), log/on/lap.sync-conflict-" in out
    assert "--in-place-of lap`" in out
