"""What the events of a coding agent do: a session begins with the snapshot, prompts and answers are recorded, what was
said is distilled, and before the model writes to the memory, what it has read is known. Speaks the JSON of Claude
Code's hooks, and a plain form for other agents (docs/HOOKS.md).

Invariant: a hook never stands in the way. It asks for nothing again, what it could not do is a sentence for the user,
and it stops one thing only: a writing to this memory, while nobody can tell what the model has read.
"""

from __future__ import annotations

import json
import time
from zlib import crc32

from looseleaf.base.errors import Busy, Refused, Unwritten
from looseleaf.base.immutable import frozen
from looseleaf.base.paths import REVIEW, safe_name
from looseleaf.base.values import START
from looseleaf.integrations import detached
from looseleaf.integrations.hook_session import HookSession
from looseleaf.integrations.transcript import AT_ONCE, WHILE_ASKED, NoTranscript

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from looseleaf.memory import Memory

SESSION_START, USER_PROMPT, PRE_TOOL = "session-start", "user-prompt", "pre-tool"
PRE_COMPACT, STOP = "pre-compact", "stop"

LONGEST = 32 * 1024 * 1024
"""Bytes of what a hook is told: longer than any prompt, and read in a moment."""

SPARED = 64
"""Traces that the hook of a prompt leaves to be read by the next one, which is quicker than writing a view for each."""


LAGS = (0.1, 0.2)
"""Seconds after which a transcript is looked at again that does not have yet what is being done: agents write it some
moments later."""


@frozen
class Given:
    """What a hook was told. `call` is the id of a tool's call. `is_plain`: in the plain form, and so it is answered."""

    session: str
    transcript: str | None
    prompt: str
    answer: str
    source: str
    call: str
    messages: tuple[Any, ...]
    is_plain: bool

    def without_content(self) -> Given:
        """The same, without what is recorded each time it is given."""
        return Given(self.session, self.transcript, "", "", self.source, self.call, (), self.is_plain)


HELD_UP = (
    "Nothing was written: another program holds the memory's lock, so it could not be seen what this is drawn from. "
    "Call the tool again in a moment."
)


@frozen
class Told:
    """What a hook answers: a text for the model, and sentences for the user; or why the model may not write now."""

    context: str = ""
    message: str = ""
    denied: str = ""

    def to_dict(self, *, is_plain: bool) -> dict[str, Any]:
        if is_plain:
            session_name = {"context": self.context, "message": self.message, "deny": self.denied}
            return {name: text for name, text in session_name.items() if text}
        made: dict[str, Any] = {"systemMessage": self.message} if self.message else {}
        if self.context:
            own = {"hookEventName": "SessionStart", "additionalContext": self.context}
            made |= {"hookSpecificOutput": own, "suppressOutput": True}
        if self.denied:
            why = {"permissionDecision": "deny", "permissionDecisionReason": self.denied}
            made["hookSpecificOutput"] = {"hookEventName": "PreToolUse"} | why
        return made


def given_in(data: bytes) -> Given:
    if len(data) > LONGEST:
        raise _bad_input(f"it is longer than {LONGEST // 1024 // 1024} megabytes")
    try:
        raw = json.loads(data)
    except (ValueError, RecursionError) as error:  # also what is no UTF-8
        raise _bad_input(f"it is no JSON: {str(error)[:100]}") from error
    if not isinstance(raw, dict):
        raise _bad_input("it is no object")
    is_plain = "session" in raw and "session_id" not in raw
    session = raw.get("session" if is_plain else "session_id")
    if not isinstance(session, str) or not session:
        raise _bad_input("it names no session")
    messages = raw.get("messages") if is_plain else None
    return Given(
        session_name(session),
        _text_field(raw, "transcript" if is_plain else "transcript_path") or None,
        _text_field(raw, "prompt"),
        _text_field(raw, "answer" if is_plain else "last_assistant_message"),
        _text_field(raw, "source"),
        _text_field(raw, "call" if is_plain else "tool_use_id"),
        tuple(messages) if isinstance(messages, list) else (),
        is_plain,
    )


def _text_field(raw: dict[str, Any], name: str) -> str:
    value = raw.get(name)
    return value if isinstance(value, str) else ""


def _bad_input(why: str) -> Refused:
    return Refused(
        f"The hook did nothing: what it was told on standard input was not understood ({why}). "
        "docs/HOOKS.md says what it takes."
    )


def session_name(session: str) -> str:
    """A session's id as a name; one that can name no file gets another, always the same."""
    try:
        return safe_name(session, "session's name")
    except Refused:
        from looseleaf.base.hashing import sha256

        return f"session-{sha256(session.encode('utf-8', 'surrogatepass'))[:16]}"


# --- the events ------------------------------------------------------------------------


def happened(memory: Memory, event: str, given: Given) -> Told:
    """What is to be answered when something happened in a session. The memory was opened for it."""
    if event == SESSION_START:
        return _start_session(memory, given)
    if event == USER_PROMPT:
        return Told(message=_format_notices(_record_prompt(memory, given)))
    if event == PRE_TOOL:
        _record_reads(memory, given)
        return Told()
    return _end_turn(memory, given, is_over=event == STOP)


def _start_session(memory: Memory, given: Given) -> Told:
    """The snapshot, once. A session that goes on has it already, unless it says something else by now; one that was
    cleared or compacted has not."""
    text = memory.snapshot(quick=True).text
    name = crc32(text.encode("utf-8", "surrogatepass"))
    said = _pending_notice(memory) if given.source in ("", "startup") else []
    try:
        with memory.store.lock():
            sitting = HookSession(memory, given.session)
            told = sitting.take_notices()
            is_given = given.source == "resume" and sitting.given == name
            if not is_given or told:
                sitting.given = name
                sitting.save()
            is_left = sitting.end != START and not sitting.is_distilled()
        text = "" if is_given else text
        said += told
        if is_left and detached.is_wanted(memory):  # the process that was to distill it was killed
            detached.start(memory)
    except (Busy, Unwritten):
        pass  # it is given all the same; at worst once more
    return Told(text, _join_notices(memory, said))


def _pending_notice(memory: Memory) -> list[str]:
    """That something waits for the user, once in a session. The page itself says how much: no fact is looked up."""
    document = memory.store.get(REVIEW)
    count = document.data.count(b"\n- [ ] ") if document is not None else 0
    lines = "line waits" if count == 1 else "lines wait"
    return [f"{count} {lines} for your yes. `looseleaf review` shows them."] if count else []


def _record_prompt(memory: Memory, given: Given) -> list[str]:
    """Before the prompt, what was answered since the last one: transcripts are often written after the hooks of an
    answer were called. Of a transcript that cannot be read, the end of the answer tells. What there is to say to the
    user."""
    memory._talk.recorder.spares = SPARED
    try:
        with memory.store.lock():
            sitting = HookSession(memory, given.session)
            _try_follow(sitting, given, WHILE_ASKED)
            if given.prompt.strip():
                sitting.prompt(given.prompt, is_all=given.transcript is None)
            told = sitting.take_notices()
            sitting.save()
            return told
    except Busy:
        from looseleaf.integrations.transcript import note_missed
        from looseleaf.transfer.formats.agent_lines import split_own_words

        note_missed(memory.store, memory.agent, given.session, split_own_words(given.prompt)[0])
        raise


def _record_reads(memory: Memory, given: Given) -> None:
    """Before a model writes to the memory, what it has read in this turn: whoever judges what it writes must know
    whether a tool spoke before. The call itself comes last in the transcript; when it is there, so is the rest. Where
    it does not come, what was read is not known, and it counts as if a tool had spoken."""
    memory._talk.recorder.spares = SPARED
    for lag in (0.0, *LAGS):
        time.sleep(lag)
        with memory.store.lock():
            sitting = HookSession(memory, given.session)
            is_read = _try_follow(sitting, given)
            sitting.save()
            if _has_all_reads(sitting, given, is_read=is_read):
                return
            if not is_read or not given.call or lag == LAGS[-1]:
                sitting.mark_unseen()
                sitting.save()
                return
        given = given.without_content()


def _has_all_reads(sitting: HookSession, given: Given, *, is_read: bool) -> bool:
    """Whether all that the model has read is recorded. In the plain form, whoever names no transcript has told it."""
    if given.is_plain and (given.transcript is None or (is_read and not given.call)):
        return True
    return bool(given.call) and sitting.has_call(given.call)


def _try_follow(sitting: HookSession, given: Given, at_once: int = AT_ONCE) -> bool:
    """Whether there is a transcript that could be followed."""
    try:
        _follow(sitting, given, at_once)
    except (Busy, Unwritten):
        raise
    except Refused:
        return False
    return given.transcript is not None


def _follow(sitting: HookSession, given: Given, at_once: int = AT_ONCE) -> None:
    if given.transcript is not None:
        sitting.catch_up(given.transcript, at_once)
    if given.messages:
        sitting.messages(given.messages)


def _end_turn(memory: Memory, given: Given, *, is_over: bool) -> Told:
    """What was said is recorded, and what is new is distilled; promises that nothing was written for are told. A model
    takes its time: it distills in the background, and what there is to tell the next hook tells."""
    said: list[str] = []
    is_detached = detached.is_wanted(memory)
    with memory.store.lock():
        sitting = HookSession(memory, given.session)
        try:
            _follow(sitting, given)
        except NoTranscript as refused:
            said += [] if given.answer else [str(refused)]
        except (Busy, Unwritten):
            raise
        except Refused as refused:
            said.append(str(refused))
        if is_over:
            sitting.answer(given.answer)
            if is_detached:
                sitting.mark_over()
        said += sitting.take_notices()
        sitting.save()
        upto, is_done = sitting.end, sitting.is_distilled()
    if is_detached and not is_done:
        detached.start(memory)
    if is_done or is_detached:
        return Told(message=_join_notices(memory, said))
    try:
        memory.distill()
        said += detached.unkept_promises(memory, given.session) if is_over else []
        with memory.store.lock():
            sitting = HookSession(memory, given.session)
            sitting.mark_distilled(upto)
            sitting.save()
        memory.snapshot(quick=True)  # so that the next session has it at once
    except Refused as refused:  # what was said is in the log; the next time it is distilled
        said.append(str(refused))
    return Told(message=_join_notices(memory, said))


def _join_notices(memory: Memory, said: list[str] | None = None) -> str:
    return _format_notices([*(said or ()), *memory.notes])


def _format_notices(said: list[str]) -> str:
    return "\n".join(f"looseleaf: {each}" for each in dict.fromkeys(said))
