"""Rewrite log files after a cut. The journal before its first change is copied byte for byte (FORMAT §17.3).

A `forgotten` record stands where it begins to differ, and at the start of each later segment. It is padded so that no
later record ends where it ended before: a reader that remembers a place in the old journal by the record before it
finds another record there, and reads again.
"""

from __future__ import annotations

import re
from itertools import count

from looseleaf.base.values import sha256
from looseleaf.forget.dependents import parse_json
from looseleaf.log.journal import SCHEMA
from looseleaf.store import JOURNAL, records
from looseleaf.store.documents import Put
from looseleaf.store.records import BODIES, Bodies
from looseleaf.store.streams import SUMS, segment_number, stream_files
from looseleaf.text.spellings import MASK

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from typing import Any

    from looseleaf.base.values import Record
    from looseleaf.forget.probe import Needles
    from looseleaf.store.protocol import Store

    Left = Callable[[Record], Record | None]

GONE = "gone.v1"


def filler(record: Record) -> Record:
    """Return the stand-in for a removed line: its id, and its turn number, which stays used."""
    kept = {name: record[name] for name in ("id", "turn_id") if isinstance(record.get(name), str)}
    return {"schema": GONE, "kind": "gone", **kept}


def segments(store: Store, stream: str) -> Iterator[tuple[str, bytes]]:
    """Yield the files of a stream with their bytes, sealed ones first."""
    path, archive = stream_files(stream)
    names = [stat.path for stat in store.list(archive) if segment_number(stat.path.rpartition("/")[2])]
    for name in [*sorted(names, key=lambda each: segment_number(each.rpartition("/")[2]) or 0), path]:
        document = store.get(name)
        if document is not None:
            yield name, document.data


class CollectedBodies(Bodies):
    """Bodies that are not written yet."""

    def __init__(self, store: Store, limit: int) -> None:
        self._store = store
        self._limit = limit
        self.files: dict[str, bytes] = {}
        self.named: set[str] = set()
        """The hashes of bodies that lines still name."""

    def _keep(self, data: bytes) -> str:
        digest = sha256(data)
        self.files[f"{BODIES}/{digest}"] = data
        return digest

    def whole(self, record: Record) -> Record:
        """Return the record with its long members, as far as they exist."""
        found = {name: value for name, value in record.items() if name != "bodies"}
        for name, digest, form in bodies_of(record):
            document = self._store.get(f"{BODIES}/{digest}")
            if document is not None:
                text = document.data.decode("utf-8", "replace")
                found[name] = text if form == "text" else parse_json(text)
        return found

    def is_whole(self, record: Record) -> bool:
        """True if all of a record's bodies are there, unchanged."""
        return all(
            (found := self._store.get(f"{BODIES}/{digest}")) is not None and found.sha256 == digest
            for _, digest, _ in bodies_of(record)
        )

    def line(self, record: Record) -> bytes:
        line = records.encode(record)
        if len(line) > self._limit:
            record = self.take_out(record)
            self.named |= {digest for _, digest, _ in bodies_of(record)}
            line = records.encode(record)
        return line


def bodies_of(record: Record) -> Iterator[tuple[str, str, str]]:
    """Yield (member, hash, form) of each body that a record names."""
    bodies = record.get("bodies")
    for name, body in bodies.items() if isinstance(bodies, dict) else ():
        if isinstance(body, dict) and isinstance(body.get("sha256"), str):
            yield name, body["sha256"], str(body.get("as"))


class RewrittenLines:
    """Rewrites the streams except the journal, byte for byte as long as before (FORMAT §17.2): a removed line becomes
    an empty one of the same length, and one that loses words is filled with spaces. `left` returns what is left of a
    record; `needles` are looked for in damaged lines."""

    def __init__(self, store: Store, limit: int, needles: Needles) -> None:
        self._store = store
        self.bodies = CollectedBodies(store, limit)
        self._needles = needles
        self.puts: list[Put] = []
        self.dropped: set[str] = set()
        """The hashes of bodies that lines named before they changed."""
        self.changed = 0

    def take(self, stream: str, left: Left) -> None:
        sums: dict[str, str] = {}
        archive = stream_files(stream)[1]
        for path, data in segments(self._store, stream):
            new = b"\n".join(self._rewrite_line(line, left) for line in data.split(b"\n"))
            assert len(new) == len(data)
            if new != data:
                self.puts.append(Put(path, new))
                sums[path.rpartition("/")[2]] = sha256(new)
        self.puts += reseal(self._store, archive, sums)

    def _rewrite_line(self, raw: bytes, left: Left) -> bytes:
        pieces = records.pieces(raw) if raw else ()
        return b"".join(self._rewrite_piece(raw[each.start : each.end], each.record, left) for each in pieces)

    def _rewrite_piece(self, raw: bytes, record: Record | None, left: Left) -> bytes:
        if record is None:
            return b"\n" * len(raw) if self._needles.hits(raw) else raw
        whole = self.bodies.whole(record) if "bodies" in record else record
        kept = left(whole)
        if kept is whole:
            self.bodies.named |= {digest for _, digest, _ in bodies_of(record)}
            return raw
        self.changed += 1
        self.dropped |= {digest for _, digest, _ in bodies_of(record)}
        for each in () if kept is None else (kept, _drop_masks(kept)):
            line = self._fit_line(each, record, len(raw))
            if line is not None:
                return line
        return self._fit_line(filler(record), {}, len(raw)) or b"\n" * len(raw)

    def _fit_line(self, kept: Record, record: Record, length: int) -> bytes | None:
        """Encode a record in so many bytes; None if it needs more. Members beside the log stay there."""
        names = [name for name, _, _ in bodies_of(record) if name in kept]
        if names:
            short = {name: value for name, value in kept.items() if name not in names}
            kept = short | {"bodies": {name: self._keep_body(kept[name]) for name in names}}
        line = records.encode(kept, length + 1)[:-1]
        if len(line) > length:
            return None
        self.bodies.named |= {digest for _, digest, _ in bodies_of(kept)}
        return line

    def _keep_body(self, value: object) -> dict[str, object]:
        data = value.encode("utf-8", "backslashreplace") if isinstance(value, str) else records.to_json(value)
        form = "text" if isinstance(value, str) else "json"
        return {"sha256": self.bodies._keep(data), "bytes": len(data), "as": form}


def _drop_masks(value: Any) -> Any:
    """Return a record or a value of it without masks, if there is no room for them."""
    if isinstance(value, str):
        return re.sub(rf"{re.escape(MASK)}[.!?…。！？]?", "", value).strip() if MASK in value else value
    if isinstance(value, dict):
        return {name: _drop_masks(inner) for name, inner in value.items()}
    if isinstance(value, (list, tuple)):
        return [_drop_masks(inner) for inner in value]
    return value


def reseal(store: Store, archive: str, sums: dict[str, str]) -> list[Put]:
    """Update the seals of an archive for changed segments."""
    path = f"{archive}/{SUMS}"
    document = store.get(path)
    if document is None or not sums:
        return []
    lines = []
    for line in document.data.split(b"\n"):
        digest, _, name = line.partition(b"  ")
        new = sums.get(name.decode("utf-8", "replace"))
        lines.append(line if new is None or not digest else f"{new}  ".encode() + name)
    data = b"\n".join(lines)
    return [Put(path, data)] if data != document.data else []


_Piece = tuple[str | None, int, bytes]
"""The id of an old record (None: new, or no record), where it ended, and its bytes now."""


def rewrite_journal(
    store: Store,
    written: Sequence[tuple[Record, list[Record]]],
    stone: Record,
    bodies: CollectedBodies,
    needles: Needles,
) -> list[Put]:
    """Return the journal's changed files. `written` has each old record and its replacements."""
    puts: list[Put] = []
    sums: dict[str, str] = {}
    rows = iter(written)
    has_begun = False
    files = list(segments(store, JOURNAL))
    for path, data in files:
        pieces, first = _read_pieces(data, rows, bodies, needles)
        if has_begun:
            first = 0
        is_last = path == files[-1][0]
        if first is None and not is_last:
            continue
        new = _join_pieces(pieces, len(pieces) if first is None else first, stone)
        has_begun = True
        puts.append(Put(path, new))
        sums[path.rpartition("/")[2]] = sha256(new)
    return [*puts, *reseal(store, stream_files(JOURNAL)[1], sums)]


def _read_pieces(
    data: bytes, rows: Iterator[tuple[Record, list[Record]]], bodies: CollectedBodies, needles: Needles
) -> tuple[list[_Piece], int | None]:
    """Return the records of a segment as they will be, and the number of the first changed one."""
    found: list[_Piece] = []
    first: int | None = None
    at = 0
    for raw in data.split(b"\n"):
        for piece in records.pieces(raw) if raw else ():
            span, end = raw[piece.start : piece.end], at + piece.end + 1
            record = piece.record
            # A record with a lost body is damaged, and readers of the log do not see it.
            if record is None or ("bodies" in record and not bodies.is_whole(record)):
                if needles.hits(span):
                    first = len(found) if first is None else first
                else:
                    found.append((None, end, span + b"\n"))
                continue
            old, new = next(rows)
            if len(new) == 1 and new[0] is old:
                found.append((str(old.get("id")), end, span + b"\n"))
                bodies.named.update(digest for _, digest, _ in bodies_of(record))
                continue
            first = len(found) if first is None else first
            found += [(str(each.get("id")), end, bodies.line(each)) for each in new]
        at += len(raw) + 1
    return found, first


def _join_pieces(pieces: Sequence[_Piece], first: int, stone: Record) -> bytes:
    before = b"".join(line for _, _, line in pieces[:first])
    size = len(records.encode({**stone, "schema": SCHEMA}))
    taken: set[int] = set()
    end = len(before) + size
    for name, was, each in pieces[first:]:
        end += len(each)
        if name is not None:
            taken.add(was - end)
    pad = next(each for each in count() if each not in taken)
    line = records.encode({**stone, "schema": SCHEMA}, size + pad)
    return before + line + b"".join(each for _, _, each in pieces[first:])
