"""Finding: what bears on a question, among all that was said and written."""

from __future__ import annotations

import time

from looseleaf.memory.parts import Parts
from looseleaf.text.given_times import when_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from looseleaf.recall.hits import Recalled
    from looseleaf.recall.retrieve import Bundle


class FoundVerbs(Parts):
    """What is found."""

    def recall(
        self,
        query: str,
        k: int | None = None,
        *,
        budget: int | None = None,
        topic: str | None = None,
        kinds: Sequence[str] | str | None = None,
        as_of: str | float | None = None,
        agent: str | None = None,
        since: str | float | None = None,
        until: str | float | None = None,
        now: str | float | None = None,
        sure: float | None = None,
        clip: int | None = None,
        quick: bool = False,
    ) -> Recalled:
        """What bears on a question, best first, at most `k` hits (10) and `budget` tokens; none if nothing clearly
        does, and then `why` says so. Whatever any process has written is found.

        `kinds`: of fact, prose, episode, day, entry, trace. `as_of`: what was true and said then. `now`: what "last
        week" is counted from. `sure`: how sure the best must be, from 0 to 1 (else as measured). `clip`: each text
        shortened to about so many tokens. `quick`: tokens are estimated, and no vocabulary is loaded.
        """
        from looseleaf.recall.question import Question

        times = (when_of(as_of), when_of(since, start=True), when_of(until), when_of(now))
        question = Question(query, k, budget, topic, kinds, agent, *times, sure=sure, clip=clip)
        return self._recall(question, quick=quick)

    def retrieve(
        self, max_episodic: int | None = None, max_semantic: int | None = None, *, query: str | None = None
    ) -> Bundle:
        """What was done last and what is known, for a snapshot: at most so many of each (else as the policy says), by
        how much they matter and how new they are; with a question, what bears on it first."""
        from looseleaf.recall.question import Question
        from looseleaf.recall.retrieve import retrieve

        episodic = self.policy.max_episodic_items if max_episodic is None else max_episodic
        semantic = self.policy.max_semantic_items if max_semantic is None else max_semantic
        question = Question(query, k=100) if query is not None else None
        return retrieve(self._recall, question, episodic, semantic, time.time())

    def build_index(self, *, full: bool = False, progress: Callable[[int, int], None] | None = None) -> int:
        """Bring the index of recall up to date, and the vectors if meaning is compared: how many of those were made.
        Every recall does the first by itself. `full`: make the index again."""
        if progress is not None:
            self.watch_index(progress)
        if full:
            self._recall.keep.drop()
        return self._recall.up_to_date()

    def watch_index(self, progress: Callable[[int, int], None]) -> None:
        """Be told how far it is while the index is made: bytes done, and bytes in all."""
        self._recall.keep.progress = progress
