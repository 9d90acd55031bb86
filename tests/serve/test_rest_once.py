"""A request that comes twice writes once: also where the server fell in between, at any record."""

from __future__ import annotations

import os
import re
import shutil
import signal
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from forking import start_child
from looseleaf import Memory
from looseleaf.base.ids import at
from looseleaf.serve.access import Access
from looseleaf.serve.once import GoneSince, KeyUsed, Once, mark_of
from looseleaf.store.streams import REQUEST, Streams
from serving import Server

ALL = ("read", "write", "review", "admin")
KEY = {"idempotency-key": "the-one"}


class Failpoint:
    """Kills the process after so many records of requests were written; `torn`: of several at once, in between."""

    def __init__(self, patch: pytest.MonkeyPatch) -> None:
        self.left = 0
        written = Streams.append

        def append(streams: Streams, stream: str, records: list[dict[str, Any]]) -> Any:
            is_last = bool(REQUEST.get()) and 0 < self.left <= len(records)
            done = written(streams, stream, records[: self.left] if is_last else records)
            if is_last:
                os.kill(os.getpid(), signal.SIGKILL)
            if REQUEST.get() and self.left:
                self.left -= len(records)
            return done

        patch.setattr(Streams, "append", append)


@pytest.fixture
def failpoint(monkeypatch: pytest.MonkeyPatch) -> Failpoint:
    return Failpoint(monkeypatch)


class Client:
    """A program and a person, before one server after another, each a process of its own."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.root = folder / "memories"
        self.start()
        access = Access(str(folder / "access"))
        self.tokens = {
            "person": access.make_token("p", ["*"], ALL, voice="user")[1],
            "agent": access.make_token("a", ["*"], ("read", "write"), agent="codex")[1],
        }

    def start(self) -> None:
        server = Server(self.folder)
        self.address = server.address
        self.child = start_child(server.run)
        server.sock.close()

    def stop(self) -> None:
        """Kill the server."""
        self.child.__exit__()

    def again(self) -> None:
        self.stop()
        self.start()

    def __call__(self, who: str, method: str, path: str, json: Any = None, **headers: str) -> httpx.Response:
        given = {"authorization": f"Bearer {self.tokens[who]}", **headers}
        for _ in range(1000):
            try:
                return httpx.request(method, f"{self.address}/v1{path}", json=json, headers=given, timeout=60)
            except httpx.ConnectError:
                time.sleep(0.01)  # it has just been started
        raise AssertionError("the server did not start")

    def ok(self, who: str, method: str, path: str, json: Any = None, **headers: str) -> Any:
        answer = self(who, method, path, json, **headers)
        assert answer.status_code < 300, answer.text
        return answer.json()


@pytest.fixture
def client(tmp_path: Path) -> Iterator[Client]:
    made = Client(tmp_path)
    yield made
    made.stop()


@pytest.fixture(scope="module")
def prepared(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A memory with a page, waiting facts and some talk."""
    made = Client(tmp_path_factory.mktemp("prepared"))
    try:
        made.ok("person", "POST", "/memories", {"name": "mira"})
        for text in ("I live in Lyon.", "My cat is called Mimi."):
            made.ok("person", "POST", "/memories/mira/traces", [{"user": text}, {"assistant": "Noted."}])
        made.ok("person", "POST", "/memories/mira/distill", {})
        made.ok("agent", "POST", "/memories/mira/traces", {"user": "My name is Zed. I am allergic to nuts."})
        made.ok("agent", "POST", "/memories/mira/distill", {})
        made.ok("person", "GET", "/memories/mira/facts")
    finally:
        made.stop()
    return made.root / "mira"


def copied(client: Client, prepared: Path, name: str) -> str:
    """Copy that memory; return the address of the copy."""
    shutil.copytree(prepared, client.root / name)
    return f"/memories/{name}"


def tag(client: Client, base: str, path: str) -> str:
    return str(client("person", "GET", f"{base}/pages/{path}").headers["etag"])


def fact(client: Client, base: str, relation: str, status: str = "current") -> str:
    found = client.ok("person", "GET", f"{base}/facts?status={status}")["items"]
    return str(next(each["id"] for each in found if each["relation"] == relation))


Request = tuple[str, str, str, Any, dict[str, str]]


def _traces(client: Client, base: str) -> Request:
    told = [{"user": f"Line {number}."} for number in range(4)]
    return "person", "POST", f"{base}/traces", told, {}


def _agents_traces(client: Client, base: str) -> Request:
    told = [
        {"user": "I love jazz."},
        {"tool_call": "ls", "tool_call_id": "c"},
        {"tool_result": 1, "tool_call_id": "c"},
    ]
    return "agent", "POST", f"{base}/traces?session=mine", told, {}


def _remember(client: Client, base: str) -> Request:
    return "person", "POST", f"{base}/remember", {"text": "I moved to Paris. The kettle whistles."}, {}


def _remember_a_fact(client: Client, base: str) -> Request:
    return "person", "POST", f"{base}/remember", {"text": "I prefer green tea."}, {}


def _remember_a_note(client: Client, base: str) -> Request:
    return "person", "POST", f"{base}/remember", {"text": "The kettle whistles.", "topic": "kitchen"}, {}


def _agent_remembers(client: Client, base: str) -> Request:
    return "agent", "POST", f"{base}/remember", {"text": "The user likes opera.", "topic": "user"}, {}


def _distill(client: Client, base: str) -> Request:
    client.ok("person", "POST", f"{base}/traces", [{"user": "I work at Initech."}, {"assistant": "Good."}])
    return "person", "POST", f"{base}/distill", {}, {}


def _put(client: Client, base: str) -> Request:
    text = "# User\n\n- Home: Nice\n"
    return (
        "person",
        "PUT",
        f"{base}/pages/USER.md",
        {"text": text},
        {"if-match": tag(client, base, "USER.md")},
    )


def _propose(client: Client, base: str) -> Request:
    text = client.ok("person", "GET", f"{base}/pages/USER.md")["text"] + "- Boss: the agent\n"
    return "agent", "PUT", f"{base}/pages/USER.md", {"text": text}, {"if-match": tag(client, base, "USER.md")}


def _new_page(client: Client, base: str) -> Request:
    return (
        "person",
        "PUT",
        f"{base}/pages/facts%2Ftea.md",
        {"text": "- Kind: oolong\n"},
        {"if-none-match": "*"},
    )


def _patch(client: Client, base: str) -> Request:
    patches = {"patches": [{"old": "Lyon", "new": "Nice"}]}
    return "person", "PATCH", f"{base}/pages/USER.md", patches, {"if-match": tag(client, base, "USER.md")}


def _delete(client: Client, base: str) -> Request:
    return "person", "DELETE", f"{base}/pages/USER.md", None, {"if-match": tag(client, base, "USER.md")}


def _approve(client: Client, base: str) -> Request:
    return "person", "POST", f"{base}/facts/{fact(client, base, 'Allergy', 'pending')}/approve", None, {}


def _reject(client: Client, base: str) -> Request:
    return "person", "POST", f"{base}/facts/{fact(client, base, 'Allergy', 'pending')}/reject", None, {}


def _reject_current(client: Client, base: str) -> Request:
    return "person", "POST", f"{base}/facts/{fact(client, base, 'Home')}/reject", None, {}


def _pin(client: Client, base: str) -> Request:
    return "person", "POST", f"{base}/facts/{fact(client, base, 'Home')}/pin", {}, {}


def _score(client: Client, base: str) -> Request:
    return "person", "POST", f"{base}/facts/{fact(client, base, 'Home')}/score", {"score": 7}, {}


def _correct(client: Client, base: str) -> Request:
    return "person", "POST", f"{base}/facts/{fact(client, base, 'Home')}/correct", {"text": "Nice"}, {}


def _undo(client: Client, base: str) -> Request:
    who, method, path, told, more = _put(client, base)
    client.ok(who, method, path, told, **more)
    return "person", "POST", f"{base}/undo", {}, {}


def _undo_score(client: Client, base: str) -> Request:
    who, method, path, told, more = _score(client, base)
    client.ok(who, method, path, told, **more)
    return "person", "POST", f"{base}/undo", {}, {}


def _prompt(client: Client, base: str) -> Request:
    return "agent", "POST", f"{base}/prompts", {"task": "Plan my week.", "budget": 4000}, {}


REQUESTS: dict[str, Callable[[Client, str], Request]] = {
    function.__name__.strip("_"): function
    for function in (
        *(
            _traces,
            _agents_traces,
            _remember,
            _remember_a_fact,
            _remember_a_note,
            _agent_remembers,
            _distill,
            _put,
            _propose,
            _new_page,
            _patch,
        ),
        *(_delete, _approve, _reject, _reject_current, _pin, _score, _correct, _undo, _undo_score, _prompt),
    )
}

_NAMES = re.compile(r"[0-9A-HJKMNP-TV-Z]{26}|\d\d:\d\d|f_[0-9a-f]{12}")


def state_of(folder: Path) -> Any:
    """What a memory says, without ids and times."""
    with Memory(folder) as memory:
        pages = {path: _NAMES.sub("·", memory.pages.read(path).text) for path in memory.pages.list()}
        kinds = ("current", "pending", "superseded", "rejected")
        facts = sorted(
            (each.topic, each.relation, each.object, each.status, each.level or "", each.user_fact_score or 0)
            for kind in kinds
            for each in memory.facts(status=kind)
        )
        agents = memory.talk.agents()
    talk = []
    for agent in agents:
        with Memory(folder, agent=agent) as memory:
            talk += [[each.content, each.origin] for turn in memory.talk.turns(999) for each in turn.traces]
    return pages, facts, talk


@pytest.mark.sampled(3)
@pytest.mark.parametrize("name", REQUESTS)
def test_a_request_cut_off_after_any_record_and_sent_again_is_done_once_with_the_same_answer(
    name: str, client: Client, failpoint: Failpoint, prepared: Path
) -> None:
    base = copied(client, prepared, "whole")
    who, method, path, told, more = REQUESTS[name](client, base)
    first = client(who, method, path, told, **more, **KEY)
    assert first.status_code < 300, first.text
    assert client(who, method, path, told, **more, **KEY).json() == first.json()
    whole = state_of(client.root / "whole")
    client.again()
    assert client(who, method, path, told, **more, **KEY).json() == first.json(), "made again of the records"
    assert state_of(client.root / "whole") == whole

    for left in range(1, 50):
        base = copied(client, prepared, f"cut-{left}")
        who, method, path, told, more = REQUESTS[name](client, base)
        failpoint.left = left
        client.again()
        failpoint.left = 0
        try:
            answer = client(who, method, path, told, **more, **KEY)
        except httpx.RemoteProtocolError:
            assert client.child.end() == -signal.SIGKILL
        else:  # it does not write so many
            assert answer.json().keys() == first.json().keys()
            assert left > 1, "no server fell"
            return
        client.again()
        repeated = client(who, method, path, told, **more, **KEY)
        assert repeated.status_code == first.status_code, (left, repeated.text)
        # A yes that fell after its page was written is not dated again.
        assert repeated.json().keys() | {"decided_at"} == first.json().keys() | {"decided_at"}
        assert state_of(client.root / f"cut-{left}") == whole, left
        client.again()
        assert client(who, method, path, told, **more, **KEY).json() == repeated.json(), left
    pytest.fail("the request wrote ever more records")


# --- the key -----------------------------------------------------------------------------


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Memory]:
    with Memory(tmp_path / "m") as memory:
        yield memory


def again(found: list[dict[str, Any]]) -> str:
    return f"again {len(found)}"


def test_a_key_is_of_one_request_and_one_asker_also_for_a_server_that_has_just_begun(memory: Memory) -> None:
    once, mark = Once(), mark_of("T1", "key", b"one")

    def record() -> str:
        return memory.record(user="Hello.").id

    first = once(memory, mark, record, again)
    assert once(memory, mark, record, again) == first
    assert Once()(memory, mark, record, again) == "again 1"
    for each in (once, Once()):
        with pytest.raises(KeyUsed, match="for another request"):
            each(memory, mark_of("T1", "key", b"two"), record, again)
    assert Once()(memory, mark_of("T2", "key", b"one"), record, again) != first
    assert [trace.content for turn in memory.talk.turns() for trace in turn.traces] == ["Hello."] * 2


def test_a_trace_that_says_it_is_old_hides_no_key_behind_it(memory: Memory) -> None:
    mark = mark_of("T1", "key", b"one")
    Once()(memory, mark, lambda: memory.record(user="Now."), lambda found: None)
    memory.record(user="Long ago.", ts=1.0)
    assert Once()(memory, mark, lambda: "recorded twice", again) == "again 1"


def test_a_key_ends_after_a_day(memory: Memory) -> None:
    mark, old = mark_of("T1", "key", b"one"), time.time() - 2 * 86_400
    with at(old, "then"):
        Once()(memory, mark, lambda: memory.record(user="Then."), lambda found: None)
    assert Once()(memory, mark, lambda: "a new request", again) == "a new request"


def test_what_was_forgotten_is_not_told_again_and_not_written_again(memory: Memory) -> None:
    once, mark = Once(), mark_of("T1", "key", b"one")
    once(memory, mark, lambda: memory.record(user="I like quinces.").content, again)
    memory.forget(match="quinces")
    with pytest.raises(GoneSince, match="has been forgotten"):
        once(memory, mark, lambda: "written again", again)


@pytest.mark.parametrize("word", ["apple", "pear", "quince"])
def test_of_many_lines_sent_once_none_is_written_again_after_one_was_forgotten(
    client: Client, word: str
) -> None:
    client.ok("person", "POST", "/memories", {"name": "mira"})
    lines = [{"user": f"I like {each}s, which the {each}man sold."} for each in ("apple", "pear", "quince")]
    client.ok("person", "POST", "/memories/mira/traces", lines, **KEY)
    with Memory(client.root / "mira") as memory:
        memory.forget(match=f"{word}man")
        before = len(memory.talk.turns())
    for _ in range(2):
        repeated = client("person", "POST", "/memories/mira/traces", lines, **KEY)
        assert (repeated.status_code, "has been forgotten" in repeated.text) == (409, True)
        client.again()
    with Memory(client.root / "mira") as memory:
        assert len(memory.talk.turns()) == before


def test_a_memory_made_in_the_place_of_another_answers_none_of_its_requests(client: Client) -> None:
    client.ok("person", "POST", "/memories", {"name": "mira"})
    old = client.ok("person", "POST", "/memories/mira/traces", {"user": "I like quinces."}, **KEY)
    told = client.ok("person", "POST", "/memories/mira/check", {})
    assert client("person", "DELETE", "/memories/mira").status_code in (204, 503)  # the check may still run
    while (gone := client("person", "DELETE", "/memories/mira")).status_code == 503:
        assert gone.headers["retry-after"]
        time.sleep(0.05)
    client.ok("person", "POST", "/memories", {"name": "mira"})
    new = client.ok("person", "POST", "/memories/mira/traces", {"user": "I like quinces."}, **KEY)
    assert new["traces"][0]["id"] != old["traces"][0]["id"]
    assert client("person", "GET", f"/memories/mira/jobs/{told['id']}").status_code == 404
    with Memory(client.root / "mira") as memory:
        assert len(memory.talk.turns()) == 1


def test_a_key_of_one_forget_does_not_stand_for_another(client: Client) -> None:
    client.ok("person", "POST", "/memories", {"name": "mira"})
    for word in ("Northwind", "Southwind"):
        client.ok("person", "POST", "/memories/mira/traces", {"user": f"I work at {word}."})
    job = client.ok("person", "POST", "/memories/mira/forget", {"match": "Northwind"}, **KEY)
    path = f"/memories/mira/jobs/{job['id']}"
    while client.ok("person", "GET", path)["state"] in ("waiting", "running"):
        time.sleep(0.02)
    for _ in range(2):
        other = client("person", "POST", "/memories/mira/forget", {"match": "Southwind"}, **KEY)
        assert other.status_code == 422, other.text
        same = client.ok("person", "POST", "/memories/mira/forget", {"match": "Northwind"}, **KEY)
        assert same["id"] == job["id"]
        client.again()


def test_only_so_many_answers_are_kept_and_others_are_made_again(
    memory: Memory, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("looseleaf.serve.once._ANSWERS", 2)
    once = Once()
    marks = [mark_of("T1", f"key {number}", b"one") for number in range(4)]
    for mark in marks:
        once(memory, mark, lambda: memory.record(user="Hello.").id, again)
    assert once(memory, marks[0], lambda: "recorded twice", again) == "again 1"
    for number in range(3):  # these write nothing, and nothing of them is kept for ever
        once(memory, mark_of("T1", f"look {number}", b""), lambda: "looked", again)
    assert once(memory, mark_of("T1", "look 0", b"other"), lambda: "another", again) == "another"
