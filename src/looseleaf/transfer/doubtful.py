"""Claims that nobody vouches for, put before a person: as many as review takes, each with the trace that says it."""

from __future__ import annotations

import time

from looseleaf.base.immutable import frozen
from looseleaf.base.origins import CONFIDENCE
from looseleaf.base.page_paths import name_fault
from looseleaf.base.values import Fact
from looseleaf.facts.gate import UNVERIFIED
from looseleaf.facts.ledger import fact_id
from looseleaf.language.relations import SALIENCE
from looseleaf.language.slots import relation_of
from looseleaf.language.topic_words import topic_name
from looseleaf.pages.grammar import as_written
from looseleaf.text.lines import NOTE
from looseleaf.text.times import written

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from looseleaf.memory import Memory
    from looseleaf.transfer.import_ledger import Prior
    from looseleaf.transfer.items import Claim


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
