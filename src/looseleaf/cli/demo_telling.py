"""Telling the story to a memory: recorded line by line as of then, as a program with an agent would have done it."""

from __future__ import annotations

from looseleaf.base.clock import at
from looseleaf.cli.demo_story import Assistant, Session, Tool, User, Write
from looseleaf.memory import Memory

TYPE_CHECKING = False
if TYPE_CHECKING:
    from looseleaf.cli.demo_story import Line

_PACE = 40.0
"""Seconds from one line to the next: people take their time."""


def begins(session: Session) -> float:
    """When it began, by the clock on the wall here."""
    from looseleaf.text.given_times import parse_when

    return parse_when(session.begins, start=True)


def tell(home: str, session: Session) -> float:
    """Record a session. When it was over."""
    ts = begins(session)
    with Memory(home, session=session.id) as memory:
        for number, line in enumerate(session.happened):
            ts += _PACE
            with at(ts, f"{session.id} {number}"):
                _record(memory, line, f"call_{number}", ts)
    return ts


def _record(memory: Memory, line: Line, call_id: str, ts: float) -> None:
    from looseleaf.tools.toolset import call

    match line:
        case User(text):
            memory.record(user=text, ts=ts)
        case Assistant(text):
            memory.record(assistant=text, ts=ts)
        case Tool(name, args, result):
            memory.record(tool_call=name, tool_args=dict(args), tool_call_id=call_id, ts=ts)
            _answer(memory, result, call_id, ts + 1)
        case Write(name, args):
            memory.record(tool_call=name, tool_args=dict(args), tool_call_id=call_id, ts=ts)
            _answer(memory, call(memory, name, dict(args)).text, call_id, ts + 1)


def _answer(memory: Memory, text: str, call_id: str, ts: float) -> None:
    with at(ts, f"{call_id} answered"):
        memory.record(tool_result=text, tool_call_id=call_id, ts=ts)
