"""English orders that stand: `Rule`, and `Language` for the one that is wanted in talk or in code.

An order stands when its words say so ("always", "from now on", "whenever"); one that is about this one piece of work
("here", "this time", "don't forget") does not.
"""

from __future__ import annotations

import re

from looseleaf.distill.english_forms import WISHED, Found, cut
from looseleaf.distill.english_words import LANGUAGE

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

_I = re.IGNORECASE

# --- orders ----------------------------------------------------------------------------

_ONCE = re.compile(
    r"\b(?:here|this (?:one|time|file|function|slide|test|line|message|email|mail|text|paragraph|sentence|"
    r"section|page|bug|"
    r"commit|pr|branch|case|document|letter|step|call|task|answer|reply|question|week|session|class|method|"
    r"module)|these|"
    r"that one|that (?:file|function|test|line)|just once|forget|for this|in this|for now|now|again today|"
    r"first thing|"
    r"the (?:header|footer|attached|following|above|below|first|second|last|next|other)|yet|tonight|"
    r"tomorrow|today|right away|"
    r"for once|while you're at it|before you go|when you're done|after that|then)\b",
    _I,
)
_NO_VERB = (
    r"(?!(?:mind|here|up|count on|done|hear|ready|open|welcome|down|been|being|be (?:the|a|an|able|so|"
    r"that)|had|got|was|were|the|a|an|good|great|nice|happy|"
    r"there|give up|"
    r"lose|remind|brings|seen|heard|thought|knew|met|tried|understood|felt|in|on|at|is|has|have i|did|do i|"
    r"would|could|"
    r"will|say die|know|worry|stop(?! (?:using|adding|asking))|try|give (?:up|it|your|in)|believe|forget|"
    r"quit|let|doubt|underestimate|trust|love|"
    r"remember|look on|enough|"
    r"too|put your|fully|really|quite|a fan|(?!press|pass|address|express|discuss|guess|bypass|access|"
    r"assess|process|focus)\\w+s|wanted|works|fails|gets|makes|comes|goes|happens|a dull|(?!need|"
    r"feed|embed|"
    r"exceed|proceed|shed|speed|bleed|seed)\w+ed|(?!bring|string|ping|sing|swing|cling)\w+ing)\b)"
)
_VERBS = (
    r"(?:answer|reply|respond|write|use|keep|add|run|ask|tell|give|show|send|call|put|make|include|check|"
    r"test|commit|push|"
    r"format|name|document|explain|cite|link|list|sort|start|end|begin|finish|avoid|stop|limit|round|"
    r"convert|translate|"
    r"prefer|stick|follow|respect|treat|assume|leave|delete|save|log|track|update|sign|squash|rebase|merge|"
    r"deploy|review|"
    r"read|verify|confirm|validate|double[- ]check|suggest|recommend|propose|offer|quote|mention|address|"
    r"speak|talk|reason|"
    r"think|plan|mark|label|tag|prefix|indent|wrap|lint|type|cover|mock|handle|return|raise|catch|pin|bump|"
    r"release|ship|"
    r"schedule|book|remind|notify|warn|alert|summari[sz]e|split|group|number|title|draft|attach|copy|cc|"
    r"refer|stay|be|do|"
    r"don't|do not|provide|present|describe|point|flag|highlight|skip|omit|drop|remove|replace|clean|set|"
    r"store|cache|close|"
    r"open|wait|spell|greet|order|apply|back up|let|consult|look|only|just|work|measure|state|say|refuse|"
    r"end|reference)"
)
_FROM_NOW = (
    r"(?:from now on|from here on(?: out)?|from today(?: on)?|going forward|moving forward|in (?:the "
    r")?future|henceforth|"
    r"as a (?:general )?rule|by default|for future reference|at all times|without exception|starting now|"
    r"starting today|"
    r"every single time|until further notice)"
)
_ASKED = (
    r"(?:please |kindly |i(?:'d| would)? (?:really )?(?:want|like|need|love) you to |you (?:should|must|"
    r"may|need to|have to|are to|shall) "
    r"|(?:can|could|would|will) you (?:please )?|we (?:should |must )?|(?:make|be) sure (?:to |you |that "
    r"you |that )|"
    r"ensure (?:that )?(?:you )?|(?:just )?(?:try to |remember to )|to |it's important (?:to me )?that you "
    r"|i expect you to )*"
)
_MAKES_SURE = (
    r"(?:please )?(?:make sure|be sure)(?: that)? (?:you |to )(?P<o>(?!don't miss|have|keep (?:them|him|"
    r"her|it)|take|check out|"
    r"enjoy|get|rest|eat|bring|tell)(?!.*\b(?:them|him|her)\b)\w+ .+)"
)
_ORDERS = tuple(
    re.compile(pattern, _I)
    for pattern in (
        (
            rf"{_FROM_NOW}[,:]? {_ASKED}(?P<o>(?!i\b|we\b|it\b|my\b|the\b|he\b|she\b|they\b|i'm\b|i'll\b|you "
            r"are\b|you're\b|you will be\b|pretend|act\b).+)"
        ),
        (
            rf"{_ASKED}(?P<o>(?:{_VERBS}|no|never|always|at most|max)\b.+?),? {_FROM_NOW}(?:,? (?:please|"
            r"thanks|ok|okay))?"
        ),
        (
            rf"{_ASKED}(?P<o>(?:always|never|not ever|don't ever|do not ever|only ever|under no "
            r"circumstances) "
            rf"(?:ever )?{_NO_VERB}\w.+)"
        ),
        (
            r"(?:please )?(?P<o>(?:don't|do not|no) .+?,? (?:ever|ever again|at any point|at all,? ever|"
            r"under "
            r"any circumstances))"
        ),
        (
            r"(?:please )?(?P<o>(?:whenever|every time|each time|any ?time)(?: that)? .+?, (?!i\b|i'm|it\b|"
            r"he\b|she\b|they\b|we\b|my\b|the\b|there\b).+)"
        ),
        (
            r"(?:please )?(?P<o>(?:when|if|once) (?:i|you) (?:say|ask|type|write|mention|tell you|send|give "
            r"you|paste|see|find|edit|touch|change|add|create|quote|suggest|review|refactor|are (?:not "
            rf"sure|unsure)|don't know)\b.+?,? (?:then |please |always |just )*(?:{_VERBS})\b.+)"
        ),
        (
            r"(?:please )?(?P<o>(?:don't|do not|no) .+?),? (?:that's|this is|that is|as) (?:a|my|our|the) "
            r"(?:\w+ )?(?:rule|policy)\b.*"
        ),
        r"(?P<o>when(?:ever)? i say .+?, i mean .+)",
        (
            rf"{_ASKED}(?P<o>(?!(?:let|be|do|don't|do not|stay|keep|look|say|stop|think|work|wait|check|"
            rf"read|open|close|tell|send|call|put)\b){_VERBS} "
            r".+? (?:whenever|every time|each time|any ?time|every single time|before|when) (?:you|i|we) "
            r"(?!can\b|get\b|have (?:time|a)|are ready|feel|want|like).+)"
        ),
        (
            rf"{_ASKED}(?P<o>{_VERBS} .*\b(?:every (?:commit|pr|pull request|release|answer|reply|response|"
            r"message|change|function|file|day|morning|week|time|session)|all (?:answers|replies|files|"
            r"commits|functions|responses|messages|code|tests|dates|times|prices|amounts)|throughout|"
            r"without asking(?: me)?(?: first)?|each (?:commit|answer|reply|pr|file|release)|on any "
            r"branch)\b.*)"
        ),
        _MAKES_SURE,
        r"i (?:don't|do not|never) (?:ever )?want you to (?:ever )?(?P<n>.+)",
        r"i (?:don't|do not|never) (?:ever )?want (?:to see )?(?:any |to get |to have )?(?P<no>[\w-]+s\b.+)",
        r"(?:you )?(?P<o>must not .+|mustn't .+|(?:are|you're) not allowed to .+)",
        (
            r"(?:[\w']+ ){0,3}(?:rules?|policy|convention)(?: number \w+| for [\w ]{1,30}| here| of mine| "
            r"is)?: (?P<o>.+)"
        ),
        (
            r"(?:please )?(?P<o>keep (?!\w+ing\b|on\b|up\b|me\b|them\b|it\b|him\b|her\b|an eye|in mind|in "
            r"touch|calm|this|that|going|our|fighting)(?:your |all |the |my )?(?:[\w-]+ ){0,2}?[\w-]+s? "
            r"(?:short|brief|concise|small|simple|under|below|in|to|at|within|formal|informal|civil|out "
            r"of|as|polite|tidy|separate)\b.*)"
        ),
        (
            r"(?:please )?(?P<o>(?:answer|reply|respond|write|explain) (?:to me |me )?(?:briefly|concisely|"
            r"in "
            r"(?:short|full|plain|simple|bullet) ?\w*|without \w+).*)"
        ),
        (
            r"(?:please )?(?P<o>(?:no|zero) (?:\w+ ){0,2}?(?:emojis?|emoticons|exclamation marks|bullet "
            r"points|"
            r"bullets|tables|headings|apologies|jokes|small talk|force[- ]push(?:es|ing)?|disclaimers|"
            r"filler|preambles?|swearing|markdown|semicolons|tabs|magic numbers|global state|comments|"
            r"mocks|spoilers|flattery|jargon|buzzwords|abbreviations|deploys?|meetings)(?:[ ,].+)?)"
        ),
        (
            r"(?:please )?(?P<o>(?:don't|do not|stop) (?:using|suggesting|recommending|calling me|"
            r"apologi[sz]ing|explaining|adding|writing|pushing|committing|sending|giving|asking|starting|"
            r"ending|deploying|merging|including|talking|call me|push to|commit to|deploy on|use|suggest|"
            r"recommend|apologi[sz]e|talk to me|send me|give me|ask me)\b (?!it\b|this\b|that\b|the\b|"
            r"them\b|up\b|with the\b|an? ).+)"
        ),
        r"(?:please )?(?P<o>stop (?:using|saying|writing) the (?:words?|phrases?|terms?) .+)",
        (
            r"i (?:never|don't ever) want (?:to (?:see|hear|get|read) )?(?:you )?(?:to )?(?P<n>(?:use|say|"
            r"write|see|get|mention|send|push|call)\b.+)"
        ),
        (
            r"(?P<o>(?:if|when) you(?:'re| are) (?:not sure|unsure|in doubt|stuck|uncertain)\b.*?,? "
            rf"(?:{_VERBS})\b.+)"
        ),
        (
            r"(?:please )?(?P<o>(?:answer|reply|respond)(?: me| to me)? (?:in|with) (?:one|two|three|a single|"
            r"at most|no more than|short|full)\b.+ unless .+)"
        ),
        (
            r"(?:please )?(?P<o>(?:ask|check with|consult|tell|warn|notify|ping)(?: me| us)?(?: first)? before "
            r".+)"
        ),
        (
            rf"(?:please )?(?P<o>{_VERBS} .+?),? (?:always|at all times|every time|without exception|in "
            r"general|as a habit)"
        ),
        (
            r"(?:please )?(?P<o>be (?:brief|blunt|concise|direct|honest|critical|polite|formal|informal|strict|"
            r"precise|specific|terse) with me\b.*)"
        ),
        (
            r"(?:please )?(?:i (?:want|need|expect) )?(?P<o>all (?:[\w-]+ )?[\w-]+s (?:in|as|with|must|should|"
            r"have to|go|get|need)\b .+)"
        ),
        r"(?P<o>(?:every|each|all) [\w' -]{2,40}? (?:must|should|has to|have to|needs? to|requires?)\b .+)",
        (
            r"(?P<o>(?:our |your |my )?(?:commits|commit messages|prs|pull requests|tests|branches|releases|"
            r"migrations|functions|variables|"
            r"file names|docs|answers|replies|secrets|passwords|dates|changes|features|endpoints|logs|emails|"
            r"invoices|reports|code|credentials) "
            r"(?:must|always|never|may never|must never|should never|should always|have to be|belong in|need "
            r"(?:two|three|an?|at least))\b .+)"
        ),
        rf"(?P<o>for (?:all|every|any|each) [\w' -]{{2,30}}?,? (?:please )?(?:{_VERBS})\b .+)",
        (
            r"(?:please )?(?P<o>(?:write|put|do) (?:all |your |my |the |our )*(?:[\w-]+ )?(?:comments|"
            rf"messages|docs|documentation|names|identifiers|docstrings) in (?:{LANGUAGE})\b.*)"
        ),
        r"(?:please )?(?P<o>treat (?:everything|all|anything|my) .+? as .+)",
        r"(?:please )?(?P<o>avoid (?!the\b|this\b|that\b|it\b).+)",
        (
            r"(?:please )?(?P<o>only (?:use|answer|reply|write|suggest|recommend|give|speak|show) (?!the "
            r"(?:first|second|last)\b|this\b|that\b|it\b).+)"
        ),
        (
            r"(?:please )?(?P<o>use (?:british|american|uk|us|metric|imperial|celsius|24-hour|iso|"
            r"conventional|"
            r"snake_case|camelcase|oxford)\b.+)"
        ),
        r"(?:please )?(?P<o>(?:address|call) me (?:as|by|with) .+)",
        (
            r"i(?:'d| would) (?:rather|prefer it if|like it if|appreciate it if) you (?P<o>(?:always|never|"
            r"didn't|don't|not|kept|used|answered|wrote|stuck|asked|stopped) .+)"
        ),
    )
)
_SURE = re.compile(
    r"\b(?:always|never|ever|whenever|every|each|any ?time|from now on|going forward|future|under no|"
    r"rules?|policy|at all times|"
    r"by default|general|without exception|throughout|no matter)\b",
    _I,
)
_LIFTED = re.compile(
    r"(?:you can |please |let's |you may )?(?:forget|drop|ignore|scrap|stop following|disregard|lift) "
    r"(?:about )?(?P<o>the .+? rule|my .+? rule|the rule (?:about|on|that) .+?)(?:,? .*)?"
    r"|(?P<p>the .+? rule) (?:no longer applies|doesn't apply any ?more|is (?:off|lifted|no longer needed|"
    r"gone)).*",
    _I,
)
_POLITE = re.compile(
    r",? (?:please|thanks|thank you|ok|okay|if (?:possible|you can|that's ok)|alright|thx|would you|from "
    r"now on|from here on|going forward|always|"
    r"got it|understood|that goes for .*|(?:that's|this is|that is) (?:a|my|the|important|"
    r"non-negotiable).*|as a (?:general )?rule|cheers)\Z|\A(?:please|also|to|kindly),? ",
    _I,
)
_REASON = re.compile(
    r"(?:,? (?:because|since|as i|so (?:that )?(?:i|we|it|my)|even (?:when|if)|otherwise)|, (?:it "
    r"(?:annoys|confuses|breaks|makes)|thanks|"
    r"i (?:find|hate|can't|don't like|get|read|have)|that's|that is|it's|they're|we (?:had|have|got)|this "
    r"is|he|she|my)) .*\Z|[;:] (?:i|it|we|that)\b.*\Z| [-–—]+ .*\Z| \(.*\Z",
    _I,
)
_TALKS = r"(?:answer|reply|respond|talk|speak|write|communicate|chat|discuss|converse|explain|text)"
_IN_LANGUAGE = re.compile(
    rf"(?:{_FROM_NOW}[,:]? )?(?:please )?(?:always |only |just |can you |could you |let's |i(?:'d| would)? "
    r"(?:want|like|prefer) (?:you )?to |i (?:always |usually )?|from now on,? )*"
    rf"(?:{_TALKS})(?:ing)?(?: to| with| back| things| everything)?(?: to| with)?(?: me| us)?(?: only| "
    rf"always| everything)? in (?P<l>{LANGUAGE})\b(?P<rest>.*)",
    _I,
)
_CODE_LANGUAGE = re.compile(
    r"\b(?:(?:code|coding|comments?|commit messages?|variable names?|identifiers|documentation|docs)\b[\w "
    rf",]{{0,30}}?(?:in|are in|is in|should be in|stay in) (?P<c>{LANGUAGE})|(?P<d>{LANGUAGE}) "
    r"(?:code|comments|variable names|commit messages|identifiers))\b",
    _I,
)
_TALK_LANGUAGE = re.compile(
    rf"\b(?:(?!write|explain|text){_TALKS}|conversation|discussions?|chat|answers|replies)(?:ing|s|"
    r"es)?\b(?! code)[\w "
    rf",]{{0,30}}?(?:in|to be in) (?P<l>{LANGUAGE})\b|(?P<m>{LANGUAGE}) (?:discussions?|"
    r"conversations?|answers|replies|chat)\b",
    _I,
)
_ONLY_HERE = re.compile(
    r"\b(?:this|these|letter|email|mail|essay|poem|story|translation|paragraph|sentence|text|page)\b|:", _I
)


def languages(text: str) -> Iterator[Found]:
    """The language that is wanted in talk, in code, or in both: a wish that stands, whatever words it has."""
    if _ONLY_HERE.search(text) and not _SURE.search(text):
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
        group = "o" if lifted["o"] else "p"
        yield Found("Rule", cut(own[lifted.start(group) : lifted.end(group)]), ended=True, correction=True)
        return
    spoken = _IN_LANGUAGE.fullmatch(text)
    tongue = re.fullmatch(
        rf"(?:{_FROM_NOW}[,:]? )?(?:please |always |let's |only )*(?:speak|talk|use|write)(?: only)?(?: to "
        rf"me| with me)? (?:in )?(?P<l>{LANGUAGE})"
        rf"(?: (?:with|to) me| only| when [\w ]+)*(?:,? (?:please|{_FROM_NOW}))*",
        text,
        _I,
    )
    if tongue and not re.fullmatch(r"use \w+", text, _I):
        yield Found("Language", f"answers in {tongue['l'].capitalize()}")
        return
    called = re.fullmatch(
        rf"(?:{_FROM_NOW},? )?(?:please |just |always )*call me (?P<o>[\w'-]+(?: "
        rf"(?-i:[A-Z])[\w'-]+)?)(?:,? {_FROM_NOW})?",
        text,
        _I,
    )
    if called and called["o"].lower() not in ("back", "when", "if", "later", "tomorrow", "at"):
        yield Found("Name", own[called.start("o") : called.end("o")])
        return
    if spoken and not _CODE_LANGUAGE.search(text) and not _ONLY_HERE.search(text):
        if re.match(r"i\b", text, _I) or _is_orderly(spoken["rest"]):
            yield Found("Language", f"answers in {own[spoken.start('l') : spoken.end('l')].capitalize()}")
        return
    for form in _ORDERS:
        match = form.fullmatch(text)
        if match is None:
            continue
        group = next(name for name in form.groupindex if match[name])
        words = own[match.start(group) : match.end(group)]
        if _ONCE.search(match[group]) and not _SURE.search(text):
            return
        if re.search(
            r"\bthis (?!repo|project|chat|conversation|codebase|team|account|company|thread)\w+",
            match[group],
            _I,
        ):
            return
        if form.pattern == _MAKES_SURE and re.search(r"\b(?:it|this|that|the)\b", words, _I):
            if not (_SURE.search(text) or re.search(r"\b(?:before|after|when)\b", words, _I)):
                return
        if re.match(
            r"(?:don't|do not) (?:worry|forget|mind|know|care|hesitate|bother|panic)\b|never ?mind\b",
            words,
            _I,
        ):
            return
        about_we = re.match(r"we\b", text, _I)
        if words[1:2].islower():
            words = words[0].lower() + words[1:]
        first, _, rest = words.partition(" ")
        if first in ("didn't", "kept", "used", "answered", "wrote", "stuck", "asked", "stopped"):
            words = f"{WISHED[first]} {rest}"
        words = re.sub(r"\Alet's ", "", words)
        words = {"n": "never ", "no": "no "}.get(group, "") + _shortened(words)
        if len(words.split()) > 1:
            yield Found("Rule", words, topic="project" if about_we else "user")
        return


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
