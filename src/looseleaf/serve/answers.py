"""What the memory answers: calls of tools, resources and prompts, as results of the protocol.

Invariant: a call of a tool always has a result. What fails is a result too, with `isError` and a sentence; for anything
else, a refusal is an error of the protocol.
"""

from __future__ import annotations

import re
from urllib.parse import quote, unquote

from looseleaf.base.errors import Invalid, NotFound, Refused
from looseleaf.base.paths import PROFILE, STATE, page_path
from looseleaf.serve.offered import INDEX, MARKDOWN, PAGE, TOPIC, error_result, offered_tools
from looseleaf.serve.page_list import list_resources
from looseleaf.tools.catalogue import TOOLS
from looseleaf.tools.toolset import call

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from looseleaf.memory import Memory
    from looseleaf.tools.tool import Tool, ToolAnswer
    from looseleaf.views.page_index import IndexLine


def result_of(
    memory: Memory, method: str, params: Mapping[str, Any], *, read_only: bool, write_only: bool = False
) -> dict[str, Any]:
    """Return the result of a request that needs the memory."""
    if method == "tools/call":
        return _call_tool(memory, params, read_only=read_only, write_only=write_only)
    if write_only:
        raise Refused("Nothing was read: this client may only write. Ask the user to let it read too.")
    if method == "resources/list":
        layers = memory.parts.layers
        return {"resources": list_resources(memory.where, layers.seen if layers is not None else ())}
    if method == "resources/read":
        mime, text = read_resource_at(memory, params["uri"])
        return {"contents": [{"uri": params["uri"], "mimeType": mime, "text": text}]}
    text = _prompt_text(memory, params["name"], params.get("arguments") or {})
    return {"messages": [{"role": "user", "content": {"type": "text", "text": text}}]}


# --- tools ------------------------------------------------------------------------------


_CALL_IDS = ("claudecode/toolUseId", "callId", "toolCallId")
"""Members of `_meta` in which clients name the call that their model made: in a session that hooks record."""


def _call_tool(
    memory: Memory, params: Mapping[str, Any], *, read_only: bool, write_only: bool
) -> dict[str, Any]:
    name, arguments, meta = params["name"], params.get("arguments") or {}, params.get("_meta") or {}
    tools = offered_tools(read_only=read_only, write_only=write_only)
    if name in tools:
        call_id = next((str(meta[each]) for each in _CALL_IDS if each in meta), "")
        memory.parts.conversation.call = (name, arguments, call_id)
        try:
            return _tool_result(tools[name], call(memory, name, arguments))
        finally:
            memory.parts.conversation.call = None
    if name in TOOLS and write_only:
        return error_result(
            f"{name} did nothing: this client may only write, and {name} tells what is there. Ask the user to let it "
            "read too."
        )
    if name in TOOLS:
        return error_result(
            f"{name} did nothing: this server is read-only. Ask the user to write it down, or to start the server "
            "without --read-only."
        )
    return error_result(f"Nothing was done: there is no tool {name[:80]!r}. There are: {', '.join(tools)}.")


def _tool_result(tool: Tool, answer: ToolAnswer) -> dict[str, Any]:
    """Return the result, structured where it fits the tool's schema: a failed read has its sentence alone."""
    from jsonschema_rs import Draft202012Validator

    is_shaped = not answer.is_error or Draft202012Validator(tool.returns).is_valid(answer.data)
    result = {"content": [{"type": "text", "text": answer.text}], "isError": answer.is_error}
    return result | ({"structuredContent": answer.data} if is_shaped else {})


# --- resources: what a client reads by address, without tools ---------------------------

JSON = "application/json"

_LINES = 2000
"""Lines of the index. With more pages, `recall` finds them."""
_NAMED = 20
_LONG = 1000
_UNSEEN = "review/"
_ESCAPE = re.compile("%[0-9a-fA-F]{2}")


def read_resource_at(memory: Memory, uri: str) -> tuple[str, str]:
    """Return the media type and the text at an address."""
    if uri.rstrip("/") == INDEX:
        return MARKDOWN, _index_text(memory)
    if uri.startswith(PAGE):
        return _read_page(memory, _decode_name(uri, PAGE))
    if uri.startswith(TOPIC):
        return _read_topic(memory, _decode_name(uri, TOPIC))
    raise NotFound(
        f"Nothing was read: {_quote_short(uri)} is not an address of this memory. There are {INDEX}, "
        f"{PAGE}<path> (such as {PAGE}{PROFILE}) and {TOPIC}<name>."
    )


def _decode_name(uri: str, start: str) -> str:
    """Return the path or name in an address: plain, or with `%` exactly where a URI needs it."""
    given = uri[len(start) :]
    if "%" not in given:
        return given
    name = unquote(given, errors="replace")
    if quote(name) != _ESCAPE.sub(lambda match: match[0].upper(), given):
        raise Invalid(
            f"Nothing was read: {_quote_short(uri)} escapes characters that need no `%`, or is not UTF-8. "
            "Letters, digits, `.`, `-`, `_` and `/` are written as they are; list the resources for the right spelling."
        )
    return name


def _read_page(memory: Memory, given: str) -> tuple[str, str]:
    layer, place = memory.parts.split_place(given)
    path = page_path(place)
    if path.startswith(_UNSEEN):
        raise Refused(
            f"Nothing was read: {path} waits for a person; models cannot read it. Ask the user to look at it."
        )
    page = memory.pages.read(given if layer is not None else path)
    if not page.exists:
        raise NotFound(f"Nothing was read: there is no page {given}. {INDEX} lists the pages.")
    return (JSON if path == STATE else MARKDOWN), page.text


def _read_topic(memory: Memory, name: str) -> tuple[str, str]:
    from looseleaf.views.topic_memory import topic_md

    names = memory.views.topics()
    if name not in names and memory.parts.split_topic(name)[0] is None:
        more = f" and {len(names) - _NAMED} more" if len(names) > _NAMED else ""
        there = f"There are: {', '.join(names[:_NAMED])}{more}." if names else "There are none yet."
        raise NotFound(f"Nothing was read: there is no topic {_quote_short(name)}. {there}")
    return MARKDOWN, topic_md(memory.views.topic(name))


def _index_text(memory: Memory) -> str:
    from looseleaf.text.lines import escape

    def line(path: str, size: int, summary: str) -> str:
        return f"- {path} ({size:,} bytes){f': {escape(summary)}' if summary else ''}"

    lines: list[IndexLine] = memory.pages.index()
    farther = memory.parts.farther(lambda far: far.pages.page(PROFILE))
    profiles = [(PROFILE, memory.pages.read(PROFILE)), *((f"{at}:{PROFILE}", page) for at, page in farther)]
    told = [line(path, len(page.data), page.summary or "") for path, page in profiles if page.exists]
    told += [line(each.path, each.size, each.summary) for each in lines[:_LINES]]
    if len(lines) > _LINES:
        told.append(f"- and {len(lines) - _LINES:,} more: ask `recall` for what you want to know")
    return "\n".join(("# What this memory holds", "", *(told or ["Nothing yet."]), ""))


def _quote_short(text: str) -> str:
    return repr(text) if len(text) <= _LONG else f"{text[:_LONG]!r}…"


# --- prompts ----------------------------------------------------------------------------


def _prompt_text(memory: Memory, name: str, given: dict[str, str]) -> str:
    if name == "start":
        task = given.get("task", "").strip()
        text = memory.views.snapshot().text
        return f"{text.rstrip()}\n\n{task}\n" if task else text
    if name == "recall":
        query = given.get("query", "").strip()
        if not query:
            raise Invalid(
                "Nothing was searched: the prompt `recall` needs a query. Give it what you want to know."
            )
        return call(memory, "recall", {"query": query}).text
    raise NotFound(f"Nothing was made: there is no prompt {name!r}. There are `start` and `recall`.")
