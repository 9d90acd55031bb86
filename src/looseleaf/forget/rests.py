"""What a fact rests on, after some sources went."""

from __future__ import annotations

from looseleaf.log.entries import FOLDER

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from looseleaf.base.values import Record


class Rests:
    """`traces` are the ids of those that go, `entries` the references."""

    def __init__(self, traces: Iterable[str], entries: Iterable[str]) -> None:
        self._gone = set(traces)
        for reference in entries:
            self._gone |= {f"{FOLDER}/{reference}/raw.md", reference.rpartition("/")[2]}
        self._facts: set[str] = set()

    def add(self, facts: Iterable[str]) -> None:
        """The ids of facts that rested on an agent's word alone, which goes."""
        self._facts.update(facts)

    def _left(self, told: Record) -> list[str]:
        return [each for each in _sources(told) if each.partition("#")[0] not in self._gone]

    def are_gone(self, told: Record) -> bool:
        """Whether all that a fact was made of went: a person's yes to it is a word on what is not there."""
        words = [each for each in _sources(told) if "@" not in each]
        if words:
            return not {*words} & {*self._left(told)}
        if not told.get("entry_id") and told.get("id") in self._facts:
            return True
        return told.get("entry_id") in self._gone

    def has_lost(self, told: Record) -> bool:
        """Whether something of it went."""
        return self._left(told) != _sources(told) or told.get("entry_id") in self._gone

    def without(self, told: Record) -> Record:
        """What is told of a fact, without what went; nobody knows whose the quote was."""
        return {name: value for name, value in told.items() if name != "quote"} | {
            "sources": self._left(told)
        }


def _sources(told: Record) -> list[str]:
    return [str(each) for each in told.get("sources") or ()]
