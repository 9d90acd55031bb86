"""Hooks of a memory that is elsewhere: what they record is there once, in order, and killed at any point."""

from __future__ import annotations

import io
import json
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any

import pytest

from looseleaf.base.errors import Refused
from looseleaf.cli.main import main
from looseleaf.integrations.spool import HttpSender, Spool, _Answered, sender_for
from looseleaf.integrations.target import Target, target_of
from looseleaf.memory import Memory
from looseleaf.pages.folder import init
from serving import Server, serving

Hook = Callable[..., dict[str, Any]]


@pytest.fixture
def server(tmp_path: Path) -> Iterator[Server]:
    with serving(tmp_path) as running:
        init(running.where("mira"))
        yield running


@pytest.fixture
def target(server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Target:
    """The memory `mira` of a server, for hooks; nothing is delivered but by `deliver`."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    monkeypatch.setenv("LOOSELEAF_SERVER", f"{server.address}/m/mira")
    token = server.token("mira", scopes=("read", "write"), voice="user")
    monkeypatch.setenv("LOOSELEAF_TOKEN", token)
    monkeypatch.delenv("LOOSELEAF_HOME", raising=False)
    monkeypatch.setattr(Spool, "start", lambda spool, memory: None)
    found = target_of(None)
    assert found is not None
    return found


@pytest.fixture
def hook(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Hook:
    def call(event: str, **given: Any) -> dict[str, Any]:
        data = json.dumps({"session": "s1", **given}).encode()
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(data)))
        assert main(["hook", event]) == 0
        told: dict[str, Any] = json.loads(capsys.readouterr().out or "{}")
        return told

    return call


def deliver(target: Target) -> None:
    spool = Spool(target, "main")
    spool.make()
    with Memory(spool.path) as memory:
        spool.deliver(memory, sender_for(spool))


def said(where: str) -> list[tuple[str, str]]:
    """Return who said what in a memory."""
    with Memory(where) as memory:
        return [(trace.trace_type, trace.content) for turn in memory.talk.turns(100) for trace in turn.traces]


TALK = [
    ("user", "I live in Lyon."),
    ("assistant", "Noted."),
    ("user", "And I have a dog."),
    ("assistant", "Nice."),
]


def talk(hook: Hook) -> None:
    for number in (0, 2):
        hook("user-prompt", prompt=TALK[number][1])
        hook("stop", answer=TALK[number + 1][1])


def test_what_hooks_record_comes_there_in_order_and_once(server: Server, target: Target, hook: Hook) -> None:
    talk(hook)
    assert said(server.where("mira")) == []
    deliver(target)
    deliver(target)
    assert said(server.where("mira")) == TALK
    hook("user-prompt", prompt="The dog is called Rex.")
    deliver(target)
    assert said(server.where("mira")) == [*TALK, ("user", "The dog is called Rex.")]
    with Memory(server.where("mira")) as memory:
        assert [len(turn.traces) for turn in memory.talk.turns()] == [2, 2, 1]
        assert {turn.session_id for turn in memory.talk.turns()} == {"s1"}


def test_a_session_begins_with_what_the_memory_told_last(server: Server, target: Target, hook: Hook) -> None:
    assert "context" not in hook("session-start", source="startup")
    talk(hook)
    deliver(target)
    assert "Lyon" in hook("session-start", session="s2", source="startup")["context"]


def test_while_the_server_is_away_it_is_kept_and_the_person_is_told(
    server: Server, target: Target, hook: Hook, monkeypatch: pytest.MonkeyPatch
) -> None:
    gone = Target("http://127.0.0.1:9", target.token, target.name)
    monkeypatch.setattr("looseleaf.integrations.spool.Spool.path", Spool(target, "main").path, raising=False)
    talk(hook)
    away = Spool(target, "main")
    with Memory(away.path) as memory, pytest.raises(Exception, match="does not answer"):
        away.deliver(memory, HttpSender(gone))
    assert "does not answer" in hook("user-prompt", prompt="Are you there?")["message"]
    deliver(target)
    assert said(server.where("mira")) == [*TALK, ("user", "Are you there?")]


class Killed(BaseException):
    pass


class Failing:
    """A way to the server that fails at one of its calls: before it, or when its answer is lost."""

    def __init__(self, sender: Any, at: int, *, is_done: bool) -> None:
        self._sender, self._left, self._is_done = sender, at, is_done
        self.has_fired = False

    def send(self, *given: Any) -> list[str]:
        self._left -= 1
        if self._left == 0:
            self.has_fired = True
            if self._is_done:
                self._sender.send(*given)
            raise Killed
        return list(self._sender.send(*given))

    def snapshot(self, *, distill: bool) -> str:
        return ""


@pytest.mark.parametrize("is_done", [False, True])
@pytest.mark.parametrize("at", [1, 2, 3])
def test_cut_off_at_any_batch_it_stands_there_once(
    server: Server, target: Target, hook: Hook, at: int, is_done: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("looseleaf.integrations.spool._AT_ONCE", 1)
    talk(hook)
    spool = Spool(target, "main")
    failing = Failing(sender_for(spool), at, is_done=is_done)
    with Memory(spool.path) as memory, pytest.raises(Killed):
        spool.deliver(memory, failing)
    assert failing.has_fired
    hook("user-prompt", prompt="And then?")
    deliver(target)
    assert said(server.where("mira")) == [*TALK, ("user", "And then?")]


def test_two_sessions_at_once_keep_their_turns(server: Server, target: Target, hook: Hook) -> None:
    hook("user-prompt", session="one", prompt="First of one.")
    hook("user-prompt", session="two", prompt="First of two.")
    hook("stop", session="one", answer="Answer to one.")
    hook("stop", session="two", answer="Answer to two.")
    deliver(target)
    with Memory(server.where("mira")) as memory:
        found = {turn.session_id: [trace.content for trace in turn.traces] for turn in memory.talk.turns()}
    assert found == {"one": ["First of one.", "Answer to one."], "two": ["First of two.", "Answer to two."]}


def test_what_the_server_does_not_take_holds_nothing_up(
    server: Server, target: Target, hook: Hook, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A token without a voice may not say what raises trust; one trace that is refused stays behind."""
    talk(hook)
    refused, send = [], HttpSender._ask

    def ask(sender: HttpSender, method: str, path: str, body: Any, headers: dict[str, str]) -> Any:
        if path.startswith("/traces") and any(each.get("assistant") == "Noted." for each in body):
            refused.append(len(body))
            raise _Answered(422, b"{}", "there")
        return send(sender, method, path, body, headers)

    monkeypatch.setattr(HttpSender, "_ask", ask)
    deliver(target)
    assert refused[-1] == 1
    assert [each for each in said(server.where("mira")) if each != TALK[1]] == [TALK[0], *TALK[2:]]


def test_a_token_is_sent_to_no_server_but_the_one_that_was_named() -> None:
    heard: list[str] = []

    class Elsewhere(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            heard.append(f"{self.path} {self.headers.get('authorization')}")
            self.send_response(302)
            self.send_header("location", f"http://127.0.0.1:{elsewhere.server_port}/stolen")
            self.send_header("content-length", "0")
            self.end_headers()

        do_POST = do_GET

        def log_message(self, *_: object) -> None: ...

    with HTTPServer(("127.0.0.1", 0), Elsewhere) as elsewhere:
        threading.Thread(target=elsewhere.serve_forever, daemon=True).start()
        sender = HttpSender(Target(f"http://127.0.0.1:{elsewhere.server_port}", "secret", "home"))
        with pytest.raises(Refused, match="it answers 302"):
            sender.snapshot(distill=False)
        with pytest.raises(Refused, match="it answers 302"):
            sender.snapshot(distill=True)
        elsewhere.shutdown()
    assert [line for line in heard if "stolen" in line] == []
    assert len(heard) == 2


def test_before_the_model_writes_what_it_has_read_is_there(
    server: Server, target: Target, hook: Hook, monkeypatch: pytest.MonkeyPatch
) -> None:
    talk(hook)
    denied = hook("pre-tool", call="c1", messages=[{"tool_call": "fetch", "tool_call_id": "c0"}])
    assert "not there yet" in denied["deny"]

    def deliver_now(spool: Spool, memory: Memory) -> bool:
        deliver(target)
        return True

    monkeypatch.setattr(Spool, "deliver_now", deliver_now)
    assert "deny" not in hook("pre-tool", call="c2", messages=[{"tool_result": "Buy!", "tool_call_id": "c0"}])
    assert ("tool_call", "") in said(server.where("mira"))


def test_a_hook_of_a_database_records_here_and_loads_no_driver(tmp_path: Path) -> None:
    where = "postgresql://nobody@127.0.0.1:9/none?namespace=mira"
    env = os.environ | {"XDG_STATE_HOME": str(tmp_path), "LOOSELEAF_HOME": where, "HOME": str(tmp_path)}
    env.pop("LOOSELEAF_SERVER", None)
    code = (
        "import sys; from looseleaf.cli.main import main; main(['hook', sys.argv[1]]); "
        "assert not [name for name in sys.modules if name.startswith(('psycopg', 'http', 'urllib.request'))]"
    )
    for event, given in (
        ("session-start", {"source": "startup"}),
        ("user-prompt", {"prompt": "I live in Lyon."}),
    ):
        ended = subprocess.run(
            [sys.executable, "-c", code, event],
            input=json.dumps({"session": "s1", **given}),
            text=True,
            env=env,
            capture_output=True,
            check=True,
        )
        assert ended.stderr == ""
    [folder] = (tmp_path / "looseleaf" / "spool").iterdir()
    assert folder.stat().st_mode & 0o077 == 0
    assert said(str(folder / "memory")) == [("user", "I live in Lyon.")]


def test_hooks_of_a_database_are_delivered_into_it(
    postgres: Any, hook: Hook, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    where = postgres.memory()
    init(where)
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    monkeypatch.setenv("LOOSELEAF_HOME", where)
    monkeypatch.delenv("LOOSELEAF_SERVER", raising=False)
    monkeypatch.setattr(Spool, "start", lambda spool, memory: None)
    found = target_of(None)
    assert found is not None
    talk(hook)
    spool = Spool(found, "main")
    failing = Failing(sender_for(spool), 1, is_done=True)
    with Memory(spool.path) as memory, pytest.raises(Killed):
        spool.deliver(memory, failing)
    assert main(["hook", "deliver"]) == 0
    assert said(where) == TALK
    assert "Lyon" in hook("session-start", session="s2", source="startup")["context"]


@pytest.mark.parametrize(
    ("server", "home", "why"),
    [
        ("memory.example", "", "is not an address"),
        ("https://memory.example", "", "no memory is named"),
    ],
)
def test_a_server_that_is_not_named_in_full_is_refused(
    server: str, home: str, why: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LOOSELEAF_SERVER", server)
    monkeypatch.setenv("LOOSELEAF_HOME", home)
    with pytest.raises(Exception, match=why):
        target_of(None)


def test_the_name_of_a_memory_may_come_from_its_address(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LOOSELEAF_SERVER", "https://memory.example/")
    monkeypatch.setenv("LOOSELEAF_HOME", "postgresql://me:secret@db/memories?namespace=acme/agent-7")
    found = target_of(None)
    assert found is not None
    assert (found.server, found.name) == ("https://memory.example", "acme/agent-7")
    monkeypatch.setenv("LOOSELEAF_SERVER", "https://memory.example/m/acme:agent-7")
    assert target_of(None) == found


def test_killed_while_it_delivers_nothing_is_lost_or_doubled(
    server: Server, target: Target, hook: Hook, tmp_path: Path
) -> None:
    """The process itself, killed again and again after a little more time."""
    for number in range(30):
        hook("user-prompt", prompt=f"Word {number} of the day.")
    spool, at = Spool(target, "main"), [0.15, 0.25, 0.35, 0.45]
    code = (
        "import looseleaf.integrations.spool as s; s._AT_ONCE = 1; from looseleaf.cli.main import main; "
        "main(['hook', 'deliver'])"
    )
    for seconds in at:
        child = subprocess.Popen([sys.executable, "-c", code])
        try:
            child.wait(seconds)
        except subprocess.TimeoutExpired:
            child.send_signal(signal.SIGKILL)
            child.wait()
    deliver(target)
    assert said(server.where("mira")) == [("user", f"Word {number} of the day.") for number in range(30)]
    assert os.path.exists(os.path.join(spool.folder, "delivered.json"))
