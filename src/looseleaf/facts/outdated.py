"""Sentences that were true and are not any more: those whose fact was superseded, ended or rejected, known again by the
words that the fact is from. One that also says what is true stays."""

from __future__ import annotations

from looseleaf.text.lines import NOTE, undoubted

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from looseleaf.base.values import Fact

_TELLING = 8
"""Characters of a quote by which a sentence is known again; fewer stand in many."""


def over_and_now(known: Iterable[Fact]) -> tuple[list[Fact], list[Fact]]:
    """Of facts, those that are over and those that are current. A note may say again what others say, and vouches for
    none of it but itself."""
    facts = list(known)
    now = [fact for fact in facts if fact.status == "current"]
    told = {undoubted(fact.object) for fact in now if fact.relation == NOTE}
    over = [fact for fact in facts if fact.status in ("superseded", "rejected")]
    over = [fact for fact in over if fact.relation != NOTE or undoubted(fact.object) not in told]
    return over, [fact for fact in now if fact.relation != NOTE]


def outdated_by(over: Iterable[Fact], now: Iterable[Fact]) -> Callable[[str], bool]:
    """Tells of a sentence whether it is outdated."""
    gone = list(over)
    past, present = _quotes(gone), _quotes(now)
    values = {(_plain(fact.quote or ""), _plain(undoubted(fact.object))) for fact in gone}

    def is_said_of(words: str) -> bool:
        """Whether it is the part of such words that says the value."""
        return (
            len(words) >= _TELLING
            and any(
                len(value) > 1 and stands_in(words, quote) and stands_in(value, words)
                for quote, value in values
            )
            and not any(stands_in(words, quote) for quote in present)
        )

    def is_outdated(sentence: str) -> bool:
        words = _plain(sentence)
        return (any(stands_in(quote, words) for quote in past) or is_said_of(words)) and not any(
            stands_in(quote, words) for quote in present
        )

    return is_outdated


def stands_in(quote: str, words: str) -> bool:
    """Whether it is there as words of its own: "I like tea" is not in "I like teaching"."""
    at = words.find(quote)
    while at >= 0:
        end = at + len(quote)
        if not (words[at - 1 : at].isalnum() or words[end : end + 1].isalnum()):
            return True
        if not quote[:1].isascii():
            return True  # of a script without spaces nobody can tell
        at = words.find(quote, at + 1)
    return False


def _quotes(facts: Iterable[Fact]) -> list[str]:
    quotes = {_plain(fact.quote) for fact in facts if fact.quote}
    return sorted(quote for quote in quotes if len(quote) >= _TELLING)


def _plain(text: str) -> str:
    return " ".join(text.casefold().split())
