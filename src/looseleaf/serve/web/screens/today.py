"""The screen Today: the journal as a timeline, a day at a time; and a place to tell the memory something."""

from __future__ import annotations

import re
import shlex
import time
from weakref import WeakKeyDictionary

from looseleaf.base.errors import NotFound, Refused
from looseleaf.base.immutable import frozen
from looseleaf.base.values import START
from looseleaf.log.journal import AGENT, DISTILLED, PROGRAM, edit_of
from looseleaf.serve.problems import status_of
from looseleaf.serve.web.ask import ask
from looseleaf.serve.web.deciding import newest
from looseleaf.serve.web.forms import Note, done, read_form
from looseleaf.serve.web.render import day, page, shown, until
from looseleaf.serve.web.screens.known import Known, replaced
from looseleaf.serve.web.wording import cut
from looseleaf.store import JOURNAL
from looseleaf.text.times import moment

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from starlette.requests import Request
    from starlette.responses import Response

    from looseleaf.base.messages import Session
    from looseleaf.base.values import Edit, Fact, Position, Record
    from looseleaf.memory import Memory
    from looseleaf.place.distill_and_place import Remembered
    from looseleaf.serve.web.ask import Screen

MOST = 120
"""What is shown of a day at once."""
_SESSIONS = 50
"""Sessions, the newest, among which a day's are looked for."""
ARCHIVE = "-archive"
"""The end of a topic's name whose findings are no longer used."""
_TOLD = 300
"""Characters of what was remembered that are told again."""
_DAY = re.compile(r"\d{4}-\d\d-\d\d")


# --- the journal, by days ----------------------------------------------------------------


class JournalDays:
    """Where in a memory's journal each day is. Reads what is new; the records themselves are read when asked for."""

    def __init__(self) -> None:
        self._edition: object = ()
        self._end = START
        self._spans: dict[str, list[tuple[Position, Position]]] = {}

    def catch_up(self, memory: Memory) -> None:
        store = memory.parts.context.store
        if (edition := store.edition()) != self._edition:  # a forget moved the records
            self._edition, self._end = edition, START
            self._spans.clear()
        last = ""
        for line in store.read(JOURNAL, self._end):
            self._end = line.end
            if line.record.get("kind") in ("init", "flag"):
                continue  # nothing was learnt, said or changed
            name = day(float(line.record.get("ts") or 0.0))
            spans = self._spans.setdefault(name, [])
            if spans and (name == last or spans[-1][1] == line.position):
                spans[-1] = (spans[-1][0], line.end)
            else:
                spans.append((line.position, line.end))
            last = name

    @property
    def names(self) -> list[str]:
        return sorted(self._spans)

    def records(self, memory: Memory, name: str) -> list[Record]:
        """Return the records of a day, oldest first."""
        found: list[Record] = []
        for begin, end in self._spans.get(name, ()):
            for line in memory.parts.context.store.read(JOURNAL, begin):
                if line.position >= end:
                    break
                if day(float(line.record.get("ts") or 0.0)) == name:
                    found.append(line.record)
        return found


_DAYS: WeakKeyDictionary[Memory, JournalDays] = WeakKeyDictionary()


# --- one day -----------------------------------------------------------------------------


@frozen
class Event:
    """Something that happened: `kind` says which line of the timeline it is."""

    ts: float
    kind: str
    known: Known | None = None
    edit: Edit | None = None
    session: Session | None = None
    entry: str = ""
    text: str = ""
    count: int = 0
    paths: tuple[str, ...] = ()
    person: str = ""
    """Who decided, where several people are told apart."""


def read_day(memory: Memory, wanted: str) -> dict[str, Any]:
    """Return what a day brought; "": the last day that brought something."""
    days = _DAYS.setdefault(memory, JournalDays())
    days.catch_up(memory)
    sessions = memory.talk.sessions(_SESSIONS)
    names = sorted(
        {*days.names, *(day(each.first_ts) for each in sessions), *(day(each.last_ts) for each in sessions)}
    )
    today = day(time.time())
    name = wanted or (names[-1] if names else today)
    current, past = memory.facts(), memory.facts(status="superseded")
    was = replaced(past)
    learnt = [each for each in (*current, *past) if day(each.recorded_at) == name and _is_learnt(each)]
    learnt.sort(key=lambda each: -(each.recorded_at or 0.0))
    events = [
        Event(each.recorded_at or 0.0, _kind_of(each), Known(each, was.get(each.id, ())))
        for each in learnt[:MOST]
    ]
    events += [Event(each.last_ts, "talk", session=each) for each in sessions if _is_of(each, name)]
    records = days.records(memory, name)
    events += _journaled(records, {each.id: each for each in (*current, *past)})
    events += [
        Event(moment(each.valid_to) or 0.0, "ended", Known(each))
        for each in past
        if not each.superseded_by and each.level != "tainted" and until(each)[:10] == name
    ]
    events.sort(key=lambda event: -event.ts)
    waiting = memory.review.pending() if name in (today, names[-1] if names else today) else []
    return {
        "day": name,
        "today": today,
        "events": events[:MOST],
        "rest": len(events[MOST:]) + len(learnt[MOST:]),
        "earlier": next((each for each in reversed(names) if each < name), ""),
        "later": next((each for each in names if each > name), ""),
        "waits": waiting,
        "is_new": not names and not current,
        "is_last": not names or name >= names[-1],
        "path": shlex.quote(memory.name),
    }


def _is_of(session: Session, name: str) -> bool:
    return day(session.first_ts) <= name <= day(session.last_ts)


def _is_learnt(fact: Fact) -> bool:
    """Return whether a fact was new when it was recorded: a finding in the archive only moved."""
    return fact.recorded_at is not None and not (fact.level == "tainted" and fact.topic.endswith(ARCHIVE))


def _kind_of(fact: Fact) -> str:
    return "found" if fact.level == "tainted" else "learnt"


def _is_found(edit: Edit) -> bool:
    """Return whether the program placed what an agent found, which stands for itself. Only such an edit has facts of a
    topic; its reason could be any agent's."""
    is_placed = bool(edit.facts) and all("topic" in each for each in edit.facts)
    return is_placed and edit.author.startswith(AGENT)


def _journaled(records: list[Record], facts: dict[str | None, Fact]) -> list[Event]:
    """Return what the journal says of a day: edits, a person's decisions, distillations, compactions, forgetting."""
    events: list[Event] = []
    undone = {str(each["undoes"]) for each in records if each.get("undoes")}
    by_program: dict[str, list[Edit]] = {}
    for record in records:
        ts, kind = float(record.get("ts") or 0.0), record.get("kind")
        if kind == "edit":
            edit = edit_of(record)
            if edit is None:
                continue
            if edit.author == PROGRAM:
                by_program.setdefault(edit.reason, []).append(edit)
            elif not _is_found(edit):
                events.append(Event(ts, "edit", edit=edit, text="undone since" if edit.id in undone else ""))
        elif kind == "fact":
            name = str(record.get("fact") or "")
            fact = facts.get(name)
            # Words that nobody here said stand in a fence, and not in a link.
            known = Known(fact) if fact is not None and fact.level != "tainted" else None
            text, person = str(record.get("reason")), str(record.get("person") or "")
            events.append(Event(ts, "decided", known, entry=name, text=text, person=person))
        elif kind == "mark":
            events.append(Event(ts, "compacted", entry=str(record.get("entry") or "")))
        elif kind == "forgotten":
            counts = record.get("counts")
            total = sum(counts.values()) if isinstance(counts, dict) else 0
            events.append(Event(ts, "forgotten", text=str(record.get("by") or ""), count=total))
    for reason, edits in by_program.items():
        paths = tuple(dict.fromkeys(each.path for each in edits))
        entry = reason.removeprefix(DISTILLED) if reason.startswith(DISTILLED) else ""
        kind = "distilled" if entry else "kept"
        events.append(Event(edits[-1].ts, kind, entry=entry.split(" ")[0], text=reason, paths=paths))
    return events


# --- the screen --------------------------------------------------------------------------


async def _today(request: Request) -> Response:
    return await show_day(request, "")


async def _day(request: Request) -> Response:
    wanted = request.path_params["day"]
    try:
        if not _DAY.fullmatch(wanted):
            raise ValueError
        time.strptime(wanted, "%Y-%m-%d")
    except ValueError:
        raise NotFound("There is no such day. Write it as 2026-03-05.") from None
    return await show_day(request, wanted)


async def show_day(
    request: Request, wanted: str, *, error: str = "", status: int = 200, typed: str = ""
) -> Response:
    """Show a day; after a refusal with its sentence, and with what was typed."""
    found = await ask(request, lambda memory: read_day(memory, wanted))
    return page(request, "today.html", status=status, error=error, typed=typed, **found)


async def _go(request: Request) -> Response:
    """Go to a day that was chosen in a field."""
    wanted = request.query_params.get("day", "").strip()
    home = f"/m/{request.path_params['name']}"
    return done(request, f"{home}/day/{wanted}" if _DAY.fullmatch(wanted) else f"{home}/")


async def _remember(request: Request) -> Response:
    form = await read_form(request)
    home = f"/m/{request.path_params['name']}"

    def act(memory: Memory) -> Note:
        before = newest(memory)
        made = memory.remember(form["text"])
        last = newest(memory)
        undo = f"{home}/undo" if last != before and not made.layer and made.elsewhere is None else ""
        return Note(_tell(made, form["text"]), undo, (("after", last), ("back", f"{home}/")))

    try:
        note = await ask(request, act)
    except Refused as error:
        return await show_day(request, "", error=str(error), status=status_of(error)[0], typed=form["text"])
    return done(request, f"{home}/", note)


def _tell(made: Remembered, text: str) -> str:
    """Return what became of a person's words."""
    outcomes = made.placed.outcomes if made.placed is not None else ()
    facts = [
        f"{each.fact.relation}: {each.fact.object}" for each in outcomes if each.act in ("add", "supersede")
    ]
    facts = [each.removeprefix("note: ") for each in facts]
    parts = [f"Remembered: {_clipped('; '.join(facts))}."] if facts else []
    if any(each.act == "restate" for each in outcomes):
        parts.append("Some of it was known already." if facts else "That was known already.")
    if made.noted is not None and not made.noted.changed:
        parts.append(f"{made.noted.path} says that already.")
    elif made.noted is not None:
        parts.append(f"Noted on {made.noted.path}: {_clipped('; '.join(made.rest) or text)}")
    if made.redacted:
        parts.append("A secret in it was left out.")
    if made.layer or made.elsewhere is not None:
        parts.append("What is about you went to the home memory.")
    return " ".join(parts) or "There was nothing in it to remember."


def _clipped(text: str) -> str:
    return shown(cut(" ".join(text.split()), _TOLD))


ROUTES: list[Screen] = [
    ("/", ["GET"], _today),
    ("/day", ["GET"], _go),
    ("/day/{day}", ["GET"], _day),
    ("/remember", ["POST"], _remember),
]
