"""Wording: a line in the user's own words. Which clauses of a sentence it needs, which words around them add nothing,
and its dates."""

from __future__ import annotations

import re

from looseleaf.distill.selector import clauses_of, is_aside
from looseleaf.language.dates import found as dates_in
from looseleaf.language.sentences import is_decision
from looseleaf.text.patterns import lazy

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from looseleaf.distill.slot_tables import Reading
    from looseleaf.language.dates import Dated

NOTE_CHARS = 280
"""A line in the user's words is cut at a clause before it gets longer."""

ASIDE = 0.4
SURELY_ASIDE = 0.9
"""From this chance on, a clause stands only beside a statement: a request, for example."""

_MOST_CLAUSES = 8


def kept_part(said: str, slots: Sequence[Reading], *, whole: bool) -> tuple[int, int] | None:
    """Return the clauses worth keeping that no slot covers; None if nothing is left."""
    places = clauses_of(said)
    if not 1 < len(places) <= _MOST_CLAUSES:
        left = not slots or _says_more(said, 0, len(said), slots)
        return (0, len(said)) if left else None
    kept = [True] * len(places)
    if not whole:
        beside = [is_aside(said, places, number) for number in range(len(places))]
        # A clause with a number in it says something: it goes only if that is all but certain.
        bars = [SURELY_ASIDE if any(map(str.isdigit, said[first:last])) else ASIDE for first, last in places]
        kept = [chance < bar for chance, bar in zip(beside, bars, strict=True)]
        if not any(kept):
            kept[beside.index(min(beside))] = True
    open_ones = [
        at
        for at, (first, last) in enumerate(places)
        if kept[at] and (not slots or _says_more(said, first, last, slots))
    ]
    if not open_ones:
        return None
    begin, end = open_ones[0], open_ones[-1]
    if begin == end == 0 and _REASON.match(said):  # "Because …, we chose …"
        end = 1
    if begin:
        before = said[slice(*places[begin - 1])]
        # The clause before says whom it is about, or what it is the reason for.
        if _RELATIVE.match(said, places[begin][0]) or (
            _REASON.match(said, places[begin][0]) and (kept[begin - 1] or is_decision(before))
        ):
            begin -= 1
    return places[begin][0], places[end][1]


_RELATIVE = lazy(
    r"\s*(?:who|whose|whom|which|where|der|die|das|den|dem|deren|dessen|qui|que|dont|où|quien|cuyo|che|cui|wie|dat)\b",
    re.IGNORECASE,
)


_REASON = lazy(
    r"\s*(?:since|because|cos|cuz|weil|denn|parce|car|puisque|porque|pues|perché|poiché|omdat|want)\b",
    re.IGNORECASE,
)


def _says_more(said: str, first: int, last: int, slots: Sequence[Reading]) -> bool:
    """Return True if a clause has telling words that no slot covers."""
    from looseleaf.language.terms import terms

    left = said[first:last]
    for each in sorted(slots, key=lambda one: one.start, reverse=True):
        start, end = max(each.start - first, 0), max(each.end - first, 0)
        left = left[:start] + " " + left[end:]
    return any(
        len(term) > 2 or not term.isascii() for term in terms(_FILLERS.sub(" ", left)) if term not in _NOTHING
    )


_NOTHING = frozenset(
    "btw lol haha tho though ok okay so hey hi hello please pls thanks thank fyi fwiw just actually also now "
    "anymore any more still already currently anymor".split()
)
_OPENING = (
    r"(?:(?:o+k(?:ay)?|so|btw|by the way|oh|ah|hey+|hi|hello|well|and|but|also|plus|fyi|yeah|yep|yes|"
    r"no(?=\s*[,.:;!…-])|"
    r"nope|nah|um+|uh+|hm+|lol|haha+|actually|"
    r"anyway|anyways|alright|right|sure|thanks|thx|thank you|please|pls|plz|tbh|honestly|basically|like|"
    r"one more thing|just so you know|jsyk|"
    r"for context|context|note|fwiw|ps|p\.s\.|quick one|sorry|oops|ach|achso|übrigens|also|ja|nein|naja|"
    r"hallo|moin|bitte|danke|und|aber|"
    r"alors|bon|ben|euh|salut|bonjour|au fait|sinon|du coup|merci|et|mais|oui|"
    r"non(?=\s*[,.:;!…-])|hola|bueno|pues|oye|por cierto|ah|y|pero|sí|gracias|"
    r"olá|oi|bom|então|aliás|a propósito|e|mas|sim|obrigado|ciao|allora|comunque|a proposito|grazie|ma|sì|"
    r"hoi|hé|trouwens|nou|dus|en|maar|bedankt)\b"
    r"|对了|另外|顺便|那个|嗯|好的?|哦|啊|ちなみに|あと|あ、|えっと|まあ|ところで|"
    r"そうそう|근데|참고로|아|음|저기|그리고|아 참)[\s,.:;!~…，、。-]*"
)
_LEAD = lazy(rf"(?:[\s,.:;!~…-]*{_OPENING})+", re.IGNORECASE)
_TAIL = lazy(
    r"(?:[\s,.;~…-]*(?:\b(?:btw|lol|haha+|hehe|fyi|fwiw|tho|though|tbh|imo|please|pls|plz|thanks|thx|thank "
    r"you|ok|okay|right|"
    r"by the way|just so you know|if that helps|in case (?:that|it) (?:matters|helps)|if (?:that|it) "
    r"matters|bitte|danke|übrigens|merci|stp|svp|gracias|"
    r"por favor|por cierto|obrigad[oa]|por favor|grazie|per favore|alsjeblieft|trouwens|bedankt)|谢谢|哈哈+|的话|"
    r"ありがとう|よろしく|笑|ㅋ+|ㅎ+|고마워)"
    r"|[\s,;:~…—–-]|[\U0001f300-\U0001faff\u2600-\u27bf]|:\)|:D|;\)|:\()+\Z",
    re.IGNORECASE,
)
_FILLERS = lazy(rf"\A{_LEAD.pattern}|{_TAIL.pattern}", re.IGNORECASE)
LEANS = lazy(
    r"(?:it|it's|its|they|they're|he|he's|she|she's|that one|this one|es ist|er ist|sie ist|es heißt|il s'|"
    r"elle s'|c'est|se llama|es un|è un|si chiama|"
    r"het is|hij is|zij is|chama|é um|é uma)\b|它|他|她|それは|これは|그건|이건",
    re.IGNORECASE,
)


def trim_line(line: str) -> str:
    """Return a line without the words and marks around a statement that add nothing."""
    lead = _LEAD.match(line)
    kept = line[lead.end() :] if lead and len(line) - lead.end() >= 6 else line
    tail = _TAIL.search(kept)
    if tail and tail.start() >= 6:
        kept = kept[: tail.start()]
    kept = kept.strip(" ,;:~…—–-。，、")
    if kept.count("(") != kept.count(")"):
        kept = kept.strip("()") if kept.count("(") + kept.count(")") == 1 else kept
    return " ".join(kept.rstrip(".").split())


def clip_line(line: str) -> str:
    """Cut a line at a clause if it is too long."""
    if len(line) <= NOTE_CHARS:
        return line
    whole = [last for _, last in clauses_of(line) if 40 <= last <= NOTE_CHARS]
    return line[: whole[-1]] if whole else line[:NOTE_CHARS].rpartition(" ")[0] or line[:NOTE_CHARS]


AHEAD = lazy(
    r"\b(?:will|'ll|going to|gonna|starting|starts?|from|until|till|by|next|upcoming|due|tomorrow|soon|"
    r"plan|planning|ab|bis|werde|nächste[rns]?|"
    r"dès|à partir|prochaine?|vais|desde|hasta|próxim[oa]|voy|vou|até|dal|fino|prossim[oa]|vanaf|tot|"
    r"volgende)\b|将|会|から|まで|来|부터|까지|다음",
    re.IGNORECASE,
)


_ANY_DAY = lazy(
    r"\b(?:an?|any|every|each|all|jeden?|jeder|chaque|tous les|cada|todos? os|todos los|ogni|tutti i|elke|iedere)"
    r"\s+(?:\w+\s+)?\Z|每个?\Z|毎週?\Z|매주? ?\Z",
    re.IGNORECASE,
)


_BEFORE_A_DAY = lazy(
    r"(?:\b(?:on|in|this|next|last|since|by|until|till|from|before|after|due|am|im|seit|bis|ab|ce|en|dès|depuis|el|este|na|no|em|il|"
    r"questo|lo scorso|op|deze|vorige|sinds)|\A)\W*\Z",
    re.IGNORECASE,
)


def _is_one_day(line: str, date: Dated) -> bool:
    """Return True if a time can be written as a date: "never on a Friday" and "the Friday matinee" name none, and
    German "hier" is not yesterday."""
    if _ANY_DAY.search(line, 0, date.start) is not None or line[date.end : date.end + 2].strip() in (
        "s",
        "'s",
    ):
        return False
    if date.text.isalpha() and date.text.isascii():
        if date.text.casefold() == "hier":
            return _FRENCH.search(line) is not None
        return date.text.casefold() in _ALONE or _BEFORE_A_DAY.search(line, 0, date.start) is not None
    return True


_FRENCH = lazy(r"\b(?:je|j'|nous|on|le|la|les|est|avons|ai|suis)\b", re.IGNORECASE)
_ALONE = frozenset(
    "yesterday today tomorrow tonight heute gestern morgen aujourd ayer hoy ontem hoje ieri oggi domani gisteren "
    "vandaag".split()
)
"""Words that mean a day by themselves."""

PAST = lazy(
    r"\b(?:\w{2,}ed|was|were|had|got|went|ago|been|bought|quit|left|broke|last|since|yesterday|war|hat|habe|"
    r"haben|gestern|letzte\w*|hier|dernier\w*|passé|ai|avons|a été|ayer|pasad[oa]|fui|ontem|passad[oa]|ieri|"
    r"scors[oa]|ho|abbiamo|gisteren|vorige|heb|hebben)\b|了|た|었|았",
    re.IGNORECASE,
)
"""Words about the past: only with them, a day without a year is the last one before."""


def add_dates(line: str, ts: float, *, past: bool) -> str:
    """Add the date after each time that would mean another on another day."""
    parts: list[str] = []
    at = 0
    for date in dates_in(line, ts, past=past):
        if date.is_relative and _is_one_day(line, date) and date.written.casefold() not in line.casefold():
            parts += [line[at : date.end], f" [{date.written}]"]
            at = date.end
    made = "".join((*parts, line[at:]))
    return made if len(made) <= NOTE_CHARS + 20 else line
