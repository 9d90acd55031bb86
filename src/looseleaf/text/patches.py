"""Patches: texts that are replaced, each of which must stand in a page exactly once; all of them or none."""

from __future__ import annotations

from looseleaf.base.errors import Refused
from looseleaf.base.page_paths import quoted

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence


def patched(path: str, text: str, patches: Sequence[tuple[str, str]]) -> str:
    """The page after these, one after the other; or Refused, with the first that does not apply."""
    for number, (old, new) in enumerate(patches, 1):
        which = f"the text of patch {number}" if len(patches) > 1 else "the text to replace"
        if not old:
            raise Refused(
                f"{path} was not changed: {which} is empty. Give a piece of the page that stands there exactly once."
            )
        found = places(text, old, 2)
        if len(found) != 1:
            why = f"stands in it more than once (lines {_lines(text, old)})" if found else "is not in it"
            hint = " Its lines end with \\r\\n." if not found and "\r\n" in text and "\n" in old else ""
            raise Refused(
                f"{path} was not changed: {which} {why}: {quoted(old)}.{hint} Read the page and give a piece that "
                "stands there exactly once."
            )
        text = text[: found[0]] + new + text[found[0] + len(old) :]
    return text


_NAMED = 5
"""Lines that are named of a text that stands in many."""


def _lines(text: str, old: str) -> str:
    found = [str(line_at(text, at)) for at in places(text, old, _NAMED + 1)]
    return ", ".join(found[:_NAMED]) + (" …" if len(found) > _NAMED else "")


def places(text: str, wanted: str, most: int) -> list[int]:
    """Where a text stands, at most so many times, also where it overlaps itself: which of the two was meant? Nothing
    stands nowhere."""
    found: list[int] = []
    at = text.find(wanted) if wanted else -1
    while at >= 0 and len(found) < most:
        found.append(at)
        at = text.find(wanted, at + 1)
    return found


def line_at(text: str, at: int) -> int:
    """The number of the line, from 1, in which a place is."""
    return text.count("\n", 0, at) + 1
