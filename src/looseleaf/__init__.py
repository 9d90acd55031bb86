"""A memory for LLM agents: a folder of Markdown that never loses what was said.

Importing this does nothing and takes milliseconds; the names below are loaded when they are first used.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from looseleaf.agent.loop import Agent
    from looseleaf.core.loss import Loss
    from looseleaf.core.manifest import Manifest, Prompt
    from looseleaf.entries import Entry
    from looseleaf.errors import (
        BudgetTooSmall,
        Busy,
        Cancelled,
        CeilingReached,
        ModelFailed,
        Refused,
        Stale,
        TooLong,
        Unreadable,
        Unwritten,
    )
    from looseleaf.llm.models import ScriptedModel
    from looseleaf.llm.registry import Budget
    from looseleaf.memory import Memory
    from looseleaf.page import Page
    from looseleaf.policy import Policy
    from looseleaf.reply import Extension, Model, Reply, ToolSpec, Usage
    from looseleaf.talk import Distilled, Distiller, Message, Noted, ToolCallSpec, Trace, Turn
    from looseleaf.values import Edit, Episode, Fact, Problem, Receipt

__all__ = [
    "Agent",
    "Budget",
    "BudgetTooSmall",
    "Busy",
    "Cancelled",
    "CeilingReached",
    "Distilled",
    "Distiller",
    "Edit",
    "Entry",
    "Episode",
    "Extension",
    "Fact",
    "Loss",
    "Manifest",
    "Memory",
    "Message",
    "Model",
    "ModelFailed",
    "Noted",
    "Page",
    "Policy",
    "Problem",
    "Prompt",
    "Receipt",
    "Refused",
    "Reply",
    "ScriptedModel",
    "Stale",
    "TooLong",
    "ToolCallSpec",
    "ToolSpec",
    "Trace",
    "Turn",
    "Unreadable",
    "Unwritten",
    "Usage",
]
__version__ = "0.1.0"

_HOMES = (
    {"Agent": "agent.loop", "Budget": "llm.registry", "Entry": "entries", "Loss": "core.loss"}
    | dict.fromkeys(("Extension", "Model", "Reply", "ToolSpec", "Usage"), "reply")
    | {"ScriptedModel": "llm.models"}
    | dict.fromkeys(("Manifest", "Prompt"), "core.manifest")
    | {"Memory": "memory", "Page": "pages", "Policy": "policy"}
    | dict.fromkeys(("Distilled", "Distiller", "Message", "Noted", "ToolCallSpec", "Trace", "Turn"), "talk")
    | dict.fromkeys(("Edit", "Episode", "Fact", "Problem", "Receipt"), "values")
)


def __dir__() -> list[str]:
    return [*__all__, "__version__"]


def __getattr__(name: str) -> object:
    if name not in __all__:
        raise AttributeError(f"module 'looseleaf' has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(f"looseleaf.{_HOMES.get(name, 'errors')}"), name)
