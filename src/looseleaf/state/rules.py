"""Rules of the working state (`state.json`): goal, decisions and tasks, and how talk and people change them.

Unknown members are kept as they are. Nothing is lost when the state is full: the `StateChange` names what leaves it, so
that the caller writes that on a page first. Repeating a change has no effect.
"""

from __future__ import annotations

import json

from looseleaf.base.errors import Invalid, NotFound
from looseleaf.base.immutable import frozen
from looseleaf.text.lines import escape
from looseleaf.text.times import written

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
    from typing import Any

    State = dict[str, Any]
    Item = dict[str, Any]
    _Said = tuple[tuple[str, ...], bool]

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
    holding = [(title, {"why": why, "ts": now}) for title, why in decided if not is_outdated(title)]
    taken = [(title, {"status": status, "updated_at": now}) for title, status in tasks]
    said = {
        _DECISIONS: _add(new, _DECISIONS, "D", holding, highest),
        _TASKS: _add(new, _TASKS, "T", taken, highest),
    }
    for each in items_of(new, _DECISIONS):
        if is_outdated(title_of(each)):
            new = _without(new, _DECISIONS, each)
    for each in items_of(new, _TASKS):
        is_closed = title_of(each) and _text_of(each, "status").strip().casefold() in CLOSED
        if is_closed or (title_of(each) and is_done(each)):
            new = _without(new, _TASKS, each)
            finished.append(each)
    settled, parked = _cut_lists(new, said, room)
    new = state if new == state else new | {"updated_at": now}
    return StateChange(new, settled, parked, tuple(finished))


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


def _add(
    state: State, name: str, letter: str, said: Iterable[tuple[str, Item]], highest: Callable[[str], int]
) -> _Said:
    """Append these to a list of the state, each once. Return the keys of all, in order, and whether any was new."""
    items = _list_of(state, name)
    if items is None:
        return (), False
    given = {short(title).casefold(): (short(title), more) for title, more in said if short(title)}
    known = {title_of(each).casefold() for each in items}
    for key, (title, more) in given.items():
        if key not in known:
            number = max(highest_id(items), highest(name)) + 1
            items.append({"id": f"{letter}-{number}", "title": title} | more)
            state[name] = items
    return tuple(given), not known.issuperset(given)


def _cut_lists(state: State, said: dict[str, _Said], room: Room | None) -> Iterator[tuple[Item, ...]]:
    """Remove and return what is too much: first what was not just said, then the oldest; never the newest. A list
    that nothing was added to is cut only where there is no room."""
    gone: dict[str, list[Item]] = {_DECISIONS: [], _TASKS: []}
    for name, most in ((_DECISIONS, RECENT), (_TASKS, OPEN)):
        items = items_of(state, name)
        keys, is_new = said[name]
        for item in _leaving_order(items, keys)[: max(len(items) - most, 0)] if is_new else ():
            without = _without(state, name, item)
            if room is None or room.size(without) >= room.least:
                state[name] = without[name]
                gone[name].append(item)
    if room is not None and room.size(state) > room.most:
        _shrink(state, said, room, gone)
    return map(tuple, gone.values())


def _shrink(state: State, said: dict[str, _Said], room: Room, gone: dict[str, list[Item]]) -> None:
    """Remove decisions, then tasks, until there is room. If there never is, something else is too large, and they
    stay: moving them would not help."""
    small = dict(state)
    left: list[tuple[str, Item]] = []
    for name in (_DECISIONS, _TASKS):
        while room.size(small) > room.most:
            items = _leaving_order(items_of(small, name), said[name][0])[:-1]
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
    return sorted(titled, key=lambda each: place.get(title_of(each).casefold(), -1))


def _without(state: State, name: str, item: Item) -> State:
    return state | {name: [each for each in items_of(state, name) if each is not item]}


def _list_of(state: State, name: str) -> list[Any] | None:
    """Return a list of the state; None if a person made it something else, which stays."""
    found = state.get(name, [])
    return list(found) if isinstance(found, list) else None


def items_of(state: State, name: str) -> list[Any]:
    return _list_of(state, name) or []


def title_of(each: Any) -> str:
    title = each.get("title", "") if isinstance(each, dict) else ""
    return title if isinstance(title, str) else ""


def short(text: str, most: int = TITLE) -> str:
    """Return one line, cut if too long."""
    text = escape(text)
    return text if len(text) <= most else f"{text[: most - 1].rstrip()}…"


def highest_id(items: Sequence[Any]) -> int:
    """Return the highest id number in a list."""
    numbers = [str(each.get("id", ""))[2:] for each in items if isinstance(each, dict)]
    short = [each for each in numbers if each.isascii() and each.isdecimal() and len(each) < 9]
    return max(map(int, short), default=0)


# --- finding one by name --------------------------------------------------------------------


def find_task(tasks: Sequence[Item], name: str) -> Item:
    """Return the task with this id, title, or beginning of a title."""
    wanted = short(name).casefold()

    def listed(found: Sequence[Item]) -> str:
        return ", ".join(f"{each.get('id') or '?'} ({short(title_of(each), WORD)})" for each in found)

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
            raise Invalid(
                f"No task was marked done: {name!r} could be any of {listed(found)}. "
                "Give an id that only one of them has."
            )
    known = listed(titled) or "none"
    raise NotFound(f"No task was marked done: no open task is called {short(name)!r}. Open tasks: {known}.")


def find_blocker(blockers: Sequence[Any], name: str) -> int:
    wanted = short(name).casefold()

    def names_of(each: Any) -> tuple[str, str]:
        name = str(each.get("id", "")) if isinstance(each, dict) else ""
        return blocker_text(each).casefold(), name.casefold()

    found = [at for at, each in enumerate(blockers) if wanted in names_of(each)]
    if not found and wanted.isascii() and wanted.isdecimal() and 0 < int(wanted[:9]) <= len(blockers):
        found = [int(wanted[:9]) - 1]
    if len(found) != 1 or not wanted:
        texts = [f"{at} {short(blocker_text(each), WORD)}" for at, each in enumerate(blockers, 1)]
        kind = Invalid if wanted and found else NotFound
        raise kind(
            f"Nothing was unblocked: {short(name)!r} names no single blocker. There are: {'; '.join(texts) or 'none'}."
        )
    return found[0]
