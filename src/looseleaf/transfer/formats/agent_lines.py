"""A line of a coding agent's transcript, converted to what is recorded; and the user's own words in a text.

What a client put into the talk is told apart by its marks: flags and sources of a line, kinds of attachments, the
elements that it writes (reminders, notices, a command's output). All else in a user's message is the user's, and is
kept whole. Anything that brings foreign words to the model leaves a trace of a tool, if only a note: what the model
writes later is judged by that.
"""

from __future__ import annotations

import json
import re
from zlib import crc32

from looseleaf.base.immutable import frozen
from looseleaf.base.origins import NOTED
from looseleaf.text.elements import elements_in, without

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
        "command_permissions output_style ultrathink_effort ultra_effort_enter ultra_effort_exit compaction_reminder "
        "opened_file_in_ide tool_search_usage_reminder critical_system_reminder context_tip max_turns_reached "
        "active_goal goal_status agent_mention workflow_keyword_request already_read_file compact_file_reference "
        "plan_file_reference hook_success hook_additional_context hook_system_message hook_cancelled "
        "hook_blocking_error hook_non_blocking_error hook_error_during_execution hook_stopped_continuation "
        "hook_permission_decision hook_deferred_tool"
    ).split()
)
_OF_COMMANDS = frozenset(
    (
        "command-name command-message command-args command-contents user-memory-input ide_opened_file "
        "local-command-caveat local-command-stdout local-command-stderr"
    ).split()
)
"""Elements in which a client repeats the user's input, or answers a command of its own."""

_OF_CLIENTS = _OF_COMMANDS | frozenset(
    (
        "system-reminder task-notification task_notification bash-input bash-stdout bash-stderr ide_selection "
        "ide_diagnostics new-diagnostics user-prompt-submit-hook teammate-message fork-boilerplate persisted-output "
        "cross_session_messages mcp-resource tool_use_error hook_context environment_context user_instructions "
        "in-app-browser-context instructions permissions turn_aborted subagent_notification session_context"
    ).split()
)
"""All elements that clients write into a user's message."""

_SHELL = ("bash-input", "bash-stdout", "bash-stderr")
"""Elements of a command that the user ran in the client's prompt."""

_NOTICES = ("[Request interrupted by user", "Caveat: The messages below", "Continue from where you left off")
_NARRATED = ("Stop hook feedback:", "This session is being continued from")
_SUB_AGENTS = ("isSidechain", "agentId", "parent_tool_use_id")
_ASIDE = ("isMeta", "isCompactSummary", "isVisibleInTranscriptOnly", "toolUseResult", "sourceToolUseID")
_MODELS_OWN = ("text", "thinking", "redacted_thinking", "tool_use", "server_tool_use")
_TYPED = ("typed", "queued", "sdk", "suggestion_accepted")
"""Sources of a prompt by which a client says that the user gave it."""

_ELEMENT = r"<[A-Za-z][\w-]*[ />]"
_KEY = r"[A-Za-z0-9_-]{1,64}"
# Compiled only on use: a hook starts a process for every prompt.


@frozen
class AgentLine:
    """One line: its key, which identifies repeats, its time, and what to record of it (arguments of `Memory.record`).
    `session`: the session that it names. `queue`: what it says of texts that wait for the agent. `is_typed`: the client
    says that the user gave its text. `is_sure`: at least nothing speaks against that; then a hook must have heard it,
    or there were no hooks yet."""

    key: str
    ts: float | None
    asked: tuple[dict[str, Any], ...]
    session: str = ""
    is_sure: bool = True
    is_typed: bool = False
    queue: tuple[str, ...] = ()


def read_line(line: bytes) -> AgentLine | None:
    """Read a line; None for one without words: an empty line, a summary, a notice of the program."""
    if not line.strip():
        return None
    try:
        raw = json.loads(line)
        if isinstance(raw, dict) and raw.get("type") == "queue-operation":
            text = raw.get("content")
            queue = (str(raw.get("operation")), text if isinstance(text, str) else "")
            return AgentLine("", parse_time(raw.get("timestamp")), (), queue=queue)
        is_typed = isinstance(raw, dict) and _is_typed(raw)
        asked = _requests_of(raw, is_typed=is_typed) if isinstance(raw, dict) else []
        mark = crc32(json.dumps(asked).encode()) if asked else 0
    except (ValueError, RecursionError):  # not JSON, nested too deep, or a number too long
        return unreadable_line(f"line-{crc32(line):08x}-{len(line)}")
    if not asked:
        return None
    uuid, session, prompt = raw.get("uuid"), raw.get("sessionId"), raw.get("promptId")
    said = next((each["user"] for each in asked if "user" in each), "")
    if said and raw.get("type") == "user" and is_key(prompt):
        key = prompt_key(str(prompt), said)
    elif is_key(uuid):  # with its content: a line that says something else is another line, whatever its id
        key = f"{uuid}-{mark:08x}"
    else:
        key = f"line-{crc32(line):08x}-{len(line)}"
    is_sure = not (said.startswith("<") and re.match(_ELEMENT, said))
    named = session if isinstance(session, str) else ""
    return AgentLine(key, parse_time(raw.get("timestamp")), tuple(asked), named, is_sure, is_typed)


def is_key(name: object) -> bool:
    return isinstance(name, str) and re.fullmatch(_KEY, name) is not None


def prompt_key(prompt: str, text: str) -> str:
    """Return the key of a prompt that the client gave an id: a hook and the transcript bring the same."""
    own = " ".join(text.split())
    return f"prompt-{prompt}-{crc32(own.encode('utf-8', 'surrogatepass')):08x}"


def unreadable_line(key: str) -> AgentLine:
    return AgentLine(key, None, (note_of(UNREAD),))


def note_of(text: str) -> dict[str, Any]:
    """Return a result that answers no call."""
    return {"tool_result": text, "tool_name": NOTED}


def parse_time(text: object) -> float | None:
    if not isinstance(text, str) or len(text) > 40:
        return None
    from datetime import UTC, datetime

    try:
        found = datetime.fromisoformat(text)
    except ValueError:
        return None
    return (found if found.tzinfo is not None else found.replace(tzinfo=UTC)).timestamp()


def _is_typed(raw: dict[str, Any]) -> bool:
    """True if the client says that the user gave this text: as a prompt, or meanwhile, between two steps."""
    if raw.get("type") == "attachment":
        own = _dict_of(raw.get("attachment"))
        is_prompt = own.get("type") == "queued_command" and own.get("commandMode") in (None, "prompt")
        return is_prompt and not any(map(own.get, _ASIDE)) and not _is_aside(raw, own.get("origin"))
    return raw.get("promptSource") in _TYPED and not _is_aside(raw, raw.get("origin"))


def _is_aside(raw: dict[str, Any], origin: Any) -> bool:
    """True if the client marks a line as not the user's."""
    speaker = origin.get("kind") if isinstance(origin, dict) else origin
    is_flagged = any(raw.get(flag) not in (None, False) for flag in (*_ASIDE, *_SUB_AGENTS))
    return is_flagged or speaker not in (None, "human", "user")


def _requests_of(raw: dict[str, Any], *, is_typed: bool) -> list[dict[str, Any]]:
    kind, message = raw.get("type"), raw.get("message")
    if kind == "attachment":
        own = _dict_of(raw.get("attachment"))
        if is_typed:
            return _read_user(_blocks_of(own.get("prompt")), is_own=True, is_typed=True)
        name = own.get("type")
        return [] if isinstance(name, str) and name in _OF_PROGRAM else [note_of(ATTACHED)]
    if kind not in ("user", "assistant") or not isinstance(message, dict) or raw.get("isApiErrorMessage"):
        return []
    blocks = _blocks_of(message.get("content"))
    brings = any(block.get("type") not in _MODELS_OWN for block in blocks)
    if any(raw.get(flag) for flag in _SUB_AGENTS):
        return [note_of(OF_SUB_AGENTS)] if brings else []
    if kind == "assistant" and message.get("role") in (kind, None):
        return [*_read_assistant(blocks), *([note_of(HOSTED)] if brings else ())]
    is_own = not _is_aside(raw, raw.get("origin")) and message.get("role") in ("user", None)
    return _read_user(blocks, is_own=kind == "user" and is_own, is_typed=is_typed)


def _dict_of(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _blocks_of(content: Any) -> list[dict[str, Any]]:
    if isinstance(content, str):
        return [{"type": "text", "text": content}]
    return [block for block in content if isinstance(block, dict)] if isinstance(content, list) else []


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


def _read_user(blocks: list[dict[str, Any]], *, is_own: bool, is_typed: bool) -> list[dict[str, Any]]:
    """Return tool results, the user's own words, and a note if there is anything else."""
    results = [_read_result(block) for block in blocks if block.get("type") == "tool_result"]
    texts = [block.get("text") for block in blocks if block.get("type") == "text"]
    told = [text for text in texts if isinstance(text, str) and text.strip()]
    shell = [each for text in told for each in _read_shell(text)]
    has_more = any(block.get("type") not in ("text", "tool_result") for block in blocks)
    parts = [split_typed(text) if is_typed else split_own_words(text) for text in told]
    said = "\n\n".join(own for own, _ in parts if own)
    has_more |= not shell and any(is_mixed for _, is_mixed in parts)
    if said and (results or not is_own):
        said, has_more = "", True
    return [*results, *shell, *([{"user": said}] if said else ()), *([note_of(OTHERS)] if has_more else ())]


def _read_shell(text: str) -> list[dict[str, Any]]:
    """Return a command that the user ran in the client's prompt, or its output, as a tool's words."""
    if not text.lstrip().startswith("<bash-"):
        return []
    found = elements_in(text, _SHELL)
    if without(text, found).strip():
        return []
    parts = [text[start:end].partition(">")[2].rpartition("</")[0] for start, end, _ in found]
    told = [
        f"$ {part}" if name == "bash-input" else part for part, (_, _, name) in zip(parts, found, strict=True)
    ]
    return [{"tool_result": "\n".join(part for part in told if part), "tool_name": "bash"}]


def _read_result(block: dict[str, Any]) -> dict[str, Any]:
    call, text = block.get("tool_use_id"), block.get("content")
    if not isinstance(text, str):
        parts = [part for part in text if isinstance(part, dict)] if isinstance(text, list) else []
        texts = ((part.get("text"), part.get("type")) for part in parts)
        text = "\n".join(told if isinstance(told, str) else f"[{kind}]" for told, kind in texts)
    own = {"tool_call_id": call} if isinstance(call, str) and call else {}
    return {"tool_error" if block.get("is_error") else "tool_result": text} | own


def split_own_words(text: str) -> tuple[str, bool]:
    """Return a text without the elements that clients write, and whether these brought words from outside. Nothing is
    left of a notice."""
    found = elements_in(text, _OF_CLIENTS)
    said = without(text, found).strip()
    if said.startswith(_NARRATED):
        return "", True
    return "" if said.startswith(_NOTICES) else said, any(name not in _OF_COMMANDS for _, _, name in found)


def of_clients(text: str) -> bool:
    """True if a client may have put something into a text."""
    return bool(elements_in(text, _OF_CLIENTS)) or text.lstrip().startswith((*_NARRATED, *_NOTICES))


def split_typed(text: str) -> tuple[str, bool]:
    """Do the same with a text that the user gave: it is kept whole, unless it is a notice and nothing else."""
    own, is_mixed = split_own_words(text)
    return (text.strip(), False) if own else ("", is_mixed)
