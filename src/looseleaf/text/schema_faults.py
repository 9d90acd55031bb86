"""What is wrong with a value that a JSON Schema was to hold, in one line: where, and what."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_LONGEST = 300
"""Characters of it: a schema's own words may repeat all that was given."""


def first_fault(validator: Any, value: Any) -> str | None:
    """The first thing that the validator (of `jsonschema_rs`) finds wrong; None: nothing."""
    for error in validator.iter_errors(value):
        where = ".".join(str(part) for part in error.instance_path)
        what = error.message if len(error.message) <= _LONGEST else f"{error.message[:_LONGEST]}…"
        return f"{where}: {what}" if where else what
    return None
