"""What there is to be found, as items for the index: what was said, what pages say, what is known, what was distilled.

Each source has a mark that says how far it was taken: of a log the place behind the last line, of a page its hash, of a
topic the place in the journal where it last changed. So what is not in the index yet is known without reading the rest.
"""

from __future__ import annotations

from looseleaf.base.errors import Refused
from looseleaf.base.immutable import frozen
from looseleaf.base.messages import Trace
from looseleaf.base.own_tools import is_own
from looseleaf.base.page_paths import name_fault
from looseleaf.base.values import START, Position
from looseleaf.language.stems import edition
from looseleaf.pages.outside_edits import belongs
from looseleaf.recall.texts import writable
from looseleaf.store import JOURNAL

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from looseleaf.facts.known_facts import Facts
    from looseleaf.index.protocol import Item, Marks
    from looseleaf.pages.pages import Pages
    from looseleaf.store.protocol import Store

TRACES, PAGE, TOPIC, ENTRY = "traces/", "page:", "topic:", "entry:"
TERMS = "terms"
"""The source of no items whose mark says how texts become terms, and which of them are taken."""

_TAKEN = "2"
"""Changes whenever other things are taken than before: what was indexed under another is made anew."""

_LONGEST_MARK = 200
_AT_ONCE = 500
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
    """`known` gives the facts, `note` is told what cannot be read. Whoever asks has absorbed what people changed."""

    def __init__(
        self, store: Store, pages: Pages, known: Callable[[], Facts], note: Callable[[str], None]
    ) -> None:
        self._note = note
        self._store = store
        self._pages = pages
        self._known = known

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
        heads = self._pages.absorb.heads
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
        absorb = self._pages.absorb
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
            if lines >= _AT_ONCE:
                yield Batch(stream, mark, items, anew)
                items, lines, anew = [], 0, False
        if lines or anew:
            yield Batch(stream, mark if lines else "", items, anew)

    # --- what pages say ----------------------------------------------------------------

    def _of_pages(self, marks: dict[str, str]) -> Iterator[Batch]:
        from looseleaf.recall.items import page_items

        heads = self._pages.absorb.heads.pages
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
                data = self._pages.absorb.head_bytes(path)
                yield Batch(source, sha256, page_items(path, data, _made_at(heads[path].edit)), anew=True)

    # --- what is known -----------------------------------------------------------------

    def _of_topics(self, marks: dict[str, str]) -> Iterator[Batch]:
        from looseleaf.recall.items import fact_items, over

        known = self._known()
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
