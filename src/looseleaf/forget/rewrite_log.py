"""Rewrite log files after a cut. The journal before its first change is copied byte for byte (FORMAT §17.3).

A `forgotten` record stands where it begins to differ, and at the start of each later segment. It is padded so that no
later record ends where it ended before: a reader that remembers a place in the old journal by the record before it
finds another record there, and reads again.
"""

from __future__ import annotations

import re
from itertools import count

from looseleaf.base.values import Position, sha256
from looseleaf.facts.stones import filler
from looseleaf.forget.dependents import parse_json
from looseleaf.forget.log_snapshot import LogMoved
from looseleaf.log.journal import SCHEMA
from looseleaf.log.turns import TurnTally
from looseleaf.store import JOURNAL, records
from looseleaf.store.records import BODIES, Bodies
from looseleaf.store.streams import SUMS, segment_name, stream_files
from looseleaf.text.spellings import MASK

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from typing import Any

    from looseleaf.base.values import Record
    from looseleaf.forget.log_snapshot import LogSnapshot
    from looseleaf.forget.probe import Needles
    from looseleaf.store.documents import StagedFile
    from looseleaf.store.protocol import Store, Switch

    Left = Callable[[str, Record], Record | None]


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
    record of a stream; `needles` are looked for in damaged lines; without a `switch`, changes are only counted."""

    def __init__(
        self, store: LogSnapshot, limit: int, needles: Needles, left: Left, switch: Switch | None
    ) -> None:
        self._store = store
        self.bodies = CollectedBodies(store, limit)
        self._needles, self._left, self._switch = needles, left, switch
        self.staged: dict[tuple[str, int], StagedFile] = {}
        """The changed segments, by stream and number."""
        self._ends: dict[str, tuple[int, int]] = {}
        """How far each stream is rewritten: segment and byte."""
        self.tallies: dict[str, tuple[TurnTally, Position, object]] = {}
        """Of the traces, what the next one's turn follows from, and the place and id of the last."""
        self.dropped: set[str] = set()
        """The hashes of bodies that lines named before they changed."""
        self.changed = 0

    def take(self, stream: str) -> None:
        for number, data in self._store.cut_segments(stream):
            self._rewrite(stream, number, 0, data)

    def follow(self, stream: str) -> int:
        """Rewrite the whole lines that were added since; return the number of their bytes."""
        number, offset = self._ends.get(stream, (0, 0))
        found = 0
        numbers = sorted(each for each in self._store.under.segments(stream) if each >= number)
        for each in numbers:
            offset = offset if each == number else 0
            data = self._store.under.segment(stream, each, offset)
            if each == numbers[-1]:
                data = data[: data.rfind(b"\n") + 1]  # the rest is being written
            found += len(data)
            if data:
                self._rewrite(stream, each, offset, data)
        return found

    def _rewrite(self, stream: str, number: int, offset: int, data: bytes) -> None:
        lines: list[bytes] = []
        at = offset
        for raw in data.split(b"\n"):
            lines.append(self._rewrite_line(stream, raw, Position(number, at)))
            at += len(raw) + 1
        new = b"\n".join(lines)
        assert len(new) == len(data)
        self._ends[stream] = number, offset + len(data)
        if self._switch is None:
            return
        there = self.staged.get((stream, number))
        if there is not None:
            self._switch.extend(there, new)
        elif new != data:
            before = self._store.under.segment(stream, number)[:offset] if offset else b""
            self.staged[stream, number] = self._switch.put("", before + new)

    def place(self) -> None:
        """Say where each changed segment belongs by now, and seal it again. Under the lock."""
        assert self._switch is not None
        by_stream: dict[str, dict[int, StagedFile]] = {}
        for (stream, number), file in self.staged.items():
            by_stream.setdefault(stream, {})[number] = file
        for stream, files in by_stream.items():
            found = self._store.under.segments(stream)
            for number, file in files.items():
                file.path, _, size = found[number]
                if stream != JOURNAL and file.size != size:
                    raise LogMoved  # no line may be missing
            sums = {segment_name(number): file.sha256 for number, file in files.items()}
            reseal(self._store.under, stream_files(stream)[1], sums, self._switch)

    def _rewrite_line(self, stream: str, raw: bytes, at: Position) -> bytes:
        pieces = records.pieces(raw) if raw else ()
        return b"".join(
            self._rewrite_piece(stream, raw[each.start : each.end], each.record, at) for each in pieces
        )

    def _count_turn(self, stream: str, record: Record, at: Position) -> None:
        if stream.startswith("traces/"):
            tally = self.tallies[stream][0] if stream in self.tallies else TurnTally()
            tally.take(record)
            self.tallies[stream] = tally, at, record.get("id")

    def _rewrite_piece(self, stream: str, raw: bytes, record: Record | None, at: Position) -> bytes:
        if record is None:
            return b"\n" * len(raw) if self._needles.hits(raw) else raw
        whole = self.bodies.whole(record) if "bodies" in record else record
        kept = self._left(stream, whole)
        self._count_turn(stream, filler(record) if kept is None else kept, at)
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


def reseal(store: Store, archive: str, sums: dict[str, str], switch: Switch) -> None:
    """Update the seals of an archive for changed segments."""
    path = f"{archive}/{SUMS}"
    document = store.get(path)
    if document is None:
        return
    lines = []
    for line in document.data.split(b"\n"):
        digest, _, name = line.partition(b"  ")
        new = sums.get(name.decode("utf-8", "replace"))
        lines.append(line if new is None or not digest else f"{new}  ".encode() + name)
    data = b"\n".join(lines)
    if data != document.data:
        switch.put(path, data)


_Piece = tuple[str | None, int, bytes]
"""The id of an old record (None: new, or no record), where it ended, and its bytes now."""


def rewrite_journal(
    store: LogSnapshot,
    written: Sequence[tuple[Record, list[Record]]],
    stone: Record,
    bodies: CollectedBodies,
    needles: Needles,
) -> Iterator[tuple[int, bytes]]:
    """Yield the number and the new bytes of the journal's changed segments. `written` has each old record and its
    replacements."""
    rows = iter(written)
    has_begun = False
    last = max(store.under.segments(JOURNAL), default=0)
    for number, data in store.cut_segments(JOURNAL):
        pieces, first = _read_pieces(data, rows, bodies, needles)
        if has_begun:
            first = 0
        if first is None and number != last:
            continue
        yield number, _join_pieces(pieces, len(pieces) if first is None else first, stone)
        has_begun = True


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
