"""AsyncMemory: the verbs of Memory, awaited, each done in the memory's own thread."""

from __future__ import annotations

import ast
import asyncio
import importlib.util
import threading
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from looseleaf import AsyncMemory, Memory, Refused
from looseleaf.memory.aio import GROUPS, PLAIN

ROOT = Path(__file__).parents[2]


def run(folder: Path, act: Callable[[AsyncMemory], Awaitable[Any]]) -> Any:
    async def main() -> Any:
        async with AsyncMemory(folder / "m") as memory:
            return await act(memory)

    return asyncio.run(main())


def test_the_signatures_are_those_of_memory() -> None:
    spec = importlib.util.spec_from_file_location("async_stub", ROOT / "docs/async_stub.py")
    assert spec is not None
    assert spec.loader is not None
    module: Any = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)

    def parts(text: str) -> list[str]:
        return sorted(
            ast.dump(node) if not isinstance(node, ast.ImportFrom) else f"{node.module} {alias.name}"
            for node in ast.parse(text).body
            for alias in (node.names if isinstance(node, ast.ImportFrom) else [ast.alias("")])
        )

    assert parts(module.STUB.read_text("utf-8")) == parts(module.stub()), "run `python docs/async_stub.py`"


def test_what_is_said_is_remembered_recalled_and_in_the_prompt(tmp_path: Path) -> None:
    async def act(memory: AsyncMemory) -> None:
        await memory.remember("I live in Lyon.")
        assert [fact.object for fact in await memory.facts()] == ["Lyon"]
        assert "Lyon" in (await memory.recall("Where do I live?"))[0].text
        assert "Lyon" in (await memory.prompt("Plan my evening.")).text

    run(tmp_path, act)


def test_groups_properties_and_iterators_are_awaited(tmp_path: Path) -> None:
    async def act(memory: AsyncMemory) -> None:
        trace = await memory.record(user="Hello.")
        assert await memory.talk.session == trace.session_id
        await memory.state.update(goal="Ship it")
        assert await memory.state.goal == "Ship it"
        await memory.pages.edit(
            "facts/tea.md", "# Tea\n\n- Likes: sencha\n", reason="a page", author="person"
        )
        assert [edit.path for edit in await memory.history.edits()][:1] == ["facts/tea.md"]

    run(tmp_path, act)


def test_every_verb_of_memory_can_be_awaited(tmp_path: Path) -> None:
    async def act(memory: AsyncMemory) -> list[str]:
        verbs = [name for name in vars(Memory) if not name.startswith("_") and name not in (*GROUPS, *PLAIN)]
        return [name for name in verbs if not callable(getattr(memory, name))]

    assert run(tmp_path, act) == []


def test_a_refusal_is_raised_to_the_caller_and_the_next_call_is_served(tmp_path: Path) -> None:
    async def act(memory: AsyncMemory) -> None:
        with pytest.raises(Refused, match="no reason"):
            await memory.pages.edit("USER.md", "x", reason=" ")
        assert await memory.facts() == []

    run(tmp_path, act)


def test_calls_at_once_are_done_in_turn_in_one_thread(tmp_path: Path) -> None:
    async def act(memory: AsyncMemory) -> list[str]:
        before = threading.active_count()
        await asyncio.gather(*(memory.record(user=f"Message {number}.") for number in range(20)))
        assert threading.active_count() == before
        return [trace.content for turn in await memory.talk.turns(40) for trace in turn.traces]

    assert sorted(run(tmp_path, act)) == sorted(f"Message {number}." for number in range(20))


def test_a_cancelled_call_that_has_not_begun_is_not_made(tmp_path: Path) -> None:
    async def act(memory: AsyncMemory) -> list[str]:
        held = threading.Event()
        busy = asyncio.wrap_future(memory._thread.submit(held.wait))  # type: ignore[attr-defined]
        late = asyncio.ensure_future(memory.record(user="Too late."))
        await asyncio.sleep(0)
        late.cancel()
        with pytest.raises(asyncio.CancelledError):
            await late
        held.set()
        await busy
        return [trace.content for turn in await memory.talk.turns() for trace in turn.traces]

    assert run(tmp_path, act) == []


def test_a_batch_is_written_when_its_block_ends(tmp_path: Path) -> None:
    async def act(memory: AsyncMemory) -> int:
        async with memory.batch() as batch:
            batch.record(user="One.")
            batch.record(assistant="Two.")
            assert await memory.talk.turns() == []
        return len(batch.traces)

    assert run(tmp_path, act) == 2


def test_a_batch_writes_what_it_was_given_whatever_its_caller_changes_later(tmp_path: Path) -> None:
    async def act(memory: AsyncMemory) -> Any:
        arguments = {"paths": ["a"]}
        async with memory.batch() as batch:
            batch.record(tool_call="look", tool_args=arguments)
            batch.record(tool_result=None)
            arguments["paths"].append("b")
        return [(trace.trace_type, trace.tool_args) for trace in batch.traces]

    assert run(tmp_path, act) == [("tool_call", {"paths": ["a"]}), ("tool_result", None)]


def test_a_name_that_memory_does_not_have_is_no_attribute(tmp_path: Path) -> None:
    async def act(memory: Any) -> None:
        for name in ("remembr", "parts", "_parts"):
            with pytest.raises(AttributeError):
                getattr(memory, name)
        with pytest.raises(AttributeError):
            memory.talk.nothing  # noqa: B018

    run(tmp_path, act)


def test_a_folder_that_cannot_be_opened_leaves_no_thread(tmp_path: Path) -> None:
    (tmp_path / "m").write_text("a file")
    before = set(threading.enumerate())
    with pytest.raises(Refused):
        AsyncMemory(tmp_path / "m")
    assert set(threading.enumerate()) <= before


def test_a_function_that_raises_stop_iteration_does_not_hang_the_caller(tmp_path: Path) -> None:
    async def act(memory: AsyncMemory) -> None:
        with pytest.raises(RuntimeError, match="StopIteration"):
            await asyncio.wait_for(
                memory.pages.edit("facts/x.md", lambda text: next(iter(())), reason="r"), timeout=60
            )

    run(tmp_path, act)


def test_closing_twice_is_fine_and_a_later_call_says_that_it_was_closed(tmp_path: Path) -> None:
    async def main() -> None:
        memory = AsyncMemory(tmp_path / "m")
        await memory.close()
        await memory.close()
        with pytest.raises(Refused, match="closed"):
            await memory.facts()

    asyncio.run(main())


def test_a_batch_refuses_an_unknown_keyword_at_once(tmp_path: Path) -> None:
    async def act(memory: Any) -> None:
        async with memory.batch() as batch:
            batch.record(user="Good.")
            with pytest.raises(Refused, match="a trace has no 'unknown'"):
                batch.record(user="x", unknown=1)
        assert len(batch.traces) == 1

    run(tmp_path, act)
