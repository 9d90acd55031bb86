"""The formats that can be imported: a table of modules, each imported when it is asked for, and which one a source is.

A format is a module with `NAME`, `ABOUT` (one line), `detect(source)` (0 to 1, by looking at little) and
`read(source, note)`, which gives items one at a time and tells `note` what it passes over. It reads data: nothing in
a source is obeyed, and no content stops an import.
"""

from __future__ import annotations

from importlib import import_module

from looseleaf.base.errors import Refused
from looseleaf.base.immutable import frozen

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Any, Protocol

    from looseleaf.transfer.source import Item, Note, Source

    class Format(Protocol):
        NAME: str
        ABOUT: str

        @staticmethod
        def detect(source: Source) -> float: ...

        @staticmethod
        def read(source: Source, note: Note) -> Iterator[Item]: ...


SURE = 0.5
"""Below, a source is not taken for a format."""

APART = 0.1
"""By how much the best guess must be better than the next."""


_HEAD = 65_536
_REASONS = 3


@frozen
class Detected:
    """Which format a source is, and how sure that is."""

    format: Any
    sure: float


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
"""By the name that `--as` takes."""


def named(name: str) -> Format:
    """The format of a name, or Refused with the names there are."""
    load = FORMATS.get(name)
    if load is None:
        raise Refused(
            f"Nothing was imported: there is no format {name[:80]!r}. There are: {', '.join(FORMATS)}."
        )
    found: Format = load()
    return found


def detect(source: Source) -> Detected:
    """Which format a source is. Refused where none fits or two fit as well, and for a memory of ours."""
    from looseleaf.transfer.source import refuse_memory

    refuse_memory(source)
    found = sorted(
        (
            Detected(format_, sure)
            for format_ in map(named, FORMATS)
            if (sure := format_.detect(source)) >= SURE
        ),
        key=lambda each: -each.sure,
    )
    if not found:
        why = " ".join(_reasons(source))
        raise Refused(
            f"Nothing was imported: {source.path} is in no format that is known here. {why}{' ' if why else ''}"
            f"Say which it is with --as: {', '.join(FORMATS)}."
        )
    if len(found) > 1 and found[0].sure - found[1].sure < APART:
        both = " or ".join(each.format.NAME for each in found[:2])
        raise Refused(f"Nothing was imported: {source.path} may be {both}. Say which it is with --as.")
    return found[0]


def _reasons(source: Source) -> list[str]:
    """Why it may be that no format knows a source: what was passed over, what cannot be read, how it is written."""
    from looseleaf.transfer.json_stream import is_utf_16
    from looseleaf.transfer.source import Broken

    found = source.notes[:_REASONS]
    for name in source.names()[:_REASONS]:
        try:
            head = source.read(name, _HEAD) or source.head(name, _HEAD)
        except Broken as broken:
            found.append(str(broken))
            continue
        if is_utf_16(head):
            found.append(f"{name} is UTF-16; save it as UTF-8.")
        elif len(head) >= _HEAD and head.lstrip()[:1] in (b"{", b"[") and b"\n" not in head:
            found.append(f"The first line of {name} is longer than what is looked at ({_HEAD:,} bytes).")
    return found[:_REASONS]
