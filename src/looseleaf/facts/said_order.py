"""Said order: which of two facts was said later (FORMAT §13.12).

What is recorded later as live talk counts as said later, whatever the clocks said; anything else has its own time.
A time that has not come yet shows a clock that was ahead, and is later than nothing that is said now.
"""

from __future__ import annotations

from looseleaf.base.ids import is_id, time_of
from looseleaf.facts.ledger import first_known
from looseleaf.log.turns import LIVE
from looseleaf.text.times import moment

TYPE_CHECKING = False
if TYPE_CHECKING:
    from looseleaf.base.values import Fact

NEVER = float("inf")
"""As the present: no time is still to come."""


def is_said_before(new: Fact, held: Fact, now: float = NEVER) -> bool:
    """Return True if a new fact was said before a held one. Compare like with like: their places in the order, else the
    times of recording. A repeated fact is as new as its last repetition."""
    if new.order is held.order is held.said_at is None and "" < (held.valid_from or "") <= (
        new.valid_from or ""
    ):
        return False  # the usual case, for which no time need be read
    begins, began = _place_of(new), _place_of(held)
    if begins is None or began is None:
        begins, began = (first_known(each.entry_ts, each.recorded_at) for each in (new, held))
    if began is not None and held.said_at is not None:
        began = max(began, held.said_at)
    if begins is None or began is None:
        return False
    if began > now >= begins:
        # A clock was ahead once. If it was right again when this was said, the times decide; else the log does.
        dated = max(moment(held.valid_from) or 0.0, held.said_at or 0.0)
        return begins < dated if held.order is not None and dated <= now else not _is_live(new, begins, now)
    return begins < began


def seconds_after(then: float | None, new: Fact, now: float = NEVER) -> float | None:
    """Return how long after the end of something a new fact was said; below zero: before it; None: not known."""
    begins = first_known(_place_of(new), new.entry_ts, new.recorded_at)
    if begins is None or then is None:
        return None
    is_ahead = then > now >= begins and _is_live(new, begins, now)
    return NEVER if is_ahead else begins - then


def _place_of(fact: Fact) -> float | None:
    return first_known(fact.order, moment(fact.valid_from))


def _is_live(fact: Fact, said: float, now: float) -> bool:
    """Return True if a fact was recorded when it was said."""
    recorded = next((time_of(source) for source in fact.sources if is_id(source)), now)
    return recorded - said < LIVE
