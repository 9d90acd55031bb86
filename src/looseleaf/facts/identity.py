"""Identity: which facts are the same, what becomes of a new fact beside the held ones, and which facts a person names.

A fact has an address, its slot; likeness never decides that one fact replaces another.

Invariants: a lower level never replaces or ends a higher one, it stands beside it. A fact that a person rejected does
not come back by itself. If the user says something that is only alike, it is neither merged nor added: a person
decides. The order of the held facts never matters. `matching` never chooses between equals: it returns every fact that
fits, and the caller asks.
"""

from __future__ import annotations

import re

from looseleaf.base.immutable import frozen
from looseleaf.facts.ledger import address_of, first_known, is_past, slot_of
from looseleaf.facts.said_order import NEVER, is_said_before, seconds_after
from looseleaf.language.relations import OPPOSITES
from looseleaf.language.value_keys import ANTONYMS, base_of, key, near, parts_of, same
from looseleaf.language.words import fold, is_eastern, is_number
from looseleaf.text.lines import NOTE, lazy
from looseleaf.text.times import moment

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from typing import Literal

    from looseleaf.base.values import Fact
    from looseleaf.facts.ledger import Address

    Act = Literal["add", "restate", "supersede", "contest", "end", "doubt", "older", "review", "drop"]


_RANKS = {"tainted": 0, "inferred": 1, "said": 2, "confirmed": 3}
_WISHES = frozenset({"prefers", "rule"})
"""Relations where one value can be the opposite of another."""


@frozen
class Decision:
    """What becomes of a new fact, and which held facts it concerns.

    `add` it; `restate`: the held one gets one more source; `supersede` those by it; `contest`: it stands beside those,
    which rank higher and may no longer hold; `end` those, and hold nothing new; `doubt`: those may have ended; `older`:
    it was true before those, and is only history; `review`: a person decides; `drop` it.
    """

    act: Act
    facts: tuple[Fact, ...]
    why: str


def decide(
    new: Fact,
    held: Sequence[Fact],
    *,
    correction: bool = False,
    was: str | None = None,
    ended: bool = False,
    now: float = NEVER,
) -> Decision:
    """Decide what becomes of `new`. `held` may contain facts of any slot and status, in any order. `now`: the present;
    a later time is a wrong clock's."""
    place = address_of(new)
    here = _facts_at(place.slot, place.within, held)
    current = [(fact, at) for fact, at in here if fact.status == "current"]
    if ended:
        return _decide_ending(new, place, current, now)
    alike = [fact for fact, at in current if at.key == place.key]
    against = _find_conflicts(place, current, held, was)
    if alike:
        if any(at.key != place.key and _is_named(was, at, place.relation) for _, at in current):
            return _decide_replacement(new, against, now, also=alike)
        return Decision("restate", (_pick_best(alike),), "the same is known")
    waiting = [fact for fact, at in here if fact.status == "pending" and at.key == place.key]
    if waiting:
        return Decision("restate", (_pick_best(waiting),), "the same waits for a person")
    if new.level != "confirmed":  # a person may write again what a person removed
        refused = [fact for fact, at in here if fact.status == "rejected" and at.key == place.key]
        if refused:
            return _decide_rejected(new, refused, now)
    before = [fact for fact, at in here if at.key == place.key and _was_true_then(new, fact, now)]
    if before:
        return Decision("restate", (_pick_best(before),), "known of that time, and no longer true")
    if is_past(new):
        return Decision("older", tuple(fact for fact, _ in current), "it was over when it was said")
    if against:
        return _decide_replacement(new, against, now)
    if not current or new.level == "confirmed":
        return Decision("add", (), "nothing like it is held")
    doubtful = tuple(fact for fact, at in current if _is_doubtful(place, at))
    if place.relation == NOTE:  # the user's own words: the same with fewer of them is a repetition
        other = tuple(fact for fact, at in current if _is_other_value(new, place.key, at.key))
        if other and all(_rank_held(fact) <= _rank_new(new) for fact in other):
            return Decision("supersede", other, f"in place of {_quote_fact(other[0])}")
        fuller = [fact for fact, at in current if parts_of(place.key) < parts_of(at.key) and fact in doubtful]
        if fuller:
            return Decision("restate", (_pick_best(fuller),), "the same is known, in more words")
        mine = parts_of(place.key)
        poorer = tuple(fact for fact, at in current if parts_of(at.key) < mine and fact in doubtful)
        if poorer and all(_rank_held(fact) <= _rank_new(new) for fact in poorer):
            return Decision("supersede", poorer, f"in more words than {_quote_fact(poorer[0])}")
        return Decision("add", (), "nothing like it is held")
    if not doubtful or _rank_new(new) < _RANKS["said"]:
        return Decision("add", (), "nothing like it is held")
    if correction and len(doubtful) == 1:
        return _decide_replacement(new, list(doubtful), now)
    return Decision("review", doubtful, f"much like {_quote_fact(doubtful[0])}")


def _facts_at(where: str, within: str, held: Sequence[Fact]) -> list[tuple[Fact, Address]]:
    """Return the facts at an address, in a fixed order. Most facts live elsewhere: no key is made of them."""
    places = [(fact, address_of(fact)) for fact in held if slot_of(fact) == where]
    members = ("id", "relation", "object", "status", "valid_from", "level")
    places.sort(key=lambda pair: [getattr(pair[0], name) or "" for name in members])
    return [(fact, at) for fact, at in places if at.within == within]


def _find_conflicts(
    place: Address, current: list[tuple[Fact, Address]], held: Sequence[Fact], was: str | None
) -> list[Fact]:
    """Return the current facts that cannot be true beside it."""
    if not place.many:
        return [fact for fact, at in current if at.key != place.key]
    others = [(fact, at) for fact, at in current if at.key != place.key]
    found = [fact for fact, at in others if _is_named(was, at, place.relation) or _is_reverse(place, at)]
    base = base_of(place.relation)
    if base in OPPOSITES:
        where = place.slot.removesuffix(base) + OPPOSITES[base]
        there = ((fact, at) for fact, at in _facts_at(where, "", held) if fact.status == "current")
        # Each of the two has its own words to leave out, so read the value as one of the new relation too.
        value, relation = place.value, place.relation
        found += [fact for fact, at in there if at.key == place.key or same(at.value, value, relation)]
    return found


def _is_named(was: str | None, at: Address, relation: str) -> bool:
    """Return True if `was` is that value, or a part of it that is whole words."""
    if was is None or not was.strip():
        return False
    gone, words = parts_of(key(was, relation)), parts_of(at.key)
    return bool(gone) and (gone <= words or words <= gone)


def _is_reverse(place: Address, at: Address) -> bool:
    """Return True for `A over B` against `B over A`, `always` against `never`, a wish against its opposite."""
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


def _is_other_value(new: Fact, key: str, other: str) -> bool:
    """Return True if a note is another with exchanged sides ("tabs over spaces"), or says "now" and one new word."""
    words, others = key.split(), other.split()
    if words == others or abs(len(words) - len(others)) > 1:
        return False
    at = words.index("over") if "over" in words else -1
    if 0 < at < len(words) - 1:
        left, right = words[at - 1], words[at + 1]
        if others == [*words[: at - 1], right, "over", left, *words[at + 2 :]]:
            return True
    if not _NOW.search(new.object):
        return False
    bare, before = ([word for word in each if word not in _NOWS] for each in (words, others))
    apart = [pair for pair in zip(bare, before, strict=False) if pair[0] != pair[1]]
    return len(bare) == len(before) >= _LEAST_FRAME and len(apart) == 1


_NOWS = frozenset("now jetzt inzwischen maintenant désormais ahora agora adesso ora nu tegenwoordig".split())
_NOW = lazy(rf"\b(?:{'|'.join(sorted(_NOWS))})\b", re.IGNORECASE)
_LEAST_FRAME = 3
"""The least number of words, without "now", of which one may be a changed value."""


def _is_doubtful(place: Address, at: Address) -> bool:
    is_dated = place.relation in ("event", "appointment")
    return near(place.value, at.value, place.relation) and (not is_dated or _dates_in(place) == _dates_in(at))


def _dates_in(place: Address) -> set[str]:
    return {word for word in place.key.replace(",", " ").split() if is_number(word) and "-" in word}


def _decide_replacement(new: Fact, against: list[Fact], now: float, also: Sequence[Fact] = ()) -> Decision:
    """Replace `against` by the new fact. `also`: the same value, held beside them; the new fact stands for both."""
    if all(_is_older(new, fact, now) for fact in against):
        return Decision("older", tuple(against), f"{_quote_fact(against[0])} is newer")
    everything = (*against, *also)
    above = next((fact for fact in everything if _rank_held(fact) > _rank_new(new)), None)
    drawn = [fact for fact in everything if fact.level in ("inferred", "tainted")]
    is_guess = len(drawn) == len(everything) and all("unverified" in fact.tags for fact in drawn)
    if new.origin == "mixed" and is_guess:
        above = None  # it rests on the user's words, they only on a conclusion
    if above is not None and _rank_held(above) == _RANKS["confirmed"] and _rank_new(new) > _RANKS["tainted"]:
        return Decision("review", everything, f"a person wrote {_quote_fact(above)}")
    if above is not None:
        whose = above.level or "a person’s"
        return Decision("contest", everything, f"beside {_quote_fact(above)}, which is {whose}")
    if any(_is_older(new, fact, now) for fact in against):
        return Decision("review", everything, "newer than one of these and older than another")
    return Decision("supersede", everything, f"in place of {_quote_fact(against[0])}")


def _decide_ending(new: Fact, place: Address, current: list[tuple[Fact, Address]], now: float) -> Decision:
    # "You may use emojis" ends "never use emojis".
    gone = [fact for fact, at in current if at.key == place.key or _is_reverse(place, at)]
    doubtful: list[Fact] = []
    if not gone:
        said, relation = place.value, place.relation
        part = [fact for fact, at in current if not said.strip() or _is_named(said, at, relation)]
        gone, doubtful = ([], part) if place.many else (part, [])
    gone = [fact for fact in gone if not _is_older(new, fact, now)]
    if gone:
        above = next((fact for fact in gone if _rank_held(fact) > _rank_new(new)), None)
        if above is None:
            return Decision("end", tuple(gone), f"{_quote_fact(gone[0])} no longer holds")
        return _decide_doubt(new, above, tuple(gone))
    if doubtful and _rank_new(new) < _RANKS["said"]:
        return _decide_doubt(new, max(doubtful, key=_rank_held), tuple(doubtful))
    if doubtful:
        return Decision(
            "review", tuple(doubtful), f"it may be {_quote_fact(doubtful[0])} that no longer holds"
        )
    return Decision("drop", (), "nothing that is known has ended")


def _decide_doubt(new: Fact, above: Fact, facts: tuple[Fact, ...]) -> Decision:
    """Decide about facts that a conclusion says have ended: a tool's word changes nothing."""
    if _rank_new(new) == _RANKS["tainted"]:
        return Decision("drop", facts, f"{_quote_fact(above)} is worth more")
    if _rank_held(above) == _RANKS["confirmed"]:
        return Decision("review", facts, f"a person wrote {_quote_fact(above)}")
    return Decision("doubt", facts, f"{_quote_fact(above)} may have ended")


def _decide_rejected(new: Fact, refused: list[Fact], now: float) -> Decision:
    """Decide about a fact that a person rejected. Unknown times count as not later: no question is asked twice."""
    times = [first_known(moment(fact.valid_to), fact.recorded_at, fact.entry_ts) for fact in refused]
    if all((seconds_after(time, new, now) or 0.0) > 0.0 for time in times):
        return Decision("review", tuple(refused), "rejected by a person, and said again since")
    return Decision("drop", tuple(refused), "rejected by a person")


def _is_older(new: Fact, fact: Fact, now: float) -> bool:
    """Return True if the new fact was said before the other, or was over before that began."""
    ends, began = moment(new.valid_to), moment(fact.valid_from)
    return (ends is not None and began is not None and ends <= began) or is_said_before(new, fact, now)


def _was_true_then(new: Fact, fact: Fact, now: float) -> bool:
    """Return True if the new fact was true before the old one ended: heard late, it does not begin again."""
    return fact.status == "superseded" and (seconds_after(moment(fact.valid_to), new, now) or 0.0) < 0.0


def _rank_held(fact: Fact) -> int:
    """Rank a held fact. A line of unknown origin stands on a page, where a person may have put it."""
    return _RANKS.get(fact.level or "confirmed", 3)


def _rank_new(fact: Fact) -> int:
    """Rank a new fact. Without proof in its words it counts as a conclusion."""
    rank = _RANKS.get(fact.level or "said", 0)
    return min(rank, _RANKS["inferred"]) if "unverified" in fact.tags else rank


def _pick_best(facts: list[Fact]) -> Fact:
    """Return the first of the highest rank; `facts` come in their fixed order."""
    return max(facts, key=_rank_held)


def _quote_fact(fact: Fact) -> str:
    return f"“{fact.relation}: {fact.object}”"


# --- the facts that a person names by an id, a place, a relation or words ---------------

STATUSES = ("current", "pending", "superseded", "rejected")
"""In the order in which words name facts."""

_LEAST_PREFIX = 4
"""Characters of an id that name a fact without its `f_`: fewer may well be a word."""

_ID = re.compile(r"f_[0-9a-z]*")
_HEX = re.compile(rf"[0-9a-f]{{{_LEAST_PREFIX},}}")
_PLACE = re.compile(r"[^\n]+\.md:[0-9]{1,7}")


def is_exact(words: str) -> bool:
    """Return whether words can only be an id or a place (`USER.md:5`)."""
    return bool(_ID.fullmatch(words) or _PLACE.fullmatch(words))


def matching(facts: Iterable[Fact], words: str, first: Sequence[str] = STATUSES) -> list[Fact]:
    """Return the facts that words name, in the order given.

    The first of these that fits any fact decides: the id, how an id begins, the place (`USER.md:5`); then, for one
    status after the other, as `first` lists them, the relation, and words that all stand on the line of the fact
    (`topic relation: value`), each at the start of a word.
    """
    every = list(facts)
    wanted = words.strip()
    prefix = f"f_{wanted}" if _HEX.fullmatch(wanted) else wanted
    is_prefix = len(prefix) > 2 and _ID.fullmatch(prefix) is not None
    for found in (
        [fact for fact in every if fact.id in (wanted, f"f_{wanted}")],
        [fact for fact in every if is_prefix and (fact.id or "").startswith(prefix)],
        [fact for fact in every if fact.path is not None and f"{fact.path}:{fact.line}" == wanted],
    ):
        if found:
            return found
    folded = fold(wanted)
    if not folded or is_exact(wanted):
        return []
    # Scripts of East Asia put no space between words.
    starts = [
        re.compile(re.escape(word) if is_eastern(word) else rf"(?<!\w){re.escape(word)}")
        for word in folded.split()
    ]

    def has_words(fact: Fact) -> bool:
        line = fold(f"{fact.topic} {fact.relation}: {fact.object}")
        return all(start.search(line) for start in starts)

    for status in first:
        group = [fact for fact in every if fact.status == status]
        named = [fact for fact in group if fold(fact.relation) == folded]
        if found := named or [fact for fact in group if has_words(fact)]:
            return found
    return []
