"""Memory: the one object users hold. It opens a folder and hands each request to the part that knows it."""

from __future__ import annotations

import os
import time
from functools import cached_property

from looseleaf.core.heads import refuse_unknown
from looseleaf.core.paths import safe_name
from looseleaf.errors import Refused
from looseleaf.page import Page
from looseleaf.pages import Pages
from looseleaf.store import JOURNAL
from looseleaf.store.files import FileStore
from looseleaf.values import ANY
from looseleaf.where import find, is_memory, settings

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from types import TracebackType
    from typing import Any

    from looseleaf.build.topics import Built
    from looseleaf.conversation.conversation import Conversation
    from looseleaf.conversation.record import Batch
    from looseleaf.conversation.window import Window
    from looseleaf.core.loss import Loss
    from looseleaf.core.manifest import Prompt
    from looseleaf.core.spoken import Spoken
    from looseleaf.costs import Costs
    from looseleaf.entries import Entry
    from looseleaf.history import History
    from looseleaf.index.embed import Embedder
    from looseleaf.llm.registry import Budget
    from looseleaf.place.facts import Facts
    from looseleaf.place.guard import Guard
    from looseleaf.place.listing import IndexLine
    from looseleaf.place.notebook import Notebook, Source
    from looseleaf.place.place import Placed
    from looseleaf.place.redistill import Difference
    from looseleaf.place.review import Asked
    from looseleaf.place.state import State
    from looseleaf.place.tidy import Tidied
    from looseleaf.policy import Policy
    from looseleaf.prompt.analyze import Analysis, Compared
    from looseleaf.prompt.prompts import Prompts
    from looseleaf.prompt.snapshot import Snapshot
    from looseleaf.prompt.why import Answer
    from looseleaf.recall.hits import Recalled
    from looseleaf.recall.open import Opened
    from looseleaf.recall.recall import Recall
    from looseleaf.recall.retrieve import Bundle
    from looseleaf.receipts import Reconciled, Signed, Written
    from looseleaf.reply import Model
    from looseleaf.talk import Block, Distilled, Distiller, Message, Session, ToolInteraction, Trace, Turn
    from looseleaf.values import Edit, Fact, Problem, Receipt


class Memory:
    """A memory in a folder, made if it is missing. `notes` says what could not be done while reading."""

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
            from looseleaf.init import init_if_free

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
                f"Nothing was opened: {model!r} is no model. Give one of looseleaf.llm.models, such as Anthropic(name)."
            )
        self.model = model
        """Who distills, where there is no distiller and this is not None."""
        self.own_distiller = _sound(distiller) if distiller is not None else None
        self._others: dict[str, Memory] = {}

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

    def __enter__(self) -> Memory:
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

    # --- reading pages -----------------------------------------------------------------

    @property
    def history(self) -> History:
        """The past of the pages."""
        return self._pages.history

    def absorb(self) -> list[Edit]:
        """Journal what people changed in the folder. Every reading does this first; it is here to be asked for."""
        return self._pages.absorb()

    def page(self, path: str) -> Page:
        """What a page says now."""
        return self._pages.page(path)

    def texts(self, paths: Sequence[str]) -> list[str]:
        """What pages said when they were last looked at; "" for one that is not there."""
        return [Page(path, self._pages.absorb.head_bytes(path)).text for path in paths]

    def pages(self) -> list[str]:
        """The paths of all pages."""
        return self._pages.paths()

    def page_as_of(self, path: str, when: str | float) -> Page:
        """What a page said at a time: an ISO date or date and time (its last moment), or epoch seconds."""
        return self._pages.page_as_of(path, when)

    def log(self, path: str | None = None) -> Iterator[Edit]:
        """The edits of a page, or of all, newest first."""
        return self._pages.log(path)

    def versions(self, edit: Edit) -> tuple[bytes | None, bytes | None]:
        """A page before and after one of its edits."""
        return self._pages.versions(edit)

    # --- changing pages ----------------------------------------------------------------

    def edit(
        self,
        path: str,
        change: Callable[[str], str] | str,
        *,
        base: str | None = ANY,
        reason: str,
        author: str | None = None,
    ) -> Receipt:
        """Change a page, to a text or by a function of the old one; `Pages.edit` says what `base` and `author` are."""
        return self._pages.edit(path, change, base=base, reason=reason, author=author)

    def propose(
        self,
        path: str,
        change: Callable[[str], str] | str | None,
        *,
        base: str | None = ANY,
        reason: str,
        summary: str | None = None,
        whole: bool = False,
    ) -> Receipt:
        """Change a page as a model may: at the top only what the user said; what it may not write waits in review.
        `Pages.propose` says what `summary` and `whole` are."""
        return self._pages.propose(path, change, base=base, reason=reason, summary=summary, whole=whole)

    def spoken(self) -> Spoken:
        """What a model's writing is judged by: what the user said in this session, and whether a tool spoke."""
        return self._talk.spoken()

    def hold(self, path: str, lines: Sequence[tuple[str, str]]) -> tuple[str, tuple[str, ...]]:
        """Put what a model may not write on a page, as (relation, object), before a person: the edit of review, and a
        sentence on each line."""
        from looseleaf.core.guard import Guarded, sentences_of

        self._book.catch_up()
        held = Guarded("", held=tuple(lines))
        asked, fates = self._book.guard.ask(path, f"agent:{self.agent}", held, time.time())
        return asked, tuple(sentences_of(held, fates))

    def ask(self, fact: Fact, why: str) -> Asked:
        """Put a proposal into review, and say what became of it: added, waiting already, rejected before, or full."""
        self._book.catch_up()
        return self._book.place.ask([(fact, why)], why)

    def patch(
        self,
        path: str,
        patches: Sequence[tuple[str, str]],
        *,
        base: str | None = ANY,
        reason: str,
        author: str | None = None,
    ) -> Receipt:
        """Replace texts, one after the other, that each stand exactly once in the page then; all of them or none."""
        return self._pages.patch(path, patches, base=base, reason=reason, author=author)

    def delete(self, path: str, *, base: str | None = ANY, reason: str, author: str | None = None) -> Receipt:
        """Remove a page. Its history stays, and `undo` brings it back."""
        return self._pages.delete(path, base=base, reason=reason, author=author)

    def undo(self, path: str | None = None, *, author: str | None = None) -> tuple[Edit, Receipt]:
        """Take back the last edit (of a page) that was not taken back yet: the edit, and the receipt of its undoing."""
        if path is None:
            word = self._book.curate.undo(author or f"agent:{self.agent}") or self._book.tidy.undo(author)
            if word is not None:
                return word
        return self._pages.undo(path, author=author)

    # --- recording what is said --------------------------------------------------------

    @cached_property
    def _talk(self) -> Conversation:
        from looseleaf.conversation.conversation import Conversation

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

    @property
    def session(self) -> str | None:
        """The session that is recorded in; None until something is."""
        return self._talk.recorder.session

    def record(self, **asked: Any) -> Trace:
        """Record one thing that was said or done: `user=…`, `assistant=…`, `tool_call=<name>` with `tool_args`, or
        `tool_result=<value>` (or `tool_error=<text>`) with `tool_call_id`. Durable when it returns.

        Also, where they apply: `turn_id, source_event, media, reasoning, tool_call_id, tool_name, tool_result_ref,
        correlation_id, tags, interrupted, ts`. Without a call's id, a result belongs to the oldest open call of its
        tool. Secrets are redacted before anything is written.
        """
        return self._talk.record(asked)

    def record_user(self, content: str, **more: Any) -> Trace:
        """What the user said. Begins a turn."""
        return self.record(user=content, **more)

    def record_assistant(self, content: str, **more: Any) -> Trace:
        """What the model answered. `interrupted=True` if it was cut short."""
        return self.record(assistant=content, **more)

    def record_tool_call(
        self, name: str, arguments: Any = None, call_id: str | None = None, **more: Any
    ) -> Trace:
        """A tool that the model wants to be called."""
        return self.record(tool_call=name, tool_args=arguments, tool_call_id=call_id, **more)

    def record_tool_result(self, result: Any = None, call_id: str | None = None, **more: Any) -> Trace:
        """What came of a call; `tool_error=…` if it failed. It belongs to the turn of its call, however late it is."""
        return self.record(tool_result=result, tool_call_id=call_id, **more)

    def batch(self) -> Batch:
        """`with memory.batch() as batch: batch.record(…)`: all of it is written at the end, with one sync."""
        from looseleaf.conversation.record import Batch

        return Batch(self._talk.recorder)

    def start_turn(self) -> str:
        """The id of a new turn, which nobody else will get; what is recorded next belongs to it."""
        return self._talk.recorder.start_turn()

    def interrupt(self, reason: str = "") -> list[Trace]:
        """End the open tool calls of this session: their results will not come any more."""
        return self._talk.recorder.interrupt(reason)

    def open_calls(self) -> list[tuple[str, float]]:
        """Tool calls of this agent that have no result yet, in any session: their ids, and when they were recorded."""
        return self._talk.recorder.open_calls()

    def resume(self) -> str | None:
        """Go on in the agent's last session if it is not long ago; the session, if so."""
        self._talk.recorder.resume(self.policy.session_seconds)
        return self.session

    # --- reading what was said ---------------------------------------------------------

    def turns(self, last: int = 20, *, session: str | None = None) -> list[Turn]:
        """The last turns (of a session), oldest first. Reads no more of the log than these."""
        return self._talk.turns(last, session)

    def turn(self, turn_id: str) -> Turn:
        """One turn, with what came late."""
        return self._talk.turn(turn_id)

    def turns_between(self, first: str, last: str) -> list[Turn]:
        """The turns from one to another, both included."""
        return self._talk.between(first, last)

    def session_turns(self, session: str) -> list[Turn]:
        """All turns of a session."""
        return self._talk.session(session)

    def sessions(self, last: int = 20) -> list[Session]:
        """The last sessions to begin, oldest first."""
        return self._talk.sessions(last)

    def tail(self, turns: int | None = None, exclude: str | None = None) -> list[Trace]:
        """The traces of the last turns, without the excluded one (mostly: the current)."""
        return self._talk.tail(self.policy.tail_turns if turns is None else turns, exclude)

    def interactions(self, turn_id: str | None = None) -> list[ToolInteraction]:
        """Tool calls with their results, of a turn or of the window: PENDING, SUCCESS or ERROR."""
        return self._talk.interactions(turn_id)

    def blocks(self, turn_id: str) -> list[Block]:
        """A turn in the parts that compaction may take."""
        return self._talk.blocks(turn_id)

    # --- what a model is told ----------------------------------------------------------

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

    def _as(self, agent: str) -> Memory:
        """The same memory, as another agent has it."""
        if agent not in self._others:
            other = Memory(
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

    def snapshot(self, budget: int | None = None, *, quick: bool = False) -> Snapshot:
        """What a session begins with: the charter and what a prompt shows of the memory, without the window. `quick`:
        tokens are estimated, and no vocabulary is loaded."""
        from looseleaf.prompt.snapshot import snapshot

        return snapshot(self, budget, quick=quick)

    def replay(self, name: str = "last") -> Prompt:
        """A prompt of the log (by its id, how that ends, or `last`), rendered again byte for byte."""
        if not isinstance(name, str):
            raise Refused(
                f"Nothing was shown: a prompt is named by its id, which is text, not {type(name).__name__}. "
                "`last` is the last one."
            )
        return self._prompts.log.again(name)

    def why(self, text: str, prompt: str = "last") -> Answer:
        """Why words are in a prompt, back to the trace in which they were said; or why they are not in it."""
        from looseleaf.prompt.why import why

        return why(self, text, prompt)

    def analyze(self, last: int = 20) -> Analysis:
        """What a prompt costs now, slot by slot; what it would cost otherwise; and what the last ones cost."""
        from looseleaf.prompt.analyze import analyze

        return analyze(self, last)

    def compare(self, old: str, new: str = "last") -> Compared:
        """What two prompts of the log have in common, and what came, went and changed between them."""
        from looseleaf.prompt.analyze import compare

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

    def expand(self, name: str) -> list[Trace]:
        """What an entry was made of, whole; or the traces of a turn, or one trace by its id."""
        return self._talk.expand(name)

    def entry(self, name: str) -> Entry:
        """An entry, by its id."""
        return self._talk.entry(name)

    def build(self, *, full: bool = False, progress: Callable[[int, int], None] | None = None) -> Built:
        """Bring the views up to date: topics, all of them together, what the agent's compactions kept. `full`: make all
        of them again, also from entries that another program left."""
        return self._book.build(full=full, progress=progress)

    def restore_pages(self) -> list[str]:
        """Make pages that are gone from the folder again, from the journal, byte for byte; their paths. To be called
        before anything else: whatever reads first takes a missing page for one that a person removed."""
        return self._pages.restore()

    # --- finding -----------------------------------------------------------------------

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

        times = (_when(as_of), _when(since, start=True), _when(until), _when(now))
        question = Question(query, k, budget, topic, kinds, agent, *times, sure=sure, clip=clip)
        return self._recall(question, quick=quick)

    def open(self, where: str) -> Opened:
        """What a hit stands in: the turn, the page, the entry; by the `where` of the hit."""
        from looseleaf.recall.open import open_hit

        return open_hit(self, self._recall, where)

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

    # --- what is known -----------------------------------------------------------------

    @cached_property
    def state(self) -> State:
        """The working state: goal, now, decisions, tasks, conventions, blockers."""
        from looseleaf.place.state import State

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
        from looseleaf.place.facts import Facts

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
            self.spoken,
            lambda: self.distiller,
            self._note,
            self._tokens,
            lambda: self.state,
        )

    # What knows facts is loaded only by what needs it: these are asked when they are needed.

    def _guard(self) -> Guard:
        return self._book.guard

    def _clean(self, value: Any) -> Any:
        return self._talk.recorder.without_secrets(value)

    def _tokens(self, text: str) -> int:
        return self._talk.counter(None)([text])[0]

    def _settle(self) -> None:
        self._book.place.catch_up()

    def _outdated(self, *found: Distilled) -> Callable[[str], bool]:
        from looseleaf.place.outdated import outdated

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
        rules."""
        if self.own_distiller is not None:
            return self.own_distiller
        if self.model is None and self.policy.distiller == "rules":
            return None
        try:
            return self.model_distiller()
        except Refused as refused:
            self._note(f"The rules distill. {refused}")
            return None

    def model_distiller(self) -> Distiller:
        """A distiller that asks a model: the memory's own, or the one that the settings and the environment name."""
        from looseleaf.distill.model import ModelDistiller

        if self.model is None:
            from looseleaf.llm.models import choose

            self.model = choose(self.policy)
        if self.model is None:
            raise Refused(
                "No model was found. Name one in looseleaf.toml (`provider`, `model`), set a provider's key, or start "
                "Ollama."
            )
        context = self.budget(self.model.name).input
        return ModelDistiller(
            self.model,
            extensions=(self.costs,),
            trim=self.policy.trim_chars,
            seconds=self.policy.model_seconds,
            context_tokens=context,
            cost_of=self.costs.cost_of,
        )

    @cached_property
    def costs(self) -> Costs:
        """What models took: calls, tokens, US dollars; and the ceiling of a day."""
        from looseleaf.costs import Costs

        return Costs(self.store, self.policy, self.agent)

    def distill(self, *, topic: str | None = None, distiller: Distiller | None = None) -> list[Placed]:
        """Distill all settled turns that were not distilled yet, and place what they say on pages. `distiller`: by this
        one, for once."""
        own = _sound(distiller) if distiller is not None else None
        return self._book.distill(self._pages.absorb.agent(self.agent), topic, own)

    def write(
        self, given: str | Sequence[Turn], *, topic: str | None = None, author: str | None = None
    ) -> Placed:
        """Distill and place a text, or turns. A text's facts wait in review, unless its author is `person`."""
        return self._book.write(given, topic, author)

    def facts(
        self,
        *,
        topic: str | None = None,
        kind: str | None = None,
        status: str = "current",
        as_of: str | float | None = None,
    ) -> list[Fact]:
        """What is true now, or was at a time; by `status`, what is pending, superseded or rejected."""
        return self._book.facts(topic=topic, kind=kind, status=status, as_of=_when(as_of))

    def fact(self, name: str) -> Fact:
        """One fact, by its id, how that begins, or its place: `USER.md:5`."""
        return self._book.find(name)

    def fact_history(self, name: str) -> list[Fact]:
        """Every value that the fact's slot ever had, oldest first."""
        return self._book.history(name)

    def sources(self, fact: Fact) -> list[Source]:
        """The words that a fact rests on, from the log."""
        return self._book.sources(fact)

    def topics(self) -> list[str]:
        """The names of all topics."""
        self._book.find_topics()
        return self._book.topics.names

    def topic(self, name: str, *, as_of: str | float | None = None) -> dict[str, Any]:
        """The memory of one topic (`topic_memory.v1`), now or at a time."""
        return self._book.topic(name, _when(as_of))

    def global_memory(self, *, as_of: str | float | None = None) -> dict[str, Any]:
        """Active topics and what must not be forgotten (`global_memory.v1`), now or at a time."""
        return self._book.everything(_when(as_of))

    def index(self) -> list[IndexLine]:
        """A line for each page of `facts/` and `episodes/`, as a prompt lists them."""
        return self._book.index()

    def redistill(
        self,
        distiller: Distiller | None = None,
        *,
        apply: bool = False,
        progress: Callable[[int, int], None] | None = None,
    ) -> Difference:
        """What another distiller (None: the rules) makes of the same sources, fact by fact; `apply` switches to it."""
        return self._book.redistill(distiller, apply=apply, progress=progress)

    def score(self, name: str, score: float) -> Fact:
        """Say how much a fact matters, from 0 to 10 (`user_fact_score`): it outranks every rule."""
        return self._book.curate.score(name, score)

    def correct(self, name: str, text: str) -> Fact:
        """Say what is right, as a person: `Paris`, or `Home: Paris`."""
        return self._book.curate.correct(name, text)

    def approve(self, name: str) -> Fact:
        """Say yes to a fact, as a person: it leaves review for its page."""
        return self._book.curate.approve(name)

    def reject(self, name: str) -> Fact:
        """Say no to a fact, as a person: it goes, and does not come back by itself."""
        return self._book.curate.reject(name)

    def pin(self, name: str, *, pinned: bool = True) -> Fact:
        """Keep a fact among what must not be forgotten."""
        return self._book.curate.pin(name, pinned=pinned)

    def tidy(self, *, dry_run: bool = False) -> Tidied:
        """Move less essential facts from USER.md to facts/user.md, if it is over `profile_tokens`; no fact changes by
        that. `dry_run` only says what would move."""
        return self._book.tidy(dry_run=dry_run)

    # --- what was written, and by whom -------------------------------------------------

    def receipts(self, last: int = 20, *, turn: str | None = None) -> list[Written]:
        """The last writes, newest first; or those of a turn (`last`: the last one), oldest first."""
        from looseleaf.receipts import receipts

        return receipts(self, last, turn)

    def reconcile(self, turn: str | None = None) -> Reconciled:
        """What the user asked to remember in a turn (None: the last one), what the model said it saved, and whether
        anything was written: promises without a receipt are `flagged`."""
        from looseleaf.receipts import reconcile

        return reconcile(self, turn)

    def who(self, path: str) -> list[Signed]:
        """The lines of a page as it is now: who wrote each, when, by which edit, and its level."""
        from looseleaf.receipts import who

        return who(self, path)

    # --- care --------------------------------------------------------------------------

    def check(self) -> list[Problem]:
        """Re-read and re-hash everything; changes nothing."""
        from looseleaf.check import check

        return list(check(self))

    def repair(self) -> list[str]:
        """Mend what can be mended, keeping a copy of every byte that is moved. Says what was done."""
        for line in self.store.read(JOURNAL):
            # What a newer program wrote is not ours to mend; what has no checksum nobody vouches for.
            if line.checked:
                refuse_unknown(line.record)
        done = self.store.repair()
        self._pages.absorb.heads.forget()  # where records stood before is no longer where they stand
        return done


def _sound(distiller: Distiller) -> Distiller:
    if type(getattr(distiller, "name", None)) is str and callable(getattr(distiller, "distill", None)):
        return distiller
    raise Refused(
        "Nothing was done: a distiller has a name, as text, and distill(material, tokens). Give it both."
    )


def _when(time: str | float | None, *, start: bool = False) -> float | None:
    if not isinstance(time, str):
        return time
    from looseleaf.history import parse_when

    return parse_when(time, start=start)
