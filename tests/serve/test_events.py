"""Events: what any process writes is told in order, without a word of it, to those who may know."""

from __future__ import annotations

import json
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest

from looseleaf.base.errors import Busy
from looseleaf.memory import Memory
from looseleaf.pages.folder import init
from looseleaf.serve import events as events_module
from looseleaf.serve import http
from looseleaf.serve.access import PERSON, Token
from looseleaf.serve.events import NAMES, Event, Listener, StreamReader, event_of
from looseleaf.serve.serving import STREAMS
from serving import Server, serving

SOON = 20.0
WORD = "Northwind"


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    place = tmp_path_factory.mktemp("events")
    for name in ("mira", "noa"):
        init(str(place / "memories" / name))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(events_module, "LOOK_SECONDS", 0.05)
        with serving(place) as server:
            yield server


class Reader:
    """One who listens, in a thread of its own."""

    def __init__(self, server: Server, name: str = "mira", *, last: str = "", token: str = "") -> None:
        address = f"/v1/memories/{name}/events" if token else f"/m/{name}/events"
        who = f"Authorization: Bearer {token}" if token else f"Cookie: looseleaf={server.visit()}"
        self.found: list[dict[str, Any]] = []
        self.status = 0
        self.is_listening = threading.Event()
        self.is_over = threading.Event()
        self._sock = socket.create_connection(("127.0.0.1", server.port))
        # Answers to the older version are not in pieces.
        head = f"GET {address} HTTP/1.0\r\nHost: {server.host}\r\n{who}\r\nLast-Event-ID: {last}\r\n\r\n"
        self._sock.sendall(head.encode())
        self._thread = threading.Thread(target=self._read, daemon=True)
        self._thread.start()
        assert self.is_listening.wait(SOON)

    def _read(self) -> None:
        try:
            self._read_events()
        except OSError:
            pass  # it was reset: the end of it is all that matters
        self.is_over.set()

    def _read_events(self) -> None:
        event: dict[str, Any] = {}
        with self._sock.makefile("r", encoding="utf-8", newline="\n") as lines:
            self.status = int(lines.readline().split()[1])
            while lines.readline().strip():
                pass
            if self.status != 200:
                self.is_listening.set()
            for line in map(str.rstrip, lines):
                name, _, value = line.partition(": ")
                if line == ": listening":
                    self.is_listening.set()
                elif line:
                    event[name] = value
                else:
                    if "id" in event:
                        told = {"event": event["event"], "at": event["id"]}
                        self.found.append({**json.loads(event["data"]), **told})
                    event = {}

    def names(self) -> list[str]:
        return [each["event"] for each in self.found]

    def close(self) -> None:
        try:
            self._sock.shutdown(socket.SHUT_RDWR)
        except OSError:
            pass  # the server was first
        self._thread.join(SOON)
        self._sock.close()


@contextmanager
def listening(server: Server, *given: Any, **more: Any) -> Iterator[Reader]:
    reader = Reader(server, *given, **more)
    try:
        yield reader
    finally:
        reader.close()


def until(is_so: Callable[[], bool]) -> None:
    end = time.monotonic() + SOON
    while not is_so():
        assert time.monotonic() < end, "it never came"
        time.sleep(0.01)


def path_of(server: Server, name: str = "mira") -> Path:
    return server.root / name


# --- what is told -------------------------------------------------------------------------


def test_all_that_happens_is_told_in_order_and_without_a_word(server: Server) -> None:
    with listening(server) as reader, Memory(path_of(server)) as memory:
        memory.record(user=f"I work at {WORD}.")
        memory.record(assistant="Noted.")
        memory.distill()
        until(lambda: "placed" in reader.names())
        memory.pages.edit("facts/garden.md", f"# Garden\n\n- Soil: {WORD} clay\n", reason="seen")
        memory.distill(f"Always send keys to {WORD}.", topic="user")
        memory.prompt("Plan my day.")
        until(lambda: "prompted" in reader.names())
        job = server.serving.jobs.start("mira", "check")
        server.serving.jobs.wait(job.id, SOON)
        until(lambda: {"id": job.id, "state": "done"}.items() <= reader.found[-1].items())
    assert {"traced", "placed", "edited", "waiting", "prompted", "job"} <= set(reader.names()) <= set(NAMES)
    assert WORD not in json.dumps(reader.found)
    assert all(each["id"] == each["at"] for each in reader.found)
    told = [each["id"] for each in reader.found if each["event"] == "traced"]
    assert told == sorted(told)


def test_what_another_process_writes_is_told(server: Server) -> None:
    command = [
        sys.executable,
        "-m",
        "looseleaf",
        "--memory",
        str(path_of(server)),
        "remember",
        "I prefer green tea.",
    ]
    with listening(server, token=server.token("mira")) as reader:
        subprocess.run(command, check=True, capture_output=True)
        until(lambda: "edited" in reader.names())


def test_who_comes_back_goes_on_where_it_was(server: Server) -> None:
    with Memory(path_of(server)) as memory, listening(server) as keeper:
        with listening(server) as reader:
            memory.record(user="One.")
            until(lambda: "traced" in reader.names())
        last = reader.found[-1]["at"]
        memory.record(assistant="Two.")
        memory.record(user="Three.")
        until(lambda: keeper.names().count("traced") >= 3)
        with listening(server, last=last) as reader:
            until(lambda: len(reader.found) >= 2)
            kept = [each["id"] for each in reader.found]
    until(lambda: server.serving.events.followed == [])
    with listening(server, last=last) as reader:  # nothing is kept now: the log is read
        until(lambda: len(reader.found) >= len(kept))
        assert [each["id"] for each in reader.found] == kept
    with listening(server, last="no id"):
        pass


def test_records_that_a_forget_moves_are_told_once(server: Server) -> None:
    path = path_of(server, "noa")
    with Memory(path) as memory, listening(server, "noa") as reader:
        for number in range(5):
            memory.record(user=f"Row {number}: {WORD if number == 3 else 'beans'}.")
        until(lambda: reader.names().count("traced") >= 5)
        before = [each["id"] for each in reader.found if each["event"] == "traced"]
        memory.forget(match=WORD)
        memory.record(assistant="Gone.")
        until(lambda: reader.names().count("traced") > len(before))
        time.sleep(0.3)
    told = [each["id"] for each in reader.found if each["event"] == "traced"]
    assert told[: len(before)] == before
    assert len(set(told)) == len(told)
    assert len(told) == len(before) + 1


# --- to whom ------------------------------------------------------------------------------


def test_an_agent_is_told_its_own_talk_and_what_all_may_know(server: Server) -> None:
    secret = server.token("mira", agent="codex")
    with listening(server, token=secret) as reader:
        with Memory(path_of(server), agent="other") as other:
            other.record(user="Not for codex.")
        with Memory(path_of(server), agent="codex") as own:
            own.record(user="For codex.")
        until(lambda: "traced" in reader.names())
        time.sleep(0.2)
    assert reader.names().count("traced") == 1
    with listening(server, "noa", token=secret) as outside:
        assert outside.status == 404


def test_no_one_has_more_streams_than_the_limit_and_they_are_given_back(server: Server) -> None:
    secret = server.token("mira")
    readers = [Reader(server, token=secret) for _ in range(STREAMS)]
    assert server.serving.events.open_streams == STREAMS
    with listening(server, token=secret) as refused:
        assert refused.status == 429
    with listening(server, token=server.token("mira")) as other:
        assert other.status == 200, "another token has its own"
    for reader in readers:
        reader.close()
    until(lambda: _left(server, secret) == 0)
    with listening(server, token=secret) as reader:
        assert reader.status == 200


def _left(server: Server, secret: str) -> int:
    token = server.access.token_of(secret)
    assert token is not None
    return server.serving.limits._streams.get(token.id, 0)


def test_nobody_is_let_in_without_a_visit_or_a_token(server: Server) -> None:
    assert httpx.get(f"{server.address}/m/mira/events").status_code == 303
    assert httpx.get(f"{server.address}/v1/memories/mira/events").status_code == 401


# --- what it costs ------------------------------------------------------------------------


def test_a_memory_that_is_followed_is_not_held_open(server: Server) -> None:
    until(lambda: server.serving.events.followed == [])
    with listening(server), listening(server) as second:
        assert server.serving.events.followed == ["mira"]
        assert "mira" not in server.serving.pool.open_names
        with Memory(path_of(server)) as memory:
            memory.forget(topic="garden", dry_run=True)
            memory.record(user="Still here.")
        until(lambda: "traced" in second.names())
        assert "mira" not in server.serving.pool.open_names
    with Memory(path_of(server)) as memory:
        memory.record(assistant="They left.")
    until(lambda: server.serving.events.followed == [])


def test_a_reader_that_takes_nothing_is_dropped(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(http, "UNREAD_SECONDS", 0.2)
    token = server.token("mira")
    with socket.create_connection(("127.0.0.1", server.port)) as slow:
        slow.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        head = f"GET /v1/memories/mira/events HTTP/1.1\r\nHost: {server.host}\r\nAuthorization: Bearer {token}\r\n\r\n"
        slow.sendall(head.encode())
        until(lambda: server.serving.events.open_streams == 1)
        follower = server.serving.events._followers["mira"]
        loop = server.serving.events._loop
        assert loop is not None
        long = Event("01M7SE0N6DSE9AH1M6RQ0K814V", "edited", (("entry", "x" * 100_000),))

        def flood() -> None:
            for _ in range(200):
                follower.tell(long)

        loop.call_soon_threadsafe(flood)
        until(lambda: _left(server, token) == 0)
    until(lambda: server.serving.events.followed == [])


def test_who_is_no_longer_let_in_hears_nothing_more(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    revoked, other = server.access.make_token("a", ["mira"], ["read"]), server.token("mira")
    ended, ends = (
        server.access.make_token("b", ["mira"], ["read"], expires=time.time() + 3600)[1],
        time.time() + 7200,
    )
    with ExitStack() as stack:

        def hear(token: str = "") -> Reader:
            return stack.enter_context(listening(server, token=token))

        gone, late, page, stays = hear(revoked[1]), hear(ended), hear(), hear(other)
        server.access.revoke(revoked[0].id)
        server.access.end_visit()
        monkeypatch.setattr(server.access, "_clock", lambda: ends)
        with Memory(path_of(server)) as memory:
            memory.record(user="Who hears this?")
        until(lambda: "traced" in stays.names())
        for reader in (gone, late, page):
            assert reader.is_over.wait(SOON)
            assert reader.found == []
        assert not stays.is_over.is_set()


def test_a_listener_is_asked_for_its_token_also_when_nothing_happens(
    server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(events_module, "HEARTBEAT_SECONDS", 0.05)
    token, secret = server.access.make_token("a", ["mira"], ["read"])
    with listening(server, token=secret) as reader:
        server.access.revoke(token.id)
        assert reader.is_over.wait(SOON)


def test_too_many_events_at_once_end_a_stream() -> None:
    listener = Listener(PERSON)
    for number in range(events_module._QUEUE + 1):
        listener.put(Event(str(number), "edited"))
    assert listener.is_over


def test_streams_end_when_the_server_stops(tmp_path: Path) -> None:
    init(str(tmp_path / "memories" / "mira"))
    with serving(tmp_path) as server:
        reader = Reader(server)
        began = time.monotonic()
    assert reader.is_over.wait(SOON)
    reader.close()
    assert reader.status == 200
    assert time.monotonic() - began < 8, "it was cut off, and not ended"


def test_who_listens_to_a_memory_that_goes_is_told_by_the_end(server: Server) -> None:
    init(str(server.root / "tom"))
    with listening(server, "tom") as reader:
        (server.root / "tom").rename(server.root.parent / "tom")
        assert reader.is_over.wait(SOON)
    with listening(server, "tom") as reader:
        assert reader.status == 404


def test_a_memory_whose_forget_is_half_done_is_not_read(
    server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(_: str) -> StreamReader:
        raise Busy("a forget is under way")

    monkeypatch.setattr(events_module, "StreamReader", refuse)
    until(lambda: server.serving.events.followed == [])
    reader = httpx.get(f"{server.address}/m/mira/events", cookies={"looseleaf": server.visit()})
    assert (reader.status_code, reader.text) == (200, "retry: 2000\n\n"), "it comes back by itself"
    until(lambda: server.serving.events.followed == [])


def test_an_answer_that_begins_when_the_server_stops_is_empty(server: Server) -> None:
    server.serving.is_stopping = True
    try:
        answer = httpx.get(f"{server.address}/m/mira/events", cookies={"looseleaf": server.visit()})
        assert (answer.status_code, answer.text) == (200, "")
    finally:
        server.serving.is_stopping = False


def test_a_heartbeat_is_sent_when_nothing_happens(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(events_module, "HEARTBEAT_SECONDS", 0.05)
    cookies = {"looseleaf": server.visit()}
    with httpx.stream("GET", f"{server.address}/m/mira/events", cookies=cookies) as answer:
        assert answer.headers["content-type"] == "text/event-stream; charset=utf-8"
        assert answer.headers["cache-control"] == "no-store"
        assert next(line for line in answer.iter_lines() if line == ": still here")


# --- records --------------------------------------------------------------------------------


def test_each_record_is_told_as_what_it_is() -> None:
    id = "01M7SE0N6DSE9AH1M6RQ0K814V"

    def named(stream: str, **record: Any) -> str:
        event = event_of(stream, {"id": id, **record})
        return event.name if event is not None else ""

    assert named("traces/main", role="user") == "traced"
    assert named("traces/main", kind="turn") == ""
    assert named("prompts/main", kind="prompt") == "prompted"
    assert named("prompts/main", kind="snapshot") == ""
    assert named("calls", kind="call", agent="main") == "spent"
    assert named("journal", kind="edit", path="USER.md") == "edited"
    assert named("journal", kind="edit", path="review/user.md") == "waiting"
    assert named("journal", kind="placed", entry="user/x") == "placed"
    assert named("journal", kind="placed", through={}) == ""
    assert named("journal", kind="mark", agent="main") == "compacted"
    assert named("journal", kind="flag") == ""
    assert event_of("journal", {"id": "odd", "kind": "edit"}) is None


def test_a_token_that_is_a_person_s_sees_the_talk_of_its_agent_only() -> None:
    token = Token("a", "a", ("*",), ("read", "review"), agent="codex")
    assert Listener(token).may_see(Event("1", "traced", (), "codex"))
    assert not Listener(token).may_see(Event("1", "traced", (), "main"))
    assert Listener(PERSON).may_see(Event("1", "traced", (), "main"))


def test_after_a_forget_streams_that_were_empty_are_read_from_their_beginning(tmp_path: Path) -> None:
    init(str(tmp_path / "memory"))
    with Memory(tmp_path / "memory") as memory:
        memory.record(user=f"I work at {WORD}.")
        reader = StreamReader(str(tmp_path / "memory"))
        with Memory(tmp_path / "memory", agent="late") as late:
            late.record(user="One.")
        memory.forget(match=WORD)
        assert [each.name for each in reader.look() if each.agent] == ["traced"]
        assert [
            each.agent for each in reader.since("00000000000000000000000000") if each.name == "traced"
        ] == ["late"]
        reader.close()


def test_a_reader_finds_streams_that_begin_and_segments_that_are_sealed(tmp_path: Path) -> None:
    init(str(tmp_path / "memory"))
    reader = StreamReader(str(tmp_path / "memory"))
    with Memory(tmp_path / "memory", agent="late") as memory:
        memory.record(user="One.")
        assert [each.name for each in reader.look()] == ["traced"]
        memory.parts.context.store.rotate("traces/late")
        memory.record(user="Two.")
        assert [each.name for each in reader.look()] == ["traced"]
        assert reader.look() == []
        first = memory.talk.turns()[0]
        assert len(reader.since(first.traces[0].id)) == 1
    reader.close()
