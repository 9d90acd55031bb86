"""The screen Talk: sessions, their turns, and each compaction where it happened."""

from __future__ import annotations

from weakref import WeakKeyDictionary

from looseleaf.base.errors import NotFound, Refused
from looseleaf.base.immutable import frozen
from looseleaf.facts.known_facts import Tombstones
from looseleaf.log.journal import PERSON
from looseleaf.log.turns import as_text, pair_results
from looseleaf.memory.memory import as_agent
from looseleaf.serve.web.ask import ask
from looseleaf.serve.web.naming import naming_of
from looseleaf.serve.web.render import day, long_day, moment, page
from looseleaf.serve.web.wording import cut, first_sentence
from looseleaf.store import JOURNAL
from looseleaf.window.compaction_plan import Loss

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from typing import Any

    from starlette.requests import Request
    from starlette.responses import Response

    from looseleaf.base.messages import Session, Trace, Turn
    from looseleaf.base.values import Position
    from looseleaf.log.entries import Entry
    from looseleaf.memory import Memory
    from looseleaf.serve.web.ask import Screen
    from looseleaf.serve.web.naming import Naming

SESSIONS = 20
"""Sessions of a list."""
TURNS = 30
"""Turns of a session that are shown at once."""
LONGEST = 4_000
"""Characters of one text that are shown among others; its own address has all."""


# --- turns, as they are shown ------------------------------------------------------------


@frozen
class Said:
    """A message. `who`: the person who said it; "" for the agent. `rest`: how many characters are left out."""

    id: str
    ts: float
    who: str
    text: str
    rest: int
    reasoning: str
    media: tuple[str, ...]
    origin: str


@frozen
class Call:
    """A tool's call, with its result if there is one. `size`: the characters of the result."""

    id: str
    ts: float
    tool: str
    about: str
    args: str
    result: str | None
    rest: int
    size: int
    error: bool
    result_id: str


@frozen
class Compaction:
    """What left the window at this place. `entry`: where all of it still is; `why`: why its report cannot be shown."""

    ts: float
    entry: str
    loss: Loss | None
    why: str


@frozen
class ShownTurn:
    id: str
    ts: float
    items: tuple[Said | Call | Compaction, ...]


def show_turn(
    turn: Turn, marks: dict[str, list[Compaction]], naming: Naming, whole: bool = False, asked: str = ""
) -> ShownTurn:
    """Return a turn as it is shown: each call with its result, each compaction after the trace it followed. All texts
    are whole, or that of the trace that was asked for."""
    results, alone = pair_results(turn.traces)
    items: list[Said | Call | Compaction] = []
    for trace in turn.traces:
        if trace.trace_type == "tool_call":
            answer = results.get(trace.id)
            items.append(_call(trace, answer, whole or asked in (trace.id, answer.id if answer else "-")))
        elif trace.trace_type == "tool_result":
            items += [_call(None, trace, whole or asked == trace.id)] if trace.id in alone else []
        else:
            items.append(_said(trace, naming, whole or asked == trace.id))
        items += marks.get(trace.id, ())
    return ShownTurn(turn.turn_id, turn.ts, tuple(items))


def _said(trace: Trace, naming: Naming, whole: bool) -> Said:
    text, rest = _cut(trace.content, whole)
    media = tuple(f"{kind}: {each}" for kind, found in (trace.media or {}).items() for each in found)
    who = naming.who(trace.person) if trace.trace_type == "user" else ""
    reasoning = _cut(trace.reasoning or "", whole)[0]
    return Said(trace.id, trace.ts, who, text, rest, reasoning, media, trace.origin)


def _call(call: Trace | None, answer: Trace | None, whole: bool) -> Call:
    first = call or answer
    assert first is not None
    args = first.tool_args if call is not None else None
    told = [first.content] if call is not None and first.content else []
    told += [_args_text(args)] if args not in (None, {}, "") else []
    full = None if answer is None else "\n".join(filter(None, _result_texts(answer)))
    text, rest = (None, 0) if full is None else _cut(full, whole)
    return Call(
        first.id,
        first.ts,
        first.tool_name or "a tool",
        _about(args),
        _cut("\n".join(told), whole)[0],
        text,
        rest,
        len(full or ""),
        answer is not None and answer.tool_error is not None,
        answer.id if answer is not None else "",
    )


def _result_texts(answer: Trace) -> Iterator[str]:
    yield answer.content
    if answer.tool_result is not None:
        yield as_text(answer.tool_result)
    yield answer.tool_error or ""


def _args_text(args: Any) -> str:
    if isinstance(args, dict):
        return "\n".join(f"{name}: {as_text(value)}" for name, value in args.items())
    return as_text(args)


def _about(args: Any) -> str:
    """Return a call's first argument, in a few words."""
    first = next(iter(args.values()), "") if isinstance(args, dict) else args or ""
    text = " ".join(as_text(first).split())
    return cut(text, 60)


def _cut(text: str, whole: bool) -> tuple[str, int]:
    return (text, 0) if whole or len(text) <= LONGEST else (text[:LONGEST], len(text) - LONGEST)


# --- compactions -------------------------------------------------------------------------


class _Marks:
    """The compactions of a memory's agent, by the trace after which each happened. Reads what is new."""

    def __init__(self) -> None:
        self._edition: object = ()
        self._end: Position | None = None
        self._found: dict[str, list[dict[str, Any]]] = {}

    def of(self, memory: Memory, names: set[str]) -> dict[str, list[Compaction]]:
        store = memory.parts.context.store
        if (edition := store.edition()) != self._edition:  # a forget moved the records
            self._edition, self._end = edition, None
            self._found.clear()
        lines = store.read(JOURNAL, self._end) if self._end is not None else store.read(JOURNAL)
        for line in lines:
            self._end = line.end
            record = line.record
            if record.get("kind") == "mark" and record.get("agent") == memory.agent and record.get("since"):
                self._found.setdefault(str(record["since"]), []).append(record)
        return {
            name: [_compaction(memory, each) for each in self._found[name]]
            for name in names & self._found.keys()
        }


_MARKS: WeakKeyDictionary[Memory, _Marks] = WeakKeyDictionary()


def find_compactions(memory: Memory, turns: Sequence[Turn]) -> dict[str, list[Compaction]]:
    """Return the compactions that happened in these turns, by the trace that each followed."""
    marks = _MARKS.setdefault(memory, _Marks())
    return marks.of(memory, {trace.id for turn in turns for trace in turn.traces})


def _compaction(memory: Memory, mark: dict[str, Any]) -> Compaction:
    ts, entry = float(mark.get("ts") or 0.0), str(mark.get("entry") or "")
    if not entry:
        return Compaction(ts, "", None, "The window had become too long, and was cut here.")
    try:
        return Compaction(ts, entry, Loss.from_dict(memory.talk.entry(entry).meta["loss"]), "")
    except NotFound:
        return Compaction(ts, "", None, "What it was made of was forgotten.")
    except (Refused, KeyError, TypeError) as error:
        why = str(error) if isinstance(error, Refused) else "It left no report."
        return Compaction(ts, entry, None, why)


# --- the screens -------------------------------------------------------------------------


async def _sessions(request: Request) -> Response:
    agent, number = request.query_params.get("agent", ""), _page_number(request)

    def read(memory: Memory) -> dict[str, Any]:
        own, agents = of_agent(memory, agent)
        found = own.talk.sessions(number * SESSIONS + 1)
        newest = found[::-1]
        shown = newest[(number - 1) * SESSIONS : number * SESSIONS]
        return {
            "days": _by_day(shown),
            "is_more": len(newest) > number * SESSIONS,
            "agents": agents,
            "agent": own.agent,
            "number": number,
        }

    return page(request, "talk.html", **await ask(request, read))


def of_agent(memory: Memory, name: str) -> tuple[Memory, list[str]]:
    """Return the memory as one of its agents sees it, and the names of all of them. One that never talked is refused:
    looking makes no agent."""
    agents = sorted({memory.agent, *memory.talk.agents()})
    if name and name not in agents:
        raise NotFound("There is no agent of this name here.")
    return as_agent(memory, name or memory.agent), agents


def _by_day(sessions: Sequence[Session]) -> list[tuple[str, list[Session]]]:
    days: list[tuple[str, list[Session]]] = []
    for each in sessions:
        name = day(each.first_ts)
        if not days or days[-1][0] != name:
            days.append((name, []))
        days[-1][1].append(each)
    return days


def _page_number(request: Request) -> int:
    given = request.query_params.get("page", "1")
    return min(int(given), 10_000) if given.isascii() and given.isdigit() and int(given[:6]) else 1


async def _session(request: Request) -> Response:
    session, agent = request.path_params["session"], request.query_params.get("agent", "")
    number = _page_number(request)

    def read(memory: Memory) -> dict[str, Any]:
        own, _ = of_agent(memory, agent)
        turns = own.talk.turns(number * TURNS + 1, session=session)
        if not turns:
            raise NotFound(_explain_absence(memory, session))
        is_more = len(turns) > number * TURNS
        end = len(turns) - (number - 1) * TURNS
        own_turns = turns[max(0, end - TURNS) : max(0, end)]
        marks, naming = find_compactions(own, own_turns), naming_of(own)
        return {
            "turns": [show_turn(turn, marks, naming) for turn in own_turns],
            "session": session,
            "heading": _opening(own, session, turns, is_more),
            "agent": own.agent,
            "is_more": is_more,
            "number": number,
            "only": "",
        }

    return page(request, "talk_session.html", **await ask(request, read))


def _opening(memory: Memory, session: str, turns: Sequence[Turn], is_more: bool) -> str:
    """Return how a session began, as its title: from its first turn; of a long one from the list of the last ones."""
    if is_more:
        listed = memory.talk.sessions(_LISTED)
        opening = next((each.opening for each in listed if each.session_id == session), "")
    else:
        said = (each for turn in turns for each in turn.traces if each.trace_type == "user")
        opening = next((each.content for each in said), "")
    return first_sentence(opening[: 2 * LONGEST])


_LISTED = 50
"""Sessions, the newest, among which a long one is looked for."""


def _explain_absence(memory: Memory, session: str) -> str:
    since = Tombstones(memory.parts.context.store).since("session", session)
    if since is not None:
        return f"This session was forgotten on {long_day(day(since))}."
    return "There is no session of this name. It may have been forgotten, or be another agent's."


async def _turn(request: Request) -> Response:
    name, agent = request.path_params["turn"], request.query_params.get("agent", "")

    def read(memory: Memory) -> dict[str, Any]:
        own, _ = of_agent(memory, agent)
        try:
            turn = own.talk.turn(name)
        except NotFound:
            raise NotFound(
                f"There is no turn {name[:40]}. It was forgotten, or is another agent's."
            ) from None
        marks = find_compactions(own, [turn])
        return {
            "turns": [show_turn(turn, marks, naming_of(own), whole=True)],
            "session": turn.session_id,
            "heading": f"Talk of {moment(turn.ts)}",
            "agent": own.agent,
            "is_more": False,
            "number": 1,
            "only": turn.turn_id,
        }

    return page(request, "talk_session.html", **await ask(request, read))


def _name_of(trace: Trace, agent: str, naming: Naming) -> str:
    """Return who said something, and on which day, as a heading."""
    tool = trace.trace_type in ("tool_call", "tool_result")
    who = f"The tool {cut(trace.tool_name or '', 60)}".strip() if tool else agent
    who = naming.who(trace.person) if trace.trace_type == "user" else who
    return f"{who}, {long_day(day(trace.ts))}"


@frozen
class Written:
    """Words that were told outside of any talk. `is_own`: a person wrote them here; `who` did, if several may have."""

    text: str
    is_own: bool
    who: str


def _written(memory: Memory, entry: Entry, naming: Naming) -> Written:
    found = memory.parts.context.store.get(f"{entry.folder}/raw.md")
    if found is None:
        raise NotFound("What was told then is gone. It may have been forgotten.")
    is_own, person = entry.meta.get("origin") == PERSON, entry.meta.get("person")
    who = naming.who(person if isinstance(person, str) else None) if is_own and naming.is_shared() else ""
    return Written(found.data.decode("utf-8", "replace"), is_own, who)


async def _traces(request: Request) -> Response:
    """Show one trace whole, in its turn; or all that a compaction took."""
    name, agent = request.path_params["trace"], request.query_params.get("agent", "")

    def read(memory: Memory) -> dict[str, Any]:
        from looseleaf.log.turns import turns_of

        own, _ = of_agent(memory, agent)
        naming = naming_of(own)
        entry = own.talk.entry(name) if "/" in name else None
        written = (
            _written(memory, entry, naming) if entry is not None and not entry.meta.get("traces") else None
        )
        traces = own.talk.traces(name) if written is None else []
        turns = turns_of(traces) if entry is not None else [own.talk.turn(traces[0].turn_id)]
        return {
            "turns": [show_turn(turn, {}, naming, asked="" if entry is not None else name) for turn in turns],
            "heading": "What was distilled" if entry is not None else _name_of(traces[0], own.agent, naming),
            "session": traces[0].session_id if traces else "",
            "agent": own.agent,
            "entry": name if entry is not None else "",
            "summary": str(entry.summary.get("summary") or "") if entry is not None else "",
            "written": written,
            "trace": "" if entry is not None else name,
        }

    return page(request, "talk_traces.html", **await ask(request, read))


ROUTES: list[Screen] = [
    ("/talk", ["GET"], _sessions),
    ("/talk/turn/{turn}", ["GET"], _turn),
    ("/talk/trace/{trace:path}", ["GET"], _traces),
    ("/talk/session/{session:path}", ["GET"], _session),
]
