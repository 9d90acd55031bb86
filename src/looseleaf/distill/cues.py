"""Cues: a sentence as tokens, and the words of classes such as forgetting, keeping, secrecy, quoting among them.

The classes are lists of words in ten languages (`data/cues.txt`). Their order and distance inform the selector even
where it has never seen the words themselves.
"""

from __future__ import annotations

import re
from functools import cache, lru_cache
from itertools import islice, pairwise
from pathlib import Path

from looseleaf.text.patterns import lazy

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence


# --- forms of forbidding: features of a sentence beside its words -----------------------

_I = re.IGNORECASE

_FORBIDS = lazy(
    r"\b(?:don'?t|do not|never|please don'?t|no need to|rather not|not to|shouldn'?t|"
    r"mustn'?t)\b[^.!?]{0,25}\b(?:remember|save|store|memori[sz]e|"
    r"record|retain|keep|note|log|write)\b[^.!?]{0,12}\b(?:this|that|it|my|what|down|these|in "
    r"(?:your )?memory|any(?:thing)?(?:(?: \w+)? (?:of|about|on|i)\b|\W*\Z))"
    r"|\A\W*(?:please |ok,? |so )?forget (?:about )?(?:my|our|"
    r"that (?:i|my|we|(?-i:[A-Z])\w*)|th(?:at|is)\W*\Z|(?:where|how|when|who|what) (?:i|my|our|we)|project|"
    r"(?-i:[A-Z])\w+)(?:\b|\Z)|"
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
    r"|\bn(?:e |')(?:retiens|retenez|mémorise|note|garde|enregistre|conserve|archive|écris)\w*\b[^.!?]{0,20}"
    r"\b(?:pas|rien)\b|\bentre nous\b|\boublie(?:z)? (?:que|ce que|tout|mon|ma|mes|cette|cet|ces|l'histoire)\b"
    r"|\bno (?:lo |la |me |te |le )?(?:guardes?|recuerdes?|anotes?|memorices?|apuntes?|registres?)\b|"
    r"\bentre (?:nosotros|tú y yo|tu y yo)\b|"
    r"(?<!\bme )\bolv[ií]d[ae](?:te|se)? (?:de )?(?:que|lo que|todo|mi|eso|esto)\b"
    r"|\bnão (?:guard|salv|lembr|memoriz|anot|regist)\w*\b|\b(?:fica )?entre (?:nós|a gente)\b|"
    r"\besque[cç][ea] (?:d?[ao]s? )?(?:que|tudo|meus?|minhas?|isso|isto)\b"
    r"|\bnon (?:\w+ )?(?:ricordar|salvar|memorizzar|segnar|annotar|tenere|registrar|appuntar)\w*\b|"
    r"\b(?:resti )?tra (?:noi|me e te)\b|\b(?:dimentica|scorda)(?:ti)? (?:che|quello|tutto|di|il|la|mio|mia)\b"
    r"|\b(?:onthoud|bewaar|noteer|sla)\b[^.!?]{0,20}\b(?:niet|nergens)\b|\b(?:onder|tussen) ons\b|"
    r"\bvergeet (?:dat|wat|alles|maar dat|mijn)\b"
    r"|(?:别|別|不要|勿|不用|不必)[^。！？]{0,6}(?:记|記|存|保存|写进|留)|(?:忘掉|忘了|删掉|删除|刪掉)[^。！？]{0,12}(?:我|关于|關於|记忆|吧)|把我[^。！？]{1,12}(?:删|刪|忘|抹)|保密|私下说|我们之间"
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
"""Whatever must not be forgotten is to be kept."""

_OF_WORK = lazy(
    r"[`{};]|\(\)|\w\.(?:py|js|ts|go|rs|java|md|txt|json|ya?ml|html|css|sh|sql)\b|\b(?:functions?|files?|"
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
"""A form counts as this many words, because it tells more than a word does."""


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
    r"nimm|merk\w*|oublie\w*|efface\w*|supprim\w*|enlève|retire|vire|ne|olv[ií]d\w*|borr\w*|elimin\w*|quita|"
    r"no|esque[cç]\w*|apag\w*|"
    r"remov\w*|tir[ae]|não|dimentic\w*|scord\w*|cancell\w*|togli|rimuov\w*|non|vergeet|wis|verwijder\w*|schrap|haal|laat)\b"
    r"|(?:忘|删|刪|清除|抹|别|別|不要|消し|消して|削除|忘れ|잊|지워|삭제|빼|없애)",
    _I,
)
"""An order to the reader: not one to another person, and not something the user does."""

_ELSE = lazy(
    r"\b(?:everything|anything|all|stuff) (?:with|containing|that (?:has|contains))\b|\bfrom (?:the|my|our|"
    r"this) (?!memory|notes|"
    r"record|profile|file)\w+|, (?:let'?s|i(?:'ll| will| already| have| just)|we(?:'ll| will| already)) \w+",
    _I,
)
"""Removals from a list, a plan or a table; and things given up for others."""

_POLITE = lazy(
    r"\W*(?:hey |hi |ok |so |and |please )?(?:can|could|would|will|please|kannst|könntest|könnten|peux|pourrais|"
    r"pourriez|puedes|podrías|podría|pode|poderia|puoi|potresti|kun|kunt|zou)\b|もらえ|くれ|いただけ|ください|줄래|줘|주세요|주실|能|可以|请|請|麻烦|帮",
    _I,
)
"""A question that is an order."""

_SUPPOSES = lazy(
    r"\b(?:if|whether|what if|in case|wenn|falls|ob|als je|si je|si tu|si te|se eu|se io|se ti)\b|如果|要是|もし|만약",
    _I,
)
_REPORTS = lazy(
    r"\W*(?:i (?:\w+ )?(?:told|asked|forgot|can'?t|cannot|don'?t remember)|(?:he|she|they|it|nobody|everyone)\b|"
    r"(?:my|our|the|his|her) \w+ (?:must|may|might|should|shouldn'?t|can|can'?t|wants?|has|told|asked|said|says)\b|"
    r"(?-i:[A-Z])\w+ (?:must|should|can'?t|wants?|told|asked|said|says|forgot)\b|it would|not sure|don'?t remember if|"
    r"sorry that|ignore all|(?:ich|je|yo|eu|io|ik) (?:kann|habe?|ne peux|no puedo|não consigo|non riesco|kan)\b)",
    _I,
)
_HABIT = lazy(
    r"\b(?:i|we)(?: \w+)? (?:do not|don'?t|never) (?:\w+ )?(?:keep|save|store|write|record|note|log)\b|"
    r"\b(?:i|we)(?:'d| would) rather not (?:keep|lose|drop)\b|\b(?:i|we)(?: \w+)? (?:often|usually|sometimes|always)\b",
    _I,
)
"""Things that the user does or does not do, as a rule."""
_OTHERS = lazy(
    r"\b(?:lyrics|film|movie|song|role ?play|fwd|last words|todo|practi[sc]e)\b|"
    r"\b(?:don'?t|do not|never)\b[^.!?]{0,12}\b(?:lose|drop)\b",
    _I,
)
"""Reports of forgetting, and words of others."""
_CLAUSE = lazy(r"[,;.!?—–] *|\s-\s")
_NAME = lazy(r"\W*[A-ZÄÖÜ][\w'-]+")
_TO_ANOTHER = lazy(
    r"\W*(?!(?:Hey|Hi|Ok|Okay|Please|Actually|Sorry|Oh|And|But|So|No|Wait|Well|Also|Look|Listen|Yes|Yeah|"
    r"Bitte|Ach|Übrigens|Mais|Finalement|Alors|Bon|Pero|Bueno|Oye|Mas|Olha|Ma|Scusa|Senti|Maar)\b)"
    r"[A-ZÄÖÜ][\w'-]+, "
)
"""A name before a comma: the person spoken to."""
_OTHERWISE = lazy(
    r"\bbetween us (?:and|men|women|two (?:and|lies)|all)\b|\b(?:einer?|jemand|viele) unter uns\b|"
    r"\b(?:deal|contract|agreement|meeting|call|thread|tension|distance|difference|wall|gap|things|history|bad blood)"
    r" between us\b|\b(?:a|an|one|two|three|\d+) (?!(?:\w+ )?secret)(?:\w+ ){1,3}between us\b|"
    r"\bleave (?:it|that|this|them) (?:blank|empty|open|as (?:it|they|is))\b|"
    r"\b(?:he|she|they|(?:the|a|my|our) \w+) (?:\w+ )?(?:spoke|said|told|talked|commented|went)"
    r" (?:\w+ ){0,3}off the record\b|"
    r"\b(?:you (?:can|may|could|should)|feel free to|ok(?:ay)? to|fine to) (?:\w+ )?(?:store|save|remember|keep|note|"
    r"record|memori[sz]e) (?!(?:\w+ )?(?:to yourself|between|secret|private|off|quiet|nothing|no ))"
    r"|\b(?:in|into|to|on|from) (?:the |our |my |this |its )?(?:local ?storage|docs?|documentation|jira|readme|wiki|"
    r"changelog|cache|cookies?|repo\w*|git\w*|logs?|logfile|config\w*|redis|s3|bucket|spreadsheet|slides?|tickets?|"
    r"backlog|calendar|tracker|notion|confluence|slack)\b|\bbetween the (?:two|three|services?|teams?|modules?)\b"
    r"|\b(?:session|token|state|password|cookie)s? (?:must|should|may|can) ?not be \w+|\bpersist the\b",
    _I,
)
"""Words of a form in another sense, and permission to remember."""


def may_be_order(text: str) -> bool:
    """Return True if a sentence can be an order to the memory: it asks nothing, supposes nothing, reports no orders."""
    is_question = text.rstrip().endswith(("?", "？")) and _POLITE.search(text) is None
    return not is_question and may_be_told(text)


def may_be_told(text: str) -> bool:
    """Do the same as `may_be_order`, but allow a question mark: "unsay the wifi thing, ok?" only looks like a
    question."""
    if _REPORTS.match(text) or _HABIT.search(text) or (_TO_ANOTHER.match(text) and not _ORDER.match(text)):
        return False
    return not any(form.search(text) for form in (_SUPPOSES, _OTHERS, _ELSE, _KEEPS))


def is_order(text: str, clauses: int = 99) -> bool:
    """Return True if a sentence, or one of its first clauses, begins with an order. A name before a comma is another
    person, who is spoken to."""
    if is_of_work(text):
        return False
    joints = (joint for joint in _CLAUSE.finditer(text) if not _NAME.fullmatch(text[: joint.start()]))
    starts = (0, *(joint.end() for joint in islice(joints, clauses)))
    return any(_ORDER.match(text, start) for start in starts)


_THAT_I = lazy(
    r"\b(?:that (?:i|i'm|i've|im|we|my)|dass (?:ich|wir|mein)|que (?:je|j'|on|mon|ma|yo|mi|eu|meu|minha)|"
    r"che (?:io|mio|mia|ho|sono)|dat (?:ik|we|wij|mijn))\b",
    _I,
)


def says_what(text: str) -> bool:
    """Return True if an order says in a clause what to forget: "that I play chess"."""
    return _THAT_I.search(text) is not None


def forms_of(text: str) -> Iterator[str]:
    """Yield the names of a sentence's forms, each several times, and joined if there are two."""
    found = [name for name, form in _FORMS if form.search(text)]
    for number in range(_TIMES):
        yield from (f"{name} {number}" for name in found)
    if len(found) > 1:
        yield " ".join(found)


def is_formed(text: str) -> bool:
    """Return True if a sentence has a form of forbidding, and none that speaks against it."""
    has_form = _FORBIDS.search(text) is not None or _POLITELY.match(text) is not None
    return has_form and _KEEPS.search(text) is None and not is_of_work(text)


def is_meant_otherwise(text: str) -> bool:
    """Return True if a sentence has the words of a form in another sense ("the deal between us and them"), or gives
    permission."""
    return _OTHERWISE.search(text) is not None


def is_of_work(text: str) -> bool:
    """Return True if a sentence is about files, code or text, not about memory ("delete that function")."""
    return _OF_WORK.search(text) is not None and _OF_MEMORY.search(text) is None


_POLITELY = lazy(r"\W*(?:bitte )?vergessen sie (?:bitte )?(?:mein\w*|unser\w*|dass|was|alles)\b", _I)
"""Forms that no author of the training data used: they count, though the selector has learned nothing of them."""

_FORMS = (("forbids", _FORBIDS), ("keeps", _KEEPS), ("of work", _OF_WORK), ("of memory", _OF_MEMORY))

READ_CHARS = 1200
READ_TOKENS = (70, 20)
"""The tokens read at the beginning and the end of a longer sentence."""

_WIDE = "\u3041-\u30ff\u3400-\u9fff\uac00-\ud7af"
_TOKEN = lazy(
    rf"[{_WIDE}]|(?:(?![{_WIDE}])[^\W\d_])+(?:['’](?:(?![{_WIDE}])[^\W\d_])+)*|\d+|[^\w\s]",
    in_ascii=r"[^\W\d_]+(?:'[^\W\d_]+)*|\d+|[^\w\s]",
)


def is_wide(word: str) -> bool:
    """Return True if a word begins with a character of a script without spaces."""
    return "\u3041" <= word[0] <= "\ud7af"


def tokens_of(text: str) -> Sequence[str]:
    """Split a text into words in lower case, single characters of scripts without spaces, and marks; a number becomes
    one `0` per digit, at most four."""
    return tokens_and_cues(text)[1]


def tokens_and_cues(text: str) -> tuple[list[str], list[str], list[tuple[int, str]]]:
    """Return the tokens of a text as written and in lower case, and its cues; of a long text only a part."""
    return _read_tokens(text[:READ_CHARS])


@lru_cache(256)
def _read_tokens(text: str) -> tuple[list[str], list[str], list[tuple[int, str]]]:
    """Cached, because each sentence is looked up several times."""
    cased = _TOKEN.findall(text.replace("’", "'"))
    first, last = READ_TOKENS
    if len(cased) > first + last:
        cased = cased[:first] + cased[-last:]
    tokens = ["0" * min(len(token), 4) if token.isdigit() else token.lower() for token in cased]
    return cased, tokens, _cues_of(tokens)


# --- cues ------------------------------------------------------------------------------

CUES = Path(__file__).parents[1] / "data/distill/cues.txt"
_STEM = 4
_ORDERS = frozenset({"edit", "play", "by"})
"""The classes of cues that also bear on other sentences of a message: whose words these are."""


@cache
def _load_cues() -> tuple[dict[str, str], list[tuple[str, str, str]], list[tuple[str, str]]]:
    """Return word → class; the first letters of a word, its beginning and class; strings of scripts without spaces and
    class."""
    words: dict[str, str] = {}
    stems: list[tuple[str, str, str]] = []
    wide: list[tuple[str, str]] = []
    for line in CUES.read_text(encoding="utf-8").splitlines():
        name, colon, told = line.partition(":")
        if not colon or line.startswith("#"):
            continue
        for word in told.split():
            if is_wide(word):
                wide.append((word, name))
            elif word.endswith("*"):
                stems.append((word[:_STEM], word[:-1], name))
            else:
                words.setdefault(word, name)
    return words, stems, wide


@lru_cache(8192)
def _class_of(word: str) -> str:
    words, stems, _ = _load_cues()
    found = words.get(word)
    if found is None and len(word) >= _STEM:
        head = word[:_STEM]
        found = next((name for first, stem, name in stems if first == head and word.startswith(stem)), None)
    return found or ""


def cues_of(text: str) -> Sequence[tuple[int, str]]:
    """Return the places of a sentence's cues (by token; in scripts without spaces, by character), and their classes."""
    return tokens_and_cues(text)[2]


def _cues_of(tokens: Sequence[str]) -> list[tuple[int, str]]:
    found = [(at, name) for at, token in enumerate(tokens) if (name := _class_of(token))]
    if any(map(is_wide, tokens)):
        text = "".join(tokens)
        found += [(at, name) for word, name in _load_cues()[2] if (at := text.find(word)) >= 0]
        found.sort()
    return found


_NEAR = 4


def cue_features(cues: Sequence[tuple[int, str]]) -> Iterable[str]:
    """Return the cues of a sentence, and which stand together, in which order and how near."""
    names = sorted({name for _, name in cues})
    for name in names:
        yield f"cue {name}"
    for at, first in enumerate(names):
        for second in names[at + 1 :]:
            yield f"cues {first} {second}"
    for (at, first), (then, second) in pairwise(cues):
        yield f"cue {first} > {second} {then - at <= _NEAR}"
    for at, name in cues[:1]:
        if at < 3:
            yield f"cue ^ {name}"


def cue_words(text: str, classes: frozenset[str]) -> list[str]:
    """Return the words of a text that are cues of these classes."""
    tokens = tokens_of(text)
    found = [token for token in tokens if _class_of(token) in classes]
    if any(map(is_wide, tokens)):
        found += [word for word, name in _load_cues()[2] if name in classes and word in text]
    return found


_FORBIDDING = frozenset({"forget", "hold", "place", "secret", "told", "deny"})
"""Nearly every sentence that forbids has a word of one of these classes, or two words of `share` ("between us")."""


def has_forbidding_word(text: str) -> bool:
    return may_forbid(cues_of(text))


def may_forbid(cues: Sequence[tuple[int, str]]) -> bool:
    names = [name for _, name in cues]
    return not _FORBIDDING.isdisjoint(names) or names.count("share") > 1


def says_to_forget(text: str) -> bool:
    """Return True if a sentence has a word of forgetting, secrecy or denial, or a negated word of keeping."""
    names = {name for _, name in cues_of(text)}
    return not names.isdisjoint({"forget", "secret", "deny"}) or {"hold", "not"} <= names


def has_orders(text: str) -> bool:
    """Return True if a sentence mentions others' writing, role-play or fiction."""
    return any(name in ("by", "play") for _, name in cues_of(text))


def orders_of(sentences: Sequence[str]) -> list[str]:
    """Return, for each sentence of a message, which of `_ORDERS` the sentences before it have, and those after it."""
    each_has = [{name for _, name in cues_of(text)} & _ORDERS for text in sentences]
    made: list[str] = []
    for at in range(len(sentences)):
        before = set().union(*each_has[:at]) if at < _FAR else set().union(*each_has[at - _FAR : at])
        behind = set().union(*each_has[at + 1 : at + 1 + _FAR])
        made.append(
            " ".join([*sorted(f"{name}<" for name in before), *sorted(f"{name}>" for name in behind)])
        )
    return made


_FAR = 12
"""The number of sentences before and after one that are searched for an order."""
