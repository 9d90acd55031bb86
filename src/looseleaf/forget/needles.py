"""Needles: the texts by which it is known that something is still there. Looked for in any spelling, and in
many texts at once without asking each text for each of them.
"""

from __future__ import annotations

import re

from looseleaf.text.spellings import folded, spellings
from looseleaf.text.words import sentences_in

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

_WORDS = re.compile(r"\w+")

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
        """Those that a text says, in any spelling."""
        return {each for spelt in spellings(text) for each in self._in(spelt)}

    def _in(self, text: str) -> set[str]:
        there = {each for each in self._others if each in text}
        if self._by_word:
            for word in set(_WORDS.findall(text)) & self._by_word.keys():
                there.update(each for each in self._by_word[word] if each in text)
        return there

    def hits(self, data: bytes) -> set[str]:
        """Those that stand in bytes."""
        return self.found(data.decode("utf-8", "replace"))

    def without(self, texts: Iterable[str]) -> Needles:
        """Those that stand in none of these texts."""
        left = set(self.texts)
        for text in texts:
            left -= self.found(text)
        return Needles(left)


def worth(texts: Iterable[str]) -> Iterator[str]:
    """Of each text, the sentences that are long enough to be known by."""
    for text in texts:
        for sentence in sentences_in(text):
            if sum(map(str.isalnum, sentence)) >= LEAST:
                yield sentence
