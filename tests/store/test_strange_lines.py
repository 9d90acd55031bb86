"""Lines that were damaged, copied or made by hand hide nothing that was said, and stop nobody."""

from __future__ import annotations

import json
import sys
import threading
from collections.abc import Iterator
from itertools import product
from pathlib import Path
from tempfile import mkdtemp
from typing import Any

import pytest

from looseleaf import Memory, Refused
from looseleaf.base.messages import Message, Trace
from tables import check_rows, some
from talking import trace
from window.test_compact import all_traces, opened, talk
from wiring import untyped

ACTIVE = "log/traces/main/raw_traces.jsonl"


def damage(folder: Path, trace_id: str) -> None:
    """Flip one byte of the line with an id."""
    for path in sorted((folder / "log/traces/main").rglob("*.jsonl")):
        data = path.read_bytes()
        at = data.find(f'"id":"{trace_id}"'.encode())
        if at >= 0:
            path.write_bytes(data[: at + 8] + bytes([data[at + 8] ^ 1]) + data[at + 9 :])
            return
    raise AssertionError("there is no such line")


def append(folder: Path, *lines: str) -> None:
    with (folder / ACTIVE).open("a") as file:
        file.write("".join(f"{line}\n" for line in lines))


def test_what_is_said_after_a_damaged_line_of_the_window_is_told(tmp_path: Path) -> None:
    def check(mended: bool, which: str) -> None:
        folder = Path(mkdtemp(dir=tmp_path))
        with opened(folder / "m", 2000) as memory:
            talk(memory, 20)
            assert memory.window.compact() is not None
            mark = memory.window.read().mark
            assert mark is not None
        named = {
            "since": [mark.since],
            "start": [mark.start[2]],
            "all": {mark.since, *mark.tail, *mark.held},
        }[which]
        for each in named:
            damage(folder / "m", each)
        with opened(folder / "m", 2000) as memory:
            if mended:
                memory.repair()
            memory.record(user="NEW")
            assert memory.window.messages()[-1] == Message("user", "NEW")
            assert memory.window.tokens() <= 2000

    check_rows(check, some([*product([False, True], ["since", "start", "all"])], 3))


def test_a_turn_that_was_reserved_early_and_used_late_hides_no_other(tmp_path: Path) -> None:
    with Memory(tmp_path / "m") as first, Memory(tmp_path / "m") as second:
        first.talk.start_turn()
        second.record(user="b")
        first.record(user="a")
        assert [each.content for each in first.talk.turn("turn_0002").traces] == ["b"]
        assert len(first.talk.turns(first="turn_0001", until="turn_0002")) == 2


def test_a_turn_is_not_given_out_again_when_its_line_is_damaged(tmp_path: Path) -> None:
    with Memory(tmp_path / "m") as memory:
        memory.record(user="one")
        lost = memory.record(user="two")
        damage(tmp_path / "m", lost.id)
        assert memory.record(user="three").turn_id == "turn_0003"


@pytest.mark.parametrize("turn", ["turn_999999999999", "turn_999999999999999", "turn_9999999999999999", "x"])
def test_a_turn_of_any_number_made_by_hand_gives_no_two_the_same(tmp_path: Path, turn: str) -> None:
    with Memory(tmp_path / "m") as memory:
        memory.record(user="one")
        append(tmp_path / "m", json.dumps(trace("user", "strange").to_record() | {"turn_id": turn}))
        assert len({memory.record(user="x").turn_id for _ in range(3)}) == 3


def test_sessions_that_use_the_same_call_ids_keep_their_results_apart(tmp_path: Path) -> None:
    with Memory(tmp_path / "m", session="a") as first, Memory(tmp_path / "m", session="b") as second:
        for memory in (first, second):
            memory.record(user="x")
            memory.record(tool_call="look", tool_call_id="call_1", tool_args=memory.talk.session)
        late = second.record(tool_result="b", tool_call_id="call_1")
        assert late.turn_id == "turn_0002"
        assert [(each.arguments, each.result) for each in first.talk.tool_calls()] == [
            ("a", None),
            ("b", "b"),
        ]
        assert [each.turn_id for each in first.talk.interrupt()] == ["turn_0001"]


def test_a_copied_line_is_told_once_and_opens_no_second_call(tmp_path: Path) -> None:
    with opened(tmp_path / "m", 2000) as memory:
        memory.record(user="x")
        memory.record(tool_call="look", tool_call_id="c")
        append(tmp_path / "m", *(tmp_path / "m" / ACTIVE).read_text().splitlines())
        assert len(memory.window.messages()) == 2
        assert memory.record(tool_result=1, tool_call_id="c").flag is None
        assert memory.record(tool_result=2, tool_call_id="c").flag == "second_result"
        talk(memory, 20)
        assert memory.window.compact() is not None


def test_a_turn_or_session_whose_first_line_is_damaged_is_still_one(tmp_path: Path) -> None:
    with Memory(tmp_path / "m", session="mine") as memory:
        first = memory.record(user="one")
        memory.record(assistant="two")
        damage(tmp_path / "m", first.id)
        assert [[each.content for each in turn.traces] for turn in memory.talk.turns()] == [["two"]]
        assert [each.session_id for each in memory.talk.sessions()] == ["mine"]


STRANGE: list[dict[str, Any]] = [
    {"tool_error": 5},
    {"reasoning": 5},
    {"media": "abc"},
    {"media": [1]},
    {"media": {"images": 3}},
    {"tool_call_id": ["a"]},
    {"tool_call_id": 5},
    {"tool_name": 5},
    {"flag": "other"},
    {"ts": 1e308},
    {"ts": 10**400},
    {"ts": True},
    {"seq": 1.5},
    {"content": None},
    {"source_event": 5},
    {"trace_type": "other"},
]


@pytest.fixture
def long_numbers() -> Iterator[None]:
    """Somebody else's program may write numbers that Python does not write out unasked."""
    before = sys.get_int_max_str_digits()
    sys.set_int_max_str_digits(0)
    yield
    sys.set_int_max_str_digits(before)


def test_a_line_with_strange_members_is_passed_over(tmp_path: Path, long_numbers: None) -> None:
    def check(members: dict[str, Any]) -> None:
        folder = Path(mkdtemp(dir=tmp_path))
        record = trace("tool_call", "strange", call="c").to_record() | members
        assert Trace.from_record(record) is None
        with opened(folder / "m", 2000) as memory:
            memory.record(user="one")
            append(folder / "m", json.dumps(record))
            assert [each.content for each in memory.window.messages()] == ["one"]
            assert memory.talk.turns()
            talk(memory, 20)
            assert memory.window.compact() is not None

    check_rows(check, some(STRANGE, 8))


def test_a_time_of_no_world_is_refused(tmp_path: Path) -> None:
    def check(ts: float) -> None:
        folder = Path(mkdtemp(dir=tmp_path))
        with Memory(folder / "m") as memory, pytest.raises(Refused, match="ts must be epoch seconds"):
            memory.record(user="x", ts=ts)

    check_rows(check, [1e308, 10**400, float("nan"), float("inf"), -1e12])


@pytest.mark.parametrize("name", ["tool_call_id", "source_event", "correlation_id"])
def test_a_name_without_end_is_refused(tmp_path: Path, name: str) -> None:
    with Memory(tmp_path / "m") as memory, pytest.raises(Refused, match=f"{name} is a name"):
        memory.record(tool_call="x", **untyped({name: "y" * 1001}))


@pytest.mark.parametrize("prompt_tokens", ["5", None, -1, 1.5])
def test_usage_is_a_number_of_tokens(tmp_path: Path, prompt_tokens: Any) -> None:
    with Memory(tmp_path / "m") as memory, pytest.raises(Refused, match="prompt_tokens must be a number"):
        memory.window.report_usage(prompt_tokens=prompt_tokens)


# --- entries that somebody broke -------------------------------------------------------

BROKEN = [b"{broken", b"[]", b"{}", b'{"traces":[[1]]}']


@pytest.mark.parametrize("meta", BROKEN)
def test_a_broken_entry_of_the_right_name_is_passed_over(tmp_path: Path, meta: bytes) -> None:
    with opened(tmp_path / "m", 2000) as memory:
        talk(memory, 20)
        would = memory.window.compact(dry_run=True)
        assert would is not None
        folder = tmp_path / "m/log/entries" / str(would.entry)
        folder.mkdir(parents=True)
        for name in ("meta.json", "summary.json", "raw.md"):
            (folder / name).write_bytes(meta)
        loss = memory.window.compact()
        assert loss is not None
        assert loss.entry not in (None, would.entry)
        assert len(memory.talk.traces(str(loss.entry))) == loss.traces
        with pytest.raises(Refused, match="was not read"):
            memory.talk.traces(str(would.entry))


def test_an_older_entry_that_was_broken_keeps_nobody_from_compacting(tmp_path: Path) -> None:
    def check(data: bytes | None, file: str) -> None:
        folder = Path(mkdtemp(dir=tmp_path))
        with opened(folder / "m", 2000) as memory:
            talk(memory, 12)
            first = memory.window.compact()
            assert first is not None
            path = folder / f"m/log/entries/{first.entry}/{file}"
            if data is None:
                path.unlink()
            else:
                path.write_bytes(data)
            (folder / "m/views/agents/main/episodic.jsonl").unlink()
            talk(memory, 12)
            assert memory.window.compact() is not None
            assert memory.window.messages()

    check_rows(check, some([*product([*BROKEN, None], ["meta.json", "summary.json"])], 5))


# --- threads ---------------------------------------------------------------------------


def test_threads_that_share_a_memory_are_told_the_same(tmp_path: Path) -> None:
    """With a switch after nearly every instruction."""
    before = sys.getswitchinterval()
    wrong: list[str] = []
    with Memory(tmp_path / "m") as memory:

        def work(name: str) -> None:
            for number in range(12):
                memory.record(user=f"{name}{number}")
                told = [message.content for message in memory.window.messages()]
                if f"{name}{number}" not in told:
                    wrong.append(f"{name}{number} is not told")

        sys.setswitchinterval(1e-6)
        try:
            threads = [threading.Thread(target=work, args=(name,)) for name in "abcd"]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
        finally:
            sys.setswitchinterval(before)
        assert wrong == []
        assert [message.content for message in memory.window.messages()] == [
            each.content for each in all_traces(memory)
        ]
