"""What several machines know of one fact, joined. Pure, and the same in whatever order they meet: what each learned of
it is kept. Where only one can be right, the last decision of a person counts, or else an order that the values
themselves have."""

from __future__ import annotations

from looseleaf.base.origins import LEVELS
from looseleaf.facts.page_lines import keep_latest

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from looseleaf.base.values import Fact

_STATUSES = ("current", "pending", "superseded", "rejected", "forgotten")
"""Each outranks those before it, for a fact that stands on no page."""


def join(one: Fact, other: Fact, *, stands: bool) -> Fact:
    """Return one fact with what both know. `stands`: a page has its line."""
    if one == other and stands == (one.status == "current"):
        return one
    best = max((one, other), key=worth)
    made = best.but(
        sources=keep_latest(tuple(sorted({*one.sources, *other.sources}))),
        said_at=_of(max, one.said_at, other.said_at),
        order=_of(max, one.order, other.order),
        salience=_of(max, one.salience, other.salience),
        valid_from=_of(min, one.valid_from, other.valid_from),
        recorded_at=_of(min, one.recorded_at, other.recorded_at),
        path=None,
        line=None,
    )
    if best.decided_at is None:
        made = made.but(
            confidence=_of(max, one.confidence, other.confidence),
            user_fact_score=_of(max, one.user_fact_score, other.user_fact_score),
            tags=tuple(sorted({*one.tags, *other.tags})),
        )
    if stands:
        return made.but(status="current", valid_to=None, superseded_by=None)
    status = max((one.status, other.status), key=_STATUSES.index)
    ends = [fact for fact in (one, other) if fact.status == status]
    return made.but(
        status="superseded" if status == "current" else status,
        valid_to=_of(min, *(fact.valid_to for fact in ends)),
        superseded_by=_of(max, *(fact.superseded_by for fact in ends)),
    )


def worth(fact: Fact) -> tuple[Any, ...]:
    """Return a key that orders what several machines know of a fact, the same on each machine. A joined fact has the
    key of the best one: so nothing that joining changes is part of the key."""
    level = LEVELS.index(fact.level) if fact.level in LEVELS else -1
    decision = (fact.user_fact_score or 0.0, fact.confidence or 0.0, sorted(fact.tags))
    return (
        fact.decided_at or 0.0,
        level,
        fact.entry_ts or 0.0,
        *(fact.entry_id or "", fact.relation, fact.object, fact.quote or "", fact.origin or ""),
        *(fact.kind or "", fact.time_span or "", fact.person or "", fact.decided_by or ""),
        decision if fact.decided_at is not None else (),
    )


def _of(choose: Callable[..., Any], *values: Any) -> Any:
    known = [value for value in values if value is not None]
    return choose(known) if known else None
