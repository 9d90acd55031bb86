"""Memory: the public object. It opens a folder; everyday verbs are here, the others in groups."""

from __future__ import annotations

import os
from contextlib import contextmanager
from functools import cached_property, partial

from looseleaf.base.errors import Invalid, Unreadable, check_text
from looseleaf.base.values import NOT_GIVEN
from looseleaf.memory.groups import (
    ExplainVerbs,
    HistoryVerbs,
    PageVerbs,
    ReviewVerbs,
    TalkVerbs,
    ViewVerbs,
    WindowVerbs,
)
from looseleaf.memory.parts import Parts, check_distiller
from looseleaf.store.streams import ASKER
from looseleaf.text.times import parse_time

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from types import TracebackType
    from typing import Any, Never, Self

    from looseleaf.base.messages import Distiller, Trace, Turn
    from looseleaf.base.policy import Policy
    from looseleaf.base.replies import Model
    from looseleaf.base.values import Fact, Problem
    from looseleaf.forget.forget import Forgotten
    from looseleaf.index.embed import Embedder
    from looseleaf.log.recorder import Batch
    from looseleaf.memory.layers import Walls
    from looseleaf.memory.merge import Merged
    from looseleaf.models.costs import Costs
    from looseleaf.place.distill_and_place import Remembered
    from looseleaf.place.placer import Placed
    from looseleaf.prompt.manifest import Prompt
    from looseleaf.recall.hits import Recalled
    from looseleaf.recall.open_hit import Opened
    from looseleaf.state.state import State
    from looseleaf.sync.sync import Synced

_OTHERS = 2
"""How many other agents' memories stay open: each has files of its own."""


class Memory:
    """A memory in a folder, made if it is missing; or in a database, by its address.

        with Memory("notes") as memory:
            memory.remember("I live in Lyon.")
            print(memory.prompt("Where do I live?").text)

    `agent` names who records and writes. `model` distills talk with a language model; `distiller` is a custom one.
    `parts` is internal, and not part of the API.
    """

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
        self.parts = Parts(
            where,
            agent=agent,
            policy=policy,
            session=session,
            distiller=distiller,
            model=model,
            counter=counter,
            embedder=embedder,
        )
        self._others: dict[str, Memory] = {}
        self._is_closed = False

    def __repr__(self) -> str:
        return f"Memory({self.name!r}, agent={self.agent!r})"

    def close(self) -> None:
        """Close all handles. What was acknowledged is on disk already."""
        self._is_closed = True
        for other in self._others.values():
            other.close()
        self.parts.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    # --- what it is ------------------------------------------------------------------------

    @property
    def name(self) -> str:
        """What to call it: its folder, or its address in a database, without a password."""
        return self.parts.context.name

    @property
    def where(self) -> str:
        """The folder, or the address, that opens it again. An address may have a password: show `name`."""
        return self.parts.context.where

    @property
    def path(self) -> str:
        """The folder; a memory in a database has none, and raises Refused."""
        return self.parts.context.path

    @property
    def agent(self) -> str:
        """Who records and writes."""
        return self.parts.context.agent

    @property
    def policy(self) -> Policy:
        """The settings."""
        return self.parts.context.policy

    @property
    def notes(self) -> list[str]:
        """What could not be done while reading, in sentences, each once."""
        return self.parts.notes

    @property
    def state(self) -> State:
        """The working state: goal, now, decisions, tasks, conventions, blockers."""
        return self.parts.state

    @property
    def costs(self) -> Costs:
        """Model usage: calls, tokens, US dollars; and the daily spending limit."""
        return self.parts.costs

    # --- groups ----------------------------------------------------------------------------

    @cached_property
    def talk(self) -> TalkVerbs:
        """The recorded talk: sessions, turns, traces, tool calls."""
        return TalkVerbs(self.parts)

    @cached_property
    def window(self) -> WindowVerbs:
        """The talk that a model still sees: messages, tokens, compaction."""
        return WindowVerbs(self.parts)

    @cached_property
    def pages(self) -> PageVerbs:
        """The Markdown pages: read, edit, propose, patch, delete."""
        return PageVerbs(self.parts)

    @cached_property
    def history(self) -> HistoryVerbs:
        """Page and fact history: edits, versions, undo."""
        return HistoryVerbs(self.parts)

    @cached_property
    def review(self) -> ReviewVerbs:
        """What waits for a person, and a person's word on facts."""
        return ReviewVerbs(self.parts)

    @cached_property
    def explain(self) -> ExplainVerbs:
        """Why a line is there, who wrote it, what it rests on."""
        return ExplainVerbs(self.parts)

    @cached_property
    def views(self) -> ViewVerbs:
        """Topics, the overview, snapshots, the index."""
        return ViewVerbs(self.parts)

    # --- recording -------------------------------------------------------------------------

    def record(
        self,
        /,
        *,
        user: str | None = None,
        assistant: str | None = None,
        tool_call: str | None = None,
        tool_args: Any = None,
        tool_result: Any = NOT_GIVEN,
        tool_error: str | None = None,
        tool_call_id: str | None = None,
        tool_name: str | None = None,
        content: str | None = None,
        tool_result_ref: str | None = None,
        reasoning: str | None = None,
        media: Mapping[str, Sequence[str]] | None = None,
        turn_id: str | None = None,
        source_event: str | None = None,
        correlation_id: str | None = None,
        opaque: Mapping[str, Any] | None = None,
        tags: Sequence[str] = (),
        interrupted: bool = False,
        ts: float | None = None,
        **unknown: Never,
    ) -> Trace:
        """Record one message, tool call or result. It is durable on return, and secrets are redacted first.

            memory.record(user="Run the tests.")
            memory.record(tool_call="bash", tool_args={"command": "make test"}, tool_call_id="c1")
            memory.record(tool_result="42 passed", tool_call_id="c1")
            memory.record(assistant="All 42 tests pass.")

        Give one of `user`, `assistant`, `tool_call`, `tool_result` (or `tool_error`). A user's message begins a turn.
        Without a call's id, a result belongs to the oldest open call of its tool. `interrupted`: it was cut short.
        `content`: text beside a tool's call or result. `ts`: epoch seconds, if not now.
        """
        trace = self.parts.conversation.record({**locals()})
        self.parts.heed(trace)
        return trace

    def batch(self) -> Batch:
        """Record many traces with one sync at the end: `with memory.batch() as batch: batch.record(user=…)`."""
        from looseleaf.log.recorder import Batch

        return Batch(self.parts.conversation.recorder, self.parts.heed)

    # --- learning --------------------------------------------------------------------------

    def remember(self, text: str, *, topic: str | None = None, where: str | None = None) -> Remembered:
        """Make memory of a person's own words now, as confirmed facts: `memory.remember("I prefer green tea.")`. A
        sentence without a fact becomes a note on USER.md or the page of the topic.

        In a project's memory, what is about the user goes to the home memory, if there is one. `where` decides
        otherwise: `here`, or `home`.
        """
        from looseleaf.place.remember_where import remember_where

        clean = self.parts.redact(text)
        with self.parts.store.look():
            return remember_where(self.parts, clean, topic, where, redacted=clean != text)

    def distill(
        self,
        given: str | Sequence[Turn] | None = None,
        *,
        topic: str | None = None,
        author: str | None = None,
        distiller: Distiller | None = None,
    ) -> list[Placed]:
        """Distill all settled turns not distilled yet, and place their facts on pages.

        With a text or turns given, distill these instead. A text's facts wait in review, unless its `author` is
        `person`. `distiller`: use this one, this time.
        """
        making = self.parts.making
        own = check_distiller(distiller) if distiller is not None else None
        if given is not None:
            return [making.write(given, topic, author, own)]
        if author is not None:
            raise Invalid("An author goes with a text. Give the text, or leave the author out.")
        with self.parts.store.look():
            self.parts.pages.absorb.know(recovers=True)  # also journals what the log has lost
            self.parts.absorb_home()
            return making.distill(topic, own)

    # --- asking ----------------------------------------------------------------------------

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
        """Find what bears on a question, best first: `memory.recall("Where does Ana live?", k=3)`. At most `k` hits
        (10) and `budget` tokens; none if nothing clearly does, and then `why` says so. It finds what any process has
        written.

        `kinds`: of fact, prose, episode, day, entry, trace. `as_of`: what was true and said then. `now`: what "last
        week" is counted from. `sure`: how sure the best must be, from 0 to 1 (else as measured). `clip`: shorten each
        text to about so many tokens. `quick`: estimate tokens, and load no vocabulary.
        """
        from looseleaf.recall.question import question_of

        times = {"as_of": as_of, "since": since, "until": until, "now": now}
        question = question_of(
            query, k, budget=budget, topic=topic, kinds=kinds, agent=agent, sure=sure, clip=clip, **times
        )
        with self.parts.store.look():
            return self.parts.recall(question, quick=quick)

    def open(self, where: str) -> Opened:
        """Open the source of a hit, by its `where`: the turn, the page, the entry."""
        from looseleaf.recall.open_hit import Opened, open_hit

        parts, place = self.parts.at_place(where)
        with parts.store.look():
            opened = open_hit(parts, place)
        return opened if parts is self.parts else Opened(where, opened.kind, opened.text)

    def facts(
        self,
        *,
        topic: str | None = None,
        kind: str | None = None,
        status: str = "current",
        as_of: str | float | None = None,
    ) -> list[Fact]:
        """Return what is true now, or was at a time; by `status`, what is pending, superseded or rejected:
        `memory.facts(topic="user")`."""
        at = parse_time(as_of)

        def read(parts: Parts) -> list[Fact]:
            with parts.store.look():
                return parts.notebook.facts(topic=topic, kind=kind, status=status, as_of=at)

        own = read(self.parts)
        farther = self.parts.farther(read)
        if not farther:
            return own
        from looseleaf.facts.layered import in_order, join, unite

        holds = at is not None or status == "current"
        return in_order((unite if holds else join)([("", own), *farther]))

    def fact(self, name: str) -> Fact:
        """Return one fact, by its id, the start of that, or its place: `USER.md:5`, `home:USER.md:5`."""
        with self.parts.store.look():
            return self.parts.find_fact(name)

    def prompt(
        self,
        task: str | None = None,
        *,
        budget: int | None = None,
        model: str | None = None,
        agent: str | None = None,
        dry_run: bool = False,
    ) -> Prompt:
        """Return a model's prompt for a task, within the budget (None: the model's own): the charter, the memory, the
        window, the task. `memory.prompt("Plan my week.", budget=8_000).to_openai()`

        The manifest says why each part is there, and is logged. A task already recorded is not repeated; without one,
        the window ends the prompt. A window that does not fit is compacted first. `dry_run` compacts and logs nothing.
        """
        check_text("agent", agent)
        if agent is not None and agent != self.agent:
            return as_agent(self, agent).prompt(task, budget=budget, model=model, dry_run=dry_run)
        with self.parts.store.look():
            return self.parts.prompts(task, budget, model, dry_run=dry_run)

    # --- forgetting and care ---------------------------------------------------------------

    def forget(
        self,
        *,
        fact: str | None = None,
        topic: str | None = None,
        session: str | None = None,
        origin: str | None = None,
        match: str | None = None,
        agent: str | None = None,
        in_place_of: str | None = None,
        dry_run: bool = False,
    ) -> Forgotten:
        """Remove a fact, a topic, a session, all of an origin, or every sentence that holds some words, everywhere: the
        memory becomes what it would have been without. `memory.forget(match="mushrooms")`

        Returns what went, and what reading every byte of the folder found then. `agent`: only what this one recorded.
        `dry_run` changes nothing. The memories under this one are searched too: `layers` says what went from them, and
        `unwritten` which could not be changed. `in_place_of`, alone: in the log of a machine that will never come back,
        forget what the others forgot.
        """
        given = {"fact": fact, "topic": topic, "session": session, "origin": origin, "match": match}
        if in_place_of is not None:
            if agent is not None or any(each is not None for each in given.values()):
                raise Invalid(
                    "Nothing was forgotten: in place of a machine, all goes that was forgotten. Name nothing else."
                )
            from looseleaf.memory.in_place import forget_in_place_of

            return forget_in_place_of(self.parts, in_place_of, dry_run=dry_run)
        layers = self.parts.layers
        if layers is None:
            from looseleaf.forget.forget import forget

            return forget(self.parts, given, agent, dry_run=dry_run)
        from looseleaf.forget.forget_layers import forget_everywhere

        layer, place = self.parts.split_place(fact or "")
        if layer is not None:
            from looseleaf.forget.forget import forget

            done = forget(layers.writing(layer), given | {"fact": place}, agent, dry_run=dry_run)
            return done.but(layer=layer.name)
        opened = {each.name: partial(layers.writing, each) for each in layers.found}
        return forget_everywhere(self.parts, opened, given, agent, missed=layers.missed, dry_run=dry_run)

    def merge(self, where: str | os.PathLike[str], *, dry_run: bool = False) -> Merged:
        """Merge another copy of this memory into this one: its folder, or an export of all of it.
        `memory.merge("/media/stick/notes")`

        What either has learned is kept, and what people changed on pages there comes too; the other copy is not
        changed. `dry_run` says what would be new, and writes nothing.
        """
        from looseleaf.memory.merge import merge

        return merge(self.parts, os.fspath(where), dry_run=dry_run)

    def sync(
        self,
        where: str | os.PathLike[str] | None = None,
        *,
        branch: str = "main",
        new_branch: bool = False,
        join: bool = False,
        dry_run: bool = False,
    ) -> Synced:
        """Make this memory and a copy elsewhere equal, in both directions: `memory.sync("/media/stick/notes")`. The
        place is a folder, a git remote or an rsync target; without one, that of the settings. `new_branch`: the branch
        of a git remote that has others may be made. `join`: the place may hold another memory, which this one never met
        and which has words too: the two become one. `dry_run` says what would come and go, and writes nothing."""
        from looseleaf.memory.merge import merge
        from looseleaf.sync.sync import sync

        given = None if where is None else os.fspath(where)
        if not dry_run:
            take = partial(merge, self.parts, has_pages=False)
            return sync(self.parts, take, given, branch, new_branch=new_branch, join=join)
        from looseleaf.memory.trial import open_trial

        with open_trial(self.parts, has_talk=True) as trial:
            trial.on_note = self.parts.note
            take = partial(merge, trial, has_pages=False)
            return sync(trial, take, given, branch, new_branch=new_branch, join=join, home=self.path)

    def check(self) -> list[Problem]:
        """Re-read and re-hash everything, and return what is wrong; change nothing."""
        from looseleaf.memory.check import check

        return list(check(self.parts))

    def repair(self) -> list[str]:
        """Repair what can be repaired, keeping a copy of every byte moved. Return what was done."""
        from looseleaf.memory.check import repair

        return repair(self.parts)


@contextmanager
def own_talk_only(memory: Memory) -> Iterator[Memory]:
    """Have recall find nothing of what other agents said, while the block runs: who asks may not see that."""
    before, memory.parts.finds_own_talk_only = memory.parts.finds_own_talk_only, True
    try:
        yield memory
    finally:
        memory.parts.finds_own_talk_only = before


@contextmanager
def on_behalf(memory: Memory, person: str, walls: Walls | None) -> Iterator[Memory]:
    """Do what a block does for a person, whose name goes into every record that it writes; of the memories under this
    one, it sees and changes what the walls let through."""
    before, memory.parts.walls = memory.parts.walls, walls
    asker = ASKER.set(person)
    try:
        yield memory
    finally:
        ASKER.reset(asker)
        memory.parts.walls = before


def as_agent(memory: Memory, agent: str) -> Memory:
    """Return the same memory for another agent. The last few stay open, until this one is closed."""
    if agent == memory.agent:
        return memory
    others = memory._others
    if agent in others:
        others[agent] = others.pop(agent)  # the newest is last
        return others[agent]
    if memory._is_closed:
        raise Unreadable("The memory was closed. Open it again.")
    own = memory.parts
    other = others[agent] = type(memory)(
        memory.where,
        agent=agent,
        policy=memory.policy if own.has_own_policy else None,
        distiller=own.own_distiller,
        model=own.model,
        counter=own.counter,
    )
    other.parts.notes, other.parts.walls = own.notes, own.walls
    if len(others) > _OTHERS:
        others.pop(next(iter(others))).close()
    return other
