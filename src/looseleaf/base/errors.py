"""What the program says when it does not do a thing.

A `Refused` message is a sentence for the person or model that asked: what did not happen, where,
and what to do next. Nothing has changed when one is raised, unless its message says otherwise.
"""

from __future__ import annotations

# Extras: the packages that only some parts need, as pyproject.toml has them, and how they are got.

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


class Refused(Exception):
    """The operation was not done; the message says why and what to do next."""


class NotFound(Refused, LookupError):
    """There is nothing by that name."""


class Invalid(Refused, ValueError):
    """An argument makes no sense."""


class Stale(Refused):
    """The document is not what the caller last read. `current` is its hash now (None: it is gone)."""

    def __init__(self, path: str, base: str | None, current: str | None) -> None:
        was = f"sha256 {base[:12]}…" if base else "absent"
        now = f"its sha256 is {current}" if current else "it does not exist"
        super().__init__(
            f"{path} was not changed: it is not what you read ({was}); now {now}. "
            "Read it again and repeat the change on what it says now."
        )
        self.path = path
        self.base = base
        self.current = current


class Unreadable(Refused):
    """A file is there and could not be read. It is never taken for an empty or an absent one."""


class Unwritten(Refused):
    """The disk refused a write. What was there before is whole; the new bytes are not acknowledged."""


class Busy(Refused):
    """Another process holds the memory's lock and did not let go in time."""


class BudgetTooSmall(Refused):
    """A prompt does not fit its budget, though everything that may be left out was. `needed`: the tokens it takes."""

    def __init__(self, budget: int, needed: int, what: str) -> None:
        super().__init__(
            f"No prompt was made: {what} take {needed:,} tokens and are never cut, and the budget is {budget:,}. "
            f"Give a budget of at least {needed:,}, or shorten them."
        )
        self.budget = budget
        self.needed = needed


class ModelFailed(Refused):
    """A model did not answer. The message says why and what to do next."""


class TooLong(ModelFailed):
    """The provider says that the prompt is longer than the model takes."""


class Cancelled(ModelFailed):
    """The call was ended by whoever asked for it."""


class CeilingReached(Refused):
    """No more may be spent on models today."""
