"""Cues: a sentence as tokens, and the words of classes such as forgetting, keeping, secrecy, quoting among them.

The classes are lists of words in ten languages (`data/distill/cues.txt`). Their order and distance inform the
selector even where it has never seen the words themselves.
"""

from __future__ import annotations

import re
from functools import cache, lru_cache
from itertools import pairwise
from pathlib import Path

from looseleaf.language.tables import pattern_of
from looseleaf.text.patterns import lazy

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence


# --- forms of forbidding: features of a sentence beside its words -----------------------

_I = re.IGNORECASE

_FORBIDS = pattern_of("forbidding", "forbids", _I)
KEEPS = pattern_of("forbidding", "keeps", _I)
"""Whatever must not be forgotten is to be kept."""

_OF_WORK = pattern_of("forbidding", "of work", _I)
_OF_MEMORY = pattern_of("forbidding", "of memory", _I)
_TIMES = 5
"""A form counts as this many words, because it tells more than a word does."""


def forms_of(text: str) -> Iterator[str]:
    """Yield the names of a sentence's forms, each several times, and joined if there are two."""
    found = [name for name, form in _FORMS if form.search(text)]
    for number in range(_TIMES):
        yield from (f"{name} {number}" for name in found)
    if len(found) > 1:
        yield " ".join(found)


def is_formed(text: str) -> bool:
    """Return True if a sentence has a form of forbidding, and none that speaks against it."""
    has_form = _FORBIDS.search(text) is not None or _POLITELY.match(text) is not None
    return has_form and KEEPS.search(text) is None and not is_of_work(text)


def is_of_work(text: str) -> bool:
    """Return True if a sentence is about files, code or text, not about memory ("delete that function")."""
    return _OF_WORK.search(text) is not None and _OF_MEMORY.search(text) is None


_POLITELY = lazy(r"\W*(?:bitte )?vergessen sie (?:bitte )?(?:mein\w*|unser\w*|dass|was|alles)\b", _I)
"""Forms that no author of the training data used: they count, though the selector has learned nothing of them."""

_FORMS = (("forbids", _FORBIDS), ("keeps", KEEPS), ("of work", _OF_WORK), ("of memory", _OF_MEMORY))

READ_CHARS = 1200
READ_TOKENS = (70, 20)
"""The tokens read at the beginning and the end of a longer sentence."""

_WIDE = "\u3041-\u30ff\u3400-\u9fff\uac00-\ud7af"
_TOKEN = lazy(
    rf"[{_WIDE}]|(?:(?![{_WIDE}])[^\W\d_])+(?:['’](?:(?![{_WIDE}])[^\W\d_])+)*|\d+|[^\w\s]",
    in_ascii=r"[^\W\d_]+(?:'[^\W\d_]+)*|\d+|[^\w\s]",
)


def is_wide(word: str) -> bool:
    """Return True if a word begins with a character of a script without spaces."""
    return "\u3041" <= word[0] <= "\ud7af"


def tokens_of(text: str) -> Sequence[str]:
    """Split a text into words in lower case, single characters of scripts without spaces, and marks; a number becomes
    one `0` per digit, at most four."""
    return tokens_and_cues(text)[1]


def tokens_and_cues(text: str) -> tuple[list[str], list[str], list[tuple[int, str]]]:
    """Return the tokens of a text as written and in lower case, and its cues; of a long text only a part."""
    return _read_tokens(text[:READ_CHARS])


@lru_cache(256)
def _read_tokens(text: str) -> tuple[list[str], list[str], list[tuple[int, str]]]:
    """Cached, because each sentence is looked up several times."""
    cased = _TOKEN.findall(text.replace("’", "'"))
    first, last = READ_TOKENS
    if len(cased) > first + last:
        cased = cased[:first] + cased[-last:]
    tokens = ["0" * min(len(token), 4) if token.isdigit() else token.lower() for token in cased]
    cues = [(at, name) for at, token in enumerate(tokens) if (name := _class_of(token))]
    if any(map(is_wide, tokens)):
        run = "".join(tokens)
        cues += [(at, name) for word, name in _load_cues()[2] if (at := run.find(word)) >= 0]
        cues.sort()
    return cased, tokens, cues


# --- cues ------------------------------------------------------------------------------

CUES = Path(__file__).parents[1] / "data/distill/cues.txt"
_STEM = 4
_ORDERS = frozenset({"edit", "play", "by"})
"""The classes of cues that also bear on other sentences of a message: whose words these are."""


@cache
def _load_cues() -> tuple[dict[str, str], list[tuple[str, str, str]], list[tuple[str, str]]]:
    """Return word → class; the first letters of a word, its beginning and class; strings of scripts without spaces and
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
def _class_of(word: str) -> str:
    words, stems, _ = _load_cues()
    if word in words or len(word) < _STEM:
        return words.get(word, "")
    head = word[:_STEM]
    return next((name for first, stem, name in stems if first == head and word.startswith(stem)), "")


def cues_of(text: str) -> Sequence[tuple[int, str]]:
    """Return the places of a sentence's cues (by token; in scripts without spaces, by character), and their classes."""
    return tokens_and_cues(text)[2]


_NEAR = 4


def cue_features(cues: Sequence[tuple[int, str]]) -> Iterable[str]:
    """Return the cues of a sentence, and which stand together, in which order and how near."""
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
    """Return the words of a text that are cues of these classes."""
    tokens = tokens_of(text)
    found = [token for token in tokens if _class_of(token) in classes]
    if any(map(is_wide, tokens)):
        found += [word for word, name in _load_cues()[2] if name in classes and word in text]
    return found


_FORBIDDING = frozenset({"forget", "hold", "place", "secret", "told", "deny"})
"""Nearly every sentence that forbids has a word of one of these classes, or two words of `share` ("between us")."""


def has_forbidding_word(text: str) -> bool:
    return may_forbid(cues_of(text))


def may_forbid(cues: Sequence[tuple[int, str]]) -> bool:
    names = [name for _, name in cues]
    return not _FORBIDDING.isdisjoint(names) or names.count("share") > 1


def says_to_forget(text: str) -> bool:
    """Return True if a sentence has a word of forgetting, secrecy or denial, or a negated word of keeping."""
    names = {name for _, name in cues_of(text)}
    return not names.isdisjoint({"forget", "secret", "deny"}) or {"hold", "not"} <= names


def has_orders(text: str) -> bool:
    """Return True if a sentence mentions others' writing, role-play or fiction."""
    return any(name in ("by", "play") for _, name in cues_of(text))


def orders_of(sentences: Sequence[str]) -> list[str]:
    """Return, for each sentence of a message, which of `_ORDERS` the sentences before it have, and those after it."""
    each_has = [{name for _, name in cues_of(text)} & _ORDERS for text in sentences]
    made: list[str] = []
    for at in range(len(sentences)):
        before = set().union(*each_has[max(at - _FAR, 0) : at])
        behind = set().union(*each_has[at + 1 : at + 1 + _FAR])
        made.append(
            " ".join((*(f"{name}<" for name in sorted(before)), *(f"{name}>" for name in sorted(behind))))
        )
    return made


_FAR = 12
"""The number of sentences before and after one that are searched for an order."""
