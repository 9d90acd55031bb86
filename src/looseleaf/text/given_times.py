"""Times as callers give them."""

from __future__ import annotations

import re

from looseleaf.base.errors import Refused


def when_of(time: str | float | None, *, start: bool = False) -> float | None:
    """Epoch seconds: of a date its last moment, or its first."""
    return parse_when(time, start=start) if isinstance(time, str) else time


_TIME = r"\d{4}-\d\d-\d\d([T ]\d\d:\d\d(:\d\d(\.\d+)?)?(Z|[+-]\d\d:\d\d)?)?"


def parse_when(text: str, *, start: bool = False) -> float:
    """Epoch seconds of a date, or date and time, here: its last moment, to the precision given, or its first."""
    from datetime import datetime, timedelta

    form = re.fullmatch(_TIME, text, re.ASCII)
    try:
        if form is None:
            raise ValueError(text)
        clock, seconds, fraction, _ = form.groups()
        lasts = 0 if fraction else 1 if seconds else 60 if clock else 86_400
        moment = datetime.fromisoformat(text)
        if start or not lasts:
            return moment.timestamp()
        # A day ends when the next one begins, which is not always 24 hours later.
        return (moment + timedelta(seconds=lasts)).timestamp() - 1e-6
    except (ValueError, OverflowError, OSError):
        raise Refused(
            f"Nothing was shown: {text!r} is no date. Write a date as 2026-02-24, or a time as 2026-02-24T15:30."
        ) from None
