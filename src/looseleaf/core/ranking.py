"""Which items answer a question: by its words, what stands around them, who said it, when, and what it means.

Each word counts by how rare it is (BM25), once in an item and again, less, in its neighbours; words that stand in the
same session, the speaker and the time that the question names, and the likeness of meaning are added. Nothing here
knows where items come from, and the same items in another order are ranked alike.

Two things are told apart: the order of the items of one question, and whether the best of them is an answer at all.
`score` grows with the order and is comparable between questions: 0 is surely not, 1 is surely.
"""

from __future__ import annotations

from collections import namedtuple
from math import exp, log

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any, NamedTuple

    from looseleaf.policy import Ranking

    class Doc(NamedTuple):
        """An item as the index has it. `terms` is one text; neighbours in a session differ by one in `seq`."""

        id: Any
        terms: str
        session: int | None
        seq: int
        speaker: str
        role: str
        kind: str
        ts: float | None
        level: str | None

    class Corpus(NamedTuple):
        """What the index knows of all items: how many, of how many terms, how many have an asked term, mean lengths."""

        items: int
        terms: int
        df: Mapping[str, int]
        means: Mapping[tuple[str, str], float]

    class Asked(NamedTuple):
        """A question: its words, the speakers it names, the time it names (first, last, how surely)."""

        words: Sequence[Any]
        speakers: frozenset[str]
        span: tuple[float, float, float] | None

    class Scored(NamedTuple):
        """An item that may answer, how surely, and what that is made of."""

        id: Any
        score: float
        parts: dict[str, float]

else:
    Doc = namedtuple("Doc", "id terms session seq speaker role kind ts level")
    Corpus = namedtuple("Corpus", "items terms df means")
    Asked = namedtuple("Asked", "words speakers span")
    Scored = namedtuple("Scored", "id score parts")

DAY = 86_400.0
LEAST = 4.0
"""What a question's words are taken to be worth more than they are: one common word found is no sure answer."""

NOTHING = 1e-9
"""A part of an explanation that is smaller is left out."""

FAR = 1 << 40
"""Between the places of two sessions: more than a session has items."""

if TYPE_CHECKING:
    Values = Sequence[tuple[int, float]]
    """The words of one item, and how much each counts there."""

    Row = tuple[float, int, float, float, float, float, float, float, float]
    """How strong an item is, its number, and of that: words, session, substance, sort, speaker, time, recency."""


def rank(
    asked: Asked,
    docs: Sequence[Doc],
    corpus: Corpus,
    weights: Ranking,
    cosines: Mapping[Any, float] | None = None,
    limit: int = 100,
) -> list[Scored]:
    """The items that may answer, the best first, at most `limit`. `docs`: the candidates and the items around them."""
    masses, forms = _words(asked, corpus, weights)
    places = [
        doc.session * FAR + doc.seq if doc.session is not None else -FAR * (at + 1)
        for at, doc in enumerate(docs)
    ]
    sizes, found, talks = _found(docs, places, forms, masses, corpus, weights)
    rows = _rows(asked, docs, places, sizes, found, talks, masses, corpus, weights, cosines or {})
    likest: Mapping[Any, float] = {}
    share = 0.0
    if cosines:
        likest = _spread(cosines)
        share = weights.meaning * (max(rows)[0] or 1.0 if rows else 1.0)
        rows = [(row[0] + share * likest.get(docs[row[1]].id, 0.0), *row[1:]) for row in rows]
    total = sum(masses)
    return [
        Scored(
            docs[row[1]].id,
            _sure(row[0], total),
            _parts(
                row,
                found.get(places[row[1]], ()),
                share * likest.get(docs[row[1]].id, 0.0),
                masses,
                weights,
            ),
        )
        for row in _best(rows, docs, limit)
    ]


def _best(rows: list[Row], docs: Sequence[Doc], limit: int) -> list[Row]:
    """The strongest; of equals the newest, and then the order of ids, so that the order of `docs` does not matter."""
    rows.sort(reverse=True)
    end = limit
    while limit and end < len(rows) and rows[end][0] == rows[limit - 1][0]:
        end += 1
    del rows[end:]
    rows.sort(key=lambda row: (-row[0], -(docs[row[1]].ts or 0.0), str(docs[row[1]].id)))
    return rows[:limit]


def _words(
    asked: Asked, corpus: Corpus, weights: Ranking
) -> tuple[list[float], dict[str, tuple[int, float]]]:
    """What finding each word is worth, and which word each term stands for. A term of two words is the first's
    unless it is more the other's; a word left without any is not looked for, as the other is it."""
    names = {part for name in asked.speakers for part in name.split()}
    forms: dict[str, tuple[int, float]] = {}
    for number, word in enumerate(asked.words):
        for term, factor in word.forms:
            if term not in forms or forms[term][1] < factor:
                forms[term] = (number, factor)
    kept = {number for number, _ in forms.values()}
    masses = []
    for number, word in enumerate(asked.words):
        known = max((corpus.df.get(term, 0) * factor for term, factor in word.forms), default=0.0)
        rarity = log(1.0 + (corpus.items - min(known, corpus.items) + 0.5) / (known + 0.5))
        worth = weights.name if word.text.casefold() in names else 1.0
        masses.append(rarity * word.weight * worth if number in kept else 0.0)
    return masses, {term: form for term, form in forms.items() if masses[form[0]] > 0.0}


def _found(
    docs: Sequence[Doc],
    places: Sequence[int],
    forms: Mapping[str, tuple[int, float]],
    masses: Sequence[float],
    corpus: Corpus,
    weights: Ranking,
) -> tuple[list[int], dict[int, Values], dict[int, float]]:
    """The length of each item; by place, the words of those that have any; and what the words of each session count,
    by the first place it could have. An item of no session is one by itself."""
    wanted = frozenset(forms)
    lengths: dict[tuple[str, str], tuple[float, float]] = {}
    again = weights.repeats
    sizes: list[int] = []
    found: dict[int, Values] = {}
    counts: dict[int, dict[int, float]] = {}
    for doc, place in zip(docs, places, strict=True):
        terms = doc.terms.split()
        sizes.append(len(terms))
        here = wanted.intersection(terms)
        if not here:
            continue
        often = counts.get(place // FAR)
        if often is None:
            often = counts[place // FAR] = {}
        sort = doc[5:7]
        length = lengths.get(sort)
        if length is None:
            length = lengths[sort] = _length(doc, corpus, weights)
        norm = again * (length[0] + length[1] * len(terms))
        times: dict[int, float] = {}
        for term in here:
            word, factor = forms[term]
            times[word] = times.get(word, 0.0) + factor * terms.count(term)
        for word, count in times.items():
            often[word] = often.get(word, 0.0) + count
        found[place] = [(word, count * (1.0 + again) / (count + norm)) for word, count in times.items()]
    again = weights.session_repeats
    talks = {
        session: weights.session
        * sum([masses[word] * count / (count + again) for word, count in often.items()])
        for session, often in counts.items()
    }
    return sizes, found, talks


def _length(doc: Doc, corpus: Corpus, weights: Ranking) -> tuple[float, float]:
    """How the length of an item counts: what every item has, and what each of its terms adds. What is usual is half
    way between items of its sort and all items, so that short facts and long answers can be compared."""
    everywhere = corpus.terms / corpus.items if corpus.items and corpus.terms else weights.short_terms
    usual = (everywhere * (corpus.means.get((doc.kind, doc.role)) or everywhere)) ** 0.5
    way = log(max(usual, 1.0) / weights.short_terms) / log(weights.long_terms / weights.short_terms)
    much = weights.short_length + (weights.long_length - weights.short_length) * min(max(way, 0.0), 1.0)
    return 1.0 - much, much / max(usual, 1.0)


def _rows(
    asked: Asked,
    docs: Sequence[Doc],
    places: Sequence[int],
    sizes: Sequence[int],
    found: Mapping[int, Values],
    talks: Mapping[int, float],
    masses: Sequence[float],
    corpus: Corpus,
    weights: Ranking,
    cosines: Mapping[Any, float],
) -> list[Row]:
    """Every item that has a word of the question in or around it, is of its time, or is like it."""
    span, context, own = asked.span, weights.context, weights.own
    substance, little = weights.substance, weights.little
    recent, age = weights.recent, DAY * weights.recent_days
    rarest = max(masses, default=0.0) or 1.0
    newest = max([doc.ts for doc in docs if doc.ts is not None], default=0.0)
    steps = (
        (-1, weights.before),
        (1, weights.after),
        (-2, weights.second_before),
        (2, weights.second_after),
    )
    speakers = asked.speakers - {""}
    company = {place // FAR for doc, place in zip(docs, places, strict=True) if doc.speaker in speakers}
    fits: dict[Any, float] = {}
    rows: list[Row] = []
    at_place = found.get
    for at, place in enumerate(places):
        doc = docs[at]
        direct = at_place(place, ())
        values = dict(direct)
        for step, factor in steps:
            there = at_place(place + step)
            if there is not None:
                for word, value in there:
                    values[word] = values.get(word, 0.0) + factor * value
        ts = doc.ts
        near = _near(ts, span, weights) if span is not None else 0.0
        if not values and near <= 0.0 and doc.id not in cosines:
            continue
        words = 0.0
        for word, value in values.items():
            words += masses[word] * value / (value + context)
        words *= 1.0 + context
        for word, value in direct:
            words += own * masses[word] * value
        talk = talks.get(place // FAR, 0.0)
        size = sizes[at]
        full = substance * size / (size + little)
        sort = doc[5:7]
        fit = fits.get(sort)
        if fit is None:
            fit = fits[sort] = _fit(doc, corpus, weights)
        said = 0.0
        if speakers and place // FAR in company:
            said = weights.company + (weights.speaker if doc.speaker in speakers else 0.0)
        fresh = recent * age / (age + newest - ts) if ts is not None else 0.0
        strength = (words + talk) * (1.0 + full) * fit * (1.0 + said) * (1.0 + fresh)
        if near:
            strength += near * (weights.date * strength + weights.dated * rarest)
        rows.append((strength, at, words, talk, full, fit, said, near, fresh))
    return rows


def _near(ts: float | None, span: tuple[float, float, float], weights: Ranking) -> float:
    """How much an item is of the asked time: 1 within it, less the farther away."""
    if ts is None:
        return 0.0
    first, last, strength = span
    if ts < first:
        return strength * exp((ts - first) / (DAY * weights.days_before))
    if ts > last:
        return strength * exp((last - ts) / (DAY * weights.days_after))
    return strength


def _fit(doc: Doc, corpus: Corpus, weights: Ranking) -> float:
    """What an item of this sort counts."""
    if doc.kind != "trace":
        return float(getattr(weights, doc.kind, 1.0))
    if doc.role == "tool":
        return weights.tool
    user, assistant = corpus.means.get(("trace", "user")), corpus.means.get(("trace", "assistant"))
    if doc.role != "assistant" or not user or not assistant or assistant <= user:
        return 1.0
    return float((user / assistant) ** weights.verbose)


def _spread(cosines: Mapping[Any, float]) -> dict[Any, float]:
    """The likenesses from 0 to 1: what two texts of the memory have in common anyway is no likeness."""
    least, most = min(cosines.values()), max(cosines.values())
    if most <= least:
        return dict.fromkeys(cosines, 1.0)
    return {item: (cosine - least) / (most - least) for item, cosine in cosines.items()}


def _parts(
    row: Row, direct: Values, meaning: float, masses: Sequence[float], weights: Ranking
) -> dict[str, float]:
    """What each thing added; together they are the strength."""
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
    return {name: part for name, part in parts.items() if abs(part) > NOTHING}


def _sure(strength: float, total: float) -> float:
    """How surely an item of this strength answers a question whose words are worth `total`."""
    return strength / (strength + total + LEAST) if strength > 0.0 else 0.0
