"""What was learnt is told in one line: what holds now, by name, and nothing that was forgotten since."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from looseleaf import Memory
from looseleaf.base.values import Fact
from looseleaf.integrations.learnt import facts_of, keys_of, learnt_line


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Memory]:
    with Memory(tmp_path / "memory") as memory:
        yield memory


def said(memory: Memory, *texts: str) -> list[str]:
    """What was learnt of these messages."""
    keys: list[str] = []
    for text in texts:
        memory.record(user=text)
        memory.record(assistant="Noted.")
        keys += keys_of(memory.distill())
    return keys


def line(memory: Memory, keys: list[str], waiting: int = 0) -> str:
    return learnt_line(facts_of(keys, memory.parts.known), waiting)


def fact(value: str) -> Fact:
    return Fact(subject="user", relation="Likes", object=value, kind="preference", topic="user")


def test_nothing_learnt_is_no_line(memory: Memory) -> None:
    assert line(memory, said(memory, "What is the weather like?")) == ""


def test_what_was_learnt_is_named_newest_first(memory: Memory) -> None:
    keys = said(memory, "I live in Lyon.", "My name is Ann.")
    assert line(memory, keys) == "Learned 2 things (Name: Ann; Home: Lyon). See `looseleaf facts`."


def test_what_is_said_again_is_not_learnt_again(memory: Memory) -> None:
    said(memory, "I live in Lyon.")
    assert said(memory, "As I said, I live in Lyon.") == []


def test_only_what_holds_now_is_told(memory: Memory) -> None:
    keys = said(memory, "I live in Lyon.", "I moved to Paris.")
    assert line(memory, keys) == "Learned 1 thing (Home: Paris). See `looseleaf facts`."
    memory.forget(match="Paris")
    assert "Paris" not in line(memory, keys)


def test_after_three_names_the_rest_is_counted() -> None:
    many = [fact(each) for each in ("tea", "jazz", "rain", "rye", "x" * 200)]
    assert learnt_line(many) == (
        "Learned 5 things (Likes: tea; Likes: jazz; Likes: rain; 2 more). See `looseleaf facts`."
    )
    assert len(learnt_line(many[4:])) < 120


def test_what_waits_is_counted_and_its_command_named() -> None:
    assert learnt_line([], 0) == ""
    assert learnt_line([], 1) == "1 line waits for your yes. See `looseleaf review`."
    assert learnt_line([fact("tea")], 2) == (
        "Learned 1 thing (Likes: tea); 2 lines wait for your yes. See `looseleaf facts` and `looseleaf review`."
    )
