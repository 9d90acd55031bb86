"""What the journal says each page is now (its head, FORMAT §5.2), and where each agent's window begins."""

from __future__ import annotations

from looseleaf.base.errors import Refused
from looseleaf.base.immutable import frozen
from looseleaf.store import JOURNAL_SCHEMA

TYPE_CHECKING = False
if TYPE_CHECKING:
    from looseleaf.base.values import Position, Record

SCHEMA = JOURNAL_SCHEMA
KNOWN_SCHEMAS = frozenset({SCHEMA, "lost.v1"})

EARLY = "early"
HARD = "hard"
FLAGS = (EARLY, HARD)
"""Why a window is to be compacted: it is getting full, or it was too full already."""

EXTERNAL = "external"
UNKNOWN = "unknown"
PERSON = "person"
PROGRAM = "program"
AGENT = "agent:"
"""Authors: an edit found on disk; one found there where the journal has a hole, so that it may be anybody's; one that
a person asked for; one of the program's own; and `agent:<name>`."""

OBEYED = "the user said to forget it"
"""The reason of an edit by which the program takes away what the user said to forget: in the user's name."""


@frozen
class Head:
    """What the journal says a page is now: the hash of its bytes (None: there is no page), and by which edit."""

    sha256: str | None
    edit: str | None = None
    base: str | None = None


NO_PAGE = Head(None)


def fold(heads: dict[str, Head], record: Record) -> None:
    """Take one journal record into the heads."""
    path = record.get("path")
    if record.get("kind") == "edit":
        heads[str(path)] = Head(record.get("new"), record.get("id"), record.get("base"))
    elif record.get("kind") == "void":
        head = heads.get(str(path))
        if head is not None and head.edit == record.get("edit"):
            heads[str(path)] = Head(head.base)


@frozen
class AgentHead:
    """The last mark of an agent: its id and its place in the journal; None: its window begins with its first trace.

    `flag`: its window is to be compacted before the next call, `early` or `hard`. `through`: the place in its traces
    up to which they have been distilled.
    """

    mark: str | None = None
    segment: int = 0
    offset: int = 0
    flag: str | None = None
    through: tuple[int, int] = (0, 0)


NO_MARK = AgentHead()


def fold_agents(agents: dict[str, AgentHead], record: Record, position: Position) -> None:
    """Take one journal record into what is known of the agents. A mark is what its flag asked for."""
    agent = str(record.get("agent"))
    head = agents.get(agent, NO_MARK)
    if record.get("kind") == "mark":
        agents[agent] = AgentHead(record.get("id"), *position, None, head.through)
    elif record.get("kind") == "flag":
        flag = record.get("flag") if record.get("flag") in FLAGS else None
        agents[agent] = AgentHead(head.mark, head.segment, head.offset, flag, head.through)
    elif record.get("kind") == "placed" and record.get("through"):
        segment, offset = record["through"]
        through = max(head.through, (int(segment), int(offset)))
        agents[agent] = AgentHead(head.mark, head.segment, head.offset, head.flag, through)


def refuse_unknown(record: Record) -> None:
    """A record of a format this program does not know may mean anything: nothing is read past it."""
    schema = record.get("schema")
    if not isinstance(schema, str) or schema not in KNOWN_SCHEMAS:
        raise Refused(
            f"Nothing was done: the journal holds a record of the format {schema!r}, and this looseleaf knows "
            f"{', '.join(sorted(KNOWN_SCHEMAS))}. Use the looseleaf that wrote it, or a newer one."
        )
