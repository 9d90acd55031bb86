"""How facts are related: the same, said in one breath, one retelling another, one outranking another."""

from __future__ import annotations

from looseleaf.base.origins import is_imported, is_trusted
from looseleaf.facts.gate import UNVERIFIED
from looseleaf.language.slots import slot
from looseleaf.language.value_keys import key
from looseleaf.text.lines import NOTE

TYPE_CHECKING = False
if TYPE_CHECKING:
    from looseleaf.base.values import Fact

ENDS = "ends"
NO_LONGER = "No longer "
"""The tag of an item in review that asks whether something has ended; and how its relation begins."""


def in_one_breath(fact: Fact, other: Fact) -> bool:
    """Whether two facts were said by the same words of the same message."""
    return bool(fact.quote) and fact.quote == other.quote and fact.sources[:1] == other.sources[:1]


def may_change(fact: Fact) -> bool:
    return is_trusted(fact.level) and UNVERIFIED not in fact.tags


def outranks(old: Fact, new: Fact) -> bool:
    """Whether a person wrote what only the user's talk speaks against."""
    return old.level in (None, "confirmed") and new.level != "confirmed"


def retells(note: Fact, fact: Fact) -> bool:
    """Whether a note is the sentence that a fact is from, kept because it says more: it ends with the fact."""
    if note.relation != NOTE or note.status != "current" or not fact.quote:
        return False
    said = fact.quote.casefold().rstrip(".!")
    return note.entry_id == fact.entry_id and " ".join(said.split()) in note.object.casefold()


def is_same_fact(fact: Fact, other: Fact) -> bool:
    return slot(fact.topic, fact.relation) == slot(other.topic, other.relation) and (
        key(fact.object, fact.relation) == key(other.object, other.relation)
    )


def sources_of(*facts: Fact) -> tuple[str, ...]:
    return tuple(dict.fromkeys(source for fact in facts for source in fact.sources))


def ending(fact: Fact) -> Fact:
    """The review item that asks whether a fact has ended."""
    return fact.but(status="pending", relation=f"{NO_LONGER}{fact.relation}", tags=(*fact.tags, ENDS))


def joined(fact: Fact, waits: Fact) -> Fact:
    return fact.but(id=waits.id, sources=sources_of(waits, fact), user_fact_score=waits.user_fact_score)


def is_guess_of(old: Fact, fact: Fact) -> bool:
    """Whether a conclusion says what the user says now."""
    is_guess = old.status == "current" and not is_trusted(old.level) and old.level is not None
    return is_guess and is_same_fact(old, fact)


def is_document(origin: str) -> bool:
    """Whether it was given to the memory as a text, or imported: a person brought it, and a person says yes to it."""
    return is_imported(origin) or origin == "document"
