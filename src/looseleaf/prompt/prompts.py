"""Prompts: one agent's memory and window, assembled within a budget.

Between two compactions a prompt is the one before it plus what is new. Its beginning (charter and memory) is rendered
once and kept in the log. Later changes get a message of their own, after the talk so far, and stay there. If the prompt
does not fit, the window is compacted first, which begins a new epoch. If that does not help, one prompt shows less, and
the epoch continues after it.
"""

from __future__ import annotations

from looseleaf.base import ids as clock
from looseleaf.base.errors import BudgetTooSmall, Busy, Invalid, Outdated, Refused, Unwritten
from looseleaf.base.ids import new_id
from looseleaf.base.immutable import frozen
from looseleaf.log.turns import MESSAGE_TOKENS
from looseleaf.pages.outside_edits import TOP
from looseleaf.prompt.fit import fit, trim_window
from looseleaf.prompt.manifest import (
    COLD,
    COMPACTED,
    CROWDED,
    FIRST,
    LOST,
    ONCE,
    ROOMIER,
    Epoch,
    Manifest,
    Omitted,
    Prompt,
    hash_of,
)
from looseleaf.prompt.message_parts import ChangeTracker, PromptParts, VersionLost
from looseleaf.prompt.prompt_log import CurrentEpoch, Overtaken, PromptLog, task_message
from looseleaf.prompt.slot_forms import SHOWN, is_said, plain
from looseleaf.prompt.snapshot import SlotReader, items_of
from looseleaf.text.times import written
from looseleaf.window.window import costs_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Protocol

    from looseleaf.base.values import Record
    from looseleaf.place.notebook import Notebook
    from looseleaf.prompt import snapshot as slots
    from looseleaf.prompt.manifest import EpochChange
    from looseleaf.store.context import Context
    from looseleaf.window.conversation import Conversation
    from looseleaf.window.window import Count, Window

    class Needs(slots.Needs, Protocol):
        @property
        def conversation(self) -> Conversation: ...
        @property
        def notebook(self) -> Notebook: ...


_TRIES, _COMPACTIONS = 32, 4
"""How often to make a prompt anew while other processes record, compact and prompt; and how often to compact the window
for it."""

_MOST = 10**9
"""Largest budget in tokens: more than any model takes."""

_LONGEST = 16
"""Characters per token of the budget to read of a window before compacting it."""

_TALK = 4
"""A new beginning leaves a quarter of the room free for talk, to last for some turns."""

_ROOMIER = 2
"""Render a cut beginning anew once there is so many times its room."""


@frozen
class PromptRequest:
    """A requested prompt: its task, and its size in tokens as counted here (`room`)."""

    task: str | None
    budget: int
    room: int
    model: str
    tokenizer: str
    count: Count
    margin: float
    dry_run: bool

    def needed(self, tokens: int) -> int:
        """Return the budget with room for so many tokens as counted here."""
        budget = int(tokens * self.margin)
        while int(budget / self.margin) < tokens:
            budget += 1
        return budget


class Prompts:
    def __init__(self, context: Context, parts: Needs) -> None:
        self._store, self._policy = context.store, context.policy
        self._agent, self._note = context.agent, context.note
        self._parts = parts
        self.gather = SlotReader(context, parts)
        self.log = PromptLog(context.store, context.agent, self.gather.farther.read_line)
        self._since = ChangeTracker(parts.pages, self.gather, context.note)
        self._current = CurrentEpoch(context.store, self.log, context.agent)

    def __call__(
        self, task: str | None, budget: int | None, model: str | None, *, dry_run: bool = False
    ) -> Prompt:
        asked = self._read_request(task, budget, model, dry_run)
        talk = self._parts.conversation
        window = talk.window
        may_compact = not dry_run
        for tries in range(_TRIES, 0, -1):
            may_compact = may_compact and tries > _TRIES - _COMPACTIONS
            limit = _LONGEST * asked.room if may_compact else None
            if not may_compact and not dry_run:
                self._cut_window(asked)
            with window.alone(), self._store.reading():
                head = talk.read_head()
                flag = head.flag if may_compact else None
                if flag is None and (window.read(limit) if limit is not None else talk.read_window()):
                    try:
                        made = self._make_prompt(asked, window, may_compact=may_compact)
                    except (Overtaken, Outdated):
                        self._since.forget()
                        continue
                    if isinstance(made, Prompt):
                        return made
                else:
                    self._current.load()
                    made = self._measure_talk_room(asked)
            # Outside the lock: a custom distiller may read messages too. If nothing can be compacted, the window is
            # shown as far as there is room.
            may_compact = bool(made) and self._compact_window(asked, made, head.mark, is_over=flag is None)
        raise Refused(
            "No prompt was made: other processes make prompts for this agent faster than this one can. "
            "Give each process its own agent name."
        )

    def _compact_window(self, asked: PromptRequest, room: int, seen: str | None, *, is_over: bool) -> bool:
        talk = self._parts.conversation
        try:
            return talk.make_room(None, asked.model, seen=seen, room=room, is_over=is_over)
        except (Unwritten, Busy):
            raise
        except Refused as refused:
            self._note(str(refused))
            return False

    def _cut_window(self, asked: PromptRequest) -> None:
        """Cut a window that is too long to be read: the end of it, which this prompt shows, must be found again."""
        try:
            self._parts.conversation.cut_if_long(asked.model)
        except (Unwritten, Busy) as error:
            self._note(str(error))

    def _read_request(
        self, task: str | None, budget: int | None, model: str | None, dry_run: bool
    ) -> PromptRequest:
        talk = self._parts.conversation
        if task is not None and not isinstance(task, str):
            raise Invalid(f"A task is text, not {type(task).__name__}. Give the request itself.")
        if budget is not None and (type(budget) is not int or not 0 < budget <= _MOST):
            said = repr(budget) if type(budget) is not int or abs(budget) <= _MOST else "that one"
            raise Invalid(
                f"The budget must be a number of tokens from 1 to {_MOST:,}, not {said}. "
                "Leave it out for the model's own."
            )
        if model is not None and not isinstance(model, str):
            raise Invalid(f"A model's name is text, not {type(model).__name__}. Leave it out, or name it.")
        name = model or self._policy.model
        row = talk.model(name)
        if name is not None and self._policy.context_tokens is None and not is_known(name):
            self._note(
                f"The model {name!r} is unknown: {row.max_context_tokens:,} tokens of context are assumed, counted "
                "with some margin. If it has more, set context_tokens in looseleaf.toml, or give a budget."
            )
        tokens = budget if budget is not None else talk.budget(name).input
        request = talk.recorder.without_secrets(task) if task is not None and task.strip() else None
        room = int(tokens / row.count_margin)
        unit, count = talk.unit(name), talk.counter(name)
        return PromptRequest(request, tokens, room, name or row.name, unit, count, row.count_margin, dry_run)

    def _make_prompt(self, asked: PromptRequest, window: Window, *, may_compact: bool) -> Prompt | int:
        """Return the prompt; or, if the window must be compacted first, the tokens left for it."""
        self._parts.pages.absorb_to_read(TOP)
        self._current.load()
        why = self._find_reason(asked, window)
        if why is None:
            try:
                prompt = self._continue_epoch(asked, window)
            except VersionLost:
                return self._begin_epoch(asked, window, LOST, may_compact=may_compact)
            if prompt is not None:
                return prompt
            if may_compact and (room := self._measure_talk_room(asked)):
                return room
            is_smaller = self._current.epoch is not None and asked.room < self._current.epoch.budget
            why = ONCE if is_smaller or asked.dry_run else CROWDED
        return self._begin_epoch(asked, window, why, may_compact=may_compact)

    def _find_reason(self, asked: PromptRequest, window: Window) -> str | None:
        mark = window.mark.id if window.mark is not None else None
        epoch, last = self._current.epoch, self._current.last or {}
        if epoch is None:
            return FIRST if mark is None else COMPACTED
        if epoch.mark != mark:
            return COMPACTED
        if epoch.cuts and asked.room >= _ROOMIER * epoch.budget:
            return ROOMIER
        is_new = last.get("session") != self._parts.conversation.recorder.session
        is_long = abs(clock.now() - float(last.get("ts", epoch.ts))) > self._policy.session_seconds
        return COLD if is_new and is_long else None

    def _continue_epoch(self, asked: PromptRequest, window: Window) -> Prompt | None:
        """Return the prompt with the current beginning; None if it does not fit."""
        epoch, before = self._current.epoch, self._current.changes
        assert epoch is not None
        change = self._since.change(epoch, before, window, self._current.last)
        changes = [*before, change] if change is not None else before
        parts = self._parts_of(asked, epoch, window, changes)
        if parts.total > asked.room:
            self._since.forget()
            return None
        return self._finish(asked, window, parts, change)

    def _parts_of(
        self,
        asked: PromptRequest,
        epoch: Epoch,
        window: Window,
        changes: Sequence[EpochChange],
        shown: Record | None = None,
    ) -> PromptParts:
        at = find_request(asked.task, window)
        return PromptParts(epoch, window, changes, asked.task, at, asked.count, asked.tokenizer, shown)

    def _begin_epoch(
        self, asked: PromptRequest, window: Window, why: str, *, may_compact: bool
    ) -> Prompt | int:
        """Return the prompt with a new beginning; or the tokens left for the window, if it must be compacted."""
        self._parts.notebook.catch_up()  # reads all pages first
        charter = self.gather.charter()
        upto = [MESSAGE_TOKENS + asked.count([charter.text[:end]])[0] for _, end, _ in charter.ends]
        at = find_request(asked.task, window)
        sums = window.weights(asked.tokenizer, asked.count)
        fixed = upto[-1] if upto else 0
        if at is not None:  # it may have pictures
            fixed += sums[at + 1] - sums[at]
        elif asked.task is not None:
            fixed += costs_of([task_message(asked.task)], asked.count)[0]
        if fixed > asked.room and asked.task is None and at is not None:
            # Recorded words may be compacted or shortened.
            fixed, at = upto[-1] if upto else 0, None
        if fixed > asked.room:
            raise BudgetTooSmall(
                asked.budget, asked.needed(fixed), "the charter (SOUL.md, PROJECT.md) and the task"
            )
        room = asked.room - fixed
        slots, never = self.gather.slots(window.mark)
        said = sums[-1] - (sums[at + 1] - sums[at] if at is not None else 0)
        number = int(bool(charter.text))
        # The first beginning is whole if that fits at all; later ones know that there will be talk.
        free = 0 if why in (FIRST, ONCE) else room // _TALK
        fitted = fit(slots, room - max(said, free), asked.count, number)
        shown: Record | None = None
        if fitted.is_squeezed and said > room // _TALK:
            if may_compact and (left := self._measure_talk_room(asked, room)):
                return left
            shown, said = trim_window(window, at, room // 2, asked.count, sums)
            fitted = fit(slots, room - said, asked.count, number)
            if self._current.epoch is not None:
                why = ONCE
        left_out = self._find_repeats(window, fitted.text)
        omitted = [*fitted.omitted, *never]
        omitted += [Omitted("semantic", "window", SHOWN, left_out)] if left_out else []
        epoch = Epoch(
            new_id(),
            clock.now(),
            window.mark.id if window.mark is not None else None,
            why,
            charter.text,
            fitted.text,
            (*items_of(charter, upto), *fitted.items),
            tuple(omitted),
            self._since.begin(),
            left_out if shown is None else (),
            fitted.steps,
            asked.room,
            asked.tokenizer,
            self.gather.farther.lines(fitted.items),
        )
        return self._finish(asked, window, self._parts_of(asked, epoch, window, (), shown), None, epoch)

    def _measure_talk_room(self, asked: PromptRequest, room: int | None = None) -> int:
        """Return the tokens that a compaction leaves for the window; 0 if too few to compact for."""
        epoch = self._current.epoch
        if room is None:
            fixed = [task_message(asked.task)] if asked.task is not None else []
            system = epoch.messages[:1] if epoch is not None and epoch.system else []
            room = asked.room - sum(costs_of([*fixed, *system], asked.count))
        memory = asked.count([epoch.memory])[0] + MESSAGE_TOKENS if epoch is not None else room // 2
        left = room - min(room // 2, memory + memory // 8)
        return left if left >= self._policy.least_window_tokens else 0

    @staticmethod
    def _find_repeats(window: Window, memory: str) -> tuple[str, ...]:
        """Return the sentences of the window's snapshot that the memory's message says too."""
        if window.mark is None:
            return ()
        said = plain(memory)
        # A sentence may have a label before it: `Decision: …`.
        named = ((each, each.partition(": ")[2]) for each in window.mark.semantic)
        return tuple(each for each, bare in named if is_said(each, said) or is_said(bare, said))

    def _finish(
        self,
        asked: PromptRequest,
        window: Window,
        parts: PromptParts,
        change: EpochChange | None,
        begun: Epoch | None = None,
    ) -> Prompt:
        epoch, omitted = parts.epoch, parts.omitted()
        messages = tuple(parts.messages())
        now = clock.now()
        manifest = Manifest(
            new_id(),
            written(now),
            parts.total,
            asked.budget,
            parts.items,
            (*epoch.omitted, *omitted),
            asked.model,
            asked.tokenizer,
            hash_of(epoch.messages),
            hash_of(messages),
            self._agent,
            epoch.why,
            self._current.prefix(messages, asked.tokenizer, asked.count),
            epoch.cuts,
        )
        if asked.dry_run:
            self._since.forget()
            return Prompt(messages, manifest)
        head, traces, begins = window.head, window.traces, len(epoch.messages)
        counted = (
            Omitted(each.id, each.slot, each.reason).to_dict() | _count_of(each) for each in epoch.omitted
        )
        record = manifest.to_dict() | {
            "ts": now,
            "kind": "prompt",
            # Without what the record of the beginning holds.
            "items": [
                item.but(of=() if item.first < begins else item.of).to_dict() for item in manifest.items
            ],
            "omitted": [*counted, *(each.to_dict() for each in omitted)],
            "session": self._parts.conversation.recorder.session,
            "task": asked.task if parts.asked_at is None else None,
            "mark": [head.mark, head.segment, head.offset] if head.mark is not None else None,
            "through": window.last,
            "shown": traces[-1].id if traces else None,
            "trimmed": parts.trimmed,
        }
        try:
            self._current.append(record, messages, begun, change)
        except (Unwritten, Busy) as error:
            self._note(f"{error} The prompt was made; its manifest is not in the log.")
        if epoch is not self._current.epoch or (change is not None and change not in self._current.changes):
            self._since.forget()  # this prompt only: its change must be reported again
        return Prompt(messages, manifest)


def is_known(model: str) -> bool:
    """True if the table has a row for a model or its family."""
    from looseleaf.models.model_table import known_models
    from looseleaf.models.model_table import model as row_of

    return row_of(model).name in known_models()


def find_request(task: str | None, window: Window) -> int | None:
    """Return the number of the window's message that is the unanswered request; None if there is none. Without a task,
    the request is the user's last words."""
    for trace in reversed(window.traces):
        if trace.trace_type == "assistant":
            return None
        if trace.trace_type == "user":
            at = window.after(trace.id)
            if at is None or trace.content.strip() != (task or trace.content).strip():
                return None
            # Else the window shows a stand-in for it.
            is_whole = window.messages[at - 1].content == task_message(trace.content).content
            return at - 1 if is_whole else None
    return None


def _count_of(omitted: Omitted) -> Record:
    return {"count": max(1, len(omitted.of))}
