"""The state as rows of text, one for each member, decision, task, blocker and convention: what several machines did to
it apart is woven row by row (`text.weave`), and made a state again."""

from __future__ import annotations

import json
import re
from itertools import chain, count

from looseleaf.state.rules import Unsound, format_state, parse_state
from looseleaf.store.machines import stem_of
from looseleaf.text.diff import split_lines

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable
    from typing import Any

    from looseleaf.text.weave import Line, LineKey, Weave

_LISTS = ("decisions_recent", "tasks_open", "blockers")
_UPDATED = "updated_at"

_BRANCH = re.compile(r"(-[0-9a-f]{6})+\Z")
"""How the names end of logs that went apart from that of their machine."""


def rows_of(data: bytes | None) -> str | None:
    """Return the rows of a state, as lines; None if it is unsound."""
    try:
        state = parse_state(data or b"") or {}
    except Unsound:
        return None
    rows: list[tuple[str, Any]] = []
    for name, value in state.items():
        if name in _LISTS and isinstance(value, list):
            rows += ((f"{name}[]", each) for each in value)
        elif name == "conventions" and isinstance(value, dict):
            rows += ((f"{name}.{key}", each) for key, each in value.items())
        else:
            rows.append((name, value))
    return "".join(f"{json.dumps(row, ensure_ascii=False)}\n" for row in rows)


def state_of(rows: Iterable[tuple[str, str]]) -> bytes:
    """Return the state of rows, each with its machine. A row whose id another one has, made apart, is told from it by
    the machine; not by the copy, which has its own name in each of two that one machine used."""
    state: dict[str, Any] = {}
    for row, machine in rows:
        name, value = json.loads(row)
        if name.endswith("[]"):
            there = state.setdefault(name[:-2], [])
            taken = {each.get("id") for each in there if isinstance(each, dict)}
            if isinstance(value, dict) and value.get("id") in taken - {None}:
                value = {**value, "id": _free_id(f"{value['id']}-{_stem(machine)}", taken)}
            there.append(value)
        elif name.startswith("conventions."):
            state.setdefault("conventions", {})[name.removeprefix("conventions.")] = value
        else:
            state[name] = value
    return format_state(state).encode()


def _stem(machine: str) -> str:
    return stem_of(_BRANCH.sub("", machine))


def _free_id(name: str, taken: Collection[object]) -> str:
    """Return an id, with a number if another row has it."""
    numbered = (f"{name}-{number}" for number in count(2))
    return next(each for each in chain((name,), numbered) if each not in taken)


def own_rows(file: str, base: str, versions: Iterable[str]) -> str:
    """Return the rows of a file without those that machines wrote and its base does not have: a program that merges
    files (git) brought them. It may have given them another id; the time of the last change is nobody's word."""
    before = {_plain_row(row) for row in split_lines(base)}
    brought = {_plain_row(row) for text in versions for row in split_lines(text)} - before
    rows = {_plain_row(row): row for row in split_lines(base)}
    return "".join(
        rows.get(plain, row) for row in split_lines(file) if (plain := _plain_row(row)) not in brought
    )


def _plain_row(row: str) -> str:
    name, value = json.loads(row)
    if name.endswith("[]") and isinstance(value, dict):
        value = {member: each for member, each in value.items() if member != "id"}
    return json.dumps([name, None if name == _UPDATED else value])


def judge_rows(weave: Weave, when: Callable[[Line], float]) -> tuple[tuple[LineKey, LineKey], ...]:
    """Return the rows that give way, each with the one that stays: of the values of one member, or of rows with one
    title, the last."""
    by_name: dict[object, list[Line]] = {}
    for line in weave.lines():
        name, value = json.loads(line.text)
        if name.endswith("[]"):
            title = value.get("title") if isinstance(value, dict) else value
            by_name.setdefault((name, str(title).casefold()), []).append(line)
        else:
            by_name.setdefault(name, []).append(line)
    found: list[tuple[LineKey, LineKey]] = []
    for name, lines in by_name.items():
        if name == _UPDATED:
            best = max(lines, key=lambda line: (json.loads(line.text)[1], line.rank))
        else:
            best = max(lines, key=lambda line: (when(line), line.rank))
        found += ((line.key, best.key) for line in lines if line is not best and weave.are_apart(line, best))
    return tuple(found)
