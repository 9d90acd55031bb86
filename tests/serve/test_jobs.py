"""Jobs, each in a real process of its own: what they say, what is kept of them, and that no screen waits for them."""

from __future__ import annotations

import json
import signal
import statistics
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from looseleaf.base.errors import Busy, Invalid, NotFound, Refused
from looseleaf.memory import Memory
from looseleaf.pages.folder import init
from looseleaf.serve import jobs as jobs_module
from looseleaf.serve.audit import Audit
from looseleaf.serve.jobs import DIED, FORGOTTEN, NOT_BEGUN, Job, Jobs
from looseleaf.serve.once import KeyUsed
from looseleaf.serve.pool import Pool
from looseleaf.serve.state import FolderState
from serving import serving

SOON = 60.0
WORD = "Northwind"


def fill(path: Path) -> None:
    init(str(path))
    with Memory(path) as memory:
        memory.record(user=f"I work at {WORD}, in Lyon.")
        memory.record(assistant="Noted.")
        memory.remember(f"I work at {WORD}.")
        memory.remember("I prefer green tea.")


def opened(place: Path) -> Jobs:
    return Jobs(Pool(str(place / "memories")), str(place / "access"), Audit(str(place / "access")))


@pytest.fixture(scope="module")
def filled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("jobs")
    for name in ("mira", "noa", "tom"):
        fill(place / "memories" / name)
    return place


@pytest.fixture(scope="module")
def shared(filled: Path) -> Iterator[Jobs]:
    made = opened(filled)
    yield made
    made.close()


@pytest.fixture
def place(tmp_path: Path) -> Path:
    fill(tmp_path / "memories" / "mira")
    return tmp_path


def done(jobs: Jobs, *given: Any) -> Job:
    job = jobs.wait(jobs.start(*given).id, SOON)
    assert not job.is_live, job.state
    return job


def bytes_below(folder: Path) -> bytes:
    return b"".join(path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file())


# --- what they do -----------------------------------------------------------------------


def test_a_check_is_done_in_another_process_and_its_result_stays(shared: Jobs, filled: Path) -> None:
    assert shared.last("mira", "check") is None
    job = done(shared, "mira", "check")
    assert (job.state, job.result) == ("done", {"errors": 0, "notes": 0, "problems": []})
    assert shared.last("mira", "check") is job
    assert 0 <= job.age < SOON
    assert job.seconds_left is None
    again = opened(filled)
    kept = again.get(job.id)
    assert kept.to_dict() == job.to_dict()
    assert kept.age == pytest.approx(job.age, abs=5)
    assert (filled / "access" / "jobs" / f"{job.id}.json").stat().st_mode & 0o777 == 0o600


def test_what_prompts_cost_and_the_index_are_jobs_too(shared: Jobs) -> None:
    costs, index = done(shared, "noa", "analyze", {"last": 3}), done(shared, "noa", "index", {"full": True})
    assert costs.result is not None
    assert costs.result["total_tokens"] > 0
    assert index.result == {"vectors": 0}


def test_an_import_takes_what_was_received_and_removes_the_file(place: Path) -> None:
    jobs = opened(place)
    said = [{"role": "user", "content": "I moved to Porto."}, {"role": "assistant", "content": "Good."}]
    received = place / "access" / "received.jsonl"
    received.parent.mkdir()
    received.write_text("".join(f"{json.dumps(each)}\n" for each in said))
    job = done(jobs, "mira", "import", {"file": str(received)})
    assert job.result is not None
    assert job.error == ""
    assert (job.result["traces"], job.result["talks"]["new"]) == (2, 1)
    assert job.done >= 1
    assert not received.exists()
    with Memory(place / "memories" / "mira") as memory:
        assert any("Porto" in hit.text for hit in memory.recall("Porto"))
    jobs.close()


def test_what_an_earlier_server_half_received_is_gone(place: Path) -> None:
    half = place / "access" / "incoming" / "tmp1" / "talk.jsonl"
    half.parent.mkdir(parents=True)
    half.write_text(WORD)
    jobs = opened(place)
    jobs.open()
    assert list((place / "access" / "incoming").iterdir()) == []
    jobs.close()


def test_what_an_import_of_an_earlier_server_still_reads_is_left_to_it(place: Path) -> None:
    jobs = opened(place)
    done(jobs, "mira", "import", {"file": str(place / "access" / "not-there")})
    [kept] = (place / "access" / "jobs").glob("*.json")
    kept.write_text(json.dumps(json.loads(kept.read_text()) | {"state": "running"}))
    held = FolderState(str(place / "access")).hold(f"jobs/{kept.stem}")
    held.__enter__()
    read = place / "access" / "incoming" / "tmp1"
    read.mkdir(parents=True)
    later = opened(place)
    later.open()
    assert read.exists()
    held.__exit__(None, None, None)
    assert later.wait(kept.stem, SOON).state == "lost"
    until = time.monotonic() + SOON
    while read.exists() and time.monotonic() < until:
        time.sleep(0.01)
    assert not read.exists()
    later.close()
    jobs.close()


def test_a_refused_import_says_why_and_no_file_elsewhere_is_removed(place: Path) -> None:
    jobs, elsewhere = opened(place), place / "mine.bin"
    elsewhere.write_bytes(b"\0\1\2")
    job = done(jobs, "mira", "import", {"file": str(place / "access" / "not-there")})
    assert (job.state, job.problem != "") == ("refused", True)
    jobs._drop(str(elsewhere))
    assert elsewhere.exists()


# --- forgetting -------------------------------------------------------------------------


def test_nothing_that_is_kept_names_what_was_forgotten(place: Path) -> None:
    jobs, memory = opened(place), place / "memories" / "mira"
    shown = done(jobs, "mira", "forget", {"match": WORD, "dry_run": True})
    assert shown.result is not None
    assert shown.result["what"] == WORD
    assert shown.is_dry
    looked = done(jobs, "mira", "check")
    assert looked.result is not None
    job = done(jobs, "mira", "forget", {"match": WORD})
    assert (job.state, job.error) == ("done", "")
    assert job.result is not None
    assert job.result["counts"]["facts"] == 1
    assert job.result["is_complete"]
    assert job.result["probe"]["left"] == 0
    assert jobs.last("mira", "forget") is job
    again = done(jobs, "mira", "forget", {"match": f"{WORD}-Nine"})
    assert (again.state, again.problem) == ("refused", "NotFound")
    assert WORD in again.error, "who waited is told"
    # The results of before quote what was there then.
    assert jobs.get(looked.id).result == {"errors": 0, "notes": 0}
    assert jobs.get(shown.id).is_outdated
    assert WORD not in json.dumps(jobs.get(shown.id).to_dict())
    assert WORD.encode() not in bytes_below(place / "access")
    assert WORD.encode() not in bytes_below(memory)
    later = opened(place)
    assert [later.get(each.id).error for each in (job, again)] == ["", FORGOTTEN]
    assert later.get(job.id).result == job.result


def test_an_open_memory_answers_rightly_after_a_forget_in_another_process(place: Path) -> None:
    jobs = opened(place)
    with Memory(place / "memories" / "mira") as memory:
        assert any(WORD in fact.object for fact in memory.facts())
        assert any(WORD in hit.text for hit in memory.recall(WORD))
        assert done(jobs, "mira", "forget", {"match": WORD}).state == "done"
        assert not any(WORD in fact.object for fact in memory.facts())
        assert not any(WORD in hit.text for hit in memory.recall(WORD))
        assert WORD not in memory.prompt("Where do I work?", dry_run=True).text.replace(
            "Where do I work?", ""
        )
        memory.remember("I work at Acme.")
        assert memory.check() == []


# --- keys, turns, and cancelling ----------------------------------------------------------


def test_the_same_key_is_the_same_job_and_another_request_is_refused(shared: Jobs, filled: Path) -> None:
    first = done(shared, "noa", "check", {}, "k1")
    assert shared.start("noa", "check", {}, "k1") is first
    assert shared.start("tom", "check", {}, "k1") is not first
    done(shared, "noa", "index", {"full": False}, "k2")
    with pytest.raises(KeyUsed):
        shared.start("noa", "index", {"full": True}, "k2")
    assert opened(filled).start("noa", "check", {}, "k1").id == first.id


def test_of_one_memory_one_job_runs_at_a_time_and_two_in_all(shared: Jobs) -> None:
    seen: list[tuple[str, ...]] = []

    def look(_: Job) -> None:
        running = [job for job in shared._jobs.values() if job.state == "running"]
        seen.append(tuple(sorted(job.memory for job in running)))

    shared.on_change.append(look)
    started = [shared.start(name, kind) for kind in ("check", "analyze") for name in ("mira", "noa", "tom")]
    assert shared.start("mira", "check") is started[0], "it was asked for, and has not ended"
    assert shared.current("mira") is started[0]
    assert [shared.wait(job.id, SOON).state for job in started] == ["done"] * 6
    shared.on_change.remove(look)
    assert max(map(len, seen)) == 2
    assert all(len(set(names)) == len(names) for names in seen)
    assert shared.live == 0
    assert shared.current("mira") is None


def test_what_waits_and_what_only_reads_can_be_cancelled_and_a_forget_cannot(
    place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(jobs_module, "AT_ONCE", 1)
    jobs = opened(place)
    first, second = jobs.start("mira", "check"), jobs.start("mira", "analyze")
    assert jobs.cancel(second.id).state == "cancelled"
    jobs.cancel(first.id)
    # It may have been done before the signal came.
    assert jobs.wait(first.id, SOON).state in ("cancelled", "lost", "done")
    with pytest.raises(Refused, match="has ended already"):
        jobs.cancel(first.id)
    forget = jobs.start("mira", "forget", {"topic": "user"})
    assert not forget.can_be_cancelled
    with pytest.raises(Refused, match="carried out whole"):
        jobs.cancel(forget.id)
    assert jobs.wait(forget.id, SOON).state == "done"


def test_a_job_that_is_wrong_is_refused_at_once(shared: Jobs, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(Invalid, match="the jobs are"):
        shared.start("mira", "format")
    with pytest.raises(Invalid, match="has no"):
        shared.start("mira", "check", {"path": "/etc/passwd"})
    with pytest.raises(Invalid, match="wrong kind"):
        shared.start("mira", "forget", {"match": 3})
    with pytest.raises(NotFound):
        shared.start("nobody", "check")
    with pytest.raises(NotFound):
        shared.get("../access")
    monkeypatch.setattr(jobs_module, "_WAITING", 0)
    with pytest.raises(Busy, match="wait already"):
        shared.start("mira", "check")


# --- the server, and the process, may die -------------------------------------------------


def test_a_process_that_is_killed_is_told_and_its_memory_is_whole(place: Path) -> None:
    jobs = opened(place)
    job = jobs.start("mira", "forget", {"match": WORD})
    assert job.process is not None
    job.process.kill()
    assert (jobs.wait(job.id, SOON).state, job.error) == ("lost", DIED)
    assert WORD.encode() not in bytes_below(place / "access")
    assert (opened(place).get(job.id).state, opened(place).get(job.id).error) == ("lost", DIED)
    with Memory(place / "memories" / "mira") as memory:
        assert [each for each in memory.check() if each.severity == "error"] == []
    assert done(jobs, "mira", "forget", {"match": WORD}).state == "done"


_SERVER = """
import sys
from pathlib import Path
from looseleaf.serve.audit import Audit
from looseleaf.serve.jobs import Jobs
from looseleaf.serve.pool import Pool
from looseleaf.serve.state import FolderState
place = Path(sys.argv[1])
jobs = Jobs(Pool(str(place / "memories")), str(place / "access"), Audit(str(place / "access")))
running = jobs.start("mira", "forget", {"match": "Northwind"}, "a key")
waiting = jobs.start("mira", "check")
print(running.id, waiting.id, flush=True)
sys.stdin.read()
"""


def test_a_job_goes_on_when_its_server_is_killed_and_the_next_one_finds_it(place: Path) -> None:
    command = [sys.executable, "-c", _SERVER, str(place)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as server:
        assert server.stdout is not None
        running, waiting = server.stdout.readline().split()
        server.send_signal(signal.SIGKILL)
    jobs = opened(place)
    jobs.open()
    assert (jobs.get(waiting).state, jobs.get(waiting).error) == ("lost", NOT_BEGUN)
    if jobs.get(running).is_live:
        assert jobs.current("mira", "forget") is not None
        with pytest.raises(Refused):
            jobs.cancel(running)
    found = jobs.wait(running, SOON)
    assert (found.state, found.error) == ("done", "")
    assert found.result is not None
    assert found.result["is_complete"]
    assert jobs.start("mira", "forget", {"match": "Northwind"}, "a key") is found
    with pytest.raises(KeyUsed):
        jobs.start("mira", "forget", {"match": "other words"}, "a key")
    jobs.close()


def test_a_process_that_died_with_its_server_is_told_by_the_next_one(place: Path) -> None:
    jobs = opened(place)
    job = Job("01M7SE0N6DSE9AH1M6RQ0K814V", "mira", "import")
    job.state = "running"
    jobs._write(job, job.head())
    with FolderState(str(place / "access")).hold(f"jobs/{job.id}"):
        jobs.open()
        assert jobs.get(job.id).state == "running"
    assert (jobs.wait(job.id, SOON).state, jobs.get(job.id).error) == ("lost", DIED)
    (place / "access" / "jobs" / "01M7SE0N6DSE9AH1M6RQ0K814W.json").write_text("{")
    (place / "access" / "jobs" / "notes.json").write_text("{}")
    assert [each.id for each in opened(place).of("mira")] == [job.id]


def test_a_server_that_stops_ends_what_only_reads_and_begins_no_more(place: Path) -> None:
    jobs = opened(place)
    running, waiting = jobs.start("mira", "check"), jobs.start("mira", "analyze")
    jobs.close()
    assert jobs.get(running.id).state in ("cancelled", "lost", "done")
    assert jobs.get(waiting.id).error == NOT_BEGUN
    with pytest.raises(Busy, match="being stopped"):
        jobs.start("mira", "check")


def test_the_files_of_old_jobs_are_cleared(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    jobs = opened(place)
    made = [done(jobs, "mira", "check").id for _ in range(2)]
    monkeypatch.setattr(jobs_module, "_KEPT", 1)
    later = opened(place)
    assert [job.id for job in later.of("mira")] == made[1:]
    assert [path.stem for path in (place / "access" / "jobs").glob("*.json")] == made[1:]


def test_the_time_left_follows_from_what_is_done_or_from_the_last_time() -> None:
    job = Job("x", "mira", "import")
    assert job.seconds_left is None
    job.state, job.began = "running", time.time() - 10
    assert job.seconds_left is None
    job.expected = 30.0
    assert job.seconds_left == pytest.approx(20, abs=1)
    job.done, job.total = 1, 3
    assert job.seconds_left == pytest.approx(20, abs=1)


# --- screens ----------------------------------------------------------------------------


def test_no_screen_is_held_while_a_job_reads_all(tmp_path: Path) -> None:
    """A page is read many times, without and with jobs that read all of a memory with a long log."""
    path = tmp_path / "memories" / "mira"
    fill(path)
    with Memory(path) as memory, memory.batch() as batch:
        for number in range(3_000):
            batch.record(user=f"Row {number} of the garden is for beans, and so it stays for a while.")
    with serving(tmp_path) as server, httpx.Client(base_url=server.address) as client:
        headers = {"authorization": f"Bearer {server.token('mira')}"}

        def reading() -> float:
            began = time.perf_counter()
            client.get("/v1/memories/mira/pages/USER.md", headers=headers).raise_for_status()
            time.sleep(0.02)  # fewer a second than a token may
            return time.perf_counter() - began - 0.02

        for _ in range(10):
            reading()
        alone = statistics.median(reading() for _ in range(25))
        ended = threading.Event()
        beside: list[float] = []
        server.serving.jobs.on_change.append(lambda told: None if told.is_live else ended.set())
        job = server.serving.jobs.start("mira", "check")
        while not ended.is_set():
            beside.append(reading())
        job = server.serving.jobs.get(job.id)
        assert job.ended is not None
        assert job.began is not None
        took = job.ended - job.began
        ratio = statistics.median(beside) / alone
        print(f"a page beside a check: {ratio:.1f} times as long; the check took {took / alone:.0f} pages")
        assert took > 5 * max(beside), "a page waited for the check"
        assert ratio < 8
