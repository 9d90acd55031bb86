"""A request: what the model is asked with, made of memory before every call (seed 004: the request assembler).

Where a compaction is due, it runs first. The prompt, the tools and what is said after tools share one budget. Nothing
here is kept between two calls: the memory is the only one who knows what was said.
"""

from __future__ import annotations

import json

from looseleaf.base.errors import BudgetTooSmall
from looseleaf.base.immutable import frozen
from looseleaf.base.messages import Message
from looseleaf.log.trace_messages import MESSAGE_TOKENS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from looseleaf.base.replies import Model, ToolSpec
    from looseleaf.memory import Memory
    from looseleaf.prompt.manifest import Manifest
    from looseleaf.window.loss import Loss

CONTINUE = "All tools finished. Continue."
"""What is said when all tools of an answer are done (seed 004, phase C)."""

TOOL_TOKENS = 12
"""What a provider writes around each tool that it is offered."""

_TRIES = 4


@frozen
class Request:
    """`loss`: what a compaction before it lost."""

    messages: tuple[Message, ...]
    manifest: Manifest
    loss: Loss | None = None


class Requests:
    """Of one agent with one model. `goes_on` is said after tools; None: nothing is."""

    def __init__(
        self, memory: Memory, model: Model, tools: Sequence[ToolSpec], goes_on: str | None = CONTINUE
    ) -> None:
        self._memory = memory
        self._model = model.name
        self._form = str(getattr(model, "calls", "native"))
        self._tools = tools
        self._goes_on = goes_on
        self._fixed: int | None = None

    def prepare(self, most: int | None = None) -> Request:
        """The next request, in the model's budget, and in at most so many tokens of prompt."""
        memory = self._memory
        before = memory.last_loss
        if memory.compaction_requested:
            memory.compact(model=self._model)
        room = memory.budget(self._model).input - self._tool_tokens()
        room = room if most is None else min(room, most)
        said = 0
        for _ in range(_TRIES):
            if room - said < 1:
                raise BudgetTooSmall(max(room, 0), said + 1, "the tools and the prompt")
            prompt = memory.prompt(budget=room - said, model=self._model)
            messages = tuple(continued(prompt.messages, self._goes_on))
            needed = self._cost((len(messages) - len(prompt.messages)) * self._each)
            if prompt.manifest.total_tokens + needed <= room:
                break
            said = needed
        loss = memory.last_loss
        return Request(messages, prompt.manifest, loss if loss is not before else None)

    @property
    def _each(self) -> int:
        """What it costs to say that tools are done, as tokens are counted here."""
        if self._goes_on is None:
            return 0
        return self._memory.count([self._goes_on], model=self._model)[0] + MESSAGE_TOKENS

    def _tool_tokens(self) -> int:
        """What the tools take: counted once, as they do not change."""
        if self._fixed is None:
            texts = list(self._told())
            counted = self._memory.count(texts, model=self._model) if texts else []
            self._fixed = self._cost(sum(counted) + TOOL_TOKENS * len(texts))
        return self._fixed

    def _told(self) -> Iterator[str]:
        """What the model is told of its tools."""
        if self._form != "native" and self._tools:
            from looseleaf.models.text_calls import describe

            yield describe(self._tools, self._form)
            return
        for each in self._tools:
            yield f"{each.name} {each.description} {json.dumps(each.parameters, ensure_ascii=False)}"

    def _cost(self, tokens: int) -> int:
        """In the model's own tokens, which the budget is of."""
        from looseleaf.models.model_table import model

        return -int(-tokens * model(self._model).count_margin // 1)


def continued(messages: Sequence[Message], text: str | None) -> Iterator[Message]:
    """The messages, with `text` from the user's side behind each run of results that leaves no call open.

    What stands behind a message follows from the messages before it alone: as a prompt grows, its beginning stays.
    """
    from looseleaf.base.messages import ToolCallPayload, ToolResultPayload

    waiting: set[str] = set()
    for message in messages:
        yield message
        payload = message.tool_payload
        if isinstance(payload, ToolCallPayload):
            waiting |= {call.id for call in payload.tool_calls}
        elif isinstance(payload, ToolResultPayload) and payload.tool_call_id in waiting:
            waiting.discard(payload.tool_call_id)
            if not waiting and text is not None:
                yield Message("user", text)
