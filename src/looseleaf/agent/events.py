"""What happens in the loop, as small values; `agent.run` yields them in their order.

Pieces of an answer (`Said`, `Thought`), repairs and retries come as they are in `looseleaf.base.replies`. The four
that are recorded (a message, an answer, a call, a result) pass the processors first, and are yielded as those left
them.
"""

from __future__ import annotations

from looseleaf.base.errors import Refused
from looseleaf.base.immutable import frozen
from looseleaf.base.origins import RECALLED

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any, Literal, Protocol, TypeAlias

    from looseleaf.base import replies as reply
    from looseleaf.base.messages import ToolCallSpec
    from looseleaf.base.replies import Reply, Usage
    from looseleaf.memory import Memory
    from looseleaf.place.placer import Placed
    from looseleaf.prompt.manifest import Manifest
    from looseleaf.window.compaction_plan import Loss

if TYPE_CHECKING:
    End = Literal["end", "steps", "length", "refused"]
    """Why a run ended: with an answer, at the limit of its steps, or as its last reply did."""

    Recorded: TypeAlias = "UserMessage | Answered | ToolCalled | ToolReturned"
    Event: TypeAlias = (
        "Recorded | Prompted | Compacted | Interrupted | Failed | Reflected | Done "
        "| reply.Said | reply.Thought | reply.Repaired | reply.Retrying"
    )


@frozen
class UserMessage:
    """What the user says, as it goes to the model."""

    text: str
    images: tuple[str, ...] = ()
    audio: tuple[str, ...] = ()
    video: tuple[str, ...] = ()


@frozen
class Prompted:
    """The model is asked: for which time in this run, and with what."""

    step: int
    manifest: Manifest


@frozen
class Answered:
    """The model has answered, with words, calls or both. `reply.stop` is `cut` where it was cut short."""

    reply: Reply


@frozen
class ToolCalled:
    """A tool is to be called."""

    call: ToolCallSpec


@frozen
class ToolReturned:
    """What came of a call: a result, or an error in words. `is_late`: the model was told before that none had come."""

    call: ToolCallSpec
    result: Any = None
    error: str | None = None
    is_late: bool = False
    is_own: bool = False
    """It is an answer of the memory's own tools, and no news from outside."""


@frozen
class Compacted:
    """The window was compacted before the model is asked again; what that lost."""

    loss: Loss


@frozen
class Interrupted:
    """The run was ended from outside. What was said until then is recorded."""

    why: str


@frozen
class Failed:
    """The model could not be asked, or did not answer: one sentence for the user. What was said before is recorded."""

    sentence: str


@frozen
class Reflected:
    """What was distilled of the task, and where it was placed; or, in `why`, why that could not be done now. It is
    done another time then: nothing that was said is lost."""

    placed: tuple[Placed, ...]
    why: str = ""


@frozen
class Done:
    """The run is over. `text`: the last answer; `steps`: how often the model was asked; `usage`: of all of them."""

    text: str
    steps: int
    usage: Usage
    stop: End = "end"


# Processors: what every message, answer, call and result passes, in order, before the model sees it.

if TYPE_CHECKING:
    pass


else:
    Protocol = object


MEMORY_ORDER = 900


class Processor(Protocol):
    """`order`: the lower comes first. `process` gives back the event, perhaps another of its kind; None: as it is."""

    order: int

    def process(self, event: Recorded) -> Recorded | None: ...


class Ingest:
    """Records what passes (seed 004: the memory's ingestion runs last)."""

    order = MEMORY_ORDER

    def __init__(self, memory: Memory) -> None:
        self._memory = memory
        self.turn: str | None = None
        """The turn that the run is in."""

    def process(self, event: Recorded) -> Recorded | None:
        memory = self._memory
        if isinstance(event, UserMessage):
            media = {"images": event.images, "audio": event.audio, "video": event.video}
            given = media if any(media.values()) else None
            self.turn = memory.record(user=event.text, media=given).turn_id
        elif isinstance(event, Answered):
            self._answer(event)
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
            tags = (RECALLED,) if event.is_own else ()
            memory.record(
                tool_result=event.result,
                tool_call_id=event.call.id,
                tool_name=event.call.name,
                tool_error=event.error,
                tags=tags,
            )
        return None

    def _answer(self, event: Answered) -> None:
        """An answer that is calls alone is recorded by its calls, unless the provider wants something of it back."""
        reply = event.reply
        if reply.text or reply.reasoning or reply.opaque:
            self._memory.record(
                assistant=reply.text,
                reasoning=reply.reasoning or None,
                opaque=reply.opaque,
                interrupted=reply.stop == "cut",
                turn_id=self.turn,
            )


class Processors:
    """In their order; the memory among them."""

    def __init__(self, own: Iterable[Processor], memory: Ingest) -> None:
        self._memory = memory
        self._ordered: list[Processor] = sorted([*own, memory], key=lambda each: each.order)

    def at_last(self, returned: ToolReturned) -> None:
        """Record what came of a call where nothing else can be done any more. What a processor would not let through is
        not recorded: it may have been there to keep something out of the log."""
        try:
            self(returned)
        except Refused:
            raise  # the log takes nothing now
        except Exception as error:  # noqa: BLE001 - somebody else's code may raise anything; what, is reported
            failed = f"It came to an end, and a processor failed on what came of it ({type(error).__name__})."
            self._memory.process(ToolReturned(returned.call, error=failed, is_own=returned.is_own))

    def __call__(self, event: Recorded) -> Recorded:
        recorded = event
        for each in self._ordered:
            if each.order > MEMORY_ORDER:
                each.process(recorded)
                continue
            changed = each.process(recorded)
            if changed is not None:
                if type(changed) is not type(event):
                    name = type(each).__name__
                    raise TypeError(f"{name} made {type(changed).__name__} of {type(event).__name__}")
                recorded = changed
        return recorded
