"""Shared parts of formats that store statements: JSON files, named things, relations between them."""

from __future__ import annotations

from looseleaf.language.topic_words import topic_name
from looseleaf.text.lines import escape
from looseleaf.transfer.source import ImportClaim, files_to_read, skip_broken

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import TypeGuard

    from looseleaf.transfer.source import ImportSource, Note

_USER = frozenset({"default_user", "default-user", "user", "me"})
"""Names that stores give to the user."""


class StoreFiles:
    """The files of a source that hold a store, by their ends and their heads."""

    def __init__(self, ends: tuple[str, ...], is_one: Callable[[ImportSource, str], bool]) -> None:
        self._ends = ends
        self._is_one = is_one

    def find(self, source: ImportSource) -> list[str]:
        names = (name for name in source.names() if name.lower().endswith(self._ends))
        return [name for name in names if self._is_one(source, name)]

    def read(
        self,
        source: ImportSource,
        note: Note,
        claims: Callable[[ImportSource, str, Note], Iterator[ImportClaim]],
    ) -> Iterator[ImportClaim]:
        """Yield the claims of all files."""
        for name in files_to_read(source, self.find(source)):
            with skip_broken(note):
                yield from claims(source, name, note)


def has_words(text: object) -> TypeGuard[str]:
    """True for a text with visible words."""
    return isinstance(text, str) and bool(escape(text))


def topic_of(name: str) -> str:
    """Return the topic of a thing in a store."""
    return "user" if name.strip().casefold() in _USER else topic_name(name)


def relation_words(relation: str) -> str:
    """Write a relation in words: `works_at` → `Works at`."""
    words = " ".join(relation.replace("_", " ").split())
    return words[:1].upper() + words[1:]


def relation_claim(of: str, relation: str, to: str) -> ImportClaim:
    """Return the claim that one thing has a relation to another."""
    return ImportClaim(
        f"relation\n{of}\n{relation}\n{to}", topic_of(of), to, None, relation_words(relation) or None
    )
