"""Sentences whose fact is over are known again by its words, and by nothing that only looks like them."""

from __future__ import annotations

from looseleaf.base.values import Fact
from looseleaf.facts.placement import has_words, outdated_by, over_and_now
from tables import check_rows


def fact(quote: str, status: str = "current", relation: str = "Home") -> Fact:
    return Fact("user", "user", relation, "x", quote=quote, status=status)  # type: ignore[arg-type]


def test_a_quote_stands_in_a_sentence_as_words_of_its_own() -> None:
    def check(quote: str, text: str, is_there: bool) -> None:
        assert has_words(quote, text) == is_there

    check_rows(
        check,
        [
            ("i like tea", "i like tea.", True),
            ("i like tea", "well, i like tea", True),
            ("i like tea", "i like teaching", False),
            ("i use vim", "i use vimium, but i use vim too", True),
            ("我住在上海", "我住在上海了", True),
        ],
    )


def test_what_is_true_as_well_is_not_outdated_and_a_note_vouches_for_nothing() -> None:
    over, now = over_and_now([fact("I live in Oslo", "superseded"), fact("I live in Rome")])
    is_outdated = outdated_by(over, now)
    assert [is_outdated(f"Well, I live in {town}.") for town in ("Oslo", "Rome", "Bonn")] == [
        True,
        False,
        False,
    ]
    assert not is_outdated("I live in Oslo, no: I live in Rome.")
    noted = over_and_now(
        [fact("I live in Oslo", "rejected"), fact("I live in Oslo and sing", relation="note")]
    )
    assert outdated_by(*noted)("I live in Oslo and sing.")
