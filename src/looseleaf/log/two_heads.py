"""A journal with the records of two copies in one file, as a union of their lines leaves it, told apart.

The edits of a page follow from each other, by the hashes of both versions. One that follows from an earlier version
than the last begins another head: the other copy's records, from where the two went apart. A `lost` record between
explains it otherwise.
"""

from __future__ import annotations

from itertools import pairwise

from looseleaf.base.immutable import frozen

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from looseleaf.base.values import Record

    Row = tuple[Record, "Step | None"]


@frozen
class Step:
    """An edit of a page, without its text, which may lie elsewhere: the hashes of the versions before and after it."""

    path: str
    base: str | None
    new: str | None


def _step_of(record: Record) -> Step | None:
    if record.get("kind") != "edit" or not isinstance(record.get("path"), str):
        return None
    return Step(record["path"], record.get("base"), record.get("new"))


class _Head:
    """Records that follow from each other: their numbers, and the versions of each page."""

    def __init__(self, rows: Sequence[Row], numbers: Iterable[int] = ()) -> None:
        self._rows = rows
        self.numbers: list[int] = []
        self._versions: dict[str, list[tuple[int, str | None]]] = {}
        """By page, its versions, each with the number of records up to it."""
        self._lost = 0
        for number in numbers:
            self.add(number)

    def add(self, number: int) -> None:
        record, edit = self._rows[number]
        self.numbers.append(number)
        if record.get("kind") == "lost":
            self._lost = len(self.numbers)
        if edit is not None:
            self._versions.setdefault(edit.path, [(0, None)]).append((len(self.numbers), edit.new))
        elif record.get("kind") == "void" and len(self._versions.get(str(record.get("path")), ())) > 1:
            self._versions[str(record.get("path"))].pop()

    def is_followed_by(self, edit: Step | None) -> bool:
        return edit is None or edit.base == self._versions.get(edit.path, [(0, None)])[-1][1]

    def has(self, path: str) -> bool:
        return path in self._versions

    def end_of(self, edit: Step) -> int | None:
        """Return how many records there were as long as a page had the version that an edit was made of, which is not
        its last; None: it never had it, or a loss explains the edit."""
        versions = self._versions.get(edit.path, [])
        for (_, version), (count, _) in reversed(list(pairwise(versions))):
            if version == edit.base:
                return count - 1 if self._lost < count else None
        return None


def find_heads(journal: Iterable[Record]) -> list[list[int]]:
    """Return the numbers of the records of each head, a common beginning in all; that of the last record first."""
    rows = [(record, _step_of(record)) for record in journal]
    heads = [_Head(rows)]
    now = 0
    back = 0  # where ids last stepped back: there one copy's records end, and the other's begin
    for number, (record, edit) in enumerate(rows):
        if number and str(record.get("id")) < str(rows[number - 1][0].get("id")):
            back = number
        if edit is not None and not heads[now].is_followed_by(edit):
            known = [at for at, head in enumerate(heads) if head.has(edit.path) and head.is_followed_by(edit)]
            if known or heads[now].end_of(edit) is not None:
                since = [each for each in heads[now].numbers if each >= back > 0]
                if not known:
                    heads.append(_part(rows, heads[now], number, since))
                target = heads[known[0] if known else -1]
                if since and _take(rows, target, since):
                    heads[now] = _Head(rows, [each for each in heads[now].numbers if each < back])
                now, back = heads.index(target), 0
        heads[now].add(number)
    own = {*heads[now].numbers}
    return [heads[now].numbers, *(head.numbers for head in heads if not own.issuperset(head.numbers))]


def _part(rows: Sequence[Row], head: _Head, number: int, since: list[int]) -> _Head:
    """Return a new head with the beginning that what follows from here on has in common with another."""
    ends: dict[str, int | None] = {}
    for each in (*since, *range(number, len(rows))):
        edit = rows[each][1]
        if edit is not None and edit.path not in ends:
            ends[edit.path] = head.end_of(edit)
    common = min(end for end in ends.values() if end is not None)
    return _Head(rows, head.numbers[:common])


def _take(rows: Sequence[Row], head: _Head, numbers: list[int]) -> bool:
    """Add records to a head, if they follow there."""
    tried = _Head(rows, head.numbers)
    for number in numbers:
        if not tried.is_followed_by(rows[number][1]):
            return False
        tried.add(number)
    for number in numbers:
        head.add(number)
    return True
