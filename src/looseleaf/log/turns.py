"""Turns: traces grouped into turns, blocks and tool pairs, and the tally that numbers and pairs new ones.

A result belongs to the oldest call of its id that has none yet: providers reuse ids, and results come in any order.
"""

from __future__ import annotations

import re

from looseleaf.base.errors import check_count
from looseleaf.base.ids import is_id, time_of
from looseleaf.base.messages import Block, Session, ToolInteraction, Trace, Turn

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from typing import Any

    from looseleaf.base.messages import CallStatus, Flag
    from looseleaf.base.values import LogLine, Position, Record
    from looseleaf.store.protocol import Store

RESERVED = "turn"
"""The `kind` of a line that only reserves a turn id, before its first trace."""

REMEMBERED = 1000
"""Turns, answered calls and sessions that the tally keeps. Older ones are looked up in the log."""

_TURN_ID = re.compile(r"turn_([0-9]{4,15})\Z")
_HIGHEST = 10**12
"""A line written by hand may name any turn; higher ones do not affect the next number."""


def turn_name(number: int) -> str:
    return f"turn_{number:04d}"


def turn_number(turn_id: str) -> int | None:
    found = _TURN_ID.match(turn_id)
    return int(found[1]) if found else None


class TurnTally:
    """The numbers, sessions and open calls needed to place the next trace. Follows from the log alone."""

    def __init__(self) -> None:
        self.last_turn = 0
        self.seqs: dict[str, int] = {}
        self.sessions: dict[str, str] = {}
        self.open: dict[str, list[list[str]]] = {}
        self.answered: dict[str, str] = {}

    def take(self, record: Record) -> None:
        turn_id, kind = record.get("turn_id"), record.get("trace_type")
        number = turn_number(turn_id) if isinstance(turn_id, str) else None
        if number is None or (number >= _HIGHEST and number != self.last_turn + 1):
            return
        self.last_turn = max(self.last_turn, number)
        turn, seq, session = str(turn_id), record.get("seq"), record.get("session_id")
        self._remember(self.seqs, turn, max(self.seqs.get(turn, 0), seq if type(seq) is int else 0))
        if isinstance(session, str) and session:
            latest = self.sessions.get(session, "")
            is_later = (turn_number(latest) or 0) < number
            self._remember(self.sessions, session, turn if is_later else latest)
        call = record.get("tool_call_id")
        if not isinstance(call, str):
            return
        if kind == "tool_call":
            waiting = [turn, str(record.get("id")), str(record.get("tool_name") or ""), str(session or "")]
            calls = self.open.setdefault(call, [])
            if waiting not in calls:  # else the line is a copy
                calls.append(waiting)
        elif kind == "tool_result" and call in self.open:
            waiting = self.open[call].pop(_choose_call(turn, [each[0] for each in self.open[call]]))
            if not self.open[call]:
                del self.open[call]
            self._remember(self.answered, call, waiting[0])

    def _remember(self, table: dict[str, Any], name: str, value: Any) -> None:
        """Put this last and drop the oldest, but no turn whose calls wait for a result."""
        table.pop(name, None)
        table[name] = value
        if len(table) > 2 * REMEMBERED:
            waiting = (
                {call[0] for calls in self.open.values() for call in calls} if table is self.seqs else ()
            )
            for old in list(table)[:-REMEMBERED]:
                if old not in waiting:
                    del table[old]

    def pair(
        self, call_id: str | None, name: str | None, session: str
    ) -> tuple[str | None, str | None, Flag | None]:
        """Return (call id, turn, flag) of a result: the call it names, else the oldest open one of its tool."""
        if call_id is None:
            own = [
                (waiting[1], call, waiting[0])
                for call, calls in self.open.items()
                for waiting in calls
                if waiting[3] == session and (not name or waiting[2] == name)
            ]
            return (min(own)[1], min(own)[2], None) if own else (None, None, "no_call")
        if call_id in self.open:
            calls = self.open[call_id]
            return call_id, calls[_choose_call(session, [each[3] for each in calls])][0], None
        if call_id in self.answered:
            return call_id, self.answered[call_id], "second_result"
        return call_id, None, "no_call"

    def is_open(self, call_id: str, session: str) -> bool:
        """True if a call with this id waits for its result in a session."""
        return any(waiting[3] == session for waiting in self.open.get(call_id, ()))

    def tool_name(self, call_id: str | None) -> str | None:
        waiting = self.open.get(call_id or "")
        return waiting[0][2] if waiting else None

    def to_dict(self) -> Record:
        return dict(vars(self))

    @classmethod
    def from_dict(cls, raw: Record) -> TurnTally:
        """Read a tally; KeyError, TypeError or ValueError if malformed: a view may hold anything."""
        tally = cls()
        tally.last_turn = int(raw["last_turn"])
        tally.seqs = {str(turn): int(seq) for turn, seq in raw["seqs"].items()}
        tally.sessions = {str(session): str(turn) for session, turn in raw["sessions"].items()}
        tally.open = {
            str(call): [[str(part) for part in each[:4]] for each in calls if len(each) == 4]
            for call, calls in raw["open"].items()
        }
        tally.answered = {str(call): str(turn) for call, turn in raw["answered"].items()}
        return tally


def _choose_call(own: str, others: Sequence[str]) -> int:
    """Return which call a result belongs to: the oldest of its own session or turn, else the oldest."""
    return others.index(own) if own in others else 0


def turns_of(traces: Iterable[Trace]) -> list[Turn]:
    """Group traces into turns, in the order they began; each has its traces in log order."""
    found: dict[str, list[Trace]] = {}
    for trace in traces:
        found.setdefault(trace.turn_id, []).append(trace)
    return [Turn(turn_id, tuple(own)) for turn_id, own in found.items()]


def pair_results(traces: Iterable[Trace]) -> tuple[dict[str, Trace], set[str]]:
    """Return (call's trace id → its result, ids of results without a call here)."""
    waiting: dict[str, list[Trace]] = {}
    results: dict[str, Trace] = {}
    alone: set[str] = set()
    for trace in traces:
        call = trace.tool_call_id
        if trace.trace_type == "tool_call" and call is not None:
            waiting.setdefault(call, []).append(trace)
        elif trace.trace_type == "tool_result":
            calls = waiting.get(call or "")
            if calls and trace.flag is None:
                results[calls.pop(_choose_call(trace.turn_id, [each.turn_id for each in calls])).id] = trace
            else:
                alone.add(trace.id)
    return results, alone


def open_calls(traces: Iterable[Trace]) -> frozenset[str]:
    """Return the trace ids of calls that have no result here."""
    own = list(traces)
    results, _ = pair_results(own)
    return frozenset(each.id for each in own if each.trace_type == "tool_call" and each.id not in results)


def interactions(traces: Sequence[Trace]) -> list[ToolInteraction]:
    """Return every call with its outcome."""
    results, _ = pair_results(traces)
    found = []
    for trace in traces:
        if trace.trace_type == "tool_call":
            result = results.get(trace.id)
            error = result.tool_error if result else None
            status: CallStatus = "PENDING" if result is None else "ERROR" if error is not None else "SUCCESS"
            call = trace.tool_call_id or "", trace.turn_id, trace.tool_name or "", trace.tool_args
            found.append(ToolInteraction(*call, result.tool_result if result else None, error, status))
    return found


def blocks_of(turn: Turn, *, is_current: bool = False) -> list[Block]:
    """Return the blocks of a turn, each at its first trace.

    The user's message and the last answer are one pair, open while the turn is the current one; a call and its
    result are another, however late the result came.
    """
    results, _ = pair_results(turn.traces)
    answers = [trace for trace in turn.traces if trace.trace_type == "assistant"]
    pair = (*(trace for trace in turn.traces if trace.trace_type == "user"), *answers[-1:])
    second = {result.id for result in results.values()} | {trace.id for trace in pair[1:]}
    found: list[Block] = []
    for trace in turn.traces:
        if trace.id in second:
            continue
        if pair and trace is pair[0]:
            found.append(Block(pair, not is_current))
        elif trace.trace_type == "tool_call":
            result = results.get(trace.id)
            found.append(Block((trace, result) if result else (trace,), result is not None))
        else:
            found.append(Block((trace,), True))
    return found


# --- reading, from the end of the log and no further back than needed -------------------

_OPENING = 80
"""Characters of a session's first message in a list of sessions."""


def find_line(store: Store, stream: str, place: Position, name: str) -> LogLine | None:
    """Return the record at a place, if it has this id; else search for it: repair may have moved it."""
    line = next(store.read(stream, place), None)
    if line is None or line.record.get("id") != name:
        line = next((each for each in store.read_back(stream) if each.record.get("id") == name), None)
    return line


def traces_back(store: Store, stream: str) -> Iterator[Trace]:
    for line in store.read_back(stream):
        trace = Trace.from_record(line.record)
        if trace is not None:
            yield trace


def made(trace: Trace) -> float:
    """Return when a trace was recorded; `ts` is what the caller claims."""
    return time_of(trace.id) if is_id(trace.id) else trace.ts


def recent(store: Store, stream: str, since: float) -> list[Trace]:
    """Return all traces of the sessions active since then, oldest first."""
    found: list[Trace] = []
    begun: dict[str, bool] = {}
    for trace in traces_back(store, stream):
        if made(trace) >= since:
            begun.setdefault(trace.session_id, False)
        elif all(begun.values()):
            break
        if trace.session_id in begun:
            found.append(trace)
            begun[trace.session_id] = begun[trace.session_id] or trace.session_start
    return found[::-1]


def one_turn(store: Store, stream: str, turn_id: str) -> Turn | None:
    found = turn_range(store, stream, turn_id, turn_id)
    return found[0] if found else None


def turn_range(store: Store, stream: str, first: str, last: str) -> list[Turn]:
    """Return the turns from `first` to `last`, both included."""
    low, high = turn_number(first) or 0, turn_number(last) or 0
    found: list[Trace] = []
    begun: set[int] = set()
    for trace in traces_back(store, stream):
        number = turn_number(trace.turn_id) or 0
        if low <= number <= high:
            found.append(trace)
            if trace.seq == 1:
                begun.add(number)
                # A reserved turn may begin after a later one: wait until all have begun.
                if len(begun) > high - low:
                    break
    return turns_of(reversed(found))


def last_turns(store: Store, stream: str, count: int | None, session: str | None = None) -> list[Turn]:
    """Return the last `count` turns (None: all) of a session or of all, oldest first."""
    check_count("last", count)
    found: list[Trace] = []
    begun: set[str] = set()
    for trace in traces_back(store, stream):
        if count is not None and len(begun) >= count:
            break
        if session is None or trace.session_id == session:
            found.append(trace)
            if trace.seq == 1:
                begun.add(trace.turn_id)
        if session is not None and trace.session_id == session and trace.session_start:
            begun.update(each.turn_id for each in found)
            break
    else:  # the whole log: a turn whose first line is damaged counts too
        begun.update(each.turn_id for each in found)
    # A late result of an older turn may be among these; its turn is not one of the last.
    turns = [turn for turn in turns_of(reversed(found)) if turn.turn_id in begun]
    return turns if count is None else turns[max(0, len(turns) - count) :]


def sessions(store: Store, stream: str, count: int) -> list[Session]:
    """Return the last `count` sessions to begin, the latest last."""
    check_count("last", count)
    begun: list[str] = []
    firsts: dict[str, Trace] = {}
    facts: dict[str, tuple[float, set[str], int]] = {}
    for trace in traces_back(store, stream):
        last, turns, traces = facts.get(trace.session_id, (trace.ts, set(), 0))
        turns.add(trace.turn_id)
        facts[trace.session_id] = last, turns, traces + 1
        firsts[trace.session_id] = trace
        if trace.session_start:
            begun.append(trace.session_id)
            if len(begun) >= count:
                break
    else:  # the whole log: a session whose first line is damaged counts too
        begun += [session for session in facts if session not in begun]
    found = []
    for session in reversed(begun[:count]):
        first, (last, turns, traces) = firsts[session], facts[session]
        opening = " ".join(first.content.split())[:_OPENING]
        found.append(Session(session, first.ts, last, len(turns), traces, opening))
    return found
