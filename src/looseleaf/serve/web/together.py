"""Two people's changes of one text, made one: both are in it, and nothing that either wrote is lost.

Where they changed different lines, that is the merged text. Where they changed the same ones, both versions stand one
after the other, for a person to choose.
"""

from __future__ import annotations

from looseleaf.text.diff import diff, diff_parts, split_lines

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from looseleaf.base.values import Hunk


def together(base: str, theirs: str, yours: str) -> tuple[str, bool]:
    """Return a text with both changes of `base`, and whether they met in the same lines."""
    base, theirs, yours = (_ended(text) for text in (base, theirs, yours))
    lines = split_lines(base)
    sides = diff(base, theirs), diff(base, yours)
    parts: list[str] = []
    done, has_met = 0, False
    for start, end, own in _stretches(*sides):
        parts += lines[done:start]
        versions = [_applied(lines, start, end, hunks) for hunks in own]
        if not own[0] or not own[1] or versions[0] == versions[1]:
            parts += versions[0] if own[0] else versions[1]
        elif not any(hunk.removed for hunks in own for hunk in hunks):
            parts += [*versions[0], *versions[1]]  # both added here
        else:
            has_met = True
            parts += _both(*versions)
        done = end
    return "".join([*parts, *lines[done:]]), has_met


def _ended(text: str) -> str:
    return text if text.endswith("\n") or not text else f"{text}\n"


def _stretches(
    theirs: Sequence[Hunk], yours: Sequence[Hunk]
) -> list[tuple[int, int, tuple[list[Hunk], list[Hunk]]]]:
    """Return the stretches of the base that changed, in order, each with the hunks of both sides in it."""
    every = sorted(
        [(hunk.at, hunk.at + len(hunk.removed), 0, hunk) for hunk in theirs]
        + [(hunk.at, hunk.at + len(hunk.removed), 1, hunk) for hunk in yours],
        key=lambda each: each[:3],
    )
    found: list[tuple[int, int, tuple[list[Hunk], list[Hunk]]]] = []
    for start, end, side, hunk in every:
        if found and _meets(found[-1][:2], (start, end)):
            begun, over, own = found.pop()
            start, end = min(begun, start), max(over, end)
        else:
            own = ([], [])
        own[side].append(hunk)
        found.append((start, end, own))
    return found


def _meets(one: tuple[int, int], other: tuple[int, int]) -> bool:
    """True if two stretches share a line, or are the same place between two lines."""
    return one == other or (one[0] < other[1] and other[0] < one[1])


def _applied(lines: Sequence[str], start: int, end: int, hunks: Sequence[Hunk]) -> list[str]:
    """Return a stretch of lines as one side has it."""
    parts: list[str] = []
    for hunk in hunks:
        parts += [*lines[start : hunk.at], *hunk.added]
        start = hunk.at + len(hunk.removed)
    return [*parts, *lines[start:end]]


def _both(theirs: Sequence[str], yours: Sequence[str]) -> list[str]:
    """Return the lines of both versions; those that they share once."""
    parts: list[str] = []
    done = 0
    for hunk in diff_parts(theirs, yours):
        end = hunk.at + len(hunk.removed)
        parts += [*theirs[done:end], *hunk.added]
        done = end
    return [*parts, *theirs[done:]]
