"""Memory: the one object users hold. It opens a folder and hands each request to the part that knows it."""

from __future__ import annotations

from looseleaf.memory.finding import FoundVerbs
from looseleaf.memory.pages import PageVerbs
from looseleaf.memory.review import FactVerbs
from looseleaf.memory.talk import TalkVerbs
from looseleaf.memory.window import ToldVerbs

TYPE_CHECKING = False
if TYPE_CHECKING:
    from looseleaf.base.values import Problem
    from looseleaf.explain import Reconciled, Signed, Written
    from looseleaf.explain.prompt_costs import Analysis
    from looseleaf.explain.why import Answer
    from looseleaf.forget.forget import Forgotten
    from looseleaf.prompt.rendered_snapshot import Snapshot
    from looseleaf.recall.open_hit import Opened


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
