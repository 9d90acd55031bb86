"""Plain notes: a folder (or an archive, or one file) of Markdown and text, such as an Obsidian vault."""

from __future__ import annotations

from looseleaf.transfer.formats.notes import Apart, document, is_hidden, is_text, page_of, sort_out

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from looseleaf.transfer.source import Document, Note, Source

NAME = "plain"
ABOUT = "notes: a folder of Markdown or text files, an Obsidian vault, one file"

_SURE = 0.5
"""Whoever knows more of a folder than that it has notes in it, knows better."""


def detect(source: Source) -> float:
    return _SURE if any(is_text(name) and not is_hidden(name) for name in source.names()) else 0.0


def read(source: Source, note: Note) -> Iterator[Document]:
    below = _shared(source.names()) if source.kind in ("zip", "tar") else ""
    apart = Apart()
    for name in sort_out(source.names(), note):
        page = apart(page_of(name, below))
        found = document(source, name, note, page, name.removeprefix(below))
        if found is not None:
            yield found


def _shared(names: tuple[str, ...]) -> str:
    """The folder that an archive has around all its files: how it was packed is no part of a note's name."""
    first = names[0].partition("/")[0] + "/" if names else ""
    return first if names and all(name.startswith(first) for name in names) else ""
