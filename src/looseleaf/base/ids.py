"""Ids that sort by the time they were made: 48 bits of milliseconds, 80 of chance, in Crockford's base 32."""

from __future__ import annotations

import os
import time
from _thread import _local, allocate_lock

from looseleaf.base.hashing import sha256

# What time it is, for everything that is written down; and a way to write as of another time.


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


_DIGITS = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"
_guard = [allocate_lock()]
_last = [0]


def new_id() -> str:
    """A new id: by chance, or, where it is another time (`clock.at`), the one that follows from that."""
    named = named_id()
    if named is not None:
        return id_of(named[0], bytes.fromhex(sha256(named[1].encode())))
    return chance_id()


def chance_id() -> str:
    """A new ULID, larger than every one this process made before, even when the clock steps back."""
    fresh = (time.time_ns() // 1_000_000) << 80 | int.from_bytes(os.urandom(10), "big")
    with _guard[0]:
        # A random step, not one: two children of a fork share the last one and must not make the same id.
        _last[0] = fresh if fresh > _last[0] else _last[0] + 1 + int.from_bytes(os.urandom(8), "big")
        value = _last[0]
    return _written(value)


def _written(value: int) -> str:
    return "".join(_DIGITS[value >> shift & 31] for shift in range(125, -1, -5))


def id_of(seconds: float, digest: bytes) -> str:
    """The id of what was made at a time of inputs with that hash: the same whenever it is made again."""
    value = int(seconds * 1000) << 80 | int.from_bytes(digest[:10], "big")
    return _written(value)


def _after_fork() -> None:
    """Another thread of the parent may have held the guard, and no thread of this process will ever release it."""
    _guard[0] = allocate_lock()


if hasattr(os, "register_at_fork"):  # pragma: no branch - Windows has no fork
    os.register_at_fork(after_in_child=_after_fork)


def is_id(text: str) -> bool:
    return len(text) == 26 and all(digit in _DIGITS for digit in text)


def time_of(text: str) -> float:
    """The epoch seconds at which an id was made."""
    value = 0
    for digit in text[:10]:
        value = value << 5 | _DIGITS.index(digit)
    return value / 1000
