"""Hooks hand over what bears on a prompt that begins a subject, once; and a new session is told what was learnt."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from conftest import Run
from hooking import Agent
from looseleaf import Memory
from looseleaf.prompt.bearing import HEADING

Begin = Callable[[str], Agent]
FERRY = "The Ostend ferry leaves from pier seven"
ASKED = "From which pier does the Ostend ferry leave?"


@pytest.fixture
def earlier(begin: Begin, folder: Path) -> None:
    """A session before, distilled and indexed when it stopped."""
    with Memory(folder, session="before") as memory:
        for number in range(40):
            memory.record(user=f"Chapter {number} is about the gardens of Quito and Havana.")
    agent = begin("1111")
    agent.ask(f"{FERRY}.")
    agent.say("The Calais hovercraft leaves from platform nine.")


def context(told: Any) -> str:
    return str(told["hookSpecificOutput"]["additionalContext"]) if told else ""


@pytest.mark.usefixtures("earlier")
def test_what_bears_on_the_first_prompt_of_a_session_is_handed_over_once(begin: Begin) -> None:
    agent = begin("2222")
    told = agent.ask(ASKED)
    assert told["hookSpecificOutput"]["hookEventName"] == "UserPromptSubmit"
    assert context(told).startswith(HEADING)
    assert FERRY in context(told)
    agent.say("From pier seven.")
    assert agent.ask("And the Ostend ferry back, from which pier?") is None
    assert agent.ask("yes, go on") is None


@pytest.mark.usefixtures("earlier")
def test_it_is_handed_over_again_when_the_context_was_cleared(begin: Begin) -> None:
    agent = begin("2222")
    asked = "From which platform does the Calais hovercraft leave?"
    assert "platform nine" in context(agent.ask(asked))
    assert agent.ask(asked) is None
    assert "platform nine" not in agent.start("clear")
    assert "platform nine" in context(agent.ask(asked))


@pytest.mark.usefixtures("earlier")
def test_what_the_snapshot_tells_is_not_handed_over_again(begin: Begin) -> None:
    agent = begin("2222")
    assert FERRY in agent.start()
    assert FERRY not in context(agent.ask(ASKED))


@pytest.mark.usefixtures("earlier")
def test_the_session_that_said_it_is_not_told(begin: Begin) -> None:
    assert begin("1111").ask(ASKED) is None


@pytest.mark.usefixtures("earlier")
def test_a_plain_agent_gets_it_as_context(run: Run) -> None:
    code, out, _ = run("hook", "user-prompt", stdin=json.dumps({"session": "p", "prompt": ASKED}).encode())
    assert code == 0
    assert FERRY in json.loads(out)["context"]


@pytest.mark.usefixtures("earlier")
def test_the_setting_turns_it_off(begin: Begin, folder: Path) -> None:
    (folder / "looseleaf.toml").write_text("recall_on_prompt = false\n")
    assert begin("2222").ask(ASKED) is None


def test_the_view_holds_no_word_of_a_prompt(begin: Begin, folder: Path) -> None:
    agent = begin("2222")
    agent.ask("Compare zebras with quaggas near Windhoek")
    agent.write("assistant", [{"type": "text", "text": "They differ."}])
    agent.ask("go on")
    view = json.loads((folder / "views/agents/main/hooks.json").read_text())
    own = view["sessions"]["2222-1111-2222"]
    assert own["subject"]
    assert all(isinstance(each, int) for each in own["subject"])


def test_a_new_session_is_told_what_was_learnt_once(begin: Begin) -> None:
    first = begin("1111")
    first.tell("session-start", source="startup")
    first.ask("I live in Lyon, and my favourite editor is Helix.")
    first.say("Noted.")
    second = begin("2222")
    assert "systemMessage" not in (second.tell("session-start", source="resume") or {})
    told = second.tell("session-start", source="startup")["systemMessage"]
    assert told.startswith("looseleaf: Learned 2 things (")
    assert "Home: Lyon" in told
    assert told.endswith("See `looseleaf facts`.")
    assert "systemMessage" not in (begin("3333").tell("session-start", source="startup") or {})
