"""The pages of a store where nobody edits but the program: there is nothing to journal that was not journaled.

So no page is looked at: the journal says which there are, and each is as its last edit left it.
"""

from __future__ import annotations

from looseleaf.base.paths import DRAWERS
from looseleaf.pages.outside_edits import OutsideEdits

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from looseleaf.base.values import Document, Edit, Stat
    from looseleaf.pages.held import Held


class ProgramEdits(OutsideEdits):
    def know(self, *, recovers: bool = False) -> None:
        super().know(recovers=recovers)
        self.heads.is_proven = True

    def __call__(self, folders: Sequence[str] = ("", *DRAWERS)) -> list[Edit]:
        with self.threads:
            self.know(recovers=True)
            if not self._store.reads_only:
                self._others.take_in()
            self._texts = None
            self.heads.save()
            return []

    def is_current(self) -> bool:
        self.know()
        return True

    def are_absorbed(self, paths: Sequence[str]) -> bool:
        self()
        return True

    def read(self, path: str) -> bytes | None:
        return self.head_bytes(path)

    def head_bytes(self, path: str) -> bytes | None:
        for _ in range(2):
            head = self.heads.get(path)
            if head.sha256 is None:
                return None
            found = self._store.get(path, self._policy.page_bytes)
            if found is not None and found.sha256 == head.sha256:
                return found.data
            self.heads.catch_up()  # another process wrote it meanwhile
        return super().head_bytes(path)

    def files(self, folders: Sequence[str] = ("", *DRAWERS), found: set[str] | None = None) -> Iterator[Stat]:
        return iter(())

    def hold(self, path: str, document: Document | None) -> bool:
        return False

    def find_elsewhere(self, path: str) -> Held | None:
        return None

    def keep_copy(self, path: str, data: bytes | None) -> None:
        """The page itself is as the program left it."""
