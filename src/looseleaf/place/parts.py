"""The parts of an open memory that hold pages, facts and the state, each imported and made on first use.

Each part gets the context and this; its `Needs` names what it reads here. So no circle of constructors can form.
"""

from __future__ import annotations

from functools import cached_property

from looseleaf.pages.pages import Pages

TYPE_CHECKING = False
if TYPE_CHECKING:
    from looseleaf.facts.known_facts import Facts
    from looseleaf.place.placer import Placer
    from looseleaf.state.rules import StateChange
    from looseleaf.state.state import State
    from looseleaf.store.context import Context


class PlaceParts:
    def __init__(self, context: Context) -> None:
        self.context = context

    @cached_property
    def pages(self) -> Pages:
        return Pages(self.context, self)

    @cached_property
    def known(self) -> Facts:
        from looseleaf.facts.known_facts import Facts

        trusts = self.context.policy.trust_external_edits
        return Facts(self.context.store, self.pages.absorb.head_bytes, trusts=trusts)

    @cached_property
    def state(self) -> State:
        from looseleaf.state.state import State

        return State(self.context, self)

    @cached_property
    def placer(self) -> Placer:
        from looseleaf.place.placer import Placer

        return Placer(self.context, self)

    def settle(self) -> None:
        self.placer.catch_up()

    def promote(self, change: StateChange, ts: float, author: str, edits: list[str]) -> None:
        from looseleaf.place.tidy import Promotion

        Promotion(self.context, self, author, edits)(change, ts)
