"""Times as callers give them."""

from __future__ import annotations


def when_of(time: str | float | None, *, start: bool = False) -> float | None:
    """Epoch seconds: of a date its last moment, or its first."""
    if not isinstance(time, str):
        return time
    from looseleaf.pages.history import parse_when

    return parse_when(time, start=start)
