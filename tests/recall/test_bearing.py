"""What clearly bears on a prompt, as rules: which words tell a subject, when one is new, which items bear on it."""

from __future__ import annotations

from hypothesis import example, given
from hypothesis import strategies as st

from looseleaf.index.protocol import Corpus, Doc
from looseleaf.language.terms import Word
from looseleaf.recall.bearing import (
    KEPT,
    choose_items,
    is_new_subject,
    subject_of,
    weigh_prompt,
)
from tables import check_rows

TRIVIAL = (
    "yes",
    "go on",
    "ok do it",
    "run the tests again",
    "fix the failing tests",
    "commit the changes",
    "what did you change?",
    "Please explain it step by step.",
    "ja, mach weiter",
    "4th, 12 or 2026",
    "",
)


def doc(
    number: int, terms: str, *, speaker: str = "", session: int | None = None, kind: str = "trace"
) -> Doc:
    return Doc(number, terms, session, number, speaker, "", kind, None, "said")


def words_of(text: str) -> list[Word]:
    return [Word(each, ((each.casefold(), 1.0),), 1.0) for each in text.split()]


def chosen(
    prompt: str, *docs: Doc, items: int = 500, often: int = 1, speakers: tuple[str, ...] = ()
) -> list[int]:
    """The numbers of the chosen items, where every word that is known stands in `often` of `items` items."""
    known = {term for each in docs for term in each.terms.split()}
    words = words_of(prompt)
    corpus = Corpus(items, items * 10, dict.fromkeys(known, often), {})
    return [each.id for each in choose_items(weigh_prompt(words, corpus, speakers), docs, docs)]


def test_a_request_without_a_subject_has_too_few_telling_words() -> None:
    check_rows(_assert_trivial, TRIVIAL)


def _assert_trivial(prompt: str) -> None:
    assert not is_new_subject(subject_of(prompt), ())


def test_a_subject_is_new_until_most_of_it_was_mentioned() -> None:
    subject = subject_of("deploy the billing service to staging")
    assert is_new_subject(subject, ())
    assert not is_new_subject(subject, subject_of("the staging deploy of billing is red"))
    assert is_new_subject(subject_of("repaint the kitchen ceiling"), subject)


@given(st.text())
@example("\ud800 a\ud800b")
def test_any_text_has_a_bounded_subject_that_is_never_new_to_itself(text: str) -> None:
    subject = subject_of(text)
    assert len(subject) <= KEPT
    assert not is_new_subject(subject, subject)


def test_an_item_with_the_telling_words_bears_on_the_prompt() -> None:
    assert chosen("deploy billing to staging", doc(1, "billing deploy staging friday"), doc(2, "kettle")) == [
        1
    ]


def test_one_telling_word_is_chance() -> None:
    assert chosen("deploy billing to staging", doc(1, "billing"), doc(2, "kettle")) == []


def test_words_of_requests_tell_nothing() -> None:
    assert chosen("add test function", doc(1, "add test function")) == []


def test_words_that_stand_everywhere_are_worth_too_little() -> None:
    assert chosen("deploy staging", doc(1, "deploy staging"), often=400) == []


def test_an_item_that_covers_little_of_the_prompt_does_not_bear_on_it() -> None:
    rest = " ".join(f"unknown{letter}" for letter in "abcdef")
    assert chosen(f"deploy staging {rest}", doc(1, "deploy staging")) == []


def test_a_name_is_covered_where_that_person_speaks_and_tells_nothing_alone() -> None:
    by_ann = doc(1, "harbour lantern", speaker="ann")
    assert chosen("Ann harbour lantern unknown nowhere", by_ann, speakers=("ann",)) == [1]
    assert chosen("Ann harbour lantern unknown nowhere", doc(1, "harbour lantern")) == []
    assert chosen("Ann harbour", by_ann, speakers=("ann",)) == []


def test_a_fact_needs_less_than_talk() -> None:
    assert chosen("deploy staging", doc(1, "deploy staging", kind="fact"), often=40) == [1]
    assert chosen("deploy staging", doc(1, "deploy staging"), often=40) == []


def test_what_stands_beside_the_best_comes_along_and_only_with_it() -> None:
    best, beside = doc(1, "billing deploy staging", session=1), doc(2, "staging rollback", session=1)
    assert chosen("deploy billing to staging", best, beside) == [1, 2]
    assert chosen("deploy billing to staging", beside) == []


def test_at_most_four_items_are_chosen() -> None:
    every = [doc(number, "billing deploy staging") for number in range(9)]
    assert chosen("deploy billing to staging", *every) == [0, 1, 2, 3]
