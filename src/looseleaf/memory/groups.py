"""The groups of verbs of a `Memory`, each a property of it.

- `pages`: the Markdown pages; `history`: their past
- `talk`: the recorded talk: sessions, turns and tool calls
- `window`: the talk that a model still sees, its tokens, and its compaction
- `review`: what waits for a person, a person's word on facts, and cleaning up
- `explain`: why a line is there, who wrote it, what it rests on, and what prompts cost
- `views`: built from facts and talk, and rebuilt at any time
"""

from __future__ import annotations

import time

from looseleaf.base.errors import Invalid, NotFound, Refused, check_type, is_text
from looseleaf.base.values import ANY, Edit, Fact
from looseleaf.memory.parts import Verbs
from looseleaf.store import JOURNAL
from looseleaf.text.times import parse_time

TYPE_CHECKING = False
if TYPE_CHECKING:
    from builtins import list as List
    from collections.abc import Callable, Iterator, Sequence
    from typing import Any

    from looseleaf.base.messages import Distiller, Message, Session, ToolInteraction, Trace, Turn
    from looseleaf.base.values import Receipt
    from looseleaf.explain.promises import Reconciled
    from looseleaf.explain.prompt_costs import Analysis, Compared
    from looseleaf.explain.sources import Signed
    from looseleaf.explain.why import Explanation
    from looseleaf.explain.writes import Written
    from looseleaf.log.entries import Entry
    from looseleaf.memory.parts import Parts
    from looseleaf.models.model_table import Budget
    from looseleaf.pages.held import Held
    from looseleaf.pages.pages import Page
    from looseleaf.pages.settle import Settled
    from looseleaf.place.notebook import FactSource
    from looseleaf.place.placer import ReviewResult
    from looseleaf.place.redistill import Difference
    from looseleaf.place.tidy import Tidied
    from looseleaf.prompt.manifest import Prompt
    from looseleaf.prompt.rendered_snapshot import Snapshot
    from looseleaf.recall.open_hit import Bundle
    from looseleaf.views.build import Built, Topics
    from looseleaf.views.page_index import IndexLine
    from looseleaf.window.compaction_plan import Loss
    from looseleaf.window.window import Window


class PageVerbs(Verbs):
    """The pages of the folder, read and changed."""

    def read(self, path: str) -> Page:
        """Return a page as it is now; `home:USER.md` is a page of the layer `home`."""
        parts, place = self._parts.at_place(path)
        return parts.pages.page(place)

    def list(self) -> List[str]:
        """Return the paths of all pages."""
        return self._parts.pages.paths()

    def index(self) -> List[IndexLine]:
        """Return a line for each page of `facts/` and `episodes/`, as a prompt lists them; then those of the memories
        under this one, as `home:facts/user.md`."""

        def read(parts: Parts) -> List[IndexLine]:
            parts.notebook.catch_up()
            return parts.page_index.lines()

        own = read(self._parts)
        farther = ((layer, line) for layer, lines in self._parts.farther(read) for line in lines)
        return own + [line.but(path=f"{layer}:{line.path}") for layer, line in farther]

    def edit(
        self,
        path: str,
        change: Callable[[str], str] | str,
        *,
        base: str | None = ANY,
        reason: str,
        author: str | None = None,
    ) -> Receipt:
        """Change a page: to a text, or by a function of the old one. `reason` says why, for the journal.

        `author`: `person`, `program` or `agent:<name>`; this memory's agent by default. With `base` (the `sha256` that
        was read; None: there was no page), a page that changed since is left alone: `Stale`.
        """
        self._parts.refuse_farther(path)
        return self._parts.pages.edit(path, change, base=base, reason=reason, author=author)

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
        """Change a page (None: remove it) as a model may: on the top pages only the user's words; the rest waits in
        review. With a `summary`, the same edit sets the summary line. `whole`: leave the page alone unless all of the
        change is allowed."""
        self._parts.refuse_farther(path)
        return self._parts.guard.propose(path, change, base=base, reason=reason, summary=summary, whole=whole)

    def patch(
        self,
        path: str,
        patches: Sequence[tuple[str, str]],
        *,
        base: str | None = ANY,
        reason: str,
        author: str | None = None,
    ) -> Receipt:
        """Replace texts one after another, each found exactly once in the page by then; all or none."""
        self._parts.refuse_farther(path)
        return self._parts.pages.patch(path, patches, base=base, reason=reason, author=author)

    def delete(self, path: str, *, base: str | None = ANY, reason: str, author: str | None = None) -> Receipt:
        """Remove a page. Its history stays, and `undo` brings it back."""
        self._parts.refuse_farther(path, "removed")
        return self._parts.pages.delete(path, base=base, reason=reason, author=author)

    def absorb(self) -> List[Edit]:
        """Journal what people changed in the folder. Every read does this first."""
        return self._parts.pages.absorb()


class HistoryVerbs(Verbs):
    """Page and fact history."""

    def edits(self, path: str | None = None) -> Iterator[Edit]:
        """Yield the edits of a page, or of all, newest first. Those of `home:USER.md` have that path."""
        layer, place = self._parts.split_place(path) if path is not None else (None, path)
        if layer is None:
            return self._parts.pages.log(path)
        found = self._parts.of_layer(layer.name).pages.log(place)
        return (edit.but(path=f"{layer.name}:{edit.path}") for edit in found)

    def versions(self, edit: Edit) -> tuple[bytes | None, bytes | None]:
        """Return a page before and after one of its edits."""
        check_type("edit", edit, Edit, "an edit, as `history.edits` yields them")
        parts, path = self._parts.at_place(edit.path)
        return parts.pages.versions(edit.but(path=path))

    def page_at(self, path: str, when: str | float) -> Page:
        """Return a page as it was at a time: an ISO date or date and time (its last moment), or epoch seconds."""
        parts, place = self._parts.at_place(path)
        return parts.pages.page_as_of(place, when)

    def fact(self, name: str) -> list[Fact]:
        """Return every value that the fact's slot ever had, oldest first."""
        fact = self._parts.find_fact(name) if self._parts.layers is not None else None
        if fact is None or fact.layer is None:
            return self._parts.notebook.history(name)
        found = self._parts.of_layer(fact.layer).notebook.history(fact.id or name)
        return [each.but(layer=fact.layer) for each in found]

    def undo(self, path: str | None = None, *, author: str | None = None) -> tuple[Edit, Receipt]:
        """Undo the last edit (of a page) not yet undone. Return it, and the receipt of the undo."""
        parts = self._parts
        if path is None:
            self._refuse_undo_of_forget()
            self._refuse_undo_at_home()
            word = parts.corrections.undo(author or f"agent:{parts.context.agent}") or parts.tidy.undo(author)
            if word is not None:
                return word
        else:
            layer, place = parts.split_place(path)
            if layer is not None:
                raise Refused(
                    f"Nothing was undone: {path} is of the layer {layer.name}, where everything said anywhere comes "
                    f"together. `{layer.command} undo {place}` undoes its last edit there."
                )
        return parts.pages.undo(path, author=author)

    def _refuse_undo_of_forget(self) -> None:
        """Refuse right after a forget: "undo" would undo something else."""
        from looseleaf.facts.known_facts import Tombstones

        store = self._parts.context.store
        forgotten = Tombstones(store).last
        if forgotten is None:
            return
        if self._last_change() > forgotten:
            return
        raise Refused(
            "Nothing was undone: the last change was a forget, which cannot be undone. `looseleaf log` shows the edits "
            "before it; `looseleaf undo PAGE` undoes the last edit of a page."
        )

    def _refuse_undo_at_home(self) -> None:
        """Refuse if the last words remembered here went to the home memory: "undo" would undo something else."""
        layers = self._parts.layers
        if layers is None or layers.home is None:
            return
        from looseleaf.place.remember_where import find_last_sent

        memory, since = self._parts.context.name, self._last_change()
        found = dict(layers.each(lambda far: find_last_sent(far.context.store, memory, since)))
        is_sent, is_last = found.get(layers.home.name, (False, False))
        if not is_sent:
            return
        there = "looseleaf --memory ~/.looseleaf"
        how = f"`{there} undo` undoes it there"
        if not is_last:
            how = f"More was changed there since: `{there} log` shows it, `{there} undo PAGE` undoes a page's last edit"
        raise Refused(
            f"Nothing was undone: what was last remembered here went to the home memory. {how}. In this memory, "
            "`looseleaf undo PAGE` undoes the last edit of a page."
        )

    def _last_change(self) -> float:
        """Return when this memory was last changed; 0.0 if never."""
        self._parts.pages.absorb()
        done = (
            float(line.record.get("ts") or 0.0)
            for line in self._parts.context.store.read_back(JOURNAL)
            if line.record.get("kind") in ("edit", "fact", "placed")
        )
        return next(done, 0.0)

    def restore(self) -> list[str]:
        """Restore pages missing from the folder from the journal, byte for byte; return their paths. Call it first: any
        read takes a missing page for one that a person removed."""
        return self._parts.pages.restore()


class TalkVerbs(Verbs):
    """The recorded talk."""

    @property
    def session(self) -> str | None:
        """The session being recorded; None until something is."""
        return self._parts.conversation.recorder.session

    def start_turn(self) -> str:
        """Begin a new turn and return its id; the next traces belong to it."""
        return self._parts.conversation.recorder.start_turn()

    def interrupt(self, reason: str = "") -> list[Trace]:
        """End the open tool calls of this session: no results will come."""
        return self._parts.conversation.recorder.interrupt(reason)

    def resume(self) -> str | None:
        """Continue the agent's last session, if it is recent; return the session."""
        self._parts.conversation.recorder.resume(self._parts.context.policy.session_seconds)
        return self.session

    def turns(
        self,
        last: int | None = None,
        *,
        session: str | None = None,
        first: str | None = None,
        until: str | None = None,
    ) -> list[Turn]:
        """Return turns, oldest first: the last 20, or `last`; all of a `session`, or its last ones; or those from the
        id `first` to the id `until`, both included. Reads no more of the log than these."""
        talk = self._parts.conversation
        if first is not None or until is not None:
            return talk.between(first or until or "", until or first or "")
        return talk.turns(20 if last is None and session is None else last, session)

    def turn(self, turn_id: str) -> Turn:
        """Return one turn, with late results."""
        return self._parts.conversation.turn(turn_id)

    def sessions(self, last: int = 20) -> list[Session]:
        """Return the last sessions to begin, oldest first, on all machines."""
        return self._parts.conversation.sessions(last)

    def tail(self, turns: int | None = None, exclude: str | None = None) -> list[Trace]:
        """Return the traces of the last turns, without the excluded one (mostly: the current)."""
        last = self._parts.context.policy.tail_turns if turns is None else turns
        return self._parts.conversation.tail(last, exclude)

    def tool_calls(self, turn_id: str | None = None) -> list[ToolInteraction]:
        """Return tool calls with their results, of a turn or of the window: PENDING, SUCCESS or ERROR."""
        return self._parts.conversation.interactions(turn_id)

    def open_calls(self) -> list[tuple[str, float]]:
        """Return this agent's tool calls without a result, in any session: their ids, and when they were recorded."""
        return self._parts.conversation.recorder.open_calls()

    def traces(self, name: str) -> list[Trace]:
        """Return the traces of an entry, whole, or of a turn, or one trace by its id."""
        return self._parts.conversation.expand(name)

    def entry(self, name: str) -> Entry:
        """Return an entry, by its id."""
        return self._parts.conversation.entry(name)

    def agents(self) -> list[str]:
        """Return the names of all agents with recorded talk, on any machine."""
        from looseleaf.log.talk_streams import TRACES, agent_of, talk_elsewhere

        store = self._parts.context.store
        own = (stream for stream in store.streams() if stream.startswith(TRACES))
        return sorted({agent_of(stream) for stream in (*own, *talk_elsewhere(store))})


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
        is_list = hasattr(texts, "__iter__") and not is_text(texts)
        given = list(texts) if is_list else []
        if not is_list or not all(map(is_text, given)):
            raise Invalid("`texts` must be a list of texts.")
        return self._parts.conversation.counter(model, quick=quick)(given)

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


class ReviewVerbs(Verbs):
    """A person's word on what is known."""

    def pending(self) -> list[Fact]:
        """Return the proposals that wait for a person."""
        return self._parts.notebook.facts(status="pending")

    def ask(self, fact: Fact, why: str) -> ReviewResult:
        """Put a proposal into review; return the outcome: added, waiting already, rejected before, or full. With a
        `layer`, it waits in that memory."""
        check_type("fact", fact, Fact, "a fact")
        check_type("why", why, str, "text")
        parts = self._parts.to_change(fact.layer)
        parts.notebook.catch_up()
        return parts.placer.ask([(fact.but(layer=None), why)], why)

    def approve(self, name: str, *, where: str | None = None) -> Fact:
        """Say yes to a fact: it leaves review for its page; with `where="home"`, for the home memory."""
        if where == "home":
            from looseleaf.place.remember_where import approve_at_home

            return approve_at_home(self._parts, name)
        return self._of_fact(lambda parts, fact: parts.corrections.approve(fact), name)

    def private_kinds(self, fact: Fact) -> str:
        """Return the private kinds of a fact that waits, if git would show the page where a yes puts it; else ""."""
        if fact.layer is not None or fact.status != "pending":
            return ""
        from looseleaf.text.lines import worded

        return self._parts.kept_out(fact.topic, [worded(fact.relation, fact.object)])

    def reject(self, name: str) -> Fact:
        """Say no to a fact: it goes, and does not come back by itself."""
        return self._of_fact(lambda parts, fact: parts.corrections.reject(fact), name)

    def contested(self) -> list[list[Fact]]:
        """Return the values that machines noted apart where there can be one, slot by slot: `approve` and `reject`
        decide."""
        from looseleaf.memory.contested import find_contested

        farther = self._parts.farther(find_contested)
        named = ([each.but(layer=name) for each in values] for name, slots in farther for values in slots)
        return [*find_contested(self._parts), *named]

    def unexplained(self) -> list[Fact]:
        """Return the lines of which the journal does not say who wrote them: they count as inferred. A journal that is
        lost in part, or older than the pages, leaves such lines."""
        return self._parts.notebook.unexplained()

    def vouch(self, names: Sequence[str]) -> list[Fact]:
        """Say that such lines, by their ids or places, are a person's own. Only a person may."""
        return self._parts.corrections.vouch(names)

    def correct(self, name: str, text: str, *, here: bool = False) -> Fact:
        """Say what is right: `Paris`, or `Home: Paris`. `here`: even what is private, where git tracks the folder."""
        clean = self._parts.redact(text)
        return self._of_fact(lambda parts, fact: parts.corrections.correct(fact, clean, here=here), name)

    def score(self, name: str, score: float) -> Fact:
        """Say how much a fact matters, from 0 to 10 (`user_fact_score`): it outranks every rule."""
        return self._of_fact(lambda parts, fact: parts.corrections.score(fact, score), name)

    def pin(self, name: str, *, pinned: bool = True) -> Fact:
        """Keep a fact among the essentials."""
        return self._of_fact(lambda parts, fact: parts.corrections.pin(fact, pinned=pinned), name)

    def held(self) -> list[Held]:
        """Return the files that no person can have meant (emptied, cut off, with conflict markers, all gone at once,
        conflict copies), and that wait for a person's word. The last good version of their pages is used."""
        from looseleaf.pages.settle import find_held

        return find_held(self._parts)

    def settle(self, path: str, take: str, *, lines: Sequence[str] | None = None) -> Settled:
        """Decide on a held file: `keep` the last good version, `accept` the file as it is; of conflict markers `ours`
        (the upper side), `theirs` (the lower) or `both`; of a conflict copy `theirs` (in place of the page) or `both`
        (its new lines too, or only these `lines`). Bytes that go are kept in log/aside/."""
        from looseleaf.pages.settle import settle

        check_type("path", path, str, "text")
        settled = settle(self._parts, path, take, lines)
        if self._parts.pages.absorb.heads.later:
            self._parts.making.place_later()
        return settled

    def tidy(self, *, dry_run: bool = False) -> Tidied:
        """Move less essential facts from USER.md to facts/user.md, if it is over `profile_tokens`; no fact changes by
        that. `dry_run` changes nothing."""
        return self._parts.tidy(dry_run=dry_run)

    def redistill(
        self,
        distiller: Distiller | None = None,
        *,
        apply: bool = False,
        progress: Callable[[int, int], None] | None = None,
    ) -> Difference:
        """Compare what another distiller (None: the rules) makes of the same sources, fact by fact; `apply` switches
        to it."""
        return self._parts.making.redistill(distiller, apply=apply, progress=progress)


class ExplainVerbs(Verbs):
    """Where things come from."""

    def why(self, text: str, prompt: str = "last") -> Explanation:
        """Explain why words are in a prompt, back to the trace that said them; or why they are not in it."""
        from looseleaf.explain.why import why

        return why(self._parts, text, prompt)

    def who(self, path: str) -> list[Signed]:
        """Return the lines of a page as it is now: who wrote each, when, by which edit, and its level."""
        from looseleaf.explain.sources import who

        return who(*self._parts.at_place(path))

    def sources(self, fact: Fact | str) -> list[FactSource]:
        """Return the words that a fact, or the one of an id, rests on, from the log."""
        check_type("fact", fact, (str, Fact), "a fact or its id")
        found = self._parts.find_fact(fact) if isinstance(fact, str) else fact
        return self._parts.of_layer(found.layer).notebook.sources(found)

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


class ViewVerbs(Verbs):
    """Topics, all of them together, snapshots, the index."""

    def topics(self) -> list[str]:
        """Return the names of all topics, also of those in memories under this one."""
        return sorted({name for _, topics in self._all_topics() for name in topics.names})

    def _all_topics(self) -> List[tuple[str, Topics]]:
        def read(parts: Parts) -> Topics:
            parts.notebook.catch_up()
            return parts.topics

        return [("", read(self._parts)), *self._parts.farther(read)]

    def topic(self, name: str, *, as_of: str | float | None = None) -> dict[str, Any]:
        """Return the memory of one topic (`topic_memory.v1`), now or at a time: of all layers together; of `home:user`,
        as that layer has it."""
        layer, bare = self._parts.split_topic(name)
        found = self._all_topics()
        if layer is not None:
            found = [("", topics) for at, topics in found if at == layer.name]
        names = sorted({each for _, topics in found for each in topics.names})
        if bare not in names:
            there = f"There are: {', '.join(names)}." if names else "There are none yet."
            raise NotFound(f"There is no topic {name!r}. {there}")
        from looseleaf.views.build import build_topic

        return build_topic([each for each in found if bare in each[1].names], bare, parse_time(as_of))[0]

    def overview(self, *, as_of: str | float | None = None) -> dict[str, Any]:
        """Return active topics and the essentials (`global_memory.v1`), now or at a time, of all layers together."""
        found = self._all_topics()
        if len(found) == 1:
            return self._parts.topics.whole(parse_time(as_of))
        from looseleaf.views.build import build_whole

        return build_whole(found, parse_time(as_of))

    def build(self, *, full: bool = False, progress: Callable[[int, int], None] | None = None) -> Built:
        """Update the views: topics, the overview, what the agent's compactions kept. `full`: rebuild all, also from
        entries that another program left."""
        return self._parts.build(full=full, progress=progress)

    def build_index(self, *, full: bool = False, progress: Callable[[int, int], None] | None = None) -> int:
        """Update recall's index, and the vectors if meaning is compared; return how many of those were made. Every
        recall updates the index by itself. `full`: rebuild it. `progress` gets bytes done, and bytes in all."""
        self.watch_index(progress)
        if full:
            self._parts.recall.keep.drop()
        return self._parts.recall.up_to_date()

    def watch_index(self, progress: Callable[[int, int], None] | None) -> None:
        """Report the progress of every index built from now on."""
        if progress is not None:
            self._parts.recall.keep.progress = progress

    def snapshot(self, budget: int | None = None, *, quick: bool = False) -> Snapshot:
        """Return the start of a session: the charter, and a prompt's view of the memory without the window.
        `quick`: estimate tokens, and load no vocabulary."""
        from looseleaf.prompt.rendered_snapshot import snapshot

        return snapshot(self._parts, budget, quick=quick)

    def bundle(
        self, max_episodic: int | None = None, max_semantic: int | None = None, *, query: str | None = None
    ) -> Bundle:
        """Return recent episodes and known facts: at most so many of each (else as the policy says), by weight and age;
        with a question, what bears on it first."""
        from looseleaf.recall.open_hit import retrieve
        from looseleaf.recall.question import Question

        policy = self._parts.context.policy
        episodic = policy.max_episodic_items if max_episodic is None else max_episodic
        semantic = policy.max_semantic_items if max_semantic is None else max_semantic
        question = Question(query, k=100) if query is not None else None
        return retrieve(self._parts.recall, question, episodic, semantic, time.time())
