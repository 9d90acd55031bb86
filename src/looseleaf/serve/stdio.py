"""Serving one client over standard input and output.

It answers what needs no memory at once, also while a call runs: the memory is opened, in a thread of its own, by the
first request that needs it. So the server is there when a client makes its first prompt. A memory that cannot be opened
is an answer to each call, which a model can pass on; a server that does not start is a line in a log.

Invariant: only the protocol is on standard output, as UTF-8. While the server runs, libraries, warnings and `print`
write to standard error instead. The number of requests under way is limited: a client that does not read answers is not
read from either.
"""

from __future__ import annotations

import os
import signal
import sys
from _thread import allocate_lock
from contextlib import contextmanager
from functools import partial

from looseleaf.base.errors import Refused
from looseleaf.serve.offered import error_result
from looseleaf.serve.protocol import (
    NO_MESSAGE,
    WITH_BATCHES,
    WRONG_PARAMS,
    Cancellation,
    Fault,
    MemoryRequest,
    Session,
    error_message,
    read_line,
    result_message,
    write_line,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from concurrent.futures import Future
    from typing import Any, BinaryIO

    from looseleaf.memory import Memory
    from looseleaf.memory.thread import MemoryThread
    from looseleaf.serve.protocol import Json

    Reply = Callable[[Json | None], None]

_GRACE_SECONDS = 5
"""Time for writes under way when the process is stopped. A write that is cut off then is whole or absent."""
_PATIENCE_SECONDS = 30
"""Time for answers to a client that closed its end."""
UNDER_WAY = 64
"""Requests without an answer: more than any client has open."""
LINE_BYTES = 4 << 20
"""The limit for a line: more than any page may have."""


def serve(
    find_memory: Callable[[], str], open_memory: Callable[[], Memory], *, read_only: bool = False
) -> None:
    """Serve until the client closes its end, or until SIGINT or SIGTERM. `find_memory` returns the memory's path."""
    with _claim(0, sys.stdin, "rb") as source, _claim(1, sys.stdout, "wb") as target:
        session = Session(find_memory, read_only=read_only)
        server = _Server(session, open_memory, target, read_only=read_only)

        def end(*_: object) -> None:
            # Exit here: the next line may never come, and nothing else waits.
            server.close(_GRACE_SECONDS)
            os._exit(0)

        before = {each: signal.signal(each, end) for each in (signal.SIGTERM, signal.SIGINT)}
        try:
            for line in _lines(source):
                server.take(line)
        except (BrokenPipeError, ConnectionResetError):
            pass  # the client is gone
        finally:
            server.close(_PATIENCE_SECONDS)
            for each, handler in before.items():
                signal.signal(each, handler)


class _Server:
    """A client's requests, and their answers."""

    def __init__(
        self, session: Session, open_memory: Callable[[], Memory], target: BinaryIO, *, read_only: bool
    ) -> None:
        self._session = session
        self._open_memory = open_memory
        self._read_only = read_only
        self._target = target
        self._writing = allocate_lock()
        self._keeper: MemoryThread | None = None
        self._calls: dict[str, _Call] = {}
        """The requests under way, by id. A client may use an id twice: the last one can be taken back."""

    def take(self, line: bytes | None) -> None:
        """Answer a line; None stands for one that is too long."""
        try:
            if line is None:
                raise Fault(NO_MESSAGE, f"Nothing was done: a line was longer than {LINE_BYTES:,} bytes.")
            message = read_line(line)
        except Fault as fault:
            self._write(error_message(fault))
            return
        if isinstance(message, list) and message and self._session.version == WITH_BATCHES:
            batch = _Batch(len(message), self._write)
            for each in message:
                self._take_message(each, batch.add)
        else:
            self._take_message(message, self._write_answer)

    def _take_message(self, message: Any, reply: Reply) -> None:
        made = self._session.answer(message)
        if isinstance(made, MemoryRequest):
            self._start(made, reply)
        elif isinstance(made, Cancellation):
            call = self._calls.get(str(made.id))
            if call is not None:
                call.take_back()
            reply(None)
        else:
            reply(made)

    def _start(self, request: MemoryRequest, reply: Reply) -> None:
        """Have the memory answer a request, in its thread."""
        if self._keeper is None:
            from threading import Semaphore

            from looseleaf.memory.thread import MemoryThread

            self._keeper, self._free = MemoryThread(self._open_memory), Semaphore(UNDER_WAY)
        self._free.acquire()
        call = _Call(request, reply, self._keeper.submit(partial(self._work, request)))
        self._calls[str(request.id)] = call
        call.future.add_done_callback(lambda _: self._end(call))

    def _work(self, request: MemoryRequest, memory: Memory) -> Json:
        from looseleaf.serve.answers import result_of

        return result_of(memory, request.method, request.params, read_only=self._read_only)

    def _end(self, call: _Call) -> None:
        if self._calls.get(str(call.request.id)) is call:
            del self._calls[str(call.request.id)]
        try:
            call.reply(call.answer())
        except OSError:
            pass  # the client is gone, and its requests will end too
        finally:
            self._free.release()

    def _write_answer(self, answer: Json | None) -> None:
        if answer is not None:
            self._write(answer)

    def _write(self, message: Json | list[Json]) -> None:
        rest = memoryview(write_line(message))
        with self._writing:
            while rest:
                rest = rest[self._target.write(rest) :]

    def close(self, seconds: float) -> None:
        """Finish all requests and close the memory; give up after `seconds`."""
        if self._keeper is not None:
            self._keeper.close(seconds)


class _Call:
    """A request that the memory answers."""

    def __init__(self, request: MemoryRequest, reply: Reply, future: Future[Json]) -> None:
        self.request = request
        self.reply = reply
        self.future = future
        self._is_wanted = True

    def take_back(self) -> None:
        """Drop the call if it has not begun. In any case it gets no answer: the client wants none."""
        self._is_wanted = False
        self.future.cancel()

    def answer(self) -> Json | None:
        from looseleaf.memory.thread import outcome

        if not self._is_wanted:
            return None
        name, method = self.request.id, self.request.method
        try:
            result = outcome(self.future)
        except Refused as refused:
            if method != "tools/call":
                return error_message(Fault(WRONG_PARAMS, str(refused)), name)
            result = error_result(str(refused))
        return result_message(name, method, result, is_modern=self.request.is_modern)


class _Batch:
    """The answers to several messages in one line, written when the last one is there."""

    def __init__(self, number: int, write: Callable[[list[Json]], None]) -> None:
        self._missing = number
        self._write = write
        self._answers: list[Json] = []
        self._adding = allocate_lock()

    def add(self, answer: Json | None) -> None:
        with self._adding:
            self._missing -= 1
            self._answers += [answer] if answer is not None else []
            is_whole = not self._missing
        if is_whole and self._answers:
            self._write(self._answers)


# --- the two ends -----------------------------------------------------------------------


@contextmanager
def _claim(number: int, stream: Any, mode: str) -> Iterator[BinaryIO]:
    """Yield the client's end of a standard stream, which for the time leads elsewhere: programs that are started here
    read nothing from the client, and what is printed goes to standard error."""
    try:
        is_own = stream.buffer.fileno() == number
    except (OSError, ValueError):
        is_own = False
    if not is_own:
        yield stream.buffer
        return
    end = os.dup(number)
    other = os.open(os.devnull, os.O_RDONLY) if mode == "rb" else os.dup(2)
    os.dup2(other, number)
    os.close(other)
    try:
        with open(end, mode, buffering=-1 if mode == "rb" else 0, closefd=False) as file:
            yield file  # type: ignore[misc]
    finally:
        os.dup2(end, number)
        os.close(end)


def _lines(source: BinaryIO) -> Iterator[bytes | None]:
    """Yield the lines that say something; None for one that is too long."""
    while line := source.readline(LINE_BYTES + 1):
        is_long = len(line) > LINE_BYTES and not line.endswith(b"\n")
        while is_long and line and not line.endswith(b"\n"):
            line = source.readline(LINE_BYTES)
        if is_long:
            yield None
        elif line.strip():
            yield line
