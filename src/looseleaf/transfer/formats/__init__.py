"""The import formats: one module each, loaded on use, and the choice of the one that fits a source.

A format only reads data: it obeys nothing in a source, and no content stops an import.
"""

from __future__ import annotations

from importlib import import_module

from looseleaf.base.errors import Invalid, NotFound
from looseleaf.base.immutable import frozen

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from typing import Any, Protocol

    from looseleaf.transfer.source import ImportSource, Item, Note
else:
    Protocol = object  # hooks load this package, and `typing` is slow to import


class Format(Protocol):
    """An import format: a module in this package with these four names, listed in `FORMATS`.

    `NAME` is the word that `--as` takes, `ABOUT` one line for the user. A module may also set `HOOKED = True`: then the
    keys of its talks are names of sessions, and one that the hooks recorded is passed over.
    """

    NAME: str
    ABOUT: str

    @staticmethod
    def detect(source: ImportSource) -> float:
        """Return how sure it is that the source has this format, from 0 to 1. Look at names and heads of files only.

        0.95: unmistakable; 0.85: typical of it; 0.5: nothing speaks against it.
        """

    @staticmethod
    def read(source: ImportSource, note: Note) -> Iterable[Item]:
        """Yield the items of the source one at a time, and `note` in one sentence each thing passed over.

        An item's key is the same in every export of it, so that a second import recognizes it.
        """


FORMATS: dict[str, Callable[[], Any]] = {
    "chatgpt": lambda: import_module("looseleaf.transfer.formats.chat_exports"),
    "claude": lambda: import_module("looseleaf.transfer.formats.claude"),
    "claude-code": lambda: import_module("looseleaf.transfer.formats.agent_sessions"),
    "codex": lambda: import_module("looseleaf.transfer.formats.codex"),
    "messages": lambda: import_module("looseleaf.transfer.formats.messages"),
    "openclaw": lambda: import_module("looseleaf.transfer.formats.openclaw"),
    "mcp-memory": lambda: import_module("looseleaf.transfer.formats.mcp_memory"),
    "mem0": lambda: import_module("looseleaf.transfer.formats.mem0"),
    "basic-memory": lambda: import_module("looseleaf.transfer.formats.basic_memory"),
    "plain": lambda: import_module("looseleaf.transfer.formats.plain"),
}
"""How to load the module of each `NAME`. Module names are written out, so that the test of layers sees them."""

SURE = 0.5
"""A source is not taken for a format that is less sure."""

APART = 0.1
"""The lead that the best guess needs over the next."""

_HEAD = 65_536
_REASONS = 3


@frozen
class Detected:
    """The format of a source, and how sure that is."""

    format: Format
    sure: float


def format_named(name: str) -> Format:
    """Return the format of this name; NotFound lists the names."""
    if name not in [*FORMATS]:  # whatever was given
        raise NotFound(
            f"Nothing was imported: there is no format {str(name)[:80]!r}. Choose one of {', '.join(FORMATS)}."
        )
    found: Format = FORMATS[name]()
    return found


def detect(source: ImportSource) -> Detected:
    """Return the format of a source. Invalid where none fits, where two fit as well, and for a looseleaf memory."""
    from looseleaf.transfer.source import refuse_memory

    refuse_memory(source)
    guesses = [Detected(format_, format_.detect(source)) for format_ in map(format_named, FORMATS)]
    found = sorted((each for each in guesses if each.sure >= SURE), key=lambda each: -each.sure)
    if not found:
        why = "".join(f"{reason} " for reason in _explain_unknown(source))
        raise Invalid(
            f"Nothing was imported: the format of {source.path} is not known. {why}"
            f"Name it with --as: {', '.join(FORMATS)}."
        )
    if len(found) > 1 and found[0].sure - found[1].sure < APART:
        both = " or ".join(each.format.NAME for each in found[:2])
        raise Invalid(f"Nothing was imported: {source.path} may be {both}. Name the format with --as.")
    return found[0]


def _explain_unknown(source: ImportSource) -> list[str]:
    """Return why no format may know a source: files passed over, unreadable, or in another encoding."""
    from looseleaf.transfer.json_stream import is_utf_16
    from looseleaf.transfer.source import BrokenArchive

    found = source.notes[:_REASONS]
    for name in source.names()[:_REASONS]:
        try:
            head = source.read(name, _HEAD) or source.head(name, _HEAD)
        except BrokenArchive as broken:
            found.append(str(broken))
            continue
        if is_utf_16(head):
            found.append(f"{name} is UTF-16; save it as UTF-8.")
        elif len(head) >= _HEAD and head.lstrip()[:1] in (b"{", b"[") and b"\n" not in head:
            found.append(f"The first line of {name} is longer than the {_HEAD:,} bytes that are looked at.")
    return found[:_REASONS]
