"""Wording: a line in the user's own words. Which clauses of a sentence it needs, which words around them add nothing,
and its dates."""

from __future__ import annotations

import re

from looseleaf.distill.selector import clauses_of, is_aside
from looseleaf.language.dates import found as dates_in
from looseleaf.language.sentences import is_decision
from looseleaf.language.tables import pattern_of
from looseleaf.text.patterns import lazy

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from looseleaf.distill.slot_tables import Reading
    from looseleaf.language.dates import Dated

NOTE_CHARS = 280
"""A line in the user's words is cut at a clause before it gets longer."""

ASIDE = 0.4
SURELY_ASIDE = 0.9
"""From this chance on, a clause stands only beside a statement: a request, for example."""

_MOST_CLAUSES = 8


def kept_part(said: str, slots: Sequence[Reading], *, whole: bool) -> tuple[int, int] | None:
    """Return the clauses worth keeping that no slot covers; None if nothing is left."""
    places = clauses_of(said)
    if not 1 < len(places) <= _MOST_CLAUSES:
        left = not slots or _says_more(said, 0, len(said), slots)
        return (0, len(said)) if left else None
    kept = [True] * len(places)
    if not whole:
        beside = [is_aside(said, places, number) for number in range(len(places))]
        # A clause with a number in it says something: it goes only if that is all but certain.
        bars = [SURELY_ASIDE if any(map(str.isdigit, said[first:last])) else ASIDE for first, last in places]
        kept = [chance < bar for chance, bar in zip(beside, bars, strict=True)]
        if not any(kept):
            kept[beside.index(min(beside))] = True
    open_ones = [
        at
        for at, (first, last) in enumerate(places)
        if kept[at] and (not slots or _says_more(said, first, last, slots))
    ]
    if not open_ones:
        return None
    begin, end = open_ones[0], open_ones[-1]
    if begin == end == 0 and _REASON.match(said):  # "Because …, we chose …"
        end = 1
    if begin:
        before = said[slice(*places[begin - 1])]
        # The clause before says whom it is about, or what it is the reason for.
        if _RELATIVE.match(said, places[begin][0]) or (
            _REASON.match(said, places[begin][0]) and (kept[begin - 1] or is_decision(before))
        ):
            begin -= 1
    return places[begin][0], places[end][1]


_RELATIVE = pattern_of("wording", "relative", re.IGNORECASE)
_REASON = pattern_of("wording", "reason", re.IGNORECASE)


def _says_more(said: str, first: int, last: int, slots: Sequence[Reading]) -> bool:
    """Return True if a clause has telling words that no slot covers."""
    from looseleaf.language.terms import terms

    left = said[first:last]
    for each in sorted(slots, key=lambda one: one.start, reverse=True):
        start, end = max(each.start - first, 0), max(each.end - first, 0)
        left = left[:start] + " " + left[end:]
    return any(
        len(term) > 2 or not term.isascii() for term in terms(_FILLERS.sub(" ", left)) if term not in _NOTHING
    )


_NOTHING = frozenset(
    "btw lol haha tho though ok okay so hey hi hello please pls thanks thank fyi fwiw just actually also now "
    "anymore any more still already currently anymor".split()
)
_LEAD = pattern_of("wording", "lead", re.IGNORECASE)
_TAIL = pattern_of("wording", "tail", re.IGNORECASE)
_FILLERS = pattern_of("wording", "fillers", re.IGNORECASE)
LEANS = pattern_of("wording", "leans", re.IGNORECASE)


def trim_line(line: str) -> str:
    """Return a line without the words and marks around a statement that add nothing."""
    lead = _LEAD.match(line)
    kept = line[lead.end() :] if lead and len(line) - lead.end() >= 6 else line
    tail = _TAIL.search(kept)
    if tail and tail.start() >= 6:
        kept = kept[: tail.start()]
    kept = kept.strip(" ,;:~…—–-。，、")
    if kept.count("(") != kept.count(")"):
        kept = kept.strip("()") if kept.count("(") + kept.count(")") == 1 else kept
    return " ".join(kept.rstrip(".").split())


def clip_line(line: str) -> str:
    """Cut a line at a clause if it is too long."""
    if len(line) <= NOTE_CHARS:
        return line
    whole = [last for _, last in clauses_of(line) if 40 <= last <= NOTE_CHARS]
    return line[: whole[-1]] if whole else line[:NOTE_CHARS].rpartition(" ")[0] or line[:NOTE_CHARS]


AHEAD = pattern_of("wording", "ahead", re.IGNORECASE)
_ANY_DAY = pattern_of("wording", "any day", re.IGNORECASE)
_BEFORE_A_DAY = pattern_of("wording", "before a day", re.IGNORECASE)


def _is_one_day(line: str, date: Dated) -> bool:
    """Return True if a time can be written as a date: "never on a Friday" and "the Friday matinee" name none, and
    German "hier" is not yesterday."""
    if _ANY_DAY.search(line, 0, date.start) or line[date.end : date.end + 2].strip() in ("s", "'s"):
        return False
    if not date.text.isalpha() or not date.text.isascii():
        return True
    if date.text.casefold() == "hier":
        return _FRENCH.search(line) is not None
    return date.text.casefold() in _ALONE or _BEFORE_A_DAY.search(line, 0, date.start) is not None


_FRENCH = lazy(r"\b(?:je|j'|nous|on|le|la|les|est|avons|ai|suis)\b", re.IGNORECASE)
_ALONE = frozenset(
    "yesterday today tomorrow tonight heute gestern morgen aujourd ayer hoy ontem hoje ieri oggi domani gisteren "
    "vandaag".split()
)
"""Words that mean a day by themselves."""

PAST = pattern_of("wording", "past", re.IGNORECASE)
"""Words about the past: only with them, a day without a year is the last one before."""


def add_dates(line: str, ts: float, *, past: bool) -> str:
    """Add the date after each time that would mean another on another day."""
    parts: list[str] = []
    at = 0
    for date in dates_in(line, ts, past=past):
        if date.is_relative and _is_one_day(line, date) and date.written.casefold() not in line.casefold():
            parts += [line[at : date.end], f" [{date.written}]"]
            at = date.end
    made = "".join((*parts, line[at:]))
    return made if len(made) <= NOTE_CHARS + 20 else line
