"""Whatever happens to the index, the next command answers as if it had just been made, and touches only views.

With strace, a real SIGKILL before system calls of an update. Then: a file that is gone, cut, garbage, foreign, of
another version, something else than a file; a disk that is full or read-only; logs and pages that changed under it.
"""

from __future__ import annotations

import os
import random
import resource
import shutil
import sqlite3
import subprocess
import sys
import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import closing, contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import pytest

import traced
from faults import DyingDisk
from forking import run_in_child
from killing import ends, kill_at, kill_everywhere, orders_for
from looseleaf import Memory
from looseleaf.index.sqlite import DamagedIndex, SqliteIndex
from looseleaf.store.streams import stream_files
from placing import THEN
from recalling import (
    INDEX,
    QUESTIONS,
    answers,
    begin,
    found,
    go_on,
    made_afresh,
    open_memory,
    outside,
    recall,
    texts,
)
from scripts import recall_work
from scripts.recall_work import FLAWS, Reader, find_for, record_and_find

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="needs fork and signals")


@pytest.fixture(scope="session")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A memory with an index that is up to date; tests work on copies."""
    folder = tmp_path_factory.mktemp("made") / "memory"
    with open_memory(folder) as memory:
        begin(memory)
        answers(memory)
        go_on(memory)
        answers(memory)
    return folder


@pytest.fixture
def memory(made: Path, place: Path) -> Path:
    return Path(shutil.copytree(made, place / "memory"))


@pytest.fixture(scope="session")
def wanted(made: Path) -> list[list[tuple[object, ...]]]:
    said = made_afresh(made)
    assert all(said)
    return said


def wrong(memory: Path, wanted: list[list[tuple[object, ...]]]) -> list[str]:
    """What the next command says or does that it should not."""
    before = outside(memory)
    with open_memory(memory) as opened:
        said = answers(opened)
    sentences = [
        f"{question}: {got} and not {want}"
        for question, got, want in zip(QUESTIONS, said, wanted, strict=True)
        if got != want
    ]
    after = outside(memory)
    changed = sorted(name for name in {*before, *after} if before.get(name) != after.get(name))
    return sentences + [f"changed outside views/: {name}" for name in changed]


# --- killed ----------------------------------------------------------------------------


orders = orders_for(recall_work)


@pytest.mark.long
def test_a_sigkill_before_some_system_calls_of_an_update_harms_no_answer(place: Path) -> None:
    calls = traced.count_calls(place)
    assert calls["pwrite64"] > 10  # what SQLite writes
    where = traced.sites(calls)
    some = where[5::301] + [site for site in where if site[0] == "pwrite64"][4::41]
    sites, sentences = kill_at(some, place)
    print(f"sites={sites} of {len(where)} wrong={len(sentences)}")
    assert sentences == []
    assert sites > 0.75 * len(some)


@pytest.mark.long
def test_a_sigkill_before_every_change_of_an_update_harms_no_answer(place: Path) -> None:
    kill_everywhere(place)


@pytest.mark.long
def test_an_index_that_marks_before_it_takes_fails_the_sigkill_sweep(place: Path) -> None:
    calls = traced.count_calls(place, flaw="marks first")
    where = [("pwrite64", number) for number in range(3, calls["pwrite64"], 4)]
    _, sentences = kill_at(where, place, flaw="marks first")
    assert sentences
    print(sentences[0][:300])


def work_until(number: int, memory: Path, flaw: str) -> None:
    """The work, in a process of its own, which ends before this statement to SQLite."""
    left = number
    connect = sqlite3.connect

    class Ending(sqlite3.Connection):
        def execute(self, *arguments: Any) -> sqlite3.Cursor:
            nonlocal left
            left -= 1
            if left == 0:
                os._exit(DyingDisk.EXIT)
            return super().execute(*arguments)

    vars(sqlite3)["connect"] = lambda *given, **more: connect(*given, **more, factory=Ending)
    FLAWS[flaw]()
    recall_work.work(memory)


def end_at(numbers: Iterable[int], place: Path, flaw: str = "") -> tuple[int, list[str]]:
    prepared = place / "prepared"
    recall_work.prepare(prepared)
    sites, sentences = 0, []
    for number in numbers:
        memory = place / "memory"
        shutil.copytree(prepared, memory)
        fired = ends(partial(work_until, number, memory, flaw))
        if fired:
            sites += 1
            verdict = recall_work.judge(memory)
            sentences += [f"{number}: {each}" for each in verdict.sentences]
        shutil.rmtree(memory)
        if not fired:
            break
    return sites, sentences


def test_a_process_that_ends_before_some_statements_harms_no_answer(place: Path) -> None:
    sites, sentences = end_at(range(3, 10_000, 113), place)
    print(f"sites={sites} wrong={len(sentences)}")
    assert sentences == []
    assert sites > 2


@pytest.mark.long
def test_a_process_that_ends_before_any_statement_harms_no_answer(place: Path) -> None:
    sites, sentences = end_at(range(1, 10_000), place)
    print(f"\nsites={sites} wrong={len(sentences)}")
    assert sentences == []
    assert sites > 200


def test_an_index_that_marks_before_it_takes_fails_these_tests(place: Path) -> None:
    _, sentences = end_at(range(60, 120, 20), place, "marks first")
    assert sentences
    print(sentences[0][:300])


# --- damaged ---------------------------------------------------------------------------


def ruin_by(statement: str) -> Callable[[Path], None]:
    def ruin(index: Path) -> None:
        with closing(sqlite3.connect(index)) as connection:
            connection.execute(statement)
            connection.commit()

    return ruin


def in_its_place(make: Callable[[Path], object]) -> Callable[[Path], None]:
    def ruin(index: Path) -> None:
        index.unlink()
        make(index)

    return ruin


def link_outside(index: Path, link: Callable[[Path, Path], None]) -> None:
    kept = index.parent.parent.parent / "outside.sqlite"
    shutil.copy(index, kept)
    index.unlink()
    link(kept, index)


def cut(part: float) -> Callable[[Path], None]:
    return lambda index: os.truncate(index, int(index.stat().st_size * part))


RUINS: dict[str, Callable[[Path], object]] = {
    "gone": Path.unlink,
    "all views gone": lambda index: shutil.rmtree(index.parent),
    "empty": cut(0.0),
    "one byte": lambda index: index.write_bytes(b"S"),
    "half": cut(0.5),
    "nearly whole": cut(0.98),
    "cut within a page": cut(0.7003),
    "a page too much": lambda index: index.write_bytes(index.read_bytes() + b"\xff" * 4096),
    "text": lambda index: index.write_text("This is no database. " * 1000),
    "noise": lambda index: index.write_bytes(random.Random(1).randbytes(100_000)),
    "zeros": lambda index: index.write_bytes(bytes(index.stat().st_size)),
    "zeros behind the head": lambda index: index.write_bytes(
        index.read_bytes()[:4096] + bytes(index.stat().st_size - 4096)
    ),
    "another version": ruin_by("PRAGMA user_version = 99"),
    "no version": ruin_by("PRAGMA user_version = 0"),
    "a trigger": ruin_by("CREATE TRIGGER t AFTER INSERT ON item BEGIN DELETE FROM word; END"),
    "a view": ruin_by("CREATE VIEW v AS SELECT * FROM item"),
    "a table less": ruin_by("DROP TABLE session"),
    "a table more": ruin_by("CREATE TABLE more (x)"),
    "somebody else's database": in_its_place(ruin_by("CREATE TABLE accounts (name TEXT)")),
    "a directory": in_its_place(Path.mkdir),
    "a directory with something in it": in_its_place(lambda index: (index / "x").mkdir(parents=True)),
    "a fifo": in_its_place(os.mkfifo),
    "a symlink": lambda index: link_outside(index, lambda kept, name: name.symlink_to(kept)),
    "a dangling symlink": in_its_place(lambda index: index.symlink_to("/nonexistent/nowhere")),
    "a hard link": lambda index: link_outside(index, lambda kept, name: name.hardlink_to(kept)),
    "a log of garbage": lambda index: Path(f"{index}-wal").write_bytes(b"\x37\x7f\x06\x82" + b"x" * 9000),
    "a shared memory of garbage": lambda index: Path(f"{index}-shm").write_bytes(b"x" * 32768),
    "a directory as its log": lambda index: Path(f"{index}-wal").mkdir(),
    "a journal of garbage": lambda index: Path(f"{index}-journal").write_bytes(b"\xd9\xd5\x05\xf9" * 999),
}


ALIKE = (
    "one byte", "cut within a page", "a page too much", "text", "zeros", "no version", "a view",
    "a table more", "a directory with something in it", "a dangling symlink", "a journal of garbage",
)  # fmt: skip
"""Ruins that differ little from others: left to the long run."""


@pytest.mark.sampled(7)
@pytest.mark.parametrize(
    "ruin", [pytest.param(name, marks=[pytest.mark.long] * (name in ALIKE)) for name in RUINS]
)
def test_an_index_that_was_ruined_harms_no_answer(
    memory: Path, wanted: list[list[tuple[object, ...]]], ruin: str
) -> None:
    RUINS[ruin](memory / INDEX)
    beside = memory.parent / "outside.sqlite"
    kept = beside.read_bytes() if beside.exists() else b""
    assert wrong(memory, wanted) == []
    assert kept == (beside.read_bytes() if beside.exists() else b"")


@pytest.mark.parametrize("ruin", ["gone", "half", "noise", "another version", "all views gone", "a fifo"])
def test_an_index_that_is_ruined_while_it_is_open_harms_no_answer(
    memory: Path, wanted: list[list[tuple[object, ...]]], ruin: str
) -> None:
    with open_memory(memory) as opened, open_memory(memory) as other:
        assert answers(opened) == answers(other) == wanted
        RUINS[ruin](memory / INDEX)
        assert answers(opened) == wanted
        opened.record(user="The ruined lantern was mended by a tinker.", ts=THEN + 900)
        for each in (other, opened):
            assert "The ruined lantern was mended by a tinker." in texts(each, "ruined lantern tinker")


def test_an_index_that_is_gone_with_its_log_left_behind_is_made_anew(memory: Path) -> None:
    index = memory / INDEX
    with open_memory(memory) as opened:
        opened.record(user="The last lamp is lit at dusk.", ts=THEN + 900)
        recall(opened, "lamp dusk")
        log = Path(f"{index}-wal").read_bytes()
    assert log
    index.unlink()
    Path(f"{index}-wal").write_bytes(log)
    assert wrong(memory, made_afresh(memory)) == []


def scribble(index: Path, chance: random.Random) -> None:
    data = bytearray(index.read_bytes())
    for _ in range(chance.choice((1, 3, 10))):
        size = chance.choice((64, 512, 4096))
        at = chance.randrange(len(data))
        data[at : at + size] = chance.randbytes(len(data[at : at + size]))
    index.write_bytes(data)


def scribbled(memory: Path, wanted: list[list[tuple[object, ...]]], seeds: Iterable[int]) -> tuple[int, int]:
    """How many indexes with garbage in them were asked, and how many said something else than a new one.

    Nothing in SQLite finds a changed letter in the middle of a text. So what is found, and in which order, may then
    differ; but each hit is there, is true, and says what stands there: the index is not where that comes from.
    """
    whole = (memory / INDEX).read_bytes()
    before = outside(memory)
    true = {row[0]: row[2] for rows in wanted for row in rows}
    count = other = 0
    for seed in seeds:
        (memory / INDEX).write_bytes(whole)
        scribble(memory / INDEX, random.Random(seed))
        with open_memory(memory) as opened:
            said = answers(opened)
            count += 1
            other += said != wanted
            for rows in said:
                for row in rows:
                    assert row[2] == true.get(row[0], row[2]), seed
                    assert str(row[2]).split("\n")[0][:30] in opened.open(str(row[0])).text, seed
        for ending in ("-wal", "-shm"):
            Path(f"{memory / INDEX}{ending}").unlink(missing_ok=True)
    assert outside(memory) == before
    return count, other


def test_garbage_at_random_places_ends_nothing_and_invents_nothing(
    memory: Path, wanted: list[list[tuple[object, ...]]]
) -> None:
    count, other = scribbled(memory, wanted, range(6))
    print(f"damaged={count} raised=0 another_order={other}")
    assert other <= count // 3


@pytest.mark.long
def test_garbage_at_very_many_random_places_ends_nothing_and_invents_nothing(
    memory: Path, wanted: list[list[tuple[object, ...]]]
) -> None:
    count, other = scribbled(memory, wanted, range(1000, 2200))
    print(f"\ndamaged={count} raised=0 another_order={other}")
    assert other <= count // 3


@pytest.mark.parametrize("believes", [False, True])
def test_an_index_that_believes_any_file_fails_where_ours_does_not(
    memory: Path, monkeypatch: pytest.MonkeyPatch, believes: bool
) -> None:
    if believes:
        monkeypatch.setattr(SqliteIndex, "_is_ours", lambda self: True)
    RUINS["a trigger"](memory / INDEX)
    with open_memory(memory) as opened:
        opened.record(user="The ledger of the mill is blue.", ts=THEN + 900)
        answers(opened)
    assert bool(wrong(memory, made_afresh(memory))) == believes


@pytest.mark.parametrize("ruin", ["noise", "another version", "a table less", "zeros behind the head"])
def test_a_damaged_file_that_cannot_be_removed_is_not_asked(
    memory: Path, wanted: list[list[tuple[object, ...]]], monkeypatch: pytest.MonkeyPatch, ruin: str
) -> None:
    def refuse(self: SqliteIndex) -> None:
        raise PermissionError("not yours")

    RUINS[ruin](memory / INDEX)
    with open_memory(memory) as opened:
        with monkeypatch.context() as patch:
            patch.setattr(SqliteIndex, "remove", refuse)
            for _ in range(2):
                assert answers(opened) == wanted
            assert len(opened.notes) == 1
        assert answers(opened) == wanted
    with closing(SqliteIndex(str(memory / INDEX))) as index:  # made anew as soon as it could be
        assert index.open(make=False)
        assert index.faults() == []


@pytest.mark.parametrize("error", [OSError("input/output error"), DamagedIndex("malformed")])
def test_a_file_that_gives_out_while_it_is_asked_costs_no_answer(
    memory: Path,
    wanted: list[list[tuple[object, ...]]],
    monkeypatch: pytest.MonkeyPatch,
    error: Exception,
) -> None:
    candidates, trace = SqliteIndex.candidates, SqliteIndex.trace
    fired: list[str] = []

    def fail(self: SqliteIndex, *arguments: Any) -> Any:
        if self._path is not None:
            fired.append("candidates")
            raise error
        return candidates(self, *arguments)

    def fail_too(self: SqliteIndex, name: str) -> Any:
        if self._path is not None:
            fired.append("trace")
            raise error
        return trace(self, name)

    monkeypatch.setattr(SqliteIndex, "candidates", fail)
    monkeypatch.setattr(SqliteIndex, "trace", fail_too)
    with open_memory(memory) as opened:
        assert answers(opened) == wanted
        [where] = [row[0] for row in wanted[1] if row[2] == "The violet lantern hangs in the harbour."]
        assert "violet lantern" in opened.open(str(where)).text
        assert {*fired} == {"candidates", "trace"}
        assert opened.notes


# --- nothing can be written ----------------------------------------------------------------


@contextmanager
def mounted_read_only(folder: Path) -> Iterator[None]:
    bind = ["mount", "--bind", str(folder), str(folder)]
    if subprocess.run(bind, capture_output=True, check=False).returncode:
        pytest.skip("a folder cannot be mounted read-only here")
    try:
        again = ["mount", "-o", "remount,ro,bind", str(folder)]
        if subprocess.run(again, capture_output=True, check=False).returncode:
            pytest.skip("a folder cannot be mounted read-only here")
        yield
    finally:
        subprocess.run(["umount", "-l", str(folder)], check=True)


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() != 0, reason="only root can mount")
@pytest.mark.parametrize("ruin", ["", "gone", "half", "noise", "another version", "zeros behind the head"])
def test_a_read_only_memory_is_answered_from_with_a_note(
    memory: Path, wanted: list[list[tuple[object, ...]]], ruin: str
) -> None:
    if ruin:
        RUINS[ruin](memory / INDEX)
    with mounted_read_only(memory), open_memory(memory) as opened:
        assert answers(opened) == wanted
        assert answers(opened) == wanted  # the second time from what the first has read
        assert len([note for note in opened.notes if "index" in note]) <= 1


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() != 0, reason="only root can mount")
def test_what_an_index_lacks_is_found_where_nothing_can_be_written(memory: Path) -> None:
    """The file has what was, and what came is held in memory: what is over there is over here too."""
    index = memory / INDEX
    old = memory.parent / "old"
    with open_memory(old) as opened:
        begin(opened)
        answers(opened)
        kept = (old / INDEX).read_bytes()
        go_on(opened)
    Path(old / INDEX).write_bytes(kept)
    for ending in ("-wal", "-shm"):
        Path(f"{old / INDEX}{ending}").unlink(missing_ok=True)
    assert index.exists()
    fresh = made_afresh(old)
    with mounted_read_only(old / "views"), open_memory(old) as opened:
        said = answers(opened)
        assert opened.notes
    assert [{row[:3] + row[4:] for row in rows} for rows in said] == [
        {row[:3] + row[4:] for row in rows} for rows in fresh
    ]
    assert [rows[0][0] for rows in said] == [rows[0][0] for rows in fresh]


@contextmanager
def no_file_larger_than(size: int) -> Iterator[None]:
    """The kernel writes what fits, then says EFBIG. Python ignores SIGXFSZ."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


@pytest.mark.parametrize("size", [0, 5000, pytest.param(50_000, marks=pytest.mark.long)])
@pytest.mark.parametrize("is_there", [True, False])
def test_an_index_that_may_not_grow_harms_no_answer(
    memory: Path, wanted: list[list[tuple[object, ...]]], size: int, is_there: bool
) -> None:
    if not is_there:
        (memory / INDEX).unlink()
    with open_memory(memory) as opened:
        opened.record(user="The ledger of the mill is blue.", ts=THEN + 900)
        with no_file_larger_than(size):
            assert "The ledger of the mill is blue." in texts(opened, "ledger mill blue")
            assert texts(opened, "violet lantern harbour")[0] == "The violet lantern hangs in the harbour."
        opened.record(user="The ledger of the forge is red.", ts=THEN + 901)
        assert "The ledger of the forge is red." in texts(opened, "ledger forge red")
        fresh = made_afresh(memory)
        assert answers(opened) == fresh
        assert len(opened.notes) <= 2
    assert wrong(memory, fresh) == []


def test_a_full_disk_leaves_the_index_as_it_was(memory: Path) -> None:
    """It is not made anew for that: on a full disk nothing could be."""
    index = (memory / INDEX).stat().st_ino
    with open_memory(memory) as opened:
        opened.record(user="The ledger of the mill is blue.", ts=THEN + 900)
        with no_file_larger_than(3000):
            assert "The ledger of the mill is blue." in texts(opened, "ledger mill blue")
            assert len(opened.notes) == 1
        assert (memory / INDEX).stat().st_ino == index


def test_where_the_file_goes_while_memory_completes_it_nothing_is_missing(memory: Path) -> None:
    with open_memory(memory) as opened:
        before = found(opened)
        opened.record(user="The ledger of the mill is blue.", ts=THEN + 900)
        with no_file_larger_than(3000):
            assert "The ledger of the mill is blue." in texts(opened, "ledger mill blue")
            (memory / INDEX).unlink()
            assert all(old <= new for old, new in zip(before, found(opened), strict=True))


# --- what it is of changes under it ----------------------------------------------------------


def damage_log(memory: Path) -> None:
    """A line in the middle of the talk is broken; repair writes the log anew without it."""
    path = memory / stream_files("traces/main")[0]
    data = path.read_bytes()
    at = data.index(b"copper kettle 7")
    path.write_bytes(data[:at] + b"\xff\xfe" + data[at + 2 :])


def test_after_a_repair_that_writes_a_log_anew_each_place_is_the_new_one(memory: Path) -> None:
    with open_memory(memory) as other:
        answers(other)
        damage_log(memory)
        with open_memory(memory) as opened:
            assert opened.repair()
            fresh = made_afresh(memory)
            assert answers(opened) == fresh
        assert answers(other) == fresh
        assert not any("kettle 7 " in text for text in texts(other, "copper kettle 7 shelf 7", k=50))
    with open_memory(memory) as opened:
        opened.parts.context.store.recover()  # what a repair leaves to others is not the index's matter
        opened.pages.absorb()
    assert wrong(memory, fresh) == []


def test_a_log_that_is_rotated_is_read_where_it_is(memory: Path) -> None:
    with open_memory(memory) as opened:
        said = answers(opened)
        opened.parts.context.store.rotate("traces/main")
        opened.parts.context.store.rotate("journal")
        assert answers(opened) == said
        opened.record(user="The ledger of the mill is blue.", ts=THEN + 900)
        assert texts(opened, "ledger mill blue")[0] == "The ledger of the mill is blue."
    assert wrong(memory, made_afresh(memory)) == []


def test_a_log_of_which_an_older_copy_was_put_back_is_believed(memory: Path) -> None:
    log = memory / stream_files("traces/main")[0]
    with open_memory(memory) as opened:
        kept = log.read_bytes()
        opened.record(user="The ledger of the mill is blue.", ts=THEN + 900)
        assert "The ledger of the mill is blue." in texts(opened, "ledger mill blue")
    log.write_bytes(kept)
    with open_memory(memory) as opened:
        assert "The ledger of the mill is blue." not in texts(opened, "ledger mill blue")
        opened.record(user="The ledger of the forge is red.", ts=THEN + 901)
        assert "The ledger of the forge is red." in texts(opened, "ledger forge red")
    assert wrong(memory, made_afresh(memory)) == []


def test_pages_that_are_deleted_or_renamed_are_found_where_they_are(memory: Path) -> None:
    with open_memory(memory) as other, open_memory(memory) as opened:
        assert recall(other, "frost roses April")[0].where == "facts/garden.md#3-3"
        (memory / "facts/garden.md").rename(memory / "facts/park.md")
        hits = [hit.where for hit in recall(other, "frost roses April") if hit.kind == "prose"]
        assert hits == ["facts/park.md#3-3"]
        opened.pages.delete("facts/park.md", reason="enough")
        assert [hit for hit in recall(other, "frost roses April") if hit.kind == "prose"] == []
        opened.history.undo()
        hits = [hit.where for hit in recall(other, "frost roses April") if hit.kind == "prose"]
        assert hits == ["facts/park.md#3-3"]


# --- several at once -------------------------------------------------------------------


def test_processes_that_record_and_look_at_once_find_their_own_and_leave_a_whole_index(memory: Path) -> None:
    writers = [Reader(record_and_find, str(memory), who, 8) for who in range(2)]
    for writer in writers:
        assert writer.process.stdin is not None
        writer.process.stdin.close()
        writer.process.stdin = None
    assert [writer.let_go() for writer in writers] == [[], []]
    assert wrong(memory, made_afresh(memory)) == []
    with closing(SqliteIndex(str(memory / INDEX))) as index:
        assert index.open(make=False)
        assert index.faults() == []


def test_views_removed_again_and_again_while_others_ask_cost_no_answer(memory: Path) -> None:
    reader = Reader(find_for, str(memory))
    with reader, open_memory(memory) as opened:
        for number in range(4):
            shutil.rmtree(memory / "views", ignore_errors=True)
            text = f"Barrel q{number}z holds cider."
            opened.record(user=text)
            first, second = (opened, reader) if number % 2 else (reader, opened)
            for each in (first, second):
                query = f"barrel q{number}z"
                assert text in (texts(each, query) if isinstance(each, Memory) else each.ask(query))
    assert wrong(memory, made_afresh(memory)) == []


def test_threads_of_one_memory_record_and_find(memory: Path) -> None:
    missing: list[str] = []
    with open_memory(memory) as opened:

        def work(who: int) -> None:
            for number in range(8):
                text = f"Crate q{who}x{number}z holds plums."
                opened.record(user=text)
                if text not in texts(opened, f"crate q{who}x{number}z"):
                    missing.append(text)

        threads = [threading.Thread(target=work, args=(who,)) for who in range(3)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert missing == []


def test_a_fork_asks_by_itself(memory: Path) -> None:
    with open_memory(memory) as opened:
        said = answers(opened)

        def record_and_ask() -> None:
            opened.record(user="The forked lantern glows.", ts=THEN + 950)
            assert "The forked lantern glows." in texts(opened, "forked lantern glows")

        assert run_in_child(record_and_ask) == 0
        assert "The forked lantern glows." in texts(opened, "forked lantern glows")
        assert len(answers(opened)) == len(said)
    assert wrong(memory, made_afresh(memory)) == []
