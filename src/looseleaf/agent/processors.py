"""Processors: what every message, answer, call and result passes, in order, before the model sees it.

The memory records at 900, so that what is recorded is what the model is told. A processor above 900 sees what was
recorded, and cannot change it any more.
"""

from __future__ import annotations

from looseleaf.agent.events import Answered, ToolCalled, ToolReturned, UserMessage
from looseleaf.base.errors import Refused
from looseleaf.base.own_tools import RECALLED

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Protocol

    from looseleaf.agent.events import Recorded
    from looseleaf.memory import Memory
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
            given = {"media": media} if any(media.values()) else {}
            self.turn = memory.record(user=event.text, **given).turn_id
        elif isinstance(event, Answered):
            self._answer(event)
        elif isinstance(event, ToolCalled):
            call = event.call
            memory.record_tool_call(
                call.name or "?", call.arguments, call.id, turn_id=self.turn, opaque=call.opaque
            )
        elif isinstance(event, ToolReturned):
            tags = (RECALLED,) if event.is_own else ()
            memory.record_tool_result(
                event.result, event.call.id, tool_name=event.call.name, tool_error=event.error, tags=tags
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
