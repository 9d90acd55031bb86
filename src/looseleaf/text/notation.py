"""JSON in a model's answer, and TOON, in which a prompt carries tables for fewer tokens than JSON.

Invariant: `decode` reads what `encode` returns as the same JSON value; where that is impossible, `encode` returns None.
Times in table rows have no quotes: every reader accepts that, and it saves tokens. Only this module imports the TOON
library.
"""

from __future__ import annotations

import json
import re
from math import isfinite

from looseleaf.base.errors import Refused
from looseleaf.text.lines import lazy

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


# --- the JSON object in an answer: as it is, mended where unambiguous, or refused ---

_THOUGHT = lazy(r"\s*<think(?:ing)?>.*?</think(?:ing)?>", re.DOTALL)
_OBJECT = lazy(r"\{(?=\s*(?:[\"'}]|\Z))")
"""A brace that begins an object, not a word in braces."""
_SPACE = lazy(r"\s*")
_TEXT = lazy(r'"(?>(?:[^"\\]|\\.)*)"', re.DOTALL)
_QUOTED = lazy(r"'((?>(?:[^'\\\"]|\\.)*))'(?=\s*+[,:}\]])", re.DOTALL)
_ATOM = lazy(r"-?(?:0|[1-9][0-9]*+)(?:\.[0-9]++)?(?:[eE][+-]?[0-9]++)?(?![\w.])|[A-Za-z]++(?!\w)")
_WORDS = {"true": "true", "false": "false", "null": "null", "True": "true", "False": "false", "None": "null"}
_SHOWN = 40
_DEEPEST_JSON = 100


def object_in(answer: str) -> dict[str, Any]:
    """Return the one object that an answer holds, or raise Refused."""
    thought = _THOUGHT.match(answer)
    text = answer[thought.end() :] if thought else answer
    found: list[dict[str, Any]] = []
    at = 0
    while begin := _OBJECT.search(text, at):
        mended, at = _mend_object(text, begin.start())
        found.append(_parse_object(mended))
    if not found:
        raise Refused("The answer was not used: it holds no JSON object. Answer with one, and nothing else.")
    if any(other != found[0] for other in found[1:]):
        raise Refused(
            f"The answer was not used: it holds {len(found)} JSON objects. Answer with one, and nothing else."
        )
    return found[0]


def _parse_object(mended: str) -> dict[str, Any]:
    try:
        value = json.loads(mended, strict=False, object_pairs_hook=_refuse_duplicates)
    except (ValueError, RecursionError) as error:
        raise _broken_error(str(error)) from None
    assert isinstance(value, dict)
    return value


def _refuse_duplicates(members: list[tuple[str, Any]]) -> dict[str, Any]:
    made = dict(members)
    if len(made) < len(members):
        raise ValueError("a member occurs twice")
    return made


def _mend_object(text: str, at: int) -> tuple[str, int]:
    """Return the object that begins at a place, as JSON, and where it ends."""
    made: list[str] = []
    open_: list[str] = []
    wants = "value"  # or: key (a text), colon, end (a comma or a bracket)
    comma = -1
    while True:
        space = _SPACE.match(text, at)
        at = space.end() if space else at
        if at >= len(text):
            raise Refused(
                "The answer was not used: its JSON is cut off. Answer again, with all of it, and in fewer words."
            )
        sign = text[at]
        if sign in "}]" and (wants == "end" or (made and made[-1] in "{[") or comma == len(made) - 1):
            if not open_ or open_[-1] != sign:
                raise _unexpected_error(text, at)
            if comma == len(made) - 1:
                made.pop()  # it follows the last member
            open_.pop()
            made.append(sign)
            at += 1
            if not open_:
                return "".join(made), at
            wants = "end"
        elif wants == "end" and sign == ",":
            comma = len(made)
            made.append(sign)
            at += 1
            wants = "key" if open_[-1] == "}" else "value"
        elif wants == "colon" and sign == ":":
            made.append(sign)
            at += 1
            wants = "value"
        elif wants == "value" and sign in "{[":
            if len(open_) >= _DEEPEST_JSON:
                raise _broken_error(f"it is nested more than {_DEEPEST_JSON} deep")
            open_.append("}" if sign == "{" else "]")
            made.append(sign)
            at += 1
            wants = "key" if sign == "{" else "value"
        elif wants in ("key", "value"):
            word, at = _mend_word(text, at, is_key=wants == "key")
            made.append(word)
            wants = "colon" if wants == "key" else "end"
        else:
            raise _unexpected_error(text, at)


def _mend_word(text: str, at: int, *, is_key: bool) -> tuple[str, int]:
    sign = text[at]
    if sign == '"':
        if whole := _TEXT.match(text, at):
            return whole[0], whole.end()
        raise Refused(
            "The answer was not used: its JSON is cut off within a string. "
            "Answer again, with all of it, and in fewer words."
        )
    if sign == "'" and (quoted := _QUOTED.match(text, at)):
        return f'"{quoted[1]}"'.replace("\\'", "'"), quoted.end()
    atom = None if is_key else _ATOM.match(text, at)
    if atom is None or (atom[0][0].isalpha() and atom[0] not in _WORDS):
        raise _unexpected_error(text, at)
    return _WORDS.get(atom[0], atom[0]), atom.end()


def _unexpected_error(text: str, at: int) -> Refused:
    line, column = text.count("\n", 0, at) + 1, at - text.rfind("\n", 0, at)
    shown = " ".join(text[at : at + _SHOWN].split())
    return _broken_error(f"unexpected text at line {line}, column {column}: {shown!r}")


def _broken_error(why: str) -> Refused:
    return Refused(f"The answer was not used: its JSON is broken ({why}). Answer again, with all of it.")


# --- JSON Schema faults, in one line ---

_LONGEST = 300
"""Characters of a fault: a schema's message may repeat the whole value."""


def first_fault(validator: Any, value: Any) -> str | None:
    """Return the first fault that the validator (of `jsonschema_rs`) finds, or None."""
    for error in validator.iter_errors(value):
        where = ".".join(str(part) for part in error.instance_path)
        what = error.message if len(error.message) <= _LONGEST else f"{error.message[:_LONGEST]}…"
        return f"{where}: {what}" if where else what
    return None


_DEEPEST = 200
"""Levels of a value: fewer than the library and JSON accept, more than anyone reads."""

_BITS = 1100
"""Bits of an integer, as many as any float has: Python refuses to parse some thousands of digits."""

_EXACT = 2**53
"""Up to here the digits of a whole float are exact; above, they are only its beginning."""


_QUOTED_TIME = re.compile(
    r'(?m)(?<=,)"(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,9})?(?:Z|[+-]\d\d:\d\d))"(?=,|$)', re.ASCII
)
"""A time after a comma: the library quotes it for its colons, which are unambiguous there."""


def encode(value: Any) -> str | None:
    """Return a JSON value as TOON. None: it is no JSON value, or would not survive the round trip."""
    try:
        import toons

        plain = normal(value)
        text = toons.dumps(plain)
    except (ImportError, ValueError, TypeError):
        return None
    bare = _QUOTED_TIME.sub(r"\1", text)
    return next((each for each in dict.fromkeys((bare, text)) if _decodes_to(each, plain)), None)


def decode(text: str) -> Any:
    """Return the value of a TOON text; ValueError if it is none."""
    import toons

    return toons.loads(text)


def normal(value: Any, depth: int = 0) -> Any:
    """Return a Python value as JSON has it; ValueError if it cannot."""
    if depth > _DEEPEST:
        raise ValueError("it is nested too deeply")
    match value:
        case None | bool():
            return value
        case str():
            if not value.isascii() and any("\ud800" <= each <= "\udfff" for each in value):
                raise ValueError("it holds half of a character")
            return str(value)
        case int():
            if value.bit_length() > _BITS:
                raise ValueError("it has too many digits")
            return int(value)
        case float():
            if not isfinite(value):
                raise ValueError("it is not a number")
            # JSON has one kind of number: 1.0 is 1, there is one zero, and 1e22 is a one with 22 zeros.
            if not value.is_integer() or abs(value) <= _EXACT:
                return int(value) if value.is_integer() else value
            from decimal import Decimal  # not at the top: hardly any state has such a number

            return int(Decimal(repr(value)))
        case list() | tuple():
            return [normal(each, depth + 1) for each in value]
        case dict():
            if not all(isinstance(name, str) for name in value):
                raise ValueError("a name in it is not text")
            return {normal(name): normal(each, depth + 1) for name, each in value.items()}
    raise ValueError(f"JSON has no {type(value).__name__}")


def _decodes_to(text: str, value: Any) -> bool:
    """Return whether a text decodes to a value. Compared as JSON texts, in which `1` is not `true`; members have no
    order."""
    try:
        return json.dumps(normal(decode(text)), sort_keys=True) == json.dumps(value, sort_keys=True)
    except ValueError:
        return False
