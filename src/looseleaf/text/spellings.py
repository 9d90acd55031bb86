"""Spelling: the ways in which bytes may say the same words, and where in a text they do.

Words are compared in one normal form, without regard to case, to white space or to what nobody sees. Texts that tools
and the web give are often escaped: as JSON does, as HTML does, as addresses do, or one in another. What they say then
is compared too; what is encoded so that no letter of it stands there (Base64, archives) is not.
"""

from __future__ import annotations

import re
from unicodedata import is_normalized, normalize

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

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
