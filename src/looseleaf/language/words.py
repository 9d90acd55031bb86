"""Words as identity compares them: one form for words that differ only in spelling, number, case, width or accent.

Invariant: polarity, numbers and names are never normalized away, and a form is its own form. Each function takes time
linear in its text.
"""

from __future__ import annotations

import re
from functools import lru_cache

from looseleaf.language.tables import read_pairs, word_set

_TOKEN = (
    r"\d{4}-\d\d(?:-\d\d)?(?![\d-])|\d\d-\d\d(?![\d-])"  # a date
    r"|\d{1,2}:\d\d(?::\d\d)?(?!\d)"  # a time of day
    r"|(?<![\w-])-\d++(?:\.\d++)?(?![\d-])"
    r"|\d{1,3}(?>(?:,\d{3})+)(?:\.\d++)?(?![\d,])|\d++(?:[.]\d++)*"  # a number, a version
    r"|[぀-ヿ㐀-鿿豈-﫿々ー가-힣]++"  # a run of Han, kana or hangul
    r"|[^\W\d_぀-ヿ㐀-鿿豈-﫿々가-힣]++(?:[.'](?=[^\W\d_])[^\W\d_぀-ヿ㐀-鿿가-힣]++)*(?:\+\+|#)?"
    r"|(?<!\w)\.net\b|(?<=\s)\+(?=\s)|[,;、，；。&]|[$€£¥%]|->|→"
)
_WESTERN_TOKEN = (
    r"\d{4}-\d\d(?:-\d\d)?(?![\d-])|\d\d-\d\d(?![\d-])|\d{1,2}:\d\d(?::\d\d)?(?!\d)"
    r"|(?<![\w-])-\d++(?:\.\d++)?(?![\d-])|\d{1,3}(?>(?:,\d{3})+)(?:\.\d++)?(?![\d,])|\d++(?:[.]\d++)*"
    r"|[^\W\d_]++(?:[.'](?=[^\W\d_])[^\W\d_]++)*(?:\+\+|#)?|(?<!\w)\.net\b|(?<=\s)\+(?=\s)|[,;、，；。&]|[$€£¥%]|->|→"
)
"""The same for text below `_FIRST_EASTERN`: the ranges of Han, kana and hangul compile slower than all the rest."""
_FIRST_EASTERN = "々"
_EAST = r"[぀-ヿ㐀-鿿豈-﫿々가-힣]"
_NUMBER = r"-?\d[\d.:,-]*"

_UNITS = (
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen"
)
NUMBERS = {word: n for n, word in enumerate(f"{_UNITS} seventeen eighteen nineteen".split())}
NUMBERS |= {
    word: 10 * n for n, word in enumerate("twenty thirty forty fifty sixty seventy eighty ninety".split(), 2)
}
_MULTIPLES = {"hundred": 100, "thousand": 1000, "million": 1000000}
_ORDINALS = r"(?<!\d)(\d{1,9})(?:st|nd|rd|th)\b"
_SCALED = r"(?<![\w.])(\d{1,6}) ?(k|km|kg|cm|mm|mb|gb|tb|ms|am|pm|h|min|m|g|l|°c|°f|px)(?![\w/])"
_CLOCK = r"(?<![\w:.])(\d{1,2})(?:[:.]?([0-5]\d))? ?([ap])\.?m\b\.?"
_ACCENTED = frozenset("año años papá papás schön péché pêche pêché père mère piña campaña".split())
"""Words that are other words without their accents."""
_LETTERS = str.maketrans({"ø": "o", "ł": "l", "đ": "d", "ð": "d", "æ": "ae", "œ": "oe", "ı": "i", "þ": "th"})
_TONES = frozenset("\u0309\u031b\u0323")
"""Marks of Vietnamese, where accents distinguish most words: a word with one keeps all its marks."""
_TWO_MARKS = "[a-z][\u0300-\u036f]{2}"
_QUOTES = str.maketrans(
    {"’": "'", "‘": "'", "ʼ": "'", "`": "'", "“": '"', "”": '"', "‐": "-", "‑": "-", "–": "-"}
)


def fold(text: str) -> str:
    """Unify compatibility forms, case and typographic quotes; collapse white space."""
    if not text.isascii():
        from unicodedata import normalize

        text = normalize("NFKC", normalize("NFKC", text).casefold()).translate(_QUOTES)
    else:
        text = text.translate(_QUOTES)
    return " ".join(text.casefold().split())


def plain(word: str) -> str:
    """Return a Latin word without accents, except where they distinguish words. Other scripts keep all marks."""
    if word.isascii() or word in _ACCENTED:
        return word
    from unicodedata import combining, normalize

    apart = normalize("NFD", word)
    if not _TONES.isdisjoint(apart) or re.search(_TWO_MARKS, apart):
        return word
    kept: list[str] = []
    for letter in apart:
        if not (combining(letter) and kept and kept[-1].isascii()):
            kept.append(letter)
    return normalize("NFC", "".join(kept)).translate(_LETTERS)


def is_eastern(word: str) -> bool:
    """Return whether a word begins with Han, kana or hangul."""
    return word[:1] >= _FIRST_EASTERN and re.match(_EAST, word) is not None


def tokens(text: str) -> list[str]:
    """Return the words, numbers and list separators of folded text, with number words, clock times and units
    unified."""
    from looseleaf.text.times import with_iso_dates

    text = with_iso_dates(text)
    text = re.sub(_CLOCK, _format_clock, text)
    text = re.sub(_ORDINALS, r"\1", text)
    text = re.sub(
        _SCALED, lambda found: f"{found[1]}000" if found[2] == "k" else f"{found[1]} {found[2]}", text
    )
    is_western = text.isascii() or max(text) < _FIRST_EASTERN
    found = re.findall(_WESTERN_TOKEN if is_western else _TOKEN, text)
    return _normalize_units(
        _read_number_words([_normalize_number(word) if word[-1].isdigit() else word for word in found])
    )


def _format_clock(found: re.Match[str]) -> str:
    hour = int(found[1])
    if not 1 <= hour <= 12:
        return found[0]
    return f"{hour % 12 + (12 if found[3] == 'p' else 0):02d}:{found[2] or '00'}"


def _normalize_number(word: str) -> str:
    if ":" in word:
        return f"0{word}" if word[1] == ":" else word
    if "-" in word[1:]:
        return word
    if word[0] == "-":
        return "-" + _normalize_number(word[1:])
    word = word.replace(",", "")
    whole, dot, rest = word.partition(".")
    return (whole.lstrip("0") or "0") + dot + rest


def _read_number_words(words: list[str]) -> list[str]:
    """Return number words as digits: "thirty four", "two hundred"."""
    made: list[str] = []
    at = 0
    while at < len(words):
        value = NUMBERS.get(words[at])
        if value is None or value == 1:  # "one" is a pronoun more often than a number
            made.append(words[at])
            at += 1
            continue
        at += 1
        if value >= 20 and at < len(words) and 0 < NUMBERS.get(words[at], 0) < 10:
            value += NUMBERS[words[at]]
            at += 1
        while at < len(words) and words[at] in _MULTIPLES:
            value *= _MULTIPLES[words[at]]
            at += 1
        made.append(str(value))
    return made


def _normalize_units(words: list[str]) -> list[str]:
    """Write units as signs after their numbers: "$20" and "20 dollars" are `20 $`."""
    made: list[str] = []
    for word in words:
        unit = read_pairs("english_words", "units").get(word) if made and is_number(made[-1]) else None
        if unit is not None:
            made.append(unit)
        elif is_number(word) and made and made[-1] in "$€£":
            made.insert(-1, word)
        else:
            made.append(word)
    return made


def is_number(word: str) -> bool:
    return bool(re.fullmatch(_NUMBER, word))


_OUR = r"(?<=[a-z][bdlmnrtv])our(?=$|s$|ed|ing|it|ful|abl|hood|al|less|y$|er)"
_RE = r"(?<=[a-z]{2}[bt])re(s?)$"
_ISE = r"(?<=[a-z]{3})([iy])s(?=(?:e|es|ed|ing|er|ers|ation|ations)$)"


def american(word: str) -> str:
    """Return one spelling for British and American words. It need not be a word, only the same for both."""
    known = read_pairs("english_words", "spellings").get(word)
    if known is not None:
        return known
    if len(word) < 5 or not word.isascii():
        return word
    word = re.sub(_OUR, "or", word)
    word = re.sub(_RE, r"er\1", word)
    word = re.sub(_ISE, r"\1z", word)
    if word.endswith(("ogue", "ogues")):
        word = word.replace("ogue", "og")
    return word


def singular(word: str) -> str:
    """Return a plain English noun in the singular."""
    known = read_pairs("english_words", "plurals").get(word)
    if known is not None:
        return known
    if len(word) < 4 or not word.endswith("s") or word.endswith(("ss", "us", "is")):
        return word
    if word in word_set("english_words", "not plural") or not word.isascii():
        return word
    if word.endswith("ies") and len(word) > 4:
        return word[:-3] + "y"
    if word.endswith(("izes", "yzes", "azes")):
        return word[:-1]
    if word.endswith(("sses", "xes", "zes", "ches", "shes")):
        return word[:-2]
    return word[:-1]


_VOWELS = "[aeiouy]+"
_SILENT = tuple("c v iz yz at dg ang u bl tl dl gl cl pl zl ur ir".split())
"""Ends of a verb that has lost an e."""


@lru_cache(4096)
def stem(word: str) -> str:
    """Return one form for "hike", "hiking" and "hiked", where English spelling rules decide; else the singular.

    With two syllables or more they do not show whether an e was lost (deleting, visiting): there it is dropped.
    """
    made = _strip_verb_ending(word)
    is_long = len(re.findall(_VOWELS, made[:-1])) > 1
    return made[:-1] if is_long and made.endswith("e") and not made.endswith("ee") else made


def _strip_verb_ending(word: str) -> str:
    word = singular(word)
    cut = 3 if word.endswith("ing") else 2 if word.endswith("ed") and not word.endswith("eed") else 0
    base = word[:-cut] if cut else word
    if not cut or len(base) < 2 or not word.isascii() or not re.search(_VOWELS, base):
        return word
    if word in word_set("english_words", "not verbs"):
        return word
    syllables = len(re.findall(_VOWELS, base))
    if len(base) > 2 and base[-1] == base[-2] and base[-1] not in "aeiou":
        return base if base[-1] in "sz" or (base[-1] in "lf" and syllables == 1) else base[:-1]
    short = (
        syllables == 1
        and base[-1] not in "aeiouwxy"
        and base[-2] in "aeiouy"
        and base[-3:-2] not in tuple("aeiou")
    )
    if short and len(base) > 2:
        return base + "e"
    if base.endswith("i"):  # tried; not skiing
        return base[:-1] + "y" if cut == 2 else base
    ends_silent = base.endswith(_SILENT) and len(base) > 3
    return (
        base + "e" if ends_silent and (base.endswith("creat") or not base.endswith(("eat", "oat"))) else base
    )
