"""What English clauses say of the work: which tools it uses, what was decided.

A tool that is known is the value of what it is (`Database: Postgres`); anything else that was settled is a `Decision`
in its own words.
"""

from __future__ import annotations

import re

from looseleaf.core.lazy import lazy, one_of
from looseleaf.distill.english.decisions import decided
from looseleaf.distill.english.forms import Found, cut
from looseleaf.distill.english.words import ROLES_OF_TOOLS, tool

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from looseleaf.distill.english.clauses import Clause

_I = re.IGNORECASE
_T = r"[\w.+#/-]+(?: [\w.+#/-]+){0,3}?"
_PARTS = (
    r"(?:project|team|backend|back end|frontend|front end|app|api|site|website|service|server|library|cli|"
    r"tool|code|codebase|"
    r"code base|parser|script|stack|company|repo|pipeline|web app|mobile app|bot|worker|whole thing|"
    r"infrastructure|infra)"
)
_WE = (
    rf"(?:for [\w ]{{2,25}},? )?(?:we|our (?:\w+ )?{_PARTS}|the (?:\w+ )?{_PARTS}|this {_PARTS}|"
    rf"my {_PARTS}|"
    r"(?:all )?(?:the |our )?tests|prod(?:uction)?|staging|everything|it all|it|dependencies)"
)
_ALREADY = (
    r"(?:'re|'ve|'ll|'s| are| is| have| has| will| now| currently| all| just| finally| only| mostly|"
    r" already| be| been| recently| both)*"
)
_USING = (
    r"(?:uses?|using|used|test with|tests? using|run (?:our |all |the )?tests with|write (?:our |the "
    r")?tests with|runs?(?: on| with)|running(?: on| with)?|run with|deploys?(?: on| to)|"
    r"deployed(?: on| to)|deploying(?: on| to)|"
    r"hosts?(?: \w+)? (?:on|at|with)|hosted (?:on|at|by|with)|built (?:with|on|in|using)|written in|"
    r"implemented in|write \w+ in|went with|"
    r"go with|going with|chose|picked|stick with|sticking with|staying (?:on|with)|stay (?:on|with)|"
    r"switched(?: over)? to|switching(?: over)? to|"
    r"moved to|moving to|migrated to|migrating to|manage \w+ with|managed with|managed by|tested with|on|"
    r"settled on|agreed on|went for|opting for|"
    r"(?:moved|moving|switched|switching|migrated|migrating|ported|porting) (?:the|our|all|"
    r"every)[\w -]{2,30}? to|"
    r"standardi[sz]ed on|settling on|adopted|adopting|decided on|decided to (?:use|go with|switch to|adopt|"
    r"move to|stick with)|opted for)"
)
_INSTEAD = r"(?:instead of|rather than|in place of|over|and not|not)"
_WE_USE = lazy(
    rf"(?:{_WE}{_ALREADY} |(?:just |finally )?(?=(?:switched|moved|migrated|ported) (?:the|our|"
    rf"everything|all) |(?:going|sticking|went) with |settled on )){_USING} (?P<o>.+)",
    _I,
)
_USE = lazy(
    r"(?:(?:so|then|ok(?:ay)?|yes|please|alright|right),? )*(?P<s>(?:let's|lets|we should|we'll|we will) "
    r"(?:all |just |rather |instead |now )?)?"
    r"(?:use|go with|go for|switch(?: \w+ \w+)? to|move(?: \w+ \w+)? to|migrate to|adopt|pick|choose|take|"
    r"stick with|stay with|keep|deploy to|write (?:it|this|everything) in|"
    r"rewrite (?:it|this|everything|\w+ \w+) in|do (?:it|this) in|build (?:it|this) (?:in|with|on)) "
    r"(?P<o>.+)",
    _I,
)
_FROM_TO = lazy(
    rf"(?:(?:{_WE}|let's|i){_ALREADY} )?(?:please )?(?:switched|switching|switch|moved|moving|move|"
    rf"migrated|migrating|migrate|changed|change)(?: \w+){{0,3}}?(?: over)? (?:from|off) (?P<w>{_T}) to "
    rf"(?P<o>{_T})"
    r"(?: (?:for|because|since|last|this|yesterday|today|in|here|everywhere|please)\b.*)?",
    _I,
)
_REPLACED = lazy(
    rf"(?:we|let's|please)?{_ALREADY} ?(?:replaced?|replacing|swap(?:ped)?|swapping|ditch(?:ed|ing)?|"
    rf"drop(?:ped|ping)?|"
    rf"abandon(?:ed|ing)?)(?: out)? (?!support\b)(?P<w>{_T}) (?:with|by|for|"
    rf"in favou?r of) (?P<o>{_T})(?: (?:in|for|"
    rf"because|since|last|everywhere)\b.*)?",
    _I,
)
_OURS = lazy(
    r"(?:(?:our|the(?: project's)?|this project's|my project's) |(?=main branch|default branch|licen[sc]e: "
    r"))(?:\w+ "
    rf")?(?P<r>{one_of(ROLES_OF_TOOLS)})"
    r"(?: of (?:choice|the project)| we use| for (?:this|the) \w+)?(?: is| will be|"
    r":)(?: now)?(?: called| at|"
    r" now)? (?P<o>.+)",
    _I,
)
_STACK = lazy(r"(?:our|the|my)(?: tech)? stack(?: is|:) (?P<o>.+)", _I)
_SINGLE = (
    (
        lazy(
            r"(?!.*\bby default\b)(?:the|our|my|this|it|we|dev|staging|prod(?:uction)?|everything|"
            r"local)\b.{0,60}?\b(?:listens?|listening|runs?|running|server|available|exposed|served|"
            r"bound|"
            r"reachable|"
            r"api|app|port)\b.{0,30}\b(?:on|is) (?:port )?(?P<o>\d{4,5})\b.*|(?!.*\bby default\b)"
            r"(?:the|our|my|this|it|we|dev|staging|prod|local)\b.{0,60}\bon port (?P<p>\d{2,5})\b.*",
            _I,
        ),
        "Port",
    ),
    (
        lazy(
            r"(?:our|the) (?:main|default|release|development|production) branch (?:is|will be)(?: "
            r"now)?(?: called| named)? (?P<o>(?!(?:frozen|locked|protected|broken|red|green|closed|open|gone|"
            r"stable|outdated|behind|ahead)\b)[\w./-]+).*|"
            r"(?:please )?(?:work|stay|develop|keep working|we're working|"
            r"we work) on (?:the )?(?:branch (?P<p>[\w./-]+)|"
            r"(?P<q>[\w.-]*[/-][\w./-]+) branch)\b.*",
            _I,
        ),
        "Branch",
    ),
    (
        lazy(
            r"(?:.{0,40}\b(?:is|are|'s)|we(?:'re| will| )?)\s?(?:licen[sc]ed?|released?|published?)(?: it| "
            r"everything| this)? under (?:the )?(?P<o>[\w.+ -]+?)(?: licen[sc]e)?",
            _I,
        ),
        "Licence",
    ),
    (
        lazy(
            r"(?:our|the|my|this) (?:repo|repository|code|source)(?:'s| is| lives| sits| moved|"
            r" has moved)(?: now)?"
            r"(?: hosted)?(?: at| on| to)? (?P<o>(?:https?://)?[\w.-]+\.[a-z]{2,}/[\w./-]+|"
            r"[\w-]+/[\w.-]+)(?:,? (?:in case|"
            r"if|last|since|now|for|as of)\b.*)?",
            _I,
        ),
        "Repository",
    ),
    (
        lazy(
            r"(?:we(?:'re| are)|(?:our |the )?(?:current |latest )?version|the (?:project|app|library|"
            r"current version|latest version|current "
            r"release)(?: is)?)(?: now| currently)?(?: on| at| using| is)*(?: version| release)? "
            r"(?P<o>v?\d+\.\d+(?:\.\d+)?)(?: now)?",
            _I,
        ),
        "Version",
    ),
)
_TAIL = lazy(
    r",? (?:in (?:this|the|our|all|every)\b|here\b|for (?:this|the|our|all|everything|now|it|new|every|"
    r"data|storage|hosting|deployment|production|local)\b|everywhere|(?:again|yesterday|today)\b|"
    r"from (?:now|here) on\b|please|"
    r"as (?:the|our|a|an)\b|since\b|because\b|to (?:run|build|test|manage|store|host)\b|across\b|on "
    r"(?:this|the|our)\b|with (?:this|the)\b|in (?:19|20)\d\d|last\b|this\b|until\b|for \w+$).*\Z",
    _I,
)
_AS = lazy(
    r"\b(?:as|for) (?:our |the |a |an |main |primary "
    rf")*(?P<r>{one_of(ROLES_OF_TOOLS)})\b",
    _I,
)
_PURPOSE = lazy(
    r" (?P<q>(?:for|in|on|as|inside) (?:(?:the|our|all|all the|all our|an?|its) )?(?P<n>[\w' /-]{2,40}))\Z",
    _I,
)
_WHOLE_WORK = lazy(
    r"(?:this|these|that|those|it|now|here|us|me|everything|all|work|years?|months|weeks|ages|good|sure|example|"
    r"short|general|future|the future|end|process|moment|time being|long (?:run|term)|future|new|main|primary|default|"
    r"data|storage|data storage|persistence|hosting|deployments?|deploying|testing|(?:unit |all |new )?tests?|"
    r"package management|packages|dependencies|dependency management|(?:whole )?(?:new )?(?:project|repo|repository|"
    r"codebase|code base|code|app|application|product|team|company|stack|thing|system|software|project)|"
    r"(?:\w+ ){0,3}(?:years|months|weeks|days|ago)|(?:19|20)\d\d|(?:next|last|this) .*|"
    r"(?:january|february|march|april|may|june|july|august|september|october|november|december)\b.*|"
    rf"(?:(?:main|primary|default|new|only|web) )*(?:{one_of(ROLES_OF_TOOLS)}))\Z"
    r"|(?:this|these|that|every|new|all) ",
    _I,
)
"""Not a part of the work, but all of it, or what such a tool is for anyway."""
_VAGUE = lazy(
    r"(?:it|this|that|the|a|an|your|my|our|their|in|up|one|them|both|care|these|those|some|more|less|each|"
    r"\w+ing|what|whatever|option|to|me|us|his|her|(?:mon|tues|wednes|thurs|fri|satur|sun)days?)\b",
    _I,
)
_FRONT = lazy(
    r"(?:(?:after|for|during|following|at|in|given|despite|due to|with) (?:the|our|a|an|my|this|some|"
    r"last|much|all|yesterday's|"
    r"today's) ?[\w' -]{2,40}?|in the end|eventually|yesterday|last \w+|ultimately|"
    r"as a team),? (?=(?:we|the team|our team|"
    r"i(?:'ve)? decided)\b)",
    _I,
)
"""When, where and why something was settled, said before it is."""
_IT_IS = lazy(r"(?P<o>[\w.+#-]+(?: (?-i:[A-Z])[\w.+#-]+)?) it is(?:,? (?:then|folks|guys|everyone))?", _I)
_DAY = lazy(
    r"(?:mon|tues|wednes|thurs|fri|satur|sun)day|tomorrow|today|noon|ok|okay|so|as|that|what|here|there|"
    r"well|yes|now",
    _I,
)
_PLACES = lazy(r"[A-ZÀ-Þ][a-zß-ÿ]+(?:[ -][A-ZÀ-Þ][a-zß-ÿ]+)+")
_HERE = lazy(r"\bhere\b|\bin (?:the|this) (?!repo|project|codebase|team|backend|frontend|app|api)\w+\Z", _I)
_HOSTS = lazy(r"\b(?:host|deploy)", _I)


def work(clause: Clause) -> Iterator[Found]:
    """What the project uses or has decided on: the first form that fits."""
    text = clause.text.rstrip(" .!")
    front = _FRONT.match(text)
    begin = front.end() if front else 0
    clause_own = clause.own[begin : len(text)]
    text = text[begin:]
    for form, relation in _SINGLE:
        if match := form.fullmatch(text):
            group = next(name for name in form.groupindex if match[name])
            yield Found(relation, clause_own[match.start(group) : match.end(group)].strip(), topic="project")
            return
    if match := _OURS.fullmatch(text):
        words = cut(clause_own[match.start("o") :])
        if (
            words
            and len(words.split()) < 5
            and not re.match(
                r"(?:not|too|very|slow|down|broken|failing|empty|wrong|full|on|so|still|"
                r"really)\b",
                words,
                _I,
            )
        ):
            yield Found(ROLES_OF_TOOLS[match["r"].lower()], _bare(words), topic="project")
        return
    if match := _STACK.fullmatch(text):
        yield from _used(clause_own[match.start("o") :], known_only=True)
        return
    for form in (_FROM_TO, _REPLACED):
        if match := form.fullmatch(text):
            yield from _replaced(
                clause_own[match.start("o") : match.end("o")],
                clause_own[match.start("w") : match.end("w")],
                text,
            )
            return
    if (match := _IT_IS.fullmatch(text)) and not _DAY.fullmatch(match["o"]):
        chosen = clause_own[match.start("o") : match.end("o")]
        if relation := tool(chosen):
            yield Found(relation, chosen, topic="project")
        elif chosen[:1].isupper() and begin == 0 and not chosen[1:].islower():
            yield Found("Decision", f"use {chosen}", topic="project")
        return
    if match := _WE_USE.fullmatch(text):
        lead = re.match(r"for [\w ]{2,25}?(?=,? we\b)", clause.own, _I)
        part = f" {lead[0].lower()}" if lead else ""
        found = list(_used(clause_own[match.start("o") :], said=text, front=part))
        if found or not re.search(r"\b(?:decided|agreed|settled|opted|chose)\b", text, _I):
            yield from found
            return
    if match := _USE.fullmatch(text):
        yield from _ordered(match, clause_own[match.start("o") :])
        return
    yield from decided(text, clause_own)


def _bare(words: str) -> str:
    words = _TAIL.sub("", words).strip(" ,.!")
    return re.sub(r"\A(?:the|a|an) ", "", words, flags=_I)


def _halves(words: str) -> tuple[str, str]:
    """(what is used, what it is used instead of)."""
    parts = re.split(rf",? {_INSTEAD} ", words, maxsplit=1, flags=_I)
    return parts[0].strip(), _bare(parts[1]) if len(parts) > 1 else ""


def _purpose(words: str) -> str:
    """The part of the work that a tool is chosen for: a choice for one part says nothing of the others."""
    found = _PURPOSE.search(f" {cut(words)}")
    return "" if found is None or _WHOLE_WORK.match(found["n"]) else found["q"]


def _for_a_part(tool_words: str, purpose: str, old: str) -> Found:
    instead = f" instead of {old}" if old else ""
    return Found(
        "Decision",
        f"use {tool_words} {purpose}{instead}",
        was=old or None,
        correction=bool(old),
        topic="project",
    )


def _used(words: str, said: str = "", *, known_only: bool = False, front: str = "") -> Iterator[Found]:
    new, old = _halves(words)
    role = _AS.search(new)
    purpose = "" if role else _purpose(new) or _purpose(front)
    if _bare(cut(_TAIL.sub("", new))).endswith(purpose):
        purpose = ""  # it is said already
    parts = [_bare(part) for part in re.split(r",? and |, ", cut(_TAIL.sub("", new))) if part.strip()]
    for part in parts:
        relation = (ROLES_OF_TOOLS[role["r"].lower()] if role and len(parts) == 1 else "") or tool(part)
        if _VAGUE.match(part):
            continue
        if not relation and _HOSTS.search(said) and part[:1].isupper() and len(part.split()) < 4:
            relation = "Hosting"
        if not relation and re.search(r"\bbuilt (?:with|on|using)\b", said, _I) and part[:1].isupper():
            relation = "Framework"
        if relation and purpose:
            yield _for_a_part(part, purpose, old)
        elif relation:
            yield Found(relation, part, was=old or None, correction=bool(old), topic="project")
        elif not known_only and len(parts) == 1 and not _VAGUE.match(new) and len(part.split()) < 5:
            if re.search(
                r"\b(?:decided|agreed|settled|went with|going with|go with|chose|picked|opted|stick|"
                r"standardi|adopt)",
                said,
                _I,
            ):
                verb = (
                    "use"
                    if re.search(
                        r"\b(?:went with|going with|go with|chose|picked|opted|adopt|to use)", said, _I
                    )
                    else ""
                )
                yield Found(
                    "Decision",
                    " ".join(filter(None, (verb, part, purpose))) + (f" instead of {old}" if old else ""),
                    topic="project",
                )
            elif re.match(r"(?:we|our|this|the)\b.*\b(?:uses?|using)\b", said, _I) and part[:1].isupper():
                yield Found("Uses", part, topic="project")


def _replaced(new: str, old: str, said: str) -> Iterator[Found]:
    if re.match(r"an? (?![A-Z])", new):
        return  # one thing for another of its kind
    new, old = _bare(cut(new)), _bare(cut(old))
    relation = tool(new)
    if relation:
        yield Found(relation, new, was=old, correction=True, topic="project")
    elif re.match(r"(?:we|i)\b.*\b(?:moved|moving|move|relocated)\b", said, _I) and _PLACES.fullmatch(
        f"{old} {new}"
    ):
        return  # people move too, and houses have no relation here
    elif re.match(r"(?:we|let's|our|the)\b", said, _I) and not _VAGUE.match(new) and not new[:1].isdigit():
        yield Found("Decision", f"use {new} instead of {old}", was=old, correction=True, topic="project")


def _ordered(match: re.Match[str], words: str) -> Iterator[Found]:
    """ "Use X": it settles something when we shall, when it is instead of something, or when X is a tool."""
    new, old = _halves(words)
    if _VAGUE.match(new) or not new or _HERE.search(words):
        return
    part = _bare(cut(new))
    relation = tool(part)
    verb = match[0][: match.start("o") - match.start()].lower()
    if relation == "Programming language" and not (match["s"] or old or " in " in verb):
        return
    purpose = "" if _AS.search(new) else _purpose(new)
    settled = match["s"] or old or " in " in verb or "switch" in verb or "migrate" in verb
    if relation and settled and purpose:
        yield _for_a_part(part, purpose, old)
    elif relation and settled:
        yield Found(relation, part, was=old or None, correction=bool(old), topic="project")
    elif old and len(part.split()) < 5 and (match["s"] or "use" in verb or "switch" in verb):
        yield Found("Decision", f"use {part} instead of {old}", was=old, correction=True, topic="project")
    elif re.search(r"\b(?:here|this|today|now)\b", words, _I) or not re.search(r"[A-Z0-9-]", part):
        return  # something for this one time, or nothing with a name
    elif match["s"] and len(part.split()) < 6:
        settles = re.search(r"use|go with|switch to|adopt|stick with|migrate to", verb)
        if settles:
            yield Found("Decision", f"{settles[0]} {part} {purpose}".strip(), topic="project")
