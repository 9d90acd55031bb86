"""Whether a value has the shape of its relation: a name is a name, a time zone a zone, a role a trade.

Asked of every proposal, whatever language it was read in: the words around a value may say one thing ("my name is …")
and the value another ("… spelled with a C").
"""

from __future__ import annotations

import re

from looseleaf.core.lazy import lazy

TYPE_CHECKING = False
if TYPE_CHECKING:
    from looseleaf.talk import Proposal

_I = re.IGNORECASE
_NO_NAME = lazy(
    r".*\d|(?:\w-){2,}\w\Z|.*[@/\\<>{}=]|"
    r"(?:(?:mis)?(?:spelled|spelt|pronounced|written)|said|known|taken|changed|hidden|redacted|wrong|missing|"
    r"irrelevant|unknown|unimportant|private|secret|not|on|in|at|too|very|so|really|hard|easy|common|rare|"
    r"unusual|weird|boring|long|short|similar|still|already|often|always|never|also|just|probably|"
    r"geschrieben|ausgesprochen|(?:se|s')\s?(?:prononce|escribe|pronuncia|écrit))\b",
    _I,
)
_ZONE = lazy(
    r".*(?:[A-Z]|\d|/|[^\x00-\x7f])|.*\b(?:utc|gmt|cet|cest|est|edt|pst|pdt|cst|cdt|mst|mdt|ist|jst|bst|eet|wet|msk|"
    r"kst|aest|aedt|acst|awst|nzst|nzdt|hst|akst|sgt|hkt|eastern|pacific|central|mountain|atlantic|european|"
    r"indian|japan|greenwich)\b"
)
_NO_TRADE = lazy(
    r"\w+ing (?:me|us|him|her|them|my|too|so|like|up|down|out|off|away|great|well|fine|badly)\b|"
    r"(?:so|too|very|really|quite|pretty|not|no|always|never|just|still|only|getting|going|becoming|to|at|in|on|"
    r"over|what|why|where|how|that|this|safe|secure|gone|done|hard|easy|fun|boring|stressful|exhausting|tiring|"
    r"demanding|killing|great|good|bad|fine|ok|okay|terrible|awful|horrible|important|interesting|everything|"
    r"nothing|hell|remote|mine|yours|pointless|dull|chaotic|crazy|insane|difficult|tough|rewarding|challenging|"
    r"repetitive|flexible|temporary|permanent|weird|unclear|complicated|a mess|mess|nightmare|joke|dream)(?:\Z|\b"
    r"(?= (?!(?:designer|developer|engineer|artist|writer|worker|manager|nurse|teacher|assistant|consultant)\b)))",
    _I,
)
_SHAPES = {
    "Name": lambda value: not _NO_NAME.match(value),
    "Time zone": lambda value: bool(_ZONE.match(value)),
    "Role": lambda value: not _NO_TRADE.match(value),
    "Home": lambda value: not re.match(r"\d+\Z|.*[@{}<>=]", value),
}


def is_sound(proposal: Proposal) -> bool:
    """What ended may have no value at all: whatever was held is over."""
    if proposal.ended:
        return True
    shape = _SHAPES.get(proposal.relation)
    return shape is None or shape(proposal.object)
