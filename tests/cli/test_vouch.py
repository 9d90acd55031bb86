"""`vouch`: a person says that lines of an unknown author are theirs; nothing else does."""

from __future__ import annotations

import io
import json
import shutil
import sys
from pathlib import Path

import pytest

from conftest import Run
from looseleaf.base.errors import Invalid, Refused
from looseleaf.cli.chat_commands import COMMANDS
from looseleaf.cli.main import main
from looseleaf.memory import Memory
from looseleaf.tools.catalogue import TOOLS
from looseleaf.tools.toolset import call

LISTED = "USER.md:1  Name: Ann\nUSER.md:2  Home: Oslo\nfacts/cars.md:1  Car: a red one\n"


@pytest.fixture
def unexplained(folder: Path) -> Path:
    """A memory whose views were deleted before two pages were written."""
    with Memory(folder) as memory:
        memory.pages.edit("facts/work.md", "- Rule: ask first\n", reason="noted")
    shutil.rmtree(folder / "views")
    (folder / "USER.md").write_text("- Name: Ann\n- Home: Oslo\n")
    (folder / "facts/cars.md").write_text("- Car: a red one\n")
    return folder


def levels(folder: Path) -> dict[str, str | None]:
    with Memory(folder) as memory:
        return {fact.object: fact.level for fact in memory.facts()}


def unvouched(folder: Path) -> set[str]:
    return {said for said, level in levels(folder).items() if level == "inferred"} - {"ask first"}


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_it_shows_the_lines_and_without_a_terminal_changes_nothing(unexplained: Path, run: Run) -> None:
    code, out, err = run("vouch")
    assert (code, out) == (2, LISTED)
    assert "Nothing was vouched for: there is no terminal to ask at." in err
    assert unvouched(unexplained) == {"Ann", "Oslo", "a red one"}


@pytest.mark.parametrize(("answer", "left"), [("y\n", set()), ("n\n", {"Ann", "Oslo", "a red one"})])
def test_on_a_terminal_it_asks(
    unexplained: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    answer: str,
    left: set[str],
) -> None:
    monkeypatch.setattr(sys, "stdin", Terminal(answer))
    code = main(["--memory", str(unexplained), "vouch"])
    out, err = capsys.readouterr()
    assert "Do you vouch for these lines, as if you had written them? [y/N]" in err
    assert out.startswith(LISTED)
    assert (code == 0) is (not left)
    assert unvouched(unexplained) == left


@pytest.mark.parametrize(
    ("named", "left"),
    [
        ([], set()),
        (["USER.md"], {"a red one"}),
        (["USER.md:2"], {"Ann", "a red one"}),
        (["RED ONE"], {"Ann", "Oslo"}),
        (["name", "facts/cars.md"], {"Oslo"}),
    ],
)
def test_it_takes_a_page_a_line_or_words(
    unexplained: Path, run: Run, named: list[str], left: set[str]
) -> None:
    code, out, err = run("vouch", *named, "--yes")
    count = 3 - len(left)
    assert (code, out) == (0, f"{count} line{'s are' if count > 1 else ' is'} confirmed, on your word.\n")
    assert "Next: `looseleaf undo` takes that back." in err
    assert unvouched(unexplained) == left


def test_it_takes_an_id_and_answers_in_json(unexplained: Path, run: Run) -> None:
    name = next(fact["id"] for fact in json.loads(run("facts", "--json")[1]) if fact["object"] == "Oslo")
    (done,) = json.loads(run("vouch", name[:8], "--yes", "--json")[1])
    assert (done["id"], done["level"]) == (name, "confirmed")


def test_what_is_explained_or_not_there_is_not_vouched_for(unexplained: Path, run: Run) -> None:
    code, _, err = run("vouch", "ask first", "--yes")
    assert code == 2
    assert "no line without a known author fits that" in err
    assert run("vouch", "--yes")[0] == 0
    assert (
        run("vouch", "--yes")[1] == "There is nothing to vouch for: the journal says who wrote each line.\n"
    )
    assert json.loads(run("vouch", "--json")[1]) == []


def test_one_undo_takes_all_of_it_back(unexplained: Path, run: Run) -> None:
    run("vouch", "--yes")
    assert unvouched(unexplained) == set()
    code, out, _ = run("undo")
    assert code == 0
    assert out.startswith("Undone: vouched for 3 lines, by ")
    assert unvouched(unexplained) == {"Ann", "Oslo", "a red one"}
    run("vouch", "oslo", "--yes")
    assert run("undo")[1].startswith("Undone: vouched for 1 line (of Home: Oslo, f_")


def test_it_is_in_the_journal_and_holds_without_views(unexplained: Path, run: Run) -> None:
    run("vouch", "USER.md", "--yes")
    before = levels(unexplained)
    shutil.rmtree(unexplained / "views")
    assert levels(unexplained) == before == {
        "Ann": "confirmed", "Oslo": "confirmed", "a red one": "inferred", "ask first": "inferred"
    }  # fmt: skip
    assert "person: vouched for 2 lines (level = confirmed" in run("why", "USER.md:1")[1]


def test_status_and_why_name_it(unexplained: Path, run: Run) -> None:
    _, out, err = run()
    assert "  vouch    3 without a known author; they count as inferred\n" in out
    assert "Next: `looseleaf vouch` shows the lines without a known author" in err
    assert "level: inferred: the journal does not say who wrote it" in run("why", "USER.md:1")[1]
    run("vouch", "--yes")
    assert "vouch" not in run()[1]


def test_nothing_else_vouches(unexplained: Path, run: Run) -> None:
    for words in (
        "facts",
        "check",
        "repair",
        "distill",
        "tidy",
        "build --full",
        "pin USER.md:1",
        "score USER.md:2 9",
    ):
        run(*words.split())
        assert unvouched(unexplained) == {"Ann", "Oslo", "a red one"}
    run("approve", "USER.md:1")
    assert unvouched(unexplained) == {"Oslo", "a red one"}


def test_no_model_can_vouch(unexplained: Path) -> None:
    assert not any("vouch" in name or "unexplained" in name for name in (*TOOLS, *COMMANDS))
    with Memory(unexplained) as memory:
        before = {fact.object: fact.level for fact in memory.facts()}
        memory.record(user="Hello.")
        call(memory, "remember", {"topic": "user", "content": "Home: Oslo"})
        call(memory, "memory_write", {"path": "facts/cars.md", "content": "- Car: a red one\n"})
        assert {fact.object: fact.level for fact in memory.facts()} == before


def test_names_that_are_no_list_or_no_such_lines_are_refused(unexplained: Path) -> None:
    with Memory(unexplained) as memory:
        with pytest.raises(Invalid, match="must be a list"):
            memory.review.vouch("USER.md:1")
        with pytest.raises(Refused, match="is not a line that the journal leaves unexplained"):
            memory.review.vouch(["USER.md:1", "facts/work.md:1"])
        assert len(memory.review.unexplained()) == 3
        assert memory.review.vouch([]) == []


def test_init_says_whose_the_pages_are_that_it_found(place: Path, run: Run) -> None:
    (place / "notes").mkdir()
    (place / "notes/USER.md").write_text("- Name: Ann\n")
    assert "Pages were there before: their facts count as inferred" in run("init", str(place / "notes"))[1]
    assert "Pages were there" not in run("init", str(place / "empty"))[1]
