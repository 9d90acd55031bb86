"""The `Store` protocol, small enough for a second implementation: what `tests/store_contract.py` asks of each."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from contextlib import AbstractContextManager
    from typing import Protocol

    from looseleaf.base.values import Document, Line, Position, Problem, Record, Stat
else:
    Protocol = object  # only type checkers need more, and `typing` costs every start


class Store(Protocol):
    def lock(self) -> AbstractContextManager[object]:
        """Hold the memory alone, across threads and processes. May be entered again by its holder."""

    # --- streams: `journal`, `calls`, `tombstones`, `traces/<agent>`, `prompts/<agent>` ----

    def append(self, stream: str, records: Sequence[Record]) -> list[Position]:
        """Add records; durable when it returns. One sync for all of them, and for other threads' in waiting."""

    def read(
        self, stream: str, start: Position = ..., on_problem: Callable[[Problem], None] | None = ...
    ) -> Iterator[Line]:
        """The records from `start` on, oldest first. Damage is skipped and told to `on_problem`."""

    def read_back(self, stream: str, end: Position | None = ...) -> Iterator[Line]:
        """The records before `end` (the newest first), reading no more of the log than is asked for."""

    def end(self, stream: str) -> Position:
        """Where the next record will begin."""

    def rotate(self, stream: str) -> None:
        """Seal what there is; the next record begins a new segment. Does nothing to an empty one."""

    def streams(self) -> list[str]:
        """The names of all streams."""

    # --- documents: everything else, by canonical path -------------------------------------

    def get(self, path: str, limit: int | None = ...) -> Document | None:
        """The document, or None if there is none. Unreadable is never None."""

    def stat(self, path: str) -> Stat | None:
        """What can be known of a document without reading it, or None if there is none."""

    def put(self, path: str, data: bytes, *, base: str | None, record: Record | None = ...) -> str:
        """Make `data` the document if its hash now is `base` (None: there is none); else Stale.

        With `record`, the journal gets the record in the same act. Returns the new hash.
        """

    def delete(self, path: str, *, base: str, record: Record | None = ...) -> None:
        """Remove the document under the same rules."""

    def view(self, path: str, data: bytes) -> None:
        """Replace a document below `views/`: whole or not at all, but with no promise to survive a power cut."""

    def publish(self, folder: str, files: Mapping[str, bytes], *, again: bool = ...) -> None:
        """Make a new folder with all its files visible at once; Refused if it exists.

        With `again` it may be there already, because this is repeated: then it stays as it is, and is made to last.
        """

    def folders(self, folder: str) -> tuple[str, ...]:
        """The names of the folders directly in a folder, in order."""

    def edition(self) -> tuple[int, ...] | None:
        """Something that is another after each forgetting: whoever keeps what it read looks whether it is the same."""

    # --- care --------------------------------------------------------------------------------

    def recover(self) -> None:
        """Finish or undo what a crash left halfway. Every command may call it; mostly there is nothing."""

    def check(self) -> Iterator[Problem]:
        """Re-read and re-hash everything."""

    def repair(self) -> list[str]:
        """Mend what `check` found and can be mended; a copy of every byte it moves is kept. Says what it did."""

    def close(self) -> None:
        """Let go of every handle."""

    # Last, because its name hides the type of the same name from what follows it.
    def list(self, folder: str = ...) -> list[Stat]:
        """The documents directly in a folder, by name."""
