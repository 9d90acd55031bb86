"""What all indexes decide alike: which words of a question choose candidates, and how much is looked at."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

ALIKE = 4
"""Most passages of one text, or items with the same words, among the candidates."""

DEEPER = 20
"""How many times more rows to read where those crowd out the others."""

SPEAKERS = 1000
"""Most names that a question may be matched with."""

FORMS = 1000
"""Most words that a part of a word is looked for in: one that stands in more stands nearly everywhere."""

SPELT, HOLDING = 60, 200
"""Most terms to consider for one word of a question."""

LETTERS = (4, 40)
"""Fewest and most letters of a term that is another spelling, or holds another term."""

_COMMON = 0.1
"""A word in a larger share of the items chooses no candidates, if there are rarer ones."""

_SMALL = 2000
"""Among this few items, every word may choose."""

_POSTINGS = 20_000
"""Items that the words of one question may visit: its cost must not grow with the memory."""


def choose_words(terms: Mapping[str, int], size: int) -> tuple[tuple[str, ...], str]:
    """Return the words that choose candidates: the rarer ones, within the limit of visits; and the one (or "") that
    an item must have besides another of them.

    Where even the rarest stands nearly everywhere, an item must contain two of them.
    """
    ranked = sorted((items, term) for term, items in terms.items() if items)
    if not ranked:
        return (), ""
    most = size if size <= _SMALL else max(size * _COMMON, ranked[0][0])
    chosen: list[str] = []
    visited = 0
    for items, term in ranked:
        visited += items
        if chosen and (items > most or visited > _POSTINGS):
            break
        chosen.append(term)
    if ranked[0][0] > _POSTINGS and len(ranked) > 1:
        return tuple(term for _, term in ranked[:4]), ranked[0][1]
    return tuple(chosen), ""
