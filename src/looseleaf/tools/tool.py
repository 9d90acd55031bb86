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

WAITS = (
    "Tell the user that it waits for a yes in review/pending.md, which `looseleaf review` goes through; and do not "
    "write it again."
)
_NOTED = "Tell the user that it is saved as an agent's note, not as their word: `looseleaf approve` makes it theirs."

_ELSEWHERE, _WAITING, _KNOWN = "stands in a drawer", "waits in review", "is known already"
"""How the sentences begin on lines that are kept, if not where they were put (`place/guard_rules.py: FATES`)."""

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
    success={"type": "boolean", "description": "whether it is kept: on the page, or where `held` says"},
    path=TEXT,
    sha256={
        "anyOf": [{"type": "string"}, {"type": "null"}],
        "description": "the page's hash now: the base of the next change",
    },
    receipt=text_schema("the id of the edit in the journal; `looseleaf receipts` lists it"),
    added=COUNT,
    removed=COUNT,
    held={"type": "array", "items": TEXT, "description": "what did not go where it was put, and why"},
    note=text_schema("what to tell the user"),
    appliedCount={**COUNT, "description": "how many patches were applied: all or none"},
    error=TEXT,
)
"""The result of every tool that writes; the seed fixed `success`, the rest is for checking."""


def write_answer(
    receipt: Receipt, value: dict[str, Any] | None = None, done: str = "", *, wanted: int = 1
) -> ToolAnswer:
    """Return the answer to a write. `value`: more members that the seed fixed.

    It is an error only if nothing is kept: what stands elsewhere, or waits for the user, was not in vain. `wanted`: the
    number of lines that must be kept somewhere, if the page did not change.
    """
    kept = is_kept(receipt, wanted)
    value = {"success": kept} | (value or {})
    data: dict[str, Any] = value | {"path": receipt.path, "sha256": receipt.new}
    data |= {"receipt": receipt.id, "added": receipt.added, "removed": receipt.removed}
    if receipt.held:
        data["held"] = _clip_held(receipt.held)
    notes = notes_on(receipt)
    if notes:
        data["note"] = " ".join(notes)
    text = "\n".join(
        (
            _describe(receipt, done, is_kept=kept),
            *(f"- {each}" for each in _clip_held(receipt.held)),
            *notes,
        )
    )
    return ToolAnswer(value, data, text, is_error=not kept, receipt=receipt)


def is_kept(receipt: Receipt, wanted: int = 1) -> bool:
    """True if a write was not in vain: its lines stand where they were put or elsewhere, or wait for the user."""
    kept = [each for each in receipt.held if each.startswith((_ELSEWHERE, _WAITING, _KNOWN))]
    return receipt.changed or not receipt.held or len(kept) >= wanted


def notes_on(receipt: Receipt) -> list[str]:
    """Return what to tell the user about lines that stand elsewhere or wait."""
    return [note for start, note in ((_ELSEWHERE, _NOTED), (_WAITING, WAITS)) if _has(receipt, start)]


def _has(receipt: Receipt, start: str) -> bool:
    return any(each.startswith(start) for each in receipt.held)


def _describe(receipt: Receipt, done: str, *, is_kept: bool) -> str:
    name = f" (receipt {receipt.id})" if receipt.id else ""
    if receipt.changed:
        lines = (
            f"{receipt.added} {'line' if receipt.added == 1 else 'lines'} added, {receipt.removed} removed"
        )
        what = done or f"{receipt.path} is changed: {lines}"
        return f"{what}{name}. Its sha256 is {receipt.new}." if receipt.new else f"{what}{name}."
    return (
        describe_held(receipt, receipt.path, name)
        if is_kept
        else f"Nothing was written to {receipt.path}{name}."
    )


def describe_held(receipt: Receipt, path: str, name: str = "") -> str:
    """Return what became of a write that is kept, though its page, `path` to the caller, did not change."""
    if _has(receipt, _ELSEWHERE):
        is_unnamed = any(each.startswith("the page ") for each in receipt.held)
        why = "no page of that name was made" if is_unnamed else "that page holds only what the user said"
        return f"Saved, but not on {path}{name}: {why}."
    if _has(receipt, _WAITING):
        return f"Not on {path} yet{name}: it waits for the user."
    return f"Nothing had to be changed: {path} says that already."


def _clip_held(held: tuple[str, ...]) -> list[str]:
    """Return the first of the held sentences, and the number of the rest."""
    return [*held[:_TOLD], *([f"and {len(held) - _TOLD} more"] if len(held) > _TOLD else [])]


def refusal_answer(error: Refused, value: dict[str, Any] | None = None) -> ToolAnswer:
    """Return a refusal as an answer; for a stale base, with the page's current hash."""
    value = {"success": False} | (value or {})
    data: dict[str, Any] = value | {"error": str(error)}
    if isinstance(error, Stale):
        data |= {"path": error.path, "sha256": error.current}
    return ToolAnswer(value, data, str(error), is_error=True)
