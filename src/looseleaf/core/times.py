"""Epoch seconds as text that people read and that sorts by time. Always UTC; `core/moments.py` reads them back."""

from __future__ import annotations

from datetime import UTC, datetime


def written(ts: float) -> str:
    """`2026-02-24T10:00:00.000000Z`: always as long, so that texts sort as their times do."""
    return datetime.fromtimestamp(ts, UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")


def day(ts: float) -> str:
    """The day that it was: `2026-02-24`."""
    return datetime.fromtimestamp(ts, UTC).strftime("%Y-%m-%d")


def clock(ts: float) -> str:
    """The time of day: `10:05`."""
    return datetime.fromtimestamp(ts, UTC).strftime("%H:%M")
