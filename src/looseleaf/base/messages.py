"""The values of talk: traces (what was said and done), messages (what a model gets), distilled entries.

A trace's members are those of its line in the log (FORMAT §11.1); a message's members suffice for every provider's
shape. Both are independent of disk, clock and provider.
"""

from __future__ import annotations

from looseleaf.base.immutable import Replaceable, frozen, members_of
from looseleaf.base.values import are_texts

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any, Literal, Protocol

    from looseleaf.base.values import Kind, Record, TimeSpan

    TraceType = Literal["user", "assistant", "tool_call", "tool_result"]
    Flag = Literal["no_call", "second_result"]
    MessageRole = Literal["system", "user", "assistant", "tool"]
    CallStatus = Literal["PENDING", "SUCCESS", "ERROR"]
else:
    Protocol = object

TRACE_TYPES: tuple[TraceType, ...] = ("user", "assistant", "tool_call", "tool_result")

_REQUIRED = ("id", "ts", "turn_id", "seq", "trace_type", "content", "source_event", "session_id", "origin")
_OPTIONAL = (
    *("media", "reasoning", "tool_name", "tool_call_id", "tool_args", "tool_error", "tool_result_ref"),
    *("correlation_id", "opaque", "flag", "behind", "person"),
)


@frozen
class Trace(Replaceable):
    """One thing said or done. `origin` is where it entered: stamped on recording, never claimed."""

    id: str
    ts: float
    turn_id: str
    seq: int
    trace_type: TraceType
    content: str
    source_event: str
    session_id: str
    origin: str
    media: dict[str, list[str]] | None = None
    reasoning: str | None = None
    tool_name: str | None = None
    tool_call_id: str | None = None
    tool_args: Any = None
    tool_result: Any = None
    tool_error: str | None = None
    tool_result_ref: str | None = None
    correlation_id: str | None = None
    opaque: dict[str, Any] | None = None
    tags: tuple[str, ...] = ()
    flag: Flag | None = None
    session_start: bool = False
    behind: float | None = None
    """The seconds by which its time is behind the log, if the clock was."""
    person: str | None = None
    """Who said it, as the server knows them by their token; None where nobody is told apart."""

    def to_record(self) -> Record:
        """Return its line in the log, without empty members."""
        record: Record = {name: getattr(self, name) for name in _REQUIRED}
        for name in _OPTIONAL:
            value = getattr(self, name)
            if value is not None:
                record[name] = value
        if self.tags:
            record["tags"] = list(self.tags)
        if self.session_start:
            record["session_start"] = True
        if self.trace_type == "tool_result" and (self.tool_result is not None or self.tool_error is None):
            record["tool_result"] = self.tool_result
        return record

    @classmethod
    def from_record(cls, record: Record) -> Trace | None:
        """Return the trace of a line. None if it is no trace: a reserved turn, a lost record, a handmade line without
        the required members. Members that only we add (session, origin) may be missing."""
        if record.get("trace_type") not in TRACE_TYPES:
            return None
        given = {"session_id": "", "origin": "", "source_event": ""} | {
            name: record[name] for name in (*_REQUIRED, *_OPTIONAL, "tool_result") if name in record
        }
        tags = record.get("tags")
        given["tags"] = tuple(map(str, tags)) if isinstance(tags, list) else ()
        given["session_start"] = record.get("session_start") is True
        return cls(**given) if _is_sound(given) else None


_TEXTS = ("id", "turn_id", "content", "source_event", "session_id", "origin")
MAY_BE_TEXT = ("reasoning", "tool_name", "tool_call_id", "tool_error", "tool_result_ref", "correlation_id")
FARTHEST = 1e11
"""The largest distance of a time from 1970, in seconds: some thousands of years."""


def _is_sound(given: dict[str, Any]) -> bool:
    """Return whether every member has the type that readers rely on: a line can come from anywhere."""
    ts: Any = given.get("ts")
    behind: Any = given.get("behind")
    media = given.get("media")
    return (
        all(type(given.get(name)) is str for name in _TEXTS)
        and all(given.get(name) is None or type(given[name]) is str for name in (*MAY_BE_TEXT, "person"))
        and type(given.get("seq")) is int
        and type(ts) in (int, float)
        and abs(ts) < FARTHEST
        and (behind is None or (type(behind) in (int, float) and 0 <= behind < FARTHEST))
        and given.get("flag") in (None, "no_call", "second_result")
        and (given.get("opaque") is None or isinstance(given["opaque"], dict))
        and (media is None or (isinstance(media, dict) and all(map(are_texts, media.values()))))
    )


@frozen
class ToolInteraction:
    """A tool call with its result, if it has one. Derived, never stored."""

    tool_call_id: str
    turn_id: str
    tool_name: str
    arguments: Any
    result: Any
    error: str | None
    status: CallStatus

    def to_dict(self) -> dict[str, Any]:
        return members_of(self)


@frozen
class Block:
    """The smallest part of a turn that compaction may take: a tool call with its result, a message pair, or one
    trace that belongs to neither. `settled`: it is complete."""

    traces: tuple[Trace, ...]
    settled: bool


@frozen
class Turn:
    """A user's message and all that follows from it, in log order."""

    turn_id: str
    traces: tuple[Trace, ...]

    @property
    def session_id(self) -> str:
        return self.traces[0].session_id

    @property
    def ts(self) -> float:
        return self.traces[0].ts


@frozen
class Session:
    """One sitting of one agent. `machine`: where it was, if not on this one."""

    session_id: str
    first_ts: float
    last_ts: float
    turns: int
    traces: int
    opening: str
    machine: str = ""

    def to_dict(self) -> dict[str, Any]:
        found = members_of(self)
        if not self.machine:
            del found["machine"]
        return found


@frozen
class ToolCallSpec:
    """One call that a model requests. `opaque`: as in `Message`."""

    id: str
    name: str
    arguments: Any
    opaque: dict[str, Any] | None = None

    def to_dict(self) -> dict[str, Any]:
        """Return its members; `opaque` only if set."""
        told = {"id": self.id, "name": self.name, "arguments": self.arguments}
        return told if self.opaque is None else told | {"opaque": self.opaque}


@frozen
class ToolCallPayload:
    """The calls of one answer."""

    tool_calls: tuple[ToolCallSpec, ...]

    def to_dict(self) -> dict[str, Any]:
        return {"tool_calls": [call.to_dict() for call in self.tool_calls]}


@frozen
class ToolResultPayload:
    """The result of one call."""

    tool_call_id: str
    tool_name: str
    tool_result: Any
    tool_error: str | None = None

    def to_dict(self) -> dict[str, Any]:
        return members_of(self)


@frozen
class Message:
    """One message, in no provider's shape. `opaque` is for the provider that wrote it (a signature, encrypted
    reasoning) and must be sent back; its member `dialect` names the dialect."""

    role: MessageRole
    content: str | None = None
    reasoning_content: str | None = None
    image_urls: tuple[str, ...] = ()
    audio_urls: tuple[str, ...] = ()
    video_urls: tuple[str, ...] = ()
    tool_payload: ToolCallPayload | ToolResultPayload | None = None
    opaque: dict[str, Any] | None = None

    def to_dict(self) -> dict[str, Any]:
        """Return the same members in the same order, `opaque` only if set: equal messages give equal bytes."""
        told: dict[str, Any] = {
            "role": self.role,
            "content": self.content,
            "reasoning_content": self.reasoning_content,
            "image_urls": list(self.image_urls),
            "audio_urls": list(self.audio_urls),
            "video_urls": list(self.video_urls),
            "tool_payload": self.tool_payload and self.tool_payload.to_dict(),
        }
        return told if self.opaque is None else told | {"opaque": self.opaque}


@frozen
class Noted:
    """One sentence worth keeping, and its trace. `replaces`: what a decision replaces."""

    text: str
    source: str
    replaces: str = ""

    def to_dict(self) -> dict[str, Any]:
        said = {"text": self.text, "source": self.source}
        return said | {"replaces": self.replaces} if self.replaces else said

    @classmethod
    def from_dict(cls, raw: dict[str, Any]) -> Noted:
        return cls(str(raw.get("text", "")), str(raw.get("source", "")), str(raw.get("replaces") or ""))


NOTED = ("decisions", "tasks", "open_questions", "next_actions", "constraints", "goals", "done")
"""The members of `Distilled` that are sentences with their sources."""
SELDOM_NOTED = ("goals", "done")
"""Members that an entry has only if they are not empty."""


@frozen
class Proposal(Replaceable):
    """A fact that a distiller proposes. The gate decides what it is worth, never the distiller.

    `quote` holds the words of the material that state it; `source` their trace, if known. `valid_from` and `valid_to`
    are dates that the words name. `correction`: they say that an earlier value is no longer right; `was` is that value,
    if they name it. `ended`: the object itself is no longer true. `change`: the probability that they report a change
    of something without a slot.
    """

    relation: str
    object: str
    quote: str
    topic: str = "user"
    kind: Kind | None = None
    source: str = ""
    time_span: TimeSpan | None = None
    salience: float | None = None
    valid_from: str | None = None
    valid_to: str | None = None
    correction: bool = False
    was: str | None = None
    ended: bool = False
    tags: tuple[str, ...] = ()
    change: float | None = None

    def to_dict(self) -> dict[str, Any]:
        """Return its members, without empty ones."""
        said = {name: getattr(self, name) for name in _PROPOSED} | {"tags": list(self.tags)}
        return {name: value for name, value in said.items() if value not in (None, "", False, [])}


_PROPOSED = (
    *("topic", "relation", "object", "kind", "quote", "source", "time_span", "salience", "valid_from"),
    *("valid_to", "correction", "was", "ended", "change"),
)
"""In the order of an entry's file."""


@frozen
class Distilled:
    """A distiller's result (`entry_summary.v1`, FORMAT §11.2), with the model it called, if any, the tokens and their
    cost in US dollars (None: unknown). `private`: the traces in which the user said something that must not be
    remembered."""

    summary: str
    episode: dict[str, str] | None = None
    facts: tuple[dict[str, Any], ...] = ()
    decisions: tuple[Noted, ...] = ()
    tasks: tuple[Noted, ...] = ()
    open_questions: tuple[Noted, ...] = ()
    next_actions: tuple[Noted, ...] = ()
    constraints: tuple[Noted, ...] = ()
    goals: tuple[Noted, ...] = ()
    done: tuple[Noted, ...] = ()
    private: tuple[str, ...] = ()
    model: str | None = None
    tokens: int = 0
    cost: float | None = 0.0


class Material(Protocol):
    """The input of a distiller. It may be long: each call of `traces` reads it again, one trace at a time."""

    def traces(self) -> Iterator[Trace]:
        """Yield the traces in log order."""


class Distiller(Protocol):
    """Something that distills material. `name` is its name and version: `rules/1`."""

    name: str

    def distill(self, material: Material, tokens: int) -> Distilled:
        """Return the result; its summary should have at most `tokens` tokens."""
