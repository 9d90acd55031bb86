"""The clock, and ids that sort by time: 48 bits of milliseconds, 80 random bits, in Crockford's base 32."""

from __future__ import annotations

import os
import time
from _thread import _local, allocate_lock

from looseleaf.base.values import sha256

# --- the clock, which can be fixed to another time ---


class _FixedTimes(_local):
    moments: tuple[at, ...] = ()


_fixed = _FixedTimes()


def now() -> float:
    """Return the time in epoch seconds."""
    return _fixed.moments[-1].ts if _fixed.moments else time.time()


class at:
    """A fixed time: within `with at(ts, name):` the clock stands there. Ids follow from the time, the name and a
    count."""

    def __init__(self, ts: float, name: str) -> None:
        self.ts = ts
        self._name = name
        self._count = 0

    def next_id(self) -> str:
        self._count += 1
        return id_of(self.ts, bytes.fromhex(sha256(f"{self._name}\n{self._count}".encode())))

    def __enter__(self) -> None:
        _fixed.moments = (*_fixed.moments, self)

    def __exit__(self, *_: object) -> None:
        _fixed.moments = _fixed.moments[:-1]


_DIGITS = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"
_guard = [allocate_lock()]
_last = [0]


def new_id(after: str = "") -> str:
    """Return a new id: random, or, at a fixed time (`at`), the one that follows from it. If the clock is behind the id
    `after`, it is a tenth of a second later than that. Random ones are larger than it in any case."""
    made = _fixed.moments[-1].next_id() if _fixed.moments else random_id()
    if not is_id(after):
        return made
    last = _number_of(after[:10])
    if now() * 1000 < last:
        later = max(last + _STEP, _number_of(made[:10]))
        return made if later >> _BITS else _format_id(later << 80 | _number_of(made[10:]))
    if made > after or _fixed.moments:
        return made
    return _format_id(_number_of(after) + 1 + int.from_bytes(os.urandom(8), "big"))


def random_id() -> str:
    """Return a new ULID, larger than all this process made before, even when the clock steps back."""
    fresh = (time.time_ns() // 1_000_000) << 80 | int.from_bytes(os.urandom(10), "big")
    with _guard[0]:
        # A random step, not one: two children of a fork share the last one and must not make the same id.
        _last[0] = fresh if fresh > _last[0] else _last[0] + 1 + int.from_bytes(os.urandom(8), "big")
        value = _last[0]
    return _format_id(value)


def _format_id(value: int) -> str:
    return "".join(_DIGITS[value >> shift & 31] for shift in range(125, -1, -5))


def id_of(seconds: float, digest: bytes) -> str:
    """Return the id for a time and a hash of inputs: always the same."""
    return _format_id(int(seconds * 1000) << 80 | int.from_bytes(digest[:10], "big"))


def _after_fork() -> None:
    """Replace the guard: a thread of the parent may have held it, and no thread of this process will release it."""
    _guard[0] = allocate_lock()


os.register_at_fork(after_in_child=_after_fork)


def is_id(text: str) -> bool:
    return len(text) == 26 and all(digit in _DIGITS for digit in text)


_BITS, _STEP = 48, 100
"""The bits of an id that hold its time, and the milliseconds from one to the next where the clock is behind."""


def _number_of(digits: str) -> int:
    value = 0
    for digit in digits:
        value = value << 5 | _DIGITS.index(digit)
    return value


def time_of(text: str) -> float:
    """Return the epoch seconds at which an id was made."""
    return _number_of(text[:10]) / 1000
