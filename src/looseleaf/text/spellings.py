"""Spellings of the same words, where a text has them, and masking the sentences that do.

Words are compared in one normal form, without regard to case, white space or invisible characters. Texts from tools and
the web are often escaped, as in JSON, HTML or addresses, or one within another; the decoded text is compared too.
Encodings that keep no letter (Base64, archives) are not.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from unicodedata import is_normalized, normalize

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from typing import Any

_GAP = re.compile(r"\s+")
_HIDDEN = (
    "\x00-\x08\x0e-\x1b\x7f-\x84\x86-\x9f\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f"
    "\u202a-\u202e\u2060-\u206f\u3164\ufe00-\ufe0f\ufeff\uffa0\U000e0000-\U000e0fff"
)
_UNSEEN = re.compile(f"[{_HIDDEN}]")
_CLUSTER = re.compile(
    rf".[{_HIDDEN}\u0300-\u036f\u1ab0-\u1aff\u1dc0-\u1dff\u20d0-\u20ff\u3099\u309a\ufe20-\ufe2f]*", re.DOTALL
)
"""A character with marks that may combine with it."""

_ESCAPED = re.compile(
    r"\\u(?P<high>[dD][89abAB][0-9a-fA-F]{2})\\u(?P<low>[dD][c-fC-F][0-9a-fA-F]{2})"
    r"|\\(?:u(?P<four>[0-9a-fA-F]{4})|x(?P<two>[0-9a-fA-F]{2})|U(?P<eight>000[0-9a-fA-F]{5}|0010[0-9a-fA-F]{4}))"
    r"|\\(?P<one>.)"
    r"|(?P<entity>&(?:#[0-9]{1,7}|#[xX][0-9a-fA-F]{1,6}|[a-zA-Z][a-zA-Z0-9]{1,31});)"
    r"|(?P<percent>(?:%[0-9a-fA-F]{2})+)",
    re.DOTALL,
)
_PLAIN = {"n": "\n", "t": "\t", "r": "\r", "b": "\b", "f": "\f"}
_DEPTH = 4
"""How often a text may have been escaped: JSON in JSON in a line of the log, and once more."""


def fold_text(text: str) -> str:
    """Fold a text for comparison: white space is one space, invisible characters vanish."""
    if text.isascii() and text.isprintable() and "  " not in text:
        return text.lower()  # as most texts are
    text = _UNSEEN.sub("", text)
    text = text if is_normalized("NFC", text) else normalize("NFC", text)
    return _GAP.sub(" ", text).casefold()


def spellings(text: str) -> Iterator[str]:
    """Yield the readings of a text, folded: as it is, and without each layer of escapes."""
    yield fold_text(text)
    for _ in range(_DEPTH):
        plain = unescaped(text)
        if plain == text:
            return
        yield fold_text(plain)
        text = plain


def unescaped(text: str) -> str:
    """Return a text without one layer of escapes."""
    may_be = "\\" in text or "%" in text or "&" in text
    return _ESCAPED.sub(_decode_escape, text) if may_be else text


def _decode_escape(found: re.Match[str]) -> str:
    if one := found["one"]:
        return _PLAIN.get(one, one)
    if code := found["four"] or found["two"] or found["eight"]:
        return chr(int(code, 16))
    if high := found["high"]:
        return (bytes.fromhex(high) + bytes.fromhex(found["low"])).decode("utf-16-be", "replace")
    if found["entity"]:
        from html import unescape

        return unescape(found[0])
    try:
        return bytes.fromhex(found[0].replace("%", "")).decode()
    except UnicodeDecodeError:
        return found[0]


# --- places ----------------------------------------------------------------------------


def places(text: str, words: str) -> Iterator[tuple[int, int]]:
    """Yield the places of folded words in a text in normal form C, however escaped."""
    if not words:
        return
    yield from _find_folded(text, words, None)
    plain, spans = text, None
    for _ in range(_DEPTH):
        deeper = unescaped(plain)
        if deeper == plain:
            return
        spans = _trace_escapes(plain, spans)
        plain = deeper
        yield from _find_folded(plain, words, spans)


def _find_folded(text: str, words: str, spans: list[tuple[int, int]] | None) -> Iterator[tuple[int, int]]:
    """Yield the places in a text whose characters come from `spans` of another."""
    low = fold_text(text)
    origins: list[tuple[int, int]] | None = None
    if words in low and not len(low) == len(text) == len(text.casefold()):
        # Folding may turn a character into several, or none: then trace each one back.
        low, origins = _fold_traced(text)
    at = low.find(words)
    while at >= 0:
        last = at + len(words) - 1
        start, end = (at, last + 1) if origins is None else (origins[at][0], origins[last][1])
        yield (start, end) if spans is None else (spans[start][0], spans[end - 1][1])
        at = low.find(words, at + len(words))


def _fold_traced(text: str) -> tuple[str, list[tuple[int, int]]]:
    """Return a text folded, and the origin of each character."""
    parts: list[str] = []
    origins: list[tuple[int, int]] = []
    is_gap = False
    for cluster in _CLUSTER.finditer(text):
        seen = fold_text(cluster[0])
        if not seen or (seen == " " and is_gap):
            continue
        parts.append(seen)
        origins += [cluster.span()] * len(seen)
        is_gap = seen == " "
    return "".join(parts), origins


def _trace_escapes(text: str, spans: list[tuple[int, int]] | None) -> list[tuple[int, int]]:
    """Return the origin of each character of a text without one layer of escapes."""
    found: list[tuple[int, int]] = []
    done = 0
    own = spans if spans is not None else [(at, at + 1) for at in range(len(text))]
    for each in _ESCAPED.finditer(text):
        found += own[done : each.start()]
        found += [(own[each.start()][0], own[each.end() - 1][1])] * len(_decode_escape(each))
        done = each.end()
    return found + own[done:]


# --- masking the sentences that hold given words ---

MASK = "[forgotten]"

_END = re.compile(r"[.!?…]+[\"'”’)\]]*(?=\s|\Z)|[。！？]+[”’」』]*|\n")
_WORD = re.compile(r"\w")
_STOPS = ".!?…。！？"
_MASKS = re.compile(rf"\[forgotten\]([{_STOPS}]?)(?:[ \t]*\[forgotten\][{_STOPS}]?)+")


class Sentences:
    """The sentence ends of a text, found once for any number of stretches."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._ends: list[int] = []
        self._lasts: list[int] = []
        for found in _END.finditer(text):
            self._ends.append(found.end())
            self._lasts.append(found.end() if found[0] != "\n" else found.start())

    def around(self, start: int, end: int) -> tuple[int, int]:
        """Return the whole sentences around a stretch, without leading spaces."""
        before, behind = bisect_right(self._ends, start), bisect_left(self._ends, end)
        first = self._ends[before - 1] if before else 0
        last = self._lasts[behind] if behind < len(self._ends) else len(self._text)
        while first < start and self._text[first].isspace():
            first += 1
        return first, max(last, end)


def drop_sentences_with(text: str, words: Iterable[str]) -> str:
    """Return the text without the sentences that hold one of these folded words; the same text if there is none."""
    plain = text if is_normalized("NFC", text) else normalize("NFC", text)
    found = sorted({place for each in words for place in places(plain, each)})
    if not found:
        return text
    sentences = Sentences(plain)
    parts: list[str] = []
    done = 0
    for place in found:
        if place[1] <= done:
            continue
        start, end = sentences.around(*place)
        start = max(start, done)
        # With its stop: the rest stays a sentence of its own.
        stop = plain[end - 1] if plain[end - 1] in _STOPS else ""
        parts += [plain[done:start], MASK, stop, "\n" * plain.count("\n", start, end)]
        done = end
    return _MASKS.sub(rf"{MASK}\1", "".join((*parts, plain[done:])))


def is_nothing_else(text: str) -> bool:
    """Return whether a masked text has no other words."""
    return _WORD.search(text.replace(MASK, "")) is None


def each_text(value: Any) -> Iterator[str]:
    """Yield every text in a value of JSON, keys too."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for name, inner in value.items():
            yield name
            yield from each_text(inner)
    elif isinstance(value, (list, tuple)):
        for inner in value:
            yield from each_text(inner)


_NAMES = frozenset(
    "schema schema_version id ts kind path author topic subject agent session session_id entry entry_id entry_ts edit "
    "edits fact origin level trust status time_span source sources base new crc through undoes undone_by ended "
    "restated encoding distiller model raw traces turn_id turn_ids source_sha256 recorded_at valid_from valid_to "
    "superseded_by by updated_at aside hash sha256 tail held far since until start type format upgraded stream "
    "last sum losses paths".split()
)
"""Members of the program's own records that are no one's words: ids, times, names."""


_TAGS = frozenset(("pinned", "unverified", "forget", "recalled", "asked"))
"""Tags that the program sets."""


def worded(value: Any) -> Iterator[str]:
    """Yield the words in a record of the program: without the names of its members and its own names."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for name, inner in value.items():
            if name == "tags" and isinstance(inner, (list, tuple)):
                yield from (each for each in worded(inner) if each not in _TAGS)
            elif name not in _NAMES:
                yield from worded(inner)
    elif isinstance(value, (list, tuple)):
        for inner in value:
            yield from worded(inner)


def masked_value(value: Any, words: tuple[str, ...]) -> Any:
    """Return a JSON value with every text masked, keys too."""
    if isinstance(value, str):
        return drop_sentences_with(value, words)
    if isinstance(value, dict):
        return {drop_sentences_with(name, words): masked_value(inner, words) for name, inner in value.items()}
    if isinstance(value, (list, tuple)):
        return [masked_value(inner, words) for inner in value]
    return value


def sentences_in(text: str) -> list[str]:
    """Return the sentences of a text, each without the spaces around it."""
    found: list[str] = []
    done = 0
    for end in _END.finditer(text):
        found.append(text[done : end.end()].strip())
        done = end.end()
    return [each for each in (*found, text[done:].strip()) if each]
