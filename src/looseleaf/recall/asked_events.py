"""An event that a question takes for its time: "before the move", "seit der Operation", "搬家之前".

Read for `recall/question_dates.py`, which imports this only where a question has such a word. The words that name the
event are given as they stand; finding it, and when it was, is the caller's. Only what sounds like one thing that
happened once is an event: "after work" and "before a race" are habits, "since the tests fail" is a reason.
"""

from __future__ import annotations

import re

from looseleaf.text.patterns import lazy

TYPE_CHECKING = False
if TYPE_CHECKING:
    from looseleaf.recall.question_dates import Side

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


def read(text: str) -> tuple[str, str, Side, float] | None:
    """The event's words, the words that name it as a time, the side, and how sure it is; None if there is none."""
    for pattern, strength in ((_CLAUSE, PLAIN), (_THING, PLAIN), (_DOING, DOUBTFUL)):
        for match in pattern.finditer(text):
            if match[1].lower() == "since" and pattern is _THING and _REASON.search(match[2]):
                continue
            made = _made(match[1], match[2], match[0], strength)
            if made is not None:
                return made
    for pattern in (_GERMAN, _ROMANCE):
        for match in pattern.finditer(text):
            side, name = (match[1], match[2]) if match[1] else (match[3], match[4])
            made = _made(side, name, match[0], DOUBTFUL)
            if made is not None:
                return made
    for match in _WIDE.finditer(text):
        name = _WIDE_WHO.sub("", match[1])
        if name:
            return name, match[0], "before" if match[2] else "after", PLAIN
    return None


def _made(side: str, name: str, said: str, strength: float) -> tuple[str, str, Side, float] | None:
    short = _ENDS.sub("", f" {name}").strip()
    if not short or _NO_EVENT.match(short):
        return None
    said = said[: len(said) - len(name)] + short
    return short, said, "before" if side.lower() in _BEFORE else "after", strength
