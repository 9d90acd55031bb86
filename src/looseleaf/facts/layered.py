"""Facts of several layers as one: which are shown, and which memory a fact belongs to (FORMAT §19).

A layer is a memory that is read under another. In a slot of one value the nearer memory wins, unless the farther one's
value is a person's own word, and the nearer one's is older, or is no such word. Lists are united, and the same fact is
shown once.
"""

from __future__ import annotations

from looseleaf.base.origins import is_trusted
from looseleaf.base.paths import USER
from looseleaf.facts.ledger import address_of
from looseleaf.facts.said_order import NEVER, is_said_before

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from looseleaf.base.values import Fact


def unite(layers: Iterable[tuple[str, Sequence[Fact]]], now: float = NEVER) -> list[Fact]:
    """Return the facts that hold in all layers together, nearest layer first. Each farther fact names its layer; the
    nearest layer is named ""."""
    kept: dict[tuple[str, str], list[tuple[int, Fact]]] = {}
    nearer: dict[tuple[str, str], dict[str, list[tuple[int, Fact]]]] = {}
    """The facts of nearer layers, by address and value."""
    count = 0
    for number, (name, facts) in enumerate(layers):
        for fact in facts:
            place = address_of(fact)
            at = (place.slot, place.within)
            held = nearer.get(at, {}) if number else {}
            gone: list[tuple[int, Fact]] = []
            if place.key in held:
                gone = held[place.key]  # the same words, vouched for
                if not is_trusted(fact.level) or any(is_trusted(each.level) for _, each in gone):
                    continue
            elif held and not place.many:
                gone = [each for same in held.values() for each in same]
                if not all(_gives_way(each, fact, now) for _, each in gone):
                    continue
            if gone:
                lost = {number_of for number_of, _ in gone}
                kept[at] = [each for each in kept[at] if each[0] not in lost]
            kept.setdefault(at, []).append((count, fact.but(layer=name) if name else fact))
            count += 1
        nearer = {}
        for at, each in kept.items():
            for found in each:
                nearer.setdefault(at, {}).setdefault(address_of(found[1]).key, []).append(found)
    left = (each for held_at in kept.values() for each in held_at)
    return [fact for _, fact in sorted(left, key=lambda each: each[0])]


def join(layers: Iterable[tuple[str, Sequence[Fact]]]) -> list[Fact]:
    """Return the facts of all layers that do not hold: waiting, past and rejected ones."""
    return [fact.but(layer=name) if name else fact for name, facts in layers for fact in facts]


def _gives_way(nearer: Fact, farther: Fact, now: float) -> bool:
    """True if a farther value, in a slot of one, is to be shown instead: only a person's word, and not against a later
    one."""
    return is_trusted(farther.level) and (
        not is_trusted(nearer.level) or is_said_before(nearer, farther, now)
    )


def is_same_value(one: Fact, other: Fact) -> bool:
    return address_of(one).key == address_of(other).key


def find_at(fact: Fact, united: Iterable[Fact]) -> list[Fact]:
    """Return the facts of these that stand where a fact would: the same one, or, in a slot of one value, another."""
    place = address_of(fact)
    there = [(each, address_of(each)) for each in united if each.topic == fact.topic]
    return [
        each
        for each, at in there
        if (at.slot, at.within) == (place.slot, place.within) and (at.key == place.key or not place.many)
    ]


def in_order(facts: Iterable[Fact]) -> list[Fact]:
    """Return the facts with the user's first, then topic by topic, else as they are."""
    return sorted(facts, key=lambda fact: (fact.topic != USER, fact.topic))
