"""Telling what was found: as a hit, with what became of what it says."""

from __future__ import annotations

import re
import time

from looseleaf.language.asked_relations import relation_term
from looseleaf.language.terms import terms
from looseleaf.recall.hits import Hit
from looseleaf.recall.sources import TRACES
from looseleaf.recall.texts import fact_text, fact_time

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection

    from looseleaf.base.values import Fact
    from looseleaf.index.protocol import Found, Index
    from looseleaf.recall.ranking import Scored
    from looseleaf.recall.read import Read, Text

    Asking = list[tuple[Index, tuple[str, ...]]]
    """The indexes that are asked, each with the sources of which it has an older version."""


def hit_of(
    each: Scored, found: Found, text: Text, indexes: Asking, read: Read, forms: Collection[str]
) -> tuple[Hit, list[Fact]]:
    """The hit; and what is true now, if it says what is not. `forms`: the terms that were asked for."""
    fact = read.fact(found) if found.kind == "fact" else None
    if fact is not None:
        later = _instead(fact, read) if fact.superseded_by else None
        hit = fact_hit(fact, each.score, each.parts, now=fact_text(later) if later is not None else "")
        return hit, [later] if later is not None else []
    past, is_part = _past(_told_in(found, text), indexes, read)
    named = [each for each in past if _is_named(each, forms)]
    asked = named or [each for each in past if _is_asked(each, forms)] or past
    true = [fact for fact in (_instead(old, read) for old in asked) if fact is not None]
    status = ("partly " if is_part else "") + _worst(past) if past else ""
    hit = Hit(
        where=text.where,
        kind=found.kind,
        text=text.text,
        score=each.score,
        parts=each.parts,
        path=text.path,
        date=date_of(text.ts),
        ts=text.ts,
        level=text.level,
        status=status,
        now="; ".join(dict.fromkeys(map(fact_text, true))),
        topic=found.topic,
        agent=found.source.removeprefix(TRACES) if found.kind == "trace" else "",
        session=text.session,
        speaker=text.speaker,
        is_whole=True,
        tokens=0,
    )
    return hit, true if any(_is_asked(old, forms) for old in past) else []


def _past(name: str, indexes: Asking, read: Read) -> tuple[list[Fact], bool]:
    """The facts that a trace or an entry told and that are true no longer; and whether it told what is true as well.
    The latest index knows it best."""
    for index, _ in reversed(indexes):
        rows = [row.partition(" ") for row in index.over(name)] if name else []
        facts = [read.facts(rest.removesuffix(" +")).get(fact_id) for fact_id, _, rest in rows]
        past = [fact for fact in facts if fact is not None and fact.status in ("superseded", "rejected")]
        if past:
            return past, any(rest.endswith(" +") for _, _, rest in rows) or len(past) < len(rows)
    return [], False


def _worst(past: Collection[Fact]) -> str:
    return "rejected" if all(fact.status == "rejected" for fact in past) else "superseded"


def _is_asked(fact: Fact, forms: Collection[str]) -> bool:
    """Whether a fact is what the question is about: by what it says, by what it is called, or by the words that said so
    ("ich wohne in" before the name of a town)."""
    before, is_there, _ = (fact.quote or "").casefold().partition(fact.object.casefold() or "\0")
    return _is_named(fact, forms) or (bool(is_there) and not set(terms(before)).isdisjoint(forms))


def _is_named(fact: Fact, forms: Collection[str]) -> bool:
    """Whether a question has words of what a fact says, or what it is called. The words around it may say others too
    ("I live in Berlin and I work at Siemens")."""
    said = {*terms(fact.relation), *terms(fact.object), relation_term(fact.relation)}
    return not said.isdisjoint(forms)


def _instead(fact: Fact, read: Read) -> Fact | None:
    """What is true now in place of a fact."""
    facts = read.facts(fact.topic)
    later: Fact | None = fact
    for _ in facts:
        if later is None or later.superseded_by is None:
            break
        later = facts.get(later.superseded_by)
    return later if later is not None and later.status == "current" else None


def fact_hit(fact: Fact, score: float, parts: dict[str, float], now: str = "") -> Hit:
    """A fact, as the journal has it."""
    ts = fact_time(fact)
    place = f"{fact.path}#{fact.line}-{fact.line}" if fact.path and fact.line else fact.path or ""
    return Hit(
        where=fact.id or "",
        kind="fact",
        text=fact_text(fact),
        score=score,
        parts=parts,
        path=place,
        date=date_of(ts),
        ts=ts,
        level=fact.level,
        status=fact.status,
        now=now,
        topic=fact.topic,
        agent="",
        session="",
        speaker="",
        is_whole=True,
        tokens=0,
    )


def _told_in(found: Found, text: Text) -> str:
    """The trace or entry that it is, or (a line of a day) tells of."""
    if found.kind in ("trace", "entry"):
        return found.name.rpartition("/")[2]
    named = re.search(r"entry ([0-9A-Z]{26})\)", text.text) if found.kind == "day" else None
    return named[1] if named is not None else ""


def date_of(ts: float | None) -> str:
    """The day of a time, in UTC; "" for none."""
    if ts is None:
        return ""
    at = time.gmtime(max(min(ts, 253_402_300_799.0), -62_135_596_800.0))
    return f"{at.tm_year:04d}-{at.tm_mon:02d}-{at.tm_mday:02d}"
