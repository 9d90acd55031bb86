"""What English clauses say was settled: `Decision`, in its own words, where no relation of the work fits better."""

from __future__ import annotations

import re

from looseleaf.core.lazy import lazy
from looseleaf.distill.english.forms import Found, cut
from looseleaf.distill.english.words import tool

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

_I = re.IGNORECASE
_ALREADY = r"(?:'ve|'re| have| has| all| just| finally| now| both| jointly| already| recently| unanimously)*"
_SUBJECT = (
    r"(?:we|the (?:whole )?team|the board|management|my team|our team|everyone|the group|the committee)"
)
_I_TOO = r"(?= decided (?:to (?:use|go with|drop|keep|stick|switch|rewrite|split)|against|on)\b)"
_WHO = rf"(?:{_SUBJECT}{_ALREADY}|i(?:'ve| have)?(?: finally| now| just)*{_I_TOO})"
_FORMS = tuple(
    lazy(pattern, _I)
    for pattern in (
        (
            rf"{_WHO} (?:decided|agreed|settled|opted|chosen|chose|voted|resolved|committed|concluded)"
            r"(?: (?P<c>to|that|on|for|against|not to))? (?P<o>.+)"
        ),
        (
            r"(?:(?:the |our |my |team |final |official )*(?:decision|verdict|plan of record|outcome|"
            r"consensus|resolution)"
            r"(?: made| so far| is| was| from [\w ]{2,20})?|decided|agreed|resolved|settled|"
            r"(?:the )?team voted|it's decided|"
            r"it's settled|it's official)(?::|(?<=it's \w{7}),| -| –| (?:is|was)(?= not to )| is to| was to| is that|"
            r" to) (?:to |that )?(?P<o>.+)"
        ),
        (
            r"(?P<o>(?:we|we'll|we're|let's) .+?)(?:,|:| -| –) (?:that's|it's|this is|that is|"
            r"it is) (?:now |been )?(?:decided|"
            r"settled|final|agreed|a done deal|official)"
        ),
        (
            r"(?:we're|we are|we'll be|we will be) (?P<g>dropping|sunsetting|deprecating|"
            r"shipping without|removing|killing|"
            r"keeping(?= \w+(?: \w+){0,2}\Z)|postponing|delaying|freezing|splitting|abandoning|"
            r"scrapping|retiring|outsourcing|"
            r"skipping) (?P<h>.+)"
        ),
        (
            r"(?:we're|we are) not (?:going to |gonna )?(?P<ng>support|us|adopt|build|ship|offer|migrat|"
            r"rewrit|add|hir|"
            r"expand|upgrad)(?:ing|e)? (?P<nh>.+)"
        ),
        (
            r"we (?:won't|will not|aren't going to) (?P<w>(?:use|support|adopt|build|ship|offer|migrate|"
            r"rewrite|add|hire|"
            r"expand|upgrade|do|need) .+)"
        ),
    )
)
_WHOLE = {"us": "use", "migrat": "migrate", "rewrit": "rewrite", "hir": "hire", "upgrad": "upgrade"}
_GERUNDS = {
    "shipping": "ship",
    "dropping": "drop",
    "scrapping": "scrap",
    "skipping": "skip",
    "splitting": "split",
    "sunsetting": "sunset",
    "postponing": "postpone",
    "freezing": "freeze",
    "deprecating": "deprecate",
    "retiring": "retire",
    "outsourcing": "outsource",
    "removing": "remove",
}
_WE = lazy(r"(?:we(?:'ll| will|'re going to| are going to)|let's) (?P<o>.+)", _I)
_WE_NOT = lazy(
    r"(?:we )?(?:(?:will|shall|should|would|do|are|'ll) not|won't|don't|shouldn't|aren't|not)"
    r"(?: (?:going )?to)? (?P<o>.+)",
    _I,
)
"""What was decided not to be done."""
_UNTIL = lazy(r",? (until|till) ([^,;:.]{2,40})\Z", _I)
_HELD = lazy(r"(?<!,) (?=not\b)", _I)
_UNSAID = lazy(
    r"(?:that|it|this|you|something|nothing|we|i|anything|yet|so|not yet|these|those|he|she|them)\b", _I
)


def decided(text: str, own: str) -> Iterator[Found]:
    """What was decided. `own` are the speaker's words under `text`."""
    for form in _FORMS:
        if match := form.fullmatch(text):
            yield from _settled(match, own)
            return


def _settled(match: re.Match[str], own: str) -> Iterator[Found]:
    said = {
        name: _whole(own[match.start(name) : match.end(name)])
        for name, words in match.groupdict().items()
        if words
    }
    words = said.get("o", "")
    how = (match.groupdict().get("c") or "").lower()
    if how != "against" and (negated := _WE_NOT.fullmatch(words)):
        words, how = _whole(negated["o"]), "not to"
    elif plain := _WE.fullmatch(words):
        words = _whole(plain["o"])
    elif again := next((each for each in (form.fullmatch(words) for form in _FORMS[3:]) if each), None):
        yield from _settled(again, words)
        return
    if "h" in said:
        first, _, rest = said["g"].lower().partition(" ")
        words = " ".join(filter(None, (_GERUNDS.get(first, first.removesuffix("ing")), rest, said["h"])))
    if "nh" in said:
        words = f"don't {_WHOLE.get(said['ng'].lower(), said['ng'].lower())} {said['nh']}"
    if "w" in said:
        words = f"don't {said['w']}"
    chosen = re.fullmatch(r"(?P<o>[\w.+#-]+) over (?P<w>[\w.+#-]+)", words, _I)
    if chosen and tool(chosen["o"]):
        yield Found(tool(chosen["o"]), chosen["o"], was=chosen["w"], correction=True, topic="project")
    elif how not in ("against", "not to") and tool(words) and len(words.split()) == 1:
        yield Found(tool(words), words, topic="project")
    elif (len(words.split()) > 1 or how in ("against", "on", "not to") or "-" in words) and not _is_unsaid(
        words
    ):
        lead = {"against": "against ", "not to": "do not "}.get(how, "")
        yield Found("Decision", lead + words, topic="project")


def _whole(words: str) -> str:
    """Like `cut`, but what is denied stays denied, and what holds until a day says so."""
    until = _UNTIL.search(words)
    body = words[: until.start()] if until else words
    body = cut(_HELD.sub(" \u02ad", f" {body}")).replace("\u02ad", "")
    body = re.sub(r"\A(never|not) to ", r"\1 ", body, flags=_I)
    return f"{body} {until[1]} {until[2]}" if until and body else body


def _is_unsaid(words: str) -> bool:
    """Whether it was decided elsewhere what is decided: "do that", "it"."""
    if re.fullmatch(r"(?:don't|do not) \w+", words, _I):
        return True
    first, _, rest = re.sub(r"\A(?:don't|do not|not to) ", "", words).partition(" ")
    return (
        _UNSAID.match(f"{first} {rest}") is not None
        or re.fullmatch(r"(?:that|it|this|so)", rest, _I) is not None
    )
