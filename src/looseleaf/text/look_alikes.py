"""Look-alikes: what a text looks like to whoever reads it, so that nothing in it can pass for the memory's own words.

Each character becomes the one that it looks like, or a gap if it does not show: one for one, so that a place in what is
seen is the place in the text. Plain text is what it looks like, and costs nothing; of any other, each character is
looked up once.
"""

from __future__ import annotations

import re
from functools import cache

GAP = "[\\x00-\\x20\\x7f]*+"
"""In a pattern on what is seen: anything that does not show. It gives nothing back, so that no text is read twice."""

_SIGNS = {
    "[": "［﹇【〖〔〘〚﹝⟦⟬⁅❲⦋⦍⦏⸢⎡⎢⎣",
    "]": "］﹈】〗〕〙〛﹞⟧⟭⁆❳⦌⦎⦐⸣⎤⎥⎦",
    ":": "：﹕︓︰∶ː˸։׃܃܄꞉᛬⁚⁝᠄",
    "<": "＜﹤‹〈⟨❮❰〈˂ᐸ≺⧼",
    ">": "＞﹥›〉⟩❯❱〉˃ᐳ≻⧽",
    "«": "≪《⟪⪡",
    "»": "≫》⟫⪢",
}
_LETTERS = {
    "a": "аАαΑᴀᎪꓮɑⲀⲁ⍺ӕ",
    "c": "сСϲϹᴄᏟꓚⲤⲥҫ",
    "d": "ԁᴅᎠꓓɗɖđĐƉᏧժ",
    "e": "еЕεΕᴇᎬꓰєЄҽҼ℮ɛƐⲈⲉɘ",
    "i": "іІιΙɪᎥıӏӀꓲⲒⲓ",
    "l": "ʟᏞꓡⳐⳑłŁ",
    "m": "мМΜᴍᎷꓟⲘⲙϻϺṃ",
    "n": "ΝɴꓠⲚⲛոռηпƝɲŋ",
    "o": "оОοΟᴏօՕჿꓳⲞⲟөӨøØσ〇○◯",
    "r": "гʀᏒᎡꓣᖇƦᴦⲅɾɍɌ",
    "s": "ѕЅꜱᏚꓢՏʂ",
    "t": "тТτΤᴛᎢꓔⲦⲧŧŦƭ⊤",
    "u": "υսՍᴜꓴ∪⋃μʋʊɄ",
    "y": "уУΥүҮʏᎽꓬⲨⲩγყƴƳɣ",
}
"""Letters of the words that are looked for, in scripts that no rule of Unicode leads back to Latin."""

_BLANK = "\u115f\u1160\u2065\u2800\u3164\uffa0\ufff0\ufff1\ufff2\ufff3\ufff4\ufff5\ufff6\ufff7\ufff8"
"""What shows nothing, though its category does not say so."""
_TAGS = range(0xE0000, 0xE1000)
_ALPHABETS = (0x1F130, 0x1F150, 0x1F170, 0x1F1E6)
"""Where capital letters in boxes, circles and flags begin."""


class _Seen(dict[int, str]):
    """What each character looks like; found out when one is first met."""

    def __missing__(self, code: int) -> str:
        found = self[code] = chr(code) if code < 128 else _seen(chr(code))
        return found


def _seen(each: str) -> str:
    """A sign, a digit, a wide letter (so that plain ones are known to be that), or the character itself. Never a
    backslash: that would be one which escapes nothing."""
    from unicodedata import category, normalize

    if each in "\x85\u2028\u2029":
        return "\n"
    if each in _BLANK or ord(each) in _TAGS or category(each) in ("Cc", "Cf", "Mn", "Me", "Zs"):
        return "\0"
    for plain, others in (*_SIGNS.items(), *_LETTERS.items()):
        if each in others:
            return _wide(plain) if plain.isalpha() else plain
    for first in _ALPHABETS:
        if first <= ord(each) < first + 26:
            return _wide(chr(ord("a") + ord(each) - first))
    # Wide, bold, circled, raised, or with an accent: the letter below that.
    base = "".join(part for part in normalize("NFKD", each) if category(part) not in ("Mn", "Me"))
    if base == each or len(base) != 1:
        return each
    if base.isascii():
        return base if base.isdigit() else _wide(base.lower()) if base.isalpha() else each
    return _LOOKS[ord(base)]


def _wide(letter: str) -> str:
    return chr(ord(letter) + 0xFEE0)


_LOOKS = _Seen()


def spelt(word: str) -> str:
    """A pattern on what is seen: the letters of a word in any case, with anything between them that does not show."""
    return GAP.join(f"[{each.lower()}{each.upper()}{_wide(each.lower())}]" for each in word)


@cache
def _shown_as(signs: str) -> re.Pattern[str]:
    return re.compile("|".join(f"[{re.escape(each + _SIGNS[each])}]" for each in signs))


def _with_backslash(found: re.Match[str]) -> str:
    return f"\\{found[0]}"


def escaped(text: str, pattern: re.Pattern[str], signs: str) -> str:
    """The text with a backslash before whatever looks like the pattern, in which one of these signs is."""
    if text.isascii():
        for sign in signs:
            if sign in text:
                return pattern.sub(_with_backslash, text)
        return text
    if not _shown_as(signs).search(text):
        return text
    parts: list[str] = []
    at = 0
    for found in pattern.finditer(text.translate(_LOOKS)):
        parts += (text[at : found.start()], "\\")
        at = found.start()
    return "".join((*parts, text[at:]))
