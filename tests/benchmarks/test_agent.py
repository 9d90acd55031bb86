"""The measure of the agent's loop: its turns are turns, its tools are called, and its table is whole."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from benchmarks.test_measures import benchmark
from looseleaf import Memory

agent = benchmark("agent")


def test_the_table_has_a_figure_for_each_row_and_its_goals(capsys: pytest.CaptureFixture[str]) -> None:
    agent.main(["--quick"])
    lines = capsys.readouterr().out.splitlines()
    assert lines[:2] == ["| what | measured | goal |", "|---|---|---|"]
    assert all(re.fullmatch(r"\| .+ \| [0-9].* \| (≤ [0-9.]+|–) \|", line) for line in lines[2:])
    assert [line.rpartition("| ")[2] for line in lines[2:]] == ["≤ 15 |", "≤ 1.3 |", "– |", "– |"]


def test_both_histories_have_a_window_of_the_same_size_and_a_turn_writes_four_records(place: Path) -> None:
    told = []
    for turns in (agent.SHORT, 40):
        talk = agent.Talk(place, turns)
        with talk.memory as memory:
            told.append(len(memory.window.read().traces))
            before = records(memory)
            talk()
            assert records(memory) - before == agent.SYNCS
            assert memory.talk.turns(1)[0].turn_id == f"turn_{turns + 1:04d}"
            assert memory.costs.total().calls == 1
            assert [each for each in memory.check() if each.severity == "error"] == []
    assert abs(told[0] - told[1]) <= 1  # the last trace of those that were compacted is told as well


def records(memory: Memory) -> int:
    """Lines of the log; an epoch's own record is written once, with its first prompt."""
    lines = (
        line.record
        for stream in memory.parts.context.store.streams()
        for line in memory.parts.context.store.read(stream)
    )
    return sum(record.get("kind") != "snapshot" for record in lines)


def test_a_turn_with_tools_calls_two_of_them(place: Path) -> None:
    talk = agent.Talk(place, agent.SHORT, agent.with_tools)
    with talk.memory as memory:
        talk()
        talk()
        assert talk.returned == 4
        kinds = [trace.trace_type for trace in memory.talk.turns(1)[0].traces]
        assert kinds == [
            "user",
            "assistant",
            "tool_call",
            "tool_call",
            "tool_result",
            "tool_result",
            "assistant",
        ]
