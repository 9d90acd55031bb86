"""One fact as two machines know it becomes one, the same in either order, and the last decision of a person counts."""

from __future__ import annotations

from hypothesis import assume, given
from hypothesis import strategies as st

from drawing import core
from looseleaf.base.origins import LEVELS
from looseleaf.base.values import Fact
from looseleaf.facts.joined import join

times = st.none() | st.integers(1, 4).map(float)
days = st.none() | st.sampled_from(("2026-03-01", "2026-03-02"))
facts = st.builds(
    Fact,
    *map(st.just, ("user", "user", "Home")),
    object=st.sampled_from(("Lyon", "lyon")),
    kind=st.just("fact"),
    id=st.just("f_1"),
    status=st.sampled_from(("current", "pending", "superseded", "rejected")),
    level=st.sampled_from(LEVELS),
    confidence=st.sampled_from((0.3, 0.9)),
    user_fact_score=st.none() | st.integers(0, 10),
    tags=st.sets(st.sampled_from(("approved", "pinned"))).map(lambda tags: tuple(sorted(tags))),
    sources=st.sets(st.sampled_from("abc")).map(lambda names: tuple(sorted(names))),
    said_at=times,
    order=times,
    recorded_at=times,
    decided_at=times,
    valid_from=days,
    valid_to=days,
    superseded_by=st.none() | st.sampled_from(("f_2", "f_3")),
).map(lambda fact: fact.but(valid_to=None, superseded_by=None) if fact.status == "current" else fact)


@core
@given(facts, facts, facts, st.booleans())
def test_in_which_order_machines_meet_makes_no_difference(
    one: Fact, other: Fact, third: Fact, stands: bool
) -> None:
    # Where no page has the line, one who let it in and has not heard of its end does not outdo one for whom it waits.
    assume(stands or not {"current", "pending"} <= {one.status, other.status, third.status})
    both = join(one, other, stands=stands)
    assert both == join(other, one, stands=stands)
    assert join(both, other, stands=stands) == both
    assert join(both, third, stands=stands) == join(one, join(other, third, stands=stands), stands=stands)


@given(facts, facts, st.booleans())
def test_what_a_person_decided_last_counts_and_no_source_is_lost(
    one: Fact, other: Fact, stands: bool
) -> None:
    found = join(one, other, stands=stands)
    assert {*found.sources} == {*one.sources, *other.sources}
    if (one.decided_at or 0.0) > (other.decided_at or 0.0):
        names = ("user_fact_score", "tags", "level", "confidence", "decided_at")
        assert [getattr(found, name) for name in names] == [getattr(one, name) for name in names]
    if stands:
        assert (found.status, found.valid_to, found.superseded_by) == ("current", None, None)
    else:
        assert found.status != "current"
