"""Remembering: a person's words to the memory itself become memory now, as the person's own word.

Facts that the rules read in them are placed like any others, and are confirmed; so is every sentence that says more, in
its own words. Text that makes no line (too long, or one of too many) is noted by an edit of the page. Only a greeting
is skipped, and reported.
"""

from __future__ import annotations

from functools import partial

from looseleaf.base.errors import Invalid, Refused
from looseleaf.base.immutable import frozen
from looseleaf.base.origins import may_forbid
from looseleaf.distill.make_entry import MOST_NOTES
from looseleaf.distill.wording import NOTE_CHARS
from looseleaf.facts.placement import USER
from looseleaf.language.sentences import is_phatic, sentences
from looseleaf.log.journal import PERSON
from looseleaf.pages.line_edits import stated, with_facts
from looseleaf.text.lines import NOTE

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Protocol

    from looseleaf.base.values import Receipt
    from looseleaf.pages.pages import Pages
    from looseleaf.place.distill_and_place import MemoryMaker
    from looseleaf.place.placer import Placed

    class Needs(Protocol):
        @property
        def making(self) -> MemoryMaker: ...
        @property
        def pages(self) -> Pages: ...


_FORBIDS = 0.9
"""From this chance on, a sentence given to be remembered says not to remember it: it must be nearly sure."""


@frozen
class Remembered:
    """What became of it: placed facts and notes, the edit that noted the `rest` (or all of it), skipped greetings, and
    whether a secret was removed before."""

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


def _refuse_forbidden(said: str) -> None:
    """Refuse a mere order to forget, and text that surely says not to remember it."""
    if not may_forbid(said):
        return
    # The selector is loaded only for a possible prohibition.
    from looseleaf.distill.forbidding import forbidden
    from looseleaf.distill.selector import select

    found = forbidden(said)
    if found is None:
        return
    is_order = found.order is not None and len(found.words) == 1 and said == found.words[0]
    if is_order or (found.order is None and any(select(each).forbid >= _FORBIDS for each in found.words)):
        raise Refused(
            "Nothing was remembered: the text asks to forget something, or not to remember it. Leave that out, and the "
            "rest is kept; `looseleaf forget --match WORD` forgets."
        )


def remember(parts: Needs, text: str, topic: str | None = None, *, redacted: bool = False) -> Remembered:
    """Make memory of a person's own words. `redacted`: a secret was removed from the text before."""
    if type(text) is not str:
        raise Invalid(f"Nothing was remembered: {text!r} is not a text. Give words to remember.")
    said = text.strip()
    if not any(map(str.isalnum, said)):
        raise Invalid("Nothing was remembered: there are no words in it. Give words to remember.")
    if topic is not None and (type(topic) is not str or not any(map(str.isalnum, topic))):
        raise Invalid(f"Nothing was remembered: {topic!r} is not a topic name. Give a word or two.")
    if topic is None:
        _refuse_forbidden(said)
    placed = parts.making.remember(said, topic)
    outcomes = placed.outcomes if placed is not None else ()
    kept = [_flatten(each.fact.quote or "") for each in outcomes if each.act != "drop"]
    if not kept:
        return Remembered(placed, _note_rest(parts, topic, _facts_or_note(said)), redacted=redacted)

    def is_kept(sentence: str) -> bool:
        return len(sentence) <= NOTE_CHARS and any(sentence in one or one in sentence for one in kept)

    left = [each for each in map(_flatten, sentences(said)) if not is_kept(each)]
    greetings = tuple(each for each in left if is_phatic(each))
    notes = [each for each in left if each not in greetings]
    if len(notes) > MOST_NOTES:
        notes = [" ".join(notes)]
    facts = [fact for each in notes for fact in _facts_or_note(each)]
    noted = _note_rest(parts, topic, facts) if facts else None
    return Remembered(placed, noted, tuple(notes), greetings, redacted)


def _note_rest(parts: Needs, topic: str | None, facts: list[tuple[str, str]]) -> Receipt:
    path = parts.making.page_of(USER if topic is None else topic)
    change = partial(with_facts, path, facts=facts)
    return parts.pages.edit(path, change, reason="remembered", author=PERSON)


def _facts_or_note(said: str) -> list[tuple[str, str]]:
    """Return the facts that its lines state, or else one note."""
    line = _flatten(said)
    return stated(said) or stated(line) or [(NOTE, line.lstrip("#>-*+ \t") or line)]


def _flatten(text: str) -> str:
    return " ".join(text.split())
