"""What recall gives back: hits, each with where it stands and why it was found; or nothing, and why."""

from __future__ import annotations

import re
import time

from looseleaf.base.errors import Refused
from looseleaf.base.immutable import frozen
from looseleaf.base.messages import Trace
from looseleaf.base.origins import LEVELS, level_of
from looseleaf.base.values import Position
from looseleaf.language.relations import relation_term
from looseleaf.language.terms import terms
from looseleaf.recall.index_sync import TRACES
from looseleaf.recall.items import (
    RAW,
    ROLES,
    decoded,
    fact_text,
    fact_time,
    speaker_of,
    summary_text,
    trace_text,
    writable,
)
from looseleaf.text.diff import split_lines

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Iterable
    from typing import Any, Protocol

    from looseleaf.base.values import Fact, Level
    from looseleaf.facts.known_facts import Facts
    from looseleaf.index.protocol import Found, Index
    from looseleaf.pages.pages import Pages
    from looseleaf.recall.ranking import Scored
    from looseleaf.store.protocol import Store

    class Needs(Protocol):
        @property
        def known(self) -> Facts: ...
        @property
        def pages(self) -> Pages: ...


# Reading what was found where it stands: nothing that is shown comes from the index.


@frozen
class Text:
    """What stands at a place, and is known of it there. `where` opens it, `path` says on which page or in which log."""

    text: str
    where: str
    path: str
    ts: float | None = None
    level: Level | None = None
    speaker: str = ""
    session: str = ""


class Read:
    """For one question: what it read once it does not read again."""

    def __init__(self, store: Store, parts: Needs) -> None:
        self._store = store
        self._parts = parts
        self._lines: dict[str, tuple[str, ...]] = {}
        self._facts: dict[str, dict[str | None, Fact]] = {}

    def __call__(self, found: Found) -> Text | None:
        """None: it is not there."""
        try:
            match found.kind:
                case "trace":
                    return self._trace(found)
                case "fact":
                    return self._fact(found)
                case "entry":
                    return self._entry(found)
            return self._page(found)
        except Refused:
            return None

    def trace(self, found: Found) -> Trace | None:
        line = next(self._store.read(found.source, Position(found.segment, found.byte)), None)
        trace = Trace.from_record(line.record) if line is not None else None
        return trace if trace is not None and writable(trace.id) == found.name else None

    def _trace(self, found: Found) -> Text | None:
        trace = self.trace(found)
        if trace is None:
            return None
        text = trace_text(trace)[found.first : found.last].strip()
        path = f"log/{found.source}"
        speaker = speaker_of(trace) or ROLES[trace.trace_type]
        return Text(text, trace.id, path, trace.ts, level_of(trace.origin), speaker, trace.session_id)

    def facts(self, topic: str) -> dict[str | None, Fact]:
        """All facts of a topic, by id."""
        if topic not in self._facts:
            known = self._parts.known
            known.catch_up()
            self._facts[topic] = {fact.id: fact for fact in known.of(topic)}
        return self._facts[topic]

    def fact(self, found: Found) -> Fact | None:
        return self.facts(found.topic).get(found.name)

    def salience(self, found: Found) -> float | None:
        """How much a fact matters, from 0 to 1: by a person's score, else by its own salience."""
        fact = self.fact(found) if found.kind == "fact" else None
        if fact is None:
            return None
        return fact.user_fact_score / 10 if fact.user_fact_score is not None else fact.salience

    def _fact(self, found: Found) -> Text | None:
        fact = self.fact(found)
        return Text(fact_text(fact), found.name, fact.path or "") if fact is not None else None

    def _entry(self, found: Found) -> Text | None:
        from looseleaf.log.entries import FOLDER, read_entry

        entry = read_entry(self._store, found.name)
        path = f"{FOLDER}/{entry.reference}/{'raw.md' if found.segment == RAW else 'summary.json'}"
        if found.segment == RAW:
            document = self._store.get(path)
            text = decoded(document.data if document is not None else None)
        else:
            text = summary_text(entry.summary)
        part = text[found.first : found.last].strip()
        level = next((each for each in LEVELS if each == entry.meta.get("trust")), LEVELS[0])
        return Text(part, entry.reference, path, found.ts, level) if part else None

    def _page(self, found: Found) -> Text | None:
        path = found.name
        if not path.endswith(".md") or path.startswith("review/"):
            return None  # whoever wrote the index, this is nothing to be found
        if path not in self._lines:
            self._lines[path] = split_lines(decoded(self._parts.pages.absorb.head_bytes(path)))
        part = "".join(self._lines[path][max(found.first - 1, 0) : found.last]).strip()
        where = f"{path}#{found.first}-{found.last}"
        return Text(part, where, where, found.ts) if part else None


if TYPE_CHECKING:
    _Hits = tuple["Hit", ...]
else:
    _Hits = tuple


@frozen
class Hit:
    """One thing that bears on the question. `where` opens it: a fact's or a trace's id, `page.md#5-9`, an entry.

    `text` is what stands there, shortened around what was asked for if there is no room for all of it. `status` is
    `superseded` for what was true and is not any more, `rejected` for what a person said no to, with `partly ` before
    it for words that say what is true as well; `now` says what is true instead, if something is.
    """

    where: str
    kind: str
    text: str
    score: float
    parts: dict[str, float]
    path: str
    """The page and its lines (`USER.md#5-5`), or the log in which it stands."""
    date: str
    """The day that it is from, as an ISO date; "" if nobody knows."""
    ts: float | None
    level: Level | None
    status: str
    now: str
    topic: str
    agent: str
    session: str
    speaker: str
    is_whole: bool
    tokens: int
    """What the text costs, if a budget was given."""

    def to_dict(self) -> dict[str, Any]:
        """Members that say nothing are left out."""
        found = {name: getattr(self, name) for name in type(self).__match_args__}
        found |= {
            "score": round(self.score, 4),
            "parts": {name: round(part, 4) for name, part in self.parts.items()},
        }
        if not self.tokens:
            del found["tokens"]
        return {name: value for name, value in found.items() if value is not None and value != ""}

    @property
    def is_over(self) -> bool:
        """Whether what it says, or a part of it, is true no longer."""
        return self.status.endswith(("superseded", "rejected"))

    def but(self, *, text: str, tokens: int) -> Hit:
        """The same hit with another text, of which that is known."""
        values = {name: getattr(self, name) for name in type(self).__match_args__}
        return Hit(
            **values | {"text": text, "tokens": tokens, "is_whole": self.is_whole and text == self.text}
        )


class Recalled(_Hits):
    """The hits, best first. `best`: how sure the best was, also if it was not sure enough; `why` there is none."""

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
        return {
            "hits": [hit.to_dict() for hit in self],
            "best": self.best,
            "why": self.why,
            "tokens": self.tokens,
        }


# Telling what was found: as a hit, with what became of what it says.

if TYPE_CHECKING:
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
