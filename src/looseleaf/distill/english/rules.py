"""English orders that stand: `Rule`, and `Language` for the one that is wanted in talk or in code.

An order stands when its words say so ("always", "from now on", "whenever"); one that is about this one piece of work
("here", "this time", "don't forget") does not.
"""

from __future__ import annotations

import re

from looseleaf.core.lazy import lazy
from looseleaf.distill.english.forms import WISHED, Found, cut
from looseleaf.distill.english.orders import FROM_NOW, MAKES_SURE, ONCE, ORDERS, VERBS
from looseleaf.distill.english.words import LANGUAGE

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

_I = re.IGNORECASE

SURE = lazy(
    r"\b(?:always|never|ever|whenever|every|each|any ?time|from now on|going forward|future|under no|"
    r"rules?|policy|at all times|"
    r"by default|general|without exception|throughout|no matter|when(?:ever)? i (?:say|write|type))\b",
    _I,
)
_ADVICE = lazy(
    r"\b(?:yourself|your (?!answers?\b|repl(?:y|ies)\b|responses?\b|explanations?\b|code\b|tone\b|output\b|"
    r"messages?\b|comments?\b|suggestions?\b|examples?\b|sources?\b|reasoning\b|work\b|summar(?:y|ies)\b|"
    r"commits?\b|tests?\b|language\b|text\b|writing\b|emails?\b|drafts?\b|calculations?\b|lists?\b|"
    r"sentences\b|own (?:words|code|answers)\b|\w+ (?:answers|replies|responses|messages))|my friend|"
    r"keep (?:going|trying|persevering|pushing|working hard|fighting|believing|moving|chasing)|"
    r"give up|for granted|too late|too (?:hard|much) on|sunscreen|each other|one another)\b"
    r"|\A(?:please )?(?:always |never |don't |do not )*(?:be (?:kind|proud|strong|grateful|true|"
    r"thankful|there|humble|"
    r"happy|sad|ready|careful|patient|the|on the)|wear|drink|eat|sleep|rest|relax|smile|dream|enjoy|"
    r"chase|cherish|"
    r"say (?:never|no|yes)|work hard|look (?:back|for|at)|think (?:about|of|twice)|stay (?:positive|"
    r"strong|true|safe|"
    r"humble|curious|in|focused|hydrated)|keep (?:going|trying|pushing|learning|smiling|fighting|moving|"
    r"up|on))\b",
    _I,
)
"""What is said to a person: the assistant has no self, no health and nothing of its own but what it writes."""
_LIFTED = lazy(
    r"(?:you can |please |let's |you may )?(?:forget|drop|ignore|scrap|stop following|disregard|"
    r"lift) (?:about )?"
    r"(?:the|my|our|that) rule (?:about|on|that|against) (?P<o>[^,]+?)(?:,.*| now| please| any ?more| (?:it|that) .*)?"
    r"|(?:you can |please |let's |you may )?(?:forget|drop|ignore|scrap|stop following|disregard|lift) (?:about )?"
    r"(?P<q>(?:the|my) .+? rule)(?:,.*| now| please| (?:it|that) .*)?"
    r"|(?P<p>the .+? rule) (?:no longer applies|doesn't apply any ?more|is (?:off|lifted|"
    r"no longer needed|gone)).*",
    _I,
)
_ALLOWED = lazy(
    rf"(?:please )?(?:you(?:'re| are)? (?:can|may|allowed to|free to)|(?:it's|it is) (?:ok|okay|fine|alright)"
    rf"(?: for you)? to)(?: now)? (?P<o>{VERBS}\b .+?),? (?:again|once more)(?: now)?|"
    rf"(?:it's|it is) (?:ok|okay|fine|alright) (?:now|again) to (?P<p>{VERBS}\b .+)|"
    rf"you may (?P<q>{VERBS}\b .+?) now|"
    r"(?P<g>\w+ing) (?P<h>[^,]{2,60}?) is (?:ok|okay|fine|allowed|permitted|alright|all right|no problem)"
    r"(?: again| now| from now on| any ?time)+",
    _I,
)
"""What was forbidden, and is no more."""
_NO_ANTECEDENT = lazy(
    r"(?:(?:always|never|don't|do not|only|not|just|ever) )*\w+ (?:that|this|it|them|so|these|those)"
    r"(?: (?:ever|again|any ?more|now|daily|at all|please|every \w+|all the time))*",
    _I,
)
_POLITE = lazy(
    r",? (?:please|thanks|thank you|ok|okay|if (?:possible|you can|that's ok)|alright|thx|would you|from "
    r"now on|from here on|going forward|always|"
    r"got it|understood|that goes for .*|(?:that's|this is|that is) (?:a|my|the|important|"
    r"non-negotiable).*|as a (?:general )?rule|cheers)\Z|\A(?:please|also|to|kindly),? ",
    _I,
)
_REASON = lazy(
    r"(?:,? (?:because|since|as i|so (?:that )?(?:i|we|it|my)|even (?:when|if)|otherwise)|, (?:it "
    r"(?:annoys|confuses|breaks|makes)|thanks|"
    r"i (?:find|hate|can't|don't like|get|read|have)|that's|that is|it's|they're|we (?:had|have|got)|this "
    r"is|he|she|my)) .*\Z|[;:] (?:i|it|we|that)\b.*\Z| [-–—]+ .*\Z| \(.*\Z",
    _I,
)
_TALKS = r"(?:answer|reply|respond|talk|speak|write|communicate|chat|discuss|converse|explain|text)"
_IN_LANGUAGE = lazy(
    rf"(?:{FROM_NOW}[,:]? )?(?:please )?(?:always |only |just |can you |could you |let's |i(?:'d| would)? "
    r"(?:want|like|prefer) (?:you )?to |i (?:always |usually )?|from now on,? )*"
    rf"(?:{_TALKS})(?:ing)?(?: to| with| back| things| everything)?(?: to| with)?(?: me| us)?(?: only| "
    rf"always| everything)? in (?P<l>{LANGUAGE})\b(?P<rest>.*)",
    _I,
)
_CODE_LANGUAGE = lazy(
    r"\b(?:(?:code|coding|comments?|commit messages?|variable names?|identifiers|documentation|docs)\b[\w "
    rf",]{{0,30}}?(?:in|are in|is in|should be in|stay in) (?P<c>{LANGUAGE})|(?P<d>{LANGUAGE}) "
    r"(?:code|comments|variable names|commit messages|identifiers))\b",
    _I,
)
_TALK_LANGUAGE = lazy(
    rf"\b(?:(?!write|explain|text){_TALKS}|conversation|discussions?|chat|answers|replies)(?:ing|s|"
    r"es)?\b(?! code)[\w "
    rf",]{{0,30}}?(?:in|to be in) (?P<l>{LANGUAGE})\b|(?P<m>{LANGUAGE}) (?:discussions?|"
    r"conversations?|answers|replies|chat)\b",
    _I,
)
_ONLY_HERE = lazy(
    r"\b(?:this|these|letter|email|mail|essay|poem|story|translation|paragraph|sentence|text|page)\b|:", _I
)


def languages(text: str) -> Iterator[Found]:
    """The language that is wanted in talk, in code, or in both: a wish that stands, whatever words it has."""
    if _ONLY_HERE.search(text) and not SURE.search(text):
        return
    talk, code = _TALK_LANGUAGE.search(text), _CODE_LANGUAGE.search(text)
    if talk and code:
        spoken, written = talk["l"] or talk["m"], code["c"] or code["d"]
        yield Found("Language", f"prefers {spoken.capitalize()} discussion, {written.capitalize()} code")
        return
    if code and re.match(r"\W*(?:i\b|please|always|write (?:all |the |your |my )?code|code)", text, _I):
        yield Found("Language", f"{(code['c'] or code['d']).capitalize()} code")


def order(text: str, own: str) -> Iterator[Found]:
    """The standing order that begins where `text` does, and goes on to its end."""
    text, own = text.rstrip(" .!"), own[: len(text.rstrip(" .!"))]
    if lifted := _LIFTED.fullmatch(text):
        group = next(name for name in ("o", "q", "p") if lifted[name])
        yield Found("Rule", cut(own[lifted.start(group) : lifted.end(group)]), ended=True, correction=True)
        return
    if allowed := _ALLOWED.fullmatch(text):
        if verb := _infinitive(allowed["g"]) if allowed["g"] else "":
            words = f"{verb} {own[allowed.start('h') : allowed.end('h')]}"
        else:
            words = "".join(own[allowed.start(name) : allowed.end(name)] for name in "opq" if allowed[name])
        if words and not _NO_ANTECEDENT.fullmatch(words):
            yield Found("Rule", words, ended=True, correction=True)
        return
    if re.match(r"we (?!always|never|should|must|do not|don't|mustn't|only)\w", text, _I):
        return  # how people live and work, no order
    if re.match(rf"(?:please |always )*write (?:all |your |my |the )?code in (?:{LANGUAGE})\b", text, _I):
        return
    spoken = _IN_LANGUAGE.fullmatch(text)
    tongue = re.fullmatch(
        rf"(?:{FROM_NOW}[,:]? )?(?:please |always |let's |only )*(?:speak|talk|use|write)(?: only)?(?: to "
        rf"me| with me)? (?:in )?(?P<l>{LANGUAGE})"
        rf"(?: (?:with|to) me| only| when [\w ]+)*(?:,? (?:please|{FROM_NOW}))*",
        text,
        _I,
    )
    if tongue and not re.fullmatch(r"use \w+", text, _I):
        yield Found("Language", f"answers in {tongue['l'].capitalize()}")
        return
    called = re.fullmatch(
        rf"(?:{FROM_NOW},? )?(?:please |just |always )*call me (?P<o>[\w'-]+(?: "
        rf"(?-i:[A-Z])[\w'-]+)?)(?:,? {FROM_NOW})?",
        text,
        _I,
    )
    if called and called["o"].lower() not in ("back", "when", "if", "later", "tomorrow", "at"):
        yield Found("Name", own[called.start("o") : called.end("o")])
        return
    if spoken and not _CODE_LANGUAGE.search(text) and not _ONLY_HERE.search(text):
        is_own = re.match(r"i\b", text, _I) and not re.match(
            r"\s+(?:with|to|at|in) (?!you\b|me\b)", spoken["rest"], _I
        )
        if is_own or (_is_orderly(spoken["rest"]) and not re.match(r"i (?!want|need|would|'d)", text, _I)):
            yield Found("Language", f"answers in {own[spoken.start('l') : spoken.end('l')].capitalize()}")
        return
    for form in ORDERS:
        match = form.fullmatch(text)
        if match is None:
            continue
        group = next(name for name in form.groupindex if match[name])
        words = own[match.start(group) : match.end(group)]
        if ONCE.search(match[group]) and not SURE.search(text):
            return
        if re.search(
            r"\bthis (?!repo|project|chat|conversation|codebase|team|account|company|thread)\w+",
            match[group],
            _I,
        ):
            return
        is_once = form.pattern == MAKES_SURE and re.search(r"\b(?:it|this|that|the)\b", words, _I)
        if is_once and not (SURE.search(text) or re.search(r"\b(?:before|after|when)\b", words, _I)):
            return
        if re.search(
            r"\b(?:hesitate|let me know|reach out|feel free|keep me posted|stay patient)\b", words, _I
        ):
            return
        if re.match(
            r"(?:don't|do not) (?:worry|forget|mind|know|care|hesitate|bother|panic)\b|never ?mind\b",
            words,
            _I,
        ):
            return
        if re.search(r"\b(?:they|people|as they|experts) say\b", words, _I):
            return
        if _ADVICE.search(words) or _NO_ANTECEDENT.fullmatch(words):
            return
        about_we = re.match(r"we\b", words, _I)
        if words[1:2].islower():
            words = words[0].lower() + words[1:]
        first, _, rest = words.partition(" ")
        if first in ("didn't", "kept", "used", "answered", "wrote", "stuck", "asked", "stopped"):
            words = f"{WISHED[first]} {rest}"
        words = re.sub(r"\A(?:let's|we(?: should| must)?) ", "", words)
        words = {"n": "never ", "no": "no ", "d": "don't "}.get(group, "") + _shortened(words)
        if len(words.split()) > 1:
            yield Found("Rule", words, topic="project" if about_we else "user")
        return


def _infinitive(gerund: str) -> str:
    """Of a verb of orders: "deploy" of "deploying", "use" of "using", "commit" of "committing"."""
    stem = gerund.lower().removesuffix("ing")
    return next((verb for verb in (stem, f"{stem}e", stem[:-1]) if re.fullmatch(VERBS, verb)), "")


def _is_orderly(rest: str) -> bool:
    return not re.search(r"\b(?:fluently|at work|at home|school|yesterday)\b", rest, _I)


def _shortened(words: str) -> str:
    previous = ""
    while previous != words:
        previous = words
        words = _POLITE.sub("", words).strip(" ,.!")
    words = _REASON.sub("", words).strip(" ,.!")
    return (
        re.sub(r",? (?:ever|ever again)\Z", "", words, flags=_I)
        if re.match(r"no |[\w-]+s ", words, _I)
        else words
    )
