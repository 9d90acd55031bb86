"""The placer: an entry's proposals become lines on pages, wait in review, or are dropped; the reasons are journaled.

An entry is placed whole under the lock, and its record comes last. Placing it again after a crash finds what is there
and changes nothing.
"""

from __future__ import annotations

from functools import cached_property, partial

from looseleaf.base import ids as clock
from looseleaf.base.errors import NotFound
from looseleaf.base.ids import new_id
from looseleaf.base.immutable import frozen
from looseleaf.base.origins import is_trusted
from looseleaf.base.paths import PROFILE, PROJECT, TICKED, USER
from looseleaf.base.values import PageText
from looseleaf.facts.ledger import HIGHEST
from looseleaf.log.journal import PERSON, PROGRAM, SCHEMA
from looseleaf.pages.grammar import (
    add_fact,
    new_page,
    parse,
    remove_line,
    replace_fact,
    set_summary,
    set_updated,
    summary_of,
    topic_of,
)
from looseleaf.pages.pages import Rewritten, try_to
from looseleaf.place import entry_pages as review_page
from looseleaf.store import JOURNAL
from looseleaf.text.lines import is_found
from looseleaf.text.times import day

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Sequence
    from typing import Any, Protocol

    from looseleaf.base.messages import Proposal
    from looseleaf.base.values import Ended, Fact, Record
    from looseleaf.facts.gate import Witness
    from looseleaf.facts.known_facts import Facts
    from looseleaf.facts.placement import Outcome, PlacePlan, PlannedLine
    from looseleaf.facts.tombstones import Tombstones
    from looseleaf.log.entries import Entry
    from looseleaf.place.entry_pages import ReviewResult
    from looseleaf.store.context import Context

    class Needs(review_page.Needs, Protocol):
        @property
        def known(self) -> Facts: ...

    class PlacerNeeds(Needs, Protocol):
        """What parts that work through the placer read."""

        @property
        def placer(self) -> Placer: ...


FORGET = "forget"
"""The tag of a proposal in review to forget the facts that it names as its sources."""


@frozen
class Placed:
    """What became of an entry."""

    entry: str
    outcomes: tuple[Outcome, ...]

    def of(self, *acts: str) -> list[Fact]:
        return [outcome.fact for outcome in self.outcomes if outcome.act in acts]

    def to_dict(self) -> dict[str, Any]:
        return {
            "entry": self.entry,
            "outcomes": [
                {"act": each.act, "fact": each.fact.to_dict(), "why": each.why} for each in self.outcomes
            ],
        }


class Placer:
    def __init__(self, context: Context, parts: Needs) -> None:
        self._context = context
        self._store, self._note = context.store, context.note
        self._parts = parts

    @cached_property
    def _tombstones(self) -> Tombstones:
        from looseleaf.facts.tombstones import Tombstones

        return Tombstones(self._store)

    def catch_up(self) -> None:
        """Read the pages as they are now, and apply a person's ticks."""
        self._parts.pages.absorb()
        self._parts.known.catch_up()
        if self._parts.known.is_unsettled():
            self.settle()

    # --- an entry --------------------------------------------------------------------------

    def entry(
        self,
        entry: Entry,
        through: tuple[int, int] | None = None,
        lost: Callable[[PlacePlan], Sequence[Fact]] | None = None,
    ) -> Placed:
        """Place an entry, once: a second time only returns what is held already. `through`: the place in the agent's
        traces up to which they are distilled with it. `lost`: returns the facts that go with the entry that it
        replaces."""
        # Imported late: readers never load this.
        from looseleaf.distill.forbidding import forbidden_by
        from looseleaf.distill.material import scored_witnesses, sources_of, tools_before, witnesses_of
        from looseleaf.distill.slot_tables import lexicon
        from looseleaf.facts.gate import proposal_of
        from looseleaf.facts.placement import PlacePlan, outdated
        from looseleaf.place.entry_pages import Diary

        traces = list(sources_of(self._store, entry))
        heard = tools_before(self._store, entry)
        own = read = [*witnesses_of(traces), *scored_witnesses(entry)]
        if entry.meta.get("level") != "rules" and any(map(forbidden_by, traces)):
            read = [*witnesses_of(traces, for_a_model=True), *scored_witnesses(entry)]
        witnesses = [*read, *heard]
        topic = entry.reference.rpartition("/")[0]
        name, ts = str(entry.meta.get("id")), float(entry.meta.get("ts") or 0.0)
        with self._parts.pages.absorb.threads, self._store.lock():
            self.catch_up()
            plan = PlacePlan(
                name,
                ts,
                self._parts.known.of,
                lambda proposal: self._choose_topic(proposal, entry, witnesses),
                topics=dict.fromkeys((USER, PROJECT, *self._parts.known.topics)),
                lexicon=lexicon(),
                agent=str(entry.meta.get("agent") or "agent"),
            )
            checked = entry.meta.get("checked")
            for number, raw in enumerate(entry.summary.get("facts", ())):
                proposal = proposal_of(raw)
                if proposal is not None and not self._was_forgotten(proposal, entry, witnesses):
                    is_checked = isinstance(checked, list) and number in checked
                    plan.take(proposal, witnesses, _read_score(entry, raw), checked=is_checked)
            if entry.reference in self._parts.known.entries_of(topic):
                if through is not None:
                    self.pass_over(str(entry.meta.get("agent")), through)
                return Placed(entry.reference, tuple(plan.outcomes))
            for fact in lost(plan) if lost is not None else ():
                plan.give_up(fact)
            plan.keep_lines()
            edits = self.carry_out(plan, reason=f"distilled from {entry.reference}")
            if not entry.meta.get("instead"):  # the events of that time are already written down
                is_outdated = outdated(self._parts.known, topics=dict.fromkeys((USER, PROJECT, topic)))
                diary = Diary(self._context, self._parts, entry, own, is_outdated, heard)
                diary.write(len(plan.outcomes))
                edits += diary.edits
            record: Record = {"schema": SCHEMA, "id": new_id(), "ts": clock.now(), "kind": "placed"}
            record |= {
                "entry": entry.reference,
                "entry_ts": ts,
                "topic": topic,
                "agent": str(entry.meta.get("agent")),
                "restated": [list(each) for each in plan.restated],
                "raised": [known(fact) for fact in plan.raised],
                "retold": [[old, known(fact)] for old, fact in plan.retold],
                "ended": [list(each) for each in plan.ended_there],
                "history": [fact.to_dict() for fact in plan.history],
                "dropped": [_drop_record(each) for each in plan.outcomes if each.act == "drop"],
                "edits": edits,
            }
            if entry.meta.get("instead"):
                record["instead"] = str(entry.meta["instead"])
            if through is not None:
                record["through"] = list(through)
            self._store.append(JOURNAL, [record])
            self._parts.known.catch_up()
        return Placed(entry.reference, tuple(plan.outcomes))

    def _was_forgotten(self, proposal: Proposal, entry: Entry, witnesses: Sequence[Witness]) -> bool:
        """Return True if a person had this forgotten after it was said: older words do not come back."""
        if not self._tombstones.are_there:
            return False
        from looseleaf.facts.gate import judge
        from looseleaf.facts.tombstones import fact_text

        text = fact_text(self._choose_topic(proposal, entry, witnesses), proposal.relation, proposal.object)
        since = self._tombstones.since("fact", text)
        return since is not None and (judge(proposal, witnesses).ts or 0.0) <= since

    def pass_over(self, agent: str, through: tuple[int, int]) -> None:
        """Record that an agent's traces are distilled up to a place: compactions made their entries."""
        record: Record = {"schema": SCHEMA, "id": new_id(), "ts": clock.now(), "kind": "placed"}
        self._store.append(JOURNAL, [record | {"agent": agent, "through": list(through)}])

    def _choose_topic(self, proposal: Proposal, entry: Entry, witnesses: Sequence[Witness]) -> str:
        """Return a canonical topic, of few: the user's own page, the entry's topic, or an existing page. A new name
        comes only from the user's words."""
        from looseleaf.distill.make_entry import SESSIONS
        from looseleaf.facts.gate import is_named_by_user, is_said_by_user
        from looseleaf.language.topic_words import topic_name

        own = entry.reference.rpartition("/")[0]
        own = own if own != SESSIONS else PROJECT
        topics = self._parts.known.topics.items()
        known = [USER, *(topic for topic, mark in topics if "/" not in topic and mark[2])]
        name = topic_name(proposal.topic, [*known, PROJECT])
        if name in (PROJECT, SESSIONS):
            return own
        is_users = name in known or is_said_by_user(proposal.topic, witnesses)
        return name if is_users or is_named_by_user(proposal.topic, witnesses) else own

    # --- carrying out ----------------------------------------------------------------------

    def carry_out(self, plan: PlacePlan, *, reason: str, author: str = PROGRAM) -> list[str]:
        """Edit each page once, additions first: a crash leaves a fact twice, never nowhere. Return the edits."""
        ended = dict(plan.ended)
        edits: list[str] = []

        def order(path: str) -> tuple[bool, str]:
            return all(line.add is None for line in plan.lines[path]), path

        for path in sorted(plan.lines, key=order):
            lines, here = plan.lines[path], (*ended.pop(topic_of(path), ()), *ended.pop(path, ()))
            if lines:
                change = partial(self._rewrite_page, path, lines, here)
                edits.append(self._parts.pages.rewrite(path, change, reason=reason, author=author).id)
                self._parts.known.catch_up()
        if plan.review:
            self.ask(plan.review, reason)
        edits += self.clear(plan.settled)
        return [each for each in edits if each]

    def _rewrite_page(
        self, path: str, lines: Sequence[PlannedLine], ended: Sequence[Ended], text: str
    ) -> Rewritten:
        before = text
        text = text or new_page(path)
        told: list[Record] = []
        there: dict[tuple[str, str], int] = {}
        for number, line in enumerate(lines):
            # Additions only move lines that are no longer looked up.
            if not number or line.remove is not None or lines[number - 1].remove is not None:
                there = {(fact.relation, fact.object): fact.line or 0 for fact in parse(path, text).facts}
            at = there.get((line.remove.relation, line.remove.object)) if line.remove else None
            new = line.add
            if new is None:
                text = remove_line(text, at) if at is not None else text
                continue
            if at is not None:
                text = replace_fact(text, path, at, new.relation, new.object)
            elif (new.relation, new.object) in there:
                continue  # a crash came after this line was written
            else:
                above = self._line_before(path, text, new, told) if path == PROFILE else None
                is_finding = is_found(new.object)
                text = add_fact(text, path, new.relation, new.object, new.kind, above, found=is_finding)
            # Members without a record stay as they were: for a fact that waited, also that it is unverified.
            told.append(known(new) | ({"tags": list(new.tags)} if line.waited else {}))
            there[new.relation, new.object] = 0
        if text == (before or new_page(path)) and not told:
            return Rewritten(before)
        text = set_updated(text, path, day(clock.now()))
        return Rewritten(self.summarised(path, text, told), tuple(told), tuple(ended))

    def _line_before(self, path: str, text: str, fact: Fact, told: Sequence[Record]) -> int | None:
        """Return the place of a fact on USER.md: by its sort, not by its time."""
        from looseleaf.facts.placement import line_before

        here = (each for each in self._parts.known.of(USER) if each.path == path)
        known = {(each.relation, each.object): (each.kind, each.tags) for each in here}
        known |= {
            (each["relation"], each["object"]): (each.get("kind"), tuple(each.get("tags") or ()))
            for each in told
        }
        standing = []
        for each in parse(path, text).facts:
            kind, tags = known.get((each.relation, each.object), (each.kind, ()))
            standing.append(each.but(kind=kind, tags=tags))
        return line_before(fact, standing)

    def summarised(self, path: str, text: str, told: Sequence[Record] = ()) -> str:
        """Return the page with a summary by rule, of facts that an index line may show; other authors' stay."""
        page = parse(path, text)
        sheet = self._parts.known.sheet(path)
        if page.summary and (sheet is None or not sheet.is_summary_free):
            return text  # a person's own, or of an unknown author
        return set_summary(text, self.summary_of(path, page, told))

    def summary_of(self, path: str, page: PageText, told: Sequence[Record] = ()) -> str:
        """Return a summary by rule of what the user said or a person wrote on a page."""
        from looseleaf.pages.line_edits import unsigned

        trusted = {(each["relation"], each["object"]) for each in told if is_trusted(each.get("level"))}
        here = (fact for fact in self._parts.known.of(topic_of(path)) if fact.path == path)
        trusted |= {(fact.relation, fact.object) for fact in here if is_trusted(fact.level)}
        shown = tuple(fact for fact in page.facts if (fact.relation, fact.object) in trusted)
        told_of = unsigned(page).episodes
        visible = PageText(page.topic, page.lines, page.roles, page.title, None, None, shown, told_of)
        return summary_of(visible)

    def ask(self, items: Sequence[tuple[Fact, str]], reason: str = "held back") -> ReviewResult:
        """Put facts into review, once; rejected ones stay rejected."""
        topics = dict.fromkeys(fact.topic for fact, _ in items)
        held = (each for topic in topics for each in self._parts.known.of(topic))
        no = {each.id for each in held if each.status == "rejected"}
        asked = review_page.ReviewResult(rejected=tuple(fact.id or "" for fact, _ in items if fact.id in no))
        items = [(fact, why) for fact, why in items if fact.id not in no]
        if not items:
            return asked

        def change(text: str) -> Rewritten:
            nonlocal asked
            waiting = {fact.id or "": fact for fact in self._parts.known.waiting()}
            new, found = review_page.add_waiting(text, items, waiting)
            asked = found.but(rejected=asked.rejected)
            return Rewritten(new, tuple(known(fact) for fact, _ in items if fact.id in found.added))

        receipt = self._parts.pages.rewrite(review_page.PATH, change, reason=reason)
        if asked.full:
            self._note(review_page.describe_overflow(len(asked.full)))
        return asked.but(edit=receipt.id)

    # --- what a person ticked ----------------------------------------------------------------

    def settle(self) -> None:
        """Apply the ticks in review; ask again for facts that lost their line there."""
        with self._parts.pages.absorb.threads, self._store.lock():
            self._parts.known.catch_up()
            ticked, lost, decided = self._parts.known.unsettled()
            reason = f"ticked in {review_page.PATH}"
            for fact in ticked:
                self._try(partial(self.approve, fact, reason=reason), f"{fact.id}, {reason}, is not done")
            if lost:
                again = partial(self.ask, [(fact, "asked again") for fact in lost], "asked again")
                self._try(again, "No one was asked again")
                self._parts.known.catch_up()
            if decided:
                over = {fact.id for fact in self._parts.known.all() if fact.status != "pending"}
                clear = partial(self.clear, [name for name in decided if name in over])
                self._try(clear, f"{review_page.PATH} still shows what was decided")

    def _try(self, act: Callable[[], object], otherwise: str) -> None:
        """Try an act: a failure stops neither the rest nor readers. A tick stays: the next command tries again."""
        try_to(act, lambda why: self._note(f"{otherwise}: {why} It is tried again with the next command."))

    def approve(self, fact: Fact, *, reason: str, edits: Sequence[str] = ()) -> None:
        """Apply a person's yes: the fact goes to its page, whatever contradicted it. `edits`: edits already made for
        it. If it is a proposal to forget, remove what it names instead."""
        if FORGET in fact.tags:
            named = [each for each in self._parts.known.of(fact.topic) if each.id in fact.sources]
            gone = [self.remove(each, reason) for each in named if each.status == "current" and each.path]
            done = [*edits, *gone, *self.clear([fact.id or ""])]
            self.say(fact, {"status": "superseded"}, ("status",), reason, edits=done)
            return
        from looseleaf.facts.placement import PlacePlan

        facts = self._parts.known
        plan = PlacePlan(fact.entry_id or "", fact.entry_ts or 0.0, facts.of, lambda proposal: fact.topic)
        plan.confirm(fact, clock.now())
        done = self.carry_out(plan, reason=reason, author=PERSON)
        # The same may stand there already, by a person's own hand; then nothing is left to wait for.
        stands = any(line.add is not None for lines in plan.lines.values() for line in lines)
        new: Record = {"level": "confirmed"} if stands else {"status": "superseded"}
        done += self.clear([fact.id or ""])
        was = fact.but(tags=tuple(tag for tag in fact.tags if tag != TICKED))
        self.say(was, new, ("level", "confidence", "tags", "status"), reason, edits=[*edits, *done])

    def remove(self, fact: Fact, reason: str) -> str:
        """Remove a fact from its page on a person's word; it does not come back by itself. Return the edit."""
        path = fact.path or ""
        gone = [fact, *self.retold(fact)]

        def change(text: str) -> Rewritten:
            for each in gone:
                text = remove_line(text, find_line_on(each, path, text))
            return Rewritten(self.summarised(path, text), tuple(map(known, gone)))

        receipt = self._parts.pages.rewrite(path, change, reason=reason, author=PERSON)
        self._parts.known.catch_up()
        return receipt.id

    def retold(self, fact: Fact) -> list[Fact]:
        """Return the notes on its page that repeat it."""
        from looseleaf.facts.placement import retells

        here = (each for each in self._parts.known.of(fact.topic) if each.path == fact.path)
        return [each for each in here if each.id != fact.id and retells(each, fact)]

    def say(
        self, fact: Fact, new: Record, members: Sequence[str], reason: str, edits: Sequence[str] = ()
    ) -> None:
        """Journal a person's decision on a fact, its value before, and the edits made for it."""
        record: Record = {"schema": SCHEMA, "id": new_id(), "ts": clock.now(), "kind": "fact"}
        record |= {"fact": fact.id, "topic": fact.topic, "author": PERSON, "reason": reason, "set": new}
        record["was"] = {name: json_member(fact, name) for name in members}
        if edits:
            record["edits"] = list(edits)
        self._store.append(JOURNAL, [record])
        self._parts.known.catch_up()

    def clear(self, ids: Collection[str], reason: str = "decided") -> list[str]:
        """Remove lines from review. Return the ids of the edits."""
        if not ids:
            return []

        def change(text: str) -> Rewritten:
            return Rewritten(review_page.without(text, ids))

        receipt = self._parts.pages.rewrite(review_page.PATH, change, reason=reason)
        self._parts.known.catch_up()
        return [receipt.id] if receipt.id else []


def find_line_on(fact: Fact, path: str, text: str) -> int:
    """Return the fact's current line number: the page may have been saved a moment ago."""
    said = (fact.relation, fact.object)
    lines = [each.line or 0 for each in parse(path, text).facts if (each.relation, each.object) == said]
    if not lines:
        raise NotFound(f"{path} was not changed: “{fact.relation}: {fact.object}” is no longer on it.")
    return min(lines, key=lambda line: abs(line - (fact.line or 0)))


def json_member(fact: Fact, member: str) -> Any:
    """Return a member as JSON has it."""
    value = getattr(fact, member)
    return list(value) if isinstance(value, tuple) else value


def known(fact: Fact) -> Record:
    """Return the journal's record of a fact beyond its line."""
    return {name: value for name, value in fact.to_dict().items() if name not in ("line", "path", "status")}


def _read_score(entry: Entry, raw: Record) -> float | None:
    """Return a person's score, in an entry of an older format. A distiller gives no scores."""
    score: Any = raw.get("user_fact_score") if "upgraded" in entry.meta else None
    return float(score) if type(score) in (int, float) and 0 <= score <= HIGHEST else None


def _drop_record(outcome: Outcome) -> Record:
    fact = outcome.fact
    return {"relation": fact.relation, "object": fact.object, "topic": fact.topic, "why": outcome.why}
