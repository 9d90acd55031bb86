"""Codex' sessions: `~/.codex/sessions/YYYY/MM/DD/rollout-*.jsonl`, one file for each.

The items of the conversation are taken (`response_item`; in older files the line itself), not the events that tell of
them once more. Instructions, the environment and other things that the program says in the user's name are not his
words, and are passed over; so is the history that stands for what was compacted.
"""

from __future__ import annotations

import json

from looseleaf.importers.items import Said, Talk
from looseleaf.importers.json_stream import lines
from looseleaf.importers.reading import loaded, media_of, members, named, objects, spoken, stem, when, words
from looseleaf.importers.source import Broken
from looseleaf.integrations.lines import parted

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from looseleaf.importers.items import Item, Note
    from looseleaf.importers.source import Source

NAME = "codex"
ABOUT = "Codex' sessions: ~/.codex/sessions, or one rollout-….jsonl file"

_OF_PROGRAM = ("# AGENTS.md instructions", "<INSTRUCTIONS>", "# Context from my IDE setup:", "<permissions")
_CALLS = ("function_call", "custom_tool_call", "local_shell_call", "web_search_call")
_RESULTS = ("function_call_output", "custom_tool_call_output", "local_shell_call_output")


def detect(source: Source) -> float:
    for name in _names(source)[:8]:
        head = source.head(name)
        if b'"session_meta"' in head or (b'"record_type"' in head and b'"role"' in head):
            return 0.95
    return 0.0


def _names(source: Source) -> list[str]:
    found = named(source, ".jsonl")
    return found if source.kind == "file" else [name for name in found if stem(name).startswith("rollout-")]


def read(source: Source, note: Note) -> Iterator[Item]:
    for name in sorted(_names(source)):
        yield Talk(_key(source, name), "", _said(source, name, note))


def _key(source: Source, name: str) -> str:
    """The session's id, as its first line has it; else the file's name."""
    try:
        first = members(json.loads(source.head(name, 1 << 20).partition(b"\n")[0]))
    except (ValueError, RecursionError):
        first = {}
    own = members(first.get("payload")) if first.get("type") == "session_meta" else first
    return words(own.get("id")) or stem(name)


def _said(source: Source, name: str, note: Note) -> Iterator[Said]:
    thought: list[str] = []
    begun: float | None = None  # older files have no other time
    try:
        with source.open(name) as stream:
            for number, raw in lines(stream, note, name):
                own = members(raw)
                begun = begun if begun is not None else when(own.get("timestamp"))
                item = members(own.get("payload")) if "payload" in own else own
                if own.get("type") not in ("response_item", *_PLAIN) or not item:
                    continue
                if item.get("type") == "reasoning":
                    thought += filter(None, (spoken(item.get("summary")), spoken(item.get("content"))))
                    continue
                ts = when(own.get("timestamp")) or begun
                found = _item(str(number), item, ts, "\n\n".join(thought) or None)
                if found is not None:
                    thought = thought if found.reasoning is None else []
                    yield found
    except Broken as broken:
        note(str(broken))


_PLAIN = ("message", "reasoning", *_CALLS, *_RESULTS)
"""Lines of older files, which are the items themselves."""


def _item(key: str, item: dict[str, Any], ts: float | None, reasoning: str | None) -> Said | None:
    kind, role = item.get("type"), item.get("role")
    if kind == "message":
        content = item.get("content")
        if role == "assistant" and spoken(content).strip():
            return Said(key, "assistant", spoken(content), ts, reasoning=reasoning)
        if role == "user":
            text, media = _of_user(content), media_of(content)
            return Said(key, "user", text, ts, media=media) if text or media else None
        return None
    call = words(item.get("call_id")) or words(item.get("id")) or key
    if kind in _CALLS:
        name = words(item.get("name")) or str(kind).removesuffix("_call")
        given = item.get("arguments", item.get("input", item.get("action")))
        return Said(key, "tool_call", "", ts, name, loaded(given), call, reasoning=reasoning)
    if kind in _RESULTS:
        return _result(key, item.get("output"), ts, call)
    return None


def _of_user(content: object) -> str:
    """The texts that are the user's own, without what the program put among them."""
    blocks = objects(content) if isinstance(content, list) else [{"text": words(content)}]
    texts = (spoken([block]) for block in blocks)
    own = (parted(text)[0] for text in texts if not text.lstrip().startswith(_OF_PROGRAM))
    return "\n\n".join(filter(None, own))


def _result(key: str, output: object, ts: float | None, call: str) -> Said:
    """A text, or an object that says whether it went well; older ones have that written out as JSON."""
    about = members(output) or (members(loaded(output)) if words(output).startswith('{"output"') else {})
    text = spoken(about.get("content", about.get("output"))) if about else spoken(output)
    is_error = about.get("success") is False or members(about.get("metadata")).get("exit_code") not in (
        None,
        0,
    )
    result, error = (None, text) if is_error else (text, None)
    return Said(key, "tool_result", "", ts, None, None, call, result, error)
