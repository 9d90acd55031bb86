"""Extensions of models: what is told of every call, and given all that it needs to know (seed 004, phase D)."""

from __future__ import annotations

from _thread import allocate_lock

from looseleaf.base.replies import Usage
from looseleaf.models.partial_reply import texts_of, tokens_in

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Any

    from looseleaf.base.messages import Message
    from looseleaf.base.replies import Reply


class TokenUsage:
    """How many tokens each model took.

    What the provider reports is what counts. Where it reports nothing, what was read is counted in the messages that
    were given, with `counter` (None: an estimate). No message is kept, only sums; any number of threads may add.
    """

    def __init__(self, counter: Callable[[str], int] | None = None) -> None:
        self._counter = counter
        self._totals: dict[str, Usage] = {}
        self._calls: dict[str, int] = {}
        self._turn = allocate_lock()

    def before_invoke(self, messages: Sequence[Message], payload: dict[str, Any], **about: Any) -> None:
        """Nothing is known yet."""

    def after_invoke(self, messages: Sequence[Message], response: Reply, **about: Any) -> None:
        took = response.usage
        if took.is_estimated and self._counter is not None:
            took = _counted(took, messages, response, self._counter)
        model = str(about.get("model") or response.model)
        with self._turn:
            self._totals[model] = _sum(self._totals.get(model, Usage()), took)
            self._calls[model] = self._calls.get(model, 0) + 1

    @property
    def by_model(self) -> dict[str, Usage]:
        """`is_estimated` where a part of the sum is."""
        with self._turn:
            return dict(self._totals)

    @property
    def calls(self) -> dict[str, int]:
        """How many answers each model gave, cut ones too."""
        with self._turn:
            return dict(self._calls)

    @property
    def total(self) -> Usage:
        sums = Usage()
        for took in self.by_model.values():
            sums = _sum(sums, took)
        return sums


def _counted(told: Usage, messages: Sequence[Message], reply: Reply, counter: Callable[[str], int]) -> Usage:
    return Usage(
        sum(counter(text) for text in texts_of(messages) if text),
        told.cached_tokens,
        told.written_tokens,
        max(told.output_tokens, tokens_in(reply)),
        told.reasoning_tokens,
        is_estimated=True,
    )


def _sum(one: Usage, other: Usage) -> Usage:
    return Usage(
        one.prompt_tokens + other.prompt_tokens,
        one.cached_tokens + other.cached_tokens,
        one.written_tokens + other.written_tokens,
        one.output_tokens + other.output_tokens,
        one.reasoning_tokens + other.reasoning_tokens,
        one.is_estimated or other.is_estimated,
    )
