"""What the folder of a memory in a database would hold: its files, byte for byte.

Logs are joined from their lines, so check, forget's probe, export and move read them as files.
"""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING

from looseleaf.base.values import Position, Problem, sha256
from looseleaf.store.check_repair import ENTRY_FILES, MISSING_FILE
from looseleaf.store.losses import TO_DO
from looseleaf.store.records import BODIES, HASH
from looseleaf.store.streams import SUMS, records_in, segment_name, stream_files, stream_of_file

if TYPE_CHECKING:
    from collections.abc import Iterator

    from looseleaf.store.postgres.database import Wire
    from looseleaf.store.postgres.store import PostgresStore

_SHIFT = 40


class FolderView:
    def __init__(self, store: PostgresStore) -> None:
        self._store = store

    # --- single files ------------------------------------------------------------------

    def read(self, path: str, limit: int | None = None) -> bytes | None:
        """Return the bytes of a document that is no log."""
        rows = self._store.run(
            "SELECT data FROM looseleaf.documents WHERE memory = %s AND path = %s", (self._store.memory, path)
        )
        return bytes(rows[0][0]) if rows else None

    def read_log(self, path: str) -> bytes | None:
        """Return the bytes of a file of a log, or of its seals; None if there is no such file."""
        if not path.startswith("log/"):
            return None
        folder, _, name = path.rpartition("/")
        if name == SUMS:
            return (
                next(
                    (
                        self._store.seals(each)
                        for each in self._all_streams()
                        if stream_files(each)[1] == folder
                    ),
                    None,
                )
                or None
            )
        found = stream_of_file(path)
        if found is None:
            return None
        stream, number = found
        segments = self._store.segments(stream)
        at = next((each for each, (place, _, _) in segments.items() if place == path), number)
        return self._store.segment(stream, at) if at in segments else None

    def log_folders(self, folder: str) -> set[str]:
        """Return the folders directly in a folder that are there for logs."""
        prefix = f"{folder}/"
        if not prefix.startswith("log/"):
            return set()
        paths = (path for stream in self._all_streams() for path in stream_files(stream)[:1])
        below = (path.removeprefix(prefix) for path in paths if path.startswith(prefix))
        return {each.partition("/")[0] for each in below if "/" in each}

    def _all_streams(self) -> list[str]:
        return sorted(self._store._ends())

    def documents_below(self, folder: str) -> Iterator[tuple[str, bytes]]:
        rows = self._store.run(
            "SELECT path, data FROM looseleaf.documents WHERE memory = %s AND (folder = %s OR (folder >= %s AND "
            "folder < %s)) ORDER BY path",
            (self._store.memory, folder, f"{folder}/", f"{folder}0"),
        )
        for path, data in rows:
            yield str(path), bytes(data)

    # --- all of it -----------------------------------------------------------------------

    def everything(self) -> Iterator[tuple[str, bytes]]:
        """Yield each file as of one moment: the logs, a segment at a time, then the documents."""
        store = self._store
        for stream in self._all_streams():
            store.seals(stream)
        with store.transaction(isolation="REPEATABLE READ READ ONLY") as wire:
            yield from read_files(wire, store.memory)

    # --- check and repair ----------------------------------------------------------------

    def check(self) -> Iterator[Problem]:
        """Read and hash everything again; yield what is wrong."""
        entries: dict[str, set[str]] = {}
        for path, data in self.everything():
            if path.endswith(".jsonl") and path.startswith("log/") and not path.startswith(f"{BODIES}/"):
                yield from self._check_lines(path, data)
            elif "/bodies/" in path and path.startswith("log/"):
                name = path.rpartition("/")[2]
                if re.fullmatch(HASH, name) and sha256(data) != name:
                    yield Problem(path, None, "this body is damaged: its sha256 is not its name")
            elif "/entries/" in path and path.startswith("log/"):
                folder, _, name = path.rpartition("/")
                entries.setdefault(folder, set()).add(name)
                yield from _check_schema(path, data, ENTRY_FILES.get(name))
        for folder, names in entries.items():
            for name in ENTRY_FILES.keys() - names:
                yield Problem(f"{folder}/{name}", None, f"{MISSING_FILE}. {TO_DO.removesuffix('.')}")
        yield from self._check_hashes()

    def _check_lines(self, path: str, data: bytes) -> Iterator[Problem]:
        is_journal = path.endswith("/journal.jsonl") or re.fullmatch(
            r"log/(on/[^/]+/)?archive/\d+\.jsonl", path
        )
        found: list[Problem] = []
        at = 0
        for number, raw in enumerate(data.split(b"\n")[:-1], 1):
            if not raw:
                found.append(Problem(path, number, "this line is empty", "error" if is_journal else "note"))
            for line in records_in(self._store._bodies, path, Position(0, at), raw, number, found.append):
                if not line.checked:
                    message = "this record has no checksum"
                    found.append(Problem(path, number, message, "error" if is_journal else "note"))
            at += len(raw) + 1
        yield from found

    def _check_hashes(self) -> Iterator[Problem]:
        rows = self._store.run(
            "SELECT path FROM looseleaf.documents WHERE memory = %s AND sha256 <> sha256(data) ORDER BY path",
            (self._store.memory,),
        )
        for (path,) in rows:
            yield Problem(str(path), None, "the bytes of this document are not those that were written")

    def repair(self) -> list[str]:
        """Nothing here can be half written. Damage is the database's, and is restored from its backup."""
        for stream in self._all_streams():
            self._store.seals(stream)
        return []


def _check_schema(path: str, data: bytes, schema: str | None) -> Iterator[Problem]:
    if schema is None:
        return
    try:
        value = json.loads(data)
    except (ValueError, RecursionError) as error:
        yield Problem(path, getattr(error, "lineno", None), "this file is not JSON")
        return
    if not isinstance(value, dict) or value.get("schema") != schema:
        yield Problem(path, None, f"the schema of this file is not {schema}")


def read_files(wire: Wire, memory: int) -> Iterator[tuple[str, bytes]]:
    """Yield each file of a memory's folder: the logs, a segment at a time, then the documents. In a transaction."""
    rows = wire.execute(
        "SELECT name, stream, next FROM looseleaf.streams WHERE memory = %s ORDER BY name", (memory,)
    ).fetchall()
    for name, number, end in rows:
        yield from _read_segments(wire, memory, str(name), int(str(number)), int(str(end)) >> _SHIFT)
    with wire.cursor(name="looseleaf_documents", binary=True) as cursor:
        cursor.itersize = 200
        cursor.execute(
            "SELECT path, data FROM looseleaf.documents WHERE memory = %s ORDER BY path", (memory,)
        )
        for path, data in cursor:
            yield str(path), bytes(data)  # type: ignore[call-overload]


def _read_segments(
    wire: Wire, memory: int, stream: str, number: int, last: int
) -> Iterator[tuple[str, bytes]]:
    active, archive = stream_files(stream)
    with wire.cursor(name="looseleaf_records", binary=True) as cursor:
        cursor.itersize = 2000
        cursor.execute(
            "SELECT pos, line FROM looseleaf.records WHERE memory = %s AND stream = %s ORDER BY pos",
            (memory, number),
        )
        segment = 0
        lines: list[bytes] = []
        for at, line in cursor:
            own = int(str(at)) >> _SHIFT
            if own != segment and lines:
                yield f"{archive}/{segment_name(segment)}", b"".join(lines)
                lines = []
            segment = own
            lines.append(bytes(line))  # type: ignore[call-overload]
        if lines:
            yield active if segment >= last else f"{archive}/{segment_name(segment)}", b"".join(lines)
