"""How work ends in talk: what was asked for, what is done, what was learnt; and which open task a sentence closes.

The cues are forms of words in six languages. A task is closed by a sentence that says something is done and shares
nearly all of the task's own words; where that is doubtful it stays open.
"""

from __future__ import annotations

from looseleaf.language.sentences import is_question, is_task, own_words
from looseleaf.text.patterns import NEVER, lazy

_DONE = lazy(
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
    return bool(_DONE.search(words)) and not _UNDONE.search(words)


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
_WIDE = lazy(r"[\u3041-\u30ff\u3400-\u9fff]{2,}", in_ascii=NEVER)
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
    wide = {run[place : place + 2] for run in _WIDE.findall(lowered) for place in range(len(run) - 1)}
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
