"""Epoch seconds as text that people read and that sorts by time. Always UTC; `text/moments.py` reads them back.

A time that no calendar has (a foreign log may hold any number) is written as the first or the last that there is.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from datetime import datetime

_FIRST = -62_135_596_800.0
_LAST = 253_402_300_799.0
"""The first second of the year 1, and the last of the year 9999."""


def written(ts: float) -> str:
    """`2026-02-24T10:00:00.000000Z`: always as long, so that texts sort as their times do."""
    return f"{_moment(ts).replace(tzinfo=None).isoformat(timespec='microseconds')}Z"


def day(ts: float) -> str:
    """The day that it was: `2026-02-24`."""
    return _moment(ts).date().isoformat()


def clock(ts: float) -> str:
    """The time of day: `10:05`."""
    return _moment(ts).strftime("%H:%M")


def _moment(ts: float) -> datetime:
    from datetime import UTC, datetime

    return datetime.fromtimestamp(min(ts, _LAST) if ts >= _FIRST else _FIRST, UTC)
