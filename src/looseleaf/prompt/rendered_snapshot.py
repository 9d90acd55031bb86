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
    from typing import Any

    from looseleaf.base.values import PageText
    from looseleaf.memory import Memory

    Count = Callable[[Sequence[str]], list[int]]

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


def snapshot(memory: Memory, budget: int | None = None, *, quick: bool = False) -> Snapshot:
    """`quick`: tokens are estimated, and of pages only those at the top are looked at; what stands on others is what
    was last known of them."""
    if budget is not None and (type(budget) is not int or budget < 1):
        raise Refused(
            f"No snapshot was made: the budget is a number of tokens from 1 on, not {budget!r}. "
            f"Leave it out to have {TOKENS:,}."
        )
    if not quick or memory._counter is not None:
        memory._book.catch_up()  # looks at all pages first
        return _made(memory, budget, memory._talk.counter(None))
    seen_ns = time.time_ns()
    kept = _kept(memory, budget)
    if kept is not None:
        return kept
    memory._pages.absorb_to_read(TOP)
    memory._known.catch_up()
    from looseleaf.models.tokens import estimate

    key = _key(memory, budget)
    made = _made(memory, budget, lambda texts: [estimate(text) for text in texts])
    _keep(memory, budget, made, key, seen_ns)
    return made


def _made(memory: Memory, budget: int | None, count: Count) -> Snapshot:
    from looseleaf.prompt.fit import fit
    from looseleaf.prompt.snapshot import Gather

    book = _Shelf(memory)
    gather = Gather(memory._pages, lambda: book, lambda: memory.state, memory.policy, memory._note)
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


class _Shelf:
    """What is read of the notebook for this. The notebook itself loads all that distils and places."""

    def __init__(self, memory: Memory) -> None:
        from looseleaf.views.build import Topics
        from looseleaf.views.page_index import Listing

        self._memory = memory
        self.known = memory._known
        self.topics = Topics(memory.store, memory._known)
        self.listing = Listing(
            memory._pages, memory._known, lambda: self, trusts=memory.policy.trust_external_edits
        )

    def summary_of(self, path: str, page: PageText) -> str:
        return self._memory._book.place.summary_of(path, page)


# --- kept ------------------------------------------------------------------------------


def _kept(memory: Memory, budget: int | None) -> Snapshot | None:
    try:
        document = memory.store.get(_view(memory))
        raw = records.whole(document.data if document else b"")
        if raw["key"] == _key(memory, budget):
            return Snapshot(*(raw[name] for name in Snapshot.__match_args__))
    except (Refused, LookupError, TypeError, ValueError):
        pass  # made again
    return None


def _keep(memory: Memory, budget: int | None, made: Snapshot, key: dict[str, Any], seen_ns: int) -> None:
    """Only where nothing changed while it was made. Not where something was noted: who asks again is told again."""
    try:
        is_settled = all(max(mark[3:5]) < seen_ns - _RACY_NS for _, mark in key["top"])
        if is_settled and not memory.notes and key == _key(memory, budget):
            memory.store.view(_view(memory), records.encode({"key": key} | made.to_dict()))
    except Refused:
        pass  # nothing that was asked for rests on it


def _view(memory: Memory) -> str:
    return f"views/agents/{memory.agent}/snapshot.json"


def _key(memory: Memory, budget: int | None) -> dict[str, Any]:
    """All that a quick snapshot depends on. What holds may depend on the day."""
    last = next(memory.store.read_back(JOURNAL), None)
    return {
        "schema": SCHEMA,
        "budget": budget,
        "policy": repr(memory.policy),
        "day": int(time.time() // 86_400),
        "journal": [*last.end, last.record.get("id")] if last is not None else [],
        "top": [[stat.path, list(stat.mark)] for stat in memory.store.list("")],
    }
