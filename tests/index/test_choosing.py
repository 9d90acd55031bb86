"""Which words of a question choose candidates."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from looseleaf.index.choosing import choose_words

WORDS = st.sampled_from(("tea", "pot", "cup", "leaf", "milk"))


@given(st.dictionaries(WORDS, st.integers(0, 1_000_000)), st.integers(0, 2_000_000))
def test_some_word_always_chooses_and_the_rarest_does(terms: dict[str, int], size: int) -> None:
    chosen, needed = choose_words(terms, size)
    known = {term: items for term, items in terms.items() if items}
    assert bool(chosen) == bool(known)
    assert needed in ("", *chosen)
    if known:
        assert chosen[0] == min(known, key=lambda term: (known[term], term))


def test_words_that_stand_everywhere_choose_together() -> None:
    everywhere = {"tea": 900_000, "pot": 800_000}
    assert choose_words(everywhere, 1_000_000) == (("pot", "tea"), "pot")
    assert choose_words({"tea": 900_000}, 1_000_000) == (("tea",), "")
