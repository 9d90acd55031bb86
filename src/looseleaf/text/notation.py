"""TOON: the notation in which a prompt carries tables for fewer tokens than JSON. The one door to the library for it.

Invariant: what `encode` gives, `decode` reads back as the same JSON value; where that cannot be had, it gives None. A
time in a row of a table stands there without quotes, which every reader takes and a prompt saves.
"""

from __future__ import annotations

import json
import re
from math import isfinite

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_DEEPEST = 200
"""Levels of a value; the library and JSON take more, and nobody reads as many."""

_BITS = 1100
"""Of a whole number, as many as any fraction has: Python refuses to read some thousands of digits back."""

_EXACT = 2**53
"""Up to here a fraction that is whole is told by its digits; above, they are only the beginning of it."""


_QUOTED_TIME = re.compile(
    r'(?m)(?<=,)"(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,9})?(?:Z|[+-]\d\d:\d\d))"(?=,|$)', re.ASCII
)
"""A time behind a comma: the library quotes it for its colons, which can mean nothing else there."""


class _Unfit(ValueError):
    """Nothing that JSON has."""


def encode(value: Any) -> str | None:
    """A JSON value as TOON. None: it is no such value, or would not come back as it is."""
    try:
        plain = normal(value)
    except _Unfit:
        return None
    try:
        import toons

        text = toons.dumps(plain)
    except (ImportError, ValueError, TypeError):
        return None
    bare = _QUOTED_TIME.sub(r"\1", text)
    return next((each for each in dict.fromkeys((bare, text)) if _says(each, plain)), None)


def decode(text: str) -> Any:
    """The value of a TOON text; ValueError for what is none."""
    import toons

    return toons.loads(text)


def normal(value: Any, depth: int = 0) -> Any:
    """The JSON value that a Python value is; ValueError where it is none."""
    if depth > _DEEPEST:
        raise _Unfit("it is nested too deeply")
    match value:
        case None | bool():
            return value
        case str():
            if not value.isascii() and any("\ud800" <= each <= "\udfff" for each in value):
                raise _Unfit("it holds half of a character")
            return str(value)
        case int():
            if value.bit_length() > _BITS:
                raise _Unfit("it has too many digits")
            return int(value)
        case float():
            if not isfinite(value):
                raise _Unfit("it is no number")
            # JSON has one kind of number: 1.0 is 1, there is one zero, and 1e22 is a one with 22 zeros.
            if value.is_integer():
                return int(value) if abs(value) <= _EXACT else _written_out(value)
            return value
        case list() | tuple():
            return [normal(each, depth + 1) for each in value]
        case dict():
            if not all(isinstance(name, str) for name in value):
                raise _Unfit("a name in it is no text")
            return {normal(name): normal(each, depth + 1) for name, each in value.items()}
    raise _Unfit(f"JSON has no {type(value).__name__}")


def _written_out(value: float) -> int:
    from decimal import Decimal  # not at the top: hardly any state has such a number

    return int(Decimal(repr(value)))


def _says(text: str, value: Any) -> bool:
    """Compared as JSON texts, in which `1` is not `true`. The members of an object have no order."""
    try:
        return json.dumps(normal(decode(text)), sort_keys=True) == json.dumps(value, sort_keys=True)
    except ValueError:
        return False
