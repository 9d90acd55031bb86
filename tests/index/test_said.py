"""Texts as they stand: whatever stands in a text is found by its words."""

from __future__ import annotations

from hypothesis import example, given
from hypothesis import strategies as st

from looseleaf.index.said import Part, fold, parts_of, parts_of_name, parts_of_words, said_words

LETTERS = st.text(st.sampled_from("abAß_.- \n\\\t\u00a0İéſ好\ud800"), max_size=12)
TEXTS = st.lists(st.one_of(LETTERS, st.just("x" * 70), st.text(max_size=6)), max_size=6).map("".join)


def has(words: str, part: Part) -> bool:
    """Whether one of the words fits a part, in the plainest way."""
    return any(
        part.text in word
        and (not part.begins or word.startswith(part.text))
        and (not part.ends or word.endswith(part.text))
        for word in words.split()
    )


@given(TEXTS, st.floats(0, 1), st.floats(0, 1))
@example("y" * 200, 0.0, 1.0)
@example("y" * 200, 0.3, 0.8)
def test_each_part_of_a_text_is_found_in_its_words(text: str, one: float, other: float) -> None:
    folded, words = fold(text), said_words(text)
    begin, end = sorted(int(share * len(folded)) for share in (one, other))
    assert all(has(words, part) for part in parts_of(folded[begin:end])), folded[begin:end]
    whole = folded[begin:end].split()[1:-1]
    assert all(has(words, part) for part in parts_of_words(whole))


@given(TEXTS, TEXTS, TEXTS)
def test_a_name_is_found_where_it_stands_alone(before: str, name: str, after: str) -> None:
    words = said_words(f"{before} {name} {after}")
    assert all(has(words, part) for part in parts_of_name(name))


def test_a_word_inside_a_text_is_whole_and_its_ends_may_go_on() -> None:
    assert parts_of("reen tea, pleas") == [
        Part("pleas", True, False),
        Part("reen", False, True),
        Part("tea", True, True),
    ]
    assert parts_of("…!") == [Part("…", False, True)]
    assert parts_of(" .- ") == []
    assert parts_of_name("session_00012") == [Part("session", True, True), Part("00012", True, True)]
