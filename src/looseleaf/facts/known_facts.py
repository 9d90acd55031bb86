"""The facts of a store: the ledger, cached in views and brought up to date from the journal (FORMAT §13.6); and the
tombstones of forgotten content, so that it does not come back (FORMAT §17.5).

`views/facts.json` records how far the journal was read. Each topic has its own file, so that the cost of a change
depends on its topic, not on the whole memory. The index has the hash of each file: files not written for each other are
never read together. Like every view they may be deleted, are ignored if damaged, and a failed write is no reason to
refuse.

Each forgetting leaves one record in `log/tombstones.jsonl`: ids, counts and keyed hashes, and no word of the content.
The key is `log/key`: without it, not even guesses can be tested. A memory that never forgot has no such file, and a
lookup costs one stat.
"""

from __future__ import annotations

from looseleaf.base.errors import Invalid, NotFound, Refused
from looseleaf.base.paths import REVIEW, TICKED
from looseleaf.base.values import START, Position, sha256, sha256_or_none
from looseleaf.facts.page_lines import Shard, shard_of
from looseleaf.log.journal import ACCEPTED, refuse_unknown
from looseleaf.pages.outside_edits import is_same_log, load_view
from looseleaf.store import JOURNAL, TOMBSTONES, records
from looseleaf.store.machines import log_of
from looseleaf.text.lines import lazy

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Sequence
    from typing import Any, Literal

    from looseleaf.base.values import Edit, Fact, Record
    from looseleaf.facts.ledger import FactLedger
    from looseleaf.facts.page_lines import Sheet
    from looseleaf.store.protocol import Store

    Kind = Literal["item", "text", "sentence", "fact", "session", "asked"]


INDEX = "views/facts.json"
FOLDER = "views/facts"
SCHEMA = "facts_index.v1"

_PER_RECORD = 64
"""Facts written to the views for each record read: reading it again takes about as long."""

_WHEN_CLOSED = 1000
"""Facts written at the end of a process for any record."""

_TOPICS_PER_FACT = 8
"""Topics of the index that take as long to write as one fact."""

_PLACE = lazy(r"(.+\.md):([0-9]{1,7})")


class _StaleViews(Exception):
    """The views do not fit this journal, or each other: they are rebuilt from the beginning."""


class Facts:
    """All facts of a store. `head` returns a page's journaled text; `trusts`: edits found on disk are a person's."""

    def __init__(self, store: Store, head: Callable[[str], bytes | None], *, trusts: bool) -> None:
        self._store = store
        self._head = head
        self._trusts = trusts
        self._rewrites = False
        self._reset()

    def _reset(self) -> None:
        self._shards: dict[str, Shard] = {}
        self._placed: dict[str, tuple[Shard, tuple[int, int, int], list[Fact]]] = {}
        """For each requested topic: its facts with their lines, and the record up to which they are valid."""
        self._fold: FactLedger | None = None
        self._waiting: dict[str, str] = {}
        """The topics of the facts that wait in review, in order of arrival."""
        self._moved: list[Any] = []
        """The lines that recently moved, as read from the views."""
        self.position = START
        """The place in the journal up to which the facts are read."""
        self._last: str | None = None
        self.topics: dict[str, tuple[int, int, int]] = {}
        """For each topic: the record after which it last changed (segment, byte), and its number of current facts."""
        self._sums: dict[str, str] = {}
        """The hash of each topic's file, unless the topic changed since."""
        self._loaded = False
        self._unsaved = 0
        """Records read that the views do not have."""

    # --- reading -----------------------------------------------------------------------

    def of(self, topic: str) -> list[Fact]:
        """Return all facts of a topic: current, past, waiting and rejected ones."""
        shard = self._find_shard(topic)
        if shard is None:
            return []
        made = self._placed.get(topic)
        if made is None or made[0] is not shard or made[1] != self.topics[topic]:
            made = self._placed[topic] = shard, self.topics[topic], shard.placed()
        return list(made[2])

    def placed(self) -> list[str]:
        """Return all placed entries, oldest first, without replaced ones. Reads the journal."""
        found: dict[str, None] = {}
        for line in self._store.read(JOURNAL):
            if line.record.get("kind") == "placed" and line.record.get("entry"):
                found.pop(str(line.record.get("instead")), None)
                found[str(line.record["entry"])] = None
        return list(found)

    def entries_of(self, topic: str) -> dict[str, float]:
        """Return the placed entries of a topic, and their times."""
        shard = self._find_shard(topic)
        return dict(shard.entries) if shard is not None else {}

    def sheet(self, path: str) -> Sheet | None:
        shard = self._find_shard(shard_of(path))
        return shard.sheets.get(path) if shard is not None else None

    @property
    def state(self) -> object:
        """What is the same as long as no fact changed."""
        return self._store.edition(), self.position, self._last

    @property
    def names(self) -> list[str]:
        """The names of all topics; parts of a topic (`days/…`) are not topics."""
        return sorted(name for name in self.topics if "/" not in name)

    def all(self, topics: Iterable[str] | None = None) -> list[Fact]:
        """Return the facts of all topics, or of these."""
        return [
            fact for topic in sorted(self.topics if topics is None else topics) for fact in self.of(topic)
        ]

    def waiting_topics(self) -> set[str]:
        """Return the topics with facts that wait in review."""
        return set(self._waiting.values())

    def waiting(self) -> list[Fact]:
        """Return the facts that wait in review, in order of arrival."""
        shards = ((name, self._find_shard(topic)) for name, topic in list(self._waiting.items()))
        found = (shard.facts.get(name) for name, shard in shards if shard is not None)
        return [fact for fact in found if fact is not None and fact.status == "pending"]

    def is_unsettled(self) -> bool:
        """Return True if review needs attention. Usually it does not."""
        return any(self.unsettled())

    def unsettled(self) -> tuple[list[Fact], list[Fact], list[str]]:
        """Return the facts ticked in review, the waiting facts without a line there, and the ids of lines for which
        nothing waits: a crash left them."""
        sheet = self.sheet(REVIEW)
        asked = sheet.pending() if sheet is not None else {}
        waiting = {fact.id or "": fact for fact in self.waiting()}
        ticked = [fact for fact in waiting.values() if TICKED in fact.tags]
        lost = [fact for name, fact in waiting.items() if name not in asked and TICKED not in fact.tags]
        return ticked, lost, [name for name in asked if name not in waiting]

    def _find_shard(self, name: str | None) -> Shard | None:
        """Return a shard; if its view is bad, rebuild all."""
        for start in (self._load, self._begin_anew):
            try:
                return self._shard(name) if name is not None and name in self.topics else None
            except _StaleViews:
                self._read_from(start, self._begin_anew)
        return self._shard(name) if name in self.topics else None

    def find(self, name: str) -> Fact:
        """Find a fact by its id or the beginning of it, or by the place of its line: `USER.md:5`."""
        if not isinstance(name, str):
            raise Invalid(f"Nothing was done: {name!r} names no fact. Give its id, or `page.md:line`.")
        place = _PLACE.fullmatch(name)
        if place:
            topic = shard_of(place[1]) or ""
            found = [fact for fact in self.of(topic) if (fact.path, fact.line) == (place[1], int(place[2]))]
        else:
            wanted = name if name.startswith("f_") else f"f_{name}"
            found = [fact for fact in self.all() if fact.id and fact.id.startswith(wanted)] if name else []
        if len(found) == 1:
            return found[0]
        why = f"there is no fact {name}" if not found else f"{len(found)} facts begin with {name}"
        how = "`looseleaf facts` lists them; give more of its id, or `page.md:line`."
        raise (Invalid if found else NotFound)(f"Nothing was done: {why}. {how}")

    def named(self, ids: Collection[str]) -> dict[str, Fact]:
        """Return the facts of these ids, as far as they are there."""
        return {fact.id: fact for fact in self.all() if fact.id and fact.id in ids} if ids else {}

    # --- keeping up --------------------------------------------------------------------

    def catch_up(self) -> None:
        """Read new records of the journal. Call this before reading facts."""
        self._read_from(self._continue, self._load, self._begin_anew)

    def make_whole(self) -> None:
        """Rebuild the views if one of them was deleted meanwhile."""
        self._save(now=True)
        folders = (FOLDER, *(f"{FOLDER}/{each}" for each in self._store.folders(FOLDER)))
        there = {stat.path for folder in folders for stat in self._store.list(folder)}
        if self._read_index() is None or any(f"{FOLDER}/{name}.json" not in there for name in self.topics):
            self._read_from(self._begin_anew)

    def _read_from(self, *starts: Callable[[], None]) -> None:
        """Read on from the first start that works. Others write views meanwhile: try loading again before a rebuild."""
        with self._store.reading():
            self._read_and_save(starts)

    def _read_and_save(self, starts: Sequence[Callable[[], None]]) -> None:
        for start in starts:
            try:
                start()
                self._read_journal()
            except _StaleViews:
                continue
            except BaseException:
                self._reset()  # half a reading is none
                raise
            break
        self._loaded = True
        self._save()

    def _continue(self) -> None:
        if not self._loaded:
            self._load()
        elif not is_same_log(self._store, self.position, self._last):
            raise _StaleViews

    def _begin_anew(self) -> None:
        self._reset()
        self._rewrites = True

    def _read_journal(self) -> None:
        void: set[str] = set()
        edits: set[str] = set()
        end = self.position
        for line in self._store.read(JOURNAL, self.position):
            refuse_unknown(line.record)
            kind = line.record.get("kind")
            if kind == "void":
                void.add(str(line.record.get("edit")))
            elif kind == "edit":
                edits.add(str(line.record.get("id")))
            end = line.end
        if not void <= edits and self.position != START:
            raise _StaleViews  # a record already taken became void
        touched: set[str] = set()
        ends: dict[str, Position] = {}
        for line in self._store.read(JOURNAL, self.position):
            if line.end > end:
                break  # it came meanwhile, and a record that voids it may follow
            if line.record.get("id") not in void:
                self._ledger.take(line.record)
                touched |= self._update_positions(line.end)
                ends[str(line.record.get("path"))] = line.end
            self._last = line.record.get("id")
            self._unsaved += 1
        self.position = end
        if self._fold is None:
            return  # nothing was taken
        for path in sorted(self._ledger.torn):
            data = self._head(path)
            if sha256_or_none(data) == self._ledger.torn[path][-1].new:
                self._ledger.mend(path, data)
                touched |= self._update_positions(ends[path])
        self._ledger.torn.clear()
        for name in touched:
            shard = self._shard(name)
            self.topics[name] = (*shard.position, shard.current)
            self._sums.pop(name, None)

    def _update_positions(self, end: Position) -> set[str]:
        """Set the position of the shards that a record changed."""
        touched = set(self._ledger.touched)
        for name in touched:
            self._shard(name).position = end
        self._ledger.touched.clear()
        return touched

    @property
    def _ledger(self) -> FactLedger:
        """The fold of the journal, loaded late: readers that find all in the views never load it."""
        if self._fold is None:
            from looseleaf.facts.ledger import FactLedger

            def bytes_before(edit: Edit) -> bytes | None:
                from looseleaf.pages.history import History

                return History(self._store).before(edit, self._head(edit.path))

            self._fold = FactLedger(self._shard, bytes_before, trusts=self._trusts)
            self._fold.waiting = self._waiting
            self._fold.moves.extend(self._moved)
        return self._fold

    # --- the views ---------------------------------------------------------------------

    def _shard(self, name: str) -> Shard:
        if name not in self._shards:
            self._shards[name] = self._read_shard(name) if name in self.topics else Shard(name)
        return self._shards[name]

    def _read_shard(self, name: str) -> Shard:
        try:
            document = self._store.get(f"{FOLDER}/{name}.json")
            if document is None or _short_hash(document.data) != self._sums.get(name):
                raise _StaleViews
            return Shard.from_record(records.whole(document.data))
        except (Refused, LookupError, TypeError, ValueError, AttributeError) as error:
            raise _StaleViews from error

    def _load(self) -> None:
        """Load the index, if it is whole and fits this journal and setting; else start empty."""
        self._reset()
        raw = self._read_index()
        if raw is None or not is_same_log(self._store, Position(*raw["position"]), raw["last"]):
            return
        try:
            self.topics = {name: (a, b, c) for name, (a, b, c) in raw["topics"].items()}
            self._sums = dict(raw["shards"])
            self._waiting = {str(name): str(topic) for name, topic in raw["waiting"].items()}
            self._moved = [
                [float(ts), *map(str, (way, relation, said, topic, name))]
                for ts, way, relation, said, topic, name in raw["moved"]
            ]
        except (LookupError, TypeError, ValueError, AttributeError):
            self._reset()
        else:
            self.position, self._last = Position(*raw["position"]), raw["last"]

    def _read_index(self) -> Record | None:
        """Return the index on disk, if it may be ours."""
        raw = load_view(self._store, INDEX, SCHEMA)
        try:
            segment, offset = raw["position"]
            is_ours = raw["trusts"] == self._trusts and "last" in raw
            return raw if is_ours and type(segment) is type(offset) is int else None
        except (LookupError, TypeError, ValueError):
            return None

    def _save(self, *, now: bool = False) -> None:
        """Write the views under the lock, if that is due or wanted `now`, and never over newer ones: the files of two
        readings do not mix."""
        if not (self._rewrites or (self._unsaved and (now or self._is_due()))):
            return
        try:
            with self._store.lock():
                self._write()
        except Refused:
            pass  # saved another time
        except _StaleViews:  # views were deleted: a shard that was never loaded cannot be written again
            self._read_from(self._begin_anew)

    def _is_due(self, paid: int = 0) -> bool:
        """True if enough was read to pay for writing the views: a series of changes must not write a long topic, or the
        index of many topics, each time. What is not written is read from the journal again."""
        changed = sum(len(self._shards[name].facts) for name in self.topics.keys() - self._sums.keys())
        if self._fold is not None:  # each that is too old by now is read again by every process
            paid += _PER_RECORD * max(0, len(self._moved) - len(self._fold.moves))
        return paid + self._unsaved * _PER_RECORD >= changed + len(self.topics) // _TOPICS_PER_FACT

    def close(self) -> None:
        """Write the views for the next process, unless that takes long for little."""
        self._save(now=self._is_due(_WHEN_CLOSED))

    def _write(self) -> None:
        there = self._read_index()
        if there is not None:
            position = Position(*there["position"])
            if position > self.position and is_same_log(self._store, position, there["last"]):
                return
        on_disk = there.get("shards") if there is not None and not self._rewrites else None
        known = on_disk if isinstance(on_disk, dict) else {}
        for name in sorted(self.topics):
            if name not in self._sums or known.get(name) != self._sums[name]:
                data = records.encode_own(self._shard(name).to_record())
                self._sums[name] = _short_hash(data)
                if known.get(name) != self._sums[name]:
                    self._store.view(f"{FOLDER}/{name}.json", data)
        index: Record = {
            "schema": SCHEMA,
            "trusts": self._trusts,
            "position": list(self.position),
            "last": self._last,
            "topics": {name: list(self.topics[name]) for name in sorted(self.topics)},
            "shards": {name: self._sums[name] for name in sorted(self.topics)},
            "moved": self._ledger.moves.to_list(),
            "waiting": self._waiting,
        }
        self._store.view(INDEX, records.encode_own(index))
        self._moved = index["moved"]
        self._unsaved, self._rewrites = 0, False


def _short_hash(data: bytes) -> str:
    return sha256(data)[:16]


# --- tombstones: hashes of forgotten content --------------------------------------------

FILE = "log/tombstones.jsonl"
TOMBSTONES_SCHEMA = "tombstones.v1"
KEY = "log/key"
_BYTES = 16


def tombstone_hash(key: bytes, kind: str, text: str) -> str:
    """Hash a text for a tombstone: the same words give the same hash, in any normal form."""
    from hashlib import blake2b
    from unicodedata import normalize

    words = normalize("NFC", text).strip()
    data = f"{kind}\n{words}".encode("utf-8", "surrogatepass")
    return blake2b(data, key=key, digest_size=_BYTES).hexdigest()


def keys_of(store: Store) -> tuple[bytes, ...]:
    """Return the keys that tombstones may be made with: this memory's, and those of machines that began with another
    one."""
    others = (store.get(f"{log_of(name)}/key") for name in store.machines())
    found = (store.get(KEY), *others)
    return tuple(dict.fromkeys(each.data for each in found if each is not None)) or (b"",)


def key_fingerprint(key: bytes) -> str:
    """Return what a tombstone keeps of the key it was made with, to recognize it."""
    return tombstone_hash(key[:64], "key", "")


def count_uncompared(store: Store) -> tuple[int, list[str]]:
    """Return how many forgettings can be compared with nothing, because `log/key` is gone or another one, and the
    fingerprints of the keys they need; without those that a person accepted."""
    needed = [line.record.get("key") for line in store.read(TOMBSTONES) if line.record.get("hashes")]
    there = store.get(KEY) if needed else None
    own = key_fingerprint(there.data) if there is not None else None
    lost = [str(each or "") for each in needed if own is None or each not in (None, own)]
    if not lost:
        return 0, []
    accepted = (
        line.record.get("keys") for line in store.read(JOURNAL) if line.record.get("kind") == ACCEPTED
    )
    known = {str(each) for some in accepted if isinstance(some, list) for each in some}
    left = [each for each in lost if each not in known]
    return len(left), sorted({*left} - {""})


def told_uncompared(count: int) -> str:
    """Return what a lost key means, and what to do."""
    from looseleaf.store.losses import TO_DO

    many = f"{count:,} forgettings" if count != 1 else "1 forgetting"
    return (
        f"the key of {many} is gone, or another one is in its place, so what was forgotten is not recognized, and an "
        f"import could bring it back. {TO_DO}"
    )


def sentence_text(sentence: str) -> str:
    """Normalize a sentence for tombstones (`sentence`): folded, without list marks and closing punctuation."""
    from looseleaf.text.spellings import fold_text

    return (
        fold_text(sentence).lstrip("-*+#> ").removeprefix("[ ] ").removeprefix("[x] ").rstrip(" .!?…。！？")
    )


def fact_text(topic: str, relation: str, said: str) -> str:
    """Normalize a fact for tombstones of the kind `fact`: its slot and its object."""
    from looseleaf.language.relations import slot
    from looseleaf.language.value_keys import key

    return f"{slot(topic, relation)}\n{key(said, relation)}"


class Tombstones:
    """The forgotten content of a store."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._look: object = ()
        self._hashes: dict[str, float] = {}
        self._keys: tuple[bytes, ...] = ()

    def holds(self, kind: Kind, text: str) -> bool:
        """Return True if this was forgotten: an importer's key of an `item`, a document's whole `text`, a `sentence`
        (see `sentence_text`), a `fact` (see `fact_text`), the name of a `session`, or the words `asked` to be
        forgotten."""
        return self.since(kind, text) is not None

    def since(self, kind: Kind, text: str) -> float | None:
        """Return when it was last forgotten; None: never. Words said later may be remembered."""
        self._read()
        if not self._hashes:
            return None
        found = (self._hashes.get(tombstone_hash(key, kind, text)) for key in self._keys)
        return max((each for each in found if each is not None), default=None)

    @property
    def are_there(self) -> bool:
        """True if anything was ever forgotten here."""
        self._read()
        return bool(self._hashes)

    @property
    def last(self) -> float | None:
        """The time of the last forget."""
        self._read()
        return max(self._hashes.values(), default=None)

    def _read(self) -> None:
        found = self._store.stat(FILE)
        look = found.mark if found is not None else None
        if look == self._look:
            return
        self._look, self._hashes = look, {}
        if found is None:
            return
        self._keys = keys_of(self._store)
        for line in self._store.read(TOMBSTONES):
            ts = float(line.record.get("ts") or 0.0)
            hashes = line.record.get("hashes")
            for each in map(str, hashes if isinstance(hashes, list) else ()):
                self._hashes[each] = max(ts, self._hashes.get(each, ts))
