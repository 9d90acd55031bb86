"""Check: what is wrong is named, what is worth knowing is noted, and nothing is changed by looking."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from looseleaf import Memory
from looseleaf.base.policy import Policy
from looseleaf.cli import main as cli
from looseleaf.store.disk import Disk
from looseleaf.store.files import FileStore
from tables import check_rows
from wiring import use_store

HASTY = Policy(settle_seconds=0.01, quiet_seconds=0.001, page_bytes=1000)


@pytest.fixture
def memory(place: Path) -> Iterator[Memory]:
    with Memory(place / "memory", policy=HASTY) as memory:
        memory.pages.edit("USER.md", "- Name: Zhang San\n", reason="introduced")
        memory.pages.edit("facts/work.md", "- Uses: vim\n", reason="said")
        yield memory


def file_of(memory: Memory, path: str) -> Path:
    return Path(memory.path) / path


def said(memory: Memory) -> list[str]:
    """What check says; it changes nothing."""
    before = everything(memory)
    problems = list(map(str, memory.check()))
    assert everything(memory) == before
    return problems


def everything(memory: Memory) -> dict[str, bytes]:
    root = Path(memory.path)
    return {str(file.relative_to(root)): file.read_bytes() for file in root.rglob("*") if file.is_file()}


def test_a_whole_memory_has_no_problems(memory: Memory) -> None:
    assert said(memory) == []
    assert memory.repair() == []


def test_what_was_changed_outside_is_a_note_until_it_is_absorbed(memory: Memory) -> None:
    file_of(memory, "USER.md").write_text("- Name: Li Si\n")
    file_of(memory, "facts/work.md").unlink()
    file_of(memory, "facts/new.md").write_text("- Uses: ed\n")
    assert said(memory) == [
        "USER.md: note: this page was changed outside; the next command journals that",
        "facts/new.md: note: this page was changed outside; the next command journals that",
        "facts/work.md: note: this page is gone; the next command journals that",
    ]
    assert len(memory.pages.absorb()) == 3
    assert said(memory) == []


def test_a_line_that_is_not_text_is_named_by_its_number(memory: Memory) -> None:
    file_of(memory, "facts/home.md").write_bytes(b"- Name: Zhang San\n\n- City: M\xfcnchen\n")
    memory.pages.absorb()
    assert said(memory) == [
        "facts/home.md:3: this line is not UTF-8 text; save the page as UTF-8 with an editor"
    ]


def test_names_that_some_systems_take_for_one_are_named(memory: Memory) -> None:
    file_of(memory, "facts/Work.md").write_text("- Uses: ed\n")
    file_of(memory, "facts/other.md").write_text("- Uses: ed\n")
    memory.pages.absorb()
    assert said(memory) == ["facts/work.md: some systems take this name for Work.md"]


def test_a_folder_in_a_drawer_is_noted(memory: Memory) -> None:
    file_of(memory, "facts/deep").mkdir()
    file_of(memory, "facts/deep/page.md").write_text("- Uses: ed\n")
    file_of(memory, "notes").mkdir()
    assert said(memory) == ["facts/deep: note: this folder is not a drawer: nothing in it is read"]
    assert memory.pages.list() == ["USER.md", "facts/work.md"]


def test_what_is_no_page_in_the_place_of_one_is_named(memory: Memory, place: Path) -> None:
    file_of(memory, "facts/large.md").write_bytes(b"x" * 1001)
    file_of(memory, "facts/link.md").symlink_to(place)
    file_of(memory, "facts/page.md").mkdir()
    file_of(memory, "facts/ space.md").write_text("- Uses: ed\n")
    os.link(file_of(memory, "facts/work.md"), place / "second name")
    problems = said(memory)
    assert [problem.partition(": ")[0] for problem in problems] == [
        "facts/ space.md",
        "facts/large.md",
        "facts/link.md",
        "facts/page.md",
        "facts/work.md",
    ]
    assert "its name has a part that begins or ends with a space" in problems[0]
    assert "larger than 1,000 bytes" in problems[1]
    assert "it is a link or not a regular file; put a real file in its place" in problems[2]
    assert "note: this folder is not a drawer" in problems[3]
    assert "has a second name" in problems[4]
    assert memory.pages.absorb() == []


def test_what_an_editor_leaves_beside_a_page_is_no_problem(memory: Memory) -> None:
    for name in (".USER.md.swp", "USER.md~", "#USER.md#", ".hidden.md", "._USER.md"):
        file_of(memory, name).write_text("- Name: Li Si\n")
    file_of(memory, ".#USER.md").symlink_to("somebody@somewhere.1234")
    assert said(memory) == []
    assert memory.pages.absorb() == []
    for name in ("USER.md.orig", "USER.md.rej", "USER.md.bak"):
        file_of(memory, name).write_text("- Name: Li Si\n")
    assert all("note: a merge or a patch left this beside USER.md" in each for each in said(memory))
    assert len(said(memory)) == 3


def test_a_state_that_is_not_json_is_named_by_its_line(memory: Memory) -> None:
    file_of(memory, "state.json").write_text('{"goal": "ship",\n "now": }\n')
    memory.pages.absorb()
    (problem,) = said(memory)
    assert problem.startswith("state.json:2: this is not JSON")
    file_of(memory, "state.json").write_text("[" * 900)
    memory.pages.absorb()
    (problem,) = said(memory)
    assert problem.startswith("state.json:1: this is not JSON")
    file_of(memory, "state.json").write_text('{"goal": "ship"}\n')
    memory.pages.absorb()
    assert said(memory) == []


def test_a_drawer_that_cannot_be_looked_into_is_named_and_one_that_is_gone_is_not(
    memory: Memory, place: Path
) -> None:
    shutil.rmtree(file_of(memory, "review"))
    shutil.rmtree(file_of(memory, "days"))
    file_of(memory, "days").symlink_to(place)
    (problem,) = said(memory)
    assert problem.startswith("days: this folder could not be read")


LOST = "the program left this page as it is, and the journal does not know of it: records are missing"


def test_a_segment_that_is_gone_is_named_and_repaired(memory: Memory) -> None:
    memory.parts.context.store.rotate("journal")
    memory.pages.edit("USER.md", "- Name: Li Si\n", reason="corrected")
    file_of(memory, "log/archive/000001.jsonl").unlink()
    (newest,) = memory.history.edits()
    assert said(memory) == [
        "log/archive/000001.jsonl: this segment is missing",
        f"log/journal.jsonl: the edit {newest.id} of USER.md does not follow from the one before it: one is missing",
        f"facts/work.md: {LOST}. `looseleaf repair` goes on without them",
    ]
    assert memory.repair() != []
    assert [problem for problem in said(memory) if "note: " not in problem] == []
    assert memory.pages.read("USER.md").text == "- Name: Li Si\n"
    assert memory.history.versions(newest)[0] == b"- Name: Zhang San\n"


class VanishingDisk(Disk):
    """A disk from which a page is gone in the moment in which it is opened."""

    def __init__(self, file: Path) -> None:
        super().__init__()
        self.file = file

    def open(self, root: int, path: str, flags: int, mode: int = 0o600) -> int:
        if self.file.name in path:
            self.file.unlink(missing_ok=True)
        return super().open(root, path, flags, mode)


def test_a_page_that_vanishes_while_check_looks_is_no_problem(memory: Memory) -> None:
    file = file_of(memory, "facts/work.md")
    use_store(memory, FileStore(memory.path, HASTY, VanishingDisk(file)))
    assert memory.check() == []
    assert not file.exists()


def test_a_record_that_makes_no_sense_ends_in_sentences(place: Path) -> None:
    def check(number: int, record: dict[str, Any]) -> None:
        with Memory(place / str(number)) as memory:
            memory.pages.edit("USER.md", "- Name: Ada\n", reason="said so")
            memory.parts.context.store.append("journal", [record])
        for arguments in (["check"], ["log"], ["show", "USER.md"], ["undo"]):
            assert cli.main(["--memory", str(place / str(number)), *arguments]) in (0, 1, 2)

    check_rows(
        check,
        enumerate(
            [
                {"schema": ["x"], "id": "1", "ts": 1.0, "kind": "edit"},
                {
                    "schema": "journal.v1",
                    "id": "1",
                    "ts": 1.0,
                    "kind": "void",
                    "path": "USER.md",
                    "edit": ["x"],
                },
                {"schema": "journal.v1", "id": ["1"], "ts": 10**400, "kind": "edit", "path": "USER.md"},
                {
                    "schema": "journal.v1",
                    "id": "1",
                    "ts": 10**400,
                    "kind": "edit",
                    "path": "USER.md",
                    "author": "person",
                    "reason": "x",
                    "base": None,
                    "new": None,
                    "diff": [],
                },
                {
                    "schema": "journal.v1",
                    "id": "1",
                    "ts": 1.0,
                    "kind": "edit",
                    "path": "USER.md",
                    "author": "person",
                    "reason": "x",
                    "base": ["x"],
                    "new": None,
                    "diff": [],
                    "undoes": ["q"],
                },
            ]
        ),
    )
