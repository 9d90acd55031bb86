"""The time that a question names: which days, on which side, how surely; and what only looks like one."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from datetime import UTC, date, datetime, timedelta

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from growth import LINEAR, growth
from looseleaf.language import dates as datewords
from looseleaf.language.dates import found
from looseleaf.recall.question_dates import may_name_date, read_time
from looseleaf.recall.when import When, place_event
from tables import check_rows

NOW = datetime(2026, 2, 25, 12, tzinfo=UTC).timestamp()
DAY = 86_400.0


def day_of(ts: float) -> str:
    """A time before any memory is "…"."""
    return (date(1970, 1, 1) + timedelta(ts // DAY)).isoformat() if ts > 0 else "…"


def told(query: str, now: float = NOW) -> str:
    """First and last day, the side, the event."""
    when = read_time(query, now)
    if when is None:
        return "none"
    first, last = day_of(when.first), day_of(when.last - 1)
    span = first if first == last else f"{first}..{last}"
    side = "" if when.side == "in" else f" {when.side}"
    return f"{span}{side}" if when.event is None else f"{when.side} {when.event}"


NAMED = """
What did I do last March? = 2025-03-01..2025-03-31
What did Ada open in May 2023? = 2023-05-01..2023-05-31
What happened on 7 May? = 2025-05-07
What did we decide yesterday? = 2026-02-24
What was on 2025-11-03? = 2025-11-03
What did they decide this year? = 2026-01-01..2026-12-31
Which car did I buy in 2021? = 2021-01-01..2021-12-31
what happened in may = 2025-05-01..2025-05-31
Who was there during August? = 2025-08-01..2025-08-31
What was the plan during 2024? = 2024-01-01..2024-12-31
What did we see in summer 2021? = 2021-06-01..2021-08-30
Where was I last fall? = 2025-09-01..2025-11-30
When did we go camping in July? = 2025-07-01..2025-07-31
What did she learn as of 27 March, 2022? = 2022-03-27
What did the recent report from May 2023 say? = 2023-05-01..2023-05-31
Where did he go last year in July? = 2025-07-01..2025-07-31
What was bought on 3 May and 7 May? = 2025-05-03..2025-05-07
What came up on the 12th? = 2026-02-12
Who called on Friday? = 2026-02-20
What was the 2023 budget? = 2023-01-01..2023-12-31
What is next Friday? = 2026-03-06
Was habe ich letzten März gemacht? = 2025-03-01..2025-03-31
Was war im Mai 2024? = 2024-05-01..2024-05-31
Qu'est-ce que j'ai fait hier ? = 2026-02-24
Où étais-je en mars ? = 2025-03-01..2025-03-31
¿Qué hice en mayo? = 2025-05-01..2025-05-31
去年3月我去了哪里 = 2025-03-01..2025-03-31
先月何をした = 2026-01-01..2026-01-31
"""
COUNTED = """
What did I eat two weeks ago? = 2026-02-09..2026-02-13
What did I eat three days ago? = 2026-02-22
What did I say three months ago? = 2025-11-01..2025-11-30
What did we do a few weeks ago? = 2026-01-14..2026-02-11
Was war vor ein paar Tagen? = 2026-02-19..2026-02-23
What did we do in the past two weeks? = 2026-02-11..2026-02-25
What changed in the last month? = 2026-01-26..2026-02-25
What changed last month? = 2026-01-01..2026-01-31
What happened in the past years? = 2022-02-26..2026-02-25
Was habe ich in den letzten drei Monaten gelesen? = 2025-11-27..2026-02-25
¿Qué pasó en las últimas dos semanas? = 2026-02-11..2026-02-25
Qu'ai-je lu ces trois derniers mois ? = 2025-11-27..2026-02-25
过去三个月我读了什么 = 2025-11-27..2026-02-25
两周前我们做了什么 = 2026-02-09..2026-02-13
What did they do on the Saturday after October 28, 2023? = 2023-11-04
What did they do on the Monday before July 24, 2023? = 2023-07-17
Who came the day after 3 May 2024? = 2024-05-04
Where was he in the week before 16 November 2023? = 2023-11-09..2023-11-15
Whose puppy came two weeks before August 11, 2023? = 2023-07-26..2023-07-30
What came a few days after 1 June 2024? = 2024-06-03..2024-06-07
Where were they the weekend before 14 June 2024? = 2024-06-08..2024-06-09
Where was he in the last week of October 2023? = 2023-10-25..2023-10-31
Where was he in the first two weeks of August 2023? = 2023-08-01..2023-08-14
What did she win in the beginning of November 2022? = 2022-11-01..2022-11-11
What did she win in mid-March 2024? = 2024-03-11..2024-03-21
What did she win in late May? = 2025-05-21..2025-05-31
"""
RANGES = """
What did we do between March and June? = 2025-03-01..2025-06-30
What did we do between November and January? = 2025-11-01..2026-01-31
What did we do from May to July 2023? = 2023-05-01..2023-07-31
What did we do between 2019 and 2021? = 2019-01-01..2021-12-31
What did we do between 3 and 7 May 2023? = 2023-05-03..2023-05-07
What did we do from 3 May 2023 to 7 June 2023? = 2023-05-03..2023-06-07
Was war zwischen März und Juni? = 2025-03-01..2025-06-30
3月から6月まで何をした = 2025-03-01..2025-06-30
"""
SIDES = """
What changed since January? = 2026-01-01..2026-02-25 after
What changed since yesterday? = 2026-02-24..2026-02-25 after
What changed after May 2025? = 2025-06-01..2026-02-25 after
Where did I live before 2024? = ….…2023-12-31 before
Where did I live until June 2024? = ….…2024-06-30 before
Wo wohnte ich bis 2020? = ….…2020-12-31 before
Was ist seit Januar neu? = 2026-01-01..2026-02-25 after
Où vivais-je avant 2020 ? = ….…2019-12-31 before
2023年以前住在哪里 = ….…2022-12-31 before
2024年以来 = 2024-01-01..2026-02-25 after
"""
EVENTS = """
Where did I live before the move? = before move
Where did they go after the wedding? = after wedding
How is he since the surgery? = after surgery
After the wedding where did they go? = after wedding
What did he try after the rock climbing class? = after rock climbing class
What car came after his old Prius broke down? = after old Prius broke down
What problems were there before he adopted Toby? = before adopted Toby
Where did I live before Anna moved to Berlin? = before Anna moved to Berlin
Was he lonely before meeting Samantha? = before meeting Samantha
Wo wohnte ich vor dem Umzug? = before Umzug
Was war nach der Hochzeit? = after Hochzeit
Où vivais-je avant le déménagement ? = before déménagement
¿Dónde vivía antes de la mudanza? = before mudanza
搬家之前我住在哪里 = before 搬家
引っ越しの前に住んでいた場所 = before 引っ越し
"""
VAGUE = """
Who moved recently? = 2026-01-26..2026-02-25
What have I been doing lately? = 2026-01-26..2026-02-25
What was said the last time we met? = 2025-11-27..2026-02-25
Was habe ich kürzlich gelesen? = 2026-01-26..2026-02-25
最近读了什么 = 2026-01-26..2026-02-25
"""
NO_DATES = """
When did Melanie move?
Which year did she start yoga?
How long ago was her birthday?
How many months passed between adopting Toby and Buddy?
What may happen if we march on?
This may be wrong, is it?
Is this sun too strong?
What did April say to June?
Which letter came from June?
What is April's favourite food?
Who cooked for April?
Who came after June Carter?
Give me a second.
Which of the 2 may be right?
Should I march 10 miles?
Summarise it in 2000 words.
What is in room 2019?
Who plays Cyberpunk 2077?
What is the version 3.11?
Does Black Friday matter?
Who is Wednesday Addams?
What happens every Friday?
What is on Friday mornings?
Was liegt hier auf dem Tisch?
What did the rover find in Mars?
What do I do after work?
What do I eat before a race?
What is it after all?
How is it in the end, before the end?
Since the build is slow, what can I do?
What was that before and after?
"""


def table(text: str) -> list[tuple[str, str]]:
    return [(query, span) for query, _, span in (line.rpartition(" = ") for line in text.strip().split("\n"))]


def test_a_question_names_a_time() -> None:
    def check(query: str, span: str) -> None:
        assert told(query) == span

    check_rows(check, table(NAMED + COUNTED.lstrip() + RANGES.lstrip() + EVENTS.lstrip() + VAGUE.lstrip()))


def test_a_question_looks_at_one_side_of_a_time() -> None:
    def check(query: str, span: str) -> None:
        assert told(query) == span.replace("….…", "…..")

    check_rows(check, table(SIDES))


def test_what_only_looks_like_a_time_is_none() -> None:
    def check(query: str) -> None:
        assert told(query) == "none"

    check_rows(check, NO_DATES.strip().split("\n"))


def test_what_is_said_plainly_is_stronger_than_what_is_vague() -> None:
    def strength(query: str) -> float:
        when = read_time(query, NOW)
        assert when is not None
        return when.strength

    assert strength("in May 2023") == strength("last March") == strength("yesterday") == 1.0
    assert 1.0 > strength("on Friday") > strength("a few weeks ago") > strength("recently") > 0
    assert 1.0 > strength("after the wedding") > strength("nach der Hochzeit") > strength("recently")
    assert strength("the Friday meeting") < strength("on Friday")
    assert strength("What was done by Friday?") < strength("on Friday")
    assert strength("How far did I run in two weeks?") < 0.5


def test_a_month_of_another_year_moves_into_the_year_that_is_named() -> None:
    now = datetime(2026, 8, 5, tzinfo=UTC).timestamp()
    assert told("Where did we go last year in July?", now) == "2025-07-01..2025-07-31"
    assert told("What did we do between March and June?", now) == "2026-03-01..2026-06-30"
    assert told("What did we do between November and February?", now) == "2025-11-01..2026-02-28"


def holds(ts: float, when: When) -> bool:
    return when.first <= ts < when.last


def test_a_future_side_has_no_end() -> None:
    when = read_time("What is planned after 2030?", NOW)
    assert when is not None
    assert holds(datetime(2040, 1, 1, tzinfo=UTC).timestamp(), when)


def test_the_words_that_named_the_time_are_told() -> None:
    when = read_time("Where was he in the week before 16 November 2023?", NOW)
    assert when is not None
    assert when.text == "the week before 16 November 2023"
    when = read_time("Where did I live before the move, and why?", NOW)
    assert when is not None
    assert (when.text, when.event) == ("before the move", "move")


def test_an_event_splits_time_when_it_is_placed() -> None:
    before, after = read_time("before the move", NOW), read_time("after the move", NOW)
    assert before is not None
    assert after is not None
    moved = NOW - 100 * DAY
    assert holds(moved - 1, place_event(before, moved))
    assert not holds(moved, place_event(before, moved))
    assert holds(moved, place_event(after, moved))
    assert not holds(moved - 1, place_event(after, moved))
    dated = When(0.0, 1.0, 1.0, "then")
    assert place_event(dated, moved) is dated


times = st.floats(0, 4e9)


@given(st.text(max_size=80), st.floats(allow_nan=True, allow_infinity=True))
def test_any_question_at_any_time_gets_an_answer(query: str, now: float) -> None:
    when = read_time(query, now)
    assert when is None or (when.first < when.last and 0 < when.strength <= 1 and when.text)


PIECES = sorted(
    {
        *datewords.MONTHS,
        *datewords.WEEKDAYS,
        *datewords.UNITS,
        *datewords.SEASONS,
        *datewords.DAYS,
        *datewords.SPANS,
    }
)
JOINTS = sorted(
    {
        *datewords.SIGNS,
        "in",
        "on",
        "ago",
        "vor",
        "hace",
        "il y a",
        "dans",
        "en",
        "two",
        "un",
        "3",
        "7th",
        "2023",
        "the",
        "of",
    }
    | {
        "between",
        "and",
        "from",
        "to",
        "since",
        "before",
        "after",
        "until",
        "week",
        "weeks",
        "early",
        "last",
        "few",
        "Monday",
    }
)


@given(st.lists(st.sampled_from(PIECES + JOINTS * 4), max_size=9), st.booleans(), times)
def test_words_of_time_in_any_order_do_no_harm(words: list[str], is_title: bool, now: float) -> None:
    query = " ".join(word.capitalize() if is_title else word for word in words)
    when = read_time(query, now)
    assert when is None or (when.first < when.last and when.text.lower() in query.lower())


@given(st.sampled_from(PIECES), st.sampled_from(JOINTS), st.sampled_from(JOINTS), st.booleans())
def test_no_date_is_missed_because_no_word_promised_one(
    piece: str, one: str, two: str, is_after: bool
) -> None:
    query = f"{piece} {one} {two}" if is_after else f"{one} {two} {piece}"
    assume(found(query, NOW, past=True))
    assert may_name_date(query)


OFTEN = ("of", "in", "last")


@pytest.mark.parametrize(
    "joint",
    [*OFTEN, *(pytest.param(joint, marks=pytest.mark.long) for joint in JOINTS if joint not in OFTEN)],
)
def test_no_date_of_two_words_is_missed(joint: str) -> None:
    for piece in PIECES:
        for query in (f"{piece} {joint}", f"{joint} {piece}"):
            assert not found(query, NOW, past=True) or may_name_date(query), query


def test_a_question_without_words_of_time_costs_no_pattern_of_dates() -> None:
    code = (
        "import sys; from looseleaf.recall.question_dates import read_time; "
        "read_time('Which editor may Anna like these days?', 1.7e9); read_time('Who moved recently?', 1.7e9); "
        "costly = {'looseleaf.language.dates', 'looseleaf.recall.question_spans', 'datetime', 'typing'}; "
        "print(sorted(costly & set(sys.modules)))"
    )
    done = subprocess.run(
        [sys.executable, "-S", "-c", code],
        capture_output=True,
        text=True,
        check=True,
        env={"PYTHONPATH": ":".join(sys.path)},
    )
    assert done.stdout == "[]\n"


@pytest.mark.parametrize(
    "text", ["in May ", "before the ", "between ", "a", "3 ", "from 3 to ", "last two weeks ", "年前"]
)
def test_looking_for_a_time_takes_no_longer_than_the_question(text: str) -> None:
    def work(size: int) -> Callable[[], object]:
        query = (text * size)[:size]
        return lambda: read_time(query, NOW)

    assert growth(work, 120) < LINEAR
    assert growth(work, 60_000) < LINEAR
