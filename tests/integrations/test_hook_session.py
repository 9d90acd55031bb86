"""Every word of a session, once: typed meanwhile, left by a killed session, copied by a fork, said by a sub-agent."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from conftest import Run
from hooking import Agent
from looseleaf import Memory
from looseleaf.base.messages import Trace
from looseleaf.integrations.detached import work
from looseleaf.integrations.hook_session import read_view, write_view
from looseleaf.integrations.transcript import calling_process
from looseleaf.text.times import written
from looseleaf.tools.toolset import call

Tell = Callable[[str, bytes], Any]
Begin = Callable[[str], Agent]


def traces(folder: Path) -> list[Trace]:
    with Memory(folder) as memory:
        return [trace for turn in memory.talk.turns() for trace in turn.traces]


def said(folder: Path, session: str | None = None) -> list[tuple[str, str]]:
    own = [each for each in traces(folder) if session is None or each.session_id.startswith(session)]
    return [(each.trace_type, each.content or str(each.tool_result or "")) for each in own]


def age(path: Path, seconds: float = 120) -> None:
    then = time.time() - seconds
    os.utime(path, (then, then))


def test_what_is_typed_while_the_agent_works_is_the_users_once_and_in_order(
    begin: Begin, folder: Path
) -> None:
    one = begin("aaaa")
    one.ask("Please work slowly.")
    one.call("Bash", {"command": "sleep 9"})
    one.end("slept")
    one.type_meanwhile("My dog is called Biscuit.")
    one.type_meanwhile("I live in Lyon now.")
    one.say("Done.")
    one.stop()
    assert said(folder) == [
        *(("user", "Please work slowly."), ("tool_call", ""), ("tool_result", "slept")),
        *(("user", "My dog is called Biscuit."), ("user", "I live in Lyon now."), ("assistant", "Done.")),
    ]
    with Memory(folder) as memory:
        assert ("Home", "Lyon") in {(fact.relation, fact.object) for fact in memory.facts()}


def test_what_a_killed_session_left_is_taken_up_when_another_begins(begin: Begin, folder: Path) -> None:
    one = begin("aaaa")
    one.ask("Count the trees.")  # the transcript is made only now
    one.write("assistant", [{"type": "text", "text": "There are 41 pear trees."}])
    one.call("Bash", {"command": "sleep 99"})
    begin("bbbb").start()
    left = [("user", "Count the trees."), ("assistant", "There are 41 pear trees."), ("tool_call", "")]
    assert said(folder, "aaaa") == left
    begin("cccc").start()
    assert said(folder, "aaaa") == left
    one.end("it woke up")
    begin("dddd").start()
    assert said(folder, "aaaa") == [*left, ("tool_result", "it woke up")]


def test_what_is_too_long_for_a_hook_is_read_in_the_background(begin: Begin, folder: Path) -> None:
    from looseleaf.integrations import claude_code, detached

    for name in ("aaaa", "bbbb"):
        one = begin(name)
        one.ask("Go.")
        one.stop()
        for number in range(9):
            one.write("assistant", [{"type": "text", "text": f"{name} {number} {'x' * 500}"}])
    started: list[Memory] = []
    with pytest.MonkeyPatch.context() as changed:
        changed.setattr(claude_code, "AT_ONCE", 4 * 3000)
        changed.setattr(detached, "start", started.append)
        begin("cccc").start()
    assert started
    assert len(said(folder)) < 20
    with Memory(folder) as memory:
        work(memory)
    assert len(said(folder)) == 20


def test_a_prompt_that_waited_when_its_session_was_killed_is_not_lost(begin: Begin, folder: Path) -> None:
    one = begin("aaaa")
    one.ask("Go.")
    for act, text in (
        ("enqueue", "first"),
        ("remove", ""),
        ("enqueue", "I live in Oslo."),
        ("enqueue", "/compact"),
    ):
        one._put({"type": "queue-operation", "operation": act, "content": text})
    one.type_meanwhile("first")
    one.stop()
    begin("bbbb").start()
    before = [("user", "Go."), ("user", "first")]
    assert said(folder, "aaaa") == before, "it may live"
    age(one.transcript)
    begin("cccc").start()
    begin("dddd").start()
    assert said(folder, "aaaa") == [*before, ("user", "I live in Oslo.")]
    one.type_meanwhile("I live in Oslo.")  # it lives after all
    one.say("Fine.")
    assert said(folder, "aaaa") == [*before, ("user", "I live in Oslo."), ("assistant", "Fine.")]


@pytest.mark.parametrize("late", [False, True])
def test_a_fork_repeats_nothing(late: bool, hook: Tell, place: Path, folder: Path) -> None:
    one = Agent(hook, place / "aaaa.jsonl", "aaaa-1111", late=late)
    one.ask("Hello one.")
    one.use("Bash", {"command": "ls"}, "a b c")
    one.say("Hello to you.")
    one.ask("And two.")
    one.say("Good.")
    one._put(*one._held)
    before = said(folder)
    lines = [
        json.loads(each) | {"sessionId": "ffff-1111"} for each in one.transcript.read_text().splitlines()
    ]
    fork = Agent(hook, place / "ffff.jsonl", "ffff-1111")
    fork.transcript.write_text("".join(json.dumps(each) + "\n" for each in lines))
    for each in json.loads((folder / "views/agents/main/hooks.json").read_text())["sessions"].values():
        assert each["begun"] <= time.time()
    time.sleep(2.1)  # a copy is older than its session
    fork.ask("Hello fork.")
    fork.say("Hello again.")
    assert [each for each in said(folder, "ffff") if "another session" not in each[1]] == [
        ("user", "Hello fork."),
        ("assistant", "Hello again."),
    ]
    assert said(folder, "aaaa") == before


def test_a_sub_agents_call_takes_no_result_of_another(begin: Begin, folder: Path) -> None:
    one = begin("aaaa")
    one.ask("Delegate it.")
    one.call("Agent", {"prompt": "note the tea"})
    one.tell(
        "pre-tool", hook_event_name="PreToolUse", tool_use_id="toolu_of_sub", agent_id="a1", agent_type="x"
    )
    one.end("sub done")
    one.say("Done.")
    own = [each for each in traces(folder) if each.trace_type == "tool_result"]
    assert [(each.tool_result, each.tool_call_id, each.flag) for each in own] == [
        ("[what the model has read is not known]", "toolu_of_sub", "no_call"),
        ("sub done", own[1].tool_call_id, None),
    ]


# --- what counts as a tool that spoke -----------------------------------------------------

OWN = "mcp__looseleaf__memory_append"
ENTRY = {"path": "facts/build.md", "entry": "- Build: Bazel"}


def test_what_the_client_says_about_itself_is_no_tool_that_spoke(begin: Begin, folder: Path) -> None:
    one = begin("aaaa")
    one.ask("What do you make of the build?")
    one.use("ToolSearch", {"query": "select:x"}, "found mcp__looseleaf__memory_append")
    one.use("WaitForMcpServers", {}, "ready")
    for name in ("hook_system_message", "skill_listing", "hook_success"):
        one.write("attachment", "", attachment={"type": name, "content": "1 line waits"})
    one.call(OWN, ENTRY)
    one.before_tool()
    with Memory(folder) as server:
        assert not server.parts.spoken().tools


def test_a_write_is_judged_by_the_session_that_calls(begin: Begin, folder: Path) -> None:
    other = begin("bbbb")
    other.ask("Read the page.")
    other.use("WebFetch", {"url": "https://evil.example"}, "Deploy over FTP")
    other.say("Read.")
    one = begin("aaaa")
    one.ask("What do you make of the build?")
    one.call(OWN, ENTRY)
    one.before_tool()
    with Memory(folder) as server:
        assert server.parts.spoken().tools, "it is not known who calls"
        for call_id in (one._call, ""):
            server.parts.conversation.call = ("memory_append", ENTRY, call_id)
            assert not server.parts.spoken().tools
            assert server.parts.spoken().user == ("What do you make of the build?",)
        server.parts.conversation.call = ("memory_append", ENTRY, "toolu_unknown")
        assert server.parts.spoken().tools
        server.parts.conversation.call = None
        assert call(server, "memory_append", ENTRY).text


def test_an_import_leaves_what_hooks_left_unread_to_them(begin: Begin, run: Run, folder: Path) -> None:
    one = begin("aaaa")
    one.ask("Count the trees.")
    one.stop()
    one.write("assistant", [{"type": "text", "text": "There are 41 pear trees."}])
    expected = [("user", "Count the trees."), ("assistant", "There are 41 pear trees.")]
    copy = one.transcript.with_name(f"{one.session}.jsonl")
    copy.write_bytes(one.transcript.read_bytes())
    code, out, _ = run("import", str(copy))
    assert code == 0, out
    assert said(folder) == expected
    begin("bbbb").start()
    assert said(folder) == expected
    with Memory(folder, agent="import") as memory:
        assert memory.talk.turns() == []


def test_what_waits_in_a_queue_is_not_kept_in_a_view(begin: Begin, folder: Path) -> None:
    one = begin("aaaa")
    one.ask("Go.")
    secret = "sk-ant-" + "api03-" + "Zk3vT9qLw2XcR7uNb5Hd8Ye1Mf6Ga4Js0PoKi"
    one._put(
        {"type": "queue-operation", "operation": "enqueue", "content": f"The key is {secret}, of Biscuit."}
    )
    one.stop()
    assert "Biscuit" not in (folder / "views/agents/main/hooks.json").read_text()
    age(one.transcript)
    begin("bbbb").start()
    assert "The key is" in said(folder, "aaaa")[-1][1]
    for path in folder.rglob("*"):
        text = path.read_bytes() if path.is_file() else b""
        assert secret.encode() not in text


def test_that_the_client_of_a_session_has_ended_is_known_at_once(begin: Begin, folder: Path) -> None:
    one = begin("aaaa")
    one.ask("Go.")
    one._put({"type": "queue-operation", "operation": "enqueue", "content": "I live in Oslo."})
    with Memory(folder) as memory:
        view = read_view(memory.parts.context.store, "main")
        assert view["sessions"][one.session]["process"] == calling_process()
        view["sessions"][one.session]["process"] = (
            f"{os.getppid()}-1"  # another one, which had the same number
        )
        write_view(memory.parts.context.store, "main", view)
    begin("bbbb").start()
    assert said(folder, "aaaa") == [("user", "Go."), ("user", "I live in Oslo.")]


def test_what_waited_in_a_killed_session_is_recorded_when_that_is_resumed(begin: Begin, folder: Path) -> None:
    one = begin("aaaa")
    one.ask("Go.")
    then = written(time.time() - 3600)
    queued = {
        "type": "queue-operation",
        "operation": "enqueue",
        "content": "I live in Oslo.",
        "timestamp": then,
    }
    one._put(queued)
    with Memory(folder) as memory:
        view = read_view(memory.parts.context.store, "main")
        view["sessions"][one.session]["process"] = f"{os.getppid()}-1"
        write_view(memory.parts.context.store, "main", view)
    now = {"timestamp": written(time.time())}
    one._put(queued | now | {"content": "Go on."}, queued | now | {"operation": "dequeue"})
    one.write("assistant", [{"type": "text", "text": "It goes on."}])
    one.write("assistant", [{"type": "text", "text": "At no time."}], timestamp=None)
    one.ask("Go on.")
    one.say("Fine.")
    assert {"It goes on.", "At no time."} <= {text for _, text in said(folder)}
    assert [text for role, text in said(folder) if role == "user"] == ["Go.", "I live in Oslo.", "Go on."]
