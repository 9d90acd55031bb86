"""What is seen of each request: numbers and lines that name routes, and never what was asked or answered."""

from __future__ import annotations

import io
import json
import re
import time
from collections.abc import Iterator

import httpx
import pytest

from looseleaf.memory import Memory
from looseleaf.pages.folder import init
from looseleaf.serve.metrics import CUT_OFF, Log
from looseleaf.serve.serving import Limits
from serving import SOON, Server, serving

WORD = "Northwind"


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    place = tmp_path_factory.mktemp("metrics")
    init(str(place / "memories" / "mira"))
    with Memory(place / "memories" / "mira") as memory:
        memory.remember(f"I work at {WORD}.")
    with serving(place) as server:
        yield server


def metrics(server: Server) -> dict[str, float]:
    secret = server.token("mira")
    answer = httpx.get(f"{server.address}/metrics", headers={"authorization": f"Bearer {secret}"})
    assert answer.headers["content-type"].startswith("text/plain; version=0.0.4")
    lines = [line for line in answer.text.splitlines() if not line.startswith("#")]
    return {name: float(value) for name, _, value in (line.rpartition(" ") for line in lines)}


def test_requests_are_counted_by_their_routes_and_say_nothing_else(server: Server) -> None:
    before = metrics(server)
    headers = {"authorization": f"Bearer {server.token('mira')}"}
    with httpx.Client(base_url=server.address, headers=headers) as client:
        assert WORD in client.post("/v1/memories/mira/recall", json={"query": f"Who is {WORD}?"}).text
        client.get(f"/v1/memories/{WORD.lower()}/facts")
        client.get(f"/{WORD}?q={WORD}")
        client.get("/live", headers={"host": f"{WORD}.example"})
        client.request(WORD.upper(), "/live")
    told = metrics(server)
    new = {name for name, value in told.items() if value != before.get(name) and "seconds" not in name}
    assert {
        'looseleaf_requests_total{method="POST",route="/v1/memories/{memory}/recall",status="200"}',
        'looseleaf_requests_total{method="GET",route="/v1/memories/{memory}/facts",status="404"}',
        'looseleaf_requests_total{method="GET",route="-",status="404"}',
        'looseleaf_requests_total{method="GET",route="-",status="421"}',
    } <= new
    assert WORD.lower() not in json.dumps(told).lower()
    assert told["looseleaf_open_memories"] == 1
    assert (told["looseleaf_jobs"], told["looseleaf_streams"]) == (0, 0)
    took = 'looseleaf_request_seconds_count{method="POST",route="/v1/memories/{memory}/recall"}'
    assert told[took] == 1


def test_who_asks_too_often_is_counted(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(server.serving, "limits", Limits(rate=2))
    secret = server.token("mira")
    with httpx.Client(base_url=server.address, headers={"authorization": f"Bearer {secret}"}) as client:
        told = [client.get("/metrics").status_code for _ in range(8)]
    assert set(told) == {200, 429}
    assert metrics(server)["looseleaf_rate_limited_total"] == told.count(429)


def test_numbers_are_for_those_who_may_read(server: Server) -> None:
    assert httpx.get(f"{server.address}/metrics").status_code == 401
    writes = server.token("mira", scopes=("write",))
    answer = httpx.get(f"{server.address}/metrics", headers={"authorization": f"Bearer {writes}"})
    assert (answer.status_code, answer.json()["status"]) == (403, 403)
    visit = {"cookie": f"looseleaf={server.visit()}"}
    assert httpx.get(f"{server.address}/metrics", headers=visit).status_code == 401


def test_a_server_that_stops_is_alive_and_not_ready(server: Server) -> None:
    assert httpx.get(f"{server.address}/live").text == "live\n"
    assert httpx.get(f"{server.address}/ready").text == "ready\n"
    server.serving.is_stopping = True
    try:
        assert httpx.get(f"{server.address}/live").status_code == 200
        answer = httpx.get(f"{server.address}/ready")
        assert (answer.status_code, answer.headers["retry-after"]) == (503, "5")
    finally:
        server.serving.is_stopping = False


# --- lines ----------------------------------------------------------------------------------


@pytest.fixture
def lines(server: Server) -> Iterator[io.StringIO]:
    told = io.StringIO()
    watched = server._runner.config.app
    watched.log = Log(told, is_json=True)
    yield told
    watched.log = None


def test_each_request_is_one_line_without_content(server: Server, lines: io.StringIO) -> None:
    secret = server.token("mira")
    token = server.access.token_of(secret)
    assert token is not None
    headers = {"authorization": f"Bearer {secret}"}
    with httpx.Client(base_url=server.address, headers=headers) as client:
        client.post("/v1/memories/mira/recall", json={"query": f"Who is {WORD}?"})
        client.get("/v1/memories/mira/pages/USER.md")
        client.get(f"/v1/memories/{WORD.lower()}/facts")
        client.get(f"/login/{WORD}")
        client.get(f"/m/mira/search?q={WORD}")
    until = time.monotonic() + SOON
    while lines.getvalue().count("\n") < 5 and time.monotonic() < until:
        time.sleep(0.01)  # a line is written after its answer
    told = [json.loads(line) for line in lines.getvalue().splitlines()]
    shown = [(each["method"], each["route"], each["status"], each["token"], each["memory"]) for each in told]
    assert shown == [
        ("POST", "/v1/memories/{memory}/recall", 200, token.id, "mira"),
        ("GET", "/v1/memories/{memory}/pages/{path:page}", 200, token.id, "mira"),
        ("GET", "/v1/memories/{memory}/facts", 404, token.id, ""),
        ("GET", "/login/{code}", 200, "", ""),
        ("GET", "/m/{name}/search", 303, "", ""),
    ]
    assert all(each["ts"] > 0 and each["ms"] >= 0 for each in told)
    assert WORD.lower() not in lines.getvalue().lower()
    assert secret not in lines.getvalue()


def test_what_an_address_has_in_place_of_a_memory_is_in_no_line(server: Server) -> None:
    told, watched = io.StringIO(), server._runner.config.app
    watched.log = Log(told)
    try:
        headers = {"authorization": f"Bearer {server.token()}"}
        with httpx.Client(base_url=server.address, headers=headers) as client:
            for place in ("/v1/memories/{}/facts", "/mcp/{}", "/m/{}/"):
                for name in ("x%0Aforged%1B%5B31m", WORD.lower(), "x%00"):
                    client.get(place.format(name))
        until = time.monotonic() + SOON
        while told.getvalue().count("\n") < 9 and time.monotonic() < until:
            time.sleep(0.01)
    finally:
        watched.log = None
    lines = told.getvalue().splitlines()
    assert len(lines) == 9
    assert all(re.match(r"\d\d:\d\d:\d\d \d\d\d GET ", line) for line in lines)
    assert not re.search(f"forged|\x1b|{WORD}", told.getvalue(), re.IGNORECASE)


def test_short_lines_are_for_people(server: Server) -> None:
    told = io.StringIO()
    log = Log(told)
    log.write(
        {"ts": 0.0, "method": "GET", "route": "/live", "status": 200, "ms": 1.25, "token": "", "memory": ""}
    )
    log.write(
        {
            "ts": 0.0,
            "method": "POST",
            "route": "/v1",
            "status": 499,
            "ms": 9.0,
            "token": "AB",
            "memory": "mira",
        }
    )
    first, second = told.getvalue().splitlines()
    assert re.fullmatch(r"\d\d:\d\d:\d\d 200 GET         1\.2 ms  /live", first)
    assert second.endswith("499 POST        9.0 ms  /v1  AB mira")


def test_a_log_that_nobody_reads_stops_no_request(server: Server) -> None:
    closed = io.StringIO()
    closed.close()
    watched = server._runner.config.app
    watched.log = Log(closed)
    try:
        assert httpx.get(f"{server.address}/live").status_code == 200
    finally:
        watched.log = None
    assert CUT_OFF == 499
