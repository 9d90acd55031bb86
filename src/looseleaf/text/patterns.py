"""Patterns that are compiled when they are first used: compiling all of them takes longer than most commands do."""

from __future__ import annotations

import re

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any


NEVER = "(?!)"
"""Matches nothing."""


def lazy(pattern: str, flags: int = 0, *, in_ascii: str = "") -> re.Pattern[str]:
    """Like `re.compile`, but compiled at the first call of a method; the functions of `re` would not know it.
    `in_ascii`: a pattern that finds the same in ASCII text and compiles faster, because large sets of characters are
    slow."""
    made: Any = _ByText(pattern, flags, in_ascii) if in_ascii else _Lazy(pattern, flags)
    found: re.Pattern[str] = made
    return found


def one_of(words: Iterable[str]) -> str:
    """A pattern of alternatives, which are not escaped: the longest first, and always the same text, in whatever order
    they come."""
    return "|".join(sorted(words, key=lambda word: (-len(word), word)))


class _Lazy:
    def __init__(self, pattern: str, flags: int) -> None:
        self.pattern = pattern
        self._given = pattern, flags

    def __getattr__(self, name: str) -> Any:
        """Called once for each method; the result is stored on the instance."""
        if name.startswith("__"):
            raise AttributeError(name)
        found = self._found(name)
        setattr(self, name, found)
        return found

    def _found(self, name: str) -> Any:
        return getattr(re.compile(*self._given), name)


class _ByText(_Lazy):
    def __init__(self, pattern: str, flags: int, in_ascii: str) -> None:
        super().__init__(pattern, flags)
        self._ascii = _Lazy(in_ascii, flags)
        self._full = _Lazy(pattern, flags)

    def _found(self, name: str) -> Any:
        if name not in _ON_TEXT:
            return super()._found(name)

        def chosen(text: str, *within: int) -> Any:
            return getattr(self._ascii if text.isascii() else self._full, name)(text, *within)

        return chosen


_ON_TEXT = frozenset({"match", "fullmatch", "search", "findall", "finditer"})
"""The methods that use the pattern for ASCII; where to begin and end is given by position."""
