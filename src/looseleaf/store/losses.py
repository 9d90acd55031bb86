"""Losses: what a log that went back lacks, told in a sentence, journaled, and accepted by a person (FORMAT §4.5).

A loss is a journal record of the kind `back`; `accepted` names those that a person accepted by `repair`.
"""

from __future__ import annotations

import time

from looseleaf.base.errors import NotFound, Refused
from looseleaf.base.ids import is_id, new_id, time_of
from looseleaf.base.values import START, Position, Problem
from looseleaf.store import JOURNAL, JOURNAL_SCHEMA
from looseleaf.store.streams import stream_files

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from typing import Any

    from looseleaf.base.values import Record
    from looseleaf.store.ends import Ends, Point
    from looseleaf.store.protocol import Store
    from looseleaf.store.streams import Segments

BACK, ACCEPTED = "back", "accepted"
AS_IT_IS = "what is missing is accepted; the log counts as it is now"

TO_DO = "Put a copy of the file back, from an export or a backup, or accept the loss with `looseleaf repair`."
"""What a person can do about a loss; the end of each sentence on one."""


def find_loss(ends: Ends, segments: Segments, stream: str, points: Sequence[Point]) -> Record | None:
    """Return what is missing since the last point, as a journal record; None if records only moved, as repair moves
    them."""
    was = points[-1]
    agreeing = next((each for each in reversed(points) if _agrees_wholly(ends, stream, each)), None)
    moved = next((line for line in segments.read_back(stream) if line.record.get("id") == was.id), None)
    since = agreeing.id if agreeing is not None else None
    missing: int | None = None
    if moved is not None:
        now, last = moved.end, was.id
        lines = ends.sum(stream, now)[1]
        if was.lines and now.segment == was.position.segment:
            missing = was.lines - lines
            if missing <= 0:
                return None
        elif not was.lines:
            return None
    else:
        now, last = (START, None) if agreeing is None else (agreeing.position, agreeing.id)
        if was.lines and was.position.segment <= segments.active_number(stream_files(stream)[1]):
            kept = [
                line.record.get("id")
                for line in segments.read(stream, Position(was.position.segment, 0))
                if line.position.segment == was.position.segment and _is_before(line.record.get("id"), was.id)
            ]
            missing, since = max(was.lines - len(kept), 1), kept[-1] if kept else since
    return loss_record(stream, [*was.position, was.id], [*now, last], missing, _time_of(since))


def loss_record(
    stream: str, was: list[Any], now: list[Any], missing: int | None = None, since: float | None = None
) -> Record:
    """Return the journal record of a loss: where the stream was, the last place that agrees (segment, byte, id), how
    many records are missing, and the times between which they were recorded, if known."""
    record: Record = {"schema": JOURNAL_SCHEMA, "id": new_id(), "ts": time.time(), "kind": BACK}
    record |= {"stream": stream, "was": was, "now": now, "missing": missing}
    return record | {"since": since, "until": _time_of(was[2])}


def _agrees_wholly(ends: Ends, stream: str, point: Point) -> bool:
    """True if the log up to a point is the one that was there, byte for byte."""
    return ends.agrees(stream, point) and (
        point.sum is None or ends.sum(stream, point.position)[0] == point.sum
    )


def _is_before(name: Any, last: Any) -> bool:
    """True if a record was made no later than another, by their ids."""
    return isinstance(name, str) and isinstance(last, str) and name <= last


def _time_of(name: Any) -> float | None:
    return time_of(name) if isinstance(name, str) and is_id(name) else None


def told(loss: Record, *, is_gone: bool = False) -> str:
    """Return what is missing, in words, and what to do. `is_gone`: nothing of the log is there."""
    how = "is gone" if is_gone else "is older than before"
    missing, since, until = (loss.get(name) for name in ("missing", "since", "until"))
    many = (
        f"{missing} record{'s are' if missing != 1 else ' is'}" if isinstance(missing, int) else "records are"
    )
    them = "it" if missing == 1 else "them"
    when = " and ".join(_clock(each) for each in (since, until) if isinstance(each, (int, float)))
    said = "" if not when else f", recorded {'between' if ' and ' in when else 'until'} {when}"
    path = stream_files(str(loss["stream"]))[0]
    return (
        f"{path} {how}: {many} missing{said}. What was learned from {them} stays, and "
        f"what is said from now on is kept. {TO_DO}"
    )


def problem_of(loss: Record, *, is_gone: bool = False) -> Problem:
    path, _, message = told(loss, is_gone=is_gone).partition(" ")
    return Problem(path, None, f"this log {message.removesuffix('.')}")


def _clock(seconds: float) -> str:
    return time.strftime("%Y-%m-%d %H:%M:%S UTC", time.gmtime(seconds))


def check_ends(ends: Ends, segments: Segments, stream: str, *, is_damaged: bool = False) -> Iterator[Problem]:
    """Compare a stream with all that was remembered of it; recompute the checksums. `is_damaged`: damage was reported
    that explains other checksums."""
    try:
        path = stream_files(stream)[0]
    except Refused:
        return  # a file in the views that is no stream's
    points = ends.points(stream)
    if not points or all(_agrees_wholly(ends, stream, each) for each in points):
        return
    if ends.points(stream) != points or ends.is_missing(stream, points[-1]):
        return  # a forget or a repair came between; or the segment is named already
    loss = find_loss(ends, segments, stream, points) if not ends.agrees(stream, points[-1]) else None
    if loss is not None:
        yield problem_of(loss, is_gone=not segments.has_stream(stream))
    elif ends.agrees(stream, points[-1]) and not is_damaged:
        first = next(each for each in points if not _agrees_wholly(ends, stream, each))
        where = f"before byte {first.position.offset:,} of segment {first.position.segment}"
        message = f"records {where} are not the ones that were there; `looseleaf repair` accepts that"
        yield Problem(path, None, message)


def is_journaled(segments: Segments, loss: Record) -> bool:
    """True if the journal has a loss already, or if the log was put back meanwhile."""
    key = [loss["stream"], loss["was"]]
    known = ([line.record.get("stream"), line.record.get("was")] for line in segments.read_back(JOURNAL))
    return is_made_good(segments, loss) or key in known


def unaccepted(segments: Segments) -> list[Record]:
    """Return the journaled losses that no person accepted, and that were not made good by putting the log back."""
    found: dict[str, Record] = {}
    try:
        journal = [line.record for line in segments.read(JOURNAL)]
    except Refused:
        return []  # reported elsewhere
    for record in journal:
        if record.get("kind") == BACK:
            found[str(record.get("id"))] = record
        elif record.get("kind") == ACCEPTED:
            for name in record.get("losses", ()):
                found.pop(str(name), None)
    return [record for record in found.values() if not is_made_good(segments, record)]


def is_made_good(segments: Segments | Store, record: Record) -> bool:
    """True if the log was put back: the last record that was remembered is in its place again."""
    try:
        segment, offset, last = record["was"]
        line = segments.line_before(str(record["stream"]), Position(int(segment), int(offset)))
    except (KeyError, TypeError, ValueError):
        return False
    except NotFound:
        return True  # there is no such stream
    return line is not None and line.get("id") == last


def lost_place(store: Store, stream: str, place: Position, last: object) -> Record | None:
    """Return the loss of a stream that was read up to a place, if the record before it (None: any) is not there any
    more, and repair did not move it. Where it is there, this reads one line."""
    before = store.line_before(stream, place) if place.offset else {}
    if before is not None and (last is None or before.get("id") in (None, last)):
        return None
    records = [(line.record.get("id"), line.record.get("kind")) for line in store.read(stream)]
    if any(name == last for name, _ in records) and any(kind == "lost" for _, kind in records):
        return None
    return loss_record(stream, [*place, last], [*START, None])


def acceptance(losses: Sequence[Record], **more: Sequence[str]) -> Record:
    """Return the record by which a person accepts these losses; `more` of other kinds, by their names."""
    record: Record = {"schema": JOURNAL_SCHEMA, "id": new_id(), "ts": time.time(), "kind": ACCEPTED}
    return record | {"losses": [each["id"] for each in losses]} | more
