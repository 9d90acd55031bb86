"""Reading what was said: turns, sessions, the tail; from the end of the log, and no further back than is asked for.

The first trace of a turn has the number 1 and stands before all others of it, and turns begin in the order of their
numbers. So whoever reads back has the whole of a turn when its first trace comes.
"""

from __future__ import annotations

from looseleaf.base.ids import is_id, time_of
from looseleaf.base.messages import Session, Trace
from looseleaf.log.turns import turn_number, turns_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from looseleaf.base.messages import Turn
    from looseleaf.store.protocol import Store

_OPENING = 80
"""Characters of its first message that a list of sessions shows."""


def traces_back(store: Store, stream: str) -> Iterator[Trace]:
    for line in store.read_back(stream):
        trace = Trace.from_record(line.record)
        if trace is not None:
            yield trace


def made(trace: Trace) -> float:
    """When it was recorded; `ts` is what somebody says."""
    return time_of(trace.id) if is_id(trace.id) else trace.ts


def recent(store: Store, stream: str, since: float) -> list[Trace]:
    """All traces of the sessions in which something was recorded since then, oldest first."""
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


def last_turns(store: Store, stream: str, count: int, session: str | None = None) -> list[Turn]:
    """The last so many turns (of a session), oldest first."""
    return _collect(
        store, stream, lambda trace: session is None or trace.session_id == session, count, session
    )


def one_turn(store: Store, stream: str, turn_id: str) -> Turn | None:
    found = turn_range(store, stream, turn_id, turn_id)
    return found[0] if found else None


def turn_range(store: Store, stream: str, first: str, last: str) -> list[Turn]:
    """The turns from `first` to `last`, both included."""
    low, high = turn_number(first) or 0, turn_number(last) or 0
    found: list[Trace] = []
    begun: set[int] = set()
    for trace in traces_back(store, stream):
        number = turn_number(trace.turn_id) or 0
        if low <= number <= high:
            found.append(trace)
            if trace.seq == 1:
                begun.add(number)
                # A turn that was reserved may begin after a later one: all of them must have been seen.
                if len(begun) > high - low:
                    break
    return turns_of(reversed(found))


def session_turns(store: Store, stream: str, session: str) -> list[Turn]:
    return _collect(store, stream, lambda trace: trace.session_id == session, None, session)


def _collect(
    store: Store, stream: str, is_wanted: Callable[[Trace], bool], count: int | None, session: str | None
) -> list[Turn]:
    found: list[Trace] = []
    begun: set[str] = set()
    for trace in traces_back(store, stream):
        if count is not None and len(begun) >= count:
            break
        if is_wanted(trace):
            found.append(trace)
            if trace.seq == 1:
                begun.add(trace.turn_id)
        if session is not None and trace.session_id == session and trace.session_start:
            begun.update(each.turn_id for each in found)
            break
    else:  # all of the log: a turn whose first line is damaged is one too
        begun.update(each.turn_id for each in found)
    # A late result of an older turn stands among these; its turn is not one of the last.
    turns = [turn for turn in turns_of(reversed(found)) if turn.turn_id in begun]
    return turns if count is None else turns[max(0, len(turns) - count) :]


def sessions(store: Store, stream: str, count: int) -> list[Session]:
    """The last so many sessions to begin, the latest last."""
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
    else:  # all of the log: a session whose first line is damaged is one too
        begun += [session for session in facts if session not in begun]
    return [
        Session(
            session,
            firsts[session].ts,
            facts[session][0],
            len(facts[session][1]),
            facts[session][2],
            " ".join(firsts[session].content.split())[:_OPENING],
        )
        for session in reversed(begun[:count])
    ]
