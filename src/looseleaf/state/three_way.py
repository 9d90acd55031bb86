"""Two changes of one `state.json`, made one as git asks for it: member by member, and its lists row by row.

What one side changed counts. Where both changed the same, the later word does, by the time it has; else ours.
"""

from __future__ import annotations

from looseleaf.state.rules import LISTS, Unsound, blocker_text, highest_id
from looseleaf.text.times import moment

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from typing import Any

    from looseleaf.state.rules import Item, State

    Pick = Callable[[Any, Any], Any]
    """Chooses between two values that were both changed: ours and theirs."""

_GONE = object()
"""Stands for a value that is not there."""

_BLOCKERS = "blockers"


def merge_states(base: State, ours: State, theirs: State) -> State:
    """Return a state with both changes. Unsound if rows of a list cannot be told apart."""

    def later(one: Any, two: Any) -> Any:
        return two if _when(theirs) > _when(ours) else one

    def member(name: str) -> Any:
        before, mine, other = (each.get(name, _GONE) for each in (base, ours, theirs))
        if name == "updated_at":
            return _merged(
                before, mine, other, lambda one, two: max(one, two, key=lambda at: moment(at) or 0.0)
            )
        if name == "conventions":
            return _merged(before, mine, other, lambda one, two: _merged_members(before, one, two, later))
        if name in (*LISTS, _BLOCKERS):
            return _merged(before, mine, other, lambda one, two: _merged_rows(name, before, one, two))
        return _merged(before, mine, other, later)

    made = {name: member(name) for name in {**ours, **theirs}}
    return {name: value for name, value in made.items() if value is not _GONE}


def _merged(base: Any, ours: Any, theirs: Any, pick: Pick) -> Any:
    """Return the value of the side that changed it. What one side changed and the other took away stays."""
    if ours == theirs or theirs == base:
        return ours
    if ours == base or ours is _GONE:
        return theirs
    return ours if theirs is _GONE else pick(ours, theirs)


def _merged_members(base: Any, ours: Item, theirs: Item, pick: Pick) -> Item:
    before = base if isinstance(base, dict) else {}
    made = {
        name: _merged(before.get(name, _GONE), ours.get(name, _GONE), theirs.get(name, _GONE), pick)
        for name in {**ours, **theirs}
    }
    return {name: value for name, value in made.items() if value is not _GONE}


def _merged_rows(name: str, base: Any, ours: Sequence[Any], theirs: Sequence[Any]) -> list[Any]:
    """Return the rows of both sides. Rows that were added with one title are one; with one id and two titles both stay,
    and theirs gets the next id."""
    before, mine, other = (_by_key(name, rows) for rows in (base if base is not _GONE else (), ours, theirs))
    made = dict(mine)
    for key in before:
        made[key] = _merged(before[key], mine.get(key, _GONE), other.get(key, _GONE), _later_row)
    added = {_title(row): key for key, row in mine.items() if key not in before}
    number = highest_id([*before.values(), *ours, *theirs])
    for key, row in other.items():
        if key in before:
            continue
        same = added.get(_title(row))
        if same is not None:
            made[same] = _later_row(mine[same], row)
        elif key in mine:
            number += 1
            made[f"{LISTS[name]}-{number}"] = row | {"id": f"{LISTS[name]}-{number}"}
        else:
            made[key] = row
    rows = [row for row in made.values() if row is not _GONE]
    if name == "decisions_recent" and all(moment(row.get("ts")) is not None for row in rows):
        rows.sort(key=_when)  # the newest is the last
    return rows


def _by_key(name: str, rows: Sequence[Any]) -> dict[str, Any]:
    """Return the rows of a list by their id; blockers, and rows without one, by their words."""
    found = {(row.get("id") if name in LISTS else None) or f" {_title(row)}": row for row in rows}
    if len(found) < len(rows):
        raise Unsound(f"two rows of {name} have the same name")
    return found


def _title(row: Any) -> str:
    return blocker_text(row).casefold()


def _later_row(ours: Any, theirs: Any) -> Any:
    """Return the row that was changed later, with our id."""
    if not (isinstance(ours, dict) and isinstance(theirs, dict) and _when(theirs) > _when(ours)):
        return ours
    return theirs | {name: ours[name] for name in ("id",) if name in ours}


def _when(item: Mapping[str, Any]) -> float:
    return moment(item.get("updated_at") or item.get("ts")) or 0.0
