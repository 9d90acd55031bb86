"""Two changes of one `state.json` become one: members and rows, none lost, and the result is sound."""

from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from drawing import core
from looseleaf.state.file import parse_sound
from looseleaf.state.rules import blocker_text, format_state
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


# --- rows with one id or one title ---------------------------------------------------------

any_row = st.fixed_dictionaries(
    {"title": st.sampled_from(["Write", "write", "Read", "Rest", ""])},
    optional={
        "id": st.sampled_from(["", "T-1", "T-2", "T-2-lap"]),
        "status": st.sampled_from(["open", "begun"]),
    },
)
any_rows = st.lists(any_row, max_size=4)
any_states = st.fixed_dictionaries(
    {},
    optional={
        "tasks_open": any_rows,
        "decisions_recent": any_rows,
        "blockers": st.lists(st.one_of(st.sampled_from(["rain", "Rain"]), any_row), max_size=3),
        "updated_at": days,
    },
)


def titles_in(state: dict[str, Any], name: str) -> set[str]:
    return {blocker_text(row).casefold() for row in state.get(name, ())}


def rows_of(state: dict[str, Any], name: str, title: str) -> list[Any]:
    return [row for row in state.get(name, ()) if blocker_text(row).casefold() == title]


@core
@given(any_states, any_states, any_states)
def test_no_two_rows_stop_a_merge_and_no_title_is_lost_or_comes_back(
    base: dict[str, Any], ours: dict[str, Any], theirs: dict[str, Any]
) -> None:
    merged = merge_states(base, ours, theirs)
    assert parse_sound(format_state(merged).encode()) == merged
    assert merged == merge_states(base, ours, theirs)
    assert merge_states(base, theirs, theirs) == theirs
    assert merge_states(base, base, theirs) == theirs
    assert merge_states(base, theirs, base) == theirs
    for name in ("tasks_open", "decisions_recent", "blockers"):
        before, mine, other, found = (titles_in(each, name) for each in (base, ours, theirs, merged))
        assert (mine | other) - before <= found <= mine | other
        for side, alone in ((ours, theirs), (theirs, ours)):
            gone = before - titles_in(side, name) if name in side else set()
            assert all(rows_of(alone, name, title) != rows_of(base, name, title) for title in gone & found)


OPEN, BEGUN, READ = (
    {"id": "T-1", "title": title, "status": status}
    for title, status in (("Write", "open"), ("Write", "begun"), ("Read", "open"))
)


def tasks(base: list[Any], ours: list[Any], theirs: list[Any]) -> Any:
    return merged(tasks_open=(base, ours, theirs))["tasks_open"]


def test_two_rows_of_one_id_or_one_title_stay_two_and_keep_their_ids() -> None:
    rest = {"id": "T-2", "title": "Rest"}
    assert tasks([OPEN, READ], [OPEN, READ, rest], [BEGUN, READ]) == [BEGUN, READ, rest]
    assert tasks([OPEN, OPEN], [OPEN, OPEN, rest], [OPEN, BEGUN]) == [OPEN, BEGUN, rest]
    assert tasks([], [rest], [OPEN, READ]) == [rest, OPEN, READ]
    assert merged(blockers=([], ["rain", "rain"], ["rain", "ice"]))["blockers"] == ["rain", "rain", "ice"]


def test_of_rows_that_look_alike_each_side_closes_its_own() -> None:
    assert tasks([OPEN, READ], [READ], [OPEN]) == []
    assert tasks([OPEN, BEGUN], [BEGUN], [OPEN]) == []
    again = OPEN | {"id": "T-2"}
    assert tasks([OPEN, again], [again], [OPEN, BEGUN | {"id": "T-2"}]) == [BEGUN | {"id": "T-2"}]


def test_a_row_that_theirs_adds_with_an_id_of_ours_gets_the_next_even_if_ours_has_it_twice() -> None:
    other, third = OPEN | {"title": "Plan"}, OPEN | {"title": "Rest"}
    assert tasks([], [OPEN, READ], [other, third]) == [
        OPEN,
        READ,
        other | {"id": "T-2"},
        third | {"id": "T-3"},
    ]
    assert tasks([{"title": "Rest"}], [{"title": "Rest", "status": "open"}, OPEN], [third]) == [
        {"title": "Rest", "status": "open", "id": "T-2"},
        OPEN,
    ]


def test_a_row_that_each_side_gave_another_title_is_two() -> None:
    assert tasks([OPEN], [READ], [OPEN | {"title": "Rest"}]) == [
        READ,
        {"id": "T-2", "title": "Rest", "status": "open"},
    ]
    assert tasks([OPEN], [READ], [READ | {"title": "read", "status": "begun"}]) == [
        READ | {"status": "begun"}
    ]


def test_a_title_that_one_side_changed_and_an_id_that_the_other_changed_are_two_rows() -> None:
    read, moved = {"id": "T-1", "title": "Read"}, {"id": "T-2", "title": "Write"}
    assert tasks([OPEN], [read], [moved]) == [read, moved]
    assert tasks([OPEN], [moved], [read]) == [moved, read]
    assert tasks([OPEN], [OPEN | {"title": "WRITE"}], [read]) == [
        OPEN | {"title": "WRITE"},
        read | {"id": "T-2"},
    ]


def test_a_row_keeps_what_each_side_changed_in_it() -> None:
    assert tasks([OPEN], [READ], [BEGUN]) == [READ | {"status": "begun"}]
    assert tasks([OPEN], [BEGUN], [READ]) == [READ | {"status": "begun"}]


def test_a_task_that_a_merge_elsewhere_gave_another_id_is_known_by_its_title() -> None:
    moved = BEGUN | {"id": "T-2"}
    assert tasks([OPEN], [READ, moved], [OPEN | {"why": "asked"}]) == [READ, moved | {"why": "asked"}]


def test_times_that_are_no_text_are_no_times() -> None:
    ours, theirs = ({"ts": 5, "blockers": [{"title": "rain", "updated_at": each}]} for each in ([1], 2))
    assert merge_states({}, ours | {"goal": "a"}, theirs | {"goal": "b"}) == ours | {"goal": "a"}
