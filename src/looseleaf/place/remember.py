"""Remember: what a person says to the memory itself becomes memory now, as the person's own word.

Facts that the rules read in it are placed like any others, and are confirmed. Every sentence that says more than they
do is kept as it was said: a note, which is a bullet on the page of its topic. Only a greeting is passed over, and told.
"""

from __future__ import annotations

from looseleaf.core.adding import stated, with_facts
from looseleaf.core.gate import LONGEST, judge
from looseleaf.core.heads import PERSON
from looseleaf.core.lines import NOTE
from looseleaf.core.moments import moment
from looseleaf.core.placing import PROJECT, USER
from looseleaf.core.sentences import is_phatic
from looseleaf.core.unread import Read, unread_in
from looseleaf.errors import Refused
from looseleaf.frozen import frozen
from looseleaf.place.material import witnesses_of
from looseleaf.place.write import Write
from looseleaf.talk import Distilled, Proposal

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from looseleaf.core.gate import Witness
    from looseleaf.pages import Pages
    from looseleaf.place.notebook import Notebook
    from looseleaf.place.place import Placed
    from looseleaf.talk import Material
    from looseleaf.values import Receipt, Record

_MOST = 40
"""Sentences that become a note each; more of them are a text, and one note."""


@frozen
class Remembered:
    """What became of it: facts and notes that were placed, the edit that noted the `rest` (or all of it), the greetings
    that were passed over, and whether a secret was taken out before."""

    placed: Placed | None
    noted: Receipt | None
    rest: tuple[str, ...] = ()
    passed_over: tuple[str, ...] = ()
    redacted: bool = False

    def to_dict(self) -> dict[str, Any]:
        placed = {"entry": None, "outcomes": []} if self.placed is None else self.placed.to_dict()
        noted = self.noted.to_dict() if self.noted is not None else None
        more = {"rest": list(self.rest), "passed_over": list(self.passed_over), "redacted": self.redacted}
        return placed | {"noted": noted} | more


class WriteAll(Write):
    """Writing by the rules, with a note for every sentence that they did not read all of, if they read any."""

    def make(self, material: Material) -> tuple[Distilled, str, tuple[str, ...]]:
        made, name, failures = super().make(material)
        witnesses = witnesses_of(material.traces())
        unread = unread_in("\n".join(each.text for each in witnesses), map(_read_of, made.facts))
        notes = [_proposal(each) for each in unread if not is_phatic(each)] if made.facts else []
        # What is asked or only thought is no fact to the gate: those are noted by an edit.
        sure = [each.to_dict() for each in notes if _is_sure(each, witnesses)]
        if not sure or len(notes) > _MOST:
            return made, name, failures
        kept: dict[str, Any] = {each: getattr(made, each) for each in Distilled.__match_args__}
        return Distilled(**kept | {"facts": (*made.facts, *sure)}), name, failures


def remember(
    book: Notebook, pages: Pages, text: str, topic: str | None = None, *, redacted: bool = False
) -> Remembered:
    """`redacted`: a secret was taken out of the text before."""
    said = text.strip()
    if not any(map(str.isalnum, said)):
        raise Refused("Nothing was remembered: there are no words in it. Say what is to be remembered.")
    if topic is not None and not any(map(str.isalnum, topic)):
        raise Refused(f"Nothing was remembered: {topic!r} is no name for a topic. Give a word or two.")
    placed = book.making.remember(said, topic)
    kept = [_read_of(each.fact.to_dict()) for each in placed.outcomes if each.act != "drop"] if placed else []
    if not kept:
        return Remembered(placed, _noted(book, pages, topic, _whole(said)), redacted=redacted)
    left = unread_in(said, kept)
    greetings = tuple(each for each in left if is_phatic(each))
    notes = [each for each in left if each not in greetings]
    if len(notes) > _MOST:
        notes = [" ".join(notes)]
    facts = [fact for each in notes for fact in _whole(each)]
    noted = _noted(book, pages, topic, facts) if facts else None
    return Remembered(placed, noted, tuple(notes), greetings, redacted)


def _noted(book: Notebook, pages: Pages, topic: str | None, facts: list[tuple[str, str]]) -> Receipt:
    path = book.making.page_of(USER if topic is None else topic)
    return pages.edit(path, lambda old: with_facts(path, old, facts), reason="remembered", author=PERSON)


def _whole(said: str) -> list[tuple[str, str]]:
    """As facts that its lines state, or else as one note."""
    line = _flat(said)
    return stated(said) or stated(line) or [(NOTE, line.lstrip("#>-*+ \t") or line)]


def _proposal(sentence: str) -> Proposal:
    """Of the topic that was given, which is the entry's."""
    relation, said = (stated(sentence) or [(NOTE, sentence)])[0]
    return Proposal(relation, said, sentence, topic=PROJECT)


def _is_sure(proposal: Proposal, witnesses: Sequence[Witness]) -> bool:
    return len(proposal.object) <= LONGEST and judge(proposal, witnesses).level == "confirmed"


def _read_of(fact: Record) -> Read:
    began = moment(fact.get("valid_from"))
    said_at = fact.get("entry_ts")
    # What has no date of its own holds from when it was said.
    is_dated = bool(fact.get("valid_to")) or (
        began is not None and (said_at is None or abs(began - said_at) > 1)
    )
    quote, said = _flat(str(fact.get("quote") or "")), str(fact.get("object") or "")
    return Read(quote, said, is_dated, fact.get("relation") == NOTE)


def _flat(text: str) -> str:
    return " ".join(text.split())
