"""Linear models over hashed n-grams of words and letters: the words of a sentence, and weights kept in a file.

A file has a JSON line that names its heads, then their weights, compressed: four bits for each. `training/` makes them;
plain Python reads them. A score is a probability, calibrated on authors outside the training data.
"""

from __future__ import annotations

import json
import math
from functools import cache, lru_cache
from itertools import accumulate, pairwise
from pathlib import Path
from zlib import crc32, decompress

from looseleaf.base.errors import Unreadable
from looseleaf.base.immutable import frozen
from looseleaf.text.lines import lazy

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from typing import Any


# --- tokens -----------------------------------------------------------------------------

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


def split_tokens(text: str) -> tuple[list[str], list[str]]:
    """Return the words of a text as written and in lower case, single characters of scripts without spaces, and marks;
    a number becomes one `0` per digit, at most four. Of a long text only a part is read."""
    cased = _TOKEN.findall(text[:READ_CHARS].replace("’", "'"))
    first, last = READ_TOKENS
    if len(cased) > first + last:
        cased = cased[:first] + cased[-last:]
    return cased, ["0" * min(len(token), 4) if token.isdigit() else token.lower() for token in cased]


# --- features ---------------------------------------------------------------------------

_BEFORE_CAPITAL = frozenset('.!?:"“„«')
"""Marks after which any word may have a capital."""


def word_features(cased: Sequence[str], tokens: Sequence[str]) -> list[str]:
    """Return the pairs of words of a sentence, what it begins and ends with, and what stands beside names."""
    padded = ["^", *tokens, "$"]
    named = [f"{first} * {second}" for first, second in zip(tokens, tokens[2:], strict=False)]
    named += map(" ".join, pairwise(padded))
    if any(map(is_wide, tokens)):
        named += map(" ".join, zip(padded, padded[1:], padded[2:], strict=False))
        named += map(" ".join, zip(padded, padded[1:], padded[2:], padded[3:], strict=False))
        named += [f"{first} ** {second}" for first, second in zip(tokens, tokens[3:], strict=False)]
    if tokens:
        named += (f"first {tokens[0]}", f"last {tokens[-1]}", f"two {' '.join(tokens[:2])}")
    size = len(tokens)
    named.append(f"size {size.bit_length()} {size > 24}")
    named += _name_features(cased, padded)
    return named


def _name_features(cased: Sequence[str], padded: list[str]) -> Iterator[str]:
    """Yield the number of names in a sentence (capitalized words within it), and the words beside them, whatever they
    are."""
    at = [
        place
        for place, (before, token) in enumerate(pairwise(cased), 2)
        if token[0].isupper() and before not in _BEFORE_CAPITAL and token != "I" and token[1:2] != "'"
    ]
    yield f"names {min(len(at), 3)}"
    if not at:
        return
    hidden = padded.copy()
    for place in at:
        hidden[place] = "N"
    for place in at:
        before, after = hidden[place - 1], hidden[place + 1]
        yield from (
            f"n {before} N",
            f"n N {after}",
            f"n {before} N {after}",
            f"n {hidden[place - 2]} {before} N",
        )
        if place + 2 < len(hidden):
            yield f"n N {after} {hidden[place + 2]}"


def hashes_of(named: Iterable[str], tokens: Iterable[str]) -> list[int]:
    """Return the hashes of features and of the letters of words, each once."""
    found = set(_hash_names(named))
    for token in tokens:
        found.update(_letter_hashes(token))
    return sorted(found)


@lru_cache(8192)
def _letter_hashes(word: str) -> tuple[int, ...]:
    """Return the hashes of a word, of its beginning and its end, and of the runs of five letters within it."""
    named = [word]
    if len(word) > 2:
        padded = f"_{word[:24]}_"
        named += [f"c{padded[at : at + 5]}" for at in range(len(padded) - 4)]
    if len(word) > 3:
        named.append(f"s {word[-3:]}")
    if len(word) > 4:
        named.append(f"p {word[:4]}")
    return tuple(_hash_names(named))


def _hash_names(names: Iterable[str]) -> list[int]:
    return [crc32(name.encode("utf-8", "replace")) for name in names]


# --- weights ----------------------------------------------------------------------------

LEVELS = tuple(round(127 * (step / 7) ** 2) for step in range(8))
"""The values of the lower three bits of a stored weight; the fourth is its sign. Most weights are small, and the few
large ones must not be cut: steps grow with the weight."""

_ZERO = 128
_SIGNED = bytes([_ZERO + level for level in LEVELS] + [_ZERO - level for level in LEVELS])
_LOW, _HIGH = _SIGNED * 16, bytes(level for level in _SIGNED for _ in range(16))


@frozen
class Head:
    """The weights of one question: a byte for each bucket, where `_ZERO` is none; the value of a step; and how a sum
    becomes a probability."""

    weights: bytes
    mask: int
    scale: float
    bias: float
    slope: float
    shift: float

    def score(self, hashes: Sequence[int], less: float = 0.0) -> float:
        weights, mask = self.weights, self.mask
        return self.chance(sum([weights[each & mask] for each in hashes]), len(hashes), less)

    def chance(self, total: int, count: int, less: float = 0.0) -> float:
        """Return the probability for the sum of the bytes of so many features; `less` is subtracted from the margin."""
        margin = self.bias + self.scale * (total - _ZERO * count) / math.sqrt(count or 1) - less
        turned = self.slope * margin + self.shift
        return 1 / (1 + math.exp(-turned)) if turned > -60 else 0.0


@cache
def read_heads(file: Path, schema: str) -> dict[str, tuple[dict[str, Any], bytes]]:
    """Return the header of each head in a file, and its compressed weights."""
    line, _, rest = file.read_bytes().partition(b"\n")
    try:
        told = json.loads(line)
        sizes = [each["bytes"] for each in told["heads"]]
        is_whole = told["schema"] == schema and sum(sizes) == len(rest) and crc32(rest) == told["crc"]
    except (ValueError, KeyError, TypeError):
        is_whole = False
    if not is_whole:
        raise Unreadable(f"{file} is damaged, or not {schema}: install looseleaf again")
    ends = [0, *accumulate(sizes)]
    return {
        each["name"]: (each, rest[start:end])
        for each, (start, end) in zip(told["heads"], pairwise(ends), strict=True)
    }


def unpack_head(told: dict[str, Any], data: bytes) -> Head:
    """Return the weights of a head. Each byte holds two buckets: one of the first half of the table in its lower four
    bits, one of the second half in its upper four."""
    packed = decompress(data)
    weights = packed.translate(_LOW) + packed.translate(_HIGH)
    mask = (1 << told["bits"]) - 1
    return Head(weights, mask, told["scale"], told["bias"], told["slope"], told["shift"])
