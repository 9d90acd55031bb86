"""Lines of the transcripts of Codex and Gemini CLI, converted as `agent_lines` converts those of Claude Code."""

from __future__ import annotations

import json
from zlib import crc32

from looseleaf.transfer.formats.agent_lines import (
    OTHERS,
    AgentLine,
    is_key,
    note_of,
    parse_time,
    split_typed,
)
from looseleaf.transfer.formats.codex import item_key, prompt_of, read_item
from looseleaf.transfer.source import content_text, dict_of, dicts_of, media_of, text_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from looseleaf.transfer.source import ImportMessage


def read_dialect(line: bytes) -> AgentLine | None:
    """Read a line that Claude Code did not write; None for one without words."""
    try:
        raw = json.loads(line)
        if not isinstance(raw, dict):
            return None
        return read_codex(raw, line) if "payload" in raw else read_gemini(raw, line)
    except (ValueError, RecursionError):
        return None


def read_codex(raw: dict[str, Any], line: bytes) -> AgentLine | None:
    """Read a line of a rollout; None for one without words. The events repeat the items, and are passed over."""
    item, ts = dict_of(raw.get("payload")), parse_time(raw.get("timestamp"))
    if raw.get("type") != "response_item":
        return None
    key = item_key(item) or _key_of(None, line)
    if item.get("type") == "message" and item.get("role") == "user":
        text, is_typed = prompt_of(item)
        more = [note_of(OTHERS)] if media_of(item.get("content")) else []
        asked = (*([{"user": text}] if text else ()), *more)
        is_sure = not text.startswith("<")
        return AgentLine(key, ts, asked, is_sure=is_sure, is_typed=is_typed) if asked else None
    found = read_item("", item, ts, None)
    return AgentLine(key, ts, (request_of(found),)) if found is not None else None


def request_of(said: ImportMessage) -> dict[str, Any]:
    """Return what to record of a message, as arguments of `Memory.record`."""
    own = {"tool_call_id": said.call_id} if said.call_id else {}
    if said.role == "tool_call":
        return {"tool_call": said.name, "tool_args": said.args} | own
    if said.role == "tool_result":
        return ({"tool_error": said.error} if said.error is not None else {"tool_result": said.result}) | own
    return {said.role: said.text}


def read_gemini(raw: dict[str, Any], line: bytes) -> AgentLine | None:
    """Read a message of Gemini CLI; None for one without words. A message with tool calls repeats its text."""
    kind, ts, calls = raw.get("type"), parse_time(raw.get("timestamp")), dicts_of(raw.get("toolCalls"))
    text = content_text(raw.get("displayContent") or raw.get("content"))
    asked: list[dict[str, Any]] = []
    if kind == "user":
        said, is_mixed = split_typed(without_context(text))
        asked = [*([{"user": said}] if said else ()), *([note_of(OTHERS)] if is_mixed else ())]
    elif kind == "gemini" and calls:
        asked = [each for call in calls for each in _read_call(call)]
    elif kind == "gemini" and text.strip():
        asked = [{"assistant": text}]
    return AgentLine(_key_of(raw.get("id"), line, asked), ts, tuple(asked)) if asked else None


def without_context(prompt: str) -> str:
    """Return a prompt without what hooks answered, which Gemini CLI puts before it, in an element that it escapes."""
    if not prompt.startswith("<hook_context>"):
        return prompt
    return prompt.partition("</hook_context>")[2].lstrip("\n")


def _read_call(call: dict[str, Any]) -> list[dict[str, Any]]:
    name, own = text_of(call.get("name")), {"tool_call_id": text_of(call.get("id"))}
    if not name or not own["tool_call_id"]:
        return []
    results = [
        dict_of(dict_of(each.get("functionResponse")).get("response"))
        for each in dicts_of(call.get("result"))
    ]
    texts = [text_of(each.get("output")) or text_of(each.get("error")) for each in results]
    role = "tool_result" if call.get("status") == "success" else "tool_error"
    return [
        {"tool_call": name, "tool_args": call.get("args")} | own,
        {role: "\n".join(filter(None, texts))} | own,
    ]


def _key_of(name: object, line: bytes, asked: object = None) -> str:
    if not is_key(name):
        return f"line-{crc32(line):08x}-{len(line)}"
    return f"{name}-{crc32(json.dumps(asked).encode()):08x}" if asked is not None else str(name)
