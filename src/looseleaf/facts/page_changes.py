"""The changes that a plan makes to pages: which lines come and go, which facts end by that, and what becomes history.

Pure. Nothing here decides: `placement.py` does. Carried out twice, it is carried out once.
"""

from __future__ import annotations

from looseleaf.base import paths
from looseleaf.base.immutable import frozen
from looseleaf.base.origins import is_trusted
from looseleaf.facts import kinship
from looseleaf.facts.gate import UNVERIFIED
from looseleaf.facts.ledger import fact_id
from looseleaf.pages.grammar import as_written
from looseleaf.text.lines import is_found

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from looseleaf.base.messages import Proposal
    from looseleaf.base.values import Ended, Fact

USER, PROFILE = paths.USER, paths.PROFILE

AT_TOP = 0.4
"""The salience from which on a fact of the user's stands on USER.md, which is in every prompt."""


@frozen
class Line:
    """One change of one page: a fact to add, one to take away, or one in place of another. `waited`: the fact to add
    waited in review, under the same id."""

    add: Fact | None = None
    remove: Fact | None = None
    waited: bool = False


def page_of(fact: Fact) -> str:
    """The top of the folder is in every prompt: only what the user said, or a person confirmed, stands there."""
    is_worth = fact.level == "confirmed" or (
        is_trusted(fact.level) and (1.0 if fact.salience is None else fact.salience) >= AT_TOP
    )
    return PROFILE if fact.topic == USER and is_worth else f"facts/{fact.topic}.md"


class PageChanges:
    """`held` gives all facts of a topic."""

    def __init__(self, entry_id: str, entry_ts: float, held: Callable[[str], list[Fact]]) -> None:
        self._entry_id, self._entry_ts, self._load = entry_id, entry_ts, held
        self._held: dict[str, list[Fact]] = {}
        self._new: set[str] = set()
        self._taken_back: set[str] = set()
        self._reworded: set[str] = set()
        self.lines: dict[str, list[Line]] = {}
        """What is to be done to each page."""
        self.settled: list[str] = []
        """What waited in review, and stands on a page now because the user said it."""
        self.ended: dict[str, list[Ended]] = {}
        self.history: list[Fact] = []
        self.raised: list[Fact] = []
        self.retold: list[tuple[str, Fact]] = []
        self.ended_there: list[Ended] = []
        """Facts that take the place of others on lines that stay as they are, and those that end by that."""

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

    def _add(self, fact: Fact, replaced: Sequence[Fact], page: str | None = None) -> None:
        """On its page; in place of a fact that stands there, or beside what is there."""
        page = page or page_of(fact)
        self._held[fact.topic].append(fact)
        self._new.add(fact.id or "")
        is_finding = is_found(fact.object)
        there = next(
            (old for old in replaced if old.path == page and is_found(old.object) == is_finding), None
        )
        self.lines.setdefault(page, []).append(Line(fact, there, fact.id in self.settled))
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

    def _take_line(self, fact: Fact) -> None:
        if fact.path is not None:
            self.lines.setdefault(fact.path, []).append(Line(None, fact))

    def _go(self, facts: Sequence[Fact], by: Fact) -> None:
        """What is over, and whose place another fact took elsewhere."""
        for old in self._over(facts, by.valid_from or "", by.id):
            self._take_line(old)

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
