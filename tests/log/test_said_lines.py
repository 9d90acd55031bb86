"""What was said is found by the index as it is found by reading everything: whatever the index has and lacks."""

from __future__ import annotations

import random
import shutil
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from drawing import few
from looseleaf import Memory
from looseleaf.base.messages import Trace
from looseleaf.base.values import Position
from looseleaf.index.said import fold, parts_of
from looseleaf.log import said_lines
from looseleaf.log.said_lines import edits_saying, lines_with
from looseleaf.log.turns import find_by_id, trace_text
from looseleaf.store import JOURNAL
from looseleaf.store.files import FileStore
from recalling import INDEX
from tables import check_rows
from talking import conversations

STREAM = "traces/main"
WORDS = st.sampled_from(["", "Straße", "green tea", "look_at it", "eins\nzwei", "gr\\een", "好茶"])


@pytest.fixture(autouse=True)
def _at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """The index is asked from the third line on."""
    monkeypatch.setattr(said_lines, "_NEAR", 2)


def says(memory: Memory, text: str) -> list[str]:
    """The ids of the traces that say a text, as lines are offered."""
    lines = lines_with(memory.parts.context.store, STREAM, parts_of(text))
    traces = (Trace.from_record(line.record) for line in lines)
    return [trace.id for trace in traces if trace is not None and fold(text) in fold(trace_text(trace))]


def everything(memory: Memory) -> list[Trace]:
    lines = memory.parts.context.store.read_back(STREAM)
    return [trace for line in lines if (trace := Trace.from_record(line.record)) is not None]


def says_slowly(memory: Memory, text: str) -> list[str]:
    return [trace.id for trace in everything(memory) if fold(text) in fold(trace_text(trace))]


ASKED = ("e", "strasse", "STRASS", "tea", "green tea", "t_i", "ns zw", "green", "茶", "nowhere", "…")


def check_all(memory: Memory) -> None:
    for text in ASKED:
        assert says(memory, text) == says_slowly(memory, text), text
    traces = everything(memory)[::-1]
    for name in dict.fromkeys(trace.session_id for trace in traces):
        told = [trace.id for turn in memory.talk.turns(session=name) for trace in turn.traces]
        assert sorted(told) == sorted(trace.id for trace in traces if trace.session_id == name)
    for name in dict.fromkeys(trace.turn_id for trace in traces):
        own = tuple(trace for trace in traces if trace.turn_id == name)
        assert memory.talk.turn(name).traces == own


@settings(max_examples=few(25), deadline=None)
@given(
    before=conversations(WORDS, 4),
    after=conversations(WORDS, 3),
    later=conversations(WORDS, 2),
    is_current=st.booleans(),
)
def test_lines_are_found_as_they_are_read(
    tmp_path_factory: pytest.TempPathFactory,
    before: list[dict[str, Any]],
    after: list[dict[str, Any]],
    later: list[dict[str, Any]],
    is_current: bool,
) -> None:
    path = tmp_path_factory.mktemp("memory") / "m"
    with Memory(path, session="one") as memory, Memory(path, session="two") as other:
        for each in before:
            memory.record(**each)
        check_all(memory)  # there is no index
        memory.recall("tea")
        for each in after:
            other.record(**each)
        if is_current:
            other.recall("tea")
        for each in later:
            memory.record(**each)
        check_all(memory)
        check_all(other)


def fill(memory: Memory) -> None:
    for number in range(30):
        memory.record(user=f"Kettle {number} is green.")
        memory.record(assistant="So it is.")


@pytest.fixture
def memory(place: Path) -> Iterator[Memory]:
    with Memory(place / "memory", session="one") as made:
        fill(made)
        made.recall("kettle")
        yield made


class Counting(FileStore):
    """Counts the lines that are read, in either direction."""

    lines = 0

    def read(self, *asked: Any, **more: Any) -> Iterator[Any]:
        for line in super().read(*asked, **more):
            self.lines += 1
            yield line

    def read_back(self, stream: str, end: Position | None = None) -> Iterator[Any]:
        for line in super().read_back(stream, end):
            self.lines += 1
            yield line


def test_only_the_last_lines_and_those_that_the_index_names_are_read(memory: Memory) -> None:
    with Counting(memory.path) as store:
        assert len(list(lines_with(store, STREAM, parts_of("ettle 7")))) == 2 + 1
        assert store.lines < 6
        store.lines = 0
        assert len(list(lines_with(store, STREAM, parts_of("nowhere")))) == 2
        assert store.lines == 3
        store.lines = 0
        Path(memory.path, INDEX).unlink()
        assert len(list(lines_with(store, STREAM, parts_of("nowhere")))) == 60


def _garbage(path: Path) -> None:
    data = bytearray(path.read_bytes())
    chance = random.Random(1)
    for _ in range(400):
        data[chance.randrange(100, len(data))] = chance.randrange(256)
    path.write_bytes(data)


def _drop(*tables: str) -> Callable[[Path], None]:
    def act(path: Path) -> None:
        with closing(sqlite3.connect(path)) as file, file:
            for table in tables:
                file.execute(f"DROP TABLE {table}")

    return act


def _other_version(path: Path) -> None:
    with closing(sqlite3.connect(path)) as file, file:
        file.execute("PRAGMA user_version = 1")


def test_an_index_that_is_ruined_hides_nothing(memory: Memory) -> None:
    whole = Path(memory.path, INDEX)
    memory.parts.recall.keep.close()
    kept = whole.read_bytes()

    def check(ruin: Callable[[Path], None]) -> None:
        for ending in ("-wal", "-shm"):
            Path(f"{whole}{ending}").unlink(missing_ok=True)
        if whole.is_dir():
            whole.rmdir()
        whole.write_bytes(kept)
        ruin(whole)
        assert says(memory, "kettle") == says_slowly(memory, "kettle")
        assert len(says(memory, "kettle 7")) == 1

    check_rows(
        check,
        [
            _drop("verbatim"),
            _drop("said"),
            _drop("line"),
            _drop("source"),
            _other_version,
            lambda path: path.write_bytes(b""),
            lambda path: path.write_bytes(b"no database" * 999),
            lambda path: path.write_bytes(path.read_bytes()[: len(kept) // 2]),
            lambda path: (path.unlink(), path.mkdir())[0],
        ],
    )


def test_garbage_in_the_index_ends_nothing_and_invents_nothing(memory: Memory) -> None:
    memory.parts.recall.keep.close()
    _garbage(Path(memory.path, INDEX))
    assert set(says(memory, "kettle 7")) <= set(says_slowly(memory, "kettle 7"))


def test_what_is_forgotten_is_not_found_by_an_older_index(memory: Memory) -> None:
    kept = Path(memory.path, INDEX).read_bytes()
    memory.forget(match="Kettle 7 is green")
    assert says(memory, "kettle 7 is") == []
    Path(memory.path, INDEX).write_bytes(kept)  # as no program does
    assert says(memory, "kettle 7 is") == says_slowly(memory, "kettle 7 is") == []
    assert says(memory, "kettle") == says_slowly(memory, "kettle")


def test_a_log_that_was_sealed_or_put_back_is_read_where_it_is(memory: Memory, place: Path) -> None:
    shutil.copytree(memory.path, place / "older")
    memory.parts.context.store.rotate(STREAM)
    fill(memory)
    memory.recall("kettle")
    memory.parts.context.store.rotate(STREAM)
    fill(memory)
    check_all(memory)
    shutil.copy(Path(memory.path, INDEX), place / "older" / INDEX)  # it has places that this log has not
    with Memory(place / "older", session="two") as older:
        assert says(older, "kettle 7") == says_slowly(older, "kettle 7")
        older.record(user="Kettle 77 is red.")
        assert says(older, "kettle 7") == says_slowly(older, "kettle 7")


# --- the journal, and ids ----------------------------------------------------------------


def test_edits_of_a_page_are_found_as_they_are_read(memory: Memory) -> None:
    for number in range(9):
        for page in ("facts/tea.md", "facts/tea-2.md", "USER.md"):
            memory.pages.edit(page, f"# Page\n\n- Note: {number} {page}\n", reason="more", author="person")
        if number == 5:
            memory.recall("tea")
    store = memory.parts.context.store
    for page in ("facts/tea.md", "facts/tea-2.md", "USER.md", "facts/none.md"):
        wanted = list(memory.history.edits(page))
        assert list(edits_saying(store, page)) == wanted
        for edit in wanted:
            assert edit in edits_saying(store, page, edit.id)


def test_a_record_is_found_by_its_id_wherever_it_stands(memory: Memory) -> None:
    store = memory.parts.context.store
    for stream in (STREAM, JOURNAL):
        store.rotate(stream)
        memory.record(user="More.")
        memory.remember("I like tea.")
        store.rotate(stream)
        memory.record(user="And more.")
        for line in list(store.read(stream)):
            found = find_by_id(store, stream, str(line.record["id"]))
            assert found is not None
            assert (found.record, found.position) == (line.record, line.position)
        assert find_by_id(store, stream, "01ARZ3NDEKTSV4RRFFQ69G5FAV") is None
        assert find_by_id(store, stream, "no id") is None


def test_a_record_is_found_by_its_id_in_a_log_out_of_order(memory: Memory) -> None:
    with Counting(memory.path) as store:
        traces = everything(memory)[::-1]
        assert find_by_id(store, STREAM, traces[3].id) is not None
        assert store.lines < 30
    file = Path(memory.path, "log/traces/main/raw_traces.jsonl")
    lines = file.read_bytes().splitlines(keepends=True)
    random.Random(2).shuffle(lines)
    file.write_bytes(b"".join(lines))
    with FileStore(memory.path) as store:
        for trace in traces:
            found = find_by_id(store, STREAM, trace.id)
            assert found is not None
            assert found.record["id"] == trace.id
