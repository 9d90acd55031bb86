"""Rules of the working state (`state.json`): goal, decisions and tasks, and how talk and people change them.

Unknown members are kept as they are. Nothing is lost when the state is full: the `StateChange` names what leaves it, so
that the caller writes that on a page first. Repeating a change has no effect.
"""

from __future__ import annotations

import json

from looseleaf.base.errors import Invalid, Refused
from looseleaf.base.immutable import frozen
from looseleaf.text.lines import escape
from looseleaf.text.times import written

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from typing import Any

    State = dict[str, Any]
    Item = dict[str, Any]

VERSION = 1
RECENT = 10
"""Decisions in the state; older ones are facts on pages."""

OPEN = 20
"""Tasks in the state: a longer list is not a plan."""

TITLE = 160
WORD = 40
"""Characters of a title (two lines of a terminal), and of a name or a status."""

CLOSED = frozenset("done closed completed complete finished resolved cancelled canceled dropped".split())
"""Statuses of a task that is no longer open, as people write them."""

_DECISIONS = "decisions_recent"
_TASKS = "tasks_open"


@frozen
class StateChange:
    """The new state, and what left it: settled decisions, tasks without room, and tasks that are done."""

    state: State
    settled: tuple[Item, ...] = ()
    parked: tuple[Item, ...] = ()
    done: tuple[Item, ...] = ()


@frozen
class Room:
    """The size limits of a state. `size` counts its tokens as a prompt carries it."""

    size: Callable[[State], int]
    most: int
    least: int


def empty(ts: float) -> State:
    return {
        "schema_version": VERSION,
        "updated_at": moment(ts),
        "goal": "",
        "now": "",
        _DECISIONS: [],
        _TASKS: [],
        "conventions": {},
        "blockers": [],
    }


def moment(ts: float) -> str:
    """Return a time to the second: these times are in every prompt, and microseconds decide nothing."""
    return f"{written(ts)[:19]}Z"


# --- what a prompt carries -----------------------------------------------------------------


def for_prompt(state: State) -> State:
    """Return what helps with the next decision, always in this order, without empty members. Rows have the same
    members, so that they are a table."""
    conventions = state.get("conventions")
    shown: State = {
        "goal": _text_of(state, "goal"),
        "now": _text_of(state, "now"),
        _DECISIONS: _rows_of(state, _DECISIONS, ("id", "title", "ts")),
        _TASKS: _rows_of(state, _TASKS, ("id", "title", "status")),
        "conventions": {
            name: value
            for name, value in (conventions.items() if isinstance(conventions, dict) else ())
            if isinstance(value, (str, int, float)) and value != ""
        },
        "blockers": [text for text in map(blocker_text, _list_of(state, "blockers") or ()) if text],
    }
    return {name: value for name, value in shown.items() if value}


def blocker_text(blocker: Any) -> str:
    return blocker if isinstance(blocker, str) else title_of(blocker)


def compact(state: State) -> str:
    """Return the JSON that a prompt carries."""
    return json.dumps(for_prompt(state), ensure_ascii=False, separators=(",", ":"))


def _text_of(state: State, name: str) -> str:
    value = state.get(name)
    return value if isinstance(value, str) else ""


def _rows_of(state: State, name: str, members: Sequence[str]) -> list[Item]:
    items = (each for each in _list_of(state, name) or () if title_of(each))
    return [{member: _text_of(each, member) for member in members} for each in items]


# --- changing --------------------------------------------------------------------------------


def moved(
    state: State,
    ts: float,
    decided: Iterable[str],
    tasks: Iterable[str],
    done: Iterable[str],
    is_outdated: Callable[[str], bool] = lambda decision: False,
) -> State:
    """Return the state after decisions, new tasks and finished ones; the same state if nothing is new."""
    finished = list(done)
    return move(
        state,
        ts,
        decided=[(title, "") for title in decided],
        tasks=[(title, "open") for title in tasks],
        is_done=lambda task: is_said_of(finished, task),
        is_outdated=is_outdated,
    ).state


def move(
    state: State,
    ts: float,
    *,
    decided: Iterable[tuple[str, str]] = (),
    tasks: Iterable[tuple[str, str]] = (),
    is_done: Callable[[Item], bool] = lambda task: False,
    is_outdated: Callable[[str], bool] = lambda decision: False,
    room: Room | None = None,
    highest: Callable[[str], int] = lambda name: 0,
    aims: Mapping[str, str] | None = None,
) -> StateChange:
    """Add decisions (with reasons) and tasks (with status), each once; drop what is done or outdated; fit the room.

    `highest`: the highest id number a list ever had. `aims`: the `goal` and the current work (`now`), as far as talk
    says so.
    """
    new = dict(state) | {name: short(text, TITLE) for name, text in (aims or {}).items() if text}
    now = moment(ts)
    finished: list[Item] = []
    holding = [(title, why) for title, why in decided if not is_outdated(title)]
    taken = [(title, {"status": status, "updated_at": now}) for title, status in tasks]
    said = {
        _DECISIONS: _add(
            new, _DECISIONS, "D", [(title, {"why": why, "ts": now}) for title, why in holding], highest
        ),
        _TASKS: _add(new, _TASKS, "T", taken, highest),
    }
    recent = _list_of(new, _DECISIONS)
    if recent:
        left = [each for each in recent if not is_outdated(title_of(each))]
        new[_DECISIONS] = left if len(left) < len(recent) else new[_DECISIONS]
    for each in items_of(new, _TASKS):
        if title_of(each) and (is_closed(each) or is_done(each)):
            new = _without(new, _TASKS, each)
            finished.append(each)
    settled, parked = _cut_lists(new, said, room)
    if new == state:
        return StateChange(state, settled, parked, tuple(finished))
    return StateChange(new | {"updated_at": now}, settled, parked, tuple(finished))


def is_closed(task: Any) -> bool:
    return _text_of(task, "status").strip().casefold() in CLOSED if isinstance(task, dict) else False


def is_said_of(sentences: Iterable[str], task: Item) -> bool:
    """True if a sentence speaks of a task: it has the whole title, and at least one of its words as written."""
    from looseleaf.facts.gate import mentions  # loading it costs more than reading a state

    title = title_of(task)
    words = [title] if not title.isascii() else title.casefold().split()
    return any(
        mentions(title, said) and any(word in said.casefold() or not word.isascii() for word in words)
        for said in sentences
        if title
    )


@frozen
class _Heard:
    """The keys of the decisions or tasks just said, in order, and whether any was new."""

    keys: tuple[str, ...]
    is_new: bool


def _add(
    state: State, name: str, letter: str, said: Iterable[tuple[str, Item]], highest: Callable[[str], int]
) -> _Heard:
    """Append these to a list of the state, each once."""
    items = _list_of(state, name)
    if items is None:
        return _Heard((), False)
    given = {short(title).casefold(): (short(title), more) for title, more in said if short(title)}
    known = {_title_key(each) for each in items}
    for key, (title, more) in given.items():
        if key not in known:
            number = max(highest_id(items), highest(name)) + 1
            items.append({"id": f"{letter}-{number}", "title": title} | more)
            state[name] = items
    return _Heard(tuple(given), not known.issuperset(given))


def _cut_lists(
    state: State, said: dict[str, _Heard], room: Room | None
) -> tuple[tuple[Item, ...], tuple[Item, ...]]:
    """Remove and return what is too much: first what was not just said, then the oldest; never the newest. A list
    that nothing was added to is cut only where there is no room."""
    gone: dict[str, list[Item]] = {_DECISIONS: [], _TASKS: []}
    for name, most in ((_DECISIONS, RECENT), (_TASKS, OPEN)):
        items = items_of(state, name)
        waiting = _leaving_order(items, said[name].keys)[: len(items) - most] if len(items) > most else []
        for item in waiting if said[name].is_new else ():
            without = _without(state, name, item)
            if room is None or room.size(without) >= room.least:
                state[name] = without[name]
                gone[name].append(item)
    if room is not None and room.size(state) > room.most:
        _shrink(state, said, room, gone)
    return tuple(gone[_DECISIONS]), tuple(gone[_TASKS])


def _shrink(state: State, said: dict[str, _Heard], room: Room, gone: dict[str, list[Item]]) -> None:
    """Remove decisions, then tasks, until there is room. If there never is, something else is too large, and they
    stay: moving them would not help."""
    small = dict(state)
    left: list[tuple[str, Item]] = []
    for name in (_DECISIONS, _TASKS):
        while room.size(small) > room.most:
            items = _leaving_order(items_of(small, name), said[name].keys)[:-1]
            if not items:
                break
            # Do not go below the least size while there is a choice.
            spare = (each for each in items if room.size(_without(small, name, each)) >= room.least)
            item = next(spare, items[0])
            small = _without(small, name, item)
            left.append((name, item))
    if room.size(small) <= room.most:
        state.update(small)
        for name, item in left:
            gone[name].append(item)


def _leaving_order(items: Sequence[Any], said: Sequence[str]) -> list[Item]:
    """Return the items in the order in which they leave the list. Those just said leave in the order said, so that
    repeating them ends with the same list."""
    titled = [each for each in items if title_of(each)]
    place = {key: at for at, key in enumerate(said)}
    return sorted(titled, key=lambda each: place.get(_title_key(each), -1))


def _without(state: State, name: str, item: Item) -> State:
    return state | {name: [each for each in items_of(state, name) if each is not item]}


# --- members ----------------------------------------------------------------------------


def _list_of(state: State, name: str) -> list[Any] | None:
    """Return a list of the state; None if a person made it something else, which stays."""
    found = state.get(name, [])
    return list(found) if isinstance(found, list) else None


def items_of(state: State, name: str) -> list[Any]:
    return _list_of(state, name) or []


def title_of(each: Any) -> str:
    title = each.get("title", "") if isinstance(each, dict) else ""
    return title if isinstance(title, str) else ""


def _title_key(each: Any) -> str:
    return title_of(each).casefold()


def short(text: str, most: int = TITLE) -> str:
    """Return one line, cut if too long."""
    text = escape(text)
    return text if len(text) <= most else f"{text[: most - 1].rstrip()}…"


def highest_id(items: Sequence[Any]) -> int:
    """Return the highest id number in a list."""
    numbers = [str(each.get("id", ""))[2:] for each in items if isinstance(each, dict)]
    return max(
        (int(number) for number in numbers if number.isascii() and number.isdecimal() and len(number) < 9),
        default=0,
    )


# --- finding one by name --------------------------------------------------------------------


def find_task(tasks: Sequence[Item], name: str) -> Item:
    """Return the task with this id, title, or beginning of a title."""
    wanted = short(name).casefold()
    ways: tuple[Callable[[Item], bool], ...] = (
        lambda task: str(task.get("id", "")).casefold() == wanted,
        lambda task: title_of(task).casefold() == wanted,
        lambda task: title_of(task).casefold().startswith(wanted),
    )
    titled = [each for each in tasks if title_of(each)]
    for way in ways if wanted else ():
        found = [each for each in titled if way(each)]
        if len(found) == 1:
            return found[0]
        if found:
            listed = ", ".join(f"{each.get('id') or '?'} ({short(title_of(each), WORD)})" for each in found)
            raise Invalid(
                f"No task was marked done: {name!r} could be any of {listed}. Give an id that only one of them has."
            )
    open_now = (
        ", ".join(f"{each.get('id') or '?'} ({short(title_of(each), WORD)})" for each in titled) or "none"
    )
    raise Refused(f"No task was marked done: no open task is called {short(name)!r}. Open tasks: {open_now}.")


def find_blocker(blockers: Sequence[Any], name: str) -> int:
    wanted = short(name).casefold()
    found = [
        at
        for at, each in enumerate(blockers)
        if wanted
        in (
            blocker_text(each).casefold(),
            str(each.get("id", "")).casefold() if isinstance(each, dict) else "",
        )
    ]
    if not found and wanted.isascii() and wanted.isdecimal() and 0 < int(wanted[:9]) <= len(blockers):
        found = [int(wanted[:9]) - 1]
    if len(found) != 1 or not wanted:
        there = (
            "; ".join(f"{at} {short(blocker_text(each), WORD)}" for at, each in enumerate(blockers, 1))
            or "none"
        )
        raise Refused(f"Nothing was unblocked: {short(name)!r} names no single blocker. There are: {there}.")
    return found[0]
