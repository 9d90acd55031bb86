"""Patterns that are compiled late answer as those that are compiled at once; and what their pieces rest on."""

from __future__ import annotations

import copy
import re
import string

from hypothesis import given
from hypothesis import strategies as st

from looseleaf.language.words import _FIRST_EASTERN, _TOKEN, _WESTERN_TOKEN
from looseleaf.text.lines import NEVER, lazy, one_of
from tables import check_rows

PATTERN = "walks? home|Zürich"


def test_a_late_pattern_answers_as_an_early_one() -> None:
    def check(text: str) -> None:
        early = re.compile(PATTERN, re.IGNORECASE)
        for name in ("match", "search", "fullmatch"):
            assert bool(getattr(lazy(PATTERN, re.IGNORECASE), name)(text)) == bool(getattr(early, name)(text))
        late = lazy(PATTERN, re.IGNORECASE)
        assert late.findall(text) == early.findall(text)
        assert late.split(text) == early.split(text)
        assert late.sub("-", text) == early.sub("-", text)
        assert [each[0] for each in late.finditer(text)] == early.findall(text)
        assert (late.pattern, late.flags) == (early.pattern, early.flags)

    check_rows(check, ["He walks HOME.", "nothing", "", "zürich", "ZÜRICH", "in Zürich he walks home"])


def test_a_pattern_with_a_shorter_one_for_ascii_answers_as_without_it() -> None:
    def check(text: str) -> None:
        wide, short = "[一-龥]|[a-z]+", "[a-z]+"
        one, two = lazy(wide, in_ascii=short), re.compile(wide)
        for name in ("match", "search", "fullmatch"):
            found, expected = getattr(one, name)(text), getattr(two, name)(text)
            assert (found and found.span()) == (expected and expected.span())
        assert one.findall(text) == [each[0] for each in one.finditer(text)] == two.findall(text)
        assert one.sub("-", text) == two.sub("-", text)
        assert (one.search(text, 1) is None) == (two.search(text, 1) is None)
        never = lazy("[一-龥]", in_ascii=NEVER)
        assert (never.search(text) is None) == (re.search("[一-龥]", text) is None)

    check_rows(check, ["a b", "ä 漢字", "", "漢", "plain", "ab ab"])


def test_a_late_pattern_is_copied_before_and_after_its_first_use() -> None:
    late = lazy(PATTERN)
    before = copy.copy(late)
    assert late.search("walk home")
    assert [bool(each.search("walk home")) for each in (before, copy.copy(late))] == [True, True]


@given(st.lists(st.text("abc", min_size=1, max_size=4), min_size=1))
def test_of_alternatives_the_longest_that_fits_is_found_whatever_their_order(words: list[str]) -> None:
    assert one_of(words) == one_of(reversed(words))
    for word in words:
        found = re.match(one_of(words), f"{word}bca")
        assert found is not None
        assert len(found[0]) >= len(word)


WESTERN = st.characters(max_codepoint=ord(_FIRST_EASTERN) - 1) | st.sampled_from(string.printable)


@given(st.text(WESTERN, max_size=40))
def test_both_patterns_of_tokens_read_western_text_alike(text: str) -> None:
    assert re.findall(_WESTERN_TOKEN, text) == re.findall(_TOKEN, text)
