"""The files of `deploy/`: the server behind a real nginx, the unit as systemd reads it, the image where docker is."""

from __future__ import annotations

import re
import shlex
import shutil
import socket
import ssl
import subprocess
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from looseleaf.cli.arguments import parse
from looseleaf.memory import Memory
from looseleaf.pages.folder import init
from looseleaf.serve.access import Access
from looseleaf.serve.app import app
from looseleaf.serve.audit import Audit
from looseleaf.serve.http import listen
from looseleaf.serve.pool import Pool
from looseleaf.serve.runner import Names, names_of, runner
from looseleaf.serve.serving import Serving

DEPLOY = Path(__file__).parent.parent.parent / "deploy"
NGINX = shutil.which("nginx") or (shutil.which("nginx", path="/usr/sbin"))
NAME = "memory.example"
SOON = 30.0

_AROUND = """
daemon off;
master_process off;
pid {place}/nginx.pid;
error_log {place}/error.log;
events {{ worker_connections 128; }}
http {{
    access_log off;
    client_body_temp_path {place}/body;
    proxy_temp_path {place}/proxy;
    fastcgi_temp_path {place}/fastcgi;
    uwsgi_temp_path {place}/uwsgi;
    scgi_temp_path {place}/scgi;
{inside}
}}
"""


class Behind:
    """A server behind nginx. `client` speaks to nginx as a browser does, which knows it by its name."""

    def __init__(self, place: Path) -> None:
        self.place = place
        self.root = place / "root"
        init(str(self.root / "mira"))
        self.access = Access(str(place / "access"))
        self.sock = listen("127.0.0.1", 0)
        port = self.sock.getsockname()[1]
        self.names: Names = names_of(port, proxy=NAME)
        pool = Pool(str(self.root))
        self.serving = Serving(pool, self.access, Audit(self.access.folder), is_https=self.names.is_https)
        self._runner = runner(app(self.serving, self.names.allowed), self.serving)
        self.port = free_port()
        self._nginx = self._start_nginx(port)
        self._thread = threading.Thread(target=self._runner.run, kwargs={"sockets": [self.sock]})
        self._thread.start()

    def _start_nginx(self, port: int) -> subprocess.Popen[bytes]:
        cert, key = self.place / "cert.pem", self.place / "key.pem"
        command = "openssl req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=memory.example"
        made = [*command.split(), "-out", str(cert), "-keyout", str(key)]
        subprocess.run(made, check=True, capture_output=True)
        # As it is shipped, but for what is another here: the ports, and where the certificate is.
        text = (DEPLOY / "nginx.conf").read_text()
        for pattern, new in (
            (r"127\.0\.0\.1:8765", f"127.0.0.1:{port}"),
            (r"listen 443 ssl http2;", f"listen 127.0.0.1:{self.port} ssl http2;"),
            (r"\s*listen \[::\]:443 ssl http2;", ""),
            (r"\S+/fullchain\.pem", str(cert)),
            (r"\S+/privkey\.pem", str(key)),
        ):
            text, count = re.subn(pattern, new, text)
            assert count, pattern
        config = self.place / "nginx.conf"
        config.write_text(_AROUND.format(place=self.place, inside=text))
        started = subprocess.Popen(
            [str(NGINX), "-c", str(config), "-p", str(self.place)], stderr=subprocess.DEVNULL
        )
        until = time.monotonic() + SOON
        while True:
            assert started.poll() is None, (self.place / "error.log").read_text()
            try:
                socket.create_connection(("127.0.0.1", self.port)).close()
                return started
            except OSError:
                assert time.monotonic() < until
                time.sleep(0.02)

    def client(self, **headers: str) -> httpx.Client:
        checked = ssl.create_default_context(cafile=str(self.place / "cert.pem"))
        checked.check_hostname = False
        at = f"https://127.0.0.1:{self.port}"
        return httpx.Client(base_url=at, verify=checked, headers={"host": NAME} | headers, timeout=SOON)

    def token(self, *scopes: str) -> str:
        return self.access.make_token("x", ["mira"], scopes)[1]

    def close(self) -> None:
        self._nginx.terminate()
        self._nginx.communicate()
        self._runner.should_exit = True
        self._thread.join()
        self.sock.close()


def free_port() -> int:
    with socket.socket() as sock:
        sock.bind(("127.0.0.1", 0))
        return int(sock.getsockname()[1])


@pytest.fixture(scope="module")
def behind(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Behind]:
    if NGINX is None or shutil.which("openssl") is None:
        pytest.skip("nginx or openssl is not installed")
    server = Behind(tmp_path_factory.mktemp("proxy"))
    yield server
    server.close()


def test_a_person_signs_in_by_the_name_of_the_proxy(behind: Behind) -> None:
    assert behind.names.address == f"https://{NAME}"
    with behind.client(origin=f"https://{NAME}") as person:
        path = f"/login/{behind.access.make_code()}"
        assert person.get(path).status_code == 200
        signed = person.post(path)
        assert signed.status_code == 303
        cookie = signed.headers["set-cookie"]
        assert cookie.startswith("__Host-looseleaf=")
        assert "Secure" in cookie
        assert signed.headers["location"] == "/", "no address of the inside"
        home = person.get("/", headers={"cookie": cookie.split(";")[0]}, follow_redirects=False)
        assert home.headers["location"] == "/m/mira/"
        assert "strict-transport-security" in home.headers
        assert (
            person.get("/", headers={"cookie": f"looseleaf={'x' * 43}"}).headers["location"] == "/signed-out"
        )


def test_what_a_client_says_of_itself_is_not_believed(behind: Behind) -> None:
    claims = {"x-forwarded-for": "127.0.0.1", "x-forwarded-host": "127.0.0.1", "forwarded": "for=127.0.0.1"}
    with behind.client(**claims) as client:
        assert client.get("/v1/memories").status_code == 401
        assert client.get("/live", headers={"host": "evil.example"}).status_code == 421
        assert client.post("/sign-out", headers={"origin": "https://evil.example"}).status_code == 403


def test_programs_use_rest_and_mcp_through_it(behind: Behind) -> None:
    with behind.client(authorization=f"Bearer {behind.token('read', 'write')}") as client:
        assert client.post("/v1/memories/mira/recall", json={"query": "tea"}).status_code == 200
        asked = {"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {}}
        accepts = {"accept": "application/json, text/event-stream", "mcp-protocol-version": "2025-06-18"}
        told = client.post("/mcp/mira", json=asked, headers=accepts).json()
        assert len(told["result"]["tools"]) > 5
        assert client.get("/ready").text == "ready\n"


def test_events_come_through_it_at_once(behind: Behind) -> None:
    secret = behind.token("read")
    with (
        behind.client(authorization=f"Bearer {secret}") as client,
        client.stream("GET", "/v1/memories/mira/events") as stream,
    ):
        lines: Any = stream.iter_lines()
        assert next(line for line in lines if line == ": listening")
        with Memory(behind.root / "mira") as memory:
            memory.remember("I like tea.")
        assert next(line for line in lines if line.startswith("event: ")) in (
            "event: edited",
            "event: placed",
        )


def test_a_large_body_is_refused_by_the_one_that_knows(behind: Behind) -> None:
    token = behind.token("read", "write", "admin")
    with behind.client(authorization=f"Bearer {token}") as client:
        try:
            answer = client.post("/v1/memories/mira/remember", json={"text": "x" * (5 << 20)})
            assert (answer.status_code, "too-large" in answer.text) == (413, True)
        except httpx.TransportError:
            pass  # it was cut off while it was sent


# --- the other files ------------------------------------------------------------------------


def test_the_unit_is_one_that_systemd_understands() -> None:
    unit = (DEPLOY / "looseleaf.service").read_text()
    start = re.search(r"^ExecStart=/opt/looseleaf/bin/looseleaf (.+)$", unit, re.MULTILINE)
    assert start is not None
    assert parse(shlex.split(start[1])).run == "serve.serve"
    if shutil.which("systemd-analyze") is None:
        pytest.skip("systemd is not installed")
    done = subprocess.run(
        ["systemd-analyze", "verify", str(DEPLOY / "looseleaf.service")],
        capture_output=True,
        text=True,
        check=False,
    )
    # The program is not where the unit says.
    told = [line for line in done.stderr.splitlines() if line and "is not executable" not in line]
    assert [line for line in told if "looseleaf.service" in line] == []


def test_the_image_starts_what_the_program_knows() -> None:
    told = (DEPLOY / "Dockerfile").read_text()
    entry = re.search(r"^ENTRYPOINT \[(.+)\]$", told, re.MULTILINE)
    assert entry is not None
    program, *arguments = [part.strip(' "') for part in entry[1].split(",")]
    assert (program, parse([*arguments, "--proxy", NAME]).run) == ("looseleaf", "serve.serve")
    assert "USER looseleaf" in told


@pytest.mark.long
def test_the_image_is_built() -> None:
    docker = shutil.which("docker")
    base = "python:3.13-slim"
    look = [str(docker), "image", "inspect", base]
    if docker is None or subprocess.run(look, capture_output=True, check=False).returncode:
        pytest.skip("docker, or its image of Python, is not there")
    subprocess.run(
        [docker, "build", "-f", str(DEPLOY / "Dockerfile"), "-t", "looseleaf-test", str(DEPLOY.parent)],
        check=True,
    )
