"""What a memory does with pages: reading, changing, undoing; who wrote what; checking and mending all of it."""

from __future__ import annotations

import time

from looseleaf.base.values import ANY
from looseleaf.log.journal import refuse_unknown
from looseleaf.memory.parts import Parts
from looseleaf.pages.pages import Page
from looseleaf.store import JOURNAL

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from looseleaf.base.values import Edit, Fact, Receipt
    from looseleaf.facts.gate import Spoken
    from looseleaf.pages.history import History
    from looseleaf.place.entry_pages import Asked


class PageVerbs(Parts):
    """Pages: read, changed, taken back, checked."""

    @property
    def history(self) -> History:
        """The past of the pages."""
        return self._pages.history

    def absorb(self) -> list[Edit]:
        """Journal what people changed in the folder. Every reading does this first; it is here to be asked for."""
        return self._pages.absorb()

    def page(self, path: str) -> Page:
        """What a page says now."""
        return self._pages.page(path)

    def texts(self, paths: Sequence[str]) -> list[str]:
        """What pages said when they were last looked at; "" for one that is not there."""
        return [Page(path, self._pages.absorb.head_bytes(path)).text for path in paths]

    def pages(self) -> list[str]:
        """The paths of all pages."""
        return self._pages.paths()

    def page_as_of(self, path: str, when: str | float) -> Page:
        """What a page said at a time: an ISO date or date and time (its last moment), or epoch seconds."""
        return self._pages.page_as_of(path, when)

    def log(self, path: str | None = None) -> Iterator[Edit]:
        """The edits of a page, or of all, newest first."""
        return self._pages.log(path)

    def versions(self, edit: Edit) -> tuple[bytes | None, bytes | None]:
        """A page before and after one of its edits."""
        return self._pages.versions(edit)

    def edit(
        self,
        path: str,
        change: Callable[[str], str] | str,
        *,
        base: str | None = ANY,
        reason: str,
        author: str | None = None,
    ) -> Receipt:
        """Change a page, to a text or by a function of the old one; `Pages.edit` says what `base` and `author` are."""
        return self._pages.edit(path, change, base=base, reason=reason, author=author)

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
        """Change a page as a model may: at the top only what the user said; what it may not write waits in review.
        `Pages.propose` says what `summary` and `whole` are."""
        return self._pages.propose(path, change, base=base, reason=reason, summary=summary, whole=whole)

    def spoken(self) -> Spoken:
        """What a model's writing is judged by: what the user said in this session, and whether a tool spoke."""
        return self._talk.spoken()

    def hold(self, path: str, lines: Sequence[tuple[str, str]]) -> tuple[str, tuple[str, ...]]:
        """Put what a model may not write on a page, as (relation, object), before a person: the edit of review, and a
        sentence on each line."""
        from looseleaf.place.guard_rules import Guarded, sentences_of

        self._book.catch_up()
        held = Guarded("", held=tuple(lines))
        asked, fates = self._book.guard.ask(path, f"agent:{self.agent}", held, time.time())
        return asked, tuple(sentences_of(held, fates))

    def ask(self, fact: Fact, why: str) -> Asked:
        """Put a proposal into review, and say what became of it: added, waiting already, rejected before, or full."""
        self._book.catch_up()
        return self._book.place.ask([(fact, why)], why)

    def patch(
        self,
        path: str,
        patches: Sequence[tuple[str, str]],
        *,
        base: str | None = ANY,
        reason: str,
        author: str | None = None,
    ) -> Receipt:
        """Replace texts, one after the other, that each stand exactly once in the page then; all of them or none."""
        return self._pages.patch(path, patches, base=base, reason=reason, author=author)

    def delete(self, path: str, *, base: str | None = ANY, reason: str, author: str | None = None) -> Receipt:
        """Remove a page. Its history stays, and `undo` brings it back."""
        return self._pages.delete(path, base=base, reason=reason, author=author)

    def undo(self, path: str | None = None, *, author: str | None = None) -> tuple[Edit, Receipt]:
        """Take back the last edit (of a page) that was not taken back yet: the edit, and the receipt of its undoing."""
        if path is None:
            self._refuse_to_undo_a_forgetting()
            word = self._book.curate.undo(author or f"agent:{self.agent}") or self._book.tidy.undo(author)
            if word is not None:
                return word
        return self._pages.undo(path, author=author)

    def _refuse_to_undo_a_forgetting(self) -> None:
        """Straight after one, "undo" would take back something that nobody thinks of."""
        from looseleaf.base.errors import Refused
        from looseleaf.facts.tombstones import Tombstones

        forgotten = Tombstones(self.store).last
        if forgotten is None:
            return
        self.absorb()
        done = (
            float(line.record.get("ts") or 0.0)
            for line in self.store.read_back(JOURNAL)
            if line.record.get("kind") in ("edit", "fact", "placed")
        )
        if next(done, 0.0) > forgotten:
            return
        raise Refused(
            "Nothing was undone: the last thing that was done was to forget, which cannot be undone. `looseleaf log` "
            "shows what was done before it; `looseleaf undo PAGE` takes back the last edit of a page."
        )

    def restore_pages(self) -> list[str]:
        """Make pages that are gone from the folder again, from the journal, byte for byte; their paths. To be called
        before anything else: whatever reads first takes a missing page for one that a person removed."""
        return self._pages.restore()

    def repair(self) -> list[str]:
        """Mend what can be mended, keeping a copy of every byte that is moved. Says what was done."""
        for line in self.store.read(JOURNAL):
            # What a newer program wrote is not ours to mend; what has no checksum nobody vouches for.
            if line.checked:
                refuse_unknown(line.record)
        done = self.store.repair()
        self._pages.absorb.heads.forget()  # where records stood before is no longer where they stand
        return done
