"""The log of another machine as a store to read: its streams by their own names, and views of it that this machine
makes."""

from __future__ import annotations

from looseleaf.base.values import START, LogLine
from looseleaf.store import JOURNAL
from looseleaf.store.machines import stream_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Any

    from looseleaf.base.values import Document, Edition, Position, Problem, Record, Stat
    from looseleaf.store.protocol import Store

_VIEWS = "views/machines"


class OtherLog:
    """Nothing of it can be written but views."""

    def __init__(
        self, store: Store, machine: str, believed: Callable[[Record], Record] | None = None
    ) -> None:
        """`believed`: returns of a record of its journal what is believed here."""
        self._store = store
        self.machine = machine
        self._believed = believed

    def __getattr__(self, name: str) -> Any:
        """The lock, and the blocks in which views are written."""
        if name in ("lock", "reading", "edition"):
            return getattr(self._store, name)
        raise AttributeError(name)

    def read(
        self, stream: str, start: Position = START, on_problem: Callable[[Problem], None] | None = None
    ) -> Iterator[LogLine]:
        lines = self._store.read(stream_of(self.machine, stream), start, on_problem)
        believed = self._believed
        if stream != JOURNAL or believed is None:
            return lines
        return (LogLine(believed(each.record), each.position, each.end, each.checked) for each in lines)

    def read_back(self, stream: str, end: Position | None = None) -> Iterator[LogLine]:
        return self._store.read_back(stream_of(self.machine, stream), end)

    def end(self, stream: str) -> Position:
        return self._store.end(stream_of(self.machine, stream))

    def get(self, path: str, limit: int | None = None) -> Document | None:
        return self._store.get(self._place(path), limit)

    def view(self, path: str, data: bytes, *, of: Edition | tuple[()] = ()) -> None:
        self._store.view(self._place(path), data, of=of)

    def machines(self) -> tuple[str, ...]:
        return ()

    def shown(self, machine: str, record: Record) -> Record:
        return record

    def list(self, folder: str = "") -> list[Stat]:
        return []

    def folders(self, folder: str) -> tuple[str, ...]:
        return self._store.folders(self._place(folder))

    def _place(self, path: str) -> str:
        top, _, rest = path.partition("/")
        if top == "views":
            return f"{_VIEWS}/{self.machine}/{rest}"
        return f"log/on/{self.machine}/{rest}" if top == "log" else path
