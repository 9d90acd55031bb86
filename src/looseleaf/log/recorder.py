"""The recorder: makes each message and tool call a durable line of the log (FORMAT §11.1).

A request is checked and stripped of secrets before any byte is on disk. Turn ids are chosen and results paired with
calls under the memory's lock, from the log as it is then, so no two processes give out the same turn. `origin` follows
from the type of a trace; callers cannot set it, and only imports are stamped as such.
"""

from __future__ import annotations

import os

from looseleaf.base import ids as clock
from looseleaf.base.errors import Invalid, NotFound, Refused, Stale, is_number
from looseleaf.base.ids import is_id, new_id, time_of
from looseleaf.base.immutable import Replaceable, frozen
from looseleaf.base.messages import FARTHEST, MAY_BE_TEXT, Trace
from looseleaf.base.origins import FORBIDDEN, RECALLED, may_forbid
from looseleaf.base.paths import name_fault, safe_name
from looseleaf.base.values import NOT_GIVEN, START, Position
from looseleaf.log.turns import LIVE, RESERVED, TurnTally, traces_back, turn_name, turn_number
from looseleaf.store import records
from looseleaf.store.disk import Threads
from looseleaf.store.streams import ASKER

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from types import TracebackType
    from typing import Any, Never

    from looseleaf.base.messages import Flag, TraceType
    from looseleaf.base.values import Edition, Record
    from looseleaf.store.protocol import Store


# --- requests ---------------------------------------------------------------------------

INTERRUPTED = "interrupted"
"""The tag of a trace that was cut short."""

_MEDIA = ("images", "audio", "video")
_LONGEST_NAME = 1000


@frozen
class RecordRequest(Replaceable):
    """A trace to record, before it has an id and a turn."""

    trace_type: TraceType
    content: str = ""
    turn_id: str | None = None
    source_event: str | None = None
    media: Any = None
    reasoning: str | None = None
    tool_name: str | None = None
    tool_call_id: str | None = None
    tool_args: Any = None
    tool_result: Any = None
    tool_error: str | None = None
    tool_result_ref: str | None = None
    correlation_id: str | None = None
    opaque: Any = None
    tags: Sequence[str] = ()
    interrupted: bool = False
    ts: float | None = None
    origin: str | None = None
    """Where it entered, if its type does not say. Only `imported` sets it."""
    session: str | None = None
    """Its session, if not the recorder's own. Only `imported` sets it."""


def given_in(arguments: dict[str, Any]) -> dict[str, Any]:
    """Return the keywords that a caller gave to `record`, from its `locals()`."""
    names = ("user", "assistant", "tool_call", "tool_result", *_MORE)
    given = {name: arguments[name] for name in names if name in arguments}
    named = {name: value for name, value in given.items() if value is not None or name == "tool_result"}
    return {**named, **arguments["unknown"]}


def copy_of(value: Any) -> Any:
    """Return a JSON value that its caller can no longer change."""
    try:
        return _copy_value(value)
    except RecursionError:
        return value  # refused when it is written


def _copy_value(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _copy_value(each) for key, each in value.items()}
    return type(value)(map(_copy_value, value)) if type(value) in (list, tuple) else value


def ask(
    *,
    user: str | None = None,
    assistant: str | None = None,
    tool_call: str | None = None,
    tool_result: Any = NOT_GIVEN,
    **more: Any,
) -> RecordRequest:
    """Make a request from one of the four; `more` are further members. A tool's error alone is a result too."""
    unknown = sorted(more.keys() - _MORE)
    if unknown:
        from difflib import get_close_matches

        known = ("user", "assistant", "tool_call", "tool_result", *_MORE)
        near = get_close_matches(unknown[0], known, 1)
        advice = f"Did you mean {near[0]!r}?" if near else f"Leave it out; there are: {', '.join(known)}."
        raise Invalid(f"Nothing was recorded: a trace has no {unknown[0]!r}. {advice}")
    every: dict[TraceType, Any] = {"user": user, "assistant": assistant, "tool_call": tool_call}
    given = [(kind, value) for kind, value in every.items() if value is not None]
    if tool_result is not NOT_GIVEN or (not given and more.get("tool_error") is not None):
        given.append(("tool_result", None if tool_result is NOT_GIVEN else tool_result))
    if len(given) != 1:
        kinds = " and ".join(kind for kind, _ in given)
        what = f"{kinds} were given at once" if given else "nothing was given"
        raise Invalid(f"Nothing was recorded: {what}. Give one of user, assistant, tool_call, tool_result.")
    [(kind, value)] = given
    own = _OWN[kind]
    if own in more:
        raise Invalid(f"Nothing was recorded: {own} was given twice, once as {kind}. Leave one of them out.")
    return _check_request(RecordRequest(kind, **{own: value}, **more))


_OWN: dict[TraceType, str] = {
    "user": "content",
    "assistant": "content",
    "tool_call": "tool_name",
    "tool_result": "tool_result",
}
_STAMPED = ("origin", "session")
"""Members that callers may not set: a trace is trusted by its origin."""

_MORE = dict.fromkeys(
    name for name in RecordRequest.__match_args__ if name not in ("trace_type", "tool_result", *_STAMPED)
)


def imported(origin: str | None, session: str, **asked: Any) -> RecordRequest:
    """Make a request, as `ask`, for talk from elsewhere that a person's command imports: in its own session, and as
    data (`import:<format>`) or, without an origin, as the words of its speakers."""
    return ask(**asked).but(origin=origin, session=session)


def _check_request(asked: RecordRequest) -> RecordRequest:
    for name in ("content", "turn_id", "source_event", *MAY_BE_TEXT):
        value = getattr(asked, name)
        if value is not None and not isinstance(value, str):
            kind = type(value).__name__
            raise Invalid(f"Nothing was recorded: {name} must be text, not {kind}. Give it as text.")
    if not isinstance(asked.tags, (list, tuple)) or not all(isinstance(tag, str) for tag in asked.tags):
        raise Invalid("Nothing was recorded: tags must be a list of strings. Give one.")
    for name in ("tool_name", "tool_call_id", "source_event", "correlation_id"):
        if len(getattr(asked, name) or "") > _LONGEST_NAME:
            raise Invalid(
                f"Nothing was recorded: {name} is a name and has more than {_LONGEST_NAME:,} characters. "
                "Give a shorter one; long texts belong in content, tool_args or tool_result."
            )
    if asked.ts is not None and not (is_number(asked.ts) and abs(asked.ts) < FARTHEST):
        raise Invalid(
            "Nothing was recorded: ts must be epoch seconds. Give a number, or leave it out for now."
        )
    if asked.trace_type == "tool_call" and not asked.tool_name:
        raise Invalid("Nothing was recorded: a tool call needs the name of its tool. Give it as tool_call=…")
    if asked.opaque is not None and not isinstance(asked.opaque, dict):
        raise Invalid(
            "Nothing was recorded: opaque must be an object. Give it as the provider's dialect made it."
        )
    _check_media(asked.media)
    return asked


def redacted(asked: RecordRequest, key: bytes) -> RecordRequest:
    """Return the request with every secret replaced."""
    from looseleaf.text.secrets import redact, redact_value

    tags = (*asked.tags, INTERRUPTED) if asked.interrupted and INTERRUPTED not in asked.tags else asked.tags
    changed: dict[str, Any] = {
        "media": redact_value(_check_media(asked.media), key) if asked.media is not None else None,
        "tags": redact_value(list(tags), key) if tags else [],
    }
    for name in ("content", "source_event", *MAY_BE_TEXT):
        value = getattr(asked, name)
        changed[name] = redact(value, key) if value else value
    for name in ("tool_args", "tool_result"):
        value = getattr(asked, name)
        try:
            changed[name] = redact_value(value, key) if value is not None else None
        except (ValueError, RecursionError) as error:
            raise Invalid(
                f"Nothing was recorded: {name} cannot be written out ({error}). Give such a number as text, and "
                "nest less deeply."
            ) from error
    # `opaque` stays: it looks like one long secret, and its provider would refuse it changed.
    return asked.but(**changed)


def _check_media(given: Any) -> dict[str, list[str]] | None:
    if given is None:
        return None
    if not isinstance(given, dict) or not given.keys() <= set(_MEDIA):
        raise Invalid(f"Nothing was recorded: media must be an object with lists under {', '.join(_MEDIA)}.")
    media = {kind: given.get(kind) or [] for kind in _MEDIA}
    if not all(
        isinstance(own, (list, tuple)) and all(isinstance(each, str) for each in own)
        for own in media.values()
    ):
        raise Invalid("Nothing was recorded: media must hold addresses, as text. Give paths or URLs.")
    return {kind: list(own) for kind, own in media.items()}


# --- the recorder -----------------------------------------------------------------------

KEY = "log/key"
SCHEMA = "turns.v1"

_SAVE_EVERY = 256
"""Traces after which the view is written again: at most what a killed process leaves for the next to read."""

_BEHIND = 0.002
"""The clock is behind the log if the next id is later by more than this, in seconds."""

_KEY_BYTES = 32
_STAMPS: dict[TraceType, tuple[str, str]] = {
    "user": ("LLMUserMessageReadyEvent", "user"),
    "assistant": ("LLMCompleteResponseReceivedEvent", "assistant"),
    "tool_call": ("PendingToolInvocationEvent", "assistant"),
    "tool_result": ("ToolResultEvent", "tool"),
}
"""The source event and the origin of each type of trace."""

IMPORTED = "import"
"""The source event of imported talk."""


_TRACES = "log/traces"


def stream_of(agent: str) -> str:
    return f"traces/{agent}"


def view_of(agent: str) -> str:
    """Return the path of an agent's turns, as `encode_view` writes them."""
    return f"views/agents/{agent}/turns.json"


def encode_view(tally: TurnTally, position: Position, last: object) -> bytes:
    """Encode what the next trace's turn follows from, up to the last one, its place and id."""
    view: Record = {"position": list(position), "last": last, "tally": tally.to_dict()}
    return records.encode({"schema": SCHEMA} | view)


class Batch:
    """Traces written together, with one sync, when the block ends, even with an error.

    `traces` then has them with their ids and turns.
    """

    def __init__(self, recorder: Recorder, heed: Callable[[Trace], None] | None = None) -> None:
        self._heed = heed
        self._recorder = recorder
        self._requests: list[RecordRequest] = []
        self.traces: list[Trace] = []

    def record(
        self,
        /,
        *,
        user: str | None = None,
        assistant: str | None = None,
        tool_call: str | None = None,
        tool_args: Any = None,
        tool_result: Any = NOT_GIVEN,
        tool_error: str | None = None,
        tool_call_id: str | None = None,
        tool_name: str | None = None,
        content: str | None = None,
        tool_result_ref: str | None = None,
        reasoning: str | None = None,
        media: Mapping[str, Sequence[str]] | None = None,
        turn_id: str | None = None,
        source_event: str | None = None,
        correlation_id: str | None = None,
        opaque: Mapping[str, Any] | None = None,
        tags: Sequence[str] = (),
        interrupted: bool = False,
        ts: float | None = None,
        **unknown: Never,
    ) -> None:
        """Add a trace, as `Memory.record` does, to write when the block ends."""
        self.add(ask(**copy_of(given_in(locals()))))

    def add(self, *requests: RecordRequest) -> None:
        """Add traces that were asked for before."""
        self._requests += requests

    def __enter__(self) -> Batch:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        asked, self._requests = self._requests, []
        traces = self._recorder.record(asked)
        self.traces += traces
        if self._heed is not None:
            for each in traces:
                self._heed(each)


class Recorder:
    """The recorder of one agent, in one session. `forbids`: whether the user's words forbid remembering something."""

    def __init__(
        self,
        store: Store,
        agent: str,
        session: str | None = None,
        forbids: Callable[[str], bool] = lambda text: False,
    ) -> None:
        self._forbids = forbids
        self._store = store
        self._stream = stream_of(agent)
        self._view = view_of(agent)
        self.session = safe_name(session, "session's name") if session is not None else None
        self._key: bytes | None = None
        self._alone = Threads()
        self._is_loaded = False
        self._edition: Edition = None
        self._position: Position = START
        self._last: object = None
        self._unsaved = 0
        self._elsewhere: str | None = None
        self.spares = 0
        """Traces that a process in a hurry may leave for the next to read."""
        self.tally = TurnTally()

    def record(self, asked: Sequence[RecordRequest]) -> list[Trace]:
        """Write these, all or none, with one sync; durable on return."""
        return self.record_clean([self.cleaned(each) for each in asked])

    def cleaned(self, asked: RecordRequest) -> RecordRequest:
        """Return the request without secrets; Refused if it cannot be written."""
        return redacted(asked, self.redaction_key())

    def record_clean(self, clean: Sequence[RecordRequest]) -> list[Trace]:
        """Write requests already `cleaned`, as `record` does: cleaned one by one, a bad one can be skipped."""
        if not clean:
            return []
        with self._alone():
            if self._store.is_far and self._is_loaded and (bet := self._bet(clean)) is not None:
                return bet
            if self._position == START or self._store.edition() != self._edition:
                self.catch_up()  # may take long: not while holding the lock
            with self._store.lock():
                self.catch_up()
                traces = self._write(clean, self._store.append)
            self.save()
            return traces or []

    def _bet(self, clean: Sequence[RecordRequest]) -> list[Trace] | None:
        """Write as if no other process had written or forgotten since: one trip to the server. None: one had."""

        def append(stream: str, records: Sequence[Record]) -> list[Position] | None:
            return self._store.append_after(stream, self._position, records, self._edition)

        traces = self._write(clean, append)
        if traces is not None:
            self.save()
        else:
            self._is_loaded = False
        return traces

    def _write(
        self,
        clean: Sequence[RecordRequest],
        append: Callable[[str, Sequence[Record]], list[Position] | None],
    ) -> list[Trace] | None:
        last_turn = self.tally.last_turn
        positions: list[Position] | None = None
        try:
            traces = [self._place_trace(each) for each in clean]
            positions = append(self._stream, [trace.to_record() for trace in traces])
        finally:
            if positions is None:
                self.tally.last_turn = last_turn  # the tally ran ahead of the log
                self._forget()
        if positions is None:
            return None
        self._position, self._last = positions[-1], traces[-1].id
        self._unsaved += len(traces)
        return traces

    def _tags_of(self, asked: RecordRequest) -> tuple[str, ...]:
        """Return the tags, with `FORBIDDEN` where the user forbids remembering the message."""
        tags = tuple(asked.tags)
        if asked.trace_type != "user" or asked.origin or RECALLED in tags or not may_forbid(asked.content):
            return tags
        return (*tags, FORBIDDEN) if self._forbids(asked.content) else tags

    def start_turn(self) -> str:
        """Reserve a unique turn id; the next traces of this session belong to it."""
        with self._alone(), self._store.lock():
            self.catch_up()
            record: Record = {"id": new_id(self._last_known()), "ts": clock.now(), "kind": RESERVED}
            record |= {"turn_id": turn_name(self.tally.last_turn + 1), "session_id": self._own_session()}
            [self._position] = self._store.append(self._stream, [record])
            self._last = record["id"]
            self.tally.take(record)
            return str(record["turn_id"])

    def interrupt(self, reason: str) -> list[Trace]:
        """End every open call of this session with an error: no results will come."""
        with self._alone(), self._store.lock():
            self.catch_up()
            own = sorted(
                (waiting[1], call, waiting[2])
                for call, calls in self.tally.open.items()
                for waiting in calls
                if waiting[3] == self.session
            )
            error = f"{INTERRUPTED}: {reason}" if reason else INTERRUPTED
            result = RecordRequest("tool_result", tool_error=error, interrupted=True)
            return self.record([result.but(tool_call_id=call, tool_name=name) for _, call, name in own])

    def open_calls(self) -> list[tuple[str, float]]:
        """Return the id of each call without a result, and when it was recorded."""
        found = sorted(self.find_open_calls().items())
        now = clock.now()  # ids follow the log, whose clock may have been ahead
        return [(call, min(time_of(trace), now) if is_id(trace) else 0.0) for trace, call in found]

    def find_open_calls(self) -> dict[str, str]:
        """Return the id of each call without a result, by the id of its trace."""
        with self._alone():
            self.catch_up()
            return {waiting[1]: call for call, calls in self.tally.open.items() for waiting in calls}

    def resume(self, seconds: float) -> None:
        """Continue the agent's last session unless it is older than `seconds`."""
        last = next(traces_back(self._store, self._stream), None) if self.session is None else None
        if last is not None and last.session_id and abs(clock.now() - last.ts) < seconds:
            self.session = last.session_id

    def catch_up(self) -> None:
        """Read what this or another process recorded since. Starts at the last known record, to prove that this is
        still the same log: repair rewrites its files."""
        edition = self._store.edition()
        if not self._is_loaded or edition != self._edition:  # a forgotten session must not be named again
            self._edition = edition
            self._forget()
            self._load()
            self._is_loaded = True
        if not self._read_on():
            self._forget()
            self._read_on()

    def _read_on(self) -> bool:
        is_known = self._position == START
        for line in self._store.read(self._stream, self._position):
            if is_known:
                self.tally.take(line.record)
                self._position, self._last = line.position, line.record.get("id")
                self._unsaved += 1
            elif line.position != self._position or line.record.get("id") != self._last:
                return False
            is_known = True
        return is_known

    def _forget(self) -> None:
        floor = self.tally.last_turn  # never give out a turn twice
        self.tally = TurnTally()
        self.tally.last_turn = floor
        self._position, self._last, self._unsaved = START, None, 0

    def _load(self) -> None:
        try:
            document = self._store.get(self._view)
            raw = records.whole(document.data if document else b"")
            if raw["schema"] == SCHEMA:
                self.tally = TurnTally.from_dict(raw["tally"])
                self._position, self._last = Position(*map(int, raw["position"])), raw["last"]
                self.tally.highest = self.tally.highest or str(self._last)
        except (Refused, KeyError, TypeError, ValueError, AttributeError):
            self._forget()  # an unreadable view is rebuilt

    def save(self, *, now: bool = False) -> None:
        with self._alone():
            if self._unsaved >= _SAVE_EVERY or (now and self._unsaved > self.spares):
                self._unsaved = 0
                try:
                    data = encode_view(self.tally, self._position, self._last)
                    self._store.view(self._view, data, of=self._edition)
                except Refused:
                    pass  # only a cache

    def _last_known(self) -> str:
        """Return the highest id of this log, or of another agent's as it was when this recorder began."""
        if self._elsewhere is None:
            others = (stream_of(agent) for agent in self._store.folders(_TRACES) if name_fault(agent) is None)
            ends = (next(self._store.read_back(other), None) for other in others if other != self._stream)
            names = (str(end.record.get("id")) for end in ends if end is not None)
            self._elsewhere = max(filter(is_id, names), default="")
        return max(self.tally.highest, self._elsewhere)

    def _own_session(self) -> str:
        if self.session is None:
            self.session = new_id()
        return self.session

    def _place_trace(self, asked: RecordRequest) -> Trace:
        """Return the trace with its turn, its number there, and (for a result) its call. An imported result answers no
        call of another session: histories reuse ids."""
        event, origin = _STAMPS[asked.trace_type]
        session = self._own_session() if asked.session is None else asked.session
        is_new = session not in self.tally.sessions
        call, name = asked.tool_call_id, asked.tool_name
        turn: str | None
        flag: Flag | None = None
        if asked.trace_type == "tool_result":
            if asked.session is not None and call is not None and not self.tally.is_open(call, session):
                turn, flag = None, "no_call"
            else:
                call, turn, flag = self.tally.pair(call, name, session)
            name = name or self.tally.tool_name(call)
            turn_id = turn or self._choose_turn(asked.turn_id, session)
        else:
            turn_id = self._choose_turn(asked.turn_id, session, starts=asked.trace_type == "user")
        now = clock.now()
        ts, trace_id = now if asked.ts is None else asked.ts, new_id(self._last_known())
        # The clock is read again: a process may be held up between its time and its id.
        is_behind = time_of(trace_id) - max(clock.now(), ts) > _BEHIND and ts > now - LIVE
        if asked.trace_type in ("tool_call", "tool_result") and call is None:
            call = f"call_{trace_id}"
        trace = Trace(
            trace_id,
            ts,
            turn_id,
            self._last_seq(turn_id) + 1,
            asked.trace_type,
            asked.content,
            asked.source_event or (IMPORTED if asked.session is not None else event),
            session,
            asked.origin or origin,
            media=asked.media,
            reasoning=asked.reasoning,
            tool_name=name,
            tool_call_id=call,
            tool_args=asked.tool_args,
            tool_result=asked.tool_result,
            tool_error=asked.tool_error,
            tool_result_ref=asked.tool_result_ref,
            correlation_id=asked.correlation_id,
            opaque=asked.opaque,
            tags=self._tags_of(asked),
            flag=flag,
            session_start=is_new,
            behind=round(time_of(trace_id) - ts, 3) if is_behind else None,
            person=ASKER.get() or None,
        )
        self.tally.take(trace.to_record())
        return trace

    def _choose_turn(self, given: str | None, session: str, *, starts: bool = False) -> str:
        if given is not None:
            number = turn_number(given)
            if number is None or not 1 <= number <= self.tally.last_turn or given != turn_name(number):
                raise NotFound(
                    f"Nothing was recorded: there is no turn {given!r}. Leave turn_id out, or call start_turn()."
                )
            return given
        current = self.tally.sessions.get(session)
        if current is not None and (not starts or self.tally.seqs.get(current) == 0):
            return current
        return turn_name(self.tally.last_turn + 1)

    def _last_seq(self, turn_id: str) -> int:
        known = self.tally.seqs.get(turn_id)
        if known is not None or turn_number(turn_id) == self.tally.last_turn + 1:
            return known or 0
        last = 0  # an old turn, named by the caller
        for line in self._store.read_back(self._stream):
            seq = line.record.get("seq")
            if line.record.get("turn_id") == turn_id and type(seq) is int:
                last = max(last, seq)
                if seq == 1:
                    break
        return last

    def without_secrets(self, value: Any) -> Any:
        """Return a text or value with its secrets replaced, as in a trace."""
        from looseleaf.text.secrets import redact_value

        return redact_value(value, self.redaction_key())

    def redaction_key(self) -> bytes:
        """Return the memory's key, made once, so that a repeated secret is recognizable, and only here."""
        if self._key is None:
            document = self._store.get(KEY, 2 * _KEY_BYTES)
            if document is None:
                try:
                    self._store.put(KEY, os.urandom(_KEY_BYTES), base=None)
                except Stale:
                    pass  # another process just made it
                document = self._store.get(KEY, 2 * _KEY_BYTES)
            data = document.data if document else b""
            if len(data) != _KEY_BYTES:
                raise Refused(
                    f"Nothing was recorded: {KEY} is not {_KEY_BYTES} bytes long. Delete it; a new one is made, and "
                    "secrets seen before are not recognized as the same."
                )
            self._key = data
        return self._key
