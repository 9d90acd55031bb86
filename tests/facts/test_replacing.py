"""What a change takes the place of: what surely goes is gone, what may have changed is never told as plain truth."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from looseleaf import Memory
from looseleaf.base.values import Fact
from looseleaf.distill.slot_tables import lexicon
from looseleaf.facts import placement as placing_module
from looseleaf.facts.replacing import (
    DOUBT,
    GONE,
    Replacement,
    cut_clauses,
    facts_naming,
    is_from_same_words,
    links,
    replaced_by,
    words_of,
    words_test,
)
from looseleaf.language.value_keys import key
from looseleaf.text.lines import DOUBTFUL, as_written, doubted, is_doubtful, statement, undoubted, worded
from placing import THEN, fact, values
from placing import Stub as Distiller
from tables import check_rows

SAID = (
    "I run with Marta every saturday", "standup is at 9:30 on mondays", "we deploy with black and flake8", "Oslo",
    "tea, coffee", "用 postgres 数据库", "(x)", "it may have changed", "“quoted”", "a ” b",
    "I eat no meat and I drink no milk, but cheese is fine",
)  # fmt: skip
TEXTS = st.one_of(st.sampled_from(SAID), st.text(max_size=80))
DAYS = st.dates().map(lambda day: f"{day.year:04}-{day.month:02}-{day.day:02}")


def held(said: str, relation: str = "note", **more: Any) -> Fact:
    return Fact(
        "user", "user", relation, said, "trait", id=f"f_{said}", status=more.pop("status", "current"), **more
    )


def replaced(said: str, was: str | None, *lines: str, **how: Any) -> tuple[list[str], list[str]]:
    how = {"chance": 0.9} | how
    found = replaced_by(Replacement(said, was=was, **how), [held(line) for line in lines], lexicon())
    return [each.object for each in found.gone], [each.object for each in found.doubtful]


# --- marks of doubt ------------------------------------------------------------------------


@settings(deadline=None)
@given(TEXTS, DAYS, TEXTS)
def test_a_mark_of_doubt_can_be_taken_off_and_is_set_once(said: str, day: str, words: str) -> None:
    plain = undoubted(said)
    marked = doubted(said, day, words)
    assert is_doubtful(marked)
    assert undoubted(marked) == plain
    assert undoubted(doubted(marked, day, words)) == plain
    assert len(marked) < len(plain) + 110
    assert undoubted(plain) == plain


@settings(deadline=None)
@given(TEXTS, DAYS, TEXTS, st.sampled_from(["note", "Home", "Likes", "Rule", "Standup"]))
def test_a_doubted_value_has_the_key_of_the_value(said: str, day: str, words: str, relation: str) -> None:
    assert key(doubted(said, day, words), relation) == key(undoubted(said), relation)


@settings(deadline=None)
@given(st.sampled_from(SAID), DAYS, TEXTS)
def test_a_mark_of_doubt_outlives_being_written_on_a_page(said: str, day: str, words: str) -> None:
    label, written = as_written("note", doubted(said, day, words))
    assert is_doubtful(written)
    read = statement(worded(label, written))
    assert read is not None
    assert is_doubtful(read[1])


# --- which lines -----------------------------------------------------------------------------


CHANCES = st.floats(0, 1)


@settings(deadline=None)
@given(TEXTS, st.none() | TEXTS, st.lists(TEXTS, max_size=6), CHANCES, st.booleans())
def test_only_current_lines_are_replaced_and_none_both_goes_and_is_doubted(
    said: str, was: str | None, lines: list[str], chance: float, is_ending: bool
) -> None:
    facts = [
        held(line, status="current" if number % 3 else "superseded") for number, line in enumerate(lines)
    ]
    found = replaced_by(Replacement(said, chance, was, "user", "trait", is_ending), facts, lexicon())
    assert not set(found.gone) & set(found.doubtful)
    assert all(each in facts and each.status == "current" for each in (*found.gone, *found.doubtful))
    assert len(found.gone) + len(found.doubtful) <= 3


@settings(deadline=None)
@given(TEXTS, st.lists(TEXTS, max_size=6), CHANCES, CHANCES)
def test_the_likelier_a_change_the_more_is_replaced(
    said: str, lines: list[str], first: float, second: float
) -> None:
    facts = [held(line) for line in lines]
    less, more = (
        replaced_by(Replacement(said, chance), facts, lexicon()) for chance in sorted((first, second))
    )
    assert len(less.gone) <= len(more.gone)
    assert len(less.gone) + len(less.doubtful) <= len(more.gone) + len(more.doubtful)


@settings(deadline=None)
@given(TEXTS, st.none() | TEXTS, st.lists(TEXTS, max_size=6), CHANCES)
def test_each_sign_that_a_line_is_meant_has_a_weight(
    said: str, was: str | None, lines: list[str], chance: float
) -> None:
    for _, signs in links(Replacement(said, chance, was), [held(line) for line in lines], lexicon()):
        assert signs.keys() == lexicon().weights.keys()
    assert 0 < DOUBT < GONE < 1


@settings(deadline=None)
@given(TEXTS, st.lists(TEXTS, max_size=4))
def test_naming_finds_lines_with_all_of_the_words(words: str, lines: list[str]) -> None:
    for each in facts_naming(words, [held(line) for line in lines]):
        assert words_of(held(words)) <= words_of(each)


def test_a_change_finds_what_it_speaks_against() -> None:
    def check(said: str, was: str | None, lines: list[str], gone: list[str], doubtful: list[str]) -> None:
        assert replaced(said, was, *lines) == (gone, doubtful)

    check_rows(
        check,
        [
            (
                "no black any more",
                "black",
                ["we format with black", "I like tea"],
                ["we format with black"],
                [],
            ),
            ("we moved to mysql", None, ["we store it in postgres"], [], ["we store it in postgres"]),
            ("standup is at 10:40 now", None, ["standup is at 9:15"], ["standup is at 9:15"], []),
            ("I like plums", None, ["the roof is red"], [], []),
            ("", None, ["the roof is red"], [], []),
        ],
    )


def test_what_may_be_a_change_casts_doubt_and_makes_nothing_go() -> None:
    line = "I run with Marta on saturdays"
    assert replaced("Marta has hurt her knee", None, line, chance=0.3) == ([], [line])


def test_what_is_hardly_a_change_makes_nothing_go_and_casts_no_doubt() -> None:
    assert replaced("Marta has a new hat", None, "I run with Marta on saturdays", chance=0.01) == ([], [])
    assert replaced("not a client", "client", "my clients are all in Oslo", chance=0.01) == ([], [])


def test_of_lines_that_share_words_with_a_change_the_nearest_is_meant() -> None:
    lines = [
        f"{name} works in the {town} office"
        for name, town in (("Ana", "Turin"), ("Bo", "Lodz"), ("Cy", "Bari"))
    ]
    gone, doubtful = replaced("Bo left the Lodz office in May", None, *lines)
    assert (gone + doubtful)[0] == "Bo works in the Lodz office"


def test_what_surely_changed_and_is_found_by_no_word_may_be_the_only_line_of_its_kind() -> None:
    of_trait = {"topic": "user", "kind": "trait"}
    assert replaced("je suis inspecteur", None, "teaches maths", **of_trait) == ([], ["teaches maths"])
    assert replaced("je suis inspecteur", None, "teaches maths", topic="user", kind="event") == ([], [])
    assert replaced("je suis inspecteur", None, "teaches maths", "likes tea", **of_trait) == ([], [])
    assert replaced("je suis inspecteur", None, "teaches maths", chance=0.4, **of_trait) == ([], [])


def test_a_slot_is_found_by_the_aspect_of_life_that_it_is_of() -> None:
    change = Replacement("we moved into a flat in Crema", 0.9)
    found = replaced_by(change, [held("Treviglio", "Home")], lexicon())
    assert [each.object for each in (*found.gone, *found.doubtful)] == ["Treviglio"]


def test_what_rests_on_words_that_are_in_doubt_is_in_doubt_with_them() -> None:
    slot = held("Yanis", "Partner", quote="mon copain Yanis est allergique")
    note = held("mon copain Yanis est allergique", quote="mon copain Yanis est allergique")
    other = held("Yanis", "Partner", quote="another sentence")
    assert is_from_same_words(note, [slot], "")
    assert is_from_same_words(slot, [note], "Yanis and I split up")
    assert not is_from_same_words(slot, [note], "we split up")
    assert not is_from_same_words(note, [other], "")
    assert not is_from_same_words(note, [note], "")


def test_of_many_lines_that_name_it_the_nearest_go() -> None:
    many = [f"the {name} box is black" for name in ("oak", "pine", "tin", "glass", "paper")]
    assert replaced("the tin box in the hall is not black any more", "black", *many)[0] == [
        "the tin box is black"
    ]


# --- a part of a line ------------------------------------------------------------------------


@settings(deadline=None)
@given(TEXTS, st.text(alphabet="abc", min_size=1, max_size=3))
def test_a_line_without_a_clause_has_only_words_of_the_line(said: str, word: str) -> None:
    rest = cut_clauses(said, lambda clause: word in clause)
    assert word not in rest
    assert all(part in undoubted(said) for part in rest.split(", ") if part)


def test_a_clause_goes_and_the_others_stay() -> None:
    line = "I eat no meat, and I drink no milk, but cheese is fine"
    assert cut_clauses(line, words_test("milk")) == "I eat no meat, but cheese is fine"
    assert cut_clauses("I drink no milk", words_test("milk")) == ""
    assert cut_clauses(line, words_test("")) == ""


# --- in a memory -----------------------------------------------------------------------------

NOTES = {
    "I run with Marta": [fact("note", "I run with Marta every saturday morning", kind="trait")],
    "Marta hurt": [fact("note", "Marta hurt her knee", kind="event", correction=True)],
    "code with black": [fact("note", "we format the code with black", kind="trait")],
    "format with ruff": [fact("note", "we format with ruff", kind="trait", correction=True, was="black")],
}


def say(memory: Memory, text: str, at: float) -> None:
    memory.record(user=text, ts=at)
    memory.distill()


def told_plainly(memory: Memory, words: str) -> list[str]:
    """Lines of facts, pages and the prompt that say something without a mark of doubt."""
    texts = [worded(each.relation, each.object) for each in memory.facts()]
    texts += [
        line
        for path in memory.pages.list()
        if path.startswith(("USER", "facts/"))
        for line in memory.pages.read(path).text.splitlines()
    ]
    texts += memory.views.snapshot().text.splitlines()
    return [text for text in texts if words in text and "may have changed" not in text]


def doubting(place: Path) -> tuple[list[str], list[str]]:
    with Memory(place / "memory", distiller=Distiller(NOTES)) as memory:
        say(memory, "I run with Marta every saturday morning", THEN)
        assert told_plainly(memory, "run with Marta")
        say(memory, "Marta hurt her knee.", THEN + 1000)
        return told_plainly(memory, "run with Marta"), [
            each.object for each in memory.facts() if is_doubtful(each.object)
        ]


def test_a_doubtful_line_is_nowhere_told_as_plain_truth(place: Path) -> None:
    plain, doubtful = doubting(place)
    assert plain == []
    assert doubtful == [
        "I run with Marta every saturday morning (may have changed on 2025-10-09: “Marta hurt her knee.”)"
    ]


def test_a_doubt_without_a_mark_fails_that_test(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The mutant: what may have changed stays as it is."""
    monkeypatch.setattr(placing_module.PlacePlan, "_doubt", lambda self, old, by: None)
    plain, _ = doubting(place)
    assert plain


def test_a_yes_to_what_was_in_doubt_takes_the_doubt_away(place: Path) -> None:
    with Memory(place / "memory", distiller=Distiller(NOTES)) as memory:
        say(memory, "I run with Marta every saturday morning", THEN)
        say(memory, "Marta hurt her knee.", THEN + 1000)
        [fact] = [each for each in memory.facts() if is_doubtful(each.object)]
        new = memory.review.approve(fact.id or "")
        assert (new.object, new.level, new.status) == (undoubted(fact.object), "confirmed", "current")
        assert DOUBTFUL not in new.tags
        assert memory.history.undo()[0].reason == "approved"
        assert [each.object for each in memory.facts() if is_doubtful(each.object)] == [fact.object]


def test_what_a_change_names_is_superseded(place: Path) -> None:
    with Memory(place / "memory") as memory:
        say(memory, "we format the code with black", THEN)
        say(memory, CHANGE, THEN + 1000)
        assert ("Formatter", "ruff format") in values(memory)
        assert told_plainly(memory, "with black") == []
        assert ("Formatter", "black") in values(memory, "superseded")


CHANGE = "we switched from black to ruff format in march"


def confirmed_and_spoken_against(place: Path) -> Memory:
    memory = Memory(place / "memory")
    memory.remember("we format the code with black")
    say(memory, CHANGE, time.time() + 1000)
    return memory


def test_what_a_person_confirmed_is_asked_about_and_never_superseded_by_talk(place: Path) -> None:
    with confirmed_and_spoken_against(place) as memory:
        held_on = [each for each in memory.facts() if each.level == "confirmed"]
        assert any("black" in each.object for each in held_on)
        assert not any(is_doubtful(each.object) for each in held_on)
        waiting = memory.facts(status="pending")
        assert any(each.relation.startswith("No longer") and "black" in each.object for each in waiting)
        say(memory, f"as I said, {CHANGE}", time.time() + 2000)
        asked = [
            each.object for each in memory.facts(status="pending") if each.relation.startswith("No longer")
        ]
        assert len(asked) == len(set(asked)), "it is asked once"
        for each in waiting:
            if each.relation.startswith("No longer"):
                memory.review.approve(each.id or "")
        assert not any("black" in each.object for each in memory.facts() if each.level == "confirmed")


def test_talk_that_outranks_a_person_fails_that_test(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The mutant: the last speaker is right."""
    monkeypatch.setattr("looseleaf.facts.placement.outranks", lambda old, new: False)
    with confirmed_and_spoken_against(place) as memory:
        assert not any(each.relation.startswith("No longer") for each in memory.facts(status="pending"))


def test_a_decision_whose_slot_took_the_old_value_away_casts_no_doubt_on_another(place: Path) -> None:
    with Memory(place / "memory") as memory:
        say(memory, "We use SQLite. We decided to support Python 3.11 and newer only.", time.time() + 1000)
        say(memory, "We decided to use DuckDB instead of SQLite.", time.time() + 2000)
        held = memory.facts()
        assert [each.object for each in held if each.relation == "Database"] == ["DuckDB"]
        assert any("Python 3.11" in each.object for each in held)
        assert not any(is_doubtful(each.object) for each in held)
        over = memory.facts(status="superseded")
        assert [(each.relation, each.object) for each in over] == [("Database", "SQLite")]


def told(place: Path, *messages: str) -> list[str]:
    with Memory(place / "memory") as memory:
        for number, text in enumerate(messages):
            say(memory, text, THEN + number * 1e6)
        return [worded(each.relation, each.object) for each in memory.facts()]


@pytest.mark.parametrize(
    ("before", "after", "line"),
    [
        ("I'm Sam Reed.", "Sam Reed left the company last week.", "Name: Sam Reed"),
        ("My husband is Joost.", "Joost has choir on Thursdays.", "Partner: Joost"),
        (
            "My son Max has a peanut allergy and plays football at FC Union.",
            "Max quit football at FC Union, he plays tennis now.",
            "My son Max has a peanut allergy",
        ),
    ],
)
def test_what_a_message_does_not_touch_is_still_told(place: Path, before: str, after: str, line: str) -> None:
    assert line in told(place, before, after)


def test_the_change_of_another_person_takes_nothing_from_the_user(place: Path) -> None:
    lines = told(
        place, "I'm allergic to peanuts.", "My son outgrew his allergy to peanuts, he can eat them now."
    )
    assert any(line.startswith("Allergy: peanuts") for line in lines)


def test_what_the_user_ends_ends(place: Path) -> None:
    assert not any(line.startswith("Diet") for line in told(place, "I'm vegan.", "I'm not vegan any more."))
