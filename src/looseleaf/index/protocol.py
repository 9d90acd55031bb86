"""The `Index` protocol, small enough for a second implementation, and its values."""

from __future__ import annotations

from collections import namedtuple

from looseleaf.base.values import START, Position

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
    from contextlib import AbstractContextManager
    from typing import Any, NamedTuple, Protocol

    from looseleaf.index.nearest import Matrix
    from looseleaf.index.said import Part

    SaidLine = tuple[int, int, str]
    """What a line of a log says, or a whole source: its place, or (0, 0), and its words (`index/said.py`)."""

    class IndexItem(NamedTuple):
        """One thing that can be found. The index keeps no text, only where it stands.

        `name`: a trace's id, a fact's id, an entry's reference, a page's path. `segment` and `byte` locate a line in a
        log; `first` and `last` are lines of a page (from 1), or the characters of a passage in its text (0, 0: all of
        it). `session` groups neighbors, in the given order; "" for an item that stands alone.
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

    class FoundItem(NamedTuple):
        """An item as found: where it stands, and what the index knows of it."""

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
        """A filter on items; empty allows all. Times are epoch seconds.

        `past` also allows facts that no longer hold, and facts said after `until`: people often mention later what was
        true then, and the caller checks the time that each fact states.
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
    IndexItem = namedtuple(
        "IndexItem",
        "kind name terms hash session speaker role ts level status topic segment byte first last",
        defaults=("", "", "", None, "", "", "", 0, 0, 0, 0),
    )
    FoundItem = namedtuple(
        "FoundItem",
        "id source kind name hash session speaker role ts level status topic segment byte first last",
    )
    Doc = namedtuple("Doc", "id terms session seq speaker role kind ts level")
    Corpus = namedtuple("Corpus", "items terms df means")
    Only = namedtuple(
        "Only", "kinds topic agent since until past hidden", defaults=((), "", "", None, None, False, ())
    )


PAGE, TOPIC = "page:", "topic:"
"""How the names of the sources begin that are pages, or topics; those of logs are their streams."""

_LONGEST_MARK = 200


def parse_mark(mark: str) -> tuple[Position, str]:
    """Return how far a log was taken: the place, and the id of the record before it."""
    segment, _, rest = mark.partition(" ")
    offset, _, last = rest.partition(" ")
    is_sound = segment.isdecimal() and offset.isdecimal() and len(mark) < _LONGEST_MARK
    return (Position(int(segment), int(offset)), last) if is_sound else (START, "")


class Marks(Protocol):
    def mark(self, source: str) -> str:
        """Return the mark that was last given with a source: how far it was read; "" if never."""

    def marks(self, begin: str) -> dict[str, str]:
        """Return the marks of all sources whose names begin so."""

    def marks_of(self, sources: Iterable[str]) -> dict[str, str]:
        """Return the marks of these sources, without those that are ""."""


class Index(Marks, Protocol):
    def change(self) -> AbstractContextManager[object]:
        """Do all of the block or nothing, alone."""

    def look(self) -> AbstractContextManager[object]:
        """A block for one question: what is read in it may be of its beginning, but for its own changes."""

    def take(
        self,
        source: str,
        mark: str,
        items: Iterable[IndexItem],
        *,
        anew: bool = ...,
        over: Iterable[tuple[str, str]] = ...,
        said: Iterable[SaidLine] = ...,
    ) -> None:
        """Add items of a source; with `anew`, replace all it had. `over`: traces that state a fact which no longer
        holds, each with the fact's id. `said`: what it says, word for word."""

    def drop(self, source: str) -> None:
        """Remove a source and its items."""

    def corpus(self, terms: Iterable[str]) -> Corpus:
        """Count all items, and those that contain each of these terms."""

    def spelt_like(self, term: str) -> list[str]:
        """Return terms that share letters with this one, likeliest first."""

    def holding(self, part: str) -> list[str]:
        """Return terms that contain this one."""

    def candidates(self, terms: Mapping[str, int], only: Only, limit: int) -> list[Doc]:
        """Return the likeliest items that contain these terms; each term comes with its number of items."""

    def within(self, first: float, last: float, only: Only, limit: int) -> list[Doc]:
        """Return the newest items of a time."""

    def near(self, docs: Sequence[Doc], reach: int) -> list[Doc]:
        """Return the items within `reach` of these in their sessions, without themselves."""

    def by_hash(self, hashes: Sequence[int], only: Only) -> list[Doc]:
        """Return the items whose texts have these hashes."""

    def found(self, ids: Sequence[int]) -> list[FoundItem]:
        """Return all that the index knows of these items, in this order."""

    def speakers(self, agent: str = ...) -> list[str]:
        """Return the names that said more than one thing: a word that stands once before a colon may be no name.
        `agent`: only those who speak in its talk."""

    def over(self, name: str) -> list[str]:
        """Return the facts that this trace or entry states and that no longer hold, as given with `over`."""

    def lines_with(self, parts: Sequence[Part], source: str) -> Iterator[tuple[int, int]] | None:
        """Return the places of a log's lines that have all these parts of words, last taken first; None if they stand
        nearly everywhere."""

    def sources_with(self, parts: Sequence[Part]) -> set[str] | None:
        """Return the sources, but no logs of talk, that have all these parts; None likewise."""

    def trace(self, name: str) -> FoundItem | None:
        """Return a trace by its id. Scans all of them."""

    def hashes(self, after: int, limit: int) -> Iterator[tuple[int, int]]:
        """Return ids and hashes of the items after an id, in order."""

    def hashes_of(self, ids: Sequence[int]) -> dict[int, int]:
        """Return the hashes of these items' texts."""

    def last(self) -> int:
        """Return the id of the newest item; 0 if there is none."""

    def close(self) -> None:
        """Close all handles."""


class Vectors(Protocol):
    """The vectors of one model, each of a text, by its hash. A view: they may be lost, and are made again."""

    name: str
    """The model's."""

    @property
    def dimensions(self) -> int | None:
        """The numbers in a row; None while nothing is kept."""

    @property
    def making(self) -> str:
        """What changes when all are made again; "" if there are none."""

    def __len__(self) -> int: ...

    def hashes(self) -> list[int]:
        """Return the texts that have a vector."""

    def missing(self, hashes: Iterable[int]) -> list[int]:
        """Return those without a vector, each once, in their order."""

    def cosines(self, query: Matrix, hashes: Collection[int]) -> dict[int, float]:
        """Return the cosine of each of these texts that has a vector."""

    def search(self, query: Matrix, top: int, among: Collection[int] | None = ...) -> list[tuple[int, float]]:
        """Return the nearest texts by hash, with their cosines, nearest first. `among`: search only these."""

    def add(self, hashes: Collection[int], matrix: Matrix) -> int:
        """Keep one row for each hash; a hash that has one keeps it. Return how many were new."""

    def forget(self, hashes: Collection[int]) -> int:
        """Remove their rows. Return how many there were."""

    def close(self) -> None:
        """Give back what is held until it is needed again."""
