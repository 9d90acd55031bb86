"""The parts of an open memory: each is imported and made on first use, with the context and all parts."""

from __future__ import annotations

import os
from functools import cached_property

from looseleaf.base.errors import Invalid, NotFound, Refused, is_text
from looseleaf.base.origins import FORBIDDEN
from looseleaf.base.paths import is_address, safe_name
from looseleaf.pages.folder import (
    find,
    home_path,
    init_if_free,
    is_memory,
    is_projects,
    open_store,
    settings,
)
from looseleaf.place.parts import PlaceParts
from looseleaf.store import IMPORTS, JOURNAL, TOMBSTONES
from looseleaf.store.context import Context, no_folder
from looseleaf.store.files import FileStore
from looseleaf.store.machines import is_branch_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Sequence
    from contextlib import AbstractContextManager
    from typing import Any, TypeVar

    from looseleaf.base.messages import Distilled, Distiller, Trace
    from looseleaf.base.policy import Policy
    from looseleaf.base.replies import Model
    from looseleaf.base.values import Fact, PageText, Record, Stat
    from looseleaf.facts.gate import Spoken
    from looseleaf.facts.stones import Stones
    from looseleaf.index.embed import Embedder
    from looseleaf.memory.layers import Layer, Layers, Walls
    from looseleaf.models.costs import Costs
    from looseleaf.pages.held import Held
    from looseleaf.place.brought_files import BroughtFiles
    from looseleaf.place.corrections import Corrections, Obey
    from looseleaf.place.distill_and_place import MemoryMaker
    from looseleaf.place.guard import Guard
    from looseleaf.place.notebook import Notebook
    from looseleaf.place.other_machines import OtherMachines
    from looseleaf.place.tidy import Archive, Tidy
    from looseleaf.prompt.prompts import Prompts
    from looseleaf.recall.recall import Recall
    from looseleaf.store.protocol import OpenStore
    from looseleaf.views.build import Built, Topics
    from looseleaf.views.page_index import PageIndex
    from looseleaf.window.conversation import Conversation

    T = TypeVar("T")


class Parts(PlaceParts):
    """The parts of one memory. `session`, `counter`, `embedder`, `model` and `own_distiller` are the caller's. `notes`
    has what could not be done while reading. `machine`: see `FileStore`."""

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
        must_exist: bool = False,
        reads_only: bool = False,
        machine: str | None = None,
    ) -> None:
        if where is not None and not os.fspath(where):
            raise Invalid("The memory path is empty. Give a folder, or leave it out.")
        where = os.path.expanduser(where) if where is not None else find()
        agent = safe_name(agent, "agent's name")
        if model is not None and not callable(getattr(model, "send", None)):
            raise Invalid(f"{model!r} is not a model. Give one of looseleaf.models, such as Anthropic(name).")
        self.has_own_policy = policy is not None
        self.session = session
        self.counter = counter
        self.embedder = embedder
        self.model = model
        self.seconds: float | None = None
        self.finds_own_talk_only = False
        """Whether recall leaves out what other agents said."""
        self.walls: Walls | None = None
        """What may be read and changed in the memories under this one; None: all of it."""
        self.store: OpenStore
        self.own_distiller = check_distiller(distiller) if distiller is not None else None
        self.notes: list[str] = []
        self.on_note: Callable[[str], None] | None = None
        if is_address(where):
            from looseleaf.pages import in_database

            self.store, policy = in_database.open_memory(
                where, policy, agent, must_exist=must_exist, reads_only=reads_only
            )
            where = in_database.read_address(where).where
        else:
            where = os.path.abspath(where)
            if not is_memory(where):
                if must_exist:
                    raise NotFound(f"There is no memory at {where}.")
                init_if_free(where)
            policy = policy or settings(where, agent)
            self.store = open_store(where, policy, machine, reads_only=reads_only)
        self.store.veil = self._veil
        self._heeds = False
        shared = (JOURNAL, "calls", IMPORTS, TOMBSTONES)
        self.store.compare((*shared, f"traces/{agent}", f"prompts/{agent}"), self.note)
        super().__init__(Context(self.store, where, policy, agent, self.note, self.count, self.redact))

    @property
    def files(self) -> FileStore:
        """The store, for what takes a folder."""
        if not isinstance(self.store, FileStore):
            raise no_folder(self.context.where)
        return self.store

    def close(self) -> None:
        """Close all handles. What was acknowledged is on disk already."""
        for part in ("conversation", "recall"):
            if part in self.__dict__:
                getattr(self, part).close()
        if "known" in self.__dict__:
            self.known.close()
        self.pages.close()
        self.context.store.close()
        if (layers := self.__dict__.get("layers")) is not None:
            layers.close()

    def close_views(self) -> None:
        """Close the open views until they are needed again."""
        if "recall" in self.__dict__:
            self.recall.close()
        if "conversation" in self.__dict__:
            self.conversation.close_views()

    def note(self, note: str) -> None:
        if note not in self.notes:  # once, even if a program reads for days on a full disk
            self.notes.append(note)
            if self.on_note is not None:
                self.on_note(note)

    def count(self, text: str) -> int:
        return self.conversation.counter(None)([text])[0]

    def redact(self, value: Any) -> Any:
        return self.conversation.recorder.without_secrets(value)

    @cached_property
    def layers(self) -> Layers[Parts] | None:
        """The memories under this one; None if it is alone, which most are."""
        if not self.is_project:
            return None
        from looseleaf.memory.layers import Layers

        layers = Layers(
            self.context.where, self.context.policy, self.note, self._open_layer, lambda: self.walls
        )
        return layers if layers.found or layers.missed else None

    @property
    def is_project(self) -> bool:
        """True if this memory may lie over others: a project's `.looseleaf`, or one whose settings name layers."""
        policy = self.context.policy
        return policy.layers and (policy.over is not None or is_projects(self.context.where))

    def _open_layer(self, layer: Layer, policy: Policy, reads_only: bool) -> Parts:
        opened = Parts(
            layer.where,
            agent=self.context.agent,
            policy=policy,
            counter=self.counter,
            embedder=self.embedder,
            must_exist=True,
            reads_only=reads_only,
        )
        opened.on_note = lambda note: self.note(f"{layer.name}: {note}")
        for note in opened.notes:
            opened.on_note(note)
        return opened

    def farther(self, read: Callable[[Parts], T]) -> list[tuple[str, T]]:
        """Read something of each memory under this one, nearest first, with its name."""
        return self.layers.each(read) if self.layers is not None else []

    @property
    def has_home(self) -> bool:
        """True if what is about the user belongs in the home memory under this one."""
        return self.layers is not None and self.layers.home is not None

    def home(self) -> Parts | None:
        """Return the home memory under this one, to be written to."""
        layers = self.layers
        return layers.writing(layers.home) if layers is not None and layers.home is not None else None

    def explain_no_home(self) -> str:
        """Return why there is no home memory under this one, and what helps, as a sentence's end."""
        if not self.context.policy.layers:
            return "`layers = false` in looseleaf.toml turns the home memory off."
        why = self.layers.explain_missing("home") if self.layers is not None else ""
        if why:
            return f"the home memory cannot be read: {why}"
        if os.path.lexists(home_path()):
            return "the home memory is not under this one: `looseleaf --memory ~/.looseleaf remember` keeps it there."
        return "there is no home memory under this one. `looseleaf init ~/.looseleaf` makes one."

    @property
    def has_team(self) -> bool:
        """True if what is about a team's work belongs in the shared memory under this one."""
        return self.layers is not None and self._find_team() is not None

    def _find_team(self) -> Layer | None:
        layers = self.layers if not self.context.policy.shared else None
        if layers is None:
            return None
        team = next((layer for layer in layers.seen if layer.name != "home" and _is_shared(layer)), None)
        return team if team is not None and layers.may(team, "write") else None

    def team(self) -> tuple[str, Parts] | None:
        """Return the nearest shared memory under this one, to be written to, with its name."""
        team = self._find_team()
        return (
            (team.name, self.layers.writing(team)) if team is not None and self.layers is not None else None
        )

    def may_in(self, layer: str | None, scope: str) -> bool:
        """Return True if the walls let through what is done in a layer; in the memory itself, its door decides."""
        if not layer or self.walls is None or self.layers is None:
            return True
        found = self.layers.named(layer)
        return found is not None and self.layers.may(found, scope)

    def absorb_home(self) -> None:
        """Journal what people changed in the folder of the home memory under this one."""
        try:
            home = self.home()
            if home is not None:
                home.pages.absorb()
        except Refused as refused:
            self.note(str(refused))

    @cached_property
    def _is_tracked(self) -> bool:
        from looseleaf.place.tracked import is_tracked

        return self.store.edited_outside and is_tracked(self.context.path)

    @cached_property
    def may_be_tracked(self) -> bool:
        from looseleaf.place.tracked import may_be_tracked

        return self.store.edited_outside and may_be_tracked(self.context.path)

    def is_tracked(self) -> bool:
        """True if git tracks the pages, whatever the settings say: then nothing private may stand there."""
        return self.may_be_tracked and self._is_tracked

    def find_fact(self, name: str) -> Fact:
        """Return one fact of this memory or, if it has none of that name, of one under it."""
        layer, place = self.split_place(name)
        if layer is not None and self.layers is not None:
            return self.layers.reading(layer).notebook.find(place).but(layer=layer.name)
        try:
            return self.notebook.find(name)
        except NotFound:
            for layer_name, found in self.farther(lambda far: _find(far, name)):
                if found is not None:
                    return found.but(layer=layer_name)
            raise

    def facts_named(self, ids: Collection[str]) -> dict[str, Fact]:
        """Return the facts of these ids, of this memory or of one under it, as far as they are there."""
        found = self.notebook.named(ids)
        for layer, facts in self.farther(lambda far: far.notebook.named(ids)):
            found = {name: fact.but(layer=layer) for name, fact in facts.items()} | found
        return found

    def split_place(self, name: str) -> tuple[Layer | None, str]:
        """Split `home:USER.md:5` into the layer and the place in it; None: this memory."""
        layer, place = self.split_topic(name)
        if layer is None and is_text(name) and ":" in name:
            from looseleaf.memory.layers import refuse_no_layer

            refuse_no_layer(name, self.layers)
        return layer, place

    def split_topic(self, name: str) -> tuple[Layer | None, str]:
        """Split `home:user` into the layer and its topic; None: a topic of this memory, or of all."""
        return self.layers.split(name) if self.layers is not None and is_text(name) else (None, name)

    def refuse_farther(self, path: str, done: str = "changed") -> None:
        """Refuse to change a page of a layer: that is done in the layer itself."""
        layer, place = self.split_place(path)
        if layer is not None:
            raise Refused(
                f"{path} was not {done}: it is of the layer {layer.name}, which is only read from here. "
                f"`{layer.command}` works in that memory, where its name is {place}."
            )

    def at_place(self, name: str) -> tuple[Parts, str]:
        """Return the memory that a place is in, to be read, and the place there."""
        layer, place = self.split_place(name)
        return self.of_layer(layer.name if layer is not None else None), place

    def of_layer(self, name: str | None) -> Parts:
        """Return the memory of a layer, to be read; without a name, this one."""
        layer = self.layers.named(name) if name and self.layers is not None else None
        return self.layers.reading(layer) if layer is not None and self.layers is not None else self

    def to_change(self, name: str | None) -> Parts:
        """Return the memory of a layer, to be written to; without a name, this one."""
        layer = self.layers.named(name) if name and self.layers is not None else None
        return self.layers.writing(layer) if layer is not None and self.layers is not None else self

    @cached_property
    def conversation(self) -> Conversation:
        from looseleaf.window.conversation import Conversation

        return Conversation(self.context, self)

    @cached_property
    def prompts(self) -> Prompts:
        from looseleaf.prompt.prompts import Prompts

        return Prompts(self.context, self)

    @cached_property
    def recall(self) -> Recall:
        from looseleaf.recall.recall import Recall

        return Recall(self.context, self)

    @cached_property
    def notebook(self) -> Notebook:
        from looseleaf.place.notebook import Notebook

        return Notebook(self.context, self)

    @cached_property
    def guard(self) -> Guard:
        from looseleaf.place.guard import Guard

        return Guard(self.context, self)

    @cached_property
    def corrections(self) -> Corrections:
        from looseleaf.place.corrections import Corrections

        return Corrections(self.context, self)

    @cached_property
    def tidy(self) -> Tidy:
        from looseleaf.place.tidy import Tidy

        return Tidy(self.context, self)

    @cached_property
    def archive(self) -> Archive:
        from looseleaf.place.tidy import Archive

        return Archive(self.context, self)

    @cached_property
    def obey(self) -> Obey:
        from looseleaf.place.corrections import Obey

        return Obey(self.context, self)

    @cached_property
    def making(self) -> MemoryMaker:
        from looseleaf.place.distill_and_place import MemoryMaker

        return MemoryMaker(self.context, self)

    @cached_property
    def topics(self) -> Topics:
        from looseleaf.views.build import Topics

        return Topics(self.context.store, self.known)

    @cached_property
    def page_index(self) -> PageIndex:
        from looseleaf.views.page_index import PageIndex

        return PageIndex(self.context, self)

    @cached_property
    def costs(self) -> Costs:
        from looseleaf.models.costs import Costs

        return Costs(self.context.store, self.context.policy, self.context.agent)

    # --- acts that need several parts ------------------------------------------------------

    def spoken(self) -> Spoken:
        return self.conversation.spoken()

    @cached_property
    def others(self) -> OtherMachines:
        from looseleaf.place.other_machines import OtherMachines

        return OtherMachines(self.context, self)

    @cached_property
    def brought_files(self) -> BroughtFiles:
        from looseleaf.place.brought_files import BroughtFiles

        return BroughtFiles(self.context, self)

    def take_in(self) -> None:
        """Take in what other machines wrote. Most memories have one machine."""
        if self.store.machines():
            self.hear()
            self.others()
            if self.stones.heard():
                from looseleaf.forget.held_files import cut_late, find_state_copies

                cut_late(self, find_state_copies(self.store))

    def undone(self, path: str, edit: str, head: bytes | None) -> bytes | None:
        return self.others.undone(path, edit, head)

    def _veil(self, machine: str) -> Callable[[Record], Record]:
        return self.stones.veil(machine)

    @cached_property
    def stones(self) -> Stones:
        from looseleaf.facts.stones import Stones

        return Stones(self.store)

    def hear(self) -> None:
        """Forget here what other machines forgot. Within another act, later."""
        if self._heeds or self.store.is_locked():
            return
        if not self.stones.unheard() and not self.deaf_branches():
            return
        from looseleaf.memory.in_place import hear

        self._heeds = True
        try:
            hear(self)
        except Refused as refused:
            self.note(f"Another machine forgot something that is still here. {refused}")
        finally:
            self._heeds = False

    def as_machine(self, machine: str, *, reads_only: bool) -> Parts:
        """Open the memory as another machine."""
        return Parts(
            self.context.where,
            agent=self.context.agent,
            policy=self.context.policy,
            must_exist=True,
            reads_only=reads_only,
            machine=machine,
        )

    def deaf_branches(self) -> list[str]:
        """Return the logs that a merge made of this machine's own, and in which something is still to be forgotten."""
        branches = (name for name in self.store.machines() if is_branch_of(name, self.store.machine))
        return [name for name in branches if self.stones.unheard(name)]

    def without_forgotten(self, path: str, head: bytes | None, data: bytes) -> bytes:
        is_old = bool(self.stones.heard()) and (bool(self.store.machines()) or self._is_tracked)
        return self.brought_files.without_forgotten(path, head, data) if is_old else data

    def brought(self, path: str, version: str, stat: Stat) -> bool:
        return bool(self.store.machines()) and self.brought_files.brought(path, version, stat)

    def tell_put_back(self, path: str, version: str) -> None:
        self.brought_files.tell_put_back(path, version)

    def drop_known(self, copies: Sequence[Held]) -> list[str]:
        dropped = self.brought_files.drop_known(copies) if self.store.machines() else []
        if not self.stones.heard():
            return dropped
        from looseleaf.forget.held_files import cut_late

        return dropped + cut_late(self, [held for held in copies if held.path not in dropped])

    def hold(self, path: str, lines: Sequence[tuple[str, str]]) -> tuple[str, tuple[str, ...]]:
        """Put lines, as (relation, object), that a model may not write on a page into review; return that edit and a
        sentence per line."""
        self.notebook.catch_up()
        return self.guard.hold(path, f"agent:{self.context.agent}", lines)

    def summary_of(self, path: str, page: PageText) -> str:
        return self.placer.summary_of(path, page)

    def heed(self, trace: Trace) -> None:
        """Obey a message in which the user forbids to remember something; others change nothing."""
        if FORBIDDEN in trace.tags:
            self.obey(trace)

    def forbids(self, text: str) -> bool:
        from looseleaf.distill.forbidding import forbidden  # loads the selector: only for likely prohibitions

        return forbidden(text) is not None

    def claim(self, chore: str) -> AbstractContextManager[bool]:
        """Do a chore of this agent once for all that need it at the same time."""
        return self.store.claim(f"views/agents/{self.context.agent}/{chore}.lock")

    def outdated(self, *found: Distilled) -> Callable[[str], bool]:
        from looseleaf.facts.placement import make_outdated_test

        self.known.catch_up()
        return make_outdated_test(self.known, *found)

    def place(self, entry: str) -> None:
        self.making.placed(entry)

    def build(self, *, full: bool = False, progress: Callable[[int, int], None] | None = None) -> Built:
        """Update the views of topics and of the state."""
        from looseleaf.store.reading import read_and_write

        return read_and_write(self.context.store, lambda: self._build(full=full, progress=progress))

    def _build(self, *, full: bool, progress: Callable[[int, int], None] | None) -> Built:
        from looseleaf.state.file import StateFile, build_state, schema_text

        if full:
            self.making.adopt()
        self.notebook.catch_up()
        state = StateFile(self.context.store, self.pages, self.note).now()
        build_state(self.context.store, state, schema_text())
        return self.topics.build(full=full, progress=progress)

    @cached_property
    def distiller(self) -> Distiller | None:
        """The caller's own, or a model (given, or named in the settings); None: the rules. Without the model that was
        asked for, entries say so, and are distilled again when it is there."""
        if self.own_distiller is not None:
            return self.own_distiller
        if self.model is None and self.context.policy.distiller == "rules":
            return None
        try:
            return self.model_distiller()
        except Refused as refused:
            from looseleaf.distill.make_entry import Missing

            return Missing(str(refused))

    def model_distiller(self) -> Distiller:
        """Return a distiller with the memory's own model, or the one that settings and environment name."""
        from looseleaf.base.replies import time_limit
        from looseleaf.distill.model import ModelDistiller

        policy = self.context.policy
        if self.model is None:
            from looseleaf.models.choice import choose_distiller

            self.model = choose_distiller(policy)
        if self.model is None:
            raise NotFound(
                "No model was found. Name one in looseleaf.toml (`distiller`, or `provider` and `model`), set a "
                "provider's key, or start a model server on this machine (Ollama, llama.cpp, LM Studio)."
            )
        return ModelDistiller(
            self.model,
            extensions=(self.costs,),
            trim=policy.trim_chars,
            seconds=self.seconds or time_limit(self.model, policy.model_seconds),
            context_tokens=self.conversation.budget(self.model.name).input,
            cost_of=self.costs.cost_of,
            known=self.notebook.facts,
        )

    def distill_with(self, model: Model, seconds: float | None) -> None:
        """Use a model to distill from now on, unless a custom distiller or another model does. `seconds` is the time
        limit of one call."""
        if self.own_distiller is None and self.model is None:
            self.model, self.seconds = model, seconds
            self.__dict__.pop("distiller", None)


def _is_shared(layer: Layer) -> bool:
    try:
        return settings(layer.where).shared
    except Refused:
        return False  # what is wrong with it is noted where it is read


def _find(parts: Parts, name: str) -> Fact | None:
    try:
        return parts.notebook.find(name)
    except NotFound:
        return None


def check_distiller(distiller: Distiller) -> Distiller:
    if type(getattr(distiller, "name", None)) is str and callable(getattr(distiller, "distill", None)):
        return distiller
    raise Invalid("A distiller needs a name, as text, and distill(material, tokens). Give it both.")


class Verbs:
    """A group of an open memory's verbs."""

    def __init__(self, parts: Parts) -> None:
        self._parts = parts

    def _of_fact(self, change: Callable[[Parts, str], Fact], name: str) -> Fact:
        """Change a fact in the memory that has it: this one, or one under it."""
        layers = self._parts.layers
        if layers is None:
            return change(self._parts, name)
        layer, place = self._parts.split_place(name)
        if layer is None:
            found = self._parts.find_fact(name)
            layer, place = layers.named(found.layer or ""), found.id or name
        if layer is None:
            return change(self._parts, name)
        if not layers.may(layer, "review"):
            raise Refused(
                f"Nothing was decided: {place} is of the layer {layer.name}, where only a reviewer decides."
            )
        return change(layers.writing(layer), place).but(layer=layer.name)
