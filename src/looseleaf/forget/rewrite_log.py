"""The journal, written anew: what comes before the first change is copied byte for byte (FORMAT §17.3).

Where it begins to differ stands a record `forgotten`, and each later segment begins with one. It is as long as it takes
for no record behind it to end where it ended before: whoever remembers a place in the old journal by the record before
it finds another one there, and reads again.
"""

from __future__ import annotations

from looseleaf.base.hashing import sha256
from looseleaf.forget.lines import bodies_of, resealed, segments
from looseleaf.log.heads import SCHEMA
from looseleaf.store import JOURNAL, records
from looseleaf.store.read_streams import stream_files
from looseleaf.store.switch import Put

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from looseleaf.base.values import Record
    from looseleaf.forget.lines import Collected
    from looseleaf.forget.needles import Needles
    from looseleaf.store.protocol import Store

_Piece = tuple[str | None, int, bytes]
"""The id of a record that was there before (None: it is new, or no record), where it ended, and its bytes now."""


def rewritten(
    store: Store,
    written: Sequence[tuple[Record, list[Record]]],
    stone: Record,
    bodies: Collected,
    needles: Needles,
) -> list[Put]:
    """The files of the journal that change. `written` has each old record and what stands for it now."""
    puts: list[Put] = []
    sums: dict[str, str] = {}
    rows = iter(written)
    has_begun = False
    files = list(segments(store, JOURNAL))
    for path, data in files:
        pieces, first = _pieces(data, rows, bodies, needles)
        if has_begun:
            first = 0
        is_last = path == files[-1][0]
        if first is None and not is_last:
            continue
        new = _joined(pieces, len(pieces) if first is None else first, stone)
        has_begun = True
        puts.append(Put(path, new))
        sums[path.rpartition("/")[2]] = sha256(new)
    return [*puts, *resealed(store, stream_files(JOURNAL)[1], sums)]


def _pieces(
    data: bytes, rows: Iterator[tuple[Record, list[Record]]], bodies: Collected, needles: Needles
) -> tuple[list[_Piece], int | None]:
    """The records of a segment as they are to be, and the number of the first that is another one."""
    found: list[_Piece] = []
    first: int | None = None
    at = 0
    for raw in data.split(b"\n"):
        for piece in records.pieces(raw) if raw else ():
            span, end = raw[piece.start : piece.end], at + piece.end + 1
            if piece.record is None or not _is_next(piece.record, bodies):
                if needles.hits(span):
                    first = len(found) if first is None else first
                else:
                    found.append((None, end, span + b"\n"))
                continue
            old, new = next(rows)
            if len(new) == 1 and new[0] is old:
                found.append((str(old.get("id")), end, span + b"\n"))
                bodies.named.update(digest for _, digest, _ in bodies_of(piece.record))
                continue
            first = len(found) if first is None else first
            found += [(str(each.get("id")), end, bodies.line(each)) for each in new]
        at += len(raw) + 1
    return found, first


def _is_next(record: Record, bodies: Collected) -> bool:
    """Whether readers of the log see this record: one whose body is lost is damaged."""
    return "bodies" not in record or bodies.is_whole(record)


def _joined(pieces: Sequence[_Piece], first: int, stone: Record) -> bytes:
    before = b"".join(line for _, _, line in pieces[:first])
    line = records.encode({**stone, "schema": SCHEMA})
    taken: set[int] = set()
    end = len(before) + len(line)
    for name, was, each in pieces[first:]:
        end += len(each)
        if name is not None:
            taken.add(was - end)
    pad = 0
    while pad in taken:
        pad += 1
    line = records.encode({**stone, "schema": SCHEMA}, len(line) + pad)
    return before + line + b"".join(each for _, _, each in pieces[first:])
