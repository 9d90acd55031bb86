"""The benchmarks measure what they say: what they fill is as if recorded or written, their shares are shares."""

from __future__ import annotations

import importlib.util
import json
import sys
from itertools import chain
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from looseleaf import Memory
from looseleaf.base.messages import Trace
from looseleaf.base.values import Fact


def benchmark(name: str) -> ModuleType:
    path = Path(__file__).parents[2] / f"benchmarks/{name}.py"
    spec = importlib.util.spec_from_file_location(f"{name}_benchmark", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[module.__name__] = module  # dataclasses look their module up
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def window() -> ModuleType:
    return benchmark("window")


@pytest.fixture(scope="module")
def build() -> ModuleType:
    return benchmark("build")


@pytest.fixture(scope="module")
def chains() -> ModuleType:
    return benchmark("chains")


@pytest.fixture(scope="module")
def prompt() -> ModuleType:
    return benchmark("prompt")


def lines(memory: Memory) -> list[dict[str, Any]]:
    """Without what differs from one recording to the next."""
    own = {"id", "ts", "session_id"}
    return [
        {name: value for name, value in line.record.items() if name not in own}
        for line in memory.parts.context.store.read("traces/main")
    ]


def test_a_memory_that_was_filled_is_as_one_that_was_recorded(window: ModuleType, tmp_path: Path) -> None:
    turns = [list(window.Speech().turn(number, 300)) for number in (1, 2)]
    with Memory(tmp_path / "recorded") as recorded, Memory(tmp_path / "filled") as filled:
        for asked in chain(*turns):
            recorded.record(**asked)
        for number, own in enumerate(turns, 1):
            filled.parts.context.store.append("traces/main", list(window.lines_of(number, own)))
        assert lines(filled) == lines(recorded)
        assert all(Trace.from_record(line.record) for line in filled.parts.context.store.read("traces/main"))


def test_a_filled_memory_goes_on_where_it_ends_and_shows_what_came_after_its_mark(
    window: ModuleType, tmp_path: Path
) -> None:
    window.fill(tmp_path / "memory", 25, compacted_every=10)
    with Memory(tmp_path / "memory") as memory:
        assert memory.record(user="And now?").turn_id == "turn_0027"
        assert [turn.turn_id for turn in memory.talk.turns(3)] == ["turn_0025", "turn_0026", "turn_0027"]
        shown = {trace.turn_id for trace in memory.window.read().traces}
        assert shown == {f"turn_{number:04d}" for number in range(21, 28)}
        assert memory.check() == []


def test_a_replayed_talk_has_its_calls_answered(window: ModuleType, tmp_path: Path) -> None:
    call = {"id": "c1", "function": {"name": "get_user", "arguments": '{"user_id": "mia_li_3668"}'}}
    talk = [
        {"role": "system", "content": "Be brief."},
        {"role": "user", "content": "Hello"},
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "c1", "content": '{"name": "Mia"}'},
        {"role": "assistant", "content": "Hello Mia"},
        {"role": "user", "content": "Thanks"},
    ]
    with Memory(tmp_path / "memory") as memory:
        window.replay(memory, talk)
        assert [len(turn.traces) for turn in memory.talk.turns()] == [4, 1]
        assert [each.status for each in memory.talk.tool_calls()] == ["SUCCESS"]
    assert window.needed_later(talk) == {"mia_li_3668"}
    assert window.middle(talk, within_turn=True) == 3
    assert window.middle(talk, within_turn=False) == 2


def test_the_values_of_a_call_are_its_leaves(window: ModuleType) -> None:
    arguments = {"id": "HAT136", "seats": [{"n": 2, "free": True}, {"n": 0.5}], "note": " ", "by": None}
    assert list(window.leaves(arguments)) == ["HAT136", "2", "0.5"]


@pytest.mark.parametrize("value", ["HAT136", "mia_li_3668", "2024-05-20", "JFK", "a@b.c", "src/a"])
def test_what_cannot_be_guessed_is_an_identifier(window: ModuleType, value: str) -> None:
    assert window.is_identifier(value)


@pytest.mark.parametrize("value", ["economy", "3", "Mia", "New York", "no", "seat 12A"])
def test_what_could_be_said_in_other_words_is_no_identifier(window: ModuleType, value: str) -> None:
    assert not window.is_identifier(value)


def test_a_value_is_told_only_as_a_word_of_its_own(window: ModuleType) -> None:
    assert window.is_told("HAT13", '{"flight":"HAT13"}')
    assert not window.is_told("HAT13", '{"flight":"HAT136"}')
    assert not window.is_told("5", "2024-05, 15, x_5")


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        (["abc", "def"], ["abc", "def", "g"], 6),
        (["abc", "def"], ["abc", "dxf"], 4),
        (["abc", "def"], ["abc", "defg"], 6),
        (["abc"], ["xbc"], 0),
        (["abc", "def"], ["abc"], 3),
    ],
)
def test_the_common_beginning_of_two_prompts(
    window: ModuleType, one: list[str], other: list[str], same: int
) -> None:
    assert window.common(one, other) == same


# --- build -----------------------------------------------------------------------------


def test_a_memory_that_was_filled_with_entries_is_as_one_that_they_were_written_to(
    build: ModuleType, tmp_path: Path
) -> None:
    build.fill(tmp_path / "filled", 6, per_topic=3)
    with Memory(tmp_path / "written", distiller=build.Sayings()) as written:
        for number in range(6):
            written.distill(build.saying(number), topic=build.topic_of(number, 6, 3), author="person")[0]
        with Memory(tmp_path / "filled") as filled:
            assert filled.check() == []
            assert filled.views.topics() == written.views.topics() == ["topic-0000", "topic-0001"]
            same = "topic relation object kind level quote origin status path".split()
            told = [
                [[getattr(fact, name) for name in same] for fact in memory.facts()]
                for memory in (filled, written)
            ]
            assert told[0] == told[1]
            assert len(told[0]) == 12
            states = [memory.views.topic("topic-0001")["state"] for memory in (filled, written)]
            assert states[0]["open_questions"] == states[1]["open_questions"]
            assert sorted(states[0]["next_actions"]) == sorted(states[1]["next_actions"])


@pytest.mark.long
def test_a_build_costs_what_is_new_and_the_memory_of_all_does_not_grow(
    build: ModuleType, place: Path
) -> None:
    sizes = (30, 300)
    paths = [place / f"{size}" for size in sizes]
    for size, path in zip(sizes, paths, strict=True):
        build.fill(path, size)
    few, many = map(build.whole_build, paths)
    assert many / few < 25  # linear: ten times; and a hundred times if it were quadratic
    (_, one), (_, other) = build.after_one_entry(paths, 3)
    assert other / one < 4  # a build of everything would take ten times as long
    assert 0.9 < build.growth_of_all(100, 200) < 1.1


# --- chains ----------------------------------------------------------------------------


def test_what_holds_no_more_is_told_by_no_reader(chains: ModuleType) -> None:
    some = [each for each in chains.chains() if each["id"] in ("c002", "c031", "c052")]
    figures = chains.measured(some)
    assert figures.misses == []
    assert (figures.told, figures.right, figures.any_stale, figures.duplicates) == (6, 6, 0, 0)
    assert figures.asked_before == figures.right_before > 6


def test_every_chain_can_be_asked(chains: ModuleType) -> None:
    found = chains.chains()
    assert len({each["id"] for each in found}) == len(found) > 60
    for each in found:
        assert {"steps", "slot", "current", "never", "as_of"} <= each.keys()
        assert not chains.keys(each["current"], each).keys() & chains.keys(each["never"], each).keys()


@pytest.mark.parametrize(
    ("line", "stale"),
    [
        ("I like jazz.", True),
        ("Likes: jazz", True),
        ("The user likes Jazz", True),
        ("I no longer like jazz.", False),
        ("Dislikes: jazz", False),
        ("I like chess.", False),
        ("jazzy", False),
    ],
)
def test_a_sentence_that_gave_a_value_is_stale_and_one_that_ended_it_is_not(
    chains: ModuleType, line: str, stale: bool
) -> None:
    [asked] = [each for each in chains.chains() if each["id"] == "c033"]
    assert chains.is_stale(line, asked) is stale


def test_a_stale_value_is_found_in_every_reader(chains: ModuleType, tmp_path: Path) -> None:
    [asked] = [each for each in chains.chains() if each["id"] == "c001"]
    moved = dict(asked, steps=asked["steps"][:1], as_of=[])  # the second message never came
    with Memory(tmp_path / "memory", policy=chains.SMALL, counter=len) as memory:
        chains.tell(memory, moved, 1, compacting=True)
        figures = chains.Figures()
        figures.take(memory, asked, "once")
    assert {"facts", "topic", "global memory", "pages", "window", "semantic.jsonl"} <= set(figures.stale)
    assert (figures.right, figures.any_stale) == (0, 1)
    assert [what for what, figure, _ in figures.rows() if figure == "100.0 % of 1"]


def test_a_duplicate_is_the_same_value_or_a_second_one_where_there_is_one(chains: ModuleType) -> None:
    told = (("Home", "Lyon"), ("Likes", "tea"), ("Likes", "jazz"), ("Favourite", "colour: red"))
    facts = [Fact("user", "user", relation, what) for relation, what in told]
    assert chains.duplicates(facts) == []
    more = (("Home", "Paris"), ("Likes", "Tea"), ("Favourite", "colour: blue"), ("Favourite", "food: rice"))
    again = [Fact("user", "user", relation, what) for relation, what in more]
    assert chains.duplicates([*facts, *again]) == again[:3]


# --- prompt ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("part", "least"),
    [
        pytest.param("growth", 4, marks=pytest.mark.long),
        ("prefix", 2),
        pytest.param("agents", 1, marks=pytest.mark.long),
        pytest.param("notation", 5, marks=pytest.mark.long),
        pytest.param("layout", 1, marks=pytest.mark.long),
    ],
)
def test_what_a_prompt_costs_is_measured_or_said_to_be_skipped(
    prompt: ModuleType, part: str, least: int
) -> None:
    rows = list(prompt.parts(quick=True, keep=None)[part]())
    assert len(rows) >= least
    assert all(what and goal and (figure[0].isdigit() or "skipped" in figure) for what, figure, goal in rows)


def test_a_cache_knows_more_of_prompts_that_only_grow_than_of_those_that_begin_anew(
    prompt: ModuleType, place: Path
) -> None:
    talk = prompt.prefix.Conversation(place / "memory", 8_000)
    for number in range(1, 21):
        talk.turn(number)
    talk.memory.close()
    assert talk.changes > 10
    share = prompt.prefix.cached_share
    assert share(talk.ours) > 0.8 > share(talk.before)


def test_a_memory_that_is_kept_is_not_filled_again(prompt: ModuleType, place: Path) -> None:
    where = prompt.filled(place, (20, 10))
    with Memory(where) as memory:
        assert len(memory.views.topics()) >= 2
        assert [fact.relation for fact in memory.facts(topic="topic-0001")] == list(prompt.RELATIONS)
        first = memory.talk.turns(1)[0].turn_id
        before = (where / "USER.md").stat().st_mtime_ns
    assert prompt.filled(place, (20, 10)) == where
    assert (where / "USER.md").stat().st_mtime_ns == before
    with Memory(where) as memory:
        assert memory.talk.turns(1)[0].turn_id == first == "turn_0011"


def test_every_notation_of_a_state_says_its_titles(prompt: ModuleType) -> None:
    shown = {"goal": "ship", "tasks_open": [{"id": "T-1", "title": "write, then test", "status": "open"}]}
    found = prompt.layouts.notations(shown)
    assert found.keys() == {"json", "toon", "lines", "pretty", "worded"}
    assert all("write, then test" in text and "ship" in text for text in found.values())
    assert found["worded"] == "goal: ship\ntasks_open:\n- T-1 write, then test open"


def test_a_day_in_the_log_has_the_summaries_of_its_sessions(prompt: ModuleType) -> None:
    written = [("2026-01-01", "a"), ("2026-01-02", "b"), ("2026-01-02", "c")]
    log = prompt.layouts.log_of(written, ["2026-01-02"])
    assert log == "## Recent Activity\n\n# 2026-01-02\n\nb\n\nc"


def test_the_data_are_one_object_a_line() -> None:
    for path in sorted((Path(__file__).parents[2] / "benchmarks/data").glob("*.jsonl")):
        assert all(isinstance(json.loads(line), dict) for line in path.read_text("utf-8").splitlines())
