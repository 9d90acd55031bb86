"""What the user asked to have remembered: the words of the sentence behind "remember that …", if it says any."""

from __future__ import annotations

import re

from looseleaf.language.promise_words import place_of
from looseleaf.language.promises import asks_to_forget, is_request
from looseleaf.text.patterns import lazy

_HOLLOW = lazy(
    r"(?:it|this|these|those|that|so|what|how|why|when|me|es|das|dies|was|ça|cela|ce que|eso|esto|lo que|"
    r"isso|isto|questo|ciò|dit|dat|"
    r"to \w+|the (?:milk|alamo|output|answer|function|format)|de \w+er)\b|(?:这|那|它|これ|それ|이거|그거)",
    re.IGNORECASE,
)
"""Words that say nothing alone, or a piece of work: what they point at stands elsewhere."""

_LEAST = 8


def asked_to_keep(sentence: str) -> tuple[int, int] | None:
    """Where the words stand that a sentence asks to remember."""
    if not is_request(sentence) or asks_to_forget(sentence):
        return None
    start, end = place_of(sentence)
    words = sentence[start:end]
    least = _LEAST // 2 if words and not words.isascii() else _LEAST
    if len(words) < least or (_HOLLOW.match(words) and len(words) < 40):
        return None
    return start, end
