"""What stores of statements have in common: files of JSON, things that have names, relations between them."""

from __future__ import annotations

from looseleaf.language.topic_words import topic_name
from looseleaf.text.lines import escape
from looseleaf.transfer.source import Broken, Claim

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import TypeGuard

    from looseleaf.transfer.source import Note, Source

_USER = frozenset({"default_user", "default-user", "user", "me"})
"""What stores call whoever they talk to."""


class Files:
    """The files of a source that a store may be in: by their ends, and by how they begin."""

    def __init__(self, ends: tuple[str, ...], is_one: Callable[[Source, str], bool]) -> None:
        self._ends = ends
        self._is_one = is_one

    def found(self, source: Source) -> list[str]:
        return [name for name in self._named(source) if self._is_one(source, name)]

    def read(
        self, source: Source, note: Note, claims: Callable[[Source, str, Note], Iterator[Claim]]
    ) -> Iterator[Claim]:
        """The claims of all of them. A single file is what its user says it is, however it begins."""
        for name in self.found(source) or (source.names() if source.kind == "file" else ()):
            try:
                yield from claims(source, name, note)
            except Broken as broken:
                note(str(broken))

    def _named(self, source: Source) -> list[str]:
        return [name for name in source.names() if name.lower().endswith(self._ends)]


def is_said(text: object) -> TypeGuard[str]:
    """Whether it is a text with words that can be seen."""
    return isinstance(text, str) and bool(escape(text))


def topic_of(name: str) -> str:
    """The topic that a thing of somebody's store is."""
    return "user" if name.strip().casefold() in _USER else topic_name(name)


def in_words(relation: str) -> str:
    """`works_at` → `Works at`."""
    words = " ".join(relation.replace("_", " ").split())
    return words[:1].upper() + words[1:]


def related(of: str, relation: str, to: str) -> Claim:
    """That one thing has a relation to another."""
    return Claim(f"relation\n{of}\n{relation}\n{to}", topic_of(of), to, None, in_words(relation) or None)
