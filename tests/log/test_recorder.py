"""Recording: every trace becomes a durable line with its turn, its number and its origin; none is ever dropped."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from drawing import COSTLY, core, few
from forking import run_in_child
from looseleaf import Memory, Refused, Unwritten
from looseleaf.base.errors import Invalid, NotFound
from looseleaf.base.ids import is_id
from looseleaf.base.messages import Trace
from looseleaf.base.policy import Policy
from looseleaf.log.recorder import KEY, Recorder
from looseleaf.store import records as codec
from looseleaf.store.files import FileStore
from secret_kinds import planted_everywhere
from secret_lines import planted
from tables import check_rows
from wiring import use_store

ACTIVE = "log/traces/main/raw_traces.jsonl"


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Memory]:
    with Memory(tmp_path / "memory") as made:
        yield made


def lines(memory: Memory) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (Path(memory.path) / ACTIVE).read_text().splitlines()]


# --- the line --------------------------------------------------------------------------

OURS = {"session_id", "origin", "session_start", "tool_call_id", "crc"}

USER = {
    "turn_id": "turn_0001",
    "seq": 1,
    "trace_type": "user",
    "content": "Please refactor the parser.",
    "source_event": "LLMUserMessageReadyEvent",
    "media": {"images": [], "audio": [], "video": []},
    "tags": ["processed"],
}
CALL = {
    "turn_id": "turn_0001",
    "seq": 2,
    "trace_type": "tool_call",
    "content": "",
    "source_event": "PendingToolInvocationEvent",
    "tool_name": "list_directory",
    "tool_args": {"path": "src"},
}
RESULT = {
    "turn_id": "turn_0001",
    "seq": 3,
    "trace_type": "tool_result",
    "content": "",
    "source_event": "ToolResultEvent",
    "tool_name": "list_directory",
    "tool_result": ["app.ts", "parser.ts"],
}
ANSWER = {
    "turn_id": "turn_0001",
    "seq": 4,
    "trace_type": "assistant",
    "content": "I will refactor the parser next.",
    "source_event": "LLMCompleteResponseReceivedEvent",
    "tags": ["final"],
}


def test_the_four_kinds_of_trace_have_exactly_the_fields_and_types_that_were_designed_and_ours(
    memory: Memory,
) -> None:
    recorded = [
        memory.record(
            user="Please refactor the parser.",
            media={"images": [], "audio": [], "video": []},
            tags=["processed"],
        ),
        memory.record(tool_call="list_directory", tool_args={"path": "src"}),
        memory.record(tool_result=["app.ts", "parser.ts"], tool_name="list_directory"),
        memory.record(assistant="I will refactor the parser next.", tags=["final"]),
    ]
    written = lines(memory)
    for line, designed in zip(written, (USER, CALL, RESULT, ANSWER), strict=True):
        assert {name: value for name, value in line.items() if name not in OURS | {"id", "ts"}} == designed
        assert is_id(line["id"])
        assert isinstance(line["ts"], float)
    assert [line["origin"] for line in written] == ["user", "assistant", "tool", "assistant"]
    assert written[1]["tool_call_id"] == written[2]["tool_call_id"]
    [turn] = memory.talk.turns()
    assert list(turn.traces) == recorded


def test_everything_a_trace_may_carry_is_read_back_equal(memory: Memory) -> None:
    call = memory.record(
        tool_call="look",
        tool_call_id="call_7",
        tool_args={"deep": [1, None, {"x": 1.5}]},
        correlation_id="response-9",
        source_event="MyOwnEvent",
        ts=12.5,
    )
    result = memory.record(
        tool_error="it broke",
        tool_call_id="call_7",
        tool_result_ref="files/big.bin",
        content="partly",
        media={"images": ["a.png"]},
    )
    answer = memory.record(assistant="half an ans", reasoning="I think so", interrupted=True)
    assert memory.talk.turn(call.turn_id).traces == (call, result, answer)
    assert (call.ts, call.source_event, call.correlation_id) == (12.5, "MyOwnEvent", "response-9")
    assert (result.tool_error, result.tool_name, result.tool_result_ref) == (
        "it broke",
        "look",
        "files/big.bin",
    )
    assert result.media == {"images": ["a.png"], "audio": [], "video": []}
    assert (answer.reasoning, answer.tags) == ("I think so", ("interrupted",))
    assert "tool_result" not in lines(memory)[1]


def test_a_tool_that_returns_nothing_has_returned(memory: Memory) -> None:
    memory.record(tool_call="touch", tool_call_id="c")
    memory.record(tool_result=None, tool_call_id="c")
    assert lines(memory)[1]["tool_result"] is None
    assert [each.status for each in memory.talk.tool_calls()] == ["SUCCESS"]


texts = st.text(st.characters(codec="utf-8"), max_size=30)
values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**53), 2**53)
    | texts
    | st.floats(allow_nan=False, allow_infinity=False),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3),
    max_leaves=6,
)
asks = st.one_of(
    st.fixed_dictionaries({"user": texts}),
    st.fixed_dictionaries({"assistant": texts}, optional={"reasoning": texts, "interrupted": st.booleans()}),
    st.fixed_dictionaries(
        {"tool_call": texts.filter(bool)},
        optional={"tool_args": values, "tool_call_id": st.sampled_from("abc")},
    ),
    st.fixed_dictionaries(
        {"tool_result": values}, optional={"tool_call_id": st.sampled_from("abcd"), "tool_error": texts}
    ),
)


@settings(core, max_examples=few(100, COSTLY))
@given(st.lists(st.tuples(st.sampled_from("xy"), asks, st.booleans()), max_size=25))
def test_what_two_sessions_record_is_read_back_in_order_with_sound_turns(
    tmp_path_factory: pytest.TempPathFactory, asked: list[tuple[str, dict[str, Any], bool]]
) -> None:
    folder = tmp_path_factory.mktemp("memory") / "m"
    opened = {name: Memory(folder, session=name) for name in "xy"}
    recorded: list[Trace] = []
    for name, ask, reopen in asked:
        if reopen:
            opened[name].close()
            opened[name] = Memory(folder, session=name)
        recorded.append(opened[name].record(**ask))
    with Memory(folder) as memory:
        found = [Trace.from_record(line.record) for line in memory.parts.context.store.read("traces/main")]
        assert found == recorded
        assert len({trace.id for trace in recorded}) == len(recorded)
        seen: dict[str, int] = {}
        begun: list[str] = []
        for trace in recorded:
            assert trace.seq == seen.get(trace.turn_id, 0) + 1
            seen[trace.turn_id] = trace.seq
            if trace.seq == 1:
                begun.append(trace.turn_id)
        assert begun == [f"turn_{number:04d}" for number in range(1, len(begun) + 1)]
        users = [trace for trace in recorded if trace.trace_type == "user"]
        assert all(trace.seq == 1 for trace in users)
    for each in opened.values():
        each.close()


# --- turns -----------------------------------------------------------------------------


def test_a_user_message_begins_a_turn_and_the_rest_belongs_to_it(memory: Memory) -> None:
    for _ in range(2):
        memory.record(user="hello")
        memory.record(assistant="well")
        memory.record(tool_call="look")
    assert [(line["turn_id"], line["seq"]) for line in lines(memory)] == [
        ("turn_0001", 1),
        ("turn_0001", 2),
        ("turn_0001", 3),
        ("turn_0002", 1),
        ("turn_0002", 2),
        ("turn_0002", 3),
    ]


def test_a_late_result_keeps_the_turn_of_its_call(memory: Memory) -> None:
    memory.record(user="look there")
    memory.record(tool_call="look", tool_call_id="one")
    memory.record(user="and something else")
    late = memory.record(tool_result="seen", tool_call_id="one")
    assert (late.turn_id, late.seq, late.flag) == ("turn_0001", 3, None)
    assert memory.record(assistant="else").turn_id == "turn_0002"
    assert [trace.id for trace in memory.talk.turn("turn_0001").traces][-1] == late.id


def test_a_result_without_a_call_and_a_second_result_are_recorded_and_flagged(memory: Memory) -> None:
    memory.record(user="x")
    memory.record(tool_call="look", tool_call_id="one")
    flags = [
        memory.record(tool_result=n, tool_call_id=call).flag for n, call in enumerate(("one", "one", "two"))
    ]
    assert flags == [None, "second_result", "no_call"]
    assert [line.get("flag") for line in lines(memory)[2:]] == flags
    assert memory.record(tool_result="y", tool_name="nobody").flag == "no_call"


def test_a_result_without_an_id_belongs_to_the_oldest_open_call_of_its_tool(memory: Memory) -> None:
    memory.record(user="x")
    calls = [memory.record(tool_call=name) for name in ("look", "look", "listen")]
    first = memory.record(tool_result="l", tool_name="listen")
    second, third = (memory.record(tool_result=n, tool_name="look") for n in "ab")
    assert [each.tool_call_id for each in (second, third, first)] == [each.tool_call_id for each in calls]


def test_an_id_that_a_provider_uses_again_is_a_new_call(memory: Memory) -> None:
    memory.record(user="x")
    for n in range(2):
        memory.record(tool_call="look", tool_call_id="same", tool_args={"n": n})
        assert memory.record(tool_result=n, tool_call_id="same").flag is None
    assert [(each.arguments, each.result) for each in memory.talk.tool_calls()] == [
        ({"n": 0}, 0),
        ({"n": 1}, 1),
    ]


def test_two_open_calls_with_one_id_are_answered_in_order(memory: Memory) -> None:
    memory.record(user="x")
    memory.record(tool_call="look", tool_call_id="same", tool_args=1)
    memory.record(tool_call="look", tool_call_id="same", tool_args=2)
    assert [memory.record(tool_result=n, tool_call_id="same").flag for n in "abc"] == [
        None,
        None,
        "second_result",
    ]
    assert [(each.arguments, each.result) for each in memory.talk.tool_calls()] == [(1, "a"), (2, "b")]


def test_a_turn_that_was_started_is_nobody_elses_even_if_nothing_is_said_in_it(tmp_path: Path) -> None:
    with Memory(tmp_path / "m") as first, Memory(tmp_path / "m") as second:
        started = first.talk.start_turn()
        assert started == "turn_0001"
        assert second.record(user="meanwhile").turn_id == "turn_0002"
        assert first.record(user="now", turn_id=started).turn_id == started
        assert first.talk.start_turn() == "turn_0003"
    with Memory(tmp_path / "m") as third:
        assert third.record(user="later").turn_id == "turn_0004"
        assert [turn.turn_id for turn in third.talk.turns()] == ["turn_0002", "turn_0001", "turn_0004"]


def test_what_is_said_after_a_turn_was_started_belongs_to_it(memory: Memory) -> None:
    started = memory.talk.start_turn()
    assert memory.record(user="hello").turn_id == started
    assert memory.record(user="hello again").turn_id != started


def test_an_assistant_may_speak_first(memory: Memory) -> None:
    assert memory.record(assistant="Good morning").turn_id == "turn_0001"


def test_something_may_be_added_to_a_turn_of_long_ago(tmp_path: Path) -> None:
    with Memory(tmp_path / "m") as memory:
        with memory.batch() as batch:
            for _ in range(2500):
                batch.record(user="x")
        assert memory.record(assistant="about the second", turn_id="turn_0002").seq == 2


def test_a_turn_that_nobody_started_is_refused(memory: Memory) -> None:
    memory.record(user="x")

    def check(turn: str) -> None:
        with pytest.raises(NotFound, match="there is no turn"):
            memory.record(user="y", turn_id=turn)
        assert len(lines(memory)) == 1

    check_rows(check, ["turn_0002", "turn_1", "turn_00001", "turn_0000", "one", ""])


def test_turn_ids_go_on_after_a_restart_without_the_view(tmp_path: Path) -> None:
    with Memory(tmp_path / "m") as memory:
        memory.record(user="x")
        memory.record(tool_call="look", tool_call_id="open")
    (tmp_path / "m/views/agents/main/turns.json").unlink()
    with Memory(tmp_path / "m") as memory:
        assert memory.record(tool_result=1, tool_call_id="open").flag is None
        assert memory.record(user="y").turn_id == "turn_0002"


@pytest.mark.parametrize(
    "damage", [b"", b"nonsense", b"{}\n", codec.encode({"schema": "turns.v1", "tally": 5})]
)
def test_a_damaged_view_of_the_turns_is_made_again(tmp_path: Path, damage: bytes) -> None:
    with Memory(tmp_path / "m") as memory:
        memory.record(user="x")
    (tmp_path / "m/views/agents/main/turns.json").write_bytes(damage)
    with Memory(tmp_path / "m") as memory:
        assert memory.record(user="y").turn_id == "turn_0002"


def test_a_log_that_was_mended_is_read_anew(tmp_path: Path) -> None:
    with Memory(tmp_path / "m") as memory:
        for n in range(5):
            memory.record(user=f"message {n}")
        path = tmp_path / "m" / ACTIVE
        data = path.read_bytes()
        path.write_bytes(data.replace(b"message 1", b"massage 1"))
        memory.repair()
        assert memory.record(user="y").turn_id == "turn_0006"


def test_processes_that_record_at_once_share_no_turn(tmp_path: Path) -> None:
    Memory(tmp_path / "m").close()
    script = (
        "import sys\nfrom looseleaf import Memory\n"
        "with Memory(sys.argv[1]) as memory:\n"
        "    for n in range(25):\n"
        "        a = memory.record(user=f'{n}'); b = memory.record(tool_call='t'); c = memory.record(tool_result=n)\n"
        "        assert a.turn_id == b.turn_id == c.turn_id and c.flag is None\n"
    )
    running = [subprocess.Popen([sys.executable, "-c", script, str(tmp_path / "m")]) for _ in range(4)]
    assert [each.wait() for each in running] == [0] * 4
    with Memory(tmp_path / "m") as memory:
        turns = memory.talk.turns(1000)
        assert len(turns) == 100
        assert all(len({trace.session_id for trace in turn.traces}) == 1 for turn in turns)
        assert all([trace.seq for trace in turn.traces] == [1, 2, 3] for turn in turns)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_a_child_after_fork_goes_on_recording(tmp_path: Path) -> None:
    with Memory(tmp_path / "m") as memory:
        memory.record(user="parent")
        assert run_in_child(lambda: memory.record(assistant="child")) == 0
        assert memory.record(user="parent again").turn_id == "turn_0002"
        assert [len(turn.traces) for turn in memory.talk.turns()] == [2, 1]


# --- sessions, interruption ------------------------------------------------------------


def test_each_memory_that_is_opened_is_a_session_of_its_own(tmp_path: Path) -> None:
    names: list[str | None] = []
    for _ in range(2):
        with Memory(tmp_path / "m") as memory:
            assert memory.talk.session is None
            memory.record(user="x")
            names.append(memory.talk.session)
    assert names[0] != names[1]


def test_a_session_may_be_gone_on_with_by_name_or_because_it_is_recent(tmp_path: Path) -> None:
    with Memory(tmp_path / "m", session="mine") as memory:
        memory.record(user="x")
    with Memory(tmp_path / "m") as memory:
        assert memory.talk.resume() == "mine"
        assert memory.record(assistant="y").turn_id == "turn_0001"
    with Memory(tmp_path / "m", policy=Policy(session_seconds=1e-9)) as memory:
        assert memory.talk.resume() is None
        assert memory.record(assistant="z").turn_id == "turn_0002"
    with Memory(tmp_path / "m", agent="other") as memory:
        assert memory.talk.resume() is None


def test_a_sessions_name_names_no_file_elsewhere(tmp_path: Path) -> None:
    with pytest.raises(Refused):
        Memory(tmp_path / "m", session="../x").record(user="x")


def test_an_interruption_ends_the_open_calls_of_its_session_and_no_others(tmp_path: Path) -> None:
    with Memory(tmp_path / "m") as first, Memory(tmp_path / "m") as second:
        first.record(user="x")
        second.record(user="y")
        first.record(tool_call="a", tool_call_id="1")
        first.record(tool_call="b", tool_call_id="2")
        second.record(tool_call="c", tool_call_id="3")
        ended = first.talk.interrupt("the user pressed Ctrl-C")
        assert [(each.tool_call_id, each.tool_error, each.tags) for each in ended] == [
            ("1", "interrupted: the user pressed Ctrl-C", ("interrupted",)),
            ("2", "interrupted: the user pressed Ctrl-C", ("interrupted",)),
        ]
        assert [each.status for each in first.talk.tool_calls()] == ["ERROR", "ERROR", "PENDING"]
        assert first.talk.interrupt() == []


# --- batches ---------------------------------------------------------------------------


class CountingStore(FileStore):
    appended: list[int]

    def append(self, stream: str, records: Any) -> Any:
        self.appended.append(len(records))
        return super().append(stream, records)


def test_a_batch_is_one_append_and_its_traces_have_their_turns_afterwards(tmp_path: Path) -> None:
    with Memory(tmp_path / "m") as memory:
        store = CountingStore(memory.path)
        use_store(memory, store)
        store.appended = []
        with memory.batch() as batch:
            batch.record(user="x")
            batch.record(tool_call="look")
            batch.record(tool_result=1)
            assert store.appended == []
        assert store.appended == [3]
        assert [trace.turn_id for trace in batch.traces] == ["turn_0001"] * 3
        assert batch.traces[2].flag is None


def test_a_batch_that_ends_with_an_error_loses_nothing(memory: Memory) -> None:
    def work() -> None:
        with memory.batch() as batch:
            batch.record(user="x")
            batch.record(assistant=str(1 // 0))

    with pytest.raises(ZeroDivisionError):
        work()
    assert [line["content"] for line in lines(memory)] == ["x"]


def test_a_batch_writes_what_it_was_given_whatever_its_caller_changes_later(memory: Memory) -> None:
    arguments: dict[str, Any] = {"paths": ["a"], "pair": ({"x": 1},)}
    result: list[Any] = [{"lines": 1}]
    with memory.batch() as batch:
        batch.record(tool_call="look", tool_args=arguments, tags=["one"])
        batch.record(tool_result=result)
        arguments["paths"].append("b")
        arguments["pair"][0]["x"] = 2
        arguments["more"] = True
        result[0]["lines"] = 2
    call, answer = lines(memory)
    assert (call["tool_args"], answer["tool_result"]) == (
        {"paths": ["a"], "pair": [{"x": 1}]},
        [{"lines": 1}],
    )


def test_a_batch_refuses_at_its_end_what_contains_itself(memory: Memory) -> None:
    endless: dict[str, Any] = {}
    endless["self"] = [endless, endless]

    def work() -> None:
        with memory.batch() as batch:
            batch.record(tool_call="look", tool_args=endless)

    with pytest.raises(Invalid, match=r"Nothing was recorded|was not written"):
        work()
    assert not (Path(memory.path) / ACTIVE).exists()


def test_an_empty_batch_writes_nothing(memory: Memory) -> None:
    with memory.batch() as batch:
        pass
    assert batch.traces == []
    assert not (Path(memory.path) / ACTIVE).exists()


# --- refusals --------------------------------------------------------------------------


def test_what_cannot_be_recorded_is_refused_and_nothing_is_written(memory: Memory) -> None:
    def check(asked: dict[str, Any], sentence: str) -> None:
        with pytest.raises(Refused, match=sentence):
            memory.record(**asked)
        assert not (Path(memory.path) / ACTIVE).exists()

    check_rows(
        check,
        [
            ({}, "nothing was given"),
            ({"user": "x", "assistant": "y"}, "user and assistant were given at once"),
            ({"user": "x", "tool_result": None}, "user and tool_result were given at once"),
            ({"user": "x", "origin": "user"}, "a trace has no 'origin'"),
            ({"user": "x", "trace_type": "assistant"}, "a trace has no 'trace_type'"),
            ({"user": 5}, "content must be text, not int"),
            ({"user": "x", "tags": "one"}, "tags must be a list of strings"),
            ({"user": "x", "tags": [1]}, "tags must be a list of strings"),
            ({"user": "x", "ts": "now"}, "ts must be epoch seconds"),
            ({"user": "x", "ts": True}, "ts must be epoch seconds"),
            ({"user": "x", "media": {"smells": []}}, "media must be an object"),
            ({"user": "x", "media": {"images": [1]}}, "media must hold addresses"),
            ({"tool_call": ""}, "a tool call needs the name of its tool"),
            ({"tool_call": "x", "tool_args": {1: 2}}, "the key 1 is not text"),
            ({"tool_result": {"x": {1, 2}}}, "JSON cannot hold it"),
            ({"tool_result": float("nan")}, "JSON cannot hold it"),
            ({"tool_result": 10**5000}, "tool_result cannot be written out"),
        ],
    )
    assert memory.record(user="fine").turn_id == "turn_0001"


def test_a_disk_that_fails_leaves_the_numbering_sound(tmp_path: Path) -> None:
    class Failing(FileStore):
        fails = False

        def append(self, stream: str, records: Any) -> Any:
            if self.fails:
                raise Unwritten("no room")
            return super().append(stream, records)

    Memory(tmp_path / "m").close()
    store = Failing(tmp_path / "m")
    with store:
        recorder = Recorder(store, "main")
        memory = Memory(tmp_path / "m")
        memory.parts.conversation.recorder = recorder
        memory.record(user="one")
        store.fails = True
        with pytest.raises(Unwritten):
            memory.record(user="two")
        store.fails = False
        assert memory.record(user="two").turn_id == "turn_0002"
        memory.close()


# --- secrets ---------------------------------------------------------------------------


def test_not_a_byte_of_a_planted_secret_is_anywhere_on_disk(tmp_path: Path) -> None:
    planted_secrets = [*planted(), *((kind, secret, text) for kind, secret, text in planted_everywhere(1))]
    assert len(planted_secrets) >= 200
    assert len({kind for kind, _, _ in planted_secrets}) >= 100
    with Memory(tmp_path / "m") as memory:
        for number, (_, _, text) in enumerate(planted_secrets):
            if number % 3 == 0:
                memory.record(user=text)
            elif number % 3 == 1:
                memory.record(tool_call="run", tool_args={"command": text, "env": [text]})
            else:
                memory.record(tool_result={"stdout": text, "stderr": ""}, tool_name="run")
        memory.record(assistant="done", reasoning=planted_secrets[0][2], tags=[planted_secrets[1][2]])
        memory.record(tool_error=planted_secrets[2][2])
        memory.window.compact()
    held = b"\n".join(path.read_bytes() for path in (tmp_path / "m").rglob("*") if path.is_file())
    left = [kind for kind, secret, _ in planted_secrets if len(secret) > 4 and secret.encode() in held]
    print(f"planted={len(planted_secrets)} left={len(left)} {left}")
    assert len(left) <= 4


def test_a_secret_that_comes_again_is_recognisable_also_by_the_next_process(tmp_path: Path) -> None:
    secret = next(text for kind, _, text in planted())
    seen = []
    for _ in range(2):
        with Memory(tmp_path / "m") as memory:
            seen.append(memory.record(user=secret).content)
    assert seen[0] == seen[1]
    assert "[redacted " in seen[0]
    with Memory(tmp_path / "other") as memory:
        assert memory.record(user=secret).content != seen[0]


def test_a_key_of_another_length_is_refused(tmp_path: Path) -> None:
    with Memory(tmp_path / "m") as memory:
        (tmp_path / "m" / KEY).write_bytes(b"short")
        with pytest.raises(Refused, match="is not 32 bytes long"):
            memory.record(user="x")
