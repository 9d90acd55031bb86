"""What the tests of dialects share: conversations, well-formed and weird, and a look into payloads."""

from __future__ import annotations

import base64
import json
from collections.abc import Iterator, Sequence
from functools import cache
from typing import TYPE_CHECKING, Any

from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from drawing import few
from looseleaf.base.messages import Message, ToolCallPayload, ToolCallSpec, ToolResultPayload
from looseleaf.base.replies import ToolSpec
from looseleaf.models.dialect import CallOptions, fix_surrogates

if TYPE_CHECKING:
    from looseleaf.base.messages import MessageRole

PNG = base64.b64encode(b"\x89PNG\r\n\x1a\n" + bytes(60)).decode()
PICTURE = f"data:image/png;base64,{PNG}"
WAV = f"data:audio/wav;base64,{base64.b64encode(b'RIFF0000WAVEfmt ').decode()}"
FILM = f"data:video/mp4;base64,{base64.b64encode(bytes(48)).decode()}"
ADDRESSES = {
    "image": [
        PICTURE,
        "https://example.org/a.png",
        "http://example.org/b",
        "/home/me/c.jpg",
        "data:image/png,x",
    ],
    "audio": [WAV, "https://example.org/a.mp3", "memo.ogg"],
    "video": [FILM, "https://example.org/a.mp4", "gs://bucket/film.mov"],
}
MODELS = {
    "openai": "gpt-5.2",
    "openai-chat": "gpt-4.1",
    "anthropic": "claude-sonnet-5",
    "gemini": "gemini-3-pro",
    "ollama": "qwen3",
}
"""A model that each dialect is asked for."""

Conversation = tuple[list[Message], list[ToolSpec], CallOptions]

PIECES = [
    "",
    "a",
    "b c",
    '"\\',
    "{}",
    "<&>",
    "é中",
    "😀",
    "\ud800",
    "\x00",
    "\u2028\n\t",
    "'`[]",
    "# x: y",
    '{"a": ',
]
pieces = st.lists(st.sampled_from(PIECES), max_size=2).map("".join)
names = st.sampled_from(["look", "memory_read", "files.list", "größe", "", "x" * 140, "a b"])
ids = st.sampled_from(["call_1", "call_2", "toolu_01", "", "id with spaces", "i" * 90, "call_1"])
values = st.recursive(
    st.none() | st.booleans() | st.integers(-5, 10**20) | st.floats() | pieces,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(pieces, inner, max_size=3),
    max_leaves=6,
)
OPAQUES: list[dict[str, Any] | None] = [
    None,
    None,
    {"dialect": "another", "parts": [{"kind": "thought", "chars": 3, "signature": "s"}]},
    {
        "dialect": "anthropic",
        "thoughts": "0" * 16,
        "parts": [{"kind": "thought", "chars": 3, "signature": "s"}],
    },
    {"dialect": "anthropic", "parts": 7},
    {
        "dialect": "openai",
        "parts": [{"kind": "thought", "id": "rs_1", "encrypted_content": "gA"}, {"kind": "text"}],
    },
    {
        "dialect": "openai",
        "parts": [{"kind": "text", "chars": 1, "phase": "commentary"}, None, {"kind": "odd"}],
    },
    {
        "dialect": "gemini",
        "thought_signature": "c2ln",
        "parts": [{"kind": "text", "thought_signature": "c2ln"}],
    },
    {"dialect": "openai-chat", "field": "reasoning_content"},
    {"dialect": "openai-chat", "details": [{"type": "reasoning.text", "chars": 4, "holds": "text"}]},
]


@st.composite
def weird_messages(draw: st.DrawFn) -> list[Message]:
    """Anything that the types allow, and nothing that a provider would take as it is, most of the time."""
    found: list[Message] = []
    for place in range(draw(st.integers(0, 9))):

        def said(what: str, place: int = place) -> str:
            return f"{what}{place}<{draw(pieces)}>"

        role: MessageRole = draw(
            st.sampled_from(["user", "assistant", "assistant", "tool", "tool", "system"])
        )
        payload: ToolCallPayload | ToolResultPayload | None = None
        kind = draw(st.sampled_from(["usual", "usual", "usual", "none", "other"]))
        if kind != "none" and (role == "assistant") == (kind == "usual"):
            calls = [
                ToolCallSpec(draw(ids), draw(names), _arguments(draw, said(f"argument{n}·")), draw(opaques))
                for n in range(draw(st.integers(0, 3)))
            ]
            payload = ToolCallPayload(tuple(calls))
        elif kind != "none" and (role == "tool" or kind == "other"):
            error = said("error") if draw(st.booleans()) else None
            value = draw(st.sampled_from([None, said("result"), {"r": [said("result")], "n": draw(values)}]))
            payload = ToolResultPayload(draw(ids), draw(names), value, error)
        media = {
            f"{name}_urls": tuple(draw(st.lists(st.sampled_from(known), max_size=1)))
            for name, known in ADDRESSES.items()
            if draw(st.integers(0, 4)) == 0
        }
        content = draw(st.sampled_from([None, "", " \n", said("text"), said("text"), said("text")]))
        reasoning = draw(st.sampled_from([None, None, "why"]))
        found.append(Message(role, content, reasoning, tool_payload=payload, opaque=draw(opaques), **media))
    return found


opaques = st.sampled_from(OPAQUES)


def _arguments(draw: st.DrawFn, text: str) -> Any:
    return draw(
        st.sampled_from([{"a": text, "b": {"c": [text]}}, {}, text, [text], None, {"deep": draw(values)}])
    )


schemas = st.sampled_from(
    [
        {"type": "object", "properties": {"path": {"type": "string", "minLength": 1}}, "required": ["path"]},
        {"type": "object", "properties": {}},
        {},
        {
            "$schema": "https://json-schema.org/draft/2020-12/schema",
            "type": "object",
            "additionalProperties": False,
        },
        {"anyOf": [{"type": "object"}, {"type": "null"}]},
        {
            "type": "object",
            "description": "where",
            "properties": {
                "a": {
                    "anyOf": [{"type": "string", "pattern": "^a$"}, {"type": "null"}],
                    "description": "one",
                },
                "b": {"type": "object", "properties": {"c": {"const": 1}}, "required": ["c"]},
                "d": True,
                "e": {"type": "array", "items": {"type": ["string", "null"], "enum": ["x", None]}},
            },
            "$defs": {"t": {"type": "string"}},
        },
    ]
)
answers = st.sampled_from(
    [
        None,
        None,
        {"type": "object", "properties": {"n": {"type": "integer", "minimum": 1}}, "required": ["n"]},
        {
            "type": "object",
            "properties": {"n": {"oneOf": [{"type": "integer"}, {"type": "null"}]}},
            "required": ["n"],
            "additionalProperties": False,
        },
    ]
)
tools = st.lists(st.builds(ToolSpec, names.filter(bool), pieces.map(fix_surrogates), schemas), max_size=3)
options = st.builds(
    CallOptions,
    st.sampled_from([None, 300, 9000]),
    st.sampled_from([None, 0.0, 1.0]),
    answers,
    st.sampled_from([None, "low", "medium", "high", "minimal", "xhigh"]),
)


@st.composite
def good_messages(draw: st.DrawFn, media: bool = False) -> list[Message]:
    """A conversation as one is held: turns of the user and the assistant, calls with their results."""
    found = [Message("system", "Be brief.")] if draw(st.booleans()) else []
    call = 0
    for turn in range(draw(st.integers(1, 4))):
        images = ("https://example.org/a.png",) if media and draw(st.booleans()) else ()
        found.append(Message("user", f"question {turn} {draw(sound_pieces)}", image_urls=images))
        for step in range(draw(st.integers(0, 2))):
            calls = []
            for _ in range(draw(st.integers(1, 3))):
                call += 1
                calls.append(ToolCallSpec(f"call_{call}", "look", {"at": draw(sound_pieces), "n": call}))
            text = f"I look {turn}.{step}" if draw(st.booleans()) else None
            if text and draw(st.booleans()):
                found.append(Message("assistant", text))
                text = None
            found.append(Message("assistant", text, tool_payload=ToolCallPayload(tuple(calls))))
            for each in calls:
                error = "not there" if draw(st.integers(0, 3)) == 0 else None
                result = None if error else {"found": draw(sound_pieces)}
                payload = ToolResultPayload(each.id, each.name, result, error)
                found.append(Message("tool", None, tool_payload=payload))
        found.append(Message("assistant", f"answer {turn} {draw(sound_pieces)}"))
    return found[: draw(st.integers(2, len(found)))] if draw(st.booleans()) else found


sound_pieces = pieces.map(fix_surrogates)


@cache
def conversations(count: int = 0) -> tuple[Conversation, ...]:
    """So many of them, always the same: some well-formed, most of them weird. Made once for all dialects."""
    count = count or few(200, 80)
    found: list[Conversation] = []

    @settings(
        max_examples=count,
        derandomize=True,
        database=None,
        deadline=None,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(
        st.tuples(st.one_of(weird_messages(), weird_messages(), good_messages(media=True)), tools, options)
    )
    def collect(conversation: Conversation) -> None:
        found.append(conversation)

    collect()
    return tuple(found)


def told_in(messages: Sequence[Message]) -> Iterator[str]:
    """Every text, argument, result, error and address that may not be lost."""
    for message in messages:
        if message.content and not message.content.isspace():
            yield fix_surrogates(message.content)
        for address in (*message.image_urls, *message.audio_urls, *message.video_urls):
            yield address.partition(";base64,")[2] or address
        payload = message.tool_payload
        if isinstance(payload, ToolCallPayload):
            for call in payload.tool_calls:
                yield from _leaves(call.arguments)
        elif payload is not None:
            yield from _leaves(payload.tool_result)
            if payload.tool_error:
                yield fix_surrogates(payload.tool_error)


def _leaves(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield fix_surrogates(value)
    elif isinstance(value, dict):
        for key, each in value.items():
            yield fix_surrogates(key)
            yield from _leaves(each)
    elif isinstance(value, list):
        for each in value:
            yield from _leaves(each)
    elif type(value) in (int, float):
        yield str(value) if isinstance(value, int) or value - value else json.dumps(value)


def strings_of(value: Any) -> str:
    """Everything that a payload says, one after the other."""
    if isinstance(value, str):
        return value
    if isinstance(value, dict):
        return "\x01".join(f"{key}\x01{strings_of(each)}" for key, each in value.items())
    if isinstance(value, list):
        return "\x01".join(map(strings_of, value))
    return json.dumps(value)


def holds(payload: str, text: str) -> bool:
    """Whether it is said there, as it is or within JSON within the payload."""
    once = json.dumps(text, ensure_ascii=False)[1:-1]
    return text in payload or once in payload or json.dumps(once, ensure_ascii=False)[1:-1] in payload
