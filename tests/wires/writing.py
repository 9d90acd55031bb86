"""Answers in the shapes in which five providers send them: streams, whole responses, refusals."""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Iterator
from typing import Any

from looseleaf.base.replies import Usage
from wires.responses import response_events
from wires.terms import Answer, Asked, Malformed, arguments_of, counted, words

MOMENT = 1_790_000_000
"""When all answers are made, in seconds."""


def signature(text: str) -> str:
    """What a provider would sign a thought with: it fits this text and no other."""
    return base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()


def events(asked: Asked, answer: Answer) -> list[bytes]:
    """The stream, one element for each event of it."""
    return list(
        {
            "openai": _responses,
            "openai-chat": _chat,
            "anthropic": _anthropic,
            "gemini": _gemini,
            "ollama": _ollama,
        }[asked.wire](asked, answer)
    )


def whole(asked: Asked, answer: Answer) -> dict[str, Any]:
    """The answer to a request that does not stream."""
    return {
        "openai": _whole_response,
        "openai-chat": _whole_chat,
        "anthropic": _whole_anthropic,
        "gemini": _whole_gemini,
        "ollama": _whole_ollama,
    }[asked.wire](asked, answer)


def _sse(data: dict[str, Any], event: str | None = None) -> bytes:
    name = f"event: {event}\n" if event else ""
    return f"{name}data: {json.dumps(data, ensure_ascii=False)}\n\n".encode()


# --- OpenAI -----------------------------------------------------------------------------


def _responses(asked: Asked, answer: Answer) -> Iterator[bytes]:
    for event in response_events(asked, answer, signature, MOMENT):
        yield _sse(event, event["type"])


def _whole_response(asked: Asked, answer: Answer) -> dict[str, Any]:
    response: dict[str, Any] = response_events(asked, answer, signature, MOMENT)[-1]["response"]
    return response


def chat_usage(usage: Usage) -> dict[str, Any]:
    return {
        "prompt_tokens": usage.prompt_tokens,
        "completion_tokens": usage.output_tokens,
        "total_tokens": usage.prompt_tokens + usage.output_tokens,
        "prompt_tokens_details": {
            "cached_tokens": usage.cached_tokens,
            "cache_write_tokens": usage.written_tokens,
        },
        "completion_tokens_details": {"reasoning_tokens": usage.reasoning_tokens},
    }


_FINISH = {"end": "stop", "length": "length", "refused": "content_filter"}


def _chat(asked: Asked, answer: Answer) -> Iterator[bytes]:
    includes = (asked.body.get("stream_options") or {}).get("include_usage") is True
    head = {
        "id": f"chatcmpl-{asked.number}",
        "object": "chat.completion.chunk",
        "created": MOMENT,
        "model": asked.model,
        "system_fingerprint": "fp_test",
    }

    def chunk(delta: dict[str, Any], finish: str | None = None) -> bytes:
        choice = {"index": 0, "delta": delta, "logprobs": None, "finish_reason": finish}
        return _sse(head | {"choices": [choice]} | ({"usage": None} if includes else {}))

    yield chunk({"role": "assistant", "content": None if answer.calls and not answer.text else ""})
    for piece in words(answer.reasoning):
        yield chunk({"reasoning_content": piece})
    for piece in answer.parts:
        yield chunk({"content": piece})
    for index, (name, arguments) in enumerate(answer.calls):
        named = {"index": index, "id": f"call_{asked.number}_{index}", "type": "function"}
        yield chunk({"tool_calls": [named | {"function": {"name": name, "arguments": ""}}]})
        for piece in words(arguments_of(answer, arguments)):
            yield chunk({"tool_calls": [{"index": index, "function": {"arguments": piece}}]})
    yield chunk({}, "tool_calls" if answer.calls else _FINISH[answer.stop])
    if includes:
        yield _sse(head | {"choices": [], "usage": chat_usage(counted(asked, answer))})
    yield b"data: [DONE]\n\n"


def _whole_chat(asked: Asked, answer: Answer) -> dict[str, Any]:
    message: dict[str, Any] = {"role": "assistant", "content": answer.text or None, "refusal": None}
    if answer.reasoning:
        message["reasoning_content"] = answer.reasoning
    if answer.calls:
        message["tool_calls"] = [
            {
                "id": f"call_{asked.number}_{index}",
                "type": "function",
                "function": {"name": name, "arguments": arguments_of(answer, arguments)},
            }
            for index, (name, arguments) in enumerate(answer.calls)
        ]
    finish = "tool_calls" if answer.calls else _FINISH[answer.stop]
    return {
        "id": f"chatcmpl-{asked.number}",
        "object": "chat.completion",
        "created": MOMENT,
        "model": asked.model,
        "choices": [{"index": 0, "message": message, "logprobs": None, "finish_reason": finish}],
        "usage": chat_usage(counted(asked, answer)),
    }


# --- Anthropic --------------------------------------------------------------------------


def _anthropic_usage(usage: Usage) -> dict[str, Any]:
    """`input_tokens` are those that have nothing to do with the cache."""
    return {
        "input_tokens": usage.prompt_tokens - usage.cached_tokens - usage.written_tokens,
        "cache_creation_input_tokens": usage.written_tokens,
        "cache_read_input_tokens": usage.cached_tokens,
        "output_tokens": usage.output_tokens,
        "output_tokens_details": {"thinking_tokens": usage.reasoning_tokens},
    }


def _anthropic_stop(answer: Answer) -> str:
    ends = {"end": "end_turn", "length": "max_tokens", "refused": "refusal"}
    return "tool_use" if answer.calls else ends[answer.stop]


def _anthropic(asked: Asked, answer: Answer) -> Iterator[bytes]:
    usage = counted(asked, answer)
    message: dict[str, Any] = {
        "id": f"msg_{asked.number}",
        "type": "message",
        "role": "assistant",
        "model": asked.model,
        "content": [],
        "stop_reason": None,
        "stop_sequence": None,
        "usage": _anthropic_usage(usage) | {"output_tokens": 1, "service_tier": "standard"},
    }
    yield _event("message_start", message=message)
    yield _event("ping")
    for index, (kind, opening, deltas) in enumerate(_anthropic_blocks(asked, answer)):
        yield _event("content_block_start", index=index, content_block={"type": kind} | opening)
        for delta in deltas:
            yield _event("content_block_delta", index=index, delta=delta)
        yield _event("content_block_stop", index=index)
    stopped = {"stop_reason": _anthropic_stop(answer), "stop_sequence": None}
    yield _event("message_delta", delta=stopped, usage=_anthropic_usage(usage))
    yield _event("message_stop")


def _event(kind: str, **members: Any) -> bytes:
    return _sse({"type": kind} | members, kind)


def _anthropic_blocks(
    asked: Asked, answer: Answer
) -> Iterator[tuple[str, dict[str, Any], list[dict[str, Any]]]]:
    if answer.reasoning:
        thoughts = [{"type": "thinking_delta", "thinking": piece} for piece in words(answer.reasoning)]
        signed = {"type": "signature_delta", "signature": signature(answer.reasoning)}
        yield "thinking", {"thinking": "", "signature": ""}, [*thoughts, signed]
    if answer.parts:
        yield "text", {"text": ""}, [{"type": "text_delta", "text": piece} for piece in answer.parts]
    for number, (name, arguments) in enumerate(answer.calls):
        pieces = ["", *words(arguments_of(answer, arguments))]
        deltas = [{"type": "input_json_delta", "partial_json": piece} for piece in pieces]
        yield "tool_use", {"id": f"toolu_{asked.number}_{number}", "name": name, "input": {}}, deltas


def _whole_anthropic(asked: Asked, answer: Answer) -> dict[str, Any]:
    content: list[dict[str, Any]] = []
    if answer.reasoning:
        thought = {"thinking": answer.reasoning, "signature": signature(answer.reasoning)}
        content.append({"type": "thinking"} | thought)
    if answer.text:
        content.append({"type": "text", "text": answer.text})
    for number, (name, arguments) in enumerate(answer.calls):
        named = {"id": f"toolu_{asked.number}_{number}", "name": name, "input": arguments}
        content.append({"type": "tool_use"} | named)
    return {
        "id": f"msg_{asked.number}",
        "type": "message",
        "role": "assistant",
        "model": asked.model,
        "content": content,
        "stop_reason": _anthropic_stop(answer),
        "stop_sequence": None,
        "usage": _anthropic_usage(counted(asked, answer)),
    }


# --- Gemini -----------------------------------------------------------------------------


def _gemini_usage(usage: Usage) -> dict[str, Any]:
    """`candidatesTokenCount` are those of the answer without its thoughts."""
    return {
        "promptTokenCount": usage.prompt_tokens,
        "candidatesTokenCount": usage.output_tokens - usage.reasoning_tokens,
        "totalTokenCount": usage.prompt_tokens + usage.output_tokens,
        "cachedContentTokenCount": usage.cached_tokens,
        "thoughtsTokenCount": usage.reasoning_tokens,
        "promptTokensDetails": [{"modality": "TEXT", "tokenCount": usage.prompt_tokens}],
    }


def _gemini_parts(answer: Answer) -> Iterator[dict[str, Any]]:
    for piece in words(answer.reasoning):
        yield {"text": piece, "thought": True}
    for piece in answer.parts:
        yield {"text": piece}
    signed = {"thoughtSignature": signature(answer.reasoning)} if answer.reasoning else {}
    if isinstance(answer.fault, Malformed):
        return
    for number, (name, arguments) in enumerate(answer.calls):
        # Of calls made at once, the first is signed.
        yield {"functionCall": {"name": name, "args": arguments}} | (signed if not number else {})
    if signed and not answer.calls:
        yield {"text": ""} | signed


def _gemini_stop(answer: Answer) -> str:
    if isinstance(answer.fault, Malformed):
        return "MALFORMED_FUNCTION_CALL"
    return {"end": "STOP", "length": "MAX_TOKENS", "refused": "SAFETY"}[answer.stop]


def _gemini_response(asked: Asked, answer: Answer, parts: list[dict[str, Any]], last: bool) -> dict[str, Any]:
    candidate: dict[str, Any] = {"content": {"parts": parts, "role": "model"}, "index": 0}
    if last:
        candidate["finishReason"] = _gemini_stop(answer)
        if isinstance(answer.fault, Malformed):
            candidate["finishMessage"] = f"Malformed function call: {answer.calls[0][0]}("
    return {
        "candidates": [candidate],
        "usageMetadata": _gemini_usage(counted(asked, answer)),
        "modelVersion": asked.model,
        "responseId": f"resp-{asked.number}",
    }


def _gemini(asked: Asked, answer: Answer) -> Iterator[bytes]:
    parts = list(_gemini_parts(answer)) or [{"text": ""}]
    for number, part in enumerate(parts, 1):
        told = _gemini_response(asked, answer, [part], number == len(parts))
        yield f"data: {json.dumps(told, ensure_ascii=False)}\r\n\r\n".encode()


def _whole_gemini(asked: Asked, answer: Answer) -> dict[str, Any]:
    return _gemini_response(asked, answer, list(_gemini_parts(answer)), True)


# --- Ollama -----------------------------------------------------------------------------


def _ollama(asked: Asked, answer: Answer) -> Iterator[bytes]:
    head = {"model": asked.model, "created_at": "2026-09-21T10:13:20.000000000Z"}

    def line(message: dict[str, Any], **rest: Any) -> bytes:
        told = head | {"message": {"role": "assistant", "content": ""} | message, "done": False} | rest
        return json.dumps(told, ensure_ascii=False).encode() + b"\n"

    for piece in words(answer.reasoning):
        yield line({"thinking": piece})
    for piece in answer.parts:
        yield line({"content": piece})
    if isinstance(answer.fault, Malformed):
        written = arguments_of(answer, answer.calls[0][1])
        said = f"error parsing tool call: raw='{written}', err=unexpected end of JSON input"
        yield json.dumps({"error": said}).encode() + b"\n"
        return
    for number, (name, arguments) in enumerate(answer.calls):
        function = {"index": number, "name": name, "arguments": arguments}
        yield line({"tool_calls": [{"id": f"call_{asked.number}_{number}", "function": function}]})
    yield line({}, **_ollama_end(asked, answer))


def _ollama_end(asked: Asked, answer: Answer) -> dict[str, Any]:
    usage = counted(asked, answer)
    return {
        "done": True,
        "done_reason": "length" if answer.stop == "length" else "stop",
        "total_duration": 4_883_583_458,
        "load_duration": 1_334_875,
        "prompt_eval_count": usage.prompt_tokens,
        "prompt_eval_duration": 342_546_000,
        "eval_count": usage.output_tokens,
        "eval_duration": 4_535_599_000,
    }


def _whole_ollama(asked: Asked, answer: Answer) -> dict[str, Any]:
    message: dict[str, Any] = {"role": "assistant", "content": answer.text}
    if answer.reasoning:
        message["thinking"] = answer.reasoning
    if answer.calls:
        message["tool_calls"] = [
            {"id": f"call_{asked.number}_{number}", "function": {"name": name, "arguments": arguments}}
            for number, (name, arguments) in enumerate(answer.calls)
        ]
    head = {"model": asked.model, "created_at": "2026-09-21T10:13:20.000000000Z", "message": message}
    return head | _ollama_end(asked, answer)
