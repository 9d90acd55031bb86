"""Claims that nobody vouches for, put before a person: as many as review takes, each with the trace that says it."""

from __future__ import annotations

import time

from looseleaf.core.gate import UNVERIFIED
from looseleaf.core.grammar import as_written
from looseleaf.core.identity import relation_of
from looseleaf.core.ledger import fact_id
from looseleaf.core.levels import CONFIDENCE
from looseleaf.core.lines import NOTE
from looseleaf.core.paths import name_fault
from looseleaf.core.relations import SALIENCE
from looseleaf.core.times import written
from looseleaf.core.vocabulary import topic_name
from looseleaf.values import Fact

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from looseleaf.importers.items import Claim
    from looseleaf.memory import Memory


def ask(memory: Memory, claims: Sequence[tuple[Claim, str]], format_: str) -> int:
    """How many of the claims (each with the id of its trace) wait in review now. What waits already, was rejected, or
    does not fit there any more is not asked."""
    now = time.time()
    facts = [_fact(memory, claim, trace, f"import:{format_}", now) for claim, trace in claims]
    book = memory._book
    book.catch_up()
    asked = book.place.ask([(fact, f"{format_} had it") for fact in facts], f"imported from {format_}")
    return len(asked.added)


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
