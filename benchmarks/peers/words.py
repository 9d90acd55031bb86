"""Questions for peers that match letters and rank nothing: their telling words are looked for one by one, as a model
would, and what holds more of them comes first."""

from __future__ import annotations

import os
import re

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

STOPS = frozenset(
    "a about am an and any are as at be been but by can could did do does for from get had has have he her here him "
    "his how i if in into is it its just know like me my no not of on or our out she so some than that the their "
    "them then there these they this to up us was we were what when where which who whom why will with would you "
    "your".split()
)


def lines_in(folder: str) -> list[str]:
    """All lines of the files of a folder."""
    texts: list[str] = []
    for name in sorted(os.listdir(folder)):
        with open(f"{folder}/{name}", encoding="utf-8") as file:
            texts += file.read().splitlines()
    return texts


def telling(question: str) -> list[str]:
    """Each once, in their order; all of them where every one is a stop word."""
    words = list(dict.fromkeys(re.findall(r"\w+", question.lower())))
    return [word for word in words if word not in STOPS] or words


def by_words(question: str, texts: Iterable[str], k: int) -> list[str]:
    words = telling(question)

    def held(text: str) -> int:
        low = text.lower()
        return sum(word in low for word in words)

    return sorted(dict.fromkeys(texts), key=held, reverse=True)[:k]
