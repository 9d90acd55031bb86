"""A question: what may be asked, and of what; refused with a sentence where it makes no sense."""

from __future__ import annotations

import time

from looseleaf.base.errors import Refused
from looseleaf.base.policy import Ranking
from looseleaf.base.values import FOUND
from looseleaf.index.protocol import Corpus, Only
from looseleaf.language import terms as unspaced
from looseleaf.language.relations import asked_relations
from looseleaf.language.stems import by_language
from looseleaf.language.terms import words
from looseleaf.recall.ranking import Asked
from looseleaf.text.times import when_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from typing import Any

    from looseleaf.index.protocol import Index
    from looseleaf.language.terms import Word
    from looseleaf.recall.when import When


# A question, made ready to be answered: its words with all the forms they may have, whom and which time
# it names.

MOST_WORDS = 40
"""Words of a question that are looked for, the rarest ones. A pasted page is a question, too."""

_GUESSED = 8
"""Words of a question for which other spellings are looked for: they are what costs."""

_ASKING = frozenset(
    "tell told say said says ask asked answer answered explain describe summarize summarise summary remind remember "
    "recall show list know knows known happen happens happened talk talked discuss discussed mention mentioned "
    "erzähl erzähle sag sagen weißt wissen dis raconte sais dime cuéntame sabes".split()
)
"""Words by which one asks, and which hardly ever say what for."""

_LEAST_LETTERS = 4
_LIKELY, _POSSIBLE = 0.9, 0.6
"""Forms of a word for which others are looked for: those of every language only where it stands nowhere."""

_OF_TIME, _BY_CHANCE = 0.5, 0.2


def asked(query: str, indexes: Sequence[Index], when: When | None = None) -> tuple[Asked, Corpus]:
    """The question, and what the indexes know of its words. `when`: the time that it names."""
    found = _called(query, _rarest(_telling(words(query)), indexes))
    if when is not None:
        said = when.text.casefold()
        found = [_less(word) if word.text.casefold() in said else word for word in found]
    span = (when.first, when.last, when.strength) if when is not None else None
    speakers = _named(query, {name for index in indexes for name in index.speakers()})
    known = _corpus(indexes, _terms(found))
    found = [
        word._replace(weight=word.weight * _BY_CHANCE) if _is_by_chance(word, known) else word
        for word in found
    ]
    widened = _widened(found, indexes, known)
    if widened != found:
        known = _corpus(indexes, _terms(widened))
    return Asked(tuple(widened), speakers, span), known


def asks_only_when(query: str, when: When) -> bool:
    """Whether a question is about a time and nothing else: "What did we talk about yesterday?". One that is written in
    figures may stand in a text as well."""
    said = when.text.casefold()
    rest = (word.text.casefold() for word in words(query))
    return not any(letter.isdigit() for letter in said) and all(
        word in said or word in _ASKING for word in rest
    )


def _is_by_chance(word: Word, known: Corpus) -> bool:
    """Of a script without spaces, signs that stand beside each other nowhere else are the end of one word and the
    beginning of another."""
    if word.text.isascii() or unspaced.runs().match(word.text) is None:
        return False
    return not any(known.df.get(term) for term, _ in word.forms)


def _telling(found: Sequence[Word]) -> Sequence[Word]:
    """Without the words by which one asks, if others are left: "tell me about the heron" is about the heron."""
    kept = [word for word in found if word.text.casefold() not in _ASKING]
    little = by_language()["english"]
    if kept and all(word.text.casefold() in little for word in kept):
        named = asked_relations("", (word.text for word in kept))  # "what do I like" is about likes
        return [word for word in kept if word.text.casefold() in named] or kept
    return kept or found


def _called(query: str, found: Sequence[Word]) -> list[Word]:
    """With the relations that the words name: who asks where somebody lives means his home."""
    names = {
        term: word for word in found for term, factor in word.forms if factor >= _LIKELY and term.isalpha()
    }
    names |= {word.text.casefold(): word for word in found}
    more: dict[str, dict[str, float]] = {}
    for name, terms in asked_relations(query, names).items():
        more.setdefault(names[name].text, {}).update(terms)
    return [
        word._replace(forms=(*word.forms, *sorted(more[word.text].items()))) if word.text in more else word
        for word in found
    ]


def _less(word: Word) -> Word:
    """A word of the time that was named: what was said then hardly ever says when that is."""
    return word._replace(weight=word.weight * _OF_TIME)


def choosing(asking: Asked, corpus: Corpus) -> dict[str, int]:
    """The terms that choose candidates, and in how many items each stands. The name of a speaker is said to him, and
    stands where he does not speak: it chooses only where nothing else does."""
    names = {part for name in asking.speakers for part in name.split()}
    others = [word for word in asking.words if word.text.casefold() not in names]
    for some in (others, asking.words):
        terms = {term: corpus.df[term] for word in some for term, _ in word.forms if corpus.df.get(term)}
        if terms:
            return terms
    return {}


def _terms(found: Iterable[Word]) -> set[str]:
    return {term for word in found for term, _ in word.forms}


def _rarest(found: Sequence[Word], indexes: Sequence[Index]) -> list[Word]:
    if len(found) <= MOST_WORDS:
        return list(found)
    once = list({word.forms: word for word in found}.values())
    known = _corpus(indexes, _terms(once)).df

    def items(word: Word) -> int:
        """Words that stand nowhere come last: they find nothing."""
        return max((known.get(term, 0) for term, _ in word.forms), default=0) or 1 << 60

    kept = set(sorted(range(len(once)), key=lambda number: (items(once[number]), number))[:MOST_WORDS])
    return [word for number, word in enumerate(once) if number in kept]


def _corpus(indexes: Sequence[Index], terms: Iterable[str]) -> Corpus:
    """Of several indexes together."""
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


def _named(query: str, speakers: Iterable[str]) -> frozenset[str]:
    """The speakers whom the question names, by all of their name or a part of it."""
    said = {_bare(word) for word in query.casefold().split()} - {""}
    return frozenset(name for name in speakers if not said.isdisjoint(name.split()))


def _bare(word: str) -> str:
    word = word.strip(".,;:!?\"'()[]“”„«»‘’")
    for ending in ("'s", "’s"):
        word = word.removesuffix(ending)
    return word


def _widened(found: Sequence[Word], indexes: Sequence[Index], known: Corpus) -> list[Word]:
    """With other spellings of words that stand nowhere, and longer words that rare ones are a part of."""
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
                for other, factor in _others(word.text, likely, index, is_unknown=not often):
                    more[other] = max(factor, more.get(other, 0.0))
        own = {term for term, _ in word.forms}
        extra = tuple((term, factor) for term, factor in sorted(more.items()) if term not in own)
        widened.append(word._replace(forms=(*word.forms, *extra)) if extra else word)
    return widened


def _others(text: str, likely: Sequence[str], index: Index, *, is_unknown: bool) -> list[tuple[str, float]]:
    from looseleaf.recall.near_matches import close, made_of, parts, pieces

    found = [each for term in likely for each in parts(term, index.holding(term))]
    if is_unknown:
        found += [each for term in likely for each in close(term, index.spelt_like(term))]
        if not found:  # perhaps it is put together of words that are known
            found += made_of(text, index.corpus(pieces(text)).df.keys())
    return found


RANKING = Ranking()

_END = 253_402_300_800.0
"""The year 10000: there is no such date."""

LONGEST = 20_000
"""Characters of a question. Past that it is a document."""

_K, _K_IN_BUDGET, _MOST = 10, 50, 200


class Question:
    """What was asked, after it was looked at. Times are epoch seconds. `sure`: how sure the best hit must be; `clip`:
    each text has at most about so many tokens."""

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
        self.query = _sound(query)
        self.budget = _at_least_one("budget", budget)
        self.k = min(_at_least_one("k", k) or (_K if budget is None else _K_IN_BUDGET), _MOST)
        as_of, since, until, now = (
            _moment(name, value)
            for name, value in (("as_of", as_of), ("since", since), ("until", until), ("now", now))
        )
        self.as_of = as_of
        self.now = now if now is not None else as_of if as_of is not None else time.time()
        self.weights = weights
        self.least = weights.least if self.k <= _K else weights.least_of_many
        self.sure = weights.abstain if sure is None else _share("sure", sure)
        self.clip = _at_least_one("clip", clip)
        ends = [each for each in (until, as_of) if each is not None]
        if since is not None and until is not None and since > until:
            raise Refused("Nothing was looked for: `since` is later than `until`. Exchange them.")
        self.only = Only(
            kinds=_kinds(kinds),
            topic=_name("topic", topic),
            agent=_name("agent", agent),
            since=since,
            until=min(ends) if ends else None,
            past=as_of is not None,
        )


def _sound(query: object) -> str:
    if not isinstance(query, str):
        raise Refused(f"Nothing was looked for: a question is text, not {type(query).__name__}.")
    if not query.strip():
        raise Refused("Nothing was looked for: the question is empty. Give some words of what you look for.")
    if len(query) > LONGEST:
        raise Refused(
            f"Nothing was looked for: the question has {len(query):,} characters, and at most {LONGEST:,} are read. "
            "Ask for what matters in it."
        )
    return query


def _share(name: str, value: float) -> float:
    if type(value) not in (int, float) or not 0 <= value <= 1:
        raise Refused(f"Nothing was looked for: `{name}` must be a number from 0 to 1, not {value!r}.")
    return float(value)


def _at_least_one(name: str, value: int | None) -> int | None:
    if value is not None and (type(value) is not int or value < 1):
        raise Refused(
            f"Nothing was looked for: `{name}` must be a whole number of at least 1, not {value!r}."
        )
    return value


def _moment(name: str, value: object) -> float | None:
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not -_END < value < _END:
        raise Refused(
            f"Nothing was looked for: `{name}` must be a date (2026-02-24) or epoch seconds, not {value!r:.40}."
        )
    return float(value)


def _name(what: str, value: object) -> str:
    """What cannot be written names nothing."""
    if value is None:
        return ""
    if not isinstance(value, str):
        raise Refused(f"Nothing was looked for: `{what}` must be a name, not {value!r:.40}. Or leave it out.")
    return value.encode("utf-8", "replace").decode()


def _kinds(kinds: object) -> tuple[str, ...]:
    if not isinstance(kinds, (str, tuple, list, set, frozenset, type(None))):
        raise Refused(f"Nothing was looked for: kinds are a list of names, not {kinds!r:.40}.")
    given = (kinds,) if isinstance(kinds, str) else tuple(kinds or ())
    for kind in given:
        if kind not in FOUND:
            raise Refused(
                f"Nothing was looked for: there is no kind {kind!r}. There are: {', '.join(FOUND)}."
            )
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
    """A question whose times are as a caller gives them."""
    first, last = when_of(since, start=True), when_of(until)
    return Question(query, k, as_of=when_of(as_of), since=first, until=last, now=when_of(now), **more)
