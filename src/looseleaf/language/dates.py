"""Dates in text: their places, and the days they mean at the time of speaking.

How ambiguous words are read:

- A bare weekday ("on Friday") is the first one after today; with `past`, the last one before it. "This Friday" and
  "coming Friday" may be today.
- "Next Friday" is the Friday of the next calendar week (weeks begin on Monday), as 下周五 and 来週の金曜日 say
  explicitly. In French and Spanish ("vendredi prochain", "el próximo viernes") it is the first one after today.
- "Last Friday" is the last one before today. A month or a day without a year is the next one; with `past`, or with
  "last", the last one before this month, or before today. So is a day without a month ("on the 12th").
- "In two weeks" is a day, "in two months" that whole month, "in two years" that whole year. A season has three
  months, as in the north. A weekend is its Saturday and Sunday.

Days are those of UTC. Time is linear in the text; a date that does not exist is no date.
"""

from __future__ import annotations

import re
from functools import cache

from looseleaf.base.immutable import frozen
from looseleaf.language.tables import read_rows
from looseleaf.text.lines import NEVER, lazy, one_of
from looseleaf.text.times import MONTH_NAMES

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from datetime import date

    Span = tuple[date, date]
    Read = Callable[[re.Match[str], date, bool], Span | None]


# --- words (`date_words.txt`) and the patterns made of them ---


def may_name_date(text: str) -> bool:
    """Return whether a text has a digit or a word of dates; most sentences have neither, so no pattern is compiled."""
    if not text.isascii() and max(text) >= "\u2e80":
        return True  # scripts without spaces: words have no bounds
    return not _telling_words().isdisjoint(_WORD.findall(text.casefold()))


_WORD = lazy(r"[^\W\d_]+|[0-9]")


@cache
def _telling_words() -> frozenset[str]:
    """Return the longest part of each word for a day, month, season or span of time, and the digits."""
    every = (*WEEKDAYS, *MONTHS, *SEASONS, *UNITS, *DAYS, "morgen", "mañana")
    parts = (_WORD.findall(word.casefold()) for word in every if word[0] < "\u2e80")
    return frozenset({*map(str, range(10)), *(max(part, key=len) for part in parts)})


def _read_numbered(section: str) -> dict[str, int]:
    """Return the words of a section whose rows begin with a number: {word: number}."""
    rows = read_rows("date_words", section)
    return {word.replace("_", " "): int(number) for number, words in rows.items() for word in words}


WEEKDAYS = {
    word: day for day, words in enumerate(read_rows("date_words", "weekdays").values()) for word in words
}
MONTHS = {word: month for month, words in enumerate(MONTH_NAMES, 1) for word in words.split()}
NUMBERS = _read_numbered("numbers")
UNITS = {
    word.replace("_", " "): unit for unit, words in read_rows("date_words", "units").items() for word in words
}
SEASONS = {
    word: (int(first), words[0])
    for first, words in read_rows("date_words", "seasons").items()
    for word in words
}
_PREFIXED = _read_numbered("signs before")
_POSTFIXED = _read_numbered("signs after")
SIGNS = _PREFIXED | _POSTFIXED
DAYS = _read_numbered("days")
SPANS = {
    word: (row.split()[0], int(row.split()[1]))
    for row, words in read_rows("date_words", "spans").items()
    for word in words
}


def _any(words: Iterable[str]) -> str:
    return one_of(map(re.escape, words))


def _ascii_or_latin(words: Iterable[str]) -> list[str]:
    return [word for word in words if word[0] < "\u2e80"]


_WIDE_WEEKDAYS = "一二三四五六日天"
_WEEKDAY = _any(_ascii_or_latin(WEEKDAYS))
_LONG_WEEKDAY = _any(word for word in _ascii_or_latin(WEEKDAYS) if len(word) > 4)
_MONTH = _any(_ascii_or_latin(MONTHS))
_LONG_MONTH = _any(word for word in _ascii_or_latin(MONTHS) if len(word) > 3 or word in ("may", "mai"))
_UNIT = _any(word for word in _ascii_or_latin(UNITS) if UNITS[word] != "weekend")
_THING = _any(
    {
        *_ascii_or_latin(WEEKDAYS),
        *_ascii_or_latin(MONTHS),
        *_ascii_or_latin(SEASONS),
        *(word for word in _ascii_or_latin(UNITS) if word not in ("an", "day", "jour", "tag")),
    }
)
_NUMBER = rf"[0-9]{{1,3}}|a couple of|(?:{_any(_ascii_or_latin(NUMBERS))})"
_WIDE_NUMBER = r"(?:[0-9]{1,3}|十[一二]?|[一二两三四五六七八九])"
_YEAR = r"(?:19|20)[0-9]{2}"
_I = re.IGNORECASE

ISO = lazy(r"(?<![\w-])([0-9]{4})-([0-9]{2})(?:-([0-9]{2}))?(?![\w-])")
DAY_WORD = lazy(
    rf"\b(?:{_any(word for word in DAYS if word[0] < '⺀')})\b"
    # The German and the Spanish word also mean the morning.
    r"|(?<!\bguten )(?<!\bam )(?<!\bjeden )\b(?-i:morgen)\b|(?<!\bla )(?<!\bcada )(?<!\besta )\bmañana\b",
    _I,
)
WIDE_DAY = lazy(_any(word for word in DAYS if word[0] >= "⺀"), in_ascii=NEVER)
SIGNED = lazy(rf"\b(?:(?:el|la) )?({_any(_PREFIXED)}) ({_THING})\b", _I)
SIGNED_AFTER = lazy(rf"\b(?:(?:el|la|le) |l')?({_THING}) ({_any(_POSTFIXED)})\b", _I)
AHEAD = lazy(rf"\b(?:in|dans|dentro de|en) (?:about )?({_NUMBER}) ({_UNIT})\b(?! ago)", _I)
FROM_NOW = lazy(rf"\b({_NUMBER}) ({_UNIT}) from (?:now|today)\b", _I)
BACK = lazy(rf"\b(?:about )?({_NUMBER}) ({_UNIT}) ago\b", _I)
BACK_BEFORE = lazy(rf"\b(?:vor|hace|il y a) (?:etwa |unos )?({_NUMBER}) ({_UNIT})\b", _I)
MONTH_DAY = lazy(rf"\b({_MONTH})\.? (?:the )?([0-9]{{1,2}})(?:st|nd|rd|th)?\b(?!:)(?:,? ({_YEAR})\b)?", _I)
DAY_MONTH = lazy(
    rf"(?<![0-9]-[0-9]{{2}}-)(?<!\b[0-9]{{4}}-)\b(?:the )?([0-9]{{1,2}})(?:st|nd|rd|th|er|\.)? (?:of |de )?({_MONTH})\b"
    rf"(?:\.?,?(?: de| of)? ({_YEAR})\b)?",
    _I,
)
DAY_ALONE = lazy(
    r"\bon the ([0-9]{1,2})(?:st|nd|rd|th)\b(?! (?!at\b|in the (?:morning|evening|afternoon)|and\b|or\b|"
    r"so\b|but\b|for\b|"
    r"with\b|from\b|then\b)[a-z])",
    _I,
)
MONTH_YEAR = lazy(rf"\b({_LONG_MONTH})(?: de| of|,)? ({_YEAR})\b", _I)
IN_MONTH = lazy(
    r"\b(?:in|since|by|until|till|before|after|im|seit|bis|ab|en|depuis|desde|around|early|late|mid|from|"
    r"for)"
    rf" (?:early |late |mid-?)?({_LONG_MONTH})\b(?! [0-9])",
    _I,
)
IN_YEAR = lazy(
    r"\b(?:in|since|from|until|till|by|before|after|around|seit|im jahr|depuis|desde|en|bis|ab) "
    rf"({_YEAR})\b(?![-/.:]\w)",
    _I,
)
WEEKDAY = lazy(
    rf"(?<!\bevery )(?<!\beach )(?<!\bjeden )(?<!\bcada )(?<!\blos )(?<!\bchaque )(?<!\ble )(?<!\w-)"
    rf"\b(?:({_LONG_WEEKDAY})|(?:(?<=on )|(?<=by ))({_WEEKDAY}))\b(?!s\b)(?!-)",
    _I,
)
WIDE_WEEK_DAY = lazy(
    rf"(下下|下个?|上个?|这个?|本|来|先|今)?(?:周|星期|礼拜|週)(?:の)?([{_WIDE_WEEKDAYS}]|[月火水木金土日]曜日?)"
    r"|([月火水木金土日])曜日",
    in_ascii=NEVER,
)
WIDE_WEEK = lazy(
    r"(下下|下个?|上个?|这个?|本|来|先|今)(周末|週末|周|星期|礼拜|週)(?![一二三四五六日天]|の[月火水木金土日]曜)",
    in_ascii=NEVER,
)
WIDE_SPAN = lazy(_any(SPANS), in_ascii=NEVER)
WIDE_SHIFT = lazy(
    rf"({_WIDE_NUMBER})(天|日|周|週間|星期|个星期|个月|個月|ヶ月|か月|カ月|年)(之?后|以后|後|之?前|以前)",
    in_ascii=NEVER,
)
WIDE_DATE = lazy(
    r"(?:((?:19|20)[0-9]{2})年|(今年|明年|来年|去年|昨年)の?)?([0-9]{1,2})月(?:([0-9]{1,2})[日号])?|((?:19|20)[0-9]{2})年",
    in_ascii=NEVER,
)


@frozen
class Dated:
    """A date in a text, from `start` to `end`: all days from `first` to `last`, as ISO dates.

    `is_relative`: the words mean another day when spoken on another day.
    """

    start: int
    end: int
    first: str
    last: str
    text: str
    is_relative: bool = False

    @property
    def written(self) -> str:
        """The date as text, independent of the time of speaking: a day, month, year, or the first day of another
        span."""
        if self.first == self.last:
            return self.first
        if self.first[4:] == "-01-01" and self.last[4:] == "-12-31":
            return self.first[:4]
        if self.first[:7] == self.last[:7] and self.first.endswith("-01") and self.last[8:] >= "28":
            return self.first[:7]
        for season, (first, name) in SEASONS.items():
            if season == name and self.first[5:] == f"{first:02d}-01" and self.first[:7] != self.last[:7]:
                return f"{name} {self.first[:4]}"
        from datetime import date

        is_weekend = date.fromisoformat(self.first).weekday() == 5
        return f"the {'weekend' if is_weekend else 'week'} of {self.first}"


def found(text: str, ts: float, *, past: bool = False) -> list[Dated]:
    """Return the dates in `text`, spoken at `ts`, in order; of two that overlap, the earlier and longer one."""
    from datetime import UTC, datetime

    try:
        today = datetime.fromtimestamp(ts, UTC).date()
    except (OverflowError, ValueError, OSError):
        return []
    every = sorted(_read_dates(text, today, past), key=lambda dated: (dated.start, -dated.end))
    kept: list[Dated] = []
    for dated in every:
        if not kept or dated.start >= kept[-1].end:
            kept.append(dated)
    return kept


def absolute(text: str, ts: float, *, past: bool = False) -> str:
    """Return `text` with relative dates made absolute: a day, `2026-03`, `2026`, "the week of" its Monday."""
    parts: list[str] = []
    end = 0
    for dated in found(text, ts, past=past):
        if dated.is_relative:
            parts += [text[end : dated.start], dated.written]
            end = dated.end
    return "".join((*parts, text[end:]))


def _read_dates(text: str, today: date, past: bool) -> Iterator[Dated]:
    if not may_name_date(text):
        return
    for pattern, read, is_relative in _READERS:
        for match in pattern.finditer(text):
            try:
                span = read(match, today, past)
            except (ValueError, OverflowError, KeyError):  # KeyError: İ and ſ match letters that no word has
                continue
            if span is not None:
                group = match.lastindex if pattern in _ONLY_GROUP and match.lastindex else 0
                start, end = match.span(group)
                # A named year makes a day absolute.
                has_year = any(group and len(group) == 4 and group.isdigit() for group in match.groups())
                relative = is_relative and not (pattern in _MAY_NAME_YEAR and has_year)
                first, last = (day.isoformat() for day in span)
                yield Dated(start, end, first, last, text[start:end], relative)


# --- days, months, years ---------------------------------------------------------------


def _day_span(year: int, month: int, day: int) -> Span:
    from datetime import date

    made = date(year, month, day)
    return made, made


def _month_span(year: int, month: int) -> Span:
    """Return the days of a month; months may run past the end of the year."""
    from datetime import date

    year, month = year + (month - 1) // 12, (month - 1) % 12 + 1
    after = date(year + month // 12, month % 12 + 1, 1)
    return date(year, month, 1), _add_days(after, -1)


def _year_span(year: int) -> Span:
    from datetime import date

    return date(year, 1, 1), date(year, 12, 31)


def _add_days(day: date, count: int) -> date:
    from datetime import timedelta

    return day + timedelta(count)


def _shift_span(today: date, unit: str, count: int) -> Span:
    if unit in ("day", "week"):
        day = _add_days(today, count * (7 if unit == "week" else 1))
        return day, day
    if unit == "month":
        return _month_span(today.year, today.month + count)
    return _year_span(today.year + count)


def _week_span(today: date, sign: int, unit: str = "week") -> Span:
    monday = _add_days(today, 7 * sign - today.weekday())
    return (monday if unit == "week" else _add_days(monday, 5)), _add_days(monday, 6)


def _weekday_span(today: date, weekday: int, sign: int, past: bool = False) -> Span:
    """Return the day of a weekday. `sign` is the week: next, this, last; 2 is a bare weekday, which is never today."""
    ahead = (weekday - today.weekday()) % 7
    day = _add_days(today, ahead - 7 if past else ahead or 7 * (sign == 2))
    return day, day


def _weekday_of_week(today: date, weekday: int, sign: int) -> Span:
    day = _add_days(today, 7 * sign + weekday - today.weekday())
    return day, day


def _nearest_month_span(today: date, month: int, sign: int, past: bool) -> Span:
    """Return the month meant. Next: the first after this month; last: the last before it; bare: this month counts
    too."""
    year = today.year
    if sign == -1 or (past and sign != 1):
        year -= month > today.month or (month == today.month and sign == -1)
    else:
        year += month < today.month or (month == today.month and sign == 1)
    return _month_span(year, month)


def _nearest_day_span(today: date, month: int, day: int, past: bool) -> Span:
    for year in (today.year, today.year - 1) if past else range(today.year, today.year + 5):
        try:
            made = _day_span(year, month, day)
        except ValueError:
            continue
        if made[0] <= today if past else made[0] >= today:
            return made
    raise ValueError("no such day")


# --- readings --------------------------------------------------------------------------


def _read_iso(match: re.Match[str], *_: object) -> Span:
    year, month, day = match.groups()
    return _day_span(int(year), int(month), int(day)) if day else _month_span(int(year), int(month))


_FIRST_TO_COME = ("pro", "pró", "que viene", "qui vient")


def _read_signed(match: re.Match[str], today: date, past: bool) -> Span | None:
    one, two = match[1].lower(), match[2].lower()
    sign, thing = (SIGNS[one], two) if one in SIGNS else (SIGNS[two], one)
    if thing in WEEKDAYS:
        weekday = WEEKDAYS[thing]
        if sign == -1:
            return _weekday_span(today, weekday, sign, past=True)
        if sign == 1 and (one if one in SIGNS else two).startswith(_FIRST_TO_COME):
            return _weekday_span(today, weekday, 2)
        return _weekday_of_week(today, weekday, 1) if sign == 1 else _weekday_span(today, weekday, 0)
    if thing in MONTHS:
        return _nearest_month_span(today, MONTHS[thing], sign, past)
    if thing in SEASONS:
        first = _nearest_month_span(today, SEASONS[thing][0], sign, past)[0]
        return first, _month_span(first.year, first.month + 2)[1]
    unit = UNITS[thing]
    if unit in ("week", "weekend"):
        return _week_span(today, sign, unit)
    return _shift_span(today, unit, sign) if unit != "day" else None


def _count_of(number: str) -> int:
    number = number.lower()
    if number == "a couple of":
        return 2
    return int(number) if number.isdigit() else NUMBERS[number]


def _read_shift(match: re.Match[str], today: date, sign: int) -> Span:
    return _shift_span(today, UNITS[match[2].lower()], sign * _count_of(match[1]))


def _read_month_day(match: re.Match[str], today: date, past: bool) -> Span:
    one, two, year = match.groups()
    month, day = (one, two) if two.isdigit() else (two, one)
    number = MONTHS[month.lower()]
    if year:
        return _day_span(int(year), number, int(day))
    return _nearest_day_span(today, number, int(day), past)


def _read_day_alone(match: re.Match[str], today: date, past: bool) -> Span | None:
    """Return that day of this month, or of one next to it."""
    for months in (0, -1, -2) if past else (0, 1, 2):
        first = _month_span(today.year, today.month + months)[0]
        try:
            made = _day_span(first.year, first.month, int(match[1]))
        except ValueError:
            continue
        if made[0] <= today if past else made[0] >= today:
            return made
    return None


_SINCE = ("since", "seit", "depuis", "desde", "sinds", "da ")
"""Words before a time that has begun, whatever the tense says."""


def _read_in_month(match: re.Match[str], today: date, past: bool) -> Span | None:
    if match[1] in ("may", "march", "mars"):
        return None  # the verbs, and the planet
    return _nearest_month_span(
        today, MONTHS[match[1].lower()], 0, past or match[0].lower().startswith(_SINCE)
    )


def _read_weekday(match: re.Match[str], today: date, past: bool) -> Span:
    return _weekday_span(today, WEEKDAYS[(match[1] or match[2]).lower()], 2, past)


_WIDE_SIGNS = {"下下": 2, "下": 1, "下个": 1, "来": 1, "上": -1, "上个": -1, "先": -1}


def _read_wide_weekday(match: re.Match[str], today: date, past: bool) -> Span:
    week, day, bare = match.groups()
    weekday = WEEKDAYS[(day or bare)[0]]
    if week is None:
        return _weekday_span(today, weekday, 2, past)
    return _weekday_of_week(today, weekday, _WIDE_SIGNS.get(week, 0))


def _read_wide_week(match: re.Match[str], today: date, past: bool) -> Span:
    return _week_span(today, _WIDE_SIGNS.get(match[1], 0), "weekend" if match[2].endswith("末") else "week")


def _read_wide_shift(match: re.Match[str], today: date, past: bool) -> Span:
    unit = UNITS[match[2].removeprefix("个") if match[2] == "个星期" else match[2]]
    return _shift_span(today, unit, _count_of(match[1]) * (-1 if match[3].endswith("前") else 1))


def _read_wide_date(match: re.Match[str], today: date, past: bool) -> Span:
    year, near, month, day, alone = match.groups()
    if alone:
        return _year_span(int(alone))
    number = int(month)
    if not 1 <= number <= 12:
        raise ValueError("no such month")
    if near:
        year = str(today.year + SPANS[near][1])
    if year:
        return _day_span(int(year), number, int(day)) if day else _month_span(int(year), number)
    if day:
        return _nearest_day_span(today, number, int(day), past)
    return _nearest_month_span(today, number, 0, past)


_READERS: tuple[tuple[re.Pattern[str], Read, bool], ...] = (
    (ISO, _read_iso, False),
    (DAY_WORD, lambda match, today, _: _shift_span(today, "day", DAYS.get(match[0].lower(), 1)), True),
    (WIDE_DAY, lambda match, today, _: _shift_span(today, "day", DAYS[match[0]]), True),
    (SIGNED, _read_signed, True),
    (SIGNED_AFTER, _read_signed, True),
    (AHEAD, lambda match, today, _: _read_shift(match, today, 1), True),
    (FROM_NOW, lambda match, today, _: _read_shift(match, today, 1), True),
    (BACK, lambda match, today, _: _read_shift(match, today, -1), True),
    (BACK_BEFORE, lambda match, today, _: _read_shift(match, today, -1), True),
    (MONTH_DAY, _read_month_day, True),
    (DAY_MONTH, _read_month_day, True),
    (DAY_ALONE, _read_day_alone, True),
    (MONTH_YEAR, lambda match, *_: _month_span(int(match[2]), MONTHS[match[1].lower()]), False),
    (IN_MONTH, _read_in_month, True),
    (IN_YEAR, lambda match, *_: _year_span(int(match[1])), False),
    (WEEKDAY, _read_weekday, True),
    (WIDE_WEEK_DAY, _read_wide_weekday, True),
    (WIDE_WEEK, _read_wide_week, True),
    (WIDE_SPAN, lambda match, today, _: _shift_span(today, *SPANS[match[0]]), True),
    (WIDE_SHIFT, _read_wide_shift, True),
    (WIDE_DATE, _read_wide_date, True),
)
_MAY_NAME_YEAR = (MONTH_DAY, DAY_MONTH, WIDE_DATE)
_ONLY_GROUP = (IN_MONTH, IN_YEAR)
