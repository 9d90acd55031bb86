"""Forms of English clauses: how one is written down, and the table they make together.

A form is matched against a whole clause, so that what stands in the middle of something else is not taken for it.
"""

from __future__ import annotations

import re

from looseleaf.core.lazy import lazy
from looseleaf.frozen import frozen

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from looseleaf.distill.english.clauses import Clause

    Read = Callable[[re.Match[str], Clause], Iterator["Found"]]


@frozen
class Found:
    """A fact of a clause, before it has a shape."""

    relation: str
    object: str
    was: str | None = None
    ended: bool = False
    correction: bool = False
    topic: str = "user"


NAME = (
    r"(?-i:[^\W\d_a-zß-öø-ÿ][\w'.-]*(?: (?:(?:van|von|de|der|den|da|di|del|la|le|bin|al|ten|ter) "
    r")*[^\W\d_a-zß-öø-ÿ][\w'.-]*){0,3})"
)
FEEL = (
    r"(?:really |absolutely |quite |also |totally |just |honestly |particularly |especially |mostly |do "
    r"|rather |truly )*"
)
HEDGE = (
    r"(?:,? (?:by the way|btw|now|too|though|actually|as well|already|these days|at the moment|right "
    r"now|currently|"
)
HEDGE += (
    r"for now|for a living|by trade|by profession|by training|myself|again|here|today|please|haha|hands "
    r"down|of course|anyway))*"
)
IM = r"i(?:'m| am|m|'ve been| have been)(?: also| now| currently| actually| just| already| still)*"
IVE = r"i(?:'ve| have)?(?: also| now| currently| actually| just| recently| finally)*"
HAVE = r"i(?:'ve got| have got| have| got|'ve)(?: also| now)?"
SEPARATE = lazy(r",? (?:and|&|or) |, ", re.IGNORECASE)
_CUT = lazy(
    r",? (?:because|since|so|which|who|that|but|though|although|if|when|while|where|hands down|please|"
    r"thanks|thank you|btw|"
    r"by the way|these days|at the moment|right now|for now|currently|nowadays|anymore|any more|actually|"
    r"haha+|too|as well|"
    r"already|of course|anyway|to be honest|tbh|in case|until|unless|as long as|not|even|like crazy|a lot|"
    r"very much|so much|"
    r"the most|mostly|just|in particular|for everything|hence|thus|due to|thanks to|after|before|during|"
    r"now|then|lately|"
    r"recently|and (?:i|my|we|it|so|that|then)|for (?:years|ages|a while|now|my)|more than anything|with "
    r"(?:all )?my)\b.*\Z",
    re.IGNORECASE | re.DOTALL,
)


WISHED = {
    "answered": "answer",
    "kept": "keep",
    "used": "use",
    "wrote": "write",
    "gave": "give",
    "asked": "ask",
    "replied": "reply",
    "explained": "explain",
    "spoke": "speak",
    "stuck": "stick",
    "stopped": "stop",
    "didn't": "don't",
}
"""What somebody wishes that the other did, as an order."""
_LISTS = lazy(r"\b(?:and|or|&)\b|\d", re.IGNORECASE)


_GOES_ON = lazy(
    r"(?:,| -| –|;) (?:[\w'.-]+ ){1,3}?(?:is|are|was|were|will|would|has|have|had|can|can't|could|won't|"
    r"isn't|aren't|doesn't|"
    r"don't|didn't|makes|took|takes|gets|found|read|needs|works|keeps|feels|seems|looks)\b.*\Z|"
    r", (?:didn't|did not|won't|"
    r"never|nobody|doesn't|almost|still|thank|luckily|finally)\b.*\Z",
    re.IGNORECASE | re.DOTALL,
)
"""After a comma, something with a verb of its own: another sentence."""


def cut(words: str) -> str:
    """Without reasons, side remarks and politeness at its end."""
    words = _GOES_ON.sub("", words)
    words = re.sub(
        r", (?:\w+ly|[a-z][a-z' ]{0,24})\Z"
        if words.count(",") == 1 and not _LISTS.search(words)
        else r", \w+ly\Z",
        "",
        _CUT.sub("", " " + words.strip()).strip(" ,.!"),
    )
    return re.sub(r"\A(?:an?|the|some|my|our) ", "", words, flags=re.IGNORECASE) if words else ""


def first_part(words: str) -> str:
    return cut(words).split(",")[0].strip()


def listed(words: str) -> list[str]:
    if "," in words and not re.search(r" (?:and|or|&) ", words, re.IGNORECASE) and words.count(",") < 2:
        words = words.split(",", maxsplit=1)[0]  # a remark, no list
    return [part for part in (cut(each) for each in SEPARATE.split(words)) if part]


def capital(words: str) -> bool:
    return words[:1].isupper() or not words[:1].isascii()


# --- forms -----------------------------------------------------------------------------

_JEST = lazy(
    r"(?:mondays?|work|bullshit|meetings?|mornings?|people|nonsense|stupidity|exercise|effort|bad code|you|"
    r"him|her|them|it|fun|sarcasm|procrastination|overthinking|napping|drama|adulting|vegetables)\Z",
    re.IGNORECASE,
)


def own(match: re.Match[str], clause: Clause, group: str | int = "o") -> str:
    """The speaker's own words where a group matched."""
    start, end = match.span(group)
    return clause.own[start:end].strip() if start >= 0 else ""


class Forms:
    """A table of forms, in the order in which they are tried."""

    def __init__(self) -> None:
        self.all: list[tuple[re.Pattern[str], Read]] = []

    def form(self, pattern: str) -> Callable[[Read], Read]:
        """A form that is read by the function below it."""

        def add(read: Read) -> Read:
            self.all.append((lazy(pattern, re.IGNORECASE), read))
            return read

        return add

    def plain(self, relation: str, *patterns: str, shape: Callable[[str], str] = cut) -> None:
        """Forms whose object is one stretch of the clause."""

        def read(match: re.Match[str], clause: Clause) -> Iterator[Found]:
            words = shape(own(match, clause))
            if words:
                yield Found(relation, words)

        self.each(read, *patterns)

    def many(self, relation: str, *patterns: str) -> None:
        """Forms whose object is a list: a fact for each."""

        def read(match: re.Match[str], clause: Clause) -> Iterator[Found]:
            for each in listed(own(match, clause)):
                each = re.sub(r"\A(?:some|a little|little|a bit of|bit of|fluent|basic) ", "", each)
                if not _JEST.match(each):
                    yield Found(relation, each)

        self.each(read, *patterns)

    def each(self, read: Read, *patterns: str) -> None:
        self.all.extend((lazy(pattern, re.IGNORECASE), read) for pattern in patterns)
