"""A store in a folder, driven at random through appends, crashes, editors and reopenings, against plain lists."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from _pytest.outcomes import Failed
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    invariant,
    rule,
    run_state_machine_as_test,
)

from drawing import COSTLY, core, few
from looseleaf.base.errors import Stale
from looseleaf.base.ids import new_id
from looseleaf.base.policy import Policy
from looseleaf.base.values import Position
from looseleaf.store import records as codec
from looseleaf.store import streams as segments
from looseleaf.store.documents import Documents
from looseleaf.store.files import FileStore
from looseleaf.store.streams import Streams, segment_name, stream_files
from store_contract import edit_of, hash_of

if TYPE_CHECKING:
    from looseleaf.base.values import Record

STREAMS = ("journal", "traces/main", "prompts/main")
PAGES = ("USER.md", "facts/tea.md", "facts/café.md")
TINY = Policy(segment_bytes=700, body_bytes=400, late_seconds=0.001, lock_seconds=5)

streams = st.sampled_from(STREAMS)
pages = st.sampled_from(PAGES)
contents = st.one_of(
    st.text(st.characters(codec=None), max_size=30),
    st.integers(0, 400).map(lambda size: "x" * size),
    st.integers(1024, 3000).map(lambda size: "long " * (size // 5)),
    st.lists(st.integers(), max_size=5),
)
texts = st.binary(max_size=40)
garbage = st.one_of(
    st.binary(min_size=1, max_size=100).map(lambda data: data.replace(b"\n", b"?")),
    st.integers(1, 70_000).map(lambda size: b"\0" * size),
    st.builds(  # of a record all but its end, or less
        lambda cut, content: codec.encode({"id": "torn", "content": content})[: -1 - cut],
        st.integers(0, 20),
        contents,
    ),
)


class StoreMachine(RuleBasedStateMachine):
    """The model: a list of records for each stream and the bytes of each page; `torn` are unfinished."""

    def __init__(self) -> None:
        super().__init__()
        self.folder = Path(tempfile.mkdtemp(prefix="looseleaf-"))
        self.logs: dict[str, list[Record]] = {stream: [] for stream in STREAMS}
        self.pages: dict[str, bytes] = {}
        self.torn: set[str] = set()
        self.count = 0
        self.store = self.open()
        self.other = self.open()

    def open(self) -> FileStore:
        return FileStore(self.folder, TINY)

    def teardown(self) -> None:
        self.store.close()
        self.other.close()
        shutil.rmtree(self.folder)

    def record(self, content: object) -> Record:
        self.count += 1
        return {"id": f"{self.count:06d}", "ts": 1e10, "content": content}

    def active(self, stream: str) -> Path:
        return self.folder / stream_files(stream)[0]

    def base(self, path: str) -> str | None:
        return hash_of(self.pages[path]) if path in self.pages else None

    # --- streams -------------------------------------------------------------------------

    @rule(stream=streams, given=st.lists(contents, min_size=1, max_size=5), by_other=st.booleans())
    def append(self, stream: str, given: list[Any], by_other: bool) -> None:
        records = [self.record(content) for content in given]
        store = self.other if by_other else self.store
        expected = store.end(stream)
        positions = store.append(stream, records)
        assert positions == sorted(set(positions))
        # A new segment where the old one has no room, else exactly where the last record ended.
        assert positions[0] in (expected, Position(expected.segment + 1, 0))
        assert [line.record for line in store.read(stream, positions[0])] == records
        self.logs[stream] += records
        self.torn.discard(stream)

    @rule(stream=streams, by_other=st.booleans())
    def rotate(self, stream: str, by_other: bool) -> None:
        store = self.other if by_other else self.store
        store.rotate(stream)
        self.torn.discard(stream)
        assert store.end(stream).offset == 0

    @rule()
    def reopen(self) -> None:
        self.store.close()
        self.store = self.open()

    @rule(stream=streams, tail=garbage)
    def tear(self, stream: str, tail: bytes) -> None:
        """A crash in the middle of a write."""
        if self.active(stream).exists():
            with self.active(stream).open("ab") as file:
                file.write(tail)
            self.torn.add(stream)

    @rule(stream=streams, new_file=st.booleans())
    def stop_halfway_through_a_rotation(self, stream: str, new_file: bool) -> None:
        """A crash after the rename: no seal yet, and perhaps no new file."""
        active = self.active(stream)
        if stream in self.torn or not active.exists() or not active.stat().st_size:
            return
        archive = self.folder / stream_files(stream)[1]
        archive.mkdir(parents=True, exist_ok=True)
        # As in the program: the next segment is begun only when the last one has been sealed.
        self.other.append(stream, [beginning := self.record("before the crash")])
        self.logs[stream].append(beginning)
        active.rename(archive / segment_name(self.store.end(stream).segment))
        if new_file:
            active.touch(0o600)

    # --- pages ---------------------------------------------------------------------------

    @rule(path=pages, data=texts, journaled=st.booleans(), by_other=st.booleans())
    def put(self, path: str, data: bytes, journaled: bool, by_other: bool) -> None:
        store = self.other if by_other else self.store
        record = edit_of(path, self.base(path), data) if journaled else None
        assert store.put(path, data, base=self.base(path), record=record) == hash_of(data)
        self.pages[path] = data
        if record:
            self.note(record)

    def note(self, record: Record) -> None:
        self.logs["journal"].append(record)
        self.torn.discard("journal")

    @rule(path=pages, journaled=st.booleans())
    def delete(self, path: str, journaled: bool) -> None:
        base = self.base(path)
        if base is not None:
            record = edit_of(path, base, None) if journaled else None
            self.store.delete(path, base=base, record=record)
            del self.pages[path]
            if record:
                self.note(record)

    @rule(path=pages, data=texts, delete=st.booleans())
    def change_from_a_stale_base(self, path: str, data: bytes, delete: bool) -> None:
        stale = hash_of(b"something else altogether")
        change = partial(self.store.delete, path) if delete else partial(self.store.put, path, data)
        with pytest.raises(Stale) as refused:
            change(base=stale, record=edit_of(path, stale, None if delete else data))
        assert refused.value.current == self.base(path)
        if path in self.pages:
            with pytest.raises(Stale):
                self.store.put(path, data, base=None, record=edit_of(path, None, data))

    @rule(path=pages, data=texts, by_rename=st.booleans())
    def save_in_an_editor(self, path: str, data: bytes, by_rename: bool) -> None:
        target = self.folder / path
        target.parent.mkdir(exist_ok=True)
        written = target.with_name(".editor") if by_rename else target
        written.write_bytes(data)
        if by_rename:
            written.rename(target)
        self.pages[path] = data

    @rule(path=pages)
    def remove_by_hand(self, path: str) -> None:
        (self.folder / path).unlink(missing_ok=True)
        self.pages.pop(path, None)

    # --- what a crash leaves of a change ---------------------------------------------------

    @rule(kind=st.sampled_from(["put", "dir", "edit", "strange"]), old=st.booleans(), data=texts)
    def leave_a_staged_file(self, kind: str, old: bool, data: bytes) -> None:
        staged = self.folder / "log/staged"
        staged.mkdir(parents=True, exist_ok=True)
        stem = "0" * 26 if old else new_id()
        if kind == "dir":
            (staged / f"{stem}.dir").mkdir(exist_ok=True)
            (staged / f"{stem}.dir" / "raw.md").write_bytes(data)
        else:
            (staged / f"{stem}.{kind}").write_bytes(data)

    @rule(path=pages, data=texts, exchanged=st.booleans())
    def stop_halfway_through_an_edit(self, path: str, data: bytes, exchanged: bool) -> None:
        """A crash after the journal has the edit: before or after the exchange. It is completed."""
        base = self.base(path)
        if exchanged and base is None:
            return
        record = edit_of(path, base, data)
        staged = self.folder / "log/staged" / f"{record['id']}.edit"
        staged.parent.mkdir(parents=True, exist_ok=True)
        (self.folder / path).parent.mkdir(exist_ok=True)
        self.other.append("journal", [record])
        self.note(record)
        if exchanged:
            (self.folder / path).rename(staged)
            (self.folder / path).write_bytes(data)
        else:
            staged.write_bytes(data)
        self.store.recover()
        self.pages[path] = data
        assert not staged.exists()

    @rule()
    def recover(self) -> None:
        self.store.recover()

    @rule()
    def repair(self) -> None:
        before = {stream: self.read(stream) for stream in STREAMS}
        done = self.store.repair()
        assert bool(self.torn) == any("unfinished" in sentence for sentence in done)
        self.torn.clear()
        assert {stream: self.read(stream) for stream in STREAMS} == before
        assert self.store.repair() == []

    # --- what holds after each step ----------------------------------------------------------

    def read(self, stream: str) -> list[Record]:
        return [
            line.record for line in self.other.read(stream) if line.record.get("kind") not in ("void", "late")
        ]

    @invariant()
    def streams_are_what_was_appended(self) -> None:
        for stream, records in self.logs.items():
            lines = list(self.store.read(stream))
            assert self.read(stream) == records
            assert list(self.store.read_back(stream)) == lines[::-1]
            assert all(line.checked for line in lines)
            positions = [line.position for line in lines]
            assert positions == sorted(set(positions))
            end = self.store.end(stream)
            assert list(self.store.read(stream, end)) == []
            assert list(self.store.read_back(stream, end)) == lines[::-1]
            if lines:
                middle = lines[len(lines) // 2]
                assert list(self.store.read(stream, middle.position)) == lines[len(lines) // 2 :]
                assert list(self.store.read_back(stream, middle.position)) == lines[: len(lines) // 2][::-1]
        assert set(self.store.streams()) >= {stream for stream, records in self.logs.items() if records}

    @invariant()
    def pages_are_what_was_written_last(self) -> None:
        for path in PAGES:
            document = self.store.get(path)
            assert (document.data if document else None) == self.pages.get(path)
        assert [stat.path for stat in self.store.list("facts")] == sorted(
            path for path in self.pages if path.startswith("facts/")
        )

    @invariant()
    def check_finds_only_what_a_crash_may_leave(self) -> None:
        errors = [problem for problem in self.store.check() if problem.severity == "error"]
        assert {problem.path for problem in errors} == {stream_files(stream)[0] for stream in self.torn}
        assert all("is not finished" in problem.message for problem in errors)


def test_the_store_is_its_model_whatever_happens() -> None:
    run_state_machine_as_test(
        StoreMachine, settings=settings(core, max_examples=few(100, COSTLY), stateful_step_count=12)
    )


@pytest.mark.long
def test_the_store_is_its_model_for_a_long_time() -> None:
    run_state_machine_as_test(StoreMachine, settings=settings(core, max_examples=300, stateful_step_count=60))


# --- stores that must fail it ------------------------------------------------------------------------


def drive(machine: StoreMachine) -> None:
    """A short walk through the machine that meets a torn end, a rotation, another handle and a stale base."""
    machine.append(stream="traces/main", given=["one", "two"], by_other=False)
    machine.put(path="USER.md", data=b"first", journaled=True, by_other=False)
    machine.append(stream="traces/main", given=["three"], by_other=True)
    machine.tear(stream="traces/main", tail=codec.encode({"id": "never acknowledged"})[:-1])
    machine.streams_are_what_was_appended()
    machine.append(stream="traces/main", given=["four"], by_other=False)
    machine.rotate(stream="traces/main", by_other=True)
    machine.append(stream="traces/main", given=["five"], by_other=False)
    machine.stop_halfway_through_a_rotation(stream="traces/main", new_file=True)
    machine.append(stream="traces/main", given=["six"], by_other=False)
    machine.change_from_a_stale_base(path="USER.md", data=b"second", delete=False)
    machine.stop_halfway_through_an_edit(path="USER.md", data=b"third", exchanged=False)
    machine.streams_are_what_was_appended()
    machine.pages_are_what_was_written_last()
    machine.check_finds_only_what_a_crash_may_leave()


@pytest.fixture
def machine() -> Iterator[StoreMachine]:
    machine = StoreMachine()
    yield machine
    machine.teardown()


def test_the_walk_is_fine_without_a_fault(machine: StoreMachine) -> None:
    drive(machine)


def read_unfinished(*args: Any) -> Iterator[tuple[int, bytes, bool]]:
    return ((begin, line, True) for begin, line, _ in lines(*args))


def read_unfinished_back(*args: Any) -> Iterator[tuple[int, bytes, bool]]:
    return ((begin, line, True) for begin, line, _ in lines_back(*args))


def ignore_the_torn_end(self: Streams, fd: int, path: str, size: int, **_: bool) -> int:
    return size


def trust_the_handle(self: Streams, stream: str) -> Any:
    return self._active.get(stream) or self._open_file(stream, *stream_files(stream))


def ignore_the_base(self: Documents, path: str, data: bytes | None, base: str | None, *rest: Any) -> None:
    found = self.get(path)
    change(self, path, data, found.sha256 if found else None, *rest)


def do_nothing(*_: object) -> None:
    pass


lines, lines_back, change = segments.lines, segments.lines_back, Documents._change_document


@pytest.mark.parametrize(
    ("where", "name", "fault"),
    [
        (segments, "lines", read_unfinished),
        (segments, "lines_back", read_unfinished_back),
        (Streams, "_cut_torn_end", ignore_the_torn_end),
        (Streams, "_open_active", trust_the_handle),
        (Streams, "_seal_missing", do_nothing),
        (Documents, "_change_document", ignore_the_base),
        (Documents, "recover", do_nothing),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_a_store_with_a_fault_is_found_out(
    monkeypatch: pytest.MonkeyPatch, machine: StoreMachine, where: Any, name: str, fault: Any
) -> None:
    monkeypatch.setattr(where, name, fault)
    with pytest.raises((AssertionError, Failed)):
        drive(machine)
