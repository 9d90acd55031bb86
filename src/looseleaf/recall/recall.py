"""Recall: the hits that answer a question, within a budget; or none, if none clearly does (FORMAT §15).

Words choose about a hundred candidates. The ranking orders them with their neighbors. Facts that are not true (at the
asked time) and repeats are dropped. Each text is read from its source, never from the index.
"""

from __future__ import annotations

import time
from contextlib import ExitStack

from looseleaf.base.errors import Refused
from looseleaf.index.protocol import Doc, Only
from looseleaf.index.sqlite import DamagedIndex
from looseleaf.language.terms import terms as terms_of
from looseleaf.recall.hits import Hit, HitReader, Recalled, fact_hit, hit_of
from looseleaf.recall.index_sync import ItemSources, keep_index
from looseleaf.recall.items import fact_text
from looseleaf.recall.question import asks_only_when, choose_terms, is_bare_time, read_question
from looseleaf.recall.ranking import Scored, rank, strip_speakers
from looseleaf.recall.truth import Truth
from looseleaf.store.disk import Threads

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from typing import Any, Protocol, TypeVar

    from looseleaf.base.messages import Trace
    from looseleaf.base.values import Fact
    from looseleaf.index.embed import Embedder
    from looseleaf.index.protocol import FoundItem, Index
    from looseleaf.language.terms import Word
    from looseleaf.recall import index_sync
    from looseleaf.recall.hits import Indexes
    from looseleaf.recall.near_matches import Meaning
    from looseleaf.recall.question import Question
    from looseleaf.recall.truth import Beaten
    from looseleaf.recall.when import When
    from looseleaf.store.context import Context

    Answer = TypeVar("Answer")

    class Needs(index_sync.Needs, Protocol):
        finds_own_talk_only: bool

        @property
        def embedder(self) -> Embedder | None: ...
        @property
        def recall(self) -> Recall: ...
        def farther(self, read: Callable[[Any], Answer]) -> list[tuple[str, Answer]]: ...


CANDIDATES = 100
"""Candidates that a question's words choose for ranking: twice as many find no more, and take twice as long."""

_FEW, _ONE_OF = 30, 50
"""Candidates that are enough among a thousand items; in larger memories, one per so many."""

_OF_EACH = 55
"""The part of these, in percent, that each of several indexes may give: it is rare that all of them are in one."""

_SPARE = 10
"""Extra items to rank, to replace repeats."""

_OF_TIME = 100
"""Items from the time a question names: they hardly ever say when they were said."""

_MOMENT = 1e-3
"""Seconds that keep a span's end out of it."""

_TOLD_LATER = 21 * 86_400.0
"""Seconds within which people report an event."""

_SURE = 0.5
"""How plainly a question must name a time to search it."""

_REACH = 2
"""Neighbors before and after each item that the ranking reads."""

_EVER = (-1e12, 1e12)
_ALIKE = 0.8
"""Share of common terms from which two items say the same."""

_DERIVED = ("entry", "day")
"""Kinds that repeat other items."""

_REJECTED = 0.5
"""The share of its score that a hit keeps if a person said no to all that it says."""

_ONLY_REJECTED = "Nothing that is true bears on this: a person said no to what does."

_TELLING = 3
"""Terms that an item needs to say something alone."""

_TRIES = 3
_SECOND = 1 << 32
"""Offset of a further index's sessions."""

_APART = 1 << 48
"""Offset of a further index's items: no index has as many."""

_SENSELESS = (TypeError, ValueError, IndexError, KeyError, OverflowError, MemoryError)
"""Errors from a file that SQLite accepts but that makes no sense: rebuild it and ask again. Our own bugs come again
from the index in memory, and are raised."""


class Source:
    """One index to search: of this memory, or of one under it (`layer`). `indexes` are all of its memory, and `read`
    reads their texts."""

    __slots__ = ("hidden", "index", "indexes", "layer", "meaning", "read")

    def __init__(
        self,
        index: Index,
        hidden: tuple[str, ...],
        indexes: Indexes,
        read: HitReader,
        meaning: Meaning | None,
        layer: str,
    ) -> None:
        self.index, self.hidden = index, hidden
        self.indexes, self.read = indexes, read
        self.meaning, self.layer = meaning, layer


class Recall:
    """Finds the hits that answer a question."""

    def __init__(self, context: Context, parts: Needs) -> None:
        policy, embedder = context.policy, parts.embedder
        self._meaning: Meaning | None = None
        if embedder is not None or policy.semantic != "off":
            from functools import partial

            from looseleaf.index.opening import open_vectors
            from looseleaf.recall.near_matches import Meaning

            self._meaning = Meaning(
                partial(open_vectors, context.store), policy.semantic, embedder, context.note
            )
        self._store, self._count, self._note = context.store, context.count, context.note
        self._agent = context.agent
        self._parts = parts
        self._threads = Threads()
        self._beaten: dict[object, Beaten] = {}
        self.indexes: Indexes = []
        """Those that are held for a memory over this one."""
        self.sources = ItemSources(context, parts)
        self.keep = keep_index(context, self.sources)

    def close(self) -> None:
        if self._meaning is not None:
            self._meaning.close()
        self.keep.close()

    def __call__(self, question: Question, *, quick: bool = False) -> Recalled:
        count = self._count
        if quick and (question.budget or question.clip):
            from looseleaf.models.tokens import estimate as count
        with ExitStack() as held:
            farther = self._parts.farther(lambda far: far.recall.hold(held))
            try:
                return self._run_query(
                    lambda indexes: self._answer(question, self._sources(farther, indexes), count)
                )
            except Refused as refused:
                if not farther:
                    raise
                self._note(f"The layers under this memory could not be searched: {refused}")
        return self._run_query(lambda indexes: self._answer(question, self._sources([], indexes), count))

    def hold(self, held: ExitStack) -> Recall:
        """Read the index while `held` lasts, as up to date as it can be without writing anything else."""
        held.enter_context(self._threads())
        held.enter_context(self._store.look())
        held.enter_context(self.keep.look())
        self._parts.pages.absorb_to_read()
        self.indexes = self.keep.indexes()
        return self

    def _sources(self, farther: Sequence[tuple[str, Recall]], indexes: Indexes) -> list[Source]:
        agent = self.only_agent
        found = self.sources_of(indexes, "", agent)
        for name, recall in farther:  # who decides here may see less there
            found += recall.sources_of(recall.indexes, name, agent or recall.only_agent)
        return found

    @property
    def only_agent(self) -> str:
        """The agent whose talk alone is found; "" for that of all."""
        return self._agent if self._parts.finds_own_talk_only else ""

    def sources_of(self, indexes: Indexes, layer: str, agent: str) -> list[Source]:
        """Return the indexes to search. `agent`: without the talk of others; "" for all."""
        read = self._reader()
        return [
            Source(
                self._seen_by(agent, index), hidden, indexes, read, None if number else self._meaning, layer
            )
            for number, (index, hidden) in enumerate(indexes)
        ]

    def _seen_by(self, agent: str, index: Index) -> Index:
        if not agent:
            return index
        from looseleaf.recall.own_talk import OwnTalk

        return OwnTalk(index, agent, self._store)

    def _run_query(self, answer: Callable[[Indexes], Answer]) -> Answer:
        """Answer from complete indexes. If a file fails, discard what was read from it."""
        with self._threads(), self.keep.look():
            self._parts.pages.absorb_to_read()
            for _ in range(_TRIES):
                try:
                    return answer(self.keep.indexes())
                except Refused:
                    raise
                except (DamagedIndex, *_SENSELESS):
                    is_mended = self.keep.mend()
                    if not self._parts.farther(lambda far: far.recall.read_again()) and not is_mended:
                        raise
                except OSError as error:
                    return answer(self.keep.without_file(error))
            return answer(self.keep.without_file(OSError("the file is damaged each time it is made")))

    def read_again(self) -> None:
        """Make the index again: it, or the one of the memory over this one, is damaged."""
        self.keep.mend()
        self.indexes = self.keep.indexes()

    def trace(self, name: str) -> tuple[Trace, str] | None:
        """Return any agent's trace by its id, and its stream."""

        def answer(indexes: Indexes) -> tuple[Trace, str] | None:
            found = next((found for index, _ in indexes if (found := index.trace(name)) is not None), None)
            trace = self._reader().trace(found) if found is not None else None
            return (trace, found.source) if trace is not None and found is not None else None

        return self._run_query(answer)

    def newest(self, only: Only, most: int) -> list[Hit]:
        """Return the newest items of some kinds, each once, scored by salience."""

        def answer(indexes: Indexes) -> list[Hit]:
            read = self._reader()
            found: dict[str, Hit] = {}
            for index, hidden in indexes:
                docs = index.within(*_EVER, only._replace(hidden=hidden), most)
                for row in index.found([doc.id for doc in docs]):
                    text = read(row)
                    if text is not None and text.where not in found:
                        salience = read.salience(row)
                        parts = {} if salience is None else {"salience": salience}
                        scored = Scored(row.id, salience or 0.0, parts.copy)
                        found[text.where] = hit_of(scored, row, text, indexes, read, ())[0]
            return sorted(found.values(), key=lambda hit: (-(hit.ts or 0.0), hit.where))[:most]

        return self._run_query(answer)

    def topics_saying(self, text: str, most: int) -> list[str]:
        """Return topics of the `most` facts that share most words with a text, repeats included."""

        def answer(indexes: Indexes) -> list[str]:
            terms = choose_terms(*read_question(text, [index for index, _ in indexes]))
            topics: dict[str, None] = {}
            for index, hidden in indexes:
                docs = index.candidates(terms, Only(kinds=("fact",), hidden=hidden), most)
                topics |= {found.topic: None for found in index.found([doc.id for doc in docs])}
            return list(topics)

        return self._run_query(answer)

    def catch_up(self) -> None:
        """Bring the index up to date, without vectors, if it can be written now."""
        with self._threads():
            self._parts.pages.absorb_to_read()
            self.keep.catch_up()

    def up_to_date(self) -> int:
        """Bring the index up to date, and the vectors if there are any; return how many vectors were made."""

        def answer(indexes: Indexes) -> int:
            if self._meaning is None:
                return 0
            return self._meaning.embed(indexes[0][0], self._reader(), self.keep.progress)

        return self._run_query(answer)

    def _reader(self) -> HitReader:
        return HitReader(self._store, self._parts)

    def _answer(self, question: Question, sources: Sequence[Source], count: Callable[[str], int]) -> Recalled:
        for each in sources:
            if each.meaning is not None:
                each.meaning.embed_later(each.index, each.read)
        scored, docs, words = self._rank_items(question, sources)
        best = scored[0].score if scored else 0.0
        if not scored or best < question.sure:
            return Recalled(best=best, why=_explain_nothing(best, question))
        chosen = self._choose_hits(question, sources, scored, docs, words)
        if not chosen:
            why = "What bears on this is not true, or not there, at the time asked for."
            return Recalled(best=best, why=why)
        found = _pack_hits(question, chosen, words, best, count)
        if chosen[0].status == "rejected" and question.as_of is None:
            found.why = found.why or _ONLY_REJECTED
        return found

    def _rank_items(
        self, question: Question, sources: Sequence[Source]
    ) -> tuple[list[Scored], dict[object, Doc], Sequence[Word]]:
        when = self._find_time(question, sources)
        is_of_time = when is not None and asks_only_when(question.query, when)
        if when is not None and is_bare_time(question.query, when) and not _has_time(when, question, sources):
            # Then it is a word like others: "tomorrow" may be all that was said.
            when, is_of_time = None, False
        asking, corpus = read_question(question.query, [each.index for each in sources], when)
        terms = choose_terms(asking, corpus)
        chosen = min(CANDIDATES, max(_FEW, corpus.items // _ONE_OF))
        docs: list[Doc] = []
        candidates: set[object] = set()
        cosines: dict[int, float] = {}
        likely = (
            self._find_likely(question, sources, terms, max(chosen, question.k)) if not is_of_time else {}
        )
        for number, source in enumerate(sources):
            index, only = source.index, question.only._replace(hidden=source.hidden)
            found = likely.get(number, [])
            if when is not None and when.strength >= _SURE:
                last = min(when.last - _MOMENT, question.now) + (0.0 if is_of_time else _TOLD_LATER)
                there = {doc.id for doc in found}
                of_time = index.within(when.first, last, only, _OF_TIME)
                found += [doc for doc in of_time if doc.id not in there]
            if source.meaning is not None:
                meant = strip_speakers(question.query, asking.speakers)
                more, alike = source.meaning.find_like(meant, index, found, only)
                cosines |= {name + number * _APART: cosine for name, cosine in alike.items()}
                found += more
            near = index.near(found, _REACH) if not is_of_time else []
            both = (*found, *near) if not number else [_renumber(doc, number) for doc in (*found, *near)]
            candidates.update(doc.id for doc in both[: len(found)])
            docs += both
        limit = _SPARE + question.k
        scored = rank(asking, _cap_times(docs), corpus, question.weights, cosines or None, limit)
        # A neighbor need not be of the kind, topic or time asked for.
        if question.only != Only() or any(each.hidden for each in sources):
            scored = [each for each in scored if each.id in candidates]
        return scored, {doc.id: doc for doc in docs}, asking.words

    def _find_likely(
        self, question: Question, sources: Sequence[Source], terms: Mapping[str, int], limit: int
    ) -> dict[int, list[Doc]]:
        """Return the items that the question's words choose, of each source: together as many as one would give. Those
        of several are compared by the rarity of the words that they have."""
        most = limit if len(sources) == 1 else max(question.k, limit * _OF_EACH // 100)
        found = {
            number: source.index.candidates(terms, question.only._replace(hidden=source.hidden), most)
            for number, source in enumerate(sources)
        }
        if sum(map(len, found.values())) <= limit:
            return found
        worth = {term: 1.0 / (1.0 + count) ** 0.5 for term, count in terms.items()}
        ranked = [
            (-sum(worth[term] for term in worth.keys() & doc.terms.split()), place, number)
            for number, docs in found.items()
            for place, doc in enumerate(docs)
        ]
        kept = {(number, place) for _, place, number in sorted(ranked)[:limit]}
        return {
            number: [doc for place, doc in enumerate(docs) if (number, place) in kept]
            for number, docs in found.items()
        }

    def _find_time(self, question: Question, sources: Sequence[Source]) -> When | None:
        """Return the time that the question names; for an event, when the memory mentions it."""
        from looseleaf.recall.question_dates import read_time
        from looseleaf.recall.when import place_event

        when = read_time(question.query, question.now)
        if when is None or when.event is None:
            return when
        asking, corpus = read_question(when.event, [each.index for each in sources])
        terms = choose_terms(asking, corpus)
        docs: list[Doc] = []
        for number, source in enumerate(sources):
            found = source.index.candidates(terms, question.only._replace(hidden=source.hidden), CANDIDATES)
            docs += [_renumber(doc, number) for doc in found]
        best = next(iter(rank(asking, docs, corpus, question.weights, limit=1)), None)
        times = {doc.id: doc.ts for doc in docs}
        at = times.get(best.id) if best is not None and best.score >= question.weights.abstain else None
        return place_event(when, at) if at is not None else None

    def _choose_hits(
        self,
        question: Question,
        sources: Sequence[Source],
        scored: Sequence[Scored],
        docs: dict[object, Doc],
        words: Sequence[Word],
    ) -> list[Hit]:
        """Choose the best items that exist, are true and say something new. What a person said no to comes after all
        that is true, but for what only stands beside it."""
        layers = {each.layer: each.read for each in sources}
        truth = Truth(layers, question.as_of, self._beaten) if len(layers) > 1 else None
        forms = {term for word in words for term, _ in word.forms}
        chosen: list[Hit] = []
        rejected: list[Hit] = []
        is_answered = False
        told: list[frozenset[str]] = []
        told_rejected: list[frozenset[str]] = []
        seen: set[tuple[str, str, int]] = set()
        rows = _read_rows(scored, sources)
        likely = scored[: 2 * question.k]
        for number, source in enumerate(sources):
            own = (rows.get(each.id) for each in likely if each.id // _APART == number)
            source.read.fetch(filter(None, own))
        least = scored[0].score * question.least
        for each in scored:
            if len(chosen) >= question.k or each.score < least:
                break
            doc = docs[each.id]
            terms = frozenset(doc.terms.split())
            is_beside = not {"words", "meaning", "date"} & each.parts.keys()
            if is_beside and (len(terms) < _TELLING or doc.role == "tool" or doc.kind != "trace"):
                # "ok" stands beside every answer, and so does the tool call for it. And only in talk does a neighbor
                # belong to an answer: lines of a day and facts of a page were said at other times.
                continue
            found, source = rows.get(each.id), sources[each.id // _APART]
            if found is None or _hit_key(found, source.layer) in seen:
                continue
            read = source.read
            text = read(found)
            if text is None or not _is_true(found, source, truth, question.as_of):
                continue
            if found.kind == "fact":  # found by words that it does not show
                terms = frozenset(terms_of(text.text))
            if any(_is_repeat(found.kind, terms, other) for other in told):
                continue
            seen.add(_hit_key(found, source.layer))
            hit, later = hit_of(each, found, text, source.indexes, read, forms, truth, source.layer)
            hit = hit.of_layer(source.layer)
            if hit.status == "rejected" and question.as_of is None:
                if not any(_is_repeat(found.kind, terms, other) for other in told_rejected):
                    told_rejected.append(terms)
                    rejected.append(hit.rated(_REJECTED * hit.score))
                continue
            is_answered = is_answered or not is_beside
            told.append(terms)
            # What is true now goes first, unless a filter might exclude it.
            for fact in later if question.only == Only() else ():
                if _fact_key(fact) not in seen:
                    seen.add(_fact_key(fact))
                    told.append(frozenset(terms_of(fact_text(fact))))
                    instead = fact_hit(fact, each.score, {"instead": each.score})
                    chosen.append(instead.of_layer(fact.layer or ""))
            chosen.append(hit)
        return ([*chosen, *rejected] if is_answered else [*rejected, *chosen])[: question.k]


def _has_time(when: When, question: Question, sources: Sequence[Source]) -> bool:
    """True if anything is of a time that a question surely names."""
    last = min(when.last - _MOMENT, question.now)
    return when.strength >= _SURE and any(
        each.index.within(when.first, last, question.only._replace(hidden=each.hidden), 1) for each in sources
    )


def _is_true(found: FoundItem, source: Source, truth: Truth | None, as_of: float | None) -> bool:
    """True unless it is a fact that does not hold (at a time), in all layers together."""
    if found.kind != "fact" or truth is None:
        return source.read.is_true(found, as_of)
    return truth.has(found.topic, found.name, source.layer)


def _read_rows(scored: Sequence[Scored], sources: Sequence[Source]) -> dict[int, FoundItem]:
    """Return the indexed rows of these items."""
    rows: dict[int, FoundItem] = {}
    for number, source in enumerate(sources):
        first = number * _APART
        ids = [each.id - first for each in scored if each.id // _APART == number]
        rows |= {first + found.id: found for found in source.index.found(ids)} if ids else {}
    return rows


def _hit_key(found: FoundItem, layer: str) -> tuple[str, str, int]:
    """Return what a hit is known by: one trace or entry counts once, however many passages matched."""
    if found.kind in ("trace", "entry", "fact"):
        return found.kind, found.name, 0
    return found.kind, f"{layer}:{found.name}", found.first


def _fact_key(fact: Fact) -> tuple[str, str, int]:
    return "fact", fact.id or "", 0


def _cap_times(docs: list[Doc]) -> list[Doc]:
    """Return the items, none of a time to come: else one wrong clock would make everything else look old."""
    now = time.time()
    if all(doc.ts is None or doc.ts <= now for doc in docs):
        return docs
    return [doc if doc.ts is None or doc.ts <= now else doc._replace(ts=now) for doc in docs]


def _renumber(doc: Doc, number: int) -> Doc:
    """Renumber an item of a further index, to tell it apart."""
    if not number:
        return doc
    session = None if doc.session is None else doc.session + number * _SECOND
    return Doc(doc.id + number * _APART, doc.terms, session, *doc[3:])


def _is_repeat(kind: str, terms: frozenset[str], told: frozenset[str]) -> bool:
    """True if an item only repeats another. A derived item need only contain it, or be contained in it."""
    if min(len(terms), len(told)) < _TELLING:
        return terms == told and bool(terms)
    if kind in _DERIVED:
        return len(terms & told) >= _ALIKE * min(len(terms), len(told)) > 0
    return len(terms & told) >= _ALIKE * len(terms | told)


def _pack_hits(
    question: Question, chosen: Sequence[Hit], words: Sequence[Word], best: float, count: Callable[[str], int]
) -> Recalled:
    """Fit the hits into the token budget; shorten each around the question's words before dropping any."""
    if question.budget is None and question.clip is None:
        return Recalled(chosen, best=best)
    from looseleaf.text.excerpt import excerpt, pack

    forms = {term for word in words for term, _ in word.forms}

    def is_wanted(word: str) -> bool:
        return not forms.isdisjoint(terms_of(word))

    def shortened(text: str, limit: int) -> str:
        return excerpt(text, is_wanted, limit, count)

    clip = question.clip
    texts = [shortened(hit.text, clip) if clip is not None else hit.text for hit in chosen]
    kept = pack(texts, question.budget, count, shortened) if question.budget is not None else enumerate(texts)
    hits = [chosen[number].but(text=text, tokens=count(text)) for number, text in kept]
    why = "" if hits else f"Not one word of what bears on this fits in {question.budget} tokens. Give more."
    return Recalled(hits, best=best, why=why, tokens=count("\n\n".join(hit.text for hit in hits)))


def _explain_nothing(best: float, question: Question) -> str:
    asked = question.only._replace(past=False, hidden=())
    within = " within what was asked for (kinds, topic, agent or time)" if asked != Only() else ""
    if not best:
        return f"Nothing that is remembered{within} has these words. Other words may find it."
    rated = f"the best is {best:.2f} sure, and less than {question.sure:.2f} is noise"
    return f"Nothing{within} clearly bears on this: {rated}."
