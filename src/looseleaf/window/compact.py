"""Run a compaction: plan, distill, write the entry, move the mark, rotate the log.

A plan uses what each trace costs alone. The resulting mark is then counted in place, and planned again with less room
until it fits, by exact count.

No lock is held while a distiller works. Under the lock the mark is read again, and a second compaction is dropped. An
entry's id follows from its traces, so an interrupted and a repeated compaction write the same entry. Traces are never
removed.
"""

from __future__ import annotations

from _thread import allocate_lock
from functools import cached_property

from looseleaf.base import ids as clock
from looseleaf.base.errors import Refused, Unwritten
from looseleaf.base.ids import id_of, new_id
from looseleaf.base.immutable import frozen
from looseleaf.base.messages import Distilled, Trace
from looseleaf.base.values import sha256
from looseleaf.distill.make_entry import redacted, run
from looseleaf.log.entries import (
    FOLDER,
    EntrySpan,
    distilled_of,
    meta_json,
    raw_md,
    read_entry,
    runs_of,
    summary_json,
)
from looseleaf.log.recorder import stream_of
from looseleaf.log.turns import (
    MESSAGE_TOKENS,
    Mark,
    mark_record,
    messages_of,
    open_calls,
    snapshot,
    turn_number,
)
from looseleaf.store import JOURNAL
from looseleaf.store.reading import read_and_write
from looseleaf.views.agents import build_agent
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
    from collections.abc import Callable, Iterable, Iterator, Sequence
    from typing import Protocol

    from looseleaf.base.messages import Distiller
    from looseleaf.base.policy import Policy
    from looseleaf.log.journal import AgentHead
    from looseleaf.pages.pages import Pages
    from looseleaf.store.context import Context
    from looseleaf.store.protocol import Store
    from looseleaf.window.window import Count

    class CompactNeeds(Protocol):
        @property
        def pages(self) -> Pages: ...
        @property
        def distiller(self) -> Distiller | None: ...
        def outdated(self, *found: Distilled) -> Callable[[str], bool]:
            """Return a test for sentences whose fact is over, by what is known or by `found`."""


# --- the draft: a mark that fits --------------------------------------------------------

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
        left = self.mark.left if self.mark else ()
        self._left = left if left and head.through <= left[2:] else ()  # else they were distilled since
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
        count = f"{calls} open tool call{'s' * (calls != 1)}"
        raise Refused(
            f"The window was not compacted: its fixed part ({count}, the current turn with its pictures) does "
            f"not fit {self._budget:,} tokens. "
            + ("End calls that get no result: memory.talk.interrupt()." if calls else "Use a larger context.")
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
            self._left,
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


# --- the compaction ---------------------------------------------------------------------

_BROKEN = 4
"""Unreadable entries of one name to skip before giving up."""


class LeavingTraces:
    """The traces that leave the window, read from the log each time."""

    def __init__(self, store: Store, stream: str, mark: Mark | None, gone: tuple[str, ...]) -> None:
        self._store, self._stream, self._mark = store, stream, mark
        self._ids = frozenset(gone)

    def traces(self) -> Iterator[Trace]:
        left = len(self._ids)
        for trace, _, _ in read_shown(self._store, self._stream, self._mark) if left else ():
            if trace.id in self._ids:
                yield trace
                left -= 1
                if not left:
                    return


class Compact:
    """Compacts one agent's window."""

    def __init__(
        self, context: Context, parts: CompactNeeds, rules: Callable[[Callable[[str], int]], Distiller]
    ) -> None:
        self._store, self._policy, self._agent = context.store, context.policy, context.agent
        self._redact = context.redact
        self._stream = stream_of(context.agent)
        self._parts = parts
        self._rules = rules
        self._prepared: tuple[tuple[object, ...], tuple[str, ...], CompactSummary] | None = None
        """What was prepared: of which mark and edition of the memory, for which traces, and the result."""
        self._preparing = allocate_lock()

    def _read_head(self) -> AgentHead:
        return self._parts.pages.absorb.agent(self._agent)

    def __call__(
        self, budget: int, system: str | None, count: Count, *, dry_run: bool = False, is_over: bool = False
    ) -> Loss | None:
        """Make the window fit `budget` tokens, as `count` counts them.

        Return None if there is nothing to compact, or if another process just compacted. `is_over`: the window does
        not fit, so the account of the past must shrink even if no trace can leave.
        """
        return read_and_write(
            self._store, lambda: self._compact(budget, system, count, dry_run=dry_run, is_over=is_over)
        )

    def _compact(
        self, budget: int, system: str | None, count: Count, *, dry_run: bool, is_over: bool
    ) -> Loss | None:
        head, edition = self._read_head(), self._store.edition()
        draft = self._start_draft(head, budget, system, count)
        made: CompactSummary | None = None
        ready = self._prepared
        if ready is not None and ready[0] == (head.mark, edition) and draft.fit(ready[1]):
            made = ready[2]
        else:
            draft.fit()
        if draft.plan.is_empty and not (is_over and draft.has_past):
            return None
        gone = LeavingTraces(self._store, self._stream, draft.mark, draft.plan.gone)
        while made is None and draft.passed_over < _BROKEN:
            try:
                made = self._read_unfinished(draft.entry, gone, draft.summary_tokens, count)
                break
            except (Refused, KeyError, TypeError):
                draft.passed_over += 1  # left as it is, for repair
        if made is None:
            made = self._distill(gone, draft.summary_tokens, count)
        draft.is_outdated = self._parts.outdated(made.noted, made.distilled)
        mark, loss, files = draft.finish(new_id(), made, gone.traces)
        if dry_run:
            return loss
        with self._parts.pages.absorb.threads, self._store.lock():
            if self._read_head().mark != head.mark:
                return None
            if mark.entry is not None:
                self._store.publish(f"{FOLDER}/{mark.entry}", files, again=True)
            self._store.append(JOURNAL, [mark_record(self._store, self._stream, mark, clock.now())])
            self._prepared = None
            try:
                self._store.rotate(self._stream)
            except Unwritten:
                pass  # the mark counts; the log is sealed another time
            build_agent(self._store, self._agent)
        return loss

    def _read_unfinished(
        self, entry: str | None, gone: LeavingTraces, tokens: int, count: Count
    ) -> CompactSummary | None:
        """Return what an entry of the same traces says, left by an interrupted compaction."""
        if entry is None or self._store.stat(f"{FOLDER}/{entry}/meta.json") is None:
            return None
        found = read_entry(self._store, entry)
        made = distilled_of(found.summary)
        failures = tuple(map(str, found.meta["loss"]["failures"]))
        level, name = str(found.meta["level"]), str(found.meta["distiller"])
        return CompactSummary(made, self._distill_by_rules(gone, tokens, count)[1], level, name, failures)

    def _start_draft(self, head: AgentHead, budget: int, system: str | None, count: Count) -> Draft:
        return Draft(self._store, self._policy, self._agent, head, count, budget, system)

    def prepare(self, budget: int, system: str | None, count: Count) -> None:
        """Distill what the next compaction will take, in its own thread, one at a time."""
        from threading import Thread

        if self._preparing.acquire(blocking=False):
            Thread(target=self._prepare, args=(budget, system, count), daemon=True).start()

    def _prepare(self, budget: int, system: str | None, count: Count) -> None:
        try:
            edition, head = self._store.edition(), self._read_head()
            if self._prepared is None or self._prepared[0] != (head.mark, edition):
                draft = self._start_draft(head, budget, system, count)
                draft.fit()
                gone = draft.plan.gone
                if gone:
                    material = LeavingTraces(self._store, self._stream, draft.mark, gone)
                    made = self._distill(material, draft.summary_tokens, count)
                    self._prepared = (head.mark, edition), gone, made
        except Refused:
            pass  # the next compaction meets the same error and raises it
        finally:
            self._preparing.release()

    def wait(self) -> None:
        """Wait until the preparation is ready."""
        with self._preparing:
            pass

    def _distill(self, material: LeavingTraces, tokens: int, count: Count) -> CompactSummary:
        """Distill with the distiller, or with the rules if it fails. The rules always read the material: the window
        must still mention what they noted, whichever made the summary."""
        name, noted = self._distill_by_rules(material, tokens, count)
        failures: tuple[str, ...] = ()
        distiller = self._parts.distiller
        if distiller is not None:
            made = run(distiller, material, tokens, self._policy.distill_seconds)
            if isinstance(made, Distilled):
                return CompactSummary(redacted(made, self._redact), noted, "distiller", distiller.name)
            failures = (made,)
        level = "rules" if noted.summary.strip() else "pointers"
        return CompactSummary(noted, noted, level, name, failures)

    def _distill_by_rules(self, material: LeavingTraces, tokens: int, count: Count) -> tuple[str, Distilled]:
        rules = self._rules(lambda text: count([text])[0])
        return rules.name, rules.distill(material, tokens)
