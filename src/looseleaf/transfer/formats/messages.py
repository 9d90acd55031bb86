"""Messages of OpenAI's chat API: JSON lines, or a JSON array.

A line or member with `messages` is a talk of its own; else all messages of a file are one. `looseleaf export --as
messages` writes the same. System and developer messages are instructions, not talk, and are passed over.

A talk's key is its session. An id that is unique only within a file (`id`, `custom_id`), or none, is not enough: then
the first messages are part of the key. A message without an id is known by its content, and by how often that came
before: a line put before the others changes no key.
"""

from __future__ import annotations

from looseleaf.base.values import sha256
from looseleaf.transfer import json_stream
from looseleaf.transfer.source import (
    ImportMessage,
    Talk,
    content_text,
    dict_of,
    dicts_of,
    files_ending,
    files_to_read,
    json_of,
    media_of,
    skip_broken,
    stem,
    text_of,
    time_of,
    tool_call,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from looseleaf.transfer.source import ImportSource, Item, Note

NAME = "messages"
ABOUT = "OpenAI-style messages: JSON lines or a JSON array of messages, or of objects with messages"

_NAMES = ("session_id", "session", "conversation_id", "uuid")
_OF_A_FILE = ("id", "custom_id")
_BEGINS = 2
"""Messages that tell talks of one name apart."""

_LINES = (".jsonl", ".ndjson")
_TIMES = ("ts", "timestamp", "created_at", "create_time", "created")


def detect(source: ImportSource) -> float:
    """Be less sure than formats with marks of their own."""
    for name in files_ending(source, *_LINES, ".json")[:8]:
        head = source.head(name, 8192).lstrip(b"\xef\xbb\xbf \t\r\n[")
        if head.startswith(b"{") and b'"role"' in head and b'"content"' in head:
            is_whole = b'"messages"' in head
            return 0.7 if is_whole or head.lstrip(b"{ \n").startswith((b'"role"', b'"content"')) else 0.55
    return 0.0


def read(source: ImportSource, note: Note) -> Iterator[Item]:
    for name in files_to_read(source, files_ending(source, *_LINES, ".json")):
        with skip_broken(note):
            yield from _read_file(source, name, note)


def _read_file(source: ImportSource, name: str, note: Note) -> Iterator[Talk]:
    firsts = ("messages" in dict_of(raw) for _, raw in _read_values(source, name, lambda _: None))
    is_of_talks = next(firsts, None)
    firsts.close()  # it may hold a whole long talk, which is read again below
    if is_of_talks is None:
        note(f"{name} was passed over: it has no messages.")
    elif not is_of_talks:
        messages = (raw for _, raw in _read_values(source, name, note))
        yield Talk(name.rpartition(".")[0], "", _read_messages(messages, note, name))
    else:
        repeats = _Repeats()
        for number, raw in _read_values(source, name, note):
            own = dict_of(raw)
            if isinstance(own.get("messages"), list):
                key = _key_of(own) or repeats(f"{_hash_start(own)}#{stem(name)}")
                yield Talk(key, text_of(own.get("title")), _read_messages(own["messages"], note, name))
            else:
                note(f"{name}: {number!r} was passed over: it has no messages.")
            del raw, own  # the next may be as long


def _key_of(own: dict[str, Any]) -> str:
    """Return the key of a talk, with its agent: sessions of two agents may have one name."""
    given = _first_id(own, _NAMES)
    if not given and _first_id(own, _OF_A_FILE):
        given = f"{_hash_start(own)}#{_first_id(own, _OF_A_FILE)}"
    agent = text_of(own.get("agent"))
    return f"{agent}/{given}" if agent and given else given


def _first_id(own: dict[str, Any], names: tuple[str, ...]) -> str:
    return next((str(own[each]) for each in names if isinstance(own.get(each), str | int)), "")


def _hash_start(own: dict[str, Any]) -> str:
    said = [raw for raw in dicts_of(own["messages"]) if raw.get("role") not in ("system", "developer")]
    return sha256("".join(map(_hash_message, said[:_BEGINS])).encode())[:16]


def _hash_message(raw: dict[str, Any]) -> str:
    return sha256(repr([raw.get(each) for each in _SAYS]).encode("utf-8", "surrogatepass"))


_SPEAKERS = ("user", "assistant")
_SAYS = ("role", "content", "tool_calls", "function_call", "tool_call_id", "name", "error")


class _Repeats:
    """Numbers equal texts, so that each gets a key of its own."""

    def __init__(self) -> None:
        self._seen: dict[str, int] = {}

    def __call__(self, text: str) -> str:
        self._seen[text] = number = self._seen.get(text, 0) + 1
        return f"{text}#{number}"


def _read_values(source: ImportSource, name: str, note: Note) -> Iterator[tuple[str, Any]]:
    """Yield the members of an array, the objects of lines, or one object."""
    with source.open(name) as stream:
        opening = json_stream.JsonReader(stream).opening()
    with source.open(name) as stream:
        if opening == "[":
            yield from json_stream.members(stream, note, name)
        elif name.lower().endswith(_LINES):
            for number, raw in json_stream.json_lines(stream, note, name):
                yield str(number), raw
                del raw
        else:
            yield from json_stream.concatenated(stream, note, name)


def _read_messages(messages: Any, note: Note, name: str) -> Iterator[ImportMessage]:
    repeats = _Repeats()
    with skip_broken(note):
        for number, raw in enumerate(messages):
            own = dict_of(raw)
            if "role" not in own:
                note(f"{name}: message {number + 1} was passed over: it has no role.")
            found = list(_read_message(repeats(_hash_message(own)), own))
            if not found and own.get("role") in _SPEAKERS and not isinstance(own.get("content"), str | None):
                note(f"{name}: message {number + 1} was passed over: it has no content of a known kind.")
            yield from found


def _read_message(key: str, own: dict[str, Any]) -> Iterator[ImportMessage]:
    role, content = own.get("role"), own.get("content")
    text, media = content_text(content), media_of(content)
    ts = next((found for name in _TIMES if (found := time_of(own.get(name))) is not None), None)
    key = text_of(own.get("id")) or key
    reasoning = text_of(own.get("reasoning")) or text_of(own.get("reasoning_content")) or None
    if role == "user" and (text.strip() or media):
        yield ImportMessage(key, "user", text, ts, media=media)
    elif role == "assistant":
        if text.strip() or media:
            yield ImportMessage(key, "assistant", text, ts, reasoning=reasoning, media=media)
        calls = dicts_of(own.get("tool_calls"))
        calls += [{"function": own["function_call"]}] if "function_call" in own else []
        for part, call in enumerate(calls):
            yield _read_call(f"{key}-{part}", call, ts, reasoning if not text.strip() and part == 0 else None)
    elif role in ("tool", "function"):
        result = text if content is None or text else content
        name, call_id, error = (text_of(own.get(each)) or None for each in ("name", "tool_call_id", "error"))
        yield ImportMessage(key, "tool_result", "", ts, name, None, call_id, result, error)


def _read_call(key: str, call: dict[str, Any], ts: float | None, reasoning: str | None) -> ImportMessage:
    given = dict_of(call.get("function")) or dict_of(call.get("custom")) or call
    name, call_id = text_of(given.get("name")) or "tool", text_of(call.get("id")) or None
    return tool_call(key, ts, name, json_of(given.get("arguments", given.get("input"))), call_id, reasoning)
