"""Which of two facts was said later: the log's order for live talk, its own time for anything else."""

from __future__ import annotations

import re
import shutil
import tempfile
import time
from contextlib import contextmanager
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from clocks import DAY, WrongClock
from drawing import few
from looseleaf import Memory
from looseleaf.base.ids import id_of, is_id, new_id, time_of
from looseleaf.base.messages import Trace
from looseleaf.base.values import Fact
from looseleaf.facts.identity import decide
from looseleaf.facts.said_order import is_said_before, seconds_after
from looseleaf.log import recorder
from looseleaf.log.turns import order_of, recorded_at
from looseleaf.pages.folder import init
from looseleaf.text.times import day, written

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

CITIES = ("Lyon", "Oslo", "Bergen", "Porto", "Turin", "Basel")
NOW = 1_800_000_000.0


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> WrongClock:
    return WrongClock(monkeypatch)


class Step(NamedTuple):
    """A thing said, by a clock that is off by some days. `ts`: the time given with it, in days from now."""

    city: str
    off: float = 0.0
    agent: str = "main"
    ts: float | None = None
    new_process: bool = True
    distills: bool = True


def tell(folder: Path, clock: WrongClock, steps: Sequence[Step]) -> None:
    for step in steps:
        clock.set(step.off, new_process=step.new_process)
        ts = None if step.ts is None else time.time() + step.ts * DAY
        with Memory(folder, agent=step.agent) as memory:
            memory.record(user=f"I live in {step.city}.", ts=ts)
            if step.distills:
                memory.distill()
    clock.set(0.0)
    for agent in dict.fromkeys(step.agent for step in steps):
        with Memory(folder, agent=agent) as memory:
            memory.distill()


def home(folder: Path, **asked: Any) -> list[str]:
    with Memory(folder) as memory:
        return [fact.object for fact in memory.facts(**asked) if fact.relation == "Home"]


def traces(folder: Path, agent: str = "main") -> list[Trace]:
    with Memory(folder, agent=agent) as memory:
        lines = memory.parts.context.store.read(f"traces/{agent}")
        return [trace for line in lines if (trace := Trace.from_record(line.record)) is not None]


def made(tmp_path: Path) -> Path:
    folder = tmp_path / "memory"
    shutil.rmtree(folder, ignore_errors=True)
    init(str(folder))
    return folder


# --- stories ----------------------------------------------------------------------------

STORIES = {
    "ahead for one message": [Step("Lyon"), Step("Oslo", 40), Step("Bergen")],
    "ahead for the first message": [Step("Oslo", 40), Step("Bergen")],
    "ahead by decades": [Step("Lyon"), Step("Oslo", 26_000), Step("Bergen"), Step("Porto")],
    "ahead, and back to what was said before": [Step("Lyon"), Step("Oslo", 40), Step("Bergen"), Step("Oslo")],
    "ahead while it was only repeated": [Step("Lyon"), Step("Lyon", 40), Step("Oslo")],
    "back in 1970 for one message": [Step("Lyon"), Step("Oslo", -20_000)],
    "back in 1970, then right": [Step("Lyon"), Step("Oslo", -20_000), Step("Bergen")],
    "ahead, then back in 1970": [Step("Lyon"), Step("Oslo", 40), Step("Bergen", -20_000)],
    "ahead, and repeated in one process": [
        Step("Lyon", 40, distills=False),
        Step("Lyon", new_process=False, distills=False),
        Step("Oslo", new_process=False),
    ],
    "set back by an hour in one process": [Step("Lyon"), Step("Oslo", -0.04, new_process=False)],
    "ahead for another agent": [Step("Lyon"), Step("Oslo", 40, "other"), Step("Bergen")],
    "ahead for this agent": [Step("Lyon"), Step("Oslo", 40), Step("Bergen", 0, "other")],
    "ahead, then talk of two agents": [
        Step("Oslo", 40),
        Step("Lyon"),
        Step("Porto", 0, "other"),
        Step("Turin"),
    ],
    "ahead, and distilled in one go": [
        Step("Lyon", distills=False),
        Step("Oslo", 40, distills=False),
        Step("Bergen", distills=False),
    ],
    "back in 1970 for the first message of an agent": [Step("Lyon"), Step("Oslo", -20_000, "other")],
    "a given time that has not come": [Step("Lyon"), Step("Oslo", ts=400), Step("Bergen")],
    "a transcript by a clock that is ahead": [
        Step("Lyon"),
        Step("Oslo", 40, ts=40),
        Step("Bergen", ts=-0.001),
    ],
}


@pytest.mark.sampled(7)
@pytest.mark.parametrize("story", STORIES)
def test_the_last_said_home_is_the_current_one(story: str, tmp_path: Path, clock: WrongClock) -> None:
    folder, steps = made(tmp_path), STORIES[story]
    tell(folder, clock, steps)
    assert home(folder) == [steps[-1].city]


def test_a_given_past_time_stays_in_the_past_also_after_a_clock_was_ahead(
    tmp_path: Path, clock: WrongClock
) -> None:
    folder = made(tmp_path)
    tell(folder, clock, [Step("Oslo", 40), Step("Turin", ts=-400)])
    assert home(folder) == ["Oslo"]
    tell(folder, clock, [Step("Bergen"), Step("Porto", ts=-300)])
    assert home(folder) == ["Bergen"]


def test_what_was_said_by_a_right_clock_keeps_its_dates(tmp_path: Path, clock: WrongClock) -> None:
    folder = made(tmp_path)
    tell(folder, clock, [Step("Lyon"), Step("Oslo", 40), Step("Bergen")])
    today, soon = day(time.time()), day(time.time() + 50 * DAY)
    assert home(folder, as_of=time.time()) == home(folder, as_of=time.time() + 50 * DAY) == ["Bergen"]
    with Memory(folder) as memory:
        [fact] = [each for each in memory.facts() if each.relation == "Home"]
    assert (fact.valid_from or "")[:10] == today
    pages = {page.name for page in (folder / "days").iterdir()}
    assert f"{today}.md" in pages
    assert f"{soon}.md" not in pages


def test_the_day_of_talk_is_that_of_its_last_words(tmp_path: Path, clock: WrongClock) -> None:
    folder = made(tmp_path)
    for off in (40, 0):
        clock.set(off)
        with Memory(folder, session="one") as memory:
            memory.record(user=f"I live in {CITIES[off % 7]}.")
    with Memory(folder) as memory:
        memory.distill()
    assert [page.name for page in (folder / "days").iterdir()] == [f"{day(time.time())}.md"]


def test_a_line_that_was_deleted_by_a_clock_that_is_ahead_is_asked_about_when_it_is_said_again(
    tmp_path: Path, clock: WrongClock
) -> None:
    folder = made(tmp_path)
    tell(folder, clock, [Step("Oslo")])
    clock.set(40)
    page = folder / "USER.md"
    page.write_text("".join(line for line in page.read_text().splitlines(True) if "Oslo" not in line))
    assert home(folder) == []
    tell(folder, clock, [Step("Oslo")])
    with Memory(folder) as memory:
        assert [fact.object for fact in memory.review.pending()] == ["Oslo"]


def test_a_session_of_a_time_to_come_is_not_continued(tmp_path: Path, clock: WrongClock) -> None:
    folder = made(tmp_path)
    for off in (40, 0, 0):
        clock.set(off)
        with Memory(folder) as memory:
            memory.talk.resume()
            memory.record(user="Hello.")
    first, second, third = (trace.session_id for trace in traces(folder))
    assert first != second == third


TALK = (
    "I use vim for everything, always have.",
    "I live in Lyon with my cat Mochi.",
    "We switched to emacs, I use emacs for everything now.",
    "I'm vegetarian and I work at Northwind.",
    "I moved to Oslo. I no longer work at Northwind.",
    "I dropped emacs, I use helix now.",
    "Actually I eat fish again, I'm not vegetarian any more.",
)


@pytest.mark.parametrize(
    "wrong",
    [
        number if number % 3 == 1 else pytest.param(number, marks=pytest.mark.long)
        for number in range(len(TALK))
    ],
)
def test_what_is_known_in_the_end_does_not_depend_on_the_clock_of_one_message(
    tmp_path: Path, clock: WrongClock, wrong: int
) -> None:
    known = []
    for off in (0, 40, -20_000):
        folder = made(tmp_path)
        for number, text in enumerate(TALK):
            clock.set(number - 9 + (off if number == wrong else 0))
            with Memory(folder) as memory:
                memory.record(user=text)
                memory.distill()
        clock.set(0)
        with Memory(folder) as memory:
            facts = sorted((fact.topic, fact.relation, fact.object) for fact in memory.facts())
        known.append([re.sub(r"\d{4}-\d\d-\d\d", "then", " ".join(fact)) for fact in facts])
    assert known[0] == known[1] == known[2] != []


def test_a_log_of_before_such_ids_goes_on_with_what_is_said_now(
    tmp_path: Path, clock: WrongClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = made(tmp_path)
    with monkeypatch.context() as patch:
        patch.setattr(recorder, "new_id", lambda after="": new_id())
        patch.setattr(recorder, "_BEHIND", 1e12)
        tell(folder, clock, [Step("Lyon"), Step("Oslo", 40), Step("Bergen", ts=-2), Step("Turin", ts=-2)])
    assert home(folder) == ["Oslo"]
    (folder / "views/agents/main/turns.json").unlink()
    tell(folder, clock, [Step("Bergen")])
    assert home(folder) == ["Bergen"]


# --- the log ----------------------------------------------------------------------------


def test_ids_of_a_stream_increase_whatever_the_clock_does(tmp_path: Path, clock: WrongClock) -> None:
    folder = made(tmp_path)
    steps = [
        Step(city, off, distills=False) for city, off in zip(CITIES, (0, 40, 0, -20_000, 0, 41), strict=True)
    ]
    tell(folder, clock, steps)
    found = traces(folder)
    names = [trace.id for trace in found]
    assert names == sorted(set(names))
    assert all(map(is_id, names))
    assert [trace.behind is None for trace in found] == [True, True, False, False, False, True]
    for trace in found:
        assert recorded_at(trace) == pytest.approx(trace.ts, abs=1.0)
    orders = [order_of(trace) for trace in found]
    assert orders == sorted(orders)


def test_a_log_without_a_wrong_clock_says_nothing_of_one(tmp_path: Path, clock: WrongClock) -> None:
    folder = made(tmp_path)
    with Memory(folder) as memory:
        for number in range(300):
            memory.record(user=f"{number}", ts=NOW - 1e9 if number % 7 == 0 else None)
    assert all(trace.behind is None for trace in traces(folder))


def test_a_process_that_is_held_up_has_no_wrong_clock(
    tmp_path: Path, clock: WrongClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    seconds = count(time.time())
    monkeypatch.setattr(clock, "time", lambda: next(seconds))  # each look at it is a second later
    folder = made(tmp_path)
    with Memory(folder) as memory:
        for _ in range(5):
            memory.record(user="Hello.")
    assert all(trace.behind is None for trace in traces(folder))


def test_an_id_at_the_end_of_time_does_not_stop_the_log(tmp_path: Path, clock: WrongClock) -> None:
    folder = made(tmp_path)
    tell(folder, clock, [Step("Lyon", distills=False)])
    log = folder / "log/traces/main/raw_traces.jsonl"
    line = log.read_text()
    with log.open("a") as file:  # a handmade line, without a checksum
        end = line.index(',"crc"')
        name = line[line.index('"id":"') + 6 :][:26]
        file.write(line[:end].strip().replace(name, "7ZZZZZZZZZZZZZZZZZZZZZZZZZ") + "}\n")
    tell(folder, clock, [Step("Oslo")])
    assert time_of(traces(folder)[-1].id) == pytest.approx(time.time(), abs=100)
    assert home(folder) == ["Oslo"]


# --- properties -------------------------------------------------------------------------

clocks = st.sampled_from([0.0, 0.0, 0.0, 40.0, -3.0, 400.0, -20_000.0, 0.01, -0.01])


@contextmanager
def made_anew() -> Iterator[tuple[Path, WrongClock]]:
    """An empty memory and a clock for one example."""
    with pytest.MonkeyPatch.context() as patch, tempfile.TemporaryDirectory() as folder:
        yield made(Path(folder)), WrongClock(patch)


@pytest.mark.long
@settings(max_examples=few(25))
@given(
    st.lists(
        st.builds(
            Step,
            st.sampled_from(CITIES),
            clocks,
            st.sampled_from(["main", "main", "other"]),
            st.none(),
            new_process=st.booleans(),
            distills=st.booleans(),
        ),
        min_size=1,
        max_size=6,
    )
)
def test_of_live_talk_the_last_said_is_current_whatever_the_clocks_say(
    story: list[Step],
) -> None:
    if len({step.agent for step in story}) > 1:  # what another agent said is placed before this one goes on
        story = [step._replace(distills=True) for step in story]
    with made_anew() as (folder, clock):
        tell(folder, clock, story)
        assert home(folder) == [story[-1].city]


@pytest.mark.long
@settings(max_examples=few(15))
@given(
    st.lists(
        st.tuples(st.sampled_from(CITIES), st.integers(2, 4000)),
        min_size=1,
        max_size=5,
        unique_by=lambda row: row[1],
    )
)
def test_of_talk_with_given_times_the_latest_is_current_in_whatever_order_it_comes(
    rows: list[tuple[str, int]],
) -> None:
    with made_anew() as (folder, clock):
        tell(folder, clock, [Step(city, ts=-float(ago)) for city, ago in rows])
        assert home(folder) == [min(rows, key=lambda row: row[1])[0]]


def said(city: str, said_at: float, recorded: float | None = None, **known: Any) -> Fact:
    source = id_of(said_at if recorded is None else recorded, city.encode().ljust(10))
    return Fact(
        "user", "user", "Home", city, level="said", sources=(source,), valid_from=written(said_at), **known
    )


@given(st.floats(0, 1e9), st.floats(0, 1e9))
def test_times_that_have_come_decide_as_they_are(one: float, other: float) -> None:
    new, held = said("Lyon", one), said("Oslo", other)
    assert is_said_before(new, held, NOW) == is_said_before(new, held) == (written(one) < written(other))


@given(st.floats(1, 1e8), st.floats(0, 80_000), st.floats(90_000, 1e9))
def test_a_time_to_come_is_later_than_given_times_and_than_nothing_said_live(
    ahead: float, lag: float, ago: float
) -> None:
    held = said("Oslo", NOW + ahead)
    live, given_ = said("Lyon", NOW - lag), said("Turin", NOW - ago, recorded=NOW)
    assert not is_said_before(live, held, NOW)
    assert is_said_before(given_, held, NOW)
    assert decide(live, [held], now=NOW).act == "supersede"
    assert decide(given_, [held], now=NOW).act == "older"
    assert (seconds_after(NOW + ahead, live, NOW) or 0.0) > 0.0
    assert (seconds_after(NOW + ahead, given_, NOW) or 0.0) < 0.0


def test_a_fact_of_a_log_that_is_ahead_is_compared_by_its_own_time() -> None:
    held = said("Oslo", NOW - 100, recorded=NOW + 40 * DAY, order=NOW + 40 * DAY)
    assert is_said_before(said("Lyon", NOW - 200), held, NOW)
    assert not is_said_before(said("Lyon", NOW - 50), held, NOW)
    assert not is_said_before(said("Lyon", NOW - 50, order=NOW + 41 * DAY), held, NOW)


def test_of_a_fact_without_times_nothing_is_known() -> None:
    bare = Fact("user", "user", "Home", "Lyon")
    assert not is_said_before(bare, said("Oslo", NOW), NOW)
    assert seconds_after(NOW, bare) is None
    assert seconds_after(None, said("Oslo", NOW)) is None
