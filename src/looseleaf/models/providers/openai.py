"""OpenAI, and servers that speak its API, through the SDK `openai`.

Requests and chunks pass as plain JSON objects: members that this version of the SDK does not know (a server's own
options, reasoning under a server's own name) pass through.
"""

from __future__ import annotations

import json
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
    fit_tools,
    is_strict,
    provider_error,
    tool_members,
)
from looseleaf.models.failures import origin, safe_address
from looseleaf.models.message_repair import Requirements, data_of, is_web, repair_messages, result_text
from looseleaf.models.stream_parts import (
    CALL,
    GAP,
    TEXT,
    THOUGHT,
    StreamParts,
    at,
    count_at,
    lay_out,
    list_at,
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


# --- rendering: the Responses API ------------------------------------------------------

NAME = "openai"
SPELLING = Spelling(r"[^a-zA-Z0-9_-]", 64)
GRAMMAR = Grammar(not_at_top=frozenset({"anyOf", "oneOf", "allOf", "enum", "not"}))
UNTHINKING = re.compile(r"(?:gpt-3|gpt-4|chatgpt-4|ft:gpt-[34])")
THINKING = re.compile(r"(?:o\d|gpt-[5-9]|codex)(?!.*chat)")


def takes(kind: str, address: str) -> bool:
    data = data_of(address)
    is_image = data[0].startswith("image/") if data else is_web(address)
    return kind == "image" and is_image


NEEDS = Requirements("OpenAI", takes, SPELLING, Spelling(chars=64), shows=True, system_anywhere=True)


def render(
    model: str, messages: Sequence[Message], tools: Sequence[ToolSpec], options: CallOptions
) -> Rendered:
    told = repair_messages(messages, NEEDS)
    payload: dict[str, Any] = {"model": model}
    if told.system:
        payload["instructions"] = "\n\n".join(told.system)
    payload["input"] = [item for stretch in told.runs for item in _run_items(stretch)]
    offered, changed, names = fit_tools(tools, SPELLING, GRAMMAR, NEEDS.provider)
    if offered:
        payload["tools"] = [{"type": "function", **tool_members(tool), "strict": False} for tool in offered]
    if options.schema is not None:
        format_ = {"type": "json_schema", "name": "answer", "schema": options.schema}
        payload["text"] = {"format": format_ | {"strict": is_strict(options.schema)}}
    if options.effort is not None:
        if UNTHINKING.match(model):
            changed.append(f"The effort was left out: {model} does not think.")
        else:
            payload["reasoning"] = {"effort": options.effort}
    if options.max_tokens is not None:
        payload["max_output_tokens"] = options.max_tokens
    if options.temperature is not None:
        if THINKING.match(model):
            changed.append(f"The temperature was left out for {model}: models that think take none.")
        else:
            payload["temperature"] = options.temperature
    if not UNTHINKING.match(model):
        payload["include"] = ["reasoning.encrypted_content"]
    payload |= {"store": False, "stream": True}
    return Rendered(payload | (options.extra or {}), (*told.repairs, *changed), names)


def _run_items(stretch: MessageRun) -> Iterator[dict[str, Any]]:
    for message in stretch.messages:
        if stretch.role == "assistant":
            yield from _message_items(message)
        elif isinstance(message.tool_payload, ToolResultPayload):
            text = result_text(message.tool_payload)
            output = _content(text, message) if message.image_urls else text
            call = message.tool_payload.tool_call_id
            yield {"type": "function_call_output", "call_id": call, "output": output}
        else:
            yield {"type": "message", "role": stretch.role, "content": _content(message.content, message)}


def _content(text: str | None, message: Message) -> list[dict[str, Any]]:
    words = [{"type": "input_text", "text": text}] if text else []
    shown = [{"type": "input_image", "image_url": url, "detail": "auto"} for url in message.image_urls]
    return [*words, *shown]


def _message_items(message: Message) -> Iterator[dict[str, Any]]:
    parts, _ = lay_out(message, NAME, keeps_changed=True)
    for kind, part, marks in parts:
        if kind == THOUGHT:
            summary = [{"type": "summary_text", "text": part}] if part else []
            id_, sealed = str(marks.get("id")), str(marks.get("encrypted_content"))
            yield {"type": "reasoning", "id": id_, "summary": summary, "encrypted_content": sealed}
        elif kind == TEXT:
            phase = marks.get("phase")
            phased = {"phase": phase} if phase in ("commentary", "final_answer") else {}
            yield {"type": "message", "role": "assistant", "content": part} | phased
        elif kind == CALL:
            arguments = json.dumps(part.arguments, ensure_ascii=False)
            yield {"type": "function_call", "call_id": part.id, "name": part.name, "arguments": arguments}


# --- reading ---------------------------------------------------------------------------

STOPS: dict[str, Stop] = {"max_output_tokens": "length", "content_filter": "refused"}


def read(chunks: Iterable[dict[str, Any]]) -> Iterator[Event]:
    heard = StreamParts(NAME)
    refused = False
    for chunk in chunks:
        kind = text_at(chunk, "type")
        index = at(chunk, "output_index")
        index = index if isinstance(index, int) else -1
        if kind in ("response.created", "response.in_progress", "response.queued"):
            heard.seed = text_at(chunk, "response", "id") or heard.seed
            heard.model = text_at(chunk, "response", "model") or heard.model
        elif kind in ("response.output_text.delta", "response.refusal.delta"):
            refused |= kind == "response.refusal.delta"
            yield from heard.say(at(chunk, "delta"), _text_key(index, at(chunk, "content_index")), apart=True)
        elif kind in ("response.reasoning_summary_text.delta", "response.reasoning_text.delta"):
            yield from _add_thought(heard, chunk, index)
        elif kind == "response.function_call_arguments.delta":
            heard.call(("call", index)).pieces.append(text_at(chunk, "delta"))
        elif kind == "response.function_call_arguments.done":
            _set_arguments(heard.call(("call", index)), text_at(chunk, "arguments"))
        elif kind == "response.output_item.added":
            _start_item(heard, index, at(chunk, "item"))
        elif kind == "response.output_item.done":
            refused |= _is_refusal(at(chunk, "item"))
            yield from _finish_item(heard, index, at(chunk, "item"))
        elif kind in ("response.completed", "response.incomplete"):
            response = at(chunk, "response")
            for place, item in enumerate(list_at(response, "output")):
                refused |= _is_refusal(item)
                yield from _finish_item(heard, place, item)
            _finish_reply(heard, response, kind, refused)
        elif kind == "response.failed":
            error = at(chunk, "response", "error")
            raise provider_error(text_at(error, "message"), text_at(error, "code"))
        elif kind == "error" or at(chunk, "error"):
            error = at(chunk, "error") or chunk
            raise provider_error(text_at(error, "message"), text_at(error, "code") or text_at(error, "type"))
    yield from heard.end()


def _text_key(index: int, place: Any) -> tuple[str, int, int]:
    return "text", index, place if isinstance(place, int) else 0


def _add_thought(heard: StreamParts, chunk: Any, index: int) -> Iterator[Event]:
    """Add a piece of a summary; the parts of one summary are kept apart, though they are one item."""
    part = heard.part(THOUGHT, ("thought", index))
    place, text = str(at(chunk, "summary_index")), text_at(chunk, "delta")
    if part.pieces and text and part.id != place:
        text = GAP + text
    part.id = place
    return heard.think(text, ("thought", index), apart=True)


def _set_arguments(part: Part, arguments: str) -> None:
    if arguments:
        part.pieces = [arguments]


def _start_item(heard: StreamParts, index: int, item: Any) -> None:
    """Start an item: the order of a reply is that in which its items begin."""
    kind = text_at(item, "type")
    if kind == "function_call":
        part = heard.call(("call", index))
        part.id, part.name = text_at(item, "call_id"), text_at(item, "name")
    elif kind == "reasoning":
        heard.part(THOUGHT, ("thought", index))
    elif kind == "message":
        heard.part(TEXT, _text_key(index, 0))


def _finish_item(heard: StreamParts, index: int, item: Any) -> Iterator[Event]:
    """Take from a whole item what did not come in pieces."""
    kind = text_at(item, "type")
    if kind == "function_call":
        _start_item(heard, index, item)
        _set_arguments(heard.call(("call", index)), text_at(item, "arguments"))
    elif kind == "reasoning":
        part = heard.part(THOUGHT, ("thought", index))
        if not part.pieces:
            pieces = [*list_at(item, "summary"), *list_at(item, "content")]
            text = GAP.join(filter(None, (text_at(piece, "text") for piece in pieces)))
            yield from heard.think(text, ("thought", index), apart=True)
        if text_at(item, "encrypted_content"):
            part.marks = {"id": text_at(item, "id"), "encrypted_content": text_at(item, "encrypted_content")}
    elif kind == "message":
        _start_item(heard, index, item)
        for place, piece in enumerate(list_at(item, "content")):
            key = _text_key(index, place)
            if not heard.part(TEXT, key).pieces:
                yield from heard.say(text_at(piece, "text") or text_at(piece, "refusal"), key, apart=True)
            if text_at(item, "phase"):
                heard.part(TEXT, key).marks = {"phase": text_at(item, "phase")}


def _is_refusal(item: Any) -> bool:
    return any(text_at(piece, "type") == "refusal" for piece in list_at(item, "content"))


def _finish_reply(heard: StreamParts, response: Any, kind: str, refused: bool) -> None:
    heard.model = text_at(response, "model") or heard.model
    heard.seed = heard.seed or text_at(response, "id")
    usage = at(response, "usage")
    if isinstance(usage, dict):
        heard.usage = usage_of(
            count_at(usage, "input_tokens"),
            count_at(usage, "output_tokens"),
            count_at(usage, "input_tokens_details", "cached_tokens"),
            count_at(usage, "input_tokens_details", "cache_write_tokens"),
            count_at(usage, "output_tokens_details", "reasoning_tokens"),
        )
    reason = text_at(response, "incomplete_details", "reason")
    is_whole = kind == "response.completed"
    heard.stop = ("refused" if refused else "end") if is_whole else STOPS.get(reason, "cut")


DIALECT = Dialect(NAME, render, read)

CONNECTING = 15.0
"""Seconds after which a pending connection is tried again."""


OTHERS = {
    "api.openai.com": ("OpenAI", "OPENAI_API_KEY"),
    "openrouter.ai": ("OpenRouter", "OPENROUTER_API_KEY"),
    "api.deepseek.com": ("DeepSeek", "DEEPSEEK_API_KEY"),
}


class OpenAI(Caller):
    """A model behind the Responses API. Nothing is stored there: each call carries all it needs.

        OpenAI("gpt-5.5", api_key="…", seconds=60)

    Arguments are those of `Caller`: api_key (else OPENAI_API_KEY), base_url (else OPENAI_BASE_URL; with /v1),
    headers, seconds, retries, pause, patience, extensions, calls.
    """

    dialect = "openai"
    title = "OpenAI"
    variable = "OPENAI_API_KEY"
    place = "OPENAI_BASE_URL"
    usual = "https://api.openai.com/v1"
    path = "/responses"
    speaks = DIALECT

    def _create_client(self) -> Any:
        try:
            import openai
        except ImportError:
            raise missing_package("openai") from None
        import os

        key = self._api_key
        if key is None and self._base_url is not None:
            key = os.environ.get(self.variable)
            at = origin(self._base_url)
            if not key and at is not None and at[1] in OTHERS:
                raise failures.without_key(self._provider()).as_error()
            # A server on this machine needs none, and the SDK insists on one.
            key = key or "none"
        given = {} if self._base_url is None else {"base_url": self._base_url}
        return openai.OpenAI(
            api_key=key,
            max_retries=0,
            default_headers=self._headers,
            http_client=http_client(openai, self._is_here()),
            **given,
        )

    def _address_advice(self) -> str:
        where = safe_address(self._address()).rstrip("/")
        if not re.search(r"/v\d", where):
            return f"The address may lack /v1: try {where}/v1."
        if self.path != OpenAI.path:
            return failures.TO_FIND_IT
        return f"{failures.TO_FIND_IT} Most servers only speak Chat Completions: the provider `openai-chat`."

    def _open_stream(self, payload: dict[str, Any], seconds: float) -> StreamLine:
        client = self._get_client()
        import openai

        return open_stream(openai, client, self.path, payload, seconds)

    def _explain_error(self, error: BaseException, begun: bool) -> Failure:
        import openai

        provider = self._provider()
        if isinstance(error, openai.APIStatusError):
            body = error.body  # the provider's own sentence, if it has one
            said = str((body.get("message") if isinstance(body, dict) else None) or error.message)
            code, headers = f"{error.code} {error.type}", error.response.headers
            return failures.of_status(provider, error.status_code, said, code, headers)
        if found := failures.of_transport(provider, error, begun):
            return found
        if isinstance(error, openai.APIError):
            return failures.of_report(provider, error.message, f"{error.code} {error.type}")
        if isinstance(error, openai.OpenAIError):
            return failures.without_key(provider)
        return failures.of_rest(provider, error, begun)


def http_client(sdk: Any, is_here: bool) -> Any:
    """Return the HTTP client of OpenAI's SDK or Anthropic's, which are alike. A key only goes where it was meant to go;
    and a client with its own transport takes no proxy from the environment."""
    if not is_here:
        return sdk.DefaultHttpxClient(follow_redirects=False)
    import httpx2

    return sdk.DefaultHttpxClient(follow_redirects=False, transport=httpx2.HTTPTransport())


def open_stream(sdk: Any, client: Any, path: str, payload: dict[str, Any], seconds: float) -> StreamLine:
    """Send a request with one of these SDKs, as plain JSON."""
    from looseleaf.models.stream_thread import StreamLine

    stream = client.post(
        path,
        body=payload | {"stream": True},
        cast_to=object,
        options={"timeout": sdk.Timeout(seconds, connect=min(seconds, CONNECTING))},
        stream=True,
        stream_cls=sdk.Stream[object],
    )
    return StreamLine(iter(stream), stream.response)
