"""A forget is prepared while others go on: nothing that they write is lost, and nothing of it that goes stays."""

from __future__ import annotations

import os
import threading
import tracemalloc
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from forgetting import holding
from looseleaf import Memory
from looseleaf.base.errors import Busy
from looseleaf.base.policy import Policy
from looseleaf.forget.forget import Forgotten
from looseleaf.store import files
from looseleaf.store.disk import Disk

WORD = "Nightingale"
POLICY = Policy(settle_seconds=0.01, quiet_seconds=0.0, segment_bytes=4_000)


class Pausing(Disk):
    """A disk that stops before the first new file of a forget is staged, until it may go on."""

    def __init__(self) -> None:
        super().__init__()
        self.is_there, self.may_go = threading.Event(), threading.Event()
        self.count = 0

    def open(self, root: int, path: str, flags: int, *rest: int) -> int:
        if path.endswith(".forget/000000") and flags & os.O_CREAT:
            self.count += 1
            self.is_there.set()
            assert self.may_go.wait(60)
        return super().open(root, path, flags, *rest)


def open_memory(folder: Path, disk: Disk | None = None) -> Memory:
    real = vars(files)["this_disk"]
    vars(files)["this_disk"] = lambda: disk or real()
    try:
        return Memory(folder, policy=POLICY)
    finally:
        vars(files)["this_disk"] = real


def texts(memory: Memory) -> list[str]:
    return [trace.content for turn in memory.talk.turns(999) for trace in turn.traces]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    with open_memory(tmp_path / "memory") as memory:
        for number in range(10):
            memory.record(user=f"My project is called {WORD} {number}. I live in Lyon. Say {number}.")
            memory.record(assistant=f"So be it, {number}." + " And more." * 60)
        memory.distill()
        memory.prompt("What now?", budget=9000)
        assert len(memory.parts.files.segments("traces/main")) > 2
    return tmp_path / "memory"


@contextmanager
def forgetting(folder: Path) -> Iterator[tuple[Pausing, list[Forgotten]]]:
    """A forget in the middle of its preparation; when the block ends, it goes on."""
    disk, done = Pausing(), list[Forgotten]()
    memory = open_memory(folder, disk)
    thread = threading.Thread(target=lambda: done.append(memory.forget(match=WORD)))
    thread.start()
    assert disk.is_there.wait(60)
    try:
        yield disk, done
    finally:
        disk.may_go.set()
        thread.join()
        memory.close()


def say(memory: Memory) -> None:
    memory.record(user="Said meanwhile.")


def say_it_again(memory: Memory) -> None:
    memory.record(user=f"{WORD} again. Said meanwhile.")


def say_as_another(memory: Memory) -> None:
    with Memory(memory.path, policy=POLICY, agent="other") as other:
        other.record(user=f"{WORD} elsewhere. Said meanwhile.")
    memory.record(user="Said meanwhile.")


def say_much(memory: Memory) -> None:
    for number in range(20):
        memory.record(user=f"Said meanwhile, {number}." + " And more." * 60)
    memory.record(user="Said meanwhile.")


def edit(memory: Memory) -> None:
    memory.pages.edit("facts/tea.md", "# Tea\n\n- Color: green\n", reason="test", author="person")
    memory.record(user="Said meanwhile.")


def edit_outside(memory: Memory) -> None:
    (Path(memory.path) / "facts").mkdir(exist_ok=True)
    (Path(memory.path) / "facts/tea.md").write_text(f"# Tea\n\n- Color: green\n- Of: {WORD}\n")
    memory.record(user="Said meanwhile.")


def distill(memory: Memory) -> None:
    memory.record(user="I work at Acme. Said meanwhile.")
    assert memory.distill()


def rotate(memory: Memory) -> None:
    memory.record(user="Said meanwhile.")
    memory.parts.files.rotate("traces/main")
    memory.record(user="Said afterwards.")


def repair(memory: Memory) -> None:
    memory.record(user="Said meanwhile.")
    path = Path(memory.path, "log/traces/main/raw_traces.jsonl")
    path.write_bytes(b' {"broken":\n' + path.read_bytes())
    assert memory.repair()


def prompt(memory: Memory) -> None:
    memory.record(user="Said meanwhile.")
    shown = memory.prompt("And now?", budget=9000)
    assert any(WORD in str(each.content) for each in shown.messages)


def recover(memory: Memory) -> None:
    memory.parts.files.recover()
    memory.record(user="Said meanwhile.")


PLANS: dict[Callable[[Memory], None], int] = {say: 1, say_much: 1, rotate: 1, prompt: 1, recover: 1}
"""What changes no plan; all else makes a second one."""


@pytest.mark.sampled(5)
@pytest.mark.parametrize(
    "act",
    [
        say,
        say_it_again,
        say_as_another,
        say_much,
        edit,
        edit_outside,
        distill,
        rotate,
        repair,
        prompt,
        recover,
    ],
)
def test_what_is_written_while_a_forget_is_prepared_is_kept_without_what_goes(
    folder: Path, act: Callable[[Memory], None]
) -> None:
    with open_memory(folder) as memory:
        before = [text for text in texts(memory) if WORD not in text]
        with forgetting(folder) as (disk, done):
            act(memory)  # others need not wait
            assert not done
            assert memory.parts.files.lock().is_free()
            said = [text for text in texts(memory) if "meanwhile" in text or "afterwards" in text]
        assert [each.probe.hits for each in done if each.probe is not None] == [()]
        assert disk.count == PLANS.get(act, 2)
        assert holding(folder, WORD) == []
        now = texts(memory)
        assert set(before) <= set(now)
        assert [text for text in now if "meanwhile" in text or "afterwards" in text] == [
            text.replace(f"{WORD} again.", "[forgotten].") for text in said
        ]
        if act in (edit, edit_outside):
            assert "Color: green" in memory.pages.read("facts/tea.md").text
        if act is distill:
            assert "Acme" in [fact.object for fact in memory.facts()]
        assert [str(each) for each in memory.check() if each.severity == "error"] == []
    with open_memory(folder) as memory:
        memory.record(user="Last.")
        turns = [turn.turn_id for turn in memory.talk.turns(999)]
        assert len(set(turns)) == len(turns)


def test_a_memory_that_changes_each_time_is_forgotten_under_the_lock(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from looseleaf.forget import forget as module

    monkeypatch.setattr(module, "_TRIES", 1)
    with open_memory(folder) as memory:
        with forgetting(folder) as (disk, _):
            edit(memory)
        assert disk.count == 2
        assert holding(folder, WORD) == []


def test_only_one_forget_is_prepared_at_a_time(folder: Path) -> None:
    with (
        forgetting(folder),
        Memory(folder, policy=Policy(lock_seconds=0.2)) as memory,
        pytest.raises(Busy, match="another process has been forgetting"),
    ):
        memory.forget(match="Lyon")
    assert holding(folder, WORD) == []


def test_what_a_dead_forget_had_prepared_is_removed_and_what_a_living_one_has_is_not(folder: Path) -> None:
    staged = folder / "log/staged"
    with forgetting(folder), open_memory(folder) as memory:
        there = [path.name for path in staged.iterdir()]
        memory.parts.files.recover()
        assert [path.name for path in staged.iterdir()] == there
    dead = staged / "01J00000000000000000000001.forget"
    dead.mkdir(parents=True)
    (dead / "000000").write_text("left")
    with open_memory(folder) as memory:
        memory.parts.files.recover()
    assert not dead.exists()


@pytest.mark.long
def test_the_memory_that_a_forget_takes_does_not_grow_with_the_log(tmp_path: Path) -> None:
    peaks = []
    policy = Policy(segment_bytes=1 << 17)  # a segment is rewritten as a whole: both logs have several
    for count in (300, 3000):
        with Memory(tmp_path / str(count), policy=policy) as memory:
            with memory.batch() as batch:
                for number in range(count):
                    said = f"{WORD} is here." if number % 100 == 5 else f"Nothing of it, {number}."
                    batch.record(user=f"{said} {'And more of it. ' * 20}")
            tracemalloc.start()
            memory.forget(match=WORD)
            peaks.append(tracemalloc.get_traced_memory()[1])
            tracemalloc.stop()
    print(f"peaks: {peaks}")
    assert peaks[1] < 2 * peaks[0]


@pytest.mark.parametrize("size", [1, 7, 64, 4096])
def test_the_probe_finds_words_wherever_a_block_ends(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, size: int
) -> None:
    from looseleaf.forget import probe

    monkeypatch.setattr(probe, "_BLOCK", size)
    forms = (
        WORD,
        "".join(f"\\u{ord(each):04x}" for each in WORD),
        "".join(f"%{ord(each):02x}" for each in WORD),
    )
    for begin in range(0, 700, 61):
        for form in forms:
            data = ("x" * begin + f" {form} " + "y" * 300).encode()
            (tmp_path / "facts.md").write_bytes(data)
            found = probe.probe(str(tmp_path), probe.Needles([WORD]))
            assert (found.hits, found.bytes) == (("facts.md",), len(data))
