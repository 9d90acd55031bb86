"""Rank the items that may answer a question: by words, neighbors, speaker, time and meaning.

Each word counts by how rare it is (BM25), once in an item and again, less, in its neighbors. Words in the same session,
the speaker and time that the question names, and likeness of meaning add to that. Ranking does not know where items
come from, and their order does not matter.

Ordering items and deciding whether there is an answer are separate. The first item's `score`, 0..1, says how surely the
question has an answer here, and compares between questions; the others' are scaled by their strength.
"""

from __future__ import annotations

from collections import namedtuple
from functools import partial
from math import exp, log

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
    from typing import Any, NamedTuple

    from looseleaf.base.policy import Ranking
    from looseleaf.index.protocol import Corpus, Doc

    class Query(NamedTuple):
        """A question: its words, the speakers it names, the time it names (first, last, how surely)."""

        words: Sequence[Any]
        speakers: frozenset[str]
        span: tuple[float, float, float] | None

else:
    Query = namedtuple("Query", "words speakers span")


class Scored:
    """An item that may answer, how surely, and the parts of that, computed on demand."""

    __slots__ = ("_make", "id", "score")

    def __init__(self, id: Any, score: float, make: Callable[[], dict[str, float]]) -> None:
        self.id = id
        self.score = score
        self._make = make

    @property
    def parts(self) -> dict[str, float]:
        return self._make()


NOTHING = 1e-9
"""A strength too small to count, and the share of a strength that is no part of it."""

FAINT = 0.05
"""The share that the least similar item gets of the most similar's: it is found, if there is room."""

JUDGED = 10
"""Items that decide whether there is an answer: the right one is among them, or is not shown."""

NEIGHBORS = (-2, -1, 1, 2)


def rank(
    asked: Query,
    docs: Sequence[Doc],
    corpus: Corpus,
    weights: Ranking,
    cosines: Mapping[Any, float] | None = None,
    limit: int = 100,
) -> list[Scored]:
    """Rank the items that may answer, best first, at most `limit`. `docs`: the candidates and their neighbors."""
    words = weigh_words(asked, corpus, weights)
    places = [
        doc.session * FAR + doc.seq if doc.session is not None else -FAR * (at + 1)
        for at, doc in enumerate(docs)
    ]
    found = match_words(docs, places, words, corpus, weights)
    rows = measure_strengths(asked, docs, places, found, words, corpus, weights, cosines or {})
    meant: dict[int, float] = {}
    if cosines and rows:
        meant = _weigh_meaning(rows, docs, places, cosines, weights)
        rows = [(row[0] + meant.get(row[1], 0.0), *row[1:]) for row in rows]
    rows = _select_best([row for row in rows if row[0] > NOTHING], docs, max(limit, JUDGED))
    if not rows:
        return []
    likest = max(cosines.values()) if cosines else None
    covered = _measure_coverage(rows[:JUDGED], asked, docs, places, found, words)
    sure = _rate_certainty(covered, likest, corpus, weights)
    best = rows[0][0]
    return [
        Scored(
            docs[row[1]].id,
            sure * row[0] / best,
            partial(
                _split_strength,
                *(row, found.values.get(places[row[1]], ()), meant.get(row[1], 0.0), words.masses, weights),
            ),
        )
        for row in rows[:limit]
    ]


def find_speakers(query: str, speakers: Iterable[str]) -> frozenset[str]:
    """Return the speakers whom the question names, in full or in part."""
    words = (word.strip(".,;:!?\"'()[]“”„«»‘’") for word in query.casefold().split())
    said = {word.removesuffix("'s").removesuffix("’s") for word in words} - {""}
    return frozenset(name for name in speakers if not said.isdisjoint(name.split()))


def strip_speakers(query: str, speakers: Collection[str]) -> str:
    """Drop speakers' names from a question for its meaning: to a model, texts with the same name look alike, and
    speakers do not say their own."""
    import re

    names = sorted({part for name in speakers for part in name.split()}, key=lambda part: (-len(part), part))
    if not names:
        return query
    named = "|".join(re.escape(part) for part in names)
    left = re.sub(rf"(?<!\w)(?:{named})(?:['’]s)?(?!\w)", " ", query, flags=re.IGNORECASE)
    return left if left.strip(" ?!.,") else query


def _select_best(rows: list[Row], docs: Sequence[Doc], limit: int) -> list[Row]:
    """Return the strongest; among equals the newest, then by id, so that the order of `docs` does not matter."""
    rows.sort(reverse=True)
    end = limit
    while limit and end < len(rows) and rows[end][0] == rows[limit - 1][0]:
        end += 1
    del rows[end:]
    rows.sort(key=lambda row: (-row[0], -(docs[row[1]].ts or 0.0), str(docs[row[1]].id)))
    return rows[:limit]


def _measure_coverage(
    rows: Sequence[Row],
    asked: Query,
    docs: Sequence[Doc],
    places: Sequence[int],
    found: WordMatches,
    words: Worth,
) -> float:
    """Return the share of the question found in an item, averaged with the share found in and around it; each the most
    of any item. A name is found where that person speaks, and the asked time counts as a word."""
    speaking: dict[int, str] = {}
    if asked.speakers:
        speaking = {
            place: doc.speaker
            for doc, place in zip(docs, places, strict=True)
            if doc.speaker in asked.speakers
        }
    time = words.rarest * asked.span[2] if asked.span is not None else 0.0
    total = sum(words.plain) + time
    if total <= 0.0:
        return 0.0
    most = most_around = 0.0
    for row in rows:
        place = places[row[1]]
        timely = words.rarest * row[7] if time else 0.0
        here = _find_shares(place, found, words, speaking)
        around = dict(here)
        for beside in (place + step for step in NEIGHBORS):
            if beside in found.values or beside in speaking:
                for word, share in _find_shares(beside, found, words, speaking).items():
                    around[word] = max(share, around.get(word, 0.0))
        most = max(most, timely + sum([words.plain[word] * share for word, share in here.items()]))
        most_around = max(
            most_around, timely + sum([words.plain[word] * share for word, share in around.items()])
        )
    return (most + most_around) / (2.0 * total)


def _find_shares(
    place: int, found: WordMatches, words: Worth, speaking: Mapping[int, str]
) -> dict[int, float]:
    """Return the words at a place, and how surely each is the asked one."""
    guessed = found.guesses.get(place, {})
    shares = {word: guessed.get(word, 1.0) for word, _ in found.values.get(place, ())}
    shares.update(dict.fromkeys(words.names.get(speaking.get(place, ""), ()), 1.0))
    return shares


def _rate_certainty(covered: float, likest: float | None, corpus: Corpus, weights: Ranking) -> float:
    """Return how surely there is an answer. The more items, the more of a question is found by chance."""
    over = weights.steep * (covered - weights.covered - weights.crowd * log(1.0 + corpus.items))
    if likest is not None:
        over = weights.by_words * over + weights.alike_steep * (likest - weights.alike)
    elif covered <= 0.0:
        return 0.0
    return 1.0 / (1.0 + exp(-over))


def _weigh_meaning(
    rows: Sequence[Row],
    docs: Sequence[Doc],
    places: Sequence[int],
    cosines: Mapping[Any, float],
    weights: Ranking,
) -> dict[int, float]:
    """Return what likeness of meaning adds to each item: averaged with its neighbors, spread between the least and most
    alike (what any two texts share is no likeness), as a share of the best strength by words."""
    like = {place: cosines[doc.id] for doc, place in zip(docs, places, strict=True) if doc.id in cosines}
    blended: dict[int, float] = {}
    for row in rows:
        place = places[row[1]]
        if place in like:
            beside = [like[place + step] for step in (-1, 1) if place + step in like]
            whole = like[place] + weights.meaning_around * sum(beside)
            blended[row[1]] = whole / (1.0 + weights.meaning_around * len(beside))
    if not blended:
        return {}
    least, most = min(blended.values()), max(blended.values())
    said = {row[1]: row[6] for row in rows}
    named = 1.0 + max(said.values())
    best = weights.meaning * (max(rows)[0] or 1.0) / named
    spread = (most - least) / (1.0 - FAINT)
    return {
        at: best * (1.0 + said[at]) * (FAINT + (value - least) / spread if spread else 1.0)
        for at, value in blended.items()
    }


def _split_strength(
    row: Row, direct: Values, meaning: float, masses: Sequence[float], weights: Ranking
) -> dict[str, float]:
    """Return what each part added; they sum to the strength."""
    strength, _, words, talk, full, fit, said, near, fresh = row
    context = weights.context
    own = sum(
        masses[word] * value * ((1.0 + context) / (value + context) + weights.own) for word, value in direct
    )
    base = words + talk
    whole = base * fit * (1.0 + said) * (1.0 + fresh)
    parts = {
        "words": own,
        "neighbours": words - own,
        "session": talk,
        "kind": base * (fit - 1.0),
        "speaker": base * fit * said,
        "recency": base * fit * (1.0 + said) * fresh,
        "substance": whole * full,
        "date": strength - meaning - whole * (1.0 + full) if near else 0.0,
        "meaning": meaning,
    }
    return {name: part for name, part in parts.items() if abs(part) > NOTHING * strength}


# --- strength: the arithmetic of the ranking -----------------------------------------------

if TYPE_CHECKING:
    Values = Sequence[tuple[int, float]]
    """The words of one item, and how much each counts there."""

    Row = tuple[float, int, float, float, float, float, float, float, float]
    """An item's strength and number, then its parts: words, session, substance, sort, speaker, time, recency."""

    class Worth(NamedTuple):
        """What finding each word is worth: in the order, and by rarity alone; the largest of the former; each term's
        word and how surely, and other words it may be; the words of each speaker's name."""

        masses: list[float]
        plain: list[float]
        rarest: float
        forms: dict[str, tuple[int, float]]
        others: dict[str, list[tuple[int, float]]]
        names: dict[str, list[int]]

    class WordMatches(NamedTuple):
        """Item lengths by number. By place: the words found, how much they count for neighbors if not 1, and guessed
        words with how well they match. By session: what its words count. An item without a session is its own, by
        place."""

        sizes: list[int]
        values: dict[int, Values]
        voices: dict[int, float]
        guesses: dict[int, dict[int, float]]
        talks: dict[int, float]

else:
    Worth = namedtuple("Worth", "masses plain rarest forms others names")
    WordMatches = namedtuple("WordMatches", "sizes values voices guesses talks")


DAY = 86_400.0
PLAIN = 0.85
"""A form with a lower factor is a guess: another spelling, a part of a longer word."""

FAR = 1 << 40
"""Distance between the places of two sessions: more than a session has items."""


def weigh_words(asked: Query, corpus: Corpus, weights: Ranking) -> Worth:
    """Weigh the words of a question. A term of two words belongs to the one it fits better, and a word left without
    terms is not looked for; a guessed term may stand for several, as one compound can be the whole question."""
    forms: dict[str, tuple[int, float]] = {}
    others: dict[str, list[tuple[int, float]]] = {}
    for number, word in enumerate(asked.words):
        for term, factor in word.forms:
            held = forms.get(term)
            if held is None or held[1] < factor:
                forms[term] = (number, factor)
            if held is not None:
                less = min((number, factor), held, key=lambda form: (form[1], -form[0]))
                if less[1] < PLAIN:
                    others.setdefault(term, []).append(less)
    kept = {number for number, _ in forms.values()}
    kept.update(number for forms_of in others.values() for number, _ in forms_of)
    names: dict[str, list[int]] = {name: [] for name in asked.speakers if name}
    masses, plain = [], []
    for number, word in enumerate(asked.words):
        share = word.weight if number in kept else 0.0
        known = [(corpus.df.get(term, 0) * factor, factor) for term, factor in word.forms]
        mass = share * _rarity_of([often for often, _ in known], corpus.items)
        # A word that stands nowhere is as rare as any, whatever was guessed in its place.
        plain.append(share * _rarity_of([often for often, sure in known if sure >= PLAIN], corpus.items))
        named = [name for name in names if word.text.casefold() in name.split()]
        for name in named:
            names[name].append(number)
        masses.append(mass * weights.name if named else mass)
    return Worth(masses, plain, max(masses, default=0.0) or 1.0, forms, others, names)


def _rarity_of(often: Sequence[float], items: int) -> float:
    known = max(often, default=0.0)
    return log(1.0 + (items - min(known, items) + 0.5) / (known + 0.5))


def match_words(
    docs: Sequence[Doc], places: Sequence[int], words: Worth, corpus: Corpus, weights: Ranking
) -> WordMatches:
    """Find the question's words in each item."""
    forms, others, masses = words.forms, words.others, words.masses
    wanted = frozenset(forms)
    lengths: dict[tuple[str, str], tuple[float, float, float]] = {}
    again = weights.repeats
    sizes: list[int] = []
    found: dict[int, Values] = {}
    voices: dict[int, float] = {}
    guesses: dict[int, dict[int, float]] = {}
    counts: dict[int, dict[int, float]] = {}
    for doc, place in zip(docs, places, strict=True):
        terms = doc.terms.split()
        sizes.append(len(terms))
        here = wanted.intersection(terms)
        if not here:
            continue
        session = place if doc.session is None else doc.session
        often = counts.get(session)
        if often is None:
            often = counts[session] = {}
        sort = doc[5:7]
        length = lengths.get(sort)
        if length is None:
            voice = _rate_voice(doc, corpus, weights)
            length = lengths[sort] = (*_length_weights(doc, corpus, weights), voice)
        norm = again * (length[0] + length[1] * len(terms))
        voice = length[2]
        if voice != 1.0:
            voices[place] = voice
        if len(here) == 1 and not others:  # the common case, faster
            (term,) = here
            word, factor = forms[term]
            if factor < PLAIN:
                guesses[place] = {word: factor}
            count = factor * terms.count(term)
            often[word] = often.get(word, 0.0) + count * voice
            found[place] = ((word, count * (1.0 + again) / (count + norm)),)
            continue
        times: dict[int, float] = {}
        best: dict[int, float] = {}
        for term in sorted(here):  # sums are the same in every process
            for word, factor in (forms[term], *others.get(term, ())):
                best[word] = max(factor, best.get(word, 0.0))
                times[word] = times.get(word, 0.0) + factor * terms.count(term)
        if min(best.values()) < PLAIN:
            guesses[place] = {word: factor for word, factor in best.items() if factor < PLAIN}
        for word, count in times.items():
            often[word] = often.get(word, 0.0) + count * voice
        found[place] = [(word, count * (1.0 + again) / (count + norm)) for word, count in times.items()]
    again = weights.session_repeats
    talks = {
        session: weights.session
        * sum([masses[word] * count / (count + again) for word, count in often.items()])
        for session, often in counts.items()
    }
    return WordMatches(sizes, found, voices, guesses, talks)


def _length_weights(doc: Doc, corpus: Corpus, weights: Ranking) -> tuple[float, float]:
    """Return how length counts: a base, and what each term adds. The usual length is half way between items of its
    sort and all items, so that short facts and long answers compare."""
    everywhere = corpus.terms / corpus.items if corpus.items and corpus.terms else weights.short_terms
    usual = (everywhere * (corpus.means.get((doc.kind, doc.role)) or everywhere)) ** 0.5
    way = log(max(usual, 1.0) / weights.short_terms) / log(weights.long_terms / weights.short_terms)
    much = weights.short_length + (weights.long_length - weights.short_length) * min(max(way, 0.0), 1.0)
    return 1.0 - much, much / max(usual, 1.0)


def measure_strengths(
    asked: Query,
    docs: Sequence[Doc],
    places: Sequence[int],
    there: WordMatches,
    asked_words: Worth,
    corpus: Corpus,
    weights: Ranking,
    cosines: Mapping[Any, float],
) -> list[Row]:
    """Rate each item that has a word of the question in or near it, is of its time, or is like it."""
    sizes, found, voices, _, talks = there
    span, context, own = asked.span, weights.context, weights.own
    substance, little = weights.substance, weights.little
    recent, age = weights.recent, DAY * weights.recent_days
    masses, rarest = asked_words.masses, asked_words.rarest
    newest = max([doc.ts for doc in docs if doc.ts is not None], default=0.0)
    steps = ((-1, weights.before), (1, weights.after), (-2, weights.second_before), (2, weights.second_after))
    speakers = asked.speakers - {""}
    company = {doc.session for doc in docs if doc.speaker in speakers} if speakers else ()
    fits: dict[Any, float] = {}
    rows: list[Row] = []
    for at, place in enumerate(places):
        item, _, session, _, speaker, role, kind, ts, _ = doc = docs[at]
        direct = found.get(place, ())
        values = dict(direct)
        for step, factor in steps:
            if place + step in found:
                if place + step in voices:
                    factor *= voices[place + step]
                for word, value in found[place + step]:
                    values[word] = values.get(word, 0.0) + factor * value
        near = _rate_time(ts, span, weights) if span is not None else 0.0
        if not values and near <= 0.0 and item not in cosines:
            continue
        words = 0.0
        for word, value in values.items():
            words += masses[word] * value / (value + context)
        words *= 1.0 + context
        for word, value in direct:
            words += own * masses[word] * value
        talk = talks.get(place if session is None else session, 0.0)
        full = substance * sizes[at] / (sizes[at] + little)
        fit = fits.get((kind, role))
        if fit is None:
            is_talk = kind == "trace"
            fit = _rate_voice(doc, corpus, weights) if is_talk else float(getattr(weights, role or kind, 1.0))
            fits[kind, role] = fit
        said = 0.0
        if speakers:
            if speaker in speakers:
                said = weights.company + weights.speaker
            elif session is not None and session in company:
                said = weights.company
        fresh = recent * age / (age + newest - ts) if ts is not None else 0.0
        strength = (words + talk) * (1.0 + full) * fit * (1.0 + said) * (1.0 + fresh)
        if near:
            strength += near * (weights.date * strength + weights.dated * rarest)
        rows.append((strength, at, words, talk, full, fit, said, near, fresh))
    return rows


def _rate_time(ts: float | None, span: tuple[float, float, float], weights: Ranking) -> float:
    """Return how close an item is to the asked time: 1 within it, less the farther away."""
    if ts is None:
        return 0.0
    first, last, strength = span
    if ts < first:
        return strength * exp((ts - first) / (DAY * weights.days_before))
    if ts > last:
        return strength * exp((last - ts) / (DAY * weights.days_after))
    return strength


def _rate_voice(doc: Doc, corpus: Corpus, weights: Ranking) -> float:
    """Return how much an item's words count, by who says them; for its neighbors too."""
    if doc.role == "tool":
        return weights.tool
    user, assistant = corpus.means.get(("trace", "user")), corpus.means.get(("trace", "assistant"))
    if doc.role != "assistant" or not user or not assistant or assistant <= user:
        return 1.0
    return float((user / assistant) ** weights.verbose)
