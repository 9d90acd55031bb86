"""Contested values: where there can be one, and machines noted several (docs/MACHINES.md)."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from looseleaf.base.values import Fact
    from looseleaf.memory.parts import Parts


def find_contested(parts: Parts) -> list[list[Fact]]:
    """Return the contested values of a memory, slot by slot. Without other machines, nothing is read."""
    if not parts.store.machines():
        return []
    from looseleaf.facts.ledger import address_of
    from looseleaf.text.lines import is_said_on

    facts = parts.notebook.facts()
    topics = {fact.topic for fact in facts if is_said_on(fact.object)}
    slots: dict[tuple[str, str], list[Fact]] = {}
    for fact in facts:
        if fact.topic in topics:
            at = address_of(fact)
            slots.setdefault((at.slot, at.within), []).append(fact)
    return [each for each in slots.values() if each[1:] and any(is_said_on(fact.object) for fact in each)]
