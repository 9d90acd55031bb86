"""Dialects: what is read. However a provider cuts its stream, it is the same reply, or a sentence why there is none."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dialects import MODELS, strings_of
from drawing import core
from looseleaf.base.errors import ModelFailed, PromptTooLong
from looseleaf.base.messages import Message, ToolCallPayload, ToolCallSpec, ToolResultPayload
from looseleaf.base.replies import Called, Reply, TextDelta, Thought, Usage
from looseleaf.models.choice import NAMES, dialect
from looseleaf.models.dialect import HELD, CallOptions, Passing, _dump_flat, written
from tables import check_rows

if TYPE_CHECKING:
    from looseleaf.base.replies import Event


Chunk = dict[str, Any]
Split = Callable[[str], list[str]]
Calls = list[tuple[str, str, str]]
"""Id, name, and arguments as text."""


def whole(text: str) -> list[str]:
    return [text] if text else []


def letters(text: str) -> list[str]:
    return list(text)


def answered(name: str, chunks: list[Chunk]) -> Reply:
    """The reply, which all that was streamed before it has to add up to."""
    events = list(dialect(name).read(iter(chunks)))
    reply = events.pop()
    assert isinstance(reply, Reply)
    assert "".join(event.text for event in events if isinstance(event, TextDelta)) == reply.text
    assert "".join(event.text for event in events if isinstance(event, Thought)) == reply.reasoning
    assert tuple(event.call for event in events if isinstance(event, Called)) == reply.calls
    return reply


# --- the providers' streams ----------------------------------------------------------------------


def wire_openai(reasoning: str, text: str, calls: Calls, split: Split) -> Iterator[Chunk]:
    head = {"id": "resp_1", "object": "response", "created_at": 1.0, "model": "gpt-5.2-2026", "output": []}
    head |= {"parallel_tool_calls": True, "tool_choice": "auto", "tools": [], "status": "in_progress"}
    yield {"type": "response.created", "response": head}
    index = 0
    if reasoning:
        item: Chunk = {"type": "reasoning", "id": "rs_1", "summary": []}
        yield {"type": "response.output_item.added", "output_index": index, "item": item}
        for piece in split(reasoning):
            delta = {"item_id": "rs_1", "output_index": index, "summary_index": 0, "delta": piece}
            yield {"type": "response.reasoning_summary_text.delta"} | delta
        summary = [{"type": "summary_text", "text": reasoning}]
        item |= {"summary": summary, "encrypted_content": "gAAA"}
        yield {"type": "response.output_item.done", "output_index": index, "item": item}
        index += 1
    if text:
        item = {"type": "message", "id": "msg_1", "role": "assistant", "status": "in_progress", "content": []}
        yield {"type": "response.output_item.added", "output_index": index, "item": item}
        for piece in split(text):
            delta = {
                "item_id": "msg_1",
                "output_index": index,
                "content_index": 0,
                "delta": piece,
                "logprobs": [],
            }
            yield {"type": "response.output_text.delta"} | delta
        content = [{"type": "output_text", "text": text, "annotations": []}]
        item |= {"content": content, "status": "completed"}
        yield {"type": "response.output_item.done", "output_index": index, "item": item}
        index += 1
    for place, (id_, name, _) in enumerate(calls):
        item = {"type": "function_call", "id": f"fc_{place}", "call_id": id_, "name": name, "arguments": ""}
        yield {"type": "response.output_item.added", "output_index": index + place, "item": item}
    for place, piece in interleaved(calls, split):
        delta = {"item_id": f"fc_{place}", "output_index": index + place, "delta": piece}
        yield {"type": "response.function_call_arguments.delta"} | delta
    usage = {
        "input_tokens": 100,
        "input_tokens_details": {"cached_tokens": 60, "cache_write_tokens": 7},
        "output_tokens": 30,
        "output_tokens_details": {"reasoning_tokens": 12},
        "total_tokens": 130,
    }
    yield {"type": "response.completed", "response": head | {"status": "completed", "usage": usage}}


def interleaved(calls: Calls, split: Split) -> list[tuple[int, str]]:
    """Pieces of the calls' arguments, in turn."""
    cut = [split(arguments) for *_, arguments in calls]
    most = max(map(len, cut), default=0)
    return [(place, pieces[n]) for n in range(most) for place, pieces in enumerate(cut) if n < len(pieces)]


def wire_chat(reasoning: str, text: str, calls: Calls, split: Split) -> Iterator[Chunk]:
    def chunk(delta: Chunk, finish: str | None = None) -> Chunk:
        choice = {"index": 0, "delta": delta, "finish_reason": finish}
        head = {"id": "chatcmpl-1", "object": "chat.completion.chunk", "created": 1, "model": "gpt-4.1-2025"}
        return head | {"choices": [choice]}

    yield chunk({"role": "assistant", "content": None})
    for piece in split(reasoning):
        yield chunk({"reasoning_content": piece})
    for piece in split(text):
        yield chunk({"content": piece})
    for place, (id_, name, _) in enumerate(calls):
        call = {"index": place, "id": id_, "type": "function", "function": {"name": name, "arguments": ""}}
        yield chunk({"tool_calls": [call]})
    for place, piece in interleaved(calls, split):
        yield chunk({"tool_calls": [{"index": place, "function": {"arguments": piece}}]})
    yield chunk({}, "tool_calls" if calls else "stop")
    usage = {
        "prompt_tokens": 100,
        "completion_tokens": 30,
        "total_tokens": 130,
        "prompt_tokens_details": {"cached_tokens": 60, "cache_write_tokens": 7},
        "completion_tokens_details": {"reasoning_tokens": 12},
    }
    yield chunk({}) | {"choices": [], "usage": usage}


def wire_anthropic(reasoning: str, text: str, calls: Calls, split: Split) -> Iterator[Chunk]:
    usage = {
        "input_tokens": 33,
        "cache_read_input_tokens": 60,
        "cache_creation_input_tokens": 7,
        "output_tokens": 1,
    }
    head: Chunk = {
        "id": "msg_1",
        "type": "message",
        "role": "assistant",
        "content": [],
        "model": "claude-sonnet-5-x",
    }
    head |= {"stop_reason": None, "stop_sequence": None}
    yield {"type": "message_start", "message": head | {"usage": usage}}
    index = 0
    if reasoning:
        block = {"type": "thinking", "thinking": "", "signature": ""}
        yield {"type": "content_block_start", "index": index, "content_block": block}
        for piece in split(reasoning):
            delta = {"type": "thinking_delta", "thinking": piece}
            yield {"type": "content_block_delta", "index": index, "delta": delta}
        delta = {"type": "signature_delta", "signature": "sig"}
        yield {"type": "content_block_delta", "index": index, "delta": delta}
        yield {"type": "content_block_stop", "index": index}
        index += 1
    if text:
        yield {"type": "content_block_start", "index": index, "content_block": {"type": "text", "text": ""}}
        for piece in split(text):
            delta = {"type": "text_delta", "text": piece}
            yield {"type": "content_block_delta", "index": index, "delta": delta}
        yield {"type": "content_block_stop", "index": index}
        index += 1
    for place, (id_, name, _) in enumerate(calls):
        use = {"type": "tool_use", "id": id_, "name": name, "input": {}}
        yield {"type": "content_block_start", "index": index + place, "content_block": use}
    for place, piece in interleaved(calls, split):
        delta = {"type": "input_json_delta", "partial_json": piece}
        yield {"type": "content_block_delta", "index": index + place, "delta": delta}
    details = {"thinking_tokens": 12}
    yield {
        "type": "message_delta",
        "delta": {"stop_reason": "tool_use" if calls else "end_turn", "stop_sequence": None},
        "usage": {"output_tokens": 30, "output_tokens_details": details},
    }
    yield {"type": "message_stop"}


def wire_gemini(reasoning: str, text: str, calls: Calls, split: Split) -> Iterator[Chunk]:
    def chunk(*parts: Chunk, **more: Any) -> Chunk:
        candidate = {"content": {"role": "model", "parts": list(parts)}, "index": 0} | more
        return {"candidates": [candidate], "modelVersion": "gemini-3-pro-x", "responseId": "r1"}

    for piece in split(reasoning):
        yield chunk({"text": piece, "thought": True})
    for piece in split(text):
        yield chunk({"text": piece})
    for place, (id_, name, arguments) in enumerate(calls):
        signed = {"thoughtSignature": "c2ln"} if place == 0 else {}
        yield chunk({"functionCall": {"id": id_, "name": name, "args": json.loads(arguments)}} | signed)
    usage = {"promptTokenCount": 100, "cachedContentTokenCount": 60, "candidatesTokenCount": 18}
    usage |= {"thoughtsTokenCount": 12, "totalTokenCount": 130}
    yield chunk({"text": ""}, finishReason="STOP") | {"usageMetadata": usage}


def wire_ollama(reasoning: str, text: str, calls: Calls, split: Split) -> Iterator[Chunk]:
    def chunk(message: Chunk, **more: Any) -> Chunk:
        head = {"model": "qwen3", "created_at": "2026-11-01T00:00:00Z", "done": False}
        return head | {"message": {"role": "assistant", "content": ""} | message} | more

    for piece in split(reasoning):
        yield chunk({"thinking": piece})
    for piece in split(text):
        yield chunk({"content": piece})
    if calls:
        told = [{"function": {"name": name, "arguments": json.loads(text)}} for _, name, text in calls]
        yield chunk({"tool_calls": told})
    yield chunk({}, done=True, done_reason="stop", prompt_eval_count=100, eval_count=30)


WIRES = {
    "openai": wire_openai,
    "openai-chat": wire_chat,
    "anthropic": wire_anthropic,
    "gemini": wire_gemini,
    "ollama": wire_ollama,
}
CALLS: Calls = [("call_1", "look", '{"at": "é😀\\n", "n": [1, 2]}'), ("call_2", "look", "{}")]


def wire(
    name: str, reasoning: str = "", text: str = "", calls: Calls | None = None, split: Split = whole
) -> list[Chunk]:
    return list(WIRES[name](reasoning, text, calls or [], split))


def test_the_streams_of_these_tests_are_of_the_official_types() -> None:
    """And read the same whether they come raw, or as the SDK's events write themselves."""

    def check(name: str) -> None:
        chunks = wire(name, "why", "Grüße 😀", CALLS)
        official = [_official(name, chunk) for chunk in chunks]
        assert answered(name, official) == answered(name, chunks)

    check_rows(check, NAMES)


def _official(name: str, chunk: Chunk) -> Chunk:
    from pydantic import BaseModel, TypeAdapter

    event: Any
    if name == "openai":
        from openai.types.responses import ResponseStreamEvent

        event = TypeAdapter(ResponseStreamEvent).validate_python(chunk | {"sequence_number": 1})
    elif name == "openai-chat":
        from openai.types.chat import ChatCompletionChunk

        event = ChatCompletionChunk.model_validate(chunk)
    elif name == "anthropic":
        from anthropic.types import RawMessageStreamEvent

        event = TypeAdapter(RawMessageStreamEvent).validate_python(chunk)
    elif name == "gemini":
        from google.genai.types import GenerateContentResponse

        event = GenerateContentResponse.model_validate(chunk)
    else:
        from ollama import ChatResponse

        event = ChatResponse.model_validate(chunk)
    assert isinstance(event, BaseModel)
    dumped: Chunk = event.model_dump(mode="json", exclude_unset=True)
    return dumped


def test_a_reply_has_all_that_was_streamed() -> None:
    def check(name: str) -> None:
        reply = answered(name, wire(name, "why not", "Hello 😀", CALLS, letters))
        assert (reply.text, reply.reasoning, reply.stop) == ("Hello 😀", "why not", "tools")
        assert [(call.name, call.arguments) for call in reply.calls] == [
            ("look", {"at": "é😀\n", "n": [1, 2]}),
            ("look", {}),
        ]
        if name == "ollama":
            assert len({call.id for call in reply.calls}) == 2
            assert reply.usage == Usage(100, 0, 0, 30, 0)
        else:
            assert [call.id for call in reply.calls] == ["call_1", "call_2"]
            written = 0 if name == "gemini" else 7
            assert reply.usage == Usage(100, 60, written, 30, 12)
        assert reply.model

    check_rows(check, NAMES)


def test_a_reply_that_only_speaks_ends_by_itself() -> None:
    def check(name: str) -> None:
        reply = answered(name, wire(name, text="Hello"))
        assert (reply.text, reply.calls, reply.stop) == ("Hello", (), "end")

    check_rows(check, NAMES)


texts = st.text(st.sampled_from('ab \n"\\{é中😀\u200b'), max_size=20)
objects = st.dictionaries(texts, texts | st.integers() | st.lists(texts, max_size=2), max_size=3)


@given(data=st.data())
def test_a_stream_cut_otherwise_is_the_same_reply(data: st.DataObject) -> None:
    def check(name: str) -> None:
        reasoning, text = data.draw(texts), data.draw(texts)
        given = data.draw(st.lists(objects, max_size=3))
        calls = [(f"call_{n}", "look", json.dumps(value)) for n, value in enumerate(given)]

        def anywhere(whole: str) -> list[str]:
            cuts = sorted(data.draw(st.lists(st.integers(0, len(whole)), max_size=6)))
            return [
                whole[start:end]
                for start, end in zip([0, *cuts], [*cuts, len(whole)], strict=True)
                if start < end
            ]

        expected = answered(name, wire(name, reasoning, text, calls))
        assert (expected.text, expected.reasoning) == (text, reasoning)
        assert [call.arguments for call in expected.calls] == given
        assert answered(name, wire(name, reasoning, text, calls, anywhere)) == expected
        assert answered(name, wire(name, reasoning, text, calls, letters)) == expected

    check_rows(check, NAMES)


def test_halves_of_a_character_are_joined() -> None:
    def check(name: str) -> None:
        def halves(text: str) -> list[str]:
            return [half.decode("utf-16-le", "surrogatepass") for half in _pairs(text.encode("utf-16-le"))]

        reply = answered(name, wire(name, "so 😀", "well 😀!", split=halves))
        assert (reply.text, reply.reasoning) == ("well 😀!", "so 😀")

    check_rows(check, NAMES)


def _pairs(data: bytes) -> list[bytes]:
    return [data[place : place + 2] for place in range(0, len(data), 2)]


# --- what is given back ----------------------------------------------------------------------------


@core
@given(reasoning=texts, text=texts)
def test_a_reply_goes_back_to_its_provider_as_it_came(reasoning: str, text: str) -> None:
    """In one message, or as a log keeps it: what was said and thought, then the calls."""

    def check(name: str) -> None:
        reply = answered(name, wire(name, reasoning, text, CALLS))
        results = [
            Message("tool", None, tool_payload=ToolResultPayload(call.id, "look", 1)) for call in reply.calls
        ]
        payload = ToolCallPayload(reply.calls)
        said = Message("assistant", reply.text, reply.reasoning, opaque=reply.opaque)
        joined = Message("assistant", reply.text, reply.reasoning, tool_payload=payload, opaque=reply.opaque)
        has_said = reply.text or reply.reasoning or reply.opaque
        apart = [*([said] if has_said else []), Message("assistant", None, tool_payload=payload)]
        first = dialect(name).render(
            MODELS[name], [Message("user", "hi"), joined, *results], [], CallOptions()
        )
        second = dialect(name).render(
            MODELS[name], [Message("user", "hi"), *apart, *results], [], CallOptions()
        )
        assert first == second
        assert first.repairs == ()
        told = strings_of(first.payload)
        if reasoning and name != "gemini":
            assert {"openai": "gAAA", "anthropic": "sig"}.get(name, reasoning) in told
        if name == "gemini":
            assert "c2ln" in told

    check_rows(check, NAMES)


def test_what_is_kept_for_a_provider_is_json_without_the_texts() -> None:
    def check(name: str) -> None:
        reply = answered(name, wire(name, "a secret thought", "an open word", CALLS))
        kept = json.dumps([reply.opaque, [call.opaque for call in reply.calls]])
        assert "secret" not in kept
        assert "open" not in kept.replace("openai", "")

    check_rows(check, NAMES)


def test_thoughts_between_texts_stay_between_them() -> None:
    chunks: list[Chunk] = [{"type": "message_start", "message": {"id": "m"}}]
    blocks: list[Chunk] = [
        {"type": "thinking", "thinking": "first", "signature": "s1"},
        {"type": "redacted_thinking", "data": "hidden"},
        {"type": "text", "text": "one"},
        {"type": "thinking", "thinking": "second", "signature": "s2"},
        {"type": "text", "text": "two"},
        {"type": "tool_use", "id": "a", "name": "look", "input": {"at": 1}},
    ]
    for index, block in enumerate(blocks):
        chunks.append({"type": "content_block_start", "index": index, "content_block": block})
    chunks += [{"type": "message_delta", "delta": {"stop_reason": "tool_use"}}, {"type": "message_stop"}]
    reply = answered("anthropic", chunks)
    assert (reply.text, reply.reasoning) == ("one\n\ntwo", "first\n\nsecond")
    message = Message(
        "assistant", reply.text, reply.reasoning, (), (), (), ToolCallPayload(reply.calls), reply.opaque
    )
    result = Message("tool", None, tool_payload=ToolResultPayload("a", "look", 1))
    made = dialect("anthropic").render(
        "claude-sonnet-5", [Message("user", "hi"), message, result], [], CallOptions()
    )
    assert made.payload["messages"][1]["content"] == blocks
    assert made.repairs == ()


def test_the_phases_of_an_answer_go_back_to_openai() -> None:
    chunks: list[Chunk] = []
    for index, (phase, text) in enumerate((("commentary", "I look."), ("final_answer", "It is there."))):
        item: Chunk = {"type": "message", "phase": phase, "content": [{"type": "output_text", "text": text}]}
        chunks.append({"type": "response.output_item.done", "output_index": index, "item": item})
    chunks.append({"type": "response.completed", "response": {"id": "r", "model": "gpt-5.3-codex"}})
    reply = answered("openai", chunks)
    assert reply.text == "I look.\n\nIt is there."
    message = Message("assistant", reply.text, opaque=reply.opaque)
    made = dialect("openai").render("gpt-5.3-codex", [Message("user", "hi"), message], [], CallOptions())
    assert made.payload["input"][1:] == [
        {"type": "message", "role": "assistant", "content": "I look.", "phase": "commentary"},
        {"type": "message", "role": "assistant", "content": "It is there.", "phase": "final_answer"},
    ]


def test_a_response_that_comes_whole_is_read_as_one_in_pieces() -> None:
    pieces = wire("openai", "why", "Hello", CALLS, letters)
    items = [chunk["item"] for chunk in pieces if chunk["type"] == "response.output_item.done"]
    items += [
        {"type": "function_call", "call_id": id_, "name": name, "arguments": arguments}
        for id_, name, arguments in CALLS
    ]
    last = pieces[-1] | {"response": pieces[-1]["response"] | {"output": items}}
    assert answered("openai", [last]) == answered("openai", pieces)
    assert answered("openai", [*pieces[:-1], last]) == answered("openai", pieces)


def test_the_parts_of_a_summary_are_kept_apart() -> None:
    chunks: list[Chunk] = [
        {
            "type": "response.reasoning_summary_text.delta",
            "output_index": 0,
            "summary_index": place,
            "delta": text,
        }
        for place, text in ((0, "fi"), (0, "rst"), (1, "sec"), (1, "ond"))
    ]
    done: Chunk = {"type": "reasoning", "id": "rs_1", "encrypted_content": "gA"}
    done["summary"] = [{"text": "first"}, {"text": "second"}]
    item = {"type": "response.output_item.done", "output_index": 0, "item": done}
    end: Chunk = {"type": "response.completed", "response": {"id": "r"}}
    assert answered("openai", [*chunks, item, end]).reasoning == "first\n\nsecond"
    assert answered("openai", [item, end]) == answered("openai", [*chunks, item, end])


def test_the_whole_arguments_win_over_their_pieces() -> None:
    chunks: list[Chunk] = [
        {
            "type": "response.output_item.added",
            "output_index": 0,
            "item": {"type": "function_call", "call_id": "a", "name": "look"},
        },
        {"type": "response.function_call_arguments.delta", "output_index": 0, "delta": '{"n": '},
        {"type": "response.function_call_arguments.done", "output_index": 0, "arguments": '{"n": 1}'},
        {"type": "response.completed", "response": {}},
    ]
    assert answered("openai", chunks).calls == (ToolCallSpec("a", "look", {"n": 1}),)


def test_the_signature_of_a_text_goes_back_to_gemini() -> None:
    parts: list[Chunk] = [{"text": "It is "}, {"text": "there."}, {"text": "", "thoughtSignature": "c2ln"}]
    chunks: list[Chunk] = [{"candidates": [{"content": {"parts": [part]}}]} for part in parts]
    reply = answered("gemini", [*chunks, {"candidates": [{"finishReason": "STOP"}]}])
    messages = [
        Message("user", "hi"),
        Message("assistant", reply.text, opaque=reply.opaque),
        Message("user", "so"),
    ]
    made = dialect("gemini").render("gemini-3-pro", messages, [], CallOptions())
    assert made.payload["contents"][1]["parts"] == [{"text": "It is there.", "thought_signature": "c2ln"}]


def test_gemini_counts_what_it_does_not_tell_apart() -> None:
    usage = {"promptTokenCount": 10, "toolUsePromptTokenCount": 2, "totalTokenCount": 15}
    chunk = {"candidates": [{"finishReason": "STOP"}], "usageMetadata": usage}
    assert answered("gemini", [chunk]).usage == Usage(12, 0, 0, 3)


def test_openrouter_is_given_its_signed_details_back_unless_the_text_changed() -> None:
    detail = {"type": "reasoning.text", "index": 0, "format": "anthropic-claude-v1"}
    chunks: list[Chunk] = [
        {"choices": [{"delta": {"reasoning": "why ", "reasoning_details": [detail | {"text": "why "}]}}]},
        {"choices": [{"delta": {"reasoning": "not", "reasoning_details": [detail | {"text": "not"}]}}]},
        {"choices": [{"delta": {"reasoning_details": [detail | {"signature": "sig"}]}}]},
        {"choices": [{"delta": {"tool_calls": [{"index": 0, "id": "a", "function": {"name": "look"}}]}}]},
        {"choices": [{"delta": {}, "finish_reason": "tool_calls"}]},
    ]
    reply = answered("openai-chat", chunks)
    for reasoning, kept in (
        (reply.reasoning, [detail | {"signature": "sig", "text": "why not"}]),
        ("other", None),
    ):
        payload = ToolCallPayload(reply.calls)
        message = Message("assistant", None, reasoning, tool_payload=payload, opaque=reply.opaque)
        result = Message("tool", None, tool_payload=ToolResultPayload("a", "look", 1))
        made = dialect("openai-chat").render("m", [Message("user", "hi"), message, result], [], CallOptions())
        assert made.payload["messages"][1].get("reasoning_details") == kept
        assert bool(made.repairs) == (kept is None)


# --- servers that speak like OpenAI ------------------------------------------------------------------


def deltas(*given: Chunk, finish: str = "tool_calls", **more: Any) -> list[Chunk]:
    chunks: list[Chunk] = [{"id": "x", "choices": [{"index": 0, "delta": delta}]} | more for delta in given]
    return [*chunks, {"choices": [{"index": 0, "delta": {}, "finish_reason": finish}]}]


def call(**members: Any) -> Chunk:
    function = {key: members.pop(key) for key in ("name", "arguments") if key in members}
    return {"tool_calls": [members | {"function": function}]}


def call_of(name: str, **arguments: Any) -> Chunk:
    return {"function": {"name": name, "arguments": arguments}}


def test_calls_are_read_however_a_server_numbers_them() -> None:
    def check(chunks: list[Chunk]) -> None:
        reply = answered("openai-chat", chunks)
        assert [(each.name, each.arguments) for each in reply.calls] == [("a", {}), ("b", {"n": 1})]
        assert len({each.id for each in reply.calls}) == 2
        assert all(each.id for each in reply.calls)
        assert reply.stop == "tools"

    check_rows(
        check,
        [
            # no ids
            deltas(call(index=0, name="a", arguments="{}"), call(index=1, name="b", arguments='{"n": 1}')),
            # no indexes
            deltas(
                call(id="1", name="a", arguments="{}"), call(id="2", name="b"), call(arguments='{"n": 1}')
            ),
            # neither
            deltas(call(name="a", arguments="{}"), call(name="b", arguments='{"n": '), call(arguments="1}")),
            # the name in each piece
            deltas(
                call(index=0, id="1", name="a", arguments="{"),
                call(index=0, id="1", name="a", arguments="}"),
                call(index=1, id="2", name="b", arguments='{"n": 1}'),
            ),
            # one index for all of them
            deltas(
                call(index=0, id="1", name="a", arguments="{}"),
                call(index=0, id="2", name="b", arguments='{"n": 1}'),
            ),
            # objects for arguments
            deltas(call(index=0, name="a", arguments={}), call(index=1, name="b", arguments={"n": 1})),
            # all at once, as a message
            [
                {
                    "choices": [
                        {
                            "message": {"tool_calls": [call_of("a"), call_of("b", n=1)]},
                            "finish_reason": "stop",
                        }
                    ]
                }
            ],
        ],
    )


def test_a_call_in_the_old_way_is_heard() -> None:
    old = deltas({"function_call": {"name": "a", "arguments": "{"}}, {"function_call": {"arguments": "}"}})
    assert [(each.name, each.arguments) for each in answered("openai-chat", old).calls] == [("a", {})]


@pytest.mark.parametrize("reason", ["insufficient_system_resource", "error"])
def test_an_answer_that_the_server_gave_up_may_be_asked_for_again(reason: str) -> None:
    with pytest.raises(Passing, match=reason):
        list(dialect("openai-chat").read(deltas({"content": "a"}, finish=reason)))


def test_arguments_of_ollama_may_be_text() -> None:
    told = {"message": {"tool_calls": [{"id": "x", "function": {"name": "a", "arguments": '{"n": 1}'}}]}}
    assert answered("ollama", [told, {"done": True}]).calls == (ToolCallSpec("x", "a", {"n": 1}),)


def test_ids_that_are_made_are_the_same_for_the_same_stream_only() -> None:
    def ids(moment: str) -> list[str]:
        chunks = [chunk | {"created_at": moment} for chunk in wire("ollama", calls=CALLS)]
        return [each.id for each in answered("ollama", chunks).calls]

    assert ids("2026-11-01") == ids("2026-11-01")
    assert not set(ids("2026-11-01")) & set(ids("2026-11-02"))


NAMELESS = ("responseId", "created_at", "id")
"""Members by which a provider names a stream, or a call; some servers leave them out."""


def nameless(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: nameless(each) for name, each in value.items() if name not in NAMELESS}
    return [nameless(each) for each in value] if isinstance(value, list) else value


@pytest.mark.parametrize("name", ["gemini", "openai-chat", "ollama"])
def test_two_replies_without_a_name_share_no_id(name: str) -> None:
    chunks = nameless(wire(name, calls=CALLS))
    ids = [each.id for _ in range(2) for each in answered(name, chunks).calls]
    assert len(set(ids)) == 2 * len(CALLS)
    assert all(ids)


def test_two_calls_of_one_tool_without_ids_are_two() -> None:
    reply = answered(
        "openai-chat", deltas(call(name="a", arguments='{"n": 1}'), call(name="a", arguments='{"n": 2}'))
    )
    assert [each.arguments for each in reply.calls] == [{"n": 1}, {"n": 2}]


@pytest.mark.parametrize("field", ["reasoning_content", "reasoning"])
def test_what_a_server_thinks_is_heard_under_either_name_and_once(field: str) -> None:
    both = {"reasoning_content": "why", "reasoning": "why"} if field == "reasoning" else {field: "why"}
    reply = answered("openai-chat", deltas(both, {"content": "so"}, finish="stop"))
    assert (reply.reasoning, reply.text) == ("why", "so")


@pytest.mark.parametrize(
    ("usage", "expected"),
    [
        ({"prompt_tokens": 9, "completion_tokens": 4}, Usage(9, 0, 0, 4)),
        ({"prompt_tokens": 9, "completion_tokens": 4, "prompt_cache_hit_tokens": 6}, Usage(9, 6, 0, 4)),
        ({"prompt_tokens": 9, "prompt_tokens_details": None}, Usage(9, is_estimated=True)),
        (None, Usage(is_estimated=True)),
    ],
)
def test_usage_is_read_wherever_it_stands(usage: Any, expected: Usage) -> None:
    last = [{"choices": [], "usage": usage}]
    assert answered("openai-chat", [*deltas({"content": "a"}, finish="stop"), *last]).usage == expected
    everywhere = deltas({"content": "a"}, finish="stop", usage={"prompt_tokens": 1, "completion_tokens": 1})
    if usage is not None:
        assert answered("openai-chat", [*everywhere, *last]).usage == expected


# --- ends ------------------------------------------------------------------------------------------------


def test_a_stream_without_its_end_was_cut() -> None:
    def check(name: str) -> None:
        chunks = wire(name, "why", "Hello", CALLS, letters)
        ends = {"openai": 1, "openai-chat": 2, "anthropic": 1, "gemini": 1, "ollama": 1}
        for length in range(len(chunks) - ends[name] + 1):
            with pytest.raises(Passing, match="the line was cut"):
                list(dialect(name).read(chunks[:length]))
        assert answered(name, chunks).text == "Hello"

    check_rows(check, NAMES)


LIMITS: dict[str, Chunk] = {
    "openai": {
        "type": "response.incomplete",
        "response": {"incomplete_details": {"reason": "max_output_tokens"}},
    },
    "openai-chat": {"choices": [{"index": 0, "delta": {}, "finish_reason": "length"}]},
    "anthropic": {"type": "message_delta", "delta": {"stop_reason": "max_tokens"}},
    "gemini": {"candidates": [{"finishReason": "MAX_TOKENS"}]},
    "ollama": {"done": True, "done_reason": "length"},
}


def ended_by(name: str, last: Chunk) -> Reply:
    chunks = wire(name, text="Hello")
    before = [chunk for chunk in chunks if not _is_end(chunk)]
    return answered(name, [*before, last, *([{"type": "message_stop"}] if name == "anthropic" else [])])


def _is_end(chunk: Chunk) -> bool:
    text = json.dumps(chunk)
    marks = (
        '"response.completed"',
        '"finish_reason": "',
        '"message_delta"',
        '"message_stop"',
        "finishReason",
    )
    return any(mark in text for mark in (*marks, '"done": true'))


def test_an_answer_at_its_limit_says_so() -> None:
    def check(name: str) -> None:
        assert (ended_by(name, LIMITS[name]).stop, ended_by(name, LIMITS[name]).text) == ("length", "Hello")

    check_rows(check, NAMES)


REFUSALS: dict[str, Chunk] = {
    "openai": {
        "type": "response.incomplete",
        "response": {"incomplete_details": {"reason": "content_filter"}},
    },
    "openai-chat": {"choices": [{"index": 0, "delta": {}, "finish_reason": "content_filter"}]},
    "anthropic": {"type": "message_delta", "delta": {"stop_reason": "refusal"}},
    "gemini": {"candidates": [{"finish_reason": "SAFETY"}]},
}


def test_an_answer_that_was_held_back_says_so() -> None:
    def check(name: str) -> None:
        assert ended_by(name, REFUSALS[name]).stop == "refused"

    check_rows(check, REFUSALS)


def test_a_model_that_refuses_in_words_is_heard() -> None:
    responses: list[Chunk] = [
        {"type": "response.refusal.delta", "output_index": 0, "content_index": 0, "delta": "I will not."},
        {"type": "response.completed", "response": {}},
    ]
    chat = deltas({"refusal": "I will "}, {"refusal": "not."}, finish="stop")
    for name, chunks in (("openai", responses), ("openai-chat", chat)):
        reply = answered(name, chunks)
        assert (reply.text, reply.stop) == ("I will not.", "refused")


def test_a_prompt_that_gemini_blocks_is_refused() -> None:
    assert answered("gemini", [{"promptFeedback": {"blockReason": "SAFETY"}}]).stop == "refused"


def test_a_call_that_gemini_could_not_write_may_be_asked_for_again() -> None:
    with pytest.raises(Passing, match="MALFORMED_FUNCTION_CALL"):
        list(dialect("gemini").read([{"candidates": [{"finishReason": "MALFORMED_FUNCTION_CALL"}]}]))


def test_arguments_that_are_no_object_are_the_text_that_came() -> None:
    def check(name: str, arguments: str) -> None:
        (made,) = answered(name, wire(name, calls=[("a", "look", arguments)])).calls
        assert made == ToolCallSpec("a", "look", arguments)

    check_rows(
        check,
        [
            (name, arguments)
            for name in ["openai", "openai-chat", "anthropic"]
            for arguments in ['{"at": ', "[1]", "look there", '"text"', "[" * 100_000]
        ],
    )


def nested(levels: int) -> str:
    return '{"x": ' * levels + "1" + "}" * levels


UNHELD = ['{"x": 1e999}', '{"x": [-1e999]}', '{"x": NaN}', '{"x": Infinity}', nested(300), nested(101)]
UNHELD += ['{"x": "\\ud800"}', '{"\\udc00": 1}']


def test_arguments_that_no_log_can_hold_stay_text() -> None:
    def check(name: str, arguments: str) -> None:
        (made,) = answered(name, wire(name, calls=[("a", "look", arguments)])).calls
        is_parsed = name in ("gemini", "ollama")
        assert made.arguments == (json.dumps(json.loads(arguments)) if is_parsed else arguments)
        for objects in (
            deltas(call(index=0, name="a", arguments=json.loads(arguments))),
            [
                {
                    "message": {"tool_calls": [{"function": {"name": "a", "arguments": arguments}}]},
                    "done": True,
                }
            ],
        ):
            by = "openai-chat" if "choices" in objects[0] else "ollama"
            (made,) = answered(by, objects).calls
            assert isinstance(made.arguments, str)

    check_rows(check, [(name, arguments) for name in NAMES for arguments in UNHELD])


def test_arguments_that_a_log_can_hold_are_held(tmp_path: Path) -> None:
    def check(name: str) -> None:
        from looseleaf import Memory

        deepest = nested(HELD)
        (made,) = answered(name, wire(name, calls=[("a", "look", deepest)])).calls
        assert made.arguments == json.loads(deepest)
        (text,) = answered(name, wire(name, calls=[("a", "look", nested(HELD + 1))])).calls
        assert text.arguments == nested(HELD + 1)
        with Memory(tmp_path / "m") as memory:
            for each in (made, text):
                memory.record(tool_call=each.name, tool_args=each.arguments, tool_call_id=each.id)

    check_rows(check, NAMES)


@pytest.mark.parametrize("value", [1e999, json.loads(nested(300)), "\ud800"])
def test_what_is_to_be_kept_for_a_provider_and_cannot_be_is_not(value: Any) -> None:
    for kept in ("fine", value):
        detail = {"type": "reasoning.encrypted", "index": 0, "data": kept}
        reply = answered(
            "openai-chat", deltas({"reasoning_details": [detail]}, {"content": "hi"}, finish="stop")
        )
        assert (reply.opaque is not None) == (kept == "fine")
        assert reply.text == "hi"
    part = {"functionCall": {"name": "a", "args": {}}, "thoughtSignature": "\ud800"}
    told = [{"candidates": [{"content": {"parts": [part]}, "finishReason": "STOP"}]}]
    assert answered("gemini", told).calls[0].opaque is None


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.floats() | st.text(st.characters(), max_size=5),
        lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    )
)
def test_a_value_is_written_the_same_however_deep_it_is(value: Any) -> None:
    assert _dump_flat(value) == written(value) == json.dumps(value)
    deep = value
    for _ in range(3000):
        deep = {"x": [deep]}
    assert written(deep) == '{"x": [' * 3000 + json.dumps(value) + "]}" * 3000


ERRORS: dict[str, Callable[[str, str], Chunk]] = {
    "openai": lambda code, text: {"type": "error", "code": code, "message": text},
    "openai-chat": lambda code, text: {"error": {"code": code, "message": text}},
    "anthropic": lambda code, text: {"type": "error", "error": {"type": code, "message": text}},
    "gemini": lambda code, text: {"error": {"status": code, "message": text}},
    "ollama": lambda code, text: {"error": f"{code} {text}"},
}


def test_an_error_within_a_stream_is_told() -> None:
    def check(name: str, code: str, text: str, kind: type[Exception]) -> None:
        chunks = [*wire(name, text="Hello")[:2], ERRORS[name](code, text)]
        with pytest.raises(ModelFailed) as caught:
            list(dialect(name).read(chunks))
        assert type(caught.value) is kind
        assert text in str(caught.value)

    check_rows(
        check,
        [
            (name, code, text, kind)
            for name in NAMES
            for code, text, kind in [
                ("overloaded_error", "Overloaded", Passing),
                ("server_error", "something broke", Passing),
                ("invalid_prompt", "no", ModelFailed),
                (
                    "context_length_exceeded",
                    "This model's maximum context length is 8192 tokens",
                    PromptTooLong,
                ),
                (
                    "invalid_request_error",
                    "prompt is too long: 210000 tokens > 200000 maximum",
                    PromptTooLong,
                ),
                (
                    "INVALID_ARGUMENT",
                    "The input token count (2000000) exceeds the maximum number of tokens",
                    PromptTooLong,
                ),
            ]
        ],
    )


def test_a_response_that_failed_is_told() -> None:
    failed = {
        "type": "response.failed",
        "response": {"error": {"code": "rate_limit_exceeded", "message": "slow down"}},
    }
    with pytest.raises(Passing, match="slow down"):
        list(dialect("openai").read([failed]))


def test_no_error_tells_a_key() -> None:
    def check(name: str) -> None:
        chunk = ERRORS[name](
            "invalid_api_key", "Incorrect key: sk-proj-abcdefghijklmnop1234, AIzaSyA1234567890abcdefg"
        )
        with pytest.raises(ModelFailed) as caught:
            list(dialect(name).read([chunk]))
        assert "abcdef" not in str(caught.value)
        assert "[key]" in str(caught.value)

    check_rows(check, NAMES)


# --- anything ------------------------------------------------------------------------------------------------

json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | texts,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3),
    max_leaves=5,
)


def _places(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    if path:
        yield path
    members = (
        value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    )
    for key, each in members:
        yield from _places(each, (*path, key))


@given(data=st.data())
def test_whatever_streams_in_ends_in_one_reply_or_a_sentence(data: st.DataObject) -> None:
    """Events lost, doubled, out of order, and with anything in the place of any member."""

    def check(name: str) -> None:
        chunks = json.loads(json.dumps(wire(name, "why", "Hello", CALLS)))
        for _ in range(data.draw(st.integers(1, 4))):
            path = data.draw(st.sampled_from(list(_places(chunks))))
            inside = chunks
            for step in path[:-1]:
                inside = inside[step]
            inside[path[-1]] = data.draw(json_values)
        order = data.draw(st.lists(st.sampled_from(chunks), max_size=3))
        try:
            events: list[Event] = list(dialect(name).read([*chunks, *order]))
        except ModelFailed:
            pass
        else:
            assert [isinstance(event, Reply) for event in events] == [False] * (len(events) - 1) + [True]
            assert isinstance(events[-1], Reply)
            repr(events).encode()
            json.dumps([events[-1].opaque, events[-1].usage.to_dict()])

    check_rows(check, NAMES)
