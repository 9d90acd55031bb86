"""The result of recall: hits, each with its place and why it was found; or none, and why.

Hits show the text at its source, never the index's copy.
"""

from __future__ import annotations

import re
import time

from looseleaf.base.errors import Refused
from looseleaf.base.immutable import frozen, members_of
from looseleaf.base.messages import Trace
from looseleaf.base.origins import LEVELS, level_of
from looseleaf.base.values import Position
from looseleaf.language.relations import relation_term
from looseleaf.language.terms import terms
from looseleaf.log.talk_streams import agent_of, machine_of
from looseleaf.recall.items import (
    RAW,
    ROLES,
    decode,
    escape_surrogates,
    fact_text,
    fact_time,
    speaker_of,
    summary_text,
    trace_text,
)
from looseleaf.text.diff import split_lines

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Iterable
    from typing import Any

    from looseleaf.base.values import Fact, Level
    from looseleaf.index.protocol import FoundItem, Index
    from looseleaf.recall.index_sync import Needs
    from looseleaf.recall.ranking import Scored
    from looseleaf.recall.truth import Truth
    from looseleaf.store.protocol import Store

    _Hits = tuple["Hit", ...]
else:
    _Hits = tuple


@frozen
class Hit:
    """One answer to a question. `where` opens it: a fact's or a trace's id, `page.md#5-9`, an entry.

    `text` is shortened around the question's words if there is not enough room. `status` is `superseded` for what was
    true once, `rejected` for what the user rejected, with `partly ` before it if the text also says something true;
    `now` says what is true instead, if anything is.
    """

    where: str
    kind: str
    text: str
    score: float
    parts: dict[str, float]
    path: str
    """The page and its lines (`USER.md#5-5`), or the log."""
    date: str
    """Its day, as an ISO date; "" if unknown."""
    ts: float | None
    level: Level | None
    status: str
    now: str = ""
    topic: str = ""
    agent: str = ""
    session: str = ""
    speaker: str = ""
    machine: str = ""
    """The machine that it was said on; "" for this one, and for pages and facts, which all share."""
    is_whole: bool = True
    tokens: int = 0
    """The cost of the text, if a budget was given."""
    layer: str = ""
    """The farther memory that it is from; "": the memory itself."""
    person: str = ""
    """Who said it, where several people are told apart."""

    def to_dict(self) -> dict[str, Any]:
        """Return the members, without empty ones."""
        parts = {name: round(part, 4) for name, part in self.parts.items()}
        found = members_of(self) | {"score": round(self.score, 4), "parts": parts}
        if not self.tokens:
            del found["tokens"]
        return {name: value for name, value in found.items() if value is not None and value != ""}

    @property
    def is_over(self) -> bool:
        """True if the text, or a part of it, is no longer true."""
        return self.status.endswith(("superseded", "rejected"))

    def rated(self, score: float) -> Hit:
        """Return the same hit with another score."""
        return Hit(**members_of(self) | {"score": score})

    def of_layer(self, layer: str) -> Hit:
        """Return the same hit with its layer, also in its places: `home:USER.md#5-5`."""
        if not layer:
            return self
        where, path = (f"{layer}:{each}" if each else "" for each in (self.where, self.path))
        return Hit(**members_of(self) | {"layer": layer, "where": where, "path": path})

    def but(self, *, text: str, tokens: int) -> Hit:
        """Return the same hit with another text."""
        is_whole = self.is_whole and text == self.text
        return Hit(**members_of(self) | {"text": text, "tokens": tokens, "is_whole": is_whole})


class Recalled(_Hits):
    """The hits, best first. `best`: how sure the best was, even if not sure enough; `why` there are none, or only such
    as a person said no to."""

    best: float
    why: str
    tokens: int

    def __new__(
        cls, hits: Iterable[Hit] = (), *, best: float = 0.0, why: str = "", tokens: int = 0
    ) -> Recalled:
        made = tuple.__new__(cls, hits)
        made.best, made.why, made.tokens = best, why, tokens
        return made

    def to_dict(self) -> dict[str, Any]:
        hits = [hit.to_dict() for hit in self]
        return {"hits": hits, "best": self.best, "why": self.why, "tokens": self.tokens}


@frozen
class HitText:
    """The text at a place and its details. `where` opens it, `path` names the page or log."""

    text: str
    where: str
    path: str
    ts: float | None = None
    level: Level | None = None
    speaker: str = ""
    session: str = ""
    person: str = ""


class HitReader:
    """Reads texts for one question, each once."""

    def __init__(self, store: Store, parts: Needs) -> None:
        self._store = store
        self._parts = parts
        self._lines: dict[str, tuple[str, ...]] = {}
        self._facts: dict[str, dict[str | None, Fact]] = {}

    def __call__(self, found: FoundItem) -> HitText | None:
        """Return the text of an indexed row, or None if it is gone."""
        try:
            match found.kind:
                case "trace":
                    return self._read_trace(found)
                case "fact":
                    fact = self.fact(found)
                    return HitText(fact_text(fact), found.name, fact.path or "") if fact is not None else None
                case "entry":
                    return self._read_entry(found)
            return self._read_page(found)
        except Refused:
            return None

    def trace(self, found: FoundItem) -> Trace | None:
        line = next(self._store.read(found.source, Position(found.segment, found.byte)), None)
        trace = Trace.from_record(line.record) if line is not None else None
        return trace if trace is not None and escape_surrogates(trace.id) == found.name else None

    def fetch(self, found: Iterable[FoundItem]) -> None:
        """Read the lines of these rows at once, where each is a way to a server."""
        self._store.fetch(
            (row.source, Position(row.segment, row.byte)) for row in found if row.kind == "trace"
        )

    def _read_trace(self, found: FoundItem) -> HitText | None:
        trace = self.trace(found)
        if trace is None:
            return None
        text = trace_text(trace)[found.first : found.last].strip()
        path = f"log/{found.source}"
        speaker = speaker_of(trace) or ROLES[trace.trace_type]
        person = trace.person or ""
        return HitText(
            text, trace.id, path, trace.ts, level_of(trace.origin), speaker, trace.session_id, person
        )

    def facts(self, topic: str) -> dict[str | None, Fact]:
        """Return all facts of a topic, by id."""
        if topic not in self._facts:
            known = self._parts.known
            known.catch_up()
            self._facts[topic] = {fact.id: fact for fact in known.of(topic)}
        return self._facts[topic]

    def topics(self) -> dict[str, tuple[int, int, int]]:
        """Return all topics with facts, each with a mark that changes with them."""
        self._parts.known.catch_up()
        return self._parts.known.topics

    def fact(self, found: FoundItem) -> Fact | None:
        return self.facts(found.topic).get(found.name)

    def is_true(self, found: FoundItem, as_of: float | None = None) -> bool:
        """True unless it is a fact that does not hold (at a time). The journal decides, not the index."""
        if found.kind != "fact":
            return True
        from looseleaf.facts.ledger import true_at

        return any(fact.id == found.name for fact in true_at(self.facts(found.topic).values(), as_of))

    def salience(self, found: FoundItem) -> float | None:
        """Return how much a fact matters, 0 to 1: the user's score, else its own salience."""
        fact = self.fact(found) if found.kind == "fact" else None
        if fact is None:
            return None
        return fact.user_fact_score / 10 if fact.user_fact_score is not None else fact.salience

    def _read_entry(self, found: FoundItem) -> HitText | None:
        from looseleaf.log.entries import read_entry

        entry = read_entry(self._store, found.name)
        path = f"{entry.folder}/{'raw.md' if found.segment == RAW else 'summary.json'}"
        if found.segment == RAW:
            document = self._store.get(path)
            text = decode(document.data if document is not None else None)
        else:
            text = summary_text(entry.summary)
        part = text[found.first : found.last].strip()
        level = next((each for each in LEVELS if each == entry.meta.get("trust")), LEVELS[0])
        person = str(entry.meta.get("person") or "")
        return HitText(part, entry.reference, path, found.ts, level, person=person) if part else None

    def _read_page(self, found: FoundItem) -> HitText | None:
        path = found.name
        if not path.endswith(".md") or path.startswith("review/"):
            return None  # the index should not hold this
        if path not in self._lines:
            self._lines[path] = split_lines(decode(self._parts.pages.absorb.head_bytes(path)))
        part = "".join(self._lines[path][max(found.first - 1, 0) : found.last]).strip()
        where = f"{path}#{found.first}-{found.last}"
        return HitText(part, where, where, found.ts) if part else None


if TYPE_CHECKING:
    Indexes = list[tuple[Index, tuple[str, ...]]]
    """The indexes to query, each with the sources that it holds an older version of."""


def hit_of(
    each: Scored,
    found: FoundItem,
    text: HitText,
    indexes: Indexes,
    read: HitReader,
    forms: Collection[str],
    truth: Truth | None = None,
    layer: str = "",
) -> tuple[Hit, list[Fact]]:
    """Return the hit, and what is true now if the hit is outdated. `forms`: the terms asked for. `truth`: of several
    layers, of which the hit is from `layer`; then each fact names its own."""
    fact = read.fact(found) if found.kind == "fact" else None
    if fact is not None:
        later = _find_instead(fact, read, truth, layer) if fact.superseded_by else None
        hit = fact_hit(fact, each.score, each.parts, now=fact_text(later) if later is not None else "")
        return hit, [later] if later is not None else []
    origin = origin_of(found, text)
    past, is_part = _find_past(origin, indexes, read)
    if truth is not None and origin:
        past = [*filter(truth.is_over, past), *truth.beaten(origin, layer)]
        is_part = bool(past) and truth.says_true(origin, layer, {fact.topic for fact in past})
    named = [each for each in past if _is_named(each, forms)]
    asked = named or [each for each in past if _is_asked(each, forms)] or past
    found_now = (_find_instead(old, read, truth, layer) for old in asked)
    true = [fact for fact in found_now if fact is not None]
    status = "rejected" if all(fact.status == "rejected" for fact in past) else "superseded"
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
        status=f"{'partly ' if is_part else ''}{status}" if past else "",
        now="; ".join(dict.fromkeys(map(fact_text, true))),
        topic=found.topic,
        agent=agent_of(found.source) if found.kind == "trace" else "",
        session=text.session,
        speaker=text.speaker,
        machine=machine_of(found.source),
        person=text.person,
    )
    return hit, true if any(_is_asked(old, forms) for old in past) else []


def _find_past(name: str, indexes: Indexes, read: HitReader) -> tuple[list[Fact], bool]:
    """Return the outdated facts from a trace or an entry, and whether a true one came from it as well. The latest index
    knows best."""
    for index, _ in reversed(indexes):
        rows = [row.partition(" ") for row in index.over(name)] if name else []
        facts = [read.facts(rest.removesuffix(" +")).get(fact_id) for fact_id, _, rest in rows]
        past = [fact for fact in facts if fact is not None and fact.status in ("superseded", "rejected")]
        if past:
            return past, any(rest.endswith(" +") for _, _, rest in rows) or len(past) < len(rows)
    return [], False


def _is_asked(fact: Fact, forms: Collection[str]) -> bool:
    """True if the question is about this fact: by its value, its relation, or the words around its value ("ich wohne
    in" before a town's name)."""
    before, is_there, _ = (fact.quote or "").casefold().partition(fact.object.casefold() or "\0")
    return _is_named(fact, forms) or (bool(is_there) and not set(terms(before)).isdisjoint(forms))


def _is_named(fact: Fact, forms: Collection[str]) -> bool:
    """True if the question has words of a fact's value or relation. The words around it may belong to others ("I live
    in Berlin and I work at Siemens")."""
    said = {*terms(fact.relation), *terms(fact.object), relation_term(fact.relation)}
    return not said.isdisjoint(forms)


def _find_successor(fact: Fact, read: HitReader) -> Fact | None:
    """Return the fact that is true now instead of this one."""
    facts = read.facts(fact.topic)
    later: Fact | None = fact
    for _ in facts:
        if later is None or later.superseded_by is None:
            break
        later = facts.get(later.superseded_by)
    return later if later is not None and later.status == "current" else None


def _find_instead(fact: Fact, read: HitReader, truth: Truth | None, layer: str) -> Fact | None:
    """Return the fact that is true now instead of this one, in all layers."""
    later = _find_successor(fact, read)
    if truth is None:
        return later
    return truth.find_instead(fact, later if later is not fact else None, layer)


def fact_hit(fact: Fact, score: float, parts: dict[str, float], now: str = "") -> Hit:
    """Make a hit of a fact, as the journal has it."""
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
        person=fact.person or "",
    )


def origin_of(found: FoundItem, text: HitText) -> str:
    """Return the trace or entry that a row is, or (a line of a day) refers to."""
    if found.kind in ("trace", "entry"):
        return found.name.rpartition("/")[2]
    named = re.search(r"entry ([0-9A-Z]{26})\)", text.text) if found.kind == "day" else None
    return named[1] if named is not None else ""


def date_of(ts: float | None) -> str:
    """Return the UTC day of a time; "" for None."""
    if ts is None:
        return ""
    at = time.gmtime(max(min(ts, 253_402_300_799.0), -62_135_596_800.0))
    return f"{at.tm_year:04d}-{at.tm_mon:02d}-{at.tm_mday:02d}"
