"""Prompts: the memory and the window of one agent, assembled within a budget (DESIGN §7).

Between two compactions a prompt is the one before it and what is new. Its beginning (charter and memory) is rendered
once and kept in the log; what changes afterwards is told in a message of its own, behind what was said by then, and
stays there. Where it would not fit, the window is compacted first, which begins a new epoch; where that cannot help
either, one prompt is made with less, and the epoch goes on after it.
"""

from __future__ import annotations

from looseleaf.base import ids as clock
from looseleaf.base.errors import BudgetTooSmall, Busy, Refused, Unwritten
from looseleaf.base.ids import new_id
from looseleaf.base.immutable import frozen
from looseleaf.log.trace_messages import MESSAGE_TOKENS
from looseleaf.pages.outside_edits import TOP
from looseleaf.prompt.fit import fit, trimmed
from looseleaf.prompt.manifest import (
    COLD,
    COMPACTED,
    CROWDED,
    FIRST,
    ONCE,
    ROOMIER,
    Epoch,
    Manifest,
    Omitted,
    Prompt,
    hash_of,
)
from looseleaf.prompt.message_parts import Parts, Since
from looseleaf.prompt.prompt_log import Current, Overtaken, PromptLog, task_message
from looseleaf.prompt.slot_forms import SHOWN, is_said, plain
from looseleaf.prompt.snapshot import Gather, items_of
from looseleaf.text.times import written
from looseleaf.window.window import costs_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Protocol

    from looseleaf.base.values import Record
    from looseleaf.place.notebook import Notebook
    from looseleaf.prompt import snapshot as slots
    from looseleaf.prompt.manifest import Change, Item
    from looseleaf.store.context import Context
    from looseleaf.window.conversation import Conversation
    from looseleaf.window.window import Count, Window

    class Needs(slots.Needs, Protocol):
        @property
        def conversation(self) -> Conversation: ...
        @property
        def notebook(self) -> Notebook: ...


_TRIES, _COMPACTIONS = 32, 4
"""How often a prompt is made anew when other processes record, compact and prompt in the same moment; and how often the
window is compacted for it."""

_MOST = 10**9
"""Tokens of a budget: more than any model takes."""

_LONGEST = 32
"""Characters for each token of the budget that are read of a window at most before it is compacted."""

_TALK = 4
"""A quarter of the room is kept free for talk when a beginning is rendered anew: it is to last for some turns."""

_ROOMIER = 2
"""A beginning that had to be cut is rendered anew where there is so many times the room that it had."""


@frozen
class Asked:
    """A prompt that is wanted: for which task, and in how many tokens as they are counted here (`room`)."""

    task: str | None
    budget: int
    room: int
    model: str
    tokenizer: str
    count: Count
    margin: float
    dry_run: bool

    def needed(self, tokens: int) -> int:
        """The budget in which there is room for so many tokens as they are counted here."""
        budget = int(tokens * self.margin)
        while int(budget / self.margin) < tokens:
            budget += 1
        return budget


class Prompts:
    def __init__(self, context: Context, parts: Needs) -> None:
        self._store, self._policy = context.store, context.policy
        self._agent, self._note = context.agent, context.note
        self._parts = parts
        self.gather = Gather(context, parts)
        self.log = PromptLog(context.store, context.agent)
        self._since = Since(parts.pages, self.gather, context.note)
        self._current = Current(context.store, self.log, context.agent)

    # --- asking ------------------------------------------------------------------------

    def __call__(
        self, task: str | None, budget: int | None, model: str | None, *, dry_run: bool = False
    ) -> Prompt:
        asked = self._asked(task, budget, model, dry_run)
        talk = self._parts.conversation
        window = talk.window
        may_compact = not dry_run
        for tries in range(_TRIES, 0, -1):
            may_compact = may_compact and tries > _TRIES - _COMPACTIONS
            limit = _LONGEST * asked.room if may_compact else None
            with window.alone():
                flag = talk.flagged if may_compact else None
                if flag is None and window.read(limit):
                    try:
                        made = self._made(asked, window, may_compact=may_compact)
                    except Overtaken:
                        self._since.forget()
                        continue
                    if isinstance(made, Prompt):
                        return made
                else:
                    self._current.recall()
                    made = self._room_for_talk(asked)
            # Not under that lock: a distiller of somebody's may ask for messages too. Where nothing can be compacted,
            # the window is shown as far as there is room.
            may_compact = bool(made) and self._compacted(asked, made, is_over=flag is None)
        raise Refused(
            "No prompt was made: other processes make prompts for this agent faster than this one can. "
            "Give each of them an agent's name of its own."
        )

    def _compacted(self, asked: Asked, room: int, *, is_over: bool) -> bool:
        try:
            return self._parts.conversation.compact(None, asked.model, room=room, is_over=is_over) is not None
        except (Unwritten, Busy):
            raise
        except Refused as refused:
            self._note(str(refused))
            return False

    def _asked(self, task: str | None, budget: int | None, model: str | None, dry_run: bool) -> Asked:
        talk = self._parts.conversation
        if task is not None and not isinstance(task, str):
            raise Refused(
                f"No prompt was made: a task is a text, not {type(task).__name__}. Give the request itself."
            )
        if budget is not None and (type(budget) is not int or not 0 < budget <= _MOST):
            said = repr(budget) if type(budget) is not int or abs(budget) <= _MOST else "such a one"
            raise Refused(
                f"No prompt was made: the budget is a number of tokens from 1 to {_MOST:,}, not {said}. "
                "Leave it out to have the model's own."
            )
        if model is not None and not isinstance(model, str):
            raise Refused(
                f"No prompt was made: a model is named by a text, not {type(model).__name__}. Leave it out, or name it."
            )
        name = model or self._policy.model
        row = talk.model(name)
        if name is not None and not is_known(name):
            self._note(
                f"The model {name!r} is not known: {row.max_context_tokens:,} tokens of context are assumed, counted "
                "with some margin. Give a budget to be exact."
            )
        tokens = budget if budget is not None else talk.budget(name).input
        request = talk.recorder.without_secrets(task) if task is not None and task.strip() else None
        room = int(tokens / row.count_margin)
        unit, count = talk.unit(name), talk.counter(name)
        return Asked(request, tokens, room, name or row.name, unit, count, row.count_margin, dry_run)

    # --- the epoch ---------------------------------------------------------------------

    def _made(self, asked: Asked, window: Window, *, may_compact: bool) -> Prompt | int:
        """The prompt; or, where the window has to be compacted for it, the tokens that are left for the window."""
        self._parts.pages.absorb_to_read(TOP)
        self._current.recall()
        why = self._why_anew(asked, window)
        if why is None:
            prompt = self._goes_on(asked, window)
            if prompt is not None:
                return prompt
            if may_compact and (room := self._room_for_talk(asked)):
                return room
            why = ONCE if asked.room < self._budget or asked.dry_run else CROWDED
        return self._begins(asked, window, why, may_compact=may_compact)

    @property
    def _budget(self) -> int:
        """The room that the beginning of this epoch was made for."""
        return self._current.epoch.budget if self._current.epoch is not None else 0

    def _why_anew(self, asked: Asked, window: Window) -> str | None:
        mark = window.mark.id if window.mark is not None else None
        epoch, last = self._current.epoch, self._current.last or {}
        if epoch is None:
            return FIRST if mark is None else COMPACTED
        if epoch.mark != mark:
            return COMPACTED
        if epoch.cuts and asked.room >= _ROOMIER * epoch.budget:
            return ROOMIER
        is_new = last.get("session") != self._parts.conversation.recorder.session
        is_long = clock.now() - float(last.get("ts", epoch.ts)) > self._policy.session_seconds
        return COLD if is_new and is_long else None

    def _goes_on(self, asked: Asked, window: Window) -> Prompt | None:
        """The prompt with the beginning that there is; None if it does not fit."""
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
        asked: Asked,
        epoch: Epoch,
        window: Window,
        changes: Sequence[Change],
        shown: Record | None = None,
    ) -> Parts:
        at = asked_at(asked.task, window)
        return Parts(epoch, window, changes, asked.task, at, asked.count, asked.tokenizer, shown)

    # --- beginning anew ----------------------------------------------------------------

    def _begins(self, asked: Asked, window: Window, why: str, *, may_compact: bool) -> Prompt | int:
        """The prompt with a new beginning; or the tokens that are left for the window, where it must be compacted."""
        self._parts.notebook.catch_up()  # looks at all pages first
        charter = self.gather.charter()
        upto = [MESSAGE_TOKENS + asked.count([charter.text[:end]])[0] for _, end, _ in charter.ends]
        at = asked_at(asked.task, window)
        sums = window.weights(asked.tokenizer, asked.count)
        fixed = upto[-1] if upto else 0
        if at is not None:  # it may have pictures
            fixed += sums[at + 1] - sums[at]
        elif asked.task is not None:
            fixed += costs_of([task_message(asked.task)], asked.count)[0]
        if fixed > asked.room and asked.task is None and at is not None:
            fixed, at = (
                upto[-1] if upto else 0,
                None,
            )  # words that were recorded may be compacted, or shortened
        if fixed > asked.room:
            raise BudgetTooSmall(
                asked.budget, asked.needed(fixed), "the charter (SOUL.md, PROJECT.md) and the task"
            )
        room = asked.room - fixed
        slots, never = self.gather.slots(window.mark)
        said = sums[-1] - (sums[at + 1] - sums[at] if at is not None else 0)
        number = int(bool(charter.text))
        # The first is whole if that fits at all; later it is known that there will be talk.
        free = 0 if why in (FIRST, ONCE) else room // _TALK
        fitted = fit(slots, room - max(said, free), asked.count, number)
        shown: Record | None = None
        if fitted.is_squeezed and said > room // _TALK:
            if may_compact and (left := self._room_for_talk(asked, room)):
                return left
            shown, said = trimmed(window, at, room // 2, asked.count)
            fitted = fit(slots, room - said, asked.count, number)
            if self._current.epoch is not None:
                why = ONCE
        left_out = self._said_already(window, fitted.text)
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
        )
        return self._finish(asked, window, self._parts_of(asked, epoch, window, (), shown), None, epoch)

    def _room_for_talk(self, asked: Asked, room: int | None = None) -> int:
        """The tokens that a compaction leaves for the window; 0 where that is too little to compact for."""
        epoch = self._current.epoch
        if room is None:
            fixed = [task_message(asked.task)] if asked.task is not None else []
            system = epoch.messages[:1] if epoch is not None and epoch.system else []
            room = asked.room - sum(costs_of([*fixed, *system], asked.count))
        memory = asked.count([epoch.memory])[0] + MESSAGE_TOKENS if epoch is not None else room // 2
        left = room - min(room // 2, memory + memory // 8)
        return left if left >= self._policy.least_window_tokens else 0

    @staticmethod
    def _said_already(window: Window, memory: str) -> tuple[str, ...]:
        """The sentences of the window's snapshot that the memory's message says too."""
        if window.mark is None:
            return ()
        said = plain(memory)
        # A sentence of it may have a label before it: `Decision: …`.
        return tuple(
            each
            for each in window.mark.semantic
            if is_said(each, said) or is_said(each.partition(": ")[2], said)
        )

    # --- writing it down ---------------------------------------------------------------

    def _finish(
        self, asked: Asked, window: Window, parts: Parts, change: Change | None, begun: Epoch | None = None
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
        head, traces = window.head, window.traces
        record = manifest.to_dict() | {
            "ts": now,
            "kind": "prompt",
            "items": [_small(item, len(epoch.messages)) for item in manifest.items],
            "omitted": [
                *(_counted(each) for each in epoch.omitted),
                *(each.to_dict() for each in omitted),
            ],
            "session": self._parts.conversation.recorder.session,
            "task": asked.task if parts.asked_at is None else None,
            "mark": [head.mark, head.segment, head.offset] if head.mark is not None else None,
            "through": window.last,
            "shown": traces[-1].id if traces else None,
            "trimmed": parts.trimmed,
        }
        try:
            self._current.go_on(record, messages, begun, change)
        except (Unwritten, Busy) as error:
            self._note(f"{error} The prompt was made; its manifest is not in the log.")
        if epoch is not self._current.epoch or (change is not None and change not in self._current.changes):
            self._since.forget()  # it was for this prompt only: what it told is still to be told
        return Prompt(messages, manifest)


def is_known(model: str) -> bool:
    """Whether there is a row for a model, or for its family."""
    from looseleaf.models.model_table import MODELS
    from looseleaf.models.model_table import model as row_of

    return row_of(model).name in MODELS


def asked_at(task: str | None, window: Window) -> int | None:
    """The number of the window's message that is the request, and was not answered yet; None: there is none. Without a
    task, the user's last words are it."""
    for trace in reversed(window.traces):
        if trace.trace_type == "assistant":
            return None
        if trace.trace_type == "user":
            at = window.after(trace.id)
            if at is None or trace.content.strip() != (task or trace.content).strip():
                return None
            # Else a stand-in is told of it.
            is_whole = window.messages[at - 1].content == task_message(trace.content).content
            return at - 1 if is_whole else None
    return None


def _small(item: Item, begun: int) -> Record:
    """Without what stands in the record of the beginning."""
    record = item.to_dict()
    if item.first < begun:
        record.pop("of", None)
    return record


def _counted(omitted: Omitted) -> Record:
    record = omitted.to_dict()
    return {name: value for name, value in record.items() if name != "of"} | {
        "count": max(1, len(omitted.of))
    }
