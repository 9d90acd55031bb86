"""An English sentence as clauses that may state something: what is quoted is blanked out, what only asks, supposes,
jokes or reports is left out. A clause keeps the speaker's own words beside the blanked ones, letter for letter."""

from __future__ import annotations

import re

from looseleaf.core.lazy import lazy
from looseleaf.frozen import frozen

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

SENTENCE_CHARS = 600
"""Of a longer sentence so much is read: nobody says a fact of himself after that."""

BLANK = "\u02ad"
"""Stands for each character of what is quoted: a letter, so that words stay words, but one of no word."""

_I = re.IGNORECASE
_QUOTED = lazy(
    r"\"[^\"]{1,300}\"|“[^”]{1,300}”|„[^“”]{1,300}[“”]|«[^»]{1,300}»|`[^`]{1,300}`|"
    r"(?<!\w)'[^']{1,300}'(?!\w)"
)

NO_FACT = lazy(
    r"\A\W*(?:if|unless|suppose|supposing|imagine|assume|assuming|pretend|hypothetically|say i|let's say|"
    r"let us say|"
    r"what if|had i|were i|in (?:a|another|this|the) (?:parallel|life|world|story|novel|scenario|game|film|"
    r"movie|book)|"
    r"you are|you're (?:a|an|the|now)|act as|act like|roleplay|role-play|play the|once upon)\b"
    r"|\b(?:if i (?:were|was|had|lived|worked|could|ever)|let's (?:say|pretend|assume|imagine)|imagine|"
    r"suppose(?! to)|"
    r"pretend(?:ing)?|hypothetical(?:ly)?|for the sake of argument|i wish|if only|as if i|as though|"
    r"in my (?:next|past) life|in character|role-?play|my (?:character|protagonist|persona)|"
    r"the (?:character|protagonist|narrator|example|sample)|lorem ipsum|dummy|test data|placeholder|for "
    r"example|"
    r"for instance|e\.g\.|sample (?:text|data|sentence)|example(?:s)? ?:|lyrics?|the song|quote|the line)\b"
    r"|\b(?:and|,) you(?:'re| are| play| be) (?:the|my|an?)\b"
    r"|\b(?:yeah,? right|as if|role play|in (?:my|the|this) (?:story|novel|book|game|dream|film|movie|song|"
    r"play|script)|chapter \d|"
    r"professional (?:napper|procrastinator|overthinker)|dear diary|overthinking|procrastination|bad "
    r"decisions|sarcasm|spirit animal|couch potato)\b"
    r"|\b(?:just kidding|jk|kidding|joking|jokes aside|as a joke|lol|lmao|rofl|haha+ not|not!|in my dreams|"
    r"sarcasm)\b"
    r"|\b(?:maybe|perhaps|might|possibly|probably|not sure|i guess|i suppose|i doubt|supposedly|apparently|"
    r"allegedly|rumou?r has it|someone|somebody|i dreamt|i dreamed|in my dream)\b|/s\b|😂|🤣|😜",
    _I,
)
"""A sentence that supposes, plays, jokes, doubts or gives an example: none of it is meant as said."""

_WORK = lazy(
    r"\A\W*(?:please |can you |could you |would you |kindly )*(?:translate|rewrite|rephrase|correct|"
    r"proofread|"
    r"summari[sz]e|paraphrase|draft|compose|write (?:a|an|me|the|some|down|it|this)|generate|complete|"
    r"continue|repeat|"
    r"say|print|type|parse|explain|classify|extract|convert|fix|review|check|analy[sz]e|improve|edit|"
    r"spell)\b",
    _I,
)

_ASKING = (
    r"(?:can|could|would|will|what|what's|whats|how|how's|do|does|did|is|are|should|shall|which|where|when|"
    r"who|why|"
    r"any|got any|have you|am i|may i|right|ok|okay|isn't|don't|won't|help)"
)
_QUESTION = lazy(
    rf"(?:,|;|\s[-–—]|\.\.\.|\s\(|\band\b|\bso\b|\bbut\b)\s*(?:so |and |but |then )?{_ASKING}\b", _I
)
_BEGINS_QUESTION = lazy(
    r"\A\W*(?:(?:so|and|but|ok|okay|hey|hi|well),? )*(?:what|why|how|who|whose|where|which|when (?:is|are|"
    r"was|do|did)|"
    r"(?:do|does|did|is|are|was|were|can|could|would|will|should|shall|am|have|has|may|isn't|aren't|don't "
    r"you)"
    r" (?:i|you|we|he|she|it|they|the|my|there|this|that|anyone|your|our|a)\b)",
    _I,
)
_TOLD = lazy(
    r"(?!\W*(?:i|i'm|my|our|we)\b(?!.{0,60}\b(?:book|story|letter|essay|password|line|slogan)\b)).{3,100}?"
    r"\b(?:is|was|says|said|reads|goes|wrote|states|shows|prints|like this|begins|starts|called|titled|log|"
    r"test|error)[^:]{0,30}:(?=\s)",
    _I,
)
"""What stands after a colon is then what somebody or something else says."""
_VERBS = (
    r"live|lives|work|works|speak|speaks|have|has|like|love|hate|play|use|prefer|am|study|come|own|drive|"
    r"collect|"
    r"enjoy|grew up|moved|know|teach|run|discuss|write code|can't stand|don't eat|don't drink|don't like|"
    r"also|plan to"
)
_SUBJECTS = (
    r"i|i'm|im|i've|i'd|i'll|my|we|we're|we've|we'll|our|you|you're|he|he's|she|she's|they|they're|it|it's|"
    r"this|that's|"
    r"there|please|never|always|don't|do not|make sure|let's|call|everybody|everyone|people|the|which|"
    r"who|where|"
    r"had|mostly|hence|thus|now|today|currently|tomorrow|whenever|when|if|each|every|your|from now on|no|"
    r"and|but|so|especially"
)
_SPLIT = lazy(
    r"[;!?…]+|\.{2,}|(?<!\bDr)(?<!\bMr)(?<!\bMrs)(?<!\bProf)(?<!\bSt)\.\s|\s[-–—]{1,2}\s|—|:\s|[()]|"
    rf",\s+(?=(?:{_SUBJECTS}|"
    rf"{_VERBS.replace('|like|', '|')}|because|since|as|while|though|although|"
    r"yet|or|living in|based in|working (?:as|at|for)|studying|originally from|an? [\w-]+ (?:[\w-]+ "
    r")?(?:at|from|in|by|who|based|living|and)|from (?-i:[A-Z]))\b)"
    r"|\s+(?:and|but|"
    rf"yet)\s+(?=(?:{_SUBJECTS.removesuffix('|and|but|so|especially').replace('|the|', '|')})\b)"
    rf"|\s+(?:and|but)\s+(?=(?:{_VERBS})\b)|\s+but\s+(?=the\b)|,\s+(?=then\b)"
    r"|\s+(?=(?:because|although|even though|though|unless|so that|cause|cos|coz)\b)|\s+so\s+(?=(?:i|my|we|"
    r"the|it|please|"
    r"never|always|don't|typing|long|that)\b)",
    _I,
)
_BARE_VERB = lazy(rf"(?:and |but )?(?:also )?(?:{_VERBS})\b", _I)
_APPOSED = lazy(r"(?:living|based|working|studying|originally|an?)\b|from (?-i:[A-Z])", _I)
_ELIDED = lazy(
    r"(?:(?:just |finally |recently )*(?:got (?:married|engaged|promoted|fired|laid off|divorced|"
    r"accepted|my)|(?:broke|lost|"
    r"finished|passed|failed|sold|quit|defended|sprained|had) my|ran my|graduated|adopted (?:two|three|"
    r"another)|bought (?:an?|my|our)|"
    r"moved in with)|got (?:an?|two|three|\d)|"
    r"can't stand|cannot stand|prefer|hate|love|moved (?:to|from)|grew up|"
    r"adopted|born (?:in|on)|"
    r"don't (?:like|eat|drink)|just (?:moved|turned)|turned \d|(?P<be>not a (?:big |huge )?fan|allergic|"
    r"based in|working (?:as|at|for)|living in|"
    r"originally from|married|vegetarian|vegan))\b(?!,)(?! (?:it|this|that|the|you|your|how|to|is|are|was|"
    r"and|or|can|really|means|makes|at|from|for|in)\b)",
    _I,
)
_BACK = lazy(r"(?:back |on |over )?to (?-i:[A-Z])", _I)
_SUBJECT = lazy(rf"(?:i|i'm|i am|i've|im|i'd)\b|my (?:\w+ ){{0,2}}?\w+(?= (?:{_VERBS}|is)\b)|we\b", _I)
_OTHER = lazy(
    r"\b(?:who|that|which|you|he|she|they|people|it|those|what|how|where|when|folks|everyone)\b", _I
)
"""A verb after "and" may then be somebody else's."""
_LEAD = lazy(
    r"\A\W*(?:(?:hi|hello|hey|hiya|ok|okay|well|so|and|but|also|btw|by the way|fyi|just so you know|just "
    r"fyi|for context|"
    r"for the record|please note(?: that)?|note(?: that)?|(?:please )?remember(?: that)?|keep in mind(?: "
    r"that)?|"
    r"as you know|actually|no|nope|yes|yeah|yep|sure|sorry|oh|ah|anyway|plus|besides|honestly|to be honest|"
    r"tbh|careful|"
    r"quick note|some background|background|a bit about me|about me|one thing|one more thing|i should "
    r"(?:mention|add|say)"
    r"(?: that)?|i forgot to (?:mention|say)(?: that)?|you should know(?: that)?|let me (?:introduce "
    r"myself|tell you|add)|"
    r"just|now|currently|these days|nowadays|at the moment|right now|because|since(?! (?:(?:19|20)\d\d|last|"
    r"(?-i:[A-Z])[a-z]+(?: \d| i\b)))|as(?= (?:i|i'm|my|"
    r"we)\b)|though|although|even though|"
    r"i wanted to (?:say|let you know)(?: that)?|the thing is|correction|update|small update|quick update|"
    r"wait|hmm|"
    r"as i said|like i said|as mentioned|in case (?:it|that) (?:helps|matters)|if it helps|thanks|thank "
    r"you|great|good|"
    r"good morning|good evening|morning|there|everyone|all|nice to meet you|big news|good news|sad news|"
    r"news|warning|"
    r"important|heads up|reminder|friendly reminder|not sure if (?:it|that) matters|personally|in general|"
    r"generally|"
    r"context|while|yet|or|i mean|then|first|second|finally|lastly|today|btw|um|uh|uhm|ps|p\.s\.|dear \w+)"
    r"\b[\s,:!.–—-]*)+",
    _I,
)
_STARTS_WORD = lazy(r"\W*(?:no|all|good|first|second|today|now|as|since|just|there|so|great|remember)\b", _I)

CORRECTS = lazy(
    r"\A\W*(?:no|nope|wait|sorry|actually|correction|update|small update)\b|\bactually\b|\bi meant\b", _I
)
CURRENT = lazy(
    r"\b(?:for now|currently|at the moment|right now|temporarily|for the time being|this (?:semester|term)|"
    r"these days)\b",
    _I,
)


_FRONT = lazy(
    r"\W*(?:(?:since|as of|last|this|next|on|in|back in|early|late|earlier|the|two|three|four|a few|a couple of|"
    r"some|over|by|during|just) "
    r"[\w ]{2,24}|yesterday|today|tomorrow|recently)(?<! me)(?<! case)(?<! general)(?<! fact)",
    _I,
)


@frozen
class Clause:
    """`text` is what patterns look at; `own` the words themselves, letter by letter under it. `quote` is both without
    a subject that was taken over from the clause before."""

    text: str
    own: str
    quote: str


def blanked(sentence: str) -> str:
    return _QUOTED.sub(lambda match: BLANK * len(match[0]), sentence)


_OPENING = lazy(
    r"\s*(?:(?:hi|hello|hey|hiya|good (?:morning|evening|afternoon|day)|morning)(?: (?:there|again|"
    r"everyone|all|\w+))?[,!.:]+\s+|"
    r"(?:oh and|oh|so|well|ok(?:ay)? so|ok(?:ay)?|and|also|plus|btw|by the way|fyi|just (?:a )?(?:heads[- "
    r"]?up|fyi|so you know|to let you know)|"
    r"heads[- ]?up|for (?:the record|context|reference|what it's worth|your information)|fwiw|(?:i'm )?not "
    r"sure (?:if|whether) (?:it|this|that) "
    r"(?:matters|helps|is relevant),?(?: but)?|(?:quick|small|one|another|fun|little|important|side)(?: "
    r"more| last)? (?:thing|detail|fact|note|"
    r"point|update|correction|question aside)|to be clear|to be fair|context|background|some (?:context|"
    r"background)|since you ask(?:ed)?|"
    r"as (?:i said|you know|mentioned|i mentioned)|like i said|as (?:already )?mentioned(?: before)?|i "
    r"(?:should|must) (?:say|mention|add|note)"
    r"(?: that)?|i forgot to (?:mention|say|add)(?: that)?|(?:you )?(?:should|might want to|may want to|"
    r"ought to) know(?: that)?|"
    r"it (?:might|may|could) help to know(?: that)?|it's worth (?:knowing|mentioning|noting)(?: that)?|"
    r"i(?:'d)? just want(?:ed)? to (?:say|mention|add)"
    r"(?: that)?|before (?:we|you) (?:start|begin|continue)|in case (?:it|that) (?:helps|matters)|if (?:it|"
    r"that) (?:helps|matters)|about me|"
    r"a bit about me|did you know(?: that)?|honestly|tbh|to be honest|frankly|luckily|sadly|unfortunately|"
    r"good news|bad news|big news|news|"
    r"first of all|first off|firstly|secondly|also note(?: that)?|please note(?: that)?|please be aware(?: "
    r"that)?|be aware(?: that)?|ps|p\.s\.)"
    r"(?:[,:!.]+\s*|\s+[-–—]+\s+|\s+))",
    _I,
)
"""What people say before they say it. After it, a sentence begins anew."""
_REMARK = lazy(
    r"(?:[\s,;–—-]+|\s*\(|(?<=[.!]))(?:haha+|hehe+|btw|by the way|just saying|just so you know|just fyi|"
    r"fyi|for the record|if (?:that|it) "
    r"(?:helps|matters)(?: at all)?|in case (?:that|it|you|the \w+) \w+(?: \w+){0,3}|as you (?:know|can "
    r"see|might guess)|as i (?:said|mentioned)|"
    r"for what it's worth|fwiw|tbh|to be honest|honestly|obviously|weirdly|sadly|luckily|unfortunately|"
    r"thankfully|surprisingly|"
    r"hands down|don't ask(?: me)?(?: why| how)?|long story|i think you should know|been a while(?: now)?|"
    r"(?:and )?(?:always|never) (?:have|has|had|will|did|was|were|am|is)(?: been)?|born and bred|"
    r"believe (?:me|it)|trust me|by the by|(?:both|all) of us(?: do| are)?|ha(?:ve|s) been for \w+|(?:and "
    r")?proud of it|"
    r"these days|nowadays|at the moment|mostly|generally|usually|in general|thank god|thank "
    r"goodness|phew|yay|"
    r"woohoo|woo|ugh|sigh|sorry|and it shows|and i(?:'m| am) (?:so |very |quite )?(?:proud|happy|glad|"
    r"excited|nervous|thrilled)\b.{0,60}|"
    r"but that's (?:another story|ok|okay|fine|life)|so (?:please )?keep that in mind|which (?:is|explains|"
    r"means|was|makes|helps|isn't|"
    r"annoys|sucks|can be)\b.{0,80}|that's (?:all|it|that)|and that's (?:that|it|final)|end of story|"
    r"period|full stop|no exceptions|"
    r"no excuses|thanks(?: a lot| in advance| so much)?|thank you(?: so much)?|cheers|please(?: and thank "
    r"you)?|ok|okay|got it|understood|"
    r"deal|anyway|as always|as usual|of course|for sure|for real|believe it or not|go figure|wish me luck|"
    r"fingers crossed|can't wait|"
    r"so excited|hooray|at last|go me|i know|you know|what can i say|guilty as charged|if you must know|"
    r"long live \w+|boring,? i know|"
    r"weird,? i know|sue me|i swear|no joke|not kidding|true story|seriously|:-?\)|:d|;-?\)|xd|\^\^|<3|"
    r"[\u2600-\u27bf\U0001f300-\U0001faff\ufe0f]+)[\s.!)…]*\Z",
    _I,
)
"""What people add after they have said it."""


def core(text: str) -> tuple[int, int]:
    """Where what a sentence says begins and ends, without openings and remarks."""
    start, end = 0, len(text)
    for _ in range(5):
        opening = _OPENING.match(text, start)
        if opening is None or opening.end() >= end:
            break
        start = opening.end()
    for _ in range(5):
        remark = _REMARK.search(text, max(start, end - 120), end) or _REMARK.search(text, start, end)
        if remark is None or remark.start() <= start:
            break
        end = remark.start()
    return start, end


_SPEAKS = lazy(
    r"(?!\W*(?:note|ps|fyi|update|reminder|correction|context|background|btw|edit|also|hi|hello|hey|"
    r"facts?|me|about me|rules?|"
    r"important|heads|warning|quick|one|small|fun|bio|intro|decision|decided|agreed|ok|okay|so|news|"
    r"big news|good news|and|but|"
    r"oh|well|my|our|i|we|for|to|the|this|that|full disclosure|disclaimer|truth|thing is|little|random|"
    r"confession)\b)"
    r"\W*[a-z]+(?: [a-z]+)?: (?:i|i'm|i've|my|we)\b",
    _I,
)
"""A line of a play: whoever stands before the colon says it."""


def stated(sentence: str) -> str:
    """The part of a sentence that states: all of it, what stands before a question, or nothing."""
    text = sentence.rstrip()
    told = _TOLD.match(text)
    if told:
        text = text[: told.end()]
    if _BEGINS_QUESTION.match(text) or _SPEAKS.match(text):
        return ""
    if text.rstrip(" \"')”").endswith(("?", "？")):
        asks = _QUESTION.search(text)
        return text[: asks.start()] if asks else ""
    return text


def is_meant(sentence: str) -> bool:
    """Whether it is said in earnest, of this world, and is no order to work on words that follow."""
    return not (NO_FACT.search(sentence) or _WORK.match(sentence))


def without_lead(text: str) -> int:
    """Where a clause begins, after greetings and the like."""
    lead = _LEAD.match(text)
    return lead.end() if lead else len(text) - len(text.lstrip(" ,.-–—\"'"))


def clauses(text: str, sentence: str) -> Iterator[Clause]:
    """In their order. A clause that begins with a verb has the subject of the one before."""
    own = sentence.replace("’", "'")
    start = 0
    subject = ""
    is_being, has_moved = True, False
    for end, after in [
        *((match.start(), match.end()) for match in _SPLIT.finditer(text)),
        (len(text), len(text)),
    ]:
        if end < len(text) and _FRONT.fullmatch(text[start:end]):
            continue  # when it was belongs to what it was
        begin = start + without_lead(text[start:end])
        if begin < end:
            part = text[begin:end].rstrip(" ,.")
            words, quote = own[begin : begin + len(part)], sentence[begin : begin + len(part)]
            if _BARE_VERB.match(part) and not (begin == 0 and _ELIDED.match(part)):
                # After a dash, "like" only gives an example.
                is_example = part.startswith("like ") and not re.search(
                    r"\b(?:and|but)\s*\Z", text[:begin], _I
                )
                if is_example or _OTHER.search(text[:begin]):
                    subject = ""
                lead = f"{subject} " if subject else ""
                yield Clause(lead + part, lead + words, quote)
            elif begin == 0 and _ELIDED.match(part):
                # "Can't stand cilantro": nobody else can be meant.
                lead = "I'm " if _ELIDED.match(part)["be"] else "I "  # type: ignore[index]
                yield Clause(lead + part, lead + words, quote)
            elif subject == "I" and has_moved and _BACK.match(part):
                yield Clause(f"I moved {part}", f"I moved {words}", quote)
            elif subject == "I" and is_being and _APPOSED.match(part):
                yield Clause(f"I'm {part}", f"I'm {words}", quote)
            elif part:
                found = _SUBJECT.match(part)
                subject = _subject(found[0]) if found else ""
                is_being = re.match(r"(?:i'm|i am|im)\b|my name", part, _I) is not None
                has_moved = re.search(r"\bmoved\b", part, _I) is not None
                yield Clause(part, words, quote)
        start = after


def _subject(words: str) -> str:
    return "I" if words.lower() in ("i", "i'm", "i am", "i've", "im", "i'd") else words
