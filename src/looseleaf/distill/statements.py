"""What a user's message states: sentences → proposals, each with the words of the message that say it.

Code, quoted lines and pasted material say nothing of the user. The language of a sentence is picked by its script or by
its stop words; what each language knows stands in a module of its own. The quote of every proposal is a stretch of the
message, letter for letter, and everything takes time linear in the message.
"""

from __future__ import annotations

import re
from itertools import islice

from looseleaf.core.dates import found as dates_in
from looseleaf.core.lazy import lazy
from looseleaf.core.relations import BY_LABEL
from looseleaf.core.sentences import is_question, pieces
from looseleaf.distill.pasted import own_words
from looseleaf.distill.remembered import noted
from looseleaf.distill.shape import changed
from looseleaf.distill.sound import is_sound
from looseleaf.talk import Proposal

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    Propose = Callable[[str, float], list[Proposal]]

SENTENCES = 400
"""The most sentences of one message that are read: who writes more is no longer introducing himself."""

BEFORE = 50
"""So many earlier proposals a correction may be about."""


def statements(text: str, ts: float, source: str = "", before: Sequence[Proposal] = ()) -> list[Proposal]:
    """The facts that a user's message, said at `ts`, states. `before`: what was stated earlier, the newest last."""
    found: list[tuple[int, Proposal]] = []
    place = _Place(text)
    number = words = 0
    earlier = list(before[-BEFORE:])
    for stretch in own_words(text):
        previous = ""
        for piece in islice(pieces(stretch), SENTENCES):
            if piece.kind != "sentence":
                previous = ""
                continue
            number += 1
            # A few words more ("James Bond.") belong to what was said before them.
            reach, words = 1 + (words < 2), piece.text.count(" ")
            if _FRAMES.match(piece.text):
                return [proposal for _, proposal in found]
            if _TAKES_BACK.match(piece.text):
                last = found[-1][0] if found else -1
                found = [each for each in found if each[0] != last or last < number - reach]
                continue
            proposed = _proposed(piece.text, ts)
            if not proposed:
                proposed, found = _corrected(piece.text, ts, found, earlier)
            proposed = [*proposed, *noted(piece.text, proposed, previous, lambda said: _proposed(said, ts))]
            for each in proposed:
                is_before = each.quote in previous and each.quote not in piece.text
                quote = place.of(previous if is_before else piece.text, each.quote)
                if quote and is_sound(each) and not _LONE.search(quote + each.object):
                    found.append((number, changed(each, quote=quote, source=source)))
            previous = "" if proposed or is_question(piece.text) else piece.text
    return [proposal for _, proposal in found]


# --- languages -------------------------------------------------------------------------

_KANA = lazy(r"[\u3041-\u30ff]")
_HAN = lazy(r"[\u3400-\u9fff]")
_WORD = lazy(r"[^\W\d_]+")
_STOP = {
    language: frozenset(words.split())
    for language, words in {
        "german": "ich bin und der das nicht ist mein meine meinen meiner mir mich ein eine einen auf für "
        "mit wir uns bitte "
        "immer nie niemals heiße wohne arbeite habe seit jetzt aber bei zu vom zum sich nur auch von du "
        "dir dich unser "
        "unsere ab wenn nein doch mag kein keine lass dem nenn verwende antworte schreib kannst wie ob als "
        "nach oder haben sind hier",
        "french": "je suis et le les mon ma mes est pas toujours jamais nous une des dans pour avec ne que "
        "qui au aux du sur "
        "moi habite travaille appelle chez il plaît plait réponds cette notre depuis en à de la un plus "
        "préfère aime mais "
        "stp vous tu ton utilise utilisons veux ai tout comme avons choisi choisissons nos sont héberge "
        "hébergeons décidé",
        "spanish": "yo soy y el los mi mis vivo por favor siempre nunca un una en para con tengo llamo "
        "trabajo que de la las "
        "del al se lo pero muy ya usa usamos nuestro nuestra estoy prefiero gusta encanta su como más odio "
        "hola eso esta "
        "nos cuando responde uses tú hemos encantan gustan gustaría decidimos decidido usar acordamos "
        "elegimos mudé mudamos trabajé",
        "english": "i my is the and to of we it that you for with not have be are this please always "
        "never at but do or by from your our if can will use has had would should they she there what",
    }.items()
}
"""Words that two of them share ("a", "in", "on", "me", "so", "was") say of none that it is the one."""
_SIGNS = {
    "german": lazy("[ßäöü]"),
    "french": lazy(r"[çœèêàûî]|\b(?:j|m|n|c|qu|l|d|s|t)'[a-zàâéèêîôû]"),
    "spanish": lazy("[ñ¿¡áíóú]"),
}


def language(sentence: str) -> str:
    """The language of a sentence, of the six that are known; English, where nothing says another."""
    head = sentence[:400]
    if _KANA.search(head):
        return "japanese"
    letters = sum(map(str.isalpha, head))
    if 6 * len(_HAN.findall(head)) >= max(letters, 1):
        return "chinese"
    words = _WORD.findall(head.lower())
    counts = {
        name: sum(word in stop for word in words)
        + (name in _SIGNS and bool(_SIGNS[name].search(head.lower())))
        for name, stop in _STOP.items()
    }
    best = max(counts, key=lambda name: (counts[name], name == "english"))
    return best


def _speech(name: str) -> Propose:
    """The module of a language: its forms are compiled when the first sentence of it comes."""
    match name:
        case "chinese":
            from looseleaf.distill.languages.chinese import propose
        case "japanese":
            from looseleaf.distill.languages.japanese import propose
        case "german":
            from looseleaf.distill.languages.german import propose
        case "french":
            from looseleaf.distill.languages.french import propose
        case "spanish":
            from looseleaf.distill.languages.spanish import propose
        case _:
            from looseleaf.distill.english.propose import propose
    return propose


def _proposed(sentence: str, ts: float) -> list[Proposal]:
    return _speech(language(sentence))(sentence, ts)


_LONE = lazy("[\ud800-\udfff]")
"""Half a character: it cannot be written down."""

# --- quotes ----------------------------------------------------------------------------


class _Place:
    """Where the words of a sentence stand in the message. Sentences come on one line, the message may be broken."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._at = [place for place, character in enumerate(text) if not character.isspace()]
        self._letters = "".join(text.split())
        self._from = 0

    def of(self, sentence: str, quote: str) -> str:
        """The stretch of the message that is `quote`; sentences are asked for in their order."""
        begin = self._letters.find("".join(sentence.split()), self._from)
        if begin >= 0:
            self._from = begin
        words = "".join(quote.split())
        found = self._letters.find(words, self._from) if words else -1
        if found < 0:
            return ""
        return self._text[self._at[found] : self._at[found + len(words) - 1] + 1]


# --- taking back -----------------------------------------------------------------------

_FRAMES = lazy(
    r"\W*(?:(?:ok(?:ay)?|so|here's|a|quick|little|just a|now|"
    r"consider this)[\s,:]+){0,3}(?:thought experiment|hypothetical|"
    r"(?:let's|we) (?:play|role-?play|pretend|imagine|suppose|say)|imagine\b|pretend\b|suppose\b|"
    r"scenario|role-?play|fiction|(?:example|sample|test) (?:data|input|text|message|user|persona|profile)|"
    r"for your (?:interview|trip|exam|wedding|date|holiday|presentation|first day|new job|visit|health|"
    r"\w+ interview)|"
    r"advice (?:for|to) (?:you|my)|my advice|(?:some |a few )?tips for|gedankenexperiment|rollenspiel|"
    r"stell dir vor|angenommen|"
    r"imagine que|imaginons|supposons|jeu de rôle|imagina|imaginemos|supongamos|juego de rol|"
    r"假设|假如|想象一下|设想|思想实验|角色扮演|仮に|もしも|想像して|ロールプレイ)",
    re.IGNORECASE,
)
"""What is said after it, to the end of the message, is of another world, or for somebody else."""
_TAKES_BACK = lazy(
    r"\W*(?:(?:haha+|lol|lmao|hehe)[\s,]*(?:no|nope|nah|not)|(?:i'm |i am |i was |no,? |haha,? |"
    r"lol,? )?(?:just|only|totally)? ?(?:kidding|joking|messing "
    r"with you)|jk|just a joke|"
    r"not really|scratch that|ignore that|forget (?:that|it|what i said)|disregard that|strike that|that "
    r"was a joke|"
    r"(?:war )?nur (?:ein )?(?:spaß|scherz)|kleiner scherz|vergiss das|je (?:plaisante|rigole)|c'était une "
    r"blague|oublie ça|"
    r"es broma|era broma|estoy bromeando|olvida eso|开玩笑的?|逗你(?:的|玩的?)?|骗你的|当我没说|"
    r"冗談(?:です|だよ)?|嘘です|うそです)\W*"
    r"(?:lol|haha+|though|obviously|of course|了|啦|ね)?\W*\Z",
    re.IGNORECASE,
)
_CORRECTION = lazy(
    r"\W*(?:(?:(?:oh|ah|hm+|ugh|oops|no|nope|sorry|wait|actually|correction|my bad|my mistake|nein|non|"
    r"entschuldigung|pardon|"
    r"perdón|no no|well)\b[\s,.:!–—-]*)+(?:(?:it's|it is|it was|its|that's|that should be|it should be|"
    r"should be|i meant|i mean|make (?:that|it)|"
    r"rather|let's say|das ist|es ist|ich meinte|ich meine|c'est|je voulais dire|es|quise decir|quería "
    r"decir)\b[\s,:]*)?"
    r"|(?:i meant|i mean|make (?:that|it)|that should be|it should be|it's actually|ich meinte|je voulais "
    r"dire|quise decir)\b[\s,:]*)"
    r"(?:to say |on |for |in )?(?:not (?P<w>[\w .:-]{1,40}?),? (?:but |it's )?)?(?P<o>[^,;:.!?]{1,60}?)"
    r"(?:,? (?:not|nicht|pas|no) (?:in |on )?(?P<v>[\w .:-]{1,40}?))?[\s.!]*\Z"
    r"|(?:不对?|不是|错了|搞错了|说错了|抱歉)[，,。 ]*(?:应该)?是(?P<z>[^，,。！？是的吗]{1,20})[。！]?\Z"
    r"|(?:いいえ|いや|すみません|間違えました)[、,。 ]*(?:正しくは)?(?P<j>[^、。！？]{1,20}?)"
    r"(?:です|でした|だ)[。！]?\Z",
    re.IGNORECASE,
)
_NUMBER = lazy(r"[0-9][0-9.]*")
_ASIDE = lazy(
    r"(?:i|you|he|she|they|we|my|this|that|the|not|what|why|how|if|it|there|fine|ok|okay|good|right|wrong|"
    r"sure|thanks|thank|never|"
    r"don't|do|please|just|more|no|yes|a|an|so|still|really|very|too|all|nothing|because|about|let|can|"
    r"could|also|broken|better|"
    r"great|working|done|easy|hard|possible|impossible|true|false|later|here|another|other|correct|both|"
    r"neither|mind)\b",
    re.IGNORECASE,
)


def _corrected(
    sentence: str, ts: float, found: list[tuple[int, Proposal]], before: list[Proposal]
) -> tuple[list[Proposal], list[tuple[int, Proposal]]]:
    """A correction that names no relation, as the last fitting proposal with another object; without the wrong one,
    where the same message had said it."""
    match = _CORRECTION.match(sentence[:200])
    words = next(filter(None, (match["o"], match["z"], match["j"])), "").strip(" \"'“”") if match else ""
    if match is None or not words or _ASIDE.match(words) or len(words.split()) > 6:
        return [], found
    was = match["w"] or match["v"]
    for place in range(len(found) - 1, -1, -1):
        if fixed := _fitted(found[place][1], words, was, ts):
            return [changed(fixed, quote=sentence)], found[:place] + found[place + 1 :]
    for proposal in reversed(before):
        if fixed := _fitted(proposal, words, was, ts):
            return [changed(fixed, quote=sentence)], found
    return [], found


def _fitted(proposal: Proposal, words: str, was: str | None, ts: float) -> Proposal | None:
    """`proposal` with `words` where they can stand: for a date, a number, a name, the value of a favourite."""
    said = proposal.object
    if was and was.casefold() not in said.casefold() and proposal.was is None:
        return None
    dates = dates_in(words, ts) or dates_in(f"on {words}", ts)
    known = BY_LABEL.get(proposal.relation.casefold())
    if dates:
        old = dates_in(said, ts)
        if not old:
            return None
        other = said[: old[0].start] + dates[0].written + said[old[0].end :]
    elif _NUMBER.fullmatch(words):
        old_number = _NUMBER.fullmatch(said)
        if old_number is None:
            return None
        other = words
    elif known is None or known.many:
        key, colon, _ = said.partition(": ")
        if proposal.relation == "Favourite" and colon:
            other = f"{key}: {words}"
        elif _is_name(words) and _is_name(said.partition(" (")[0]):
            other = words + said[len(said.partition(" (")[0]) :]
        else:
            return None
    elif _NUMBER.fullmatch(said) or dates_in(said, ts) or _is_name(said) != _is_name(words):
        return None
    else:
        other = words
    return None if other == said else changed(proposal, object=other, was=said, correction=True, ended=False)


def _is_name(words: str) -> bool:
    return all(word[:1].isupper() or not word[:1].isascii() for word in words.split())
