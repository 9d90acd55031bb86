"""A compaction on its way: from what a window holds to a mark that makes it fit, counted exactly.

The plan is made on what each trace costs by itself; what it costs in place is counted afterwards, and planned again
with less room until it fits. So the window fits by counting, not by hope.
"""

from __future__ import annotations

from functools import cached_property

from looseleaf.base import ids as clock
from looseleaf.base.errors import Refused
from looseleaf.base.hashing import sha256
from looseleaf.base.ids import id_of
from looseleaf.base.immutable import frozen
from looseleaf.base.messages import Distilled, Trace
from looseleaf.log.entries import Spot, distilled_of, meta_json, raw_md, read_entry, runs_of, summary_json
from looseleaf.log.recorder import stream_of
from looseleaf.log.trace_messages import MESSAGE_TOKENS, Mark, messages_of, snapshot
from looseleaf.log.turns import open_calls, turn_number
from looseleaf.window.compaction_plan import (
    Item,
    Kept,
    Loss,
    Plan,
    by_rank,
    must_keep,
    plan,
    still_told,
    told_of,
)
from looseleaf.window.window import count_messages, cut, read_mark, shown, stand_in, weighed

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from looseleaf.base.policy import Policy
    from looseleaf.log.journal import AgentHead
    from looseleaf.store.protocol import Store
    from looseleaf.window.window import Count

TOPIC = "sessions"
"""The topic of entries that a compaction made: what they are about is known when their facts are placed."""

_OLDER_SHARE, _SHARE = 16, 8
"""The new summary and the list of what must be kept get at most an eighth of the budget each, the older summaries
together a sixteenth: what a compaction leaves is to last, and most of it is for what was said."""

_LEAST_SUMMARY = 60
"""Tokens of an older summary that still says something, behind the name of its entry."""

_LEAST_SHARE = 6
"""What was said keeps at least a sixth of the budget, however much is told of what was before."""

_SEAMS = 32
"""Tokens for headings, and for what joining texts may cost."""

_TRIES = 16
"""Plans that are tried with less room each, because something costs more in place than by itself."""


@frozen
class Made:
    """What is left of the traces that go, and how it was made. `noted` is what the rules found worth keeping."""

    distilled: Distilled
    noted: Distilled
    level: str
    distiller: str
    failures: tuple[str, ...] = ()


class Draft:
    def __init__(
        self,
        store: Store,
        policy: Policy,
        agent: str,
        head: AgentHead,
        count: Count,
        budget: int,
        system: str | None,
    ) -> None:
        self._store, self._stream, self._agent = store, stream_of(agent), agent
        self._policy = policy
        self._count = count
        self._budget = budget
        self._system = count([system])[0] + MESSAGE_TOKENS if system else 0
        self.mark = read_mark(store, head)
        self._short = dict(self.mark.short) if self.mark else {}
        self._items = list(weighed(store, self._stream, self.mark, self._short, count))
        self._current = max((turn_number(item.turn_id) or 0 for item in self._items), default=0)
        self._traces: dict[str, Trace] = {}
        self._stand_ins: dict[tuple[str, int], str] = {}
        self.plan = Plan((), (), (), (), fits=True)
        self.is_outdated: Callable[[str], bool] = lambda sentence: False
        """Whether a sentence was taken back since it was said."""
        self.passed_over = 0
        """Entries of this name that are there and cannot be read: somebody broke them."""
        self.summary_tokens = max(1, min(policy.summary_tokens, budget // _SHARE))
        self._semantic_tokens = max(1, min(policy.semantic_tokens, budget // _SHARE))
        self._older = self._older_summaries()
        self._room = self._room_for_traces()

    # --- room ------------------------------------------------------------------------------

    def _older_summaries(self) -> tuple[tuple[str, str], ...]:
        """Those of earlier compactions that are shown beside the new one."""
        room = self._budget // _OLDER_SHARE
        kept = min(self._policy.max_episodic_items - 1, room // _LEAST_SUMMARY)
        older = self.mark.episodic[-kept:] if self.mark and kept > 0 else ()
        each = max(1, room // max(1, len(older)))
        return tuple((entry, cut(text, each, self._count)) for entry, text in older)

    def _room_for_traces(self) -> int:
        def room() -> int:
            older = sum(self._count([text for _, text in self._older]))
            return self._budget - self._system - older - self.summary_tokens - self._semantic_tokens - _SEAMS

        while room() <= 0 and self._older:
            self._older = self._older[1:]  # it stays in its entry
        if room() <= 0:
            raise Refused(
                f"The window was not compacted: of a budget of {self._budget:,} tokens the system prompt takes "
                f"{self._system:,}, and no room is left for what was said. Shorten it, or use a larger context."
            )
        return room()

    def fit(self, prepared: tuple[str, ...] | None = None) -> bool:
        """Plan until what stays really fits. With `prepared`: whether it does if just those traces go."""
        if not self._items:
            return True  # nothing was said yet
        goal = self._goal()
        room = self._room
        for _ in range(_TRIES):
            self.plan = self._planned(room, goal, prepared)
            if prepared is not None and set(self.plan.gone) != set(prepared):
                return False
            if not self.plan.fits:
                # For what was prepared nothing is given up: the plan that is made instead needs all of it.
                if prepared is not None or not self._give_up_more():
                    break
                room = self._room = self._room_for_traces()
                continue
            excess = self._base_tokens() - self._room
            if excess <= 0:
                return True
            room -= max(excess, _SEAMS)
        if prepared is not None:
            return False
        calls = len(self._open_calls())
        raise Refused(
            f"The window was not compacted: what may not leave it ({calls} open tool calls, the current turn with its "
            f"pictures) does not fit {self._budget:,} tokens. "
            + (
                "End calls whose results will not come: memory.interrupt()."
                if calls
                else "Use a larger context."
            )
        )

    def _goal(self) -> int:
        """What the traces that stay should cost at most: with all that is told of the others, a part of the budget that
        leaves room for as much talk again."""
        whole = self._budget - self._system
        told = whole - self._room
        return max(int(self._policy.compact_to * whole) - told, whole // _LEAST_SHARE)

    def _give_up_more(self) -> bool:
        """Make room at the cost of what is told of the past: first older summaries (which stay in their entries),
        then the new one and what must be kept, down to a line each."""
        if self._older:
            self._older = self._older[1:]
        elif max(self.summary_tokens, self._semantic_tokens) > _SEAMS:
            self.summary_tokens = min(self.summary_tokens, _SEAMS)
            self._semantic_tokens = min(self._semantic_tokens, _SEAMS)
        else:
            return False
        return True

    def _planned(self, room: int, goal: int, prepared: tuple[str, ...] | None) -> Plan:
        current = next(
            (item.turn_id for item in reversed(self._items) if turn_number(item.turn_id) == self._current),
            None,
        )
        if prepared is None:
            tail = self._policy.tail_turns
            return plan(self._items, current=current, tail_turns=tail, target=min(goal, room), room=room)
        gone = frozenset(prepared)
        rest = [item for item in self._items if item.id not in gone]
        made = plan(rest, current=current, tail_turns=len(rest), target=room, room=room)
        return Plan((*prepared, *made.gone), made.tail, made.held, made.short, made.fits)

    def _base_tokens(self) -> int:
        """What stays, counted as it will be told."""
        return self._tokens(self._mark("", None, (), ()))

    def _tokens(self, mark: Mark) -> int:
        first = snapshot(mark, self._own(mark.tail))
        rest = messages_of(self._own(mark.held), dict(mark.short))
        return count_messages([*([first] if first else []), *rest], self._count)

    def _own(self, ids: Iterable[str]) -> list[Trace]:
        """The traces with these ids, in the order of the log."""
        wanted = frozenset(ids)
        if not wanted <= self._traces.keys():
            self._traces = {
                trace.id: trace
                for trace, _, _ in shown(self._store, self._stream, self.mark)
                if trace.id in wanted
            } | self._traces
        return [self._traces[item.id] for item in self._items if item.id in wanted]

    # --- the mark --------------------------------------------------------------------------

    def _mark(
        self,
        mark_id: str,
        entry: str | None,
        episodic: tuple[tuple[str, str], ...],
        semantic: tuple[str, ...],
    ) -> Mark:
        staying = {*self.plan.tail, *self.plan.held}
        stay = [item for item in self._items if item.id in staying]
        open_calls = self._open_calls()
        near = [
            item for item in stay if item.id not in open_calls or turn_number(item.turn_id) == self._current
        ]
        start = near[0] if near else self._items[-1]
        far = [item for item in stay if item.place < start.place]
        limits = dict(self.plan.short)
        short = {trace_id: text for trace_id, text in self._short.items() if trace_id in staying}
        sizes = {item.id: item.tokens for item in self._items}
        for trace in self._own(limits):
            made = (trace.id, limits[trace.id])
            if made not in self._stand_ins:  # a plan is tried, and its mark made, several times
                self._stand_ins[made] = stand_in(trace, limits[trace.id], sizes[trace.id], self._count)
            short[trace.id] = self._stand_ins[made]
        return Mark(
            mark_id,
            self._agent,
            entry,
            self._items[-1].id,
            self._items[-1].place,
            (*start.place, start.id),
            tuple((*item.place, item.id) for item in far),
            self.plan.tail,
            self.plan.held,
            tuple(short.items()),
            episodic,
            semantic,
        )

    def _open_calls(self) -> frozenset[str]:
        return open_calls(self._items)  # type: ignore[arg-type]  # an item has all that a trace is asked for here

    def finish(
        self, mark_id: str, made: Made, traces: Callable[[], Iterable[Trace]]
    ) -> tuple[Mark, Loss, dict[str, bytes]]:
        """The mark, what it lost, and the files of its entry."""
        gone, reference = self._gone, self.entry
        episodic = self._older
        if reference is not None:
            episodic = (*episodic, (reference, self._summary(made, reference, gone)))
        semantic = self._semantic(made)
        mark = self._mark(mark_id, reference, episodic, semantic)
        after = self._system + self._tokens(mark)
        while after > self._budget and mark.episodic:  # what joining texts cost beyond what was kept for it
            *others, (last, text) = mark.episodic
            cost = self._count([text])[0]
            shorter = cut(text, max(1, cost - (after - self._budget) - _SEAMS), self._count)
            episodic = (*others, (last, shorter)) if cost > _SEAMS else tuple(others)
            mark = self._mark(mark_id, reference, episodic, semantic)
            after = self._system + self._tokens(mark)
        loss = self._loss(mark, made, gone, after)
        files = {}
        if reference is not None:
            entry = reference.rpartition("/")[2]
            files = {
                "raw.md": raw_md(entry, traces(), self._policy.raw_bytes),
                "summary.json": summary_json(made.distilled),
                "meta.json": meta_json(
                    {
                        "id": entry,
                        "ts": clock.now(),
                        "topic": TOPIC,
                        "agent": self._agent,
                        "turn_ids": list(dict.fromkeys(item.turn_id for item in gone)),
                        "traces": runs_of(
                            [Spot(item.id, item.place, (item.place[0], item.end)) for item in gone]
                        ),
                        "source_sha256": sha256("\n".join(self.plan.gone).encode()),
                        "distiller": made.distiller,
                        "level": made.level,
                        "model": made.distilled.model,
                        "tokens": made.distilled.tokens,
                        "cost": made.distilled.cost,
                        "loss": loss.to_dict(),
                    }
                ),
            }
        return mark, loss, files

    @property
    def has_past(self) -> bool:
        """Whether anything is told of what was before the window."""
        return self.mark is not None and bool(self.mark.episodic or self.mark.semantic)

    @property
    def _gone(self) -> list[Item]:
        going = frozenset(self.plan.gone)
        return [item for item in self._items if item.id in going]

    @property
    def entry(self) -> str | None:
        """Its name follows from the traces it is made of, and from nothing else (FORMAT §11.2)."""
        gone = self._gone
        if not gone:
            return None
        digest = sha256("\n".join((self._agent, *(item.id for item in gone))).encode())
        for _ in range(self.passed_over):
            digest = sha256(digest.encode())
        return f"{TOPIC}/{id_of(max(0.0, gone[0].ts), bytes.fromhex(digest))}"

    def _summary(self, made: Made, reference: str, gone: Sequence[Item]) -> str:
        numbers = [turn_number(item.turn_id) or 0 for item in gone]
        turns = (
            f"turn {min(numbers)}"
            if min(numbers) == max(numbers)
            else f"turns {min(numbers)} to {max(numbers)}"
        )
        head = f"({turns}; looseleaf expand {reference.rpartition('/')[2]})"
        return cut(f"{head} {made.distilled.summary.strip()}".strip(), self.summary_tokens, self._count)

    def _semantic(self, made: Made) -> tuple[str, ...]:
        """What must be kept, as much of it as has room."""
        found = must_keep(self._kept_so_far, made.noted, made.distilled)
        lines = tuple(line for line in found if not self.is_outdated(line))
        left = self._semantic_tokens
        chosen: set[str] = set()
        ranked = by_rank(lines)
        for line, cost in zip(ranked, self._count([f"- {line}\n" for line in ranked]), strict=True):
            if cost <= left and len(chosen) < self._policy.max_semantic_items:
                chosen.add(line)
                left -= cost
        return tuple(line for line in lines if line in chosen)

    @cached_property
    def _kept_so_far(self) -> tuple[str, ...]:
        """What had to be kept and is told until now: in its list, or only in a summary that will go one day."""
        if self.mark is None:
            return ()
        first = snapshot(self.mark, ())
        told = (first and first.content) or ""
        lines = self.mark.semantic
        for reference, _ in self.mark.episodic:
            try:
                noted = distilled_of(read_entry(self._store, reference).summary)
            except Refused:
                continue
            lines = must_keep(lines, told_of(noted, told))
        return lines

    # --- the loss report ---------------------------------------------------------------------

    def _loss(self, mark: Mark, made: Made, gone: Sequence[Item], after: int) -> Loss:
        told = snapshot(mark, self._own(mark.tail))
        calls = self._open_calls()
        held = calls & frozenset(mark.held)
        report = [
            Kept("open tool calls", len(calls), len(held), tuple(sorted(calls - held))),
            *still_told(made.noted, self._kept_so_far, (told and told.content) or "", self.is_outdated),
        ]
        sizes = {item.id: item.tokens for item in self._items}
        shorter = dict(
            zip(
                dict(self.plan.short),
                self._count([dict(mark.short)[each] for each, _ in self.plan.short]),
                strict=True,
            )
        )
        return Loss(
            mark.entry,
            made.level if gone else "pointers",
            made.distiller if gone else "–",
            self._system
            + sum(item.tokens + item.fixed + MESSAGE_TOKENS for item in self._items)
            + self._snapshot_tokens(),
            after,
            len({item.turn_id for item in gone}),
            len(gone),
            sum(item.trace_type == "tool_result" for item in gone),
            sum(item.tokens for item in gone),
            tuple((trace, max(0, sizes[trace] - shorter[trace])) for trace, _ in self.plan.short),
            tuple(report),
            made.failures,
        )

    def _snapshot_tokens(self) -> int:
        first = snapshot(self.mark, ()) if self.mark else None
        return count_messages([first], self._count) if first else 0
