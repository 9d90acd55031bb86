"""Ollama's chat. Calls have no ids there: results follow in the order of the calls, and ids are made of the stream."""

from __future__ import annotations

from looseleaf.base.messages import ToolResultPayload
from looseleaf.models.dialect import Dialect, Options, Rendered
from looseleaf.models.faults import fault
from looseleaf.models.layout import CALL, laid_out
from looseleaf.models.media import data_of
from looseleaf.models.message_repair import Needs, mended, result_text
from looseleaf.models.naming import Spelling
from looseleaf.models.providers.openai_chat import as_functions
from looseleaf.models.schemas import Grammar, fitted_tools
from looseleaf.models.stream_parts import Heard, at, count_at, counted, list_at, text_at

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from typing import Any

    from looseleaf.base.messages import Message
    from looseleaf.base.replies import Event, Stop, ToolSpec
    from looseleaf.models.message_repair import Stretch

NAME = "ollama"
SPELLING = Spelling(chars=256)
GRAMMAR = Grammar(
    frozenset("type items description enum".split()),
    top=frozenset("type $defs items required properties".split()),
    deep=False,
    refuses=False,
)
"""What the official client carries of a tool's parameters; the rest is told in descriptions."""
PICTURES = ("iVBORw0KGgo", "/9j/", "R0lGOD", "UklGR", "Qk", "AAAA")
LEAST_PICTURE = 64
"""How pictures begin, and how long they are at least. The official client takes a shorter text for the name of a file,
and would send that file."""
LEVELS = frozenset({"low", "medium", "high"})


def takes(kind: str, address: str) -> bool:
    data = data_of(address)
    return (
        kind == "image"
        and data is not None
        and data[0].startswith("image/")
        and data[1].startswith(PICTURES)
        and len(data[1]) >= LEAST_PICTURE
    )


NEEDS = Needs("Ollama", takes, SPELLING, None, shows=True, in_order=True)


def render(model: str, messages: Sequence[Message], tools: Sequence[ToolSpec], options: Options) -> Rendered:
    told = mended(messages, NEEDS)
    turns: list[dict[str, Any]] = []
    if told.system:
        turns.append({"role": "system", "content": "\n\n".join(told.system)})
    for stretch in told.stretches:
        turns.extend(_turns(stretch))
    payload: dict[str, Any] = {"model": model, "messages": turns}
    offered, changed, names = fitted_tools(tools, SPELLING, GRAMMAR, NEEDS.provider)
    if offered:
        payload["tools"] = as_functions(offered)
    if options.schema is not None:
        payload["format"] = options.schema
    if options.effort is not None:
        payload["think"] = options.effort if "gpt-oss" in model and options.effort in LEVELS else True
    limits: dict[str, Any] = {}
    if options.max_tokens is not None:
        limits["num_predict"] = options.max_tokens
    if options.temperature is not None:
        limits["temperature"] = options.temperature
    if limits:
        payload["options"] = limits
    payload["stream"] = True
    return Rendered(payload | (options.extra or {}), (*told.repairs, *changed), names)


def _turns(stretch: Stretch) -> Iterator[dict[str, Any]]:
    if stretch.role == "assistant":
        yield _said(stretch.messages)
    elif stretch.role == "user":
        text = "\n\n".join(message.content for message in stretch.messages if message.content)
        yield {"role": "user", "content": text} | _images(stretch.messages)
    else:
        for message in stretch.messages:
            payload = message.tool_payload
            if isinstance(payload, ToolResultPayload):
                turn = {"role": "tool", "tool_name": payload.tool_name, "content": result_text(payload)}
                yield turn | _images([message])


def _images(messages: Sequence[Message]) -> dict[str, Any]:
    found = [data_of(url) for message in messages for url in message.image_urls]
    bodies = [data[1] for data in found if data is not None]
    return {"images": bodies} if bodies else {}


def _said(messages: Sequence[Message]) -> dict[str, Any]:
    calls = [part for message in messages for kind, part, _ in laid_out(message, NAME)[0] if kind == CALL]
    turn: dict[str, Any] = {
        "role": "assistant",
        "content": "\n\n".join(message.content for message in messages if message.content),
    }
    thought = "\n\n".join(message.reasoning_content for message in messages if message.reasoning_content)
    if thought:
        turn["thinking"] = thought
    if calls:
        turn["tool_calls"] = [
            {"function": {"name": call.name, "arguments": call.arguments}} for call in calls
        ]
    return turn


# --- reading ---------------------------------------------------------------------------

STOPS: dict[str, Stop] = {"length": "length"}


def read(chunks: Iterable[dict[str, Any]]) -> Iterator[Event]:
    heard = Heard(NAME)
    for chunk in chunks:
        if at(chunk, "error"):
            raise fault(text_at(chunk, "error") or text_at(chunk, "error", "message"))
        heard.seed = heard.seed or text_at(chunk, "created_at")
        heard.model = text_at(chunk, "model") or heard.model
        message = at(chunk, "message")
        yield from heard.think(at(message, "thinking"))
        yield from heard.say(at(message, "content"))
        for call in list_at(message, "tool_calls"):
            part = heard.call(("call", len(heard.parts)))
            part.id, part.name = text_at(call, "id"), text_at(call, "function", "name")
            given = at(call, "function", "arguments")
            if isinstance(given, str):
                part.pieces.append(given)
            else:
                part.arguments = given if isinstance(given, dict) else {}
        if at(chunk, "done") is True:
            heard.stop = STOPS.get(text_at(chunk, "done_reason"), "end")
            heard.usage = counted(count_at(chunk, "prompt_eval_count"), count_at(chunk, "eval_count"))
    yield from heard.end()


DIALECT = Dialect(NAME, render, read)
