"""What a change takes the place of: the lines held that a sentence speaks against, where no slot says so.

A slot has an address; a line in the user's words has none. So what a change names as gone ("not black any more") is
looked for in what is held, and else what shares the subject of the change. What surely goes is superseded or ended;
what only may have changed is marked as doubtful, and is never told as plain truth again.

Pure, and linear in what is held.
"""

from __future__ import annotations

import re
from functools import lru_cache

from looseleaf.core.lazy import lazy
from looseleaf.core.lines import NOTE, undoubted, worded
from looseleaf.core.terms import terms
from looseleaf.frozen import frozen

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from looseleaf.values import Fact

DOUBTFUL = "doubtful"
"""The tag of a fact that may have changed."""


@frozen
class Replaced:
    """Facts that a change takes the place of, and facts that may have changed by it."""

    gone: tuple[Fact, ...] = ()
    doubtful: tuple[Fact, ...] = ()


# --- which lines ------------------------------------------------------------------------

_DIGITS = lazy(r"\d+")
_ALIKE_SHARE = 0.6
_SAME_SHARE = 0.8
_ALIKE_NUMBERS = 0.55


@lru_cache(4096)
def _terms(text: str) -> frozenset[str]:
    return frozenset(terms(undoubted(text)))


def words_of(fact: Fact) -> frozenset[str]:
    return _terms(fact.object if fact.relation == NOTE else f"{fact.relation} {fact.object}")


def naming(words: str, held: Sequence[Fact]) -> list[Fact]:
    """The current facts that have all of these words."""
    wanted = _terms(words)
    return [fact for fact in held if fact.status == "current" and wanted and wanted <= words_of(fact)]


def replaced_by(
    said: str,
    was: str | None,
    held: Sequence[Fact],
    sorts: Callable[[str], frozenset[str]],
    plain: frozenset[str] = frozenset(),
    *,
    is_sure: bool = True,
    is_likely: bool = True,
    is_name: Callable[[str], bool] = bool,
    kind: tuple[str, str | None] | None = None,
) -> Replaced:
    """What a change in these words replaces. `was`: the value it says is gone. `sorts`: what a word is a name of
    (`database`, `editor`); two names of one sort are about the same thing. `plain`: terms too common to link lines.
    `is_sure`: it is certainly a change; else it mostly raises doubts, and lines must share a name, several terms or,
    if `is_likely`, be a slot of the same aspect of life (`about_home`). `kind`: topic and kind of a sure change; if no
    word leads to a line, the only line of that topic and kind is doubted."""
    current = [fact for fact in held if fact.status == "current"]
    mine = _terms(said)
    if was:
        named = [fact for fact in naming(was, current) if not mine - _terms(was) or words_of(fact) != mine]
        is_named = any(map(is_name, _terms(was))) or bool(_named(was, sorts))
        if named and (is_named or not all(fact.relation == NOTE for fact in named)):
            return Replaced(tuple(_nearest(named, mine)))
        if named:  # "I left the clinic": what else is said of a clinic may hold
            return Replaced((), tuple(_nearest(named, mine)))
    same_sort, same_aspect = _of_same_sort(said, current, sorts)
    if same_sort and is_sure:
        return Replaced(tuple(same_sort)) if len(same_sort) == 1 else Replaced((), tuple(same_sort))
    found: list[tuple[float, Fact]] = [(0.5, fact) for fact in same_sort]
    if is_sure:
        found += [(0.4, fact) for fact in same_aspect[:1]]
    elif is_likely:
        found += [(0.4, fact) for fact in same_aspect[:_MOST] if _ASPECTS.get(fact.relation)]
    common = _common(current)
    for fact in current:
        theirs = words_of(fact)
        shared = {
            term
            for term in mine & theirs
            if term not in plain and not term.isdigit() and len(term) > 2 - (term > "~")
        }
        if shared and theirs != mine and (is_sure or len(shared) > 1 or any(map(is_name, shared))):
            found.append((sum(1 / common.get(term, 1) for term in shared), fact))
    found = [(weight, fact) for weight, fact in found if weight >= _LEAST]
    if not found:
        alike = [fact for fact in current if kind is not None and (fact.topic, fact.kind) == kind]
        return Replaced((), tuple(alike)) if len(alike) == 1 else Replaced()
    best = max(weight for weight, _ in found)
    nearest = list(dict.fromkeys(fact for weight, fact in found if weight >= 0.7 * best))
    nearest = nearest[: _MOST if is_sure else 2 if is_likely else 1]
    if (
        len(nearest) == 1
        and _has_number(said)
        and _has_number(nearest[0].object)
        and _is_same_but_numbers(mine, words_of(nearest[0]), _ALIKE_NUMBERS if is_likely else _SAME_SHARE)
    ):
        return Replaced(tuple(nearest))
    if (
        is_sure
        and len(nearest) == 1
        and len(words_of(nearest[0]) & mine) >= _ALIKE_SHARE * len(words_of(nearest[0]))
    ):
        return Replaced(tuple(nearest))
    return Replaced((), tuple(nearest))


_SHARED = frozenset({"weekday", "month", "season", "condition"})
"""Sorts of which many names hold at once: two of them are no change."""


_LEAST = 0.3
"""What the shared terms of two lines must weigh, each less the more lines have it."""
_MOST = 3


def _nearest(named: list[Fact], mine: frozenset[str]) -> list[Fact]:
    """All that name it, if they are few; else those that share most with the change."""
    if len(named) <= 3:
        return named
    best = max(len(words_of(fact) & mine) for fact in named)
    return [fact for fact in named if len(words_of(fact) & mine) == best][:3]


def _of_same_sort(
    said: str, held: Sequence[Fact], sorts: Callable[[str], frozenset[str]]
) -> tuple[list[Fact], list[Fact]]:
    """Facts that name another thing of the same sort, and nothing that the change names of it; and facts that are about
    the same aspect of life, the nearest first."""
    mine = _named(said, sorts)
    named: list[Fact] = []
    about: list[tuple[int, Fact]] = []
    for fact in held:
        theirs = _named(worded(fact.relation, fact.object), sorts)
        if aspect := _ASPECTS.get(fact.relation):
            theirs = theirs | {aspect: theirs.get(aspect, set()) | {fact.object}}
        shared = mine.keys() & theirs.keys()
        others = [sort for sort in shared if not sort.startswith(ABOUT) and sort not in _SHARED]
        if any(mine[sort].isdisjoint(theirs[sort]) for sort in others):
            named.append(fact)
        elif aspects := [sort for sort in shared if sort.startswith(ABOUT)]:
            about.append((sum(len(mine[sort]) + len(theirs[sort]) for sort in aspects), fact))
    about.sort(key=lambda pair: -pair[0])
    return named, [fact for _, fact in about]


_ASPECTS = {
    "Home": "about_home",
    "Employer": "about_job",
    "Role": "about_job",
    "Partner": "about_partner",
    "Diet": "about_diet",
}
"""The aspect of life that a slot is of."""

ABOUT = "about_"
"""How the sorts begin that are no names of things but words of an aspect of life."""

_WIDE = lazy(r"[\u3041-\u30ff\u3400-\u9fff\uac00-\ud7af]")


def _named(text: str, sorts: Callable[[str], frozenset[str]]) -> dict[str, set[str]]:
    return _named_in(undoubted(text).lower(), sorts)


@lru_cache(2048)
def _named_in(text: str, sorts: Callable[[str], frozenset[str]]) -> dict[str, set[str]]:
    found: dict[str, set[str]] = {}
    words = re.findall(r"[\w.+#&/'-]*[\w+#]", text)
    if _WIDE.search(text):
        for size in range(1, 7):
            for at in range(len(text) - size + 1):
                for sort in sorts(text[at : at + size]):
                    found.setdefault(sort, set()).add(text[at : at + size])
        return found
    for size in (1, 2, 3):
        for at in range(len(words) - size + 1):
            name = " ".join(words[at : at + size])
            for sort in sorts(name):
                found.setdefault(sort, set()).add(name)
    return found


def _is_same_but_numbers(mine: frozenset[str], theirs: frozenset[str], share: float) -> bool:
    """Whether two lines say the same with other numbers: two ports of two programs are no change."""
    first, second = ({term for term in each if not _has_number(term)} for each in (mine, theirs))
    return len(first & second) >= share * max(min(len(first), len(second)), 1)


def _has_number(text: str) -> bool:
    return _DIGITS.search(text) is not None


def _common(held: Sequence[Fact]) -> dict[str, int]:
    """In how many facts each term stands."""
    counts: dict[str, int] = {}
    for fact in held:
        for term in words_of(fact):
            counts[term] = counts.get(term, 0) + 1
    return counts


# --- a part of a line --------------------------------------------------------------------

_CLAUSE = lazy(
    r"(?<=[,;])\s|\s[-–—]\s|(?<=[，；、])|\s(?:and|but|und|aber|et|mais|y|pero|e|mas|ma|en|maar)\s",
    re.IGNORECASE,
)


def without(said: str, is_gone: Callable[[str], bool]) -> str:
    """A line of several clauses without those that are gone; nothing, where none is left that says anything."""
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
    return kept if gone and any(len(_terms(part)) > 1 for part in parts) else ""


def saying(words: str) -> Callable[[str], bool]:
    """Whether a clause has all of these words."""
    wanted = _terms(words)
    return lambda clause: bool(wanted) and wanted <= _terms(clause)


def is_told_with(fact: Fact, doubtful: Sequence[Fact], said: str) -> bool:
    """Whether a fact and a doubtful one come from the same words: a note that says the doubtful value, or a value
    from the doubtful note that the change names."""
    for each in doubtful:
        if each.quote != fact.quote or each is fact:
            continue
        slot, note = (each, fact) if fact.relation == NOTE else (fact, each)
        if slot.relation != NOTE and note.relation == NOTE:
            return slot.object.casefold() in (note.object if fact is note else said).casefold()
    return False
