"""Ollama's models, through the client of the SDK `ollama`.

Its address, headers and connection are used, but not its `chat`: that drops unknown parts of a tool's schema, reads an
image that is a file name as that file, and tears lines.
"""

from __future__ import annotations

from looseleaf.base.errors import Refused
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
    provider_error,
)
from looseleaf.models.message_repair import Requirements, data_of, repair_messages, result_text
from looseleaf.models.providers.openai import CONNECTING
from looseleaf.models.providers.openai_chat import as_functions
from looseleaf.models.stream_parts import (
    CALL,
    StreamParts,
    arguments_of,
    at,
    count_at,
    lay_out,
    list_at,
    replace_objects,
    split_lines,
    text_at,
    usage_of,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from typing import Any

    from looseleaf.base.messages import Message
    from looseleaf.base.replies import Event, ToolSpec
    from looseleaf.models.failures import Failure
    from looseleaf.models.message_repair import MessageRun
    from looseleaf.models.stream_thread import StreamLine


# --- rendering: Ollama's chat ----------------------------------------------------------

NAME = "ollama"
SPELLING = Spelling(chars=256)
GRAMMAR = Grammar(
    frozenset("type items description enum".split()),
    top=frozenset("type $defs items required properties".split()),
    deep=False,
    refuses=False,
)
"""The keywords of a tool's parameters that the official client carries; the rest goes into descriptions."""
PICTURES = ("iVBORw0KGgo", "/9j/", "R0lGOD", "UklGR", "Qk", "AAAA")
LEAST_PICTURE = 64
"""How images begin, and their least length. The official client takes a shorter text for a file name, and would send
that file."""
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


NEEDS = Requirements("Ollama", takes, SPELLING, None, shows=True, in_order=True)


def render(
    model: str, messages: Sequence[Message], tools: Sequence[ToolSpec], options: CallOptions
) -> Rendered:
    told = repair_messages(messages, NEEDS)
    turns: list[dict[str, Any]] = []
    if told.system:
        turns.append({"role": "system", "content": "\n\n".join(told.system)})
    for stretch in told.runs:
        turns.extend(_turns(stretch))
    payload: dict[str, Any] = {"model": model, "messages": turns}
    offered, changed, names = fit_tools(tools, SPELLING, GRAMMAR, NEEDS.provider)
    if offered:
        payload["tools"] = as_functions(offered)
    if options.schema is not None:
        payload["format"] = options.schema
    if options.effort is not None:
        payload["think"] = options.effort if "gpt-oss" in model and options.effort in LEVELS else True
    limits = {"num_predict": options.max_tokens, "temperature": options.temperature}
    if any(value is not None for value in limits.values()):
        payload["options"] = {name: value for name, value in limits.items() if value is not None}
    payload["stream"] = True
    return Rendered(payload | (options.extra or {}), (*told.repairs, *changed), names)


def _turns(stretch: MessageRun) -> Iterator[dict[str, Any]]:
    text = "\n\n".join(message.content for message in stretch.messages if message.content)
    if stretch.role == "assistant":
        yield {"role": "assistant", "content": text} | _thoughts_and_calls(stretch.messages)
    elif stretch.role == "user":
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


def _thoughts_and_calls(messages: Sequence[Message]) -> dict[str, Any]:
    thought = "\n\n".join(message.reasoning_content for message in messages if message.reasoning_content)
    calls = [part for message in messages for kind, part, _ in lay_out(message, NAME)[0] if kind == CALL]
    told = [{"function": {"name": call.name, "arguments": call.arguments}} for call in calls]
    return ({"thinking": thought} if thought else {}) | ({"tool_calls": told} if told else {})


# --- reading ---------------------------------------------------------------------------


def read(chunks: Iterable[dict[str, Any]]) -> Iterator[Event]:
    heard = StreamParts(NAME)
    for chunk in chunks:
        if at(chunk, "error"):
            raise provider_error(text_at(chunk, "error") or text_at(chunk, "error", "message"))
        heard.seed = heard.seed or text_at(chunk, "created_at")
        heard.model = text_at(chunk, "model") or heard.model
        message = at(chunk, "message")
        yield from heard.think(at(message, "thinking"))
        yield from heard.say(at(message, "content"))
        for call in list_at(message, "tool_calls"):
            name, given = text_at(call, "function", "name"), at(call, "function", "arguments")
            heard.add_call(text_at(call, "id"), name, given)
        if at(chunk, "done") is True:
            heard.stop = "length" if text_at(chunk, "done_reason") == "length" else "end"
            heard.usage = usage_of(count_at(chunk, "prompt_eval_count"), count_at(chunk, "eval_count"))
    yield from heard.end()


DIALECT = Dialect(NAME, render, read)


class _Status(Exception):
    """An answer with an error status. `headers` say how long to wait."""

    def __init__(self, status: int, said: str, headers: Any) -> None:
        super().__init__(said)
        self.status = status
        self.headers = headers


class Ollama(Caller):
    """A model of an Ollama, on this machine or elsewhere.

        Ollama("llama3.2", base_url="http://192.168.1.20:11434")

    Arguments are those of `Caller`: base_url (else OLLAMA_HOST, else this machine; without /v1), api_key (for
    ollama.com; else OLLAMA_API_KEY), headers, seconds, retries, pause, patience, extensions, calls.
    """

    dialect = "ollama"
    title = "Ollama"
    variable = "OLLAMA_API_KEY"
    place = "OLLAMA_HOST"
    usual = "http://127.0.0.1:11434"
    speaks = DIALECT
    start_advice = "Start it with `ollama serve`, or give its address (OLLAMA_HOST, or `base_url`)."

    def _create_client(self) -> Any:
        try:
            import ollama
        except ImportError:
            raise missing_package("ollama") from None
        headers = dict(self._headers)
        if self._api_key is not None:
            headers["Authorization"] = f"Bearer {self._api_key}"
        given: dict[str, Any] = {}
        if self._is_here():
            import httpx

            # A client with its own transport takes no proxy from the environment.
            given["transport"] = httpx.HTTPTransport()
        client = ollama.Client(host=self._base_url, headers=headers, follow_redirects=False, **given)
        if not hasattr(client, "_client"):
            raise Refused(
                "No model was asked: this version of the package 'ollama' is not supported. Install ollama 0.6."
            )
        return client

    def _open_stream(self, payload: dict[str, Any], seconds: float) -> StreamLine:
        import httpx

        from looseleaf.models.stream_thread import StreamLine

        client = self._get_client()._client
        request = client.build_request(
            "POST",
            "/api/chat",
            json=payload | {"stream": True},
            timeout=httpx.Timeout(seconds, connect=min(seconds, CONNECTING)),
        )
        response = client.send(request, stream=True)
        if response.status_code != 200:
            response.read()
            raise _Status(response.status_code, _error_text(response.text), response.headers)
        return StreamLine(_read_chunks(response), response)

    def _explain_error(self, error: BaseException, begun: bool) -> Failure:
        provider = self._provider()
        if isinstance(error, _Status):
            return failures.of_status(provider, error.status, str(error), headers=error.headers)
        return failures.of_transport(provider, error, begun) or failures.of_rest(provider, error, begun)

    def _model_advice(self) -> str:
        return f"Get it with `ollama pull {self.name}`, or give the name of one that `ollama list` shows."


def _read_chunks(response: Any) -> Iterator[dict[str, Any]]:
    import json

    for line in split_lines(response.iter_bytes()):
        if line.strip():
            # Unreadable arguments belong to one call: the rest of the answer is still read.
            chunk = json.loads(replace_objects(line, "arguments", _unreadable_text))
            if isinstance(chunk, dict) and chunk.get("error"):
                raise _Status(500, str(chunk["error"]), response.headers)
            yield chunk


def _unreadable_text(text: str) -> str | None:
    return text if isinstance(arguments_of(text), str) else None


def _error_text(text: str) -> str:
    import json

    try:
        return str(json.loads(text)["error"])
    except (ValueError, KeyError, TypeError):
        return text
