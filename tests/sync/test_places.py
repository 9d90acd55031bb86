"""Which place is meant, which is refused, which memories may meet there, and what is told of it."""

from __future__ import annotations

import os
import shutil
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from looseleaf import Memory
from looseleaf.base.errors import Refused
from looseleaf.cli.verbs.transfer import _print_sync
from looseleaf.store.this_machine import VARIABLE
from machines import FIRST, HASTY, Machines
from syncing import git, make_place, needs, objects, pages_at, say, sync, sync_all

if TYPE_CHECKING:
    from collections.abc import Iterator

    from looseleaf.sync.sync import Synced


@pytest.fixture
def machines(place: Path) -> Iterator[Machines]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv(VARIABLE, FIRST)
        yield Machines(place)


def meet(folder: Path, machine: str, where: Path | str, *, join: bool = False) -> Synced:
    os.environ[VARIABLE] = machine
    with Memory(folder, policy=HASTY) as memory:
        return memory.sync(where, join=join)


# --- which place is meant -----------------------------------------------------------------------


@pytest.mark.parametrize("where", ["rsync:notes", "rsync:./notes", "rsync:sub/../notes"])
def test_a_relative_path_for_rsync_is_taken_from_the_current_folder(
    machines: Machines, place: Path, monkeypatch: pytest.MonkeyPatch, where: str
) -> None:
    needs("rsync")
    (place / "sub").mkdir()
    monkeypatch.chdir(place)
    assert sync(machines, FIRST, where).was_missing
    assert (place / "notes/log/journal.jsonl").is_file()


def test_a_relative_path_for_git_is_taken_from_the_current_folder(
    machines: Machines, place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    make_place("git", place)
    monkeypatch.chdir(place)
    assert sync(machines, FIRST, "git:target").is_new
    assert git(place / "target", "branch", "--list").strip() == "main"


# --- which is refused ---------------------------------------------------------------------------


@pytest.mark.parametrize("dry_run", [False, True])
def test_a_folder_with_a_memory_in_it_is_refused_and_the_memory_named(
    machines: Machines, place: Path, monkeypatch: pytest.MonkeyPatch, *, dry_run: bool
) -> None:
    (place / "e").mkdir()
    shutil.copytree(machines["lap"], place / "e/.looseleaf")
    monkeypatch.chdir(place / "desk")
    with (
        machines.open(FIRST) as memory,
        pytest.raises(Refused, match=r"Give that one: \.\./e/\.looseleaf$"),
    ):
        memory.sync("../e", dry_run=dry_run)
    assert os.listdir(place / "e") == [".looseleaf"]
    sync(machines, FIRST, "../e/.looseleaf")


def test_a_work_tree_of_git_without_files_is_no_empty_place(machines: Machines, place: Path) -> None:
    git(place, "init", "-q", str(place / "proj"))
    with (
        machines.open(FIRST) as memory,
        pytest.raises(Refused, match="is the work tree of a git repository"),
    ):
        memory.sync(place / "proj")
    assert os.listdir(place / "proj") == [".git"]


def test_hidden_files_of_an_operating_system_leave_a_place_empty(machines: Machines, place: Path) -> None:
    (place / "stick/.Trashes").mkdir(parents=True)
    (place / "stick/.DS_Store").touch()
    assert sync(machines, FIRST, str(place / "stick")).is_new


# --- memories that never met --------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["folder", "git", "rsync"])
@pytest.mark.parametrize("machine", [FIRST, "other"])
def test_two_memories_that_never_met_are_joined_only_if_that_is_said(
    machines: Machines, place: Path, kind: str, machine: str
) -> None:
    """One machine may have both: a home memory and that of a project."""
    where = make_place(kind, place)
    assert meet(machines[FIRST], FIRST, where).is_new
    os.environ[VARIABLE] = machine
    with Memory(place / "project", policy=HASTY) as project:
        project.remember("The project uses SQLite.")
    before = pages_at(place, where)
    with pytest.raises(Refused, match=r"holds another memory.* never met.* add --join"):
        meet(place / "project", machine, where)
    assert pages_at(place, where) == before
    assert not (place / "project/log/on").exists()
    joined = meet(place / "project", machine, where, join=True)
    assert [fact.object for fact in joined.added] == ["green tea"]
    assert not meet(machines[FIRST], FIRST, where).left  # they know each other now
    assert len(objects(machines, FIRST)) == 2


@pytest.mark.parametrize("dry_run", [False, True])
def test_private_lines_that_come_into_a_folder_that_git_tracks_are_named_before_they_come(
    machines: Machines, place: Path, *, dry_run: bool
) -> None:
    say(machines, "lap", "My doctor is Ana Roth, and I take 20 mg of sertraline every day.")
    git(place, "init", "-q")
    os.environ[VARIABLE] = FIRST
    with Memory(machines[FIRST], policy=HASTY) as memory:
        memory.sync(machines["lap"], dry_run=dry_run)
        assert [note for note in memory.notes if note.startswith("Private lines came in, and git tracks")]
    assert ("Roth" in str(objects(machines, FIRST))) is not dry_run


def test_a_memory_without_words_joins_at_once_in_either_direction(machines: Machines, place: Path) -> None:
    for name in ("new", "newer"):
        os.environ[VARIABLE] = name
        Memory(place / name, policy=HASTY).close()
    assert not meet(place / "new", "new", machines[FIRST]).is_new
    assert not meet(machines["lap"], "lap", place / "newer").is_new
    os.environ[VARIABLE] = "newer"
    with Memory(place / "newer", policy=HASTY) as memory:
        assert [fact.object for fact in memory.facts()] == ["green tea"]


def test_copies_know_each_other_whatever_was_forgotten_since(machines: Machines) -> None:
    for name in (FIRST, "lap"):
        say(machines, name, f"I lived in {name.title()}.")
    with machines.open(FIRST) as memory:
        memory.forget(match="green tea")
    meet(machines["lap"], "lap", machines[FIRST])
    assert "green tea" not in objects(machines, "lap")


# --- a log that has more ------------------------------------------------------------------------


def test_a_stream_that_two_memories_of_one_machine_do_not_share_is_not_left_alone(
    machines: Machines, place: Path
) -> None:
    """Its records are here, in the log under another name: nothing is to be done about it."""
    where = make_place("folder", place)
    sync(machines, FIRST, where)
    os.environ[VARIABLE] = FIRST
    with Memory(place / "project", policy=HASTY) as project:
        project.remember("The project uses SQLite.")
        project.record(user="A word.")
        project.prompt()
    meet(place / "project", FIRST, where, join=True)
    for _ in range(2):
        assert sync(machines, FIRST, where).left == ()
    prompts = list(machines[FIRST].glob("log/on/*/prompts/main.jsonl"))
    assert [file.read_bytes() for file in prompts] == [(place / "target/log/prompts/main.jsonl").read_bytes()]
    assert sync(machines, FIRST, where).is_nothing


@pytest.mark.parametrize("before", ["an older backup", "nothing"])
def test_after_a_machine_lost_its_log_syncs_come_to_rest(
    machines: Machines, place: Path, before: str
) -> None:
    """Another machine has the log from before: the two are not put in place of each other for ever."""
    where = make_place("folder", place)
    shutil.copytree(machines[FIRST], place / "backup")
    say(machines, FIRST, "I live in Lyon.")
    sync_all(machines, where, (FIRST, "lap"))
    shutil.rmtree(machines[FIRST])
    if before != "nothing":
        shutil.move(place / "backup", machines[FIRST])
    sync(machines, FIRST, where)
    say(machines, FIRST, "I work at Acme.")
    sync_all(machines, where, (FIRST, "lap"))
    for name in (FIRST, "lap", FIRST):
        assert sync(machines, name, where).is_nothing
        assert {"Lyon", "Acme"} <= objects(machines, name)
    assert (place / "target/log/journal.jsonl").read_bytes() == (
        machines[FIRST] / "log/journal.jsonl"
    ).read_bytes()


def test_a_log_that_is_left_alone_says_what_to_do(
    machines: Machines, place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    where = make_place("folder", place)
    sync(machines, FIRST, where)
    monkeypatch.setattr("looseleaf.sync.exchange.bring_log", lambda *_, **__: ["calls"])
    told = f"the log of desk in {where} has records that are not here (calls). Sync again."
    assert told in sync(machines, FIRST, where).left


# --- what came, and what is a page there ----------------------------------------------------------


def test_a_sync_names_the_pages_and_the_state_that_changed(
    machines: Machines, place: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    where = make_place("folder", place)
    sync_all(machines, where, (FIRST, "lap"))
    with machines.open("lap") as memory:
        memory.state.update(goal="Sail")
        memory.pages.edit("facts/bees.md", "# Bees\n\nThey swarm in May.\n", author="person", reason="mine")
    assert sync(machines, "lap", where).pages == ()
    with machines.open(FIRST) as memory:
        told = memory.sync(where, dry_run=True)
    done = sync(machines, FIRST, where)
    assert done.pages == told.pages == ("facts/bees.md", "state.json")
    assert done.to_dict()["came"]["pages"] == ["facts/bees.md", "state.json"]
    for each in (told, done):
        _print_sync(each)
    out = capsys.readouterr().out
    assert "would be changed: 2 pages: facts/bees.md, state.json\n" in out
    assert "\nchanged: 2 pages: facts/bees.md, state.json\n" in out
    assert sync(machines, FIRST, where).pages == ()


def test_other_markdown_files_at_the_top_of_a_place_are_no_pages(machines: Machines, place: Path) -> None:
    where = make_place("folder", place)
    with machines.open(FIRST) as memory:
        for name in ("ROUTES.md", "OLD.md"):
            memory.pages.edit(name, f"# {name}\n\nNorth.\n", author="person", reason="mine")
    sync(machines, FIRST, where)
    for name, text in {
        "README.md": "# notes\n",
        "Shopping.md": "# Shopping\n\n- Bread: rye\n",
        "ROUTES.md": "# ROUTES.md\n\nNorth, then east.\n",
        "PROJECT.md": "# Project\n\nA boat.\n",
        "facts/boat.md": "# Boat\n\n- Name: Argo\n",
    }.items():
        (place / "target" / name).parent.mkdir(exist_ok=True)
        (place / "target" / name).write_text(text)
    with machines.open(FIRST) as memory:
        memory.pages.delete("OLD.md", author="person", reason="not any more")
    done = sync(machines, FIRST, where)
    assert set(done.edited) == {"ROUTES.md", "PROJECT.md", "facts/boat.md"}
    assert done.left == ()
    assert not {"README.md", "Shopping.md", "OLD.md"} & machines.pages(FIRST).keys()
    assert (place / "target/README.md").read_text() == "# notes\n"
    assert not (place / "target/OLD.md").exists()
    sync(machines, "lap", where)
    assert b"then east" in machines.pages("lap")["ROUTES.md"]
