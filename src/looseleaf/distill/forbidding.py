"""What the user says not to remember, or to forget: which sentences say it, and in which words.

The selector finds the sentences that forbid; a few sure forms help it where it hesitates. What such a sentence points
at ("this", "what I just said") is the message around it, or the one before; what it names ("that I play chess") is
known by the terms that are left when the words of forbidding are taken away.
"""

from __future__ import annotations

import re
from functools import lru_cache

from looseleaf.core.lazy import lazy
from looseleaf.core.own_tools import RECALLED
from looseleaf.core.replacing import WIDE
from looseleaf.core.terms import terms
from looseleaf.distill.requests import asked_to_keep
from looseleaf.distill.selector import cues_of, tokens_of
from looseleaf.distill.sorts import plain_terms
from looseleaf.distill.statements import sentences_of
from looseleaf.frozen import frozen

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from looseleaf.distill.statements import Sentence
    from looseleaf.talk import Trace

SURE = 0.15
RULED = 0.3
ORDERS = 0.3
CERTAIN = 0.84
CERTAIN_WIDE = 0.6
SURELY = 0.5
MAYBE = 0.005
ANOTHERS = 0.9
"""Least chances that a sentence forbids: in general; if it may also be a rule ("never suggest …"); for held lines
to go if it is an order by its form; for them to go by the selector's word alone, and the same in scripts without
spaces; if it mentions files or code; if its form is sure. The last: the chance of being another's words from which
nothing is obeyed."""

_I = re.IGNORECASE
_SURE_FORMS = lazy(
    r"\b(?:don'?t|do not|never|please don'?t|no need to|rather not|not to|shouldn'?t|"
    r"mustn'?t)\b[^.!?]{0,25}\b(?:remember|save|store|memori[sz]e|"
    r"record|retain|keep|note|log|write)\b[^.!?]{0,12}\b(?:this|that|it|any|anything|my|what|down|these|in "
    r"(?:your )?memory)\b"
    r"|\A\W*(?:please |ok,? |so )?forget (?:about )?(?:my|our|"
    r"that (?:i|my|we|(?-i:[A-Z])\w*)|project|(?-i:[A-Z])\w+)\b|"
    r"\boff the record\b|\bbetween (?:you and me|us|ourselves)\b|\bfor your eyes only\b|\bkeep (?:this|"
    r"that|it) (?:to yourself|private|secret|between)"
    r"|\b(?:forget|erase|delete|wipe|purge|remove|scrub|unlearn|unremember|un-?know|"
    r"drop)\b[^.!?]{0,30}\b(?:what (?:i|you)|that i|everything|anything|all you|about my|from (?:your "
    r")?memory|you know|thing\b|i (?:said|told|mentioned))"
    r"|\bno memory (?:for|of) this\b|\bnothing to keep\b|\bnot for (?:your|the) (?:notes|memory|files|records)\b"
    r"|\bnot for (?:storage|saving|keeping|the record)\b|\b(?:speicher|schreib|notier|behalt|"
    r"merk)\w*\b[^.!?]{0,25}\b(?:nicht|nirgends|nie|nix|nichts|für dich)\b|\bniet opslaan\b|\bnicht "
    r"speichern\b|\bdo not log (?:this|that)\b"
    r"|\bmerk(?:e|en)?(?: sie)? (?:dir |sich )?(?:das|dies|es|davon|bitte)?[^.!?]{0,10}nicht\b|\bunter "
    r"uns\b|\bvergiss\b[^.!?]{0,8}\b(?:dass|was|alles|bitte|das mit)\b"
    r"|\bne (?:retiens|retenez|mémorise|note|garde|enregistre|conserve)\w*\b[^.!?]{0,20}\b(?:pas|rien)\b|"
    r"\bentre nous\b|\boublie(?:z)? (?:que|ce que|tout|mon|ma|mes|cette|cet|ces|l'histoire)\b"
    r"|\bno (?:lo |la |me |te |le )?(?:guardes?|recuerdes?|anotes?|memorices?|apuntes?|registres?)\b|"
    r"\bentre (?:nosotros|tú y yo|tu y yo)\b|\bolvida(?:te)? (?:de )?(?:que|lo que|todo|mi)\b"
    r"|\bnão (?:guard|salv|lembr|memoriz|anot|regist)\w*\b|\b(?:fica )?entre (?:nós|a gente)\b|"
    r"\besquec[ea] (?:que|o que|tudo|meu|minha)\b"
    r"|\bnon (?:\w+ )?(?:ricordar|salvar|memorizzar|segnar|annotar|tenere|registrar|appuntar)\w*\b|"
    r"\b(?:resti )?tra (?:noi|me e te)\b|\bdimentica(?:ti)? (?:che|quello|tutto|di|il|la|mio|mia)\b"
    r"|\b(?:onthoud|bewaar|noteer|sla)\b[^.!?]{0,20}\b(?:niet|nergens)\b|\b(?:onder|tussen) ons\b|"
    r"\bvergeet (?:dat|wat|alles|maar dat|mijn)\b"
    r"|(?:别|別|不要|勿|不用|不必)[^。！？]{0,6}(?:记|記|存|保存|写进|留)|(?:忘掉|忘了|删掉|删除|刪掉)[^。！？]{0,12}(?:我|关于|關於|记忆|吧)|保密|私下说|我们之间"
    r"|(?:覚え|憶え|記憶し|保存し|記録し|メモし|残さ)(?:ない|なくて|ず)|(?:忘れて|消して|削除して)(?:ください|下さい|くれ|ほしい|ね|。|\Z)|内緒|ここだけの話|オフレコ"
    r"|(?:기억|저장|기록|메모)(?:하지|은? ?하지|해 ?두지)|적어 ?두지 마|남기지 마|"
    r"잊어 ?(?:줘|주세요|버려)|지워 ?(?:줘|주세요)|삭제해|우리끼리|비밀(?:이야|로|"
    r"인데)|오프더레코드",
    _I,
)
_KEEPS = lazy(
    r"\b(?:don'?t|do not|never|not|let's not|can'?t|won'?t)\b[^.!?]{0,20}\b(?:forget|delete|erase|wipe|"
    r"remove)\b|\bvergiss\b[^.!?]{0,25}\bnicht\b|"
    r"\bnicht vergessen\b|\bvergeet\b[^.!?]{0,20}\bniet\b|\bniet vergeten\b|"
    r"\bn'?oublie\w*\b[^.!?]{0,12}\b(?:pas|jamais)\b|\bno (?:te |se |lo |te lo )?olvides?\b|"
    r"\bnão (?:se )?esque\w+|\bnon (?:ti )?dimentic\w+|(?:别|別|不要|不能|勿)忘|忘れない|忘れず|잊지|잊으면 안",
    _I,
)
"""What is not to be forgotten is to be kept."""
_OF_WORK = lazy(
    r"[`{};]|\(\)|\w+\.(?:py|js|ts|go|rs|java|md|txt|json|ya?ml|html|css|sh|sql)\b|\b(?:functions?|files?|"
    r"(?:this|that|last|first) line|lines? (?:[0-9]|of)|tables?|columns?|branch|commits?|repo|cache|"
    r"(?:the|these|your) logs?|logging|class|methods?|scripts?|databases?|db|schema|servers?|production|prod|"
    r"code|draft|paragraph|sentence|LLM|prompt|cookies?|browsers?|(?:lock|log|temp|text|config|zip)files?|"
    r"folders?|director(?:y|"
    r"ies)|packages?|deps?|dependenc\w+|"
    r"tests?|imports?|variables?|comments?|rows?|slides?|chapters?|bullets?|builds?|containers?|images?|"
    r"datei|zeile|funktion|tabelle|fichier|ligne|fonction|archivo|línea|función|datos|arquivo|linha|função|"
    r"dados|riga|funzione|bestand|regel|functie|postgres|redis|"
    r"mysql|sqlite|docker|git)\b|文件|函数|这行|表|代码|数据库|ファイル|行を|関数|コード|파일|줄|함수|코드",
    _I,
)
_OF_MEMORY = lazy(
    r"\b(?:memory|remember|you know|about me|that i|what i (?:said|told)|(?:the|your|my|whatever) "
    r"(?:record|profile|notes)|on "
    r"file|you(?:'ve| have)? (?:got|have|stored|saved) on|gedächtnis|merk|mémoire|retiens|"
    r"memoria|recuerd\w*|memória|lembr\w*|ricord\w*|geheugen|onthoud)\b"
    r"|记忆|记住|我(?:说|住|是)|記憶|覚え|기억",
    _I,
)
_POLITE = lazy(
    r"\W*(?:can|could|would|will|please|kannst|könntest|peux|pourrais|puedes|podrías|pode|puoi|kun|zou)\b", _I
)
_POINTS = lazy(
    r"\b(?:this|that(?! (?:i|i'm|i've|im|we|my|our)\b)|it|these|"
    r"those|here|just|above|following|follows|off the record|between|anything|any "
    r"of|none of|message|conversation|chat|said|told|das|dies|dieses|"
    r"davon|hier|gerade|eben|folgende|unter uns|ça|cela|ceci|ce que|entre nous|rien|esto|eso|lo que|entre "
    r"nosotros|nada|isso|isto|o que|entre nós|questo|quello|"
    r"ciò|tra noi|dit|dat(?! (?:ik|we|wij|mijn|ons|onze)\b)|wat|hier|onder ons|tussen ons)\b|这|那|刚才|"
    r"以下|接下来|これ|それ|今の|さっき|この|ここだけ|이거|이건|그건|방금|아까|지금|이 얘기",
    _I,
)
_THAT_I = lazy(
    r"\b(?:that (?:i|i'm|i've|im|we|my)|dass (?:ich|wir|mein)|que (?:je|j'|on|mon|ma|yo|mi|eu|meu|minha)|"
    r"che (?:io|mio|mia|ho|sono)|dat (?:ik|we|wij|mijn))\b",
    _I,
)
_BEFORE = lazy(
    r"\b(?:just (?:said|told|mentioned|wrote|now)|(?:said|told you|mentioned|wrote) (?:before|earlier|"
    r"above|just now)|previous|last (?:message|bit|part|thing)|what i said|that last|"
    r"gerade|eben|vorhin|letzte|viens de|juste dit|précédent|avant|acabo de|anterior|dije|antes|acabei|"
    r"disse|appena|prima|detto|zojuist|net|daarnet|vorige)\b"
    r"|刚才|刚刚|剛才|上一|前面|さっき|今言った|先ほど|방금|아까|앞",
    _I,
)
_AHEAD = lazy(
    r"\b(?:this|following|off the record|between us|you and me|dies|dieses|folgendes|unter uns|ceci|entre nous|esto|"
    r"entre nosotros|isto|entre nós|questo|tra noi|dit|onder ons)\s*:\s*\w|(?:以下|这个?|これ|이거|이건)\s*[:：]\s*\w",
    _I,
)
"""What is meant follows: "don't remember this: …"."""
_LITTLE = 3
"""A prohibition with fewer other terms than this in its message is about the message before it."""


@frozen
class Forbidden:
    """What a message forbids. `cut`: the stretches of it that are not to be remembered; `named`: the terms of what is
    to be forgotten, a set for each sentence; `words` those sentences; `before`: the message before it is meant as well;
    `is_sure`: there is no doubt that it forbids; `over`: those of `named` whose held lines go; `is_all`: so does all
    that is held of the user; `is_certain`: where nothing held is found by it, what was said last is meant."""

    cut: tuple[tuple[int, int], ...]
    named: tuple[frozenset[str], ...]
    words: tuple[str, ...]
    before: bool
    over: tuple[frozenset[str], ...] = ()
    is_all: bool = False
    is_certain: bool = False
    is_sure: bool = True


@lru_cache(4096)
def telling(text: str) -> frozenset[str]:
    """The terms of a text by which it can be known what it is about."""
    plain, _ = plain_terms()
    return frozenset(
        term for term in terms(text) if term not in plain and (len(term) > 1 or not term.isascii())
    )


@lru_cache(256)
def forbidden(text: str) -> Forbidden | None:
    """What a message of the user's says not to remember; None for most."""
    every = sentences_of(text)
    found = [
        each
        for each in every
        if each.scores.quoted < ANOTHERS
        and _KEEPS.search(each.text) is None
        and (each.scores.forbid >= SURELY or (_has_word(each.text) and not _is_of_work(each.text)))
        and (
            (
                each.scores.forbid >= (RULED if each.scores.keep >= 0.2 else SURE)
                and asked_to_keep(each.text) is None
            )
            or (each.scores.forbid >= MAYBE and _SURE_FORMS.search(each.text))
        )
    ]
    if not found:
        return None
    _, forbidding = plain_terms()
    named = [telling(each.text) - forbidding for each in found]
    points = any(map(_points, found)) or not any(named)
    others = [each for each in every if each not in found]
    rest = [term for each in others for term in telling(each.text)]
    told = any(_AHEAD.search(each.text) and not _BEFORE.search(each.text) for each in found)
    is_said_before = any(_BEFORE.search(each.text) for each in found)
    before = (
        points
        and not told
        and (is_said_before or (len(rest) < _LITTLE and not any(named)))
        and any(_takes(each) or "hold" in _cues_of(each) for each in found)
    )
    cut: tuple[tuple[int, int], ...] = ((0, len(text)),)
    if not points:
        about = [each for each in others if any(telling(each.text) & one for one in named)]
        cut = tuple(sorted((each.start, each.end) for each in (*found, *about)))
    asks = next((each for each in every if each.text.endswith(_ASKING)), None)
    sure = any(_is_order(each, asks) for each in found)
    over = tuple(one for one, each in zip(named, found, strict=True) if one and _takes(each)) if sure else ()
    words = tuple(each.text for each in found)
    is_all = sure and any(_ALL.search(each.text) for each in found)
    return Forbidden(
        cut,
        tuple(one for one in named if one),
        words,
        before and sure,
        over,
        is_all,
        not told and any(map(_is_certain, found)),
        is_sure=sure,
    )


def _has_word(text: str) -> bool:
    """Whether a sentence has a word without which hardly anybody forbids. What somebody "keeps" doing is no order."""
    tokens = [token for token in tokens_of(text) if token != "keeps"]
    return any(name in _WORDS for _, name in cues_of(tokens)) or _SURE_FORMS.search(text) is not None


_WORDS = frozenset({"forget", "hold", "place", "secret", "told"})


def _points(sentence: Sentence) -> bool:
    """Whether it is about the message that it stands in: it says so, or it says no more than that something is not to
    be kept. An order to forget is about what it names."""
    if _POINTS.search(sentence.text):
        return True
    cues = {name for _, name in cues_of(tokens_of(sentence.text))}
    return (
        "forget" not in cues
        and bool(cues & {"hold", "secret", "place"})
        and not _THAT_I.search(sentence.text)
    )


def forbidden_by(trace: Trace) -> Forbidden | None:
    """What a trace says not to remember. Only the user can: what was recalled may hold anybody's words."""
    is_said = trace.trace_type == "user" and trace.origin == "user" and RECALLED not in trace.tags
    return forbidden(trace.content) if is_said else None


_ASKING = ("?", "？", ":", "：")


_ABOUT = lazy(r"\b(?:anything|everything|nothing) (?:about|on)\b|\babout my\b", _I)


def _takes(sentence: Sentence) -> bool:
    """Whether it is about what is held as well: what is only said in confidence takes nothing away."""
    cues = _cues_of(sentence)
    if "forget" in cues or not cues & {"hold", "secret", "share"}:
        return True
    is_about = _THAT_I.search(sentence.text) is not None or _ABOUT.search(sentence.text) is not None
    is_short = _is_certain(sentence) and len(telling(sentence.text) - plain_terms()[1]) <= _LITTLE
    return "hold" in cues and (is_about or is_short)


def _cues_of(sentence: Sentence) -> set[str]:
    return {name for _, name in cues_of(tokens_of(sentence.text))}


_ORDER = lazy(
    r"\W*(?:(?:please|pls|plz|ok(?:ay)?|so|and|also|but|actually|oh|hey|hi|hmm+|sorry|no|wait|yeah|well|"
    r"now|just|then|btw|"
    r"on second thought|never mind|(?:can|could|would|will) (?:you|we)|you can|you should|you may|i(?:'d| "
    r"would) like you to|"
    r"i want you to|i need you to|let'?s|go ahead and|kindly|bitte|also|ach|doch|kannst du|könntest du|du "
    r"kannst|stp|s'il te "
    r"plaît|alors|tu peux|peux-tu|por favor|oye|mejor|puedes|podrías|ah|então|pode|por gentileza|senti|per "
    r"favore|puoi|ehi|"
    r"graag|alsjeblieft|kun je|wil je)\b[\s,.:;!-]*){0,4}"
    r"(?:completely |immediately |bitte |maar |subito |tout )?"
    r"(?:forget|erase|expunge|un-?know|un-?remember|delete|wipe|scrub|remove|drop|lose|strike|bin|clear|"
    r"purge|undo|unsay|unlearn|scratch|"
    r"take (?:out|back)|"
    r"get rid of|act like|pretend|don'?t|do not|stop|no longer|vergiss|vergesst|vergessen sie|lösch\w*|"
    r"streich\w*|entfern\w*|"
    r"nimm|merk\w*|oublie\w*|efface\w*|supprim\w*|enlève|retire|vire|ne|olvid\w*|borr\w*|elimin\w*|quita|"
    r"no|esquec\w*|apag\w*|"
    r"remov\w*|tir[ae]|não|dimentic\w*|cancell\w*|togli|rimuov\w*|non|vergeet|wis|verwijder\w*|schrap|haal|laat)\b"
    r"|(?:忘|删|刪|清除|抹|别|別|不要|消し|消して|削除|忘れ|잊|지워|삭제|빼|없애)",
    _I,
)
"""An order, given to whoever reads it: not what somebody else is told, and not what the user does."""
_OF_KNOWLEDGE = lazy(
    r"\b(?:that (?:i|i'm|i've|im|my|we|our|he|she|they|(?-i:[A-Z])\w*)|what (?:i|we|you)|(?:everything|"
    r"anything|all|whatever|stuff|things?) "
    r"(?:that )?(?:you|i|we|about|on|regarding)|you (?:know|have on|stored|saved|remember)|i (?:said|told|"
    r"mentioned|shared|sent|gave|"
    r"wrote)|my|our|memory|memories|notes|record|profile|"
    r"(?:the|that) (?:[\w']+ ){0,3}(?:bit|part|thing|story|stuff|detail|"
    r"info|number|code|key|password|"
    r"address|name|line) ?|this|dass|was ich|alles|mein\w*|notizen|gedächtnis|das mit|que|ce que|tout|mon|"
    r"ma|mes|mémoire|notes|"
    r"l'histoire|cette histoire|lo que|lo de|todo|mi|mis|memoria|o que|tudo|isso|essa|meu|minha|memória|quello|quella|"
    r"quel|tutto|che|mio|mia|"
    r"ricordi|dat|wat|alles|mijn|geheugen|die)\b|我|那|这|件|こと|話|の件|내|거|얘기|이름",
    _I,
)
"""What a memory can be told to forget: what was said to it, what it knows, what is the user's."""


_ELSE = lazy(
    r"\b(?:everything|anything|all|stuff) (?:with|containing|that (?:has|contains))\b|\bfrom (?:the|my|our|"
    r"this) (?!memory|notes|"
    r"record|profile|file)\w+|, (?:let'?s|i(?:'ll| will| already| have| just)|we(?:'ll| will| already)) \w+",
    _I,
)
"""What is to go from a list, a plan or a table; and what is let go for another thing."""


_ALL = lazy(
    r"\b(?:everything|all|whatever) (?:that )?you(?:'ve| have)? (?:know|stored|saved|remember|learnt|"
    r"learned|got|have) "
    r"(?:about|on|of) me\b|\byour memory of me\b|\balles, was du (?:über|von) mich weißt|\btout ce que tu "
    r"sais (?:de|sur) moi|"
    r"\btodo lo que sabes (?:de|sobre) mí|\btudo o que (?:você )?sabes? (?:de|sobre) mim|\btutto quello "
    r"che sai (?:di|su) me|"
    r"\balles wat je (?:over|van) mij weet|关于我的(?:一切|所有|全部)|私(?:について|のこと)(?:を)?(?:全部|すべて)|"
    r"나에 대(?:해|한) .{0,8}(?:모두|전부|다)",
    _I,
)

_CLAUSE = lazy(r"[,;.!?—–] *|\s-\s")


def _is_told_to_forget(text: str) -> bool:
    """Whether a sentence, or a clause of it, is an order about what a memory knows. A name before a comma is who is
    spoken to: somebody else."""
    if _ELSE.search(text) is not None or _OF_KNOWLEDGE.search(text) is None:
        return False
    starts = [
        0,
        *(joint.end() for joint in _CLAUSE.finditer(text) if not _NAME.fullmatch(text[: joint.start()])),
    ]
    return any(_ORDER.match(text, start) for start in starts)


_NAME = lazy(r"\W*[A-ZÄÖÜ][\w'-]+")


def _is_of_work(text: str) -> bool:
    """Whether a sentence is about code, not about memory ("delete that function")."""
    return _OF_WORK.search(text) is not None and _OF_MEMORY.search(text) is None


def _is_certain(sentence: Sentence) -> bool:
    """Whether the selector alone is enough: it knows an order to a memory from other talk of forgetting."""
    if WIDE.search(sentence.text):
        return sentence.scores.forbid >= CERTAIN_WIDE
    return sentence.scores.forbid >= CERTAIN and _TO_ANOTHER.match(sentence.text) is None


_TO_ANOTHER = lazy(
    r"\W*(?!(?:Hey|Hi|Ok|Okay|Please|Actually|Sorry|Oh|And|But|So|No|Wait|Well|Bitte|Ach|Mais|Pero|Mas|Ma|Maar)\b)"
    r"[A-ZÄÖÜ][\w'-]+, "
)
"""A name before a comma: who is spoken to."""


def _is_order(sentence: Sentence, asks: Sentence | None) -> bool:
    """Whether the user certainly tells the memory to forget: only then does what is held go. `asks`: the
    first sentence of the message that asks for something."""
    text = sentence.text
    if _is_of_work(text):
        return False
    if sentence.around.lines > 1 and asks is not None and asks.start < sentence.start:
        return False  # what is asked about may be another's word
    is_likely = sentence.scores.forbid >= ORDERS or _SURE_FORMS.search(text) is not None
    if not sentence.is_surely_own or not (_is_certain(sentence) or (is_likely and _is_told_to_forget(text))):
        return False
    return not text.rstrip().endswith(("?", "？")) or _POLITE.match(text) is not None


def allowed(text: str, found: Forbidden | None) -> str:
    """A message without what it says not to remember."""
    if found is None:
        return text
    kept: list[str] = []
    at = 0
    for start, end in found.cut:
        kept.append(text[at:start])
        at = max(at, end)
    kept.append(text[at:])
    return "".join(kept).strip()


def permitted(traces: Iterable[Trace]) -> Iterator[Trace]:
    """Traces without what the user says not to remember: of such a message what is left, if anything; not the one
    before it, if that is meant; and not what the assistant says of what is to be forgotten."""
    waiting: list[Trace] = []
    named: list[frozenset[str]] = []
    for trace in traces:
        if trace.trace_type == "user":
            found = forbidden_by(trace)
            if found is not None and found.before:
                waiting = [each for each in waiting if each.trace_type not in ("user", "assistant")]
            yield from waiting
            waiting = []
            named = list(found.named) if found is not None else []
            if found is not None:
                rest = allowed(trace.content, found)
                if not _has_words(rest):
                    continue
                trace = trace.but(content=rest)
        elif trace.trace_type == "assistant" and any(bears_on(trace.content, each) for each in named):
            continue
        waiting.append(trace)
    yield from waiting


def _has_words(text: str) -> bool:
    return any(map(str.isalnum, text))


_MANY = 4


def _is_one_word(term: str, other: str) -> bool:
    """Whether two terms are one word, of which only one was taken for a word of its language."""
    return min(len(term), len(other)) >= _MANY and (term.startswith(other) or other.startswith(term))


def bears_on(text: str, named: frozenset[str]) -> bool:
    """Whether a text speaks of what these terms name: one of a few, or a sixth of many."""
    said = telling(text)
    shared = (said & named) or {term for term in named if any(_is_one_word(term, each) for each in said)}
    return bool(shared) and (len(named) < _MANY or 6 * len(shared) >= len(named))
