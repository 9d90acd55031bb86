"""A stream of the Responses API: every event in its order, with the numbers and ids that go through it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from wires.terms import Answer, Asked, arguments_of, counted, words


def response_events(
    asked: Asked, answer: Answer, sign: Callable[[str], str], moment: int
) -> list[dict[str, Any]]:
    told: list[dict[str, Any]] = []

    def tell(kind: str, **members: Any) -> None:
        told.append({"type": f"response.{kind}", "sequence_number": len(told)} | members)

    response = _response(asked, moment)
    tell("created", response=response)
    tell("in_progress", response=response)
    output: list[dict[str, Any]] = []
    if answer.reasoning:
        output.append(_tell_reasoning(tell, asked, answer, len(output), sign))
    if answer.parts:
        output.append(_tell_message(tell, asked, answer, len(output)))
    for number, (name, arguments) in enumerate(answer.calls):
        written = arguments_of(answer, arguments)
        output.append(_tell_call(tell, asked, number, name, written, len(output)))
    usage = counted(asked, answer)
    ended = response | {
        "output": output,
        "usage": {
            "input_tokens": usage.prompt_tokens,
            "input_tokens_details": {
                "cached_tokens": usage.cached_tokens,
                "cache_write_tokens": usage.written_tokens,
            },
            "output_tokens": usage.output_tokens,
            "output_tokens_details": {"reasoning_tokens": usage.reasoning_tokens},
            "total_tokens": usage.prompt_tokens + usage.output_tokens,
        },
    }
    if answer.stop == "end":
        tell("completed", response=ended | {"status": "completed"})
    else:
        reason = "max_output_tokens" if answer.stop == "length" else "content_filter"
        ended |= {"status": "incomplete", "incomplete_details": {"reason": reason}}
        tell("incomplete", response=ended)
    return told


def _response(asked: Asked, moment: int) -> dict[str, Any]:
    return {
        "id": f"resp_{asked.number}",
        "object": "response",
        "created_at": moment,
        "status": "in_progress",
        "error": None,
        "incomplete_details": None,
        "instructions": asked.body.get("instructions"),
        "metadata": {},
        "model": asked.model,
        "output": [],
        "parallel_tool_calls": True,
        "temperature": 1.0,
        "tool_choice": "auto",
        "tools": asked.body.get("tools") or [],
        "top_p": 1.0,
        "usage": None,
    }


Tell = Callable[..., None]


def _tell_reasoning(
    tell: Tell, asked: Asked, answer: Answer, index: int, sign: Callable[[str], str]
) -> dict[str, Any]:
    item: dict[str, Any] = {"id": f"rs_{asked.number}", "type": "reasoning", "summary": []}
    secret = {}
    if "reasoning.encrypted_content" in (asked.body.get("include") or []):
        secret = {"encrypted_content": sign(answer.reasoning)}
    where = {"item_id": item["id"], "output_index": index, "summary_index": 0}
    tell("output_item.added", output_index=index, item=item | secret)
    tell("reasoning_summary_part.added", **where, part={"type": "summary_text", "text": ""})
    for piece in words(answer.reasoning):
        tell("reasoning_summary_text.delta", **where, delta=piece)
    part = {"type": "summary_text", "text": answer.reasoning}
    tell("reasoning_summary_text.done", **where, text=answer.reasoning)
    tell("reasoning_summary_part.done", **where, part=part)
    done: dict[str, Any] = item | {"summary": [part]} | secret
    tell("output_item.done", output_index=index, item=done)
    return done


def _tell_message(tell: Tell, asked: Asked, answer: Answer, index: int) -> dict[str, Any]:
    item: dict[str, Any] = {"id": f"msg_{asked.number}", "type": "message", "role": "assistant"}
    where = {"item_id": item["id"], "output_index": index, "content_index": 0}
    empty = {"type": "output_text", "text": "", "annotations": [], "logprobs": []}
    tell("output_item.added", output_index=index, item=item | {"status": "in_progress", "content": []})
    tell("content_part.added", **where, part=empty)
    for piece in answer.parts:
        tell("output_text.delta", **where, delta=piece, logprobs=[])
    text = "".join(answer.parts)
    tell("output_text.done", **where, text=text, logprobs=[])
    tell("content_part.done", **where, part=empty | {"text": text})
    done: dict[str, Any] = item | {"status": "completed", "content": [empty | {"text": text}]}
    tell("output_item.done", output_index=index, item=done)
    return done


def _tell_call(
    tell: Tell, asked: Asked, number: int, name: str, arguments: str, index: int
) -> dict[str, Any]:
    space, _, bare = name.rpartition("::")
    item: dict[str, Any] = {
        "id": f"fc_{asked.number}_{number}",
        "type": "function_call",
        "call_id": f"call_{asked.number}_{number}",
        "name": bare,
        "arguments": "",
        "status": "in_progress",
    } | ({"namespace": space} if space else {})
    where = {"item_id": item["id"], "output_index": index}
    tell("output_item.added", output_index=index, item=item)
    for piece in words(arguments):
        tell("function_call_arguments.delta", **where, delta=piece)
    tell("function_call_arguments.done", **where, arguments=arguments, name=bare)
    done: dict[str, Any] = item | {"arguments": arguments, "status": "completed"}
    tell("output_item.done", output_index=index, item=done)
    return done
