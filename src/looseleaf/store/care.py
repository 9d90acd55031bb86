"""`check` and `repair` for the log: re-read and re-hash everything; mend without losing a byte (FORMAT §8)."""

from __future__ import annotations

import json
import os
import time
from typing import TYPE_CHECKING

from looseleaf.errors import Refused
from looseleaf.store import codec
from looseleaf.store.bodies import BODIES
from looseleaf.store.root import ASIDE, STAGED, sha256, unreadable, unwritten
from looseleaf.store.segments import SUMS, lines, segment_name, stream_files
from looseleaf.store.ulid import new_id
from looseleaf.values import Position, Problem

if TYPE_CHECKING:
    from collections.abc import Iterator

    from looseleaf.store.root import Root
    from looseleaf.store.segments import Segments
    from looseleaf.store.streams import Streams

ENTRIES = "log/entries"
ENTRY_FILES = {"raw.md": None, "meta.json": "entry.v1", "summary.json": "entry_summary.v1"}


def check_log(root: Root, segments: Segments) -> Iterator[Problem]:
    """Everything below `log/`, read and hashed again. Changes nothing."""
    for stream in segments.streams():
        yield from _check_stream(root, segments, stream)
    yield from _check_bodies(root)
    yield from _check_entries(root)
    for name in root.names(STAGED):
        yield Problem(
            f"{STAGED}/{name}", None, "a change was interrupted here; the next command completes it", "note"
        )
    for name in root.names(ASIDE):
        if name != "late":
            yield Problem(f"{ASIDE}/{name}", None, "bytes that were displaced or cut are kept here", "note")


def _check_stream(root: Root, segments: Segments, stream: str) -> Iterator[Problem]:
    path, archive = stream_files(stream)
    numbers = segments.numbers(archive)
    yield from _check_seals(root, segments, archive, numbers)
    strict = stream == "journal"  # people and importers may add traces; only the program writes the journal
    for number in numbers:
        yield from _check_file(
            root, segments, f"{archive}/{segment_name(number)}", active=False, strict=strict
        )
    if path.rpartition("/")[2] in root.names(path.rpartition("/")[0]):
        yield from _check_file(root, segments, path, active=True, strict=strict)


def _check_seals(root: Root, segments: Segments, archive: str, numbers: list[int]) -> Iterator[Problem]:
    seals = segments.seals(archive)
    sums = f"{archive}/{SUMS}"
    for number, line in enumerate((root.read(sums) or b"").split(b"\n"), 1):
        if line and (len(line) < 67 or line[64:66] != b"  "):
            yield Problem(sums, number, "this line is no seal")
    for gap in sorted(set(range(1, max(numbers, default=0))) - set(numbers)):
        yield Problem(f"{archive}/{segment_name(gap)}", None, "this segment is missing")
    for number in numbers:
        name = segment_name(number)
        if name not in seals:
            yield Problem(
                f"{archive}/{name}", None, "this segment has no seal yet; the next append seals it", "note"
            )
            continue
        try:
            data = root.read(f"{archive}/{name}") or b""
        except Refused as refused:
            yield Problem(f"{archive}/{name}", None, str(refused))
            continue
        if sha256(data) != seals[name]:
            yield Problem(
                f"{archive}/{name}", None, "this segment is not what was sealed: its sha256 differs"
            )
    for name in seals:
        if name not in map(segment_name, numbers):
            yield Problem(f"{archive}/{name}", None, "this segment was sealed and is gone")


def _check_file(
    root: Root, segments: Segments, path: str, *, active: bool, strict: bool
) -> Iterator[Problem]:
    try:
        fd = root.open_file(path, os.O_RDONLY)
    except FileNotFoundError:
        return  # sealed while we looked: it is checked under its new name the next time
    except OSError as error:
        yield Problem(path, None, str(unreadable(path, error)))
        return
    except Refused as refused:
        yield Problem(path, None, str(refused))
        return
    found: list[Problem] = []
    try:
        for number, (begin, raw, ended) in enumerate(lines(root.disk, fd, 0), 1):
            if active and not ended:
                found.append(
                    Problem(
                        path, number, "this record is not finished; the next append keeps a copy and cuts it"
                    )
                )
                break
            if not raw:
                found.append(Problem(path, number, "this line is empty", "error" if strict else "note"))
            for line in segments.records(path, Position(0, begin), raw, number, found.append):
                if not line.checked:
                    message = "this record has no checksum"
                    found.append(Problem(path, number, message, "error" if strict else "note"))
            yield from found
            found.clear()
        yield from found
    except OSError as error:
        yield Problem(path, None, str(unreadable(path, error)))
    finally:
        root.disk.close(fd)


def _check_bodies(root: Root) -> Iterator[Problem]:
    for name in root.names(BODIES):
        try:
            data = root.read(f"{BODIES}/{name}")
        except Refused as refused:
            yield Problem(f"{BODIES}/{name}", None, str(refused))
        else:
            if data is not None and sha256(data) != name:
                yield Problem(f"{BODIES}/{name}", None, "this body is damaged: its sha256 is not its name")


def _check_entries(root: Root) -> Iterator[Problem]:
    for topic in root.names(ENTRIES):
        for entry in root.names(f"{ENTRIES}/{topic}"):
            for name, schema in ENTRY_FILES.items():
                path = f"{ENTRIES}/{topic}/{entry}/{name}"
                try:
                    data = root.read(path)
                except Refused as refused:
                    yield Problem(path, None, str(refused))
                    continue
                if data is None:
                    yield Problem(path, None, "this file of an entry is missing")
                elif schema is not None:
                    yield from _check_schema(path, data, schema)


def _check_schema(path: str, data: bytes, schema: str) -> Iterator[Problem]:
    try:
        value = json.loads(data)
    except (ValueError, RecursionError) as error:
        yield Problem(path, getattr(error, "lineno", None), "this file is not JSON")
        return
    if not isinstance(value, dict) or value.get("schema") != schema:
        yield Problem(path, None, f"this file does not say that its schema is {schema}")


# --- repair ----------------------------------------------------------------------------


def repair_log(root: Root, segments: Segments, streams: Streams) -> list[str]:
    """Mend each damaged log file: the original is kept aside whole, each damaged stretch becomes a `lost` record.

    Runs under the lock. Says what it did, a sentence each.
    """
    done: list[str] = []
    try:
        for stream in segments.streams():
            streams.mend_end(stream)
            path, archive = stream_files(stream)
            for name in [f"{archive}/{segment_name(number)}" for number in segments.numbers(archive)] + [
                path
            ]:
                done += _repair_file(root, segments, name)
            done += _reseal(root, segments, archive)
            streams.forget(stream)
    except OSError as error:
        raise unwritten("A repaired file", error) from error
    return done


def _repair_file(root: Root, segments: Segments, path: str) -> list[str]:
    data = root.read(path)
    if data is None:
        return []
    mended: list[bytes] = []
    lost = 0
    aside = ""
    for raw in data.split(b"\n"):
        if not raw:
            continue
        for piece in codec.pieces(raw):
            if piece.record is not None:
                mended.append(raw[piece.start : piece.end] + b"\n")
                continue
            aside = aside or root.put_aside(data, f"damaged-{path}")
            lost += 1
            span = raw[piece.start : piece.end]
            record = {
                "schema": "lost.v1",
                "id": new_id(),
                "ts": time.time(),
                "kind": "lost",
                "bytes": len(span),
                "sha256": sha256(span),
                "aside": aside,
            }
            mended.append(codec.encode(record))
    whole = b"".join(mended)
    if whole == data:
        return []
    aside = aside or root.put_aside(data, f"damaged-{path}")
    root.replace(path, whole)
    what = f"{lost} damaged record{'s' if lost != 1 else ''}" if lost else "damaged line ends"
    return [f"{path}: {what} set aside; the original file is kept as {aside}"]


def _reseal(root: Root, segments: Segments, archive: str) -> list[str]:
    done: list[str] = []
    seals = segments.seals(archive)
    new: list[str] = []
    for number in segments.numbers(archive):
        name = segment_name(number)
        data = root.read(f"{archive}/{name}") or b""
        digest = sha256(data)
        if seals.get(name) != digest:
            aside = root.put_aside(data, f"resealed-{archive}/{name}")
            new.append(f"{digest}  {name}\n")
            done.append(
                f"{archive}/{name}: sealed again as it is now; a copy of what was sealed over is {aside}"
            )
    if new:
        old = [line for line in (root.read(f"{archive}/{SUMS}") or b"").split(b"\n") if line]
        kept = [line for line in old if len(line) > 66 and line[64:66] == b"  "]
        if kept != old:
            root.put_aside(b"\n".join(old) + b"\n", f"damaged-{archive}/{SUMS}")
        root.replace(f"{archive}/{SUMS}", b"".join(line + b"\n" for line in kept) + "".join(new).encode())
    return done
