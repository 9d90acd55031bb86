"""The parts of an open memory that hold pages, facts and the state, each imported and made on first use.

Each part gets the context and this; its `Needs` names what it reads here. So no circle of constructors can form.
"""

from __future__ import annotations

from functools import cached_property

from looseleaf.base.errors import Refused
from looseleaf.pages.pages import Pages

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from looseleaf.base.values import Record, Stat
    from looseleaf.facts.known_facts import Facts
    from looseleaf.pages.held import Held
    from looseleaf.place.placer import Placer
    from looseleaf.state.rules import StateChange
    from looseleaf.state.state import State
    from looseleaf.store.context import Context


class PlaceParts:
    def __init__(self, context: Context) -> None:
        self.context = context
        self.replays: Record | None = None
        """The record of a placing that is done again: it says what went to the home memory, and what git tracked."""

    @property
    def has_home(self) -> bool:
        """True if what is about the user belongs in another memory, the home memory."""
        return bool(self.replays and self.replays.get("home"))

    @property
    def may_be_tracked(self) -> bool:
        """True if a repository is around this memory: whether it tracks the pages is asked when that matters."""
        return self.is_tracked()

    def is_tracked(self) -> bool:
        """True if git tracks the pages: then nothing private may stand there."""
        return bool(self.replays and self.replays.get("tracked"))

    def kept_out(self, topic: str, lines: Iterable[str]) -> str:
        """Return the private kinds of lines that may not be written here because git tracks the folder; "" for most. A
        line is a sentence, or a fact with its label. Every write of a fact or of the state asks this, unless a person
        said that it belongs here."""
        if not self.may_be_tracked:
            return ""
        from looseleaf.facts.belonging import private_kinds_of_line

        kinds = {kind for line in lines for kind in private_kinds_of_line(line, topic)}
        return ", ".join(sorted(kinds)) if kinds and self.is_tracked() else ""

    def home(self) -> PlaceParts | None:
        """Return the home memory under this one, to be written to; None if there is none."""
        return None

    @property
    def has_team(self) -> bool:
        """True if what is about a team's work belongs in another memory, a shared one."""
        return bool(self.replays and self.replays.get("team"))

    def team(self) -> tuple[str, PlaceParts] | None:
        """Return the shared memory under this one, to be written to, with its name; None if there is none."""
        return None

    def undone(self, path: str, edit: str, head: bytes | None) -> bytes | None:
        """Return a page without an edit, where other machines wrote since."""
        raise Refused(f"Nothing was undone: another machine changed {path} since, and its log is not here.")

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

    def take_in(self) -> None:
        """Take in what other machines wrote: only an open memory does."""

    def without_forgotten(self, path: str, head: bytes | None, data: bytes) -> bytes:
        return data

    def brought(self, path: str, version: str, stat: Stat) -> bool:
        return False

    def tell_put_back(self, path: str, version: str) -> None:
        pass

    def drop_known(self, copies: Sequence[Held]) -> list[str]:
        return []

    def promote(self, change: StateChange, ts: float, author: str, edits: list[str]) -> None:
        from looseleaf.place.tidy import Promotion

        Promotion(self.context, self, author, edits)(change, ts)
