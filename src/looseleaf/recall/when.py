"""The time that a question means, as a span.

What was said on a day may speak of another one, so a time is a reason to prefer (`near`) and never one to leave out;
`holds` is for callers that ask for a filter outright.
"""

from __future__ import annotations

from collections import namedtuple

from looseleaf.base.immutable import frozen

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Literal

    Side = Literal["in", "before", "after"]

BARE, COUNTED = 0.4, 0.6
"""How plainly a time is named: by a bare word or number, and by a count of days."""

DAY = 86_400.0


EPOCH = 719_163
"""The ordinal of 1970-01-01."""


FIRST, LAST = -62_135_596_800.0, 253_402_300_800.0
"""The first second that a calendar has, and the one after its last: finite, so that lengths can be computed."""


_LEAST_DAYS, _MOST_DAYS, _SIDE_DAYS = 3.0, 120.0, 14.0
"""How slowly closeness fades: at least, at most, and on the wrong side of a "before" or an "after"."""


_FAR_FADES = 60.0


@frozen
class When:
    """From `first` up to, not including, `last` (epoch seconds); `strength` 0..1: how plainly it was said.

    `text` is what said it. With an `event` the span is all there is, until `placed` says when the event was.
    """

    first: float
    last: float
    strength: float
    text: str
    side: Side = "in"
    event: str | None = None


Part = namedtuple("Part", "start end first last strength")
"""Days since 1970, both of them included, that the text from `start` to `end` names."""


def placed(when: When, ts: float) -> When:
    """`when`, whose event was at `ts`: everything before that moment, or what came after it."""
    if when.event is None:
        return when
    first, last = (FIRST, ts) if when.side == "before" else (ts, max(when.last, ts + DAY))
    return When(first, last, when.strength, when.text, when.side, when.event)


def holds(ts: float, when: When) -> bool:
    """Whether that moment is in the span, exactly."""
    return when.first <= ts < when.last


def near(ts: float, when: When) -> float:
    """1 in the span; outside it fades to 0, the more slowly the longer the span is."""
    away = max(when.first - ts, ts - when.last, 0.0)
    if not away < float("inf"):
        return 0.0
    days = away / DAY
    if when.side == "in":
        fades = min(max((when.last - when.first) / DAY / 2, _LEAST_DAYS), _MOST_DAYS)
    else:
        fades = _SIDE_DAYS
    return 0.5 ** (days / fades) if days < fades * _FAR_FADES else 0.0


def day_after(now: float) -> float:
    """The end of the day that it is."""
    return (now // DAY + 1) * DAY
