"""Patterns compiled on first use: compiling all of them takes longer than most commands."""

from __future__ import annotations

import re

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from typing import Any


NEVER = "(?!)"
"""Matches nothing."""


def lazy(pattern: str | Callable[[], str], flags: int = 0, *, in_ascii: str = "") -> re.Pattern[str]:
    """Return a pattern that compiles at the first call of a method; the functions of `re` do not accept it.
    `pattern`: its source, or what returns it then; `in_ascii`: a pattern with the same matches in ASCII text that
    compiles faster, since large character sets are slow."""
    made: Any = _ByText(pattern, flags, in_ascii) if in_ascii else _Lazy(pattern, flags)
    found: re.Pattern[str] = made
    return found


def one_of(words: Iterable[str]) -> str:
    """Return a pattern of alternatives, not escaped, the longest first; the same for any order of `words`."""
    return "|".join(sorted(words, key=lambda word: (-len(word), word)))


class _Lazy:
    def __init__(self, pattern: str | Callable[[], str], flags: int) -> None:
        self._source, self._flags = pattern, flags

    def __getattr__(self, name: str) -> Any:
        """Compile, and store the method on the instance, so that this runs once per method."""
        if name.startswith("__"):
            raise AttributeError(name)
        found = self._bind_method(name)
        setattr(self, name, found)
        return found

    def _bind_method(self, name: str) -> Any:
        source = self._source if isinstance(self._source, str) else self._source()
        return source if name == "pattern" else getattr(re.compile(source, self._flags), name)


class _ByText(_Lazy):
    def __init__(self, pattern: str | Callable[[], str], flags: int, in_ascii: str) -> None:
        super().__init__(pattern, flags)
        self._ascii, self._full = _Lazy(in_ascii, flags), _Lazy(pattern, flags)

    def _bind_method(self, name: str) -> Any:
        if name not in _ON_TEXT:
            return super()._bind_method(name)
        return lambda text, *within: getattr(self._ascii if text.isascii() else self._full, name)(
            text, *within
        )


_ON_TEXT = frozenset({"match", "fullmatch", "search", "findall", "finditer"})
"""The methods that use the ASCII pattern; begin and end are positional arguments."""
