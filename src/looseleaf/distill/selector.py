"""The selector: which sentences of a user's message are worth keeping, and what kind of thing they say.

A linear model over hashed n-grams of words and letters, forms of forbidding, cues, and a few features of the message
around them. Cues are the words of classes such as forgetting, keeping, secrecy and quoting, listed in ten languages
(`data/distill/cues.txt`): their order and distance inform the model even where it has never seen the words themselves.

The weights are one data file, made by `training/train.py` from labeled sentences; plain Python reads them. A score is a
probability, calibrated on authors outside the training data.

Everything takes time linear in the sentence, of which a bounded part is read.
"""

from __future__ import annotations

import re
from functools import cache, lru_cache
from itertools import pairwise
from operator import itemgetter
from pathlib import Path

from looseleaf.base.immutable import frozen
from looseleaf.language.linear_model import (
    READ_CHARS,
    READ_TOKENS,
    hashes_of,
    is_wide,
    read_heads,
    split_tokens,
    unpack_head,
    word_features,
)
from looseleaf.language.tables import pattern_of
from looseleaf.text.lines import lazy

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence
    from typing import Any

    from looseleaf.language.linear_model import Head
    from looseleaf.language.own_words import ZoneName


# --- forms of forbidding ----------------------------------------------------------------

_I = re.IGNORECASE

_FORBIDS = pattern_of("forbidding", "forbids", _I)
KEEPS = pattern_of("forbidding", "keeps", _I)
"""Whatever must not be forgotten is to be kept."""

_OF_WORK = pattern_of("forbidding", "of work", _I)
_OF_MEMORY = pattern_of("forbidding", "of memory", _I)
_TIMES = 5
"""A form counts as this many words, because it tells more than a word does."""


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
    return has_form and KEEPS.search(text) is None and not is_of_work(text)


def is_of_work(text: str) -> bool:
    """Return True if a sentence is about files, code or text, not about memory ("delete that function")."""
    return _OF_WORK.search(text) is not None and _OF_MEMORY.search(text) is None


_POLITELY = lazy(r"\W*(?:bitte )?vergessen sie (?:bitte )?(?:mein\w*|unser\w*|dass|was|alles)\b", _I)
"""Forms that no author of the training data used: they count, though the selector has learned nothing of them."""

_FORMS = (("forbids", _FORBIDS), ("keeps", KEEPS), ("of work", _OF_WORK), ("of memory", _OF_MEMORY))

# --- tokens -----------------------------------------------------------------------------


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
    cased, tokens = split_tokens(text)
    cues = [(at, name) for at, token in enumerate(tokens) if (name := _class_of(token))]
    if any(map(is_wide, tokens)):
        run = "".join(tokens)
        cues += [(at, name) for word, name in _load_cues()[2] if (at := run.find(word)) >= 0]
        cues.sort()
    return cased, tokens, cues


# --- cues -------------------------------------------------------------------------------

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
    if word in words or len(word) < _STEM:
        return words.get(word, "")
    head = word[:_STEM]
    return next((name for first, stem, name in stems if first == head and word.startswith(stem)), "")


def cues_of(text: str) -> Sequence[tuple[int, str]]:
    """Return the places of a sentence's cues (by token; in scripts without spaces, by character), and their classes."""
    return tokens_and_cues(text)[2]


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
        before = set().union(*each_has[max(at - _FAR, 0) : at])
        behind = set().union(*each_has[at + 1 : at + 1 + _FAR])
        made.append(
            " ".join((*(f"{name}<" for name in sorted(before)), *(f"{name}>" for name in sorted(behind))))
        )
    return made


_FAR = 12
"""The number of sentences before and after one that are searched for an order."""


# --- a sentence and its scores ----------------------------------------------------------

WEIGHTS = Path(__file__).parents[1] / "data/distill/selector.bin"
SCHEMA = "selector.v3"

KINDS = ("profile", "preference", "rule", "project", "decision", "plan", "event", "other")
"""The kinds of a kept sentence: about the user, about work, about another person."""

HEADS = ("keep", "change", "forbid", "quoted", *KINDS, "aside", "erase", "last")
"""The questions about a sentence, each with weights of its own."""

_QUOTATION = '"“”„«»「」『』'
_SHORT_ANSWER = 8
_ASKED_TOKENS = 14


@frozen
class Around:
    """The surroundings of a sentence: the assistant's question, the sentence before, and the shape of the message.

    `place` counts from 0 among `count` sentences; `lines`: the number of the message's lines; `is_new_line`: the
    sentence begins one; `marks`: the look of the message's lines (`marks_of`); `zone`: whose words these may be
    (`language/own_words.py`); `orders`: the requests in the sentences before and after it (`orders_of`).
    """

    asked: str = ""
    before: str = ""
    place: int = 0
    count: int = 1
    lines: int = 1
    is_new_line: bool = False
    marks: str = ""
    zone: ZoneName = "own"
    orders: str = ""


@frozen
class Scores:
    """Probabilities: that a sentence is worth keeping, announces a change, forbids to remember, is not the user's. If
    it may forbid: that it refers to something said earlier (`erase`), and if so, to the message before (`last`)."""

    keep: float
    change: float
    forbid: float
    quoted: float
    kinds: tuple[float, ...]
    erase: float = 0.0
    last: float = 0.0

    @property
    def kind(self) -> str:
        return KINDS[max(range(len(KINDS)), key=lambda at: self.kinds[at])]

    def of(self, kind: str) -> float:
        return self.kinds[KINDS.index(kind)]


# --- features --------------------------------------------------------------------------


def features(text: str, around: Around = Around()) -> list[int]:  # noqa: B008 - frozen
    """Return the hashes of a sentence's features, each once."""
    cased, tokens, cues = tokens_and_cues(text)
    named = word_features(cased, tokens)
    named += cue_features(cues)
    if may_forbid(cues):
        named += [f"form {name}" for name in forms_of(text[:READ_CHARS])]
    named += _shape_features(text, tokens, around)
    return hashes_of(named, tokens)


def _shape_features(text: str, tokens: Sequence[str], around: Around) -> Iterable[str]:
    """Yield the features of a sentence's marks and surroundings."""
    asks = "?" in tokens[-2:] or "？" in tokens[-2:]
    yield f"asks {asks}"
    yield f"quotes {sum(map(text.count, _QUOTATION)) > 1}"
    yield f"code {'`' in text or '()' in text or '=' in text or '{' in text}"
    yield f"path {'/' in text}"
    yield f"begins {'upper' if text[:1].isupper() else 'lower' if text[:1].islower() else 'other'}"
    yield f"ends {text.rstrip()[-1:] if not text.rstrip()[-1:].isalnum() else 'word'}"
    if around.count > 1:
        place = "first" if around.place == 0 else "last" if around.place == around.count - 1 else "middle"
        yield f"place {place}"
    yield f"count {min(around.count, 9).bit_length()}"
    yield f"lines {min(around.lines, 40).bit_length()}"
    yield f"line {around.is_new_line} {around.lines > 2}"
    yield f"zone {around.zone}"
    yield f"zone {around.zone} {around.is_new_line} {text[:1].islower()} {around.place == around.count - 1}"
    for mark in around.marks.split():
        yield f"mark {mark}"
    for order in around.orders.split():
        yield f"order {order}"
        yield f"order {order} {around.is_new_line} {around.zone}"
    if around.before:
        end = around.before.rstrip()[-1:]
        yield f"before {end if not end.isalnum() else 'word'}"
        for token in tokens_of(around.before[-80:])[-3:]:
            yield f"b {token}"
    if around.asked:
        asked = tokens_of(around.asked[-300:])[-_ASKED_TOKENS:]
        is_answer = "?" in asked[-2:] or "？" in asked[-2:]
        short = len(tokens) <= _SHORT_ANSWER
        yield f"asked {is_answer} {short}"
        if is_answer:
            yield from (f"a {short} {token}" for token in asked)


# --- the look of a message --------------------------------------------------------------

_GREETING = lazy(
    r"(?im)^[ \t]*(?:dear|hi|hello|hey|liebe[r]?|hallo|sehr|cher|chère|bonjour|hola|estimad|ciao|oi|"
    r"olá)\b.{0,30},?[ \t]*$"
)
_CLOSING = lazy(
    r"(?im)^[ \t]*(?:(?:kind|best|warm)? ?regards|sincerely|yours|best|cheers|thanks|mit freundlichen|viele grüße|lg|"
    r"cordialement|saludos|atentamente|groet|saluti|abraços|atenciosamente|-- ?)\b.{0,20}$"
)
_ITEM = lazy(r"(?m)^[ \t]*(?:[-*+•]|\d{1,2}[.)])[ \t]+\S")
_HEADING = lazy(r"(?m)^#{1,6} \S")
_QUOTING = lazy(r"(?m)^[ \t]*>")
_LABEL = lazy(r"(?m)^[ \t]*[\w .'-]{1,24}[:：](?=\s)")


def marks_of(message: str) -> str:
    """Return the look of a message's lines: the names of the marks that it has."""
    if "\n" not in message:
        return ""
    head = message[:20_000]
    found = [
        ("greets", _GREETING.search(head)),
        ("closes", _CLOSING.search(head)),
        ("heads", _HEADING.search(head)),
        ("quotes", _QUOTING.search(head)),
        ("fences", "```" in head),
        ("items", _ITEM.search(head)),
        ("labels", len(_LABEL.findall(head)) > 1),
        ("blank", "\n\n" in head),
    ]
    return " ".join(name for name, is_there in found if is_there)


# --- scores -----------------------------------------------------------------------------


@cache
def head(name: str) -> Head:
    """Return the weights of one head, unpacked on first use."""
    return unpack_head(*heads()[name])


def heads() -> dict[str, tuple[dict[str, Any], bytes]]:
    """Return the header of each head in the file, and its compressed weights."""
    return read_heads(WEIGHTS, SCHEMA)


_DULL = 0.01
_MAY_FORBID = 0.02
"""Below the first chance of being kept, the kind of a sentence is not computed; below the second one of forbidding, nor
is the target of the order."""

_CLAUSE_LESS = 0.5
_READ_CLAUSES = 30
"""A clause alone is less certain: the first is subtracted from its margin. The second is the most clauses read."""


def select(text: str, around: Around = Around()) -> Scores:  # noqa: B008 - frozen
    """Return the model's scores for a sentence."""
    hashes = features(text, around)
    picked: dict[int, Callable[[bytes], tuple[int, ...]]] = {}

    def score(name: str) -> float:
        asked = head(name)
        mask = asked.mask
        if mask not in picked:
            picked[mask] = itemgetter(*[each & mask for each in hashes])
        return asked.chance(sum(picked[mask](asked.weights)), len(hashes))

    keep, change, forbid, quoted = map(score, HEADS[:4])
    is_dull = keep < _DULL and change < _DULL
    kinds = (0.0,) * len(KINDS) if is_dull else tuple(map(score, KINDS))
    return Scores(keep, change, quoted=quoted, kinds=kinds, **_forbid_chances(text, hashes, forbid))


def _forbid_chances(text: str, hashes: list[int], forbid: float) -> dict[str, float]:
    """Return the chances `forbid`, `erase` and `last`. One clause may forbid more plainly than its whole sentence."""
    places: list[tuple[int, int]] = []
    is_cut = len(tokens_of(text)) == sum(READ_TOKENS)  # some of it may not have been read
    if has_forbidding_word(text) or is_cut:
        places = clauses_of(text[:READ_CHARS])[:_READ_CLAUSES]
    for number, (first, last) in enumerate(places if len(places) > 1 else ()):
        if has_forbidding_word(text[first:last]):
            found = features(text[first:last], around_clause(text, places, number))
            chance = head("forbid").score(found, _CLAUSE_LESS)
            if chance > forbid:
                forbid, hashes = chance, found
    if forbid < _MAY_FORBID:
        return {"forbid": forbid}
    return {"forbid": forbid} | {name: head(name).score(hashes) for name in ("erase", "last")}


# --- clauses ---------------------------------------------------------------------------

_JOINTS = (
    "but so because although though while which plus except since whereas and then "
    "aber und weil denn obwohl also sondern damit mais et donc parce car sauf pero y porque así pues aunque "
    "mas e porque então embora ma perché quindi però maar en want omdat dus"
).split()
_CLAUSE = lazy(
    rf"(?:(?<=[,;:)])\s|\s[-–—]+\s|(?<=[，、；])|\s(?=\()|(?<=\w)\s(?=(?:{'|'.join(_JOINTS)})\s))",
    re.IGNORECASE,
)


def clauses_of(text: str) -> list[tuple[int, int]]:
    """Return the places of a sentence's clauses."""
    places: list[tuple[int, int]] = []
    at = 0
    for joint in _CLAUSE.finditer(text):
        if joint.start() - at >= 4:
            places.append((at, joint.start()))
            at = joint.end()
    places.append((at, len(text)))
    return places


def around_clause(sentence: str, places: Sequence[tuple[int, int]], number: int) -> Around:
    """Return the surroundings of a clause: the one before it, and its place among them."""
    first, last = places[number - 1] if number else (0, 0)
    return Around("", sentence[first:last], number, len(places))


def is_aside(sentence: str, places: Sequence[tuple[int, int]], number: int) -> float:
    """Return the chance that a clause of a kept sentence is not worth keeping."""
    first, last = places[number]
    return head("aside").score(features(sentence[first:last], around_clause(sentence, places, number)))
