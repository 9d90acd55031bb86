"""`memory.pages`, the Markdown pages, and `memory.history`, their past."""

from __future__ import annotations

from looseleaf.base.errors import Refused
from looseleaf.base.values import ANY
from looseleaf.memory.parts import Verbs
from looseleaf.store import JOURNAL

TYPE_CHECKING = False
if TYPE_CHECKING:
    from builtins import list as List
    from collections.abc import Callable, Iterator, Sequence

    from looseleaf.base.values import Edit, Fact, Receipt
    from looseleaf.pages.pages import Page
    from looseleaf.views.page_index import IndexLine


class PageVerbs(Verbs):
    """The pages of the folder, read and changed."""

    def read(self, path: str) -> Page:
        """Return a page as it is now."""
        return self._parts.pages.page(path)

    def list(self) -> List[str]:
        """Return the paths of all pages."""
        return self._parts.pages.paths()

    def index(self) -> List[IndexLine]:
        """Return a line for each page of `facts/` and `episodes/`, as a prompt lists them."""
        self._parts.notebook.catch_up()
        return self._parts.page_index.lines()

    def edit(
        self,
        path: str,
        change: Callable[[str], str] | str,
        *,
        base: str | None = ANY,
        reason: str,
        author: str | None = None,
    ) -> Receipt:
        """Change a page: to a text, or by a function of the old one. `reason` says why, for the journal.

        `author`: `person`, `program` or `agent:<name>`; this memory's agent by default. With `base` (the `sha256` that
        was read; None: there was no page), a page that changed since is left alone: `Stale`.
        """
        return self._parts.pages.edit(path, change, base=base, reason=reason, author=author)

    def propose(
        self,
        path: str,
        change: Callable[[str], str] | str | None,
        *,
        base: str | None = ANY,
        reason: str,
        summary: str | None = None,
        whole: bool = False,
    ) -> Receipt:
        """Change a page (None: remove it) as a model may: on the top pages only the user's words; the rest waits in
        review. With a `summary`, the same edit sets the summary line. `whole`: leave the page alone unless all of the
        change is allowed."""
        return self._parts.guard.propose(path, change, base=base, reason=reason, summary=summary, whole=whole)

    def patch(
        self,
        path: str,
        patches: Sequence[tuple[str, str]],
        *,
        base: str | None = ANY,
        reason: str,
        author: str | None = None,
    ) -> Receipt:
        """Replace texts one after another, each found exactly once in the page by then; all or none."""
        return self._parts.pages.patch(path, patches, base=base, reason=reason, author=author)

    def delete(self, path: str, *, base: str | None = ANY, reason: str, author: str | None = None) -> Receipt:
        """Remove a page. Its history stays, and `undo` brings it back."""
        return self._parts.pages.delete(path, base=base, reason=reason, author=author)

    def absorb(self) -> List[Edit]:
        """Journal what people changed in the folder. Every read does this first."""
        return self._parts.pages.absorb()


class HistoryVerbs(Verbs):
    """Page and fact history."""

    def edits(self, path: str | None = None) -> Iterator[Edit]:
        """Yield the edits of a page, or of all, newest first."""
        return self._parts.pages.log(path)

    def versions(self, edit: Edit) -> tuple[bytes | None, bytes | None]:
        """Return a page before and after one of its edits."""
        return self._parts.pages.versions(edit)

    def page_at(self, path: str, when: str | float) -> Page:
        """Return a page as it was at a time: an ISO date or date and time (its last moment), or epoch seconds."""
        return self._parts.pages.page_as_of(path, when)

    def fact(self, name: str) -> list[Fact]:
        """Return every value that the fact's slot ever had, oldest first."""
        return self._parts.notebook.history(name)

    def undo(self, path: str | None = None, *, author: str | None = None) -> tuple[Edit, Receipt]:
        """Undo the last edit (of a page) not yet undone. Return it, and the receipt of the undo."""
        parts = self._parts
        if path is None:
            self._refuse_undo_of_forget()
            word = parts.corrections.undo(author or f"agent:{parts.context.agent}") or parts.tidy.undo(author)
            if word is not None:
                return word
        return parts.pages.undo(path, author=author)

    def _refuse_undo_of_forget(self) -> None:
        """Refuse right after a forget: "undo" would undo something else."""
        from looseleaf.facts.tombstones import Tombstones

        store = self._parts.context.store
        forgotten = Tombstones(store).last
        if forgotten is None:
            return
        self._parts.pages.absorb()
        done = (
            float(line.record.get("ts") or 0.0)
            for line in store.read_back(JOURNAL)
            if line.record.get("kind") in ("edit", "fact", "placed")
        )
        if next(done, 0.0) > forgotten:
            return
        raise Refused(
            "Nothing was undone: the last change was a forget, which cannot be undone. `looseleaf log` shows the edits "
            "before it; `looseleaf undo PAGE` undoes the last edit of a page."
        )

    def restore(self) -> list[str]:
        """Restore pages missing from the folder from the journal, byte for byte; return their paths. Call it first: any
        read takes a missing page for one that a person removed."""
        return self._parts.pages.restore()
