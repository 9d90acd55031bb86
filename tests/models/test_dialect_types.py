"""Payloads against the official SDKs' own types: every member is one that the provider knows, and of its type."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from functools import cache
from types import NoneType, UnionType
from typing import Any, Literal, NotRequired, Required, Union, get_args, get_origin, get_type_hints

import pytest
import typing_extensions

from dialects import MODELS, PICTURE, WAV, conversations, holds, strings_of, told_in
from drawing import few
from looseleaf.base.messages import Message, ToolCallPayload, ToolCallSpec, ToolResultPayload
from looseleaf.base.replies import ToolSpec
from looseleaf.models.choice import NAMES, dialect
from looseleaf.models.dialect import CallOptions
from looseleaf.models.stream_parts import hash_of
from tables import check_rows

SERVERS = {"reasoning_content", "reasoning", "reasoning_details"}
"""Members of an assistant's message that are not OpenAI's, but those of servers that speak like it."""


class Odd(Exception):
    """A payload that is not of its type: where, and why."""


# --- typed dictionaries, strictly --------------------------------------------------------------


@cache
def hints_of(kind: Any) -> dict[str, Any]:
    return get_type_hints(kind, include_extras=True)


@cache
def members_of(kind: Any) -> tuple[dict[str, Any], frozenset[str]]:
    """The members of a TypedDict with their types, and those that must be there."""
    plain = {name: _bare(hint) for name, hint in hints_of(kind).items()}
    return plain, kind.__required_keys__


def _bare(hint: Any) -> Any:
    wrappers = (Required, NotRequired, typing_extensions.Required, typing_extensions.NotRequired)
    return get_args(hint)[0] if get_origin(hint) in wrappers else hint


def check(value: Any, hint: Any, where: str = "") -> None:
    """Raises Odd unless the value is of that type. Members that a TypedDict does not have are not of it."""
    origin, arguments = get_origin(hint), get_args(hint)
    if hint in (Any, object):
        return
    if (origin is not None and getattr(origin, "__name__", "") == "Annotated") or hasattr(
        hint, "__metadata__"
    ):
        check(value, arguments[0] if arguments else hint.__origin__, where)
    elif origin in (Union, UnionType):
        _check_any(value, arguments, where)
    elif origin in (Literal, typing_extensions.Literal):
        if value not in arguments:
            raise Odd(f"{where}: {value!r} is none of {arguments}")
    elif typing_extensions.is_typeddict(hint):
        _check_members(value, hint, where)
    elif origin is dict:
        if not isinstance(value, dict):
            raise Odd(f"{where}: {value!r} is no object")
        for key, each in value.items():
            check(each, arguments[1], f"{where}.{key}")
    elif origin is not None:  # List, Iterable, Sequence: all of them lists in JSON
        if not isinstance(value, list):
            raise Odd(f"{where}: {value!r} is no list")
        for place, each in enumerate(value):
            check(each, arguments[0], f"{where}[{place}]")
    elif hint is float and type(value) is int:
        return
    elif hint in (str, int, float, bool, NoneType, None) and (value is None) == (hint in (NoneType, None)):
        if value is not None and type(value) is not hint:
            raise Odd(f"{where}: {value!r} is no {hint}")
    else:
        raise Odd(f"{where}: {value!r} is no {hint}")


def _check_any(value: Any, hints: tuple[Any, ...], where: str) -> None:
    why: list[Odd] = []
    for hint in hints:
        try:
            return check(value, hint, where)
        except Odd as odd:
            why.append(odd)
    # The reason that goes deepest is that of the member that was meant.
    raise max(why, key=lambda odd: len(str(odd).split(":")[0]))


def _check_members(value: Any, hint: Any, where: str) -> None:
    if not isinstance(value, dict):
        raise Odd(f"{where}: {value!r} is no object")
    members, required = members_of(hint)
    allows_more = getattr(hint, "__pydantic_config__", {}).get("extra") == "allow"
    for key, each in value.items():
        if key in members:
            check(each, members[key], f"{where}.{key}")
        elif not allows_more:
            raise Odd(f"{where}.{key}: {hint.__name__} has no such member")
    if missing := required - value.keys():
        raise Odd(f"{where}: {hint.__name__} lacks {missing}")


# --- one for each SDK ----------------------------------------------------------------------------


def check_openai(payload: dict[str, Any]) -> None:
    from openai.types.responses.response_create_params import ResponseCreateParamsStreaming

    check(payload, ResponseCreateParamsStreaming)


def check_chat(payload: dict[str, Any]) -> None:
    from openai.types.chat.completion_create_params import CompletionCreateParamsStreaming

    turns = [
        {key: value for key, value in turn.items() if turn.get("role") != "assistant" or key not in SERVERS}
        for turn in payload.get("messages", ())
    ]
    check(payload | ({"messages": turns} if turns else {}), CompletionCreateParamsStreaming)


def check_anthropic(payload: dict[str, Any]) -> None:
    from anthropic.types.message_create_params import MessageCreateParamsStreaming

    check(payload, MessageCreateParamsStreaming)


def check_gemini(payload: dict[str, Any]) -> None:
    from google.genai import types
    from pydantic import ValidationError

    if payload.keys() != {"model", "contents", "config"}:
        raise Odd(f"{payload.keys()}")
    try:
        for content in payload["contents"]:
            types.Content.model_validate(content)
        types.GenerateContentConfig.model_validate(payload["config"])
    except ValidationError as error:
        raise Odd(str(error)) from error


def check_ollama(payload: dict[str, Any]) -> None:
    """Its types take and drop what they do not know: what was taken has to be all that was given."""
    from ollama._types import ChatRequest, Image, Message, Options, Tool
    from pydantic import ValidationError

    try:
        ChatRequest.model_validate(payload | {"messages": [], "tools": []})
        if odd := payload.keys() - ChatRequest.model_fields.keys():
            raise Odd(f"{odd}")
        for turn in payload["messages"]:
            images = {"images": [Image(value=each) for each in turn["images"]]} if "images" in turn else {}
            _same(Message.model_validate(turn | images).model_dump(exclude_unset=True), turn)
        for tool in payload.get("tools", ()):
            made = Tool.model_validate(tool).model_dump(exclude_unset=True, by_alias=True)
            _same(made, tool)
        limits = payload.get("options", {})
        _same(Options.model_validate(limits).model_dump(exclude_unset=True), limits)
    except ValidationError as error:
        raise Odd(str(error)) from error


def _same(taken: Any, given: Any) -> None:
    if json.dumps(taken, sort_keys=True) != json.dumps(given, sort_keys=True):
        raise Odd(f"{given} was taken as {taken}")


CHECKS: dict[str, Callable[[dict[str, Any]], None]] = {
    "openai": check_openai,
    "openai-chat": check_chat,
    "anthropic": check_anthropic,
    "gemini": check_gemini,
    "ollama": check_ollama,
}


def test_every_payload_is_of_the_type_that_the_official_sdk_has() -> None:
    def check(name: str) -> None:
        seen = 0
        for messages, tools, options in conversations():
            CHECKS[name](dialect(name).render(MODELS[name], messages, tools, options).payload)
            seen += 1
        assert seen >= few(200, 80)

    check_rows(check, NAMES)


@pytest.mark.long
def test_many_more_payloads_are_of_their_types_and_lose_nothing() -> None:
    def check(name: str) -> None:
        for messages, tools, options in conversations(3000):
            payload = dialect(name).render(MODELS[name], messages, tools, options).payload
            CHECKS[name](payload)
            said = strings_of(payload)
            assert all(holds(said, text) for text in told_in(messages))

    check_rows(check, NAMES)


@pytest.mark.parametrize("name", ["openai", "openai-chat", "anthropic"])
def test_pydantic_agrees(name: str) -> None:
    """The same types, read by pydantic, which forgives members that it does not know."""
    from pydantic import TypeAdapter

    adapter: TypeAdapter[Any] = TypeAdapter(_type_of(name))
    for messages, tools, options in conversations()[::4]:
        payload = dialect(name).render(MODELS[name], messages, tools, options).payload
        _consume(adapter.validate_python(payload))


def _type_of(name: str) -> Any:
    if name == "anthropic":
        from anthropic.types.message_create_params import MessageCreateParamsStreaming

        return MessageCreateParamsStreaming
    if name == "openai":
        from openai.types.responses.response_create_params import ResponseCreateParamsStreaming

        return ResponseCreateParamsStreaming
    from openai.types.chat.completion_create_params import CompletionCreateParamsStreaming

    return CompletionCreateParamsStreaming


def _consume(value: Any) -> None:
    """Iterables are checked only while somebody goes through them."""
    if isinstance(value, dict):
        for each in value.values():
            _consume(each)
    elif not isinstance(value, str) and hasattr(value, "__iter__") and not hasattr(value, "model_dump"):
        for each in value:
            _consume(each)


# --- mutants ---------------------------------------------------------------------------------------

FREE = {"arguments", "input_schema", "parameters", "parameters_json_schema", "schema", "args", "response"}
FREE |= {"format", "response_json_schema"}
FREE_OF = {"anthropic": {"input"}, "ollama": {"arguments"}}
"""Members in which anybody's names stand."""


def rich(name: str) -> dict[str, Any]:
    """A payload with about everything in it."""
    sealed: dict[str, Any] = {
        "kind": "thought",
        "chars": 3,
        "id": "rs_1",
        "encrypted_content": "x",
        "signature": "s",
    }
    opaque = {"dialect": name, "thoughts": hash_of("why"), "parts": [sealed, {"kind": "text", "chars": 2}]}
    call = ToolCallSpec("call_1", "look", {"at": 1}, {"dialect": "gemini", "thought_signature": "c2ln"})
    messages = [
        Message("system", "be brief"),
        Message("user", "see", image_urls=(PICTURE, "https://example.org/a.png"), audio_urls=(WAV,)),
        Message("assistant", "so", "why", opaque=opaque),
        Message("assistant", None, tool_payload=ToolCallPayload((call,))),
        Message(
            "tool",
            None,
            tool_payload=ToolResultPayload("call_1", "look", None, "gone"),
            image_urls=(PICTURE,),
        ),
        Message("user", "well"),
    ]
    parameters = {"type": "object", "properties": {"at": {"type": "integer"}}}
    schema = {"type": "object", "properties": {}, "required": [], "additionalProperties": False}
    options = CallOptions(max_tokens=4000, temperature=0.5, schema=schema, effort="low")
    model = "gpt-9-chat" if name == "openai" else MODELS[name]
    return dialect(name).render(model, messages, [ToolSpec("look", "looks", parameters)], options).payload


def keys_of(value: Any, free: set[str], path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    if isinstance(value, dict):
        for key, each in value.items():
            yield (*path, key)
            if key not in free:
                yield from keys_of(each, free, (*path, key))
    elif isinstance(value, list):
        for place, each in enumerate(value):
            yield from keys_of(each, free, (*path, place))


def with_other_key(payload: Any, path: tuple[Any, ...]) -> Any:
    """The payload, in which one member has another name."""
    copy = json.loads(json.dumps(payload))
    inside = copy
    for step in path[:-1]:
        inside = inside[step]
    inside[f"{path[-1]}_"] = inside.pop(path[-1])
    return copy


def test_a_member_with_a_wrong_name_is_found_wherever_it_stands() -> None:
    def check(name: str) -> None:
        payload = rich(name)
        CHECKS[name](payload)
        paths = list(keys_of(payload, FREE | FREE_OF.get(name, set())))
        assert len(paths) > 30
        assert [path for path in paths if not is_odd(name, with_other_key(payload, path))] == []

    check_rows(check, NAMES)


def test_a_value_of_a_wrong_type_is_found() -> None:
    def check(name: str) -> None:
        payload = rich(name)
        (key,) = payload.keys() & {"messages", "input", "contents"}
        assert is_odd(name, payload | {key: [{"role": "user", "content": 7, "parts": 7}]})

    check_rows(check, NAMES)


def is_odd(name: str, payload: dict[str, Any]) -> bool:
    try:
        CHECKS[name](payload)
    except Odd:
        return True
    return False
