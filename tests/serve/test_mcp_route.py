"""MCP beside the page and REST: the official client over real HTTP, with tokens that see different memories."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path
from typing import Any

import anyio
import httpx
import httpx2
import pytest
from mcp import Client
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.exceptions import MCPError

from looseleaf.memory import Memory
from looseleaf.pages.folder import init
from looseleaf.tools.catalogue import TOOLS
from serving import Server, serving

MODES = ("legacy", "auto")
READING = {name for name, tool in TOOLS.items() if tool.reads}


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory, database: str) -> Iterator[Server]:
    with serving(tmp_path_factory.mktemp("mcp-route"), database=database) as server:
        for name, city in (("mira", "Lyon"), ("noa", "Porto")):
            init(server.where(name))
            with Memory(server.where(name)) as memory:
                memory.remember(f"I live in {city}.")
        yield server


def asked(
    server: Server, path: str, secret: str, ask: Callable[[Client], Awaitable[Any]], mode: str = "auto"
) -> Any:
    """What a client gets to know in one session."""

    async def session() -> Any:
        headers = {"authorization": f"Bearer {secret}"}
        async with httpx2.AsyncClient(headers=headers) as http:
            transport = streamable_http_client(f"{server.address}{path}", http_client=http)
            async with Client(transport, mode=mode) as client:
                return await ask(client)

    return anyio.run(session)


async def tools(client: Client) -> set[str]:
    return {tool.name for tool in (await client.list_tools()).tools}


def calling(name: str, **arguments: Any) -> Callable[[Client], Awaitable[str]]:
    async def call(client: Client) -> str:
        answer = await client.call_tool(name, arguments)
        return str(answer.content[0].text)

    return call


@pytest.mark.parametrize("mode", MODES)
def test_a_token_that_writes_has_all_tools_and_one_that_reads_those_that_read(
    server: Server, mode: str
) -> None:
    writes, reads = server.token("mira", scopes=("read", "write")), server.token("mira")
    assert asked(server, "/mcp/mira", writes, tools, mode) == TOOLS.keys()
    assert asked(server, "/mcp/mira", reads, tools, mode) == READING
    assert "read-only" in asked(
        server, "/mcp/mira", reads, calling("remember", topic="tea", content="x"), mode
    )


@pytest.mark.parametrize("mode", MODES)
def test_one_server_serves_all_memories_and_each_token_sees_its_own(server: Server, mode: str) -> None:
    mira, both = server.token("mira"), server.token("mira", "noa")
    for path, secret, city in (
        ("/mcp/mira", mira, "Lyon"),
        ("/mcp/noa", both, "Porto"),
        ("/mcp", mira, "Lyon"),
    ):
        assert city in asked(server, path, secret, calling("recall", query="Where do I live?"), mode)
    started = asked(server, "/mcp/noa", both, lambda client: client.get_prompt("start"), mode)
    assert "Porto" in started.messages[0].content.text
    index = asked(server, "/mcp/noa", both, lambda client: client.read_resource("looseleaf://index"), mode)
    assert "USER.md" in index.contents[0].text


@pytest.mark.parametrize("mode", MODES)
def test_a_token_that_only_writes_is_told_nothing_of_what_is_there(server: Server, mode: str) -> None:
    writes = server.token("mira", scopes=("write",))
    assert asked(server, "/mcp/mira", writes, tools, mode) == TOOLS.keys() - READING - {"memory_forget"}
    for name, given in (
        ("recall", {"query": "Where do I live?"}),
        ("memory_read", {"path": "USER.md"}),
        ("memory_forget", {"what": "Home"}),
    ):
        told = asked(server, "/mcp/mira", writes, calling(name, **given), mode)
        assert "may only write" in told
        assert "Lyon" not in told
    reading: tuple[Callable[[Client], Awaitable[Any]], ...] = (
        lambda client: client.read_resource("looseleaf://page/USER.md"),
        lambda client: client.list_resources(),
        lambda client: client.get_prompt("start"),
        lambda client: client.get_prompt("recall", {"query": "Where do I live?"}),
    )

    async def is_refused(client: Client) -> None:
        for read in reading:
            with pytest.raises(MCPError, match="Method not found"):
                await read(client)

    asked(server, "/mcp/mira", writes, is_refused, mode)


def test_an_agent_finds_its_own_talk_and_no_other_s(server: Server) -> None:
    with Memory(server.where("noa")) as memory:
        memory.record(user="The secret of the quartermaster is zanzibarplum.")
        memory.record(assistant="Noted.")
    with Memory(server.where("noa"), agent="codex") as memory:
        memory.record(user="The lamp of the lighthouse keeper is broken.")
        memory.record(assistant="Noted.")
    both = ("read", "write")
    codex, main = (server.token("noa", scopes=both, agent=name) for name in ("codex", "main"))
    person = server.token("noa", scopes=("read", "review"), agent="codex")

    def found(secret: str, query: str) -> str:
        answer = asked(
            server, "/mcp/noa", secret, lambda client: client.get_prompt("recall", {"query": query})
        )
        tool = asked(server, "/mcp/noa", secret, calling("recall", query=query))
        return f"{answer.messages[0].content.text}\n{tool}"

    secret, own = "What is the quartermaster's secret?", "What of the lamp of the lighthouse keeper?"
    assert "zanzibarplum" in found(main, secret)
    assert "zanzibarplum" in found(person, secret)
    assert "zanzibarplum" not in found(codex, secret)
    assert "broken" in found(codex, own)
    assert "broken" not in found(main, own)


def test_what_a_tool_writes_is_of_the_token_s_agent_and_stands_in_the_audit(server: Server) -> None:
    secret = server.token("noa", scopes=("read", "write"), agent="codex")
    token = server.access.token_of(secret)
    assert token is not None
    asked(server, "/mcp/noa", secret, calling("remember", topic="kettle", content="The kettle whistles."))
    asked(server, "/mcp/noa", secret, calling("memory_read", path="facts/kettle.md"))
    with Memory(server.where("noa")) as memory:
        assert next(iter(memory.history.edits("facts/kettle.md"))).author == "agent:codex"
    lines = [line for line in server.serving.audit.read_back() if line.get("token") == token.id]
    assert [(line["act"], line["tool"], line["status"]) for line in lines] == [("tool", "remember", 200)]
    assert "whistles" not in json.dumps(lines)


def post(server: Server, path: str, **headers: str) -> httpx.Response:
    body = {"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {}}
    accepts = {"accept": "application/json, text/event-stream", "mcp-protocol-version": "2025-06-18"}
    return httpx.post(f"{server.address}{path}", json=body, headers={**accepts, **headers})


def test_without_a_right_token_there_is_nothing(server: Server) -> None:
    mira, admin = (f"Bearer {server.token('mira', scopes=(scope,))}" for scope in ("read", "admin"))
    both = f"Bearer {server.token('mira', 'noa')}"
    assert post(server, "/mcp/mira", authorization=mira).status_code == 200
    assert post(server, "/mcp/mira").status_code == 401
    assert post(server, "/mcp/mira", cookie=f"looseleaf={server.visit()}").status_code == 401
    assert post(server, "/mcp/noa", authorization=mira).status_code == 404
    assert post(server, "/mcp/nobody", authorization=both).status_code == 404
    assert post(server, "/mcp", authorization=both).status_code == 404
    assert "name a memory" in post(server, "/mcp", authorization=both).json()["detail"]
    assert post(server, "/mcp/mira", authorization=admin).status_code == 403
    assert post(server, "/mcp/mira", authorization=mira, host="evil.example").status_code == 421
    assert post(server, "/mcp/mira", authorization=mira, origin="http://evil.example").status_code == 403
    for method in ("GET", "DELETE"):
        answer = httpx.request(method, f"{server.address}/mcp/mira", headers={"authorization": mira})
        assert (answer.status_code, answer.headers["allow"]) == (405, "POST")


def test_who_is_refused_stands_in_the_audit_and_strangers_are_limited(
    server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(server.serving.limits, "_rate", 5.0)
    secret = server.token("mira")
    token = server.access.token_of(secret)
    assert token is not None
    assert post(server, "/mcp/noa", authorization=f"Bearer {secret}").status_code == 404
    with httpx.Client(base_url=server.address, headers={"authorization": "Bearer wrong"}) as stranger:
        found = [stranger.post("/mcp/mira", json={}).status_code for _ in range(30)]
    assert set(found) == {401, 429}
    lines = [
        (line.get("token"), line.get("route"), line["status"]) for line in server.serving.audit.read_back()
    ]
    assert (token.id, "/mcp/{memory}", 404) in lines
    strange = [line for line in lines if line[:2] == ("", "/mcp/{memory}")]
    assert {status for *_, status in strange} == {401, 429}
    assert len(strange) < len(found) / 4


def test_a_body_that_never_says_how_long_it_is_is_cut_off(server: Server) -> None:
    def endless() -> Iterator[bytes]:
        yield b'{"jsonrpc": "2.0", "method": "'
        for _ in range(6):
            yield b"x" * (1 << 20)

    headers = {"authorization": f"Bearer {server.token('mira')}", "content-type": "application/json"}
    with httpx.Client(base_url=server.address) as client:
        try:
            assert client.post("/mcp/mira", content=endless(), headers=headers).status_code == 413
        except httpx.TransportError:
            pass  # it was cut off while it was sent


_COLD = """
import sys, pathlib
sys.path.insert(0, sys.argv[2])
from serving import serving
import httpx
with serving(pathlib.Path(sys.argv[1])) as server:
    httpx.get(server.address + "/live").raise_for_status()
    assert "mcp" not in sys.modules
    headers = {"authorization": "Bearer " + server.token("mira")}
    httpx.post(server.address + "/mcp/mira", json={}, headers=headers)
    assert "mcp" in sys.modules
"""


def test_the_sdk_is_imported_when_it_is_first_asked_for(tmp_path: Path) -> None:
    init(str(tmp_path / "memories" / "mira"))
    tests = Path(__file__).parent.parent
    subprocess.run([sys.executable, "-c", _COLD, str(tmp_path), str(tests)], check=True, cwd=tests)
