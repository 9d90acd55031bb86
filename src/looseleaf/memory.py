"""Memory: the one object users hold. It opens a folder and hands each request to the part that knows it."""

from __future__ import annotations

import os

from looseleaf.core.heads import refuse_unknown
from looseleaf.core.paths import safe_name
from looseleaf.errors import Refused
from looseleaf.pages import Pages
from looseleaf.store import JOURNAL
from looseleaf.store.files import FileStore
from looseleaf.values import ANY
from looseleaf.where import find, is_memory, settings

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from types import TracebackType

    from looseleaf.history import History
    from looseleaf.pages import Page
    from looseleaf.policy import Policy
    from looseleaf.values import Edit, Problem, Receipt


class Memory:
    """A memory in a folder, made if it is missing. `notes` says what could not be done while reading."""

    def __init__(
        self,
        where: str | os.PathLike[str] | None = None,
        *,
        agent: str = "main",
        policy: Policy | None = None,
    ) -> None:
        if where is not None and not os.fspath(where):
            raise Refused(
                "Nothing was opened: the path of the memory is empty. Give a folder, or leave it out."
            )
        self.path = os.path.abspath(where if where is not None else find())
        self.agent = safe_name(agent, "agent's name")
        if not is_memory(self.path):
            from looseleaf.init import init_if_free

            init_if_free(self.path)
        self.policy = policy or settings(self.path)
        self.store = FileStore(self.path, self.policy)
        self.notes: list[str] = []
        self._pages = Pages(self.store, self.policy, self.agent, self._note)

    def __repr__(self) -> str:
        return f"Memory({self.path!r}, agent={self.agent!r})"

    def close(self) -> None:
        """Let go of every handle. What was acknowledged is on disk already."""
        self._pages.close()
        self.store.close()

    def __enter__(self) -> Memory:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _note(self, note: str) -> None:
        if note not in self.notes:  # a program that reads for days on a full disk says so once
            self.notes.append(note)

    # --- reading pages -----------------------------------------------------------------

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

    # --- changing pages ----------------------------------------------------------------

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
        return self._pages.undo(path, author=author)

    # --- care --------------------------------------------------------------------------

    def check(self) -> list[Problem]:
        """Re-read and re-hash everything; changes nothing."""
        from looseleaf.check import check

        return list(check(self))

    def repair(self) -> list[str]:
        """Mend what can be mended, keeping a copy of every byte that is moved. Says what was done."""
        for line in self.store.read(JOURNAL):
            # What a newer program wrote is not ours to mend; what has no checksum nobody vouches for.
            if line.checked:
                refuse_unknown(line.record)
        done = self.store.repair()
        self._pages.absorb.heads.forget()  # where records stood before is no longer where they stand
        return done
