"""Words of a text, and what topic they speak of: which page a text belongs to, and what a new topic is called.

Invariant: nothing here knows a language. Words lose their commonest endings, so that "garden" and "gardens" are one;
scripts without spaces between words are read as pairs of characters. Time is linear in the text. A text that does not
clearly belong to a topic belongs to none: a fact on the wrong page is harder to find than one on a new page.
"""

from __future__ import annotations

from functools import cache
from math import log

from looseleaf.base.paths import folded, name_fault
from looseleaf.language.tables import read_rows, read_words
from looseleaf.text.patterns import lazy

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping


@cache
def stop_words() -> frozenset[str]:
    """Return the words that every topic uses."""
    return frozenset(word for words in read_rows("topic_words", "stop").values() for word in words)


@cache
def _untelling_words() -> frozenset[str]:
    """Return those, and words of time: topics share them by chance, though they may name a topic."""
    return stop_words().union(read_words("topic_words", "calendar"))


_MARKS = (
    "\u0300-\u036f\u0591-\u05bd\u0610-\u061a\u064b-\u065f\u0670\u0900-\u0963\u0971-\u0df3\u0e31-\u0e4e"
    "\u0eb1-\u0ecd\u1780-\u17d3"
)
# Vowel signs are no letters to `\w`, and without them the words of half of Asia would fall apart.
_WORD = lazy(rf"[^\W_](?:[^\W_]|[{_MARKS}])*+(?:\+\+|#)?")
_UNSPACED = (
    "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u2e80-\u2fdf\u3005-\u3007\u3040-\u30ff\u31f0-\u31ff\u3400-\u4dbf"
    "\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff\U00020000-\U0003ffff"
)
"""Scripts that put no space between words, and Korean, which hangs other words on to them."""

_RUN = lazy(rf"[{_UNSPACED}]++|[^{_UNSPACED}]++")
_IS_UNSPACED = lazy(rf"[{_UNSPACED}]")
# Hiragana, and the Chinese words and characters that mostly stand between others.
_BETWEEN = lazy(
    "(?:很多|什么|怎么|一个|一些|可以|因为|所以|如果|但是|[\u3040-\u309f我你他她它们的了在是和都很吗呢吧啊把被这那里])++"
)

_PART = lazy(r"(?s).{1,1000}(?=\s)|.{1,1000}")
"""Normal form sorts marks that follow each other in quadratic time, so it is given this much at a time."""

_LONGEST_WORD = 40
"""Longer ones are hashes, encoded bytes and the like."""


# --- words -----------------------------------------------------------------------------


def vocabulary(text: str) -> dict[str, int]:
    """How often each word of a text occurs, by its stem; without words that say nothing of what the text is about."""
    counts: dict[str, int] = {}
    for word in _words(_plain(text)):
        for run in _RUN.findall(word):
            for term in _terms(run):
                counts[term] = counts.get(term, 0) + 1
    return counts


def wording(text: str) -> str:
    """The same for two texts of the same words in the same order, whatever their case and punctuation."""
    return " ".join(_words(_plain(text)))


def _plain(text: str) -> str:
    """In one case and one spelling."""
    if text.isascii():
        return text.lower()
    import unicodedata  # not at the top: most texts need none of it

    parts = []
    for part in _PART.findall(text):
        # Twice, because lower case can take a letter apart that normal form puts together.
        for _ in range(2):
            part = unicodedata.normalize("NFKC", part).lower()
        parts.append(unicodedata.normalize("NFC", part))
    return "".join(parts)


def _words(plain: str) -> list[str]:
    return _WORD.findall(plain)


def _terms(run: str) -> list[str]:
    if _IS_UNSPACED.match(run):
        return [run[at : at + 2] for at in range(max(1, len(run) - 1))]
    is_word = 1 < len(run) <= _LONGEST_WORD and not run.isdigit() and run not in _untelling_words()
    return [stem(run)] if is_word else []


def stem(word: str) -> str:
    """A word of lower case without its commonest ending. No word of any dictionary, only the same for kindred ones."""
    word = singular(_unaccented(word))
    for ending, least in (("ing", 4), ("en", 4), ("ed", 3)):
        if word.endswith(ending) and len(word) >= len(ending) + least:
            word = word[: -len(ending)]
            # planned, planning: plan
            word = word[:-1] if word[-1] == word[-2] and word[-1] not in "aeiouls" else word
    return word[:-1] if len(word) > 4 and word[-1] == "e" else word


def singular(word: str) -> str:
    """As English, French and Spanish make a plural."""
    if len(word) < 4 or word[-1] != "s" or word[-2] in "sui":
        return word
    if word.endswith("ies") and len(word) > 4:
        return f"{word[:-3]}y"
    if word.endswith(("ses", "xes", "zes", "ches", "shes")) and len(word) > 4:
        # boxes, churches; but cases, sizes
        return word[:-2] if word[-4] in "sxz" or word[-3] in "xh" else word[:-1]
    return word[:-1]


def _unaccented(word: str) -> str:
    """Latin letters without their marks: people leave them out."""
    if word.isascii() or max(word) > "\u024f":
        return word
    import unicodedata

    letters = unicodedata.normalize("NFKD", word)
    return "".join(each for each in letters if not unicodedata.combining(each)) or word


# --- which topic -----------------------------------------------------------------------

LEAST = 0.2
"""The part of a text's weight that a topic must account for. Below it the text may as well be about something new."""

CLEARLY = 1.35
"""How many times as much as the next one it must account for: a text between two topics is for neither."""

_NEW = 0.35
"""What a word that no topic knows weighs, against the rarest one that some topic knows. Every text has such words, also
one that goes on with a topic; a text of nothing else is about something new."""

_OFTEN = 1.2
"""A word that a topic uses so often counts half of what it could (the k of BM25)."""

_LONG = 0.5
"""How much a page's length is held against it: half (the b of BM25), since long pages do hold more topics' words."""


def choose(text: str, pages: Mapping[str, Mapping[str, int]]) -> str | None:
    """The topic whose page (its `vocabulary`) speaks of what the text speaks of; None where none clearly does.

    A word weighs the more, the fewer pages know it. What is counted is the part of the text's weight that a page
    accounts for, so the answer does not depend on how long the text is.
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
    # One shared word is chance, unless it is the topic's name as it is written, or the text has no other.
    is_named = set(_visible(topic)) <= set(_words(_plain(text)))
    is_clear = -best >= CLEARLY * next_best and (is_named or shared[topic] >= min(2, len(words)))
    return topic if -best >= LEAST * whole and is_clear and best < 0 else None


# --- what a topic is called ------------------------------------------------------------

NAME_CHARS = 60
TEXT_WORDS = 3
TEXT_CHARS = 40
"""A name that somebody gave is kept with all its words; one that is made of a text is short, or it would be a text."""

_NAME_BYTES = 100
"""A page's name is longer than its topic's by `.md`, and both have to be names on every system (FORMAT §2.1)."""

_UNNAMED = "notes"
_NOT_OF_A_TEXT = frozenset(("user", "project", "sessions"))
"""Topics with a meaning of their own: a text is not filed there for using the word."""


def topic_name(given: str, existing: Iterable[str] = ()) -> str:
    """What a topic is called by somebody who names it: all its words, in lower case, joined by `-`.

    An existing topic that differs only in case, plural, separators, small words or the order of words is that topic,
    and its name is the answer. A whole text is no name: see `topic_of_text`.
    """
    if _is_text(given):
        return topic_of_text(given, existing)
    return _known(given, _joined(_visible(given), NAME_CHARS), existing)


def topic_of_text(text: str, existing: Iterable[str] = ()) -> str:
    """What a topic is called after the words of a text: at most three. An existing one of these words is that one."""
    # What leads somewhere is not what a text is about.
    words = (word for word in text.split() if "://" not in word and "@" not in word)
    return _known(text, _joined(_telling(" ".join(words)), TEXT_CHARS), existing)


def _known(given: str, name: str, existing: Iterable[str]) -> str:
    keys = _keys(name)
    same = [each for each in existing if each == given or keys & _keys(each)]
    same = [each for each in same if "/" not in each and name_fault(each) is None]
    return min(same, key=lambda each: (each != given, each != name, each), default=name)


def _joined(words: Iterable[str], chars: int) -> str:
    name = ""
    for word in words:
        longer = f"{name}-{word}" if name else _cut(word, chars)
        if len(longer) > chars or len(longer.encode()) > _NAME_BYTES:
            break
        name = longer
    if not name:
        return _UNNAMED
    # The names of devices; `_` is no part of a word, so the name of this topic is made of the same words.
    return name if name_fault(name) is None else f"{name}_"


def _cut(word: str, chars: int) -> str:
    """As much of a word as a name holds. What is left is a word of its own, so that it names the same again."""
    cut = word[:chars].encode()[:_NAME_BYTES].decode(errors="ignore")
    return "".join(_words(cut)[:1])


def _visible(text: str) -> list[str]:
    """The words of a name or a text, spelt so that they can stand in the name of a file."""
    return _words("".join(each if each.isprintable() else " " for each in _plain(text)))


_MOST_WORDS = 10
_MOST_UNSPACED = 8
_SENTENCE_ENDS = lazy(r"[.!?]\s|[。！？\n]")


def _is_text(given: str) -> bool:
    """Whether it is too much for a name: several sentences or lines, many words, or one long run without spaces."""
    stripped = given.strip()
    if len(stripped) > NAME_CHARS or _SENTENCE_ENDS.search(stripped):
        return True
    words = _visible(stripped)
    return len(words) > _MOST_WORDS or any(len(word) > _MOST_UNSPACED and _pieces(word) for word in words)


def _pieces(word: str) -> list[str]:
    """Of a run of characters without spaces, what stands between those that only join; nothing if none joins."""
    if not _IS_UNSPACED.search(word):
        return []
    pieces = [each for piece in _BETWEEN.split(word) for each in _words(piece)]
    return pieces if pieces != [word] else []


def _telling(text: str) -> list[str]:
    """The words that a text uses most, in the order in which it first does."""
    words = [piece for word in _visible(text) for piece in _pieces(word) or [word]]
    words = [word for word in words if word not in stop_words()] or words
    counts: dict[str, int] = {}
    shown: dict[str, str] = {}
    for word in filter(_tells, words):
        key = stem(word)
        shown.setdefault(key, word)
        counts[key] = counts.get(key, 0) + 1
    order = {key: place for place, key in enumerate(counts)}
    most = sorted(counts, key=lambda key: (-counts[key], order[key]))[:TEXT_WORDS]
    telling = [shown[key] for key in sorted(most, key=order.__getitem__)]
    return telling or list(dict.fromkeys(words))[:TEXT_WORDS]


def _tells(word: str) -> bool:
    is_short = len(word) < 2 and not _IS_UNSPACED.match(word)
    return not is_short and len(word) <= _LONGEST_WORD and word not in _NOT_OF_A_TEXT and not word.isdigit()


def _keys(name: str) -> set[tuple[str, ...]]:
    """What two names of one topic have in common: their words in any order, or their letters without separators."""
    words = [singular(_unaccented(folded(word))) for word in _visible(name)]
    telling = [word for word in words if word not in stop_words()] or words
    return {tuple(sorted(set(telling))), ("", "".join(telling))} if telling else set()
