"""A connection may break before a write arrives, while it is done, or before its answer comes: it stands once."""

from __future__ import annotations

import random
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from functools import partial
from typing import TYPE_CHECKING, Any

import pytest

from between import Between, How
from looseleaf.base.errors import Refused, Stale, Unreachable
from looseleaf.base.ids import new_id
from looseleaf.base.policy import Policy
from looseleaf.store import records as codec
from looseleaf.store.postgres.address import parse_address
from looseleaf.store.postgres.database import Database, Lost
from looseleaf.store.postgres.store import PostgresStore
from store_contract import edit_of, hash_of, record_of, records
from tables import check_rows

if TYPE_CHECKING:
    from postgres import Running

TRACES = "traces/main"
SHORT = Policy(body_bytes=500)
PAGE = "facts/tea.md"
ENTRY = "log/entries/tea/01"
WAYS: tuple[How, ...] = ("before", "after", "late")

Act = Callable[[PostgresStore], object]


@pytest.fixture
def between(postgres: Running) -> Iterator[Between]:
    with Between(postgres.memory()) as between:
        yield between


@pytest.fixture
def store(between: Between) -> Iterator[PostgresStore]:
    """A memory that has something, by way of what cuts."""
    with begun(between.address) as store:
        yield store


@pytest.fixture
def other(between: Between, store: PostgresStore) -> Iterator[PostgresStore]:
    """Another process's handle, which nothing stands between."""
    with PostgresStore.open(parse_address(between.direct), SHORT) as other:
        yield other


def begun(where: str) -> PostgresStore:
    store = PostgresStore.open(parse_address(where), SHORT, make=True)
    store.append(TRACES, [record_of("first")])
    store.put(PAGE, b"old", base=None)
    return store


# --- what is written -----------------------------------------------------------------------


def state_of(store: PostgresStore) -> Any:
    """All that a memory has, but for times and names that are made anew."""
    logs = {name: [line.record.get("content") for line in store.read(name)] for name in store.streams()}
    pages = {
        stat.path: store.get(stat.path)
        for folder in ("facts", ENTRY, "views", "log/bodies")
        for stat in store.list(folder)
    }
    return logs, {path: document and document.data for path, document in pages.items()}, store.end(TRACES)


def bet(store: PostgresStore) -> None:
    last = list(store.read(TRACES))[-1].position
    assert store.append_after(TRACES, last, [record_of("bet", id="bet")], store.edition()) is not None


def rotate_and_append(store: PostgresStore) -> None:
    store.rotate(TRACES)
    store.append(TRACES, [record_of(number) for number in range(5)])


def put(store: PostgresStore) -> None:
    old = hash_of(b"old")
    store.put(PAGE, b"new", base=old, record={**edit_of(PAGE, old, b"new"), "content": "edit", "ts": 1.5})


def delete(store: PostgresStore) -> None:
    old = hash_of(b"old")
    store.delete(PAGE, base=old, record={**edit_of(PAGE, old, None), "content": "edit", "ts": 1.5})


ACTS: dict[str, Act] = {
    "append": lambda store: store.append(TRACES, [record_of("x")]),
    "append to a new stream": lambda store: store.append("prompts/main", [record_of("x")]),
    "batch": lambda store: store.append(TRACES, [record_of(number) for number in range(5)]),
    "batch in a new segment": rotate_and_append,
    "append with bodies": lambda store: store.append(TRACES, [record_of("long " * 500), record_of("x")]),
    "bet": bet,
    "put with record": put,
    "put": lambda store: store.put(PAGE, b"new", base=hash_of(b"old")),
    "put of a new page": lambda store: store.put("facts/new.md", b"new", base=None),
    "delete with record": delete,
    "delete": lambda store: store.delete(PAGE, base=hash_of(b"old")),
    "publish": lambda store: store.publish(ENTRY, {"raw.md": b"raw", "meta.json": b"{}"}),
    "view": lambda store: store.view("views/x.md", b"view"),
    "rotate": lambda store: store.rotate(TRACES),
}


def lose(between: Between, store: PostgresStore, other: PostgresStore, act: Act, how: How) -> None:
    """Do this while its first question is cut. Who works at it when its asker goes waits for the memory's lock."""
    fired = between.fired
    between.cut(how)
    if how != "late":
        act(store)
    else:
        failed: list[Refused] = []

        def work() -> None:
            try:
                act(store)
            except Refused as error:
                failed.append(error)

        thread = threading.Thread(target=work)
        with other.lock():
            thread.start()
            deadline = time.monotonic() + 10
            while waiting(other) < 1 + (between.fired == fired) and time.monotonic() < deadline:
                time.sleep(0.01)
            time.sleep(0.1)
        thread.join()
        if failed:
            raise failed[0]
    assert between.fired > fired, "nothing was cut"


def waiting(other: PostgresStore) -> int:
    query = "SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND NOT granted AND classid = 0 AND objid = %s"
    return int(other.database.run(None, query, (other.memory,))[0][0])


def expected_after(postgres: Running, act: Act) -> Any:
    with begun(postgres.memory()) as store:
        act(store)
        return state_of(store)


def test_each_write_stands_once_however_its_connection_breaks(postgres: Running, between: Between) -> None:
    expected: dict[str, Any] = {}

    def check(name: str, how: How) -> None:
        address = postgres.memory()
        with (
            begun(between.by_here(address)) as store,
            PostgresStore.open(parse_address(address), SHORT) as other,
        ):
            lose(between, store, other, ACTS[name], how)
            if name not in expected:
                expected[name] = expected_after(postgres, ACTS[name])
            assert state_of(other) == expected[name]
            assert state_of(store) == state_of(other)

    rows = [(name, how) for name in ACTS for how in WAYS]
    no_wait = ("rotate", "batch in a new segment", "bet")  # their first question does not wait for the lock
    check_rows(check, [(name, how) for name, how in rows if how != "late" or name not in no_wait])


def test_a_write_is_found_behind_thousands_that_came_meanwhile(
    between: Between, store: PostgresStore, other: PostgresStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Others write on before it looks whether its own write is there."""

    def end(self: Database, lost: Lost) -> None:
        other.append(TRACES, [record_of(number) for number in range(3000)])
        ended(self, lost)

    ended = Database.end
    monkeypatch.setattr(Database, "end", end)
    between.cut("after")
    found = store.append(TRACES, given := [record_of("mine"), record_of("mine too")])
    assert [line.record for line in other.read(TRACES, found[0])][:2] == given
    assert len(records(other, TRACES)) == 1 + 2 + 3000


def test_a_record_that_was_forgotten_before_its_writer_looked_is_not_written_again(
    between: Between, store: PostgresStore, other: PostgresStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    def end(self: Database, lost: Lost) -> None:
        ended(self, lost)
        with other.lock():
            switch = other.switch(new_id())
            [(file, _, _)] = other.segments(TRACES).values()
            lines = [codec.decode(line)[0] for line in other.segment(TRACES, 1).splitlines()]
            lines = [each if each["content"] == "first" else {"id": each["id"]} for each in lines]
            switch.put(file, b"".join(map(codec.encode, lines)))
            switch.commit(file)

    ended = Database.end
    monkeypatch.setattr(Database, "end", end)
    between.cut("after")
    given = [record_of("a secret"), record_of("another secret")]
    found = store.append(TRACES, given)
    lines = list(other.read(TRACES))[1:]
    assert [line.record for line in lines] == [{"id": each["id"]} for each in given]
    assert [line.position for line in lines] == found


def test_a_record_without_an_id_is_not_taken_for_another(between: Between, store: PostgresStore) -> None:
    store.append(TRACES, [{"content": 1}])
    between.cut("before")
    with pytest.raises(Unreachable, match="It is not known whether it was written"):
        store.append(TRACES, [{"content": 1}])
    assert len(records(store, TRACES)) == 2


def test_in_a_look_a_lost_write_is_looked_for_at_the_server(
    between: Between, store: PostgresStore, other: PostgresStore
) -> None:
    with store.look():
        assert len(records(store, TRACES)) == 1
        assert len(records(store, "journal")) == 0
        for how in ("after", "before"):
            between.cut(how)
            store.append(TRACES, [record_of(how)])
            between.cut(how)
            path = f"facts/{how}.md"
            store.put(path, b"x", base=None, record=edit_of(path, None, b"x"))
            assert store.get(path) is not None
        assert [each["content"] for each in records(store, TRACES)] == ["first", "after", "before"]
        assert len(records(store, "journal")) == 2
    assert [each["content"] for each in records(other, TRACES)] == ["first", "after", "before"]
    assert len(records(other, "journal")) == 2
    assert between.fired == 4


def said_by(act: Callable[[], object]) -> str:
    with pytest.raises(Unreachable) as error:
        act()
    return str(error.value)


# --- under the lock --------------------------------------------------------------------------


def test_under_the_lock_a_write_whose_answer_was_lost_counts_and_no_other_follows(
    between: Between, store: PostgresStore, other: PostgresStore
) -> None:
    with store.lock():
        between.cut("after")
        [place] = store.append(TRACES, [record_of("written")])
        with pytest.raises(Unreachable, match="the lock"):
            store.append(TRACES, [record_of("not any more")])
        with pytest.raises(Unreachable, match="the lock"):
            list(store.read(TRACES, place))
        with other.lock():  # at once: it ended with its connection
            other.append(TRACES, [record_of("theirs")])
        with pytest.raises(Unreachable, match="the lock"):
            put(store)
    assert [each["content"] for each in records(store, TRACES)] == ["first", "written", "theirs"]


def wait_for_the_pool(store: PostgresStore) -> None:
    """In place of a connection that broke, the pool makes another one, which must not be the one that is cut."""
    deadline = time.monotonic() + 30
    while (counts := store.database.counts())["pool_available"] < counts["pool_size"] - 1:
        assert time.monotonic() < deadline
        time.sleep(0.005)


def test_under_the_lock_a_write_that_never_arrived_is_refused_and_not_sent_again(
    between: Between, store: PostgresStore, other: PostgresStore
) -> None:
    def check(name: str) -> None:
        says = r"^Nothing was (done|written): the connection that held the lock"
        with store.lock():
            wait_for_the_pool(store)
            between.cut("before")
            with pytest.raises(Unreachable, match=says):
                ACTS[name](store)

    before = state_of(other)
    check_rows(check, ["append", "batch", "put with record", "put", "delete", "publish", "rotate"])
    assert state_of(other) == before


def test_a_forgetting_whose_last_answer_was_lost_says_that_it_may_have_been_done(
    between: Between, store: PostgresStore, other: PostgresStore
) -> None:
    def forget(how: How, at: int) -> None:
        with store.lock():
            switch = store.switch(new_id())
            switch.put("log/tombstones.jsonl", codec.encode({"id": new_id()}))
            [(file, _, _)] = store.segments(TRACES).values()
            switch.put(file, codec.encode({"id": "stand-in"}))
            answers: list[How | None] = [*([None] * at), how]
            between.cut_by(lambda: answers.pop(0) if answers else None)
            switch.commit(file)

    with pytest.raises(Unreachable, match=r"^Nothing was done"):
        forget("before", 3)
    assert other.edition() == (0,)
    assert [each["content"] for each in records(other, TRACES)] == ["first"]
    for number in range(40):  # the commit is the last thing that is asked
        edition = other.edition()
        said = said_by(partial(forget, "after", number))
        is_done = other.edition() != edition
        assert said.startswith("It is not known whether it was done" if is_done else "Nothing was done")
        if is_done:
            break
    else:
        pytest.fail("the commit was never cut")
    assert [each["id"] for each in records(other, TRACES)] == ["stand-in"]


# --- stores that must fail it ----------------------------------------------------------------


def find_nothing(self: PostgresStore, lost: Lost, *_: object) -> None:
    self._end_lost(lost)


def find_nothing_done(self: PostgresStore, lost: Lost, *_: object) -> bool:
    self._end_lost(lost)
    return False


def give_up(self: Database, *args: Any, again: bool = True, **more: Any) -> Any:
    try:
        return run(self, *args, again=again, **more)
    except Lost as lost:
        raise Unreachable(str(lost)) from lost


def leave_it_working(self: Database, lost: Lost) -> None:
    pass


run = Database.run


@pytest.mark.parametrize(
    ("name", "how", "where", "method", "fault"),
    [
        ("append", "after", PostgresStore, "_find_written", find_nothing),
        ("batch", "after", PostgresStore, "_find_written", find_nothing),
        ("put with record", "after", PostgresStore, "_is_done", find_nothing_done),
        ("append", "before", Database, "run", give_up),
        ("append", "late", Database, "end", leave_it_working),
        ("batch", "late", Database, "end", leave_it_working),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_a_store_that_repeats_without_looking_or_never_is_found_out(
    postgres: Running,
    between: Between,
    store: PostgresStore,
    other: PostgresStore,
    monkeypatch: pytest.MonkeyPatch,
    name: str,
    how: How,
    where: Any,
    method: str,
    fault: Any,
) -> None:
    expected = expected_after(postgres, ACTS[name])
    monkeypatch.setattr(where, method, fault)
    try:
        lose(between, store, other, ACTS[name], how)
    except (Unreachable, Stale):
        return
    deadline = time.monotonic() + 30
    while state_of(other) == expected and time.monotonic() < deadline:  # until the late one comes too
        time.sleep(0.01)
    assert state_of(other) != expected


# --- many cuts -------------------------------------------------------------------------------


def storm(
    between: Between, store: PostgresStore, writers: int, count: int, chance: random.Random
) -> Counter[str]:
    """Writers write while every so many of their questions are cut; return how often each record stands there."""
    ways: tuple[How | None, ...] = (*[None] * 12, "before", "after", "late")
    between.cut_by(lambda: chance.choice(ways))
    failed: list[Refused] = []

    def write(writer: int) -> None:
        base = None
        try:
            for number in range(count):
                name = f"{writer}-{number}"
                store.append(TRACES, [record_of(name), record_of(f"{name}b")])
                path, data = f"facts/{writer}.md", name.encode()
                base = store.put(path, data, base=base, record=edit_of(path, base, data) | {"content": name})
        except Refused as error:
            failed.append(error)

    threads = [threading.Thread(target=write, args=(writer,)) for writer in range(writers)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    between.cut_by(lambda: None)
    if failed:
        raise failed[0]
    return Counter(str(each.get("content")) for name in (TRACES, "journal") for each in records(store, name))


def expected_of(writers: int, count: int) -> dict[str, int]:
    names = [f"{writer}-{number}" for writer in range(writers) for number in range(count)]
    return {"first": 1} | dict.fromkeys(names, 2) | dict.fromkeys([f"{name}b" for name in names], 1)


def check_storm(between: Between, store: PostgresStore, writers: int, count: int) -> None:
    found = storm(between, store, writers, count, random.Random(7))
    wrong = {name for name, times in expected_of(writers, count).items() if found[name] != times}
    print(f"\nwrites={2 * writers * count} cut={between.fired} wrong={len(wrong)}")
    assert found == expected_of(writers, count)
    assert between.fired > writers * count / 10
    for writer in range(writers):
        assert store.get(f"facts/{writer}.md").data == f"{writer}-{count - 1}".encode()  # type: ignore[union-attr]


def test_in_a_storm_of_cuts_each_write_stands_once(between: Between, store: PostgresStore) -> None:
    check_storm(between, store, 4, 8)


@pytest.mark.long
def test_in_a_long_storm_of_cuts_each_write_stands_once(between: Between, store: PostgresStore) -> None:
    check_storm(between, store, 6, 150)


def test_a_process_does_not_send_a_write_again_for_ever(between: Between, store: PostgresStore) -> None:
    between.cut_by(lambda orders=["x"]: "before")  # type: ignore[misc]
    store.database.patience = 0.5
    began = time.monotonic()
    with pytest.raises(Refused, match=r"cannot be reached|broke each time"):
        store.append(TRACES, [record_of("x")])
    assert time.monotonic() - began < 15
    assert between.fired > 2
