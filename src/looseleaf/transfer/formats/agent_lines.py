"""One line of a coding agent's transcript, as what is to be recorded; and whose words a text holds.

Only what is plainly the user's own is taken for his words: nothing that came beside a tool's result, that the agent's
program put into the talk (reminders, summaries, notices, what a command printed), or that our own memory had said.
And whatever brings the words of others to the model leaves a trace of a tool, if only a note that it was there: by
that, what the model writes afterwards is judged.
"""

from __future__ import annotations

import json
import re
from zlib import crc32

from looseleaf.base.immutable import frozen

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

UNREAD = "[a line that could not be read]"
ATTACHED = "[an attachment]"
OTHERS = "[words that are not the user's]"
HOSTED = "[what a tool beside the model answered]"
OF_SUB_AGENTS = "[what a sub-agent read]"

# Attachments in which the agent's program speaks of itself, or which a hook of the user's own settings gave.
_OF_PROGRAM = frozenset(
    (
        "deferred_tools_delta deferred_tools_record agent_listing_delta mcp_instructions_delta skill_listing auto_mode "
        "auto_mode_exit plan_mode plan_mode_exit plan_mode_reentry total_tokens_reminder token_usage "
        "output_token_usage budget_usd date date_change environment model instructions task_reminder todo_reminder "
        "command_permissions output_style ultrathink_effort compaction_reminder opened_file_in_ide hook_success "
        "hook_additional_context"
    ).split()
)
# Elements in which it repeats what the user typed, or answers a command of its own.
_OF_COMMANDS = frozenset(
    (
        "command-name command-message command-args command-contents bash-input user-memory-input ide_opened_file "
        "local-command-caveat local-command-stdout local-command-stderr"
    ).split()
)
_MARKS = ("-", "_", ":")
"""What the name of an element has one of, if no page on the web is meant by it."""

_NAME = r"([A-Za-z][\w:.-]{0,80})"
_TAG = rf"<\s{{0,8}}(?:/\s{{0,8}}{_NAME}\s{{0,8}}>|{_NAME}(?=[\s/>]))"
_FENCE = r"data ([0-9]+)>>|<<data ([0-9]+)"
_HEADING = r"\[MEMORY:[A-Z]+\][ \t]*(?:\r?\n|\Z)"
_ELEMENT = r"<[A-Za-z][\w-]*[ />]"
_NOTICES = ("[Request interrupted by user", "Caveat: The messages below", "Continue from where you left off")
_NARRATED = ("Stop hook feedback:", "This session is being continued from")
_SUB_AGENTS = ("isSidechain", "agentId", "parent_tool_use_id")
_ASIDE = ("isMeta", "isCompactSummary", "isVisibleInTranscriptOnly", "toolUseResult", "sourceToolUseID")
_MODELS_OWN = ("text", "thinking", "redacted_thinking", "tool_use", "server_tool_use")
_KEY = r"[A-Za-z0-9_-]{1,64}"
# None of these is compiled before it is needed: a hook starts a process for every prompt.


@frozen
class Said:
    """One line: its key, by which it is known if it comes again, its time, and what is to be recorded of it (as
    `Memory.record` takes it). `session`: whose line it is, if it says so. `is_sure`: what it has of the user looks like
    what a user writes; else it must have been heard from him as well."""

    key: str
    ts: float | None
    asked: tuple[dict[str, Any], ...]
    session: str = ""
    is_sure: bool = True


def said_in(line: bytes) -> Said | None:
    """None for what is nobody's words: an empty line, a summary, a notice of the program."""
    if not line.strip():
        return None
    try:
        raw = json.loads(line)
        asked = _asked(raw) if isinstance(raw, dict) else []
        mark = crc32(json.dumps(asked).encode()) if asked else 0
    except (ValueError, RecursionError):  # no JSON; or one that nests too deep, or has too long a number
        return unread(f"line-{crc32(line):08x}-{len(line)}")
    if not asked:
        return None
    uuid, session = raw.get("uuid"), raw.get("sessionId")
    is_key = isinstance(uuid, str) and re.fullmatch(_KEY, uuid)
    # With what it says: a line that says something else is another one, whatever its name.
    key = f"{uuid}-{mark:08x}" if is_key else f"line-{crc32(line):08x}-{len(line)}"
    return Said(
        key,
        moment_of(raw.get("timestamp")),
        tuple(asked),
        session if isinstance(session, str) else "",
        not any(_begins_with_an_element(each.get("user", "")) for each in asked),
    )


def _begins_with_an_element(text: str) -> bool:
    return text.startswith("<") and re.match(_ELEMENT, text) is not None


def unread(key: str) -> Said:
    return Said(key, None, (_note(UNREAD),))


def _note(what: str) -> dict[str, Any]:
    return {"tool_result": what}


def moment_of(text: object) -> float | None:
    if not isinstance(text, str) or len(text) > 40:
        return None
    from datetime import UTC, datetime

    try:
        found = datetime.fromisoformat(text)
    except ValueError:
        return None
    return (found if found.tzinfo is not None else found.replace(tzinfo=UTC)).timestamp()


# --- who speaks ------------------------------------------------------------------------


def _asked(raw: dict[str, Any]) -> list[dict[str, Any]]:
    kind, message = raw.get("type"), raw.get("message")
    if kind == "attachment":
        own = raw.get("attachment")
        name = own.get("type") if isinstance(own, dict) else None
        return [] if isinstance(name, str) and name in _OF_PROGRAM else [_note(ATTACHED)]
    if kind not in ("user", "assistant") or not isinstance(message, dict) or raw.get("isApiErrorMessage"):
        return []
    content = message.get("content")
    blocks = [{"type": "text", "text": content}] if isinstance(content, str) else content
    own = [block for block in blocks if isinstance(block, dict)] if isinstance(blocks, list) else []
    brings = any(block.get("type") not in _MODELS_OWN for block in own)
    if any(raw.get(flag) for flag in _SUB_AGENTS):
        return [_note(OF_SUB_AGENTS)] if brings else []
    if kind == "assistant" and message.get("role") in (kind, None):
        return [*_of_assistant(own), *([_note(HOSTED)] if brings else ())]
    return _of_user(own, is_his=kind == "user" and _is_his(raw, message))


def _is_his(raw: dict[str, Any], message: dict[str, Any]) -> bool:
    origin = raw.get("origin")
    kind = origin.get("kind") if isinstance(origin, dict) else origin
    is_flagged = any(raw.get(flag) not in (None, False) for flag in _ASIDE)
    return not is_flagged and kind in (None, "human", "user") and message.get("role") in ("user", None)


def _of_assistant(blocks: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Its texts and calls. What it only thought is not said to anybody."""
    asked: list[dict[str, Any]] = []
    for block in blocks:
        text, name, call = block.get("text"), block.get("name"), block.get("id")
        if block.get("type") == "text" and isinstance(text, str) and text.strip():
            asked.append({"assistant": text})
        elif block.get("type") == "tool_use" and isinstance(name, str) and name:
            own = {"tool_call_id": call} if isinstance(call, str) and call else {}
            asked.append({"tool_call": name, "tool_args": block.get("input")} | own)
    return asked


def _of_user(blocks: list[dict[str, Any]], *, is_his: bool) -> list[dict[str, Any]]:
    """Results of tools; what is plainly the user's own; and a note, if there is anything else."""
    results = [_result(block) for block in blocks if block.get("type") == "tool_result"]
    texts = [
        block["text"]
        for block in blocks
        if block.get("type") == "text" and isinstance(block.get("text"), str) and block["text"].strip()
    ]
    has_more = any(block.get("type") not in ("text", "tool_result") for block in blocks)
    parts = [parted(text) for text in texts]
    if is_his and not results:
        said = "\n\n".join(own for own, _ in parts if own)
        has_more |= any(is_mixed for _, is_mixed in parts)
    else:
        said = ""
        has_more |= any(own or is_mixed for own, is_mixed in parts)
    return [*results, *([{"user": said}] if said else ()), *([_note(OTHERS)] if has_more else ())]


def _result(block: dict[str, Any]) -> dict[str, Any]:
    call, content = block.get("tool_use_id"), block.get("content")
    text = content if isinstance(content, str) else "\n".join(_texts(content))
    own = {"tool_call_id": call} if isinstance(call, str) and call else {}
    return {"tool_error" if block.get("is_error") else "tool_result": text} | own


def _texts(content: object) -> Iterator[str]:
    for part in content if isinstance(content, list) else ():
        if isinstance(part, dict):
            yield part["text"] if isinstance(part.get("text"), str) else f"[{part.get('type')}]"


# --- whose words -----------------------------------------------------------------------


def parted(text: str) -> tuple[str, bool]:
    """What is left of a text without what others put into it, and whether those brought words from outside. Nothing is
    left of a notice."""
    is_mixed = False
    if "<<data " in text:
        text, names = _cut(text, _FENCE, to_end=True)
        is_mixed = bool(names)
    if "[MEMORY:" in text:  # our own prompt, of which nobody can say where it ends
        heading = re.search(_HEADING, text)
        text = text[: heading.start()] if heading is not None else text
    if "<" in text:
        text, names = _cut(text, _TAG)
        is_mixed = is_mixed or not names <= _OF_COMMANDS
    said = text.strip()
    if said.startswith(_NARRATED):
        return "", True
    return "" if said.startswith(_NOTICES) else said, is_mixed


def _cut(text: str, pattern: str, *, to_end: bool = False) -> tuple[str, set[str]]:
    """A text without what stands between marks, and the names of these. Each reaches from the first mark of its name to
    the last that ends it: what stands between may spell an end of its own. One that nothing ends takes nothing away,
    or (`to_end`) all that follows."""
    found = list(re.finditer(pattern, text))
    ends = {mark[1].casefold(): mark.end() for mark in found if mark[1]}
    kept: list[str] = []
    names: set[str] = set()
    at = 0
    for mark in found:
        name = (mark[2] or "").casefold()
        end = max(ends.get(name, 0), len(text) if to_end and name not in ends else 0)
        is_meant = to_end or any(sign in name for sign in _MARKS)
        if name and is_meant and at <= mark.start() < end:
            kept.append(text[at : mark.start()])
            names.add(name)
            at = end
    return " ".join([*kept, text[at:]]), names
