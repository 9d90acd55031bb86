"""What is left of sentences from which facts were read: "I live in Oslo and the code is 4411" says more than a home.

Words before the object of a fact say its relation ("I live in"); what stands behind the last one says something else,
unless it is a date that the fact has, or a word that says nothing. In doubt a sentence counts as not read.
"""

from __future__ import annotations

import re

from looseleaf.core.lazy import lazy
from looseleaf.core.sentences import pieces
from looseleaf.core.stems import language
from looseleaf.core.stopwords import by_language
from looseleaf.frozen import frozen

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

_FILLERS = frozenset(
    "actually again already also anymore anyway basically btw bit course currently days definitely finally fyi hello "
    "hey hi honestly just know kindly little lately lot moment much mostly nowadays note now obviously ok okay please "
    "pls probably quite really recently remember right simply soon still sure thank thanks these though today too "
    "totally usually very way well yeah yes danke bitte merci gracias called named name's heißt heisst llama "
    "s'appelle appelle years old year yesterday tonight tomorrow".split()
)
"""Words beside a fact that add nothing to it."""

_NO = frozenset(
    "no not never without nor none except unless only kein keine nicht nie ohne sans jamais sin nunca".split()
)

_DATES = frozenset(
    "january february march april may june july august september october november december jan feb mar apr jun jul "
    "aug sep sept oct nov dec monday tuesday wednesday thursday friday saturday sunday year month week since until "
    "last next ago years months weeks".split()
)

_WORD = lazy(r"[^\W_]+(?:['’][^\W_]+)*")
_UNSPACED = lazy("[\u0e00-\u0eff\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")

_ALONE = lazy(
    r",? and ((?:the|my|our|an?) (?:(?!,? and )[^;:!?])+? (?:is|are|was|were|has|have|had|will)"
    r" (?:(?!,? and )[^;:!?])+)\Z",
    re.IGNORECASE,
)
"""A last part with a subject and a verb of its own."""

_SORT = lazy(r" \([^()]{1,20}\)\Z")
"""The animal behind the name of a pet: it stood before it."""

_SIGNS = 4
"""Signs of a script without spaces from which on what is left says something."""


@frozen
class Read:
    """A fact that was read: the words that it is from, what it says of them, whether it has a date, and whether it only
    notes them."""

    quote: str
    object: str
    is_dated: bool = False
    is_note: bool = False


def unread_in(text: str, facts: Iterable[Read]) -> list[str]:
    """The sentences that say more than these facts do, each once."""
    read = [fact for fact in facts if fact.quote]
    found = dict.fromkeys(" ".join(piece.text.split()) for piece in pieces(text))
    return [_more(each, read) for each in found if each and not _is_read(each, read)]


def _more(sentence: str, facts: list[Read]) -> str:
    """What a sentence says beyond the facts: its last part where that stands alone ("… and the code is 4411"), so that
    it does not say again what may change; else all of it."""
    found = _ALONE.search(sentence)
    if found is None:
        return sentence
    first = sentence[: found.start()]
    said = [Read(fact.quote if fact.quote in first else first, fact.object, fact.is_dated) for fact in facts]
    objects = {word for fact in facts for word in _words(fact.object)}
    stands_alone = (
        objects.isdisjoint(_words(found[1])) and objects & {*_words(first)} and _is_read(first, said)
    )
    return found[1] if stands_alone else sentence


def _is_read(sentence: str, facts: list[Read]) -> bool:
    here = [fact for fact in facts if fact.quote in sentence or sentence in fact.quote]
    if not here:
        return False
    rest = sentence
    for quote in sorted({fact.quote for fact in here}, key=lambda each: (-len(each), each)):
        rest = rest.replace(quote, " ")
    if len(_UNSPACED.findall(rest)) >= _SIGNS:
        return False
    nothing = _nothing(sentence)
    is_dated = any(fact.is_dated for fact in here)
    left = _words(rest) + [word for fact in here for word in _behind(fact, here)]
    return not any(_says(word, nothing, is_dated=is_dated) for word in left)


def _behind(fact: Read, facts: list[Read]) -> list[str]:
    """The words of a quote behind the last object in it, without what a note has. What stands before an object says
    its relation."""
    noted = {word for each in facts if each.is_note for word in _words(each.object)}
    said = {word for each in facts if not each.is_note for word in _words(_SORT.sub("", each.object))}
    words = _words(fact.quote)
    last = next((at for at in range(len(words), 0, -1) if words[at - 1] in said), len(words))
    return [word for word in words[last:] if word not in noted]


def _words(text: str) -> list[str]:
    return [word.casefold().replace("’", "'") for word in _WORD.findall(text)]


def _nothing(sentence: str) -> frozenset[str]:
    """The words of its language that say nothing by themselves. A no says something."""
    tongue = language(_words(sentence)).tongue or "english"
    return (by_language().get(tongue, frozenset()) | by_language()["english"] | _FILLERS) - _NO


def _says(word: str, nothing: frozenset[str], *, is_dated: bool) -> bool:
    if word in nothing or (len(word) < 2 and not word.isdecimal()):
        return False
    return not (is_dated and (word in _DATES or re.fullmatch(r"[0-9]{1,4}(?:st|nd|rd|th)?", word)))
