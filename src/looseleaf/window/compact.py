"""Run a compaction: plan, distill, write the entry, move the mark, rotate the log.

No lock is held while a distiller works. Under the lock the mark is read again, and a second compaction is dropped. An
entry's id follows from its traces, so an interrupted and a repeated compaction write the same entry. Traces are never
removed.
"""

from __future__ import annotations

from _thread import allocate_lock

from looseleaf.base import ids as clock
from looseleaf.base.errors import Refused, Unwritten
from looseleaf.base.ids import new_id
from looseleaf.base.messages import Distilled
from looseleaf.distill.make_entry import redacted, run
from looseleaf.log.entries import FOLDER, distilled_of, read_entry
from looseleaf.log.journal import SCHEMA
from looseleaf.log.recorder import stream_of
from looseleaf.store import JOURNAL
from looseleaf.views.agents import build_agent
from looseleaf.window.compaction_fit import CompactSummary, Draft
from looseleaf.window.window import read_shown

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Protocol

    from looseleaf.base.messages import Distilled, Distiller, Trace
    from looseleaf.base.values import Record
    from looseleaf.log.journal import AgentHead
    from looseleaf.log.trace_messages import Mark
    from looseleaf.pages.pages import Pages
    from looseleaf.store.context import Context
    from looseleaf.store.protocol import Store
    from looseleaf.window.compaction_plan import Loss
    from looseleaf.window.window import Count

    class CompactNeeds(Protocol):
        @property
        def pages(self) -> Pages: ...
        @property
        def distiller(self) -> Distiller | None: ...
        def outdated(self, *found: Distilled) -> Callable[[str], bool]:
            """Return a test for sentences whose fact is over, by what is known or by `found`."""


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
        self._prepared: tuple[str | None, tuple[str, ...], CompactSummary] | None = None
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
        head = self._read_head()
        draft = self._start_draft(head, budget, system, count)
        made: CompactSummary | None = None
        if self._prepared is not None and self._prepared[0] == head.mark and draft.fit(self._prepared[1]):
            made = self._prepared[2]
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
        with self._store.lock():
            if self._read_head().mark != head.mark:
                return None
            if mark.entry is not None:
                self._store.publish(f"{FOLDER}/{mark.entry}", files, again=True)
            record: Record = {"schema": SCHEMA, "id": mark.id, "ts": clock.now()}
            self._store.append(JOURNAL, [record | mark.to_record()])
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
            head = self._read_head()
            if self._prepared is None or self._prepared[0] != head.mark:
                draft = self._start_draft(head, budget, system, count)
                draft.fit()
                gone = draft.plan.gone
                if gone:
                    material = LeavingTraces(self._store, self._stream, draft.mark, gone)
                    made = self._distill(material, draft.summary_tokens, count)
                    self._prepared = head.mark, gone, made
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
