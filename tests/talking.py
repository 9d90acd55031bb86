"""Traces for tests: short ways to make them, and random conversations."""

from __future__ import annotations

from itertools import count
from typing import TYPE_CHECKING, Any, NamedTuple

from hypothesis import strategies as st

from looseleaf.base.messages import Trace

if TYPE_CHECKING:
    from looseleaf.base.messages import TraceType

_numbers = count(1)


def trace(kind: TraceType, text: str = "", turn: int = 1, call: str | None = None, **more: Any) -> Trace:
    number = next(_numbers)
    name = {"tool_name": "tool"} if kind.startswith("tool") else {}
    return Trace(
        f"{number:026d}",
        1_700_000_000.0 + number,
        f"turn_{turn:04d}",
        more.pop("seq", number),
        kind,
        text,
        "Event",
        more.pop("session", "s"),
        "user",
        **name | {"tool_call_id": call} | more,
    )


class Words(NamedTuple):
    """A long text, told in short: what is repeated, up to which size."""

    words: str
    size: int

    @property
    def text(self) -> str:
        return (self.words * (self.size // len(self.words) + 1))[: self.size]


def spelt_out(asked: Any) -> Any:
    """With every `Words` as the text it stands for."""
    if isinstance(asked, Words):
        return asked.text
    return {name: spelt_out(value) for name, value in asked.items()} if isinstance(asked, dict) else asked


@st.composite
def conversations(
    draw: st.DrawFn, texts: st.SearchStrategy[Any], max_turns: int = 12
) -> list[dict[str, Any]]:
    """What is recorded one after the other: parallel tools, late and missing results, empty texts, turns that were
    interrupted, results nobody asked for."""
    asked: list[dict[str, Any]] = []
    waiting: list[str] = []
    number = 0
    for _ in range(draw(st.integers(1, max_turns))):
        asked.append({"user": draw(texts)})
        for _ in range(draw(st.integers(0, 3))):
            for _ in range(draw(st.integers(1, 3))):
                number += 1
                waiting.append(f"call_{number}")
                asked.append(
                    {"tool_call": "look", "tool_args": {"at": draw(texts)}, "tool_call_id": waiting[-1]}
                )
            while waiting and draw(st.integers(0, 9)) < 8:
                call = waiting.pop(draw(st.integers(0, len(waiting) - 1)))
                error = draw(st.integers(0, 9)) == 0
                asked.append({("tool_error" if error else "tool_result"): draw(texts), "tool_call_id": call})
            if draw(st.integers(0, 9)) == 0:
                asked.append({"tool_result": draw(texts), "tool_call_id": "nobody's"})
        if draw(st.integers(0, 9)) < 8:
            asked.append({"assistant": draw(texts)})
    return asked
