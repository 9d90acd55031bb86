"""How the page words counts, time spans and ages, and how it shortens texts."""

from __future__ import annotations

import re
import time

_UNITS = ((86_400.0, "day"), (3_600.0, "hour"), (60.0, "minute"), (1.0, "second"))


def plural(count: int, one: str, many: str = "") -> str:
    """Return `1 line`, `2 lines`."""
    return f"{count:,} {one if count == 1 else many or f'{one}s'}"


def lasting(seconds: float) -> str:
    """Return a time span in its largest unit."""
    least, name = next((each for each in _UNITS if seconds >= each[0]), (0.0, ""))
    return plural(int(seconds // least), name) if least else "less than a second"


def ago(ts: float) -> str:
    """Return how long ago something was."""
    return f"{lasting(time.time() - ts)} ago"


# --- shortening --------------------------------------------------------------------------

SHORT = 160
"""Characters of a text that stands among others."""
_BRACKET = 40
"""Characters within which a bracket that was opened is not cut in two: it is mostly a date."""
_TITLE = 20
"""Characters that make a title: a greeting before it is part of it."""


def cut_at(text: str, most: int) -> int:
    """Return where a text is cut that is too long: between two words and not in a bracket, if there is such a place."""
    if len(text) <= most:
        return len(text)
    at = max(text.rfind(" ", most // 2, most + 1), text.rfind("\n", most // 2, most + 1))
    at = at if at > 0 else most
    opened = text.rfind("[", max(1, at - _BRACKET), at)
    return opened if opened > 0 and "]" not in text[opened:at] else at


def cut(text: str, most: int = SHORT) -> str:
    """Return a text, or its beginning up to a word, with an ellipsis."""
    return text if len(text) <= most else f"{text[: cut_at(text, most)].rstrip(' .,;:–([')}…"


def first_sentence(text: str) -> str:
    """Return how a text begins, as a title: its first sentence; a greeting takes the next one along."""
    line = " ".join(text.split())
    ends = (found.end() for found in re.finditer(r"[.!?…](?=\s)", line[: 2 * SHORT]))
    return cut(line[: next((end for end in ends if end >= _TITLE), len(line))])
