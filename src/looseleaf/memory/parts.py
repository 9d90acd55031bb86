"""A memory that is open: its folder, its settings, and the parts that know each request, made when they are needed."""

from __future__ import annotations

import os
from functools import cached_property

from looseleaf.base.errors import Refused
from looseleaf.base.paths import safe_name
from looseleaf.pages.folder import find, is_memory, settings
from looseleaf.pages.pages import Pages
from looseleaf.store.files import FileStore

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from types import TracebackType
    from typing import Any, Self

    from looseleaf.base.messages import Distilled, Distiller
    from looseleaf.base.policy import Policy
    from looseleaf.base.replies import Model
    from looseleaf.facts.gate import Spoken
    from looseleaf.facts.known_facts import Facts
    from looseleaf.index.embed import Embedder
    from looseleaf.models.costs import Costs
    from looseleaf.place.guard import Guard
    from looseleaf.place.notebook import Notebook
    from looseleaf.prompt.prompts import Prompts
    from looseleaf.recall.recall import Recall
    from looseleaf.state.state import State
    from looseleaf.window.conversation import Conversation


class Parts:
    """What every verb needs. `notes` says what could not be done while reading."""

    def __init__(
        self,
        where: str | os.PathLike[str] | None = None,
        *,
        agent: str = "main",
        policy: Policy | None = None,
        session: str | None = None,
        distiller: Distiller | None = None,
        model: Model | None = None,
        counter: Callable[[str], int] | None = None,
        embedder: Embedder | None = None,
    ) -> None:
        if where is not None and not os.fspath(where):
            raise Refused(
                "Nothing was opened: the path of the memory is empty. Give a folder, or leave it out."
            )
        self.path = os.path.abspath(where if where is not None else find())
        self.agent = safe_name(agent, "agent's name")
        if not is_memory(self.path):
            from looseleaf.pages.folder import init_if_free

            init_if_free(self.path)
        self._has_own_policy = policy is not None
        self.policy = policy or settings(self.path, self.agent)
        self.store = FileStore(self.path, self.policy)
        self.notes: list[str] = []
        self._pages = Pages(self.store, self.policy, self.agent, self._note, self._guard, self._settle)
        self._session = session
        self._counter = counter
        self._embedder = embedder
        if model is not None and not callable(getattr(model, "send", None)):
            raise Refused(
                f"Nothing was opened: {model!r} is no model. Give one of looseleaf.models, such as Anthropic(name)."
            )
        self.model = model
        """Who distills, where there is no distiller and this is not None."""
        self.own_distiller = sound(distiller) if distiller is not None else None
        self._others: dict[str, Self] = {}

    def __repr__(self) -> str:
        return f"Memory({self.path!r}, agent={self.agent!r})"

    def close(self) -> None:
        """Let go of every handle. What was acknowledged is on disk already."""
        for other in self._others.values():
            other.close()
        for part in ("_talk", "_recall"):
            if part in self.__dict__:
                getattr(self, part).close()
        self._pages.close()
        self.store.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def note(self, note: str) -> None:
        """Add to what is told beside the answers, once."""
        self._note(note)

    def _note(self, note: str) -> None:
        if note not in self.notes:  # a program that reads for days on a full disk says so once
            self.notes.append(note)

    def _as(self, agent: str) -> Self:
        """The same memory, as another agent has it."""
        if agent not in self._others:
            other = type(self)(
                self.path,
                agent=agent,
                policy=self.policy if self._has_own_policy else None,
                distiller=self.own_distiller,
                model=self.model,
                counter=self._counter,
            )
            other.notes = self.notes
            self._others[agent] = other
        return self._others[agent]

    @cached_property
    def _talk(self) -> Conversation:
        from looseleaf.window.conversation import Conversation

        return Conversation(
            self.store,
            self.path,
            self.policy,
            self.agent,
            self._pages.absorb.agent,
            self._place,
            self._outdated,
            self._note,
            self._session,
            lambda: self.distiller,
            self._counter,
        )

    @cached_property
    def _prompts(self) -> Prompts:
        from looseleaf.prompt.prompts import Prompts

        return Prompts(
            self.store,
            self.policy,
            self.agent,
            self._pages,
            lambda: self._talk,
            lambda: self._book,
            lambda: self.state,
            self._note,
        )

    @cached_property
    def _recall(self) -> Recall:
        from looseleaf.recall.recall import Recall

        return Recall(
            self.store,
            self.path,
            self._pages,
            self.policy,
            lambda: self._known,
            self._tokens,
            self._note,
            self._embedder,
        )

    @cached_property
    def state(self) -> State:
        """The working state: goal, now, decisions, tasks, conventions, blockers."""
        from looseleaf.state.state import State

        return State(
            self.store,
            self._pages,
            self.policy,
            self._clean,
            self._tokens,
            self._note,
            lambda: self._book.place,
        )

    @cached_property
    def _known(self) -> Facts:
        from looseleaf.facts.known_facts import Facts

        trusts = self.policy.trust_external_edits
        return Facts(self.store, self._pages.absorb.head_bytes, trusts=trusts)

    @cached_property
    def _book(self) -> Notebook:
        from looseleaf.place.notebook import Notebook

        return Notebook(
            self.store,
            self._pages,
            self.policy,
            self.agent,
            self._known,
            self._clean,
            self._spoken,
            lambda: self.distiller,
            self._note,
            self._tokens,
            lambda: self.state,
        )

    # What knows facts, or talk, is loaded only by what needs it: these are asked when they are needed.

    def _spoken(self) -> Spoken:
        return self._talk.spoken()

    def _guard(self) -> Guard:
        return self._book.guard

    def _clean(self, value: Any) -> Any:
        return self._talk.recorder.without_secrets(value)

    def _tokens(self, text: str) -> int:
        return self._talk.counter(None)([text])[0]

    def _settle(self) -> None:
        self._book.place.catch_up()

    def _outdated(self, *found: Distilled) -> Callable[[str], bool]:
        from looseleaf.facts.placement import outdated

        self._book.known.catch_up()
        return outdated(self._book.known, *found)

    def _place(self, entry: str) -> None:
        self._book.placed(entry)

    def distill_with(self, model: Model) -> None:
        """Have a model distill from now on, unless somebody's own distiller, or another model, does."""
        if self.own_distiller is None and self.model is None:
            self.model = model
            self.__dict__.pop("distiller", None)

    @cached_property
    def distiller(self) -> Distiller | None:
        """Who makes memory of talk: what was given, or a model (as given, or where the settings ask for one); None: the
        rules. Where a model was asked for and there is none, entries say so: they are made again when it is there."""
        if self.own_distiller is not None:
            return self.own_distiller
        if self.model is None and self.policy.distiller == "rules":
            return None
        try:
            return self.model_distiller()
        except Refused as refused:
            from looseleaf.distill.make_entry import Missing

            return Missing(str(refused))

    def model_distiller(self) -> Distiller:
        """A distiller that asks a model: the memory's own, or the one that the settings and the environment name."""
        from looseleaf.distill.model import ModelDistiller

        if self.model is None:
            from looseleaf.models.choice import choose_distiller

            self.model = choose_distiller(self.policy)
        if self.model is None:
            raise Refused(
                "No model was found. Name one in looseleaf.toml (`distiller`, or `provider` and `model`), set a "
                "provider's key, or start a model server on this machine (Ollama, llama.cpp, LM Studio)."
            )
        context = self._talk.budget(self.model.name).input
        return ModelDistiller(
            self.model,
            extensions=(self.costs,),
            trim=self.policy.trim_chars,
            seconds=self.policy.model_seconds,
            context_tokens=context,
            cost_of=self.costs.cost_of,
            known=self._book.facts,
        )

    @cached_property
    def costs(self) -> Costs:
        """What models took: calls, tokens, US dollars; and the ceiling of a day."""
        from looseleaf.models.costs import Costs

        return Costs(self.store, self.policy, self.agent)


def sound(distiller: Distiller) -> Distiller:
    if type(getattr(distiller, "name", None)) is str and callable(getattr(distiller, "distill", None)):
        return distiller
    raise Refused(
        "Nothing was done: a distiller has a name, as text, and distill(material, tokens). Give it both."
    )
