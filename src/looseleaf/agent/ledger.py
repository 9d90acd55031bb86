"""The ledger of costs as one call of the agent's is told to it."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from looseleaf.base.messages import Message
    from looseleaf.base.replies import Model, Reply
    from looseleaf.models.costs import Costs


class Ledger:
    """The ledger of costs, for one call. A model of somebody's own may tell its extensions nothing: then it is told
    here."""

    def __init__(self, costs: Costs, model: Model, purpose: str) -> None:
        self._costs = costs
        self._about = {"model": model.name, "dialect": str(getattr(model, "dialect", "")), "purpose": purpose}
        self._is_told = False

    def look(self, messages: Sequence[Message]) -> None:
        """Whether anything may be spent at all."""
        self._costs.before_invoke(messages, {}, **self._about)

    def before_invoke(self, messages: Sequence[Message], payload: dict[str, Any], **about: Any) -> None:
        self._is_told = True
        self._costs.before_invoke(messages, payload, **about)

    def after_invoke(self, messages: Sequence[Message], response: Reply, **about: Any) -> None:
        self._costs.after_invoke(messages, response, **about)

    def count(self, messages: Sequence[Message], reply: Reply) -> None:
        if not self._is_told:
            self._costs.after_invoke(messages, reply, **self._about)
