"""Needles: the texts by which it is known that something is still there. Looked for in any spelling: whatever the case,
in either normal form, escaped as JSON does; in many texts at once without asking each text for each of them.
"""

from __future__ import annotations

import re

from looseleaf.forget.words import folded, sentences_in

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

_WORDS = re.compile(r"\w+")
_ESCAPES = re.compile(
    r"\\u([dD][89abAB][0-9a-fA-F]{2})\\u([dD][c-fC-F][0-9a-fA-F]{2})|\\u([0-9a-fA-F]{4})|\\(.)", re.DOTALL
)
_PLAIN = {"n": "\n", "t": "\t", "r": "\r", "b": "\b", "f": "\f"}

LEAST = 6
"""Letters that a text must have to be looked for: a shorter one stands everywhere."""


class Needles:
    def __init__(self, texts: Iterable[str]) -> None:
        self.texts = frozenset(text for text in map(folded, texts) if text)
        self._by_word: dict[str, list[str]] = {}
        self._others: list[str] = []
        for text in self.texts:
            # A word in its middle stands whole wherever the needle does: texts without it need not be searched.
            inside = [word[0] for word in _WORDS.finditer(text) if word.start() and word.end() < len(text)]
            if inside:
                self._by_word.setdefault(max(inside, key=len), []).append(text)
            else:
                self._others.append(text)

    def __bool__(self) -> bool:
        return bool(self.texts)

    def found(self, text: str) -> set[str]:
        """Those that stand in a folded text."""
        there = {each for each in self._others if each in text}
        if self._by_word:
            for word in set(_WORDS.findall(text)) & self._by_word.keys():
                there.update(each for each in self._by_word[word] if each in text)
        return there

    def hits(self, data: bytes) -> set[str]:
        """Those that stand in bytes, in any spelling."""
        there: set[str] = set()
        for text in spellings(data):
            there |= self.found(folded(text))
        return there

    def without(self, texts: Iterable[str]) -> Needles:
        """Those that stand in none of these texts, as it is."""
        left = set(self.texts)
        for text in texts:
            left -= self.found(folded(text))
        return Needles(left)


def spellings(data: bytes) -> Iterator[str]:
    """What bytes may say: as text, and as text that is escaped in JSON."""
    text = data.decode("utf-8", "replace")
    yield text
    if "\\" in text:
        yield unescaped(text)


def unescaped(text: str) -> str:
    def plain(found: re.Match[str]) -> str:
        if found[1]:
            return (bytes.fromhex(found[1]) + bytes.fromhex(found[2])).decode("utf-16-be", "replace")
        return chr(int(found[3], 16)) if found[3] else _PLAIN.get(found[4], found[4])

    return _ESCAPES.sub(plain, text)


def worth(texts: Iterable[str]) -> Iterator[str]:
    """Of each text, the sentences that are long enough to be known by."""
    for text in texts:
        for sentence in sentences_in(text):
            if sum(map(str.isalnum, sentence)) >= LEAST:
                yield sentence
