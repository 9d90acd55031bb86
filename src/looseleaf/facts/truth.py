"""Truth: which facts are true, now or at a time. Every reader goes through `true_at`.

What is true now follows from the facts themselves. What was true at a time depends on their neighbors too, by their
addresses.
"""

from __future__ import annotations

from collections import Counter
from functools import lru_cache

from looseleaf.base.errors import Invalid
from looseleaf.base.immutable import frozen
from looseleaf.language.relations import relation_name, relation_of, slot
from looseleaf.language.value_keys import base_of, key
from looseleaf.language.words import fold, is_number
from looseleaf.text.times import last_moment, moment

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from looseleaf.base.values import Fact


@frozen
class Address:
    """Where a fact lives, and its value there: every comparison of facts uses it. `many`: other values may live beside
    it.

    A favorite color and the deadline of one thing live `within` their slot, at an address of their own.
    """

    slot: str
    within: str
    relation: str
    value: str
    key: str
    many: bool


def slot_of(fact: Fact) -> str:
    return _slot_name(fact.topic, fact.relation)


@lru_cache(1024)
def _slot_name(topic: str, relation: str) -> str:
    is_favourite = relation_name(relation).startswith("favorite ")
    return slot(topic, "Favourite" if is_favourite else relation)


def address_of(fact: Fact) -> Address:
    return _make_address(fact.topic, fact.relation, fact.object)


@lru_cache(8192)
def _make_address(topic: str, label: str, value: str) -> Address:
    relation, many = relation_name(label), relation_of(label).many
    within = ""
    if relation == "favourite" and ":" in value:
        thing, _, value = value.partition(":")
        relation, many = relation_name(f"favourite {thing.strip()}"), False
    elif relation == "pet" and (species := fold(label)) in ("dog", "cat"):
        value = f"{value} ({species})"  # the label says it
    made = key(value, relation)
    if relation.startswith("favorite "):
        within = relation
    elif relation == "deadline":
        within = " ".join(word for word in made.split() if not is_number(word))
    return Address(_slot_name(topic, label), within, relation, value, made, many)


def true_at(facts: Iterable[Fact], when: str | float | None = None) -> list[Fact]:
    """Return the facts that are true at a time, in the order given.

    Without a time: the current ones. That includes values that begin later (a plan is held now), but not those that had
    ended when they were recorded.

    With one: a fact holds from `valid_from`, or else from its recording, until just before `valid_to`. A date means its
    first moment in a fact and its last in `when`. An event stays true after its end. A superseded fact held until its
    end and, in a slot of one value, at the latest until the next value began; without any end it is not known to have
    held. A rejected fact counts only where an end says that it once held; pending and forgotten facts never do. A
    person may have written two values into a slot of one: both are current, and both are returned. A fact on two pages
    of its topic is returned once.
    """
    if when is None:
        return _drop_copies([fact for fact in facts if fact.status == "current" and not is_past(fact)])
    at = last_moment(when) if isinstance(when, str) else float(when)
    if at is None:
        raise Invalid(f"{when!r} is not a time. Give a date (2026-03-05) or a time (2026-03-05T10:00:00Z).")
    everything = list(facts)
    next_starts = _next_starts(everything)
    return _drop_copies(
        [fact for number, fact in enumerate(everything) if _is_true_at(fact, at, next_starts.get(number))]
    )


def _drop_copies(facts: list[Fact]) -> list[Fact]:
    """Drop the second lines of facts: of two lines, the one at the top of the folder counts."""
    often = Counter((fact.topic, fact.relation, fact.object) for fact in facts)
    twice = [fact for fact in facts if often[fact.topic, fact.relation, fact.object] > 1]
    if not twice:
        return facts
    from looseleaf.facts.ledger import copy_id  # loaded late: most readers have no two alike

    by_name = {fact.id: fact for fact in twice}
    copies = {fact.id: by_name[name] for fact in twice if fact.id and (name := copy_id(fact.id)) in by_name}
    left_out = {copy.id for copy in copies.values()}

    def at_top(fact: Fact) -> Fact:
        copy = copies.get(fact.id or "")
        is_better = copy is not None and "/" in (fact.path or "/") and "/" not in (copy.path or "/")
        return fact.but(path=copy.path, line=copy.line) if copy and is_better else fact

    return [at_top(fact) for fact in facts if fact.id not in left_out]


def _is_true_at(fact: Fact, at: float, next_start: float | None) -> bool:
    start = start_of(fact)
    end = moment(fact.valid_to) if not _is_event(fact) else None
    if fact.status == "superseded":
        end = min((time for time in (end, next_start) if time is not None), default=None)
    if fact.status not in ("current", "superseded", "rejected") or (end is None and fact.status != "current"):
        return False
    return (start is None or start <= at) and (end is None or at < end)


def _next_starts(facts: list[Fact]) -> dict[int, float]:
    """Return, for each fact in a slot of one value, when the next value began there."""
    slots: dict[tuple[str, str], list[tuple[float, int]]] = {}
    for number, fact in enumerate(facts):
        start = start_of(fact)
        # Checked first, since it makes no key: a favorite color has one value, whatever else is a favorite.
        may_hold_one = not relation_of(fact.relation).many or relation_name(fact.relation) == "favourite"
        if start is not None and fact.status in ("current", "superseded") and may_hold_one:
            place = address_of(fact)
            if not place.many:
                slots.setdefault((place.slot, place.within), []).append((start, number))
    starts: dict[int, float] = {}
    for values in slots.values():
        values.sort(reverse=True)
        later: float | None = None
        for at, (start, number) in enumerate(values):
            if at and values[at - 1][0] > start:
                later = values[at - 1][0]
            if later is not None:
                starts[number] = later
    return starts


def first_known(*times: float | None) -> float | None:
    return next((time for time in times if time is not None), None)


def start_of(fact: Fact) -> float | None:
    return first_known(moment(fact.valid_from), fact.entry_ts, fact.recorded_at)


def _is_event(fact: Fact) -> bool:
    """Return True if it is an event: its end is when that was over, not when it ceased to be true."""
    return fact.status == "current" and (fact.kind == "event" or base_of(fact.relation) == "event")


def is_past(fact: Fact) -> bool:
    """Return True if it had ended when it was said. If that is unknown, an end counts as past."""
    end, said = moment(fact.valid_to), first_known(fact.entry_ts, fact.recorded_at)
    return end is not None and (said is None or end <= said) and not _is_event(fact)
