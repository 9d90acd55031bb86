"""Transcripts of Codex and Gemini CLI: what a line says, and a session that hooks follow through them."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from conftest import Run
from looseleaf import Memory
from looseleaf.base.messages import Trace
from looseleaf.integrations.claude_code import HookReply, given_in
from looseleaf.text.times import written
from looseleaf.transfer.formats.agent_dialects import read_dialect

Tell = Callable[[str, dict[str, Any]], Any]
Line = dict[str, Any]


def now() -> str:
    return written(time.time())[:-4] + "Z"


def asked(line: Line) -> list[Line]:
    """What is recorded of a line."""
    found = read_dialect(json.dumps(line).encode())
    return [dict(each) for each in found.asked] if found is not None else []


def key(line: Line) -> str:
    found = read_dialect(json.dumps(line).encode())
    assert found is not None
    return found.key


@pytest.fixture
def tell(run: Run, distills_here: None) -> Tell:
    def call(event: str, told: dict[str, Any]) -> Any:
        code, out, err = run("hook", event, stdin=json.dumps(told).encode())
        assert (code, err) == (0, "")
        return json.loads(out) if out else None

    return call


def said(folder: Path) -> list[tuple[str, str]]:
    with Memory(folder) as memory:
        traces: list[Trace] = [trace for turn in memory.talk.turns() for trace in turn.traces]
    return [
        (each.trace_type, each.content or str(each.tool_result or each.tool_error or each.tool_name))
        for each in traces
    ]


# --- Codex: lines ------------------------------------------------------------------------

PASSED = "internal_chat_message_metadata_passthrough"


def item(kind: str, turn: str = "turn-1", **more: Any) -> Line:
    about = {"turn_id": turn} | more.pop("about", {})
    return {"timestamp": now(), "type": "response_item", "payload": {"type": kind, PASSED: about} | more}


def message(role: str, text: str, name: str, turn: str = "turn-1", **about: Any) -> Line:
    content = [{"type": "output_text" if role == "assistant" else "input_text", "text": text}]
    return item("message", turn, role=role, id=name, content=content, about=about)


def typed(text: str, name: str = "msg_1", turn: str = "turn-1") -> Line:
    own = [{"provenance": {"type": "user"}}]
    return message("user", text, name, turn, content_item_kinds=["user.text"], content_item_metadata=own)


def shell(call: str, command: str) -> Line:
    arguments = json.dumps({"cmd": command})
    return item("function_call", id=f"fc_{call}", name="exec_command", arguments=arguments, call_id=call)


def output(call: str, text: str) -> Line:
    return item("function_call_output", id=f"fco_{call}", call_id=call, output=text)


def test_a_prompt_of_codex_is_the_users_and_known_by_its_turn_and_text() -> None:
    line = typed("list the folder please")
    found = read_dialect(json.dumps(line).encode())
    assert found is not None
    assert found.asked == ({"user": "list the folder please"},)
    assert found.is_typed
    assert key(line) == key(typed("list the folder please", "msg_2"))
    assert key(line) != key(typed("list the folder please", turn="turn-2"))
    assert key(line) != key(typed("list it again"))


def test_what_the_user_typed_to_codex_is_not_cut() -> None:
    assert asked(typed("Fix <my-button>Save</my-button> please")) == [
        {"user": "Fix <my-button>Save</my-button> please"}
    ]


@pytest.mark.parametrize(
    "line",
    [
        message("developer", "<skills_instructions>\n## Skills\n</skills_instructions>", "msg_1"),
        message("user", "<environment_context>\n  <cwd>/home</cwd>\n</environment_context>", "msg_1"),
        message("user", "# AGENTS.md instructions for /home\n\n<INSTRUCTIONS>x</INSTRUCTIONS>", "msg_1"),
        {"timestamp": now(), "type": "event_msg", "payload": {"type": "user_message", "message": "hello"}},
        {"timestamp": now(), "type": "event_msg", "payload": {"type": "task_started", "turn_id": "t"}},
        {"timestamp": now(), "type": "session_meta", "payload": {"id": "s", "source": "exec"}},
        {"timestamp": now(), "type": "turn_context", "payload": {"turn_id": "t", "cwd": "/home"}},
        item("reasoning", id="rs_1", summary=[], encrypted_content="gAAA"),
    ],
)
def test_what_codex_writes_for_itself_is_not_recorded(line: Line) -> None:
    assert asked(line) == []


def test_a_notice_of_a_sub_agent_is_no_word_of_the_user() -> None:
    text = '<subagent_notification>\n{"agent_path":"x","status":"shutdown"}\n</subagent_notification>'
    line = message("user", text, "msg_1", content_item_kinds=["multi_agent.subagent_notification"])
    assert not [each for each in asked(line) if "user" in each]


def test_a_call_of_codex_has_the_namespace_of_its_tool() -> None:
    given = {"id": "fc_1", "arguments": '{"topic": "user"}', "call_id": "c"}
    for space, name, expected in (
        ("mcp__looseleaf", "remember", "mcp__looseleaf__remember"),
        ("mcp__looseleaf__", "remember", "mcp__looseleaf__remember"),
        ("multi_agent_v1", "spawn_agent", "multi_agent_v1__spawn_agent"),
        (None, "exec_command", "exec_command"),
        ("mcp__looseleaf", "mcp__looseleaf__remember", "mcp__looseleaf__remember"),
    ):
        more = {} if space is None else {"namespace": space}
        assert asked(item("function_call", name=name, **given, **more)) == [
            {"tool_call": expected, "tool_args": {"topic": "user"}, "tool_call_id": "c"}
        ]


def test_a_result_of_codex_goes_to_its_call() -> None:
    assert asked(output("c", "Output:\nkiln\n")) == [
        {"tool_result": "Output:\nkiln\n", "tool_call_id": "c"},
    ]
    failed = output("c", "")
    failed["payload"]["output"] = {"success": False, "content": "no such file"}
    assert asked(failed) == [{"tool_error": "no such file", "tool_call_id": "c"}]


# --- Codex: a session --------------------------------------------------------------------


class Codex:
    """A session of Codex: the rollout that it writes, and its hooks."""

    def __init__(self, tell: Tell, place: Path, session: str = "01a1-aaaa") -> None:
        self._tell, self.session = tell, session
        self.rollout = place / f"rollout-2026-11-18T01-10-39-{session}.jsonl"
        self.put({"timestamp": now(), "type": "session_meta", "payload": {"id": session, "source": "exec"}})

    def put(self, *lines: Line) -> None:
        with self.rollout.open("a", encoding="utf-8") as file:
            file.writelines(json.dumps(each) + "\n" for each in lines)

    def tell(self, event: str, name: str, **more: Any) -> Any:
        about = {"session_id": self.session, "transcript_path": str(self.rollout), "cwd": "/somewhere"}
        return self._tell(event, about | {"hook_event_name": name, "model": "fake-1"} | more)

    def ask(self, text: str, turn: str) -> None:
        self.tell("user-prompt", "UserPromptSubmit", turn_id=turn, prompt=text)
        self.put(
            message("user", "<environment_context>\n</environment_context>", f"env-{turn}", turn),
            typed(text, f"msg-{turn}", turn),
        )

    def stop(self, text: str, turn: str) -> None:
        self.tell("stop", "Stop", turn_id=turn, stop_hook_active=False, last_assistant_message=text)


@pytest.fixture
def begin(tell: Tell, place: Path) -> Callable[[str], Codex]:
    return lambda session: Codex(tell, place, session)


def test_a_session_of_codex_is_recorded_once_and_in_order(
    begin: Callable[[str], Codex], folder: Path
) -> None:
    one = begin("01a1-aaaa")
    one.tell("session-start", "SessionStart", source="startup")
    one.ask("list the folder please", "turn-1")
    one.put(
        message("assistant", "I look at it.", "msg_a"),
        shell("c1", "ls"),
        output("c1", "kiln\n"),
        message("assistant", "There is a kiln.", "msg_b"),
    )
    one.stop("There is a kiln.", "turn-1")
    one.ask("My dog is called Biscuit.", "turn-2")
    one.put(message("assistant", "A fine name.", "msg_c", "turn-2"))
    one.stop("A fine name.", "turn-2")
    one.tell("stop", "SessionEnd", reason="exit")
    assert said(folder) == [
        ("user", "list the folder please"),
        ("assistant", "I look at it."),
        ("tool_call", "exec_command"),
        ("tool_result", "kiln\n"),
        ("assistant", "There is a kiln."),
        ("user", "My dog is called Biscuit."),
        ("assistant", "A fine name."),
    ]


def test_a_prompt_that_codex_writes_before_its_hook_is_recorded_once(
    begin: Callable[[str], Codex], folder: Path
) -> None:
    one = begin("01a1-aaaa")
    one.put(typed("hello there", "msg-1", "turn-1"))
    one.tell("user-prompt", "UserPromptSubmit", turn_id="turn-1", prompt="hello there")
    one.put(message("assistant", "Hello.", "msg_a"))
    one.stop("Hello.", "turn-1")
    assert said(folder) == [("user", "hello there"), ("assistant", "Hello.")]


def test_the_same_words_in_two_turns_of_codex_are_said_twice(
    begin: Callable[[str], Codex], folder: Path
) -> None:
    one = begin("01a1-aaaa")
    for turn in ("turn-1", "turn-2"):
        one.ask("go on", turn)
        one.put(message("assistant", f"Done {turn}.", f"msg_{turn}", turn))
        one.stop(f"Done {turn}.", turn)
    assert said(folder) == [
        *(("user", "go on"), ("assistant", "Done turn-1.")),
        *(("user", "go on"), ("assistant", "Done turn-2.")),
    ]


def test_what_a_killed_session_of_codex_left_is_taken_up_by_the_next(
    begin: Callable[[str], Codex], folder: Path
) -> None:
    one = begin("01a1-aaaa")
    one.ask("crash test please", "turn-1")
    one.put(
        message("assistant", "The orchard has 41 pear trees.", "msg_a"),
        shell("c1", "echo 77"),
        output("c1", "77\n"),
        shell("c2", "sleep 20"),
    )
    left = [
        ("user", "crash test please"),
        ("assistant", "The orchard has 41 pear trees."),
        ("tool_call", "exec_command"),
        ("tool_result", "77\n"),
        ("tool_call", "exec_command"),
    ]
    begin("01a1-bbbb").tell("session-start", "SessionStart", source="startup")
    assert said(folder) == left
    begin("01a1-cccc").tell("session-start", "SessionStart", source="startup")
    assert said(folder) == left


def test_the_prompt_of_a_sub_agent_of_codex_is_not_recorded(
    begin: Callable[[str], Codex], tell: Tell, place: Path, folder: Path
) -> None:
    one = begin("01a1-aaaa")
    one.ask("let another one do it", "turn-1")
    own = Codex(tell, place, "01a1-sub")
    told = {"turn_id": "turn-9", "agent_id": "01a1-sub", "agent_type": "default"}
    own.session = one.session  # the hooks of a sub-agent name the session that began it
    own.tell("user-prompt", "UserPromptSubmit", prompt="note the tea", **told)
    own.put(typed("note the tea", "msg-9", "turn-9"), message("assistant", "Noted.", "msg_8", "turn-9"))
    own.tell("stop", "SubagentStop", last_assistant_message="Noted.", **told)
    one.put(message("assistant", "It is done.", "msg_a"))
    one.stop("It is done.", "turn-1")
    assert said(folder) == [("user", "let another one do it"), ("assistant", "It is done.")]


# --- Gemini CLI: lines -------------------------------------------------------------------


def gemini(kind: str, content: Any, name: str, **more: Any) -> Line:
    return {"id": name, "timestamp": now(), "type": kind, "content": content} | more


def ran(name: str, call: str, response: Line, status: str = "success") -> Line:
    own = {"id": call, "name": name, "response": response}
    return {
        "id": call,
        "name": name,
        "args": {"n": 1},
        "result": [{"functionResponse": own}],
        "status": status,
    }


def test_what_a_hook_put_before_a_prompt_of_gemini_is_cut() -> None:
    text = "<hook_context>[MEMORY:x]\nHome: Lyon</hook_context>\n\nHello one"
    assert asked(gemini("user", [{"text": text}], "u1")) == [{"user": "Hello one"}]
    told = given_in(
        json.dumps({"session_id": "s", "hook_event_name": "BeforeAgent", "prompt": text}).encode()
    )
    assert told.prompt.strip() == "Hello one"


@pytest.mark.parametrize(
    "line",
    [
        {"sessionId": "s", "projectHash": "h", "startTime": now(), "kind": "main"},
        {"$set": {"lastUpdated": now()}},
        {"$set": {"messages": [gemini("user", [{"text": "<session_context>\n</session_context>"}], "u0")]}},
        gemini("user", [{"functionResponse": {"id": "c", "name": "x", "response": {"output": "y"}}}], "u2"),
        gemini("gemini", "", "g0", thoughts=[{"subject": "x"}]),
        gemini("info", "Switched to another model.", "i1"),
    ],
)
def test_what_gemini_writes_for_itself_is_not_recorded(line: Line) -> None:
    assert asked(line) == []


def test_a_message_of_gemini_that_is_repeated_with_its_calls_says_its_text_once() -> None:
    first = gemini("gemini", "I will remember that.", "g1", thoughts=[])
    again = first | {"toolCalls": [ran("mcp_looseleaf_remember", "c1", {"output": "Saved."})]}
    assert asked(first) == [{"assistant": "I will remember that."}]
    assert asked(again) == [
        {"tool_call": "mcp_looseleaf_remember", "tool_args": {"n": 1}, "tool_call_id": "c1"},
        {"tool_result": "Saved.", "tool_call_id": "c1"},
    ]
    assert key(first) != key(again)
    assert key(again) == key(json.loads(json.dumps(again)))


def test_a_call_that_a_hook_denied_failed() -> None:
    blocked = ran("mcp_looseleaf_remember", "c1", {"error": "Tool execution blocked: later"}, "error")
    line = gemini("gemini", "", "g1", toolCalls=[blocked, ran("", "c2", {}), ran("ls", "", {})])
    assert asked(line)[1:] == [{"tool_error": "Tool execution blocked: later", "tool_call_id": "c1"}]


def test_a_denial_has_the_form_that_each_client_reads() -> None:
    denied = HookReply(denied="not now")
    assert denied.to_dict("gemini") == {"decision": "deny", "reason": "not now"}
    assert denied.to_dict("claude")["hookSpecificOutput"]["permissionDecision"] == "deny"
    events = {"BeforeTool": "gemini", "PreToolUse": "claude"}
    for event, form in events.items():
        assert given_in(json.dumps({"session_id": "s", "hook_event_name": event}).encode()).form == form


def test_a_session_of_gemini_is_recorded_once_and_in_order(tell: Tell, place: Path, folder: Path) -> None:
    chat = place / "session-2026-11-18T01-12-aaaa.jsonl"

    def put(*lines: Line) -> None:
        with chat.open("a", encoding="utf-8") as file:
            file.writelines(json.dumps(each) + "\n" for each in lines)

    def hook(event: str, name: str, **more: Any) -> Any:
        return tell(
            event, {"session_id": "aaaa-1", "transcript_path": str(chat), "hook_event_name": name} | more
        )

    put({"sessionId": "aaaa-1", "projectHash": "h", "startTime": now(), "kind": "main"})
    hook("session-start", "SessionStart", source="startup")
    hook("user-prompt", "BeforeAgent", prompt="List the folder, please.")
    first = gemini("gemini", "I look at it.", "g1")
    put(
        gemini("user", [{"text": "<hook_context>x</hook_context>\n\nList the folder, please."}], "u1"),
        first,
        first | {"toolCalls": [ran("run_shell_command", "c1", {"output": "kiln"})]},
        gemini(
            "user", [{"functionResponse": {"id": "c1", "name": "x", "response": {"output": "kiln"}}}], "u2"
        ),
        gemini("gemini", "There is a kiln.", "g2"),
    )
    answer = "I look at it.\nThere is a kiln."
    hook("stop", "AfterAgent", prompt="List the folder, please.", prompt_response=answer)
    hook("stop", "SessionEnd", reason="exit")
    assert said(folder) == [
        ("user", "List the folder, please."),
        ("assistant", "I look at it."),
        ("tool_call", "run_shell_command"),
        ("tool_result", "kiln"),
        ("assistant", "There is a kiln."),
    ]


# --- any line ----------------------------------------------------------------------------

NAMES = st.sampled_from(
    "type role content text payload id call_id name namespace arguments output toolCalls result status args "
    f"functionResponse response timestamp {PASSED} turn_id content_item_kinds".split()
)
values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=8),
    lambda each: st.lists(each, max_size=3) | st.dictionaries(NAMES, each, max_size=5),
    max_leaves=12,
)


@given(st.dictionaries(NAMES, values, max_size=6), st.sampled_from(["response_item", "user", "gemini"]))
def test_no_line_stops_the_reading(line: Line, kind: str) -> None:
    for each in (line, line | {"type": kind}, {"type": kind, "payload": line}):
        for told in asked(each):
            assert len(told.keys() & {"user", "assistant", "tool_call", "tool_result", "tool_error"}) <= 1


@given(st.binary(max_size=60))
def test_what_is_no_line_is_none(data: bytes) -> None:
    assert read_dialect(data) is None or data.lstrip().startswith(b"{")
