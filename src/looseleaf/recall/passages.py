"""Passages: a long text in parts that can each be found and shown, cut where a paragraph, a line or a sentence ends."""

from __future__ import annotations

import re

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

LONGEST = 1600
"""Characters that stay one passage: an answer of some paragraphs is best found and shown as a whole."""

AIM = 1000
"""Characters of a passage of what is longer."""

_BREAK = re.compile(r"\n\s*\n|\n|(?<=[.!?;])\s|(?<=[。！？；])|\s")
_ENDS = frozenset(".!?;。！？；")


def passages(text: str) -> Iterator[tuple[int, int]]:
    """Where each begins and ends; none of a text that says nothing. What lies between them is blank."""
    begin, end = 0, len(text)
    while end - begin > LONGEST:
        cut = begin + _cut(text[begin : begin + LONGEST])
        if text[begin:cut].strip():
            yield begin, cut
        begin = cut
    if text[begin:].strip():
        yield begin, end


def _cut(text: str) -> int:
    """Behind the strongest break of the second half, and of those alike the one nearest to the aim."""
    best = (4, 0, len(text))
    for found in _BREAK.finditer(text, AIM // 2):
        lines = found[0].count("\n")
        rank = 0 if lines > 1 else 1 if lines else 2 if text[found.start() - 1] in _ENDS else 3
        best = min(best, (rank, abs(found.end() - AIM), found.end()))
    return best[2]
