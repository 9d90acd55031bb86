"""The hooks of a coding agent: they give a new session the snapshot, record prompts and answers, distill them, and
record what the model has read before it writes to the memory. They speak the JSON of Claude Code's hooks, and a plain
form for other agents (docs/HOOKS.md).

Invariant: a hook never stands in the way. It never retries, reports failures to the user in a sentence, and stops one
thing only: a write to this memory while it is unknown what the model has read.
"""

from __future__ import annotations

import json
import time
from zlib import crc32

from looseleaf.base.errors import Busy, Invalid, Refused, Unwritten
from looseleaf.base.immutable import Replaceable, frozen
from looseleaf.base.paths import REVIEW, safe_name
from looseleaf.base.values import sha256
from looseleaf.integrations import detached
from looseleaf.integrations.hook_session import (
    HookSession,
    holds_secret,
    is_distilled,
    read_tail,
    read_view,
    unread_sessions,
)
from looseleaf.integrations.transcript import AT_ONCE, WHILE_ASKED, NoTranscript, note_missed
from looseleaf.transfer.formats.agent_lines import split_typed

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from looseleaf.integrations.spool import Spool
    from looseleaf.memory import Memory

SESSION_START, USER_PROMPT, PRE_TOOL = "session-start", "user-prompt", "pre-tool"
PRE_COMPACT, STOP = "pre-compact", "stop"

LONGEST = 32 * 1024 * 1024
"""The most bytes of a hook's input: longer than any prompt, and quick to read."""

SPARED = 64
"""Traces that a prompt's hook leaves for the next one to read: that is quicker than a new view each time."""


LAGS = (0.1, 0.2)
"""Seconds to wait before a transcript without the current call is read again: agents write it a little later."""


@frozen
class Given(Replaceable):
    """The input of a hook. `prompt_id` and `call`: the client's ids of a prompt and of a tool call; `agent`: of the
    sub-agent that calls. `is_end`: the session ends. `form`: that of the answer; plain, as the input, or a client's."""

    session: str
    transcript: str | None
    prompt: str
    prompt_id: str
    answer: str
    source: str
    call: str
    agent: str
    is_end: bool
    messages: tuple[Any, ...]
    form: str

    @property
    def is_plain(self) -> bool:
        return self.form == "plain"


HELD_UP = (
    "Nothing was written: another program holds the memory's lock, so the sources of this text could not be checked. "
    "Call the tool again in a moment."
)

NOT_THERE = (
    "Nothing was written: the memory is elsewhere, and what was read before this text is not there yet, so its sources "
    "could not be checked. Call the tool again in a moment."
)


@frozen
class HookReply:
    """The answer of a hook: a text for the model, sentences for the user, or why the model may not write now.
    `event`: Claude Code's name of the event, which goes with a text for the model."""

    context: str = ""
    message: str = ""
    denied: str = ""
    event: str = "SessionStart"

    def to_dict(self, form: str = "claude") -> dict[str, Any]:
        if form == "plain":
            told = {"context": self.context, "message": self.message, "deny": self.denied}
            return {name: text for name, text in told.items() if text}
        made: dict[str, Any] = {"systemMessage": self.message} if self.message else {}
        if self.context:
            own = {"hookEventName": self.event, "additionalContext": self.context}
            made |= {"hookSpecificOutput": own, "suppressOutput": True}
        if self.denied and form == "gemini":
            made |= {"decision": "deny", "reason": self.denied}
        elif self.denied:
            why = {"permissionDecision": "deny", "permissionDecisionReason": self.denied}
            made["hookSpecificOutput"] = {"hookEventName": "PreToolUse"} | why
        return made


def given_in(data: bytes) -> Given:
    if len(data) > LONGEST:
        raise _bad_input(f"it is longer than {LONGEST // 1024 // 1024} megabytes")
    try:
        raw = json.loads(data)
    except (ValueError, RecursionError) as error:  # also bytes that are not UTF-8
        raise _bad_input(f"it is not JSON: {str(error)[:100]}") from error
    if not isinstance(raw, dict):
        raise _bad_input("it is not an object")
    is_plain = "session" in raw and "session_id" not in raw
    session = raw.get("session" if is_plain else "session_id")
    if not isinstance(session, str) or not session:
        raise _bad_input("it names no session")
    messages, event = raw.get("messages") if is_plain else None, raw.get("hook_event_name")
    return Given(
        session_name(session),
        _text_field(raw, "transcript" if is_plain else "transcript_path") or None,
        _own_part(_text_field(raw, "prompt"), event),
        _text_field(raw, "prompt_id") or _text_field(raw, "turn_id"),
        _text_field(raw, "answer" if is_plain else "last_assistant_message")
        or _text_field(raw, "prompt_response"),
        _text_field(raw, "source"),
        _text_field(raw, "call" if is_plain else "tool_use_id"),
        _text_field(raw, "agent_id"),
        event == "SessionEnd",
        tuple(messages) if isinstance(messages, list) else (),
        "plain" if is_plain else "gemini" if event in _OF_GEMINI else "claude",
    )


_OF_GEMINI = ("BeforeAgent", "BeforeTool", "AfterAgent")
"""Events of Gemini CLI, whose answers have another form."""


def _own_part(prompt: str, event: object) -> str:
    """Return a prompt without what Gemini CLI puts before it: what our hook answered."""
    if event not in _OF_GEMINI:
        return prompt
    from looseleaf.transfer.formats.agent_dialects import without_context

    return without_context(prompt)


def _text_field(raw: dict[str, Any], name: str) -> str:
    value = raw.get(name)
    return value if isinstance(value, str) else ""


def _bad_input(why: str) -> Refused:
    return Invalid(
        f"The hook did nothing: its standard input was not understood ({why}). docs/HOOKS.md describes the input."
    )


def session_name(session: str) -> str:
    """Return a session's id as a name; one that cannot name a file, or is a secret, gets another, always the same."""
    try:
        name = safe_name(session, "session's name")
    except Refused:
        name = ""
    is_fit = name and not holds_secret(name)
    return name if is_fit else f"session-{sha256(session.encode('utf-8', 'surrogatepass'))[:16]}"


def handle_event(memory: Memory, event: str, given: Given, spool: Spool | None = None) -> HookReply:
    """Handle an event of a session, and return the answer. The memory was opened for it. `spool`: it only keeps what is
    recorded, for a memory elsewhere."""
    if given.agent and event != PRE_TOOL:
        return HookReply()  # a sub-agent is told by another agent, not by the user
    if event == SESSION_START:
        return _start_session(memory, given, spool)
    if event == USER_PROMPT:
        told, text = _record_prompt(memory, given, spool)
        return HookReply(text, _format_notices(told), event="UserPromptSubmit")
    if event == PRE_TOOL:
        _record_reads(memory, given)
        is_there = spool is None or spool.deliver_now(memory)
        return HookReply() if is_there else HookReply(denied=NOT_THERE)
    return _end_turn(memory, given, spool, is_over=event == STOP)


def _start_session(memory: Memory, given: Given, spool: Spool | None) -> HookReply:
    """Return the snapshot, once. A resumed session has it already, unless it changed; one that was cleared or compacted
    has not. Before that, take what a killed session left."""
    is_new = given.source in ("", "startup")
    said: list[str] = []
    learnt: list[str] = []
    try:
        _take_tails(memory, given.session, spool)
        if spool is not None:
            spool.start(memory)
        elif not is_distilled(memory):
            detached.finish(memory)
    except (Busy, Unwritten):
        pass
    text = memory.views.snapshot(quick=True).text if spool is None else spool.snapshot()
    name = crc32(text.encode("utf-8", "surrogatepass"))
    try:
        with memory.parts.context.store.lock():
            session = HookSession(memory, given.session)
            said = session.take_notices()
            learnt = session.take_learnt() if is_new else []
            is_given = given.source == "resume" and session.given == name
            if not is_given or said or learnt:
                session.given = name
                if given.source != "resume":
                    session.begin_anew()
                session.save()
        text = "" if is_given else text
    except (Busy, Unwritten):
        pass  # return the snapshot anyway; at worst it comes twice
    news = _news(memory, learnt) if is_new and spool is None else []
    return HookReply(text, _format_notices([*news, *said, *memory.notes]))


def _take_tails(memory: Memory, but: str, spool: Spool | None) -> None:
    """Record what other sessions left unread: one that was killed has no hook that would do it. What is too much for a
    hook is left to the background."""
    store = memory.parts.context.store
    budget = left = AT_ONCE // 4
    for session, path in unread_sessions(read_view(store, memory.agent), but):
        if left > 0:
            with store.lock():
                left -= max(1, read_tail(memory, session, path, left))
    if left < budget // 2 and spool is None:
        detached.start(memory)


def _news(memory: Memory, learnt: list[str]) -> list[str]:
    """Say what was learned, and how much waits for the user. The page itself tells the latter: no fact is looked up."""
    document = memory.parts.context.store.get(REVIEW)
    waiting = document.data.count(b"\n- [ ] ") if document is not None else 0
    if not learnt and not waiting:
        return []
    from looseleaf.integrations.learnt import facts_of, learnt_line

    line = learnt_line(facts_of(learnt, memory.parts.known) if learnt else [], waiting)
    return [line] if line else []


def _record_prompt(memory: Memory, given: Given, spool: Spool | None) -> tuple[list[str], str]:
    """Record the prompt, and before it the answers since the last one: agents often write the transcript after the
    hooks of an answer. An unreadable transcript is reported when the answer ends. Return the notices for the user, and
    what bears on the prompt for the model."""
    memory.parts.conversation.recorder.spares = SPARED
    said = split_typed(given.prompt)[0]
    try:
        with memory.parts.context.store.lock():
            session = HookSession(memory, given.session)
            _try_follow(session, given, WHILE_ASKED)
            if given.prompt.strip():
                session.add_prompt(given.prompt, given.prompt_id, is_all=given.transcript is None)
            told = session.take_notices()
            is_new = spool is None and memory.policy.recall_on_prompt and session.begins_subject(said)
            session.save()
    except Busy:
        note_missed(memory.parts.context.store, memory.agent, given.session, said)
        raise
    return told, _recall_on(memory, session, said) if is_new else ""


def _recall_on(memory: Memory, session: HookSession, prompt: str) -> str:
    """Return what clearly bears on a prompt, and keep that it was shown. The prompt is recorded, whatever happens."""
    from looseleaf.prompt.bearing import bearing_on

    try:
        found = bearing_on(
            memory.parts,
            prompt,
            session=session.name,
            since=session.began,
            shown=session.shown,
            has_snapshot=session.given is not None,
        )
    except Refused:
        return ""
    if found.keys:
        try:
            with memory.parts.context.store.lock():
                session = HookSession(memory, session.name)
                session.add_shown(found.keys)
                session.save()
        except (Busy, Unwritten):
            pass  # at worst it is shown again
    return found.text


def _record_reads(memory: Memory, given: Given) -> None:
    """Record what the model has read in this turn before it writes to the memory: the guard must know if a tool spoke
    before. The call itself comes last in the transcript; when it is there, so is the rest. If it does not come, the
    reads are unknown, and count as a tool's words."""
    memory.parts.conversation.recorder.spares = SPARED
    for lag in (0.0,) if given.agent else (0.0, *LAGS):
        time.sleep(lag)
        with memory.parts.context.store.lock():
            session = HookSession(memory, given.session)
            # A sub-agent has its own transcript, and talks with another agent there.
            is_read = not given.agent and _try_follow(session, given)
            session.save()
            if _has_all_reads(session, given, is_read=is_read):
                return
            if not is_read or not given.call or given.agent or lag == LAGS[-1]:
                session.mark_unseen(given.call)
                session.save()
                return
        # Its own messages are recorded: they would come a second time.
        given = given.but(messages=())


def _has_all_reads(session: HookSession, given: Given, *, is_read: bool) -> bool:
    """True if everything the model has read is recorded. A plain event without a transcript brought it all."""
    if given.is_plain and (given.transcript is None or (is_read and not given.call)):
        return True
    return bool(given.call) and session.has_call(given.call)


def _try_follow(session: HookSession, given: Given, at_once: int = AT_ONCE) -> bool:
    """True if a transcript was read."""
    try:
        _follow(session, given, at_once)
    except (Busy, Unwritten):
        raise
    except Refused:
        return False
    return given.transcript is not None


def _follow(session: HookSession, given: Given, at_once: int = AT_ONCE) -> None:
    if given.transcript is not None:
        session.follow(given.transcript, at_once)
    if given.messages:
        session.add_messages(given.messages)


def _end_turn(memory: Memory, given: Given, spool: Spool | None, *, is_over: bool) -> HookReply:
    """Record the talk, and distill what is new in the background: a person waits for the hook. The next hook reports
    what was learned, and promises that were not kept."""
    said: list[str] = []
    with memory.parts.context.store.lock():
        session = HookSession(memory, given.session)
        try:
            _follow(session, given)
        except NoTranscript as refused:
            said += [] if given.answer else [str(refused)]
        except (Busy, Unwritten):
            raise
        except Refused as refused:
            said.append(str(refused))
        if is_over:
            # Gemini CLI joins the pieces of an answer as it likes; its transcript has them.
            if given.form != "gemini" or given.transcript is None:
                session.add_answer(given.answer)
            session.mark_over()
        session.is_over = given.is_end
        said += session.take_notices()
        session.save()
    if spool is not None:
        if not spool.is_delivered(memory):
            spool.start(memory)
    elif not is_distilled(memory):
        detached.start(memory)
    return HookReply(message=_format_notices([*said, *memory.notes]))


def _format_notices(said: list[str]) -> str:
    return "\n".join(f"looseleaf: {each}" for each in dict.fromkeys(said))
