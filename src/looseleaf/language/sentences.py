"""Text → sentences, and what a sentence is: a decision, a constraint, work left, a question, an intention.

Code and quoted lines are kept apart: code is no sentence, and what somebody quotes he does not say. Everything takes
time linear in the text. The cues are forms of words, in six languages; they miss what is said in other ways, and a
sentence that only asks, supposes or quotes is not taken for the thing itself.
"""

from __future__ import annotations

import re
from functools import lru_cache

from looseleaf.base.immutable import frozen
from looseleaf.text.patterns import NEVER, lazy

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Literal

if TYPE_CHECKING:
    PieceKind = Literal["sentence", "quote", "code"]


CHECKED = 2000
"""Characters of a sentence that the detectors look at. What is longer is no sentence that a person wrote."""

# --- splitting -------------------------------------------------------------------------


@frozen
class Piece:
    """A sentence on one line, a quoted sentence, or a whole block of code."""

    text: str
    kind: PieceKind = "sentence"


_FENCE = lazy(r" {0,3}(`{3,}|~{3,})")
_QUOTE = lazy(r"[ \t]*(?:>[ \t]?)+")
_ITEM = lazy(r"[ \t]*(?:[-*+•]|[0-9]{1,3}[.)])[ \t]+")
_HEADING = lazy(r"[ \t]*#{1,6}[ \t]+")
_ROW = lazy(r"[ \t]*\|.*\|[ \t]*\Z")
_RULE = lazy(r"[\s|:=_*-]*\Z")

_CLOSERS = "\"')\\]*_»”’"
# A run of marks is looked at once, from where it begins: otherwise a line of dots would take quadratic time.
_END = lazy(rf"(?<![.!?…])[.!?…]++[{_CLOSERS}]*+(?=\s)|[。！？｡]++[」』”’）\"]*+")
_LAST_WORD = lazy(r"[\w.]+\Z")
_WORD_REACH = 24
SHORT_FORMS = frozenset(
    "e.g i.e etc cf vs approx no nr fig dr mr mrs ms prof st jr sr inc ltd co corp dept est jan feb mar apr jun "
    "jul aug sep sept oct nov dec z.b d.h u.a bzw ca usw vgl evtl ggf inkl str p.ex m mme mlle av env p.ej sra "
    "srta ud uds pág art a.m p.m u.s u.k ph.d vol pp al ed eds abs kap dgl "
    "lt mt fr hr pr ft capt col gen gov hon rep rev sen sgt".split()
)


def is_short_form(word: str, following: str) -> bool:
    """Whether the full stop after a word belongs to it. "No. 5" is a number; "no. use pnpm" is two sentences."""
    return word in SHORT_FORMS and (word != "no" or following.strip()[:1].isdigit())


_AFTER_ORDINAL = lazy(
    r"\s+(?:(?i:jan|feb|mär|mar|apr|mai|may|jun|jul|aug|sep|okt|oct|nov|dez|dec|jahrhundert)|[a-zäöü])"
)
_FULL = 50
_WIDE = lazy(r"[\u2e80-\u9fff\uac00-\ud7af\uff00-\uffef]", in_ascii=NEVER)


def pieces(text: str) -> Iterator[Piece]:
    """Sentences, quoted sentences and blocks of code, in their order."""
    for kind, block in _blocks(text):
        if kind == "code":
            yield Piece(block, "code")
        else:
            for sentence in _split(block):
                yield Piece(sentence, kind)


def sentences(text: str) -> list[str]:
    """The sentences that are the writer's own: no code, no quoted lines."""
    return [piece.text for piece in pieces(text) if piece.kind == "sentence"]


def _blocks(text: str) -> Iterator[tuple[PieceKind, str]]:
    """Paragraphs, list items, headings and rows, each on one line; code whole."""
    fence = ""
    code: list[str] = []
    paragraph: list[str] = []
    kind: PieceKind = "sentence"
    for line in text.splitlines():
        if fence:
            if line.strip().startswith(fence) and not line.strip().strip(fence[0]):
                yield "code", "\n".join(code)
                fence, code = "", []
            else:
                code.append(line)
            continue
        quote = _QUOTE.match(line)
        body = line[quote.end() :] if quote else line
        line_kind: PieceKind = "quote" if quote else "sentence"
        opening = _FENCE.match(line)
        is_rule = _RULE.match(body) is not None
        heading = _HEADING.match(body)
        start = heading or _ITEM.match(body)
        is_alone = heading or _ROW.match(body)
        if paragraph and (line_kind != kind or is_rule or opening or start or is_alone):
            yield kind, _one_line(paragraph)
            paragraph = []
        kind = line_kind
        if opening:
            fence = opening[1]
        elif not is_rule:
            paragraph.append(body[start.end() :] if start else body)
            if is_alone or _ends_short(body):
                yield kind, _one_line(paragraph)
                paragraph = []
    if paragraph:
        yield kind, _one_line(paragraph)
    if code:
        yield "code", "\n".join(code)


def _ends_short(line: str) -> bool:
    """People break a line where a thought ends, programs where it is full."""
    return len(line) < (_FULL // 2 if _WIDE.search(line) else _FULL) and line.rstrip()[-1:] not in ",;-，、；"


def _one_line(lines: list[str]) -> str:
    parts: list[str] = []
    for line in lines:
        line = " ".join(line.split())
        if parts and not (_WIDE.match(line) and _WIDE.match(parts[-1][-1:])):
            parts.append(" ")
        parts.append(line)
    return "".join(parts)


def _split(block: str) -> Iterator[str]:
    start = 0
    for end in _END.finditer(block):
        if _is_end(block, end.start(), end.end()):
            yield from _kept(block[start : end.end()])
            start = end.end()
    yield from _kept(block[start:])


def spans(block: str) -> Iterator[tuple[int, int]]:
    """Where the sentences of a block stand, without the blanks around them."""
    start = 0
    for end in (
        *(each.end() for each in _END.finditer(block) if _is_end(block, each.start(), each.end())),
        len(block),
    ):
        words = block[start:end].strip()
        if words:
            first = block.index(words, start)
            yield first, first + len(words)
        start = end


def _kept(sentence: str) -> Iterator[str]:
    sentence = sentence.strip()
    if any(map(str.isalnum, sentence)):
        yield sentence


def _is_end(block: str, mark: int, after: int) -> bool:
    following = block[after : after + _WORD_REACH].lstrip()[:1]
    is_closed = block[after - 1] not in ".!?…。！？｡"
    if following.islower() and (is_closed or block[mark] == "…" or block.startswith("..", mark)):
        return False
    if block[mark] != "." or block[mark : mark + 2] in ("..", ".!", ".?"):
        return True
    word = _LAST_WORD.search(block[max(0, mark - _WORD_REACH) : mark])
    if word is None:
        return True
    last = word[0].lower()
    if is_short_form(last, following) or (len(last) == 1 and last.isalpha() and word[0] != "I"):
        # An abbreviation ends a sentence all the same when nothing can follow it in one.
        return last in ("etc", "usw", "a.m", "p.m", "u.s", "u.k", "inc", "ltd") and following.isupper()
    return not (last.isdigit() and len(last) < 3 and _AFTER_ORDINAL.match(block, after))


# --- what a sentence is ----------------------------------------------------------------

_QUOTED = lazy(
    r"\"[^\"]{1,400}\"|“[^”]{1,400}”|„[^“”]{1,400}[“”]|«[^»]{1,400}»|「[^」]{1,400}」|『[^』]{1,400}』|`[^`]{1,400}`"
    r"|(?<!\w)'[^']{1,400}'(?!\w)"
)
_ASKS = lazy(rf"[?？][{_CLOSERS}」』）\s.]*\Z|(?:ですか|ますか|でしょうか|吗|嗎)[。.\s]*\Z")


def _any(*forms: str) -> re.Pattern[str]:
    return lazy("|".join(forms))


_SUPPOSES = _any(
    r"\A(?:if|when|unless|whether|suppose|supposing|imagine|assuming|what if|in case|had) ",
    r"\b(?:what if|whether|might|maybe|perhaps|(?:would|could|should) have|as if|should we|shall we|if we)\b",
    r"\b(?:not|\w+n't|never|yet to|before we|before you|until we|once we)(?: yet| really| been)?"
    r" (?:decided?|agreed?|settled?|chosen?|choose)\b",
    r"\A(?:wenn|falls|angenommen|ob) |\b(?:vielleicht|ob wir|hätten|noch nicht (?:entschieden|beschlossen))\b",
    r"\A(?:si|supposons|et si) |\bpeut-être\b|\bpas encore décidé",
    r"\A(?:supongamos|y si) |\b(?:quizás?|tal vez|a lo mejor|no hemos decidido)\b",
    r"如果|假如|要是|也许|可能|或许|(?:没|没有|未)决定|もし|かもしれ|決めていな|決まっていな",
)
_REPORTS = _any(
    r"\b(?:docs?|documentation|readme|article|paper|manual|book|log|output|error|message|page|comment|spec|tutorial)"
    r"(?: \w+){0,4} (?:says?|said|states?|stated|claims?|recommends?|reads?)\b",
)
_IDLE = r"(?! (?:\w+ing|in touch|each|up|it up|care|your advice|a look|note)\b)"
_DECIDES = _any(
    r"\b(?:we|i|the team|everyone)(?:'ve| have| has)?(?: all| both| now| just| finally| therefore| already)*"
    r" (?:decided|agreed|settled on|chose|chosen|opted|picked)\b",
    r"\b(?:it was|it is|it's|it has been) (?:decided|agreed)\b",
    r"\blet's (?:just |rather |instead |all |then |please )?(?:use|do|go with|go for|go ahead with|keep|stick|switch|"
    rf"take|pick|choose|drop|skip|call|adopt|stay with)\b{_IDLE}",
    r"\bwe(?:'ll| will| shall|'re going to| are going to)(?: just| now| only| instead| therefore)?"
    rf" (?:go with|go for|use|keep|stick|switch|drop|adopt|ship|stay with|move to)\b{_IDLE}",
    r"\b(?:decision|decided|agreed|resolution|entscheidung|beschluss|décision|decisión) ?[:：]",
    # Not "I prefer tea rather than coffee", nor "always use pnpm instead of npm": what somebody likes, and a rule.
    r"(?<!\bi )(?<!\bi'd )(?<!\balways )(?<!\bnever )\b(?:use|take|choose|pick|adopt|prefer|switch to|book) "
    r"[^.!?]{1,80}? (?:instead of|rather than|in place of)\b",
    r"\b(?:we are|we're|i'm|i am) (?:going|sticking|staying) with\b|\bmade up (?:my|our) minds?\b|\bthe plan is to\b",
    r"\A(?:(?:ok|okay|yes|please|then|so|alright),? )*(?:go|stick|stay) with\b",
    # German
    r"\b(?:wir|ich) haben?(?: \w+){0,3} (?:entschieden|beschlossen|festgelegt|geeinigt)\b",
    r"\bhaben wir(?: \w+){0,3} (?:entschieden|beschlossen|festgelegt)\b",
    r"\blass(?:t|en sie)? uns\b[^.!?]{0,80}\b(?:nehmen|verwenden|benutzen|nutzen|einsetzen|bleiben)\b",
    r"\bwir (?:nehmen|verwenden|benutzen|nutzen|bleiben bei|setzen auf|steigen auf)\b",
    # French
    r"\b(?:on a|nous avons|j'ai)(?: \w+){0,2} (?:décidé|choisi|opté|convenu)\b",
    r"\b(?:utilisons|prenons|gardons|on part sur|on va (?:utiliser|prendre)|nous allons utiliser)\b",
    # Spanish
    r"\b(?:hemos|he) (?:decidido|elegido|acordado|optado)\b|\b(?:decidimos|acordamos|optamos por)\b",
    r"\b(?:usemos|vamos a usar|vamos con|nos quedamos con|utilicemos)\b",
    # Chinese, Japanese
    r"决定|就用|改用|我们采用|我们选择|定下来|敲定",
    r"ことに(?:し(?:ます|ました|た|よう|ましょう)|決め|なりました)|に決め(?:ます|ました|た)|に決定|を採用|"
    r"でいきましょう|にしましょう",
)
_USER_DECIDES = _any(
    r"\bi(?:'ll| will|'d like to|'d rather| want to| would like to)"
    rf" (?:go with|go for|take|choose|pick|use|stick with|stay with)\b{_IDLE}",
    r"\bich (?:nehme|wähle|bleibe bei)\b|\bje (?:prends|choisis|vais prendre)\b|\b(?:me quedo con|elijo|escojo)\b",
    r"我选|我要用|にします",
)
_NO_ORDER = (
    r"(?!(?:worry|know|mind|think|care|remember|have|get|see|understand|want|need|like|believe|recall|you|be"
    r"|give up|hesitate|stop|limit)\b)"
)
_NO_RULE = (
    r"(?!(?:been|being|mind|had|got|was|were|the|a|an|good|great|nice|happy|there|give up|lose|remind|brings"
    r"|\w+ed|\w+ing)\b)"
)
_CONSTRAINS = _any(
    rf"(?:\A|[,;:—] ?|\b(?:please|and|but|so|ok|okay|yes|no),? )(?:do not|don't) {_NO_ORDER}[a-z]",
    rf"(?:\A|[,;:—] ?|\b(?:please|and|but|so|you|we),? )(?:never|always) (?:ever )?{_NO_RULE}[a-z]",
    r"\b(?:don't|do not|not) ever\b|\bunder no circumstances\b|\bat no time\b|\bat all times\b|\bon no account\b",
    r"\b(?:must|should|shall|may) (?:never|always|only ever)\b|\bi don't want you to\b|\bnot allowed to\b",
    r"\A(?:please,? )?(?:only (?:use|answer|reply|write|touch|change|run)|avoid|stop \w+ing|no [\w ]{1,30},? please)\b",
    r"\bkeep [^.!?]{1,60} (?:under|below|within|shorter than) [0-9a-z]",
    r"\b(?:must not|mustn't|may not|shall not|cannot ever)\b",
    r"\bfrom now on\b|\bfrom here on\b|\bgoing forward\b|\bin (?:the )?future,",
    r"\b(?:make sure|ensure|be sure|see to it)\b[^.!?]{0,120}\b(?:never|always|not|only|no)\b",
    r"(?<!\bit )(?<!\bthat )(?<!\bthere )(?<!\bthis )"
    r"\bmust (?:only|remain|stay|keep|use|support|return|run|work"
    r"|be (?!thrill|excit|tir|pleas|reliev|exhaust|amaz)\w+ed)\b",
    r"\b(?:is|are) (?:strictly )?(?:forbidden|prohibited|off limits|not allowed)\b",
    r"\b(?:rule|constraint|requirement|regel|règle|regla)s? ?[:：]|(?:约束|规则|制約)[:：]",
    # German
    r"\b(?:niemals|auf keinen fall|unter keinen umständen|ab jetzt|von nun an|ab sofort|künftig|in zukunft)\b",
    r"\b(?:darf|dürfen|darfst) (?:\w+ ){0,4}(?:nicht|nie|kein)",
    r"\bbitte (?:immer|nie|nicht)\b|\A(?:immer|nie)\b(?! wenn| noch| mehr)|\A\w+ (?:bitte )?(?:immer|nie) ",
    # French
    r"\b(?:il ne faut|ne (?:doit|doivent|dois|devez)) (?:jamais|pas)\b|\bil faut toujours\b",
    r"(?:\A|s'il (?:te|vous) pla[iî]t,? )(?:n'|ne )\w+(?:[- ]\w+)? (?:jamais|pas|plus)\b|\A(?:toujours|jamais) ",
    r"\bà partir de maintenant\b|\bdésormais\b|\bdorénavant\b|\ben aucun cas\b",
    # Spanish
    r"(?:\A|\bpor favor,? )(?:nunca|siempre|jamás) |\b(?:no|nunca) (?:debes?|deben|se debe|se puede)\b|\bprohibido\b",
    r"\b(?:a partir de ahora|de ahora en adelante|en adelante|bajo ninguna circunstancia|en ningún caso)\b",
    # Chinese, Japanese
    r"(?<!要)不要(?!紧)|不得(?!不)|禁止|切勿|千万(?:别|不)|必须|务必|永远不|绝不|绝对不|从现在(?:开始|起)|从今以后|以后(?:都|请)",
    r"ないで(?:ください|下さい)|(?:ては|では|ちゃ)(?:いけ|なら|だめ|ダメ)|必ず|絶対に|今後は|これからは|しないこと",
)
_POLITE = lazy(
    r"\b(?:can|could|would|will) you(?: please)? (?:make sure[^.!?]{0,80} )?(?:always|never|only ever|not)\b"
)
_FORGETS = lazy(r"\b(?:don't|do not|must not) forget\b")
_TASKS = _any(
    r"\btodo\b|\bto-do\b|\bfixme\b|\A\[ \] ",
    r"\bstill (?:needs?|ha(?:ve|s)|needed) to\b|\bstill must\b|\bstill to (?:do|be)\b",
    r"\bstill (?:missing|open|pending|outstanding)\b",
    r"\bnext,? (?:we|i|you) (?:have|need|must|should)\b",
    r"\b(?:remaining|outstanding|pending|unresolved|left to do)(?: (?:work|tasks?|steps?|items?|issues?))? ?:"
    r"(?! ?[$€£0-9])",
    r"\b(?:remains|left|yet) to (?:be )?(?:do|fix|write|written|implement|test|decide|check)",
    r"\b(?:not|isn't|aren't|hasn't been|haven't been|not been)(?: yet)?"
    r" (?:done|finished|implemented|fixed|resolved|written|tested|completed?)\b|\bunfinished\b",
    r"\b(?:i|we)(?:'ll| will) [^.!?]{1,120}\b(?:later|tomorrow|afterwards|next (?:week|month))\b",
    rf"{_FORGETS.pattern}|\bremember to\b|\bfollow up (?:on|with)\b|\bhave yet to\b",
    r"\bneeds? to be (?:done|fixed|checked|updated|written|tested)\b",
    # German
    r"\bnoch (?:zu tun|nicht (?:fertig|erledigt|gemacht|gelöst)|offen|zu erledigen)\b",
    r"\b(?:muss|müssen) (?:\w+ ){0,3}noch\b|\b(?:steht|stehen|fehlt|fehlen) noch\b|\bvergiss nicht\b",
    # French
    r"\breste à\b|\bil faut encore\b|\bpas encore (?:fait|fini|terminé|testé)|\bn'oublie[zr]? pas\b|\bà faire\b",
    # Spanish
    r"\bquedan? por\b|\bfaltan? (?:por )?\w|\btodavía (?:hay que|falta|tenemos que)\b|\bpendientes?\b|\bno olvides\b",
    # Chinese, Japanese
    r"待办|还(?:需要|要做|得)|(?:还没|尚未|还未)有?(?:完成|做|解决|实现|测试)|接下来(?:要|需要|得)|别忘|剩下的",
    r"まだ.{0,20}(?:ていない|ていません|必要)|残り(?:は|の作業)|残って|後で|あとで|忘れずに|未完了|未対応|未解決",
)
_DONE = _any(
    r"\b(?:nothing|no (?:more )?(?:work|tasks?|todos?|to-dos?)|all|everything)\b[^.!?]{0,30}"
    r"\b(?:left|done|remain\w*|open)\b",
    r"\bno longer needs?\b|\bnichts mehr\b|\bplus rien\b|\bnada pendiente\b|没有(?:待办|剩下)|残っていません",
)
_INTENDS = _any(
    r"\b(?:i'll|i will|i'm (?:going|about) to|i am (?:going|about) to|let me|we'll|we will)"
    r" (?!be (?:happy|glad)|know|assume)",
    r"\bnext steps?\b|\Anext[,:]|\bals nächstes\b|\bich werde\b|\bnächste[rn]? schritt|\bje vais\b",
    r"\bprochaines? étapes?\b|\bensuite,|\bvoy a\b|\ba continuación\b|\bsiguientes? pasos?\b",
    r"接下来|下一步|我会|我将|次に|次は|次のステップ",
)
_CONCLUDES = _any(
    r"\b(?:success\w*|done|fixed|resolved|completed?|updated|created|deleted|cancell?ed|booked|changed|added|removed|"
    r"processed|found|failed|fails|errors?|cannot|can't|couldn't|could not|unable|because|since|due to|therefore|"
    r"caused?|reason|total|results?|turns out|means|however|instead|only|requires?d?|refund\w*|works|passed|passes)\b",
    r"\bnot (?:possible|allowed|available|eligible|enough|found)\b",
    r"\b(?:weil|deshalb|erfolgreich|gefunden|fehler|nicht möglich|parce que|terminée?|erreur|trouvée?|porque|"
    r"encontrado|hecho)\b|成功|失败|完成|因为|所以|发现|无法|完了|失敗|できません|ため",
)
_FILLS = _any(
    r"\b(?:feel free|let me know|anything else|happy to (?:help|assist)|glad to|thank you for|sorry for|i apologize)\b",
    r"\b(?:could|can|would) you (?:please )?(?:provide|confirm|tell|share|specify|clarify)\b|\bwould you like\b",
    r"\bplease (?:provide|confirm|let|share|specify|hold)\b|\bi (?:can|will) help\b|\bone moment\b|\bto proceed\b",
    r"\bhere (?:is|are) (?:the|your|some)\b|\bi(?:'ll| will) (?:now )?(?:proceed|check|look|search|retrieve)\b",
    r"\bif you (?:have|need|would)\b",
)
_GREETS = frozenset(
    "hi hello hey thanks thank thx welcome bye goodbye sorry great perfect awesome excellent wonderful cool nice hallo "
    "danke dank tschüss bonjour salut merci hola gracias adiós 你好 您好 谢谢 多谢 再见 こんにちは おはよう ありがとう "
    "ありがとうございます".split()
)
_BESIDE = frozenset(
    "you you're dear good morning evening afternoon day so very a lot much many again there everyone all for your the "
    "help assistance time patience have no problem worries of course certainly absolutely guten tag morgen abend "
    "vielen sehr schön beaucoup au revoir buenos buenas días tardes muchas that's that is it and please".split()
)
_SPACES = lazy(r"[\s,.!…，。！、]+")


def own_words(sentence: str) -> str:
    """Without what is quoted, in one case, with one apostrophe."""
    return _QUOTED.sub('""', sentence[:CHECKED].replace("’", "'")).lower()


def is_question(sentence: str) -> bool:
    return bool(_ASKS.search(sentence[-60:]))


def is_decision(sentence: str, *, by_user: bool = True) -> bool:
    """Something was settled. What an assistant says it will do itself is its next step, no decision."""
    if is_question(sentence):
        return False
    words = own_words(sentence)
    if _SUPPOSES.search(words) or _REPORTS.search(words):
        return False
    return bool(_DECIDES.search(words) or (by_user and _USER_DECIDES.search(words)))


def is_constraint(sentence: str) -> bool:
    """A rule for what comes: never, always, must not. A condition does not make it less of one."""
    words = own_words(sentence)
    if is_question(sentence):
        return bool(_POLITE.search(words))
    if _REPORTS.search(words) or words.startswith(("what if", "suppose", "imagine")):
        return False
    return bool(_CONSTRAINS.search(words)) and not _FORGETS.search(words)


@lru_cache(256)
def is_task(sentence: str) -> bool:
    """Work that is left."""
    if is_question(sentence):
        return False
    words = own_words(sentence)
    return bool(_TASKS.search(words)) and not _DONE.search(words)


def is_intention(sentence: str) -> bool:
    """The speaker says what he does next."""
    return not is_question(sentence) and bool(_INTENDS.search(own_words(sentence)))


def is_conclusion(sentence: str) -> bool:
    """It says what came out, or why."""
    return bool(_CONCLUDES.search(own_words(sentence)))


def is_filler(sentence: str) -> bool:
    """An assistant's courtesy, or its asking for what it was then told."""
    return bool(_FILLS.search(own_words(sentence)))


def is_phatic(sentence: str) -> bool:
    """Only a greeting or thanks: nothing is lost with it."""
    words = set(_SPACES.split(sentence[:120].lower().replace("’", "'"))) - {""}
    return len(sentence) < 120 and not words.isdisjoint(_GREETS) and words <= _GREETS | _BESIDE


# How work ends in talk: what was asked for, what is done, what was learnt; and which open task a sentence
# closes.

_FINISHED = lazy(
    r"\b(?:done|merged|fixed|finished|completed|implemented|resolved|shipped|closed|deployed|released|"
    r"solved|sorted|"
    r"taken care of|pushed|landed|passes|pass|passing|works now|is working|renamed|migrated|refactored|"
    r"written|added|"
    r"removed|updated|created|installed|replaced|reverted|cleaned up|rewrote|rewritten|booked|cancell?ed|"
    r"sent)\b"
    r"|\b(?:erledigt|fertig|gemergt|behoben|abgeschlossen|gelöst|umgesetzt|geschrieben|hinzugefügt)\b"
    r"|\b(?:c'est fait|fait|terminée?s?|corrigée?s?|fusionnée?s?|finie?s?|résolue?s?|écrite?s?|ajoutée?s?)\b"
    r"|\b(?:hech[oa]s?|terminad[oa]s?|arreglad[oa]s?|list[oa]s?|resuelt[oa]s?|escrit[oa]s?|fusionad[oa]s?)\b"
    r"|(?:完成|搞定|做完|修好|写好|合并|解决|弄好|改好)了|已(?:经)?(?:完成|修复|合并|解决|写好)"
    r"|完了|終わり(?:ました|まし|った)|終わった|できました|直しました|修正しました|マージしました|書きました|済み"
)
_UNDONE = lazy(
    r"\b(?:not|\w+n't|never|yet|until|once|when|if|unless|will|shall|would|should|must|could|can|to be|"
    r"need|needs|still|before|"
    r"after|almost|nearly|half|going to|want|wants|let's|please|make|get|todo|has to|have to|i'll|we'll|"
    r"remaining|left)\b"
    r"|\b(?:nicht|noch|wenn|falls|sobald|muss|müssen|sollte|wird|fast)\b|\b(?:pas|encore|quand|si|sera|"
    r"doit|presque|faut)\b"
    r"|\b(?:todavía|aún|cuando|será|debe|hay que|falta|casi)\b|没|未|还|如果|将|要|まだ|もし|ていない|ません|たら|必要"
)
_LEARNT = lazy(
    r"\b(?:lessons?(?: learn(?:ed|t))?:|turns out|turned out|the (?:root )?cause (?:was|is)|root cause|"
    r"next time|the culprit was|"
    r"was caused by|the reason (?:was|is)|the trick (?:was|is)|the problem was that|note to self|it was "
    r"because|because)\b"
    r"|\b(?:ursache war|lag daran|stellte sich heraus|nächstes mal|weil)\b|\b(?:la cause était|parce que|"
    r"la prochaine fois)\b"
    r"|\b(?:la causa era|porque|la próxima vez|resultó que)\b|原因是|因为|下次|原来|原因は|ため(?:です|でした)|次回は"
)
_SURE_LESSON = lazy(
    r"\b(?:lessons?(?: learn(?:ed|t))?:|turns out|turned out|the (?:root )?cause|root cause|next time|"
    r"culprit|note to self)"
)
_ASKED = lazy(
    r"\A\W*(?:(?:hi|hello|hey|ok|okay|so|now|then|and|also|please|kindly|next|first)\b[\s,!:]*)*"
    r"(?:(?:can|could|would|will) you\b|i(?:'d| would) like (?:you )?to\b|i need (?:you )?to\b|i want "
    r"(?:you )?to\b|let's\b|help me\b|"
    r"(?:fix|add|write|make|create|build|implement|refactor|rename|remove|delete|update|change|move|find|"
    r"check|look|run|"
    r"install|debug|investigate|migrate|convert|translate|set up|configure|deploy|release|test|review|"
    r"explain|show|"
    r"book|cancel|send|clean|replace|rewrite|merge|upgrade|optimi[sz]e|speed up|document|generate|plan|"
    r"prepare|sort|"
    r"import|export|mend|repair|port|draft|summari[sz]e|analy[sz]e|compare|calculate|schedule|order|figure "
    r"out)\b)"
    r"|\A\W*(?:bitte |kannst du |könntest du |peux-tu |pouvez-vous |s'il te plaît |por favor |puedes |"
    r"podrías )"
    r"|(?:\A|，|。)(?:请|帮我|麻烦|把)|(?:してください|して下さい|お願いします|直して|作って|書いて)"
)
_FAULT = lazy(
    r"\b(?:fail(?:s|ed|ing|ure)?|bugs?|errors?|crash(?:es|ed|ing)?|broken|wrong|doesn't work|does not work|"
    r"isn't working|"
    r"not working|issue|slow|exception|hangs?|leak|flaky|fehler|kaputt|geht nicht|erreur|panne|fallo|no "
    r"funciona)\b"
    r"|报错|错误|失败|崩溃|不工作|エラー|失敗|動かない|壊れ"
)


def is_done(sentence: str) -> bool:
    """It says that something is finished now; not that it will be, or is not yet."""
    if is_question(sentence) or is_task(sentence):
        return False
    words = own_words(sentence)
    return bool(_FINISHED.search(words)) and not _UNDONE.search(words)


def is_lesson(sentence: str) -> bool:
    """It says what was learnt, or why something was so."""
    return not is_question(sentence) and bool(_LEARNT.search(own_words(sentence)))


def is_sure_lesson(sentence: str) -> bool:
    """It says so in as many words."""
    return bool(_SURE_LESSON.search(own_words(sentence)))


def is_request(sentence: str) -> bool:
    """Somebody is asked to do something."""
    return bool(_ASKED.search(own_words(sentence)))


def is_fault(sentence: str) -> bool:
    """It tells of something that does not work."""
    return bool(_FAULT.search(own_words(sentence)))


# --- which task ------------------------------------------------------------------------

_WORD = lazy(r"[^\W_][\w'-]*")
_UNSPACED_RUN = lazy(r"[\u3041-\u30ff\u3400-\u9fff]{2,}", in_ascii=NEVER)
_CUES = frozenset(
    "the and for you that this with have has had are was were been will can could should would must need "
    "needs needed still "
    "todo done fixed merged finished completed implemented resolved later tomorrow next remaining left yet "
    "not all now "
    "also just let's i'll we'll i've we've it's its our your their them they then than into from over "
    "about before after "
    "write wrote written add added fix make made update updated create created check implement finish "
    "complete remove "
    "removed test tested get got put set open opened closed close pending outstanding missing forget "
    "remember please "
    "noch muss müssen nicht ich wir der die das den dem ein eine und ist sind war erledigt fertig fehlt "
    "steht "
    "reste encore faut les des une est fait fini falta queda por hacer los las una está hecho".split()
)
_SHARE = 0.75
"""So much of a task's own words must be named by what closes it."""


def content(text: str) -> frozenset[str]:
    """The words that say what it is about: without their endings; pairs of characters where there are no spaces."""
    lowered = own_words(text)
    wide = {run[place : place + 2] for run in _UNSPACED_RUN.findall(lowered) for place in range(len(run) - 1)}
    words = {word for word in _WORD.findall(lowered) if word.isascii() or word < "\u3000"}
    kept = {_stem(word) for word in words if (len(word) > 2 or word.isdigit()) and word not in _CUES}
    return frozenset(kept | (wide - _WIDE_CUES))


_WIDE_CUES = frozenset(
    "完成 成了 还需 需要 还要 要写 写测 搞定 定了 已经 还没 没有 まだ てい いま ませ せん した まし ました です".split()
)


def _stem(word: str) -> str:
    for ending in ("'s", "ing", "ed", "es", "s"):
        if word.endswith(ending) and len(word) - len(ending) > 2:
            return word[: -len(ending)]
    return word


def closes(done: frozenset[str], task: frozenset[str]) -> bool:
    """Whether a sentence about `done` is about a task of these words."""
    return bool(task) and len(task & done) >= _SHARE * len(task)
