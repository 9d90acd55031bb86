"""A week in two projects, with a home memory under both: what is said of the user in one is known in the other, nothing
of the work crosses, and git shows nothing private.

git really runs, as in a shell. The week is read as it would be lived, day by day.
"""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from layering import Layered, said
from looseleaf import Memory
from looseleaf.base.errors import Refused

pytestmark = pytest.mark.skipif(shutil.which("git") is None, reason="git is not installed")

PRIVATE = ("Mia", "asthma", "Harbour Street", "4,200", "salary", "peanut", "Rosa", "Lyon")
WORK_OF_HERON = ("Postgres", "pytest", "Fridays", "ledger")
WORK_OF_OTTER = ("Redis", "jest", "otter-api")


def git(folder: Path, *arguments: str) -> str:
    who = ("-c", "user.name=Test", "-c", "user.email=test@example.com", "-c", "commit.gpgsign=false")
    done = subprocess.run(["git", *who, *arguments], cwd=folder, capture_output=True, text=True, check=True)
    return done.stdout


def say(memory: Memory, words: str, answer: str = "Noted.") -> None:
    """Say something in a project, and let it be distilled, as the end of a session does."""
    memory.record(user=words)
    memory.record(assistant=answer)
    memory.distill()


def shown_by_git(folder: Path) -> str:
    """Return all that a clone of the repository would hold."""
    git(folder, "add", "--all")
    git(folder, "commit", "--quiet", "--allow-empty", "-m", "a day")
    names = git(folder, "ls-files").splitlines()
    return "\n".join((*names, git(folder, "log", "-p", "--all")))


@pytest.mark.long
def test_a_week_in_two_projects(layered: Layered) -> None:
    heron, otter = layered.place / "heron", layered.place / "otter"
    for folder in (heron, otter):
        folder.mkdir()
        git(folder, "init", "--quiet")
        (folder / "README.md").write_text("A project.\n", encoding="utf-8")

    # Monday, in heron: who the user is, and how the work is done.
    with layered.project("heron") as memory:
        say(memory, "My name is Rosa. I live in Lyon. Answer in German, please.")
        say(memory, "We use Postgres and pytest here. The deploy runs on Fridays.")
    shown_by_git(heron)

    # Tuesday, in otter: the user is known, the work of heron is not.
    with layered.project("otter") as memory:
        assert {("home", "Name", "Rosa"), ("home", "Home", "Lyon"), ("home", "Language", "German")} <= set(
            said(memory)
        )
        prompt = memory.prompt("Plan the day.")
        assert "Rosa" in prompt.text
        assert not any(word in prompt.text for word in WORK_OF_HERON)
        assert any(item.layer == "home" for item in prompt.manifest.items)
        assert not memory.recall("Which database do we use?")
        say(memory, "We use Redis and jest here. I'm allergic to peanuts.")
    shown_by_git(otter)

    # Wednesday, in heron: private things are said between two tasks.
    with layered.project("heron") as memory:
        assert ("home", "Allergy", "peanuts") in said(memory)
        assert not any("Redis" in hit.text for hit in memory.recall("Is Redis used?"))
        say(memory, "My daughter Mia has asthma. I earn a salary of 4,200 euros a month.")
        say(memory, "My address is 12 Harbour Street. Please fix the ledger tests.", "Done.")
    shown_by_git(heron)

    # Thursday, in otter: a person decides where things go.
    with layered.project("otter") as memory:
        memory.remember("I prefer green tea.")
        memory.remember("The otter-api listens on port 8080.")
        assert memory.recall("What is my daughter called?")[0].layer == "home"
        memory.remember("My doctor calls on Monday.", where="here")
    # What a person put there is there.
    assert "doctor" in shown_by_git(otter)

    # Friday, in heron: the user moved, and says so; the newer word is heard in both.
    with layered.project("heron") as memory:
        say(memory, "I live in Oslo now.")
        assert ("home", "Home", "Oslo") in said(memory)
        assert memory.recall("Which tea do I prefer?")[0].layer == "home"
    with layered.project("otter") as memory:
        assert ("home", "Home", "Oslo") in said(memory)
        assert ("home", "Home", "Lyon") not in said(memory)

    # The weekend: what each memory holds.
    with layered.home() as home:
        pages = "".join(home.pages.read(path).text for path in home.pages.list())
        known = " ".join(value for _, _, value in said(home))
        assert all(word in known for word in ("Rosa", "Oslo", "peanuts", "Mia", "green tea"))
        assert not any(word in pages for word in (*WORK_OF_HERON, *WORK_OF_OTTER))
        assert home.check() == []
    for folder, others in ((heron, WORK_OF_OTTER), (otter, WORK_OF_HERON)):
        shown = shown_by_git(folder)
        assert ".looseleaf/" in shown  # the memory is in git
        assert not [word for word in (*PRIVATE, *others) if word in shown]
        with Memory(folder / ".looseleaf") as memory:
            assert memory.check() == []


def test_without_a_home_private_things_wait_where_git_does_not_look(layered: Layered) -> None:
    shutil.rmtree(layered.home_path)
    folder = layered.place / "heron"
    folder.mkdir()
    git(folder, "init", "--quiet")
    with layered.project("heron") as memory:
        say(memory, "My daughter Mia has asthma. We use pytest here.")
        assert {fact.relation for fact in memory.review.pending()} >= {"Child"}
        assert ("", "Test runner", "pytest") in said(memory)
        with pytest.raises(Refused, match=r"private .*and there is no home memory"):
            memory.remember("My wife is ill.")
        memory.remember("My wife is ill.", where="here")
    shown = shown_by_git(folder)
    assert "Mia" not in shown
    assert "My wife is ill" in shown


def test_a_project_whose_memory_git_ignores_keeps_what_it_is_told(layered: Layered) -> None:
    shutil.rmtree(layered.home_path)
    folder = layered.place / "heron"
    folder.mkdir()
    git(folder, "init", "--quiet")
    (folder / ".gitignore").write_text(".looseleaf/\n", encoding="utf-8")
    with layered.project("heron") as memory:
        memory.remember("My wife is ill.")
        assert [value for _, _, value in said(memory)] == ["My wife is ill."]


def test_a_models_line_that_is_private_is_refused_where_git_looks(layered: Layered) -> None:
    from looseleaf.tools.toolset import call

    folder = layered.place / "heron"
    folder.mkdir()
    git(folder, "init", "--quiet")
    with layered.project("heron") as memory:
        memory.record(user="My daughter has asthma.")
        refused = call(memory, "remember", {"topic": "user", "content": "- Condition: asthma"})
        assert "private (health)" in refused.text
        refused = call(memory, "memory_state", {"patch": {"goal": "Find a doctor for my daughter"}})
        assert "private (family, health)" in refused.text
        assert (
            "Remembered" in call(memory, "remember", {"topic": "tests", "content": "- Runner: pytest"}).text
        )


def test_settings_that_git_tracks_name_no_memory_elsewhere_unless_it_is_trusted(layered: Layered) -> None:
    from looseleaf.pages.folder import init

    acme, heron = layered.project_path("acme"), layered.place / "heron"
    heron.mkdir()
    git(heron, "init", "--quiet")
    near, beside = layered.project_path("heron"), heron / "docs" / "memory"
    init(str(beside))
    with Memory(acme) as memory:
        memory.remember("The supplier is Umbrella.", where="here")
    with layered.home() as home:
        home.remember("I live in Lyon.")
    with Memory(beside) as memory:
        memory.remember("The mill closes at six.", where="here")
    text = 'over = ["../../acme/.looseleaf", "../docs/memory", "~/.looseleaf"]\ntrust_over = ["/"]\n'
    (near / "looseleaf.toml").write_text(text, encoding="utf-8")

    def read() -> tuple[list[str], list[str]]:
        with Memory(near) as memory:
            layers = memory.parts.layers
            found = [layer.name for layer in layers.found] if layers is not None else []
            assert layers is None or layers.missed == []
            return found, [note for note in memory.notes if "was left out" in note]

    found, (note,) = read()
    assert found == ["memory", "home"]
    assert f'`trust_over = ["{acme.resolve()}"]`' in note
    # A link in the repository leads no further.
    (near / "looseleaf.toml").write_text('over = ["../linked"]\n', encoding="utf-8")
    (heron / "linked").symlink_to(acme)
    assert read()[0] == []
    (near / "looseleaf.toml").write_text(text.partition("\n")[0], encoding="utf-8")
    # The home memory's settings trust a folder, or what is in it. Settings that git ignores are nobody else's.
    for trusted in ("../../acme", str(acme), "~/../acme"):
        (layered.home_path / "looseleaf.toml").write_text(f'trust_over = ["{trusted}"]\n', encoding="utf-8")
        assert read() == (["acme", "memory", "home"], [])
    (layered.home_path / "looseleaf.toml").unlink()
    assert len(read()[1]) == 1
    (heron / ".gitignore").write_text("looseleaf.toml\n", encoding="utf-8")
    assert read() == (["acme", "memory", "home"], [])
    git(heron, "add", "--force", ".looseleaf/looseleaf.toml")
    assert len(read()[1]) == 1


def test_what_a_trusted_memory_names_is_asked_about_in_turn(layered: Layered) -> None:
    from looseleaf.base.policy import Policy
    from looseleaf.memory.layers import find_layers
    from looseleaf.pages.folder import init

    team, company, near = (layered.place / name for name in ("team", "company", "near"))
    for path in (team, company, near):
        init(str(path))
    git(team, "init", "--quiet")
    (team / "looseleaf.toml").write_text('over = ["../company"]\n', encoding="utf-8")
    (near / "looseleaf.toml").write_text('over = ["../team"]\n', encoding="utf-8")
    notes: list[str] = []
    policy = Policy(over=("../team",))
    assert [each.name for each in find_layers(str(near), policy, notes.append)] == ["team"]
    assert len(notes) == 1
    # A program's own policy is nobody else's; one with what the settings say is no program's own.
    git(near, "init", "--quiet")
    assert find_layers(str(near), policy, notes.append) == []
    assert [each.name for each in find_layers(str(near), Policy(over=(str(team),)), notes.append)] == ["team"]
