"""Recording, reading and distilling what was said and done.

Invariant: what a token without a voice records as a user's words counts as imported, so it is data, and waits.
"""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import Body, Path, Query
from pydantic import Field

from looseleaf.base.errors import Invalid, NotFound, Refused
from looseleaf.base.ids import new_id
from looseleaf.base.messages import Trace, Turn
from looseleaf.base.origins import FORBIDDEN, QUIET, RECALLED
from looseleaf.base.paths import USER, safe_name
from looseleaf.base.values import Position
from looseleaf.explain.writes import DISTILLED
from looseleaf.log.journal import PERSON
from looseleaf.log.recorder import ask, imported, stream_of
from looseleaf.place.remember_where import remember_in
from looseleaf.serve.rest import values
from looseleaf.serve.rest.cursors import Listing
from looseleaf.serve.rest.pages import repeat_proposal
from looseleaf.serve.rest.routes import Answer, Name, Read, Write, route
from looseleaf.tools.remember_recall import page_for
from looseleaf.tools.remember_recall import remember as propose_words

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from looseleaf.base.values import Receipt, Record
    from looseleaf.log.recorder import RecordRequest
    from looseleaf.memory import Memory

ORIGIN = "import:rest"
"""The origin of a user's words that nobody vouches for."""
_RAISING = frozenset({QUIET, RECALLED, FORBIDDEN})
"""Tags that the program believes: that a result brings nothing from outside, that the user forbids something."""
REMEMBERED = "remembered"
"""How the reason for an edit that notes a person's words begins."""
_MOST = 1_000
_TURNS = 40
"""Turns that become one entry."""

SessionName = Annotated[
    str | None,
    Query(
        min_length=1,
        max_length=100,
        description="The session to record in; without it, the last one of this agent goes on, or a new one begins.",
    ),
]


@route("POST", "/memories/{memory}/traces", "write", values.Traces, status=201)
async def record(
    memory: Name,
    asking: Write,
    body: Annotated[
        values.TraceToRecord | Annotated[list[values.TraceToRecord], Field(min_length=1, max_length=_MOST)],
        Body(),
    ],
    session: SessionName = None,
) -> Answer:
    """Record one trace, or many in order: all are durable when this answers. Secrets are redacted first."""
    given = body if isinstance(body, list) else [body]
    for each in given if not asking.has_voice else ():
        if not _RAISING.isdisjoint(each.tags):
            raise Invalid(
                f"Nothing was recorded: only a token with a voice may use the tags {', '.join(sorted(_RAISING))}."
            )
    name = safe_name(session, "session's name") if session is not None else None

    def act(memory: Memory) -> list[Trace]:
        return _record(memory, given, name, has_voice=asking.has_voice)

    def again(memory: Memory, found: list[Record]) -> list[Trace] | None:
        before = [trace for trace in map(Trace.from_record, found) if trace is not None]
        if not before:
            return None
        rest = given[len(before) :]
        for trace in before:
            memory.parts.heed(
                trace
            )  # the request may have been cut off before; a second time changes nothing
        later = _record(memory, rest, before[0].session_id, has_voice=asking.has_voice) if rest else []
        return [*before, *later]

    traces = await asking.write(act, again)
    asking.made(traces[0].id)
    return Answer({"traces": [trace.to_record() for trace in traces]}, 201)


def _record(
    memory: Memory, given: Sequence[values.TraceToRecord], session: str | None, *, has_voice: bool
) -> list[Trace]:
    recorder = memory.parts.conversation.recorder
    recorder.session = session
    if session is None:
        memory.talk.resume()
    if recorder.session is None:
        recorder.session = new_id()
    try:
        batch = memory.batch()
        batch.add(*(_request_of(each, recorder.session, has_voice=has_voice) for each in given))
        with batch:
            pass
        return batch.traces
    finally:
        # Many write here: an agent's pages are judged by all that was said to it lately.
        recorder.session = None


def _request_of(given: values.TraceToRecord, session: str, *, has_voice: bool) -> RecordRequest:
    named = given.model_dump(exclude_unset=True)
    asked = {name: value for name, value in named.items() if value is not None or name == "tool_result"}
    if "user" in asked and not has_voice:
        return imported(ORIGIN, session, **asked)
    return ask(**asked)


@route("GET", "/memories/{memory}/sessions", "read", values.listed(values.Session))
async def list_sessions(memory: Name, asking: Read, part: Listing) -> Answer:
    """List the sessions of the agent, the last one to begin first."""

    def read(memory: Memory) -> dict[str, Any]:
        count = 4 * part.limit
        while True:
            found = memory.talk.sessions(count)
            newest_first = sorted(found, key=lambda each: (each.first_ts, each.session_id), reverse=True)
            rest = part.skip(newest_first, lambda each: [each.first_ts, each.session_id], falls=True)
            if len(rest) > part.limit or len(found) < count:
                break
            count *= 4
        return part.from_found(
            rest, lambda each: [each.first_ts, each.session_id], lambda each: each.to_dict()
        )

    return Answer(await asking.read(read))


@route("GET", "/memories/{memory}/sessions/{session}/turns", "read", values.listed(values.Turn))
async def list_turns(
    memory: Name, session: Annotated[str, Path(max_length=200)], asking: Read, part: Listing
) -> Answer:
    """List the turns of a session, oldest first."""

    def read(memory: Memory) -> dict[str, Any]:
        found = memory.talk.turns(session=session)
        if not found:
            raise NotFound("There is no session of this name.")
        return part.of(found, lambda each: [each.traces[0].id], _turn)

    return Answer(await asking.read(read))


@route("GET", "/memories/{memory}/turns/{turn}", "read", values.Turn)
async def get_turn(memory: Name, turn: Annotated[str, Path(max_length=200)], asking: Read) -> Answer:
    """Get one turn, with late results."""
    return Answer(await asking.read(lambda memory: _turn(memory.talk.turn(turn))))


def _turn(turn: Turn) -> dict[str, Any]:
    told = {"turn_id": turn.turn_id, "session_id": turn.session_id, "ts": turn.ts}
    return told | {"traces": [trace.to_record() for trace in turn.traces]}


@route("GET", "/memories/{memory}/window", "read", values.Window)
async def get_window(memory: Name, asking: Read) -> Answer:
    """Get the talk that a model of this agent still sees. Nothing is compacted for it."""

    def read(memory: Memory) -> dict[str, Any]:
        window = memory.window.read()
        messages = [message.to_dict() for message in window.messages]
        tokens = memory.window.tokens(quick=True)
        return {"messages": messages, "tokens": tokens, "requested": memory.window.compaction_requested}

    return Answer(await asking.read(read))


@route("POST", "/memories/{memory}/compact", "write", values.Compacted)
async def compact(memory: Name, asking: Write, body: values.Compact) -> Answer:
    """Compact the window of the agent now; `dry_run` only says what would go."""

    def act(memory: Memory) -> dict[str, Any]:
        loss = memory.window.compact(model=body.model, dry_run=body.dry_run)
        return {"loss": loss.to_dict() if loss is not None else None}

    def again(memory: Memory, found: list[Record]) -> dict[str, Any] | None:
        marks = [each for each in found if each.get("kind") == "mark" and each.get("entry")]
        if not marks:
            return None
        try:
            loss = memory.talk.entry(str(marks[-1]["entry"])).meta.get("loss")
        except Refused:
            loss = None
        return {"loss": loss}

    return Answer(await asking.write(act, again))


@route("POST", "/memories/{memory}/remember", "write", values.Remembered, status=201)
async def remember(memory: Name, asking: Write, body: values.Remember) -> Answer:
    """Keep words now: from a token with a voice, as the user's own; else as an agent's proposal."""

    def act(memory: Memory) -> dict[str, Any]:
        if not asking.has_voice:
            return _proposed(memory, propose(memory))
        done = memory.remember(body.text, topic=body.topic)
        edits = [done.noted.id] if done.noted is not None and done.noted.changed else []
        return _kept(memory, done.placed.entry if done.placed is not None else None, edits)

    def propose(memory: Memory) -> Receipt:
        answer = propose_words(memory, {"topic": body.topic or USER, "content": body.text})
        if answer.receipt is None or answer.is_error:
            raise Refused(answer.text)
        return answer.receipt

    def again(memory: Memory, found: list[Record]) -> dict[str, Any] | None:
        if not asking.has_voice:
            path = page_for(memory, body.topic or USER)
            return _proposed(memory, repeat_proposal(memory, found, path, propose))
        entry = next(filter(None, map(_entry_in, found)), None)
        noted = (each for each in found if each.get("kind") == "edit" and each.get("author") == PERSON)
        edits = [str(each["id"]) for each in noted if str(each.get("reason")).startswith(REMEMBERED)]
        if entry is not None and not edits:  # the process may have died before it noted the rest
            text = memory.parts.redact(body.text)
            done = remember_in(memory.parts, text, body.topic, redacted=text != body.text, entry=entry)
            edits = [done.noted.id] if done.noted is not None and done.noted.changed else []
        return _kept(memory, entry, edits) if entry is not None or edits else None

    told = await asking.write(act, again)
    asking.made(told["entry"] or next(iter(told["edits"]), ""))
    return Answer(told, 201)


def _entry_in(record: Record) -> str | None:
    """Return the entry that a record places, or brings onto a page."""
    if record.get("kind") == "placed" and record.get("entry"):
        return str(record["entry"])
    written = DISTILLED.fullmatch(str(record.get("reason")))
    return written[1] if written is not None else None


def _proposed(memory: Memory, receipt: Receipt) -> dict[str, Any]:
    return _kept(memory, None, [receipt.id] if receipt.changed else [], receipt.held)


def _kept(
    memory: Memory, entry: str | None, edits: Sequence[str], held: Sequence[str] = ()
) -> dict[str, Any]:
    """Return what words became, as the memory has it now."""
    name = entry.rpartition("/")[2] if entry is not None else None
    facts = [
        fact.to_dict()
        for fact in memory.facts()
        if (name is not None and fact.entry_id == name)
        or any(source.rpartition("@")[2] in edits for source in fact.sources if "@" in source)
    ]
    return {"entry": entry, "edits": list(edits), "facts": facts, "held": list(held)}


@route("POST", "/memories/{memory}/distill", "write", values.Distilled, status=201)
async def distill(memory: Name, asking: Write, body: values.Distill) -> Answer:
    """Make memory of all settled talk of the agent that is not distilled yet; or of a text, whose facts wait in
    review."""

    def act(memory: Memory) -> list[str]:
        if body.text is not None:
            return [each.entry for each in memory.distill(body.text, topic=body.topic)]
        waiting = [each for turns in _unvouched(memory) for each in memory.distill(turns, topic=body.topic)]
        return [each.entry for each in (*waiting, *memory.distill(topic=body.topic))]

    def again(memory: Memory, found: list[Record]) -> list[str] | None:
        before = [str(each["entry"]) for each in found if each.get("kind") == "placed" and each.get("entry")]
        if body.text is not None:
            return before or None
        return list(dict.fromkeys((*before, *act(memory))))  # what is left of it

    entries = await asking.write(act, again)
    asking.made(entries[0] if entries else None)
    return Answer({"entries": entries}, 201)


def _unvouched(memory: Memory) -> Iterator[list[Turn]]:
    """Yield the user's words that nobody vouches for, since the last distillation, some turns at a time:
    distilling leaves them out, as it does all that is imported. Given by themselves, their facts wait in review."""
    through = Position(*memory.parts.pages.absorb.agent(memory.agent).through)
    turns: dict[str, list[Trace]] = {}
    for line in memory.parts.context.store.read(stream_of(memory.agent), through):
        trace = Trace.from_record(line.record)
        if trace is not None and trace.origin == ORIGIN and trace.trace_type == "user":
            turns.setdefault(trace.turn_id, []).append(trace)
    found = [Turn(name, tuple(traces)) for name, traces in turns.items()]
    for first in range(0, len(found), _TURNS):
        yield found[first : first + _TURNS]
