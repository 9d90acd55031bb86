"""An OpenClaw workspace: the agent, the user, its memory, and a note for each day.

There may be several beside each other (`workspace`, `workspace-support`), and the path may be the whole state folder.
The first one's SOUL and USER may become those of this memory; those of the others are pages of facts.
"""

from __future__ import annotations

from looseleaf.language.topic_words import topic_name
from looseleaf.transfer.formats.notes import (
    MARKDOWN,
    day_of,
    folder_of,
    is_text,
    page_in,
    page_of,
    read_document,
)
from looseleaf.transfer.source import stem

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from looseleaf.transfer.source import ImportDocument, ImportSource, Note

NAME = "openclaw"
ABOUT = "an OpenClaw workspace: SOUL.md, USER.md, MEMORY.md, memory/2026-01-05.md, …"

_OWN = frozenset({"SOUL.md", "USER.md", "IDENTITY.md", "MEMORY.md"})
"""Files of a workspace that no folder of code with rules for agents has."""

FILES = _OWN | {"AGENTS.md", "TOOLS.md", "HEARTBEAT.md", "BOOTSTRAP.md"}
"""The files at the top of a workspace. `memory.md` is the old name of MEMORY.md."""


def detect(source: ImportSource) -> float:
    return 0.85 if _find_workspaces(source.names()) else 0.0


def read(source: ImportSource, note: Note) -> Iterator[ImportDocument]:
    names = source.names()
    workspaces = _find_workspaces(names)
    first = next(iter(workspaces), "")
    others = 0
    for name in names:
        below = next((folder for folder in _parents_of(name) if folder in workspaces), None)
        page = _page_of(name, below, first) if below is not None else None
        if page is None:
            others += 1
            continue
        found = read_document(source, name, note, page, name.removeprefix(first))
        if found is not None:
            yield found
    if others:
        were = "was" if others == 1 else "were"
        note(f"{others:,} of the files {were} passed over: skills, settings and the like are not memories.")


def _parents_of(name: str) -> Iterator[str]:
    """Yield the folders around a file, the nearest first, each with its slash; "" is the last."""
    while name:
        name = folder_of(name.rstrip("/"))
        yield name


def _find_workspaces(names: tuple[str, ...]) -> dict[str, None]:
    """Return the folders with two files of a workspace, one of them unmistakable; the topmost first."""
    found: dict[str, set[str]] = {}
    for name in names:
        folder, _, file = name.rpartition("/")
        if file in FILES:
            found.setdefault(folder and f"{folder}/", set()).add(file)
    has_journal = any(name.endswith("log/journal.jsonl") for name in names)  # a looseleaf memory
    good = [folder for folder, files in found.items() if len(files) > 1 and files & _OWN and not has_journal]
    return dict.fromkeys(sorted(good, key=lambda folder: (folder.count("/"), folder.rstrip("/"))))


def _page_of(name: str, below: str, first: str) -> str | None:
    """Return the page for a file of a workspace; None for one that is not a memory (a skill, a picture)."""
    inner = name[len(below) :]
    if not is_text(inner, MARKDOWN) or inner.startswith("."):
        return None
    place = f"{topic_name(below.rstrip('/').rpartition('/')[2])}-" if below != first else ""
    if inner in ("SOUL.md", "USER.md") and not place:
        return inner
    if "/" in inner and not inner.startswith("memory/"):
        return None
    if "/" not in inner or place:
        return f"facts/{place}{topic_name(stem(inner))}.md"
    inner = inner.removeprefix("memory/")
    is_day = day_of(inner) is not None and "/" not in inner
    return page_in("days", stem(inner)) if is_day else page_of(inner)
