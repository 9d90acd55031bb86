"""Patterns that are compiled when they are first used. A command that reads facts loads the modules that judge them,
and judges nothing; compiling takes longer than all the rest of loading."""

from __future__ import annotations

import re

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


def lazy(pattern: str, flags: int = 0) -> re.Pattern[str]:
    """As `re.compile`, for one whose methods are called; the functions of `re` would not know it."""
    made: Any = _Lazy(pattern, flags)
    found: re.Pattern[str] = made
    return found


class _Lazy:
    def __init__(self, pattern: str, flags: int) -> None:
        self._given = pattern, flags

    def __getattr__(self, name: str) -> Any:
        """Asked once for each method: from then on it is an attribute like any other."""
        pattern, flags = self._given
        found = getattr(re.compile(pattern, flags), name)
        setattr(self, name, found)
        return found
