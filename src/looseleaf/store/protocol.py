"""The `Store` protocol, small enough for a second implementation. `tests/store_contract.py` tests each of them."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
    from contextlib import AbstractContextManager
    from typing import Protocol

    from looseleaf.base.values import Document, Edition, LogLine, Position, Problem, Record, Stat
    from looseleaf.store.documents import Removal, StagedFile
    from looseleaf.store.postgres.database import Database
else:
    Protocol = object  # only type checkers need more, and `typing` costs every start


class Store(Protocol):
    reads_only: bool
    """True if nothing but views may be written."""

    edited_outside: bool
    """True if people change documents with other programs: in a folder."""

    is_far: bool
    """True if each question takes a way to a server: then a writer bets that nothing changed, instead of looking."""

    @property
    def tables(self) -> tuple[Database, int] | None:
        """Where views that are searched are tables: the database, and the memory's number in it. None: they are files,
        which `locate` names."""

    def lock(self) -> AbstractContextManager[object]:
        """Hold the memory alone, across threads and processes. The holder may enter it again."""

    def machines(self) -> Sequence[str]:
        """Return the other machines that have a log here. Their streams are `on/<machine>/…`, their documents
        `log/on/<machine>/…`; no store writes to them."""

    def locate(self, path: str) -> str:
        """Return the full path of a file below `views/`, for what opens files by itself."""

    # --- streams: `journal`, `calls`, `tombstones`, `traces/<agent>`, `prompts/<agent>` ----

    def append(self, stream: str, records: Sequence[Record]) -> list[Position]:
        """Add records; durable when it returns. One sync serves all of them, and waiting threads' records too."""

    def append_after(
        self, stream: str, last: Position, records: Sequence[Record], of: Edition
    ) -> list[Position] | None:
        """Add records if the last one still begins there (`START`: there is none) and nothing was forgotten since that
        edition; else add nothing, and return None."""

    def read(
        self, stream: str, start: Position = ..., on_problem: Callable[[Problem], None] | None = ...
    ) -> Iterator[LogLine]:
        """Yield the records from `start` on, oldest first. Skip damage and report it to `on_problem`."""

    def read_back(self, stream: str, end: Position | None = ...) -> Iterator[LogLine]:
        """Yield the records before `end`, newest first, reading no more of the log than needed."""

    def end(self, stream: str) -> Position:
        """Return where the next record will begin."""

    def line_before(self, stream: str, position: Position) -> Record | None:
        """Return the record that ends at a place; {} if the line there has none, None if no line ends there."""

    def sum(self, stream: str, position: Position) -> str | None:
        """Return the checksum of a stream up to a place; None: the stream does not reach so far."""

    def rotate(self, stream: str) -> None:
        """Seal the current segment; the next record begins a new one. Leave an empty segment alone."""

    def streams(self) -> list[str]:
        """Return the names of all streams."""

    # --- documents: all other files, by canonical path -------------------------------------

    def get(self, path: str, limit: int | None = ...) -> Document | None:
        """Return the document, or None if it does not exist. An unreadable one raises."""

    def stat(self, path: str) -> Stat | None:
        """Return the document's size and times without reading it, or None if it does not exist."""

    def put(
        self,
        path: str,
        data: bytes,
        *,
        base: str | None,
        record: Record | None = ...,
        when: float | None = ...,
    ) -> str:
        """Make `data` the document if its hash is still `base` (None: no document); else raise Stale.

        A `record` is journaled in the same act, and the copy below `COPIES` is made before the document changes.
        `when`: the time that the file gets, if there is no record. Return the new hash.
        """

    def delete(self, path: str, *, base: str, record: Record | None = ...) -> None:
        """Remove the document by the same rules."""

    def view(self, path: str, data: bytes, *, of: Edition | tuple[()] = ...) -> None:
        """Replace a document below `views/`: whole or not at all, but it may not survive a power cut.

        `of`: the edition it was made of. If the memory has another one by now, nothing is written.
        """

    def publish(self, folder: str, files: Mapping[str, bytes], *, again: bool = ...) -> None:
        """Make a new folder and all its files visible at once; raise Refused if it exists.

        `again`: a repeated call. An existing folder stays as it is, and is made durable.
        """

    def folders(self, folder: str) -> tuple[str, ...]:
        """Return the names of the folders directly in a folder, sorted."""

    def edition(self) -> Edition:
        """Return a value that changes with each forget; caches compare it."""

    def reading(self, of: Edition | tuple[()] = ...) -> AbstractContextManager[bool]:
        """Begin a block in which this thread writes what it makes of what it reads (see `store/reading.py`).

        If something is forgotten meanwhile, every further write of the thread in it raises Outdated. `of`: the edition
        that it read before.
        """

    def shown(self, machine: str, record: Record) -> Record:
        """Return what another machine recorded; a stand-in, if that is forgotten."""

    def look(self) -> AbstractContextManager[object]:
        """Begin a block in which this thread asks a server once for what it needs of the memory's state. It may miss
        what others write meanwhile, unless it takes the lock."""

    def fetch(self, places: Iterable[tuple[str, Position]]) -> None:
        """Read single lines at once, by stream and place, for the reads that follow in such a block."""

    def look_again(self) -> None:
        """Let the rest of such a block see what others wrote meanwhile."""

    # --- check and repair --------------------------------------------------------------------

    def recover(self) -> None:
        """Finish or undo interrupted changes. Every command may call it; usually there are none."""

    def check(self) -> Iterator[Problem]:
        """Read and hash everything again; yield what is wrong."""

    def repair(self) -> list[str]:
        """Repair what `check` finds, keeping a copy of every byte it moves. Return a sentence for each repair."""

    def close(self) -> None:
        """Close all handles."""

    # Last: its name hides the type `list` from the lines below it.
    def list(self, folder: str = ...) -> list[Stat]:
        """Return the documents directly in a folder, by name."""


class Alone(Protocol):
    """A `with` block: True if no other process or thread is in the same one. It never waits."""

    def __enter__(self) -> bool: ...
    def __exit__(self, *_: object) -> None: ...
    def try_again(self) -> bool: ...


class Switch(Protocol):
    """Files and documents that are replaced and removed as one act; what is staged is seen by nobody before."""

    name: str

    def put(self, path: str, data: bytes, base: str | None = ..., *, is_page: bool = ...) -> StagedFile:
        """Stage the new bytes of a segment or a document."""

    def extend(self, file: StagedFile, data: bytes) -> None:
        """Add bytes to what is staged."""

    def remove(self, *removals: Removal) -> None: ...

    @property
    def paths(self) -> set[str]:
        """All that changes or goes."""

    @property
    def pages(self) -> Sequence[str]:
        """The pages that change or go."""

    def commit(self, first: str) -> None:
        """Replace and remove all, under the lock, and remove all views."""

    def drop(self) -> None:
        """Remove what was staged, unless it is committed."""


class OpenStore(Store, Protocol):
    """What an open memory needs besides: for chores that are done once, for other machines, and for forgetting."""

    veil: Callable[[str], Callable[[Record], Record]]
    """Returns what another machine recorded, or a stand-in for what is forgotten."""

    @property
    def machine(self) -> str:
        """The name of this machine."""

    def is_locked(self) -> bool:
        """True if this thread holds the lock."""

    def is_in_place(self) -> bool:
        """True if the memory is still the one that was opened, and not another under its name."""

    def alone(self, path: str) -> Alone:
        """Try to be the only one that does a chore, which a path names."""

    def claim(self, path: str) -> AbstractContextManager[bool]:
        """Do work once for all that need it at the same time; False: another did it meanwhile."""

    def compare(self, streams: Sequence[str], on_loss: Callable[[str], None]) -> None:
        """Look whether streams still have what was remembered of them. `on_loss` is told what is missing."""

    def place(self, path: str) -> str:
        """Return the path of a file as a person finds it."""

    def names(self, folder: str) -> Sequence[str]:
        """Return the names of all that lies directly in a folder."""

    def owner(self, place: str) -> str:
        """Return the other machine whose log or view a file is; "": none."""

    def remove_from(self, machine: str, path: str) -> None:
        """Remove a file or a folder of another machine's log that it removed itself."""

    def drop_views_of(self, machine: str) -> None:
        """Remove another machine's views."""

    def drop_aside(self, is_told: Callable[[bytes], bool]) -> None:
        """Remove bytes that other machines set aside, if they say what is forgotten."""

    def put_aside(self, data: bytes, label: str) -> str:
        """Copy bytes that are about to be replaced; return the copy's path."""

    def take_out(self, stream: str, numbers: Collection[int]) -> None:
        """Take lines out of a stream, by their numbers from its beginning, keeping copies."""

    def segments(self, stream: str) -> dict[int, tuple[str, tuple[int, int], int]]:
        """Return the path, the identity and the size of each segment, by number. Under the lock they stay."""

    def segment(self, stream: str, number: int, start: int = ...) -> bytes:
        """Return the bytes of a segment from a place on."""

    def switch(self, name: str) -> Switch:
        """Return an act that replaces many files. Only for forget (FORMAT §17.4)."""

    def mend_ends(self) -> None:
        """Cut the unfinished last record of each stream."""

    def adopt_ends(self) -> None:
        """Take the streams as forget left them."""
