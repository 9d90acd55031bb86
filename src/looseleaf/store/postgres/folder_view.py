"""What the folder of a memory in a database would hold: its files, byte for byte.

Logs are joined from their lines, so check, forget's probe, export and move read them as files.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from looseleaf.base.values import Position, Problem, sha256
from looseleaf.store.check_repair import ENTRY_FILES, MISSING_FILE, check_schema
from looseleaf.store.losses import TO_DO
from looseleaf.store.postgres.places import segment_of
from looseleaf.store.records import BODIES, HASH
from looseleaf.store.streams import records_in, segment_name, stream_files

if TYPE_CHECKING:
    from collections.abc import Iterator

    from looseleaf.store.postgres.database import Wire
    from looseleaf.store.postgres.log_rows import LogRows


def read_all(rows: LogRows) -> Iterator[tuple[str, bytes]]:
    """Yield each file as of one moment: the logs, a segment at a time, then the documents."""
    for stream in rows.all_streams():
        rows.seals(stream)
    with rows.transaction(isolation="REPEATABLE READ READ ONLY") as wire:
        yield from read_files(wire, rows.memory)


def read_files(wire: Wire, memory: int) -> Iterator[tuple[str, bytes]]:
    """Yield each file of a memory's folder: the logs, a segment at a time, then the documents. In a transaction."""
    rows = wire.execute(
        "SELECT name, stream, next FROM looseleaf.streams WHERE memory = %s ORDER BY name", (memory,)
    ).fetchall()
    for name, number, end in rows:
        yield from _read_segments(wire, memory, str(name), int(str(number)), segment_of(int(str(end))))
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
            own = segment_of(int(str(at)))
            if own != segment and lines:
                yield f"{archive}/{segment_name(segment)}", b"".join(lines)
                lines = []
            segment = own
            lines.append(bytes(line))  # type: ignore[call-overload]
        if lines:
            yield active if segment >= last else f"{archive}/{segment_name(segment)}", b"".join(lines)


# --- check ---------------------------------------------------------------------------------


def check_files(rows: LogRows) -> Iterator[Problem]:
    """Read and hash everything again; yield what is wrong."""
    entries: dict[str, set[str]] = {}
    for path, data in read_all(rows):
        if path.endswith(".jsonl") and path.startswith("log/") and not path.startswith(f"{BODIES}/"):
            yield from _check_lines(rows, path, data)
        elif "/bodies/" in path and path.startswith("log/"):
            name = path.rpartition("/")[2]
            if re.fullmatch(HASH, name) and sha256(data) != name:
                yield Problem(path, None, "this body is damaged: its sha256 is not its name")
        elif "/entries/" in path and path.startswith("log/"):
            folder, _, name = path.rpartition("/")
            entries.setdefault(folder, set()).add(name)
            schema = ENTRY_FILES.get(name)
            yield from check_schema(path, data, schema) if schema is not None else ()
    for folder, names in entries.items():
        for name in ENTRY_FILES.keys() - names:
            yield Problem(f"{folder}/{name}", None, f"{MISSING_FILE}. {TO_DO.removesuffix('.')}")
    yield from check_hashes(rows)


def _check_lines(rows: LogRows, path: str, data: bytes) -> Iterator[Problem]:
    is_journal = path.endswith("/journal.jsonl") or re.fullmatch(r"log/(on/[^/]+/)?archive/\d+\.jsonl", path)
    found: list[Problem] = []
    at = 0
    for number, raw in enumerate(data.split(b"\n")[:-1], 1):
        if not raw:
            found.append(Problem(path, number, "this line is empty", "error" if is_journal else "note"))
        for line in records_in(rows.bodies, path, Position(0, at), raw, number, found.append):
            if not line.checked:
                message = "this record has no checksum"
                found.append(Problem(path, number, message, "error" if is_journal else "note"))
        at += len(raw) + 1
    yield from found


def check_hashes(rows: LogRows) -> Iterator[Problem]:
    """Yield the documents whose bytes are not those of their hash."""
    found = rows.run(
        "SELECT path FROM looseleaf.documents WHERE memory = %s AND sha256 <> sha256(data) ORDER BY path",
        (rows.memory,),
    )
    for (path,) in found:
        yield Problem(str(path), None, "the bytes of this document are not those that were written")
