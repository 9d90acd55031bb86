"""Finding words in texts however they are spelt, and taking out the sentence that says them.

What is taken out of a text is a whole sentence: half of one would say what the other half was. `[forgotten]` stands in
its place, and line ends stay, so that whatever names lines of the text still names the same ones.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from unicodedata import is_normalized, normalize

from looseleaf.text.spellings import places

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from typing import Any

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
