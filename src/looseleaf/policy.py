"""Every number of the design, in one place, each with the reason it has that value.

`looseleaf.toml` may override any of them by name; nothing else in the code holds a number
that a person could reasonably want to change.
"""

from __future__ import annotations

from looseleaf.errors import Refused
from looseleaf.frozen import frozen

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


@frozen
class Policy:
    # --- log files -----------------------------------------------------------------
    segment_bytes: int = 8 * 1024 * 1024
    """A log file this large is rotated: small enough to hash in milliseconds, large enough
    that years of talk are some hundred files."""

    body_bytes: int = 256 * 1024
    """A text longer than this leaves its line and becomes a file named by its hash."""

    # --- pages -----------------------------------------------------------------------
    page_bytes: int = 1024 * 1024
    """A page is something a person reads. Past a megabyte it is a data set, and is refused."""

    settle_seconds: float = 1.0
    """How long a page that is suddenly empty or gone is looked at again before it is believed.
    Editors truncate and write, or rename away and create; the gap is well under a second."""

    quiet_seconds: float = 0.05
    """A page changed more recently than this may still be being written: read it again."""

    late_seconds: float = 30.0
    """How long displaced bytes are watched for an editor that still holds the old file open."""

    # --- lock ------------------------------------------------------------------------
    lock_seconds: float = 60.0
    """Nothing holds the lock for longer than a disk takes; past this the holder hangs."""


SETTINGS = frozenset(Policy.__annotations__)
_KINDS = {int: "a whole number", float: "a number"}
_LONGEST = 86_400.0
"""No wait of more than a day: it would be a mistake, and some systems cannot wait for longer than they can count."""


def policy_from(settings: dict[str, Any], where: str = "looseleaf.toml") -> Policy:
    """The default policy with `settings` laid over it; refuses names and types it does not know."""
    default = Policy()
    changed: dict[str, Any] = {}
    for name, value in settings.items():
        if name not in SETTINGS:
            raise Refused(
                f"The memory was not opened: {where} sets {name!r}, which is no setting. Delete that line, or use "
                f"one of: {', '.join(sorted(SETTINGS))}."
            )
        wanted = type(getattr(default, name))
        if type(value) is not wanted and not (wanted is float and type(value) is int):
            raise _bad(where, name, f"must be {_KINDS[wanted]}, not {value!r}")
        if not value > 0:  # also what is no number (nan)
            raise _bad(where, name, f"must be greater than zero, not {value!r}")
        if wanted is float and value > _LONGEST:
            raise _bad(where, name, f"must be at most {_LONGEST:,.0f} seconds, not {value!r}")
        changed[name] = wanted(value)
    return Policy(**changed)


def _bad(where: str, name: str, fault: str) -> Refused:
    return Refused(
        f"The memory was not opened: in {where}, `{name}` {fault}. Mend that line, or delete it to have the default, "
        f"{getattr(Policy(), name)}."
    )
