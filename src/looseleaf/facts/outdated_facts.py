"""Which sentences were true and are not any more: those whose fact was superseded, ended or rejected.

A compaction keeps decisions and constraints word for word. One that was taken back must not be told for ever.
"""

from __future__ import annotations

from looseleaf.base.ids import is_id, time_of
from looseleaf.facts.gate import Witness, proposal_of, reading_of
from looseleaf.facts.outdated import outdated_by, over_and_now
from looseleaf.facts.placement import PROJECT, USER, Plan

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from looseleaf.base.messages import Distilled
    from looseleaf.facts.known_facts import Facts


def outdated(facts: Facts, *found: Distilled, topics: Iterable[str] | None = None) -> Callable[[str], bool]:
    """Tells of a sentence whether it is outdated, by all that is known (of some topics) and what was just found."""
    known = [fact for topic in topics for fact in facts.of(topic)] if topics is not None else facts.all()
    over, now = over_and_now(known)
    for distilled in found:
        plan = _planned(facts, distilled)
        over += plan.history
        ended = {name for each in plan.ended.values() for name, _, _ in each}
        over += [fact for fact in now if fact.id in ended]
        now = [fact for fact in now if fact.id not in ended]
        now += [line.add for lines in plan.lines.values() for line in lines if line.add is not None]
    return outdated_by(over, now)


def _planned(facts: Facts, distilled: Distilled) -> Plan:
    """What placing it would do; nothing of it is done."""
    plan = Plan("", 0.0, facts.of, lambda proposal: USER if proposal.topic.casefold() == USER else PROJECT)
    for number, raw in enumerate(distilled.facts):
        proposal = proposal_of(raw)
        if proposal is not None:
            said_at = time_of(proposal.source) if is_id(proposal.source) else 0.0
            ts = said_at + number * 1e-6  # of two in one trace, the second is the later
            plan.take(
                proposal,
                [
                    Witness(
                        proposal.source,
                        "user",
                        proposal.quote,
                        ts,
                        frozenset({reading_of(proposal)}),
                    )
                ],
            )
    return plan
