"""What clearly bears on a prompt, by words alone: mostly nothing.

Recall answers a question. Here none was asked, and a wrong line costs attention. So one item must hold several telling
words of the prompt, worth enough together (words that every request uses say little), and must cover a good part of it.
A speaker's name is covered where that person speaks, but tells nothing alone. `benchmarks/bearing.py` measures it.
"""

from __future__ import annotations

from collections import namedtuple
from functools import cache
from math import log

from looseleaf.language.tables import read_rows
from looseleaf.language.topic_words import stem, stop_words

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Sequence
    from typing import NamedTuple

    from looseleaf.index.protocol import Corpus, Doc
    from looseleaf.language.terms import Word

    class PromptWord(NamedTuple):
        """A word of a prompt: the terms that match it, what finding it is worth, whether it tells the subject, and
        the speaker's name that it is part of."""

        terms: frozenset[str]
        worth: float
        tells: bool
        name: str

else:
    PromptWord = namedtuple("PromptWord", "terms worth tells name")

READ = 1000
"""Characters of a prompt to read: what follows is mostly pasted."""

LEAST_WORDS = 2
"""Telling words that a prompt must have, and that one item must hold."""

KEPT = 48
"""Words of a subject that a session keeps."""

_NEW = 0.5
"""The part of a prompt's words that must be new to begin another subject."""

_SHORTEST = 3
"""Letters of a telling word in ASCII."""

_UNSPACED = "\u0e00"
"""From here on most scripts have no spaces: there a word is a pair of characters."""

_NEIGHBORS = (-2, -1, 1, 2)

_PLAIN = 0.85
"""Forms of a word with a lower factor are guesses, and do not count."""

_LITTLE = 0.3
"""The worth of a word that requests use for any subject, as a part of another's."""

_WORTH = 1.0
"""What the telling words in an item must be worth, in words that stand nowhere else."""

_WORTH_OF_FACT = 0.6
"""The same in a fact: it was distilled, and is short."""

_COVERED = 0.5
"""The part of a prompt that an item must cover, half by itself and half with its neighbors."""

_BESIDE = 0.6
"""The part of the best item's cover that others need to come along."""

MOST = 4
"""Items for one prompt."""


@cache
def _empty_words() -> frozenset[str]:
    requests = read_rows("request_words", "request").values()
    return stop_words().union(*requests)


def tells_subject(word: str) -> bool:
    """True unless any request or topic may use the word, or it is a number or a piece of one."""
    if word.isascii() and (len(word) < _SHORTEST or word.isdecimal()):
        return False
    root = stem(word)
    return _empty_words().isdisjoint((word, root, f"{root}e"))


def subject_of(prompt: str) -> list[str]:
    """Return the words that tell what a prompt is about, roughly: no stemmer, no index, no pattern, all of which take
    longer to load than most prompts are worth."""
    plain = "".join(char if char.isalnum() else " " for char in prompt[:READ].lower())
    found: dict[str, None] = {}
    for word in plain.split():
        is_spaced = word.isascii() or max(word) < _UNSPACED
        parts = [word] if is_spaced else [word[at : at + 2] for at in range(len(word) - 1)]
        found |= {stem(part): None for part in parts if tells_subject(part)}
    return list(found)[:KEPT]


def is_new_subject(subject: Collection[object], before: Collection[object]) -> bool:
    """True if most of a prompt's subject did not come up before in its session."""
    new = [word for word in subject if word not in before]
    return len(subject) >= LEAST_WORDS and len(new) >= _NEW * len(subject)


def weigh_prompt(words: Sequence[Word], corpus: Corpus, speakers: Collection[str]) -> list[PromptWord]:
    """Return the words of a prompt with their worth: 1 for a word that stands in one place."""
    highest = _rarity(0, corpus.items)
    found: list[PromptWord] = []
    for word in words:
        text = word.text.casefold()
        terms = frozenset(term for term, factor in word.forms if factor >= _PLAIN)
        often = max((corpus.df.get(term, 0) for term in terms), default=0)
        name = next((each for each in sorted(speakers) if text in each.split()), "")
        tells = not name and tells_subject(text)
        worth = word.weight * _rarity(often, corpus.items) / highest
        found.append(PromptWord(terms, worth if tells or name else _LITTLE * worth, tells, name))
    return found


def _rarity(often: int, items: int) -> float:
    return log(1.0 + (items - min(often, items) + 0.5) / (often + 0.5))


def choose_items(words: Sequence[PromptWord], ranked: Sequence[Doc], docs: Sequence[Doc]) -> list[Doc]:
    """Return the items that clearly bear on a prompt, and what comes along; mostly none. `ranked`: best first; `docs`:
    these and their neighbors."""
    near = {(doc.session, doc.seq): doc for doc in docs if doc.session is not None}
    whole = sum(word.worth for word in words)
    if whole <= 0.0:
        return []
    covers: list[tuple[float, Doc]] = []
    best = 0.0
    for doc in ranked:
        around = [near[place] for step in _NEIGHBORS if (place := (doc.session, doc.seq + step)) in near]
        own = frozenset(doc.terms.split())
        every = own.union(*(each.terms.split() for each in around))
        speaking = {doc.speaker, *(each.speaker for each in around)}
        here = [word for word in words if _is_in(word, own, {doc.speaker})]
        beside = [word for word in words if _is_in(word, every, speaking)]
        cover = (sum(word.worth for word in here) + sum(word.worth for word in beside)) / (2 * whole)
        telling = [word.worth for word in here if word.tells]
        covers += [(cover, doc)] if telling else []
        least = _WORTH_OF_FACT if doc.kind == "fact" else _WORTH
        if len(telling) >= LEAST_WORDS and sum(telling) >= least and cover >= _COVERED:
            best = max(best, cover)
    return [doc for cover, doc in covers if cover >= _BESIDE * best][:MOST] if best else []


def _is_in(word: PromptWord, terms: Collection[str], speaking: Collection[str]) -> bool:
    return not word.terms.isdisjoint(terms) or (bool(word.name) and word.name in speaking)
