"""The gate of the API and MCP: who asks, how often, and a line in the audit for what was written, refused or taken out.

Invariants: nothing is answered before its line is written; a line has ids, names and numbers, never words of a memory.
"""

from __future__ import annotations

import time

from starlette.requests import Request

from looseleaf.base.errors import Refused
from looseleaf.serve.pool import NAME, name_in
from looseleaf.serve.problems import refused_answer
from looseleaf.serve.sign import token_in

TYPE_CHECKING = False
if TYPE_CHECKING:
    from looseleaf.serve.rest.routes import RouteSpec
    from looseleaf.serve.serving import Serving
    from looseleaf.serve.walls import App, Message, Receive, Scope, Send

NO_ANSWER = 0
"""The status of a request whose asker was gone before it was answered: it may have been done."""
_METHODS = frozenset({"GET", "HEAD", "OPTIONS", "POST", "PUT", "PATCH", "DELETE"})
_QUIET_SECONDS = 1.0
_KNOWN = 10_000


class Quiet:
    """What keeps a flood from filling the audit: of requests that are alike, the first in a second is told."""

    def __init__(self) -> None:
        self._last: dict[str, float] = {}

    def is_first(self, asker: str) -> bool:
        now = time.monotonic()
        is_first = now - self._last.get(asker, -_QUIET_SECONDS) >= _QUIET_SECONDS
        if is_first:
            if len(self._last) >= _KNOWN:
                self._last.clear()
            self._last[asker] = now
        return is_first


class Gate:
    """An application behind the gate: the API, or MCP. `route`: what the audit calls it; "": what answered says it."""

    def __init__(self, app: App, serving: Serving, route: str = "") -> None:
        self._app = app
        self._serving = serving
        self._route = route
        self._quiet = Quiet()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        scope.setdefault("state", {})
        is_told = False

        async def telling(message: Message) -> None:
            nonlocal is_told
            if message["type"] == "http.response.start" and not is_told:
                is_told = True
                self._tell(scope, message["status"])
                await self._serving.audit.written()
            await send(message)

        try:
            refused = await self._refusal(Request(scope))
            if refused is not None:
                # What else was sent is not read: the connection ends here.
                answer = refused_answer(refused)
                answer.headers["connection"] = "close"
                await answer(scope, receive, telling)
            else:
                await self._app(scope, receive, telling)
        finally:
            if not is_told:
                self._tell(scope, NO_ANSWER)

    def _tell(self, scope: Scope, status: int) -> None:
        """Write a line of what is about to be answered, if that is a write or a refusal."""
        spec: RouteSpec | None = scope["state"].get("spec")
        is_write = spec is not None and (scope["state"].get("wrote") or spec.writes)
        if status >= 400 or is_write:
            self._write(scope, status, spec)

    async def _refusal(self, request: Request) -> Refused | None:
        try:
            await token_in(self._serving, request)
        except Refused as refused:
            return refused
        return None

    def _write(self, scope: Scope, status: int, spec: RouteSpec | None) -> None:
        token = scope["state"].get("token")
        asker = token.id if token is not None else ""
        if status in (401, 429) and not self._quiet.is_first(f"{asker} {status}"):
            return
        memory = name_in(scope.get("path_params", {}).get("memory", ""))
        told = {
            "token": asker,
            "memory": memory if all(map(NAME.fullmatch, memory.split("/"))) else "",
            "method": scope["method"] if scope["method"] in _METHODS else "",
            "route": spec.template if spec is not None else self._route,
            "status": status,
        }
        made = scope["state"].get("made")
        self._serving.audit.write(**told, **({"made": made} if made is not None else {}))
