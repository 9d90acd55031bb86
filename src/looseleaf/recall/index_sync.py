"""Keeping the index: whatever was written by anybody when it is asked is in it when it answers.

One writer at a time, under the memory's lock, a part at a time, so that a long rebuild keeps nobody from recording. A
file that is damaged, of another version, or gone is made again. Where nothing can be written, what the file lacks is
held in memory for as long as the process lives: an answer is never worse for it, only slower.
"""

from __future__ import annotations

import os

from looseleaf.base.errors import Busy, Unwritten
from looseleaf.index.sqlite import SqliteIndex
from looseleaf.index.sqlite_file import Damaged
from looseleaf.store import JOURNAL

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from looseleaf.index.protocol import Index
    from looseleaf.recall.sources import Batch, Sources
    from looseleaf.store.protocol import Store

    Progress = Callable[[int, int], None]

VIEW = "views/index.sqlite"

_AT_ONCE = 2000
"""Items that are taken before the lock is given to others."""

_TRIES = 3
"""Times that a damaged file is made again for one question; after that something damages it."""


class Keep:
    """`folder`: the memory's; `note` is told once why the index cannot be written."""

    def __init__(
        self, store: Store, sources: Sources, folder: str, note: Callable[[str], None], segment_bytes: int
    ) -> None:
        self._store = store
        self._sources = sources
        self._path = os.path.join(folder, *VIEW.split("/"))
        self._note = note
        self._segment_bytes = segment_bytes
        self.progress: Progress | None = None
        self._file = SqliteIndex(self._path)
        self._aside: SqliteIndex | None = None
        self._aside_of: object = None
        """The file that the index in memory completes."""
        self._hidden: set[str] = set()
        self._is_lost = False
        """The file is not to be asked, and could not be dropped."""
        self._pid = os.getpid()

    def close(self) -> None:
        self._file.close()
        self._forget_aside()

    def indexes(self) -> list[tuple[Index, tuple[str, ...]]]:
        """The indexes that hold everything together, each with the sources of which it has an older version."""
        if self._pid != os.getpid():  # SQLite's handles are the parent's
            self._file, self._aside, self._pid = SqliteIndex(self._path), None, os.getpid()
            self._hidden.clear()
        if self._is_lost:
            self.drop()
        for _ in range(_TRIES):
            if self._is_lost:
                return self._without_writing(OSError("the file is damaged and cannot be removed"))
            try:
                if self.is_current():
                    self._forget_aside()
                    return [(self._file, ())]
                self._catch_up()
                self._forget_aside()
            except Damaged:
                self.drop()
                continue
            except (Busy, Unwritten, OSError) as error:
                return self._without_writing(error)
            return [(self._file, ())]
        return self.without_file(OSError("the file is damaged again and again"))

    def drop(self) -> None:
        """Drop the file: it is not what it should be. Where it cannot be removed, it is not asked."""
        try:
            with (
                self._store.lock()
            ):  # nobody may begin another one while what stands beside this one is removed
                self._file.remove()
            self._is_lost = False
        except (Busy, Unwritten, OSError):
            self._file.close()
            self._is_lost = True

    def without_file(self, error: Exception) -> list[tuple[Index, tuple[str, ...]]]:
        """Everything in memory: the file gives no answer."""
        self._file.close()
        self._is_lost = True
        return self._without_writing(error)

    def is_current(self) -> bool:
        """Whether the file has all that there is. Damaged: it is to be made again."""
        if not self._file.open(make=False):
            return False
        if self._sources.are_other(self._file):
            raise Damaged("its terms were made by other rules")
        return self._sources.are_in(self._file)

    # --- catching up -------------------------------------------------------------------

    def _catch_up(self) -> None:
        self._make_folder()
        whole = self._sources.size(self._segment_bytes) if self.progress is not None else 0
        while not self._take():
            if self.progress is not None:
                self.progress(min(self._sources.taken(self._file, self._segment_bytes), whole), whole)

    def _take(self) -> bool:
        """One part of what is missing; whether that was the last. What is missing is found under the lock: another
        process may have taken it since we looked."""
        taken = 0
        with self._store.lock():
            self._file.open(make=True)
            with self._file.change():
                for batch in self._sources.behind(self._file):
                    apply(self._file, batch)
                    taken += len(batch.items or ()) + 1
                    if taken >= _AT_ONCE and batch.source != JOURNAL:
                        return False
        return True

    def _make_folder(self) -> None:
        folder = os.path.dirname(self._path)
        try:
            os.mkdir(folder, 0o700)
        except FileExistsError:
            pass  # what it is, opening the file looks at

    # --- where nothing can be written --------------------------------------------------

    def _without_writing(self, error: Exception) -> list[tuple[Index, tuple[str, ...]]]:
        self._note(
            f"The index could not be brought up to date ({error}). What it lacks was read for this question, "
            "which takes longer."
        )
        try:
            return self._with_aside(is_there=not self._is_lost and self._file.open(make=False))
        except (Damaged, OSError) as fault:
            self._is_lost = isinstance(fault, Damaged)
            return self._with_aside(is_there=False)

    def _with_aside(self, *, is_there: bool) -> list[tuple[Index, tuple[str, ...]]]:
        file = self._file.which if is_there else None
        if self._aside is None or self._aside_of != file:
            self._forget_aside()
            self._aside, self._aside_of = SqliteIndex(None), file
            self._aside.open(make=True)
        both = _Both(self._file if is_there else None, self._aside, self._hidden)
        for batch in self._sources.behind(both):
            if batch.anew or batch.items is None:
                self._hidden.add(batch.source)
            apply(self._aside, batch)
        return [*([(self._file, tuple(sorted(self._hidden)))] if is_there else []), (self._aside, ())]

    def _forget_aside(self) -> None:
        if self._aside is not None:
            self._aside.close()
            self._aside = None
        self._hidden.clear()


class _Both:
    """The marks of two indexes: those of the second stand for the first's."""

    def __init__(self, first: Index | None, second: Index, hidden: set[str]) -> None:
        self._first = first
        self._second = second
        self._hidden = hidden

    def mark(self, source: str) -> str:
        later = self._second.mark(source)
        if later or self._first is None or source in self._hidden:
            return later
        return self._first.mark(source)

    def marks(self, begin: str) -> dict[str, str]:
        first = self._first.marks(begin) if self._first is not None else {}
        kept = {source: mark for source, mark in first.items() if source not in self._hidden}
        return kept | self._second.marks(begin)


def apply(index: Index, batch: Batch) -> None:
    if batch.items is None:
        index.drop(batch.source)
    else:
        index.take(batch.source, batch.mark, batch.items, anew=batch.anew, over=batch.over)


def faults(folder: str) -> list[str]:
    """What is wrong with the index of a memory, looked at as a whole; nothing if there is none."""
    index = SqliteIndex(os.path.join(folder, *VIEW.split("/")))
    try:
        return index.faults() if index.open(make=False) else []
    except (Damaged, OSError) as error:
        return [str(error)]
    finally:
        index.close()
