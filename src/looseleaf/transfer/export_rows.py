"""The facts and sessions of a memory as JSON lines.

Facts come with all their members, their source words and their past. Each fact occurs once: on a line of its own, or
in the `past` of the fact that replaced it. Forgotten facts do not occur. Sessions are messages in the shape of
OpenAI's Chat Completions, one line each.
"""

from __future__ import annotations

import json

from looseleaf.base.errors import NotFound
from looseleaf.base.messages import Trace
from looseleaf.base.paths import safe_name
from looseleaf.base.values import Position
from looseleaf.explain.sources import FactWords, SourcePlaces
from looseleaf.facts.ledger import copy_id, true_at
from looseleaf.log.talk_streams import TRACES, agent_of, is_imported, machine_of, talk_elsewhere
from looseleaf.log.turns import trace_text
from looseleaf.store.records import to_json

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from looseleaf.base.values import Fact
    from looseleaf.memory import Memory

    Run = tuple[int, int, int, int]
    """Consecutive lines of one session: the place of the first, and the end of the last."""


_MEDIA = {"images": "image_url", "audio": "audio_url", "video": "video_url"}


def message_lines(memory: Memory, agent: str | None = None) -> Iterator[bytes]:
    """Yield the sessions of an agent (None: of all), machine by machine in the order of their start, in pieces: the
    last piece of a session ends its line."""
    store = memory.parts.context.store
    streams = [*(name for name in store.streams() if name.startswith(TRACES)), *talk_elsewhere(store)]
    agents = sorted(set(map(agent_of, streams)))
    if agent is not None:
        if safe_name(agent, "agent's name") not in agents:
            there = f"Choose one of {', '.join(agents)}." if agents else "Record something first."
            raise NotFound(f"Nothing was exported: no agent {agent!r} has recorded anything. {there}")
        streams = [each for each in streams if agent_of(each) == agent]
    taken: dict[tuple[str, str], int] = {}
    for each in streams:
        machine = machine_of(each)
        about = {"agent": agent_of(each)} | ({"machine": machine} if machine else {})
        counts: dict[str, int] = {}
        for session, runs in _find_runs(memory, each, counts).items():
            item = agent_of(each), session
            if is_imported(session):
                if counts[session] <= taken.get(item, 0):
                    continue  # another machine imported it too
                taken[item] = counts[session]
            before = to_json({"session": session} | about)[:-1] + b',"messages":['
            for message in _messages_of(_read_traces(memory, each, session, runs)):
                yield before + to_json(message)
                before = b","
            yield b"]}\n"


def _find_runs(memory: Memory, stream: str, counts: dict[str, int]) -> dict[str, list[Run]]:
    """Return the runs of each session, and add its lines to `counts`."""
    found: dict[str, list[Run]] = {}
    before: str | None = None
    for line in memory.parts.context.store.read(stream):
        trace = Trace.from_record(line.record)
        if trace is None:
            continue
        runs = found.setdefault(trace.session_id, [])
        counts[trace.session_id] = counts.get(trace.session_id, 0) + 1
        if trace.session_id == before and runs[-1][2] == line.end.segment:
            runs[-1] = (*runs[-1][:2], *line.end)
        else:
            runs.append((*line.position, *line.end))
        before = trace.session_id
    return found


def _read_traces(memory: Memory, stream: str, session: str, runs: list[Run]) -> Iterator[Trace]:
    for segment, offset, *end in runs:
        for line in memory.parts.context.store.read(stream, Position(segment, offset)):
            if line.end > Position(*end):
                break
            trace = Trace.from_record(line.record)
            if trace is not None and trace.session_id == session:
                yield trace


def _messages_of(traces: Iterator[Trace]) -> Iterator[dict[str, Any]]:
    """Yield one message per trace; consecutive calls within a turn are one message, as a model sends them."""
    calls: list[Trace] = []
    for trace in traces:
        if calls and (trace.trace_type != "tool_call" or trace.turn_id != calls[-1].turn_id):
            yield _calls_message(calls)
            calls = []
        if trace.trace_type == "tool_call":
            calls.append(trace)
        else:
            yield _message_of(trace)
    if calls:
        yield _calls_message(calls)


def _message_of(trace: Trace) -> dict[str, Any]:
    if trace.trace_type == "tool_result":
        name = {} if trace.tool_name is None else {"name": trace.tool_name}
        call = {"role": "tool", "tool_call_id": trace.tool_call_id or trace.id}
        return call | name | {"content": trace_text(trace), "ts": trace.ts}
    message: dict[str, Any] = {"role": trace.trace_type, "content": _content_of(trace)}
    return message | _reasoning_of(trace) | {"ts": trace.ts}


def _reasoning_of(trace: Trace) -> dict[str, Any]:
    return {} if trace.reasoning is None else {"reasoning_content": trace.reasoning}


def _content_of(trace: Trace) -> str | list[dict[str, Any]]:
    """Return the text, or parts where pictures or recordings come with it."""
    parts = [
        {"type": kind, kind: {"url": address}}
        for name, kind in _MEDIA.items()
        for address in (trace.media or {}).get(name) or ()
    ]
    return [{"type": "text", "text": trace.content}, *parts] if parts else trace.content


def _calls_message(calls: list[Trace]) -> dict[str, Any]:
    text = "\n".join(call.content for call in calls if call.content)
    asked: list[dict[str, Any]] = []
    for call in calls:
        args = json.dumps({} if call.tool_args is None else call.tool_args, ensure_ascii=False)
        function = {"name": call.tool_name or "", "arguments": args}
        asked.append({"id": call.tool_call_id or call.id, "type": "function", "function": function})
    message: dict[str, Any] = {"role": "assistant", "content": text or None}
    return message | _reasoning_of(calls[0]) | {"tool_calls": asked, "ts": calls[0].ts}


SCHEMA = "fact.v1"


def fact_lines(memory: Memory) -> Iterator[bytes]:
    """Yield one line per fact, topic by topic."""
    memory.pages.absorb()
    memory.parts.known.catch_up()
    known = memory.parts.known
    places = SourcePlaces(memory.parts.context, known.all())
    for topic in sorted(known.topics):
        facts = known.of(topic)
        words = FactWords(memory.parts, places)
        for fact, past in _pair_with_past(facts):
            row = _row_of(fact, words) | {"past": [_row_of(each, words) for each in past]}
            yield to_json({"schema": SCHEMA} | row) + b"\n"


def _row_of(fact: Fact, words: FactWords) -> dict[str, Any]:
    """Return every member, also empty ones: readers need not know which may be missing."""
    members: dict[str, Any] = {name: getattr(fact, name) for name in type(fact).__match_args__}
    return members | {"tags": list(fact.tags), "sources": [source.to_dict() for source in words.of(fact)]}


def _pair_with_past(facts: list[Fact]) -> Iterator[tuple[Fact, list[Fact]]]:
    """Yield the facts of a topic, each with those that it replaced, the oldest first."""
    copies = {copy_id(fact.id) for fact in facts if fact.id}
    placed = {fact.id: fact for fact in true_at(facts)}  # of one that stands twice, what readers get
    left = (fact for fact in facts if fact.status != "forgotten" and fact.id not in copies)
    kept = {fact.id: placed.get(fact.id, fact) for fact in left}
    past: dict[str | None, list[Fact]] = {}
    for fact in kept.values():
        last = _current_of(fact, kept)
        if last is not fact:
            past.setdefault(last.id, []).append(fact)
    within = {fact.id for each in past.values() for fact in each}
    for fact in kept.values():
        if fact.id not in within:
            yield fact, sorted(past.get(fact.id, ()), key=_sort_key)


def _current_of(fact: Fact, kept: dict[str | None, Fact]) -> Fact:
    """Return the fact that replaced this one in the end; of facts that replaced each other in a ring, the newest."""
    passed: dict[str | None, Fact] = {}
    while fact.status == "superseded" and fact.superseded_by in kept and fact.id not in passed:
        passed[fact.id] = fact
        fact = kept[fact.superseded_by]
    if fact.id not in passed:
        return fact
    names = list(passed)
    return max((passed[name] for name in names[names.index(fact.id) :]), key=_sort_key)


def _sort_key(fact: Fact) -> tuple[str, float, str]:
    return fact.valid_from or "", fact.recorded_at or 0.0, fact.id or ""
