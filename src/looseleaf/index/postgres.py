"""An index in PostgreSQL, of one memory: plain tables with B-trees, which row security leaves usable.

It holds terms, words and places, and the words of what was said, but no text. Each call is one round trip; in a block
`look`, what a question needs at first is read once, and what was found is remembered. A `change` sends what it takes
with its next question, or its end.
"""

from __future__ import annotations

import math
import os
import re
import threading
import time
from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING

import psycopg

from looseleaf.base.errors import Refused
from looseleaf.index.choosing import (
    ALIKE,
    DEEPER,
    FORMS,
    HOLDING,
    LETTERS,
    SPEAKERS,
    SPELT,
    choose_words,
)
from looseleaf.index.protocol import Corpus, Doc, FoundItem, Only
from looseleaf.store.postgres.database import AWAY_SECONDS, is_away

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from typing import Any

    from looseleaf.index.protocol import IndexItem, SaidLine
    from looseleaf.index.said import Part
    from looseleaf.store.postgres.database import Database, Wire

FEW = 2000
"""Items of a memory that has no postings: reading them takes a few milliseconds, and postings would take more room than
all the rest."""

WAITING = 64
"""Items of a larger memory that may wait for their postings: together they cost a fraction of what they cost one by
one, and a process reads what it does not know yet with its next look."""

_LINES = 1000
"""Lines to look up at once."""

_NO_LINE = 2**31 - 1
"""More than any line's number."""

_SURE = 100
"""Characters of a name that its key has, however long the name is."""

_REACH = 2
"""Neighbors that come with the candidates: most questions need them next."""

_PAUSE = 0.1

_TAKE = (
    "SELECT looseleaf.take(%s, %s, %s, %s, %s, %s, %s, %s, "
    "%s::text[], %s::text[], %s::text[], %s::int[], %s::bigint[], %s::text[], %s::text[], %s::text[], %s::float8[], "
    "%s::text[], %s::text[], %s::text[], %s::int[], %s::bigint[], %s::int[], %s::int[], "
    "%s::text[], %s::text[], %s::int[], %s::bigint[], %s::text[])"
)
_ONLY = "%s::text[], %s, %s, %s::float8, %s::float8, %s, %s::text[]"
_LOOK = "SELECT * FROM looseleaf.look(%s, %s, %s, %s, %s)"
_CANDIDATES = (
    "SELECT * FROM looseleaf.candidates(%s, %s::text[], %s::float8[], %s, %s::float8, %s::int[], %s::float8[], %s, %s, "
    f"%s, %s, {_ONLY})"
)
_WITHIN = f"SELECT * FROM looseleaf.within(%s, %s::float8, %s::float8, %s, {_ONLY})"
_BY_HASH = f"SELECT * FROM looseleaf.by_hash(%s, %s::bigint[], {_ONLY})"
_SAID = "SELECT * FROM looseleaf.said(%s, %s, %s::text[], %s, %s, %s)"


class PostgresIndex:
    """An `Index` of one memory. Threads share it; a block of a thread is its own."""

    few, waiting = FEW, WAITING

    def __init__(self, database: Database, memory: int) -> None:
        self._database = database
        self._memory = memory
        self._here = _Here()
        self._waiting = Waiting()
        self._spellings = Spellings()

    # --- sending ---------------------------------------------------------------------------

    def _ask(self, query: str, *values: object) -> list[tuple[Any, ...]]:
        """Return the rows of a query about this memory: one round trip, with all that waits to be sent."""
        wire = self._here.wire
        if wire is None:
            return self._database.run(self._memory, query, (self._memory, *values))
        self._database.trips += 1
        try:
            cursor = wire.execute(query.encode(), (self._memory, *values), binary=True)
            return cursor.fetchall()
        except psycopg.Error as error:
            raise self._database.explain(error) from error

    def _do(self, query: str, *values: object) -> None:
        """Do what changes the index; in a block, with the next question or its end."""
        self._here.seen = None if self._here.seen is None else Seen()
        wire = self._here.wire
        if wire is None:
            # A second attempt, after an answer was lost, finds the number of the act and does nothing.
            self._database.run(self._memory, query, (self._memory, *values))
            return
        try:
            wire.execute(query.encode(), (self._memory, *values))
        except psycopg.Error as error:
            raise self._database.explain(error) from error

    @contextmanager
    def change(self) -> Iterator[None]:
        """Do all of the block or nothing, alone: another one waits until this has ended."""
        here = self._here
        if here.wire is not None:
            yield
            return
        with ExitStack() as held:
            here.wire, here.waiting = self._begin(held), Waiting()
            if here.seen is not None:
                here.seen = Seen()
            try:
                yield
            except BaseException:
                if here.seen is not None:
                    here.seen = Seen()
                raise
            finally:
                here.wire = here.waiting = None
            self._database.trips += 1

    def _begin(self, held: ExitStack) -> Wire:
        """Begin a transaction that has the index alone, in one round trip; wait while the server is away."""
        deadline = time.monotonic() + AWAY_SECONDS
        while True:
            self._database.trips += 1
            try:
                with ExitStack() as trying:
                    wire = trying.enter_context(self._database.wire())
                    trying.enter_context(_explained(self._database))
                    trying.enter_context(wire.pipeline())
                    trying.enter_context(self._database.transaction(self._memory, wire))
                    wire.execute("SELECT looseleaf.lock_index(%s)", (self._memory,)).fetchall()
                    held.enter_context(trying.pop_all())
                    return wire
            except Refused as refused:
                if not is_away(refused.__cause__) or time.monotonic() > deadline:
                    raise
            time.sleep(_PAUSE)

    @contextmanager
    def look(self) -> Iterator[None]:
        """A block for one question: marks of logs, mean lengths and speakers are read once, at the first need."""
        here = self._here
        if here.seen is not None:
            yield
            return
        here.seen = Seen()
        try:
            yield
        finally:
            here.seen = None

    def _look(self) -> Seen:
        """Return what a question needs first; outside of a block, each time anew."""
        seen = self._here.seen
        if seen is None or not seen.is_read:
            # What a change has not committed yet is known to it alone.
            waiting = self._here.waiting or self._waiting
            with waiting.alone:
                row = self._ask(_LOOK, waiting.making, waiting.cut, waiting.last, SPEAKERS)[0]
                seen = seen if seen is not None else Seen()
                seen.read(row, waiting)
        return seen

    # --- changing --------------------------------------------------------------------------

    def take(
        self,
        source: str,
        mark: str,
        items: Iterable[IndexItem],
        *,
        anew: bool = False,
        over: Iterable[tuple[str, str]] = (),
        said: Iterable[SaidLine] = (),
    ) -> None:
        rows, lines, ended = list(items), list(said), list(over)
        self._do(
            _TAKE,
            _random_act(),
            plain(source),
            plain(mark),
            anew,
            is_talk(source),
            self.few,
            self.waiting,
            [plain(item.kind) for item in rows],
            [plain(item.name) for item in rows],
            [plain(" ".join(item.terms)) for item in rows],
            _numbers(len(item.terms) for item in rows),
            _numbers(item.hash for item in rows),
            [plain(item.session) for item in rows],
            [plain(item.speaker) for item in rows],
            [plain(item.role) for item in rows],
            [_time(item.ts) for item in rows],
            [plain(item.level) for item in rows],
            [plain(item.status) for item in rows],
            [plain(item.topic) for item in rows],
            _numbers(item.segment for item in rows),
            _numbers(item.byte for item in rows),
            _numbers(item.first for item in rows),
            _numbers(item.last for item in rows),
            [plain(trace) for trace, _ in ended],
            [plain(fact) for _, fact in ended],
            _numbers(segment for segment, _, _ in lines),
            _numbers(byte for _, byte, _ in lines),
            [f" {plain(words)} " for _, _, words in lines],
        )

    def drop(self, source: str) -> None:
        self._do(
            "SELECT looseleaf.drop_source(%s, %s, %s, %s)", _random_act(), plain(source), is_talk(source)
        )

    def clear(self) -> None:
        """Remove everything: the index is made anew."""
        self._do("SELECT looseleaf.clear_index(%s)")

    # --- marks -----------------------------------------------------------------------------

    def mark(self, source: str) -> str:
        seen = self._here.seen
        if seen is not None and ":" not in source:
            return self._look().marks.get(source, "")
        return self.marks_of((source,)).get(source, "")

    def marks_of(self, sources: Iterable[str]) -> dict[str, str]:
        names = list(dict.fromkeys(sources))
        if self._here.seen is not None and not any(":" in name for name in names):
            marks = self._look().marks
            return {name: marks[name] for name in names if marks.get(name)}
        if not names:
            return {}
        rows = self._ask(
            "SELECT s.name, s.mark FROM unnest(looseleaf.sources_named(%s, %s::text[])) AS u (source) "
            "JOIN looseleaf.sources s ON s.memory = %s AND s.source = u.source WHERE s.mark <> ''",
            [plain(name) for name in names],
            self._memory,
        )
        return {original(name): original(mark) for name, mark in rows}

    def marks(self, begin: str) -> dict[str, str]:
        first = plain(begin)[:_SURE]
        rows = self._ask(
            "SELECT name, mark FROM looseleaf.sources WHERE memory = %s AND key >= %s AND key < %s",
            first,
            first[:-1] + chr(ord(first[-1]) + 1),
        )
        found = {original(name): original(mark) for name, mark in rows}
        return {name: mark for name, mark in found.items() if name.startswith(begin)}

    # --- words -----------------------------------------------------------------------------

    def corpus(self, terms: Iterable[str]) -> Corpus:
        wanted = sorted(set(terms))
        seen = self._look()
        known = self._frequencies(seen, wanted)
        df = {term: count for term in wanted if (count := known[term])}
        means = {sort: terms / items for sort, (items, terms) in seen.means.items()}
        return Corpus(seen.items, seen.terms, df, means)

    def _frequencies(self, seen: Seen, terms: Iterable[str]) -> dict[str, int]:
        """Return in how many items these terms stand."""
        known = seen.frequencies
        unknown = [term for term in terms if term not in known]
        if unknown:
            known |= seen.waiting.count(unknown)
            if seen.posted:
                query = "SELECT term, items FROM looseleaf.frequencies(%s, %s::text[])"
                for term, items in self._ask(query, [plain(term) for term in unknown]):
                    known[original(term)] += items
        return known

    def spelt_like(self, term: str) -> list[str]:
        seen = self._look()
        known = self._known_spellings(seen)
        return self._still_there(seen, known, known.like(term, seen.waiting.text(), SPELT))

    def holding(self, part: str) -> list[str]:
        seen = self._look()
        known = self._known_spellings(seen)
        return self._still_there(seen, known, known.holding(part, seen.waiting.text(), HOLDING))

    def _still_there(self, seen: Seen, known: Spellings, terms: list[str]) -> list[str]:
        """Return those that an item has: some words may have left since they were read."""
        if not terms or (known.erased == seen.erased and known.making in (0, seen.making)):
            return terms
        often = self._frequencies(seen, terms)
        return [term for term in terms if often[term]]

    def _known_spellings(self, seen: Seen) -> Spellings:
        """Return the posted terms of this memory: those that are new are read."""
        known = self._spellings if self._here.wire is None else Spellings()
        with known.alone:
            if not known.is_of(seen) and seen.word:
                query = "SELECT * FROM looseleaf.vocabulary(%s, %s, %s, %s)"
                after = known.after(seen)
                making, erased, word, terms = self._ask(query, after, *LETTERS)[0]
                if after and making != known.making:  # made anew at this moment
                    after = 0
                    making, erased, word, terms = self._ask(query, after, *LETTERS)[0]
                known.take(making, erased, word, terms, is_all=not after)
        return known

    # --- items -----------------------------------------------------------------------------

    def candidates(self, terms: Mapping[str, int], only: Only, limit: int) -> list[Doc]:
        seen = self._look() if any(terms.values()) else Seen()
        chosen, needed = choose_words(terms, seen.items)
        if not chosen or limit < 1:
            return []
        weights = {term: _rarity(seen.items, terms[term]) for term in chosen}
        mean = max(seen.terms / max(seen.items, 1), 1e-9)
        waiting = seen.waiting.score(weights, needed, mean)
        if not seen.posted and not waiting:
            return []
        rows = self._ask(
            _CANDIDATES,
            [plain(term) for term in chosen] if seen.posted else [],
            list(weights.values()) if seen.posted else [],
            plain(needed) if needed else None,
            mean,
            _numbers(waiting),
            list(waiting.values()),
            limit,
            ALIKE,
            DEEPER,
            _REACH if self._here.seen is not None else 0,
            *_filter(only),
        )
        docs = _docs(rows)
        beside = next((at for at, row in enumerate(rows) if row[0] < 0), len(rows))
        if self._here.seen is not None:
            self._here.seen.learn_neighbors(docs, beside)
        return docs[:beside]

    def within(self, first: float, last: float, only: Only, limit: int) -> list[Doc]:
        return _docs(self._ask(_WITHIN, float(first), float(last), limit, *_filter(only)))

    def near(self, docs: Sequence[Doc], reach: int) -> list[Doc]:
        seen = self._here.seen
        is_known = seen is not None and reach <= _REACH
        known = [doc for doc in docs if is_known and seen is not None and doc.id in seen.surrounded]
        found = seen.neighbors_of(known, reach, {doc.id for doc in docs}) if seen is not None else []
        stretches = _stretches([doc for doc in docs if doc not in known], reach)
        if stretches:
            rows = self._ask(
                "SELECT * FROM looseleaf.near(%s, %s::int[], %s::int[], %s::int[], %s::int[])",
                *(_numbers(column) for column in zip(*stretches, strict=True)),
                _numbers({doc.id for doc in (*docs, *found)}),
            )
            found += _docs(rows)
        return found

    def by_hash(self, hashes: Sequence[int], only: Only) -> list[Doc]:
        return _docs(self._ask(_BY_HASH, _numbers(hashes), *_filter(only))) if hashes else []

    def found(self, ids: Sequence[int]) -> list[FoundItem]:
        seen = self._here.seen if self._here.seen is not None else Seen()
        unknown = [each for each in dict.fromkeys(ids) if each not in seen.rows]
        if unknown:
            for row in self._ask("SELECT * FROM looseleaf.found(%s, %s::int[])", _numbers(unknown)):
                seen.rows[row[0]] = _found_of(row)
        return [seen.rows[each] for each in ids if each in seen.rows]

    def speakers(self, agent: str = "") -> list[str]:
        names = self._look().speakers
        if not agent or not names:
            return names
        rows = self._ask(
            "SELECT DISTINCT name FROM looseleaf.speakers "
            "WHERE memory = %s AND source = ANY (looseleaf.sources_of(%s, %s))",
            self._memory,
            plain(agent),
        )
        own = {original(name) for (name,) in rows}
        return [name for name in names if name in own]

    def over(self, name: str) -> list[str]:
        seen = self._here.seen if self._here.seen is not None else Seen()
        if name not in seen.over:
            # The caller asks for one of the found items after the other.
            names = [name, *(row.name for row in seen.rows.values() if row.kind in ("trace", "entry"))]
            seen.over |= {each: [] for each in names}
            query = (
                "SELECT u.name, p.fact FROM (SELECT %s::bigint AS memory) m CROSS JOIN unnest(%s::text[]) AS u (name) "
                "JOIN looseleaf.past p ON p.memory = m.memory AND p.trace = looseleaf.key_of(u.name) ORDER BY p.key"
            )
            asked = {plain(each): each for each in names}
            for each, fact in self._ask(query, list(asked)):
                seen.over[asked[each]].append(original(fact))
        return seen.over[name]

    def trace(self, name: str) -> FoundItem | None:
        query = (
            "SELECT * FROM looseleaf.found(%s, ARRAY(SELECT min(item) FROM looseleaf.items "
            "WHERE memory = %s AND kind = 'trace' AND name = %s))"
        )
        return next((_found_of(row) for row in self._ask(query, self._memory, plain(name))), None)

    def hashes(self, after: int, limit: int) -> Iterator[tuple[int, int]]:
        query = (
            "SELECT item, hash FROM looseleaf.items WHERE memory = %s AND item > %s ORDER BY item LIMIT %s"
        )
        return iter([(row[0], row[1]) for row in self._ask(query, after, limit)])

    def hashes_of(self, ids: Sequence[int]) -> dict[int, int]:
        query = "SELECT item, hash FROM looseleaf.items WHERE memory = %s AND item = ANY (%s::int[])"
        return {row[0]: row[1] for row in self._ask(query, _numbers(ids))} if ids else {}

    def last(self) -> int:
        rows = self._ask("SELECT coalesce(max(item), 0) FROM looseleaf.items WHERE memory = %s")
        return int(rows[0][0])

    # --- what was said, word for word ------------------------------------------------------

    def lines_with(self, parts: Sequence[Part], source: str) -> Iterator[tuple[int, int]] | None:
        if not parts:
            return None
        first = self._said(parts, source, _NO_LINE)
        return self._read_lines(parts, source, first) if not first[0] else None

    def _read_lines(
        self, parts: Sequence[Part], source: str, rows: tuple[Any, ...]
    ) -> Iterator[tuple[int, int]]:
        while rows[1]:
            yield from zip(rows[2], rows[3], strict=True)
            if len(rows[1]) < _LINES:
                return
            rows = self._said(parts, source, rows[1][-1])

    def sources_with(self, parts: Sequence[Part]) -> set[str] | None:
        if not parts:
            return None
        rows = self._said(parts, None, _NO_LINE)
        return {original(name) for name in rows[4] or ()} if not rows[0] else None

    def _said(self, parts: Sequence[Part], source: str | None, before: int) -> tuple[Any, ...]:
        asked = [f"{' ' * part.begins}{part.text}{' ' * part.ends}" for part in parts]
        named = None if source is None else plain(source)
        return self._ask(_SAID, named, [plain(part) for part in asked], before, _LINES, FORMS)[0]

    # --- the rest --------------------------------------------------------------------------

    def faults(self) -> list[str]:
        """Check the whole index; return what is wrong."""
        return [str(row[0]) for row in self._ask("SELECT looseleaf.index_faults(%s)")]

    def close(self) -> None:
        """The connections are the database's: nothing is held between calls."""
        self._waiting, self._spellings = Waiting(), Spellings()


@contextmanager
def _explained(database: Database) -> Iterator[None]:
    """Make a sentence of the errors in the last answers of a pipeline."""
    try:
        yield
    except psycopg.Error as error:
        raise database.explain(error) from error


class Seen:
    """What a question has read so far: it asks nothing twice."""

    __slots__ = (
        "erased",
        "frequencies",
        "is_read",
        "making",
        "marks",
        "means",
        "over",
        "places",
        "posted",
        "rows",
        "speakers",
        "surrounded",
        "waiting",
        "word",
    )

    def __init__(self) -> None:
        self.is_read = False
        self.making = self.erased = self.posted = self.word = 0
        self.marks: dict[str, str] = {}
        self.means: dict[tuple[str, str], tuple[int, int]] = {}
        self.speakers: list[str] = []
        self.frequencies: dict[str, int] = {}
        self.rows: dict[int, FoundItem] = {}
        self.over: dict[str, list[str]] = {}
        self.places: dict[tuple[int | None, int], Doc] = {}
        self.surrounded: set[int] = set()
        """Items whose neighbors are known."""
        self.waiting = Waiting()

    def read(self, row: tuple[Any, ...], waiting: Waiting) -> None:
        """Take in what a look told, and add to what waits for its postings."""
        making, erased, cut, posted, word, names, marks, kinds, roles, items, terms, speakers, *new = row
        self.is_read = True
        self.making, self.erased, self.posted, self.word = making or 0, erased or 0, posted or 0, word or 0
        self.marks = dict(zip(map(original, names or ()), map(original, marks or ()), strict=True))
        sorts = zip(map(original, kinds or ()), map(original, roles or ()), strict=True)
        self.means = dict(zip(sorts, zip(items or (), terms or (), strict=True), strict=True))
        self.speakers = [original(name) for name in speakers]
        self.waiting = waiting
        waiting.take(self.making, cut or 0, self.posted, new[0] or (), new[1] or ())

    def learn_neighbors(self, docs: Sequence[Doc], first: int) -> None:
        """Remember where items stand, and that the neighbors of the first of them are among them."""
        self.places |= {(doc.session, doc.seq): doc for doc in docs if doc.session is not None}
        self.surrounded.update(doc.id for doc in docs[:first])

    def neighbors_of(self, docs: Sequence[Doc], reach: int, without: set[int]) -> list[Doc]:
        steps = [step for step in range(-reach, reach + 1) if step]
        places = ((doc.session, doc.seq + step) for doc in docs for step in steps)
        near = (doc for place in places if (doc := self.places.get(place)) is not None)
        return list({doc.id: doc for doc in near if doc.id not in without}.values())

    @property
    def items(self) -> int:
        return sum(items for items, _ in self.means.values())

    @property
    def terms(self) -> int:
        return sum(terms for _, terms in self.means.values())


class _Here(threading.local):
    """What a thread has open: the connection of its change, and what its question has read."""

    wire: Wire | None = None
    waiting: Waiting | None = None
    seen: Seen | None = None


# --- items that are not posted -------------------------------------------------------------


class Waiting:
    """The terms of the items that have no postings, in the process: a few thousand at most. Threads share it."""

    def __init__(self) -> None:
        self.alone = threading.RLock()
        self.making = self.cut = self.last = self._posted = 0
        self._items: dict[int, list[str]] = {}
        self._places: dict[str, list[int]] = {}
        self._text: str | None = None

    def take(self, making: int, cut: int, posted: int, items: Sequence[int], terms: Sequence[str]) -> None:
        """Add items; without those that are posted by now, and without all if one was removed."""
        if (making, cut) != (self.making, self.cut):
            self._items, self._places = {}, {}
            self.making, self.cut, self.last = making, cut, 0
        elif posted != self._posted:
            self._items = {item: words for item, words in self._items.items() if item > posted}
            self._places = {}
            self._place(self._items)
        self._posted = posted
        new = {
            item: original(each).split(" ") if each else [] for item, each in zip(items, terms, strict=True)
        }
        if new:
            self._items |= new
            self._place(new)
            self.last = max(self.last, *new)
        self._text = None

    def _place(self, items: Mapping[int, list[str]]) -> None:
        for item, terms in items.items():
            for term in set(terms):
                self._places.setdefault(term, []).append(item)

    def count(self, terms: Iterable[str]) -> dict[str, int]:
        with self.alone:
            return {term: len(self._places.get(term, ())) for term in terms}

    def score(self, weights: Mapping[str, float], needed: str, mean: float) -> dict[int, float]:
        """Return what the order of candidates gives each item that has one of these terms; or `needed` and another."""
        found: dict[int, float] = {}
        with self.alone:
            often: dict[int, int] = {}
            for term, weight in weights.items():
                for item in self._places.get(term, ()):
                    terms = self._items[item]
                    tf = terms.count(term)
                    score = weight * tf * 2.2 / (tf + 0.3 + 0.9 * len(terms) / mean)
                    found[item] = found.get(item, 0.0) + score
                    often[item] = often.get(item, 0) + 1
            if needed:
                have = set(self._places.get(needed, ()))
                found = {item: score for item, score in found.items() if item in have and often[item] > 1}
        return found

    def text(self) -> str:
        """Return the terms that may be other spellings, each on a line."""
        with self.alone:
            if self._text is None:
                fewest, most = LETTERS
                terms = (term for term in self._places if fewest <= len(term) <= most)
                self._text = "".join(f"\n{term}" for term in terms) + "\n"
            return self._text


# --- other spellings -----------------------------------------------------------------------


class Spellings:
    """The posted terms of a memory, in the process: a term that is spelt alike is found by searching one long text.

    It is only added to, by the numbers of words, until many have left.
    """

    def __init__(self) -> None:
        self.alone = threading.RLock()
        self.making = self.erased = self.word = 0
        self._text = "\n"

    def is_of(self, seen: Seen) -> bool:
        """True if it has all words of this state of the index."""
        return self.word >= seen.word and self.after(seen) > 0

    def after(self, seen: Seen) -> int:
        """Return the number of the word after which it must be read."""
        has_most = seen.erased - self.erased <= self.word // _LEFT
        return self.word if self.making == seen.making and has_most else 0

    def take(self, making: int, erased: int, word: int, terms: Sequence[str], *, is_all: bool) -> None:
        """Add the terms after the last one, or replace all."""
        if is_all:
            self.making, self.erased, self._text = making or 0, erased or 0, "\n"
        self.word = word or 0
        self._text += "".join(f"{original(term)}\n" for term in terms)

    def holding(self, part: str, more: str, limit: int) -> list[str]:
        if len(part) < 3 or "\n" in part:
            return []
        return list(dict.fromkeys((*_around(part, self._text), *_around(part, more))))[:limit]

    def like(self, term: str, more: str, limit: int) -> list[str]:
        """Return those of about as many letters that share most of the three-letter pieces of a term."""
        grams = {term[at : at + 3] for at in range(len(term) - 2)}
        hits = sorted((self._text.count(gram) + more.count(gram), gram) for gram in grams if "\n" not in gram)
        shared: dict[str, int] = {}
        looked = 0
        for place, (often, gram) in enumerate(hits):
            looked += often
            if place > 1 and looked > _HITS:
                break
            for found in {*_around(gram, self._text), *_around(gram, more)}:
                shared[found] = shared.get(found, 0) + 1
        near = [found for found in shared if abs(len(found) - len(term)) <= _LONGER]
        return sorted(near, key=lambda found: (-_likeness(shared[found], len(grams), found), found))[:limit]


_LEFT = 2000
"""For so many words, one change may have left words without items before all is read again."""

_HITS = 5000
"""Places to look at for a term that is spelt like another: those of its rarest pieces."""

_LONGER = 3
"""Letters that a term may be longer or shorter than one that is spelt like it: more are no slip."""


def _around(part: str, text: str) -> Iterator[str]:
    """Yield each line of a text in which this stands."""
    at = text.find(part)
    while at >= 0:
        end = text.index("\n", at)
        yield text[text.rindex("\n", 0, at) + 1 : end]
        at = text.find(part, end)


def _likeness(shared: int, grams: int, found: str) -> float:
    return shared / (grams + len(found) - 2 - shared)


# --- what the database cannot hold --------------------------------------------------------

MARK = "\ue000"
"""Begins what stands for a character that PostgreSQL takes into no text."""

_UNHELD = re.compile("[\0\ud800-\udfff\ue000]")


def plain(text: str) -> str:
    """Return a text that PostgreSQL takes: it takes no NUL, and no half of a surrogate pair."""
    if text.isascii() and "\0" not in text:
        return text
    return _UNHELD.sub(lambda found: f"{MARK}{ord(found[0]):04x}", text)


def original(text: str) -> str:
    """Return the text that `plain` was given."""
    if MARK not in text:
        return text
    return re.sub(f"{MARK}([0-9a-f]{{4}})", lambda found: chr(int(found[1], 16)), text)


# --- rows and values ---------------------------------------------------------------------


def _docs(rows: Iterable[tuple[Any, ...]]) -> list[Doc]:
    return [
        Doc(*row[1:])
        if MARK not in f"{row[2]}{row[5]}{row[6]}{row[7]}{row[9]}"
        else Doc(*map(_original, row[1:]))
        for row in rows
    ]


def _found_of(row: tuple[Any, ...]) -> FoundItem:
    return FoundItem(*map(_original, row))


def _original(value: Any) -> Any:
    return original(value) if isinstance(value, str) else value


def _filter(only: Only) -> tuple[object, ...]:
    """Return a filter as values; None allows all."""
    return (
        [plain(kind) for kind in only.kinds] or None,
        plain(only.topic) or None,
        plain(only.agent) or None,
        only.since,
        only.until,
        only.past,
        [plain(name) for name in only.hidden] or None,
    )


def _stretches(docs: Sequence[Doc], reach: int) -> list[tuple[int, int, int]]:
    """Return the stretches of sessions around these items, without any place twice."""
    places = sorted((doc.session, doc.seq) for doc in docs if doc.session is not None)
    found: list[tuple[int, int, int]] = []
    for session, seq in places:
        first, last = max(seq - reach, 0), seq + reach
        if found and found[-1][0] == session and first <= found[-1][2] + 1:
            found[-1] = (session, found[-1][1], last)
        else:
            found.append((session, first, last))
    return found


def _rarity(items: int, with_it: int) -> float:
    """Return the weight of a term in the order of candidates (BM25, as in SQLite)."""
    return max(math.log((items - with_it + 0.5) / (with_it + 0.5)) if with_it < items + 0.5 else 0.0, 1e-6)


def _numbers(values: Iterable[int]) -> str:
    """Return whole numbers as an array: their size changes nothing about the statement."""
    return f"{{{','.join(map(str, values))}}}"


def _time(ts: float | None) -> float | None:
    return None if ts is None or math.isnan(ts) else float(ts)


def _random_act() -> int:
    return int.from_bytes(os.urandom(7), "big")


def is_talk(source: str) -> bool:
    """True if the items of a source are traces."""
    parts = source.split("/", 3)
    return "traces" in (parts[:1] if parts[0] != "on" else parts[2:3])
