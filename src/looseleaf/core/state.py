"""The working state (`state.json`): what is decided and what is to be done, as talk moves it.

Members that are not known here are kept as they are.
"""

from __future__ import annotations

from looseleaf.core.gate import mentions
from looseleaf.core.lines import escape
from looseleaf.core.times import written

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from typing import Any

    State = dict[str, Any]

VERSION = 1
RECENT = 10
"""Decisions that the state shows; older ones are facts on pages."""

OPEN = 20
"""Tasks that the state shows: a longer list is nobody's plan."""

_TITLE = 160


def empty(ts: float) -> State:
    return {
        "schema_version": VERSION,
        "updated_at": written(ts),
        "goal": "",
        "now": "",
        "decisions_recent": [],
        "tasks_open": [],
        "conventions": {},
        "blockers": [],
    }


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
    new = dict(state)
    decisions, open_tasks = _list(state, "decisions_recent"), _list(state, "tasks_open")
    if decisions is not None:
        holding = [each for each in decided if not is_outdated(each)]
        _add(new, "decisions_recent", decisions, "D", holding, RECENT, {"why": "", "ts": written(ts)})
        recent = new.get("decisions_recent", [])
        left = [each for each in recent if not is_outdated(_title(each))]
        if len(left) < len(recent):
            new["decisions_recent"] = left
    if open_tasks is not None:
        more = {"status": "open", "updated_at": written(ts)}
        _add(new, "tasks_open", open_tasks, "T", tasks, OPEN, more)
        finished = list(done)
        left = [each for each in open_tasks if not any(_is_of(said, _title(each)) for said in finished)]
        if len(left) < len(open_tasks):
            new["tasks_open"] = left
    return new | {"updated_at": written(ts)} if new != state else state


def _add(
    state: State, name: str, items: list[Any], letter: str, said: Iterable[str], most: int, more: State
) -> None:
    """Put these in a list of the state, each once. Where it grows too long the oldest go, but none that is in `said`:
    so that taking the same again changes nothing."""
    titles = [title for title in map(_short, said) if title][-most:]
    for title in titles:
        if all(_key(each) != title.casefold() for each in items):
            items.append({"id": _next(items, letter), "title": title} | more)
            state[name] = items
    if name in state and state[name] is items:
        keys = {title.casefold() for title in titles}
        spare = [at for at, each in enumerate(items) if _key(each) not in keys]
        gone = set(spare[: max(0, len(items) - most)])
        items[:] = [each for at, each in enumerate(items) if at not in gone]


def _is_of(said: str, title: str) -> bool:
    """Whether a sentence speaks of a task: it says all of its title, and some word of it as it is written."""
    words = [title] if not title.isascii() else title.casefold().split()
    return mentions(title, said) and any(word in said.casefold() or not word.isascii() for word in words)


def _list(state: State, name: str) -> list[Any] | None:
    """None: somebody made something else of it, which stays as it is."""
    found = state.get(name, [])
    return list(found) if isinstance(found, list) else None


def _title(each: Any) -> str:
    return str(each.get("title", "")) if isinstance(each, dict) else ""


def _key(each: Any) -> str:
    return _title(each).casefold()


def _short(text: str) -> str:
    text = escape(text)
    return text if len(text) <= _TITLE else f"{text[: _TITLE - 1].rstrip()}…"


def _next(items: list[Any], letter: str) -> str:
    numbers = [str(each.get("id", ""))[2:] for each in items if isinstance(each, dict)]
    highest = max((int(number) for number in numbers if number.isdecimal() and len(number) < 9), default=0)
    return f"{letter}-{highest + 1}"
