"""Gemini CLI, Qwen Code and opencode with our server: a wish is granted, and what is known is found."""

from __future__ import annotations

import pytest

from clients.driver import NewProject
from clients.script import Call, remember

CLIENTS = ["gemini", "qwen", "opencode"]


@pytest.mark.parametrize("client", CLIENTS)
def test_a_wish_is_granted_without_hooks(new: NewProject, client: str) -> None:
    meadow = new(client, hooks=())
    meadow.script({"green tea": [remember("Prefers: green tea"), "Saved: {result}"]})
    answered = getattr(meadow, client)("Remember that I prefer green tea.")
    last = meadow.requests()[-1]
    name, result = last.results[-1]
    assert [each for each in last.tools if each.endswith("remember")] == [name]
    assert "green tea" in result
    assert "error" not in result.lower()
    assert "Saved:" in answered
    assert "green tea" in meadow.everywhere()


@pytest.mark.parametrize("client", CLIENTS)
def test_what_is_known_is_found(new: NewProject, client: str) -> None:
    meadow = new(client, hooks=())
    (meadow.memory / "USER.md").write_text("# User Facts\n\n- Prefers: green tea\n")
    meadow.script({"Which tea": [Call(r".*recall", {"query": "which tea"}), "It is known."]})
    getattr(meadow, client)("Which tea do I like?")
    assert "green tea" in meadow.requests()[-1].results[-1][1]


def test_gemini_with_hooks_is_told_and_each_thing_is_recorded_once(new: NewProject) -> None:
    """It hands what the first hook told it to the next ones, in front of the user's own words."""
    meadow = new("gemini", hooks=("gemini",))
    meadow.gemini("I'm Ada and I live in Lyon.")
    meadow.until_known("Lyon")
    meadow.gemini("Hello there.")
    assert "Home: Lyon" in meadow.requests()[-1].everything
    assert meadow.user_words() == ["I'm Ada and I live in Lyon.", "Hello there."]
    assert meadow.answers() == [f"Understood, {asked.number}." for asked in meadow.requests()]
