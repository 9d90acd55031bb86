"""Receipts: what was written, and what of it in a turn; read from the journal, no further back than needed.

A model's own words never prove that it wrote anything. People's own edits are no receipts; `looseleaf log` lists them.
"""

from __future__ import annotations

import re
from itertools import islice
from sys import maxsize

from looseleaf.base.errors import Invalid, NotFound, Refused
from looseleaf.base.immutable import frozen
from looseleaf.base.origins import WRITERS, bare_name
from looseleaf.log.entries import read_entry
from looseleaf.log.journal import AGENT, OBEYED, PERSON, PROGRAM
from looseleaf.log.recorder import stream_of
from looseleaf.log.turns import traces_back
from looseleaf.text.lines import body

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from typing import Any

    from looseleaf.base.messages import Trace
    from looseleaf.base.values import Edit
    from looseleaf.explain.sources import Needs

LAST = "last"
"""Stands for the last turn's id."""

ASKED_AGAIN = "asked again"
"""The reason of an edit that only repeats what waits in review."""

DISTILLED = re.compile("distilled from ([^ ]+)")
"""The entry in an edit's reason."""

ID = re.compile(r"\b[0-7][0-9A-HJKMNP-TV-Z]{25}\b")
_DIARY = ("days/", "episodes/")


@frozen
class Written:
    """One write. `author` is `agent:<name>`, even where the program put it into review for the agent (`held`); or
    `program` for what was distilled, from `entry`, and for what the user's words made it forget. `lines` and `gone` are
    what it added and removed."""

    id: str
    ts: float
    path: str
    author: str
    reason: str
    lines: tuple[str, ...] = ()
    gone: tuple[str, ...] = ()
    held: bool = False
    deleted: bool = False
    entry: str | None = None
    undoes: str | None = None
    undone_by: str | None = None

    @property
    def added(self) -> int:
        return len(self.lines)

    @property
    def removed(self) -> int:
        return len(self.gone)

    @property
    def is_diary(self) -> bool:
        """True for a line of a day or an episode, which every distillation leaves: it keeps no promise."""
        return self.entry is not None and self.path.startswith(_DIARY)

    def to_dict(self) -> dict[str, Any]:
        names = ("id", "ts", "path", "author", "reason", "added", "removed", "held", "deleted", "entry")
        found = {name: getattr(self, name) for name in (*names, "undoes", "undone_by")}
        return found | {"lines": list(self.lines), "gone": list(self.gone)}


def receipts(parts: Needs, last: int = 20, turn: str | None = None) -> list[Written]:
    """Return the last writes by agents and distillation, newest first; or all of a turn, oldest first."""
    if turn is not None:
        return written_in(parts, span_of(parts, turn))
    if type(last) is not int or not 1 <= last <= maxsize:
        raise Invalid("The number of receipts must be at least 1. Leave it out for the last 20.")
    return list(islice(_read_writes(parts.pages.log()), last))


def _read_writes(newest_first: Iterable[Edit]) -> Iterator[Written]:
    undone: dict[str, str] = {}
    for edit in newest_first:
        if edit.undoes is not None:
            undone[edit.undoes] = edit.id
        found = _receipt_of(edit, undone.get(edit.id))
        if found is not None:
            yield found


def _receipt_of(edit: Edit, undone_by: str | None) -> Written | None:
    """Return the receipt of an edit; None for a person's own, and for the program's housekeeping."""
    author, held, entry = edit.author, False, None
    if author == PROGRAM:
        distilled = DISTILLED.fullmatch(edit.reason)
        entry = distilled[1] if distilled else None
        held = edit.path.startswith("review/") and bool(edit.facts)
        if not held and (entry is None or edit.path.startswith("review/")):
            return None
        if held and entry is None:
            asking = {str(fact.get("origin")) for fact in edit.facts}
            author = next((each for each in sorted(asking) if each.startswith(AGENT)), "")
            if not author or edit.reason == ASKED_AGAIN:
                return None
    elif author == PERSON and edit.reason == OBEYED:
        author = PROGRAM
    elif not author.startswith(AGENT):
        return None
    lines = tuple(body(line) for hunk in edit.hunks for line in hunk.added)
    gone = tuple(body(line) for hunk in edit.hunks for line in hunk.removed)
    is_deleted = edit.new is None
    name, undoes, ts = edit.id, edit.undoes, edit.ts
    return Written(
        name, ts, edit.path, author, edit.reason, lines, gone, held, is_deleted, entry, undoes, undone_by
    )


@frozen
class Span:
    """A turn, and until when its agent's writes belong to it (None: it is the last)."""

    turn_id: str
    traces: tuple[Trace, ...]
    until: float | None

    @property
    def since(self) -> float:
        return self.traces[0].ts

    def has(self, ts: float) -> bool:
        return self.since <= ts and (self.until is None or ts < self.until)


def span_of(parts: Needs, turn: str) -> Span:
    if not isinstance(turn, str):
        raise Invalid(
            f"A turn is named by its id, which is text, not {type(turn).__name__}. `last` is the last one."
        )
    if turn == LAST:
        last = parts.conversation.turns(1, None)
        if not last:
            raise NotFound("Nothing has been recorded yet, so there is no last turn. Record one first.")
        turn = last[-1].turn_id
    own: list[Trace] = []
    later: list[Trace] = []
    for trace in traces_back(parts.context.store, stream_of(parts.context.agent)):
        if trace.turn_id == turn:
            own.append(trace)
            if trace.seq == 1:
                break
        elif trace.seq == 1:
            later.append(trace)
    if not own:
        raise NotFound(f"There is no turn {turn!r}. `looseleaf turns` lists the last ones.")
    traces = tuple(reversed(own))
    # Two sessions of one agent may run in parallel: another session's turn ends this one only when it is over.
    over, session = max(trace.ts for trace in traces), traces[0].session_id
    ends = [each.ts for each in later if each.session_id == session or each.ts >= over]
    return Span(turn, traces, min(ends, default=None))


def written_in(parts: Needs, span: Span) -> list[Written]:
    """Return what the agent wrote during the turn, what its tools' results name, and what was distilled from it."""
    tools = {trace.tool_call_id: trace.tool_name for trace in span.traces if trace.trace_type == "tool_call"}
    named: set[str] = set()
    for trace in span.traces:
        if trace.trace_type == "tool_result" and is_writer(trace.tool_name or tools.get(trace.tool_call_id)):
            named.update(ID.findall(f"{trace.content} {trace.tool_result}"))
    author = f"{AGENT}{parts.context.agent}"
    entries: dict[str, bool] = {}
    found: list[Written] = []
    for each in _read_writes(parts.pages.log()):
        if each.ts < span.since and (not named or each.id < min(named)):
            break
        if each.entry is not None:
            if each.entry not in entries:
                entries[each.entry] = is_from_turn(parts, each.entry, span.turn_id)
            is_own = entries[each.entry]
        else:
            is_own = each.id in named or (each.author in (author, PROGRAM) and span.has(each.ts))
        if is_own:
            found.append(each)
        named.discard(each.id)
    return found[::-1]


def is_writer(tool: str | None) -> bool:
    """True if it is a tool of ours that writes, with any prefix a client adds to its name."""
    return bare_name(tool).rpartition("__")[2] in WRITERS


def is_from_turn(parts: Needs, entry: str, turn_id: str) -> bool:
    try:
        meta = read_entry(parts.context.store, entry).meta
    except Refused:
        return False
    turns = meta.get("turn_ids")
    return meta.get("agent") == parts.context.agent and isinstance(turns, list) and turn_id in turns
