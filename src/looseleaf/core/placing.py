"""Placing: what becomes of each proposal of an entry, before any page is touched.

Most proposals add nothing new, and that is the normal result. Pure: the same proposals beside the same facts give the
same plan; carrying it out twice is carrying it out once.
"""

from __future__ import annotations

from looseleaf.core import kinship, names
from looseleaf.core.gate import UNVERIFIED, judge
from looseleaf.core.grammar import as_written
from looseleaf.core.identity import decide
from looseleaf.core.ledger import fact_id
from looseleaf.core.levels import is_trusted
from looseleaf.core.lines import DOUBTFUL, NOTE, doubted, is_doubtful
from looseleaf.core.names import APPROVED, TICKED
from looseleaf.core.profile import PEOPLE
from looseleaf.core.relations import SALIENCE
from looseleaf.core.replacing import PLAIN, SURE, Change, is_told_with, naming, replaced_by, saying, without
from looseleaf.core.slots import relation_of
from looseleaf.core.times import written
from looseleaf.errors import Refused
from looseleaf.frozen import frozen
from looseleaf.values import Fact

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from looseleaf.core.gate import Witness
    from looseleaf.core.replacing import Lexicon
    from looseleaf.talk import Proposal
    from looseleaf.values import Ended, Kind

USER, PROJECT, PROFILE = names.USER, names.PROJECT, names.PROFILE

_QUOTE = 300

AT_TOP = 0.4
"""The salience from which on a fact of the user's stands on USER.md, which is in every prompt."""

PERHAPS = "only if it changes something"
"""The tag of a proposal that is only worth a line if something that is held has changed by it."""


@frozen
class Line:
    """One change of one page: a fact to add, one to take away, or one in place of another."""

    add: Fact | None = None
    remove: Fact | None = None


@frozen
class Outcome:
    """What became of one proposal, and why."""

    act: str
    fact: Fact
    why: str


def page_of(fact: Fact) -> str:
    """The top of the folder is in every prompt: only what the user said, or a person confirmed, stands there."""
    is_worth = fact.level == "confirmed" or (
        is_trusted(fact.level) and (1.0 if fact.salience is None else fact.salience) >= AT_TOP
    )
    return PROFILE if fact.topic == USER and is_worth else f"facts/{fact.topic}.md"


class Plan:
    """`held` gives all facts of a topic; `topic` the canonical name of the one that a proposal names. `topics`: where a
    change may find what it replaces; `lexicon`: what is known of words, without which only slots are replaced."""

    def __init__(
        self,
        entry_id: str,
        entry_ts: float,
        held: Callable[[str], list[Fact]],
        topic: Callable[[Proposal], str],
        *,
        topics: Iterable[str] = (USER, PROJECT),
        lexicon: Lexicon | None = None,
    ) -> None:
        self._entry_id, self._entry_ts = entry_id, entry_ts
        self._load, self._topic = held, topic
        self._topics, self._lexicon = tuple(topics), lexicon
        self._held: dict[str, list[Fact]] = {}
        self._new: set[str] = set()
        self._taken_back: set[str] = set()
        self._taken: set[str] = set()
        self._said_again: set[tuple[str | None, str | None]] = set()
        self._reworded: set[str] = set()
        self.lines: dict[str, list[Line]] = {}
        """What is to be done to each page."""
        self.settled: list[str] = []
        """What waited in review, and stands on a page now because the user said it."""
        self.ended: dict[str, list[Ended]] = {}
        self.review: list[tuple[Fact, str]] = []
        self.restated: list[tuple[str, str, str, float | None]] = []
        self.history: list[Fact] = []
        self.raised: list[Fact] = []
        self.retold: list[tuple[str, Fact]] = []
        self.ended_there: list[Ended] = []
        """Facts that take the place of others on lines that stay as they are, and those that end by that."""
        self.outcomes: list[Outcome] = []

    def take(self, proposal: Proposal, witnesses: Sequence[Witness], score: float | None = None) -> None:
        """`score`: what a person said of it before."""
        fact = self._fact(proposal, witnesses)
        if fact is None:
            return
        self._taken.add(fact.id or "")
        if PERHAPS in proposal.tags and not self._replace(fact, proposal):
            return
        fact = fact.but(user_fact_score=score)
        while fact.id in self._taken_back:  # said, taken back and said again in one entry
            fact = fact.but(id=fact_id(fact.id or "", "again"))
        self._taken.add(fact.id or "")
        held = self._held_in(fact.topic)
        act, facts, why = self._decide(fact, proposal, held)
        waits = next(
            (each for each in held if each.status == "pending" and kinship.is_same_fact(fact, each)), None
        )
        if act in ("add", "supersede") and waits is not None:
            # It is one fact: it leaves review for its page.
            held.remove(waits)
            self.settled.append(waits.id or "")
            fact = kinship.joined(fact, waits)
        if act in ("add", "supersede"):
            fact = self._dated(fact, proposal, facts)
        if act in ("supersede", "end"):
            self._say_no_more(fact, facts)
        self.outcomes.append(Outcome(act, fact, why))
        match act:
            case "add" | "supersede":
                self._supersede(fact, facts)
            case "end":
                self._end(fact, facts)
            case "restate":
                self._said_again.add((fact.quote, facts[0].id))
                self._restate(fact, facts[0])
            case "older":
                self._older(fact, facts)
            case "review":
                waiting = fact.but(status="pending") if not proposal.ended else kinship.ending(fact)
                if not any(each.status == "pending" and kinship.is_same_fact(waiting, each) for each in held):
                    self.review.append((waiting, why))
                    held.append(waiting)
        if proposal.ended and act == "drop":
            self._never_held(fact, fact.object)
        elif proposal.was and act == "add" and fact.relation != NOTE and relation_of(fact.relation).many:
            self._never_held(fact, proposal.was)
        if (proposal.correction or proposal.ended) and act != "older" and PERHAPS not in proposal.tags:
            self._replace(fact, proposal)

    # --- changes of what has no slot ---------------------------------------------------------

    def _elsewhere(self, fact: Fact, *, is_sure: bool) -> list[Fact]:
        """The current facts that a change may contradict, in all topics it looks in: none that was said later, or is
        said by the same words; and, unless the change is sure, none from the same message."""
        held = [each for topic in dict.fromkeys((fact.topic, *self._topics)) for each in self._held_in(topic)]
        said_at = written(fact.recorded_at or self._entry_ts)

        def is_beside(other: Fact) -> bool:
            is_new = other.id in self._new or other.entry_id == self._entry_id
            is_same = bool(fact.quote) and other.quote == fact.quote and (is_new or other.relation == NOTE)
            is_same = (
                is_same or kinship.in_one_breath(fact, other) or (fact.quote, other.id) in self._said_again
            )
            return is_same or (is_new and not is_sure and other.sources[:1] == fact.sources[:1])

        return [
            each
            for each in held
            if each.status == "current"
            and each.id != fact.id
            and not is_beside(each)
            and not self._is_to_come(each)
            and (each.valid_from or "") <= said_at
        ]

    def _is_to_come(self, fact: Fact) -> bool:
        """Whether it was written before a crash, and comes later in this entry."""
        is_before = fact.id in self._taken or fact.id in self._new or is_doubtful(fact.object)
        return fact.entry_id == self._entry_id and not is_before

    def _replace(self, fact: Fact, proposal: Proposal) -> bool:
        """Take away, or doubt, the lines that a change speaks against. Whether there are any."""
        if self._lexicon is None or not kinship.may_change(fact):
            return False
        was = proposal.object if proposal.ended else proposal.was
        said = proposal.quote or proposal.object
        chance = SURE if proposal.change is None else proposal.change
        kind = fact.kind if proposal.change is not None else None
        change = Change(said, chance, was, fact.topic, kind, proposal.ended, PEOPLE in fact.tags)
        held = self._elsewhere(fact, is_sure=proposal.ended or chance >= PLAIN)
        if was and (proposal.ended or self._has_gone(was, fact)):
            held = naming(was, held)  # nothing is meant but what names it as well
        if proposal.ended:
            # A value of another slot may hold: who listens to jazz no more may dislike it still.
            held = [each for each in held if each.relation == NOTE]
        found = replaced_by(change, held, self._lexicon)
        for old in found.gone:
            if kinship.outranks(old, fact):
                self._ask_whether(old)
            elif was and old.relation == NOTE and (rest := without(old.object, saying(was))):
                self._restate_as(old, fact, rest)
            else:
                self._go((old,), fact)
        doubtful = [*found.doubtful, *(each for each in held if is_told_with(each, found.doubtful, said))]
        for old in dict.fromkeys(doubtful):
            if not kinship.outranks(old, fact) and not is_doubtful(old.object):
                self._doubt(old, fact)
        # After a crash, what it replaces may be gone already.
        every = (each for topic in self._held for each in self._held[topic])
        return bool(found.gone or found.doubtful) or any(each.superseded_by == fact.id for each in every)

    def _has_gone(self, was: str, fact: Fact) -> bool:
        """Whether a slot that the same words fill has taken the place of the value that they say is gone."""
        every = [each for topic in self._held for each in self._held[topic]]
        by = {each.id for each in every if kinship.in_one_breath(fact, each)}
        return any(saying(was)(each.object) for each in every if each.superseded_by in by)

    def _say_no_more(self, fact: Fact, over: Sequence[Fact]) -> None:
        """A note that is the sentence an ended value came from goes. Others that say the value lose that clause or,
        where it cannot be cut out, become doubtful."""
        for old in over:
            if old.relation == NOTE:
                continue
            for note in naming(old.object, self._held[fact.topic]):
                if note.relation != NOTE or kinship.outranks(note, fact) or note.quote == fact.quote:
                    continue
                if kinship.retells(note, old):
                    self._go((note,), fact)
                elif len(old.object) < _TELLING:
                    continue
                elif rest := without(note.object, saying(old.object)):
                    self._restate_as(note, fact, rest)
                elif not is_doubtful(note.object):
                    self._doubt(note, fact)

    def _doubt(self, old: Fact, by: Fact) -> None:
        said = doubted(old.object, (by.valid_from or "")[:10], by.quote or by.object)
        self._restate_as(old, by, said, tags=(*old.tags, DOUBTFUL))

    def _restate_as(self, old: Fact, by: Fact, said: str, tags: tuple[str, ...] | None = None) -> None:
        """The same fact in other words on the same line."""
        label, said = as_written(old.relation, said)
        name = fact_id(self._entry_id, old.topic, label, said, old.id or "")
        new = old.but(id=name, relation=label, object=said, tags=old.tags if tags is None else tags)
        new = new.but(
            valid_from=by.valid_from, path=None, line=None, entry_id=self._entry_id, entry_ts=self._entry_ts
        )
        self._add(new, self._over((old,), by.valid_from or "", name), page=old.path)
        self._reworded.add(name)

    def _go(self, facts: Sequence[Fact], by: Fact) -> None:
        """What is over, and whose place another fact took elsewhere."""
        for old in self._over(facts, by.valid_from or "", by.id):
            self._take_line(old)

    def _take_line(self, fact: Fact) -> None:
        if fact.path is not None:
            self.lines.setdefault(fact.path, []).append(Line(None, fact))

    def _ask_whether(self, old: Fact) -> None:
        """A person wrote it: a person says whether it is over."""
        waiting = kinship.ending(
            old.but(id=fact_id(self._entry_id, old.id or "", "over"), path=None, line=None)
        )
        if not any(
            each.status == "pending" and kinship.is_same_fact(waiting, each) for each in self._held[old.topic]
        ):
            self.review.append((waiting, "the talk says that it has changed"))
            self._held[old.topic].append(waiting)

    def _held_in(self, topic: str) -> list[Fact]:
        """All that is held of a topic. A line whose fact has ended goes: a crash came before that was done."""
        if topic not in self._held:
            self._held[topic] = held = self._load(topic)
            for each in held:
                if each.status == "superseded" and each.line is not None:
                    self._take_line(each)
        return self._held[topic]

    def give_up(self, fact: Fact) -> None:
        """A fact that nothing says any more goes from its page. Nobody said that it ended: it never held."""
        self._held_in(fact.topic)
        self._end(fact, (fact,))

    def confirm(self, fact: Fact, now: float) -> None:
        """A person says yes to a fact: it stands, whatever stood against it. Or, to an ending: what it ends goes."""
        if kinship.ENDS in fact.tags:
            self._confirm_end(fact, now)
            return
        tags = (*(tag for tag in fact.tags if tag not in (UNVERIFIED, TICKED)), APPROVED)
        held = self._held_in(fact.topic)
        held[:] = [each for each in held if each.id != fact.id]
        fact = fact.but(status="current", level="confirmed", confidence=1.0, tags=tags, path=None, line=None)
        made = decide(fact, held)
        if made.act == "older":
            fact = fact.but(valid_from=written(now))
            made = decide(fact, held)
        if made.act in ("add", "supersede"):
            self._supersede(fact, made.facts)

    def _confirm_end(self, fact: Fact, now: float) -> None:
        over = fact.but(
            relation=fact.relation.removeprefix(kinship.NO_LONGER),
            level="confirmed",
            tags=(),
            valid_from=written(now),
        )
        made = decide(over, self._held_in(fact.topic), ended=True)
        self._end(over, made.facts if made.act in ("end", "review") else ())

    def keep_lines(self) -> None:
        """To be called at the end. A line that would be replaced by itself stays; the fact on it is another one."""
        for lines in self.lines.values():
            for line in list(lines):
                old, new = line.remove, line.add
                if old and new and (old.relation, old.object) == (new.relation, new.object):
                    lines.remove(line)
                    self.retold.append((old.id or "", new))
                    ended = self.ended.get(old.topic, [])
                    self.ended_there += [each for each in ended if each[0] == old.id]
                    ended[:] = [each for each in ended if each[0] != old.id]

    def _decide(self, fact: Fact, proposal: Proposal, held: list[Fact]) -> tuple[str, tuple[Fact, ...], str]:
        before = next((each for each in held if each.id == fact.id and each.status != "current"), None)
        if before is not None:
            return "drop", (), "waits already" if before.status == "pending" else "decided before"
        if is_trusted(fact.level):
            # What nobody vouched for waits for a person; the user's own word is that.
            held = [each for each in held if each.status != "pending" or is_trusted(each.level)]
        # What a line in the user's words replaces is found below: a note has no slot that another value could take.
        was = proposal.was if fact.relation != NOTE else None
        correction = proposal.correction and fact.relation != NOTE
        made = decide(fact, held, correction=correction, was=was, ended=proposal.ended)
        if made.act in ("add", "supersede", "end") and fact.level == "tainted":
            # Nobody vouches for it: a person says yes, or it is no memory.
            return "review", made.facts, f"it comes from {fact.origin or 'elsewhere'}"
        return made.act, made.facts, made.why

    def _dated(self, fact: Fact, proposal: Proposal, replaced: Sequence[Fact]) -> Fact:
        """True since the date that the words name, if that is past and leaves what it replaces its time."""
        since = proposal.valid_from
        if (
            since
            and since <= (fact.valid_from or "")
            and all(since >= (old.valid_from or "") for old in replaced)
        ):
            return fact.but(valid_from=since)
        return fact

    # --- one proposal as a fact ----------------------------------------------------------

    def _fact(self, proposal: Proposal, witnesses: Sequence[Witness]) -> Fact | None:
        found = judge(proposal, witnesses)
        relation = relation_of(proposal.relation)
        topic = self._topic(proposal)
        try:
            # On a page about something else, "Company" is its own word and not the user's employer.
            name = relation.label if topic in (USER, PROJECT) else proposal.relation
            label, said = as_written(name, proposal.object)
        except Refused:
            return None  # it says nothing
        kind: Kind = proposal.kind or relation.kind
        tags = tuple(tag for tag in proposal.tags if tag != PERHAPS)
        tags = tags if found.verified else (*tags, UNVERIFIED)
        said_at = written(found.ts)
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
        ).but(recorded_at=found.ts)

    # --- what is decided -------------------------------------------------------------------

    def _add(self, fact: Fact, replaced: Sequence[Fact], page: str | None = None) -> None:
        """On its page; in place of a fact that stands there, or beside what is there."""
        page = page or page_of(fact)
        self._held[fact.topic].append(fact)
        self._new.add(fact.id or "")
        there = next((old for old in replaced if old.path == page), None)
        self.lines.setdefault(page, []).append(Line(fact, there))
        for old in replaced:
            if old is not there:
                self._take_line(old)

    def _supersede(self, fact: Fact, facts: Sequence[Fact]) -> None:
        self._add(fact, self._over(facts, fact.valid_from or "", fact.id))

    def _end(self, fact: Fact, facts: Sequence[Fact]) -> None:
        for old in self._over(facts, fact.valid_from or "", None):
            self._take_line(old)

    def _over(self, facts: Sequence[Fact], when: str, by: str | None) -> list[Fact]:
        """Those that end, and stand on a page. What is only to be put on one by this plan never gets there."""
        standing: list[Fact] = []
        for old in facts:
            held = self._held[old.topic]
            held[:] = [each for each in held if each.id != old.id]
            over = old.but(status="superseded", valid_to=max(when, old.valid_from or when), superseded_by=by)
            if old.id in self._reworded:
                self._new.discard(old.id)
                self._never_reworded(old, by)
                standing += self._withdraw(old)
                continue
            held.append(over)
            if old.id in self._new:
                self._new.discard(old.id)
                self._taken_back.add(old.id or "")
                self.history.append(over)
                standing += self._withdraw(old)
            else:
                self.ended.setdefault(old.topic, []).append((old.id or "", over.valid_to or when, by))
                standing.append(old)
        return standing

    def _never_reworded(self, fact: Fact, by: str | None) -> None:
        """Words that this plan gave a fact but never wrote: what replaces them replaces the fact itself."""
        held, ended = self._held[fact.topic], self.ended.get(fact.topic, [])
        for facts in (held, self.history):
            facts[:] = [
                each.but(superseded_by=by) if each.superseded_by == fact.id else each for each in facts
            ]
        ended[:] = [(old, when, by if it == fact.id else it) for old, when, it in ended]

    def _withdraw(self, fact: Fact) -> list[Fact]:
        """Take a line back that is not written yet: the fact that it was to replace still stands."""
        for lines in self.lines.values():
            for line in lines:
                if line.add is not None and line.add.id == fact.id:
                    lines.remove(line)
                    return [line.remove] if line.remove is not None else []
        return []

    def _restate(self, fact: Fact, old: Fact) -> None:
        """One more source; never a higher level by repeating, but the user's own word is worth more than a guess."""
        if is_doubtful(old.object) and kinship.may_change(fact) and not kinship.outranks(old, fact):
            self._supersede(fact, (old,))  # said again, it is in doubt no more
            return
        if old.status == "current" and is_trusted(fact.level) and not is_trusted(old.level):
            better = fact.but(sources=kinship.sources_of(old, fact))
            if old.path == page_of(fact) and (old.relation, old.object) == (fact.relation, fact.object):
                self._raise(old, better)
            else:
                self._supersede(better, (old,))
        elif fact.sources and fact.sources[0] not in old.sources:
            self.restated.append((old.topic, old.id or "", fact.sources[0], fact.recorded_at))

    def _raise(self, old: Fact, better: Fact) -> None:
        """The same line in the same place: the fact stays, and rests on better words."""
        members = ("level", "origin", "quote", "confidence", "tags", "sources", "entry_id", "entry_ts")
        raised = old.but(**{name: getattr(better, name) for name in members})
        held = self._held[old.topic]
        held[:] = [raised if each.id == old.id else each for each in held]
        self.raised.append(raised)

    def _never_held(self, fact: Fact, said: str) -> None:
        """The user says that something is over which is not held: older talk that is read later may still speak of it,
        and must not bring it back."""
        if not is_trusted(fact.level) or UNVERIFIED in fact.tags:
            return
        name = fact_id(self._entry_id, fact.topic, fact.relation, said, "ended")
        over = fact.but(id=name, object=said, valid_from=None, valid_to=fact.valid_from, status="superseded")
        if all(each.id != name and not kinship.is_same_fact(over, each) for each in self._held[fact.topic]):
            self._held[fact.topic].append(over)
            self.history.append(over)

    def _older(self, fact: Fact, newer: Sequence[Fact]) -> None:
        """It was true before what holds now: history, and no line."""
        until = min((each.valid_from for each in newer if each.valid_from), default=fact.valid_to)
        past = fact.but(status="superseded", valid_to=fact.valid_to or until, path=None)
        self._held[fact.topic].append(past)
        self.history.append(past)


_TELLING = 4
"""A value of fewer letters stands in many notes."""
