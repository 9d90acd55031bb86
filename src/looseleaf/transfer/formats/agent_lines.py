"""A line of a coding agent's transcript, converted to what is recorded; and the user's own words in a text.

Only what is plainly the user's own counts as the user's words: nothing beside a tool's result, nothing that the agent's
program put into the talk (reminders, summaries, notices, a command's output), and nothing from this memory. Anything
that brings foreign words to the model leaves a trace of a tool, if only a note: what the model writes later is judged
by that.
"""

from __future__ import annotations

import json
import re
from zlib import crc32

from looseleaf.base.immutable import frozen

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

UNREAD = "[a line that could not be read]"
ATTACHED = "[an attachment]"
OTHERS = "[words that are not the user's]"
HOSTED = "[what a tool beside the model answered]"
OF_SUB_AGENTS = "[what a sub-agent read]"

# Attachments in which the agent's program reports on itself, or which come from a hook of the user.
_OF_PROGRAM = frozenset(
    (
        "deferred_tools_delta deferred_tools_record agent_listing_delta mcp_instructions_delta skill_listing auto_mode "
        "auto_mode_exit plan_mode plan_mode_exit plan_mode_reentry total_tokens_reminder token_usage "
        "output_token_usage budget_usd date date_change environment model instructions task_reminder todo_reminder "
        "command_permissions output_style ultrathink_effort compaction_reminder opened_file_in_ide hook_success "
        "hook_additional_context"
    ).split()
)
# Elements in which it repeats the user's input, or answers a command of its own.
_OF_COMMANDS = frozenset(
    (
        "command-name command-message command-args command-contents bash-input user-memory-input ide_opened_file "
        "local-command-caveat local-command-stdout local-command-stderr"
    ).split()
)
_MARKS = ("-", "_", ":")
"""An element's name has one of these, unless it is HTML."""

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
# Compiled only on use: a hook starts a process for every prompt.


@frozen
class AgentLine:
    """One line: its key, which identifies repeats, its time, and what to record of it (arguments of `Memory.record`).
    `session`: the session that it names. `is_sure`: its user text looks typed by a user; otherwise a hook must have
    heard it too."""

    key: str
    ts: float | None
    asked: tuple[dict[str, Any], ...]
    session: str = ""
    is_sure: bool = True


def read_line(line: bytes) -> AgentLine | None:
    """Read a line; None for one without words: an empty line, a summary, a notice of the program."""
    if not line.strip():
        return None
    try:
        raw = json.loads(line)
        asked = _requests_of(raw) if isinstance(raw, dict) else []
        mark = crc32(json.dumps(asked).encode()) if asked else 0
    except (ValueError, RecursionError):  # not JSON, nested too deep, or a number too long
        return unreadable_line(f"line-{crc32(line):08x}-{len(line)}")
    if not asked:
        return None
    uuid, session = raw.get("uuid"), raw.get("sessionId")
    is_key = isinstance(uuid, str) and re.fullmatch(_KEY, uuid)
    # With its content: a line that says something else is another line, whatever its id.
    key = f"{uuid}-{mark:08x}" if is_key else f"line-{crc32(line):08x}-{len(line)}"
    said = (each.get("user", "") for each in asked)
    is_sure = not any(text.startswith("<") and re.match(_ELEMENT, text) for text in said)
    named = session if isinstance(session, str) else ""
    return AgentLine(key, parse_time(raw.get("timestamp")), tuple(asked), named, is_sure)


def unreadable_line(key: str) -> AgentLine:
    return AgentLine(key, None, ({"tool_result": UNREAD},))


def parse_time(text: object) -> float | None:
    if not isinstance(text, str) or len(text) > 40:
        return None
    from datetime import UTC, datetime

    try:
        found = datetime.fromisoformat(text)
    except ValueError:
        return None
    return (found if found.tzinfo is not None else found.replace(tzinfo=UTC)).timestamp()


def _requests_of(raw: dict[str, Any]) -> list[dict[str, Any]]:
    kind, message = raw.get("type"), raw.get("message")
    if kind == "attachment":
        own = raw.get("attachment")
        name = own.get("type") if isinstance(own, dict) else None
        return [] if isinstance(name, str) and name in _OF_PROGRAM else [{"tool_result": ATTACHED}]
    if kind not in ("user", "assistant") or not isinstance(message, dict) or raw.get("isApiErrorMessage"):
        return []
    content = message.get("content")
    blocks = [{"type": "text", "text": content}] if isinstance(content, str) else content
    own = [block for block in blocks if isinstance(block, dict)] if isinstance(blocks, list) else []
    brings = any(block.get("type") not in _MODELS_OWN for block in own)
    if any(raw.get(flag) for flag in _SUB_AGENTS):
        return [{"tool_result": OF_SUB_AGENTS}] if brings else []
    if kind == "assistant" and message.get("role") in (kind, None):
        return [*_read_assistant(own), *([{"tool_result": HOSTED}] if brings else ())]
    origin = raw.get("origin")
    speaker = origin.get("kind") if isinstance(origin, dict) else origin
    is_flagged = any(raw.get(flag) not in (None, False) for flag in _ASIDE)
    is_own = not is_flagged and speaker in (None, "human", "user") and message.get("role") in ("user", None)
    return _read_user(own, is_own=kind == "user" and is_own)


def _read_assistant(blocks: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the texts and calls of the assistant, without its thoughts."""
    asked: list[dict[str, Any]] = []
    for block in blocks:
        text, name, call = block.get("text"), block.get("name"), block.get("id")
        if block.get("type") == "text" and isinstance(text, str) and text.strip():
            asked.append({"assistant": text})
        elif block.get("type") == "tool_use" and isinstance(name, str) and name:
            own = {"tool_call_id": call} if isinstance(call, str) and call else {}
            asked.append({"tool_call": name, "tool_args": block.get("input")} | own)
    return asked


def _read_user(blocks: list[dict[str, Any]], *, is_own: bool) -> list[dict[str, Any]]:
    """Return tool results, the user's own words, and a note if there is anything else."""
    results = [_read_result(block) for block in blocks if block.get("type") == "tool_result"]
    texts = [block.get("text") for block in blocks if block.get("type") == "text"]
    has_more = any(block.get("type") not in ("text", "tool_result") for block in blocks)
    parts = [split_own_words(text) for text in texts if isinstance(text, str) and text.strip()]
    said = "\n\n".join(own for own, _ in parts if own)
    has_more |= any(is_mixed for _, is_mixed in parts)
    if said and (results or not is_own):
        said, has_more = "", True
    return [*results, *([{"user": said}] if said else ()), *([{"tool_result": OTHERS}] if has_more else ())]


def _read_result(block: dict[str, Any]) -> dict[str, Any]:
    call, text = block.get("tool_use_id"), block.get("content")
    if not isinstance(text, str):
        parts = [part for part in text if isinstance(part, dict)] if isinstance(text, list) else []
        texts = ((part.get("text"), part.get("type")) for part in parts)
        text = "\n".join(told if isinstance(told, str) else f"[{kind}]" for told, kind in texts)
    own = {"tool_call_id": call} if isinstance(call, str) and call else {}
    return {"tool_error" if block.get("is_error") else "tool_result": text} | own


def split_own_words(text: str) -> tuple[str, bool]:
    """Return a text without what programs put into it, and whether that brought words from outside. Nothing is left of
    a notice."""
    is_mixed = False
    if "<<data " in text:
        text, names = _cut_marked(text, _FENCE, to_end=True)
        is_mixed = bool(names)
    if "[MEMORY:" in text:  # this memory's own prompt, whose end is unknown
        heading = re.search(_HEADING, text)
        text = text[: heading.start()] if heading is not None else text
    if "<" in text:
        text, names = _cut_marked(text, _TAG)
        is_mixed = is_mixed or not names <= _OF_COMMANDS
    said = text.strip()
    if said.startswith(_NARRATED):
        return "", True
    return "" if said.startswith(_NOTICES) else said, is_mixed


def _cut_marked(text: str, pattern: str, *, to_end: bool = False) -> tuple[str, set[str]]:
    """Return a text without the parts between marks, and the names of these marks. Each part reaches from the first
    mark of its name to the last end of it: the text between may contain a false end. A mark without an end removes
    nothing, or (`to_end`) all that follows."""
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
