"""An OpenClaw workspace: who the agent is, who the user is, what it remembers, and a note for each day.

There may be several beside each other (`workspace`, `workspace-support`), and the whole state folder may be given. The
first one's SOUL and USER may become those of this memory; those of the others are pages of facts.
"""

from __future__ import annotations

from looseleaf.language.topic_words import topic_name
from looseleaf.transfer.formats.notes import MARKDOWN, day_of, document, folder_of, is_text, page_for, page_of
from looseleaf.transfer.source import stem

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from looseleaf.transfer.source import Document, Note, Source

NAME = "openclaw"
ABOUT = "an OpenClaw workspace: SOUL.md, USER.md, MEMORY.md, memory/2026-01-05.md, …"

FILES = frozenset(
    {
        "AGENTS.md",
        "SOUL.md",
        "USER.md",
        "IDENTITY.md",
        "TOOLS.md",
        "HEARTBEAT.md",
        "MEMORY.md",
        "BOOTSTRAP.md",
    }
)
"""What a workspace has at its top. `memory.md` is how MEMORY.md was once called."""

_OWN = frozenset({"SOUL.md", "USER.md", "IDENTITY.md", "MEMORY.md"})
"""Of these: what a folder of code with rules for agents has not."""

_SURE = 0.85


def detect(source: Source) -> float:
    return _SURE if _workspaces(source.names()) else 0.0


def read(source: Source, note: Note) -> Iterator[Document]:
    names = source.names()
    workspaces = _workspaces(names)
    first = next(iter(workspaces), "")
    others = 0
    for name in names:
        below = next((folder for folder in _folders(name) if folder in workspaces), None)
        page = _page(name, below, first) if below is not None else None
        if page is None:
            others += 1
            continue
        found = document(source, name, note, page, name.removeprefix(first))
        if found is not None:
            yield found
    if others:
        note(f"{others:,} of the files were passed over: skills, settings and the like are no memory.")


def _folders(name: str) -> Iterator[str]:
    """The folders that a file lies in, the nearest first, each with its slash; "" is the last."""
    while name:
        name = folder_of(name.rstrip("/"))
        yield name


def _workspaces(names: tuple[str, ...]) -> dict[str, None]:
    """The folders that are one: with two files of a workspace, and one that nothing else has. The nearest first."""
    found: dict[str, set[str]] = {}
    for name in names:
        if name[len(folder_of(name)) :] in FILES:
            found.setdefault(folder_of(name), set()).add(name[len(folder_of(name)) :])
    has_journal = any(name.endswith("log/journal.jsonl") for name in names)  # a memory of our own
    good = [folder for folder, files in found.items() if len(files) > 1 and files & _OWN and not has_journal]
    return dict.fromkeys(sorted(good, key=lambda folder: (folder.count("/"), folder.rstrip("/"))))


def _page(name: str, below: str, first: str) -> str | None:
    """Where a file of a workspace would stand; None for one that is no memory (a skill, a picture)."""
    inner = name[len(below) :]
    if not is_text(inner, MARKDOWN) or inner.startswith("."):
        return None
    place = f"{topic_name(below.rstrip('/').rpartition('/')[2])}-" if below != first else ""
    if "/" not in inner:
        if inner in ("SOUL.md", "USER.md") and not place:
            return inner
        return f"facts/{place}{topic_name(stem(inner))}.md"
    if not inner.startswith("memory/"):
        return None
    inner = inner.removeprefix("memory/")
    if day_of(inner) is not None and "/" not in inner and not place:
        return page_for("days", stem(inner))
    return page_of(f"{place}{inner}") if not place else f"facts/{place}{topic_name(stem(inner))}.md"
