"""The keeper of a memory that is served: one thread opens it, and whatever is asked of it is done there, in turn.

A memory is synchronous, and parts of it (an index's handle) belong to the thread that made them. A server's loop waits
for many clients at once. Between the two stands this thread: the loop is never held up, and no two requests meet in the
memory. Invariant: an asker gets what was done, or a `Refused` with a sentence, and the next one is served either way.
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


class Keeper:
    def __init__(self, open_memory: Callable[[], Memory]) -> None:
        self._thread = ThreadPoolExecutor(1, "looseleaf-memory")
        self._told: set[str] = set()
        try:
            self._memory = self._thread.submit(open_memory).result()
        except BaseException:
            self._thread.shutdown()
            raise

    @property
    def path(self) -> str:
        return self._memory.path

    async def __call__(self, act: Callable[[Memory], _T]) -> _T:
        """What `act` makes of the memory, in the memory's thread."""
        future = asyncio.wrap_future(self._thread.submit(self._do, act))
        try:
            await asyncio.wait((future,))
        finally:
            future.cancel()  # whoever gave up waiting: what has not begun need not begin
        error = future.exception()
        if error is None:
            return future.result()
        if isinstance(error, Refused):
            raise error
        # A fault of ours. The client is told that there is one, the log which; the server goes on.
        _log.error("a request failed", exc_info=error)
        raise Refused(
            f"It is not known whether this was done: the program has a fault ({type(error).__name__}), which the "
            "server's standard error shows. Read the memory before you repeat it."
        ) from error

    def _do(self, act: Callable[[Memory], _T]) -> _T:
        try:
            return act(self._memory)
        finally:
            for note in self._memory.notes:
                if note not in self._told:
                    self._told.add(note)
                    _log.warning("%s", note)

    def close(self, seconds: float | None = None) -> None:
        """Finish what was asked, and let go of the memory; if that takes longer than this, not."""
        closing = self._thread.submit(self._memory.close)
        self._thread.shutdown(wait=False)
        wait((closing,), seconds)

    def __enter__(self) -> Keeper:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()
