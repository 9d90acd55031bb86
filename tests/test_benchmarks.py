"""The benchmark of the window measures what it says: what it fills is as if recorded, its shares are shares."""

from __future__ import annotations

import importlib.util
from itertools import chain
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from looseleaf import Memory
from looseleaf.talk import Trace


@pytest.fixture(scope="module")
def window() -> ModuleType:
    path = Path(__file__).parent.parent / "benchmarks/window.py"
    spec = importlib.util.spec_from_file_location("window_benchmark", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def lines(memory: Memory) -> list[dict[str, Any]]:
    """Without what differs from one recording to the next."""
    own = {"id", "ts", "session_id"}
    return [
        {name: value for name, value in line.record.items() if name not in own}
        for line in memory.store.read("traces/main")
    ]


def test_a_memory_that_was_filled_is_as_one_that_was_recorded(window: ModuleType, tmp_path: Path) -> None:
    turns = [list(window.Speech().turn(number, 300)) for number in (1, 2)]
    with Memory(tmp_path / "recorded") as recorded, Memory(tmp_path / "filled") as filled:
        for asked in chain(*turns):
            recorded.record(**asked)
        for number, own in enumerate(turns, 1):
            filled.store.append("traces/main", list(window.lines_of(number, own)))
        assert lines(filled) == lines(recorded)
        assert all(Trace.from_record(line.record) for line in filled.store.read("traces/main"))


def test_a_filled_memory_goes_on_where_it_ends_and_shows_what_came_after_its_mark(
    window: ModuleType, tmp_path: Path
) -> None:
    window.fill(tmp_path / "memory", 25, compacted_every=10)
    with Memory(tmp_path / "memory") as memory:
        assert memory.record(user="And now?").turn_id == "turn_0027"
        assert [turn.turn_id for turn in memory.turns(3)] == ["turn_0025", "turn_0026", "turn_0027"]
        shown = {trace.turn_id for trace in memory.window().traces}
        assert shown == {f"turn_{number:04d}" for number in range(21, 28)}
        assert memory.check() == []


def test_a_replayed_talk_has_its_calls_answered(window: ModuleType, tmp_path: Path) -> None:
    call = {"id": "c1", "function": {"name": "get_user", "arguments": '{"user_id": "mia_li_3668"}'}}
    talk = [
        {"role": "system", "content": "Be brief."},
        {"role": "user", "content": "Hello"},
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "c1", "content": '{"name": "Mia"}'},
        {"role": "assistant", "content": "Hello Mia"},
        {"role": "user", "content": "Thanks"},
    ]
    with Memory(tmp_path / "memory") as memory:
        window.replay(memory, talk)
        assert [len(turn.traces) for turn in memory.turns()] == [4, 1]
        assert [each.status for each in memory.interactions()] == ["SUCCESS"]
    assert window.needed_later(talk) == {"mia_li_3668"}
    assert window.middle(talk, within_turn=True) == 3
    assert window.middle(talk, within_turn=False) == 2


def test_the_values_of_a_call_are_its_leaves(window: ModuleType) -> None:
    arguments = {"id": "HAT136", "seats": [{"n": 2, "free": True}, {"n": 0.5}], "note": " ", "by": None}
    assert list(window.leaves(arguments)) == ["HAT136", "2", "0.5"]


@pytest.mark.parametrize("value", ["HAT136", "mia_li_3668", "2024-05-20", "JFK", "a@b.c", "src/a"])
def test_what_cannot_be_guessed_is_an_identifier(window: ModuleType, value: str) -> None:
    assert window.is_identifier(value)


@pytest.mark.parametrize("value", ["economy", "3", "Mia", "New York", "no", "seat 12A"])
def test_what_could_be_said_in_other_words_is_no_identifier(window: ModuleType, value: str) -> None:
    assert not window.is_identifier(value)


def test_a_value_is_told_only_as_a_word_of_its_own(window: ModuleType) -> None:
    assert window.is_told("HAT13", '{"flight":"HAT13"}')
    assert not window.is_told("HAT13", '{"flight":"HAT136"}')
    assert not window.is_told("5", "2024-05, 15, x_5")


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        (["abc", "def"], ["abc", "def", "g"], 6),
        (["abc", "def"], ["abc", "dxf"], 4),
        (["abc", "def"], ["abc", "defg"], 6),
        (["abc"], ["xbc"], 0),
        (["abc", "def"], ["abc"], 3),
    ],
)
def test_the_common_beginning_of_two_prompts(
    window: ModuleType, one: list[str], other: list[str], same: int
) -> None:
    assert window.common(one, other) == same
