"""The context of an open memory: what each of its parts is given, made once."""

from __future__ import annotations

from looseleaf.base.errors import Refused
from looseleaf.base.immutable import frozen
from looseleaf.base.paths import is_address

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from looseleaf.base.policy import Policy
    from looseleaf.store.protocol import Store


@frozen
class Context:
    """`where` opens the memory again, and may have a password: people see its `name`. `note` reports what could not be
    done while reading, `count` counts a text's tokens, and `redact` takes the secrets out of a value. A part that needs
    more names it in a `Needs` protocol."""

    store: Store
    where: str
    policy: Policy
    agent: str
    note: Callable[[str], None]
    count: Callable[[str], int]
    redact: Callable[[Any], Any]

    @property
    def name(self) -> str:
        """What people call the memory: its folder, or its address."""
        return shown_name(self.where)

    @property
    def path(self) -> str:
        """The folder."""
        if is_address(self.where):
            raise no_folder(self.where)
        return self.where


def shown_name(where: str) -> str:
    """Return a memory's folder or address as it may be shown: without a password."""
    if not is_address(where):
        return where
    from looseleaf.store.postgres.address import parse_address

    return parse_address(where).shown


def no_folder(where: str) -> Refused:
    return Refused(
        f"Nothing was done: this memory is in a database, {shown_name(where)}, and has no folder. `looseleaf export` "
        "writes one."
    )
