"""OpenAI's Responses API. Nothing is stored there: what a model thought comes encrypted, and is given back."""

from __future__ import annotations

import json
import re

from looseleaf.base.messages import ToolResultPayload
from looseleaf.models.dialect import Dialect, Options, Rendered
from looseleaf.models.faults import fault
from looseleaf.models.layout import CALL, TEXT, THOUGHT, laid_out
from looseleaf.models.media import data_of, is_web
from looseleaf.models.message_repair import Needs, mended, result_text
from looseleaf.models.naming import Spelling
from looseleaf.models.schemas import Grammar, fitted_tools, is_strict
from looseleaf.models.stream_parts import GAP, Heard, at, count_at, counted, list_at, text_at

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from typing import Any

    from looseleaf.base.messages import Message
    from looseleaf.base.replies import Event, Stop, ToolSpec
    from looseleaf.models.message_repair import Stretch
    from looseleaf.models.stream_parts import Part

NAME = "openai"
SPELLING = Spelling(r"[^a-zA-Z0-9_-]", 64)
GRAMMAR = Grammar(not_at_top=frozenset({"anyOf", "oneOf", "allOf", "enum", "not"}))
UNTHINKING = re.compile(r"(?:gpt-3|gpt-4|chatgpt-4|ft:gpt-[34])")
THINKING = re.compile(r"(?:o\d|gpt-[5-9]|codex)(?!.*chat)")


def takes(kind: str, address: str) -> bool:
    data = data_of(address)
    is_image = data[0].startswith("image/") if data else is_web(address)
    return kind == "image" and is_image


NEEDS = Needs("OpenAI", takes, SPELLING, Spelling(chars=64), shows=True, system_anywhere=True)


def render(model: str, messages: Sequence[Message], tools: Sequence[ToolSpec], options: Options) -> Rendered:
    told = mended(messages, NEEDS)
    payload: dict[str, Any] = {"model": model}
    if told.system:
        payload["instructions"] = "\n\n".join(told.system)
    payload["input"] = [item for stretch in told.stretches for item in _items(stretch)]
    offered, changed, names = fitted_tools(tools, SPELLING, GRAMMAR, NEEDS.provider)
    if offered:
        payload["tools"] = [
            {
                "type": "function",
                "name": tool.name,
                "description": tool.description,
                "parameters": tool.parameters,
                "strict": False,
            }
            for tool in offered
        ]
    if options.schema is not None:
        format_ = {"type": "json_schema", "name": "answer", "schema": options.schema}
        payload["text"] = {"format": format_ | {"strict": is_strict(options.schema)}}
    if options.effort is not None:
        if UNTHINKING.match(model):
            changed.append(f"No effort was asked of {model}: it does not think.")
        else:
            payload["reasoning"] = {"effort": options.effort}
    if options.max_tokens is not None:
        payload["max_output_tokens"] = options.max_tokens
    if options.temperature is not None:
        if THINKING.match(model):
            changed.append(f"No temperature was asked of {model}: models that think take none.")
        else:
            payload["temperature"] = options.temperature
    if not UNTHINKING.match(model):
        payload["include"] = ["reasoning.encrypted_content"]
    payload |= {"store": False, "stream": True}
    return Rendered(payload | (options.extra or {}), (*told.repairs, *changed), names)


def _items(stretch: Stretch) -> Iterator[dict[str, Any]]:
    for message in stretch.messages:
        if stretch.role == "assistant":
            yield from _said(message)
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


def _said(message: Message) -> Iterator[dict[str, Any]]:
    parts, _ = laid_out(message, NAME, keeps_changed=True)
    for kind, part, marks in parts:
        if kind == THOUGHT:
            summary = [{"type": "summary_text", "text": part}] if part else []
            sealed = str(marks.get("encrypted_content"))
            name = str(marks.get("id"))
            yield {"type": "reasoning", "id": name, "summary": summary, "encrypted_content": sealed}
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
    heard = Heard(NAME)
    refused = False
    for chunk in chunks:
        kind = text_at(chunk, "type")
        index = at(chunk, "output_index")
        index = index if isinstance(index, int) else -1
        if kind in ("response.created", "response.in_progress", "response.queued"):
            heard.seed = text_at(chunk, "response", "id") or heard.seed
            heard.model = text_at(chunk, "response", "model") or heard.model
        elif kind == "response.output_text.delta":
            yield from heard.say(at(chunk, "delta"), _text_key(index, at(chunk, "content_index")), apart=True)
        elif kind == "response.refusal.delta":
            refused = True
            yield from heard.say(at(chunk, "delta"), _text_key(index, at(chunk, "content_index")), apart=True)
        elif kind in ("response.reasoning_summary_text.delta", "response.reasoning_text.delta"):
            yield from _thought(heard, chunk, index)
        elif kind == "response.function_call_arguments.delta":
            heard.call(("call", index)).pieces.append(text_at(chunk, "delta"))
        elif kind == "response.function_call_arguments.done":
            _whole(heard.call(("call", index)), text_at(chunk, "arguments"))
        elif kind == "response.output_item.added":
            _begun(heard, index, at(chunk, "item"))
        elif kind == "response.output_item.done":
            refused |= _is_refusal(at(chunk, "item"))
            yield from _done(heard, index, at(chunk, "item"))
        elif kind in ("response.completed", "response.incomplete"):
            response = at(chunk, "response")
            for place, item in enumerate(list_at(response, "output")):
                refused |= _is_refusal(item)
                yield from _done(heard, place, item)
            _ended(heard, response, kind, refused)
        elif kind == "response.failed":
            error = at(chunk, "response", "error")
            raise fault(text_at(error, "message"), text_at(error, "code"))
        elif kind == "error" or at(chunk, "error"):
            error = at(chunk, "error") or chunk
            raise fault(text_at(error, "message"), text_at(error, "code") or text_at(error, "type"))
    yield from heard.end()


def _text_key(index: int, place: Any) -> tuple[str, int, int]:
    return "text", index, place if isinstance(place, int) else 0


def _thought(heard: Heard, chunk: Any, index: int) -> Iterator[Event]:
    """A piece of a summary; the parts of one summary are kept apart, though they are one item."""
    part = heard.part(THOUGHT, ("thought", index))
    place = at(chunk, "summary_index")
    text = text_at(chunk, "delta")
    if part.pieces and text and part.id != str(place):
        text = GAP + text
    part.id = str(place)
    return heard.think(text, ("thought", index), apart=True)


def _whole(part: Part, arguments: str) -> None:
    if arguments:
        part.pieces = [arguments]


def _begun(heard: Heard, index: int, item: Any) -> None:
    """The order of a reply is that in which its items begin."""
    kind = text_at(item, "type")
    if kind == "function_call":
        part = heard.call(("call", index))
        part.id, part.name = text_at(item, "call_id"), text_at(item, "name")
    elif kind == "reasoning":
        heard.part(THOUGHT, ("thought", index))
    elif kind == "message":
        heard.part(TEXT, _text_key(index, 0))


def _done(heard: Heard, index: int, item: Any) -> Iterator[Event]:
    """An item that is whole: what did not come in pieces is taken from it."""
    kind = text_at(item, "type")
    if kind == "function_call":
        _begun(heard, index, item)
        _whole(heard.call(("call", index)), text_at(item, "arguments"))
    elif kind == "reasoning":
        part = heard.part(THOUGHT, ("thought", index))
        if not part.pieces:
            pieces = [*list_at(item, "summary"), *list_at(item, "content")]
            text = GAP.join(filter(None, (text_at(piece, "text") for piece in pieces)))
            yield from heard.think(text, ("thought", index), apart=True)
        if text_at(item, "encrypted_content"):
            part.marks = {"id": text_at(item, "id"), "encrypted_content": text_at(item, "encrypted_content")}
    elif kind == "message":
        _begun(heard, index, item)
        for place, piece in enumerate(list_at(item, "content")):
            key = _text_key(index, place)
            if not heard.part(TEXT, key).pieces:
                yield from heard.say(text_at(piece, "text") or text_at(piece, "refusal"), key, apart=True)
            if text_at(item, "phase"):
                heard.part(TEXT, key).marks = {"phase": text_at(item, "phase")}


def _is_refusal(item: Any) -> bool:
    return any(text_at(piece, "type") == "refusal" for piece in list_at(item, "content"))


def _ended(heard: Heard, response: Any, kind: str, refused: bool) -> None:
    heard.model = text_at(response, "model") or heard.model
    heard.seed = heard.seed or text_at(response, "id")
    usage = at(response, "usage")
    if isinstance(usage, dict):
        heard.usage = counted(
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
