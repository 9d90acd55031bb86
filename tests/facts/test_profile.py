"""USER.md is ranked, short, and without plans that are over: it is in every prompt."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from looseleaf import Memory
from looseleaf.base.values import KINDS, Fact
from looseleaf.facts.placement import LINES, PEOPLE, group_of, is_passed, line_before
from looseleaf.place import placer as place_module
from placing import THEN, Stub, fact, text_of
from tables import check_rows

RELATIONS = (
    "note",
    "Name",
    "Home",
    "Language",
    "Rule",
    "Role",
    "Employer",
    "Diet",
    "Partner",
    "Pet",
    "Likes",
    "Plan",
    "Owns",
)


def held(relation: str, said: str = "x", **more: Any) -> Fact:
    return Fact("user", "user", relation, said, more.pop("kind", "trait"), **more)


FACTS = st.builds(
    lambda relation, kind, is_of_people: held(relation, kind=kind, tags=(PEOPLE,) * is_of_people),
    st.sampled_from(RELATIONS),
    st.sampled_from((*KINDS, None)),
    st.booleans(),
)


# --- order -----------------------------------------------------------------------------------


def inserted(facts: list[Fact], where: Any = line_before) -> list[Fact]:
    """Each is put on the page where it belongs."""
    page: list[Fact] = []
    for each in facts:
        standing = [other.but(line=number) for number, other in enumerate(page)]
        at = where(each, standing)
        page.insert(len(page) if at is None else at, each)
    return page


@given(st.lists(FACTS, max_size=25))
def test_lines_that_are_put_in_one_by_one_stand_in_the_order_of_their_groups(facts: list[Fact]) -> None:
    groups = [group_of(each) for each in inserted(facts)]
    assert groups == sorted(groups)
    assert len(groups) == len(facts)


@given(st.lists(FACTS, max_size=12), FACTS)
def test_a_line_never_goes_above_one_of_its_own_group(facts: list[Fact], new: Fact) -> None:
    """Also on a page whose lines a person put in another order."""
    standing = [each.but(line=number) for number, each in enumerate(facts)]
    at = line_before(new, standing)
    same = [each.line or 0 for each in standing if group_of(each) == group_of(new)]
    assert at is None or (0 <= at < len(facts) and all(line < at for line in same))


def test_adding_at_the_end_fails_the_test_of_order() -> None:
    """The mutant: a line stands where it came."""
    facts = [held("Likes", kind="preference"), held("Name", kind="identity")]
    assert [each.relation for each in inserted(facts)] == ["Name", "Likes"]
    groups = [group_of(each) for each in inserted(facts, lambda new, standing: None)]
    assert groups != sorted(groups)


def test_who_the_user_is_stands_above_what_happened() -> None:
    def check(first: Fact, second: Fact) -> None:
        assert group_of(first) < group_of(second)

    check_rows(
        check,
        [
            (held("Name"), held("Rule", kind="constraint")),
            (held("Language"), held("Employer")),
            (held("Employer"), held("Allergy")),
            (held("Diet"), held("Partner")),
            (held("note", tags=(PEOPLE,)), held("note")),
            (held("note"), held("Likes", kind="preference")),
            (held("Likes", kind="preference"), held("note", kind="commitment")),
            (held("note", kind="commitment"), held("note", kind="event")),
            (held("note", kind="identity"), held("Owns", kind="identity")),
        ],
    )


# --- plans that are over -----------------------------------------------------------------------


def test_a_plan_is_over_when_every_date_that_it_names_is() -> None:
    def check(said: str, over: bool) -> None:
        assert is_passed(held("note", said, kind="commitment"), "2026-03-01") is over
        assert not is_passed(held("note", said, kind="event"), "2026-03-01")

    check_rows(
        check,
        [
            ("fly to Rome on 2026-02-27", True),
            ("fly to Rome on 2026-03-01", False),
            ("fly to Rome [2026-02]", True),
            ("fly to Rome [2026-03]", False),
            ("from 2026-02-01 to 2026-04-01", False),
            ("fly to Rome", False),
            ("ticket 12026-02-271", False),
        ],
    )


@given(st.dates(), st.dates())
def test_a_plan_is_over_from_the_day_after_it(day: Any, today: Any) -> None:
    said = held("Plan", f"meet on {day:%Y-%m-%d}", kind="commitment")
    if 1000 <= day.year < 3000 and today.year >= 1000:
        assert is_passed(said, f"{today:%Y-%m-%d}") is (day < today)


# --- in a memory -------------------------------------------------------------------------------


def lines(memory: Memory) -> list[str]:
    return [
        line[2:]
        for line in text_of(memory, "USER.md").splitlines()
        if line.startswith("- ") and "Updated" not in line
    ]


def test_the_page_is_ordered_by_what_its_lines_are_and_not_by_when_they_came(place: Path) -> None:
    said = "I like jazz. I work at Acme. I live in Lyon. My name is Ada."
    rules = [fact("Likes", "jazz"), fact("Employer", "Acme"), fact("Home", "Lyon"), fact("Name", "Ada")]
    with Memory(place / "memory", distiller=Stub({said: rules})) as memory:
        memory.record(user=said, ts=THEN)
        memory.distill()
        assert lines(memory) == ["Home: Lyon", "Name: Ada", "Employer: Acme", "Likes: jazz"]


def crowded(place: Path) -> Memory:
    fruits, dishes = (
        "kiwi mango plum lemon papaya quince fig melon".split(),
        "tart soup salad bread juice stew cake jam".split(),
    )
    named = [f"{fruit} {dish}" for fruit in fruits for dish in dishes]
    memory = Memory(
        place / "memory",
        distiller=Stub({"My name": [*(fact("Likes", each) for each in named), fact("Name", "Ada")]}),
    )
    memory.record(user=f"My name is Ada. I like {', '.join(named)}.", ts=THEN)
    memory.distill()
    return memory


def test_the_page_has_at_most_forty_lines_and_nothing_is_lost(place: Path) -> None:
    with crowded(place) as memory:
        assert len(lines(memory)) <= LINES
        assert "Name: Ada" in lines(memory)
        assert len(memory.facts()) == 65
        assert any(each.path == "facts/user.md" for each in memory.facts())


def test_a_page_that_nobody_watches_fails_that_test(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The mutant: however many lines there are, they stay."""
    monkeypatch.setattr("looseleaf.place.tidy.LINES", 10**6)
    with crowded(place) as memory:
        assert len(lines(memory)) > LINES


def test_a_plan_leaves_the_page_when_it_is_over_and_one_that_is_ahead_stays(place: Path) -> None:
    ahead = time.strftime("%Y-%m-%d", time.gmtime(time.time() + 30 * 86_400))
    said = f"I fly to Rome on 2026-01-05 and to Oslo on {ahead}. I live in Lyon."
    rules = [
        fact("Plan", "fly to Rome on 2026-01-05", kind="commitment", time_span="future"),
        fact("Plan", f"to Oslo on {ahead}", kind="commitment", time_span="future"),
        fact("Home", "Lyon"),
    ]
    with Memory(place / "memory", distiller=Stub({"I fly": rules})) as memory:
        memory.record(user=said, ts=THEN)
        memory.distill()
        assert not any("Rome" in line for line in lines(memory))
        assert any("Oslo" in line for line in lines(memory))
        assert "Home: Lyon" in lines(memory)
        assert any("Rome" in each.object for each in memory.facts()), "it is known, and in no prompt"


def test_the_place_asks_for_the_order_of_the_profile_only(
    place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[str] = []
    real = place_module.Placer._line_before

    def watched(self: Any, path: str, *rest: Any) -> int | None:
        asked.append(path)
        return real(self, path, *rest)

    monkeypatch.setattr(place_module.Placer, "_line_before", watched)
    rules = [fact("Home", "Lyon"), fact("Database", "Postgres", topic="project")]
    with Memory(place / "memory", distiller=Stub({"I live": rules})) as memory:
        memory.record(user="I live in Lyon. We use Postgres.", ts=THEN)
        memory.distill()
    assert set(asked) == {"USER.md"}
