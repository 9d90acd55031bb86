"""`serve`, `login` and `token` as commands; and the server as a process: it starts, says where, and ends in order."""

from __future__ import annotations

import gc
import json
import os
import re
import signal
import ssl
import subprocess
import sys
import threading
import time
from pathlib import Path

import httpx
import pytest

from conftest import Run
from looseleaf.cli.main import main
from looseleaf.memory import Memory
from looseleaf.pages.folder import init
from looseleaf.serve import runner as runner_module
from looseleaf.serve.access import access_folder
from looseleaf.serve.runner import Claim, address_of, names_of, raise_files
from serving import SOON, served


@pytest.fixture
def settings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "settings"))
    monkeypatch.delenv("LOOSELEAF_HOME", raising=False)
    return tmp_path / "settings"


@pytest.fixture
def root(tmp_path: Path, settings: Path) -> Path:
    for name in ("mira", "noa"):
        init(str(tmp_path / "root" / name))
    return tmp_path / "root"


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str], settings: Path) -> Run:
    def call(*arguments: str) -> tuple[int, str, str]:
        code = main(arguments)
        out, error = capsys.readouterr()
        return code, out, error

    return call


# --- one process, from its first line to its last ---------------------------------------------


def test_from_a_command_to_the_page_and_to_rest(root: Path, run: Run) -> None:
    with served("--root", str(root), "--json-log") as server:
        assert re.fullmatch(rf"http://looseleaf\.localhost:{server.port}/login/[\w-]{{40,}}", server.link)
        host = {"host": f"looseleaf.localhost:{server.port}"}
        with httpx.Client(base_url=server.address, headers=host) as person:
            path = server.link.split(str(server.port))[1]
            assert person.get(path).status_code == 200, "a preview spends nothing"
            here = {"origin": f"http://looseleaf.localhost:{server.port}"}
            signed = person.post(path, headers=here)
            assert signed.status_code == 303
            cookie = signed.headers["set-cookie"]
            assert "HttpOnly" in cookie
            assert "SameSite=strict" in cookie
            assert "Secure" not in cookie
            visit = {"cookie": cookie.split(";")[0]}
            assert "mira" in person.get("/", headers=visit).text
            assert person.post(path, headers=here).status_code == 403, "it was spent"

        code, out, _ = run("login", "--root", str(root))
        assert (code, out.startswith(f"http://looseleaf.localhost:{server.port}/login/")) == (0, True)
        code, out, _ = run("token", "new", "codex", "--root", str(root), "--memories", "mira")
        secret = {"authorization": f"Bearer {out.strip()}"}
        assert httpx.get(f"{server.address}/v1/memories/mira/facts", headers=secret).status_code == 200
        code, out, _ = run("token", "list", "--root", str(root), "--json")
        [token] = json.loads(out)
        assert (token["name"], token["memories"], token["scopes"]) == ("codex", ["mira"], ["read"])
        assert run("token", "revoke", token["id"], "--root", str(root))[0] == 0
        assert httpx.get(f"{server.address}/v1/memories/mira/facts", headers=secret).status_code == 401

        code, _, error = run("serve", "--root", str(root), "--port", "0")
        assert code == 2
        assert f"one serves this already, at http://looseleaf.localhost:{server.port}" in error
        assert server.end() == 0
    first, *lines = server.errors.splitlines()
    assert first.startswith(f"looseleaf: serving {root}")
    told = [json.loads(line) for line in lines]
    assert {each["route"] for each in told} >= {"/login/{code}", "/", "/v1/memories/{memory}/facts"}
    assert server.link.rpartition("/")[2] not in server.errors, "what opens the door is not in the log"
    assert run("login", "--root", str(root))[0] == 2


def test_a_server_that_is_stopped_lets_answers_finish_and_ends_streams(root: Path, run: Run) -> None:
    secret = run("token", "new", "x", "--root", str(root), "--memories", "*", "--scopes", "read,write")[
        1
    ].strip()
    headers = {"authorization": f"Bearer {secret}"}
    with served("--root", str(root)) as server:
        with httpx.Client(base_url=server.address, headers=headers, timeout=SOON) as client:
            client.get("/v1/memories/mira/facts").raise_for_status()
            found: list[int] = []
            lock = Memory(root / "mira")
            held = lock.parts.context.store.lock()
            held.__enter__()

            def remember() -> None:
                found.append(
                    client.post("/v1/memories/mira/remember", json={"text": "I like tea."}).status_code
                )

            asking = threading.Thread(target=remember)
            with httpx.stream("GET", f"{server.address}/v1/memories/mira/events", headers=headers) as stream:
                lines = stream.iter_lines()
                assert next(lines).startswith("retry")
                asking.start()
                time.sleep(0.3)
                server.process.send_signal(signal.SIGTERM)
                assert list(lines) is not None
            held.__exit__(None, None, None)
            lock.close()
            asking.join(SOON)
        assert server.wait() == 0
    assert found in ([200], [201])
    assert "Traceback" not in server.errors
    with Memory(root / "mira") as memory:
        assert any("tea" in fact.object for fact in memory.facts())


def test_one_memory_is_served_under_the_name_of_its_folder(root: Path, run: Run) -> None:
    with served("--memory", str(root / "mira")) as server:
        code, out, error = run(
            "--memory", str(root / "mira"), "token", "new", "mine", "--scopes", "read,admin"
        )
        assert code == 0, error
        assert "may read, admin in mira" in error
        headers = {"authorization": f"Bearer {out.strip()}"}
        told = httpx.get(f"{server.address}/v1/memories", headers=headers).json()
        assert [each["name"] for each in told["items"]] == ["mira"]
        assert server.end(signal.SIGINT) == 0
    assert "Traceback" not in server.errors


def test_a_server_ends_with_its_process_s_signal(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """In this process, which is where coverage is measured."""

    def end() -> None:
        until = time.monotonic() + SOON
        while time.monotonic() < until:
            address = address_of(access_folder(str(root)))
            try:
                found = httpx.get(str(address).replace("looseleaf.localhost", "127.0.0.1") + "/live")
                assert found.text == "live\n"
            except (httpx.HTTPError, httpx.InvalidURL):
                time.sleep(0.05)
            else:
                os.kill(os.getpid(), signal.SIGTERM)
                return

    was_on = gc.isenabled()
    ending = threading.Thread(target=end)
    ending.start()
    assert main(["serve", "--root", str(root), "--port", "0"]) == 0
    ending.join()
    assert gc.isenabled() == was_on
    assert "/login/" in capsys.readouterr().out


def test_over_tls_cookies_are_secure_and_plain_http_gets_nothing(root: Path, tmp_path: Path) -> None:
    cert, key = certificate(tmp_path)
    with served("--root", str(root), "--tls-cert", cert, "--tls-key", key) as server:
        assert server.link.startswith("https://looseleaf.localhost:")
        checked = ssl.create_default_context(cafile=cert)
        checked.check_hostname = False
        address = f"https://127.0.0.1:{server.port}"
        path = server.link.split(str(server.port))[1]
        with httpx.Client(base_url=address, verify=checked) as person:
            signed = person.post(path, headers={"origin": address})
            assert signed.status_code == 303
            assert signed.headers["set-cookie"].startswith("__Host-looseleaf=")
            assert "Secure" in signed.headers["set-cookie"]
            assert "strict-transport-security" in signed.headers
            assert person.post(path, headers={"origin": f"http://127.0.0.1:{server.port}"}).status_code == 403
        with pytest.raises(httpx.TransportError):
            httpx.get(f"http://127.0.0.1:{server.port}/live")
        assert server.end() == 0


def certificate(folder: Path) -> tuple[str, str]:
    cert, key = str(folder / "cert.pem"), str(folder / "key.pem")
    command = [
        "openssl",
        "req",
        "-x509",
        "-newkey",
        "rsa:2048",
        "-nodes",
        "-days",
        "2",
        "-subj",
        "/CN=localhost",
    ]
    try:
        subprocess.run([*command, "-out", cert, "-keyout", key], check=True, capture_output=True)
    except FileNotFoundError:
        pytest.skip("openssl is not installed")
    return cert, key


# --- what is refused ------------------------------------------------------------------------------


def test_other_machines_are_let_in_only_by_name_and_encrypted(root: Path, run: Run) -> None:
    rows: list[tuple[tuple[str, ...], tuple[str, ...]]] = [
        (("--host", "0.0.0.0"), ("its name with --allow-host", "a certificate with --tls-cert")),
        (("--host", "0.0.0.0", "--allow-host", "a.example"), ("a certificate with --tls-cert",)),
        (("--host", "::", "--tls-cert", "a", "--tls-key", "b"), ("its name with --allow-host",)),
    ]
    for options, wanted in rows:
        code, _, error = run("serve", "--root", str(root), *options)
        assert code == 2
        assert "can be reached from other machines" in error
        assert [each for each in wanted if each in error] == list(wanted)


def test_what_makes_no_sense_is_refused_in_one_sentence(
    root: Path, run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path / "nobody"))
    (tmp_path / "bad.pem").write_text("no certificate")
    bad = str(tmp_path / "bad.pem")
    at = ("--root", str(root))
    rows: list[tuple[tuple[str, ...], str]] = [
        (("serve", *at, "--json"), "no JSON output"),
        (("serve", *at, "--tls-cert", "a"), "go together"),
        (("serve", *at, "--port", "0", "--tls-cert", bad, "--tls-key", bad), "cannot be used"),
        (("serve", *at, "--port", "0", "--allow-host", "*"), "is not a host name"),
        (("serve", *at, "--port", "0", "--proxy", "https://a.example/"), "is not a host name"),
        (("serve", *at, "--memory", "x"), "Give one of the two"),
        (("serve", "--root", str(tmp_path / "none")), "there is no folder"),
        (("serve", "--root", str(root / "mira")), "is a memory, and not a folder of memories"),
        (("serve",), "there is no memory"),
        (("login", *at), "no server of this memory runs"),
        (("token", "new", *at), "what the token is for"),
        (("token", "revoke", *at), "the id of the token"),
        (("token", "revoke", "ABC", *at), "there is none with the id"),
        (("token", "new", "x", *at), "name its memories"),
        (("token", "new", "x", *at, "--memories", "mia"), "There are: mira, noa"),
        (("token", "new", "x", *at, "--memories", "mira", "--scopes", "root"), "the scopes are"),
        (("token", "new", "x", *at, "--memories", "mira", "--days", "-1"), "--days"),
    ]
    for arguments, wanted in rows:
        code, _, error = run(*arguments)
        assert (code, wanted in error) == (2, True), (arguments, error)
        assert error.count("\n") == 1


def test_without_the_packages_it_is_said_how_to_get_them(
    root: Path, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    from looseleaf.cli.verbs import serve

    monkeypatch.setattr(serve, "is_there", lambda _: False)
    for verb in (("serve",), ("login",), ("token", "list")):
        code, _, error = run(*verb, "--root", str(root))
        assert code == 2
        assert "the extra `serve`" in error


def test_tokens_are_listed_for_people(root: Path, run: Run) -> None:
    at = ("--root", str(root))
    assert "No tokens" in run("token", "list", *at)[1]
    made = run(
        "token", "new", "mine", *at, "--memories", "mira,noa", "--voice", "user", "--days", "2", "--json"
    )
    assert set(json.loads(made[1])) >= {"id", "token", "voice", "expires"}
    out = run("token", "list", *at)[1]
    assert re.search(r"mine +mira, noa +read +main +user +to \d{4}-", out)


# --- names, files, and one server of a folder ---------------------------------------------------------


def test_a_server_has_the_names_that_browsers_use() -> None:
    plain = names_of(8765)
    assert (plain.address, plain.is_https) == ("http://looseleaf.localhost:8765", False)
    assert {"127.0.0.1:8765", "localhost:8765", "looseleaf.localhost:8765"} <= set(plain.allowed.hosts)
    assert "http://looseleaf.localhost:8765" in plain.allowed.origins
    behind = names_of(8765, proxy="Memory.example")
    assert (behind.address, behind.is_https) == ("https://memory.example", True)
    assert {"memory.example", "127.0.0.1:8765"} <= set(behind.allowed.hosts)
    assert behind.allowed.origins == ("https://memory.example",)
    assert "memory.example" not in behind.allowed.bare
    more = names_of(8765, "other.example", proxy="memory.example:8443")
    assert more.address == "https://memory.example:8443"
    assert more.allowed.origins == ("https://memory.example:8443", "https://other.example")
    tls = names_of(443, "memory.example,other.example", is_tls=True)
    assert tls.address == "https://memory.example"
    assert "127.0.0.1" in tls.allowed.hosts
    assert not [origin for origin in tls.allowed.origins if origin.startswith("http:")]
    assert names_of(8443, "memory.example", is_tls=True).address == "https://memory.example:8443"
    assert names_of(8443, "memory.example:9", is_tls=True).address == "https://memory.example:9"


def test_a_folder_has_one_server(tmp_path: Path) -> None:
    folder = str(tmp_path / "access")
    assert address_of(folder) is None
    with Claim(folder) as claim:
        assert address_of(folder) is None, "it has not said where it is"
        claim.tell("http://a:1")
        assert address_of(folder) == "http://a:1"
        with pytest.raises(Exception, match="one serves this already, at http://a:1"), Claim(folder):
            pass
    assert address_of(folder) is None
    with Claim(folder):
        pass


def test_as_many_files_as_the_system_allows_and_not_without_end(monkeypatch: pytest.MonkeyPatch) -> None:
    import resource

    limits = {"now": (256, resource.RLIM_INFINITY)}

    def setrlimit(_: int, given: tuple[int, int]) -> None:
        limits["now"] = given

    monkeypatch.setattr(resource, "getrlimit", lambda _: limits["now"])
    monkeypatch.setattr(resource, "setrlimit", setrlimit)
    assert raise_files() == limits["now"][0] == runner_module.FILES
    assert raise_files() == runner_module.FILES, "they are enough"
    limits["now"] = (256, 512)
    assert raise_files() == 512

    def refuse(_: int, given: tuple[int, int]) -> None:
        raise ValueError

    limits["now"] = (256, 512)
    monkeypatch.setattr(resource, "setrlimit", refuse)
    assert raise_files() == 256


def test_warnings_of_the_program_are_lines_of_json_too() -> None:
    import logging

    made = runner_module._JsonLines().format(
        logging.LogRecord("looseleaf", logging.WARNING, "", 0, "It is %s.", ("odd",), None)
    )
    told = json.loads(made)
    assert (told["level"], told["message"]) == ("warning", "It is odd.")
    try:
        raise RuntimeError("a bug")
    except RuntimeError:
        record = logging.LogRecord("x", logging.ERROR, "", 0, "It failed", (), sys.exc_info())
    assert "a bug" in json.loads(runner_module._JsonLines().format(record))["error"]
    assert os.environ  # as it was
