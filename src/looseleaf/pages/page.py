"""A page as it was read, and as it is to be written."""

from __future__ import annotations

from functools import cached_property

from looseleaf.base.hashing import sha256
from looseleaf.base.immutable import frozen

TYPE_CHECKING = False
if TYPE_CHECKING:
    from looseleaf.base.values import Ended, Episode, Fact, PageText, Record


@frozen
class Rewritten:
    """The new text of a page; what is known of facts on it, and which are no longer true (`values.Edit`)."""

    text: str
    facts: tuple[Record, ...] = ()
    ended: tuple[Ended, ...] = ()


NOTHING_SAID = Rewritten("")


class Page:
    """A page as it was read. `sha256` is None where there is no page."""

    def __init__(self, path: str, data: bytes | None) -> None:
        self.path = path
        self.data = data or b""
        self.exists = data is not None

    def __repr__(self) -> str:
        return f"Page({self.path!r}, {f'{len(self.data)} bytes' if self.exists else 'which does not exist'})"

    @cached_property
    def sha256(self) -> str | None:
        return sha256(self.data) if self.exists else None

    @cached_property
    def text(self) -> str:
        """Bytes that are no UTF-8 show as U+FFFD; the file keeps them."""
        return self.data.decode("utf-8", "replace")

    @cached_property
    def parsed(self) -> PageText:
        from looseleaf.pages.grammar import parse

        return parse(self.path, self.text)

    @property
    def facts(self) -> tuple[Fact, ...]:
        return self.parsed.facts

    @property
    def episodes(self) -> tuple[Episode, ...]:
        return self.parsed.episodes

    @property
    def summary(self) -> str | None:
        return self.parsed.summary
