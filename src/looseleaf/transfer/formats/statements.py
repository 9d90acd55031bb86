"""Shared parts of formats that store statements: named things, and relations between them."""

from __future__ import annotations

from looseleaf.language.topic_words import topic_name
from looseleaf.text.lines import escape
from looseleaf.transfer.source import ImportClaim

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import TypeGuard

_USER = frozenset({"default_user", "default-user", "user", "me"})
"""Names that stores give to the user."""


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
