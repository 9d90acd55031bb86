"""The ledger of imports: which items were begun and done, so that none is taken in twice (FORMAT §18).

Items are known by keyed hashes of their names and contents: no word of theirs is in it. Of a session, the log itself
says what of it is recorded already; each trace has the mark of what it was made of.
"""

from __future__ import annotations

import time
from hashlib import blake2b

from looseleaf.base.ids import new_id
from looseleaf.base.immutable import frozen
from looseleaf.base.values import START
from looseleaf.log.recorder import stream_of
from looseleaf.store import IMPORTS
from looseleaf.store import records as codec

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from typing import Any

    from looseleaf.base.values import Position, Record
    from looseleaf.store.protocol import Store

SCHEMA = "imports.v1"

_BYTES = 16


@frozen
class Prior:
    """What is known of an item from before. `count` and `content`: how many parts it had, and the hash over them; a
    `page` (hashed) is where it was put. Not `is_done`: some of it may be recorded, and some not. `is_loose`: parts are
    recorded that it did not have any more. `is_unasked`: a claim for which review had no place."""

    is_done: bool
    agent: str
    content: str = ""
    count: int = 0
    is_mine: bool = False
    page: str = ""
    is_loose: bool = False
    is_unasked: bool = False


class Hashes:
    """Keyed by the memory's own key: the same name gives the same hash, here and nowhere else."""

    def __init__(self, key: bytes) -> None:
        self._key = key

    def of(self, *parts: object) -> str:
        """Of texts and JSON values, each apart from the next."""
        digest = blake2b(key=self._key, digest_size=_BYTES)
        for part in parts:
            data = part.encode("utf-8", "surrogatepass") if isinstance(part, str) else codec.to_json([part])
            digest.update(b"%d:%b" % (len(data), data))
        return digest.hexdigest()


class Chain:
    """A hash over the marks of all parts so far, in their order."""

    def __init__(self) -> None:
        self._digest = blake2b(digest_size=_BYTES)
        self.count = 0

    def add(self, mark: str) -> None:
        self._digest.update(mark.encode())
        self.count += 1

    @property
    def content(self) -> str:
        return self._digest.hexdigest()


class Ledger:
    """All imports of a memory. Reads what is new since it was last asked, also of other processes."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._priors: dict[str, Prior] = {}
        self._position: Position = START
        self._last: object = None
        self.is_damaged = False
        """Whether a record of it could not be read: then no item is known to be new."""

    @property
    def is_empty(self) -> bool:
        return not self._priors

    def has(self, item: str) -> bool:
        """Whether the ledger itself names it."""
        return item in self._priors

    def prior(self, item: str) -> Prior | None:
        found = self._priors.get(item)
        return Prior(False, "") if found is None and self.is_damaged else found

    def catch_up(self) -> set[str]:
        """The items that others have begun or done meanwhile."""
        found: set[str] = set()
        is_known = self._position == START
        for line in self._store.read(IMPORTS, self._position, self._damaged):
            if is_known:
                self._take(line.record)
                found.add(str(line.record.get("item")))
            elif line.record.get("id") != self._last:  # repair moved records: begin anew
                self._position = START
                return found | self.catch_up()
            is_known = True
            self._position, self._last = line.position, line.record.get("id")
        return found

    def _damaged(self, _: object) -> None:
        self.is_damaged = True

    def _take(self, record: Record) -> None:
        item, agent = str(record.get("item")), str(record.get("agent"))
        if record.get("kind") == "begun":
            self._priors[item] = Prior(False, agent, is_mine=record.get("mine") is True)
        elif record.get("kind") == "done":
            count = record.get("count")
            self._priors[item] = Prior(
                True,
                agent,
                str(record.get("content")),
                count if type(count) is int else 0,
                record.get("mine") is True,
                str(record.get("page") or ""),
                record.get("loose") is True,
                record.get("unasked") is True,
            )

    def append(self, records: Sequence[Record]) -> None:
        """Durable when it returns."""
        if records:
            self._store.append(IMPORTS, list(records))
            self.catch_up()


def record_of(kind: str, format_: str, item: str, agent: str, **more: Any) -> Record:
    made: Record = {"schema": SCHEMA, "id": new_id(), "ts": time.time(), "kind": kind, "format": format_}
    return made | {"item": item, "agent": agent} | more


class Recorded:
    """Which marks the sessions of an agent have in the log. Goes through the log once, and notes where each session's
    runs of lines begin; a session's own lines are read when it is asked for."""

    def __init__(self, store: Store, agent: str) -> None:
        self._store = store
        self._stream = stream_of(agent)
        self._runs: dict[str, list[Position]] = {}
        self._position: Position = START
        self._session = ""

    def marks(self, session: str) -> dict[str, str]:
        """With the id of the trace that has each."""
        self._catch_up()
        return dict(each for begin in self._runs.get(session, ()) for each in self._run(begin, session))

    def _run(self, begin: Position, session: str) -> Iterable[tuple[str, str]]:
        for line in self._store.read(self._stream, begin):
            if line.record.get("session_id", session) != session:
                return
            mark = line.record.get("correlation_id")
            if isinstance(mark, str):
                yield mark, str(line.record.get("id"))

    def _catch_up(self) -> None:
        for line in self._store.read(self._stream, self._position):
            session = line.record.get("session_id", self._session)
            if isinstance(session, str) and session != self._session:
                self._runs.setdefault(session, []).append(line.position)
                self._session = session
            self._position = line.end


def sessions_of(store: Store) -> set[str]:
    """The names of all sessions in the log, of any agent."""
    streams = [name for name in store.streams() if name.startswith("traces/")]
    return {str(line.record.get("session_id")) for name in streams for line in store.read(name)}
