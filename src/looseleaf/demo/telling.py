"""Telling the story to a memory: recorded line by line with the times of then, as a program with an agent would."""

from __future__ import annotations

from looseleaf.demo.story import Assistant, Session, Tool, User, Write
from looseleaf.memory import Memory

_PACE = 40.0
"""Seconds from one line to the next: people take their time."""


def tell(home: str, session: Session) -> None:
    from looseleaf.history import parse_when
    from looseleaf.tools.toolset import call

    ts = parse_when(session.begins, start=True)
    with Memory(home, session=session.id) as memory:
        for number, line in enumerate(session.happened):
            ts += _PACE
            call_id = f"call_{number}"
            match line:
                case User(text):
                    memory.record(user=text, ts=ts)
                case Assistant(text):
                    memory.record(assistant=text, ts=ts)
                case Tool(name, args, result):
                    memory.record(tool_call=name, tool_args=dict(args), tool_call_id=call_id, ts=ts)
                    memory.record(tool_result=result, tool_call_id=call_id, ts=ts + 1)
                case Write(name, args):
                    memory.record(tool_call=name, tool_args=dict(args), tool_call_id=call_id, ts=ts)
                    answer = call(memory, name, dict(args))
                    memory.record(tool_result=answer.text, tool_call_id=call_id, ts=ts + 1)
