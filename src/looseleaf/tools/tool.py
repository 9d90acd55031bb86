"""A tool and its answer, as values. Every surface (MCP, a provider's list of tools, the command) uses these.

Invariant: a call always gets an answer. A failure is one too: `is_error`, and a sentence that says what did not happen
and what to do next.
"""

from __future__ import annotations

from looseleaf.base.errors import Stale
from looseleaf.base.immutable import frozen

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from looseleaf.base.errors import Refused
    from looseleaf.base.values import Receipt


@frozen
class ToolAnswer:
    """The result of a tool.

    `value` has the shape that the tool's seed fixed: a list, a text, `{"success": …}`. `data` is the full result, an
    object: the tool's `returns` is its schema. `text` is for the model.
    """

    value: Any
    data: dict[str, Any]
    text: str
    is_error: bool = False
    receipt: Receipt | None = None


@frozen
class Tool:
    """A memory tool. `parameters` and `returns` are JSON Schemas of objects. `reads`: it changes nothing. `destroys`:
    it may replace or remove text. `repeats`: a second equal call changes nothing."""

    name: str
    title: str
    description: str
    parameters: dict[str, Any]
    returns: dict[str, Any]
    reads: bool = False
    destroys: bool = False
    repeats: bool = False

    def to_dict(self) -> dict[str, Any]:
        """Return the form that most providers want: a name, a description, a schema."""
        return {"name": self.name, "description": self.description, "parameters": self.parameters}


# --- answers of tools that write --------------------------------------------------------

_TOLD = 20
"""The most sentences on held lines: a model that wrote a hundred knows what they were."""

WAITS = "Tell the user that it waits in review/pending.md for a yes, and do not write it again."

_DRAWER = "stands in a drawer"
"""The start of a sentence on a line that went elsewhere (`place/guard_rules.py: FATES`)."""

TEXT = {"type": "string"}
COUNT = {"type": "integer", "minimum": 0}


def text_schema(about: str) -> dict[str, Any]:
    return {"type": "string", "description": about}


def object_schema(required: str = "", **properties: Any) -> dict[str, Any]:
    """Return the schema of an object with these members and no other."""
    schema: dict[str, Any] = {"type": "object", "properties": properties, "additionalProperties": False}
    return schema | ({"required": required.split()} if required else {})


WRITTEN = object_schema(
    "success",
    success={"type": "boolean", "description": "whether the page says it now"},
    path=TEXT,
    sha256={
        "anyOf": [{"type": "string"}, {"type": "null"}],
        "description": "the page's hash now: the base of the next change",
    },
    receipt=text_schema("the id of the edit in the journal; `looseleaf receipts` lists it"),
    added=COUNT,
    removed=COUNT,
    held={"type": "array", "items": TEXT, "description": "what did not go where it was put, and why"},
    appliedCount={**COUNT, "description": "how many patches were applied: all or none"},
    error=TEXT,
)
"""The result of every tool that writes; the seed fixed `success`, the rest is for checking."""


def write_answer(
    receipt: Receipt, value: dict[str, Any] | None = None, done: str = "", *, whole: bool = False
) -> ToolAnswer:
    """Return the answer to a write. `value`: more members that the seed fixed; `whole`: the write was all or
    nothing."""
    is_done = is_written(receipt) if not whole else receipt.changed or not receipt.held
    value = {"success": is_done} | (value or {})
    data: dict[str, Any] = value | {"path": receipt.path, "sha256": receipt.new}
    data |= {"receipt": receipt.id, "added": receipt.added, "removed": receipt.removed}
    if receipt.held:
        data["held"] = _clip_held(receipt.held)
    return ToolAnswer(value, data, _describe(receipt, done), is_error=not is_done, receipt=receipt)


def is_written(receipt: Receipt) -> bool:
    """True if the memory now says what was written, or a part of it."""
    return receipt.changed or all(each.startswith(("is known already", _DRAWER)) for each in receipt.held)


def _describe(receipt: Receipt, done: str) -> str:
    name = f" (receipt {receipt.id})" if receipt.id else ""
    if receipt.changed:
        lines = (
            f"{receipt.added} {'line' if receipt.added == 1 else 'lines'} added, {receipt.removed} removed"
        )
        what = done or f"{receipt.path} is changed: {lines}"
        text = f"{what}{name}. Its sha256 is {receipt.new}." if receipt.new else f"{what}{name}."
    elif any(each.startswith(_DRAWER) for each in receipt.held):
        text = f"Written, but not to {receipt.path}{name}: that page holds only what the user said."
    elif receipt.held:
        text = f"Nothing was written to {receipt.path}{name}."
    else:
        text = f"Nothing had to be changed: {receipt.path} says that already."
    told = [text, *(f"- {each}" for each in _clip_held(receipt.held))]
    told += [WAITS] if any(each.startswith("waits in review") for each in receipt.held) else []
    return "\n".join(told)


def _clip_held(held: tuple[str, ...]) -> list[str]:
    """Return the first of the held sentences, and the number of the rest."""
    return [*held[:_TOLD], *([f"and {len(held) - _TOLD} lines more"] if len(held) > _TOLD else [])]


def refusal_answer(error: Refused, value: dict[str, Any] | None = None) -> ToolAnswer:
    """Return a refusal as an answer; for a stale base, with the page's current hash."""
    value = {"success": False} | (value or {})
    data: dict[str, Any] = value | {"error": str(error)}
    if isinstance(error, Stale):
        data |= {"path": error.path, "sha256": error.current}
    return ToolAnswer(value, data, str(error), is_error=True)
