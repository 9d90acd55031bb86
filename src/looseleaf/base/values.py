"""The values that packages exchange, and the hash that names bytes. Frozen, and independent of disk and clock."""

from __future__ import annotations

import sys
from collections import namedtuple

from looseleaf.base.immutable import Replaceable, frozen, members_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any, Literal, NamedTuple

    Kind = Literal["identity", "commitment", "constraint", "preference", "trait", "event", "decision"]
    TimeSpan = Literal["short_term", "medium_term", "current", "long_term", "future"]
    Status = Literal["current", "superseded", "pending", "rejected", "forgotten"]
    Level = Literal["confirmed", "said", "inferred", "tainted"]
    Role = Literal["title", "summary", "updated", "kind", "fact", "episode", "prose"]

    Record = dict[str, Any]
    """One line of a log, as a JSON object without its checksum."""

    Edition = tuple[int, ...] | None
    """What changes with each forget (FORMAT §17.6)."""

    Ended = tuple[str, str, str | None]
    """A fact that is no longer true: its id, since when, and the id of the one that replaces it."""

    class Position(NamedTuple):
        """A place in a log: the number of the segment and the byte within it. Ordered."""

        segment: int
        offset: int

    class Stat(NamedTuple):
        """The metadata of a document. `mark` changes whenever its bytes may have changed."""

        path: str
        size: int
        mtime_ns: int
        mark: tuple[int, ...]

else:
    Position = namedtuple("Position", ("segment", "offset"))
    Stat = namedtuple("Stat", ("path", "size", "mtime_ns", "mark"))


def changed_ns(mark: Sequence[int]) -> int:
    """Return when a file last changed, by its mark; 0 if a mark is never used again, as in a database."""
    return max(mark[3:5], default=0)


KINDS: tuple[Kind, ...] = ("identity", "commitment", "constraint", "preference", "trait", "event", "decision")

FOUND = ("fact", "prose", "episode", "day", "entry", "trace")
"""Kinds of items that recall finds."""

INSIDE = "LOOSELEAF_INSIDE"
"""The environment variable set for a coding agent that serves as a model. Our hooks do nothing there: it is not a
conversation of the user."""

START = Position(0, 0)

ANY = "*"
"""In place of a page's hash: any content."""


class _NotGiven:
    """Where None is an answer: a tool may return nothing."""

    def __repr__(self) -> str:
        return "not given"


NOT_GIVEN: Any = _NotGiven()


@frozen
class Problem:
    """A fault in a file of the memory, printed as `path:line: message`.

    A `note` needs no action (a line without a checksum, bytes kept aside); an `error` is damage or a broken rule, and
    makes `check` fail.
    """

    path: str
    line: int | None
    message: str
    severity: Literal["error", "note"] = "error"

    def to_dict(self) -> dict[str, Any]:
        return members_of(self)

    def __str__(self) -> str:
        where = self.path if self.line is None else f"{self.path}:{self.line}"
        return f"{where}: {self.message}" if self.severity == "error" else f"{where}: note: {self.message}"


@frozen
class Document:
    """The bytes of one file. The hash is computed on demand: many readers never need it."""

    path: str
    data: bytes

    @property
    def sha256(self) -> str:
        return sha256(self.data)


@frozen
class LogLine:
    """One record of a log and its position; `end` is where the next one begins."""

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
        """Return the hunk; TypeError or KeyError if it is none: a journal may come from anywhere."""
        at, removed, added = raw["at"], raw["del"], raw["add"]
        if type(at) is not int or not are_texts(removed) or not are_texts(added):
            raise TypeError("a hunk is a whole number and two lists of lines")
        return cls(at, tuple(removed), tuple(added))


def are_texts(value: object) -> bool:
    """Return whether a value is a list of texts: what was read from a file may be anything."""
    return isinstance(value, list) and all(type(each) is str for each in value)


@frozen
class Edit(Replaceable):
    """One change of one page, as in the journal. `base` or `new` is None if there was, or is, no page.

    `whole`: the hunks make the page from nothing, because the text of `base` could not be rebuilt. `facts` holds more
    about facts in the added lines than the page does; `ended` lists facts that are no longer true. `merge`: it takes in
    what other machines wrote (FORMAT §20.3). `cut`: the forgetting that changed it; its lines have other numbers since.
    `summary`: whose the summary is that it puts on the page, if that does not follow from the rest.
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
    merge: Record | None = None
    cut: str | None = None
    summary: str | None = None
    person: str | None = None
    """For whom it was made, as the server knows them."""

    @property
    def added(self) -> int:
        return sum(len(hunk.added) for hunk in self.hunks)

    @property
    def removed(self) -> int:
        return sum(len(hunk.removed) for hunk in self.hunks)


@frozen
class Fact(Replaceable):
    """One fact. Its words come from the page; all else about it from the journal."""

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
    """When it was last repeated."""
    order: float | None = None
    """Its place in the order of what was said, in epoch seconds, where its time does not give it (FORMAT §13.12)."""
    decided_at: float | None = None
    """When a person last decided on it: its score, a pin, its level."""
    layer: str | None = None
    """The farther memory that it was read from; None: the memory itself."""
    person: str | None = None
    """Who said it, as the server knows them by their token; None where nobody is told apart."""
    decided_by: str | None = None
    """Who last decided on it."""

    def to_dict(self) -> dict[str, Any]:
        """Return its members, without empty ones; `from_dict` restores the fact."""
        found = members_of(self) | {"tags": list(self.tags), "sources": list(self.sources)}
        return {name: value for name, value in found.items() if value is not None and value != []}

    @classmethod
    def from_dict(cls, raw: dict[str, Any]) -> Fact:
        """Return the fact; KeyError or TypeError if it is none. Unknown members are ignored."""
        given = {name: raw[name] for name in cls.__match_args__ if name in raw}
        for name in ("tags", "sources"):
            given[name] = tuple(map(str, given.get(name, ())))
        return cls(**given)


@frozen
class Episode:
    """Work done and lessons learned: a heading and its bullets. `fields` keeps every labeled bullet in order."""

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
    """A run of other page lines: kept byte for byte, searchable, never rewritten. Lines count from 1."""

    line: int
    end: int
    text: str


@frozen
class PageText:
    """A parsed page. `lines` joined are the page; nothing is lost.

    `roles` has the role of each line. `unclosed` is the line (from 1) of a fence or comment that never ends and so
    hides the rest of the page.
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
class Receipt(Replaceable):
    """The effect of a write, so that "saved" can be checked."""

    id: str
    path: str
    base: str | None
    new: str | None
    added: int
    removed: int
    changed: bool = True
    held: tuple[str, ...] = ()
    """Sentences about lines that were held back."""

    def to_dict(self) -> dict[str, Any]:
        """Return its members; `held` only if something was."""
        found = members_of(self) | {"held": list(self.held)}
        return found if self.held else {name: value for name, value in found.items() if name != "held"}


# --- the hash that names bytes everywhere: SHA-256, in lower-case hexadecimal ------------

_SHORT = 1 << 16
"""Up to this many bytes, Python's own SHA-256 is quicker than loading OpenSSL's, which uses processor instructions."""


def sha256(data: bytes) -> str:
    if len(data) > _SHORT or "hashlib" in sys.modules:
        import hashlib  # not at the top: loading it costs a command that hashes little

        return hashlib.sha256(data).hexdigest()
    made: str = _hash_without_openssl(data).hexdigest()
    return made


def _hash_without_openssl(data: bytes) -> Any:
    """Hash with the module that `hashlib` uses without OpenSSL. It has another name since Python 3.12."""
    try:
        if sys.version_info >= (3, 12):  # pragma: no cover - a newer Python
            from _sha2 import sha256 as own
        else:
            from _sha256 import sha256 as own  # type: ignore[import-not-found]
    except ImportError:  # pragma: no cover - a Python without it
        from hashlib import sha256 as own
    return own(data)


def sha256_or_none(data: bytes | None) -> str | None:
    """Return the hash of a document, or None for no document."""
    return None if data is None else sha256(data)


def text_hash(text: str) -> int:
    """Return a number that names a text: 64 bits of its hash, signed as in SQLite, never 0."""
    digest = bytes.fromhex(sha256(text.encode("utf-8", "surrogatepass"))[:16])
    return int.from_bytes(digest, "big", signed=True) or 1


SHA256_OF_NOTHING = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
