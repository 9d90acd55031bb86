"""What is held already, as a model that distills is shown it: so that it repeats nothing, and says what has changed.

Pure. First the lines that share the rarest words with the talk: their own, those of their topic, and those in which
they were said; then the slots of one value of the user and the project, for a change of those may share no word with
them.
"""

from __future__ import annotations

from collections import Counter
from math import log

from looseleaf.base.paths import PROJECT, USER
from looseleaf.distill.rules import estimate
from looseleaf.facts.replacing import terms_of
from looseleaf.language.relations import RELATIONS
from looseleaf.language.slots import relation_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from looseleaf.base.values import Fact

TOKENS = 900
"""Room for what is held."""
_BEARING = 0.75
"""The share of it that lines may take which share words with the talk."""
_LABELS = 20
"""Labels of pages that are shown beside those of the table."""
_SELDOM = frozenset(
    {"Gender", "Religion", "Marital status", "Nationality", "Licence", "Hometown", "Trait", "note"}
)
"""Labels that are not worth their tokens: who needs them gives them anyway."""


def held_lines(facts: Iterable[Fact], talk: str, tokens: int = TOKENS) -> list[str]:
    """Lines of what is held that bear on this talk. What agents found is left out: tools brought its words."""
    held = [fact for fact in facts if fact.status == "current" and fact.level != "tainted"]
    terms = [terms_of(f"{fact.topic} {fact.relation} {fact.object} {fact.quote or ''}") for fact in held]
    common = Counter(term for each in terms for term in each)
    said = terms_of(talk)

    def bearing(at: int) -> float:
        return sum(log(1 + len(held) / common[term]) for term in terms[at] & said)

    places = range(len(held))
    near = sorted((at for at in places if bearing(at) > 0), key=lambda at: -bearing(at))
    chosen = _fitting(near, held, int(tokens * _BEARING))
    others = [at for at in places if at not in chosen and _is_slot(held[at])]
    left = tokens - sum(estimate(line_of(held[at])) for at in chosen)
    chosen |= _fitting(others, held, left)
    return [line_of(held[at]) for at in sorted(chosen)]


def _is_slot(fact: Fact) -> bool:
    is_own = fact.topic in (USER, PROJECT) and fact.relation.casefold() != "note"
    return is_own and not relation_of(fact.relation).many


def _fitting(places: Sequence[int], held: Sequence[Fact], tokens: int) -> set[int]:
    chosen: set[int] = set()
    for at in places:
        tokens -= estimate(line_of(held[at]))
        if tokens < 0:
            break
        chosen.add(at)
    return chosen


def line_of(fact: Fact) -> str:
    since = f" ({fact.valid_from[:10]})" if fact.valid_from else ""
    return f"- {fact.topic} · {fact.relation}: {fact.object}{since}"


def labels_in_use(facts: Iterable[Fact]) -> str:
    """The labels that a model is to use where they fit: those of the table, and those that pages have."""
    known = [each.label for each in RELATIONS if each.label not in _SELDOM]
    others = Counter(fact.relation for fact in facts if fact.status == "current" and fact.level != "tainted")
    more = [label for label, _ in others.most_common() if label not in known and label.casefold() != "note"]
    return ", ".join([*known, *more[:_LABELS]])
