"""Two changes of one page, made one as git asks for it: from the version before both, without a journal.

Lines are woven, facts stand once, and two values where there can be one are both kept and marked. Which side is which
makes no difference to the result.
"""

from __future__ import annotations

from itertools import pairwise

from looseleaf.facts.woven import Word, judge, repeats
from looseleaf.pages.grammar import parse
from looseleaf.text.diff import diff_parts
from looseleaf.text.lines import body, is_said_on, line_end, said_on, undoubted
from looseleaf.text.weave import Change, Weave, joined, split_parts

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Container, Iterable, Mapping, Sequence

    from looseleaf.text.weave import Line

_MARK = "\ufeff"
_BASE, _JUDGED = "base", "judged"


def merge_pages(path: str, base: str, ours: str, theirs: str, today: str) -> str:
    """Return a page with both changes. A contested value is marked with the id that git gave its version of the page,
    and with the day on which that was changed: `today`, if it does not say."""
    texts = base, ours, theirs
    plain = [text.removeprefix(_MARK) for text in texts]
    is_mixed = any(text.count("\r\n") not in (0, text.count("\n")) for text in plain)
    has_mark = _changed(*(text.startswith(_MARK) for text in texts))
    has_returns = not is_mixed and _changed(*("\r\n" in text for text in plain))
    if not is_mixed:
        plain = [text.replace("\r\n", "\n") for text in plain]
    before, one, other = plain
    if one == other or other == before:
        woven = one
    elif one == before:
        woven = other
    else:
        named = sorted(zip(plain[1:], texts[1:], strict=True))
        woven = _Merge(path, before, named[0], named[1], today).text()
    return _MARK * has_mark + (woven.replace("\n", "\r\n") if has_returns else woven)


def _changed(base: bool, ours: bool, theirs: bool) -> bool:
    """Return what becomes of something that is so or not: what a side changed counts."""
    return ours if ours != base else theirs


class _Merge:
    """Both sides: the plain text of each, and the text as it is in the repository."""

    def __init__(
        self, path: str, base: str, one: tuple[str, str], other: tuple[str, str], today: str
    ) -> None:
        self._path, self._today = path, today
        self._sides = {"one": one, "other": other}
        self._texts = [split_parts(text) for text in (base, one[0], other[0])]
        start, *sides = _level(*self._texts)
        self._changes = {_BASE: [Change(_BASE, diff_parts((), start), {})]}
        for side, parts in zip(self._sides, sides, strict=True):
            self._changes[side] = [Change(side, diff_parts(start, parts), {_BASE: _BASE})]

    def text(self) -> str:
        found = judge(self._path, self._weave(), lambda line: Word(False, float(is_said_on(body(line.text)))))
        seen = {side: side for side in self._sides}
        self._changes[_BASE].append(Change(_JUDGED, (), seen, drops=found.drops, contests=found.contests))
        return joined(_spaced(split_parts(self._weave().text()), self._texts))

    def _weave(self) -> Weave:
        return Weave(self._changes, shown=self._shown, hidden=repeats(self._path))

    def _shown(self, line: Line, past: Mapping[str, int] | None) -> str:
        if is_said_on(body(line.text)) or line.writer == _BASE:
            return line.text
        text, stored = self._sides[line.writer]
        day = parse(self._path, text).updated or self._today
        return said_on(body(line.text), f"git-{_blob_id(stored)[:10]}", day) + line_end(line.text)


def _level(base: list[str], one: list[str], other: list[str]) -> tuple[list[str], list[str], list[str]]:
    """Return the three texts with the same lines equal to the byte: the blank lines before a line, and its end, do not
    make it another. The base gets the lines that both sides added in the same place: neither changed these."""
    words = [[_words(part) for part in parts] for parts in (base, one, other)]
    in_one, in_other = _places(words[0], words[1]), _places(words[0], words[2])
    level_one, level_other = [*one], [*other]
    start: list[str] = []
    at_one = {place: number for number, place in enumerate(in_one) if place is not None}
    at_other = {place: number for number, place in enumerate(in_other) if place is not None}
    for place, part in enumerate(base):
        found = [one[at_one[place]]] if place in at_one else []
        found += [other[at_other[place]]] if place in at_other else []
        start.append(max((each for each in found if each != part), key=_size, default=part))
        if place in at_one:
            level_one[at_one[place]] = start[place]
        if place in at_other:
            level_other[at_other[place]] = start[place]
    kept = at_one.keys() & at_other.keys()
    added_one, added_other = _added(words[1], in_one, kept), _added(words[2], in_other, kept)
    both: dict[int, list[str]] = {}
    matches = _places([key for key, _, _ in added_other], [key for key, _, _ in added_one])
    for (_, number, behind), match in zip(added_one, matches, strict=True):
        if match is not None:
            _, same, behind_other = added_other[match]
            level_one[number] = level_other[same] = max(one[number], other[same], key=_size)
            both.setdefault(max(behind, behind_other), []).append(level_one[number])
    return (
        [part for at in range(len(start) + 1) for part in (*both.get(at, ()), *start[at : at + 1])],
        level_one,
        level_other,
    )


def _places(base: Sequence[str], side: Sequence[str]) -> list[int | None]:
    """Return, for each line of a side, which of the base it is; None: it was added."""
    found: list[int | None] = list(range(len(base)))
    for hunk in reversed(diff_parts(base, side)):
        found[hunk.at : hunk.at + len(hunk.removed)] = [None] * len(hunk.added)
    return found


def _added(
    words: Sequence[str], places: Sequence[int | None], kept: Container[int]
) -> list[tuple[str, int, int]]:
    """Return the lines that were added, each after how many lines that both sides kept; which they are; and before
    which line of the base they stand."""
    found: list[tuple[str, int, int]] = []
    count = behind = 0
    for number, (each, place) in enumerate(zip(words, places, strict=True)):
        if place is None and each:  # a blank end of a side stays its own
            found.append((f"{count} {each}", number, behind))
        elif place is not None:
            count += place in kept
            behind = place + 1
    return found


def _spaced(woven: Sequence[str], texts: Iterable[Sequence[str]]) -> list[str]:
    """Return a woven text with blank lines as the texts have them: where lines meet that did not meet in any of them,
    as many as followed the first one there. Between list items there are then no others."""
    after: dict[str, set[str]] = {}
    met: dict[tuple[str, str], set[str]] = {}
    for text in texts:
        for part, behind in pairwise(text):
            blank = behind.removesuffix(_last(behind))
            met.setdefault((_words(part), _words(behind)), set()).add(blank)
            after.setdefault(_words(part), set()).add(blank)
    made = [*woven[:1]]
    for part, behind in pairwise(woven):
        words = undoubted(_words(part)), undoubted(_words(behind))
        line = _last(behind)
        known = met.get(words) or after.get(words[0], {""})
        blank = behind.removesuffix(line)
        is_list = all(each.startswith("- ") for each in words)
        if line.strip() and blank not in known and (words in met or is_list or not blank):
            blank = max(known, key=_size)
        made.append(blank + line)
    return made


def _last(part: str) -> str:
    """Return the line of a part, without the blank ones before it."""
    return part[part.removesuffix("\n").rfind("\n") + 1 :]


def _words(part: str) -> str:
    """Return the words of a line: without the blank lines before it, and without its end."""
    return _last(part).removesuffix("\n") if part.strip() else ""


def _size(part: str) -> tuple[int, str]:
    return len(part), part


def _blob_id(text: str) -> str:
    """Return the name that git has for a file with this text: `git log --find-object` finds who wrote it."""
    from hashlib import sha1

    data = text.encode()
    return sha1(b"blob %d\0" % len(data) + data, usedforsecurity=False).hexdigest()
