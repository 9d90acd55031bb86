"""What a distiller notes of the material while it reads: sentences, each once, and never more than a few hundred."""

from __future__ import annotations

from looseleaf.base.messages import Noted
from looseleaf.language.endings import closes, content

NOTED = 500
"""The most decisions, constraints and so on that are kept of one material."""


class Noting:
    """Sentences worth keeping, each once, the newest last; of too many the oldest go."""

    def __init__(self) -> None:
        self._found: dict[str, Noted] = {}

    def add(self, text: str, source: str) -> None:
        key = text.casefold()
        self._found.pop(key, None)
        self._found[key] = Noted(text, source)
        if len(self._found) > NOTED:
            del self._found[next(iter(self._found))]

    def clear(self) -> None:
        self._found.clear()

    def all(self) -> tuple[Noted, ...]:
        return tuple(self._found.values())


class Open(Noting):
    """Work that is left. What is said to be done is left no more."""

    def close(self, text: str) -> None:
        done = content(text)
        for key in [key for key in self._found if closes(done, content(key))]:
            del self._found[key]
