"""The values of a model call: the tools offered, the events streamed, the reply.

A model gets messages and tools, and keeps neither. It answers with events, in no provider's shape; the last of them is
the whole reply.
"""

from __future__ import annotations

from looseleaf.base.immutable import frozen, members_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from typing import Any, Literal, Protocol, TypeAlias

    from looseleaf.base.messages import Message, ToolCallSpec

    Stop = Literal["end", "tools", "length", "refused", "cut"]
    """Why a reply ended: by itself, for its calls, at its limit of tokens, by the provider's filter, or cut short."""
    Event: TypeAlias = "TextDelta | Thought | Called | Repaired | Retrying | Reply"
else:
    Protocol = object


@frozen
class ToolSpec:
    """A tool that a model is offered. `parameters` is the JSON Schema of an object."""

    name: str
    description: str
    parameters: dict[str, Any]


@frozen
class Usage:
    """The tokens of a call, as the provider reports them. `prompt_tokens` are all tokens read; of these `cached_tokens`
    came from the provider's cache, and `written_tokens` went into it. `output_tokens` are all tokens written,
    reasoning included. `is_estimated`: the provider did not report all of it. `cost`: US dollars, if it reports
    them."""

    prompt_tokens: int = 0
    cached_tokens: int = 0
    written_tokens: int = 0
    output_tokens: int = 0
    reasoning_tokens: int = 0
    is_estimated: bool = False
    cost: float | None = None

    def to_dict(self) -> dict[str, Any]:
        """Return the counts; the cost is for the ledger."""
        return {name: value for name, value in members_of(self).items() if name != "cost"}


@frozen
class TextDelta:
    """A piece of the answer."""

    text: str


@frozen
class Thought:
    """A piece of the model's reasoning before its answer."""

    text: str


@frozen
class Called:
    """A complete tool call. Arguments that are not a JSON object stay as text."""

    call: ToolCallSpec


@frozen
class Repaired:
    """A change to the messages that the provider required, in one sentence."""

    sentence: str


@frozen
class Retrying:
    """A failed call that is repeated in so many seconds. All earlier events are void. `attempt`: the one that
    failed."""

    why: str
    seconds: float
    attempt: int


@frozen
class Reply:
    """A model's whole answer. `opaque` is for its provider only (signatures, encrypted reasoning) and must be sent
    back; `model` is the name that the provider reports."""

    text: str = ""
    reasoning: str = ""
    calls: tuple[ToolCallSpec, ...] = ()
    usage: Usage = Usage()
    stop: Stop = "end"
    model: str = ""
    opaque: dict[str, Any] | None = None


class CancelFlag(Protocol):
    """A flag that can be set, such as `threading.Event`."""

    def is_set(self) -> bool: ...


class Model(Protocol):
    """Anything that answers messages. It keeps nothing between two calls, and may be called from several threads.

    `name` is the provider's name for it; `dialect` the shape of its requests.

    Options that every model takes: `max_tokens`, `temperature`, `schema` (a JSON Schema for the answer),
    `effort` (how much to think: low, medium, high), `seconds` (the time limit of one attempt), `cancel` (a `CancelFlag`
    that ends the call), `purpose` (`chat`, `distill`, `reflect`), `extensions` (for this call, besides the model's
    own), `extra` (members of the payload, as the provider names them).
    """

    name: str
    dialect: str

    def stream(
        self, messages: Sequence[Message], tools: Sequence[ToolSpec] = (), **options: Any
    ) -> Iterator[Event]:
        """Yield events; the last is the `Reply`. Closing the iterator cancels the call."""

    def send(self, messages: Sequence[Message], tools: Sequence[ToolSpec] = (), **options: Any) -> Reply:
        """Return the whole reply."""


def time_limit(model: Model, default: float) -> float:
    """Return the time limit of one attempt of a model: its own if it has one."""
    own: float | None = getattr(model, "seconds", None)
    return default if own is None else own


class Extension(Protocol):
    """An observer of every call (seed 004, phase D). It gets all it needs and never calls the model."""

    def before_invoke(self, messages: Sequence[Message], payload: dict[str, Any], **about: Any) -> None:
        """Run before an attempt; an exception stops the call. `about`: model, dialect, purpose, attempt."""

    def after_invoke(self, messages: Sequence[Message], response: Reply, **about: Any) -> None:
        """Run after an attempt that the provider answered, even if cut short (then `stop` is `cut`)."""
