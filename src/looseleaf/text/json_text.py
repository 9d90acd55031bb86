"""The JSON object in what a model answered: as it is, or mended where only one thing can be meant, or refused.

Mended are: prose and a code fence around it, thinking before it, commas behind the last member, line breaks in a text,
texts in single quotes that hold none, and the words of Python for true, false and nothing. Never half of one: an object
that breaks off, that goes wrong inside, or that is not the only one is refused, with a sentence that says where.

One pass, and no recursion: time is linear in the answer, and no depth of it makes the program fail.
"""

from __future__ import annotations

import json
import re

from looseleaf.base.errors import Refused
from looseleaf.text.patterns import lazy

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_THOUGHT = lazy(r"\s*<think(?:ing)?>.*?</think(?:ing)?>", re.DOTALL)
_OBJECT = lazy(r"\{(?=\s*(?:[\"'}]|\Z))")
"""A brace that begins an object, and not a word in braces."""
_SPACE = lazy(r"\s*")
_TEXT = lazy(r'"(?:[^"\\]|\\.)*+"', re.DOTALL)
_QUOTED = lazy(r"'((?:[^'\\\"]|\\.)*+)'(?=\s*+[,:}\]])", re.DOTALL)
_ATOM = lazy(r"-?(?:0|[1-9][0-9]*+)(?:\.[0-9]++)?(?:[eE][+-]?[0-9]++)?(?![\w.])|[A-Za-z]++(?!\w)")
_WORDS = {"true": "true", "false": "false", "null": "null", "True": "true", "False": "false", "None": "null"}
_SHOWN = 40
_DEEPEST = 100


def object_in(answer: str) -> dict[str, Any]:
    """The one object that an answer holds, or Refused."""
    text = _after_thought(answer)
    found: list[dict[str, Any]] = []
    at = 0
    while begin := _OBJECT.search(text, at):
        mended, at = _mended(text, begin.start())
        found.append(_read(mended))
    if not found:
        raise Refused("The answer was not used: it holds no JSON object. Answer with one, and nothing else.")
    if any(other != found[0] for other in found[1:]):
        raise Refused(
            f"The answer was not used: it holds {len(found)} JSON objects. Answer with one, and nothing else."
        )
    return found[0]


def _after_thought(answer: str) -> str:
    thought = _THOUGHT.match(answer)
    return answer[thought.end() :] if thought else answer


def _read(mended: str) -> dict[str, Any]:
    try:
        value = json.loads(mended, strict=False, object_pairs_hook=_once)
    except (ValueError, RecursionError) as error:
        raise _broken(str(error)) from None
    assert isinstance(value, dict)
    return value


def _once(members: list[tuple[str, Any]]) -> dict[str, Any]:
    made = dict(members)
    if len(made) < len(members):
        raise ValueError("a member stands in it twice")
    return made


def _mended(text: str, at: int) -> tuple[str, int]:
    """The object that begins at a place, as JSON, and the place behind it."""
    made: list[str] = []
    open_: list[str] = []
    wants = "value"  # or: key (a text), colon, end (a comma or a bracket)
    comma = -1
    while True:
        space = _SPACE.match(text, at)
        at = space.end() if space else at
        if at >= len(text):
            raise Refused(
                "The answer was not used: its JSON breaks off. Answer again, with all of it, and in fewer words."
            )
        sign = text[at]
        if sign in "}]" and (wants == "end" or (made and made[-1] in "{[") or comma == len(made) - 1):
            if not open_ or open_[-1] != sign:
                raise _unexpected(text, at)
            if comma == len(made) - 1:
                made.pop()  # it stands behind the last member
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
            if len(open_) >= _DEEPEST:
                raise _broken(f"it is nested more than {_DEEPEST} deep")
            open_.append("}" if sign == "{" else "]")
            made.append(sign)
            at += 1
            wants = "key" if sign == "{" else "value"
        elif wants in ("key", "value"):
            word, at = _word(text, at, is_key=wants == "key")
            made.append(word)
            wants = "colon" if wants == "key" else "end"
        else:
            raise _unexpected(text, at)


def _word(text: str, at: int, *, is_key: bool) -> tuple[str, int]:
    sign = text[at]
    if sign == '"':
        if whole := _TEXT.match(text, at):
            return whole[0], whole.end()
        raise Refused(
            "The answer was not used: its JSON breaks off in a text. Answer again, with all of it, and in fewer words."
        )
    if sign == "'" and (quoted := _QUOTED.match(text, at)):
        return f'"{quoted[1]}"'.replace("\\'", "'"), quoted.end()
    atom = None if is_key else _ATOM.match(text, at)
    if atom is None or (atom[0][0].isalpha() and atom[0] not in _WORDS):
        raise _unexpected(text, at)
    return _WORDS.get(atom[0], atom[0]), atom.end()


def _unexpected(text: str, at: int) -> Refused:
    line, column = text.count("\n", 0, at) + 1, at - text.rfind("\n", 0, at)
    shown = " ".join(text[at : at + _SHOWN].split())
    return _broken(f"line {line}, column {column} is not what comes there: {shown!r}")


def _broken(why: str) -> Refused:
    return Refused(f"The answer was not used: its JSON is broken ({why}). Answer again, with all of it.")
