"""Record: what was said and done becomes a durable line of the log (FORMAT §11.1).

Turn ids and the pairing of results with calls are decided under the memory's lock, from the log as it is then; so no
two processes give out the same turn. Secrets are taken out before the first byte is written. `origin` follows from
what is recorded and is no argument of anything that callers reach; only what is imported is stamped as such.
"""

from __future__ import annotations

import os

from looseleaf.base import ids as clock
from looseleaf.base.errors import Refused, Stale
from looseleaf.base.ids import is_id, new_id, time_of
from looseleaf.base.messages import Trace
from looseleaf.base.origins import FORBIDDEN, RECALLED, may_forbid
from looseleaf.base.paths import safe_name
from looseleaf.base.values import NOT_GIVEN, START, Position
from looseleaf.log.record_request import INTERRUPTED, Asked, ask, given_in, redacted
from looseleaf.log.turns import RESERVED, Tally, turn_name, turn_number
from looseleaf.store import records
from looseleaf.store.lock import Threads

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from types import TracebackType
    from typing import Any, Never

    from looseleaf.base.messages import Flag, TraceType
    from looseleaf.base.values import Record
    from looseleaf.store.protocol import Store

KEY = "log/key"
SCHEMA = "turns.v1"

_SAVE_EVERY = 256
"""Traces after which the view is written again: what a process that was killed leaves to be read by the next."""

_KEY_BYTES = 32
_EVENTS: dict[TraceType, str] = {
    "user": "LLMUserMessageReadyEvent",
    "assistant": "LLMCompleteResponseReceivedEvent",
    "tool_call": "PendingToolInvocationEvent",
    "tool_result": "ToolResultEvent",
}
IMPORTED = "import"
"""The event by which what was said elsewhere came here."""

_ORIGINS: dict[TraceType, str] = {
    "user": "user",
    "assistant": "assistant",
    "tool_call": "assistant",
    "tool_result": "tool",
}


def _never(text: str) -> bool:
    return False


def stream_of(agent: str) -> str:
    return f"traces/{agent}"


class Batch:
    """Traces that are written together, with one sync, when the block ends; also when it ends with an error.

    They have their ids and turns then: `traces`.
    """

    def __init__(self, recorder: Recorder) -> None:
        self._recorder = recorder
        self._asked: list[Asked] = []
        self.traces: list[Trace] = []

    def record(
        self,
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
        """As `Memory.record`, but nothing is written yet."""
        self._asked.append(ask(**given_in(locals())))

    def __enter__(self) -> Batch:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        asked, self._asked = self._asked, []
        self.traces += self._recorder.record(asked)


class Recorder:
    """Records for one agent, in one session. `forbids` tells whether the user's words forbid to remember something."""

    def __init__(
        self,
        store: Store,
        agent: str,
        session: str | None = None,
        forbids: Callable[[str], bool] = _never,
    ) -> None:
        self._forbids = forbids
        self._store = store
        self._stream = stream_of(agent)
        self._view = f"views/agents/{agent}/turns.json"
        self.session = safe_name(session, "session's name") if session is not None else None
        self._key: bytes | None = None
        self._alone = Threads()
        self._is_loaded = False
        self._position: Position = START
        self._last: object = None
        self._unsaved = 0
        self.spares = 0
        """Traces that may be left for the next process to read, where this one is in a hurry."""
        self.tally = Tally()

    def record(self, asked: Sequence[Asked]) -> list[Trace]:
        """Durable when it returns, all of them or none, with one sync."""
        return self.record_clean([self.cleaned(each) for each in asked])

    def cleaned(self, asked: Asked) -> Asked:
        """Without secrets; Refused for what cannot be written out."""
        return redacted(asked, self.redaction_key())

    def record_clean(self, clean: Sequence[Asked]) -> list[Trace]:
        """As `record`, of what was `cleaned` one by one: whoever has many may pass over a bad one."""
        if not clean:
            return []
        with self._alone():
            if self._position == START:
                self.catch_up()  # it may be long: not while others wait for the lock
            return self._write(clean)

    def _write(self, clean: Sequence[Asked]) -> list[Trace]:
        with self._store.lock():
            self.catch_up()
            last_turn = self.tally.last_turn
            try:
                traces = [self._placed(each) for each in clean]
                positions = self._store.append(self._stream, [trace.to_record() for trace in traces])
            except BaseException:
                self.tally.last_turn = last_turn  # the tally ran ahead of the log
                self._forget()
                raise
            self._position, self._last = positions[-1], traces[-1].id
            self._unsaved += len(traces)
        self.save()
        return traces

    def _tags(self, asked: Asked) -> tuple[str, ...]:
        """With the tag of what the user forbids to remember: the trace itself says so."""
        tags = tuple(asked.tags)
        if asked.trace_type != "user" or asked.origin or RECALLED in tags or not may_forbid(asked.content):
            return tags
        return (*tags, FORBIDDEN) if self._forbids(asked.content) else tags

    def start_turn(self) -> str:
        """A turn id that nobody else will get; what is recorded next in this session belongs to it."""
        with self._alone(), self._store.lock():
            self.catch_up()
            record: Record = {
                "id": new_id(),
                "ts": clock.now(),
                "kind": RESERVED,
                "turn_id": turn_name(self.tally.last_turn + 1),
                "session_id": self._session(),
            }
            [self._position] = self._store.append(self._stream, [record])
            self._last = record["id"]
            self.tally.take(record)
            return str(record["turn_id"])

    def interrupt(self, reason: str) -> list[Trace]:
        """End every open call of this session with an error: their results will not come any more."""
        with self._alone(), self._store.lock():
            self.catch_up()
            own = [
                (waiting[1], call, waiting[2])
                for call, calls in self.tally.open.items()
                for waiting in calls
                if waiting[3] == self.session
            ]
            return self.record(
                [
                    Asked(
                        "tool_result",
                        tool_call_id=call,
                        tool_name=name,
                        tool_error=f"{INTERRUPTED}: {reason}" if reason else INTERRUPTED,
                        interrupted=True,
                    )
                    for _, call, name in sorted(own)
                ]
            )

    def open_calls(self) -> list[tuple[str, float]]:
        """The id of each call that has no result, and when it was recorded."""
        with self._alone():
            self.catch_up()
            found = [(waiting[1], call) for call, calls in self.tally.open.items() for waiting in calls]
        return [(call, time_of(trace) if is_id(trace) else 0.0) for trace, call in sorted(found)]

    def resume(self, seconds: float) -> None:
        """Go on in the agent's last session, unless it is older than that."""
        if self.session is None:
            for line in self._store.read_back(self._stream):
                trace = Trace.from_record(line.record)
                if trace is not None:
                    if trace.session_id and clock.now() - trace.ts < seconds:
                        self.session = trace.session_id
                    return

    # --- the tally ---------------------------------------------------------------------

    def catch_up(self) -> None:
        """Take in what this or another process recorded since. Starts with the last record known, as a proof that the
        log is still the one that was read: repair writes its files anew."""
        if not self._is_loaded:
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
        floor = (
            self.tally.last_turn
        )  # a turn that was given out once is not given out again, whatever became of it
        self.tally = Tally()
        self.tally.last_turn = floor
        self._position, self._last, self._unsaved = START, None, 0

    def _load(self) -> None:
        try:
            document = self._store.get(self._view)
            raw = records.whole(document.data if document else b"")
            if raw["schema"] == SCHEMA:
                self.tally = Tally.from_dict(raw["tally"])
                self._position, self._last = Position(*map(int, raw["position"])), raw["last"]
        except (Refused, KeyError, TypeError, ValueError, AttributeError):
            self._forget()  # a view that cannot be read is made again

    def save(self, *, now: bool = False) -> None:
        with self._alone():
            if self._unsaved >= _SAVE_EVERY or (now and self._unsaved > self.spares):
                self._unsaved = 0
                view = {"position": list(self._position), "last": self._last, "tally": self.tally.to_dict()}
                try:
                    self._store.view(self._view, records.encode({"schema": SCHEMA} | view))
                except Refused:
                    pass  # nothing that was asked for rests on it

    # --- one trace ---------------------------------------------------------------------

    def _session(self) -> str:
        if self.session is None:
            self.session = new_id()
        return self.session

    def _placed(self, asked: Asked) -> Trace:
        """With its turn, its number in it, and (a result) its call."""
        session = self._session() if asked.session is None else asked.session
        is_new = session not in self.tally.sessions
        call, name, flag = asked.tool_call_id, asked.tool_name, None
        if asked.trace_type == "tool_result":
            call, turn, flag = self._paired(call, name, session, is_imported=asked.session is not None)
            name = name or self.tally.tool_name(call)
            turn_id = turn or self._turn(asked.turn_id, session)
        else:
            turn_id = self._turn(asked.turn_id, session, starts=asked.trace_type == "user")
        trace_id = new_id()
        if asked.trace_type in ("tool_call", "tool_result") and call is None:
            call = f"call_{trace_id}"
        trace = Trace(
            trace_id,
            clock.now() if asked.ts is None else asked.ts,
            turn_id,
            self._last_seq(turn_id) + 1,
            asked.trace_type,
            asked.content,
            asked.source_event or (IMPORTED if asked.session is not None else _EVENTS[asked.trace_type]),
            session,
            asked.origin or _ORIGINS[asked.trace_type],
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
            tags=self._tags(asked),
            flag=flag,
            session_start=is_new,
        )
        self.tally.take(trace.to_record())
        return trace

    def _paired(
        self, call: str | None, name: str | None, session: str, *, is_imported: bool
    ) -> tuple[str | None, str | None, Flag | None]:
        """Of what was said elsewhere, a result answers no call of another session: histories use ids again."""
        if is_imported and call is not None and not self.tally.is_open(call, session):
            return call, None, "no_call"
        return self.tally.pair(call, name, session)

    def _turn(self, given: str | None, session: str, *, starts: bool = False) -> str:
        if given is not None:
            number = turn_number(given)
            if number is None or not 1 <= number <= self.tally.last_turn or given != turn_name(number):
                raise Refused(
                    f"Nothing was recorded: there is no turn {given!r}. Leave turn_id out, or ask start_turn() for one."
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
        last = 0  # a turn of long ago, named by the caller
        for line in self._store.read_back(self._stream):
            seq = line.record.get("seq")
            if line.record.get("turn_id") == turn_id and type(seq) is int:
                last = max(last, seq)
                if seq == 1:
                    break
        return last

    def without_secrets(self, value: Any) -> Any:
        """A text or a value with its secrets replaced, as in a trace."""
        from looseleaf.text.secrets import redact_value

        return redact_value(value, self.redaction_key())

    def redaction_key(self) -> bytes:
        """Made once for a memory, so that a secret that comes again is recognisable, and only here."""
        if self._key is None:
            document = self._store.get(KEY, 2 * _KEY_BYTES)
            if document is None:
                try:
                    self._store.put(KEY, os.urandom(_KEY_BYTES), base=None)
                except Stale:
                    pass  # another process made it in this moment
                document = self._store.get(KEY, 2 * _KEY_BYTES)
            data = document.data if document else b""
            if len(data) != _KEY_BYTES:
                raise Refused(
                    f"Nothing was recorded: {KEY} is not {_KEY_BYTES} bytes long. Delete it; a new one is made, and "
                    "secrets that were seen before are not recognised as the same."
                )
            self._key = data
        return self._key
