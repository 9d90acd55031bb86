"""What is seen of each request: a line on standard error, and numbers for Prometheus.

Both name a request by the template of its route, never by its address: an address may hold a word of a memory.
"""

from __future__ import annotations

import asyncio
import json
import sys
import threading
import time
from contextlib import suppress
from urllib.parse import unquote

from prometheus_client import (
    CollectorRegistry,
    Counter,
    Histogram,
    disable_created_metrics,
    generate_latest,
)
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily
from starlette.responses import PlainTextResponse, Response

from looseleaf.base.errors import Refused
from looseleaf.serve.pool import name_in, with_whole_name
from looseleaf.serve.problems import NotAllowed, refused_answer
from looseleaf.serve.sign import token_in

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterator
    from typing import Any, TextIO

    from starlette.requests import Request

    from looseleaf.serve.database_pool import Joined
    from looseleaf.serve.serving import Serving
    from looseleaf.serve.walls import App, Message, Receive, Scope, Send

BUCKETS = (0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0, 30.0)
MEDIA = "text/plain; version=0.0.4; charset=utf-8"
_METHODS = frozenset({"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"})
NOWHERE = "-"
"""The template of an address that leads nowhere, or that the walls refused."""
CUT_OFF = 499
"""The status of an answer that its reader did not wait for."""


class Metrics:
    """The numbers of one server."""

    def __init__(self, serving: Serving) -> None:
        self._serving = serving
        disable_created_metrics()
        self._registry = CollectorRegistry()
        labels = ("route", "method", "status")
        self._requests = Counter(
            "looseleaf_requests", "Requests that were answered.", labels, registry=self._registry
        )
        self._seconds = Histogram(
            "looseleaf_request_seconds",
            "Seconds until a request was answered whole; streams are left out.",
            ("route", "method"),
            buckets=BUCKETS,
            registry=self._registry,
        )
        self._limited = Counter(
            "looseleaf_rate_limited",
            "Requests refused because they came too soon after others.",
            registry=self._registry,
        )
        self._registry.register(self)

    def count(self, route: str, method: str, status: int, seconds: float, *, is_stream: bool) -> None:
        self._requests.labels(route, method, str(status)).inc()
        if status == 429:
            self._limited.inc()
        if not is_stream:
            self._seconds.labels(route, method).observe(seconds)

    def collect(self) -> Iterator[Any]:
        """Yield what stands at this moment."""
        now = {
            "open_memories": ("Memories that are open.", len(self._serving.pool.open_names)),
            "jobs": ("Jobs that wait or run.", self._serving.jobs.live),
            "streams": ("Open streams of events.", self._serving.events.open_streams),
        }
        for name, (about, value) in now.items():
            yield GaugeMetricFamily(f"looseleaf_{name}", about, value)
        if self._serving.joined is not None:
            yield from _of_database(self._serving.joined)

    def memory_of(self, scope: Scope) -> str:
        """Return the memory of an address, if there is one of that name and the token sees it: anything else in an
        address may be a word of a memory, or made to look like a line."""
        given = scope.get("path_params", {})
        part = str(given.get("m") or given.get("memory") or given.get("name") or "")
        name = name_in(unquote(part))
        token = scope.get("state", {}).get("token")
        if not name or token is None or not token.sees(name):
            return ""
        try:
            self._serving.pool.path(name)
        except (Refused, ValueError):
            return ""
        return name

    def text(self) -> bytes:
        told: bytes = generate_latest(self._registry)
        return told


def _of_database(joined: Joined) -> Iterator[Any]:
    """Yield what stands of the connections to a database."""
    database = joined.listening.database
    counts = database.counts()
    gauges = {
        "up": ("1 while the database answers.", int(joined.listening.is_well)),
        "connections": ("Open connections, but for one that listens.", counts.get("pool_size", 0)),
        "connections_free": ("Connections that no request has.", counts.get("pool_available", 0)),
        "waiting": ("Queries that wait for a connection now.", counts.get("requests_waiting", 0)),
    }
    counters: dict[str, tuple[str, float]] = {
        "trips": ("Questions to the database.", database.trips),
        "wait_seconds": ("Seconds that queries waited for a connection.", database.waited),
        "overloads": (
            "Queries that were refused after a wait for a connection.",
            counts.get("requests_errors", 0),
        ),
    }
    for name, (about, value) in gauges.items():
        yield GaugeMetricFamily(f"looseleaf_database_{name}", about, value)
    for name, (about, number) in counters.items():
        yield CounterMetricFamily(f"looseleaf_database_{name}", about, number)
    with suppress(Refused):  # it is away
        yield from _of_queue(joined)


def _of_queue(joined: Joined) -> Iterator[Any]:
    """Yield what stands of the queue that workers take jobs from."""
    from looseleaf.work.queue import figures

    joined.listening.require()
    found = figures(joined.listening.database)
    jobs = GaugeMetricFamily("looseleaf_queue_jobs", "Jobs in the queue.", labels=("kind", "state"))
    for kind, states in sorted(found["jobs"].items()):
        for state, count in sorted(states.items()):
            jobs.add_metric((kind, state), count)
    yield jobs
    gauges = {
        "oldest_seconds": "Seconds that the oldest job of the queue has waited.",
        "talk": "Agents whose talk waits to be distilled.",
        "talk_seconds": "Seconds that the oldest talk has waited to be distilled.",
        "workers": "Workers that take jobs.",
    }
    for name, about in gauges.items():
        yield GaugeMetricFamily(f"looseleaf_queue_{name}", about, found[name])


class Log:
    """Lines without content. `is_json`: for programs; else short, for people."""

    def __init__(self, target: TextIO | None = None, *, is_json: bool = False) -> None:
        self._target = target
        self._is_json = is_json
        self._lock = threading.Lock()

    def write(self, told: dict[str, Any]) -> None:
        if self._is_json:
            line = json.dumps(told, ensure_ascii=False)
        else:
            at = time.strftime("%H:%M:%S", time.localtime(told["ts"]))
            who = " ".join(told[name] for name in ("token", "memory") if told[name])
            line = f"{at} {told['status']} {told['method']:<6} {told['ms']:>8.1f} ms  {told['route']}  {who}".rstrip()
        with self._lock:
            try:
                target = self._target or sys.stderr
                target.write(f"{line}\n")
                target.flush()
            except (OSError, ValueError):  # nobody reads it
                pass


class Watched:
    """The application, with each request counted and logged. `log`: None for none."""

    def __init__(self, app: App, metrics: Metrics, log: Log | None = None) -> None:
        self._app, self.metrics, self.log = app, metrics, log

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        scope = with_whole_name(scope)
        began, status, is_stream = time.perf_counter(), CUT_OFF, False

        async def watch(message: Message) -> None:
            nonlocal status, is_stream
            if message["type"] == "http.response.start":
                status = message["status"]
                is_stream = (b"content-type", b"text/event-stream") in [
                    (name, value.partition(b";")[0]) for name, value in message["headers"]
                ]
            await send(message)

        try:
            await self._app(scope, receive, watch)
        finally:
            seconds = time.perf_counter() - began
            route, method = route_of(scope), scope["method"] if scope["method"] in _METHODS else NOWHERE
            self.metrics.count(route, method, status, seconds, is_stream=is_stream)
            if self.log is not None:
                self.log.write(self._line(scope, route, method, status, seconds))

    def _line(self, scope: Scope, route: str, method: str, status: int, seconds: float) -> dict[str, Any]:
        token = scope.get("state", {}).get("token")
        return {
            "ts": round(time.time(), 3),
            "method": method,
            "route": route,
            "status": status,
            "ms": round(seconds * 1000, 1),
            "token": token.id if token is not None else "",
            "memory": self.metrics.memory_of(scope),
        }


def route_of(scope: Scope) -> str:
    """Return the template of the route that answered, without what stood in the address."""
    path = getattr(scope.get("route"), "path", None)
    if not isinstance(path, str):
        return NOWHERE
    root = str(scope.get("root_path", ""))
    return path if path.startswith(root) else root + path


# --- what programs that watch a server ask -----------------------------------------------


async def live(_: Request) -> Response:
    """Say that the process answers."""
    return PlainTextResponse("live\n")


def make_ready(serving: Serving) -> Callable[[Request], Awaitable[Response]]:
    async def ready(_: Request) -> Response:
        """Say whether requests should be sent here."""
        if serving.is_stopping:
            return PlainTextResponse("stopping\n", 503, {"retry-after": "5"})
        if not serving.is_ready:
            return PlainTextResponse("the database is away\n", 503, {"retry-after": "2"})
        return PlainTextResponse("ready\n")

    return ready


def make_metrics(serving: Serving, metrics: Metrics) -> Callable[[Request], Awaitable[Response]]:
    async def answer(request: Request) -> Response:
        try:
            if not (await token_in(serving, request)).may("read"):
                raise NotAllowed("Nothing was read: this token may not read.")
        except Refused as refused:
            return refused_answer(refused)
        return Response(await asyncio.to_thread(metrics.text), media_type=MEDIA)

    return answer
