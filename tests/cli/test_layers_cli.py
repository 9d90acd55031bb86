"""Layers on the command line: whose each line is, where words go, and what was forgotten where."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from layering import Layered
from looseleaf.cli.main import main

Run = Callable[..., tuple[int, str, str]]


@pytest.fixture
def run_in(layered: Layered, capsys: pytest.CaptureFixture[str]) -> Run:
    path: Path = layered.project_path()

    def call(*arguments: str) -> tuple[int, str, str]:
        code = main(["--memory", str(path), *arguments])
        out, err = capsys.readouterr()
        return code, out, err

    return call


def test_each_fact_and_hit_says_whose_it_is(run_in: Run) -> None:
    code, out, _ = run_in("remember", "I live in Lyon. The deploy runs on Fridays.")
    assert code == 0
    assert "In the home memory:" in out
    _, out, _ = run_in("facts")
    assert "home:USER.md:" in out
    _, out, _ = run_in("--json", "facts")
    assert {fact.get("layer") for fact in json.loads(out)} == {"home", None}
    _, out, _ = run_in("recall", "Where do I live?")
    assert "home:f_" in out
    _, out, _ = run_in("show", "home:USER.md")
    assert "Lyon" in out
    _, out, _ = run_in("why", "Lyon")
    assert "home" in out
    _, out, _ = run_in()
    assert "over     home: " in out


def test_a_person_decides_with_here_and_home(run_in: Run) -> None:
    run_in("remember", "--here", "I like tea.")
    run_in("remember", "--home", "The mill closes at six.")
    _, out, _ = run_in("--json", "facts")
    assert {(fact.get("layer"), fact["object"]) for fact in json.loads(out)} == {
        (None, "tea"),
        ("home", "The mill closes at six."),
    }
    code, _, err = run_in("remember", "--home", "--here", "I like tea.")
    assert code != 0
    assert "exclude each other" in err


def test_the_error_for_a_page_of_the_home_memory_is_about_that_memory(run_in: Run, layered: Layered) -> None:
    run_in("remember", "I live in Lyon.")
    run_in("remember", "--here", "--topic", "zed", "Zed is an editor.")
    code, _, err = run_in("show", "home:USRE.md")
    assert code == 2
    assert "there is no page home:USRE.md. There are: home:USER.md" in err
    assert "zed" not in err
    err = run_in("show", "zed.md")[2]
    assert "there is no page zed.md" in err
    assert "home:" not in err


def test_distill_says_what_went_home(run_in: Run) -> None:
    run_in("record", "user", "I live in Lyon.")
    run_in("record", "assistant", "Noted.")
    code, out, _ = run_in("distill")
    assert code == 0
    assert "In the home memory:" in out
    assert "Lyon" in out
    assert out.endswith("1 entry: all of its facts went home.\n")


def test_forget_says_what_went_where(run_in: Run) -> None:
    run_in("remember", "I collect mushrooms.")
    run_in("record", "user", "The mushrooms are in the shed.")
    code, out, _ = run_in("forget", "--match", "mushrooms", "--yes")
    assert code == 0
    assert "In the layer home:" in out
    assert out.count("0 hits") == 2
    run_in("remember", "I like tea.")
    code, out, _ = run_in("forget", "tea", "--yes")
    assert code == 0
    assert "In this memory: nothing." in out


def test_a_fact_of_home_is_corrected_from_a_project(run_in: Run) -> None:
    run_in("remember", "I live in Lyon.")
    code, out, _ = run_in("correct", "Home", "Oslo")
    assert code == 0
    assert "home:" in out
    _, out, _ = run_in("facts")
    assert "Oslo" in out


def _id_of(run_in: Run, words: str) -> str:
    facts = json.loads(run_in("--json", "facts")[1])
    return next(str(fact["id"]) for fact in facts if words in fact["object"])


def test_the_names_that_recall_gives_can_be_asked_about(run_in: Run) -> None:
    run_in("remember", "I live in Lyon.")
    run_in("remember", "I live in Oslo now.")
    name = f"home:{_id_of(run_in, 'Oslo')}"
    _, out, _ = run_in("recall", "Where do I live?")
    assert name[:13] in out
    code, out, _ = run_in("why", name)
    assert code == 0
    assert "“I live in Oslo now.”" in out or "I live in Oslo now." in out
    assert "journal: " in out
    assert "entry: " in out
    code, out, _ = run_in("history", name)
    assert code == 0
    assert "Lyon" in out
    assert "Oslo" in out
    code, out, _ = run_in("correct", name, "Bergen")
    assert code == 0
    assert "Bergen" in out
    code, _, err = run_in("history", "home:f_0000")
    assert code != 0
    assert "f_0000" in err


def test_undo_says_when_the_last_words_went_home_and_how_to_undo_them_there(
    run_in: Run, layered: Layered, capsys: pytest.CaptureFixture[str]
) -> None:
    def at_home(*words: str) -> None:
        assert main(["--memory", str(layered.home_path), *words]) == 0
        capsys.readouterr()

    for words in (["I live in Lyon."], ["--home", "The mill closes at six."]):
        run_in("remember", "--here", "The deploy runs on Fridays.")
        run_in("remember", *words)
        code, _, err = run_in("undo")
        assert code != 0
        assert "went to the home memory. `looseleaf --memory ~/.looseleaf undo` undoes it there" in err
        at_home("remember", "I like jazz.")
        code, _, err = run_in("undo")
        assert code != 0
        assert "`looseleaf --memory ~/.looseleaf log` shows it" in err
        at_home("undo")
        at_home("undo")
        assert "home:" not in run_in("facts")[1]
        code, out, _ = run_in("undo")
        assert code == 0
        assert "Fridays" in out
        assert "Fridays" not in run_in("facts")[1]


def test_undo_of_talk_says_that_what_went_home_from_it_stays(run_in: Run) -> None:
    run_in("record", "user", "I live in Lyon. We use pytest here.")
    run_in("record", "assistant", "Noted.")
    run_in("distill")
    code, _, err = run_in("undo")
    assert code == 0
    assert "What went to the home memory from it stays." in err


def test_what_a_person_decides_on_a_fact_at_home_is_undone_there(run_in: Run, layered: Layered) -> None:
    run_in("remember", "--home", "I live in Berlin.")
    run_in("remember", "We deploy with Ansible.")
    run_in("record", "user", "I moved to Oslo last week.")
    run_in("distill")
    with layered.home() as home:
        waiting = home.review.pending()[0].id or ""
    assert "  review   1 waiting for your yes\n" in run_in()[1]
    _, out, err = run_in("review")
    assert f"└ home:{waiting}  for USER.md · from user" in out
    assert "lines in ~/.looseleaf/review/pending.md." in err
    undo = "`looseleaf --memory ~/.looseleaf undo`"
    assert f"{undo} brings it back" in run_in("approve", waiting)[1]
    with layered.home() as home:
        home.history.undo(author="person")
        assert [fact.object for fact in home.facts()] == ["Berlin"]
    for words in (("correct", "Home", "Bergen"), ("pin", "Home"), ("reject", waiting)):
        code, out, err = run_in(*words)
        assert code == 0
        assert f"Next: {undo} undoes it.\n" in err
    _, out, err = run_in("correct", "Ansible", "We deploy with Chef.")
    assert "undo" not in out + err
