"""What plans and events of English clauses share: dates written out, words trimmed, what is too slight to be kept."""

from __future__ import annotations

import re

from looseleaf.core.dates import found as dates_in
from looseleaf.core.lazy import lazy
from looseleaf.frozen import frozen

TYPE_CHECKING = False
if TYPE_CHECKING:
    from looseleaf.core.dates import Dated
    from looseleaf.distill.english.clauses import Clause
    from looseleaf.values import TimeSpan

_I = re.IGNORECASE


@frozen
class Timed:
    """A commitment or an event, with the dates its words name."""

    relation: str
    object: str
    first: str | None = None
    last: str | None = None
    span: TimeSpan | None = None
    correction: bool = False


_BEGINS = lazy(
    r"\b(?:moved|relocated|emigrated|started|joined|switched|changed|got|landed|took|accepted|became|hired|"
    r"promoted|settled|went|turned|been)\b.*",
    _I | re.DOTALL,
)
_SINCE = lazy(r"\bsince\b.{1,40}", _I)


def since(words: str, ts: float) -> str | None:
    """The first day of when something began that goes on: what "since" names, or the day of the change."""
    from datetime import UTC, datetime

    said = _SINCE.search(words) or _BEGINS.search(words)
    found = dates_in(said[0], ts, past=True) if said else []
    if not found:
        return None
    today = datetime.fromtimestamp(ts, UTC).date().isoformat()
    return found[0].first if found[0].first <= today else None


_BEFORE_DATE = lazy(
    r"\b(?:on|in|by|until|till|since|from|before|after|around|for|of|at|to|early|late|mid|during|between|"
    r"and)\s*\Z",
    _I,
)


def written_out(
    words: str, ts: float, *, past: bool = False, every: bool = False
) -> tuple[str, str | None, str | None]:
    """(the words with absolute dates, the first day they name, the last one)."""
    parts: list[str] = []
    end = 0
    found = dates_in(words, ts, past=past)
    for dated in found:
        if dated.is_relative or (every and dated.first == dated.last):
            before = _with_first(words[end : dated.start], dated)
            written = _named(dated.written)
            needs = (
                ""
                if _BEFORE_DATE.search(before)
                else "on "
                if dated.first == dated.last or "weekend" in written
                else "in "
            )
            parts += [before, needs + written]
            end = dated.end
    text = " ".join("".join((*parts, words[end:])).split())
    return text, (found[0].first if found else None), (found[-1].last if found else None)


_FROM_DAY = lazy(
    r"\b(from|between) (?:the )?([0-9]{1,2})(?:st|nd|rd|th)? (to|until|till|through|and|-|"
    r"–) ?(?:the )?\Z",
    _I,
)


def _with_first(before: str, dated: Dated) -> str:
    """Of "from 20 to 27 December" the first day too."""
    match = _FROM_DAY.search(before)
    if match is None or dated.first != dated.last or not 0 < int(match[2]) < int(dated.first[8:]):
        return before
    return f"{before[: match.start()]}{match[1]} {dated.first[:8]}{int(match[2]):02d} {match[3]} "


_MONTHS = "January February March April May June July August September October November December".split()


def _named(written: str) -> str:
    """A month by its name, as people write it."""
    return (
        f"{_MONTHS[int(written[5:]) - 1]} {written[:4]}"
        if re.fullmatch(r"[0-9]{4}-[0-9]{2}", written)
        else written
    )


IDLE = lazy(
    r"(?:milk|groceries|lunch|dinner|coffee|it|this|that|them|you|him|her|a ton|a lot|so much|lots|"
    r"the (?:same|tests?|server|script|build|"
    r"app|job|program|query|command|code|"
    r"meeting|call|computer|benchmark)|an? (?:error|question|problem|issue|warning|message|"
    r"timeout|crash|bug|look|reply|mail|email|404|notification|"
    r"exception|segfault|try|go|test)|going to (?:bed|sleep|the (?:shop|store|toilet))|be right back|do "
    r"(?:it|this|that)|try|check|see|look|"
    r"use|fix|ask|tell|test|think|need|have to|get (?:some|back)|sleep|go (?:now|home|to bed|ahead)|send "
    r"you|show|give you|paste|start (?:by|with)|"
    r"assume|explain|be (?:back|late|honest|there|out|in|busy|afk))\b",
    _I,
)


def owned(match: re.Match[str], clause: Clause, group: str) -> str:
    if group not in match.re.groupindex:
        return ""
    start, end = match.span(group)
    return clause.own[start:end].strip() if start >= 0 else ""


def trimmed(words: str) -> str:
    """Like `cut`, but what follows "before", "after" and "now" may be part of a date."""
    words = re.sub(
        r",? (?:because|since i|so (?:i|we|my|the|it|that|don't|please|typing)|which|but|though|although|"
        r"if|while|please|thanks|btw|"
        r"by the way|haha+|too|as well|of course|anyway|and (?:i|my|we|it|so|then)|fingers crossed|wish me "
        r"luck|in case|can't wait|"
        r"(?:can|could|would|will) you|(?:remind|wake|tell|help|let|show|give|ask|book|order|call|text|ping) (?:me|us)|"
        r"and (?:can't|am|was|had|it)|unfortunately|sadly|finally|at last|hopefully|not that)\b.*\Z",
        "",
        " " + words,
        flags=_I | re.DOTALL,
    ).strip(" ,.!")
    words = re.sub(r"\A(?:an?|the) |,? (?:now|myself|right now|lately|these days)\Z", "", words, flags=_I)
    return re.sub(
        r"\b(broke|sold|lost|finished|quit|left|got|started|passed|had|defended|renew|finish|see) my\b",
        r"\1",
        words,
        flags=_I,
    )
