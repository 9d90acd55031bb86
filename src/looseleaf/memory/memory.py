"""Memory: the one object users hold. It opens a folder and hands each request to the part that knows it."""

from __future__ import annotations

import time

from looseleaf.memory.pages import PageVerbs
from looseleaf.memory.parts import Parts
from looseleaf.memory.review import FactVerbs
from looseleaf.memory.talk import TalkVerbs
from looseleaf.memory.window import ToldVerbs
from looseleaf.text.times import when_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from looseleaf.base.values import Problem
    from looseleaf.explain import Reconciled, Signed, Written
    from looseleaf.explain.prompt_costs import Analysis
    from looseleaf.explain.why import Answer
    from looseleaf.forget.forget import Forgotten
    from looseleaf.prompt.rendered_snapshot import Snapshot
    from looseleaf.recall.hits import Recalled
    from looseleaf.recall.open_hit import Bundle, Opened


# Finding: what bears on a question, among all that was said and written.


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
        from looseleaf.recall.open_hit import retrieve
        from looseleaf.recall.question import Question

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


class Memory(TalkVerbs, FactVerbs, PageVerbs, ToldVerbs, FoundVerbs):
    """A memory in a folder, made if it is missing. `notes` says what could not be done while reading."""

    # What asks several parts at once.

    def snapshot(self, budget: int | None = None, *, quick: bool = False) -> Snapshot:
        """What a session begins with: the charter and what a prompt shows of the memory, without the window. `quick`:
        tokens are estimated, and no vocabulary is loaded."""
        from looseleaf.prompt.rendered_snapshot import snapshot

        return snapshot(self, budget, quick=quick)

    def why(self, text: str, prompt: str = "last") -> Answer:
        """Why words are in a prompt, back to the trace in which they were said; or why they are not in it."""
        from looseleaf.explain.why import why

        return why(self, text, prompt)

    def analyze(self, last: int = 20) -> Analysis:
        """What a prompt costs now, slot by slot; what it would cost otherwise; and what the last ones cost."""
        from looseleaf.explain.prompt_costs import analyze

        return analyze(self, last)

    def open(self, where: str) -> Opened:
        """What a hit stands in: the turn, the page, the entry; by the `where` of the hit."""
        from looseleaf.recall.open_hit import open_hit

        return open_hit(self, lambda: self._recall, where)

    def receipts(self, last: int = 20, *, turn: str | None = None) -> list[Written]:
        """The last writes, newest first; or those of a turn (`last`: the last one), oldest first."""
        from looseleaf.explain import receipts

        return receipts(self, last, turn)

    def reconcile(self, turn: str | None = None) -> Reconciled:
        """What the user asked to remember in a turn (None: the last one), what the model said it saved, and whether
        anything was written: promises without a receipt are `flagged`."""
        from looseleaf.explain import reconcile

        return reconcile(self, turn)

    def who(self, path: str) -> list[Signed]:
        """The lines of a page as it is now: who wrote each, when, by which edit, and its level."""
        from looseleaf.explain import who

        return who(self, path)

    def forget(
        self,
        *,
        fact: str | None = None,
        topic: str | None = None,
        session: str | None = None,
        origin: str | None = None,
        match: str | None = None,
        agent: str | None = None,
        dry_run: bool = False,
    ) -> Forgotten:
        """Remove a fact, a topic, a session, all of an origin, or every sentence that holds some words, everywhere: the
        memory becomes what it would have been without. `agent`: only of what this one recorded. What went, and what
        reading every byte of the folder found then; `dry_run` only says what would go."""
        from looseleaf.forget.forget import forget

        given = {"fact": fact, "topic": topic, "session": session, "origin": origin, "match": match}
        return forget(self, given, agent, dry_run=dry_run)

    def check(self) -> list[Problem]:
        """Re-read and re-hash everything; changes nothing."""
        from looseleaf.memory.check import check

        return list(check(self))
