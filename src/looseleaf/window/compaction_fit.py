"""A compaction being drafted: from the window's traces to a mark that fits, by exact count.

A plan uses what each trace costs alone. The result is then counted in place, and planned again with less room until it
fits.
"""

from __future__ import annotations

from functools import cached_property

from looseleaf.base import ids as clock
from looseleaf.base.errors import Refused
from looseleaf.base.hashing import sha256
from looseleaf.base.ids import id_of
from looseleaf.base.immutable import frozen
from looseleaf.base.messages import Distilled, Trace
from looseleaf.log.entries import (
    EntrySpan,
    distilled_of,
    meta_json,
    raw_md,
    read_entry,
    runs_of,
    summary_json,
)
from looseleaf.log.recorder import stream_of
from looseleaf.log.trace_messages import MESSAGE_TOKENS, Mark, messages_of, snapshot
from looseleaf.log.turns import open_calls, turn_number
from looseleaf.window.compaction_plan import (
    CompactPlan,
    Kept,
    Loss,
    PlanItem,
    keep_mentioned,
    merge_kept_lines,
    plan,
    report_kept,
    sort_by_rank,
)
from looseleaf.window.window import (
    count_messages,
    cut_to_tokens,
    make_stand_in,
    read_mark,
    read_shown,
    weigh_items,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from looseleaf.base.policy import Policy
    from looseleaf.log.journal import AgentHead
    from looseleaf.store.protocol import Store
    from looseleaf.window.window import Count

TOPIC = "sessions"
"""The topic of compaction entries. Their facts get real topics when they are placed."""

_OLDER_SHARE, _SHARE = 16, 8
"""The new summary and the must-keep list get at most an eighth of the budget each, the older summaries together a
sixteenth: a compaction should last, and most room is for the talk."""

_LEAST_SUMMARY = 60
"""Tokens of an older summary that still say something, after the entry's name."""

_LEAST_SHARE = 6
"""The talk keeps at least a sixth of the budget, however long the account of the past is."""

_SEAMS = 32
"""Tokens for headings and for joining texts."""

_TRIES = 16
"""Plans to try, each with less room, because traces can cost more in place than alone."""


@frozen
class CompactSummary:
    """What replaces the traces that go, and how it was made. `noted` is what the rules found worth keeping."""

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
        self._items = list(weigh_items(store, self._stream, self.mark, self._short, count))
        self._current = max((turn_number(item.turn_id) or 0 for item in self._items), default=0)
        self._traces: dict[str, Trace] = {}
        self._stand_ins: dict[tuple[str, int], str] = {}
        self.plan = CompactPlan((), (), (), (), fits=True)
        self.is_outdated: Callable[[str], bool] = lambda sentence: False
        """Tells if a sentence was taken back since it was said."""
        self.passed_over = 0
        """Unreadable entries of this name to skip."""
        self.summary_tokens = max(1, min(policy.summary_tokens, budget // _SHARE))
        self._semantic_tokens = max(1, min(policy.semantic_tokens, budget // _SHARE))
        self._older = self._cut_older_summaries()
        self._room = self._measure_room()

    def _cut_older_summaries(self) -> tuple[tuple[str, str], ...]:
        """Return the summaries of earlier compactions to show beside the new one."""
        room = self._budget // _OLDER_SHARE
        kept = min(self._policy.max_episodic_items - 1, room // _LEAST_SUMMARY)
        older = self.mark.episodic[-kept:] if self.mark and kept > 0 else ()
        each = max(1, room // max(1, len(older)))
        return tuple((entry, cut_to_tokens(text, each, self._count)) for entry, text in older)

    def _measure_room(self) -> int:
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
        """Plan until the rest really fits. With `prepared`: return whether it fits if just those traces go."""
        if not self._items:
            return True
        # With the account of the others, a part of the budget that leaves room for as much talk again.
        whole = self._budget - self._system
        told = whole - self._room
        goal = max(int(self._policy.compact_to * whole) - told, whole // _LEAST_SHARE)
        room = self._room
        for _ in range(_TRIES):
            self.plan = self._make_plan(room, goal, prepared)
            if prepared is not None and set(self.plan.gone) != set(prepared):
                return False
            if not self.plan.fits:
                # A prepared plan gives up nothing: the plan that replaces it needs all of it.
                if prepared is not None or not self._give_up_more():
                    break
                room = self._room = self._measure_room()
                continue
            # What the window costs without its account of the past.
            excess = self._count_mark(self._build_mark("", None, (), ())) - self._room
            if excess <= 0:
                return True
            room -= max(excess, _SEAMS)
        if prepared is not None:
            return False
        calls = len(self._find_open_calls())
        raise Refused(
            f"The window was not compacted: its fixed part ({calls} open tool calls, the current turn with its "
            f"pictures) does not fit {self._budget:,} tokens. "
            + ("End calls that get no result: memory.interrupt()." if calls else "Use a larger context.")
        )

    def _give_up_more(self) -> bool:
        """Make room by shortening the account of the past: first drop older summaries (they stay in their entries),
        then cut the new one and the must-keep list to a line each."""
        if self._older:
            self._older = self._older[1:]
        elif max(self.summary_tokens, self._semantic_tokens) > _SEAMS:
            self.summary_tokens = min(self.summary_tokens, _SEAMS)
            self._semantic_tokens = min(self._semantic_tokens, _SEAMS)
        else:
            return False
        return True

    def _make_plan(self, room: int, goal: int, prepared: tuple[str, ...] | None) -> CompactPlan:
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
        return CompactPlan((*prepared, *made.gone), made.tail, made.held, made.short, made.fits)

    def _count_mark(self, mark: Mark) -> int:
        first = snapshot(mark, self._read_traces(mark.tail))
        rest = messages_of(self._read_traces(mark.held), dict(mark.short))
        return count_messages([*([first] if first else []), *rest], self._count)

    def _read_traces(self, ids: Iterable[str]) -> list[Trace]:
        """Return the traces with these ids, in log order."""
        wanted = frozenset(ids)
        if not wanted <= self._traces.keys():
            self._traces = {
                trace.id: trace
                for trace, _, _ in read_shown(self._store, self._stream, self.mark)
                if trace.id in wanted
            } | self._traces
        return [self._traces[item.id] for item in self._items if item.id in wanted]

    def _build_mark(
        self,
        mark_id: str,
        entry: str | None,
        episodic: tuple[tuple[str, str], ...],
        semantic: tuple[str, ...],
    ) -> Mark:
        staying = {*self.plan.tail, *self.plan.held}
        stay = [item for item in self._items if item.id in staying]
        open_calls = self._find_open_calls()
        near = (
            item for item in stay if item.id not in open_calls or turn_number(item.turn_id) == self._current
        )
        start = next(near, self._items[-1])
        far = [item for item in stay if item.place < start.place]
        limits = dict(self.plan.short)
        short = {trace_id: text for trace_id, text in self._short.items() if trace_id in staying}
        sizes = {item.id: item.tokens for item in self._items}
        for trace in self._read_traces(limits):
            made = (trace.id, limits[trace.id])
            if made not in self._stand_ins:  # a plan and its mark are tried several times
                self._stand_ins[made] = make_stand_in(trace, limits[trace.id], sizes[trace.id], self._count)
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

    def _find_open_calls(self) -> frozenset[str]:
        return open_calls(self._items)  # type: ignore[arg-type]  # an item has the members that this reads

    def finish(
        self, mark_id: str, made: CompactSummary, traces: Callable[[], Iterable[Trace]]
    ) -> tuple[Mark, Loss, dict[str, bytes]]:
        """Return the mark, its loss, and the files of its entry."""
        gone, reference = self._leaving, self.entry
        episodic = self._older
        if reference is not None:
            episodic = (*episodic, (reference, self._write_summary(made, reference, gone)))
        semantic = self._choose_lines(made)
        mark = self._build_mark(mark_id, reference, episodic, semantic)
        after = self._system + self._count_mark(mark)
        while after > self._budget and mark.episodic:  # joining texts cost more than was kept for it
            *others, (last, text) = mark.episodic
            cost = self._count([text])[0]
            shorter = cut_to_tokens(text, max(1, cost - (after - self._budget) - _SEAMS), self._count)
            episodic = (*others, (last, shorter)) if cost > _SEAMS else tuple(others)
            mark = self._build_mark(mark_id, reference, episodic, semantic)
            after = self._system + self._count_mark(mark)
        loss = self._build_loss(mark, made, gone, after)
        if reference is None:
            return mark, loss, {}
        entry = reference.rpartition("/")[2]
        spans = [EntrySpan(item.id, item.place, (item.place[0], item.end)) for item in gone]
        meta = {
            "id": entry,
            "ts": clock.now(),
            "topic": TOPIC,
            "agent": self._agent,
            "turn_ids": list(dict.fromkeys(item.turn_id for item in gone)),
            "traces": runs_of(spans),
            "source_sha256": sha256("\n".join(self.plan.gone).encode()),
            "distiller": made.distiller,
            "level": made.level,
            **{name: getattr(made.distilled, name) for name in ("model", "tokens", "cost")},
            "loss": loss.to_dict(),
        }
        files = {
            "raw.md": raw_md(entry, traces(), self._policy.raw_bytes),
            "summary.json": summary_json(made.distilled),
            "meta.json": meta_json(meta),
        }
        return mark, loss, files

    @property
    def has_past(self) -> bool:
        """True if the window mentions anything from before it."""
        return self.mark is not None and bool(self.mark.episodic or self.mark.semantic)

    @property
    def _leaving(self) -> list[PlanItem]:
        going = frozenset(self.plan.gone)
        return [item for item in self._items if item.id in going]

    @property
    def entry(self) -> str | None:
        """The entry's name. It follows from the traces alone (FORMAT §11.2)."""
        gone = self._leaving
        if not gone:
            return None
        digest = sha256("\n".join((self._agent, *(item.id for item in gone))).encode())
        for _ in range(self.passed_over):
            digest = sha256(digest.encode())
        return f"{TOPIC}/{id_of(max(0.0, gone[0].ts), bytes.fromhex(digest))}"

    def _write_summary(self, made: CompactSummary, reference: str, gone: Sequence[PlanItem]) -> str:
        numbers = [turn_number(item.turn_id) or 0 for item in gone]
        first, last = min(numbers), max(numbers)
        turns = f"turn {first}" if first == last else f"turns {first} to {last}"
        head = f"({turns}; looseleaf expand {reference.rpartition('/')[2]})"
        text = f"{head} {made.distilled.summary.strip()}".strip()
        return cut_to_tokens(text, self.summary_tokens, self._count)

    def _choose_lines(self, made: CompactSummary) -> tuple[str, ...]:
        """Return the must-keep lines that have room."""
        found = merge_kept_lines(self._kept_so_far, made.noted, made.distilled)
        lines = tuple(line for line in found if not self.is_outdated(line))
        left = self._semantic_tokens
        chosen: set[str] = set()
        ranked = sort_by_rank(lines)
        for line, cost in zip(ranked, self._count([f"- {line}\n" for line in ranked]), strict=True):
            if cost <= left and len(chosen) < self._policy.max_semantic_items:
                chosen.add(line)
                left -= cost
        return tuple(line for line in lines if line in chosen)

    @cached_property
    def _kept_so_far(self) -> tuple[str, ...]:
        """Must-keep lines the window mentions so far: in the list, or only in a summary that will go one day."""
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
            lines = merge_kept_lines(lines, keep_mentioned(noted, told))
        return lines

    # --- the loss report ---------------------------------------------------------------------

    def _build_loss(self, mark: Mark, made: CompactSummary, gone: Sequence[PlanItem], after: int) -> Loss:
        told = snapshot(mark, self._read_traces(mark.tail))
        calls = self._find_open_calls()
        held = calls & frozenset(mark.held)
        report = [
            Kept("open tool calls", len(calls), len(held), tuple(sorted(calls - held))),
            *report_kept(made.noted, self._kept_so_far, (told and told.content) or "", self.is_outdated),
        ]
        sizes = {item.id: item.tokens for item in self._items}
        stand_ins = dict(mark.short)
        short = [trace for trace, _ in self.plan.short]
        costs = zip(short, self._count([stand_ins[trace] for trace in short]), strict=True)
        first = snapshot(self.mark, ()) if self.mark else None
        before = self._system + (count_messages([first], self._count) if first else 0)
        return Loss(
            mark.entry,
            made.level if gone else "pointers",
            made.distiller if gone else "–",
            before + sum(item.tokens + item.fixed + MESSAGE_TOKENS for item in self._items),
            after,
            len({item.turn_id for item in gone}),
            len(gone),
            sum(item.trace_type == "tool_result" for item in gone),
            sum(item.tokens for item in gone),
            tuple((trace, max(0, sizes[trace] - cost)) for trace, cost in costs),
            tuple(report),
            made.failures,
        )
