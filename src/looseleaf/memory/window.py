"""`memory.window`: the talk that a model still sees, its tokens, and its compaction."""

from __future__ import annotations

from looseleaf.base.errors import Invalid
from looseleaf.memory.parts import Verbs

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from looseleaf.base.messages import Message
    from looseleaf.models.model_table import Budget
    from looseleaf.window.compaction_plan import Loss
    from looseleaf.window.window import Window


class WindowVerbs(Verbs):
    """The talk that a model still sees."""

    def messages(self, system: str | None = None, *, model: str | None = None) -> list[Message]:
        """Return the messages for the next call, never more than its budget. Runs a compaction first if one is due."""
        return self._parts.conversation.messages(system, model)

    def read(self) -> Window:
        """Return the window as it is, compacted or not; change nothing."""
        return self._parts.conversation.read_window()

    def tokens(self, system: str | None = None, *, model: str | None = None, quick: bool = False) -> int:
        """Count what the window costs. `quick`: estimate where counting would load a vocabulary."""
        return self._parts.conversation.tokens(system, model, quick=quick)

    def count(self, texts: Sequence[str], *, model: str | None = None, quick: bool = False) -> list[int]:
        """Count the tokens of texts. `quick`: estimate where counting would load a vocabulary."""
        if not isinstance(texts, (list, tuple)) or not all(isinstance(text, str) for text in texts):
            raise Invalid("`texts` must be a list of texts.")
        return self._parts.conversation.counter(model, quick=quick)(texts)

    def budget(self, model: str | None = None) -> Budget:
        """Return the token budget of a model (else of the one in the settings)."""
        return self._parts.conversation.budget(model)

    def report_usage(
        self, *, prompt_tokens: int, model: str | None = None, system: str | None = None
    ) -> str | None:
        """Report what the provider counted after a call. `early` or `hard`: the next call compacts first."""
        return self._parts.conversation.usage(prompt_tokens, model, system)

    def compact(
        self, *, system: str | None = None, model: str | None = None, dry_run: bool = False
    ) -> Loss | None:
        """Compact the window now and return what it lost; None if there was nothing to do. `dry_run` changes
        nothing."""
        return self._parts.conversation.compact(system, model, dry_run=dry_run)

    def prepare(self, *, system: str | None = None, model: str | None = None) -> None:
        """Begin to distill in the background what the next compaction will take."""
        self._parts.conversation.prepare(system, model)

    def request_compaction(self) -> None:
        """Have the window compacted before the next call; survives a restart."""
        self._parts.conversation.flag("hard")

    def cancel_request(self) -> None:
        """Cancel the requested compaction."""
        self._parts.conversation.flag(None)

    @property
    def compaction_requested(self) -> str | None:
        """`early`, `hard` or None."""
        return self._parts.conversation.flagged

    @property
    def last_loss(self) -> Loss | None:
        """The loss of the last compaction here, even one that a prompt ran; None: there was none."""
        return self._parts.conversation.last_loss
