"""A stream of events as an answer, which goes on until either side ends it."""

from __future__ import annotations

import asyncio
from functools import partial

from starlette.responses import StreamingResponse

from looseleaf.base.errors import NotFound, Refused
from looseleaf.serve.events import Listener
from looseleaf.serve.sign import is_still_let_in

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable
    from typing import Any

    from starlette.requests import Request
    from starlette.responses import Response

    from looseleaf.serve.access import Token
    from looseleaf.serve.serving import Serving


def stream(
    serving: Serving,
    name: str,
    token: Token,
    last_event_id: str = "",
    *,
    asker: str = "",
    is_let_in: Callable[[], bool] = lambda: True,
) -> Response:
    """Return the stream of a memory's events as an answer, from after the event of an id.

    `asker`: whose streams are counted, if not the token's. `is_let_in`: whether the asker may still hear what comes.
    """
    if not token.sees(name):
        raise NotFound("There is no memory of this name.")
    path = serving.pool.path(name)
    return StreamOfEvents(serving, name, path, Listener(token), asker or token.id, last_event_id, is_let_in)


def stream_for(serving: Serving, name: str, request: Request, *, asker: str = "") -> Response:
    """Return the stream for a request that shows a token, or a visit. It ends when these do."""
    last = request.headers.get("last-event-id", "")
    is_let_in = partial(is_still_let_in, serving, request)
    return stream(serving, name, request.state.token, last, asker=asker, is_let_in=is_let_in)


class StreamOfEvents(StreamingResponse):  # type: ignore[misc]  # untyped
    """An answer that goes on until either side ends it. Invariant: nothing is told to whom a new request would tell
    nothing."""

    def __init__(
        self,
        serving: Serving,
        name: str,
        path: str,
        listener: Listener,
        asker: str,
        last: str,
        is_let_in: Callable[[], bool],
    ) -> None:
        headers = {"cache-control": "no-store", "x-accel-buffering": "no"}
        serving.limits.open_stream(asker)
        super().__init__(self._body(), 200, headers, "text/event-stream")
        self._serving, self._name, self._path = serving, name, path
        self._listener, self._asker, self._last, self._is_let_in = listener, asker, last, is_let_in

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        try:
            await super().__call__(scope, receive, send)
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
            if not self._is_let_in():
                return
            yield each.encode()
        yield b": listening\n\n"
        while not self._listener.is_over:
            event = await self._listener.take()
            if not self._is_let_in():
                return
            if event is not None:
                yield event.encode()
            elif not self._listener.is_over:
                yield b": still here\n\n"
