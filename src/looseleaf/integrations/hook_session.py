"""One session of a coding agent, recorded from its hooks and its own transcript.

Every line of the transcript becomes traces once, which carry its key. The log itself says what was recorded; a view
(`views/agents/<agent>/hooks.json`) only says where to look from. If that view or the transcript was cut, repeated,
rewritten or copied for another session, the log decides, and nothing is lost or recorded twice. A prompt or answer from
a hook is recognized when the transcript repeats it: by the id that the client gave it, else by its text. Lines that the
client marks as typed by the user are the user's. From the first prompt of a hook on, other user lines of the transcript
are recorded as a tool's.
"""

from __future__ import annotations

import os
import time
from zlib import crc32

from looseleaf.base.errors import Busy, Invalid, Refused, Unwritten
from looseleaf.base.messages import FARTHEST, Trace
from looseleaf.base.origins import CLIENTS, FORBIDDEN, NOTED, QUIET, RECALLED, is_served
from looseleaf.base.values import START, Position
from looseleaf.integrations.transcript import (
    ANSWER,
    AT_ONCE,
    PROMPT,
    SLACK,
    TAIL,
    AgentTranscript,
    FileOffset,
    RecordedPast,
    calling_process,
    checksum_of,
    ending_of,
    is_call,
    is_gone,
    is_result,
    match_key,
    normalize_lines,
    queue_after,
    queue_without,
    read_json_view,
    speech_of,
    started_at,
    was_missed,
)
from looseleaf.log.recorder import ask, stream_of
from looseleaf.log.turns import recorded_at, traces_back
from looseleaf.pages.outside_edits import is_same_log
from looseleaf.store import TOMBSTONES, records
from looseleaf.transfer.formats.agent_lines import (
    OTHERS,
    AgentLine,
    is_key,
    prompt_key,
    split_own_words,
    split_typed,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from looseleaf.base.values import Record
    from looseleaf.memory import Memory
    from looseleaf.store.protocol import Store

UNSEEN = "hook:pre-tool"
"""The `source_event` of a note that the model's reads are unknown."""

_UNSEEN = "[what the model has read is not known]"
_CARRIED = "[what was read in another session]"

SCHEMA = "hooks.v2"
_SESSIONS = 64
"""Sessions in the view: those that were killed are read to their end when another one begins."""

_ENDED = 8
"""Sessions in the view that have ended: one may be resumed."""

_WAITING = 32
"""Texts from hooks that the transcript has not repeated yet; one that never comes is the agent's own command."""

_COPIED = 2.0
"""Seconds before a session's first event from which a line is a copy of another session's."""

_SILENT = 60.0
"""Seconds without a new line after which a session may be over, and what still waits in its queue is recorded."""

_SHOWN = 64
"""Things that were shown in a session and are not shown again."""

LEARNT = 200
"""Facts that were learned and are not told yet."""

_OURS = ("id", "ts", "turn_id", "source_event", "correlation_id", "tags")  # set here, never by the caller
_ALREADY = 2.0
"""Seconds within which an equal prompt is the same one: two settings files may name the hook."""


class HookSession:
    """A session during one hook. The caller holds the memory's lock until `save`, so that two hooks do not read the
    same lines."""

    def __init__(self, memory: Memory, session: str) -> None:
        self._memory = memory
        self._store = memory.parts.context.store
        self._recorder = memory.parts.conversation.recorder
        self.name = session
        self._stream = stream_of(memory.agent)
        self._all = read_view(memory.parts.context.store, memory.agent)
        self._keys: dict[str, str] = {}
        """The lines known to be recorded, and the turn of each."""
        self._lines: set[str] = set()
        """The lines that were read here."""
        self._elsewhere: list[tuple[str, str, float]] = []
        """Texts that hooks of other sessions brought, and when."""
        self._foreign: set[str] = set()
        """Those that another session recorded."""
        self._strangers: set[str] = set()
        """Other sessions with lines in this transcript, though it did not begin as theirs."""
        self._doubted: list[dict[str, Any]] = []
        """User lines of the transcript that no hook heard."""
        self._past: RecordedPast | None = None
        self._start(self._all["sessions"].get(session))

    def _start(self, own: Any) -> None:
        self.given: int | None = None
        self.shown: list[str] = []
        self._subject: list[int] = []
        self._spot: FileOffset | None = None
        self._behind, self._newest = False, 0.0
        self._turn: str | None = None
        self._waiting: list[list[str]] = []
        self._queue: list[str] = []
        """Checksums of the texts typed while the agent works, which it has not taken yet."""
        self.path, self.process, self._begun, self.is_over = "", "", time.time(), False
        self._spoke: tuple[str, str, float] = ("", "", 0.0)
        self._pending: list[dict[str, Any]] = []
        self._position, self._last = START, ""
        self._since = self._heard = float("inf")
        self._is_unseen = False
        try:
            self._load_view(own)
        except (KeyError, TypeError, ValueError, AttributeError):
            self._position = START
        if self._position == START or not is_same_log(self._store, self._position, self._last, self._stream):
            self._rebuild(None)
            return
        for line in self._store.read(self._stream, self._position):
            trace = Trace.from_record(line.record)
            if trace is not None:
                self._fold_trace(trace)

    def _load_view(self, own: Any) -> None:
        self.given = own["given"]
        self.shown = _strings_of(own["shown"])
        self._subject = [int(each) for each in own["subject"]]
        self._spot = FileOffset(*map(int, own["spot"])) if own["spot"] is not None else None
        self._behind, self._newest = bool(own["behind"]), float(own["newest"])
        self._turn = str(own["turn"]) if own["turn"] is not None else None
        self._waiting = [[str(part) for part in each] for each in own["waiting"] if len(each) == 3]
        self._keys |= {str(key): str(turn) for key, turn in own["keys"].items()}
        self._queue = list(map(str, own["queue"]))
        self.path, self.process = str(own["path"]), str(own["process"])
        self._begun, self.is_over = float(own["begun"]), bool(own["over"])
        role, tail, ts = own["spoke"]
        self._spoke = str(role), str(tail), float(ts)
        self._heard = float(own["heard"]) if own["heard"] is not None else float("inf")
        self._is_unseen = bool(own["unseen"])
        self._position, self._last = Position(*map(int, own["position"])), str(own["last"])

    def _rebuild(self, since: float | None) -> None:
        """Rebuild the view from the log, from a time on or from the beginning of the session. The log does not say
        which texts of hooks were in the transcript: where its beginning is gone too, a line that no hook saw may be
        taken for an older one that says the same."""
        self._recorder.catch_up()
        is_known = self.name in self._recorder.tally.sessions
        self._spot, self._behind, self._newest, self._turn = None, True, 0.0, None
        self._waiting, self._spoke = [], ("", "", 0.0)
        self._since = since if since is not None else float("inf")
        found: list[Trace] = []
        for trace in traces_back(self._store, self._stream) if is_known or since is not None else ():
            if since is not None and recorded_at(trace) < since - SLACK:
                break
            found.append(trace)
            if since is None and trace.session_id == self.name and trace.session_start:
                break
        for trace in reversed(found):
            self._fold_trace(trace)

    def _fold_trace(self, trace: Trace) -> None:
        if trace.correlation_id is not None:
            self._keys[trace.correlation_id] = trace.turn_id
            if trace.session_id != self.name:
                self._foreign.add(trace.correlation_id)
        is_handed = trace.source_event in (PROMPT, ANSWER) and trace.correlation_id is None
        if trace.session_id != self.name:
            if is_handed:
                own = (trace.trace_type, match_key(trace.content), recorded_at(trace))
                self._elsewhere.append(own)
            return
        self._begun = min(self._begun, recorded_at(trace))
        if trace.source_event == PROMPT:
            self._heard = min(self._heard, recorded_at(trace))
        self._is_unseen = trace.trace_type != "user" and (self._is_unseen or trace.source_event == UNSEEN)
        if trace.trace_type in ("user", "assistant"):
            self._spoke = trace.trace_type, ending_of(trace.trace_type, trace.content), trace.ts
            is_keyed = trace.source_event == PROMPT and str(trace.correlation_id).startswith("prompt-")
            is_keyed = is_keyed and trace.correlation_id not in self._lines
            if is_handed or is_keyed:
                role = "prompt" if is_keyed else trace.trace_type
                self._waiting.append([role, match_key(trace.content), trace.turn_id])

    # --- input of hooks --------------------------------------------------------------------

    def follow(self, path: str, at_once: int = AT_ONCE) -> None:
        """Read the transcript of the session whose client runs this hook."""
        process = calling_process()
        is_resumed = bool(self.process) and process != self.process
        self.path, self.process = path, process  # also of a file that is made later
        self.catch_up(path, at_once, started_at(process) if is_resumed else 0.0)

    def add_prompt(self, text: str, prompt: str = "", *, is_all: bool = False) -> None:
        """Add the user's prompt, unless the transcript or another hook brought it just now. `prompt`: the client's id.
        `is_all`: no transcript will report what others put into it."""
        said, is_mixed = split_typed(text)
        self._queue = queue_without(self._queue, said)
        key = {"correlation_id": prompt_key(prompt, said)} if said and is_key(prompt) else {}
        known = key.get("correlation_id", "")
        who, end, ts = self._last_said()
        is_same = (who, end) == ("user", ending_of("user", self._memory.parts.redact(said)))
        heard = next((each for each in reversed(self._pending) if "user" in each), None)
        own = match_key(self._memory.parts.redact(said))
        doubted = next((each for each in self._doubted if match_key(each["tool_result"]) == own), None)
        if doubted is not None:
            doubted |= {"user": doubted.pop("tool_result"), "source_event": PROMPT} | key
            doubted.pop("tool_name", None)
        elif (is_same or known) and heard is not None and (is_same or heard.get("correlation_id") == known):
            heard["source_event"] = PROMPT
        elif known and (turn := self._turn_of_waiting(own)):
            self._keys[known] = turn  # it waited in a queue, and was recorded from there
        elif said and known not in self._keys and (known or not is_same or abs(time.time() - ts) >= _ALREADY):
            self._pending.append({"user": said, "source_event": PROMPT} | key)
        self._heard = min(self._heard, time.time()) if said else self._heard
        if is_mixed and is_all:
            self._pending.append({"tool_result": OTHERS, "tool_name": NOTED})

    def _turn_of_waiting(self, text: str, role: str = "user") -> str:
        """Return the turn of a prompt that the transcript has not repeated yet, which then waits no longer. `role`: a
        `prompt` has an id of the client."""
        for at, (who, waiting, turn) in enumerate(self._waiting):
            if (who, waiting) == (role, text):
                del self._waiting[at]
                return turn
        return ""

    def add_answer(self, text: str) -> None:
        """Add the agent's answer, unless the transcript has it: its end identifies it. Agents often write the
        transcript after the hook."""
        if not text.strip():
            return
        role, tail, _ = self._last_said()
        if role != "assistant" or not normalize_lines(self._memory.parts.redact(text)).endswith(tail):
            self._pending.append({"assistant": text, "source_event": ANSWER})

    def _last_said(self) -> tuple[str, str, float]:
        """Return the last speaker, the end of that text, and its time, pending ones included."""
        for each in reversed(self._pending):
            role, text = speech_of(each)
            if role:
                return role, ending_of(role, self._memory.parts.redact(text)), float(each.get("ts", 0.0))
        return self._spoke

    def add_messages(self, given: Sequence[Any]) -> None:
        """Add messages of another agent, as `Memory.record` takes them; once, where they have an `id`."""
        said: list[AgentLine] = []
        for each in given:
            if not isinstance(each, dict):
                raise Invalid(
                    'Nothing was recorded: a message must be an object such as {"user": "hello"}. Give a list of them.'
                )
            own = {name: value for name, value in each.items() if name not in _OURS}
            ask(**own)
            key, ts = each.get("id"), each.get("ts")
            is_key = isinstance(key, str | int) and len(str(key)) <= TAIL
            when = float(ts) if isinstance(ts, int | float) and abs(ts) < FARTHEST else None
            said.append(AgentLine(f"id-{key}" if is_key else "", when, (own,)))
        self._turn = None  # messages belong to the prompt before them
        self._take_lines(said, is_told=True)

    @property
    def read_bytes(self) -> int:
        return self._spot.offset if self._spot is not None else 0

    def mark_unseen(self, call: str) -> None:
        """Note that the model's reads before a call are unknown, once in a turn."""
        if not self._is_unseen:
            own = {"tool_call_id": call} if call else {}
            self._pending.append({"tool_result": _UNSEEN, "tool_name": NOTED, "source_event": UNSEEN} | own)

    def catch_up(self, path: str, at_once: int = AT_ONCE, resumed: float = 0.0) -> None:
        """Read up to `at_once` bytes of the transcript, and add what the log lacks. `resumed`: when another process of
        the client went on with the session; what waited in the queue of the one before did not reach the agent."""
        with AgentTranscript(path, at_once) as transcript:
            if not transcript.is_at(self._spot):
                self._spot, self._queue = None, []
            lines, spot, is_all = transcript.read(self._spot)
            if self._behind and self._spot is None:
                first = next((said.ts for said in lines if said.ts is not None), None)
                if first is not None:
                    self._rebuild(first)
            others = {said.session for said in lines} - {self.name, ""}
            self._strangers = others - {transcript.first_session()} if others else others
            if resumed:
                before = [at for at, said in enumerate(lines, 1) if said.ts is not None and said.ts < resumed]
                end = max(before, default=0)
                self._take_lines(lines[:end])
                self._add_queued(transcript.queued_texts(resumed))
                lines = lines[end:]
            self._take_lines(lines)
            self._spot, self.path = spot, path
            self._behind = self._behind and not is_all
            if is_all and self._queue and (transcript.is_silent(_SILENT) or is_gone(self.process)):
                self._add_queued(transcript.queued_texts())

    def _add_queued(self, texts: Sequence[tuple[str, float | None]]) -> None:
        """Add the texts in the queue, which has ended with its process."""
        waiting, self._queue = set(self._queue), []
        for text, ts in texts:
            if checksum_of(text) in waiting:
                waiting.discard(checksum_of(text))
                self._pending.append(
                    {"user": text, "source_event": PROMPT} | ({"ts": ts} if ts is not None else {})
                )

    def _take_lines(self, lines: Sequence[AgentLine], *, is_told: bool = False) -> None:
        """Add the unknown ones of these lines. `is_told`: the agent's program vouches for them; not a transcript."""
        names: dict[str, str] = {}
        carried = False
        taken: set[str] = set()
        now = time.time()  # a future time would make all later lines look old
        for said in lines:
            if said.queue:
                self._queue = queue_after(self._queue, *said.queue)[-_WAITING:]
            if said.key in taken or not said.asked:
                continue
            for each in said.asked if said.is_typed else ():
                self._queue = queue_without(self._queue, each.get("user", ""))
            known = self._known_turn(said) if said.key else None
            self._newest = max(self._newest, min(said.ts or 0.0, now))
            if known is not None:
                self._turn = known
                for each in said.asked if said.key.startswith("prompt-") else ():
                    self._turn_of_waiting(
                        match_key(self._memory.parts.redact(each.get("user", ""))), "prompt"
                    )
                carried |= said.key in self._foreign and any(map(is_result, said.asked))
                continue
            taken |= {said.key} if said.key else set()
            self._lines.add(said.key)
            for each in said.asked:
                names |= {each["tool_call_id"]: each["tool_call"]} if is_call(each) else {}
                if not self._was_handed_over(each, is_keyed=said.key.startswith("prompt-")):
                    ready = self._prepare(each, said, names)
                    if "user" in ready and not (is_told or self._is_users_text(said, ready["user"])):
                        ready["tool_result"] = ready.pop("user")
                        self._doubted.append(ready)
                    self._pending.append(ready)
        note = AgentLine(f"carried-{self.name}", None, ())
        if carried and self._known_turn(note) is None:  # the session began with lines recorded for another
            self._pending.append({"tool_result": _CARRIED, "tool_name": NOTED, "correlation_id": note.key})

    def _is_users_text(self, said: AgentLine, text: str) -> bool:
        """True if a text of the transcript without a hook is the user's: the client says so, the user just said the
        same, its hook found the memory locked, or there were no hooks yet."""
        if said.is_typed and said.session not in self._strangers:
            return True
        if self._last_said()[:2] == ("user", ending_of("user", self._memory.parts.redact(text))):
            return True
        if self._heard != float("inf") and (said.ts is None or said.ts >= self._heard):
            return was_missed(self._store, self._memory.agent, self.name, text)
        return said.is_sure and said.session not in self._strangers

    def _known_turn(self, said: AgentLine) -> str | None:
        """Return the turn of a recorded line. Lines come in order of time: one that does not may be a repeat, and the
        log decides."""
        if said.key in self._keys:
            return self._keys[said.key]
        if self._is_copy(said):
            return self._turn or ""
        is_again = said.ts <= self._newest if said.ts is not None else not self._behind
        if not is_again and (not self._behind or (said.ts is not None and said.ts >= self._since)):
            return None
        if self._past is None:
            self._recorder.catch_up()
            self._past = RecordedPast(self._memory, self.name, self._stream)
        self._past.read(said.ts, is_known=self.name in self._recorder.tally.sessions)
        self._foreign |= self._past.foreign
        turn = self._past.keys.get(said.key)
        if turn is None and is_again:  # it may be a text from a hook
            texts = [speech_of(each) for each in said.asked]
            clean = [(role, match_key(self._memory.parts.redact(text))) for role, text in texts if role]
            turn = next((self._past.handed[each] for each in clean if each in self._past.handed), None)
        return turn

    def _is_copy(self, said: AgentLine) -> bool:
        """True if a line from before this session is a text that a hook of another session brought."""
        if said.ts is None or said.ts >= self._begun - _COPIED or not self._elsewhere:
            return False
        own = [
            (role, match_key(self._memory.parts.redact(text)))
            for role, text in map(speech_of, said.asked)
            if role
        ]
        return any(
            abs(ts - said.ts) < SLACK and who == role and (text == found or f"\n{text}\n" in f"\n{found}\n")
            for role, text in own
            for who, found, ts in self._elsewhere
        )

    def _was_handed_over(self, each: dict[str, Any], *, is_keyed: bool) -> bool:
        role, text = speech_of(each)
        if not role:
            return False
        said = match_key(self._memory.parts.redact(text))
        for at, (who, waiting, turn) in enumerate(self._waiting):
            # A hook brings an answer in several parts as one, which ends with the last part.
            is_part = role == "assistant" and f"\n{said}\n" in f"\n{waiting}\n"
            # The transcript of an older client may have it without what looks like the client's own.
            who = "user" if who == "prompt" and not is_keyed else who
            is_cut = role == "user" and "<" in waiting and match_key(split_own_words(waiting)[0]) == said
            if who == role and (said == waiting or is_part or is_cut):
                if waiting.endswith(said) or is_cut:
                    del self._waiting[at]
                self._turn = turn
                return True
        self._turn = None if role == "user" else self._turn
        return False

    def _prepare(self, each: dict[str, Any], said: AgentLine, names: dict[str, str]) -> dict[str, Any]:
        made = dict(each)
        if said.key:
            made["correlation_id"] = said.key
        if said.ts is not None and said.ts <= time.time():
            made["ts"] = said.ts
        if self._turn is not None and "user" not in each:
            made["turn_id"] = self._turn
        if is_result(each):
            call = each.get("tool_call_id")
            name = each.get("tool_name") or names.get(call or "")
            if name is None:  # called in another process
                self._recorder.catch_up()
                name = self._recorder.tally.tool_name(call)
            tag = RECALLED if is_served(name) else QUIET if name in CLIENTS else ""
            made |= {"tags": (tag,)} if tag else {}
        return made

    def has_call(self, call: str) -> bool:
        """True if a tool call is recorded."""
        self._recorder.catch_up()
        tally = self._recorder.tally
        return tally.is_open(call, self.name)

    def _record_pending(self) -> None:
        """Record all pending requests with one sync."""
        asked, self._pending = self._without_forgotten(self._pending), []
        try:
            traces = self._recorder.record([ask(**each) for each in asked])
        except (Busy, Unwritten):
            raise
        except Refused:
            traces = [trace for each in asked for trace in self._record_one(each)]
        for trace in traces:
            self._fold_trace(trace)
            if FORBIDDEN in trace.tags:
                self._memory.parts.obey(trace)

    def _without_forgotten(self, asked: list[dict[str, Any]]) -> list[dict[str, Any]]:
        """Return the requests without what was said before it was forgotten: a transcript still has it."""
        if not asked or next(self._store.read_back(TOMBSTONES), None) is None:
            return asked
        from looseleaf.transfer.place_items import ForgottenFilter

        forgotten = ForgottenFilter(self._store, self._memory.parts.redact)
        return [
            each for each in asked if not forgotten.is_before(each.get("ts")) or forgotten.is_unchanged(each)
        ]

    def _record_one(self, each: dict[str, Any]) -> list[Trace]:
        """Record one request; an invalid one (nested too deep, a number that is not one) does not stop the others."""
        try:
            return self._recorder.record([ask(**each)])
        except (Busy, Unwritten):
            raise
        except Refused as refused:
            self._memory.parts.note(str(refused))
            return []

    def mark_over(self) -> None:
        """Let the background process check the promises of this session."""
        self._all["over"] = list(dict.fromkeys((*self._all["over"], self.name)))[-_SESSIONS:]

    def begins_subject(self, prompt: str) -> bool:
        """True if a prompt begins a subject. Its words are kept as checksums: the view is no copy of what was said."""
        from looseleaf.recall.bearing import KEPT, is_new_subject, subject_of

        subject = [crc32(word.encode("utf-8", "surrogatepass")) for word in subject_of(prompt)]
        is_new = is_new_subject(subject, self._subject)
        self._subject = list(dict.fromkeys((*subject, *self._subject)))[:KEPT]
        return is_new

    def begin_anew(self) -> None:
        """Forget what was shown: the model has nothing of what was said before."""
        self.shown, self._subject = [], []

    def add_shown(self, keys: Sequence[str]) -> None:
        self.shown = list(dict.fromkeys((*self.shown, *keys)))[-_SHOWN:]

    @property
    def began(self) -> float | None:
        """When the first prompt was heard."""
        return self._heard if self._heard != float("inf") else None

    def take_learnt(self) -> list[str]:
        """Return what was learned since it was last told, once."""
        keys: list[str] = self._all["learnt"]
        self._all["learnt"] = []
        return keys

    def take_notices(self) -> list[str]:
        """Return the notices of the background process for the user, once."""
        notices: list[str] = self._all["told"]
        self._all["told"] = []
        return notices

    def save(self) -> None:
        """Record the pending requests, and try to write the view."""
        self._record_pending()
        last = next(self._store.read_back(self._stream), None)
        spot = self._spot
        prompts = [each for each in self._keys.items() if each[0].startswith("prompt-")]
        own: Record = {
            "given": self.given,
            "shown": self.shown,
            "subject": self._subject,
            "spot": [spot.file, spot.offset, spot.length, spot.line] if spot is not None else None,
            "behind": self._behind,
            "newest": self._newest,
            "turn": self._turn,
            "waiting": self._waiting if self._behind else self._waiting[-_WAITING:],
            "keys": dict(prompts if self._behind else prompts[-_WAITING:]),
            "queue": self._queue,
            "path": self.path if not holds_secret(os.path.basename(self.path).partition(".")[0]) else "",
            "process": self.process,
            "begun": self._begun,
            "over": self.is_over,
            "spoke": list(self._spoke),
            "heard": self._heard if self._heard != float("inf") else None,
            "unseen": self._is_unseen,
            "position": list(last.end) if last is not None else list(START),
            "last": last.record.get("id") if last is not None else "",
        }
        sessions = {name: each for name, each in self._all["sessions"].items() if name != self.name}
        ended = [name for name, each in sessions.items() if isinstance(each, dict) and each.get("over")]
        for name in ended[:-_ENDED]:
            del sessions[name]
        kept = dict([*sessions.items(), (self.name, own)][-_SESSIONS:])
        write_view(self._store, self._memory.agent, self._all | {"sessions": kept})


_SHORTEST_SECRET = 16


def unread_sessions(view: Record, but: str) -> list[tuple[str, str]]:
    """Return the other sessions whose transcript has more than was read, or whose queue is not empty; each with its
    path."""
    found: list[tuple[str, str]] = []
    for name, own in view["sessions"].items():
        path = own.get("path") if isinstance(own, dict) else None
        if name == but or not isinstance(path, str):
            continue
        try:
            size = os.stat(path).st_size
            if size > (int(own["spot"][1]) if own["spot"] else 0) or own["queue"]:
                found.append((name, path))
        except (OSError, LookupError, TypeError, ValueError):
            continue
    return found


def read_tail(memory: Memory, session: str, path: str, at_once: int = AT_ONCE) -> int:
    """Record what is unread in another session's transcript, in its name, and return how many bytes were read. The
    caller holds the memory's lock."""
    recorder = memory.parts.conversation.recorder
    own, recorder.session = recorder.session, session
    try:
        tail = HookSession(memory, session)
        before = tail.read_bytes
        tail.catch_up(path, at_once)
        tail.save()
        return tail.read_bytes - before
    except (Busy, Unwritten):
        raise
    except Refused:
        return 0
    finally:
        recorder.session = own


def is_distilled(memory: Memory) -> bool:
    """True if nothing was recorded since the last distillation."""
    end = memory.parts.context.store.end(stream_of(memory.agent))
    return end.offset == 0 or read_view(memory.parts.context.store, memory.agent)["distilled"] == list(end)


def holds_secret(name: str) -> bool:
    """True if a name that a client gave holds a secret. The usual id, of hexadecimal digits, is not looked at."""
    if len(name) < _SHORTEST_SECRET or not name.strip("0123456789abcdefABCDEF-"):
        return False
    from looseleaf.text.secrets import redact

    return redact(name, b"") != name


def read_view(store: Store, agent: str) -> Record:
    """Return what an agent's hooks know of each other. If it is lost, the log restores what it can."""
    raw = read_json_view(store, _view_path(agent))
    if raw.get("schema") != SCHEMA or not isinstance(raw.get("sessions"), dict) or "distilled" not in raw:
        raw = {"distilled": None, "sessions": {}}
    lists = {name: _strings_of(raw.get(name)) for name in ("over", "told", "said", "learnt")}
    return {"distilled": raw["distilled"], "sessions": raw["sessions"]} | lists


def write_view(store: Store, agent: str, view: Record) -> None:
    """Write the view; a failure does not matter, since the log can restore it."""
    try:
        store.view(_view_path(agent), records.encode({"schema": SCHEMA} | view))
    except Refused:
        pass


def _view_path(agent: str) -> str:
    return f"views/agents/{agent}/hooks.json"


def _strings_of(value: Any) -> list[str]:
    return [each for each in value if isinstance(each, str)] if isinstance(value, list) else []
