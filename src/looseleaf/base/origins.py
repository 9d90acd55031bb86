"""Levels: how far something may be believed, by where its words entered and never by what anybody says of them."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from looseleaf.base.values import Level

LEVELS: tuple[Level, ...] = ("tainted", "inferred", "said", "confirmed")
"""From the lowest to the highest."""

_OF_ORIGINS: dict[str, Level] = {"person": "confirmed", "user": "said", "assistant": "inferred"}


CONFIDENCE: dict[str, float] = {"confirmed": 1.0, "said": 0.9, "inferred": 0.6, "tainted": 0.3}
"""That a fact is true, by its level; less where its words were found only in another spelling, or not at all."""


def level_of(origin: str) -> Level:
    """What tools, the web, imports and other agents say is data: nobody vouches for it."""
    return _OF_ORIGINS.get(origin, "tainted")


def is_imported(origin: str) -> bool:
    """Whether it was brought in as data from elsewhere: `import`, `import:<format>`."""
    return origin.partition(":")[0] == "import"


def lowest(levels: Iterable[Level]) -> Level:
    """Of what was derived from several things; nothing at all vouches for nothing."""
    return min(levels, key=LEVELS.index, default="tainted")


def is_at_least(level: Level | None, least: Level) -> bool:
    return level is not None and LEVELS.index(level) >= LEVELS.index(least)


def is_trusted(level: Level | None) -> bool:
    """Whether it may stand at the top of the folder, among what must not be forgotten, and in index lines."""
    return is_at_least(level, "said")
