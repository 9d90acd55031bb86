"""Recall: the hits that bear on a question, within a budget; or nothing, if nothing clearly does (FORMAT §15).

Words choose some hundred candidates, the ranking orders them with what stands around them, what is not true (at the
time asked for) goes, what says the same is told once, and each text is read where it stands.
"""

from __future__ import annotations

from looseleaf.index.protocol import Only
from looseleaf.index.sqlite_file import Damaged
from looseleaf.language.terms import terms as terms_of
from looseleaf.recall.hits import Hit, Read, Recalled, fact_hit, hit_of
from looseleaf.recall.index_sync import Keep, Sources
from looseleaf.recall.items import fact_text
from looseleaf.recall.question import asked, asks_only_when, choosing
from looseleaf.recall.ranking import Scored, rank, unnamed
from looseleaf.store.lock import Threads

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Protocol, TypeVar

    from looseleaf.base.messages import Trace
    from looseleaf.base.values import Fact
    from looseleaf.facts.known_facts import Facts
    from looseleaf.index.embed import Embedder
    from looseleaf.index.protocol import Doc, Found
    from looseleaf.language.terms import Word
    from looseleaf.pages.pages import Pages
    from looseleaf.recall.hits import Asking
    from looseleaf.recall.near_matches import Meaning
    from looseleaf.recall.question import Question
    from looseleaf.recall.when import When
    from looseleaf.store.context import Context

    Answer = TypeVar("Answer")

    class Needs(Protocol):
        @property
        def embedder(self) -> Embedder | None: ...
        @property
        def known(self) -> Facts: ...
        @property
        def pages(self) -> Pages: ...


CANDIDATES = 100
"""Items that the words of a question choose for the ranking: twice as many find no more, and take twice as long."""

_FEW, _ONE_OF = 30, 50
"""Items that are enough among a thousand; where there are more, one for each so many."""

_SPARE = 10
"""Items that are ranked beyond what is wanted, in place of those that say what was said already."""

_OF_TIME = 100
"""Items of the time that a question names, which hardly ever say when they were said."""

_MOMENT = 1e-3
"""What a time ends before its end."""

_TOLD_LATER = 21 * 86_400.0
"""Seconds within which people tell of what happened."""

_SURE = 0.5
"""How plainly a time must be named for that."""

_REACH = 2
"""Items before and after each that the ranking looks at."""

_EVER = (-1e12, 1e12)
_ALIKE = 0.8
"""Shared part of their terms from which two items say the same."""

_DERIVED = ("entry", "day")
"""Kinds that repeat what stands elsewhere too."""

_TELLING = 3
"""Terms from which an item says something by itself."""

_TRIES = 3
_SECOND = 1 << 32
"""What the sessions of a second index begin behind."""

_SENSELESS = (TypeError, ValueError, IndexError, KeyError, OverflowError, MemoryError)
"""What a file leads to that is sound for SQLite and makes no sense: it is made again, and asked again. What is wrong
with us comes again from the index in memory, and is raised."""


class Recall:
    """Finds what bears on a question."""

    def __init__(self, context: Context, parts: Needs) -> None:
        policy, embedder = context.policy, parts.embedder
        self._meaning: Meaning | None = None
        if embedder is not None or policy.semantic != "off":
            from looseleaf.recall.near_matches import Meaning

            self._meaning = Meaning(context.path, policy.semantic, embedder, context.note)
        self._store, self._count = context.store, context.count
        self._parts = parts
        self._threads = Threads()
        self.sources = Sources(context, parts)
        self.keep = Keep(context.store, self.sources, context.path, context.note, policy.segment_bytes)

    def close(self) -> None:
        if self._meaning is not None:
            self._meaning.close()
        self.keep.close()

    def __call__(self, question: Question, *, quick: bool = False) -> Recalled:
        count = self._count
        if quick and (question.budget or question.clip):
            from looseleaf.models.tokens import estimate as count
        return self._asking(lambda indexes: self._answer(question, indexes, count))

    def _asking(self, answer: Callable[[Asking], Answer]) -> Answer:
        """An answer from indexes that hold everything. What was read from a file that gives out is not believed."""
        with self._threads():
            self._parts.pages.absorb_to_read()
            for _ in range(_TRIES):
                try:
                    return answer(self.keep.indexes())
                except (Damaged, *_SENSELESS):
                    self.keep.drop()
                except OSError as error:
                    return answer(self.keep.without_file(error))
            return answer(self.keep.without_file(OSError("the file is damaged each time it is made")))

    def trace(self, name: str) -> tuple[Trace, str] | None:
        """A trace of any agent, by its id; and the stream that it is in."""

        def answer(indexes: Asking) -> tuple[Trace, str] | None:
            found = next((found for index, _ in indexes if (found := index.trace(name)) is not None), None)
            trace = self._reader().trace(found) if found is not None else None
            return (trace, found.source) if trace is not None and found is not None else None

        return self._asking(answer)

    def newest(self, only: Only, most: int) -> list[Hit]:
        """The newest items of some sort, with their salience in place of a score; each thing once."""

        def answer(indexes: Asking) -> list[Hit]:
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

        return self._asking(answer)

    def topics_saying(self, text: str, most: int) -> list[str]:
        """Topics of facts that share words with a text: of so many facts, those that share most, also where they say
        the same as others."""

        def answer(indexes: Asking) -> list[str]:
            terms = choosing(*asked(text, [index for index, _ in indexes]))
            topics: dict[str, None] = {}
            for index, hidden in indexes:
                docs = index.candidates(terms, Only(kinds=("fact",), hidden=hidden), most)
                topics |= {found.topic: None for found in index.found([doc.id for doc in docs])}
            return list(topics)

        return self._asking(answer)

    def up_to_date(self) -> int:
        """Bring the index up to date, and the vectors where there are to be some: how many of those were made."""

        def answer(indexes: Asking) -> int:
            if self._meaning is None:
                return 0
            return self._meaning.embed(indexes[0][0], self._reader(), self.keep.progress)

        return self._asking(answer)

    def _reader(self) -> Read:
        return Read(self._store, self._parts)

    def _answer(self, question: Question, indexes: Asking, count: Callable[[str], int]) -> Recalled:
        if self._meaning is not None:
            self._meaning.follow(indexes[0][0], self._reader())
        scored, docs, words = self._ranked(question, indexes)
        best = scored[0].score if scored else 0.0
        if not scored or best < question.sure:
            return Recalled(best=best, why=_why_nothing(best, question))
        chosen = self._chosen(question, indexes, scored, docs, words)
        if not chosen:
            return Recalled(
                best=best, why="What bears on this is not true, or not there, at the time asked for."
            )
        return _packed(question, chosen, words, best, count)

    # --- ranking -----------------------------------------------------------------------

    def _ranked(
        self, question: Question, indexes: Asking
    ) -> tuple[list[Scored], dict[object, Doc], Sequence[Word]]:
        when = self._time(question, indexes)
        asking, corpus = asked(question.query, [index for index, _ in indexes], when)
        terms = choosing(asking, corpus)
        chosen = min(CANDIDATES, max(_FEW, corpus.items // _ONE_OF))
        is_of_time = when is not None and asks_only_when(question.query, when)
        docs: list[Doc] = []
        candidates: set[object] = set()
        cosines: dict[int, float] = {}
        for number, (index, hidden) in enumerate(indexes):
            only = question.only._replace(hidden=hidden)
            found = index.candidates(terms, only, max(chosen, question.k)) if not is_of_time else []
            if when is not None and when.strength >= _SURE:
                last = min(when.last - _MOMENT, question.now) + (0.0 if is_of_time else _TOLD_LATER)
                there = {doc.id for doc in found}
                found += [
                    doc for doc in index.within(when.first, last, only, _OF_TIME) if doc.id not in there
                ]
            if self._meaning is not None and not number:
                meant = unnamed(question.query, asking.speakers)
                more, cosines = self._meaning.like(meant, index, found, only)
                found += more
            near = index.near(found, _REACH) if not is_of_time else []
            both = (*found, *near) if not number else [_of_second(doc) for doc in (*found, *near)]
            candidates.update(doc.id for doc in both[: len(found)])
            docs += both
        limit = _SPARE + question.k
        scored = rank(asking, docs, corpus, question.weights, cosines or None, limit)
        # What stands around what may be found need not be what may be found.
        if question.only != Only() or any(hidden for _, hidden in indexes):
            scored = [each for each in scored if each.id in candidates]
        return scored, {doc.id: doc for doc in docs}, asking.words

    def _time(self, question: Question, indexes: Asking) -> When | None:
        """The time that the question names. One that is named by an event is when that is spoken of."""
        from looseleaf.recall.question_dates import asked_time

        when = asked_time(question.query, question.now)
        return when if when is None or when.event is None else self._placed(when, question, indexes)

    def _placed(self, when: When, question: Question, indexes: Asking) -> When | None:
        from looseleaf.recall.when import placed

        assert when.event is not None
        asking, corpus = asked(when.event, [index for index, _ in indexes])
        terms = choosing(asking, corpus)
        docs: list[Doc] = []
        for number, (index, hidden) in enumerate(indexes):
            found = index.candidates(terms, question.only._replace(hidden=hidden), CANDIDATES)
            docs += found if not number else map(_of_second, found)
        best = next(iter(rank(asking, docs, corpus, question.weights, limit=1)), None)
        times = {doc.id: doc.ts for doc in docs}
        at = times.get(best.id) if best is not None and best.score >= question.weights.abstain else None
        return placed(when, at) if at is not None else None

    # --- what is shown -----------------------------------------------------------------

    def _chosen(
        self,
        question: Question,
        indexes: Asking,
        scored: Sequence[Scored],
        docs: dict[object, Doc],
        words: Sequence[Word],
    ) -> list[Hit]:
        """The best that are there, true and not told yet, whole."""
        read = self._reader()
        forms = {term for word in words for term, _ in word.forms}
        chosen: list[Hit] = []
        told: list[frozenset[str]] = []
        seen: set[tuple[str, str, int]] = set()
        rows = _rows(scored, indexes)
        least = scored[0].score * question.least
        for each in scored:
            if len(chosen) >= question.k or each.score < least:
                break
            doc = docs[each.id]
            terms = frozenset(doc.terms.split())
            is_beside = not {"words", "meaning", "date"} & each.parts.keys()
            if is_beside and (len(terms) < _TELLING or doc.role == "tool" or doc.kind != "trace"):
                # "ok" stands beside every answer and is none; so does what was called for it. And only in a talk what
                # stands beside an answer belongs to it: lines of a day and facts of a page were said at other times.
                continue
            found = rows.get(each.id)
            if found is None or _key(found) in seen:
                continue
            text = read(found)
            if text is None or not _is_true(question, found, read):
                continue
            if found.kind == "fact":  # it is found by words that it does not show
                terms = frozenset(terms_of(text.text))
            if any(_says(found.kind, terms, other) for other in told):
                continue
            seen.add(_key(found))
            told.append(terms)
            hit, later = hit_of(each, found, text, indexes, read, forms)
            # Before what was said of it stands what is true, where it may be found at all.
            for fact in later if question.only == Only() else ():
                if _fact_key(fact) not in seen:
                    seen.add(_fact_key(fact))
                    told.append(frozenset(terms_of(fact_text(fact))))
                    chosen.append(fact_hit(fact, each.score, {"instead": each.score}))
            chosen.append(hit)
        return chosen[: question.k]


# --- parts of an answer ----------------------------------------------------------------


def _rows(scored: Sequence[Scored], indexes: Asking) -> dict[int, Found]:
    """All that the indexes know of these."""
    rows: dict[int, Found] = {}
    for sign, (index, _) in zip((1, -1), indexes, strict=False):
        ids = [sign * each.id for each in scored if sign * each.id > 0]
        rows |= {sign * found.id: found for found in index.found(ids)} if ids else {}
    return rows


def _is_true(question: Question, found: Found, read: Read) -> bool:
    """Of facts: whether it holds, now or at the time asked for. Whatever the index says of it, the journal knows."""
    if found.kind != "fact":
        return True
    from looseleaf.facts.truth import true_at

    return any(fact.id == found.name for fact in true_at(read.facts(found.topic).values(), question.as_of))


def _key(found: Found) -> tuple[str, str, int]:
    """What is told once: a trace or an entry, however many of its passages were found."""
    return found.kind, found.name, found.first if found.kind not in ("trace", "entry", "fact") else 0


def _fact_key(fact: Fact) -> tuple[str, str, int]:
    return "fact", fact.id or "", 0


def _of_second(doc: Doc) -> Doc:
    """Named so that items of two indexes are told apart."""
    return doc._replace(id=-doc.id, session=None if doc.session is None else doc.session + _SECOND)


def _says(kind: str, terms: frozenset[str], told: frozenset[str]) -> bool:
    """Whether an item says nothing but what was told. What was made of others need only hold it, or be held by it."""
    if min(len(terms), len(told)) < _TELLING:
        return terms == told and bool(terms)
    if kind in _DERIVED:
        return len(terms & told) >= _ALIKE * min(len(terms), len(told)) > 0
    return len(terms & told) >= _ALIKE * len(terms | told)


def _packed(
    question: Question, chosen: Sequence[Hit], words: Sequence[Word], best: float, count: Callable[[str], int]
) -> Recalled:
    """The hits in the tokens that there are, each shortened around what was asked for rather than left out."""
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


def _why_nothing(best: float, question: Question) -> str:
    asked = question.only._replace(past=False, hidden=())
    within = " within what was asked for (kinds, topic, agent or time)" if asked != Only() else ""
    if not best:
        return f"Nothing that is remembered{within} has these words. Others may find it."
    return (
        f"Nothing{within} clearly bears on this: the best is {best:.2f} sure, and less than {question.sure:.2f} "
        "is noise."
    )
