"""Plain notes: a folder (or an archive, or one file) of Markdown and text, such as an Obsidian vault."""

from __future__ import annotations

from looseleaf.transfer.formats.notes import (
    UniquePages,
    is_hidden,
    is_text,
    page_of,
    read_document,
    select_notes,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from looseleaf.transfer.source import ImportDocument, ImportSource, Note

NAME = "plain"
ABOUT = "notes: a folder of Markdown or text files, an Obsidian vault, one file"


def detect(source: ImportSource) -> float:
    """Be less sure than any format that recognizes more than notes."""
    return 0.5 if any(is_text(name) and not is_hidden(name) for name in source.names()) else 0.0


def read(source: ImportSource, note: Note) -> Iterator[ImportDocument]:
    below = _shared_folder(source.names()) if source.kind in ("zip", "tar") else ""
    apart = UniquePages()
    for name in select_notes(source.names(), note):
        page = apart(page_of(name, below))
        found = read_document(source, name, note, page, name.removeprefix(below))
        if found is not None:
            yield found


def _shared_folder(names: tuple[str, ...]) -> str:
    """Return the folder around all files of an archive: it is not part of a note's name."""
    first = names[0].partition("/")[0] + "/" if names else ""
    return first if names and all(name.startswith(first) for name in names) else ""
