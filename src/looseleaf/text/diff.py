"""The difference between two texts, as hunks of whole lines that turn either text into the other.

Invariant: `apply(old, diff(old, new)) == new` and `apply(new, invert(diff(old, new))) == old`, byte for byte,
for any two strings. A line ends at "\n" and nowhere else; it keeps its end, so joined lines are the text.

The time is bounded by n log n for any texts: pages are untrusted, and a page that made its own diff slow would delay
every command that reads the memory. That is why difflib is not used here.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter

from looseleaf.base.errors import Invalid, NotFound
from looseleaf.base.paths import quoted
from looseleaf.base.values import Hunk

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence


# --- patches: all apply or none; each replaces a text that occurs exactly once ---


def patched(path: str, text: str, patches: Sequence[tuple[str, str]]) -> str:
    """Return the page with the patches applied in order; `Invalid` or `NotFound` names the first that does not
    apply."""
    for number, (old, new) in enumerate(patches, 1):
        which = f"the text of patch {number}" if len(patches) > 1 else "the text to replace"
        if not old:
            raise Invalid(
                f"{path} was not changed: {which} is empty. Give text that occurs on the page exactly once."
            )
        found = places(text, old, 2)
        if len(found) != 1:
            lines = [str(line_at(text, at)) for at in places(text, old, _NAMED + 1)]
            named = ", ".join(lines[:_NAMED]) + " …" * (len(lines) > _NAMED)
            why = f"occurs in it more than once (lines {named})" if found else "is not in it"
            hint = " Its lines end with \\r\\n." if not found and "\r\n" in text and "\n" in old else ""
            raise (Invalid if found else NotFound)(
                f"{path} was not changed: {which} {why}: {quoted(old)}.{hint} Read the page and give text that "
                "occurs there exactly once."
            )
        text = text[: found[0]] + new + text[found[0] + len(old) :]
    return text


_NAMED = 5
"""How many lines to name of a text that occurs in many."""


def places(text: str, wanted: str, most: int) -> list[int]:
    """Return the first places of a text, at most `most`, overlapping ones too: which of the two was meant? An empty
    text has none."""
    found: list[int] = []
    at = text.find(wanted) if wanted else -1
    while at >= 0 and len(found) < most:
        found.append(at)
        at = text.find(wanted, at + 1)
    return found


def line_at(text: str, at: int) -> int:
    """Return the line number of a place, from 1."""
    return text.count("\n", 0, at) + 1


ROUNDS = 8
"""How often to search between two anchors for more anchors. People's edits need two or three; the bound is for texts
built to need thousands."""

CONTEXT = 3
"""Unchanged lines shown around a change, as git does."""


def split_lines(text: str) -> tuple[str, ...]:
    """Return the lines of `text` with their ends. Only "\\n" ends a line: "\\r", U+2028 and the like are content."""
    lines = [line + "\n" for line in text.split("\n")]
    last = lines.pop()[:-1]
    return (*lines, last) if last else tuple(lines)


def _count_shared(old: str, new: str, most: int, *, back: bool = False) -> int:
    """Return how many characters both texts begin with (`back`: end with), at most so many. Compares slices, halving
    their length: a loop over characters would take as long as all the rest."""
    count, step = 0, 1 << 16
    while step:
        while count + step <= most:
            if back:
                is_same = (
                    old[len(old) - count - step : len(old) - count]
                    == (new[len(new) - count - step : len(new) - count])
                )
            else:
                is_same = old[count : count + step] == new[count : count + step]
            if not is_same:
                break
            count += step
        step //= 2
    return count


def changed_stretch(old: str, new: str) -> tuple[int, int, int]:
    """Return where the lines of two texts begin to differ, and where in each the rest is the same again."""
    most = min(len(old), len(new))
    begin = old.rfind("\n", 0, _count_shared(old, new, most)) + 1
    shared = _count_shared(old, new, most - begin, back=True)
    ends = len(old) - shared, len(new) - shared
    if not all(end == begin or text[end - 1] == "\n" for text, end in zip((old, new), ends, strict=True)):
        line_end = old.find("\n", ends[0])
        shared = len(old) - line_end - 1 if line_end >= 0 else 0
    return begin, len(old) - shared, len(new) - shared


def diff(old: str, new: str) -> tuple[Hunk, ...]:
    """Return the hunks, in order, that turn `old` into `new`. Two of them never touch; equal texts have none."""
    if old == new:
        return ()
    begin, old_end, new_end = changed_stretch(old, new)
    a, b = split_lines(old[begin:old_end]), split_lines(new[begin:new_end])
    return diff_parts(a, b, old.count("\n", 0, begin))


def diff_parts(a: Sequence[str], b: Sequence[str], before: int = 0) -> tuple[Hunk, ...]:
    """Return the same for the parts of two texts. `before`: how many parts stand before them."""
    hunks: list[Hunk] = []
    stack = [(0, len(a), 0, len(b), ROUNDS)]
    while stack:
        a_from, a_to, b_from, b_to, rounds = stack.pop()
        while a_from < a_to and b_from < b_to and a[a_from] == b[b_from]:
            a_from, b_from = a_from + 1, b_from + 1
        while a_from < a_to and b_from < b_to and a[a_to - 1] == b[b_to - 1]:
            a_to, b_to = a_to - 1, b_to - 1
        if a_from == a_to and b_from == b_to:
            continue
        anchors = _find_anchors(a, a_from, a_to, b, b_from, b_to) if rounds else []
        if not anchors:
            hunks.append(Hunk(before + a_from, tuple(a[a_from:a_to]), tuple(b[b_from:b_to])))
            continue
        for i, j in reversed(anchors):  # push the last stretch first, so hunks come in order
            stack.append((i + 1, a_to, j + 1, b_to, rounds - 1))
            a_to, b_to = i, j
        stack.append((a_from, a_to, b_from, b_to, rounds - 1))
    return tuple(hunks)


def _find_anchors(
    a: Sequence[str], a_from: int, a_to: int, b: Sequence[str], b_from: int, b_to: int
) -> list[tuple[int, int]]:
    """Return the longest run of lines that occur once in both stretches and in the same order."""
    places_a = _find_lone_lines(a, a_from, a_to)
    places_b = _find_lone_lines(b, b_from, b_to)
    pairs = [(i, places_b[line]) for line, i in places_a.items() if line in places_b]
    # Longest increasing subsequence by patience: `tops` holds the smallest end of a run of each length.
    tops: list[int] = []
    ends: list[int] = []
    before: list[int] = []
    for n, (_, j) in enumerate(pairs):
        length = bisect_left(tops, j)
        before.append(ends[length - 1] if length else -1)
        if length == len(tops):
            tops.append(j)
            ends.append(n)
        else:
            tops[length], ends[length] = j, n
    chain: list[tuple[int, int]] = []
    n = ends[-1] if ends else -1
    while n >= 0:
        chain.append(pairs[n])
        n = before[n]
    chain.reverse()
    return chain


def _find_lone_lines(lines: Sequence[str], start: int, stop: int) -> dict[str, int]:
    """Return the place of each line that occurs exactly once, in order."""
    counts = Counter(lines[start:stop])
    return {lines[i]: i for i in range(start, stop) if counts[lines[i]] == 1}


def apply(text: str, hunks: Iterable[Hunk]) -> str:
    """Apply the hunks to `text`; ValueError unless it holds exactly the lines they remove, in place."""
    lines = split_lines(text)
    parts: list[str] = []
    done = 0
    for hunk in hunks:
        end = hunk.at + len(hunk.removed)
        if not done <= hunk.at <= len(lines) or lines[hunk.at : end] != hunk.removed:
            raise ValueError(
                f"the text does not hold, at line {hunk.at + 1}, the lines that the change replaces"
            )
        parts.extend(lines[done : hunk.at])
        parts.extend(hunk.added)
        done = end
    parts.extend(lines[done:])
    return "".join(parts)


def invert(hunks: Iterable[Hunk]) -> tuple[Hunk, ...]:
    """Return the hunks that undo `hunks`: their places are those of the new text."""
    shift = 0
    inverted: list[Hunk] = []
    for hunk in hunks:
        inverted.append(Hunk(hunk.at + shift, hunk.added, hunk.removed))
        shift += len(hunk.added) - len(hunk.removed)
    return tuple(inverted)


def unified(old: str, new: str, path_a: str, path_b: str) -> str:
    """Return the change as `diff -u` and git write it, for people and for `patch`; empty when there is none."""
    lines = split_lines(old)
    groups: list[list[Hunk]] = []
    for hunk in diff(old, new):
        if groups and hunk.at - _end_of(groups[-1][-1]) <= 2 * CONTEXT:
            groups[-1].append(hunk)
        else:
            groups.append([hunk])
    if not groups:
        return ""
    parts = [f"--- {path_a}\n", f"+++ {path_b}\n"]
    shift = 0
    for group in groups:
        start = max(0, group[0].at - CONTEXT)
        stop = min(len(lines), _end_of(group[-1]) + CONTEXT)
        grown = sum(len(hunk.added) - len(hunk.removed) for hunk in group)
        sides = _format_span(start, stop - start), _format_span(start + shift, stop - start + grown)
        parts.append(f"@@ -{sides[0]} +{sides[1]} @@\n")
        done = start
        for hunk in group:
            parts += [_format_line(" ", line) for line in lines[done : hunk.at]]
            parts += [_format_line("-", line) for line in hunk.removed]
            parts += [_format_line("+", line) for line in hunk.added]
            done = _end_of(hunk)
        parts += [_format_line(" ", line) for line in lines[done:stop]]
        shift += grown
    return "".join(parts)


def _end_of(hunk: Hunk) -> int:
    return hunk.at + len(hunk.removed)


def _format_span(start: int, length: int) -> str:
    # As `patch` reads it: an empty side names the line before it, a single line omits its length.
    if length == 0:
        return f"{start},0"
    return str(start + 1) if length == 1 else f"{start + 1},{length}"


def _format_line(sign: str, line: str) -> str:
    return sign + line if line.endswith("\n") else f"{sign}{line}\n\\ No newline at end of file\n"
