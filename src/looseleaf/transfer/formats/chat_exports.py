"""ChatGPT's export: `conversations.json`, or `conversations-000.json` and on, in its zip, unpacked, or alone.

A conversation is a tree of messages; what the user saw last is the way from `current_node` up to its root. Answers that
were made again and questions that were edited stand beside that way and are not taken. Messages that the program put
there (of the system, hidden, of weight 0) are nobody's words. Custom instructions, which every conversation repeats,
become one document.
"""

from __future__ import annotations

import re

from looseleaf.transfer import json_stream
from looseleaf.transfer.source import (
    Broken,
    Document,
    Said,
    Talk,
    loaded,
    members,
    named,
    objects,
    spoken,
    to_read,
    unwrapped,
    when,
    words,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from looseleaf.transfer.source import Item, Note, Source

NAME = "chatgpt"
ABOUT = "ChatGPT's data export: a zip or folder with conversations.json"

_FILE = re.compile(r"(?:^|/)conversations(?:[-_]\d+)?\.json\Z", re.IGNORECASE)
_THOUGHT = ("thoughts", "reasoning_recap")
_SHOWN_TO_ALL = ("", "all")


def detect(source: Source) -> float:
    names = _names(source)
    heads = (source.head(name) for name in names[:4])
    return 0.95 if any(b'"mapping"' in head and b'"create_time"' in head for head in heads) else 0.0


def _names(source: Source) -> list[str]:
    found = named(source, ".json")
    return found if source.kind == "file" else [name for name in found if _FILE.search(name)]


def read(source: Source, note: Note) -> Iterator[Item]:
    instructions: tuple[float, str] = (0.0, "")
    for name in to_read(source, _names(source)):
        try:
            with source.open(name) as stream:
                one = json_stream.Reader(stream).opening() == "{"
            with source.open(name) as stream:
                for number, raw in _conversations(stream, note, name, one=one):
                    if not isinstance(raw, dict) or not isinstance(raw.get("mapping"), dict):
                        note(f"{name}: {number!r} was passed over, it is no conversation.")
                        continue
                    way = _way(raw)
                    if not way and any(members(own).get("message") for own in raw["mapping"].values()):
                        title = words(raw.get("title"))[:80] or number
                        note(
                            f"{name}: {title!r} was passed over, it leads in a circle and has no last message."
                        )
                        continue
                    if _above(raw["mapping"], way):
                        title = words(raw.get("title"))[:80] or number
                        note(f"{name}: the beginning of {title!r} is not there, and was not taken.")
                    instructions = max([instructions, *_instructions(way, when(raw.get("create_time")))])
                    key = words(raw.get("conversation_id")) or words(raw.get("id")) or f"{name}#{number}"
                    yield Talk(key, words(raw.get("title")), _said(way))
                    del raw, way  # the next may be as long
        except Broken as broken:
            note(str(broken))
    ts, text = instructions
    if text:
        yield Document(
            "custom-instructions", text, "Custom instructions", ts or None, "facts/instructions.md"
        )


def _conversations(stream: Any, note: Note, name: str, *, one: bool) -> Iterator[tuple[str, Any]]:
    """Of a file of many, or of one; some programs put the many under a name."""
    if one:
        yield from unwrapped(dict(json_stream.members(stream, note, name)))
    else:
        yield from json_stream.members(stream, note, name)


def _way(raw: dict[str, Any]) -> list[tuple[str, dict[str, Any]]]:
    """The messages from the root to where the user was last, with their nodes' names."""
    mapping = raw["mapping"]
    node = words(raw.get("current_node"))
    if node not in mapping:  # the newest that leads nowhere
        leaves = [each for each, own in mapping.items() if not members(own).get("children")]
        node = max(leaves, key=lambda each: _made(mapping[each]), default="")
    way: list[tuple[str, dict[str, Any]]] = []
    seen: set[str] = set()
    while node in mapping and node not in seen:
        seen.add(node)
        own = members(mapping[node])
        if isinstance(own.get("message"), dict):
            way.append((node, own["message"]))
        node = words(own.get("parent"))
    return way[::-1]


def _above(mapping: dict[str, Any], way: list[tuple[str, dict[str, Any]]]) -> str:
    """The message before the first of a way, which an export that is whole has not, or has without words."""
    node = way[0][0] if way else ""
    seen: set[str] = set()
    while node in mapping and node not in seen:
        seen.add(node)
        node = words(members(mapping[node]).get("parent"))
    return node


def _made(node: object) -> float:
    return when(members(members(node).get("message")).get("create_time")) or 0.0


def _instructions(way: list[tuple[str, dict[str, Any]]], ts: float | None) -> Iterator[tuple[float, str]]:
    """What the user told about himself and how he wants to be answered, in his own words."""
    for _, message in way:
        content, about = members(message.get("content")), members(message.get("metadata"))
        if content.get("content_type") == "user_editable_context":
            own = members(about.get("user_context_message_data"))
            texts = (words(own.get("about_user_message")), words(own.get("about_model_message")))
            text = "\n\n".join(filter(None, (each.strip() for each in texts)))
            if text:
                yield ts or 0.0, text


def _said(way: list[tuple[str, dict[str, Any]]]) -> Iterator[Said]:
    calls = _Calls()
    thought: list[str] = []
    for node, message in way:
        content, about = members(message.get("content")), members(message.get("metadata"))
        role, kind = words(members(message.get("author")).get("role")), words(content.get("content_type"))
        is_hidden = about.get("is_visually_hidden_from_conversation") is True or message.get("weight") == 0
        if role == "system" or is_hidden or kind in ("user_editable_context", "model_editable_context"):
            continue
        key, ts = words(message.get("id")) or node, when(message.get("create_time"))
        if role == "assistant" and (kind in _THOUGHT or message.get("channel") == "analysis"):
            thought += [] if kind == "reasoning_recap" else [_thoughts(content)]
            continue
        text, media = _text(content), _media(content)
        if role == "user":
            if text.strip() or media:
                yield Said(key, "user", text, ts, media=media)
        elif role == "assistant":
            to = words(message.get("recipient"))
            reasoning = "\n\n".join(filter(None, thought)) or None
            if to not in _SHOWN_TO_ALL:
                thought = []
                yield Said(
                    key, "tool_call", "", ts, to, loaded(text), calls.ask(key, to), reasoning=reasoning
                )
            elif text.strip() or media:
                thought = []
                yield Said(key, "assistant", text, ts, reasoning=reasoning, media=media)
        elif role == "tool" and (text.strip() or media):
            name = words(members(message.get("author")).get("name"))
            error = text if kind == "system_error" else None
            result = None if error is not None else text
            call = calls.answer(key, name)
            yield Said(key, "tool_result", "", ts, name or None, None, call, result, error, media=media)


class _Calls:
    """Calls have no ids here: a result is of the oldest call of its tool that has none yet."""

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


def _thoughts(content: dict[str, Any]) -> str:
    own = objects(content.get("thoughts"))
    texts = [words(each.get("content")) or words(each.get("summary")) for each in own]
    return "\n\n".join(filter(None, texts)) or _text(content)


def _text(content: dict[str, Any]) -> str:
    """Whatever of a content is text, by its many names."""
    parts = content.get("parts")
    if isinstance(parts, list):
        return "\n\n".join(filter(None, map(_part, parts)))
    named_texts = (words(content.get(name)) for name in ("text", "result", "content"))
    text = next(filter(None, named_texts), "") or spoken(content.get("content"))
    quoted = [
        words(content.get(name)) for name in ("title", "url") if content.get("content_type") == "tether_quote"
    ]
    return "\n".join(filter(None, (*quoted, text)))


def _part(part: object) -> str:
    return words(members(part).get("text")) if isinstance(part, dict) else words(part)


def _media(content: dict[str, Any]) -> dict[str, list[str]] | None:
    """The addresses of what was shown or heard; the export has the files beside it, under a part of that name."""
    found: dict[str, list[str]] = {}
    for part in objects(content.get("parts")):
        for own in (part, members(part.get("audio_asset_pointer"))):
            pointer = words(own.get("asset_pointer"))
            if pointer:
                is_audio = "audio" in words(own.get("content_type"))
                found.setdefault("audio" if is_audio else "images", []).append(pointer)
    return found or None
