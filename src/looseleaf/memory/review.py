"""What is known: facts from talk and texts, their past, a person's word on them, and the views of topics."""

from __future__ import annotations

from looseleaf.memory.parts import Parts, sound
from looseleaf.text.times import when_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Any

    from looseleaf.base.messages import Distiller, Turn
    from looseleaf.base.values import Fact
    from looseleaf.place.notebook import Source
    from looseleaf.place.placer import Placed
    from looseleaf.place.redistill import Difference
    from looseleaf.place.remember import Remembered
    from looseleaf.place.tidy import Tidied
    from looseleaf.views.build import Built
    from looseleaf.views.page_index import IndexLine


class FactVerbs(Parts):
    """What is known."""

    def distill(self, *, topic: str | None = None, distiller: Distiller | None = None) -> list[Placed]:
        """Distill all settled turns that were not distilled yet, and place what they say on pages. `distiller`: by this
        one, for once."""
        own = sound(distiller) if distiller is not None else None
        return self._book.distill(self._pages.absorb.agent(self.agent), topic, own)

    def write(
        self, given: str | Sequence[Turn], *, topic: str | None = None, author: str | None = None
    ) -> Placed:
        """Distill and place a text, or turns. A text's facts wait in review, unless its author is `person`."""
        return self._book.write(given, topic, author)

    def remember(self, text: str, *, topic: str | None = None) -> Remembered:
        """A person's own words become memory now: the facts that the rules read in them, confirmed, and each sentence
        in which they read none as a note on USER.md or the page of the topic."""
        from looseleaf.place.remember import remember

        clean = self._clean(text)
        return remember(self._book, self._pages, clean, topic, redacted=clean != text)

    def facts(
        self,
        *,
        topic: str | None = None,
        kind: str | None = None,
        status: str = "current",
        as_of: str | float | None = None,
    ) -> list[Fact]:
        """What is true now, or was at a time; by `status`, what is pending, superseded or rejected."""
        return self._book.facts(topic=topic, kind=kind, status=status, as_of=when_of(as_of))

    def fact(self, name: str) -> Fact:
        """One fact, by its id, how that begins, or its place: `USER.md:5`."""
        return self._book.find(name)

    def fact_history(self, name: str) -> list[Fact]:
        """Every value that the fact's slot ever had, oldest first."""
        return self._book.history(name)

    def sources(self, fact: Fact | str) -> list[Source]:
        """The words that a fact, or the one of an id, rests on, from the log."""
        return self._book.sources(self.fact(fact) if isinstance(fact, str) else fact)

    def topics(self) -> list[str]:
        """The names of all topics."""
        self._book.catch_up()
        return self._known.names

    def topic(self, name: str, *, as_of: str | float | None = None) -> dict[str, Any]:
        """The memory of one topic (`topic_memory.v1`), now or at a time."""
        return self._book.topic(name, when_of(as_of))

    def global_memory(self, *, as_of: str | float | None = None) -> dict[str, Any]:
        """Active topics and what must not be forgotten (`global_memory.v1`), now or at a time."""
        return self._book.everything(when_of(as_of))

    def index(self) -> list[IndexLine]:
        """A line for each page of `facts/` and `episodes/`, as a prompt lists them."""
        return self._book.index()

    def redistill(
        self,
        distiller: Distiller | None = None,
        *,
        apply: bool = False,
        progress: Callable[[int, int], None] | None = None,
    ) -> Difference:
        """What another distiller (None: the rules) makes of the same sources, fact by fact; `apply` switches to it."""
        return self._book.redistill(distiller, apply=apply, progress=progress)

    def score(self, name: str, score: float) -> Fact:
        """Say how much a fact matters, from 0 to 10 (`user_fact_score`): it outranks every rule."""
        return self._book.curate.score(name, score)

    def correct(self, name: str, text: str) -> Fact:
        """Say what is right, as a person: `Paris`, or `Home: Paris`."""
        return self._book.curate.correct(name, text)

    def approve(self, name: str) -> Fact:
        """Say yes to a fact, as a person: it leaves review for its page."""
        return self._book.curate.approve(name)

    def reject(self, name: str) -> Fact:
        """Say no to a fact, as a person: it goes, and does not come back by itself."""
        return self._book.curate.reject(name)

    def pin(self, name: str, *, pinned: bool = True) -> Fact:
        """Keep a fact among what must not be forgotten."""
        return self._book.curate.pin(name, pinned=pinned)

    def tidy(self, *, dry_run: bool = False) -> Tidied:
        """Move less essential facts from USER.md to facts/user.md, if it is over `profile_tokens`; no fact changes by
        that. `dry_run` only says what would move."""
        return self._book.tidy(dry_run=dry_run)

    def build(self, *, full: bool = False, progress: Callable[[int, int], None] | None = None) -> Built:
        """Bring the views up to date: topics, all of them together, what the agent's compactions kept. `full`: make all
        of them again, also from entries that another program left."""
        return self._book.build(full=full, progress=progress)
