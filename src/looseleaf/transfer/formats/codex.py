"""Codex' sessions: `~/.codex/sessions/YYYY/MM/DD/rollout-*.jsonl`, one file for each.

The items of the conversation are taken (`response_item`; in older files the line itself), not the events that tell of
them once more. Instructions, the environment and other things that the program says in the user's name are not his
words, and are passed over; so is the history that stands for what was compacted. So are the sessions of sub-agents, in
which an agent is the user. A session that was begun from another one repeats it: that is the other's.
"""

from __future__ import annotations

import json
import re

from looseleaf.transfer.formats.agent_lines import parted
from looseleaf.transfer.json_stream import lines
from looseleaf.transfer.source import (
    Broken,
    Said,
    Talk,
    loaded,
    media_of,
    members,
    named,
    objects,
    spoken,
    stem,
    to_read,
    when,
    words,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from looseleaf.transfer.source import Item, Note, Source

NAME = "codex"
ABOUT = "Codex' sessions: ~/.codex/sessions, or one rollout-….jsonl file"

_OF_PROGRAM = (
    "# AGENTS.md instructions",
    "<INSTRUCTIONS>",
    "<permissions",
    "<skill>\n<name>",
    "Warning: apply_patch was requested via ",
    "Warning: The maximum number of unified exec processes",
)
_SETTING = ("# Context from my IDE setup:", "# Files mentioned by the user:")
"""How a text begins that an editor sends: what is open in it, what is selected, and then the request."""

_REQUEST = re.compile(r"^## My request(?: for Codex)?:[ \t]*\n?", re.MULTILINE)
_PICTURE = re.compile(r"</?image(?: name=[^<>]*)?>\s*")
"""What stands before and after a picture."""
_CALLS = ("function_call", "custom_tool_call", "local_shell_call", "web_search_call")
_RESULTS = ("function_call_output", "custom_tool_call_output", "local_shell_call_output")


def detect(source: Source) -> float:
    for name in _names(source)[:8]:
        head = source.head(name)
        if b'"session_meta"' in head or (b'"record_type"' in head and b'"role"' in head):
            return 0.95
    return 0.0


def _names(source: Source) -> list[str]:
    found = named(source, ".jsonl")
    return found if source.kind == "file" else [name for name in found if stem(name).startswith("rollout-")]


def read(source: Source, note: Note) -> Iterator[Item]:
    names = {name: _about(source, name) for name in sorted(to_read(source, _names(source)))}
    files = {words(about.get("id")): name for name, about in names.items()} | {"": ""}
    of_sub_agents = 0
    for name, about in names.items():
        if _is_of_sub_agent(about):
            of_sub_agents += 1
            continue
        said = _said(source, name, note)
        before = files.get(words(about.get("forked_from_id")))
        if before and before != name:
            said = _gone_on(said, _said(source, before, lambda _: None))
        yield Talk(words(about.get("id")) or stem(name), "", said)
    if of_sub_agents:
        what = "session of a sub-agent was" if of_sub_agents == 1 else "sessions of sub-agents were"
        note(f"{of_sub_agents:,} {what} passed over: what agents say to each other is nobody's words.")


_ABOUT = ("id", "source", "thread_source", "parent_thread_id", "forked_from_id")


def _about(source: Source, name: str) -> dict[str, Any]:
    """What a session says of itself in its first line."""
    try:
        first = members(json.loads(source.head(name, 1 << 20).partition(b"\n")[0]))
    except (ValueError, RecursionError):
        first = {}
    own = members(first.get("payload")) if first.get("type") == "session_meta" else first
    return {each: own[each] for each in _ABOUT if isinstance(own.get(each), str | dict)}


def _is_of_sub_agent(about: dict[str, Any]) -> bool:
    """Its user is another agent, or the program itself, and mostly it begins with all that was said before."""
    is_spawned = bool(words(about.get("parent_thread_id"))) or about.get("thread_source") == "subagent"
    return is_spawned or "subagent" in members(about.get("source"))


def _gone_on(said: Iterator[Said], before: Iterator[Said]) -> Iterator[Said]:
    """A session that was begun from another one repeats it up to there: what is said in both is the other's."""
    for each in said:
        if (old := next(before, None)) is None or _words(each) != _words(old):
            yield each
            break
    yield from said


def _words(said: Said) -> tuple[Any, ...]:
    return said.role, said.text, said.name, said.args, said.result, said.error


def _said(source: Source, name: str, note: Note) -> Iterator[Said]:
    thought: list[str] = []
    begun: float | None = None  # older files have no other time
    try:
        with source.open(name) as stream:
            for number, raw in lines(stream, note, name):
                own = members(raw)
                begun = begun if begun is not None else when(own.get("timestamp"))
                item = members(own.get("payload")) if "payload" in own else own
                if own.get("type") not in ("response_item", *_PLAIN) or not item:
                    continue
                if item.get("type") == "reasoning":
                    thought += filter(None, (spoken(item.get("summary")), spoken(item.get("content"))))
                    continue
                ts = when(own.get("timestamp")) or begun
                found = _item(str(number), item, ts, "\n\n".join(thought) or None)
                if found is not None:
                    thought = thought if found.reasoning is None else []
                    yield found
    except Broken as broken:
        note(str(broken))


_PLAIN = ("message", "reasoning", *_CALLS, *_RESULTS)
"""Lines of older files, which are the items themselves."""


def _item(key: str, item: dict[str, Any], ts: float | None, reasoning: str | None) -> Said | None:
    kind, role = item.get("type"), item.get("role")
    if kind == "message":
        content = item.get("content")
        if role == "assistant" and spoken(content).strip():
            return Said(key, "assistant", spoken(content), ts, reasoning=reasoning)
        if role == "user":
            text, media = _of_user(content), media_of(content)
            return Said(key, "user", text, ts, media=media) if text or media else None
        return None
    call = words(item.get("call_id")) or words(item.get("id")) or key
    if kind in _CALLS:
        name = words(item.get("name")) or str(kind).removesuffix("_call")
        given = item.get("arguments", item.get("input", item.get("action")))
        return Said(key, "tool_call", "", ts, name, loaded(given), call, reasoning=reasoning)
    if kind in _RESULTS:
        return _result(key, item.get("output"), ts, call)
    return None


def _of_user(content: object) -> str:
    """The texts that are the user's own, without what the program put among them."""
    blocks = objects(content) if isinstance(content, list) else [{"text": words(content)}]
    texts = (spoken([block]).lstrip() for block in blocks)
    return "\n\n".join(filter(None, map(_request, texts)))


def _request(text: str) -> str:
    """Of what an editor sends, the request: it stands last, and what is selected may spell such a heading as well."""
    if text.startswith(_OF_PROGRAM) or _PICTURE.fullmatch(text):
        return ""
    if text.startswith(_SETTING):
        *around, text = _REQUEST.split(text)
        text = text if around else ""
    own = parted(text)[0]
    return _REQUEST.sub("", own, count=1) if _REQUEST.match(own) else own


def _result(key: str, output: object, ts: float | None, call: str) -> Said:
    """A text, or an object that says whether it went well; older ones have that written out as JSON."""
    about = members(output) or (members(loaded(output)) if words(output).startswith('{"output"') else {})
    text = spoken(about.get("content", about.get("output"))) if about else spoken(output)
    is_error = about.get("success") is False or members(about.get("metadata")).get("exit_code") not in (
        None,
        0,
    )
    result, error = (None, text) if is_error else (text, None)
    return Said(key, "tool_result", "", ts, None, None, call, result, error)
