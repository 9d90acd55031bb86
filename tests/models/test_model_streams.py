"""Streams: however their bytes are cut, the same comes out; and what our server streams is what the providers do."""

from __future__ import annotations

import json
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from looseleaf.base.messages import Message
from looseleaf.base.replies import Reply, TextDelta, Thought, ToolSpec, Usage
from looseleaf.models.stream_parts import split_lines
from providing import KEY, WIRES, Answer, Asked, Malformed, Provider, shared
from tables import check_rows
from wires import reading, writing

TOOL = ToolSpec("note", "Notes it.", {"type": "object", "properties": {"text": {"type": "string"}}})
ASK = (Message("user", "Tell me everything."),)
HARD = 'Zürich—茶 👩‍👩‍👧 "said" \\n, \n, \r\n \t \x85 \u2028 data: [DONE] event: error'
ANSWER = Answer(
    HARD, f"So: {HARD}", [("note", {"text": HARD}), ("note", {"text": "", "n": [1, None, 2.5, {}]})]
)


def heard(model: Any, **options: Any) -> tuple[str, str, Reply]:
    events = list(model.stream(ASK, [TOOL], **options))
    said = "".join(event.text for event in events if isinstance(event, TextDelta))
    return said, "".join(event.text for event in events if isinstance(event, Thought)), events[-1]


def plain(reply: Reply) -> tuple[Any, ...]:
    """Without the ids, which the server numbers by the request."""
    calls = [(call.name, call.arguments) for call in reply.calls]
    return reply.text, reply.reasoning, calls, reply.usage, reply.stop, reply.model


def same_wherever_it_is_cut(wire: str, sizes: tuple[int, ...]) -> None:
    with shared(wire, lambda asked: ANSWER) as (provider, model):
        whole = heard(model)
        assert whole[2].text == whole[0] == HARD
        assert whole[2].reasoning == whole[1] == ANSWER.reasoning
        assert [(call.name, call.arguments) for call in whole[2].calls] == ANSWER.calls
        for size in sizes:
            provider.split = size
            said, thought, reply = heard(model)
            assert (said, thought) == whole[:2], size
            assert plain(reply) == plain(whole[2]), size
        assert provider.requests == 1 + len(sizes)
        assert provider.complaints == []


def test_wherever_the_bytes_are_cut_the_same_reply_comes() -> None:
    def check(wire: str) -> None:
        same_wherever_it_is_cut(wire, (1, 7, 64))

    check_rows(check, WIRES)


@pytest.mark.long
def test_the_same_reply_comes_for_every_size_of_a_piece() -> None:
    def check(wire: str) -> None:
        same_wherever_it_is_cut(wire, tuple(range(2, 40)))

    check_rows(check, WIRES)


TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=30)


@given(pieces=st.lists(TEXT.filter(bool), max_size=6), thoughts=TEXT, argument=TEXT, split=st.integers(1, 40))
def test_whatever_is_said_comes_whole(pieces: list[str], thoughts: str, argument: str, split: int) -> None:
    def check(wire: str) -> None:
        answer = Answer("".join(pieces), thoughts, [("note", {"text": argument})], pieces=pieces)
        with shared(wire, lambda asked: answer, split=split) as (_, model):
            said, thought, reply = heard(model)
        assert said == reply.text == "".join(pieces)
        assert thought == reply.reasoning == thoughts
        assert [(call.name, call.arguments) for call in reply.calls] == [("note", {"text": argument})]

    check_rows(check, WIRES)


@given(counts=st.lists(st.integers(0, 10**6), min_size=5, max_size=5))
def test_whatever_is_counted_comes_as_it_was_counted(counts: list[int]) -> None:
    def check(wire: str) -> None:
        fresh, cached, written, answer, thought = counts
        usage = Usage(fresh + cached + written, cached, written, answer + thought, thought)
        with shared(wire, lambda asked: Answer("So.", usage=usage)) as (provider, model):
            reply = model.send(ASK)
        assert reply.usage == provider.usage
        assert (reply.usage.prompt_tokens, reply.usage.output_tokens) == (
            usage.prompt_tokens,
            usage.output_tokens,
        )

    check_rows(check, WIRES)


# --- the server against the SDKs' own types --------------------------------------------------

BODIES: dict[str, dict[str, Any]] = {
    "openai": {"model": "m", "input": "Hi", "include": ["reasoning.encrypted_content"], "stream": True},
    "openai-chat": {
        "model": "m",
        "messages": [{"role": "user", "content": "Hi"}],
        "stream": True,
        "stream_options": {"include_usage": True},
    },
    "anthropic": {
        "model": "m",
        "messages": [{"role": "user", "content": "Hi"}],
        "max_tokens": 9,
        "stream": True,
    },
    "gemini": {"contents": [{"role": "user", "parts": [{"text": "Hi"}]}]},
    "ollama": {"model": "m", "messages": [{"role": "user", "content": "Hi"}]},
}
PATHS = {
    "openai": "/v1/responses",
    "openai-chat": "/v1/chat/completions",
    "anthropic": "/v1/messages",
    "gemini": "/v1beta/models/m:streamGenerateContent?alt=sse",
    "ollama": "/api/chat",
}


def asked(wire: str) -> Asked:
    assert reading.wire_of(PATHS[wire]) == wire
    return reading.read(wire, PATHS[wire], {}, BODIES[wire])


def types_of(wire: str) -> tuple[Any, Any]:
    """What the SDK parses an event, and a whole response, into."""
    from pydantic import TypeAdapter

    if wire == "openai":
        from openai.types.responses import Response, ResponseStreamEvent

        return TypeAdapter(ResponseStreamEvent), TypeAdapter(Response)
    if wire == "openai-chat":
        from openai.types.chat import ChatCompletion, ChatCompletionChunk

        return TypeAdapter(ChatCompletionChunk), TypeAdapter(ChatCompletion)
    if wire == "anthropic":
        from anthropic.types import Message as Whole
        from anthropic.types import RawMessageStreamEvent

        return TypeAdapter(RawMessageStreamEvent), TypeAdapter(Whole)
    if wire == "gemini":
        from google.genai.types import GenerateContentResponse

        return TypeAdapter(GenerateContentResponse), TypeAdapter(GenerateContentResponse)
    from ollama import ChatResponse

    return TypeAdapter(ChatResponse), TypeAdapter(ChatResponse)


def objects(wire: str, answer: Answer) -> list[dict[str, Any]]:
    """The JSON of each event of the stream."""
    split_lines = [
        line for event in writing.events(asked(wire), answer) for line in event.decode().splitlines()
    ]
    datas = (
        split_lines if wire == "ollama" else [line[6:] for line in split_lines if line.startswith("data: ")]
    )
    return [json.loads(data) for data in datas if data != "[DONE]"]


PLAIN = Answer("It is oolong.", "The user wants tea.", [("note", {"text": "tea"}), ("note", {})])


def test_what_our_server_streams_is_of_the_types_that_the_sdk_expects() -> None:
    def check(wire: str) -> None:
        event_type, whole_type = types_of(wire)
        for answer in (PLAIN, Answer("Half", stop="length"), Answer(calls=PLAIN.calls)):
            for event in objects(wire, answer):
                if event.get("type") != "ping":  # the SDK knows it by its name only
                    event_type.validate_python(event)
            whole_type.validate_python(writing.whole(asked(wire), answer))

    check_rows(check, WIRES)


def test_an_event_without_a_member_that_the_sdk_needs_would_be_found() -> None:
    def check(wire: str) -> None:
        event_type, _ = types_of(wire)
        broken = {
            "openai": ("item_id", "output_text.delta"),
            "openai-chat": ("choices", "chunk"),
            "anthropic": ("delta", "content_block_delta"),
            "gemini": ("candidates", "responseId"),
            "ollama": ("message", "model"),
        }[wire]
        event = next(event for event in objects(wire, PLAIN) if broken[1] in json.dumps(event))
        if wire == "gemini":  # every member may be missing there, and none may be unknown
            event["candidate"] = event.pop(broken[0])
        else:
            del event[broken[0]]
        with pytest.raises(ValueError, match="validation error"):
            event_type.validate_python(event)

    check_rows(check, WIRES)


def test_the_sdks_themselves_understand_our_server_without_streaming() -> None:
    import anthropic
    import ollama
    import openai
    from google import genai

    told = [{"role": "user", "content": "Hi"}]
    with Provider(lambda asked: PLAIN) as provider:
        here = {"api_key": KEY, "base_url": provider.base_url("openai")}
        with openai.OpenAI(**here) as client:
            response = client.responses.create(model="m", input="Hi")
            assert response.output_text == PLAIN.text
            chat = client.chat.completions.create(model="m", messages=told)
            assert chat.choices[0].message.content == PLAIN.text
            assert len(chat.choices[0].message.tool_calls) == 2
        with anthropic.Anthropic(api_key=KEY, base_url=provider.address) as claude:
            message = claude.messages.create(model="m", messages=told, max_tokens=9)
            assert [block.type for block in message.content] == ["thinking", "text", "tool_use", "tool_use"]
        with genai.Client(api_key=KEY, http_options={"base_url": provider.address}) as gemini:
            made = gemini.models.generate_content(model="m", contents="Hi")
            assert [call.name for call in made.function_calls] == ["note", "note"]
        with ollama.Client(host=provider.address) as local:
            assert local.chat(model="m", messages=told).message.content == PLAIN.text
            assert local.list().models[0].model == "llama3.2:latest"
        assert provider.requests == 5
        assert provider.complaints == []
        assert provider.usage.output_tokens > 0


def test_the_events_of_a_response_are_numbered_and_end_with_it() -> None:
    events = objects("openai", PLAIN)
    assert [event["sequence_number"] for event in events] == list(range(len(events)))
    assert events[0]["type"] == "response.created"
    assert events[-1]["type"] == "response.completed"
    kinds = [item["type"] for item in events[-1]["response"]["output"]]
    assert kinds == ["reasoning", "message", "function_call", "function_call"]


def test_malformed_arguments_are_malformed_on_the_wire() -> None:
    broken = Answer(calls=PLAIN.calls, fault=Malformed())
    for wire in ("openai", "openai-chat", "anthropic"):
        written = "".join(json.dumps(event) for event in objects(wire, broken))
        assert "tea" in written
        assert '\\"tea\\"}' not in written


@given(
    text=st.text(st.characters(exclude_categories=["Cs"]), max_size=60), cuts=st.lists(st.integers(0, 200))
)
def test_lines_end_at_newlines_and_nowhere_else(text: str, cuts: list[int]) -> None:
    data = text.encode()
    places = sorted({0, len(data), *(cut for cut in cuts if cut < len(data))})
    pieces = [data[start:end] for start, end in pairwise(places)]
    expected = [line.removesuffix("\r") for line in text.split("\n")]
    if not text.rpartition("\n")[2]:
        expected.pop()
    assert list(split_lines(pieces)) == expected
