"""A prompt and its manifest: what is in it, why, and what was left out (seed 000; FORMAT §14).

Invariant: a manifest's items cover every character of every message of its prompt, each once, and their tokens add up
to its total.
"""

from __future__ import annotations

import json
import re
from functools import cache

from looseleaf.base.immutable import Replaceable, frozen, members_of
from looseleaf.base.messages import Message
from looseleaf.base.values import sha256
from looseleaf.log.turns import texts_of
from looseleaf.prompt.farther import cut_lines, fill_lines
from looseleaf.text.untrusted import GAP, escaped, spelt

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Any, Literal

    from looseleaf.base.values import Record

    Slot = Literal["charter", "profile", "state", "essentials", "index", "episodes", "window", "task"]


SCHEMA = "manifest.v1"
SLOTS: tuple[Slot, ...] = ("charter", "profile", "state", "essentials", "index", "episodes", "window", "task")
"""In prompt order."""


@frozen
class ManifestItem(Replaceable):
    """One part of a prompt: the messages from `first` up to, not including, `end`; of a single message the characters
    from `start` to `stop`, or all (None). `of` names its sources: a page and its hash, facts, pages, traces."""

    id: str
    slot: Slot
    type: str
    format: str
    tokens: int
    reason: str
    first: int
    end: int
    start: int | None = None
    stop: int | None = None
    of: tuple[str, ...] = ()
    layer: str = ""
    """The farther memory that it is from; "": the memory itself."""

    def to_dict(self) -> dict[str, Any]:
        names = ("id", "slot", "type", "format", "tokens", "reason")
        where: dict[str, Any] = {"messages": [self.first, self.end]}
        if self.start is not None:
            where["characters"] = [self.start, self.stop]
        of: dict[str, Any] = {"of": list(self.of)} if self.of else {}
        of |= {"layer": self.layer} if self.layer else {}
        return {name: getattr(self, name) for name in names} | where | of

    @classmethod
    def from_dict(cls, raw: Record) -> ManifestItem:
        """Raise KeyError, TypeError or ValueError for anything else."""
        first, end = map(int, raw["messages"])
        start, stop = map(int, raw["characters"]) if "characters" in raw else (None, None)
        texts: Any = {name: str(raw[name]) for name in ("id", "slot", "type", "format", "reason")}
        of = tuple(map(str, raw.get("of", ())))
        places: Any = {"first": first, "end": end, "start": start, "stop": stop}
        return cls(**texts, tokens=int(raw["tokens"]), **places, of=of, layer=str(raw.get("layer", "")))


@frozen
class Omitted:
    """What is not in a prompt, and why: one thing, or several of a kind (`of` names them)."""

    id: str
    slot: Slot
    reason: str
    of: tuple[str, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        said = {"id": self.id, "slot": self.slot, "reason": self.reason}
        return said | ({"of": list(self.of)} if self.of else {})

    @classmethod
    def from_dict(cls, raw: Record) -> Omitted:
        """Raise KeyError or TypeError for anything else."""
        name, slot, reason = (str(raw[name]) for name in ("id", "slot", "reason"))
        return cls(name, slot, reason, tuple(map(str, raw.get("of", ()))))  # type: ignore[arg-type]


def _write_members(value: object) -> Record:
    """Return a value's members as JSON has them: tuples as lists, their parts as objects."""
    return {name: _write_value(member) for name, member in members_of(value).items()}


def _write_value(value: Any) -> Any:
    if isinstance(value, tuple):
        return [_write_value(each) for each in value]
    return value.to_dict() if isinstance(value, (ManifestItem, Omitted)) else value


def _read_members(kind: type, raw: Record) -> dict[str, Any]:
    """Return the members of a value, each read by its type; KeyError, TypeError or ValueError if one is not there."""
    return {name: _READERS[of](raw[name]) for name, of in kind.__annotations__.items() if of in _READERS}


def _write_cut(value: Epoch | EpochChange, text: str) -> Record:
    """Return a value's members, with holes in the text for the lines of farther layers."""
    kept, holes = cut_lines(getattr(value, text), value.farther)
    members = {name: each for name, each in _write_members(value).items() if name != "farther"}
    return members | {text: kept} | ({"farther": holes} if holes else {})


def _read_cut(kind: type, raw: Record, text: str, read: Callable[[str], str]) -> dict[str, Any]:
    members = _read_members(kind, raw)
    holes = raw.get("farther") or ()
    if holes:
        members[text], lines = fill_lines(members[text], holes, read)
        members["farther"] = tuple(lines)
    return members


def _read_no_layer(name: str) -> str:
    raise ValueError(f"{name} is of another layer")


_READERS: dict[str, Callable[[Any], Any]] = {
    "str": str,
    "int": int,
    "float": float,
    "str | None": lambda raw: raw,
    "tuple[str, ...]": lambda raw: tuple(map(str, raw)),
    "dict[str, str]": lambda raw: {str(name): str(value) for name, value in raw.items()},
    "tuple[ManifestItem, ...]": lambda raw: tuple(map(ManifestItem.from_dict, raw)),
    "tuple[Omitted, ...]": lambda raw: tuple(map(Omitted.from_dict, raw)),
}


@frozen
class Manifest(Replaceable):
    """`timestamp`, totals and items as in seed 000. `prefix_hash` covers the messages that stay until the next
    compaction, `sha256` all of them; `epoch` says why the former were rendered."""

    id: str
    timestamp: str
    total_tokens: int
    budget_tokens: int
    items: tuple[ManifestItem, ...]
    omitted: tuple[Omitted, ...]
    model: str
    tokenizer: str
    prefix_hash: str
    sha256: str
    agent: str
    epoch: str
    prefix_tokens: int
    cuts: tuple[str, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        return {"schema": SCHEMA} | _write_members(self)

    @classmethod
    def from_dict(cls, raw: Record) -> Manifest:
        """Raise KeyError, TypeError or ValueError for anything else."""
        return cls(**_read_members(cls, raw))

    def by_slot(self) -> dict[Slot, int]:
        """Return the tokens of each slot that has any, in prompt order."""
        found = {slot: sum(item.tokens for item in self.items if item.slot == slot) for slot in SLOTS}
        return {slot: tokens for slot, tokens in found.items() if tokens}


@frozen
class Prompt:
    """The messages for a model, and why they are what they are."""

    messages: tuple[Message, ...]
    manifest: Manifest

    @property
    def text(self) -> str:
        """The whole prompt to read: each message after its role."""
        return text_of(self.messages)

    def to_openai(self) -> dict[str, Any]:
        """The messages for Chat Completions: `client.chat.completions.create(model=…, **prompt.to_openai())`."""
        return self._render("openai-chat", "messages")

    def to_anthropic(self) -> dict[str, Any]:
        """System and messages for Anthropic: `client.messages.create(model=…, max_tokens=…, **prompt.to_anthropic())`.
        The stable beginning is marked for the provider's cache."""
        return self._render("anthropic", "system", "messages")

    def to_gemini(self) -> dict[str, Any]:
        """Contents and config for Gemini: `client.models.generate_content(model=…, **prompt.to_gemini())`."""
        return self._render("gemini", "contents", "config")

    def _render(self, name: str, *members: str) -> dict[str, Any]:
        from looseleaf.models.choice import dialect
        from looseleaf.models.dialect import CallOptions

        payload = dialect(name).render(self.manifest.model or "", self.messages, (), CallOptions()).payload
        return {member: payload[member] for member in members if member in payload}

    def text_of(self, item: ManifestItem) -> str:
        """Return the text of an item."""
        if item.start is None:
            return text_of(self.messages[item.first : item.end])
        return (self.messages[item.first].content or "")[item.start : item.stop]


@cache
def _role_start() -> re.Pattern[str]:
    """Match a line that begins like a message; invisible characters may come before the backslash."""
    roles = "|".join(map(spelt, ("system", "user", "assistant", "tool")))
    return re.compile(
        r"(?<![^\n\r\v\f\x1c-\x1e])[\x00-\x09\x0e-\x1b\x1f\x20\x7f]*+"
        rf"\[(?={GAP}(?:{roles}){GAP}\])"
    )


def text_of(messages: Sequence[Message]) -> str:
    """Render each message alone, so that a longer prompt's text begins with a shorter one's. Escape lines that look
    like the next message's role."""
    lines: list[str] = []
    for message in messages:
        media = (*message.image_urls, *message.audio_urls, *message.video_urls)
        texts = (*texts_of(message), *(f"({each})" for each in media))
        lines += [f"[{message.role}]", *(escaped(each, _role_start(), "[") for each in texts), ""]
    return "".join(f"{line}\n" for line in lines)


def hash_of(messages: Sequence[Message]) -> str:
    """Return a hash that is equal for messages equal in every byte."""
    told = [message.to_dict() for message in messages]
    text = json.dumps(told, ensure_ascii=False, separators=(",", ":"))
    return sha256(text.encode("utf-8", "surrogatepass"))


# --- epochs: the beginning of a prompt between two compactions, and the changes since -------

PROMPTS_SCHEMA = "prompts.v1"

FIRST, COMPACTED, COLD, ROOMIER = "first", "compacted", "long_ago", "more_room"
CROWDED, ONCE, LOST = "crowded", "no_room", "lost"
"""Why a beginning was rendered: there was none; a compaction; no cache can still hold the last one; there is much
more room than before; it left too little for talk, and there was nothing to compact; only for one prompt, because
there is less room; the journal lost a version of a page that it showed."""

Ref = tuple[str, int, int]
"""The id of a record, and its place in the log."""


@frozen
class Epoch:
    """`system` and `memory` are its first two messages. `seen` has the revision of each page they show; `left` are
    sentences of the window that they already say."""

    id: str
    ts: float
    mark: str | None
    why: str
    system: str
    memory: str
    items: tuple[ManifestItem, ...]
    omitted: tuple[Omitted, ...]
    seen: dict[str, str]
    left: tuple[str, ...]
    cuts: tuple[str, ...]
    budget: int
    tokenizer: str
    farther: tuple[tuple[str, str], ...] = ()
    """The lines of `memory` that are of farther layers, and their facts."""

    @property
    def messages(self) -> list[Message]:
        found = [Message("system", self.system)] if self.system else []
        return [*found, *([Message("user", self.memory)] if self.memory else [])]

    def to_record(self, agent: str) -> Record:
        head = {"schema": PROMPTS_SCHEMA, "id": self.id, "ts": self.ts, "kind": "snapshot", "agent": agent}
        return head | _write_cut(self, "memory")

    @classmethod
    def from_record(cls, raw: Record, read: Callable[[str], str] = _read_no_layer) -> Epoch:
        """Raise KeyError, TypeError or ValueError for anything else. `read` returns a line of a farther layer."""
        return cls(**_read_cut(cls, raw, "memory", read))


@frozen
class EpochChange:
    """A message about changes, placed after the trace `after` (None: before all). `seen` has the revisions of the pages
    it mentions; `came` and `went` the pages that were added to or removed from the drawers."""

    id: str
    ts: float
    after: str | None
    text: str
    seen: dict[str, str]
    came: tuple[str, ...] = ()
    went: tuple[str, ...] = ()
    farther: tuple[tuple[str, str], ...] = ()
    """The lines of `text` that are of farther layers, and their facts."""

    @property
    def message(self) -> Message:
        return Message("user", self.text)

    def to_record(self, agent: str, epoch: str, previous: Ref | None) -> Record:
        """Return its line in the log. `previous`: the place of the change before it."""
        head = {"schema": PROMPTS_SCHEMA, "id": self.id, "ts": self.ts, "kind": "changes", "agent": agent}
        return head | {"snapshot": epoch, "previous": previous} | _write_cut(self, "text")

    @classmethod
    def from_record(cls, raw: Record, read: Callable[[str], str] = _read_no_layer) -> EpochChange:
        """Raise KeyError, TypeError or ValueError for anything else. `read` returns a line of a farther layer."""
        return cls(**_read_cut(cls, raw, "text", read))
