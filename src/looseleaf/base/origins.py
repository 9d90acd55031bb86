"""Levels: how far something may be believed, by where its words entered and never by what anybody says of them."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from looseleaf.base.values import Level


# Our own tools, by name (`tools.toolset` has them): what they answer is memory already, and no news from
# outside.

NAMES = (
    "memory_list",
    "memory_read",
    "memory_write",
    "memory_patch",
    "memory_append",
    "remember",
    "recall",
    "memory_state",
    "memory_forget",
)

OWN = frozenset({*NAMES, "memory"})
"""With the one that a provider names and we carry out."""

PREFIX = "mcp__looseleaf__"
"""What coding agents put before the name of a tool that an MCP server called `looseleaf` serves."""

RECALLED = "recalled"
"""The tag of text that memory itself put into a prompt: distilling it again would make memory of memory."""

FENCE = "<<data "
"""How a fence begins (`text/untrusted.py`): behind it stands what nobody vouches for, also where we answered it."""


def is_own(name: str | None) -> bool:
    return name is not None and name.removeprefix(PREFIX) in OWN


def is_served(name: str | None) -> bool:
    """Whether a coding agent calls a tool of ours by that name: others may have tools that are called as ours are."""
    return name is not None and name.startswith(PREFIX) and is_own(name)


def is_news(name: str | None, tags: tuple[str, ...], text: str) -> bool:
    """Whether a tool's result brings words from outside: every one but our own, and of these what they fenced."""
    return not (is_own(name) and RECALLED in tags) or FENCE in text


FORBIDDEN = "do not remember"
"""The tag of a trace in which the user forbids to remember something."""

_HINTS = (
    "forget|remember|memor|off the record|between us|between you|n't save|not save|n't store|n't keep|not "
    "keep|n't note|n't retain|delete|erase|"
    "wipe|purge|scrub|unlearn|un-know|unsay|strike|confidential|never said|never mentioned|didn't hear|"
    "stays here|stays in|to yourself|trace|private|secret|"
    "vergiss|vergess|merk|speicher|unter uns|lösch|loesch|gedächtnis|notier|vertraulich|aufzeichn|notizen|"
    "oubli|retien|retenez|mémo|note|enregistr|efface|"
    "supprim|entre nous|confiden|olvid|recuerd|guard|anot|borr|elimin|entre nosotros|secreto|esque|lembr|"
    "salv|apag|entre nós|segredo|regist|dimentic|ricord|"
    "memorizz|segna|cancell|tra noi|tra me|segret|memoria|vergeet|onthoud|bewaar|opsla|sla |wis |verwijder|"
    "onder ons|tussen ons|geheim|geheugen|noteer|aanteken|"
    "忘|记|記|保密|删|存|私下|秘密|我们之间|覚え|憶え|メモ|内緒|消して|残さ|ここだけ|オフレコ|잊|기억|저장|비밀|지워|삭제|메모|우리끼리|남기지|기록"
).split("|")


def may_forbid(text: str) -> bool:
    """Whether a message has a piece that nearly every prohibition has one of. Cheap: asked of all that is recorded."""
    small = text[:20_000].lower()
    return any(hint in small for hint in _HINTS)


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
