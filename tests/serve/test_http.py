"""The walls of the HTTP server, each alone, by requests byte by byte; and the file of its token."""

from __future__ import annotations

import json
import logging
import os
import re
import resource
import shlex
import shutil
import signal
import socket
import stat
import subprocess
import sys
import threading
import time
import tomllib
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path

import pytest

from conftest import Run
from looseleaf.base.errors import Refused
from looseleaf.cli.arguments import parse
from looseleaf.cli.verbs.setup import PORT
from looseleaf.memory import Memory
from looseleaf.serve import http
from looseleaf.serve import http as connection
from looseleaf.serve.http import default_path, token
from looseleaf.tools.catalogue import TOOLS
from looseleaf.tools.tool import ToolAnswer
from mcp_serving import TOKEN, Request, Served, add_tool, digest, exchange, filled, serving, sound
from tables import check_rows

Change = Callable[[Request], Request]


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    with serving(filled(tmp_path_factory.mktemp("http") / "memory")) as server:
        yield server


# --- what is wrong with each request ---------------------------------------------------


def without(name: str) -> Change:
    return lambda good: replace(good, headers=tuple(pair for pair in good.headers if pair[0] != name))


def having(name: str, value: str) -> Change:
    """The header with another value, or one more."""

    def change(good: Request) -> Request:
        rest = without(name)(good)
        return replace(rest, headers=(*rest.headers, (name, value)))

    return change


def twice(name: str, value: str) -> Change:
    return lambda good: replace(good, headers=(*good.headers, (name, value)))


def method(name: str) -> Change:
    return lambda good: replace(good, method=name)


def path(name: str) -> Change:
    return lambda good: replace(good, path=name)


def preflight(good: Request) -> Request:
    asked = (
        ("Host", "127.0.0.1:{port}"),
        ("Origin", "http://evil.example"),
        ("Access-Control-Request-Method", "POST"),
        ("Access-Control-Request-Headers", "authorization, content-type"),
    )
    return Request(asked, b"", method="OPTIONS")


def chunked(good: Request) -> Request:
    """Longer than any body may be, and it never says how long."""
    piece = b"%x\r\n%s\r\n" % (1 << 20, b" " * (1 << 20))
    rest = having("Transfer-Encoding", "chunked")(good)
    return replace(rest, body=piece * 6 + b"0\r\n\r\n", counted=False)


def both_lengths(good: Request) -> Request:
    """Two answers to where the request ends: the second one would be smuggled in."""
    return replace(having("Transfer-Encoding", "chunked")(good), body=b"0\r\n\r\n" + good.body)


def form(good: Request) -> Request:
    named = having("Content-Type", "application/x-www-form-urlencoded")(good)
    return replace(named, body=good.body.replace(b"{", b"%7B", 1))


OURS = (401, 403, 404, 415, 421)
"""Statuses of our own walls; where several are possible, the HTTP server or the SDK may have been first."""

MULTIPART = "multipart/form-data; boundary=x"

HOSTILE: dict[str, tuple[int | tuple[int, ...], Change]] = {
    "no token": (401, without("Authorization")),
    "an empty header": (401, having("Authorization", "")),
    "a scheme without a token": (401, having("Authorization", "Bearer")),
    "an empty token": (401, having("Authorization", "Bearer ")),
    "a wrong token": (401, having("Authorization", f"Bearer {TOKEN[:-1]}X")),
    "a token too short": (401, having("Authorization", f"Bearer {TOKEN[:-1]}")),
    "a token too long": (401, having("Authorization", f"Bearer {TOKEN}x")),
    "a very long token": (401, having("Authorization", f"Bearer {TOKEN * 500}")),
    "the token in capitals": (401, having("Authorization", f"Bearer {TOKEN.upper()}")),
    "a token that is not ASCII": (401, having("Authorization", "Bearer ключ-ключ-ключ-ключ")),
    "two tokens in one": (401, having("Authorization", f"Bearer {TOKEN} {TOKEN}")),
    "the token in a list": (401, having("Authorization", f"Bearer {TOKEN}, Bearer x")),
    "basic": (401, having("Authorization", f"Basic {TOKEN}")),
    "no scheme": (401, having("Authorization", TOKEN)),
    "the token twice": (401, twice("Authorization", f"Bearer {TOKEN}")),
    "a wrong token before": (401, twice("Authorization", "Bearer x")),
    "the token in the address": (
        401,
        lambda good: path(f"/mcp?token={TOKEN}")(without("Authorization")(good)),
    ),
    "the token as a cookie": (
        401,
        lambda good: having("Cookie", f"Authorization=Bearer {TOKEN}")(without("Authorization")(good)),
    ),
    "get without a token": (401, lambda good: method("GET")(without("Authorization")(good))),
    "delete without a token": (401, lambda good: method("DELETE")(without("Authorization")(good))),
    "put without a token": (401, lambda good: method("PUT")(without("Authorization")(good))),
    "a preflight": (401, preflight),
    "another path without a token": (401, lambda good: path("/")(without("Authorization")(good))),
    "a rebound host": (421, having("Host", "evil.example:{port}")),
    "a host without its port": (421, having("Host", "127.0.0.1")),
    "a host at another port": (421, having("Host", "127.0.0.1:1")),
    "a name that begins like ours": (421, having("Host", "localhost:{port}.evil.example")),
    "a name that ends like ours": (421, having("Host", "evil.localhost:{port}")),
    "a name with a dot behind": (421, having("Host", "localhost.:{port}")),
    "another name of this machine": (421, having("Host", "127.1:{port}")),
    "a name with a user": (421, having("Host", "127.0.0.1:{port}@evil.example")),
    "our name in capitals": (421, having("Host", "LOCALHOST:{port}")),
    "all addresses": (421, having("Host", "0.0.0.0:{port}")),
    "an empty host": ((400, 421), having("Host", "")),
    "two hosts": ((400, 421), twice("Host", "evil.example")),
    "no host": ((400, 421), without("Host")),
    "no host, as of old": (421, lambda good: replace(without("Host")(good), version="HTTP/1.0")),
    "a whole address with another host": (
        (400, 404, 421),
        lambda good: path("http://evil.example/mcp")(having("Host", "evil.example")(good)),
    ),
    "a host that a proxy forwards": (
        421,
        lambda good: having("X-Forwarded-Host", "127.0.0.1:{port}")(having("Host", "evil.example")(good)),
    ),
    "a page": (403, having("Origin", "http://evil.example")),
    "a page of no origin": (403, having("Origin", "null")),
    "an empty origin": (403, having("Origin", "")),
    "a page of this machine": (403, having("Origin", "http://localhost:3000")),
    "our own address in another scheme": (403, having("Origin", "https://127.0.0.1:{port}")),
    "our own address without its port": (403, having("Origin", "http://127.0.0.1")),
    "our own address at another port": (403, having("Origin", "http://127.0.0.1:1")),
    "our own address with a path": (403, having("Origin", "http://127.0.0.1:{port}/")),
    "our own address in capitals": (403, having("Origin", "http://LOCALHOST:{port}")),
    "an origin that begins like ours": (403, having("Origin", "http://127.0.0.1:{port}.evil.example")),
    "an origin that ends like ours": (403, having("Origin", "http://evil.localhost:{port}")),
    "a rebound origin": (403, having("Origin", "http://evil.example:{port}")),
    "another address of this machine": (403, having("Origin", "http://127.0.0.2:{port}")),
    "all addresses as an origin": (403, having("Origin", "http://0.0.0.0:{port}")),
    "an extension": (403, having("Origin", "chrome-extension://abcdefghijklmnop")),
    "two origins": (403, lambda good: twice("Origin", "null")(twice("Origin", "null")(good))),
    "plain text": (415, having("Content-Type", "text/plain")),
    "plain text that says JSON": (415, having("Content-Type", "text/plain; application/json")),
    "a form": (415, form),
    "parts": (415, having("Content-Type", MULTIPART)),
    "no type": (415, without("Content-Type")),
    "an empty type": (415, having("Content-Type", "")),
    "two types": (415, twice("Content-Type", "text/plain")),
    "types in a list": (415, having("Content-Type", "application/json, text/plain")),
    "a type that begins like ours": (415, having("Content-Type", "application/jsonp")),
    "another charset": (415, having("Content-Type", "application/json; charset=utf-16")),
    "get": ((400, 405, 406), method("GET")),
    "delete": ((400, 404, 405), method("DELETE")),
    "put": (405, method("PUT")),
    "patch": (405, method("PATCH")),
    "head": (405, method("HEAD")),
    "options": (405, method("OPTIONS")),
    "trace": (405, method("TRACE")),
    "connect": ((400, 404, 405), method("CONNECT")),
    "the root": (404, path("/")),
    "another path": (404, path("/mcp/")),
    "two slashes": (404, path("//mcp")),
    "a path in other letters": (404, path("/MCP")),
    "an encoded path": (404, path("/%6dcp")),
    "a path upwards": (404, path("/x/../mcp")),
    "a body in pieces, too long": (413, chunked),
    "a body too long": (413, lambda good: replace(good, body=good.body + b" " * (5 << 20))),
    "two lengths": ((400, 411, 413), both_lengths),
    "not JSON": (400, lambda good: replace(good, body=b"{")),
    "a body that is not UTF-8": (400, lambda good: replace(good, body=b'\xff\xfe"x"')),
    "nested very deep": (400, lambda good: replace(good, body=b"[" * 100_000)),
    "many in one": (400, lambda good: replace(good, body=b"[" + good.body + b"]")),
    "a call without a session": ((400, 404), without("MCP-Protocol-Version")),
    "a session that is not there": (
        (404,),
        lambda good: having("Mcp-Session-Id", "0" * 32)(without("MCP-Protocol-Version")(good)),
    ),
    "a version that is not there": (400, having("MCP-Protocol-Version", "1999-01-01")),
    "another tool in the header": (400, having("Mcp-Name", "memory_list")),
}


def test_what_does_not_pass_every_wall_is_refused_and_changes_nothing(served: Served) -> None:
    def check(name: str) -> None:
        expected, change = HOSTILE[name]
        before = digest(served.folder)
        status, headers, body = exchange(served.port, change(sound()).to_bytes(served.port))
        assert status in (expected if isinstance(expected, tuple) else (expected,)), body
        assert digest(served.folder) == before
        assert not [each for each in headers if each.startswith("access-control-")]
        assert b"The attacker was here" not in body
        if isinstance(expected, int) and status in OURS:
            assert body.startswith(b"Nothing was done: ")

    check_rows(check, HOSTILE)


def test_an_upgrade_to_another_protocol_is_not_made(served: Served) -> None:
    asked = replace(
        sound(),
        method="GET",
        headers=(
            ("Host", "127.0.0.1:{port}"),
            ("Connection", "Upgrade"),
            ("Upgrade", "websocket"),
            ("Sec-WebSocket-Version", "13"),
            ("Sec-WebSocket-Key", "dGhlIHNhbXBsZSBub25jZQ=="),
        ),
    )
    status, _, _ = exchange(served.port, asked.to_bytes(served.port))
    assert status == 401


def test_the_same_request_with_nothing_wrong_writes(served: Served) -> None:
    """Or none of the refusals above would say anything."""
    before = digest(served.folder)
    good = sound("remember", topic="control", content="Every wall was passed.")
    status, headers, body = exchange(served.port, good.to_bytes(served.port))
    assert status == 200, body
    assert b"Every wall was passed" in (served.folder / "facts" / "control.md").read_bytes()
    assert digest(served.folder) != before
    assert not [each for each in headers if each.startswith("access-control-")]


def test_the_wall_is_not_read_past_before_it_is_passed(served: Served) -> None:
    """A megabyte was promised and none sent: who has no token does not keep the server waiting for it."""
    asked = replace(without("Authorization")(sound()), body=b"", counted=False)
    head = asked.to_bytes(served.port).replace(b"\r\n\r\n", b"\r\nContent-Length: 1048576\r\n\r\n")
    status, headers, _ = exchange(served.port, head)
    assert status == 401
    assert headers["connection"].endswith("close")


def test_small_differences_of_spelling_are_none(served: Served) -> None:
    for change in (
        having("Authorization", f"bearer {TOKEN}"),
        having("Authorization", f"Bearer   {TOKEN}"),
        having("Host", "localhost:{port}"),
        having("Host", "[::1]:{port}"),
        having("Origin", "http://127.0.0.1:{port}"),
        having("Origin", "http://localhost:{port}"),
        having("Origin", "http://[::1]:{port}"),
        having("Content-Type", "Application/JSON; charset=UTF-8"),
    ):
        good = sound("memory_read", path="facts/work.md")
        status, _, body = exchange(served.port, change(good).to_bytes(served.port))
        assert status == 200, body


def test_a_page_that_is_allowed_may_ask(tmp_path: Path) -> None:
    with serving(filled(tmp_path / "memory"), origins="http://localhost:3000") as served:
        good = sound("memory_read", path="facts/work.md")
        for origin, expected in (
            ("http://localhost:3000", 200),
            ("http://localhost:30000", 403),
            ("http://localhost", 403),
            ("https://localhost:3000", 403),
        ):
            request = having("Origin", origin)(good).to_bytes(served.port)
            assert exchange(served.port, request)[0] == expected


# --- those who say nothing -------------------------------------------------------------

HALF = b"POST /mcp HTTP/1.1\r\nHost: "


def is_dropped(sock: socket.socket) -> bool:
    """Whether the server closes it, within the time that the socket waits."""
    try:
        return sock.recv(1) == b""
    except ConnectionResetError:
        return True
    except TimeoutError:
        return False


def test_many_who_say_half_of_something_do_not_keep_others_out(
    served: Served, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(connection, "MOST", 8)
    with ExitStack() as stack:
        halves = []
        for number in range(40):
            half = socket.create_connection(("127.0.0.1", served.port), timeout=10)
            halves.append(stack.enter_context(half))
            half.sendall(HALF if number % 2 else b"")
        good = sound("memory_read", path="facts/work.md").to_bytes(served.port)
        assert exchange(served.port, good)[0] == 200
        assert all(is_dropped(half) for half in halves[:-8])
        halves[-1].settimeout(0.05)
        assert not is_dropped(halves[-1])


def test_the_parts_of_a_request_come_in_time_or_the_connection_ends(
    served: Served, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also if a byte comes now and then. What is being answered has all the time it takes."""
    whole = sound("slow").to_bytes(served.port)
    go = threading.Event()

    def slow(memory: Memory, arguments: object) -> ToolAnswer:
        assert go.wait(60)
        return ToolAnswer(None, {}, "slow but sure")

    add_tool(monkeypatch, "slow", slow)
    monkeypatch.setattr(connection, "SECONDS", 0.2)
    with ExitStack() as stack:

        def said(data: bytes) -> socket.socket:
            made = stack.enter_context(socket.create_connection(("127.0.0.1", served.port), timeout=20))
            made.sendall(data)
            return made

        answered = said(whole)
        assert is_dropped(said(b""))
        assert is_dropped(said(HALF))
        assert is_dropped(said(whole[:-3]))
        trickling = said(HALF)
        trickling.settimeout(0.02)
        for _ in range(1000):
            try:
                trickling.sendall(b"1")
            except OSError:
                break
            if is_dropped(trickling):
                break
        else:
            pytest.fail("it was let go on for ever")
        go.set()
        assert answered.recv(12) == b"HTTP/1.1 200"


@pytest.mark.parametrize("enough", [True, False])
def test_a_body_that_keeps_coming_has_all_the_time_it_takes(
    served: Served, monkeypatch: pytest.MonkeyPatch, enough: bool
) -> None:
    monkeypatch.setattr(connection, "SECONDS", 0.5)
    monkeypatch.setattr(connection, "LEAST", 1 if enough else 1 << 20)
    good = sound("memory_read", path="facts/work.md")
    whole = replace(good, body=good.body + b" " * 40_000).to_bytes(served.port)
    with socket.create_connection(("127.0.0.1", served.port), timeout=20) as sock:
        for piece in range(0, len(whole), 1_000):
            try:
                sock.sendall(whole[piece : piece + 1_000])
            except OSError:
                break
            time.sleep(0.04)  # three times as long as the time for one part
        assert is_dropped(sock) is not enough


LONG = 8 << 20


def unread(served: Served, stack: ExitStack, room: int = 2048) -> socket.socket:
    """Somebody who asks for more than is taken at once. `room`: bytes that the system takes for them."""
    made = socket.socket()
    made.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, room)
    stack.enter_context(made).connect(("127.0.0.1", served.port))
    made.settimeout(20)
    made.sendall(sound("long").to_bytes(served.port))
    return made


def taken(sock: socket.socket, pause: float = 0.0) -> int:
    """How many bytes come before the server closes it, or has sent all."""
    count = 0
    try:
        while count <= LONG and (more := len(sock.recv(1 << 18))):
            count += more
            time.sleep(pause)
    except ConnectionResetError:
        pass
    return count


def add_long(monkeypatch: pytest.MonkeyPatch) -> None:
    add_tool(monkeypatch, "long", lambda memory, arguments: ToolAnswer(None, {}, "x" * LONG))


def test_readers_that_take_nothing_do_not_keep_others_out(
    served: Served, monkeypatch: pytest.MonkeyPatch
) -> None:
    add_long(monkeypatch)
    monkeypatch.setattr(connection, "MOST", 8)
    with ExitStack() as stack:
        for _ in range(24):
            unread(served, stack)
        time.sleep(0.2)
        good = sound("memory_read", path="facts/work.md").to_bytes(served.port)
        for _ in range(3):
            assert exchange(served.port, good)[0] == 200


def test_who_asks_on_and_on_without_waiting_does_not_keep_others_out(
    served: Served, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Though an answer to each is always under way, and is short."""
    go = threading.Event()

    def slow(memory: Memory, arguments: object) -> ToolAnswer:
        assert go.wait(60)
        return ToolAnswer(None, {}, "slow but sure")

    add_tool(monkeypatch, "slow", slow)
    monkeypatch.setattr(connection, "MOST", 8)
    whole = sound("slow").to_bytes(served.port)
    with ExitStack() as stack:
        for _ in range(12):
            made = stack.enter_context(socket.create_connection(("127.0.0.1", served.port), timeout=20))
            made.sendall(whole * 3)
        time.sleep(0.2)
        last = stack.enter_context(socket.create_connection(("127.0.0.1", served.port), timeout=0.3))
        assert not is_dropped(last)
        go.set()
        good = sound("memory_read", path="facts/work.md").to_bytes(served.port)
        assert exchange(served.port, good)[0] == 200


def test_a_reader_that_takes_nothing_is_dropped_and_a_slow_one_is_not(
    served: Served, monkeypatch: pytest.MonkeyPatch
) -> None:
    add_long(monkeypatch)
    monkeypatch.setattr(connection, "UNREAD_SECONDS", 0.5)
    with ExitStack() as stack:
        slow, none = unread(served, stack, 1 << 17), unread(served, stack)
        assert taken(slow, pause=0.01) > LONG
        time.sleep(0.6)
        assert taken(none) < LONG


def test_there_are_fewer_connections_than_files_that_may_be_open() -> None:
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    try:
        resource.setrlimit(resource.RLIMIT_NOFILE, (256, hard))
        assert connection.connection_limit() == 128
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
    assert connection.connection_limit() <= connection.MOST


def test_what_others_can_cause_is_logged_a_few_times_a_minute(monkeypatch: pytest.MonkeyPatch) -> None:
    seldom = connection.Seldom()
    record = logging.LogRecord("asyncio", logging.ERROR, "", 0, "out of resources", (), None)
    told = [seldom.filter(record) for _ in range(1000)]
    assert 0 < sum(told) < 10
    later = time.monotonic() + 3600
    monkeypatch.setattr(time, "monotonic", lambda: later)
    assert seldom.filter(record)


@pytest.mark.long
def test_a_process_with_few_files_serves_while_many_hold_connections(tmp_path: Path) -> None:
    with http.listen("127.0.0.1", 0) as free:
        port = free.getsockname()[1]
    filled(tmp_path / "memory")
    (tmp_path / "token").write_text(TOKEN, encoding="utf-8")
    (tmp_path / "token").chmod(0o600)
    command = f"ulimit -n 256; exec {shlex.quote(sys.executable)} -m looseleaf"
    command += f" --memory {shlex.quote(str(tmp_path / 'memory'))} mcp --http --port {port}"
    command += f" --token-file {shlex.quote(str(tmp_path / 'token'))}"
    good = sound("memory_read", path="facts/work.md").to_bytes(port)
    with (tmp_path / "said").open("wb") as said:
        process = subprocess.Popen(["sh", "-c", command], stderr=said)
    try:
        for _ in range(1000):
            try:
                assert exchange(port, good)[0] == 200
                break
            except ConnectionRefusedError:
                time.sleep(0.02)
        before = sum(cpu(process.pid))
        with ExitStack() as stack:
            for _ in range(400):
                half = socket.create_connection(("127.0.0.1", port), timeout=20)
                stack.enter_context(half).sendall(HALF)
            for _ in range(20):
                assert exchange(port, good)[0] == 200
                time.sleep(0.1)
        assert sum(cpu(process.pid)) - before < os.sysconf("SC_CLK_TCK") * 1.5
        assert (tmp_path / "said").stat().st_size < 4096
    finally:
        process.terminate()
        assert process.wait() == 0


def cpu(pid: int) -> list[int]:
    """Ticks that a process has used, its own and the system's."""
    return [int(part) for part in Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[11:13]]


# --- names -----------------------------------------------------------------------------


def test_a_server_is_asked_under_its_own_names_and_those_allowed() -> None:
    own = ("127.0.0.1:8765", "localhost:8765", "[::1]:8765")
    assert http.allowed_hosts(8765).hosts == own
    assert http.allowed_hosts(80).hosts == (
        *("127.0.0.1:80", "localhost:80", "[::1]:80"),
        *("127.0.0.1", "localhost", "[::1]"),
    )
    allowed = http.allowed_hosts(
        8765, "Memory.example, other.example:8443", "http://a.example,https://b.example:1"
    )
    assert allowed.hosts == (*own, "memory.example", "memory.example:8765", "other.example:8443")
    assert allowed.origins == (*(f"http://{name}" for name in own), "http://a.example", "https://b.example:1")


def test_a_pattern_is_no_name_of_a_host() -> None:
    def check(name: str) -> None:
        with pytest.raises(Refused, match="No server was started: --allow-host"):
            http.allowed_hosts(1, name)

    check_rows(check, ["*", "*.example", "a.example:*", "http://a.example", "a b", "a/", "ü.example"])


@pytest.mark.parametrize(
    "origin", ["*", "null", "localhost:3000", "http://a.example/", "http://*", "http://a:*"]
)
def test_a_pattern_is_no_origin(origin: str) -> None:
    with pytest.raises(Refused, match="No server was started: --allow-origin"):
        http.allowed_hosts(1, None, origin)


def test_addresses_are_written_as_in_a_url() -> None:
    assert http.address("127.0.0.1", 1) == "127.0.0.1:1"
    assert http.address("::1", 1) == "[::1]:1"


# --- the token -------------------------------------------------------------------------


@pytest.fixture
def memory(tmp_path: Path) -> str:
    return str(tmp_path / "memory")


def test_a_missing_token_is_made_for_its_owner_only_and_stays(tmp_path: Path, memory: str) -> None:
    file = tmp_path / "new" / "folder" / "token"
    made = token(str(file), memory)
    assert len(made) >= 43  # 32 bytes of chance
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert stat.S_IMODE(file.parent.stat().st_mode) == 0o700
    assert token(str(file), memory) == made
    assert [each.name for each in file.parent.iterdir()] == ["token"]
    assert token(str(tmp_path / "other"), memory) != made


def test_servers_that_start_together_have_one_token(tmp_path: Path, memory: str) -> None:
    file, found = tmp_path / "token", []
    threads = [threading.Thread(target=lambda: found.append(token(str(file), memory))) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(found) == 8
    assert len(set(found)) == 1


@pytest.mark.parametrize(
    ("content", "mode", "why"),
    [
        (TOKEN, 0o640, "can be read by other users (mode 0640)"),
        (TOKEN, 0o604, "can be read by other users (mode 0604)"),
        (TOKEN, 0o622, "can be read by other users"),
        ("", 0o600, "is empty"),
        ("\n \n", 0o600, "is empty"),
        ("short", 0o600, "does not hold a token"),
        ("x" * 513, 0o600, "does not hold a token"),
        ("two words that are long enough", 0o600, "does not hold a token"),
        ("one-line-of-twenty-letters\nand another", 0o600, "does not hold a token"),
        ("ключ-ключ-ключ-ключ-ключ", 0o600, "does not hold a token"),
    ],
)
def test_a_token_that_is_none_or_not_secret_is_refused(
    tmp_path: Path, memory: str, content: str, mode: int, why: str
) -> None:
    file = tmp_path / "token"
    file.write_text(content, encoding="utf-8")
    file.chmod(mode)
    with pytest.raises(Refused) as refused:
        token(str(file), memory)
    assert str(refused.value).startswith(f"No server was started: the token file {file} ")
    assert why in str(refused.value)
    assert content.strip() not in str(refused.value) or not content.strip()


def test_a_token_is_a_plain_file(tmp_path: Path, memory: str) -> None:
    (tmp_path / "real").write_text(TOKEN, encoding="utf-8")
    (tmp_path / "real").chmod(0o600)
    (tmp_path / "link").symlink_to(tmp_path / "real")
    (tmp_path / "nowhere").symlink_to(tmp_path / "absent")
    (tmp_path / "folder").mkdir(mode=0o700)
    os.mkfifo(tmp_path / "pipe", 0o600)
    for name, why in (
        ("link", "is a symbolic link"),
        ("nowhere", "is a symbolic link"),
        ("folder", "(Is a directory)"),
        ("pipe", "is not a regular file"),
    ):
        with pytest.raises(Refused) as refused:
            token(str(tmp_path / name), memory)
        assert why in str(refused.value)
    assert not (tmp_path / "absent").exists()


def test_somebody_elses_token_is_not_used(
    tmp_path: Path, memory: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    token(str(tmp_path / "token"), memory)
    me = os.geteuid()
    monkeypatch.setattr(os, "geteuid", lambda: me + 1)
    with pytest.raises(Refused, match="belongs to another user"):
        token(str(tmp_path / "token"), memory)


def test_a_token_is_never_in_the_memory(tmp_path: Path) -> None:
    folder = tmp_path / "memory"
    folder.mkdir()
    (tmp_path / "alias").symlink_to(folder)
    for place in (folder / "token", folder / "log" / "token", tmp_path / "alias" / "token"):
        with pytest.raises(Refused, match="is in the memory's folder"):
            token(str(place), str(folder))
    assert list(folder.iterdir()) == []
    assert token(str(tmp_path / "memory-token"), str(folder))


def test_a_place_where_nothing_can_be_made_is_a_sentence(tmp_path: Path, memory: str) -> None:
    (tmp_path / "file").write_text("", encoding="utf-8")
    with pytest.raises(Refused, match="cannot be read or created"):
        token(str(tmp_path / "file" / "token"), memory)


def test_the_token_is_where_settings_are(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", "/home/zhang")
    for given, expected in (
        ("", "/home/zhang/.config/looseleaf/token"),
        ("relative", "/home/zhang/.config/looseleaf/token"),
        ("/settings", "/settings/looseleaf/token"),
    ):
        monkeypatch.setenv("XDG_CONFIG_HOME", given)
        assert default_path() == expected


# --- the command -----------------------------------------------------------------------


def test_options_of_http_without_it_are_refused(run: Run) -> None:
    for option in ("--host", "--allow-host", "--allow-origin", "--token-file"):
        code, out, err = run("mcp", option, "x")
        assert (code, out) == (2, "")
        assert f"{option} is for HTTP. Add --http" in err


def test_other_machines_are_let_in_only_on_purpose(run: Run, place: Path) -> None:
    named = ("--token-file", str(place / "token"))
    for given in ((), named, ("--allow-host", "memory.example")):
        code, out, err = run("mcp", "--http", "--host", "0.0.0.0", "--port", "0", *given)
        assert (code, out) == (2, "")
        assert "0.0.0.0 can be reached from other machines" in err


def test_a_port_that_is_taken_is_a_sentence(run: Run) -> None:
    with http.listen("127.0.0.1", 0) as taken:
        port = str(taken.getsockname()[1])
        code, out, err = run("mcp", "--http", "--port", port)
    assert (code, out) == (2, "")
    assert f"No server was started: cannot listen on 127.0.0.1:{port} (Address already in use)" in err
    with pytest.raises(Refused, match="cannot listen on"):
        http.listen("127.0.0.1", 99999)


def test_the_command_says_where_it_serves_and_ends_when_told(
    run: Run, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In this process: a thread asks, and then ends the server as a shell would."""
    monkeypatch.delenv("XDG_CONFIG_HOME", raising=False)
    before = signal.getsignal(signal.SIGTERM)
    with http.listen("127.0.0.1", 0) as free:
        port = free.getsockname()[1]
    answers: list[int] = []

    def ask() -> None:
        secret = folder.parent / "home" / ".config" / "looseleaf" / "token"
        try:
            for _ in range(2000):
                try:
                    asked = sound("memory_list")
                    word = secret.read_text(encoding="ascii").strip()
                    known = having("Authorization", f"Bearer {word}")(asked).to_bytes(port)
                    answers.extend((exchange(port, known)[0], exchange(port, asked.to_bytes(port))[0]))
                    break
                except OSError:
                    time.sleep(0.01)
        finally:
            os.kill(os.getpid(), signal.SIGTERM)

    thread = threading.Thread(target=ask)
    thread.start()
    code, out, err = run("mcp", "--http", "--port", str(port), "--read-only")
    thread.join()
    assert (code, out) == (0, "")
    assert answers == [200, 401]
    assert f"serving {folder} at http://127.0.0.1:{port}/mcp" in err
    assert "looseleaf/token" in err
    assert TOKEN not in err
    assert signal.getsignal(signal.SIGTERM) == before


# --- the guide -------------------------------------------------------------------------

GUIDE = (Path(__file__).parents[2] / "docs" / "MCP.md").read_text(encoding="utf-8")


def blocks(kind: str) -> list[str]:
    return re.findall(rf"```{kind}\n(.*?)```", GUIDE, re.DOTALL)


def test_settings_in_the_guide_are_whole_and_start_this_server() -> None:
    commands = [
        shlex.split(line.partition(" -- ")[2] or line, comments=True)
        for line in "\n".join(blocks("sh")).replace("\\\n", "").splitlines()
        if "looseleaf mcp" in line or "--memory" in line
    ]
    urls = []
    for settings in (*map(json.loads, blocks("json")), *map(tomllib.loads, blocks("toml"))):
        [[server]] = [each.values() for each in settings.values()]
        if "url" in server:
            urls.append(server["url"])
        else:
            command = server["command"]
            commands.append([*command] if isinstance(command, list) else [command, *server["args"]])
    assert len(commands) >= 5
    assert len(urls) == 2
    for program, *arguments in commands:
        assert program == "looseleaf"
        assert parse(arguments).run == "setup.mcp"
    assert {*urls} == {f"http://127.0.0.1:{PORT}{http.PATH}"}


def test_the_guide_names_every_tool_and_status() -> None:
    assert all(f"`{name}`" in GUIDE for name in TOOLS)
    assert all(str(status) in GUIDE for status in (*OURS, 405, 413))
    assert f"at most {http.BODY_BYTES >> 20} MiB" in GUIDE


@pytest.mark.skipif(shutil.which("curl") is None, reason="curl is not installed")
def test_the_request_by_hand_in_the_guide_is_answered(served: Served, tmp_path: Path) -> None:
    [command] = [each for each in blocks("sh") if each.startswith("curl")]
    (tmp_path / "token").write_text(TOKEN, encoding="utf-8")
    asked = command.replace("127.0.0.1:8765", f"127.0.0.1:{served.port}")
    asked = asked.replace("~/.config/looseleaf/token", str(tmp_path / "token"))
    done = subprocess.run(["sh", "-c", asked], capture_output=True, text=True, check=True)
    assert [tool["name"] for tool in json.loads(done.stdout)["result"]["tools"]] == list(TOOLS)
