"""Claude's export: `conversations.json` with `chat_messages`, and beside it memories and projects, if there are any.

What stands in an attachment is a document that the user handed over, not his words: it is recorded as a tool's result
after his message. What Claude remembered of him, and what projects hold, become documents.
"""

from __future__ import annotations

import re

from looseleaf.transfer import json_stream
from looseleaf.transfer.source import (
    Broken,
    Document,
    Said,
    Talk,
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

NAME = "claude"
ABOUT = "Claude's data export: a zip or folder with conversations.json, memories and projects"

_TALKS = re.compile(r"(?:^|/)conversations(?:[-_]\d+)?\.json\Z", re.IGNORECASE)
_MEMORIES = re.compile(r"(?:^|/)memories(?:[-_]\d+)?(?:\.json|/[^/]+\.json)\Z", re.IGNORECASE)
_PROJECTS = re.compile(r"(?:^|/)projects(?:[-_]\d+)?(?:\.json|/[^/]+\.json)\Z", re.IGNORECASE)


def detect(source: Source) -> float:
    found = named(source, ".json")
    talks = found if source.kind == "file" else [name for name in found if _TALKS.search(name)]
    if any(b'"chat_messages"' in source.head(name) for name in talks[:4]):
        return 0.95
    memories = [name for name in found if _MEMORIES.search(name)]
    return 0.9 if any(b'"conversations_memory"' in source.head(name) for name in memories[:4]) else 0.0


def read(source: Source, note: Note) -> Iterator[Item]:
    projects: dict[str, str] = {}
    for name in to_read(source, named(source, ".json")):
        try:
            if _PROJECTS.search(name):
                for _, raw in _objects(source, name, note):
                    projects[words(raw.get("uuid"))] = words(raw.get("name"))
                    yield from _project(raw)
        except Broken as broken:
            note(str(broken))
    for name in to_read(source, named(source, ".json")):
        try:
            if _MEMORIES.search(name):
                for _, raw in _objects(source, name, note):
                    yield from _memories(raw, projects)
            elif _TALKS.search(name) or source.kind == "file":
                for number, raw in _objects(source, name, note):
                    if isinstance(raw.get("chat_messages"), list):
                        key = words(raw.get("uuid")) or f"{name}#{number}"
                        yield Talk(key, words(raw.get("name")), _said(raw))
                    else:
                        note(f"{name}: {number!r} was passed over, it is no conversation.")
                    del raw  # the next may be as long
        except Broken as broken:
            note(str(broken))


def _objects(source: Source, name: str, note: Note) -> Iterator[tuple[str, dict[str, Any]]]:
    """Of a file that holds a list of them, or one."""
    with source.open(name) as stream:
        is_one = json_stream.Reader(stream).opening() == "{"
    with source.open(name) as stream:
        found = json_stream.members(stream, note, name)
        for number, raw in unwrapped(dict(found)) if is_one else found:
            if isinstance(raw, dict):
                yield number, raw
            else:
                note(f"{name}: {number!r} was passed over, it is no object.")
            del raw


# --- conversations -----------------------------------------------------------------------


def _said(raw: dict[str, Any]) -> Iterator[Said]:
    calls: list[str] = []
    for number, message in enumerate(_way(raw)):
        key = words(message.get("uuid")) or str(number)
        ts = when(message.get("created_at"))
        if message.get("sender") == "human":
            yield from _of_user(message, key, ts)
        elif message.get("sender") == "assistant":
            yield from _of_assistant(message, key, ts, calls)


def _way(raw: dict[str, Any]) -> list[dict[str, Any]]:
    """All messages; or, where it is said which was the last one seen, those that lead to it."""
    messages = objects(raw["chat_messages"])
    by_name = {words(message.get("uuid")): message for message in messages}
    node = words(raw.get("current_leaf_message_uuid"))
    if node not in by_name:
        return messages
    way: list[dict[str, Any]] = []
    while node in by_name:
        way.append(by_name.pop(node))
        node = words(way[-1].get("parent_message_uuid"))
    return way[::-1]


def _of_user(message: dict[str, Any], key: str, ts: float | None) -> Iterator[Said]:
    blocks = [each for each in objects(message.get("content")) if each.get("type") in ("text", "voice_note")]
    text = spoken(blocks) or words(message.get("text"))
    files = [words(each.get("file_name")) for each in objects(message.get("files"))]
    if text.strip():
        yield Said(key, "user", text, ts)
    for number, each in enumerate(objects(message.get("attachments"))):
        content = words(each.get("extracted_content"))
        if content.strip():
            name = words(each.get("file_name"))
            result = {"file_name": name, "text": content} if name else content
            own = f"{key}-attachment-{number}"
            yield Said(own, "tool_result", "", ts, "attachment", None, own, result)
    if any(files):
        own = f"{key}-files"
        yield Said(
            own, "tool_result", "", ts, "files", None, own, {"file_names": [each for each in files if each]}
        )


def _of_assistant(message: dict[str, Any], key: str, ts: float | None, calls: list[str]) -> Iterator[Said]:
    blocks = objects(message.get("content"))
    thought: list[str] = []
    is_told = False
    for number, block in enumerate(blocks):
        kind, own = block.get("type"), f"{key}-{number}"
        at = when(block.get("start_timestamp")) or ts
        if kind == "thinking":
            thought.append(words(block.get("thinking")))
        elif kind == "text" and words(block.get("text")).strip():
            reasoning, thought, is_told = "\n\n".join(filter(None, thought)) or None, [], True
            yield Said(own, "assistant", words(block.get("text")), at, reasoning=reasoning)
        elif kind == "tool_use" and words(block.get("name")):
            call = words(block.get("id")) or own
            calls.append(call)
            reasoning, thought, is_told = "\n\n".join(filter(None, thought)) or None, [], True
            yield Said(
                own,
                "tool_call",
                "",
                at,
                words(block.get("name")),
                block.get("input"),
                call,
                reasoning=reasoning,
            )
        elif kind == "tool_result":
            yield _result(block, own, at, calls)
    if not is_told and words(message.get("text")).strip():
        yield Said(key, "assistant", words(message.get("text")), ts)


def _result(block: dict[str, Any], own: str, ts: float | None, calls: list[str]) -> Said:
    call = words(block.get("tool_use_id"))
    if call not in calls:
        call = calls[0] if calls and not call else call or own
    if call in calls:
        calls.remove(call)
    text = spoken(block.get("content"))
    is_error = block.get("is_error") is True
    result, error = (None, text) if is_error else (text, None)
    return Said(own, "tool_result", "", ts, words(block.get("name")) or None, None, call, result, error)


# --- documents -----------------------------------------------------------------------------


def _memories(raw: dict[str, Any], projects: dict[str, str]) -> Iterator[Document]:
    own = words(raw.get("account_uuid"))
    text = words(raw.get("conversations_memory"))
    if text.strip():
        yield Document(f"memory-{own}", text, "What Claude remembered", None, "facts/claude-memory.md")
    for project, each in members(raw.get("project_memories")).items():
        if words(each).strip():
            title = projects.get(project) or "a project"
            yield Document(f"memory-{own}-{project}", each, f"What Claude remembered of {title}", topic=title)


def _project(raw: dict[str, Any]) -> Iterator[Document]:
    key, name = words(raw.get("uuid")), words(raw.get("name"))
    ts = when(raw.get("created_at"))
    texts = (words(raw.get("description")).strip(), words(raw.get("prompt_template")).strip())
    about = "\n\n".join(filter(None, texts))
    if about:
        yield Document(f"project-{key}", about, name or "A project", ts, topic=name or None)
    for number, doc in enumerate(objects(raw.get("docs"))):
        text = words(doc.get("content"))
        if text.strip():
            own = words(doc.get("uuid")) or str(number)
            title = words(doc.get("filename")) or name
            yield Document(
                f"project-{key}-{own}", text, title, when(doc.get("created_at")) or ts, topic=name or None
            )
