"""Placement: what becomes of each proposal of an entry, before any page is touched.

Most proposals add nothing new: that is normal. Pure: the same proposals beside the same facts give the same plan, and
applying a plan twice equals applying it once.
"""

from __future__ import annotations

import re

from looseleaf.base import paths
from looseleaf.base.errors import Refused
from looseleaf.base.ids import is_id, time_of
from looseleaf.base.immutable import frozen
from looseleaf.base.origins import CONFIDENCE, is_imported, is_trusted
from looseleaf.base.paths import APPROVED, TICKED
from looseleaf.base.values import Fact
from looseleaf.facts.gate import (
    MIXED,
    UNVERIFIED,
    Witness,
    holders_of,
    is_named_as,
    is_plain_label,
    judge,
    proposal_of,
    reading_of,
)
from looseleaf.facts.identity import decide
from looseleaf.facts.ledger import fact_id
from looseleaf.facts.page_lines import is_same_fact
from looseleaf.facts.replacing import (
    PLAIN,
    SURE,
    Replacement,
    cut_clauses,
    facts_naming,
    is_from_same_words,
    replaced_by,
    terms_of,
    words_of,
    words_test,
)
from looseleaf.facts.said_order import NEVER, is_said_before
from looseleaf.language.clauses import is_over, is_told, spelled
from looseleaf.language.relations import BY_LABEL, SALIENCE, relation_name, relation_of, slot
from looseleaf.log.journal import PERSON
from looseleaf.pages.grammar import as_written
from looseleaf.text.lines import (
    DOUBTFUL,
    NOTE,
    contested,
    doubted,
    is_doubtful,
    is_found,
    lazy,
    signed_as_found,
    undoubted,
)
from looseleaf.text.times import written

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from looseleaf.base.messages import Distilled, Proposal
    from looseleaf.base.values import Ended, Kind
    from looseleaf.facts.gate import Verdict
    from looseleaf.facts.known_facts import Facts
    from looseleaf.facts.replacing import Lexicon

USER, PROJECT, PROFILE = paths.USER, paths.PROJECT, paths.PROFILE


# --- kinship of facts -------------------------------------------------------------------

ENDS = "ends"
NO_LONGER = "No longer "
"""The tag of a review item that asks whether something has ended; and the beginning of its relation."""


def is_same_utterance(fact: Fact, other: Fact) -> bool:
    """Return True if two facts come from the same words of the same message."""
    return bool(fact.quote) and fact.quote == other.quote and fact.sources[:1] == other.sources[:1]


def may_change(fact: Fact) -> bool:
    return is_trusted(fact.level) and UNVERIFIED not in fact.tags


def outranks(old: Fact, new: Fact) -> bool:
    """Return True if a person wrote the old fact and only the user's talk contradicts it."""
    return old.level in (None, "confirmed") and new.level != "confirmed"


def retells(note: Fact, fact: Fact) -> bool:
    """Return True if a note is the sentence of a fact, kept because it says more: it ends with the fact."""
    if note.relation != NOTE or note.status != "current" or not fact.quote:
        return False
    said = fact.quote.casefold().rstrip(".!")
    return note.entry_id == fact.entry_id and " ".join(said.split()) in note.object.casefold()


def sources_of(*facts: Fact) -> tuple[str, ...]:
    return tuple(dict.fromkeys(source for fact in facts for source in fact.sources))


def ending_of(fact: Fact) -> Fact:
    """Return the review item that asks whether a fact has ended."""
    return fact.but(status="pending", relation=f"{NO_LONGER}{fact.relation}", tags=(*fact.tags, ENDS))


def is_document(origin: str) -> bool:
    """Return True for a document or an import: a person brought it, so a person approves it."""
    return is_imported(origin) or origin == "document"


# --- the user's page --------------------------------------------------------------------

LINES = 40
"""The number of lines on USER.md: a person reads them at a glance, and every prompt can carry them."""

PEOPLE = "people"
"""The tag of a line about another person."""

_GROUPS = (
    frozenset("name pronouns home hometown nationality age birthday gender".split()) | {"time zone"},
    frozenset("answers language rule".split()) | {"code language"},
    frozenset("role employer education manager colleague works on".split()) | {"works on"},
    frozenset("diet allergy condition".split()),
    frozenset("partner child sibling parent pet friend".split()) | {"marital status"},
)
_WHO, _RULES, _WORK, _HEALTH, _PEOPLE, _TRAITS, _TASTES, _PLANS, _EVENTS = range(9)
_OF_KINDS: dict[Kind | None, int] = {
    "constraint": _RULES,
    "identity": _WHO,
    "preference": _TASTES,
    "trait": _TRAITS,
    "commitment": _PLANS,
    "decision": _WORK,
    "event": _EVENTS,
}


def group_of(fact: Fact) -> int:
    """Return a fact's group: lower groups stand nearer to the top of the page."""
    name = relation_name(fact.relation)
    for number, names in enumerate(_GROUPS):
        if name in names:
            return number
    if PEOPLE in fact.tags:
        return _PEOPLE
    if fact.relation != NOTE and fact.kind == "identity":
        return _TRAITS
    return _OF_KINDS.get(fact.kind, _TRAITS)


def line_before(fact: Fact, standing: Sequence[Fact]) -> int | None:
    """Return the line of the first fact that belongs below this one. None: add it at the end. `standing`: the facts of
    the page, in order."""
    mine = group_of(fact)
    last = max((other.line or 0 for other in standing if group_of(other) <= mine), default=-1)
    return next((other.line for other in standing if (other.line or 0) > last), None)


_DATE = lazy(r"(?<!\d)([12]\d{3})-(\d\d)(?:-(\d\d))?(?!\d)")


def is_passed(fact: Fact, today: str) -> bool:
    """Return True if a plan or a deadline is over: every date in it is before today (`2026-03-01`)."""
    if fact.kind != "commitment":
        return False
    dates = [f"{year}-{month}-{day or '31'}" for year, month, day in _DATE.findall(fact.object)]
    return bool(dates) and max(dates) < today


# --- page changes -----------------------------------------------------------------------

AT_TOP = 0.4
"""The least salience of the user's facts on USER.md, which is in every prompt."""


@frozen
class PlannedLine:
    """One change of one page: a fact to add, one to remove, or one in place of another. `waited`: the fact to add
    waited in review, under the same id."""

    add: Fact | None = None
    remove: Fact | None = None
    waited: bool = False


def page_of(fact: Fact) -> str:
    """Return the page for a fact. The top of the folder is in every prompt: only facts that the user said, or a person
    confirmed, stand there."""
    is_worth = fact.level == "confirmed" or (
        is_trusted(fact.level) and (1.0 if fact.salience is None else fact.salience) >= AT_TOP
    )
    return PROFILE if fact.topic == USER and is_worth else f"facts/{fact.topic}.md"


class PageChanges:
    """The changes that a plan makes to pages: lines that come and go, facts that end with them, and history. `held`
    returns all facts of a topic."""

    def __init__(self, entry_id: str, entry_ts: float, held: Callable[[str], list[Fact]]) -> None:
        self._entry_id, self._entry_ts, self._load = entry_id, entry_ts, held
        self._held: dict[str, list[Fact]] = {}
        self._new: set[str] = set()
        self._taken_back: set[str] = set()
        self._reworded: set[str] = set()
        self.lines: dict[str, list[PlannedLine]] = {}
        """The changes of each page."""
        self.settled: list[str] = []
        """Facts that waited in review, and stand on a page now because the user said them."""
        self.ended: dict[str, list[Ended]] = {}
        self.history: list[Fact] = []
        self.raised: list[Fact] = []
        self.retold: list[tuple[str, Fact]] = []
        self.ended_there: list[Ended] = []
        """Facts that replace others on lines that stay the same (`retold`), and the ends that this causes."""

    def _held_in(self, topic: str) -> list[Fact]:
        """Return all facts of a topic. Remove a line whose fact has ended: a crash came first."""
        if topic not in self._held:
            self._held[topic] = held = self._load(topic)
            for each in held:
                if each.status == "superseded" and each.line is not None:
                    self._take_line(each)
        return self._held[topic]

    def give_up(self, fact: Fact) -> None:
        """Remove a fact that no longer has a source. It did not end: it never held."""
        self._held_in(fact.topic)
        self._end_lines((fact,), fact.valid_from)

    def keep_lines(self) -> None:
        """Keep lines that would replace themselves, with the new fact on them. Call this at the end."""
        for lines in self.lines.values():
            for line in list(lines):
                old, new = line.remove, line.add
                if old and new and (old.relation, old.object) == (new.relation, new.object):
                    lines.remove(line)
                    self.retold.append((old.id or "", new))
                    ended = self.ended.get(old.topic, [])
                    self.ended_there += [each for each in ended if each[0] == old.id]
                    ended[:] = [each for each in ended if each[0] != old.id]

    def _add_line(self, fact: Fact, replaced: Sequence[Fact], page: str | None = None) -> None:
        """Add a fact to its page: in place of a fact there, or as a new line."""
        page = page or page_of(fact)
        self._held[fact.topic].append(fact)
        self._new.add(fact.id or "")
        alike = (old for old in replaced if is_found(old.object) == is_found(fact.object))
        there = next((old for old in alike if old.path == page), None)
        self.lines.setdefault(page, []).append(PlannedLine(fact, there, fact.id in self.settled))
        for old in replaced:
            if old is not there:
                self._take_line(old)

    def _supersede(self, fact: Fact, facts: Sequence[Fact]) -> None:
        self._add_line(fact, self._end_facts(facts, fact.valid_from or "", fact.id))

    def _end_lines(self, facts: Sequence[Fact], when: str | None, by: str | None = None) -> None:
        """End facts, and remove their lines. `by`: the fact that took their place elsewhere."""
        for old in self._end_facts(facts, when or "", by):
            self._take_line(old)

    def _end_facts(self, facts: Sequence[Fact], when: str, by: str | None) -> list[Fact]:
        """End facts, and return those that stand on a page. A line that was only planned is never written."""
        standing: list[Fact] = []
        for old in facts:
            held, ended = self._held[old.topic], self.ended.setdefault(old.topic, [])
            held[:] = [each for each in held if each.id != old.id]
            until = max(when, old.valid_from or when)
            over = old.but(status="superseded", valid_to=until, superseded_by=by)
            if old.id in self._reworded:
                # Words that this plan gave a fact but never wrote: their replacement replaces the fact itself.
                for some in (held, self.history):
                    for at, each in enumerate(some):
                        if each.superseded_by == old.id:
                            some[at] = each.but(superseded_by=by)
                ended[:] = [(name, end, by if it == old.id else it) for name, end, it in ended]
            else:
                held.append(over)
            if old.id not in self._new and old.id not in self._reworded:
                ended.append((old.id or "", until, by))
                standing.append(old)
                continue
            self._new.discard(old.id)
            standing += self._withdraw_line(old)
            if old.id not in self._reworded:
                self._taken_back.add(old.id or "")
                self.history.append(over)
        return standing

    def _withdraw_line(self, fact: Fact) -> list[Fact]:
        """Withdraw a line that is not written yet: the fact that it was to replace still stands."""
        for lines in self.lines.values():
            for line in lines:
                if line.add is not None and line.add.id == fact.id:
                    lines.remove(line)
                    return [line.remove] if line.remove is not None else []
        return []

    def _take_line(self, fact: Fact) -> None:
        if fact.path is not None:
            self.lines.setdefault(fact.path, []).append(PlannedLine(None, fact))

    def _restate_as(self, old: Fact, by: Fact, said: str, tags: tuple[str, ...] | None = None) -> None:
        """Reword a fact on the same line."""
        label, said = as_written(old.relation, said)
        name = fact_id(self._entry_id, old.topic, label, said, old.id or "")
        new = old.but(
            id=name, relation=label, object=said, tags=old.tags if tags is None else tags, path=None
        )
        new = new.but(valid_from=by.valid_from, order=by.order, line=None)
        new = new.but(entry_id=self._entry_id, entry_ts=self._entry_ts)
        self._add_line(new, self._end_facts((old,), by.valid_from or "", name), page=old.path)
        self._reworded.add(name)

    def _raise_level(self, old: Fact, better: Fact) -> None:
        """Give a fact better sources; its line stays."""
        members = ("level", "origin", "quote", "confidence", "tags", "sources", "entry_id", "entry_ts")
        raised = old.but(**{name: getattr(better, name) for name in members})
        held = self._held[old.topic]
        held[:] = [raised if each.id == old.id else each for each in held]
        self.raised.append(raised)

    def _record_never_held(self, fact: Fact, said: str) -> None:
        """Record the end of something that is not held: older talk, read later, must not bring it back."""
        if not is_trusted(fact.level) or UNVERIFIED in fact.tags:
            return
        name = fact_id(self._entry_id, fact.topic, fact.relation, said, "ended")
        over = fact.but(id=name, object=said, valid_from=None, valid_to=fact.valid_from, status="superseded")
        if all(each.id != name and not is_same_fact(over, each) for each in self._held[fact.topic]):
            self._held[fact.topic].append(over)
            self.history.append(over)

    def _add_history(self, fact: Fact, newer: Sequence[Fact]) -> None:
        """Record a fact that was true before the current one: history, without a line."""
        until = min((each.valid_from for each in newer if each.valid_from), default=fact.valid_to)
        past = fact.but(status="superseded", valid_to=fact.valid_to or until, path=None)
        self._held[fact.topic].append(past)
        self.history.append(past)

    def _date_by_words(self, fact: Fact, proposal: Proposal, replaced: Sequence[Fact]) -> Fact:
        """Date a fact by its words, if that date is past and not before the facts that it replaces."""
        since = proposal.valid_from
        is_past = since is not None and since <= (fact.valid_from or "")
        is_later = is_past and all((since or "") >= (old.valid_from or "") for old in replaced)
        return fact.but(valid_from=since) if since and is_later else fact


# --- the plan ---------------------------------------------------------------------------

_QUOTE = 300

CHECKED = "checked"
"""The tag of a conclusion that the model confirmed on a second look."""
_IF_CHECKED = 0.75

MOST_FOUND, MOST_FOUND_A_DAY = 60, 20
"""The most lines of agents' findings that a page holds, and that one day adds."""

PERHAPS = "only if it changes something"
"""The tag of a proposal that deserves a line only if it changes something held."""


@frozen
class Outcome:
    """What became of one proposal, and why."""

    act: str
    fact: Fact
    why: str


class PlacePlan(PageChanges):
    """The plan for the proposals of an entry. `held` returns all facts of a topic; `topic` the canonical topic of a
    proposal. `topics`: where a change may find what it replaces; `lexicon`: knowledge of words, without which only
    slots are replaced; `agent`: the agent of the talk, who signs its findings; `keeps_back` says why a fact may not
    stand on a page here, and `needs_yes` why it is nothing yet without a reviewer: then it waits for a person."""

    def __init__(
        self,
        entry_id: str,
        entry_ts: float,
        held: Callable[[str], list[Fact]],
        topic: Callable[[Proposal], str],
        *,
        topics: Iterable[str] = (USER, PROJECT),
        lexicon: Lexicon | None = None,
        agent: str = "agent",
        now: float = NEVER,
        keeps_back: Callable[[Fact], str] | None = None,
        needs_yes: Callable[[Fact], str] | None = None,
    ) -> None:
        super().__init__(entry_id, entry_ts, held)
        self._keeps_back, self._needs_yes = keeps_back, needs_yes
        self._topic, self._agent, self._now = topic, agent, now
        self._topics, self._lexicon = tuple(topics), lexicon
        self._taken: set[str] = set()
        self._said_again: set[tuple[str | None, str | None]] = set()
        self.review: list[tuple[Fact, str]] = []
        self.restated: list[tuple[str | float | None, ...]] = []
        self.outcomes: list[Outcome] = []

    def take(
        self,
        proposal: Proposal,
        witnesses: Sequence[Witness],
        score: float | None = None,
        *,
        checked: bool = False,
    ) -> None:
        """Take a proposal. `score`: a person's earlier score of it. `checked`: a model that saw only the quote found it
        there; it is still no more than a conclusion."""
        was = proposal.was or ""
        if was and not is_named_as(was, proposal.relation, witnesses):
            # The user's words may support it, while only a model names what it replaces.
            proposal = proposal.but(was=None, correction=False)
        fact = self._make_fact(proposal, witnesses)
        if fact is not None and checked and fact.level == "inferred" and UNVERIFIED in fact.tags:
            fact = fact.but(tags=(*fact.tags, CHECKED), confidence=_IF_CHECKED)
        if fact is None:
            return
        made = self.put(fact, proposal, score)
        if made is None or made.fact.id != fact.id:
            return
        over = proposal.ended and made.act in ("drop", "doubt")
        if over or (was and made.act in ("add", "supersede", "contest")):
            is_users = bool(holders_of(proposal.quote, witnesses))
            is_said = may_change(fact) and bool(proposal.was) and not over
            gone = proposal.object if over else was
            self._outdate(fact, gone, over=over, is_said=is_said, is_users=is_users)

    def put(self, fact: Fact, proposal: Proposal, score: float | None = None) -> Outcome | None:
        """Place a fact of known level. None: it deserved a line only if it changed something, and it did not."""
        self._taken.add(fact.id or "")
        if PERHAPS in proposal.tags and not self._replace_lines(fact, proposal):
            return None
        fact = fact.but(user_fact_score=score)
        while fact.id in self._taken_back:  # said, withdrawn and said again in one entry
            fact = fact.but(id=fact_id(fact.id or "", "again"))
        self._taken.add(fact.id or "")
        held = self._held_in(fact.topic)
        act, facts, why = self._decide(fact, proposal, held)
        if self._keeps_back is not None and act in ("add", "supersede", "contest", "older"):
            private = self._keeps_back(fact)
            act, why = ("review", private) if private else (act, why)
        if self._needs_yes is not None and act in ("add", "supersede", "contest", "older"):
            waiting = self._needs_yes(fact)
            if waiting:  # before the yes, it changes nothing
                act, why = "review", waiting
                proposal = proposal.but(correction=False, ended=False, was=None)
        waits = next((each for each in held if each.status == "pending" and is_same_fact(fact, each)), None)
        if act in ("add", "supersede", "contest") and waits is not None and fact.level != "tainted":
            # It is one fact: it leaves review for its page.
            held.remove(waits)
            self.settled.append(waits.id or "")
            sources = sources_of(waits, fact)
            fact = fact.but(id=waits.id, sources=sources, user_fact_score=waits.user_fact_score)
        if act in ("add", "supersede"):
            fact = self._date_by_words(fact, proposal, facts)
        if act in ("supersede", "end"):
            self._remove_retellings(fact, facts)
        outcome = Outcome(act, fact, why)
        self.outcomes.append(outcome)
        match act:
            case "add" | "supersede":
                self._supersede(fact, facts)
            case "contest":
                self._add_line(self._word_contested(fact, facts), ())
                self._doubt_by_words(fact, facts)
            case "doubt" if is_over(spelled(proposal.quote)):
                self._doubt_by_words(fact, facts)
            case "end":
                self._end_lines(facts, fact.valid_from)
            case "restate":
                self._said_again.add((fact.quote, facts[0].id))
                self._restate(fact, facts[0])
            case "older":
                self._add_history(fact, facts)
            case "review":
                asked = fact.but(object=undoubted(fact.object))
                self._ask(asked.but(status="pending") if not proposal.ended else ending_of(asked), why)
        if proposal.ended and act == "drop":
            self._record_never_held(fact, fact.object)
        elif proposal.was and act == "add" and fact.relation != NOTE and relation_of(fact.relation).many:
            self._record_never_held(fact, proposal.was)
        if (proposal.correction or proposal.ended) and act != "older" and PERHAPS not in proposal.tags:
            self._replace_lines(fact, proposal)
        return outcome

    # --- changes of what has no slot ---------------------------------------------------------

    def _find_contradictable(self, fact: Fact, *, is_sure: bool) -> list[Fact]:
        """Return the current facts that a change may contradict, in all its topics: none said later or in the same
        words and, unless the change is sure, none from the same message."""
        held = [each for topic in dict.fromkeys((fact.topic, *self._topics)) for each in self._held_in(topic)]
        said = fact.but(valid_from=written(fact.recorded_at or self._entry_ts))  # not as dated by its words

        def is_beside(other: Fact) -> bool:
            is_new = other.id in self._new or other.entry_id == self._entry_id
            is_same = bool(fact.quote) and other.quote == fact.quote and (is_new or other.relation == NOTE)
            is_same = is_same or is_same_utterance(fact, other) or (fact.quote, other.id) in self._said_again
            return is_same or (is_new and not is_sure and other.sources[:1] == fact.sources[:1])

        return [
            each
            for each in held
            if each.status == "current"
            and each.id != fact.id
            and not is_beside(each)
            and not self._is_to_come(each)
            and not is_said_before(said, each, self._now)
        ]

    def _is_to_come(self, fact: Fact) -> bool:
        """Return True if it was written before a crash, and comes later in this entry."""
        is_before = fact.id in self._taken or fact.id in self._new or is_doubtful(fact.object)
        return fact.entry_id == self._entry_id and not is_before

    def _replace_lines(self, fact: Fact, proposal: Proposal) -> bool:
        """Remove or doubt the lines that a change contradicts. Return True if there are any."""
        if self._lexicon is None or not may_change(fact):
            return False
        was = proposal.object if proposal.ended else proposal.was
        said = proposal.quote or proposal.object
        chance = SURE if proposal.change is None else proposal.change
        kind = fact.kind if proposal.change is not None else None
        change = Replacement(said, chance, was, fact.topic, kind, proposal.ended, PEOPLE in fact.tags)
        held = self._find_contradictable(fact, is_sure=proposal.ended or chance >= PLAIN)
        if was and (proposal.ended or self._is_replaced_by_slot(was, fact)):
            held = facts_naming(was, held)  # only lines that name it too
        if proposal.ended:
            # A value of another slot may hold: a user who no longer listens to jazz may still dislike it.
            held = [each for each in held if each.relation == NOTE]
        found = replaced_by(change, held, self._lexicon)
        for old in found.gone:
            if outranks(old, fact):
                name = fact_id(self._entry_id, old.id or "", "over")
                over = ending_of(old.but(id=name, path=None, line=None))
                self._ask(over, "the talk says that it has changed")
            elif was and old.relation == NOTE and (rest := cut_clauses(old.object, words_test(was))):
                self._restate_as(old, fact, rest)
            else:
                self._end_lines((old,), fact.valid_from, fact.id)
        beside = (each for each in held if is_from_same_words(each, found.doubtful, said))
        for old in dict.fromkeys((*found.doubtful, *beside)):
            if not outranks(old, fact) and not is_doubtful(old.object):
                self._doubt(old, fact)
        # After a crash, what it replaces may already be gone.
        gone = (each for held in self._held.values() for each in held if each.superseded_by == fact.id)
        return bool(found.gone or found.doubtful) or any(gone)

    def _is_replaced_by_slot(self, was: str, fact: Fact) -> bool:
        """Return True if a slot from the same words has replaced the value that they say is gone."""
        every = [each for held in self._held.values() for each in held]
        by = {each.id for each in every if is_same_utterance(fact, each)}
        return any(words_test(was)(each.object) for each in every if each.superseded_by in by)

    def _remove_retellings(self, fact: Fact, over: Sequence[Fact]) -> None:
        """Remove a note that is the sentence of an ended value. Other notes with the value lose that clause or, where
        it cannot be cut out, become doubtful."""
        for old in over:
            if old.relation == NOTE:
                continue
            for note in facts_naming(old.object, self._held[fact.topic]):
                if note.relation != NOTE or outranks(note, fact) or note.quote == fact.quote:
                    continue
                if retells(note, old):
                    self._end_lines((note,), fact.valid_from, fact.id)
                elif len(old.object) < _TELLING:
                    continue
                elif rest := cut_clauses(note.object, words_test(old.object)):
                    self._restate_as(note, fact, rest)
                elif not is_doubtful(note.object):
                    self._doubt(note, fact)

    def _word_contested(self, fact: Fact, facts: Sequence[Fact]) -> Fact:
        """Reword a conclusion that contradicts the user's words: it gives both, with their dates."""
        old = next((each for each in facts if is_trusted(each.level)), None)
        if fact.level != "inferred" or old is None or relation_of(fact.relation).many:
            return fact
        since, today = (old.valid_from or "")[:10], (fact.valid_from or "")[:10]
        if not since or not today:
            return fact
        said = as_written(fact.relation, contested(fact.object, self._agent, today, old.object, since))[1]
        return fact.but(object=said)

    def _outdate(self, fact: Fact, was: str, *, over: bool, is_said: bool, is_users: bool) -> None:
        """Handle words that say what they replace or (`over`) end: a conclusion goes. The user's statement goes if the
        user says so too (`is_said`); if only a model does, it is marked with the user's words (`is_users`)."""
        is_own = may_change(fact) or _is_drawn_from_quote(fact)
        quoted = spelled(fact.quote or "")
        if not (is_own or is_users) or not is_told(quoted, len(quoted) - 1) or _IF.match(quoted):
            return
        was, quote = _ARTICLE.sub("", was), terms_of(fact.quote or "")
        wanted = terms_of(was)
        for old in facts_naming(was, self._find_contradictable(fact, is_sure=True)):
            is_whole = wanted == terms_of(old.object)
            mine = slot(fact.topic, fact.relation)
            is_near = slot(old.topic, old.relation) == mine != slot(fact.topic, NOTE)
            if over and not is_near and NOTE not in (old.relation, fact.relation):
                continue  # a user who no longer listens to jazz may still dislike it
            is_shared = bool(quote & (words_of(old) | terms_of(old.topic)))
            if is_own and not over:
                # A model may name any line: a line of another slot counts only where slots say nothing.
                is_loose = NOTE in (old.relation, fact.relation) or fact.topic not in (USER, PROJECT)
                is_loose = is_loose and (is_shared or _NOW.search(quoted) is not None)
                is_near = is_near or (is_whole and is_loose and old.topic == fact.topic)
            else:
                is_near = is_near and is_shared
            is_meant = wanted <= quote or is_near or (is_whole and (is_shared or not is_trusted(old.level)))
            is_later = not set(fact.sources) & set(old.sources)
            if outranks(old, fact) or not (is_later and is_meant):
                continue
            if (not is_trusted(old.level) and fact.level != "tainted") or (is_said and is_whole):
                self._end_lines((old,), fact.valid_from, None if over else fact.id)
            elif not is_doubtful(old.object) and not is_found(old.object):
                self._doubt(old, fact)

    def _doubt_by_words(self, fact: Fact, facts: Sequence[Fact]) -> None:
        """Mark the user's statements as doubtful, by later words of the user that hold the other value: no conclusion
        replaces them, and they no longer read as plain truth. A tool's words mark nothing."""
        if relation_of(fact.relation).many or not _is_drawn_from_quote(fact):
            return
        for old in facts:
            is_said = is_trusted(old.level) and not outranks(old, fact)
            is_later = fact.quote != old.quote and not set(fact.sources) & set(old.sources)
            if is_said and is_later and not is_doubtful(old.object):
                self._doubt(old, fact)

    def _doubt(self, old: Fact, by: Fact) -> None:
        said = doubted(old.object, (by.valid_from or "")[:10], by.quote or by.object)
        self._restate_as(old, by, said, tags=(*old.tags, DOUBTFUL))

    def _ask(self, waiting: Fact, why: str) -> None:
        """Ask a person, once."""
        held = self._held[waiting.topic]
        if not any(each.status == "pending" and is_same_fact(waiting, each) for each in held):
            self.review.append((waiting, why))
            held.append(waiting)

    def confirm(self, fact: Fact, now: float, by: tuple[str, ...] = (APPROVED,)) -> None:
        """Apply a person's yes to a fact: it stands, whatever contradicted it. An ending ends what it names."""
        if ENDS in fact.tags:
            over = fact.but(relation=fact.relation.removeprefix(NO_LONGER), level="confirmed", tags=())
            over = over.but(valid_from=written(now), order=None)
            made = decide(over, self._held_in(fact.topic), ended=True, now=now)
            self._end_lines(made.facts if made.act in ("end", "review") else (), written(now))
            return
        tags = (*(tag for tag in fact.tags if tag not in (UNVERIFIED, TICKED)), *by)
        held = self._held_in(fact.topic)
        held[:] = [each for each in held if each.id != fact.id]
        fact = fact.but(status="current", level="confirmed", confidence=1.0, tags=tags, path=None, line=None)
        made = decide(fact, held, now=now)
        if made.act == "older":
            fact = fact.but(valid_from=written(now), order=None)
            made = decide(fact, held, now=now)
        if made.act in ("add", "supersede"):
            self._supersede(fact, made.facts)

    def vouch(self, found: Fact, relation: str, said: str, now: float) -> Fact:
        """Apply a person's yes to an agent's finding: it becomes the person's, and replaces what contests it."""
        topic = found.topic.removesuffix(paths.ARCHIVE)
        held = self._held_in(found.topic)
        name = fact_id(found.id or "", relation, said)
        self._end_lines((found,), written(now), name)
        # It ends with its line, not before: after a crash in between, another yes finishes it.
        self.ended.setdefault(found.path or "", []).append(self.ended[found.topic].pop())
        held[:] = [each for each in held if each.id != found.id]
        fact = found.but(id=name, topic=topic, subject=topic, relation=relation, object=said, origin=PERSON)
        fact = fact.but(valid_from=written(now))
        self.confirm(fact, now, ())  # if undone, it does not wait in review: the finding stands again
        return fact

    def _decide(self, fact: Fact, proposal: Proposal, held: list[Fact]) -> tuple[str, tuple[Fact, ...], str]:
        before = next((each for each in held if each.id == fact.id and each.status != "current"), None)
        if before is not None:
            return "drop", (), "waits already" if before.status == "pending" else "decided before"
        guesses: tuple[Fact, ...] = ()
        if is_trusted(fact.level):
            # Untrusted facts wait for a person; the user's own word settles them.
            held = [each for each in held if each.status != "pending" or is_trusted(each.level)]
            # A conclusion with the same content gives way to it, and decides nothing among the user's statements.
            drawn = [each for each in held if each.level in ("inferred", "tainted") and not proposal.ended]
            guesses = tuple(each for each in drawn if each.status == "current" and is_same_fact(each, fact))
            held = [each for each in held if each not in guesses]
        # The lines that a note replaces are found later: a note has no slot for another value.
        was = proposal.was if fact.relation != NOTE else None
        correction = proposal.correction and fact.relation != NOTE
        made = decide(fact, held, correction=correction, was=was, ended=proposal.ended, now=self._now)
        if fact.level == "tainted":
            return self._decide_finding(fact, made.act, made.facts, made.why)
        if guesses and made.act in ("add", "supersede"):
            if made.act == "add" and len(guesses) == 1 and not is_found(guesses[0].object):
                return "restate", guesses, "held already"  # one line, which only gets better sources
            return "supersede", (*made.facts, *guesses), made.why
        return made.act, made.facts, made.why

    def _decide_finding(
        self, fact: Fact, act: str, facts: tuple[Fact, ...], why: str
    ) -> tuple[str, tuple[Fact, ...], str]:
        """Decide about an agent's finding: it stands under its own heading, while there is room, and ends nothing."""
        if is_document(fact.origin or "") and act in ("add", "supersede", "contest"):
            return "review", facts, f"it comes from {fact.origin}"
        if act in ("end", "doubt", "review"):
            return "drop", facts, "a tool's word ends nothing"
        if act in ("add", "supersede", "contest"):
            current = (each for each in self._held_in(fact.topic) if each.status == "current")
            found = [each for each in current if is_found(each.object)]
            day = f" on {(fact.valid_from or '')[:10]}"
            today = [each for each in found if day in each.object]
            if len(found) - len(facts) >= MOST_FOUND or len(today) >= MOST_FOUND_A_DAY:
                return "drop", (), "as much as a page holds of what agents found stands there"
        return act, facts, why

    def _make_fact(self, proposal: Proposal, witnesses: Sequence[Witness]) -> Fact | None:
        found = judge(proposal, witnesses)
        if not found.verified:
            proposal, found = _as_note(proposal, found, witnesses)
        if proposal.ended and found.origin == MIXED and is_over(spelled(proposal.quote)):
            # What ends was said before: this talk needs only the words that end it, and these are the user's.
            found = found.as_conclusion() if terms_of(proposal.object) & terms_of(proposal.quote) else found
        relation = relation_of(proposal.relation)
        topic = self._topic(proposal)
        try:
            # On a page about something else, "Company" is its own word and not the user's employer.
            name = relation.label if topic in (USER, PROJECT) else proposal.relation
            # A thing without a page of its own, in a slot that holds one value.
            is_slot = relation.label != NOTE and not relation.many
            if topic == PROJECT and is_slot and proposal.topic.strip().casefold() not in (USER, PROJECT):
                name = f"{proposal.topic} {name}"  # else the rent of one thing would replace another's
                if not is_plain_label(proposal.topic, witnesses):
                    found = found.as_unnamed(witnesses, proposal.topic)
            label, said = as_written(name, proposal.object)
        except Refused:
            return None  # it says nothing
        kind: Kind = proposal.kind or relation.kind
        tags = tuple(tag for tag in proposal.tags if tag != PERHAPS)
        tags = tags if found.verified else (*tags, UNVERIFIED)
        said_at = written(found.ts)
        if found.level == "tainted" and not is_document(found.origin):
            tools = (each.tool for each in witnesses if each.tool)
            said = signed_as_found(said, self._agent, said_at[:10], tools)
        return Fact(
            topic,
            topic,
            label,
            said,
            kind,
            id=fact_id(self._entry_id, topic, label, said, found.source),
            time_span=proposal.time_span,
            confidence=found.confidence,
            salience=SALIENCE[kind] if proposal.salience is None else proposal.salience,
            tags=tags,
            entry_id=self._entry_id,
            entry_ts=self._entry_ts,
            sources=(found.source,) if found.source else (),
            quote=proposal.quote[:_QUOTE] or None,
            origin=found.origin,
            level=found.level,
            valid_from=said_at,
            valid_to=proposal.valid_to if proposal.valid_to and proposal.valid_to <= said_at else None,
            status="current",
            person=next((each.person for each in witnesses if each.source == found.source), None),
        ).but(recorded_at=found.ts, order=found.order_by(witnesses))

    def _restate(self, fact: Fact, old: Fact) -> None:
        """Add a source. Repeating never raises a level, but the user's own word outranks a guess."""
        if is_doubtful(old.object) and may_change(fact) and not outranks(old, fact):
            self._supersede(fact, (old,))  # said again, it is no longer in doubt
            return
        is_better = is_trusted(fact.level) and not is_trusted(old.level)
        if old.status == "current" and (is_better or (fact.level == "inferred" and is_found(old.object))):
            better = fact.but(sources=sources_of(old, fact))
            if old.path == page_of(fact) and (old.relation, old.object) == (fact.relation, fact.object):
                self._raise_level(old, better)
            else:
                self._supersede(better, (old,))
        elif fact.sources and fact.sources[0] not in old.sources:
            said = fact.recorded_at, *((fact.order,) if fact.order is not None else ())
            self.restated.append((old.topic, old.id or "", fact.sources[0], *said))


def _is_drawn_from_quote(fact: Fact) -> bool:
    """Return True if a conclusion has half of its words from its quote."""
    value, quote = terms_of(fact.object), terms_of(fact.quote or "")
    # By the gate: it rests on the user's words, not on the assistant's.
    rests = UNVERIFIED in fact.tags and (fact.confidence or 0.0) >= CONFIDENCE["inferred"]
    return fact.level == "inferred" and rests and bool(value) and 2 * len(value & quote) >= len(value)


def _as_note(proposal: Proposal, found: Verdict, witnesses: Sequence[Witness]) -> tuple[Proposal, Verdict]:
    """Turn the user's exact words under an unproven label into a note. On a page of its own thing the label stays,
    unless it may come from a tool."""
    is_named = relation_of(proposal.relation).label.casefold() in BY_LABEL
    if is_named or proposal.ended or len(proposal.object.split()) < _CLAUSE_WORDS:
        return proposal, found
    note = proposal.but(relation=NOTE)
    again = judge(note, witnesses)
    if again.level != "said" or not again.verified:
        return proposal, found
    is_apart = proposal.topic.strip().casefold() not in (USER, PROJECT) and found.level == "inferred"
    is_kept = is_apart and is_plain_label(proposal.relation, witnesses)
    return proposal if is_kept else note, again


_ARTICLE = lazy(r"\A(?:an?|the|ein\w*|der|die|das|une?|le|la|el|una|il|een|de) ", re.IGNORECASE)
_IF = lazy(r"\W*(?:what )?(?:if|wenn|falls|si|als|se)\b")
_NOW = lazy(
    r"\b(?:now|any ?more|instead|no longer|from now on|these days|from \w+ on|changed|switched|moved|back|make it|jetzt"
    r"|ab jetzt|nicht mehr|maintenant|désormais|ahora|agora|adesso|nu)\b|现在|改|今は|もう|이제"
)
"""Words that announce a change."""
_CLAUSE_WORDS = _TELLING = 4
"""The least words of a clause; and the least letters of a value: shorter ones stand in many notes."""


# --- outdated sentences -----------------------------------------------------------------

_LONG_ENOUGH = 8
"""The least characters of a quote that identify a sentence; fewer stand in many."""


def over_and_now(known: Iterable[Fact]) -> tuple[list[Fact], list[Fact]]:
    """Split facts into those that are over and those that are current. A note vouches only for itself."""
    facts = list(known)
    now = [fact for fact in facts if fact.status == "current"]
    told = {undoubted(fact.object) for fact in now if fact.relation == NOTE}
    over = [fact for fact in facts if fact.status in ("superseded", "rejected")]
    over = [fact for fact in over if fact.relation != NOTE or undoubted(fact.object) not in told]
    return over, [fact for fact in now if fact.relation != NOTE]


def outdated_by(over: Iterable[Fact], now: Iterable[Fact]) -> Callable[[str], bool]:
    """Return a test for outdated sentences: their fact was superseded, ended or rejected. Its quote identifies them."""
    gone = list(over)
    past, present = _quotes_of(gone), _quotes_of(now)
    values = {(_fold_words(fact.quote or ""), _fold_words(undoubted(fact.object))) for fact in gone}

    def is_said_of(words: str) -> bool:
        """Return True if it is the part of such a quote that has the value."""
        if len(words) < _LONG_ENOUGH or any(has_words(words, quote) for quote in present):
            return False
        named = (quote for quote, value in values if len(value) > 1 and has_words(value, words))
        return any(has_words(words, quote) for quote in named)

    def is_outdated(sentence: str) -> bool:
        words = _fold_words(sentence)
        is_past = any(has_words(quote, words) for quote in past) or is_said_of(words)
        return is_past and not any(has_words(quote, words) for quote in present)

    return is_outdated


def has_words(quote: str, words: str) -> bool:
    """Return True if it stands there as whole words: "I like tea" is not in "I like teaching"."""
    at = words.find(quote)
    while at >= 0:
        end = at + len(quote)
        # A script without spaces has no word ends.
        if not quote[:1].isascii() or not (words[at - 1 : at].isalnum() or words[end : end + 1].isalnum()):
            return True
        at = words.find(quote, at + 1)
    return False


def _quotes_of(facts: Iterable[Fact]) -> list[str]:
    quotes = {_fold_words(fact.quote) for fact in facts if fact.quote}
    return sorted(quote for quote in quotes if len(quote) >= _LONG_ENOUGH)


def _fold_words(text: str) -> str:
    return " ".join(text.casefold().split())


def make_outdated_test(
    facts: Facts, *found: Distilled, topics: Iterable[str] | None = None
) -> Callable[[str], bool]:
    """Return a test for outdated sentences, by all known facts (of some topics) and what was just distilled."""
    known = [fact for topic in topics for fact in facts.of(topic)] if topics is not None else facts.all()
    over, now = over_and_now(known)
    for distilled in found:
        plan = _plan_placement(facts, distilled)
        over += plan.history
        ended = {name for each in plan.ended.values() for name, _, _ in each}
        over += [fact for fact in now if fact.id in ended]
        now = [fact for fact in now if fact.id not in ended]
        now += [line.add for lines in plan.lines.values() for line in lines if line.add is not None]
    return outdated_by(over, now)


def _plan_placement(facts: Facts, distilled: Distilled) -> PlacePlan:
    """Plan the placement of a distillation, without applying it."""

    def topic_of(proposal: Proposal) -> str:
        return USER if proposal.topic.casefold() == USER else PROJECT

    plan = PlacePlan("", 0.0, facts.of, topic_of)
    for number, raw in enumerate(distilled.facts):
        proposal = proposal_of(raw)
        if proposal is not None:
            said_at = time_of(proposal.source) if is_id(proposal.source) else 0.0
            ts = said_at + number * 1e-6  # of two in one trace, the second is later
            stated = frozenset({reading_of(proposal)})
            plan.take(proposal, [Witness(proposal.source, "user", proposal.quote, ts, stated)])
    return plan
