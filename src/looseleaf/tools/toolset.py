"""The tools, by name, and the one way to call them.

Invariant: `call` always answers. A wrong call, and one that the memory refuses, gets a sentence to act on, and changes
nothing.
"""

from __future__ import annotations

from functools import cache

from looseleaf.base.errors import Invalid, NotFound, Refused
from looseleaf.text.notation import first_fault
from looseleaf.tools import page_tools, remember_recall, state_forget
from looseleaf.tools.catalogue import PATCH, TOOLS
from looseleaf.tools.tool import refusal_answer

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Any

    from looseleaf.memory import Memory
    from looseleaf.tools.tool import ToolAnswer

RUNS: dict[str, Callable[[Memory, Mapping[str, Any]], ToolAnswer]] = {
    "memory_list": page_tools.list_pages,
    "memory_read": page_tools.read,
    "memory_write": page_tools.write,
    "memory_patch": page_tools.patch,
    "memory_append": page_tools.append,
    "remember": remember_recall.remember,
    "recall": remember_recall.recall,
    "memory_state": state_forget.revise,
    "memory_forget": state_forget.forget,
}
"""What each tool of the catalogue does."""


def call(memory: Memory, name: str, arguments: Mapping[str, Any] | None = None) -> ToolAnswer:
    """Call a tool as a model does."""
    tool = TOOLS.get(str(name))  # a caller may give anything
    value = {"appliedCount": 0} if tool is PATCH else None
    try:
        if tool is None:
            raise NotFound(f"Nothing was done: there is no tool {name!r}. There are: {', '.join(TOOLS)}.")
        given = {} if arguments is None else arguments
        fault = first_fault(_load_validator(name), given)
        if fault is not None:
            raise Invalid(
                f"Nothing was done: {name} was called wrongly: {fault}. It takes {usage(tool.parameters) or 'nothing'}."
            )
        return RUNS[name](memory, given)
    except Refused as error:
        return refusal_answer(error, value)


def usage(schema: Mapping[str, Any]) -> str:
    """Return the members of an object in one line: `path, patches=[{oldText, newText}], base?`."""
    needed = schema.get("required", [])
    members = schema["properties"]
    named = [f"{name}{_usage_inside(members[name])}" for name in needed]
    return ", ".join(
        [*named, *(f"{name}?{_usage_inside(members[name])}" for name in members if name not in needed)]
    )


def _usage_inside(schema: Mapping[str, Any]) -> str:
    if schema.get("type") == "object":
        return f"={{{usage(schema)}}}"
    items = schema.get("items", {})
    return f"=[{{{usage(items)}}}]" if items.get("type") == "object" else ""


@cache
def _load_validator(name: str) -> Any:
    from jsonschema_rs import Draft202012Validator  # late: a list of the tools does not need it

    return Draft202012Validator(TOOLS[name].parameters)
