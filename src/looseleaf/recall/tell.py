"""Telling what was found: as a hit, with what became of what it says."""

from __future__ import annotations

import re
import time

from looseleaf.recall.hits import Hit
from looseleaf.recall.sources import TRACES
from looseleaf.recall.texts import fact_text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from looseleaf.core.ranking import Scored
    from looseleaf.index.protocol import Found, Index
    from looseleaf.recall.read import Read, Text
    from looseleaf.values import Fact

    Asking = list[tuple[Index, tuple[str, ...]]]
    """The indexes that are asked, each with the sources of which it has an older version."""


def hit_of(each: Scored, found: Found, text: Text, indexes: Asking, read: Read) -> tuple[Hit, Fact | None]:
    """The hit; and what is true now, if it says what is not."""
    status, later = found.status, None
    if found.kind in ("trace", "entry", "day"):
        past, is_part = _was(_told_in(found, text), indexes, read)
        if past is not None:
            status, later = "partly superseded" if is_part else "superseded", _instead(past, read)
    elif found.kind == "fact" and (fact := read.fact(found)) is not None and fact.superseded_by:
        later = _instead(fact, read)
    now = fact_text(later) if later is not None else ""
    return _made(each, found, text, status, now), later


def _made(each: Scored, found: Found, text: Text, status: str, now: str) -> Hit:
    return Hit(
        where=text.where,
        kind=found.kind,
        text=text.text,
        score=each.score,
        parts=each.parts,
        path=text.path,
        date=_date(found.ts),
        ts=found.ts,
        level=found.level or None,  # type: ignore[arg-type]
        status=status,
        now=now,
        topic=found.topic,
        agent=found.source.removeprefix(TRACES) if found.kind == "trace" else "",
        session=found.session if found.kind == "trace" else "",
        speaker=found.speaker or found.role,
        is_whole=True,
        tokens=0,
    )


def _was(name: str, indexes: Asking, read: Read) -> tuple[Fact | None, bool]:
    """The fact that a trace or an entry told, if it is true no longer; and whether it told what is true as well.
    The latest index knows it best."""
    for index, _ in reversed(indexes):
        fact_id, _, rest = index.over([name]).get(name, "").partition(" ")
        fact = read.facts(rest.removesuffix(" +")).get(fact_id) if fact_id else None
        if fact is not None:
            return (fact, rest.endswith(" +")) if fact.status == "superseded" else (None, False)
    return None, False


def _instead(fact: Fact, read: Read) -> Fact | None:
    """What is true now in place of a fact."""
    facts = read.facts(fact.topic)
    later: Fact | None = fact
    for _ in facts:
        if later is None or later.superseded_by is None:
            break
        later = facts.get(later.superseded_by)
    return later if later is not None and later.status == "current" else None


def fact_hit(fact: Fact, score: float) -> Hit:
    """A fact in place of what it replaced."""
    ts = fact.said_at or fact.recorded_at
    place = f"{fact.path}#{fact.line}-{fact.line}" if fact.path and fact.line else fact.path or ""
    return Hit(
        where=fact.id or "",
        kind="fact",
        text=fact_text(fact),
        score=score,
        parts={"instead": score},
        path=place,
        date=_date(ts),
        ts=ts,
        level=fact.level,
        status=fact.status,
        now="",
        topic=fact.topic,
        agent="",
        session="",
        speaker="",
        is_whole=True,
        tokens=0,
    )


def _told_in(found: Found, text: Text) -> str:
    """The trace or entry that it is, or (a line of a day) tells of."""
    if found.kind == "day":
        named = re.search(r"entry ([0-9A-Z]{26})\)", text.text)
        return named[1] if named is not None else ""
    return found.name.rpartition("/")[2]


def _date(ts: float | None) -> str:
    if ts is None:
        return ""
    at = time.gmtime(max(min(ts, 253_402_300_799.0), -62_135_596_800.0))
    return f"{at.tm_year:04d}-{at.tm_mon:02d}-{at.tm_mday:02d}"
