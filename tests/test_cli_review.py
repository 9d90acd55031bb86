"""The command of review: it lists in a pipe, asks on a terminal, and does what it was told."""

from __future__ import annotations

import json
import os
import pty
import sys
from pathlib import Path

import pytest

from conftest import Run
from looseleaf.cli.main import main
from looseleaf.memory import Memory
from looseleaf.tools.toolset import call


@pytest.fixture
def waiting(folder: Path) -> Path:
    with Memory(folder) as memory:
        memory.record(user="Hello.")
        for said in ("Role: root", "Shell: fish", "a plain \x1b[2Jnote"):
            call(memory, "remember", {"topic": "user", "content": said})
    return folder


def test_in_a_pipe_it_lists_what_waits_and_says_how_to_answer(waiting: Path, run: Run) -> None:
    code, out, err = run("review")
    assert code == 0
    assert "1. Role: root\n   └ f_" in out
    assert "agent:main wants it on USER.md; the user did not say it" in out
    assert "\x1b" not in out
    assert err.startswith("Next: `looseleaf approve ID` says yes")
    told = json.loads(run("review", "--json")[1])
    assert [fact["object"] for fact in told][:2] == ["root", "fish"]
    assert all("wants it on USER.md" in fact["why"] for fact in told)


def test_where_nothing_waits_it_says_so(run: Run) -> None:
    assert run("review")[1:] == (
        "Nothing waits for you.\n",
        "Next: `looseleaf facts` lists what is known.\n",
    )
    assert json.loads(run("review", "--json")[1]) == []


@pytest.mark.parametrize(
    ("answers", "kept", "left"),
    [
        ("y\nn\nl\n", ["root"], 1),
        ("maybe\nYes\nno\nq\n", ["root"], 1),
        ("q\n", [], 3),
        ("n\n", [], 2),
        ("l\ny\ny\n", ["fish", "a plain \\x1b[2Jnote"], 1),
    ],
)
def test_on_a_terminal_it_asks_one_by_one(
    waiting: Path, monkeypatch: pytest.MonkeyPatch, answers: str, kept: list[str], left: int
) -> None:
    ours, theirs = pty.openpty()
    os.write(ours, answers.encode() + b"\x04")
    with os.fdopen(theirs, "r+b", 0, closefd=False):
        terminal = open(theirs, encoding="utf-8", closefd=False)  # noqa: SIM115
        shown = open(theirs, "w", encoding="utf-8", closefd=False)  # noqa: SIM115
        monkeypatch.setattr(sys, "stdin", terminal)
        monkeypatch.setattr(sys, "stdout", shown)
        assert main(["--memory", str(waiting), "review"]) == 0
    monkeypatch.undo()
    os.close(theirs)
    os.close(ours)
    with Memory(waiting) as memory:
        assert [fact.object for fact in memory.facts()] == kept
        assert len(memory.facts(status="pending")) == left
