"""The snapshot: what a session begins with, where somebody else keeps the window.

Charter and memory as the first prompt of an epoch has them, as one text; logged nowhere. Invariant: never more than
its budget, as it is counted; the charter is never cut. A quick one is kept in a view, with all that it depends on: how
far the journal goes and how the files at the top look. As long as that is so it is what would be made again, and a hook
that begins a session has it without loading what makes it.
"""

from __future__ import annotations

import time

from looseleaf.base.errors import BudgetTooSmall, Refused
from looseleaf.base.immutable import frozen
from looseleaf.pages.outside_edits import TOP
from looseleaf.store import JOURNAL, records

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Any, Protocol

    from looseleaf.place.notebook import Notebook
    from looseleaf.prompt import snapshot as slots
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
"""The budget where none is given. A session pays for it with every request, also where the talk is short: it is a
fiftieth of a usual context, and has room for a full profile, a full state and some hundred lines beside."""

LEAST_MEMORY = 1_000
"""What the memory may take where none is given and the charter takes nearly all of that, or more."""

SCHEMA = "snapshot.v1"

_RACY_NS = 100_000_000
"""A file changed this shortly before it was read may change again without looking different (its times are coarse)."""

_GAP = "\n\n"


@frozen
class Snapshot:
    """`charter` is who the agent is and the rules of the work, `memory` what is known; `tokens`: what both together
    take, in `budget`."""

    charter: str
    memory: str
    tokens: int
    budget: int

    @property
    def text(self) -> str:
        return joined(self.charter, self.memory)

    def to_dict(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in ("charter", "memory", "tokens", "budget")}


def joined(charter: str, memory: str) -> str:
    return _GAP.join(part.rstrip("\n") for part in (charter, memory) if part.strip())


def snapshot(parts: Needs, budget: int | None = None, *, quick: bool = False) -> Snapshot:
    """`quick`: tokens are estimated, and of pages only those at the top are looked at; what stands on others is what
    was last known of them."""
    if budget is not None and (type(budget) is not int or budget < 1):
        raise Refused(
            f"No snapshot was made: the budget is a number of tokens from 1 on, not {budget!r}. "
            f"Leave it out to have {TOKENS:,}."
        )
    if not quick or parts.counter is not None:
        parts.notebook.catch_up()  # looks at all pages first
        return _made(parts, budget, parts.conversation.counter(None))
    seen_ns = time.time_ns()
    kept = _kept(parts, budget)
    if kept is not None:
        return kept
    parts.pages.absorb_to_read(TOP)
    parts.known.catch_up()
    from looseleaf.models.tokens import estimate

    key = _key(parts, budget)
    made = _made(parts, budget, lambda texts: [estimate(text) for text in texts])
    _keep(parts, budget, made, key, seen_ns)
    return made


def _made(parts: Needs, budget: int | None, count: Count) -> Snapshot:
    from looseleaf.prompt.fit import fit
    from looseleaf.prompt.snapshot import Gather

    gather = Gather(parts.context, parts)
    charter = gather.charter().text
    [fixed] = count([charter])
    if budget is None:
        budget = max(TOKENS, fixed + LEAST_MEMORY)
    if fixed > budget:
        raise BudgetTooSmall(budget, fixed, "the charter (SOUL.md, PROJECT.md)")
    slots, _ = gather.slots(None)
    room = budget - fixed
    while True:
        told = fit(slots, room, count).text
        [tokens] = count([joined(charter, told)])
        if tokens <= budget or not told:
            return Snapshot(charter, told, tokens, budget)
        room -= tokens - budget  # what the two take more together than each by itself


# --- kept ------------------------------------------------------------------------------


def _kept(parts: Needs, budget: int | None) -> Snapshot | None:
    try:
        document = parts.context.store.get(_view(parts))
        raw = records.whole(document.data if document else b"")
        if raw["key"] == _key(parts, budget):
            return Snapshot(*(raw[name] for name in Snapshot.__match_args__))
    except (Refused, LookupError, TypeError, ValueError):
        pass  # made again
    return None


def _keep(parts: Needs, budget: int | None, made: Snapshot, key: dict[str, Any], seen_ns: int) -> None:
    """Only where nothing changed while it was made. Not where something was noted: who asks again is told again."""
    try:
        is_settled = all(max(mark[3:5]) < seen_ns - _RACY_NS for _, mark in key["top"])
        if is_settled and not parts.notes and key == _key(parts, budget):
            parts.context.store.view(_view(parts), records.encode({"key": key} | made.to_dict()))
    except Refused:
        pass  # nothing that was asked for rests on it


def _view(parts: Needs) -> str:
    return f"views/agents/{parts.context.agent}/snapshot.json"


def _key(parts: Needs, budget: int | None) -> dict[str, Any]:
    """All that a quick snapshot depends on. What holds may depend on the day."""
    last = next(parts.context.store.read_back(JOURNAL), None)
    return {
        "schema": SCHEMA,
        "budget": budget,
        "policy": repr(parts.context.policy),
        "day": int(time.time() // 86_400),
        "journal": [*last.end, last.record.get("id")] if last is not None else [],
        "top": [[stat.path, list(stat.mark)] for stat in parts.context.store.list("")],
    }
