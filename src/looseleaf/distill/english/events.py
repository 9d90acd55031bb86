"""What happened to the speaker and those near to them, as English clauses tell it: what matters, or has a date."""

from __future__ import annotations

import re

from looseleaf.core.lazy import lazy
from looseleaf.distill.english.dated import IDLE, Timed, owned, trimmed, written_out
from looseleaf.distill.english.words import KIN_WORD

TYPE_CHECKING = False
if TYPE_CHECKING:
    from looseleaf.distill.english.clauses import Clause
    from looseleaf.values import TimeSpan

_I = re.IGNORECASE
_HAPPENED = (
    r"(?:broke (?:my|a|an|up|both)|adopted (?!your|the\b|it\b|this|that)|married|divorced|"
    r"graduated(?! from [a-z]+ to\b)|"
    r"finished (?:my|the (?:\w+ )?(?:marathon|degree|phd|course|race|programme?|training|renovation|"
    r"presentation)|school|"
    r"university)|completed (?:my|the|a)|"
    r"ran (?:an?|my|the) (?:\w+ )?(?:half[- ])?(?:marathon|race|ultra|10k|5k)|won (?!a free|"
    r"the (?:argument|"
    r"bet|fight))|lost my|bought (?:an?|my|"
    r"our|the)|sold (?:my|our|the)|quit my|"
    r"retired|moved house|become an?|became|had (?:surgery|twins|an? (?:\w+ )?(?:operation|accident|baby|"
    r"stroke|miscarriage|surgery|heart attack|"
    r"daughter|son|breakdown|root canal|transplant|c-section)|my \w+ (?:out|removed|replaced)|our first)|"
    r"had our (?:first|second|third) \w+|gave birth|passed (?:my|the (?:[\w-]+ ){0,2}(?:exam|exams|test|"
    r"bar|interviews?|course|audition|certification)|away|an? (?:\w+ )?(?:exam|test))|"
    r"failed (?:my|the|an?)|got (?:married|engaged(?! with| in)|divorced|promoted|fired|laid off|hired|"
    r"accepted|into|"
    r"robbed|hit|injured|citizenship|tenure|"
    r"my (?:degree|licen[cs]e|diploma|visa|green card|citizenship|driving licen[cs]e))|was (?:laid off|"
    r"fired|hospitali[sz]ed|hired|in hospital|"
    r"robbed|injured)|(?:visited|went to|travell?ed to|flew to|came back from|returned from) (?-i:[A-Z])|"
    r"(?:published|launched|released)(?! (?:an? )?(?:hotfix|patch|fix|new version)| the\b)|"
    r"moved in|signed (?!in\b|out\b|off\b)|opened (?:my|our|an?) (?:\w+ )?(?:shop|store|café|cafe|"
    r"restaurant|studio|business|"
    r"practice|bakery|gallery|office|bar|gym|clinic)|founded|started (?:a|my|learning|playing|studying|"
    r"therapy|school|university)|"
    r"hiked (?:the|an?|up|(?-i:[A-Z]))|climbed|sprained|tore|defended|learned to|crashed my|"
    r"joined (?:an?|the)|gave (?:my|an?|the) (?:\w+ )?(?:talk|speech|lecture|presentation|concert)|"
    r"had (?:our|an?|the) (?:\w+ )?(?:outage|incident|breach|break-in|fire|flood|crash)|"
    r"was (?:bitten|attacked|mugged|hit|diagnosed|promoted|elected|baptised)|"
    r"got (?:back from (?-i:[A-Z])|my (?:first|driver's|phd|master's))|survived|inherited|immigrated|"
    r"emigrated|"
    r"ended up in (?:hospital|the er))(?!')"
)
_PAST = (
    r"(?:(?!(?:need|used|wanted|tried|liked|loved|hated|decided|planned|hoped|asked|lived|worked|stayed|"
    r"studied|moved|"
    r"fixed|added|changed|deleted|updated|installed|committed|pushed|tested|removed|noticed|wondered|"
    r"thought)\b)\w{2,}ed|swam|caught|"
    r"sailed|drove|rode|ran|flew|wrote|gave|met|built|taught|won|lost|fell|began|sang|sold|bought|spent|"
    r"became|hitch-?hiked)"
)
_EVENT = lazy(
    rf"(?:i|we)(?:'ve| have)?(?: just| recently| finally| also| both| actually)* (?P<o>{_HAPPENED}\b.*)", _I
)
_LONG_AGO = lazy(
    rf"(?:i|we)(?: once| also| finally)? (?P<o>{_PAST} (?!(?:it|this|that|them|the|you)\b).+)", _I
)
"""Whoever names the year, or calls it his first, tells of his life."""
_MONTH = r"(?-i:January|February|March|April|May|June|July|August|September|October|November|December)"
_BIOGRAPHIC = lazy(rf"\b(?:in|back in|of) (?:(?:19|20)\d\d|(?:last )?{_MONTH})\b|\bmy (?:very )?first\b", _I)
_EVENT_OF_THINGS = lazy(
    r"(?:my|our) (?P<o>(?:car|bike|bicycle|phone|laptop|wallet|bag|house|flat|basement|van) (?:got|was|"
    r"has been) "
    r"(?:stolen|broken into|totalled|flooded|burgled|towed|hit)\b.*|(?:house|flat|car|garage|"
    r"barn) (?:burned|burnt|broke) down\b.*|"
    r"(?:first|second|third|new|debut|latest|last) (?:novel|book|album|paper|film|single|game|"
    r"article) (?:came out|was "
    r"published|got published|was released)\b.*)",
    _I,
)
_EVENT_OF_KIN = lazy(
    rf"my (?P<o>(?:{KIN_WORD})(?: [A-Z]\w+)? (?:also |just |recently )*(?:died|passed away|"
    rf"was born(?! (?:on|in) .*\d{4})|"
    rf"got married|got engaged|"
    r"graduated|had (?:a baby|twins|surgery|a stroke|a heart attack)|gave birth|moved (?:in|out|away)|"
    r"retired)\b.*)",
    _I,
)
_LASTING = lazy(
    r"(?:broke|adopted|got (?:fired|laid off)|gave birth|graduated|passed (?:my|the|away)|won|"
    r"had (?:surgery|twins|a baby|my first)|defended|was (?:laid off|fired|hospitali[sz]ed)|ran my first|"
    r"gave my first|got (?:promoted(?! to\b)|engaged|divorced|robbed|my (?:degree|licen[cs]e|citizenship|"
    r"green card|phd))|"
    r"(?:car|bike|bicycle|phone|laptop|wallet|bag|house|flat|basement|van) (?:got|was|has been)|"
    rf"(?:{KIN_WORD})(?: [A-Z]\w+)? (?:died|passed away|had|gave birth|got married|got engaged))\b",
    _I,
)


_AFTERWARDS = lazy(
    r", (?!\d)(?![^,]*\b(?:19|20)\d\d).*\Z| (?:when|where) (?:i|we|it|my)\b.*\Z|,? (?:and|but) (?:it|"
    r"now|that|"
    r"still|was|felt|loved|didn't)\b.*\Z",
    _I,
)


def event(text: str, clause: Clause, ts: float) -> Timed | None:
    match = _EVENT.fullmatch(text) or _EVENT_OF_KIN.fullmatch(text) or _EVENT_OF_THINGS.fullmatch(text)
    if match is None and _BIOGRAPHIC.search(text):
        match = _LONG_AGO.fullmatch(text)
    if match is None:
        return None
    words = _AFTERWARDS.sub("", owned(match, clause, "o"))
    words = words[:1].lower() + words[1:] if words[1:2].islower() else words
    words = re.sub(rf"\A((?:{KIN_WORD})(?: [A-Z]\w+)?) (?:also|just|recently) ", r"\1 ", words)
    words, first, _ = written_out(trimmed(words), ts, past=True)
    if (
        len(words.split()) < 2
        or not (first or _LASTING.match(words))
        or IDLE.match(words)
        or IDLE.match(words.partition(" ")[2])
    ):
        return None
    return Timed("Event", words, first, None, _how_long(first, ts))


def _how_long(first: str | None, ts: float) -> TimeSpan:
    from datetime import UTC, date, datetime

    if first is None:
        return "medium_term"
    days = (datetime.fromtimestamp(ts, UTC).date() - date.fromisoformat(first)).days
    return "short_term" if days < 14 else "medium_term" if days < 366 else "long_term"
