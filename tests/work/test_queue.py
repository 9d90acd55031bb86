"""The queue: what waits in it, once; what a transaction does to it; what a memory remembers of its jobs."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from looseleaf import Memory
from looseleaf.base.errors import Invalid, NotFound, Refused
from looseleaf.base.values import START
from looseleaf.store.postgres.address import database_of
from looseleaf.store.postgres.database import close_all
from looseleaf.work import queue
from looseleaf.work.queue import FIELDS, KINDS, TOLD, defer, figures, job, jobs_of, receive, received
from postgres import Running
from store_contract import record_of
from working import drain, make_due, open_store, run_there, talk

TRACES = "traces/main"


@pytest.fixture
def memory(postgres: Running) -> Iterator[str]:
    """The address of a memory in a database of its own."""
    address = postgres.address(postgres.database(), namespace="acme/one")
    with Memory(address):
        pass
    yield address
    close_all()


def test_of_a_kind_one_waits_for_each_memory_and_agent(postgres: Running, memory: str) -> None:
    other = memory.replace("acme/one", "acme/two")
    with Memory(other):
        pass
    with open_store(memory) as one, open_store(other) as two:
        first = {defer(one, "distill") for _ in range(100)}
        assert len(first) == 1
        assert len({*first, defer(one, "distill", "scout"), defer(one, "index"), defer(two, "distill")}) == 4
        assert defer(one, "index", "scout") == defer(one, "index")  # the index is of no agent
        assert defer(one, "index", full=True) != defer(one, "index")
        assert [each.kind for each in jobs_of(two)] == ["distill"]


def test_a_job_is_there_if_its_transaction_ends_well(memory: str) -> None:
    with open_store(memory) as store:
        with pytest.raises(ZeroDivisionError), store.transaction() as wire:
            print(1 // (defer(store, "build", on=wire) * 0))
        assert jobs_of(store) == []
        with store.transaction() as wire:
            number = defer(store, "build", on=wire)
            with open_store(memory) as outside:
                assert jobs_of(outside) == []
        assert [each.id for each in jobs_of(store)] == [number]


def test_a_job_that_waits_is_not_begun_before_the_transaction_that_needs_it_ends(memory: str) -> None:
    """Else it would read what was there before, and what the transaction wrote would wait for ever."""
    with open_store(memory) as store:
        number = defer(store, "build")
        with store.transaction() as wire:
            assert defer(store, "build", on=wire) == number
            assert drain(memory).done == 0
        assert drain(memory).done == 1


def test_what_is_asked_must_be_of_the_kind(memory: str) -> None:
    with open_store(memory) as store:
        wrong: tuple[tuple[str, dict[str, Any]], ...] = (
            ("polish", {}),
            ("build", {"source": "x"}),
            ("index", {"full": "yes"}),
            ("import", {}),
            ("import", {"source": "../../etc"}),
        )
        for kind, more in wrong:
            with pytest.raises(Invalid):
                defer(store, kind, **more)
        assert jobs_of(store) == []


def test_a_folder_has_no_jobs(tmp_path: Path) -> None:
    with Memory(tmp_path / "memory") as memory, pytest.raises(Refused, match="only a database has jobs"):
        defer(memory.parts.store, "distill")


def test_another_memory_sees_no_job_and_changes_none(memory: str) -> None:
    other = memory.replace("acme/one", "acme/two")
    with Memory(other):
        pass
    with open_store(memory) as one, open_store(other) as two:
        number = defer(one, "check")
        for act in (job, queue.cancel, queue.retry):
            with pytest.raises(NotFound):
                act(two, number)
        assert job(one, number).state == "waiting"


def test_a_job_that_waits_can_be_cancelled_and_one_that_ended_cannot(memory: str) -> None:
    with open_store(memory) as store:
        number = defer(store, "check")
        assert queue.cancel(store, number).state == "cancelled"
        assert drain(memory).done == 0
        with pytest.raises(Refused, match="it has ended"):
            queue.cancel(store, number)
        again = defer(store, "check")
        assert again != number
        drain(memory)
        with pytest.raises(Refused, match="it has ended"):
            queue.cancel(store, again)


def test_talk_whose_job_was_cancelled_stays_noted(memory: str) -> None:
    talk(memory)
    with open_store(memory) as store:
        store.run(
            "SELECT looseleaf_jobs.begin_distilling(%s, 'main')", (store.memory,)
        )  # by an attempt that failed
        queue.cancel(store, defer(store, "distill"))
        assert figures(store.database)["talk"] == 1


def test_no_job_of_a_memory_waits_without_its_queueing_lock(postgres: Running, memory: str) -> None:
    import psycopg

    with pytest.raises(psycopg.errors.CheckViolation):
        run_there(
            postgres,
            memory,
            "INSERT INTO looseleaf_jobs.procrastinate_jobs (queue_name, task_name, lock) VALUES ('x', 'x', '1')",
        )


def test_arguments_hold_no_text_of_the_memory(postgres: Running, memory: str) -> None:
    talk(memory, "Samarkand")
    with open_store(memory) as store:
        for kind in KINDS:
            more: dict[str, Any] = {}
            if "source" in FIELDS[kind]:
                more["source"] = receive(store, "Samarkand.md", b"Samarkand")
            defer(store, kind, **more)
        make_due(postgres, memory)
        drain(memory)
        defer(store, "check")
    database = database_of(memory)
    for (table,) in postgres.execute(
        "SELECT table_name FROM information_schema.tables WHERE table_schema = 'looseleaf_jobs'",
        database=database,
    ):
        rows = postgres.execute(f"SELECT x::text FROM looseleaf_jobs.{table} x", database=database)
        assert not [row for row in rows if "samarkand" in row[0].lower() or "acme" in row[0]], table


def test_what_was_received_goes_with_its_job_and_with_a_forgetting(memory: str) -> None:
    talk(memory)
    with open_store(memory) as store:
        first = receive(store, "../../a b.MD", b"# Garden\n")
        assert received(store, first)[0] == "a_b.MD"
        defer(store, "import", source=first)
        assert drain(memory).done == 1
        with pytest.raises(NotFound):
            received(store, first)
        second = receive(store, "", b"# Garden\n\nLyon is far.\n")
        defer(store, "import", source=second)
        with Memory(memory) as opened:
            opened.forget(match="Lyon")
        assert drain(memory).failed == 1
        (state,) = [each for each in jobs_of(store) if each.state == "failed"]
        assert "Send it again" in state.error


def test_a_result_goes_with_a_forgetting(memory: str) -> None:
    talk(memory)
    with open_store(memory) as store:
        number = defer(store, "check")
        drain(memory)
        done = job(store, number)
        assert (done.state, done.result) == ("done", {"errors": 0, "notes": 0, "problems": []})
        assert done.ended is not None
        assert done.began is not None
        assert done.began <= done.ended <= time.time()
        with Memory(memory) as opened:
            opened.forget(match="Lyon")
        assert store.get(TOLD) is None
        assert jobs_of(store) == []


def test_a_memory_remembers_its_last_jobs_only(memory: str) -> None:
    with open_store(memory) as store:
        edition = store.edition()
        for number in range(1, 30):
            queue.tell(store, {"id": number, "kind": "build", "agent": "", "state": "done"}, edition)
        assert [each.id for each in jobs_of(store)] == list(range(29, 9, -1))


# --- talk that is due ------------------------------------------------------------------


def test_recording_notes_talk_once_and_distilling_takes_the_note_away(postgres: Running, memory: str) -> None:
    with open_store(memory) as store:
        assert figures(store.database)["talk"] == 0
        talk(memory)
        talk(memory, "Turin")
        talk(memory, "Turin", agent="scout")
        assert figures(store.database)["talk"] == 2
        assert drain(memory).done == 0  # not due yet
        assert make_due(postgres, memory) == 2
        assert drain(memory).done == 2
        assert figures(store.database)["talk"] == 0
        talk(memory, "Oslo")
        assert figures(store.database)["talk"] == 1
    with Memory(memory) as opened:
        assert [fact.object for fact in opened.facts(topic="user")] == ["Turin"]


@pytest.mark.parametrize("way", ["one", "several", "after another", "with long bodies"])
def test_however_it_is_recorded_talk_is_noted(postgres: Running, memory: str, way: str) -> None:
    with open_store(memory) as store:
        first, second = (
            record_of("first"),
            record_of("x" * 300_000 if way == "with long bodies" else "second"),
        )
        if way == "one":
            store.append(TRACES, [first])
        elif way == "after another":
            assert store.append_after(TRACES, START, [first, second], store.edition())
        else:
            store.append(TRACES, [first, second])
        assert figures(store.database)["talk"] == 1
        store.append("traces/scout", [record_of("first"), record_of("second")])
        assert figures(store.database)["talk"] == 2
        store.append("journal", [record_of("no talk")])
        assert figures(store.database)["talk"] == 2


def test_no_talk_is_passed_over_however_recording_and_distilling_meet(memory: str) -> None:
    """What was recorded after a distillation began is read by it, or noted for the next one."""
    stop = threading.Event()

    def record(several: bool) -> None:
        with open_store(memory) as store:
            while not stop.is_set():
                store.append(TRACES, [record_of("said") for _ in range(1 + several)])

    threads = [threading.Thread(target=record, args=(each,)) for each in (False, True)]
    with open_store(memory) as store:
        for thread in threads:
            thread.start()
        for _ in range(150):
            store.run("SELECT looseleaf_jobs.begin_distilling(%s, %s)", (store.memory, "main"))
            read = store.end(TRACES)
            time.sleep(0.002)
            if store.end(TRACES) != read:
                assert figures(store.database)["talk"] == 1  # noted in the same transaction
        stop.set()
        for thread in threads:
            thread.join()


def test_a_distillation_that_begins_while_a_record_is_being_written_waits_for_it(memory: str) -> None:
    with open_store(memory) as store, open_store(memory) as other:
        store.append(TRACES, [record_of("first")])
        begin = "SELECT looseleaf_jobs.begin_distilling(%s, %s)", (store.memory, "main")
        store.run(*begin)
        thread = threading.Thread(target=other.run, args=begin)
        with store.transaction() as wire:
            line = b'{"id":"x"}\n'
            query = "SELECT looseleaf.append_line(%s, %s, %s, 1000000, NULL, NULL)"
            wire.execute(query, (store.memory, TRACES, line))
            thread.start()
            thread.join(0.5)
            assert thread.is_alive()
        thread.join()
        due = "SELECT is_due FROM looseleaf.streams WHERE memory = %s AND name = %s"
        assert store.run(due, (store.memory, TRACES)) == [(figures(store.database)["talk"] == 1,)]


def test_recording_needs_no_queue_and_waits_for_none(postgres: Running, memory: str) -> None:
    """A worker holds its tables; the record of talk that is noted already looks at none of them."""
    import psycopg

    talk(memory)
    with psycopg.connect(postgres.address(database_of(memory), "postgres")) as wire:
        wire.execute("LOCK looseleaf_jobs.procrastinate_jobs, looseleaf_jobs.talk IN ACCESS EXCLUSIVE MODE")
        began = time.monotonic()
        talk(memory, "Turin")
        assert time.monotonic() - began < 2.0


def test_talk_that_cannot_be_distilled_yet_stays_noted(postgres: Running, memory: str) -> None:
    with Memory(memory) as opened:
        opened.record(user="Run the tests.")
        opened.record(tool_call="bash", tool_args={"command": "make"}, tool_call_id="c1")
    make_due(postgres, memory)
    assert drain(memory).done == 1
    with open_store(memory) as store:
        assert figures(store.database)["talk"] == 1
        assert drain(memory).done == 0  # looked at again in some minutes
    with Memory(memory) as opened:
        opened.record(tool_result="42 passed", tool_call_id="c1")
    make_due(postgres, memory)
    drain(memory)
    with open_store(memory) as store:
        assert figures(store.database)["talk"] == 0


def test_talk_of_a_memory_that_moves_here_is_noted(postgres: Running, memory: str, tmp_path: Path) -> None:
    from looseleaf.transfer.move import move

    with Memory(tmp_path / "folder") as folder:
        folder.record(user="I live in Lyon.")
    other = memory.replace("acme/one", "acme/two")
    move(str(tmp_path / "folder"), other)
    assert make_due(postgres, memory) == 1
    assert drain(memory).done == 1
    with Memory(other) as opened:
        assert [fact.object for fact in opened.facts(topic="user")] == ["Lyon"]


def test_figures_tell_what_waits_and_since_when(postgres: Running, memory: str) -> None:
    with open_store(memory) as store:
        empty = {"jobs": {}, "paused": 0, "oldest_seconds": 0.0, "talk": 0, "talk_seconds": 0.0, "workers": 0}
        assert figures(store.database) == empty
        talk(memory)
        defer(store, "index")
        defer(store, "check")
        time.sleep(0.05)
        found = figures(store.database)
        assert found["jobs"] == {"index": {"waiting": 1}, "check": {"waiting": 1}}
        assert 0.05 <= found["oldest_seconds"] < 60.0
        assert 0.05 <= found["talk_seconds"] < 60.0
