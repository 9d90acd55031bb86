"""What English clauses say of time: plans, goals, appointments, deadlines and what happened.

Dates that depend on the day they were said on are written out.
"""

from __future__ import annotations

import re

from looseleaf.core.dates import found as dates_in
from looseleaf.distill.english_clauses import Clause
from looseleaf.distill.english_forms import cut
from looseleaf.distill.english_words import KIN_WORD
from looseleaf.frozen import frozen

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

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


_BEFORE_DATE = re.compile(
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
            before = words[end : dated.start]
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


_MONTHS = "January February March April May June July August September October November December".split()


def _named(written: str) -> str:
    """A month by its name, as people write it."""
    return (
        f"{_MONTHS[int(written[5:]) - 1]} {written[:4]}"
        if re.fullmatch(r"[0-9]{4}-[0-9]{2}", written)
        else written
    )


_IM = (
    r"(?:i(?:'m| am)|we(?:'re| are)|my (?:wife|husband|partner|family) and i(?: are)?)(?: also| now| "
    r"currently| actually| both)*"
)
_ING = {
    (base[:-1] if base.endswith("e") and base != "be" else base) + "ing": base
    for base in (
        "fly move visit go have take leave meet present give host attend drive defend launch release "
        "interview "
        "change retire hike spend buy speak join start travel celebrate perform marry teach exhibit sail "
        "climb cycle"
    ).split()
} | {"travelling": "travel", "getting": "get", "running": "run", "quitting": "quit", "swimming": "swim"}
_PLANS = tuple(
    re.compile(pattern, _I)
    for pattern in (
        r"(?:i|we)(?:'m| am|'re| are) off to (?P<f>.+)",
        (
            r"(?:i|we)(?:'m| am|'re| are)?(?: also| currently)? (?:plan|planning|intend|intending|aim to|"
            r"scheduled|set) (?:to|on) (?P<o>.+)"
        ),
        (
            r"(?:i|we)(?:'m| am|'re| are) planning (?P<n>(?:an?|our|my|the) (?:[\w-]+ ){0,3}?(?:trip|holiday|"
            r"vacation|wedding|party|move|visit|honeymoon|road trip|renovation|sabbatical|cruise|"
            r"conference|exhibition)\b.*)"
        ),
        r"(?:my|our|the) plan(?: for [\w ]+)? is to (?P<o>.+)",
        (
            r"(?:i|we)(?:'ve| have) (?:booked|signed up for|registered for|enrolled in|got tickets for|got "
            r"tickets to) (?P<b>.+)"
        ),
    )
)
_GOING_TO = re.compile(
    r"(?:i|we)(?:'m| am|'re| are| will|'ll) (?:going to |be (?=\w+ing)|finally )?(?P<o>.+)", _I
)
_GOALS = tuple(
    re.compile(pattern, _I)
    for pattern in (
        r"the goal is (?P<o>an? .+)",
        (
            r"i(?:'d| would) (?:really )?(?:like|love) to (?P<o>(?:become an?|learn (?!how|about|more|why|"
            r"what)|run a|climb|write a (?:book|novel)|live in|own a) ?.+)"
        ),
        (
            r"(?:my|our) (?:main |big |biggest |long-term |personal |next |current )?(?:goal|aim|dream|"
            r"target|"
            r"ambition|resolution|new year's resolution)(?: for [\w ]+| this year)? is(?: to)? (?P<o>.+)"
        ),
        (
            r"(?:i|we) (?:really |eventually |also |still )?(?:want|hope|would love|'d love|aim|am hoping|'m "
            r"hoping|am aiming|'m aiming) to (?P<o>(?:learn|become|run|write|lose|finish|read|get "
            r"(?:better|fit|into|a|my)|start|climb|visit|save|build|quit|stop|improve|publish|pass|swim|"
            r"cycle|complete|speak|travel|open|found|earn|retire|master) (?!this|that|it\b|with (?:the|"
            r"this)|by saying|working on the|the (?:test|build|script|server|app|file|code)|a (?:test|"
            r"query|function|script|regex|query|new (?:chat|conversation|topic|file|thread))).+)"
        ),
        (
            r"i(?:'m| am) (?:training|practising|practicing|studying|preparing|saving(?: up)?) for "
            r"(?P<t>(?!this\b|it\b).+)"
        ),
        (
            r"i(?:'m| am) (?:learning|trying to learn) (?P<l>(?!about|that|this|how|to\b|a lot|so|more|it\b|"
            r"from).+)"
        ),
        (
            r"i(?:'m| am) trying to (?P<o>(?:lose|quit|get fit|eat|drink|sleep|save|learn|read|cut|run|"
            r"exercise|become) .+)"
        ),
    )
)
_MEETING = (
    r"(?:appointment|meeting|interview|exam|check-?up|call|consultation|session|viewing|surgery|"
    r"operation|flight|date|lesson|class|presentation|hearing|visit|demo|reservation|scan|test "
    r"drive|driving test|job interview|doctor's|dentist's?|vet|haircut|physio|therapy|lunch|"
    r"dinner|standup|review|wedding|graduation|conference|concert|webinar|defen[cs]e|"
    r"physiotherapy|blood test|mri|driving lesson|parent-teacher evening)"
)
_APPOINTMENTS = tuple(
    re.compile(pattern, _I)
    for pattern in (
        (
            r"(?:i|we)(?:'ve got| have got| have|'ve|'m having| got) (?:an? |my |our |the |to see the |to go "
            rf"to the )?(?P<o>(?:[\w'-]+ ){{0,4}}?(?:{_MEETING}|dentist|doctor)\b.*)"
        ),
        (
            rf"(?:my|our|the) (?P<o>(?:next )?(?:[\w'-]+ ){{0,3}}?{_MEETING})(?: with (?P<w>[\w .]+?))? "
            r"is(?: "
            r"scheduled| booked| set)?(?: for| on)? (?P<d>.+)"
        ),
        (
            r"(?:i(?:'m| am) |we(?:'re| are) )?(?:seeing|meeting(?: with)?|appointment with|call with|"
            r"lunch with|dinner with) "
            r"(?P<o>(?:my |the |a )?[\w'. ]+? .+)"
        ),
        (
            r"(?:my |our |the )?(?P<o>(?!(?:i|we|he|she|they|i've|is)\b)(?!.*\b(?:was|were|is|are|went|got|"
            rf"has|had|will)\b)(?:[\w'-]+ ){{0,3}}?{_MEETING}(?: (?:to|with|at|in) [\w' ]+?)? (?:on |next |"
            r"this |tomorrow)[\w ,.:-]*)"
        ),
    )
)
_DEADLINES = tuple(
    re.compile(pattern, _I)
    for pattern in (
        (
            r"(?:the |my |our )?(?:hard |final |submission )?deadline(?: for (?P<o>.+?))?(?: is|'s)(?: on| "
            r"by)? (?P<d>.+)"
        ),
        (
            r"(?:they |we |the client |my boss |he |she |the )?(?:(?:moved|pushed|extended|shifted|changed) "
            r"(?:the|our|my) deadline|deadline (?:was|got|has been|is) (?:moved|pushed|extended|"
            r"shifted))(?: for (?P<o>.+?))?(?: back| out)?(?: from (?P<w>.+?))? to (?P<d>.+)"
        ),
        r"(?:the |my |our |this )?(?P<o>[\w' -]{2,50}?) (?:is|are)(?: all)? due(?: on| by| in)? (?P<d>.+)",
        (
            r"(?:i|we)(?:'ve| have)?(?: got)? (?:to|need to|must) (?:submit|hand in|deliver|turn in|finish|"
            r"send in|complete|file|ship) (?P<o>.+?) (?:by|before|until|on) (?P<d>.+)"
        ),
        (
            r"(?:the |my |our )?(?P<o>[\w' -]{2,50}?) (?:has to be|must be|needs to be) (?:done|finished|"
            r"submitted|ready|in|delivered|sent|handed in|shipped|filed) (?:by|before|until|on) (?P<d>.+)"
        ),
        r"(?:the |my |our )?(?P<o>[\w' -]{2,50}?) deadline is(?: on)? (?P<d>.+)",
    )
)
_HAPPENED = (
    r"(?:broke (?:my|a|an|up|both)|adopted|married|divorced|graduated|finished (?:my|the|school|"
    r"university)|completed (?:my|the|a)|"
    r"ran (?:an?|my|the) (?:\w+ )?(?:half[- ])?(?:marathon|race|ultra|10k|5k)|won|lost my|bought (?:an?|my|"
    r"our|the)|sold (?:my|our|the)|quit my|"
    r"retired|moved house|become an?|became|had (?:surgery|twins|an? (?:\w+ )?(?:operation|accident|baby|"
    r"stroke|miscarriage|surgery|heart attack|"
    r"daughter|son|breakdown|root canal|transplant|c-section)|my \w+ (?:out|removed|replaced)|our first)|"
    r"gave birth|passed (?:my|the|away|an?)|"
    r"failed (?:my|the|an?)|got (?:married|engaged|divorced|promoted|fired|laid off|hired|accepted|into|"
    r"robbed|hit|injured|citizenship|tenure|"
    r"my (?:degree|licen[cs]e|diploma|visa|green card|citizenship|driving licen[cs]e))|was (?:laid off|"
    r"fired|hospitali[sz]ed|hired|in hospital|"
    r"robbed|injured)|(?:visited|went to|travell?ed to|flew to|came back from|returned from) (?-i:[A-Z])|"
    r"published|launched|released|"
    r"moved in|signed|opened|founded|started (?:a|my|learning|playing|studying|therapy|school|university)|"
    r"hiked|climbed|sprained|tore|defended|learned to|crashed my|"
    r"joined (?:an?|the))"
)
_EVENT = re.compile(
    rf"(?:i|we)(?:'ve| have)?(?: just| recently| finally| also| both| actually)* (?P<o>{_HAPPENED}\b.*)", _I
)
_EVENT_OF_THINGS = re.compile(
    r"my (?P<o>(?:car|bike|bicycle|phone|laptop|wallet|bag|house|flat|basement|van) (?:got|was|has been) "
    r"(?:stolen|broken into|totalled|flooded|burgled|towed|hit)\b.*)",
    _I,
)
_EVENT_OF_KIN = re.compile(
    rf"my (?P<o>(?:{KIN_WORD})(?: [A-Z]\w+)? (?:died|passed away|was born|got married|got engaged|"
    r"graduated|had a baby|moved (?:in|out|away)|retired)\b.*)",
    _I,
)
_LASTING = re.compile(
    r"(?:broke|adopted|got (?:fired|laid off)|gave birth|graduated|passed (?:my|the|away)|won|"
    r"had (?:surgery|twins|a baby|my first)|defended|was (?:laid off|fired|hospitali[sz]ed))\b",
    _I,
)
_IDLE = re.compile(
    r"(?:milk|groceries|lunch|dinner|coffee|it|this|that|them|you|the (?:same|tests?|server|script|build|"
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


def _owned(match: re.Match[str], clause: Clause, group: str) -> str:
    if group not in match.re.groupindex:
        return ""
    start, end = match.span(group)
    return clause.own[start:end].strip() if start >= 0 else ""


def _trim(words: str) -> str:
    """Like `cut`, but what follows "before", "after" and "now" may be part of a date."""
    words = re.sub(
        r",? (?:because|since i|so (?:i|we|my|the|it|that|don't|please|typing)|which|but|though|although|"
        r"if|while|please|thanks|btw|"
        r"by the way|haha+|too|as well|of course|anyway|and (?:i|my|we|it|so|then)|fingers crossed|wish me "
        r"luck|in case|can't wait|"
        r"and (?:can't|am|was|had|it)|unfortunately|sadly|finally|at last|hopefully|not that)\b.*\Z",
        "",
        " " + words,
        flags=_I | re.DOTALL,
    ).strip(" ,.!")
    words = re.sub(r"\A(?:an?|the) ", "", words, flags=_I)
    return re.sub(
        r"\b(broke|sold|lost|finished|quit|left|got|started|passed|had|defended|renew|finish|see) my\b",
        r"\1",
        words,
        flags=_I,
    )


def timed(clause: Clause, ts: float) -> Iterator[Timed]:
    """The first form that fits. A date that stands first is read as if it stood last."""
    clause = _turned(clause, ts)
    text = clause.text.rstrip(" .!")
    for read in (_deadline, _appointment, _goal, _plan, _event):
        found = read(text, clause, ts)
        if found is not None:
            yield found
            return


_FIRST = re.compile(r"(?:on |in |by |this |the )*", _I)


def _turned(clause: Clause, ts: float) -> Clause:
    found = dates_in(clause.own[:60], ts)
    lead = _FIRST.match(clause.text)
    if not found or lead is None or found[0].start > lead.end():
        return clause
    end = found[0].end
    rest = re.match(r",?\s*(?=(?:i|i'm|we|we're|my|there|our)\b)", clause.text[end:], _I)
    if rest is None:
        return clause
    begin = end + rest.end()
    head = clause.own[:end]
    return Clause(
        f"{clause.text[begin:]} {clause.text[:end]}",
        f"{clause.own[begin:]} {head[:1].lower()}{head[1:]}",
        clause.quote,
    )


def _deadline(text: str, clause: Clause, ts: float) -> Timed | None:
    for form in _DEADLINES:
        if match := form.fullmatch(text):
            found = dates_in(_owned(match, clause, "d"), ts) or dates_in(
                "on " + _owned(match, clause, "d"), ts
            )
            thing = re.sub(r"\A(?:the|my|our|this) ", "", cut(_owned(match, clause, "o")), flags=_I)
            if found and "not " not in thing and not re.match(r"(?:it|this|that|which|what)\b", thing, _I):
                day = found[0].written
                return Timed("Deadline", f"{day}, {thing}" if thing else day, None, found[0].last)
    return None


def _appointment(text: str, clause: Clause, ts: float) -> Timed | None:
    for form in _APPOINTMENTS:
        if match := form.fullmatch(text):
            words = " ".join(
                filter(
                    None,
                    (
                        _owned(match, clause, "o"),
                        _owned(match, clause, "w") and "with " + _owned(match, clause, "w"),
                        _owned(match, clause, "d"),
                    ),
                )
            )
            words, first, last = written_out(_trim(re.sub(r",? not .*\Z", "", words)), ts, every=True)
            words = re.sub(r", (?=\d{1,2}(?::\d\d)? ?(?:am|pm|h|uhr|o'clock)?\Z)", " at ", words)
            if first:
                words = re.sub(
                    r"\b(dentist|doctor|doctor's|vet|dentist's)(?:'s)? appointment\b", r"\1", words, flags=_I
                )
                words = re.sub(r"\bdentist's\b", "dentist", words)
                words = re.sub(r"\A(?:my|next|to see the|to see my) ", "", words)
                return Timed("Appointment", words, None, last)
    return None


def _goal(text: str, clause: Clause, ts: float) -> Timed | None:
    for form in _GOALS:
        if match := form.fullmatch(text):
            words = _owned(match, clause, "o")
            if training := _owned(match, clause, "t"):
                words = training
            if learning := _owned(match, clause, "l"):
                words = f"learn {learning}"
            words, _, last = written_out(_trim(words), ts)
            if words and not _IDLE.match(words):
                return Timed("Goal", re.sub(r"\Ato ", "", words), None, last)
    return None


def _plan(text: str, clause: Clause, ts: float) -> Timed | None:
    for form in _PLANS:
        if match := form.fullmatch(text):
            words = _owned(match, clause, "o") or _owned(match, clause, "b") or _owned(match, clause, "n")
            words = words or f"go to {_owned(match, clause, 'f')}"
            words, _, last = written_out(_trim(words), ts)
            words = _infinitive(words)
            if "b" in form.groupindex and last is None:
                continue
            if words and not _IDLE.match(words):
                return Timed("Plan", words, None, last)
    match = _GOING_TO.fullmatch(text)
    if match is None:
        return None
    words = _owned(match, clause, "o")
    first_word = words.split(" ")[0].lower()
    is_will = re.match(r"(?:i|we)(?:'ll| will)\b", text, _I) is not None
    is_going = "going to " in match[0][: match.start("o") - match.start()].lower()
    if not (is_going or first_word in _ING or (is_will and first_word in _ING.values())):
        return None
    if re.search(
        r"\b(?:it|this|that|them|you|these|those)\b(?! (?:week|weekend|month|year|summer|spring|autumn|"
        r"winter|friday|monday))",
        words,
        _I,
    ):
        return None
    if is_going and re.match(r"(?:an?|the|my|our|(?-i:[A-Z])\w+)\b", words, _I):
        words = f"go to {words}"
    told, first, last = written_out(_trim(words), ts)
    today = first is not None and re.search(
        r"\b(?:today|tonight|this (?:morning|afternoon|evening)|now)\b", words, _I
    )
    if first is None or today or _IDLE.match(told) or re.match(r"(?:always|never|definitely)\b", told, _I):
        return None
    return Timed("Plan", _infinitive(told), None, last)


def _infinitive(words: str) -> str:
    first, _, rest = words.partition(" ")
    return f"{_ING.get(first.lower(), first)} {rest}".strip()


def _event(text: str, clause: Clause, ts: float) -> Timed | None:
    match = _EVENT.fullmatch(text) or _EVENT_OF_KIN.fullmatch(text) or _EVENT_OF_THINGS.fullmatch(text)
    if match is None:
        return None
    words = _owned(match, clause, "o")
    words, first, _ = written_out(_trim(words), ts, past=True)
    if (
        len(words.split()) < 2
        or not (first or _LASTING.match(words))
        or _IDLE.match(words)
        or _IDLE.match(words.partition(" ")[2])
    ):
        return None
    return Timed("Event", words, first, None, _how_long(first, ts))


def _how_long(first: str | None, ts: float) -> TimeSpan:
    from datetime import UTC, date, datetime

    if first is None:
        return "medium_term"
    days = (datetime.fromtimestamp(ts, UTC).date() - date.fromisoformat(first)).days
    return "short_term" if days < 14 else "medium_term" if days < 366 else "long_term"
