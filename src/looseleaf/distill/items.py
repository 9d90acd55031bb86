"""The items of a list in a sentence: `peanuts, eggs and kiwi`."""

from __future__ import annotations

import re

from looseleaf.distill.slot_tables import Reading
from looseleaf.text.patterns import lazy

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

_AND = r"(?:and|or|und|oder|et|ou|y|e|o|en|of)"
_ITEM = lazy(
    rf"(?:\s*,\s*(?:{_AND}\s+)?|\s+{_AND}\s+)([^\W\d_][\w'-]*(?: [\w'-]+)?)(?=\s*(?:[,.;!)]|\Z|{_AND}\s))",
    re.IGNORECASE,
)
_NO_ITEM = frozenset(
    "i i'm im i've so but please pls thanks btw which no not too also we my he she it they you ich bitte je".split()
)
"""Words that begin something else."""


def with_items(text: str, readings: Iterable[Reading]) -> Iterator[Reading]:
    """What was read, and what else stands in a list that a value begins: where a missing item is grave."""
    for first in readings:
        yield first
        if first.label == "Allergy" and not first.ended:
            at = max(text.find(first.value, first.start), 0) + len(first.value)
            while (item := _ITEM.match(text, at)) and item[1].lower().split()[0] not in _NO_ITEM:
                at = item.end(1)
                yield Reading(first.topic, first.label, item[1], item.start(1), at, is_plain=first.is_plain)
