"""The MCP server, by the official client: in this process, as a process of its own, over HTTP; in both eras."""

from __future__ import annotations

import os
import shutil
import sys
import threading
from collections.abc import Awaitable, Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any
from urllib.parse import quote

import anyio
import httpx2
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from jsonschema_rs import Draft202012Validator
from mcp import Client, MCPError, StdioServerParameters
from mcp.client.streamable_http import streamable_http_client

from looseleaf.base.errors import Refused
from looseleaf.memory import Memory
from looseleaf.memory.thread import MemoryThread
from looseleaf.serve import answers as resources
from looseleaf.serve import page_list
from looseleaf.serve.mcp import server
from looseleaf.serve.offered import MARKDOWN, PAGE, TOPIC
from looseleaf.serve.page_list import list_resources
from looseleaf.tools.catalogue import TOOLS
from looseleaf.tools.tool import ToolAnswer
from mcp_serving import ARGUMENTS, HANDSHAKES, MODERN, PAGES, TOKEN, add_tool, digest, filled, serving

MODES = ("legacy", "auto")
SPOKEN = {"legacy": HANDSHAKES[0], "auto": MODERN}

Ask = Callable[[Client], Awaitable[Any]]


@pytest.fixture(scope="module")
def template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return filled(tmp_path_factory.mktemp("mcp") / "memory")


@pytest.fixture
def memory(template: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(template, tmp_path / "memory"))


@pytest.fixture
def keeper(memory: Path) -> Iterator[MemoryThread]:
    with MemoryThread(lambda: Memory(memory)) as keeper:
        yield keeper


def asked(target: Any, ask: Ask, mode: str = "auto") -> Any:
    """What a client gets to know in one session."""

    async def session() -> Any:
        async with Client(target, mode=mode) as client:
            return await ask(client)

    return anyio.run(session)


async def everything(client: Client) -> dict[str, Any]:
    """Every tool, resource and prompt, listed and used."""
    tools = (await client.list_tools()).tools
    assert {tool.name for tool in tools} == TOOLS.keys() == ARGUMENTS.keys()
    shapes = {tool.name: Draft202012Validator(tool.output_schema or False) for tool in tools}
    told: dict[str, Any] = {"version": client.session.protocol_version}
    for name, arguments in ARGUMENTS.items():
        answer = await client.call_tool(name, arguments)
        assert not answer.is_error, (name, answer)
        assert shapes[name].is_valid(answer.structured_content), (name, answer.structured_content)
        told[name] = answer.content[0].text
        assert told[name].strip()
    for resource in (await client.list_resources()).resources:
        [content] = (await client.read_resource(resource.uri)).contents
        assert content.mime_type == resource.mime_type == "text/markdown"
        assert resource.size in (None, len(content.text.encode()))
        told[resource.uri] = content.text
    templates = (await client.list_resource_templates()).resource_templates
    assert [each.uri_template for each in templates] == [
        "looseleaf://page/{+path}",
        "looseleaf://topic/{name}",
    ]
    told["topic"] = (await client.read_resource("looseleaf://topic/work")).contents[0].text
    for prompt in (await client.list_prompts()).prompts:
        arguments = {argument.name: "which editor" for argument in prompt.arguments or ()}
        [message] = (await client.get_prompt(prompt.name, arguments)).messages
        assert message.role == "user"
        told[f"prompt {prompt.name}"] = message.content.text
    return told


def is_everything(told: dict[str, Any], mode: str) -> None:
    assert told["version"] == SPOKEN[mode]
    assert "- Editor: vim" in told["memory_read"]
    assert "vim" in told["recall"]
    assert "vim" in told["prompt recall"]
    assert told["looseleaf://page/facts/%E8%8C%B6.md"] == PAGES["facts/茶.md"]
    assert "facts/work.md" in told["looseleaf://index"]
    assert "oolong" in told["looseleaf://page/facts/tea.md"]
    assert "Editor: vim" in told["topic"]
    start = told["prompt start"]
    assert start.index("You are brief.") < start.index("Zhang San") < start.index("which editor")


# --- the same by every way -------------------------------------------------------------


@pytest.mark.parametrize("mode", MODES)
def test_a_client_lists_and_uses_everything_in_this_process(keeper: MemoryThread, mode: str) -> None:
    is_everything(asked(server(lambda _: keeper), everything, mode), mode)


@pytest.mark.parametrize("mode", MODES)
def test_a_client_lists_and_uses_everything_over_http(memory: Path, mode: str) -> None:
    async def session(url: str) -> Any:
        headers = {"Authorization": f"Bearer {TOKEN}"}
        async with (
            httpx2.AsyncClient(headers=headers) as web,
            Client(streamable_http_client(url, http_client=web), mode=mode) as client,
        ):
            return await everything(client)

    with serving(memory) as served:
        is_everything(anyio.run(session, served.url), mode)


ASCII = {"PYTHONUTF8": "0", "PYTHONIOENCODING": "ascii", "PYTHONCOERCECLOCALE": "0"}
"""An environment in which Python's own streams could not carry a page of Chinese."""


@pytest.mark.parametrize("mode", [pytest.param("legacy", marks=pytest.mark.long), "auto"])
def test_a_client_lists_and_uses_everything_of_a_process(memory: Path, mode: str) -> None:
    command = ["-m", "looseleaf", "--memory", str(memory), "mcp"]
    environment = {"LOOSELEAF_MACHINE": "here", "PATH": os.environ["PATH"], "LANG": "C.UTF-8", **ASCII}
    is_everything(
        asked(StdioServerParameters(command=sys.executable, args=command, env=environment), everything, mode),
        mode,
    )


# --- tools -----------------------------------------------------------------------------


def test_tools_are_told_as_they_are_defined(keeper: MemoryThread) -> None:
    found = {tool.name: tool for tool in asked(server(lambda _: keeper), Client.list_tools).tools}
    for name, tool in TOOLS.items():
        told = found[name]
        assert (told.title, told.description) == (tool.title, tool.description)
        assert (told.input_schema, told.output_schema) == (tool.parameters, tool.returns)
        hints = told.annotations
        assert (hints.read_only_hint, hints.destructive_hint) == (tool.reads, tool.destroys)
        assert hints.idempotent_hint == (tool.repeats or tool.reads)
        assert hints.open_world_hint is False


def test_a_server_that_only_reads_has_no_tool_that_writes(memory: Path, keeper: MemoryThread) -> None:
    reading = server(lambda _: keeper, read_only=True)
    before = digest(memory)

    async def ask(client: Client) -> list[str]:
        for name, arguments in ARGUMENTS.items():
            answer = await client.call_tool(name, arguments)
            assert answer.is_error is not TOOLS[name].reads
            if answer.is_error:
                assert f"{name} did nothing: this server is read-only." in answer.content[0].text
        return [tool.name for tool in (await client.list_tools()).tools]

    assert asked(reading, ask) == [name for name, tool in TOOLS.items() if tool.reads]
    assert digest(memory) == before


@pytest.mark.parametrize(
    ("name", "arguments", "sentence"),
    [
        ("no_such_tool", {}, "Nothing was done: there is no tool 'no_such_tool'."),
        ("memory_read", {}, "Nothing was done: memory_read was called wrongly: "),
        ("memory_read", {"path": 7}, "Nothing was done: memory_read was called wrongly: "),
        ("memory_read", {"path": "../secret.md"}, "Nothing was done: "),
        ("memory_write", {"path": "SOUL.md", "content": "# Evil\n"}, "SOUL.md was not changed: "),
    ],
)
@pytest.mark.parametrize("mode", MODES)
def test_what_cannot_be_done_is_an_answer_with_a_sentence(
    memory: Path, keeper: MemoryThread, mode: str, name: str, arguments: dict[str, Any], sentence: str
) -> None:
    before = digest(memory)
    answer = asked(server(lambda _: keeper), lambda client: client.call_tool(name, arguments), mode)
    assert answer.is_error
    assert answer.content[0].text.startswith(sentence)
    assert digest(memory) == before


WRONG: tuple[dict[str, Any], ...] = (
    {},
    {"x": 1},
    {"path": "facts/none.md"},
    {"path": "SOUL.md", "content": "# Evil\n"},
    {"path": "review/pending.md", "entry": "- City: Atlantis"},
    {"path": "facts/work.md", "content": "# Work\n", "base": "0" * 64},
    {"path": "facts/work.md", "patches": [{"oldText": "- Language: Cobol", "newText": "- Language: C"}]},
    {"path": "USER.md", "entry": "- City: Atlantis"},
    {"topic": "none"},
    {"topic": "../x", "content": "x"},
    {"patch": {}},
    {"patch": {"now": 7}},
    {"what": ""},
)


@pytest.mark.parametrize("read_only", [False, True])
def test_every_answer_has_the_shape_of_its_tool_or_none(keeper: MemoryThread, read_only: bool) -> None:
    """Also what could not be done. Tools that write say so in their shape, too."""
    told: set[tuple[str, bool, bool]] = set()

    async def ask(client: Client) -> None:
        for name, tool in TOOLS.items():
            shape = Draft202012Validator(tool.returns)
            for arguments in WRONG:
                answer = await client.call_tool(name, arguments)
                found = answer.structured_content
                assert found is None or shape.is_valid(found), (name, arguments, found)
                told.add((name, bool(answer.is_error), found is not None))

    asked(server(lambda _: keeper, read_only=read_only), ask, "legacy")
    for name, tool in TOOLS.items():
        assert (name, True, not tool.reads and not read_only) in told
    assert all(is_shaped for _, is_error, is_shaped in told if not is_error)


@pytest.mark.parametrize("mode", MODES)
def test_a_fault_of_the_program_is_an_answer_and_the_next_call_is_served(
    keeper: MemoryThread, mode: str, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def broken(memory: Memory, arguments: Any) -> ToolAnswer:
        raise ZeroDivisionError("the secret of the program")

    add_tool(monkeypatch, "broken", broken)
    monkeypatch.setattr(resources, "list_resources", lambda _: broken(_, _))

    async def ask(client: Client) -> tuple[Any, Any]:
        first = await client.call_tool("broken", {})
        with pytest.raises(MCPError, match="the program has a bug"):
            await client.list_resources()
        return first, await client.call_tool("memory_list", {})

    first, second = asked(server(lambda _: keeper), ask, mode)
    assert first.is_error
    assert "This may or may not have been done" in first.content[0].text
    assert "the secret of the program" not in first.content[0].text
    assert "the secret of the program" in caplog.text
    assert not second.is_error


def test_what_the_memory_notes_is_logged_once(
    keeper: MemoryThread, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def noting(memory: Memory, arguments: Any) -> ToolAnswer:
        memory.parts.note("the disk is full")
        return ToolAnswer(None, {}, "noted")

    add_tool(monkeypatch, "noting", noting)

    async def ask(client: Client) -> None:
        await client.call_tool("noting", {})
        await client.call_tool("noting", {})

    asked(server(lambda _: keeper), ask)
    assert caplog.messages.count("the disk is full") == 1


# --- one thread ------------------------------------------------------------------------


def test_the_loop_is_not_held_up_and_no_two_calls_meet(
    keeper: MemoryThread, monkeypatch: pytest.MonkeyPatch
) -> None:
    begun, go = threading.Event(), threading.Event()
    inside: list[int] = []
    order: list[str] = []

    def slow(memory: Memory, arguments: Any) -> ToolAnswer:
        begun.set()
        inside.append(threading.get_ident())
        assert go.wait(60)
        order.append("slow")
        return ToolAnswer(None, {}, "slow")

    def fast(memory: Memory, arguments: Any) -> ToolAnswer:
        inside.append(threading.get_ident())
        order.append("fast")
        return ToolAnswer(None, {}, "fast")

    add_tool(monkeypatch, "slow", slow)
    add_tool(monkeypatch, "fast", fast)

    async def ask(client: Client) -> None:
        async with anyio.create_task_group() as calls:
            calls.start_soon(client.call_tool, "slow", {})
            while not begun.is_set():
                await anyio.sleep(0)
            calls.start_soon(client.call_tool, "fast", {})
            await client.list_tools()  # is answered while the memory is busy
            order.append("listed")
            go.set()

    asked(server(lambda _: keeper), ask, "legacy")
    assert order == ["listed", "slow", "fast"]
    assert len(set(inside)) == 1
    assert inside[0] != threading.get_ident()


def test_what_nobody_waits_for_any_more_does_not_begin(keeper: MemoryThread) -> None:
    begun, go = threading.Event(), threading.Event()
    done: list[str] = []

    def slow(memory: Memory) -> None:
        begun.set()
        assert go.wait(60)
        done.append("begun before, so finished")

    async def ask() -> None:
        async with anyio.create_task_group() as calls:
            calls.start_soon(keeper, slow)
            while not begun.is_set():
                await anyio.sleep(0)
            calls.start_soon(keeper, lambda memory: done.append("never"))
            await anyio.wait_all_tasks_blocked()
            calls.cancel_scope.cancel()
        go.set()
        await keeper(lambda memory: done.append("next"))

    anyio.run(ask)
    assert done == ["begun before, so finished", "next"]


@pytest.mark.parametrize("mode", MODES)
def test_clients_that_write_at_once_lose_nothing(memory: Path, keeper: MemoryThread, mode: str) -> None:
    """One server, as over HTTP, and another program beside it."""
    shared = server(lambda _: keeper)

    async def write(name: str) -> None:
        async with Client(shared, mode=mode) as client:
            for number in range(5):
                entry = {"path": "facts/many.md", "entry": f"- {name}{number}: yes"}
                assert not (await client.call_tool("memory_append", entry)).is_error

    async def writes() -> None:
        async with anyio.create_task_group() as clients:
            for name in "abc":
                clients.start_soon(write, name)

    def beside() -> None:
        with Memory(memory) as other:
            for line in (f"- z{number}: yes\n" for number in range(5)):
                other.pages.edit("facts/many.md", partial(str.__add__, line), reason="beside")

    thread = threading.Thread(target=beside)
    thread.start()
    anyio.run(writes)
    thread.join()
    text = (memory / "facts" / "many.md").read_text(encoding="utf-8")
    assert all(text.count(f"- {name}{number}: yes\n") == 1 for name in "abcz" for number in range(5))
    with Memory(memory) as left:
        assert left.check() == []


def test_a_memory_that_cannot_be_opened_is_told_to_who_asks() -> None:
    def refuse() -> Memory:
        raise Refused("Nothing was opened: this is a test.")

    with MemoryThread(refuse) as keeper, pytest.raises(Refused, match="Nothing was opened"):
        keeper.path()


@pytest.mark.parametrize("mode", MODES)
def test_what_others_write_is_seen(memory: Path, keeper: MemoryThread, mode: str) -> None:
    async def ask(client: Client) -> None:
        async def read() -> str:
            return str((await client.read_resource("looseleaf://page/facts/work.md")).contents[0].text)

        assert "Shell" not in await read()
        with Memory(memory) as other:
            other.pages.edit("facts/work.md", lambda old: f"{old}- Shell: fish\n", reason="another program")
        assert "- Shell: fish" in await read()
        with (memory / "facts" / "work.md").open("a", encoding="utf-8") as page:
            page.write("- Desk: oak\n")
        assert "- Desk: oak" in await read()
        found = await client.call_tool("recall", {"query": "desk of oak"})
        assert "oak" in found.content[0].text

    asked(server(lambda _: keeper), ask, mode)


# --- resources and prompts -------------------------------------------------------------

NOT_SERVED = (
    "looseleaf://page/review/pending.md",
    "looseleaf://page/log/journal.jsonl",
    "looseleaf://page/log/traces/main/raw_traces.jsonl",
    "looseleaf://page/views/GLOBAL_MEMORY.md",
    "looseleaf://page/views/topics/work/topic_memory.md",
    "looseleaf://page/looseleaf.toml",
    "looseleaf://page/.gitignore",
    "looseleaf://page/../memory/USER.md",
    "looseleaf://page/facts/../USER.md",
    "looseleaf://page/facts/../review/pending.md",
    "looseleaf://page/./USER.md",
    "looseleaf://page//USER.md",
    "looseleaf://page//etc/passwd",
    "looseleaf://page/facts//work.md",
    "looseleaf://page/facts\\work.md",
    "looseleaf://page/%55SER.md",
    "looseleaf://page/USER%2emd",
    "looseleaf://page/facts%2Fwork.md",
    "looseleaf://page/facts%2fwork.md",
    "looseleaf://page/%2e%2e/USER.md",
    "looseleaf://page/%252e%252e/USER.md",
    "looseleaf://page/facts/%2e%2e%2freview%2fpending.md",
    "looseleaf://page/review%2Fpending.md",
    "looseleaf://page/Review/pending.md",
    "looseleaf://page/REVIEW/pending.md",
    "looseleaf://page/review/pending.md%00",
    "looseleaf://page/USER.md%00.md",
    "looseleaf://page/USER.md\x00",
    "looseleaf://page/facts/%E8%8C.md",
    "looseleaf://page/facts/%ZZ.md",
    "looseleaf://page/~/USER.md",
    "looseleaf://page/",
    "looseleaf://page",
    "looseleaf://page/facts",
    "looseleaf://page/facts/absent.md",
    "looseleaf://page/" + "a" * 5000 + ".md",
    "looseleaf://topic/",
    "looseleaf://topic/absent",
    "looseleaf://topic/../../review/pending",
    "looseleaf://topic/%2e%2e",
    "looseleaf://log",
    "looseleaf://",
    "file:///etc/passwd",
    "LOOSELEAF://page/USER.md",
    "http://127.0.0.1/USER.md",
    "",
)


@pytest.mark.parametrize("mode", MODES)
def test_what_has_no_address_is_refused_with_a_sentence(
    memory: Path, keeper: MemoryThread, mode: str
) -> None:
    before = digest(memory)

    async def ask(client: Client) -> None:
        for uri in NOT_SERVED:
            with pytest.raises(MCPError) as refused:
                await client.read_resource(uri)
            assert refused.value.message.startswith(("Nothing was read: ", "Nothing was done: ")), uri
            assert "Atlantis" not in refused.value.message
            assert len(refused.value.message) < 2000

    asked(server(lambda _: keeper), ask, mode)
    assert digest(memory) == before


def test_every_page_for_models_can_be_read_and_no_other(memory: Path) -> None:
    with Memory(memory) as open_memory:
        for path in open_memory.pages.list():
            for uri in {PAGE + path, PAGE + quote(path)}:
                if path.startswith("review/"):
                    with pytest.raises(Refused, match="waits for a person"):
                        resources.read_resource_at(open_memory, uri)
                else:
                    expected = resources.JSON if path == "state.json" else MARKDOWN
                    assert resources.read_resource_at(open_memory, uri) == (
                        expected,
                        open_memory.pages.read(path).text,
                    )
        listed = [each["uri"] for each in list_resources(str(memory))]
    assert listed == [
        "looseleaf://index",
        "looseleaf://page/USER.md",
        "looseleaf://page/episodes/2026-07.md",
        "looseleaf://page/facts/two%20words.md",
        "looseleaf://page/facts/work.md",
        "looseleaf://page/facts/%E8%8C%B6.md",
    ]


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(path=st.text(st.sampled_from("review/pendg.mdlogUSERfacts%2eE5fF\\~ \x00"), max_size=30))
def test_no_spelling_reads_what_has_no_address(memory: Path, path: str) -> None:
    with Memory(memory) as open_memory:
        for start in (PAGE, TOPIC):
            try:
                _, said = resources.read_resource_at(open_memory, start + path)
            except Refused as refused:
                said = str(refused)
            assert "Atlantis" not in said


def test_a_long_memory_lists_some_and_says_how_many_more(
    memory: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in range(12):
        (memory / "facts" / f"topic{number}.md").write_text(f"- Number: {number}\n", encoding="utf-8")
    monkeypatch.setattr(page_list, "LISTED", 5)
    monkeypatch.setattr(resources, "_LINES", 5)
    monkeypatch.setattr(resources, "_NAMED", 3)
    with Memory(memory) as open_memory:
        assert len(list_resources(str(memory))) == 5
        _, index = resources.read_resource_at(open_memory, "looseleaf://index")
        with pytest.raises(Refused) as refused:
            resources.read_resource_at(open_memory, "looseleaf://topic/absent")
    assert "- and 11 more: ask `recall`" in index
    assert str(refused.value).count(", ") == 2
    assert " more." in str(refused.value)


def test_a_memory_with_nothing_in_it_says_so(folder: Path) -> None:
    with Memory(folder) as empty:
        assert [each["uri"] for each in list_resources(str(folder))] == ["looseleaf://index"]
        _, index = resources.read_resource_at(empty, "looseleaf://index")
        with pytest.raises(Refused, match="There are none yet"):
            resources.read_resource_at(empty, "looseleaf://topic/x")
    assert index == "# What this memory holds\n\nNothing yet.\n"


def test_prompts_that_are_not_there_or_lack_a_word_are_sentences(keeper: MemoryThread) -> None:
    async def ask(client: Client) -> None:
        for name, arguments in (("absent", {}), ("recall", {}), ("recall", {"query": " "})):
            with pytest.raises(MCPError, match=r"Nothing was (made|searched): "):
                await client.get_prompt(name, arguments)

    asked(server(lambda _: keeper), ask)


def test_the_start_without_a_task_is_the_snapshot(memory: Path, keeper: MemoryThread) -> None:
    result = asked(server(lambda _: keeper), lambda client: client.get_prompt("start"))
    with Memory(memory) as open_memory:
        assert result.messages[0].content.text == open_memory.views.snapshot().text
