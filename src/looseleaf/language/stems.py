"""Words as indexed: language, stem, folded letters, stop words. `fold(fold(x)) == fold(x)`.

A script other than Latin gives the language away; among Latin ones the stop words of a text, then its letters and
endings do. One stop word is not enough, since it may be an English word or a name (car, war, Tom, Los Angeles). A text
without clues counts as English. The stemmer sees a word with its accents, and they are
folded afterwards, so that `Häuser` and `haus`, `préparé` and `prepare` meet.
"""

from __future__ import annotations

import unicodedata
from collections import namedtuple
from functools import lru_cache

from looseleaf.language.tables import read_keys, read_lines, read_rows, read_words, word_set
from looseleaf.text.lines import lazy

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any


# --- stop words (`stop_words.txt`) ---


PARTICLES = frozenset("はがをにでとものへ은는이가을를에의도로와과是在我你他她")
"""Characters that are mostly grammar, but also parts of words: pairs with one count for less."""


@lru_cache(maxsize=1)
def by_language() -> dict[str, frozenset[str]]:
    """Return the stop words of each language."""
    every = read_rows("stop_words", "latin") | read_rows("stop_words", "other")
    return {language: frozenset(words) for language, words in every.items()}


@lru_cache(maxsize=1)
def latin_languages() -> tuple[str, ...]:
    """Return the languages in Latin letters that have stop words."""
    return tuple(read_keys("stop_words", "latin"))


@lru_cache(maxsize=1)
def languages_by_word() -> dict[str, tuple[str, ...]]:
    """Return the languages of Latin letters that each stop word may be of."""
    found: dict[str, tuple[str, ...]] = {}
    for language in latin_languages():
        also = word_set("stop_words", "common english") if language == "english" else frozenset()
        for word in by_language()[language] | also:
            found[word] = (*found.get(word, ()), language)
    return found


@lru_cache(maxsize=40)
def certain_words(language: str) -> frozenset[str]:
    """Return the stop words of a language that are no English words."""
    english = by_language()["english"] | word_set("stop_words", "common english")
    return by_language()[language] - english - word_set("stop_words", "english too")


@lru_cache(maxsize=40)
def useless_words(language: str) -> frozenset[str]:
    """Return the stop words of a language that mean nothing in English either."""
    return certain_words(language) | (by_language()[language] & by_language()["english"])


@lru_cache(maxsize=1)
def unspaced() -> tuple[frozenset[str], int]:
    """Return the stop words of a question without spaces, and the length of the longest."""
    words = word_set("stop_words", "unspaced")
    return words, max(map(len, words))


_EDITION = "2"

_SAMPLE = 160
"""Words of a text that decide its language."""

_SHARED = 8
"""A stop word of more languages than this says nothing."""

_SURE = 0.9
"""The least votes for a language other than English."""

_LIKE = 0.5
"""The least votes of letters and endings where stop words speak for the same language."""

_PLAIN = str.maketrans(
    {
        "ß": "ss", "ẞ": "ss", "æ": "ae", "œ": "oe", "ø": "o", "ł": "l", "đ": "d", "ð": "d", "þ": "th", "ı": "i",
        "ŋ": "n", "ħ": "h", "ŧ": "t", "ĸ": "k", "ſ": "s", "ə": "e", "ς": "σ",
        "أ": "ا", "إ": "ا", "آ": "ا", "ٱ": "ا", "ى": "ي", "ی": "ي", "ې": "ي", "ک": "ك", "ة": "ه", "ہ": "ه", "ؤ": "و",
        "ئ": "ي", "ء": "", "ـ": "", "ً": "",
    }
)  # fmt: skip

_ACCENTS = lazy(
    "[\u0300-\u036f\u0483-\u0489\u0591-\u05bd\u05bf-\u05c7\u0610-\u061a\u064b-\u065f\u0670\u06d6-\u06ed"
    "\u08d3-\u08ff\u093c\u0e47-\u0e4e\u1ab0-\u1aff\u1dc0-\u1dff\u20d0-\u20ff\ufe00-\ufe0f\ufe20-\ufe2f]+"
)


def fold(text: str) -> str:
    """Fold case, accents, and forms of letters that people do not distinguish."""
    if text.isascii():
        return text.lower()
    folded = _fold_once(text)
    while (again := _fold_once(folded)) != folded:
        folded = again
    return folded


def _fold_once(text: str) -> str:
    # Case first: some capitals become a letter and a mark, and marks go next.
    text = unicodedata.normalize("NFKC", text).lower()
    text = _ACCENTS.sub("", unicodedata.normalize("NFD", text)).translate(_PLAIN)
    text = unicodedata.normalize("NFKC", text)
    if not text.isascii() and any(map(str.isdecimal, text)):
        text = "".join(str(unicodedata.decimal(char)) if char.isdecimal() else char for char in text)
    return text


@lru_cache(maxsize=1)
def irregular() -> dict[str, str]:
    """Return English words whose stem is another word's."""
    rows = read_rows("english_words", "irregular")
    return {form: word for word, forms in rows.items() for form in forms}


@lru_cache(maxsize=40)
def _load_stemmer(language: str) -> Any:
    import Stemmer  # type: ignore[import-not-found]  # a compiled module, loaded to index or ask

    return Stemmer.Stemmer(language, 0)


def edition() -> str:
    """Return the edition of the terms. It changes whenever a text may have other terms than before; then the index is
    rebuilt."""
    import Stemmer

    return f"{_EDITION}-{Stemmer.version()}"


def stem(word: str, language: str) -> str:
    """Return the folded stem of a lower-case word in a language with Latin letters; other scripts choose their own."""
    if word.isascii():
        if language == "english":
            word = irregular().get(word, word)
        return fold(_load_stemmer(language).stemWord(word)) or word
    own = language_of_script(word)
    if own == "latin":
        return fold(_load_stemmer(language).stemWord(word)) or fold(word)
    return (fold(_load_stemmer(own).stemWord(word)) if own else fold(word)) or fold(word)


_SCRIPTS = (
    ("\u024f", "latin"), ("\u036f", ""), ("\u03ff", "greek"), ("\u052f", "russian"), ("\u0588", "armenian"),
    ("\u05ff", ""), ("\u06ff", "arabic"), ("\u08ff", ""), ("\u097f", "hindi"), ("\u0b7f", ""), ("\u0bff", "tamil"),
    ("\u1dff", ""), ("\u1eff", "latin"), ("\u1fff", "greek"),
)  # fmt: skip
"""The last letter of each range, and the language whose stemmer serves it."""


def language_of_script(word: str) -> str:
    """Return `latin`, or the language whose stemmer serves this script, or ""."""
    first = word[0]
    return next((language for last, language in _SCRIPTS if first <= last), "")


Heard = namedtuple("Heard", "tongue is_sure")
"""The language of a text, or ""; and whether it is sure without stop words that are English words too."""


def language(words: Iterable[str]) -> Heard:
    """Return the language of a text's Latin words, in lower case; "" if they do not tell."""
    sample = list(words)[:_SAMPLE]
    scores: dict[str, float] = {}
    speaking_for = languages_by_word()

    def hear(word: str) -> None:
        tongues = speaking_for.get(word, ())
        for tongue in tongues if len(tongues) <= _SHARED else ():
            scores[tongue] = scores.get(tongue, 0.0) + (1.0 if len(word) > 1 else 0.3) / len(tongues)

    for word in sample:
        if word in speaking_for:
            hear(word)
    if sum(scores.values()) < 3.0:
        for word in sample:
            before, apostrophe, _ = word.partition("'")
            if apostrophe:
                hear(before)
    own = scores.get("english", 0.0)
    if own >= 1.0 and own * 2 >= sum(scores.values()):
        return ENGLISH  # most texts: no need to look at letters
    looks = _vote_by_looks(sample, with_endings=own < 1.0 and max(scores.values(), default=0.0) < 3 * _SURE)
    for tongue, votes in looks.items():
        scores[tongue] = scores.get(tongue, 0.0) + votes
    best = max(scores, key=lambda tongue: (scores[tongue], tongue == "english", tongue), default="")
    if not best or scores[best] < _SURE:
        return _UNKNOWN
    if best == "english":
        return ENGLISH
    return _confirm(best, set(sample), looks.get(best, 0.0)) if scores[best] >= 1.3 * own else _UNKNOWN


ENGLISH, _UNKNOWN = Heard("english", True), Heard("", False)


def _vote_by_looks(sample: list[str], *, with_endings: bool) -> dict[str, float]:
    """Return the votes of letters and endings."""
    votes: dict[str, float] = {}
    letters = _read_letters()
    for char in "".join(word for word in sample if not word.isascii())[: 8 * _SAMPLE]:
        for tongue, vote in letters.get(char, ()):
            votes[tongue] = votes.get(tongue, 0.0) + vote
    for word in sample[:40] if with_endings else ():
        if not (word.isascii() and word.endswith(_read_english_endings())):
            for tongue in shapes(word):
                votes[tongue] = votes.get(tongue, 0.0) + _LIKE
    return votes


def _confirm(tongue: str, sample: set[str], looks: float) -> Heard:
    """Return whether the evidence for a language other than English is more than English words and names.

    Two stop words that are no English words suffice, or one and its looks. Without them it takes looks, or little else
    than stop words; then those that are English words too are not dropped.
    """
    heard = sample & by_language()[tongue]
    certain = sum(len(word) > 1 for word in heard & certain_words(tongue))
    if certain > 1 or (certain and looks >= _LIKE):
        return Heard(tongue, True)
    crowded = len(heard) > 2 and 3 * len(heard) >= 2 * len(sample)
    return Heard(tongue, False) if crowded or looks >= (_LIKE if len(heard) > 1 else _SURE) else _UNKNOWN


def doubtful(words: Iterable[str], heard: Heard) -> set[str]:
    """Return the words that may be mere stop words, of an uncertain language."""
    if heard.is_sure:
        return set()
    sample = set(words)
    found: set[str] = set()
    for tongue in [heard.tongue] if heard.tongue else latin_languages():
        stops = sample & by_language()[tongue]
        if heard.tongue or len(stops) > 2 or stops & certain_words(tongue):
            found |= stops
    return found


_LONG_VOWELS = ("ää", "öö", "yy", "uu")
"""Hardly any language but Finnish has them."""


@lru_cache(maxsize=1)
def _read_endings() -> tuple[tuple[str, tuple[str, ...]], ...]:
    """Return common word endings, by language."""
    rows = read_rows("language_signs", "endings")
    return tuple((tongue, tuple(ends)) for tongue, ends in rows.items())


@lru_cache(maxsize=1)
def _read_english_endings() -> tuple[str, ...]:
    """Return the endings that English words have too: they say nothing."""
    return tuple(read_words("language_signs", "english endings"))


@lru_cache(maxsize=1)
def _read_letters() -> dict[str, tuple[tuple[str, float], ...]]:
    """Return, by letter, the languages it speaks for, and how much."""
    found: dict[str, tuple[tuple[str, float], ...]] = {}
    for line in read_lines("language_signs", "letters"):
        letter, _, votes = line.partition(": ")
        pairs = (vote.split() for vote in votes.split(","))
        found[letter] = tuple((tongue, float(weight)) for tongue, weight in pairs)
    return found


@lru_cache(maxsize=4096)
def shapes(word: str) -> tuple[str, ...]:
    """Return the languages that a lower-case word looks like."""
    if not 5 <= len(word) <= 64 or not word.isalpha():
        return ()
    lettered = {tongue for char in word if not char.isascii() for tongue, _ in _read_letters().get(char, ())}
    ended = [tongue for tongue, ends in _read_endings() if word.endswith(ends)]
    if any(vowel in word for vowel in _LONG_VOWELS):
        ended.append("finnish")
    return tuple(dict.fromkeys((*ended, *sorted(lettered))))


_RESTORED = (
    ("cao", "ção"), ("coes", "ções"), ("sao", "são"), ("soes", "sões"), ("cion", "ción"), ("ite", "ité"), ("ee", "ée"),
    ("ees", "ées"), ("e", "é"), ("es", "és"), ("er", "ér"), ("ita", "ità"), ("osc", "ość"), ("osci", "ości"),
)  # fmt: skip


def accented(word: str) -> tuple[str, ...]:
    """Return how a word typed without accents may really be spelled."""
    if not word.isascii() or len(word) < 5:
        return ()
    return tuple(word[: -len(plain)] + real for plain, real in _RESTORED if word.endswith(plain))
