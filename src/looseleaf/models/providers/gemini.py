"""Google's models, through the SDK `google-genai`."""

from __future__ import annotations

import re

from looseleaf.base.messages import ToolResultPayload
from looseleaf.models import failures
from looseleaf.models.call import Caller, missing_package
from looseleaf.models.dialect import (
    CallOptions,
    Dialect,
    Grammar,
    Passing,
    Rendered,
    Spelling,
    fit_answer,
    fit_tools,
    fix_surrogates,
    provider_error,
)
from looseleaf.models.message_repair import Requirements, data_of, is_web, media_of, repair_messages, type_of
from looseleaf.models.stream_parts import (
    CALL,
    TEXT,
    StreamParts,
    add_counts,
    arguments_of,
    at,
    count_at,
    lay_out,
    list_at,
    of_dialect,
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
    from looseleaf.base.replies import Event, Stop, ToolSpec
    from looseleaf.models.failures import Failure
    from looseleaf.models.message_repair import MessageRun
    from looseleaf.models.stream_thread import StreamLine


# --- rendering: generateContent ----------------------------------------------------------

NAME = "gemini"
SPELLING = Spelling(r"[^a-zA-Z0-9_.:-]", 64, r"[a-zA-Z_]")
GRAMMAR = Grammar(never=frozenset({"$schema"}))
ANSWER = Grammar(
    frozenset(
        "$id $defs $ref $anchor type format title description enum items prefixItems minItems maxItems minimum maximum "
        "anyOf oneOf properties additionalProperties required propertyOrdering".split()
    )
)
UNSIGNED = "skip_thought_signature_validator"
"""The signature that Google takes for a call that none of its models made."""
BUDGETS = {"none": 0, "minimal": 512, "low": 1024, "medium": 8192, "high": 24576}
LEVELS = {"none": "MINIMAL", "minimal": "MINIMAL", "low": "LOW", "medium": "MEDIUM"}
UNTHINKING = re.compile(r"(?:.*/)?(?:gemini-(?:1(?!\d)|2\.0)|gemma|learnlm)")
BUDGETED = re.compile(r"(?:.*/)?gemini-2\.5")
THINKING = re.compile(
    r"(?:.*/)?gemini-(?:2\.[5-9]|[3-9]|[1-9]\d|(?:pro|flash|flash-lite)-latest)(?!.*(?:image|tts))"
)
"""Models that are known to think, by name. A model that does not think refuses to show its thoughts."""


def takes(kind: str, address: str) -> bool:
    data = data_of(address)
    if data is not None:
        return data[0].startswith(f"{kind}/")
    return is_web(address, "https", "gs")


NEEDS = Requirements(
    "Gemini", takes, SPELLING, Spelling(chars=256), user_first=True, user_last=True, in_order=True
)


def render(
    model: str, messages: Sequence[Message], tools: Sequence[ToolSpec], options: CallOptions
) -> Rendered:
    told = repair_messages(messages, NEEDS)
    contents = [_content(stretch, model) for stretch in told.runs]
    config: dict[str, Any] = {}
    if told.system:
        config["system_instruction"] = "\n\n".join(told.system)
    offered, changed, names = fit_tools(tools, SPELLING, GRAMMAR, NEEDS.provider)
    if offered:
        declared = [
            {"name": tool.name, "description": tool.description, "parameters_json_schema": tool.parameters}
            for tool in offered
        ]
        config["tools"] = [{"function_declarations": declared}]
        config["automatic_function_calling"] = {"disable": True}
    if options.max_tokens is not None:
        config["max_output_tokens"] = options.max_tokens
    if options.temperature is not None:
        config["temperature"] = options.temperature
    if options.schema is not None:
        schema, moved = fit_answer(options.schema, ANSWER, NEEDS.provider)
        config |= {"response_mime_type": "application/json", "response_json_schema": schema}
        changed += moved
    if UNTHINKING.match(model):
        if options.effort is not None:
            changed.append(f"The effort was left out: {model} does not think.")
    elif options.effort is not None or THINKING.match(model):
        thinking: dict[str, Any] = {"include_thoughts": True}
        if options.effort is not None and BUDGETED.match(model):
            thinking["thinking_budget"] = BUDGETS.get(options.effort, BUDGETS["high"])
        elif options.effort is not None:
            thinking["thinking_level"] = LEVELS.get(options.effort, "HIGH")
        config["thinking_config"] = thinking
    payload = {"model": model, "contents": contents, "config": config}
    for name, value in (options.extra or {}).items():
        (payload if name in payload else config)[name] = value
    return Rendered(payload, (*told.repairs, *changed), names)


def _content(stretch: MessageRun, model: str) -> dict[str, Any]:
    if stretch.role == "assistant":
        laid = [part for message in stretch.messages for part in lay_out(message, NAME)[0]]
        return {"role": "model", "parts": [*_assistant_parts(laid, model)]}
    parts: list[dict[str, Any]] = []
    for message in stretch.messages:
        payload = message.tool_payload
        if isinstance(payload, ToolResultPayload):
            parts.append({"function_response": _response(payload)})
            continue
        if message.content:
            parts.append({"text": message.content})
        for _, address in media_of(message):
            data, kind = data_of(address), type_of(address)
            if data is not None:
                parts.append({"inline_data": {"mime_type": data[0], "data": data[1]}})
            else:
                parts.append({"file_data": {"file_uri": address} | ({"mime_type": kind} if kind else {})})
    return {"role": "user", "parts": parts}


def _response(payload: ToolResultPayload) -> dict[str, Any]:
    response: dict[str, Any] = {}
    if payload.tool_error is not None:
        response["error"] = payload.tool_error
    if payload.tool_result is not None or payload.tool_error is None:
        response["output"] = payload.tool_result
    return {"id": payload.tool_call_id, "name": payload.tool_name, "response": response}


def _assistant_parts(laid: Iterable[Any], model: str) -> Iterator[dict[str, Any]]:
    """Yield text and calls, each with its signature. Of calls made together, the first one needs one."""
    needs_signature = not UNTHINKING.match(model) and not BUDGETED.match(model)
    for kind, part, marks in laid:
        if kind == TEXT:
            yield {"text": part} | _signature(marks)
        elif kind == CALL:
            signed = _signature(of_dialect(part.opaque, NAME))
            if needs_signature and not signed:
                signed = {"thought_signature": UNSIGNED}
            needs_signature = False
            call = {"id": part.id, "name": part.name, "args": part.arguments}
            yield {"function_call": call} | signed


def _signature(marks: dict[str, Any]) -> dict[str, Any]:
    found = marks.get("thought_signature")
    return {"thought_signature": found} if isinstance(found, str) and found else {}


# --- reading ---------------------------------------------------------------------------

STOPS: dict[str, Stop] = {"STOP": "end", "MAX_TOKENS": "length", "FINISH_REASON_UNSPECIFIED": "end"}
BROKEN = frozenset(
    {"MALFORMED_FUNCTION_CALL", "MALFORMED_RESPONSE", "UNEXPECTED_TOOL_CALL", "TOO_MANY_TOOL_CALLS"}
)


def read(chunks: Iterable[dict[str, Any]]) -> Iterator[Event]:
    heard = StreamParts(NAME)
    usage: dict[str, Any] = {}
    for chunk in chunks:
        if at(chunk, "error"):
            raise provider_error(text_at(chunk, "error", "message"), text_at(chunk, "error", "status"))
        heard.seed = heard.seed or _either(chunk, "response_id", "responseId")
        heard.model = _either(chunk, "model_version", "modelVersion") or heard.model
        add_counts(usage, at(chunk, "usage_metadata") or at(chunk, "usageMetadata"))
        feedback = at(chunk, "prompt_feedback") or at(chunk, "promptFeedback")
        if _either(feedback, "block_reason", "blockReason"):
            heard.stop = "refused"
        candidate = at(chunk, "candidates", 0)
        for part in list_at(candidate, "content", "parts"):
            yield from _add_part(heard, part)
        reason = _either(candidate, "finish_reason", "finishReason")
        if reason in BROKEN and not heard.calls():
            why = f"{reason} {fix_surrogates(_either(candidate, 'finish_message', 'finishMessage'))[:200]}"
            raise Passing(f"The model did not answer: its call could not be read ({why}). Ask again.")
        if reason:
            heard.stop = "end" if reason in BROKEN else STOPS.get(reason, "refused")
    heard.usage = _usage(usage)
    yield from heard.end()


def _either(value: Any, snake: str, camel: str) -> str:
    return text_at(value, snake) or text_at(value, camel)


def _add_part(heard: StreamParts, part: Any) -> Iterator[Event]:
    signature = _either(part, "thought_signature", "thoughtSignature")
    call = at(part, "function_call") or at(part, "functionCall")
    if isinstance(call, dict):
        found = heard.add_call(text_at(call, "id"), text_at(call, "name"), call.get("args"))
        if signature:
            found.marks = {"thought_signature": signature}
    elif at(part, "thought"):
        yield from heard.think(at(part, "text"))
    elif isinstance(at(part, "text"), str):
        yield from heard.say(part["text"])
        if signature:
            heard.part(TEXT).marks = {"thought_signature": signature}


def _usage(usage: dict[str, Any]) -> Any:
    """Return the usage. Google counts thoughts beside the text."""

    def count(snake: str, camel: str) -> int | None:
        found = count_at(usage, snake)
        return found if found is not None else count_at(usage, camel)

    prompt = count("prompt_token_count", "promptTokenCount")
    tools = count("tool_use_prompt_token_count", "toolUsePromptTokenCount")
    thought = count("thoughts_token_count", "thoughtsTokenCount")
    said = count("candidates_token_count", "candidatesTokenCount")
    cached = count("cached_content_token_count", "cachedContentTokenCount")
    if said is None and thought is None and prompt is not None:
        total = count("total_token_count", "totalTokenCount")
        said = total - prompt - (tools or 0) if total is not None else None
    output = None if said is None and thought is None else (said or 0) + (thought or 0)
    return usage_of(None if prompt is None else prompt + (tools or 0), output, cached, None, thought)


DIALECT = Dialect(NAME, render, read)


class Gemini(Caller):
    """A model behind generateContent.

        Gemini("gemini-3.8-flash", api_key="…", seconds=60)

    Arguments are those of `Caller`: api_key (else GEMINI_API_KEY), base_url (else GOOGLE_GEMINI_BASE_URL), headers,
    seconds, retries, pause, patience, extensions, calls.
    """

    dialect = "gemini"
    title = "Gemini"
    variable = "GEMINI_API_KEY"
    place = "GOOGLE_GEMINI_BASE_URL"
    usual = "https://generativelanguage.googleapis.com"
    speaks = DIALECT

    def _address(self) -> str:
        # The SDK has two addresses, and chooses by the environment.
        is_cloud = self._base_url is None and getattr(self._client, "vertexai", False)
        return "https://aiplatform.googleapis.com" if is_cloud else super()._address()

    def _create_client(self) -> Any:
        try:
            from google import genai
        except ImportError:
            raise missing_package("gemini") from None
        given: dict[str, Any] = {} if self._api_key is None else {"api_key": self._api_key, "vertexai": False}
        # A key only goes where it was meant to go.
        sent: dict[str, Any] = {"follow_redirects": False, "event_hooks": {"response": [_hook_response]}}
        if self._is_here():
            import httpx

            # A client with its own transport takes no proxy from the environment.
            sent["transport"] = httpx.HTTPTransport()
        options: Any = {"base_url": self._base_url, "headers": self._headers, "client_args": sent}
        return genai.Client(**given, http_options=options)

    def _open_stream(self, payload: dict[str, Any], seconds: float) -> StreamLine:
        from looseleaf.models.stream_thread import StreamLine

        client = self._get_client()
        config = dict(payload.get("config") or {})
        config["http_options"] = {"timeout": max(1, int(seconds * 1000))} | (config.get("http_options") or {})
        stream = client.models.generate_content_stream(**payload | {"config": config})
        return StreamLine(_plain_chunks(stream))

    def _explain_error(self, error: BaseException, begun: bool) -> Failure:
        from google.genai import errors

        provider = self._provider()
        if isinstance(error, errors.APIError):
            headers = getattr(error.response, "headers", None) or {}
            told = at(error.details, "error") or error.details
            details = [each for each in list_at(told, "details") if isinstance(each, dict)]
            code = " ".join((str(error.status or ""), *(text_at(each, "reason") for each in details))).strip()
            # Google puts the seconds to wait into the body: `17s`.
            asked = next((each["retryDelay"] for each in details if "retryDelay" in each), "")
            wait = failures.parse_seconds(str(asked).removesuffix("s"))
            said = str(error.message or error.details)
            return failures.of_status(provider, int(error.code or 500), said, code, headers, wait)
        if found := failures.of_transport(provider, error, begun):
            return found
        if isinstance(error, ValueError) and "api key" in str(error).lower().replace("_", " ") and not begun:
            return failures.without_key(provider)
        return failures.of_rest(provider, error, begun)


def _hook_response(response: Any) -> None:
    """Show the response to the pump, which needs it to hang up and which the SDK hides; and read it by our lines."""
    from looseleaf.models.stream_thread import ARRIVED

    response.iter_lines = lambda: (
        replace_objects(line, "args", _wrap_arguments) for line in split_lines(response.iter_bytes())
    )
    ARRIVED.get(lambda response: None)(response)


def _plain_chunks(stream: Any) -> Any:
    try:
        for chunk in stream:
            chunk.sdk_http_response = None
            plain = chunk.model_dump(mode="json", by_alias=True, exclude_none=True)
            for candidate in list_at(plain, "candidates"):
                for part in list_at(candidate, "content", "parts"):
                    given = at(part, "functionCall", "args")
                    if isinstance(given, dict) and _AS_TEXT in given:
                        part["functionCall"]["args"] = given[_AS_TEXT]
            yield plain
    finally:
        stream.close()


_AS_TEXT = "malformed"
"""The only member of arguments that stand for a text. Arguments that came with such a member become text too: so none
can pass for what it is not."""


def _wrap_arguments(text: str) -> dict[str, str] | None:
    """Return what the SDK, which parses everything, gets for arguments that no log could hold."""
    given = arguments_of(text)
    return {_AS_TEXT: text} if isinstance(given, str) or _AS_TEXT in given else None
