"""Levels of trust. A text's level follows from where it entered, never from what anyone claims about it."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from looseleaf.base.values import Level


# --- our own tools (`tools.toolset`): their answers come from memory and are no news ---

NAMES = (
    *("memory_list", "memory_read", "memory_write", "memory_patch", "memory_append"),
    *("remember", "recall", "memory_state", "memory_forget"),
)

OWN = frozenset({*NAMES, "memory"})
"""Those, and the one that a provider names and we execute."""

WRITERS = frozenset(
    {"memory_write", "memory_patch", "memory_append", "memory_state", "memory_forget", "remember"}
)
"""Those that change something: their results name their receipts, and a hook runs before them."""

PREFIX = "mcp__looseleaf__"
"""The prefix of coding agents for tools of an MCP server named `looseleaf`."""

PREFIXES = (PREFIX, "mcp__plugin_looseleaf_looseleaf__", "mcp_looseleaf_")
"""That one, the one of Claude Code for our plugin, and the one of Gemini CLI."""

RECALLED = "recalled"
"""The tag of text that memory put into a prompt: distilling it again would make memory of memory."""

NOTED = "client"
"""The tool of a note on what a coding agent's model was shown: it answers no call."""

QUIET = "client"
"""The tag of an answer of the coding agent's own program, which brings nothing from outside."""

CLIENTS = frozenset(
    (
        "ToolSearch WaitForMcpServers TodoWrite TaskCreate TaskUpdate TaskList TaskGet EnterPlanMode ExitPlanMode "
        "AskUserQuestion update_plan write_todos todo_write exit_plan_mode"
    ).split()
)
"""Tools of coding agents that only talk with the program itself, or with the user."""

FENCE = "<<data "
"""The start of a fence (`text/untrusted.py`): untrusted text follows, even in our own answers."""


def bare_name(name: str | None) -> str:
    """Return a tool's name without the prefix of an agent for our server."""
    name = name or ""
    return next((name.removeprefix(each) for each in PREFIXES if name.startswith(each)), name)


def is_own(name: str | None) -> bool:
    return bare_name(name) in OWN


def is_served(name: str | None) -> bool:
    """Return whether a coding agent calls our tool by that name; other tools may share our bare names."""
    return name is not None and name.startswith(PREFIXES) and is_own(name)


def is_news(name: str | None, tags: tuple[str, ...], text: str) -> bool:
    """Return whether a tool's result brings text from outside: all but our own and the client's, unless they hold a
    fence."""
    return not ((is_own(name) and RECALLED in tags) or QUIET in tags) or FENCE in text


FORBIDDEN = "do not remember"
"""The tag of a trace in which the user forbids remembering something."""

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
    """Return whether a message has a word piece that nearly every prohibition has. Cheap: runs on all that is
    recorded."""
    small = text[:20_000].lower()
    return any(hint in small for hint in _HINTS)


LEVELS: tuple[Level, ...] = ("tainted", "inferred", "said", "confirmed")
"""From the lowest to the highest."""

_OF_ORIGINS: dict[str, Level] = {"person": "confirmed", "user": "said", "assistant": "inferred"}


CONFIDENCE: dict[str, float] = {"confirmed": 1.0, "said": 0.9, "inferred": 0.6, "tainted": 0.3}
"""The confidence in a fact, by its level; lower where its words were found in another spelling only, or not at all."""


def level_of(origin: str) -> Level:
    """Return the level of an origin. Tools, the web, imports and other agents are untrusted."""
    return _OF_ORIGINS.get(origin, "tainted")


def is_imported(origin: str) -> bool:
    """Return whether an origin is an import: `import`, `import:<format>`."""
    return origin.partition(":")[0] == "import"


def lowest(levels: Iterable[Level]) -> Level:
    """Return the level of something derived from several things; of nothing, the lowest."""
    return min(levels, key=LEVELS.index, default="tainted")


def is_at_least(level: Level | None, least: Level) -> bool:
    return level is not None and LEVELS.index(level) >= LEVELS.index(least)


def is_trusted(level: Level | None) -> bool:
    """Return whether a text of this level may stand at the top of the folder, among essentials and in index lines."""
    return is_at_least(level, "said")
