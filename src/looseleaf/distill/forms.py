"""Forms of forbidding: what the selector is shown of a sentence that may forbid, besides its words.

Each is a sign and decides nothing: its weight was learnt.
"""

from __future__ import annotations

import re

from looseleaf.core.lazy import lazy

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

_I = re.IGNORECASE

_FORBIDS = lazy(
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


_TIMES = 5
"""A form counts like so many words: it tells more than one of them."""


def forms_of(text: str) -> Iterator[str]:
    """The names of the forms that a sentence has, and of those that it has together."""
    found = [name for name, form in _FORMS if form.search(text)]
    for number in range(_TIMES):
        yield from (f"{name} {number}" for name in found)
    if len(found) > 1:
        yield " ".join(found)


def is_formed(text: str) -> bool:
    """Whether a sentence has a form by which people forbid, and none that speaks against it."""
    return _FORBIDS.search(text) is not None and _KEEPS.search(text) is None and not is_of_work(text)


def is_of_work(text: str) -> bool:
    """Whether a sentence is about files, code or text, not about memory ("delete that function")."""
    return _OF_WORK.search(text) is not None and _OF_MEMORY.search(text) is None


_FORMS = (("forbids", _FORBIDS), ("keeps", _KEEPS), ("of work", _OF_WORK), ("of memory", _OF_MEMORY))
