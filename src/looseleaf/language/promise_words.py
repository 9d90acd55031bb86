"""The words of a request that are to be remembered: behind the asking ones, between them, or before them.

In six languages, and only cut out, never made up. No form can backtrack far: whatever repeats is bounded, and a
sentence that is longer than `LONGEST` is not cut.
"""

from __future__ import annotations

import re
from functools import cache

from looseleaf.text.patterns import lazy

LONGEST = 600
"""Characters of a request that somebody wrote by hand."""

_MEMORY = (
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
    rf"commit (?:this|that|it) to memory|(?:save|store|record|add|put|write|log){_IT}(?: {_MEMORY})?|"
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
    rf"\b(?:save|store|record|add|put|write|log) (?!to |that )(?P<w>\S.{{1,200}}?) (?!in memory){_MEMORY}\W*\Z",
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
