"""What is the same fact, and which one is true now (DESIGN §5).

A fact has an address, its slot; likeness never decides that one fact replaces another. `decide` says what becomes of a
new fact beside those that are held, `true_at` which of them hold at a time: every reader goes through it.

Invariants: a lower level never replaces or ends a higher one; what a person rejected does not come back by itself;
what is only alike is neither merged nor added, but put before a person; the order of what is held never matters.
"""

from __future__ import annotations

from collections import Counter
from functools import lru_cache

from looseleaf.core.aliases import ANTONYMS
from looseleaf.core.keys import base_of, key, near, parts_of, same
from looseleaf.core.moments import last_moment, moment
from looseleaf.core.relations import OPPOSITES
from looseleaf.core.slots import relation_name, relation_of, slot
from looseleaf.core.words import fold, is_number
from looseleaf.errors import Refused
from looseleaf.frozen import frozen

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from typing import Literal

    from looseleaf.values import Fact

    Act = Literal["add", "restate", "supersede", "end", "older", "review", "drop"]

__all__ = ["Decision", "decide", "key", "near", "relation_of", "same", "slot", "true_at"]

_RANKS = {"tainted": 0, "inferred": 1, "said": 2, "confirmed": 3}
_WISHES = frozenset({"prefers", "rule"})
"""Relations where a value can be the very opposite of another one."""


@frozen
class Decision:
    """What becomes of a new fact, and which of those held it concerns.

    `add` it; `restate`: that one has one more source; `supersede` those by it; `end` those, it is nothing to hold
    itself; `older`: it was true before those, and is history only; `review`: a person decides; `drop` it.
    """

    act: Act
    facts: tuple[Fact, ...]
    why: str


@frozen
class _Place:
    """Where a fact lives and what it says there. `many`: other values may live beside it.

    A favourite colour and the deadline of one thing live `within` their slot, at an address of their own.
    """

    slot: str
    within: str
    relation: str
    value: str
    key: str
    many: bool


def decide(
    new: Fact,
    held: Sequence[Fact],
    *,
    correction: bool = False,
    was: str | None = None,
    ended: bool = False,
) -> Decision:
    """What becomes of `new`. `held` may hold facts of any slot and status, in any order."""
    place = _place(new)
    here = _at(place.slot, place.within, held)
    current = [(fact, at) for fact, at in here if fact.status == "current"]
    if ended:
        return _ended(new, place, current)
    alike = [fact for fact, at in current if at.key == place.key]
    against = _against(place, current, held, was)
    if alike:
        if any(at.key != place.key and _named(was, at, place.relation) for _, at in current):
            return _replace(new, against, also=alike)
        return Decision("restate", (_best(alike),), "held already")
    waiting = [fact for fact, at in here if fact.status == "pending" and at.key == place.key]
    if waiting:
        return Decision("restate", (_best(waiting),), "held already, and waiting for a person")
    if new.level != "confirmed":  # a person may write again what a person took away
        refused = [fact for fact, at in here if fact.status == "rejected" and at.key == place.key]
        if refused:
            return _refused(new, refused)
    before = [fact for fact, at in here if at.key == place.key and _held_then(new, fact)]
    if before:
        return Decision("restate", (_best(before),), "held at that time already, and no more")
    if _is_past(new):
        return Decision("older", tuple(fact for fact, _ in current), "it was over when it was said")
    if against:
        return _replace(new, against)
    if not current or new.level == "confirmed":
        return Decision("add", (), "nothing like it is held")
    doubtful = tuple(fact for fact, at in current if _doubtful(place, at))
    if not doubtful:
        return Decision("add", (), "nothing like it is held")
    if correction and len(doubtful) == 1:
        return _replace(new, list(doubtful))
    return Decision("review", doubtful, f"much like {_said(doubtful[0])}")


def true_at(facts: Iterable[Fact], when: str | float | None = None) -> list[Fact]:
    """The facts that are true at a time, in the order given.

    Without a time: what is current. A value that is to begin later is (a plan is held now), one that had ended when it
    was recorded is not.

    With one: a fact holds from `valid_from`, or from when it was recorded where it does not say, until just before
    `valid_to`; a date is its first moment in a fact and its last in `when`. That something happened stays true after
    its end. What was superseded held until its end, in a slot of one value at the latest until the next value began;
    without any end it is not known to have held. What a person rejected counts only where an end says that it once
    held; what is pending or forgotten never does. A person may have written two values into a slot of one: both are
    current, and both are given. A fact that stands on two pages of its topic is given once.
    """
    if when is None:
        return _once([fact for fact in facts if fact.status == "current" and not _is_past(fact)])
    at = last_moment(when) if isinstance(when, str) else float(when)
    if at is None:
        raise Refused(
            f"Nothing was read: {when!r} names no time. Give a date (2026-03-05) or a time (2026-03-05T10:00:00Z)."
        )
    everything = list(facts)
    next_starts = _next_starts(everything)
    return _once(
        [fact for number, fact in enumerate(everything) if _holds(fact, at, next_starts.get(number))]
    )


def _once(facts: list[Fact]) -> list[Fact]:
    """Without the second lines of facts that are given too: of two lines, the one at the top of the folder counts."""
    from looseleaf.core.ledger import copy_id  # it asks here what is the same

    often = Counter((fact.topic, fact.relation, fact.object) for fact in facts)
    twice = [fact for fact in facts if often[fact.topic, fact.relation, fact.object] > 1]
    if not twice:
        return facts
    by_name = {fact.id: fact for fact in twice}
    copies = {fact.id: by_name[name] for fact in twice if fact.id and (name := copy_id(fact.id)) in by_name}
    left_out = {copy.id for copy in copies.values()}
    found = [fact for fact in facts if fact.id not in left_out]
    return [_at_the_top(fact, copies[fact.id]) if fact.id in copies else fact for fact in found]


def _at_the_top(fact: Fact, copy: Fact) -> Fact:
    is_better = "/" in (fact.path or "/") and copy.path is not None and "/" not in copy.path
    return fact.but(path=copy.path, line=copy.line) if is_better else fact


def _holds(fact: Fact, at: float, next_start: float | None) -> bool:
    start, end = _start(fact), None if _happened(fact) else moment(fact.valid_to)
    if fact.status == "superseded":
        end = min((time for time in (end, next_start) if time is not None), default=None)
    if fact.status not in ("current", "superseded", "rejected") or (end is None and fact.status != "current"):
        return False
    return (start is None or start <= at) and (end is None or at < end)


def _next_starts(facts: list[Fact]) -> dict[int, float]:
    """Of each fact in a slot of one value, when the next value began there."""
    slots: dict[tuple[str, str], list[tuple[float, int]]] = {}
    for number, fact in enumerate(facts):
        start = _start(fact)
        if start is not None and fact.status in ("current", "superseded") and _may_hold_one(fact):
            place = _place(fact)
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


def _slot(fact: Fact) -> str:
    return _slot_of(fact.topic, fact.relation)


@lru_cache(1024)
def _slot_of(topic: str, relation: str) -> str:
    is_favourite = relation_name(relation).startswith("favorite ")
    return slot(topic, "Favourite" if is_favourite else relation)


def _may_hold_one(fact: Fact) -> bool:
    """Told without making a key. A favourite colour is one, whatever else is a favourite."""
    return not relation_of(fact.relation).many or relation_name(fact.relation) == "favourite"


def _place(fact: Fact) -> _Place:
    return _place_of(fact.topic, fact.relation, fact.object)


@lru_cache(8192)
def _place_of(topic: str, label: str, value: str) -> _Place:
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
    return _Place(_slot_of(topic, label), within, relation, value, made, many)


def _at(where: str, within: str, held: Sequence[Fact]) -> list[tuple[Fact, _Place]]:
    """What is held at an address, in an order of its own. Most facts live elsewhere, and no key is made of them."""
    places = [(fact, _place(fact)) for fact in held if _slot(fact) == where]
    places.sort(key=lambda pair: _order(pair[0]))
    return [(fact, at) for fact, at in places if at.within == within]


def _order(fact: Fact) -> tuple[str, ...]:
    return fact.id or "", fact.relation, fact.object, fact.status, fact.valid_from or "", fact.level or ""


def _against(
    place: _Place, current: list[tuple[Fact, _Place]], held: Sequence[Fact], was: str | None
) -> list[Fact]:
    """The current facts that cannot be true beside it."""
    if not place.many:
        return [fact for fact, at in current if at.key != place.key]
    found = [
        fact
        for fact, at in current
        if at.key != place.key and (_named(was, at, place.relation) or _is_reverse(place, at))
    ]
    base = base_of(place.relation)
    if base in OPPOSITES:
        where = place.slot.removesuffix(base) + OPPOSITES[base]
        # Each of the two has its own words to leave out, so that the value is also read as one of the new relation.
        found += [
            fact
            for fact, at in _at(where, "", held)
            if fact.status == "current"
            and (at.key == place.key or same(at.value, place.value, place.relation))
        ]
    return found


def _named(was: str | None, at: _Place, relation: str) -> bool:
    """Whether `was` is that value, or a part of it that is whole words."""
    if was is None or not was.strip():
        return False
    gone, words = parts_of(key(was, relation)), parts_of(at.key)
    return bool(gone) and (gone <= words or words <= gone)


def _is_reverse(place: _Place, at: _Place) -> bool:
    """`A over B` against `B over A`; `always` against `never`; a wish against its opposite."""
    relation = base_of(place.relation)
    if relation not in _WISHES:
        return False
    words, others = place.key.split(), at.key.split()
    if ("not" in words) != ("not" in others):
        return [word for word in words if word != "not"] == [word for word in others if word != "not"]
    left, over, right = place.key.partition(" over ")
    if over and at.key == f"{right} over {left}":
        return True
    apart, against = set(words) - set(others), set(others) - set(words)
    return len(words) == len(others) and len(apart) == 1 and frozenset(apart | against) in ANTONYMS


def _doubtful(place: _Place, at: _Place) -> bool:
    if not near(place.value, at.value, place.relation):
        return False
    if place.relation in ("event", "appointment"):
        return _dates(place) == _dates(at)
    return True


def _dates(place: _Place) -> set[str]:
    return {word for word in place.key.replace(",", " ").split() if is_number(word) and "-" in word}


def _replace(new: Fact, against: list[Fact], also: Sequence[Fact] = ()) -> Decision:
    """`also`: the same value, held beside what it replaces; the new fact stands for both."""
    if all(_is_older(new, fact) for fact in against):
        return Decision("older", tuple(against), f"{_said(against[0])} is newer")
    if "unverified" in new.tags:
        return Decision(
            "review", tuple(against), f"its words were not found, and it is against {_said(against[0])}"
        )
    everything = (*against, *also)
    above = next((fact for fact in everything if _rank_held(fact) > _rank_new(new)), None)
    if above is not None:
        return Decision("review", everything, _outranked(above))
    if any(_is_older(new, fact) for fact in against):
        return Decision("review", everything, "newer than one of these and older than another")
    return Decision("supersede", everything, f"in place of {_said(against[0])}")


def _ended(new: Fact, place: _Place, current: list[tuple[Fact, _Place]]) -> Decision:
    # "You may use emojis" ends "never use emojis".
    gone = [fact for fact, at in current if at.key == place.key or _is_reverse(place, at)]
    doubtful: list[Fact] = []
    if not gone:
        part = [
            fact for fact, at in current if not place.value.strip() or _named(place.value, at, place.relation)
        ]
        gone, doubtful = ([], part) if place.many else (part, [])
    gone = [fact for fact in gone if not _is_older(new, fact)]
    if gone:
        above = next((fact for fact in gone if _rank_held(fact) > _rank_new(new)), None)
        if above is not None:
            return Decision("review", tuple(gone), _outranked(above))
        if "unverified" in new.tags:
            return Decision(
                "review", tuple(gone), f"its words were not found, and it would end {_said(gone[0])}"
            )
        return Decision("end", tuple(gone), f"{_said(gone[0])} holds no more")
    if doubtful:
        return Decision("review", tuple(doubtful), f"it may be {_said(doubtful[0])} that holds no more")
    return Decision("drop", (), "nothing that is held has ended")


def _refused(new: Fact, refused: list[Fact]) -> Decision:
    """Times that are not known count as not later: nobody is asked the same thing twice."""
    said = _start(new)
    times = [_last(moment(fact.valid_to), fact.recorded_at, fact.entry_ts) for fact in refused]
    if said is not None and all(time is not None and said > time for time in times):
        return Decision("review", tuple(refused), "rejected by a person, and said again since")
    return Decision("drop", tuple(refused), "rejected by a person")


def _last(*times: float | None) -> float | None:
    return next((time for time in times if time is not None), None)


def _start(fact: Fact) -> float | None:
    return _last(moment(fact.valid_from), fact.entry_ts, fact.recorded_at)


def _is_older(new: Fact, fact: Fact) -> bool:
    """Like is compared with like: what the facts say of their beginning, else when they were said."""
    begins, began = moment(new.valid_from), moment(fact.valid_from)
    ends = moment(new.valid_to)
    if ends is not None and began is not None and ends <= began:
        return True
    if begins is None or began is None:
        begins, began = _last(new.entry_ts, new.recorded_at), _last(fact.entry_ts, fact.recorded_at)
    if began is not None and fact.said_at is not None:
        began = max(began, fact.said_at)  # what was said again since is as new as that
    return begins is not None and began is not None and begins < began


def _held_then(new: Fact, fact: Fact) -> bool:
    """Whether the new one was true before the old one ended: heard late, it does not begin anew."""
    start, end = _start(new), moment(fact.valid_to)
    return fact.status == "superseded" and start is not None and end is not None and start < end


def _happened(fact: Fact) -> bool:
    """Whether it is of an event: its end is when that was over, not when it ceased to be true."""
    return fact.status == "current" and (fact.kind == "event" or base_of(fact.relation) == "event")


def _is_past(fact: Fact) -> bool:
    """Whether it had ended when it was said. An end whose side of that is not known counts as past."""
    if _happened(fact):
        return False
    end, said = moment(fact.valid_to), _last(fact.entry_ts, fact.recorded_at)
    return end is not None and (said is None or end <= said)


def _rank_held(fact: Fact) -> int:
    """A line that nothing is known of stands on a page, where a person may have put it."""
    return _RANKS.get(fact.level or "confirmed", 3)


def _rank_new(fact: Fact) -> int:
    return _RANKS.get(fact.level or "said", 0)


def _best(facts: list[Fact]) -> Fact:
    """The highest, and of those the first; `facts` come in their own order."""
    return max(facts, key=_rank_held)


def _outranked(fact: Fact) -> str:
    if _rank_held(fact) == _RANKS["confirmed"]:
        return f"a person wrote {_said(fact)}"
    return f"{_said(fact)} is {fact.level}, which is worth more"


def _said(fact: Fact) -> str:
    return f"“{fact.relation}: {fact.object}”"
