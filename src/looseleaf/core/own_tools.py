"""Our own tools, by name (`tools.toolset` has them): what they answer is memory already, and no news from outside."""

from __future__ import annotations

NAMES = (
    "memory_list",
    "memory_read",
    "memory_write",
    "memory_patch",
    "memory_append",
    "remember",
    "recall",
    "memory_state",
    "memory_forget",
)

OWN = frozenset({*NAMES, "memory"})
"""With the one that a provider names and we carry out."""

PREFIX = "mcp__looseleaf__"
"""What coding agents put before the name of a tool that an MCP server called `looseleaf` serves."""

RECALLED = "recalled"
"""The tag of text that memory itself put into a prompt: distilling it again would make memory of memory."""

FENCE = "<<data "
"""How a fence begins (`core.fence`): behind it stands what nobody vouches for, also where we answered it."""


def is_own(name: str | None) -> bool:
    return name is not None and name.removeprefix(PREFIX) in OWN


def is_served(name: str | None) -> bool:
    """Whether a coding agent calls a tool of ours by that name: others may have tools that are called as ours are."""
    return name is not None and name.startswith(PREFIX) and is_own(name)


def is_news(name: str | None, tags: tuple[str, ...], text: str) -> bool:
    """Whether a tool's result brings words from outside: every one but our own, and of these what they fenced."""
    return not (is_own(name) and RECALLED in tags) or FENCE in text
