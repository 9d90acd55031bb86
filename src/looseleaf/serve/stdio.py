"""Serving one client over standard input and output.

Invariant: nothing but the protocol is on standard output, as UTF-8 whatever the platform's habit. While the server
runs, the descriptor that others (libraries, warnings, `print`) take for standard output leads to standard error. No
more than so many requests are under way: a client that asks and does not read is not read from either.
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

    from looseleaf.memory.thread import Keeper

_GRACE_SECONDS = 5
"""For what is being written when the process is told to end. What is cut off after that is whole or absent."""
_PATIENCE_SECONDS = 30
"""For the answers to what a client asked before it closed its end."""
UNDER_WAY = 64
"""Requests without an answer, and answers that are not taken yet: more than any client has open."""


def serve(server: Server[Any], keeper: Keeper) -> None:
    """Until the client closes its end, or the process is told to end (SIGINT, SIGTERM)."""
    try:
        anyio.run(_serve, server, keeper)
    except* (BrokenPipeError, ConnectionResetError):
        pass  # the client is gone, and nobody is left to be told


async def _serve(server: Server[Any], keeper: Keeper) -> None:
    def end(*_: object) -> None:
        # From here, and not by winding up the loop: a thread waits for the client's next line, which cannot be
        # called off and may never come.
        keeper.close(_GRACE_SECONDS)
        os._exit(0)

    for each in (signal.SIGTERM, signal.SIGINT):
        if os.name == "posix":
            asyncio.get_running_loop().add_signal_handler(each, end)
        else:  # pragma: no cover - Windows
            signal.signal(each, end)
    async with stdio_server() as (read, write):
        await server.run(*paired(read, write), server.create_initialization_options())


# --- a script that writes its requests and closes has its answers ----------------------


def paired(read: Any, write: Any) -> tuple[Asked, Answered]:
    """Both ends of a client, which know of each other what is under way."""
    asked = Asked(read, write)
    return asked, Answered(write, asked)


class Stream:
    """A stream of the SDK's, with something done on the way."""

    def __init__(self, inner: Any) -> None:
        self._inner = inner

    async def aclose(self) -> None:
        await self._inner.aclose()

    async def __aenter__(self) -> Any:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.aclose()


class Asked(Stream):
    """What the client says. Its end comes when what it asked before is answered: at the end, the SDK drops the rest."""

    def __init__(self, inner: Any, answers: Any) -> None:
        super().__init__(inner)
        self._answers = answers
        self._open: dict[str, int] = {}
        """How often each id was asked with and not answered. The same one may be given twice."""
        self._leaving = 0
        self._is_answered = anyio.Event()

    async def receive(self) -> Any:
        await self._fewer_than(UNDER_WAY)
        try:
            item = await self._inner.receive()
        except anyio.EndOfStream:
            with anyio.move_on_after(_PATIENCE_SECONDS):
                await self._fewer_than(1)
            raise
        if isinstance(item, Exception):
            await self._no_message(item)
            return item
        message: Any = item.message
        method, name = getattr(message, "method", None), getattr(message, "id", None)
        if method is not None and name is not None:
            self._open[str(name)] = self._open.get(str(name), 0) + 1
        elif method == "notifications/cancelled":  # such a request gets no answer
            self._close(str((message.params or {}).get("requestId")))
        return item

    async def _fewer_than(self, number: int) -> None:
        while sum(self._open.values()) + self._leaving >= number:
            self._is_answered = anyio.Event()
            await self._is_answered.wait()

    async def _no_message(self, error: Exception) -> None:
        """A line that is no message is answered here, without an id: the SDK passes over it."""
        [first, *_] = error.errors() if isinstance(error, ValidationError) else [{}]
        given = first.get("input")
        if isinstance(given, str) and not given.strip():
            return  # an empty line asks for nothing
        if first.get("type") == "json_invalid":
            fault = types.ErrorData(code=types.PARSE_ERROR, message="Nothing was done: a line was no JSON.")
        else:
            sentence = "Nothing was done: a line was JSON, but no message of JSON-RPC 2.0."
            fault = types.ErrorData(code=types.INVALID_REQUEST, message=sentence)
        answer = SessionMessage(types.JSONRPCError(jsonrpc="2.0", id=None, error=fault))
        with suppress(anyio.BrokenResourceError):  # the client is gone, and the writer says so
            await self._answers.send(answer)

    def leaves(self, name: int | str | None) -> None:
        """An answer is on its way to the client, who may not read."""
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

    def __aiter__(self) -> Asked:
        return self

    async def __anext__(self) -> Any:
        try:
            return await self.receive()
        except anyio.EndOfStream:
            raise StopAsyncIteration from None


class Answered(Stream):
    """What the client is told."""

    def __init__(self, inner: Any, asked: Asked) -> None:
        super().__init__(inner)
        self._asked = asked

    async def send(self, item: Any) -> None:
        self._asked.leaves(getattr(item.message, "id", None))
        try:
            await self._inner.send(item)
        finally:
            self._asked.left()
