"""A provider of models on this machine: one HTTP server that speaks the wires of five, and answers by a brain.

    with Provider(lambda asked: Answer(f"You said: {asked.said}")) as provider:
        model = OpenAI("gpt-5", base_url=provider.base_url("openai"), api_key="key")

The brain is called in the server's threads. `provider.faults` are taken one for each request, first come first served;
`provider.fired` are those that really happened.
"""

from __future__ import annotations

import json
import select
import socket
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from looseleaf.base.replies import Usage
from wires import reading, refusing, writing
from wires.terms import (
    WIRES,
    Answer,
    Asked,
    ContextExceeded,
    Cut,
    Fault,
    InStream,
    Malformed,
    NoJson,
    Short,
    Stall,
    Status,
    counted,
    reportable,
)

__all__ = [
    "KEY",
    "KINDS",
    "WIRES",
    "Answer",
    "Asked",
    "ContextExceeded",
    "Cut",
    "Fault",
    "InStream",
    "Malformed",
    "NoJson",
    "Provider",
    "Short",
    "Stall",
    "Status",
    "shared",
]

Brain = Callable[[Asked], Answer | str]


def _echo(asked: Asked) -> str:
    return f"You said: {asked.said}"


KEY = "sk-test-0123456789abcdef"
"""The key that tests give. The server looks at none."""


KINDS = {
    "openai": "OpenAI",
    "openai-chat": "OpenAIChat",
    "anthropic": "Anthropic",
    "gemini": "Gemini",
    "ollama": "Ollama",
}
"""The class that speaks each wire."""


class Provider:
    """`split`: how many bytes go out at once (None: an event). `models`: what Ollama says it has."""

    def __init__(
        self,
        brain: Brain = _echo,
        *,
        faults: Iterable[Fault] = (),
        split: int | None = None,
        models: Iterable[str] = ("llama3.2:latest",),
    ) -> None:
        self._lock = threading.Lock()
        self.let_go = threading.Event()
        self.begin(brain, faults=faults, split=split, models=models)
        self._server = _Server(("127.0.0.1", 0), _Handler)
        self._server.provider = self
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.02,), daemon=True)

    def begin(
        self,
        brain: Brain,
        *,
        faults: Iterable[Fault] = (),
        split: int | None = None,
        models: Iterable[str] = ("llama3.2:latest",),
    ) -> None:
        """Anew: with this brain, and nothing asked yet."""
        self.let_go.set()
        self.brain = brain
        self.faults = list(faults)
        self.split = split
        self.models = list(models)
        self.asked: list[Asked] = []
        self.answers: list[Answer] = []
        self.fired: list[Fault] = []
        self.usage = Usage()
        """The sum of what was reported in answers that went out whole."""
        self.requests = 0
        self.looks = 0
        """How often it was asked for something that costs nothing: which models there are."""
        self.complaints: list[str] = []
        """What the provider itself would have refused, and did."""
        self.stalled = threading.Event()
        self.let_go = threading.Event()
        self.hung_up = threading.Event()
        """The other side closed its connection while an answer stalled."""

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self._server.server_address[1]}"

    def base_url(self, wire: str) -> str:
        """What that provider's SDK wants to be told."""
        return self.address + ("/v1" if wire.startswith("openai") else "")

    def model(self, wire: str, name: str = "tea-1", **where: Any) -> Any:
        """A model of looseleaf's that asks this server. It does not wait long before it asks again."""
        from looseleaf import models

        kind: Any = getattr(models, KINDS[wire])
        given = {"api_key": KEY, "base_url": self.base_url(wire), "pause": 0.001, "seconds": 30.0}
        return kind(name, **given | where)

    @property
    def bodies(self) -> list[dict[str, Any]]:
        return [asked.body for asked in self.asked]

    def __enter__(self) -> Provider:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.let_go.set()
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    def _take(self, asked: Asked) -> tuple[Asked, Answer]:
        with self._lock:
            asked = replace(asked, number=len(self.asked) + 1)
            self.asked.append(asked)
            fault = self.faults.pop(0) if self.faults else None
        answer = self.brain(asked)
        if isinstance(answer, str):
            answer = Answer(answer)
        if fault is not None:
            answer = replace(answer, fault=fault)
        with self._lock:
            self.answers.append(answer)
        return asked, answer

    def _fired(self, fault: Fault) -> None:
        with self._lock:
            self.fired.append(fault)

    def _reported(self, asked: Asked, answer: Answer) -> None:
        took = reportable(asked.wire, counted(asked, answer))
        with self._lock:
            self.usage = Usage(
                *(getattr(self.usage, name) + getattr(took, name) for name in Usage.__match_args__[:-2])
            )


_SHARED: dict[str, tuple[Provider, Any]] = {}


@contextmanager
def shared(
    wire: str,
    brain: Brain = _echo,
    *,
    faults: Iterable[Fault] = (),
    split: int | None = None,
    **settings: Any,
) -> Iterator[tuple[Provider, Any]]:
    """A provider and a model of it that are there for all tests: making a client of an SDK takes longer than most of
    them. `settings` are the model's for this once: seconds, retries, pause, patience, calls, extensions."""
    if wire not in _SHARED:
        provider = Provider().__enter__()
        _SHARED[wire] = provider, provider.model(wire)
    provider, model = _SHARED[wire]
    provider.begin(brain, faults=faults, split=split)
    before = {name: getattr(model, name) for name in settings}
    for name, value in settings.items():
        setattr(model, name, value)
    try:
        yield provider, model
    finally:
        provider.let_go.set()
        for name, value in before.items():
            setattr(model, name, value)


class _Server(ThreadingHTTPServer):
    provider: Provider
    daemon_threads = True
    block_on_close = False

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that hangs up is no news."""


class _HungUp(Exception):
    pass


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    server: _Server

    def log_message(self, format: str, *args: Any) -> None:
        pass

    def do_GET(self) -> None:
        with self.server.provider._lock:
            self.server.provider.looks += 1
        if self.path == "/api/tags":
            self._json(
                200, {"models": [{"name": name, "model": name} for name in self.server.provider.models]}
            )
        elif self.path == "/api/version":
            self._json(200, {"version": "0.12.6"})
        else:
            self._json(404, {"error": "not found"})

    def do_POST(self) -> None:
        provider = self.server.provider
        sent = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        with provider._lock:
            provider.requests += 1
        wire = reading.wire_of(self.path)
        if wire is None:
            self._json(404, {"error": {"message": f"no such path: {self.path}"}})
            return
        headers = {name.lower(): value for name, value in self.headers.items()}
        try:
            asked = reading.read(wire, self.path, headers, json.loads(sent.decode("utf-8")))
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            with provider._lock:
                provider.complaints.append(f"{type(error).__name__}: {error}")
            self._json(*refusing.refusal(wire, Status(400, message=str(error)), model=""))
            return
        try:
            self._answer(*provider._take(asked))
        except _HungUp:
            self.close_connection = True

    def _answer(self, asked: Asked, answer: Answer) -> None:
        provider, fault = self.server.provider, answer.fault
        if isinstance(fault, Status | ContextExceeded):
            provider._fired(fault)
            code, body = refusing.refusal(asked.wire, fault, model=asked.model)
            self._json(code, body, self._headers(fault))
        elif isinstance(fault, Cut | Stall) and fault.after is None:
            self._break(fault)
        elif not asked.streams:
            provider._reported(asked, answer)
            self._json(200, writing.whole(asked, answer))
        else:
            if isinstance(fault, Malformed):
                provider._fired(fault)
            kind = "application/x-ndjson" if asked.wire == "ollama" else "text/event-stream; charset=utf-8"
            self._head(200, {"Content-Type": kind, "Transfer-Encoding": "chunked"})
            is_whole = not isinstance(fault, InStream | NoJson | Short)
            at_last = (lambda: provider._reported(asked, answer)) if is_whole else (lambda: None)
            self._stream(self._events(asked, answer), fault, at_last)
            self._write(b"0\r\n\r\n")

    def _events(self, asked: Asked, answer: Answer) -> list[bytes]:
        events, fault = writing.events(asked, answer), answer.fault
        if isinstance(fault, InStream):
            self.server.provider._fired(fault)
            return [*events[: max(1, len(events) // 2)], refusing.failure_in_stream(asked.wire)]
        if isinstance(fault, NoJson):
            self.server.provider._fired(fault)
            garbage = fault.sent + b"\n" if asked.wire == "ollama" else b"data: " + fault.sent + b"\n\n"
            if asked.wire == "anthropic":
                garbage = b"event: content_block_delta\n" + garbage
            return [*events[: fault.after], garbage, *events[fault.after :]]
        if isinstance(fault, Short):
            self.server.provider._fired(fault)
            return events[: fault.after]
        return events

    def _stream(self, events: list[bytes], fault: Fault | None, at_last: Callable[[], None]) -> None:
        """`at_last` is done before the last piece goes out: once it is out, whoever asked knows everything."""
        size = self.server.provider.split
        if size is not None:
            joined = b"".join(events)
            events = [joined[start : start + size] for start in range(0, len(joined), size)]
        breaks = fault if isinstance(fault, Cut | Stall) else None
        left = breaks.after or 0 if breaks is not None else 0
        for number, piece in enumerate(events, 1):
            if breaks is not None and len(piece) >= left:
                self._chunk(piece[:left])
                self._break(breaks)
                breaks, piece = None, piece[left:]
            if number == len(events):
                at_last()
            self._chunk(piece)
            left -= len(piece)

    def _chunk(self, piece: bytes) -> None:
        if piece:
            self._write(f"{len(piece):x}\r\n".encode() + piece + b"\r\n")

    def _write(self, sent: bytes) -> None:
        try:
            self.wfile.write(sent)
        except OSError:
            raise _HungUp from None

    def _closed(self) -> bool:
        """Whether the other side closed its connection; one that it closed with bytes unread is reset."""
        try:
            return not self.connection.recv(1, socket.MSG_PEEK)
        except ConnectionResetError:
            return True

    def _break(self, fault: Cut | Stall) -> None:
        provider = self.server.provider
        provider._fired(fault)
        if isinstance(fault, Stall):
            let_go, hung_up = provider.let_go, provider.hung_up
            provider.stalled.set()
            while not let_go.is_set():
                if select.select([self.connection], [], [], 0.02)[0]:
                    if self._closed():
                        hung_up.set()
                        raise _HungUp
                    let_go.wait(0.02)
            if fault.after is not None:
                return
        self.close_connection = True
        self.connection.shutdown(socket.SHUT_RDWR)
        raise _HungUp

    def _headers(self, fault: Status | ContextExceeded) -> dict[str, str]:
        if isinstance(fault, Status) and fault.location:
            return {"Location": fault.location}
        if isinstance(fault, ContextExceeded) or fault.retry_after is None:
            return {}
        if fault.by_date:
            return {"Retry-After": self.date_time_string(int(self._now + fault.retry_after))}
        return {"Retry-After": f"{fault.retry_after:g}"}

    @property
    def _now(self) -> float:
        """One moment for all headers of an answer."""
        moment: float = self.__dict__.setdefault("_moment", time.time())
        return moment

    def _head(self, code: int, headers: dict[str, str]) -> None:
        self.send_response_only(code)
        self.send_header("Date", self.date_time_string(int(self._now)))
        self.__dict__.pop("_moment", None)
        for name, value in headers.items():
            self.send_header(name, value)
        self.end_headers()

    def _json(self, code: int, body: dict[str, Any], headers: dict[str, str] | None = None) -> None:
        sent = json.dumps(body, ensure_ascii=False).encode()
        told = {"Content-Type": "application/json", "Content-Length": str(len(sent))}
        self._head(code, told | (headers or {}))
        self.wfile.write(sent)
