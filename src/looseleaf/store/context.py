"""The context of an open memory: what each of its parts is given, made once."""

from __future__ import annotations

from looseleaf.base.immutable import frozen

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from looseleaf.base.policy import Policy
    from looseleaf.store.protocol import Store


@frozen
class Context:
    """`note` reports what could not be done while reading, `count` counts a text's tokens, and `redact` takes the
    secrets out of a value. A part that needs more names it in a `Needs` protocol."""

    store: Store
    path: str
    policy: Policy
    agent: str
    note: Callable[[str], None]
    count: Callable[[str], int]
    redact: Callable[[Any], Any]
