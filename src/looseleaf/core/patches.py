"""Patches: texts that are replaced, each of which must stand in a page exactly once; all of them or none."""

from __future__ import annotations

from looseleaf.core.paths import quoted
from looseleaf.errors import Refused

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
        at = text.find(old)
        if at < 0 or text.find(old, at + 1) >= 0:  # also one that overlaps: which of the two was meant?
            why = "is not in it" if at < 0 else f"stands in it more than once (lines {_lines(text, old)})"
            hint = " Its lines end with \\r\\n." if at < 0 and "\r\n" in text and "\n" in old else ""
            raise Refused(
                f"{path} was not changed: {which} {why}: {quoted(old)}.{hint} Read the page and give a piece that "
                "stands there exactly once."
            )
        text = text[:at] + new + text[at + len(old) :]
    return text


_NAMED = 5
"""Lines that are named of a text that stands in many."""


def _lines(text: str, old: str) -> str:
    found: list[str] = []
    at = text.find(old)
    while at >= 0 and len(found) <= _NAMED:
        found.append(str(text.count("\n", 0, at) + 1))
        at = text.find(old, at + 1)
    return ", ".join(found[:_NAMED]) + (" …" if len(found) > _NAMED else "")
