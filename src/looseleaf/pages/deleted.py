"""Pages that were deleted outside: each is named with its facts, and with the command that brings it back."""

from __future__ import annotations

from itertools import takewhile

from looseleaf.log.journal import EXTERNAL, UNKNOWN
from looseleaf.pages.grammar import drawer, parse

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from looseleaf.base.values import Edit

_NAMED = 3
"""Pages that a sentence names; more are counted."""


def deleted_outside(edits: Iterable[Edit]) -> dict[str, int]:
    """Return the pages that these edits deleted, each with its number of facts; none whose text went to another page.
    A page of review may go: that is an answer."""
    every = list(edits)
    there = {edit.new for edit in every}
    return {edit.path: _count_facts(edit) for edit in every if _is_deletion(edit) and edit.base not in there}


def last_deleted(newest_first: Iterable[Edit]) -> dict[str, int]:
    """Return the pages that were deleted outside since the last other edit."""
    return deleted_outside(takewhile(_is_deletion, newest_first))


def told(pages: dict[str, int]) -> str:
    """Return what is gone, and how it comes back."""
    from shlex import quote

    named = [f"{path} ({count:,} fact{'s' * (count != 1)})" for path, count in sorted(pages.items())]
    more = len(named) - _NAMED
    some = ", ".join(named[:_NAMED]) + (f" and {more:,} more page{'s' * (more > 1)}" if more > 0 else "")
    if len(pages) > 1:
        return f"Deleted outside the program: {some}. `looseleaf undo PAGE` brings one back."
    return f"{some} was deleted outside the program. `looseleaf undo {quote(*pages)}` brings it back."


def _is_deletion(edit: Edit) -> bool:
    return edit.new is None and edit.author in (EXTERNAL, UNKNOWN) and drawer(edit.path) != "review"


def _count_facts(edit: Edit) -> int:
    return len(parse(edit.path, "".join(line for hunk in edit.hunks for line in hunk.removed)).facts)
