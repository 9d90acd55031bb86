"""Frames: words around a thing that reverse its meaning. A sentence may name a thing only to forbid it, undo it,
leave it out, or allow it on a condition.

Decided by words alone, in six languages, on spelled text (`clauses.spelled`), each pattern in linear time. A frame
found too often makes a fact wait for a person; a missed one turns a prohibition into a rule.
"""

from __future__ import annotations

import re
from bisect import bisect_left

from looseleaf.text.patterns import lazy

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

# --- denied ----------------------------------------------------------------------

_NOT = (
    r"\b(?:no|not|never|none|nobody|nothing|without|cannot|cant|can't|dont|doesnt|wont|isnt|nor|neither|instead of"
    r"|rather than|no longer|hardly|barely|scarcely|nie|niemals|nicht|kein\w{0,3}|niemand|weder|ohne|kaum|anstatt|ne"
    r"|n'\w+|pas|jamais|sans|aucune?|personne|au lieu d[e']|no|nunca|jamás|sin|tampoco|ni|nadie|apenas|ya no"
    r"|en (?:lugar|vez) de)\b|n't\b|[¬∖]|不|别|別|没|沒|无|無|勿|ない|なく|なし|ません|まない|ず(?:に|、)"
)
_RULES = (
    r"(?:rules?|habits?|preferences?|instructions?|requests?|decisions?|orders?|requirements?|polic(?:y|ies)|practices?"
    r"|advice|wish(?:es)?|commands?|agreements?|plans?|idea|suggestions?|notes?|regel|gewohnheit|vorliebe|anweisung"
    r"|entscheidung|bitte|règle|habitude|préférence|consigne|décision|demande|regla|costumbre|preferencia"
    r"|instrucción|decisión|petición)"
)
_UNDOES = (
    r"(?:remov(?:e|es|ed|ing)|drop(?:s|ped|ping)?|delet(?:e|es|ed|ing)|forget|scrap(?:s|ped)?|cancel\w*|lift(?:ed)?"
    r"|undo|revok\w+|repeal\w*|abolish\w*|overrul\w+|overrid\w+|retract\w*|withdraw\w*|suspend\w*|discard\w*|take back"
    r"|forgot|erase|strike|end(?:ed)?|revers\w+|streich\w*|lösch\w*|vergiss|vergesst|entfern\w*|oubli\w*|supprim\w*"
    r"|annul\w*|enlèv\w*|retir\w*|olvid\w*|elimin\w*|borr\w*|cancel\w*|quit\w*)"
)
_BAD = (
    r"(?:wrong|false|foolish|unwise|stupid|dangerous|unsafe|risky|harmful|illegal|unacceptable|silly|insane|crazy"
    r"|reckless|untrue|inappropriate|impossible)"
)
_FORBIDS = (
    r"\b(?:forb[ia]d\w*|prohib\w*|bann(?:ed|ing)|bans?|disallow\w*|outlaw\w*|veto\w*|refrain\w*|abstain\w*|desist"
    r"|ceas(?:e|es|ed|ing)|avoid\w*|stop(?:s|ped|ping)?|quit|quitting|refus(?:e|es|ed|ing|al)|declin(?:e|es|ed|ing)"
    r"|reject\w*|abandon\w*|rul(?:e|ed|ing) out|g[ai]ve up|giv(?:en|ing) up|get(?:ting)? rid of|got rid of"
    r"|object(?:s|ed)? to|oppos(?:e|es|ed|ing)|prevent\w*|block(?:s|ed|ing)?|beware|doubt(?:s|ed|ful)?|den(?:y|ies|ied)"
    r"|fail(?:s|ed|ing)? to|skip(?:s|ped|ping)?|ignor(?:e|es|ed|ing)|disregard\w*|regret\w*|(?:hold|held|put|leave) off"
    r"|shun\w*|steer clear|stay away|keep away|hands off|forgo|renounc\w+|far from|opposite of|contrary to"
    r"|off[- ]limits|out of the question|no-go|taboo|null and void|void|unthinkable|too (?:risky|dangerous|early|late)"
    r"|(?:keep|stop)s? (?:[^\W_]+ ){1,3}from|discourag\w+|dissuad\w+|warn(?:s|ed)? (?:[^\W_]+ )?against"
    rf"|(?:am|i'm|we're|is|are|be|was|were|strongly|totally|dead|advis\w+|decid\w+|vot\w+|argu\w+|recommend\w*"
    rf"|speak\w*) against|against (?=[^\W_]+ing\b)|{_BAD} (?:to|that)|(?:is|are|be|was|were|it's|that's|seems?)"
    rf" (?:[^\W_]+ )?{_BAD}|(?:a|an|big|huge|grave) (?:[^\W_]+ )?(?:mistake|error)|(?:bad|terrible|awful|horrible|poor"
    rf"|stupid|dumb) (?:ideas?|practice|habit)"
    rf"|{_UNDOES} (?:[^\W_]+ ){{0,3}}{_RULES}|forget (?:that|what|about|i|my|how|it)|{_RULES} [^.;:]{{0,60}}(?:is|are)"
    r" (?:gone|over|dead|lifted|obsolete|outdated|history|withdrawn|cancelled|no more)"
    r"|verbiet\w*|verbot\w*|untersag\w*|unterlass\w*|unterlässt|unzulässig|vermeid\w*|hört? (?:bitte )?auf"
    r"|aufhören|aufzuhören|weiger\w*|verweiger\w*|ablehn\w*|lehn(?:e|t|en) [^.;:,]{0,60}\bab|verzicht\w*"
    r"|(?:wär\w*|ist|sei) (?:[^\W_]+ )?(?:falsch|gefährlich|tabu|ein fehler|dumm|riskant)|schlechte idee|bezweif\w+"
    r"|ignorier\w*|dagegen|gib [^.;:,]{0,40}\bauf"
    r"|interdi[st]\w*|défend(?:s|u|ue|us)|défense de|évit\w+|cess(?:e|er|ez|ons)|arrêt(?:e|er|ez|é|ons)"
    r"|abst(?:iens|enez|enir)|refus(?:ons|é|er|ez)|erreur|(?:dangereux|faux|risqué) (?:de|d'|que)|mauvaise idée"
    r"|renonc\w+|rejet\w+|suis contre|doute|à peine|oublie que|ignore[zr]?"
    r"|prohíb\w*|evit(?:a|ar|e|en|o|ad|emos)|dej(?:a|ad|e|en|ar|é|emos) de|abst(?:ente|enerse|éngase|engo)|niego"
    r"|negarse|rechaz\w+|(?:un|grave) error|mala idea|peligroso|(?:es|sería) falso|en contra|estoy contra|dudo"
    r"|olvida que|renunci\w+|dismiss\w*|the last thing|over (?:my|our) dead body|(?:wrong|mistaken|false|erroneous)ly"
    r"|done with|makes? me sick)\b|^against\b|より[もは]?$|[うくすつぬむるぐぶ]な(?=[。！!]|$)"
    r"|禁|避免|停止|拒绝|拒絕|反对|反對|杜绝|是(?:一?个|個)?(?:错误|錯誤|错的|錯的)|危险|危險|忘掉|忘记|忘記|取消|撤销|撤銷"
    r"|作废|作廢|怀疑|懷疑|放弃|放棄|戒掉|以外|之外|避け|やめ|止め|控え|お断り|断り|断る|断って|断った|間違い(?!な)|間違って"
    r"|危険|忘れ|中止|取り消|反対|拒否|ダメ|だめ|いけ(?=ない|ません)|を除"
)
_TWISTED = (
    rf"(?:{_NOT})(?: (?!and\b|or\b|und\b|et\b|y\b)[^\W_]+){{0,2}} (?:{_FORBIDS})"
    r"|不(?:要|是|能|会|可以?|应该?)?(?:禁|避免|停止|拒绝|拒絕|反对|反對|取消|放弃)|(?:别|別)(?:停止|拒绝|拒絕|避免|取消|放弃)"
    r"|(?:避け|やめ|止め|控え|断ら|取り消さ)(?:ない|ません|ずに)|(?:禁止|間違い|ダメ|だめ|反対)(?:では|じゃ)(?:ない|なく|ありません)"
)
_NEGATIVE = lazy(_NOT)
_FORBIDDING = lazy(_FORBIDS)
_TWICE = lazy(_TWISTED)

# --- left out ---------------------------------------------------------------------

_EXCEPT = lazy(
    r"\b(?P<of>(?:any|every)(?:thing|one|body|where)?(?: [^\W_]+)? (?=but\b)|all (?=but\b)|(?:todo|cualquier\w*"
    r"|cualquier cosa) (?=menos\b))?(?(of)(?:but|menos)|(?:(?:other|different) than|aside from|apart from"
    r"|except(?:ing)?(?: for)?|excluding|save for|with the exception of|barring|alles andere als|ausser(?! wenn\b)"
    r"|abgesehen von|bis auf|sauf(?! si\b)|excepté|hormis|à part|à l'exception d[eu]s?|autre que|excepto|salvo(?! si\b)"
    r"|aparte de|a excepción de|que no sea))\b|除了|除开|除開|除去|比起"
)
"""The words after it are left out."""
_RATHER = lazy(
    r"(\b(?:rather|sooner|lieber|eher|plutôt|mieux|más)\b[^;:.¬]{1,80}?\b)(than|als|que)\b"
    r"|(\bprefer\w*\b[^;:.,¬]{1,60}?\b)(over|than)\b"
    r"|(\bprefer(?:s|red)? (?!(?:you|it|him|her|them|us|everyone|everybody|to)\b)(?:[^\W_]+ ){1,3}?)(to)\b"
    r"(?! (?:be|have|do|use|get|go|see|make|write|work|keep)\b)"
    r"|(\bprefiero\b[^;:.,¬]{1,60}?\b)(antes (?:que|de))\b"
)
"""Of two things the other is wanted."""
_LEFT_OUT, _LESS_WANTED = "∖", "¬"


def marked(sentence: str) -> str:
    """Return the sentence, at the same length, with marks before what it leaves out and what it wants less."""
    sentence = _EXCEPT.sub(_fill_gap, sentence)
    return _RATHER.sub(_add_mark, sentence)


def _fill_gap(found: re.Match[str]) -> str:
    of = found["of"] or ""
    return of + _LEFT_OUT * (len(found[0]) - len(of))


def _add_mark(found: re.Match[str]) -> str:
    before, than = (each for each in found.groups() if each is not None)
    return before + _LESS_WANTED * len(than)


_AND = r"(?:and|or|nor|und|oder|noch|et|ou|ni|y|o)\b"
APART = (
    r"¬+|∖+|\b(?:without|ohne|sans|sin)\b|\b(?:au lieu d[e']|en (?:lugar|vez) de)"
    r"|\b(?:that|which|who)(?= (?:refuses|fails|declines|stops|stopped|avoids|ignores|skips|blocks|prevents)\b)"
    rf"|,(?=\s(?:(?!{_AND})[^\W_]+ ){{1,3}}(?:is|are|was|were|must|should|can|may|will|ist|sind|est|sont|es|son)\b)"
    r"|\b(?:and|und|et|y) (?=(?:then |also |usually |still )?(?:barely|hardly|scarcely|avoid|refuse|stop|stopped|quit"
    r"|never|don't|do not|can't|cannot|won't|ignore|skip|not|no|hate|nie|nicht|kein\w{0,2}|vermeide|évite|ne|n'|evito"
    r"|evita|nunca)\b)"
    r"|(?:が|いて|おり)[、,]|(?<=より)(?![もは。、\s])|(?<=より[もは])|更(?=喜|想|爱|愛|偏|要)"
)
"""The start of a clause denied, or not, by itself: after a frame, or with its own subject."""

# --- clauses -------------------------------------------------------------------------------

_ALONE = lazy(
    r"[\W_]*(?:(?:but|just|please|well|then|and|or|so|aber|mais|pero|bitte) )*(?:do not|don't|dont|never(?:,? ever)?"
    r"|no way|not(?: ever| at all| like this)?|absolutely not|certainly not|(?:under|in) no (?:circumstances?|case|way)"
    r"|on no account|by no means|(?:that(?:'s| is) |it(?:'s| is) |this is )?(?:strictly )?(?:forbidden|prohibited"
    r"|banned|not allowed|a no-go|off limits|out of the question)|nie(?:mals)?|auf keinen fall|keinesfalls|verboten"
    r"|(?:en aucun cas|surtout pas|jamais|interdit)|(?:nunca|jamás|de ninguna manera|prohibido|en ningún caso)"
    r"|禁止|绝不|絕不|不行|不可以|不允许|ダメ|だめ|禁止です)[\W_]*"
)
"""A clause that only denies: the one before it, or the one that follows it if it comes first."""
_SAYS_OF_IT = lazy(
    rf"[\W_]*(?:and |but )?(?:(?:which|that|this|it)(?:'s| is| are| was| would be)|(?:which|that|something) (?:i|we))"
    rf"(?: [^\W_]+)? (?:{_FORBIDS}|not (?:allowed|permitted|ok|okay|true|acceptable))"
)
"""A clause that says of the one before it that it is forbidden."""
_VERB = r"(?:is|are|was|were|be|am|do|does|did|should|must|may|might|can|could|will|would|shall|has|have|had|seems? to)"
_IS = lazy(rf"\b{_VERB} $|'(?:s|re|m|ve|ll|d) $")
_AND_IS = lazy(rf"\b(?:and|but|or) (?:(?:i|we|you|he|she|it|they) ?)?(?:{_VERB} |'(?:s|re|m|ve|ll|d) )$")
_INTRODUCES = lazy(
    r"\b(?:this|that|these|those|following|things?|folgendes|ceci|cela|esto|lo siguiente)\W*$|(?:以下|这些|這些)\W*$"
)
_GOES_ON = lazy(rf"\b{_RULES}\W*$")
_TO_DO = lazy(r"\W{0,3}[^,;:.]{0,80}\bzu [^\W\d_]+en\b")
_FEW = 24


def polarity(parts: Sequence[str]) -> list[int]:
    """Return how often each clause reverses its meaning: never, once, or twice ("never refuse")."""
    made = [
        2 if _TWICE.search(part) else int(bool(_NEGATIVE.search(part) or _FORBIDDING.search(part)))
        for part in parts
    ]
    for at, part in enumerate(parts):
        if not made[at]:
            continue
        if len(part) < 3 * _FEW and _ALONE.fullmatch(part):
            to = at - 1 if at else 1
        elif at and (_SAYS_OF_IT.match(part) or _denies_back(parts[at - 1], part)):
            to = at - 1
        elif at + 1 < len(parts) and _leads_on(part, parts[at + 1]):
            to = at + 1
        else:
            continue
        if to < len(parts):
            made[to] = made[to] or made[at]
    return made


def _denies_back(before: str, part: str) -> bool:
    """Return whether its "not" is that of the verb before it: "tabs are not wanted" denies the tabs."""
    before = before[-_FEW:]
    return part.startswith("not ") and _IS.search(before) is not None and not _AND_IS.search(before)


def _leads_on(part: str, following: str) -> bool:
    """Return whether the next clause says what a clause denies."""
    if following.lstrip()[:1] in (":", "："):
        forbids = len(part) < _FEW and _FORBIDDING.search(part)
        return bool(forbids or _INTRODUCES.search(part[-_FEW:]))
    if following[:1] not in (",", "，", "、") or not _FORBIDDING.search(part):
        return False
    return _GOES_ON.search(part[-_FEW:]) is not None or _TO_DO.match(following) is not None


# --- conditions ----------------------------------------------------------------------------

_MERE_TALK = lazy(
    r"\bbefore (?:i forget|we (?:start|begin)|you (?:start|begin|ask|say|answer))\b|\bafter all\b|\b(?:up )?until now\b"
    r"|\bbevor ich(?:'s| es)? vergesse\b|\bavant tout\b|\bantes de nada\b|\b(?:other|apart|aside) (?:than|from) that\b"
)
_DAYS = r"(?:mon|diens|donners|frei|sams|sonn)tags?|mittwochs?"
_BOUND = lazy(
    r"(?P<without>\b(?:without|ohne|sans|sin)\b)|(?P<except>∖+)"
    r"|(?P<before>\b(?:before|prior to|ahead of|bevor|ehe|vor (?:dem|der|jede[mr])|avant (?:de|d'|que|le|la|les|chaque"
    r"|tout)|antes de)(?![^\W_]))"
    r"|(?P<until>\b(?:until|till|bis|jusqu'|hasta)(?![^\W_]))"
    r"|(?P<unless>\b(?:unless|es sei denn|ausser wenn|sauf si|à moins|a menos que|salvo si)\b|除非)"
    r"|(?P<only>\b(?:only,? (?:if|when|after|once|on|for|in|with|at|during|while|where|by|under|before|from|upon|as)"
    rf"|nur,? (?:wenn|falls|nach|am|an|im|in|mit|für|bei|unter|{_DAYS})|erst,? (?:wenn|nach|nachdem|ab)"
    r"|(?:seulement|uniquement|que) (?:si|quand|après|le|en|pour|avec|lorsque)"
    r"|(?:solo|sólo|solamente|únicamente) (?:si|cuando|después|los|las|el|en|para|con|tras))\b"
    r"|\bonly(?=[.!]*$)|只有|只在|仅在|僅在|只能在|仅限|僅限)"
    r"|(?P<provided>\b(?:provided|as long as|so long as|on (?:the )?condition|solange|tant que|siempre que|à condition"
    r"|con tal de|in the event)\b|只要)"
    r"|(?P<leave>\b(?:approv(?:al|e|es|ed)|permission|consent|sign-?off|go-ahead|authori[sz]ation|ask (?:me|us|first)"
    r"|check with (?:me|us)|genehmigung|erlaubnis|zustimmung|einverständnis|frag(?:e|t)? (?:mich|uns)|accord"
    r"|autorisation|demande-moi|permiso|aprobación|consentimiento|pregúntame)\b|问我|問我|同意|批准|许可|許可|承認)"
    r"|(?P<behind>之前|以前|前(?=先|要|必|请|請|应|應|[，,])|前に|まで(?:は|に)?(?=待|は)|場合(?:のみ|だけ|に限)|に限り"
    r"|ときだけ|時だけ|てから)"
)
"""`behind`: it follows what it binds."""
_ENDS = lazy(r"[,，、;:；：]|\b(?:then|dann|alors|entonces)\b|先|请|請")
_COMMA = lazy("[，、,]")
_LEADS = lazy(r"[\W_]*(?:(?:and|also|please|but|always|so|bitte|und|et|y) )*")
_ASKS_LEAVE = lazy(
    r"\b(?:ask|asks|asking|check|wait|confirm\w*|approv\w+|permission|consent|consult|leave|okay|warn|tell|inform"
    r"|frag\w*|wart\w*|bestätig\w*|demande\w*|attend\w*|confirme\w*|pregunt\w*|pregúnta\w*|espera|confirma)\b"
    r"|问|問|确认|確認|征求|等|聞|許可|待"
)


class Condition:
    """One condition of a sentence: its kind, its place, and the stretch of its words."""

    __slots__ = ("at", "kind", "start", "stop")

    def __init__(self, kind: str, at: int, start: int, stop: int) -> None:
        self.kind, self.at, self.start, self.stop = kind, at, start, stop

    def holds(self, place: int) -> bool:
        return self.start <= place < self.stop


def conditions(part: str, offset: int = 0) -> Iterator[Condition]:
    """Yield the conditions of a clause that begins at an offset."""
    bare = _MERE_TALK.sub(lambda found: "·" * len(found[0]), part)
    ends = [*(found.start() for found in _ENDS.finditer(bare)), len(bare)]
    commas = [-1, *(found.start() for found in _COMMA.finditer(bare))]
    for found in _BOUND.finditer(bare):
        kind = found.lastgroup or ""
        start, stop = found.start(), found.end()
        if kind == LEAVE:
            start, stop = 0, len(bare)
        elif kind == "behind":
            start = commas[bisect_left(commas, start) - 1] + 1
        else:
            stop = ends[bisect_left(ends, stop)]
        yield Condition(kind, offset + found.start(), offset + start, offset + stop)


def lead(part: str) -> int:
    """Return where the content of a clause begins."""
    found = _LEADS.match(part)
    return found.end() if found else 0


def asks_leave(sentence: str) -> bool:
    return _ASKS_LEAVE.search(sentence) is not None


KINDS = frozenset(_BOUND.groupindex)
LEAVE = "leave"
"""The condition that someone agrees, anywhere in a clause."""
DENYING = frozenset({"without", "except"})
"""Conditions whose own words are denied."""
OF_TIME = frozenset({"before", "until", "behind"})
"""Conditions that may only say when."""
