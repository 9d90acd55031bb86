"""A stream of events as an answer, which goes on until either side ends it."""

from __future__ import annotations

import asyncio

from starlette.responses import StreamingResponse

from looseleaf.base.errors import NotFound, Refused
from looseleaf.serve.events import Listener

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable
    from typing import Any

    from starlette.requests import Request
    from starlette.responses import Response

    from looseleaf.serve.access import Token
    from looseleaf.serve.serving import Serving

SEND_SECONDS = 15.0
"""A reader that takes nothing for so long is dropped."""


def stream(
    serving: Serving,
    name: str,
    token: Token,
    last_event_id: str = "",
    *,
    asker: str = "",
    abort: Callable[[], None] | None = None,
) -> Response:
    """Return the stream of a memory's events as an answer, from after the event of an id.

    `asker`: whose streams are counted, if not the token's. `abort` drops the connection of a reader that takes nothing:
    `request.state.abort`.
    """
    if not token.sees(name):
        raise NotFound("There is no memory of this name.")
    path = serving.pool.path(name)
    return StreamOfEvents(serving, name, path, Listener(token), asker or token.id, last_event_id, abort)


def stream_for(serving: Serving, name: str, request: Request, *, asker: str = "") -> Response:
    """Return the stream for a request that shows a token, or a visit."""
    abort = getattr(request.state, "abort", None)
    last = request.headers.get("last-event-id", "")
    return stream(serving, name, request.state.token, last, asker=asker, abort=abort)


class StreamOfEvents(StreamingResponse):  # type: ignore[misc]  # untyped
    """An answer that goes on until either side ends it."""

    def __init__(
        self,
        serving: Serving,
        name: str,
        path: str,
        listener: Listener,
        asker: str,
        last: str,
        abort: Callable[[], None] | None,
    ) -> None:
        headers = {"cache-control": "no-store", "x-accel-buffering": "no"}
        serving.limits.open_stream(asker)
        super().__init__(self._body(), 200, headers, "text/event-stream")
        self._serving, self._name, self._path = serving, name, path
        self._listener, self._asker, self._last, self._abort = listener, asker, last, abort

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        async def send_soon(message: Any) -> None:
            try:
                async with asyncio.timeout(SEND_SECONDS):
                    await send(message)
            except TimeoutError:
                self._listener.end()
                if self._abort is None:
                    raise OSError("the reader takes nothing") from None
                self._abort()
                await asyncio.sleep(SEND_SECONDS)  # this task ends as the connection does

        try:
            await super().__call__(scope, receive, send_soon)
        finally:
            self._serving.limits.close_stream(self._asker)
            await asyncio.shield(self._serving.events.leave(self._name, self._listener))

    async def _body(self) -> AsyncIterator[bytes]:
        if self._serving.is_stopping:
            return
        yield b"retry: 2000\n\n"  # the head goes out at once
        try:
            missed = await self._serving.events.join(self._name, self._path, self._listener, self._last)
        except Refused:  # a forget is half done, or the memory is gone: the reader comes back
            return
        for each in missed:
            yield each.encode()
        yield b": listening\n\n"
        while not self._listener.is_over:
            event = await self._listener.take()
            if event is not None:
                yield event.encode()
            elif not self._listener.is_over:
                yield b": still here\n\n"
