"""Patterns that are compiled when they may first match: compiling takes longer than all the rest of a command that
notes one sentence.

`core/needed.py` says of the long ones which pieces of text there are of which one stands wherever the pattern matches:
for a text without any it is not worth compiling. It is made of the patterns themselves (`tests/needed.py`), and one
that it does not know is compiled at its first use.
"""

from __future__ import annotations

import re

from looseleaf.hashing import sha256

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence
    from typing import Any

NOT_ASCII = "\x80"
"""Among the pieces of a pattern: any letter that is not ASCII."""

_UNLIKE = frozenset("ıİſK")
"""Letters that a pattern which ignores case takes for others, and `lower` does not."""

SHORT = 60
"""Patterns of fewer letters are compiled in no time."""

_PATIENCE = 40
"""Texts in vain after which a pattern is compiled all the same: matching takes less than looking for its pieces."""


def lazy(pattern: str, flags: int = 0) -> re.Pattern[str]:
    """As `re.compile`, for one whose methods are called; the functions of `re` would not know it."""
    made: Any = Lazy(pattern, flags)
    found: re.Pattern[str] = made
    return found


def one_of(words: Iterable[str]) -> str:
    """A pattern of alternatives: the longest first, and always the same text, in whatever order they come."""
    return "|".join(sorted(words, key=lambda word: (-len(word), word)))


class Lazy:
    def __init__(self, pattern: str, flags: int) -> None:
        self.pattern = pattern
        self.given = pattern, int(flags)
        self._left = _PATIENCE

    def __getattr__(self, name: str) -> Any:
        """Asked once for each method: from then on it is an attribute like any other."""
        if name.startswith("__"):
            raise AttributeError(name)
        pieces = _needed(*self.given) if name in _IN_VAIN else ()
        if not pieces:
            return self._compiled(name)
        at, vain = _IN_VAIN[name]

        def first(*given: Any, **named: Any) -> Any:
            if self._left > 0 and not named and not may_match(given[at], pieces):
                self._left -= 1
                return vain(given[at])
            return self._compiled(name)(*given, **named)

        setattr(self, name, first)
        return first

    def _compiled(self, name: str) -> Any:
        self._left = 0
        found = getattr(re.compile(*self.given), name)
        setattr(self, name, found)
        return found


_IN_VAIN: dict[str, tuple[int, Callable[[str], Any]]] = {
    "match": (0, lambda text: None),
    "search": (0, lambda text: None),
    "fullmatch": (0, lambda text: None),
    "finditer": (0, lambda text: iter(())),
    "findall": (0, lambda text: []),
    "split": (0, lambda text: [text]),
    "sub": (1, lambda text: text),
}
"""Of each method: which argument is the text, and what it gives where nothing matches."""


def may_match(text: str, pieces: Sequence[str]) -> bool:
    small = text.lower()
    if not text.isascii() and (NOT_ASCII in pieces or not _UNLIKE.isdisjoint(text)):
        return True
    return any(piece in small for piece in pieces)


def name_of(pattern: str, flags: int) -> str:
    """What `core/needed.py` calls a pattern."""
    return sha256(f"{int(flags)} {pattern}".encode("utf-8", "backslashreplace"))[:10]


_table: dict[str, str] = {}


def _needed(pattern: str, flags: int) -> Sequence[str]:
    """The pieces of which one is needed; none are known of most that are short."""
    if not _table:
        from looseleaf.core.needed import ROWS

        _table.update(row.partition(" ")[::2] for row in ROWS.split("\n"))
    return _table.get(name_of(pattern, flags), "").split("|") if len(pattern) >= SHORT else ()
