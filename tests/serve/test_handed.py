"""Jobs that a server leaves to the workers of its database: done there and shown here, or done here if none does."""

from __future__ import annotations

import json
import signal
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
import psycopg
import pytest

from looseleaf.base.errors import Refused
from looseleaf.base.paths import INCOMING
from looseleaf.memory import Memory
from looseleaf.pages.folder import init
from looseleaf.serve import handed, jobs
from looseleaf.store.postgres.address import database_of, parse_address
from looseleaf.store.postgres.database import close_all, database_at
from looseleaf.work import queue
from looseleaf.work import worker as working
from looseleaf.work.tasks import carry_out
from looseleaf.work.worker import Timing, Worker
from postgres import Running
from resting import ALL, Api, Asker
from serving import SOON, served

NAME = "acme/agent-7"
AT = "/memories/acme:agent-7"
SAID = [
    {"role": "user", "content": "I live in Porto."},
    {"role": "assistant", "content": "Noted."},
]
TALK = "".join(f"{json.dumps(each)}\n" for each in SAID).encode()


@pytest.fixture(autouse=True)
def _settings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))


@pytest.fixture
def address(postgres: Running) -> Iterator[str]:
    yield postgres.address(postgres.database())
    close_all()


@contextmanager
def serving_at(address: str, folder: Path) -> Iterator[Api]:
    folder.mkdir()
    api = Api(folder, database=address)
    init(api.where(NAME))
    api.start()
    try:
        yield api
    finally:
        api.stop()


@pytest.fixture
def api(address: str, tmp_path: Path) -> Iterator[Api]:
    with serving_at(address, tmp_path / "one") as api:
        yield api


@contextmanager
def working_at(address: str, *kinds: str) -> Iterator[Worker]:
    """A worker, in a thread; when it is there, it is counted."""
    found = Worker(parse_address(address), kinds=kinds, timing=Timing(poll=0.05, beat=0.2, keep=0.2))
    thread = threading.Thread(target=found.run)
    thread.start()
    until(lambda: found._id)
    try:
        yield found
    finally:
        found.stop()
        thread.join()


def until(holds: Any, seconds: float = SOON) -> None:
    last = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < last, "it did not come about"
        time.sleep(0.02)


def ended(asker: Asker, id: str) -> dict[str, Any]:
    found: dict[str, Any] = {}

    def is_ended() -> bool:
        found.update(asker.ok("GET", f"{AT}/jobs/{id}"))
        return found["state"] not in ("waiting", "running")

    until(is_ended)
    return found


def send(api: Api, asker: Asker) -> str:
    answer = asker.client.post(f"{AT}/import?name=talk.jsonl&format=messages&mine=true", content=TALK)
    assert answer.status_code == 202, answer.text
    return str(answer.json()["id"])


def received(api: Api) -> list[str]:
    with Memory(api.where(NAME)) as memory:
        store = memory.parts.store
        return [name for folder in store.folders(INCOMING) for name in store.names(f"{INCOMING}/{folder}")]


def test_a_worker_checks_indexes_and_imports_for_a_server(
    api: Api, address: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    done: list[str] = []

    def see(memory: Any, asked: Any) -> Any:
        done.append(asked.kind)
        return carry_out(memory, asked)

    monkeypatch.setattr(working, "carry_out", see)
    asker = api.asker(voice="user")
    with working_at(address), serving_at(address, tmp_path / "two") as other:
        imported = ended(asker, send(api, asker))
        assert (imported["state"], imported["result"]["traces"]) == ("done", 2)
        assert asker.ok("POST", f"{AT}/recall", {"query": "Where do I live?"})["hits"]
        for kind in ("check", "index"):
            id = asker.ok("POST", f"{AT}/{kind}", {})["id"]
            assert ended(asker, id)["state"] == "done"
            assert other.asker(voice="user").ok("GET", f"{AT}/jobs/{id}")["state"] == "done"
        assert ended(asker, id)["result"] == {"vectors": 0}
    assert done == ["import", "check", "index"]
    assert received(api) == []
    assert [line["state"] for line in api.audit if line.get("act") == "job ended"] == ["done"] * 3


def test_what_a_worker_refuses_is_told_as_it_said_it(api: Api, address: str) -> None:
    asker = api.asker(voice="user")
    with working_at(address):
        answer = asker.client.post(
            f"{AT}/import?name=talk.bin&format=nosuch", content=b"\x00\x01no format of any program"
        )
        told = ended(asker, answer.json()["id"])
    assert told["state"] == "refused"
    assert "nosuch" in told["error"]
    assert received(api) == []


def test_where_no_worker_takes_a_job_the_server_starts_one(
    api: Api, address: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(jobs, "_TAKE_SECONDS", 0.5)
    asker = api.asker(voice="user")
    with working_at(address, "distill"):
        told = ended(asker, send(api, asker))
        assert (told["state"], told["result"]["traces"]) == ("done", 2)
    assert received(api) == []


def query(address: str, text: str, *values: object) -> list[Any]:
    with psycopg.connect(database_at(parse_address(address)).url, autocommit=True) as wire:
        return wire.execute(text.encode(), values).fetchall()


def test_what_the_last_worker_was_killed_in_is_done_after_all_and_the_memory_goes_on(
    api: Api, address: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(jobs, "_TAKE_SECONDS", 0.5)
    asker = api.asker(voice="user")
    [(worker,)] = query(address, "SELECT worker_id FROM looseleaf_jobs.procrastinate_register_worker_v1()")
    id = asker.ok("POST", f"{AT}/check")["id"]
    forget = asker.ok("POST", f"{AT}/forget", {"match": "Nothing of this"})["id"]
    until(lambda: api.serving.jobs.get(id).queued)
    taken = "SELECT task_name FROM looseleaf_jobs.procrastinate_fetch_job_v2(NULL, %s)"
    assert query(address, taken, worker) == [("check",)]
    time.sleep(1.5)
    assert api.serving.jobs.get(id).state == "running", "a worker that lives is waited for"
    gone = "UPDATE looseleaf_jobs.procrastinate_workers SET last_heartbeat = now() - interval '1 minute' RETURNING id"
    assert query(address, gone) == [(worker,)]
    assert ended(asker, id)["state"] == "done"
    assert ended(asker, forget)["state"] in ("done", "refused")


def test_a_job_that_is_cancelled_at_another_server_while_it_is_handed_over_is_cancelled(
    api: Api, address: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked, go_on = threading.Event(), threading.Event()
    ask = handed.Workers.ask

    def ask_slowly(workers: handed.Workers, *given: Any) -> int:
        asked.set()
        assert go_on.wait(SOON)
        return ask(workers, *given)

    monkeypatch.setattr(handed.Workers, "ask", ask_slowly)
    asker = api.asker(voice="user")
    with working_at(address, "distill"), serving_at(address, tmp_path / "two") as other:
        id = send(api, asker)
        assert asked.wait(SOON)
        until(lambda: other.serving.jobs.get(id).state == "running")
        other.serving.jobs.cancel(id)
        until(lambda: api.serving.jobs.get(id).is_unwanted)
        go_on.set()
        assert ended(asker, id)["state"] == "cancelled"
        until(lambda: other.serving.jobs.get(id).state == "cancelled")
        assert asker.ok("GET", f"{AT}/facts") is not None
    assert received(api) == []


def test_a_server_whose_claims_were_cut_is_not_taken_for_dead(
    api: Api, address: str, postgres: Running, tmp_path: Path
) -> None:
    asker = api.asker(voice="user")
    with working_at(address, "distill"), serving_at(address, tmp_path / "two") as other:
        id = asker.ok("POST", f"{AT}/check")["id"]
        until(lambda: other.serving.jobs.get(id).queued)
        cut = (
            "SELECT pg_terminate_backend(pid) FROM pg_locks WHERE locktype = 'advisory' AND objsubid = 2 "
            "AND database = (SELECT oid FROM pg_database WHERE datname = current_database())"
        )
        assert (True,) in postgres.execute(cut, database=database_of(address))
        other.serving.jobs.clear_lost()
        time.sleep(2.5)
        other.serving.jobs.clear_lost()
        other.serving.jobs.clear_lost()
        found = other.serving.jobs.get(id)
        assert (found.state, found.server) == ("running", api.serving.jobs._own)


def test_an_import_that_is_asked_for_twice_is_told_alike(address: str, api: Api) -> None:
    with Memory(api.where(NAME)) as memory:
        store = memory.parts.store
        source = queue.receive(store, "talk.jsonl", TALK)
        numbers = []
        for _ in range(2):  # the answer to the first was lost after a worker had taken it
            numbers.append(queue.defer(store, "import", "main", source=source, format="messages", mine=True))
            with working_at(address) as worker:
                until(lambda: worker.done == 1)
        first, second = (queue.job(store, number) for number in numbers)
        assert first.result == second.result
        assert (first.state, second.state) == ("done", "done")


def test_what_waits_for_a_worker_can_be_cancelled_and_what_one_has_begun_cannot(
    api: Api, address: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    begun, go_on = threading.Event(), threading.Event()

    def wait(memory: Any, asked: Any) -> Any:
        begun.set()
        assert go_on.wait(SOON)
        return carry_out(memory, asked)

    monkeypatch.setattr(working, "carry_out", wait)
    asker = api.asker(voice="user")
    with working_at(address, "distill"):
        id = send(api, asker)
        until(lambda: api.serving.jobs.get(id).queued)
        api.serving.jobs.cancel(id)
        assert ended(asker, id)["state"] == "cancelled"
        assert received(api) == []
    with working_at(address):
        id = asker.ok("POST", f"{AT}/check")["id"]
        assert begun.wait(SOON)
        with pytest.raises(Refused, match="a worker has begun this job"):
            api.serving.jobs.cancel(id)
        go_on.set()
        assert ended(asker, id)["state"] == "done"


def test_what_a_worker_found_is_gone_when_something_is_forgotten(
    api: Api, address: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also where it is forgotten in the moment in which the worker has ended and the server has not looked yet."""
    asker = api.asker(voice="user")
    asker.ok("POST", f"{AT}/remember", {"text": "My cat is called Mimi."})
    with Memory(api.where(NAME)) as memory:
        monkeypatch.setattr(jobs, "_LOOK_SECONDS", 2.0)
        with working_at(address) as worker:
            id = asker.ok("POST", f"{AT}/check")["id"]
            until(lambda: worker.done == 1)
            memory.forget(match="Mimi")
    told = ended(asker, id)
    assert (told["state"], told["result"]) in (("done", {}), ("done", None))


def test_another_server_looks_on_when_one_is_killed(address: str, tmp_path: Path) -> None:
    with (
        serving_at(address, tmp_path / "two") as other,
        served("--postgres", address, "--allow-host", "127.0.0.1") as one,
    ):
        secret = other.token(NAME, scopes=ALL)
        asker = other.asker_with(secret)
        with working_at(address, "distill"):
            headers = {"authorization": f"Bearer {secret}", "host": f"127.0.0.1:{one.port}"}
            begun = httpx.post(f"{one.address}/v1{AT}/check", headers=headers, timeout=SOON)
            assert begun.status_code == 202, begun.text
            id = begun.json()["id"]
            until(lambda: other.serving.jobs.get(id).queued)
            one.process.send_signal(signal.SIGKILL)
            one.process.wait()
        other.serving.jobs.clear_lost()
        assert other.serving.jobs.get(id).state == "running"
        with working_at(address):
            assert ended(asker, id)["state"] == "done"
