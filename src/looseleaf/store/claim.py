"""A claim: of all that need the same work at once, one does it and the others wait for what it makes."""

from __future__ import annotations

import time
from contextvars import ContextVar

from looseleaf.base.errors import Refused

TYPE_CHECKING = False
if TYPE_CHECKING:
    from looseleaf.store.protocol import Alone

_FIRST_PAUSE, _LONGEST_PAUSE = 0.002, 0.05

_held: ContextVar[frozenset[str]] = ContextVar("claims", default=frozenset())
"""The claims that the running code works under."""


class ChoreClaim:
    """Yields True if no other process or thread is in the same block, after waiting up to `seconds` for that; else
    False, also where files cannot be locked.

    It may be held across anything, even a model's answer, and dies with its process. What runs under a claim and asks
    for it again gets True at once: a distiller may compact, and would wait for itself.
    """

    def __init__(self, alone: Alone, name: str, seconds: float) -> None:
        self._alone, self._name, self._seconds = alone, name, seconds

    def __enter__(self) -> bool:
        self._before = _held.get()
        if self._name in self._before:
            return True
        deadline, pause = time.monotonic() + self._seconds, _FIRST_PAUSE
        is_alone = False
        try:
            is_alone = self._alone.__enter__()
            while not is_alone and time.monotonic() < deadline:
                time.sleep(pause)
                pause = min(2 * pause, _LONGEST_PAUSE)
                is_alone = self._alone.try_again()
        except (Refused, OSError):
            pass
        except BaseException:
            self._alone.__exit__()
            raise
        _held.set(self._before | {self._name})
        return is_alone

    def __exit__(self, *_: object) -> None:
        if self._name not in self._before:
            _held.set(self._before)
            self._alone.__exit__()
