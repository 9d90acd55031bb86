"""Which facts a person means by an id, a place, a relation or words.

Pure. `matching` never chooses between equals: it returns every fact that fits, and the caller asks.
"""

from __future__ import annotations

import re

from looseleaf.language.words import fold, is_eastern

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from looseleaf.base.values import Fact

STATUSES = ("current", "pending", "superseded", "rejected")
"""In the order in which words name facts."""

_LEAST_PREFIX = 4
"""Characters of an id that name a fact without its `f_`: fewer may well be a word."""

_ID = re.compile(r"f_[0-9a-z]*")
_HEX = re.compile(rf"[0-9a-f]{{{_LEAST_PREFIX},}}")
_PLACE = re.compile(r"[^\n]+\.md:[0-9]{1,7}")


def is_exact(words: str) -> bool:
    """Return whether words can only be an id or a place (`USER.md:5`)."""
    return bool(_ID.fullmatch(words) or _PLACE.fullmatch(words))


def matching(facts: Iterable[Fact], words: str, first: Sequence[str] = STATUSES) -> list[Fact]:
    """Return the facts that words name, in the order given.

    The first of these that fits any fact decides: the id, how an id begins, the place (`USER.md:5`); then, for one
    status after the other, as `first` lists them, the relation, and words that all stand on the line of the fact
    (`topic relation: value`), each at the start of a word.
    """
    every = list(facts)
    wanted = words.strip()
    prefix = f"f_{wanted}" if _HEX.fullmatch(wanted) else wanted
    is_prefix = len(prefix) > 2 and _ID.fullmatch(prefix) is not None
    for found in (
        [fact for fact in every if fact.id in (wanted, f"f_{wanted}")],
        [fact for fact in every if is_prefix and (fact.id or "").startswith(prefix)],
        [fact for fact in every if fact.path is not None and f"{fact.path}:{fact.line}" == wanted],
    ):
        if found:
            return found
    folded = fold(wanted)
    if not folded or is_exact(wanted):
        return []
    # Scripts of East Asia put no space between words.
    starts = [
        re.compile(re.escape(word) if is_eastern(word) else rf"(?<!\w){re.escape(word)}")
        for word in folded.split()
    ]

    def has_words(fact: Fact) -> bool:
        line = fold(f"{fact.topic} {fact.relation}: {fact.object}")
        return all(start.search(line) for start in starts)

    for status in first:
        group = [fact for fact in every if fact.status == status]
        named = [fact for fact in group if fold(fact.relation) == folded]
        if found := named or [fact for fact in group if has_words(fact)]:
            return found
    return []
