"""Forms that say where the speaker lives and comes from, and what counts as a place."""

from __future__ import annotations

import re

from looseleaf.core.lazy import lazy
from looseleaf.distill.english.forms import IM, IVE, NAME, Forms, Found, capital, cut, own

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from looseleaf.distill.english.clauses import Clause

FORMS = Forms()

_COUNTRY = lazy(
    r"\b(?:town|village|city|countryside|suburbs?|island|coast|farm|mountains|hamlet|valley|north|south|"
    r"east|west)\b",
    re.IGNORECASE,
)
_NO_HOME = lazy(
    r"\A(?:the |my |an? )?(?:kitchen|bed|couch|sofa|car|head|moon|mars|library|gym|shower|spreadsheets?|"
    r"terminal|vim|excel|slack|garage|"
    r"basement|pyjamas|pajamas|hell|heaven|cave|cloud|internet|matrix|future|present|now|clouds|bathroom|"
    r"inbox)\Z",
    re.IGNORECASE,
)


def as_place(words: str) -> str:
    """A place without what was said beside it; nothing, where it is none."""
    original = words
    words = re.sub(
        r",? (?:in (?:spring|summer|autumn|fall|winter|january|february|march|april|may|june|july|"
        r"august|september|october|"
        r"november|december)|ages ago|last (?:\w+)|this (?:week|month|year|summer|spring|autumn|winter)|"
        r"in (?:19|20)\d\d|"
        r"yesterday|(?:\w+) (?:days|weeks|months|years?|month|week) ago)\b.*\Z",
        "",
        words,
        flags=re.IGNORECASE,
    )
    words = re.sub(r",? (?-i:I|i|we|my)\b.*\Z", "", words)
    words = re.sub(
        r" (?:with|for|since|again|together|alone|and|at|as|to|on|by|right|full-time|most of) .*\Z|"
        r" (?:again|together|alone)\Z",
        "",
        cut(words),
        flags=re.IGNORECASE,
    )
    parts = [part.strip() for part in words.split(",")]
    kept = parts[:1] + [part for part in parts[1:2] if capital(part) and len(part.split()) < 4]
    place = ", ".join(kept)
    if re.search(r"\b(?:family|background|line|team|department|company|office)\b", place, re.IGNORECASE):
        return ""
    is_common = not any(map(str.isupper, place)) and re.match(
        r"(?:the|my|our|your) ", original, re.IGNORECASE
    )
    if _NO_HOME.search(place) or (is_common and not _COUNTRY.search(place)):
        return ""
    if capital(place):
        place = place.split(" near ")[0]
    is_no_place = re.match(
        r"(?:fear|hope|denial|peace|harmony|constant|interesting|moment|past|world|bubble|simulation|same|"
        r"this|that|it|here|"
        r"there|your|front|charge|bed|meeting|office|home|house|flat|apartment|trouble|love|sales|tech|"
        r"finance|between)\b",
        place,
        re.IGNORECASE,
    )
    return "" if is_no_place or len(place.split()) > 8 else place


_MOVED = r"(?:moved|relocated|emigrated|moved back)"


@FORMS.form(rf"(?:{IVE}|we(?:'ve| have)?(?: just)?) {_MOVED}(?: house)? from (?P<was>[^,]+?) to (?P<o>.+)")
def _moved(match: re.Match[str], clause: Clause) -> Iterator[Found]:
    if place := as_place(own(match, clause)):
        yield Found("Home", place, was=as_place(own(match, clause, "was")) or None, correction=True)


@FORMS.form(rf"(?:{IVE}|we(?:'ve| have)?(?: just)?) {_MOVED} (?:over |back |on )?to (?P<o>.+)")
def _moved_to(match: re.Match[str], clause: Clause) -> Iterator[Found]:
    place = as_place(re.split(r" from ", own(match, clause))[0])
    was = re.search(r" from (?P<w>[^,]+)", clause.own[match.start("o") :])
    is_long_ago = re.search(
        r"\b(?:years ago|when i was|as a child|as a kid|back then|originally)\b", clause.own, re.IGNORECASE
    )
    if place and capital(place) and not is_long_ago:
        yield Found("Home", place, was=(as_place(was["w"]) or None) if was else None, correction=True)


@FORMS.form(
    rf"(?:i (?:now |currently |still |actually |just )?live|{IM} (?:living|based|staying)|i reside|we live|"
    r"we're based|"
    rf"my home is|home is|i've lived|i have lived|i've been living) (?:over |up |down |out )?in (?P<o>.+)"
)
def _home(match: re.Match[str], clause: Clause) -> Iterator[Found]:
    words = own(match, clause)
    was = re.search(rf"\b(?:not|no longer)(?: in)? (?P<w>{NAME})", words)
    if place := as_place(words):
        yield Found("Home", place, was=was["w"] if was else None, correction=bool(was))


FORMS.plain("Home", r"(?:my )?home is (?P<o>(?-i:[A-Z]).+)", shape=as_place)
FORMS.plain("Address", r"my (?:home )?address(?:'s| is) (?P<o>.*\d.*)", r"i live at (?P<o>.*\d.*)")
FORMS.plain(
    "Hometown",
    rf"(?:{IM}|i come|i(?:'m| am)) (?:originally )?from (?P<o>.+)",
    r"i (?:originally )?come from (?P<o>.+)",
    r"i grew up in (?P<o>.+)",
    r"(?:i was )?(?:born and )?(?:raised|brought up) in (?P<o>.+)",
    r"my home ?town(?:'s| is) (?P<o>.+)",
    r"i was born in (?P<o>(?!(?:\w+ )?(?:19|20)\d\d|january|feb|march|april|may|june|july|aug|sept|oct|nov|"
    r"dec|the).+)",
    shape=as_place,
)
FORMS.plain(
    "Time zone",
    r"my (?:time ?zone)(?:'s| is)(?: in)? (?P<o>.+)",
    rf"{IM} (?:in|on)(?: the)? (?P<o>(?:[A-Z]{{3,4}}|utc ?[+-] ?\d+(?::\d\d)?|gmt ?[+-] ?\d+|\w+|central "
    r"european))"
    r" ?(?:time(?: ?zone)?|time zone)\b.*",
    rf"{IM} (?:in|on) (?P<o>(?-i:CET|CEST|EST|EDT|PST|PDT|CST|GMT|UTC|JST|IST|BST)\b(?:[+-]\d+)?).*",
)
