"""A look: what one trip to the database tells of a memory, for as long as a block of work takes.

Inside the block, a thread does not ask again for what it has seen: the edition, where the streams end, and the
documents that it used lately, if they are still as this process read them. It knows what it writes itself. A thread
that takes the lock looks again.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from typing import TYPE_CHECKING

from looseleaf.base.values import Stat

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

_MOST_PATHS = 400
"""Documents and folders that a look asks for."""

_MOST_BYTES = 4 << 20
"""Bytes of documents that a memory keeps in a process."""

LOOK = (
    "SELECT k.edition, "
    "(SELECT array_agg(s.name ORDER BY s.name) FROM looseleaf.streams s WHERE s.memory = k.memory), "
    "(SELECT array_agg(s.next ORDER BY s.name) FROM looseleaf.streams s WHERE s.memory = k.memory), "
    "d.paths, d.sizes, d.hashes, d.times, k.state, k.note FROM looseleaf.memories k, LATERAL ("
    "SELECT array_agg(path) AS paths, array_agg(octet_length(data)) AS sizes, array_agg(sha256) AS hashes, "
    "array_agg(extract(epoch FROM changed)::float8) AS times FROM looseleaf.documents "
    "WHERE memory = k.memory AND (path = ANY(%s) OR folder = ANY(%s))) d "
    "WHERE k.memory = %s"
)


class Seen:
    """What a look saw. `generation`: of the lines that were read; what it reads later may be kept only with those."""

    def __init__(
        self, row: Sequence[Any], paths: Sequence[str], folders: Sequence[str], generation: int = 0
    ) -> None:
        edition, streams, ends, found, sizes, hashes, times, *state = row
        self.edition = int(edition)
        self.moved_to = str(state[1]) if state[0] == "left" else None
        self.generation = generation
        self.ends = dict(zip(streams or (), map(int, ends or ()), strict=True))
        self.stats: dict[str, Stat | None] = dict.fromkeys(paths)
        self.lists: dict[str, dict[str, Stat]] = {folder: {} for folder in folders}
        rows = zip(found or (), sizes or (), hashes or (), times or (), strict=True)
        for path, size, digest, changed in rows:
            self.note(stat_of(path, size, bytes(digest), changed))

    def note(self, stat: Stat) -> None:
        self.stats[stat.path] = stat
        folder = stat.path.rpartition("/")[0]
        if folder in self.lists:
            self.lists[folder][stat.path] = stat

    def knows(self, path: str) -> bool:
        """True if it saw whether a document is there."""
        return path in self.stats or path.rpartition("/")[0] in self.lists

    def note_gone(self, path: str) -> None:
        self.stats[path] = None
        self.lists.get(path.rpartition("/")[0], {}).pop(path, None)


def stat_of(path: str, size: int, digest: bytes, changed: float) -> Stat:
    return Stat(path, int(size), int(changed * 1e6) * 1000, (int.from_bytes(digest[:8], "big"),))


class Looks(threading.local):
    """The open look of each thread. A forked child has none."""

    pid = 0
    depth = 0
    seen: Seen | None = None
    """None: nothing was asked since the look began, or it must be asked again."""


class Asked:
    """What a memory was asked for in this process, newest last, and the documents as they were read."""

    def __init__(self) -> None:
        self._alone = threading.Lock()
        self._paths: OrderedDict[str, None] = OrderedDict()
        self._folders: OrderedDict[str, None] = OrderedDict()
        self._bytes: OrderedDict[str, tuple[int, bytes]] = OrderedDict()
        self._size = 0

    def path(self, path: str) -> None:
        with self._alone:
            _touch(self._paths, path)

    def folder(self, folder: str) -> None:
        with self._alone:
            _touch(self._folders, folder)

    def lists(self) -> tuple[list[str], list[str]]:
        with self._alone:
            return list(self._paths), list(self._folders)

    def get(self, stat: Stat) -> bytes | None:
        """Return the bytes of a document, if they were read and are still the same."""
        with self._alone:
            found = self._bytes.get(stat.path)
            if found is None or found[0] != stat.mark[0]:
                return None
            self._bytes.move_to_end(stat.path)
            return found[1]

    def keep(self, path: str, mark: int, data: bytes) -> None:
        with self._alone:
            old = self._bytes.pop(path, None)
            self._size += len(data) - (len(old[1]) if old is not None else 0)
            self._bytes[path] = mark, data
            while self._size > _MOST_BYTES:
                _, (_, gone) = self._bytes.popitem(last=False)
                self._size -= len(gone)

    def drop(self) -> None:
        """Drop all that was read: something was forgotten."""
        with self._alone:
            self._bytes.clear()
            self._size = 0


_TAIL_LINES = 256
_TAIL_BYTES = 256 << 10
_SINGLE_LINES = 512
"""Lines that were fetched one by one, by their places."""


class Tail:
    """The last lines of a stream: all from `begin` to `end`."""

    def __init__(self, begin: int, end: int, lines: list[tuple[int, bytes]]) -> None:
        self.begin, self.end, self.lines = begin, end, lines


class Lines:
    """Lines of the log as they were read. They stay as they are until something is forgotten."""

    def __init__(self) -> None:
        self._alone = threading.Lock()
        self.generation = 0
        """One more each time that all is dropped."""
        self._tails: dict[str, Tail] = {}
        self._single: OrderedDict[tuple[str, int], bytes] = OrderedDict()

    def tail(self, stream: str) -> Tail | None:
        return self._tails.get(stream)

    def note(
        self, stream: str, begin: int, end: int, lines: Sequence[tuple[int, bytes]], generation: int
    ) -> None:
        """Take in all lines from one place to another, which is the end of the stream. What was read before the last
        drop may be forgotten by now."""
        with self._alone:
            if generation != self.generation:
                return
            old = self._tails.get(stream)
            if old is not None and old.begin <= begin <= old.end <= end:
                lines = [*(each for each in old.lines if each[0] < begin), *lines]
                begin = old.begin
            kept: list[tuple[int, bytes]] = []
            size = 0
            for at, line in reversed(lines[-_TAIL_LINES:]):
                size += len(line)
                if size > _TAIL_BYTES:
                    break
                kept.append((at, line))
            first = begin if len(kept) == len(lines) else kept[-1][0] if kept else end
            self._tails[stream] = Tail(first, end, kept[::-1])

    def keep(self, stream: str, at: int, line: bytes, generation: int) -> None:
        with self._alone:
            if generation != self.generation:
                return
            self._single[stream, at] = line
            while len(self._single) > _SINGLE_LINES:
                self._single.popitem(last=False)

    def line(self, stream: str, at: int) -> bytes | None:
        """Return the line that begins at a place, if it was read."""
        found = self._single.get((stream, at))
        if found is None and (tail := self._tails.get(stream)) is not None and tail.begin <= at < tail.end:
            found = next((line for place, line in tail.lines if place == at), None)
        return found

    def drop(self) -> None:
        with self._alone:
            self.generation += 1
            self._tails.clear()
            self._single.clear()


def _touch(names: OrderedDict[str, None], name: str) -> None:
    names[name] = None
    names.move_to_end(name)
    while len(names) > _MOST_PATHS:
        names.popitem(last=False)
