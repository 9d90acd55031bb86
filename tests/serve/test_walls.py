"""The walls around the page, REST and MCP, each alone. Each is also taken down, to see that the test would notice."""

from __future__ import annotations

import re
import socket
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import httpx
import pytest

from looseleaf.pages.folder import init
from looseleaf.serve import walls
from looseleaf.serve.access import Access
from looseleaf.serve.runner import names_of
from looseleaf.serve.sign import form_token
from looseleaf.serve.walls import Walls
from looseleaf.serve.web import forms
from serving import Server, serving

Patch = pytest.MonkeyPatch


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    place = tmp_path_factory.mktemp("walls")
    init(str(place / "memories" / "mira"))
    with serving(place) as server:
        yield server


def walls_of(server: Server) -> Walls:
    found: Any = server._runner.config.app
    inner: Walls = found._app
    return inner


class _All(frozenset[bytes]):
    """A set that has everything."""

    def __contains__(self, _: object) -> bool:
        return True

    def issuperset(self, _: object) -> bool:
        return True


ANY = re.compile(rb"[\s\S]*")


# --- attacks: each is all right but for one thing -----------------------------------------


def api(server: Server, **headers: str) -> httpx.Response:
    given = {"authorization": f"Bearer {server.token('mira', scopes=('read', 'write'))}"} | headers
    return httpx.post(f"{server.address}/v1/memories/mira/recall", json={"query": "tea"}, headers=given)


def page(server: Server, form: str | None = None, **headers: str) -> httpx.Response:
    visit = server.visit()
    body = f"token={form_token(visit) if form is None else form}"
    given = {
        "cookie": f"looseleaf={visit}",
        "origin": server.address,
        "content-type": "application/x-www-form-urlencoded",
    }
    return httpx.post(f"{server.address}/sign-out", content=body, headers=given | headers)


def page_without_origin(server: Server) -> httpx.Response:
    visit = server.visit()
    kind = {"content-type": "application/x-www-form-urlencoded", "cookie": f"looseleaf={visit}"}
    return httpx.post(f"{server.address}/sign-out", content=f"token={form_token(visit)}", headers=kind)


def large(server: Server) -> httpx.Response:
    """Longer than any body may be, and it says so. It is sent when it is waited for."""
    visit = server.visit()
    body = f"token={form_token(visit)}&more=".encode().ljust(walls.IMPORT_BYTES // 50, b"x")
    head = (
        "POST /sign-out HTTP/1.1",
        f"Host: {server.host}",
        f"Origin: {server.address}",
        f"Cookie: looseleaf={visit}",
        "Content-Type: application/x-www-form-urlencoded",
        f"Content-Length: {len(body)}",
    )
    with socket.create_connection(("127.0.0.1", server.port), timeout=0.5) as sock:
        sock.sendall("\r\n".join((*head, "", "")).encode())
        try:
            told = sock.recv(1 << 16)
        except TimeoutError:
            sock.settimeout(20)
            sock.sendall(body)
            told = sock.recv(1 << 16)
    where = re.search(rb"location: (\S+)", told)
    return httpx.Response(int(told[9:12]), headers={"location": where[1].decode()} if where else {})


def endless(server: Server) -> httpx.Response:
    """Longer than any body may be, and it never says how long."""
    visit = server.visit()

    def pieces() -> Iterator[bytes]:
        yield f"token={form_token(visit)}&more=".encode()
        for _ in range(5):
            yield b"x" * (1 << 20)

    given = {"cookie": f"looseleaf={visit}", "origin": server.address}
    given["content-type"] = "application/x-www-form-urlencoded"
    return httpx.post(f"{server.address}/sign-out", content=pieces(), headers=given)


def token_on_the_page(server: Server) -> httpx.Response:
    return httpx.get(f"{server.address}/", headers={"cookie": f"looseleaf={server.token()}"})


def visit_at_the_api(server: Server) -> httpx.Response:
    return httpx.get(f"{server.address}/v1/memories", headers={"authorization": f"Bearer {server.visit()}"})


def open_hosts(server: Server, patch: Patch) -> None:
    patch.setattr(walls_of(server), "_hosts", _All())


def open_origins(server: Server, patch: Patch) -> None:
    patch.setattr(walls_of(server), "_origins", _All())


def no_need_of_an_origin(server: Server, patch: Patch) -> None:
    kept = Walls._body_fault

    def lax(self: Walls, scope: Any, *, has_origin: bool) -> Any:
        return kept(self, scope, has_origin=True)

    patch.setattr(Walls, "_body_fault", lax)


def any_type(server: Server, patch: Patch) -> None:
    patch.setattr(walls, "_JSON", ANY)
    patch.setattr(walls, "_FORM", ANY)


def any_size(server: Server, patch: Patch) -> None:
    patch.setattr(walls, "BODY_BYTES", 1 << 40)


def any_form(server: Server, patch: Patch) -> None:
    patch.setattr(forms, "hmac", SimpleNamespace(compare_digest=lambda *_: True))


def one_kind_of_secret(server: Server, patch: Patch) -> None:
    kept = Access._find

    def lax(self: Access, kind: str, secret: str) -> Any:
        visit = kept(self, "visits", secret)
        every = {"id": "x", "name": "x", "memories": ["*"], "scopes": ["read", "admin"], "expires": None}
        return kept(self, kind, secret) or kept(self, "tokens", secret) or (visit and every)

    patch.setattr(Access, "_find", lax)


EVIL = "http://evil.example"
WALLS: dict[str, tuple[int, Callable[[Server], httpx.Response], Callable[[Server, Patch], None]]] = {
    "a rebound host": (421, lambda server: api(server, host="evil.example"), open_hosts),
    "a rebound host on the page": (421, lambda server: page(server, host="evil.example"), open_hosts),
    "another origin": (403, lambda server: api(server, origin=EVIL), open_origins),
    "another origin on the page": (403, lambda server: page(server, origin=EVIL), open_origins),
    "no origin": (403, lambda server: page(server, origin="null"), open_origins),
    "a post from nowhere": (403, page_without_origin, no_need_of_an_origin),
    "a form at the API": (
        415,
        lambda server: api(server, **{"content-type": "application/x-www-form-urlencoded"}),
        any_type,
    ),
    "text at the API": (415, lambda server: api(server, **{"content-type": "text/plain"}), any_type),
    "JSON on the page": (415, lambda server: page(server, **{"content-type": "application/json"}), any_type),
    "a large body": (413, large, any_size),
    "an endless body": (413, endless, any_size),
    "a form without its token": (422, lambda server: page(server, form=""), any_form),
    "a form of another visit": (422, lambda server: page(server, form=form_token("x")), any_form),
    "a token as a cookie": (303, token_on_the_page, one_kind_of_secret),
    "a cookie as a token": (401, visit_at_the_api, one_kind_of_secret),
}


@pytest.mark.parametrize("name", WALLS)
def test_each_wall_stands_alone_and_its_test_notices_when_it_is_down(
    server: Server, name: str, monkeypatch: Patch
) -> None:
    status, attack, take_down = WALLS[name]
    refused = attack(server)
    assert (refused.status_code, refused.headers.get("location", "/signed-out")) == (status, "/signed-out")
    take_down(server, monkeypatch)
    let_in = attack(server)
    if let_in.status_code == 303 and status != 303:
        assert let_in.headers["location"] == "/signed-out", "it was carried out"
    else:
        # A form that is no form is not understood further in; but it came in.
        assert let_in.status_code != status or let_in.headers.get("location") not in (None, "/signed-out")


def test_what_is_all_right_comes_in(server: Server) -> None:
    assert api(server).status_code == 200
    assert api(server, origin=server.address).status_code == 200
    assert page(server).status_code == 303
    assert page(server, **{"sec-fetch-site": "same-origin"}).status_code == 303


# --- byte by byte ---------------------------------------------------------------------------


def sent(server: Server, *lines: str, body: bytes = b"") -> bytes:
    with socket.create_connection(("127.0.0.1", server.port), timeout=20) as sock:
        sock.sendall("\r\n".join((*lines, "", "")).encode("latin-1") + body)
        return sock.recv(1 << 16)


def test_hosts_and_origins_are_compared_whole(server: Server) -> None:
    good = f"Host: {server.host}"
    assert sent(server, "GET /live HTTP/1.1", good).startswith(b"HTTP/1.1 200")
    for wrong in (
        ("Host: evil.example", good),
        (f"Host: {server.host}.evil.example",),
        (f"Host: evil.example:{server.port}",),
        ("Host: 127.0.0.1",),
        ("Host: ",),
        (f"Host: user@{server.host}",),
    ):
        status = sent(server, "GET /live HTTP/1.1", *wrong)[9:12]
        assert status in (b"421", b"400"), wrong
    for origin in ("null", "file://", f"{server.address}.evil.example", f"{server.address}/", "", "*"):
        assert sent(server, "GET /live HTTP/1.1", good, f"Origin: {origin}")[9:12] == b"403", origin
    assert sent(server, "GET /live HTTP/1.0")[9:12] == b"421", "the oldest clients name no host"


def test_a_request_that_is_refused_is_not_read(server: Server) -> None:
    """The answer comes although most of the body was never sent."""
    head = (
        "POST /v1/memories/mira/recall HTTP/1.1",
        "Host: evil.example",
        "Content-Type: application/json",
        "Content-Length: 4000000",
    )
    told = sent(server, *head, body=b"{")
    assert told.startswith(b"HTTP/1.1 421")
    assert b"connection: close" in told.lower()


@pytest.mark.parametrize("length", ["-1", "1e3", "99999999999999999999", "0x10", "١"])
def test_a_length_that_makes_no_sense_is_refused(server: Server, length: str) -> None:
    try:
        head = ("POST /sign-out HTTP/1.1", f"Host: {server.host}", f"Origin: {server.address}")
        raw = "\r\n".join((*head, "Content-Length: ")).encode() + length.encode() + b"\r\n\r\n"
        with socket.create_connection(("127.0.0.1", server.port), timeout=20) as sock:
            sock.sendall(raw)
            assert sock.recv(1 << 16)[9:12] in (b"400", b"413")
    except ConnectionResetError:
        pass


def test_only_an_import_may_be_large(server: Server) -> None:
    def told(path: str, length: int) -> bytes:
        token = server.token("mira", scopes=("admin",))
        head = (f"POST {path} HTTP/1.1", f"Host: {server.host}", f"Authorization: Bearer {token}")
        return sent(server, *head, "Content-Type: application/json", f"Content-Length: {length}")[9:12]

    assert told("/v1/memories/mira/remember", walls.BODY_BYTES + 1) == b"413"
    assert told("/v1/memories/mira/import/", walls.BODY_BYTES + 1) == b"413"
    assert told("/v1/memories/mira/import", walls.IMPORT_BYTES + 1) == b"413"


# --- what answers say to a browser --------------------------------------------------------


@pytest.mark.parametrize(
    "path", ["/", "/signed-out", "/live", "/v1/memories", "/mcp/mira", "/nothing", "/metrics"]
)
def test_every_answer_tells_browsers_what_they_may_not(server: Server, path: str) -> None:
    for headers in ({}, {"host": "evil.example"}):
        answer = httpx.get(f"{server.address}{path}", headers=headers)
        assert answer.headers["content-security-policy"] == walls.POLICY
        assert answer.headers["x-content-type-options"] == "nosniff"
        # Where no referrer is sent at all, a form's origin is not sent either.
        assert answer.headers["referrer-policy"] == "same-origin"
        assert answer.headers["cross-origin-opener-policy"] == "same-origin"
        assert answer.headers["cross-origin-resource-policy"] == "same-origin"
        assert answer.headers["cache-control"] == "no-store"
        assert not [name for name in answer.headers if name.startswith("access-control")]
        assert "strict-transport-security" not in answer.headers
        assert "server" not in answer.headers


def test_whoever_guesses_links_is_limited_and_fills_no_audit(server: Server, monkeypatch: Patch) -> None:
    monkeypatch.setattr(server.serving.limits, "_rate", 5.0)
    code = server.access.make_code()
    before = Path(server.access.folder, "access.json").stat()
    with httpx.Client(base_url=server.address, headers={"origin": server.address}) as client:
        found = [client.post(f"/login/{number}").status_code for number in range(40)]
        assert set(found) == {403, 429}
        assert Path(server.access.folder, "access.json").stat() == before
        assert client.post(f"/login/{code}").status_code == 303, "a right one is let in at once"
    logins = [line["status"] for line in server.serving.audit.read_back() if line.get("act") == "login"]
    assert logins[0] == 303
    assert 1 <= logins.count(403) < len(found) / 4


def test_a_preflight_gets_nothing(server: Server) -> None:
    asked = {"origin": EVIL, "access-control-request-method": "POST"}
    assert httpx.options(f"{server.address}/v1/memories", headers=asked).status_code == 403


def test_behind_a_proxy_pages_come_only_from_it_and_programs_of_this_machine_without_a_cookie() -> None:
    made = Walls(lambda *_: None, names_of(8765, proxy="memory.example").allowed)  # type: ignore[arg-type]

    def status(**headers: str) -> int:
        given = [(name.encode(), value.encode()) for name, value in headers.items()]
        fault = made._fault({"method": "GET", "path": "/", "headers": given})
        return fault.status if fault is not None else 200

    assert status(host="memory.example", origin="https://memory.example", cookie="a=b") == 200
    assert status(host="127.0.0.1:8765") == 200
    assert status(host="127.0.0.1:8765", cookie="a=b") == 421
    assert status(host="memory.example:8765") == 421
    for origin in ("http://memory.example", "http://127.0.0.1:8765", "https://127.0.0.1:8765"):
        assert status(host="memory.example", origin=origin) == 403
        assert status(host="127.0.0.1:8765", origin=origin) == 403


def test_behind_https_browsers_are_told_to_stay_there(tmp_path: Path) -> None:
    from looseleaf.serve.http import AllowedHosts

    made = Walls(lambda *_: None, AllowedHosts(("a.example",)), is_https=True)  # type: ignore[arg-type]
    assert (b"strict-transport-security", b"max-age=31536000") in made._headers
