"""The selector: which sentences of a user's message are worth keeping, and what kind of thing they say.

A linear model over hashed n-grams of words and letters and a few features of the message around them. Its weights are
one data file, made by `training/train.py` from labelled sentences; plain Python reads them. A score is a probability:
it was calibrated on authors that the weights were not trained on.

Everything takes time linear in the sentence, of which a bounded part is read.
"""

from __future__ import annotations

import json
import math
from array import array
from functools import cache, lru_cache
from pathlib import Path
from zlib import crc32

from looseleaf.core.lazy import lazy
from looseleaf.frozen import frozen

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

WEIGHTS = Path(__file__).parent / "data" / "selector.bin"
SCHEMA = "selector.v1"

KINDS = ("profile", "preference", "rule", "project", "decision", "plan", "event", "other")
"""What a kept sentence may say: of the user, of work, of another person."""

HEADS = ("keep", "change", "forbid", "quoted", *KINDS)
"""The questions that are asked of a sentence, each with weights of its own."""

_READ_CHARS = 1200
_READ_TOKENS = (70, 20)
"""Of a longer sentence so many tokens are read at its beginning and its end."""

_WIDE = "\u3041-\u30ff\u3400-\u9fff\uac00-\ud7af"
_TOKEN = lazy(rf"[{_WIDE}]|(?:(?![{_WIDE}])[^\W\d_])+(?:['’](?:(?![{_WIDE}])[^\W\d_])+)*|\d+|[^\w\s]")
_QUOTATION = '"“”„«»「」『』'
_SHORT_ANSWER = 8
_ASKED_TOKENS = 14


@frozen
class Around:
    """What stands around a sentence: what the assistant had asked, the sentence before, and the message's shape.

    `place` counts from 0 among `count` sentences; `lines` is the number of the message's lines; `is_new_line`: the
    sentence begins one; `marks` is what the lines of the message look like, as `marks_of` tells it; `zone` whose words
    these may be (`core/own_words.py`).
    """

    asked: str = ""
    before: str = ""
    place: int = 0
    count: int = 1
    lines: int = 1
    is_new_line: bool = False
    marks: str = ""
    zone: str = "own"


@frozen
class Scores:
    """Probabilities: that a sentence is worth keeping, changes what was so, forbids to remember, is not the user's."""

    keep: float
    change: float
    forbid: float
    quoted: float
    kinds: tuple[float, ...]

    @property
    def kind(self) -> str:
        return KINDS[max(range(len(KINDS)), key=lambda at: self.kinds[at])]

    def of(self, kind: str) -> float:
        return self.kinds[KINDS.index(kind)]


# --- features --------------------------------------------------------------------------


def tokens_of(text: str) -> list[str]:
    """Words in lower case, characters of scripts without spaces singly, marks; every number is the same one."""
    found = _TOKEN.findall(text[:_READ_CHARS].lower().replace("’", "'"))
    first, last = _READ_TOKENS
    if len(found) > first + last:
        found = found[:first] + found[-last:]
    return ["0" * min(len(token), 4) if token.isdigit() else token for token in found]


@lru_cache(8192)
def _letters(word: str) -> tuple[int, ...]:
    """Hashes of the runs of three to five letters within a word."""
    if len(word) < 3:
        return ()
    padded = f"_{word[:24]}_"
    return tuple(
        crc32(f"c{padded[at : at + size]}".encode("utf-8", "replace"))
        for size in (3, 4, 5)
        for at in range(len(padded) - size + 1)
    )


def features(text: str, around: Around = Around()) -> list[int]:  # noqa: B008 - frozen
    """The hashes of a sentence's features, each once."""
    tokens = tokens_of(text)
    named: list[str] = [*tokens]
    size = len(tokens)
    padded = ["^", *tokens, "$"]
    named += map(" ".join, zip(padded, padded[1:], strict=False))
    named += map(" ".join, zip(padded, padded[1:], padded[2:], strict=False))
    named += [f"{first} * {second}" for first, second in zip(tokens, tokens[2:], strict=False)]
    if any("\u3041" <= token[0] <= "\ud7af" for token in tokens if token):
        named += map(" ".join, zip(padded, padded[1:], padded[2:], padded[3:], strict=False))
        named += [f"{first} ** {second}" for first, second in zip(tokens, tokens[3:], strict=False)]
    if tokens:
        named += (f"first {tokens[0]}", f"last {tokens[-1]}", f"two {' '.join(tokens[:2])}")
    named.append(f"size {size.bit_length()} {size > 24}")
    named += _shape(text, tokens, around)
    found = {crc32(each.encode("utf-8", "replace")) for each in named}
    for token in tokens:
        found.update(_letters(token))
    return sorted(found)


def _shape(text: str, tokens: Sequence[str], around: Around) -> Iterable[str]:
    """What is told by the marks of a sentence and by what stands around it."""
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


_GREETING = lazy(r"(?im)^[ \t]*(?:dear|hi|hello|hey|liebe[r]?|hallo|sehr|cher|chère|bonjour|hola|estimad|ciao|oi|olá)\b.{0,30},?[ \t]*$")
_CLOSING = lazy(
    r"(?im)^[ \t]*(?:(?:kind|best|warm)? ?regards|sincerely|yours|best|cheers|thanks|mit freundlichen|viele grüße|lg|"
    r"cordialement|saludos|atentamente|groet|saluti|abraços|atenciosamente|-- ?)\b.{0,20}$"
)
_ITEM = lazy(r"(?m)^[ \t]*(?:[-*+•]|\d{1,2}[.)])[ \t]+\S")
_HEADING = lazy(r"(?m)^#{1,6} \S")
_QUOTING = lazy(r"(?m)^[ \t]*>")
_LABEL = lazy(r"(?m)^[ \t]*[\w .'-]{1,24}[:：](?=\s)")


def marks_of(message: str) -> str:
    """What the lines of a message look like: names of the marks that it has."""
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


# --- weights ---------------------------------------------------------------------------


@frozen
class Head:
    """The weights of one question: buckets of int8, what one of them is worth, and how a sum becomes a probability."""

    weights: array[int]
    mask: int
    scale: float
    bias: float
    slope: float
    shift: float

    def score(self, hashes: Sequence[int]) -> float:
        weights, mask = self.weights, self.mask
        total = sum([weights[each & mask] for each in hashes])
        margin = self.bias + self.scale * total / math.sqrt(len(hashes) or 1)
        turned = self.slope * margin + self.shift
        return 1 / (1 + math.exp(-turned)) if turned > -60 else 0.0


@cache
def heads() -> dict[str, Head]:
    """Read the weights. The file is one line of JSON and the int8 buckets of each head behind it."""
    data = WEIGHTS.read_bytes()
    line, _, rest = data.partition(b"\n")
    told = json.loads(line)
    if told["schema"] != SCHEMA:
        raise ValueError(f"{WEIGHTS.name} is {told['schema']}, not {SCHEMA}")
    found: dict[str, Head] = {}
    at = 0
    for each in told["heads"]:
        size = 1 << each["bits"]
        weights = array("b", rest[at : at + size])
        at += size
        found[each["name"]] = Head(
            weights, size - 1, each["scale"], each["bias"], each["slope"], each["shift"]
        )
    return found


_DULL = 0.02
"""Below this chance of being kept, the kind of a sentence is not asked for."""


def select(text: str, around: Around = Around()) -> Scores:  # noqa: B008 - frozen
    """What the model says of a sentence."""
    hashes = features(text, around)
    known = heads()
    keep, change, forbid, quoted = (known[name].score(hashes) for name in HEADS[:4])
    if keep < _DULL and change < _DULL:
        return Scores(keep, change, forbid, quoted, (0.0,) * len(KINDS))
    kinds = tuple(known[name].score(hashes) for name in KINDS)
    return Scores(keep, change, forbid, quoted, kinds)
