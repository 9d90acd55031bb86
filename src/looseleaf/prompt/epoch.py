"""An epoch: the beginning of a prompt, which stays as it is from one compaction to the next, and what was told since.

It is written to the log when it begins, so that another process goes on with the same bytes: a provider's cache knows
nothing of processes.
"""

from __future__ import annotations

from looseleaf.base.immutable import frozen
from looseleaf.base.messages import Message
from looseleaf.prompt.manifest import Item, Omitted

TYPE_CHECKING = False
if TYPE_CHECKING:
    from looseleaf.base.values import Record

SCHEMA = "prompts.v1"

FIRST, COMPACTED, COLD, ROOMIER = "first", "compacted", "long_ago", "more_room"
CROWDED, ONCE = "crowded", "no_room"
"""Why a beginning was rendered: there was none; a compaction; no cache can know the last one any more; there is much
more room than before; it left too little for talk, and there was nothing to compact; only for one prompt, because
there is less room."""

Ref = tuple[str, int, int]
"""The id of a record, and its place in the log."""


@frozen
class Epoch:
    """`system` and `memory` are the two messages it begins with. `seen` has the revision of each page that they show;
    `left` are sentences of the window that they say already."""

    id: str
    ts: float
    mark: str | None
    why: str
    system: str
    memory: str
    items: tuple[Item, ...]
    omitted: tuple[Omitted, ...]
    seen: dict[str, str]
    left: tuple[str, ...]
    cuts: tuple[str, ...]
    budget: int
    tokenizer: str

    @property
    def messages(self) -> list[Message]:
        found = [Message("system", self.system)] if self.system else []
        return [*found, *([Message("user", self.memory)] if self.memory else [])]

    def to_record(self, agent: str) -> Record:
        return {
            "schema": SCHEMA,
            "id": self.id,
            "ts": self.ts,
            "kind": "snapshot",
            "agent": agent,
            "mark": self.mark,
            "why": self.why,
            "system": self.system,
            "memory": self.memory,
            "items": [item.to_dict() for item in self.items],
            "omitted": [each.to_dict() for each in self.omitted],
            "seen": self.seen,
            "left": list(self.left),
            "cuts": list(self.cuts),
            "budget": self.budget,
            "tokenizer": self.tokenizer,
        }

    @classmethod
    def from_record(cls, raw: Record) -> Epoch:
        """KeyError, TypeError or ValueError for what is none."""
        return cls(
            str(raw["id"]),
            float(raw["ts"]),
            raw["mark"],
            str(raw["why"]),
            str(raw["system"]),
            str(raw["memory"]),
            tuple(map(Item.from_dict, raw["items"])),
            tuple(map(Omitted.from_dict, raw["omitted"])),
            {str(path): str(revision) for path, revision in raw["seen"].items()},
            tuple(map(str, raw["left"])),
            tuple(map(str, raw["cuts"])),
            int(raw["budget"]),
            str(raw["tokenizer"]),
        )


@frozen
class Change:
    """A message that told what changed, behind the trace `after` (None: before all). `seen` has the revisions of the
    pages it spoke of; `came` and `went` the pages of the drawers that did."""

    id: str
    ts: float
    after: str | None
    text: str
    seen: dict[str, str]
    came: tuple[str, ...] = ()
    went: tuple[str, ...] = ()

    @property
    def message(self) -> Message:
        return Message("user", self.text)

    def to_record(self, agent: str, epoch: str, previous: Ref | None) -> Record:
        """`previous`: where the change before it stands."""
        return {
            "schema": SCHEMA,
            "id": self.id,
            "ts": self.ts,
            "kind": "changes",
            "agent": agent,
            "snapshot": epoch,
            "previous": previous,
            "after": self.after,
            "text": self.text,
            "seen": self.seen,
            "came": list(self.came),
            "went": list(self.went),
        }

    @classmethod
    def from_record(cls, raw: Record) -> Change:
        """KeyError, TypeError or ValueError for what is none."""
        return cls(
            str(raw["id"]),
            float(raw["ts"]),
            raw["after"],
            str(raw["text"]),
            {str(path): str(revision) for path, revision in raw["seen"].items()},
            tuple(map(str, raw["came"])),
            tuple(map(str, raw["went"])),
        )
