"""Claims that nobody vouches for, put before a person: as many as review takes, each with the trace that says it."""

from __future__ import annotations

import time

from looseleaf.core.gate import UNVERIFIED
from looseleaf.core.grammar import as_written
from looseleaf.core.ledger import fact_id
from looseleaf.core.levels import CONFIDENCE
from looseleaf.core.lines import NOTE
from looseleaf.core.paths import name_fault
from looseleaf.core.relations import SALIENCE
from looseleaf.core.slots import relation_of
from looseleaf.core.times import written
from looseleaf.core.vocabulary import topic_name
from looseleaf.frozen import frozen
from looseleaf.values import Fact

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from looseleaf.importers.items import Claim
    from looseleaf.importers.ledger import Prior
    from looseleaf.memory import Memory


@frozen
class Doubt:
    """A claim, the mark and the session of its trace, and its name in the ledger. `again`: what the ledger says of one
    that is recorded, and for which review had no place."""

    claim: Claim
    mark: str
    session: str
    name: str
    again: Prior | None


def ask(memory: Memory, doubts: Sequence[tuple[Doubt, str]], format_: str) -> tuple[int, set[str]]:
    """Put claims (each with the id of its trace) into review: how many wait there now that did not, and the names of
    those for which there is no place. What waits already or was rejected is not asked."""
    now = time.time()
    facts = [_fact(memory, doubt.claim, trace, f"import:{format_}", now) for doubt, trace in doubts]
    book = memory._book
    book.catch_up()
    asked = book.place.ask([(fact, f"{format_} had it") for fact in facts], f"imported from {format_}")
    full = {doubt.name for (doubt, _), fact in zip(doubts, facts, strict=True) if fact.id in asked.full}
    return len(asked.added), full


def _fact(memory: Memory, claim: Claim, trace: str, origin: str, now: float) -> Fact:
    topic = claim.topic if name_fault(claim.topic) is None else topic_name(claim.topic or "imported")
    relation, said = as_written(claim.relation or NOTE, memory._clean(claim.text))
    kind = relation_of(relation).kind
    ts = now if claim.ts is None else claim.ts
    return Fact(
        topic,
        topic,
        relation,
        said,
        kind,
        id=fact_id(topic, origin, relation, said),
        confidence=CONFIDENCE["tainted"],
        salience=SALIENCE[kind],
        tags=(UNVERIFIED,),
        sources=(trace,),
        origin=origin,
        level="tainted",
        valid_from=written(ts),
        recorded_at=now,
        status="pending",
    )
