"""The values of a model's reply: what it is offered, what streams out of it piece by piece, what it was in the end.

A model is asked with messages and tools, and keeps nothing of either. What it says comes as events, in no provider's
shape; the last of them is the whole reply.
"""

from __future__ import annotations

from looseleaf.base.immutable import frozen

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from typing import Any, Literal, Protocol, TypeAlias

    from looseleaf.base.messages import Message, ToolCallSpec

    Stop = Literal["end", "tools", "length", "refused", "cut"]
    """Why a reply ended: by itself, for its calls, at its limit of tokens, by the provider's filter, or cut short."""
    Event: TypeAlias = "Said | Thought | Called | Repaired | Retrying | Reply"
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
    """What a call took, as the provider reports it. `prompt_tokens` are all that was read; of these `cached_tokens`
    came from the provider's cache, and `written_tokens` were put into it. `output_tokens` are all that was written,
    reasoning included. `is_estimated`: the provider said nothing, or not all of it. `cost`: US dollars, where it says
    that itself."""

    prompt_tokens: int = 0
    cached_tokens: int = 0
    written_tokens: int = 0
    output_tokens: int = 0
    reasoning_tokens: int = 0
    is_estimated: bool = False
    cost: float | None = None

    def to_dict(self) -> dict[str, Any]:
        """What was counted; what it cost is for the ledger to say."""
        return {name: getattr(self, name) for name in self.__match_args__ if name != "cost"}


# --- events ----------------------------------------------------------------------------


@frozen
class Said:
    """A piece of the answer."""

    text: str


@frozen
class Thought:
    """A piece of what the model thinks before it answers."""

    text: str


@frozen
class Called:
    """A call that the model asks for, whole. Where its arguments are no JSON object, they are the text that came."""

    call: ToolCallSpec


@frozen
class Repaired:
    """What had to be changed in the messages for a provider to take them: one sentence."""

    sentence: str


@frozen
class Retrying:
    """The call failed and is made again, in so many seconds. All that was said so far, if anything, is void. `attempt`:
    the one that failed."""

    why: str
    seconds: float
    attempt: int


@frozen
class Reply:
    """All that a model answered. `opaque` is what only its provider can read (signatures, encrypted reasoning) and
    wants to be given back; `model` the name that the provider says it used."""

    text: str = ""
    reasoning: str = ""
    calls: tuple[ToolCallSpec, ...] = ()
    usage: Usage = Usage()
    stop: Stop = "end"
    model: str = ""
    opaque: dict[str, Any] | None = None


# --- models ----------------------------------------------------------------------------


class Flag(Protocol):
    """Something that can be set, and is asked whether it is: `threading.Event` is one."""

    def is_set(self) -> bool: ...


class Model(Protocol):
    """Anything that answers messages. It keeps nothing between two calls, and may be called from several threads.

    `name` is what the provider calls it; `dialect` the shape in which it is spoken to.

    Options that every model takes: `max_tokens`, `temperature`, `schema` (a JSON Schema that the answer is to keep to),
    `effort` (how much to think: low, medium, high), `seconds` (the time limit of one attempt), `cancel` (a `Flag`: set,
    it ends the call), `purpose` (what the call is for: `chat`, `distill`, `reflect`), `extensions` (for this call,
    beside the model's own), `extra` (members of the payload, as the provider names them).
    """

    name: str
    dialect: str

    def stream(
        self, messages: Sequence[Message], tools: Sequence[ToolSpec] = (), **options: Any
    ) -> Iterator[Event]:
        """Events, the last of which is the `Reply`. Closing the iterator cancels the call."""

    def send(self, messages: Sequence[Message], tools: Sequence[ToolSpec] = (), **options: Any) -> Reply:
        """The whole reply at once."""


class Extension(Protocol):
    """What is told of every call (seed 004, phase D). It is given all it needs, and asks the model nothing."""

    def before_invoke(self, messages: Sequence[Message], payload: dict[str, Any], **about: Any) -> None:
        """Before an attempt; what it raises keeps the call from being made. `about`: model, dialect, purpose,
        attempt."""

    def after_invoke(self, messages: Sequence[Message], response: Reply, **about: Any) -> None:
        """After an attempt that the provider answered, also if that was cut short (`stop` is `cut` then)."""
