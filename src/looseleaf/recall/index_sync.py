"""Keeping the index: whatever was written by anybody when it is asked is in it when it answers.

One writer at a time, under the memory's lock, a part at a time, so that a long rebuild keeps nobody from recording. A
file that is damaged, of another version, or gone is made again. Where nothing can be written, what the file lacks is
held in memory for as long as the process lives: an answer is never worse for it, only slower.
"""

from __future__ import annotations

import os

from looseleaf.base.errors import Busy, Refused, Unwritten
from looseleaf.base.immutable import frozen
from looseleaf.base.messages import Trace
from looseleaf.base.origins import is_own
from looseleaf.base.paths import name_fault
from looseleaf.base.values import START, Position
from looseleaf.index.sqlite import SqliteIndex
from looseleaf.index.sqlite_file import Damaged
from looseleaf.language.stems import edition
from looseleaf.pages.outside_edits import belongs
from looseleaf.recall.items import writable
from looseleaf.store import JOURNAL

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Protocol

    from looseleaf.facts.known_facts import Facts
    from looseleaf.index.protocol import Index, Item, Marks
    from looseleaf.pages.pages import Pages
    from looseleaf.store.context import Context
    from looseleaf.store.protocol import Store

    class Needs(Protocol):
        @property
        def known(self) -> Facts: ...
        @property
        def pages(self) -> Pages: ...


# What there is to be found, as items for the index: what was said, what pages say, what is known, what
# was distilled.

TRACES, PAGE, TOPIC, ENTRY = "traces/", "page:", "topic:", "entry:"
TERMS = "terms"
"""The source of no items whose mark says how texts become terms, and which of them are taken."""

_TAKEN = "2"
"""Changes whenever other things are taken than before: what was indexed under another is made anew."""

_LONGEST_MARK = 200
_ITEMS_AT_ONCE = 500
"""Lines of a log that are taken before others have their turn."""


@frozen
class Batch:
    """What is to be taken into the index at once. `items` None: the source is gone."""

    source: str
    mark: str
    items: list[Item] | None
    anew: bool = False
    over: tuple[tuple[str, str], ...] = ()


class Sources:
    """What can be found. The caller has absorbed what people changed."""

    def __init__(self, context: Context, parts: Needs) -> None:
        self._store, self._note = context.store, context.note
        self._parts = parts

    def streams(self) -> list[str]:
        """Of all agents. What cannot be an agent's name is passed over."""
        return [
            f"{TRACES}{name}"
            for name in self._store.folders(f"log/{TRACES[:-1]}")
            if name_fault(name) is None
        ]

    def are_other(self, index: Marks) -> bool:
        """Whether what the index has was made by other rules: then nothing in it is found by ours."""
        return index.mark(TERMS) not in ("", _rules())

    def are_in(self, index: Marks) -> bool:
        """Whether the index has all that there is. Looks at the last line of each log and reads nothing else."""
        heads = self._parts.pages.absorb.heads
        return index.mark(JOURNAL) == _written(heads.position, heads.last) and all(
            self._end(stream) in (None, index.mark(stream)) for stream in self.streams()
        )

    def _end(self, stream: str) -> str | None:
        """The mark of all of a log; None if it cannot be read, which keeps nobody from finding the rest."""
        try:
            last = next(self._store.read_back(stream), None)
        except Refused as refused:
            self._note(str(refused))
            return None
        return _written(last.end, last.record.get("id")) if last is not None else ""

    def size(self, segment_bytes: int) -> int:
        """About how many bytes there are to be taken."""
        ends = (_read(self._end(stream) or "")[0] for stream in self.streams())
        return sum(_bytes(end, segment_bytes) for end in ends)

    def taken(self, index: Marks, segment_bytes: int) -> int:
        """About how many of them the index has."""
        return sum(_bytes(_read(index.mark(stream))[0], segment_bytes) for stream in self.streams())

    def behind(self, index: Marks) -> Iterator[Batch]:
        """What the index has not taken yet. The journal comes last: its mark says that all that it leads to is in."""
        if not index.mark(TERMS):
            yield Batch(TERMS, _rules(), [])
        for stream in self.streams():
            if self._end(stream) is not None:
                yield from self._traces(stream, index.mark(stream))
        absorb = self._parts.pages.absorb
        position, last = absorb.heads.position, absorb.heads.last
        now = _written(position, last)
        mark = index.mark(JOURNAL)
        if mark == now:
            return
        begin, before = _read(mark)
        if not belongs(self._store, begin, before):
            begin = START
        yield from self._of_pages(index.marks(PAGE))
        yield from self._of_topics(index.marks(TOPIC))
        yield from self._of_entries(begin, position, index.marks(ENTRY))
        yield Batch(JOURNAL, now, [])

    # --- what was said and done --------------------------------------------------------

    def _traces(self, stream: str, mark: str) -> Iterator[Batch]:
        from looseleaf.recall.items import trace_items

        position, last = _read(mark)
        anew = not belongs(self._store, position, last, stream)
        items: list[Item] = []
        lines = 0
        for line in self._store.read(stream, START if anew else position):
            trace = Trace.from_record(line.record)
            if trace is not None and not _is_own(trace):
                items += trace_items(trace, line.position, stream)
            lines += 1
            mark = _written(line.end, line.record.get("id"))
            if lines >= _ITEMS_AT_ONCE:
                yield Batch(stream, mark, items, anew)
                items, lines, anew = [], 0, False
        if lines or anew:
            yield Batch(stream, mark if lines else "", items, anew)

    # --- what pages say ----------------------------------------------------------------

    def _of_pages(self, marks: dict[str, str]) -> Iterator[Batch]:
        from looseleaf.recall.items import page_items

        heads = self._parts.pages.absorb.heads.pages
        there = {
            f"{PAGE}{path}": head.sha256
            for path, head in heads.items()
            if head.sha256 is not None and path.endswith(".md") and not path.startswith("review/")
        }
        for source in sorted(marks.keys() - there.keys()):
            yield Batch(source, "", None)
        for source, sha256 in sorted(there.items()):
            if marks.get(source) != sha256:
                path = source.removeprefix(PAGE)
                data = self._parts.pages.absorb.head_bytes(path)
                yield Batch(source, sha256, page_items(path, data, _made_at(heads[path].edit)), anew=True)

    # --- what is known -----------------------------------------------------------------

    def _of_topics(self, marks: dict[str, str]) -> Iterator[Batch]:
        from looseleaf.recall.items import fact_items, over

        known = self._parts.known
        known.catch_up()
        there = {f"{TOPIC}{name}": f"{place[0]} {place[1]}" for name, place in known.topics.items()}
        for source in sorted(marks.keys() - there.keys()):
            yield Batch(source, "", None)
        for source, mark in sorted(there.items()):
            if marks.get(source) != mark:
                facts = known.of(source.removeprefix(TOPIC))
                yield Batch(source, mark, fact_items(facts), anew=True, over=over(facts))

    # --- what was distilled ------------------------------------------------------------

    def _of_entries(self, begin: Position, end: Position, marks: dict[str, str]) -> Iterator[Batch]:
        """Each entry is a source of its own. The journal names it when it is placed, or when a window moved past it;
        its mark is the last record that did. So of many, those that were taken before others had their turn are not
        taken again."""
        from looseleaf.recall.items import entry_items

        found: dict[str, str] = {}
        for line in self._store.read(JOURNAL, begin):
            if line.end > end:
                break
            entry = line.record.get("entry")
            if isinstance(entry, str) and line.record.get("kind") in ("placed", "mark"):
                found[f"{ENTRY}{entry}"] = writable(str(line.record.get("id")))
            if line.record.get("instead"):
                found[f"{ENTRY}{line.record['instead']}"] = ""
        if begin == START:
            for source in sorted(marks.keys() - found.keys()):
                yield Batch(source, "", None)
        for source, mark in found.items():
            if marks.get(source, "") != mark:
                items = entry_items(self._store, source.removeprefix(ENTRY)) if mark else None
                yield Batch(source, mark, items, anew=True)


def _rules() -> str:
    return f"{edition()} {_TAKEN}"


def _is_own(trace: Trace) -> bool:
    """What our own tools were told and answered is found where it was written. What waits in review is not found, and
    so must not be by the call that asked for it."""
    return trace.trace_type in ("tool_call", "tool_result") and is_own(trace.tool_name)


def _made_at(edit: str | None) -> float | None:
    from looseleaf.base.ids import is_id, time_of

    return time_of(edit) if edit is not None and is_id(edit) else None


def _bytes(position: Position, segment_bytes: int) -> int:
    return max(position.segment - 1, 0) * segment_bytes + position.offset


def _written(position: Position, last: object) -> str:
    return writable(f"{position.segment} {position.offset} {last}")


def _read(mark: str) -> tuple[Position, str]:
    segment, _, rest = mark.partition(" ")
    offset, _, last = rest.partition(" ")
    return (
        (Position(int(segment), int(offset)), last)
        if segment.isdecimal() and offset.isdecimal() and len(mark) < _LONGEST_MARK
        else (START, "")
    )


if TYPE_CHECKING:
    Progress = Callable[[int, int], None]


VIEW = "views/index.sqlite"

_AT_ONCE = 2000
"""Items that are taken before the lock is given to others."""

_TRIES = 3
"""Times that a damaged file is made again for one question; after that something damages it."""


class Keep:
    """`folder`: the memory's; `note` is told once why the index cannot be written."""

    def __init__(
        self, store: Store, sources: Sources, folder: str, note: Callable[[str], None], segment_bytes: int
    ) -> None:
        self._store = store
        self._sources = sources
        self._path = os.path.join(folder, *VIEW.split("/"))
        self._note = note
        self._segment_bytes = segment_bytes
        self.progress: Progress | None = None
        self._file = SqliteIndex(self._path)
        self._aside: SqliteIndex | None = None
        self._aside_of: object = None
        """The file that the index in memory completes."""
        self._hidden: set[str] = set()
        self._is_lost = False
        """The file is not to be asked, and could not be dropped."""
        self._pid = os.getpid()

    def close(self) -> None:
        self._file.close()
        self._forget_aside()

    def indexes(self) -> list[tuple[Index, tuple[str, ...]]]:
        """The indexes that hold everything together, each with the sources of which it has an older version."""
        if self._pid != os.getpid():  # SQLite's handles are the parent's
            self._file, self._aside, self._pid = SqliteIndex(self._path), None, os.getpid()
            self._hidden.clear()
        if self._is_lost:
            self.drop()
        for _ in range(_TRIES):
            if self._is_lost:
                return self._without_writing(OSError("the file is damaged and cannot be removed"))
            try:
                if self.is_current():
                    self._forget_aside()
                    return [(self._file, ())]
                self._catch_up()
                self._forget_aside()
            except Damaged:
                self.drop()
                continue
            except (Busy, Unwritten, OSError) as error:
                return self._without_writing(error)
            return [(self._file, ())]
        return self.without_file(OSError("the file is damaged again and again"))

    def drop(self) -> None:
        """Drop the file: it is not what it should be. Where it cannot be removed, it is not asked."""
        try:
            with (
                self._store.lock()
            ):  # nobody may begin another one while what stands beside this one is removed
                self._file.remove()
            self._is_lost = False
        except (Busy, Unwritten, OSError):
            self._file.close()
            self._is_lost = True

    def without_file(self, error: Exception) -> list[tuple[Index, tuple[str, ...]]]:
        """Everything in memory: the file gives no answer."""
        self._file.close()
        self._is_lost = True
        return self._without_writing(error)

    def is_current(self) -> bool:
        """Whether the file has all that there is. Damaged: it is to be made again."""
        if not self._file.open(make=False):
            return False
        if self._sources.are_other(self._file):
            raise Damaged("its terms were made by other rules")
        return self._sources.are_in(self._file)

    # --- catching up -------------------------------------------------------------------

    def _catch_up(self) -> None:
        self._make_folder()
        whole = self._sources.size(self._segment_bytes) if self.progress is not None else 0
        while not self._take():
            if self.progress is not None:
                self.progress(min(self._sources.taken(self._file, self._segment_bytes), whole), whole)

    def _take(self) -> bool:
        """One part of what is missing; whether that was the last. What is missing is found under the lock: another
        process may have taken it since we looked."""
        taken = 0
        with self._store.lock():
            self._file.open(make=True)
            with self._file.change():
                for batch in self._sources.behind(self._file):
                    apply(self._file, batch)
                    taken += len(batch.items or ()) + 1
                    if taken >= _AT_ONCE and batch.source != JOURNAL:
                        return False
        return True

    def _make_folder(self) -> None:
        folder = os.path.dirname(self._path)
        try:
            os.mkdir(folder, 0o700)
        except FileExistsError:
            pass  # what it is, opening the file looks at

    # --- where nothing can be written --------------------------------------------------

    def _without_writing(self, error: Exception) -> list[tuple[Index, tuple[str, ...]]]:
        self._note(
            f"The index could not be brought up to date ({error}). What it lacks was read for this question, "
            "which takes longer."
        )
        try:
            return self._with_aside(is_there=not self._is_lost and self._file.open(make=False))
        except (Damaged, OSError) as fault:
            self._is_lost = isinstance(fault, Damaged)
            return self._with_aside(is_there=False)

    def _with_aside(self, *, is_there: bool) -> list[tuple[Index, tuple[str, ...]]]:
        file = self._file.which if is_there else None
        if self._aside is None or self._aside_of != file:
            self._forget_aside()
            self._aside, self._aside_of = SqliteIndex(None), file
            self._aside.open(make=True)
        both = _Both(self._file if is_there else None, self._aside, self._hidden)
        for batch in self._sources.behind(both):
            if batch.anew or batch.items is None:
                self._hidden.add(batch.source)
            apply(self._aside, batch)
        return [*([(self._file, tuple(sorted(self._hidden)))] if is_there else []), (self._aside, ())]

    def _forget_aside(self) -> None:
        if self._aside is not None:
            self._aside.close()
            self._aside = None
        self._hidden.clear()


class _Both:
    """The marks of two indexes: those of the second stand for the first's."""

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


def apply(index: Index, batch: Batch) -> None:
    if batch.items is None:
        index.drop(batch.source)
    else:
        index.take(batch.source, batch.mark, batch.items, anew=batch.anew, over=batch.over)


def faults(folder: str) -> list[str]:
    """What is wrong with the index of a memory, looked at as a whole; nothing if there is none."""
    index = SqliteIndex(os.path.join(folder, *VIEW.split("/")))
    try:
        return index.faults() if index.open(make=False) else []
    except (Damaged, OSError) as error:
        return [str(error)]
    finally:
        index.close()
