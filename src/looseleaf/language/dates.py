"""Dates in text: where they stand, and which days they mean at the time they were said.

Readings taken where words are ambiguous:

- A bare weekday ("on Friday") is the first one after today; with `past`, the last one before it. "This Friday" and
  "coming Friday" may be today.
- "Next Friday" is the Friday of the next calendar week (weeks begin on Monday), as 下周五 and 来週の金曜日 say
  outright. In French and Spanish ("vendredi prochain", "el próximo viernes") it is the first one after today.
- "Last Friday" is the last one before today. A month or a day without a year is the next one to come; with `past`,
  or with "last", the last one before this month, or before today. So is a day without a month ("on the 12th").
- "In two weeks" is a day, "in two months" that whole month, "in two years" that whole year. A season has three months,
  as in the north. A weekend is its Saturday and Sunday.

Days are those of UTC. Looking takes time linear in the text; a date that does not exist is no date.
"""

from __future__ import annotations

from looseleaf.base.immutable import frozen
from looseleaf.language import datewords as words

TYPE_CHECKING = False
if TYPE_CHECKING:
    import re
    from collections.abc import Callable, Iterator
    from datetime import date

    Span = tuple[date, date]
    Read = Callable[[re.Match[str], date, bool], Span | None]


@frozen
class Dated:
    """A date in a text, from `start` to `end`: all days from `first` to `last`, as ISO dates.

    `is_relative`: the words mean another day when they are said on another day.
    """

    start: int
    end: int
    first: str
    last: str
    text: str
    is_relative: bool = False

    @property
    def written(self) -> str:
        """Without the time it was said at: a day, a month, a year, or the first day of what is none of them."""
        if self.first == self.last:
            return self.first
        if self.first[4:] == "-01-01" and self.last[4:] == "-12-31":
            return self.first[:4]
        if self.first[:7] == self.last[:7] and self.first.endswith("-01") and self.last[8:] >= "28":
            return self.first[:7]
        for season, (first, name) in words.SEASONS.items():
            if season == name and self.first[5:] == f"{first:02d}-01" and self.first[:7] != self.last[:7]:
                return f"{name} {self.first[:4]}"
        from datetime import date

        is_weekend = date.fromisoformat(self.first).weekday() == 5
        return f"the {'weekend' if is_weekend else 'week'} of {self.first}"


def found(text: str, ts: float, *, past: bool = False) -> list[Dated]:
    """The dates in `text`, said at `ts`, in their order; where two overlap, the earlier and longer one."""
    from datetime import UTC, datetime

    try:
        today = datetime.fromtimestamp(ts, UTC).date()
    except (OverflowError, ValueError, OSError):
        return []
    every = sorted(_read(text, today, past), key=lambda dated: (dated.start, -dated.end))
    kept: list[Dated] = []
    for dated in every:
        if not kept or dated.start >= kept[-1].end:
            kept.append(dated)
    return kept


def absolute(text: str, ts: float, *, past: bool = False) -> str:
    """`text` with what is relative to `ts` written as dates: a day, `2026-03`, `2026`, "the week of" its Monday."""
    parts: list[str] = []
    end = 0
    for dated in found(text, ts, past=past):
        if dated.is_relative:
            parts += [text[end : dated.start], dated.written]
            end = dated.end
    return "".join((*parts, text[end:]))


def _read(text: str, today: date, past: bool) -> Iterator[Dated]:
    if not words.may_name_date(text):
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
                # A year that is named makes a day absolute.
                relative = is_relative and not (pattern in _MAY_NAME_YEAR and _names_year(match))
                first, last = (day.isoformat() for day in span)
                yield Dated(start, end, first, last, text[start:end], relative)


def _names_year(match: re.Match[str]) -> bool:
    return any(group is not None and len(group) == 4 and group.isdigit() for group in match.groups())


# --- days, months, years ---------------------------------------------------------------


def _day(year: int, month: int, day: int) -> Span:
    from datetime import date

    made = date(year, month, day)
    return made, made


def _month(year: int, month: int) -> Span:
    """Months may run over the end of the year."""
    from datetime import date, timedelta

    year, month = year + (month - 1) // 12, (month - 1) % 12 + 1
    after = date(year + month // 12, month % 12 + 1, 1)
    return date(year, month, 1), after - timedelta(1)


def _year(year: int) -> Span:
    from datetime import date

    return date(year, 1, 1), date(year, 12, 31)


def _shifted(today: date, unit: str, count: int) -> Span:
    from datetime import timedelta

    if unit in ("day", "week"):
        day = today + timedelta(count * (7 if unit == "week" else 1))
        return day, day
    if unit == "month":
        return _month(today.year, today.month + count)
    return _year(today.year + count)


def _week(today: date, sign: int, unit: str = "week") -> Span:
    from datetime import timedelta

    monday = today + timedelta(7 * sign - today.weekday())
    return (monday if unit == "week" else monday + timedelta(5)), monday + timedelta(6)


def _weekday(today: date, weekday: int, sign: int, past: bool = False) -> Span:
    """`sign` is the week: next, this, last; with none a bare weekday, which is never today."""
    from datetime import timedelta

    ahead = (weekday - today.weekday()) % 7
    if past:
        ahead = ahead - 7
    elif sign == 2:
        ahead = ahead or 7
    day = today + timedelta(ahead)
    return day, day


def _of_week(today: date, weekday: int, sign: int) -> Span:
    from datetime import timedelta

    day = today + timedelta(7 * sign + weekday - today.weekday())
    return day, day


def _nearest_month(today: date, month: int, sign: int, past: bool) -> Span:
    """Next: the first to come after this month; last: the last before it; bare: this month counts too."""
    year = today.year
    if sign == -1 or (past and sign != 1):
        year -= month > today.month or (month == today.month and sign == -1)
    else:
        year += month < today.month or (month == today.month and sign == 1)
    return _month(year, month)


def _nearest_day(today: date, month: int, day: int, past: bool) -> Span:
    for year in (today.year, today.year - 1) if past else range(today.year, today.year + 5):
        try:
            made = _day(year, month, day)
        except ValueError:
            continue
        if made[0] <= today if past else made[0] >= today:
            return made
    raise ValueError("no such day")


# --- readings --------------------------------------------------------------------------


def _iso(match: re.Match[str], today: date, past: bool) -> Span:
    year, month, day = match.groups()
    return _day(int(year), int(month), int(day)) if day else _month(int(year), int(month))


def _day_word(match: re.Match[str], today: date, past: bool) -> Span:
    return _shifted(today, "day", words.DAYS.get(match[0].lower(), 1))


_FIRST_TO_COME = ("pr", "que viene", "qui vient")


def _signed(match: re.Match[str], today: date, past: bool) -> Span | None:
    one, two = match[1].lower(), match[2].lower()
    sign, thing = (words.SIGNS[one], two) if one in words.SIGNS else (words.SIGNS[two], one)
    if thing in words.WEEKDAYS:
        weekday = words.WEEKDAYS[thing]
        if sign == -1:
            return _weekday(today, weekday, sign, past=True)
        if sign == 1 and (one if one in words.SIGNS else two).startswith(_FIRST_TO_COME):
            return _weekday(today, weekday, 2)
        return _of_week(today, weekday, 1) if sign == 1 else _weekday(today, weekday, 0)
    if thing in words.MONTHS:
        return _nearest_month(today, words.MONTHS[thing], sign, past)
    if thing in words.SEASONS:
        first = _nearest_month(today, words.SEASONS[thing][0], sign, past)[0]
        return first, _month(first.year, first.month + 2)[1]
    unit = words.UNITS[thing]
    if unit in ("week", "weekend"):
        return _week(today, sign, unit)
    return _shifted(today, unit, sign) if unit != "day" else None


def _count(number: str) -> int:
    number = number.lower()
    if number == "a couple of":
        return 2
    return int(number) if number.isdigit() else words.NUMBERS[number]


def _ahead(match: re.Match[str], today: date, past: bool) -> Span:
    return _shifted(today, words.UNITS[match[2].lower()], _count(match[1]))


def _back(match: re.Match[str], today: date, past: bool) -> Span:
    return _shifted(today, words.UNITS[match[2].lower()], -_count(match[1]))


def _month_day(match: re.Match[str], today: date, past: bool) -> Span:
    one, two, year = match.groups()
    month, day = (one, two) if two.isdigit() else (two, one)
    number = words.MONTHS[month.lower()]
    if year:
        return _day(int(year), number, int(day))
    return _nearest_day(today, number, int(day), past)


def _day_alone(match: re.Match[str], today: date, past: bool) -> Span | None:
    """The day of this month, or of one next to it."""
    for months in (0, -1, -2) if past else (0, 1, 2):
        first = _month(today.year, today.month + months)[0]
        try:
            made = _day(first.year, first.month, int(match[1]))
        except ValueError:
            continue
        if made[0] <= today if past else made[0] >= today:
            return made
    return None


def _month_year(match: re.Match[str], today: date, past: bool) -> Span:
    return _month(int(match[2]), words.MONTHS[match[1].lower()])


def _in_month(match: re.Match[str], today: date, past: bool) -> Span | None:
    if match[1] in ("may", "march", "mars"):
        return None  # the verbs, and the planet
    return _nearest_month(today, words.MONTHS[match[1].lower()], 0, past)


def _in_year(match: re.Match[str], today: date, past: bool) -> Span:
    return _year(int(match[1]))


def _bare_weekday(match: re.Match[str], today: date, past: bool) -> Span:
    return _weekday(today, words.WEEKDAYS[(match[1] or match[2]).lower()], 2, past)


_WIDE_SIGNS = {"下下": 2, "下": 1, "下个": 1, "来": 1, "上": -1, "上个": -1, "先": -1}


def _wide_weekday(match: re.Match[str], today: date, past: bool) -> Span:
    week, day, bare = match.groups()
    weekday = words.WEEKDAYS[(day or bare)[0]]
    if week is None:
        return _weekday(today, weekday, 2, past)
    return _of_week(today, weekday, _WIDE_SIGNS.get(week, 0))


def _wide_week(match: re.Match[str], today: date, past: bool) -> Span:
    return _week(today, _WIDE_SIGNS.get(match[1], 0), "weekend" if match[2].endswith("末") else "week")


def _wide_span(match: re.Match[str], today: date, past: bool) -> Span:
    return _shifted(today, *words.SPANS[match[0]])


def _wide_shift(match: re.Match[str], today: date, past: bool) -> Span:
    unit = words.UNITS[match[2].removeprefix("个") if match[2] == "个星期" else match[2]]
    return _shifted(today, unit, _count(match[1]) * (-1 if match[3].endswith("前") else 1))


def _wide_date(match: re.Match[str], today: date, past: bool) -> Span:
    year, near, month, day, alone = match.groups()
    if alone:
        return _year(int(alone))
    number = int(month)
    if not 1 <= number <= 12:
        raise ValueError("no such month")
    if near:
        year = str(today.year + words.SPANS[near][1])
    if day:
        return _day(int(year), number, int(day)) if year else _nearest_day(today, number, int(day), past)
    return _month(int(year), number) if year else _nearest_month(today, number, 0, past)


_READERS: tuple[tuple[re.Pattern[str], Read, bool], ...] = (
    (words.ISO, _iso, False),
    (words.DAY_WORD, _day_word, True),
    (words.WIDE_DAY, _day_word, True),
    (words.SIGNED, _signed, True),
    (words.SIGNED_AFTER, _signed, True),
    (words.AHEAD, _ahead, True),
    (words.FROM_NOW, _ahead, True),
    (words.BACK, _back, True),
    (words.BACK_BEFORE, _back, True),
    (words.MONTH_DAY, _month_day, True),
    (words.DAY_MONTH, _month_day, True),
    (words.DAY_ALONE, _day_alone, True),
    (words.MONTH_YEAR, _month_year, False),
    (words.IN_MONTH, _in_month, True),
    (words.IN_YEAR, _in_year, False),
    (words.WEEKDAY, _bare_weekday, True),
    (words.WIDE_WEEK_DAY, _wide_weekday, True),
    (words.WIDE_WEEK, _wide_week, True),
    (words.WIDE_SPAN, _wide_span, True),
    (words.WIDE_SHIFT, _wide_shift, True),
    (words.WIDE_DATE, _wide_date, True),
)
_MAY_NAME_YEAR = (words.MONTH_DAY, words.DAY_MONTH, words.WIDE_DATE)
_ONLY_GROUP = (words.IN_MONTH, words.IN_YEAR)
