"""A connection to the HTTP server: it has only so long to say what it wants, and there are only so many.

Whoever connects needs no token for that. Invariant: those who connect and say nothing, or half of a request, are
dropped in time, and never use up what the process may have open; a request that is being answered is left alone.
"""

from __future__ import annotations

import logging
import time

from uvicorn.protocols.http.h11_impl import H11Protocol, h11

TYPE_CHECKING = False
if TYPE_CHECKING:
    from asyncio import TimerHandle, Transport
    from typing import Any

SECONDS = 10.0
"""For the head of a request; and again for its body."""
MOST = 256
"""Connections at once, where the process may have that many files open: more than sessions need."""
AT_A_TIME = 16
"""Connections that are let in before those that are too many are seen."""

_SAID = 5
_SAID_SECONDS = 60.0


def most() -> int:
    """At most half of what the process may have open: the memory's own files are not counted here."""
    try:
        from resource import RLIM_INFINITY, RLIMIT_NOFILE, getrlimit
    except ModuleNotFoundError:  # pragma: no cover - Windows
        return MOST
    soft, _ = getrlimit(RLIMIT_NOFILE)
    return MOST if soft == RLIM_INFINITY else max(1, min(MOST, soft // 2))


class Connection(H11Protocol):  # type: ignore[misc]  # it is not typed for us
    def __init__(self, *given: Any, **named: Any) -> None:
        super().__init__(*given, **named)
        self._timer: TimerHandle | None = None
        self._awaited: object = None
        self._since = 0.0

    def connection_made(self, transport: Transport) -> None:
        super().connection_made(transport)
        self._since = self.loop.time()
        self._wait_for(h11.IDLE)
        there: list[Any] = [each for each in self.connections if not each.transport.is_closing()]
        if len(there) > most():
            # The one that has waited longest; this one, at least, has said nothing yet.
            min((each for each in there if each.is_waiting), key=lambda each: each._since)._drop()

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        state = self.conn.their_state
        self._wait_for(
            state if state in (h11.IDLE, h11.SEND_BODY) and not self.transport.is_closing() else None
        )

    def on_response_complete(self) -> None:
        self._since = self.loop.time()
        super().on_response_complete()
        # Between two requests, the HTTP server has its own patience.
        self._wait_for(h11.SEND_BODY if self.conn.their_state is h11.SEND_BODY else None)

    def connection_lost(self, exc: Exception | None) -> None:
        self._wait_for(None)
        super().connection_lost(exc)

    @property
    def is_waiting(self) -> bool:
        """Whether nothing of it is being answered."""
        return self.cycle is None or self.cycle.response_complete

    def _wait_for(self, part: object) -> None:
        """From now on for another part of a request, or for none; not longer because a byte more of it came."""
        if part is self._awaited:
            return
        if self._timer is not None:
            self._timer.cancel()
        self._awaited = part
        self._timer = self.loop.call_later(SECONDS, self._drop) if part is not None else None

    def _drop(self) -> None:
        self._wait_for(None)
        self.transport.abort()


class Seldom(logging.Filter):
    """Lets some messages a minute pass. What others can cause as often as they like does not fill a disk."""

    def __init__(self) -> None:
        super().__init__()
        self._since = 0.0
        self._number = 0

    def filter(self, record: logging.LogRecord) -> bool:
        now = time.monotonic()
        if now - self._since >= _SAID_SECONDS:
            self._since, self._number = now, 0
        self._number += 1
        return self._number <= _SAID
