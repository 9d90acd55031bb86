"""What English clauses say of the time to come: plans, goals, appointments, deadlines.

Dates that depend on the day they were said on are written out.
"""

from __future__ import annotations

import re

from looseleaf.core.dates import found as dates_in
from looseleaf.core.lazy import lazy
from looseleaf.distill.english.clauses import Clause
from looseleaf.distill.english.dated import IDLE, Timed, owned, trimmed, written_out
from looseleaf.distill.english.events import event
from looseleaf.distill.english.forms import cut

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

_I = re.IGNORECASE
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
    lazy(pattern, _I)
    for pattern in (
        (
            r"(?:i|we)(?:'ll| will|'m|'re| am| are)(?: going to)?(?: be)? (?P<leave>on "
            r"(?:[\w-]+ ){0,2}?(?:leave|holidays?|vacation|sabbatical|tour|call) .+)"
        ),
        (
            r"(?:i|we) (?P<o>start (?:my|a|the|our) (?:new )?(?:job|course|phd|degree|internship|"
            r"apprenticeship|role)\b.+)"
        ),
        r"(?:i|we)(?:'m| am|'re| are) (?P<e>expecting (?:a|our|my) .+)",
        r"(?:i|we)(?:'m| am|'re| are) off to (?P<f>(?:the |an? )?(?-i:[A-Z]).+)",
        (
            r"(?:i|we)(?:'m| am|'re| are)?(?: also| currently)? (?:plan|planning|intend|intending|aim to|"
            r"scheduled|set) (?:to|on) (?P<o>.+)"
        ),
        (
            r"(?:i|we)(?:'m| am|'re| are) planning (?P<n>(?:an?|our|my|the) (?:[\w-]+ ){0,3}?(?:trip|"
            r"holiday|"
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
_GOING_TO = lazy(r"(?:i|we)(?:'m| am|'re| are| will|'ll) (?:going to |be (?=\w+ing)|finally )?(?P<o>.+)", _I)
_GOALS = tuple(
    lazy(pattern, _I)
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
            r"(?:i|we)(?:'m| am|'re| are)? (?:really |eventually |also |still )?(?:want|hope|"
            r"love|"
            r"aim|hoping|aiming) to (?:finally |also |eventually )?(?P<o>(?:learn|become|run|"
            r"write|lose|finish|read(?= (?:more|\d|all|every))|get "
            r"(?:better|fit|into|my|an?(?= (?:degree|promotion|job|dog|cat|phd|certificate|licen[cs]e|"
            r"raise|new)\b))|"
            r"start(?! over| again| with)|climb|visit|save|build|quit|stop|improve|publish|pass|swim|"
            r"cycle|complete|speak|travel|open|found|earn|retire|master) (?!this|that|it\b|with (?:the|"
            r"this)|by saying|working on the|the (?:test|build|script|server|app|file|code)|a (?:test|"
            r"query|function|script|regex|query|new (?:chat|conversation|topic|file|thread))).+)"
        ),
        (
            r"i(?:'m| am) (?:training|practising|practicing|studying|preparing|saving(?: up)?) for "
            r"(?P<t>(?!this\b|it\b).+)"
        ),
        (
            r"i(?:'m| am) (?:learning|trying to learn) (?P<l>(?!about|that|this|how|to\b|a lot|so|more|"
            r"it\b|"
            r"from).+)"
        ),
        (
            r"i(?:'m| am) trying to (?P<o>(?:lose|quit|get fit|eat|drink|sleep|save|learn|"
            r"read(?= (?:more|\d))|cut|run|"
            r"exercise|become) .+)"
        ),
    )
)
_MEETING = (
    r"(?:appointment|meeting|interview|exam|check-?up|call|consultation|session|viewing|surgery|"
    r"operation|flight|date|lesson|class|presentation|hearing|visit|demo|reservation|scan|test "
    r"drive|driving test|job interview|doctor's|dentist's?|vet|haircut|physio|therapy|lunch|"
    r"dinner|standup|review|wedding|graduation|conference|concert|webinar|defen[cs]e|"
    r"(?:driving )?theory test|physiotherapy|blood test|mri|driving lesson|parent-teacher evening|"
    r"dentist|optician|"
    r"gynaecologist|cardiologist|orthodontist)"
)
_APPOINTMENTS = tuple(
    lazy(pattern, _I)
    for pattern in (
        (
            r"(?:i|we)(?:'ve got| have got| have|'ve|'m having| got) (?:an? |my |our |the |to see the |"
            r"to go "
            rf"to the )?(?P<o>(?!(?:booked|just|already|been|had|"
            rf"signed|missed|cancelled|finished)\b)(?:[\w'-]+ ){{0,4}}?(?:{_MEETING}|dentist|doctor)\b.*)"
        ),
        (
            rf"(?:(?:my|our|the) )?(?P<o>(?:next )?(?!(?:it|this|that|there|"
            rf"what)\b)(?:[\w'-]+ ){{0,3}}?{_MEETING})"
            r"(?: with (?P<w>[\w .]+?))? is(?: actually| now)?(?: "
            r"scheduled| booked| set)?(?: for)? (?P<d>.+)"
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
    lazy(pattern, _I)
    for pattern in (
        (
            r"(?:i|we)(?:'ve| have)?(?: got| only have)? until (?P<d>.+?) to (?:submit|hand in|deliver|"
            r"turn in|finish|send in|"
            r"complete|file|ship|pay|decide on) (?P<o>.+)"
        ),
        (
            r"(?:the |my |our )?(?:hard |final |submission )?deadline(?: for (?P<o>.+?))?(?: is|'s)(?: on| "
            r"by)? (?P<d>.+)"
        ),
        (
            r"(?:they |we |the client |my boss |he |she |the |our |my )?(?:(?:moved|pushed|extended|shifted|"
            r"changed) "
            r"(?:the|our|my) deadline|(?:[\w'-]+ ){0,2}deadline (?:for (?P<p>[\w' -]{2,40}?) )?"
            r"(?:(?:was|got|has been|has|is|just) ){0,2}"
            r"(?P<m>moved|pushed|extended|slipped|changed|shifted))"
            r"(?: for (?P<o>.+?))?(?: back| out)?(?: from (?P<w>.+?))? to (?P<d>.+)"
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


def timed(clause: Clause, ts: float) -> Iterator[Timed]:
    """The first form that fits. A date that stands first is read as if it stood last."""
    clause = turned(clause, ts)
    text = clause.text.rstrip(" .!")
    for read in (_deadline, _appointment, _goal, _plan, event):
        found = read(text, clause, ts)
        if found is not None:
            yield found
            return


_SPEAKER = lazy(r"(?:i|i'm|i've|we|we're|my|our|there)\b", _I)
_FIRST = lazy(r"(?:on |in |by |this |the |since |back |as of |from )*", _I)


def turned(clause: Clause, ts: float) -> Clause:
    """With the date at its end."""
    if _SPEAKER.match(clause.text):
        return clause
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
            found = dates_in(owned(match, clause, "d"), ts) or dates_in("on " + owned(match, clause, "d"), ts)
            thing = cut(owned(match, clause, "o") or owned(match, clause, "p"))
            thing = re.sub(r"\A(?:the|my|our|this) ", "", thing, flags=_I)
            if found and "not " not in thing and not re.match(r"(?:it|this|that|which|what)\b", thing, _I):
                day = found[0].written
                return Timed(
                    "Deadline",
                    f"{day}, {thing}" if thing else day,
                    None,
                    found[0].last,
                    correction="m" in form.groupindex,
                )
    return None


def _appointment(text: str, clause: Clause, ts: float) -> Timed | None:
    for form in _APPOINTMENTS:
        if match := form.fullmatch(text):
            words = " ".join(
                filter(
                    None,
                    (
                        owned(match, clause, "o"),
                        owned(match, clause, "w") and "with " + owned(match, clause, "w"),
                        owned(match, clause, "d"),
                    ),
                )
            )
            words, first, last = written_out(trimmed(re.sub(r",? not .*\Z", "", words)), ts, every=True)
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
            words = owned(match, clause, "o")
            if training := owned(match, clause, "t"):
                words = training
            if learning := owned(match, clause, "l"):
                if IDLE.match(learning):
                    return None
                words = f"learn {learning}"
            words, _, last = written_out(trimmed(words), ts)
            is_here = re.search(r"\b(?:at|with|about|of|in) (?:this|that|it)\Z", words, _I)
            if words and not is_here and not IDLE.match(words):
                return Timed("Goal", re.sub(r"\Ato ", "", words), None, last)
    return None


_AT_HAND = lazy(
    r"\b(?:it|this|that|them|you|these|those)\b(?! (?:week|weekend|month|year|summer|spring|autumn|"
    r"winter|friday|monday))"
    r"|\A(?:start|leave|return|go|come|be) (?:on|in|at) (?:\d|the week|\w+ \d{4})|\A(?:first|refactor|"
    r"check|debug|fix|test|try|add|deploy|push|rename|implement) ",
    _I,
)
"""What somebody is about to do here and now is work, no plan of his."""


def _plan(text: str, clause: Clause, ts: float) -> Timed | None:
    for form in _PLANS:
        if match := form.fullmatch(text):
            words = owned(match, clause, "o") or owned(match, clause, "b") or owned(match, clause, "n")
            words = words or owned(match, clause, "leave") or owned(match, clause, "e")
            words = words or f"go to {owned(match, clause, 'f')}"
            words, _, last = written_out(trimmed(words), ts)
            words = _infinitive(words)
            if {"b", "leave", "e"} & form.groupindex.keys() and last is None:
                continue
            if words and not IDLE.match(words) and not _AT_HAND.search(words):
                return Timed("Plan", words, None, last)
    match = _GOING_TO.fullmatch(text)
    if match is None:
        return None
    words = owned(match, clause, "o")
    first_word = words.split(" ")[0].lower()
    is_will = re.match(r"(?:i|we)(?:'ll| will)\b", text, _I) is not None
    is_going = "going to " in match[0][: match.start("o") - match.start()].lower()
    if not (is_going or first_word in _ING or (is_will and first_word in _ING.values())):
        return None
    if _AT_HAND.search(words):
        return None
    if is_going and re.match(r"(?:an?|the|my|our|(?-i:[A-Z])\w+)\b", words, _I):
        words = f"go to {words}"
    told, first, last = written_out(trimmed(words), ts)
    today = first is not None and re.search(
        r"\b(?:today|tonight|this (?:morning|afternoon|evening)|now)\b", words, _I
    )
    if first is None or today or IDLE.match(told) or re.match(r"(?:always|never|definitely)\b", told, _I):
        return None
    plan = _infinitive(told)
    return None if _AT_HAND.search(plan) else Timed("Plan", plan, None, last)


def _infinitive(words: str) -> str:
    first, _, rest = words.partition(" ")
    return f"{_ING.get(first.lower(), first)} {rest}".strip()
