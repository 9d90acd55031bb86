"""The measure of where talk goes: it counts what git would show, what crosses over, and what is known at home."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from benchmarks.test_measures import benchmark
from looseleaf.facts import belonging as rules

belonging = benchmark("belonging")
pytestmark = pytest.mark.skipif(shutil.which("git") is None, reason="git is not installed")

SAID = (
    {"text": "My wife Zorba has asthma.", "where": "home", "private": "family", "keep": "zorba"},
    {"text": "We use Postgres here.", "where": "project", "private": "", "keep": "postgres"},
    {"text": "My name is Rosa.", "where": "home", "private": "", "keep": "rosa"},
)


def measured(place: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    (place / "sets/dev").mkdir(parents=True)
    (place / "sets/dev/01.jsonl").write_text("".join(f"{json.dumps(each)}\n" for each in SAID))
    monkeypatch.setattr(belonging, "SETS", place / "sets")
    monkeypatch.setenv("HOME", str(place / "home"))
    return [figure for _, figure, _ in belonging.rows(place, "dev", 9)]


def test_what_goes_where_is_counted(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert measured(place, monkeypatch) == [
        "0.0 % (0 of 1)",
        "0.0 % (0 of 1)",
        "100.0 % (1 of 1)",
        "100.0 % (2 of 2)",
    ]


def test_a_program_that_takes_nothing_for_private_and_all_for_the_users_is_told(
    place: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(rules, "may_be_shown", lambda talk: True)
    monkeypatch.setattr(rules, "is_of_work", lambda text: False)
    monkeypatch.setattr(rules, "is_about_user", lambda text: True)
    leaks, crosses, *_ = measured(place, monkeypatch)
    assert leaks == "100.0 % (1 of 1)"
    assert "LEAKS" in capsys.readouterr().err
    assert crosses.endswith("of 1)")
