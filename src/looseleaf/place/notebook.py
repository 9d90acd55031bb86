"""The notebook of a memory: its facts, and the words behind them."""

from __future__ import annotations

from looseleaf.base.errors import Invalid, NotFound, Outdated, Refused
from looseleaf.base.immutable import frozen
from looseleaf.base.paths import PROFILE, USER
from looseleaf.base.values import KINDS
from looseleaf.facts.identity import STATUSES
from looseleaf.facts.ledger import true_at
from looseleaf.log.journal import UNKNOWN

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator
    from typing import Any

    from looseleaf.base.messages import Trace
    from looseleaf.base.values import Edit, Fact
    from looseleaf.place.placer import PlacerNeeds
    from looseleaf.store.context import Context

    EditsOf = Callable[[str, str], Iterator[Edit]]
    """Yields the edits of a page, newest first, at least the one of an id."""


_STATUSES = (*STATUSES, "forgotten")


@frozen
class FactSource:
    """Words behind a fact: where they stand, whose they are, and their text."""

    source: str
    origin: str
    ts: float | None
    text: str
    person: str = ""
    """Who said it, where several people are told apart."""

    def to_dict(self) -> dict[str, Any]:
        told = {"source": self.source, "origin": self.origin, "ts": self.ts, "text": self.text}
        return told | ({"person": self.person} if self.person else {})


def is_unexplained(fact: Fact) -> bool:
    """Return True for a line of an unknown author, which may be a person's; one that an agent signed is not."""
    is_line = fact.status == "current" and fact.path is not None
    return is_line and fact.origin == UNKNOWN and fact.level == "inferred"


def in_order(facts: list[Fact]) -> list[Fact]:
    """Return the user's facts first, then topic by topic, in the order of the pages."""
    facts.sort(
        key=lambda fact: (
            fact.topic != USER,
            fact.topic,
            fact.path or "~",
            fact.line or 0,
            fact.valid_from or "",
            fact.id or "",
        )
    )
    return facts


class Notebook:
    """Reads the facts, after taking in what changed in the folder."""

    def __init__(self, context: Context, parts: PlacerNeeds) -> None:
        self._store, self._note = context.store, context.note
        self._agent = context.agent
        self._parts = parts
        self._current: tuple[object, tuple[Fact, ...]] = (None, ())
        """What is true now, in order; and the state of the facts when it was made."""

    def catch_up(self, topic: str | None = None) -> None:
        """Take in what changed in the folder; of a topic alone, if its own pages did not change."""
        own = [PROFILE] if topic == USER else []
        try:
            if topic is None or not self._parts.pages.are_absorbed(*own, f"facts/{topic}.md"):
                self._parts.pages.absorb()
            self._parts.known.catch_up()
            if not self._store.reads_only and self._parts.known.is_unsettled():
                self._parts.placer.settle()
        except Outdated:
            raise
        except Refused as refused:  # a full or read-only disk stops no reader
            self._note(str(refused))
            self._parts.known.catch_up()

    def facts(
        self,
        *,
        topic: str | None = None,
        kind: str | None = None,
        status: str = "current",
        as_of: float | None = None,
    ) -> list[Fact]:
        """Return what is true now, or was at a time; or, by `status`, facts that wait, are past, or were rejected."""
        if status not in _STATUSES:
            raise Invalid(f"{status!r} is not a status of facts. Give one of {', '.join(_STATUSES)}.")
        if kind is not None and kind not in KINDS:
            raise Invalid(f"{kind!r} is not a kind of facts. Give one of {', '.join(KINDS)}.")
        if topic is not None and not isinstance(topic, str):
            raise Invalid(f"{topic!r} is not a topic. Give its name.")
        self.catch_up(topic)
        if (topic, kind, as_of, status) == (None, None, None, "current"):
            return list(self._find_current())
        known = self._parts.known
        topics = [topic] if topic is not None else known.waiting_topics() if status == "pending" else None
        found = known.all(topics)
        if as_of is not None:  # a fact true then was current then
            found = [
                fact
                if fact.status == "current" and fact.superseded_by is None
                else fact.but(status="current", superseded_by=None)
                for fact in true_at(found, as_of)
            ]
        elif status == "current":
            found = true_at(found)
        else:
            found = [fact for fact in found if fact.status == status]
        return in_order([fact for fact in found if kind is None or fact.kind == kind])

    def _find_current(self) -> tuple[Fact, ...]:
        """Return what is true now. It is kept at hand: every screen asks for it, some more than once."""
        known = self._parts.known
        state, facts = self._current
        if state != known.state:
            facts = tuple(in_order(true_at(known.all())))
            self._current = known.state, facts
        return facts

    def of_topics(self, topics: Collection[str] | None = None) -> list[Fact]:
        """Return the facts of topics (None: of all), whatever their status: those that are true now first."""
        self.catch_up()
        known = self._parts.known
        waiting = known.waiting_topics()
        found = known.all(topics)
        by_status: dict[str, list[Fact]] = {"current": true_at(found)}
        for fact in found:
            if fact.status != "current" and (fact.status != "pending" or fact.topic in waiting):
                by_status.setdefault(fact.status, []).append(fact)
        return [fact for status in _STATUSES for fact in in_order(by_status.get(status, []))]

    def unexplained(self) -> list[Fact]:
        """Return the lines that the journal does not explain, and that no person has vouched for."""
        return list(filter(is_unexplained, self.facts()))

    def find(self, name: str) -> Fact:
        self.catch_up()
        return self._parts.known.find(name)

    def named(self, ids: Collection[str]) -> dict[str, Fact]:
        """Return the facts of these ids, as far as they are there."""
        self.catch_up()
        return self._parts.known.named(ids)

    def history(self, name: str) -> list[Fact]:
        """Return every value that a fact's slot ever had, oldest first."""
        from looseleaf.language.relations import slot

        fact = self.find(name)
        address = slot(fact.topic, fact.relation)
        held = self._parts.known.of(fact.topic)
        found = [each for each in held if slot(each.topic, each.relation) == address]
        return sorted(found, key=lambda each: (each.valid_from or "", each.recorded_at or 0.0, each.id or ""))

    def sources(self, fact: Fact, edits: EditsOf | None = None) -> list[FactSource]:
        """Return the words behind a fact, from the log. `edits` finds an edit of a page, if there is a quicker way."""
        from looseleaf.distill.make_entry import sources_of
        from looseleaf.log.entries import FOLDER, read_entry

        # Written text is in an entry; a fact that was written again has a different entry each time.
        written = (name.partition("/raw.md#") for name in fact.sources)
        entries = [entry.removeprefix(f"{FOLDER}/") for entry, is_raw, _ in written if is_raw]
        said: dict[str, Trace] = {}
        for entry in dict.fromkeys((*([fact.entry_id] if fact.entry_id is not None else ()), *entries)):
            try:
                found = sources_of(self._store, read_entry(self._store, entry))
                said |= {trace.id: trace for trace in found}
            except NotFound:
                name = entry.rpartition("/")[2]
                self._note(f"The entry {name} is gone from the log. `looseleaf check` says what to do.")
            except Refused as refused:
                self._note(str(refused))
        return [self._read_source(name, said, edits) for name in fact.sources]

    def _read_source(self, name: str, said: dict[str, Trace], edits: EditsOf | None) -> FactSource:
        from itertools import chain

        from looseleaf.base.messages import Trace
        from looseleaf.log.talk_streams import edits_elsewhere, talk_streams
        from looseleaf.log.turns import find_by_id, trace_text

        if name in said:
            each = said[name]
            return FactSource(name, each.origin, each.ts, trace_text(each), each.person or "")
        page, at, edit_id = name.partition("@")
        if at:
            own = edits(page, edit_id) if edits is not None else self._parts.pages.log(page)
            every = chain(own, edits_elsewhere(self._store))
            edit = next((each for each in every if each.id == edit_id), None)
            if edit is not None:
                added = "".join(line for hunk in edit.hunks for line in hunk.added)
                return FactSource(name, edit.author, edit.ts, added.strip(), edit.person or "")
        lines = (find_by_id(self._store, each, name) for each in talk_streams(self._store, self._agent))
        traces = (Trace.from_record(line.record) for line in lines if line is not None)
        found = next((trace for trace in traces if trace is not None), None)
        if found is not None:
            return FactSource(name, found.origin, found.ts, trace_text(found), found.person or "")
        return FactSource(name, "", None, "")
