"""What the user forbids to remember, and what the user says to forget: which sentences, and by which words.

The selector finds the sentences that forbid; a few sure forms help it where it hesitates. What such a sentence points
at ("this", "what I just said") is the message around it, or the one before; what it names ("that I play chess") is
known by the terms that are left when the words of forbidding are taken away.
"""

from __future__ import annotations

import re
from functools import cache, lru_cache

from looseleaf.core.lazy import lazy
from looseleaf.core.own_tools import RECALLED
from looseleaf.core.terms import terms
from looseleaf.distill.requests import asked_to_keep
from looseleaf.distill.selector import cues_of, tokens_of
from looseleaf.distill.sorts import DATA
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
SURELY = 0.5
MAYBE = 0.005
ANOTHERS = 0.9
"""The chance from which on a sentence forbids; from which on one does that may as well be a rule ("never suggest …");
from which on what is held goes; from which on one does though it speaks of files or code; from which on one forbids
whose form is sure; and the chance of being another's word from which on nothing is obeyed."""

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
    r"|\bniet opslaan\b|\bnicht speichern\b|\bdo not log (?:this|that)\b"
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
    r"code|draft|paragraph|sentence|story|LLM|prompt|cookies?|browsers?|\w*files?|folders?|director(?:y|ies)|packages?|deps?|dependenc\w+|"
    r"tests?|imports?|variables?|comments?|rows?|slides?|chapters?|bullets?|builds?|containers?|images?|"
    r"datei|zeile|funktion|tabelle|fichier|ligne|fonction|archivo|línea|función|datos|arquivo|linha|função|"
    r"dados|riga|funzione|bestand|regel|functie|postgres|redis|"
    r"mysql|sqlite|docker|git)\b|文件|函数|这行|表|代码|数据库|ファイル|行を|関数|コード|파일|줄|함수|코드",
    _I,
)
_OF_MEMORY = lazy(
    r"\b(?:memory|remember|you know|about me|that i|what i (?:said|told)|gedächtnis|merk|mémoire|retiens|"
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
"""Terms of a message beside the prohibition, up to which it is about the one before it."""


@frozen
class Forbidden:
    """What a message forbids. `cut`: the stretches of it that are not to be remembered; `named`: the terms of what is
    to be forgotten, a set for each sentence; `words` those sentences; `before`: the message before it is meant as well;
    `is_sure`: there is no doubt that it forbids; `is_told`: it says itself what is meant, and nothing before it is;
    `over`: of `named`, what is held of it goes."""

    cut: tuple[tuple[int, int], ...]
    named: tuple[frozenset[str], ...]
    words: tuple[str, ...]
    before: bool
    over: tuple[frozenset[str], ...] = ()
    is_sure: bool = True
    is_told: bool = False


@cache
def plain_terms() -> tuple[frozenset[str], frozenset[str]]:
    """Terms that tell nothing apart, and those of forbidding."""
    plain, forbidding = (DATA / "plain_terms.txt").read_text(encoding="utf-8").splitlines()[:2]
    return frozenset(plain.split()), frozenset(forbidding.split())


@lru_cache(4096)
def telling(text: str) -> frozenset[str]:
    """The terms of a text by which it can be known what it is about."""
    plain, _ = plain_terms()
    return frozenset(
        term for term in terms(text) if term not in plain and (len(term) > 1 or not term.isascii())
    )


@lru_cache(256)
def forbidden(text: str) -> Forbidden | None:
    """What a message of the user's forbids to remember; None for most."""
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
        and (is_said_before or (len(rest) < _LITTLE and sum(map(len, named)) < _LITTLE))
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
    return Forbidden(
        cut,
        tuple(one for one in named if one),
        words,
        before and sure,
        over,
        is_sure=sure,
        is_told=told,
    )


def _has_word(text: str) -> bool:
    """Whether a sentence has a word without which hardly anybody forbids."""
    return any(name in _WORDS for _, name in cues_of(tokens_of(text))) or _SURE_FORMS.search(text) is not None


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
    """What a trace forbids to remember. Only the user can: what was recalled may hold anybody's words."""
    is_said = trace.trace_type == "user" and trace.origin == "user" and RECALLED not in trace.tags
    return forbidden(trace.content) if is_said else None


_ASKING = ("?", "？", ":", "：")


def _takes(sentence: Sentence) -> bool:
    """Whether it is about what is held as well: what is only said in confidence takes nothing away."""
    cues = _cues_of(sentence)
    return "forget" in cues or not cues & {"hold", "secret", "share"}


def _cues_of(sentence: Sentence) -> set[str]:
    return {name for _, name in cues_of(tokens_of(sentence.text))}


def _is_of_work(text: str) -> bool:
    """ "Delete that function" is said to no memory."""
    return _OF_WORK.search(text) is not None and _OF_MEMORY.search(text) is None


def _is_order(sentence: Sentence, asks: Sentence | None) -> bool:
    """Whether there is no doubt that the user tells the memory to forget: only then what is held goes. `asks`: the
    first sentence of the message that asks for something."""
    text = sentence.text
    if _is_of_work(text):
        return False
    if sentence.around.lines > 1 and asks is not None and asks.start < sentence.start:
        return False  # what is asked about may be another's word
    if not sentence.is_surely_own or (sentence.scores.forbid < ORDERS and not _SURE_FORMS.search(text)):
        return False
    return not text.rstrip().endswith(("?", "？")) or _POLITE.match(text) is not None


def allowed(text: str, found: Forbidden | None) -> str:
    """A message without what it forbids to remember."""
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
    """Traces without what the user forbids to remember: of such a message what is left, if anything; not the one before
    it, if that is meant; and not what the assistant says of what is to be forgotten."""
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


def bears_on(text: str, named: frozenset[str]) -> bool:
    """Whether a text speaks of what these terms name: one of a few, or a sixth of many."""
    shared = telling(text) & named
    return bool(shared) and (len(named) < _MANY or 6 * len(shared) >= len(named))
