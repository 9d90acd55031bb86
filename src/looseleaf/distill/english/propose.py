"""The facts that an English sentence states: `propose`.

Rather no fact than a wrong one: a sentence that asks, supposes, jokes, plays, doubts or reports gives none.
"""

from __future__ import annotations

import re

from looseleaf.core.lazy import lazy
from looseleaf.distill.english.clauses import (
    CORRECTS,
    CURRENT,
    NO_FACT,
    SENTENCE_CHARS,
    Clause,
    blanked,
    clauses,
    core,
    is_meant,
    stated,
)
from looseleaf.distill.english.dated import since
from looseleaf.distill.english.facts import facts
from looseleaf.distill.english.forms import Found
from looseleaf.distill.english.rules import SURE, languages, order
from looseleaf.distill.english.time import timed, turned
from looseleaf.distill.english.work import work
from looseleaf.distill.shape import changed, kind_of, made
from looseleaf.distill.shape import tidy as on_one_line

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from looseleaf.talk import Proposal
    from looseleaf.values import TimeSpan

_SAYS = lazy(
    r"\b(?:said|says|say|told|tells|wrote|writes|claims?|claimed|thinks|thought|asked|asks|texted|goes|"
    r"quoted?|"
    r"sings?|sang|"
    r"reads|shouted|replied|mentioned|according to)\b",
    re.IGNORECASE,
)
_STANDS = lazy(
    r"\b(?:again|fine|okay|ok|allowed|permitted|"
    r"before|must|should|need|needs|treat|until|be|word|want|always|never|ever|from now on|from here "
    r"on|going forward|moving forward|future|henceforth|"
    r"whenever|every time|"
    r"each time|any ?time|make sure|be sure|don't|do not|stop|avoid|only|keep|rules?|must not|mustn't|not "
    r"allowed|answer|"
    r"reply|respond|forget|drop|ignore|scrap|skip|spare|everywhere|consistently|in doubt|at most|max|"
    r"format|round|"
    r"name|show|put|give|if|quote|convert|express|state|prices|numbers|numbers|sort|print|treat|unless|"
    r"prefer|policy|convention|throughout|by default|all|every|"
    r"each|when i|"
    r"if i|when you|if you|once i|no|use|address me|call me|write|speak|talk|explain|communicate|"
    r"chat)\b",
    re.IGNORECASE,
)
_SHORT = lazy(
    r"\b(?:for (?:this|the) (?:task|session|project|week)|today|this week|until (?:tomorrow|friday|"
    r"monday))\b",
    re.IGNORECASE,
)
_LEAD = lazy(
    r"(?:(?:ok|okay|so|and|but|also|btw|by the way|fyi|please note(?: that)?|note(?: that)?|(?:please "
    r")?remember(?: that)?|keep in mind(?: that)?|"
    r"actually|yes|yeah|well|hey|hi|one thing|one more thing|important|reminder|for the record|just|oh|"
    r"general|new|and please|thanks|in general|generally)"
    r"\b[\s,:!.–—-]*)+",
    re.IGNORECASE,
)
_ORDER_BEGINS = lazy(
    r"(?:\A|[,;:.!—-]\s+|\b(?:and|but|so|please)\s+)"
    r"(?=(?:please,? )?(?:always|never|from now on|from here on|going forward|moving forward|in future|in "
    r"the future|whenever|"
    r"every time|each time|any ?time|make sure|be sure|don't|do not|stop|avoid|only|keep|must not|when i|"
    r"if i|once i|no \w|"
    r"i (?:don't )?want you to|i(?:'d| would) (?:like|rather|appreciate|prefer)|you (?:must|should|need|"
    r"have)|we (?:always|never)|"
    r"can you|could you|would you|answer|reply|respond|use|(?:address|call) me|remember|(?:\w+ "
    r"){0,2}rules?:|write|speak|talk|"
    r"explain|let's (?:talk|speak|chat)|forget|drop|ignore|scrap|the|zero|ok|okay|new|house|my|our|i|"
    r"\w+ ))",
    re.IGNORECASE,
)


_IS_ORDER = lazy(
    r"\W*(?:please|always|never|don't|do not|use|answer|reply|respond|keep|write|be|no|only|avoid|stop|"
    r"make|call me|from now|"
    r"going forward|be brief|speak|talk|give|show|skip|explain|format|ask|remember|for all|when|"
    r"whenever|if)\b",
    re.IGNORECASE,
)
_REQUEST = lazy(
    r"\W*(?:(?:please|can you|could you|would you|now|then|ok|hey|hi)[\s,]+)*(?:write|make|create|give|"
    r"list|draw|draft|summari[sz]e|"
    r"translate|rewrite|explain|show|fix|generate|build|suggest|recommend|find|help|tell|describe|"
    r"compose|plan|compare|convert|"
    r"refactor|review|check|add|implement|design|update|change|sort|shorten|i need|i want|i'd like)\b",
    re.IGNORECASE,
)
_SO_NO = lazy(r"[,;]?\s*so,? (?:please|no|don't|do not|avoid|keep|use|skip)\b", re.IGNORECASE)
_HASTY = lazy(
    r"\b(?P<gap>i(?=(?:ve|m)\b)|(?:do|does|did|ca|wo|is|are|was|were|has|have|should|would|could|"
    r"must)n(?=t\b)|"
    r"you(?=re\b)|they(?=re\b)|that(?=s\b)|what(?=s\b)|\Alet(?=s\b))"
    r"|\b(?:(?P<please>pl[sz]|plss|plz)|(?P<you>u)|(?P<your>ur)|(?P<want>wanna)|(?P<going>gonna)|"
    r"(?P<because>cuz|coz|bc))"
    r"\b(?![./@-])(?<![./@-]u)(?<![./@-]bc)",
    re.IGNORECASE,
)
"""Where an apostrophe was left out, or a word was cut short."""
_WHOLE = {
    "please": "please",
    "you": "you",
    "your": "your",
    "want": "want to",
    "going": "going to",
    "because": "because",
}


def _careful(sentence: str) -> tuple[str, list[int]]:
    """(the sentence as it would be written with care, where each of its places is in the hasty one)."""
    parts: list[str] = []
    places: list[int] = []
    end = 0
    for match in _HASTY.finditer(sentence):
        kind = match.lastgroup or ""
        start = match.end() if kind == "gap" else match.start()
        added = _WHOLE.get(kind, "'")
        parts += [sentence[end:start], added]
        places += [*range(end, start), *[start] * len(added)]
        end = match.end()
    return "".join((*parts, sentence[end:])), [*places, *range(end, len(sentence) + 1)]


_TONE = lazy(
    r"\A(?P<said>(?=(?:[^,]{3,120}, ){2}|.{0,200}\bi (?:really |also |just )?(?:hate|love|can't stand) [\w +#.-]{2,30} "
    r"(?:lol|haha+|lmao))[^\n]*?),? (?:lol|lmao|haha+)[\s.!]*\Z",
    re.IGNORECASE,
)
"""Who laughs after all that, or at what he hates, takes nothing back."""


def propose(sentence: str, ts: float) -> list[Proposal]:
    """What `sentence`, said at `ts`, states about the speaker or the work."""
    sentence = _TONE.sub(r"\g<said>", sentence[:SENTENCE_CHARS])
    careful, places = _careful(sentence)
    if careful == sentence:
        return _proposed(sentence, ts)
    found = []
    for each in _proposed(careful, ts):
        start = careful.find(each.quote)
        quote = sentence[places[start] : places[start + len(each.quote)]].strip()
        found.append(changed(each, quote=quote))
    return found


def _proposed(sentence: str, ts: float) -> list[Proposal]:
    start, end = core(blanked(sentence[:SENTENCE_CHARS].replace("’", "'")))
    is_now = CURRENT.search(sentence[:SENTENCE_CHARS]) is not None
    corrects = CORRECTS.search(sentence[:SENTENCE_CHARS]) is not None
    is_polite = re.match(r"\W*please\b", sentence[end:], re.IGNORECASE) is not None
    if NO_FACT.search("x" + sentence[end:SENTENCE_CHARS]):
        return []
    sentence = sentence[start:end]
    own = sentence.replace("’", "'")
    text = blanked(own)
    found = list(_orders(text, own, sentence, is_polite))
    taken = found[0][1] if found else len(text)
    said = stated(text[:taken])
    if said and is_meant(said):
        found = [*_stated(said, sentence, ts, "current" if is_now else None, corrects), *found]
    return _once([proposal for proposal, _ in found])


_BROKEN = lazy(
    r"(?:\A|\b)(?:an?|the|of|for|to|with|by|from|and|or|but|my|our|your|their|than|because|very|about|"
    r"into|which|whose|at|onto|towards|against|between|among|within|via|per|is|are|was|were|am|its|his|"
    r"when|where|if|as|such|every|each|some|"
    r"(?:an?|the|my|our|more|very|so|really) (?:\w+, )?(?:safe|new|good|great|better|best|nice|big|small|little|real|"
    r"own|other|inclusive|supportive|comfortable|positive|healthy|beautiful|strong|warm|special|certain|different|"
    r"specific|whole|first|next|last|full|simple))\Z",
    re.IGNORECASE,
)
"""How no phrase ends."""


def tidy(words: str) -> str:
    """A phrase that is whole: nothing, where it was cut in its midst."""
    words = on_one_line(words)
    return "" if _BROKEN.search(words) else words


def _once(proposals: list[Proposal]) -> list[Proposal]:
    """Of several that say the same, the first; of two names or homes, the last."""
    kept: dict[tuple[str, str], Proposal] = {}
    for each in proposals:
        kept.setdefault((each.relation.casefold(), each.object.casefold()), each)
    for relation in ("name", "hometown", "home"):
        for key in [key for key, each in kept.items() if key[0] == relation and not each.ended][:-1]:
            del kept[key]
    return list(kept.values())


# --- orders ----------------------------------------------------------------------------


def _orders(text: str, own: str, sentence: str, is_polite: bool = False) -> Iterator[tuple[Proposal, int]]:
    """(the standing order, where it begins): it goes on to the end of the sentence."""
    if not _STANDS.search(text) or re.match(
        r"\W*(?:(?:system|assistant|user|customer|client|bot|ai|human) ?:|(?:what if|suppose|imagine|"
        r"pretend|you are(?! not allowed)|act as|hypothetically)\b)",
        text,
        re.IGNORECASE,
    ):
        return
    is_question = text.rstrip(" \"')").endswith("?")
    if is_question and re.search(r"\bhere\b", text, re.IGNORECASE):
        return
    if is_question and not re.match(
        r"\W*(?:please |hey,? |ok,? |and |so )*(?:can|could|would|will) you (?:please )?(?:(?:always|never|"
        r"only|from now on)\b|.{3,80}\b(?:from now on|going forward|in future)\W*\Z)",
        text,
        re.IGNORECASE,
    ):
        return
    if re.search(r"\b(?:just kidding|kidding|joking|lol|lmao)\b|😂", text, re.IGNORECASE):
        return
    tried = 0
    for begin in _ORDER_BEGINS.finditer(text):
        tried += 1
        if tried > 12:
            return
        lead = _LEAD.match(text, begin.end())
        start = lead.end() if lead else begin.end()
        rest = text[start:].rstrip(" .!?")
        before = text[: begin.start()]
        joined = re.match(r"(?:and|but|so)\b", begin[0], re.IGNORECASE) and not text.startswith(
            "please", begin.end()
        )
        if before.strip() and _REQUEST.match(before) and not SURE.search(text):
            return  # how the one thing is to be done that is asked for
        follows = _SO_NO.match(begin[0] + text[begin.end() : begin.end() + 20])
        if follows:
            joined = None  # an order that follows from what was said
        if joined and not _IS_ORDER.match(before):
            continue  # it has the subject of what stands before it
        if _SAYS.search(before) or re.search(
            r"\b(?:if|that|who|which|to|i|they|he|she|it)\s*\Z", before, re.IGNORECASE
        ):
            continue
        is_begged = is_polite or (follows and re.match(r"no ", rest, re.IGNORECASE))
        begged = "please " if is_begged and not re.match(r"please\b", rest, re.IGNORECASE) else ""
        for each in order(begged + rest, begged + own[start:]):
            words = tidy(each.object)
            if words:
                span: TimeSpan = "short_term" if _SHORT.search(text) else "long_term"
                quote = sentence[start : start + len(rest)].strip()
                yield (
                    made(
                        each.relation,
                        words,
                        quote,
                        topic=each.topic,
                        span=span,
                        correction=each.correction,
                        ended=each.ended,
                    ),
                    begin.start(),
                )
                return


# --- statements ------------------------------------------------------------------------


_SETTLED = lazy(
    r"\b(?:that's|it's|this is) (?:\w+ )?(?:decided|settled|final|agreed|official)\W*\Z", re.IGNORECASE
)


def _stated(
    said: str, sentence: str, ts: float, span: TimeSpan | None, corrects: bool
) -> Iterator[tuple[Proposal, int]]:
    tongues = list(languages(said))
    whole = Clause(said, sentence[: len(said)].replace("’", "'"), sentence[: len(said)])
    if (": " in said or _SETTLED.search(said)) and (labelled := [*work(whole), *facts(whole)]):
        for each in labelled:
            if words := tidy(each.object):
                yield _shaped(each, words, whole, span, corrects), 0
        return
    if re.search(r"\b(?:deadline|due(?: date)?)(?: for [\w ]{2,30})?: ", said, re.IGNORECASE):
        dated = Clause(whole.text.replace(": ", " is ", 1), whole.own.replace(": ", " is ", 1), whole.quote)
        yield from ((proposal, 0) for proposal in _of_clause(dated, ts, span, corrects))
        return
    for clause in clauses(said, sentence[: len(said)]):
        if tongues and re.search(
            r"\b(?:discuss|code|talk|speak|answer|reply|comments)\b", clause.text, re.IGNORECASE
        ):
            continue
        if re.match(r"i said\b", clause.text, re.IGNORECASE):
            continue
        if _SAYS.search(clause.text[:60]) and not re.match(
            r"i\b(?!.*\b(?:said|told|asked)\b)", clause.text, re.IGNORECASE
        ):
            break  # whatever follows is somebody else's
        yield from ((proposal, 0) for proposal in _of_clause(clause, ts, span, corrects))
    if tongues:
        yield made("Language", tongues[0].object, sentence[: len(said)].strip(), correction=corrects), 0


_BEFORE_EVENTS = frozenset(
    (
        "Employer",
        "Role",
        "Home",
        "Education",
        "Age",
        "Name",
        "Condition",
        "Allergy",
        "Birthday",
        "Diet",
        "Religion",
    )
)
"""Where a clause says one of these, what happened is only how it came about."""


def _of_clause(clause: Clause, ts: float, span: TimeSpan | None, corrects: bool) -> Iterator[Proposal]:
    clause = turned(clause, ts)
    found = list(work(clause)) or list(facts(clause))
    known = [
        each
        for each in found
        if each.relation in _BEFORE_EVENTS and not each.ended and "promoted" not in clause.text.lower()
    ]
    begun = since(clause.own, ts)
    for when in [] if known else timed(clause, ts):
        words = tidy(when.object)
        if words:
            yield made(
                when.relation,
                words,
                clause.quote.strip(),
                span=when.span,
                first=when.first,
                last=when.last,
                correction=corrects or when.correction,
            )
            # An animal that has a name is told of beside how it came, and what is over beside how it ended.
            found = [each for each in found if each.ended or (each.relation == "Pet" and "(" in each.object)]
            break
    for each in found:
        words = tidy(each.object)
        if words or (each.ended and not each.object):
            yield _shaped(each, words, clause, span, corrects, begun)


_LASTING = frozenset(("Home", "Employer", "Role", "Education", "Manager", "Address", "Diet", "Name"))
"""What begins on a day, and goes on."""


def _shaped(
    found: Found,
    words: str,
    clause: Clause,
    span: TimeSpan | None,
    corrects: bool,
    begun: str | None = None,
) -> Proposal:
    lasting = kind_of(found.relation) in ("identity", "preference", "trait", "decision")
    return made(
        found.relation,
        words,
        clause.quote.strip(),
        topic=found.topic,
        span=span if lasting else None,
        first=begun if found.relation in _LASTING and not found.ended else None,
        correction=found.correction or corrects,
        was=tidy(found.was) or None if found.was else None,
        ended=found.ended,
    )
