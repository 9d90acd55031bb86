"""A memory for LLM agents: a folder of Markdown that never loses what was said.

Importing this does nothing and takes milliseconds; the names below are loaded when they are first used.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from looseleaf.agent.loop import Agent
    from looseleaf.base.errors import (
        BudgetTooSmall,
        Busy,
        Cancelled,
        CeilingReached,
        Invalid,
        ModelFailed,
        NotFound,
        Refused,
        Stale,
        TooLong,
        Unreadable,
        Unwritten,
    )
    from looseleaf.base.messages import Distilled, Distiller, Message, Noted, ToolCallSpec, Trace, Turn
    from looseleaf.base.policy import Policy
    from looseleaf.base.replies import Extension, Model, Reply, ToolSpec, Usage
    from looseleaf.base.values import Edit, Episode, Fact, Problem, Receipt
    from looseleaf.log.entries import Entry
    from looseleaf.memory import Memory
    from looseleaf.memory.aio import AsyncMemory
    from looseleaf.models import ScriptedModel
    from looseleaf.models.model_table import Budget
    from looseleaf.pages.pages import Page
    from looseleaf.prompt.manifest import Manifest, Prompt
    from looseleaf.window.compaction_plan import Loss

__all__ = [
    "Agent",
    "AsyncMemory",
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
    "Invalid",
    "Loss",
    "Manifest",
    "Memory",
    "Message",
    "Model",
    "ModelFailed",
    "NotFound",
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
_HOMES = (
    {
        "Agent": "agent.loop",
        "Budget": "models.model_table",
        "Entry": "log.entries",
        "Loss": "window.compaction_plan",
    }
    | dict.fromkeys(("Extension", "Model", "Reply", "ToolSpec", "Usage"), "base.replies")
    | {"ScriptedModel": "models"}
    | dict.fromkeys(("Manifest", "Prompt"), "prompt.manifest")
    | {"AsyncMemory": "memory.aio", "Memory": "memory", "Page": "pages.pages", "Policy": "base.policy"}
    | dict.fromkeys(
        ("Distilled", "Distiller", "Message", "Noted", "ToolCallSpec", "Trace", "Turn"), "base.messages"
    )
    | dict.fromkeys(("Edit", "Episode", "Fact", "Problem", "Receipt"), "base.values")
)


def __dir__() -> list[str]:
    return [*__all__, "__version__"]


def __getattr__(name: str) -> object:
    if name == "__version__":
        from looseleaf.base.version import VERSION

        return VERSION
    if name not in __all__:
        raise AttributeError(f"module 'looseleaf' has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(f"looseleaf.{_HOMES.get(name, 'base.errors')}"), name)
