"""A store that is only read: the folder of a memory that lies under another (docs/LAYERS.md).

Invariant: no document and no stream of it changes. Its views may: they follow from the rest. No lock is waited for.
"""

from __future__ import annotations

from looseleaf.base.errors import Busy, Unwritten
from looseleaf.store.files import FileStore
from looseleaf.store.root import is_committed

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Never

    from looseleaf.base.values import Edition, Position, Record


class ReadStore(FileStore):
    reads_only = True

    def _refuse(self) -> Never:
        raise Unwritten(f"Nothing was written: {self.path} is only read from here.")

    def append(self, stream: str, records: Sequence[Record]) -> list[Position]:
        self._refuse()

    def append_after(
        self, stream: str, last: Position, records: Sequence[Record], of: Edition
    ) -> list[Position] | None:
        self._refuse()

    def put(
        self,
        path: str,
        data: bytes,
        *,
        base: str | None,
        record: Record | None = None,
        when: float | None = None,
    ) -> str:
        self._refuse()

    def delete(self, path: str, *, base: str, record: Record | None = None) -> None:
        self._refuse()

    def publish(self, folder: str, files: Mapping[str, bytes], *, again: bool = False) -> None:
        self._refuse()

    def recover(self) -> None:
        """Change nothing; refuse a folder that a forget has left half done."""
        if is_committed(self._root):
            raise Busy(f"{self.path} is being changed by a forget. The next command there completes it.")

    def _keep_ends(self) -> None:
        """This process wrote nothing."""
