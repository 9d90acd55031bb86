"""Frames: words around a thing that reverse its meaning. A sentence may name a thing only to forbid it, undo it,
leave it out, or allow it on a condition.

Decided by words alone, in six languages, on spelled text (`clauses.spelled`), each pattern in linear time. A frame
found too often makes a fact wait for a person; a missed one turns a prohibition into a rule.
"""

from __future__ import annotations

from bisect import bisect_left

from looseleaf.language.tables import pattern_of
from looseleaf.text.patterns import lazy

TYPE_CHECKING = False
if TYPE_CHECKING:
    import re
    from collections.abc import Iterator, Sequence

# --- denied ----------------------------------------------------------------------

_NEGATIVE = pattern_of("clauses", "not")
_FORBIDDING = pattern_of("clauses", "forbids")
_TWICE = pattern_of("clauses", "twisted")

# --- left out ---------------------------------------------------------------------

_EXCEPT = pattern_of("clauses", "except")
"""The words after it are left out."""
_RATHER = pattern_of("clauses", "rather")
"""Of two things the other is wanted."""


def marked(sentence: str) -> str:
    """Return the sentence, at the same length, with marks before what it leaves out and what it wants less."""

    def leave_out(found: re.Match[str]) -> str:
        of = found["of"] or ""
        return of + "∖" * (len(found[0]) - len(of))

    def want_less(found: re.Match[str]) -> str:
        before, than = (each for each in found.groups() if each is not None)
        return before + "¬" * len(than)

    return _RATHER.sub(want_less, _EXCEPT.sub(leave_out, sentence))


# --- clauses -------------------------------------------------------------------------------

_ALONE = pattern_of("clauses", "alone")
"""A clause that only denies: the one before it, or the one that follows it if it comes first."""
_SAYS_OF_IT = pattern_of("clauses", "says of it")
"""A clause that says of the one before it that it is forbidden."""
_IS = pattern_of("clauses", "is")
_AND_IS = pattern_of("clauses", "and is")
_INTRODUCES = pattern_of("clauses", "introduces")
_GOES_ON = pattern_of("clauses", "goes on")
_TO_DO = lazy(r"\W{0,3}[^,;:.]{0,80}\bzu [^\W\d_]+en\b")
_FEW = 24


def polarity(parts: Sequence[str]) -> list[int]:
    """Return how often each clause reverses its meaning: never, once, or twice ("never refuse")."""
    made = [
        2 if _TWICE.search(part) else int(bool(_NEGATIVE.search(part) or _FORBIDDING.search(part)))
        for part in parts
    ]
    for at, part in enumerate(parts):
        if not made[at]:
            continue
        if len(part) < 3 * _FEW and _ALONE.fullmatch(part):
            to = at - 1 if at else 1
        elif at and (_SAYS_OF_IT.match(part) or _denies_back(parts[at - 1], part)):
            to = at - 1
        elif at + 1 < len(parts) and _leads_on(part, parts[at + 1]):
            to = at + 1
        else:
            continue
        if to < len(parts):
            made[to] = made[to] or made[at]
    return made


def _denies_back(before: str, part: str) -> bool:
    """Return whether its "not" is that of the verb before it: "tabs are not wanted" denies the tabs."""
    before = before[-_FEW:]
    return part.startswith("not ") and _IS.search(before) is not None and not _AND_IS.search(before)


def _leads_on(part: str, following: str) -> bool:
    """Return whether the next clause says what a clause denies."""
    if following.lstrip()[:1] in (":", "："):
        forbids = len(part) < _FEW and _FORBIDDING.search(part)
        return bool(forbids or _INTRODUCES.search(part[-_FEW:]))
    if following[:1] not in (",", "，", "、") or not _FORBIDDING.search(part):
        return False
    return _GOES_ON.search(part[-_FEW:]) is not None or _TO_DO.match(following) is not None


# --- conditions ----------------------------------------------------------------------------

_MERE_TALK = pattern_of("clauses", "mere talk")
_BOUND = pattern_of("clauses", "bound")
"""`behind`: it follows what it binds."""
_ENDS = lazy(r"[,，、;:；：]|\b(?:then|dann|alors|entonces)\b|先|请|請")
_COMMA = lazy("[，、,]")
_LEADS = lazy(r"[\W_]*(?:(?:and|also|please|but|always|so|bitte|und|et|y) )*")
_ASKS_LEAVE = pattern_of("clauses", "asks leave")


class Condition:
    """One condition of a sentence: its kind, its place, and the stretch of its words."""

    __slots__ = ("at", "kind", "start", "stop")

    def __init__(self, kind: str, at: int, start: int, stop: int) -> None:
        self.kind, self.at, self.start, self.stop = kind, at, start, stop

    def holds(self, place: int) -> bool:
        return self.start <= place < self.stop


def conditions(part: str, offset: int = 0) -> Iterator[Condition]:
    """Yield the conditions of a clause that begins at an offset."""
    bare = _MERE_TALK.sub(lambda found: "·" * len(found[0]), part)
    ends = [*(found.start() for found in _ENDS.finditer(bare)), len(bare)]
    commas = [-1, *(found.start() for found in _COMMA.finditer(bare))]
    for found in _BOUND.finditer(bare):
        kind = found.lastgroup or ""
        start, stop = found.start(), found.end()
        if kind == LEAVE:
            start, stop = 0, len(bare)
        elif kind == "behind":
            start = commas[bisect_left(commas, start) - 1] + 1
        else:
            stop = ends[bisect_left(ends, stop)]
        yield Condition(kind, offset + found.start(), offset + start, offset + stop)


def lead(part: str) -> int:
    """Return where the content of a clause begins."""
    found = _LEADS.match(part)
    return found.end() if found else 0


def asks_leave(sentence: str) -> bool:
    return _ASKS_LEAVE.search(sentence) is not None


KINDS = frozenset("without except before until unless only provided leave behind".split())
"""The groups of `_BOUND`."""
LEAVE = "leave"
"""The condition that someone agrees, anywhere in a clause."""
DENYING = frozenset({"without", "except"})
"""Conditions whose own words are denied."""
OF_TIME = frozenset({"before", "until", "behind"})
"""Conditions that may only say when."""
