"""A pump: reads a provider's stream in its own thread into a short queue.

SDKs block while they import, resolve names, connect, and wait for a silent server. The caller does not: a time limit
and `cancel` hold whatever the SDK does. Errors of the SDK are raised to the caller.

Stopping a pump early breaks its connection, so that the provider notices and stops; a thread that waits for the first
byte of a response has no connection yet, and closes it as soon as it gets one.
"""

from __future__ import annotations

import threading
from collections import deque, namedtuple
from contextvars import ContextVar, copy_context
from time import monotonic

from looseleaf.base.errors import Refused
from looseleaf.models.failures import Failure

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Any, Protocol

    class Cancel(Protocol):
        def is_set(self) -> bool: ...


ROOM = 64
"""Chunks in the queue. A slow reader slows the line down."""

LOOKING = 0.03
"""Seconds between two looks at `cancel`, which can only be polled."""


class TimeUp(Exception):
    """The limit was reached."""


class Ended(Exception):
    """`cancel` was set."""


StreamLine = namedtuple("StreamLine", "chunks response", defaults=(None,))
"""A provider's answer while it comes: its chunks, and their HTTP response."""


ARRIVED: ContextVar[Callable[[Any], None]] = ContextVar("arrived")
"""Called with a response, in its pump's thread: for an SDK that hides its responses."""


class Pump:
    """`open` asks the provider, in the pump's thread. `explain_error` says what an error of the SDK means, and whether
    anything had arrived; the error itself goes no further, since it holds the request with its key."""

    def __init__(
        self, open: Callable[[], StreamLine], explain_error: Callable[[BaseException, bool], Failure]
    ) -> None:
        self._changed = threading.Condition()
        self._chunks: deque[dict[str, Any]] = deque()
        self._response: Any = None
        self._explain_error = explain_error
        self._error: Exception | None = None
        self._has_begun = self._is_done = self._is_stopped = False
        # Its own context: values set in it end with the thread, and the caller's (a span) hold there.
        run, given = copy_context().run, (self._read_stream, open)
        threading.Thread(target=run, args=given, name="looseleaf model", daemon=True).start()

    def chunks(self, seconds: float, cancel: Cancel | None) -> Iterator[dict[str, Any]]:
        """Yield the chunks to the end. Raises `Failure`, `Ended`, and `TimeUp` after so many seconds of waiting in
        all: the time of a slow reader does not count."""
        while True:
            if cancel is not None and cancel.is_set():
                raise Ended
            with self._changed:
                while not self._chunks and not self._is_done:
                    if seconds <= 0:
                        raise TimeUp
                    before = monotonic()
                    self._changed.wait(seconds if cancel is None else min(seconds, LOOKING))
                    seconds -= monotonic() - before
                    if cancel is not None and cancel.is_set():
                        raise Ended
                if not self._chunks:
                    if self._error is not None:
                        raise self._error
                    return
                chunk = self._chunks.popleft()
                self._changed.notify_all()
            yield chunk

    def stop(self) -> None:
        """Hang up, unless the stream is done."""
        with self._changed:
            self._is_stopped = True
            response, self._response = self._response, None
            self._changed.notify_all()
        _hang_up(response)

    def _read_stream(self, open: Callable[[], StreamLine]) -> None:
        line: StreamLine | None = None
        raised: Exception | None = None
        ARRIVED.set(self._hold_response)
        try:
            line = open()
            self._hold_response(line.response)
            for chunk in line.chunks:
                self._has_begun = True
                if not isinstance(chunk, dict):
                    raise TypeError("a chunk is not an object")
                if not self._put_chunk(chunk):
                    break
        except Refused as error:
            raised = error
        except BaseException as error:  # noqa: BLE001 - whatever an SDK raises goes to the caller
            try:
                raised = self._explain_error(error, self._has_begun)
            except Exception:  # noqa: BLE001 - an SDK's errors are foreign code, too
                why = f"its SDK failed in a way of its own ({type(error).__name__})"
                raised = Failure(f"The model did not answer: {why}.", "Ask again.")
        with self._changed:
            self._response = None  # from now on only this thread has it
        run_quietly(lambda: _close_line(line))
        with self._changed:
            self._error = raised
            self._is_done = True
            self._changed.notify_all()

    def _hold_response(self, response: Any) -> None:
        with self._changed:
            if not self._is_stopped:
                self._response = response
                return
        _hang_up(response)

    def _put_chunk(self, chunk: dict[str, Any]) -> bool:
        with self._changed:
            while len(self._chunks) >= ROOM and not self._is_stopped:
                self._changed.wait()
            self._chunks.append(chunk)
            self._changed.notify_all()
            return not self._is_stopped


def _close_line(line: StreamLine | None) -> None:
    if line is not None:
        if hasattr(line.chunks, "close"):
            line.chunks.close()
        if line.response is not None:
            line.response.close()


def _hang_up(response: Any) -> None:
    """Break the connection of a response that another thread reads: closing it from here would wait for that thread, or
    be refused."""
    import socket

    stream = response.extensions.get("network_stream") if response is not None else None
    line = stream.get_extra_info("socket") if stream is not None else None
    if line is not None and not response.is_closed:
        try:
            line.shutdown(socket.SHUT_RDWR)
        except OSError:  # it was quicker
            pass


def run_quietly(call: Callable[[], object]) -> Exception | None:
    """Run foreign code whose failure must not matter; return what it raised."""
    try:
        call()
    except Exception as error:  # noqa: BLE001 - foreign code
        return error
    return None
