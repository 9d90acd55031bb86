"""Where one character ends, as a reader sees it: letters with their marks, emoji that are joined, flags, syllables.

Looser than Unicode's rules where they differ: what might belong together is never a bound.
"""

from __future__ import annotations

_JOINER = "\u200d"


def floor(text: str, at: int) -> int:
    """The last place up to `at` that is not inside of a character as a reader sees it."""
    while 0 < at < len(text) and not _is_bound(text, at):
        at -= 1
    return at


def ceil(text: str, at: int) -> int:
    """The first such place from `at` on."""
    while 0 < at < len(text) and not _is_bound(text, at):
        at += 1
    return at


def is_whole(character: str) -> bool:
    return not _extends(character) and character != _JOINER and not "\ud800" <= character <= "\udfff"


def _is_bound(text: str, at: int) -> bool:
    before, after = text[at - 1], text[at]
    if before < "\u0300" and after < "\u0300":
        return (before, after) != ("\r", "\n")
    if _extends(after) or before == _JOINER:
        return False
    if "\ud800" <= before <= "\udbff" and "\udc00" <= after <= "\udfff":
        return False
    if "\U0001f1e6" <= before <= "\U0001f1ff" and "\U0001f1e6" <= after <= "\U0001f1ff":
        return _flags_before(text, at) % 2 == 0
    if "\u1100" <= before <= "\u11ff" and "\u1160" <= after <= "\u11ff":
        return False  # the letters of one Korean syllable
    if "\uac00" <= before <= "\ud7a3" and "\u1160" <= after <= "\u11ff":
        return False
    return not ("\u0900" <= before <= "\u1cff" and _is_virama(before) and after.isalpha())


def _flags_before(text: str, at: int) -> int:
    """The letters of flags that end there: two make one flag."""
    start = at
    while start > 0 and "\U0001f1e6" <= text[start - 1] <= "\U0001f1ff":
        start -= 1
    return at - start


def _extends(character: str) -> bool:
    """Whether it belongs to the character before it."""
    if character < "\u0300":
        return False
    if character in "\u200c\u200d\u0e33\u0eb3" or "\U0001f3fb" <= character <= "\U0001f3ff":
        return True
    if "\U000e0020" <= character <= "\U000e007f":
        return True
    from unicodedata import category

    return category(character)[0] == "M"


def _is_virama(character: str) -> bool:
    from unicodedata import combining

    return combining(character) == 9
