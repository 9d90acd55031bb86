"""Two changes of one `state.json`, made one as git asks for it: member by member, and its lists row by row.

What one side changed counts. Where both changed the same, the later word does, by the time it has; else ours.
"""

from __future__ import annotations

from functools import partial
from itertools import product

from looseleaf.state.rules import LISTS, blocker_text, highest_id
from looseleaf.text.times import moment

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from typing import Any

    from looseleaf.state.rules import Item, State

    Pick = Callable[[Any, Any], Any]
    """Chooses between two values that were both changed: ours and theirs."""
    Way = Callable[[Any], object]
    """Tells what a row is known by: two with the same may be one."""

_GONE = object()
"""Stands for a value that is not there."""

_BLOCKERS = "blockers"


def merge_states(base: State, ours: State, theirs: State) -> State:
    """Return a state with both changes."""

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
    """Return the rows of both sides. Rows that were added with one title are one; a row that each side gave another
    title is two. A row of theirs whose id another row of ours has gets the next id; rows of one file keep theirs, even
    if two have one id."""
    before = dict(enumerate(() if base is _GONE else base))
    # The surest way first. Only of what ours left as it was is a row of theirs with another id or title.
    mine = _keyed(ours, product((before,), (repr, _name, _title, _by_id)))
    left = {key: row for key, row in before.items() if _name(mine.get(key, row)) == _name(row)}
    ways = *product((before, mine), (repr, _name)), (mine, _title), (left, _title), (left, _by_id)
    other = _keyed(theirs, ways)
    number, taken = highest_id([*before.values(), *ours, *theirs]), {_id(row) for row in ours} - {None}
    rows = []
    for key in {**mine, **other}:
        was, one, two = (each.get(key, _GONE) for each in (before, mine, other))
        row = _merged(was, one, two, partial(_merged_row, was))
        if name in LISTS and _id(row) != _id(one) and _id(row) in taken:
            number += 1
            row = row | {"id": f"{LISTS[name]}-{number}"}
        rows += [row] if row is not _GONE else []
    if name == "decisions_recent" and all(moment(row.get("ts")) is not None for row in rows):
        rows.sort(key=_when)  # the newest is the last
    return rows


def _keyed(rows: Sequence[Any], ways: Iterable[tuple[Mapping[Any, Any], Way]]) -> dict[Any, Any]:
    """Return rows by the keys of the known rows that they are, each of one; a row that is none has a new key."""
    keys: dict[int, Any] = {}
    for known, way in ways:
        used = set(keys.values())
        free: dict[Any, list[Any]] = {}
        for key in reversed([key for key in known if key not in used]):
            free.setdefault(way(known[key]), []).append(key)
        for at, row in enumerate(rows):
            if at not in keys and free.get(way(row)):
                keys[at] = free[way(row)].pop()  # the first
    return {keys.get(at, object()): row for at, row in enumerate(rows)}


def _merged_row(base: Any, ours: Any, theirs: Any) -> Any:
    """Return a row with both changes, and with our id. Of a member that both changed, the later row's value counts."""
    if not (isinstance(ours, dict) and isinstance(theirs, dict)):
        return ours
    is_later = _when(theirs) > _when(ours)
    made = _merged_members(base, ours, theirs, lambda one, two: two if is_later else one)
    return made | {name: ours[name] for name in ("id",) if name in ours}


def _title(row: Any) -> str:
    return blocker_text(row).casefold()


def _id(row: Any) -> Any:
    return row.get("id") or None if isinstance(row, dict) else None


def _name(row: Any) -> object:
    return _id(row), blocker_text(row)


def _by_id(row: Any) -> object:
    return _id(row) or object()  # without an id, it is no other's


def _when(item: Mapping[str, Any]) -> float:
    return moment(str(item.get("updated_at") or item.get("ts"))) or 0.0  # a person may write anything there
