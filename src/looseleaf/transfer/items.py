"""What a format finds in a source: talks, documents and claims, as values. Nothing here has been believed yet.

`key` is the item's own name in the source, the same in every later export of it: by that an item is known again. A
`said` has a key within its talk. Times are epoch seconds, None where the source does not say.
"""

from __future__ import annotations

from looseleaf.base.immutable import frozen

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from typing import Any

    from looseleaf.base.messages import TraceType

    Note = Callable[[str], None]
    """Told in one sentence of what was passed over, and why."""


@frozen
class Said:
    """One thing that was said or done. `text` is what a user or an assistant said; a call has `name`, `args` and
    `call_id`, a result `result` (or `error`) and `call_id`."""

    key: str
    role: TraceType
    text: str = ""
    ts: float | None = None
    name: str | None = None
    args: Any = None
    call_id: str | None = None
    result: Any = None
    error: str | None = None
    reasoning: str | None = None
    media: dict[str, list[str]] | None = None


@frozen
class Talk:
    """One conversation. `said` is gone through once, in the order in which it was said, and may be long."""

    key: str
    title: str
    said: Iterable[Said]


@frozen
class Document:
    """A text. `page`: where it would stand if the user vouches for it (`USER.md`, `days/2026-01-01.md`, `facts/x.md`);
    `topic`: what it is about, if the source says so."""

    key: str
    text: str
    title: str
    ts: float | None = None
    page: str | None = None
    topic: str | None = None


@frozen
class Claim:
    """One remembered statement about a topic."""

    key: str
    topic: str
    text: str
    ts: float | None = None
    relation: str | None = None


if TYPE_CHECKING:
    Item = Talk | Document | Claim
