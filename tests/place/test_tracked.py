"""Which memories git shows: any page that it tracks or would take counts, under whatever name the memory is opened."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from layering import Layered, said
from looseleaf import Memory
from looseleaf.base.errors import Refused
from looseleaf.pages.folder import init
from looseleaf.place.tracked import is_tracked, may_be_tracked

pytestmark = pytest.mark.skipif(shutil.which("git") is None, reason="git is not installed")

ILL = "My wife is ill."


def git(folder: Path, *words: str) -> str:
    who = ("-c", "user.name=Test", "-c", "user.email=test@example.com", "-c", "commit.gpgsign=false")
    return subprocess.run(
        ["git", *who, *words], cwd=folder, capture_output=True, text=True, check=True
    ).stdout


@pytest.fixture
def heron(layered: Layered) -> Path:
    """A project with a memory, in a repository."""
    folder = layered.place / "heron"
    folder.mkdir()
    git(folder, "init", "--quiet")
    return layered.project_path("heron")


def refuses(where: Path) -> bool:
    """Return True if a memory takes nothing private."""
    with Memory(where) as memory:
        try:
            memory.state.update(goal=ILL)
        except Refused:
            return True
        memory.state.update(goal="")
    return False


@pytest.mark.parametrize(
    ("ignored", "is_shown"),
    [
        ("", True),
        ("USER.md", True),
        ("USER.md\nstate.json\nfacts/\nepisodes/", True),  # days are left
        ("facts/*\n!facts/health.md\n*.md\n*.json", False),
        ("*.md\n*.json\nepisodes/\ndays/\nfacts/*\n!facts/health.md", True),
        ("*", False),
        ("*.md\n*.json", False),
    ],
)
def test_any_page_that_git_would_take_counts(heron: Path, ignored: str, is_shown: bool) -> None:
    (heron / "facts").mkdir(exist_ok=True)
    (heron / "facts/health.md").write_text("# Health\n", encoding="utf-8")
    (heron / ".gitignore").write_text(f"{ignored}\n", encoding="utf-8")
    assert is_tracked(str(heron)) is is_shown
    assert refuses(heron) is is_shown


def test_pages_that_were_committed_before_they_were_ignored_count(heron: Path) -> None:
    with Memory(heron) as memory:
        memory.state.update(goal="Ship it")
    git(heron.parent, "add", "--all")
    (heron.parent / ".gitignore").write_text(".looseleaf/\n", encoding="utf-8")
    assert refuses(heron)
    git(heron.parent, "rm", "-rq", "--cached", ".looseleaf")
    assert not refuses(heron)
    git(heron.parent, "add", "-f", ".looseleaf/.gitignore")  # no page
    assert not refuses(heron)


def test_a_hook_of_another_repository_does_not_mislead(
    heron: Path, layered: Layered, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = layered.place / "other"
    other.mkdir()
    git(other, "init", "--quiet")
    (heron.parent / ".gitignore").write_text(".looseleaf/\n", encoding="utf-8")
    monkeypatch.setenv("GIT_DIR", str(other / ".git"))
    monkeypatch.setenv("GIT_WORK_TREE", str(other))
    assert not is_tracked(str(heron))


@pytest.mark.parametrize("named", ["both", "repository", "relative", "tree"])
def test_a_folder_that_git_is_led_to_by_variables_counts(
    layered: Layered, monkeypatch: pytest.MonkeyPatch, named: str
) -> None:
    path = layered.project_path("heron")
    monkeypatch.chdir(layered.place)
    git(layered.place, "init", "--quiet", "--bare", "dotfiles")
    if named == "tree":
        git(layered.place, "init", "--quiet", "beside")
        monkeypatch.chdir(layered.place / "beside")
    else:
        monkeypatch.setenv("GIT_DIR", "dotfiles" if named == "relative" else str(layered.place / "dotfiles"))
    if named != "repository":
        monkeypatch.setenv("GIT_WORK_TREE", "." if named == "relative" else str(layered.place))
    assert is_tracked(str(path))
    assert refuses(path)
    with Memory(path) as memory:
        assert memory.remember(ILL).layer == "home"
    (layered.place / ".gitignore").write_text(".looseleaf\n", encoding="utf-8")
    assert not is_tracked(str(path))
    (path / "PROJECT.md").write_text("# Project\n", encoding="utf-8")
    if named == "both":
        git(layered.place, "add", "-f", "heron/.looseleaf/PROJECT.md")
    assert is_tracked(str(path)) is (named == "both")


def test_a_repository_within_the_work_tree_of_another_is_its_own(
    heron: Path, layered: Layered, monkeypatch: pytest.MonkeyPatch
) -> None:
    git(layered.place, "init", "--quiet", "--bare", "dotfiles")
    (heron.parent / ".gitignore").write_text(".looseleaf/\n", encoding="utf-8")
    monkeypatch.setenv("GIT_DIR", str(layered.place / "dotfiles"))
    monkeypatch.setenv("GIT_WORK_TREE", str(layered.place))
    assert not is_tracked(str(heron))
    monkeypatch.setenv("GIT_WORK_TREE", str(heron.parent))
    (heron.parent / ".git/info/exclude").write_text("*\n", encoding="utf-8")
    (heron.parent / ".gitignore").unlink()
    assert is_tracked(str(heron))
    monkeypatch.setenv("GIT_DIR", str(layered.place))  # no repository
    assert not is_tracked(str(heron))


def test_without_git_to_ask_a_folder_in_a_repository_counts(
    heron: Path, layered: Layered, monkeypatch: pytest.MonkeyPatch
) -> None:
    (heron.parent / ".gitignore").write_text(".looseleaf\n!.looseleaf\n", encoding="utf-8")
    monkeypatch.setenv("PATH", str(layered.place))
    assert refuses(heron)
    assert not refuses(layered.project_path("without"))


def test_the_name_by_which_a_memory_is_opened_does_not_matter(heron: Path, layered: Layered) -> None:
    link = heron.parent / "mem"
    os.symlink(".looseleaf", link)
    assert refuses(link)
    with layered.home() as home:
        home.remember("I live in Lyon.")
    with Memory(link) as memory:
        assert ("home", "Home", "Lyon") in said(memory)
        assert memory.remember(ILL).layer == "home"
    named = heron.parent / "docs" / "memory"
    init(str(named))
    assert refuses(named)
    with Memory(named) as memory, pytest.raises(Refused, match=r"is private .*is not under this one"):
        memory.remember(ILL)
    with Memory(named) as memory:
        memory.remember("The deploy runs on Fridays.")
        memory.remember(ILL, where="here")


def test_a_home_memory_that_is_a_link_into_a_project_is_the_projects(heron: Path, layered: Layered) -> None:
    shutil.rmtree(layered.home_path)
    os.symlink(heron, layered.home_path)
    for path in (heron, layered.home_path):
        assert refuses(path)
        with Memory(path) as memory, pytest.raises(Refused, match="is private"):
            memory.remember(ILL)
    with layered.project("otter") as memory:
        with pytest.raises(Refused, match=r"git tracks the home memory, "):
            memory.remember(ILL)
        memory.record(user="My daughter is Mia.")
        memory.record(assistant="Noted.")
        memory.distill()
    assert not any("Mia" in page.read_text(encoding="utf-8") for page in heron.glob("*.md"))


def test_a_memory_that_is_a_repository_of_its_own_is_its_owners(layered: Layered) -> None:
    notes = layered.place / "notes"
    init(str(notes))
    git(notes, "init", "--quiet")
    assert not may_be_tracked(str(notes))
    assert not refuses(notes)
    git(layered.place, "init", "--quiet")  # now it is a part of something
    assert refuses(notes)
    shutil.rmtree(layered.place / ".git")
    git(layered.project_path("heron"), "init", "--quiet")
    assert refuses(layered.project_path("heron"))


def test_layers_turned_off_leave_the_guard_on(heron: Path) -> None:
    (heron / "looseleaf.toml").write_text("layers = false\n", encoding="utf-8")
    assert refuses(heron)
    with Memory(heron) as memory:
        with pytest.raises(Refused, match="is private"):
            memory.remember(ILL)
        memory.record(user=ILL)
        memory.record(assistant="Noted.")
        memory.distill()
        assert "ill" not in "".join(
            memory.pages.read(path).text for path in memory.pages.list() if "review" not in path
        )
        assert memory.remember(ILL, where="here").layer in (None, "")
