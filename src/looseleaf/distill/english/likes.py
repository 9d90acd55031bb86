"""Forms that say what the speaker likes, prefers, is like, suffers from, can and does for fun."""

from __future__ import annotations

import re

from looseleaf.core.lazy import lazy
from looseleaf.distill.english.forms import (
    FEEL,
    HAVE,
    HEDGE,
    IM,
    SEPARATE,
    WISHED,
    Forms,
    Found,
    cut,
    listed,
    own,
)
from looseleaf.distill.english.words import CONDITIONS, ILL, LANGUAGE, TRAITS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from looseleaf.distill.english.clauses import Clause

FORMS = Forms()


VAGUE = lazy(
    r"(?:it|this|that|these|those|them|him|her|you|your|how|what|when|where|all|two|three|both|some|many|a "
    r"lot|lots|every|"
    r"the (?:idea|way|fact|look|"
    r"sound|first|second|"
    r"last|new|name|result|one|plan|part|changes?|answer|code|design|version|suggestion|output|tone)|to "
    r"(?:know|see|hear|say|"
    r"ask|thank|think|understand|get|have|be|help|add|make|use|try|do|check|start|book|order|buy|apply|"
    r"schedule)|my (?:new|old)|"
    r"idea|way|fact|look|all (?:of )?(?:this|that|these|it)|both|one|everything|being able|having to|so "
    r"far|option|nothing|"
    r"anything|something|for|if|each other|where|yours|mine|mondays|theme|to\Z|stuff\Z|things?\Z|vibes?\Z|"
    r"working with you|talking to you|we|i|he|she|they|seeing "
    r"(?:you|this)|hearing)\b",
    re.IGNORECASE,
)


_POINTS = lazy(
    r"\A[^,]*\b(?:them|it|him|you|your|their|this|that|these|those|everyone)\b|\Athe (?!mountains|sea\b|"
    r"ocean|beach|outdoors|rain\b|snow|countryside|"
    r"forest|desert|cold|heat|smell|sound|taste|theatre|theater|opera|cinema|north|south|blues|violin|"
    r"piano|cello|guitar|gym|sun\b|"
    r"(?-i:[A-Z]))|\A(?:me|her|us)\b",
    re.IGNORECASE,
)


_ADJECTIVES = lazy(
    r"(?P<a>.*\ban? [\w-]+), (?P<b>(?!(?:an?|the|and|or|but|so|my|i|it|they)\b)[\w-]+ [\w-]+.*)",
    re.IGNORECASE,
)
"""A comma between two adjectives: "a safe, inviting place"."""


_LOOKS = lazy(
    r"\b(?:vibes?|looks?|theme|idea|design|style|layout|colou?rs?|touch|picture|pic|photo)\Z", re.IGNORECASE
)
"""What is liked of the thing at hand."""


def _thing(words: str) -> str:
    words = words.strip()
    if (two := _ADJECTIVES.fullmatch(words)) and not re.search(r", .*(?:,| and | or ) ", words):
        return cut(f"{two['a']} {two['b']}")
    if VAGUE.match(words) or _POINTS.search(words) or re.match(r"(?:also|too)\b", words, re.IGNORECASE):
        return ""
    words = re.sub(r" (?:and|or) (?:i|my|it|we|he|she)\b.*\Z", "", cut(words), flags=re.IGNORECASE)
    words = re.sub(r"\Ato ", "", words)
    return "" if VAGUE.match(words) or _LOOKS.search(words) or len(words.split()) > 9 else words


_DEED = lazy(r"\w+ing [\w' -]+? (?:and|or|&) (?!\w+ing\b)", re.IGNORECASE)
_ONE_HEAD = lazy(
    r"(?!\w+ing\b)[\w-]+ (?:and|or|&) [\w-]+ (?:movies|books|games|novels|films|stories|shows|food|"
    r"cuisine)",
    re.IGNORECASE,
)


def _liked(relation: str, *patterns: str) -> None:
    """Things of a few words each are told one by one."""

    def read(match: re.Match[str], clause: Clause) -> Iterator[Found]:
        words = _thing(own(match, clause))
        parts = [part.strip() for part in SEPARATE.split(words) if part.strip()]
        # "making new and powerful models", "sci-fi and fantasy books": two words, but one thing.
        if "," not in words and (_DEED.match(words) or _ONE_HEAD.fullmatch(words)):
            parts = [words]
        elif len(parts) < 2 or any(len(part.split()) > 3 for part in parts) or re.search(r"\bboth\b", words):
            parts = [words.split(", ")[0]]
        for part in parts:
            if part and not VAGUE.match(part):
                yield Found(relation, part)

    FORMS.each(read, *patterns)


_PREFERS = r"i(?:'d| would)?(?: \w+ly| much)? prefer"


@FORMS.form(
    rf"(?:(?:for|with|when|in|as for|on) (?!example)[\w' -]{{2,30}}?,? )?{_PREFERS}(?: to (?:use|have|get|"
    r"read))? (?P<o>.+)"
)
def _prefers(match: re.Match[str], clause: Clause) -> Iterator[Found]:
    words = own(match, clause)
    if re.match(
        r"(?:not to|if i|it (?:when|if) i|that|this|it(?! (?:when|if) you)|the (?:first|second|last|latter|"
        r"former|other)|"
        r"option)\b",
        words,
        re.IGNORECASE,
    ):
        return
    words = re.sub(
        r"\A(?:it when|it if|if|that|when) (?:you )?|\Ato (?:be )?|"
        r"\Ayou to ",
        "",
        words,
        flags=re.IGNORECASE,
    )
    first, _, rest = words.partition(" ")
    words = f"{WISHED.get(first.lower(), first)} {rest}".strip()
    words = (
        re.sub(r" (?:rather than|instead of|to|vs\.?|more than) (?=\w)", " over ", words, count=1)
        if not re.search(r"\bover\b", words) and not re.match(r"(?:be|get|you)\b", words)
        else words
    )
    words = re.sub(
        r",? (?:because|since|so|please|thanks|btw|by the way|as|if|when|in general|usually|though)\b.*\Z",
        "",
        words,
        flags=re.IGNORECASE,
    )
    words = re.sub(r"\A(?:an?|the|my|your) ", "", words, flags=re.IGNORECASE)
    if words.count(",") == 1:
        words = re.sub(r", [a-z][a-z' ]{0,24}\Z", "", words)
    tongue = re.search(
        rf"\b(?:answers|repl|respon|talk|chat|speak|writ|commun|"
        rf"discuss)\w* (?:\w+ )?in (?P<l>{LANGUAGE})\b",
        words,
        re.IGNORECASE,
    )
    if tongue:
        yield Found("Language", f"answers in {tongue['l'].capitalize()}")
        return
    language = re.match(rf"(?P<l>{LANGUAGE})\b(?! \w+ing)", words, re.IGNORECASE)
    if (
        language
        and len(words.split()) < 4
        and not re.search(r"\b(?:food|music|films?|tea|wine|beer)\b", words, re.IGNORECASE)
    ):
        yield Found(
            "Language",
            f"prefers {words}" if words.lower() != language["l"].lower() else f"answers in {words}",
        )
    elif words and not re.match(r"(?:not|none|neither)\b", words, re.IGNORECASE):
        yield Found("Prefers", words)


@FORMS.form(
    r"i(?:'d| would) (?:much |generally )?rather (?:have |get |use |take |drink |eat )?(?P<o>.+?) than "
    r"(?P<p>.+)"
)
def _rather(match: re.Match[str], clause: Clause) -> Iterator[Found]:
    if not re.match(r"(?:you|not|be|do|see|go|die|wait|stay|pay|it|this|that)\b", match["o"], re.IGNORECASE):
        yield Found("Prefers", f"{cut(own(match, clause))} over {cut(own(match, clause, 'p'))}")


@FORMS.form(r"i (?:like|want|love) my (?P<o>(?:answers?|replies|responses|explanations?|code|summaries) .+)")
def _likes_answers(match: re.Match[str], clause: Clause) -> Iterator[Found]:
    yield Found("Prefers", cut(own(match, clause)))


@FORMS.form(
    r"(?P<o>[\w' -]{2,40}?) (?:is|are|has always been) my (?:(?:all[- ]time|absolute|personal) "
    r")*fav(?:ou?rite|e)? (?P<k>[\w ]{2,25})"
)
def _is_favourite(match: re.Match[str], clause: Clause) -> Iterator[Found]:
    if not VAGUE.match(match["o"]) and not re.match(r"(?:which|what|the)\b", match["o"], re.IGNORECASE):
        yield Found("Favourite", f"{cut(own(match, clause, 'k'))}: {cut(own(match, clause))}")


@FORMS.form(r"i tend to (?P<o>.+)")
def _tends(match: re.Match[str], clause: Clause) -> Iterator[Found]:
    if words := cut(own(match, clause)):
        yield Found("Trait", f"tends to {words}")


@FORMS.form(
    r"i(?: \w+ly)? (?:like|love|enjoy|want) (?P<o>(?:[\w-]+ ){0,3}(?:answers|replies|responses|"
    r"explanations|summaries|examples|commit messages))(?: .*)?"
)
def _likes_style(match: re.Match[str], clause: Clause) -> Iterator[Found]:
    if not _POINTS.search(match["o"]):
        yield Found("Prefers", cut(own(match, clause)))


@FORMS.form(r"i(?: \w+ly)? (?:like|love|enjoy) (?P<o>.+?) (?:better|more) than (?P<p>.+)")
def _likes_better(match: re.Match[str], clause: Clause) -> Iterator[Found]:
    if not VAGUE.match(match["o"]):
        yield Found("Prefers", f"{own(match, clause)} over {cut(own(match, clause, 'p'))}")


@FORMS.form(
    r"(?:my )?(?:(?:all[- ]time|absolute|personal|new|current) )*fav(?:e|s|ou?rite)? (?P<k>[\w "
    r"-]{2,30}?)(?: of all time)?"
    r"(?: (?:is|are|has to be|will always be|has always been)|:)(?: probably| definitely| still)? (?P<o>.+)"
)
def _favourite(match: re.Match[str], clause: Clause) -> Iterator[Found]:
    if re.match(r"(?:thing|part|bit|aspect|way)s? (?:about|of|to)\b", match["k"], re.IGNORECASE):
        return  # of something else than the speaker
    words = re.sub(r",.*\Z", "", cut(own(match, clause)))
    kind = re.sub(r"\b(?:favorite|one|thing|to .*)\b", "", own(match, clause, "k")).strip()
    if (
        words
        and not VAGUE.match(words)
        and not re.match(r"(?:when|that|how|to|last|first|second|other)\b", words)
        and kind
    ):
        yield Found("Favourite", f"{kind}: {words}")


_liked(
    "Dislikes",
    rf"i {FEEL}(?:hate|dislike|detest|loathe|despise|can't stand|cannot stand|can't bear) (?P<o>.+)",
    r"i (?:really |also )?(?:don't|do not)(?: really| particularly)? (?:like|enjoy|care for|love) "
    r"(?P<o>(?!to\b).+)",
    rf"{IM} not (?:a (?:big |huge )?fan of|fond of|keen on|into|much of a fan of) (?P<o>.+)",
)
_liked(
    "Likes",
    rf"i {FEEL}(?:like|love|enjoy|adore) (?P<o>.+)",
    rf"{IM} (?:really |very |quite |so )?(?:a (?:big |huge |massive |real )?fan of|into|fond of|crazy "
    r"about|obsessed with|keen on|"
    r"passionate about) (?P<o>.+)",
    r"i have a (?:soft spot|weakness|thing) for (?P<o>.+)",
)
FORMS.plain(
    "Trait",
    rf"{IM} (?:also |a bit of |basically )?(?P<o>{TRAITS}){HEDGE}(?: (?:and|so|but|by nature|when)\b.*|"
    rf",.*)?",
)
FORMS.plain(
    "Trait",
    rf"(?:i work|{IM} working|{IM}|i'm employed) (?P<o>in (?:\w+ )?(?:marketing|finance|sales|hr|it "
    r"support|it|healthcare|education|tech|"
    r"construction|logistics|insurance|publishing|advertising|retail|hospitality|biotech|academia|law|"
    r"consulting|tech support|"
    r"customer service|customer support|banking|real estate|public relations|procurement|accounting|"
    r"agriculture))\b(?! (?:trouble|love)).*",
    shape=lambda words: f"works {words}",
)
FORMS.many(
    "Allergy",
    rf"(?:{IM}|i've been|i was born) (?:\w+ly |very |quite |also )*allergic to (?P<o>.+)",
    rf"{HAVE} an? (?:\w+ )?allergy to (?P<o>.+)",
)


@FORMS.form(
    rf"{HAVE} (?:an? |the )?(?:severe |bad |mild |strong |terrible )?(?P<o>[\w ]{{2,30}}?) allerg(?:y|"
    r"ies)\b.*"
)
def _allergy(match: re.Match[str], clause: Clause) -> Iterator[Found]:
    for each in listed(own(match, clause)):
        yield Found("Allergy", each)


FORMS.plain(
    "Condition",
    rf"{HAVE} (?P<o>(?:an? |mild |severe |bad )?{CONDITIONS})\b.*",
    r"i (?:often |sometimes |regularly )?(?:get|wear|use|need) (?P<o>(?:frequent |bad |terrible "
    r")?(?:migraines|hearing aids?|an? wheelchair|an? pacemaker|motion sick(?:ness)?|carsick|"
    r"seasick|panic attacks))\b.*",
    rf"{IM} (?P<o>{ILL}(?: in (?:one|my \w+) (?:ear|eye))?){HEDGE}(?: (?:and|so|but|with)\b.*|,.*)?",
    r"i (?:suffer from|struggle with|live with) (?P<o>(?:\w+ )?" + CONDITIONS + r")\b.*",
    r"i(?:'ve been| was|'m| have been)(?: just| recently)? diagnosed with (?P<o>.+)",
    shape=lambda words: re.sub(
        r" (?:in (?:19|20)\d\d|last|two|three|a few|years|at|as|when|this)\b.*\Z", "", cut(words)
    ),
)
_INSTRUMENT = (
    r"(?:piano|guitar|violin|cello|drums|flute|saxophone|trumpet|bass|bass guitar|ukulele|"
    r"clarinet|harp|viola|oboe|accordion|trombone|banjo|organ|keyboard|double bass|electric "
    r"guitar)"
)
FORMS.plain(
    "Skill",
    rf"i (?:can |also )*(?P<o>play (?:the )?{_INSTRUMENT})\b.*",
    r"i can (?:code|program) in (?P<o>[\w+#]+)\b.*",
    r"i can (?:also )?(?P<o>read (?:sheet )?music|knit|sew|juggle|sail|weld|touch[- ]type|code|program|ski|"
    r"surf|bake|sing|whistle|lip[- ]read|(?:use|speak) sign language|fly (?:a )?planes?|drive "
    r"(?:a )?(?:truck|lorry|tractor)|write (?:shorthand|calligraphy))\b.*",
    rf"{IM} (?:really |very |quite |pretty )*(?:good|skilled|experienced|proficient|great) (?:at|in|with) "
    r"(?P<o>(?!it|this|that|hiding|keeping)[\w +#.-]+)",
    r"i know (?P<o>(?:rust|python|java|javascript|typescript|go|c\+\+|c#|sql|kotlin|swift|haskell|ruby|php|"
    r"r|html|css|bash)(?:(?:,| and|,? &) \w+)?)(?: (?:very |pretty |quite )?well| inside out| "
    r"fluently| already)?.*",
    r"i(?:'ve been| have been) (?:coding|programming|developing)(?: in)? (?P<o>\w[\w+#]*)"
    r"(?: (?:for|since) .+)?",
    shape=lambda words: re.sub(r"\Aplay ", "plays ", cut(words)),
)
FORMS.many(
    "Speaks",
    r"i (?:can |also |only )?speak (?:fluent |some |a little |a bit of |native |good |basic |both "
    rf")*(?P<o>(?:{LANGUAGE})\b(?:(?:,|,? and|,? &| as well as)? (?:some |a little |a bit of |"
    rf"fluent |basic )?(?:{LANGUAGE}))*)\b.*",
    rf"{IM} (?:fluent|proficient) in (?P<o>(?:{LANGUAGE})\b(?:(?:,|,? and)? (?:{LANGUAGE}))*)\b.*",
    rf"my (?:native|first|mother) (?:language|tongue)(?:'s| is) (?P<o>{LANGUAGE})\b.*",
    rf"{IM} a native (?P<o>{LANGUAGE}) speaker\b.*",
)
_VERBS_OF_HOBBIES = (
    "bake paint draw knit sew volunteer brew crochet sing dance restore build collect write read "
    "photograph garden "
    "forage repair carve cook grow"
)
_GERUNDS = {
    verb: (verb[:-1] if verb.endswith("e") else verb + verb[-1] if verb == "knit" else verb) + "ing"
    for verb in _VERBS_OF_HOBBIES.split()
}


def _hobbies(match: re.Match[str], clause: Clause) -> Iterator[Found]:
    """As what one does: "restore old radios" is "restoring old radios"."""
    for each in listed(own(match, clause)):
        first, _, rest = each.partition(" ")
        words = f"{_GERUNDS.get(first.lower(), first)} {rest}".strip() if rest else first
        yield Found("Hobby", re.sub(r"\A(?:play(?:ing)?|do|go) ", "", words))


FORMS.each(
    _hobbies,
    r"my (?:main |favourite |favorite |biggest )?hobb(?:y|ies)(?:'s| is| are|"
    r" include)(?: \w+ly)? (?P<o>.+)",
    r"in my (?:free|spare) time,? i (?:mostly |usually |like to |love to |enjoy |do |go |also |often "
    r")*(?P<o>.+)",
    r"i (?:do|practise|practice) (?P<o>yoga|pilates|karate|judo|bouldering|archery|crossfit|calligraphy|"
    r"ceramics|pottery|woodworking|origami|ballet|boxing|tai chi|fencing|gymnastics)\b.*",
    r"i (?:also )?(?P<o>(?:bake|paint|draw|knit|sew|volunteer at|brew|crochet|sing in|dance|restore|build "
    r"model) (?!it\b|this\b|the\b|that\b|a \b)[\w' -]+?)(?: (?:on|every|at|twice|once|in my|for "
    r"fun)\b.*)?",
    r"i (?:also )?(?P<o>collect (?!data|info|my|the|them|it)[\w ]+)",
    r"i (?:go|often go|regularly go) (?P<o>climbing|bouldering|running|hiking|swimming|cycling|fishing|"
    r"sailing|kayaking|skiing|dancing|birdwatching)\b(?! (?:today|tomorrow|now|to)).*",
    r"i (?:also )?play (?P<o>(?:tennis|chess|football|basketball|volleyball|badminton|go|bridge|squash|"
    r"golf|hockey|rugby|board games|table tennis|dungeons and dragons|d&d))\b.*",
)
