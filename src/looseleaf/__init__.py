"""A memory for LLM agents: a folder of Markdown that never loses what was written.

Importing this does nothing and takes milliseconds; the names below are loaded when they are first used.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from looseleaf.errors import Busy, Refused, Stale, Unreadable, Unwritten
    from looseleaf.memory import Memory
    from looseleaf.pages import Page
    from looseleaf.policy import Policy
    from looseleaf.values import Edit, Episode, Fact, Problem, Receipt

__all__ = [
    "Busy",
    "Edit",
    "Episode",
    "Fact",
    "Memory",
    "Page",
    "Policy",
    "Problem",
    "Receipt",
    "Refused",
    "Stale",
    "Unreadable",
    "Unwritten",
]
__version__ = "0.1.0"

_HOMES = {"Memory": "memory", "Page": "pages", "Policy": "policy"} | dict.fromkeys(
    ("Edit", "Episode", "Fact", "Problem", "Receipt"), "values"
)


def __getattr__(name: str) -> object:
    if name not in __all__:
        raise AttributeError(f"module 'looseleaf' has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(f"looseleaf.{_HOMES.get(name, 'errors')}"), name)
