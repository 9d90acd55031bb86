"""Orders to forget: which held lines an order means.

People name what to forget by its words ("forget that I play chess"), by its sort ("the PIN", "my religion"), or by when
they said it ("what I just told you"). Each held line gets a chance of being meant. The weights behind it are trained on
real orders (`training/links.py`).

Pure. Linear in the number of lines, except for sorting.
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
    from looseleaf.facts.replacing import Lexicon, Signs

MEANT = 0.25
SURELY_MEANT = 0.6
"""An order removes a line at or above the first chance, and a line that a person confirmed at or above the second."""

EARLIER = 0.5
"""At or above this chance, an order refers to something said earlier."""


@frozen
class Order:
    """An order to forget: the sentences that give it (`said`), and three chances: that they forbid, that they refer to
    something said earlier, and that this is the message before. `named`: their terms, without the terms of forbidding;
    `rest`: the number of terms in the rest of the message, which may name the target; `is_content`: a clause of the
    order says what to forget."""

    said: str
    forbid: float
    erase: float
    last: float
    named: frozenset[str]
    rest: int = 0
    is_content: bool = False


@frozen
class HeldLine:
    """A line that an order may mean: a fact, or a line of a day. `value`: the value of a slot, and `beside`: the user's
    words next to it; `is_last`: it comes from the message before the order; `is_guarded`: it goes only if the order
    names it."""

    words: str
    value: str = ""
    beside: str = ""
    is_last: bool = False
    is_guarded: bool = False


def told_by(fact: Fact, *, is_last: bool) -> HeldLine:
    words = undoubted(worded(fact.relation, fact.object))
    if fact.relation == NOTE:
        return HeldLine(words, is_last=is_last)
    value = undoubted(fact.object)
    return HeldLine(words, value, words_beside(value, fact.quote or ""), is_last, fact.relation in _GUARDED)


_JOINT = lazy(
    r"[,;:.!?()、，。；：]|\b(?:and|und|et|y|e|en|but|aber|mais|pero|mas|ma|maar|or)\b", re.IGNORECASE
)
_IS = lazy(r"(?:'s|\W*(?:is|ist|est|es|é|è|我的|は))\b\W*", re.IGNORECASE)
_WORDS = 3


def words_beside(value: str, quote: str) -> str:
    """Return the words right before a value, and after it if they define it: "my dog" for "my dog Rex"."""
    before, found, after = quote.partition(value)
    if not found:
        return ""
    words = _JOINT.split(before)[-1].split()[-_WORDS:]
    if (joint := _IS.match(after)) is not None:
        words += _JOINT.split(after[joint.end() :])[0].split()[:_WORDS]
    return " ".join(words)


_GUARDED = frozenset({"Name", "Pronouns", "Birthday", "Allergy", "Condition", "Diet", "Answers", "Language"})
"""Slots that go only if an order names them: too much depends on them."""

_SHARE = 0.6
"""The least share of an order's terms that such a slot must have."""


def find_meant(order: Order, lines: Sequence[HeldLine], lexicon: Lexicon) -> dict[int, float]:
    """Return the numbers of the lines that an order may mean, with the chance of each."""
    return {
        at: chance_of(signs, lexicon.erasing)
        for at, signs in erasing_signs(order, lines, lexicon)
        if not lines[at].is_guarded or signs["share of order"] >= _SHARE
    }


def erasing_signs(order: Order, lines: Sequence[HeldLine], lexicon: Lexicon) -> Iterator[tuple[int, Signs]]:
    """Yield the number of each line that has a link to an order, with the signs that the order means it."""
    # "Forget my dog" means `Pet: Rex`, which comes from "my dog Rex".
    theirs = [terms_of(f"{line.words} {line.beside}" if line.beside else line.words) for line in lines]
    common = line_counts(theirs)
    most = log(len(lines) + 1)
    aspects = aspects_of(order.said, lexicon.matters)
    is_named = any(order.named & each for each in theirs)
    may_be_last = order.erase >= EARLIER and order.rest < _LITTLE and not (is_named or order.is_content)
    # "Forget what I said about my wife": if no line is about her, the message before is not meant.
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
                "said last, else named": float(line.is_last and bool(order.named) and not (shared or alike)),
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
"""The least chance of meaning the message before, for an order that names something no line has."""
_LITTLE = 3
"""If the rest of its message has this many terms or more, an order does not mean the message before, unless they share
a term or a matter."""
