"""Facts of several layers as one: which are shown, and which memory a fact belongs to (FORMAT §19).

A layer is a memory that is read under another. In a slot of one value the nearer memory wins, unless the farther one's
value is newer and a person's own word. Lists are united, and the same fact is shown once.
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
    nearer: dict[tuple[str, str], dict[str, Fact]] = {}
    """The facts of nearer layers, by address and value."""
    count = 0
    for name, facts in layers:
        begin = count
        for fact in facts:
            place = address_of(fact)
            at = (place.slot, place.within)
            held = nearer.get(at)
            if held is not None and not place.many and place.key not in held:
                if not all(_gives_way(each, fact, now) for each in held.values()):
                    continue
                kept[at] = [each for each in kept[at] if each[0] >= begin]
            elif held is not None and place.key in held:
                continue
            kept.setdefault(at, []).append((count, fact.but(layer=name) if name else fact))
            count += 1
        nearer = {at: {address_of(fact).key: fact for _, fact in each} for at, each in kept.items()}
    found = (each for held in kept.values() for each in held)
    return [fact for _, fact in sorted(found, key=lambda each: each[0])]


def join(layers: Iterable[tuple[str, Sequence[Fact]]]) -> list[Fact]:
    """Return the facts of all layers that do not hold: waiting, past and rejected ones."""
    return [fact.but(layer=name) if name else fact for name, facts in layers for fact in facts]


def _gives_way(nearer: Fact, farther: Fact, now: float) -> bool:
    return is_trusted(farther.level) and is_said_before(nearer, farther, now)


def in_order(facts: Iterable[Fact]) -> list[Fact]:
    """Return the facts with the user's first, then topic by topic, else as they are."""
    return sorted(facts, key=lambda fact: (fact.topic != USER, fact.topic))
