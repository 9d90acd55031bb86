"""Page history: edits, earlier versions, and the edit to undo (FORMAT §5.3)."""

from __future__ import annotations

from itertools import takewhile

from looseleaf.base.errors import Refused
from looseleaf.base.values import sha256_or_none
from looseleaf.log.journal import (
    PROGRAM,
    BrokenEdit,
    backward,
    edits_back,
    find_undo_target,
    forward,
    is_housekeeping,
    summary_author,
    version,
)
from looseleaf.store import JOURNAL

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from looseleaf.base.values import Edit
    from looseleaf.store.protocol import Store


class History:
    """The edits of a memory's pages, from its journal."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def back(self, path: str | None = None) -> Iterator[Edit]:
        """Yield the edits that happened, newest first, reading no more of the journal than needed."""
        records = (line.record for line in self._store.read_back(JOURNAL))
        if path is not None:  # skip other pages' edits: a journal is long
            records = (each for each in records if each.get("path") == path or each.get("kind") == "void")
        return edits_back(records)

    def edits(self, path: str) -> list[Edit]:
        """Return all edits of a page, oldest first."""
        return list(self.back(path))[::-1]

    def rebuild(self, path: str, sha256: str) -> bytes | None:
        """Rebuild the newest version of a page with this hash from the journal alone; None if it cannot."""
        page = found = None
        for edit in self.edits(path):
            try:
                page = forward(edit, page)
                found = page if edit.new == sha256 else found
            except BrokenEdit:
                page = None
        return found

    def texts(self) -> dict[str, bytes]:
        """Rebuild the last text of every page that one pass through the journal can."""
        texts: dict[str, bytes | None] = {}
        for edit in reversed(list(self.back())):
            try:
                texts[edit.path] = forward(edit, texts.get(edit.path))
            except BrokenEdit:
                texts.pop(edit.path, None)
        return {path: text for path, text in texts.items() if text is not None}

    def as_of(self, path: str, when: float, now: bytes | None) -> tuple[bytes | None, bool]:
        """Return a page's text at a time (None: no page then), from its text `now`, and whether that is sure.

        It is not sure where the next edit does not follow: a lost one came between, at an unknown time.
        """
        later: list[Edit] = []
        for edit in self.back(path):
            if edit.ts <= when:
                return self.after(edit, now, later), not later or later[-1].base == edit.new
            later.append(edit)
        return None, not later or later[-1].base is None

    def after(self, edit: Edit, now: bytes | None, later: list[Edit] | None = None) -> bytes | None:
        """Return the page after an edit. `later`: the edits since, newest first, if known."""
        if edit.new is None or sha256_or_none(now) == edit.new:
            return None if edit.new is None else now
        if later is None:
            later = list(takewhile(lambda each: each.id != edit.id, self.back(edit.path)))
        try:
            return version([edit, *reversed(later)], 0, now)
        except BrokenEdit:
            pass  # a record since is damaged: rebuild from the other side
        edits = self.edits(edit.path)
        try:
            return version(edits, [each.id for each in edits].index(edit.id), now)
        except BrokenEdit as broken:
            raise _hidden_error(broken) from broken

    def before(self, edit: Edit, now: bytes | None) -> bytes | None:
        """Return the page before an edit, from its text `now`."""
        if edit.base is None:
            return None
        if edit.whole:
            # It does not hold the text it replaced; a repaired journal may have the edit that led there.
            previous = next((each for each in self.back(edit.path) if each.new == edit.base), None)
            if previous is not None:
                return self.after(previous, now)
            raise _hidden_error(f"the text of {edit.path} before edit {edit.id} cannot be rebuilt")
        try:
            return backward(edit, self.after(edit, now))
        except BrokenEdit as broken:
            raise _hidden_error(broken) from broken

    def merged_since(self, target: Edit) -> list[Edit]:
        """Return what other machines wrote on a page since an edit, newest first."""
        found = takewhile(lambda edit: edit.id != target.id, self.back(target.path))
        return [edit for edit in found if edit.merge is not None]

    def with_summary_author(self, undo: Edit) -> Edit:
        """Return an undo that says whose the summary is that it puts back."""
        added = (line for hunk in undo.hunks for line in hunk.added)
        summary = next((line for line in added if line.casefold().startswith("> summary:")), None)
        if summary is None:
            return undo
        put = (
            summary_author(edit)
            for edit in self.back(undo.path)
            if (edit.undoes is None or edit.summary is not None)
            and any(summary in hunk.added for hunk in edit.hunks)
        )
        author = next(put, PROGRAM)
        return undo.but(summary=author) if author != summary_author(undo) else undo

    def last_to_undo(self, path: str | None) -> Edit | None:
        """Return the edit that "undo" means; without a path, skipping the program's own housekeeping."""
        edits = self.back(path)
        if path is None:
            edits = (edit for edit in edits if edit.undoes or not is_housekeeping(edit.author, edit.path))
        target, follows = find_undo_target(edits)
        if target is not None and not follows:
            raise Refused(
                f"Nothing was undone: {target.path} was changed after the edit {target.id} by one whose record is "
                "damaged, so the text to go back to is unknown. `looseleaf show` with --as-of shows earlier versions; "
                "save the one you want as the page."
            )
        return target


def _hidden_error(broken: object) -> Refused:
    return Refused(
        f"Nothing was done: {broken}, because a record of the journal is damaged. "
        "`looseleaf check` names it; other versions can still be shown."
    )
