"""Claude's export: `conversations.json` with `chat_messages`, and beside it memories and projects, if there are any.

The text of an attachment is not the user's words: it is recorded as a tool's result after the message. Claude's
memories of the user, and the files of projects, become documents.
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

NAME = "claude"
ABOUT = "Claude's data export: a zip or folder with conversations.json, memories and projects"

_TALKS = re.compile(r"(?:^|/)conversations(?:[-_]\d+)?\.json\Z", re.IGNORECASE)
_MEMORIES = re.compile(r"(?:^|/)memories(?:[-_]\d+)?(?:\.json|/[^/]+\.json)\Z", re.IGNORECASE)
_PROJECTS = re.compile(r"(?:^|/)projects(?:[-_]\d+)?(?:\.json|/[^/]+\.json)\Z", re.IGNORECASE)


def detect(source: ImportSource) -> float:
    found = files_ending(source, ".json")
    talks = found if source.kind == "file" else [name for name in found if _TALKS.search(name)]
    if any(b'"chat_messages"' in source.head(name) for name in talks[:4]):
        return 0.95
    memories = [name for name in found if _MEMORIES.search(name)]
    return 0.9 if any(b'"conversations_memory"' in source.head(name) for name in memories[:4]) else 0.0


def read(source: ImportSource, note: Note) -> Iterator[Item]:
    projects: dict[str, str] = {}
    names = files_to_read(source, files_ending(source, ".json"))
    for name in filter(_PROJECTS.search, names):
        with skip_broken(note):
            for _, raw in _read_objects(source, name, note):
                projects[text_of(raw.get("uuid"))] = text_of(raw.get("name"))
                yield from _read_project(raw)
    for name in names:
        with skip_broken(note):
            if _MEMORIES.search(name):
                for _, raw in _read_objects(source, name, note):
                    yield from _read_memories(raw, projects)
            elif _TALKS.search(name) or source.kind == "file":
                for number, raw in _read_objects(source, name, note):
                    if isinstance(raw.get("chat_messages"), list):
                        key = text_of(raw.get("uuid")) or f"{name}#{number}"
                        yield Talk(key, text_of(raw.get("name")), _read_messages(raw))
                    else:
                        note(f"{name}: {number!r} was passed over: it is not a conversation.")
                    del raw  # the next may be as long


def _read_objects(source: ImportSource, name: str, note: Note) -> Iterator[tuple[str, dict[str, Any]]]:
    for number, raw in json_stream.records(source, name, note):
        if isinstance(raw, dict):
            yield number, raw
        else:
            note(f"{name}: {number!r} was passed over: it is not an object.")
        del raw


def _read_messages(raw: dict[str, Any]) -> Iterator[ImportMessage]:
    calls: list[str] = []
    for number, message in enumerate(_visible_branch(raw)):
        key = text_of(message.get("uuid")) or str(number)
        ts = time_of(message.get("created_at"))
        if message.get("sender") == "human":
            yield from _read_user(message, key, ts)
        elif message.get("sender") == "assistant":
            yield from _read_assistant(message, key, ts, calls)


def _visible_branch(raw: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the messages that lead to the last one the user saw; all, where the export does not name it."""
    messages = dicts_of(raw["chat_messages"])
    by_name = {text_of(message.get("uuid")): message for message in messages}
    node = text_of(raw.get("current_leaf_message_uuid"))
    branch: list[dict[str, Any]] = []
    while node in by_name:
        branch.append(by_name.pop(node))
        node = text_of(branch[-1].get("parent_message_uuid"))
    return branch[::-1] or messages


def _read_user(message: dict[str, Any], key: str, ts: float | None) -> Iterator[ImportMessage]:
    blocks = [each for each in dicts_of(message.get("content")) if each.get("type") in ("text", "voice_note")]
    text = content_text(blocks) or text_of(message.get("text"))
    files = [text_of(each.get("file_name")) for each in dicts_of(message.get("files"))]
    if text.strip():
        yield ImportMessage(key, "user", text, ts)
    for number, each in enumerate(dicts_of(message.get("attachments"))):
        content = text_of(each.get("extracted_content"))
        if content.strip():
            name = text_of(each.get("file_name"))
            result = {"file_name": name, "text": content} if name else content
            own = f"{key}-attachment-{number}"
            yield tool_result(own, ts, "attachment", own, result)
    if any(files):
        own = f"{key}-files"
        yield tool_result(own, ts, "files", own, {"file_names": [each for each in files if each]})


def _read_assistant(
    message: dict[str, Any], key: str, ts: float | None, calls: list[str]
) -> Iterator[ImportMessage]:
    thought: list[str] = []
    is_told = False
    for number, block in enumerate(dicts_of(message.get("content"))):
        kind, own = block.get("type"), f"{key}-{number}"
        at = time_of(block.get("start_timestamp")) or ts
        if kind == "thinking":
            thought.append(text_of(block.get("thinking")))
        elif kind == "text" and text_of(block.get("text")).strip():
            reasoning, thought, is_told = join_texts(thought) or None, [], True
            yield ImportMessage(own, "assistant", text_of(block.get("text")), at, reasoning=reasoning)
        elif kind == "tool_use" and text_of(block.get("name")):
            call = text_of(block.get("id")) or own
            calls.append(call)
            reasoning, thought, is_told = join_texts(thought) or None, [], True
            yield tool_call(own, at, text_of(block.get("name")), block.get("input"), call, reasoning)
        elif kind == "tool_result":
            yield _read_result(block, own, at, calls)
    if not is_told and text_of(message.get("text")).strip():
        yield ImportMessage(key, "assistant", text_of(message.get("text")), ts)


def _read_result(block: dict[str, Any], own: str, ts: float | None, calls: list[str]) -> ImportMessage:
    call = text_of(block.get("tool_use_id"))
    if call not in calls:
        call = calls[0] if calls and not call else call or own
    if call in calls:
        calls.remove(call)
    name, text = text_of(block.get("name")) or None, content_text(block.get("content"))
    return tool_result(own, ts, name, call, text, is_error=block.get("is_error") is True)


def _read_memories(raw: dict[str, Any], projects: dict[str, str]) -> Iterator[ImportDocument]:
    own = text_of(raw.get("account_uuid"))
    text = text_of(raw.get("conversations_memory"))
    if text.strip():
        yield ImportDocument(f"memory-{own}", text, "What Claude remembered", None, "facts/claude-memory.md")
    for project, each in dict_of(raw.get("project_memories")).items():
        if text_of(each).strip():
            title = projects.get(project) or "a project"
            about = f"What Claude remembered of {title}"
            yield ImportDocument(f"memory-{own}-{project}", each, about, topic=title)


def _read_project(raw: dict[str, Any]) -> Iterator[ImportDocument]:
    key, name = text_of(raw.get("uuid")), text_of(raw.get("name"))
    ts = time_of(raw.get("created_at"))
    about = join_texts(text_of(raw.get(each)).strip() for each in ("description", "prompt_template"))
    if about:
        yield ImportDocument(f"project-{key}", about, name or "A project", ts, topic=name or None)
    for number, doc in enumerate(dicts_of(raw.get("docs"))):
        text = text_of(doc.get("content"))
        if text.strip():
            own = f"project-{key}-{text_of(doc.get('uuid')) or number}"
            title, made = text_of(doc.get("filename")) or name, time_of(doc.get("created_at")) or ts
            yield ImportDocument(own, text, title, made, topic=name or None)
