"""How the page words counts, time spans and ages."""

from __future__ import annotations

import time

_UNITS = ((86_400.0, "day"), (3_600.0, "hour"), (60.0, "minute"), (1.0, "second"))


def plural(count: int, one: str, many: str = "") -> str:
    """Return `1 line`, `2 lines`."""
    return f"{count:,} {one if count == 1 else many or f'{one}s'}"


def lasting(seconds: float) -> str:
    """Return a time span in its largest unit."""
    least, name = next((each for each in _UNITS if seconds >= each[0]), (0.0, ""))
    return plural(int(seconds // least), name) if least else "less than a second"


def ago(ts: float) -> str:
    """Return how long ago something was."""
    return f"{lasting(time.time() - ts)} ago"
