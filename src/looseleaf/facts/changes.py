"""What changed between two readings of the facts, as an answer tells it: added, replaced, ended, contested, gone."""

from __future__ import annotations

from looseleaf.base.immutable import frozen
from looseleaf.text.lines import is_said_on

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Iterable

    from looseleaf.base.values import Fact


@frozen
class FactChanges:
    """`replaced`: facts, each with the one that took its place. `ended`: facts that are no longer true. `contested`:
    facts of which several values stand only now. `forgotten`: how many are not known at all any more."""

    added: tuple[Fact, ...]
    replaced: tuple[tuple[Fact, Fact], ...]
    ended: tuple[Fact, ...]
    contested: tuple[Fact, ...]
    forgotten: int = 0

    def __bool__(self) -> bool:
        return bool(self.added or self.replaced or self.ended or self.contested or self.forgotten)


def compare_facts(
    before: Iterable[Fact], now: Iterable[Fact], known: Collection[str | None] | None = None
) -> FactChanges:
    """Compare the current facts of two readings. `known`: the ids of all facts that are known now; a fact that is not
    among them was forgotten, and its words are not repeated."""
    old, new = ({fact.id or "": fact for fact in each} for each in (before, now))
    contested = {
        name: fact
        for name, fact in new.items()
        if is_said_on(fact.object) and not (name in old and is_said_on(old[name].object))
    }
    added = {name: fact for name, fact in new.items() if name not in old and name not in contested}
    ended = {name: fact for name, fact in old.items() if name not in new}
    for name, fact in list(ended.items()):  # the same fact by another id is no news
        same = next((each for each, other in added.items() if _words(other) == _words(fact)), None)
        if same is not None:
            del added[same], ended[name]
    gone = {name for name in ended if known is not None and name not in known}
    replaced: list[tuple[Fact, Fact]] = []
    for name, fact in list(ended.items()):
        slot = fact.topic, fact.relation
        taker = next((each for each, other in added.items() if (other.topic, other.relation) == slot), None)
        if taker is not None and name not in gone:
            replaced.append((fact, added.pop(taker)))
            del ended[name]
    left = tuple(fact for name, fact in ended.items() if name not in gone)
    return FactChanges(tuple(added.values()), tuple(replaced), left, tuple(contested.values()), len(gone))


def _words(fact: Fact) -> tuple[str, str, str]:
    return fact.topic, fact.relation, fact.object
