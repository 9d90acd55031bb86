"""Keep the index in step: everything written before a question is in it when it answers.

One writer at a time, under the memory's lock, in small batches, so that a long rebuild does not stop others from
recording. A damaged, outdated or missing file is rebuilt. If the file cannot be written, the missing rest is held in
memory while the process lives: answers stay the same, only slower.
"""

from __future__ import annotations

import os
from itertools import chain

from looseleaf.base.errors import Busy, Refused, Unreadable, Unwritten
from looseleaf.base.ids import is_id, time_of
from looseleaf.base.immutable import frozen
from looseleaf.base.messages import Trace
from looseleaf.base.origins import is_own
from looseleaf.base.values import START, Position
from looseleaf.index.opening import index_in_database
from looseleaf.index.protocol import PAGE, TOPIC, parse_mark
from looseleaf.index.said import said_words
from looseleaf.index.sqlite import VIEW, DamagedIndex, SqliteIndex
from looseleaf.language.stems import edition
from looseleaf.log.journal import NO_PAGE
from looseleaf.log.talk_streams import journals, own_talk, talk_elsewhere
from looseleaf.pages.outside_edits import is_same_log
from looseleaf.recall.items import (
    decode,
    entry_items,
    escape_surrogates,
    fact_items,
    outdated_origins,
    page_items,
    trace_items,
    trace_text,
)
from looseleaf.store import JOURNAL
from looseleaf.store.disk import make_folders
from looseleaf.store.machines import stream_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from contextlib import AbstractContextManager
    from typing import Protocol

    from looseleaf.base.values import Record
    from looseleaf.facts.known_facts import Facts
    from looseleaf.index.protocol import Index, IndexItem, Marks, SaidLine
    from looseleaf.pages.pages import Pages
    from looseleaf.store.context import Context

    Named = tuple[set[str], dict[str, str], tuple[SaidLine, ...]]
    """Pages that a stretch of the journal names; entries, each with its mark; what its lines name."""

    class Needs(Protocol):
        @property
        def known(self) -> Facts: ...
        @property
        def pages(self) -> Pages: ...


# --- sources: what the index should hold -------------------------------------------------

ENTRY = "entry:"
TERMS = "terms"
"""A source without items. Its mark says how texts become terms, and which texts are indexed."""

_TAKEN = "2"
"""Raise it when the choice of texts changes: an index with another number is rebuilt."""

_ITEMS_AT_ONCE = 500
"""Log lines to take before other sources get a turn."""


@frozen
class ItemBatch:
    """Items to index at once. `items` None: the source is gone."""

    source: str
    mark: str
    items: list[IndexItem] | None
    anew: bool = False
    over: tuple[tuple[str, str], ...] = ()
    said: tuple[SaidLine, ...] = ()


class ItemSources:
    """Everything that recall can find. The caller has absorbed people's edits."""

    def __init__(self, context: Context, parts: Needs) -> None:
        self._store, self._note = context.store, context.note
        self._parts = parts
        self._named: tuple[object, Named] | None = None

    def streams(self) -> list[str]:
        """Return the streams of all agents, on all machines."""
        return [*own_talk(self._store), *talk_elsewhere(self._store)]

    def has_other_rules(self, index: Marks) -> bool:
        """True if the index was made by other rules: a question would find nothing in it."""
        return index.mark(TERMS) not in ("", _rules_mark())

    def is_complete(self, index: Marks) -> bool:
        """True if the index holds everything. Reads only the last line of each log."""
        if not self.has_journal(index):
            return False
        machines = self._store.machines()
        elsewhere = chain.from_iterable(
            (*talk_elsewhere(self._store, (each,)), stream_of(each, JOURNAL)) for each in machines
        )
        return all(
            self._end_mark(stream) in (None, index.mark(stream))
            for stream in chain(own_talk(self._store), elsewhere)
        )

    def has_journal(self, index: Marks) -> bool:
        """True if the index holds all pages, facts and entries."""
        heads = self._parts.pages.absorb.heads
        return index.mark(JOURNAL) == _format_mark(heads.position, heads.last)

    def _end_mark(self, stream: str) -> str | None:
        """Return the mark at a log's end; None if it is unreadable, which does not stop the rest."""
        try:
            last = next(self._store.read_back(stream), None)
        except Refused as refused:
            self._note(str(refused))
            return None
        return _format_mark(last.end, last.record.get("id")) if last is not None else ""

    def size(self, segment_bytes: int) -> int:
        """Return roughly how many bytes there are to index."""
        ends = (parse_mark(self._end_mark(stream) or "")[0] for stream in self.streams())
        return sum(_count_bytes(end, segment_bytes) for end in ends)

    def taken(self, index: Marks, segment_bytes: int) -> int:
        """Return roughly how many of them are indexed."""
        ends = (parse_mark(index.mark(stream))[0] for stream in self.streams())
        return sum(_count_bytes(end, segment_bytes) for end in ends)

    def find_missing(self, index: Marks) -> Iterator[ItemBatch]:
        """Yield what the index lacks. The journal comes last: its mark says that all it leads to is in."""
        if not index.mark(TERMS):
            yield ItemBatch(TERMS, _rules_mark(), [])
        for stream in self.streams():
            if self._end_mark(stream) is not None:
                yield from self._read_traces(stream, index.mark(stream))
        for stream in journals(self._store)[1:]:
            if self._end_mark(stream) is not None:
                yield from self._read_elsewhere(index, stream)
        absorb = self._parts.pages.absorb
        position, last = absorb.heads.position, absorb.heads.last
        now = _format_mark(position, last)
        mark = index.mark(JOURNAL)
        if mark == now:
            return
        begin, before = parse_mark(mark)
        if not is_same_log(self._store, begin, before):
            begin = START
        paths, entries, said = self._read_journal(begin, position, last)
        is_all = begin == START
        yield from self._read_pages(index, None if is_all else paths)
        yield from self._read_topics(index, begin)
        yield from self._read_entries(index, entries, ENTRY, is_all=is_all)
        yield ItemBatch(JOURNAL, now, [], is_all, said=said)

    def _read_journal(self, begin: Position, end: Position, last: str | None) -> Named:
        """Return the pages that the journal names after a place, the entries, each with its mark, and the places of the
        lines that name them. A long rebuild asks once for each batch, so the last answer is kept."""
        if self._named is not None and self._named[0] == (begin, end, last):
            return self._named[1]
        paths: set[str] = set()
        entries: dict[str, str] = {}
        said: list[SaidLine] = []
        for line in self._store.read(JOURNAL, begin):
            if line.end > end:
                break
            if isinstance(path := line.record.get("path"), str):
                paths.add(path)
                edit = line.record.get("edit" if line.record.get("kind") == "void" else "id")
                said.append((*line.position, said_words(f"{path} {edit}")))
            _note_entry(line.record, ENTRY, entries)
        self._named = (begin, end, last), (paths, entries, tuple(said))
        return self._named[1]

    def _read_elsewhere(self, index: Marks, stream: str) -> Iterator[ItemBatch]:
        """Yield the entries that another machine made, by its journal: its pages and facts are taken in already."""
        mark = index.mark(stream)
        begin, last = parse_mark(mark)
        if not is_same_log(self._store, begin, last, stream):
            begin, mark = START, ""
        entries: dict[str, str] = {}
        kind = f"{stream.removesuffix(JOURNAL)}{ENTRY}"
        now = mark
        for line in self._store.read(stream, begin):
            _note_entry(line.record, kind, entries)
            now = _format_mark(line.end, line.record.get("id"))
        if now != mark or begin == START:
            yield from self._read_entries(index, entries, kind, is_all=begin == START)
            yield ItemBatch(stream, now, [])

    # --- what was said and done --------------------------------------------------------

    def _read_traces(self, stream: str, mark: str) -> Iterator[ItemBatch]:
        position, last = parse_mark(mark)
        anew = not is_same_log(self._store, position, last, stream)
        items: list[IndexItem] = []
        said: list[SaidLine] = []
        lines = 0
        for line in self._store.read(stream, START if anew else position):
            trace = Trace.from_record(line.record)
            if trace is not None:
                # By its session and turn it is found too.
                told = f"{trace.session_id} {trace.turn_id} {trace_text(trace)}"
                said.append((*line.position, said_words(told)))
            # Not the calls of our own tools: recall finds their text where it was written, and a text that waits in
            # review must not be found through the call that proposed it.
            if trace is not None and (
                trace.trace_type in ("user", "assistant") or not is_own(trace.tool_name)
            ):
                items += trace_items(trace, line.position, stream)
            lines += 1
            mark = _format_mark(line.end, line.record.get("id"))
            if lines >= _ITEMS_AT_ONCE:
                yield ItemBatch(stream, mark, items, anew, said=tuple(said))
                items, said, lines, anew = [], [], 0, False
        if lines or anew:
            yield ItemBatch(stream, mark if lines else "", items, anew, said=tuple(said))

    def _read_pages(self, index: Marks, paths: set[str] | None) -> Iterator[ItemBatch]:
        """Yield the pages that the index lacks, of all or of these."""
        heads = self._parts.pages.absorb.heads.pages
        there: dict[str, str] = {}
        for path in heads if paths is None else paths:
            sha256 = heads.get(path, NO_PAGE).sha256
            if sha256 is not None and path.endswith(".md") and not path.startswith("review/"):
                there[f"{PAGE}{path}"] = sha256
        marks = index.marks(PAGE) if paths is None else index.marks_of(f"{PAGE}{path}" for path in paths)
        for source in sorted(marks.keys() - there.keys()):
            yield ItemBatch(source, "", None)
        for source, sha256 in sorted(there.items()):
            if marks.get(source) != sha256:
                path = source.removeprefix(PAGE)
                data, edit = self._parts.pages.absorb.head_bytes(path), heads[path].edit or ""
                items = page_items(path, data, time_of(edit) if is_id(edit) else None)
                said = ((0, 0, said_words(decode(data))),)
                yield ItemBatch(source, sha256, items, anew=True, said=said)

    def _read_topics(self, index: Marks, begin: Position) -> Iterator[ItemBatch]:
        """Yield the topics that the index lacks, of those that changed after a place."""
        from looseleaf.views.essentials import shown_bullet  # only for topics that changed

        known = self._parts.known
        known.catch_up()
        topics = ((name, place) for name, place in known.topics.items() if place[:2] > begin)
        there = {f"{TOPIC}{name}": f"{place[0]} {place[1]}" for name, place in topics}
        marks = index.marks(TOPIC) if begin == START else index.marks_of(there)
        for source in sorted(marks.keys() - there.keys()):
            yield ItemBatch(source, "", None)
        for source, mark in sorted(there.items()):
            if marks.get(source) != mark:
                facts = known.of(source.removeprefix(TOPIC))
                shown = "\n".join(shown_bullet(fact.relation, fact.object) for fact in facts)
                over = outdated_origins(facts)
                items, said = fact_items(facts), ((0, 0, said_words(shown)),)
                yield ItemBatch(source, mark, items, anew=True, over=over, said=said)

    def _read_entries(
        self, index: Marks, found: dict[str, str], kind: str, *, is_all: bool
    ) -> Iterator[ItemBatch]:
        """Yield each entry as its own source. The journal names it when it is placed, or when a window moves past it;
        the last such record is its mark. So entries indexed in an earlier batch are not indexed again."""
        marks = index.marks(kind) if is_all else index.marks_of(found)
        for source in sorted(marks.keys() - found.keys()):
            yield ItemBatch(source, "", None)
        for source, mark in found.items():
            if marks.get(source, "") != mark:
                items = entry_items(self._store, source.removeprefix(kind)) if mark else None
                yield ItemBatch(source, mark, items, anew=True)


def _note_entry(record: Record, kind: str, entries: dict[str, str]) -> None:
    """Note the entry that a record of a journal names, with its mark; "" for one that was replaced."""
    entry = record.get("entry")
    if isinstance(entry, str) and record.get("kind") in ("placed", "mark"):
        entries[f"{kind}{entry}"] = escape_surrogates(str(record.get("id")))
    if record.get("instead"):
        entries[f"{kind}{record['instead']}"] = ""


def _rules_mark() -> str:
    return f"{edition()} {_TAKEN}"


def _count_bytes(position: Position, segment_bytes: int) -> int:
    return max(position.segment - 1, 0) * segment_bytes + position.offset


def _format_mark(position: Position, last: object) -> str:
    return escape_surrogates(f"{position.segment} {position.offset} {last}")


# --- the index file, and the index in memory ---------------------------------------------

if TYPE_CHECKING:
    Progress = Callable[[int, int], None]

_AT_ONCE = 2000
"""Items to take before releasing the lock."""

_TRIES = 3
"""Rebuilds of a damaged file for one question; after that, something keeps damaging it."""


class IndexKeeper:
    """Keeps the index current, and reports once why it cannot be written."""

    def __init__(self, context: Context, sources: ItemSources) -> None:
        self._store = store = context.store
        self._sources = sources
        self._path, self._inside = store.locate(VIEW), context.path
        self._note = context.note
        self._segment_bytes = context.policy.segment_bytes
        self.progress: Progress | None = None
        self._file = SqliteIndex(self._path)
        self._aside: SqliteIndex | None = None
        self._aside_of: object = None
        """The file that the index in memory completes."""
        self._hidden: set[str] = set()
        self._is_lost = False
        """The file is damaged and could not be removed."""
        self._pid = os.getpid()

    def close(self) -> None:
        self._file.close()
        self._close_aside()

    def indexes(self) -> list[tuple[Index, tuple[str, ...]]]:
        """Return indexes that together hold everything, each with the sources it holds an older version of."""
        if self._pid != os.getpid():  # SQLite's handles are the parent's
            self._file, self._aside, self._pid = SqliteIndex(self._path), None, os.getpid()
            self._hidden.clear()
        if self._is_lost:
            self.drop()
        for _ in range(_TRIES):
            if self._is_lost:
                return self._without_writing(OSError("the file is damaged and cannot be removed"))
            try:
                if not self.is_current():
                    self._catch_up()
                self._close_aside()
            except DamagedIndex:
                self.drop()
                continue
            except (Busy, Unwritten, OSError) as error:
                return self._without_writing(error)
            return [(self._file, ())]
        return self.without_file(OSError("the file is damaged again and again"))

    def catch_up(self) -> None:
        """Bring the file up to date, if it can be written now; the next question tries again."""
        try:
            if not self.is_current():
                self._catch_up()
        except DamagedIndex:
            self.drop()
        except (Busy, Unwritten, OSError):
            pass

    def mend(self) -> bool:
        """Make the index anew, as it is damaged; False if no other program can have done that."""
        self.drop()
        return True

    def look(self) -> AbstractContextManager[object]:
        """A block for one question: see `Index.look`."""
        return self._file.look()

    def drop(self) -> None:
        """Remove the damaged file. If it cannot be removed, stop reading it."""
        try:
            # No process may begin a new file while this one's side files are removed.
            with self._store.lock():
                self._file.remove()
            self._is_lost = False
        except (Busy, Unwritten, OSError):
            self._file.close()
            self._is_lost = True

    def without_file(self, error: Exception) -> list[tuple[Index, tuple[str, ...]]]:
        """Index everything in memory: the file fails."""
        self._file.close()
        self._is_lost = True
        return self._without_writing(error)

    def is_current(self) -> bool:
        """True if the file holds everything. Raise `DamagedIndex` if it must be rebuilt."""
        if not self._file.open(make=False):
            return False
        if self._sources.has_other_rules(self._file):
            raise DamagedIndex("its terms were made by other rules")
        return self._sources.is_complete(self._file)

    def missing_bytes(self) -> int:
        """Return roughly how many bytes of the log are not in the file yet."""
        whole = self._sources.size(self._segment_bytes)
        try:
            is_there = self._file.open(make=False) and not self._sources.has_other_rules(self._file)
            return max(whole - self._sources.taken(self._file, self._segment_bytes), 0) if is_there else whole
        except (DamagedIndex, OSError):
            return whole

    def _catch_up(self) -> None:
        make_folders(os.path.dirname(self._path), self._inside)
        whole = self._sources.size(self._segment_bytes) if self.progress is not None else 0
        while not self._take_batch():
            if self.progress is not None:
                self.progress(min(self._sources.taken(self._file, self._segment_bytes), whole), whole)

    def _take_batch(self) -> bool:
        """Take one batch; return whether it was the last. Look for missing items under the lock: another process may
        have taken them meanwhile."""
        with self._store.lock():
            self._file.open(make=True)
            return take_batch(self._file, self._sources)

    # --- where nothing can be written --------------------------------------------------

    def _without_writing(self, error: Exception) -> list[tuple[Index, tuple[str, ...]]]:
        self._note(
            f"The index could not be updated ({error}). Its missing part was read for this question, "
            "which takes longer."
        )
        try:
            return self._with_aside(is_there=not self._is_lost and self._file.open(make=False))
        except (DamagedIndex, OSError) as fault:
            self._is_lost = isinstance(fault, DamagedIndex)
            return self._with_aside(is_there=False)

    def _with_aside(self, *, is_there: bool) -> list[tuple[Index, tuple[str, ...]]]:
        file = self._file.which if is_there else None
        if self._aside is None or self._aside_of != file:
            self._close_aside()
            self._aside, self._aside_of = SqliteIndex(None), file
            self._aside.open(make=True)
        both = _JoinedMarks(self._file if is_there else None, self._aside, self._hidden)
        for batch in self._sources.find_missing(both):
            if batch.anew or batch.items is None:
                self._hidden.add(batch.source)
            apply_batch(self._aside, batch)
        return [*([(self._file, tuple(sorted(self._hidden)))] if is_there else []), (self._aside, ())]

    def _close_aside(self) -> None:
        if self._aside is not None:
            self._aside.close()
            self._aside = None
        self._hidden.clear()


class DatabaseKeeper:
    """Keeps the index of a memory in a database current. Nothing but the program writes to its tables, and a change of
    the index is alone by itself: a forget waits for it, and removes what it added."""

    def __init__(self, context: Context, sources: ItemSources) -> None:
        self._index = index_in_database(context.store)
        self._sources = sources
        self._segment_bytes = context.policy.segment_bytes
        self.progress: Progress | None = None

    def close(self) -> None:
        self._index.close()

    def indexes(self) -> list[tuple[Index, tuple[str, ...]]]:
        self.catch_up()
        return [(self._index, ())]

    def catch_up(self) -> None:
        if self.is_current():
            return
        if self._sources.has_other_rules(self._index):
            self._index.clear()
        whole = self._sources.size(self._segment_bytes) if self.progress is not None else 0
        while not take_batch(self._index, self._sources):
            if self.progress is not None:
                self.progress(min(self._sources.taken(self._index, self._segment_bytes), whole), whole)

    def mend(self) -> bool:
        return False

    def look(self) -> AbstractContextManager[object]:
        """A block for one question: see `Index.look`."""
        return self._index.look()

    def drop(self) -> None:
        self._index.clear()

    def without_file(self, error: Exception) -> list[tuple[Index, tuple[str, ...]]]:
        raise Unreadable(
            f"The index in the database makes no sense ({error}). `looseleaf check` reads all of it, and `looseleaf "
            "build --full` makes it again."
        ) from error

    def is_current(self) -> bool:
        with self._index.look():
            return not self._sources.has_other_rules(self._index) and self._sources.is_complete(self._index)

    def missing_bytes(self) -> int:
        whole = self._sources.size(self._segment_bytes)
        with self._index.look():
            return max(whole - self._sources.taken(self._index, self._segment_bytes), 0)


def keep_index(context: Context, sources: ItemSources) -> IndexKeeper | DatabaseKeeper:
    return (IndexKeeper if context.store.tables is None else DatabaseKeeper)(context, sources)


def take_batch(index: Index, sources: ItemSources) -> bool:
    """Add some of what an index lacks; return whether that was all."""
    taken = 0
    with index.change():
        for batch in sources.find_missing(index):
            apply_batch(index, batch)
            taken += len(batch.items or ()) + 1
            if taken >= _AT_ONCE and batch.source != JOURNAL:
                return False
    return True


class _JoinedMarks:
    """The marks of two indexes: the second's replace the first's."""

    def __init__(self, first: Index | None, second: Index, hidden: set[str]) -> None:
        self._first = first
        self._second = second
        self._hidden = hidden

    def mark(self, source: str) -> str:
        later = self._second.mark(source)
        if later or self._first is None or source in self._hidden:
            return later
        return self._first.mark(source)

    def marks(self, begin: str) -> dict[str, str]:
        first = self._first.marks(begin) if self._first is not None else {}
        kept = {source: mark for source, mark in first.items() if source not in self._hidden}
        return kept | self._second.marks(begin)

    def marks_of(self, sources: Iterable[str]) -> dict[str, str]:
        return {source: mark for source in sources if (mark := self.mark(source))}


def apply_batch(index: Index, batch: ItemBatch) -> None:
    if batch.items is None:
        index.drop(batch.source)
    else:
        index.take(batch.source, batch.mark, batch.items, anew=batch.anew, over=batch.over, said=batch.said)
