"""Turns: traces grouped into turns, blocks and tool pairs, the tally that numbers and pairs new ones, and the messages
that a model gets of them.

A result belongs to the oldest call of its id that has none yet: providers reuse ids, and results come in any order.

The messages are a snapshot after a compaction, then one message after another. Between two compactions the list only
grows, byte for byte: a provider's cache pays for an unchanged beginning. Only the last message may still change, while
calls of one answer are being recorded. No text in a trace can look like a heading of the snapshot.
"""

from __future__ import annotations

import json
import re
from functools import cache

from looseleaf.base.errors import check_count
from looseleaf.base.ids import is_id, time_of
from looseleaf.base.immutable import Replaceable, frozen
from looseleaf.base.messages import (
    Block,
    Message,
    ToolCallPayload,
    ToolCallSpec,
    ToolInteraction,
    ToolResultPayload,
    Trace,
    Turn,
)
from looseleaf.base.values import Position
from looseleaf.store import JOURNAL_SCHEMA
from looseleaf.text import untrusted
from looseleaf.text.untrusted import GAP, escaped, spelt

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from typing import Any

    from looseleaf.base.messages import CallStatus, Flag, MessageRole, TraceType
    from looseleaf.base.values import LogLine, Record
    from looseleaf.store.protocol import Store


# --- turns, and the tally ---------------------------------------------------------------

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
        self.highest = ""
        """The highest id."""
        self.seqs: dict[str, int] = {}
        self.sessions: dict[str, str] = {}
        self.open: dict[str, list[list[str]]] = {}
        self.answered: dict[str, str] = {}

    def take(self, record: Record) -> None:
        name = record.get("id")
        if isinstance(name, str) and name > self.highest and is_id(name):
            self.highest = name
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
        tally.last_turn, tally.highest = int(raw["last_turn"]), str(raw.get("highest", ""))
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

_LONGEST_SEGMENT = 1 << 32
"""Bytes that no sealed segment has."""


def find_line(store: Store, stream: str, place: Position, name: str) -> LogLine | None:
    """Return the record at a place, if it has this id; else search for it: repair may have moved it."""
    line = next(store.read(stream, place), None)
    if line is None or line.record.get("id") != name:
        line = next((each for each in store.read_back(stream) if each.record.get("id") == name), None)
    return line


def find_by_id(store: Store, stream: str, name: str) -> LogLine | None:
    """Return the record with this id. Ids mostly follow the log, so it is searched for where it should stand first."""
    line = _search_by_id(store, stream, name) if is_id(name) else None
    if line is None:
        line = next((each for each in store.read_back(stream) if each.record.get("id") == name), None)
    return line


def _search_by_id(store: Store, stream: str, name: str) -> LogLine | None:
    """Halve the log until the line is found, or is not where it should be."""

    def first_after(place: Position) -> LogLine | None:
        line = next(store.read(stream, place), None)
        return line if line is None or is_id(str(line.record.get("id"))) else None

    end = store.end(stream)
    low, high = 1, end.segment + 1
    while high - low > 1:
        middle = (low + high) // 2
        line = first_after(Position(middle, 0))
        if line is not None and str(line.record["id"]) <= name:
            low = middle
        else:
            high = middle
    first, last = 0, end.offset if low == end.segment else _LONGEST_SEGMENT
    while True:
        middle = (first + last) // 2
        line = first_after(Position(low, middle))
        if line is not None and line.record["id"] == name:
            # From inside a line, its rest may be read as a record; a line begins where one ends.
            is_line = line.position.offset == 0 or store.line_before(stream, line.position) is not None
            return line if is_line else first_after(line.position._replace(offset=line.position.offset - 1))
        if last - first <= 1:
            return None
        if line is not None and line.position.segment == low and str(line.record["id"]) < name:
            first = middle
        else:
            last = middle


def through_members(store: Store, stream: str, position: Position) -> Record:
    """Return how a record of the journal says how far a stream was read: the place, the id of the record before it, and
    the checksum of the log up to it (FORMAT §4.5)."""
    before = store.line_before(stream, position) or {}
    return {"through": list(position), "last": before.get("id"), "sum": store.sum(stream, position)}


def mark_record(store: Store, stream: str, mark: Mark, ts: float) -> Record:
    """Return the record of the journal for a mark, with the checksum of the log up to it (FORMAT §4.5, §11.7)."""
    record: Record = {"schema": JOURNAL_SCHEMA, "id": mark.id, "ts": ts}
    return record | {"sum": store.sum(stream, Position(*mark.until))} | mark.to_record()


def traces_back(store: Store, stream: str) -> Iterator[Trace]:
    for line in store.read_back(stream):
        trace = Trace.from_record(line.record)
        if trace is not None:
            yield trace


def traces_naming(store: Store, stream: str, name: str) -> Iterator[Trace]:
    """Yield the traces of a session or of a turn, and perhaps others, newest first."""
    from looseleaf.index.said import parts_of_name
    from looseleaf.log.said_lines import lines_with

    for line in lines_with(store, stream, parts_of_name(name)):
        trace = Trace.from_record(line.record)
        if trace is not None:
            yield trace


def recorded_at(trace: Trace) -> float:
    """Return when a trace was recorded, by the clock of then; `ts` is what the caller claims."""
    return time_of(trace.id) - (trace.behind or 0.0) if is_id(trace.id) else trace.ts


LIVE = 86_400.0
"""What was said less than these seconds before it was recorded is live talk: it counts as said after all that the log
has (FORMAT §13.12)."""

_NOW_SECONDS = 1.0
"""A time that is later than the recording by no more than this is no time to come."""


def order_of(trace: Trace) -> float:
    """Return the place of a trace in the order of what was said (FORMAT §13.12): its time. Where the clock was behind
    the log, or the time was still to come, that of its id: the order of the log."""
    said = trace.ts + (trace.behind or 0.0)
    made = time_of(trace.id) if is_id(trace.id) else said
    return said if said <= made + _NOW_SECONDS else made


def last_said(traces: Iterable[Trace]) -> float:
    """Return the time of the trace that was said last."""
    return max(traces, key=order_of).ts


def recent(store: Store, stream: str, since: float) -> list[Trace]:
    """Return all traces of the sessions active since then, oldest first."""
    found: list[Trace] = []
    begun: dict[str, bool] = {}
    for trace in traces_back(store, stream):
        if recorded_at(trace) >= since:
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
    for trace in traces_naming(store, stream, first) if first == last else traces_back(store, stream):
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
    for trace in traces_back(store, stream) if session is None else traces_naming(store, stream, session):
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


# --- messages for a model ---------------------------------------------------------------

EARLIER = "[MEMORY:EARLIER]"
EPISODIC = "[MEMORY:EPISODIC]"
SEMANTIC = "[MEMORY:SEMANTIC]"
RECENT = "[RECENT TURNS]"

MESSAGE_TOKENS = 4
"""Tokens a provider adds to each message for its role and its ends."""

OPAQUE_CHARS = 4
"""Characters of a provider's opaque data counted as one token."""

MEDIUM_TOKENS = 1100
"""Tokens of a picture, roughly: a large one, in tiles, at the providers that publish it."""


@cache
def _heading_pattern() -> re.Pattern[str]:
    """Match `[MEMORY:`, which begins every heading of a prompt, and the heading of the last turns. Compiled on first
    use: recording never needs it."""
    recent = rf"{spelt('RECENT')}[\x00-\x20\x7f_-]*+{spelt('TURNS')}{GAP}\]"
    return re.compile(rf"(?<!\\)\[(?={GAP}(?:{spelt('MEMORY')}{GAP}:|{recent}))")


LABELS: dict[TraceType, str] = {
    "user": "User",
    "assistant": "Assistant",
    "tool_call": "Tool call",
    "tool_result": "Tool result",
}


@frozen
class Mark(Replaceable):
    """Where the window begins since the last compaction, and what replaces the talk before.

    `start`: the place and id of the trace to read from; `far`: places and ids of open calls before it. Of the traces
    up to `since` (whose place is `until`), those in `tail` are shown as text, those in `held` as messages, the others
    not at all; `short` has the stand-ins for those that are too long. `left`: the first and the last turn that left
    before they were distilled, and the place of the latter's end; mostly none did.
    """

    id: str
    agent: str
    entry: str | None
    since: str
    until: tuple[int, int]
    start: tuple[int, int, str]
    far: tuple[tuple[int, int, str], ...] = ()
    tail: tuple[str, ...] = ()
    held: tuple[str, ...] = ()
    short: tuple[tuple[str, str], ...] = ()
    episodic: tuple[tuple[str, str], ...] = ()
    semantic: tuple[str, ...] = ()
    left: tuple[str, str, int, int] | tuple[()] = ()

    def to_record(self) -> Record:
        members = {name: _lists_of(getattr(self, name)) for name in Mark.__match_args__[1:]}
        if not self.left:
            del members["left"]
        return {"kind": "mark"} | members

    @classmethod
    def from_record(cls, record: Record) -> Mark:
        """Read a mark; KeyError, TypeError or ValueError if it is malformed."""
        return cls(
            str(record["id"]),
            str(record["agent"]),
            record["entry"],
            str(record["since"]),
            (int(record["until"][0]), int(record["until"][1])),
            _parse_place(record["start"]),
            tuple(_parse_place(each) for each in record["far"]),
            tuple(map(str, record["tail"])),
            tuple(map(str, record["held"])),
            tuple((str(trace), str(text)) for trace, text in record["short"]),
            tuple((str(entry), str(text)) for entry, text in record["episodic"]),
            tuple(map(str, record["semantic"])),
            _parse_left(record.get("left")),
        )


def _lists_of(value: Any) -> Any:
    return [_lists_of(each) for each in value] if isinstance(value, tuple) else value


def _parse_place(raw: Any) -> tuple[int, int, str]:
    segment, offset, trace = raw
    return int(segment), int(offset), str(trace)


def _parse_left(raw: Any) -> tuple[str, str, int, int] | tuple[()]:
    if not raw:
        return ()
    first, last, segment, offset = raw
    return str(first), str(last), int(segment), int(offset)


def guard(text: str) -> str:
    """Escape what reads as a heading of the snapshot."""
    return escaped(text, _heading_pattern(), "[")


def guard_value(value: Any) -> Any:
    """Escape headings in lists and objects too, also in keys, which a provider writes out."""
    if isinstance(value, str):
        return guard(value)
    if isinstance(value, dict):
        guarded: dict[str, Any] = {}
        for key, each in value.items():
            name = guard(key)
            while name in guarded:  # two keys that differed by the backslash alone
                name = f"\\{name}"
            guarded[name] = guard_value(each)
        return guarded
    return [guard_value(each) for each in value] if isinstance(value, list) else value


def messages_of(traces: Iterable[Trace], short: Mapping[str, str] | None = None) -> list[Message]:
    """Return a message per trace; adjacent calls within a turn are one answer of the model, so one message."""
    found: list[Message] = []
    extend(found, traces, short)
    return found


def extend(
    messages: list[Message],
    traces: Iterable[Trace],
    short: Mapping[str, str] | None = None,
    before: Trace | None = None,
) -> None:
    """Append the messages of `traces`; `before` is the trace of the last message."""
    for trace in traces:
        message = message_of(trace, (short or {}).get(trace.id))
        is_call = before is not None and before.trace_type == trace.trace_type == "tool_call"
        if is_call and before is not None and before.turn_id == trace.turn_id:
            calls = (*_calls_of(messages[-1]), *_calls_of(message))
            texts = [text for text in (messages[-1].content, message.content) if text]
            joined = guard("\n".join(texts)) or None
            messages[-1] = Message("assistant", joined, tool_payload=ToolCallPayload(calls))
        else:
            messages.append(message)
        before = trace


def _calls_of(message: Message) -> tuple[ToolCallSpec, ...]:
    return message.tool_payload.tool_calls if isinstance(message.tool_payload, ToolCallPayload) else ()


def message_of(trace: Trace, short: str | None = None) -> Message:
    """Return a trace's message. `short` replaces its text, arguments or result."""
    content = guard(short if short is not None else trace.content)
    names = guard(trace.tool_call_id or trace.id), guard(trace.tool_name or "")
    if trace.trace_type == "tool_call":
        arguments = {} if trace.tool_args is None else guard_value(trace.tool_args)
        if short is not None:
            arguments, content = {"left_out": content}, ""
        call = ToolCallSpec(*names, arguments, trace.opaque if short is None else None)
        return Message("assistant", content or None, tool_payload=ToolCallPayload((call,)))
    addresses = ((trace.media or {}).get(kind) or () for kind in ("images", "audio", "video"))
    images, audio, video = (tuple(guard(str(each)) for each in own) for own in addresses)
    if trace.trace_type == "tool_result":
        result = guard_value(trace.tool_result) if short is None else None
        if content:  # a stand-in, or a tool's words beside (or instead of) a value
            result = content if result is None else {"content": content, "result": result}
        error = guard(trace.tool_error) if trace.tool_error is not None else None
        if short is not None and error is not None:
            result, error = None, content
        return Message("tool", None, None, images, audio, video, ToolResultPayload(*names, result, error))
    reasoning = guard(trace.reasoning) if trace.reasoning is not None and short is None else None
    opaque = trace.opaque if short is None else None
    role: MessageRole = "user" if trace.trace_type == "user" else "assistant"
    return Message(role, content, reasoning, images, audio, video, opaque=opaque)


def texts_of(message: Message) -> Iterator[str]:
    """Yield every text of a message as the model will read it."""
    for text in (message.content, message.reasoning_content):
        if text:
            yield text
    payload = message.tool_payload
    if isinstance(payload, ToolCallPayload):
        for call in payload.tool_calls:
            yield f"{call.id} {call.name} {as_text(call.arguments)}"
    elif payload is not None:
        yield f"{payload.tool_call_id} {payload.tool_name} {as_text(payload.tool_result)}"
        if payload.tool_error is not None:
            yield payload.tool_error


def media_tokens(message: Message) -> int:
    """Return the tokens that no vocabulary counts: media, and a provider's opaque data."""
    media = len(message.image_urls) + len(message.audio_urls) + len(message.video_urls)
    sealed = [message.opaque, *(call.opaque for call in _calls_of(message))]
    return MEDIUM_TOKENS * media + sum(len(as_text(each)) for each in sealed if each) // OPAQUE_CHARS


def as_text(value: Any) -> str:
    """Return a value as providers get it: text as it is, anything else as compact JSON."""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def snapshot(mark: Mark, tail: Sequence[Trace]) -> Message | None:
    """Return what a compaction kept: summaries, facts, and the last turns as they were."""
    short = dict(mark.short)
    parts = []
    word = untrusted.word(mark.id)
    if mark.left:
        first, last = (turn_number(turn) or _one_line(turn) for turn in mark.left[:2])
        parts.append(f"{EARLIER}\nTurns {first} to {last} are in the log, and were not distilled yet.")
    if mark.episodic:
        # A summary may quote a tool's result.
        texts = enumerate((_indent_lines(text, 3) for _, text in mark.episodic), 1)
        summaries = untrusted.inert("\n".join(f"{number}) {text}" for number, text in texts), word)
        fence = untrusted.notice(word), untrusted.opened(word)
        parts.append("\n".join((EPISODIC, *fence, summaries, untrusted.closed(word))))
    if mark.semantic:
        lines = (f"- {untrusted.inert(_one_line(text), word)}" for text in mark.semantic)
        parts.append("\n".join((SEMANTIC, *lines)))
    if tail:
        is_foreign = any(trace.trace_type == "tool_result" for trace in tail)
        notice = (untrusted.notice(word),) if is_foreign and not mark.episodic else ()
        parts.append("\n".join((RECENT, *notice, *recent_lines(tail, short, word))))
    return Message("user", "\n\n".join(parts)) if parts else None


def recent_lines(tail: Sequence[Trace], short: Mapping[str, str], word: str) -> Iterator[str]:
    """Yield the last turns as text. Tool results are fenced: here no message of their own marks them as such."""
    for turn in turns_of(tail):
        yield f"Turn {turn_number(turn.turn_id) or _one_line(turn.turn_id)}:"
        for trace in turn.traces:
            show = untrusted.fenced if trace.trace_type == "tool_result" else untrusted.inert
            text = show(trace_text(trace, short.get(trace.id)), word)
            yield f"  {LABELS[trace.trace_type]}: {_indent_lines(text, 4)}"


def trace_text(trace: Trace, short: str | None = None) -> str:
    """Return a trace as one text. `short` replaces what is too long; a tool's name always stays."""
    name = trace.tool_name or ""
    if trace.trace_type == "tool_call":
        arguments = as_text({} if trace.tool_args is None else trace.tool_args)
        parts = (name, arguments, trace.content) if short is None else (name, short)
        return " ".join(part for part in parts if part)
    if trace.trace_type == "tool_result":
        if short is not None:
            return short
        lines = [trace.content] if trace.content else []
        if trace.tool_error is not None:
            lines.append(f"error: {trace.tool_error}")
        if trace.tool_result is not None or not lines:
            lines.append(as_text(trace.tool_result))
        return "\n".join(lines)
    media = sum(map(len, (trace.media or {}).values()))
    with_media = f" (with {media} pictures or recordings)" if media else ""
    return (short if short is not None else trace.content) + with_media


def _indent_lines(text: str, indent: int) -> str:
    """Indent all lines but the first, so that none stands where a heading or a label would."""
    return f"\n{' ' * indent}".join(guard(text).splitlines())


def _one_line(text: str) -> str:
    return " ".join(guard(text).split())
