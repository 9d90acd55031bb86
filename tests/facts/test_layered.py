"""Facts of several layers as one: the rule, stated again, over drawn facts."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hypothesis import given
from hypothesis import strategies as st

from looseleaf.base.origins import LEVELS
from looseleaf.base.values import Fact
from looseleaf.facts.layered import in_order, join, unite
from looseleaf.facts.ledger import address_of
from looseleaf.text.times import written

if TYPE_CHECKING:
    from looseleaf.base.values import Level

RELATIONS = ("Home", "Employer", "Likes", "Speaks")
VALUES = ("Lyon", "Rome", "tea", "Acme")
DAY = 86_400.0
TRUSTED = ("said", "confirmed")


def _fact(relation: str, value: str, level: Level, day: int) -> Fact:
    at = 1.7e9 + day * DAY
    name = f"f_{relation}{value}"
    return Fact("user", "user", relation, value, level=level, valid_from=written(at), recorded_at=at, id=name)


facts = st.builds(
    _fact, st.sampled_from(RELATIONS), st.sampled_from(VALUES), st.sampled_from(LEVELS), st.integers(0, 9)
)
layers = st.lists(facts, max_size=4, unique_by=lambda fact: (fact.relation, fact.object))


def _shown(layer: str, fact: Fact) -> tuple[str, str, str]:
    return layer, fact.relation, fact.object


@given(layers, layers)
def test_facts_of_a_pair_are_those_of_the_rule(near: list[Fact], far: list[Fact]) -> None:
    wanted = set()
    beaten = set()
    for fact in far:
        at = address_of(fact)
        there = [each for each in near if address_of(each).slot == at.slot]
        is_vouched = fact.level in TRUSTED
        same = [each for each in there if address_of(each).key == at.key]
        if same:  # shown once, as it is known best
            if is_vouched and same[0].level not in TRUSTED:
                wanted.add(_shown("home", fact))
                beaten.add(_shown("", same[0]))
            continue
        gives_way = all(
            each.level not in TRUSTED or (fact.recorded_at or 0) > (each.recorded_at or 0) for each in there
        )
        if at.many or not there or (is_vouched and gives_way):
            wanted.add(_shown("home", fact))
            beaten |= {_shown("", each) for each in there} if not at.many else set()
    wanted |= {_shown("", fact) for fact in near} - beaten
    found = unite([("", near), ("home", far)])
    assert {_shown(fact.layer or "", fact) for fact in found} == wanted
    assert len(found) == len(wanted)


def test_a_strangers_line_does_not_hide_a_persons_word_below() -> None:
    word = _fact("Home", "Rome", "confirmed", 1)
    line = _fact("Home", "Lyon", "inferred", 9)
    assert unite([("", [line]), ("home", [word])]) == [word.but(layer="home")]
    said = line.but(level="said")
    assert unite([("", [said]), ("home", [word])]) == [said]
    assert unite([("", [line]), ("home", [word.but(level="inferred")])]) == [line]


def test_the_same_value_is_shown_as_it_is_known_best() -> None:
    for relation in ("Home", "Likes"):
        line, word = _fact(relation, "Rome", "inferred", 9), _fact(relation, "Rome", "said", 1)
        assert unite([("", [line]), ("home", [word])]) == [word.but(layer="home")]
        assert unite([("", [word]), ("home", [line])]) == [word]


@given(layers)
def test_one_memory_alone_is_as_it_was(near: list[Fact]) -> None:
    assert unite([("", near)]) == near
    assert unite([("", near), ("home", [])]) == near
    assert unite([("", near), ("home", near)]) == near


@given(layers, layers, layers)
def test_the_nearest_of_three_wins_where_none_is_newer(
    first: list[Fact], second: list[Fact], third: list[Fact]
) -> None:
    old = [[fact.but(level="inferred") for fact in each] for each in (second, third)]
    found = unite([("", first), ("team", old[0]), ("home", old[1])])
    assert [fact for fact in found if fact.layer is None] == first
    for fact in found:
        if fact.layer == "home" and not address_of(fact).many:
            others = {address_of(each).slot for each in (*first, *old[0])}
            assert address_of(fact).slot not in others


def test_what_does_not_hold_is_only_joined() -> None:
    near, far = _fact("Home", "Lyon", "said", 1), _fact("Home", "Rome", "said", 2)
    assert [fact.layer for fact in join([("", [near]), ("home", [far])])] == [None, "home"]


def test_the_users_facts_come_first() -> None:
    of_work = _fact("Home", "Lyon", "said", 1).but(topic="heron")
    assert [fact.topic for fact in in_order([of_work, _fact("Home", "Rome", "said", 2)])] == ["user", "heron"]
