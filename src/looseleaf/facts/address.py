"""Where a fact lives, and what it says there: the address that every comparison of facts goes by.

Invariant: an address is of the words alone; whatever else is known of a fact (status, times, level) does not move it.
"""

from __future__ import annotations

from functools import lru_cache

from looseleaf.base.immutable import frozen
from looseleaf.language.slots import relation_name, relation_of, slot
from looseleaf.language.value_keys import key
from looseleaf.language.words import fold, is_number

TYPE_CHECKING = False
if TYPE_CHECKING:
    from looseleaf.base.values import Fact


@frozen
class Address:
    """Where a fact lives and what it says there. `many`: other values may live beside it.

    A favourite colour and the deadline of one thing live `within` their slot, at an address of their own.
    """

    slot: str
    within: str
    relation: str
    value: str
    key: str
    many: bool


def slot_of(fact: Fact) -> str:
    return _slot_named(fact.topic, fact.relation)


@lru_cache(1024)
def _slot_named(topic: str, relation: str) -> str:
    is_favourite = relation_name(relation).startswith("favorite ")
    return slot(topic, "Favourite" if is_favourite else relation)


def may_hold_one(fact: Fact) -> bool:
    """Told without making a key. A favourite colour is one, whatever else is a favourite."""
    return not relation_of(fact.relation).many or relation_name(fact.relation) == "favourite"


def address(fact: Fact) -> Address:
    return _address_of(fact.topic, fact.relation, fact.object)


@lru_cache(8192)
def _address_of(topic: str, label: str, value: str) -> Address:
    relation, many = relation_name(label), relation_of(label).many
    within = ""
    if relation == "favourite" and ":" in value:
        thing, _, value = value.partition(":")
        relation, many = relation_name(f"favourite {thing.strip()}"), False
    elif relation == "pet" and (species := fold(label)) in ("dog", "cat"):
        value = f"{value} ({species})"  # the label says it
    made = key(value, relation)
    if relation.startswith("favorite "):
        within = relation
    elif relation == "deadline":
        within = " ".join(word for word in made.split() if not is_number(word))
    return Address(_slot_named(topic, label), within, relation, value, made, many)
