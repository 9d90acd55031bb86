"""The snapshot: the text a session begins with, if the host keeps the window.

Charter and memory as one text, as in the first prompt of an epoch; not logged. Invariant: never over its budget, as
counted; the charter is never cut. A quick snapshot is kept in a view with everything it depends on: the end of the
journal and the state of the top files. While these are the same, a session hook returns it without loading the code
that makes one.
"""

from __future__ import annotations

import time

from looseleaf.base.errors import BudgetTooSmall, Invalid, Refused
from looseleaf.base.immutable import frozen
from looseleaf.base.values import changed_ns
from looseleaf.pages.outside_edits import TOP
from looseleaf.store import JOURNAL, records
from looseleaf.store.reading import read_and_write

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Any, Protocol

    from looseleaf.place.notebook import Notebook
    from looseleaf.prompt import snapshot as slots
    from looseleaf.prompt.farther import Lines
    from looseleaf.store.context import Context
    from looseleaf.window.conversation import Conversation

    Count = Callable[[Sequence[str]], list[int]]

    class Needs(slots.Needs, Protocol):
        context: Context
        notes: list[str]

        @property
        def counter(self) -> Callable[[str], int] | None: ...
        @property
        def conversation(self) -> Conversation: ...
        @property
        def notebook(self) -> Notebook: ...


TOKENS = 4_000
"""The default budget. A session pays for it with every request, even a short one: it is a fiftieth of a usual context,
with room for a full profile, a full state and about a hundred more lines."""

LEAST_MEMORY = 1_000
"""Room for the memory if no budget is given and the charter takes nearly all of the default, or more."""

SCHEMA = "snapshot.v1"

_RACY_NS = 100_000_000
"""A file changed this shortly before it was read may change again without looking different (its times are coarse)."""

_GAP = "\n\n"


@frozen
class Snapshot:
    """`charter` is who the agent is and the rules of the work, `memory` what is known; `tokens` is their joint cost,
    within `budget`."""

    charter: str
    memory: str
    tokens: int
    budget: int

    @property
    def text(self) -> str:
        return join_parts(self.charter, self.memory)

    def to_dict(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in ("charter", "memory", "tokens", "budget")}


def join_parts(charter: str, memory: str) -> str:
    return _GAP.join(part.rstrip("\n") for part in (charter, memory) if part.strip())


def snapshot(parts: Needs, budget: int | None = None, *, quick: bool = False) -> Snapshot:
    """Make a snapshot. `quick`: estimate tokens and read only the top pages; for others use what was last known."""
    return read_and_write(parts.context.store, lambda: _snapshot(parts, budget, quick=quick))


def _snapshot(parts: Needs, budget: int | None, *, quick: bool) -> Snapshot:
    if budget is not None and (type(budget) is not int or budget < 1):
        raise Invalid(
            f"The budget must be a number of tokens, at least 1, not {budget!r}. Leave it out for {TOKENS:,}."
        )
    if not quick or parts.counter is not None:
        parts.notebook.catch_up()  # reads all pages first
        return _make_snapshot(parts, budget, parts.conversation.counter(None))[0]
    seen_ns = time.time_ns()
    kept = _read_kept(parts, budget)
    if kept is not None:
        return kept
    parts.pages.absorb_to_read(TOP)
    parts.known.catch_up()
    from looseleaf.models.tokens import estimate

    key = _cache_key(parts, budget)
    made, lines = _make_snapshot(parts, budget, lambda texts: [estimate(text) for text in texts])
    _keep_snapshot(parts, budget, made, lines, key, seen_ns)
    return made


def _make_snapshot(parts: Needs, budget: int | None, count: Count) -> tuple[Snapshot, Lines]:
    """Return a snapshot, and the lines in it that are of farther layers."""
    from looseleaf.prompt.fit import fit
    from looseleaf.prompt.snapshot import SlotReader

    gather = SlotReader(parts.context, parts)
    charter = gather.charter().text
    [fixed] = count([charter])
    if budget is None:
        budget = max(TOKENS, fixed + LEAST_MEMORY)
    if fixed > budget:
        raise BudgetTooSmall(budget, fixed, "the charter (SOUL.md, PROJECT.md)")
    slots, _ = gather.slots(None)
    room = budget - fixed
    while True:
        fitted = fit(slots, room, count)
        told = fitted.text
        [tokens] = count([join_parts(charter, told)])
        if tokens <= budget or not told:
            return Snapshot(charter, told, tokens, budget), gather.farther.lines(fitted.items)
        room -= tokens - budget  # the two cost more together than alone


def _read_kept(parts: Needs, budget: int | None) -> Snapshot | None:
    try:
        document = parts.context.store.get(_view_path(parts.context.agent))
        raw = records.whole(document.data if document else b"")
        if raw["key"] == _cache_key(parts, budget):
            if raw.get("farther"):
                from looseleaf.prompt.farther import fill_lines
                from looseleaf.prompt.snapshot import FartherLines

                raw["memory"] = fill_lines(raw["memory"], raw["farther"], FartherLines(parts).read_line)[0]
            return Snapshot(*(raw[name] for name in Snapshot.__match_args__))
    except (Refused, LookupError, TypeError, ValueError):
        pass  # made again
    return None


def kept_text(context: Context) -> tuple[str, list[str]]:
    """Return the memory of the last quick snapshot, even if it is no longer current, and the names of the farther
    layers' facts in it; "" without one."""
    try:
        document = context.store.get(_view_path(context.agent))
        raw = records.whole(document.data if document else b"")
        return str(raw["memory"]), [str(hole[1]) for hole in raw.get("farther", ())]
    except (Refused, LookupError, TypeError, ValueError):
        return "", []


def _keep_snapshot(
    parts: Needs, budget: int | None, made: Snapshot, lines: Lines, key: dict[str, Any], seen_ns: int
) -> None:
    """Keep it if nothing changed while it was made. Not if something was noted: the next call notes it again."""
    try:
        is_settled = all(changed_ns(mark) < seen_ns - _RACY_NS for _, mark in key["top"])
        if is_settled and not parts.notes and key == _cache_key(parts, budget):
            kept: dict[str, Any] = {"key": key} | made.to_dict()
            if lines:
                from looseleaf.prompt.farther import cut_lines

                kept["memory"], kept["farther"] = cut_lines(made.memory, lines)
            parts.context.store.view(_view_path(parts.context.agent), records.encode(kept))
    except Refused:
        pass  # the view is only a cache


def _view_path(agent: str) -> str:
    return f"views/agents/{agent}/snapshot.json"


def _cache_key(parts: Needs, budget: int | None) -> dict[str, Any]:
    """Return all that a quick snapshot depends on. The day counts: a fact may hold from or until one."""
    store = parts.context.store
    top = store.list("") if store.edited_outside else ()
    farther = [[name, *end] for name, end in parts.farther(_journal_end)]
    return {
        "schema": SCHEMA,
        "budget": budget,
        "policy": repr(parts.context.policy),
        "day": int(time.time() // 86_400),
        "journal": _journal_end(parts),
        "top": [[stat.path, list(stat.mark)] for stat in top],
        **({"farther": farther} if farther else {}),
    }


def _journal_end(parts: Needs) -> list[Any]:
    last = next(parts.context.store.read_back(JOURNAL), None)
    return [*last.end, last.record.get("id")] if last is not None else []
