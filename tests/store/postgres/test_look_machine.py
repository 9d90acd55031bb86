"""Three handles of one memory, driven at random, against plain dicts: a look may be late, and never wrong.

Outside a look, and under the lock, everything is as it is now. Inside one, everything is as it was at some moment since
the look began, and never before what the handle wrote itself.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, NamedTuple

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
from looseleaf.base.errors import Outdated
from looseleaf.base.ids import new_id
from looseleaf.base.policy import Policy
from looseleaf.base.values import START, Position
from looseleaf.store import records as codec
from looseleaf.store.documents import Removal
from looseleaf.store.postgres.address import parse_address
from looseleaf.store.postgres.look import Asked, Lines, Seen
from looseleaf.store.postgres.store import PostgresStore
from store_contract import edit_of, hash_of

if TYPE_CHECKING:
    from looseleaf.base.values import Record
    from postgres import Running

STREAMS = ("journal", "traces/main")
FOLDERS = ("facts", "views/topics")
PATHS = ("facts/a.md", "facts/b.md", "views/topics/c.md", "USER.md")
TINY = Policy(segment_bytes=600, body_bytes=400)
SECRET = "the-forgotten-word"

handles = st.integers(0, 2)
streams = st.sampled_from(STREAMS)
paths = st.sampled_from(PATHS)
sizes = st.sampled_from([1, 30, 90, 2000])


class State(NamedTuple):
    """All of a memory at a moment."""

    edition: int
    logs: dict[str, tuple[str, ...]]
    """The ids of the records."""
    pages: dict[str, bytes]


class LookMachine(RuleBasedStateMachine):
    """The model: every state that was, and for each handle the first one that it may still see."""

    where: Callable[[], str]

    def __init__(self) -> None:
        super().__init__()
        address = parse_address(type(self).where())
        self.stores = [PostgresStore.open(address, TINY, make=True) for _ in range(3)]
        self.truth = PostgresStore.open(address, TINY)
        self.states = [State(0, dict.fromkeys(STREAMS, ()), {})]
        self.looks: list[Any] = [None] * 3
        self.floors: list[dict[str, int]] = [{} for _ in range(3)]
        self.begun = [0] * 3
        self.contents: dict[str, Record] = {}
        self.places: dict[str, Position] = {}

    def teardown(self) -> None:
        for number in range(3):
            if self.looks[number] is not None:
                self.looks[number].__exit__(None, None, None)
        for store in (*self.stores, self.truth):
            store.close()

    # --- the model -------------------------------------------------------------------------

    @property
    def now(self) -> State:
        return self.states[-1]

    def note(self, number: int, *names: str, **changes: Any) -> None:
        """A handle changed what these names name."""
        self.states.append(self.now._replace(**changes))
        for name in names:
            self.floors[number][name] = len(self.states) - 1

    def possible(self, number: int, name: str) -> list[State]:
        """The states that a handle may show of a name."""
        if self.looks[number] is None or self.stores[number].is_locked():
            return [self.now]
        return self.states[max(self.begun[number], self.floors[number].get(name, 0)) :]

    def is_moved(self, number: int) -> bool:
        """True if lines may lie elsewhere than this look knows."""
        return self.possible(number, "")[0].edition != self.now.edition

    # --- looks -----------------------------------------------------------------------------

    @rule(number=handles)
    def look(self, number: int) -> None:
        if self.looks[number] is None:
            self.looks[number] = self.stores[number].look()
            self.looks[number].__enter__()
            self.begun[number] = len(self.states) - 1
        else:
            self.looks[number].__exit__(None, None, None)
            self.looks[number] = None

    @rule(number=handles)
    def look_again(self, number: int) -> None:
        self.stores[number].look_again()
        self.begun[number] = len(self.states) - 1

    # --- writing ---------------------------------------------------------------------------

    def record(self, size: int) -> Record:
        name = new_id()
        text = SECRET if size == 30 else "x"
        self.contents[name] = {"id": name, "text": text * (size // len(text) + 1)}
        return self.contents[name]

    def written(self, number: int, stream: str, records: list[Record], places: list[Position]) -> None:
        ids = tuple(str(each["id"]) for each in records)
        self.places |= dict(zip(ids, places, strict=True))
        self.note(number, stream, logs={**self.now.logs, stream: self.now.logs[stream] + ids})

    @rule(number=handles, stream=streams, many=st.lists(sizes, min_size=1, max_size=4))
    def append(self, number: int, stream: str, many: list[int]) -> None:
        records = [self.record(size) for size in many]
        self.written(number, stream, records, self.stores[number].append(stream, records))

    @rule(number=handles, stream=streams, is_late=st.booleans())
    def bet(self, number: int, stream: str, is_late: bool) -> None:
        """A bet on the last record is won; on any other one, nothing is written."""
        ids = self.now.logs[stream]
        if is_late and len(ids) < 2:
            return
        last = self.places[ids[-2 if is_late else -1]] if ids else START
        record = self.record(1)
        found = self.stores[number].append_after(stream, last, [record], (self.now.edition,))
        assert (found is None) == is_late
        if found is not None:
            self.written(number, stream, [record], found)

    @rule(number=handles, stream=streams)
    def rotate(self, number: int, stream: str) -> None:
        self.stores[number].rotate(stream)

    @rule(number=handles, path=paths, data=st.binary(max_size=3), journaled=st.booleans())
    def put(self, number: int, path: str, data: bytes, journaled: bool) -> None:
        store = self.stores[number]
        if path.startswith("views/"):
            store.view(path, data)
            self.note(number, path, pages={**self.now.pages, path: data})
            return
        old = self.now.pages.get(path)
        base = None if old is None else hash_of(old)
        record = edit_of(path, base, data) if journaled else None
        store.put(path, data, base=base, record=record)
        self.changed(number, path, {**self.now.pages, path: data}, record)

    @rule(number=handles, path=paths, journaled=st.booleans())
    def delete(self, number: int, path: str, journaled: bool) -> None:
        old = self.now.pages.get(path)
        if old is None or path.startswith("views/"):
            return
        record = edit_of(path, hash_of(old), None) if journaled else None
        self.stores[number].delete(path, base=hash_of(old), record=record)
        left = {name: data for name, data in self.now.pages.items() if name != path}
        self.changed(number, path, left, record)

    def changed(self, number: int, path: str, pages: dict[str, bytes], record: Record | None) -> None:
        logs, names = self.now.logs, [path]
        if record is not None:
            self.contents[str(record["id"])] = record
            # Where it lies, nobody was told: a bet on it needs its place.
            self.places[str(record["id"])] = next(self.truth.read_back("journal")).position
            logs, names = {**logs, "journal": (*logs["journal"], str(record["id"]))}, [path, "journal"]
        self.note(number, *names, pages=pages, logs=logs)

    @rule(number=handles, path=paths)
    def forget(self, number: int, path: str) -> None:
        """All records with the secret get shorter, a page and all views go."""
        store = self.stores[number]
        with store.lock():
            switch = store.switch(new_id())
            for stream in STREAMS:
                for segment, (file, _, _) in store.segments(stream).items():
                    data = store.segment(stream, segment)
                    switch.put(file, b"".join(self.without_secret(data)))
            old = self.now.pages.get(path)
            if old is not None:
                switch.remove(Removal(path, hash_of(old)))
            switch.put("log/tombstones.jsonl", codec.encode({"id": switch.name}))
            switch.commit("log/tombstones.jsonl")
            store.adopt_ends()
        left = {
            name: data
            for name, data in self.now.pages.items()
            if name != path and not name.startswith("views/")
        }
        self.note(number, *STREAMS, *PATHS, *FOLDERS, "", pages=left, edition=self.now.edition + 1)
        for stream in STREAMS:
            self.places |= {str(line.record["id"]): line.position for line in self.truth.read(stream)}

    def without_secret(self, data: bytes) -> Iterator[bytes]:
        for line in data.splitlines():
            record, _ = codec.decode(line)
            if SECRET in str(record.get("text")):
                record = {"id": record["id"], "text": ""}
                self.contents[str(record["id"])] = record
                yield codec.encode(record)
            else:
                yield line + b"\n"

    @rule(number=handles)
    def write_what_rests_on_forgotten_text(self, number: int) -> None:
        if self.now.edition == 0:
            return
        store = self.stores[number]
        name = new_id()
        record = {"id": name, "text": name * 100}
        with store.reading(of=(self.now.edition - 1,)):
            for act in (
                lambda: store.append("journal", [record]),
                lambda: store.put("facts/late.md", b"x", base=None, record=record),
                lambda: store.publish(f"log/entries/{new_id()}", {"raw.md": b"x"}),
                lambda: store.view("views/late.md", b"x"),
                lambda: store.lock().__enter__(),
            ):
                with pytest.raises(Outdated):
                    act()
        bodies = {stat.path.rpartition("/")[2] for stat in self.truth.list("log/bodies")}
        assert hash_of(str(record["text"]).encode()) not in bodies

    # --- reading ---------------------------------------------------------------------------

    def ids(self, lines: Any) -> tuple[str, ...]:
        found = []
        for line in lines:
            assert line.checked
            name = str(line.record["id"])
            found.append(name)
            assert line.record == self.contents[name]
        return tuple(found)

    @rule(number=handles, stream=streams, back=st.booleans(), at=st.integers(0, 12), twice=st.booleans())
    def read(self, number: int, stream: str, back: bool, at: int, twice: bool) -> None:
        """Read from the beginning, the end, or any record's place, forwards or back."""
        if self.is_moved(number):
            return  # places are of another edition
        store, known = self.stores[number], self.now.logs[stream]
        place = self.places[known[at]] if at < len(known) else None
        for _ in range(1 + twice):
            if back:
                found = self.ids(store.read_back(stream, place))[::-1]
                expected = [state.logs[stream] for state in self.possible(number, stream)]
                expected = [ids if place is None else self.before(ids, known[at]) for ids in expected]
            else:
                found = self.ids(store.read(stream, place or START))
                expected = [state.logs[stream] for state in self.possible(number, stream)]
                expected = [ids if place is None else self.after(ids, known[at]) for ids in expected]
            assert found in expected

    def before(self, ids: tuple[str, ...], name: str) -> tuple[str, ...]:
        return ids[: ids.index(name)] if name in ids else ids

    def after(self, ids: tuple[str, ...], name: str) -> tuple[str, ...]:
        return ids[ids.index(name) :] if name in ids else ()

    @rule(number=handles, stream=streams, data=st.data())
    def read_some_and_look_again(self, number: int, stream: str, data: st.DataObject) -> None:
        """Whoever leaves a reader in the middle and comes back to it gets what follows there."""
        if self.is_moved(number):
            return
        lines = self.stores[number].read(stream)
        few = [line.record["id"] for _, line in zip(range(2), lines, strict=False)]
        self.stores[number].look_again()
        found = (*few, *(line.record["id"] for line in lines))
        assert found in [state.logs[stream] for state in self.possible(number, stream)]

    @rule(number=handles, stream=streams, at=st.integers(0, 12))
    def ask_for_places(self, number: int, stream: str, at: int) -> None:
        known = self.now.logs[stream]
        if at >= len(known) or self.is_moved(number):
            return
        store, place = self.stores[number], self.places[known[at]]
        end = next(line for line in self.truth.read(stream, place)).end
        states = self.possible(number, stream)
        may_lack = any(known[at] not in state.logs[stream] for state in states)
        store.fetch([(stream, place)])
        for _ in range(2):
            found = next(iter(store.read(stream, place)), None)
            assert found.record["id"] == known[at] if found is not None else may_lack
            before = store.line_before(stream, end)
            assert before["id"] == known[at] if before else may_lack
            for each in (place, end):
                assert store.sum(stream, each) in {
                    self.truth.sum(stream, each),
                    None if may_lack else self.truth.sum(stream, each),
                }

    @rule(number=handles, path=paths, again=st.booleans())
    def ask_for_a_document(self, number: int, path: str, again: bool) -> None:
        store = self.stores[number]
        possible = [state.pages.get(path) for state in self.possible(number, path)]
        for _ in range(1 + again):
            found = store.get(path)
            assert (None if found is None else found.data) in possible
            stat = store.stat(path)
            assert (stat is None) in [data is None for data in possible]
            assert stat is None or stat.size in [len(data) for data in possible if data is not None]

    @rule(number=handles, folder=st.sampled_from(FOLDERS), path=paths)
    def list_a_folder(self, number: int, folder: str, path: str) -> None:
        store = self.stores[number]
        found = {stat.path: stat for stat in store.list(folder)}
        for each in PATHS:
            if each.rpartition("/")[0] == folder:
                possible = [state.pages.get(each) for state in self.possible(number, each)]
                assert (each in found) in [data is not None for data in possible]
                assert store.stat(each) == found.get(each)
                document = store.get(each)
                assert (document is None) == (each not in found)

    @rule(number=handles)
    def ask_for_the_edition(self, number: int) -> None:
        assert self.stores[number].edition() in {(state.edition,) for state in self.possible(number, "")}

    @rule(number=handles)
    def under_the_lock_all_is_as_it_is(self, number: int) -> None:
        store = self.stores[number]
        with store.lock():
            assert store.edition() == (self.now.edition,)
            for stream in STREAMS:
                assert self.ids(store.read(stream)) == self.now.logs[stream]
                assert self.ids(store.read_back(stream))[::-1] == self.now.logs[stream]
                assert store.end(stream) == self.truth.end(stream)
            for path in PATHS:
                document = store.get(path)
                assert (document and document.data) == self.now.pages.get(path)
        self.begun[number] = max(self.begun[number], len(self.states) - 1)

    @invariant()
    def outside_of_looks_all_is_as_it_is(self) -> None:
        for stream in STREAMS:
            lines = list(self.truth.read(stream))
            assert self.ids(lines) == self.now.logs[stream]
            assert [line.position for line in lines] == [self.places[name] for name in self.now.logs[stream]]
        assert {stat.path for folder in ("", *FOLDERS) for stat in self.truth.list(folder)} == set(
            self.now.pages
        )


def machine_of(postgres: Running) -> type[LookMachine]:
    return type("Machine", (LookMachine,), {"where": staticmethod(postgres.memory)})


def test_a_look_may_be_late_and_is_never_wrong(postgres: Running) -> None:
    run_state_machine_as_test(
        machine_of(postgres),
        settings=settings(core, max_examples=few(100, COSTLY), stateful_step_count=25),
    )


@pytest.mark.long
def test_a_look_is_never_wrong_for_a_long_time(postgres: Running) -> None:
    run_state_machine_as_test(
        machine_of(postgres), settings=settings(core, max_examples=100, stateful_step_count=60)
    )


# --- looks that lie ------------------------------------------------------------------------


def walk(machine: LookMachine) -> None:
    """A short walk that meets what another handle wrote, forgot, and left half read."""
    machine.append(number=0, stream="journal", many=[30, 1, 2000])
    machine.put(number=0, path="facts/a.md", data=b"1", journaled=True)
    machine.put(number=2, path="USER.md", data=b"1", journaled=False)
    for number in (0, 1):
        machine.look(number=number)
        machine.list_a_folder(number=number, folder="facts", path="facts/a.md")
        machine.read(number=number, stream="journal", back=False, at=99, twice=True)
        machine.ask_for_a_document(number=number, path="facts/a.md", again=True)
        machine.ask_for_places(number=number, stream="journal", at=1)
    machine.ask_for_a_document(number=0, path="USER.md", again=True)
    machine.append(number=0, stream="journal", many=[1])
    machine.put(number=0, path="facts/a.md", data=b"2", journaled=True)
    machine.put(number=0, path="facts/b.md", data=b"3", journaled=False)
    machine.delete(number=0, path="facts/b.md", journaled=False)
    machine.read(number=0, stream="journal", back=True, at=99, twice=False)
    for path in ("facts/a.md", "facts/b.md"):
        machine.ask_for_a_document(number=0, path=path, again=False)
    machine.bet(number=1, stream="journal", is_late=True)
    machine.under_the_lock_all_is_as_it_is(number=1)
    machine.forget(number=2, path="facts/a.md")
    machine.look_again(number=1)
    machine.read(number=1, stream="journal", back=False, at=99, twice=False)
    machine.ask_for_a_document(number=1, path="facts/a.md", again=False)
    machine.write_what_rests_on_forgotten_text(number=1)
    machine.outside_of_looks_all_is_as_it_is()


@pytest.fixture
def machine(postgres: Running) -> Iterator[LookMachine]:
    machine = machine_of(postgres)()
    yield machine
    machine.teardown()


def test_the_walk_is_fine_without_a_fault(machine: LookMachine) -> None:
    walk(machine)


def do_nothing(*_: object, **__: object) -> None:
    pass


def keep_the_first_look(self: PostgresStore, rows: Any, values: Any) -> Seen:
    if not hasattr(self, "first"):
        self.first = take_look(self, rows, values)  # type: ignore[attr-defined]
    return self.first  # type: ignore[attr-defined, no-any-return]


def do_nothing_but_true(*_: object) -> bool:
    return True


def get_by_path(self: Asked, stat: Any) -> bytes | None:
    found = self._bytes.get(stat.path)
    return found[1] if found is not None else None


def encode_with_files(self: PostgresStore, record: Record, bodies: dict[str, bytes]) -> bytes:
    line = encode(self, record, bodies)
    for path, data in bodies.items():
        self._upsert(path, data)
    return line


take_look, encode = PostgresStore._take_look, PostgresStore._encode


@pytest.mark.parametrize(
    ("where", "name", "fault"),
    [
        (PostgresStore, "_take_look", keep_the_first_look),
        (PostgresStore, "_note_appended", do_nothing),
        (PostgresStore, "_note_written", do_nothing),
        (PostgresStore, "_note_gone", do_nothing),
        (PostgresStore, "_encode", encode_with_files),
        (PostgresStore, "_since", do_nothing),
        (Asked, "get", get_by_path),
        (Lines, "drop", do_nothing),
        (Seen, "knows", do_nothing_but_true),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_a_look_that_lies_is_found_out(
    monkeypatch: pytest.MonkeyPatch, machine: LookMachine, where: Any, name: str, fault: Any
) -> None:
    monkeypatch.setattr(where, name, fault)
    with pytest.raises((AssertionError, Failed)):
        walk(machine)


def test_a_bet_behind_a_sealed_segment_is_won_after_a_forgetting(machine: LookMachine) -> None:
    """The last record lies elsewhere then, in a segment that nothing is added to."""
    machine.append(number=0, stream="journal", many=[30, 30])
    machine.rotate(number=0, stream="journal")
    machine.forget(number=1, path="facts/a.md")
    machine.bet(number=0, stream="journal", is_late=True)
    machine.bet(number=0, stream="journal", is_late=False)
    machine.outside_of_looks_all_is_as_it_is()


def test_a_reader_that_was_left_in_the_middle_brings_back_nothing_forgotten(postgres: Running) -> None:
    """It comes back to its lines after the same process looked again, and dropped what it had read."""
    address = parse_address(postgres.memory())
    with PostgresStore.open(address, make=True) as store, PostgresStore.open(address) as other:
        store.append("journal", [{"id": new_id(), "text": SECRET}, *({"id": new_id()} for _ in range(99))])
        with store.look():
            lines = store.read("journal")
            assert next(lines).record["text"] == SECRET
            with other.lock():
                switch = other.switch(new_id())
                [(file, _, _)] = other.segments("journal").values()
                switch.put(file, other.segment("journal", 1).replace(SECRET.encode(), b""))
                switch.commit(file)
            store.look_again()
            store.edition()
            assert len(list(lines)) in (98, 99)
            store.look_again()
            assert SECRET not in str([line.record for line in store.read("journal")])
