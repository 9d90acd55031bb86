"""Hooks in a project with a home memory: a session begins with both, and what it says of the user goes home."""

from __future__ import annotations

import io
import json
import sys
from collections.abc import Callable
from typing import Any

import pytest

from hooking import Agent
from layering import Layered, said
from looseleaf.cli.main import main


@pytest.fixture
def hook(
    layered: Layered, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> Callable[[str, bytes], Any]:
    path = layered.project_path()

    def call(event: str, given: bytes) -> Any:
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(given)))
        assert main(["--memory", str(path), "hook", event]) == 0
        out = capsys.readouterr().out.strip()
        return json.loads(out) if out.startswith("{") else out

    return call


def _context(answer: Any) -> str:
    return answer if isinstance(answer, str) else json.dumps(answer, ensure_ascii=False)


@pytest.mark.usefixtures("distills_here")
def test_a_session_begins_with_what_is_known_at_home_and_teaches_it(
    layered: Layered, hook: Callable[[str, bytes], Any]
) -> None:
    with layered.home() as home:
        home.remember("Answer in German, please.")
    agent = Agent(hook, layered.place / "transcript.jsonl")
    for _ in range(2):  # the second is the kept one
        assert "German" in _context(agent.tell("session-start", source="startup"))
    agent.tell("user-prompt", prompt="I live in Lyon. We use pytest here.")
    agent.write("user", "I live in Lyon. We use pytest here.")
    agent.write("assistant", [{"type": "text", "text": "Noted."}])
    agent.tell("stop")
    agent.tell("pre-compact", trigger="auto")
    with layered.project() as memory:
        memory.distill()
        assert {("home", "Home", "Lyon"), ("", "Test runner", "pytest")} <= set(said(memory))
    with layered.home() as home:
        assert {value for _, _, value in said(home)} == {"German", "Lyon"}
