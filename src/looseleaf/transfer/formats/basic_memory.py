"""A basic-memory project: Markdown with front matter, observations (`- [category] content`) and relations.

Each note is one document, and stays as it is but for the lines that state something: `- [tech] Uses SQLite` becomes
`- Tech: Uses SQLite`, and `- depends_on [[Schema]]` becomes `- Depends on: [[Schema]]`, which is how pages say it here.
"""

from __future__ import annotations

import re

from looseleaf.language.topic_words import topic_name
from looseleaf.pages.grammar import covered
from looseleaf.text.lines import as_written, bullet_text
from looseleaf.transfer.formats.notes import (
    MARKDOWN,
    Apart,
    document,
    front_matter,
    is_hidden,
    is_text,
    sort_out,
    topic_for,
)
from looseleaf.transfer.formats.statements import in_words
from looseleaf.transfer.source import Document

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from looseleaf.transfer.source import Note, Source

NAME = "basic-memory"
ABOUT = "a basic-memory project: Markdown notes with permalinks, observations and relations"

_SURE = 0.85
_LOOKED_AT = 20
"""Notes that say what a folder is."""

_LONGEST_LINE = 10_000
_TASKS = frozenset({"", "x", "X", "-", "/", ">"})
"""What stands between brackets before a task."""

_OBSERVATION = re.compile(r"[-*+] \[([^\[\]()]{1,60})\] (\S.*)")
_RELATION = re.compile(r"[-*+] ([^\[\]:]{0,60})(\[\[[^\[\]]{1,500}\]\](?: \(.*\))?)")


def detect(source: Source) -> float:
    """Half of the notes have a permalink: that is how basic-memory leaves what it has seen."""
    notes = [name for name in source.names() if is_text(name, MARKDOWN) and not is_hidden(name)]
    some = notes[:: max(1, len(notes) // _LOOKED_AT)][:_LOOKED_AT]
    known = sum("permalink" in _head(source, name) for name in some)
    return _SURE if known and 2 * known >= len(some) else 0.0


def _head(source: Source, name: str) -> dict[str, str]:
    return front_matter(source.head(name, 8192).decode("utf-8", "replace"))


def read(source: Source, note: Note) -> Iterator[Document]:
    apart = Apart()
    for name in sort_out(source.names(), note, MARKDOWN):
        found = document(source, name, note)
        if found is not None:
            key = front_matter(found.text).get("permalink") or found.key  # it stays when the file moves
            page = apart(f"facts/{topic_name(found.title)}.md")
            yield Document(key, stated(found.text), found.title, found.ts, page, topic_for(page))


def stated(text: str) -> str:
    """The note with its statements as pages here have them; every other byte as it was."""
    lines = text.split("\n")
    inside = covered(text)
    return "\n".join(
        line if number < len(inside) and inside[number] else _stated(line)
        for number, line in enumerate(lines)
    )


def _stated(line: str) -> str:
    said, end = (line[:-1], "\r") if line.endswith("\r") else (line, "")
    if len(said) > _LONGEST_LINE:
        return line
    found = _OBSERVATION.fullmatch(said)
    if found is not None and found[1].strip() not in _TASKS:
        return _bullet(in_words(found[1]), found[2], line, end)
    found = _RELATION.fullmatch(said)
    if found is not None:
        return _bullet(in_words(found[1].strip().strip('"')) or "Relates to", found[2], line, end)
    return line


def _bullet(relation: str, said: str, line: str, end: str) -> str:
    """The line as a fact of this relation, or as it was if that cannot be one."""
    is_sound = as_written(relation, said)[0] in (relation, relation.lower())
    return f"- {bullet_text(relation, said)}{end}" if is_sound else line
