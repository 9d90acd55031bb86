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
        Invalid,
        ModelFailed,
        NotFound,
        PromptTooLong,
        Refused,
        SpendingLimit,
        Stale,
        Unreadable,
        Unwritten,
    )
    from looseleaf.base.messages import (
        Distilled,
        Distiller,
        Message,
        Noted,
        Session,
        ToolCallSpec,
        ToolInteraction,
        Trace,
        Turn,
    )
    from looseleaf.base.policy import Policy
    from looseleaf.base.replies import Extension, Model, Reply, ToolSpec, Usage
    from looseleaf.base.values import Edit, Episode, Fact, Problem, Receipt
    from looseleaf.explain.promises import Reconciled
    from looseleaf.explain.prompt_costs import Analysis, Compared
    from looseleaf.explain.sources import Signed
    from looseleaf.explain.why import Explanation
    from looseleaf.explain.writes import Written
    from looseleaf.forget.forget import Forgotten
    from looseleaf.index.embed import Embedder
    from looseleaf.index.protocol import Index
    from looseleaf.log.entries import Entry
    from looseleaf.log.recorder import Batch
    from looseleaf.memory import Memory
    from looseleaf.memory.aio import AsyncMemory
    from looseleaf.memory.groups import (
        ExplainVerbs,
        HistoryVerbs,
        PageVerbs,
        ReviewVerbs,
        TalkVerbs,
        ViewVerbs,
        WindowVerbs,
    )
    from looseleaf.memory.merge import Merged
    from looseleaf.models import ScriptedModel
    from looseleaf.models.costs import Ceiling, Costs, Share, Spent
    from looseleaf.models.model_table import Budget
    from looseleaf.pages.held import Held
    from looseleaf.pages.pages import Page
    from looseleaf.pages.settle import Settled
    from looseleaf.place.distill_and_place import Remembered
    from looseleaf.place.notebook import FactSource
    from looseleaf.place.placer import Placed, ReviewResult
    from looseleaf.place.redistill import Difference
    from looseleaf.place.tidy import Tidied
    from looseleaf.prompt.manifest import Manifest, Prompt
    from looseleaf.prompt.rendered_snapshot import Snapshot
    from looseleaf.recall.hits import Hit, Recalled
    from looseleaf.recall.open_hit import Bundle, Opened
    from looseleaf.state.state import State
    from looseleaf.store.protocol import Store
    from looseleaf.sync.sync import Synced
    from looseleaf.views.build import Built
    from looseleaf.views.page_index import IndexLine
    from looseleaf.window.compaction_plan import Loss
    from looseleaf.window.window import Window

__all__ = [
    "Agent",
    "Analysis",
    "AsyncMemory",
    "Batch",
    "Budget",
    "BudgetTooSmall",
    "Built",
    "Bundle",
    "Busy",
    "Cancelled",
    "Ceiling",
    "Compared",
    "Costs",
    "Difference",
    "Distilled",
    "Distiller",
    "Edit",
    "Embedder",
    "Entry",
    "Episode",
    "ExplainVerbs",
    "Explanation",
    "Extension",
    "Fact",
    "FactSource",
    "Forgotten",
    "Held",
    "HistoryVerbs",
    "Hit",
    "Index",
    "IndexLine",
    "Invalid",
    "Loss",
    "Manifest",
    "Memory",
    "Merged",
    "Message",
    "Model",
    "ModelFailed",
    "NotFound",
    "Noted",
    "Opened",
    "Page",
    "PageVerbs",
    "Placed",
    "Policy",
    "Problem",
    "Prompt",
    "PromptTooLong",
    "Recalled",
    "Receipt",
    "Reconciled",
    "Refused",
    "Remembered",
    "Reply",
    "ReviewResult",
    "ReviewVerbs",
    "ScriptedModel",
    "Session",
    "Settled",
    "Share",
    "Signed",
    "Snapshot",
    "SpendingLimit",
    "Spent",
    "Stale",
    "State",
    "Store",
    "Synced",
    "TalkVerbs",
    "Tidied",
    "ToolCallSpec",
    "ToolInteraction",
    "ToolSpec",
    "Trace",
    "Turn",
    "Unreadable",
    "Unwritten",
    "Usage",
    "ViewVerbs",
    "Window",
    "WindowVerbs",
    "Written",
]

_MODULES = {
    "agent.loop": "Agent",
    "base.errors": (
        "BudgetTooSmall Busy Cancelled SpendingLimit "
        "Invalid ModelFailed NotFound Refused Stale PromptTooLong Unreadable Unwritten"
    ),
    "base.messages": "Distilled Distiller Message Noted Session ToolCallSpec ToolInteraction Trace Turn",
    "base.policy": "Policy",
    "base.replies": "Extension Model Reply ToolSpec Usage",
    "base.values": "Edit Episode Fact Problem Receipt",
    "explain.promises": "Reconciled",
    "explain.prompt_costs": "Analysis Compared",
    "explain.sources": "Signed",
    "explain.why": "Explanation",
    "explain.writes": "Written",
    "forget.forget": "Forgotten",
    "index.embed": "Embedder",
    "index.protocol": "Index",
    "log.entries": "Entry",
    "log.recorder": "Batch",
    "memory": "Memory",
    "memory.aio": "AsyncMemory",
    "memory.groups": "ExplainVerbs HistoryVerbs PageVerbs ReviewVerbs TalkVerbs ViewVerbs WindowVerbs",
    "memory.merge": "Merged",
    "models": "ScriptedModel",
    "models.costs": "Ceiling Costs Share Spent",
    "models.model_table": "Budget",
    "pages.held": "Held",
    "pages.pages": "Page",
    "pages.settle": "Settled",
    "place.distill_and_place": "Remembered",
    "place.notebook": "FactSource",
    "place.placer": "Placed ReviewResult",
    "place.redistill": "Difference",
    "place.tidy": "Tidied",
    "prompt.manifest": "Manifest Prompt",
    "prompt.rendered_snapshot": "Snapshot",
    "recall.hits": "Hit Recalled",
    "recall.open_hit": "Bundle Opened",
    "state.state": "State",
    "store.protocol": "Store",
    "sync.sync": "Synced",
    "views.build": "Built",
    "views.page_index": "IndexLine",
    "window.compaction_plan": "Loss",
    "window.window": "Window",
}
"""The names that each module holds."""


def __dir__() -> list[str]:
    return [*__all__, "__version__"]


def __getattr__(name: str) -> object:
    if name == "__version__":
        from looseleaf.base.version import VERSION

        return VERSION
    module = next((module for module, names in _MODULES.items() if name in names.split()), None)
    if module is None:
        raise AttributeError(f"module 'looseleaf' has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(f"looseleaf.{module}"), name)
