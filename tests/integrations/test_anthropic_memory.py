"""The provider's SDK: its own memory tool over files and ours over pages, side by side; and ours in its tool runner."""

from __future__ import annotations

import json
import re
import sys
from http.server import BaseHTTPRequestHandler, HTTPServer
from importlib.util import find_spec
from threading import Thread
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from drawing import few
from looseleaf.base.errors import Refused
from looseleaf.integrations.anthropic_commands import DEFINITION
from looseleaf.memory import Memory
from tables import check_rows, in_folders

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

# The SDK takes as long to load as all other tests together: whoever uses it imports it.
pytestmark = pytest.mark.skipif(
    find_spec("anthropic") is None, reason="the extra `anthropic` is not installed"
)

Command = dict[str, Any]


def view(path: str, *lines: int) -> Command:
    return {"command": "view", "path": path} | ({"view_range": list(lines)} if lines else {})


def create(path: str, text: str) -> Command:
    return {"command": "create", "path": path, "file_text": text}


def replace(path: str, old: str, new: str) -> Command:
    return {"command": "str_replace", "path": path, "old_str": old, "new_str": new}


def insert(path: str, at: int, text: str) -> Command:
    return {"command": "insert", "path": path, "insert_line": at, "insert_text": text}


def delete(path: str) -> Command:
    return {"command": "delete", "path": path}


def rename(old: str, new: str) -> Command:
    return {"command": "rename", "old_path": old, "new_path": new}


class Both:
    """The SDK's tool and ours, each over a folder of its own, given the same commands."""

    def __init__(self, folder: Path, memory: Memory) -> None:
        from anthropic.lib.tools._beta_builtin_memory_tool import BetaLocalFilesystemMemoryTool

        from looseleaf.integrations.anthropic_memory import LooseleafMemoryTool

        self.theirs = BetaLocalFilesystemMemoryTool(str(folder))
        self.ours = LooseleafMemoryTool(memory)

    def ask(self, command: Command) -> tuple[str, str]:
        """What both answer, when it is the same."""
        theirs, ours = said(self.theirs, command), said(self.ours, command)
        assert comparable(ours) == comparable(theirs), command
        return ours


def said(tool: Any, command: Command) -> tuple[str, str]:
    from anthropic.lib.tools import ToolError

    try:
        return "done", tool.call(command)
    except ToolError as error:
        return "refused", str(error)


def comparable(answer: tuple[str, str]) -> tuple[str, str]:
    """A folder has no size of its own: systems differ in what they say."""
    kind, text = answer
    if text.startswith("Here're"):
        text = re.sub(r"(?m)^\S+(\t(?:.*/|/memories(?:/[^.\n]*)?))$", r"-\1", text)
    return kind, text


@pytest.fixture
def memory(place: Path) -> Iterator[Memory]:
    with Memory(place / "memory") as memory:
        yield memory


A = "/memories/a.md"
TEN = "".join(f"line {number}\n" for number in range(1, 11))

ALIKE: dict[str, Sequence[Command]] = {
    "an empty folder": [view("/memories")],
    "a file": [create(A, "one\ntwo\n"), view(A), view("/memories")],
    "other endings": [
        create("/memories/notes.txt", "x"),
        create("/memories/x.json", "{}"),
        view("/memories"),
    ],
    "nested files": [
        create("/memories/p/plan.md", "x\n"),
        create("/memories/p/q/deep.md", "y\n"),
        view("/memories"),
        view("/memories/p"),
        view("/memories/p/q"),
        view("/memories/p/q/deep.md"),
    ],
    "an empty file": [create(A, ""), view(A), insert(A, 0, "first"), view(A)],
    "no newline at the end": [create(A, "one\ntwo"), view(A), insert(A, 2, "three"), view(A)],
    "carriage returns": [
        create(A, "one\r\ntwo\r\nthree"),
        view(A),
        replace(A, "two\r\n", "2\r\n"),
        insert(A, 1, "1.5\r"),
        view(A),
    ],
    "unicode": [
        create(A, "naïve café 北京 🍵\n"),
        replace(A, "北京", "東京"),
        insert(A, 1, "émigré"),
        view(A),
        create("/memories/café.md", "x\n"),
        view("/memories/café.md"),
    ],
    "separators that are no line ends": [
        create(A, "a\u2028b\x0bc\x85d\ne\n"),
        view(A),
        insert(A, 1, "x"),
        view(A),
    ],
    "ranges": [
        create(A, TEN),
        *(view(A, *lines) for lines in [(2, 4), (1, 1), (3, -1), (0, 2), (9, 40), (20, 30), (5, 2), (1, -1)]),
        view("/memories", 1, 2),
    ],
    "what is not there": [
        view("/memories/none.md"),
        view("/memories/none/none.md"),
        replace("/memories/none.md", "a", "b"),
        insert("/memories/none.md", 0, "a"),
        delete("/memories/none.md"),
        rename("/memories/none.md", "/memories/other.md"),
    ],
    "what is there already": [
        create(A, "x\n"),
        create(A, "y\n"),
        create("/memories/b.md", "y\n"),
        rename(A, "/memories/b.md"),
        rename(A, A),
        rename(A, "/memories"),
        view(A),
        view("/memories/b.md"),
    ],
    "replacing": [
        create(A, TEN),
        replace(A, "line 5", "five"),
        replace(A, "line 1\n", "one\n"),
        replace(A, "line 10", "ten\neleven"),
        replace(A, "line 2\nline 3\nline 4", "2-4"),
        replace(A, "five\n", ""),
        replace(A, "line", "row"),
        replace(A, "nowhere", "x"),
        replace(A, "line 6\nnowhere", "x"),
        view(A),
    ],
    "inserting": [
        create(A, TEN),
        insert(A, 0, "top"),
        insert(A, 5, "middle\nof two\n"),
        insert(A, 13, "bottom"),
        insert(A, 15, "x"),
        insert(A, -1, "x"),
        insert(A, 1000, "x"),
        view(A),
    ],
    "deleting": [create(A, "x\n"), delete(A), view(A), delete(A), create(A, "again\n"), view(A)],
    "deleting a folder": [
        create("/memories/p/a.md", "a\n"),
        create("/memories/p/q/b.md", "b\n"),
        delete("/memories/p"),
        view("/memories"),
        view("/memories/p/a.md"),
        delete("/memories/p"),
    ],
    "the root": [
        delete("/memories"),
        delete("/memories/"),
        rename("/memories", "/memories/x"),
        replace("/memories", "a", "b"),
        insert("/memories", 0, "a"),
        create("/memories", "x\n"),
    ],
    "renaming": [
        create(A, "x\n"),
        rename(A, "/memories/b.md"),
        view(A),
        view("/memories/b.md"),
        rename("/memories/b.md", "/memories/p/c.txt"),
        view("/memories/p/c.txt"),
        view("/memories"),
    ],
    "renaming a folder": [
        create("/memories/p/a.md", "a\n"),
        create("/memories/p/q/b.md", "b\n"),
        rename("/memories/p", "/memories/r"),
        view("/memories"),
        view("/memories/r/q/b.md"),
        view("/memories/p/a.md"),
        create("/memories/s/a.md", "a\n"),
        rename("/memories/r", "/memories/s"),
    ],
    "a folder is no file": [
        create("/memories/p/a.md", "a\n"),
        replace("/memories/p", "a", "b"),
        insert("/memories/p", 0, "a"),
        create("/memories/p", "x\n"),
    ],
    "elsewhere": [
        *(
            view(path)
            for path in ("/etc/passwd", "memories/a.md", "", "/", "/memories/../x", "/memories/a/../../x")
        ),
        create("/memories/../x.md", "x\n"),
        create(A, "x\n"),
        rename(A, "/memories/../../x.md"),
        rename("/memories/../../x.md", A),
    ],
    "other spellings": [create("/memories/./a.md", "x\n"), view("/memories//a.md"), view("/memories/./a.md")],
}


def test_ours_answers_what_the_sdk_s_own_answers(place: Path) -> None:
    def check(place: Path, name: str) -> None:
        with Memory(place / "memory") as memory:
            both = Both(place / "theirs", memory)
            answers = [both.ask(command) for command in ALIKE[name]]
            assert len(answers) == len(ALIKE[name])

    check_rows(check, in_folders(place, ALIKE))


def test_the_comparison_would_see_a_difference(place: Path, memory: Memory) -> None:
    both = Both(place / "theirs", memory)
    both.ask(create(A, "one\n"))
    memory.pages.edit("facts/a.md", "two\n", reason="differ")
    with pytest.raises(AssertionError, match="two"):
        both.ask(view(A))
    memory.pages.edit("facts/a.md", "longer\n", reason="differ")
    with pytest.raises(AssertionError, match="7B"):
        both.ask(view("/memories"))


FILES = st.sampled_from([A, "/memories/n.txt", "/memories/p/b.md", "/memories/p/c.json", "/memories/none.md"])
WORDS = st.sampled_from(["tea", "milk", "oolong tea", "água", "x"])
TEXTS = (
    st.lists(WORDS, min_size=1, max_size=5)
    .map("\n".join)
    .flatmap(lambda text: st.sampled_from([text, f"{text}\n"]))
)
COMMANDS = st.one_of(
    st.builds(create, FILES, TEXTS),
    st.builds(replace, FILES, WORDS, TEXTS),
    st.builds(insert, FILES, st.integers(-1, 6), TEXTS),
    st.builds(delete, FILES),
    st.builds(rename, FILES, FILES),
    st.builds(view, FILES),
    st.builds(view, FILES, st.integers(0, 4), st.integers(-1, 6)),
    st.just(view("/memories")),
)


@settings(max_examples=few(20), suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(st.lists(COMMANDS, min_size=5, max_size=25))
def test_any_commands_come_to_the_same(
    tmp_path_factory: pytest.TempPathFactory, commands: list[Command]
) -> None:
    folder = tmp_path_factory.mktemp("both")
    with Memory(folder / "memory") as memory:
        both = Both(folder / "theirs", memory)
        # Their folder stays when it is empty, ours does not: so it is not.
        for command in [create("/memories/p/keep.md", "x\n"), *commands, view("/memories")]:
            both.ask(command)


# --- as the SDK uses it ----------------------------------------------------------------


def test_the_definition_is_the_sdk_s(memory: Memory) -> None:
    from looseleaf.integrations.anthropic_memory import LooseleafAsyncMemoryTool, LooseleafMemoryTool

    tool = LooseleafMemoryTool(memory)
    assert tool.to_dict() == DEFINITION
    assert tool.name == "memory"
    kept = LooseleafAsyncMemoryTool(memory, cache_control={"type": "ephemeral"})
    assert kept.to_dict() == DEFINITION | {"cache_control": {"type": "ephemeral"}}


SIX = [
    create(A, "one\n"),
    view(A),
    insert(A, 1, "two"),
    replace(A, "two", "three"),
    rename(A, "/memories/b.md"),
    delete("/memories/b.md"),
]


def typed(tool: Any, command: Command) -> Any:
    """The command as a value of the SDK."""
    from anthropic._models import construct_type_unchecked
    from anthropic.types.beta import BetaMemoryTool20250818Command

    return tool.execute(construct_type_unchecked(value=command, type_=BetaMemoryTool20250818Command))


def test_the_six_methods_take_the_sdk_s_own_values(memory: Memory) -> None:
    from anthropic.lib.tools import ToolError

    from looseleaf.integrations.anthropic_memory import LooseleafMemoryTool

    tool = LooseleafMemoryTool(memory)
    first = [typed(tool, command) for command in SIX]
    assert first == [tool.call(command) for command in SIX]
    assert "three" in first[3]
    with pytest.raises(ToolError, match="does not exist"):
        typed(tool, view(A))


def test_the_async_tool_answers_the_same(memory: Memory) -> None:
    import anyio
    from anthropic.lib.tools import ToolError

    from looseleaf.integrations.anthropic_memory import LooseleafAsyncMemoryTool

    tool = LooseleafAsyncMemoryTool(memory)

    async def all_of_them() -> tuple[list[str], list[str]]:
        return [await typed(tool, command) for command in SIX], [await tool.call(command) for command in SIX]

    one, other = anyio.run(all_of_them)
    assert one == other
    assert one[0] == f"File created successfully at: {A}"

    async def wrong() -> None:
        await tool.call(view(A))

    with pytest.raises(ToolError, match="does not exist"):
        anyio.run(wrong)


def test_commands_of_many_tasks_lose_nothing(memory: Memory) -> None:
    import anyio

    from looseleaf.integrations.anthropic_memory import LooseleafAsyncMemoryTool

    tool = LooseleafAsyncMemoryTool(memory)

    async def together() -> None:
        await tool.call(create(A, "end\n"))
        async with anyio.create_task_group() as tasks:
            for number in range(20):
                tasks.start_soon(tool.call, insert(A, 0, f"task {number}"))

    anyio.run(together)
    assert sorted(memory.pages.read("facts/a.md").text.splitlines()) == sorted(
        ["end", *(f"task {number}" for number in range(20))]
    )


def test_whatever_a_model_asks_is_an_error_of_the_tool_and_not_of_the_program(memory: Memory) -> None:
    from anthropic.lib.tools import ToolError

    from looseleaf.integrations.anthropic_memory import LooseleafMemoryTool

    def check(asked: object) -> None:
        with pytest.raises(ToolError, match="Nothing was done"):
            LooseleafMemoryTool(memory).call(asked)

    check_rows(check, [{}, {"command": "clear"}, None, "view", 3, {"command": "view"}])


class Model(BaseHTTPRequestHandler):
    """A model that asks for what it was told to ask, one thing after the other, and keeps what it was sent."""

    script: list[Command]
    sent: list[dict[str, Any]]

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["content-length"]))
        self.sent.append(json.loads(body))
        number = len(self.sent)
        used = {"type": "tool_use", "id": f"use_{number}", "name": "memory"}
        is_over = number > len(self.script)
        content = {"type": "text", "text": "Done."} if is_over else used | {"input": self.script[number - 1]}
        answer = {
            "id": f"msg_{number}",
            "type": "message",
            "role": "assistant",
            "model": "scripted",
            "content": [content],
            "stop_reason": "end_turn" if is_over else "tool_use",
            "stop_sequence": None,
            "usage": {"input_tokens": 1, "output_tokens": 1},
        }
        data = json.dumps(answer).encode()
        self.send_response(200)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture
def model() -> Iterator[tuple[str, type[Model]]]:
    class Scripted(Model):
        pass

    Scripted.script, Scripted.sent = [create(A, "one\n"), view("/memories/none.md"), view(A)], []
    server = HTTPServer(("127.0.0.1", 0), Scripted)
    thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}", Scripted
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def results(sent: list[dict[str, Any]]) -> list[tuple[bool, Any]]:
    """What the model was sent back for each of its calls, whether the SDK sends all of the talk each time or not."""
    found: dict[str, tuple[bool, Any]] = {}
    for message in (message for request in sent for message in request["messages"]):
        for block in message["content"] if isinstance(message["content"], list) else ():
            if block["type"] == "tool_result":
                found[block["tool_use_id"]] = block.get("is_error", False), block["content"]
    return list(found.values())


RESULTS = [
    (False, f"File created successfully at: {A}"),
    (True, "The path /memories/none.md does not exist. Please provide a valid path."),
    (False, f"Here's the content of {A} with line numbers:\n     1\tone\n     2\t"),
]


def test_the_sdk_s_loop_carries_out_what_a_model_asks(memory: Memory, model: tuple[str, type[Model]]) -> None:
    from anthropic import Anthropic

    from looseleaf.integrations.anthropic_memory import LooseleafMemoryTool

    address, scripted = model
    with Anthropic(api_key="none", base_url=address, max_retries=0) as client:
        last = client.beta.messages.tool_runner(
            model="scripted",
            max_tokens=100,
            messages=[{"role": "user", "content": "Keep this: one"}],
            tools=[LooseleafMemoryTool(memory)],
        ).until_done()
    assert last.stop_reason == "end_turn"
    assert scripted.sent[0]["tools"] == [DEFINITION]
    assert results(scripted.sent) == RESULTS
    assert memory.pages.read("facts/a.md").text == "one\n"


def test_the_sdk_s_async_loop_does_too(memory: Memory, model: tuple[str, type[Model]]) -> None:
    import anyio
    from anthropic import AsyncAnthropic

    from looseleaf.integrations.anthropic_memory import LooseleafAsyncMemoryTool

    address, scripted = model

    async def talk() -> None:
        async with AsyncAnthropic(api_key="none", base_url=address, max_retries=0) as client:
            runner = client.beta.messages.tool_runner(
                model="scripted",
                max_tokens=100,
                messages=[{"role": "user", "content": "Keep this: one"}],
                tools=[LooseleafAsyncMemoryTool(memory)],
            )
            await runner.until_done()

    anyio.run(talk)
    assert results(scripted.sent) == RESULTS


def test_without_the_sdk_a_sentence_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    import importlib

    name = "looseleaf.integrations.anthropic_memory"
    monkeypatch.delitem(sys.modules, name, raising=False)
    monkeypatch.setitem(sys.modules, "anthropic.lib.tools", None)
    with pytest.raises(Refused, match=r"`pip install 'anthropic>=2\.8'` \(the extra `anthropic`\)"):
        importlib.import_module(name)
