"""Messages as OpenAI's chat API has them: JSON lines, or a JSON array.

A line or member with `messages` is a talk of its own; else all messages of a file are one. This is also what
`looseleaf export --as messages` writes. System and developer messages are instructions, not talk, and are passed over.

A talk is known by its session; a name that is only a file's own (`id`, `custom_id`), or none, is not enough to know it
by, and how it begins is part of its key. A message that has no id is known by what it says, and by how often that was
said before: a line that is put before the others changes the keys of none.
"""

from __future__ import annotations

from looseleaf.base.hashing import sha256
from looseleaf.transfer import json_stream
from looseleaf.transfer.source import (
    Broken,
    Said,
    Talk,
    loaded,
    media_of,
    members,
    named,
    objects,
    spoken,
    stem,
    to_read,
    when,
    words,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from looseleaf.transfer.source import Item, Note, Source

NAME = "messages"
ABOUT = "OpenAI-style messages: JSON lines or a JSON array of messages, or of objects with messages"

_NAMES = ("session_id", "session", "conversation_id", "uuid")
_OF_A_FILE = ("id", "custom_id")
_BEGINS = 2
"""Messages by which talks of one name are told apart."""

_LINES = (".jsonl", ".ndjson")
_TIMES = ("ts", "timestamp", "created_at", "create_time", "created")


def detect(source: Source) -> float:
    """Less sure than formats that have more of their own."""
    for name in named(source, *_LINES, ".json")[:8]:
        head = source.head(name, 8192).lstrip(b"\xef\xbb\xbf \t\r\n[")
        if head.startswith(b"{") and b'"role"' in head and b'"content"' in head:
            is_whole = b'"messages"' in head
            return 0.7 if is_whole or head.lstrip(b"{ \n").startswith((b'"role"', b'"content"')) else 0.55
    return 0.0


def read(source: Source, note: Note) -> Iterator[Item]:
    for name in to_read(source, named(source, *_LINES, ".json")):
        try:
            yield from _of_file(source, name, note)
        except Broken as broken:
            note(str(broken))


def _of_file(source: Source, name: str, note: Note) -> Iterator[Talk]:
    firsts = ("messages" in members(raw) for _, raw in _values(source, name, lambda _: None))
    is_of_talks = next(firsts, None)
    firsts.close()  # it may hold all of a long talk, which is about to be read again
    if is_of_talks is None:
        note(f"{name} was passed over, there are no messages in it.")
    elif not is_of_talks:
        messages = (raw for _, raw in _values(source, name, note))
        yield Talk(name.rpartition(".")[0], "", _said(messages, note, name))
    else:
        often = _Often()
        for number, raw in _values(source, name, note):
            own = members(raw)
            if isinstance(own.get("messages"), list):
                key = _key(own) or often(f"{_beginning(own)}#{stem(name)}")
                yield Talk(key, words(own.get("title")), _said(own["messages"], note, name))
            else:
                note(f"{name}: {number!r} was passed over, it has no messages.")
            del raw, own  # the next may be as long


def _key(own: dict[str, Any]) -> str:
    """What a talk is called; sessions of two agents may have one name."""
    given = _first(own, _NAMES)
    if not given and _first(own, _OF_A_FILE):
        given = f"{_beginning(own)}#{_first(own, _OF_A_FILE)}"
    agent = words(own.get("agent"))
    return f"{agent}/{given}" if agent and given else given


def _first(own: dict[str, Any], names: tuple[str, ...]) -> str:
    return next((str(own[each]) for each in names if isinstance(own.get(each), str | int)), "")


def _beginning(own: dict[str, Any]) -> str:
    said = [raw for raw in objects(own["messages"]) if raw.get("role") not in ("system", "developer")]
    return sha256("".join(map(_digest, said[:_BEGINS])).encode())[:16]


def _digest(raw: dict[str, Any]) -> str:
    return sha256(repr([raw.get(each) for each in _SAYS]).encode("utf-8", "surrogatepass"))


_SPEAKERS = ("user", "assistant")
_SAYS = ("role", "content", "tool_calls", "function_call", "tool_call_id", "name", "error")


class _Often:
    """The same text again is another one."""

    def __init__(self) -> None:
        self._seen: dict[str, int] = {}

    def __call__(self, text: str) -> str:
        self._seen[text] = number = self._seen.get(text, 0) + 1
        return f"{text}#{number}"


def _values(source: Source, name: str, note: Note) -> Iterator[tuple[str, Any]]:
    """The members of an array, the objects of lines, or one object."""
    with source.open(name) as stream:
        opening = json_stream.Reader(stream).opening()
    with source.open(name) as stream:
        if opening == "[":
            yield from json_stream.members(stream, note, name)
        elif name.lower().endswith(_LINES):
            for number, raw in json_stream.lines(stream, note, name):
                yield str(number), raw
                del raw
        else:
            yield from json_stream.in_a_row(stream, note, name)


def _said(messages: Any, note: Note, name: str) -> Iterator[Said]:
    often = _Often()
    try:
        for number, raw in enumerate(messages):
            own = members(raw)
            if "role" not in own:
                note(f"{name}: message {number + 1} was passed over, it has no role.")
            found = list(_message(often(_digest(own)), own))
            if not found and own.get("role") in _SPEAKERS and not isinstance(own.get("content"), str | None):
                note(f"{name}: message {number + 1} was passed over, there is nothing in it that is read.")
            yield from found
    except Broken as broken:
        note(str(broken))


def _message(key: str, own: dict[str, Any]) -> Iterator[Said]:
    role, content = own.get("role"), own.get("content")
    text, media = spoken(content), media_of(content)
    ts = next((found for name in _TIMES if (found := when(own.get(name))) is not None), None)
    key = words(own.get("id")) or key
    reasoning = words(own.get("reasoning")) or words(own.get("reasoning_content")) or None
    if role == "user" and (text.strip() or media):
        yield Said(key, "user", text, ts, media=media)
    elif role == "assistant":
        if text.strip() or media:
            yield Said(key, "assistant", text, ts, reasoning=reasoning, media=media)
        calls = [
            *objects(own.get("tool_calls")),
            *([{"function": own["function_call"]}] if "function_call" in own else []),
        ]
        for part, call in enumerate(calls):
            yield _call(f"{key}-{part}", call, ts, reasoning if not text.strip() and part == 0 else None)
    elif role in ("tool", "function"):
        result = text if content is None or text else content
        error = words(own.get("error")) or None
        call_id = words(own.get("tool_call_id")) or None
        yield Said(key, "tool_result", "", ts, words(own.get("name")) or None, None, call_id, result, error)


def _call(key: str, call: dict[str, Any], ts: float | None, reasoning: str | None) -> Said:
    given = members(call.get("function")) or members(call.get("custom")) or call
    name = words(given.get("name")) or "tool"
    args = loaded(given.get("arguments", given.get("input")))
    return Said(key, "tool_call", "", ts, name, args, words(call.get("id")) or None, reasoning=reasoning)
