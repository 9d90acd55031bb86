"""Extras: the packages that only some parts need, as pyproject.toml has them, and how they are got.

A hint names the packages themselves: that works wherever this program came from, also from a folder or a wheel.
"""

from __future__ import annotations

EXTRAS = {
    "mcp": ("mcp>=2.3,<3",),
    "openai": ("openai>=3.49,<4",),
    "anthropic": ("anthropic>=2.8",),
    "gemini": ("google-genai>=3.1,<4",),
    "ollama": ("ollama>=0.6,<0.7",),
    "semantic": ("numkong>=7.8", "numpy>=2.0"),
}
"""By extra, what it brings."""

_MODULES = {
    "mcp": ("mcp", "mcp_types"),
    "openai": ("openai",),
    "anthropic": ("anthropic",),
    "gemini": ("google.genai",),
    "ollama": ("ollama",),
    "semantic": ("numpy",),
}
"""What must be there to be imported. Without `numkong`, finding by meaning is slower."""


def package_of(extra: str) -> str:
    """The first package that it brings, by its name."""
    return EXTRAS[extra][0].partition(">")[0]


def hint(extra: str) -> str:
    """The command that brings it."""
    return f"pip install {' '.join(repr(each) for each in EXTRAS[extra])}"


def to_get(extra: str) -> str:
    """The same in a sentence, with the name of the extra."""
    return f"`{hint(extra)}` (the extra `{extra}`)"


def is_there(extra: str) -> bool:
    """Whether it could be imported; nothing of it is."""
    from importlib.util import find_spec

    try:
        return all(find_spec(name) is not None for name in _MODULES[extra])
    except ModuleNotFoundError:  # the package around it is missing
        return False
