"""Where a text was said, word for word: found by its words as far as the index reaches, and by reading after that.

The index is only read here, never brought up to date. Without one, or with one that fails, everything is read.
"""

from __future__ import annotations

from itertools import islice

from looseleaf.base.values import START, Position
from looseleaf.index.opening import reading_index
from looseleaf.index.protocol import PAGE, TOPIC, parse_mark
from looseleaf.index.said import parts_of_name
from looseleaf.index.sqlite import DamagedIndex
from looseleaf.log.journal import edits_back
from looseleaf.store import JOURNAL

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from looseleaf.base.values import Edit, LogLine
    from looseleaf.index.said import Part
    from looseleaf.store.protocol import Store


_NEAR = 256
"""Lines to read before an index is asked: the last ones are mostly what is wanted."""


def lines_with(store: Store, stream: str, parts: Sequence[Part]) -> Iterator[LogLine]:
    """Yield the lines of a log that may have these parts of words, newest first. No other line has all of them."""
    before: Position | None = None
    for line in islice(store.read_back(stream), _NEAR):
        yield line
        before = line.position
    if before is None or before == START:
        return
    with reading_index(store) as index:
        try:
            places = index.lines_with(parts, stream) if index is not None else None
            end, last = parse_mark(index.mark(stream)) if index is not None else (START, "")
            is_same = end != START and (store.line_before(stream, end) or {}).get("id") == last
            if places is not None and is_same:
                for line in store.read_back(stream, before):
                    if line.position < end:
                        break
                    yield line
                    before = line.position
                for place in places:
                    if place < before:
                        before = Position(*place)
                        found = next(store.read(stream, before), None)
                        if found is not None and found.position == before:
                            yield found
                return
        except (DamagedIndex, OSError):
            pass  # it names no more lines
    yield from store.read_back(stream, before)


def edits_saying(store: Store, path: str, edit: str = "") -> Iterator[Edit]:
    """Yield the edits of a page, newest first; or one of them, by its id."""
    lines = lines_with(store, JOURNAL, parts_of_name(f"{path} {edit}"))
    records = (line.record for line in lines)
    return edits_back(each for each in records if each.get("path") == path or each.get("kind") == "void")


def silent_sources(store: Store, parts: Sequence[Part]) -> dict[str, str]:
    """Return the indexed pages and topics that do not have these parts of words, each with its mark: what
    has another mark now may have them."""
    with reading_index(store) as index:
        try:
            found = index.sources_with(parts) if index is not None else None
            if index is None or found is None:
                return {}
            marks = index.marks(PAGE) | index.marks(TOPIC)
            return {name: mark for name, mark in marks.items() if name not in found}
        except (DamagedIndex, OSError):
            return {}
