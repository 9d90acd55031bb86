"""Two changes of one `state.json` become one: members and rows, none lost, and the result is sound."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from drawing import core
from looseleaf.state.file import parse_sound
from looseleaf.state.rules import Unsound, format_state
from looseleaf.state.three_way import merge_states

days = st.integers(1, 9).map(lambda day: f"2026-03-0{day}T10:00:00Z")
titles = st.sampled_from(["Write the importer", "Read the spec", "Ship it", "Rest"])


def rows(letter: str, time: str) -> st.SearchStrategy[list[dict[str, str]]]:
    made = st.builds(
        lambda number, title, when: {"id": f"{letter}-{number}", "title": title, time: when},
        st.integers(1, 4),
        titles,
        days,
    )
    return st.lists(made, max_size=4, unique_by=(lambda row: row["id"], lambda row: row["title"]))


states = st.fixed_dictionaries(
    {},
    optional={
        "schema_version": st.just(1),
        "updated_at": days,
        "goal": titles,
        "now": titles,
        "decisions_recent": rows("D", "ts"),
        "tasks_open": rows("T", "updated_at"),
        "conventions": st.dictionaries(st.sampled_from("abc"), st.integers(0, 3), max_size=3),
        "blockers": st.lists(
            st.one_of(st.sampled_from(["rain", "a strike"]), st.just({"id": "b", "title": "no key"})),
            max_size=3,
            unique_by=str,
        ),
        "own": st.one_of(st.none(), st.just({"x": [1]})),
    },
)


@core
@given(states, states, states)
def test_one_side_alone_counts_and_what_is_merged_is_sound(
    base: dict[str, Any], ours: dict[str, Any], theirs: dict[str, Any]
) -> None:
    assert merge_states(base, base, theirs) == theirs
    assert merge_states(base, ours, base) == ours
    assert merge_states(base, ours, ours) == ours
    merged = merge_states(base, ours, theirs)
    assert parse_sound(format_state(merged).encode()) == merged
    assert merge_states(ours, merged, ours) == merged
    for name in ("tasks_open", "decisions_recent"):
        ids = [row["id"] for row in merged.get(name, ())]
        assert len(ids) == len(set(ids))


@core
@given(states, states, states)
def test_a_task_that_a_side_added_stays_and_one_that_a_side_closed_goes(
    base: dict[str, Any], ours: dict[str, Any], theirs: dict[str, Any]
) -> None:
    merged = {row["title"] for row in merge_states(base, ours, theirs).get("tasks_open", ())}
    before, mine, other = (
        {row["id"]: row for row in each.get("tasks_open", ())} for each in (base, ours, theirs)
    )
    for side in (mine, other):
        assert {row["title"] for key, row in side.items() if key not in before} <= merged
    left = {row["title"] for each in (mine, other) for row in each.values()}
    assert merged <= left


def merged(**three: tuple[Any, Any, Any]) -> dict[str, Any]:
    sides = ({name: each[n] for name, each in three.items() if each[n] is not None} for n in range(3))
    return merge_states(*sides)


def test_new_tasks_with_one_id_both_stay_and_theirs_gets_the_next() -> None:
    one, two = {"id": "T-2", "title": "Write"}, {"id": "T-2", "title": "Read"}
    old = {"id": "T-1", "title": "Plan"}
    found = merged(tasks_open=([old], [old, one], [old, two]))
    assert found["tasks_open"] == [old, one, {"id": "T-3", "title": "Read"}]


def test_a_task_that_both_added_is_one_with_our_id_and_the_later_status() -> None:
    ours = {"id": "T-2", "title": "Write", "status": "open", "updated_at": "2026-03-01T00:00:00Z"}
    theirs = {"id": "T-1", "title": "write", "status": "begun", "updated_at": "2026-03-02T00:00:00Z"}
    assert merged(tasks_open=([], [ours], [theirs]))["tasks_open"] == [theirs | {"id": "T-2"}]
    assert merged(tasks_open=([], [theirs], [ours]))["tasks_open"] == [theirs]


def test_a_row_that_both_changed_is_the_later_one_else_ours() -> None:
    base, ours, theirs = (
        {"id": "T-1", "title": "Write", "status": each} for each in ("open", "begun", "waits")
    )
    assert merged(tasks_open=([base], [ours], [theirs]))["tasks_open"] == [ours]
    later = theirs | {"updated_at": "2026-03-02T00:00:00Z"}
    assert merged(tasks_open=([base], [ours], [later]))["tasks_open"] == [later]


def test_a_task_that_one_side_closed_and_the_other_changed_stays() -> None:
    base, theirs = {"id": "T-1", "title": "Write"}, {"id": "T-1", "title": "Write it"}
    assert merged(tasks_open=([base], [], [theirs]))["tasks_open"] == [theirs]
    assert merged(tasks_open=([base], [theirs], []))["tasks_open"] == [theirs]


def test_other_members_are_of_the_later_state() -> None:
    days = "2026-03-01T00:00:00Z", "2026-03-02T00:00:00Z", "2026-03-03T00:00:00Z"
    found = merged(
        updated_at=days, goal=("a", "b", "c"), conventions=({}, {"x": 1, "y": 1}, {"x": 2, "z": 1})
    )
    assert found == {"updated_at": days[2], "goal": "c", "conventions": {"x": 2, "y": 1, "z": 1}}
    assert merged(goal=("a", "b", "c"))["goal"] == "b"
    assert merged(goal=("a", None, "c"))["goal"] == "c"
    assert merged(goal=("a", "b", None))["goal"] == "b"


def test_the_newest_decision_is_the_last() -> None:
    ours, theirs = ({"id": f"D-{n}", "title": f"{n}", "ts": f"2026-03-0{n}T00:00:00Z"} for n in (2, 1))
    assert merged(decisions_recent=([], [ours], [theirs]))["decisions_recent"] == [theirs, ours]


def test_rows_that_cannot_be_told_apart_are_left_to_a_person() -> None:
    row = {"id": "T-1", "title": "Write"}
    with pytest.raises(Unsound, match="tasks_open"):
        merged(tasks_open=([row], [row, row | {"title": "Read"}], [row | {"title": "Rest"}]))
    assert json.dumps(merged(tasks_open=([row, row], [row, row], [row])))  # one side changed it: no question
