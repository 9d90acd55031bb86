"""Prompts: the memory and the window of one agent, assembled within a budget (DESIGN §7).

Between two compactions a prompt is the one before it and what is new. Its beginning (charter and memory) is rendered
once and kept in the log; what changes afterwards is told in a message of its own, behind what was said by then, and
stays there. Where it would not fit, the window is compacted first, which begins a new epoch; where that cannot help
either, one prompt is made with less, and the epoch goes on after it.
"""

from __future__ import annotations

import time

from looseleaf.absorb import TOP
from looseleaf.conversation.window import costs_of
from looseleaf.core.manifest import Manifest, Omitted, Prompt, hash_of
from looseleaf.core.prompt import fit
from looseleaf.core.shown import SHOWN, is_said, plain
from looseleaf.core.times import written
from looseleaf.core.window import MESSAGE_TOKENS
from looseleaf.errors import BudgetTooSmall, Busy, Refused, Unwritten
from looseleaf.frozen import frozen
from looseleaf.prompt.epoch import COLD, COMPACTED, CROWDED, FIRST, ONCE, ROOMIER, Epoch
from looseleaf.prompt.gather import Gather, items_of
from looseleaf.prompt.log import PromptLog, ref_of, task_message
from looseleaf.prompt.parts import Parts
from looseleaf.prompt.since import Since
from looseleaf.prompt.trim import trimmed
from looseleaf.store.ulid import new_id

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from looseleaf.conversation.conversation import Conversation
    from looseleaf.conversation.window import Count, Window
    from looseleaf.core.manifest import Item
    from looseleaf.pages import Pages
    from looseleaf.place.notebook import Notebook
    from looseleaf.place.state import State
    from looseleaf.policy import Policy
    from looseleaf.prompt.epoch import Change, Ref
    from looseleaf.store.protocol import Store
    from looseleaf.talk import Message
    from looseleaf.values import Record

_TRIES = 4
"""Compactions that are tried when other processes record and compact in the same moment."""

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
    def __init__(
        self,
        store: Store,
        policy: Policy,
        agent: str,
        pages: Pages,
        talk: Callable[[], Conversation],
        book: Callable[[], Notebook],
        state: Callable[[], State],
        note: Callable[[str], None],
    ) -> None:
        self._store = store
        self._policy = policy
        self._agent = agent
        self._pages = pages
        self._talk = talk
        self._book = book
        self._note = note
        self.gather = Gather(pages, book, state, policy, note)
        self.log = PromptLog(store, agent)
        self._since = Since(pages, self.gather, note)
        self._epoch: Epoch | None = None
        self._ref: Ref | None = None
        self._changes: list[tuple[Ref, Change]] = []
        self._last: Record | None = None
        """The record of the last prompt."""
        self._is_known = False
        self._before: tuple[Message, ...] = ()

    # --- asking ------------------------------------------------------------------------

    def __call__(
        self, task: str | None, budget: int | None, model: str | None, *, dry_run: bool = False
    ) -> Prompt:
        asked = self._asked(task, budget, model, dry_run)
        talk = self._talk()
        window = talk.window
        limit: int | None = _LONGEST * asked.room
        may_compact = not dry_run
        for _ in range(_TRIES):
            with window.alone():
                flag = talk.flagged if may_compact else None
                if flag is None and window.read(limit):
                    made = self._made(asked, window, may_compact=may_compact)
                    if isinstance(made, Prompt):
                        return made
                else:
                    self._recall()
                    made = self._room_for_talk(asked)
            # Not under that lock: a distiller of somebody's may ask for messages too.
            if not made or not self._compacted(asked, made, is_over=flag is None):
                limit, may_compact = None, False  # it is shown as far as there is room
        raise Refused(
            "No prompt was made: other processes record for this agent faster than its window can be compacted. "
            "Give each of them an agent's name of its own."
        )

    def _compacted(self, asked: Asked, room: int, *, is_over: bool) -> bool:
        try:
            return self._talk().compact(None, asked.model, room=room, is_over=is_over) is not None
        except (Unwritten, Busy):
            raise
        except Refused as refused:
            self._note(str(refused))
            return False

    def _asked(self, task: str | None, budget: int | None, model: str | None, dry_run: bool) -> Asked:
        talk = self._talk()
        if task is not None and not isinstance(task, str):
            raise Refused(
                f"No prompt was made: a task is a text, not {type(task).__name__}. Give the request itself."
            )
        if budget is not None and (type(budget) is not int or budget <= 0):
            raise Refused(
                f"No prompt was made: the budget is a number of tokens greater than zero, not {budget!r}. "
                "Leave it out to have the model's own."
            )
        name = model or self._policy.model
        row = talk.model(name)
        if name is not None and not is_known(name):
            self._note(
                f"The model {name!r} is not known: {row.max_context_tokens:,} tokens of context are assumed, counted "
                "with some margin. Give a budget to be exact."
            )
        tokens = budget if budget is not None else talk.budget(name).input
        said = talk.recorder.without_secrets(task) if task is not None and task.strip() else None
        room = int(tokens / row.count_margin)
        unit, count = talk.unit(name), talk.counter(name)
        return Asked(said, tokens, room, name or row.name, unit, count, row.count_margin, dry_run)

    # --- the epoch ---------------------------------------------------------------------

    def _made(self, asked: Asked, window: Window, *, may_compact: bool) -> Prompt | int:
        """The prompt; or, where the window has to be compacted for it, the tokens that are left for the window."""
        self._look(TOP)
        self._recall()
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
        return self._epoch.budget if self._epoch is not None else 0

    def _look(self, folders: Sequence[str]) -> None:
        """Take in what people changed. A full or read-only disk keeps nobody from reading."""
        try:
            self._pages.absorb(folders)
        except (Unwritten, Busy) as error:
            self._note(str(error))

    def _recall(self) -> None:
        """The epoch of the last prompt, also where another process made it."""
        last = self.log.last()
        if self._is_known and (last is None or last["id"] == (self._last or {}).get("id")):
            return
        self._is_known = True
        self._epoch, self._ref, self._changes, self._last, self._before = None, None, [], last, ()
        if last is None:
            return
        try:
            frozen_at = ref_of(last["frozen"]["snapshot"])
            epoch = self.log.epoch(frozen_at)
            changes = [(ref_of(ref), self.log.change(ref)) for ref in last["frozen"]["changes"]]
        except (KeyError, TypeError, ValueError, Refused):
            return  # what cannot be read is rendered anew
        self._epoch, self._ref, self._changes = epoch, frozen_at, changes

    def _why_anew(self, asked: Asked, window: Window) -> str | None:
        mark = window.mark.id if window.mark is not None else None
        epoch, last = self._epoch, self._last or {}
        if epoch is None:
            return FIRST if mark is None else COMPACTED
        if epoch.mark != mark:
            return COMPACTED
        if epoch.cuts and asked.room >= _ROOMIER * epoch.budget:
            return ROOMIER
        is_new = last.get("session") != self._talk().recorder.session
        is_long = time.time() - float(last.get("ts", epoch.ts)) > self._policy.session_seconds
        return COLD if is_new and is_long else None

    def _goes_on(self, asked: Asked, window: Window) -> Prompt | None:
        """The prompt with the beginning that there is; None if it does not fit."""
        assert self._epoch is not None
        before = [each for _, each in self._changes]
        change = self._since.change(self._epoch, before, window, self._last)
        changes = [*before, change] if change is not None else before
        parts = self._parts(asked, self._epoch, window, changes)
        if parts.total > asked.room:
            self._since.forget()
            return None
        return self._finish(asked, window, parts, change)

    def _parts(
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
        self._pages.absorb_to_read()
        self._book().catch_up()
        charter = self.gather.charter()
        upto = [MESSAGE_TOKENS + asked.count([charter.text[:end]])[0] for _, end, _ in charter.ends]
        at = asked_at(asked.task, window)
        sums = window.weights(asked.tokenizer, asked.count)
        fixed = upto[-1] if upto else 0
        if at is not None:  # it may have pictures
            fixed += sums[at + 1] - sums[at]
        elif asked.task is not None:
            fixed += costs_of([task_message(asked.task)], asked.count)[0]
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
        left_out = self._said_already(window, fitted.text)
        omitted = [*fitted.omitted, *never]
        omitted += [Omitted("semantic", "window", SHOWN, left_out)] if left_out else []
        epoch = Epoch(
            new_id(),
            time.time(),
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
        return self._finish(asked, window, self._parts(asked, epoch, window, (), shown), None, epoch)

    def _room_for_talk(self, asked: Asked, room: int | None = None) -> int:
        """The tokens that a compaction leaves for the window; 0 where that is too little to compact for."""
        epoch = self._epoch
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
        epoch = parts.epoch
        messages = tuple(parts.messages())
        now = time.time()
        manifest = Manifest(
            new_id(),
            written(now),
            parts.total,
            asked.budget,
            parts.items,
            (*epoch.omitted, *parts.omitted()),
            asked.model,
            asked.tokenizer,
            hash_of(epoch.messages),
            hash_of(messages),
            self._agent,
            epoch.why,
            self._prefix(messages, asked),
            epoch.cuts,
        )
        if asked.dry_run:
            self._since.forget()
        else:
            try:
                self._write(asked, window, parts, change, begun, manifest, now)
                self._before = messages
            except (Unwritten, Busy) as error:
                self._note(f"{error} The prompt was made; its manifest is not in the log.")
                self._since.forget()
                self._before = ()
        return Prompt(messages, manifest)

    def _prefix(self, messages: tuple[Message, ...], asked: Asked) -> int:
        """The tokens of the messages that the last prompt had at the same places: a cache may know them."""
        common, last = 0, self._last or {}
        if self._before:
            for old, new in zip(self._before, messages, strict=False):
                if old is not new and old != new:
                    break
                common += 1
            if common == len(self._before) and last.get("tokenizer") == asked.tokenizer:
                return int(last["total_tokens"])  # all of it: that was counted
        elif last:  # another process made it: its hash says whether this one begins with it
            number = max((int(item["messages"][1]) for item in last["items"]), default=0)
            common = number if hash_of(messages[:number]) == last["sha256"] else 0
            begun = len(self._epoch.messages) if self._epoch is not None else 0
            if not common and hash_of(messages[:begun]) == last["prefix_hash"]:
                common = begun
        return sum(costs_of(messages[:common], asked.count))

    def _write(
        self,
        asked: Asked,
        window: Window,
        parts: Parts,
        change: Change | None,
        begun: Epoch | None,
        manifest: Manifest,
        now: float,
    ) -> None:
        with self._store.lock():
            used = self._ref
            if begun is not None:
                used = self.log.append(begun.to_record(self._agent))
                if begun.why != ONCE or self._epoch is None:
                    self._epoch, self._ref, self._changes = begun, used, []
                else:
                    self._since.forget()
            elif change is not None:
                ref = self.log.append(change.to_record(self._agent, parts.epoch.id))
                self._changes.append((ref, change))
            head = window.head
            record = manifest.to_dict() | {
                "ts": now,
                "kind": "prompt",
                "items": [_small(item, len(parts.epoch.messages)) for item in manifest.items],
                "omitted": [
                    *(_counted(each) for each in parts.epoch.omitted),
                    *(each.to_dict() for each in parts.omitted()),
                ],
                "session": self._talk().recorder.session,
                "task": asked.task if parts.asked_at is None else None,
                "snapshot": used,
                "changes": [ref for ref, _ in self._changes] if begun is None else [],
                "mark": [head.mark, head.segment, head.offset] if head.mark is not None else None,
                "through": window.last,
                "trimmed": parts.trimmed,
                "frozen": {"snapshot": self._ref, "changes": [ref for ref, _ in self._changes]},
            }
            self.log.append(record)
            self._last = record


def is_known(model: str) -> bool:
    """Whether there is a row for a model, or for its family."""
    from looseleaf.llm.registry import MODELS
    from looseleaf.llm.registry import model as row_of

    return row_of(model).name in MODELS


def asked_at(task: str | None, window: Window) -> int | None:
    """The number of the window's message that is the request, and was not answered yet; None: there is none. Without a
    task, the user's last words are it."""
    traces = window.traces
    if not traces or traces[-1].trace_type == "assistant":
        return None
    first = next((each for each in traces if each.turn_id == traces[-1].turn_id), traces[-1])
    at = window.after(first.id)
    if at is None or first.trace_type != "user" or first.content.strip() != (task or first.content).strip():
        return None
    # Else a stand-in is told of it.
    is_whole = window.messages[at - 1].content == task_message(first.content).content
    return at - 1 if is_whole else None


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
