"""Then: the real code that places entries, in the world that is lived again; and what an entry had to do with there."""

from __future__ import annotations

from functools import cached_property

from looseleaf.base.errors import Refused
from looseleaf.base.page_paths import STATE
from looseleaf.facts.gate import proposal_of
from looseleaf.facts.known_facts import Facts
from looseleaf.facts.placement import PROJECT, USER
from looseleaf.facts.tombstones import fact_text
from looseleaf.forget.rebase_edits import state_of
from looseleaf.forget.remake_entries import topic_of_proposal
from looseleaf.log.entries import read_entry
from looseleaf.log.journal import Broken, edit_of, forward
from looseleaf.pages.grammar import topic_of
from looseleaf.pages.pages import Pages
from looseleaf.place.placer import Place
from looseleaf.state.rules import highest_id, items_of
from looseleaf.state.state import State

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence
    from typing import Any

    from looseleaf.base.policy import Policy
    from looseleaf.base.values import Edit, Ended, Fact, Record
    from looseleaf.forget.world import World


class Then:
    """What is placed and known in a world, up to where it was lived. `notes` says what could not be done."""

    def __init__(self, world: World, policy: Policy) -> None:
        self._world = world
        self._policy = policy
        self.notes: list[str] = []

    @cached_property
    def place(self) -> Place:
        world = self._world
        pages = Pages(world, self._policy, "main", self.notes.append)
        facts = Facts(world, pages.absorb.head_bytes, trusts=self._policy.trust_external_edits)
        state = State(world, pages, self._policy, _same, _guessed, self.notes.append, lambda: place)
        place = Place(world, pages, facts, self.notes.append, lambda: state)
        return place

    def facts(self) -> list[Fact]:
        """All facts, past and waiting ones too."""
        self.place.facts.catch_up()
        return self.place.facts.all()

    def same_as(self, was: Fact | None) -> Fact | None:
        """The fact that says the same as one that would not have been: a person's word is on what it says."""
        if was is None:
            return None
        text = fact_text(was.topic, was.relation, was.object)
        self.place.facts.catch_up()
        for fact in self.place.facts.of(was.topic):
            is_held = fact.status in ("current", "pending")
            if is_held and fact_text(fact.topic, fact.relation, fact.object) == text:
                return fact
        return None

    def ended(self, path: str, lines: Sequence[str], edit: Edit) -> tuple[Ended, ...]:
        """The facts of these lines, ended by what an edit ended others by."""
        if not lines or not edit.ended:
            return ()
        self.place.facts.catch_up()
        _, when, by = edit.ended[0]
        return tuple(
            (fact.id or "", when, by)
            for fact in self.place.facts.of(topic_of(path))
            if fact.status == "current" and f"{fact.relation}: {fact.object}" in lines
        )

    def summarised(self, path: str, data: bytes, facts: tuple[Record, ...]) -> bytes:
        """With a summary by rule, where the one that was there is the program's."""
        self.place.facts.catch_up()
        try:
            return self.place.summarised(path, data.decode(), facts).encode()
        except (UnicodeDecodeError, Refused):
            return data


def said_in(record: Record) -> set[str]:
    """The topics that a record of a placing speaks of."""
    found = {str(record.get("topic")), *(str(each[0]) for each in record.get("restated", ()))}
    for name in ("raised", "history"):
        found |= {str(each.get("topic")) for each in record.get(name, ())}
    return found | {str(each.get("topic")) for _, each in record.get("retold", ())}


def touched(world: World, record: Record, topics: Callable[[str], str]) -> set[str]:
    """The topics that placing an entry looked at, as far as it matters; and the state, if it is moved."""
    own = str(record.get("topic"))
    found = said_in(record) | {str(each.get("topic")) for each in record.get("dropped", ())}
    try:
        entry = read_entry(world, str(record.get("entry")))
    except Refused:
        return found
    for raw in entry.summary.get("facts", ()):
        proposal = proposal_of(raw)
        if proposal is not None:
            found.add(topic_of_proposal(topics, proposal, own))
    if entry.summary.get("decisions") or entry.summary.get("tasks"):
        found |= {STATE, USER, PROJECT}
    return found


def highest_of(journal: Iterable[Record], name: str) -> int:
    """The highest number of an id that a list of the state ever had."""
    page: bytes | None = None
    highest = 0
    for record in journal:
        edit = edit_of(record) if record.get("path") == STATE else None
        if edit is not None:
            try:
                page = forward(edit, page)
            except Broken:
                page = None
            highest = max(highest, highest_id(items_of(state_of(page) or {}, name)))
    return highest


def _same(value: Any) -> Any:
    """What is read again had its secrets taken out when it was written."""
    return value


def _guessed(text: str) -> int:
    from looseleaf.models.tokens import estimate

    return estimate(text)
