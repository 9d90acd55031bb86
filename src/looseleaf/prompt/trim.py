"""Trim: the part of a window that a prompt shows where there is no room for all of it, and no compaction is made."""

from __future__ import annotations

from looseleaf.base.messages import Message, ToolResultPayload
from looseleaf.log.trace_messages import MESSAGE_TOKENS, guard, texts_of
from looseleaf.prompt.fit import largest
from looseleaf.window.window import costs_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from looseleaf.base.values import Record
    from looseleaf.window.window import Count, Window

_LEAST = 8
"""Characters that are worth showing."""

_CALL_TOKENS = 16
"""What the name and the id of a call cost, about; it is counted afterwards."""


def trimmed(window: Window, asked_at: int | None, room: int, count: Count) -> tuple[Record | None, int]:
    """Which messages, and what they cost beside the task: the last turns that fit, whole; else the task alone (it is
    never cut), or the end of the last message. None: all of them."""
    messages = window.messages
    costs = costs_of(messages, count)
    own = costs[asked_at] if asked_at is not None else 0
    total = sum(costs)
    if total - own <= room:
        return None, total - own
    last_start = len(messages) if asked_at is None else asked_at
    starts = [
        at
        for at in range(window.begins, last_start + 1)
        if at == len(messages) or messages[at].role == "user"
    ]
    left = total - own
    at = 0
    for first in starts:
        left -= sum(costs[at:first])
        at = first
        if left <= room and first < len(messages):
            return {"first": first, "end": len(messages)}, left
    if asked_at is not None:
        return _shortened(messages, costs, asked_at, room, count) or (
            {"first": asked_at, "end": asked_at + 1},
            0,
        )
    last = messages[-1]
    # Not the end of a snapshot: its fences would be closed and never opened.
    if last.content and last.tool_payload is None and len(messages) > window.begins:
        text = _end(last.content, room - MESSAGE_TOKENS, count)
        if len(text) >= _LEAST:
            cost = costs_of([Message(last.role, text)], count)[0]
            return {"first": len(messages) - 1, "end": len(messages), "text": text}, cost
    return {"first": len(messages), "end": len(messages)}, 0


def _shortened(
    messages: Sequence[Message], costs: Sequence[int], asked_at: int, room: int, count: Count
) -> tuple[Record, int] | None:
    """The turn that goes on, with what its tools returned made short enough; None where that says nothing any more."""
    turn = range(asked_at + 1, len(messages))
    results = [at for at in turn if isinstance(messages[at].tool_payload, ToolResultPayload)]
    each = (room - sum(costs[at] for at in turn if at not in results)) // max(1, len(results))
    short: dict[str, str] = {}
    total = sum(costs[at] for at in turn)
    for at in results:
        if costs[at] > each:
            text = list(texts_of(messages[at]))[-1]
            made = shorter(messages[at], _beginning(text, each - 2 * _CALL_TOKENS, count))
            if made is None:
                return None
            short[str(at)] = made.tool_payload.tool_result  # type: ignore[union-attr]
            total += costs_of([made], count)[0] - costs[at]
    if not short or total > room:
        return None
    return {"first": asked_at, "end": len(messages), "short": short}, total


def shorter(message: Message, text: str) -> Message | None:
    """A tool's message with this text in place of what the tool returned; None if there is no text."""
    payload = message.tool_payload
    if not text or not isinstance(payload, ToolResultPayload):
        return None
    return Message(
        "tool", None, tool_payload=ToolResultPayload(payload.tool_call_id, payload.tool_name, text)
    )


def _beginning(text: str, tokens: int, count: Count) -> str:
    """As much of the beginning of a text as so many tokens hold."""
    size = largest(0, _longest(text, tokens), lambda size: count([f"{text[:size]}…"])[0] <= tokens)
    return f"{text[:size]}…" if size >= _LEAST else ""


def _end(text: str, tokens: int, count: Count) -> str:
    """As much of the end of a text as so many tokens hold."""

    def end(size: int) -> str:
        # Guarded again: the cut may part a heading from its backslash.
        return guard(f"…{text[-size:]}")

    size = largest(0, _longest(text, tokens), lambda size: count([end(size)])[0] <= tokens)
    return end(size) if size else ""


def _longest(text: str, tokens: int) -> int:
    """Characters that so many tokens hold at most, nearly always: where looking begins."""
    return min(len(text), max(0, tokens) * 16)
