"""A hand: something that an agent can do, offered to a model as a tool. A plain function becomes one.

The schema is read off the function's signature: names, types, defaults; its description is the docstring's first part.
"""

from __future__ import annotations

from looseleaf.base.errors import Refused
from looseleaf.base.immutable import frozen
from looseleaf.base.replies import ToolSpec

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any


@frozen
class Hand:
    """`run(**arguments)` gives the result, or raises. `own`: a tool of the memory's, which is run in the agent's own
    thread, and whose answer is no news."""

    spec: ToolSpec
    run: Callable[..., Any]
    own: bool = False

    @property
    def name(self) -> str:
        return self.spec.name


def hand(given: Callable[..., Any] | Hand) -> Hand:
    """What was given as a tool, ready to be offered."""
    if isinstance(given, Hand):
        return given
    if not str(getattr(given, "__name__", "")).isidentifier() or not callable(given):
        raise Refused(
            f"No agent was made: {given!r} is no tool. Give a function with a name, or a Hand with a schema."
        )
    return Hand(ToolSpec(given.__name__, _described(given), schema_of(given)), given)


def _described(function: Callable[..., Any]) -> str:
    """The docstring up to its first empty line, on one line."""
    return " ".join((function.__doc__ or "").strip().partition("\n\n")[0].split())


def schema_of(function: Callable[..., Any]) -> dict[str, Any]:
    """The JSON Schema of a function's arguments."""
    from inspect import Parameter, signature
    from typing import get_type_hints

    hints = get_type_hints(function)
    members: dict[str, Any] = {}
    needed: list[str] = []
    is_open = False
    for name, parameter in signature(function).parameters.items():
        if parameter.kind is Parameter.VAR_KEYWORD:
            is_open = True
        elif parameter.kind in (Parameter.POSITIONAL_ONLY, Parameter.VAR_POSITIONAL):
            raise Refused(
                f"No agent was made: {function.__name__} takes {name} by its place, and a model gives arguments by "
                "their names. Make it a keyword."
            )
        else:
            members[name] = _schema(hints.get(name))
            if parameter.default is Parameter.empty:
                needed.append(name)
    schema: dict[str, Any] = {"type": "object", "properties": members}
    if needed:
        schema["required"] = needed
    return schema if is_open else schema | {"additionalProperties": False}


_PLAIN = {str: "string", int: "integer", float: "number", bool: "boolean", dict: "object", list: "array"}


def _schema(hint: Any) -> dict[str, Any]:
    """What of a type a schema can say; nothing, where it cannot."""
    from types import NoneType, UnionType
    from typing import Annotated, Literal, Union, get_args, get_origin

    origin, inside = get_origin(hint), get_args(hint)
    if origin is Annotated:
        notes = [each for each in inside[1:] if isinstance(each, str)]
        return _schema(inside[0]) | ({"description": notes[0]} if notes else {})
    if origin is Literal:
        return {"enum": list(inside)}
    if origin in (Union, UnionType):
        kinds = [_schema(each) for each in inside if each is not NoneType]
        if len(kinds) < len(inside):
            kinds.append({"type": "null"})
        return kinds[0] if len(kinds) == 1 else {"anyOf": kinds}
    if origin in (list, tuple, set, frozenset) or hint in (tuple, set, frozenset):
        items = [each for each in inside if each is not Ellipsis]
        return {"type": "array"} | ({"items": _schema(items[0])} if items else {})
    if origin is dict:
        return {"type": "object"} | ({"additionalProperties": _schema(inside[1])} if inside else {})
    return {"type": _PLAIN[hint]} if hint in _PLAIN else {}
