"""The one span of days that a question asks about, from its dates; read for `recall/question_dates.py`.

Imported only if a word promises a date: compiling the patterns takes longer than answering. Reads sides ("before
2024"), ranges, pieces ("late May"), and days counted from a date or from today. Spans are days since 1970, first and
last inclusive, until they are returned as seconds.
"""

from __future__ import annotations

import re
from datetime import date, timedelta

from looseleaf.language import dates as words
from looseleaf.language.dates import found
from looseleaf.recall.when import BARE, COUNTED, DAY, EPOCH, FIRST, LAST, Part, day_after
from looseleaf.text.lines import lazy, one_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from looseleaf.recall.when import Side


# --- dates: drop words that only look like one, add those that are one only in a question ---

_I = re.IGNORECASE
_AHEAD = 0.3
"""For "in two weeks": in a question it is as often a duration."""

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
    """Return the dates that `text` names, in order, without overlaps."""
    text = _LOWER_MONTH.sub(_capitalize_month, text)
    every = [*_read_dates(text, now), *_read_question_dates(text, now)]
    every.sort(key=lambda part: (part.start, -part.end))
    kept: list[Part] = []
    for part in every:
        if not kept or part.start >= kept[-1].end:
            kept.append(part)
    return kept


def _capitalize_month(match: re.Match[str]) -> str:
    before, month = match[0].rsplit(" ", 1)
    return f"{before} {month.capitalize()}"


def _read_dates(text: str, now: float) -> Iterator[Part]:
    for dated in found(text, now, past=True):
        strength = _rate_date(text, dated.start, dated.end)
        if strength:
            part = Part(dated.start, dated.end, days_of(dated.first), days_of(dated.last), strength)
            yield _widen_ago(text, part, int(now // DAY))


def _read_question_dates(text: str, now: float) -> Iterator[Part]:
    """Read what is a date only in a question: "during May", "summer 2021", "the 2023 budget"."""
    today = date.fromordinal(int(now // DAY) + EPOCH)
    for match in _DURING.finditer(text):
        for dated in found(f"in {match[1].capitalize()}", now, past=True):
            start, end = match.span(1)
            if _rate_date(text, start, end):
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
        if 1950 <= year <= today.year + 1 and _read_next_word(text, end) not in _COUNT_NOUNS:
            is_plain = not match[0].lower().startswith(("the", "my", "our", "his", "her", "your"))
            strength = 1.0 if is_plain else BARE
            yield Part(start, end, number_of(date(year, 1, 1)), number_of(date(year, 12, 31)), strength)


def days_of(iso: str) -> int:
    return number_of(date.fromisoformat(iso))


def number_of(day: date) -> int:
    return day.toordinal() - EPOCH


def _read_next_word(text: str, end: int) -> str:
    match = _NEXT_WORD.match(text, end)
    return match[1] if match else ""


def _rate_date(text: str, start: int, end: int) -> float:
    """Return how surely the words from `start` to `end` are a date; 0 if they are none."""
    said, after = text[start:end], text[end : end + 40]
    lowered = said.lower()
    last = _LAST_WORD.search(text, max(0, start - 40), start)
    preposition = last[1].lower() if last else ""
    following = _read_next_word(text, end)
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
            return BARE  # as often the next one
        return 0.9 if _ON.search(text[max(0, start - 20) : start]) else BARE
    if lowered.startswith("on the "):
        return 0.7
    if re.match(r"(?:in|dans|dentro de|en) ", lowered):
        return _AHEAD
    return 1.0


_AGO = lazy(r"\bago$|^(?:vor|hace|il y a) |前$", _I)


def _widen_ago(text: str, part: Part, today: int) -> Part:
    """Widen a count: "two weeks ago" is off by a few days, more the longer ago."""
    if part.first == part.last and _AGO.search(text[part.start : part.end]):
        wide = min((today - part.first) // 7, 14)
        return part._replace(first=part.first - wide, last=min(part.last + wide, today))
    return part


if TYPE_CHECKING:
    Named = tuple[float, float, float, str, Side]
    """First second, second after the last, strength, words, side."""

_MONTH_DAYS = 31
_JOINED_DAYS = 92


def read_span(text: str, now: float) -> Named | None:
    """Return the span that `text` names; None if it names no date."""
    today = int(now // DAY)
    ranged = _read_range(text, now)
    if ranged is not None:
        return _span_of(ranged, text, "in")
    counted = _read_counted_back(text, today)
    if counted is not None:
        return _span_of(counted, text, "in")
    parts = [_narrow_part(text, part) for part in dates_in(text, now)]
    for part in parts:
        side, is_inside = _read_side(text, part)
        if side == "before":
            end = (part.last + 1 if is_inside else part.first) * DAY
            return FIRST, end, part.strength, text[part.start : part.end], side
        if side == "after":
            first = (part.first if is_inside else part.last + 1) * DAY
            last = day_after(now) if first < day_after(now) else LAST
            return first, last, part.strength, text[part.start : part.end], side
    return _span_of(_join_parts(text, parts), text, "in") if parts else None


def _span_of(part: Part, text: str, side: Side) -> Named:
    said = text[part.start : part.end]
    return part.first * DAY, (part.last + 1) * DAY, part.strength, said, side


# --- parts, days counted from a date, sides --------------------------------------------

_PIECE = lazy(
    r"\b(?:(?P<early>early(?: in)?|(?:beginning|start|first half) of|anfang|début|principios de)|"
    r"(?P<mid>mid(?:dle of)?|mitte|mi)|"
    r"(?P<late>late(?: in)?|(?:end|second half) of|ende|fin|finales de)|"
    r"(?:the )?(?P<which>first|last) (?P<count>two |three |few )?(?P<unit>days?|weeks?|weekend) (?:of|in))"
    r"[ -](?:the )?$",
    _I,
)
_COUNTED_FROM = lazy(
    rf"\b(?:(?P<count>{words._NUMBER}|few|several|the) )?(?P<unit>days?|weeks?|months?|weekend|{words._LONG_WEEKDAY}) "
    r"(?P<side>before|after|prior to|following|preceding) (?:the )?$",
    _I,
)
_SIDES: dict[str, tuple[Side, bool]] = {
    **dict.fromkeys(
        "before,prior to,vor,vor dem,avant,avant le,antes de,antes del".split(","), ("before", False)
    ),
    **dict.fromkeys("until,till,by,up to,bis,bis zum,jusqu'en,jusqu'à,hasta".split(","), ("before", True)),
    **dict.fromkeys("after,nach,nach dem,après,après le,después de,después del".split(","), ("after", False)),
    **dict.fromkeys("since,seit,seit dem,ab,depuis,depuis le,desde,desde el".split(","), ("after", True)),
}
_BEFORE_IT = lazy(rf"(?<!\w)({one_of(map(re.escape, _SIDES))})\s+(?:the\s+)?$", _I)
_AFTER_IT = lazy(r"(以前|之前|前に)|(以后|之后|以後|後に)|(以来|以降|から(?!.*まで))")


def _narrow_part(text: str, part: Part) -> Part:
    """Narrow `part` by the words before it: a piece of it, or days counted from it."""
    before = text[max(0, part.start - 40) : part.start]
    piece = _PIECE.search(before)
    length = part.last - part.first + 1
    if piece and length >= 28:
        third = length // 3
        start = part.start - len(before) + piece.start()
        first, last = part.first, part.last
        if piece["which"]:
            count = {"two ": 2, "three ": 3, "few ": 3}.get((piece["count"] or "").lower(), 1)
            wide = count * (1 if piece["unit"].lower().startswith("day") else 7)
            first, last = (
                (first, first + wide - 1) if piece["which"].lower() == "first" else (last - wide + 1, last)
            )
        elif piece["early"]:
            last = first + third
        elif piece["late"]:
            first = last - third
        else:
            first, last = first + third, last - third
        return part._replace(start=start, first=first, last=last)
    counted = _COUNTED_FROM.search(before)
    if counted and length <= 1:
        start = part.start - len(before) + counted.start()
        first, last = _count_from(part.first, counted)
        return part._replace(start=start, first=first, last=last)
    return part


def _count_from(day: int, match: re.Match[str]) -> tuple[int, int]:
    sign = 1 if match["side"].lower() in ("after", "following") else -1
    unit = match["unit"].lower()
    if unit in words.WEEKDAYS or unit == "weekend":
        weekday = words.WEEKDAYS.get(unit, 5)
        # The epoch was a Thursday.
        ahead = (weekday - (day + 3) % 7) % 7
        first = day + (ahead or 7) if sign > 0 else day + ahead - 7
        return first, first + (unit == "weekend")
    wide = {"day": 1, "week": 7, "month": 30}[unit.removesuffix("s")]
    said = (match["count"] or "the").lower()
    if said in ("the", "a", "an", "one"):
        return (day + 1, day + wide) if sign > 0 else (day - wide, day - 1)
    if said in ("few", "several"):
        return tuple(sorted((day + sign * wide * 2, day + sign * wide * 6)))  # type: ignore[return-value]
    count = _count_of(said)
    middle, about = day + sign * count * wide, count * wide // 7
    return middle - about, middle + about


def _read_side(text: str, part: Part) -> tuple[Side, bool]:
    """Return the side of `part` that the question means, and whether `part` itself belongs to it."""
    before = _BEFORE_IT.search(text, max(0, part.start - 24), part.start)
    if before:
        return _SIDES[before[1].lower()]
    after = _AFTER_IT.match(text, part.end)
    if after:
        return ("before", False) if after[1] else ("after", bool(after[3]))
    return "in", True


_RANGE = lazy(
    r"\b(?:between|from|zwischen|von|vom|entre|de|du|desde) (?=\S)(.{1,30}?)"
    r"(?: (?:and|to|until|till|through|und|bis|bis zum|et|à|au|y|a|al|hasta) |\s?[–—-]\s?)(?=\S)(.{1,30})",
    _I,
)
_WIDE_TO = lazy(r"\s*(?:到|至|から|〜|～|和)\s*")
_AND = lazy(r"\s*(?:and|or|und|oder|et|ou|y|o|to|,|&|-|–)\s*(?:on |in |the )*", _I)
_MANY = rf"{words._NUMBER}|few|couple(?: of)?|several|paar"
_BACK_FROM_NOW = lazy(
    rf"\b(?:(?P<in>(?:in|over|during|within) the )?(?:past|last)|(?:in den|den|der|die) (?:letzten|vergangenen)"
    rf"|(?:los|las|en los|en las) (?:últimos|últimas)) (?:(?P<count>{_MANY}) )?(?P<unit>{words._UNIT})\b"
    r"(?! (?:of|in|before|when)\b)"
    rf"|\b(?:les|ces) (?P<count2>{words._NUMBER}) derni(?:ers|ères) (?P<unit2>{words._UNIT})\b"
    r"|(?:过去|最近|近)(?P<count3>[0-9]{1,3}|[一二两三四五六七八九十几])个?(?P<unit3>天|周|星期|月|年)",
    _I,
)
_FEW_AGO = lazy(
    rf"\b(?:a few|several|some) (?P<unit>{words._UNIT}) ago\b"
    rf"|\b(?:vor (?:ein paar|einigen)|il y a quelques|hace (?:unos|unas|algunos|algunas)) (?P<unit2>{words._UNIT})\b"
    r"|[几数](?P<unit3>天|日|周|星期|个月|年)前",
    _I,
)
_UNIT_DAYS = {"day": 1, "week": 7, "month": 30, "year": 365}
_MANY_UNITS = frozenset("weeks months years wochen monaten monate jahren jahre semanas meses años".split())
_FEW = {"few": 4, "several": 5, "paar": 4, "几": 4, "couple": 2, "couple of": 2, "a couple of": 2}


def _count_of(said: str) -> int:
    return _FEW[said] if said in _FEW else int(said) if said.isdigit() else words.NUMBERS[said]


def _read_counted_back(text: str, today: int) -> Part | None:
    """Read "the past two weeks", up to today, and "a few weeks ago"."""
    match = _BACK_FROM_NOW.search(text)
    if match:
        unit = next(filter(None, match.group("unit", "unit2", "unit3"))).lower()
        said = next(filter(None, match.group("count", "count2", "count3")), "").lower()
        wide = _UNIT_DAYS["month" if unit == "月" else words.UNITS[unit]]
        if said:
            return Part(*match.span(), today - _count_of(said) * wide, today, 0.9)
        if words.UNITS[unit] != "day" and unit in _MANY_UNITS:
            return Part(*match.span(), today - 4 * wide, today, BARE)
        # "Last week" alone is the week before this one.
        if unit in ("week", "month", "year") and (match["in"] or "past" in match[0].lower()):
            return Part(*match.span(), today - wide, today, 0.8)
        return None
    match = _FEW_AGO.search(text)
    if match:
        unit = next(filter(None, match.groups()))
        wide = _UNIT_DAYS[words.UNITS[unit.lower()]]
        return Part(*match.span(), today - 6 * wide, today - 2 * wide, COUNTED)
    return None


def _read_range(text: str, now: float) -> Part | None:
    for match in _RANGE.finditer(text):
        last = _read_date_at_start(match[2], now)
        if last is None:
            continue
        said = match[1].removeprefix("the ").removesuffix(",")
        if said.isdigit() and last.first == last.last:
            day = date.fromordinal(last.first + EPOCH)
            if not 1 <= int(said) <= 28:
                continue
            first = last._replace(first=number_of(day.replace(day=int(said))))
        else:
            read_first = _read_date_at_start(said, now)
            if read_first is None or read_first.end < len(said):
                continue
            first = read_first
        return Part(
            match.start(), match.start(2) + last.end, _move_before(first.first, last.last), last.last, 1.0
        )
    return None


def _read_date_at_start(said: str, now: float) -> Part | None:
    """Return the date that `said` begins with, as read after a preposition."""
    for preposition in ("in", "on"):
        for dated in found(f"{preposition} {said[:1].upper()}{said[1:]}", now, past=True):
            start = dated.start - len(preposition) - 1
            if start <= 0 and dated.text[-1:].isalnum():
                return Part(
                    0, dated.end - len(preposition) - 1, days_of(dated.first), days_of(dated.last), 1.0
                )
            break
    return None


def _move_before(first: int, last: int) -> int:
    """Move `first` back by years until it is not after `last`: "from May to July 2023"."""
    if first <= last:
        return first
    day, end = date.fromordinal(first + EPOCH), date.fromordinal(last + EPOCH)
    day = _move_to_year(day, end.year)
    return number_of(day if day <= end else _move_to_year(day, end.year - 1))


def _move_to_year(day: date, year: int) -> date:
    return day.replace(year=year) if (day.month, day.day) != (2, 29) else date(year, 3, 1) - timedelta(1)


def _join_parts(text: str, parts: Sequence[Part]) -> Part:
    """Join dates into one span: their overlap, or both if they are linked and not far apart."""
    one = max(parts, key=lambda part: part.strength)  # of equals the first
    for other in parts:
        if other is one or other.strength < BARE:
            continue
        first, last = max(one.first, other.first), min(one.last, other.last)
        wide, narrow = (one, other) if one.last - one.first > other.last - other.first else (other, one)
        between = text[min(one.end, other.end) : max(one.start, other.start)]
        if first <= last:
            one = one._replace(first=first, last=last)
        elif wide.last - wide.first in (364, 365) and narrow.last - narrow.first < _MONTH_DAYS:
            year = date.fromordinal(wide.first + EPOCH).year
            moved = number_of(_move_to_year(date.fromordinal(narrow.first + EPOCH), year))
            one = narrow._replace(first=moved, last=moved + narrow.last - narrow.first)
        elif _WIDE_TO.fullmatch(between) or (
            _AND.fullmatch(between) and abs(one.first - other.first) <= _JOINED_DAYS
        ):
            first, last = min(one.first, other.first), max(one.last, other.last)
            one = one._replace(
                start=min(one.start, other.start), end=max(one.end, other.end), first=first, last=last
            )
    return one
