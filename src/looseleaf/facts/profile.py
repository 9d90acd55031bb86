"""What is worth a place on USER.md, which is in every prompt: in which order, how many lines, and for how long.

Who the user is stands first, then what every answer must obey, then work, people, tastes, plans, and what happened.
"""

from __future__ import annotations

from looseleaf.language.slots import relation_name
from looseleaf.text.lines import NOTE
from looseleaf.text.patterns import lazy

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from looseleaf.base.values import Fact, Kind

LINES = 40
"""Lines that USER.md holds: what a person reads at a glance, and every prompt can carry."""

PEOPLE = "people"
"""The tag of a line about another person."""

_GROUPS = (
    frozenset("name pronouns home hometown nationality age birthday gender".split()) | {"time zone"},
    frozenset("answers language rule".split()) | {"code language"},
    frozenset("role employer education manager colleague works on".split()) | {"works on"},
    frozenset("diet allergy condition".split()),
    frozenset("partner child sibling parent pet friend".split()) | {"marital status"},
)
_WHO, _RULES, _WORK, _HEALTH, _PEOPLE, _TRAITS, _TASTES, _PLANS, _EVENTS = range(9)
_OF_KINDS: dict[Kind | None, int] = {
    "constraint": _RULES,
    "identity": _WHO,
    "preference": _TASTES,
    "trait": _TRAITS,
    "commitment": _PLANS,
    "decision": _WORK,
    "event": _EVENTS,
}


def group_of(fact: Fact) -> int:
    """The lower, the nearer to the top of the page."""
    name = relation_name(fact.relation)
    for number, names in enumerate(_GROUPS):
        if name in names:
            return number
    if PEOPLE in fact.tags:
        return _PEOPLE
    if fact.relation != NOTE and fact.kind == "identity":
        return _TRAITS
    return _OF_KINDS.get(fact.kind, _TRAITS)


def line_before(fact: Fact, standing: Sequence[Fact]) -> int | None:
    """The line of the first fact that stands lower than this one should; None: it goes behind them all. `standing` are
    the facts of the page, in its order."""
    mine = group_of(fact)
    behind = [other for other in standing if group_of(other) > mine]
    ahead = [other for other in standing if group_of(other) <= mine]
    if not behind or (ahead and (ahead[-1].line or 0) > (behind[-1].line or 0)):
        return None
    first = next(other for other in behind if not ahead or (other.line or 0) > (ahead[-1].line or 0))
    return first.line


_DATE = lazy(r"(?<!\d)([12]\d{3})-(\d\d)(?:-(\d\d))?(?!\d)")


def is_passed(fact: Fact, today: str) -> bool:
    """Whether a plan or a deadline is over: every date that it names is before today (`2026-03-01`)."""
    if fact.kind != "commitment":
        return False
    dates = [f"{year}-{month}-{day or '31'}" for year, month, day in _DATE.findall(fact.object)]
    return bool(dates) and max(dates) < today
