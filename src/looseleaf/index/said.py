"""Texts as they stand: any part of one is found again, in capitals or not, and however it is spaced.

Terms are stems, and find what is meant. Here no word is left out, and a part of a word finds the word. It finds a
little more than what was asked for: the caller looks at each text again.
"""

from __future__ import annotations

from collections import namedtuple

from looseleaf.text.lines import lazy

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from typing import NamedTuple

    class Part(NamedTuple):
        """Letters that stand in a word of a text, and whether they begin and end it."""

        text: str
        begins: bool
        ends: bool

else:
    Part = namedtuple("Part", ("text", "begins", "ends"))

_WORD = lazy("[0-9a-z\x80-\ud7ff\ue000-\U0010ffff]+")
"""A word as FTS5's tokenizer `ascii` reads it, in a folded text."""

_LONGEST = 64
"""A longer run of letters is read as words of this many characters, one beginning every half of that."""

_MOST = 8
"""Parts of a text to look for: more would hardly narrow it down."""


def fold(text: str) -> str:
    """Return a text for comparison: in one case, with single spaces, without backslashes, which escape headings."""
    return " ".join(text.replace("\\", "").casefold().split())


def said_words(text: str) -> str:
    """Return the words of a text, each once."""
    return " ".join(dict.fromkeys(_cut(_WORD.findall(fold(text)))))


def _cut(words: Iterable[str]) -> Iterator[str]:
    for word in words:
        if len(word) <= _LONGEST:
            yield word
        else:
            half = _LONGEST // 2
            yield from (word[at : at + _LONGEST] for at in range(0, len(word) - half, half))


def parts_of(text: str) -> list[Part]:
    """Return parts of words that every text has which holds this one; its first and last word may go on there."""
    folded = fold(text)
    runs = _WORD.finditer(folded)
    return _longest(_part(run[0], begins=run.start() > 0, ends=run.end() < len(folded)) for run in runs)


def parts_of_words(words: Iterable[str]) -> list[Part]:
    """Return parts of words that every text has which holds all these words, in any order."""
    return _longest(
        _part(run, begins=False, ends=False) for word in words for run in _WORD.findall(fold(word))
    )


def parts_of_name(name: str) -> list[Part]:
    """Return parts of words that every text has in which a name stands alone."""
    return _longest(_part(run, begins=True, ends=True) for run in _WORD.findall(fold(name)))


def _part(run: str, *, begins: bool, ends: bool) -> Part:
    if len(run) <= _LONGEST // 2:
        return Part(run, begins, ends)
    return Part(run[: _LONGEST // 2], begins, False)


def _longest(parts: Iterable[Part]) -> list[Part]:
    return sorted(dict.fromkeys(parts), key=lambda part: (-len(part.text), part))[:_MOST]
