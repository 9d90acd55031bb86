"""`state.json` as text: read strictly, and every fault of it with its place (FORMAT §11.4).

Invariant: what is read can be written and read again, the same; what is not gives one `Unsound`, with the line and the
column (from 1) of the fault. Time grows with the text, however it is nested.
"""

from __future__ import annotations

import json
import re
from math import isfinite

from looseleaf.state.rules import VERSION

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from typing import Any

    from looseleaf.state.rules import State

DEEPEST = 32
"""Levels of a state. It is a page that people read."""

_TOKEN = re.compile(r'[ \t\r\n]*+("(?:[^"\\]|\\.)*+"?|[\[\]{},:]|[^\s\[\]{},:"]++)', re.DOTALL)
_NAME = re.compile(r"[^\W\d]\w*")
_SHOWN = 60
_LONGEST_NUMBER = 300
"""Characters of a number: Python refuses to read some thousands of digits, and nobody counts so far."""


class Unsound(ValueError):
    """A state that cannot be used: why, and where. `told`: the same where only a line is told beside it."""

    def __init__(
        self, why: str, line: int | None = None, column: int | None = None, told: str | None = None
    ) -> None:
        super().__init__(why)
        self.why = why
        self.told = told or why
        self.line = line
        self.column = column

    @property
    def where(self) -> str:
        if self.line is None:
            return ""
        return f"line {self.line}" if self.column is None else f"line {self.line}, column {self.column}"


def rendered(state: State) -> str:
    """The text of a state, for people and for line by line differences."""
    return f"{json.dumps(state, ensure_ascii=False, indent=2)}\n"


def parsed(data: bytes) -> State | None:
    """What a file says; None for one that is empty. Unsound, with its place, for what is no state at all."""
    try:
        text = data.decode()
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        before = data[data.rfind(b"\n", 0, error.start) + 1 : error.start]
        raise Unsound("this is not UTF-8 text", line, len(before.decode(errors="replace")) + 1) from None
    text = text.removeprefix("\ufeff")  # some editors begin every file with it
    if not text.strip():
        return None
    try:
        value = json.loads(
            text, object_pairs_hook=_object, parse_constant=_number, parse_float=_number, parse_int=_whole
        )
        _look_through(value)
    except json.JSONDecodeError as error:
        whole = f"this is not JSON ({error})"
        raise Unsound(f"this is not JSON ({error.msg})", error.lineno, error.colno, whole) from None
    except (
        ValueError,
        RecursionError,
    ):  # something that the reader takes for JSON, or cannot say where it is
        raise _oddity(text) from None
    if not isinstance(value, dict):
        raise Unsound("this is no state: it must be an object, as in {…}", *_place(text, 0))
    refuse_newer(value, text)
    return value


def refuse_newer(state: State, text: str) -> None:
    version = state.get("schema_version", VERSION)
    if type(version) is int and version > VERSION:
        why = f"this is a state of version {version}, and this program knows version {VERSION}: use a newer looseleaf"
        raise Unsound(why, *place_of(text, ["schema_version"]))


def named(path: Sequence[str | int]) -> str:
    """`tasks_open[0].title`."""
    name = ""
    for each in path:
        if isinstance(each, int):
            name += f"[{each}]"
        else:
            shown = each if _NAME.fullmatch(each) else json.dumps(each[:_SHOWN], ensure_ascii=False)
            name += f".{shown}" if name else shown
    return name


def place_of(text: str, path: Sequence[str | int]) -> tuple[int, int]:
    """The line and the column of a member, or of what it should be in."""
    text = text.removeprefix("\ufeff")
    wanted, best, depth = tuple(path), 0, -1
    for _, at, member in _walk(text):
        if len(member) > depth and wanted[: len(member)] == member:
            best, depth = at, len(member)
    return _place(text, best)


# --- what JSON's own reader lets pass -----------------------------------------------------------


def _object(pairs: list[tuple[str, Any]]) -> State:
    made = dict(pairs)
    if len(made) < len(pairs):
        raise ValueError("the same name twice")
    return made


def _number(text: str) -> float:
    if not isfinite(number := float(text)):
        raise ValueError("no number")
    return number


def _whole(text: str) -> int:
    if len(text) > _LONGEST_NUMBER:
        raise ValueError("too long")
    return int(text)


def _look_through(value: Any) -> None:
    """ValueError where it is nested too deeply, or holds what cannot be written."""
    level = [value]
    for _ in range(DEEPEST + 1):
        below: list[Any] = []
        for each in level:
            if isinstance(each, str):
                each.encode()
            elif isinstance(each, dict):
                below += each
                below += each.values()
            elif isinstance(each, list):
                below += each
        if not below:
            return
        level = below
    raise ValueError("nested too deeply")


def _oddity(text: str) -> Unsound:
    """What is wrong with a text, and where."""
    seen: set[tuple[str | int, ...]] = set()
    for token, at, member in _walk(text):
        why = ""
        if token[0] in "{[" and len(member) >= DEEPEST:
            why = f"this is nested more than {DEEPEST} deep"
        elif token[0] == '"' and _is_broken(token):
            why = "this holds half of a character, which cannot be written"
        elif token[0] not in '{["' and not _is_number(token):
            why = f"this is not JSON ({token[:_SHOWN]} is no number)"
        elif token[0] == '"' and token.endswith(":"):
            why = f"this is not JSON ({named(member[-1:])} is there twice)" if member in seen else ""
            seen.add(member)
        if why:
            return Unsound(why, *_place(text, at))
    return Unsound("this is not JSON", 1, 1)


def _is_number(token: str) -> bool:
    if token in ("true", "false", "null"):
        return True
    try:
        return len(token) <= _LONGEST_NUMBER and isfinite(float(token))
    except ValueError:
        return False


def _is_broken(token: str) -> bool:
    try:
        _string(token.rstrip(":")).encode()
    except UnicodeEncodeError:
        return True
    return False


# --- where things are ---------------------------------------------------------------------------


def _walk(text: str) -> Iterator[tuple[str, int, tuple[str | int, ...]]]:
    """Each name and value of a JSON text: how it begins (a name ends with a colon), where, and whose it is. Goes on as
    far as the text is JSON; no deeper than a little below what is allowed."""
    path: list[str | int] = []
    kinds: list[str] = []
    name: str | None = None
    at = 0
    while found := _TOKEN.match(text, at):
        token, start, at = found[1], found.start(1), found.end()
        if token in "]}":
            if not kinds:
                return
            kinds.pop()
            path.pop()
        elif token == ",":
            if kinds and kinds[-1] == "[":
                path[-1] = int(path[-1]) + 1
        elif token == ":":
            pass
        elif kinds and kinds[-1] == "{" and name is None and token[0] == '"':
            name = _string(token)
            path[-1] = name
            yield f"{token}:", start, tuple(path)
            continue
        else:
            yield token, start, tuple(path)
            if token in "[{":
                if len(kinds) > DEEPEST:
                    return
                kinds.append(token)
                path.append(0)
        if token != ":":
            name = None


def _string(token: str) -> str:
    try:
        return str(json.loads(token))
    except ValueError:
        return token.strip('"')


def _place(text: str, at: int) -> tuple[int, int]:
    return text.count("\n", 0, at) + 1, at - text.rfind("\n", 0, at)
