"""What a question calls the relation it asks for: who asks where somebody lives means his home.

A page writes a relation by one label; `language/synonyms.py` knows what else people call it. A fact has a term for its
relation that no text has, and a word of a question that names a relation counts as that term too.
"""

from __future__ import annotations

from functools import lru_cache

from looseleaf.language.synonyms import SYNONYMS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    Names = dict[str, tuple[str, ...]]

_OWN, _ANOTHERS = "¶", "¶¶"
"""What such terms begin with: of the topic itself, and of somebody else ("Sister's home")."""

_LIKELY, _POSSIBLE = 0.8, 0.6
_LITTLE = frozenset(
    "a an and as at be by code current de for from goes has how in is la main me my now of on the their they to user "
    "we what where which with work works working name number no status".split()
)
"""Words of a name that do not tell which relation it is."""


def relation_term(relation: str) -> str:
    """The term of a fact's relation; "" for one that nobody calls otherwise."""
    from looseleaf.language.slots import relation_name

    whose, _, name = relation_name(relation).rpartition("'s ")
    label = SYNONYMS.get(name, "")
    return (_ANOTHERS if whose else _OWN) + _plain(label) if label else ""


def asked_relations(query: str, words: Iterable[str]) -> dict[str, tuple[tuple[str, float], ...]]:
    """Of the words of a question, those that name relations, each with the terms of these."""
    single, several, wide = _names()
    said = {word.casefold() for word in words}
    folded = query.casefold()
    found: dict[str, dict[str, float]] = {}
    for word in said:
        for label in single.get(word, ()):
            found.setdefault(word, {}).update({_OWN + label: _LIKELY, _ANOTHERS + label: _POSSIBLE})
        for rest, label in several.get(word, ()):
            if rest <= said:
                found.setdefault(word, {}).update({_OWN + label: _LIKELY, _ANOTHERS + label: _POSSIBLE})
    if not folded.isascii():
        for name, label in wide:
            if name in folded:
                for word in sorted(each for each in said if each in name or name in each)[:1]:
                    found.setdefault(word, {})[_OWN + label] = _LIKELY
    return {word: tuple(sorted(terms.items())) for word, terms in found.items()}


@lru_cache(maxsize=1)
def _names() -> tuple[Names, dict[str, list[tuple[frozenset[str], str]]], tuple[tuple[str, str], ...]]:
    """By a word: the relations that it names by itself, and with others; and names of scripts without spaces."""
    single: dict[str, list[str]] = {}
    several: dict[str, list[tuple[frozenset[str], str]]] = {}
    wide: list[tuple[str, str]] = []
    plain = {label: _plain(label) for label in set(SYNONYMS.values())}
    for name, label in SYNONYMS.items():
        term = plain[label]
        if name[0] >= "⺀":
            wide.append((name, term))
            continue
        telling = [word for word in name.split() if word not in _LITTLE]
        if len(telling) == 1:
            if term not in single.setdefault(telling[0], []):
                single[telling[0]].append(term)
        elif telling:
            several.setdefault(telling[0], []).append((frozenset(telling[1:]), term))
    return {word: tuple(terms) for word, terms in single.items()}, several, tuple(wide)


def _plain(label: str) -> str:
    return "".join(letter for letter in label.casefold() if letter.isalnum())
