"""Spelling: the ways in which bytes may say the same words, and where in a text they do.

Words are compared in one normal form, without regard to case, to white space or to what nobody sees. Texts that tools
and the web give are often escaped: as JSON does, as HTML does, as addresses do, or one in another. What they say then
is compared too; what is encoded so that no letter of it stands there (Base64, archives) is not.
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
"""A character with what may become one with it."""

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


def folded(text: str) -> str:
    """As words are compared: any white space is one space, and what nobody sees is not there."""
    text = _UNSEEN.sub("", text)
    text = text if is_normalized("NFC", text) else normalize("NFC", text)
    return _GAP.sub(" ", text).casefold()


def spellings(text: str) -> Iterator[str]:
    """All that a text may say, folded: as it is, and without each layer of escapes."""
    yield folded(text)
    for _ in range(_DEPTH):
        plain = unescaped(text)
        if plain == text:
            return
        yield folded(plain)
        text = plain


def unescaped(text: str) -> str:
    """A text without one layer of escapes."""
    return _ESCAPED.sub(_meant, text) if _may_be_escaped(text) else text


def _may_be_escaped(text: str) -> bool:
    return "\\" in text or "%" in text or "&" in text


def _meant(found: re.Match[str]) -> str:
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


# --- where ----------------------------------------------------------------------------


def places(text: str, words: str) -> Iterator[tuple[int, int]]:
    """Where folded words stand in a text that is in normal form C, however it is escaped."""
    if not words:
        return
    yield from _found(text, words, None)
    plain, spans = text, None
    for _ in range(_DEPTH):
        deeper = unescaped(plain)
        if deeper == plain:
            return
        _, spans = _traced(plain, spans)
        plain = deeper
        yield from _found(plain, words, spans)


def _found(text: str, words: str, spans: list[tuple[int, int]] | None) -> Iterator[tuple[int, int]]:
    """The same in a text of whose characters it is known where they come from."""
    low = folded(text)
    origins: list[tuple[int, int]] | None = None
    if words in low and not len(low) == len(text) == len(text.casefold()):
        # A character may become several when it is folded, or none: then each must be followed back to its own.
        low, origins = _followed(text)
    at = low.find(words)
    while at >= 0:
        last = at + len(words) - 1
        start, end = (at, last + 1) if origins is None else (origins[at][0], origins[last][1])
        yield (start, end) if spans is None else (spans[start][0], spans[end - 1][1])
        at = low.find(words, at + len(words))


def _followed(text: str) -> tuple[str, list[tuple[int, int]]]:
    """A text folded, and of each of its characters where it comes from."""
    parts: list[str] = []
    origins: list[tuple[int, int]] = []
    is_gap = False
    for cluster in _CLUSTER.finditer(text):
        seen = folded(cluster[0])
        if not seen or (seen == " " and is_gap):
            continue
        parts.append(seen)
        origins += [cluster.span()] * len(seen)
        is_gap = seen == " "
    return "".join(parts), origins


def _traced(text: str, spans: list[tuple[int, int]] | None) -> tuple[str, list[tuple[int, int]]]:
    """A text without one layer of escapes, and of each of its characters where it comes from."""
    parts: list[str] = []
    found: list[tuple[int, int]] = []
    done = 0
    own = spans if spans is not None else [(at, at + 1) for at in range(len(text))]
    for each in _ESCAPED.finditer(text):
        meant = _meant(each)
        parts += [text[done : each.start()], meant]
        found += own[done : each.start()]
        found += [(own[each.start()][0], own[each.end() - 1][1])] * len(meant)
        done = each.end()
    return "".join((*parts, text[done:])), found + own[done:]


# Finding words in texts however they are spelt, and taking out the sentence that says them.

MASK = "[forgotten]"

_END = re.compile(r"[.!?…]+[\"'”’)\]]*(?=\s|\Z)|[。！？]+[”’」』]*|\n")
_WORD = re.compile(r"\w")
_STOPS = ".!?…。！？"
_MASKS = re.compile(rf"\[forgotten\]([{_STOPS}]?)(?:[ \t]*\[forgotten\][{_STOPS}]?)+")


class Sentences:
    """Where the sentences of a text end; looked for once, however many stretches are asked for."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._ends: list[int] = []
        self._lasts: list[int] = []
        for found in _END.finditer(text):
            self._ends.append(found.end())
            self._lasts.append(found.end() if found[0] != "\n" else found.start())

    def around(self, start: int, end: int) -> tuple[int, int]:
        """The whole sentences in which a stretch stands, without the spaces before them."""
        before, behind = bisect_right(self._ends, start), bisect_left(self._ends, end)
        first = self._ends[before - 1] if before else 0
        last = self._lasts[behind] if behind < len(self._ends) else len(self._text)
        while first < start and self._text[first].isspace():
            first += 1
        return first, max(last, end)


def masked(text: str, words: Iterable[str]) -> str:
    """The text without the sentences that hold one of these folded words; the same text if there is none."""
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
        # With its stop: what follows is a sentence of its own, as it was.
        stop = plain[end - 1] if plain[end - 1] in _STOPS else ""
        parts += [plain[done:start], MASK, stop, "\n" * plain.count("\n", start, end)]
        done = end
    return _MASKS.sub(rf"{MASK}\1", "".join((*parts, plain[done:])))


def is_nothing_else(text: str) -> bool:
    """Whether a text that was masked says nothing any more."""
    return _WORD.search(text.replace(MASK, "")) is None


def each_text(value: Any) -> Iterator[str]:
    """Every text in a value of JSON, keys too."""
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
    "superseded_by by updated_at aside hash sha256 tail held far since until start type format upgraded".split()
)
"""Members of the program's own records that are no words of anybody: ids, times, names."""


_TAGS = frozenset(("pinned", "unverified", "forget", "recalled", "asked"))
"""Those that the program gives."""


def worded(value: Any) -> Iterator[str]:
    """What a record of the program says in words: without the names of its members, and without its own names."""
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
    """The same for every text in a value of JSON, keys too."""
    if isinstance(value, str):
        return masked(value, words)
    if isinstance(value, dict):
        return {masked(name, words): masked_value(inner, words) for name, inner in value.items()}
    if isinstance(value, (list, tuple)):
        return [masked_value(inner, words) for inner in value]
    return value


def sentences_in(text: str) -> list[str]:
    """The sentences of a text, each without the spaces around it."""
    found: list[str] = []
    done = 0
    for end in _END.finditer(text):
        found.append(text[done : end.end()].strip())
        done = end.end()
    return [each for each in (*found, text[done:].strip()) if each]
