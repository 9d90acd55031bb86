"""The time that a question means, as a span. A text of one day may speak of another, so a time only raises a rank."""

from __future__ import annotations

from collections import namedtuple

from looseleaf.base.immutable import frozen

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Literal

    Side = Literal["in", "before", "after"]

BARE, COUNTED = 0.4, 0.6
"""How plainly a time is named: by a bare word or number, or by a count of days."""

DAY = 86_400.0

EPOCH = 719_163
"""The ordinal of 1970-01-01."""

FIRST, LAST = -62_135_596_800.0, 253_402_300_800.0
"""The first second of the calendar, and the one after its last: finite, so that lengths can be computed."""


@frozen
class When:
    """From `first` up to, not including, `last` (epoch seconds); `strength` 0..1: how plainly it was named.

    `text` is the words that name it. With an `event` the span covers everything until `place_event` narrows it.
    """

    first: float
    last: float
    strength: float
    text: str
    side: Side = "in"
    event: str | None = None


Part = namedtuple("Part", "start end first last strength")
"""First and last day since 1970, inclusive, that the text from `start` to `end` names."""


def place_event(when: When, ts: float) -> When:
    """Narrow `when` to before or after its event, which was at `ts`."""
    if when.event is None:
        return when
    first, last = (FIRST, ts) if when.side == "before" else (ts, max(when.last, ts + DAY))
    return When(first, last, when.strength, when.text, when.side, when.event)


def day_after(now: float) -> float:
    """Return the end of the current day."""
    return (now // DAY + 1) * DAY
