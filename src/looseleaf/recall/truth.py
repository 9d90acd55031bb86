"""What is true in all layers together: of each fact found, of the talk that said one, and what is true instead.

One memory answers this by itself, from its facts' own statuses. With memories under it, `facts/layered.py` decides: a
fact that holds in its own memory may be beaten by another's, and so may the one that replaced it.
"""

from __future__ import annotations

from collections import Counter

from looseleaf.facts.layered import find_at, is_same_value, unite
from looseleaf.facts.ledger import true_at
from looseleaf.recall.items import origins_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Protocol

    from looseleaf.base.values import Fact

    class Reader(Protocol):
        def facts(self, topic: str) -> dict[str | None, Fact]: ...
        def topics(self) -> dict[str, tuple[int, int, int]]: ...

    Beaten = dict[str, dict[str, list[Fact]]]
    """By layer and origin, the facts that another layer knows better."""


class Truth:
    """Answers for one question. `readers`: of each layer by its name, nearest first; the memory itself is "". `kept`
    has what was found for earlier questions, and gets what is found."""

    def __init__(
        self,
        readers: Mapping[str, Reader],
        as_of: float | None = None,
        kept: dict[object, Beaten] | None = None,
    ) -> None:
        self._kept = kept if kept is not None else {}
        self._readers = readers
        self._as_of = as_of
        self._united: dict[tuple[str, float | None], list[Fact]] = {}
        self._beaten: Beaten | None = None

    def united(self, topic: str, as_of: float | None = None) -> list[Fact]:
        """Return the facts of a topic that hold in all layers together (at a time)."""
        if (topic, as_of) not in self._united:
            true = (
                (name, true_at(read.facts(topic).values(), as_of)) for name, read in self._readers.items()
            )
            self._united[topic, as_of] = unite(true)
        return self._united[topic, as_of]

    def has(self, topic: str, name: str | None, layer: str) -> bool:
        """True if a fact of a layer holds, at the time asked for."""
        return any((fact.layer or "", fact.id) == (layer, name) for fact in self.united(topic, self._as_of))

    def is_over(self, fact: Fact) -> bool:
        """True if what an outdated fact says is true in no layer."""
        return not any(is_same_value(fact, each) for each in find_at(fact, self.united(fact.topic)))

    def find_instead(self, fact: Fact, later: Fact | None, layer: str) -> Fact | None:
        """Return what is true instead of an outdated fact of a layer, if `later` is that in the layer itself."""
        there = find_at(later or fact, self.united(fact.topic))
        own = (each for each in there if later is not None and each.id == later.id)
        others = (
            each
            for each in there
            if later is not None or ((each.layer or "") != layer and not is_same_value(each, fact))
        )
        return next(own, None) or next(others, None)

    def beaten(self, origin: str, layer: str) -> list[Fact]:
        """Return the facts from a trace or entry that hold in its own layer, and that another layer knows better."""
        if self._beaten is None:
            topics = {name: read.topics() for name, read in self._readers.items()}
            often = Counter(topic for marks in topics.values() for topic in marks)
            shared = sorted(topic for topic, count in often.items() if count > 1)
            look = tuple(
                (name, topic, marks.get(topic)) for name, marks in topics.items() for topic in shared
            )
            if look not in self._kept:
                found: Beaten = {name: {} for name in self._readers}
                for topic in shared:
                    self._find_beaten(topic, found)
                self._kept.clear()
                self._kept[look] = found
            self._beaten = self._kept[look]
        return self._beaten[layer].get(origin, [])

    def _find_beaten(self, topic: str, found: Beaten) -> None:
        united = self.united(topic)
        shown = {(fact.layer or "", fact.id) for fact in united}
        for name, read in self._readers.items():
            for fact in true_at(read.facts(topic).values()):
                if (name, fact.id) in shown or not self.is_over(fact):
                    continue
                for origin in origins_of(fact):
                    found[name].setdefault(origin, []).append(fact)

    def says_true(self, origin: str, layer: str, topics: set[str]) -> bool:
        """True if a trace or entry says something of these topics that holds."""
        return any(
            origin in origins_of(fact) and not self.is_over(fact)
            for topic in topics
            for fact in self._readers[layer].facts(topic).values()
        )
