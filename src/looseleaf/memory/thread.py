"""A memory in a thread of its own: one request after another.

A memory belongs to one caller, and its database only to the thread that made it, while a server waits for clients. This
thread stands between the two: the server is never blocked, and no two requests meet in the memory. Invariant: a caller
gets the result or a `Refused`, and the next one is served either way.
"""

from __future__ import annotations

import logging
from concurrent.futures import ThreadPoolExecutor, wait

from looseleaf.base.errors import Refused

TYPE_CHECKING = False
if TYPE_CHECKING:
    import asyncio
    from collections.abc import Callable
    from concurrent.futures import Future
    from types import TracebackType
    from typing import TypeVar

    from looseleaf.memory import Memory

    _T = TypeVar("_T")

_log = logging.getLogger("looseleaf")


class Failed(Refused):
    """A request that met a bug of the program: it may or may not have been done."""


class MemoryThread:
    """A memory in its own thread, opened by the first request. If it cannot be opened, the next request tries again."""

    def __init__(self, open_memory: Callable[[], Memory]) -> None:
        self._thread = ThreadPoolExecutor(1, "looseleaf-memory")
        self._open_memory = open_memory
        self._memory: Memory | None = None
        self._logged: set[str] = set()

    def path(self) -> str:
        """Return the memory's path, or its address without a password; refuse if it cannot be opened."""
        return outcome(self.submit(lambda memory: memory.name))

    def submit(self, act: Callable[[Memory], _T]) -> Future[_T]:
        """Run `act` on the memory in its thread; `outcome` has the result."""
        return self._thread.submit(self._run, act)

    async def __call__(self, act: Callable[[Memory], _T]) -> _T:
        """Run `act` on the memory in its thread, and return the result."""
        import asyncio

        future = asyncio.wrap_future(self.submit(act))
        try:
            await asyncio.wait((future,))
        finally:
            future.cancel()  # the caller gave up: a request not begun is dropped
        return outcome(future)

    def _run(self, act: Callable[[Memory], _T]) -> _T:
        if self._memory is not None and not self._memory.parts.store.is_in_place():
            self._memory.close()  # its folder was replaced: begin again with the one that is there
            self._memory = None
        if self._memory is None:
            self._memory = self._open_memory()
        try:
            return act(self._memory)
        finally:
            for note in self._memory.notes:
                if note not in self._logged:
                    self._logged.add(note)
                    _log.warning("%s", note)

    def close(self, seconds: float | None = None) -> None:
        """Finish all requests and close the memory; give up after `seconds`."""
        closing = self._thread.submit(lambda: self._memory.close() if self._memory is not None else None)
        self._thread.shutdown(wait=False)
        wait((closing,), seconds)

    def __enter__(self) -> MemoryThread:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def outcome(future: Future[_T] | asyncio.Future[_T]) -> _T:
    """Return the result of a request, or raise a `Refused`."""
    error = future.exception()
    if error is None:
        return future.result()
    if isinstance(error, Refused):
        raise error
    # A bug. The client learns that there is one, the log has it; the server goes on.
    _log.error("a request failed", exc_info=error)
    raise Failed(
        f"This may or may not have been done: the program has a bug ({type(error).__name__}), shown on the "
        "server's standard error. Read the memory before you repeat it."
    ) from error
