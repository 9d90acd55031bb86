"""ChatGPT's export: `conversations.json`, or `conversations-000.json` and on, in its zip, unpacked, or alone.

A conversation is a tree of messages; the branch that the user saw last leads from the root to `current_node`. Retried
answers and edited questions stand on other branches and are not taken, nor are messages of the program itself (of the
system, hidden, of weight 0). Custom instructions, which every conversation repeats, become one document.
"""

from __future__ import annotations

import re

from looseleaf.transfer import json_stream
from looseleaf.transfer.source import (
    ImportDocument,
    ImportMessage,
    Talk,
    content_text,
    dict_of,
    dicts_of,
    files_ending,
    files_to_read,
    join_texts,
    json_of,
    skip_broken,
    text_of,
    time_of,
    tool_call,
    tool_result,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from looseleaf.transfer.source import ImportSource, Item, Note

NAME = "chatgpt"
ABOUT = "ChatGPT's data export: a zip or folder with conversations.json"

_FILE = re.compile(r"(?:^|/)conversations(?:[-_]\d+)?\.json\Z", re.IGNORECASE)
_THOUGHT = ("thoughts", "reasoning_recap")


def detect(source: ImportSource) -> float:
    heads = (source.head(name) for name in _find_files(source)[:4])
    return 0.95 if any(b'"mapping"' in head and b'"create_time"' in head for head in heads) else 0.0


def _find_files(source: ImportSource) -> list[str]:
    found = files_ending(source, ".json")
    return found if source.kind == "file" else [name for name in found if _FILE.search(name)]


def read(source: ImportSource, note: Note) -> Iterator[Item]:
    instructions: tuple[float, str] = (0.0, "")
    for name in files_to_read(source, _find_files(source)):
        with skip_broken(note):
            for number, raw in json_stream.records(source, name, note):
                if not isinstance(raw, dict) or not isinstance(raw.get("mapping"), dict):
                    note(f"{name}: {number!r} was passed over: it is not a conversation.")
                    continue
                branch = _visible_branch(raw)
                title = text_of(raw.get("title"))[:80] or number
                if not branch and any(dict_of(own).get("message") for own in raw["mapping"].values()):
                    note(f"{name}: {title!r} was passed over: it leads in a circle and has no last message.")
                    continue
                if branch and _walk_up(raw["mapping"], branch[0][0])[1]:
                    note(f"{name}: the beginning of {title!r} is missing, and was not taken.")
                instructions = max(
                    [instructions, *_read_instructions(branch, time_of(raw.get("create_time")))]
                )
                key = text_of(raw.get("conversation_id")) or text_of(raw.get("id")) or f"{name}#{number}"
                yield Talk(key, text_of(raw.get("title")), _read_messages(branch))
                del raw, branch  # the next may be as long
    ts, text = instructions
    if text:
        yield ImportDocument(
            "custom-instructions", text, "Custom instructions", ts or None, "facts/instructions.md"
        )


def _visible_branch(raw: dict[str, Any]) -> list[tuple[str, dict[str, Any]]]:
    """Return the messages from the root to the last one the user saw, with their nodes' names."""
    mapping = raw["mapping"]
    node = text_of(raw.get("current_node"))
    if node not in mapping:  # take the newest leaf
        leaves = [each for each, own in mapping.items() if not dict_of(own).get("children")]
        messages = {each: dict_of(dict_of(mapping[each]).get("message")) for each in leaves}
        node = max(leaves, key=lambda each: time_of(messages[each].get("create_time")) or 0.0, default="")
    nodes = [(each, dict_of(mapping[each]).get("message")) for each in _walk_up(mapping, node)[0]]
    return [(each, message) for each, message in reversed(nodes) if isinstance(message, dict)]


def _walk_up(mapping: dict[str, Any], node: str) -> tuple[list[str], str]:
    """Return a node and those above it, and the parent of the last that the export lacks, or that was there before; ""
    at the root."""
    seen: dict[str, None] = {}
    while node in mapping and node not in seen:
        seen[node] = None
        node = text_of(dict_of(mapping[node]).get("parent"))
    return list(seen), node


def _read_instructions(
    branch: list[tuple[str, dict[str, Any]]], ts: float | None
) -> Iterator[tuple[float, str]]:
    """Yield what users wrote about themselves and the answers they want, in their own words."""
    for _, message in branch:
        content, about = dict_of(message.get("content")), dict_of(message.get("metadata"))
        if content.get("content_type") == "user_editable_context":
            own = dict_of(about.get("user_context_message_data"))
            names = ("about_user_message", "about_model_message")
            text = join_texts(text_of(own.get(name)).strip() for name in names)
            if text:
                yield ts or 0.0, text


def _read_messages(branch: list[tuple[str, dict[str, Any]]]) -> Iterator[ImportMessage]:
    calls: list[tuple[str, str]] = []
    thought: list[str] = []
    for node, message in branch:
        content, about = dict_of(message.get("content")), dict_of(message.get("metadata"))
        role, kind = text_of(dict_of(message.get("author")).get("role")), text_of(content.get("content_type"))
        is_hidden = about.get("is_visually_hidden_from_conversation") is True or message.get("weight") == 0
        if role == "system" or is_hidden or kind in ("user_editable_context", "model_editable_context"):
            continue
        key, ts = text_of(message.get("id")) or node, time_of(message.get("create_time"))
        if role == "assistant" and (kind in _THOUGHT or message.get("channel") == "analysis"):
            thought += [] if kind == "reasoning_recap" else [_thoughts_of(content)]
            continue
        text, media = _text_of(content), _media_of(content)
        if role == "user":
            if text.strip() or media:
                yield ImportMessage(key, "user", text, ts, media=media)
        elif role == "assistant":
            to = text_of(message.get("recipient"))
            reasoning = join_texts(thought) or None
            if to not in ("", "all"):
                thought = []
                calls.append((key, to))
                yield tool_call(key, ts, to, json_of(text), key, reasoning)
            elif text.strip() or media:
                thought = []
                yield ImportMessage(key, "assistant", text, ts, reasoning=reasoning, media=media)
        elif role == "tool" and (text.strip() or media):
            name = text_of(dict_of(message.get("author")).get("name"))
            # Calls have no ids here: a result belongs to the oldest open call of its tool.
            tool = name.partition(".")[0]
            call = next((each for each in calls if each[1].partition(".")[0] == tool), (key, ""))
            calls = [each for each in calls if each is not call]
            is_error = kind == "system_error"
            yield tool_result(key, ts, name or None, call[0], text, is_error=is_error, media=media)


def _thoughts_of(content: dict[str, Any]) -> str:
    own = dicts_of(content.get("thoughts"))
    texts = (text_of(each.get("content")) or text_of(each.get("summary")) for each in own)
    return join_texts(texts) or _text_of(content)


def _text_of(content: dict[str, Any]) -> str:
    """Return all text of a content, under its many names."""
    parts = content.get("parts")
    if isinstance(parts, list):
        return join_texts(text_of(part.get("text") if isinstance(part, dict) else part) for part in parts)
    named_texts = (text_of(content.get(name)) for name in ("text", "result", "content"))
    text = next(filter(None, named_texts), "") or content_text(content.get("content"))
    names = ("title", "url") if content.get("content_type") == "tether_quote" else ()
    return "\n".join(filter(None, (*(text_of(content.get(name)) for name in names), text)))


def _media_of(content: dict[str, Any]) -> dict[str, list[str]] | None:
    """Return the addresses of pictures and recordings; the export has the files beside it, under part of that name."""
    found: dict[str, list[str]] = {}
    for part in dicts_of(content.get("parts")):
        for own in (part, dict_of(part.get("audio_asset_pointer"))):
            pointer = text_of(own.get("asset_pointer"))
            if pointer:
                is_audio = "audio" in text_of(own.get("content_type"))
                found.setdefault("audio" if is_audio else "images", []).append(pointer)
    return found or None
