"""Values as JSON that every provider can be sent: what has no JSON, or no UTF-8, becomes text."""

from __future__ import annotations

import json

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

DEPTH = 64
"""Values nested deeper than this are told as text: clients and servers count, and some stop at a hundred."""

HELD = 90
"""How deep the arguments of a call may nest: a log takes a hundred levels, and some of them are the record's own."""


def sound(text: str) -> str:
    """Text that can be written: halves of characters joined where both are there, else replaced."""
    if text.isascii():
        return text
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


def plain(value: Any, depth: int = DEPTH) -> Any:
    """The value as JSON has it: lists, objects with texts for keys, finite numbers, sound texts."""
    if isinstance(value, str):
        return sound(value)
    if value is None or isinstance(value, bool | int):
        return value
    if isinstance(value, float):
        return value if value - value == 0 else str(value)
    if depth == 0:
        return sound(_dumped(value))
    if isinstance(value, dict):
        return {sound(str(key)): plain(each, depth - 1) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [plain(each, depth - 1) for each in value]
    return sound(str(value))


def is_held(value: Any) -> bool:
    """Whether a log can hold the value as it is: finite numbers, whole characters, texts for keys, not too deep."""
    waiting = [(value, 0)]
    while waiting:
        each, depth = waiting.pop()
        if isinstance(each, str):
            if not each.isascii() and sound(each) != each:
                return False
        elif isinstance(each, float):
            if each - each != 0:
                return False
        elif isinstance(each, dict | list | tuple):
            if depth >= HELD:
                return False
            if isinstance(each, dict):
                if not all(isinstance(key, str) for key in each):
                    return False
                waiting += [(key, depth + 1) for key in each]
                each = each.values()
            waiting += [(inner, depth + 1) for inner in each]
        elif each is not None and not isinstance(each, int):
            return False
    return True


def as_held(arguments: Any) -> Any:
    """The arguments of a call as a log can hold them: what it cannot is the text that stands for it."""
    if isinstance(arguments, str):
        return sound(arguments)
    return arguments if is_held(arguments) else written(arguments)


def written(value: Any) -> str:
    """A value as JSON in plain characters, however deep it nests: the same text whoever calls, at any depth."""
    try:
        return json.dumps(value)
    except RecursionError:
        return _written_flat(value)
    except (TypeError, ValueError):  # what is no JSON, or holds itself
        return sound(str(value))


def _written_flat(value: Any) -> str:
    """What `json.dumps` writes, without a call for each level."""
    parts: list[str] = []
    waiting: list[tuple[bool, Any]] = [(True, value)]
    while waiting:
        is_value, each = waiting.pop()
        if not is_value:
            parts.append(each)
        elif isinstance(each, dict):
            waiting.append((False, "}"))
            for place, (key, inner) in reversed([*enumerate(each.items())]):
                gap = ", " if place else ""
                waiting += ((True, inner), (False, f"{gap}{json.dumps(key)}: "))
            parts.append("{")
        elif isinstance(each, list | tuple):
            waiting.append((False, "]"))
            for place, inner in reversed([*enumerate(each)]):
                waiting += ((True, inner), (False, ", " if place else ""))
            parts.append("[")
        else:
            parts.append(json.dumps(each, default=str))
    return "".join(parts)


def told(value: Any) -> str:
    """What a model reads of a value: a text as it is, anything else as JSON."""
    return sound(value) if isinstance(value, str) else _dumped(plain(value))


def _dumped(value: Any) -> str:
    try:
        return json.dumps(value, ensure_ascii=False, default=str)
    except (RecursionError, TypeError, ValueError):
        return str(value)
