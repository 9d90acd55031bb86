"""The last sessions of a log of talk: read from its end, and kept up with from there, in a view.

Only sessions that began within what was read are whole, so only these are given; once the log has been read to its
beginning, so are the others, whose first lines are damaged. The view says how far it goes, and is made again if it is
damaged, is of another log, or does not reach back far enough.
"""

from __future__ import annotations

from looseleaf.base.errors import Refused, check_count
from looseleaf.base.messages import Session, Trace
from looseleaf.base.values import START, Position
from looseleaf.store import records
from looseleaf.store.disk import Threads

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any

    from looseleaf.base.values import Edition, Record
    from looseleaf.store.protocol import Store

SCHEMA = "sessions.v1"

_SAVE_EVERY = 64
"""Traces after which the view is written again."""

_MOST = 200
"""Sessions to keep in the view; more are read from the log each time."""

_OPENING = 80
"""Characters of a session's first message in a list of sessions."""


class Sessions:
    """Sessions in the order in which they began; those whose beginning was not read are last."""

    def __init__(self) -> None:
        self.is_whole = False
        """True if the log was read to its beginning."""
        self._begun: dict[str, None] = {}
        self._told: dict[str, list[Any]] = {}
        """For each session: when it was first and last heard of, its turns, its number of traces, how it opens."""

    def __len__(self) -> int:
        return len(self._begun)

    @property
    def traces(self) -> int:
        """The number of traces that were read."""
        return sum(told[3] for told in self._told.values())

    @classmethod
    def read_back(cls, store: Store, stream: str, count: int, end: Position | None = None) -> Sessions:
        """Read the last `count` sessions to begin, up to a place."""
        found: list[Trace] = []
        begun: set[str] = set()
        made = cls()
        for line in store.read_back(stream, end):
            trace = Trace.from_record(line.record)
            if trace is None:
                continue
            found.append(trace)
            if trace.session_start:
                begun.add(trace.session_id)
                if len(begun) >= count:
                    break
        else:
            made.is_whole = True
        made.take(reversed(found))
        return made

    def take(self, traces: Iterable[Trace]) -> None:
        for trace in traces:
            name = trace.session_id
            if trace.session_start:
                self._begun.pop(name, None)
                self._begun[name] = None
            told = self._told.pop(name, None)
            if told is None:
                told = [trace.ts, trace.ts, {}, 0, " ".join(trace.content.split())[:_OPENING]]
            self._told[name] = told  # the last heard of is last
            told[1] = trace.ts
            told[2][trace.turn_id] = None
            told[3] += 1

    def last(self, count: int, machine: str = "") -> list[Session]:
        """Return the last `count`, the latest last."""
        names = [*self._begun][::-1]
        if self.is_whole:
            names += [name for name in self._told if name not in self._begun][::-1]
        found = ((name, self._told[name]) for name in reversed(names[:count]))
        return [
            Session(name, first, last, len(turns), traces, opening, machine)
            for name, (first, last, turns, traces, opening) in found
        ]

    def to_record(self) -> Record:
        told = {name: [*each[:2], [*each[2]], *each[3:]] for name, each in self._told.items()}
        return {"whole": self.is_whole, "begun": [*self._begun], "told": told}

    @classmethod
    def from_record(cls, raw: Record) -> Sessions:
        """Read them; KeyError, TypeError, ValueError or AttributeError if malformed: a view may hold anything."""
        made = cls()
        made.is_whole = raw["whole"] is True
        made._told = {
            str(name): [_time(first), _time(last), dict.fromkeys(map(str, turns)), int(traces), str(opening)]
            for name, (first, last, turns, traces, opening) in raw["told"].items()
        }
        made._begun = {str(name): None for name in raw["begun"] if made._told[name]}
        return made


def _time(raw: object) -> float:
    if isinstance(raw, (int, float)):
        return raw
    raise TypeError(raw)


def sessions(store: Store, stream: str, count: int, machine: str = "") -> list[Session]:
    """Return the last `count` sessions to begin, the latest last. `machine`: the other machine whose stream it is."""
    check_count("last", count, required=True)
    return Sessions.read_back(store, stream, count).last(count, machine)


class LastSessions:
    """The last sessions of one agent on this machine."""

    def __init__(self, store: Store, agent: str, stream: str) -> None:
        self._store, self._stream = store, stream
        self._alone = Threads()
        self._view = f"views/agents/{agent}/sessions.json"
        self._edition: Edition | tuple[()] = ()
        self._forget()

    def _forget(self) -> None:
        self._sessions: Sessions | None = None
        self._position: Position = START
        self._last: object = None
        self._unsaved = 0

    def __call__(self, count: int) -> list[Session]:
        """Return the last `count` sessions to begin, the latest last."""
        check_count("last", count, required=True)
        if count > _MOST:
            return sessions(self._store, self._stream, count)
        with self._alone():
            edition = self._store.edition()
            if edition != self._edition:  # a forgotten session must not be named again
                self._edition = edition
                self._load()
            found = self._read_on()
            if found is None or not (found.is_whole or len(found) >= count) or len(found) > 2 * _MOST:
                found = self._read_back(count)
            if self._unsaved >= _SAVE_EVERY:
                self._save(found)
            return found.last(count)

    def _read_on(self) -> Sessions | None:
        """Take in what was said since. None if this is another log: the last known record must be in its place."""
        if self._sessions is None:
            return None
        is_known = False
        for line in self._store.read(self._stream, self._position):
            if not is_known and (line.position != self._position or line.record.get("id") != self._last):
                return None
            trace = Trace.from_record(line.record) if is_known else None
            if trace is not None:
                self._sessions.take([trace])
            self._unsaved += is_known
            self._position, self._last = line.position, line.record.get("id")
            is_known = True
        return self._sessions if is_known else None

    def _read_back(self, count: int) -> Sessions:
        self._forget()
        end = next(self._store.read_back(self._stream), None)
        if end is None:
            return Sessions()
        self._sessions = found = Sessions.read_back(self._store, self._stream, count, end.end)
        self._position, self._last, self._unsaved = end.position, end.record.get("id"), found.traces
        return found

    def _load(self) -> None:
        self._forget()
        try:
            document = self._store.get(self._view)
            raw = records.whole(document.data if document else b"")
            if raw["schema"] == SCHEMA:
                self._sessions = Sessions.from_record(raw)
                self._position, self._last = Position(*map(int, raw["position"])), raw["last"]
        except (Refused, KeyError, TypeError, ValueError, AttributeError):
            self._forget()  # an unreadable view is made again

    def _save(self, found: Sessions) -> None:
        self._unsaved = 0
        place: Record = {"position": list(self._position), "last": self._last}
        try:
            data = records.encode_own({"schema": SCHEMA} | place | found.to_record())
            self._store.view(self._view, data, of=self._edition)
        except Refused:
            pass  # only a cache
