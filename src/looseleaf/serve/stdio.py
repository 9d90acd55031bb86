"""Serving one client over standard input and output.

Invariant: nothing but the protocol is on standard output, as UTF-8 whatever the platform's habit. While the server
runs, the descriptor that others (libraries, warnings, `print`) take for standard output leads to standard error.
"""

from __future__ import annotations

import asyncio
import os
import signal

import anyio
from mcp.server.stdio import stdio_server

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from mcp.server import Server

    from looseleaf.serve.keeper import Keeper

_GRACE_SECONDS = 5
"""For what is being written when the process is told to end. What is cut off after that is whole or absent."""
_PATIENCE_SECONDS = 30
"""For the answers to what a client asked before it closed its end."""


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
        asked = Asked(read)
        await server.run(asked, Answered(write, asked), server.create_initialization_options())


# --- a script that writes its requests and closes has its answers ----------------------


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

    def __init__(self, inner: Any) -> None:
        super().__init__(inner)
        self._open: set[int | str] = set()
        self._is_answered = anyio.Event()

    async def receive(self) -> Any:
        try:
            item = await self._inner.receive()
        except anyio.EndOfStream:
            with anyio.move_on_after(_PATIENCE_SECONDS):
                while self._open:
                    self._is_answered = anyio.Event()
                    await self._is_answered.wait()
            raise
        message: Any = getattr(item, "message", None)  # a line that is no message comes as an exception
        method, name = getattr(message, "method", None), getattr(message, "id", None)
        if method is not None and name is not None:
            self._open.add(name)
        elif method == "notifications/cancelled":  # such a request gets no answer
            self.close(str((message.params or {}).get("requestId")))
        return item

    def close(self, name: int | str) -> None:
        self._open -= {each for each in self._open if str(each) == str(name)}
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
        await self._inner.send(item)
        name = getattr(item.message, "id", None)
        if name is not None:
            self._asked.close(name)
