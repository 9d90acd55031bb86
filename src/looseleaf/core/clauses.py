"""Sentences and clauses of a text: where they end, what they deny, ask, suppose, report or put an end to, and which
lines of a message are the words of whoever sent it.

Told by their words alone, in six languages, on text in one spelling (`spelled`), in time linear in it.

In doubt a sentence says less: what is read as denied or asked only waits for a person, what is read as said is kept.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from functools import lru_cache
from unicodedata import normalize

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

_QUOTES = str.maketrans("’‘ʼ“”„«»「」『』", '\'\'\'"""""""""')
_BLANKS = re.compile(r"[^\S\n]+")
_PARTS = re.compile(r"(?s).{1,1000}(?=\s)|.{1,1000}")


@lru_cache(256)
def spelled(text: str) -> str:
    """In one spelling: case, width, quotes and the number of spaces do not count. Lines stay lines.

    Kept, because many claims are held against the same text.
    """
    if not text.isascii():
        # A part at a time: normal form sorts marks that follow each other in quadratic time.
        text = "".join(normalize("NFKC", part) for part in _PARTS.findall(text)).casefold().translate(_QUOTES)
    return _BLANKS.sub(" ", text.casefold())


WIDE = "\u3005-\u3007\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
IS_WIDE = re.compile(f"[{WIDE}]")

# --- whose words a message holds --------------------------------------------------------

_TEXTS = (
    r"(?:e-?mails?|mail|text|page|site|message|logs?|letter|article|comment|post|review|output|error|paragraph"
    r"|transcript|draft|document|excerpt|conversation|chat|report|file|response|dialog(?:ue)?|prompt|code|readme"
    r"|nachricht|seite|brief|artikel|courriel|texte|lettre|correo|texto|carta|mensaje|página)"
)
_INTRODUCES = re.compile(
    r"(?i)(?:^|[.!?,;]\s)\W{0,3}(?:(?:please|pls|can you|could you|bitte|now|then|and) ){0,2}"
    r"(?:translate|proofread|rewrite|summari[sz]e|rephrase|paraphrase|polish|shorten|classify|explain|analy[sz]e"
    r"|repeat|übersetze?|korrigiere|fasse|traduis|traduisez|corrige|résume|traduce|traduzca|resume)"
    r"\b[^:\n：?.!]{0,80}[:：](?=\s|$|[^\x00-\x7f])"
    r"|\b(?:here(?:'s|’s| is| are| comes)|this is|below|following|received|hier (?:ist|kommt)|folgende|voici|voilà"
    rf"|aquí (?:está|tienes)|siguiente|pasted?)\b[^:\n：.!]{{0,60}}\b{_TEXTS}\b[^:\n：.!]{{0,60}}[:：](?=\s|$)"
    rf"|^\W{{0,3}}(?:the |my |error )?{_TEXTS}\s?:\s*$"
    r"|(?:翻译|润色|改写|总结|翻訳|要約|添削|校对|校正)[^:\n：]{0,40}[:：]"
    r"|(?:以下是|下面是|这里是|以下は|以下の)[^:\n：]{0,40}[:：]"
)
"""What follows it is a text to work on, to the end of the message."""
_HEADER = re.compile(r"(?i)[ \t]*(?:from|to|subject|date|cc|sent|von|an|betreff|objet|asunto|para) ?: ?\S")
_MAIL = re.compile(r"(?i)[ \t]*(?:(?:subject|betreff|objet|asunto) ?: ?\S|(?:from|von|de) ?: ?[^\n@]{1,80}@)")
_LOGGED = re.compile(
    r"[ \t]*(?:\[?[0-9]{4}-[0-9]{2}-[0-9]{2}(?:[T ][0-9]{2}:| \[?[A-Z]{4,8}\b)|\[?[0-9]{2}:[0-9]{2}:[0-9]{2}"
    r"|\[?(?:INFO|WARN(?:ING)?|ERROR|DEBUG|TRACE|FATAL|CRITICAL)\b|Traceback |File \"|\$ |>>> |npm ERR|\+\+\+ |@@ )"
)
_SPEAKER = re.compile(
    r"(?i:[ \t]*[\[*]{0,2}(?:user|assistant|human|system|ai|bot|chatgpt|claude|agent|customer|support|interviewer)"
    r"[\]*]{0,2} ?[:：])"
    r"|[ \t]*(?!(?:Note|Update|Correction|Edit|Reminder|Also|About|Actually|Btw|Important|Ps)\b)[A-Z][a-z'-]{1,20}"
    r" ?: ?[\"']?(?:I|I'm|I’m|I've|My|We)\b"
)
"""A label that says who speaks; behind any other, it must be somebody who speaks of himself."""
_PASTED = "\n·\n"


@lru_cache(64)
def own_words(text: str) -> str:
    """A message without what was pasted into it: code, quotes, mails, logs, talk of others, texts to work on."""
    lines = text.split("\n")
    is_mail = sum(_HEADER.match(line) is not None for line in lines) > 1 and any(map(_MAIL.match, lines))
    spoken = [at for at, line in enumerate(lines) if _SPEAKER.match(line)]
    kept: list[str] = []
    fence = ""
    is_talk = False
    for at, line in enumerate(lines):
        bare = line.lstrip()
        mark = bare[:3] if bare.startswith(("```", "~~~")) else ""
        if is_mail and _HEADER.match(line):
            break
        is_talk = at in spoken[:1] or (is_talk and (at < spoken[-1] or bool(bare) or at == spoken[-1]))
        if mark and fence in ("", mark):
            fence = "" if fence else mark
        elif not (fence or is_talk or bare.startswith(">") or _LOGGED.match(line)):
            begins = _INTRODUCES.search(line)
            kept.append(line[: begins.start()] if begins else line)
            if begins:
                break
            continue
        kept.append(_PASTED)
    return "\n".join(kept)


# --- sentences -------------------------------------------------------------------------

_END = re.compile(
    r"(?<=[^\W_]{3})[.!?…]+[\"')\]]*(?=\s)|(?<=[^\w\s])[.!?…]+(?=\s)|[!?]+(?=\s)|[。！？｡]+"
    r"|\n[ \t]*\n|\n(?=[ \t]*(?:[-*+>#|]|\d{1,3}[.)])[ \t])|\n(?=>)"
)
"""Not after a short word: "Dr. Meyer" is one name."""

_SHORT_LINE = 60
_REACH = 600
"""Characters on either side of a quote that are looked through for the ends of its sentence."""


def sentences_of(text: str) -> Iterator[str]:
    """Of spelled text, each with the mark that ends it. A line that breaks off early ends one as well."""
    start = 0
    for end in _END.finditer(text):
        yield from _lines(text[start : end.end()])
        start = end.end()
    yield from _lines(text[start:])


def _lines(sentence: str) -> Iterator[str]:
    if "\n" not in sentence.strip():
        yield sentence
        return
    made: list[str] = []
    for line in sentence.split("\n"):
        made.append(line)
        if len(line) < _SHORT_LINE:
            yield " ".join(made)
            made = []
    if made:
        yield " ".join(made)


def located(quote: str, text: str) -> str | None:
    """The spelled sentences in which a quote stands, whole words of it: who cuts "not" off gains nothing. None: it does
    not stand there."""
    plain_text, part = spelled(text), spelled(quote).strip()
    flat = plain_text.replace("\n", " ") if "\n" in plain_text else plain_text
    part = _BLANKS.sub(" ", part.replace("\n", " "))
    at = _found(part, flat)
    if at is None and "  " in flat:
        flat = plain_text = _BLANKS.sub(" ", flat)
        at = _found(part, flat)
    return _around(plain_text, at, at + len(part)) if at is not None else None


def _found(part: str, text: str) -> int | None:
    at = text.find(part) if part else -1
    if at < 0 or _stands_at(part, text, at):
        return at if at >= 0 else None
    whole = re.compile(rf"(?<![^\W_]){re.escape(part)}(?![^\W_])").search(text)
    return whole.start() if whole else None


def _around(text: str, start: int, end: int) -> str:
    first = max(0, start - _REACH)
    before = text[first:start]
    begin = max((found.end() for found in _END.finditer(before)), default=0)
    if before[:-1].endswith((".", "!", "?", "…")) and _END.search(before):
        begin = max(begin, len(before) - 1)
    begin = max(begin, before.rfind("\n") + 1 if _is_short(before) else 0)
    after = _END.search(text, max(end - 1, start), min(len(text), end + _REACH))
    stop = after.end() if after else min(len(text), end + _REACH)
    line = text.find("\n", end, stop)
    stop = line if line >= 0 else stop
    # Whoever quotes across the end of a line takes what is on both sides for one sentence.
    return f"{text[first + begin : start]}{text[start:end].replace(chr(10), ' ')}{text[end:stop]}"


def _is_short(before: str) -> bool:
    """Whether the last whole line ends where a thought does, and not where the page was full."""
    lines = before.split("\n")
    return len(lines) > 1 and len(lines[-2]) < _SHORT_LINE


def stands_in(part: str, sentence: str) -> bool:
    """Whether it stands there whole: `evil.co` does not stand in `evil.com`."""
    at = sentence.find(part)
    while at >= 0 and not _stands_at(part, sentence, at):
        at = sentence.find(part, at + 1)
    return at >= 0


def _stands_at(part: str, text: str, at: int) -> bool:
    end = at + len(part)
    return not (at and _joins(text[at - 1], part[0])) and not _joins(part[-1], text[end : end + 2])


def _joins(one: str, other: str) -> bool:
    """Whether two characters side by side make one word or address of what they end and begin."""
    if not other or IS_WIDE.match(one[-1]) or IS_WIDE.match(other[0]):
        return False
    return (one[-1].isalnum() or one[-1] in "@/.-_") and (
        other[0].isalnum()
        or other[0] in "@/_"
        or (len(other) > 1 and other[0] in ".-" and other[1].isalnum())
    )


# --- what a sentence denies, asks and ends --------------------------------------------

_IDIOM = re.compile(
    r"\b(?:do not|don't|dont|never|nie) (?:forget|you forget|worry|mind)\b|\bvergiss (?:bitte )?nicht\b"
    r"|\bn'oublie[zs]? pas\b"
    r"|\bno (?:te )?olvides\b|\bnot (?:only|just)\b|\bno (?:problem|worries|doubt|matter)\b|\bwhy not\b"
    r"|\bcan't wait\b"
    r"|\bnicht nur\b|\bpas seulement\b|\bno solo\b|别忘了?|別忘了?|不要忘记|忘れないで"
    r"|不对|不過|不过|不好意思|不仅|不但|不错"
    r"|(?:^|[.!?]\s)\W*(?:no|nope|nein|non|nah)(?=[,.!;，]| (?:it's|i'm|it is|i am|that's|my|es ist|ich|c'est"
    r"|je|soy|mi)\b)"
    r"|\bif not\b|\bor not\b"
)
"""What has the form of a negation and is none."""
_NEGATIVE = re.compile(
    r"\b(?:no|not|never|none|nobody|nothing|without|avoid|avoids|stop|stopped|cannot|cant|can't|dont|doesnt"
    r"|wont|isnt|nor"
    r"|quit|refuse|instead of|rather than|no longer|nie|niemals|nicht|kein\w{0,3}|ohne|ne|n'\w+|pas|jamais"
    r"|sans|aucune?|no"
    r"|nunca|jamás|sin|tampoco|ya no)\b|n't\b|不|别|別|没|沒|无|無|勿|禁|ない|なく|なし|ません|まない"
    r"|ず(?:に|、)"
)
_AVERSE = re.compile(
    r"\b(?:hat(?:e|es|ed|ing)|dislik\w+|loath\w+|despis\w+|detest\w*|stand|averse|annoy\w*|allergic|hass(?:e"
    r"|t)|verabscheu\w+"
    r"|détest\w+|déteste|horreur|odi(?:o|a)|detest(?:o|a)|aborrezco|sick of|tired of|fed up|worst|gross|awful"
    r"|terrible"
    r"|least|drives? me|bother\w*|irritat\w+|nerv\w+)\b|讨厌|討厭|恨|怕|嫌|苦手|受不了"
)
_OVER = re.compile(
    r"\b(?:used to|quit|stopped?|gave up|given up|left|ended?|over|finished|former\w*|ex|any ?more|no longer"
    r"|cancel\w*|sold"
    r"|broke up|divorced|died|gone|früher|nicht mehr|kein\w{0,2} mehr|aufgehört|gekündigt|plus|arrêté|quitté"
    r"|ya no|dejé"
    r"|dejado|antes|scrap\w*|drop\w*|forget|lost|retired|resigned|not|n't|never|done with|moved)\b|n't\b|不再"
    r"|已经不|戒了"
    r"|辞|不|没|もう|やめ|ない|ません|取消|了"
)
_APART = re.compile(
    r"[;:()；：（）]|\s[-–—]+\s|\b(?:but|yet|so|because|weil|denn|donc|car|porque|not|instead of"
    r"|rather than|aber|sondern|mais|pero|sino|statt"
    r"|anstatt)\b|但是?"
    r"|而是?|けど|でも|ので|から|(?:[,，、]\s?|\b)(?:and|und|et|y) (?=(?:i|i'm|i've|we|my|ich|wir"
    r"|mein\w{0,2}|je|j'|nous"
    r"|mon|ma|yo|mi)\b)"
    r"|[,，、](?=\s?(?:so )?(?:which|i|i'm|i've|i'd|i'll|we|we're|it|it's|he|she|they|you|my|our|this|that"
    r"|there|call|use|write"
    r"|answer|keep|make|put|go|just|only|always|please|because|the|no|nicht|pas|non|todavía|encore|noch|never|without|don't|ich|wir|es|er"
    r"|mein\w{0,2}|kein\w{0,2}"
    r"|ohne|nie|nimm|nenn|immer|je|j'|nous|il|mon|ma|sans|jamais|toujours|utilise|yo|mi|nosotros|sin|nunca|usa"
    r"|siempre)"
    r"(?![^\W_]))|[,，、](?=\s?[我请要用叫直改喜爱想是私僕俺无無不别別没])"
)
"""Where a clause ends, and with it what a "not" is said of. In a list ("no eggs, milk or nuts") it goes on."""

ALWAYS = re.compile(
    r"\b(?:always|every\w*|each|whenever|all|any\w*|ever|from now on|by default|as a rule|only|must|immer"
    r"|stets|jed\w{1,2}|ab jetzt"
    r"|toujours|chaque|tou(?:s|te|tes|t)|désormais|siempre|cada|tod[oa]s?|a partir de ahora)\b|总是|總是|一直"
    r"|永远|每|一律|都|以后|今后"
    r"|いつも|常に|必ず|毎|これから|今後|ずっと"
)
"""What makes a standing rule of a thing to do: it is not to be added."""
_UNREAL = re.compile(
    r"\b(?:imagine|suppose|supposing|pretend|let's say|what if|hypothetically|for example|e\.g\.|stell dir vor"
    r"|angenommen"
    r"|zum beispiel|imaginons|supposons|par exemple|imagina|supongamos|por ejemplo)\b|假设|假如|想象|比如"
    r"|例えば|もしも|仮に"
)
_ASKS = re.compile(
    r"[?？][\s\"')\]]*$"
    r"|^\W*(?:perhaps |maybe )?(?:(?:should|shall|am|is|are|was|did|does|may|must) (?:i|we|you|they|he|she|it)"
    r"|(?:do|have) (?:i|we|you|they))\b"
)
_REQUESTS = re.compile(
    r"\b(?:can|could|would|will) (?:you|we)\b|\bkannst du\b|\bkönntest du\b|\bpeux-tu\b|\bpourrais-tu\b"
    r"|\bpuedes\b|\bpodrías\b"
    r"|\bremember\b|可以|能不能|くれ|もらえ|ください"
)
_OWN_SAYING = re.compile(
    r"\b(?:i|i've|i'd|we|we've|ich|je|j'ai|yo)(?: (?:have|had|already|just|also|once|hab\w*|he|ya)){0,2}"
    r" (?:said|say|told|tell|wrote|asked|think|mentioned|gesagt|sagte|dit|dije|dicho)\b"
)
_REPORTED = re.compile(
    r"\b(?:says|said|told|tells|claims|claimed|wrote|writes|insists|insisted|according to|reads|states|stated"
    r"|(?<!be )asked (?:me|us)|sagt|sagte|meinte|behauptet|schrieb|laut|a dit|disait|prétend|a écrit|selon|dice|dijo"
    r"|afirma|escribió|según)\b|(?<!我)(?:说过?[:：，,“\"]|说我|表示)|と言って|と言った|によると"
)
_CONDITION = re.compile(
    r"\b(?:if|unless|provided that|in case|falls|wenn|si|s'il|à moins que|a menos que)\b|如果|要是|除非|もし"
)
_MERE_COURTESY = re.compile(
    r"\bif (?:possible|necessary|needed|not|you (?:can|could|must|don't mind|like|want|need|wonder|ask)|you're "
    r"(?:wondering|asking|curious)|(?:that|it) (?:helps|matters|is|works|'s))\b|\b(?:as|even|see|know|wonder|ask"
    r"|check|sure) if\b|\bwenn (?:möglich|nötig|du (?:willst|magst|kannst))\b|\bsi (?:possible|posible|tu veux"
    r"|quieres|vous plaît|te plaît)\b|s'il (?:te|vous) pla[iî]t"
)
_AS_IF = re.compile(
    r"\b(?:would|wouldn't|(?:i|we|he|she|they|it)'d|might|could have|should have|wish(?:es)?|if only|hopefully|würde|wäre"
    r"|hätte|ojalá|quisiera|si j'étais)\b|要是能|だったらいい"
)
_MERE_MOOD = re.compile(
    r"\b(?:would|(?:i|we|it)'d|würde|hätte)(?: really| also| much)? (?:like|love|prefer|rather|appreciate|say|be (?:happy|"
    r"glad|great|nice|good|grateful|helpful)|help|better|been|got|had|gern\w*|lieber)\b|\b(?:would|could) you\b"
)
_PAST = re.compile(
    r"(?<!'m )(?<!am )(?<!are )(?<!get )(?<!getting )\bused to\b|\b(?:früher|autrefois|formerly|previously)\b"
    r"|\bantes (?:yo )?(?:viv|trabaj|era)|\bback when\b|\bonce (?:lived|worked|liked)\b|曾经|以前は|昔は|以前(?:住|在)"
)
_WISH = re.compile(
    r"\b(?:want|wants|wanna|hope|hoping|dream(?:ing)?|wish|plan|planning|thinking|considering|going|about|trying) (?:to|of|about)"
    r"\b|\b(?:möchte|träume|j'aimerais|je voudrais|je veux|quiero|me gustaría|espero)\b|想要|希望|たい(?:です|と|な)"
)
QUOTED = re.compile(r"\"[^\"\n]{1,600}\"|(?<![\w])'[^'\n]{12,600}'(?![\w])")
_CORRECTS = re.compile(
    r"^\W*(?:no|nope|nein|non|sorry|oops|actually|wait|correction|rather)\b|\b(?:i meant?|i mean|make (?:that"
    r"|it)|actually|not|instead"
    r"|correction|rather|doch|vielmehr|sondern|stattdessen|ich meinte?|plutôt|je voulais dire|en fait"
    r"|quise decir|en realidad|mejor)\b"
    r"|不对|不是|应该是|改成|说错|いや|じゃなく|ではなく|間違"
)


class Clauses:
    """A sentence by its clauses: which of them deny something. A word that divides belongs to what follows it."""

    def __init__(self, sentence: str, apart: Sequence[int] = ()) -> None:
        """`apart`: where clauses begin besides."""
        sentence = _IDIOM.sub(lambda found: "·" * len(found[0]), sentence)
        self._starts = sorted({0, *(found.start() for found in _APART.finditer(sentence)), *apart})
        stops = [*self._starts[1:], len(sentence)]
        parts = [sentence[start:stop] for start, stop in zip(self._starts, stops, strict=True)]
        self._parts = parts
        self._denies = [_NEGATIVE.search(part) is not None for part in parts]
        self._dislikes = [_AVERSE.search(part) is not None for part in parts]

    def denied(self, places: Sequence[int]) -> list[bool]:
        """Of each place, whether what stands there is denied."""
        return [self._denies[self._of(at)] for at in places]

    def deny(self, places: Sequence[int]) -> bool:
        return any(self._denies[self._of(at)] for at in places)

    def dislike(self, places: Sequence[int]) -> bool:
        return any(self._dislikes[self._of(at)] for at in places)

    def around(self, places: Sequence[int]) -> str:
        """The clauses in which they stand."""
        return " ".join(self._parts[of] for of in sorted({self._of(at) for at in places}))

    def before(self, at: int) -> str:
        """What stands before a place in its clause."""
        return self._parts[self._of(at)][: at - self._starts[self._of(at)]]

    def _of(self, at: int) -> int:
        return bisect_right(self._starts, at) - 1


def denies(claim: str) -> bool:
    """Whether a claim, which is one clause, denies something."""
    return _NEGATIVE.search(_IDIOM.sub(" ", claim)) is not None


def dislikes(sentence: str) -> bool:
    return _AVERSE.search(sentence) is not None


def is_over(sentence: str) -> bool:
    """Whether it says that something holds no more."""
    return _OVER.search(sentence) is not None


def is_told(sentence: str) -> bool:
    """Whether it is told at all: not asked, supposed, or quoted line by line."""
    if sentence.lstrip().startswith((">", "|")) or _UNREAL.search(sentence):
        return False
    return not _ASKS.search(sentence) or _REQUESTS.search(sentence) is not None


def is_supposed(sentence: str, at: Sequence[int]) -> bool:
    """Whether what stands there holds only if something else does, of which nothing stands there, or not at all."""
    bare = _MERE_COURTESY.sub(lambda found: "·" * len(found[0]), sentence)
    for found in _CONDITION.finditer(bare):
        stop = _CONDITION_ENDS.search(bare, found.end())
        end = stop.start() if stop else len(bare)
        if all(place >= found.start() for place in at) and not any(found.end() <= place < end for place in at):
            return True
        if all(found.end() <= place < end for place in at):
            return True
    return False


_CONDITION_ENDS = re.compile(r"[,，、;:]|\b(?:then|dann|alors|entonces|always|never|immer|toujours|siempre)\b")


def is_unreal(clause: str) -> bool:
    """Whether a clause tells what could be, or could have been."""
    return _AS_IF.search(_MERE_MOOD.sub(" ", clause)) is not None


def is_past(clause: str) -> bool:
    return _PAST.search(clause) is not None


def is_wished(clause: str) -> bool:
    return _WISH.search(clause) is not None


def is_reported(sentence: str, at: Sequence[int]) -> bool:
    """Whether what stands there follows somebody else's saying it."""
    bare = _OWN_SAYING.sub(lambda found: "·" * len(found[0]), sentence)
    found = _REPORTED.search(bare)
    return found is not None and found.start() < min(at) and not re.search(r";|\bbut\b", bare[found.end() : min(at)])


def corrects(sentence: str) -> bool:
    """Whether it puts something right that was said before."""
    return _CORRECTS.search(sentence) is not None
