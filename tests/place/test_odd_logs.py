"""What is no folder or file of its own where the log of another machine belongs costs a note, never an answer."""

from __future__ import annotations

import os
import shutil
from typing import TYPE_CHECKING

import pytest

from looseleaf import Memory
from looseleaf.base.errors import Refused
from machines import FIRST, HASTY, Machines

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from layering import Layered

LAP = "lap"
ODD: dict[str, tuple[Callable[[Path, Path], object], str]] = {
    "link": (lambda path, was: path.symlink_to(was), "a symbolic link"),
    "twin": (lambda path, was: path.hardlink_to(was), "a hard link"),
    "file": (lambda path, was: path.write_bytes(b""), "a file"),
    "folder": (lambda path, was: path.mkdir(), "a folder"),
    "pipe": (lambda path, was: os.mkfifo(path), "no file or folder"),
}
FOLDERS = ("", LAP, f"{LAP}/traces", f"{LAP}/traces/main", f"{LAP}/entries")
FILES = (
    *(f"{LAP}/{name}" for name in ("journal.jsonl", "traces/main/raw_traces.jsonl", "tombstones.jsonl")),
    *(f"{LAP}/{name}" for name in ("machine", "key")),
)
CASES = [
    *((at, kind) for at in FOLDERS for kind in ODD if kind not in ("folder", "twin")),
    *((at, kind) for at in FILES for kind in ODD if kind != "file"),
]


@pytest.fixture
def machines(place: Path) -> Iterator[Machines]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("LOOSELEAF_MACHINE", FIRST)
        made = Machines(place)
        with made.open(LAP) as memory:
            memory.remember("The fence is red.", topic="garden")
            memory.record(user="My cat is Tom.")
            memory.record(assistant="Noted.")
            memory.distill()
        log = made.log(LAP, LAP)
        for name in ("tombstones.jsonl", "key"):
            (log / name).touch()
        made.carry(LAP, FIRST)
        yield made


def lay(path: Path, kind: str, beside: Path) -> str:
    """Put what is odd in the place of a file or folder; return what it is."""
    path.rename(beside)
    ODD[kind][0](path, beside)
    return ODD[kind][1]


def errors(memory: Memory) -> dict[str, str]:
    return {each.path: each.message for each in memory.check() if each.severity == "error"}


@pytest.mark.parametrize(("at", "kind"), CASES)
def test_what_is_odd_in_another_log_stops_nothing(machines: Machines, at: str, kind: str) -> None:
    is_known = kind != "link"
    if is_known:
        machines.pages(FIRST)
    path = machines[FIRST] / "log" / "on" / at
    told = lay(path, kind, machines.folder / "moved")
    name = f"log/on/{at}".removesuffix("/")
    with machines.open(FIRST) as memory:
        memory.remember("I live in Lyon.")
        memory.record(user="My boat is called Heron.")
        memory.record(assistant="Noted.")
        memory.distill()
        assert {"green tea", "Lyon"} <= {fact.object for fact in memory.facts()}
        assert "green tea" in str(memory.recall("green tea"))
        assert "Lyon" in memory.prompt("Where do I live?").text
        assert memory.parts.pages.texts(["USER.md"])[0]
        said = {each for each in memory.notes if each.startswith(name)}
        assert len(said) <= 1
        assert all(f"{name} is {told}, so nothing" in each for each in said)
        found = errors(memory)
        assert told in found[name]
        assert sum("so nothing" in each for each in found.values()) == 1
        assert sum(each.startswith(name) for each in memory.notes) == 1
        if is_known:
            assert "red" in memory.pages.read("facts/garden.md").text
        memory.sync(str(machines.folder / "stick"))
        memory.repair()
        memory.forget(match="Heron")
        assert "Heron" not in str(memory.recall("boat Heron"))
    if not at.endswith(("machine", "key")):
        shutil.rmtree(path) if path.is_dir() and not path.is_symlink() else path.unlink()
        (machines.folder / "moved").rename(path)
        with machines.open(FIRST) as memory:
            assert "red" in memory.pages.read("facts/garden.md").text
            assert "so nothing" not in str([*memory.notes, errors(memory)])


@pytest.mark.parametrize("name", ["traces", "journal.jsonl"])
def test_the_log_of_the_first_machine_may_be_odd_on_another(machines: Machines, name: str) -> None:
    machines.carry(FIRST, LAP)
    machines.pages(LAP)
    path = machines[LAP] / "log" / name
    if name == "traces":
        path.mkdir()
    lay(path, "link", machines.folder / "moved")
    with machines.open(LAP) as memory:
        memory.remember("I live in Lyon.")
        assert {"Lyon", "green tea"} <= {fact.object for fact in memory.facts()}
        memory.recall("tea")
        assert "a symbolic link" in errors(memory)[f"log/{name}"]
        assert any(each.startswith(f"log/{name} is a symbolic link") for each in memory.notes)


@pytest.mark.parametrize("at", ["", f"{LAP}/journal.jsonl"])
def test_an_odd_log_of_the_home_memory_does_not_stop_a_project(layered: Layered, at: str) -> None:
    with layered.home() as home:
        home.remember("I live in Lyon.")
    path = layered.home_path / "log" / "on" / at
    path.parent.mkdir(parents=True, exist_ok=True)
    path.symlink_to(layered.place)
    with Memory(layered.project_path(), policy=HASTY) as memory:
        assert memory.remember("My sister Ana has diabetes.").layer == "home"
        assert "Lyon" in {fact.object for fact in memory.facts()}
        assert "Lyon" in memory.prompt("Where do I live?").text
        assert any("is a symbolic link" in each for each in memory.notes)


def test_a_third_machine_opens_beside_an_odd_log(machines: Machines) -> None:
    machines.carry(LAP, "phone")
    lay(machines.log("phone", LAP) / "machine", "folder", machines.folder / "moved")
    with machines.open("phone") as memory:
        memory.remember("I live in Lyon.")
        assert "red" in memory.pages.read("facts/garden.md").text


@pytest.mark.parametrize(
    ("at", "kind"), [("", "file"), (LAP, "file"), (f"{LAP}/traces", "pipe"), (f"{LAP}/machine", "link")]
)
def test_a_copy_that_has_what_is_odd_is_not_merged(machines: Machines, at: str, kind: str) -> None:
    lay(machines[LAP] / "log" / "on" / at, kind, machines.folder / "moved")
    with machines.open("phone") as memory:
        with pytest.raises(Refused, match=rf"log/on/{at}".removesuffix("/")) as refused:
            memory.merge(machines[LAP])
        assert "link" in str(refused.value) if kind == "link" else "is not a folder" in str(refused.value)
        assert "green tea" in str(memory.facts())


def _is_edit(line: bytes) -> bool:
    return b'"kind":"edit","path":"facts/garden.md"' in line


DISORDER: dict[str, tuple[Callable[[list[bytes]], list[bytes]], str]] = {
    "doubled": (lambda lines: lines * 2, "two copies"),
    "each twice": (lambda lines: [line for line in lines for _ in range(2)], "two copies"),
    "reversed": (lambda lines: lines[::-1], "two copies"),
    "an edit is missing": (
        lambda lines: lines[: (at := [*map(_is_edit, lines)].index(True))] + lines[at + 1 :],
        "follow",
    ),
}


@pytest.mark.parametrize("how", DISORDER)
def test_records_of_another_journal_that_do_not_follow_from_each_other_are_reported(
    machines: Machines, how: str
) -> None:
    with machines.open(LAP) as memory:
        for color in ("blue", "old"):
            memory.remember(f"The door is {color}.", topic="garden")
    machines.carry(LAP, FIRST)
    machines.pages(FIRST)
    journal = machines.log(FIRST, LAP) / "journal.jsonl"
    whole = journal.read_bytes()
    journal.write_bytes(b"".join(DISORDER[how][0](whole.splitlines(keepends=True))))
    with machines.open(FIRST) as memory:
        memory.remember("I live in Lyon.")
        assert "Lyon" in str(memory.facts())
        (message,) = errors(memory).values()
        assert DISORDER[how][1] in message
        assert message.endswith("this is the log of lap: repair it there")
    journal.write_bytes(whole)
    with machines.open(FIRST) as memory:
        assert errors(memory) == {}
