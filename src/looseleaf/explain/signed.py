"""Who wrote which line: the edits of a page walked back from its text now, until every line has its edit.

A line keeps its edit for as long as it stays on the page. One that an edit takes out and puts in again unchanged, at
another place or with another line end, was not written by that edit; neither is what an undo brings back. Where a
record is missing, the text that the next older edit made is asked for, and what differs was written by nobody known.

Invariant: a line is signed by the last edit of which the page after it has the line, and the page before it has not.
"""

from __future__ import annotations

from looseleaf.text.diff import diff, split_lines
from looseleaf.text.lines import body

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from looseleaf.base.values import Edit, Hunk


def sign(
    text: str, sha256: str | None, edits: Iterable[Edit], after: Callable[[Edit], str | None]
) -> list[Edit | None]:
    """The edit of each line of a page; None: it is not known. `edits` are the page's, newest first, and no more of
    them are read than are needed; `after` gives the text of the page after an edit, or None if nobody has it."""
    walk = _Walk(split_lines(text))
    expected = sha256
    whole: Edit | None = None
    waiting = _Ahead(edits)
    for edit in waiting:
        if edit.new != expected or whole is not None:
            older = after(edit) if edit.new is not None else None
            if older is None:
                break
            walk.back(diff(older, "".join(walk.lines)), whole)
            whole = None
        undone = waiting.find(edit.undoes) if edit.undoes is not None else None
        if undone is not None and undone.base == edit.new:
            waiting.skip(undone)  # the page is again what it was then, and so are its lines
            expected = edit.new
        elif edit.whole:
            whole, expected = edit, edit.base
        elif walk.fits(edit.hunks):
            walk.back(edit.hunks, edit)
            expected = edit.base
        else:
            break
        if not walk.left or expected is None:
            break
    walk.rest(whole)
    return walk.signed


class _Walk:
    """A version of the page, and where each of its lines stands now (None: it is gone since)."""

    def __init__(self, lines: Sequence[str]) -> None:
        self.lines = list(lines)
        self.signed: list[Edit | None] = [None] * len(lines)
        self.left = len(lines)
        self._now: list[int | None] = list(range(len(lines)))

    def fits(self, hunks: Sequence[Hunk]) -> bool:
        """Whether the version has lines where the hunks say that they put some."""
        shift = end = 0
        for hunk in hunks:
            at = hunk.at + shift
            if not end <= at <= len(self.lines) - len(hunk.added):
                return False
            end = at + len(hunk.added)
            shift += len(hunk.added) - len(hunk.removed)
        return True

    def back(self, hunks: Sequence[Hunk], edit: Edit | None) -> None:
        """To the version before these hunks; what they added is signed."""
        added: dict[str, list[int | None]] = {}
        shift = 0
        for hunk in hunks:
            at = hunk.at + shift
            for line, now in zip(hunk.added, self._now[at : at + len(hunk.added)], strict=True):
                added.setdefault(body(line), []).append(now)
            shift += len(hunk.added) - len(hunk.removed)
        again = {line: iter(places) for line, places in added.items()}
        for hunk in hunks:
            end = hunk.at + len(hunk.added)
            self._now[hunk.at : end] = [next(again.get(body(line), _NOWHERE), None) for line in hunk.removed]
            self.lines[hunk.at : end] = [_text(line, edit) for line in hunk.removed]
        for places in again.values():
            for now in places:
                if now is not None:
                    self.signed[now] = edit
                    self.left -= 1

    def rest(self, edit: Edit | None) -> None:
        """Sign what is left."""
        for now in self._now:
            if now is not None:
                self.signed[now] = edit


_NOWHERE: Iterator[int | None] = iter(())


class _Ahead:
    """Edits one after the other, with a look at those that follow."""

    def __init__(self, edits: Iterable[Edit]) -> None:
        self._edits = iter(edits)
        self._seen: list[Edit] = []
        self._places: dict[str, int] = {}
        self._at = 0

    def __iter__(self) -> Iterator[Edit]:
        while self._at < len(self._seen) or self._more():
            self._at += 1
            yield self._seen[self._at - 1]

    def _more(self) -> bool:
        edit = next(self._edits, None)
        if edit is not None:
            self._places[edit.id] = len(self._seen)
            self._seen.append(edit)
        return edit is not None

    def find(self, name: str) -> Edit | None:
        """One that is to come."""
        while name not in self._places and self._more():
            pass
        at = self._places.get(name, -1)
        return self._seen[at] if at >= self._at else None

    def skip(self, edit: Edit) -> None:
        """To behind this one, which was found."""
        self._at = self._places[edit.id] + 1


def _text(line: str, edit: Edit | None) -> str:
    """A page that is no UTF-8 is journaled a character for each byte; readers see it decoded."""
    if edit is None or edit.encoding == "utf-8":
        return line
    return line.encode("latin-1", "replace").decode("utf-8", "replace")
