"""Facts of several layers as one: which are shown, and which memory a fact belongs to (FORMAT §20).

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
    count = 0
    for name, facts in layers:
        before = {at: [fact for _, fact in held] for at, held in kept.items()}
        for fact in facts:
            place = address_of(fact)
            at = (place.slot, place.within)
            nearer = before.get(at, ())
            if any(address_of(each).key == place.key for each in nearer):
                continue
            if nearer and not place.many:
                if not all(_gives_way(each, fact, now) for each in nearer):
                    continue
                kept[at] = [held for held in kept[at] if held[1] not in nearer]
            kept.setdefault(at, []).append((count, fact.but(layer=name) if name else fact))
            count += 1
    return [
        fact
        for _, fact in sorted((each for held in kept.values() for each in held), key=lambda held: held[0])
    ]


def join(layers: Iterable[tuple[str, Sequence[Fact]]]) -> list[Fact]:
    """Return the facts of all layers that do not hold: waiting, past and rejected ones."""
    return [fact.but(layer=name) if name else fact for name, facts in layers for fact in facts]


def _gives_way(nearer: Fact, farther: Fact, now: float) -> bool:
    return is_trusted(farther.level) and is_said_before(nearer, farther, now)


def in_order(facts: Iterable[Fact]) -> list[Fact]:
    """Return the facts with the user's first, then topic by topic, else as they are."""
    return sorted(facts, key=lambda fact: (fact.topic != USER, fact.topic))
