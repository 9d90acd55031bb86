"""Workers: what they do side by side, what becomes of their jobs when they are stopped or killed, and what a job that
fails leaves."""

from __future__ import annotations

import itertools
import json
import random
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import Any

import pytest

from conftest import Run
from looseleaf import Memory
from looseleaf.base.errors import Invalid, Unreadable
from looseleaf.base.ids import new_id
from looseleaf.store.postgres.address import Address, database_of, parse_address
from looseleaf.store.postgres.database import close_all
from looseleaf.store.postgres.embedded import SUPERUSER
from looseleaf.work import worker as workers
from looseleaf.work.queue import ATTEMPTS, KINDS, defer, figures, job, jobs_of, receive
from looseleaf.work.worker import Worker
from postgres import Running, own_server
from working import (
    FOLDER,
    Files,
    drain,
    entries,
    make_due,
    open_store,
    run_there,
    talk,
    until,
    worker_process,
    worker_thread,
)


@pytest.fixture(autouse=True)
def _connections_end() -> Iterator[None]:
    """Each test has databases of its own: the connections to them would add up."""
    yield
    close_all()


@pytest.fixture
def memory(postgres: Running) -> str:
    """The address of a memory in a database of its own."""
    address = postgres.address(postgres.database(), namespace="acme/one")
    with Memory(address):
        return address


@pytest.fixture
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Files:
    """Those of the model that waits."""
    monkeypatch.setenv(FOLDER, str(tmp_path))
    return Files(tmp_path)


def others(memory: str, count: int) -> list[str]:
    return [memory.replace("acme/one", f"acme/m{number}") for number in range(count)]


# --- the kinds -------------------------------------------------------------------------


def test_each_kind_is_done_and_a_second_time_does_nothing(memory: str) -> None:
    talk(memory)
    with open_store(memory) as store:
        seen = []
        for _ in range(2):
            made = {}
            for kind in KINDS:
                more: dict[str, Any] = {}
                if kind == "import":
                    more["source"] = receive(store, "g.md", b"# Garden\n\nThe gate is iron.\n")
                made[defer(store, kind, **more)] = kind
            done = drain(memory)
            assert (done.done, done.failed) == (len(KINDS), 0)
            seen.append({made[each.id]: each.result or {} for each in jobs_of(store) if each.id in made})
    first, second = seen
    assert first["distill"] == {"entries": entries(memory)}
    assert second["distill"] == {"entries": []}
    assert first["build"]["topics"] >= 1
    assert second["build"]["made"] == 0
    assert [each["import"]["documents"]["new"] for each in (first, second)] == [1, 0]
    assert first["check"] == second["check"] == {"errors": 0, "notes": 0, "problems": []}
    assert first["compact"] == second["compact"] == {}  # there is room for all of it
    with Memory(memory) as opened:
        assert [fact.object for fact in opened.facts(topic="user")] == ["Lyon"]


def test_a_compaction_whose_window_has_another_mark_does_nothing(memory: str) -> None:
    talk(memory)
    with open_store(memory) as store:
        number = defer(store, "compact", since="another")
        drain(memory)
        assert job(store, number).result == {}


def test_all_items_of_a_large_memory_get_postings(memory: str) -> None:
    with Memory(memory) as opened:
        with opened.batch() as batch:
            for number in range(2_300):
                batch.record(user=f"Row {number} is for beans.")
        opened.views.build_index()
        opened.record(user="The last row is for peas.")
    unposted = "SELECT item - posted FROM looseleaf.indexes WHERE memory = %s"
    with open_store(memory) as store:
        number = defer(store, "index")
        assert drain(memory).done == 1
        assert store.run(unposted, (store.memory,)) != [(0,)]  # a few may wait
        number = defer(store, "improve")
        assert drain(memory).done == 1
        assert store.run(unposted, (store.memory,)) == [(0,)]
        assert job(store, number).result["posted"] >= 2_301  # type: ignore[index]


# --- side by side ----------------------------------------------------------------------


def test_work_that_comes_while_a_job_runs_is_done_after_it(memory: str, files: Files) -> None:
    """And however often it is asked for, the same job runs once more."""
    talk(memory)
    with open_store(memory) as store, worker_thread(memory, concurrency=2) as worker:
        defer(store, "distill")
        until(files.calls)
        talk(memory, "Turin")
        assert len({defer(store, "distill") for _ in range(100)}) == 1
        assert [each.state for each in jobs_of(store)] == ["waiting", "running"]
        files.let_go()
        until(lambda: worker.done == 2)
        assert len(files.calls()) == 2
        assert len(entries(memory)) == 2


def test_no_lock_of_the_memory_is_held_while_a_model_works(
    postgres: Running, memory: str, files: Files
) -> None:
    talk(memory)
    with open_store(memory) as store:
        defer(store, "distill")
    with worker_thread(memory, once=True):
        until(files.calls)
        held = run_there(
            postgres,
            memory,
            "SELECT objsubid, count(*) FROM pg_locks WHERE locktype = 'advisory' AND database = "
            "(SELECT oid FROM pg_database WHERE datname = current_database()) GROUP BY 1",
        )
        in_transactions = run_there(
            postgres,
            memory,
            "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid() "
            "AND state LIKE 'idle in transaction%'",
        )
        talk(memory, "Turin")  # nobody waits
        assert held == [(2, 1)]  # the claim on distilling; the memory's own lock would be a 1
        assert in_transactions == [(0,)]


_SEE = """
CREATE TABLE seen (lock text, job bigint, began timestamptz, ended timestamptz);
GRANT ALL ON seen TO PUBLIC;
CREATE FUNCTION see() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF NEW.status = 'doing' THEN
        INSERT INTO public.seen VALUES (NEW.lock, NEW.id, clock_timestamp(), NULL);
    END IF;
    RETURN NEW;
END $$;
CREATE FUNCTION see_end() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    UPDATE public.seen SET ended = clock_timestamp() WHERE job = OLD.id AND ended IS NULL;
    RETURN OLD;
END $$;
CREATE TRIGGER see AFTER UPDATE OF status ON looseleaf_jobs.procrastinate_jobs FOR EACH ROW EXECUTE FUNCTION see();
CREATE TRIGGER see_end AFTER DELETE ON looseleaf_jobs.procrastinate_jobs FOR EACH ROW EXECUTE FUNCTION see_end();
"""


def run_workers(postgres: Running, memory: str, count: int, processes: int) -> None:
    """Have several processes distill many memories twice; check that all was done once, and in order."""
    run_there(postgres, memory, _SEE)
    memories = others(memory, count)
    for number, each in enumerate(memories):
        talk(each, "Lyon" if number % 2 else "Turin")
        with open_store(each) as store:
            for kind in ("distill", "build", "index"):
                defer(store, kind)
    address = parse_address(memory).url
    took = []
    with ExitStack() as held:
        running = [
            held.enter_context(worker_process(address, concurrency=2, once=True)) for _ in range(processes)
        ]
        for process in running:
            out, _ = process.communicate(timeout=120)
            assert process.returncode == 0
            took.append([int(word) for word in out.split()])
    assert sum(done for done, _ in took) == 3 * count
    assert sum(failed for _, failed in took) == 0
    assert [len(entries(each)) for each in memories] == [1] * count
    rows = run_there(postgres, memory, "SELECT lock, job, began, ended FROM seen ORDER BY lock, began")
    assert len(rows) == 3 * count
    for before, after in itertools.pairwise(rows):
        if before[0] == after[0]:
            assert before[3] <= after[2], "two jobs of a memory at a time"
            assert before[1] < after[1], "not in their order"


def test_workers_side_by_side_do_each_job_once_and_in_order(postgres: Running, memory: str) -> None:
    run_workers(postgres, memory, count=8, processes=2)


@pytest.mark.long
def test_four_workers_and_fifty_memories(postgres: Running, memory: str) -> None:
    run_workers(postgres, memory, count=50, processes=4)


def test_two_jobs_of_a_memory_taken_at_the_same_moment_run_one_after_the_other(
    postgres: Running, memory: str, files: Files
) -> None:
    """One is taken, in a transaction that has not ended, when the other comes and goes first."""
    import psycopg

    with open_store(memory) as store:
        defer(store, "build")
        with psycopg.connect(postgres.address(database_of(memory), "postgres")) as wire:
            wire.execute("SELECT looseleaf_jobs.procrastinate_fetch_job_v2(NULL, NULL)")
            second = defer(store, "check")
            with worker_thread(memory) as worker:
                waiting = (
                    "SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND datname = %s"
                )
                until(lambda: store.run(waiting, (database_of(memory),)) == [(1,)])
                wire.commit()
                until(lambda: worker.done == 2)  # the first one is nobody's: it was returned
        assert job(store, second).state == "done"


def test_a_memory_with_much_to_do_takes_one_worker_only(memory: str, files: Files) -> None:
    talk(memory)
    other = memory.replace("acme/one", "acme/two")
    with Memory(other):
        pass
    with open_store(memory) as store, open_store(other) as second:
        for kind in ("distill", "build", "index", "embed"):
            defer(store, kind)
        with worker_thread(memory, concurrency=2) as worker:
            until(files.calls)
            defer(second, "build")
            until(lambda: worker.done == 1)
            assert [each.state for each in jobs_of(second)] == ["done"]
            assert sorted(each.state for each in jobs_of(store)) == [
                "running",
                "waiting",
                "waiting",
                "waiting",
            ]
            files.let_go()
            until(lambda: worker.done == 5)


# --- killed, stopped, cut off ----------------------------------------------------------


def test_a_killed_worker_s_job_is_done_by_another_and_once_in_effect(memory: str, files: Files) -> None:
    memories = others(memory, 3)
    for each in memories:
        talk(each)
        with open_store(each) as store:
            defer(store, "distill")
    with worker_process(parse_address(memory).url, files) as killed:
        until(files.calls)
        killed.send_signal(signal.SIGKILL)
        killed.wait()
    files.let_go()
    with open_store(memory) as store:
        assert figures(store.database)["jobs"] == {"distill": {"running": 1, "waiting": 2}}
        with worker_process(parse_address(memory).url, files) as other:
            until(lambda: figures(store.database)["jobs"] == {})
            other.send_signal(signal.SIGTERM)
            out, _ = other.communicate(timeout=30)
            assert (other.returncode, out) == (0, "3 0\n")
            calls = files.calls()
            assert len(calls) == 4  # the killed one's is made again, and no other
            assert calls.count(killed.pid) == 1
    assert [len(entries(each)) for each in memories] == [1, 1, 1]


def test_a_stopped_worker_ends_its_job_and_leaves_the_others(memory: str, files: Files) -> None:
    first, second = others(memory, 2)
    for each in (first, second):
        talk(each)
        with open_store(each) as store:
            defer(store, "distill")
    with worker_process(parse_address(memory).url, files) as stopped:
        until(files.calls)
        stopped.send_signal(signal.SIGTERM)
        with pytest.raises(Exception, match="timed out"):
            stopped.communicate(timeout=0.5)
        files.let_go()
        out, _ = stopped.communicate(timeout=30)
        assert (stopped.returncode, out) == (0, "1 0\n")
    with open_store(first) as one, open_store(second) as two:
        assert [each.state for each in (*jobs_of(one), *jobs_of(two))] == ["done", "waiting"]
        assert figures(one.database)["workers"] == 0


def test_a_stopped_worker_gives_a_job_back_that_takes_too_long(memory: str, files: Files) -> None:
    talk(memory)
    with open_store(memory) as store:
        number = defer(store, "distill")
        with worker_process(parse_address(memory).url, files, grace=0.3) as stopped:
            until(files.calls)
            stopped.send_signal(signal.SIGTERM)
            out, _ = stopped.communicate(timeout=30)
            assert (stopped.returncode, out) == (0, "0 0\n")
        state = job(store, number)
        assert (state.state, state.attempts) == ("waiting", 0)
        files.let_go()
        assert drain(memory).done == 1
    assert len(entries(memory)) == 1


def test_a_job_that_kills_its_workers_fails_in_the_end(postgres: Running, memory: str) -> None:
    talk(memory)
    with open_store(memory) as store:
        number = defer(store, "distill")
        store.run("SELECT looseleaf_jobs.begin_distilling(%s, 'main')", (store.memory,))
        taken = "UPDATE looseleaf_jobs.procrastinate_jobs SET status = 'doing' RETURNING 1"
        for attempt in range(ATTEMPTS):
            assert job(store, number).attempts == attempt
            run_there(postgres, memory, taken)
            store.run("SELECT looseleaf_jobs.return_lost(0, '{}', '1 second', %s)", (ATTEMPTS,))
        state = job(store, number)
        assert state.state == "failed"
        assert "Try it again" in state.error
        assert figures(store.database)["talk"] == 1  # it is looked at again


def test_a_lost_job_is_dropped_where_the_same_one_waits(postgres: Running, memory: str) -> None:
    with open_store(memory) as store:
        defer(store, "check")
        run_there(postgres, memory, "UPDATE looseleaf_jobs.procrastinate_jobs SET status = 'doing'")
        number = defer(store, "check")
        store.run("SELECT looseleaf_jobs.return_lost(0, '{}', '1 second', 9)")
        assert [(each.id, each.state) for each in jobs_of(store)] == [(number, "waiting")]


def test_a_worker_taken_for_dead_registers_again_and_ends_no_job_of_another(
    postgres: Running, memory: str, files: Files
) -> None:
    talk(memory)
    with open_store(memory) as store, worker_thread(memory) as worker:
        number = defer(store, "distill")
        until(files.calls)
        # As after a long cut: pruned, and the job with another worker.
        run_there(postgres, memory, "DELETE FROM looseleaf_jobs.procrastinate_workers")
        run_there(
            postgres,
            memory,
            "WITH w AS (INSERT INTO looseleaf_jobs.procrastinate_workers (last_heartbeat) "
            "VALUES (now() + interval '1 hour') RETURNING id) "
            "UPDATE looseleaf_jobs.procrastinate_jobs SET status = 'doing', worker_id = (SELECT id FROM w)",
        )
        files.let_go()
        until(lambda: worker.done == 1)
        until(lambda: figures(store.database)["workers"] == 2)
        assert job(store, number).state == "running"
    assert len(entries(memory)) == 1


@pytest.mark.long
def test_workers_that_are_killed_at_any_moment_leave_all_done_once(postgres: Running, memory: str) -> None:
    memories = others(memory, 6)
    for each in memories:
        talk(each)
        with open_store(each) as store:
            for kind in ("distill", "build", "index"):
                defer(store, kind)
    chance = random.Random(7)
    killed = rounds = 0
    with open_store(memory) as store:
        while figures(store.database)["jobs"]:
            with worker_process(parse_address(memory).url, concurrency=3) as process:
                until(lambda: figures(store.database)["workers"], 30.0)
                with suppress(subprocess.TimeoutExpired):
                    process.wait(
                        chance.uniform(0.1, 0.5 + 0.25 * rounds)
                    )  # each time it may get a little further
                rounds += 1
                killed += any("running" in each for each in figures(store.database)["jobs"].values())
            # What it had is another one's at once, and however often: there is no need to wait for that.
            lost = "UPDATE looseleaf_jobs.procrastinate_workers SET last_heartbeat = '2000-01-01'"
            run_there(postgres, memory, lost)
            run_there(postgres, memory, "UPDATE looseleaf_jobs.procrastinate_jobs SET attempts = 0")
            assert all("failed" not in each for each in figures(store.database)["jobs"].values())
    assert killed > 1
    for each in memories:
        assert len(entries(each)) == 1
        with Memory(each) as opened:
            assert [fact.object for fact in opened.facts(topic="user")] == ["Lyon"]
            assert [str(problem) for problem in opened.check() if problem.severity == "error"] == []


@pytest.mark.long
def test_a_worker_goes_on_when_the_database_was_away(tmp_path: Path) -> None:
    files = Files(tmp_path)
    with own_server() as running:
        memory = running.address(running.database(), namespace="acme/one")
        first, second = others(memory, 2)
        talk(first)
        with open_store(first) as store:
            defer(store, "distill")
        with worker_process(parse_address(memory).url, files) as process:
            until(files.calls)
            running.server.kill()
            files.let_go()
            running.server.start()
            talk(second)
            with open_store(second) as store:
                defer(store, "distill")
                until(lambda: figures(store.database)["jobs"] == {})
            assert process.poll() is None
        assert [len(entries(each)) for each in (first, second)] == [1, 1]


# --- failing ---------------------------------------------------------------------------


def test_a_job_that_fails_for_a_while_is_tried_again_and_says_why(postgres: Running, memory: str) -> None:
    """Until it has failed often; then a person may have it tried again."""
    from looseleaf.work import queue

    run_there(
        postgres,
        memory,
        "CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN IF NEW.path LIKE 'views/topics%' THEN "
        "RAISE EXCEPTION USING ERRCODE = 'disk_full', MESSAGE = 'no room'; END IF; RETURN NEW; END $$;"
        "CREATE TRIGGER refuse BEFORE INSERT ON looseleaf.documents FOR EACH ROW EXECUTE FUNCTION refuse()",
    )
    talk(memory)
    with open_store(memory) as store:
        defer(store, "distill")
        drain(memory)
        number = defer(store, "build")
        assert drain(memory, timing=workers.Timing(pauses=(3600.0,))).failed == 0
        state = job(store, number)
        assert (state.state, state.attempts) == ("waiting", 1)
        assert "no room left" in state.error
        assert state.next is not None
        # Others of the memory need not wait for that.
        defer(store, "index")
        assert drain(memory).done == 1
        queue.retry(store, number)
        assert drain(memory, timing=workers.Timing(pauses=(3600.0,))).failed == 1
        state = job(store, number)
        assert (state.state, state.attempts) == ("failed", 2)
        assert "no room left" in state.error
        run_there(postgres, memory, "DROP TRIGGER refuse ON looseleaf.documents")
        queue.retry(store, number)
        assert drain(memory).done == 1
        assert job(store, number).state == "done"


def test_talk_whose_job_failed_stays_noted(memory: str) -> None:
    talk(memory)
    with open_store(memory) as store:
        store.put("looseleaf.toml", b'distiller = "no.such:thing"\n', base=None)
        number = defer(store, "distill")
        assert drain(memory).failed == 1
        assert "`distiller`" in job(store, number).error
        assert figures(store.database)["talk"] == 1


def test_a_job_of_a_memory_that_is_gone_fails(postgres: Running, memory: str) -> None:
    with open_store(memory) as store:
        defer(store, "check")
    run_there(postgres, memory, "UPDATE looseleaf.memories SET state = 'left', note = 'elsewhere'")
    assert drain(memory).failed == 1


def test_an_old_job_goes_before_those_that_a_person_waits_for(postgres: Running, memory: str) -> None:
    first, second = others(memory, 2)
    for each in (first, second):
        with Memory(each):
            pass
    with open_store(first) as one, open_store(second) as two:
        old = defer(one, "build")
        defer(two, "check")
        fetch = "SELECT j.id FROM looseleaf_jobs.procrastinate_fetch_job_v2(NULL, NULL) j"
        run_there(
            postgres,
            memory,
            "UPDATE looseleaf_jobs.procrastinate_events SET at = now() - interval '10 minutes'",
        )
        assert one.run("SELECT looseleaf_jobs.lift('5 minutes')") == [(1,)]
        assert one.run(fetch) == [(old,)]


# --- what it takes ---------------------------------------------------------------------


def test_a_worker_takes_only_the_kinds_it_is_for(memory: str) -> None:
    with open_store(memory) as store:
        defer(store, "build")
        defer(store, "check")
        assert drain(memory, kinds=["check"]).done == 1
        assert [(each.kind, each.state) for each in jobs_of(store)] == [
            ("check", "done"),
            ("build", "waiting"),
        ]


def test_a_worker_is_refused_what_it_cannot_do() -> None:
    for given in ({"kinds": ["polish"]}, {"concurrency": 0}, {"concurrency": 9}):
        with pytest.raises(Invalid, match="No worker was started"):
            Worker(Address("postgresql://h/d"), **given)


def test_a_worker_takes_nothing_as_a_role_that_opens_no_memory(postgres: Running, memory: str) -> None:
    with open_store(memory) as store:
        number = defer(store, "check")
    superuser = parse_address(postgres.address(database_of(memory), SUPERUSER))
    with pytest.raises(Unreadable, match="bypasses row security"):
        Worker(superuser, once=True).run()
    with open_store(memory) as store:
        assert job(store, number).state == "waiting"


def test_due_talk_is_deferred_by_any_worker_and_once(postgres: Running, memory: str) -> None:
    memories = others(memory, 5)
    for each in memories:
        talk(each)
    assert make_due(postgres, memory) == 5
    with open_store(memory) as store:
        counts = [store.run("SELECT looseleaf_jobs.defer_due(3)")[0][0] for _ in range(3)]
        assert counts == [3, 2, 0]
    assert drain(memory).done == 5
    assert [len(entries(each)) for each in memories] == [1] * 5


# --- the verb --------------------------------------------------------------------------


def test_the_verb_does_what_waits_and_says_how_much(memory: str, run: Run) -> None:
    address = parse_address(memory).url
    with open_store(memory) as store:
        defer(store, "build")
        defer(store, "check")
    assert run("worker", "--postgres", address, "--once", "--kinds", "check")[:2] == (0, "1 done, 0 failed\n")
    told = json.loads(run("--memory", memory, "worker", "--once", "--json")[1])
    assert told == {"done": 1, "failed": 0}
    with open_store(memory) as store:
        defer(store, "import", source=new_id())
    code, out, _ = run("worker", "--postgres", address, "--once")
    assert (code, out) == (1, "0 done, 1 failed\n")


def test_the_verb_refuses_a_folder_and_what_no_worker_does(memory: str, run: Run, tmp_path: Path) -> None:
    code, out, err = run("--memory", str(tmp_path), "worker")
    assert (code, out) == (2, "")
    assert "only a database has jobs" in err
    for given in (["--kinds", "polish"], ["--concurrency", "0"]):
        code, _, err = run("worker", "--postgres", parse_address(memory).url, *given)
        assert (code, err.partition(":")[0]) == (2, "looseleaf")


def test_the_verb_ends_with_a_signal(memory: str) -> None:
    command = [sys.executable, "-m", "looseleaf", "worker", "--postgres", parse_address(memory).url]
    with (
        open_store(memory) as store,
        subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process,
    ):
        until(lambda: figures(store.database)["workers"] == 1)
        number = defer(store, "build")
        until(lambda: job(store, number).state == "done")
        process.send_signal(signal.SIGTERM)
        out, err = process.communicate(timeout=30)
        assert (process.returncode, out) == (0, "1 done, 0 failed\n")
        assert err.startswith("looseleaf: taking all jobs of postgresql://")
        assert figures(store.database)["workers"] == 0
