"""The walls: what each request must show before anything of it is read, and what each answer says to a browser.

A web page can make a person's browser send requests to their own machine, also under a host name that it pointed at
127.0.0.1. So each wall stands alone: host, origin, type, size; who asks is found out further in. Invariant: a request
that fails one is answered before a byte of its body is read.
"""

from __future__ import annotations

import asyncio
import json
import re
from contextlib import suppress

from looseleaf.base.immutable import frozen

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, MutableMapping
    from typing import Any

    from looseleaf.serve.http import AllowedHosts

    Scope = MutableMapping[str, Any]
    Message = MutableMapping[str, Any]
    Receive = Callable[[], Awaitable[Message]]
    Send = Callable[[Message], Awaitable[None]]
    App = Callable[[Scope, Receive, Send], Awaitable[None]]

BODY_BYTES = 4 << 20
IMPORT_BYTES = 256 << 20
LINGER_SECONDS = 1.0
API, MCP = "/v1", "/mcp"
_IMPORT = re.compile(r"/v1/memories/[^/]+/import")
_JSON = re.compile(rb'application/json(?:[ \t]*;[ \t]*charset="?utf-8"?)?', re.IGNORECASE)
_FORM = re.compile(rb'application/x-www-form-urlencoded(?:[ \t]*;[ \t]*charset="?utf-8"?)?', re.IGNORECASE)
_CHANGES = frozenset({"POST", "PUT", "PATCH", "DELETE"})

POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; form-action 'self'; "
    "base-uri 'none'; frame-ancestors 'none'"
)
_HEADERS = (
    (b"content-security-policy", POLICY.encode()),
    (b"x-content-type-options", b"nosniff"),
    # With `no-referrer`, browsers send `Origin: null` with our own forms.
    (b"referrer-policy", b"same-origin"),
    (b"cross-origin-opener-policy", b"same-origin"),
    (b"cross-origin-resource-policy", b"same-origin"),
    (b"permissions-policy", b"camera=(), geolocation=(), microphone=()"),
)


@frozen
class Fault:
    """The reason why a request is refused."""

    status: int
    kind: str
    sentence: str


WRONG_HOST = Fault(
    421,
    "host",
    "Nothing was done: this host name is not allowed. Use the address that the server printed, or start it with "
    "--allow-host NAME.",
)
WRONG_ORIGIN = Fault(
    403,
    "origin",
    "Nothing was done: the request comes from another web page. Open this one at the address that the server printed.",
)
WRONG_TYPE = Fault(
    415, "content-type", "Nothing was done: the content must be JSON. Send `Content-Type: application/json`."
)
WRONG_FORM = Fault(415, "content-type", "Nothing was done: the content must be that of a form.")
TOO_LARGE = Fault(
    413,
    "too-large",
    "Nothing was done: the content is too large. At most 4 MiB is read; of an import, 256 MiB.",
)


class Walls:
    """The application behind the walls."""

    def __init__(self, app: App, allowed: AllowedHosts, *, is_https: bool = False) -> None:
        self._app = app
        self._hosts = frozenset(name.encode() for name in allowed.hosts)
        self._bare = frozenset(name.encode() for name in allowed.bare)
        self._origins = frozenset(origin.encode() for origin in allowed.origins)
        self._headers = _HEADERS + (
            ((b"strict-transport-security", b"max-age=31536000"),) if is_https else ()
        )

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        send = self._with_headers(send)
        fault = self._fault(scope)
        if fault is not None:
            await refuse(scope, send, fault, receive)
            return
        limit = IMPORT_BYTES if _IMPORT.fullmatch(scope["path"]) else BODY_BYTES
        await self._app(scope, _limited(receive, limit), send)

    def _fault(self, scope: Scope) -> Fault | None:
        headers = scope["headers"]
        host = [value for name, value in headers if name == b"host"]
        if len(host) != 1 or host[0].lower() not in self._hosts:
            return WRONG_HOST
        if host[0].lower() in self._bare and any(name == b"cookie" for name, _ in headers):
            return WRONG_HOST
        origin = [value for name, value in headers if name == b"origin"]
        if len(origin) > 1 or not self._origins.issuperset(origin):
            return WRONG_ORIGIN
        if scope["method"] not in _CHANGES:
            return None
        return self._body_fault(scope, has_origin=bool(origin))

    def _body_fault(self, scope: Scope, *, has_origin: bool) -> Fault | None:
        """Return what is wrong with a request that may change something."""
        path, given = scope["path"], dict(scope["headers"])
        is_page = not path.startswith((f"{API}/", f"{MCP}/")) and path not in (API, MCP)
        if is_page and not has_origin and given.get(b"sec-fetch-site") != b"same-origin":
            return WRONG_ORIGIN
        length = given.get(b"content-length", b"0")
        if not length.isdigit() or int(length) > (IMPORT_BYTES if _IMPORT.fullmatch(path) else BODY_BYTES):
            return TOO_LARGE
        has_body = length != b"0" or b"transfer-encoding" in given
        kind = given.get(b"content-type", b"").strip()
        if is_page:
            return WRONG_FORM if has_body and not _FORM.fullmatch(kind) else None
        if has_body and not _JSON.fullmatch(kind) and not _IMPORT.fullmatch(path):
            return WRONG_TYPE
        return None

    def _with_headers(self, send: Send) -> Send:
        async def with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                given = {name.lower() for name, _ in message["headers"]}
                more = [each for each in self._headers if each[0] not in given]
                if b"cache-control" not in given:
                    more.append((b"cache-control", b"no-store"))
                message = {**message, "headers": [*message["headers"], *more]}
            await send(message)

        return with_headers


class TooLarge(Exception):
    """More came than was announced."""


def _limited(receive: Receive, limit: int) -> Receive:
    seen = 0

    async def limited() -> Message:
        nonlocal seen
        message = await receive()
        seen += len(message.get("body", b""))
        if seen > limit:
            raise TooLarge
        return message

    return limited


async def refuse(scope: Scope, send: Send, fault: Fault, receive: Receive | None = None) -> None:
    """Answer with a fault. `receive`: for a moment, what is still on its way is dropped, and only then the connection
    ends: else the answer might be lost with it."""
    if scope["path"].startswith((f"{API}/", f"{MCP}/")):
        body = json.dumps(
            {"type": f"/problems/{fault.kind}", "status": fault.status, "detail": fault.sentence}
        ).encode()
        kind = b"application/problem+json"
    else:
        body, kind = f"{fault.sentence}\n".encode(), b"text/plain; charset=utf-8"
    headers = [
        (b"content-length", str(len(body)).encode()),
        (b"content-type", kind),
        (b"connection", b"close"),  # what else was sent is not read
    ]
    await send({"type": "http.response.start", "status": fault.status, "headers": headers})
    await send({"type": "http.response.body", "body": body, "more_body": True})
    if receive is not None:
        with suppress(TimeoutError):
            async with asyncio.timeout(LINGER_SECONDS):
                while (await receive()).get("more_body"):
                    pass
    await send({"type": "http.response.body", "body": b""})
