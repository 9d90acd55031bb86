"""`memory.views`: built from facts and talk, and rebuilt at any time."""

from __future__ import annotations

import time

from looseleaf.base.errors import NotFound
from looseleaf.memory.parts import Verbs
from looseleaf.text.times import when_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from looseleaf.prompt.rendered_snapshot import Snapshot
    from looseleaf.recall.open_hit import Bundle
    from looseleaf.views.build import Built


class ViewVerbs(Verbs):
    """Topics, all of them together, snapshots, the index."""

    def topics(self) -> list[str]:
        """Return the names of all topics."""
        self._parts.notebook.catch_up()
        return self._parts.known.names

    def topic(self, name: str, *, as_of: str | float | None = None) -> dict[str, Any]:
        """Return the memory of one topic (`topic_memory.v1`), now or at a time."""
        self._parts.notebook.catch_up()
        topics = self._parts.topics
        if name not in topics.names:
            raise NotFound(f"There is no topic {name!r}. There are: {', '.join(topics.names)}.")
        return topics.topic(name, when_of(as_of))

    def overview(self, *, as_of: str | float | None = None) -> dict[str, Any]:
        """Return active topics and the essentials (`global_memory.v1`), now or at a time."""
        self._parts.notebook.catch_up()
        return self._parts.topics.whole(when_of(as_of))

    def build(self, *, full: bool = False, progress: Callable[[int, int], None] | None = None) -> Built:
        """Update the views: topics, the overview, what the agent's compactions kept. `full`: rebuild all, also from
        entries that another program left."""
        return self._parts.build(full=full, progress=progress)

    def build_index(self, *, full: bool = False, progress: Callable[[int, int], None] | None = None) -> int:
        """Update recall's index, and the vectors if meaning is compared; return how many of those were made. Every
        recall updates the index by itself. `full`: rebuild it. `progress` gets bytes done, and bytes in all."""
        self.watch_index(progress)
        if full:
            self._parts.recall.keep.drop()
        return self._parts.recall.up_to_date()

    def watch_index(self, progress: Callable[[int, int], None] | None) -> None:
        """Report the progress of every index built from now on."""
        if progress is not None:
            self._parts.recall.keep.progress = progress

    def snapshot(self, budget: int | None = None, *, quick: bool = False) -> Snapshot:
        """Return the start of a session: the charter, and a prompt's view of the memory without the window.
        `quick`: estimate tokens, and load no vocabulary."""
        from looseleaf.prompt.rendered_snapshot import snapshot

        return snapshot(self._parts, budget, quick=quick)

    def bundle(
        self, max_episodic: int | None = None, max_semantic: int | None = None, *, query: str | None = None
    ) -> Bundle:
        """Return recent episodes and known facts: at most so many of each (else as the policy says), by weight and age;
        with a question, what bears on it first."""
        from looseleaf.recall.open_hit import retrieve
        from looseleaf.recall.question import Question

        policy = self._parts.context.policy
        episodic = policy.max_episodic_items if max_episodic is None else max_episodic
        semantic = policy.max_semantic_items if max_semantic is None else max_semantic
        question = Question(query, k=100) if query is not None else None
        return retrieve(self._parts.recall, question, episodic, semantic, time.time())
