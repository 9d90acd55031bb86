"""The HTTP server of `looseleaf serve`: with or without TLS, with limited connections, and an end that cuts off no one.

To stop: `/ready` says so first and streams end, then no connection is accepted, then answers under way finish.
"""

from __future__ import annotations

import asyncio
import fcntl
import json
import logging
import os
import signal
from contextlib import nullcontext

import uvicorn

from looseleaf.base.errors import Refused
from looseleaf.base.immutable import frozen
from looseleaf.serve.http import AT_A_TIME, OWN_NAMES, AllowedHosts, Connection, Seldom, allowed_hosts

TYPE_CHECKING = False
if TYPE_CHECKING:
    import socket
    from contextlib import AbstractContextManager
    from typing import Any

    from looseleaf.serve.serving import Serving
    from looseleaf.serve.walls import App

DRAIN_SECONDS = 0.3
"""How long a server that is stopped still accepts connections, so that a proxy can see that it is not ready."""
GRACE_SECONDS = 10
"""Time for answers under way when the server is stopped."""
FILES = 4096
"""Files that the process may open, if the system lets it: connections and memories share them."""


class Runner(uvicorn.Server):  # type: ignore[misc]  # untyped
    """A server that stops in order."""

    def __init__(self, config: Any, serving: Serving) -> None:
        super().__init__(config)
        self._serving = serving

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        self._serving.stop()
        if not self.force_exit:
            await asyncio.sleep(DRAIN_SECONDS)
        await super().shutdown(sockets)


def runner(app: App, serving: Serving, *, tls: tuple[str, str] | None = None) -> Runner:
    """Return the server of an application. `tls`: the files of a certificate and its key."""
    cert, key = tls or (None, None)
    try:
        config = uvicorn.Config(
            app,
            http=Connection,
            backlog=AT_A_TIME,
            ws="none",
            lifespan="on",
            log_config=None,
            log_level="error",
            access_log=False,
            proxy_headers=False,
            server_header=False,
            timeout_graceful_shutdown=GRACE_SECONDS,
            ssl_certfile=cert,
            ssl_keyfile=key,
        )
        config.load()
    except OSError as error:  # a TLS error is one too
        raise Refused(
            f"No server was started: the certificate in {cert} cannot be used with the key in {key} "
            f"({error.strerror or error}). Give both as PEM."
        ) from None
    return Runner(config, serving)


def serve(run: Runner, sock: socket.socket) -> None:
    """Serve until SIGINT or SIGTERM."""
    # The HTTP server ends on these signals and raises them again: by then there is nothing left to end.
    before = {each: signal.signal(each, lambda *_: None) for each in (signal.SIGTERM, signal.SIGINT)}
    log, seldom = logging.getLogger("asyncio"), Seldom()
    log.addFilter(seldom)
    try:
        run.run(sockets=[sock])
    finally:
        log.removeFilter(seldom)
        for each, handler in before.items():
            signal.signal(each, handler)


def raise_files() -> int:
    """Let the process open more files, up to what the system allows; return how many."""
    from resource import RLIM_INFINITY, RLIMIT_NOFILE, getrlimit, setrlimit

    soft, hard = getrlimit(RLIMIT_NOFILE)
    most = FILES if hard == RLIM_INFINITY else min(hard, FILES)
    if soft == RLIM_INFINITY or soft >= most:
        return int(soft)
    try:
        setrlimit(RLIMIT_NOFILE, (most, hard))
    except (OSError, ValueError):
        return int(soft)
    return int(most)


# --- names ------------------------------------------------------------------------------

OWN_NAME = "looseleaf.localhost"
"""A name of this machine that no other server on it has: cookies do not tell ports apart, but they do tell names."""
_HTTPS = 443


@frozen
class Names:
    """What a server is called. `address`: what a person opens."""

    address: str
    allowed: AllowedHosts
    is_https: bool


def names_of(port: int, more: str | None = None, *, proxy: str | None = None, is_tls: bool = False) -> Names:
    """Return the names of a server. `more`: further ones; `proxy`: the name under which an HTTPS proxy serves it. Then
    pages are served only over HTTPS, and the names of this machine are for programs on it, such as one that asks
    whether the server is well."""
    hosts = allowed_hosts(port, ",".join(filter(None, (OWN_NAME, more)))).hosts
    if proxy is not None:
        return _names_behind(proxy, port, more, hosts)
    if is_tls and port == _HTTPS:
        hosts += OWN_NAMES
    scheme = "https" if is_tls else "http"
    origins = [f"{scheme}://{name}" for name in hosts]
    first = f"{OWN_NAME}:{port}"
    if is_tls and more:
        named = more.split(",")[0].strip().lower()
        first = named if ":" in named or port == _HTTPS else f"{named}:{port}"
    allowed = AllowedHosts(tuple(dict.fromkeys(hosts)), tuple(dict.fromkeys(origins)))
    return Names(f"{scheme}://{first}", allowed, is_tls)


def _names_behind(proxy: str, port: int, more: str | None, hosts: tuple[str, ...]) -> Names:
    allowed_hosts(port, proxy)  # refuse what is no name
    outside = [name.strip().lower() for name in (proxy, *(more or "").split(",")) if name.strip()]
    bare = tuple(name for name in allowed_hosts(port, OWN_NAME).hosts if name not in outside)
    origins = tuple(dict.fromkeys(f"https://{name}" for name in outside))
    return Names(origins[0], AllowedHosts(tuple(dict.fromkeys((*outside, *hosts))), origins, bare), True)


# --- one server of a folder -------------------------------------------------------------


class Claim:
    """A file that says where a server runs. It is locked as long as it does: a second one has nothing to do."""

    def __init__(self, folder: str) -> None:
        self._folder = folder
        self._fd = -1

    def __enter__(self) -> Claim:
        os.makedirs(self._folder, mode=0o700, exist_ok=True)
        self._fd = os.open(os.path.join(self._folder, _CLAIM), os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            fcntl.flock(self._fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            at = os.pread(self._fd, _LONGEST, 0).decode("utf-8", "replace").strip()
            os.close(self._fd)
            raise Refused(
                f"No server was started: one serves this already{f', at {at}' if at else ''}. `looseleaf login` prints "
                "a link to it."
            ) from None
        return self

    def tell(self, address: str) -> AbstractContextManager[None]:
        """Say where the server is; for a block, after which it is still claimed."""
        os.ftruncate(self._fd, 0)
        os.pwrite(self._fd, f"{address}\n".encode(), 0)
        return nullcontext()

    def __exit__(self, *_: object) -> None:
        os.ftruncate(self._fd, 0)
        os.close(self._fd)


def address_of(folder: str) -> str | None:
    """Return the address of the server that runs with this access folder; None: none does."""
    try:
        fd = os.open(os.path.join(folder, _CLAIM), os.O_RDWR | os.O_CLOEXEC)
    except FileNotFoundError:
        return None
    try:
        fcntl.flock(fd, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except OSError:
        return os.pread(fd, _LONGEST, 0).decode("utf-8", "replace").strip() or None
    finally:
        os.close(fd)
    return None


_CLAIM = "server"
_LONGEST = 1_000


# --- the log of what is not a request ---------------------------------------------------


class _JsonLines(logging.Formatter):
    def format(self, record: logging.LogRecord) -> str:
        told = {
            "ts": round(record.created, 3),
            "level": record.levelname.lower(),
            "message": record.getMessage(),
        }
        if record.exc_info:
            told["error"] = self.formatException(record.exc_info)
        return json.dumps(told, ensure_ascii=False)


def begin_logging(*, is_json: bool) -> None:
    """Have warnings and errors of the program told on standard error."""
    handler = logging.StreamHandler()
    handler.setFormatter(_JsonLines() if is_json else logging.Formatter("looseleaf: %(message)s"))
    logging.basicConfig(handlers=[handler], level=logging.WARNING)
    logging.getLogger("psycopg").setLevel(logging.ERROR)  # what matters of it is told by those who use it
