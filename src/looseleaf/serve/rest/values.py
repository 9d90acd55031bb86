"""What is sent and answered, as types. Names are those of the verbs; nothing is turned into another type, and members
that are not known are refused."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, StringConstraints, create_model

TEXT, LINE, NAME = 1_000_000, 2_000, 200
"""The most characters of a text, a short text, and a name."""

Text = Annotated[str, StringConstraints(max_length=TEXT)]
Line = Annotated[str, StringConstraints(max_length=LINE)]
ShortName = Annotated[str, StringConstraints(max_length=NAME)]
FullName = Annotated[str, StringConstraints(min_length=1, max_length=NAME)]
Kind = Literal["identity", "commitment", "constraint", "preference", "trait", "event", "decision"]
Found = Literal["fact", "prose", "episode", "day", "entry", "trace"]
Scope = Literal["read", "write", "review", "admin"]
Time = Annotated[float, Field(gt=-6.2e10, lt=2.5e11)]
When = Annotated[
    FullName | Time, Field(description="A date, a date and time, or epoch seconds.", examples=["2025-03-01"])
]


class Given(BaseModel):  # type: ignore[misc]
    """What a request has."""

    model_config = ConfigDict(strict=True, extra="forbid")


class Told(BaseModel):  # type: ignore[misc]
    """What an answer has. More members may come."""

    model_config = ConfigDict(extra="allow")


# --- talk -------------------------------------------------------------------------------


class Media(Given):
    images: list[Line] = Field(default=[], max_length=100)
    audio: list[Line] = Field(default=[], max_length=100)
    video: list[Line] = Field(default=[], max_length=100)


class TraceToRecord(Given):
    """One message, tool call or result: give one of `user`, `assistant`, `tool_call`, `tool_result` (or `tool_error`).
    The words of a user are believed only from a token with a voice; else they are recorded as imported, and what they
    say waits in review."""

    model_config = ConfigDict(
        strict=True,
        extra="forbid",
        json_schema_extra={"examples": [{"user": "I moved from Lyon to Lisbon last week."}]},
    )

    user: Text | None = None
    assistant: Text | None = None
    tool_call: FullName | None = Field(default=None, description="The name of the tool.")
    tool_args: Any = None
    tool_result: Any = None
    tool_error: Text | None = None
    tool_call_id: ShortName | None = None
    tool_name: ShortName | None = None
    content: Text | None = Field(default=None, description="Text beside a call or a result.")
    tool_result_ref: Line | None = None
    reasoning: Text | None = None
    media: Media | None = None
    turn_id: ShortName | None = None
    correlation_id: ShortName | None = None
    opaque: dict[str, Any] | None = None
    tags: list[ShortName] = Field(default=[], max_length=50)
    interrupted: bool = False
    ts: Time | None = Field(default=None, description="Epoch seconds, if not now.")


class Trace(Told):
    """A trace as it stands in the log."""

    id: str
    ts: float
    turn_id: str
    seq: int
    trace_type: Literal["user", "assistant", "tool_call", "tool_result"]
    content: str
    session_id: str
    origin: str
    person: str | None = Field(default=None, description="Who said it: the person of the token.")


class Traces(Told):
    """What was recorded, in order."""

    traces: list[Trace]


class Turn(Told):
    """A user's message, and all that follows from it."""

    turn_id: str
    session_id: str
    ts: float
    traces: list[Trace]


class Session(Told):
    """One sitting of the agent."""

    session_id: str
    first_ts: float
    last_ts: float
    turns: int
    traces: int
    opening: str


class Message(Told):
    """One message, in no provider's shape."""

    role: Literal["system", "user", "assistant", "tool"]
    content: str | None


class Window(Told):
    """The talk that a model still sees."""

    messages: list[Message]
    tokens: int
    requested: str | None = Field(description="`early` or `hard`: it is compacted before the next call.")


class Compact(Given):
    model: ShortName | None = None
    dry_run: bool = False


class Compacted(Told):
    """What the compaction lost; null if there was nothing to do."""

    loss: dict[str, Any] | None


class Remember(Given):
    """Words to keep. Those from a token with a voice are the user's own, and count as confirmed. An agent's are
    proposed: what the user did not say is kept at once as the agent's own note in a drawer (`inferred`, or `tainted` if
    it came from a tool), and waits in review where it would change what the user said. `held` says which."""

    model_config = ConfigDict(
        strict=True,
        extra="forbid",
        json_schema_extra={"examples": [{"text": "I prefer green tea.", "topic": "user"}]},
    )

    text: Annotated[str, StringConstraints(min_length=1, max_length=TEXT)]
    topic: FullName | None = None


class Remembered(Told):
    """What became of it: the entry that was made, the edits of pages, and the facts that stand there now."""

    entry: str | None
    edits: list[str]
    facts: list[Fact]
    held: list[str] = Field(description="What did not go where it was put, in sentences.")


class Distill(Given):
    """Without a text: all settled talk of the agent. The facts of a text wait in review."""

    text: Annotated[str, StringConstraints(min_length=1, max_length=TEXT)] | None = None
    topic: FullName | None = None


class Distilled(Told):
    """The entries that were made and placed."""

    entries: list[str]


# --- facts ------------------------------------------------------------------------------


class Fact(Told):
    """One fact."""

    topic: str
    subject: str
    relation: str
    object: str
    status: Literal["current", "superseded", "pending", "rejected", "forgotten"]
    id: str | None = None
    level: Literal["confirmed", "said", "inferred", "tainted"] | None = None
    person: str | None = Field(default=None, description="Who said it.")
    decided_by: str | None = Field(default=None, description="Who last decided on it.")


class Source(Told):
    """Words that a fact rests on. Of another agent's talk, only its id: the text is empty."""

    source: str
    origin: str
    ts: float | None
    text: str


class Topic(Told):
    name: str


class State(Told):
    """The working state, as `state.json` has it."""


class Pin(Given):
    pinned: bool = True


class Score(Given):
    score: Annotated[float, Field(ge=0, le=10)]


class Correct(Given):
    """What is right: `Paris`, or `Home: Paris`."""

    text: Annotated[str, StringConstraints(min_length=1, max_length=LINE)]


class Undo(Given):
    """Without a path, the last change."""

    path: FullName | None = None


class Undone(Told):
    """The edit that was undone, and the edit that undid it."""

    id: str
    path: str
    reason: str
    by: str


# --- pages ------------------------------------------------------------------------------


class PageLine(Told):
    """A page in a list."""

    path: str
    bytes: int


class Page(Told):
    """A page. `sha256` is also its ETag."""

    path: str
    sha256: str | None
    text: str


class PutPage(Given):
    model_config = ConfigDict(
        strict=True,
        extra="forbid",
        json_schema_extra={"examples": [{"text": "# Tea\n\n- Kind: oolong\n", "reason": "tidied"}]},
    )

    text: Text
    reason: Annotated[str, StringConstraints(min_length=1, max_length=NAME)] = "written over the API"


class Replace(Given):
    old: Annotated[str, StringConstraints(min_length=1, max_length=TEXT)]
    new: Text


class PatchPage(Given):
    """Texts to replace one after another, each found exactly once by then; all or none."""

    patches: list[Replace] = Field(min_length=1, max_length=100)
    reason: Annotated[str, StringConstraints(min_length=1, max_length=NAME)] = "patched over the API"


class Receipt(Told):
    """What a write did. `held`: what did not go where it was put, in sentences."""

    id: str
    path: str
    base: str | None
    new: str | None
    added: int
    removed: int
    changed: bool
    held: list[str]


class Edit(Told):
    """One change of a page."""

    id: str
    ts: float
    path: str
    author: str
    reason: str
    base: str | None
    new: str | None
    hunks: list[Hunk]
    undoes: str | None


class Hunk(Told):
    """At line `at` (from 0) of the old text, `removed` became `added`."""

    at: int
    removed: list[str]
    added: list[str]


class Signed(Told):
    """A line of a page, and who wrote it."""

    line: int
    text: str
    author: str | None
    ts: float | None
    edit: str | None
    level: str | None
    reason: str | None


# --- asking -----------------------------------------------------------------------------


class Recall(Given):
    """A question. It is never part of an address, which logs keep."""

    model_config = ConfigDict(
        strict=True,
        extra="forbid",
        json_schema_extra={"examples": [{"query": "Where do I live?", "as_of": "2025-03-01"}]},
    )

    query: Annotated[str, StringConstraints(min_length=1, max_length=20_000)]
    k: Annotated[int, Field(ge=1, le=200)] | None = None
    budget: Annotated[int, Field(ge=1, le=1_000_000)] | None = None
    topic: FullName | None = None
    kinds: Annotated[list[Found], Field(max_length=10)] | None = None
    as_of: When | None = None
    since: When | None = None
    until: When | None = None
    now: When | None = None
    sure: Annotated[float, Field(ge=0, le=1)] | None = None
    clip: Annotated[int, Field(ge=1, le=1_000_000)] | None = None
    quick: bool = False


class Hit(Told):
    """One answer."""

    where: str
    kind: str
    text: str
    score: float


class Recalled(Told):
    """The hits, best first; or none, and why."""

    hits: list[Hit]
    best: float
    why: str


class MakePrompt(Given):
    task: Text | None = None
    budget: Annotated[int, Field(ge=1, le=1_000_000_000)] | None = None
    model: ShortName | None = None


class Prompt(Told):
    """The messages for a model, and why they are what they are."""

    messages: list[Message]
    manifest: dict[str, Any]


class Compared(Told):
    """What two prompts share, and what came, went and changed between them."""

    old: str
    new: str
    same: dict[str, int]
    came: list[dict[str, Any]]
    went: list[dict[str, Any]]
    changed: list[dict[str, Any]]


# --- care -------------------------------------------------------------------------------


class Forget(Given):
    """One of these; `dry_run` only says what would go."""

    model_config = ConfigDict(
        strict=True, extra="forbid", json_schema_extra={"examples": [{"match": "Northwind", "dry_run": True}]}
    )

    fact: FullName | None = None
    topic: FullName | None = None
    session: FullName | None = None
    origin: FullName | None = None
    match: Annotated[str, StringConstraints(min_length=1, max_length=LINE)] | None = None
    dry_run: bool = False


class Analyze(Given):
    last: Annotated[int, Field(ge=1, le=1_000)] | None = None


class MakeIndex(Given):
    full: bool = False


class Job(Told):
    """Work that takes a while. `done` of `total`; 0 if it is not known."""

    id: str
    memory: str
    kind: str
    state: str
    made: float
    done: int
    total: int
    result: dict[str, Any] | None


class Costs(Told):
    """What models used today, against the ceilings of the day; and in the last days, by day, purpose and model."""

    today: dict[str, Any]
    limits: dict[str, Any]
    by_day: list[dict[str, Any]]
    by_purpose: list[dict[str, Any]]
    by_model: list[dict[str, Any]]


class Written(Told):
    """One write of an agent, or of distillation."""

    id: str
    ts: float
    path: str
    author: str
    reason: str
    added: int
    removed: int


class Problems(Told):
    """What the last check found; null where none was made."""

    checked: float | None
    is_outdated: bool
    result: dict[str, Any] | None


class Health(Told):
    memory: str
    version: str
    sessions: bool = Field(description="Whether the agent of the token ever talked here.")
    working: list[str] = Field(description="The kinds of jobs that wait or run.")


# --- the server -------------------------------------------------------------------------

_NAME = r"^[a-z0-9][a-z0-9._-]{0,63}(/[a-z0-9][a-z0-9._-]{0,63})*$"


class Snapshot(Told):
    text: str


class NewMemory(Given):
    name: Annotated[str, StringConstraints(pattern=_NAME, max_length=200)]


class MemoryName(Told):
    name: str


class NewToken(Given):
    """Nobody gives what they do not have: memories, scopes and a voice are those of the token that asks, or fewer."""

    model_config = ConfigDict(
        strict=True,
        extra="forbid",
        json_schema_extra={
            "examples": [
                {"name": "codex", "memories": ["mira"], "scopes": ["read", "write"], "agent": "codex"}
            ]
        },
    )

    name: FullName
    memories: list[Annotated[str, StringConstraints(pattern=rf"{_NAME}|^\*$", max_length=200)]] = Field(
        min_length=1, max_length=1_000
    )
    scopes: list[Scope] = Field(min_length=1, max_length=4)
    agent: Annotated[str, StringConstraints(min_length=1, max_length=60)] = "main"
    voice: Literal["", "user"] = ""
    expires: Time | None = None
    person: Annotated[str, StringConstraints(max_length=40)] = Field(
        default="", description="Whose it is: what comes by it was said by this person."
    )
    only: dict[FullName, Annotated[list[Scope], Field(min_length=1, max_length=4)]] = Field(
        default={}, max_length=1_000, description="Memories in which it may do less than its scopes say."
    )


class TokenShown(Told):
    """A token without its secret."""

    id: str
    name: str
    memories: list[str]
    scopes: list[Scope]
    agent: str
    voice: str
    made: float
    expires: float | None
    person: str
    only: dict[str, list[Scope]]


class TokenMade(TokenShown):
    token: str = Field(description="The secret. It is shown this once.")


class Description(Told):
    """A description of the API, as OpenAPI 3.1 has it."""


class AuditLine(Told):
    """A line for a write, a refusal or an export. It holds no content."""

    ts: float


class Problem(Told):
    """Why nothing was done (RFC 9457). `detail` says what to do."""

    type: str
    status: int
    detail: str


def listed(kind: Any) -> Any:
    """Return the type of a part of a list."""
    about = "A part of a list. `next` is the cursor of the next part; null: this is the last one."
    items: Any = (list[kind], ...)
    return create_model(
        f"{kind.__name__}List", __base__=Told, __doc__=about, items=items, next=(str | None, ...)
    )


Remembered.model_rebuild()
Edit.model_rebuild()
