"""A basic-memory project: Markdown with front matter, observations (`- [category] content`) and relations.

Each note is one document and stays as it is, except for its statements, which become facts of a page:
`- [tech] Uses SQLite` becomes `- Tech: Uses SQLite`, and `- depends_on [[Schema]]` becomes `- Depends on: [[Schema]]`.
"""

from __future__ import annotations

import re

from looseleaf.language.topic_words import topic_name
from looseleaf.pages.grammar import find_covered_lines
from looseleaf.text.lines import as_written, bullet_text
from looseleaf.transfer.formats.notes import (
    MARKDOWN,
    UniquePages,
    front_matter,
    is_hidden,
    is_text,
    read_document,
    select_notes,
    topic_of_page,
)
from looseleaf.transfer.formats.statements import relation_words
from looseleaf.transfer.source import ImportDocument

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from looseleaf.transfer.source import ImportSource, Note

NAME = "basic-memory"
ABOUT = "a basic-memory project: Markdown notes with permalinks, observations and relations"

_LOOKED_AT = 20
"""Notes looked at to recognize a folder."""

_LONGEST_LINE = 10_000
_TASKS = frozenset({"", "x", "X", "-", "/", ">"})
"""The marks of a task between its brackets."""

_OBSERVATION = re.compile(r"[-*+] \[([^\[\]()]{1,60})\] (\S.*)")
_RELATION = re.compile(r"[-*+] ([^\[\]:]{0,60})(\[\[[^\[\]]{1,500}\]\](?: \(.*\))?)")


def detect(source: ImportSource) -> float:
    """Recognize a project by its permalinks: basic-memory puts one on every note that it has read."""
    notes = [name for name in source.names() if is_text(name, MARKDOWN) and not is_hidden(name)]
    some = notes[:: max(1, len(notes) // _LOOKED_AT)][:_LOOKED_AT]
    heads = (source.head(name, 8192).decode("utf-8", "replace") for name in some)
    known = sum("permalink" in front_matter(head) for head in heads)
    return 0.85 if known and 2 * known >= len(some) else 0.0


def read(source: ImportSource, note: Note) -> Iterator[ImportDocument]:
    apart = UniquePages()
    for name in select_notes(source.names(), note, MARKDOWN):
        found = read_document(source, name, note)
        if found is not None:
            key = front_matter(found.text).get("permalink") or found.key  # stays when the file moves
            page = apart(f"facts/{topic_name(found.title)}.md")
            text = convert_note(found.text)
            yield ImportDocument(key, text, found.title, found.ts, page, topic_of_page(page))


def convert_note(text: str) -> str:
    """Return the note with its statements as facts; every other byte stays."""
    inside = find_covered_lines(text)
    lines = enumerate(text.split("\n"))
    return "\n".join(line if any(inside[at : at + 1]) else _convert_line(line) for at, line in lines)


def _convert_line(line: str) -> str:
    said, end = (line[:-1], "\r") if line.endswith("\r") else (line, "")
    if len(said) > _LONGEST_LINE:
        return line
    found = _OBSERVATION.fullmatch(said)
    if found is not None and found[1].strip() not in _TASKS:
        return _format_fact(relation_words(found[1]), found[2], line, end)
    found = _RELATION.fullmatch(said)
    if found is not None:
        return _format_fact(relation_words(found[1].strip().strip('"')) or "Relates to", found[2], line, end)
    return line


def _format_fact(relation: str, said: str, line: str, end: str) -> str:
    """Return the line as a fact of this relation, or unchanged if it cannot be one."""
    is_sound = as_written(relation, said)[0] in (relation, relation.lower())
    return f"- {bullet_text(relation, said)}{end}" if is_sound else line
