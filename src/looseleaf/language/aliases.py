"""Values that have several names, and the words around a value that say nothing that its relation does not say already.

Invariant: an alias is another name for the very same thing; what is merely alike or contained is none.
"""

from __future__ import annotations

from functools import cache

from looseleaf.language.tables import read_names, read_rows, read_words

TYPE_CHECKING = False
if TYPE_CHECKING:
    Table = dict[tuple[str, ...], tuple[str, ...]]


@cache
def aliases_of(kind: str) -> Table:
    """Return, by the words of each other name, the words of the first; `kind` is a section of `aliases.txt`."""
    names = read_names("aliases", kind)
    return {tuple(other.split()): tuple(first.split()) for other, first in names.items()}


@cache
def lead_phrases() -> dict[str, frozenset[tuple[str, ...]]]:
    """Return, by relation, what a value may begin with and means the same without."""
    rows = read_rows("value_words", "leads")
    return {
        relation: frozenset(tuple(phrase.split("_")) for phrase in phrases)
        for relation, phrases in rows.items()
    }


@cache
def tail_words() -> dict[str, frozenset[str]]:
    """Return, by relation, what a value may end with."""
    return {relation: frozenset(words) for relation, words in read_rows("value_words", "tails").items()}


ANTONYMS = frozenset(frozenset(pair.split("/")) for pair in read_words("value_words", "antonyms"))
"""Of two wishes that differ in nothing but these, the newer holds."""
