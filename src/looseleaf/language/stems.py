"""A word as it is indexed: its language, its stem, its letters folded. `fold(fold(x)) == fold(x)`.

A script other than Latin tells the language by itself; among Latin ones the stop words of a text, then its letters and
its endings do. One stop word is not enough, since it may be an English word or a name (car, war, Tom, Los Angeles). A
text that tells nothing is taken for English. The stemmer sees a word with its accents, and they are
folded afterwards, so that `Häuser` and `haus`, `préparé` and `prepare` meet.
"""

from __future__ import annotations

import re
import unicodedata
from collections import namedtuple
from functools import lru_cache

from looseleaf.language import stopwords

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any

_EDITION = "2"

_SAMPLE = 160
"""Words of a text that are looked at for its language."""

_SHARED = 8
"""A stop word of more languages than this tells nothing."""

_SURE = 0.9
"""What the votes for a language other than English must come to."""

_LIKE = 0.5
"""What the letters and endings of a text must come to where stop words speak for the same language."""

_PLAIN = str.maketrans(
    {
        "ß": "ss", "ẞ": "ss", "æ": "ae", "œ": "oe", "ø": "o", "ł": "l", "đ": "d", "ð": "d", "þ": "th", "ı": "i",
        "ŋ": "n", "ħ": "h", "ŧ": "t", "ĸ": "k", "ſ": "s", "ə": "e", "ς": "σ",
        "أ": "ا", "إ": "ا", "آ": "ا", "ٱ": "ا", "ى": "ي", "ی": "ي", "ې": "ي", "ک": "ك", "ة": "ه", "ہ": "ه", "ؤ": "و",
        "ئ": "ي", "ء": "", "ـ": "", "ً": "",
    }
)  # fmt: skip

_ACCENTS = (
    "[\u0300-\u036f\u0483-\u0489\u0591-\u05bd\u05bf-\u05c7\u0610-\u061a\u064b-\u065f\u0670\u06d6-\u06ed"
    "\u08d3-\u08ff\u093c\u0e47-\u0e4e\u1ab0-\u1aff\u1dc0-\u1dff\u20d0-\u20ff\ufe00-\ufe0f\ufe20-\ufe2f]+"
)

_LETTERS: dict[str, tuple[tuple[str, float], ...]] = {
    "ß": (("german", 1.0),),
    "ä": (("german", 0.5), ("swedish", 0.4), ("finnish", 0.5)),
    "ö": (("german", 0.5), ("swedish", 0.4), ("finnish", 0.3), ("turkish", 0.3), ("hungarian", 0.3)),
    "ü": (("german", 0.6), ("turkish", 0.4), ("hungarian", 0.2)),
    "å": (("swedish", 0.6), ("danish", 0.5), ("norwegian", 0.5)),
    "ø": (("danish", 0.7), ("norwegian", 0.7)),
    "æ": (("danish", 0.8), ("norwegian", 0.6)),
    "ñ": (("spanish", 0.9),),
    "¿": (("spanish", 1.0),),
    "ã": (("portuguese", 0.9),),
    "õ": (("portuguese", 0.9),),
    "è": (("french", 0.6), ("italian", 0.4)),
    "ê": (("french", 0.6), ("portuguese", 0.3)),
    "à": (("french", 0.5), ("italian", 0.5)),
    "ù": (("french", 0.4), ("italian", 0.5)),
    "ì": (("italian", 0.8),),
    "ò": (("italian", 0.8),),
    "œ": (("french", 1.0),),
    "ç": (("french", 0.5), ("portuguese", 0.5), ("turkish", 0.4)),
    "é": (("french", 0.5), ("spanish", 0.2), ("czech", 0.1), ("hungarian", 0.2)),
    "ó": (("spanish", 0.4), ("polish", 0.4), ("hungarian", 0.2)),
    "í": (("spanish", 0.4), ("czech", 0.3), ("hungarian", 0.1)),
    "á": (("spanish", 0.3), ("hungarian", 0.3), ("czech", 0.3)),
    "ú": (("spanish", 0.4), ("czech", 0.2), ("hungarian", 0.2)),
    "ł": (("polish", 1.0),),
    "ą": (("polish", 0.9),),
    "ę": (("polish", 0.9),),
    "ś": (("polish", 0.9),),
    "ż": (("polish", 0.9),),
    "ź": (("polish", 0.9),),
    "ć": (("polish", 0.8),),
    "ř": (("czech", 1.0),),
    "ě": (("czech", 1.0),),
    "ů": (("czech", 1.0),),
    "š": (("czech", 0.8),),
    "č": (("czech", 0.8),),
    "ž": (("czech", 0.8),),
    "ğ": (("turkish", 1.0),),
    "ş": (("turkish", 0.9),),
    "ı": (("turkish", 1.0),),
    "ő": (("hungarian", 1.0),),
    "ű": (("hungarian", 1.0),),
    "ă": (("romanian", 0.9),),
    "ș": (("romanian", 1.0),),
    "ț": (("romanian", 1.0),),
    "î": (("romanian", 0.5), ("french", 0.3)),
    "â": (("romanian", 0.4), ("french", 0.4), ("portuguese", 0.3)),
}

_ENDINGS = {
    "german": "ungen ung keiten keit heiten heit lich liche lichen licher isch ische "
    "ischen ischer schaft cht chte chten tz tzt",
    "dutch": "heid heden lijk lijke ijn ijnen ijk ijd ijden ing aar oor uur uis ouw ouwen",
    "french": "eux euse euses eau eaux ité ités oire aire ette ique iques ée ées",
    "spanish": "ción ciones dad dades mente illo illa ador adora ando iendo ería anza "
    "ado ados ada adas ido idos ida idas",
    "portuguese": "ção cao ções coes dade dades mente inho inha agem eiro eira ado ados ada adas ido idos ida idas",
    "italian": "zione zioni ità mente ezza aggio aggi etto etta iere evole ato ata ati ate ito ita iti uto uta uti",
    "swedish": "ningen ning ningar het heten arna erna orna",
    "danish": "ningen ning hed heden erne else elser",
    "norwegian": "ningen ning het heten ene else elser",
    "finnish": "ssa ssä sta stä lla llä lta ltä lle nen sen set aan ään uus yys ksi kki kko kka mme",
    "polish": "ość ości anie ania enie enia owy owa owe ski ska skie czek ów ami ach",
    "czech": "ost osti ání ení ový ová ové ský ská ské ka ách ích",
    "turkish": "lar ler ları leri ların lerin mak mek daki deki lık lik cı ci yor dım dim",
    "hungarian": "ban ben nak nek ság ség ok ek ók ek ról ről hoz hez",
    "romanian": "ului ilor elor ție ții are ească ează",
}
"""How words often end. They tell something of a text that has no stop words."""

_ENGLISH_ENDINGS = tuple(
    "ing are ate ato ata ita ado ada ido ida ette etta etto aire ique iques eau ach ami ok ek lar ler ban ben nak nek "
    "hed het oor set sen nen aan sta lla lle lta else ene erne ost tz ska ski ka ci lik mak iere illo illa ando "
    "anza dad".split()
)
"""Of these, how English words end too: an ending that says nothing."""

_IRREGULAR_ENGLISH = """
    bear:bore,borne,born beat:beaten become:became begin:began,begun bend:bent bind:bound bite:bit,bitten
    bleed:bled blow:blew,blown break:broke,broken breed:bred bring:brought build:built burn:burnt buy:bought
    catch:caught choose:chose,chosen cling:clung come:came creep:crept deal:dealt dig:dug draw:drew,drawn
    dream:dreamt drink:drank,drunk drive:drove,driven eat:ate,eaten fall:fell,fallen feed:fed feel:felt
    fight:fought find:found flee:fled fly:flew,flown forbid:forbade,forbidden forget:forgot,forgotten
    forgive:forgave,forgiven freeze:froze,frozen give:gave,given go:went,gone grind:ground grow:grew,grown
    hang:hung hear:heard hide:hid,hidden hold:held keep:kept kneel:knelt know:knew,known lay:laid lead:led
    leave:left lend:lent lie:lain light:lit lose:lost make:made mean:meant meet:met mistake:mistook,mistaken
    pay:paid prove:proven ride:rode,ridden ring:rang,rung rise:rose,risen run:ran say:said see:saw,seen
    seek:sought sell:sold send:sent sew:sewn shake:shook,shaken shine:shone shoot:shot show:shown
    shrink:shrank,shrunk sing:sang,sung sink:sank,sunk sit:sat sleep:slept slide:slid speak:spoke,spoken
    spend:spent spin:spun spring:sprang,sprung stand:stood steal:stole,stolen stick:stuck sting:stung
    strike:struck swear:swore,sworn sweep:swept swim:swam,swum swing:swung take:took,taken teach:taught
    tear:tore,torn tell:told think:thought throw:threw,thrown understand:understood undertake:undertook
    wake:woke,woken wear:wore,worn weave:wove,woven weep:wept win:won wind:wound withdraw:withdrew,withdrawn
    write:wrote,written child:children man:men woman:women foot:feet tooth:teeth mouse:mice goose:geese
    person:people wife:wives knife:knives half:halves shelf:shelves wolf:wolves
    loaf:loaves thief:thieves good:better,best bad:worse,worst
"""


def fold(text: str) -> str:
    """Without case, accents, and forms of letters that people do not tell apart."""
    if text.isascii():
        return text.lower()
    folded = _folded(text)
    while (again := _folded(folded)) != folded:
        folded = again
    return folded


@lru_cache(maxsize=1)
def _accents() -> re.Pattern[str]:
    return re.compile(_ACCENTS)


def _folded(text: str) -> str:
    # Case first: some capitals become a letter and a mark, and marks go next.
    text = unicodedata.normalize("NFKC", text).lower()
    text = _accents().sub("", unicodedata.normalize("NFD", text)).translate(_PLAIN)
    text = unicodedata.normalize("NFKC", text)
    if not text.isascii() and any(map(str.isdecimal, text)):
        text = "".join(str(unicodedata.decimal(char)) if char.isdecimal() else char for char in text)
    return text


@lru_cache(maxsize=1)
def irregular() -> dict[str, str]:
    """English words whose stem is another word's."""
    entries = (entry.split(":") for entry in _IRREGULAR_ENGLISH.split())
    return {form: word for word, forms in entries for form in forms.split(",")}


@lru_cache(maxsize=40)
def _stemmer(language: str) -> Any:
    import Stemmer  # type: ignore[import-not-found]  # a compiled module, found where a text is indexed or a question asked

    return Stemmer.Stemmer(language, 0)


def edition() -> str:
    """Changes whenever the same text may have other terms than before: what was indexed under another is made anew."""
    import Stemmer

    return f"{_EDITION}-{Stemmer.version()}"


def stem(word: str, language: str) -> str:
    """The folded stem of a word in lower case, in a language of Latin letters; other scripts choose their own."""
    if word.isascii():
        if language == "english":
            word = irregular().get(word, word)
        return fold(_stemmer(language).stemWord(word)) or word
    own = language_of_script(word)
    if own == "latin":
        return fold(_stemmer(language).stemWord(word)) or fold(word)
    return (fold(_stemmer(own).stemWord(word)) if own else fold(word)) or fold(word)


_SCRIPTS = (
    ("\u024f", "latin"),
    ("\u036f", ""),
    ("\u03ff", "greek"),
    ("\u052f", "russian"),
    ("\u0588", "armenian"),
    ("\u05ff", ""),
    ("\u06ff", "arabic"),
    ("\u08ff", ""),
    ("\u097f", "hindi"),
    ("\u0b7f", ""),
    ("\u0bff", "tamil"),
    ("\u1dff", ""),
    ("\u1eff", "latin"),
    ("\u1fff", "greek"),
)
"""The last letter of each run of letters, and which language's stems are taken there."""


def language_of_script(word: str) -> str:
    """`latin`, or the one language whose stems are taken for words of this script, or nothing."""
    first = word[0]
    return next((language for last, language in _SCRIPTS if first <= last), "")


Heard = namedtuple("Heard", "tongue is_sure")
"""The language of a text, or nothing; and whether that is sure without those stop words that are English words too."""


def language(words: Iterable[str]) -> Heard:
    """The language of the Latin words in a text, or nothing where they do not tell. Words in lower case."""
    sample = list(words)[:_SAMPLE]
    scores: dict[str, float] = {}
    speaking_for = stopwords.speaking_for()

    def hear(word: str) -> None:
        tongues = speaking_for.get(word, ())
        for tongue in tongues if len(tongues) <= _SHARED else ():
            scores[tongue] = scores.get(tongue, 0.0) + (1.0 if len(word) > 1 else 0.3) / len(tongues)

    for word in sample:
        if word in speaking_for:
            hear(word)
    if sum(scores.values()) < 3.0:
        for word in sample:
            before, apostrophe, _ = word.partition("'")
            if apostrophe:
                hear(before)
    own = scores.get("english", 0.0)
    if own >= 1.0 and own * 2 >= sum(scores.values()):
        return ENGLISH  # most texts: no need to look at letters
    looks = _looks(sample, with_endings=own < 1.0 and max(scores.values(), default=0.0) < 3 * _SURE)
    for tongue, votes in looks.items():
        scores[tongue] = scores.get(tongue, 0.0) + votes
    best = max(scores, key=lambda tongue: (scores[tongue], tongue == "english", tongue), default="")
    if not best or scores[best] < _SURE:
        return _UNHEARD
    if best == "english":
        return ENGLISH
    return _confirmed(best, set(sample), looks.get(best, 0.0)) if scores[best] >= 1.3 * own else _UNHEARD


ENGLISH, _UNHEARD = Heard("english", True), Heard("", False)


def _looks(sample: list[str], *, with_endings: bool) -> dict[str, float]:
    """What the letters and the endings of words say."""
    votes: dict[str, float] = {}
    for char in "".join(word for word in sample if not word.isascii())[: 8 * _SAMPLE]:
        for tongue, vote in _LETTERS.get(char, ()):
            votes[tongue] = votes.get(tongue, 0.0) + vote
    for word in sample[:40] if with_endings else ():
        if not (word.isascii() and word.endswith(_ENGLISH_ENDINGS)):
            for tongue in shapes(word):
                votes[tongue] = votes.get(tongue, 0.0) + _LIKE
    return votes


def _confirmed(tongue: str, sample: set[str], looks: float) -> Heard:
    """Whether what spoke for a language other than English is enough, and more than English words and names.

    Two stop words that are no English words are, or one and its looks. Without them it needs looks, or little else to
    be there than stop words; then those that are English words too are not dropped.
    """
    heard = sample & stopwords.by_language()[tongue]
    certain = sum(len(word) > 1 for word in heard & stopwords.certain(tongue))
    if certain > 1 or (certain and looks >= _LIKE):
        return Heard(tongue, True)
    crowded = len(heard) > 2 and 3 * len(heard) >= 2 * len(sample)
    return Heard(tongue, False) if crowded or looks >= (_LIKE if len(heard) > 1 else _SURE) else _UNHEARD


def doubtful(words: Iterable[str], heard: Heard) -> set[str]:
    """The words that may be no more than stop words, of a language which is not sure."""
    if heard.is_sure:
        return set()
    sample = set(words)
    found: set[str] = set()
    for tongue in [heard.tongue] if heard.tongue else stopwords.LATIN:
        stops = sample & stopwords.by_language()[tongue]
        if heard.tongue or len(stops) > 2 or stops & stopwords.certain(tongue):
            found |= stops
    return found


_LONG_VOWELS = ("ää", "öö", "yy", "uu")
"""Hardly any language but Finnish has them."""


@lru_cache(maxsize=1)
def _endings() -> tuple[tuple[str, tuple[str, ...]], ...]:
    return tuple((tongue, tuple(ends.split())) for tongue, ends in _ENDINGS.items())


@lru_cache(maxsize=4096)
def shapes(word: str) -> tuple[str, ...]:
    """The languages that a word, in lower case, looks as if it were of."""
    if not 5 <= len(word) <= 64 or not word.isalpha():
        return ()
    lettered = {tongue for char in word if not char.isascii() for tongue, _ in _LETTERS.get(char, ())}
    ended = [tongue for tongue, ends in _endings() if word.endswith(ends)]
    if any(vowel in word for vowel in _LONG_VOWELS):
        ended.append("finnish")
    return tuple(dict.fromkeys((*ended, *sorted(lettered))))


_RESTORED = (
    ("cao", "ção"),
    ("coes", "ções"),
    ("sao", "são"),
    ("soes", "sões"),
    ("cion", "ción"),
    ("ite", "ité"),
    ("ee", "ée"),
    ("ees", "ées"),
    ("e", "é"),
    ("es", "és"),
    ("er", "ér"),
    ("ita", "ità"),
    ("osc", "ość"),
    ("osci", "ości"),
)


def accented(word: str) -> tuple[str, ...]:
    """How a word that was typed without accents may really end."""
    if not word.isascii() or len(word) < 5:
        return ()
    return tuple(word[: -len(plain)] + real for plain, real in _RESTORED if word.endswith(plain))
