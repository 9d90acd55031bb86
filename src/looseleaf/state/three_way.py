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
    """Return the rows of both sides. Rows that were added with one title are one. A row that got another title on each
    side is two. A row of theirs whose id one of ours has gets the next id; rows of one file with one id stay so."""
    before = dict(enumerate(() if base is _GONE else base))
    mine, other = (_matched(rows, before, _WAYS) for rows in (ours, theirs))
    for key in before.keys() & mine.keys() & other.keys():
        if len({_title(each[key]) for each in (before, mine, other)}) == len((before, mine, other)):
            other = {object() if each == key else each: row for each, row in other.items()}
    added = {key: row for key, row in mine.items() if key not in before}
    rest = [row for key, row in other.items() if key not in before]
    other = {key: row for key, row in other.items() if key in before} | _matched(rest, added, _WAYS[:-1])
    number, taken = highest_id([*before.values(), *ours, *theirs]), {_id(row) for row in ours} - {None}
    rows = []
    for key in {**mine, **other}:
        was, one, two = (each.get(key, _GONE) for each in (before, mine, other))
        row = _merged(was, one, two, partial(_merged_row, was))
        if name in LISTS and _id(row) in taken and _id(row) != _id(one):
            number += 1
            row |= {"id": f"{LISTS[name]}-{number}"}
        rows.append(row)
    rows = [row for row in rows if row is not _GONE]
    if name == "decisions_recent" and all(moment(row.get("ts")) is not None for row in rows):
        rows.sort(key=_when)  # the newest is the last
    return rows


def _matched(rows: Sequence[Any], known: Mapping[Any, Any], ways: Sequence[Way]) -> dict[Any, Any]:
    """Return rows by the keys of the known ones that they are, one for each; a row that is none has a new key."""
    keys: dict[int, Any] = {}
    for way in ways:
        free: dict[Any, list[Any]] = {}
        for key in known.keys() - keys.values():
            free.setdefault(way(known[key]), []).append(key)
        for at, row in enumerate(rows):
            if at not in keys and free.get(way(row)):
                keys[at] = free[way(row)].pop(0)
    return {keys.get(at, object()): row for at, row in enumerate(rows)}


def _merged_row(base: Any, ours: Any, theirs: Any) -> Any:
    """Return a row with both changes and our id. Where both changed the same, the later row counts, else ours."""
    if not (isinstance(ours, dict) and isinstance(theirs, dict)):
        return ours
    is_later = _when(theirs) > _when(ours)
    merged = _merged_members(base, ours, theirs, lambda one, two: two if is_later else one)
    return merged | {name: ours[name] for name in ("id",) if name in ours}


def _title(row: Any) -> str:
    return blocker_text(row).casefold()


def _id(row: Any) -> Any:
    return (row.get("id") if isinstance(row, dict) else None) or None


_WAYS: tuple[Way, ...] = (repr, lambda row: (_id(row), _title(row)), _title, lambda row: _id(row) or _title(row))
"""How a row is known again, the surest first: all of it, its id and title, its title, its id."""


def _when(item: Mapping[str, Any]) -> float:
    return moment(item.get("updated_at") or item.get("ts")) or 0.0
