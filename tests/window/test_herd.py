"""Many that need a compaction or a distillation at once: one makes it, the others wait for it, and none is refused."""

from __future__ import annotations

import asyncio
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from looseleaf import AsyncMemory, Memory, Policy
from looseleaf.base.messages import Distilled, Material

MANY = 32
BUDGET = 2000


class Held:
    """A distiller that counts its calls, and may have to wait in the middle."""

    name = "held/1"

    def __init__(self, *, is_open: bool = True) -> None:
        self.calls = 0
        self.begun, self.may_end = threading.Event(), threading.Event()
        if is_open:
            self.may_end.set()

    def distill(self, material: Material, tokens: int) -> Distilled:
        self.calls += 1
        self.begun.set()
        time.sleep(0.05)  # so that all others ask meanwhile
        assert self.may_end.wait(60)
        return Distilled("They talked.")


def opened(folder: Path, distiller: Held | None = None, **policy: Any) -> Memory:
    return Memory(folder, distiller=distiller, policy=Policy(**policy), counter=lambda text: len(text) // 4)


def talk(memory: Memory, turns: int = 60) -> None:
    with memory.batch() as batch:
        for number in range(turns):
            batch.record(user=f"Question {number}: " + "word " * 30)
            batch.record(assistant=f"Answer {number}. " + "word " * 30)


def marks(memory: Memory) -> int:
    journal = memory.parts.context.store.read("journal")
    return sum(line.record.get("kind") == "mark" for line in journal)


def at_once(work: Callable[[], Any], many: int = MANY) -> tuple[list[Any], list[BaseException]]:
    """What so many threads got that began together, and what they raised."""
    got: list[Any] = []
    raised: list[BaseException] = []
    gate = threading.Barrier(many)

    def run() -> None:
        gate.wait()
        try:
            got.append(work())
        except BaseException as error:  # noqa: BLE001 - the test looks at it
            raised.append(error)

    threads = [threading.Thread(target=run) for _ in range(many)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return got, raised


@contextmanager
def running(work: Callable[[], object]) -> Iterator[threading.Thread]:
    thread = threading.Thread(target=work)
    thread.start()
    yield thread
    thread.join(60)
    assert not thread.is_alive()


@pytest.mark.parametrize("asks", ["prompt", "messages"])
def test_threads_that_prompt_at_once_compact_once_and_none_is_refused(tmp_path: Path, asks: str) -> None:
    distiller = Held()
    with opened(tmp_path / "m", distiller, context_tokens=BUDGET + 500, max_tokens=1) as memory:
        talk(memory)
        work = {
            "prompt": lambda: memory.prompt("What now?", budget=BUDGET).messages,
            "messages": lambda: tuple(memory.window.messages()),
        }[asks]
        got, raised = at_once(work)
        assert raised == []
        assert len(got) == MANY
        assert len(set(got)) == 1
        assert (distiller.calls, marks(memory)) == (1, 1)


def test_memories_of_several_threads_compact_once_too(tmp_path: Path) -> None:
    distiller = Held()
    with opened(tmp_path / "m", distiller) as memory:
        talk(memory)

        def work() -> int:
            with opened(tmp_path / "m", distiller) as own:
                return own.prompt("What now?", budget=BUDGET).manifest.total_tokens

        got, raised = at_once(work, 8)
        assert raised == []
        assert max(got) <= BUDGET
        assert (distiller.calls, marks(memory)) == (1, 1)


def test_an_awaited_memory_compacts_once(tmp_path: Path) -> None:
    distiller = Held()
    with opened(tmp_path / "m") as memory:
        talk(memory)

    async def work() -> list[Any]:
        async with AsyncMemory(
            tmp_path / "m", distiller=distiller, counter=lambda text: len(text) // 4
        ) as own:
            return await asyncio.gather(*(own.prompt("What now?", budget=BUDGET) for _ in range(MANY)))

    assert len(asyncio.run(work())) == MANY
    assert distiller.calls == 1


def test_asked_for_at_once_one_compaction_is_made_and_the_others_have_nothing_to_do(tmp_path: Path) -> None:
    with opened(tmp_path / "m", Held(), context_tokens=BUDGET, max_tokens=1) as memory:
        talk(memory)
        got, raised = at_once(memory.window.compact, 8)
        assert raised == []
        assert [each is None for each in got].count(False) == marks(memory) == 1


def test_threads_that_distill_at_once_ask_the_distiller_once(tmp_path: Path) -> None:
    distiller = Held()
    with opened(tmp_path / "m", distiller) as memory:
        talk(memory, 5)
        got, raised = at_once(memory.distill, 8)
        assert raised == []
        assert sorted(map(len, got)) == [0] * 7 + [1]
        assert distiller.calls == 1


def test_who_waited_for_one_that_failed_takes_over(tmp_path: Path) -> None:
    distiller = Held(is_open=False)
    with opened(tmp_path / "m", distiller) as memory:
        talk(memory)

        class Died(BaseException):
            pass

        append = memory.parts.context.store.append
        deaths: list[str] = []

        def die_once(stream: str, records: Any) -> Any:
            if stream == "journal" and not deaths:
                deaths.append(threading.current_thread().name)
                raise Died
            return append(stream, records)

        def lead() -> None:
            with pytest.raises(Died):
                memory.prompt("What now?", budget=BUDGET)

        memory.parts.context.store.append = die_once  # type: ignore[method-assign]
        with running(lead) as leader:
            assert distiller.begun.wait(60)
            with running(lambda: memory.prompt("What now?", budget=BUDGET)):
                time.sleep(0.1)
                assert distiller.calls == 1  # the other one waits
                distiller.may_end.set()
        assert deaths == [leader.name]
        assert marks(memory) == 1


LEADER = """
import sys
from looseleaf import Memory
class Hanging:
    name = "hanging/1"
    def distill(self, material, tokens):
        print("in", flush=True)
        sys.stdin.read()
with Memory(sys.argv[1], distiller=Hanging(), counter=lambda text: len(text) // 4) as memory:
    memory.prompt("What now?", budget=2000)
"""


@contextmanager
def hanging_leader(folder: Path) -> Iterator[subprocess.Popen[bytes]]:
    """Another process in the middle of a compaction."""
    with subprocess.Popen(
        [sys.executable, "-c", LEADER, str(folder)], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == b"in\n"
        try:
            yield process
        finally:
            process.kill()


def test_who_waited_for_a_process_that_was_killed_takes_over(tmp_path: Path) -> None:
    distiller = Held()
    with opened(tmp_path / "m", distiller) as memory:
        talk(memory)
        with hanging_leader(tmp_path / "m") as process:
            with running(lambda: memory.prompt("What now?", budget=BUDGET)) as waiting:
                waiting.join(0.5)
                assert waiting.is_alive()
                assert (distiller.calls, marks(memory)) == (0, 0)
                process.kill()
            assert (distiller.calls, marks(memory)) == (1, 1)


def test_past_its_patience_a_prompt_is_cut_and_messages_are_compacted_here(tmp_path: Path) -> None:
    distiller = Held()
    more: dict[str, Any] = {"context_tokens": BUDGET, "max_tokens": 1, "safety_margin_tokens": 1}
    with opened(tmp_path / "m", distiller, lock_seconds=0.2, **more) as memory:
        talk(memory)
        with hanging_leader(tmp_path / "m"):
            prompt = memory.prompt("What now?", budget=BUDGET)
            assert prompt.manifest.total_tokens <= BUDGET
            assert "Answer 59" in prompt.text
            assert (distiller.calls, marks(memory)) == (0, 0)
            assert memory.window.messages()
            assert (distiller.calls, marks(memory)) == (1, 1)


def test_who_holds_the_lock_waits_for_no_compaction_that_needs_it(tmp_path: Path) -> None:
    distiller = Held(is_open=False)
    with opened(tmp_path / "m", distiller) as memory:
        talk(memory)
        with running(lambda: memory.prompt("What now?", budget=BUDGET)):
            assert distiller.begun.wait(60)
            with memory.parts.context.store.lock():
                distiller.may_end.set()
                assert memory.prompt("What now?", budget=BUDGET).manifest.total_tokens <= BUDGET
                assert marks(memory) == 0
        assert marks(memory) == 1


def test_while_one_compacts_others_record_in_batches(tmp_path: Path) -> None:
    distiller = Held(is_open=False)
    with opened(tmp_path / "m", distiller) as memory:
        talk(memory)
        with running(lambda: memory.prompt("What now?", budget=BUDGET)):
            assert distiller.begun.wait(60)
            with memory.batch() as batch:
                batch.record(user="Meanwhile.")
                with running(lambda: memory.prompt("What now?", budget=BUDGET)):
                    distiller.may_end.set()
        assert memory.talk.turns(1)[0].traces[0].content == "Meanwhile."
        assert marks(memory) == 1
