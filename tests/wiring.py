"""Parts of a memory put together by hand: on another store, or alone."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any

from looseleaf import Memory
from looseleaf.base.policy import Policy
from looseleaf.pages.pages import Pages
from looseleaf.store.context import Context
from looseleaf.store.files import FileStore

if TYPE_CHECKING:
    from collections.abc import Sequence

    from looseleaf.base.values import Stat
    from looseleaf.pages.held import Held


def use_store(memory: Memory, store: FileStore) -> None:
    """Have an open memory go on with another store."""
    parts = memory.parts
    parts.files.close()
    parts.store = store
    parts.context = _changed(parts.context, store=store)
    for name in [
        each for each in vars(parts) if isinstance(getattr(type(parts), each, None), cached_property)
    ]:
        del vars(parts)[name]


def _changed(value: Any, **changed: Any) -> Any:
    return type(value)(**{name: getattr(value, name) for name in value.__match_args__} | changed)


def untyped(given: dict[str, Any]) -> dict[str, Any]:
    """Keywords that a test makes up: no type checker looks at them."""
    return given


def use_policy(memory: Memory, **changed: Any) -> None:
    """Have an open memory go on with other settings."""
    parts = memory.parts
    parts.context = _changed(parts.context, policy=_changed(parts.context.policy, **changed))


class _Alone:
    def settle(self) -> None:
        pass

    def take_in(self) -> None:
        pass

    def without_forgotten(self, path: str, head: bytes | None, data: bytes) -> bytes:
        return data

    def brought(self, path: str, version: str, stat: Stat) -> bool:
        return False

    def tell_put_back(self, path: str, version: str) -> None:
        pass

    def undone(self, path: str, edit: str, head: bytes | None) -> bytes | None:
        return head

    def drop_known(self, copies: Sequence[Held]) -> list[str]:
        return []


def lone_pages(store: FileStore, policy: Policy) -> Pages:
    """The pages of a store, without a memory around them."""
    return Pages(Context(store, "", policy, "main", lambda note: None, len, lambda value: value), _Alone())
