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


def test_distill_says_what_went_home(run_in: Run) -> None:
    run_in("record", "user", "I live in Lyon.")
    run_in("record", "assistant", "Noted.")
    code, out, _ = run_in("distill")
    assert code == 0
    assert "In the home memory:" in out
    assert "Lyon" in out


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
