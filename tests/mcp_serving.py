"""Serving a memory in tests: a folder with something in it, a server on a free port, and requests byte by byte."""

from __future__ import annotations

import hashlib
import json
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from looseleaf.memory import Memory
from looseleaf.memory.thread import MemoryThread
from looseleaf.pages.folder import init
from looseleaf.serve import http
from looseleaf.serve.mcp import server
from looseleaf.tools.catalogue import TOOLS
from looseleaf.tools.tool import Tool, ToolAnswer
from looseleaf.tools.toolset import RUNS

TOKEN = "t0ken-of-the-tests-which-is-long-enough"
MODERN = "2026-07-28"
HANDSHAKES = ("2025-11-25", "2025-06-18")

PAGES = {
    "SOUL.md": "# Soul\n\nYou are brief.\n",
    "USER.md": "# User\n\n> Summary: Zhang San, a developer\n\n- Name: Zhang San\n- City: Zürich\n",
    "facts/work.md": "# Work\n\n> Summary: what the work is\n\n- Language: Python\n- Editor: vim\n",
    "facts/茶.md": "# 茶\n\n- Likes: 烏龍茶 🍵\n",
    "facts/two words.md": "# Two words\n\n- Note: a space in the name\n",
    "episodes/2026-07.md": "# Episodes\n\n## Mended the parser\n\n- Summary: it was a comma\n- Date: 2026-07-01\n",
    "days/2026-07-01.md": "# 2026-07-01\n\n- mended the parser\n",
}

ARGUMENTS: dict[str, dict[str, Any]] = {
    "memory_list": {},
    "memory_read": {"path": "facts/work.md"},
    "memory_write": {"path": "facts/tea.md", "content": "# Tea\n\n- Kind: 烏龍\n"},
    "memory_patch": {
        "path": "facts/tea.md",
        "patches": [{"oldText": "- Kind: 烏龍", "newText": "- Kind: oolong"}],
    },
    "memory_append": {"path": "facts/tea.md", "entry": "- Water: 90 °C"},
    "remember": {"topic": "kettle", "content": "The kettle whistles."},
    "recall": {"query": "which editor"},
    "memory_state": {"patch": {"now": "We are serving tea"}},
    "memory_forget": {"what": "the kettle"},
}
"""A call of every tool that does what it is for, in this order."""


def filled(folder: Path) -> Path:
    """A memory with a page of every kind."""
    init(str(folder))
    with Memory(folder) as memory:
        for path, text in PAGES.items():
            (folder / path).parent.mkdir(exist_ok=True)
            (folder / path).write_text(text, encoding="utf-8")
        (folder / "review").mkdir(exist_ok=True)
        (folder / "review" / "pending.md").write_text("- [ ] City: Atlantis\n", encoding="utf-8")
        memory.record(
            user="We are serving tea. The kettle whistles."
        )  # as a hook does: the state is in such words
        memory.views.topics()
    return folder


def digest(folder: Path) -> str:
    """Of every byte of a memory, and every name, apart from views."""
    found = hashlib.sha256()
    for path in sorted(folder.rglob("*")):
        name = path.relative_to(folder)
        if path.is_file() and name.parts[0] != "views":
            found.update(f"{name.as_posix()}\0{path.stat().st_size}\0".encode())
            found.update(path.read_bytes())
    return found.hexdigest()


def add_tool(patch: pytest.MonkeyPatch, name: str, run: Callable[[Memory, Any], ToolAnswer]) -> None:
    """Offer a tool of a test beside the others."""
    shape = {"type": "object"}
    patch.setitem(TOOLS, name, Tool(name, name, "A tool of a test.", shape, shape, reads=True))
    patch.setitem(RUNS, name, run)


# --- over HTTP -------------------------------------------------------------------------


@dataclass(frozen=True)
class Served:
    folder: Path
    port: int

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}{http.PATH}"


_PATIENCE = 60.0

Told = list[tuple[str, str, int]]
"""What a server was asked, and what it answered: the method, the host, the status."""


@contextmanager
def serving(
    folder: Path, *, port: int = 0, origins: str | None = None, told: Told | None = None
) -> Iterator[Served]:
    """A real HTTP server in a thread of this process; without a port, on any that is free."""
    with (
        MemoryThread(lambda: Memory(folder)) as keeper,
        http.listen("127.0.0.1", port) as sock,
    ):
        port = sock.getsockname()[1]
        gate = http.app(server(lambda _: keeper), TOKEN, http.allowed_hosts(port, None, origins))
        runner = http.runner(gate if told is None else _telling(gate, told))
        thread = threading.Thread(target=runner.run, kwargs={"sockets": [sock]}, daemon=True)
        thread.start()
        try:
            yield Served(folder, port)
        finally:
            runner.should_exit = True
            thread.join(_PATIENCE)
            if thread.is_alive():  # asked twice, it does not wait for connections
                runner.force_exit = True
                thread.join(_PATIENCE)  # that it ends is tested with a process of its own


def _telling(app: Any, told: Told) -> Any:
    async def telling(scope: Any, receive: Any, send: Any) -> None:
        async def sending(message: Any) -> None:
            if message["type"] == "http.response.start":
                host = next((value for name, value in scope["headers"] if name == b"host"), b"")
                told.append((scope["method"], host.decode("latin-1"), message["status"]))
            await send(message)

        await app(scope, receive, sending)

    return telling


@dataclass(frozen=True)
class Request:
    """One request, byte by byte: nothing is added, nothing put right. `{port}` stands for the server's."""

    headers: tuple[tuple[str, str], ...]
    body: bytes
    method: str = "POST"
    path: str = http.PATH
    version: str = "HTTP/1.1"
    counted: bool = field(default=True)

    def to_bytes(self, port: int) -> bytes:
        lines = [f"{self.method} {self.path} {self.version}"]
        lines += [f"{name}: {value.replace('{port}', str(port))}" for name, value in self.headers]
        lines += [f"Content-Length: {len(self.body)}"] if self.counted else []
        return "\r\n".join((*lines, "", "")).encode("utf-8", "surrogateescape") + self.body


def exchange(port: int, data: bytes, seconds: float = 20) -> tuple[int, dict[str, str], bytes]:
    """What the server answers to these bytes: status, headers, body; 0 if it only closes."""
    with socket.create_connection(("127.0.0.1", port), timeout=seconds) as sock:
        try:
            sock.sendall(data)
        except (BrokenPipeError, ConnectionResetError):
            pass  # it has answered already, and does not read on
        answer = b""
        try:
            while b"\r\n\r\n" not in answer or not _is_whole(answer):
                piece = sock.recv(1 << 16)
                if not piece:
                    break
                answer += piece
        except ConnectionResetError:
            pass
    if not answer.startswith(b"HTTP/"):
        return 0, {}, answer
    head, _, body = answer.partition(b"\r\n\r\n")
    first, *rest = head.decode("latin-1").split("\r\n")
    return int(first.split()[1]), {line.partition(":")[0].lower(): line for line in rest}, body


def _is_whole(answer: bytes) -> bool:
    head, _, body = answer.partition(b"\r\n\r\n")
    for line in head.lower().split(b"\r\n"):
        if line.startswith(b"content-length:"):
            return len(body) >= int(line.partition(b":")[2])
    return body.endswith(b"0\r\n\r\n")


def call_body(name: str, arguments: dict[str, Any], request_id: int = 1) -> bytes:
    """A call that needs no handshake: everything is in the one request."""
    return json.dumps(
        {
            "jsonrpc": "2.0",
            "id": request_id,
            "method": "tools/call",
            "params": {
                "name": name,
                "arguments": arguments,
                "_meta": {
                    "io.modelcontextprotocol/protocolVersion": MODERN,
                    "io.modelcontextprotocol/clientCapabilities": {},
                },
            },
        }
    ).encode()


def sound(name: str = "remember", **arguments: Any) -> Request:
    """A request that passes every wall and writes."""
    return Request(
        (
            ("Host", "127.0.0.1:{port}"),
            ("Authorization", f"Bearer {TOKEN}"),
            ("Content-Type", "application/json"),
            ("Accept", "application/json, text/event-stream"),
            ("MCP-Protocol-Version", MODERN),
            ("Mcp-Method", "tools/call"),
            ("Mcp-Name", name),
        ),
        call_body(name, arguments or {"topic": "attack", "content": "The attacker was here."}),
    )
