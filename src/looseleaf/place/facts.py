"""Facts: the ledger of a store, kept in views and brought up to date from the journal (FORMAT §13.4).

`views/facts.json` says how far the journal was read; each topic has a file of its own beside it, so that a change costs
what its topic is large, and not what the memory is. Like every view they may be deleted, are ignored when damaged, and
that they cannot be written is no reason to refuse.
"""

from __future__ import annotations

import re

from looseleaf.core.ledger import Ledger, Shard
from looseleaf.errors import Refused
from looseleaf.store import JOURNAL, codec
from looseleaf.values import START, Position

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from looseleaf.core.sheet import Sheet
    from looseleaf.store.protocol import Store
    from looseleaf.values import Fact, Record

INDEX = "views/facts.json"
FOLDER = "views/facts"
SCHEMA = "facts_index.v1"
SHARD = "facts.v1"

_PLACE = re.compile(r"(.+\.md):([0-9]{1,7})")


class _Astray(Exception):
    """The views are not of this journal: they are made from the beginning."""


class Facts:
    """`head` gives the text that the journal last said a page has; `trusts`: edits found on disk are a person's."""

    def __init__(self, store: Store, head: Callable[[str], bytes | None], *, trusts: bool) -> None:
        self._store = store
        self._head = head
        self._trusts = trusts
        self._forget()
        self._loaded = False

    def _forget(self) -> None:
        self._shards: dict[str, Shard] = {}
        self._ledger = Ledger(self._shard, trusts=self._trusts)
        self._position = START
        self._last: str | None = None
        self.topics: dict[str, tuple[int, int, int]] = {}
        """Of each topic: behind which record it last changed (segment, byte), and how many facts it has now."""
        self._dirty: set[str] = set()
        self._unsaved = False

    # --- reading -----------------------------------------------------------------------

    def of(self, topic: str) -> list[Fact]:
        """All facts of a topic: current, past, waiting and rejected ones."""
        return self._shard(topic).placed() if topic in self.topics else []

    def entries_of(self, topic: str) -> dict[str, float]:
        """The entries of a topic that were placed, and their times."""
        return dict(self._shard(topic).entries) if topic in self.topics else {}

    def sheet(self, path: str) -> Sheet | None:
        from looseleaf.core.ledger import shard_of

        name = shard_of(path)
        return self._shard(name).sheets.get(path) if name in self.topics and name is not None else None

    def all(self) -> list[Fact]:
        return [fact for topic in sorted(self.topics) for fact in self.of(topic)]

    def waiting(self) -> list[Fact]:
        """What waits in review, in the order in which it came."""
        found = [self._shard(topic).facts.get(name) for name, topic in self._ledger.waiting.items()]
        return [fact for fact in found if fact is not None and fact.status == "pending"]

    def find(self, name: str) -> Fact:
        """By its id or how that begins, or by the place of its line: `USER.md:5`."""
        place = _PLACE.fullmatch(name)
        if place:
            found = [fact for fact in self.all() if (fact.path, fact.line) == (place[1], int(place[2]))]
        else:
            wanted = name if name.startswith("f_") else f"f_{name}"
            found = (
                [fact for fact in self.all() if fact.id and fact.id.startswith(wanted)]
                if len(name) > 3
                else []
            )
        if len(found) == 1:
            return found[0]
        why = f"there is no fact {name}" if not found else f"{len(found)} facts begin with {name}"
        raise Refused(
            f"Nothing was done: {why}. `looseleaf facts` lists them; give more of its id, or `page.md:line`."
        )

    # --- keeping up --------------------------------------------------------------------

    def catch_up(self) -> None:
        """Take what is new in the journal. Whoever reads facts calls this first."""
        try:
            if not self._loaded:
                self._load()
                self._loaded = True
            elif not self._belongs():
                raise _Astray
            self._read()
        except _Astray:
            self._forget()
            self._read()
        self._save()

    def _belongs(self) -> bool:
        if self._position == START:
            return True
        before = next(self._store.read_back(JOURNAL, self._position), None)
        return before is not None and before.end == self._position and before.record.get("id") == self._last

    def _read(self) -> None:
        void: set[str] = set()
        edits: set[str] = set()
        for line in self._store.read(JOURNAL, self._position):
            kind = line.record.get("kind")
            if kind == "void":
                void.add(str(line.record.get("edit")))
            elif kind == "edit":
                edits.add(str(line.record.get("id")))
        if not void <= edits and self._position != START:
            raise _Astray  # what was taken already did not happen
        end = self._position
        for line in self._store.read(JOURNAL, self._position):
            if line.record.get("id") not in void:
                self._ledger.take(line.record, line.position)
                self._settle(line.end)
            end, self._last = line.end, line.record.get("id")
            self._unsaved = True
        for path in sorted(self._ledger.torn):
            text = self._head(path)
            self._ledger.mend(path, None if text is None else text.decode("utf-8", "replace"), end)
            self._settle(end)
        self._position = end

    def _settle(self, end: Position) -> None:
        """The shards that a record changed stand behind it now."""
        for name in self._ledger.touched:
            self._shard(name).position = end
        self._dirty |= self._ledger.touched
        self._ledger.touched.clear()

    # --- the views ---------------------------------------------------------------------

    def _shard(self, name: str) -> Shard:
        if name not in self._shards:
            self._shards[name] = self._read_shard(name) if name in self.topics else Shard(name)
        return self._shards[name]

    def _read_shard(self, name: str) -> Shard:
        raw = self._record(f"{FOLDER}/{name}.json")
        try:
            shard = Shard.from_record(raw)
            is_ours = raw["schema"] == SHARD and shard.name == name
        except (KeyError, TypeError, ValueError) as error:
            raise _Astray from error
        if not is_ours or shard.position < self.topics[name][:2]:
            raise _Astray
        return shard

    def _record(self, path: str) -> Record:
        """A view, if it is whole."""
        try:
            document = self._store.get(path)
            record, checked = codec.decode(document.data.rstrip(b"\n") if document else b"")
        except (Refused, codec.Damaged):
            return {}
        return record if checked else {}

    def _load(self) -> None:
        raw = self._record(INDEX)
        try:
            if raw["schema"] != SCHEMA or raw["trusts"] != self._trusts:
                return
            self._position = Position(*map(int, raw["position"]))
            self._last = raw["last"]
            self.topics = {str(name): (int(a), int(b), int(c)) for name, (a, b, c) in raw["topics"].items()}
            self._ledger.moved = [list(each) for each in raw["moved"]]
            self._ledger.waiting = {str(name): str(topic) for name, topic in raw["waiting"].items()}
        except (KeyError, TypeError, ValueError, AttributeError):
            self._forget()
        if not self._belongs():
            self._forget()

    def _save(self) -> None:
        """Under the lock, and only what is newer than what is there: the files of two readings do not mix."""
        if not self._unsaved:
            return
        for name in self._dirty:
            shard = self._shard(name)
            current = sum(fact.status == "current" for fact in shard.facts.values())
            self.topics[name] = (*shard.position, current)
        try:
            with self._store.lock():
                there = self._record(INDEX)
                position = there.get("position")
                is_ahead = isinstance(position, list) and tuple(position) > self._position
                if is_ahead and there.get("trusts") == self._trusts:
                    return
                for name in sorted(self._dirty):
                    self._store.view(f"{FOLDER}/{name}.json", codec.encode(self._shard(name).to_record()))
                self._store.view(INDEX, codec.encode(self._index()))
                self._dirty.clear()
                self._unsaved = False
        except Refused:
            pass  # made again another time

    def _index(self) -> Record:
        return {
            "schema": SCHEMA,
            "trusts": self._trusts,
            "position": list(self._position),
            "last": self._last,
            "topics": {name: list(self.topics[name]) for name in sorted(self.topics)},
            "moved": self._ledger.moved,
            "waiting": self._ledger.waiting,
        }
