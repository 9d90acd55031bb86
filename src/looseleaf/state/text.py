"""`state.json` as text: read strictly, and every fault of it with its place (FORMAT §11.4).

Invariant: what is read can be written and read again, the same; what is not gives one `Unsound`, with the line and the
column (from 1) of the fault. Time grows with the text, however it is nested.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from math import isfinite

from looseleaf.base.errors import Refused
from looseleaf.base.paths import STATE
from looseleaf.state.rules import TITLE, VERSION, WORD, blocker_text, short
from looseleaf.text.lines import escape

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from typing import Any

    from looseleaf.state.rules import State


# What goes into the state: words as somebody gave them, made into one clean line each, or Refused in one
# sentence.

SENTENCE = 300
"""Characters of a goal, a reason, a convention."""


class Words:
    """Of one change. `clean` takes secrets out of a text; `said` gets a sentence for each text that was cut."""

    def __init__(self, clean: Callable[[Any], Any]) -> None:
        self._clean = clean
        self.said: list[str] = []

    def line(self, text: object, what: str, most: int = SENTENCE) -> str:
        """One line without secrets, cut where it is too long."""
        line = escape(self._clean(_text(text, what)))
        if len(line) > most:
            self.said.append(
                f"The {what} was cut after {most} characters: it had {len(line)}, and {STATE} is in every prompt. "
                "Write the rest on a page."
            )
        return short(line, most)

    def title(self, title: object, what: str) -> str:
        line = self.line(title, what, TITLE)
        if not line:
            raise Refused(f"{STATE} was not changed: the {what} says nothing. Say it in a few words.")
        return line

    def word(self, text: object, what: str) -> str:
        return short(self._clean(_text(text, what)), WORD)

    def which(self, name: object, what: str) -> str:
        """What is meant by a name, as a journal may say it."""
        return short(self._clean(_text(name, what)))

    def conventions(self, given: object) -> dict[str, str | int | float | bool | None]:
        if given is None:
            return {}
        if not isinstance(given, Mapping):
            raise Refused(
                f"{STATE} was not changed: conventions are {_kind(given)}. Give them by name, as in "
                '{"branch": "main"}.'
            )
        return {self._name(name): self._value(name, value) for name, value in given.items()}

    def _name(self, name: object) -> str:
        line = escape(self._clean(_text(name, "name of a convention")))
        if not line or len(line) > WORD:
            raise Refused(
                f"{STATE} was not changed: {short(line, WORD)!r} is no name for a convention. Give a word or two."
            )
        return line

    def _value(self, name: str, value: object) -> str | int | float | bool | None:
        if isinstance(value, str):
            return self.line(value, f"convention {short(name, WORD)}")
        if value is None or isinstance(value, (bool, int, float)):
            return value
        raise Refused(
            f"{STATE} was not changed: the convention {short(name, WORD)!r} is {_kind(value)}. Give a text, a number, "
            "or true or false."
        )

    def blockers(self, given: object) -> list[Any] | None:
        if given is None:
            return None
        if not isinstance(given, Sequence) or isinstance(given, (str, bytes, bytearray)):
            raise Refused(
                f'{STATE} was not changed: blockers are {_kind(given)}. Give a list of them, as in ["no access"].'
            )
        return [self._blocker(each) for each in given]

    def _blocker(self, blocker: object) -> Any:
        if not isinstance(blocker, Mapping):
            return self.line(blocker, "blocker", TITLE)
        kept: dict[str, Any] = self._clean(dict(blocker))
        return kept | {"title": self.title(blocker_text(kept), "blocker")}


def author_of(author: object) -> str | None:
    if author is None or isinstance(author, str):
        return author
    raise Refused(
        f"{STATE} was not changed: the author is {_kind(author)}. Use person, program or agent:<name>."
    )


def _text(text: object, what: str) -> str:
    if isinstance(text, str):
        return text
    raise Refused(f"{STATE} was not changed: the {what} is {_kind(text)}. Give a text.")


def _kind(value: object) -> str:
    if value is None:
        return "nothing"
    name = type(value).__name__
    return f"{'an' if name[:1] in 'aeiou' else 'a'} {name}"


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
