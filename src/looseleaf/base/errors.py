"""What the program says when it does not do a thing.

A `Refused` message is a sentence for the person or model that asked: what did not happen, where,
and what to do next. Nothing has changed when one is raised, unless its message says otherwise.
"""

from __future__ import annotations


class Refused(Exception):
    """The operation was not done; the message says why and what to do next."""


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
