"""Trim: the part of a window that a prompt shows where there is no room for all of it, and no compaction is made."""

from __future__ import annotations

from looseleaf.conversation.window import costs_of
from looseleaf.core.window import MESSAGE_TOKENS, guard
from looseleaf.talk import Message

TYPE_CHECKING = False
if TYPE_CHECKING:
    from looseleaf.conversation.window import Count, Window
    from looseleaf.values import Record

_LEAST = 8
"""Characters that are worth showing."""


def trimmed(window: Window, asked_at: int | None, room: int, count: Count) -> tuple[Record | None, int]:
    """Which messages, and what they cost beside the task: the last turns that fit, whole; else the task alone (it is
    never cut), or the end of the last message. None: all of them."""
    messages = window.messages
    costs = costs_of(messages, count)
    own = costs[asked_at] if asked_at is not None else 0
    if sum(costs) - own <= room:
        return None, sum(costs) - own
    last_start = len(messages) if asked_at is None else asked_at
    starts = [
        at
        for at in range(window.begins, last_start + 1)
        if at == len(messages) or messages[at].role == "user"
    ]
    for first in starts:
        if sum(costs[first:]) - own <= room and first < len(messages):
            return {"first": first, "end": len(messages)}, sum(costs[first:]) - own
    if asked_at is not None:
        return {"first": asked_at, "end": asked_at + 1}, 0
    last = messages[-1]
    # Not the end of a snapshot: its fences would be closed and never opened.
    if last.content and last.tool_payload is None and len(messages) > window.begins:
        text = _end(last.content, room - MESSAGE_TOKENS, count)
        if len(text) >= _LEAST:
            cost = costs_of([Message(last.role, text)], count)[0]
            return {"first": len(messages) - 1, "end": len(messages), "text": text}, cost
    return {"first": len(messages), "end": len(messages)}, 0


def _end(text: str, tokens: int, count: Count) -> str:
    """As much of the end of a text as so many tokens hold."""

    def end(size: int) -> str:
        # Guarded again: the cut may part a heading from its backslash.
        return guard(f"…{text[-size:]}")

    low, high = 0, min(len(text), max(0, tokens) * 16)
    while low < high:
        middle = (low + high + 1) // 2
        if count([end(middle)])[0] <= tokens:
            low = middle
        else:
            high = middle - 1
    return end(low) if low else ""
