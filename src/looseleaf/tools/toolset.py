"""The tools, by name, and the one way to call them.

Invariant: `call` always answers. What a model asked wrongly, and what a memory refuses, is a sentence that it can act
on; nothing was changed then.
"""

from __future__ import annotations

from functools import cache

from looseleaf.base.errors import Refused
from looseleaf.text.notation import first_fault
from looseleaf.tools.page_tools import APPEND, LIST, PATCH, READ, WRITE
from looseleaf.tools.remember_recall import RECALL, REMEMBER
from looseleaf.tools.state_forget import FORGET_TOOL, STATE_TOOL
from looseleaf.tools.tool import refusal_answer

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from looseleaf.memory import Memory
    from looseleaf.tools.tool import Answer, Tool

TOOLS: dict[str, Tool] = {
    tool.name: tool for tool in (LIST, READ, WRITE, PATCH, APPEND, REMEMBER, RECALL, STATE_TOOL, FORGET_TOOL)
}


def call(memory: Memory, name: str, arguments: Mapping[str, Any] | None = None) -> Answer:
    """Call a tool as a model may."""
    tool = TOOLS.get(name)
    value = {"appliedCount": 0} if tool is PATCH else None
    try:
        if tool is None:
            raise Refused(f"Nothing was done: there is no tool {name!r}. There are: {', '.join(TOOLS)}.")
        given = {} if arguments is None else arguments
        fault = _fault(name, given)
        if fault is not None:
            raise Refused(f"Nothing was done: {name} was called wrongly: {fault}. {_usage(tool)}")
        return tool.run(memory, given)
    except Refused as error:
        return refusal_answer(error, value)


def _fault(name: str, given: Any) -> str | None:
    """What is wrong with the arguments of a tool, and where."""
    return first_fault(_load_validator(name), given)


def _usage(tool: Tool) -> str:
    return f"It takes {usage(tool.parameters) or 'nothing'}."


def usage(schema: Mapping[str, Any]) -> str:
    """The members of an object, as one line: `path, patches=[{oldText, newText}], base?`."""
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
    from jsonschema_rs import Draft202012Validator  # not at the top: listing the tools does not need it

    return Draft202012Validator(TOOLS[name].parameters)
