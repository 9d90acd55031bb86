"""A person names a fact by its id, its place, its relation or its words; every fact that fits is returned."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from looseleaf.base.values import Fact
from looseleaf.facts.identity import STATUSES, is_exact, matching
from tables import check_rows


def fact(
    name: str, relation: str, value: str, status: str = "current", topic: str = "user", line: int = 0
) -> Fact:
    path = "USER.md" if line else None
    return Fact(topic, topic, relation, value, id=name, status=status, path=path, line=line or None)  # type: ignore[arg-type]


FACTS = [
    fact("f_1f2e3d4c", "Home", "Paris", line=3),
    fact("f_1f2e9999", "Likes", "mushrooms and green tea", line=5),
    fact("f_cafe0001", "Likes", "the food of Lyon", line=6),
    fact("f_00000002", "Home", "Lyon", "superseded"),
    fact("f_00000003", "Home", "Berlin", "rejected"),
    fact("f_00000004", "Home", "Oslo", "pending"),
    fact("f_00000005", "Home", "Turin", topic="anna"),
    fact("f_00000006", "Game", "Steam"),
    fact("f_00000007", "喜好", "喜欢绿茶"),
    fact("f_00000008", "Meets at", "the Café Luna"),
    fact("f_00000009", "Job", "baker", "superseded"),
]

NAMED = [
    ("f_1f2e3d4c", ["Paris"]),
    ("1f2e3d4c", ["Paris"]),
    ("f_1f2e3", ["Paris"]),
    ("1f2e", ["Paris", "mushrooms and green tea"]),
    ("1f2", []),  # too short for an id, and no word of any line
    ("f_", []),
    ("f_77", []),
    ("cafe", ["the food of Lyon"]),  # an id that begins so comes before words
    ("USER.md:5", ["mushrooms and green tea"]),
    ("USER.md:9", []),
    ("home", ["Paris", "Turin"]),
    ("HOME", ["Paris", "Turin"]),
    ("anna home", ["Turin"]),
    ("Likes", ["mushrooms and green tea", "the food of Lyon"]),
    ("paris", ["Paris"]),
    ("Lyon", ["the food of Lyon"]),  # the current fact, not the past one
    ("mushroom", ["mushrooms and green tea"]),
    ("tea green", ["mushrooms and green tea"]),
    ("  Green   TEA ", ["mushrooms and green tea"]),
    ("eam", []),  # a word begins with it, or it does not fit
    ("Luna", ["the Café Luna"]),
    ("绿茶", ["喜欢绿茶"]),
    ("job", ["baker"]),
    ("Berlin", ["Berlin"]),
    ("", []),
    ("  ", []),
    (".*", []),
    ("(", []),
]


def test_facts_are_named_by_id_place_relation_or_words() -> None:
    def check(words: str, values: list[str]) -> None:
        assert [fact.object for fact in matching(FACTS, words)] == values

    check_rows(check, NAMED)


def test_a_caller_says_which_status_comes_first() -> None:
    found = matching(FACTS, "home", first=("pending", "current"))
    assert [fact.object for fact in found] == ["Oslo"]
    assert matching(FACTS, "Berlin", first=("current",)) == []


def test_an_id_names_a_fact_of_any_status() -> None:
    assert [fact.status for fact in matching(FACTS, "f_00000003", first=("current",))] == ["rejected"]


def test_only_an_id_or_a_place_is_exact() -> None:
    def check(words: str, is_one: bool) -> None:
        assert is_exact(words) is is_one

    rows = [
        ("f_", True),
        ("f_1a", True),
        ("facts/tea.md:12", True),
        ("USER.md", False),
        ("cafe", False),
        ("f x", False),
    ]
    check_rows(check, rows)


@given(words=st.text(max_size=12))
def test_whatever_the_words_are_the_facts_come_in_the_order_given_and_of_one_status(words: str) -> None:
    found = matching(FACTS, words)
    assert found == [fact for fact in FACTS if fact in found]
    if not any((fact.id or "").startswith(f"f_{words.strip()}") for fact in found):
        assert len({fact.status for fact in found} & {*STATUSES}) == bool(found)


@given(known=st.sampled_from(FACTS))
def test_a_whole_id_and_a_place_name_one_fact(known: Fact) -> None:
    assert matching(FACTS, known.id or "") == [known]
    if known.path:
        assert matching(FACTS, f"{known.path}:{known.line}") == [known]
