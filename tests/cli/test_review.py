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

OWN = "# User\n\n- Role: cook\n- Shell: zsh\n- Editor: vim\n"
"""What a person wrote: an agent that wants to change it asks."""
WANTED = ("Role: root", "Shell: fish", "Editor: a plain \x1b[2Jnote")


@pytest.fixture
def waiting(folder: Path) -> Path:
    with Memory(folder) as memory:
        memory.pages.edit("USER.md", OWN, reason="mine", author="person")
        memory.record(user="Hello.")
        for said in WANTED:
            call(memory, "remember", {"topic": "user", "content": said})
    return folder


def test_in_a_pipe_it_lists_what_waits_and_says_how_to_answer(waiting: Path, run: Run) -> None:
    code, out, err = run("review")
    assert code == 0
    assert "1. Role: root\n   └ f_" in out
    assert "agent:main wants it on USER.md; a person wrote “Role: cook”" in out
    assert "\x1b" not in out
    assert err.startswith("Next: `looseleaf approve ID` or `looseleaf reject ID` decides")
    told = json.loads(run("review", "--json")[1])
    assert [fact["object"] for fact in told] == ["root", "fish", "a plain \\x1b[2Jnote"]
    assert all("wants it on USER.md" in fact["why"] for fact in told)


@pytest.mark.parametrize("read", [False, True])
def test_what_an_agent_concluded_or_found_stands_in_a_drawer_and_asks_nobody(
    folder: Path, run: Run, read: bool
) -> None:
    with Memory(folder) as memory:
        memory.record(user="Hello.")
        if read:
            memory.record(tool_call="web", tool_args={}, tool_call_id="c1")
            memory.record(tool_result="Root is the role.", tool_call_id="c1")
        answers = [call(memory, "remember", {"topic": "user", "content": said}) for said in WANTED]
        how = "under what agents found" if read else "as what an agent concluded"
        assert all(f"- stands in a drawer (facts/user.md), {how}: “" in answer.text for answer in answers)
        assert {fact.path for fact in memory.facts()} == {"facts/user.md"}
        assert {fact.level for fact in memory.facts()} == {"tainted" if read else "inferred"}
        assert len(memory.facts()) == len(WANTED)
        assert not memory.pages.read("USER.md").exists
    assert run("review")[1] == "Nothing waits for review.\n"


def test_where_nothing_waits_it_says_so(run: Run) -> None:
    assert run("review")[1:] == (
        "Nothing waits for review.\n",
        "Next: `looseleaf facts` lists the facts.\n",
    )
    assert json.loads(run("review", "--json")[1]) == []


@pytest.mark.parametrize(
    ("answers", "kept", "left"),
    [
        ("y\nn\nl\n", ["root", "zsh", "vim"], 1),
        ("maybe\nYes\nno\nq\n", ["root", "zsh", "vim"], 1),
        ("q\n", ["cook", "zsh", "vim"], 3),
        ("n\n", ["cook", "zsh", "vim"], 2),
        ("l\ny\ny\n", ["cook", "fish", "a plain \\x1b[2Jnote"], 1),
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
