"""Eight processes on one memory, on a page, on chores and on the lock; and a server that goes away under them."""

from __future__ import annotations

import threading
import time
from collections import Counter
from contextlib import ExitStack
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import pytest

from database_actors import (
    PAGE,
    STREAM,
    DatabaseActor,
    Sweep,
    append_in_order,
    count_under_the_lock,
    do_chores,
    edit_one_page,
    hold_lock,
    judge,
    kill_server,
    open_store,
    read_on,
    read_told,
)
from forking import run_in_child
from looseleaf.base.errors import Busy, Refused, Unreachable
from looseleaf.base.ids import new_id
from looseleaf.base.policy import Policy
from looseleaf.store.postgres.address import parse_address
from looseleaf.store.postgres.store import PostgresStore

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from postgres import Running

WRITERS = 8


def together(
    function: Callable[..., None], where: str, count: int, *more: object, writers: int = WRITERS
) -> list[Any]:
    """Have so many processes do this at once; return what they said."""
    with ExitStack() as held:
        actors = [
            held.enter_context(DatabaseActor(function, where, number, count, *more))
            for number in range(writers)
        ]
        for actor in actors:
            assert actor.hear() == "ready"
        for actor in actors:
            actor.end_input()
        return [actor.let_go() for actor in actors]


def numbers(where: str) -> list[tuple[int, int]]:
    with open_store(where) as store:
        return [(line.record["w"], line.record["n"]) for line in store.read(STREAM)]


# --- one memory ------------------------------------------------------------------------------


def append_together(where: str, count: int) -> None:
    assert together(append_in_order, where, count) == [count] * WRITERS
    found = numbers(where)
    for writer in range(WRITERS):
        assert [number for of, number in found if of == writer] == [*range(count)]
    assert judge(where, []) == []
    switches = sum(one[0] != other[0] for one, other in pairwise(found))
    print(f"\nrecords={len(found)} switches={switches}")
    assert switches > WRITERS  # they did write at once


def test_eight_processes_append_in_their_order_and_without_gaps(postgres: Running) -> None:
    append_together(postgres.memory(), 40)


@pytest.mark.long
def test_eight_processes_append_a_thousand_records_each(postgres: Running) -> None:
    append_together(postgres.memory(), 1000)


def test_eight_processes_edit_one_page_and_no_line_is_lost(postgres: Running) -> None:
    where = postgres.memory()
    told = together(edit_one_page, where, 8)
    with open_store(where) as store:
        page = store.get(PAGE)
        assert page is not None
        lines = Counter(page.data.decode().splitlines())
    assert lines == Counter({f"{writer} {number}": 1 for writer in range(WRITERS) for number in range(8)})
    assert judge(where, []) == []
    stale = sum(each[1] for each in told)
    print(f"\nedits={sum(lines.values())} {stale=}")
    assert stale > 0


def test_each_chore_is_done_once(postgres: Running) -> None:
    where = postgres.memory()
    done = together(do_chores, where, 15, False)
    assert sorted(number for _, number in numbers(where)) == [*range(15)]
    assert sum(done) == 15


def test_without_claims_chores_are_done_twice(postgres: Running, monkeypatch: pytest.MonkeyPatch) -> None:
    where = postgres.memory()
    monkeypatch.setattr("looseleaf.store.postgres.lock.AloneInDatabase.try_again", lambda self: True)
    monkeypatch.setattr("looseleaf.store.postgres.lock.AloneInDatabase.__enter__", lambda self: True)
    together(do_chores, where, 15, True)
    assert len(numbers(where)) > 15


def test_under_the_lock_nobody_else_writes(postgres: Running) -> None:
    where = postgres.memory()
    together(count_under_the_lock, where, 12, False)
    assert [number for _, number in numbers(where)] == [*range(12 * WRITERS)]


def test_without_the_lock_the_same_goes_wrong(postgres: Running) -> None:
    where = postgres.memory()
    together(count_under_the_lock, where, 12, True)
    assert [number for _, number in numbers(where)] != [*range(12 * WRITERS)]


def test_processes_on_many_memories_do_not_meet(postgres: Running) -> None:
    wheres = [postgres.memory() for _ in range(WRITERS)]
    with ExitStack() as held:
        actors = [held.enter_context(DatabaseActor(append_in_order, where, 0, 20)) for where in wheres]
        assert [actor.hear() for actor in actors] == ["ready"] * WRITERS
        with open_store(wheres[0]) as store, store.lock():  # the others do not wait for it
            for actor in actors:
                actor.end_input()
            assert [actor.let_go() for actor in actors[1:]] == [20] * (WRITERS - 1)
            assert numbers(wheres[0]) == []
        assert actors[0].let_go() == 20
    assert all(numbers(where) == [(0, number) for number in range(20)] for where in wheres)


# --- the lock --------------------------------------------------------------------------------


def test_a_holder_who_is_cut_off_cannot_write_and_another_has_the_lock_at_once(postgres: Running) -> None:
    where = postgres.memory()
    with DatabaseActor(hold_lock, where) as actor, open_store(where) as store:
        pid = actor.hear()
        actor.tell("write")
        assert actor.hear() == "written"
        assert postgres.execute("SELECT pg_terminate_backend(%s, 5000)", (pid,)) == [(True,)]
        began = time.monotonic()
        with store.lock():
            assert time.monotonic() - began < 1
            for _ in range(2):
                actor.tell("write")
                assert "the lock ended with it. Repeat the command." in actor.hear()
        actor.tell("write")
        assert "the lock ended with it" in actor.hear()  # nor afterwards, in the same block
    assert len(numbers(where)) == 1


def test_a_holder_who_is_killed_leaves_the_lock_to_the_next(postgres: Running) -> None:
    where = postgres.memory()
    with DatabaseActor(hold_lock, where) as actor, open_store(where) as store:
        actor.hear()
        began = time.monotonic()
        threading.Timer(0.2, actor.kill).start()
        with store.lock():
            assert 0.1 < time.monotonic() - began < 3


def test_who_waits_too_long_for_the_lock_is_told_so_in_time(postgres: Running) -> None:
    where = postgres.memory()
    policy = Policy(lock_seconds=0.3)
    with DatabaseActor(hold_lock, where) as actor:
        actor.hear()
        store = PostgresStore.open(parse_address(where), policy)
        for _ in range(2):
            began = time.monotonic()
            with (
                pytest.raises(Busy, match=r"another process held the memory too long .*Repeat the command\."),
                store.lock(),
            ):
                pass
            assert 0.2 < time.monotonic() - began < 2
        actor.let_go()
        with store.lock():
            store.append(STREAM, [{"id": new_id(), "w": 1, "n": 1}])


def test_a_thread_waits_for_another_one_as_long(postgres: Running) -> None:
    store = PostgresStore.open(parse_address(postgres.memory()), Policy(lock_seconds=0.3), make=True)
    held, done = threading.Event(), threading.Event()

    def hold() -> None:
        with store.lock():
            held.set()
            done.wait(10)

    thread = threading.Thread(target=hold)
    thread.start()
    held.wait()
    began = time.monotonic()
    with pytest.raises(Busy, match="another thread held"):
        store.append(STREAM, [{"id": new_id()}])
    assert 0.2 < time.monotonic() - began < 2
    done.set()
    thread.join()
    store.append(STREAM, [{"id": new_id()}])


# --- forks -----------------------------------------------------------------------------------


def test_a_fork_inside_a_look_or_under_the_lock_begins_anew(postgres: Running) -> None:
    where = postgres.memory()
    store = open_store(where)
    store.append(STREAM, [{"id": "parent", "w": 0, "n": 0}])

    def read_in_child() -> None:
        assert not store.is_locked()
        with open_store(where) as other:
            other.append(STREAM, [{"id": new_id(), "w": 1, "n": 0}])
        assert len(list(store.read(STREAM))) == 2  # not as the parent's look knew it
        store.append(STREAM, [{"id": new_id(), "w": 1, "n": 1}])
        with store.lock(), store.look():
            assert len(list(store.read(STREAM))) == 3

    def read_without_the_lock() -> None:
        assert not store.is_locked()
        assert len(list(store.read(STREAM))) == 3

    with store.look():
        assert len(list(store.read(STREAM))) == 1
        assert run_in_child(read_in_child) == 0
        store.look_again()
        assert len(list(store.read(STREAM))) == 3
    with store.lock():
        assert run_in_child(read_without_the_lock) == 0
        store.append(STREAM, [{"id": new_id(), "w": 0, "n": 1}])  # the child did not end its connection
    assert len(numbers(where)) == 4
    store.close()


def test_a_fork_while_another_thread_holds_the_lock_waits_for_the_server_only(postgres: Running) -> None:
    where = postgres.memory()
    store = PostgresStore.open(parse_address(where), Policy(lock_seconds=5), make=True)
    held, done = threading.Event(), threading.Event()

    def hold() -> None:
        with store.lock():
            held.set()
            done.wait(10)

    thread = threading.Thread(target=hold)
    thread.start()
    held.wait()
    threading.Timer(0.5, done.set).start()
    assert run_in_child(lambda: store.append(STREAM, [{"id": new_id(), "w": 0, "n": 0}])) == 0
    thread.join()
    assert len(numbers(where)) == 1
    store.close()


# --- a server that goes away -----------------------------------------------------------------


@pytest.mark.parametrize("how", ["stop", "kill"])
def test_writers_and_readers_go_on_within_ten_seconds_after_a_restart(
    killed: Running, tmp_path: Path, how: str
) -> None:
    where = killed.memory()
    with Sweep(where, tmp_path, 3) as sweep, DatabaseActor(read_on, where) as reader:
        assert reader.hear() == "ready"
        sweep.wait_for(20)
        if how == "kill":
            kill_server(killed.server)
        else:
            killed.server.stop()
        time.sleep(0.5)
        killed.server.start()
        took = sweep.wait_for(30)
        sweep.stop()
        count, refused, longest = reader.let_go()
        print(
            f"\n{how}: on after {took:.1f} s; {count} reads, {refused} refused, the longest {longest:.1f} s"
        )
        assert took < 10
        assert (refused, longest > 0.4, longest < 10) == (0, True, True)
        assert sweep.judge() == []
        assert not [each for each in read_told(sweep.told) if each[0] == "refused"]


def test_a_server_that_stays_away_is_told_in_a_sentence_and_used_again_when_it_is_back(
    killed: Running,
) -> None:
    where = killed.memory()
    with open_store(where) as store:
        store.append(STREAM, [{"id": new_id(), "w": 0, "n": 0}])
        patience, store.database.patience = store.database.patience, 0.3
        killed.server.stop()
        for act in (
            lambda: store.append(STREAM, [{"id": new_id(), "w": 0, "n": 1}]),
            lambda: list(store.read(STREAM)),
            lambda: store.put(PAGE, b"x", base=None),
            lambda: store.lock().__enter__(),
            lambda: store.alone("log/x").try_again(),
            lambda: PostgresStore.open(parse_address(where)),
        ):
            began = time.monotonic()
            with pytest.raises(Unreachable, match=r"^Nothing was done.*(Check that it runs|Repeat)"):
                act()
            assert time.monotonic() - began < 8
        killed.server.start()
        store.database.patience = patience
        store.append(STREAM, [{"id": new_id(), "w": 0, "n": 2}])
        with store.lock():
            store.put(PAGE, b"x", base=None)
        assert store.alone("log/x").try_again()
    assert numbers(where) == [(0, 0), (0, 2)]


def test_a_lock_that_a_restart_took_away_refuses_what_its_holder_still_writes(killed: Running) -> None:
    where = killed.memory()
    with open_store(where) as store:
        with store.lock():
            store.append(STREAM, [{"id": new_id(), "w": 0, "n": 0}])
            kill_server(killed.server)
            killed.server.start()
            with open_store(where) as other, other.lock():
                other.append(STREAM, [{"id": new_id(), "w": 1, "n": 0}])
            with pytest.raises(Refused, match="the lock ended with it"):
                store.append(STREAM, [{"id": new_id(), "w": 0, "n": 1}])
        with store.lock():
            store.append(STREAM, [{"id": new_id(), "w": 0, "n": 2}])
    assert numbers(where) == [(0, 0), (1, 0), (0, 2)]


def test_idle_connections_that_were_cut_are_replaced(killed: Running) -> None:
    """By the server, or by what stands between: nobody is told, and nothing is refused."""
    where = killed.memory()
    with open_store(where) as store:
        store.append(STREAM, [{"id": new_id(), "w": 0, "n": 0}])
        cut = "SELECT count(pg_terminate_backend(pid, 5000)) FROM pg_stat_activity WHERE application_name = 'looseleaf'"
        for act in (
            lambda: store.append(STREAM, [{"id": new_id(), "w": 0, "n": 1}]),
            lambda: list(store.read(STREAM)),
            lambda: store.lock().__enter__().__exit__(),
            lambda: list(store.everything()),
            lambda: store.alone("log/x").try_again(),
            lambda: store.alone("log/x").try_again(),
        ):
            assert killed.execute(cut)[0][0] > 0
            act()
        killed.execute("ALTER SYSTEM SET idle_session_timeout = '200ms'")
        killed.execute("SELECT pg_reload_conf()")
        try:
            killed.execute(cut)
            time.sleep(0.3)
            for number in (2, 3):
                store.append(STREAM, [{"id": new_id(), "w": 0, "n": number}])
                time.sleep(0.5)
            with store.lock():
                store.append(STREAM, [{"id": new_id(), "w": 0, "n": 4}])
                time.sleep(0.5)
                with pytest.raises(Refused, match="the lock ended with it"):
                    store.append(STREAM, [{"id": new_id(), "w": 0, "n": 9}])
        finally:
            killed.execute("ALTER SYSTEM RESET ALL")
            killed.execute("SELECT pg_reload_conf()")
    assert numbers(where) == [(0, number) for number in range(5)]
