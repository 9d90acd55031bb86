"""A sentence as tokens, and which of them are cues: words of a class such as forgetting, keeping, secrecy, quoting.

The classes are lists of words in ten languages (`data/cues.txt`). Their order and distance tell the selector something
even where it has never seen the words themselves.
"""

from __future__ import annotations

from functools import cache, lru_cache
from itertools import pairwise
from pathlib import Path

from looseleaf.text.patterns import lazy

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

READ_CHARS = 1200
READ_TOKENS = (70, 20)
"""Of a longer sentence, only this many tokens at its beginning and its end are read."""

_WIDE = "\u3041-\u30ff\u3400-\u9fff\uac00-\ud7af"
_TOKEN = lazy(
    rf"[{_WIDE}]|(?:(?![{_WIDE}])[^\W\d_])+(?:['’](?:(?![{_WIDE}])[^\W\d_])+)*|\d+|[^\w\s]",
    in_ascii=r"[^\W\d_]+(?:'[^\W\d_]+)*|\d+|[^\w\s]",
)


def is_wide(word: str) -> bool:
    """Whether a word begins with a character of a script without spaces."""
    return "\u3041" <= word[0] <= "\ud7af"


def tokens_of(text: str) -> Sequence[str]:
    """Words in lower case, characters of scripts without spaces one by one, marks; a number as one `0` per digit, at
    most four."""
    return heard(text)[1]


def heard(text: str) -> tuple[list[str], list[str], list[tuple[int, str]]]:
    """The tokens of a text as written and in lower case, and its cues; of a long text a part."""
    return _heard(text[:READ_CHARS])


@lru_cache(256)
def _heard(text: str) -> tuple[list[str], list[str], list[tuple[int, str]]]:
    """Cached, because each sentence is looked up several times."""
    cased = _TOKEN.findall(text.replace("’", "'"))
    first, last = READ_TOKENS
    if len(cased) > first + last:
        cased = cased[:first] + cased[-last:]
    tokens = ["0" * min(len(token), 4) if token.isdigit() else token.lower() for token in cased]
    return cased, tokens, _cues_of(tokens)


# --- cues ------------------------------------------------------------------------------

CUES = Path(__file__).parent / "data" / "cues.txt"
_STEM = 4
_ORDERS = frozenset({"edit", "play", "by"})
"""The classes of cues that tell of other sentences of a message, too: whose words these are."""


@cache
def _cues() -> tuple[dict[str, str], list[tuple[str, str, str]], list[tuple[str, str]]]:
    """Word → class; the first letters of a word, its beginning and class; strings of scripts without spaces and
    class."""
    words: dict[str, str] = {}
    stems: list[tuple[str, str, str]] = []
    wide: list[tuple[str, str]] = []
    for line in CUES.read_text(encoding="utf-8").splitlines():
        name, colon, told = line.partition(":")
        if not colon or line.startswith("#"):
            continue
        for word in told.split():
            if is_wide(word):
                wide.append((word, name))
            elif word.endswith("*"):
                stems.append((word[:_STEM], word[:-1], name))
            else:
                words.setdefault(word, name)
    return words, stems, wide


@lru_cache(8192)
def _cue(word: str) -> str:
    words, stems, _ = _cues()
    found = words.get(word)
    if found is None and len(word) >= _STEM:
        head = word[:_STEM]
        found = next((name for first, stem, name in stems if first == head and word.startswith(stem)), None)
    return found or ""


def cues_of(text: str) -> Sequence[tuple[int, str]]:
    """Where the cues of a sentence stand (which token; in scripts without spaces, which character), and their
    classes."""
    return heard(text)[2]


def _cues_of(tokens: Sequence[str]) -> list[tuple[int, str]]:
    found = [(at, name) for at, token in enumerate(tokens) if (name := _cue(token))]
    if any(map(is_wide, tokens)):
        text = "".join(tokens)
        found += [(at, name) for word, name in _cues()[2] if (at := text.find(word)) >= 0]
        found.sort()
    return found


_NEAR = 4


def cued(cues: Sequence[tuple[int, str]]) -> Iterable[str]:
    """The cues of a sentence, and which stand together, in which order and how near."""
    names = sorted({name for _, name in cues})
    for name in names:
        yield f"cue {name}"
    for at, first in enumerate(names):
        for second in names[at + 1 :]:
            yield f"cues {first} {second}"
    for (at, first), (then, second) in pairwise(cues):
        yield f"cue {first} > {second} {then - at <= _NEAR}"
    for at, name in cues[:1]:
        if at < 3:
            yield f"cue ^ {name}"


def cue_words(text: str, classes: frozenset[str]) -> list[str]:
    """The words of a text that are cues of these classes."""
    tokens = tokens_of(text)
    found = [token for token in tokens if _cue(token) in classes]
    if any(map(is_wide, tokens)):
        found += [word for word, name in _cues()[2] if name in classes and word in text]
    return found


_FORBIDDING = frozenset({"forget", "hold", "place", "secret", "told", "deny"})
"""Nearly every sentence that forbids has a word of one of these classes, or two words of `share` ("between us")."""


def has_forbidding_word(text: str) -> bool:
    return may_forbid(cues_of(text))


def may_forbid(cues: Sequence[tuple[int, str]]) -> bool:
    names = [name for _, name in cues]
    return not _FORBIDDING.isdisjoint(names) or names.count("share") > 1


def says_to_forget(text: str) -> bool:
    """Whether a sentence has a word of forgetting, secrecy or denial, or says of keeping that it is not to be."""
    names = {name for _, name in cues_of(text)}
    return not names.isdisjoint({"forget", "secret", "deny"}) or {"hold", "not"} <= names


def has_orders(text: str) -> bool:
    """Whether a sentence mentions what others wrote, role-play or fiction."""
    return any(name in ("by", "play") for _, name in cues_of(text))


def orders_of(sentences: Sequence[str]) -> list[str]:
    """For each sentence of a message which of `_ORDERS` the ones before it have, and which those behind it."""
    each_has = [{name for _, name in cues_of(text)} & _ORDERS for text in sentences]
    made: list[str] = []
    for at in range(len(sentences)):
        before = set().union(*each_has[:at]) if at < _FAR else set().union(*each_has[at - _FAR : at])
        behind = set().union(*each_has[at + 1 : at + 1 + _FAR])
        made.append(
            " ".join([*sorted(f"{name}<" for name in before), *sorted(f"{name}>" for name in behind)])
        )
    return made


_FAR = 12
"""Sentences before and behind one in which an order is looked for."""
