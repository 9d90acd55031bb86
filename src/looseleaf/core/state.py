"""The working state (`state.json`): what is decided and what is to be done, as talk moves it.

Members that are not known here are kept as they are.
"""

from __future__ import annotations

import re

from looseleaf.core.gate import says
from looseleaf.core.lines import escape
from looseleaf.core.times import written

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
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
    state: State, ts: float, decided: Iterable[str], tasks: Iterable[str], done: Iterable[str]
) -> State:
    """The state after something was decided, taken on, or said to be done. The same state if that is nothing new."""
    decisions = _list(state, "decisions_recent")
    open_tasks = _list(state, "tasks_open")
    for title in map(_short, decided):
        if title and all(_key(each) != title.casefold() for each in decisions):
            decisions.append({"id": _next(decisions, "D"), "title": title, "why": "", "ts": written(ts)})
    for title in map(_short, tasks):
        if title and all(_key(each) != title.casefold() for each in open_tasks):
            number = _next(open_tasks, "T")
            open_tasks.append({"id": number, "title": title, "status": "open", "updated_at": written(ts)})
    finished = list(done)
    left = [each for each in open_tasks if not any(says(_title(each), said) for said in finished)]
    new = state | {"decisions_recent": decisions[-RECENT:], "tasks_open": left[-OPEN:]}
    return new | {"updated_at": written(ts)} if new != state else state


_DONE = re.compile(
    r"\b(?:done|merged|fixed|finished|shipped|completed?|closed|resolved|deployed|released)\b|\b(?:erledigt|fertig|"
    r"behoben|terminé|fini|fusionné|corrigé|hecho|terminado|listo|arreglado)\b|完成了|做完了|已完成|搞定|修好了|"
    r"終わりました|終わった|完了しました|できました"
)
_NOT_DONE = re.compile(
    r"\b(?:not|n't|never|almost|nearly|when|once|until|if|nicht|pas|no)\b|n't\b|还没|没有|まだ|[?？]"
)


def is_done(sentence: str) -> bool:
    """Whether a sentence says that something is finished, and neither asks nor denies it."""
    words = sentence.lower()
    return bool(_DONE.search(words)) and not _NOT_DONE.search(words)


def _list(state: State, name: str) -> list[Any]:
    found = state.get(name)
    return list(found) if isinstance(found, list) else []


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
