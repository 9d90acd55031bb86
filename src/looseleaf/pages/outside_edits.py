"""Outside edits: people's changes in the folder are journaled before anything is read (FORMAT §5.4).

The journal has the state of every page (its *head*). A page whose bytes are not its head's was changed outside; the
difference is journaled as an `external` edit, once. What no person can have meant is not: such a page is held. To
notice changes cheaply, `views/heads.json` keeps the heads up to a place in the journal, and how each file looked when
last read. Like every view it may be deleted; failing to write it never refuses anything, and damage to it never reaches
the journal.

An outside change is a person's only if it is proven that the journal did not go back: `views/heads.json` belongs to it,
and the program last left the page as the journal has it (its copy in `views/heads/`). Else its author is unknown, and
its lines are inferred until a person vouches for them.
"""

from __future__ import annotations

import time
from contextlib import nullcontext

from looseleaf.base.errors import Refused
from looseleaf.base.ids import at, is_id, now, time_of
from looseleaf.base.paths import DRAWERS, STATE, TOP_PAGES, fold_name, is_page, name_fault
from looseleaf.base.values import START, Position, changed_ns, sha256, sha256_or_none
from looseleaf.log.journal import (
    ACCEPTED,
    BACK,
    COPY,
    EXTERNAL,
    FOUND,
    GONE,
    NO_MARK,
    NO_PAGE,
    TRACES,
    UNKNOWN,
    AgentHead,
    Head,
    fold,
    fold_agents,
    fold_gone,
    make_edit,
    record_of,
    refuse_unknown,
)
from looseleaf.store import COPIES, JOURNAL, JOURNAL_SCHEMA, records
from looseleaf.store.disk import Threads

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
    from contextlib import AbstractContextManager
    from typing import Any, Protocol

    from looseleaf.base.policy import Policy
    from looseleaf.base.values import Document, Edit, Edition, Problem, Record, Stat
    from looseleaf.pages.held import Held
    from looseleaf.store.protocol import Store

    class Others(Protocol):
        """The other machines that write pages of this memory."""

        def without_forgotten(self, path: str, head: bytes | None, data: bytes) -> bytes: ...
        def take_in(self) -> None:
            """Take in what they wrote."""

        def brought(self, path: str, version: str, stat: Stat) -> bool:
            """True if a copier brought this file, which says nothing that their logs do not say."""

        def tell_put_back(self, path: str, version: str) -> None:
            """Say that a page is as before again, if nothing explains the file."""

        def drop_known(self, copies: Sequence[Held]) -> list[str]:
            """Remove the copies whose bytes a log has, of this machine or another; return their paths."""


_REVIEW = "review/"

TOP = ("",)
"""The folder of the pages that are in every prompt."""

VIEW = "views/heads.json"
SCHEMA = "heads.v2"
_MARK = "%d %d %d %d %d %d"

UNEXPLAINED = "found changed; the journal does not say by whom"
"""The reason of an edit of unknown author: nothing proves that the journal did not go back."""

UNREADABLE = "unreadable"
"""In place of the hash of a copy that cannot be read: it proves nothing."""

_SAVE_EVERY = 64
"""Journal records after which the view is written again: between a file per edit and a long read per start."""

_PAGES_PER_RECORD = 32
"""Pages of the view that take as long to write as a record takes to read again."""

_RACY_NS = 100_000_000
"""A file changed this shortly before it was read may change again without looking different: file times are coarse."""

_LOOK_AGAIN = 0.02

_AT_ONCE = 64
"""Pages absorbed before the lock is released: after a large checkout there are thousands."""

_PATHS_PER_RECORD = 1000
"""Paths in a record of the journal: a line stays short enough to be read at once."""

_NAMED = 3
"""Pages that a note names."""

HELD = "Held until you decide: "
"""The beginning of the note on what is held."""

_PATIENCE = 5
"""Times `settle_seconds` that a page is watched while something keeps emptying and filling it."""


def is_same_log(store: Store, position: Position, last: object, stream: str = JOURNAL) -> bool:
    """True if the log is still the one read up to a place, after the record with this id."""
    if position == START:
        return True
    before = next(store.read_back(stream, position), None)
    return before is not None and before.end == position and before.record.get("id") == last


def _pair(raw: Any) -> tuple[int, int] | None:
    return None if raw is None else (int(raw[0]), int(raw[1]))


class HeadRows(dict[str, "Head"]):
    """The heads of pages by path. One that the view had stays a row of text until it is asked for: most never are."""

    def __getitem__(self, path: str) -> Head:
        found: Head | str = super().__getitem__(path)
        if isinstance(found, str):
            found = self[path] = Head(*(each if each != _NONE else None for each in found.split(" ")))
        return found

    def get(self, path: str, default: Any = None) -> Any:
        return self[path] if path in self else default  # noqa: SIM401 (this is that `get`)

    def items(self) -> Any:
        return ((path, self[path]) for path in self)

    def rows(self) -> dict[str, str]:
        """Return the heads by path, each as a row."""
        found: Iterable[tuple[str, Head | str]] = sorted(super().items())
        return {
            path: row if isinstance(row, str) else " ".join(str(each or _NONE) for each in row)
            for path, row in found
        }

    def there(self) -> list[str]:
        """Return the paths of the pages that exist."""
        found: Iterable[tuple[str, Head | str]] = super().items()
        return [path for path, row in found if row[0] is not None and row[0] != _NONE]


_NONE = "-"


class Heads:
    """The heads of pages and agents, and the place in the journal up to which they hold."""

    def __init__(self, store: Store) -> None:
        self.store = store
        self.pages = HeadRows()
        self.agents: dict[str, AgentHead] = {}
        self.marks: dict[str, str] = {}
        self.seen: dict[str, str] = {}
        """The hashes of pages that this process wrote, or read since their last edit and found to be their heads."""
        self.is_proven = False
        """True if all pages were compared with this journal, and it did not go back since."""
        self.has_unknown = False
        """True if there was an edit of an unknown author."""
        self.gone: set[str] = set()
        """Pages that vanished together: held until each is back, or settled."""
        self.copies: dict[str, str] = {}
        """Files that are copies of pages, by what was in them when they were found: so until they are settled."""
        self.later: dict[str, None] = {}
        """Entries that wait for a held page, in order of arrival."""
        self.taken: dict[str, list[Any]] = {}
        """How far the log of each other machine was taken in: segment, byte, and the id of the record before it."""
        self.doubted: dict[str, str] = {}
        """The machines whose logs claim what was not proven, each with what was there to prove it."""
        self.lost: dict[str, Record] = {}
        """What streams lost and no person accepted, by the record that says so (FORMAT §4.5)."""
        self.position = START
        self.last: str | None = None
        self.holes = 0
        self._before: dict[str, int] = {}
        self._edition: Edition | tuple[()] = ()
        self.unsaved = 0

    def load(self) -> None:
        """Load the view, if it is whole and belongs to this journal; else start empty, with nothing proven."""
        self.forget()
        self._edition = self.store.edition()
        raw = load_view(self.store, VIEW, SCHEMA)
        if not raw:
            return
        try:
            self.position = Position(*map(int, raw["position"]))
            self.last = raw["last"]
            self.pages = HeadRows(raw["pages"])
            if any(type(row) is not str or row.count(" ") != 2 for row in raw["pages"].values()):
                raise ValueError("a row is not a head")
            self.marks = dict(raw["marks"])
            self.agents = {
                agent: AgentHead(mark, segment, offset, flag, _pair(through) or (0, 0), last, _pair(back))
                for agent, (mark, segment, offset, flag, through, last, back) in raw["agents"].items()
            }
            self.holes = int(raw["holes"])
            self._before = {path: int(count) for path, count in raw["before"].items()}
            self.is_proven = raw.get("proven") is not False
            self.has_unknown = raw.get("unknown") is not False
            self.gone = set(map(str, raw.get("gone", ())))
            self.copies = {str(path): str(of) for path, of in raw.get("copies", {}).items()}
            self.later = dict.fromkeys(map(str, raw.get("later", ())))
            self.taken = {str(name): list(place) for name, place in raw.get("taken", {}).items()}
            self.doubted = {str(name): str(there) for name, there in raw.get("doubted", {}).items()}
            self.lost = {str(each["id"]): each for each in raw.get("lost", ())}
            is_ours = self.belong()
        except (KeyError, TypeError, ValueError, AttributeError):
            is_ours = False  # an unreadable view is rebuilt
        if not is_ours:
            self.forget()

    def forget(self) -> None:
        self.pages, self.agents, self.marks, self.position, self.last = HeadRows(), {}, {}, START, None
        self.holes, self._before, self.seen, self.gone, self.later, self.lost = 0, {}, {}, set(), {}, {}
        self.copies, self.taken, self.doubted = {}, {}, {}
        self.is_proven = self.has_unknown = False

    def belong(self) -> bool:
        """True if the journal is still the one read up to here: repair rewrites its files."""
        return is_same_log(self.store, self.position, self.last)

    def catch_up(self) -> None:
        edition = self.store.edition()
        if edition != self._edition:
            if self._edition != ():  # a forget rewrote the journal (FORMAT §17.6)
                self.load()
            self._edition = edition

        def count_hole(problem: Problem) -> None:
            self.holes += 1

        for line in self.store.read(JOURNAL, self.position, count_hole):
            self.take(line.record, line.position)
            self.position = line.end

    def take(self, record: Record, position: Position) -> None:
        refuse_unknown(record)
        fold(self.pages, record)
        fold_agents(self.agents, record, position)
        fold_gone(self.gone, record)
        self.holes += record.get("kind") == "lost"
        self.has_unknown = self.has_unknown or record.get("author") == UNKNOWN
        if record.get("kind") == "placed":
            self.later |= {str(record["later"]): None} if record.get("later") else {}
            self.later.pop(str(record.get("entry")), None)
        elif record.get("kind") == BACK and isinstance(record.get("stream"), str):
            self.lost[str(record.get("id"))] = record
        elif record.get("kind") == ACCEPTED:
            for name in record.get("losses", ()):
                self.lost.pop(str(name), None)
        path = record.get("path")
        if record.get("kind") in (COPY, "edit"):
            self.copies.pop(str(path), None)
            self.copies |= {str(path): str(record["of"])} if record.get("of") else {}
        if isinstance(path, str):
            self.marks.pop(path, None)
            self.seen.pop(path, None)
            self._before[path] = self.holes
        self.last = record.get("id")
        self.unsaved += 1

    def get(self, path: str) -> Head:
        found: Head = self.pages.get(path, NO_PAGE)
        return found

    def edited(self, path: str) -> float | None:
        """Return when the last edit of a page was made; None if there is none, or its id does not tell."""
        edit = self.get(path).edit
        return time_of(edit) if edit is not None and is_id(edit) else None

    def prove(self) -> None:
        """Note that all pages were compared with this journal."""
        self.is_proven = True
        self.unsaved += max(_SAVE_EVERY, len(self.pages))

    def take_in(self, places: dict[str, list[Any]]) -> None:
        """Note how far the logs of other machines were taken in."""
        self.taken |= places
        self.unsaved += max(_SAVE_EVERY, len(self.pages))

    def left(self, path: str) -> str | None:
        """Return the hash of a page as the program last left it; None: there was no page."""
        try:
            there = self.store.get(f"{COPIES}/{path}")
        except Refused:
            return UNREADABLE
        return there.sha256 if there is not None else None

    def author(self, path: str) -> tuple[str, str]:
        """Return the author and the reason of a change found on disk: a person's, unless a missing record may be of
        this page, or the journal may have gone back."""
        if self._before.get(path, 0) != self.holes:
            return UNKNOWN, "found changed; the journal has a hole"
        head = self.get(path)
        left = self.seen[path] if path in self.seen else self.left(path)
        if not self.is_proven or left not in (head.sha256, head.base if head.edit is None else head.sha256):
            return UNKNOWN, UNEXPLAINED
        return EXTERNAL, "changed outside"

    def remember(self, stat: Stat | None, seen_ns: int) -> None:
        """Keep how a page that matches its head looks, provided that a later change must look different."""
        is_settled = stat is not None and changed_ns(stat.mark) < seen_ns - _RACY_NS
        if stat is not None and is_settled and not self.has_seen(stat):
            self.marks[stat.path] = _MARK % stat.mark
            self.unsaved += _SAVE_EVERY

    def has_seen(self, stat: Stat) -> bool:
        """True if a file looks as it did when it was its head."""
        return self.marks.get(stat.path) == _MARK % stat.mark

    def save(self, *, now: bool = False) -> None:
        due = max(1 if now else _SAVE_EVERY, len(self.pages) // _PAGES_PER_RECORD)
        if self.unsaved >= due:
            view: Record = {
                "schema": SCHEMA,
                "position": list(self.position),
                "last": self.last,
                "pages": self.pages.rows(),
                "agents": {
                    agent: [getattr(head, name) for name in AgentHead.__match_args__]
                    for agent, head in sorted(self.agents.items())
                },
                "marks": dict(sorted(self.marks.items())),
                "proven": self.is_proven,
                "unknown": self.has_unknown,
                "holes": self.holes,
                "before": {path: count for path, count in sorted(self._before.items()) if count},
            }
            if self.gone:
                view["gone"] = sorted(self.gone)
            if self.copies:
                view["copies"] = dict(sorted(self.copies.items()))
            if self.taken:
                view["taken"] = self.taken
            if self.doubted:
                view["doubted"] = self.doubted
            if self.later:
                view["later"] = list(self.later)
            if self.lost:
                view["lost"] = list(self.lost.values())
            self.unsaved = 0
            save_view(self.store, VIEW, records.encode_own(view), of=self._edition)


def at_file(path: str, stat: Stat | None, old: bytes | None, new: bytes | None) -> at:
    """Return the time of a file, at which ids follow from it and from both versions of the page. One that is gone has
    none: its time is now."""
    when = min(now(), stat.mtime_ns / 1e9) if stat is not None else now()
    return at(when, f"{path}\n{sha256_or_none(old)}\n{sha256_or_none(new)}")


def load_view(store: Store, path: str, schema: str) -> Record:
    """Return the record of a view; {} if it is missing, unreadable, damaged or of another schema."""
    try:
        document = store.get(path)
    except Refused:
        return {}
    record = records.whole(document.data if document else b"")
    return record if record.get("schema") == schema else {}


def save_view(store: Store, path: str, data: bytes, *, of: Edition | tuple[()] = ()) -> None:
    """Write a view; one that cannot be written is only a cache, and is rebuilt later."""
    try:
        store.view(path, data, of=of)
    except Refused:
        pass


def page_files(store: Store, folders: Sequence[str] = ("", *DRAWERS)) -> Iterator[Stat]:
    """Yield every file that is a page, by path."""
    for folder in folders:
        for stat in store.list(folder):
            if _is_page_file(stat.path):
                yield stat


def _is_page_file(path: str) -> bool:
    return is_page(path) and name_fault(path.rpartition("/")[2]) is None


class _Watch:
    """A watch that tells a finished page from one that an editor is still saving (FORMAT §5.4).

    Editors truncate and write, or rename away and create. So a page that lost all its text is believed only when its
    file was left alone for `settle_seconds`, however often it is read; each change restarts the wait.
    """

    def __init__(self, policy: Policy) -> None:
        self._settle = policy.settle_seconds
        self._quiet = policy.quiet_seconds
        self._first: dict[str, float] = {}
        self._since: dict[str, tuple[tuple[int, ...] | None, float]] = {}
        self.has_counted = False
        """True once the pages that are gone were counted, to tell what a person deleted from what vanished."""

    def doubts(self, path: str, document: Document | None, stat: Stat | None, head: Head) -> bool:
        """True if the file may be half saved. `stat` was taken after `document` was read, so it is at least as new."""
        now = time.monotonic()
        first = self._first.setdefault(path, now)
        mark = stat.mark if stat is not None else None
        if path not in self._since or self._since[path][0] != mark:
            self._since[path] = mark, now
        age = time.time() - changed_ns(stat.mark) / 1e9 if stat is not None else -1.0
        if head.sha256 is not None and (document is None or not document.data.strip()):
            left_alone = document is not None and age >= self._settle
            return not left_alone and now - self._since[path][1] < self._settle
        return 0 <= age < self._quiet and now - first < self._settle

    def is_over(self, path: str) -> bool:
        """True if a file did not come to rest in time: it is not believed, and no longer waited for."""
        return time.monotonic() - self._first[path] > _PATIENCE * self._settle


class OutsideEdits:
    """Journals outside changes when called, and knows the head of each page."""

    def __init__(
        self,
        store: Store,
        policy: Policy,
        note: Callable[[str], None],
        others: Others,
    ) -> None:
        self._store = store
        self._policy = policy
        self._note = note
        self._others = others
        self.heads = Heads(store)
        self.held: dict[str, Held] = {}
        """The files that the last look did not believe, by path (FORMAT §5.6)."""
        self.unread: dict[str, Held] = {}
        """The pages whose files the last look could not read, by path."""
        self._texts: dict[str, bytes] | None = None
        self._files: set[str] | None = None
        """The pages found by the last look at all folders."""
        self._folded: dict[str, set[str]] = {}
        """The names in each folder where a page was missed, as of this look (`fold_name`)."""
        self._spelt: dict[str, str] | None = None
        """The pages by the folded form of their paths, if a new file was found in this look."""
        self._likely: dict[str, str] = {}
        """Files that this look found to be copies by what is in them."""
        self.dates_by_file = False
        """True: a change has the time of its file, so that two copies that are merged date it alike."""
        self._threads = Threads()
        self._loaded = False

    @property
    def threads(self) -> AbstractContextManager[object]:
        return self._threads()

    def agent(self, name: str) -> AgentHead:
        """Return where the agent's window begins and whether to compact it. Reads no page."""
        with self.threads:
            self.know()
            return self.heads.agents.get(name, NO_MARK)

    def know(self, *, recovers: bool = False) -> None:
        """Bring the heads up to date with the journal, reading no page. `recovers`: first finish what a crash left."""
        with self.threads:
            self._folded, self._spelt = {}, None
            if not self._loaded:
                self.heads.load()
                self._loaded = True
            try:
                if recovers:
                    self._store.recover()
            finally:  # the journal is readable even where nothing can be written
                self.heads.catch_up()

    def by_files(self) -> None:
        """Journal outside changes at the times of the files, as is done for another copy that is merged."""
        self.dates_by_file = True
        try:
            self()
        finally:
            self.dates_by_file = False

    def __call__(self, folders: Sequence[str] = ("", *DRAWERS)) -> list[Edit]:
        """Journal outside changes (in these folders); return the edits. Without any: a stat per file, no lock."""
        with self.threads:
            self._files, self._likely = None, {}
            self.know(recovers=True)
            if self._store.reads_only:
                self._tell_unread()
                return []
            self._others.take_in()
            looked = {path for path in self.held if path.rpartition("/")[0] in folders}
            self.held = {path: held for path, held in self.held.items() if path not in looked}
            self.unread = {
                path: held for path, held in self.unread.items() if path.rpartition("/")[0] not in folders
            }
            found: set[str] = set()
            changed = {stat.path for stat in self.files(folders, found) if not self.heads.has_seen(stat)}
            changed.update(path for path in self._known_paths(folders) if path not in found)
            self._files = found if len(folders) > 1 else None
            if self.heads.gone:
                changed -= self._hold_gone(found)
            edits = self._absorb({path for path in changed if not self._is_settled(path)})
            edits += self._absorb(self._settle_copies())
            self._texts = None
            if (
                not self.heads.is_proven
                and {*folders} == {"", *DRAWERS}
                and all(map(self._is_settled, changed))
            ):
                self.heads.prove()
            copies = [held for held in self.held.values() if held.of is not None]
            for path in self._others.drop_known(copies) if copies else ():
                del self.held[path]
            self._tell_unexplained(edits)
            self._tell_deleted(edits)
            self.heads.save()
            if self.held or self.unread:
                self._note_held()
            return edits

    def _tell_unread(self) -> None:
        """Note the top pages that a person changed since, where nothing can be journaled."""
        new = [stat.path for stat in page_files(self._store, ("",)) if not self.heads.has_seen(stat)]
        changed = [path for path in new if self._find_hash(path) != self.heads.get(path).sha256]
        if changed:
            self._note(
                f"Changed by hand: {', '.join(changed)}. This counts once that memory is opened, or `looseleaf "
                "distill` runs here."
            )

    def _find_hash(self, path: str) -> str | None:
        document = self._store.get(path, self._policy.page_bytes)
        return document.sha256 if document is not None else None

    def read_again(self) -> None:
        """Read the heads again after a repair, which moves records; what was proven of the pages stays so."""
        with self.threads, self._store.lock():
            is_proven = self.heads.is_proven
            self.heads.forget()
            self.heads.catch_up()
            self.heads.is_proven = is_proven
            self.heads.save(now=True)

    def losses(self) -> list[Record]:
        """Return what logs lost, by the journal and by how far it says that they were read: until they are put back, or
        a person accepts it. Reads a line of each agent's log."""
        from looseleaf.store.losses import is_made_good, lost_place

        with self.threads:
            self.know()
            found = [loss for loss in self.heads.lost.values() if not is_made_good(self._store, loss)]
            told = {loss["stream"] for loss in self.heads.lost.values()}
            for agent, head in self.heads.agents.items():
                stream = f"{TRACES}{agent}"
                if stream not in told and head.back is None:
                    found += filter(
                        None, [lost_place(self._store, stream, Position(*head.through), head.last)]
                    )
            return found

    def _note_held(self) -> None:
        waiting = self.held | self.unread
        named = [held.short for _, held in sorted(waiting.items())]
        more = f", and {len(named) - _NAMED:,} more" if len(named) > _NAMED else ""
        used = "The last good version of a held page is used"
        if all(held.of for held in waiting.values()):
            used = "No copy is read, and the page stays as it is"
        self._note(f"{HELD}{', '.join(named[:_NAMED])}{more}. {used}; `looseleaf settle` shows what to do.")

    def _hold_gone(self, found: Collection[str]) -> set[str]:
        """Hold the pages that vanished together and are not back; return them."""
        from looseleaf.pages.held import Held

        left = {path for path in self.heads.gone if self.heads.get(path).sha256 is not None}.difference(found)
        self.held |= {path: Held(path, "gone") for path in left}
        if not self.heads.gone.isdisjoint(found):
            with self._store.lock():
                self.heads.catch_up()
                self.note_found(found)
        return left

    def note_found(self, paths: Iterable[str]) -> None:
        """Journal, under the lock, that these pages are there again, as far as they had vanished."""
        self._journal_paths(FOUND, self.heads.gone.intersection(paths))

    def _journal_paths(self, kind: str, paths: Iterable[str]) -> None:
        from looseleaf.base.ids import new_id

        left = sorted(paths)
        for begin in range(0, len(left), _PATHS_PER_RECORD):
            record: Record = {"schema": JOURNAL_SCHEMA, "id": new_id(), "ts": now(), "kind": kind}
            record["paths"] = left[begin : begin + _PATHS_PER_RECORD]
            self._store.append(JOURNAL, [record])
        self.heads.catch_up()

    def is_current(self) -> bool:
        """True if no page was changed outside, as far as a look without the lock can tell. Journals nothing."""
        with self.threads:
            self.know()
            found: set[str] = set()
            changed = {stat.path for stat in self.files(found=found) if not self.heads.has_seen(stat)}
            known = self._known_paths(("", *DRAWERS))
            are_there = all(path in found or path in self.heads.gone for path in known)
            return are_there and all(map(self._is_settled, changed))

    def are_absorbed(self, paths: Sequence[str]) -> bool:
        """True if these pages, and those of review, look as when they were last absorbed. No other page is looked at,
        and none is absorbed: pages that change together are absorbed together."""
        with self.threads:
            self.know(recovers=True)
            if not self._store.reads_only:
                self._others.take_in()
            known = (path for path in self.heads.pages if path.startswith(_REVIEW))
            wanted = {*paths, *known, *(stat.path for stat in self.files((_REVIEW[:-1],)))}
            for path in wanted:
                stat = self._store.stat(path)
                is_gone = stat is None and self.heads.get(path).sha256 is not None
                if is_gone or (stat is not None and not self.heads.has_seen(stat)):
                    return False
            return True

    def _known_paths(self, folders: Sequence[str]) -> Iterable[str]:
        """Return the pages in the journal. For the top, which every prompt needs, only its few names are checked."""
        if folders == TOP:
            return [path for path in (*TOP_PAGES, STATE) if self.heads.get(path).sha256 is not None]
        return self.heads.pages.there()

    def files(self, folders: Sequence[str] = ("", *DRAWERS), found: set[str] | None = None) -> Iterator[Stat]:
        """Yield every file that is a page, by path; add the path to those `found`. A new file may be a copy of a page,
        and is held then."""
        seen = self.heads.marks
        for folder in folders:
            there = self._store.list(folder)
            names: set[str] = set()
            for stat in there:
                path = stat.path
                if path not in seen:
                    if not _is_page_file(path):
                        continue
                    if self.heads.get(path).sha256 is None:
                        names = names or {each.path.rpartition("/")[2] for each in there}
                        if self._hold_copy(path, names):
                            continue
                if found is not None:
                    found.add(path)
                yield stat

    def _hold_copy(self, path: str, names: Collection[str]) -> bool:
        """Hold a file that is a copy of a page in its folder, which has these names; False if it is a page. One whose
        name is only spelt otherwise is not held: its page is."""
        from looseleaf.pages.held import Held, sure_original

        folder, slash, name = path.rpartition("/")
        if self.is_misspelt(path):
            return True
        known = self.heads.copies.get(path)
        original = known.rpartition("/")[2] if known else self._find_original(folder + slash, name, names)
        if original is not None:
            self.held[path] = Held(path, "copy", of=f"{folder}{slash}{original}")
            if known is None and sure_original(name) is None:
                self._likely[path] = f"{folder}{slash}{original}"
        return original is not None

    def _find_original(self, folder: str, name: str, names: Collection[str]) -> str | None:
        """Return the page that a file is a copy of, by its name and what is in it. A page counts that has a file, or a
        head: an editor may be saving it."""
        from looseleaf.pages.held import find_original, may_be_copy_of, sure_original

        likely = {*may_be_copy_of(name)}
        there = {each for each in likely if each in names or self.heads.get(folder + each).sha256 is not None}
        if sure_original(name) is None and not there:
            return None

        def read(name: str) -> list[str]:
            """Return the texts of a page: of its file, and of its head."""
            try:
                document = self._store.get(folder + name, self._policy.page_bytes)
            except Refused:
                document = None
            texts = document.data if document is not None else None, self.head_bytes(folder + name)
            return [each.decode("utf-8", "replace") for each in texts if each is not None]

        return find_original(name, (*read(name), "")[0], there, read)

    def _settle_copies(self) -> set[str]:
        """Journal which files were found to be copies; return those that are none, because their page is gone."""
        if not self._likely:
            return set()
        gone = {path for path, of in self._likely.items() if self.heads.get(of).sha256 is None}
        try:
            with self._store.lock():
                self.heads.catch_up()
                for path, of in sorted(self._likely.items()):
                    if path not in gone and path not in self.heads.copies:
                        self.note_copy(path, of)
        except Refused:
            pass  # held as long as it looks like one
        self.held = {path: held for path, held in self.held.items() if path not in gone}
        return gone

    def note_copy(self, path: str, of: str | None) -> None:
        """Journal, under the lock, that a file is a copy of a page, or that this is settled."""
        from looseleaf.base.ids import new_id

        record: Record = {"schema": JOURNAL_SCHEMA, "id": new_id(), "ts": now(), "kind": COPY, "path": path}
        self._store.append(JOURNAL, [record | {"of": of}])
        self.heads.catch_up()

    def is_misspelt(self, path: str) -> bool:
        """True if a new file is a page under another spelling of its name: that has no file, or is the same one where
        the file system ignores case."""
        if self._spelt is None:
            self._spelt = {fold_name(each): each for each in self.heads.pages.there()}
        page = self._spelt.get(fold_name(path), path)
        if page == path:
            return False
        try:
            here, there = self._store.stat(path), self._store.stat(page)
        except Refused:
            return False  # unreadable is not gone
        return there is None or (here is not None and here.mark[:2] == there.mark[:2])

    def pages(self) -> list[str]:
        """Return the paths of all pages: the journal's (an editor may be replacing one) and the folder's."""
        order = ("", *DRAWERS)
        files = self._files if self._files is not None else {stat.path for stat in self.files()}
        groups: dict[str, list[str]] = {folder: [] for folder in order}
        copies = {path for path in self.held if self.heads.get(path).sha256 is None}
        for path in sorted({*self._known_paths(order), *files} - copies):
            groups[path.rpartition("/")[0]].append(path)
        return [path for group in groups.values() for path in group]

    def _is_settled(self, path: str) -> bool:
        """True if there is nothing to journal for a page. True is certain without the lock, False is not."""
        found = self._read_changed(path)
        if found is None:
            return True
        document, stat = found
        is_saving = _Watch(self._policy).doubts(path, document, stat, self.heads.get(path))
        return not is_saving and self.hold(path, document)

    def hold(self, path: str, document: Document | None) -> bool:
        """Hold a changed page that no person can have meant; False: it is to be journaled."""
        from looseleaf.pages.held import Held, why_held

        if document is None:
            held = Held(path, "gone") if path in self.heads.gone else None
        else:
            held = why_held(path, document.data, lambda: self.head_bytes(path))
        if document is None and held is None:
            held = self.find_elsewhere(path)
        if held is not None:
            self.held[path] = held
        return held is not None

    def find_elsewhere(self, path: str) -> Held | None:
        """Return why a page without a file is not gone; None: it is."""
        from looseleaf.pages.held import find_elsewhere

        folder = path.rpartition("/")[0]
        if not _is_page_file(path):
            return None
        if folder not in self._folded:
            try:
                there = self._store.list(folder)
            except Refused:  # it is behind a link
                there = []
            # One with a head is a page of its own: another machine's, which took the name.
            names = (
                each.path.rpartition("/")[2] for each in there if self.heads.get(each.path).sha256 is None
            )
            self._folded[folder] = {fold_name(each) for each in names}
        return find_elsewhere(path, self._folded[folder])

    def _find_gone(self) -> list[str]:
        """Return the pages that are gone now, if they are so many that they vanished together."""
        from looseleaf.pages.held import vanished_together

        known = list(self._known_paths(("", *DRAWERS)))
        there = {stat.path for folder in ("", *DRAWERS) for stat in self._store.list(folder)}
        gone = [path for path in known if path not in there and not self._is_there(path)]
        return gone if vanished_together(len(gone), len(known)) else []

    def _is_there(self, path: str) -> bool:
        try:
            return self._store.stat(path) is not None
        except Refused:
            return True  # unreadable is not gone

    def _read_changed(self, path: str) -> tuple[Document | None, Stat | None] | None:
        """Read a page and its file's times; None if nothing is to be journaled. If it is its head, keep its looks."""
        with self._store.reading():
            return self._compare_file(path)

    def _compare_file(self, path: str) -> tuple[Document | None, Stat | None] | None:
        seen_ns = time.time_ns()
        try:
            document, stat = self._read_file(path)
        except Refused:  # too large, a link, unreadable: not absorbed, and never as empty
            self._hold_unread(path)
            return None
        if (document.sha256 if document else None) != self.heads.get(path).sha256:
            return document, stat
        self.heads.remember(stat, seen_ns)
        if document is not None and path not in self.heads.seen:
            if self.heads.left(path) != document.sha256:
                self.keep_copy(path, document.data)
            self.heads.seen[path] = document.sha256
        return None

    def _hold_unread(self, path: str) -> None:
        from looseleaf.pages.held import Held

        if self.heads.get(path).sha256 is not None and _is_page_file(path):
            self.unread[path] = Held(path, "unread")

    def _read_file(self, path: str) -> tuple[Document | None, Stat | None]:
        """Read a page's bytes, then its file's times."""
        document = self._store.get(path, self._policy.page_bytes)
        return document, self._store.stat(path)

    def _absorb(self, paths: set[str]) -> list[Edit]:
        edits: list[Edit] = []
        watch = _Watch(self._policy)
        while paths:
            waiting, paths, self._folded = sorted(paths), set(), {}
            for begin in range(0, len(waiting), _AT_ONCE):
                with self._store.lock():
                    self._store.recover()
                    self.heads.catch_up()
                    some = waiting[begin : begin + _AT_ONCE]
                    paths.update(path for path in some if not self._settle_page(path, watch, edits))
            if paths:
                time.sleep(_LOOK_AGAIN)  # not while holding the lock
        return edits

    def _settle_page(self, path: str, watch: _Watch, edits: list[Edit]) -> bool:
        """Absorb a page, if its file is at rest; False: try again soon."""
        found = self._read_changed(path)
        if found is None:
            return True
        document, stat = found
        if watch.doubts(path, document, stat, self.heads.get(path)):
            return watch.is_over(path)
        if not self.heads.belong():
            self.heads.load()
            return False  # the journal was rewritten meanwhile: read its heads first
        if document is None and path not in self.heads.gone and not watch.has_counted:
            watch.has_counted = True
            self._journal_paths(GONE, set(self._find_gone()) - self.heads.gone)
        last = self.heads.get(path)
        self._others.take_in()  # the log that explains it may have come with it
        if self.heads.get(path) != last:
            return False
        if document is not None and stat is not None and self._others.brought(path, document.sha256, stat):
            head = self.head_bytes(path)
            if head is not None:
                self.put_back(path, head, document.sha256)
                self._others.tell_put_back(path, document.sha256)
                return True
        if self.hold(path, document):
            return True
        author, reason = self.heads.author(path)
        if not self._policy.trust_external_edits:
            author = UNKNOWN  # unknown also for later readers with other settings
        data = document.data if document is not None else None
        left = data if data is None else self._others.without_forgotten(path, self.head_bytes(path), data)
        with at_file(path, stat, self.head_bytes(path), left) if self.dates_by_file else nullcontext():
            if document is not None and left is not None and left != data:
                edit = self.edit_from_head(path, left, author, reason)
                self._store.put(path, left, base=document.sha256, record=record_of(edit))
                self.heads.catch_up()
                edits.append(edit)
            else:
                edits.append(self.journal_edit(path, data, author, reason))
        return True

    def put_back(self, path: str, head: bytes, base: str | None) -> None:
        """Make a page's file its head again. Where a copier carries it, it looks no newer than the edit that made it:
        else it would replace what another machine wrote since."""
        when = self.heads.edited(path) if self._store.machines() else None
        self._store.put(path, head, base=base, when=when)

    def journal_edit(self, path: str, new: bytes | None, author: str, reason: str) -> Edit:
        """Journal, under the lock, that a page's file is its head from now on."""
        edit = self.edit_from_head(path, new, author, reason)
        self._store.append(JOURNAL, [record_of(edit)])
        self.heads.catch_up()
        self.keep_copy(path, new)
        return edit

    def edit_from_head(self, path: str, new: bytes | None, author: str, reason: str) -> Edit:
        """Return the edit that leads from a page's head to these bytes."""
        from looseleaf.base.ids import new_id

        old = self.head_bytes(path)
        lost = self.heads.get(path).sha256 if old is None else None
        return make_edit(new_id(), now(), path, author, reason, old, new, lost_base=lost)

    def copies(self) -> dict[str, Held]:
        """Return the files that are copies of pages, by path. Journals nothing."""
        with self.threads:
            self.know()
            self.held = {path: held for path, held in self.held.items() if held.of is None}
            for folder in ("", *DRAWERS):
                try:
                    list(self.files((folder,)))
                except Refused:
                    continue  # a link in place of a drawer: nothing in it is read
            return {path: held for path, held in self.held.items() if held.of is not None}

    def is_copy(self, path: str) -> bool:
        """True if a file is no page but a copy of one, as of the last look."""
        return path in self.held and self.held[path].of is not None

    def refuse_held(self, *paths: str) -> None:
        """Refuse to change a page that waits for a person, as of the last look."""
        held = next((self.held[path] for path in paths if path in self.held), None)
        if held is not None:
            from looseleaf.pages.held import Unsettled

            raise Unsettled(held)

    def read(self, path: str) -> bytes | None:
        """Return a page's bytes. Waits while an editor saves it; if that takes too long, returns the last version."""
        watch = _Watch(self._policy)
        while True:
            document, stat = self._read_file(path)
            if stat is not None and self.heads.has_seen(stat):
                break  # unchanged since it last matched its head: nothing to hash
            head = self.heads.get(path)
            if (document.sha256 if document else None) == head.sha256:
                break
            if not watch.doubts(path, document, stat, head):
                is_held = self.is_copy(path) or self.hold(path, document)
                if is_held or (document is None and path in self._find_gone()):
                    return self.head_bytes(path)
                break  # saved since: the next read journals it
            if watch.is_over(path):
                return self.head_bytes(path)
            time.sleep(_LOOK_AGAIN)
            self.heads.catch_up()
        return document.data if document else None

    def head_bytes(self, path: str) -> bytes | None:
        """Return a page's last journaled bytes; None if there was no page or it cannot be rebuilt."""
        head = self.heads.get(path)
        if head.sha256 is None:
            return None
        for place in (f"{COPIES}/{path}", path):
            try:
                found = self._store.get(place, self._policy.page_bytes)
            except Refused:
                continue
            if found is not None and found.sha256 == head.sha256:
                return found.data
        from looseleaf.pages.history import History

        if self._texts is None:  # one pass through the journal for all pages without a copy
            self._texts = History(self._store).texts()
        text = self._texts.get(path)
        if text is not None and sha256(text) == head.sha256:
            return text
        return History(self._store).rebuild(path, head.sha256)

    def held_pages(self) -> list[str]:
        """Return the held pages of which it is known how the program left them: what they become is a person's edit."""
        pages = (path for path in self.held if self.heads.get(path).sha256 is not None)
        return [path for path in pages if self.heads.author(path)[0] == EXTERNAL]

    def keep_copies(self, paths: Iterable[str]) -> None:
        """Keep copies of the heads of these pages again, after a forgetting removed them with all views."""
        self.know()
        for path in paths:
            self.keep_copy(path, self.head_bytes(path))
        self._texts = None

    def keep_copy(self, path: str, data: bytes | None) -> None:
        """Keep a copy of a page's head: to tell whose the next outside change is, and to diff it without replaying the
        journal."""
        if data is not None:
            save_view(self._store, f"{COPIES}/{path}", data)
            return
        try:
            there = self._store.get(f"{COPIES}/{path}")
            if there is not None:
                self._store.delete(there.path, base=there.sha256)
        except Refused:
            pass  # another file is in the place of the copy; not ours to remove

    def _tell_deleted(self, edits: list[Edit]) -> None:
        """Say which pages were deleted, and how they come back."""
        if any(edit.new is None for edit in edits):
            from looseleaf.pages.deleted import deleted_outside, told

            if deleted := deleted_outside(edits):
                self._note(told(deleted))

    def _tell_unexplained(self, edits: list[Edit]) -> None:
        """Say which lines count as inferred, and what a person can do."""
        if any(edit.reason == UNEXPLAINED for edit in edits):
            from looseleaf.pages.unexplained import sentences

            for sentence in sentences(edit for edit in edits if edit.reason == UNEXPLAINED):
                self._note(sentence)
