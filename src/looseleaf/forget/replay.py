"""The journal as it would have been: replay history without what is to go (FORMAT §17.3).

Untouched records are copied byte for byte. Edits by people and agents are applied to the pages as they would have been.
Remaining entries are placed again by the real code, as of their time, if a topic or page they touched has changed: so a
value that only the forgotten source had replaced is true again.
"""

from __future__ import annotations

import json
from _thread import RLock
from functools import partial

from looseleaf.base.errors import Refused, Stale
from looseleaf.base.ids import at, new_id
from looseleaf.base.paths import STATE, canonical, is_page, path_fault
from looseleaf.base.values import START, Document, LogLine, Position, Stat, sha256_or_none
from looseleaf.facts.gate import proposal_of
from looseleaf.facts.known_facts import fact_text
from looseleaf.facts.placement import PROJECT, USER
from looseleaf.facts.stones import filler
from looseleaf.forget.cut import topic_of_proposal
from looseleaf.forget.dependents import LostSources, clean_mark
from looseleaf.forget.rebase_edits import (
    added_facts,
    has_new_summary,
    head_of,
    is_bare,
    merge_page,
    merge_state,
    remove_facts,
    remove_replaced,
    restore_replaced,
    state_of,
)
from looseleaf.log.entries import read_entry
from looseleaf.log.journal import (
    DISTILLED,
    MERGED,
    PERSON,
    PROGRAM,
    BrokenEdit,
    backward,
    edit_of,
    forward,
    make_edit,
    record_of,
)
from looseleaf.pages.grammar import parse, topic_of
from looseleaf.pages.history import History
from looseleaf.place.parts import PlaceParts
from looseleaf.place.placer import known
from looseleaf.state.rules import highest_id, items_of
from looseleaf.store import JOURNAL
from looseleaf.store.context import Context
from looseleaf.store.documents import view_path
from looseleaf.store.records import encode_new
from looseleaf.store.root import over_limit
from looseleaf.store.streams import stream_files
from looseleaf.text.spellings import worded

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
    from contextlib import AbstractContextManager
    from typing import Any

    from looseleaf.base.policy import Policy
    from looseleaf.base.values import Edit, Edition, Ended, Fact, Problem, Record
    from looseleaf.forget.cut import Cut
    from looseleaf.forget.dependents import GoneTraces
    from looseleaf.forget.heard import Elsewhere
    from looseleaf.forget.remake_entries import RemadeEntries
    from looseleaf.log.entries import Entry
    from looseleaf.store.protocol import Store


# --- the replayed world, and the real code that places entries in it --------------------

ENTRIES = "log/entries/"


class World:
    """A store in memory, with the pages and the journal as they would have been. `left` gives what is left of a line of
    a stream (None: it is no longer there); `files` are the files of entries that were made again (None: they are
    gone)."""

    reads_only = False
    edited_outside = True
    is_far = False

    def __init__(
        self, under: Store, left: Callable[[str, Record], Record | None], files: Mapping[str, bytes | None]
    ) -> None:
        self._under = under
        self.tables = under.tables
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

    def look(self) -> AbstractContextManager[object]:
        return self._under.look()

    def look_again(self) -> None: ...

    def fetch(self, places: Iterable[tuple[str, Position]]) -> None: ...

    def machines(self) -> tuple[str, ...]:
        return ()  # what other machines wrote stays

    def shown(self, machine: str, record: Record) -> Record:
        return record

    def locate(self, path: str) -> str:
        return self._under.locate(path)

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

    def append_after(
        self, stream: str, last: Position, records: Sequence[Record], of: Edition
    ) -> list[Position] | None:
        with self._lock:
            line = next(self.read_back(stream), None)
            is_last = (line.position if line is not None else START) == last
            return self.append(stream, records) if is_last and self.edition() == of else None

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

    def line_before(self, stream: str, position: Position) -> Record | None:
        return self._under.line_before(stream, position)

    def sum(self, stream: str, position: Position) -> str | None:
        return self._under.sum(stream, position)

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

    def put(
        self,
        path: str,
        data: bytes,
        *,
        base: str | None,
        record: Record | None = None,
        when: float | None = None,
    ) -> str:
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

    def view(self, path: str, data: bytes, *, of: Edition | tuple[()] = (), waits: bool = True) -> None:
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

    def edition(self) -> Edition:
        return None

    def reading(self, of: Edition | tuple[()] = ()) -> AbstractContextManager[bool]:
        return self._lock  # nothing else is forgotten here

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


# --- the replay -------------------------------------------------------------------------

_TOLD = ("raised", "retold", "history", "dropped", "facts")
"""The members of a placing or a merge that describe facts."""


class Replay:
    """Replays `world`; `written` maps each record of the old journal to the records that replace it."""

    def __init__(
        self,
        store: Store,
        world: World,
        cut: Cut,
        made: RemadeEntries,
        told: GoneTraces,
        policy: Policy,
        topics: Callable[[str], str],
        facts: Sequence[Fact],
        name: str,
        elsewhere: Elsewhere | None = None,
    ) -> None:
        self._store, self._world, self._cut, self._made = store, world, cut, made
        self._name = name
        """The id of this forgetting."""
        self._elsewhere = elsewhere
        self._gone_traces, self._topics = told, topics
        self._facts_before = {fact.id or "": fact for fact in facts}
        self.before: dict[str, bytes | None] = {}
        """Every page as it was, up to the current record."""
        self.dirty: set[str] = set()
        """Pages that differ from what they were."""
        self._dirty_topics: set[str] = set()
        self._again: dict[str, bool] = {}
        self._names: dict[str, str | None] = {}
        """New ids of changed edits; None: the edit is gone."""
        self._undoing: dict[str, tuple[bytes | None, bytes | None]] = {}
        """The page before and after each edit that was made anew."""
        self._besides: dict[str, tuple[set[str], dict[str, str]]] = {}
        """For edits of a repeated placing: which are not undone, and what it did on other pages."""
        self.written: list[tuple[Record, list[Record]]] = []
        self._then = ReplayParts(world, policy)
        gone = {name for ids in told.gone.values() for name in ids}
        self._rests = LostSources(gone | (elsewhere.gone if elsewhere is not None else set()), made.gone)
        self._history = History(store)
        self._ended: dict[str, set[str]] = {}
        """By entry, the facts that its placing ended without a successor."""

    def __call__(self) -> None:
        records = [line.record for line in self._store.read(JOURNAL)]
        self._void = {str(each.get("edit")) for each in records if each.get("kind") == "void"}
        self._placed = {str(each["entry"]): each for each in records if _is_entry(each)}
        self._owners = {
            str(edit): reference for reference, each in self._placed.items() for edit in each.get("edits", ())
        }
        for record in records:
            count = len(self._world.journal)
            self._replay_record(record)
            self.written.append((record, self._world.journal[count:]))

    def lines_gone(self) -> set[str]:
        """Return lines that stood on a page at some time, and would not have."""
        was = {line for record, _ in self.written for line in _all_lines(record)}
        return was - {line for _, new in self.written for record in new for line in _all_lines(record)}

    def facts(self) -> list[Fact]:
        return self._then.facts()

    def _replay_record(self, record: Record) -> None:
        match record.get("kind"):
            case "edit":
                self._replay_edit(record)
            case "void":
                if str(record.get("path")) not in self.dirty:
                    self._copy_record(record)
            case "copy":
                path, of = str(record.get("path")), str(record.get("of"))
                cut = self._cut
                is_named_so = cut.holds(path) and not cut.holds(of)  # it is settled: else this is refused
                if not (cut.takes_page(path) or cut.takes_page(of) or is_named_so):
                    self._copy_record(record)
            case "placed":
                self._replay_placing(record)
            case "fact":
                self._replay_decision(record)
            case "merged":
                self._replay_merged(record)
            case "mark":
                self._copy_record(clean_mark(record, self._cut, self._made, self._gone_traces))
            case "late":
                path = str(record.get("path"))
                self._copy_record({**record, "aside": []} if path in self.dirty else record)
            case "gone" | "found":
                paths = [path for path in record.get("paths", ()) if not self._cut.takes_page(str(path))]
                self._copy_record(record if paths == record.get("paths") else {**record, "paths": paths})
            case _:
                self._copy_record(record)

    def _copy_record(self, record: Record) -> None:
        """Copy a record; of a placing or a merge, drop what it says of facts that go."""
        kept: Record = {}
        if record.get("kind") in ("placed", MERGED) and self._cut.holds(record):
            lists = {name: record[name] for name in _TOLD if isinstance(record.get(name), list)}
            kept = {
                name: [each for each in told if not self._holds_fact(each)] for name, told in lists.items()
            }
        if not self._cut.holds({name: value for name, value in record.items() if name not in kept}):
            self._world.append(JOURNAL, [record | kept if kept else record])

    def _holds_fact(self, told: Any) -> bool:
        """True if the words stand in what a record tells of a fact that was not said again."""
        if isinstance(told, dict):
            slot = (str(told.get(name)) for name in ("topic", "relation", "object"))
            if self._cut.is_again(*slot):
                return False
        return self._cut.holds(told)

    def _replay_edit(self, record: Record) -> None:
        edit = edit_of(record)
        if edit is None or path_fault(edit.path):
            self._copy_record(record)
            return
        path = edit.path
        if edit.id in self._void:
            if path not in self.dirty and self._is_left(path, _added_text(edit)):
                self._copy_record(record)
            else:
                self._names[edit.id] = None
            return
        old = self.before.get(path)
        try:
            new = forward(edit, old)
        except BrokenEdit:
            self._replay_broken(record, edit)
            return
        self.before[path] = new
        is_distilled = edit.author == PROGRAM and edit.reason.startswith(DISTILLED)
        owner = edit.reason.removeprefix(DISTILLED) if is_distilled else self._owners.get(edit.id)
        if owner is not None and owner in self._made.gone:
            self._leave_out(edit)
        elif owner is None and self._gone_traces.writes.has(edit):
            self._leave_out(edit)
            self._rests.add(str(each.get("id")) for each in edit.facts)
            self._dirty_topics |= {str(each.get("topic")) for each in edit.facts}
        elif owner is not None and owner in self._placed and self._is_again(owner):
            self._ended.setdefault(owner, set()).update(name for name, _, by in edit.ended if by is None)
            self._mark_dirty(path)  # the entry is placed again at its record
        elif edit.undoes is not None and edit.undoes in self._names and self._names[edit.undoes] is None:
            self._leave_out(edit)  # the edit it undoes did not happen
        else:
            self._rebase_edit(record, edit, old, new)
        if edit.undoes in self._besides:
            self._undo_besides(edit, *self._besides[edit.undoes or ""])

    def _undo_besides(self, edit: Edit, left: set[str], others: dict[str, str]) -> None:
        """Undo what a placing does only in this world, once all its original edits are undone."""
        left.discard(edit.undoes or "")
        for path, name in others.items() if not left else ():
            own = self._world.documents.get(path)
            before, after = self._undoing.get(name, (own, own))
            made = self._merge(path, after, before, own, edit)
            if made != own:
                with at(edit.ts, name):
                    new = make_edit(new_id(), edit.ts, path, edit.author, edit.reason, own, made, undoes=name)
                self._world.set(path, made)
                self._world.append(JOURNAL, [record_of(new)])

    def _leave_out(self, edit: Edit) -> None:
        self._names[edit.id] = None
        self._mark_dirty(edit.path)

    def _mark_dirty(self, path: str) -> None:
        self.dirty.add(path)
        if path.startswith("facts/") or path == "USER.md":
            self._dirty_topics.add(topic_of(path))

    def _replay_broken(self, record: Record, edit: Edit) -> None:
        """Handle an edit after a lost record. From here the page is what the edit says, if it says everything."""
        self.before.pop(edit.path, None)
        if edit.path in self.dirty or not self._is_left(edit.path, _added_text(edit)):
            self._leave_out(edit)
            return
        self._copy_record(record)
        try:
            now = self._store.get(edit.path)
        except Refused:
            now = None
        try:
            found = self._history.after(edit, now.data if now is not None else None)
        except Refused:
            self._world.unknown.add(edit.path)
        else:
            self._world.unknown.discard(edit.path)
            self.before[edit.path] = found
            self._world.set(edit.path, found)

    def _rebase_edit(self, record: Record, edit: Edit, old: bytes | None, new: bytes | None) -> None:
        path = edit.path
        own = self._world.documents.get(path)
        orphans = [each for each in edit.facts if self._rests.are_gone(each)]
        given = {(each.get("relation"), each.get("object")) for each in orphans}
        cut_old = self._cut.cut_version(path, old)
        # What an undo removed was taken back, whatever replaced it.
        left = new if edit.undoes else restore_replaced(path, old, new, partial(self._takes, path, given))
        cut_new = self._cut.cut_version(path, left, cut_old)
        if edit.merge is not None and self._elsewhere is not None:
            is_own = edit.summary is None
            cut_new = self._elsewhere.keep(path, cut_old, cut_new, has_own_summary=is_own)
        if orphans and cut_new is not None:
            cut_new = remove_facts(path, cut_old, cut_new, orphans)
        staying = (each for each in edit.facts if each not in orphans and not self._is_gone(path, each))
        facts = tuple(map(self._update_account, staying))
        undone = self._names.get(edit.undoes, edit.undoes) if edit.undoes is not None else None
        is_same = own == old and cut_new == new and facts == edit.facts and undone == edit.undoes
        if is_same and not self._cut.holds(edit.reason):
            self._world.set(path, new)
            self._world.append(JOURNAL, [record])
            return
        # Undo what was done in this world: the lines that came back then may be what goes.
        before, after = self._undoing.get(undone or "", (cut_new, cut_old))
        if before is None and cut_new is not None and own != after:
            before = b""  # the undone edit made the page, and others' words came to it since
        made = self._merge(path, after, before, own, edit)
        if own is None and made is not None and is_bare(path, made) and cut_new != new:
            made = None  # nothing is left of a page made for it
        self._mark_dirty(path)
        lost = {str(each.get("id")) for each in edit.facts} - {str(each.get("id")) for each in facts}
        ended = tuple(
            each
            for each in edit.ended
            if self._exists(topic_of(path), each[0])
            and not (each[2] in lost and self._is_on_page(path, each[0], made))
        )
        if made is not None and made != own and path != STATE:
            if undone not in self._undoing:
                passed_on, made = remove_replaced(path, old, cut_new, made)
                ended += self._then.end_facts(path, passed_on, edit)
            if edit.facts or has_new_summary(path, old, new):
                own_words = added_facts(path, old, made) if edit.author == PERSON else ()
                made = self._then.renew_summary(path, made, (*facts, *own_words))
        if made == own and edit.merge is None:
            self._names[edit.id] = None
            return
        if edit.merge is not None:
            facts = tuple(each for each in facts if self._is_told_on(path, each, made))
        head, reason = (edit.id, edit.ts, path, edit.author), self._cut.cut_text(edit.reason)
        with at(edit.ts, edit.id):
            changed = make_edit(*head, reason, own, made, undoes=undone, facts=facts, ended=ended).but(
                merge=edit.merge, cut=self._name, summary=edit.summary
            )
        self._undoing[edit.id] = own, made
        self._world.set(path, made)
        self._world.append(JOURNAL, [record_of(changed)])

    def _merge(
        self, path: str, base: bytes | None, mine: bytes | None, theirs: bytes | None, edit: Edit
    ) -> bytes | None:
        if mine is None or mine == base:
            return None if mine is None else theirs
        if path == STATE:
            is_ours = edit.author in (PERSON, PROGRAM) or edit.author.startswith("agent:")
            own_ids = partial(highest_of, self._world.journal) if is_ours else None
            return merge_state(base, mine, theirs, renumber=own_ids)
        if base == theirs:
            return mine
        old, new, own = [(each or b"").decode(edit.encoding, "replace") for each in (base, mine, theirs)]
        head = own if theirs is not None else head_of(path, old, new)
        made = merge_page(path, old, new, head)
        if theirs is None and made.strip() == head.strip() and new.strip():
            return None  # the edit only changed lines that are not there
        return made.encode(edit.encoding, "replace")

    def _update_account(self, told: Record) -> Record:
        """Return an edit's account of a fact; if a source went, what is known without it."""
        if not self._rests.has_lost(told):
            return told
        same = self._then.find_same(self._facts_before.get(str(told.get("id"))))
        return known(same) if same is not None else self._rests.without(told)

    def _takes(self, path: str, orphans: set[tuple[Any, Any]], fact: Fact) -> bool:
        """True if a line of a page goes, by the cut or with its fact's sources."""
        is_orphan = (fact.relation, fact.object) in orphans
        return is_orphan or self._cut.takes_fact(topic_of(path), fact.relation, fact.object)

    def _is_on_page(self, path: str, name: str, data: bytes | None) -> bool:
        """True if a version of a page says a fact."""
        fact = self._facts_before.get(name)
        there = parse(path, (data or b"").decode("utf-8", "replace")).facts
        pairs = {(each.relation, each.object) for each in there}
        return fact is not None and (fact.relation, fact.object) in pairs

    def _is_told_on(self, path: str, told: Record, data: bytes | None) -> bool:
        """True if a page has the line that an edit tells of."""
        there = parse(path, (data or b"").decode("utf-8", "replace")).facts
        return any(
            (each.relation, each.object) == (told.get("relation"), told.get("object")) for each in there
        )

    def _is_left(self, path: str, text: str) -> bool:
        """True if all of a text may stay on a page."""
        data = text.encode("utf-8", "replace")
        return self._cut.cut_version(path, data) == data

    def _is_gone(self, path: str, told: Record) -> bool:
        topic, relation = str(told.get("topic") or topic_of(path)), str(told.get("relation"))
        said = str(told.get("object"))
        return self._cut.takes_fact(topic, relation, said) or self._holds_fact({**told, "topic": topic})

    def _is_again(self, reference: str) -> bool:
        """True if an entry must be placed again; decided at its first record."""
        if reference not in self._again:
            self._again[reference] = reference in self._made.again or bool(
                topics_touched(self._world, self._placed[reference], self._topics)
                & (self._dirty_topics | ({STATE} & self.dirty))
            )
        return self._again[reference]

    def _replay_placing(self, record: Record) -> None:
        reference = record.get("entry")
        if not _is_entry(record):
            self._copy_record(record)
        elif reference in self._made.gone:
            self._dirty_topics |= topics_in(record)
            if record.get("through") is not None:
                kept = ("schema", "id", "ts", "kind", "agent", "through", "last", "sum")
                self._copy_record({name: record[name] for name in kept if name in record})
        elif self._is_again(str(reference)):
            self._place_again(record)
        else:
            self._copy_record(self._update_edits(record))

    def _place_again(self, record: Record) -> None:
        reference = str(record["entry"])
        try:
            entry = read_entry(self._world, reference)
        except Refused as refused:
            self._then.notes.append(str(refused))
            self._copy_record(record)
            return
        old = [str(each) for each in record.get("edits", ())]
        count = len(self._world.journal)
        names = ("through", "last", "sum")
        place = {name: record[name] for name in names if name in record} if record.get("through") else None
        find_lost = partial(self._find_lost, entry) if record.get("instead") else None
        self._world.placed_as = record.get("id")
        self._then.replays = record
        with at(float(record.get("ts") or 0.0), str(record.get("id"))):
            self._then.placer.entry(entry, place, find_lost)
        self._world.placed_as, self._then.replays = None, None
        made = self._world.journal[count:]
        by_path = {str(each.get("path")): str(each.get("id")) for each in made if each.get("kind") == "edit"}
        wanted = {*old}
        edits = (each for each, _ in self.written if each.get("id") in wanted)
        paths = {str(each.get("id")): str(each.get("path")) for each in edits}
        self._names |= {each: by_path.get(paths.get(each, "")) for each in old}
        others = {path: name for path, name in by_path.items() if path not in paths.values()}
        self._besides |= dict.fromkeys(old, ({*old}, others)) if others else {}
        for each in made:
            edit = edit_of(each)
            if edit is not None:
                after = self._world.documents.get(edit.path)
                try:
                    self._undoing[edit.id] = backward(edit, after), after
                except BrokenEdit:
                    pass  # the same placing changed it again; an undo then goes by its lines
        self._dirty_topics |= topics_in(record) | topics_touched(
            self._world, self._placed[reference], self._topics
        ) - {STATE, "sessions"}
        for path in {*by_path, *paths.values()}:
            self._mark_dirty(path)

    def _find_lost(self, entry: Entry, plan: object) -> list[Fact]:
        """Return facts that left the pages because another distiller did not see them: they go again."""
        gone = self._ended.get(entry.reference, set())
        return [fact for fact in self._then.facts() if fact.id in gone and fact.status == "current"]

    def _replay_decision(self, record: Record) -> None:
        """Replay what a person decided about a fact."""
        topic, name = str(record.get("topic")), str(record.get("fact"))
        if name in self._cut.named or topic in self._cut.topics:
            self._dirty_topics.add(topic)
            self._names[str(record.get("id"))] = None
            return
        if topic in self._dirty_topics and not self._exists(topic, name):
            same = self._then.find_same(self._facts_before.get(name))
            if same is None:
                self._names[str(record.get("id"))] = None
                return
            record = {**record, "fact": same.id}
        undoes = record.get("undoes")
        if undoes is not None and undoes in self._names and self._names[undoes] is None:
            return
        self._copy_record(self._update_edits(record))

    def _replay_merged(self, record: Record) -> None:
        """Replay what is known of facts from other machines, without those that go."""

        def stays(told: Record) -> bool:
            gone = self._is_gone("", told) or str(told.get("id")) in self._cut.named
            return not gone and not self._rests.are_gone(told)

        def without(told: Record) -> Record:
            return self._rests.without(told) if self._rests.has_lost(told) else told

        facts = [without(each) for each in record.get("facts", ()) if stays(each)]
        retold = [[old, without(each)] for old, each in record.get("retold", ()) if stays(each)]
        if facts == record.get("facts", []) and retold == record.get("retold", []):
            self._world.append(JOURNAL, [record])
            return
        self._dirty_topics |= {str(each.get("topic")) for each in record.get("facts", ())}
        left = {name: value for name, value in record.items() if name not in ("facts", "retold")}
        left |= {name: value for name, value in (("facts", facts), ("retold", retold)) if value}
        self._world.append(JOURNAL, [left])

    def _update_edits(self, record: Record) -> Record:
        """Return a record with its edits' current ids; the same record if none changed."""
        old = record.get("edits", [])
        new = [name for each in old if (name := self._names.get(each, each)) is not None]
        return record if new == old else {**record, "edits": new}

    def _exists(self, topic: str, name: str) -> bool:
        if topic not in self._dirty_topics and f"facts/{topic}.md" not in self.dirty:
            return True
        return any(fact.id == name for fact in self._then.facts())


def _is_entry(record: Record) -> bool:
    return record.get("kind") == "placed" and record.get("entry") is not None


def _added_text(edit: Edit) -> str:
    return "".join(line for hunk in edit.hunks for line in hunk.added)


def _all_lines(record: Record) -> list[str]:
    edit = edit_of(record)
    if edit is None:
        return []
    lines = [line.strip() for hunk in edit.hunks for line in (*hunk.removed, *hunk.added)]
    return lines if edit.path != STATE else [text for line in lines for text in _words_in_state(line)]


def _words_in_state(line: str) -> list[str]:
    """Return the words in a line of the state: its times and its form are nobody's, and stand there again."""
    bare = line.removesuffix(",")
    for text in (bare, f"{{{bare}}}"):
        try:
            return [each.strip() for each in worded(json.loads(text))]
        except ValueError:
            continue
    return [] if bare[-1:] in ("[", "{", "]", "}") else [line]
