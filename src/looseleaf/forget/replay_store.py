"""The store of the replayed world, and the real code that places entries in it."""

from __future__ import annotations

from _thread import RLock

from looseleaf.base.errors import Refused, Stale
from looseleaf.base.hashing import sha256_or_none
from looseleaf.base.paths import STATE, canonical, is_page
from looseleaf.base.values import START, Document, LogLine, Position, Stat
from looseleaf.facts.gate import proposal_of
from looseleaf.facts.placement import PROJECT, USER
from looseleaf.facts.tombstones import fact_text
from looseleaf.forget.cut import topic_of_proposal
from looseleaf.forget.rebase_edits import state_of
from looseleaf.forget.rewrite_log import filler
from looseleaf.log.entries import read_entry
from looseleaf.log.journal import BrokenEdit, edit_of, forward
from looseleaf.pages.grammar import topic_of
from looseleaf.place.parts import PlaceParts
from looseleaf.state.rules import highest_id, items_of
from looseleaf.store import JOURNAL
from looseleaf.store.context import Context
from looseleaf.store.documents import view_path
from looseleaf.store.read_streams import stream_files
from looseleaf.store.records import encode_new
from looseleaf.store.root import over_limit

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
    from contextlib import AbstractContextManager

    from looseleaf.base.policy import Policy
    from looseleaf.base.values import Edit, Ended, Fact, Problem, Record
    from looseleaf.store.protocol import Store


ENTRIES = "log/entries/"


class World:
    """A store in memory, with the pages and the journal as they would have been. `left` gives what is left of a line of
    a stream (None: it is no longer there); `files` are the files of entries that were made again (None: they are
    gone)."""

    def __init__(
        self, under: Store, left: Callable[[str, Record], Record | None], files: Mapping[str, bytes | None]
    ) -> None:
        self._under = under
        self._left = left
        self._files = files
        self._lock = RLock()
        self.journal: list[Record] = []
        self.documents: dict[str, bytes] = {}
        self._versions: dict[str, int] = {}
        self.placed_as: object = None
        """The id of the placing that is done again. Its new record has it from the start: a reader who got that far
        goes on from there, and does not read the whole journal again."""
        self.unknown: set[str] = set()
        """Pages whose text is not known: a record of the journal is lost."""

    def lock(self) -> AbstractContextManager[object]:
        return self._lock

    def append(self, stream: str, records: Sequence[Record]) -> list[Position]:
        stream_files(stream)  # refuses a name that is no stream's
        if stream != JOURNAL:
            raise Refused(f"Nothing was written: {stream} is not written while something is being forgotten.")
        for record in records:
            encode_new(record)  # refuses what a log cannot hold
        with self._lock:
            first = len(self.journal)
            for record in records:
                is_again = self.placed_as is not None and record.get("kind") == "placed"
                self.journal.append({**record, "id": self.placed_as} if is_again else record)
            return [Position(1, at) for at in range(first, len(self.journal))]

    def read(
        self, stream: str, start: Position = START, on_problem: Callable[[Problem], None] | None = None
    ) -> Iterator[LogLine]:
        if stream == JOURNAL:
            for at in range(start.offset, len(self.journal)):
                yield _line(self.journal[at], at)
            return
        yield from (self._as_left(stream, line) for line in self._under.read(stream, start, on_problem))

    def read_back(self, stream: str, end: Position | None = None) -> Iterator[LogLine]:
        if stream == JOURNAL:
            for at in range(len(self.journal) if end is None else end.offset, 0, -1):
                yield _line(self.journal[at - 1], at - 1)
            return
        yield from (self._as_left(stream, line) for line in self._under.read_back(stream, end))

    def _as_left(self, stream: str, line: LogLine) -> LogLine:
        """A line as it will be: of one that went, its place and its id are left."""
        left = self._left(stream, line.record)
        return LogLine(filler(line.record) if left is None else left, line.position, line.end, line.checked)

    def end(self, stream: str) -> Position:
        return Position(1, len(self.journal)) if stream == JOURNAL else self._under.end(stream)

    def rotate(self, stream: str) -> None:
        stream_files(stream)

    def streams(self) -> list[str]:
        others = [stream for stream in self._under.streams() if stream != JOURNAL]
        return [JOURNAL, *others] if self.journal else others

    def _is_here(self, path: str) -> bool:
        return is_page(path) or path.startswith("views/")

    def get(self, path: str, limit: int | None = None) -> Document | None:
        path = canonical(path)
        if path in self.unknown:
            raise Refused(f"{path} was not read: a record of its journal is lost.")
        if self._is_here(path):
            data = self.documents.get(path)
        elif path in self._files:
            data = self._files[path]
        else:
            return self._under.get(path, limit)
        if data is not None and limit is not None and len(data) > limit:
            raise over_limit(path, limit)
        return None if data is None else Document(path, data)

    def stat(self, path: str) -> Stat | None:
        path = canonical(path)
        if not self._is_here(path) and path not in self._files:
            return self._under.stat(path)
        found = self.get(path)
        if found is None:
            return None
        number = self._versions.get(path, 0)
        return Stat(path, len(found.data), number, (0, 0, len(found.data), number, number, 0))

    def put(self, path: str, data: bytes, *, base: str | None, record: Record | None = None) -> str:
        self._change(canonical(path), data, base, record)
        return Document(path, data).sha256

    def delete(self, path: str, *, base: str, record: Record | None = None) -> None:
        self._change(canonical(path), None, base, record)

    def _change(self, path: str, data: bytes | None, base: str | None, record: Record | None) -> None:
        with self._lock:
            current = sha256_or_none(self.documents.get(path))
            if current != base:
                raise Stale(path, base, current)
            if record is not None:
                self.append(JOURNAL, [record])
            self.set(path, data)

    def set(self, path: str, data: bytes | None) -> None:
        """Make this the document, or have none."""
        self._versions[path] = self._versions.get(path, 0) + 1
        self.unknown.discard(path)
        if data is None:
            self.documents.pop(path, None)
        else:
            self.documents[path] = data

    def view(self, path: str, data: bytes) -> None:
        self.set(view_path(path), data)

    def publish(self, folder: str, files: Mapping[str, bytes], *, again: bool = False) -> None:
        raise Refused(f"{folder} was not written: nothing is distilled while something is being forgotten.")

    def folders(self, folder: str) -> tuple[str, ...]:
        """Of entries, without those that are gone."""
        found = self._under.folders(folder)
        prefix = f"{canonical(folder)}/"
        if not prefix.startswith(ENTRIES) or prefix == ENTRIES:
            return found
        return tuple(name for name in found if self._files.get(f"{prefix}{name}/meta.json", b"") is not None)

    def edition(self) -> tuple[int, ...] | None:
        return None

    def recover(self) -> None:
        pass

    def check(self) -> Iterator[Problem]:
        return iter(())

    def repair(self) -> list[str]:
        return []

    def close(self) -> None:
        pass

    # Last, because its name hides the type of the same name from what follows it.
    def list(self, folder: str = "") -> list[Stat]:
        prefix = f"{canonical(folder)}/" if folder else ""
        paths = sorted(
            path for path in self.documents if path.startswith(prefix) and "/" not in path[len(prefix) :]
        )
        return [found for path in paths if (found := self.stat(path)) is not None]


def _line(record: Record, at: int) -> LogLine:
    return LogLine(record, Position(1, at), Position(1, at + 1), True)


class ReplayParts(PlaceParts):
    """The parts that place entries in a world, up to where it was replayed. `notes` lists what could not be done."""

    def __init__(self, world: World, policy: Policy) -> None:
        self.notes: list[str] = []
        # Secrets were removed when they were first written: nothing is redacted again.
        super().__init__(
            Context(world, "", policy, "main", self.notes.append, _estimate_tokens, lambda value: value)
        )

    def facts(self) -> list[Fact]:
        """Return all facts, past and waiting ones too."""
        self.known.catch_up()
        return self.known.all()

    def find_same(self, was: Fact | None) -> Fact | None:
        """Return the fact that says the same as a removed one: a person's decision is about what it says."""
        if was is None:
            return None
        text = fact_text(was.topic, was.relation, was.object)
        self.known.catch_up()
        held = (fact for fact in self.known.of(was.topic) if fact.status in ("current", "pending"))
        return next(
            (fact for fact in held if fact_text(fact.topic, fact.relation, fact.object) == text), None
        )

    def end_facts(self, path: str, lines: Sequence[str], edit: Edit) -> tuple[Ended, ...]:
        """End the facts of these lines by what an edit ended others by."""
        if not lines or not edit.ended:
            return ()
        self.known.catch_up()
        _, when, by = edit.ended[0]
        return tuple(
            (fact.id or "", when, by)
            for fact in self.known.of(topic_of(path))
            if fact.status == "current" and f"{fact.relation}: {fact.object}" in lines
        )

    def renew_summary(self, path: str, data: bytes, facts: tuple[Record, ...]) -> bytes:
        """Renew a summary by rule, if the program wrote the old one."""
        self.known.catch_up()
        try:
            return self.placer.summarised(path, data.decode(), facts).encode()
        except (UnicodeDecodeError, Refused):
            return data


def topics_in(record: Record) -> set[str]:
    """Return the topics that a placing's record mentions."""
    found = {str(record.get("topic")), *(str(each[0]) for each in record.get("restated", ()))}
    for name in ("raised", "history"):
        found |= {str(each.get("topic")) for each in record.get(name, ())}
    return found | {str(each.get("topic")) for _, each in record.get("retold", ())}


def topics_touched(world: World, record: Record, topics: Callable[[str], str]) -> set[str]:
    """Return the topics that placing an entry read, as far as it matters; and the state, if it changes."""
    own = str(record.get("topic"))
    found = topics_in(record) | {str(each.get("topic")) for each in record.get("dropped", ())}
    try:
        entry = read_entry(world, str(record.get("entry")))
    except Refused:
        return found
    for raw in entry.summary.get("facts", ()):
        proposal = proposal_of(raw)
        if proposal is not None:
            found.add(topic_of_proposal(topics, proposal, own))
    if entry.summary.get("decisions") or entry.summary.get("tasks"):
        found |= {STATE, USER, PROJECT}
    return found


def highest_of(journal: Iterable[Record], name: str) -> int:
    """Return the highest id number that a list of the state ever had."""
    page: bytes | None = None
    highest = 0
    for record in journal:
        edit = edit_of(record) if record.get("path") == STATE else None
        if edit is not None:
            try:
                page = forward(edit, page)
            except BrokenEdit:
                page = None
            highest = max(highest, highest_id(items_of(state_of(page) or {}, name)))
    return highest


def _estimate_tokens(text: str) -> int:
    from looseleaf.models.tokens import estimate

    return estimate(text)
