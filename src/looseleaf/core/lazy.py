"""Patterns that are compiled when they are first used: compiling all of them takes longer than most commands do."""

from __future__ import annotations

import re

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any


def lazy(pattern: str, flags: int = 0) -> re.Pattern[str]:
    """As `re.compile`, for one whose methods are called; the functions of `re` would not know it."""
    made: Any = _Lazy(pattern, flags)
    found: re.Pattern[str] = made
    return found


def one_of(words: Iterable[str]) -> str:
    """A pattern of alternatives: the longest first, and always the same text, in whatever order they come."""
    return "|".join(sorted(words, key=lambda word: (-len(word), word)))


class _Lazy:
    def __init__(self, pattern: str, flags: int) -> None:
        self.pattern = pattern
        self._given = pattern, flags

    def __getattr__(self, name: str) -> Any:
        """Asked once for each method: from then on it is an attribute like any other."""
        if name.startswith("__"):
            raise AttributeError(name)
        found = getattr(re.compile(*self._given), name)
        setattr(self, name, found)
        return found
