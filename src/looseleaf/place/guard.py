"""The guard at the pages: an agent's change is looked at before it is journaled, and what is held back is asked for."""

from __future__ import annotations

from looseleaf.core.gate import CONFIDENCE, UNVERIFIED, is_at_least
from looseleaf.core.grammar import as_written, topic_of
from looseleaf.core.guard import Guarded, guarded
from looseleaf.core.identity import key, relation_of, slot
from looseleaf.core.ledger import fact_id
from looseleaf.core.placing import SALIENCE
from looseleaf.core.times import written
from looseleaf.errors import Refused
from looseleaf.values import Fact

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from looseleaf.core.guard import Spoken
    from looseleaf.place.facts import Facts
    from looseleaf.values import Record


class Guard:
    """`spoken` says what was said in this session."""

    def __init__(
        self, facts: Facts, spoken: Callable[[], Spoken], ask: Callable[[list[tuple[Fact, str]]], None]
    ) -> None:
        self._facts = facts
        self._spoken = spoken
        self._ask = ask

    def look(self, path: str, old: str | None, new: str | None) -> tuple[Guarded, tuple[Record, ...]]:
        """What the change comes to, and what is known of the facts among its lines."""
        self._facts.catch_up()
        persons = {
            (fact.relation, fact.object)
            for fact in self._facts.of(topic_of(path))
            if fact.path == path and is_at_least(fact.level, "confirmed")
        }
        if new is None:
            if persons:
                raise Refused(
                    f"{path} was not removed: a person wrote lines of it. Propose that to the user instead."
                )
            return Guarded(""), ()
        made = guarded(path, old or "", new, self._spoken(), persons)
        before = {
            (fact.relation, fact.object) for fact in self._facts.of(topic_of(path)) if fact.path == path
        }
        told = tuple(
            {"id": fact_id(path, relation, said, new), "relation": relation, "object": said}
            | {"level": "said", "origin": "user", "confidence": CONFIDENCE["said"]}
            | {"salience": SALIENCE[relation_of(relation).kind]}
            for relation, said in made.said
            if (relation, said) not in before
        )
        return made, told

    def ask(self, path: str, agent: str, made: Guarded, ts: float) -> None:
        """Put what was held back before a person, once; what was turned down stays so."""
        topic = topic_of(path)
        level = "tainted" if self._spoken().tools else "inferred"
        waiting: list[tuple[Fact, str]] = []
        for relation, said in made.held:
            relation, said = as_written(relation, said)
            if self._was_decided(topic, relation, said):
                continue
            fact = Fact(
                topic,
                topic,
                relation,
                said,
                relation_of(relation).kind,
                id=fact_id(topic, path, relation, said),
                confidence=CONFIDENCE[level],
                salience=SALIENCE[relation_of(relation).kind],
                tags=(UNVERIFIED,),
                origin=agent,
                level=level,  # type: ignore[arg-type]
                valid_from=written(ts),
                recorded_at=ts,
                status="pending",
            )
            waiting.append((fact, f"{agent} put it on {path}"))
        if waiting:
            self._ask(waiting)

    def _was_decided(self, topic: str, relation: str, said: str) -> bool:
        address, value = slot(topic, relation), key(said, relation)
        return any(
            fact.status in ("pending", "rejected")
            and slot(fact.topic, fact.relation) == address
            and key(fact.object, fact.relation) == value
            for fact in self._facts.of(topic)
        )
