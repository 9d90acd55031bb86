"""Passages cover a text, none is too long, and cutting takes time in proportion to the text."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from growth import LINEAR, growth
from looseleaf.recall.items import AIM, LONGEST, passages

pieces = st.sampled_from(
    (
        "a",
        "word ",
        "End. ",
        "Ende!\n",
        "\n\n",
        "   ",
        "。",
        "終わり。",
        "x" * 700,
        " " * 900,
        "\t",
        "\r\n",
        "\u2028",
    )
)
texts = st.lists(pieces, max_size=60).map("".join) | st.text(max_size=300)


@settings(deadline=None)
@given(texts)
def test_passages_follow_each_other_and_only_blanks_lie_between(text: str) -> None:
    found = list(passages(text))
    at = 0
    for first, last in found:
        assert at <= first < last <= len(text)
        assert not text[at:first].strip()
        assert text[first:last].strip()
        at = last
    assert not text[at:].strip()
    assert bool(found) == bool(text.strip())


@settings(deadline=None)
@given(texts)
def test_no_passage_is_too_long(text: str) -> None:
    assert all(last - first <= LONGEST for first, last in passages(text))


@given(st.text(max_size=LONGEST).filter(str.strip))
def test_what_is_short_stays_whole(text: str) -> None:
    assert list(passages(text)) == [(0, len(text))]


def parts(text: str) -> list[str]:
    return [text[first:last] for first, last in passages(text)]


def test_a_cut_is_made_where_a_paragraph_ends_else_a_line_a_sentence_a_word() -> None:
    half = "One two three. " * 50  # 750 characters
    assert parts(half + "\n\n" + half + "\nAnd " + half)[0] == half + "\n\n"
    assert parts(half + "\n" + half + half)[0] == half + "\n"
    sentences = parts("One two three. " * 300)
    assert all(part.endswith(". ") for part in sentences[:-1])
    words = parts("onetwothree " * 300)
    assert all(part.endswith(" ") for part in words[:-1])
    chinese = parts("今天天气很好。" * 500)
    assert all(part.endswith("。") for part in chinese)


def test_what_has_no_break_is_cut_at_the_longest() -> None:
    assert [len(part) for part in parts("x" * 4000)] == [LONGEST, LONGEST, 4000 - 2 * LONGEST]


def test_of_breaks_alike_the_one_nearest_to_the_aim_is_taken() -> None:
    line = "x" * 99 + "\n"
    assert len(parts(line * 40)[0]) == AIM


def test_cutting_takes_time_in_proportion_to_the_text() -> None:
    for piece in ("word ", "x", "\n", " ", "a.", "\n \n", "。"):
        text = piece * 2000

        def work(size: int, text: str = text) -> object:
            long = text * size
            return lambda: list(passages(long))

        assert growth(work, 1) < LINEAR, repr(piece)  # type: ignore[arg-type]
