"""Cut a window that is too long to be read: its end stays, and what is known of the rest stands in for it.

A log may grow for years before its first prompt. A cut reads it from the end, as far as a budget reaches, and is a mark
like any other (FORMAT §11.7), with no entry of its own. Talk before it that was distilled is told by the last of those
entries. The rest waits in the log for the next distillation; the mark names its turns.
"""

from __future__ import annotations

from looseleaf.base.errors import Refused
from looseleaf.base.immutable import frozen
from looseleaf.base.messages import Trace
from looseleaf.base.origins import is_imported
from looseleaf.base.values import Position
from looseleaf.log.entries import distilled_of, read_entry
from looseleaf.log.recorder import stream_of
from looseleaf.log.turns import Mark, turn_number
from looseleaf.store import JOURNAL
from looseleaf.window.compaction_plan import merge_kept_lines, sort_by_rank
from looseleaf.window.window import cut_to_tokens, length_of, read_mark

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator

    from looseleaf.base.messages import Distilled
    from looseleaf.base.policy import Policy
    from looseleaf.base.values import LogLine
    from looseleaf.log.entries import Entry
    from looseleaf.log.journal import AgentHead
    from looseleaf.store.protocol import Store
    from looseleaf.window.window import Count, Row

_LONGEST_TRACE = 4096
"""Characters of a trace that count: a compaction makes a pointer of a longer result, at no more cost."""

_LEAST_CLEAN = 2
"""A cut through no turn, and between no call and its result, is preferred if it keeps at least half of the reach."""

_ENTRIES = 16
"""The last entries whose decisions and constraints the window keeps."""

_LOOKED_THROUGH = 4096
"""Records of the journal to look for them in."""

_SHARE = 8
"""The summaries and the list of what to keep get at most an eighth of the budget each."""


@frozen
class _Place:
    """Where to cut: the last trace that leaves, where its line begins and ends, and ids of calls whose results stay."""

    last: Trace
    position: Position
    end: Position
    called: frozenset[str]


class LogEnd:
    """The last traces of a log, read once, and as far back as was asked for."""

    def __init__(self, store: Store, stream: str) -> None:
        self._store, self._stream = store, stream
        self.forget()

    def forget(self) -> None:
        self.rows: list[Row] = []
        self._edition = self._store.edition()

    def back(self) -> Iterator[Row]:
        """Yield them, newest first."""
        self._read_on()
        yield from reversed(self.rows)
        older: list[Row] = []
        try:
            for line in self._store.read_back(self._stream, self.rows[0][1] if self.rows else None):
                trace = Trace.from_record(line.record)
                if trace is not None:
                    older.append((trace, line.position, line.end))
                    yield older[-1]
        finally:
            self.rows[:0] = reversed(older)

    def after(self, place: Position) -> list[Row]:
        """Return those after a place, and keep no others."""
        self.rows = [row for row in self.rows if row[1] > place]
        return self.rows[:]

    def _read_on(self) -> None:
        """Take what was recorded since. What is forgotten, or of another log, is read anew."""
        last = self.rows[-1] if self.rows else None
        if last is None or self._store.edition() != self._edition:
            self.forget()
            return
        lines = self._store.read(self._stream, last[1])
        line = next(lines, None)
        if line is None or (line.position, line.record.get("id")) != (last[1], last[0].id):
            self.forget()
            return
        for line in lines:
            trace = Trace.from_record(line.record)
            if trace is not None:
                self.rows.append((trace, line.position, line.end))


class WindowCut:
    """Makes the mark that cuts one agent's window. `open_calls`: the trace ids of its calls without a result."""

    def __init__(
        self, store: Store, policy: Policy, agent: str, open_calls: Callable[[], Collection[str]]
    ) -> None:
        self._store, self._policy, self._agent = store, policy, agent
        self._stream = stream_of(agent)
        self._open_calls = open_calls

    def __call__(
        self,
        head: AgentHead,
        reach: int,
        budget: int,
        count: Count,
        outdated: Callable[..., Callable[[str], bool]],
        mark_id: str | None = None,
        log: LogEnd | None = None,
    ) -> Mark | None:
        """Return the mark of a window with about `reach` characters of talk; None if it has no more than that.
        `mark_id`: of a mark to write; without one, the last trace gives its id. `log`: its end, where that is kept."""
        mark = read_mark(self._store, head)
        place = self._find_place(mark, reach, log)
        if place is None:
            return None
        far = list(self._find_calls(place, mark))
        held = {trace.id for trace, _ in far}
        entries = list(self._read_entries(head, mark, place.position))
        found = [distilled_of(entry.summary) for entry in entries]
        newest = next(self._store.read_back(self._stream)).record["id"]
        return Mark(
            mark_id or str(newest),
            self._agent,
            None,
            place.last.id,
            place.position,
            (*place.position, place.last.id),
            tuple((*line.position, trace.id) for trace, line in far),
            (),
            tuple(trace.id for trace, _ in far),
            tuple((trace, text) for trace, text in (mark.short if mark else ()) if trace in held),
            self._tell_entries(mark, entries, budget, count),
            self._keep_lines(mark, found, budget, count, outdated(*found)),
            self._find_left(head, mark, place),
        )

    def is_longer(self, head: AgentHead, reach: int) -> bool:
        """True if a window has more than so many characters of talk, and could be cut."""
        return self._find_place(read_mark(self._store, head), reach) is not None

    # --- where ---------------------------------------------------------------------------------

    def _find_place(self, mark: Mark | None, reach: int, log: LogEnd | None = None) -> _Place | None:
        """Return the last trace before the turns that stay, as many as the reach has room for and at least one; None
        if all of the window stays."""
        size = 0
        begun: set[str] = set()
        split: set[str] = set()
        called: set[str] = set()
        is_enough = False
        is_start = False  # the trace read before begins a turn
        best: _Place | None = None
        for trace, position, end in (log or LogEnd(self._store, self._stream)).back():
            if mark is not None and tuple(position) <= mark.until:
                return None
            if is_imported(trace.origin):
                continue
            if is_start and ((not split and not called) or size > reach):
                best = _Place(trace, position, end, frozenset(called))
                is_enough = size >= reach // _LEAST_CLEAN
            size += min(length_of(trace), _LONGEST_TRACE)
            if size > reach and best is not None and is_enough:
                return best
            is_start = trace.seq == 1
            if is_start:
                begun.add(trace.turn_id)
                split.discard(trace.turn_id)
            elif trace.turn_id not in begun:
                split.add(trace.turn_id)
            if trace.tool_call_id is not None and trace.trace_type == "tool_call":
                called.discard(trace.tool_call_id)
            elif trace.tool_call_id is not None and trace.trace_type == "tool_result" and trace.flag is None:
                called.add(trace.tool_call_id)
        return None

    def _find_calls(self, place: _Place, mark: Mark | None) -> list[tuple[Trace, LogLine]]:
        """Return the calls before the cut that must stay in the window: they are open, or their results stay."""
        wanted, called = set(self._open_calls()), set(place.called)
        if not wanted and not called:
            return []
        found: list[tuple[Trace, LogLine]] = []

        def take(line: LogLine) -> None:
            trace = Trace.from_record(line.record)
            if trace is None or trace.trace_type != "tool_call":
                return
            if trace.id in wanted or trace.tool_call_id in called:
                wanted.discard(trace.id)
                called.discard(trace.tool_call_id or "")
                found.append((trace, line))

        for segment, offset, trace_id in mark.far if mark is not None else ():
            line = next(self._store.read(self._stream, Position(segment, offset)), None)
            if line is not None and line.record.get("id") == trace_id:
                take(line)
        if wanted or called:
            wanted -= self._find_after(place.position, wanted)
        if wanted or called:
            for line in self._store.read_back(self._stream, place.end):
                is_before = mark is not None and tuple(line.position) < mark.start[:2]  # `far` has those
                if is_before or not (wanted or called):
                    break
                take(line)
        return sorted(found, key=lambda each: tuple(each[1].position))

    def _find_after(self, position: Position, wanted: Collection[str]) -> set[str]:
        """Return those of the traces that stand after a place."""
        lines = self._store.read(self._stream, position)
        return {str(line.record.get("id")) for line in lines} & set(wanted)

    # --- what stands in for the rest -----------------------------------------------------------

    def _read_entries(self, head: AgentHead, mark: Mark | None, end: Position) -> Iterator[Entry]:
        """Yield the entries of talk between the mark and the cut, newest first."""
        if head.through == (0, 0):
            return
        read = 0
        for number, line in enumerate(self._store.read_back(JOURNAL)):
            record = line.record
            if read >= _ENTRIES or number >= _LOOKED_THROUGH or record.get("id") == head.mark:
                return
            is_own = record.get("kind") == "placed" and record.get("agent") == self._agent
            if is_own and record.get("through") and record.get("entry"):
                try:
                    entry = read_entry(self._store, str(record["entry"]))
                    distilled_of(entry.summary)
                    is_shown = tuple(entry.meta["traces"][0][:2]) > tuple(end)
                except (Refused, KeyError, TypeError, IndexError):
                    continue  # `check` names it
                if not is_shown:
                    read += 1
                    yield entry

    def _tell_entries(
        self, mark: Mark | None, entries: list[Entry], budget: int, count: Count
    ) -> tuple[tuple[str, str], ...]:
        most = self._policy.max_episodic_items
        each = max(1, budget // _SHARE // most)
        told = [(entry.reference, _summary_of(entry)) for entry in entries[:most][::-1]]
        told = [*(mark.episodic if mark is not None else ()), *told][-most:]
        return tuple((reference, cut_to_tokens(text, each, count)) for reference, text in told)

    def _keep_lines(
        self,
        mark: Mark | None,
        found: list[Distilled],
        budget: int,
        count: Count,
        is_outdated: Callable[[str], bool],
    ) -> tuple[str, ...]:
        merged = merge_kept_lines(mark.semantic if mark is not None else (), *found[::-1])
        lines = [line for line in merged if not is_outdated(line)]
        left = min(self._policy.semantic_tokens, budget // _SHARE)
        kept: set[str] = set()
        ranked = sort_by_rank(lines)[: self._policy.max_semantic_items]
        for line, cost in zip(ranked, count([f"- {line}\n" for line in ranked]), strict=True):
            if cost <= left:
                kept.add(line)
                left -= cost
        return tuple(line for line in lines if line in kept)

    def _find_left(
        self, head: AgentHead, mark: Mark | None, place: _Place
    ) -> tuple[str, str, int, int] | tuple[()]:
        """Return the first and the last turn that leave without having been distilled, and the place of the end."""
        end = tuple(place.position)
        if head.through > end:
            return ()
        if mark is not None and mark.left and head.through <= mark.left[2:]:
            first: str | None = mark.left[0]
        else:
            since = max(head.through, mark.start[:2] if mark is not None else (0, 0))
            lines = self._store.read(self._stream, Position(*since))
            traces = (Trace.from_record(line.record) for line in lines)
            first = next((trace.turn_id for trace in traces if trace is not None), None)
        return (first or place.last.turn_id, place.last.turn_id, *place.position)


def _summary_of(entry: Entry) -> str:
    turns = [turn_number(str(turn)) or 0 for turn in entry.meta.get("turn_ids") or ()]
    numbers = dict.fromkeys((min(turns, default=0), max(turns, default=0)))
    span = f"turn{'s' * (len(numbers) > 1)} {' to '.join(map(str, numbers))}; "
    name = entry.reference.rpartition("/")[2]
    return f"({span * bool(turns)}looseleaf expand {name}) {str(entry.summary['summary']).strip()}".strip()
