"""The `Index` protocol, small enough for a second implementation, and the values that go in and come out."""

from __future__ import annotations

from collections import namedtuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from contextlib import AbstractContextManager
    from typing import Any, NamedTuple, Protocol

    class Item(NamedTuple):
        """One thing that can be found. Its text is not kept: `source` and the places say where it stands.

        `name`: a trace's id, a fact's id, an entry's reference, a page's path. `segment` and `byte` are the place of a
        line in a log; `first` and `last` are lines of a page (from 1), or characters of a text of which this is a
        passage (0, 0: all of it). `session` groups what stands next to each other, in the order in which it is given;
        "" for what stands alone.
        """

        kind: str
        name: str
        terms: Sequence[str]
        hash: int
        session: str = ""
        speaker: str = ""
        role: str = ""
        ts: float | None = None
        level: str = ""
        status: str = ""
        topic: str = ""
        segment: int = 0
        byte: int = 0
        first: int = 0
        last: int = 0

    class Found(NamedTuple):
        """An item as it was found: where it stands, and what is known of it."""

        id: int
        source: str
        kind: str
        name: str
        hash: int
        session: str
        speaker: str
        role: str
        ts: float | None
        level: str
        status: str
        topic: str
        segment: int
        byte: int
        first: int
        last: int

    class Doc(NamedTuple):
        """An item as the ranking sees it. `terms` is one text; neighbors in a session differ by one in `seq`."""

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
        """Figures over all items: how many, how many terms, in how many each asked term stands, mean lengths."""

        items: int
        terms: int
        df: Mapping[str, int]
        means: Mapping[tuple[str, str], float]

    class Only(NamedTuple):
        """What may be found. Empty: anything. Times are epoch seconds.

        `past`: also facts that are true no longer, and those said after `until`: what was true then is often heard
        later, and whoever asks looks at what each says of its time.
        """

        kinds: tuple[str, ...] = ()
        topic: str = ""
        agent: str = ""
        since: float | None = None
        until: float | None = None
        past: bool = False
        hidden: tuple[str, ...] = ()
        """Sources that are out of date."""

else:
    Protocol = object
    Item = namedtuple(
        "Item",
        "kind name terms hash session speaker role ts level status topic segment byte first last",
        defaults=("", "", "", None, "", "", "", 0, 0, 0, 0),
    )
    Found = namedtuple(
        "Found",
        "id source kind name hash session speaker role ts level status topic segment byte first last",
    )
    Doc = namedtuple("Doc", "id terms session seq speaker role kind ts level")
    Corpus = namedtuple("Corpus", "items terms df means")
    Only = namedtuple(
        "Only",
        "kinds topic agent since until past hidden",
        defaults=((), "", "", None, None, False, ()),
    )


class Marks(Protocol):
    def mark(self, source: str) -> str:
        """How far a source was taken: whatever was given with it last; "" if it never was."""

    def marks(self, begin: str) -> dict[str, str]:
        """The same of all sources whose names begin so."""


class Index(Marks, Protocol):
    def change(self) -> AbstractContextManager[object]:
        """All or nothing of what is done in the block, and nobody else meanwhile."""

    def take(
        self,
        source: str,
        mark: str,
        items: Iterable[Item],
        *,
        anew: bool = ...,
        over: Iterable[tuple[str, str]] = ...,
    ) -> None:
        """Add items of a source; with `anew` in place of all that it had. `over`: traces that say what is true no
        longer, each with the id of the fact."""

    def drop(self, source: str) -> None:
        """Forget a source and its items."""

    def corpus(self, terms: Iterable[str]) -> Corpus:
        """How much there is, and in how many items each of these terms stands."""

    def spelt_like(self, term: str) -> list[str]:
        """Terms that share letters with this one, the likeliest first."""

    def holding(self, part: str) -> list[str]:
        """Terms that this one is a part of."""

    def candidates(self, terms: Mapping[str, int], only: Only, limit: int) -> list[Doc]:
        """Items in which these terms stand (given with the number of items of each), the likeliest ones."""

    def within(self, first: float, last: float, only: Only, limit: int) -> list[Doc]:
        """Items of a time, the newest ones."""

    def near(self, docs: Sequence[Doc], reach: int) -> list[Doc]:
        """What stands within so many items of these in their sessions, without themselves."""

    def by_hash(self, hashes: Sequence[int], only: Only) -> list[Doc]:
        """The items with these texts."""

    def found(self, ids: Sequence[int]) -> list[Found]:
        """All that is known of items, in this order."""

    def speakers(self) -> list[str]:
        """Everybody who said more than one thing, by name: who only once stands before a colon may be nobody."""

    def over(self, name: str) -> list[str]:
        """What was given with `over` of this trace or entry: the facts that it told and that are true no longer."""

    def trace(self, name: str) -> Found | None:
        """A trace, by its id. Looks at all of them."""

    def hashes(self, after: int, limit: int) -> Iterator[tuple[int, int]]:
        """Ids and hashes of items behind an id, in order."""

    def hashes_of(self, ids: Sequence[int]) -> dict[int, int]:
        """The hashes of these items' texts."""

    def last(self) -> int:
        """The id of the item that was taken last; 0 if there is none."""

    def close(self) -> None:
        """Let go of every handle."""
