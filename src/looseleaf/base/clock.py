"""What time it is, for everything that is written down; and a way to write as of another time.

Forgetting places old entries again, as if it were then (FORMAT §17.3). Within `at`, in this thread alone, it is that
time, and the ids that are made follow from it and from a name: the same work done again makes the same ids.
"""

from __future__ import annotations

import time
from _thread import _local


class _Then(_local):
    moments: tuple[at, ...] = ()


_then = _Then()


def now() -> float:
    """Epoch seconds."""
    return _then.moments[-1].ts if _then.moments else time.time()


def named_id() -> tuple[float, str] | None:
    """Of the next id: its time, and what it is made of. None: by chance."""
    return _then.moments[-1].next_name() if _then.moments else None


class at:
    """`with at(ts, name):` it is then. Ids are made of the time, the name and how many there were."""

    def __init__(self, ts: float, name: str) -> None:
        self.ts = ts
        self._name = name
        self._count = 0

    def next_name(self) -> tuple[float, str]:
        self._count += 1
        return self.ts, f"{self._name}\n{self._count}"

    def __enter__(self) -> None:
        _then.moments = (*_then.moments, self)

    def __exit__(self, *_: object) -> None:
        _then.moments = _then.moments[:-1]
