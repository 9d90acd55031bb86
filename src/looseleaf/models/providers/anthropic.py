"""Anthropic's models, through the SDK `anthropic`. Requests and events pass as plain JSON objects."""

from __future__ import annotations

import re

from looseleaf.base.messages import ToolResultPayload
from looseleaf.models import failures
from looseleaf.models.call import Caller, missing_package
from looseleaf.models.dialect import (
    CallOptions,
    Dialect,
    Grammar,
    Rendered,
    Spelling,
    fit_answer,
    fit_tools,
    provider_error,
)
from looseleaf.models.message_repair import Requirements, data_of, is_web, repair_messages, result_text
from looseleaf.models.model_table import model as registered
from looseleaf.models.providers.openai import http_client, open_stream
from looseleaf.models.stream_parts import (
    CALL,
    LEFT_OUT,
    TEXT,
    THOUGHT,
    StreamParts,
    add_counts,
    at,
    count_at,
    lay_out,
    text_at,
    usage_of,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from typing import Any

    from looseleaf.base.messages import Message
    from looseleaf.base.replies import Event, Stop, ToolSpec
    from looseleaf.models.failures import Failure
    from looseleaf.models.message_repair import MessageRun
    from looseleaf.models.stream_parts import Part
    from looseleaf.models.stream_thread import StreamLine


# --- rendering: the Messages API -------------------------------------------------------

NAME = "anthropic"
SPELLING = Spelling(r"[^a-zA-Z0-9_-]", 128)
GRAMMAR = Grammar(not_at_top=frozenset({"anyOf", "oneOf", "allOf"}))
ANSWER = Grammar(
    frozenset(
        "type properties required additionalProperties description title enum const items anyOf allOf format default "
        "$ref $defs definitions".split()
    ),
    closed=True,
)
IMAGES = frozenset({"image/jpeg", "image/png", "image/gif", "image/webp"})
VERSION = re.compile(r"claude-(?:[a-z]+-)?(\d+)(?:[-.](\d{1,2})(?!\d))?")
BUDGETS = {"low": 2048, "medium": 8192, "high": 16384}
LEAST_BUDGET = 1024
EFFORTS = ("low", "medium", "high", "xhigh", "max")


def takes(kind: str, address: str) -> bool:
    data = data_of(address)
    return kind == "image" and (data[0] in IMAGES if data else is_web(address, "https"))


IDS = Spelling(r"[^a-zA-Z0-9_-]", 64)
NEEDS = Requirements("Anthropic", takes, SPELLING, IDS, shows=True, user_first=True, user_last=True)


def render(
    model: str, messages: Sequence[Message], tools: Sequence[ToolSpec], options: CallOptions
) -> Rendered:
    told = repair_messages(messages, NEEDS)
    repairs = list(told.repairs)
    most = options.max_tokens or registered(model).max_output_tokens
    payload: dict[str, Any] = {"model": model, "max_tokens": most}
    offered, changed, names = fit_tools(tools, SPELLING, GRAMMAR, NEEDS.provider)
    if offered:
        payload["tools"] = [
            {"name": tool.name, "description": tool.description, "input_schema": tool.parameters}
            for tool in offered
        ]
    if told.system:
        payload["system"] = [{"type": "text", "text": text} for text in told.system]
    turns: list[dict[str, Any]] = []
    first: dict[str, Any] = {}
    for stretch in told.runs:
        role = "assistant" if stretch.role == "assistant" else "user"
        if not turns or turns[-1]["role"] != role:
            turns.append({"role": role, "content": []})
        for message in stretch.messages:
            turns[-1]["content"].extend(_blocks(message, stretch, repairs))
            first = first or turns[-1]["content"][-1]
    for block in (*payload.get("system", [])[-1:], first, turns[-1]["content"][-1]):
        block["cache_control"] = {"type": "ephemeral"}
    payload["messages"] = turns
    if options.effort is not None:
        payload |= _thinking(payload, options.effort, changed)
    if options.schema is not None:
        schema, moved = fit_answer(options.schema, ANSWER, NEEDS.provider)
        payload.setdefault("output_config", {})["format"] = {"type": "json_schema", "schema": schema}
        changed += moved
    if options.temperature is not None:
        changed.append("The temperature was left out: Anthropic takes none.")
    payload["stream"] = True
    return Rendered(payload | (options.extra or {}), (*repairs, *changed), names)


def _thinking(payload: dict[str, Any], effort: str, changed: list[str]) -> dict[str, Any]:
    """Return how Claude is asked to think: by itself since 4.6, with a budget since 3.7, not at all before."""
    model, turns = payload["model"], payload["messages"]
    found = VERSION.search(model)
    version = (int(found[1]), int(found[2] or 0)) if found else (9, 0)
    if version >= (4, 6):
        level = effort if effort in EFFORTS else "low"
        if level != effort:
            changed.append(f"The effort {effort!r} became {level!r}: Anthropic has none of that name.")
        thinking = {"type": "adaptive", "display": "summarized"}
        return {"thinking": thinking, "output_config": {"effort": level}}
    budget = BUDGETS.get(effort, BUDGETS["high" if effort in EFFORTS else "low"])
    budget = min(budget, payload["max_tokens"] // 2)
    # While thinking, older models take no calls made without it.
    has_results = any(block["type"] == "tool_result" for block in turns[-1]["content"])
    may_think = not has_results or turns[-2]["content"][0]["type"] in ("thinking", "redacted_thinking")
    if version < (3, 7) or budget < LEAST_BUDGET or not may_think:
        why = "it cannot, or not at this point in the conversation"
        changed.append(f"{model} was not asked to think: {why}.")
        return {}
    return {"thinking": {"type": "enabled", "budget_tokens": budget}}


def _blocks(message: Message, stretch: MessageRun, repairs: list[str]) -> Iterator[dict[str, Any]]:
    payload = message.tool_payload
    if stretch.role == "assistant":
        yield from _assistant_blocks(message, repairs)
    elif isinstance(payload, ToolResultPayload):
        text = result_text(payload)
        block: dict[str, Any] = {"type": "tool_result", "tool_use_id": payload.tool_call_id}
        if message.image_urls:
            block["content"] = [*_text_blocks(text), *map(_image, message.image_urls)]
        elif text:
            block["content"] = text
        yield block | ({"is_error": True} if payload.tool_error is not None else {})
    else:
        yield from _text_blocks(message.content)
        yield from map(_image, message.image_urls)


def _text_blocks(text: str | None) -> Iterator[dict[str, Any]]:
    if text and not text.isspace():
        yield {"type": "text", "text": text}


def _image(address: str) -> dict[str, Any]:
    data = data_of(address)
    if data is None:
        return {"type": "image", "source": {"type": "url", "url": address}}
    return {"type": "image", "source": {"type": "base64", "media_type": data[0], "data": data[1]}}


def _assistant_blocks(message: Message, repairs: list[str]) -> Iterator[dict[str, Any]]:
    parts, lost = lay_out(message, NAME)
    if lost and LEFT_OUT not in repairs:
        repairs.append(LEFT_OUT)
    for kind, part, marks in parts:
        if kind == THOUGHT and isinstance(marks.get("redacted"), str):
            yield {"type": "redacted_thinking", "data": marks["redacted"]}
        elif kind == THOUGHT and isinstance(marks.get("signature"), str):
            yield {"type": "thinking", "thinking": part, "signature": marks["signature"]}
        elif kind == TEXT:
            yield from _text_blocks(part)
        elif kind == CALL:
            yield {"type": "tool_use", "id": part.id, "name": part.name, "input": part.arguments}


# --- reading ---------------------------------------------------------------------------

STOPS: dict[str, Stop] = {
    "end_turn": "end",
    "stop_sequence": "end",
    "pause_turn": "end",
    "tool_use": "tools",
    "max_tokens": "length",
    "model_context_window_exceeded": "length",
    "refusal": "refused",
}


def read(chunks: Iterable[dict[str, Any]]) -> Iterator[Event]:
    heard = StreamParts(NAME)
    usage: dict[str, Any] = {}
    stop: Stop = "end"
    for chunk in chunks:
        kind = text_at(chunk, "type")
        index = at(chunk, "index")
        key = index if isinstance(index, int) else -1
        if kind == "message_start":
            heard.seed = text_at(chunk, "message", "id")
            heard.model = text_at(chunk, "message", "model")
            add_counts(usage, at(chunk, "message", "usage"))
        elif kind == "content_block_start":
            yield from _start_block(heard, key, at(chunk, "content_block"))
        elif kind == "content_block_delta":
            yield from _add_delta(heard, key, at(chunk, "delta"))
        elif kind == "message_delta":
            stop = STOPS.get(text_at(chunk, "delta", "stop_reason"), stop)
            add_counts(usage, at(chunk, "usage"))
        elif kind == "message_stop":
            heard.stop = stop
        elif kind == "error":
            raise provider_error(text_at(chunk, "error", "message"), text_at(chunk, "error", "type"))
    heard.usage = _usage(usage)
    yield from heard.end()


def _start_block(heard: StreamParts, key: int, block: Any) -> Iterator[Event]:
    kind = text_at(block, "type")
    if kind == "text":
        heard.part(TEXT, key)
        yield from heard.say(at(block, "text"), key)
    elif kind == "thinking":
        _sign(heard.part(THOUGHT, key), text_at(block, "signature"))
        yield from heard.think(at(block, "thinking"), key, apart=True)
    elif kind == "redacted_thinking":
        heard.part(THOUGHT, key).marks = {"redacted": text_at(block, "data")}
    elif kind == "tool_use":
        part = heard.call(key)
        part.id, part.name = text_at(block, "id"), text_at(block, "name")
        given = at(block, "input")
        part.arguments = given if isinstance(given, dict) and given else None


def _add_delta(heard: StreamParts, key: int, delta: Any) -> Iterator[Event]:
    kind = text_at(delta, "type")
    if kind == "text_delta":
        yield from heard.say(at(delta, "text"), key)
    elif kind == "thinking_delta":
        yield from heard.think(at(delta, "thinking"), key, apart=True)
    elif kind == "signature_delta":
        _sign(heard.part(THOUGHT, key), text_at(delta, "signature"))
    elif kind == "input_json_delta" and key in heard.by_key and heard.by_key[key].kind == CALL:
        part = heard.call(key)
        part.arguments = None
        part.pieces.append(text_at(delta, "partial_json"))


def _sign(part: Part, signature: str) -> None:
    if signature:
        part.marks = {"signature": part.marks.get("signature", "") + signature}


def _usage(usage: dict[str, Any]) -> Any:
    """Return the usage. Anthropic's `input_tokens` were neither read from the cache nor written into it."""
    new, cached = count_at(usage, "input_tokens"), count_at(usage, "cache_read_input_tokens")
    written = count_at(usage, "cache_creation_input_tokens")
    prompt = None if new is None else new + (cached or 0) + (written or 0)
    thought = count_at(usage, "output_tokens_details", "thinking_tokens")
    return usage_of(prompt, count_at(usage, "output_tokens"), cached, written, thought)


DIALECT = Dialect(NAME, render, read)

_STATUSES = {
    "invalid_request_error": 400,
    "authentication_error": 401,
    "billing_error": 402,
    "permission_error": 403,
    "not_found_error": 404,
    "request_too_large": 413,
    "rate_limit_error": 429,
    "api_error": 500,
    "timeout_error": 504,
    "overloaded_error": 529,
}
"""The statuses of errors that come inside a stream."""


class Anthropic(Caller):
    """A model behind the Messages API.

        Anthropic("claude-sonnet-5-5", api_key="…", seconds=60)

    Arguments are those of `Caller`: api_key (else ANTHROPIC_API_KEY), base_url (else ANTHROPIC_BASE_URL; without
    /v1), headers, seconds, retries, pause, patience, extensions, calls.
    """

    dialect = "anthropic"
    title = "Anthropic"
    variable = "ANTHROPIC_API_KEY"
    place = "ANTHROPIC_BASE_URL"
    usual = "https://api.anthropic.com"
    speaks = DIALECT

    def _create_client(self) -> Any:
        try:
            import anthropic
        except ImportError:
            raise missing_package("anthropic") from None
        return anthropic.Anthropic(
            api_key=self._api_key,
            base_url=self._base_url,
            max_retries=0,
            default_headers=self._headers,
            http_client=http_client(anthropic, self._is_here()),
        )

    def _open_stream(self, payload: dict[str, Any], seconds: float) -> StreamLine:
        client = self._get_client()
        import anthropic

        return open_stream(anthropic, client, "/v1/messages", payload, seconds)

    def _explain_error(self, error: BaseException, begun: bool) -> Failure:
        import anthropic

        provider = self._provider()
        if isinstance(error, anthropic.APIStatusError):
            status = error.status_code if error.status_code >= 300 else _STATUSES.get(error.type or "", 500)
            said = error.api_message or error.message
            return failures.of_status(provider, status, said, error.type or "", error.response.headers)
        if found := failures.of_transport(provider, error, begun):
            return found
        if "authentication" in str(error) or isinstance(error, anthropic.CredentialsError):
            return failures.without_key(provider)
        return failures.of_rest(provider, error, begun)
