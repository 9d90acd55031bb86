"""Coding agents asked as models: each call is a real child process, of a program that the test wrote."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import pytest

from conftest import Run
from looseleaf import Memory
from looseleaf.base.errors import Cancelled, ModelFailed, PromptTooLong, Refused
from looseleaf.base.messages import Message, ToolCallPayload, ToolCallSpec, ToolResultPayload
from looseleaf.base.policy import Policy
from looseleaf.base.replies import Reply, ToolSpec, Usage
from looseleaf.models import ClaudeCode, Codex, GeminiCLI, choice, choose
from programs import BY_CLAUDE, Program, fact, is_alive, of_claude, path_with, until
from tables import check_rows

ASK = (Message("system", "You distil."), Message("user", "I moved to Lyon."))
SCHEMA = {"type": "object", "properties": {"summary": {"type": "string"}}, "required": ["summary"]}


@pytest.fixture(autouse=True)
def no_server_of_this_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(choice, "LOCAL", "http://127.0.0.1:9")
    monkeypatch.setattr(choice, "SERVERS", ())


@pytest.fixture
def bin(place: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("PATH", path_with(place / "bin"))
    monkeypatch.setenv("XDG_CACHE_HOME", str(place / "cache"))
    return place / "bin"


@pytest.fixture
def claude(bin: Path) -> Program:
    return Program(bin, "claude")


# --- who is asked ------------------------------------------------------------------------


def test_a_program_on_path_is_never_asked_only_because_it_is_there(claude: Program, bin: Path) -> None:
    Program(bin, "codex")
    Program(bin, "gemini")
    assert choose(Policy(), None, {}) is None
    assert choose(Policy(distiller="claude-code"), None, {}) is None  # who chats is not who distills
    assert claude.calls == []


def test_a_command_line_is_asked_by_its_name() -> None:
    def check(policy: Policy, name: str | None, expected: tuple[str, str]) -> None:
        model: Any = choose(policy, name, {"ANTHROPIC_API_KEY": "a"})
        assert (type(model).__name__, model.name) == expected

    check_rows(
        check,
        [
            (Policy(), "claude-code", ("ClaudeCode", "claude-code")),
            (Policy(), "claude-code/haiku", ("ClaudeCode", "haiku")),
            (Policy(), "codex:gpt-6-sol", ("Codex", "gpt-6-sol")),
            (Policy(), "gemini-cli", ("GeminiCLI", "gemini-cli")),
            (Policy(provider="codex"), None, ("Codex", "codex")),
            (Policy(provider="claude-code", model="opus"), None, ("ClaudeCode", "opus")),
            (Policy(model="claude-code/opus"), None, ("ClaudeCode", "opus")),
            (
                Policy(provider="anthropic", model="claude-opus-5"),
                "claude-code",
                ("ClaudeCode", "claude-code"),
            ),
            (Policy(provider="openrouter"), "codex/gpt-6-sol", ("Codex", "gpt-6-sol")),
        ],
    )


def test_a_settings_file_cannot_give_the_program_options() -> None:
    for name in ("--dangerously-skip-permissions", "-c", "a b", "x\ny", ";"):
        with pytest.raises(Refused, match="is not a model's name"):
            choose(Policy(), f"claude-code/{name}", {})


def test_a_program_that_only_this_folder_brings_along_is_not_run(
    claude: Program, bin: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(bin)
    monkeypatch.setenv("PATH", f".{os.pathsep}/nowhere")
    with pytest.raises(Refused, match="is not on PATH"):
        ClaudeCode().send(ASK)
    assert claude.calls == []


# --- how it is asked ---------------------------------------------------------------------


def test_claude_is_asked_without_tools_hooks_or_servers_in_a_folder_of_its_own(
    claude: Program, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CLAUDECODE", "1")
    claude.plan(out=of_claude({"summary": "Moved."}))
    reply = ClaudeCode("haiku").send(ASK, schema=SCHEMA, effort="low")
    assert reply == Reply(
        '{"summary": "Moved."}', usage=Usage(123, 3, 20, 40, cost=0.0125), model="claude-opus-4-8"
    )
    (call,) = claude.calls
    pairs = dict(zip(call["argv"], call["argv"][1:], strict=False))
    wanted = {"--tools": "", "--setting-sources": "", "--model": "haiku", "--effort": "low"}
    assert wanted.items() <= pairs.items()
    assert {"-p", "--strict-mcp-config", "--no-session-persistence"} <= set(call["argv"])
    assert json.loads(pairs["--settings"]) == {"disableAllHooks": True}
    assert json.loads(pairs["--json-schema"]) == SCHEMA
    assert call["--system-prompt-file"] == "You distil."
    assert call["said"] == "I moved to Lyon."
    assert not [each for each in call["argv"] if "Lyon" in each]  # others could read it there
    assert call["files"] == []
    assert call["inside"] == "1"
    assert "CLAUDECODE" not in call["environ"]
    assert not Path(call["folder"]).exists()


def test_codex_is_asked_in_its_own_way(bin: Path) -> None:
    codex = Program(bin, "codex")
    strict = SCHEMA | {"additionalProperties": False}
    events: list[dict[str, Any]] = [
        {"type": "thread.started"},
        {"type": "item.completed", "item": {"type": "error", "message": "No metadata."}},
        {"type": "item.completed", "item": {"type": "agent_message", "text": '{"summary": "Moved."}'}},
        {
            "type": "turn.completed",
            "usage": {"input_tokens": 90, "cached_input_tokens": 9, "output_tokens": 5},
        },
    ]
    codex.plan(out="\n".join(map(json.dumps, events)), err="WARNING: a word beside it")
    assert Codex().send(ASK, schema=strict) == Reply(
        '{"summary": "Moved."}', usage=Usage(90, 9, 0, 5), model="codex"
    )
    assert Codex().send(ASK, schema=SCHEMA).text == '{"summary": "Moved."}'
    first, second = codex.calls
    assert {"exec", "--ephemeral", "--ignore-user-config", "features.hooks=false", "-"} <= set(first["argv"])
    assert json.loads(first["--output-schema"]) == strict
    assert first["said"] == "I moved to Lyon."
    assert "--output-schema" not in second  # the provider would refuse it
    assert json.dumps(SCHEMA) in second["said"]


def test_gemini_is_asked_in_its_own_way(bin: Path) -> None:
    gemini = Program(bin, "gemini")
    tokens = {"prompt": 80, "candidates": 6, "cached": 8, "thoughts": 4}
    told = {"response": '{"summary": "Moved."}', "stats": {"models": {"gemini-x": {"tokens": tokens}}}}
    gemini.plan(out=f"A word before it\n{json.dumps(told)}")
    reply = GeminiCLI("gemini-3.8-flash").send(ASK, schema=SCHEMA)
    assert reply == Reply('{"summary": "Moved."}', usage=Usage(80, 8, 0, 10, 4), model="gemini-x")
    (call,) = gemini.calls
    assert call["argv"][-2:] == ["--prompt", ""]
    assert {"GEMINI_SYSTEM_MD", "GEMINI_CLI_TRUST_WORKSPACE"} <= set(call["environ"])
    settings = json.loads((Path(call["folder"]) / ".gemini/settings.json").read_text())
    assert settings["hooksConfig"] == {"enabled": False}
    assert settings["tools"] == {"core": ["none"]}


def test_a_conversation_is_told_as_one_text_and_tools_are_called_in_it(claude: Program) -> None:
    claude.plan(
        out=of_claude(None, result='<tool_call>{"name": "look", "arguments": {"at": "tea"}}</tool_call>')
    )
    tool = ToolSpec(
        "look", "Look at something.", {"type": "object", "properties": {"at": {"type": "string"}}}
    )
    talk = [*ASK, Message("assistant", "Nice."), Message("user", "Look at the tea.")]
    reply = ClaudeCode().send(talk, [tool])
    assert claude.calls[0]["said"].startswith(
        "## User\n\nI moved to Lyon.\n\n## Assistant\n\nNice.\n\n## User"
    )
    assert "Look at something." in claude.calls[0]["--system-prompt-file"]
    assert [(call.name, call.arguments) for call in reply.calls] == [("look", {"at": "tea"})]


# --- when it does not answer -------------------------------------------------------------


BY_HAND = "Run `claude` by hand; it says more."


def test_a_picture_is_told_in_words_also_that_of_a_tool(claude: Program) -> None:
    claude.plan(out=of_claude(None, result="Seen."))
    calls = ToolCallPayload((ToolCallSpec("c1", "camera", {}),))
    shown = Message(
        "tool",
        image_urls=("https://example.org/door.png",),
        tool_payload=ToolResultPayload("c1", "camera", "taken"),
    )
    asked = Message("user", "Who is it?", image_urls=("https://example.org/cat.png",))
    ClaudeCode().send([asked, Message("assistant", tool_payload=calls), shown])
    said = claude.calls[0]["said"]
    assert said.startswith("## User\n\nWho is it?\n[image: https://example.org/cat.png]\n\n## Assistant\n\n")
    assert "taken" in said
    assert "\n[image: https://example.org/door.png]\n\n(Answer the last message, as the assistant.)" in said


def test_each_failure_is_one_clear_sentence(claude: Program) -> None:
    def check(plan: dict[str, Any], why: str, advice: str) -> None:
        claude.plan(**plan)
        before = len(claude.calls)
        with pytest.raises(ModelFailed) as failed:
            ClaudeCode().send(ASK)
        assert str(failed.value) == f"Claude Code did not answer: {why} {advice}"
        assert len(claude.calls) == before + 1

    check_rows(
        check,
        [
            (
                {
                    "out": of_claude(None, is_error=True, result="Not logged in · Please run /login"),
                    "code": 1,
                },
                "it is not logged in (Not logged in · Please run /login).",
                "Run `claude` once and log in.",
            ),
            (
                {
                    "out": of_claude(None, is_error=True, result="API Error: Unable to connect to API"),
                    "code": 1,
                },
                "it failed (API Error: Unable to connect to API).",
                BY_HAND,
            ),
            (
                {"err": "error: unknown option '--tools'", "code": 1},
                "it failed (error: unknown option '--tools').",
                BY_HAND,
            ),
            ({"code": 3}, "it failed (it ended with code 3).", BY_HAND),
            (
                {"out": "Here you are!"},
                "its output is not in a known format (Here you are!).",
                "Update it. Install it with `npm install -g @anthropic-ai/claude-code`.",
            ),
            ({"out": of_claude(None, result="  ")}, "it failed (its answer is empty).", BY_HAND),
            (
                {"out": of_claude(None, subtype="error_max_structured_output_retries", result=None)},
                "it failed (error_max_structured_output_retries).",
                BY_HAND,
            ),
        ],
    )


def test_a_prompt_that_is_too_long_is_known_as_that(claude: Program) -> None:
    claude.plan(out=of_claude(None, is_error=True, result="Prompt is too long"))
    with pytest.raises(PromptTooLong):
        ClaudeCode().send(ASK)


def test_the_other_programs_fail_in_a_sentence_too(bin: Path) -> None:
    codex, gemini = Program(bin, "codex"), Program(bin, "gemini")
    codex.plan(out='{"type": "turn.started"}\n{"type": "error", "message": "401 Unauthorized"}\n', code=1)
    with pytest.raises(ModelFailed, match=r"not logged in \(401 Unauthorized\). Run `codex login`."):
        Codex().send(ASK)
    codex.plan(out="no events")
    with pytest.raises(ModelFailed, match="not in a known format"):
        Codex().send(ASK)
    gemini.plan(out='{"error": {"message": "Please set an Auth method in your settings"}}', code=41)
    with pytest.raises(ModelFailed, match="not logged in"):
        GeminiCLI().send(ASK)
    gemini.plan(out="{")
    with pytest.raises(ModelFailed, match="not in a known format"):
        GeminiCLI().send(ASK)


def test_a_program_that_is_missing_or_cannot_be_run_is_refused_with_how_to_get_it(
    bin: Path, claude: Program
) -> None:
    claude.path.write_bytes(b"\x7fELF this is no program")
    with pytest.raises(Refused, match="could not be started"):
        ClaudeCode().send(ASK)
    claude.path.unlink()
    for act in (lambda: ClaudeCode().send(ASK), ClaudeCode().ready):
        with pytest.raises(Refused) as refused:
            act()
        assert str(refused.value) == (
            "No model was asked: the program `claude` of Claude Code is not on PATH. "
            "Install it with `npm install -g @anthropic-ai/claude-code`."
        )


def test_at_the_time_limit_it_is_ended_with_all_that_it_started(claude: Program) -> None:
    claude.plan(wait=True, child=True)
    model = ClaudeCode(seconds=1.0)
    with pytest.raises(ModelFailed, match="did not answer within 1 seconds"):
        model.send(ASK)
    (call,) = claude.calls
    until(lambda: not any(map(is_alive, call["pids"])), "the program and its child are gone")


def test_cancelling_ends_it_with_all_that_it_started(claude: Program) -> None:
    claude.plan(wait=True, child=True)
    cancel = threading.Event()
    raised: list[BaseException] = []

    def ask() -> None:
        try:
            ClaudeCode().send(ASK, cancel=cancel)
        except Cancelled as error:
            raised.append(error)

    thread = threading.Thread(target=ask)
    thread.start()
    until(lambda: claude.calls, "it was asked")
    assert all(map(is_alive, claude.calls[0]["pids"]))
    cancel.set()
    thread.join()
    assert len(raised) == 1
    until(lambda: not any(map(is_alive, claude.calls[0]["pids"])), "the program and its child are gone")


# --- as a distiller ----------------------------------------------------------------------

QUINCES = "In the garden we put quinces along the wall."
DISTILLED = {"summary": "Quinces were planted.", "facts": [fact("quinces", QUINCES)]}


def test_what_it_answers_is_a_distilling_and_what_it_took_is_in_the_ledger(
    claude: Program, folder: Path
) -> None:
    claude.plan(out=of_claude(DISTILLED))
    with Memory(folder, policy=Policy(distiller="claude-code", day_cost=0.02)) as memory:
        memory.record(user=QUINCES)
        memory.distill()
        assert [(each.topic, each.object) for each in memory.facts() if each.relation == "Plants"] == [
            ("garden", "quinces")
        ]
        assert (memory.costs.today().cost, memory.costs.today().tokens) == (0.0125, 163)
        assert memory.costs.by("model")[0].name == "claude-code"
        assert memory.notes == []
        memory.record(user="And medlars.")
        memory.distill()
        memory.record(user="And pears.")
        memory.distill()  # its ceiling is reached by what the program itself says
        assert len(claude.calls) == 2
        assert "SpendingLimit" in memory.notes[0]


def test_where_it_fails_the_rules_distill_and_nothing_is_counted_as_spent(
    claude: Program, folder: Path
) -> None:
    claude.plan(out=of_claude(None, is_error=True, result="Not logged in · Please run /login"))
    with Memory(folder, policy=Policy(distiller="claude-code")) as memory:
        memory.record(user="I live in Lyon now.")
        memory.distill()
        assert ("Home", "Lyon") in [(each.relation, each.object) for each in memory.facts()]
        (note,) = memory.notes
        assert f"The rules distilled instead: {BY_CLAUDE} raised ModelFailed: Claude Code did not" in note
        assert memory.costs.total().calls == 0
    assert len(claude.calls) == 1


# --- nothing of ours runs inside ---------------------------------------------------------


def test_hooks_and_servers_do_nothing_inside(run: Run, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    given = json.dumps({"session": "s", "prompt": "I live in Lyon now.", "answer": "Fine."}).encode()

    def everything() -> dict[str, bytes]:
        return {str(path): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}

    before = everything()
    with monkeypatch.context() as inside:
        inside.setenv("LOOSELEAF_INSIDE", "1")
        for event in ("session-start", "user-prompt", "pre-tool", "pre-compact", "stop", "distill"):
            assert run("hook", event, stdin=given) == (0, "", "")
        code, _, err = run("mcp")
        assert code == 2
        assert "LOOSELEAF_INSIDE" in err
    assert everything() == before
    assert run("hook", "user-prompt", stdin=given)[0] == 0  # outside it does something
    assert everything() != before


def test_a_program_that_calls_our_hooks_all_the_same_leaves_no_trace(claude: Program, folder: Path) -> None:
    hook = [sys.executable, "-m", "looseleaf", "--memory", str(folder), "hook"]
    said = json.dumps({"session": "inner", "prompt": "I live in Rome now.", "answer": "Done."})
    runs = [[*hook, event] for event in ("session-start", "user-prompt", "stop")]
    claude.plan(out=of_claude(DISTILLED), runs=runs, given=said)
    with Memory(folder, policy=Policy(distiller="claude-code")) as memory:
        memory.record(user=QUINCES)
        memory.distill()
        assert len(claude.calls) == 1
        assert [trace.content for turn in memory.talk.turns() for trace in turn.traces] == [QUINCES]
        assert "Rome" not in str(memory.facts())
    subprocess.run(runs[1], input=said.encode(), check=True)  # the same command, called outside, records
    with Memory(folder) as memory:
        assert "I live in Rome now." in [
            trace.content for turn in memory.talk.turns() for trace in turn.traces
        ]


def test_inside_nobody_is_asked(claude: Program, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LOOSELEAF_INSIDE", "1")
    with pytest.raises(Refused, match="already runs inside"):
        ClaudeCode().send(ASK)
    assert claude.calls == []
