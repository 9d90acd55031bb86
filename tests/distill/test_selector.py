"""The selector: probabilities of sentences, the same for the same text, in time and space that are bounded."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from timeit import repeat
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from growth import LINEAR, growth
from looseleaf.base.errors import Unreadable
from looseleaf.distill import selector
from looseleaf.distill.selector import (
    HEADS,
    KINDS,
    WEIGHTS,
    Around,
    clauses_of,
    cues_of,
    features,
    has_orders,
    head,
    is_aside,
    marks_of,
    orders_of,
    select,
    tokens_of,
)
from looseleaf.language import linear_model
from looseleaf.language.linear_model import LEVELS, Head, read_heads
from tables import check_rows

AROUNDS = st.builds(
    Around,
    asked=st.sampled_from(["", "Which editor do you use?", "你住在哪里？", "ok."]),
    before=st.sampled_from(["", "We met.", "so"]),
    place=st.integers(0, 3),
    count=st.integers(1, 12),
    lines=st.integers(1, 60),
    is_new_line=st.booleans(),
    marks=st.sampled_from(["", "greets closes", "items labels blank"]),
    zone=st.sampled_from(["own", "loose", "after"]),
)


# --- scores ----------------------------------------------------------------------------


@settings(deadline=None)
@given(st.text(max_size=300), AROUNDS)
def test_every_score_is_a_probability_and_the_same_for_the_same_text(text: str, around: Around) -> None:
    scores = select(text, around)
    for score in (scores.keep, scores.change, scores.forbid, scores.quoted, *scores.kinds):
        assert 0 <= score <= 1
    assert scores.kind in KINDS
    assert scores.of(scores.kind) == max(scores.kinds)
    assert select(text, around) == scores


@settings(deadline=None)
@given(st.text(max_size=200), AROUNDS)
def test_every_head_scores_features_as_selecting_does(text: str, around: Around) -> None:
    hashes = features(text, around)
    assert hashes == sorted(set(hashes))
    assert all(0 <= each < 1 << 32 for each in hashes)
    scores = select(text, around)
    for name in HEADS[:4]:
        assert head(name).score(hashes) == pytest.approx(getattr(scores, name))
    if max(scores.keep, scores.change) >= 0.01:
        assert scores.kinds == pytest.approx([head(kind).score(hashes) for kind in KINDS])


@settings(deadline=None)
@given(st.integers(-(1 << 20), 1 << 20), st.integers(0, 2000))
def test_no_sum_of_weights_leaves_the_range_of_a_probability(total: int, count: int) -> None:
    for name in HEADS:
        assert 0 <= head(name).chance(total, count) <= 1


def test_what_tells_of_the_user_is_worth_more_than_an_errand() -> None:
    def check(worth: str, idle: str) -> None:
        assert select(worth).keep > 3 * select(idle).keep

    check_rows(
        check,
        [
            ("my name is Bob and I live in Oslo", "how do I sort a list in python?"),
            ("Ich bin allergisch gegen Nüsse.", "Wie sortiere ich eine Liste?"),
            ("Je suis végétarien depuis dix ans.", "Comment trier une liste ?"),
            ("Siempre usamos postgres en este proyecto.", "¿Cómo ordeno una lista?"),
            ("我对花生过敏。", "怎么排序一个列表？"),
            ("私はナッツアレルギーです。", "リストの並べ替え方は？"),
        ],
    )


def test_what_was_asked_makes_an_answer_worth_keeping() -> None:
    asked = "Which city do you live in?"
    assert select("Oslo", Around(asked=asked)).keep != select("Oslo").keep
    assert select("Oslo", Around(asked=asked)) != select("Oslo", Around(asked="Done."))


# --- features --------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "cues"),
    [
        ("please don't save this", ["not", "hold"]),
        ("Deleting what I mentioned", ["forget", "told"]),
        ("これは覚えないで", ["hold", "not"]),
        ("the weather is fine", []),
    ],
)
def test_cues_are_found_by_words_by_their_beginnings_and_by_characters(text: str, cues: list[str]) -> None:
    assert [name for _, name in cues_of(text)] == cues


def test_what_the_sentences_around_one_ask_for_is_told_of_it() -> None:
    assert orders_of(["translate it please", "I live in Rome", "imagine that"]) == [
        "play>",
        "edit< play>",
        "edit<",
    ]
    assert has_orders("she texted me that")
    assert not has_orders("I live in Rome")


@settings(deadline=None)
@given(st.text(max_size=100))
def test_tokens_are_small_and_hide_which_number_it_is(text: str) -> None:
    tokens = tokens_of(text)
    assert all(token == token.lower() for token in tokens)
    assert not any(token.isdigit() and token.strip("0") for token in tokens)
    assert len(tokens) <= 90


def test_the_end_of_a_long_sentence_is_read_and_its_middle_is_not() -> None:
    long = " ".join(["one"] * 100)
    assert features(f"{long} end") != features(f"{long} fin")
    middle = [*["one"] * 75, "x", *["one"] * 50]
    assert features(" ".join(middle)) == features(" ".join(["one"] * 126))


def test_a_lone_half_of_a_character_is_scored_like_anything_else() -> None:
    assert 0 <= select("\ud800 I live in Oslo").keep <= 1


def test_the_marks_of_a_message_are_those_of_its_lines() -> None:
    def check(message: str, marks: set[str]) -> None:
        assert set(marks_of(message).split()) == marks

    check_rows(
        check,
        [
            ("Hi Tom,", set()),
            ("Hi Tom,\nhow are you\nBest regards", {"greets", "closes"}),
            ("# Title\n\n> quoted\n- item", {"heads", "quotes", "items", "blank"}),
            ("```\ncode\n```", {"fences"}),
            ("Name: x\nAge: 7", {"labels"}),
        ],
    )


@settings(deadline=None)
@given(st.text(alphabet="ab ,;:()-–，、and but", max_size=80))
def test_clauses_stand_in_their_order_and_lose_no_word(text: str) -> None:
    places = clauses_of(text)
    assert all(start <= end for start, end in places)
    assert all(one[1] <= two[0] for one, two in pairwise(places))
    left = "".join(text[start:end] for start, end in places)
    assert [each for each in left if each.isalnum()] == [each for each in text if each.isalnum()]
    assert all(0 <= is_aside(text, places, number) <= 1 for number in range(len(places)))


# --- weights ---------------------------------------------------------------------------


def _forget() -> None:
    read_heads.cache_clear()
    head.cache_clear()


def test_the_weights_are_small_and_whole() -> None:
    data = WEIGHTS.read_bytes()
    assert len(data) <= 500_000
    line, _, rest = data.partition(b"\n")
    told = json.loads(line)
    assert {each["name"] for each in told["heads"]} == set(HEADS)
    assert sum(each["bytes"] for each in told["heads"]) == len(rest)
    assert all(len(head(name).weights) == head(name).mask + 1 for name in HEADS)


def test_loading_the_weights_takes_no_longer_than_reading_json_of_their_size() -> None:
    text = json.dumps([round(each / 997, 4) for each in range(WEIGHTS.stat().st_size // 7)])

    def once(work: Any) -> float:
        return min(repeat(work, timer=time.process_time, number=1, repeat=5))

    def load() -> None:
        _forget()
        for name in HEADS:
            head(name)

    assert once(load) < 2 * once(lambda: json.loads(text))


@pytest.mark.parametrize(
    "spoilt",
    [
        lambda data: data.replace(selector.SCHEMA.encode(), b"selector.v0", 1),
        lambda data: data[: len(data) // 2],
        lambda data: data[:-1] + bytes([data[-1] ^ 1]),
        lambda data: b"",
        lambda data: b"{}\n" + data,
        lambda data: bytes(range(256)) * 20,
    ],
    ids=["another format", "cut", "a bit turned", "empty", "no heads", "noise"],
)
def test_weights_that_are_not_whole_are_refused_with_a_sentence(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, spoilt: Callable[[bytes], bytes]
) -> None:
    other = tmp_path / "selector.bin"
    other.write_bytes(spoilt(WEIGHTS.read_bytes()))
    monkeypatch.setattr(selector, "WEIGHTS", other)
    _forget()
    try:
        with pytest.raises(Unreadable, match=r"selector\.bin is damaged, or not selector\.v3"):
            head("keep")
    finally:
        monkeypatch.undo()
        _forget()


@settings(deadline=None)
@given(st.lists(st.integers(0, 15), min_size=16, max_size=16))
def test_packed_weights_are_read_back_in_their_order(given: list[int]) -> None:
    """The first half of the buckets are the lower four bits of each byte."""
    packed = bytes(low | high << 4 for low, high in zip(given[:8], given[8:], strict=True))
    weights = packed.translate(linear_model._LOW) + packed.translate(linear_model._HIGH)
    steps = [*LEVELS, *(-level for level in LEVELS)]
    assert [each - 128 for each in weights] == [steps[each] for each in given]


def test_weights_that_are_turned_round_fail_the_test_of_worth(monkeypatch: pytest.MonkeyPatch) -> None:
    """The mutant: a head that says the opposite."""

    def turned(name: str) -> Head:
        real = head(name)
        return Head(real.weights, real.mask, -real.scale, -real.bias, real.slope, real.shift)

    monkeypatch.setattr(selector, "head", turned)
    with pytest.raises(AssertionError, match="my name is Bob and I live in Oslo"):
        test_what_tells_of_the_user_is_worth_more_than_an_errand()


@pytest.mark.parametrize("piece", ["word ", "a", "1 ", "我", "'", "(a) "])
def test_the_time_for_a_sentence_is_linear_in_it(piece: str) -> None:
    def work(size: int):  # type: ignore[no-untyped-def]
        text = (piece * size)[:size]
        return lambda: (select(text), clauses_of(text), marks_of(f"{text}\n{text}"))

    assert growth(work, 4000) < LINEAR
