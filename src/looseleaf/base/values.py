"""The values that the parts of looseleaf hand to each other: frozen, and ignorant of disk and clock."""

from __future__ import annotations

from collections import namedtuple

from looseleaf.base.hashing import sha256
from looseleaf.base.immutable import frozen

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Literal, NamedTuple

    Kind = Literal["identity", "commitment", "constraint", "preference", "trait", "event", "decision"]
    TimeSpan = Literal["short_term", "medium_term", "current", "long_term", "future"]
    Status = Literal["current", "superseded", "pending", "rejected", "forgotten"]
    Level = Literal["confirmed", "said", "inferred", "tainted"]
    Role = Literal["title", "summary", "updated", "kind", "fact", "episode", "prose"]

    Record = dict[str, Any]
    """One line of a log, as a JSON object without its checksum."""

    Ended = tuple[str, str, str | None]
    """A fact that is no longer true: its id, since when, and the id of the one that replaces it."""

    class Position(NamedTuple):
        """A place in a log: the number of the segment and the byte within it. Ordered."""

        segment: int
        offset: int

else:
    Position = namedtuple("Position", ("segment", "offset"))

KINDS: tuple[Kind, ...] = (
    "identity",
    "commitment",
    "constraint",
    "preference",
    "trait",
    "event",
    "decision",
)

FOUND = ("fact", "prose", "episode", "day", "entry", "trace")
"""Kinds of what can be found."""

INSIDE = "LOOSELEAF_INSIDE"
"""The variable that is set for a coding agent which is asked as a model. What it calls of ours does nothing then: what
is said there is nobody's conversation."""

START = Position(0, 0)

ANY = "*"
"""In place of a page's hash: whatever it says now."""


@frozen
class Problem:
    """Something wrong with a file of the memory, said as `path:line: message`.

    A `note` is worth knowing and needs nobody (a line without a checksum, bytes kept aside);
    an `error` is damage or a rule broken, and makes `check` fail.
    """

    path: str
    line: int | None
    message: str
    severity: Literal["error", "note"] = "error"

    def to_dict(self) -> dict[str, Any]:
        return {"path": self.path, "line": self.line, "message": self.message, "severity": self.severity}

    def __str__(self) -> str:
        where = self.path if self.line is None else f"{self.path}:{self.line}"
        return f"{where}: {self.message}" if self.severity == "error" else f"{where}: note: {self.message}"


@frozen
class Document:
    """The bytes of one file. Their hash is made when it is asked for: many readers never do."""

    path: str
    data: bytes

    @property
    def sha256(self) -> str:
        return sha256(self.data)


@frozen
class Stat:
    """What is known of a document without reading it. `mark` changes whenever its bytes may have."""

    path: str
    size: int
    mtime_ns: int
    mark: tuple[int, ...]


@frozen
class Line:
    """One record of a log and where it stands; `end` is where the next one begins."""

    record: Record
    position: Position
    end: Position
    checked: bool


@frozen
class Hunk:
    """One replaced run of lines: at line `at` (from 0) of the old text, `removed` became `added`.

    Lines keep their line ends, so that joining them gives the text back byte for byte.
    """

    at: int
    removed: tuple[str, ...]
    added: tuple[str, ...]

    def to_dict(self) -> dict[str, Any]:
        return {"at": self.at, "del": list(self.removed), "add": list(self.added)}

    @classmethod
    def from_dict(cls, raw: dict[str, Any]) -> Hunk:
        """TypeError or KeyError for what is no hunk: a journal may come from anywhere."""
        at, removed, added = raw["at"], raw["del"], raw["add"]
        if type(at) is not int or not _are_lines(removed) or not _are_lines(added):
            raise TypeError("a hunk is a whole number and two lists of lines")
        return cls(at, tuple(removed), tuple(added))


def _are_lines(value: object) -> bool:
    return isinstance(value, list) and all(type(line) is str for line in value)


@frozen
class Edit:
    """One change of one page, as the journal holds it. `base` or `new` is None where there was, or is, no page.

    `whole`: the hunks make the page from nothing, because the text of `base` could not be rebuilt. `facts` says what is
    known of facts among the added lines, beyond what the page says; `ended` which facts are no longer true.
    """

    id: str
    ts: float
    path: str
    author: str
    reason: str
    base: str | None
    new: str | None
    hunks: tuple[Hunk, ...]
    encoding: str = "utf-8"
    undoes: str | None = None
    whole: bool = False
    facts: tuple[Record, ...] = ()
    ended: tuple[Ended, ...] = ()

    @property
    def added(self) -> int:
        return sum(len(hunk.added) for hunk in self.hunks)

    @property
    def removed(self) -> int:
        return sum(len(hunk.removed) for hunk in self.hunks)


@frozen
class Fact:
    """One fact. What a page says is read off the page; what else is known of it comes from the journal."""

    topic: str
    subject: str
    relation: str
    object: str
    kind: Kind | None = None
    line: int | None = None
    id: str | None = None
    time_span: TimeSpan | None = None
    confidence: float | None = None
    salience: float | None = None
    user_fact_score: float | None = None
    tags: tuple[str, ...] = ()
    entry_id: str | None = None
    entry_ts: float | None = None
    sources: tuple[str, ...] = ()
    quote: str | None = None
    origin: str | None = None
    level: Level | None = None
    valid_from: str | None = None
    valid_to: str | None = None
    recorded_at: float | None = None
    status: Status = "current"
    path: str | None = None
    superseded_by: str | None = None
    said_at: float | None = None
    """When it was last said again."""

    def to_dict(self) -> dict[str, Any]:
        """Members that say nothing are left out; `from_dict` gives the fact back."""
        found = {name: getattr(self, name) for name in type(self).__match_args__}
        for name in ("tags", "sources"):
            found[name] = list(found[name])
        return {name: value for name, value in found.items() if value is not None and value != []}

    @classmethod
    def from_dict(cls, raw: dict[str, Any]) -> Fact:
        """KeyError or TypeError for what is no fact. Members that are not known are passed over."""
        given = {name: raw[name] for name in cls.__match_args__ if name in raw}
        for name in ("tags", "sources"):
            given[name] = tuple(map(str, given.get(name, ())))
        return cls(**given)

    def but(self, **changes: Any) -> Fact:
        """The same fact, except for these members."""
        return Fact(**{name: getattr(self, name) for name in type(self).__match_args__} | changes)


@frozen
class Episode:
    """What was done and what was learnt: a heading and its bullets. `fields` keeps every labelled bullet in order."""

    title: str
    line: int
    end: int
    fields: tuple[tuple[str, str], ...] = ()
    notes: tuple[str, ...] = ()

    def get(self, label: str) -> str | None:
        wanted = label.casefold()
        return next((value for name, value in self.fields if name.casefold() == wanted), None)


@frozen
class Prose:
    """A run of page lines that are nothing else: kept byte for byte, findable, never rewritten. Lines from 1."""

    line: int
    end: int
    text: str


@frozen
class PageText:
    """A page as its grammar reads it. `lines` joined are the page; nothing of it is lost.

    `roles` says of each line what it is. `unclosed` is the line (from 1) of a fence or comment that never
    ends, and so keeps the rest of the page from being read.
    """

    topic: str
    lines: tuple[str, ...]
    roles: tuple[Role, ...] = ()
    title: str | None = None
    summary: str | None = None
    updated: str | None = None
    facts: tuple[Fact, ...] = ()
    episodes: tuple[Episode, ...] = ()
    prose: tuple[Prose, ...] = ()
    unclosed: int | None = None

    @property
    def text(self) -> str:
        return "".join(self.lines)


@frozen
class Receipt:
    """What a write did, so that "saved" can be checked."""

    id: str
    path: str
    base: str | None
    new: str | None
    added: int
    removed: int
    changed: bool = True
    held: tuple[str, ...] = ()
    """Sentences on lines that did not go where they were put."""

    def but(self, **changes: Any) -> Receipt:
        """The same receipt, except for these members."""
        return Receipt(**{name: getattr(self, name) for name in type(self).__match_args__} | changes)

    def to_dict(self) -> dict[str, Any]:
        names = ("id", "path", "base", "new", "added", "removed", "changed")
        held = {"held": list(self.held)} if self.held else {}
        return {name: getattr(self, name) for name in names} | held
