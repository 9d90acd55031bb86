"""The working state (`state.json`): what is wanted, decided and to be done, and how talk and people move it.

Members that are not known here are kept as they are. Nothing is lost when the state is full: what leaves it is named in
the `Change`, for whoever writes it on a page first. The same change made again changes nothing.
"""

from __future__ import annotations

import json

from looseleaf.base.errors import Refused
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
"""Decisions that the state shows; older ones are facts on pages."""

OPEN = 20
"""Tasks that the state shows: a longer list is nobody's plan."""

TITLE = 160
WORD = 40
"""Characters of a title: two lines of a terminal; and of a name or a status."""

CLOSED = frozenset("done closed completed complete finished resolved cancelled canceled dropped".split())
"""What a person may write as the status of a task that is not open any more."""

_DECISIONS = "decisions_recent"
_TASKS = "tasks_open"


@frozen
class Change:
    """The new state, and what is not in it any more: decisions that are settled, tasks for which there is no room, and
    tasks that are done."""

    state: State
    settled: tuple[Item, ...] = ()
    parked: tuple[Item, ...] = ()
    done: tuple[Item, ...] = ()


@frozen
class Room:
    """How large a state may be. `size` counts the tokens of one, as a prompt carries it."""

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
    """To the second: the times of a state are in every prompt, and nobody decides anything by microseconds."""
    return f"{written(ts)[:19]}Z"


# --- what a prompt carries -----------------------------------------------------------------


def for_prompt(state: State) -> State:
    """Only what helps with the next decision, always in this order, without what is empty. Rows have the same members,
    so that they are a table."""
    conventions = state.get("conventions")
    shown: State = {
        "goal": _text(state, "goal"),
        "now": _text(state, "now"),
        _DECISIONS: _rows(state, _DECISIONS, ("id", "title", "ts")),
        _TASKS: _rows(state, _TASKS, ("id", "title", "status")),
        "conventions": {
            name: value
            for name, value in (conventions.items() if isinstance(conventions, dict) else ())
            if isinstance(value, (str, int, float)) and value != ""
        },
        "blockers": [text for text in map(blocker_text, _list(state, "blockers") or ()) if text],
    }
    return {name: value for name, value in shown.items() if value}


def blocker_text(blocker: Any) -> str:
    return blocker if isinstance(blocker, str) else title_of(blocker)


def compact(state: State) -> str:
    """The JSON that a prompt carries."""
    return json.dumps(for_prompt(state), ensure_ascii=False, separators=(",", ":"))


def _text(state: State, name: str) -> str:
    value = state.get(name)
    return value if isinstance(value, str) else ""


def _rows(state: State, name: str, members: Sequence[str]) -> list[Item]:
    items = (each for each in _list(state, name) or () if title_of(each))
    return [{member: _text(each, member) for member in members} for each in items]


# --- moving --------------------------------------------------------------------------------


def moved(
    state: State,
    ts: float,
    decided: Iterable[str],
    tasks: Iterable[str],
    done: Iterable[str],
    is_outdated: Callable[[str], bool] = lambda decision: False,
) -> State:
    """The state after something was decided, taken back, taken on, or said to be done. The same state if that is
    nothing new."""
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
) -> Change:
    """A state with these decisions (and why) and tasks (and how they stand), each once, without what is done or
    outdated, and no larger than its room. `highest`: the highest number of an id that a list ever had. `aims`: what is
    wanted (`goal`) and worked on (`now`), as far as talk says it."""
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
    recent = _list(new, _DECISIONS)
    if recent:
        left = [each for each in recent if not is_outdated(title_of(each))]
        new[_DECISIONS] = left if len(left) < len(recent) else new[_DECISIONS]
    for each in items_of(new, _TASKS):
        if title_of(each) and (is_closed(each) or is_done(each)):
            new = _without(new, _TASKS, each)
            finished.append(each)
    settled, parked = _fit(new, said, room)
    if new == state:
        return Change(state, settled, parked, tuple(finished))
    return Change(new | {"updated_at": now}, settled, parked, tuple(finished))


def is_closed(task: Any) -> bool:
    return _text(task, "status").strip().casefold() in CLOSED if isinstance(task, dict) else False


def is_said_of(sentences: Iterable[str], task: Item) -> bool:
    """Whether one of these sentences speaks of a task: it says all of its title, and some word of it as it is
    written."""
    from looseleaf.facts.gate import mentions  # it costs more to load than the rest of reading a state

    title = title_of(task)
    words = [title] if not title.isascii() else title.casefold().split()
    return any(
        mentions(title, said) and any(word in said.casefold() or not word.isascii() for word in words)
        for said in sentences
        if title
    )


@frozen
class _Said:
    """The keys of what was said, in order, and whether any of it was new."""

    keys: tuple[str, ...]
    is_new: bool


def _add(
    state: State, name: str, letter: str, said: Iterable[tuple[str, Item]], highest: Callable[[str], int]
) -> _Said:
    """Put these at the end of a list of the state, each once."""
    items = _list(state, name)
    if items is None:
        return _Said((), False)
    given = {short(title).casefold(): (short(title), more) for title, more in said if short(title)}
    known = {_key(each) for each in items}
    for key, (title, more) in given.items():
        if key not in known:
            number = max(highest_id(items), highest(name)) + 1
            items.append({"id": f"{letter}-{number}", "title": title} | more)
            state[name] = items
    return _Said(tuple(given), not known.issuperset(given))


def _fit(
    state: State, said: dict[str, _Said], room: Room | None
) -> tuple[tuple[Item, ...], tuple[Item, ...]]:
    """Take out what is too much, and return it: what was not just said first, then the oldest. Never the newest one. A
    list that nothing was added to is only cut where there is no room."""
    gone: dict[str, list[Item]] = {_DECISIONS: [], _TASKS: []}
    for name, most in ((_DECISIONS, RECENT), (_TASKS, OPEN)):
        items = items_of(state, name)
        waiting = _order(items, said[name].keys)[: len(items) - most] if len(items) > most else []
        for item in waiting if said[name].is_new else ():
            without = _without(state, name, item)
            if room is None or room.size(without) >= room.least:
                state[name] = without[name]
                gone[name].append(item)
    if room is not None and room.size(state) > room.most:
        _shrink(state, said, room, gone)
    return tuple(gone[_DECISIONS]), tuple(gone[_TASKS])


def _shrink(state: State, said: dict[str, _Said], room: Room, gone: dict[str, list[Item]]) -> None:
    """Take out decisions, then tasks, until there is room. If there never is, something else is too large, and they
    stay: moving them would help nobody."""
    small = dict(state)
    left: list[tuple[str, Item]] = []
    for name in (_DECISIONS, _TASKS):
        while room.size(small) > room.most:
            items = _order(items_of(small, name), said[name].keys)[:-1]
            if not items:
                break
            # Too little is no better than too much, as long as there is a choice.
            spare = (each for each in items if room.size(_without(small, name, each)) >= room.least)
            item = next(spare, items[0])
            small = _without(small, name, item)
            left.append((name, item))
    if room.size(small) <= room.most:
        state.update(small)
        for name, item in left:
            gone[name].append(item)


def _order(items: Sequence[Any], said: Sequence[str]) -> list[Item]:
    """The items of a list in the order in which they leave it. What was said leaves in the order in which that was, so
    that hearing it again ends with the same list."""
    titled = [each for each in items if title_of(each)]
    place = {key: at for at, key in enumerate(said)}
    return sorted(titled, key=lambda each: place.get(_key(each), -1))


def _without(state: State, name: str, item: Item) -> State:
    return state | {name: [each for each in items_of(state, name) if each is not item]}


# --- one by one ----------------------------------------------------------------------------


def _list(state: State, name: str) -> list[Any] | None:
    """None: somebody made something else of it, which stays as it is."""
    found = state.get(name, [])
    return list(found) if isinstance(found, list) else None


def items_of(state: State, name: str) -> list[Any]:
    return _list(state, name) or []


def title_of(each: Any) -> str:
    title = each.get("title", "") if isinstance(each, dict) else ""
    return title if isinstance(title, str) else ""


def _key(each: Any) -> str:
    return title_of(each).casefold()


def short(text: str, most: int = TITLE) -> str:
    """One line, cut where it is too long."""
    text = escape(text)
    return text if len(text) <= most else f"{text[: most - 1].rstrip()}…"


def highest_id(items: Sequence[Any]) -> int:
    """The highest number of an id in a list."""
    numbers = [str(each.get("id", ""))[2:] for each in items if isinstance(each, dict)]
    return max(
        (int(number) for number in numbers if number.isascii() and number.isdecimal() and len(number) < 9),
        default=0,
    )


# --- which one is meant --------------------------------------------------------------------


def task_named(tasks: Sequence[Item], name: str) -> Item:
    """The task that is meant: by its id, its title, or how that begins."""
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
            raise Refused(
                f"No task was done: {name!r} could be any of {listed}. Give an id that only one of them has."
            )
    open_now = (
        ", ".join(f"{each.get('id') or '?'} ({short(title_of(each), WORD)})" for each in titled) or "none"
    )
    raise Refused(f"No task was done: none that is open is called {short(name)!r}. Open are: {open_now}.")


def blocker_at(blockers: Sequence[Any], name: str) -> int:
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
        raise Refused(f"Nothing was unblocked: {short(name)!r} is not one blocker. There are: {there}.")
    return found[0]
