"""Many files replaced and removed as one act, in one transaction (FORMAT §17.4). Only for forget."""

from __future__ import annotations

from typing import TYPE_CHECKING

from looseleaf.base.paths import canonical
from looseleaf.base.values import sha256
from looseleaf.store.documents import Removal, StagedFile
from looseleaf.store.postgres.places import begin_of, segment_of
from looseleaf.store.streams import stream_of_file

if TYPE_CHECKING:
    from collections.abc import Sequence

    from looseleaf.store.postgres.database import Wire
    from looseleaf.store.postgres.log_rows import LogRows

_AT_ONCE = 2000


class DatabaseSwitch:
    """Staging keeps the new bytes in memory; `commit` writes them. `name` is an id."""

    def __init__(self, rows: LogRows, name: str) -> None:
        self._rows = rows
        self.name = name
        self._files: list[StagedFile] = []
        self._bytes: dict[str, bytearray] = {}
        self._removals: list[Removal] = []

    def put(self, path: str, data: bytes, base: str | None = None, *, is_page: bool = False) -> StagedFile:
        """Stage the new bytes of a file."""
        file = StagedFile(f"{len(self._files):06d}", path, data, base, is_page=is_page)
        self._files.append(file)
        self._bytes[file.name] = bytearray(data)
        return file

    def extend(self, file: StagedFile, data: bytes) -> None:
        """Add bytes to a staged file."""
        self._bytes[file.name] += data
        file.extend(data)

    def remove(self, *removals: Removal) -> None:
        self._removals += removals

    @property
    def paths(self) -> set[str]:
        """All files that change or go."""
        return {each.path for each in self._files} | {each.path for each in self._removals}

    @property
    def pages(self) -> list[str]:
        """The pages that change or go."""
        gone = [each.path for each in self._removals if each.base is not None]
        return [*(each.path for each in self._files if each.is_page), *gone]

    def commit(self, first: str) -> None:
        """Replace and remove all, under the lock: after this, the memory has another edition."""
        rows = self._rows
        streams = self._streams_by_file()
        with rows.transaction() as wire:
            for file in self._files:
                data = bytes(self._bytes[file.name])
                at = streams.get(file.path) or _named(file.path)
                if at is not None:
                    _write_segment(wire, rows.memory, *at, data)
                else:
                    _write_document(wire, rows.memory, file, data)
            for each in self._removals:
                at = streams.get(each.path)
                if at is not None:
                    _write_segment(wire, rows.memory, *at, b"")
                    continue
                wire.execute(
                    "DELETE FROM looseleaf.documents WHERE memory = %s AND path = %s "
                    "AND (%s::bytea IS NULL OR sha256 = %s)",
                    (rows.memory, each.path, *2 * (bytes.fromhex(each.base) if each.base else None,)),
                )
            wire.execute("SELECT looseleaf.clear_views(%s)", (rows.memory,))
            wire.execute(
                "UPDATE looseleaf.memories SET edition = edition + 1 WHERE memory = %s", (rows.memory,)
            )
            wire.execute("SELECT pg_notify('looseleaf', %s)", (f"{rows.memory} log/tombstones.jsonl",))

    def _streams_by_file(self) -> dict[str, tuple[str, int, bool]]:
        """Return the stream and the segment that each file of a log is, and whether it is the active one."""
        found: dict[str, tuple[str, int, bool]] = {}
        rows = self._rows
        ends = rows._ends()
        for stream in rows.all_streams():
            for number, (path, _, _) in rows.segments(stream).items():
                found[path] = stream, number, number >= segment_of(ends[stream])
        return found

    def drop(self) -> None:
        """Drop what was staged."""
        self._bytes.clear()


def _named(path: str) -> tuple[str, int, bool] | None:
    """Return the stream that a file of a log begins, if it has none yet."""
    found = stream_of_file(path)
    return (found[0], found[1] or 1, found[1] is None) if found is not None else None


def _write_segment(wire: Wire, memory: int, stream: str, segment: int, is_active: bool, data: bytes) -> None:
    """Replace the lines of a segment."""
    row = wire.execute(
        "SELECT stream FROM looseleaf.streams WHERE memory = %s AND name = %s", (memory, stream)
    ).fetchone()
    begin = begin_of(segment)
    if row is None:
        row = wire.execute(
            "INSERT INTO looseleaf.streams (memory, name, stream, next) "
            "SELECT %s, %s, coalesce(max(stream), 0) + 1, %s FROM looseleaf.streams WHERE memory = %s RETURNING stream",
            (memory, stream, begin, memory),
        ).fetchone()
    assert row is not None
    number = int(str(row[0]))
    wire.execute(
        "DELETE FROM looseleaf.records WHERE memory = %s AND stream = %s AND pos >= %s AND pos < %s",
        (memory, number, begin, begin_of(segment + 1)),
    )
    at = begin + insert_lines(wire, memory, number, begin, split_lines(data))
    wire.execute(
        "UPDATE looseleaf.streams SET next = coalesce(%s, next), last = coalesce((SELECT max(pos) FROM "
        "looseleaf.records WHERE memory = %s AND stream = %s), 0) WHERE memory = %s AND name = %s",
        (at if is_active else None, memory, number, memory, stream),
    )


def split_lines(data: bytes) -> list[bytes]:
    """Split a file of a log at its line ends; the last line may lack one."""
    *whole, rest = data.split(b"\n")
    return [*(line + b"\n" for line in whole), *([rest] if rest else [])]


def insert_lines(wire: Wire, memory: int, stream: int, begin: int, lines: Sequence[bytes]) -> int:
    """Insert lines from a place on; return their bytes. Row security allows no COPY."""
    query = (
        "INSERT INTO looseleaf.records (memory, stream, pos, line) SELECT %s, %s, u.pos, u.line "
        "FROM unnest(%s::bigint[], %s::bytea[]) AS u (pos, line)"
    )
    at = 0
    for start in range(0, len(lines), _AT_ONCE):
        some = lines[start : start + _AT_ONCE]
        places = []
        for line in some:
            places.append(begin + at)
            at += len(line)
        wire.execute(query, (memory, stream, places, list(some)), binary=True)
    return at


def _write_document(wire: Wire, memory: int, file: StagedFile, data: bytes) -> None:
    path = canonical(file.path)
    if file.is_page:
        row = wire.execute(
            "SELECT sha256 FROM looseleaf.documents WHERE memory = %s AND path = %s", (memory, path)
        ).fetchone()
        there = bytes(row[0]).hex() if row is not None else None  # type: ignore[call-overload]
        if there not in (file.base, file.sha256):
            return
    wire.execute(
        "INSERT INTO looseleaf.documents (memory, path, folder, sha256, version, data) VALUES "
        "(%s, %s, %s, %s, nextval('looseleaf.versions'), %s) ON CONFLICT (memory, path) DO UPDATE "
        "SET data = excluded.data, sha256 = excluded.sha256, version = excluded.version, changed = clock_timestamp()",
        (memory, path, path.rpartition("/")[0], bytes.fromhex(sha256(data)), data),
    )
