"""MCP at `/mcp/<memory>`, and at `/mcp` for a token that sees one memory.

The official SDK serves it, and is imported when it is first asked for. One SDK server serves all memories, another
those who only read them, and a third those who only write; each request shows its own token, so no session is kept.
Invariant: what REST would not tell a token, or do for it, is neither told nor done here.
"""

from __future__ import annotations

import asyncio

from starlette.requests import Request
from starlette.responses import PlainTextResponse
from starlette.routing import Route

from looseleaf.base.errors import NotFound, Refused
from looseleaf.serve.pool import name_in
from looseleaf.serve.problems import NotAllowed, refused_answer, status_of
from looseleaf.serve.rest.gate import Gate
from looseleaf.serve.walls import BODY_BYTES, TOO_LARGE, TooLarge, refuse
from looseleaf.tools.catalogue import TOOLS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from looseleaf.serve.access import Token
    from looseleaf.serve.http import AllowedHosts
    from looseleaf.serve.mcp import Act, Keeper
    from looseleaf.serve.serving import Serving
    from looseleaf.serve.walls import Receive, Scope, Send


class McpRoute:
    """The MCP servers of all memories. `allowed`: the SDK checks host and origin a second time."""

    def __init__(self, serving: Serving, allowed: AllowedHosts) -> None:
        self._serving = serving
        self._allowed = allowed
        self._managers: dict[tuple[bool, bool], Any] = {}
        self._starting = asyncio.Lock()
        self._stopping = asyncio.Event()
        self._tasks: list[asyncio.Task[None]] = []

    def routes(self) -> list[Route]:
        return [Route(path, Gate(self, self._serving, path)) for path in ("/mcp", "/mcp/{memory}")]

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        request = Request(scope, receive)
        try:
            manager = await self._admit(request)
        except Refused as refused:
            await refused_answer(refused)(scope, receive, send)
            return
        if request.method != "POST":  # there is no session to listen to, and none to end
            told = PlainTextResponse("Nothing was done: the method is POST.\n", 405, {"allow": "POST"})
            await told(scope, receive, send)
            return
        heard = _Heard(receive, send)
        try:
            await manager.handle_request(scope, heard.receive, heard.send)
        except TooLarge:
            await heard.refuse(scope)
        except BaseExceptionGroup as group:
            if group.split(TooLarge)[1] is not None:
                raise
            await heard.refuse(scope)

    async def _admit(self, request: Request) -> Any:
        """Refuse a request whose token may not see the memory; return who answers the others."""
        token: Token = request.state.token
        request.scope["path_params"]["memory"] = name = await self._name(token, request)
        token = request.state.token = token.at(name)
        if not token.may("read") and not token.may("write"):
            raise NotAllowed("Nothing was done: this token may neither read nor write.")
        return await self._manager(may_read=token.may("read"), may_write=token.may("write"))

    async def _name(self, token: Token, request: Request) -> str:
        pool = self._serving.pool
        name = request.path_params.get("memory")
        if name is None:
            seen = [each for each in pool.names() if token.sees(each)]
            if len(seen) != 1:
                raise NotFound("Nothing was done: name a memory in the address, as in /mcp/<memory>.")
            name = seen[0]
        name = name_in(name)
        if not token.sees(name):
            raise NotFound("There is no memory of this name.")
        await pool.find(name)
        return name

    async def _manager(self, *, may_read: bool, may_write: bool) -> Any:
        scopes = may_read, may_write
        async with self._starting:
            if scopes not in self._managers:
                made = await asyncio.to_thread(self._make_manager, may_read=may_read, may_write=may_write)
                ready = asyncio.Event()
                self._tasks.append(asyncio.create_task(self._run(made, ready)))
                await ready.wait()
                self._managers[scopes] = made
        return self._managers[scopes]

    def _make_manager(self, *, may_read: bool, may_write: bool) -> Any:
        from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
        from mcp.server.transport_security import TransportSecuritySettings

        from looseleaf.serve.mcp import server

        return StreamableHTTPSessionManager(
            server(self._keeper, read_only=not may_write, write_only=not may_read),
            json_response=True,
            stateless=True,
            max_request_body_size=BODY_BYTES,
            security_settings=TransportSecuritySettings(
                enable_dns_rebinding_protection=True,
                allowed_hosts=list(self._allowed.hosts),
                allowed_origins=list(self._allowed.origins),
            ),
        )

    async def _run(self, manager: Any, ready: asyncio.Event) -> None:
        async with manager.run():
            ready.set()
            await self._stopping.wait()

    async def close(self) -> None:
        self._stopping.set()
        if self._tasks:
            await asyncio.wait(self._tasks)

    # --- one request ---------------------------------------------------------------------------

    def _keeper(self, asked: Any) -> Keeper:
        """Return who keeps the memory of a request; what changes it is written down in the audit."""
        request: Request = asked.request
        token: Token = request.state.token
        name: str = request.path_params["memory"]
        tool = TOOLS.get(str((asked.params or {}).get("name"))) if asked.method == "tools/call" else None

        async def keep(act: Act) -> dict[str, Any]:
            if tool is not None and not tool.reads:
                self._serving.audit.require()
            status = 500
            try:
                result = await self._serving.ask(name, act, token=token)
                status = 409 if result.get("isError") else 200
                return result
            except Refused as refused:
                status = status_of(refused)[0]
                raise
            finally:
                if tool is not None and not tool.reads:
                    told = {"token": token.id, "memory": name, "tool": tool.name, "status": status}
                    self._serving.audit.write(act="tool", **told)
                    await self._serving.audit.written()

        return keep


class _Heard:
    """The two ends of a request, of which it is known whether an answer has begun."""

    def __init__(self, receive: Receive, send: Send) -> None:
        self.receive = receive
        self._send = send
        self._has_begun = False

    async def send(self, message: Any) -> None:
        self._has_begun = True
        await self._send(message)

    async def refuse(self, scope: Scope) -> None:
        if not self._has_begun:
            await refuse(scope, self._send, TOO_LARGE)
