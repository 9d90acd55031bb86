"""The time that a question names or implies: which days, and how surely. A question *for* a time ("When did we move?")
names none.

Days are UTC. Dates are read as in `language/dates.py`, in the past where either is possible. Added here: sides ("before
2024"), ranges, parts ("late May"), days counted from a date ("the Monday before 24 July"), events ("after the wedding",
which the caller finds and passes to `place_event`), and vague words ("recently"). Words that only look like dates are
none: the verbs may and march, April and June as people, counts. Words are checked first: a question without a time word
compiles no date pattern.
"""

from __future__ import annotations

import re

from looseleaf.language.tables import read_rows
from looseleaf.recall.when import DAY, FIRST, LAST, When, day_after
from looseleaf.text.lines import lazy
from looseleaf.text.times import MONTH_NAMES

TYPE_CHECKING = False
if TYPE_CHECKING:
    from looseleaf.recall.when import Side


# --- events as times: "before the move", "seit der Operation", "搬家之前" ------------------

PLAIN, DOUBTFUL = 0.6, 0.4
"""How surely a time is meant. German "vor" is as often a place, "nach" an aim; "after getting home" may be a habit."""

_I = re.IGNORECASE
_REST = r"[^.,;:?!\n]{1,60}"
_SIDE = r"(before|prior to|until|till|after|following|since)"
_OWNER = r"(?:the|my|our|his|her|their|your|its|(?-i:[A-Z])\w+['’]s?)"
_PAST = (
    r"(?:\w+ed|got|went|left|came|had|met|bought|sold|quit|began|broke|lost|won|took|became|found|told|said|made|saw|"
    r"gave|wrote|joined|fell|flew|built|hurt|knew|heard|chose|grew|had|was born)"
)
_THING = lazy(rf"\b{_SIDE} {_OWNER} ({_REST})", _I)
_CLAUSE = lazy(
    rf"\b{_SIDE} (?:(?:I|we|he|she|they|you|it) |{_OWNER} (?=\w)|(?=(?-i:[A-Z])))"
    rf"((?:(?:\w+ ){{0,3}}?){_PAST}\b[^.,;:?!\n]{{0,60}})",
    _I,
)
_DOING = lazy(
    rf"\b(before|after|since) (?!being\b|doing\b|during\b|something|anything|everything)(\w{{2,}}ing {_REST})",
    _I,
)
_GERMAN = lazy(
    r"\b(vor|nach|seit)(?: dem| der| den| (?:mein|dein|sein|ihr|unser|eur)e[mnr]|m) "
    r"((?:[a-zäöüß]+en )?(?-i:[A-ZÄÖÜ])[\w-]+(?: (?:nach|in|mit|von|bei) (?-i:[A-ZÄÖÜ])[\w-]+)?)"
    r"|\b(bevor|nachdem|seit(?:dem)?) (?:ich|du|er|sie|wir|ihr) ([^.,;:?!\n]{3,50})"
)
_ROMANCE = lazy(
    r"\b(avant|après|depuis) (?:(?:le|la|les|mon|ma|mes|notre|nos|son|sa|ses|leur|ton|ta|votre) |l['’])"
    r"([^.,;:?!\n]{3,50})"
    r"|\b(antes|después|despues|desde|tras) (?:de )?(?:del|la|el|los|las|mi|su|tu|nuestr[oa]) ([^.,;:?!¿\n]{3,50})",
    _I,
)
_WIDE = lazy(r"([\u3040-\u30ff\u4e00-\u9fffー]{2,12}?)の?(?:(之前|以前|前に)|之后|以后|之後|以後|後に|以来)")
_WIDE_WHO = lazy(r"^(?:在|自从?|自|我们|他们|她们|我|他|她|你|私が|私の|私は|僕が)+")
_ENDS = lazy(
    r" (?:did|do|does|what|who|whom|where|which|when|how|why|and|but|because|while|was|were|is|are|isn['’]t|has|have|"
    r"had|can|will|would|wurde|war|hat|haben|où|que|qué|quoi|qui|dónde|donde|est-ce)\b.*",
    _I,
)
_REASON = lazy(r" (?:is|are|isn['’]t|aren['’]t|can|can['’]t|will|does|doesn['’]t|fails?|keeps?)\b", _I)
_NO_EVENT = lazy(
    r"(?:fact|end|beginning|start|first|last|next|other|same|time|last time|way|others?|rest|question|deadline|"
    r"first time|break of day|(?:first|last|next|second|third) \w+|\w+ (?:fails?|crash(?:es)?)|moment|now|then)$",
    _I,
)
_BEFORE = frozenset("before,prior to,until,till,vor,bevor,avant,antes".split(","))


def read_event(text: str) -> tuple[str, str, Side, float] | None:
    """Return the event's words, the words that make it a time, the side, and how sure it is; None if there is none."""
    for pattern, strength in ((_CLAUSE, PLAIN), (_THING, PLAIN), (_DOING, DOUBTFUL)):
        for match in pattern.finditer(text):
            if match[1].lower() == "since" and pattern is _THING and _REASON.search(match[2]):
                continue
            made = _build_event(match[1], match[2], match[0], strength)
            if made is not None:
                return made
    for pattern in (_GERMAN, _ROMANCE):
        for match in pattern.finditer(text):
            side, name = (match[1], match[2]) if match[1] else (match[3], match[4])
            made = _build_event(side, name, match[0], DOUBTFUL)
            if made is not None:
                return made
    for match in _WIDE.finditer(text):
        name = _WIDE_WHO.sub("", match[1])
        if name:
            return name, match[0], "before" if match[2] else "after", PLAIN
    return None


def _build_event(side: str, name: str, said: str, strength: float) -> tuple[str, str, Side, float] | None:
    short = _ENDS.sub("", f" {name}").strip()
    if not short or _NO_EVENT.match(short):
        return None
    said = said[: len(said) - len(name)] + short
    return short, said, "before" if side.lower() in _BEFORE else "after", strength


# --- the time of a question --------------------------------------------------------------

_LOOKED_AT = 2_000
"""Characters of a question to search: a time never comes later."""


_VAGUE, _LATEST = 0.3, 0.25
_VAGUE_DAYS, _LATEST_DAYS = 30, 90


def read_time(query: str, now: float) -> When | None:
    """Return the time that `query` names or implies when asked at `now`."""
    if not FIRST <= now < LAST:
        return None
    text = query[:_LOOKED_AT]
    lowered = text.lower()
    if may_name_date(lowered):
        from looseleaf.recall.question_spans import read_span

        named = read_span(text, now)
        if named is not None:
            first, last, strength, said, side = named
            return When(first, last, strength, said, side)
    if not _SIDE_WORDS.isdisjoint(_WORD.findall(lowered)) or _WIDE_SIDE.search(text):
        event = read_event(text)
        if event is not None:
            name, said, side, strength = event
            return When(FIRST, day_after(now), strength, said, side, name)
    return _read_vague(text, lowered, now)


def may_name_date(text: str) -> bool:
    """True if the words of a text promise a date; cheap, and never False for a text with one."""
    lowered = text.lower()
    words = set(_WORD.findall(lowered))
    if not words.isdisjoint(_DATE_WORDS) or _HINT.search(lowered):
        return True
    return not words.isdisjoint(_UNSURE_WORDS) and not (
        words.isdisjoint(_PARTNERS) and not _FIGURE.search(lowered)
    )


def _read_vague(text: str, lowered: str, now: float) -> When | None:
    for pattern, days, strength in ((_RECENTLY, _VAGUE_DAYS, _VAGUE), (_LAST_TIME, _LATEST_DAYS, _LATEST)):
        match = re.search(pattern, lowered)
        if match:
            said = text[match.start() : match.end()]
            return When((now // DAY - days) * DAY, day_after(now), strength, said)
    return None


_RECENTLY = (
    r"\b(?:recently|lately|these days|the other day|not long ago|kürzlich|neulich|letztens|in letzter zeit|"
    r"récemment|dernièrement|ces derniers temps|recientemente|últimamente|hace poco)\b"
    r"|最近|近来|前几天|前些天|この頃|先日"
)
_LAST_TIME = (
    r"\b(?:(?:the )?last time|recent|latest|das letzte mal|zuletzt|la dernière fois|"
    r"la última vez)\b|上次|上一次|前回|この前"
)

_WORD = lazy(r"[^\W\d_]+")
_HINT = lazy(
    r"(?:19|20)\d\d|\d(?:st|nd|rd|th)\b|[年月日周週星礼天今明昨前去後后先来曜]|あさって|おととい|\bun an\b"
)
"""Dates without a word of the lists below."""
_FIGURE = lazy("[0-9]")


def _read_words(*sections: str) -> set[str]:
    """Return the words of a table's sections; of a phrase its last word ("this morning": "morning")."""
    rows = (words for section in sections for words in read_rows("date_words", section).values())
    return {re.split("[_'-]", word)[-1] for words in rows for word in words}


_NAMES = {*_read_words("weekdays"), *" ".join(MONTH_NAMES).split()}
_PARTS_OF_DAY = set("morning afternoon evening night".split())
_DATE_WORDS = frozenset(
    {*_read_words("days"), "aujourd", "morgen", "mañana"} - _PARTS_OF_DAY
    | {name for name in _NAMES if len(name) > 3 and name not in ("march", "mars")}
)
_UNSURE_WORDS = frozenset(
    {*_NAMES, *_PARTS_OF_DAY, *_read_words("units", "seasons"), "fall"} - _DATE_WORDS - {"an", "end"}
)
_PARTNERS = frozenset(
    {*_read_words("signs before", "signs after")}.union(
        "derniers dernières últimos últimas ago vor hace il in dans dentro en from on by since until till before after "
        "im seit bis ab depuis desde around early late mid for during throughout all between avant après nach".split()
    )
)
"""Each date that `language/dates.py` reads in a spaced script has a date word, or an unsure one beside a partner or a
figure: "day", "may" and "last" alone are in too many questions."""
_SIDE_WORDS = frozenset(
    "before after since until till prior following vor nach seit bevor nachdem seitdem avant après apres depuis antes "
    "después despues desde tras".split()
)
_WIDE_SIDE = lazy(r"[以之][前后後来]|前に|後に|の[前後]")
