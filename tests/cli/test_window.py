"""The commands of the conversation, as a person or a hook runs them."""

from __future__ import annotations

import io
import json
import os
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cli.test_main import EVIL, HEAVY, ID, SCRIPT, STEERING, modules_after, on_a_terminal, plain, snapshot
from looseleaf.base.messages import (
    TRACE_TYPES,
    Message,
    ToolCallPayload,
    ToolCallSpec,
    ToolResultPayload,
    Trace,
    Turn,
)
from looseleaf.cli import output as cli
from looseleaf.cli.main import main
from looseleaf.cli.verbs import window as cli_talk
from looseleaf.memory import Memory
from looseleaf.store.files import FileStore
from tables import check_rows

Run = Callable[..., tuple[int, str, str]]

SMALL = "context_tokens = 2000\nmax_tokens = 200\nsafety_margin_tokens = 100\n"
PNG = "pictures/plan.png"
RECORD = 'Next: `looseleaf record user "…"` records a message; `looseleaf import PATH` imports a history.\n'


def script(folder: Path, *arguments: str | bytes, stdin: bytes = b"") -> str:
    done = subprocess.run(
        [SCRIPT, "--memory", folder, *arguments], input=stdin, capture_output=True, check=True
    )
    assert re.sub(rb"Next: .*\n", b"", done.stderr) == b""
    return done.stdout.decode()


def traces(folder: Path, agent: str = "main") -> list[Trace]:
    with Memory(folder, agent=agent) as memory:
        return [trace for turn in memory.talk.turns(1000) for trace in turn.traces]


def refuses(run: Run, folder: Path, *arguments: str, stdin: bytes = b"") -> str:
    """Run a command that must write nothing: its sentence."""
    before = snapshot(folder.parent)
    code, out, err = run(*arguments, stdin=stdin)
    assert (code, out) == (2, "")
    assert snapshot(folder.parent) == before
    assert err.count("\n") == 1
    return err.removeprefix("looseleaf: ").removesuffix("\n")


def talk(turns: int) -> bytes:
    """So many turns with a tool call each, as lines."""
    lines: list[dict[str, object]] = []
    for number in range(1, turns + 1):
        lines += [
            {"user": f"Question {number}: what is in part_{number}.py?"},
            {"tool_call": "read", "tool_args": {"path": f"part_{number}.py"}, "tool_call_id": f"c{number}"},
            {"tool_result": f"def part_{number}(): ...\n" * 30, "tool_call_id": f"c{number}"},
            {"assistant": f"A function, part_{number}."},
        ]
    lines[0]["user"] = "We decided to keep Python 3.11. What is in part_1.py?"
    return b"".join(json.dumps(line).encode() + b"\n" for line in lines)


# --- record ----------------------------------------------------------------------------


def test_a_turn_is_recorded_step_by_step(run: Run, folder: Path) -> None:
    said = [
        run("record", "user", "What is here?"),
        run("record", "tool_call", "ls", "--args", '{"path": "src"}', "--call-id", "c1"),
        run("record", "tool_result", "a.py", "--call-id", "c1"),
        run("record", "assistant", "One file."),
        run("record", "user", "Thanks."),
    ]
    assert [(code, plain(out), err) for code, out, err in said] == [
        (0, f"turn_000{number} <id>\n", "") for number in (1, 1, 1, 1, 2)
    ]
    recorded = traces(folder)
    assert [out.split()[1] for _, out, _ in said] == [trace.id for trace in recorded]
    assert [(each.trace_type, each.content, each.tool_name, each.tool_args) for each in recorded] == [
        ("user", "What is here?", None, None),
        ("tool_call", "", "ls", {"path": "src"}),
        ("tool_result", "", "ls", None),
        ("assistant", "One file.", None, None),
        ("user", "Thanks.", None, None),
    ]
    assert (recorded[2].tool_result, recorded[2].tool_call_id, recorded[2].flag) == ("a.py", "c1", None)
    assert len({each.session_id for each in recorded}) == 1


@pytest.mark.parametrize(
    ("arguments", "members"),
    [
        (["--result", '{"files": ["a.py", null]}'], {"tool_result": {"files": ["a.py", None]}}),
        (["--result", "null"], {"tool_result": None}),
        (["--result=-1.5"], {"tool_result": -1.5}),
        ([""], {"tool_result": ""}),
        (["--error", "no such folder"], {"tool_error": "no such folder"}),
        (
            ["no such folder", "--error", "--result", "[1]"],
            {"tool_error": "no such folder", "tool_result": [1]},
        ),
    ],
)
def test_a_tool_answers_in_words_in_json_or_with_an_error(
    run: Run, folder: Path, arguments: list[str], members: dict[str, object]
) -> None:
    assert run("record", "tool_call", "ls")[0] == 0
    code, out, _ = run("record", "tool_result", "--name", "ls", *arguments, "--json")
    assert code == 0
    told = json.loads(out)
    assert {name: told[name] for name in told if name in ("tool_result", "tool_error")} == members
    assert "flag" not in told
    assert traces(folder)[-1].to_record() == told


def test_a_result_that_fits_no_open_call_is_recorded_with_a_flag(run: Run) -> None:
    assert run("record", "user", "hi")[0] == 0
    assert plain(run("record", "tool_result", "x", "--call-id", "c9")[1]) == "turn_0001 <id> no_call\n"
    assert run("record", "tool_call", "ls", "--call-id", "c1")[0] == 0
    assert plain(run("record", "tool_result", "x", "--call-id", "c1")[1]) == "turn_0001 <id>\n"
    assert plain(run("record", "tool_result", "y", "--call-id", "c1")[1]) == "turn_0001 <id> second_result\n"


@pytest.mark.parametrize("arguments", [[], ["-"]])
@pytest.mark.parametrize(
    ("stdin", "content"),
    [
        (b"hello\n", "hello"),
        (b"hello\r\n", "hello"),
        (b"two\nlines\n\n", "two\nlines\n"),
        ("  \u4f60\u597d".encode(), "  \u4f60\u597d"),
    ],
)
def test_text_comes_from_standard_input(
    run: Run, folder: Path, arguments: list[str], stdin: bytes, content: str
) -> None:
    assert run("record", "user", *arguments, stdin=stdin)[0] == 0
    assert [trace.content for trace in traces(folder)] == [content]


def test_names_errors_and_json_come_from_standard_input_too(run: Run, folder: Path) -> None:
    assert run("record", "tool_call", "--args", "{}", stdin=b"ls\n")[0] == 0
    assert run("record", "tool_result", "--result", "-", stdin=b'{"a": 1}\n')[0] == 0
    assert run("record", "tool_call", "cp", "--args", "-", stdin=b'["x"]')[0] == 0
    assert run("record", "tool_result", "--error", "-", stdin=b"no room\n")[0] == 0
    assert run("record", "tool_call", "touch")[0] == 0
    assert run("record", "tool_result")[0] == 0
    recorded = traces(folder)
    assert [(each.tool_name, each.tool_args, each.tool_result, each.tool_error) for each in recorded] == [
        ("ls", {}, None, None),
        ("ls", None, {"a": 1}, None),
        ("cp", ["x"], None, None),
        ("cp", None, None, "no room"),
        ("touch", None, None, None),
        ("touch", None, "", None),
    ]


def test_a_turn_may_be_named(run: Run, folder: Path) -> None:
    for text in ("one", "two"):
        assert run("record", "user", text)[0] == 0
    assert plain(run("record", "assistant", "late", "--turn", "turn_0001")[1]) == "turn_0001 <id>\n"
    assert refuses(run, folder, "record", "assistant", "x", "--turn", "turn_0007").startswith(
        "Nothing was recorded: there is no turn 'turn_0007'."
    )


NOT_RECORDED = [
    (["user", "x", "--args", "{}"], b"", "--args goes with tool_call. Leave it out."),
    (
        ["assistant", "x", "--call-id", "c"],
        b"",
        "--call-id goes with tool_call or tool_result. Leave it out.",
    ),
    (["tool_call", "x", "--error"], b"", "--error goes with tool_result. Leave it out."),
    (["jsonl", "--result", "1"], b"", "--result goes with tool_result. Leave it out."),
    (["tool_call", "x", "--name", "y"], b"", "--name goes with tool_result. Leave it out."),
    (
        ["tool_result", "x", "--result", "1"],
        b"",
        "the result was given twice, as text and by --result. Leave one out.",
    ),
    (
        ["tool_call", "--args", "-"],
        b"{}",
        "two texts cannot both come from standard input. Give one as an argument.",
    ),
    (
        ["tool_result", "--error", "--result", "-"],
        b"{}",
        "two texts cannot both come from standard input. Give one as an argument.",
    ),
    (
        ["user"],
        b"",
        "standard input was empty. Give the text there, or as an argument.",
    ),
    (
        ["assistant", "-"],
        b"\n",
        "standard input was empty. Give the text there, or as an argument.",
    ),
    (["user"], b"ok \xff", "standard input is not UTF-8 text (at byte 4). Convert it first."),
    (
        ["tool_call", "x", "--args", "-"],
        b"\xff",
        "--args is not UTF-8 text (at byte 1). Convert it first.",
    ),
    (["tool_call", ""], b"", "a tool call needs the name of its tool. Give it as tool_call=…"),
    (
        ["jsonl", "nowhere.jsonl"],
        b"",
        "nowhere.jsonl could not be read (No such file or directory). Give the text another way.",
    ),
    (
        ["jsonl", "memory"],
        b"",
        "memory could not be read (Is a directory). Give the text another way.",
    ),
    (
        ["jsonl", "a\0b"],
        b"",
        "a\\x00b could not be read (embedded null byte). Give the text another way.",
    ),
]


def test_what_makes_no_sense_is_not_recorded(run: Run, folder: Path) -> None:
    def check(arguments: list[str], stdin: bytes, sentence: str) -> None:
        run("record", "user", "first")
        assert refuses(run, folder, "record", *arguments, stdin=stdin) == f"Nothing was recorded: {sentence}"

    check_rows(check, NOT_RECORDED)


BAD_JSON = {
    "{a: 1}": "expecting property name enclosed in double quotes at character 2",
    "": "expecting value at character 1",
    "ls": "expecting value at character 1",
    "{} {}": "extra data at character 4",
    "[NaN]": "NaN is not a number",
    "-Infinity": "-Infinity is not a number",
    "[" * 100_000: "it is nested too deeply",
    "9" * 5000: "",
}


def test_json_that_is_none_is_not_recorded(run: Run, folder: Path) -> None:
    def check(text: str, arguments: list[str]) -> None:
        run("record", "user", "first")
        said = refuses(run, folder, "record", *arguments[:-1], f"{arguments[-1]}={text}")
        assert said.startswith(f"Nothing was recorded: {arguments[-1]} is not JSON ({BAD_JSON[text]}")
        assert said.endswith("). Put texts and names in double quotes.")

    check_rows(
        check,
        (
            (one, two)
            for one in BAD_JSON
            for two in [["tool_call", "ls", "--args"], ["tool_result", "--result"]]
        ),
    )


@pytest.mark.parametrize("text", ["1e999", "[" * 200 + "]" * 200, "[" * 900 + "]" * 900])
def test_json_that_the_log_cannot_hold_is_not_recorded(run: Run, folder: Path, text: str) -> None:
    run("record", "user", "first")
    assert "The record was not written: JSON cannot hold it (" in refuses(
        run, folder, "record", "tool_call", "ls", "--args", text
    )


def test_closed_standard_input_is_said_to_be_closed(folder: Path) -> None:
    done = subprocess.run(
        ["sh", "-c", '"$0" "$@" <&-', SCRIPT, "--memory", folder, "record", "user"],
        capture_output=True,
        check=False,
    )
    assert (done.returncode, done.stderr) == (
        2,
        (
            b"looseleaf: Nothing was recorded: standard input could not be read (it is closed). "
            b"Give the text another way.\n"
        ),
    )
    assert traces(folder) == []


def test_recording_makes_no_memory(
    run: Run, folder: Path, place: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    before = snapshot(place)
    for arguments in (["record", "user", "hi"], ["record", "jsonl"], ["turns"], ["compact"], ["expand", "x"]):
        assert main(["--memory", "nowhere", *arguments]) == 2
        assert capsys.readouterr().err.startswith(
            "looseleaf: Nothing was done: there is no memory at nowhere. "
        )
    assert snapshot(place) == before


# --- record jsonl ----------------------------------------------------------------------


def test_many_lines_are_recorded_at_once(
    run: Run, folder: Path, place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lines = talk(2) + b'\n  \n{"tool_call": "rm", "interrupted": true, "tags": ["x"]}\r\n{"tool_error": "no"}'
    (place / "talk.jsonl").write_bytes(lines)
    written: list[int] = []
    append = FileStore.append

    def counted(store: FileStore, stream: str, records: list[dict[str, object]]) -> object:
        written.append(len(records))
        return append(store, stream, records)

    monkeypatch.setattr(FileStore, "append", counted)
    code, out, err = run("record", "jsonl", "talk.jsonl")
    assert (code, err) == (0, "")
    assert [line.split()[0] for line in out.splitlines()] == ["turn_0001"] * 4 + ["turn_0002"] * 6
    assert written == [10]
    monkeypatch.undo()
    recorded = traces(folder)
    assert [line.split()[1] for line in out.splitlines()] == [trace.id for trace in recorded]
    assert (recorded[-2].tool_name, recorded[-2].tags) == ("rm", ("x", "interrupted"))
    assert recorded[-1].tool_error == "no"


def test_many_lines_come_from_standard_input_and_go_out_as_json(run: Run, folder: Path) -> None:
    code, out, _ = run("record", "jsonl", "--session", "import", "--json", stdin=talk(1))
    assert code == 0
    assert json.loads(out) == [trace.to_record() for trace in traces(folder)]
    assert {trace.session_id for trace in traces(folder)} == {"import"}
    assert run("record", "jsonl", "-", "--turn", "turn_0001", stdin=b'{"assistant": "more"}\n')[0] == 0
    assert traces(folder)[-1].turn_id == "turn_0001"
    assert run("record", "jsonl", stdin=b"\n\n") == (0, "", "")
    assert run("record", "jsonl", "--json", stdin=b"") == (0, "[]\n", "")


BAD_LINES = [
    (b"{", "it is not JSON (expecting property name"),
    (b"[1]", "it is not an object. Write one such as "),
    (b'"hello"', "it is not an object. Write one such as "),
    (b"\xff", "it is not UTF-8 text (at byte 1). "),
    (b"[" * 100_000, "it is not JSON (it is nested too deeply). "),
    (b"{}", "nothing was given. Give one of user, assistant, tool_call, tool_result."),
    (b'{"user": null}', "nothing was given. "),
    (b'{"user": "a", "assistant": "b"}', "user and assistant were given at once. "),
    (b'{"user": "a", "self": 1}', "a trace has no 'self'. Leave it out; there are: user, assistant, "),
    (
        b'{"user": "a", "origin": "user"}',
        "a trace has no 'origin'. Leave it out; there are: user, assistant, ",
    ),
    (b'{"user": "a", "contnt": "b"}', "a trace has no 'contnt'. Did you mean 'content'?"),
    (b'{"user": 5}', "content must be text, not int. "),
    (b'{"user": "a", "content": "b"}', "content was given twice, "),
    (b'{"tool_call": "a", "tool_name": "b"}', "tool_name was given twice, "),
    (b'{"tool_call": ""}', "a tool call needs the name of its tool. "),
    (b'{"user": "a", "turn_id": 5}', "turn_id must be text, not int. "),
    (b'{"user": "a", "tool_result_ref": 5}', "tool_result_ref must be text, not int. "),
    (b'{"user": "a", "tags": "b"}', "tags must be a list of strings. Give one."),
    (b'{"user": "a", "tags": null}', "tags must be a list of strings. Give one."),
    (b'{"user": "a", "ts": "now"}', "ts must be epoch seconds. "),
    (b'{"user": "a", "media": ["x"]}', "media must be an object "),
    (b'{"user": "a", "media": {"images": "x.png"}}', "media must hold addresses, "),
]


def test_a_bad_line_is_named_and_nothing_is_written(run: Run, folder: Path) -> None:
    def check(line: bytes, sentence: str) -> None:
        run("record", "user", "first")
        lines = talk(1) + b"\n" + line + b"\n" + talk(1)
        said = refuses(run, folder, "record", "jsonl", stdin=lines)
        assert said.startswith(f"Nothing was recorded: line 6: {sentence}")

    check_rows(check, BAD_LINES)


@pytest.mark.parametrize("line", [b'{"user": "a", "turn_id": "turn_0009"}', b'{"tool_result": 1e999}'])
def test_a_line_that_the_log_does_not_take_stops_all_of_them(run: Run, folder: Path, line: bytes) -> None:
    run("record", "user", "first")
    said = refuses(run, folder, "record", "jsonl", stdin=talk(1) + line + b"\n" + talk(1))
    assert "was recorded: " in said or "was not written: " in said


# --- sessions and agents ---------------------------------------------------------------


def test_a_conversation_goes_on_in_the_next_process(folder: Path) -> None:
    script(folder, "record", "user", "one")
    script(folder, "record", "assistant", stdin=b"two\n")
    script(folder, "record", "user", "elsewhere", "--session", "other")
    script(folder, "record", "assistant", "there too")
    recorded = traces(folder)
    assert [(each.content, each.turn_id) for each in recorded] == [
        ("one", "turn_0001"),
        ("two", "turn_0001"),
        ("elsewhere", "turn_0002"),
        ("there too", "turn_0002"),
    ]
    first, second, third, fourth = (each.session_id for each in recorded)
    assert first == second != third == fourth == "other"


def test_a_session_of_long_ago_is_not_gone_on_with(run: Run, folder: Path) -> None:
    assert run("record", "jsonl", stdin=b'{"user": "long ago", "ts": 1000}\n')[0] == 0
    assert run("record", "assistant", "now")[0] == 0
    before, after = traces(folder)
    assert before.session_id != after.session_id
    assert (before.turn_id, after.turn_id) == ("turn_0001", "turn_0002")


def test_agents_are_apart(run: Run, folder: Path) -> None:
    assert plain(run("record", "user", "mine")[1]) == "turn_0001 <id>\n"
    assert plain(run("--agent", "scout", "record", "user", "hers")[1]) == "turn_0001 <id>\n"
    assert plain(run("record", "user", "mine again", "--agent", "main")[1]) == "turn_0002 <id>\n"
    assert [trace.content for trace in traces(folder)] == ["mine", "mine again"]
    assert [trace.content for trace in traces(folder, "scout")] == ["hers"]
    for verb in ("turns", "window"):
        mine, hers = run(verb)[1], run(verb, "--agent", "scout")[1]
        assert ("mine again" in mine, "hers" in mine) == (True, False)
        assert ("mine" in hers, "hers" in hers) == (False, True)
    others = "guest has said nothing here; there are traces of: main, scout (--agent main)\n"
    for verb in ("turns", "sessions"):
        assert run(verb, "--agent", "guest") == (0, others, "")
    assert run("window", "--agent", "guest")[1].endswith(f"no compaction is due\n\n{others}")
    assert run("turns", "--agent", "guest", "--json") == (0, "[]\n", "")
    assert refuses(run, folder, "record", "user", "x", "--agent", "../x").startswith(
        "Nothing was done: the agent's name '../x' contains a slash."
    )
    assert refuses(run, folder, "record", "user", "x", "--session", "a/b").startswith(
        "Nothing was done: the session's name 'a/b' contains a slash."
    )


# --- turns, sessions -------------------------------------------------------------------


def test_turns_shows_the_last_ones(run: Run) -> None:
    assert run("turns") == (0, "There are no messages yet.\n", RECORD)
    assert run("turns", "--json") == (0, "[]\n", "")
    run("record", "jsonl", "--session", "s1", stdin=talk(3))
    code, out, err = run("turns", "-n", "2")
    learn = (
        "Next: `looseleaf distill` makes facts of what was said; `looseleaf recall WORDS` finds it again.\n"
    )
    assert (code, err) == (0, learn)
    assert run("turns", "1")[2] == ""
    result = "def part_{0}(): ... " * 9
    assert (
        plain(out)
        == "\n\n".join(
            f"turn_000{number}  <time>  session s1\n"
            f"  User: Question {number}: what is in part_{number}.py?\n"
            f'  Tool call: read {{"path":"part_{number}.py"}}\n'
            f"  Tool result: {result.format(number)[:160].rstrip()} … (540 characters)\n"
            f"  Assistant: A function, part_{number}."
            for number in (2, 3)
        )
        + "\n"
    )
    told = json.loads(run("turns", "-n", "1", "--json")[1])
    assert [list(turn) for turn in told] == [["turn_id", "session_id", "ts", "traces"]]
    assert told[0]["traces"][2]["tool_result"] == "def part_3(): ...\n" * 30


def test_one_turn_is_shown_whole(run: Run, folder: Path) -> None:
    said = {
        "user": "Look:\nat\tthis\r\nplan",
        "media": {"images": [PNG], "audio": ["a.wav", "b.wav"]},
        "tags": ["processed"],
    }
    answered = {"assistant": "It is", "reasoning": "First\nsecond", "interrupted": True}
    late = {"tool_result": {"a": 1}, "tool_error": "late", "tool_result_ref": "store:17"}
    run(
        "record", "jsonl", "--session", "s", stdin="\n".join(map(json.dumps, (said, answered, late))).encode()
    )
    code, out, _ = run("turns", "turn_0001")
    assert code == 0
    assert plain(out) == (
        "turn_0001  <time>  session s\n"
        "  User [processed]: Look:\n    at\tthis\n    plan (with 3 pictures or recordings)\n"
        f"  Images: {PNG}\n  Audio: a.wav, b.wav\n"
        "  Reasoning: First\n    second\n"
        "  Assistant [interrupted]: It is\n"
        '  Tool result [no_call]: error: late\n    {"a":1}\n'
        "  Kept in: store:17\n"
    )
    assert plain(run("turns")[1]) == (
        "turn_0001  <time>  session s\n"
        "  User: Look: at this plan (with 3 pictures or recordings)\n"
        "  Assistant [interrupted]: It is\n"
        '  Tool result [no_call]: error: late {"a":1}\n'
    )
    told = json.loads(run("turns", "turn_0001", "--json")[1])
    assert told["traces"] == [trace.to_record() for trace in traces(folder)]


def test_turns_of_a_session_and_turns_that_are_not_there(run: Run, folder: Path) -> None:
    run("record", "user", "one", "--session", "first")
    run("record", "user", "two", "--session", "second")
    assert plain(run("turns", "--session", "first")[1]) == ("turn_0001  <time>  session first\n  User: one\n")
    assert run("turns", "turn_0002", "--session", "second")[0] == 0
    for arguments, sentence in {
        (
            "--session",
            "third",
        ): "Nothing was shown: there is no session 'third'. `looseleaf sessions` lists the last ones.",
        ("turn_0001", "--session", "second"): (
            "Nothing was shown: there is no session 'second' in turn_0001. `looseleaf sessions` lists the last ones."
        ),
        ("turn_0003",): "There is no turn 'turn_0003'. `looseleaf turns` lists the last ones.",
        ("yesterday",): "There is no turn 'yesterday'. `looseleaf turns` lists the last ones.",
        ("-n", "0"): "Nothing was shown: --limit must be at least 1. Without it, the last 20 are shown.",
    }.items():
        assert refuses(run, folder, "turns", *arguments) == sentence
    assert refuses(run, folder, "sessions", "-n", "0").startswith("Nothing was shown: --limit")


def test_sessions_lists_the_last_ones(run: Run) -> None:
    assert run("sessions") == (0, "There are no messages yet.\n", RECORD)
    run("record", "jsonl", "--session", "first", stdin=talk(2))
    run("record", "user", "And\nnow?", "--session", "second")
    assert plain(run("sessions")[1]) == (
        "first  <time> to <time>    2 turns  We decided to keep Python 3.11. What is in part_1.py?\n"
        "second  <time> to <time>     1 turn  And now?\n"
    )
    assert plain(run("sessions", "-n", "1")[1]).startswith("second ")
    assert run("sessions")[2] == "Next: `looseleaf turns --session ID` shows one.\n"
    told = json.loads(run("sessions", "--json")[1])
    assert [(each["session_id"], each["turns"], each["traces"]) for each in told] == [
        ("first", 2, 8),
        ("second", 1, 1),
    ]


# --- window, compact, expand -----------------------------------------------------------


def test_window_shows_what_a_model_is_told(run: Run, folder: Path) -> None:
    assert run("window") == (
        0,
        "0 messages, 0 of 181,616 tokens, since the beginning; no compaction is due\n",
        "",
    )
    lines: list[dict[str, object]] = [
        {"user": "Read\nboth", "media": {"images": [PNG], "video": ["v.mp4"], "audio": ["a.wav"]}},
        {"tool_call": "read", "tool_args": {"path": "a"}, "tool_call_id": "c1"},
        {"tool_call": "read", "tool_args": {"path": "b"}, "tool_call_id": "c2"},
        {"tool_result": ["x", 1], "tool_call_id": "c2"},
        {"tool_error": "gone", "tool_call_id": "c1"},
        {"assistant": "Done.", "reasoning": "Hm"},
    ]
    run("record", "jsonl", stdin="\n".join(map(json.dumps, lines)).encode())
    before = snapshot(folder)
    code, out, err = run("window")
    assert (code, err) == (0, "")
    head, rest = out.split("\n", 1)
    assert re.fullmatch(
        r"5 messages, [\d,]+ of 181,616 tokens, since the beginning; no compaction is due", head
    )
    assert rest == (
        "\nUser: Read\n  both\n"
        f"Images: {PNG}\nAudio: a.wav\nVideo: v.mp4\n"
        '\nTool call (c1): read {"path":"a"}\nTool call (c2): read {"path":"b"}\n'
        '\nTool result (c2): ["x",1]\n'
        "\nTool error (c1): gone\n"
        "\nReasoning: Hm\nAssistant: Done.\n"
    )
    told = json.loads(run("window", "--json", "--model", "gpt-4")[1])
    with Memory(folder) as memory:
        assert told.pop("messages") == [message.to_dict() for message in memory.window.read().messages]
        assert told.pop("tokens") == memory.window.tokens(model="gpt-4")
        assert told.pop("budget") == memory.window.budget("gpt-4").input < 8192
    assert told.pop("known") is True
    assert told == {"mark": None, "entry": None, "since": None, "requested": None, "due": False}
    assert run("record", "user", "one more")[0] == 0
    assert run("window")[1].startswith("6 messages, ")
    del before[next(name for name in before if name.endswith("raw_traces.jsonl"))]
    assert before.items() <= snapshot(folder).items()


def test_one_message_is_no_messages(run: Run) -> None:
    run("record", "user", "hi")
    assert run("window")[1].startswith("1 message, ")


def test_a_window_that_is_too_full_or_asked_to_be_compacted_is_due(run: Run, folder: Path) -> None:
    (folder / "looseleaf.toml").write_text(SMALL)
    run("record", "jsonl", stdin=talk(12))
    told = json.loads(run("window", "--json")[1])
    assert (told["budget"], told["tokens"] > 1700, told["due"]) == (1700, True, True)
    assert run("window")[1].splitlines()[0].endswith("; a compaction is due")
    (folder / "looseleaf.toml").unlink()
    assert run("window")[1].splitlines()[0].endswith("; no compaction is due")
    with Memory(folder) as memory:
        memory.window.request_compaction()
    assert run("window")[1].splitlines()[0].endswith("; a compaction is due, asked for (hard)")
    # A model whose tokens are not counted exactly here has that much less room.
    told = json.loads(run("window", "--json", "--model", "claude-opus-4-1")[1])
    with Memory(folder) as memory:
        assert told["budget"] == int(memory.window.budget("claude-opus-4-1").input / 1.3)


def test_a_compaction_says_what_it_lost_and_expand_brings_it_back(run: Run, folder: Path) -> None:
    (folder / "looseleaf.toml").write_text(SMALL)
    run("record", "jsonl", stdin=talk(12))
    whole = traces(folder)
    before = snapshot(folder)
    code, dry, err = run("compact", "--dry-run")
    assert (code, err) == (0, "")
    assert snapshot(folder) == before
    first, report = dry.split("\n", 1)
    assert first == "A dry run: nothing was written. A compaction would leave this:"
    told = json.loads(run("compact", "--dry-run", "--json")[1])
    assert snapshot(folder) == before
    code, out, err = run("compact")
    entry = told["entry"].rpartition("/")[2]
    found_again = f"everything is still there: looseleaf expand {entry}\n"
    assert (code, out, err) == (0, report + found_again, "")
    assert snapshot(folder) != before
    assert "decisions: 1 in, 1 out\n" in out

    code, out, _ = run("window")
    head, rest = out.split("\n", 1)
    assert re.fullmatch(
        rf"\d+ messages?, [\d,]+ of 1,700 tokens, since the compaction {ID.pattern} "
        rf"\(looseleaf expand {entry}\); no compaction is due",
        head,
    )
    assert rest.startswith("\nUser: [MEMORY:EPISODIC]\n")
    assert "\n  1) (turns 1 to " in rest
    assert "  - Decision: We decided to keep Python 3.11." in rest
    window = json.loads(run("window", "--json")[1])
    assert (window["entry"], window["due"], window["since"]) == (told["entry"], False, whole[-1].id)
    assert window["tokens"] == told["tokens_after"]

    records = json.loads(run("expand", entry, "--json")[1])
    assert records == [trace.to_record() for trace in whole[: told["dropped"]["traces"]]]
    code, out, _ = run("expand", entry)
    assert code == 0
    about, out = out.split("\n\n", 1)
    head, lost = about.split("\n", 1)
    last = whole[told["dropped"]["traces"] - 1].turn_id
    assert plain(head) == f"entry <id> of main, <time>: turn_0001 to {last}"
    assert lost == f"  {report.rstrip()}".replace("\n", "\n  ")
    assert plain(out).startswith(
        "turn_0001  <time>  session <id>\n"
        "  User: We decided to keep Python 3.11. What is in part_1.py?\n"
        '  Tool call: read {"path":"part_1.py"}\n'
        "  Tool result: def part_1(): ...\n    def part_1(): ...\n"
    )
    assert out.count("\n\nturn_") == told["dropped"]["turns"] - 1
    assert out.count("    def part_1(): ...\n") == 29
    assert run("check") == (0, "0 problems\n", "")


def test_a_compaction_that_only_shortens_has_nothing_to_expand(run: Run, folder: Path) -> None:
    (folder / "looseleaf.toml").write_text(SMALL)
    run("record", "user", "Read all of it. " * 1000)
    told = json.loads(run("compact", "--json")[1])
    assert (told["entry"], told["dropped"]["traces"], len(told["shortened"])) == (None, 0, 1)
    head = run("window")[1].splitlines()[0]
    assert re.search(rf" since the compaction {ID.pattern}; no compaction is due$", head)


def test_compact_says_when_there_is_nothing_to_compact(run: Run) -> None:
    sentence = "There was nothing to compact: the window holds only its last turns, which stay.\n"
    assert run("compact") == (0, sentence, "")
    run("record", "user", "hi")
    assert run("compact", "--dry-run", "--model", "gpt-4") == (0, sentence, "")
    assert run("compact", "--json") == (0, "null\n", "")


def test_a_compaction_for_a_smaller_model_leaves_a_smaller_window(run: Run) -> None:
    run("record", "jsonl", stdin=talk(60))
    large = json.loads(run("compact", "--dry-run", "--json")[1])
    small = json.loads(run("compact", "--dry-run", "--json", "--model", "llama-2")[1])
    assert small["tokens_after"] < 4096
    assert small["tokens_after"] < large["tokens_after"]


def test_a_compaction_that_cannot_fit_gets_a_sentence(run: Run, folder: Path) -> None:
    (folder / "looseleaf.toml").write_text(SMALL)
    calls = b"".join(b'{"tool_call": "tool_%d", "tool_args": {"a": "b"}}\n' % number for number in range(300))
    run("record", "jsonl", stdin=calls)
    assert refuses(run, folder, "compact").startswith(
        "The window was not compacted: its fixed part (300 open tool calls, the current turn with its pictures) "
        "does not fit 1,700 tokens. "
        "End calls that get no result: memory.talk.interrupt()."
    )


def test_expand_shows_a_turn_or_a_trace(run: Run, folder: Path) -> None:
    run("record", "jsonl", "--session", "s", stdin=talk(2))
    shown = run("turns", "turn_0002")
    for verb in ("expand", "turns"):
        assert [run(verb, name) for name in ("turn_0002", "turn_2", "2", "02")] == [shown] * 4
    assert json.loads(run("turns", "2", "--json")[1])["turn_id"] == "turn_0002"
    trace = traces(folder)[3]
    assert plain(run("expand", trace.id)[1]) == (
        "turn_0001  <time>  session s\n  Assistant: A function, part_1.\n"
    )
    assert json.loads(run("expand", trace.id, "--json")[1]) == [trace.to_record()]


def test_expand_lists_the_entries_of_the_agent(run: Run, folder: Path) -> None:
    (folder / "looseleaf.toml").write_text(SMALL)
    nothing = "No turn has left the window of main yet: there is no entry.\n"
    assert run("expand") == (0, nothing, "")
    made = []
    for _ in range(2):
        run("record", "jsonl", stdin=talk(12))
        made.append(json.loads(run("compact", "--json")[1]))
    run("record", "jsonl", "--agent", "scout", stdin=talk(12))
    run("compact", "--agent", "scout")
    code, out, err = run("expand")
    assert (code, err) == (0, "")
    ids = [loss["entry"].rpartition("/")[2] for loss in made]
    assert [line.split()[0] for line in out.splitlines()] == ids
    sizes = [f"{loss['dropped']['turns']} turns, {loss['dropped']['tokens']:,} tokens" for loss in made]
    assert [re.split("  +", line)[2:] for line in out.splitlines()] == [[size, "rules/1"] for size in sizes]
    told = json.loads(run("expand", "--json")[1])
    assert [list(each) for each in told] == [["id", "ts", "turns", "traces", "tokens", "distiller"]] * 2
    assert [each["id"] for each in told] == ids
    assert run("expand", "--agent", "guest")[1] == nothing.replace("main", "guest")


@pytest.mark.parametrize("meta", ["{", "{}", "[]", '{"agent": "main", "loss": {"dropped": {"turns": "x"}}}'])
def test_an_entry_that_is_damaged_is_not_listed_and_the_others_are(run: Run, folder: Path, meta: str) -> None:
    (folder / "looseleaf.toml").write_text(SMALL)
    run("record", "jsonl", stdin=talk(12))
    run("compact")
    _, listed, _ = run("expand")
    damaged = folder / "log/entries/sessions/damaged"
    damaged.mkdir()
    (damaged / "summary.json").write_text("{}")
    (damaged / "meta.json").write_text(meta)
    code, out, err = run("expand")
    assert (code, out) == (0, listed)
    assert err.startswith("looseleaf: The entry damaged is not listed: it could not be read. ")


def test_an_entry_without_a_report_is_shown_without_it(run: Run, folder: Path) -> None:
    (folder / "looseleaf.toml").write_text(SMALL)
    run("record", "jsonl", stdin=talk(12))
    entry = json.loads(run("compact", "--json")[1])["entry"]
    meta = folder / "log/entries" / entry / "meta.json"
    members = json.loads(meta.read_text())
    del members["loss"]
    meta.chmod(0o600)
    meta.write_text(json.dumps(members))
    name = entry.rpartition("/")[2]
    code, out, _ = run("expand", name)
    head, rest = out.split("\n\n", 1)
    assert (code, head) == (0, f"entry {name}: its report cannot be read. `looseleaf check` says more.")
    assert rest.startswith("turn_0001  ")


def test_a_model_that_is_not_known_is_said_to_be_unknown(run: Run, folder: Path) -> None:
    run("record", "user", "hi")
    sentence = "the model 'frob-9' is not known: 8,192 tokens are assumed; set context_tokens"
    assert run("window", "--model", "frob-9")[1].splitlines()[0] == sentence
    assert json.loads(run("window", "--model", "frob-9", "--json")[1])["known"] is False
    assert run("window", "--model", "openai/gpt-4o-2024-08-06")[1].startswith("1 message, ")
    settings = folder / "looseleaf.toml"
    settings.write_text('model = "frob-9"\n')
    assert run("window")[1].splitlines()[0] == sentence
    settings.write_text('model = "frob-9"\ncontext_tokens = 8000\n')
    assert run("window")[1].startswith("1 message, ")


@pytest.mark.parametrize(
    "name", ["nothing", "turn_0009", "../../USER.md", "", "a/b/c", "e\x1b[2Jvil", "x" * 5000]
)
def test_expand_of_what_is_not_there_gets_a_sentence(run: Run, folder: Path, name: str) -> None:
    run("record", "user", "hi")
    said = refuses(run, folder, "expand", name)
    if name == "turn_0009":
        assert said == "There is no turn 'turn_0009'. `looseleaf turns` lists the last ones."
    else:
        assert said.startswith("Nothing was shown: there is no entry, turn or trace ")
    assert STEERING.search(said) is None


# --- hostile content -------------------------------------------------------------------


def test_nothing_that_was_said_steers_a_terminal(run: Run, folder: Path) -> None:
    (folder / "looseleaf.toml").write_text(SMALL)
    evil = f"{EVIL}\n\ttab\r\n{'long ' * 40}"
    assert run("record", "user", stdin=evil.encode())[0] == 0
    assert run("record", "tool_call", "--args", json.dumps({EVIL: [evil]}), stdin=EVIL.encode())[0] == 0
    assert run("record", "tool_result", "--error", evil)[0] == 0
    more = {"assistant": evil, "reasoning": evil, "tags": [evil], "media": {"images": [evil]}}
    assert run("record", "jsonl", stdin=json.dumps(more).encode() + b"\n" + talk(12))[0] == 0
    base = ("--memory", folder)
    compacted = on_a_terminal(*base, "compact")
    entry = re.findall(r"looseleaf expand (\w+)", compacted[1])[-1]
    seen = {
        "compact": compacted,
        "turns": on_a_terminal(*base, "turns"),
        "one turn": on_a_terminal(*base, "turns", "turn_0001"),
        "turns as json": on_a_terminal(*base, "turns", "--json"),
        "sessions": on_a_terminal(*base, "sessions"),
        "window": on_a_terminal(*base, "window"),
        "expand": on_a_terminal(*base, "expand", entry),
        "record": on_a_terminal(*base, "record", "user", EVIL.replace("\0", ""), "--turn", "turn_\x1b[2J"),
    }
    assert {name: STEERING.findall(sent) for name, (_, sent) in seen.items()} == {name: [] for name in seen}
    assert {name: code for name, (code, _) in seen.items() if code} == {"record": 2}
    assert "red \\x1b[31m title \\x1b]0;evil\\x07 back\\x0dover" in seen["one turn"][1]
    assert "\n    \ttab\n    long long" in seen["one turn"][1]
    assert "red \\x1b[31m" in seen["expand"][1]


def test_half_characters_and_bytes_that_are_no_text_are_kept_and_written_out(folder: Path) -> None:
    script(folder, "record", "user", b"caf\xe9 \xff")
    script(folder, "record", "tool_call", "ls", "--args", '{"\\ud800": "\\udfff"}')
    first, second = traces(folder)
    assert (first.content, second.tool_args) == ("caf\udce9 \udcff", {"\ud800": "\udfff"})
    out = script(folder, "turns")
    assert "  User: caf\\udce9 \\udcff\n" in out
    assert '  Tool call: ls {"\\ud800":"\\udfff"}\n' in out
    assert json.loads(script(folder, "turns", "turn_0001", "--json"))["traces"][0]["content"] == first.content
    assert "User: caf\\udce9 \\udcff\n" in script(folder, "window")


def test_a_huge_text_is_recorded_whole_and_listed_short(folder: Path) -> None:
    huge = "All work and no play makes a dull log. " * 80_000
    script(folder, "record", "tool_result", "--name", "cat", stdin=huge.encode())
    assert traces(folder)[0].tool_result == huge
    listed = script(folder, "turns")
    assert (len(listed) < 400, listed.endswith(f" … ({len(huge):,} characters)\n")) == (True, True)
    assert huge in script(folder, "expand", "turn_0001")


TEXT = st.text(st.characters() | st.sampled_from("\n\r\t :\u2028\x0b\x85\x1b")) | st.sampled_from(
    [
        "x\n  Assistant: forged",
        "\r\nUser: forged",
        "\n\nturn_0009  2026-01-01 00:00:00  session s",
        "x\n\nUser: y",
    ]
)
TRACE = st.builds(
    Trace,
    TEXT,
    st.floats() | st.integers(),
    st.just("turn_0001"),
    st.just(1),
    st.sampled_from(TRACE_TYPES),
    TEXT,
    TEXT,
    TEXT,
    TEXT,
    media=st.none() | st.fixed_dictionaries({"images": st.lists(TEXT, max_size=2)}),
    reasoning=st.none() | TEXT,
    tool_name=st.none() | TEXT,
    tool_args=st.none() | st.dictionaries(TEXT, TEXT, max_size=2),
    tool_result=st.none() | TEXT,
    tool_error=st.none() | TEXT,
    tool_result_ref=st.none() | TEXT,
    tags=st.lists(TEXT, max_size=2).map(tuple),
    flag=st.none() | st.just("no_call"),
)
LABEL = r"(User|Assistant|Tool call|Tool result)( \[.*\])?|Reasoning|Images|Kept in"


def printed(text: str) -> list[str]:
    """The lines that a person sees."""
    with io.StringIO() as out:
        stdout, sys.stdout = sys.stdout, out
        try:
            cli.say(text)
        finally:
            sys.stdout = stdout
        assert STEERING.sub("", out.getvalue()) == out.getvalue()
        return out.getvalue().removesuffix("\n").split("\n")


@given(st.lists(TRACE, min_size=1, max_size=3), st.booleans())
def test_no_text_passes_for_another_speaker_or_turn(said: list[Trace], whole: bool) -> None:
    head, *lines = printed(cli_talk.turn_text(Turn("turn_0001", tuple(said)), whole=whole))
    assert head.startswith("turn_0001  ")
    own = [line for line in lines if not line.startswith("    ")]
    assert len(own) == sum(len(list(cli_talk.trace_parts(trace, whole))) for trace in said)
    assert all(re.match(f"  ({LABEL}): ?", line) for line in own)
    if not whole:
        assert len(lines) == len(said)


MESSAGE = st.builds(
    Message,
    st.sampled_from(["system", "user", "assistant"]),
    st.none() | TEXT,
    st.none() | TEXT,
    st.lists(TEXT, max_size=2).map(tuple),
    tool_payload=st.none()
    | st.builds(ToolCallPayload, st.tuples(st.builds(ToolCallSpec, TEXT, TEXT, TEXT)))
    | st.builds(ToolResultPayload, TEXT, TEXT, st.none() | TEXT, st.none() | TEXT),
)


@given(MESSAGE)
def test_no_message_passes_for_two(message: Message) -> None:
    parts = list(cli_talk.message_parts(message))
    lines = printed("\n".join(cli_talk.message_lines(message))) if parts else []
    own = [line for line in lines if not line.startswith("  ")]
    assert len(own) == len(parts)
    labels = "System|User|Assistant|Reasoning|Images|Tool (call|result|error) \\(.*\\)"
    assert all(re.match(f"({labels}): ?", line) for line in own)


# --- the cold start --------------------------------------------------------------------


def test_recording_loads_nothing_heavy(folder: Path) -> None:
    script(folder, "record", "user", "first")
    code = "from looseleaf.cli.main import main\nmain(sys.argv[1:])"
    loaded = modules_after(code, "--memory", folder, "record", "user", "hi") - modules_after("pass")
    assert "looseleaf.log.recorder" in loaded
    heavy = {*HEAVY, "sqlite3", "tomllib", "argparse", "splintr", "threading"} - {
        "ctypes"
    }  # writing needs it
    assert sorted(loaded & heavy) == []
    apart = (
        "looseleaf.models",
        "looseleaf.distill",
        "looseleaf.window.compact",
        "looseleaf.window.compact",
        "looseleaf.pages.history",
    )
    assert sorted(name for name in loaded if name.startswith(apart)) == []
    assert len(traces(folder)) == 2


def test_showing_a_page_loads_nothing_of_the_conversation(folder: Path) -> None:
    (folder / "USER.md").write_text("- Name: Ada\n")
    os.utime(folder / "USER.md", (1, 1))
    main(["--memory", str(folder), "show", "USER.md"])
    code = "from looseleaf.cli.main import main\nmain(sys.argv[1:])"
    loaded = modules_after(code, "--memory", folder, "show", "USER.md")
    assert "looseleaf.pages.pages" in loaded
    assert (
        sorted(
            loaded
            & {
                f"looseleaf.{name}"
                for name in ("cli.verbs.window", "window.conversation", "log.recorder", "base.messages")
            }
        )
        == []
    )
