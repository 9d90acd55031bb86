"""Several servers of one database: each shows at once what another wrote; one that is killed takes nothing along."""

from __future__ import annotations

import asyncio
import os
import re
import shutil
import signal
import socket
import subprocess
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest

from looseleaf.cli.main import main
from looseleaf.memory import Memory
from looseleaf.pages.folder import init
from looseleaf.serve.serving import CLEAR_SECONDS
from looseleaf.serve.shared import SharedState
from looseleaf.store.postgres.address import database_of, parse_address
from postgres import Running, own_server
from resting import ALL, Api
from serving import SOON, Process, served

NAME = "acme/agent-7"
AT = "/memories/acme:agent-7"
NGINX = shutil.which("nginx") or shutil.which("nginx", path="/usr/sbin")


@pytest.fixture(autouse=True)
def _settings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))


@pytest.fixture(scope="module")
def address(postgres: Running) -> str:
    return postgres.address(postgres.database())


@pytest.fixture(scope="module")
def two(address: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Api, Api]]:
    """Two servers of one database, with a memory."""
    made = [Api(tmp_path_factory.mktemp("shared"), database=address) for _ in range(2)]
    init(made[0].where(NAME))
    for each in made:
        each.start()
    yield made[0], made[1]
    for each in made:
        each.stop()


def until(holds: Any, seconds: float = SOON) -> None:
    last = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < last, "it did not come about"
        time.sleep(0.02)


# --- who may come in ----------------------------------------------------------------------


def test_a_token_of_one_server_opens_the_other_at_once_and_ends_there_too(two: tuple[Api, Api]) -> None:
    one, other = two
    for _ in range(5):
        secret = one.token("*", scopes=ALL)
        asker = other.asker_with(secret)
        assert asker("GET", "/memories").status_code == 200
        one.access.revoke(secret.split("_")[1])
        until(lambda asker=asker: asker("GET", "/memories").status_code == 401, 2.0)


def test_a_link_of_one_server_lets_a_person_in_at_the_other(two: tuple[Api, Api]) -> None:
    one, other = two
    code = one.access.make_code()
    with httpx.Client(base_url=other.address, headers={"origin": other.address}) as person:
        assert person.get(f"/login/{code}").status_code == 200
        assert person.post(f"/login/{code}").status_code == 303
        visit = person.cookies["looseleaf"]
    with httpx.Client(base_url=one.address, cookies={"looseleaf": visit}) as person:
        screen = person.get("/m/acme:agent-7/")
        assert screen.status_code == 200
        assert ">acme/agent-7<" in screen.text
        assert 'href="/m/acme:agent-7/review"' in screen.text


def test_many_threads_of_two_servers_lose_no_token(two: tuple[Api, Api]) -> None:
    def make(server: Api, number: int) -> None:
        for each in range(5):
            server.access.make_token(f"t{number}-{each}", ["*"], ["read"])

    threads = [threading.Thread(target=make, args=(server, number)) for number, server in enumerate(two * 2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    names = {token.name for token in two[1].access.tokens()}
    assert {f"t{number}-{each}" for number in range(4) for each in range(5)} <= names


def test_the_secret_of_a_token_is_nowhere_in_the_database(two: tuple[Api, Api], postgres: Running) -> None:
    secret, code = two[0].token("*"), two[0].access.make_code()
    name = database_of(parse_address(two[0].database).url)
    rows = postgres.execute("SELECT data FROM looseleaf.documents", database=name)
    everything = b"".join(bytes(data) for (data,) in rows)
    assert secret.split("_", 2)[2].encode() not in everything
    assert code.encode() not in everything


# --- names --------------------------------------------------------------------------------


def test_a_name_with_a_slash_travels_as_a_colon_or_escaped(two: tuple[Api, Api]) -> None:
    person = two[0].asker(voice="user")
    assert person.ok("GET", "/memories")["items"] == [{"name": NAME}]
    for part in ("acme:agent-7", "acme%2Fagent-7", "acme%2fagent-7"):
        assert person("GET", f"/memories/{part}/facts").status_code == 200
    assert person("GET", "/memories/acme/agent-7/facts").status_code == 404
    begun = person("POST", f"{AT}/check")
    assert begun.headers["location"].startswith("/v1/memories/acme:agent-7/jobs/")
    assert person("POST", "/memories", {"name": "acme/"}).status_code == 422
    assert person("POST", "/memories", {"name": ".server"}).status_code == 422
    assert person("GET", "/memories/.server/facts").status_code == 404
    assert person("POST", "/memories", {"name": NAME}).json()["type"] == "/problems/taken"


def test_a_memory_is_made_seen_and_put_aside_at_all_servers(two: tuple[Api, Api]) -> None:
    one, other = (each.asker(voice="user") for each in two)
    assert one("POST", "/memories", {"name": "team/new"}).status_code == 201
    assert {"name": "team/new"} in other.ok("GET", "/memories")["items"]
    other.ok("POST", "/memories/team:new/remember", {"text": "I live in Lyon."})
    assert len(one.ok("GET", "/memories/team:new/facts")["items"]) == 1
    assert one("DELETE", "/memories/team:new").status_code == 204
    until(lambda: other("GET", "/memories/team:new/facts").status_code == 404, 2.0)
    assert other("POST", "/memories", {"name": "team/new"}).status_code == 201
    assert one.ok("GET", "/memories/team:new/facts")["items"] == []


def test_what_was_put_aside_long_ago_goes(two: tuple[Api, Api], postgres: Running) -> None:
    person = two[0].asker(voice="user")
    person.ok("POST", "/memories", {"name": "old"})
    person.ok("POST", "/memories/old/remember", {"text": "I live in Lyon."})
    pool: Any = two[0].serving.pool
    number = pool._numbers["old"]
    assert person("DELETE", "/memories/old").status_code == 204
    name = database_of(parse_address(two[0].database).url)

    def rows() -> int:
        query = f"SELECT count(*) FROM looseleaf.records WHERE memory = {number}"
        return int(postgres.execute(query, database=name)[0][0])

    pool._clear_aside()
    assert rows() > 0
    aside = "UPDATE looseleaf.memories SET namespace = '.removed/1000000/1' WHERE memory = %s"
    postgres.execute(aside, (number,), database=name)
    pool._clear_aside()
    assert rows() == 0
    gone = postgres.execute(
        "SELECT count(*) FROM looseleaf.memories WHERE memory = %s", (number,), database=name
    )
    assert gone == [(0,)]


# --- what is written ----------------------------------------------------------------------


def test_what_one_server_wrote_the_other_tells_at_once(two: tuple[Api, Api]) -> None:
    askers = [each.asker(voice="user") for each in two]
    askers[0].ok("POST", "/memories", {"name": "seen"})
    for number in range(6):
        name = f"facts/topic-{number}.md"
        page = {"text": f"# Topic\n\n- Kind: {number}\n"}
        askers[number % 2].ok("PUT", f"/memories/seen/pages/{name}", page, if_none_match="*")
        found = askers[1 - number % 2].ok("GET", f"/memories/seen/pages/{name}")
        assert f"Kind: {number}" in found["text"]


def test_a_request_with_a_key_is_done_once_by_whichever_servers_it_comes_to(two: tuple[Api, Api]) -> None:
    secret = two[0].token("*", scopes=ALL, voice="user")
    askers = [each.asker_with(secret) for each in two]
    askers[0].ok("POST", "/memories", {"name": "once"})
    for number in range(5):
        answers: list[httpx.Response] = []

        def ask(asker: Any, number: int = number, answers: list[httpx.Response] = answers) -> None:
            while True:
                given = {"user": f"Word {number}."}
                answer = asker("POST", "/memories/once/traces", given, idempotency_key=f"key-{number}")
                if answer.status_code != 503:
                    answers.append(answer)
                    return
                assert answer.headers["retry-after"] == "1"

        threads = [threading.Thread(target=ask, args=(asker,)) for asker in askers * 2]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert len({answer.json()["traces"][0]["id"] for answer in answers}) == 1
    with Memory(two[0].where("once")) as memory:
        said = [trace.content for turn in memory.talk.turns(100) for trace in turn.traces]
    assert said == [f"Word {number}." for number in range(5)]


def test_events_cross_servers(two: tuple[Api, Api]) -> None:
    one, other = two
    person, heard, is_listening = one.asker(voice="user"), [], threading.Event()
    secret = one.token("*")

    def listen() -> None:
        headers = {"authorization": f"Bearer {secret}"}
        with (
            httpx.Client(base_url=other.address, headers=headers, timeout=SOON) as client,
            client.stream("GET", f"/v1{AT}/events") as stream,
        ):
            for line in stream.iter_lines():
                if line == ": listening":
                    is_listening.set()
                if line.startswith("event: "):
                    heard.append((line.removeprefix("event: "), time.monotonic()))
                if heard and heard[-1][0] == "traced":
                    return

    thread = threading.Thread(target=listen)
    thread.start()
    assert is_listening.wait(SOON)
    written = time.monotonic()
    person.ok("PUT", f"{AT}/pages/facts/tea.md", {"text": "# Tea\n\n- Kind: oolong\n"}, if_none_match="*")
    until(lambda: bool(heard))
    assert heard[0][0] == "edited"
    assert heard[0][1] - written < 5.0
    person.ok("POST", f"{AT}/traces", {"user": "Hello."})
    thread.join(SOON)
    assert heard[-1][0] == "traced"


def test_the_audit_is_one(two: tuple[Api, Api]) -> None:
    for number, each in enumerate(two):
        each.asker(voice="user").ok("POST", f"{AT}/traces", {"user": f"Line {number}."})
    lines = [line for line in two[0].audit if line.get("route") == "/memories/{memory}/traces"][:2]
    assert [line["memory"] for line in lines] == [NAME, NAME]
    assert lines[0]["token"] != lines[1]["token"]


def test_a_job_of_one_server_is_looked_at_and_ended_at_the_other(two: tuple[Api, Api]) -> None:
    one, other = (each.asker(voice="user") for each in two)
    begun = one.ok("POST", f"{AT}/check")
    until(lambda: other.ok("GET", f"{AT}/jobs/{begun['id']}")["state"] == "done")
    assert other.ok("GET", f"{AT}/jobs/{begun['id']}")["result"]["errors"] == 0
    job = {"match": "Nothing of this"}
    secret = two[0].token("*", scopes=ALL)
    same = [
        each.asker_with(secret).ok("POST", f"{AT}/forget", job, idempotency_key="forget-1")["id"]
        for each in two
    ]
    assert same[0] == same[1]
    until(lambda: one.ok("GET", f"{AT}/jobs/{same[0]}")["state"] in ("done", "refused"))


def test_what_a_job_quotes_is_dropped_everywhere_when_it_is_forgotten(two: tuple[Api, Api]) -> None:
    one, other = (each.asker(voice="user") for each in two)
    one.ok("POST", "/memories", {"name": "quoted"})
    one.ok("POST", "/memories/quoted/remember", {"text": "My cat is called Mimi."})
    preview = one.ok("POST", "/memories/quoted/forget", {"match": "Mimi", "dry_run": True})["id"]
    for each in (one, other):
        until(lambda each=each: each.ok("GET", f"/memories/quoted/jobs/{preview}")["state"] == "done")
    # What would be forgotten is told by the server that found it, and written down nowhere.
    assert "Mimi" in one("GET", f"/memories/quoted/jobs/{preview}").text
    assert "Mimi" not in other("GET", f"/memories/quoted/jobs/{preview}").text
    done = other.ok("POST", "/memories/quoted/forget", {"match": "Mimi"})["id"]
    until(lambda: one.ok("GET", f"/memories/quoted/jobs/{done}")["state"] == "done")
    until(lambda: "Mimi" not in one("GET", f"/memories/quoted/jobs/{preview}").text)
    state = SharedState(parse_address(two[0].database))
    until(lambda: b"Mimi" not in b"".join(state.see(name).data or b"" for name in state.names("jobs")))


def test_open_memories_have_no_connection_and_no_file_of_their_own(two: tuple[Api, Api]) -> None:
    server = two[0]
    names = [f"many/m{number}" for number in range(40)]
    for name in names:
        init(server.where(name))
    asker = server.asker(voice="user")
    asker.ok("GET", "/memories/many:m0/facts")
    before = len(os.listdir("/proc/self/fd"))
    for name in names:
        asker.ok("GET", f"/memories/{name.replace('/', ':')}/facts")
    assert set(names) <= set(server.serving.pool.open_names)
    assert len(os.listdir("/proc/self/fd")) - before <= 10


# --- a database that is away, or has too much to do -----------------------------------------


def test_while_the_database_is_away_there_is_a_sentence_and_then_it_goes_on(tmp_path: Path) -> None:
    with own_server() as running:
        server = Api(tmp_path, database=running.address(running.database()))
        init(server.where("mira"))
        server.start()
        try:
            person = server.asker(voice="user")
            person.ok("POST", "/memories/mira/traces", {"user": "Before."})
            running.server.kill()
            until(lambda: httpx.get(f"{server.address}/ready").status_code == 503)
            for method, path, body in (
                ("GET", "/memories/mira/facts", None),
                ("POST", "/memories/mira/traces", {"user": "Meanwhile."}),
            ):
                began = time.monotonic()
                answer = person(method, path, body)
                assert answer.status_code == 503
                assert answer.json()["type"] == "/problems/unreachable"
                assert "cannot be reached" in answer.json()["detail"]
                assert answer.headers["retry-after"] == "2"
                assert time.monotonic() - began < 1.0  # nobody waits for what is known to be away
            assert httpx.get(f"{server.address}/live").status_code == 200
            visit = httpx.get(f"{server.address}/m/mira/", cookies={"looseleaf": "x"})
            assert (visit.status_code, visit.headers["retry-after"]) == (503, "2")
            running.server.start()
            back = time.monotonic()
            until(lambda: person("GET", "/memories/mira/facts").status_code == 200)
            assert time.monotonic() - back < 10.0
            person.ok("POST", "/memories/mira/traces", {"user": "After."})
        finally:
            server.stop()
        with Memory(server.where("mira")) as memory:
            said = [trace.content for turn in memory.talk.turns() for trace in turn.traces]
        assert said == ["Before.", "After."]


def test_after_a_restart_a_server_is_there_again_with_its_jobs_and_can_be_signed_in_to(
    tmp_path: Path,
) -> None:
    with own_server() as running:
        where = running.address(running.database())
        other = Api(tmp_path, database=where)
        init(other.where("mira"))
        other.start()
        try:
            with served("--postgres", where, "--allow-host", "127.0.0.1") as one:
                secret = other.token("mira", scopes=ALL)
                headers = {"authorization": f"Bearer {secret}", "host": f"127.0.0.1:{one.port}"}
                begun = httpx.post(f"{one.address}/v1/memories/mira/check", headers=headers, timeout=SOON)
                id = begun.json()["id"]
                until(lambda: other.serving.jobs.get(id).state == "done")
                running.server.kill()
                until(lambda: httpx.get(f"{other.address}/ready").status_code == 503)
                running.server.start()
                until(lambda: httpx.get(f"{other.address}/ready").status_code == 200)
                until(lambda: httpx.get(f"{one.address}/ready", headers=headers).status_code == 200)
                job = httpx.get(f"{one.address}/v1/memories/mira/jobs/{id}", headers=headers, timeout=SOON)
                assert job.json()["state"] == "done"
                assert main(["login", "--postgres", where, "--person", "Mira"]) == 0
                time.sleep(CLEAR_SECONDS + 2)  # and nobody takes it for dead later
                assert main(["login", "--postgres", where, "--person", "Mira"]) == 0
        finally:
            other.stop()


def test_too_much_at_once_is_told_when_to_come_again(
    two: tuple[Api, Api], monkeypatch: pytest.MonkeyPatch
) -> None:
    from looseleaf.store.postgres.database import Overloaded

    def overloaded(*_: object, **__: object) -> None:
        raise Overloaded("Nothing was done: all 10 connections are in use. Repeat it in a moment.")

    person = two[0].asker(voice="user")
    person.ok("GET", f"{AT}/facts")
    monkeypatch.setattr("looseleaf.memory.Memory.facts", overloaded)
    answer = person("GET", f"{AT}/facts")
    assert (answer.status_code, answer.headers["retry-after"]) == (503, "1")
    assert answer.json()["type"] == "/problems/busy"


def test_the_numbers_tell_of_the_database(two: tuple[Api, Api]) -> None:
    text = two[0].asker().client.get(f"{two[0].address}/metrics").text
    for name in (
        "up 1.0",
        "connections ",
        "waiting ",
        "trips_total ",
        "wait_seconds_total ",
        "overloads_total ",
    ):
        assert f"\nlooseleaf_database_{name}" in text


def test_what_is_left_to_workers_is_shown_and_counted(two: tuple[Api, Api]) -> None:
    from looseleaf.work.queue import defer

    with Memory(two[0].where(NAME)) as memory:
        defer(memory.parts.store, "distill", "codex")
    with httpx.Client(base_url=two[0].address, cookies={"looseleaf": two[0].visit()}) as person:
        screen = person.get("/m/acme:agent-7/health").text
    assert "Left to workers" in screen
    assert "distill, for agent codex" in screen
    text = two[0].asker().client.get(f"{two[0].address}/metrics").text
    assert 'looseleaf_queue_jobs{kind="distill",state="waiting"} 1.0' in text
    assert "\nlooseleaf_queue_oldest_seconds " in text


# --- processes ------------------------------------------------------------------------------


def is_open(port: int) -> bool:
    with socket.socket() as sock:
        return sock.connect_ex(("127.0.0.1", port)) == 0


@contextmanager
def behind(*servers: Process, place: Path) -> Iterator[str]:
    """Run nginx before some servers, as they are: it goes on to the next one if one is gone."""
    with socket.socket() as sock:
        sock.bind(("127.0.0.1", 0))
        port = sock.getsockname()[1]
    # As it is shipped, but for where the servers are.
    shipped = (Path(__file__).parent.parent.parent / "deploy/nginx-several.conf").read_text()
    here = "".join(f"server 127.0.0.1:{each.port} max_fails=0;" for each in servers)
    upstream, count = re.subn(r"(\s+server 10\.\S+;)+", f" {here}", shipped)
    assert count == 1
    temp = "".join(
        f"{kind}_temp_path {place}/{kind};" for kind in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
    )
    config = place / "nginx.conf"
    config.write_text(
        f"daemon off; master_process off; pid {place}/pid; error_log {place}/error.log; events {{}} http {{ "
        f"access_log off; {temp} {upstream} server {{ listen 127.0.0.1:{port}; location / {{ "
        "proxy_pass http://looseleaf; proxy_set_header Host 127.0.0.1; proxy_next_upstream error timeout; } } }"
    )
    nginx = subprocess.Popen([str(NGINX), "-c", str(config), "-p", str(place)], stderr=subprocess.DEVNULL)
    try:
        until(lambda: is_open(port))
        yield f"http://127.0.0.1:{port}"
    finally:
        nginx.terminate()
        nginx.wait()


@pytest.mark.skipif(NGINX is None, reason="nginx is not installed")
def test_a_server_killed_among_requests_loses_nothing_behind_nginx(
    address: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Writers ask with keys, and again where they got no answer; the server that they talk to is killed."""
    init(str(parse_address(address).of("killed").where))
    options = ("--postgres", address, "--allow-host", "127.0.0.1")
    with (
        served(*options) as one,
        served(*options) as two,
        behind(one, two, place=tmp_path) as front,
    ):
        assert main(["token", "new", "t", "--memories", "killed", "--scopes", "read,write", "--voice", "user",
                     "--postgres", address]) == 0  # fmt: skip
        secret = capsys.readouterr().out.strip()
        assert main(["login", "--postgres", address]) == 0
        assert re.search(f"localhost:({one.port}|{two.port})/login/", capsys.readouterr().out)
        acknowledged: list[str] = []
        is_over = threading.Event()

        def write(number: int) -> None:
            count = 0
            with httpx.Client(
                base_url=front, headers={"authorization": f"Bearer {secret}"}, timeout=SOON
            ) as client:
                while not is_over.is_set():
                    word, key = f"w{number}-{count}", {"idempotency-key": f"{number}-{count}"}
                    try:
                        path = f"/v1/memories/killed/traces?session=s{number}"
                        answer = client.post(path, json={"user": word}, headers=key)
                    except httpx.TransportError:
                        continue
                    if answer.status_code == 201:
                        acknowledged.append(word)
                        count += 1
                    time.sleep(0.02)

        writers = [threading.Thread(target=write, args=(number,)) for number in range(4)]
        for writer in writers:
            writer.start()
        until(lambda: len(acknowledged) > 40)
        one.process.send_signal(signal.SIGKILL)
        so_far = len(acknowledged)
        until(lambda: len(acknowledged) > so_far + 40)
        is_over.set()
        for writer in writers:
            writer.join()
        assert two.process.poll() is None
    with Memory(parse_address(address).of("killed").where) as memory:
        store = memory.parts.store
        said = [line.record["content"] for line in store.read("traces/main") if "content" in line.record]
    assert len(said) == len(set(said))
    assert set(acknowledged) <= set(said)
    for number in range(4):
        own = [word for word in said if word.startswith(f"w{number}-")]
        assert own == [f"w{number}-{count}" for count in range(len(own))]


def test_a_job_whose_server_was_killed_is_lost_or_done(address: str, tmp_path: Path) -> None:
    where = parse_address(address).of("jobs").where
    init(where)
    with served("--postgres", address, "--allow-host", "127.0.0.1") as one:
        api = Api(tmp_path, database=address)
        api.start()
        try:
            secret = api.token("jobs", scopes=ALL)
            headers = {"authorization": f"Bearer {secret}", "host": f"127.0.0.1:{one.port}"}
            begun = httpx.post(f"{one.address}/v1/memories/jobs/check", headers=headers, timeout=SOON)
            assert begun.status_code == 202, begun.text
            one.process.send_signal(signal.SIGKILL)
            asker = api.asker_with(secret)
            until(
                lambda: (
                    asker.ok("GET", f"/memories/jobs/jobs/{begun.json()['id']}")["state"] in ("lost", "done")
                )
            )
        finally:
            api.stop()


def test_a_database_without_tables_says_the_command(
    postgres: Running, capsys: pytest.CaptureFixture[str]
) -> None:
    where = postgres.address(postgres.database(migrated=False))
    assert main(["serve", "--postgres", where, "--port", "0"]) != 0
    assert "looseleaf database migrate ADDRESS" in capsys.readouterr().err
    assert main(["serve", "--postgres", f"{where}&namespace=mira", "--port", "0"]) != 0
    assert "has all memories of a database" in capsys.readouterr().err
    assert main(["--memory", f"{where}&namespace=mira", "serve", "--port", "0"]) != 0
    assert "serve --postgres ADDRESS" in capsys.readouterr().err
    assert main(["serve", "--postgres", "--root", "memories"]) != 0
    assert "Give one of the two" in capsys.readouterr().err


def test_a_pool_of_a_database_lists_none_of_the_programs_own(two: tuple[Api, Api]) -> None:
    assert not [name for name in two[0].serving.pool.names() if name.startswith(".")]
    with pytest.raises(Exception, match="no memory of this name"):
        asyncio.run(two[0].serving.pool.find(".server"))
