"""Words that ask for memory, and words that claim it: "remember that…", "I've noted it".

Pure and linear in the text. The cues are forms of words, in six languages. What is quoted, pasted or code is nobody's
promise; a question is none, unless it is only polite; and neither is a file of the work that was saved, nor money.
"""

from __future__ import annotations

import re
from functools import cache

from looseleaf.text.patterns import NEVER, lazy

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator


# The words of a request that are to be remembered: behind the asking ones, between them, or before them.

LONGEST = 600
"""Characters of a request that somebody wrote by hand."""

_MEMORY_WORDS = (
    r"(?:to|in|into|on) (?:your |my |the |our |long[- ]term ){0,3}(?:memory|memories|notes|profile|user\.md)"
)
_IT = r"(?: (?:this|that|these|it|the following|one thing|two things|the fact|of this|of that))?"
_WHEN = (
    r"(?:,? (?:please|too|also|for (?:me|later|next time|the future|future reference|future sessions))){0,2}"
)
_ENGLISH = (
    r"\b(?:remember|note to self|note(?: down)?|(?:make|take)(?: a)?(?: mental| quick)? note(?: of)?|"
    r"(?:do not|don't|dont|never)(?: ever)? forget|(?:keep|bear)(?: this| that| it)? in mind|"
    r"keep (?:a )?(?:note|record|track)(?: of)?|memori[sz]e|(?:write|jot|note)(?: this| that| it)? down|"
    rf"commit (?:this|that|it) to memory|(?:save|store|record|add|put|write|log){_IT}(?: {_MEMORY_WORDS})?|"
    r"update (?:your |my |the )?(?:memory|notes|profile)|for (?:the |your )?future reference|"
    rf"for (?:your|the) memory|for next time){_WHEN}{_IT}{_WHEN}"
    r"(?:\s*[:,—–]\s*(?:that )?|\s+that\s+|\s+(?=(?:my|our|i|i'm|i've|we|we're|we've|the|never|always|not|"
    r"all|both|to)\b))"
)
_GERMAN = (
    r"\b(?:(?:merke? (?:es )?dir|merken sie sich|merkt euch|merken|notiere?(?: dir)?|notieren sie(?: sich)?|notieren|"
    r"schreibe? (?:dir |das |es |mir |bitte ){1,3}auf|halte? (?:bitte )?fest|speichere?)"
    r"(?: bitte| mal| folgendes| das| auch| noch){0,3}(?:\s*:\s*|\s*,\s*(?:dass )?)|"
    r"(?:vergiss (?:bitte |ja )?(?:nicht|nie)|vergessen sie (?:bitte )?nicht|denke? (?:bitte )?dar?an|"
    r"behalte? (?:bitte )?im (?:kopf|hinterkopf|gedächtnis))(?:\s*:\s*|\s*,\s*dass ))"
)
_FRENCH = (
    r"(?:\b|(?<=\s))(?:souviens[- ]toi|souvenez[- ]vous|te souvenir|vous souvenir|rappelle[- ]toi|rappelez[- ]vous|"
    r"retiens|retenez|retenir|"
    r"m[ée]morise[zr]?|note[zr]?|pren(?:ds|ez) (?:bonne |bien )?note|n'oublie[zr]? (?:pas|jamais)|"
    r"gard(?:e|ez|er) (?:bien )?(?:en t[êe]te|à l'esprit|en m[ée]moire)|enregistre[zr]?)"
    r"(?: bien| aussi| ceci| cela| ça| s'il te pla[iî]t| s'il vous pla[iî]t){0,2}(?:\s*:\s*|,?\s+(?:que\s+|(?=qu')))"
)
_SPANISH = (
    r"\b(?:recuerda|recuerde|recu[ée]rdame|recordar|acu[ée]rdate|no (?:te |se |lo |te lo )?olvides?|anota|anote|anotar|"
    r"apunta|apunte|apuntar|an[óo]tate|tom(?:a|e) nota|ten(?:ga)? (?:en cuenta|presente)|memori(?:za|ce|zar)|"
    r"guard(?:a|e|ar)(?: en (?:tu|mi|su) (?:memoria|perfil))?)"
    r"(?: bien| también| esto| eso| lo siguiente| por favor){0,2}(?:\s*:\s*|,?\s+(?:de\s+)?que\s+|\s+(?=de \w))"
)
_CHINESE_ASKS = (
    r"(?:[记記](?:住|得|录一下|一下|下[来來]?)|牢[记記]|(?:[别別]|不要)忘(?:了|[记記])?|[帮幫]我[记記](?:住|一下|下[来來]?)?|"
    r"(?:保存|存|加|写|添加)(?:到|进|入)(?:你的)?(?:长期)?[记記][忆憶](?:里|中)?)"
)
_CHINESE = rf"{_CHINESE_ASKS}(?:以下|这个|這個|这一点|一件事)?[：:，,、\s]{{0,3}}"
_JAPANESE_ASKS = (
    r"(?:覚えて|忘れないで|記憶して|記録して|心に留めて|頭に入れて|メモ(?:して|を?(?:取って|とって|お願い)|って))"
    r"(?:おいて|おけ|いて)?(?:ください|下さい|くれ|もらえ|いただけ|ほしい|欲しい)?(?:ね|よ|ますか|ませんか|です|します)?"
)
_JAPANESE = rf"{_JAPANESE_ASKS}[、:：,\s]{{1,3}}"

_WORDS = r"(?P<w>\S.+)\Z"
_BEHIND = f"{_ENGLISH}|{_GERMAN}|{_FRENCH}|{_SPANISH}|{_CHINESE}|{_JAPANESE}"
_FORMS = (
    rf"\b(?:save|store|record|add|put|write|log) (?!to |that )(?P<w>\S.{{1,200}}?) (?!in memory){_MEMORY_WORDS}\W*\Z",
    r"\b(?:keep|bear) (?P<w>\S.{1,200}?) in mind\W*\Z",
    rf"(?:{_BEHIND}){_WORDS}",
    (
        r"\A\W*+(?P<w>.{2,400}?)(?:\s*[,;—–]\s*|\s+(?:and|so)\s+)(?:so |and |but ){0,2}(?:please )?(?:remember|note|"
        r"(?:do not|don't|dont|never) forget|keep|bear|make a note of|memori[sz]e)(?: (?:that|this|it)(?: one)?)?"
        rf"(?: in mind| down)?{_WHEN}\W*\Z"
    ),
    (
        r"\A\W*+(?P<w>.{2,400}?)\s*[,;—–]\s*(?:bitte )?(?:merke? dir (?:das|es)|vergiss (?:das|es) nicht|"
        r"souviens-t'en|note-le|ne l'oublie pas|recu[ée]rdalo|an[óo]talo|no lo olvides)(?: bitte)?\W*\Z"
    ),
    (
        rf"\A\W*+(?P<w>.{{2,400}}?)[，,。；;\s]{{1,3}}(?:请|請|你|要|都|一定){{0,3}}{_CHINESE_ASKS}"
        r"(?:这个|这一点|这点|它|了|哦|啊){0,2}\W*\Z"
    ),
    (
        rf"\A\W*+(?P<w>.{{2,400}}?)(?:という(?:こと|事)[をは]|(?:こと|事|の)を|って|[、,をとは])?\s*"
        rf"(?:しっかり|必ず|ちゃんと|どうか)?{_JAPANESE_ASKS}\W*\Z"
    ),
)
_TAIL = lazy(
    r"(?:[\s,]+(?:please|thanks|thank you|thx|ok|okay|too|for (?:later|next time|the future|future reference)|bitte|"
    r"danke|merci|stp|svp|s'il te pla[iî]t|s'il vous pla[iî]t|por favor|gracias)){1,3}\W*\Z|[，,。\s]*谢谢\W*\Z",
    re.IGNORECASE,
)
_EDGES = " \t,;:.!?…—–-*_~。！？、，；：，"


@cache
def _form(number: int) -> re.Pattern[str]:
    return re.compile(_FORMS[number], re.IGNORECASE)


def place_of(request: str) -> tuple[int, int]:
    """Where the words stand that are to be remembered; nowhere (0, 0), where they cannot be told apart."""
    text = request.replace("’", "'")
    if len(text) > LONGEST:
        return 0, 0
    for number in range(len(_FORMS)):
        if found := _form(number).search(text):
            start, end = found.span("w")
            if tail := _TAIL.search(text[start:end]):
                end = start + tail.start()
            while end > start and text[end - 1] in _EDGES:
                end -= 1
            while start < end and text[start] in _EDGES:
                start += 1
            if start < end:
                return start, end
    return 0, 0


def wanted(request: str) -> str:
    """The words of a request that are to be remembered, as they were written."""
    start, end = place_of(request)
    return request[start:end]


# The forms of words that ask for memory or claim it, in six languages.

HINTS = (
    "remember reference note noting memor forg mind save saving stor record writ jot profil prefer keep "
    "merk notier notiz vergiss vergess denk behalt festg halt speicher schreib schrieb gedächtn souv "
    "rappel retien "
    "retenu retenez noté mémo oubli gard enregistr sauvegard recuerd recuérd acuérd olvid anot apunt apúnt "
    "anót cuenta "
    "present guard perfil notas record tendré 记 記 忘 保存 更新 覚 メモ 憶 留 頭 録 资料 档案 偏好 "
    "プロフィール user.md facts/"
).split()
"""A piece of every form below."""


def _either(*forms: str) -> str:
    return "|".join(forms)


_START = (
    r"(?:\A[^\w\"]*|[,;—–] ?|\b(?:please|pls|plz|and|but|so|also|then|ok|okay|hey|hi|yes|just|now|btw|"
    r"by the way|"
    r"to|you should|you must|kindly|always|one more thing|claude|assistant|bot|remember|p\.?s\.?),? )"
)
"""Where an order may begin: not after "do you", "I", or the name of a thing that remembers."""

_POLITELY = r"\b(?:can|could|would|will) you(?: please| kindly| just| also)* (?:try to |make sure to |be so kind and )?"
_WANTING = r"\bi(?:'d like| would like| want| need|'d want) you to (?:please |always |also )*"
_MINE = r"(?:that|this|these|it|my|our|i|i'm|i've|we|we're|the following)"

_ENGLISH_ASKS = _either(
    rf"{_START}remember(?: that| this| these| it| my| our| i\b| i'm| i've| we\b| to | for | the (?!time|day|"
    rf"good old|last "
    r"time|alamo)|:|, (?:i|my|we|our)\b| (?:not|never|always|all|both|what i|how i|where i|who|which|both)\b)",
    rf"{_WANTING}(?:remember|note|memori[sz]e|keep|save|store|forget|write)\b",
    r"\byou (?:need|have) to remember\b",
    r"\bplease (?:do )?(?:remember|note|memori[sz]e)\b(?! me\b)",
    rf"{_START}(?:take|make)(?: a)?(?: mental| quick)? note\b",
    rf"{_START}(?:note|jot|write) (?:(?:that|this|it|these|the following|my [\w ]{{1,30}}|"
    rf"[\w' ]{{1,40}}) )?down\b(?! the "
    r"(?:code|function|steps|query))",
    rf"{_START}note(?: that (?:i|i'm|i've|my|we|our|for)\b|:| for (?:later|next time|the future|future))",
    r"\bnote to self\b|\bfor (?:the |your )?future reference\b|\bfor (?:your|the) memory\b|"
    r"\bfor next time\b[,:]",
    rf"{_START}memori[sz]e\b(?! (?:the )?(?:function|result|selector|component))",
    rf"{_START}commit (?:this|that|it|my [\w ]{{1,30}}) to memory\b",
    rf"{_START}(?:do not|don't|dont|never) (?:ever )?forget\b(?! about it)",
    rf"{_START}(?:keep|bear) (?:[\w' ]{{1,40}} )?in mind\b",
    rf"{_START}keep (?:a )?(?:note|record|track) (?:of (?:this|that|my|the fact)|that)\b",
    rf"{_START}(?:save|store|record|put|add|write|log)\b[^.!?]{{0,80}}\b(?:to|in|into|on) "
    r"(?:your |my |the |long[- ]term |our )*(?:memory|memories|notes|profile|user\.md|facts/[\w-]+\.md)\b",
    rf"{_START}(?:save|store|record) (?:(?:the fact )?that (?:i|i'm|i've|my|we|our)\b|(?:this|that|it|these|"
    rf"my [\w ]{{1,30}}) "
    r"(?:for (?:later|next time|the future|future|me)\b)|(?:this|that|my) (?:preference|fact|info|"
    r"information|detail)s?\b)",
    rf"{_START}update (?:your |the )?(?:memory|notes)\b|{_START}update my profile\b",
)
_ENGLISH_POLITELY = _either(
    rf"{_POLITELY}(?:remember|note|memori[sz]e|keep in mind|bear in mind|make a note|take note|write down|"
    rf"jot down|save|"
    rf"store)(?: down)? (?:{_MINE}|for (?:later|me|next time)|in mind|of (?:that|this|my|it))\b(?! (?:name|"
    rf"birthday) ?\?)",
    rf"{_POLITELY}keep (?:this|that|it|my [\w ]{{1,30}}) in mind\b",
    rf"{_POLITELY}(?:save|add|put|store|write|record)\b[^.!?]{{0,80}}\b(?:to|in|into) (?:your |my |the )?"
    r"(?:memory|notes|profile)\b",
    rf"{_POLITELY}forget (?:that|what|everything|my|about my|about the)\b",
    r"\bkannst du dir (?:bitte |mal )?[^.!?]{0,80}merken\b|\bk(?:ö|oe)nnt(?:est du|en sie) (?:dir|"
    r"sich) [^.!?]{0,80}merken\b",
    r"\bkannst du (?:dir |bitte |das |mir ){1,4}(?:notieren|aufschreiben)\b",
    r"\b(?:peux-tu|pouvez-vous|pourrais-tu|pourriez-vous|tu peux) (?:stp |s'il te pla[iî]t )?(?:te souvenir|"
    r"vous souvenir|"
    r"retenir|noter|m[ée]moriser|garder en (?:m[ée]moire|t[êe]te))\b",
    r"\b(?:puedes|podr[ií]as|puede|podr[ií]a) (?:por favor )?(?:recordar|anotar|apuntar|guardar|"
    r"memorizar) (?:que|esto|eso|mi)\b",
    r"(?:能|可以)(?:帮我|请你)?(?:记住|记下|记一下)|(?:覚えて|メモして|記憶して)(?:おいて)?(?:くれ|もらえ|"
    r"いただけ|くださ)",
)
_FORGET_ASKS = _either(
    rf"{_START}forget (?:(?:about )?(?:my|our)\b|(?:the fact )?that (?:i|i'm|i've|my|we|our)\b|"
    rf"what i (?:said|told)|everything"
    r" (?:you know |i (?:said|told you) |about )|about the )",
    rf"{_START}(?:delete|remove|erase|drop|clear)\b[^.!?]{{0,80}}\bfrom (?:your |my |the )?(?:memory|"
    rf"memories|notes|profile)\b",
    r"(?:\A|[,;] ?|\bbitte )vergiss(?: bitte)?,? (?:dass|was ich|meine?n?|alles|den|die)\b",
    r"\b(?:l[öo]sche?|entferne) [^.!?]{0,60}aus (?:deinem|dem) (?:ged[äa]chtnis|profil)\b",
    r"(?:\A|[,;] ?|\b(?:pla[iî]t|alors),? )oublie[zr]? (?:que|ce que|mon|ma|mes|tout ce)\b",
    r"(?:\A|[,;] ?|\bfavor,? )(?:olvida|olvide) (?:que|lo que|mi|mis|todo lo)\b",
    r"(?:请|把)[^。！？]{0,20}忘(?:掉|了)|忘掉(?:我|关于)|(?:こと|話|情報|件)(?:は|"
    r"を)[^。]{0,6}忘れて(?:ください|くれ|。|\Z)",
)
_DE = r"(?:\A[^\w\"]*|[,;—–] ?|\b(?:bitte|und|also|dann|ok|okay|ja|aber|übrigens|nun),? )"
_FR = r"(?:\A[^\w\"]*|[,;—–] ?|\b(?:et|alors|donc|ok|oui|mais|pla[iî]t|svp|stp|bien),? )"
_ES = r"(?:\A[^\w\"]*|[,;—–] ?|\b(?:y|pues|entonces|ok|s[íi]|pero|favor),? )"
_OTHER_ASKS = _either(
    rf"{_DE}merke? (?:dir|es dir)\b|\bmerken sie sich\b|\bmerkt euch\b|\bbitte (?:[\w, ]{{0,60}})?merken\b",
    rf"{_DE}(?:notiere?|notieren sie)\b(?! (?:den|die|das) (?:code|funktion))|{_DE}schreib(?:e|"
    rf"en sie)? (?:dir |das |bitte |"
    r"mir ){1,4}auf\b",
    rf"{_DE}vergiss (?:bitte |ja )?(?:nicht|nie)\b|\bvergessen sie (?:bitte )?nicht\b|"
    rf"{_DE}denke? (?:bitte )?dar?an\b",
    rf"{_DE}behalte?\b[^.!?]{{0,60}}\bim (?:kopf|hinterkopf|ged[äa]chtnis)\b|"
    rf"{_DE}halte? (?:bitte )?fest, dass\b",
    rf"{_DE}speichere?\b[^.!?]{{0,60}}(?:, dass (?:ich|mein|wir|unser)|in deinem ged[äa]chtnis|"
    rf"in meinem profil)",
    rf"{_FR}(?:souviens[- ]toi|souvenez[- ]vous|rappelle[- ]toi|rappelez[- ]vous)\b",
    rf"{_FR}(?:retiens|retenez|m[ée]morise[zr]?)(?: bien)? (?:que|qu'|ceci|cela|ça|mon|ma|mes|le|la|les|:)",
    rf"{_FR}notez?(?: bien| aussi)? (?:que|qu'|ceci|cela|ça|mon|ma|mes|:)|{_FR}pren(?:ds|ez) (?:bien )?note\b",
    rf"{_FR}n'oublie[zr]? (?:pas|jamais)\b|{_FR}gard(?:e|ez)\b[^.!?]{{0,60}}\b(?:en t[êe]te|à l'esprit|"
    rf"en m[ée]moire)\b",
    rf"{_FR}enregistre[zr]? (?:que|qu'|[^.!?]{{1,60}} dans (?:ta|votre) m[ée]moire)",
    rf"{_ES}(?:recuerda|recuerde|recu[ée]rdame|recu[ée]rdalo)\b(?! a (?:un|una|cuando))|{_ES}acu[ée]rdate\b",
    rf"{_ES}no (?:te |se |lo |te lo )?olvides?\b|{_ES}(?:anota|anote|apunta|apunte|an[óo]ta(?:lo|te)|"
    rf"ap[úu]nta(?:lo|te))\b",
    rf"{_ES}tom(?:a|e) nota\b|{_ES}ten(?:ga)? (?:en cuenta|presente)\b|{_ES}memori(?:za|ce)\b",
    rf"{_ES}guard(?:a|e)\b[^.!?]{{0,60}}\ben (?:tu|mi|su) (?:memoria|perfil)\b|{_ES}guarda que\b",
    r"(?<!我)(?<!我会)(?<!能)(?<!没)(?<!要)[记記]住(?!了)|[记記]一下|[记記]下(?:来|來)|[帮幫]我[记記]|"
    r"[别別]忘|不要忘|牢[记記]",
    r"(?:\A|[，,。；;！] ?|请|請|也|都)[记記]得(?![^。！？]*[吗嗎么？])",
    r"(?:保存|存|加|写|添加)(?:到|进|入)(?:你的)?(?:长期)?[记記][忆憶]",
    r"覚えて(?:おいて|おけ|ください|下さい|ね|て\b|くれ|いてください|いて(?:ほしい|欲しい)|。|\Z)",
    r"忘れないで|記憶して(?:おいて|ください|。|\Z)",
    r"メモ(?:して|を?(?:取って|とって|お願い)|っておいて|っといて)|記録して(?:おいて|ください)|心に留めて|頭に入れて",
)
_MEMORY = _either(
    r"\b(?:memory|memories|profile|notes|preferences|user\.md|facts/[\w/-]+\.md|notebook|looseleaf)\b",
    r"\b(?:ged[äa]chtnis|profil|notizen|m[ée]moire|profile?|memoria|perfil|notas)\b|[记記][忆憶]|个人资料|"
    r"档案|偏好|メモリ|"
    r"記憶|プロフィール",
)
_LEAD = (
    r"\A[^\w]*(?:(?:got it|ok|okay|sure|sure thing|great|thanks|thank you|perfect|understood|all ?right|"
    r"done|all set|yes|"
    r"absolutely|of course|alles klar|gut|verstanden|danke|gerne?|super|d'accord|tr[èe]s bien|parfait|"
    r"entendu|compris|"
    r"merci|vale|perfecto|entendido|de acuerdo|claro|gracias|listo)[,;.!—– -]+(?:and )?)*"
)
"""How an answer begins before it comes to the point."""

_I_HAVE = r"\bi(?:'ve| have)(?: now| just| also| already| duly| gone ahead and| successfully)*"
_I_WILL = (
    r"\bi(?:'ll| will|'m going to| am going to|'ll try to)"
    r"(?: also| now| just| be sure to| make sure to| definitely| certainly| always| do my best to)*"
)
_FOR_YOU = "帮你|为你|替你|帮您|为您|将其"
FORMS: dict[str, str] = {
    "asks": _either(_ENGLISH_ASKS, _FORGET_ASKS, _OTHER_ASKS),
    "asks politely": _ENGLISH_POLITELY,
    "forgets": _either(
        r"\bforget\b|\b(?:delete|remove|erase|drop|clear)\b|\bvergiss\b|\bl[öo]sche?\b|\bentferne\b|\boubli|"
        r"\bolvid|忘",
    ),
    "keeps": _either(
        r"(?:n't|\bnot|\bnever|\bdont) (?:ever )?forget|\bvergiss (?:bitte |ja )?ni|"
        r"\bvergessen sie (?:bitte )?nicht|\bn'oubli|"
        r"\bno (?:te |se |lo |te lo )?olvid|[别別]忘|不要忘|忘れない|忘れずに",
    ),
    # Turns of phrase that nobody wants to have saved.
    "idle": _either(
        r"\b(?:remember|forget) to (?:breathe|smile|have fun|take (?:a )?breaks?|take care|drink|relax|eat|"
        r"sleep|rest|enjoy|"
        r"like and subscribe|vote)\b",
        r"\bforget (?:about )?it\b|\bremember me\b|\bremember(?: that| the)? (?:time|day|when|one time|guy|"
        r"movie|episode)\b",
        r"\bnote that down the\b|\bnever forgets?\Z|\bremember (?:that )?i (?:said|told you|asked you|mentioned)\b",
    ),
    "reported": _either(
        r"\b(?:said|says?|saying|asked|asks|told|tells|wrote|writes|reads|function|method|button|checkbox|"
        r"feature|option|"
        r"should|to make it|how (?:do|can|to)|why|sagte|schrieb|dit|dijo|demandé|pidió)\b",
        # Somebody else is to remember.
        r"\b(?:tell|remind|ask|want|need|get) (?!you\b|me\b|us\b|this\b|it\b)(?:the |an? |my |our )?[\w-]{1,30} t?\Z",
    ),
    "claims": _either(
        rf"{_LEAD}(?:duly |all )?noted\b(?! (?:above|below|earlier|in|by|that the|as)\b)",
        rf"{_I_HAVE} (?:noted (?:that (?:you|your)|this|it|your|down|that\b(?! the))|(?:got|have) (?:that|"
        rf"this|it) noted)\b",
        rf"{_I_HAVE} (?:made (?:a )?(?:mental )?note|taken note|remembered|memori[sz]ed|committed (?:that|"
        rf"this|it) to memory)\b",
        rf"{_I_HAVE} (?:written|jotted|wrote) (?:that|this|it|your [\w ]{{1,30}}) down\b|"
        rf"{_I_HAVE} (?:written|jotted) down\b",
        r"\bi made a (?:mental )?note\b|\bmaking (?:a )?note of\b|\bi'm (?:noting|remembering)\b",
        rf"{_I_WILL} (?:remember|memori[sz]e|(?:keep|bear) (?:[\w' ]{{1,40}} )?in mind|make (?:a )?note)\b",
        rf"{_I_WILL} note (?:that down|this|it|your|that you)\b",
        r"\bi (?:won't|will not|will never|shall not) forget\b",
        r"\bi(?:'ve| have)(?: now)? forgotten (?:that|your|about|it)\b",
        r"\b(?:memory|notes|profile|preferences) (?:has been |have been |was |is |are )?(?:now )?(?:updated|saved)\b",
        # German
        r"\bich hab(?:e|'s)?\b[^.!?]{0,80}\b(?:gemerkt|notiert|vermerkt|festgehalten|aufgeschrieben)\b",
        r"\bhabe? ich(?: mir)?\b[^.!?]{0,40}\b(?:gemerkt|notiert|vermerkt|aufgeschrieben)\b",
        rf"{_LEAD}(?:(?:das )?ist )?(?:notiert|gemerkt|vermerkt)\b",
        r"\bmerke (?:ich )?(?:es |das )?(?:mir|ich mir)\b|\bwerde (?:ich )?(?:mir )?[^.!?]{0,60}merken\b",
        r"\bwerde (?:ich )?[^.!?]{0,40}nicht vergessen\b|\bvergesse ich nicht\b",
        r"\bbehalte (?:ich )?[^.!?]{0,40}im (?:kopf|hinterkopf|ged[äa]chtnis)\b",
        # French
        r"\bj'ai (?:bien |d[ée]jà |aussi )?(?:not[ée]|retenu|m[ée]moris[ée]|pris (?:bonne |bien )?note)\b",
        rf"{_LEAD}(?:c'est |je l'ai )?(?:bien )?(?:not[ée]|enregistr[ée]|m[ée]moris[ée])\b(?! (?:que la|"
        rf"que le|par)\b)",
        r"\bje prends (?:bonne )?note\b|\bje (?:m'en|me) souviendrai\b|\bje (?:le )?(?:retiens|retiendrai)\b",
        r"\bje (?:le note|n'oublierai pas|ne l'oublierai pas|vais m'en souvenir|vais retenir)\b",
        r"\bje gard(?:e|erai)\b[^.!?]{0,40}\b(?:en t[êe]te|à l'esprit|en m[ée]moire)\b",
        # Spanish
        r"\bhe (?:anotado|apuntado|memorizado|tomado nota|registrado)\b",
        r"\bqueda (?:anotado|apuntado|guardado|registrado)\b|\btomo nota\b|\bno (?:lo |me )?olvidar[ée]\b",
        rf"{_LEAD}(?:ya )?(?:anotado|apuntado|lo (?:anoto|apunto))\b",
        r"\b(?:lo |me )?recordar[ée]\b|\b(?:lo )?tendr[ée] (?:\w+ )?(?:en cuenta|presente)\b",
        # Chinese, Japanese
        rf"(?:我|已经?|都|好的?，?)(?:{_FOR_YOU})?[记記](?:住|下|好)(?:来|來)?了|\A[^\w]*[记記](?:住|下|好)了",
        rf"我(?:会|會|将|一定)(?:一直)?(?:[记記]住|[记記]得|牢[记記])|我不会忘|"
        rf"已经?(?:{_FOR_YOU})?[记記](?:录|下|住)",
        r"覚え(?:ました|ておきます|ておきました|ておくね)|忘れません|心に留めて(?:おきます|おきました)",
        r"(?:記憶|メモ)し(?:ました|ておきます|ておきました)",
    ),
    # Said of memory, unless the sentence names something else.
    "saves": _either(
        rf"(?:{_I_HAVE}|\bi(?: just| also| now| already)?|{_I_WILL}|\bi'm) (?:sav(?:ed?|ing)|stor(?:ed?|"
        rf"ing)|record(?:ed|ing)?|"
        r"remembered) (?:that\b|this|it\b|your|these|those|both|all of|the (?:fact|preference|information|"
        r"detail|info))",
        r"\b(?:that|this|it|these|everything|all of that|your [\w' ]{1,30})"
        r"(?:'s been|'s| is| are| has been| have been| was| were)(?: now| also| all| safely)* "
        r"(?:saved|stored|noted|recorded|remembered)\b",
        rf"{_LEAD}(?:i )?(?:saved|stored|recorded|remembered)(?:\Z|[.!,—–:]| (?:that|this|it|your|to|in|for)\b)",
        rf"\bich hab(?:e|'s)?\b[^.!?]{{0,80}}\bgespeichert\b|{_LEAD}(?:das )?(?:ist )?gespeichert\b",
        r"\b(?:wurden?|ist|sind) (?:jetzt )?(?:gespeichert|notiert|vermerkt)\b",
        rf"\bj'ai (?:bien )?(?:enregistr[ée]|sauvegard[ée])|\bhe guardado\b|{_LEAD}(?:ya est[áa] )?guardado\b",
        rf"(?:已经?|我)(?:{_FOR_YOU})?保存(?:了|好|在|到|。|！|\Z)|(?:保存|記録)し(?:ました|ておき(?:ます|ました))",
    ),
    # Said of memory only where the sentence names it.
    "changes": _either(
        rf"(?:{_I_HAVE}|\bi(?: just| also| now| already)?|{_I_WILL}|\bi'm) (?:sav(?:ed?|ing)|stor(?:ed?|"
        rf"ing)|record(?:ed|ing)?|"
        r"add(?:ed|ing)?|updat(?:ed?|ing)|put(?:ting)?|written|writ(?:e|ing)|wrote|logged|jotted|noted|"
        r"remov(?:ed?|ing)|"
        r"delet(?:ed?|ing)|erased?|corrected|changed)\b",
        rf"{_LEAD}(?:added|updated|saved|stored|removed|deleted|written)\b",
        r"(?:\b(?:is|are|has been|have been|was)|'s been) (?:now )?(?:added|saved|stored|written|removed|"
        r"deleted|updated)\b",
        r"\bhabe?\b[^.!?]{0,80}\b(?:aktualisiert|hinzugef[üu]gt|gespeichert|eingetragen|gel[öo]scht|"
        r"entfernt|erg[äa]nzt)\b",
        r"\b(?:ist|wurde) (?:aktualisiert|gespeichert)\b|\bhe (?:actualizado|añadido|agregado|guardado|borrado)\b",
        r"\bj'ai (?:bien )?(?:mis à jour|ajout[ée]|enregistr[ée]|supprim[ée])",
        rf"(?:已经?|我)(?:{_FOR_YOU})?(?:更新|添加|加入|写入|删除)|(?:更新|追加|登録|削除)しました",
    ),
    # What was saved there is no memory: files, code, time, money.
    "work": _either(
        r"[\w-]+\.(?!md\b)[a-z]{1,5}\b(?=[\s`\"'),.!]|\Z)|\b(?:src|tests?|docs|tmp|home|output)/|/[\w-]+/|~/|"
        r"\bfiles?\b|\bscripts?\b|"
        r"\bfolder|\bdirectory|\bdisk\b|\bbranch|\bcommit|\bconfig|\bdatabase\b|\btable\b|\bdrafts?\b|"
        r"\bdocument|\bspreadsheet|"
        r"\bimages?\b|\bsettings\b|\bchanges\b|\bvariable|\bcache\b|\bcookie|\bcart\b|\breports?\b|[$€£%]|"
        r"\bpercent\b|\bminutes?\b|"
        r"\bhours?\b|\bdatei|\bordner|\bdatenbank|\bfichier|\bdossier|\barchivo|\bcarpeta|文件|代码|目录|"
        r"数据库|ファイル|"
        r"コード|フォルダ",
    ),
    "offers": _either(
        r"\b(?:if|once|when|after|unless|as soon as|until) you\b|\A(?:if|once|when|unless|should) |"
        r"\bwould you like\b|"
        r"\b(?:do you )?want me to\b|\b(?:should|shall|can|could|may|might|would) i\b|\bi (?:can|could|may|"
        r"might|would|should|"
        r"need to|'d)\b|\bi'd\b|\blet me know\b|\byou (?:can|could|should|might)\b",
        r"\b(?:soll|darf|kann|könnte) ich\b|\bich (?:kann|könnte|soll)\b|\bwenn du\b|\bfalls du\b|"
        r"\bje (?:peux|pourrais)\b|"
        r"\bsi (?:tu|vous)\b|\bpuedo\b|\bpodría\b|\bsi quieres\b|\bquieres que\b|\bveux-tu\b|\bvoulez-vous\b",
        r"需要我|要不要|我可以|可以帮|要我|如果|ましょうか|ことができます|できます|たら|よければ",
    ),
    "denies": _either(
        r"\b(?:haven't|have not|didn't|did not|couldn't|could not|can't|cannot|wasn't|was not|weren't|isn't|"
        r"is not|not been|"
        r"don't|do not|unable|failed|nothing|no longer|not yet|never saved|hasn't|has not)\b|\bnot (?:saved|"
        r"stored|written|noted)\b",
        r"\bi (?:won't|will not|will never) (?:save|store|remember|keep|note|record)\b|\bas noted\b|"
        r"\bnoted (?:above|below|earlier)\b",
        r"\b(?:nicht|nichts) (?:gespeichert|notiert|gemerkt|merken)\b|\bkonnte\b|\bpas (?:pu|not|enregistr|"
        r"sauvegard|retenu)|"
        r"\bn'ai pas\b|\bno (?:he|lo he|pude|puedo|se ha)\b",
        r"没有?(?:[记記]|保存)|未(?:保存|[记記])|无法|不能|ていません|ませんでした|できません",
    ),
    "memory": _MEMORY,
    "waits": _either(
        r"\b(?:review|approv\w*|confirm\w*|pending|waits?|waiting|your (?:ok|yes|permission))\b|\b(?:prüf|"
        r"bestätig|freigeb|freigab|"
        r"wart)|\b(?:attend|valid|confirm|approuv|relecture|revis|aprob|pendiente|esper)|审核|确认|批准|"
        r"等待|待你|確認|"
        r"承認|レビュー|待って",
    ),
    "filler": _either(
        r"\b(?:i'(?:ll|ve|m|d)|you're|it's|that's|i|you|your|my|our|we|me|it|its|that|this|these|those|"
        r"the|a|an|to|for|of|"
        r"in|on|is|are|was|has|have|been|be|will|can|could|would|please|pls|and|so|also|now|just|always|"
        r"never|ever|not|don't)\b",
        r"\b(?:got it|okay|ok|sure|great|thanks?|thank you|perfect|understood|all ?right|done|hey|yes|"
        r"all set|of course)\b",
        r"\b(?:remember(?:ed|ing)?|not(?:e|ed|ing)|sav(?:e|ed|ing)|stor(?:e|ed|ing)|record(?:ed)?|"
        r"add(?:ed)?|put|written|"
        r"write|down|updated?|keep|bear|mind|memori[sz]ed?|forg(?:e|o)t(?:ten)?|delete|deleted|removed?|"
        r"jot|jotted|make|made|"
        r"take|taken|commit|committed)\b",
        # Which word says that one likes or is called something tells little of what.
        r"\b(?:likes?|love|hate|prefer|want|use|using|called|name|live|work|am|do|user|heiße|heißt|mag|wohne|suis|aime|"
        r"m'appelle|llama|llamo|soy|gusta|prefiero|vivo)\b",
        r"\b(?:future|reference|later|next time|fact|going|forward|sessions?|conversations?|information|"
        r"info|details?|"
        r"preference|everything)\b",
        r"\b(?:ich|du|dir|mir|das|dass|es|bitte|danke|alles klar|merke?n?|gemerkt|notiert|notiere|"
        r"gespeichert|vergiss|nicht|"
        r"habe|werde|ist|wurde|dein|deine|künftig|zukunft|und)\b",
        r"\b(?:je|j'ai|tu|te|toi|me|m'en|que|qu'|c'est|noté|note|retiens|retenu|enregistré|souviens|"
        r"souviendrai|n'oublie|pas|"
        r"merci|d'accord|est|le|la|les|et|votre|ton|ta|vos|tes)\b",
        r"\b(?:lo|he|tu|mi|que|por|favor|vale|siempre|gracias|recuerda|recordaré|anota|anotado|apunta|"
        r"guardado|olvides|"
        r"olvida|no|en|cuenta|ten|tendré|el|y)\b",
        r"请|請|以后|好的?|谢谢|一下|我会|我已经?|已经?|[帮为替]你|[记記](?:住|得|下来|下|录)|"
        r"[别別]忘(?:了|[记記])?|保存|了|你的|我的?",
        r"覚えて(?:おいて|おきます|ください)*|覚えました|メモして(?:おいて|おきます)*|忘れないで|"
        r"保存しました|ください|はい|です|ます|"
        r"私[はの]|[このそ]の|こと",
    ),
    # What parts the things that a claim names, and how each of them begins.
    "between": r"(?i),? (?:and|as well as|plus|und|sowie|et|ainsi que|y) |[,;] (?:and |und |et |y )?",
    "thing": (
        r"(?i)(?:also )?(?:that |how |where )?(?:your|the|my|our|an?|both|deine?[nrs]?|ihre?[nrs]?|de[nrs]|die|das|tes|"
        r"ton|ta|vos|votre|les?|la|l'|tus?|sus?|el|los|las)\b(?! (?:way|rest|next|same|meantime|following|time)\b)"
    ),
}

READ = 20_000
"""Characters of one message that are looked at, from each end: the rest nobody wrote by hand."""


def requests_in(text: str) -> list[str]:
    """The sentences of a user's message that ask to remember, note or forget something."""
    read = _read(text)
    if not _may_promise(read.lower()) or not any(map(is_request, _sentences(read))):
        return []
    # Slow to load: only for what looks like a request.
    from looseleaf.language.own_words import own_words as unpasted

    ends = (text,) if read == text else (text[:READ], text[-READ:])
    return [each for each in _sentences("\n\n".join(map(unpasted, ends))) if is_request(each)]


def claims_in(text: str) -> list[str]:
    """The sentences of an assistant's message that say that something was, or will be, remembered."""
    text = _read(text)
    return [each for each in _sentences(text) if is_claim(each)] if _may_promise(text.lower()) else []


def _read(text: str) -> str:
    return text if len(text) <= 2 * READ else f"{text[:READ]}\n{text[-READ:]}"


def _sentences(text: str) -> Iterator[str]:
    from looseleaf.language.sentences import sentences

    return iter(dict.fromkeys(sentences(text)))


@cache
def _cue(name: str) -> re.Pattern[str]:
    """Compiled when it is first asked for: most commands never do."""
    return lazy(FORMS[name])


def _may_promise(words: str) -> bool:
    """Whether it has a piece that every promise has one of. Most texts have none, and need no more looking at: what
    reads sentences takes as long to load as a hook may take for all it does."""
    return any(hint in words for hint in HINTS)


def is_request(sentence: str) -> bool:
    from looseleaf.language.sentences import is_question, own_words

    words = own_words(sentence)
    if not _may_promise(words):
        return False
    found = _cue("asks politely").search(words)
    if found is None and not is_question(sentence):
        found = _cue("asks").search(words)
    if found is None or _cue("idle").search(words):
        return False
    return _cue("reported").search(words[: found.start() + 1]) is None


def asks_to_forget(request: str) -> bool:
    from looseleaf.language.sentences import own_words

    words = own_words(request)
    return _cue("forgets").search(words) is not None and _cue("keeps").search(words) is None


def is_claim(sentence: str) -> bool:
    from looseleaf.language.sentences import is_question, own_words

    if is_question(sentence):
        return False
    words = own_words(sentence)
    if not _may_promise(words) or _cue("offers").search(words) or _cue("denies").search(words):
        return False
    if _cue("claims").search(words):
        return True
    of_memory = _cue("memory").search(words) is not None
    if of_memory and _cue("changes").search(words):
        return True
    return bool(_cue("saves").search(words)) and (of_memory or _cue("work").search(words) is None)


def tells_of_waiting(text: str) -> bool:
    """Whether it says that something waits for a person."""
    return _cue("waits").search(_read(text).lower()) is not None


def bare(promise: str) -> str:
    """A promise without the words that make it one: what is left says what it is about."""
    from looseleaf.language.sentences import own_words

    words = own_words(promise)
    for name in ("memory", "filler"):
        words = _cue(name).sub(" ", words)
    return " ".join(re.sub(r"[^\w'.@/+#-]+", " ", words).split()).strip(" .'-")


def things_of(claim: str) -> list[str]:
    """The things that a claim names, if it names several: "your desk", "the deploy step". What comes behind them and is
    no thing ("so I'll know next time") ends them. Nothing, where they cannot be told apart."""
    from looseleaf.language.terms import terms

    first, *others = _cue("between").split(claim.replace("’", "'"))
    while others and not bare(first):
        first = others.pop(0)
    found = [bare(first)]
    for each in others:
        if not _cue("thing").match(each):
            break
        found.append(each.strip(" .!"))
    found = [each for each in found if bare(each) and terms(bare(each))]
    return found if len(found) > 1 else []


_SHARE = 3
"""One word of so many that a promise has must be in lines that bear on it; or so many, each a word by itself."""


def bears(promise: str, lines: str, *, sure: bool = False) -> bool:
    """Whether lines have to do with a promise: they share words with it, in any form. A promise that has none of its
    own, or is in another language than the lines, cannot be compared: it is given the benefit, unless it must be
    `sure`."""
    from looseleaf.language.terms import terms

    asked = set(terms(bare(promise))) if bare(promise) else set()
    if not asked or promise == lines:
        return not sure or bool(asked)
    shared = asked & set(terms(lines))
    if sure:
        return len(shared) * 2 > len(asked)
    is_alike = len(shared) * _SHARE >= len(asked) or sum(len(term) > 2 for term in shared) >= _SHARE
    return is_alike or _is_foreign(promise, lines)


def _is_foreign(promise: str, lines: str) -> bool:
    from looseleaf.language.terms import language

    if bool(_WIDE.search(promise)) != bool(_WIDE.search(lines)):
        return True
    tongue = language(promise)
    return tongue not in ("", "english") and language(lines) != tongue


_WIDE = lazy(r"[\u3040-\u30ff\u3400-\u9fff]", in_ascii=NEVER)
