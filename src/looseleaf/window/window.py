"""The window, read from the log: the talk since the last mark, and what the mark keeps from before it.

One process keeps a window object, which reads on from where it was. Within an epoch its messages only grow. Imported
data was not said to this agent and is skipped, no matter who speaks in it.
"""

from __future__ import annotations

from looseleaf.base.errors import Unreadable
from looseleaf.base.messages import Trace
from looseleaf.base.origins import is_imported
from looseleaf.base.values import START, Position
from looseleaf.log.journal import NO_MARK
from looseleaf.log.turns import (
    MESSAGE_TOKENS,
    Mark,
    as_text,
    extend,
    find_line,
    media_tokens,
    message_of,
    snapshot,
    texts_of,
    trace_text,
)
from looseleaf.store import JOURNAL
from looseleaf.store.disk import Threads
from looseleaf.text.identifiers import clipped, reduced
from looseleaf.window.compaction_plan import PlanItem

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence

    from looseleaf.base.messages import Message
    from looseleaf.base.values import Edition, LogLine
    from looseleaf.log.journal import AgentHead
    from looseleaf.store.protocol import Store

    Row = tuple[Trace, Position, Position]
    """A trace, where its line begins, and where it ends."""

    Count = Callable[[Sequence[str]], list[int]]
    """The tokens of each text."""


Where = str
TAIL, HELD, SINCE, GONE = "tail", "held", "since", "gone"


def read_mark(store: Store, head: AgentHead) -> Mark | None:
    """Read the mark that an agent's head names."""
    if head.mark is None:
        return None
    line = find_line(store, JOURNAL, Position(head.segment, head.offset), head.mark)
    try:
        return Mark.from_record(line.record if line else {})
    except (KeyError, TypeError, ValueError) as error:
        raise Unreadable(
            f"The window was not read: its mark, the journal's record {head.mark}, makes no sense ({error!r}). "
            "`looseleaf check` says what is damaged."
        ) from error


def read_shown(store: Store, stream: str, mark: Mark | None) -> Iterator[tuple[Trace, LogLine, Where]]:
    """Read the traces a window shows, in log order, one at a time; each with its line and how it is shown."""
    return (each for each in _read_traces(store, stream, mark) if each[2] != GONE)


def _read_traces(store: Store, stream: str, mark: Mark | None) -> Iterator[tuple[Trace, LogLine, Where]]:
    """Read the same, with the traces in between that are gone."""
    if mark is None:
        for line in store.read(stream):
            trace = Trace.from_record(line.record)
            if trace is not None:
                yield trace, line, GONE if is_imported(trace.origin) else SINCE
        return
    tail, held = frozenset(mark.tail), frozenset(mark.held)
    last = _find_last_before(store, stream, mark)
    for segment, offset, trace_id in mark.far:
        found = find_line(store, stream, Position(segment, offset), trace_id)
        trace = Trace.from_record(found.record) if found is not None else None
        if trace is not None and found is not None:
            yield trace, found, HELD
    # Where the log went back (FORMAT §4.5), nothing of it can be told from what was said since.
    is_since = last is None and not _has_place(store, stream, Position(*mark.until))
    for line in _read_from_start(store, stream, mark):
        trace = Trace.from_record(line.record)
        if trace is not None and (is_since or (last is None and line.position > mark.until)):
            yield trace, line, GONE if is_imported(trace.origin) else SINCE
        elif trace is not None:
            yield trace, line, TAIL if trace.id in tail else HELD if trace.id in held else GONE
        # True also where forgetting left only the line's place (FORMAT §17.2).
        is_since = is_since or line.record.get("id") == last


def _read_cut(
    store: Store, stream: str, cut: Mark, rows: Sequence[Row]
) -> Iterator[tuple[Trace, Position, Where]]:
    """Yield the same for a cut at the end of a log, of which these traces are left."""
    for segment, offset, trace_id in cut.far:
        found = find_line(store, stream, Position(segment, offset), trace_id)
        trace = Trace.from_record(found.record) if found is not None else None
        if trace is not None and found is not None:
            yield trace, found.position, HELD
    for trace, place, _ in rows:
        yield trace, place, GONE if is_imported(trace.origin) else SINCE


def _find_last_before(store: Store, stream: str, mark: Mark) -> str | None:
    """Return the id of the trace after which everything is shown as it is. Mostly `since`; if that line is damaged,
    the last that the mark names; None if all are damaged and only the place is left to go by."""
    line = next(store.read(stream, Position(*mark.until)), None)
    if line is not None and line.record.get("id") == mark.since:
        return mark.since
    named = {*mark.tail, *mark.held, mark.start[2]}
    last: str | None = None
    for line in _read_from_start(store, stream, mark):
        trace_id = line.record.get("id")
        if trace_id == mark.since:
            return mark.since
        if isinstance(trace_id, str) and trace_id in named:
            last = trace_id
    return last


def _has_place(store: Store, stream: str, place: Position) -> bool:
    """True if a line begins at a place, or once did."""
    return place.offset == 0 or store.line_before(stream, place) is not None


def _read_from_start(store: Store, stream: str, mark: Mark) -> Iterator[LogLine]:
    """Read the lines from the mark's start; if that has moved, from the beginning, skipping what is not shown."""
    segment, offset, trace_id = mark.start
    lines = store.read(stream, Position(segment, offset))
    first = next(lines, None)
    if first is not None and first.record.get("id") == trace_id:
        yield first
        yield from lines
    else:
        yield from store.read(stream)


def length_of(trace: Trace) -> int:
    """Return the characters that a trace has to show."""
    texts = (trace.content, trace.tool_result, trace.tool_args, trace.tool_error)
    return sum(len(text if isinstance(text, str) else repr(text)) for text in texts if text)


def costs_of(messages: Sequence[Message], count: Count) -> list[int]:
    """Return what each message costs."""
    texts = [list(texts_of(message)) for message in messages]
    counted = iter(count([text for own in texts for text in own]) if any(texts) else ())
    return [
        MESSAGE_TOKENS + media_tokens(message) + sum(next(counted) for _ in own)
        for message, own in zip(messages, texts, strict=True)
    ]


def count_messages(messages: Iterable[Message], count: Count) -> int:
    """Return what messages cost together."""
    return sum(costs_of(list(messages), count))


class Window:
    """One agent's `messages` since its last mark. `read` brings them up to date."""

    def __init__(self, store: Store, stream: str, head: Callable[[], AgentHead]) -> None:
        self._store = store
        self._stream = stream
        self._head = head
        self.mark: Mark | None = None
        self.head = NO_MARK
        self.flag: str | None = None
        self.alone = Threads()
        self._of: tuple[str | None, Edition] | tuple[()] = ()
        """The mark after which it was read, and the edition."""
        self._over: tuple[int, Position, object] | None = None
        """More characters than this stand before the end of the line there."""
        self._reset()

    def _reset(self) -> None:
        self._is_read = self._is_end = False
        self._position: Position = START
        self._last: str | None = None
        self.size = 0
        """The characters of its talk."""
        self._ids: set[str] = set()
        self.tail: list[Trace] = []
        self.traces: list[Trace] = []
        self.messages: list[Message] = []
        self._after: dict[str, int] = {}
        self._sums: dict[str, list[int]] = {}

    def read(self, limit: int | None = None) -> bool:
        """Bring it up to date. Return False if it has more than `limit` characters and was not read to its end."""
        with self.alone():
            head = self.head = self._head()
            self.flag = head.flag
            edition = self._store.edition()
            if (head.mark, edition) != self._of:  # it may show what was forgotten since
                self._of, self._over = (head.mark, edition), None
                self._reset()
            if self._is_read and self._read_on():
                return True
            if self._over is not None and limit is not None and self._is_over(*self._over, limit):
                return False
            self._reset()
            return self._fill(read_mark(self._store, head), limit)

    def _is_over(self, known: int, place: Position, name: object, limit: int) -> bool:
        """True if it is known to have more than `limit` characters: logs only grow."""
        line = next(self._store.read(self._stream, place), None) if known >= limit else None
        return line is not None and line.position == place and line.record.get("id") == name

    def weigh(self, unit: str, count: Count) -> int:
        """Return what the messages cost. Counts are cached per `unit`."""
        return self.weights(unit, count)[-1]

    def weights(self, unit: str, count: Count) -> list[int]:
        """Return the cost up to each message, beginning with 0. Each is counted once, except the last, which may still
        change."""
        with self.alone():
            sums = self._sums.setdefault(unit, [0])
            sure = max(len(self.messages) - 1, 0)
            for cost in costs_of(self.messages[len(sums) - 1 : sure], count):
                sums.append(sums[-1] + cost)
            return [*sums, *(sums[-1] + cost for cost in costs_of(self.messages[sure:], count))]

    @property
    def last(self) -> str | None:
        """The id of the last trace read, even if the window does not show it."""
        return self._last

    def after(self, trace_id: str) -> int | None:
        """Return how many messages there are through this trace's; None if it is not in the window."""
        return self._after.get(trace_id)

    def _add_messages(self, traces: Sequence[Trace], short: Mapping[str, str] | None = None) -> None:
        before = self.traces[-len(traces) - 1] if len(self.traces) > len(traces) else None
        for trace in traces:
            extend(self.messages, (trace,), short, before)
            self._after[trace.id] = len(self.messages)
            before = trace

    @property
    def begins(self) -> int:
        """How many messages stand before the first trace's: the snapshot, or none."""
        return int(bool(self.messages) and (not self.traces or self._after[self.traces[0].id] > 1))

    def first(self, left: Collection[str]) -> Message | None:
        """Return the snapshot without these must-keep sentences; None if that leaves nothing."""
        assert self.mark is not None
        kept = tuple(sentence for sentence in self.mark.semantic if sentence not in left)
        return snapshot(self.mark.but(semantic=kept), self.tail)

    def read_through(self, mark: Mark | None, last: str) -> None:
        """Read the window as it was when this trace was the last."""
        with self.alone():
            self._reset()
            self._fill(mark, None, last)

    def read_end(self, cut: Mark, rows: Sequence[Row]) -> None:
        """Read a window that is too long as it would be after a cut: these traces are left."""
        with self.alone():
            if self._is_end and self.mark == cut:
                return
            self._reset()
            self._fill(cut, None, rows=rows)
            self._is_read, self._is_end = False, True

    def _fill(
        self,
        mark: Mark | None,
        limit: int | None,
        through: str | None = None,
        rows: Sequence[Row] | None = None,
    ) -> bool:
        self.mark = mark
        short = dict(self.mark.short) if self.mark else {}
        last: tuple[Position, str] | None = None
        found = (
            (
                (trace, line.position, where)
                for trace, line, where in _read_traces(self._store, self._stream, mark)
            )
            if rows is None or mark is None
            else _read_cut(self._store, self._stream, mark, rows)
        )
        for trace, place, where in found:
            if last is not None and last[1] == through:
                break
            last = place, trace.id
            if where != GONE and self._is_new(trace):
                (self.tail if where == TAIL else self.traces).append(trace)
                self.size += length_of(trace) if trace.id not in short else 0
                if limit is not None and self.size > limit:
                    self._over = limit, place, trace.id
                    self._reset()
                    return False
        first = snapshot(self.mark, self.tail) if self.mark else None
        self.messages = [first] if first else []
        self._add_messages(self.traces, short)
        if last is not None:
            self._position, self._last = last
        self._is_read = True
        return True

    def _is_new(self, trace: Trace) -> bool:
        """False for a copied line."""
        is_new = trace.id not in self._ids
        self._ids.add(trace.id)
        return is_new

    def _read_on(self) -> bool:
        """Read new lines. Return False if the log was replaced: the last known trace must still be in its place."""
        if self._last is None:
            return False
        new: list[Trace] = []
        is_known = False
        for line in self._store.read(self._stream, self._position):
            if not is_known:
                if line.position != self._position or line.record.get("id") != self._last:
                    return False
                is_known = True
                continue
            trace = Trace.from_record(line.record)
            if trace is not None:
                self._position, self._last = line.position, trace.id
                if self._is_new(trace) and not is_imported(trace.origin):
                    new.append(trace)
        self.traces += new
        self.size += sum(map(length_of, new))
        self._add_messages(new)
        return is_known


_CHARACTERS = 4
"""Rough characters per token: the first guess for a cut, which is then counted and corrected."""

_CLIPPED_TOKENS = 1000
"""From here on a shortened tool result shows its beginning and end; below, there is room for identifiers only."""

_TRIES = 16
_AT_ONCE_TRACES, _AT_ONCE_CHARACTERS = 256, 4_000_000
"""The most texts to count together."""


def weigh_items(
    store: Store, stream: str, mark: Mark | None, short: Mapping[str, str], count: Count
) -> Iterator[PlanItem]:
    """Yield the traces a window shows as items, without holding the traces: there may be gigabytes."""
    waiting: list[tuple[Trace, tuple[int, int], int]] = []
    characters = 0
    seen: set[str] = set()
    for trace, line, _ in read_shown(store, stream, mark):
        if trace.id in seen:
            continue  # a copied line
        seen.add(trace.id)
        waiting.append((trace, (line.position.segment, line.position.offset), line.end.offset))
        characters += len(trace.content) + len(str(trace.tool_result or ""))
        if len(waiting) >= _AT_ONCE_TRACES or characters > _AT_ONCE_CHARACTERS:
            yield from _weigh_batch(waiting, short, count)
            waiting, characters = [], 0
    yield from _weigh_batch(waiting, short, count)


def _weigh_batch(
    waiting: Sequence[tuple[Trace, tuple[int, int], int]], short: Mapping[str, str], count: Count
) -> Iterator[PlanItem]:
    messages = [message_of(trace, short.get(trace.id)) for trace, _, _ in waiting]
    texts = [list(texts_of(message)) for message in messages]
    tokens = iter(count([text for own in texts for text in own]))
    for (trace, place, end), message, own in zip(waiting, messages, texts, strict=True):
        known = trace.id, trace.turn_id, trace.trace_type, trace.tool_call_id, trace.flag
        costs = sum(next(tokens) for _ in own), media_tokens(message), sum(text.count("\n") for text in own)
        yield PlanItem(*known, *costs, place, end, trace.ts)


def make_stand_in(trace: Trace, tokens: int, size: int, count: Count) -> str:
    """Return a text of at most `tokens` to show for a trace of `size` tokens."""

    def shorten(limit: int) -> str:
        about = f"{size:,} tokens"
        if trace.trace_type == "tool_result" and limit < _CHARACTERS * _CLIPPED_TOKENS:
            return reduced(trace, limit, about)
        text = as_text(trace.tool_args) if trace.trace_type == "tool_call" else trace_text(trace)
        return clipped(text, limit, f"[… {about} in all; looseleaf expand {trace.id} …]")

    limit = tokens * _CHARACTERS
    for _ in range(_TRIES):
        text = shorten(limit)
        cost = count([text])[0]
        if cost <= tokens:
            break
        limit = min(limit - 8, limit * tokens * 9 // (cost * 10))
    return text


def cut_to_tokens(text: str, tokens: int, count: Count) -> str:
    """Return the beginning of a text, at most so many tokens long."""
    limit = len(text)
    while limit > 0 and (cost := count([text[:limit]])[0]) > tokens:
        limit = max(0, min(limit - 1, limit * tokens * 19 // (cost * 20)))
    return text if limit == len(text) else f"{text[: max(0, limit - 1)].rstrip()}…"
