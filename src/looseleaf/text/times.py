"""Times: epoch seconds as sortable text, always UTC, and the times in facts, dates and arguments read back.

A time outside the calendar (a foreign log may hold any number) is written as the first or the last one.
"""

from __future__ import annotations

import re
from functools import lru_cache

from looseleaf.base.errors import Invalid
from looseleaf.text.lines import lazy, one_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from datetime import datetime
    from re import Match


# --- times in facts: a year, month, date or date-time; and dates in words ---

DAY = 86400
TICK = 1e-6
"""Times are written to the microsecond."""
_ISO = lazy(
    r"(\d{4})(?:-(\d\d)(?:-(\d\d)(?:[T ](\d\d):(\d\d)(?::(\d\d(?:\.\d{1,9})?))?\s?(Z|[+-]\d\d:?\d\d)?)?)?)?",
    re.ASCII | re.IGNORECASE,
)
MONTH_NAMES = (
    "january jan januar jänner janvier enero",
    "february feb februar février fevrier febrero",
    "march mar märz mars marzo",
    "april apr avril abril",
    "may mai mayo",
    "june jun juni juin junio",
    "july jul juli juillet julio",
    "august aug août aout agosto",
    "september sep sept septembre septiembre",
    "october oct oktober okt octobre octubre",
    "november nov novembre noviembre",
    "december dec dezember dez décembre decembre diciembre",
)
MONTHS = {name: number for number, names in enumerate(MONTH_NAMES, 1) for name in names.split()}
MONTHS["marz"] = 3  # within a date, where it cannot be a name
_MONTH = one_of(MONTHS)
_YEAR = r"(?:1[89]|20|21)\d\d"
_DAY = r"(?:0?[1-9]|[12]\d|3[01])"
_WEEKDAY = rf"(?:(?:on )?(?:mon|tues|wednes|thurs|fri|satur|sun)day,? {{1,2}}(?=the \d|\d|(?:{_MONTH})\b))?"
_WRITTEN = (
    rf"(?<![\w.]){_WEEKDAY}(?:"
    rf"(?P<iso>{_YEAR}[-/.](?:0?[1-9]|1[0-2])[-/.]{_DAY})(?![\d-])"
    rf"|(?P<east>{_YEAR} ?年 ?\d\d? ?月(?: ?\d\d? ?[日号號])?|\d\d? ?月 ?\d\d? ?[日号號])"
    rf"|(?:the )?(?P<day>{_DAY})(?:st|nd|rd|th|er|\.)? ?(?:of |de )?(?P<month>{_MONTH})\.?"
    rf"(?:,? (?:of |de |del )?(?P<year>{_YEAR}))?(?!\w)"
    rf"|(?P<month2>{_MONTH})\.? (?:the )?(?P<day2>{_DAY})(?:st|nd|rd|th)?(?:,? (?P<year2>{_YEAR}))?(?![\w:])"
    rf"|(?P<month3>{_MONTH})\.?,? (?:of |de )?(?P<year3>{_YEAR})(?!\w)"
    rf"|(?P<german>{_DAY}\. ?(?:0?[1-9]|1[0-2])\. ?{_YEAR})(?!\d)"
    r")"
)


def moment(text: str | None) -> float | None:
    """Return the first moment of the year, month, day or moment that the text names; None if it names none."""
    span = _parse_span(text)
    return None if span is None else span[0]


def last_moment(text: str) -> float | None:
    """Return the last moment of what the text names: a date lasts until its day is over."""
    span = _parse_span(text)
    return None if span is None else span[1]


@lru_cache(1 << 16)  # readers ask for the times of all facts at once
def _parse_span(text: str | None) -> tuple[float, float] | None:
    found = _ISO.fullmatch(text.strip()) if text else None
    if found is None:
        return None
    year, month, day = int(found[1]), int(found[2] or 1), int(found[3] or 1)
    if not 1 <= month <= 12 or not 1 <= day <= _days_in(year, month):
        return None
    start = float(_days_since_epoch(year, month, day) * DAY)
    if found[4] is not None:
        hours, minutes, seconds = int(found[4]), int(found[5]), float(found[6] or 0)
        if hours > 24 or minutes > 59 or seconds >= 61:
            return None
        exact = start + hours * 3600 + minutes * 60 + seconds - _zone_offset(found[7])
        return exact, exact
    if found[3] is not None:
        after = start + DAY
    elif found[2] is not None:
        after = float(_days_since_epoch(year + month // 12, month % 12 + 1, 1) * DAY)
    else:
        after = float(_days_since_epoch(year + 1, 1, 1) * DAY)
    return start, after - TICK


def _zone_offset(zone: str | None) -> int:
    if zone is None or zone in "Zz":
        return 0
    seconds = int(zone[1:3]) * 3600 + int(zone[-2:]) * 60
    return -seconds if zone[0] == "-" else seconds


def _days_in(year: int, month: int) -> int:
    if month == 2:
        return 29 if year % 4 == 0 and (year % 100 != 0 or year % 400 == 0) else 28
    return 30 if month in (4, 6, 9, 11) else 31


def _days_since_epoch(year: int, month: int, day: int) -> int:
    """Days since 1970-01-01. `datetime` would do it, and cost a command a tenth of its start."""
    year -= month <= 2
    era, of_era = divmod(year, 400)
    of_year = (153 * (month - 3 if month > 2 else month + 9) + 2) // 5 + day - 1
    return era * 146097 + of_era * 365 + of_era // 4 - of_era // 100 + of_year - 719468


def with_iso_dates(text: str) -> str:
    """Return casefolded text with its dates as `2026-03-05`, `2026-03` or, without a year, `03-05`.

    `03/04/2026` is left alone: either number may be the month.
    """
    has_numbers = any(map(str.isdecimal, text))  # else there is no date, and no need to compile
    return re.sub(_WRITTEN, _iso_of, text) if has_numbers else text


def _iso_of(found: Match[str]) -> str:
    numbers = re.findall(r"\d+", found["iso"] or found["east"] or "")
    if found["german"]:
        numbers = re.findall(r"\d+", found["german"])[::-1]
    if not numbers:
        month = found["month"] or found["month2"] or found["month3"]
        year = found["year"] or found["year2"] or found["year3"]
        day = found["day"] or found["day2"]
        numbers = [part for part in (year, str(MONTHS[month]), day) if part]
    year_known = len(numbers[0]) == 4
    month_number, day_number = int(numbers[1 if year_known else 0]), int(numbers[-1])
    if not 1 <= month_number <= 12 or ((len(numbers) == 3 or not year_known) and not 1 <= day_number <= 31):
        return found[0]
    return "-".join(part if len(part) == 4 else f"{int(part):02d}" for part in numbers)


# --- times from callers ---


def parse_time(time: str | float | None, *, start: bool = False) -> float | None:
    """Return epoch seconds: the last moment of a date, or its first."""
    if isinstance(time, str):
        return parse_when(time, start=start)
    given: object = time
    if given is not None and (isinstance(given, bool) or not isinstance(given, int | float)):
        raise Invalid(f"A time is text or epoch seconds, not {type(given).__name__}. Write it as 2026-02-24.")
    return time


_TIME = r"\d{4}-\d\d-\d\d([T ]\d\d:\d\d(:\d\d(\.\d+)?)?(Z|[+-]\d\d:\d\d)?)?"


def parse_when(text: str, *, start: bool = False) -> float:
    """Return epoch seconds of a local date or time: its last moment, to the given precision, or its first."""
    from datetime import datetime, timedelta

    form = re.fullmatch(_TIME, text, re.ASCII)
    try:
        if form is None:
            raise ValueError(text)
        clock, seconds, fraction, _ = form.groups()
        lasts = 0 if fraction else 1 if seconds else 60 if clock else 86_400
        moment = datetime.fromisoformat(text)
        if start or not lasts:
            return moment.timestamp()
        # A day ends when the next one begins, which is not always 24 hours later.
        return (moment + timedelta(seconds=lasts)).timestamp() - 1e-6
    except (ValueError, OverflowError, OSError):
        raise Invalid(
            f"{text!r} is not a date. Write a date as 2026-02-24, or a time as 2026-02-24T15:30."
        ) from None


_FIRST = -62_135_596_800.0
_LAST = 253_402_300_799.0
"""The first second of the year 1, and the last of the year 9999."""


def written(ts: float) -> str:
    """Return `2026-02-24T10:00:00.000000Z`: always the same length, so that texts sort like their times."""
    return f"{_datetime_of(ts).replace(tzinfo=None).isoformat(timespec='microseconds')}Z"


def day(ts: float) -> str:
    """Return the day: `2026-02-24`."""
    return _datetime_of(ts).date().isoformat()


def clock(ts: float) -> str:
    """Return the time of day: `10:05`."""
    return _datetime_of(ts).strftime("%H:%M")


def _datetime_of(ts: float) -> datetime:
    from datetime import UTC, datetime

    return datetime.fromtimestamp(min(ts, _LAST) if ts >= _FIRST else _FIRST, UTC)
