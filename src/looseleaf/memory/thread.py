"""The keeper of a served memory: one thread opens it and runs all requests in turn.

A memory is synchronous, and parts of it (an index's handle) belong to the thread that made them, while a server's loop
waits for many clients. This thread stands between the two: the loop is never blocked, and no two requests meet in the
memory. Invariant: a caller gets the result or a `Refused`, and the next one is served either way.
"""

from __future__ import annotations

import asyncio
import logging
from concurrent.futures import ThreadPoolExecutor, wait

from looseleaf.base.errors import Refused

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from types import TracebackType
    from typing import TypeVar

    from looseleaf.memory import Memory

    _T = TypeVar("_T")

_log = logging.getLogger("looseleaf")


class MemoryThread:
    """A memory in its own thread."""

    def __init__(self, open_memory: Callable[[], Memory]) -> None:
        self._thread = ThreadPoolExecutor(1, "looseleaf-memory")
        self._logged: set[str] = set()
        try:
            self._memory = self._thread.submit(open_memory).result()
        except BaseException:
            self._thread.shutdown()
            raise

    @property
    def path(self) -> str:
        return self._memory.path

    async def __call__(self, act: Callable[[Memory], _T]) -> _T:
        """Run `act` on the memory in its thread, and return the result."""
        future = asyncio.wrap_future(self._thread.submit(self._run, act))
        try:
            await asyncio.wait((future,))
        finally:
            future.cancel()  # the caller gave up: a request not begun is dropped
        error = future.exception()
        if error is None:
            return future.result()
        if isinstance(error, Refused):
            raise error
        # A bug. The client learns that there is one, the log has it; the server goes on.
        _log.error("a request failed", exc_info=error)
        raise Refused(
            f"This may or may not have been done: the program has a bug ({type(error).__name__}), shown on the "
            "server's standard error. Read the memory before you repeat it."
        ) from error

    def _run(self, act: Callable[[Memory], _T]) -> _T:
        try:
            return act(self._memory)
        finally:
            for note in self._memory.notes:
                if note not in self._logged:
                    self._logged.add(note)
                    _log.warning("%s", note)

    def close(self, seconds: float | None = None) -> None:
        """Finish all requests and close the memory; give up after `seconds`."""
        closing = self._thread.submit(self._memory.close)
        self._thread.shutdown(wait=False)
        wait((closing,), seconds)

    def __enter__(self) -> MemoryThread:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()
