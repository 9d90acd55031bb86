"""Evidence: whether words say what somebody claims that they say.

A claim stands in one sentence: every word of it that means something, in the order of the sentence, with "not" in both
or in neither. Numbers, addresses and dates are the same to the last digit. Nothing here knows what a sentence means, so
a claim that only recombines the words of one sentence in their order can pass; one that adds a word, joins two
sentences, drops a "not", or leans on a question or on what is quoted cannot.

Everything takes time linear in the text.
"""

from __future__ import annotations

import re
from functools import lru_cache
from unicodedata import normalize

from looseleaf.core.synonyms import WHOSE
from looseleaf.core.words import american, plain, stem

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

_QUOTES = str.maketrans("’‘ʼ“”„«»「」『』", "'''\"\"\"\"\"\"\"\"\"")
_BLANKS = re.compile(r"[^\S\n]+")
_PARTS = re.compile(r"(?s).{1,1000}(?=\s)|.{1,1000}")


@lru_cache(256)
def spelled(text: str) -> str:
    """In one spelling: case, width, quotes and the number of spaces do not count. Lines stay lines.

    Kept, because many claims are held against the same text.
    """
    if not text.isascii():
        # A part at a time: normal form sorts marks that follow each other in quadratic time.
        text = "".join(normalize("NFKC", part) for part in _PARTS.findall(text)).casefold().translate(_QUOTES)
    return _BLANKS.sub(" ", text.casefold())


# --- words -----------------------------------------------------------------------------

_WIDE = "\u3005-\u3007\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
_WORD = re.compile(rf"[{_WIDE}]|(?:(?![{_WIDE}])[^\W_])+(?:'(?:(?![{_WIDE}])[^\W\d_])+)?")
_IS_WIDE = re.compile(f"[{_WIDE}]")

_TONGUES = """
english: englisch englische englischen anglais anglaise inglés inglesa 英语 英文 英語
german: deutsch deutsche deutschen allemand allemande alemán alemana 德语 德文 德語 ドイツ語
french: französisch französische français française francés francesa 法语 法文 法語 フランス語
spanish: spanisch spanische espagnol espagnole español española castellano 西班牙语 西班牙文 スペイン語
chinese: chinesisch chinesische chinois chinoise chino china 中文 汉语 漢語 中国語
japanese: japanisch japanische japonais japonaise japonés japonesa 日语 日文 日語 日本語
korean: koreanisch coréen coreano 韩语 韩文 韓語 韓国語
italian: italienisch italien italiano 意大利语 イタリア語
portuguese: portugiesisch portugais portugués 葡萄牙语 ポルトガル語
russian: russisch russe ruso 俄语 ロシア語
dutch: niederländisch néerlandais neerlandés holandés 荷兰语 オランダ語
mandarin: 普通话 国语
cantonese: kantonesisch cantonais cantonés 粤语 広東語
"""
_SAME = {
    word: name
    for name, words in (line.split(":") for line in _TONGUES.strip().splitlines())
    for word in words.split()
} | {word: name for word, name in WHOSE.items() if " " not in word}
"""Names of languages and of kin, in the one language in which relations are written."""
_SAME_WIDE = re.compile(
    "|".join(sorted((word for word in _SAME if _IS_WIDE.match(word)), key=len, reverse=True))
)

_FREE = frozenset(
    "a an and are as at be been by for from in instead into is it its of on or over since than that the their they to "
    "until use uses used using was when with always never not no do does don't doesn't am my your our i you we me 's "
    "der die das den dem des ein eine einen einem einer und oder am im zu von für mit auf nicht kein keine keinen immer "
    "nie le la les l un une des du de d et ou à au aux en pour avec pas ne jamais toujours el los las lo unos y o a al "
    "del con por para no nunca siempre 的 了 在 是 和 を は が に で と の も へ".split()
)
"""Words that a claim may hold though nobody said them: they claim nothing by themselves."""

_FREE_OF: dict[str, frozenset[str]] = {
    "language": frozenset(
        "prefers prefer answer answers answered discussion discuss code comments writes write replies talk conversation "
        "chat explanations documentation docs commit messages names".split()
    ),
    "prefers": frozenset({"prefers", "prefer"}),
    "decision": frozenset({"use", "uses", "using"}),
    "favourite": frozenset({"favourite", "favorite"}),
    "deadline": frozenset({"deadline"}),
}
"""More of them, for a relation that writes its objects in words of its own."""

_UNORDERED = frozenset({"language", "pet"})
_ENDINGS = frozenset(("", "e", "n", "en", "s", "es", "t", "te", "st", "em", "d", "ed", "ing", "r"))
_ROOT = 4


class _Word:
    """A word of a text: as it stands there, and in the form by which it is known again."""

    __slots__ = ("at", "form", "surface")

    def __init__(self, surface: str, at: int) -> None:
        self.surface, self.at = surface, at
        word = plain(surface.removesuffix("'s"))
        self.form = _SAME.get(surface) or stem(american(_SAME.get(word, word)))


def _words(text: str) -> list[_Word]:
    text = _SAME_WIDE.sub(lambda found: f" {_SAME[found[0]]} ", text)
    return [_Word(found[0], found.start()) for found in _WORD.finditer(text)]


def _is_kin(claimed: _Word, said: _Word) -> bool:
    """Whether two words are one but for their endings. Numbers have none."""
    if claimed.form == said.form:
        return True
    one, other = claimed.surface, said.surface
    if one[:_ROOT] != other[:_ROOT] or len(one) < _ROOT or not (one.isalpha() and other.isalpha()):
        return False
    size = next((at for at, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), min(len(one), len(other)))
    return size >= _ROOT and one[size:] in _ENDINGS and other[size:] in _ENDINGS


# --- sentences -------------------------------------------------------------------------

_END = re.compile(
    r"(?<=[^\W_]{3})[.!?…]+[\"')\]]*(?=\s)|(?<=[^\w\s])[.!?…]+(?=\s)|[!?]+(?=\s)|[。！？｡]+"
    r"|\n[ \t]*\n|\n(?=[ \t]*(?:[-*+>#|]|\d{1,3}[.)])[ \t])|\n(?=>)"
)
"""Not after a short word: "Dr. Meyer" is one name."""

_SHORT_LINE = 60
_REACH = 600
"""Characters on either side of a quote that are looked through for the ends of its sentence."""


def _sentences(text: str) -> Iterator[str]:
    """Of spelled text, each with the mark that ends it. A line that breaks off early ends one as well."""
    start = 0
    for end in _END.finditer(text):
        yield from _lines(text[start : end.end()])
        start = end.end()
    yield from _lines(text[start:])


def _lines(sentence: str) -> Iterator[str]:
    if "\n" not in sentence.strip():
        yield sentence
        return
    made: list[str] = []
    for line in sentence.split("\n"):
        made.append(line)
        if len(line) < _SHORT_LINE:
            yield " ".join(made)
            made = []
    if made:
        yield " ".join(made)


def around(text: str, start: int, end: int) -> str:
    """The sentences of spelled text in which a stretch of it stands: who cuts "not" off a quote gains nothing."""
    first = max(0, start - _REACH)
    before = text[first:start]
    begin = max((found.end() for found in _END.finditer(before + " ")), default=0)
    begin = max(begin if begin <= len(before) else len(before), before.rfind("\n") + 1 if _is_short(before) else 0)
    after = _END.search(text, max(end - 1, start), min(len(text), end + _REACH))
    stop = after.end() if after else min(len(text), end + _REACH)
    line = text.find("\n", end, stop)
    return text[first + begin : line if line >= 0 else stop]


def _is_short(before: str) -> bool:
    """Whether the last whole line ends where a thought does, and not where the page was full."""
    lines = before.split("\n")
    return len(lines) > 1 and len(lines[-2]) < _SHORT_LINE


# --- what a sentence does not say ------------------------------------------------------

_IDIOM = re.compile(
    r"\b(?:do not|don't|dont|never|nie) (?:forget|you forget|worry|mind)\b|\bvergiss (?:bitte )?nicht\b|\bn'oublie[zs]? pas\b"
    r"|\bno (?:te )?olvides\b|\bnot (?:only|just)\b|\bno (?:problem|worries|doubt|matter)\b|\bwhy not\b|\bcan't wait\b"
    r"|\bnicht nur\b|\bpas seulement\b|\bno solo\b|别忘了?|別忘了?|不要忘记|忘れないで|不仅|不但|不错|^\W*(?:no|nope|nein|non|nah)\b"
    r"|\bif not\b|\bor not\b"
)
"""What has the form of a negation and is none."""
_NEGATIVE = re.compile(
    r"\b(?:no|not|never|none|nobody|nothing|without|avoid|avoids|stop|stopped|cannot|cant|can't|dont|doesnt|wont|isnt|nor"
    r"|quit|refuse|instead of|rather than|no longer|nie|niemals|nicht|kein\w{0,3}|ohne|ne|n'\w+|pas|jamais|sans|aucune?|no"
    r"|nunca|jamás|sin|tampoco|ya no)\b|n't\b|不|别|別|没|沒|无|無|勿|禁|ない|なく|なし|ません|まない|ず(?:に|、)"
)
_AVERSE = re.compile(
    r"\b(?:hat(?:e|es|ed|ing)|dislik\w+|loath\w+|despis\w+|detest\w*|stand|averse|annoy\w*|allergic|hass(?:e|t)|verabscheu\w+"
    r"|détest\w+|déteste|horreur|odi(?:o|a)|detest(?:o|a)|aborrezco|sick of|tired of|fed up|worst|gross|awful|terrible"
    r"|least|drives? me|bother\w*|irritat\w+|nerv\w+)\b|讨厌|討厭|恨|怕|嫌|苦手|受不了"
)
_OVER = re.compile(
    r"\b(?:used to|quit|stopped?|gave up|given up|left|ended?|over|finished|former\w*|ex|any ?more|no longer|cancel\w*|sold"
    r"|broke up|divorced|died|gone|früher|nicht mehr|kein\w{0,2} mehr|aufgehört|gekündigt|plus|arrêté|quitté|ya no|dejé"
    r"|dejado|antes|scrap\w*|drop\w*|forget|lost|retired|resigned|not|n't|never|done with|moved)\b|n't\b|不再|已经不|戒了"
    r"|辞|不|没|もう|やめ|ない|ません|取消|了"
)
_APART = re.compile(
    r"[,;:()，、；：（）]|\s[-–—]+\s|\b(?:but|yet|instead of|rather than|instead|rather|not|aber|sondern|mais|pero|sino|statt|als)\b"
    r"|但是?|而是?|不是|けど|でも"
)
"""Where a clause ends, and with it what a "not" is said of."""

_UNREAL = re.compile(
    r"\b(?:imagine|suppose|supposing|pretend|let's say|what if|hypothetically|for example|e\.g\.|stell dir vor|angenommen"
    r"|zum beispiel|imaginons|supposons|par exemple|imagina|supongamos|por ejemplo)\b|假设|假如|想象|比如|例えば|もしも|仮に"
)
_ASKS = re.compile(r"[?？][\s\"')\]]*$")
_REQUESTS = re.compile(
    r"\b(?:can|could|would|will) (?:you|we)\b|\bkannst du\b|\bkönntest du\b|\bpeux-tu\b|\bpourrais-tu\b|\bpuedes\b|\bpodrías\b"
    r"|\bremember\b|可以|能不能|くれ|もらえ|ください"
)
_QUOTED = re.compile(r"\"[^\"\n]{1,600}\"|(?<![\w])'[^'\n]{12,600}'(?![\w])")
_WORDS_OF_ANOTHER = 4
"""So many words in quotation marks are somebody else's; fewer are a name."""


class _Clauses:
    """A sentence by its clauses: which of them deny something."""

    def __init__(self, sentence: str) -> None:
        sentence = _IDIOM.sub(lambda found: "·" * len(found[0]), sentence)
        self._starts = [0]
        for found in _APART.finditer(sentence):
            # Words that divide belong to what follows them: "not" denies what comes, and not what came.
            self._starts.append(found.start())
        parts = [
            sentence[start:stop]
            for start, stop in zip(self._starts, [*self._starts[1:], len(sentence)], strict=True)
        ]
        self.denies = [_NEGATIVE.search(part) is not None for part in parts]
        self.dislikes = [_AVERSE.search(part) is not None for part in parts]
        self._carry()

    def _carry(self) -> None:
        """In a list ("no eggs, milk or nuts") and after "but not" a clause of few words shares its neighbour's "not"."""

    def of(self, at: int) -> int:
        from bisect import bisect_right

        return bisect_right(self._starts, at) - 1
