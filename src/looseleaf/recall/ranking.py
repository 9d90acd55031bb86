"""Which items answer a question: by its words, what stands around them, who said it, when, and what it means.

Each word counts by how rare it is (BM25), once in an item and again, less, in its neighbours; words that stand in the
same session, the speaker and the time that the question names, and the likeness of meaning are added. Nothing here
knows where items come from, and the same items in another order are ranked alike.

Two things are told apart: the order of the items of one question, and whether the best of them is an answer at all.
The first item's `score` says how surely the question has an answer here, 0..1, comparable between questions; the
others' are the parts of it that their strength is of the first one's.
"""

from __future__ import annotations

from collections import namedtuple
from functools import partial
from math import exp, log

from looseleaf.recall.scoring import FAR, found_words, strengths, worth

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping, Sequence
    from typing import Any, NamedTuple

    from looseleaf.base.policy import Ranking
    from looseleaf.recall.scoring import Found, Row, Values, Worth

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

else:
    Doc = namedtuple("Doc", "id terms session seq speaker role kind ts level")
    Corpus = namedtuple("Corpus", "items terms df means")
    Asked = namedtuple("Asked", "words speakers span")


class Scored:
    """An item that may answer, how surely, and what that is made of: told of those that are looked at."""

    __slots__ = ("_make", "id", "score")

    def __init__(self, id: Any, score: float, make: Callable[[], dict[str, float]]) -> None:
        self.id = id
        self.score = score
        self._make = make

    @property
    def parts(self) -> dict[str, float]:
        return self._make()


NOTHING = 1e-9
"""What is no stronger is not found, and a part that adds no more is not told."""

FAINT = 0.05
"""What the least like has of the likest's part: it is found, if there is room."""

JUDGED = 10
"""Items that are looked at to say whether there is an answer: the right one is among them, or is not shown."""

NEIGHBOURS = (-2, -1, 1, 2)


def rank(
    asked: Asked,
    docs: Sequence[Doc],
    corpus: Corpus,
    weights: Ranking,
    cosines: Mapping[Any, float] | None = None,
    limit: int = 100,
) -> list[Scored]:
    """The items that may answer, the best first, at most `limit`. `docs`: the candidates and the items around them."""
    words = worth(asked, corpus, weights)
    places = [
        doc.session * FAR + doc.seq if doc.session is not None else -FAR * (at + 1)
        for at, doc in enumerate(docs)
    ]
    found = found_words(docs, places, words, corpus, weights)
    rows = strengths(asked, docs, places, found, words, corpus, weights, cosines or {})
    meant: dict[int, float] = {}
    if cosines and rows:
        meant = _meant(rows, docs, places, cosines, weights)
        rows = [(row[0] + meant.get(row[1], 0.0), *row[1:]) for row in rows]
    rows = _best([row for row in rows if row[0] > NOTHING], docs, max(limit, JUDGED))
    if not rows:
        return []
    likest = max(cosines.values()) if cosines else None
    sure = _sure(_covered(rows[:JUDGED], asked, docs, places, found, words), likest, corpus, weights)
    best = rows[0][0]
    return [
        Scored(
            docs[row[1]].id,
            sure * row[0] / best,
            partial(
                _parts,
                *(row, found.values.get(places[row[1]], ()), meant.get(row[1], 0.0), words.masses, weights),
            ),
        )
        for row in rows[:limit]
    ]


def unnamed(query: str, speakers: Collection[str]) -> str:
    """A question without the names of speakers, for its meaning: to a model, a text in which a name stands is like a
    question in which it stands, and he who speaks does not say his own."""
    import re

    names = sorted({part for name in speakers for part in name.split()}, key=lambda part: (-len(part), part))
    if not names:
        return query
    named = "|".join(re.escape(part) for part in names)
    left = re.sub(rf"(?<!\w)(?:{named})(?:['’]s)?(?!\w)", " ", query, flags=re.IGNORECASE)
    return left if left.strip(" ?!.,") else query


def _best(rows: list[Row], docs: Sequence[Doc], limit: int) -> list[Row]:
    """The strongest; of equals the newest, and then the order of ids, so that the order of `docs` does not matter."""
    rows.sort(reverse=True)
    end = limit
    while limit and end < len(rows) and rows[end][0] == rows[limit - 1][0]:
        end += 1
    del rows[end:]
    rows.sort(key=lambda row: (-row[0], -(docs[row[1]].ts or 0.0), str(docs[row[1]].id)))
    return rows[:limit]


def _covered(
    rows: Sequence[Row],
    asked: Asked,
    docs: Sequence[Doc],
    places: Sequence[int],
    found: Found,
    words: Worth,
) -> float:
    """The part of what was asked that stands in an item, half way to the part that stands in and around it; of those
    of the items that have most. A name is found where he speaks, and the asked time is found as a word would be."""
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
        here = _shares(place, found, words, speaking)
        around = dict(here)
        for beside in (place + step for step in NEIGHBOURS):
            if beside in found.values or beside in speaking:
                for word, share in _shares(beside, found, words, speaking).items():
                    around[word] = max(share, around.get(word, 0.0))
        most = max(most, timely + sum([words.plain[word] * share for word, share in here.items()]))
        most_around = max(
            most_around, timely + sum([words.plain[word] * share for word, share in around.items()])
        )
    return (most + most_around) / (2.0 * total)


def _shares(place: int, found: Found, words: Worth, speaking: Mapping[int, str]) -> dict[int, float]:
    """The words that stand at a place, and how surely each is the asked one."""
    guessed = found.guesses.get(place, {})
    shares = {word: guessed.get(word, 1.0) for word, _ in found.values.get(place, ())}
    shares.update(dict.fromkeys(words.names.get(speaking.get(place, ""), ()), 1.0))
    return shares


def _sure(covered: float, likest: float | None, corpus: Corpus, weights: Ranking) -> float:
    """How surely there is an answer. The more items there are, the more of a question stands somewhere by chance."""
    over = weights.steep * (covered - weights.covered - weights.crowd * log(1.0 + corpus.items))
    if likest is not None:
        over = weights.by_words * over + weights.alike_steep * (likest - weights.alike)
    elif covered <= 0.0:
        return 0.0
    return 1.0 / (1.0 + exp(-over))


def _meant(
    rows: Sequence[Row],
    docs: Sequence[Doc],
    places: Sequence[int],
    cosines: Mapping[Any, float],
    weights: Ranking,
) -> dict[int, float]:
    """What likeness of meaning adds to each item: together with its neighbours', spread from the least to the most at
    hand (what any two texts have in common is no likeness), and as a part of the best strength by words."""
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
