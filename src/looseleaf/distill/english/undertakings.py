"""Forms that say what the speaker works on for long."""

from __future__ import annotations

import re

from looseleaf.core.lazy import lazy
from looseleaf.distill.english.forms import IM, Forms, cut

FORMS = Forms()
_SLIGHT_WORK = lazy(
    r"\b(?:this|today|tonight)\b|\b(?:project|something|things?|bug|issue|problem|ticket|task|fix|"
    r"tests?|pr|branch|error)"
    r"(?: together| here| lately)?\Z"
    r"|\A(?:(?:an?|my|our|the) )?(?:[\w-]+ )?(?:function|script|query|regex|image|table|class|method|"
    r"loop|component|migration|"
    r"dockerfile|config|spreadsheet|presentation|slides?|report|letter|essay|email|post|tweet|readme|"
    r"list|file|form|page|health|"
    r"reply)\b"
)


def _work_in_hand(words: str) -> str:
    """What somebody works on for long; nothing, where it has no name or is done today."""
    short = re.sub(
        r" (?:right|with|since|for (?:the last|a|some|two|three|years)|today)\b.*\Z", "", cut(words)
    )
    return "" if _SLIGHT_WORK.search(words) or _SLIGHT_WORK.search(short) else short


FORMS.plain(
    "Works on",
    rf"(?:{IM}|we(?:'re| are)) (?:working on|building|developing|writing|creating|maintaining|restoring|"
    r"renovating|designing|recording|composing|translating|editing) (?P<o>(?:an?|my|our|the) "
    r"(?!(?:bug|issue|problem|ticket|task|test|fix|email|mail|letter|reply|error|same|first|"
    r"feature|essay|message|next)\b).+)",
    r"i (?:maintain|run|develop) (?P<o>(?:an?|the) (?:[\w-]+ ){0,5}(?:library|project|app|package|blog|"
    r"podcast|newsletter|site|website|tool|framework|plugin|repo|channel|server|shop|company|"
    r"startup|bakery|restaurant|café|cafe|studio|farm|gym|agency|bookshop|bookstore|business|club|"
    r"band|choir)\b.*)",
    r"my (?:side |current |main |pet )?project is (?P<o>(?!broken|failing|due|late|slow|not).+)",
    shape=_work_in_hand,
)
