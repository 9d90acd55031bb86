"""Topics by words: which page a text belongs to, and how to name a new topic.

Invariant: no rule here depends on a language. Words lose their commonest endings, so that "garden" and "gardens" are
one; scripts without spaces are read as pairs of characters. Time is linear in the text. A text that does not
clearly belong to a topic belongs to none: a fact on the wrong page is harder to find than one on a new page.
"""

from __future__ import annotations

import re
from functools import cache
from math import log

from looseleaf.base.paths import fold_name, name_fault
from looseleaf.language.tables import read_rows, word_set
from looseleaf.text.lines import lazy

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping


@cache
def stop_words() -> frozenset[str]:
    """Return the words that every topic uses."""
    return frozenset(word for words in read_rows("topic_words", "stop").values() for word in words)


@cache
def plain_names() -> frozenset[str]:
    """Return the words that may name a page, even if only a tool's words suggested it."""
    return frozenset(word for words in read_rows("topic_words", "plain").values() for word in words)


_MARKS = (
    "\u0300-\u036f\u0591-\u05bd\u0610-\u061a\u064b-\u065f\u0670\u0900-\u0963\u0971-\u0df3\u0e31-\u0e4e"
    "\u0eb1-\u0ecd\u1780-\u17d3"
)
# `\w` excludes vowel signs, and without them the words of half of Asia would fall apart.
_WORD = lazy(rf"[^\W_](?:[^\W_]|[{_MARKS}])*+(?:\+\+|#)?")
_UNSPACED = (
    "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u2e80-\u2fdf\u3005-\u3007\u3040-\u30ff\u31f0-\u31ff\u3400-\u4dbf"
    "\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff\U00020000-\U0003ffff"
)
"""Scripts without spaces between words, and Korean, which appends other words to them."""

_RUN = lazy(rf"[{_UNSPACED}]++|[^{_UNSPACED}]++")
_IS_UNSPACED = lazy(rf"[{_UNSPACED}]")
# Hiragana, and the Chinese words and characters that mostly join others.
_BETWEEN = lazy(
    "(?:很多|什么|怎么|一个|一些|可以|因为|所以|如果|但是|[\u3040-\u309f我你他她它们的了在是和都很吗呢吧啊把被这那里])+"
)

_PART = lazy(r"(?s).{1,1000}(?=\s)|.{1,1000}")
"""The text to normalize at a time: normal forms sort adjacent marks in quadratic time."""

_LONGEST_WORD = 40
"""Longer ones are hashes, encoded bytes and the like."""


# --- words -----------------------------------------------------------------------------


def vocabulary(text: str) -> dict[str, int]:
    """Return how often each word of a text occurs, by stem, without words that say nothing about its subject."""
    counts: dict[str, int] = {}
    for word in _WORD.findall(_normalize(text)):
        for run in _RUN.findall(word):
            for term in _terms_of(run):
                counts[term] = counts.get(term, 0) + 1
    return counts


def wording(text: str) -> str:
    """Return one form for all texts of the same words in the same order, in any case and punctuation."""
    return " ".join(_WORD.findall(_normalize(text)))


def _normalize(text: str) -> str:
    """Return the text in one case and one spelling."""
    if text.isascii():
        return text.lower()
    import unicodedata  # not at the top: most texts need none of it

    parts = []
    for part in _PART.findall(text):
        # Twice, because lower case can split a letter that normal form joins.
        for _ in range(2):
            part = unicodedata.normalize("NFKC", part).lower()
        parts.append(unicodedata.normalize("NFC", part))
    return "".join(parts)


def _terms_of(run: str) -> list[str]:
    if _IS_UNSPACED.match(run):
        return [run[at : at + 2] for at in range(max(1, len(run) - 1))]
    is_word = 1 < len(run) <= _LONGEST_WORD and not run.isdigit() and run not in stop_words()
    # Topics share words of time by chance, though they may name a topic.
    return [stem(run)] if is_word and run not in word_set("topic_words", "calendar") else []


def stem(word: str) -> str:
    """Return a lower-case word without its commonest ending: no dictionary word, only the same for related ones."""
    word = singular(_unaccented(word))
    for ending, least in (("ing", 4), ("en", 4), ("ed", 3)):
        if word.endswith(ending) and len(word) >= len(ending) + least:
            word = word[: -len(ending)]
            # planned, planning: plan
            word = word[:-1] if word[-1] == word[-2] and word[-1] not in "aeiouls" else word
    return word[:-1] if len(word) > 4 and word[-1] == "e" else word


def singular(word: str) -> str:
    """Return the singular, by the plurals of English, French and Spanish."""
    if len(word) < 4 or word[-1] != "s" or word[-2] in "sui":
        return word
    if word.endswith("ies") and len(word) > 4:
        return f"{word[:-3]}y"
    if word.endswith(("ses", "xes", "zes", "ches", "shes")) and len(word) > 4:
        # boxes, churches; but cases, sizes
        return word[:-2] if word[-4] in "sxz" or word[-3] in "xh" else word[:-1]
    return word[:-1]


def _unaccented(word: str) -> str:
    """Return a word without marks on Latin letters: people leave them out."""
    if word.isascii() or max(word) > "\u024f":
        return word
    import unicodedata

    letters = unicodedata.normalize("NFKD", word)
    return "".join(each for each in letters if not unicodedata.combining(each)) or word


# --- choosing a topic -----------------------------------------------------------------------

LEAST = 0.2
"""The part of a text's weight that a topic must account for. Below it the text may be about something new."""

CLEARLY = 1.35
"""How many times as much as the runner-up: a text between two topics belongs to neither."""

_NEW = 0.35
"""The weight of a word that no topic knows, relative to the rarest known one. Every text has such words, even one that
continues a topic; a text of nothing else is about something new."""

_OFTEN = 1.2
"""Uses at which a word counts half its maximum (the k of BM25)."""

_LONG = 0.5
"""How much a page's length counts against it: half (the b of BM25), since long pages do hold more topics' words."""


def choose(text: str, pages: Mapping[str, Mapping[str, int]]) -> str | None:
    """Return the topic whose page (its `vocabulary`) shares the text's subject; None if none clearly does.

    A word weighs more, the fewer pages know it. What counts is the part of the text's weight that a page accounts
    for, so the answer does not depend on the text's length.
    """
    words = vocabulary(text)
    if not words or not pages:
        return None
    named = {topic: vocabulary(topic.replace("-", " ")) for topic in pages}
    average = max(1.0, sum(map(len, pages.values())) / len(pages))
    lengths = {topic: _OFTEN * (1 - _LONG + _LONG * len(page) / average) for topic, page in pages.items()}
    scores = dict.fromkeys(pages, 0.0)
    shared = dict.fromkeys(pages, 0)
    whole = 0.0
    for word, times in words.items():
        knowing = [topic for topic, page in pages.items() if word in page or word in named[topic]]
        weight = (1 + log(times)) * log(1 + (len(pages) - len(knowing) + 0.5) / (len(knowing) + 0.5))
        if not knowing:
            whole += _NEW * weight
            continue
        whole += weight
        for topic in knowing:
            uses = pages[topic].get(word, 0)
            part = 1.0 if word in named[topic] else uses / (uses + lengths[topic])
            scores[topic] += weight * part
            shared[topic] += 1
    (best, topic), *others = sorted((-score, topic) for topic, score in scores.items())
    next_best = -others[0][0] if others else 0.0
    # One shared word is chance, unless it is the topic's name as written, or the text's only word.
    is_named = set(_visible_words(topic)) <= set(_WORD.findall(_normalize(text)))
    is_clear = -best >= CLEARLY * next_best and (is_named or shared[topic] >= min(2, len(words)))
    return topic if -best >= LEAST * whole and is_clear and best < 0 else None


# --- naming a topic ------------------------------------------------------------

NAME_CHARS = 60
TEXT_WORDS = 3
TEXT_CHARS = 40
"""A given name keeps all its words; one made from a text is short, or it would be a text."""

_NAME_BYTES = 100
"""A page's name adds `.md` to its topic, and both must be valid on every system (FORMAT §2.1)."""

_UNNAMED = "notes"
_NOT_OF_A_TEXT = frozenset(("user", "project", "sessions"))
"""Reserved topics: using the word does not file a text there."""


def topic_name(given: str, existing: Iterable[str] = ()) -> str:
    """Return the topic for a given name: all its words, in lower case, joined by `-`.

    An existing topic that differs only in case, plural, separators, small words or word order is that topic. A whole
    text is no name: see `topic_of_text`.
    """
    if _is_text(given):
        return topic_of_text(given, existing)
    return _existing_name(given, _join_words(_visible_words(given), NAME_CHARS), existing)


def topic_of_text(text: str, existing: Iterable[str] = ()) -> str:
    """Return a topic made of at most three words of a text, or an existing one of these words."""
    # Links and addresses are not the subject.
    words = (word for word in text.split() if "://" not in word and "@" not in word)
    return _existing_name(text, _join_words(_most_used(" ".join(words)), TEXT_CHARS), existing)


def _existing_name(given: str, name: str, existing: Iterable[str]) -> str:
    keys = _keys_of(name)
    # Of thousands of topics few have a word that begins like one of these; only theirs are brought to one form.
    initials = "".join({(words[0] or words[1])[0] for words in keys})
    begins = re.compile(rf"(?:^|[\W_])[{initials}]" if initials else "(?!)", re.IGNORECASE)
    near = (each for each in existing if each == given or begins.search(each) or not each.isascii())
    same = [each for each in near if each == given or keys & _keys_of(each)]
    same = [each for each in same if "/" not in each and name_fault(each) is None]
    return min(same, key=lambda each: (each != given, each != name, each), default=name)


def _join_words(words: Iterable[str], chars: int) -> str:
    name = ""
    for word in words:
        longer = f"{name}-{word}" if name else _cut_word(word, chars)
        if len(longer) > chars or len(longer.encode()) > _NAME_BYTES:
            break
        name = longer
    if not name:
        return _UNNAMED
    # Device names get `_`, which is no part of a word: the name keeps the same words.
    return name if name_fault(name) is None else f"{name}_"


def _cut_word(word: str, chars: int) -> str:
    """Cut a word to the length of a name. The rest is a word itself, so that naming is stable."""
    cut = word[:chars].encode()[:_NAME_BYTES].decode(errors="ignore")
    return "".join(_WORD.findall(cut)[:1])


def _visible_words(text: str) -> list[str]:
    """Return the words of a name or a text, spelled so that a file name can hold them."""
    return _WORD.findall("".join(each if each.isprintable() else " " for each in _normalize(text)))


_MOST_WORDS = 10
_MOST_UNSPACED = 8
_SENTENCE_ENDS = lazy(r"[.!?]\s|[。！？\n]")


def _is_text(given: str) -> bool:
    """Return whether it is too long for a name: several sentences or lines, many words, or one long unspaced run."""
    stripped = given.strip()
    if len(stripped) <= NAME_CHARS:
        stripped = fold_name(stripped)  # as long in capitals, where ß is two letters
    if len(stripped) > NAME_CHARS or _SENTENCE_ENDS.search(stripped):
        return True
    words = _visible_words(stripped)
    return len(words) > _MOST_WORDS or any(
        len(word) > _MOST_UNSPACED and _split_unspaced(word) for word in words
    )


def _split_unspaced(word: str) -> list[str]:
    """Split an unspaced run at characters that only join; empty if none does."""
    if not _IS_UNSPACED.search(word):
        return []
    pieces = [each for piece in _BETWEEN.split(word) for each in _WORD.findall(piece)]
    return pieces if pieces != [word] else []


def _most_used(text: str) -> list[str]:
    """Return the words that a text uses most, in order of first use."""
    words = [piece for word in _visible_words(text) for piece in _split_unspaced(word) or [word]]
    words = [word for word in words if word not in stop_words()] or words
    counts: dict[str, int] = {}
    shown: dict[str, str] = {}
    for word in filter(_is_telling, words):
        key = stem(word)
        shown.setdefault(key, word)
        counts[key] = counts.get(key, 0) + 1
    order = {key: place for place, key in enumerate(counts)}
    most = sorted(counts, key=lambda key: (-counts[key], order[key]))[:TEXT_WORDS]
    telling = [shown[key] for key in sorted(most, key=order.__getitem__)]
    return telling or list(dict.fromkeys(words))[:TEXT_WORDS]


def _is_telling(word: str) -> bool:
    is_short = len(word) < 2 and not _IS_UNSPACED.match(word)
    return not is_short and len(word) <= _LONGEST_WORD and word not in _NOT_OF_A_TEXT and not word.isdigit()


def _keys_of(name: str) -> set[tuple[str, ...]]:
    """Return the keys that names of one topic share: their words in any order, or their letters without separators."""
    words = [singular(_unaccented(fold_name(word))) for word in _visible_words(name)]
    telling = [word for word in words if word not in stop_words()] or words
    return {tuple(sorted(set(telling))), ("", "".join(telling))} if telling else set()
