"""The forms of English orders that stand.

An order is given to the assistant: its verb is one of what an assistant does, and what it is about is a kind of thing,
not the one at hand. Good advice to somebody ("always be yourself") has neither.
"""

from __future__ import annotations

import re

from looseleaf.core.lazy import lazy
from looseleaf.distill.english.words import LANGUAGE

_I = re.IGNORECASE

ONCE = lazy(
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
    r"(?!(?:mind|here|up|by|full|gotta|count on|done|hear|ready|open|welcome|down|been|being|be (?:the|a|"
    r"an|able|so|"
    r"that|afraid)|had|got|was|were|the|a|an|good|great|nice|happy|there|lose|remind|seen|heard|thought|"
    r"knew|met|tried|"
    r"understood|felt|in|on|at|is|has|have(?! (?:a|the|your|two))|did|do i|would|could|will|say (?:die|"
    r"never)|know|"
    r"worry|stop(?! (?:using|adding|asking))|try|give (?:up|it|your|in)|believe|forget|quit|let|doubt|"
    r"underestimate|trust|love|remember|look (?:on|forward)|enough|too|put your|fully|really|quite|a fan|a "
    r"dull|wanted|"
    r"(?!(?:press|pass|address|express|discuss|guess|bypass|access|assess|process|focus)\b)\w+s|"
    r"(?!(?:need|feed|embed|exceed|proceed|shed|speed|bleed|seed)\b)\w+ed|(?!(?:bring|string|ping|sing|"
    r"swing|cling)\b)\w+ing)\b)"
)
VERBS = (
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
    r"end|reference|lowercase|uppercase|capitali[sz]e|abbreviate|cross-?check|fact-?check|proofread|ping|"
    r"force[- ]push|install|upgrade|import|export|print|comment|annotate|render|display|rank|estimate|"
    r"rename|"
    r"move|touch|edit|modify|change|overwrite|share|post|email|message|text|forward|publish|upload|buy|"
    r"spend|"
    r"invite|accept|decline|cancel|reschedule|block|choose|pick|create|generate|build|benchmark|refactor|"
    r"structure|organi[sz]e|break|calculate|hide|mask|redact|anonymi[sz]e|encrypt|escape|swear|joke|"
    r"lecture|"
    r"apologi[sz]e|praise|flatter|sugar-?coat|patroni[sz]e|guess|invent|make up|repeat|simplify|"
    r"elaborate|compare|"
    r"credit|hard-?code|disable|ignore|bypass|rely|reuse|inline|favou?r|default|substitute|translate|"
    r"branch|bring up|hold back|challenge)"
)
_WORKS = (
    r"(?:use|write|keep|add|run|commit|push|format|name|document|squash|rebase|merge|deploy|review|test|"
    r"lint|cover|"
    r"mock|pin|bump|release|ship|tag|prefix|sign|log|store|branch|require|pair|ask|update|version|"
    r"force[- ]push|"
    r"hard-?code|import|avoid)"
)
"""What people do who work together: of "we always …" only these are rules, the rest is how they live."""
_THINGS = (
    r"(?:dates|times|numbers|prices|amounts|names|titles|headings|comments|docstrings|"
    r"(?:commit )?messages|variables|"
    r"functions|classes|tests|answers|replies|examples|code|sql|queries|lists|citations|references|"
    r"measurements|"
    r"temperatures|currencies|quotes|emails|distances|weights|units|recipes|percentages|summaries|files|"
    r"branches|"
    r"filenames|file names|identifiers|links|urls|figures|money|sums|durations|everything|things|stuff)"
)
"""Kinds of things that an assistant writes: an order about one of them is about all of them."""
FROM_NOW = (
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
MAKES_SURE = (
    rf"(?:please )?(?:make sure|be sure)(?: that)? (?:you |to )(?P<o>(?:always |never )?(?!keep (?:them|"
    rf"him|her|it|"
    rf"\w+ing)|check out|tell|be|let|look|say|stay|work|think|send|call|do|share)(?!.*\b(?:them|him|"
    rf"her)\b)(?:{VERBS}) .+)"
)
ORDERS = tuple(
    lazy(pattern, _I)
    for pattern in (
        (
            rf"(?:in (?:the )?future|as a (?:general )?rule|by default),? {_ASKED}(?P<o>(?:{VERBS}|no|"
            rf"never|always|only|all|"
            r"every|each|your)\b.+)"
        ),
        (
            r"(?!in the future|in future|as a (?:general )?rule|by default)"
            rf"{FROM_NOW}[,:]? {_ASKED}(?P<o>(?!i\b|we\b|it\b|my\b|the\b|he\b|she\b|they\b|i'm\b|i'll\b|"
            rf"you "
            r"are\b|you're\b|you will be\b|pretend|act\b).+)"
        ),
        (
            rf"{_ASKED}(?P<o>(?:{VERBS}|no|never|always|at most|max)\b.+?),? {FROM_NOW}(?:,? (?:please|"
            r"thanks|ok|okay))?"
        ),
        (
            r"(?:(?:in|for|on) (?:this|our|all our|all my|my) [\w-]+,? )?"
            r"(?P<o>we (?:should |must )?(?:always|never) (?:ever )?" + _WORKS + r" .+)"
        ),
        (
            rf"(?!we\b){_ASKED}(?P<o>(?:always|never|not ever|don't ever|do not ever|only ever|under no "
            rf"circumstances) (?:ever )?(?:{VERBS}\b|should you |{_NO_VERB}[\w-]+ (?:me|us|my|our|the|"
            rf"an?|any|all|anything|"
            r"everything|it|\w+s)\b).*)"
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
            r"(?:please )?(?P<o>(?:when|if|once) (?:i|you) (?:say|ask|type|write|mention|tell you|send|"
            r"give "
            r"you|paste|see|find|edit|touch|change|add|create|quote|suggest|review|refactor|are (?:not "
            rf"sure|unsure)|don't know)\b.+?,? (?:then |please |always |just )*(?:{VERBS})\b.+)"
        ),
        rf"(?:please )?(?P<o>(?:when|if) in doubt,? (?:{VERBS})\b.*)",
        (
            r"(?:please )?(?P<o>(?:before|when|if|after|once|unless) (?!(?:you're|you are|it|this|that|"
            r"the|i'm|i am)\b)"
            r"(?=[^,]*\b(?:you|i|we|tests?|builds?|deploys?|commits?|releases?|merges?)\b|.*, .*\b(?:me|"
            r"us|never|always)\b)(?:you |i |"
            r"we )?(?:\w+ )?(?:an?|any|every|each|anything|something|someone|"
            r"\w+s)(?: [^,]{0,60})?, "
            rf"(?:then |please |always |never |just |first )*(?:{VERBS})\b.*)"
        ),
        (
            rf"(?:please )?(?P<o>(?:format|write|name|round|show|display|give(?: me)?|express|spell|put|"
            rf"sort|"
            rf"order|print|quote|"
            rf"convert|state|keep|indent|group) (?:out |all |my |your |any )*(?:\w+ )?{_THINGS} (?:as|"
            rf"in|to|with|using|"
            r"like|by|at) (?!this\b|the\b|that\b|it\b|me\Z).+)"
        ),
        r"(?:please )?(?P<o>(?:use|write|put|add|prefer) .+ (?:everywhere|throughout|consistently))",
        (
            r"(?:please )?(?P<o>(?:explain|describe|talk|speak|write|treat|address)(?: things|"
            r" everything| it all)?"
            r"(?: to)? me (?:like|as if|as though|as) .+)"
        ),
        (
            r"(?:please )?(?P<o>(?:skip|drop|cut|spare me|leave out|omit) (?:the |all the |all |"
            r"any )?(?:pleasantries|"
            r"intros?|introductions?|preambles?|disclaimers?|small talk|apologies|fluff|filler|flattery|"
            r"chit-?chat|"
            r"compliments|caveats|boilerplate|recaps?|greetings|summary at the end|closing remarks)\b.*)"
        ),
        (
            r"(?:please )?(?P<o>(?:no more than|no longer than|at most|"
            r"max(?:imum)?(?: of)?) [\w-]+ (?:words|sentences|lines|"
            r"paragraphs|bullet points|characters) (?:per|in|for|unless|when)\b.+)"
        ),
        (
            rf"(?:please )?(?P<o>(?:don't|do not) (?!(?:make|let|tell|say|be|do|look|wait|work|think|"
            rf"change|touch|stop)\b)"
            rf"{VERBS}(?: me| us)? (?!(?:it|this|that|the|these|those|them|up|an?|your|yourself|on|me|"
            rf"too|so|any of|"
            r"out|off|in|at|to|for)\b)(?:(?:any|my|our|more than|"
            r"\w+) )?(?:[\w'-]+ )?[\w'-]+s\b(?! (?:now|yet)\b).*)"
        ),
        (
            r"(?:please )?(?P<o>(?:don't|do not) be (?:so |too |overly )?(?:formal|informal|verbose|"
            r"wordy|polite|chatty|"
            r"pushy|preachy|cheerful|vague|enthusiastic|condescending|sycophantic|salesy)\b.*)"
        ),
        (
            r"(?:please (?=.*s\Z)|(?=.* (?:please|ever)\Z))(?P<o>no (?!worries|problems|thanks|"
            r"questions|ideas|plans|pets|kids|siblings|"
            r"changes|results|errors|"
            r"issues|regrets|allergies|news|doubts|words|bugs|updates|surprises|"
            r"complaints)(?:[\w'-]+ ){0,2}[\w'-]+s)(?:,? "
            r"(?:please|ever))?"
        ),
        (
            r"(?:please )?(?P<o>(?:don't|do not|no) .+?),? (?:that's|this is|that is|as) (?:a|my|our|the) "
            r"(?:\w+ )?(?:rule|policy)\b.*"
        ),
        r"(?P<o>when(?:ever)? i say .+?, i mean .+)",
        r"(?P<o>when(?:ever)? i (?:say|write|type|send|ask for) .+?,? (?:i want|i need|i expect) .+)",
        rf"(?:please )?(?P<o>{VERBS}\b .+ (?:unless (?:i|we|told|asked|you're told)|until i say)\b.+)",
        (
            r"you (?:don't|do not) (?:need|have) to (?P<d>(?:explain|apologi[sz]e|summari[sz]e|repeat|"
            r"remind|ask|add|"
            r"include|thank|greet|warn) (?!it\b|this\b|that\b|the\b).+)"
        ),
        rf"(?P<o>(?:all |my |our )*{_THINGS} (?:always|never|only ever) .+)",
        rf"(?P<o>{_THINGS} (?:in|as|with|to) [\w .:-]+?), always",
        (
            rf"{_ASKED}(?P<o>(?!(?:let|be|do|don't|do not|stay|keep|look|say|stop|think|work|wait|check|"
            rf"read|open|close|tell|send|call|put)\b){VERBS} "
            r".+? (?:whenever|every time|each time|any ?time|every single time|before|when) (?:you|i|we) "
            r"(?!can\b|get\b|have (?:time|a)|are ready|feel|want|like).+)"
        ),
        (
            rf"{_ASKED}(?P<o>{VERBS} .*\b(?:every (?:commit|pr|pull request|release|answer|reply|response|"
            r"message|change|day|morning|week|time|session)|all (?:answers|replies|commits|responses|"
            r"messages)|throughout|"
            r"without asking(?: me)?(?: first)?|each (?:commit|answer|reply|pr|file|release)|on any "
            r"branch)\b.*)"
        ),
        MAKES_SURE,
        r"(?:please )?(?P<o>make sure (?:that )?(?:every|each) (?!(?:user|row|item|player|one)\b)\w+ .+)",
        (
            r"(?:please )?(?P<o>(?:every|each) (?:(?:single|other) )?(?:day|morning|evening|night|week|"
            r"month|weekday|(?:mon|tues|"
            rf"wednes|thurs|fri|satur|sun)day),? (?:please )?(?!be\b|do\b|let\b|look\b|work\b){VERBS} .+)"
        ),
        (
            r"(?:please )?(?P<o>(?:remind|send|give|show|tell|ask|email|ping|text) me .*\b(?:every|"
            r"each) (?:day|morning|evening|"
            r"night|week|month|weekday|(?:mon|tues|wednes|thurs|fri|satur|sun)day)\b.*)"
        ),
        rf"please (?P<o>{_THINGS} (?:in|as|with) .+)",
        r"i (?:don't|do not|never) (?:ever )?want you to (?:ever )?(?P<n>.+)",
        (
            r"i (?:don't|do not|never) (?:ever )?want (?:to see )?(?:any |to get |"
            r"to have )?(?P<no>[\w-]+s\b.+)"
        ),
        r"(?:you )?(?P<o>must not .+|mustn't .+)",
        r"(?:you are|you're) not allowed to (?P<d>.+)",
        (
            r"(?:[\w']+ ){0,3}(?:rules?|policy|convention)(?: number \w+| for [\w ]{1,30}| here| of mine| "
            r"is)?: (?P<o>.+)"
        ),
        (
            r"(?:please )?(?P<o>keep (?!the\b|\w+ing\b|on\b|up\b|me\b|them\b|"
            r"it\b|him\b|her\b|an eye|in mind|in "
            r"touch|calm|this|that|going|our|fighting)(?:your |all |my )?(?:[\w-]+ ){0,2}?[\w-]+s? "
            r"(?:short|brief|concise|small|simple|under|below|in|to|at|within|formal|informal|civil|out "
            r"of|as|polite|tidy|separate)\b.*)"
        ),
        (
            r"(?:please )?(?P<o>(?:answer|reply|respond|write|explain) (?:to me |me )?(?:briefly|concisely|"
            r"in "
            r"(?:short|full|plain|simple|bullet) ?\w*|without \w+)(?: (?:to me|for me|with me|unless|"
            r"when|and|or|please)\b.*|,.*)?)"
        ),
        (
            r"(?:please )?(?P<o>(?:no|zero) (?:\w+ ){0,2}?(?:emojis?|emoticons|exclamation marks|bullet "
            r"points|"
            r"bullets|tables|headings|apologies|jokes|small talk|force[- ]push(?:es|ing)?|disclaimers|"
            r"filler|preambles?|swearing|(?:em )?dashes|smileys|puns|hashtags|footnotes|clich[eé]s|"
            r"passive voice|"
            r"filler words|intros?|sugarcoating|all[- ]caps|hedging|markdown|semicolons|tabs|"
            r"magic numbers|global state|comments|"
            r"mocks|spoilers|flattery|jargon|buzzwords|abbreviations|deploys?|meetings)(?: (?!so far|"
            r"yet|here|today|found|"
            r"needed|required|left|from)\w.*|,.+)?)"
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
            rf"(?:{VERBS})\b.+)"
        ),
        (
            r"(?:please )?(?P<o>(?:answer|reply|respond)(?: me| to me)? (?:in|with) (?:one|two|three|a "
            r"single|"
            r"at most|no more than|short|full)\b.+ unless .+)"
        ),
        (
            r"(?:please )?(?P<o>(?:ask|check with|consult|tell|warn|notify|ping)(?: me| us)?(?: first)? "
            r"before "
            r".+)"
        ),
        (
            rf"(?:please )?(?P<o>{VERBS} .+?),? (?:always|at all times|every time|without exception|in "
            r"general|as a habit)"
        ),
        (
            r"(?:please )?(?P<o>be (?:brief|blunt|concise|direct|honest|critical|polite|formal|informal|"
            r"strict|"
            r"precise|specific|terse) with me\b.*)"
        ),
        (
            rf"(?:{FROM_NOW},? )?(?:please )?(?:i(?:'d| would)? (?:want|need|expect|"
            rf"like) )?(?P<o>all (?!(?:[\w-]+ )?(?:users|rows|customers|people|kids|players|"
            rf"items)\b)(?:[\w-]+ )?[\w-]+s (?:in|as|with|must|"
            r"should|"
            r"have to|go|get|need)\b .+)"
        ),
        (
            r"(?P<o>(?:every|each|all) (?:[\w'-]+ ){0,3}?(?:commits?|(?:commit )?messages?|prs?|"
            r"pull requests?|merges?|"
            r"functions?|class(?:es)?|modules?|tests?|releases?|migrations?|branch(?:es)?|files?|names?|"
            r"changes?|features?|"
            r"endpoints?|answers?|repl(?:y|ies)|responses?|emails?|reports?|invoices?|code|secrets?|"
            r"deploys?|documents?|docs|"
            r"tickets?|tasks?|meetings?|summar(?:y|ies)|recipes?|suggestions?|links?|sources?|dates|"
            r"prices|amounts|orders?|"
            r"bookings?|purchases?) (?:must|should|has to|have to|needs?|requires?)\b .+)"
        ),
        (
            r"(?P<o>(?:our |your |my )?(?:commits|commit messages|prs|pull requests|tests|branches|"
            r"releases|"
            r"migrations|functions|variables|"
            r"file names|docs|answers|replies|secrets|passwords|dates|changes|features|endpoints|logs|"
            r"emails|"
            r"invoices|reports|code|credentials) "
            r"(?:must|always|never|may never|must never|should never|should always|have to be|belong in|"
            r"need "
            r"(?:two|three|an?|at least))\b .+)"
        ),
        (
            rf"(?P<o>for (?:all|every|any|each) (?:[\w-]+ ){{0,2}}(?:answers?|repl(?:y|ies)|code|commits?|"
            rf"prs?|questions?|emails?|projects?|recipes?|requests?|tests?|releases?|meetings?|"
            rf"documents?|reports?|texts?|messages?),? (?:please )?(?:{VERBS})\b .+)"
        ),
        (
            r"(?:please )?(?P<o>(?:write|put|do) (?:all |your |my |the |our )*(?:[\w-]+ )?(?:comments|"
            rf"messages|docs|documentation|names|identifiers|docstrings) in (?:{LANGUAGE})\b.*)"
        ),
        r"(?:please )?(?P<o>treat (?:everything|all|anything|my) .+? as .+)",
        r"(?:please )?(?P<o>avoid (?!the\b|this\b|that\b|it\b|him\b|her\b|them\b|eye\b).+)",
        (
            r"(?:please )?(?P<o>only (?:use|answer|reply|write|suggest|recommend|give|speak|show|text|"
            r"call|message|email|contact|book|schedule) (?!the\b|this\b|that\b|it\b).+)"
        ),
        (
            r"(?:please )?(?P<o>use (?:british|american|uk|us|metric|imperial|celsius|24-hour|iso|"
            r"fahrenheit|euros|dollars|"
            r"conventional|"
            r"snake_case|camelcase|oxford)\b(?: (?:spelling|english|units?|measures?|format|dates?|"
            r"times?|conventions?|"
            r"notation|system|commas?|clock|commits?|for|in|when|everywhere|unless|only|not|instead)\b.*)?)"
        ),
        r"(?:please )?(?P<o>(?:address|call) me (?:(?:as|by|with) .+|\w+ly))",
        (
            r"i(?:'d| would) (?:rather|prefer it if|like it if|appreciate it if) you (?P<o>(?:always|never|"
            r"didn't|don't|not|kept|used|answered|wrote|stuck|asked|stopped) .+)"
        ),
    )
)
