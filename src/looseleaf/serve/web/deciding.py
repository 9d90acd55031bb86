"""A person's decisions on facts, as forms post them: each is told in a sentence, with what takes it back."""

from __future__ import annotations

from looseleaf.base.errors import Invalid, Refused
from looseleaf.base.immutable import frozen
from looseleaf.serve.web.forms import Note
from looseleaf.serve.web.render import shown
from looseleaf.serve.web.wording import cut
from looseleaf.store import JOURNAL
from looseleaf.text.lines import worded

TYPE_CHECKING = False
if TYPE_CHECKING:
    from looseleaf.base.values import Fact
    from looseleaf.memory import Memory
    from looseleaf.serve.web.forms import Form

DECISIONS = ("confirm", "reject", "correct", "pin", "unpin", "score")
"""What a person may say of a fact."""
_CHANGES = ("edit", "fact", "placed")


@frozen
class Decided:
    """What was decided: the fact as it is now, a sentence, and the newest change of the journal, which an undo takes
    back; "" where none can."""

    fact: Fact
    sentence: str
    last: str

    def note(self, home: str, back: str) -> Note:
        """Return what the next screen says."""
        if not self.last:
            return Note(self.sentence)
        return Note(self.sentence, f"{home}/undo", (("after", self.last), ("back", back)))


def decide(memory: Memory, act: str, name: str, form: Form) -> Decided:
    """Do what a person says about a fact."""
    before, review = newest(memory), memory.review
    match act:
        case "confirm":
            fact = review.approve(name, where="home" if form["where"] == "home" else None)
            told = "Confirmed"
        case "reject":
            fact, told = review.reject(name), "Rejected"
        case "correct":
            fact, told = review.correct(name, form["text"], here=form["here"] == "on"), "Corrected"
        case "pin" | "unpin":
            fact = review.pin(name, pinned=act == "pin")
            told = "Pinned among the essentials" if act == "pin" else "No longer pinned"
        case "score":
            fact = review.score(name, _score_of(form["score"]))
            told = f"Scored {fact.user_fact_score:g} of 10"
        case _:
            raise Invalid(f"Nothing was decided: {act[:20]!r} is not one of {', '.join(DECISIONS)}.")
    last = newest(memory)
    if last == before:
        return Decided(fact, f"It was so already: {_words(fact)}", "")
    return Decided(fact, f"{told}: {_words(fact)}", "" if fact.layer else last)


def _score_of(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise Invalid(f"Nothing was scored: {text[:20]!r} is not a number from 0 to 10.") from None


def _words(fact: Fact) -> str:
    return shown(cut(worded(fact.relation, fact.object)))


def newest(memory: Memory) -> str:
    """Return the id of the last change of pages or facts in the journal."""
    lines = memory.parts.context.store.read_back(JOURNAL)
    return next((str(each.record["id"]) for each in lines if each.record.get("kind") in _CHANGES), "")


def undo(memory: Memory, after: str) -> str:
    """Undo the last change, if it is the one that a person saw; return a sentence."""
    if not after or newest(memory) != after:
        raise Refused(
            "Nothing was undone: more has been written since. Each fact and each page has its history, which leads "
            "back too."
        )
    edit, _ = memory.history.undo(author="person")
    return f"Undone: {edit.reason} ({edit.path})"
