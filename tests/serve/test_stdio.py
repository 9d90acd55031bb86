"""The server over standard input and output: byte by byte, in both eras, with the official SDK as the judge."""

from __future__ import annotations

import io
import json
import os
import shutil
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

import anyio
import mcp_types as types
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from mcp.shared.message import SessionMessage
from pydantic import ValidationError

from conftest import Run
from looseleaf.base.errors import Refused
from looseleaf.cli.main import main
from looseleaf.memory import Memory
from looseleaf.memory.thread import MemoryThread
from looseleaf.serve import stdio
from looseleaf.serve.mcp import server
from looseleaf.serve.protocol import HANDSHAKES, MODERN, Session
from looseleaf.tools.catalogue import TOOLS
from looseleaf.tools.tool import ToolAnswer
from mcp_serving import add_tool, filled

Message = dict[str, Any]

VERSION = "io.modelcontextprotocol/protocolVersion"
ABILITIES = "io.modelcontextprotocol/clientCapabilities"
ENVELOPE: Message = {VERSION: MODERN[0], ABILITIES: {}}
INITIALIZED: Message = {"jsonrpc": "2.0", "method": "notifications/initialized"}


@pytest.fixture(scope="module")
def template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return filled(tmp_path_factory.mktemp("stdio") / "memory")


@pytest.fixture
def memory(template: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(template, tmp_path / "memory"))


def asking(method: str, name: Any = 1, /, **params: Any) -> Message:
    return {"jsonrpc": "2.0", "id": name, "method": method} | ({"params": params} if params else {})


def opening(version: str = HANDSHAKES[-1]) -> Message:
    about = {"name": "test", "version": "1"}
    return asking("initialize", 0, protocolVersion=version, capabilities={}, clientInfo=about)


def calling(tool: str, arguments: Message, name: Any = 1) -> Message:
    return asking("tools/call", name, name=tool, arguments=arguments)


def taking_back(name: Any) -> Message:
    return {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": name}}


def lines(*messages: Any) -> bytes:
    return b"".join(json.dumps(each).encode() + b"\n" for each in messages)


class Typed:
    """A standard input whose lines come when they are made."""

    def __init__(self, said: Iterator[bytes]) -> None:
        self._said = (line for part in said for line in part.splitlines(keepends=True))
        self.buffer = self

    def readline(self, _: int) -> bytes:
        return next(self._said, b"")

    def fileno(self) -> int:
        raise OSError


def served(
    folder: Path, said: bytes | Iterator[bytes], open_memory: Callable[[], Memory] | None = None
) -> list[Any]:
    """What the server writes to a client that says all this and closes its end."""
    source: Any = io.TextIOWrapper(io.BytesIO(said)) if isinstance(said, bytes) else Typed(said)
    out = io.BytesIO()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys, "stdin", source)
        patch.setattr(sys, "stdout", io.TextIOWrapper(out))
        stdio.serve(lambda: str(folder), open_memory or (lambda: Memory(folder)))
        return [json.loads(line) for line in out.getvalue().splitlines()]


def codes(answers: Iterable[Message]) -> list[tuple[Any, int]]:
    return [(each["id"], each["error"]["code"]) for each in answers]


# --- the SDK is the judge ----------------------------------------------------------------


def judged(keeper: MemoryThread, said: list[bytes]) -> list[Message]:
    """What the SDK's server answers to the same lines. What it takes for no message, it passes over; there the answer
    is what JSON-RPC wants."""
    answers: list[Message] = []

    async def session() -> None:
        to, read = anyio.create_memory_object_stream[Any](0)
        write, out = anyio.create_memory_object_stream[Any](9)
        made = server(lambda _: keeper)
        async with out, anyio.create_task_group() as tasks:
            tasks.start_soon(made.run, read, write, made.create_initialization_options())
            for line in said:
                try:
                    text = line.decode("utf-8", "replace")
                    message = types.jsonrpc_message_adapter.validate_json(text, by_name=False)
                except ValidationError as error:
                    is_json = error.errors()[0]["type"] != "json_invalid"
                    answers.append({"id": None, "error": {"code": -32600 if is_json else -32700}})
                    continue
                await to.send(SessionMessage(message))
                if isinstance(message, types.JSONRPCRequest):
                    answer = (await out.receive()).message
                    answers.append(json.loads(answer.model_dump_json(by_alias=True, exclude_unset=True)))
            await to.aclose()
            tasks.cancel_scope.cancel()

    anyio.run(session)
    return answers


NOT_SERVED = ("completion/complete", "logging/setLevel", "resources/subscribe", "subscriptions/listen")
METHODS = (
    *("ping", "tools/list", "tools/call", "resources/list", "resources/templates/list", "resources/read"),
    *("prompts/list", "prompts/get", "server/discover", "initialize", "tasks/list", "nope", ""),
    *NOT_SERVED,
)

JUNK = st.sampled_from([None, True, 0, 7, 1.5, "", "x", "烏龍", [], ["x"], {}, {"x": 1}])
IDS = st.integers() | st.text(st.characters(exclude_categories=["Cs"]), max_size=5)


@st.composite
def params(draw: st.DrawFn, method: str) -> Any:
    """The members that a method has, most of them sound; or anything."""
    if draw(st.integers(0, 9)) == 0:
        return draw(JUNK)
    about = {"name": "test", "version": "1"}
    sound: dict[str, st.SearchStrategy[Any]] = {
        "name": st.sampled_from(["memory_list", "memory_read", "start", "nope"]),
        "arguments": st.sampled_from([None, {}, {"path": "facts/work.md"}, {"path": 7}, {"task": "tea"}]),
        "uri": st.sampled_from(["looseleaf://index", "looseleaf://page/USER.md", "looseleaf://topic/no", ""]),
        "cursor": st.sampled_from([None, "x"]),
        "protocolVersion": st.sampled_from([*HANDSHAKES, "2026-07-28", "1999-01-01"]),
        "capabilities": st.just({}),
        "clientInfo": st.just(about),
        "_meta": st.sampled_from([None, {}, {"progressToken": 7}, {"progressToken": "x"}, {"x": []}]),
    }
    names = {"initialize": ("protocolVersion", "capabilities", "clientInfo")}.get(method)
    wanted = names or tuple(name for name in ("name", "arguments", "uri", "cursor") if draw(st.booleans()))
    made = {name: draw(sound[name]) for name in wanted}
    if draw(st.integers(0, 3)) == 0:
        made["_meta"] = draw(sound["_meta"])
    if draw(st.integers(0, 4)) == 0:
        made[draw(st.sampled_from([*sound, "x"]))] = draw(JUNK)
    return made


@st.composite
def requests(draw: st.DrawFn) -> Message:
    method = draw(st.sampled_from(METHODS))
    made: Message = {"jsonrpc": "2.0", "id": draw(IDS), "method": method}
    if draw(st.integers(0, 3)):
        made["params"] = draw(params(method))
    if draw(st.integers(0, 9)) == 0:
        made[draw(st.sampled_from(["jsonrpc", "id", "method", "params", "result", "x"]))] = draw(JUNK)
    return made


HOSTILE = st.sampled_from(
    [
        *(
            b"x",
            b"{",
            b"[]",
            b"[[]]",
            b"7",
            b'"x"',
            b"null",
            b"{}",
            b"\xff\xfe",
            b"\x00",
            b'{"jsonrpc": "2.0"}',
        ),
        *(b'{"jsonrpc":"2.0","id":1,"method":"ping"} x', b'\xef\xbb\xbf{"jsonrpc":"2.0","method":"ping"}'),
        *(
            b'{"jsonrpc":"2.0","id":"\\ud800","method":"ping"}',
            b'{"jsonrpc":"2.0","id":"\xff","method":"ping"}',
        ),
        *(b"[" * 5000, b'{"x":' * 5000, b'{"jsonrpc":"2.0","id":1,"id":2,"method":"ping"}', b"1" * 5000),
        *(b'{"jsonrpc":"2.0","id":3,"method":"ping","params":{"x":NaN}}', lines(INITIALIZED).strip()),
        lines([asking("ping"), asking("tools/list", 2)]).strip(),
    ]
)


def alike(answer: Message) -> Any:
    """What two servers must have in common. An error has words of its own."""
    error = answer.get("error")
    told = answer["result"] if error is None else error["code"]
    return json.dumps([answer["id"], told], sort_keys=True)


def is_left_open(message: Any) -> bool:
    """True where ours does otherwise, for a reason.

    - An id that is neither a text nor a whole number: the SDK takes the request for a notification; ours says what is
      wrong with it. `null` is a notification to both.
    - What is no message but has an id: ours says so to that id, for which a client waits.
    - An answer that is no sound one is passed over like any other: an error could be answered in turn.
    - A method that is not served is not there, whatever its members; the SDK looks at them first.
    - An envelope among requests without: ours serves both.
    """
    if not isinstance(message, dict):
        return False
    given = message.get("params")
    meta = given.get("_meta") if isinstance(given, dict) else None
    is_odd = message.get("jsonrpc") != "2.0" or "result" in message or "error" in message
    is_odd |= not isinstance(message.get("method"), str) or not (given is None or isinstance(given, dict))
    name = message.get("id")
    is_named = name is None or (isinstance(name, (str, int)) and not isinstance(name, bool))
    return (
        is_odd
        or not is_named
        or message["method"] in NOT_SERVED
        or (isinstance(meta, dict) and VERSION in meta)
    )


@pytest.mark.parametrize("era", ["handshake", "envelope", "unopened"])
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_it_answers_what_the_sdk_answers(template: Path, era: str, data: st.DataObject) -> None:
    said: list[Any] = data.draw(st.lists(requests() | HOSTILE, max_size=12))
    said = [each for each in said if isinstance(each, bytes) or not is_left_open(each)]
    if era == "handshake":
        said = [opening(data.draw(st.sampled_from([*HANDSHAKES, "2099-01-01"]))), *said]
        if data.draw(st.booleans()):
            said.insert(1, INITIALIZED)
    if era == "envelope":  # each request has one, and none opens a session
        said = [each for each in said if isinstance(each, bytes) or each["method"] != "initialize"]
        for each in said:
            if isinstance(each, dict) and isinstance(each.get("params") or {}, dict):
                each["params"] = (each.get("params") or {}) | {"_meta": ENVELOPE}
        said = [asking("server/discover", 0, _meta=ENVELOPE), *said]
        said = [each for each in said if not isinstance(each, bytes) or b'"id"' not in each]
    if era == "unopened":
        said = [each for each in said if isinstance(each, bytes) or each["method"] != "initialize"]
    written = [each if isinstance(each, bytes) else json.dumps(each).encode() for each in said]
    # Several messages in a line are served in one version alone, and by the SDK in none.
    written = [each for each in written if not each.startswith((b"[{", b"[[]"))]
    with MemoryThread(lambda: Memory(template)) as keeper:
        wanted = judged(keeper, written)
    found = served(template, b"".join(each + b"\n" for each in written))
    assert sorted(map(alike, found)) == sorted(map(alike, wanted))


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    said=st.lists(requests() | HOSTILE | st.binary(max_size=60), max_size=20),
    version=st.sampled_from(HANDSHAKES),
)
def test_every_request_gets_one_answer_and_nothing_else_is_written(
    template: Path, said: list[Any], version: str
) -> None:
    said = [each for each in said if isinstance(each, dict) or b'"id"' not in each]
    written = [
        each.replace(b"\n", b"") if isinstance(each, bytes) else json.dumps(each).encode() for each in said
    ]
    answers = served(template, lines(opening(version)) + b"".join(each + b"\n" for each in written))
    found = [each for answer in answers for each in (answer if isinstance(answer, list) else [answer])]
    assert all(
        each["jsonrpc"] == "2.0" and ("result" in each) != ("error" in each) and len(each) == 3
        for each in found
    )
    ids = [each["id"] for each in said if isinstance(each, dict)]
    wanted = [0, *(each for each in ids if isinstance(each, (str, int)) and not isinstance(each, bool))]
    told = [each["id"] for each in found if each["id"] is not None]
    assert sorted(map(json.dumps, told)) == sorted(map(json.dumps, wanted))


# --- lines ------------------------------------------------------------------------------


def test_what_was_asked_before_the_client_closes_its_end_is_answered(run: Run, folder: Path) -> None:
    """A script that writes its requests and closes; also an answer to what was never asked."""
    code, out, err = run(
        "mcp",
        stdin=lines(
            opening(),
            INITIALIZED,
            calling("memory_list", {}, 1),
            calling("remember", {"topic": "tea", "content": "It is hot."}, 2),
            {"jsonrpc": "2.0", "id": 9, "result": {}},
        ),
    )
    assert (code, err) == (0, "")
    first, *_, last = map(json.loads, out.splitlines())
    assert first["result"]["serverInfo"]["name"] == "looseleaf"
    assert last["id"] == 2
    assert last["result"]["structuredContent"]["success"] is True
    assert "It is hot." in (folder / "facts" / "tea.md").read_text(encoding="utf-8")


def test_a_line_that_is_no_message_is_answered_and_an_empty_one_is_not(run: Run) -> None:
    unfit = b'\n  \n{"jsonrpc": "2.0"\n[]\n7\n{"jsonrpc": "1.0", "id": 5, "method": "ping"}\n'
    code, out, err = run("mcp", stdin=unfit + lines(opening()))
    assert (code, err) == (0, "")
    *refused, last = map(json.loads, out.splitlines())
    assert codes(refused) == [(None, -32700), (None, -32600), (None, -32600), (5, -32600)]
    assert all(each["error"]["message"].startswith("Nothing was done: ") for each in refused)
    assert last["result"]["serverInfo"]["name"] == "looseleaf"


def test_a_line_that_is_too_long_is_passed_over_and_the_next_is_served(
    template: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(stdio, "LINE_BYTES", 100)
    fit = json.dumps(asking("ping", 7)).encode()
    said = b"x" * 1000 + b"\n" + fit.ljust(100) + b"\n" + fit.ljust(101) + b"\n" + fit + b"\n" + b"y" * 350
    found = served(template, said)
    assert [each["id"] for each in found] == [None, 7, None, 7, None]
    assert "longer than 100 bytes" in found[0]["error"]["message"]


def test_several_messages_in_a_line_are_answered_in_one_where_the_version_has_that(template: Path) -> None:
    batch = [asking("ping", 1), INITIALIZED, calling("memory_list", {}, 2), asking("nope", 3), 7]
    unanswered = [INITIALIZED, {"jsonrpc": "2.0", "id": 9, "result": {}}]
    said = lines(opening("2025-03-26"), batch, unanswered, [], asking("ping", 4))
    found = served(template, said)
    [several] = [each for each in found if isinstance(each, list)]
    assert sorted(str(each["id"]) for each in several) == ["1", "2", "3", "None"]
    assert [each["id"] for each in found if isinstance(each, dict)] == [0, None, 4]
    found = served(template, lines(opening(), batch))
    assert codes(found[1:]) == [(None, -32600)]


@pytest.mark.parametrize("version", [*HANDSHAKES, "2099-01-01"])
def test_a_handshake_is_in_the_version_of_the_client_or_in_the_newest(template: Path, version: str) -> None:
    [answer] = served(template, lines(opening(version)))
    assert answer["result"]["protocolVersion"] == (version if version in HANDSHAKES else HANDSHAKES[-1])


def test_a_client_may_begin_again_in_the_other_era(template: Path) -> None:
    """One that has looked for a newer version than this server speaks falls back to the handshake."""
    newer = asking("server/discover", 1, _meta=ENVELOPE | {VERSION: "2099-01-01"})
    said = lines(newer, opening(), asking("tools/list", 2), asking("tools/list", 3, _meta=ENVELOPE))
    first, _, second, third = served(template, said)
    assert first["error"]["data"] == {"supported": list(MODERN), "requested": "2099-01-01"}
    assert second["result"]["tools"] == third["result"]["tools"]
    assert third["result"]["resultType"] == "complete"


# --- calls under way ----------------------------------------------------------------------


def test_what_needs_no_memory_is_answered_while_a_call_runs(
    template: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    begun, go = threading.Event(), threading.Event()

    def slow(memory: Memory, arguments: Any) -> ToolAnswer:
        begun.set()
        assert go.wait(60)
        return ToolAnswer(None, {}, "slow")

    add_tool(monkeypatch, "slow", slow)

    def said() -> Iterator[bytes]:
        yield lines(opening(), calling("slow", {}, 1))
        assert begun.wait(60)
        yield lines(asking("ping", 2), asking("tools/list", 3), opening() | {"id": 4})
        go.set()

    found = served(template, said())
    assert [each["id"] for each in found] == [0, 2, 3, 4, 1]


def test_what_a_client_takes_back_gets_no_answer_and_does_not_begin(
    template: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    begun, go, done = threading.Event(), threading.Event(), []

    def slow(memory: Memory, arguments: Any) -> ToolAnswer:
        done.append(arguments["x"])
        begun.set()
        assert go.wait(60)
        return ToolAnswer(None, {}, "slow")

    add_tool(monkeypatch, "slow", slow)

    def said() -> Iterator[bytes]:
        yield lines(opening("2025-03-26"), calling("slow", {"x": 1}, 1))
        assert begun.wait(60)
        yield lines(
            calling("slow", {"x": 2}, "2"), [calling("slow", {"x": 3}, 3), calling("slow", {"x": 4}, 4)]
        )
        yield lines(taking_back(1), taking_back(2), taking_back(3), taking_back("no"), taking_back([]))
        go.set()

    first, second = served(template, said())
    assert (first["id"], [each["id"] for each in second]) == (0, [4])
    assert done == [1, 4]


def test_a_client_that_asks_and_does_not_wait_is_not_read_from(
    template: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also if it gives one id again and again. Then all is answered."""
    go = threading.Event()
    most, number = 0, 3 * stdio.UNDER_WAY

    def slow(memory: Memory, arguments: Any) -> ToolAnswer:
        assert go.wait(60)
        return ToolAnswer(None, {}, "slow")

    add_tool(monkeypatch, "slow", slow)

    def said() -> Iterator[bytes]:
        nonlocal most
        yield lines(opening())
        for each in range(number):
            if each == stdio.UNDER_WAY:
                threading.Timer(0.2, go.set).start()
            most = max(most, each) if not go.is_set() else most
            yield lines(calling("slow", {}, each % 2))

    found = served(template, said())
    assert most == stdio.UNDER_WAY
    assert len(found) == number + 1


class Gone(io.BytesIO):
    def write(self, _: Any) -> int:
        raise BrokenPipeError


@pytest.mark.parametrize("message", [asking("ping"), opening()], ids=["ping", "opening"])
def test_a_client_that_goes_away_ends_the_server(
    template: Path, monkeypatch: pytest.MonkeyPatch, message: Message
) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(lines(message))))
    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(Gone()))
    stdio.serve(lambda: str(template), lambda: Memory(template))


def test_a_client_that_goes_away_while_its_call_runs_ends_nothing_else(
    template: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    said = asking("tools/call", 1, name="memory_list", _meta=ENVELOPE)
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(lines(said, said))))
    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(Gone()))
    stdio.serve(lambda: str(template), lambda: Memory(template))
    assert caplog.text == ""


# --- a memory that is not there ------------------------------------------------------------


def test_a_memory_that_is_not_there_is_an_answer_to_each_call_until_it_is(template: Path) -> None:
    """A model can pass that on; a server that does not start is a line in a log."""
    tries = 0

    def open_memory() -> Memory:
        nonlocal tries
        tries += 1
        if tries < 3:
            raise Refused("Nothing was done: there is no memory here.")
        return Memory(template)

    said = lines(
        opening(),
        asking("tools/list", 1),
        calling("memory_list", {}, 2),
        asking("prompts/get", 3, name="start"),
    )
    found = {
        each["id"]: each
        for each in served(template, said + lines(calling("memory_list", {}, 4)), open_memory)
    }
    assert len(found[1]["result"]["tools"]) == len(TOOLS)
    assert found[2]["result"]["isError"] is True
    assert found[2]["result"]["content"][0]["text"] == "Nothing was done: there is no memory here."
    assert (found[3]["error"]["code"], found[3]["error"]["message"]) == (
        -32602,
        "Nothing was done: there is no memory here.",
    )
    assert found[4]["result"]["isError"] is False


def test_what_is_listed_where_no_memory_is_or_may_be_looked_for(template: Path, tmp_path: Path) -> None:
    """The index is there to be read, which says what is missing."""
    said = lines(opening(), asking("resources/list"))
    [_, listed] = served(tmp_path / "absent", said)
    assert [each["uri"] for each in listed["result"]["resources"]] == ["looseleaf://index"]

    def refuse() -> str:
        raise Refused("The nearest memory belongs to another user.")

    session = Session(refuse)
    session.answer(opening())
    refused: Any = session.answer(asking("resources/list"))
    assert codes([refused]) == [(1, -32602)]
    assert refused["error"]["message"] == "The nearest memory belongs to another user."


@pytest.mark.parametrize(
    "meta", [{VERSION: MODERN[0]}, ENVELOPE | {VERSION: 7}, {VERSION: MODERN[0], ABILITIES: 7}]
)
def test_an_envelope_that_is_not_whole_is_refused_with_a_sentence(template: Path, meta: Message) -> None:
    [answer] = served(template, lines(asking("tools/list", _meta=meta)))
    assert codes([answer]) == [(1, -32602)]
    assert f"needs a text {VERSION!r}" in answer["error"]["message"]


def test_the_command_serves_also_where_there_is_no_memory_yet(run: Run, tmp_path: Path) -> None:
    said = lines(opening(), calling("memory_list", {}))
    code, out, _ = run("--memory", str(tmp_path / "absent"), "mcp", stdin=said)
    last = json.loads(out.splitlines()[-1])
    assert code == 0
    assert "looseleaf init" in last["result"]["content"][0]["text"]


# --- the process ---------------------------------------------------------------------------

ASCII = {"PYTHONUTF8": "0", "PYTHONIOENCODING": "ascii", "PYTHONCOERCECLOCALE": "0"}
"""An environment in which Python's own streams could not carry a page of Chinese."""

NOISY = """
import os, sys, warnings, logging
from looseleaf.tools import catalogue, toolset
from looseleaf.tools.tool import ToolAnswer, Tool

def noise(memory, arguments):
    print("noise by print"); sys.stdout.flush()
    os.write(1, b"noise by descriptor\\n")
    os.system("echo noise by a child")
    warnings.warn("noise by warning")
    logging.getLogger("x").error("noise by log")
    sys.__stdout__.write("noise by the old name\\n"); sys.__stdout__.flush()
    return ToolAnswer(None, {}, "烏龍")

shape = {"type": "object"}
catalogue.TOOLS["noise"] = Tool("noise", "Noise", "", shape, shape)
toolset.RUNS["noise"] = noise
from looseleaf.cli.main import run
run()
"""


@pytest.mark.parametrize(
    "end", [signal.SIGTERM, pytest.param(signal.SIGINT, marks=pytest.mark.long)], ids=["term", "int"]
)
def test_there_is_nothing_but_the_protocol_on_standard_output(memory: Path, end: signal.Signals) -> None:
    """Byte by byte, in an older version of the protocol; and the process ends in order when it is told to."""
    process = subprocess.Popen(
        [sys.executable, "-c", NOISY, "--memory", str(memory), "mcp"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=os.environ | ASCII | {"LANG": "C.UTF-8"},
    )
    assert process.stdin
    assert process.stdout
    assert process.stderr
    answers: list[dict[str, Any]] = []

    def say(*messages: dict[str, Any], answered: int) -> None:
        assert process.stdin
        assert process.stdout
        for message in messages:
            process.stdin.write(json.dumps(message, ensure_ascii=False).encode() + b"\n")
        process.stdin.flush()
        answers.extend(json.loads(process.stdout.readline()) for _ in range(answered))

    with process:
        say(opening(HANDSHAKES[2]), INITIALIZED, answered=1)
        process.stdin.write(b"this is not JSON\n\xff\xfe\n")
        say(
            calling("noise", {}, 1), calling("remember", {"topic": "tea", "content": "烏龍茶"}, 2), answered=4
        )
        process.send_signal(end)
        rest, said = process.stdout.read(), process.stderr.read()
    assert process.returncode == 0, said
    assert answers[0]["result"]["protocolVersion"] == HANDSHAKES[2]
    assert [(each["id"], each["error"]["code"]) for each in answers[1:3]] == [(None, -32700)] * 2
    assert answers[3]["result"]["content"] == [{"type": "text", "text": "烏龍"}]
    assert answers[4]["result"]["isError"] is False
    assert rest == b""
    for way in ("print", "descriptor", "a child", "warning", "log", "the old name"):
        assert f"noise by {way}".encode() in said
    with Memory(memory) as left:
        assert left.check() == []
        assert "烏龍茶" in left.pages.read("facts/tea.md").text


def test_a_person_who_starts_it_by_hand_is_told_what_it_waits_for(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    class Terminal(io.BytesIO):
        def isatty(self) -> bool:
            return True

    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(Terminal()))
    assert main(["--memory", str(folder), "mcp"]) == 0
    assert capsys.readouterr() == (
        "",
        "looseleaf: waiting for an MCP client on standard input; Ctrl-C ends it\n",
    )
    monkeypatch.setattr(sys, "stdin", None)
    assert main(["--memory", str(folder), "mcp"]) == 2
    assert "standard input is closed" in capsys.readouterr().err


HEAVY = "mcp mcp_types pydantic anyio asyncio sqlite3 _sqlite3 threading logging concurrent looseleaf.memory".split()


def test_tools_are_listed_before_anything_is_loaded_that_only_calls_need(memory: Path) -> None:
    program = "import sys\nfrom looseleaf.cli.main import main\nmain()\nprint(*sys.modules, file=sys.stderr)"
    done = subprocess.run(
        [sys.executable, "-c", program, "--memory", str(memory), "mcp"],
        input=lines(opening(), asking("tools/list")),
        capture_output=True,
        check=True,
        env={name: value for name, value in os.environ.items() if not name.startswith("COV")},
    )
    loaded = set(done.stderr.decode().split())
    assert len(json.loads(done.stdout.splitlines()[-1])["result"]["tools"]) == len(TOOLS)
    assert "looseleaf.serve.stdio" in loaded
    assert sorted(loaded.intersection(HEAVY)) == []


def test_it_needs_no_package_of_an_extra(memory: Path) -> None:
    program = (
        "import sys; sys.modules['mcp_types'] = None; sys.modules['mcp'] = None\n"
        "from looseleaf.cli.main import run; run()"
    )

    def started(*arguments: str) -> subprocess.CompletedProcess[bytes]:
        command = [sys.executable, "-c", program, "--memory", str(memory), "mcp", *arguments]
        return subprocess.run(
            command, input=lines(opening(), calling("memory_list", {})), capture_output=True, check=False
        )

    done = started()
    assert (done.returncode, done.stderr) == (0, b"")
    assert b"facts/work.md" in done.stdout
    done = started("--http")
    assert (done.returncode, done.stdout) == (2, b"")
    assert done.stderr.decode() == (
        "looseleaf: No server was started: over HTTP it needs the package mcp, which is missing or too old. Install it "
        "with `pip install 'mcp>=2.3,<3'` (the extra `mcp`).\n"
    )
