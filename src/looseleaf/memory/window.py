"""What a model is told: the prompt, the window, what both cost; and why a line is there."""

from __future__ import annotations

from looseleaf.base.errors import Refused
from looseleaf.memory.parts import Parts

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from looseleaf.base.messages import Message
    from looseleaf.explain.prompt_costs import Compared
    from looseleaf.models.model_table import Budget
    from looseleaf.prompt.manifest import Prompt
    from looseleaf.window.compaction_plan import Loss
    from looseleaf.window.window import Window


class ToldVerbs(Parts):
    """What a model is told."""

    def prompt(
        self,
        task: str | None = None,
        *,
        budget: int | None = None,
        model: str | None = None,
        agent: str | None = None,
        dry_run: bool = False,
    ) -> Prompt:
        """All that a model is told of a task, never more than the budget (None: the model's own): the charter, the
        memory, the window, the task. Its manifest says why each part is there, and is logged.

        A task that was recorded already is not said twice; without one, the window speaks for itself. If the window
        does not fit, it is compacted first. `dry_run` compacts and logs nothing.
        """
        if agent is not None and agent != self.agent:
            return self._as(agent).prompt(task, budget=budget, model=model, dry_run=dry_run)
        return self._prompts(task, budget, model, dry_run=dry_run)

    def replay(self, name: str = "last") -> Prompt:
        """A prompt of the log (by its id, how that ends, or `last`), rendered again byte for byte."""
        if not isinstance(name, str):
            raise Refused(
                f"Nothing was shown: a prompt is named by its id, which is text, not {type(name).__name__}. "
                "`last` is the last one."
            )
        return self._prompts.log.again(name)

    def compare(self, old: str, new: str = "last") -> Compared:
        """What two prompts of the log have in common, and what came, went and changed between them."""
        from looseleaf.explain.prompt_costs import compare

        return compare(self.replay(old), self.replay(new), self._talk.counter(None))

    def messages(self, system: str | None = None, *, model: str | None = None) -> list[Message]:
        """The messages for the next call, never more than its budget. If a compaction is due, it runs first."""
        return self._talk.messages(system, model)

    def window(self) -> Window:
        """The window as it is, compacted or not; changes nothing."""
        self._talk.window.read()
        return self._talk.window

    def window_tokens(
        self, system: str | None = None, *, model: str | None = None, quick: bool = False
    ) -> int:
        """What the window costs. `quick`: estimated where a count would need a vocabulary that is not loaded."""
        return self._talk.tokens(system, model, quick=quick)

    def count(self, texts: Sequence[str], *, model: str | None = None, quick: bool = False) -> list[int]:
        """The tokens of texts. `quick`: estimated where a count would need a vocabulary that is not loaded."""
        return self._talk.counter(model, quick=quick)(texts)

    def budget(self, model: str | None = None) -> Budget:
        """The token budget of a model (else of the one in the settings)."""
        return self._talk.budget(model)

    def usage(self, *, prompt_tokens: int, model: str | None = None, system: str | None = None) -> str | None:
        """Say what the provider reported after a call. `early` or `hard`: the next call is preceded by a compaction."""
        return self._talk.usage(prompt_tokens, model, system)

    def request_compaction(self) -> None:
        """Have the window compacted before the next call; survives a restart."""
        self._talk.flag("hard")

    def clear_compaction_request(self) -> None:
        """Take that back."""
        self._talk.flag(None)

    @property
    def compaction_requested(self) -> str | None:
        """`early`, `hard` or None."""
        return self._talk.flagged

    def compact(
        self, *, system: str | None = None, model: str | None = None, dry_run: bool = False
    ) -> Loss | None:
        """Compact the window now: what it lost, or None if there was nothing to do. `dry_run` only says."""
        return self._talk.compact(system, model, dry_run=dry_run)

    @property
    def last_loss(self) -> Loss | None:
        """What the last compaction here lost, also where a prompt asked for it; None: there was none."""
        return self._talk.last_loss

    def prepare(self, *, system: str | None = None, model: str | None = None) -> None:
        """Begin to distill in the background what the next compaction will take."""
        self._talk.prepare(system, model)
