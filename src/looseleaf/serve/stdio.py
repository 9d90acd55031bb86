"""Serving one client over standard input and output.

Invariant: only the protocol is on standard output, as UTF-8. While the server runs, libraries,
warnings and `print` write to standard error instead. The number of requests under way is limited: a client that does
not read answers is not read from either.
"""

from __future__ import annotations

import asyncio
import os
import signal
from contextlib import suppress

import anyio
import mcp_types as types
from mcp.server.stdio import stdio_server
from mcp.shared.message import SessionMessage
from pydantic import ValidationError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from mcp.server import Server

    from looseleaf.memory.thread import MemoryThread

_GRACE_SECONDS = 5
"""Time for writes under way when the process is stopped. A write that is cut off then is whole or absent."""
_PATIENCE_SECONDS = 30
"""Time for answers to a client that closed its end."""
UNDER_WAY = 64
"""Requests without an answer, and answers not yet read: more than any client has open."""


def serve(server: Server[Any], keeper: MemoryThread) -> None:
    """Serve until the client closes its end, or until SIGINT or SIGTERM."""
    try:
        anyio.run(_serve, server, keeper)
    except* (BrokenPipeError, ConnectionResetError):
        pass  # the client is gone


async def _serve(server: Server[Any], keeper: MemoryThread) -> None:
    def end() -> None:
        # Exit here instead of closing the loop: a thread waits for the client's next line, which may never come and
        # cannot be cancelled.
        keeper.close(_GRACE_SECONDS)
        os._exit(0)

    for each in (signal.SIGTERM, signal.SIGINT):
        asyncio.get_running_loop().add_signal_handler(each, end)
    async with stdio_server() as (read, write):
        await server.run(*pair_streams(read, write), server.create_initialization_options())


# --- a client that writes its requests and closes still gets its answers ----------------


def pair_streams(read: Any, write: Any) -> tuple[StdioCalls, StdioReplies]:
    """Return both ends of a client, which share the requests under way."""
    asked = StdioCalls(read, write)
    return asked, StdioReplies(write, asked)


class WrappedStream:
    """A wrapper of an SDK stream."""

    def __init__(self, inner: Any) -> None:
        self._inner = inner

    async def aclose(self) -> None:
        await self._inner.aclose()

    async def __aenter__(self) -> Any:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.aclose()


class StdioCalls(WrappedStream):
    """The requests of a client. Their end comes after the last answer: at the end, the SDK drops open requests."""

    def __init__(self, inner: Any, answers: Any) -> None:
        super().__init__(inner)
        self._answers = answers
        self._open: dict[str, int] = {}
        """By id, the number of open requests: a client may use an id twice."""
        self._leaving = 0
        self._is_answered = anyio.Event()

    async def receive(self) -> Any:
        await self._wait_for_fewer(UNDER_WAY)
        try:
            item = await self._inner.receive()
        except anyio.EndOfStream:
            with anyio.move_on_after(_PATIENCE_SECONDS):
                await self._wait_for_fewer(1)
            raise
        if isinstance(item, Exception):
            await self._answer_bad_line(item)
            return item
        message: Any = item.message
        method, name = getattr(message, "method", None), getattr(message, "id", None)
        if method is not None and name is not None:
            self._open[str(name)] = self._open.get(str(name), 0) + 1
        elif method == "notifications/cancelled":  # such a request gets no answer
            self._close(str((message.params or {}).get("requestId")))
        return item

    async def _wait_for_fewer(self, number: int) -> None:
        while sum(self._open.values()) + self._leaving >= number:
            self._is_answered = anyio.Event()
            await self._is_answered.wait()

    async def _answer_bad_line(self, error: Exception) -> None:
        """Answer a line that is not a message, without an id: the SDK ignores it."""
        [first, *_] = error.errors() if isinstance(error, ValidationError) else [{}]
        given = first.get("input")
        if isinstance(given, str) and not given.strip():
            return  # an empty line is no request
        if first.get("type") == "json_invalid":
            fault = types.ErrorData(code=types.PARSE_ERROR, message="Nothing was done: a line was not JSON.")
        else:
            sentence = "Nothing was done: a line was JSON, but not a JSON-RPC 2.0 message."
            fault = types.ErrorData(code=types.INVALID_REQUEST, message=sentence)
        answer = SessionMessage(types.JSONRPCError(jsonrpc="2.0", id=None, error=fault))
        with suppress(anyio.BrokenResourceError):  # the client is gone; the writer reports it
            await self._answers.send(answer)

    def leaves(self, name: int | str | None) -> None:
        """Count an answer on its way to the client, which may not read it."""
        self._leaving += 1
        if name is not None:
            self._close(str(name))

    def left(self) -> None:
        self._leaving -= 1
        self._is_answered.set()

    def _close(self, name: str) -> None:
        number = self._open.pop(name, 0)
        if number > 1:
            self._open[name] = number - 1
        self._is_answered.set()

    def __aiter__(self) -> StdioCalls:
        return self

    async def __anext__(self) -> Any:
        try:
            return await self.receive()
        except anyio.EndOfStream:
            raise StopAsyncIteration from None


class StdioReplies(WrappedStream):
    """The answers to a client."""

    def __init__(self, inner: Any, asked: StdioCalls) -> None:
        super().__init__(inner)
        self._asked = asked

    async def send(self, item: Any) -> None:
        self._asked.leaves(getattr(item.message, "id", None))
        try:
            await self._inner.send(item)
        finally:
            self._asked.left()
