"""Requests of five providers, read into plain terms as their servers would read them."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from typing import Any

from wires.terms import Asked


class NotUnderstood(ValueError):
    """A request that the provider itself would refuse."""


GEMINI = re.compile(r"^/v1(?:beta)?/models/([^/:]+):(streamGenerateContent|generateContent)$")


def wire_of(path: str) -> str | None:
    """Which provider has this path."""
    named = {
        "/v1/responses": "openai",
        "/v1/chat/completions": "openai-chat",
        "/v1/messages": "anthropic",
        "/api/chat": "ollama",
    }
    bare = path.partition("?")[0]
    return "gemini" if GEMINI.match(bare) else named.get(bare)


def read(wire: str, path: str, headers: dict[str, str], body: dict[str, Any]) -> Asked:
    asked = Asked(wire, path, headers, body, str(body.get("model", "")), body.get("stream") is True)
    return {
        "openai": _responses,
        "openai-chat": _chat,
        "anthropic": _anthropic,
        "gemini": _gemini,
        "ollama": _ollama,
    }[wire](asked)


def _text(content: Any) -> str:
    """The text of a message's content: a text, or parts of which some are."""
    if content is None:
        return ""
    if isinstance(content, str):
        return content
    if not isinstance(content, list):
        raise NotUnderstood(f"content must be text or parts, not {type(content).__name__}")
    return "".join(part["text"] for part in content if isinstance(part.get("text"), str))


def _arguments(written: Any) -> Any:
    try:
        return json.loads(written)
    except (TypeError, ValueError):
        raise NotUnderstood("the arguments of a call are no JSON") from None


def _need(body: dict[str, Any], *names: str) -> None:
    for name in names:
        if name not in body:
            raise NotUnderstood(f"`{name}` is missing")


def _responses(asked: Asked) -> Asked:
    _need(asked.body, "model", "input")
    system, names = [asked.body.get("instructions") or ""], {}
    given = asked.body["input"]
    for item in [{"role": "user", "content": given}] if isinstance(given, str) else given:
        kind = item.get("type", "message")
        if kind == "message":
            if item["role"] in ("system", "developer"):
                system.append(_text(item["content"]))
            else:
                asked.add_text(item["role"], _text(item["content"]))
        elif kind == "function_call":
            name = spaced(item.get("namespace", ""), item["name"])
            names[item["call_id"]] = name
            asked.add_call(name, _arguments(item["arguments"]))
        elif kind == "function_call_output":
            if item["call_id"] not in names:
                raise NotUnderstood(f"No tool call found for function call output with {item['call_id']}.")
            asked.add_result(names[item["call_id"]], _text(item["output"]))
        elif kind != "reasoning":
            raise NotUnderstood(f"no such item: {kind}")
    for tool in asked.body.get("tools") or []:
        if tool["type"] == "namespace":
            asked.tools.update(
                {spaced(tool["name"], each["name"]): each["parameters"] for each in tool["tools"]}
            )
        elif tool["type"] == "function":
            asked.tools[tool["name"]] = tool["parameters"]
    return replace(asked, system="\n".join(filter(None, system)))


def spaced(space: str, name: str) -> str:
    """The name of a tool, behind that of its namespace if it has one."""
    return f"{space}::{name}" if space else name


def _chat(asked: Asked) -> Asked:
    _need(asked.body, "model", "messages")
    system: list[str] = []
    names: dict[str, str] = {}
    for message in asked.body["messages"]:
        role, text = message["role"], _text(message.get("content"))
        if role in ("system", "developer"):
            system.append(text)
        elif role == "tool":
            if message["tool_call_id"] not in names:
                raise NotUnderstood("messages with role 'tool' must follow a message with 'tool_calls'")
            asked.add_result(names[message["tool_call_id"]], text)
        else:
            if text:
                asked.add_text(role, text)
            for call in message.get("tool_calls") or []:
                names[call["id"]] = call["function"]["name"]
                asked.add_call(call["function"]["name"], _arguments(call["function"]["arguments"]))
    for tool in asked.body.get("tools") or []:
        asked.tools[tool["function"]["name"]] = tool["function"].get("parameters", {})
    return replace(asked, system="\n".join(system))


def _anthropic(asked: Asked) -> Asked:
    _need(asked.body, "model", "messages", "max_tokens")
    names: dict[str, str] = {}
    for message in asked.body["messages"]:
        content = message["content"]
        for block in [{"type": "text", "text": content}] if isinstance(content, str) else content:
            if block["type"] == "text":
                asked.add_text(message["role"], block["text"])
            elif block["type"] == "tool_use":
                names[block["id"]] = block["name"]
                asked.add_call(block["name"], block["input"])
            elif block["type"] == "tool_result":
                if block["tool_use_id"] not in names:
                    raise NotUnderstood(f"unexpected `tool_use_id`: {block['tool_use_id']}")
                asked.add_result(names[block["tool_use_id"]], _text(block.get("content")))
            elif block["type"] == "thinking" and not block["signature"]:
                raise NotUnderstood("Invalid `signature` in `thinking` block")
    for tool in asked.body.get("tools") or []:
        asked.tools[tool["name"]] = tool["input_schema"]
    return replace(asked, system=_text(asked.body.get("system")))


def _gemini(asked: Asked) -> Asked:
    _need(asked.body, "contents")
    for content in asked.body["contents"]:
        for part in content["parts"]:
            if "functionCall" in part:
                asked.add_call(part["functionCall"]["name"], part["functionCall"].get("args", {}))
            elif "functionResponse" in part:
                told = part["functionResponse"]
                asked.add_result(told["name"], json.dumps(told["response"], ensure_ascii=False))
            elif "text" in part and not part.get("thought"):
                asked.add_text(content.get("role", "user"), part["text"])
    for tool in asked.body.get("tools") or []:
        for declared in tool.get("functionDeclarations") or []:
            # Google reads its members in either spelling, and its SDK writes both.
            spelt = ("parametersJsonSchema", "parameters_json_schema", "parameters")
            asked.tools[declared["name"]] = next((declared[name] for name in spelt if name in declared), {})
    found = GEMINI.match(asked.path.partition("?")[0])
    if found is None:
        raise NotUnderstood("no such method")
    told = (asked.body.get("systemInstruction") or {}).get("parts") or []
    return replace(
        asked,
        system=_text(told),
        model=found[1],
        streams=found[2] == "streamGenerateContent",
    )


def _ollama(asked: Asked) -> Asked:
    _need(asked.body, "model", "messages")
    system = []
    for message in asked.body["messages"]:
        role, text = message["role"], message.get("content", "")
        if role == "system":
            system.append(text)
        elif role == "tool":
            asked.add_result(message.get("tool_name", ""), text)
        else:
            if text:
                asked.add_text(role, text)
            for call in message.get("tool_calls") or []:
                if not isinstance(call["function"]["arguments"], dict):
                    raise NotUnderstood("cannot unmarshal string into field arguments")
                asked.add_call(call["function"]["name"], call["function"]["arguments"])
    for tool in asked.body.get("tools") or []:
        asked.tools[tool["function"]["name"]] = tool["function"].get("parameters", {})
    # Ollama streams unless it is told not to.
    return replace(asked, system="\n".join(system), streams=asked.body.get("stream") is not False)
