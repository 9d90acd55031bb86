"""The state, without files: what a prompt carries of it, how it moves, and how its text is read with places."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from drawing import core, few
from growth import LINEAR, growth
from looseleaf.base.errors import Refused
from looseleaf.state.file import format_for_prompt
from looseleaf.state.rules import (
    DEEPEST,
    OPEN,
    RECENT,
    Room,
    StateChange,
    Unsound,
    compact,
    empty,
    find_blocker,
    find_task,
    for_prompt,
    format_path,
    format_state,
    move,
    parse_state,
    place_of,
    short,
    title_of,
)
from looseleaf.text.notation import decode, encode
from tables import check_rows

SEED = {
    "schema_version": 1,
    "updated_at": "2026-01-31T12:34:56-03:00",
    "goal": "Describe and implement the agent's local memory architecture",
    "now": "Implementing state compaction",
    "decisions_recent": [
        {
            "id": "ADR-0003",
            "title": "Use only short and medium-term memory",
            "why": "Simplicity for code CLI",
            "ts": "2026-01-31T12:00:00-03:00",
        }
    ],
    "tasks_open": [
        {
            "id": "T-21",
            "title": "Implement Working State compaction",
            "status": "open",
            "updated_at": "2026-01-31T12:10:00-03:00",
        }
    ],
    "conventions": {"language": "TypeScript", "runtime": "Bun", "testing": "bun test"},
}
SEED_TOON = """\
goal: Describe and implement the agent's local memory architecture
now: Implementing state compaction
decisions_recent[1]{id,title,ts}:
  ADR-0003,Use only short and medium-term memory,2026-01-31T12:00:00-03:00
tasks_open[1]{id,title,status}:
  T-21,Implement Working State compaction,open
conventions:
  language: TypeScript
  runtime: Bun
  testing: bun test"""

AWKWARD = ["", " ", ",", '"', ":", "\n", "é", "日本", "- ", "#", "{", "plan", "true", "1"]
TEXTS = st.lists(st.sampled_from(AWKWARD), max_size=5).map("".join)
ITEMS = st.lists(
    st.dictionaries(st.sampled_from(["id", "title", "why", "ts", "status", "mine"]), TEXTS, max_size=5)
    | TEXTS,
    max_size=4,
)
STATES = st.fixed_dictionaries(
    {},
    optional={
        "goal": TEXTS,
        "now": TEXTS,
        "decisions_recent": ITEMS,
        "tasks_open": ITEMS,
        "conventions": st.dictionaries(TEXTS, TEXTS | st.integers() | st.booleans(), max_size=3),
        "blockers": ITEMS,
        "mine": st.dictionaries(TEXTS, ITEMS, max_size=2),
    },
)


# --- what a prompt carries ---------------------------------------------------------------


def test_the_example_of_a_state_gives_the_example_of_its_toon() -> None:
    assert encode(for_prompt(SEED)) == SEED_TOON
    assert format_for_prompt(SEED) == SEED_TOON
    document = next(iter(Path(__file__).parents[3].glob("shared/seeds/000_*.txt")), None)
    if document is not None:
        text = document.read_text("utf-8")
        assert json.loads(text.split("```json\n")[1].partition("```")[0]) == SEED
        assert text.split("```toon\n")[1].partition("\n```")[0] == SEED_TOON


@settings(max_examples=few(150), deadline=None)
@given(STATES)
def test_what_a_prompt_carries_has_an_order_tables_and_nothing_empty(state: dict[str, Any]) -> None:
    shown = for_prompt(state)
    order = ["goal", "now", "decisions_recent", "tasks_open", "conventions", "blockers"]
    assert list(shown) == [name for name in order if name in shown]
    assert all(shown.values())
    for name, members in (
        ("decisions_recent", ["id", "title", "ts"]),
        ("tasks_open", ["id", "title", "status"]),
    ):
        assert all(list(row) == members for row in shown.get(name, ()))
        assert all(type(value) is str for row in shown.get(name, ()) for value in row.values())
    assert all(type(text) is str for text in shown.get("blockers", ()))
    assert for_prompt(shown) == shown
    text = encode(shown)
    assert text is not None
    assert decode(text) == shown
    assert (
        decode(format_for_prompt(state)) == shown
        if format_for_prompt(state)[:1] != "{"
        else json.loads(format_for_prompt(state)) == shown
    )
    assert bool(format_for_prompt(state)) == bool(shown)


def test_a_state_is_carried_as_json_where_toon_is_not_shorter() -> None:
    quoted = {"conventions": {f"{number},": f"{number}," for number in range(20)}}
    assert format_for_prompt(quoted) == compact(quoted)
    unsayable = {"conventions": {"much": 10**1000}}
    assert format_for_prompt(unsayable) == compact(unsayable)


def test_strange_members_are_left_out_and_nothing_breaks() -> None:
    odd = {
        "goal": 3,
        "now": None,
        "decisions_recent": "none",
        "tasks_open": [1, {"title": 2}],
        "conventions": [],
    }
    assert for_prompt(odd | {"blockers": {"a": 1}}) == {}
    assert for_prompt({"blockers": ["a", {"id": "B-1", "title": "b"}, {"id": "x"}]}) == {
        "blockers": ["a", "b"]
    }
    assert for_prompt({"conventions": {"a": True, "b": "", "c": None, "d": 0}}) == {
        "conventions": {"a": True, "d": 0}
    }


# --- moving ------------------------------------------------------------------------------

TITLES = st.lists(
    st.sampled_from([f"plan {number}" for number in range(30)] + ["", "Plan 1", "x" * 300]), max_size=25
)
BY_CHARACTERS = Room(lambda state: len(compact(state)) // 4, 400, 120)


def everything(change: StateChange) -> set[str]:
    left = [*change.settled, *change.parked, *change.done]
    there = [*change.state["decisions_recent"], *change.state["tasks_open"]]
    return {title_of(each).casefold() for each in (*left, *there)}


@settings(max_examples=few(150), deadline=None)
@given(TITLES, TITLES, TITLES, TITLES)
def test_nothing_is_lost_by_moving_and_moving_again_changes_nothing(
    first: list[str], decided: list[str], tasks: list[str], done: list[str]
) -> None:
    room = BY_CHARACTERS

    def change(state: dict[str, Any], ts: float) -> StateChange:
        return move(
            state,
            ts,
            decided=[(title, "") for title in decided],
            tasks=[(title, "open") for title in tasks],
            is_done=lambda task: title_of(task) in done,
            room=room,
        )

    before = move(empty(1.0), 1.0, decided=[(title, "why") for title in first], room=room)
    made = change(before.state, 2.0)
    wanted = {short(title).casefold() for title in (*decided, *tasks) if short(title)}
    assert everything(made) >= wanted | {
        title_of(each).casefold() for each in before.state["decisions_recent"]
    }
    assert room.size(made.state) <= room.most
    if any(decided):
        assert made.state["decisions_recent"], "the newest stays"
    for name in ("decisions_recent", "tasks_open"):
        ids = [each["id"] for each in made.state[name]]
        assert len(ids) == len(set(ids))
    if made.settled and not made.parked:
        assert room.size(made.state) >= room.least
    again = change(made.state, 3.0)
    assert again.state == made.state
    assert everything(again) >= wanted


def test_lists_are_cut_from_the_oldest_on() -> None:
    made = move(empty(1.0), 2.0, decided=[(f"d{number}", "") for number in range(RECENT + 3)])
    assert [title_of(each) for each in made.settled] == ["d0", "d1", "d2"]
    made = move(made.state, 3.0, tasks=[(f"t{number}", "open") for number in range(OPEN + 2)])
    assert [title_of(each) for each in made.parked] == ["t0", "t1"]
    made = move(empty(1.0), 2.0, decided=[("a", "")], tasks=[("b", "open")])
    assert made.state["tasks_open"][0]["title"] == "b"


def test_a_long_list_stays_while_the_state_is_small() -> None:
    small = Room(lambda state: len(state["decisions_recent"]), 100, RECENT + 2)
    made = move(empty(1.0), 2.0, decided=[(f"d{number}", "") for number in range(RECENT + 5)], room=small)
    assert len(made.state["decisions_recent"]) == RECENT + 2


def test_one_that_would_leave_too_little_is_taken_last() -> None:
    large = {"id": "D-1", "title": "x" * 2000}
    state = empty(1.0) | {
        "decisions_recent": [large, {"id": "D-2", "title": "y" * 40}, {"id": "D-3", "title": "z"}]
    }
    made = move(state, 2.0, room=BY_CHARACTERS)
    assert [title_of(each)[0] for each in made.settled] == ["y", "x"]


def test_tasks_whose_status_says_so_are_done() -> None:
    state = {
        "tasks_open": [{"title": "a", "status": "Done "}, {"title": "b", "status": "open"}, {"title": "c"}]
    }
    made = move(state, 2.0)
    assert [title_of(each) for each in made.done] == ["a"]
    assert [title_of(each) for each in made.state["tasks_open"]] == ["b", "c"]
    assert made.state["updated_at"] == "1970-01-01T00:00:02Z"


def test_the_task_that_is_meant_is_one() -> None:
    tasks = [{"id": "T-1", "title": "Write tests"}, {"id": "T-2", "title": "Write docs"}, {"title": "t-3"}]
    assert find_task(tasks, "t-2") is tasks[1]
    assert find_task(tasks, "WRITE TESTS") is tasks[0]
    assert find_task(tasks, "Write d") is tasks[1]
    assert find_task(tasks, "T-3") is tasks[2]
    with pytest.raises(Refused, match=r"could be any of T-1 \(Write tests\), T-2 \(Write docs\)"):
        find_task(tasks, "write")
    for unknown in ("sleep", ""):
        with pytest.raises(Refused, match="Open tasks: T-1"):
            find_task(tasks, unknown)
    with pytest.raises(Refused, match="Open tasks: none"):
        find_task([], "x")


def test_the_blocker_that_is_meant_is_one() -> None:
    blockers = ["no power", {"id": "B-7", "title": "no key"}, "3"]
    assert [find_blocker(blockers, name) for name in ("No power", "b-7", "no key", "1", "2", "3")] == [
        0,
        1,
        1,
        0,
        1,
        2,
    ]
    for unknown in ("", "0", "9", "nothing"):
        with pytest.raises(Refused, match="There are: 1 no power; 2 no key; 3 3"):
            find_blocker(blockers, unknown)
    with pytest.raises(Refused, match="There are: none"):
        find_blocker([], "1")


# --- its text ----------------------------------------------------------------------------

JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**60), 2**60) | st.floats(-1e9, 1e9) | TEXTS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXTS, inner, max_size=3),
    max_leaves=12,
)


@core
@given(st.dictionaries(TEXTS.filter(lambda name: name != "schema_version"), JSON, max_size=4))
def test_a_state_that_is_written_is_read_the_same(state: dict[str, Any]) -> None:
    assert parse_state(format_state(state).encode()) == state
    assert parse_state(f"\ufeff{format_state(state)}".encode()) == state


def test_a_fault_has_its_line_and_column() -> None:
    def check(data: bytes, line: int, column: int, why: str) -> None:
        with pytest.raises(Unsound) as found:
            parse_state(data)
        assert (found.value.line, found.value.column) == (line, column)
        assert why in found.value.why
        assert found.value.where == f"line {line}, column {column}"
        assert len(found.value.why) < 200

    check_rows(
        check,
        [
            (b'{"goal": "ship",\n "now": }\n', 2, 9, "not JSON"),
            (b'{"a": 1,\n "b": {"c": 1,\n"c": 2}}', 3, 1, "c is there twice"),
            (b'{"a": {"b": 1}, "a": 2}', 1, 17, "a is there twice"),
            (b'{"a b": 1,\n"a b": 2}', 2, 1, '"a b" is there twice'),
            (b'{"a": [1,\n NaN]}', 2, 2, "NaN is not a number"),
            (b'{"a": -Infinity}', 1, 7, "-Infinity is not a number"),
            (b'{"a": true, "b": 1, "c": "x", "d": NaN}', 1, 36, "NaN is not a number"),
            (b'{"a": 1e999}', 1, 7, "1e999 is not a number"),
            (b'{\n"a": ' + b"9" * 5000 + b"}", 2, 6, "9 is not a number"),
            (b'{"a":\n"\\ud800"}', 2, 1, "half of a character"),
            (b'{"\\ud800": 1}', 1, 2, "half of a character"),
            (b'{\n"a": "\xff"}', 2, 7, "not UTF-8"),
            (b"\xff", 1, 1, "not UTF-8"),
            (b"[1]", 1, 1, "must be an object"),
            (b'"text"', 1, 1, "must be an object"),
            (b'{\n "schema_version": 2}', 2, 2, "of version 2"),
            (b"[" * 100_000, 1, DEEPEST + 1, "nested more than"),
            (b'{"a":' * 100_000, 1, 5 * DEEPEST + 1, "nested more than"),
            (b'{"a": ' + b"[" * 40 + b"]" * 40 + b"}", 1, 7 + DEEPEST - 1, "nested more than"),
            (b'{"a": tru}', 1, 7, "not JSON"),
            (b'{"a": 1} x', 1, 10, "not JSON"),
        ],
    )


def test_an_empty_file_is_no_state_and_no_fault() -> None:
    assert parse_state(b"") is parse_state(b" \n") is parse_state("\ufeff".encode()) is None
    assert Unsound("x").where == ""
    assert Unsound("x", 3).where == "line 3"


@settings(max_examples=few(200), deadline=None)
@given(st.binary(max_size=60) | st.text('{}[]":,1a\\ \n', max_size=40).map(str.encode))
def test_whatever_a_file_holds_it_is_a_state_or_one_sentence(data: bytes) -> None:
    fault: Unsound | None = None
    state = None
    try:
        state = parse_state(data)
    except Unsound as unsound:
        fault = unsound
    assert fault is None or 1 <= (fault.line or 0) <= data.count(b"\n") + 1
    assert state is None or parse_state(format_state(state).encode()) == state


@settings(max_examples=few(100), deadline=None)
@given(st.dictionaries(TEXTS, JSON, min_size=1, max_size=4), st.data())
def test_a_member_is_found_where_it_stands(state: dict[str, Any], data: st.DataObject) -> None:
    path: list[Any] = []
    value: Any = state
    while isinstance(value, (dict, list)) and value and (not path or data.draw(st.booleans())):
        path.append(data.draw(st.sampled_from(list(value) if isinstance(value, dict) else range(len(value)))))
        value = value[path[-1]]
    text = format_state(state)
    line, column = place_of(text, path)
    there = text.split("\n")[line - 1][column - 1 :]
    wanted = json.dumps(path[-1], ensure_ascii=False) if isinstance(path[-1], str) else json.dumps(value)[:1]
    assert there.startswith(wanted)


def test_a_member_that_is_not_there_is_looked_for_where_it_should_be() -> None:
    text = '{\n "tasks_open": [\n  {"title": "a"},\n  {"id": 1}]}'
    assert place_of(text, ["tasks_open", 1, "title"]) == (4, 3)
    assert place_of(text, ["goal"]) == (1, 1)
    assert place_of("]", ["goal"]) == place_of("", ["goal"]) == (1, 1)
    assert format_path(["tasks_open", 1, "title"]) == "tasks_open[1].title"
    assert format_path(["a b", "c"]) == '"a b".c'


def test_looking_for_a_fault_takes_time_in_proportion_to_the_text() -> None:
    def work(size: int) -> Callable[[], None]:
        texts = (
            b'{"a":' * size,
            b'{"a": [' + b'{"b": 1},' * size + b"NaN]}",
            b'"' + b"\\" * size,
            b'{"a": "' * size,
        )

        def read() -> None:
            for data in texts:
                with pytest.raises(Unsound):
                    parse_state(data)

        return read

    assert growth(work, 2_000) < LINEAR


def test_a_title_is_one_line_and_cut() -> None:
    assert short("a\nb\x00") == "a b\\x00"
    assert len(short("x" * 500)) == 160
    assert re.fullmatch("x+…", short("x" * 500))
