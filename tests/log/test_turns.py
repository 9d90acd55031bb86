"""Turns, blocks and tool pairs; and reading them from the end of the log."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from drawing import few
from looseleaf import Memory, Refused
from looseleaf.base.messages import Trace
from looseleaf.base.values import Position
from looseleaf.log.turns import (
    REMEMBERED,
    TurnTally,
    blocks_of,
    interactions,
    turn_name,
    turn_number,
    turns_of,
)
from looseleaf.store.files import FileStore
from tables import check_rows
from talking import conversations, trace

if TYPE_CHECKING:
    from looseleaf.base.messages import TraceType

words = st.sampled_from(["", "yes", "look at it", "one\ntwo"])


# --- pure ------------------------------------------------------------------------------


@given(st.integers(1, 10**12 - 1))
def test_a_turns_name_gives_its_number_back(number: int) -> None:
    assert turn_number(turn_name(number)) == number


def test_other_names_are_no_turns() -> None:
    def check(name: str) -> None:
        assert turn_number(name) is None

    check_rows(check, ["turn_1", "turn_", "turn_000a", "turn_0001x", "Turn_0001", "turn_0001\n", ""])


def test_a_block_is_a_call_with_its_result_or_a_message_pair() -> None:
    user, first, call, other, result, answer = turn = (
        trace("user", "hi"),
        trace("assistant", "let me see"),
        trace("tool_call", call="a"),
        trace("tool_call", call="b"),
        trace("tool_result", call="a"),
        trace("assistant", "done"),
    )
    blocks = blocks_of(turns_of(turn)[0])
    assert [(block.traces, block.settled) for block in blocks] == [
        ((user, answer), True),
        ((first,), True),
        ((call, result), True),
        ((other,), False),
    ]
    assert not blocks_of(turns_of(turn)[0], is_current=True)[0].settled


def test_a_result_nobody_asked_for_is_a_block_of_its_own() -> None:
    alone = trace("tool_result", call="a", flag="no_call")
    assert [block.traces for block in blocks_of(turns_of([alone])[0])] == [(alone,)]


def test_an_interaction_is_pending_then_a_success_or_an_error() -> None:
    calls = [trace("tool_call", call=name, tool_args=name) for name in "abc"]
    results = [
        trace("tool_result", call="a", tool_result=[1]),
        trace("tool_result", call="b", tool_error="broke"),
    ]
    found = interactions([*calls, *results])
    assert [(each.tool_call_id, each.status, each.arguments, each.result, each.error) for each in found] == [
        ("a", "SUCCESS", "a", [1], None),
        ("b", "ERROR", "b", None, "broke"),
        ("c", "PENDING", "c", None, None),
    ]
    assert found[0].to_dict() == {
        "tool_call_id": "a",
        "turn_id": "turn_0001",
        "tool_name": "tool",
        "arguments": "a",
        "result": [1],
        "error": None,
        "status": "SUCCESS",
    }


def traces_of(asked: list[dict[str, Any]]) -> list[Trace]:
    made, turn, calls = [], 0, {}
    for each in asked:
        turn += "user" in each
        call = each.get("tool_call_id")
        kind = next(
            name for name in ("user", "assistant", "tool_call", "tool_result", "tool_error") if name in each
        )
        if kind == "tool_call":
            calls[call] = turn
        is_result = kind in ("tool_result", "tool_error")
        flag = "no_call" if is_result and call not in calls else None
        own = calls.get(call, turn) if is_result else turn
        made.append(trace("tool_result" if is_result else kind, turn=own, call=call, flag=flag))  # type: ignore[arg-type]
    return made


@given(conversations(words))
def test_every_trace_of_a_turn_is_in_exactly_one_block(asked: list[dict[str, Any]]) -> None:
    traces = traces_of(asked)
    for turn in turns_of(traces):
        blocks = blocks_of(turn)
        assert sorted(each.id for block in blocks for each in block.traces) == sorted(
            each.id for each in turn.traces
        )
        assert [each.id for turn in turns_of(traces) for each in turn.traces].count(turn.traces[0].id) == 1


@given(conversations(words, max_turns=6))
def test_a_tally_that_was_written_and_read_knows_what_it_knew(asked: list[dict[str, Any]]) -> None:
    tally = TurnTally()
    for each in traces_of(asked):
        tally.take(each.to_record())
        again = TurnTally.from_dict(tally.to_dict())
        assert again.to_dict() == tally.to_dict()
    pending = {each.tool_call_id for each in interactions(traces_of(asked)) if each.status == "PENDING"}
    assert set(tally.open) == pending


def test_a_tally_stays_small_and_forgets_no_turn_that_waits() -> None:
    tally = TurnTally()
    tally.take(trace("tool_call", turn=1, call="open").to_record())
    kinds: tuple[TraceType, ...] = ("tool_call", "tool_result")
    for number in range(2, 4 * REMEMBERED):
        for kind in kinds:
            tally.take(trace(kind, turn=number, call=f"c{number}", session=f"s{number}").to_record())
    assert all(len(table) <= 2 * REMEMBERED + 1 for table in (tally.seqs, tally.sessions, tally.answered))
    assert "turn_0001" in tally.seqs
    assert tally.pair("open", None, "s") == ("open", "turn_0001", None)


@pytest.mark.parametrize(
    "record", [{}, {"turn_id": 5}, {"turn_id": "x"}, {"turn_id": "turn_0001", "seq": "1"}]
)
def test_lines_that_are_no_traces_are_no_matter(record: dict[str, Any]) -> None:
    tally = TurnTally()
    tally.take(record)
    assert not tally.open


# --- from the end of the log -----------------------------------------------------------


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Memory]:
    with Memory(tmp_path / "memory") as made:
        yield made


@settings(max_examples=few(15), deadline=None)
@given(asked=conversations(words), count=st.integers(1, 5))
def test_the_last_turns_are_whole_whatever_came_late(
    tmp_path_factory: pytest.TempPathFactory, asked: list[dict[str, Any]], count: int
) -> None:
    with Memory(tmp_path_factory.mktemp("memory") / "m") as memory:
        recorded = [memory.record(**each) for each in asked]
        everything = turns_of(recorded)
        assert memory.talk.turns(count) == everything[-count:]
        assert memory.talk.turns(100) == everything
        for turn in everything:
            assert memory.talk.turn(turn.turn_id) == turn
        first, last = everything[0], everything[len(everything) // 2]
        assert (
            memory.talk.turns(first=first.turn_id, until=last.turn_id)
            == everything[: len(everything) // 2 + 1]
        )
        assert memory.talk.tail(count, exclude=everything[-1].turn_id) == [
            each for turn in everything[:-1][-count:] for each in turn.traces
        ]


def test_a_turn_that_is_not_there_is_refused(memory: Memory) -> None:
    with pytest.raises(Refused, match="There is no turn"):
        memory.talk.turn("turn_0009")


def test_sessions_that_were_mixed_are_told_apart(tmp_path: Path) -> None:
    with Memory(tmp_path / "m", session="a") as first, Memory(tmp_path / "m", session="b") as second:
        for number in range(3):
            first.record(user=f"a{number}")
            second.record(user=f"b{number}")
            first.record(assistant="yes")
        assert [[each.content for each in turn.traces] for turn in first.talk.turns(session="a")] == [
            ["a0", "yes"],
            ["a1", "yes"],
            ["a2", "yes"],
        ]
        assert [turn.traces[0].content for turn in first.talk.turns(2, session="b")] == ["b1", "b2"]
        found = first.talk.sessions()
        assert [(each.session_id, each.turns, each.traces, each.opening) for each in found] == [
            ("a", 3, 6, "a0"),
            ("b", 3, 3, "b0"),
        ]
        assert found[0].first_ts < found[0].last_ts
        assert [each.session_id for each in first.talk.sessions(1)] == ["b"]
        assert found[1].to_dict()["opening"] == "b0"


class ReadBytes(FileStore):
    """Counts the records that were read back."""

    count = 0

    def read_back(self, stream: str, end: Position | None = None) -> Iterator[Any]:
        for line in super().read_back(stream, end):
            self.count += 1
            yield line


def test_reading_the_end_does_not_read_the_rest(tmp_path: Path) -> None:
    with Memory(tmp_path / "m") as memory, memory.batch() as batch:
        for number in range(2000):
            batch.record(user=f"{number}")
            batch.record(assistant="yes")
    with Memory(tmp_path / "m") as memory:
        memory.record(user="last")
    store = ReadBytes(tmp_path / "m")
    with Memory(tmp_path / "m") as memory, store:
        memory.parts.conversation._store = store
        assert len(memory.talk.turns(20)) == 20
        assert memory.talk.turn("turn_1999").traces[0].content == "1998"
        assert len(memory.talk.tail(2)) == 3
        assert [each.turns for each in memory.talk.sessions(1)] == [1]
        assert len(memory.talk.turns(session=memory.talk.turns(1)[0].session_id)) == 1
        assert store.count < 100


def test_lines_made_by_hand_without_what_only_we_add_are_read(tmp_path: Path) -> None:
    with Memory(tmp_path / "m") as memory:
        memory.record(user="ours")
        log = tmp_path / "m/log/traces/main/raw_traces.jsonl"
        by_hand = (
            '{"id":"rt_001","ts":1738100000.12,"turn_id":"turn_0002","seq":1,"trace_type":"user",'
            '"content":"theirs","source_event":"LLMUserMessageReadyEvent"}\n'
            '{"no":"trace"}\n{"id":1,"trace_type":"user"}\n{"id":"x","ts":"y","turn_id":"turn_0002","seq":2,'
            '"trace_type":"user","content":""}\n'
        )
        with log.open("a") as file:
            file.write(by_hand)
        assert [turn.traces[0].content for turn in memory.talk.turns()] == ["ours", "theirs"]
        assert memory.record(user="next").turn_id == "turn_0003"
        assert time.time() > memory.talk.turns()[1].ts
