"""What was said, as messages in the shape of OpenAI's Chat Completions: one line of JSON a session.

`{"session":…,"agent":…,"messages":[…]}`; beside what the API knows, `ts` says when a message was said. Words are as the
log has them: nothing is mended for a provider, and a call that was never answered stays so. Sessions of one agent may
take turns in its log; so the log is gone through once to see where each session stands, and then session by session.
Neither the log nor a session is ever held whole.
"""

from __future__ import annotations

import json

from looseleaf.base.errors import Refused
from looseleaf.base.messages import Trace
from looseleaf.base.page_paths import safe_name
from looseleaf.base.values import Position
from looseleaf.log.recorder import stream_of
from looseleaf.log.trace_messages import said
from looseleaf.store.records import to_json

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from looseleaf.memory import Memory

    Run = tuple[int, int, int, int]
    """Where lines of one session stand in a row: the place of the first, and the end of the last."""

TRACES = "traces/"
"""How the names of streams of talk begin; the agent's follows."""

_MEDIA = {"images": "image_url", "audio": "audio_url", "video": "video_url"}


def message_lines(memory: Memory, agent: str | None = None) -> Iterator[bytes]:
    """The sessions of an agent (None: of all), in the order in which they began; in pieces, of which the last of a
    session ends its line."""
    agents = [name.removeprefix(TRACES) for name in memory.store.streams() if name.startswith(TRACES)]
    if agent is not None:
        if safe_name(agent, "agent's name") not in agents:
            there = f"There are: {', '.join(agents)}." if agents else "Nobody has recorded anything yet."
            raise Refused(f"Nothing was exported: no agent {agent!r} has recorded anything. {there}")
        agents = [agent]
    for each in agents:
        for session, runs in _sessions(memory, each).items():
            yield from _line(memory, each, session, runs)


def _sessions(memory: Memory, agent: str) -> dict[str, list[Run]]:
    found: dict[str, list[Run]] = {}
    before: str | None = None
    for line in memory.store.read(stream_of(agent)):
        trace = Trace.from_record(line.record)
        if trace is None:
            continue
        runs = found.setdefault(trace.session_id, [])
        if trace.session_id == before and runs[-1][2] == line.end.segment:
            runs[-1] = (*runs[-1][:2], *line.end)
        else:
            runs.append((*line.position, *line.end))
        before = trace.session_id
    return found


def _traces(memory: Memory, agent: str, session: str, runs: list[Run]) -> Iterator[Trace]:
    for segment, offset, *end in runs:
        for line in memory.store.read(stream_of(agent), Position(segment, offset)):
            if line.end > Position(*end):
                break
            trace = Trace.from_record(line.record)
            if trace is not None and trace.session_id == session:
                yield trace


def _line(memory: Memory, agent: str, session: str, runs: list[Run]) -> Iterator[bytes]:
    before = to_json({"session": session, "agent": agent})[:-1] + b',"messages":['
    for message in _messages(_traces(memory, agent, session, runs)):
        yield before + to_json(message)
        before = b","
    yield b"]}\n"


def _messages(traces: Iterator[Trace]) -> Iterator[dict[str, Any]]:
    """One message a trace; calls that follow each other within a turn are one message, as a model sends them."""
    calls: list[Trace] = []
    for trace in traces:
        if calls and (trace.trace_type != "tool_call" or trace.turn_id != calls[-1].turn_id):
            yield _called(calls)
            calls = []
        if trace.trace_type == "tool_call":
            calls.append(trace)
        else:
            yield _said(trace)
    if calls:
        yield _called(calls)


def _said(trace: Trace) -> dict[str, Any]:
    if trace.trace_type == "tool_result":
        name = {} if trace.tool_name is None else {"name": trace.tool_name}
        call = {"role": "tool", "tool_call_id": trace.tool_call_id or trace.id}
        return call | name | {"content": said(trace), "ts": trace.ts}
    message: dict[str, Any] = {"role": trace.trace_type, "content": _content(trace)}
    return message | _thought(trace) | {"ts": trace.ts}


def _thought(trace: Trace) -> dict[str, Any]:
    return {} if trace.reasoning is None else {"reasoning_content": trace.reasoning}


def _content(trace: Trace) -> str | list[dict[str, Any]]:
    """One text, or parts where there are pictures or recordings beside it."""
    parts = [
        {"type": kind, kind: {"url": address}}
        for name, kind in _MEDIA.items()
        for address in (trace.media or {}).get(name) or ()
    ]
    return [{"type": "text", "text": trace.content}, *parts] if parts else trace.content


def _called(calls: list[Trace]) -> dict[str, Any]:
    text = "\n".join(call.content for call in calls if call.content)
    asked = [
        {
            "id": call.tool_call_id or call.id,
            "type": "function",
            "function": {"name": call.tool_name or "", "arguments": _arguments(call)},
        }
        for call in calls
    ]
    message: dict[str, Any] = {"role": "assistant", "content": text or None}
    return message | _thought(calls[0]) | {"tool_calls": asked, "ts": calls[0].ts}


def _arguments(call: Trace) -> str:
    return json.dumps({} if call.tool_args is None else call.tool_args, ensure_ascii=False)
