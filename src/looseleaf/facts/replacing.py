"""Replacing: the held lines that a change contradicts, where no slot decides it.

A slot has an address; a line in the user's words has none. So each held line that shares a word, a sort of thing or an
aspect of life with the change gets a chance of being its target. The weights behind it are trained on later messages of
real people (`training/links.py`). Lines that surely go are superseded or ended; lines that may have changed are marked
as doubtful, and shown with that mark until the user repeats them.

Pure. Linear in the number of lines, except for sorting.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections import Counter
from functools import lru_cache
from math import exp, log

from looseleaf.base.immutable import frozen
from looseleaf.language.terms import terms
from looseleaf.text.lines import NOTE, undoubted, worded
from looseleaf.text.patterns import NEVER, lazy

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from looseleaf.base.values import Fact, Kind

    Signs = dict[str, float]

PLAIN = 0.3
LIKELY = 0.5
SURE = 0.7
"""At or above these chances of being a change, a sentence plainly, likely, or surely tells of one."""

GONE = 0.75
DOUBT = 0.1
"""At or above these chances of being a change's target, a line goes, or is doubted."""


@frozen
class Replacement:
    """A sentence that may tell of a change. `was`: the value that it says is gone; `is_ending`: it says nothing else;
    `is_of_others`: it is about another person."""

    said: str
    chance: float
    was: str | None = None
    topic: str = ""
    kind: Kind | None = None
    is_ending: bool = False
    is_of_others: bool = False


@frozen
class Lexicon:
    """Knowledge of words. `sorts`: the sorts of thing that a word names (`database`, `editor`); two names of one sort
    are about the same thing; `plain`: terms too common to link lines; `weights`: of the signs that a change is about a
    line. For orders to forget (`facts/erasing.py`): `matters`, the aspects and private matters that a word reveals;
    `erasing`, the weights of the signs."""

    sorts: Callable[[str], frozenset[str]]
    plain: frozenset[str]
    is_name: Callable[[str], bool]
    weights: Mapping[str, float]
    matters: Callable[[str], frozenset[str]]
    erasing: Mapping[str, float]


@frozen
class Replaced:
    """Facts that a change replaces, and facts that it may have changed."""

    gone: tuple[Fact, ...] = ()
    doubtful: tuple[Fact, ...] = ()


@lru_cache(4096)
def terms_of(text: str) -> frozenset[str]:
    return frozenset(terms(undoubted(text)))


def words_of(fact: Fact) -> frozenset[str]:
    return terms_of(fact.object if fact.relation == NOTE else f"{fact.relation} {fact.object}")


def facts_naming(words: str, held: Sequence[Fact]) -> list[Fact]:
    """Return the current facts that have all of these words."""
    wanted = terms_of(words)
    return [fact for fact in held if fact.status == "current" and wanted and wanted <= words_of(fact)]


def replaced_by(change: Replacement, held: Sequence[Fact], lexicon: Lexicon) -> Replaced:
    """Return the facts that a change replaces, and those that it casts doubt on."""
    current = [fact for fact in held if fact.status == "current"]
    if change.was and (change.is_ending or change.chance >= PLAIN):
        mine, was = terms_of(change.said), terms_of(change.was)
        named = [fact for fact in facts_naming(change.was, current) if fact.relation not in _LASTING]
        named = [fact for fact in named if not mine - was or words_of(fact) != mine]
        is_named = any(map(lexicon.is_name, was)) or bool(_sorts_in(change.was, lexicon.sorts))
        near = _pick_nearest(named, mine)
        # "I left the clinic": other facts about a clinic may hold. And "my brother is not vegan any more" does not
        # touch the user's own diet.
        gone = [fact for fact in near if (is_named if fact.relation == NOTE else not change.is_of_others)]
        if near:
            return Replaced(tuple(gone), tuple(fact for fact in near if fact not in gone))
    # News of a partner or an employer, by name, does not end them.
    found = [
        (chance_of(signs, lexicon.weights), fact)
        for fact, signs in links(change, current, lexicon)
        if not signs["value named"] or change.chance >= LIKELY
    ]
    found.sort(key=lambda pair: -pair[0])
    likely = [(chance, fact) for chance, fact in found if chance >= DOUBT][:_MOST]
    if not found and change.kind is not None and change.chance >= SURE:
        # No word leads to a line. If just one has the same topic and kind, that one is doubted.
        alike = [fact for fact in current if (fact.topic, fact.kind) == (change.topic, change.kind)]
        return Replaced((), tuple(alike)) if len(alike) == 1 else Replaced()
    gone = [fact for chance, fact in likely if chance >= GONE and _may_go(fact)]
    return Replaced(tuple(gone), tuple(fact for _, fact in likely if fact not in gone))


def _may_go(fact: Fact) -> bool:
    """Return True if a line says one thing. The rest of a line of several clauses may hold. A slot goes only by another
    value or an ending: nothing here knows whose change it is."""
    return fact.relation == NOTE and _CLAUSE.search(undoubted(fact.object)) is None


_LASTING = frozenset({"Name", "Pronouns", "Birthday", "Gender", "Nationality", "Hometown"})
"""Slots that talk about something else never casts doubt on."""

_MOST = 3
"""The most lines that one sentence can contradict."""


def _pick_nearest(named: list[Fact], mine: frozenset[str]) -> list[Fact]:
    """Return all that name it, if they are few; else those that share most with the change."""
    if len(named) <= _MOST:
        return named
    best = max(len(words_of(fact) & mine) for fact in named)
    return [fact for fact in named if len(words_of(fact) & mine) == best][:_MOST]


# --- the signs that a line is meant --------------------------------------------------------


def links(change: Replacement, held: Sequence[Fact], lexicon: Lexicon) -> Iterator[tuple[Fact, Signs]]:
    """Yield each line that has a link to a change, with the signs that the change is about it."""
    common = line_counts(map(words_of, held))
    most = log(len(held) + 1)
    mine, names = terms_of(change.said), _sorts_in(change.said, lexicon.sorts)
    was = terms_of(change.was) if change.was else frozenset()

    def telling(words: frozenset[str]) -> set[str]:
        known = (term for term in words if term not in lexicon.plain)
        return {term for term in known if not term.isdigit() and len(term) > 2 - (term > "~")}

    told = telling(mine)
    weighed: list[tuple[float, Fact, set[str], int, int, int]] = []
    for fact in held:
        if fact.relation in _LASTING:
            continue
        shared = told & words_of(fact)
        others, days, aspects = _count_sorts(fact, names, lexicon.sorts)
        if shared or others or days or aspects or (was and was <= words_of(fact)):
            rare = sum(1 - log(common[term]) / most for term in shared)
            weighed.append((rare, fact, shared, others, days, aspects))
    margin = margin_of(change.chance)
    ranked = sorted(-rare for rare, *_ in weighed)
    for rare, fact, shared, others, days, aspects in weighed:
        theirs = words_of(fact)
        better = bisect_left(ranked, -rare - 1e-9)
        yield (
            fact,
            {
                "bias": 1.0,
                "change": margin,
                "shared": min(rare, 3.0),
                "change × shared": margin * min(rare, 3.0),
                "names": min(sum(map(lexicon.is_name, shared)), 2),
                "share of line": len(shared) / max(len(telling(theirs)), 1),
                "share of change": len(shared) / max(len(told), 1),
                "best": float(not better and rare > 0),
                "better ones": min(better, 4),
                "linked ones": min(len(weighed), 10),
                "numbers": float(any(map(has_number, mine)) and any(map(has_number, theirs))),
                "other day": min(days, 2) * rare,
                "other of its sort": min(others, 2),
                "same aspect": min(aspects, 2),
                "named as gone": float(bool(was) and was <= theirs),
                "value named": float(fact.relation != NOTE and terms_of(fact.object) <= mine),
                "plan": float(change.kind == "commitment"),
                "event": float(change.kind == "event"),
                "question": float(change.said.rstrip().endswith(("?", "？"))),
                "length": log(len(change.said) + 1),
                "length of line": log(len(undoubted(fact.object)) + 1),
            },
        )


def margin_of(chance: float) -> float:
    """Return the log-odds, within the range seen in training."""
    chance = min(max(chance, 0.001), 0.95)
    return log(chance / (1 - chance))


def chance_of(signs: Mapping[str, float], weights: Mapping[str, float]) -> float:
    return 1 / (1 + exp(-sum(weights[name] * sign for name, sign in signs.items())))


def _count_sorts(
    fact: Fact, mine: dict[str, set[str]], sorts: Callable[[str], frozenset[str]]
) -> tuple[int, int, int]:
    """Return three counts: sorts of which line and change name different things; the same for sorts that can hold
    several names at once (days, months); and aspects of life that both are about."""
    if not mine:
        return 0, 0, 0
    theirs = _sorts_in(worded(fact.relation, fact.object), sorts)
    if aspect := _ASPECTS.get(fact.relation):
        theirs = theirs | {aspect: theirs.get(aspect, set()) | {fact.object}}
    both = mine.keys() & theirs.keys()
    others = [sort for sort in both if not sort.startswith(ABOUT) and mine[sort].isdisjoint(theirs[sort])]
    days = sum(sort in _COEXISTING for sort in others)
    return len(others) - days, days, sum(sort.startswith(ABOUT) for sort in both)


_COEXISTING = frozenset({"weekday", "month", "season", "condition"})
"""Sorts of which many names hold at once: two of them alone are no change."""

_ASPECTS = {
    "Home": "about_home",
    "Employer": "about_job",
    "Role": "about_job",
    "Partner": "about_partner",
    "Diet": "about_diet",
}
"""The aspect of life that a slot belongs to."""

ABOUT = "about_"
"""The prefix of sorts that stand for an aspect of life, not for names of things."""

WIDE = lazy(r"[\u3041-\u30ff\u3400-\u9fff\uac00-\ud7af]", in_ascii=NEVER)
"""A character of a script with few or no spaces between words."""


def aspects_of(text: str, sorts: Callable[[str], frozenset[str]]) -> frozenset[str]:
    """Return the aspects of life that a text is about."""
    return frozenset(sort for sort in _sorts_in(text, sorts) if sort.startswith(ABOUT))


def _sorts_in(text: str, sorts: Callable[[str], frozenset[str]]) -> dict[str, set[str]]:
    return _sorts_in_text(undoubted(text).lower(), sorts)


@lru_cache(2048)
def _sorts_in_text(text: str, sorts: Callable[[str], frozenset[str]]) -> dict[str, set[str]]:
    found: dict[str, set[str]] = {}
    is_wide = WIDE.search(text) is not None
    words = text if is_wide else re.findall(r"[\w.+#&/'-]*[\w+#]", text)
    for size in range(1, 7 if is_wide else 4):
        for at in range(len(words) - size + 1):
            name = ("" if is_wide else " ").join(words[at : at + size])
            for sort in sorts(name):
                found.setdefault(sort, set()).add(name)
    return found


def has_number(text: str) -> bool:
    return any(map(str.isdigit, text))


def line_counts(lines: Iterable[frozenset[str]]) -> dict[str, int]:
    """Count the lines that have each term."""
    return Counter(term for line in lines for term in line)


_CLAUSE = lazy(
    r"(?<=[,;])\s|\s[-–—]\s|(?<=[，；、])|\s(?:and|but|und|aber|et|mais|y|pero|e|mas|ma|en|maar)\s",
    re.IGNORECASE,
)


def cut_clauses(said: str, is_gone: Callable[[str], bool]) -> str:
    """Return a line without the clauses that are gone. Empty if none is gone, or if the rest says nothing."""
    said = undoubted(said)
    parts: list[str] = []
    at = gone = 0
    for end, behind in (*(joint.span() for joint in _CLAUSE.finditer(said)), (len(said), len(said))):
        clause = said[at:end].strip(" ,;，；、")
        if clause and is_gone(clause):
            gone += 1
        elif clause:
            parts.append(clause)
        at = behind
    kept = ", ".join(parts)
    return kept if gone and any(len(terms_of(part)) > 1 for part in parts) else ""


def words_test(words: str) -> Callable[[str], bool]:
    """Return a test for clauses that have all of these words."""
    wanted = terms_of(words)
    return lambda clause: bool(wanted) and wanted <= terms_of(clause)


def is_from_same_words(fact: Fact, doubtful: Sequence[Fact], said: str) -> bool:
    """Return True if a fact and a doubtful one come from the same words: a note with the doubtful value, or a value
    from the doubtful note that the change names."""
    for each in doubtful:
        if each.quote != fact.quote or each is fact:
            continue
        slot, note = (each, fact) if fact.relation == NOTE else (fact, each)
        if slot.relation != NOTE and note.relation == NOTE:
            return slot.object.casefold() in (note.object if fact is note else said).casefold()
    return False
