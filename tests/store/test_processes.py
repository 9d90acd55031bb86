"""Eight processes at once, on one log and on one page: nothing is lost, doubled, torn or out of order."""

from __future__ import annotations

import time
from contextlib import ExitStack
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import pytest

from actors import PAGE, STREAM, Actor, Watch, append_many, look_back, patch_many, sha256, tail
from looseleaf.store.disk import Disk
from looseleaf.store.files import FileStore
from looseleaf.store.streams import stream_files

if TYPE_CHECKING:
    from pathlib import Path

    from looseleaf.base.values import Problem

WRITERS = 8


def begin_together(actors: list[Actor]) -> None:
    for actor in actors:
        assert actor.hear() == "ready"
    for actor in actors:
        assert actor.process.stdin is not None
        actor.process.stdin.close()
        actor.process.stdin = None


# --- one log ---------------------------------------------------------------------------


@dataclass
class Outcome:
    """What eight writers and their readers came to."""

    lines: int
    segments: int
    seconds: float
    bad: list[str] = field(default_factory=list)
    read: int = 0

    def __str__(self) -> str:
        return (
            f"lines={self.lines} bad={len(self.bad)} writers={WRITERS} segments={self.segments} "
            f"read_meanwhile={self.read} seconds={self.seconds:.1f}"
        )


def append_together(path: Path, count: int, segment_bytes: int, *, lockless: bool = False) -> Outcome:
    """Eight writers of `count` records each; unless `lockless`, three readers that follow and two that look back."""
    began = time.monotonic()
    with ExitStack() as stack:
        writers = [
            stack.enter_context(Actor(append_many, str(path), n, count, segment_bytes, lockless))
            for n in range(WRITERS)
        ]
        followers = [
            stack.enter_context(Actor(tail, str(path), WRITERS, count)) for _ in range(0 if lockless else 3)
        ]
        lookers = [
            stack.enter_context(Actor(look_back, str(path), WRITERS, 100))
            for _ in range(0 if lockless else 2)
        ]
        for reader in followers + lookers:
            assert reader.hear() == "ready"
        begin_together(writers)
        refusals = [writer.let_go() for writer in writers]
        seconds = time.monotonic() - began
        told = [reader.let_go() for reader in followers + lookers]
    watch = Watch(WRITERS)
    with FileStore(path) as store:
        for line in store.read(STREAM, on_problem=watch.complain):
            watch.see(line)
        back = [(line.record["writer"], line.record["number"]) for line in store.read_back(STREAM)]
        forth = [(line.record["writer"], line.record["number"]) for line in store.read(STREAM)]
        segments = store.end(STREAM).segment
        found = [str(problem) for problem in store.check()]
    outcome = Outcome(watch.count, segments, seconds, watch.bad + found)
    outcome.bad += [f"{sum(refusals)} appends were refused"] * any(refusals)
    outcome.bad += [f"writer {n}: {at} of {count}" for n, at in enumerate(watch.next) if at != count]
    outcome.bad += ["the log reads differently from its two ends"] * (back[::-1] != forth)
    for reader in told:
        outcome.bad += reader["bad"]
        outcome.read += reader["records"]
    for reader in told[: len(followers)]:
        outcome.bad += ["a follower missed something"] * (reader["records"] != WRITERS * count)
    return outcome


def test_eight_processes_append_and_rotate_and_readers_see_whole_records_in_order(tmp_path: Path) -> None:
    outcome = append_together(tmp_path, 80, 32 * 1024)
    print(outcome)
    assert outcome.bad == []
    assert outcome.lines == WRITERS * 80
    assert outcome.segments > 24


@pytest.mark.long
def test_eight_processes_append_ten_thousand_records_each(tmp_path: Path) -> None:
    outcome = append_together(tmp_path, 10_000, 2 * 1024 * 1024)
    print(f"\n{outcome}")
    assert outcome.bad == []
    assert outcome.lines == 80_000
    assert outcome.segments > 24


def test_without_a_lock_the_same_writers_lose_or_break_something(tmp_path: Path) -> None:
    outcome = append_together(tmp_path, 150, 64 * 1024, lockless=True)
    print(f"without a lock: {outcome}")
    assert outcome.bad


class Sealing(Disk):
    """A disk on which another process seals the active segment just when a reader has looked, and opens it."""

    def __init__(self, writer: FileStore) -> None:
        super().__init__()
        self.writer = writer
        self.fired = 0

    def open(self, root: int, path: str, flags: int, mode: int = 0o600) -> int:
        if path == stream_files(STREAM)[0] and not self.fired:
            self.fired += 1
            self.writer.rotate(STREAM)
            self.writer.append(STREAM, [{"id": "2"}])
        return super().open(root, path, flags, mode)


@pytest.mark.parametrize("forwards", [True, False])
def test_a_segment_sealed_while_a_reader_looks_for_it_is_not_missed(tmp_path: Path, forwards: bool) -> None:
    problems: list[Problem] = []
    with FileStore(tmp_path) as writer:
        writer.append(STREAM, [{"id": "1"}])
        disk = Sealing(writer)
        with FileStore(tmp_path, disk=disk) as reader:
            lines = reader.read(STREAM, on_problem=problems.append) if forwards else reader.read_back(STREAM)
            found = [line.record["id"] for line in lines]
    assert disk.fired == 1
    assert problems == []
    assert found == (["1", "2"] if forwards else ["1"])


# --- one page --------------------------------------------------------------------------


@dataclass
class Patches:
    """What eight writers of one page were told, and what is wrong with what is there."""

    acknowledged: int = 0
    stale: int = 0
    raced: int = 0
    wrong: list[str] = field(default_factory=list)

    def __str__(self) -> str:
        return (
            f"patches={self.acknowledged + self.stale - self.raced} acknowledged={self.acknowledged} "
            f"stale_refused={self.stale - self.raced} raced_and_repeated={self.raced} wrong={len(self.wrong)}"
        )


def patch_together(path: Path, count: int, *, lockless: bool = False) -> Patches:
    first = b"# Tea\n\n- Sugar: none\n"
    with FileStore(path) as store:
        store.put(PAGE, first, base=None)
    with ExitStack() as stack:
        actors = [
            stack.enter_context(Actor(patch_many, str(path), n, count, lockless)) for n in range(WRITERS)
        ]
        with FileStore(path) as store:  # the base that half of the patches are made on is old from now on
            for actor in actors:
                assert actor.hear() == "ready"
            second = first + b"- Milk: none\n"
            store.put(PAGE, second, base=sha256(first))
        for actor in actors:
            assert actor.process.stdin is not None
            actor.process.stdin.close()
            actor.process.stdin = None
        told: list[dict[str, Any]] = [actor.let_go() for actor in actors]
    with FileStore(path) as store:
        return _judge(store, told, second)


def _judge(store: FileStore, told: list[dict[str, Any]], first: bytes) -> Patches:
    store.recover()
    page = store.get(PAGE)
    assert page is not None
    lines = page.data.decode().splitlines(keepends=True)
    journal = {line.record["id"]: line.record for line in store.read("journal")}
    void = {record["edit"] for record in journal.values() if record["kind"] == "void"}
    edits = [edit for edit in journal.values() if edit["kind"] == "edit" and edit["id"] not in void]
    patches = Patches()
    hashes = {sha256(first)} | {edit["new"] for edit in edits}
    current = sha256(first)
    for edit in edits:
        if edit["base"] != current:
            patches.wrong.append(f"edit {edit['id']} does not begin where the one before it ended")
        current = edit["new"]
    if current != page.sha256:
        patches.wrong.append("the page is not what the journal says")
    for actor in told:
        patches.acknowledged += len(actor["acknowledged"])
        patches.stale += len(actor["stale"])
        patches.raced += actor["raced"]
        patches.wrong += [f"a stale patch was taken: {line}" for line in actor["taken"]]
        patches.wrong += [f"{actor['failed']} calls failed or told a wrong hash"] * bool(actor["failed"])
        patches.wrong += [
            "a refusal told a hash the page never had" for it in actor["stale"] if it not in hashes
        ]
        for line, edit in actor["acknowledged"]:
            if lines.count(line) != 1:
                patches.wrong.append(f"acknowledged, and {lines.count(line)} times on the page: {line}")
            if edit not in journal or edit in void:
                patches.wrong.append(f"acknowledged, and not in the journal: {line}")
    if len(lines) != len(first.splitlines()) + patches.acknowledged:
        patches.wrong.append(f"{len(lines)} lines for {patches.acknowledged} acknowledged patches")
    patches.wrong += [str(problem) for problem in store.check() if problem.severity == "error"]
    return patches


def expect_all(patches: Patches, count: int) -> None:
    assert patches.wrong == []
    assert patches.acknowledged == WRITERS * count // 2
    assert patches.stale - patches.raced == WRITERS * count // 2


def test_eight_processes_patch_one_page_and_no_acknowledged_patch_is_lost(tmp_path: Path) -> None:
    patches = patch_together(tmp_path, 10)
    print(patches)
    expect_all(patches, 10)


@pytest.mark.long
def test_eight_processes_patch_one_page_a_hundred_times_each(tmp_path: Path) -> None:
    patches = patch_together(tmp_path, 100)
    print(f"\n{patches}")
    expect_all(patches, 100)


def test_without_a_lock_the_same_patches_go_wrong(tmp_path: Path) -> None:
    patches = patch_together(tmp_path, 10, lockless=True)
    print(f"without a lock: {patches}")
    assert patches.wrong
