"""`state.json` as text: read strictly, every fault with its place (FORMAT §11.4).

Invariant: what is read can be written and read again unchanged; anything else gives one `Unsound`, with the line and
column (from 1) of the fault. Time grows linearly with the text, however it is nested.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from math import isfinite

from looseleaf.base.errors import Invalid
from looseleaf.base.paths import STATE
from looseleaf.state.rules import TITLE, VERSION, WORD, blocker_text, short
from looseleaf.text.lines import escape

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from typing import Any

    from looseleaf.state.rules import State


# --- values for the state: each cleaned to one line, or Refused -----------------------------------

SENTENCE = 300
"""Characters of a goal, a reason, a convention."""


class StateText:
    """The texts of one change. `clean` removes secrets; `said` gets a sentence for each text that was cut."""

    def __init__(self, clean: Callable[[Any], Any]) -> None:
        self._clean = clean
        self.said: list[str] = []

    def line(self, text: object, what: str, most: int = SENTENCE) -> str:
        """Return one line without secrets, cut if too long."""
        line = escape(self._clean(_require_text(text, what)))
        if len(line) > most:
            self.said.append(
                f"The {what} was cut after {most} characters: it had {len(line)}, and {STATE} is in every prompt. "
                "Write the rest on a page."
            )
        return short(line, most)

    def aims(self, goal: object, now: object) -> dict[str, str]:
        """Return the goal and the current work, as far as they are given."""
        given = {"goal": goal, "now": now}
        return {name: self.line(text, name) for name, text in given.items() if text is not None}

    def title(self, title: object, what: str) -> str:
        line = self.line(title, what, TITLE)
        if not line:
            raise Invalid(f"{STATE} was not changed: the {what} is empty. Give a few words.")
        return line

    def word(self, text: object, what: str) -> str:
        return short(self._clean(_require_text(text, what)), WORD)

    def which(self, name: object, what: str) -> str:
        """Return a name as the journal may show it."""
        return short(self._clean(_require_text(name, what)))

    def conventions(self, given: object) -> dict[str, str | int | float | bool | None]:
        if given is None:
            return {}
        if not isinstance(given, Mapping):
            raise Invalid(
                f"{STATE} was not changed: conventions are {_kind_of(given)}. Give them by name, as in "
                '{"branch": "main"}.'
            )
        return {self._name(name): self._value(name, value) for name, value in given.items()}

    def _name(self, name: object) -> str:
        line = escape(self._clean(_require_text(name, "name of a convention")))
        if not line or len(line) > WORD:
            raise Invalid(
                f"{STATE} was not changed: {short(line, WORD)!r} is not a name for a convention. Give a word or two."
            )
        return line

    def _value(self, name: str, value: object) -> str | int | float | bool | None:
        if isinstance(value, str):
            return self.line(value, f"convention {short(name, WORD)}")
        if value is None or isinstance(value, (bool, int, float)):
            return value
        raise Invalid(
            f"{STATE} was not changed: the convention {short(name, WORD)!r} is {_kind_of(value)}. Give a text, "
            "a number, or true or false."
        )

    def blockers(self, given: object) -> list[Any] | None:
        if given is None:
            return None
        blockers: list[Any] = []
        for each in require_list(given, "blockers"):
            if isinstance(each, Mapping):
                kept: dict[str, Any] = self._clean(dict(each))
                blockers.append(kept | {"title": self.title(blocker_text(kept), "blocker")})
            else:
                blockers.append(self.line(each, "blocker", TITLE))
        return blockers


def require_list(given: object, what: str) -> Sequence[Any]:
    if isinstance(given, Sequence) and not isinstance(given, (str, bytes, bytearray)):
        return given
    why = f'{what} are {_kind_of(given)}. Give a list of them, as in ["no access"].'
    raise Invalid(f"{STATE} was not changed: {why}")


def author_of(author: object) -> str | None:
    if author is None or isinstance(author, str):
        return author
    why = f"the author is {_kind_of(author)}. Use person, program or agent:<name>."
    raise Invalid(f"{STATE} was not changed: {why}")


def _require_text(text: object, what: str) -> str:
    if isinstance(text, str):
        return text
    raise Invalid(f"{STATE} was not changed: the {what} is {_kind_of(text)}. Give a text.")


def _kind_of(value: object) -> str:
    if value is None:
        return "nothing"
    name = type(value).__name__
    return f"{'an' if name[:1] in 'aeiou' else 'a'} {name}"


DEEPEST = 32
"""Levels of a state: people read it."""

_TOKEN = re.compile(r'[ \t\r\n]*+("(?:[^"\\]|\\.)*+"?|[\[\]{},:]|[^\s\[\]{},:"]++)', re.DOTALL)
_NAME = re.compile(r"[^\W\d]\w*")
_SHOWN = 60
_LONGEST_NUMBER = 300
"""Characters of a number: Python refuses to parse thousands of digits."""


class Unsound(ValueError):
    """A state that cannot be used: why and where. `told`: the reason where only the line is shown beside it."""

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
    """Return the text of a state, for people and line-by-line diffs."""
    return f"{json.dumps(state, ensure_ascii=False, indent=2)}\n"


def parsed(data: bytes) -> State | None:
    """Parse a file; None if it is empty; Unsound, with the place, if it is no state at all."""
    try:
        text = data.decode()
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        before = data[data.rfind(b"\n", 0, error.start) + 1 : error.start]
        raise Unsound("this is not UTF-8 text", line, len(before.decode(errors="replace")) + 1) from None
    text = text.removeprefix("\ufeff")  # some editors add it
    if not text.strip():
        return None
    try:
        value = json.loads(
            text,
            object_pairs_hook=_unique_object,
            parse_constant=_finite_number,
            parse_float=_finite_number,
            parse_int=_bounded_int,
        )
        _check_values(value)
    except json.JSONDecodeError as error:
        whole = f"this is not JSON ({error})"
        raise Unsound(f"this is not JSON ({error.msg})", error.lineno, error.colno, whole) from None
    except (ValueError, RecursionError):  # a fault that the JSON reader allows or cannot locate
        raise _find_fault(text) from None
    if not isinstance(value, dict):
        raise Unsound("this is not a state: it must be an object, as in {…}", *_line_and_column(text, 0))
    version = value.get("schema_version", VERSION)
    if type(version) is int and version > VERSION:
        why = f"this is a state of version {version}, and this program knows version {VERSION}: use a newer looseleaf"
        raise Unsound(why, *place_of(text, ["schema_version"]))
    return value


def named(path: Sequence[str | int]) -> str:
    """Return a path as text, as in `tasks_open[0].title`."""
    name = ""
    for each in path:
        if isinstance(each, int):
            name += f"[{each}]"
        else:
            shown = each if _NAME.fullmatch(each) else json.dumps(each[:_SHOWN], ensure_ascii=False)
            name += f".{shown}" if name else shown
    return name


def place_of(text: str, path: Sequence[str | int]) -> tuple[int, int]:
    """Return the line and column of a member, or of what should contain it."""
    text = text.removeprefix("\ufeff")
    wanted, best, depth = tuple(path), 0, -1
    for _, at, member in _walk(text):
        if len(member) > depth and wanted[: len(member)] == member:
            best, depth = at, len(member)
    return _line_and_column(text, best)


# --- faults that the JSON reader allows -----------------------------------------------------------


def _unique_object(pairs: list[tuple[str, Any]]) -> State:
    made = dict(pairs)
    if len(made) < len(pairs):
        raise ValueError("the same name twice")
    return made


def _finite_number(text: str) -> float:
    if not isfinite(number := float(text)):
        raise ValueError("no number")
    return number


def _bounded_int(text: str) -> int:
    if len(text) > _LONGEST_NUMBER:
        raise ValueError("too long")
    return int(text)


def _check_values(value: Any) -> None:
    """ValueError if it is nested too deeply or holds text that cannot be written."""
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


def _find_fault(text: str) -> Unsound:
    """Find the fault in a text, and its place."""
    seen: set[tuple[str | int, ...]] = set()
    for token, at, member in _walk(text):
        why = ""
        if token[0] in "{[" and len(member) >= DEEPEST:
            why = f"this is nested more than {DEEPEST} deep"
        elif token[0] == '"' and _is_broken(token):
            why = "this holds half of a character, which cannot be written"
        elif token[0] not in '{["' and not _is_number(token):
            why = f"this is not JSON ({token[:_SHOWN]} is not a number)"
        elif token[0] == '"' and token.endswith(":"):
            why = f"this is not JSON ({named(member[-1:])} is there twice)" if member in seen else ""
            seen.add(member)
        if why:
            return Unsound(why, *_line_and_column(text, at))
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
        _unquote(token.rstrip(":")).encode()
    except UnicodeEncodeError:
        return True
    return False


def _walk(text: str) -> Iterator[tuple[str, int, tuple[str | int, ...]]]:
    """Yield each name and value of a JSON text: its token (a name ends with a colon), its place and its path. Stops
    where the text is no longer JSON, or a little below the deepest allowed level."""
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
            name = _unquote(token)
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


def _unquote(token: str) -> str:
    try:
        return str(json.loads(token))
    except ValueError:
        return token.strip('"')


def _line_and_column(text: str, at: int) -> tuple[int, int]:
    return text.count("\n", 0, at) + 1, at - text.rfind("\n", 0, at)
