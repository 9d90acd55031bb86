"""A tool and its answer, as values. Every surface (MCP, a provider's list of tools, the command) is made of these.

Invariant: an answer is always given. What could not be done is an answer too: `is_error`, and a sentence that says what
did not happen and what to do next.
"""

from __future__ import annotations

from looseleaf.base.immutable import frozen

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Any

    from looseleaf.base.values import Receipt
    from looseleaf.memory import Memory


@frozen
class Answer:
    """What a tool gives back.

    `value` has the shape that the tool's seed fixed: a list, a text, `{"success": …}`. `data` says all there is to say,
    always as an object: the tool's `returns` is its schema. `text` is what a model reads.
    """

    value: Any
    data: dict[str, Any]
    text: str
    is_error: bool = False
    receipt: Receipt | None = None


@frozen
class Tool:
    """`parameters` and `returns` are JSON Schemas of objects. `reads`: it changes nothing. `destroys`: it may replace
    or remove what was there. `repeats`: doing it twice is doing it once."""

    name: str
    title: str
    description: str
    parameters: dict[str, Any]
    returns: dict[str, Any]
    run: Callable[[Memory, Mapping[str, Any]], Answer]
    reads: bool = False
    destroys: bool = False
    repeats: bool = False

    def to_dict(self) -> dict[str, Any]:
        """As most providers want it: a name, a description, a schema."""
        return {"name": self.name, "description": self.description, "parameters": self.parameters}
