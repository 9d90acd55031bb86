"""Lines that go and come: those that one edit took away, until it is known what became of each; and those that somebody
lately took off one page by hand, or put on one. A page that is moved is seen as one that goes and one that comes, in
either order.

Invariant: what is remembered is forgotten by the times of edits alone, so that the same edits leave the same.
"""

from __future__ import annotations

from itertools import count

from looseleaf.base.origins import is_at_least
from looseleaf.base.paths import PINNED

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any

    from looseleaf.base.values import Ended, Fact
    from looseleaf.facts.page_lines import Shard, Sheet

TAKEN = "-"
PUT = "+"

_SOURCES = 20
"""Sources of one fact that are kept: the first, and the latest."""

_SECONDS = 120.0
_MOST = 20_000
"""Lines that are remembered at most: more were never moved within two minutes by one hand."""


class Moves:
    def __init__(self) -> None:
        self._all: dict[int, list[Any]] = {}
        """[ts, way, relation, object, topic, id], oldest first."""
        self._by_line: dict[tuple[str, str, str], list[int]] = {}
        self._numbers = count()

    def to_list(self) -> list[list[Any]]:
        return list(self._all.values())

    def extend(self, moves: list[list[Any]]) -> None:
        for move in moves:
            self._add(move)

    def _add(self, move: list[Any]) -> None:
        number = next(self._numbers)
        self._all[number] = move
        self._by_line.setdefault(tuple(move[1:4]), []).append(number)

    def _drop(self, number: int) -> list[Any]:
        move = self._all.pop(number)
        line = tuple(move[1:4])
        self._by_line[line].remove(number)
        if not self._by_line[line]:
            del self._by_line[line]
        return move

    def forget(self, ts: float) -> None:
        """At this time, what is long ago."""
        while self._all:
            oldest = next(iter(self._all))
            if len(self._all) <= _MOST and self._all[oldest][0] >= ts - _SECONDS:
                break
            self._drop(oldest)

    def remember(self, way: str, ts: float, fact: Fact) -> None:
        self._add([ts, way, fact.relation, fact.object, fact.topic, fact.id])

    def find(self, way: str, ts: float, fact: Fact) -> tuple[str, str] | None:
        """The topic and the id of the same line, which went the way not long before; it is not found again."""
        for number in self._by_line.get((way, fact.relation, fact.object), ()):
            if abs(self._all[number][0] - ts) <= _SECONDS:
                move = self._drop(number)
                return move[4], move[5]
        return None


class Left:
    """The facts whose lines an edit took away, until it is known what became of each."""

    def __init__(self, shard: Shard, gone: Iterable[str]) -> None:
        from looseleaf.language.slots import relation_of

        self._facts = {name: shard.facts[name] for name in gone if name in shard.facts}
        self._by_line: dict[tuple[str, str], list[str]] = {}
        self._by_label: dict[str, list[str]] = {}
        for name, fact in reversed(self._facts.items()):
            self._by_line.setdefault((fact.relation, fact.object), []).append(name)
            self._by_label.setdefault(relation_of(fact.relation).label, []).append(name)

    def pop(self, name: str | None) -> Fact | None:
        return self._facts.pop(name, None) if name is not None else None

    def moved(self, read: Fact) -> Fact | None:
        """The one that said the same."""
        return self._first(self._by_line.get((read.relation, read.object), []))

    def replaced(self, read: Fact) -> Fact | None:
        """The one in whose place this stands now: of the same relation, and of many values the only one."""
        from looseleaf.language.slots import relation_of

        relation = relation_of(read.relation)
        if relation.many and len(self._facts) != 1:
            return None
        return self._first(self._by_label.get(relation.label, []), only="current")

    def _first(self, names: list[str], only: str | None = None) -> Fact | None:
        while names:
            name = names.pop()
            if name in self._facts and only in (None, self._facts[name].status):
                return self._facts.pop(name)
        return None

    def rest(self) -> list[str]:
        return list(self._facts)


# --- lines of one fact on two pages of its topic -----------------------------------------


class Lines:
    """Where the facts of a shard stand, looked up once for all that one edit does: no line moves meanwhile. `ended` is
    what the edit says has ended."""

    def __init__(self, shard: Shard, ended: Iterable[Ended]) -> None:
        self._shard = shard
        self._at: dict[str, tuple[Sheet, int]] | None = None
        self._replaced: dict[str | None, list[str]] = {}
        for name, _, by in ended:
            self._replaced.setdefault(by, []).append(name)

    def replaced_by(self, name: str) -> list[str]:
        """The facts that the edit says this one replaces."""
        return self._replaced.get(name, [])

    def hand_over(self, name: str, other: str) -> str:
        """Have the line of one fact stand for another one; the page that it stands on."""
        if self._at is None:
            sheets = self._shard.sheets.values()
            self._at = {each: (sheet, at) for sheet in sheets for at, each in enumerate(sheet.ids) if each}
        sheet, at = self._at[other] = self._at.pop(name)
        sheet.ids[at] = other
        self._shard.standing.discard(name)
        self._shard.standing.add(other)
        return sheet.path


def drop(shard: Shard, name: str) -> None:
    """As if there had never been such a fact."""
    fact = shard.facts.pop(name)
    shard._like[fact.relation, fact.object].discard(name)


def latest(sources: tuple[str, ...]) -> tuple[str, ...]:
    return sources if len(sources) <= _SOURCES else (sources[0], *sources[-_SOURCES + 1 :])


def says_same(fact: Fact, other: Fact) -> bool:
    from looseleaf.language.slots import slot
    from looseleaf.language.value_keys import key

    return slot(fact.topic, fact.relation) == slot(other.topic, other.relation) and (
        key(fact.object, fact.relation) == key(other.object, other.relation)
    )


def merged(fact: Fact, like: Fact) -> Fact:
    """One of two that say the same, on the line of the other: it rests on the words of both."""
    better = fact if is_at_least(fact.level, like.level or "tainted") else like
    return fact.but(
        relation=like.relation,
        object=like.object,
        sources=latest(tuple(dict.fromkeys((*fact.sources, *like.sources)))),
        tags=tuple(dict.fromkeys((*fact.tags, *(tag for tag in like.tags if tag == PINNED)))),
        level=better.level,
        confidence=better.confidence,
        user_fact_score=fact.user_fact_score if fact.user_fact_score is not None else like.user_fact_score,
    )
