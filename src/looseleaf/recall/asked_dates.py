"""The dates of a question: what only looks like one is dropped, what is one only in a question is added.

The verbs may and march, April and June where they are people, Mars, "in 2000 words" are no dates; how surely the rest
are, their strength says. Spans are counted in days since 1970, first and last included.
"""

from __future__ import annotations

import re
from datetime import date

from looseleaf.language import datewords as words
from looseleaf.language.dates import found
from looseleaf.recall.question_dates import BARE, DAY, EPOCH, Part
from looseleaf.text.patterns import lazy

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

_I = re.IGNORECASE
_AHEAD = 0.3
"""Of "in two weeks": in a question it is as often how long a thing took."""

_LOWER_MONTH = lazy(
    r"\b(?:in|since|until|till|during|early|late|mid|en|depuis|avant|après) (?:may|march|mars)\b"
)
_DURING = lazy(rf"\b(?:during|throughout|all|avant|après|vor|nach) ({words._LONG_MONTH})\b(?! [0-9])", _I)
_SEASON = lazy(
    rf"\b(?:(last|this|past) (fall)|(?:the )?({words._any(words._ascii_or_latin(words.SEASONS))}|fall)"
    rf"(?: of| de)? ({words._YEAR}))\b",
    _I,
)
_YEAR_OF = lazy(
    rf"\b(?:the|my|our|his|her|their|your|during|throughout|in early|in mid|in late|avant|après|vor|nach|antes de|"
    rf"después de|im sommer|im winter) ({words._YEAR})\b(?![-/.:,]?[\w])",
    _I,
)
_FRENCH = lazy(
    r"\b(?:je|j['’]|tu|il|elle|nous|vous|qu['’]|que|quoi|quel|quelle|est|ai|avons|fait|dit|où)(?:\b|(?<=['’]))",
    _I,
)
_COUNT_NOUNS = frozenset(
    "words word tokens token characters chars people persons items users dollars euros pounds lines rows steps pieces "
    "bytes ms miles km kilometers meters metres files pages times points calories requests seconds minutes hours "
    "kg grams degrees votes followers copies records wörter wörtern zeichen mots palabras".split()
)
_GO_ON = frozenset(
    "in at on and or to with when did do was were we i he she they about for this last because the a by from if "
    "as until during after before".split()
)
_NAMES = frozenset("april june may august mai jan juni avril abril julio".split())
_FOR_PEOPLE = ("for", "from", "by", "around", "für", "von", "de")
_ENGLISH = ("in", "for", "from", "by", "around", "before", "after", "until", "till", "since", "during")
_NOT_MONTHS = lazy(r"[Tt]his (?:may|march|mars|sun|sat|wed|mar)$")
_SMALL_MONTH = lazy(r"(?<![A-Za-z])(?:may|march|mar|sept|dec)(?![A-Za-z])")
_TITLED_DAY = lazy(r"\b(?:black|good|cyber|freaky|casual|ash|palm|easter|taco|super|fat|bloody|ruby) $", _I)
_HABIT = lazy(r" (?:(?:morning|afternoon|evening|night)s\b|Addams|school)", _I)
_ON = lazy(
    r"\b(?:on|last|this|next|since|by|before|after|until|till|am|seit|bis|el|am letzten|depuis|desde) $", _I
)
_LAST_WORD = lazy(r"(\w+)\W*$")
_NEXT_WORD = lazy(r"\s+([^\W_]+)")


def dates_in(text: str, now: float) -> list[Part]:
    """The dates that `text` names, in their order, none over another."""
    text = _LOWER_MONTH.sub(_capital, text)
    every = [*_found(text, now), *_more(text, now)]
    every.sort(key=lambda part: (part.start, -part.end))
    kept: list[Part] = []
    for part in every:
        if not kept or part.start >= kept[-1].end:
            kept.append(part)
    return kept


def _capital(match: re.Match[str]) -> str:
    before, month = match[0].rsplit(" ", 1)
    return f"{before} {month.capitalize()}"


def _found(text: str, now: float) -> Iterator[Part]:
    for dated in found(text, now, past=True):
        strength = _strength(text, dated.start, dated.end)
        if strength:
            part = Part(dated.start, dated.end, days_of(dated.first), days_of(dated.last), strength)
            yield _about(text, part, int(now // DAY))


def _more(text: str, now: float) -> Iterator[Part]:
    """What is a date only in a question: "during May", "summer 2021", "the 2023 budget"."""
    today = date.fromordinal(int(now // DAY) + EPOCH)
    for match in _DURING.finditer(text):
        for dated in found(f"in {match[1].capitalize()}", now, past=True):
            start, end = match.span(1)
            if _strength(text, start, end):
                yield Part(start, end, days_of(dated.first), days_of(dated.last), 1.0)
    for match in _SEASON.finditer(text):
        season = (match[2] or match[3]).lower()
        month = words.SEASONS["autumn" if season == "fall" else season][0]
        year = (
            int(match[4])
            if match[4]
            else today.year - (today.month < month + (match[1].lower() == "last") * 3)
        )
        first = date(year, month, 1)
        yield Part(*match.span(), number_of(first), number_of(first) + 90, 1.0)
    for match in _YEAR_OF.finditer(text):
        year, (start, end) = int(match[1]), match.span(1)
        if 1950 <= year <= today.year + 1 and _next_word(text, end) not in _COUNT_NOUNS:
            is_plain = not match[0].lower().startswith(("the", "my", "our", "his", "her", "your"))
            strength = 1.0 if is_plain else BARE
            yield Part(start, end, number_of(date(year, 1, 1)), number_of(date(year, 12, 31)), strength)


def days_of(iso: str) -> int:
    return number_of(date.fromisoformat(iso))


def number_of(day: date) -> int:
    return day.toordinal() - EPOCH


def _next_word(text: str, end: int) -> str:
    match = _NEXT_WORD.match(text, end)
    return match[1] if match else ""


def _strength(text: str, start: int, end: int) -> float:
    """How surely the words from `start` to `end` are the date they look like; 0: they are none."""
    said, after = text[start:end], text[end : end + 40]
    lowered = said.lower()
    last = _LAST_WORD.search(text, max(0, start - 40), start)
    preposition = last[1].lower() if last else ""
    following = _next_word(text, end)
    if lowered == "hier":  # German for "here"
        return 1.0 if _FRENCH.search(text) else 0.0
    if _NOT_MONTHS.match(said) or (lowered in ("last week", "last weekend") and following in ("of", "in")):
        return 0.0
    if lowered == "mars" and preposition in _ENGLISH:
        return 0.0  # the planet
    if lowered in _NAMES:
        is_named = following[:1].isupper() and following[1:].islower() and preposition in ("before", "after")
        if preposition in _FOR_PEOPLE or after[:2] in ("'s", "’s") or is_named:
            return 0.0
    if re.search("[0-9]", said):
        if _SMALL_MONTH.search(said) and following and following not in _GO_ON and not following.isdigit():
            return 0.0  # "which of the 2 may be right"
        if following.lower() in _COUNT_NOUNS:
            return 0.0
    if lowered.removeprefix("on ") in words.WEEKDAYS:
        if _TITLED_DAY.search(text[max(0, start - 20) : start]) or _HABIT.match(after):
            return 0.0
        if preposition == "by":
            return BARE  # as often the one to come
        return 0.9 if _ON.search(text[max(0, start - 20) : start]) else BARE
    if lowered.startswith("on the "):
        return 0.7
    if re.match(r"(?:in|dans|dentro de|en) ", lowered):
        return _AHEAD
    return 1.0


_AGO = lazy(r"\bago$|^(?:vor|hace|il y a) |前$", _I)


def _about(text: str, part: Part, today: int) -> Part:
    """Nobody counts weeks to the day: "two weeks ago" is a few days, the more the longer ago."""
    if part.first == part.last and _AGO.search(text[part.start : part.end]):
        wide = min((today - part.first) // 7, 14)
        return part._replace(first=part.first - wide, last=min(part.last + wide, today))
    return part
