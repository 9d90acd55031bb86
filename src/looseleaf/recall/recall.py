"""Recall: the hits that bear on a question, within a budget; or nothing, if nothing clearly does (FORMAT §15).

Words choose some hundred candidates, the ranking orders them with what stands around them, what is not true (at the
time asked for) goes, what says the same is told once, and each text is read where it stands.
"""

from __future__ import annotations

import time

from looseleaf.core.ranking import rank
from looseleaf.errors import Refused
from looseleaf.index.protocol import Only
from looseleaf.index.sqlite import Damaged
from looseleaf.policy import Ranking
from looseleaf.recall.ask import asked
from looseleaf.recall.hits import Hit, Recalled
from looseleaf.recall.keep import Keep
from looseleaf.recall.read import Read
from looseleaf.recall.sources import TRACES, Sources, fact_text
from looseleaf.store.lock import Threads
from looseleaf.values import FOUND

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from looseleaf.core.ranking import Doc, Scored
    from looseleaf.core.terms import Word
    from looseleaf.core.when import When
    from looseleaf.index.protocol import Found, Index
    from looseleaf.pages import Pages
    from looseleaf.place.facts import Facts
    from looseleaf.policy import Policy
    from looseleaf.recall.read import Text
    from looseleaf.store.protocol import Store
    from looseleaf.talk import Trace

    Asking = list[tuple[Index, tuple[str, ...]]]

RANKING = Ranking()

CANDIDATES = 200
"""Items that the words of a question choose for the ranking."""

_OF_TIME = 100
"""Items of the time that a question names, which hardly ever say when they were said."""

_TOLD_LATER = 21 * 86_400.0
"""Seconds within which people tell of what happened."""

_SURE = 0.5
"""How plainly a time must be named for that."""

_REACH = 2
"""Items before and after each that the ranking looks at."""

_LONGEST = 20_000
"""Characters of a question. Past that it is a document."""

_K, _K_IN_BUDGET, _MOST = 10, 50, 200
_ALIKE = 0.8
"""Shared part of their terms from which two items say the same."""

_TRIES = 3


class Question:
    """What was asked, after it was looked at. Times are epoch seconds."""

    def __init__(
        self,
        query: str,
        k: int | None,
        budget: int | None,
        topic: str | None,
        kinds: Sequence[str] | str | None,
        agent: str | None,
        as_of: float | None,
        since: float | None,
        until: float | None,
        now: float | None,
        weights: Ranking = RANKING,
    ) -> None:
        self.query = _sound(query)
        self.budget = _at_least_one("budget", budget)
        self.k = min(_at_least_one("k", k) or (_K if budget is None else _K_IN_BUDGET), _MOST)
        self.as_of = as_of
        self.now = now if now is not None else as_of if as_of is not None else time.time()
        self.weights = weights
        ends = [each for each in (until, as_of) if each is not None]
        self.only = Only(
            kinds=_kinds(kinds),
            topic=topic or "",
            agent=agent or "",
            since=since,
            until=min(ends) if ends else None,
            past=as_of is not None,
        )


class Recall:
    """`known` gives the facts, `count` what a text costs in tokens."""

    def __init__(
        self,
        store: Store,
        folder: str,
        pages: Pages,
        policy: Policy,
        known: Callable[[], Facts],
        count: Callable[[str], int],
        note: Callable[[str], None],
    ) -> None:
        self._store = store
        self._pages = pages
        self._known = known
        self._count = count
        self._threads = Threads()
        self.sources = Sources(store, pages, known)
        self.keep = Keep(store, self.sources, folder, note, policy.segment_bytes)

    def close(self) -> None:
        self.keep.close()

    def __call__(self, question: Question, *, quick: bool = False) -> Recalled:
        count = self._count
        if quick:
            from looseleaf.llm.tokens import estimate as count
        with self._threads():
            self._pages.absorb_to_read()
            for _ in range(_TRIES):
                indexes = self.keep.indexes()
                try:
                    return self._answer(question, indexes, count)
                except Damaged:  # seen only now: what was read so far is not believed
                    self.keep.drop()
            raise Refused(
                "Nothing was found: the index is damaged each time it is made. Delete views/ and look at the disk."
            )

    def trace(self, name: str) -> Trace | None:
        """A trace of any agent, by its id."""
        with self._threads():
            self._pages.absorb_to_read()
            for index, _ in self.keep.indexes():
                found = index.trace(name)
                if found is not None:
                    return Read(self._store, self._pages, self._known).trace(found)
        return None

    def up_to_date(self) -> None:
        """Bring the index up to date."""
        with self._threads():
            self._pages.absorb_to_read()
            self.keep.indexes()

    def _answer(self, question: Question, indexes: Asking, count: Callable[[str], int]) -> Recalled:
        scored, docs, words = self._ranked(question, indexes)
        best = scored[0].score if scored else 0.0
        if best < question.weights.abstain:
            return Recalled(best=best, why=_why_nothing(scored, question))
        read = Read(self._store, self._pages, self._known)
        chosen = self._chosen(question, indexes, scored, docs, read)
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
        terms = {
            term: corpus.df[term] for word in asking.words for term, _ in word.forms if corpus.df.get(term)
        }
        docs: list[Doc] = []
        candidates: set[object] = set()
        for number, (index, hidden) in enumerate(indexes):
            only = question.only._replace(hidden=hidden)
            found = index.candidates(terms, only, CANDIDATES)
            if when is not None and when.strength >= _SURE:
                last = min(when.last, question.now) + _TOLD_LATER
                there = {doc.id for doc in found}
                found += [
                    doc for doc in index.within(when.first, last, only, _OF_TIME) if doc.id not in there
                ]
            near = index.near(found, _REACH)
            both = (*found, *near) if not number else [_of_second(doc) for doc in (*found, *near)]
            candidates.update(doc.id for doc in both[: len(found)])
            docs += both
        scored = rank(asking, docs, corpus, question.weights)
        if question.only != Only():  # what stands around what may be found need not be what may be found
            scored = [each for each in scored if each.id in candidates]
        return scored, {doc.id: doc for doc in docs}, asking.words

    def _time(self, question: Question, indexes: Asking) -> When | None:
        """The time that the question names. One that is named by an event is when that is spoken of."""
        from looseleaf.core.when import asked_time

        when = asked_time(question.query, question.now)
        return when if when is None or when.event is None else self._placed(when, question, indexes)

    def _placed(self, when: When, question: Question, indexes: Asking) -> When | None:
        from looseleaf.core.when import placed

        assert when.event is not None
        asking, corpus = asked(when.event, [index for index, _ in indexes])
        terms = {
            term: corpus.df[term] for word in asking.words for term, _ in word.forms if corpus.df.get(term)
        }
        docs: list[Doc] = []
        for number, (index, hidden) in enumerate(indexes):
            found = index.candidates(terms, question.only._replace(hidden=hidden), CANDIDATES)
            docs += found if not number else map(_of_second, found)
        best = next(iter(rank(asking, docs, corpus, question.weights)), None)
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
        read: Read,
    ) -> list[tuple[Hit, str]]:
        """The best that are there, true and not told yet, with their whole texts."""
        chosen: list[tuple[Hit, str]] = []
        told: list[frozenset[str]] = []
        seen: set[tuple[str, str, int]] = set()
        for each in scored:
            terms = frozenset(docs[each.id].terms.split())
            if len(terms) > 2 and any(_alike(terms, other) for other in told):
                continue
            index = indexes[0 if each.id > 0 else 1][0]
            found = next(iter(index.found([abs(each.id)])), None)
            if found is None:
                continue
            passage = found.first if found.kind not in ("trace", "entry") else 0
            text = read(found) if (found.kind, found.name, passage) not in seen else None
            if text is None or not self._is_true(question, found, read):
                continue
            seen.add((found.kind, found.name, passage))
            told.append(terms)
            chosen.append((self._hit(each, found, text, index, read), text.text))
            if len(chosen) == question.k:
                break
        return chosen

    def _is_true(self, question: Question, found: Found, read: Read) -> bool:
        if found.kind != "fact" or question.as_of is None:
            return True
        from looseleaf.core.identity import true_at

        held = true_at(read.facts(found.topic).values(), question.as_of)
        return any(fact.id == found.name for fact in held)

    def _hit(self, each: Scored, found: Found, text: Text, index: Index, read: Read) -> Hit:
        fact = read.fact(found) if found.kind == "fact" else None
        status, now = found.status, ""
        if found.kind == "trace":
            past = index.over([found.name]).get(found.name)
            if past is not None:
                status, now = "superseded", self._instead(past)
        elif fact is not None and fact.superseded_by:
            now = self._instead(found.name)
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

    def _instead(self, name: str) -> str:
        """What is true now in place of a fact."""
        known = self._known()
        known.catch_up()
        try:
            fact = known.find(name)
            for _ in range(100):
                if fact.superseded_by is None:
                    break
                fact = known.find(fact.superseded_by)
        except Refused:
            return ""
        return fact_text(fact) if fact.status == "current" else ""


# --- parts of an answer ----------------------------------------------------------------


def _of_second(doc: Doc) -> Doc:
    """Named so that items of two indexes are told apart."""
    return doc._replace(id=-doc.id, session=None if doc.session is None else -doc.session)


def _alike(one: frozenset[str], other: frozenset[str]) -> bool:
    small, large = sorted((len(one), len(other)))
    if small < _ALIKE * large:
        return False
    return len(one & other) >= _ALIKE * len(one | other)


def _packed(
    question: Question,
    chosen: Sequence[tuple[Hit, str]],
    words: Sequence[Word],
    best: float,
    count: Callable[[str], int],
) -> Recalled:
    from looseleaf.core.excerpt import excerpt, pack
    from looseleaf.core.terms import terms

    forms = {term for word in words for term, _ in word.forms}

    def is_wanted(word: str) -> bool:
        return not forms.isdisjoint(terms(word))

    texts = [text for _, text in chosen]
    if question.budget is None:
        return Recalled((hit for hit, _ in chosen), best=best)
    kept = pack(texts, question.budget, count, lambda text, limit: excerpt(text, is_wanted, limit, count))
    hits = []
    for number, text in kept:
        hit = chosen[number][0]
        values = {name: getattr(hit, name) for name in Hit.__match_args__}
        hits.append(Hit(**values | {"text": text, "is_whole": text == texts[number], "tokens": count(text)}))
    return Recalled(hits, best=best, tokens=count("\n\n".join(hit.text for hit in hits)))


def _why_nothing(scored: Sequence[Scored], question: Question) -> str:
    if not scored:
        return "Nothing that is remembered has these words."
    return (
        f"Nothing clearly bears on this: the best is {scored[0].score:.2f} sure, "
        f"and less than {question.weights.abstain:.2f} is noise."
    )


def _date(ts: float | None) -> str:
    if ts is None:
        return ""
    at = time.gmtime(max(min(ts, 253_402_300_799.0), -62_135_596_800.0))
    return f"{at.tm_year:04d}-{at.tm_mon:02d}-{at.tm_mday:02d}"


# --- what may be asked -----------------------------------------------------------------


def _sound(query: object) -> str:
    if not isinstance(query, str):
        raise Refused(f"Nothing was looked for: a question is text, not {type(query).__name__}.")
    if not query.strip():
        raise Refused("Nothing was looked for: the question is empty. Give some words of what you look for.")
    if len(query) > _LONGEST:
        raise Refused(
            f"Nothing was looked for: the question has {len(query):,} characters, and at most {_LONGEST:,} are read. "
            "Ask for what matters in it."
        )
    return query


def _at_least_one(name: str, value: int | None) -> int | None:
    if value is not None and (type(value) is not int or value < 1):
        raise Refused(
            f"Nothing was looked for: `{name}` must be a whole number of at least 1, not {value!r}."
        )
    return value


def _kinds(kinds: Sequence[str] | str | None) -> tuple[str, ...]:
    given = (kinds,) if isinstance(kinds, str) else tuple(kinds or ())
    for kind in given:
        if kind not in FOUND:
            raise Refused(
                f"Nothing was looked for: there is no kind {kind!r}. There are: {', '.join(FOUND)}."
            )
    return given
