"""Patterns that are compiled late: what is said to be needed by one stands in all that it matches, and no answer is
another for it."""

from __future__ import annotations

import json
import random
import re
import string
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import needed
from looseleaf.core import lazy as lazily
from looseleaf.core.lazy import lazy, may_match, name_of
from looseleaf.core.words import _ASCII_TOKEN, _TOKEN

if TYPE_CHECKING:
    from collections.abc import Callable

LONG = "(?:" + "x" * lazily.SHORT + "|walks? home|Zürich)"
"""Long enough to be worth a line of the file."""


@pytest.fixture
def known(monkeypatch: pytest.MonkeyPatch) -> Callable[[str, int], re.Pattern[str]]:
    """A lazy pattern of which its pieces are known."""

    def make(pattern: str, flags: int = 0) -> re.Pattern[str]:
        pieces = needed.needed(pattern, flags)
        assert pieces is not None
        monkeypatch.setitem(lazily._table, name_of(pattern, flags), "|".join(sorted(pieces)))
        return lazy(pattern, flags)

    lazily._needed("x" * lazily.SHORT, 0)  # the file was read
    return make


# --- what is needed ------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("pattern", "pieces"),
    [
        ("abc", {"abc"}),
        ("ABC", {"abc"}),
        ("a(?:bc|de)f?", {"abc", "ade"}),
        ("x?walk(?:ed|s)", {"walked", "xwalke", "walks"}),
        (r"\b(?:from|until) \d{4}", {"from ", "until "}),
        (r"\w+ly (?:never|always)", {"ly nev", "ly alw"}),
        (r"(?=.*tea)\w+", {"tea"}),
        (r"(?!tea)coffee", {"coffee"}),
        ("[ab]c", {"ac", "bc"}),
        ("(?:green)+ ?(?:tea){2,}", {"green"}),
        ("[一-鿿]+", {lazily.NOT_ASCII}),
        ("(?:tea|[äöü])", {"tea", "ä", "ö", "ü"}),
        ("(?:tea|[一-鿿])", {"tea", lazily.NOT_ASCII}),
        ("Zürich|Graz", {"zürich", "graz"}),
    ],
)
def test_one_of_the_pieces_stands_in_all_that_a_pattern_matches(pattern: str, pieces: set[str]) -> None:
    assert needed.needed(pattern, 0) == frozenset(pieces)


@pytest.mark.parametrize(
    "pattern", [r"\d+", "a*", "(?:abc)?", r"abc|\d", ".", "[a-z]+", "(?:abc|)", "", "ſ", "µ"]
)
def test_of_what_may_be_anything_nothing_is_needed(pattern: str) -> None:
    assert needed.needed(pattern, 0) is None


def made_from(pattern: re.Pattern[str], most: int) -> list[str]:
    found: list[str] = []

    @settings(max_examples=most, database=None, deadline=None, suppress_health_check=list(HealthCheck))
    @given(st.from_regex(pattern))
    def make(text: str) -> None:
        found.append(text)

    make()
    return found


def examples(patterns: list[tuple[str, int]], each: int) -> int:
    """Texts that the patterns match, made from them, in any case; how many there were. All have what is needed."""
    count = 0
    for pattern, flags in patterns:
        pieces = needed.needed(pattern, flags)
        assert pieces is not None
        found = made_from(re.compile(pattern, flags), each)
        for text in found:
            for spelt in (text, text.upper(), text.swapcase()) if flags & re.IGNORECASE else (text,):
                if re.search(pattern, spelt, flags):
                    count += 1
                    assert may_match(spelt, tuple(pieces)), (pattern, spelt)
    return count


def listed() -> list[tuple[str, int]]:
    """The patterns that the file knows."""
    lazily._needed("x" * lazily.SHORT, 0)
    done = subprocess.run([sys.executable, needed.__file__, "--list"], check=True, capture_output=True)
    return [
        (pattern, flags)
        for pattern, flags in json.loads(done.stdout)
        if name_of(pattern, flags) in lazily._table
    ]


def test_texts_made_from_some_patterns_of_the_package_have_what_is_needed() -> None:
    short = [each for each in listed() if len(each[0]) < 160]
    assert examples(random.Random(1).sample(short, 12), 3) > 12


@pytest.mark.long
def test_texts_made_from_all_patterns_of_the_package_have_what_is_needed() -> None:
    count = examples([each for each in listed() if len(each[0]) < 2000], 20)
    print(f"texts={count}")
    assert count > 3000


def test_a_piece_too_few_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """The mutant: of alternatives, all but the last are looked for."""
    pattern = ("(?:tea|coffee|water) " + "x" * lazily.SHORT, 0)
    assert examples([pattern], 20) > 0
    whole = needed._needed
    monkeypatch.setattr(needed, "_needed", lambda parts: frozenset({"tea", "coffee"}))
    with pytest.raises(AssertionError):
        examples([pattern], 20)
    monkeypatch.setattr(needed, "_needed", whole)


def test_the_file_is_of_the_patterns_that_there_are() -> None:
    done = subprocess.run([sys.executable, needed.__file__, "--check"], check=False)
    assert done.returncode == 0, "run tests/needed.py"


# --- answers -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "text", ["He walks HOME.", "nothing", "", "zürich", "ZÜRICH", "in Zürich he walks home"]
)
def test_a_late_pattern_answers_as_an_early_one(
    known: Callable[[str, int], re.Pattern[str]], text: str
) -> None:
    early = re.compile(LONG, re.IGNORECASE)
    for name in ("match", "search", "fullmatch"):
        assert bool(getattr(known(LONG, re.IGNORECASE), name)(text)) == bool(getattr(early, name)(text))
    assert known(LONG, re.IGNORECASE).findall(text) == early.findall(text)
    assert known(LONG, re.IGNORECASE).split(text) == early.split(text)
    assert known(LONG, re.IGNORECASE).sub("-", text) == early.sub("-", text)
    assert [each[0] for each in known(LONG, re.IGNORECASE).finditer(text)] == early.findall(text)


def test_a_text_without_any_piece_compiles_nothing_until_there_were_many(
    known: Callable[[str, int], re.Pattern[str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    made: list[str] = []
    compile_ = re.compile

    def counted(pattern: str, flags: int = 0) -> re.Pattern[str]:
        made.append(pattern)
        return compile_(pattern, flags)

    monkeypatch.setattr(re, "compile", counted)
    late = known(LONG, re.IGNORECASE)
    assert late.search("nothing") is None
    assert made == []
    assert late.search("walks home") is not None
    assert made == [LONG]
    late = known(LONG, re.IGNORECASE)
    for _ in range(lazily._PATIENCE):
        assert late.search("nothing") is None
    assert made == [LONG]
    assert late.search("nothing") is None
    assert made == [LONG, LONG]


@pytest.mark.parametrize("letter", "ıİſK")
def test_letters_that_are_made_small_in_another_way_are_left_to_the_pattern(letter: str) -> None:
    assert may_match(f"wal{letter}s", ("walks",))


@given(st.text(string.printable, max_size=40))
def test_ascii_is_read_alike_by_what_knows_other_scripts_and_what_does_not(text: str) -> None:
    assert re.findall(_ASCII_TOKEN, text) == re.findall(_TOKEN, text)
