"""The past of pages: their edits, what they said at a time, what an undo would bring back (FORMAT §5.3)."""

from __future__ import annotations

from itertools import takewhile

from looseleaf.core.journal import Broken, backward, forward, happened_back, undo_target, version
from looseleaf.errors import Refused
from looseleaf.store import JOURNAL

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from looseleaf.store import Store
    from looseleaf.values import Edit


class History:
    def __init__(self, store: Store) -> None:
        self._store = store

    def back(self, path: str | None = None) -> Iterator[Edit]:
        """The edits that happened, newest first, reading no more of the journal than is asked for."""
        records = (line.record for line in self._store.read_back(JOURNAL))
        return (edit for edit in happened_back(records) if path is None or edit.path == path)

    def edits(self, path: str) -> list[Edit]:
        """All edits of a page, oldest first."""
        return list(self.back(path))[::-1]

    def rebuild(self, path: str, sha256: str) -> bytes | None:
        """The newest version of a page with this hash, from the journal alone. None: it cannot be rebuilt."""
        page: bytes | None = None
        known = False
        found: bytes | None = None
        for edit in self.edits(path):
            try:
                page = forward(edit, page if known else None)
                known = True
            except Broken:
                known = False
            if known and edit.new == sha256:
                found = page
        return found

    def as_of(self, path: str, when: float, now: bytes | None) -> bytes | None:
        """What a page said at a time, from what it says `now`. None: there was no page then."""
        later: list[Edit] = []
        for edit in self.back(path):
            if edit.ts <= when:
                return self.after(edit, now, later)
            later.append(edit)
        return None

    def after(self, edit: Edit, now: bytes | None, later: list[Edit] | None = None) -> bytes | None:
        """The page after an edit. `later`: the edits since, newest first, if they are known."""
        if later is None:
            later = list(takewhile(lambda each: each.id != edit.id, self.back(edit.path)))
        try:
            return version([edit, *reversed(later)], 0, now)
        except Broken:
            pass  # a record since then is damaged: come from the other side
        edits = self.edits(edit.path)
        try:
            return version(edits, [each.id for each in edits].index(edit.id), now)
        except Broken as broken:
            raise Refused(
                f"Nothing was shown: {broken}, because a record of the journal is damaged. "
                "`looseleaf check` names it; other versions can still be shown."
            ) from broken

    def before(self, edit: Edit, now: bytes | None) -> bytes | None:
        """The page before an edit, from what it says `now`."""
        page = self.after(edit, now)
        try:
            return backward(edit, page)
        except Broken:
            previous = next((each for each in self.back(edit.path) if each.new == edit.base), None)
            return None if edit.base is None or previous is None else self.after(previous, now)

    def last_to_undo(self, path: str | None) -> Edit | None:
        return undo_target(self.back(path))
