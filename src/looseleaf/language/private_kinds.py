"""Private kinds: whether a sentence tells of a real person's health, family, address or money; and whether it is about
its writer, or about the work at hand.

Such lines do not belong in a folder that others read. A linear model decides (`language/linear_model.py`), trained on
sentences by many authors (`training/belonging.py`): words alone cannot tell a sister from a sister chromatid, nor a
table of salaries from a salary. The words of `data/language/private_words.txt` are clues for it, in ten languages.
"""

from __future__ import annotations

import re
from functools import cache, lru_cache
from pathlib import Path

from looseleaf.base.immutable import frozen
from looseleaf.language.linear_model import (
    READ_CHARS,
    hashes_of,
    is_wide,
    read_heads,
    split_tokens,
    unpack_head,
    word_features,
)
from looseleaf.language.tables import read_pattern, read_words

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Iterator
    from typing import Any

    from looseleaf.language.linear_model import Head

KINDS = ("health", "family", "address", "money")
HEADS = ("private", "home", *KINDS)
"""The questions about a sentence, each with weights of its own: whether it is private at all, whether it is about its
writer, and of which kind it is."""
WEIGHTS = Path(__file__).parents[1] / "data/language/belonging.bin"
SCHEMA = "belonging.v1"

BAR = 0.3
"""From which chance on a sentence counts as private: what is wrongly taken for private waits for a person or goes home,
and what is wrongly taken for harmless is read by others."""

_BAR_OF_CLUES = 0.05
"""The same, for a sentence that names its writer and has a word of the kind."""

_LABELS = {
    "health": "allergy condition diet health medication",
    "family": "child sibling parent partner family spouse",
    "address": "address home phone",
    "money": "salary income debt",
}
"""Labels of facts that are private whatever they say: `Marital status` too, as its words are."""


@frozen
class Clues:
    """The words of one class: whole ones, beginnings, what may stand within a run of Chinese, Japanese or Korean, and
    patterns."""

    words: frozenset[str]
    stems: frozenset[str]
    within: tuple[str, ...]
    said: re.Pattern[str] | None

    def are_in(self, text: str, words: Collection[str], starts: Collection[str], *, is_wide: bool) -> bool:
        return (
            not self.words.isdisjoint(words)
            or not self.stems.isdisjoint(starts)
            or (is_wide and any(each in text for each in self.within))
            or (self.said is not None and self.said.search(text) is not None)
        )


_CLASSES = ("self", "ours", *KINDS)


@cache
def _clues() -> dict[str, Clues]:
    def read(name: str) -> Clues:
        told = read_words("private_words", name)
        within = tuple(read_words("private_words", f"{name}, anywhere")) if name != "self" else ()
        said = f"{name}, as said" if name in ("self", "address") else ""
        return Clues(
            frozenset(each for each in told if each[-1] != "*"),
            frozenset(each[:-1] for each in told if each[-1] == "*"),
            within,
            re.compile(read_pattern("private_words", said)) if said else None,
        )

    return {name: read(name) for name in _CLASSES}


_WORD = re.compile(r"[\w'’-]+")
_LONGEST_STEM = 20


@lru_cache(256)
def features(text: str) -> list[int]:
    """Return the hashes of a sentence's features, each once. Cached, because several questions are asked of each."""
    cased, tokens = split_tokens(text)
    return hashes_of([*word_features(cased, tokens), *_clue_features(text[:READ_CHARS])], tokens)


def _clue_features(text: str) -> Iterator[str]:
    found = _clues_in(text)
    for number in range(_TIMES):
        yield from (f"clue {name} {number}" for name in found)
        yield f"clues {' '.join(found)} {number}"
    yield f"code {'`' in text or '()' in text or '=' in text or '{' in text or '_' in text}"
    yield f"path {'/' in text} {re.search(_DOTTED, text) is not None}"
    yield f"asks {text.rstrip()[-1:] in ('?', '？')}"


def _clues_in(text: str) -> list[str]:
    """Return the classes of clues that a sentence has: `self` first, if it names its writer."""
    small = text.casefold().replace("’", "'")
    whole = _WORD.findall(small)
    words = {*whole, *(part for each in whole if "'" in each or "-" in each for part in _PARTS.split(each))}
    starts = {each[:size] for each in words for size in range(1, min(len(each), _LONGEST_STEM) + 1)}
    wide = any(map(is_wide, whole))
    return [name for name, clues in _clues().items() if clues.are_in(small, words, starts, is_wide=wide)]


_PARTS = re.compile(r"['-]")
_TIMES = 3
"""A clue counts as this many words, because it tells more than a word does."""
_DOTTED = r"\w\.\w"


@cache
def head(name: str) -> Head:
    """Return the weights of one head, unpacked on first use."""
    return unpack_head(*heads()[name])


def heads() -> dict[str, tuple[dict[str, Any], bytes]]:
    """Return the header of each head in the file, and its compressed weights."""
    return read_heads(WEIGHTS, SCHEMA)


def private_kinds(text: str, relation: str = "") -> frozenset[str]:
    """Return the private kinds of a text: of each of its sentences. `relation`: the label of the fact that it tells, if
    it is a fact of a person."""
    label = relation.casefold()
    found = {kind for kind, labels in _LABELS.items() if label in labels.split()}
    for sentence in split_sentences(text):
        found |= _kinds_of(sentence)
    return frozenset(found)


def split_sentences(text: str) -> list[str]:
    return [each for part in _SENTENCE.split(text) if (each := part.strip())]


_LIKELY = 0.5
"""From which chance on a private sentence is also of a further kind."""

_SENTENCE = re.compile(r"(?<=[.!?;])\s+|(?<=[。！？；])|\n+")


@lru_cache(256)
def _kinds_of(sentence: str) -> frozenset[str]:
    if not any(map(str.isalpha, sentence)):
        return frozenset()
    hashes = features(sentence)
    chance = head("private").score(hashes)
    clues = _clues_in(sentence)
    said = (
        frozenset(KINDS).intersection(clues)
        if clues[:1] == ["self"] and chance >= _BAR_OF_CLUES
        else frozenset()
    )
    if chance < BAR:
        return said
    chances = {kind: head(kind).score(hashes) for kind in KINDS}
    likely = max(chances, key=chances.__getitem__)
    return said | {kind for kind in KINDS if kind == likely or chances[kind] >= _LIKELY}


def chances_of(text: str) -> tuple[float, float]:
    """Return the chances that a sentence is private, and that it is about its writer, or about how any assistant is to
    work for them; else it is about the work at hand."""
    hashes = features(text)
    return head("private").score(hashes), head("home").score(hashes)
