"""Traces as messages for a model: a snapshot after a compaction, then one message after another.

Between two compactions the list only grows, byte for byte: a provider's cache pays for an unchanged beginning. Only
the last message may still change, while calls of one answer are being recorded. No text in a trace can look like a
heading of the snapshot.
"""

from __future__ import annotations

import json
import re
from functools import cache

from looseleaf.base.immutable import Replaceable, frozen
from looseleaf.base.messages import Message, ToolCallPayload, ToolCallSpec, ToolResultPayload
from looseleaf.log.turns import turn_number, turns_of
from looseleaf.text import untrusted
from looseleaf.text.untrusted import GAP, escaped, spelt

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from typing import Any

    from looseleaf.base.messages import MessageRole, Trace, TraceType
    from looseleaf.base.values import Record

EPISODIC = "[MEMORY:EPISODIC]"
SEMANTIC = "[MEMORY:SEMANTIC]"
RECENT = "[RECENT TURNS]"

MESSAGE_TOKENS = 4
"""Tokens a provider adds to each message for its role and its ends."""

OPAQUE_CHARS = 4
"""Characters of a provider's opaque data counted as one token."""

MEDIUM_TOKENS = 1100
"""Tokens of a picture, roughly: a large one, in tiles, at the providers that publish it."""


@cache
def _heading_pattern() -> re.Pattern[str]:
    """Match `[MEMORY:`, which begins every heading of a prompt, and the heading of the last turns. Compiled on first
    use: recording never needs it."""
    recent = rf"{spelt('RECENT')}[\x00-\x20\x7f_-]*+{spelt('TURNS')}{GAP}\]"
    return re.compile(rf"(?<!\\)\[(?={GAP}(?:{spelt('MEMORY')}{GAP}:|{recent}))")


LABELS: dict[TraceType, str] = {
    "user": "User",
    "assistant": "Assistant",
    "tool_call": "Tool call",
    "tool_result": "Tool result",
}


@frozen
class Mark(Replaceable):
    """Where the window begins since the last compaction, and what replaces the talk before.

    `start`: the place and id of the trace to read from; `far`: places and ids of open calls before it. Of the traces
    up to `since` (whose place is `until`), those in `tail` are shown as text, those in `held` as messages, the others
    not at all; `short` has the stand-ins for those that are too long.
    """

    id: str
    agent: str
    entry: str | None
    since: str
    until: tuple[int, int]
    start: tuple[int, int, str]
    far: tuple[tuple[int, int, str], ...] = ()
    tail: tuple[str, ...] = ()
    held: tuple[str, ...] = ()
    short: tuple[tuple[str, str], ...] = ()
    episodic: tuple[tuple[str, str], ...] = ()
    semantic: tuple[str, ...] = ()

    def to_record(self) -> Record:
        return {"kind": "mark"} | {name: _lists_of(getattr(self, name)) for name in Mark.__match_args__[1:]}

    @classmethod
    def from_record(cls, record: Record) -> Mark:
        """Read a mark; KeyError, TypeError or ValueError if it is malformed."""
        return cls(
            str(record["id"]),
            str(record["agent"]),
            record["entry"],
            str(record["since"]),
            (int(record["until"][0]), int(record["until"][1])),
            _parse_place(record["start"]),
            tuple(_parse_place(each) for each in record["far"]),
            tuple(map(str, record["tail"])),
            tuple(map(str, record["held"])),
            tuple((str(trace), str(text)) for trace, text in record["short"]),
            tuple((str(entry), str(text)) for entry, text in record["episodic"]),
            tuple(map(str, record["semantic"])),
        )


def _lists_of(value: Any) -> Any:
    return [_lists_of(each) for each in value] if isinstance(value, tuple) else value


def _parse_place(raw: Any) -> tuple[int, int, str]:
    segment, offset, trace = raw
    return int(segment), int(offset), str(trace)


def guard(text: str) -> str:
    """Escape what reads as a heading of the snapshot."""
    return escaped(text, _heading_pattern(), "[")


def guard_value(value: Any) -> Any:
    """Escape headings in lists and objects too, also in keys, which a provider writes out."""
    if isinstance(value, str):
        return guard(value)
    if isinstance(value, dict):
        guarded: dict[str, Any] = {}
        for key, each in value.items():
            name = guard(key)
            while name in guarded:  # two keys that differed by the backslash alone
                name = f"\\{name}"
            guarded[name] = guard_value(each)
        return guarded
    return [guard_value(each) for each in value] if isinstance(value, list) else value


def messages_of(traces: Iterable[Trace], short: Mapping[str, str] | None = None) -> list[Message]:
    """Return a message per trace; adjacent calls within a turn are one answer of the model, so one message."""
    found: list[Message] = []
    extend(found, traces, short)
    return found


def extend(
    messages: list[Message],
    traces: Iterable[Trace],
    short: Mapping[str, str] | None = None,
    before: Trace | None = None,
) -> None:
    """Append the messages of `traces`; `before` is the trace of the last message."""
    for trace in traces:
        message = message_of(trace, (short or {}).get(trace.id))
        is_call = before is not None and before.trace_type == trace.trace_type == "tool_call"
        if is_call and before is not None and before.turn_id == trace.turn_id:
            calls = (*_calls_of(messages[-1]), *_calls_of(message))
            texts = [text for text in (messages[-1].content, message.content) if text]
            joined = guard("\n".join(texts)) or None
            messages[-1] = Message("assistant", joined, tool_payload=ToolCallPayload(calls))
        else:
            messages.append(message)
        before = trace


def _calls_of(message: Message) -> tuple[ToolCallSpec, ...]:
    return message.tool_payload.tool_calls if isinstance(message.tool_payload, ToolCallPayload) else ()


def message_of(trace: Trace, short: str | None = None) -> Message:
    """Return a trace's message. `short` replaces its text, arguments or result."""
    content = guard(short if short is not None else trace.content)
    names = guard(trace.tool_call_id or trace.id), guard(trace.tool_name or "")
    if trace.trace_type == "tool_call":
        arguments = {} if trace.tool_args is None else guard_value(trace.tool_args)
        if short is not None:
            arguments, content = {"left_out": content}, ""
        call = ToolCallSpec(*names, arguments, trace.opaque if short is None else None)
        return Message("assistant", content or None, tool_payload=ToolCallPayload((call,)))
    if trace.trace_type == "tool_result":
        result = guard_value(trace.tool_result) if short is None else None
        if content:  # a stand-in, or a tool's words beside (or instead of) a value
            result = content if result is None else {"content": content, "result": result}
        error = guard(trace.tool_error) if trace.tool_error is not None else None
        if short is not None and error is not None:
            result, error = None, content
        return Message("tool", None, tool_payload=ToolResultPayload(*names, result, error))
    reasoning = guard(trace.reasoning) if trace.reasoning is not None and short is None else None
    addresses = ((trace.media or {}).get(kind) or () for kind in ("images", "audio", "video"))
    images, audio, video = (tuple(guard(str(each)) for each in own) for own in addresses)
    opaque = trace.opaque if short is None else None
    role: MessageRole = "user" if trace.trace_type == "user" else "assistant"
    return Message(role, content, reasoning, images, audio, video, opaque=opaque)


def texts_of(message: Message) -> Iterator[str]:
    """Yield every text of a message as the model will read it."""
    for text in (message.content, message.reasoning_content):
        if text:
            yield text
    payload = message.tool_payload
    if isinstance(payload, ToolCallPayload):
        for call in payload.tool_calls:
            yield f"{call.id} {call.name} {as_text(call.arguments)}"
    elif payload is not None:
        yield f"{payload.tool_call_id} {payload.tool_name} {as_text(payload.tool_result)}"
        if payload.tool_error is not None:
            yield payload.tool_error


def media_tokens(message: Message) -> int:
    """Return the tokens that no vocabulary counts: media, and a provider's opaque data."""
    media = len(message.image_urls) + len(message.audio_urls) + len(message.video_urls)
    sealed = [message.opaque, *(call.opaque for call in _calls_of(message))]
    return MEDIUM_TOKENS * media + sum(len(as_text(each)) for each in sealed if each) // OPAQUE_CHARS


def as_text(value: Any) -> str:
    """Return a value as providers get it: text as it is, anything else as compact JSON."""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def snapshot(mark: Mark, tail: Sequence[Trace]) -> Message | None:
    """Return what a compaction kept: summaries, facts, and the last turns as they were."""
    short = dict(mark.short)
    parts = []
    word = untrusted.word(mark.id)
    if mark.episodic:
        # A summary may quote a tool's result.
        texts = enumerate((_indent_lines(text, 3) for _, text in mark.episodic), 1)
        summaries = untrusted.inert("\n".join(f"{number}) {text}" for number, text in texts), word)
        fence = untrusted.notice(word), untrusted.opened(word)
        parts.append("\n".join((EPISODIC, *fence, summaries, untrusted.closed(word))))
    if mark.semantic:
        lines = (f"- {untrusted.inert(_one_line(text), word)}" for text in mark.semantic)
        parts.append("\n".join((SEMANTIC, *lines)))
    if tail:
        is_foreign = any(trace.trace_type == "tool_result" for trace in tail)
        notice = (untrusted.notice(word),) if is_foreign and not mark.episodic else ()
        parts.append("\n".join((RECENT, *notice, *recent_lines(tail, short, word))))
    return Message("user", "\n\n".join(parts)) if parts else None


def recent_lines(tail: Sequence[Trace], short: Mapping[str, str], word: str) -> Iterator[str]:
    """Yield the last turns as text. Tool results are fenced: here no message of their own marks them as such."""
    for turn in turns_of(tail):
        yield f"Turn {turn_number(turn.turn_id) or _one_line(turn.turn_id)}:"
        for trace in turn.traces:
            show = untrusted.fenced if trace.trace_type == "tool_result" else untrusted.inert
            text = show(said(trace, short.get(trace.id)), word)
            yield f"  {LABELS[trace.trace_type]}: {_indent_lines(text, 4)}"


def said(trace: Trace, short: str | None = None) -> str:
    """Return a trace as one text. `short` replaces what is too long; a tool's name always stays."""
    name = trace.tool_name or ""
    if trace.trace_type == "tool_call":
        arguments = as_text({} if trace.tool_args is None else trace.tool_args)
        parts = (name, arguments, trace.content) if short is None else (name, short)
        return " ".join(part for part in parts if part)
    if trace.trace_type == "tool_result":
        if short is not None:
            return short
        lines = [trace.content] if trace.content else []
        if trace.tool_error is not None:
            lines.append(f"error: {trace.tool_error}")
        if trace.tool_result is not None or not lines:
            lines.append(as_text(trace.tool_result))
        return "\n".join(lines)
    media = sum(map(len, (trace.media or {}).values()))
    with_media = f" (with {media} pictures or recordings)" if media else ""
    return (short if short is not None else trace.content) + with_media


def _indent_lines(text: str, indent: int) -> str:
    """Indent all lines but the first, so that none stands where a heading or a label would."""
    return f"\n{' ' * indent}".join(guard(text).splitlines())


def _one_line(text: str) -> str:
    return " ".join(guard(text).split())
