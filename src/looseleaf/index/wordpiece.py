"""Split a text into tokens as BERT was trained: lower case, no accents, words, pieces of words.

Words follow Unicode's categories, and are cut into the longest pieces in the vocabulary. Nothing in a text is a
command: `[SEP]` in it is a bracket, a word and a bracket.
"""

from __future__ import annotations

import re
from functools import cache

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

_LONGEST_WORD = 100
_CONTROLS = {each: None for each in (*range(32), 127) if each not in b"\t\n\r"}
_IDEOGRAPHS = (
    "\u4e00-\u9fff\u3400-\u4dbf\U00020000-\U0002a6df\U0002a700-\U0002b73f\U0002b740-\U0002b81f"
    "\U0002b920-\U0002ceaf\uf900-\ufaff\U0002f800-\U0002fa1f"
)


class WordPiece:
    """A vocabulary, from a file with a piece on each line; the line's number is its token. Raises KeyError if the file
    lacks the tokens that begin and end a text."""

    def __init__(self, vocabulary: str) -> None:
        with open(vocabulary, encoding="utf-8", newline="\n") as file:
            self._tokens = {piece: number for number, piece in enumerate(file.read().split("\n"))}
        self._begin, self._end, self._unknown = (self._tokens[each] for each in ("[CLS]", "[SEP]", "[UNK]"))

    def __call__(self, text: str, most: int) -> list[int]:
        """Return at most `most` tokens, including the two that begin and end the text."""
        tokens = [self._begin]
        for word in _split_words(text):
            token = self._tokens.get(word)
            tokens += self._split_word(word) if token is None else (token,)
            if len(tokens) >= most:
                break
        return [*tokens[: most - 1], self._end]

    def _split_word(self, word: str) -> list[int]:
        if len(word) > _LONGEST_WORD:
            return [self._unknown]
        pieces: list[int] = []
        start = 0
        while start < len(word):
            for end in range(len(word), start, -1):
                token = self._tokens.get(("##" if start else "") + word[start:end])
                if token is not None:
                    break
            else:
                return [self._unknown]
            pieces.append(token)
            start = end
        return pieces


def _split_words(text: str) -> Iterator[str]:
    in_ascii, ideograph = _patterns()
    if text.isascii():
        yield from (found[0] for found in in_ascii.finditer(text.translate(_CONTROLS).lower()))
        return
    from unicodedata import category, normalize

    kept = []
    for letter in text:
        kind = category(letter)[0]
        if kind == "Z" or letter in "\t\n\r":
            kept.append(" ")
        elif kind != "C" and letter != "\ufffd":
            kept.append(letter)
    apart = ideograph.sub(r" \g<0> ", "".join(kept))
    bare = "".join(each for each in normalize("NFD", apart) if category(each) != "Mn").lower()
    for chunk in bare.split():
        word = ""
        for letter in chunk:
            if category(letter)[0] == "P" or (letter < "\x7f" and not letter.isalnum()):
                if word:
                    yield word
                yield letter
                word = ""
            else:
                word += letter
        if word:
            yield word


@cache
def _patterns() -> tuple[re.Pattern[str], re.Pattern[str]]:
    """Return the patterns of a word of ASCII, and of an ideograph."""
    return re.compile(r"[a-z0-9]+|[^\sa-z0-9]"), re.compile(f"[{_IDEOGRAPHS}]")
