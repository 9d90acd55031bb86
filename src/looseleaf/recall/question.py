"""A question: checked as the caller gives it, then its words with all their forms, its speakers and its time."""

from __future__ import annotations

import time

from looseleaf.base.errors import Invalid, check_count
from looseleaf.base.policy import Ranking
from looseleaf.base.values import FOUND
from looseleaf.index.protocol import Corpus, Only
from looseleaf.language.relations import asked_relations
from looseleaf.language.stems import by_language
from looseleaf.language.terms import runs, words
from looseleaf.recall.ranking import Query, find_speakers
from looseleaf.text.times import parse_time

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from typing import Any

    from looseleaf.index.protocol import Index
    from looseleaf.language.terms import Word
    from looseleaf.recall.when import When


RANKING = Ranking()

_END = 253_402_300_800.0
"""The year 10000, past the last date."""

LONGEST = 20_000
"""Most characters of a question; anything longer is a document."""

_K, _K_IN_BUDGET, _MOST = 10, 50, 200


class Question:
    """A checked question. Times are epoch seconds. `sure`: how sure the best hit must be; `clip`: the most tokens of
    each text, roughly."""

    def __init__(
        self,
        query: str,
        k: int | None = None,
        budget: int | None = None,
        topic: str | None = None,
        kinds: Sequence[str] | str | None = None,
        agent: str | None = None,
        as_of: float | None = None,
        since: float | None = None,
        until: float | None = None,
        now: float | None = None,
        sure: float | None = None,
        clip: int | None = None,
        weights: Ranking = RANKING,
    ) -> None:
        self.query = _check_query(query)
        for name, value in (("budget", budget), ("k", k), ("clip", clip)):
            check_count(name, value, 1)
        self.budget, self.clip = budget, clip
        self.k = min(k or (_K if budget is None else _K_IN_BUDGET), _MOST)
        as_of, since, until, now = (
            _check_time(name, value)
            for name, value in (("as_of", as_of), ("since", since), ("until", until), ("now", now))
        )
        self.as_of = as_of
        self.now = now if now is not None else as_of if as_of is not None else time.time()
        self.weights = weights
        self.least = weights.least if self.k <= _K else weights.least_of_many
        if sure is not None and (type(sure) not in (int, float) or not 0 <= sure <= 1):
            raise Invalid(f"`sure` must be a number from 0 to 1, not {sure!r}.")
        self.sure = weights.abstain if sure is None else float(sure)
        ends = [each for each in (until, as_of) if each is not None]
        if since is not None and until is not None and since > until:
            raise Invalid("`since` is later than `until`. Swap them.")
        self.only = Only(
            kinds=_check_kinds(kinds),
            topic=_check_name("topic", topic),
            agent=_check_name("agent", agent),
            since=since,
            until=min(ends) if ends else None,
            past=as_of is not None,
        )


def _check_query(query: object) -> str:
    if not isinstance(query, str):
        raise Invalid(f"A question is text, not {type(query).__name__}.")
    if not query.strip():
        raise Invalid("The question is empty. Give some words to look for.")
    if len(query) > LONGEST:
        size = f"{len(query):,} characters; at most {LONGEST:,} are read"
        raise Invalid(f"The question has {size}. Ask for what matters in it.")
    return query


def _check_time(name: str, value: object) -> float | None:
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not -_END < value < _END:
        raise Invalid(f"`{name}` must be a date (2026-02-24) or epoch seconds, not {value!r:.40}.")
    return float(value)


def _check_name(what: str, value: object) -> str:
    """Return a name that a query can hold: unwritable characters name nothing."""
    if value is None:
        return ""
    if not isinstance(value, str):
        raise Invalid(f"`{what}` must be a name, not {value!r:.40}. Or leave it out.")
    return value.encode("utf-8", "replace").decode()


def _check_kinds(kinds: object) -> tuple[str, ...]:
    if not isinstance(kinds, (str, tuple, list, set, frozenset, type(None))):
        raise Invalid(f"Kinds are a list of names, not {kinds!r:.40}.")
    given = (kinds,) if isinstance(kinds, str) else tuple(kinds or ())
    for kind in given:
        if kind not in FOUND:
            raise Invalid(f"There is no kind {kind!r}. Use one of: {', '.join(FOUND)}.")
    return given


def question_of(
    query: str,
    k: int | None = None,
    *,
    as_of: str | float | None = None,
    since: str | float | None = None,
    until: str | float | None = None,
    now: str | float | None = None,
    **more: Any,
) -> Question:
    """Build a question from a caller's times."""
    first, last = parse_time(since, start=True), parse_time(until)
    return Question(query, k, as_of=parse_time(as_of), since=first, until=last, now=parse_time(now), **more)


# --- the words of a question -------------------------------------------------------------

MOST_WORDS = 40
"""Words of a question to look for, the rarest ones: a question may be a pasted page."""

_GUESSED = 8
"""Words to look up other spellings for: they cost the most."""

_ASKING = frozenset(
    "tell told say said says ask asked answer answered explain describe summarize summarise summary remind remember "
    "recall show list know knows known happen happens happened talk talked discuss discussed mention mentioned "
    "erzähl erzähle sag sagen weißt wissen dis raconte sais dime cuéntame sabes".split()
)
"""Words that ask, and hardly ever name the subject."""

_LEAST_LETTERS = 4
_LIKELY, _POSSIBLE = 0.9, 0.6
"""Factors of the forms to find variants of; less likely forms only for a word that stands nowhere."""

_OF_TIME, _BY_CHANCE = 0.5, 0.2


def read_question(query: str, indexes: Sequence[Index], when: When | None = None) -> tuple[Query, Corpus]:
    """Return the question, and what the indexes know of its words. `when`: the time it names."""
    found = _add_relations(query, _keep_rarest(_drop_asking_words(words(query)), indexes))
    if when is not None:
        said = when.text.casefold()
        # Texts hardly ever say when they were said.
        found = [_weaken(word, _OF_TIME) if word.text.casefold() in said else word for word in found]
    span = (when.first, when.last, when.strength) if when is not None else None
    speakers = find_speakers(query, {name for index in indexes for name in index.speakers()})
    known = _join_corpora(indexes, _collect_terms(found))
    found = [_weaken(word, _BY_CHANCE) if _is_by_chance(word, known) else word for word in found]
    widened = _widen_words(found, indexes, known)
    if widened != found:
        known = _join_corpora(indexes, _collect_terms(widened))
    return Query(tuple(widened), speakers, span), known


def asks_only_when(query: str, when: When) -> bool:
    """True if a question is about a time and nothing else: "What did we talk about yesterday?". A time in figures may
    stand in a text as well."""
    said = when.text.casefold()
    rest = (word.text.casefold() for word in words(query))
    return not any(map(str.isdigit, said)) and all(word in said or word in _ASKING for word in rest)


def is_bare_time(query: str, when: When) -> bool:
    """True if a question is a time and no other word: "tomorrow?"."""
    said = when.text.casefold()
    return not any(map(str.isdigit, said)) and all(word.text.casefold() in said for word in words(query))


def _is_by_chance(word: Word, known: Corpus) -> bool:
    """True for characters of an unspaced script that stand side by side nowhere else: they are the end of one word and
    the beginning of another."""
    if word.text.isascii() or runs().match(word.text) is None:
        return False
    return not any(known.df.get(term) for term, _ in word.forms)


def _drop_asking_words(found: Sequence[Word]) -> Sequence[Word]:
    """Drop words that ask, if others are left: "tell me about the heron" is about the heron."""
    kept = [word for word in found if word.text.casefold() not in _ASKING]
    little = by_language()["english"]
    if kept and all(word.text.casefold() in little for word in kept):
        named = asked_relations("", (word.text for word in kept))  # "what do I like" is about likes
        return [word for word in kept if word.text.casefold() in named] or kept
    return kept or found


def _add_relations(query: str, found: Sequence[Word]) -> list[Word]:
    """Add the relations that the words name: "where" asks for Home."""
    likely = ((term, word) for word in found for term, factor in word.forms if factor >= _LIKELY)
    names = {term: word for term, word in likely if term.isalpha()}
    names |= {word.text.casefold(): word for word in found}
    more: dict[str, dict[str, float]] = {}
    for name, terms in asked_relations(query, names).items():
        more.setdefault(names[name].text, {}).update(terms)
    return [
        word._replace(forms=(*word.forms, *sorted(more[word.text].items()))) if word.text in more else word
        for word in found
    ]


def _weaken(word: Word, factor: float) -> Word:
    return word._replace(weight=word.weight * factor)


def choose_terms(asking: Query, corpus: Corpus) -> dict[str, int]:
    """Return the terms that choose candidates, with item counts. A speaker's name stands where others address them,
    not where they speak: it chooses only if nothing else does."""
    names = {part for name in asking.speakers for part in name.split()}
    others = [word for word in asking.words if word.text.casefold() not in names]
    for some in (others, asking.words):
        terms = {term: corpus.df[term] for word in some for term, _ in word.forms if corpus.df.get(term)}
        if terms:
            return terms
    return {}


def _collect_terms(found: Iterable[Word]) -> set[str]:
    return {term for word in found for term, _ in word.forms}


def _keep_rarest(found: Sequence[Word], indexes: Sequence[Index]) -> list[Word]:
    if len(found) <= MOST_WORDS:
        return list(found)
    once = list({word.forms: word for word in found}.values())
    known = _join_corpora(indexes, _collect_terms(once)).df

    def items(word: Word) -> int:
        """Sort words that stand nowhere last: they find nothing."""
        return max((known.get(term, 0) for term, _ in word.forms), default=0) or 1 << 60

    kept = set(sorted(range(len(once)), key=lambda number: (items(once[number]), number))[:MOST_WORDS])
    return [word for number, word in enumerate(once) if number in kept]


def _join_corpora(indexes: Sequence[Index], terms: Iterable[str]) -> Corpus:
    """Join the figures of several indexes."""
    wanted = sorted(terms)
    first, *others = (index.corpus(wanted) for index in indexes)
    if not others:
        return first
    items, total, df, means = first.items, first.terms, dict(first.df), dict(first.means)
    for other in others:
        items, total = items + other.items, total + other.terms
        for term, count in other.df.items():
            df[term] = df.get(term, 0) + count
        for sort, mean in other.means.items():
            means.setdefault(sort, mean)
    return Corpus(items, total, df, means)


def _widen_words(found: Sequence[Word], indexes: Sequence[Index], known: Corpus) -> list[Word]:
    """Add other spellings of words that stand nowhere, and longer words that contain rare ones."""
    rare = max(1, known.items // 2000)
    widened: list[Word] = []
    left = _GUESSED
    for word in found:
        often = max((known.df.get(term, 0) for term, _ in word.forms), default=0)
        least = _LIKELY if often else _POSSIBLE
        likely = [term for term, factor in word.forms if factor >= least and len(term) >= _LEAST_LETTERS]
        more: dict[str, float] = {}
        if often <= rare and likely and left:
            left -= 1
            for index in indexes:
                for other, factor in _find_variants(word.text, likely, index, is_unknown=not often):
                    more[other] = max(factor, more.get(other, 0.0))
        own = {term for term, _ in word.forms}
        extra = tuple((term, factor) for term, factor in sorted(more.items()) if term not in own)
        widened.append(word._replace(forms=(*word.forms, *extra)) if extra else word)
    return widened


def _find_variants(
    text: str, likely: Sequence[str], index: Index, *, is_unknown: bool
) -> list[tuple[str, float]]:
    from looseleaf.recall.near_matches import cut_pieces, find_compounds, find_misspelled, join_pieces

    found = [each for term in likely for each in find_compounds(term, index.holding(term))]
    if is_unknown:
        found += [each for term in likely for each in find_misspelled(term, index.spelt_like(term))]
        if not found:  # perhaps a compound of known words
            found += join_pieces(text, index.corpus(cut_pieces(text)).df.keys())
    return found
