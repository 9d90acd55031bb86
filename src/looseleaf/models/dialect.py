"""A dialect: the shape in which one provider is spoken to, as two pure functions.

Invariants: the same messages give the same bytes (keys in a fixed order, nothing of clock or chance); what a provider
would refuse is repaired without losing content, and each repair is said; whatever a provider streams, reading it ends
in one `Reply` or raises `ModelFailed`.
"""

from __future__ import annotations

from looseleaf.base.immutable import frozen

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence
    from typing import Any

    from looseleaf.base.messages import Message
    from looseleaf.base.replies import Event, ToolSpec


@frozen
class Options:
    """How a reply is wanted. `extra` are members of the payload, as the provider names them; they win."""

    max_tokens: int | None = None
    temperature: float | None = None
    schema: dict[str, Any] | None = None
    effort: str | None = None
    extra: dict[str, Any] | None = None


@frozen
class Rendered:
    """The arguments of the provider's call, and a sentence for each thing that had to be repaired. `names` are the
    tools that had to be named otherwise: pairs of the name that will come back and their own; `with_own_names` in
    `naming` puts their own back into what is read."""

    payload: dict[str, Any]
    repairs: tuple[str, ...] = ()
    names: tuple[tuple[str, str], ...] = ()


@frozen
class Dialect:
    """`render(model, messages, tools, options)`; `read(chunks)`: the provider's stream, each event of it as the JSON
    object that came, to ours."""

    name: str
    render: Callable[[str, Sequence[Message], Sequence[ToolSpec], Options], Rendered]
    read: Callable[[Iterable[dict[str, Any]]], Iterator[Event]]
