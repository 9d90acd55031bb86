"""Check and repair the log: read and hash everything again; repair without losing a byte (FORMAT §8)."""

from __future__ import annotations

import json
import os
import re
import time

from looseleaf.base.errors import Refused
from looseleaf.base.ids import new_id
from looseleaf.base.values import Position, Problem, sha256
from looseleaf.store import JOURNAL, records
from looseleaf.store.machines import log_of, stream_of
from looseleaf.store.records import HASH
from looseleaf.store.root import ASIDE, STAGED, unreadable, unwritten
from looseleaf.store.streams import (
    SEAL,
    SUMS,
    lines,
    missing_segments,
    segment_name,
    segment_number,
    stream_files,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

    from looseleaf.base.values import Record
    from looseleaf.store.ends import Ends
    from looseleaf.store.root import Root
    from looseleaf.store.streams import Segments, Streams

_UNFINISHED = "this record is not finished; the next append keeps a copy and cuts it"
_MANY = 1000
"""A larger gap in the segment numbers is no loss: a file has a wrong name."""

ENTRIES = "log/entries"
ELSEWHERE = "repair it there"
"""What a problem in the log of another machine ends with."""
WRITTEN = "no looseleaf writes that, so look who can write to that log"
"""What it ends with if a record is whole, and makes no sense."""
ENTRY_FILES = {"raw.md": None, "meta.json": "entry.v1", "summary.json": "entry_summary.v1"}
MISSING_FILE = "this file of the entry is missing"


def check_log(root: Root, segments: Segments, ends: Ends) -> Iterator[Problem]:
    """Read and hash everything below `log/` again; yield what is wrong, change nothing."""
    from looseleaf.store.losses import check_ends, problem_of, unaccepted

    found: list[Problem] = []
    streams = _list_streams(segments, found)
    for stream in streams:
        path, archive = stream_files(stream)
        is_damaged = False
        try:
            for problem in _check_stream(root, segments, stream, path, archive):
                is_damaged = is_damaged or problem.severity == "error"
                yield problem
            yield from check_ends(ends, segments, stream, is_damaged=is_damaged)
        except (OSError, Refused) as error:
            yield _problem_of(archive, error)
    for stream in ends.streams():
        if stream not in streams:
            yield from check_ends(ends, segments, stream)
    losses = unaccepted(segments)
    for loss in losses:
        yield problem_of(loss, is_gone=not segments.has_stream(str(loss["stream"])))
    known = {*streams, *ends.streams(), *(str(loss["stream"]) for loss in losses)}
    for name in _list_names(root, "log/traces", found):
        if f"traces/{name}" not in known and not _is_empty_folder(root, f"log/traces/{name}"):
            yield Problem(f"log/traces/{name}", None, "this is not an agent's log, so it is not read", "note")
    yield from _check_bodies(root)
    yield from _check_entries(root)
    for name in _list_names(root, STAGED, found):
        message = "a change was interrupted; the next command finishes it"
        yield Problem(f"{STAGED}/{name}", None, message, "note")
    if kept := [name for name in _list_names(root, ASIDE, found) if name != "late"]:
        many = "a copy" if len(kept) == 1 else f"{len(kept):,} copies"
        message = f"{many} of displaced or cut bytes, kept for you; you may delete what you do not miss"
        yield Problem(ASIDE, None, message, "note")
    yield from dict.fromkeys(found)


def check_other_log(root: Root, segments: Segments, machine: str) -> Iterator[Problem]:
    """Read and hash the log of another machine again. Only that machine may repair it; what is unfinished is still to
    be carried here."""
    from looseleaf.store.foreign import SAYS

    log = log_of(machine)
    for problem in dict.fromkeys(_read_other_log(root, segments, machine, log)):
        is_end = problem.message == _UNFINISHED
        message = "the rest of this record is not here yet" if is_end else problem.message
        is_odd = message.startswith(SAYS)  # repairing does not change what a whole record says
        told = f"{message}; this is the log of {machine}: {WRITTEN if is_odd else ELSEWHERE}"
        is_note = is_end or problem.severity == "note"
        yield Problem(
            problem.path, problem.line, message if is_note else told, "note" if is_note else "error"
        )


def _read_other_log(root: Root, segments: Segments, machine: str, log: str) -> Iterator[Problem]:
    found: list[Problem] = []
    for stream in _list_streams(segments, found, machine):
        path, archive = stream_files(stream)
        try:
            yield from _check_stream(root, segments, stream, path, archive)
        except (OSError, Refused) as error:
            yield _problem_of(archive, error)
    yield from _check_bodies(root, log)
    yield from _check_entries(root, log)
    for name in ("machine", "key"):
        try:
            root.read(f"{log}/{name}")
        except Refused as refused:
            found.append(Problem(f"{log}/{name}", None, str(refused)))
    yield from found


def _list_streams(segments: Segments, found: list[Problem], machine: str = "") -> list[str]:
    try:
        return segments.streams(machine)
    except Refused as refused:
        found.append(Problem(log_of(machine) if machine else "log", None, str(refused)))
        return [stream_of(machine, JOURNAL) if machine else JOURNAL]


def _list_names(root: Root, folder: str, found: list[Problem]) -> list[str]:
    """Return the names in a folder; an unreadable folder is a problem, and the check goes on."""
    try:
        return root.names(folder)
    except OSError as error:
        found.append(_problem_of(folder, error))
        return []


def _is_empty_folder(root: Root, path: str) -> bool:
    """True for a folder without anything, as it is left of an agent whose log is gone."""
    try:
        return not root.names(path)
    except OSError:
        return False


def _problem_of(path: str, error: OSError | Refused) -> Problem:
    return Problem(path, None, str(unreadable(path, error) if isinstance(error, OSError) else error))


def _check_stream(root: Root, segments: Segments, stream: str, path: str, archive: str) -> Iterator[Problem]:
    strict = path.endswith(
        "/journal.jsonl"
    )  # people and importers may add traces; the journal is the program's alone
    if path.rpartition("/")[2] in root.names(path.rpartition("/")[0]):
        yield from _check_file(root, segments, path, active=True, strict=strict)
    for number in segments.numbers(archive):
        name = f"{archive}/{segment_name(number)}"
        yield from _check_file(root, segments, name, active=False, strict=strict)
    yield from _check_seals(root, segments, archive)


def _check_seals(root: Root, segments: Segments, archive: str) -> Iterator[Problem]:
    yield from _check_sums(root, archive)
    # Without the lock: segments sealed before the listing must exist, and listed ones must be sealed after it.
    sealed = segments.seals(archive)
    numbers = segments.numbers(archive)
    seals = segments.seals(archive)
    for first, count in _find_gaps(numbers, sealed):
        yield missing_segments(archive, first, count)
    for name in sealed:
        if (segment_number(name) or 0) > _last_number(numbers, sealed):
            yield Problem(f"{archive}/{name}", None, "a seal names this segment, which never existed")
    for number in numbers:
        name = segment_name(number)
        path = f"{archive}/{name}"
        if name in seals:
            try:
                if sha256(root.read(path) or b"") != seals[name]:
                    yield Problem(path, None, "this segment differs from its seal (sha256)")
            except Refused as refused:
                yield Problem(path, None, str(refused))
        elif number == numbers[-1]:
            yield Problem(path, None, "this segment has no seal yet; the next append seals it", "note")
        else:  # a crash can leave only the newest unsealed: the next one begins after its seal
            yield Problem(path, None, "the seal of this segment is missing")


def _last_number(numbers: list[int], seals: dict[str, str]) -> int:
    """Return the number of the newest segment that ever existed. A seal proves a lost segment, unless it is far from
    all others: then its name is damaged."""
    last = max(numbers, default=0)
    while segment_name(last + 1) in seals:
        last += 1
    return last


def _find_gaps(numbers: list[int], seals: dict[str, str]) -> Iterator[tuple[int, int]]:
    """Yield each gap: its first missing segment, and how many are missing."""
    expected = 1
    for number in [*numbers, _last_number(numbers, seals) + 1]:
        if number > expected:
            yield expected, number - expected
        expected = number + 1


def _check_sums(root: Root, archive: str) -> Iterator[Problem]:
    path = f"{archive}/{SUMS}"
    *whole, rest = (root.read(path) or b"").split(b"\n")
    for number, line in enumerate(whole, 1):
        if not re.fullmatch(SEAL, line):
            yield Problem(path, number, "this line is not a seal")
    if rest:
        yield Problem(path, len(whole) + 1, "this line is not finished")


def _check_file(
    root: Root, segments: Segments, path: str, *, active: bool, strict: bool
) -> Iterator[Problem]:
    try:
        fd = root.open_file(path, os.O_RDONLY)
    except FileNotFoundError:
        return  # sealed meanwhile: checked under its new name
    except (OSError, Refused) as error:
        yield _problem_of(path, error)
        return
    found: list[Problem] = []
    try:
        for number, (begin, raw, ended) in enumerate(lines(root.disk, fd, 0), 1):
            if active and not ended:
                found.append(Problem(path, number, _UNFINISHED))
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
        yield _problem_of(path, error)
    finally:
        root.disk.close(fd)


def _check_bodies(root: Root, log: str = "log") -> Iterator[Problem]:
    found: list[Problem] = []
    for name in _list_names(root, f"{log}/bodies", found):
        path = f"{log}/bodies/{name}"
        if not re.fullmatch(HASH, name):
            yield Problem(path, None, "this is not a body, so it is not read", "note")
            continue
        try:
            data = root.read(path)
        except Refused as refused:
            yield Problem(path, None, str(refused))
        else:
            if data is not None and sha256(data) != name:
                yield Problem(path, None, "this body is damaged: its sha256 is not its name")
    yield from found


def _check_entries(root: Root, log: str = "log") -> Iterator[Problem]:
    from looseleaf.store.losses import TO_DO

    found: list[Problem] = []
    for topic in _list_names(root, f"{log}/entries", found):
        for entry in _list_names(root, f"{log}/entries/{topic}", found):
            for name, schema in ENTRY_FILES.items():
                path = f"{log}/entries/{topic}/{entry}/{name}"
                try:
                    data = root.read(path)
                except Refused as refused:
                    yield Problem(path, None, str(refused))
                    continue
                if data is None:
                    yield Problem(path, None, f"{MISSING_FILE}. {TO_DO.removesuffix('.')}")
                elif schema is not None:
                    yield from check_schema(path, data, schema)
    yield from found


def check_schema(path: str, data: bytes, schema: str) -> Iterator[Problem]:
    """Yield what is wrong with a file of JSON that says which schema it has."""
    try:
        value = json.loads(data)
    except (ValueError, RecursionError) as error:
        yield Problem(path, getattr(error, "lineno", None), "this file is not JSON")
        return
    if not isinstance(value, dict) or value.get("schema") != schema:
        yield Problem(path, None, f"the schema of this file is not {schema}")


# --- repair ----------------------------------------------------------------------------


def repair_log(root: Root, segments: Segments, streams: Streams) -> list[str]:
    """Repair each damaged log file: keep the original aside, turn each damaged part into a `lost` record.

    Runs under the lock. Return a sentence for each repair; an unreadable stream stays as it is.
    """
    done: list[str] = []
    for stream in segments.streams():
        path, archive = stream_files(stream)
        try:
            done += _cut_end(root, streams, stream, path)
            done += _fill_gaps(root, segments, archive)
            sealed = [f"{archive}/{segment_name(number)}" for number in segments.numbers(archive)]
            for name in [*sealed, path]:
                done += _repair_file(root, segments, name, strict=stream == JOURNAL)
            done += _reseal(root, segments, archive)
        except OSError as error:
            raise unwritten("A repaired file", error) from error
        except Refused as refused:
            done.append(f"{path}: not repaired. {refused}")
        finally:
            streams.close_stream(stream)
    return done + _move_damaged_bodies(root)


def _cut_end(root: Root, streams: Streams, stream: str, path: str) -> list[str]:
    """Cut an unfinished end: it was never acknowledged, or damage cut it. The next append would cut it too."""
    data = root.read(path)
    if not data or data.endswith(b"\n"):
        return []
    before = set(root.names(ASIDE))
    streams.mend_end(stream)
    kept = [f"{ASIDE}/{name}" for name in root.names(ASIDE) if name not in before]
    return [f"{path}: an unfinished record was cut; a copy is {', '.join(kept)}"]


def _fill_gaps(root: Root, segments: Segments, archive: str) -> list[str]:
    """Put a `lost` record in place of each missing segment: later numbers and positions stay valid."""
    seals, numbers = segments.seals(archive), segments.numbers(archive)
    done: list[str] = []
    for first, count in _find_gaps(numbers, seals):
        if count > _MANY:
            raise Refused(
                f"{count} segments are missing before {archive}/{segment_name(first + count)}, so that file cannot "
                "belong to this memory. Move it out of the memory."
            )
        for name in map(segment_name, range(first, first + count)):
            lost = _lost_record(segment=name, sha256=seals.get(name))
            root.replace(f"{archive}/{name}", records.encode(lost))
            done.append(f"{archive}/{name}: missing; a `lost` record stands in its place")
    return done


def _lost_record(**what: object) -> Record:
    return {"schema": "lost.v1", "id": new_id(), "ts": time.time(), "kind": "lost", **what}


def _repair_file(root: Root, segments: Segments, path: str, *, strict: bool) -> list[str]:
    data = root.read(path)
    if not data:
        return []
    mended: list[bytes] = []
    lost: list[Record] = []
    every = data.removesuffix(b"\n").split(b"\n")
    hurt = not data.endswith(b"\n") or (strict and b"" in every)
    for raw in filter(None, every):
        for piece in records.pieces(raw):
            span = raw[piece.start : piece.end]
            record, kept = piece.record, None
            if record is not None and "bodies" in record:
                kept = {name: value for name, value in record.items() if name != "bodies"}
                record = segments.bodies.put_in(record)[0]
            if record is None or (strict and not piece.checked):
                loss = _lost_record(bytes=len(span), sha256=sha256(span))
                lost.append(loss if kept is None else loss | {"record": kept})
                mended.append(b"")  # filled in below, when the original's copy has its path
                continue
            if piece.checked and not span.startswith(b" "):
                span = b" " + span
            hurt = hurt or span != raw
            mended.append(span + b"\n")
    if not hurt and not lost:
        return []
    aside = root.put_aside(data, f"damaged-{path}")
    losses = iter(lost)
    root.replace(path, b"".join(line or records.encode(next(losses) | {"aside": aside}) for line in mended))
    count = f"{len(lost)} damaged record{'s' if len(lost) != 1 else ''}" if lost else "damaged line ends"
    return [f"{path}: {count} set aside; the original file is kept as {aside}"]


def _reseal(root: Root, segments: Segments, archive: str) -> list[str]:
    """Seal each segment as it is now. Keep old seals that no longer match aside."""
    path = f"{archive}/{SUMS}"
    old, seals = root.read(path) or b"", segments.seals(archive)
    new: dict[str, str] = {}
    for number in segments.numbers(archive):
        name = segment_name(number)
        new[name] = sha256(root.read(f"{archive}/{name}") or b"")
    whole = "".join(f"{digest}  {name}\n" for name, digest in new.items()).encode()
    if whole == old:
        return []
    if not whole.startswith(old):
        root.put_aside(old, f"damaged-{path}")
    root.replace(path, whole)
    changed = [name for name, digest in new.items() if seals.get(name) != digest]
    return [f"{archive}/{name}: sealed as it is now" for name in changed] or [f"{path}: written again"]


def take_out_lines(root: Root, segments: Segments, stream: str, numbers: Collection[int]) -> None:
    """Take lines out of a stream, by their numbers from its beginning; keep each file that changes aside."""
    path, archive = stream_files(stream)
    sealed = [f"{archive}/{segment_name(number)}" for number in segments.numbers(archive)]
    first = 0
    for name in (*sealed, path):
        data = root.read(name) or b""
        found = [line + b"\n" for line in data.split(b"\n")[:-1]]
        left = [line for number, line in enumerate(found, first) if number not in numbers]
        first += len(found)
        if len(left) < len(found):
            root.put_aside(data, f"parted-{name}")
            root.replace(name, b"".join(left))
    _reseal(root, segments, archive)


def _move_damaged_bodies(root: Root) -> list[str]:
    """Move damaged bodies aside; their records are `lost` by now."""
    done: list[str] = []
    for problem in list(_check_bodies(root)):
        if problem.severity == "note":
            continue
        try:
            data = root.read(problem.path)
        except Refused as refused:
            done.append(f"{problem.path}: not repaired. {refused}")
            continue
        if data is not None:
            aside = root.put_aside(data, f"damaged-{problem.path}")
            root.discard(problem.path)
            done.append(f"{problem.path}: damaged body moved to {aside}")
    return done
