"""Retrieve: a bundle of what was done last and of what is known, for a snapshot (seed 004 §5, §18).

From the same index as recall. With a question, what bears on it comes first; beyond that, and without one, what matters
most and is newest.
"""

from __future__ import annotations

from looseleaf.base.errors import Refused
from looseleaf.base.immutable import frozen
from looseleaf.index.protocol import Only

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from looseleaf.recall.hits import Hit
    from looseleaf.recall.question import Question
    from looseleaf.recall.recall import Recall

EPISODIC = ("episode", "entry")
SEMANTIC = ("fact",)

_LOOKED_AT = 400
"""Items of a sort, the newest, among which the ones that matter are chosen."""

_HALF_LIFE_DAYS = 60.0
"""Days after which being new counts half: about as long as what people are busy with."""

_DAY = 86_400.0
_SALIENCE = 0.5
"""Of what nobody has weighed."""


@frozen
class Bundle:
    """What a snapshot is made of: what was done, the newest last, and what is known, the weightiest first."""

    episodic: tuple[Hit, ...]
    semantic: tuple[Hit, ...]

    def to_dict(self) -> dict[str, Any]:
        return {name: [hit.to_dict() for hit in getattr(self, name)] for name in ("episodic", "semantic")}


def retrieve(
    recall: Recall, question: Question | None, max_episodic: int, max_semantic: int, now: float
) -> Bundle:
    for name, value in (("max_episodic", max_episodic), ("max_semantic", max_semantic)):
        if type(value) is not int or value < 0:
            raise Refused(
                f"Nothing was retrieved: `{name}` must be a whole number of at least 0, not {value!r}."
            )
    asked = recall(question) if question is not None else ()
    episodic = _filled(recall, asked, EPISODIC, max_episodic, now)
    semantic = _filled(recall, asked, SEMANTIC, max_semantic, now)
    return Bundle(tuple(sorted(episodic, key=lambda hit: (hit.ts or 0.0, hit.where))), tuple(semantic))


def _filled(recall: Recall, asked: Sequence[Hit], kinds: tuple[str, ...], most: int, now: float) -> list[Hit]:
    """What was asked for, and then what weighs most."""
    found = [hit for hit in asked if hit.kind in kinds][:most]
    have = {hit.where for hit in found}
    if len(found) < most:
        newest = [hit for hit in recall.newest(Only(kinds=kinds), _LOOKED_AT) if hit.where not in have]
        newest.sort(key=lambda hit: (-weight(hit, now), hit.where))
        found += newest[: most - len(found)]
    return found


def weight(hit: Hit, now: float) -> float:
    """How much it matters, by its salience and by how new it is; a fact's salience is the person's score, if any."""
    age = max(now - hit.ts, 0.0) / _DAY if hit.ts is not None else _HALF_LIFE_DAYS * 4
    salience = hit.parts.get("salience", _SALIENCE)
    return float(salience + 0.5 ** (age / _HALF_LIFE_DAYS))
