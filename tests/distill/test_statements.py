"""What a message states: in its own words, whatever it is, and in time that does not depend on how it was made."""

from __future__ import annotations

import re
import time
from functools import lru_cache
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from looseleaf.base.messages import Proposal
from looseleaf.distill.selector import KINDS, Scores
from looseleaf.distill.slot_tables import languages, table
from looseleaf.distill.statements import (
    LOW,
    NOTE_CHARS,
    SENTENCES,
    SURE_RULE,
    kind_of,
    sentences_of,
    statements,
    with_members,
)
from looseleaf.facts.placement import PERHAPS
from looseleaf.language import own_words
from looseleaf.language.own_words import mask_quotes, own_zones
from looseleaf.text.lines import escape
from made_up import made_up
from tables import check_rows, some

THEN = 1_772_438_400.0
"""The second of March 2026, a Monday."""

SAID = (
    "my name is Bob", "I live in Oslo.", "we use postgres 16 btw", "never push to main", "I moved to Lyon last week",
    "I usually deploy on Fridays but my boss hates that lol", "it's called pricewatch", "ok thanks!",
    "my sister Ada starts school tomorrow, can you find a backpack?", "Ich wohne in Köln.", "how do I sort a list?",
    "我下周搬到上海。", "私は医者です。", "저는 서울에 살아요", "(we meet at 9:30)",
    'he said "I live in Rome and I love it"',
    "remember that the key is under the mat", "I quit my job at Acme yesterday", "- item one: I eat no meat",
    "> quoted", "```", "’s", "\t", "…", "\ud800", "\n", "\n\n",
)  # fmt: skip
MESSAGES = st.one_of(
    st.lists(st.sampled_from(SAID), max_size=6).map(" ".join),
    st.lists(st.sampled_from(SAID), max_size=6).map("\n".join),
    st.text(max_size=300),
    st.tuples(st.text(max_size=30), st.sampled_from(SAID), st.text(max_size=30)).map("".join),
)


def words(text: str) -> list[str]:
    return re.findall(r"\w+", text.casefold())


# --- whose words ---------------------------------------------------------------------------


def quotes_are_of(message: str, found: list[Proposal]) -> bool:
    return all(each.quote and each.quote in message for each in found)


@settings(deadline=None)
@given(MESSAGES, st.booleans())
def test_every_quote_is_a_stretch_of_the_message_letter_for_letter(message: str, everything: bool) -> None:
    found = statements(message, THEN, everything=everything)
    assert quotes_are_of(message, found)


@settings(deadline=None)
@given(MESSAGES, st.booleans())
def test_the_words_of_a_note_are_the_users_but_for_dates(message: str, everything: bool) -> None:
    for each in statements(message, THEN, "t1", everything=everything):
        assert each.source == "t1"
        if each.relation == "note":
            without = re.sub(r" \[[^\[\]]*\]", "", each.object)
            said = words(escape(" ".join(mask_quotes(message).split())))
            assert set(words(without)) <= set(said), each
            assert len(each.object) <= NOTE_CHARS + 20
            assert "\n" not in each.object


@settings(deadline=None)
@given(st.integers(0, 5000))
def test_the_words_of_a_slot_stand_in_the_message_or_in_its_form(seed: int) -> None:
    random = Random(seed)
    form = random.choice(table(random.choice(languages())).forms)
    message = made_up(form.source, random)
    found = statements(message, THEN)
    assert quotes_are_of(message, found)
    assert all(each.object for each in found)


def test_sentences_that_are_put_on_one_line_fail_the_test_of_quotes() -> None:
    """The mutant: the quote is what the selector read, and not what the message says."""
    message = "I live\n  in Oslo and I work at\tAcme"
    real = statements(message, THEN)
    assert real
    assert quotes_are_of(message, real)
    assert not quotes_are_of(
        message, [with_members(each, quote=" ".join(each.quote.split())) for each in real]
    )


@settings(deadline=None)
@given(MESSAGES)
def test_the_sentences_of_a_message_stand_in_it_in_their_order(message: str) -> None:
    at = 0
    for each in sentences_of(message):
        assert at <= each.start < each.end <= len(message)
        assert words(each.text) == words(mask_quotes(message)[each.start : each.end])
        at = each.end


# --- any message -----------------------------------------------------------------------------

SIZE = 100_000
PLAIN = "The quick brown fox jumps over the lazy dog near the old mill. "
HOSTILE = {
    "10 MB": PLAIN * 160_000,
    "one long sentence": "word and " * (SIZE // 9),
    "one word": "a" * SIZE,
    "binary": bytes(range(256)).decode("latin-1") * (SIZE // 256),
    "right to left": "אני גר בתל אביב ועובד בחברה \u202eabc\u202c " * (SIZE // 30),
    "mixed scripts": "I live in 東京 и работаю בחברה عربي 한국어 ไทย " * (SIZE // 40),
    "emoji": "😀🎉👩‍👩‍👧" * (SIZE // 7),
    "spaces": "I live" + " " * 200_000 + "in Oslo",
    "lines": "\n" * 200_000,
    "halves of characters": "\ud800 I live in Oslo \udfff" * (SIZE // 20),
    "statements": "I live in Oslo. My name is Bob. " * (SIZE // 32),
    "accents": "e" + "\u0301" * SIZE,
    **{f"many {mark}": mark * SIZE for mark in "\"'“„«「‘`()[]{}<>:,.-!?…。，@#$\\/|*_~"},
    **{f"many spaced {mark}": f"{mark} x " * (SIZE // 4) for mark in '"“„«「‘`([{.!?。:'},
}
AT_MOST = 8
"""Times what plain text of the same size takes; the worst takes some three times that."""


@lru_cache(8)
def plain_time(size: int) -> float:
    return min(timed((PLAIN * (size // len(PLAIN) + 1))[:size]) for _ in range(3))


def timed(message: str) -> float:
    for kept in (sentences_of, mask_quotes, own_zones):
        kept.cache_clear()
    began = time.process_time()
    found = statements(message, THEN)
    took = time.process_time() - began
    assert quotes_are_of(message, found)
    return took


def is_slow(message: str) -> bool:
    return all(timed(message) > AT_MOST * max(plain_time(SIZE), 0.02) for _ in range(3))


def test_a_hostile_message_raises_nothing_and_takes_little_longer_than_plain_text() -> None:
    def check(name: str) -> None:
        assert not is_slow(HOSTILE[name])

    check_rows(check, some(HOSTILE, 20))


@pytest.mark.long
def test_a_message_that_is_read_as_a_whole_fails_that_test(monkeypatch: pytest.MonkeyPatch) -> None:
    """The mutant: however long a message is, all of it is looked at."""
    plain_time(SIZE)
    monkeypatch.setattr(own_words, "READ_CHARS", (10**9, 0))
    monkeypatch.setattr("looseleaf.distill.statements.SENTENCES", 10**9)
    assert timed(5 * HOSTILE["statements"]) > AT_MOST * plain_time(SIZE)


def test_of_very_many_sentences_a_bounded_number_is_read() -> None:
    assert len(sentences_of("I live in Oslo. " * 5000)) == SENTENCES


# --- examples --------------------------------------------------------------------------------


def lines(message: str, **how: bool | str) -> list[str]:
    found = statements(message, THEN, **how)  # type: ignore[arg-type]
    found = [each for each in found if PERHAPS not in each.tags]
    return [each.object if each.relation == "note" else f"{each.relation}: {each.object}" for each in found]


def test_a_slot_says_all_and_needs_no_note() -> None:
    assert lines("I live in Oslo.") == ["Home: Oslo"]


def test_what_is_only_supposed_asked_or_greeted_is_no_statement() -> None:
    for message in (
        "what if I lived in Oslo",
        "Thanks a lot!",
        "hi",
        "?",
        "",
        "how do I sort a list?",
        "wenn ich reich wär",
    ):
        assert lines(message) == [], message


def test_what_is_given_to_be_remembered_is_kept_whole() -> None:
    said = "The blue folder holds the tax papers"
    assert said in lines(said, everything=True)
    assert lines("remember that the blue folder holds the tax papers") == [
        "the blue folder holds the tax papers"
    ]


def test_a_time_gets_the_date_that_it_means() -> None:
    [line] = lines("The plumber was here yesterday", everything=True)
    assert "yesterday [2026-03-01]" in line


def test_a_sentence_that_leans_on_the_one_before_is_kept_with_it() -> None:
    [*_, last] = lines("We build a price watcher. It is hosted in a cellar in Bergen.", everything=True)
    assert "price watcher" in last
    assert "Bergen" in last


def test_a_reason_is_kept_with_the_decision_that_it_is_given_for() -> None:
    assert lines("let's do procrastinate since we have postgres anyway")[-1].startswith(
        "let's do procrastinate"
    )


@pytest.mark.parametrize(
    "said",
    [
        "We went with Postgres, because the team knows it and Kim wants it.",
        "I live in Hull because my wife Ana works there.",
        "Because the team knows it, we chose Postgres.",
    ],
)
def test_no_line_is_a_reason_alone(said: str) -> None:
    reasons = [line for line in lines(said) if line.lower().startswith("because")]
    assert not reasons or reasons == [said.removesuffix(".")]


def test_a_line_that_is_too_long_is_cut_at_a_clause() -> None:
    long = "we keep the red boxes in the cellar, " * 20
    assert all(len(line) <= NOTE_CHARS for line in lines(long, everything=True))
    assert lines("x" * 500 + " y", everything=True)[0] == "x" * NOTE_CHARS


def test_lines_and_items_are_sentences_of_their_own() -> None:
    assert [each.text for each in sentences_of("one thing\n- another thing\n2. a third")] == [
        "one thing",
        "another thing",
        "a third",
    ]


def test_behind_a_pasted_text_no_form_is_sure_by_itself() -> None:
    assert "Home: 安特卫普" in lines("我住在安特卫普。")
    assert "Home: 安特卫普" not in lines("总结一下：\n\n# 阔拉\n\n阔拉是我们的新数据库。我住在安特卫普。")


def test_what_changes_is_told_with_what_is_gone() -> None:
    found = statements("we switched from black to ruff in march", THEN)
    assert any(each.correction and each.was == "black" for each in found)
    [ended] = [each for each in statements("I no longer work at Acme", THEN) if each.ended]
    assert (ended.relation, ended.object) == ("Employer", "Acme")


def test_a_deadline_gets_its_date_and_a_home_the_day_since_which_it_is_one() -> None:
    found = {each.relation: each for each in statements("I moved to Lyon yesterday.", THEN, everything=True)}
    assert found["Home"].valid_from == "2026-03-01"
    assert any("2026-03" in line for line in lines("the deadline is next friday", everything=True))


def test_a_line_of_which_only_a_secret_was_left_says_nothing() -> None:
    assert not any("redacted" in line for line in lines("key: [redacted token]"))


def test_a_bracket_that_nothing_closes_is_left_out() -> None:
    assert lines("(the red boxes are in the cellar", everything=True) == ["the red boxes are in the cellar"]


def test_an_order_that_says_that_it_stands_is_kept() -> None:
    def check(message: str, is_kept: bool) -> None:
        assert any(each.kind == "constraint" for each in statements(message, 0.0)) is is_kept

    check_rows(
        check,
        [
            ("Never push to main without a review.", True),
            ("please always write type hints", True),
            ("Never heard of it.", False),
            ("Should we never push to main?", False),
            ("> Never push to main without a review.", False),
        ],
    )


def test_a_move_a_job_and_a_deadline_are_read_with_the_words_between() -> None:
    said = "I moved from Lyon to Lisbon. I work as a data engineer at Northwind. The deadline for the release is May 3."
    slots = {each.relation: each.object for each in statements(said, 1772438400.0) if each.relation != "note"}
    assert slots.items() >= {"Home": "Lisbon", "Role": "data engineer", "Employer": "Northwind"}.items()
    assert "Deadline" in slots


# --- how much a line matters ------------------------------------------------------------------


@given(st.tuples(*[st.floats(0, 1)] * len(KINDS)))
def test_what_is_hardly_a_rule_is_none(kinds: tuple[float, ...]) -> None:
    scores = Scores(0.9, 0.0, 0.0, 0.0, kinds)
    found = kind_of(scores)
    assert found in KINDS
    if found == "rule":
        assert scores.of("rule") >= SURE_RULE
        assert scores.kind == "rule"


def test_of_two_lines_of_a_kind_the_one_that_is_surer_to_be_worth_keeping_matters_more() -> None:
    saliences = [
        max(each.salience or 0 for each in statements(text, THEN))
        for text in (
            "im celiac so no gluten and no oats either",
            "wes found a used leaf on marketplace, 2019, 62k km",
        )
    ]
    assert saliences[0] > saliences[1] >= LOW
    assert max(saliences) <= 0.6


@pytest.mark.parametrize(
    ("said", "allergies"),
    [
        ("I'm allergic to peanuts, eggs and kiwi.", ["peanuts", "eggs", "kiwi"]),
        ("I'm allergic to penicillin and walnuts", ["penicillin", "walnuts"]),
        ("I'm allergic to peanuts and I live in Oslo.", ["peanuts"]),
        ("I'm allergic to bee stings, please note that.", ["bee stings"]),
    ],
)
def test_a_list_of_allergies_is_read_to_its_end(said: str, allergies: list[str]) -> None:
    assert [each.object for each in statements(said, THEN) if each.relation == "Allergy"] == allergies


def test_a_line_says_no_where_the_sentence_does() -> None:
    [line] = statements("So no more coffee for me since the heart attack.", THEN)
    assert line.object.startswith("no more coffee")
    assert [(each.relation, each.object) for each in statements("No, I live in Paris now.", THEN)] == [
        ("Home", "Paris")
    ]


@pytest.mark.parametrize(
    "address",
    [
        "https://stage.heron.example",
        "https://docs.heron.example/text",
        "https://en.wikipedia.org/wiki/Poem",
        "www.heron.dev/story",
    ],
)
def test_the_words_of_a_web_address_ask_for_nothing(address: str) -> None:
    for message in (
        "My name is Mira. I work at Norsk Hydro. Can you look at {}?",
        "I'm allergic to nuts. My wife is Ana and I live in Lyon. Please check {} for errors.",
    ):
        found = {each.relation: each.salience or 0 for each in statements(message.format(address), 1.7e9)}
        assert {"Name", "Employer"} <= found.keys() or {"Allergy", "Partner", "Home"} <= found.keys()
        assert min(found.values()) >= 0.9
