"""Codex sessions: `~/.codex/sessions/YYYY/MM/DD/rollout-*.jsonl`, one file each.

Takes the items of the conversation (`response_item`; in older files the line itself), not the events that repeat them.
Passes over what the program says in the user's name (instructions, the environment), the history that replaces a
compacted part, and sub-agents' sessions, where the "user" is an agent. What a forked session repeats belongs to the
session it came from.
"""

from __future__ import annotations

import re

from looseleaf.transfer.formats.agent_lines import is_key, prompt_key, split_own_words, split_typed
from looseleaf.transfer.json_stream import json_lines
from looseleaf.transfer.source import (
    ImportMessage,
    Talk,
    content_text,
    dict_of,
    dicts_of,
    files_ending,
    files_to_read,
    join_texts,
    json_of,
    media_of,
    object_in,
    skip_broken,
    stem,
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

NAME = "codex"
HOOKED = True
ABOUT = "Codex sessions: ~/.codex/sessions, or one rollout-….jsonl file"

_OF_PROGRAM = (
    "# AGENTS.md instructions",
    "<INSTRUCTIONS>",
    "<permissions",
    "<skill>\n<name>",
    "Warning: apply_patch was requested via ",
    "Warning: The maximum number of unified exec processes",
)
_SETTING = ("# Context from my IDE setup:", "# Files mentioned by the user:")
"""The start of a text from an editor: its open files, its selection, and then the request."""

_REQUEST = re.compile(r"^## My request(?: for Codex)?:[ \t]*\n?", re.MULTILINE)
_PICTURE = re.compile(r"</?image(?: name=[^<>]*)?>\s*")
"""The text before and after a picture."""
_CALLS = ("function_call", "custom_tool_call", "local_shell_call", "web_search_call")
_RESULTS = ("function_call_output", "custom_tool_call_output", "local_shell_call_output")


def detect(source: ImportSource) -> float:
    for name in _find_files(source)[:8]:
        head = source.head(name)
        if b'"session_meta"' in head or (b'"record_type"' in head and b'"role"' in head):
            return 0.95
    return 0.0


def _find_files(source: ImportSource) -> list[str]:
    found = files_ending(source, ".jsonl")
    return found if source.kind == "file" else [name for name in found if stem(name).startswith("rollout-")]


def read(source: ImportSource, note: Note) -> Iterator[Item]:
    names = {name: _read_meta(source, name) for name in sorted(files_to_read(source, _find_files(source)))}
    files = {text_of(about.get("id")): name for name, about in names.items()} | {"": ""}
    of_sub_agents = 0
    for name, about in names.items():
        if _is_sub_agent(about):
            of_sub_agents += 1
            continue
        said = _read_messages(source, name, note)
        before = files.get(text_of(about.get("forked_from_id")))
        if before and before != name:
            said = _skip_repeated(said, _read_messages(source, before, lambda _: None))
        yield Talk(text_of(about.get("id")) or stem(name), "", said)
    if of_sub_agents:
        what = "session of a sub-agent was" if of_sub_agents == 1 else "sessions of sub-agents were"
        note(f"{of_sub_agents:,} {what} passed over: agents talk to each other there, not the user.")


_METADATA = "internal_chat_message_metadata_passthrough"
_ABOUT = ("id", "source", "thread_source", "parent_thread_id", "forked_from_id")


def _read_meta(source: ImportSource, name: str) -> dict[str, Any]:
    """Return what the first line of a session says about it."""
    first = object_in(source.head(name, 1 << 20).partition(b"\n")[0]) or {}
    own = dict_of(first.get("payload")) if first.get("type") == "session_meta" else first
    return {each: own[each] for each in _ABOUT if isinstance(own.get(each), str | dict)}


def _is_sub_agent(about: dict[str, Any]) -> bool:
    """True where the "user" is another agent or the program; mostly such a session repeats another first."""
    is_spawned = bool(text_of(about.get("parent_thread_id"))) or about.get("thread_source") == "subagent"
    return is_spawned or "subagent" in dict_of(about.get("source"))


def _skip_repeated(said: Iterator[ImportMessage], before: Iterator[ImportMessage]) -> Iterator[ImportMessage]:
    """Yield a forked session without the beginning that it shares with the session before it."""
    for each in said:
        if (old := next(before, None)) is None or _content_of(each) != _content_of(old):
            yield each
            break
    yield from said


def _content_of(said: ImportMessage) -> tuple[Any, ...]:
    return said.role, said.text, said.name, said.args, said.result, said.error


def _read_messages(source: ImportSource, name: str, note: Note) -> Iterator[ImportMessage]:
    thought: list[str] = []
    begun: float | None = None  # older files have no other time
    with skip_broken(note), source.open(name) as stream:
        for number, raw in json_lines(stream, note, name):
            own = dict_of(raw)
            begun = begun if begun is not None else time_of(own.get("timestamp"))
            item = dict_of(own.get("payload")) if "payload" in own else own
            if own.get("type") not in ("response_item", *_PLAIN) or not item:
                continue
            if item.get("type") == "reasoning":
                thought += (content_text(item.get("summary")), content_text(item.get("content")))
                continue
            ts = time_of(own.get("timestamp")) or begun
            found = read_item(f"{item_key(item) or number}-0", item, ts, join_texts(thought) or None)
            if found is not None:
                thought = thought if found.reasoning is None else []
                yield found


def item_key(item: dict[str, Any]) -> str:
    """Return the key of an item: of a prompt, that of its turn and text."""
    turn, name = dict_of(item.get(_METADATA)).get("turn_id"), item.get("id")
    text = prompt_of(item)[0] if item.get("type") == "message" and item.get("role") == "user" else ""
    if text and is_key(turn):
        return prompt_key(str(turn), text)
    return str(name) if is_key(name) else ""


def prompt_of(item: dict[str, Any]) -> tuple[str, bool]:
    """Return the user's words in an item, and whether the client says that the user typed them."""
    kinds, content = dict_of(item.get(_METADATA)).get("content_item_kinds"), item.get("content")
    if not (isinstance(kinds, list) and isinstance(content, list) and "user.text" in kinds):
        return read_user(content), False
    own = [part for part, kind in zip(content, kinds, strict=False) if str(kind).startswith("user.")]
    return split_typed(content_text(own))[0], True


_PLAIN = ("message", "reasoning", *_CALLS, *_RESULTS)
"""Types of lines in older files, which are the items themselves."""


def read_item(
    key: str, item: dict[str, Any], ts: float | None, reasoning: str | None
) -> ImportMessage | None:
    kind, role = item.get("type"), item.get("role")
    if kind == "message":
        content = item.get("content")
        if role == "assistant" and content_text(content).strip():
            return ImportMessage(key, "assistant", content_text(content), ts, reasoning=reasoning)
        if role == "user":
            text, media = read_user(content), media_of(content)
            return ImportMessage(key, "user", text, ts, media=media) if text or media else None
        return None
    call = text_of(item.get("call_id")) or text_of(item.get("id")) or key
    if kind in _CALLS:
        name = text_of(item.get("name")) or str(kind).removesuffix("_call")
        space = text_of(item.get("namespace"))
        if space and not name.startswith(space):
            name = f"{space.removesuffix('__')}__{name}"
        given = item.get("arguments", item.get("input", item.get("action")))
        return tool_call(key, ts, name, json_of(given), call, reasoning)
    return _read_result(key, item.get("output"), ts, call) if kind in _RESULTS else None


def read_user(content: object) -> str:
    """Return the user's own texts, without those of the program."""
    blocks = dicts_of(content) if isinstance(content, list) else [{"text": text_of(content)}]
    return join_texts(_strip_context(content_text([block]).lstrip()) for block in blocks)


def _strip_context(text: str) -> str:
    """Return the request in an editor's text: it stands last, since the selection may contain such a heading too."""
    if text.startswith(_OF_PROGRAM) or _PICTURE.fullmatch(text):
        return ""
    if text.startswith(_SETTING):
        *around, text = _REQUEST.split(text)
        text = text if around else ""
    own = split_own_words(text)[0]
    return _REQUEST.sub("", own, count=1) if _REQUEST.match(own) else own


def _read_result(key: str, output: object, ts: float | None, call: str) -> ImportMessage:
    """Read a text, or an object with a status; older files have that object as JSON text."""
    about = dict_of(output) or (dict_of(json_of(output)) if text_of(output).startswith('{"output"') else {})
    text = content_text(about.get("content", about.get("output"))) if about else content_text(output)
    exit_code = dict_of(about.get("metadata")).get("exit_code")
    is_error = about.get("success") is False or exit_code not in (None, 0)
    return tool_result(key, ts, None, call, text, is_error=is_error)
