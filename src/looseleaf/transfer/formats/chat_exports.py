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
    json_of,
    skip_broken,
    text_of,
    time_of,
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
_SHOWN_TO_ALL = ("", "all")


def detect(source: ImportSource) -> float:
    names = _find_files(source)
    heads = (source.head(name) for name in names[:4])
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
                    note(f"{name}: {number!r} was passed over, it is not a conversation.")
                    continue
                branch = _visible_branch(raw)
                title = text_of(raw.get("title"))[:80] or number
                if not branch and any(dict_of(own).get("message") for own in raw["mapping"].values()):
                    note(f"{name}: {title!r} was passed over, it leads in a circle and has no last message.")
                    continue
                if _find_lost_parent(raw["mapping"], branch):
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
        node = max(leaves, key=lambda each: _time_of(mapping[each]), default="")
    branch: list[tuple[str, dict[str, Any]]] = []
    seen: set[str] = set()
    while node in mapping and node not in seen:
        seen.add(node)
        own = dict_of(mapping[node])
        if isinstance(own.get("message"), dict):
            branch.append((node, own["message"]))
        node = text_of(own.get("parent"))
    return branch[::-1]


def _find_lost_parent(mapping: dict[str, Any], branch: list[tuple[str, dict[str, Any]]]) -> str:
    """Return the node that the start of a branch names as its parent and the export lacks; "" for a whole branch."""
    node = branch[0][0] if branch else ""
    seen: set[str] = set()
    while node in mapping and node not in seen:
        seen.add(node)
        node = text_of(dict_of(mapping[node]).get("parent"))
    return node


def _time_of(node: object) -> float:
    return time_of(dict_of(dict_of(node).get("message")).get("create_time")) or 0.0


def _read_instructions(
    branch: list[tuple[str, dict[str, Any]]], ts: float | None
) -> Iterator[tuple[float, str]]:
    """Yield what users wrote about themselves and the answers they want, in their own words."""
    for _, message in branch:
        content, about = dict_of(message.get("content")), dict_of(message.get("metadata"))
        if content.get("content_type") == "user_editable_context":
            own = dict_of(about.get("user_context_message_data"))
            texts = (text_of(own.get("about_user_message")), text_of(own.get("about_model_message")))
            text = "\n\n".join(filter(None, (each.strip() for each in texts)))
            if text:
                yield ts or 0.0, text


def _read_messages(branch: list[tuple[str, dict[str, Any]]]) -> Iterator[ImportMessage]:
    calls = _OpenCalls()
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
            reasoning = "\n\n".join(filter(None, thought)) or None
            if to not in _SHOWN_TO_ALL:
                thought = []
                yield ImportMessage(
                    key, "tool_call", "", ts, to, json_of(text), calls.ask(key, to), reasoning=reasoning
                )
            elif text.strip() or media:
                thought = []
                yield ImportMessage(key, "assistant", text, ts, reasoning=reasoning, media=media)
        elif role == "tool" and (text.strip() or media):
            name = text_of(dict_of(message.get("author")).get("name"))
            error = text if kind == "system_error" else None
            result = None if error is not None else text
            call = calls.answer(key, name)
            yield ImportMessage(
                key, "tool_result", "", ts, name or None, None, call, result, error, media=media
            )


class _OpenCalls:
    """The calls without a result. Calls have no ids here: a result belongs to the oldest open call of its tool."""

    def __init__(self) -> None:
        self._open: list[tuple[str, str]] = []

    def ask(self, key: str, name: str) -> str:
        self._open.append((key, name))
        return key

    def answer(self, key: str, name: str) -> str:
        tool = name.partition(".")[0]
        found = next((each for each in self._open if each[1].partition(".")[0] == tool), None)
        if found is None:
            return key
        self._open.remove(found)
        return found[0]


def _thoughts_of(content: dict[str, Any]) -> str:
    own = dicts_of(content.get("thoughts"))
    texts = [text_of(each.get("content")) or text_of(each.get("summary")) for each in own]
    return "\n\n".join(filter(None, texts)) or _text_of(content)


def _text_of(content: dict[str, Any]) -> str:
    """Return all text of a content, under its many names."""
    parts = content.get("parts")
    if isinstance(parts, list):
        return "\n\n".join(filter(None, map(_text_of_part, parts)))
    named_texts = (text_of(content.get(name)) for name in ("text", "result", "content"))
    text = next(filter(None, named_texts), "") or content_text(content.get("content"))
    quoted = [
        text_of(content.get(name))
        for name in ("title", "url")
        if content.get("content_type") == "tether_quote"
    ]
    return "\n".join(filter(None, (*quoted, text)))


def _text_of_part(part: object) -> str:
    return text_of(dict_of(part).get("text")) if isinstance(part, dict) else text_of(part)


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
