"""`memory.explain`: why a line is there, who wrote it, what it rests on, and what prompts cost."""

from __future__ import annotations

from looseleaf.base.errors import Invalid
from looseleaf.memory.parts import Verbs

TYPE_CHECKING = False
if TYPE_CHECKING:
    from looseleaf.base.values import Fact
    from looseleaf.explain.promises import Reconciled
    from looseleaf.explain.prompt_costs import Analysis, Compared
    from looseleaf.explain.sources import Signed
    from looseleaf.explain.why import Explanation
    from looseleaf.explain.writes import Written
    from looseleaf.place.notebook import FactSource
    from looseleaf.prompt.manifest import Prompt


class ExplainVerbs(Verbs):
    """Where things come from."""

    def why(self, text: str, prompt: str = "last") -> Explanation:
        """Explain why words are in a prompt, back to the trace that said them; or why they are not in it."""
        from looseleaf.explain.why import why

        return why(self._parts, text, prompt)

    def who(self, path: str) -> list[Signed]:
        """Return the lines of a page as it is now: who wrote each, when, by which edit, and its level."""
        from looseleaf.explain.sources import who

        return who(self._parts, path)

    def sources(self, fact: Fact | str) -> list[FactSource]:
        """Return the words that a fact, or the one of an id, rests on, from the log."""
        notebook = self._parts.notebook
        return notebook.sources(notebook.find(fact) if isinstance(fact, str) else fact)

    def receipts(self, last: int = 20, *, turn: str | None = None) -> list[Written]:
        """Return the last writes, newest first; or those of a turn (`last`: the last one), oldest first."""
        from looseleaf.explain.writes import receipts

        return receipts(self._parts, last, turn)

    def promises(self, turn: str | None = None) -> Reconciled:
        """Compare what the user asked to remember in a turn (None: the last one) and what the model claimed to save
        with what was written: promises without a receipt are `flagged`."""
        from looseleaf.explain.promises import reconcile

        return reconcile(self._parts, turn)

    def replay(self, name: str = "last") -> Prompt:
        """Render a prompt of the log (by its id, how that ends, or `last`) again, byte for byte."""
        if not isinstance(name, str):
            kind = type(name).__name__
            raise Invalid(f"A prompt is named by its id, which is text, not {kind}. `last` is the last one.")
        return self._parts.prompts.log.again(name)

    def compare(self, old: str, new: str = "last") -> Compared:
        """Compare two prompts of the log: what they share, and what came, went and changed between them."""
        from looseleaf.explain.prompt_costs import compare

        return compare(self.replay(old), self.replay(new), self._parts.conversation.counter(None))

    def costs(self, last: int = 20) -> Analysis:
        """Return what a prompt costs now, slot by slot; what it would cost otherwise; and what the last ones cost."""
        from looseleaf.explain.prompt_costs import analyze

        return analyze(self._parts, last)
