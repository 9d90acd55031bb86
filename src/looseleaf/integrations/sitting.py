"""A sitting: one session of a coding agent, followed into the log through its hooks and its own transcript.

Every line of the transcript becomes traces once, which carry its key. The log itself says what was recorded; a view
(`views/agents/<agent>/hooks.json`) only says from where to look. Whatever became of that view or of the transcript
(cut, repeated, rewritten, copied for another session), the log is asked, and nothing is lost or recorded twice. A
prompt or an answer that a hook handed over is recognised when the transcript says it too.
"""

from __future__ import annotations

import time
from zlib import crc32

from looseleaf.absorb import belongs
from looseleaf.conversation.asked import ask
from looseleaf.conversation.record import stream_of
from looseleaf.conversation.turns import traces_back
from looseleaf.core.own_tools import is_own
from looseleaf.errors import Busy, Refused, Unwritten
from looseleaf.integrations.transcript import AT_ONCE, Said, Spot, Transcript, own_words
from looseleaf.store import codec
from looseleaf.store.ulid import is_id, time_of
from looseleaf.talk import FARTHEST, Trace
from looseleaf.values import START, Position

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from looseleaf.memory import Memory
    from looseleaf.values import Record

RECALLED = "recalled"
"""`core.gate.RECALLED`, which costs a hook more to load than all the rest."""

PROMPT, ANSWER = "hook:user-prompt", "hook:stop"
"""The `source_event` of what a hook handed over; what came from a transcript has a key (`correlation_id`)."""

SCHEMA = "hooks.v1"
_SESSIONS = 16
"""Sessions that the view knows: more than anybody has open at once."""

_WAITING = 32
"""What was handed over and not seen in the transcript yet. What never comes (a command of the agent's own) is dropped
when so much newer is there."""

_LONGEST = 8_000
"""Characters of such a text that the view holds; of a longer one it has the checksum."""

_OURS = ("id", "ts", "turn_id", "source_event", "correlation_id", "tags")
"""Members of a message that are not the caller's to give as they are."""

_TAIL = 200
_ALREADY = 2.0
"""Seconds within which the same prompt is the same: two settings may both name the hook."""

_SLACK = 600.0
"""Seconds by which the clock of a transcript may be ahead of the recording: a laptop that slept in between."""


class Sitting:
    """Whoever makes one holds the memory's lock until `save`: two hooks of one session do not read the same lines."""

    def __init__(self, memory: Memory, session: str) -> None:
        self._memory = memory
        self._store = memory.store
        self._recorder = memory._talk.recorder
        self._session = session
        self._stream = stream_of(memory.agent)
        self._view = f"views/agents/{memory.agent}/hooks.json"
        self._all = self._loaded()
        self._keys: dict[str, str] = {}
        """The lines that are known to be recorded, and the turn of each."""
        self._past: _Past | None = None
        self._start(self._all["sessions"].get(session))

    def _start(self, own: Any) -> None:
        self.given: int | None = None
        self._spot: Spot | None = None
        self._behind = False
        self._newest = 0.0
        self._turn: str | None = None
        self._waiting: list[list[str]] = []
        self._spoke: tuple[str, str, float] = ("", "", 0.0)
        self._asked: list[dict[str, Any]] = []
        self._position, self._last = START, ""
        self._since = float("inf")
        try:
            self._from_view(own)
        except (KeyError, TypeError, ValueError, AttributeError):
            self._position = START
        if self._position == START or not belongs(self._store, self._position, self._last, self._stream):
            self._anew(None)
            return
        for line in self._store.read(self._stream, self._position):
            trace = Trace.from_record(line.record)
            if trace is not None:
                self._fold(trace)

    def _from_view(self, own: Any) -> None:
        self.given = own["given"]
        self._spot = Spot(*map(int, own["spot"])) if own["spot"] is not None else None
        self._behind, self._newest = bool(own["behind"]), float(own["newest"])
        self._turn = str(own["turn"]) if own["turn"] is not None else None
        self._waiting = [[str(part) for part in each] for each in own["waiting"] if len(each) == 3]
        role, tail, ts = own["spoke"]
        self._spoke = str(role), str(tail), float(ts)
        self._position, self._last = Position(*map(int, own["position"])), str(own["last"])

    def _anew(self, since: float | None) -> None:
        """As the log has it: from a time on, or from the beginning of the session. It does not say which of the texts
        that hooks handed over were in the transcript: where the beginning of that is gone too, one that no hook saw may
        be taken for an older one that says the same."""
        self._recorder.catch_up()
        is_known = self._session in self._recorder.tally.sessions
        self._spot, self._behind, self._newest, self._turn = None, True, 0.0, None
        self._waiting, self._spoke = [], ("", "", 0.0)
        self._since = since if since is not None else float("inf")
        found: list[Trace] = []
        for trace in traces_back(self._store, self._stream) if is_known or since is not None else ():
            if since is not None and _made(trace) < since - _SLACK:
                break
            found.append(trace)
            if since is None and trace.session_id == self._session and trace.session_start:
                break
        for trace in reversed(found):
            self._fold(trace)

    def _fold(self, trace: Trace) -> None:
        if trace.correlation_id is not None:
            self._keys[trace.correlation_id] = trace.turn_id
        if trace.session_id == self._session and trace.trace_type in ("user", "assistant"):
            self._spoke = trace.trace_type, _lined(trace.content)[-_TAIL:], trace.ts
            if trace.source_event in (PROMPT, ANSWER) and trace.correlation_id is None:
                self._waiting.append([trace.trace_type, alike(trace.content), trace.turn_id])

    # --- what a hook hands over ------------------------------------------------------------

    def prompt(self, text: str) -> None:
        """What the user asks now. Not again, if the transcript has said it in this moment, or another hook."""
        said = own_words(text)
        if not said:
            return
        role, tail, ts = self._last_said()
        is_same = role == "user" and _lined(self._memory._clean(said))[-_TAIL:] == tail
        is_heard = any("user" in each for each in self._asked)
        if not (is_same and (is_heard or abs(time.time() - ts) < _ALREADY)):
            self._asked.append({"user": said, "source_event": PROMPT})

    def answer(self, text: str) -> None:
        """What the agent answered. Transcripts are often written after the hook was called: what is known of this
        answer already is how it ends."""
        if not text.strip():
            return
        role, tail, _ = self._last_said()
        if role != "assistant" or not _lined(self._memory._clean(text)).endswith(tail):
            self._asked.append({"assistant": text, "source_event": ANSWER})

    def _last_said(self) -> tuple[str, str, float]:
        """Who spoke last, how that ends, and when; also of what is still to be recorded."""
        for each in reversed(self._asked):
            role, text = _told(each)
            if role:
                return role, _lined(self._memory._clean(text))[-_TAIL:], float(each.get("ts", 0.0))
        return self._spoke

    def messages(self, given: Sequence[Any]) -> None:
        """What somebody else's agent says was said, as `Memory.record` takes it; once, where it has an `id`."""
        said: list[Said] = []
        for each in given:
            if not isinstance(each, dict):
                raise Refused(
                    'Nothing was recorded: a message is an object such as {"user": "hello"}. Give a list of them.'
                )
            own = {name: value for name, value in each.items() if name not in _OURS}
            ask(**own)
            key, ts = each.get("id"), each.get("ts")
            is_key = isinstance(key, str | int) and len(str(key)) <= _TAIL
            when = float(ts) if isinstance(ts, int | float) and abs(ts) < FARTHEST else None
            said.append(Said(f"id-{key}" if is_key else "", when, (own,)))
        self._turn = None  # what is given belongs to the prompt before it
        self._take(said)

    # --- the transcript --------------------------------------------------------------------

    def catch_up(self, path: str, at_once: int = AT_ONCE) -> None:
        """Record what the transcript says and the log does not; so many bytes of it."""
        with Transcript(path, at_once) as transcript:
            if not transcript.goes_on(self._spot):
                self._spot = None
            lines, spot, is_all = transcript.read(self._spot)
            if self._behind and self._spot is None:
                first = next((said.ts for said in lines if said.ts is not None), None)
                if first is not None:
                    self._anew(first)
            self._take(lines)
            self._spot = spot
            self._behind = self._behind and not is_all

    def _take(self, lines: Sequence[Said]) -> None:
        names: dict[str, str] = {}
        taken: set[str] = set()
        now = time.time()  # a time that is to come would make all that follows look old
        for said in lines:
            if said.key in taken:
                continue
            known = self._known(said) if said.key else None
            self._newest = max(self._newest, min(said.ts or 0.0, now))
            if known is not None:
                self._turn = known
                continue
            taken |= {said.key} if said.key else set()
            for each in said.asked:
                names |= {each["tool_call_id"]: each["tool_call"]} if _is_call(each) else {}
                if not self._was_handed_over(each):
                    self._asked.append(self._made_ready(each, said, names))

    def _known(self, said: Said) -> str | None:
        """The turn of a line that was recorded. Lines come in the order of their times: one that does not may be a
        repeated one, and the log is asked."""
        if said.key in self._keys:
            return self._keys[said.key]
        is_again = said.ts <= self._newest if said.ts is not None else not self._behind
        if not is_again and (not self._behind or (said.ts is not None and said.ts >= self._since)):
            return None
        if self._past is None:
            self._recorder.catch_up()
            self._past = _Past(self._memory, self._session, self._stream)
        self._past.read(said.ts, is_known=self._session in self._recorder.tally.sessions)
        turn = self._past.keys.get(said.key)
        if turn is None and is_again:  # it may be one that a hook had handed over
            texts = [_told(each) for each in said.asked]
            clean = [(role, alike(self._memory._clean(text))) for role, text in texts if role]
            turn = next((self._past.handed[each] for each in clean if each in self._past.handed), None)
        return turn

    def _was_handed_over(self, each: dict[str, Any]) -> bool:
        role, text = _told(each)
        if not role:
            return False
        said = alike(self._memory._clean(text))
        for at, (who, waiting, turn) in enumerate(self._waiting):
            # An answer in several parts is handed over as one, and is over with the last of them.
            is_part = role == "assistant" and f"\n{said}\n" in f"\n{waiting}\n"
            if who == role and (said == waiting or is_part):
                if waiting.endswith(said):
                    del self._waiting[at]
                self._turn = turn
                return True
        self._turn = None if role == "user" else self._turn
        return False

    def _made_ready(self, each: dict[str, Any], said: Said, names: dict[str, str]) -> dict[str, Any]:
        made = dict(each)
        if said.key:
            made["correlation_id"] = said.key
        if said.ts is not None and said.ts <= time.time():
            made["ts"] = said.ts
        if self._turn is not None and "user" not in each:
            made["turn_id"] = self._turn
        if "tool_result" in each or "tool_error" in each:
            call = each.get("tool_call_id")
            name = each.get("tool_name") or names.get(call or "")
            if name is None:  # it was called in another process
                self._recorder.catch_up()
                name = self._recorder.tally.tool_name(call)
            made |= {"tags": (RECALLED,)} if is_own(name) else {}
        return made

    def has_call(self, call: str) -> bool:
        """Whether a tool's call is recorded."""
        self._recorder.catch_up()
        tally = self._recorder.tally
        return call in tally.open or call in tally.answered

    # --- writing ---------------------------------------------------------------------------

    def _record(self) -> None:
        """All of it at once, with one sync."""
        asked, self._asked = self._asked, []
        try:
            traces = self._recorder.record([ask(**each) for each in asked])
        except (Busy, Unwritten):
            raise
        except Refused:
            traces = [trace for each in asked for trace in self._one(each)]
        for trace in traces:
            self._fold(trace)

    def _one(self, each: dict[str, Any]) -> list[Trace]:
        """What cannot be recorded (it nests too deep, a number is none) does not keep the rest from it."""
        try:
            return self._recorder.record([ask(**each)])
        except (Busy, Unwritten):
            raise
        except Refused as refused:
            self._memory._note(str(refused))
            return []

    def is_distilled(self) -> bool:
        """Whether nothing was recorded since the last distilling."""
        return bool(self._all["distilled"] == list(self._store.end(self._stream)))

    def was_distilled(self, upto: Position) -> None:
        self._all["distilled"] = list(upto)

    @property
    def end(self) -> Position:
        return self._store.end(self._stream)

    def save(self) -> None:
        """Record what is to be recorded, and write the view; that that cannot be written is no reason to refuse."""
        self._record()
        last = next(self._store.read_back(self._stream), None)
        spot = self._spot
        own: Record = {
            "given": self.given,
            "spot": [spot.file, spot.offset, spot.length, spot.line] if spot is not None else None,
            "behind": self._behind,
            "newest": self._newest,
            "turn": self._turn,
            "waiting": self._waiting if self._behind else self._waiting[-_WAITING:],
            "spoke": list(self._spoke),
            "position": list(last.end) if last is not None else list(START),
            "last": last.record.get("id") if last is not None else "",
        }
        sessions = {name: each for name, each in self._all["sessions"].items() if name != self._session}
        kept = dict([*sessions.items(), (self._session, own)][-_SESSIONS:])
        view = {"schema": SCHEMA, "distilled": self._all["distilled"], "sessions": kept}
        try:
            self._store.view(self._view, codec.encode(view))
        except Refused:
            pass

    def _loaded(self) -> Record:
        try:
            document = self._store.get(self._view)
            raw = codec.whole(document.data if document else b"")
            if raw["schema"] == SCHEMA and isinstance(raw["sessions"], dict):
                return {"distilled": raw["distilled"], "sessions": raw["sessions"]}
        except (Refused, KeyError, TypeError, ValueError):
            pass  # made again, from the log
        return {"distilled": None, "sessions": {}}


class _Past:
    """What the log knows of lines and handed-over texts, read back as far as is asked for."""

    def __init__(self, memory: Memory, session: str, stream: str) -> None:
        self._traces = traces_back(memory.store, stream)
        self._session = session
        self._reached = False
        self._since = float("inf")
        self.keys: dict[str, str] = {}
        self.handed: dict[tuple[str, str], str] = {}

    def read(self, since: float | None, *, is_known: bool) -> None:
        """Back to a time; where none is given, to the beginning of the session."""
        while not self._reached and (is_known if since is None else self._since >= since - _SLACK):
            trace = next(self._traces, None)
            if trace is None:
                self._reached = True
                return
            self._since = min(self._since, _made(trace))
            if trace.correlation_id is not None:
                self.keys.setdefault(trace.correlation_id, trace.turn_id)
            if trace.session_id == self._session:
                if trace.source_event in (PROMPT, ANSWER):
                    self.handed.setdefault((trace.trace_type, alike(trace.content)), trace.turn_id)
                if since is None and trace.session_start:
                    return


def _made(trace: Trace) -> float:
    """When it was recorded."""
    return time_of(trace.id) if is_id(trace.id) else trace.ts


def _is_call(each: dict[str, Any]) -> bool:
    return "tool_call" in each and isinstance(each.get("tool_call_id"), str)


def _told(each: dict[str, Any]) -> tuple[str, str]:
    role = next((role for role in ("user", "assistant") if isinstance(each.get(role), str)), "")
    return role, each.get(role, "")


def alike(text: str) -> str:
    """The same for texts that differ in white space only; line by line, so that a part of one is found in it."""
    lined = _lined(text)
    if len(lined) <= _LONGEST:
        return lined
    return f"{crc32(lined.encode('utf-8', 'surrogatepass')):08x}-{len(lined)}"


def _lined(text: str) -> str:
    return "\n".join(found for line in text.splitlines() if (found := " ".join(line.split())))
