"""Dates in text: found where they stand, and resolved against the time they were said at."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from datetime import UTC, date, datetime

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from drawing import core
from growth import LINEAR, growth
from looseleaf.language import dates as datewords
from looseleaf.language.dates import Dated, absolute, found
from tables import check_rows, some

WEDNESDAY = datetime(2026, 2, 25, 12, tzinfo=UTC).timestamp()
FRIDAY = datetime(2026, 2, 27, 12, tzinfo=UTC).timestamp()


def spans(text: str, ts: float = WEDNESDAY, *, past: bool = False) -> list[str]:
    return [
        each.first if each.first == each.last else f"{each.first}..{each.last}"
        for each in found(text, ts, past=past)
    ]


DAYS = """
today = 2026-02-25
tomorrow = 2026-02-26
the day after tomorrow = 2026-02-27
yesterday = 2026-02-24
next Friday = 2026-03-06
this Friday = 2026-02-27
coming Friday = 2026-02-27
on Friday = 2026-02-27
on fri = 2026-02-27
last Friday = 2026-02-20
in two weeks = 2026-03-11
two weeks ago = 2026-02-11
a couple of days ago = 2026-02-23
3 days from now = 2026-02-28
on May 3rd = 2026-05-03
the 3rd of May = 2026-05-03
May 3, 2027 = 2027-05-03
3 May 2026 = 2026-05-03
2026-05-03 = 2026-05-03
on January 5 = 2027-01-05
heute = 2026-02-25
bis morgen = 2026-02-26
übermorgen = 2026-02-27
nächsten Freitag = 2026-03-06
kommenden Freitag = 2026-02-27
am Freitag = 2026-02-27
vor zwei Wochen = 2026-02-11
am 3. Mai 2026 = 2026-05-03
demain = 2026-02-26
vendredi prochain = 2026-02-27
vendredi dernier = 2026-02-20
il y a deux semaines = 2026-02-11
le 3 mai = 2026-05-03
mañana = 2026-02-26
pasado mañana = 2026-02-27
el próximo viernes = 2026-02-27
el viernes que viene = 2026-02-27
hace tres días = 2026-02-22
el 3 de mayo de 2026 = 2026-05-03
明天 = 2026-02-26
前天 = 2026-02-23
下周五 = 2026-03-06
上周五 = 2026-02-20
这周五 = 2026-02-27
周五 = 2026-02-27
三天前 = 2026-02-22
两周后 = 2026-03-11
5月3日 = 2026-05-03
2026年5月3日 = 2026-05-03
来週の金曜日 = 2026-03-06
金曜日 = 2026-02-27
昨日 = 2026-02-24
3日後 = 2026-02-28
来年の5月3日 = 2027-05-03
"""
SPANS = """
next week = 2026-03-02..2026-03-08
this weekend = 2026-02-28..2026-03-01
last month = 2026-01-01..2026-01-31
next year = 2027-01-01..2027-12-31
last March = 2025-03-01..2025-03-31
next March = 2026-03-01..2026-03-31
last February = 2025-02-01..2025-02-28
in March = 2026-03-01..2026-03-31
in January = 2027-01-01..2027-01-31
March 2024 = 2024-03-01..2024-03-31
2026-05 = 2026-05-01..2026-05-31
since 2019 = 2019-01-01..2019-12-31
last summer = 2025-06-01..2025-08-31
next winter = 2026-12-01..2027-02-28
three months ago = 2025-11-01..2025-11-30
in two years = 2028-01-01..2028-12-31
nächste Woche = 2026-03-02..2026-03-08
seit 2019 = 2019-01-01..2019-12-31
l'année dernière = 2025-01-01..2025-12-31
le mois prochain = 2026-03-01..2026-03-31
la semana que viene = 2026-03-02..2026-03-08
este fin de semana = 2026-02-28..2026-03-01
下个月 = 2026-03-01..2026-03-31
去年 = 2025-01-01..2025-12-31
上周末 = 2026-02-21..2026-02-22
下周 = 2026-03-02..2026-03-08
2019年 = 2019-01-01..2019-12-31
来月 = 2026-03-01..2026-03-31
来年の3月 = 2027-03-01..2027-03-31
3月 = 2026-03-01..2026-03-31
"""


def test_words_for_dates_are_resolved() -> None:
    def check(line: str) -> None:
        words, expected = line.split(" = ")
        assert spans(words) == [expected]

    check_rows(check, (DAYS + SPANS).strip().replace("\n\n", "\n").splitlines())


KNOWN_TWICE = {*"一二三四五六日天", "sept", "an"}
"""Words that are rightly in two tables: characters of numbers and of weekdays, a month or seven, a year or a sign."""


def test_no_word_of_one_language_means_another_thing_in_the_next() -> None:
    tables = ("SIGNS", "NUMBERS", "UNITS", "MONTHS", "WEEKDAYS", "SEASONS", "DAYS")
    words = Counter(word for name in tables for word in getattr(datewords, name))
    assert {word for word, count in words.items() if count > 1} <= KNOWN_TWICE


def test_what_names_no_date_is_none() -> None:
    def check(text: str) -> None:
        assert found(text, WEDNESDAY) == []

    check_rows(
        check,
        [
            "every Monday",
            "on Mondays",
            "jeden Freitag",
            "los viernes",
            "le vendredi",
            "guten Morgen",
            "por la mañana",
            "I may go",
            "in may",
            "we march on",
            "31 February",
            "Feb 30",
            "13月",
            "2026-13-01",
            "version 2026-05-03-rc1",
            "in 2019-style",
            "It took ten weeks",
            "for ten years",
            "",
        ],
    )


def test_with_the_past_meant_a_bare_day_or_month_is_the_last_one() -> None:
    assert spans("on Friday", past=True) == ["2026-02-20"]
    assert spans("on Wednesday", past=True) == ["2026-02-18"]
    assert spans("in January", past=True) == ["2026-01-01..2026-01-31"]
    assert spans("in March", past=True) == ["2025-03-01..2025-03-31"]
    assert spans("on May 3rd", past=True) == ["2025-05-03"]
    assert spans("am 3. Januar", past=True) == ["2026-01-03"]


def test_on_a_friday_only_this_friday_is_today() -> None:
    assert spans("this Friday", FRIDAY) == ["2026-02-27"]
    assert spans("on Friday", FRIDAY) == ["2026-03-06"]
    assert spans("next Friday", FRIDAY) == ["2026-03-06"]
    assert spans("last Friday", FRIDAY) == ["2026-02-20"]


def test_a_leap_day_is_the_next_one_there_is() -> None:
    assert spans("on February 29") == ["2028-02-29"]


def test_a_date_says_where_it_stands() -> None:
    assert found("Dentist on May 3rd, then next week off", WEDNESDAY) == [
        Dated(11, 18, "2026-05-03", "2026-05-03", "May 3rd", True),
        Dated(25, 34, "2026-03-02", "2026-03-08", "next week", True),
    ]


def test_only_what_is_relative_is_written_out() -> None:
    def check(text: str, expected: str | None) -> None:
        assert absolute(text, WEDNESDAY) == (text if expected is None else expected)

    check_rows(
        check,
        [
            ("see you next Friday at 3", "see you 2026-03-06 at 3"),
            ("on May 3rd", "on 2026-05-03"),
            ("since last March", "since 2025-03"),
            ("next year", "2027"),
            ("this weekend, not next week", "the weekend of 2026-02-28, not the week of 2026-03-02"),
            ("last summer", "summer 2025"),
            ("on 3 May 2026, in 2019, 2026-05-03 and March 2024", None),
            ("2019年搬来，下周五走", "2019年搬来，2026-03-06走"),
            ("nothing here", None),
        ],
    )


def test_a_week_that_begins_with_a_season_is_no_season() -> None:
    tuesday = 1757405700.0  # 2025-09-09, a week and a day after a Monday the first
    assert absolute("last week", tuesday, past=True) == "the week of 2025-09-01"
    assert absolute("this autumn", tuesday) == "autumn 2025"


@pytest.mark.parametrize("ts", [float("nan"), float("inf"), -1e11, 1e300])
def test_a_time_that_is_none_gives_no_dates(ts: float) -> None:
    assert found("tomorrow", ts) == []
    assert absolute("tomorrow", ts) == "tomorrow"


def test_dates_before_the_first_year_are_none() -> None:
    early = datetime(5, 1, 1, tzinfo=UTC).timestamp()
    assert found("90 years ago", early) == []


words = st.sampled_from(
    "next last this Friday May 3rd 3 2026 in two weeks ago on 2026-05-03 下周五 5月 3日 来週の 金曜日 vor el "
    "próximo , of".split()
)


@given(st.lists(words, max_size=12).map(" ".join) | st.text(), st.floats(0, 4e9), st.booleans())
def test_found_dates_are_dates_in_order_and_stand_in_the_text(text: str, ts: float, past: bool) -> None:
    end = 0
    for dated in found(text, ts, past=past):
        assert dated.start >= end
        assert text[dated.start : dated.end] == dated.text != ""
        assert date.fromisoformat(dated.first) <= date.fromisoformat(dated.last)
        end = dated.end


@core
@example("May 下周五 May", 0.0)
@example("May 5月 May", 0.0)
@given(st.lists(words, max_size=12).map(" ".join), st.floats(0, 4e9))
def test_what_is_written_out_says_the_same_on_every_day(text: str, ts: float) -> None:
    told = absolute(text, ts)
    assert [each for each in found(told, ts + 1e8) if each.is_relative and each.text not in text] == []


def test_looking_for_dates_takes_linear_time() -> None:
    def check(unit: str) -> None:
        def work(size: int) -> Callable[[], object]:
            text = unit * size
            return lambda: found(text, WEDNESDAY)

        assert growth(work, 250) < LINEAR

    check_rows(check, some(["next ", "3 ", "a couple of ", "May ", "下", "in two ", "2026-", "the "], 4))


WORDS = [
    *(
        word
        for words in (datewords.DAYS, datewords.SIGNS, datewords.UNITS, datewords.SEASONS)
        for word in words
    ),
    *datewords.WEEKDAYS,
    *datewords.MONTHS,
    *datewords.NUMBERS,
    *"on in the of vor hace il y a ago from now ſunday morgen mañana MÄRZ 3 12th 2026 2026-03-04 nothing".split(),
]


@given(st.lists(st.sampled_from(WORDS), max_size=5), st.sampled_from([" ", "-", ", "]))
def test_a_text_in_which_no_date_is_looked_for_has_none(words: list[str], between: str) -> None:
    text = between.join(words)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(datewords, "may_name_date", lambda text: True)
        looked_for = found(text, WEDNESDAY)
    assert found(text, WEDNESDAY) == looked_for


def test_plain_sentences_are_not_searched_for_dates() -> None:
    assert not datewords.may_name_date("I prefer green tea, and the old blue cup")
    assert datewords.may_name_date("I bought it last Sunday")


@pytest.mark.parametrize("text", ["see you on FRİDAY", "thıs month", "next Thurſday", "in twelve monthſ"])
def test_letters_that_only_a_pattern_takes_for_others_make_no_date_and_no_fault(text: str) -> None:
    assert [each for each in found(text, WEDNESDAY) if "ſ" not in each.text] == []


def test_since_a_month_is_since_the_last_one_whatever_the_tense() -> None:
    november = datetime(2026, 11, 18, 12, tzinfo=UTC).timestamp()
    for text in ("I keep it in the shed since May.", "Ich wohne seit Mai hier.", "depuis Mai"):
        assert "2026-05" in absolute(text, november), text
    assert "2027-05" in absolute("We will move in May.", november)
