"""Values as JSON that every provider can be sent: what has no JSON, or no UTF-8, becomes text."""

from __future__ import annotations

import json

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

DEPTH = 64
"""Values nested deeper than this are told as text: clients and servers count, and some stop at a hundred."""


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


def told(value: Any) -> str:
    """What a model reads of a value: a text as it is, anything else as JSON."""
    return sound(value) if isinstance(value, str) else _dumped(plain(value))


def _dumped(value: Any) -> str:
    try:
        return json.dumps(value, ensure_ascii=False, default=str)
    except (RecursionError, TypeError, ValueError):
        return str(value)
