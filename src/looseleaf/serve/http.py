"""Serving over HTTP: one address, one token, and a list of allowed host names.

A web page can make a person's browser send requests to their own machine, also under a host name that it pointed at
127.0.0.1. So each of these checks stands alone: the token, the Host header, the Origin header, the content type.
Invariant: a request that fails one is answered before a byte of its body is read.

The token is in a file that only its owner can read: a client that can read it may use the server. The file is never in
the memory's folder: that folder is copied, synced and committed, and the token would go along. Invariant: a token that
other users may have read or written is not used.
"""

from __future__ import annotations

import logging
import os
import re
import signal
import socket
import stat
import time
from hmac import compare_digest

from looseleaf.base.errors import Invalid, Refused, to_get
from looseleaf.base.immutable import frozen

try:
    from uvicorn.protocols.http.h11_impl import H11Protocol, h11
except ImportError:
    raise Refused(
        f"No server was started: over HTTP it needs the package mcp, which is missing. Install it with {to_get('mcp')}."
    ) from None

TYPE_CHECKING = False
if TYPE_CHECKING:
    from asyncio import TimerHandle, Transport
    from collections.abc import Awaitable, Callable, MutableMapping, Sequence
    from typing import Any

    from mcp.server import Server

    Scope = MutableMapping[str, Any]
    Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]
    Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]
    App = Callable[[Scope, Receive, Send], Awaitable[None]]


# --- connections: limited in number, and in time ---------------------------------------

SECONDS = 10.0
"""Time for the head of a request; and again for its body, or for so much of it:"""
LEAST = 40 << 10
"""Bytes of a body that must come in that time, if all of it does not: as over a slow line."""
UNREAD_SECONDS = 15.0
"""A reader that takes nothing of an answer for so long is dropped."""
MOST = 256
"""Open connections, if the process may open that many files: more than sessions need."""
AT_A_TIME = 16
"""Connections accepted before the count is checked."""

_LOGGED = 5
_LOGGED_SECONDS = 60.0


def connection_limit() -> int:
    """Return the limit: half of the files that the process may open, as the memory needs files too."""
    from resource import RLIM_INFINITY, RLIMIT_NOFILE, getrlimit

    soft, _ = getrlimit(RLIMIT_NOFILE)
    return MOST if soft == RLIM_INFINITY else max(1, min(MOST, soft // 2))


class Connection(H11Protocol):  # type: ignore[misc]  # untyped
    """A connection that is dropped if its client does not do its part in time, and earlier if another needs its place.
    Invariant: only one whose answer is being made keeps its place in any case."""

    def __init__(self, *given: Any, **named: Any) -> None:
        super().__init__(*given, **named)
        self._timer: TimerHandle | None = None
        self._awaited: object = None
        self._came = 0
        self._reading: TimerHandle | None = None
        self._since = 0.0

    def connection_made(self, transport: Transport) -> None:
        super().connection_made(transport)
        transport.set_write_buffer_limits(high=1)  # writing pauses as soon as the reader is behind
        self._since = self.loop.time()
        self._wait_for(h11.IDLE)
        there: list[Any] = [each for each in self.connections if each.is_there]
        if len(there) > connection_limit():
            # Drop the one that has waited longest; the new one, at least, has sent nothing yet.
            min((each for each in there if each.is_waiting), key=lambda each: each._since)._drop()

    def data_received(self, data: bytes) -> None:
        self._came += len(data)
        super().data_received(data)
        state = self.conn.their_state
        self._wait_for(
            state if state in (h11.IDLE, h11.SEND_BODY) and not self.transport.is_closing() else None
        )

    def on_response_complete(self) -> None:
        self._since = self.loop.time()
        super().on_response_complete()
        # Between two requests, the timeout of the HTTP server applies.
        self._wait_for(h11.SEND_BODY if self.conn.their_state is h11.SEND_BODY else None)

    def pause_writing(self) -> None:
        super().pause_writing()
        self._since = self.loop.time()
        self._watch_reader()

    def resume_writing(self) -> None:
        super().resume_writing()
        self._stop_watching()

    def connection_lost(self, exc: Exception | None) -> None:
        self._wait_for(None)
        super().connection_lost(exc)
        self._stop_watching()

    @property
    def is_there(self) -> bool:
        """True until it is closed, and what was sent is taken."""
        return not self.transport.is_closing() or self.transport.get_write_buffer_size() > 0

    @property
    def is_waiting(self) -> bool:
        """True while the next step is the client's: to ask, to send the rest, or to take what was sent. Who asks for
        more before an answer is there counts as one who waits: it may never take any."""
        is_sending = self.conn.their_state is h11.SEND_BODY and not self.flow.read_paused
        asks_more = self.conn.their_state is h11.DONE and bool(self.conn.trailing_data[0])
        return not self.is_answering or is_sending or asks_more or self.flow.write_paused

    @property
    def is_answering(self) -> bool:
        return self.cycle is not None and not self.cycle.response_complete

    def _wait_for(self, part: object) -> None:
        """Start the time for another part of a request, or stop it; more bytes of the same part do not extend it."""
        if part is self._awaited:
            return
        if self._timer is not None:
            self._timer.cancel()
        self._awaited, self._came = part, 0
        self._timer = self.loop.call_later(SECONDS, self._look) if part is not None else None

    def _look(self) -> None:
        """Drop a request whose time is over. A body that keeps coming, or that waits for us, gets the same again."""
        goes_on = self._came >= LEAST or self.flow.read_paused
        if self._awaited is h11.SEND_BODY and self.is_answering and goes_on:
            self._came = 0
            self._timer = self.loop.call_later(SECONDS, self._look)
        else:
            self._drop()

    def _watch_reader(self) -> None:
        """Drop the connection if nothing of what waits to be sent is taken for a while."""
        left = self.transport.get_write_buffer_size()

        def look() -> None:
            if self.transport.get_write_buffer_size() >= left:
                self._drop()
            else:
                self._watch_reader()

        self._stop_watching()
        self._reading = self.loop.call_later(UNREAD_SECONDS, look)

    def _stop_watching(self) -> None:
        if self._reading is not None:
            self._reading.cancel()
            self._reading = None

    def _drop(self) -> None:
        self._wait_for(None)
        self._stop_watching()
        self.transport.abort()


class Seldom(logging.Filter):
    """A filter that passes a few messages a minute: clients cannot fill the disk with log lines."""

    def __init__(self) -> None:
        super().__init__()
        self._since = 0.0
        self._number = 0

    def filter(self, record: logging.LogRecord) -> bool:
        now = time.monotonic()
        if now - self._since >= _LOGGED_SECONDS:
            self._since, self._number = now, 0
        self._number += 1
        return self._number <= _LOGGED


# --- the gate: what each request must show ----------------------------------------------

PATH = "/mcp"
LOOPBACK = ("127.0.0.1", "localhost", "::1")
OWN_NAMES = ("127.0.0.1", "localhost", "[::1]")
_DEFAULT_PORT = 80
"""The port that clients leave out of the Host and Origin headers."""
METHODS = ("GET", "POST", "DELETE")
BODY_BYTES = 4 << 20
"""The limit for a request body: more than any page may have."""
SESSIONS = 100
"""Open sessions of older clients; idle ones end after half an hour."""
_QUEUE = 512
_GRACE_SECONDS = 3
"""Time for answers under way when the server is stopped."""

_JSON = re.compile(rb'application/json(?:[ \t]*;[ \t]*charset="?utf-8"?)?', re.IGNORECASE)
_NAME = re.compile(r"(?:[A-Za-z0-9](?:[A-Za-z0-9.-]*[A-Za-z0-9])?|\[[0-9a-fA-F:]+\])(?::[0-9]{1,5})?")
_ORIGIN = re.compile(r"[a-z][a-z0-9+.-]*://" + _NAME.pattern)


@frozen
class AllowedHosts:
    """Allowed Host and Origin headers, exactly as clients send them."""

    hosts: tuple[str, ...]
    origins: tuple[str, ...] = ()
    bare: tuple[str, ...] = ()
    """Those of the hosts that no browser uses: a request with a cookie is refused there."""


def allowed_hosts(port: int, hosts: str | None = None, origins: str | None = None) -> AllowedHosts:
    """Return the names of this machine at this port, and those that the user allowed. A program that was given the
    server's own address may send it as its origin; under another name, an origin must be allowed."""
    own = [f"{name}:{port}" for name in OWN_NAMES]
    if port == _DEFAULT_PORT:
        own += OWN_NAMES
    pages = [f"http://{name}" for name in own]
    for name in _split_names(hosts):
        if not _NAME.fullmatch(name):
            raise Invalid(
                f"No server was started: --allow-host {name!r} is not a host name. Give it as clients send it, such as "
                "memory.example or memory.example:8443; patterns are not supported."
            )
        has_port = re.search(r":[0-9]+$", name) is not None
        own += [name.lower()] if has_port else [name.lower(), f"{name.lower()}:{port}"]
    for origin in _split_names(origins):
        if not _ORIGIN.fullmatch(origin):
            raise Invalid(
                f"No server was started: --allow-origin {origin!r} is not an origin. Give it as a browser sends it, "
                "such as http://localhost:3000, without a path; `null` and patterns are not supported."
            )
        pages.append(origin)
    return AllowedHosts(tuple(own), tuple(pages))


def _split_names(text: str | None) -> list[str]:
    return [part.strip() for part in (text or "").split(",") if part.strip()]


@frozen
class Fault:
    """The reason why a request is refused."""

    status: int
    sentence: str
    headers: tuple[tuple[bytes, bytes], ...] = ()


_NO_TOKEN = Fault(
    401,
    "Nothing was done: the token is missing or wrong. Send `Authorization: Bearer <token>`; the server named the "
    "token file when it started.",
    ((b"www-authenticate", b'Bearer realm="looseleaf"'),),
)
_WRONG_HOST = Fault(
    421,
    "Nothing was done: this host name is not allowed. Use 127.0.0.1 or localhost with the port of the server, or "
    "start it with --allow-host NAME.",
)
_WRONG_ORIGIN = Fault(
    403,
    "Nothing was done: web pages are not allowed here. To allow one, start the server with --allow-origin ORIGIN.",
)
_WRONG_PATH = Fault(404, f"Nothing was done: the only path is {PATH}.")
_WRONG_METHOD = Fault(
    405,
    f"Nothing was done: the methods are {', '.join(METHODS)}.",
    ((b"allow", ", ".join(METHODS).encode()),),
)
_WRONG_TYPE = Fault(415, "Nothing was done: the content must be JSON. Send `Content-Type: application/json`.")


class Gate:
    """A gate that checks each request before the server sees it."""

    def __init__(self, app: App, token: str, allowed: AllowedHosts) -> None:
        self._app = app
        self._token = token.encode()
        self._hosts = frozenset(name.encode() for name in allowed.hosts)
        self._origins = frozenset(origin.encode() for origin in allowed.origins)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        fault = self._fault(scope) if scope["type"] != "lifespan" else None
        if fault is None:
            await self._app(scope, receive, send)
            return
        body = f"{fault.sentence}\n".encode()
        headers = [
            (b"content-length", str(len(body)).encode()),
            (b"content-type", b"text/plain; charset=utf-8"),
            (b"cache-control", b"no-store"),
            (b"connection", b"close"),  # what else was sent is not read
            *fault.headers,
        ]
        await send({"type": "http.response.start", "status": fault.status, "headers": headers})
        await send({"type": "http.response.body", "body": body})

    def _fault(self, scope: Scope) -> Fault | None:
        def values(wanted: bytes) -> list[bytes]:
            return [value for name, value in scope["headers"] if name.lower() == wanted]

        if not self._is_known(values(b"authorization")):
            return _NO_TOKEN
        host = values(b"host")
        if len(host) != 1 or host[0] not in self._hosts:
            return _WRONG_HOST
        origin = values(b"origin")
        if len(origin) > 1 or not self._origins.issuperset(origin):
            return _WRONG_ORIGIN
        if scope["path"] != PATH or scope.get("raw_path", PATH.encode()) != PATH.encode():
            return _WRONG_PATH
        if scope["method"] not in METHODS:
            return _WRONG_METHOD
        if scope["method"] == "POST":
            kind = values(b"content-type")
            if len(kind) != 1 or not _JSON.fullmatch(kind[0].strip()):
                return _WRONG_TYPE
        return None

    def _is_known(self, given: Sequence[bytes]) -> bool:
        """Compare the token in constant time."""
        if len(given) != 1:
            return False
        scheme, _, word = given[0].partition(b" ")
        is_same = compare_digest(word.strip(b" "), self._token)
        return is_same and scheme.lower() == b"bearer"


# --- the server -------------------------------------------------------------------------


def app(server: Server[Any], token: str, allowed: AllowedHosts) -> Gate:
    """Return the server as an application behind the gate."""
    from mcp.server.transport_security import TransportSecuritySettings

    inner = server.streamable_http_app(
        streamable_http_path=PATH,
        json_response=True,  # an answer is one object: nothing is streamed
        max_request_body_size=BODY_BYTES,
        max_sessions=SESSIONS,
        transport_security=TransportSecuritySettings(  # the SDK checks a second time
            enable_dns_rebinding_protection=True,
            allowed_hosts=list(allowed.hosts),
            allowed_origins=list(allowed.origins),
        ),
    )
    return Gate(inner, token, allowed)


class Listening(socket.socket):
    """A socket whose queue is longer than the number accepted at a time; the event loop has one number for both."""

    def listen(self, _: int = 0) -> None:
        super().listen(_QUEUE)


def listen(host: str, port: int) -> socket.socket:
    """Return a listening socket at the address, or refuse."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    # The protocol is given explicitly: the event loop sets TCP_NODELAY only on such sockets.
    sock = Listening(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    try:
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        sock.bind((host, port))
        sock.listen()
    except (OSError, OverflowError) as error:
        sock.close()
        why = getattr(error, "strerror", None) or error
        raise Refused(
            f"No server was started: cannot listen on {address(host, port)} ({why}). Another server may use it: name "
            "another port with --port N, or any free one with --port 0."
        ) from None
    return sock


def address(host: str, port: int) -> str:
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"


def serve(gate: Gate, sock: socket.socket) -> None:
    """Serve until SIGINT or SIGTERM."""
    # The HTTP server ends on these signals and raises them again: by then there is nothing left to end.
    before = {each: signal.signal(each, lambda *_: None) for each in (signal.SIGTERM, signal.SIGINT)}
    log, seldom = logging.getLogger("asyncio"), Seldom()
    log.addFilter(seldom)
    try:
        runner(gate).run(sockets=[sock])
    finally:
        log.removeFilter(seldom)
        for each, handler in before.items():
            signal.signal(each, handler)


def runner(gate: Gate) -> Any:
    """Return the HTTP server: no log of its own, no trust in proxy headers."""
    import uvicorn

    return uvicorn.Server(
        uvicorn.Config(
            gate,
            http=Connection,
            backlog=AT_A_TIME,
            ws="none",
            lifespan="on",
            log_config=None,
            log_level="error",  # a client that retries all day does not fill a log
            access_log=False,
            proxy_headers=False,
            server_header=False,
            timeout_graceful_shutdown=_GRACE_SECONDS,
        )
    )


# --- the token --------------------------------------------------------------------------

_BYTES = 32
"""Random bytes in a generated token."""
_SHORTEST = 20
"""Characters. A token must not be guessable."""
_LONGEST = 512
_VISIBLE = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~+/=")
"""Characters allowed after `Bearer` in a header (RFC 6750)."""

_NEXT = "Name another file with --token-file PATH; a missing one is created."


def default_path() -> str:
    """Return the default path: in the user's settings folder, outside of any memory."""
    home = os.environ.get("XDG_CONFIG_HOME") or ""
    if not os.path.isabs(home):  # the XDG specification ignores a relative path
        home = os.path.join(os.path.expanduser("~"), ".config")
    return os.path.join(home, "looseleaf", "token")


def token(path: str, memory: str) -> str:
    """Return the token in a file, which is created if missing."""
    place = os.path.join(os.path.realpath(os.path.dirname(os.path.abspath(path))), os.path.basename(path))
    if place.startswith(os.path.join(os.path.realpath(memory), "")):
        raise Invalid(
            f"No server was started: the token file {path} is in the memory's folder, which is copied, synced and "
            f"committed, and the token would go along. {_NEXT}"
        )
    try:
        if not os.path.lexists(place):
            _create_file(place)
        return _read_file(path, place)
    except OSError as error:
        why = error.strerror or error
        raise Refused(
            f"No server was started: the token file {path} cannot be read or created ({why}). {_NEXT}"
        ) from None


def _create_file(place: str) -> None:
    """Create the file in one step; if two servers start together, both read the same token."""
    import secrets

    folder = os.path.dirname(place)
    os.makedirs(folder, mode=0o700, exist_ok=True)
    draft = os.path.join(folder, f".token-{os.getpid()}-{secrets.token_hex(4)}")
    handle = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(secrets.token_urlsafe(_BYTES).encode() + b"\n")
            file.flush()
            os.fsync(file.fileno())
        try:
            os.link(draft, place)  # unlike a rename, never overwrites another file
        except FileExistsError:
            pass
    finally:
        os.unlink(draft)


def _read_file(path: str, place: str) -> str:
    def refused(why: str, then: str = _NEXT) -> Refused:
        return Refused(f"No server was started: the token file {path} {why}. {then}")

    if os.path.islink(place):
        raise refused("is a symbolic link, whose target may change")
    # Neither follows a link created meanwhile nor waits on a pipe without a writer.
    handle = os.open(place, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    with os.fdopen(handle, "rb") as file:
        found = os.fstat(handle)
        if not stat.S_ISREG(found.st_mode):
            raise refused("is not a regular file")
        if found.st_uid != os.geteuid():
            raise refused("belongs to another user")
        if found.st_mode & 0o077:
            raise refused(
                f"can be read by other users (mode {found.st_mode & 0o777:04o})",
                f"Delete it, and a new one is created; or, if no one has read it, `chmod 600 {path}`.",
            )
        text = file.read(_LONGEST + 2).decode("ascii", "replace").strip()
    if not text:
        raise refused("is empty", "Delete it, and a new one is created.")
    if not _SHORTEST <= len(text) <= _LONGEST or not _VISIBLE.issuperset(text):
        raise refused(
            f"does not hold a token: one word of {_SHORTEST} to {_LONGEST} letters, digits and -._~+/=",
            "Delete it, and a new one is created.",
        )
    return text
