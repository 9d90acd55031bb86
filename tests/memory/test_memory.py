"""A memory is made, found and opened; or a sentence says why not, and nothing is changed."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from looseleaf import Memory
from looseleaf.base.errors import Invalid, Refused, Unreadable
from looseleaf.base.policy import Policy
from looseleaf.cli.main import main
from looseleaf.pages.folder import PRIVATE, find, init, is_memory
from tables import check_rows

SKELETON = [".gitignore", "days", "episodes", "facts", "log", "review", "views"]


def tree(folder: Path) -> dict[str, bytes | None]:
    """Every path below a folder, with the bytes of the files."""
    return {
        str(path.relative_to(folder)): path.read_bytes() if path.is_file() else None
        for path in sorted(folder.rglob("*"))
    }


def test_a_missing_folder_is_made(place: Path) -> None:
    where = place / "some" / "where"
    with Memory(where) as memory:
        assert memory.path == str(where)
        assert memory.pages.list() == []
        assert list(memory.history.edits()) == []
        assert memory.check() == []
    assert sorted(os.listdir(where)) == SKELETON
    assert (where / ".gitignore").read_text() == PRIVATE
    assert is_memory(str(where))
    assert init(str(where)) is False


def test_an_empty_folder_becomes_a_memory_and_a_memory_is_opened_again(place: Path) -> None:
    with Memory(place) as memory:
        memory.pages.edit("USER.md", "- Name: Zhang San\n", reason="introduced")
    with Memory(str(place)) as memory:
        assert memory.pages.read("USER.md").facts[0].object == "Zhang San"
        assert memory.policy == Policy()


def test_a_memory_whose_journal_is_all_archived_is_a_memory(place: Path) -> None:
    with Memory(place / "m") as memory:
        memory.pages.edit("USER.md", "x\n", reason="a page")
        memory.parts.context.store.rotate("journal")
    assert not (place / "m/log/journal.jsonl").exists()
    with Memory(place / "m") as memory:
        assert [edit.reason for edit in memory.history.edits()] == ["a page"]


def test_a_folder_with_other_things_is_refused_and_left_alone(place: Path) -> None:
    (place / "notes.txt").write_text("mine")
    (place / "facts").mkdir()
    before = tree(place)
    with pytest.raises(
        Refused, match=r"it is not a memory, and it is not empty\. To make it one, run: looseleaf init"
    ):
        Memory(place)
    assert tree(place) == before
    (place / "notes.txt").rename(place / "facts" / "notes.txt")
    with pytest.raises(Refused, match="it is not empty"):
        Memory(place)
    (place / "facts" / "notes.txt").rename(place / "notes.txt")
    assert init(str(place)) is True
    assert (place / "notes.txt").read_text() == "mine"
    Memory(place).close()


def test_a_folder_that_holds_only_settings_becomes_a_memory(place: Path) -> None:
    (place / "looseleaf.toml").write_text("tail_turns = 2\n")
    with Memory(place) as memory:
        assert memory.policy == Policy(tail_turns=2)
    assert sorted(os.listdir(place)) == sorted([*SKELETON, "looseleaf.toml"])
    assert (place / "looseleaf.toml").read_text() == "tail_turns = 2\n"


def test_a_path_that_is_no_folder_is_refused(place: Path) -> None:
    (place / "file").write_text("mine")
    with pytest.raises(Refused, match="was not opened"):
        Memory(place / "file")
    with pytest.raises(Refused):
        Memory(place / "file" / "below")
    assert tree(place) == {"file": b"mine"}


@pytest.mark.parametrize("below", ["inner", "facts/inner", "log", "deep/er/inner"])
def test_memories_do_not_nest(place: Path, below: str) -> None:
    with Memory(place / "outer"):
        pass
    before = tree(place)
    for make in (lambda: init(str(place / "outer" / below)), lambda: Memory(place / "outer" / "inner")):
        with pytest.raises(Refused, match=r"it lies inside the memory .*outer, and memories do not nest"):
            make()
    assert tree(place) == before


def test_memories_do_not_nest_by_way_of_a_link(place: Path) -> None:
    with Memory(place / "outer"):
        pass
    (place / "way").symlink_to(place / "outer" / "facts")
    with pytest.raises(Refused, match="do not nest"):
        Memory(place / "way" / "inner")


@pytest.mark.parametrize("name", ["inner", ".looseleaf", "facts"])
def test_a_folder_with_a_memory_in_it_is_not_made_one(place: Path, name: str) -> None:
    with Memory(place / name):
        pass
    before = tree(place)
    with pytest.raises(Refused) as refused:
        init(str(place))
    assert str(refused.value) == (
        f"{place} was not made a memory: {place / name} in it is one, and memories do not nest. Choose another folder."
    )
    assert tree(place) == before


def test_folders_that_are_no_memories_may_lie_in_a_new_one(place: Path) -> None:
    (place / "work" / "log").mkdir(parents=True)
    (place / "work" / "log" / "journal.jsonl").touch()
    with Memory(place / "deep" / "er" / "inner"):
        pass
    assert init(str(place)) is True


@pytest.mark.parametrize("kind", ["file", "link to a file", "dangling link", "pipe"])
def test_what_is_no_folder_is_not_made_a_memory(place: Path, kind: str) -> None:
    where = place / "x"
    (place / "file").write_text("mine")
    if kind == "file":
        where.write_text("mine")
    elif kind == "pipe":
        os.mkfifo(where)
    else:
        where.symlink_to(place / ("file" if kind == "link to a file" else "nowhere"))
    before = tree(place)
    with pytest.raises(Refused) as refused:
        init(str(where))
    assert str(refused.value) == f"{where} was not made a memory: it is not a folder. Choose one."
    assert tree(place) == before


def test_an_empty_journal_is_no_memory_unless_there_is_an_archive(place: Path) -> None:
    (place / "log").mkdir()
    (place / "log" / "journal.jsonl").touch()
    assert not is_memory(str(place))
    (place / "log" / "archive").mkdir()
    assert is_memory(str(place))


@pytest.mark.parametrize(
    ("name", "why"), [("x\0y", "embedded null byte"), ("x" * 300, "File name too long")], ids=["null", "long"]
)
def test_a_path_that_cannot_be_looked_at_is_unreadable(place: Path, name: str, why: str) -> None:
    where = f"{place}/{name}"
    for look in (lambda: is_memory(where), lambda: init(where), lambda: Memory(where)):
        with pytest.raises(Unreadable) as refused:
            look()
        assert str(refused.value) == (
            f"{where} was not opened ({why}). Give the path of a folder that you may read."
        )
    assert tree(place) == {}


def test_a_closed_memory_says_that_it_was_closed(place: Path) -> None:
    memory = Memory(place / "m")
    memory.pages.edit("USER.md", "one\n", reason="a page")
    memory.close()
    before = tree(place)
    asked: list[Callable[[], object]] = [
        lambda: memory.pages.read("USER.md"),
        lambda: memory.history.page_at("USER.md", "2026-02-24"),
        memory.pages.list,
        lambda: list(memory.history.edits()),
        lambda: memory.pages.edit("USER.md", "two\n", reason="too late"),
        lambda: memory.pages.delete("USER.md", reason="too late"),
        memory.history.undo,
        memory.pages.absorb,
        memory.check,
        memory.repair,
    ]
    for ask in asked:
        with pytest.raises(Unreadable) as refused:
            ask()
        assert str(refused.value) == "This memory is closed. Open it again."
    memory.close()
    assert tree(place) == before


def test_a_memory_that_was_half_made_is_made(place: Path) -> None:
    for number in range(len(SKELETON)):
        where = place / str(number)
        where.mkdir()
        for name in SKELETON[1 : number + 1]:
            (where / name).mkdir()
        with Memory(where) as memory:
            assert memory.check() == []


def test_many_may_make_one_memory_at_once(place: Path) -> None:
    for number in range(5):
        failed: list[BaseException] = []
        barrier = threading.Barrier(4)

        def make(where: Path, barrier: threading.Barrier, failed: list[BaseException]) -> None:
            barrier.wait()
            try:
                with Memory(where) as memory:
                    memory.pages.edit("USER.md", lambda text: text + "one\n", reason="one")
            except BaseException as error:
                failed.append(error)
                raise

        where = place / str(number)
        threads = [threading.Thread(target=make, args=(where, barrier, failed)) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert failed == []
        with Memory(where) as memory:
            assert memory.pages.read("USER.md").text == "one\n" * 4
            kinds = [line.record["kind"] for line in memory.parts.context.store.read("journal")]
            assert kinds == ["init", *["edit"] * 4]


def test_the_memory_is_found_by_the_environment_then_upward_then_at_home(
    place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    home, work = place / "home", place / "work"
    (work / "deep").mkdir(parents=True)
    home.mkdir()
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.delenv("LOOSELEAF_HOME", raising=False)
    monkeypatch.chdir(work / "deep")
    assert find() == str(home / ".looseleaf")
    with Memory() as memory:
        assert memory.path == str(home / ".looseleaf")
    (work / ".looseleaf").mkdir()
    assert find() == str(work / ".looseleaf")
    monkeypatch.setenv("LOOSELEAF_HOME", "mine")
    with Memory() as memory:
        monkeypatch.chdir(place)
        assert memory.path == str(work / "deep" / "mine")
        assert memory.check() == []


def test_an_agent_whose_name_is_no_name_is_refused(place: Path) -> None:
    def check(agent: str) -> None:
        with pytest.raises(Refused, match="agent's name"):
            Memory(place / "m", agent=agent)
        assert not (place / "m").exists()

    check_rows(check, ["", "../up", "a/b", "con", ".hidden"])


# --- settings --------------------------------------------------------------------------


def test_settings_are_read_from_the_folder(place: Path) -> None:
    init(str(place / "m"))
    (place / "m/looseleaf.toml").write_text("page_bytes = 10\nsettle_seconds = 2\n")
    with Memory(place / "m") as memory:
        assert memory.policy == Policy(page_bytes=10, settle_seconds=2.0)
        with pytest.raises(Refused, match="at most 10"):
            memory.pages.edit("USER.md", "x" * 11, reason="large")
    with Memory(place / "m", policy=Policy()) as memory:
        assert memory.pages.edit("USER.md", "x" * 11, reason="given by hand").changed


def test_settings_that_make_no_sense_are_refused_and_nothing_is_changed(place: Path) -> None:
    def check(number: int, text: bytes, sentence: str) -> None:
        folder = place / str(number)
        init(str(folder))
        (folder / "looseleaf.toml").write_bytes(text)
        before = tree(place)
        with pytest.raises(Refused, match="The memory was not opened") as refused:
            Memory(folder)
        assert sentence in str(refused.value)
        assert tree(place) == before

    rows = [
        (b"page_bytes = ", "could not be read"),
        (b"\xff", "could not be read"),
        (b"a = " + b"[" * 100_000, "could not be read"),
        (b"colour = 1\n", "which is not a setting"),
        (b"page_bytes = 'many'\n", "must be a whole number"),
        (b"page_bytes = 0\n", "must be greater than zero"),
        (b"settle_seconds = nan\n", "must be greater than zero"),
        (b"settle_seconds = inf\n", "at most"),
    ]
    check_rows(check, [(number, *row) for number, row in enumerate(rows)])


def test_settings_that_are_a_link_or_a_folder_are_refused(place: Path) -> None:
    init(str(place / "m"))
    settings = place / "m/looseleaf.toml"
    settings.symlink_to(place / "nowhere")
    with pytest.raises(Refused, match="symbolic link"):
        Memory(place / "m")
    settings.unlink()
    settings.mkdir()
    with pytest.raises(Refused, match="not a regular file"):
        Memory(place / "m")


def test_whoever_is_inside_a_memory_means_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("LOOSELEAF_HOME", raising=False)
    with Memory(tmp_path / "mine") as memory:
        memory.pages.edit("facts/tea.md", "# Tea\n\n- Sugar: none\n", reason="seen", author="person")
    for folder in ("mine", "mine/facts"):
        monkeypatch.chdir(tmp_path / folder)
        assert find() == str(tmp_path / "mine")
    (tmp_path / "mine/facts/.looseleaf").mkdir()
    assert find() == str(tmp_path / "mine/facts/.looseleaf")


def test_the_package_lists_what_it_offers() -> None:
    import looseleaf

    assert {"Memory", "Agent", "Refused"} <= set(dir(looseleaf)) == {*looseleaf.__all__, "__version__"}


@pytest.mark.parametrize("line", ["", '{"ts":1}\n', '{"schema":"journal"}\n'])
def test_a_log_of_another_program_is_no_memory_that_one_is_in(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, line: str
) -> None:
    monkeypatch.delenv("LOOSELEAF_HOME", raising=False)
    (tmp_path / "app/log").mkdir(parents=True)
    (tmp_path / "app/log/journal.jsonl").write_text(line)
    monkeypatch.chdir(tmp_path / "app")
    assert not find().startswith(str(tmp_path / "app"))


def test_an_argument_of_a_wrong_type_is_invalid_and_named(place: Path) -> None:
    with Memory(place / "m") as memory:
        memory.record(user="x")
        verbs: dict[str, tuple[Callable[[Any], object], str]] = {
            "turn": (memory.talk.turn, "turn_id"),
            "turns": (memory.talk.turns, "last"),
            "first": (lambda value: memory.talk.turns(first=value), "first"),
            "until": (lambda value: memory.talk.turns(first="turn_0001", until=value), "until"),
            "sessions": (memory.talk.sessions, "last"),
            "tail": (memory.talk.tail, "turns"),
            "traces": (memory.talk.traces, "name"),
            "entry": (memory.talk.entry, "name"),
            "tool_calls": (memory.talk.tool_calls, "turn_id"),
            "messages": (memory.window.messages, "system"),
            "tokens": (memory.window.tokens, "system"),
            "compact": (lambda value: memory.window.compact(system=value), "system"),
            "prepare": (lambda value: memory.window.prepare(system=value), "system"),
            "budget": (memory.window.budget, "model"),
            "count": (memory.window.count, "texts"),
            "prompt": (lambda value: memory.prompt(agent=value), "agent"),
        }

        def check(name: str) -> None:
            verb, argument = verbs[name]
            for value in (b"x", 1.5, ["x", 1]):
                with pytest.raises(Invalid, match=f"`{argument}` must be"):
                    verb(value)

        check_rows(check, verbs)


def test_a_path_from_the_home_folder_is_there_and_not_beside_us(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No shell reads the path in a program or in the settings of a client."""
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.chdir(tmp_path)
    with Memory("~/notes") as memory:
        assert memory.path == str(tmp_path / "home" / "notes")
    assert main(["--memory", "~/notes", "facts"]) == 0
    monkeypatch.setenv("LOOSELEAF_HOME", "~/notes")
    with Memory() as memory:
        assert memory.path == str(tmp_path / "home" / "notes")
    assert not (tmp_path / "~").exists()
