"""Ends: how far each stream was when a process last wrote to it. A log that goes back is noticed by them (FORMAT §4.5).

A log only grows, so the record at its end stays where it is. A process that wrote to a stream keeps that place, the id
of the record before it, and the checksum of everything up to it, in a view. The next process that opens the memory
looks there: another id says that records were removed, or that an older copy was put back.
"""

from __future__ import annotations

from zlib import crc32

from looseleaf.base.errors import Refused
from looseleaf.base.immutable import frozen
from looseleaf.base.values import START, Position
from looseleaf.store import TOMBSTONES, records
from looseleaf.store.streams import SUMS, Segments, segment_name, stream_files

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Any

    from looseleaf.store.root import Root

SCHEMA = "ends.v1"
_SAVE_EVERY = 256
"""Records after which an end is kept: at most what a killed process leaves unnoticed if it goes."""

_CHUNK = 1 << 20


@frozen
class Point:
    """A place in a stream: the id of the record before it, the checksum up to it (None: not known), and how many lines
    of its segment stand before it."""

    position: Position
    id: Any
    sum: str | None
    lines: int

    def to_list(self) -> list[Any]:
        return [*self.position, self.id, self.sum, self.lines]


_VIEWS = "views/ends"


def view_of(stream: str) -> str:
    return f"{_VIEWS}/{stream}.json"


class Ends:
    """The ends of the streams. `on_loss` is told which stream lacks something, and what was remembered of it."""

    def __init__(
        self, root: Root, segments: Segments, on_loss: Callable[[str, Sequence[Point]], None]
    ) -> None:
        self._on_loss = on_loss
        self._root = root
        self._segments = segments
        self._own: dict[str, tuple[Position, Any]] = {}
        """The last record that this process wrote, by stream: where it ends, and its id."""
        self._unsaved: dict[str, int] = {}
        self._sums: dict[str, tuple[int, int, int, int, int]] = {}

    # --- checksums -------------------------------------------------------------------------

    def sum(self, stream: str, position: Position, base: Point | None = None) -> tuple[str | None, int]:
        """Return the checksum of a stream up to a place, and how many lines of its segment that is. It is the CRC-32 of
        the seals of the earlier segments and of the bytes of this one. `base`: a point to go on from."""
        archive = stream_files(stream)[1]
        opened = self._segments.open(stream, position.segment)
        if opened is None:
            return None, 0
        fd, disk = opened[0], self._root.disk
        try:
            found = disk.fstat(fd)
            if found.st_size < position.offset:
                return None, 0
            segment, inode, at, sum, lines = self._sums.get(stream, (0, 0, 0, 0, 0))
            if base is not None and base.sum is not None and base.position.segment == position.segment:
                at, sum, lines = base.position.offset, int(base.sum, 16), base.lines
            elif (segment, inode) != (position.segment, found.st_ino) or at > position.offset:
                before = self._sum_seals(archive, position.segment)
                if before is None:
                    return None, 0
                at, sum, lines = 0, before, 0
            while at < position.offset:
                chunk = disk.pread(fd, min(_CHUNK, position.offset - at), at)
                at, sum, lines = at + len(chunk), crc32(chunk, sum), lines + chunk.count(b"\n")
        finally:
            disk.close(fd)
        self._sums[stream] = position.segment, found.st_ino, at, sum, lines
        return f"{sum:08x}", lines

    def _sum_seals(self, archive: str, segment: int) -> int | None:
        """Return the checksum of the seals before a segment; None if the last of them is missing."""
        if segment <= 1:
            return 0
        data = self._root.read(f"{archive}/{SUMS}") or b""
        last = f"  {segment_name(segment - 1)}\n".encode()
        at = data.rfind(last)
        return crc32(data[: at + len(last)]) if at >= 0 else None

    # --- remembering -----------------------------------------------------------------------

    def wrote(self, stream: str, end: Position, last: Any) -> None:
        """Take in that this process appended a record; under the lock."""
        self._own[stream] = end, last
        unsaved = self._unsaved[stream] = self._unsaved.get(stream, 0) + 1
        if unsaved >= _SAVE_EVERY:
            self.remember(stream)

    def drop_own(self) -> None:
        """Drop what this process knows of its own records: a forget rewrote the log, perhaps into files that the
        system gave the numbers of the old ones."""
        self._sums.clear()
        self._own.clear()
        self._unsaved.clear()

    @property
    def has_unsaved(self) -> bool:
        return bool(self._unsaved)

    def remember_own(self) -> None:
        """Keep the ends of the streams that this process wrote to; under the lock."""
        for stream in list(self._unsaved):
            self.remember(stream)

    def remember(self, stream: str) -> None:
        """Keep where a stream ends, as this process left it; under the lock. Only a view: failing changes nothing."""
        self._unsaved.pop(stream, None)
        if stream not in self._own:
            return
        try:
            points = self.points(stream)
            position, last = self._own[stream]
            own = Point(position, last, None, 0)
            if not self.agrees(stream, own):
                self._on_loss(stream, [*points, own])
            elif (
                not points or points[-1].position < position
            ):  # which then agrees too: as many bytes are before it
                base = points[-1] if points else None
                self._save(stream, [*points, Point(position, last, *self.sum(stream, position, base))])
        except (OSError, Refused):
            pass

    def adopt(self, stream: str, points: Sequence[Point] = ()) -> None:
        """Take a stream as it is now: nothing that was remembered of it but these points counts; under the lock."""
        self._unsaved.pop(stream, None)
        self._own.pop(stream, None)
        self._sums.pop(stream, None)
        try:
            last = next(self._segments.read_back(stream), None)
            now = (
                [] if last is None else [Point(last.end, last.record.get("id"), *self.sum(stream, last.end))]
            )
            self._save(stream, [*points, *now])
        except (OSError, Refused):
            pass

    def points(self, stream: str) -> list[Point]:
        """Return the remembered places of a stream, the newest last; [] if none is known. What was remembered before
        the last forgetting counts no more: that rewrote the log."""
        try:
            self._root.stat(view_of(stream))  # mostly there is none, and this is quick
            raw = records.whole(self._root.read(view_of(stream)) or b"")
            if raw.get("schema") != SCHEMA or str(raw.get("of", "")) < self._last_forgetting():
                return []
            return [
                Point(Position(int(segment), int(offset)), last, sum if sum is None else str(sum), int(lines))
                for segment, offset, last, sum, lines in raw["points"]
            ]
        except (OSError, Refused, KeyError, TypeError, ValueError):
            return []  # an unreadable view is made again

    def _last_forgetting(self) -> str:
        """Return the id of the last tombstone; "" if there is none."""
        try:
            self._root.stat(stream_files(TOMBSTONES)[0])
        except FileNotFoundError:
            return ""  # mostly, and this is quick
        last = next(self._segments.read_back(TOMBSTONES), None)
        return str(last.record.get("id")) if last is not None else ""

    def streams(self) -> list[str]:
        """Return the streams of which an end is remembered, also if nothing of them is there."""
        found: list[str] = []
        for folder in ("", "traces/", "prompts/"):
            try:
                names = self._root.names(f"{_VIEWS}/{folder}".rstrip("/"))
            except OSError:
                continue
            found += [f"{folder}{name.removesuffix('.json')}" for name in names if name.endswith(".json")]
        return found

    def _save(self, stream: str, points: Sequence[Point]) -> None:
        kept = [each.to_list() for each in thin(points)]
        forgotten = self._last_forgetting()
        line = records.encode({"schema": SCHEMA, "points": kept} | ({"of": forgotten} if forgotten else {}))
        self._root.replace(view_of(stream), line, durable=False)

    # --- comparing -------------------------------------------------------------------------

    def agrees(self, stream: str, point: Point) -> bool:
        """True if the record before a place is still the one that was there; reads one line. A line without a record
        may be the one: damaged, or forgotten."""
        if point.position == START:
            return True
        found = self._segments.line_before(stream, point.position)
        return found is not None and (not found or found.get("id") == point.id)

    def is_missing(self, stream: str, point: Point) -> bool:
        """True if the segment of a place was sealed, and is no longer there."""
        archive, number = stream_files(stream)[1], point.position.segment
        is_sealed = segment_name(number) in self._segments.seals(archive)
        return is_sealed and number not in self._segments.numbers(archive)

    def compare(self, streams: Sequence[str]) -> None:
        """Look whether these streams still have what was remembered of them, reading a line of each."""
        for stream in streams:
            try:
                points = self.points(stream)
                if points and (not self.agrees(stream, points[-1]) or self.has_gap(stream)):
                    self._on_loss(stream, points)
            except (OSError, Refused):
                pass  # unreadable: reading it says why

    def has_gap(self, stream: str) -> bool:
        """True if a sealed segment before the last one is missing."""
        numbers = self._segments.numbers(stream_files(stream)[1])
        return bool(numbers) and len(numbers) < numbers[-1]

    def compare_own(self, stream: str) -> None:
        """Look whether the file that took a stream's place has what this process wrote to it."""
        own = self._own.pop(stream, None)
        if own is not None and not self.agrees(stream, Point(*own, None, 0)):
            self._on_loss(stream, [*self.points(stream), Point(*own, None, 0)])


def thin(points: Sequence[Point]) -> list[Point]:
    """Keep the last point, and earlier ones at distances that double: an older copy that is put back agrees with one of
    them, which is not far from its end."""
    kept: list[Point] = []
    wanted = 0
    for each in reversed(points):
        before = _distance(each.position, points[-1].position)
        if not kept or before >= wanted:
            kept.append(each)
            wanted = max(2 * before, 1)
    return kept[::-1]


def _distance(first: Position, last: Position) -> int:
    return ((last.segment - first.segment) << 23) + last.offset - first.offset
