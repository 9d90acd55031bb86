"""What differs from one run to the next (ids, today, folders), made alike, so that outputs can be compared whole."""

from __future__ import annotations

import re
from collections.abc import Callable

STORY = "2025"
"""The year in which the story of the demo plays: its dates are data, and stay."""

SLOTS = "charter|profile|state|essentials|index|episodes|window|task"

_MASKS: tuple[tuple[str, Callable[[re.Match[str]], str]], ...] = (
    (r"\b01[0-9A-HJKMNP-TV-Z]{24}\b", lambda match: "01" + "X" * 24),
    (r"\bf_[0-9a-f]{8,12}\b", lambda match: "f_" + "x" * (len(match[0]) - 2)),
    (rf"\b20(?!{STORY[2:]})\d\d-\d\d-\d\d", lambda match: "20YY-MM-DD"),
    (r"(?<=20YY-MM-DD[T ])\d\d:\d\d(:\d\d)?", lambda match: "hh:mm:ss"[: len(match[0])]),
    # How many files a log has, and how many tokens a text with an id in it, differ by a little.
    (r" +\d+ files\b", lambda match: "N files".rjust(len(match[0]))),
    (r"\b[\d,]+(?= tokens? | of [\d,]+ tokens)", lambda match: "N"),
    (r"\(\d+ %\)", lambda match: "(N %)"),
    (r"(?m)^   - .*…$", lambda match: "   - …"),  # where a text with an id in it is cut
    (rf"(?m)^({SLOTS}) +(\S+) +\d+ +#+ +", lambda match: f"{match[1]} {match[2]} N # "),
)


def masked(text: str) -> str:
    """A text without what differs."""
    for pattern, alike in _MASKS:
        text = re.sub(pattern, alike, text)
    return text
