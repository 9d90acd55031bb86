"""The facts of a memory as JSON lines: each with all its members, the words that it rests on, and its past.

Every fact stands in the file once: as a line of its own, or among the `past` of the one that took its place. What was
forgotten is in neither.
"""

from __future__ import annotations

from looseleaf.explain.sources import Words
from looseleaf.facts.ledger import copy_id
from looseleaf.facts.truth import true_at
from looseleaf.store.records import to_json

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from looseleaf.base.values import Fact
    from looseleaf.memory import Memory

SCHEMA = "fact.v1"


def fact_lines(memory: Memory) -> Iterator[bytes]:
    """One line a fact, topic by topic."""
    memory.absorb()
    memory._known.catch_up()
    for topic in sorted(memory._known.topics):
        facts = memory._known.of(topic)
        words = Words(memory, facts)
        for fact, past in _with_past(facts):
            told = {"schema": SCHEMA} | _told(fact, words) | {"past": [_told(each, words) for each in past]}
            yield to_json(told) + b"\n"


def _told(fact: Fact, words: Words) -> dict[str, Any]:
    """Every member, also those that say nothing: whoever reads the file need not know which may be missing."""
    members: dict[str, Any] = {name: getattr(fact, name) for name in type(fact).__match_args__}
    return members | {
        "tags": list(fact.tags),
        "sources": [source.to_dict() for source in words.of(fact)],
    }


def _with_past(facts: list[Fact]) -> Iterator[tuple[Fact, list[Fact]]]:
    """Facts of one topic, each with those that it came after, the oldest first."""
    copies = {copy_id(fact.id) for fact in facts if fact.id}
    placed = {
        fact.id: fact for fact in true_at(facts)
    }  # where a fact stands twice, as readers are told of it
    kept = {
        fact.id: placed.get(fact.id, fact)
        for fact in facts
        if fact.status != "forgotten" and fact.id not in copies
    }
    past: dict[str | None, list[Fact]] = {}
    for fact in kept.values():
        last = _last(fact, kept)
        if last is not fact:
            past.setdefault(last.id, []).append(fact)
    within = {fact.id for each in past.values() for fact in each}
    for fact in kept.values():
        if fact.id not in within:
            yield fact, sorted(past.get(fact.id, ()), key=_since)


def _last(fact: Fact, kept: dict[str | None, Fact]) -> Fact:
    """The fact that stands in the place of this one now; of some that replaced each other in a ring, the newest."""
    passed: dict[str | None, Fact] = {}
    while fact.status == "superseded" and fact.superseded_by in kept and fact.id not in passed:
        passed[fact.id] = fact
        fact = kept[fact.superseded_by]
    if fact.id not in passed:
        return fact
    names = list(passed)
    return max((passed[name] for name in names[names.index(fact.id) :]), key=_since)


def _since(fact: Fact) -> tuple[str, float, str]:
    return fact.valid_from or "", fact.recorded_at or 0.0, fact.id or ""
