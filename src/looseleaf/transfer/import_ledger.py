"""The ledger of imports: the items begun and done, so that none is imported twice (FORMAT §18).

It identifies items by keyed hashes of their names and contents, and holds none of their words. The log itself says
which parts of a session are recorded: each trace has the mark of its part.
"""

from __future__ import annotations

import time
from hashlib import blake2b

from looseleaf.base.ids import new_id
from looseleaf.base.immutable import frozen
from looseleaf.base.values import START
from looseleaf.log.recorder import stream_of
from looseleaf.log.talk_streams import agent_of, own_talk, talk_elsewhere
from looseleaf.store import IMPORTS
from looseleaf.store import records as codec
from looseleaf.store.machines import stream_of as stream_on

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from typing import Any

    from looseleaf.base.values import Position, Record
    from looseleaf.store.protocol import Store


NAMED = 10
"""The most titles, and notes on things passed over; the rest is counted."""


@frozen
class ImportCounts:
    """The items of one kind: `new`, `grown` since the last import, `known` without news, `forgotten` (they do not come
    back), and `bad`, which could not be imported."""

    new: int = 0
    grown: int = 0
    known: int = 0
    forgotten: int = 0
    bad: int = 0

    def to_dict(self) -> dict[str, int]:
        return {name: getattr(self, name) for name in self.__match_args__}


@frozen
class Imported:
    """The result of an import. `since`, `until`: the first and last time of anything new. `copies`: sessions of talks
    that were data before, and are recorded again as the user's. `outdated`: the user's pages that changed in the
    source, whose new text was taken as data. `forgotten`: parts of items that do not come back."""

    format: str
    is_mine: bool
    is_dry: bool
    agent: str
    talks: ImportCounts
    documents: ImportCounts
    claims: ImportCounts
    traces: int
    since: float | None
    until: float | None
    titles: tuple[str, ...]
    pages: tuple[str, ...]
    facts: int
    waiting: int
    copies: tuple[str, ...]
    outdated: int
    forgotten: int
    passed_over: int
    notes: tuple[str, ...]

    @property
    def is_nothing(self) -> bool:
        """True if nothing was new."""
        return not any(each.new or each.grown for each in (self.talks, self.documents, self.claims))

    @property
    def is_useless(self) -> bool:
        """True if nothing could be imported, and nothing was known."""
        kinds = (self.talks, self.documents, self.claims)
        return self.is_nothing and not any(each.known or each.forgotten for each in kinds)

    def to_dict(self) -> dict[str, Any]:
        names: tuple[str, ...] = ("format", "agent", "traces", "since", "until", "facts", "waiting")
        names += ("outdated", "forgotten", "passed_over")
        found: dict[str, Any] = {name: getattr(self, name) for name in names}
        found |= {"mine": self.is_mine, "dry_run": self.is_dry}
        found |= {name: getattr(self, name).to_dict() for name in ("talks", "documents", "claims")}
        return found | {name: list(getattr(self, name)) for name in ("titles", "pages", "copies", "notes")}


class ImportTally:
    """A result in the making."""

    def __init__(self) -> None:
        self.counts: dict[str, dict[str, int]] = {"talk": {}, "document": {}, "claim": {}}
        self.traces = self.facts = self.waiting = self.outdated = self.forgotten = self.passed_over = 0
        self.since: float | None = None
        self.until: float | None = None
        self.titles: list[str] = []
        self.pages: list[str] = []
        self.copies: list[str] = []
        self.notes: list[str] = []

    @property
    def items(self) -> int:
        return sum(sum(own.values()) for own in self.counts.values())

    def add(self, what: str, fate: str, title: str = "") -> None:
        self.counts[what][fate] = self.counts[what].get(fate, 0) + 1
        if fate in ("new", "grown") and title and len(self.titles) < NAMED:
            self.titles.append(title)

    def note(self, sentence: str) -> None:
        """Count something passed over."""
        self.passed_over += 1
        if len(self.notes) < NAMED:
            self.notes.append(sentence)

    def add_time(self, ts: float | None) -> None:
        if ts is not None:
            self.since = ts if self.since is None else min(self.since, ts)
            self.until = ts if self.until is None else max(self.until, ts)

    def done(self, format_: str, agent: str, *, is_mine: bool, is_dry: bool) -> Imported:
        told: dict[str, Any] = {
            name: tuple(each) if isinstance(each, list) else each for name, each in vars(self).items()
        }
        told |= {f"{what}s": ImportCounts(**counts) for what, counts in told.pop("counts").items()}
        return Imported(format=format_, is_mine=is_mine, is_dry=is_dry, agent=agent, **told)


SCHEMA = "imports.v1"

_BYTES = 16


@frozen
class Prior:
    """The ledger's knowledge of an item. `count` and `content`: its number of parts, and their hash; `page`: the
    hashed page that it went to. Not `is_done`: perhaps only some of it is recorded. `is_loose`: parts are recorded that
    the item no longer had. `is_unasked`: a claim for which review had no place."""

    is_done: bool
    agent: str
    content: str = ""
    count: int = 0
    is_mine: bool = False
    page: str = ""
    is_loose: bool = False
    is_unasked: bool = False


class Hashes:
    """Hashes with the memory's own key: the same name gives the same hash, in this memory only."""

    def __init__(self, key: bytes) -> None:
        self._key = key

    def of(self, *parts: object) -> str:
        """Hash texts and JSON values, each apart from the next."""
        digest = blake2b(key=self._key, digest_size=_BYTES)
        for part in parts:
            data = part.encode("utf-8", "surrogatepass") if isinstance(part, str) else codec.to_json([part])
            digest.update(b"%d:%b" % (len(data), data))
        return digest.hexdigest()


class ImportChain:
    """A hash over the marks of all parts so far, in order."""

    def __init__(self) -> None:
        self._digest = blake2b(digest_size=_BYTES)
        self.count = 0

    def add(self, mark: str) -> None:
        self._digest.update(mark.encode())
        self.count += 1

    @property
    def content(self) -> str:
        return self._digest.hexdigest()

    def is_of(self, prior: Prior | None) -> bool:
        """True if an item had the same parts when it was imported before."""
        return (
            prior is not None and prior.is_done and (prior.content, prior.count) == (self.content, self.count)
        )


class ImportLedger:
    """All imports of a memory, on all machines. `catch_up` reads new records, also those of other processes."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._streams: dict[str, _LedgerStream] = {}
        self.is_damaged = False
        """True if a record cannot be read: then no item is sure to be new."""

    @property
    def is_empty(self) -> bool:
        return not any(each.priors for each in self._streams.values())

    def has(self, item: str) -> bool:
        return any(item in each.priors for each in self._streams.values())

    def prior(self, item: str) -> Prior | None:
        """Return what is known of an item. If several machines imported it, the one that did not finish counts, else
        the one that took most."""
        found = [each.priors[item] for each in self._streams.values() if item in each.priors]
        if not found:
            return Prior(False, "") if self.is_damaged else None
        return min(found, key=lambda each: (each.is_done, -each.count))

    def catch_up(self) -> set[str]:
        """Read new records, and return the items in them."""
        for stream in (IMPORTS, *(stream_on(machine, IMPORTS) for machine in self._store.machines())):
            self._streams.setdefault(stream, _LedgerStream(self._store, stream))
        found = {item for each in self._streams.values() for item in each.catch_up()}
        self.is_damaged = self.is_damaged or any(each.is_damaged for each in self._streams.values())
        return found

    def append(self, records: Sequence[Record]) -> None:
        if records:
            self._store.append(IMPORTS, list(records))
            self.catch_up()


class _LedgerStream:
    """The imports of one machine."""

    def __init__(self, store: Store, stream: str) -> None:
        self._store, self._stream = store, stream
        self.priors: dict[str, Prior] = {}
        self._position: Position = START
        self._last: object = None
        self.is_damaged = False

    def catch_up(self) -> set[str]:
        found: set[str] = set()
        is_known = self._position == START

        def set_damaged(_: object) -> None:
            self.is_damaged = True

        for line in self._store.read(self._stream, self._position, set_damaged):
            if is_known:
                self._add_record(line.record)
                found.add(str(line.record.get("item")))
            elif line.record.get("id") != self._last:  # repair moved records: start again
                self._position = START
                return found | self.catch_up()
            is_known = True
            self._position, self._last = line.position, line.record.get("id")
        return found

    def _add_record(self, record: Record) -> None:
        item, agent = str(record.get("item")), str(record.get("agent"))
        if record.get("kind") == "begun":
            self.priors[item] = Prior(False, agent, is_mine=record.get("mine") is True)
        elif record.get("kind") == "done":
            count = record.get("count")
            content, page = str(record.get("content")), str(record.get("page") or "")
            is_mine, is_loose, is_unasked = (
                record.get(name) is True for name in ("mine", "loose", "unasked")
            )
            number = count if type(count) is int else 0
            self.priors[item] = Prior(True, agent, content, number, is_mine, page, is_loose, is_unasked)


def record_of(kind: str, format_: str, item: str, agent: str, **more: Any) -> Record:
    made: Record = {"schema": SCHEMA, "id": new_id(), "ts": time.time(), "kind": kind, "format": format_}
    return made | {"item": item, "agent": agent} | more


class RecordedMarks:
    """The marks of an agent's sessions in the logs of all machines."""

    def __init__(self, store: Store, agent: str) -> None:
        elsewhere = (stream for stream in talk_elsewhere(store) if agent_of(stream) == agent)
        self._streams = [_MarkedStream(store, stream) for stream in (stream_of(agent), *elsewhere)]

    def marks(self, session: str) -> dict[str, str]:
        """Return the marks of a session, each with the id of its trace."""
        return {mark: trace for each in self._streams for mark, trace in each.marks(session).items()}


class _MarkedStream:
    """The marks in one log. Reads it once for where each session's runs of lines begin, and the lines of a session on
    request."""

    def __init__(self, store: Store, stream: str) -> None:
        self._store = store
        self._stream = stream
        self._runs: dict[str, list[Position]] = {}
        self._position: Position = START
        self._session = ""

    def marks(self, session: str) -> dict[str, str]:
        """Return the marks of a session, each with the id of its trace."""
        for line in self._store.read(self._stream, self._position):
            name = line.record.get("session_id", self._session)
            if isinstance(name, str) and name != self._session:
                self._runs.setdefault(name, []).append(line.position)
                self._session = name
            self._position = line.end
        return dict(each for begin in self._runs.get(session, ()) for each in self._read_run(begin, session))

    def _read_run(self, begin: Position, session: str) -> Iterable[tuple[str, str]]:
        for line in self._store.read(self._stream, begin):
            if line.record.get("session_id", session) != session:
                return
            mark = line.record.get("correlation_id")
            if isinstance(mark, str):
                yield mark, str(line.record.get("id"))


def recorded_lines(store: Store) -> dict[str, set[int]]:
    """Return the marks (`line_mark`) of what is recorded of each session, of any agent on any machine."""
    found: dict[str, set[int]] = {}
    for stream in (*own_talk(store), *talk_elsewhere(store)):
        for line in store.read(stream):
            key, text = line.record.get("correlation_id"), line.record.get("content")
            marks = found.setdefault(str(line.record.get("session_id")), set())
            marks.add(line_mark(str(key) if key else "", str(line.record.get("trace_type")), str(text or "")))
    return found


def line_mark(key: str, role: str, text: str) -> int:
    """Return the mark of a line of a transcript: its key or, if a hook brought it without one, its text."""
    return hash(key or (role, " ".join(text.split())))
