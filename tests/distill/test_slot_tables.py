"""Slots: every form of every table can be read, is tried wherever it matches, and says nothing in doubt."""

from __future__ import annotations

import re
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from growth import LINEAR, growth
from looseleaf.distill import slot_tables
from looseleaf.distill.slot_tables import (
    LONGEST,
    Table,
    _compile_form,
    _sorts_in,
    _sorts_of_words,
    families,
    family_of,
    has_shape,
    is_name,
    languages,
    may_match,
    read,
    sorts_of,
    table,
)
from looseleaf.language.relations import BY_LABEL
from made_up import made_up, nested, parsed
from tables import check_rows

LANGUAGES = ("de", "en", "es", "fr", "it", "ja", "ko", "nl", "pt", "zh")


def said(sentence: str, **how: tuple[str, ...]) -> list[tuple[str, str]]:
    return [
        (("-" if each.ended else "") + each.label, each.value)
        for each in read(sentence, languages=how.get("languages", ()))
    ]


# --- the tables --------------------------------------------------------------------------


def test_there_is_a_table_for_each_language() -> None:
    assert languages() == LANGUAGES
    assert table("xx").forms == []


def test_every_form_compiles_and_no_repeat_stands_in_another() -> None:
    def check(language: str) -> None:
        for form in table(language).forms:
            pattern = _compile_form(form)
            assert pattern.flags & re.IGNORECASE
            assert list(nested(parsed(pattern.pattern))) == [], form.source
            assert form.topic in ("user", "project", "-"), form
            label = form.label.partition("=")[0].lstrip("!-")
            assert label in ("was", "*") or label.casefold() in BY_LABEL, form
        assert sum(may_match(form.source, "") for form in table(language).forms) <= 2  # tried on every text

    check_rows(check, LANGUAGES)


def test_a_form_is_compiled_the_same_each_time() -> None:
    for language in ("en", "zh", "ko"):
        for form in table(language).forms[::20]:
            kept = _compile_form(form)
            slot_tables._family_pattern.cache_clear()
            slot_tables._sorts_by_words.cache_clear()
            assert _compile_form.__wrapped__(form).pattern == kept.pattern
            assert slot_tables._outer_words.__wrapped__(form.source) == slot_tables._outer_words(form.source)
            _sorts_of_words(form.source)


def wrongly_passed_over(language: str, times: int) -> list[str]:
    """Texts that a form matches without being tried; and how many it matched."""
    random = Random(7)
    found: list[str] = []
    matched = 0
    for form in table(language).forms:
        for _ in range(times):
            text = made_up(form.source, random)
            if _compile_form(form).search(text) is None:
                continue
            matched += 1
            small = text.lower()
            if not slot_tables.may_match(form.source, small) or not _sorts_in(form) <= _sorts_of_words(small):
                found.append(f"{form.source}: {text}")
    assert matched > 0.8 * times * len(table(language).forms)
    return found


def test_the_words_of_a_form_and_a_name_of_its_sort_stand_in_every_text_that_it_matches() -> None:
    def check(language: str) -> None:
        assert wrongly_passed_over(language, 2) == []

    check_rows(check, LANGUAGES)


@pytest.mark.long
@pytest.mark.parametrize("language", LANGUAGES)
def test_the_words_of_a_form_stand_in_each_of_many_texts_that_it_matches(language: str) -> None:
    assert wrongly_passed_over(language, 40) == []


def test_requiring_an_optional_word_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    """The mutant: a word of an optional group is taken for one that must be there."""

    def has_last(source: str, small: str) -> bool:
        return all(word in small for word in re.findall(r"[^\W\d_]{3,}", re.sub(r"\{\w+\}", "", source))[-1:])

    monkeypatch.setattr(slot_tables, "may_match", has_last)
    assert wrongly_passed_over("en", 1)


def test_a_form_is_tried_where_the_words_stand_that_no_text_can_lack() -> None:
    def check(form: str, tried: str, passed_over: str) -> None:
        assert may_match(form, tried)
        assert not may_match(form, passed_over)

    check_rows(
        check,
        [
            ("i live in {place}", "i live in rome", "i live near rome"),
            ("i(?:'m| am) {diet}", "i'm vegan", "he is vegan"),
            ("(?:we use|we took) {thing}", "we took it", "we want it"),
            ("(?:now )?(?:eat|drink) {thing}", "drink it", "now it"),
            ("made ([0-9]) years(?=\\Z|[,.!)]| ago| now)", "made 3 years,", "made 3 days now"),
            ("to [a|b)]x?", "to )", "a )"),
            ("\\(so\\) be", "(so) be", "(so) do"),
            ("(?:see (?:the|a(?:ny|ll)) )?(?:cat|(?:old )?dog)s?", "any dog", "see the old"),
        ],
    )


def test_a_table_reads_words_labels_and_comments() -> None:
    made = Table("xx", "# no form\n@ends and but\n@ends or\n\nuser\tHome\ti live in {place}\n")
    assert made.words["ends"] == {"and", "but", "or"}
    assert [(each.topic, each.label, each.source) for each in made.forms] == [
        ("user", "Home", "i live in {place}")
    ]


def test_names_and_aspects_have_sorts() -> None:
    assert "database" in sorts_of("postgres")
    assert not sorts_of("zzzz")
    assert all(name == name.lower() and name for name in family_of())
    assert not is_name("the")
    assert is_name("quorra")
    assert is_name("östersund")


# --- reading ---------------------------------------------------------------------------


@settings(deadline=None)
@given(st.text(max_size=200))
def test_reading_any_text_gives_stretches_of_it(text: str) -> None:
    for each in read(text):
        assert 0 <= each.start <= each.end <= len(text)
        if not each.ended and each.value.casefold() in text.casefold():
            assert each.value


@settings(deadline=None)
@given(st.sampled_from(LANGUAGES), st.integers(0, 10_000))
def test_of_two_readings_under_one_label_none_overlap(language: str, seed: int) -> None:
    random = Random(seed)
    forms = random.sample(table(language).forms, 3)
    found = read(". ".join(made_up(form.source, random) for form in forms), languages=[language])
    for one in found:
        others = [
            each for each in found if each is not one and (each.label, each.topic) == (one.label, one.topic)
        ]
        assert not any(one.start < each.end and each.start < one.end for each in others)


def test_a_sure_form_gives_its_value() -> None:
    def check(sentence: str, found: list[tuple[str, str]]) -> None:
        assert [each for each in said(sentence) if each[0] != "was"] == found

    check_rows(
        check,
        [
            ("I live in Lyon.", [("Home", "Lyon")]),
            ("my name’s Ada Lovelace", [("Name", "Ada Lovelace")]),
            ("I'm allergic to peanuts and cats", [("Allergy", "peanuts")]),
            ("we use postgres 16", [("Database", "postgres 16")]),
            ("keep it short", [("Answers", "short")]),
            ("I prefer green tea.", [("Prefers", "green tea")]),
            ("I don't live in Lyon anymore", [("-Home", "Lyon")]),
            ("ich wohne in Köln", [("Home", "Köln")]),
            ("我住在上海", [("Home", "上海")]),
            ("我们用postgres", [("Database", "postgres")]),
            ("저는 서울에 살아요", [("Home", "서울")]),
            ("東京に住んでいます", [("Home", "東京")]),
            ("our standup is at 9:30 every monday", [("Standup", "9:30 every monday")]),
            ("acabei de fazer 44 anos", [("Age", "44")]),
        ],
    )


def test_in_doubt_nothing_is_read() -> None:
    def check(sentence: str) -> None:
        assert said(sentence) == []

    check_rows(
        check,
        [
            "if I live in Lyon, what then",
            "I wish I live in Lyon",
            "I live in fear",
            "my name is not important",
            "I'm a bit tired",
            "I prefer the second option.",
            "I prefer it that way",
            "I live in 42",
            "he says I live in Lyon",
            "如果我住在上海",
            f"{'x' * LONGEST} I live in Lyon",
        ],
    )


def test_a_value_has_the_shape_of_its_type() -> None:
    def check(kind: str, value: str, expected: bool) -> None:
        assert has_shape(kind, value, table("en")) is expected

    check_rows(
        check,
        [
            ("date", "12 May", True),
            ("date", "soon", False),
            ("zone", "UTC+2", True),
            ("zone", "home", False),
            ("command", "make test", True),
            ("command", "hard work", False),
            ("trade", "nurse", True),
            ("trade", "fan", False),
            ("word", "blue", True),
            ("word", "a b", False),
            ("thing", "it", False),
            ("thing", "nuts", True),
            ("name", "7", False),
            ("place", "the Hague", True),
            ("place", "42nd Street", False),
            ("place", "", False),
            ("org", "...", False),
        ],
    )


def test_a_name_of_several_words_is_known_as_one_of_its_sort() -> None:
    assert "meeting" in _sorts_of_words("le point d'équipe est à 9h")
    assert "meeting" in _sorts_of_words("our standups are at 9")
    assert "database" in _sorts_of_words("we run postgres 16.2 here")
    assert "database" in _sorts_of_words("我们用postgres")
    assert set(families()) >= {"database", "editor", "diet", "meeting"}


@pytest.mark.parametrize("piece", ["i live in ", "my name is ", "we use postgres and ", "seit x y "])
def test_the_time_for_a_sentence_is_linear_in_it_up_to_its_longest(piece: str) -> None:
    def work(size: int):  # type: ignore[no-untyped-def]
        text = (piece * size)[:size]
        return lambda: read(text, languages=("en", "de"))

    assert growth(work, LONGEST // 16) < LINEAR


@pytest.mark.parametrize(
    ("sentence", "slot"),
    [
        ("my name is john", ("Name", "john")),
        ("ich heiße otto", ("Name", "otto")),
        ("mi chiamo luna", ("Name", "luna")),
        ("i live in quito", ("Home", "quito")),
    ],
)
def test_names_that_are_typed_small_are_names(sentence: str, slot: tuple[str, str]) -> None:
    """A list of everyday words that was made of what people typed small must not hold them."""
    assert slot in said(sentence)
