"""A world: a store in memory, with the pages and the journal as they would have been. What was said and what was made
of it is read from the memory's own store, without what is to go. The real code places entries in it; nothing is on
disk before all of it is known.
"""

from __future__ import annotations

from contextlib import nullcontext

from looseleaf.base.errors import Refused, Stale
from looseleaf.base.hashing import sha256_or_none
from looseleaf.base.page_paths import is_page
from looseleaf.base.values import START, Document, Line, Position, Stat
from looseleaf.forget.lines import filler
from looseleaf.store import JOURNAL

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from contextlib import AbstractContextManager

    from looseleaf.base.values import Problem, Record
    from looseleaf.store.protocol import Store

ENTRIES = "log/entries/"


class World:
    """`left` gives what is left of a line of a stream (None: it is no longer there); `files` are the files of entries
    that were made again (None: they are gone)."""

    def __init__(
        self,
        under: Store,
        left: Callable[[str, Record], Record | None],
        files: Mapping[str, bytes | None],
    ) -> None:
        self._under = under
        self._left = left
        self._files = files
        self.journal: list[Record] = []
        self.documents: dict[str, bytes] = {}
        self._versions: dict[str, int] = {}
        self.placed_as: object = None
        """The id of the placing that is done again: its new record has it from the beginning, so that whoever has read
        that far reads on from there, and not all of the journal anew."""
        self.unknown: set[str] = set()
        """Pages that nobody knows the text of: a record of the journal is lost."""

    # --- streams -----------------------------------------------------------------------

    def lock(self) -> AbstractContextManager[object]:
        return nullcontext()

    def append(self, stream: str, records: Sequence[Record]) -> list[Position]:
        if stream != JOURNAL:
            raise Refused(f"Nothing was written: {stream} is not written while something is being forgotten.")
        first = len(self.journal)
        for record in records:
            is_again = self.placed_as is not None and record.get("kind") == "placed"
            self.journal.append({**record, "id": self.placed_as} if is_again else record)
        return [Position(1, at) for at in range(first, len(self.journal))]

    def read(
        self, stream: str, start: Position = START, on_problem: Callable[[Problem], None] | None = None
    ) -> Iterator[Line]:
        if stream == JOURNAL:
            for at in range(start.offset, len(self.journal)):
                yield _line(self.journal[at], at)
            return
        for line in self._under.read(stream, start, on_problem):
            yield self._as_left(stream, line)

    def read_back(self, stream: str, end: Position | None = None) -> Iterator[Line]:
        if stream == JOURNAL:
            for at in range(len(self.journal) if end is None else end.offset, 0, -1):
                yield _line(self.journal[at - 1], at - 1)
            return
        for line in self._under.read_back(stream, end):
            yield self._as_left(stream, line)

    def _as_left(self, stream: str, line: Line) -> Line:
        """A line as it will be: of one that went, its place and its id are left."""
        left = self._left(stream, line.record)
        return Line(filler(line.record) if left is None else left, line.position, line.end, line.checked)

    def end(self, stream: str) -> Position:
        return Position(1, len(self.journal)) if stream == JOURNAL else self._under.end(stream)

    def rotate(self, stream: str) -> None:
        pass

    def streams(self) -> list[str]:
        return self._under.streams()

    # --- documents ---------------------------------------------------------------------

    def _is_here(self, path: str) -> bool:
        return is_page(path) or path.startswith("views/")

    def get(self, path: str, limit: int | None = None) -> Document | None:
        if path in self.unknown:
            raise Refused(f"{path} was not read: a record of its journal is lost.")
        if self._is_here(path):
            data = self.documents.get(path)
        elif path in self._files:
            data = self._files[path]
        else:
            return self._under.get(path, limit)
        return None if data is None else Document(path, data)

    def stat(self, path: str) -> Stat | None:
        if not self._is_here(path) and path not in self._files:
            return self._under.stat(path)
        found = self.get(path)
        if found is None:
            return None
        number = self._versions.get(path, 0)
        return Stat(path, len(found.data), number, (0, 0, len(found.data), number, number, 0))

    def put(self, path: str, data: bytes, *, base: str | None, record: Record | None = None) -> str:
        self._change(path, data, base, record)
        return Document(path, data).sha256

    def delete(self, path: str, *, base: str, record: Record | None = None) -> None:
        self._change(path, None, base, record)

    def _change(self, path: str, data: bytes | None, base: str | None, record: Record | None) -> None:
        current = sha256_or_none(self.documents.get(path))
        if current != base:
            raise Stale(path, base, current)
        if record is not None:
            self.journal.append(record)
        self.set(path, data)

    def set(self, path: str, data: bytes | None) -> None:
        """Make this the document, or have none."""
        self._versions[path] = self._versions.get(path, 0) + 1
        self.unknown.discard(path)
        if data is None:
            self.documents.pop(path, None)
        else:
            self.documents[path] = data

    def view(self, path: str, data: bytes) -> None:
        self.set(path, data)

    def publish(self, folder: str, files: Mapping[str, bytes], *, again: bool = False) -> None:
        raise Refused(f"{folder} was not written: nothing is distilled while something is being forgotten.")

    def folders(self, folder: str) -> tuple[str, ...]:
        """Of entries, without those that are gone."""
        found = self._under.folders(folder)
        prefix = f"{folder}/"
        if not prefix.startswith(ENTRIES) or prefix == ENTRIES:
            return found
        return tuple(name for name in found if self._files.get(f"{prefix}{name}/meta.json", b"") is not None)

    def edition(self) -> tuple[int, ...] | None:
        return None

    # --- care --------------------------------------------------------------------------

    def recover(self) -> None:
        pass

    def check(self) -> Iterator[Problem]:
        return iter(())

    def repair(self) -> list[str]:
        return []

    def close(self) -> None:
        pass

    # Last, because its name hides the type of the same name from what follows it.
    def list(self, folder: str = "") -> list[Stat]:
        prefix = f"{folder}/" if folder else ""
        paths = sorted(
            path for path in self.documents if path.startswith(prefix) and "/" not in path[len(prefix) :]
        )
        return [found for path in paths if (found := self.stat(path)) is not None]


def _line(record: Record, at: int) -> Line:
    return Line(record, Position(1, at), Position(1, at + 1), True)
