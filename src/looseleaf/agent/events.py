"""What happens in the loop, as small values; `agent.run` yields them in their order.

Pieces of an answer (`Said`, `Thought`), repairs and retries come as they are in `looseleaf.base.replies`. The four
that are recorded (a message, an answer, a call, a result) pass the processors first, and are yielded as those left
them.
"""

from __future__ import annotations

from looseleaf.base.immutable import frozen

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Literal, TypeAlias

    from looseleaf.base import replies as reply
    from looseleaf.base.messages import ToolCallSpec
    from looseleaf.base.replies import Reply, Usage
    from looseleaf.place.placer import Placed
    from looseleaf.prompt.manifest import Manifest
    from looseleaf.window.loss import Loss

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
