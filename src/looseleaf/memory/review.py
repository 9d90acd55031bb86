"""`memory.review`: what waits for a person, a person's word on facts, and cleaning up."""

from __future__ import annotations

from looseleaf.memory.parts import Verbs

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from looseleaf.base.messages import Distiller
    from looseleaf.base.values import Fact
    from looseleaf.place.entry_pages import ReviewResult
    from looseleaf.place.redistill import Difference
    from looseleaf.place.tidy import Tidied


class ReviewVerbs(Verbs):
    """A person's word on what is known."""

    def pending(self) -> list[Fact]:
        """Return the proposals that wait for a person."""
        return self._parts.notebook.facts(status="pending")

    def ask(self, fact: Fact, why: str) -> ReviewResult:
        """Put a proposal into review; return the outcome: added, waiting already, rejected before, or full."""
        self._parts.notebook.catch_up()
        return self._parts.placer.ask([(fact, why)], why)

    def approve(self, name: str) -> Fact:
        """Say yes to a fact: it leaves review for its page."""
        return self._parts.corrections.approve(name)

    def reject(self, name: str) -> Fact:
        """Say no to a fact: it goes, and does not come back by itself."""
        return self._parts.corrections.reject(name)

    def correct(self, name: str, text: str) -> Fact:
        """Say what is right: `Paris`, or `Home: Paris`."""
        return self._parts.corrections.correct(name, self._parts.redact(text))

    def score(self, name: str, score: float) -> Fact:
        """Say how much a fact matters, from 0 to 10 (`user_fact_score`): it outranks every rule."""
        return self._parts.corrections.score(name, score)

    def pin(self, name: str, *, pinned: bool = True) -> Fact:
        """Keep a fact among the essentials."""
        return self._parts.corrections.pin(name, pinned=pinned)

    def tidy(self, *, dry_run: bool = False) -> Tidied:
        """Move less essential facts from USER.md to facts/user.md, if it is over `profile_tokens`; no fact changes by
        that. `dry_run` changes nothing."""
        return self._parts.tidy(dry_run=dry_run)

    def redistill(
        self,
        distiller: Distiller | None = None,
        *,
        apply: bool = False,
        progress: Callable[[int, int], None] | None = None,
    ) -> Difference:
        """Compare what another distiller (None: the rules) makes of the same sources, fact by fact; `apply` switches
        to it."""
        return self._parts.making.redistill(distiller, apply=apply, progress=progress)
