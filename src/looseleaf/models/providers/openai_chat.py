"""OpenAI's Chat Completions, as spoken by OpenAI, vLLM, LM Studio, llama.cpp, DeepSeek and OpenRouter.

They differ where OpenAI is silent: thoughts come as `reasoning_content` or `reasoning`, and go back under the same
name; ids, indexes and usage may be missing; chat templates refuse a system message in the middle or two messages of the
user in a row.
"""

from __future__ import annotations

import json
import re

from looseleaf.base.messages import ToolResultPayload
from looseleaf.models.dialect import (
    CallOptions,
    Dialect,
    Rendered,
    Spelling,
    fit_tools,
    is_strict,
    provider_error,
    tool_members,
)
from looseleaf.models.failures import origin
from looseleaf.models.message_repair import Requirements, data_of, repair_messages, result_text
from looseleaf.models.providers.openai import GRAMMAR, OTHERS, SPELLING, OpenAI
from looseleaf.models.providers.openai import takes as takes_image
from looseleaf.models.stream_parts import (
    CALL,
    LEFT_OUT,
    StreamParts,
    arguments_of,
    at,
    count_at,
    hash_of,
    lay_out,
    list_at,
    of_dialect,
    text_at,
    usage_of,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from typing import Any

    from looseleaf.base.messages import Message
    from looseleaf.base.replies import Event, Stop, ToolSpec
    from looseleaf.models.message_repair import MessageRun
    from looseleaf.models.stream_parts import Part

NAME = "openai-chat"
OPENAI = re.compile(r"(?:gpt-\d|o\d|chatgpt-)")
"""OpenAI's own models, by name: only they refuse `max_tokens`. Others serve `gpt-oss`."""
THINKING = re.compile(r"(?:o\d|gpt-[5-9])(?!.*chat)")
SOUNDS = {"audio/wav": "wav", "audio/x-wav": "wav", "audio/mpeg": "mp3", "audio/mp3": "mp3"}
FIELDS = ("reasoning_content", "reasoning")
HOLDS = ("text", "summary")


def takes(kind: str, address: str) -> bool:
    data = data_of(address) if kind == "audio" else None
    return takes_image(kind, address) or (data is not None and data[0] in SOUNDS)


NEEDS = Requirements("Chat Completions", takes, SPELLING, Spelling(chars=40))


def render(
    model: str, messages: Sequence[Message], tools: Sequence[ToolSpec], options: CallOptions
) -> Rendered:
    told = repair_messages(messages, NEEDS)
    repairs = list(told.repairs)
    turns: list[dict[str, Any]] = []
    if told.system:
        turns.append({"role": "system", "content": "\n\n".join(told.system)})
    for stretch in told.runs:
        turns.extend(_turns(stretch, model, repairs))
    payload: dict[str, Any] = {"model": model, "messages": turns}
    offered, changed, names = fit_tools(tools, SPELLING, GRAMMAR, NEEDS.provider)
    if offered:
        payload["tools"] = as_functions(offered)
    if options.schema is not None:
        schema = {"name": "answer", "schema": options.schema, "strict": is_strict(options.schema)}
        payload["response_format"] = {"type": "json_schema", "json_schema": schema}
    if options.effort is not None:
        payload["reasoning_effort"] = options.effort
    if options.max_tokens is not None:
        payload["max_completion_tokens" if OPENAI.match(model) else "max_tokens"] = options.max_tokens
    if options.temperature is not None:
        if THINKING.match(model):
            changed.append(f"The temperature was left out for {model}: models that think take none.")
        else:
            payload["temperature"] = options.temperature
    payload |= {"stream": True, "stream_options": {"include_usage": True}}
    return Rendered(payload | (options.extra or {}), (*repairs, *changed), names)


def as_functions(tools: Iterable[ToolSpec]) -> list[dict[str, Any]]:
    """Return tools in the shape of Chat Completions, which Ollama shares."""
    return [{"type": "function", "function": tool_members(tool)} for tool in tools]


def _turns(stretch: MessageRun, model: str, repairs: list[str]) -> Iterator[dict[str, Any]]:
    if stretch.role == "assistant":
        yield _assistant_turn(stretch.messages, model, repairs)
    elif stretch.role == "user":
        yield {"role": "user", "content": _content(stretch.messages)}
    else:
        for message in stretch.messages:
            payload = message.tool_payload
            if isinstance(payload, ToolResultPayload):
                text = result_text(payload)
                yield {"role": "tool", "tool_call_id": payload.tool_call_id, "content": text}


def _content(messages: Sequence[Message]) -> Any:
    """Return one text if it is all text: not every server takes a list."""
    if not any(message.image_urls or message.audio_urls for message in messages):
        return "\n\n".join(message.content or "" for message in messages)
    parts: list[dict[str, Any]] = []
    for message in messages:
        if message.content:
            parts.append({"type": "text", "text": message.content})
        parts.extend({"type": "image_url", "image_url": {"url": url}} for url in message.image_urls)
        for url in message.audio_urls:
            kind, body = data_of(url) or ("", "")
            parts.append({"type": "input_audio", "input_audio": {"data": body, "format": SOUNDS[kind]}})
    return parts


def _assistant_turn(messages: Sequence[Message], model: str, repairs: list[str]) -> dict[str, Any]:
    """Return one answer: its texts, then its calls, with the thoughts before them if the server wants them back."""
    calls = [part for message in messages for kind, part, _ in lay_out(message, NAME)[0] if kind == CALL]
    texts = [message.content for message in messages if message.content]
    turn: dict[str, Any] = {"role": "assistant", "content": "\n\n".join(texts) or None}
    if calls:
        turn |= _thoughts(messages, model, repairs)
        turn["tool_calls"] = []
        for call in calls:
            told = {"name": call.name, "arguments": json.dumps(call.arguments, ensure_ascii=False)}
            turn["tool_calls"].append({"id": call.id, "type": "function", "function": told})
    return turn


def _thoughts(messages: Sequence[Message], model: str, repairs: list[str]) -> dict[str, Any]:
    """Return the thoughts before calls. DeepSeek refuses calls without them; empty ones will do."""
    found: dict[str, Any] = {}
    for message in messages:
        told = of_dialect(message.opaque, NAME)
        text = message.reasoning_content or ""
        if told.get("field") in FIELDS:
            found[told["field"]] = found.get(told["field"], "") + text
        details = _restore_details(told, text)
        if details:
            found["reasoning_details"] = details
        elif details is None and LEFT_OUT not in repairs:
            repairs.append(LEFT_OUT)
    if not found and "deepseek" in model.lower():
        found["reasoning_content"] = ""
    return found


def _restore_details(told: dict[str, Any], text: str) -> list[dict[str, Any]] | None:
    """Return OpenRouter's signed pieces with their texts; None if these no longer fit."""
    details = [each for each in list_at(told, "details") if isinstance(each, dict)]
    if not details:
        return []
    if told.get("thoughts") != hash_of(text):
        return None
    found: list[dict[str, Any]] = []
    place = 0
    for detail in details:
        chars, field = detail.get("chars"), detail.get("holds")
        kept = {name: value for name, value in detail.items() if name not in ("chars", "holds")}
        if type(chars) is int and isinstance(field, str):
            kept[field] = text[place : place + chars]
            place += chars
        found.append(kept)
    return found


# --- reading ---------------------------------------------------------------------------

STOPS: dict[str, Stop] = {"length": "length", "content_filter": "refused"}
FAILED = frozenset({"error", "insufficient_system_resource", "abort"})


def read(chunks: Iterable[dict[str, Any]]) -> Iterator[Event]:
    heard = StreamParts(NAME)
    field = ""
    details: list[dict[str, Any]] = []
    for chunk in chunks:
        if at(chunk, "error"):
            error = at(chunk, "error")
            code = at(error, "code")
            text = text_at(error, "message") or text_at(chunk, "message") or text_at(chunk, "error")
            raise provider_error(text, str(code) if isinstance(code, str | int) else text_at(error, "type"))
        heard.seed = heard.seed or text_at(chunk, "id")
        heard.model = text_at(chunk, "model") or heard.model
        if isinstance(at(chunk, "usage"), dict):
            heard.usage = _usage(chunk["usage"])
        choice = next((each for each in list_at(chunk, "choices") if not at(each, "index")), None)
        delta = at(choice, "delta") or at(choice, "message")
        for name in FIELDS:
            if isinstance(at(delta, name), str):
                field = field or name
                if name == field:
                    yield from heard.think(delta[name])
        for detail in list_at(delta, "reasoning_details"):
            if isinstance(detail, dict):
                _add_detail(details, detail)
        yield from heard.say(at(delta, "content"))
        if text_at(delta, "refusal"):
            heard.stop = "refused"
            yield from heard.say(at(delta, "refusal"))
        _add_calls(heard, delta)
        reason = text_at(choice, "finish_reason")
        if reason in FAILED:
            raise provider_error(f"the answer ended with {reason}", "server_error")
        if reason and heard.stop != "refused":
            heard.stop = STOPS.get(reason, "end")
    _keep_thoughts(heard, field, details)
    yield from heard.end()


def _usage(usage: Any) -> Any:
    cached = count_at(usage, "prompt_tokens_details", "cached_tokens")
    return usage_of(
        count_at(usage, "prompt_tokens"),
        count_at(usage, "completion_tokens"),
        cached if cached is not None else count_at(usage, "prompt_cache_hit_tokens"),
        count_at(usage, "prompt_tokens_details", "cache_write_tokens"),
        count_at(usage, "completion_tokens_details", "reasoning_tokens"),
    )


def _add_detail(details: list[dict[str, Any]], detail: dict[str, Any]) -> None:
    """Add a piece of what OpenRouter wants back: pieces of one index are one."""
    last = details[-1] if details else {}
    if last.get("type") == detail.get("type") and last.get("index") == detail.get("index"):
        for name, value in detail.items():
            if name in HOLDS and isinstance(value, str) and isinstance(last.get(name), str):
                last[name] += value
            elif value is not None:
                last[name] = value
    else:
        details.append(dict(detail))


def _keep_thoughts(heard: StreamParts, field: str, details: list[dict[str, Any]]) -> None:
    """Keep what has to go back. The texts are in the reply; of the details only their lengths are kept."""
    thought = "".join(part.text for part in heard.parts if part.kind == "thought")
    texts = "".join(text_at(detail, name) for detail in details for name in HOLDS)
    if details and texts == thought:
        for detail in details:
            name = next((key for key in HOLDS if isinstance(detail.get(key), str)), None)
            if name is not None:
                detail |= {"chars": len(detail[name]), "holds": name}
                for key in HOLDS:
                    detail.pop(key, None)
        heard.opaque = {"thoughts": hash_of(thought), "details": details}
    elif field:
        heard.opaque = {"field": field}


def _add_calls(heard: StreamParts, delta: Any) -> None:
    for call in list_at(delta, "tool_calls"):
        part = _part_of(heard, call)
        part.id = part.id or text_at(call, "id")
        part.name = part.name or text_at(call, "function", "name")
        given = at(call, "function", "arguments")
        if isinstance(given, dict):
            part.arguments = given
        elif isinstance(given, str):
            part.pieces.append(given)
    if isinstance(at(delta, "function_call"), dict):
        part = heard.call("function_call")
        part.name = part.name or text_at(delta, "function_call", "name")
        part.pieces.append(text_at(delta, "function_call", "arguments"))


def _part_of(heard: StreamParts, call: Any) -> Part:
    """Return the call of this piece. With a name, and an id or arguments of another call, it starts a new one."""
    index, name, id_ = at(call, "index"), text_at(call, "function", "name"), text_at(call, "id")
    open_ = [part for part in heard.parts if part.kind == CALL]
    if isinstance(index, int):
        key: tuple[str, int] = ("call", index)
        part = heard.by_key.get(key)
        if part is not None and name and id_ and part.id and id_ != part.id:
            del heard.by_key[key]
        return heard.call(key)
    if open_:
        last = open_[-1]
        is_other = name != last.name or (id_ and last.id)
        is_whole = last.arguments is not None or (last.pieces and isinstance(arguments_of(last.text), dict))
        if not name or (id_ and id_ == last.id) or not (is_other or is_whole):
            return last
    return heard.call(("nth", len(open_)))


DIALECT = Dialect(NAME, render, read)


class OpenAIChat(OpenAI):
    """A model behind Chat Completions: OpenAI, vLLM, LM Studio, llama.cpp, DeepSeek, OpenRouter…

        OpenAIChat("qwen3-8b", base_url="http://127.0.0.1:8000/v1")

    Error messages name such a server by its address. OpenRouter and DeepSeek have their own keys (OPENROUTER_API_KEY,
    DEEPSEEK_API_KEY). Arguments are those of `Caller`: api_key (else OPENAI_API_KEY), base_url (else OPENAI_BASE_URL;
    most want /v1), headers, seconds, retries, pause, patience, extensions, calls.
    """

    dialect = "openai-chat"
    path = "/chat/completions"
    speaks = DIALECT

    def _set_title(self) -> None:
        at = origin(self._base_url) if self._base_url else None
        if at is not None:
            self.title, self.variable = OTHERS.get(at[1], (f"{at[1]}:{at[2]}", self.variable))
