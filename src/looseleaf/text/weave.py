"""A text that several writers change apart from each other, woven from their changes into one.

Each line is known by the change that put it there, and the blank lines before it belong to it. A change puts its lines
behind the line that stood before them, and takes lines away; so what two writers did at the same time never collides.
The woven text depends on the set of changes alone: in which order they became known, and how often, makes no
difference. (In the literature: a replicated growable array, here of lines. Changes are ordered by causality, never by
clocks.)
"""

from __future__ import annotations

from looseleaf.base.immutable import frozen
from looseleaf.base.values import Hunk, sha256
from looseleaf.text.diff import diff_parts, split_lines

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence

    LineKey = tuple[str, int]
    """A line, by the key of the change that put it there and its number among the lines of that change."""

    Mark = tuple[str, int]
    """A change that did something to a line: its writer, and its number among that writer's changes, from 1."""


@frozen
class Change:
    """A change of one writer. It builds on the writer's changes before it, and on those of others that were `seen`, of
    which the last of each writer is named. `base`: the hash of the text that the hunks change. `drops`: lines that give
    way to another, each with that one. `contests`: lines that are marked as contested, each with a rival."""

    id: str
    hunks: tuple[Hunk, ...]
    seen: Mapping[str, str]
    base: str | None = None
    looks: tuple[tuple[int, str], ...] = ()
    """Lines, by their place in the text before, that only look different now: other blank lines before them, or another
    line end."""
    drops: tuple[tuple[LineKey, LineKey], ...] = ()
    contests: tuple[tuple[LineKey, LineKey], ...] = ()
    alone: frozenset[str] = frozenset()
    """Writers among `seen` whose changes were there, but not what those changes build on."""
    version: str = ""
    """Becomes another one when lines are taken out of the change: what was said of its lines by number is then void."""

    @property
    def key(self) -> str:
        return f"{self.id}/{self.version}" if self.version else self.id


class Line:
    """A line of the weave. `rank` orders lines that were put in the same place: later knowledge comes first."""

    __slots__ = (
        *("_text", "beaten", "change", "contested", "gone", "is_held", "key", "looks", "number", "rank"),
        "writer",
    )

    def __init__(self, writer: str, change: Change, number: int, text: str, rank: tuple[int, str]) -> None:
        self.writer = writer
        self.change = change.id
        self.key: LineKey = (change.key, number)
        self.number = number
        self._text = text
        self.rank = rank
        self.looks: list[tuple[Mark, tuple[int, str], str]] = []
        """The changes that gave it another look, their ranks, and that look."""
        self.gone: list[Mark] = []
        """The changes that took it away."""
        self.beaten: list[tuple[Mark, LineKey]] = []
        """The changes by which it gave way to another line."""
        self.contested: list[tuple[Mark, LineKey]] = []
        """The changes that marked it as contested, and its rivals."""
        self.is_held = False
        """True if it stands although a change took it away (`Weave`)."""

    @property
    def text(self) -> str:
        """The line with the blank lines before it, as it looks now."""
        return self.text_in(None)

    def text_in(self, past: Mapping[str, int] | None) -> str:
        """Return how it looked in what a change built on."""
        return self.look_in(past)[1]

    def look_in(self, past: Mapping[str, int] | None) -> tuple[str, str]:
        """Return the change that gave it the look that it had in what a change built on, and that look."""
        found = [(rank, text) for mark, rank, text in self.looks if _has(past, [mark])]
        (_, change), text = max(found, default=(self.rank, self._text))
        return change, text

    def __repr__(self) -> str:
        return f"Line({self.writer}:{self.change}:{self.number}, {self.text!r})"


class Weave:
    """The text woven from all changes, by writer, each writer's in order. A change that was seen and is not among them
    (its log has not arrived yet, or was lost) counts as never made.

    `text_before` returns the text that a change was made to, where that may not be the woven one because records were
    lost or forgotten. None: not known. `shown` returns a contested line as it is written (in a past); `hidden` returns
    which of the lines that stand are not shown, each with the line that stands for it. `renewed` returns the texts of
    the lines that stand (in a past), with those that follow from the others as they are now. `holds`: a line that
    stands although that change takes it away, or is void. `named` returns what a
    line is recognized by where a text is not the woven one. `void`: changes that count as never made, but for the lines
    given, which they take away all the same."""

    def __init__(
        self,
        changes: Mapping[str, Sequence[Change]],
        text_before: Callable[[str], str | None] = lambda change: None,
        shown: Callable[[Line, Mapping[str, int] | None], str] = lambda line, past: line.text_in(past),
        hidden: Callable[[Weave, list[Line]], Mapping[Line, Line]] = lambda weave, lines: {},
        renewed: Callable[[Weave, list[Line], list[str], Mapping[str, int] | None], list[str]] = (
            lambda weave, lines, texts, past: texts
        ),
        holds: Callable[[str, Line], bool] = lambda change, line: False,
        named: Callable[[str], str] | None = None,
        void: Mapping[str, Collection[LineKey]] | None = None,
    ) -> None:
        self._changes = changes
        self._seen = _seen(changes)
        self._text_before = text_before
        self._shown = shown
        self._hidden = hidden
        self._renewed = renewed
        self._holds = holds
        self._named = named or words_of
        self._void = void or {}
        self.swaps: dict[str, list[tuple[list[Line], list[Line]]]] = {}
        """For each change, the lines that it took away in each place, and those that it put there."""
        self._lines: list[Line] = []
        self._by_key: dict[LineKey, Line] = {}
        self._places: dict[str, tuple[str, int]] = {}
        self._past: dict[str, dict[str, int]] = {}
        """For each change, how many changes of each writer it builds on, itself included."""
        self._heard: dict[str, dict[str, int]] = {}
        """The same, with what the changes of writers in `alone` build on."""
        self._depth: dict[str, int] = {}
        for writer, number in _in_order(changes, self._seen):
            self._take(writer, number)

    def lines(self) -> list[Line]:
        """Return the lines that stand and are shown, in order."""
        return self._visible([line for line in self._lines if self._stands(line)])[0]

    def _visible(self, lines: list[Line]) -> tuple[list[Line], Mapping[Line, Line]]:
        hidden = dict(self._hidden(self, lines))
        shown = [line for line in lines if line not in hidden]
        # What was the blank end of a text separates nothing where others wrote on.
        hidden |= {line: shown[-1] for line in shown[:-1] if not line.text.strip()}
        return [line for line in shown if line not in hidden], hidden

    def removed(self) -> Iterator[tuple[Line, list[str]]]:
        """Yield the lines that changes took away, with these changes."""
        return ((line, [*map(self._change_of, line.gone)]) for line in self._lines if line.gone)

    def text(self) -> str:
        return joined(text for _, text in self.rows())

    def rows(self) -> list[tuple[Line, str]]:
        """Return the lines that stand and are shown, and how each looks."""
        lines = self.lines()
        return [*zip(lines, self._texts(lines, None), strict=True)]

    def _texts(self, lines: list[Line], past: Mapping[str, int] | None) -> list[str]:
        """Return lines as they look. A list that two writers continued, each after a blank line, stays one list."""
        found: list[str] = []
        last: Line | None = None
        for line in lines:
            text = self._shown(line, past) if self._has_rival(line, past) else line.text_in(past)
            words = words_of(text)
            is_item = words.startswith("- ")
            if is_item and text[:1] in "\r\n" and last is not None and self.are_apart(line, last):
                by = line.look_in(past)[0]
                text = text if self.knows(by, last.change) else split_lines(text)[-1]
            found.append(text)
            last = line if is_item else None
        return self._renewed(self, lines, found, past)

    def replaced_since(self, change: str, others: Collection[str]) -> set[LineKey]:
        """Return the lines that a change took away, where all that it put there was taken away by changes other than
        these."""
        return {
            line.key
            for away, new in self.swaps.get(change, ())
            if new and all(any(self._change_of(mark) not in others for mark in each.gone) for each in new)
            for line in away
        }

    def knows(self, change: str, other: str) -> bool:
        """True if one change builds on another, or is that one."""
        writer, number = self._places[other]
        return self._past[change].get(writer, 0) > number

    def comes_of(self, change: str, other: str) -> bool:
        """True if one change builds on another, even by way of changes whose own past its writer did not have."""
        writer, number = self._places[other]
        return self._heard[change].get(writer, 0) > number

    def are_apart(self, one: Line, other: Line) -> bool:
        """True if neither line was known to the writer of the other."""
        return not self.knows(one.change, other.change) and not self.knows(other.change, one.change)

    def is_rewritten(self, line: Line, past: Mapping[str, int] | None) -> bool:
        """True if the words of a text were changed (in a past) apart from the change that put a line there."""
        for writer, changes in self._changes.items():
            end = len(changes) if past is None else past.get(writer, 0)
            for change in changes[self._past[line.change].get(writer, 0) : end]:
                if change.id in self._past and self.knows(change.id, line.change):
                    break
                if change.id in self._past and (change.hunks or change.looks):
                    return True
        return False

    def _take(self, writer: str, number: int) -> None:
        change = self._changes[writer][number]
        past: dict[str, int] = {}
        depth = 0
        own = [self._changes[writer][number - 1].id] if number else []
        heard: dict[str, int] = {}
        for before in (*own, *(last for last in self._seen[change.id] if last in self._past)):
            by, count = self._places[before]
            found = {by: count + 1} if by in change.alone - {writer} else self._past[before]
            for name, count in self._heard[before].items():
                heard[name] = max(heard.get(name, 0), count)
            for name, count in found.items():
                past[name] = max(past.get(name, 0), count)
            depth = max(depth, self._depth[before])
        # What its writer saw: the lines of the past that no change of the past took away.
        there = [line for line in self._lines if self._is_in(past, line) and self._stands(line, past)]
        shown, hidden = self._visible(there)
        self._places[change.id] = writer, number
        self._past[change.id] = past | {writer: number + 1}
        self._heard[change.id] = heard | {writer: number + 1}
        self._depth[change.id] = depth + 1
        mark = writer, number + 1
        rank = depth + 1, change.id
        places, looked = self._found(change, shown, past)
        for at, text in change.looks:
            line = places[at] if at < len(places) else None
            if line is not None:
                looked[line] = text
        for line, text in looked.items() if change.id not in self._void else ():
            line.looks.append((mark, rank, text))
        taken = self._put_in(change, places, writer, rank)
        taken += (line for line, by in hidden.items() if by in taken)
        if change.id in self._void:
            there = [line for line in taken if line.key in self._void[change.id]]
            taken = there + [line for _, new in self.swaps[change.id] for line in new]
        for line in taken:
            if self._holds(change.id, line):
                line.is_held = True
            else:
                line.gone.append(mark)
        for key, winner in change.drops:
            if key in self._by_key:
                self._by_key[key].beaten.append((mark, winner))
        for key, rival in change.contests:
            if key in self._by_key:
                self._by_key[key].contested.append((mark, rival))

    def _stands(self, line: Line, past: Mapping[str, int] | None = None) -> bool:
        """True if a line stands: now, or in what a change built on."""
        if _has(past, line.gone):
            return False
        return not self._any_counts(line.beaten, past)

    def _has_rival(self, line: Line, past: Mapping[str, int] | None) -> bool:
        """True if a line is marked as one of several words, and another of them stands."""
        rivals = (self._by_key.get(rival) for mark, rival in line.contested if _has(past, [mark]))
        return any(each is not None and self._stands(each, past) for each in rivals)

    def _any_counts(self, others: Iterable[tuple[Mark, LineKey]], past: Mapping[str, int] | None) -> bool:
        """True if one of the winners or rivals of a line counts, now or in a past."""
        return any(self._counts(other, mark, past) for mark, other in others if _has(past, [mark]))

    def _counts(self, other: LineKey, mark: Mark, past: Mapping[str, int] | None) -> bool:
        """True if the winner or rival of a line, by that mark, still counts: it stands, or gave way itself, or was
        taken away by a writer who knew of the mark."""
        line = self._by_key.get(other)
        if line is None:
            return False
        removals = [each for each in line.gone if _has(past, [each])]
        if removals:
            return any(self.knows(self._change_of(each), self._change_of(mark)) for each in removals)
        return True

    def _change_of(self, mark: Mark) -> str:
        return self._changes[mark[0]][mark[1] - 1].id

    def _is_in(self, past: Mapping[str, int], line: Line) -> bool:
        return past.get(line.writer, 0) > self._places[line.change][1]

    def _found(
        self, change: Change, shown: list[Line], past: Mapping[str, int]
    ) -> tuple[Sequence[Line | None], dict[Line, str]]:
        """Return, for each line of the text that a change was made to, its line in the weave, or None; and the lines
        that its writer saw without the blank lines before them."""
        if change.base is None or not (change.hunks or change.looks):
            return shown, {}
        woven = self._texts(shown, past)
        if sha256(joined(woven).encode()) == change.base:
            looks = {
                line: split_lines(line.text_in(past))[-1]
                for line, text in zip(shown, woven, strict=True)
                if text[:1] not in "\r\n" and line.text_in(past)[:1] in "\r\n"
            }
            return shown, looks
        before = self._text_before(change.id)
        return shown if before is None else _aligned(shown, woven, split_parts(before), self._named), {}

    def _put_in(
        self, change: Change, places: Sequence[Line | None], writer: str, rank: tuple[int, str]
    ) -> list[Line]:
        """Put in the lines of a change; return those that it takes away."""
        taken: list[Line] = []
        behind: Line | None = None
        done = count = 0
        swaps = self.swaps[change.id] = []
        for hunk in change.hunks:
            behind = next((line for line in reversed(places[done : hunk.at]) if line is not None), behind)
            done = hunk.at + len(hunk.removed)
            away = [line for line in places[hunk.at : done] if line is not None]
            taken += away
            at = 0 if behind is None else self._lines.index(behind) + 1
            while at < len(self._lines) and self._lines[at].rank > rank:
                at += 1
            new = [Line(writer, change, count + n, text, rank) for n, text in enumerate(hunk.added)]
            self._lines[at:at] = new
            self._by_key.update((line.key, line) for line in new)
            swaps.append((away, new))
            count += len(new)
            behind = new[-1] if new else behind
        return taken


def _has(past: Mapping[str, int] | None, marks: Iterable[Mark]) -> bool:
    """True if one of the marks is in a past. None: all are."""
    return any(past is None or past.get(writer, 0) >= count for writer, count in marks)


def _aligned(
    shown: Sequence[Line], woven: Sequence[str], parts: Sequence[str], named: Callable[[str], str]
) -> list[Line | None]:
    """Return, for each part of a text, its line among those shown; None if it has none."""
    found: list[Line | None] = list(shown)
    for hunk in reversed(diff_parts([*map(named, woven)], [*map(named, parts)])):
        found[hunk.at : hunk.at + len(hunk.removed)] = [None] * len(hunk.added)
    return found


def change_between(
    id: str, old: str, new: str, seen: Mapping[str, str], base: str | None = None, version: str = ""
) -> Change:
    """Return the change that turns one text into another."""
    before, after = split_parts(old), split_parts(new)
    hunks: list[Hunk] = []
    looks: list[tuple[int, str]] = []
    done = shift = 0
    for hunk in (*diff_parts([*map(words_of, before)], [*map(words_of, after)]), None):
        end = len(before) if hunk is None else hunk.at
        looks += ((at, after[at + shift]) for at in range(done, end) if before[at] != after[at + shift])
        if hunk is not None:
            begin = hunk.at + shift
            hunks.append(Hunk(hunk.at, hunk.removed, tuple(after[begin : begin + len(hunk.added)])))
            done = hunk.at + len(hunk.removed)
            shift += len(hunk.added) - len(hunk.removed)
    return Change(id, tuple(hunks), seen, base, tuple(looks), version=version)


def distance(old: str, new: str) -> int:
    """Return by how many lines two texts differ."""
    change = change_between("", old, new, {})
    return len(change.looks) + sum(len(hunk.removed) + len(hunk.added) for hunk in change.hunks)


def find_base(texts: Iterable[str], changed: str) -> str:
    """Return which of several texts somebody changed: the one with the most lines of the changed text, then the one
    most like it, then the first. (An older text may be more like it, if lines were taken out, but lacks newer ones.)"""
    plain = changed.replace("\r\n", "\n")  # an editor may have changed all line ends at once
    own = {words_of(part) for part in split_parts(plain)}

    def likeness(text: str) -> tuple[int, int]:
        lines = own.intersection(map(words_of, split_parts(text)))
        return -len(lines), distance(text.replace("\r\n", "\n"), plain)

    return min(texts, key=likeness, default="")


def weave_both(
    base: str,
    one: str,
    other: str,
    hidden: Callable[[Weave, list[Line]], Mapping[Line, Line]] = lambda weave, lines: {},
) -> str:
    """Return a text with what two writers made of it apart from each other."""
    writers = {"a": [change_between("0", "", base, {}), change_between("1", base, one, {})]}
    writers["b"] = [change_between("2", base, other, {"a": "0"})]
    return Weave(writers, hidden=hidden).text()


def words_of(part: str) -> str:
    """Return a part without the blank lines before it and the line end: what makes it this line."""
    return split_lines(part)[-1].rstrip("\r\n") if part.strip() else ""


def split_parts(text: str) -> list[str]:
    """Return the lines of a text, each with the blank ones before it; blank lines at the end are a part too."""
    parts: list[str] = []
    blank = ""
    for line in split_lines(text):
        if line.strip():
            parts.append(blank + line)
            blank = ""
        else:
            blank += line
    return [*parts, blank] if blank else parts


def joined(parts: Iterable[str]) -> str:
    """Return parts as one text: each but the last has a line end."""
    *first, last = tuple(parts) or ("",)
    return "".join(part if part.endswith("\n") else part + "\n" for part in first) + last


def _seen(changes: Mapping[str, Sequence[Change]]) -> dict[str, list[str]]:
    """Return which changes of others each change builds on. If one is not there (its log has not arrived yet, or it was
    forgotten), its writer's last change before it is taken instead: a writer's ids rise."""
    known = {change.id for each in changes.values() for change in each}
    found: dict[str, list[str]] = {}
    for change in (change for each in changes.values() for change in each):
        found[change.id] = [
            last
            if last in known
            else max((each.id for each in changes.get(writer, ()) if each.id < last), default=last)
            for writer, last in change.seen.items()
        ]
    return found


def _in_order(
    changes: Mapping[str, Sequence[Change]], seen: Mapping[str, Sequence[str]]
) -> Iterator[tuple[str, int]]:
    """Yield the changes, by writer and number, none before one that it builds on."""
    known = {change.id for each in changes.values() for change in each}
    waiting = {writer: 0 for writer in sorted(changes) if changes[writer]}
    done: set[str] = set()
    while waiting:
        moved = False
        for writer in list(waiting):
            own = changes[writer]
            number = waiting[writer]
            while number < len(own) and all(
                last in done or last not in known for last in seen[own[number].id]
            ):
                done.add(own[number].id)
                yield writer, number
                number, moved = number + 1, True
            waiting[writer] = number
            if number == len(own):
                del waiting[writer]
        if not moved:  # a circle, which no honest logs have: what is not done counts as not seen
            known = set(done)
