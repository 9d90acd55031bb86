"""The title, the summary and the date of a page stand once and are right, whatever is woven, undone or forgotten.

An undo after a merge takes back what was done here, and leaves what another machine wrote.
"""

from __future__ import annotations

import os
import shutil
from typing import TYPE_CHECKING

import pytest

from looseleaf import Memory
from looseleaf.base.errors import NotFound
from looseleaf.store.this_machine import VARIABLE
from machines import HASTY

if TYPE_CHECKING:
    from pathlib import Path

PAGE = "USER.md"


class Folders:
    """Machines that each have a memory of their own, and a place where they sync."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.place = folder / "place"

    def open(self, name: str) -> Memory:
        os.environ[VARIABLE] = name
        return Memory(self.folder / name, policy=HASTY)

    def say(self, name: str, *words: str) -> None:
        with self.open(name) as memory:
            for each in words:
                memory.remember(each)

    def sync(self, *names: str) -> None:
        for name in names:
            with self.open(name) as memory:
                memory.sync(self.place, join=True)

    def copy(self, name: str, other: str) -> None:
        shutil.copytree(self.folder / name, self.folder / other)

    def merge(self, name: str, other: str) -> None:
        with self.open(name) as memory:
            memory.merge(self.folder / other)

    def undo(self, name: str, times: int = 1) -> None:
        with self.open(name) as memory:
            for _ in range(times):
                memory.history.undo(author="person")

    def page(self, name: str) -> str:
        with self.open(name) as memory:
            text = memory.pages.read(PAGE).text
            lines = text.splitlines()
            for mark in ("# ", "> Summary:", "- Updated:"):
                assert sum(line.startswith(mark) for line in lines) == 1, text
            assert memory.check() == []
        assert (self.folder / name / PAGE).read_text() == text
        return "\n".join(line for line in lines if line and not line.startswith(("# ", "- Updated:")))


@pytest.fixture
def folders(place: Path, monkeypatch: pytest.MonkeyPatch) -> Folders:
    monkeypatch.setenv(VARIABLE, "a")
    return Folders(place)


def test_undos_after_a_merge_go_on_as_far_as_something_was_done_here(folders: Folders) -> None:
    folders.say("a", "I live in Lyon.")
    folders.copy("a", "b")
    folders.say("a", "I like chess")
    folders.say("b", "We use pytest.")
    folders.merge("a", "b")
    folders.undo("a")
    assert folders.page("a") == "> Summary: user home, test runner\n- Home: Lyon\n- Test runner: pytest"
    folders.undo("a")
    assert folders.page("a") == "> Summary: user test runner\n- Test runner: pytest"
    with pytest.raises(NotFound, match="no edit left to undo"):
        folders.undo("a")
    folders.say("a", "I like tea")
    folders.merge("b", "a")
    folders.merge("a", "b")
    assert folders.page("a") == "> Summary: user test runner, likes\n- Test runner: pytest\n- Likes: tea"
    assert folders.page("b") == folders.page("a")


def test_an_undo_of_the_edit_that_made_the_page_keeps_its_head_for_what_came_since(folders: Folders) -> None:
    folders.say("a", "I like chess")
    folders.say("b", "We use pytest.")
    folders.merge("a", "b")
    folders.undo("a")
    assert folders.page("a") == "> Summary: user test runner\n- Test runner: pytest"
    folders.merge("b", "a")
    assert folders.page("b") == folders.page("a")


def test_the_summary_is_the_programs_again_after_an_undo(folders: Folders) -> None:
    folders.say("a", "I live in Lyon.", "I like chess")
    folders.undo("a")
    folders.say("a", "We use pytest.")
    assert folders.page("a") == "> Summary: user home, test runner\n- Home: Lyon\n- Test runner: pytest"


def test_a_persons_own_summary_stays_theirs_on_all_machines(folders: Folders) -> None:
    folders.say("a", "I live in Lyon.")
    folders.copy("a", "b")
    file = folders.folder / "a" / PAGE
    file.write_text(file.read_text().replace("> Summary: user home", "> Summary: what Ana is like"))
    folders.say("a", "I like chess")
    folders.say("b", "We use pytest.")
    folders.merge("b", "a")
    folders.say("b", "I work at Acme.")
    assert folders.page("b").startswith("> Summary: what Ana is like\n")
    folders.undo("b")
    folders.say("b", "My name is Ana.")
    assert folders.page("b").startswith("> Summary: what Ana is like\n")
    folders.merge("a", "b")
    assert folders.page("a") == folders.page("b")


def test_a_forget_on_one_of_two_machines_leaves_one_right_summary(folders: Folders) -> None:
    folders.sync("b")
    folders.say("a", "I live in Lyon.")
    folders.sync("a", "b")
    folders.say("b", "I work at Norsk Hydro.")
    folders.sync("b", "a")
    with folders.open("a") as memory:
        memory.forget(match="Norsk Hydro")
    assert folders.page("a") == "> Summary: user home\n- Home: Lyon"
    folders.say("a", "I like chess")
    folders.sync("a", "b", "a")
    assert folders.page("b") == "> Summary: user home, likes\n- Home: Lyon\n- Likes: chess"
    assert folders.page("a") == folders.page("b")


def test_a_woven_summary_outlives_a_forget_of_something_else(folders: Folders) -> None:
    folders.say("a", "I live in Lyon.")
    folders.copy("a", "b")
    folders.say("a", "I like chess", "My sister is Zoe.")
    folders.say("b", "We use pytest.")
    folders.merge("a", "b")
    with folders.open("a") as memory:
        memory.forget(match="Zoe")
    assert folders.page("a").startswith("> Summary: user home, test runner, likes\n")
    folders.merge("b", "a")
    assert folders.page("b") == folders.page("a")


def test_what_was_done_to_the_state_is_undone_after_another_machine_changed_it(folders: Folders) -> None:
    folders.say("a", "I live in Lyon.")
    folders.copy("a", "b")
    for name, task in (("a", "write"), ("b", "read")):
        with folders.open(name) as memory:
            memory.state.add_task(task)
    folders.merge("a", "b")
    folders.undo("a")
    folders.merge("b", "a")
    for name in ("a", "b"):
        with folders.open(name) as memory:
            assert [each["title"] for each in memory.state.tasks_open] == ["read"]


def test_lines_added_apart_are_all_in_the_summary(folders: Folders) -> None:
    folders.say("a", "I live in Lyon.")
    folders.copy("a", "b")
    folders.say("a", "I like chess")
    folders.say("b", "We use pytest.")
    folders.merge("a", "b")
    folders.merge("b", "a")
    assert folders.page("a").startswith("> Summary: user home, test runner, likes\n")
    assert folders.page("b") == folders.page("a")


def test_a_page_deleted_here_and_written_on_there_keeps_its_head(folders: Folders) -> None:
    folders.say("a", "I live in Lyon.", "I like chess")
    folders.copy("a", "b")
    with folders.open("a") as memory:
        memory.pages.delete(PAGE, reason="gone", author="person")
    folders.say("b", "We use pytest.")
    folders.merge("a", "b")
    assert folders.page("a") == "> Summary: user test runner\n- Test runner: pytest"
    folders.merge("b", "a")
    assert folders.page("b") == folders.page("a")


def test_an_undo_brings_back_the_later_word_that_is_left(folders: Folders) -> None:
    folders.say("a", "I live in Lyon.")
    folders.sync("a", "b")
    folders.say("b", "I live in Oslo.")
    folders.sync("b")
    folders.say("a", "I live in Rome.")
    folders.sync("a")
    with folders.open("a") as memory:
        (oslo,) = (fact for fact in memory.facts(status="superseded") if fact.object == "Oslo")
        (rome,) = memory.facts()
        assert (oslo.superseded_by, oslo.valid_to) == (rome.id, rome.valid_from), "it has an end"
    folders.undo("a")
    assert folders.page("a") == "> Summary: user home\n- Home: Oslo"
    folders.sync("a", "b", "a")
    for name in ("a", "b"):
        assert folders.page(name) == "> Summary: user home\n- Home: Oslo"
        with folders.open(name) as memory:
            (stands,) = memory.facts()
            assert stands.id == oslo.id
            ended = [each for each in memory.history.fact(stands.id or "") if each.status != "current"]
            assert {each.object for each in ended} == {"Lyon", "Rome"}
            assert all(each.valid_to for each in ended)


def test_an_undo_does_not_bring_back_what_another_machine_has_replaced_since(folders: Folders) -> None:
    folders.say("a", "I live in Lyon.", "I live in Rome.")
    folders.sync("a", "b")
    folders.say("b", "I live in Oslo.")
    folders.sync("b", "a")
    folders.undo("a")
    assert folders.page("a") == "> Summary: user home\n- Home: Oslo"
    with pytest.raises(NotFound, match="no edit left"):
        folders.undo("a", times=2)
    folders.sync("a", "b", "a")
    assert folders.page("b") == folders.page("a") == "> Summary: user home\n- Home: Oslo"
