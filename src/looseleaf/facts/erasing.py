"""What an order to forget is about: the held lines that it means.

People name what to forget by its words ("forget that I play chess"), by what it is ("the PIN", "my religion"), or by
when they said it ("what I just told you"). Each held line gets a chance of being meant, from signs whose weights are
trained on what people said (`training/links.py`).

Pure, and linear in what is held, but for sorting.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from math import log

from looseleaf.base.immutable import frozen
from looseleaf.facts.replacing import aspects_of, chance_of, has_number, line_counts, margin_of, terms_of
from looseleaf.text.lines import NOTE, undoubted, worded
from looseleaf.text.patterns import lazy

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from looseleaf.base.values import Fact
    from looseleaf.facts.replacing import Lexicon

MEANT = 0.25
SURELY_MEANT = 0.6
"""An order removes a line at or above the first chance, and one that a person confirmed at or above the second."""

EARLIER = 0.5
"""At or above this chance, an order is taken to be about what was said earlier."""


@frozen
class Order:
    """What a message orders to forget: the sentences that say it, and the chances that they do, that they speak of what
    was said earlier, and if so, of the message before. `named`: their terms without those of forbidding; `rest`: how
    many terms the rest of the message has, which may be what is meant; `is_content`: a clause of theirs says what."""

    said: str
    forbid: float
    erase: float
    last: float
    named: frozenset[str]
    rest: int = 0
    is_content: bool = False


@frozen
class Told:
    """A line that tells something: a fact, or a line of a day. `value`: that of a slot, and `beside`: what the user
    said beside it; `is_last`: the message before the order said it; `is_guarded`: it goes only if it is named."""

    words: str
    value: str = ""
    beside: str = ""
    is_last: bool = False
    is_guarded: bool = False


def told_by(fact: Fact, *, is_last: bool) -> Told:
    words = undoubted(worded(fact.relation, fact.object))
    if fact.relation == NOTE:
        return Told(words, is_last=is_last)
    value = undoubted(fact.object)
    return Told(words, value, beside(value, fact.quote or ""), is_last, fact.relation in _GUARDED)


_JOINT = lazy(
    r"[,;:.!?()、，。；：]|\b(?:and|und|et|y|e|en|but|aber|mais|pero|mas|ma|maar|or)\b", re.IGNORECASE
)
_IS = lazy(r"(?:'s|\W*(?:is|ist|est|es|é|è|我的|は))\b\W*", re.IGNORECASE)
_WORDS = 3


def beside(value: str, quote: str) -> str:
    """What a sentence says directly before a value, and after it if that says what it is: "my dog" of "my dog Rex" and
    of "Rex is my dog"."""
    before, found, after = quote.partition(value)
    if not found:
        return ""
    words = _JOINT.split(before)[-1].split()[-_WORDS:]
    if (joint := _IS.match(after)) is not None:
        words += _JOINT.split(after[joint.end() :])[0].split()[:_WORDS]
    return " ".join(words)


_GUARDED = frozenset({"Name", "Pronouns", "Birthday", "Allergy", "Condition", "Diet", "Answers", "Language"})
"""Slots that no order takes away that does not name them: too much depends on them."""

_SHARE = 0.6
"""Least share of the terms of an order that such a slot has."""


def meant_by(order: Order, lines: Sequence[Told], lexicon: Lexicon) -> dict[int, float]:
    """The numbers of the lines that an order may mean, with the chance of each."""
    return {
        at: chance_of(signs, lexicon.erasing)
        for at, signs in erasing_signs(order, lines, lexicon)
        if not lines[at].is_guarded or signs["share of order"] >= _SHARE
    }


def erasing_signs(
    order: Order, lines: Sequence[Told], lexicon: Lexicon
) -> Iterator[tuple[int, dict[str, float]]]:
    """The numbers of the lines that anything links to an order, each with the signs that it is meant."""
    # "Forget my dog" means `Pet: Rex`, which was read from "my dog Rex".
    theirs = [terms_of(f"{line.words} {line.beside}" if line.beside else line.words) for line in lines]
    common = line_counts(theirs)
    most = log(len(lines) + 1)
    aspects = aspects_of(order.said, lexicon.matters)
    is_named = any(order.named & each for each in theirs)
    may_be_last = order.erase >= EARLIER and order.rest < _LITTLE and not (is_named or order.is_content)
    # "Forget what I said about my wife": if nothing is held of her, what was said just before is not meant.
    may_be_last = may_be_last and (not order.named or order.last >= _LAST)
    weighed: list[tuple[float, int, frozenset[str], int]] = []
    for at, line in enumerate(lines):
        shared = order.named & theirs[at]
        alike = len(aspects & aspects_of(line.words, lexicon.matters)) if aspects and not is_named else 0
        if shared or alike or (line.is_last and may_be_last):
            weighed.append((sum(1 - log(common[term]) / most for term in shared), at, shared, alike))
    ranked = sorted(-rare for rare, *_ in weighed)
    by_aspect = sorted(-alike for *_, alike in weighed)
    forbid, erase, lastly = map(margin_of, (order.forbid, order.erase, max(order.erase * order.last, _LEAST)))
    is_alone = all(lines[at].is_last for _, at, *_ in weighed)
    for rare, at, shared, alike in weighed:
        line = lines[at]
        better = bisect_left(ranked, -rare - 1e-9)
        more_alike = bisect_left(by_aspect, -alike)
        yield (
            at,
            {
                "bias": 1.0,
                "forbid": forbid,
                "erase": erase,
                "shared": min(rare, 3.0),
                "erase × shared": (forbid + erase) * min(rare, 3.0),
                "names": min(sum(map(lexicon.is_name, shared)), 2),
                "share of order": len(shared) / max(len(order.named), 1),
                "best": float(not better and rare > 0),
                "better ones": min(better, 4),
                "aspects": min(alike, 3),
                "aspects alone": min(alike, 3) * (ranked[0] >= 0),
                "most alike": float(not more_alike and alike > 0),
                "more alike ones": min(more_alike, 4),
                "said last": float(line.is_last),
                "said last, meant": lastly * line.is_last,
                "said last, alone": float(line.is_last and is_alone),
                "said last, else named": float(
                    line.is_last and bool(order.named) and not shared and not alike
                ),
                "said earlier, last meant": lastly * (not line.is_last),
                "number": float("about_code" in aspects and any(map(has_number, theirs[at]))),
                "names little": float(not order.named),
                "value named": float(bool(line.value) and terms_of(line.value) <= order.named),
                "length": log(len(order.said) + 1),
                "length of line": log(len(line.words) + 1),
            },
        )


_LEAST = 0.05
"""A lower chance of meaning the message before counts as this one."""
_LAST = 0.45
"""Least chance of meaning the message before, for an order that names something which no line has."""
_LITTLE = 3
"""If the rest of its message has this many terms or more, an order is not about the message before, unless they share a
term or a matter."""
