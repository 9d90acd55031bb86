"""The events of a run, as small values that `agent.run` yields in order, and how they are processed and recorded.

Pieces of an answer (`TextDelta`, `Thought`), repairs and retries are those of `looseleaf.base.replies`. The four
recorded events (a message, an answer, a call, a result) pass the processors first, and are yielded as processed.
"""

from __future__ import annotations

import time

from looseleaf.base.errors import Outdated, Refused
from looseleaf.base.immutable import frozen
from looseleaf.base.origins import RECALLED

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from typing import Any, Literal, Protocol, TypeAlias, TypeVar

    from looseleaf.base import replies as reply
    from looseleaf.base.messages import ToolCallSpec
    from looseleaf.base.replies import Reply, Usage
    from looseleaf.base.values import Edition
    from looseleaf.memory import Memory
    from looseleaf.place.placer import Placed
    from looseleaf.prompt.manifest import Manifest
    from looseleaf.window.compaction_plan import Loss

    End = Literal["end", "steps", "length", "refused"]
    """Why a run ended: with an answer, at the step limit, or as its last reply did."""

    Recorded: TypeAlias = "UserMessage | AnswerEvent | ToolCalled | ToolReturned"
    Event: TypeAlias = (
        "Recorded | Prompted | Compacted | Interrupted | FailedEvent | Reflected | Done "
        "| reply.TextDelta | reply.Thought | reply.Repaired | reply.Retrying"
    )
    _R = TypeVar("_R", bound=Recorded)
else:
    Protocol = object


@frozen
class UserMessage:
    """The user's message, as it goes to the model."""

    text: str
    images: tuple[str, ...] = ()
    audio: tuple[str, ...] = ()
    video: tuple[str, ...] = ()


@frozen
class Prompted:
    """A call of the model: its number in this run, and its prompt."""

    step: int
    manifest: Manifest


@frozen
class AnswerEvent:
    """The model's answer: words, calls or both. `reply.stop` is `cut` if it was cut short."""

    reply: Reply


@frozen
class ToolCalled:
    """A call of a tool, before it runs."""

    call: ToolCallSpec


@frozen
class ToolReturned:
    """A call's result, or an error in words. `is_late`: the model was told before that none had come."""

    call: ToolCallSpec
    result: Any = None
    error: str | None = None
    is_late: bool = False
    is_own: bool = False
    """It comes from the memory's own tools, and is no news from outside."""


@frozen
class Compacted:
    """A compaction before the next call of the model, and what it lost."""

    loss: Loss


@frozen
class Interrupted:
    """The end of a run from outside. What was said until then is recorded."""

    why: str


@frozen
class FailedEvent:
    """A model that could not be asked or did not answer: one sentence for the user. Earlier talk is recorded."""

    sentence: str


@frozen
class Reflected:
    """What was distilled from the task and where it was placed; or, in `why`, why not. It is done later then: nothing
    that was said is lost."""

    placed: tuple[Placed, ...]
    why: str = ""


@frozen
class Done:
    """The end of a run. `text`: the last answer; `steps`: calls of the model; `usage`: their sum."""

    text: str
    steps: int
    usage: Usage
    stop: End = "end"


# --- processors: every message, answer, call and result passes them before the model sees it ----


MEMORY_ORDER = 900


class Processor(Protocol):
    """Sees each recorded event; lower `order` first. `process` returns the event, or another of its kind; None: as it
    is."""

    order: int

    def process(self, event: Recorded) -> Recorded | None: ...


class Ingest:
    """The processor that records (seed 004: the memory's ingestion runs last)."""

    order = MEMORY_ORDER

    def __init__(self, memory: Memory) -> None:
        self._memory = memory
        self.turn: str | None = None
        """The run's turn."""

    def process(self, event: Recorded) -> Recorded | None:
        memory = self._memory
        if isinstance(event, UserMessage):
            media = {"images": event.images, "audio": event.audio, "video": event.video}
            given = media if any(media.values()) else None
            self.turn = memory.record(user=event.text, media=given).turn_id
        elif isinstance(event, AnswerEvent):
            reply = event.reply
            # Calls alone are recorded by themselves, unless the provider wants a part of the answer back.
            if reply.text or reply.reasoning or reply.opaque:
                memory.record(
                    assistant=reply.text,
                    reasoning=reply.reasoning or None,
                    opaque=reply.opaque,
                    interrupted=reply.stop == "cut",
                    turn_id=self.turn,
                )
        elif isinstance(event, ToolCalled):
            call = event.call
            memory.record(
                tool_call=call.name or "?",
                tool_args=call.arguments,
                tool_call_id=call.id,
                turn_id=self.turn,
                opaque=call.opaque,
            )
        elif isinstance(event, ToolReturned):
            memory.record(
                tool_result=event.result,
                tool_call_id=event.call.id,
                tool_name=event.call.name,
                tool_error=event.error,
                tags=(RECALLED,) if event.is_own else (),
            )
        return None


class Processors:
    """The processors in their order, the memory among them."""

    def __init__(self, own: Iterable[Processor], memory: Ingest) -> None:
        self._memory = memory
        self._ordered: list[Processor] = sorted([*own, memory], key=lambda each: each.order)

    def __call__(self, event: _R) -> _R:
        recorded = event
        for each in self._ordered:
            changed = each.process(recorded)
            if each.order <= MEMORY_ORDER and changed is not None:
                if type(changed) is not type(event):
                    name = type(each).__name__
                    raise TypeError(f"{name} made {type(changed).__name__} of {type(event).__name__}")
                recorded = changed
        return recorded

    def record_finally(self, returned: ToolReturned) -> None:
        """Record a call's result when nothing else can be done. A result that a processor did not let through is not
        recorded: the processor may be there to keep something out of the log."""
        try:
            self(returned)
        except Refused:
            raise  # the log is not writable now
        except Exception as error:  # noqa: BLE001 - foreign code may raise anything; its name is reported
            failed = f"The call ended, but a processor failed on its result ({type(error).__name__})."
            self._memory.process(ToolReturned(returned.call, error=failed, is_own=returned.is_own))


class RunRecorder:
    """Records a run, however it ends: every recorded call gets a result, and events that the log could not take are
    kept and recorded before the next run."""

    def __init__(self, memory: Memory, processors: Iterable[Processor]) -> None:
        from queue import SimpleQueue

        self._memory = memory
        self.process = Processors(processors, Ingest(memory))
        self.late: SimpleQueue[ToolReturned] = SimpleQueue()
        """Results of calls whose wait is over."""
        self._open: dict[str, ToolReturned] = {}
        """Recorded calls, and the result to record if no other comes."""
        self._unrecorded: list[AnswerEvent] = []

    def record_answer(self, reply: Reply) -> AnswerEvent:
        try:
            return self.process(AnswerEvent(reply))
        except Outdated:
            raise
        except Refused:  # the log is not writable now; tried again before the next run
            self._unrecorded.append(AnswerEvent(reply))
            raise

    def record_call(self, call: ToolCallSpec) -> ToolCalled:
        called = self.process(ToolCalled(call))
        self._open[called.call.id] = ToolReturned(called.call, error=_ABANDONED)
        return called

    def record_result(self, returned: ToolReturned, of: Edition | tuple[()] = ()) -> ToolReturned:
        """Record a result. If that fails now, it is recorded before anything else. `of`: the memory's edition before
        the call; what its own tools returned is dropped if something was forgotten since."""
        if returned.is_own:
            try:
                with self._memory.parts.context.store.reading(of):
                    return self._record_result(returned)
            except Outdated:
                returned = ToolReturned(returned.call, error=_FORGOTTEN, is_own=True)
        return self._record_result(returned)

    def _record_result(self, returned: ToolReturned) -> ToolReturned:
        self.keep_result(returned)
        processed = self.process(returned)
        del self._open[returned.call.id]
        return processed

    def keep_result(self, returned: ToolReturned) -> None:
        self._open[returned.call.id] = returned

    def interrupt_calls(self, why: str) -> None:
        for name, each in self._open.items():
            self._open[name] = ToolReturned(each.call, error=f"Interrupted: {why}.")

    def record_open(self) -> None:
        """Record everything that is still open, as far as it came."""
        while self._unrecorded:
            self.process(self._unrecorded[0])
            self._unrecorded.pop(0)
        for name, returned in list(self._open.items()):
            self.process.record_finally(returned)
            del self._open[name]

    def record_late(self) -> Iterator[ToolReturned]:
        """Record and yield the results that came after the wait for them was over."""
        while not self.late.empty():
            late = self.late.get()
            try:
                processed = self.process(
                    ToolReturned(late.call, late.result, late.error, is_late=True, is_own=late.is_own)
                )
            except Refused:
                self.late.put(late)  # the log is not writable now; tried again later
                raise
            yield processed

    def end_open_calls(self, tool_seconds: float) -> None:
        """Close the calls that no run waits for: our own of a broken run, and those that another process left. Whether
        those were carried out is unknown, so they do not run again. A call that may still be waited for stays open."""
        self.record_open()
        for call_id, since in self._memory.talk.open_calls():
            if time.time() - since > 2 * tool_seconds:
                self._memory.record(tool_call_id=call_id, tool_error=_LEFT)


_FORGOTTEN = "The result was dropped: something was forgotten meanwhile. Call it again if you need it."
_ABANDONED = "Interrupted: nobody waits for this any more."
_LEFT = "The program ended before a result came: it is not known whether this was carried out."
