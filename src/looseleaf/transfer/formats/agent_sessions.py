"""Claude Code transcripts, `~/.claude/projects/<project>/<session>.jsonl`, one file per session; and the notes that it
keeps for itself, `<project>/memory/*.md`.

Lines are read as the hooks read them: only what is plainly the user's own counts as the user's words, and talk among
sub-agents is left out. A resumed session repeats its lines in a new file; the oldest file's count. Of a session that
hooks recorded, only lines that they missed are taken. Its notes are documents.
"""

from __future__ import annotations

from looseleaf.base.origins import NOTED
from looseleaf.transfer.formats.agent_lines import UNREAD, read_line
from looseleaf.transfer.formats.notes import MARKDOWN, UniquePages, page_of, read_document
from looseleaf.transfer.json_stream import raw_lines
from looseleaf.transfer.source import (
    ImportMessage,
    Talk,
    files_ending,
    files_to_read,
    object_in,
    skip_broken,
    stem,
    text_of,
    time_of,
    tool_call,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from looseleaf.transfer.source import ImportDocument, ImportSource, Item, Note

NAME = "claude-code"
ABOUT = "Claude Code transcripts and notes: ~/.claude/projects, one of its folders, or one .jsonl file"

HOOKED = True
"""Talk keys are the names of the sessions that hooks record."""

_LOOKED_AT = 500
"""Files looked at to recognize a folder: many may hold only a summary of another."""


def detect(source: ImportSource) -> float:
    return 0.95 if any(_is_session(source, name) for name in _find_files(source)[:_LOOKED_AT]) else 0.0


def _is_session(source: ImportSource, name: str) -> bool:
    """Decide by the first lines; by the raw head, where the first line is longer than that."""
    head = source.head(name)
    if b'"sessionId"' not in head or b'"type"' not in head:
        return False
    lines = _read_head(source, name)
    return not lines or any("sessionId" in raw and "type" in raw for raw in lines)


def _find_files(source: ImportSource) -> list[str]:
    """Return the transcripts, without those of sub-agents."""
    return [name for name in files_ending(source, ".jsonl") if not stem(name).startswith("agent-")]


def read(source: ImportSource, note: Note) -> Iterator[Item]:
    seen: set[int] = set()
    for _, _, name in sorted(_sort_key(source, name) for name in files_to_read(source, _find_files(source))):
        summaries = (raw for raw in _read_head(source, name) if raw.get("type") == "summary")
        title = text_of(next(summaries, {}).get("summary"))
        yield Talk(stem(name), title, _read_messages(source, name, seen, note))
    yield from _read_notes(source, note)


def _read_notes(source: ImportSource, note: Note) -> Iterator[ImportDocument]:
    apart = UniquePages()
    above = source.path.rpartition("/")[2]
    for name in files_ending(source, *MARKDOWN):
        before, is_note, after = f"/{name}".partition("/memory/")
        if is_note:
            project = before.rpartition("/")[2]
            page = apart(page_of(f"{project}/{after}" if project else after))
            # The source may be the folder of its project: the same note has one key.
            found = read_document(source, name, note, page, f"{project or above}/memory/{after}")
            if found is not None:
                yield found


def _sort_key(source: ImportSource, name: str) -> tuple[float, float, str]:
    times = (time_of(raw.get("timestamp")) for raw in _read_head(source, name))
    return next((ts for ts in times if ts is not None), 0.0), source.modified(name) or 0.0, name


def _read_head(source: ImportSource, name: str) -> list[dict[str, Any]]:
    """Return the first lines, without those that are not JSON."""
    return [raw for raw in map(object_in, source.head(name).split(b"\n")) if raw is not None]


def _read_messages(source: ImportSource, name: str, seen: set[int], note: Note) -> Iterator[ImportMessage]:
    with skip_broken(note), source.open(name) as stream:
        for number, line in enumerate(raw_lines(stream), 1):
            found = read_line(line) if line is not None else None
            if line is None or (
                found is not None and found.asked[:1] and found.asked[0].get("tool_result") == UNREAD
            ):
                note(f"{name}:{number} was passed over: it is not JSON, or is too long.")
                continue
            if found is None or hash(found.key) in seen:
                continue
            seen.add(hash(found.key))
            for part, asked in enumerate(found.asked):
                if asked.get("tool_name") != NOTED:  # all of an import is data: it needs no notes
                    is_sure = found.is_sure or found.is_typed
                    yield _message_of(f"{found.key}-{part}", asked, found.ts, is_sure=is_sure)


def _message_of(key: str, asked: dict[str, Any], ts: float | None, *, is_sure: bool) -> ImportMessage:
    """Convert what a hook would record. Words that are not surely the user's are data here."""
    call = asked.get("tool_call_id") or key
    if "assistant" in asked:
        return ImportMessage(key, "assistant", asked["assistant"], ts)
    if "tool_call" in asked:
        return tool_call(key, ts, asked["tool_call"], asked.get("tool_args"), call)
    if "user" in asked and is_sure:
        return ImportMessage(key, "user", asked["user"], ts)
    text, error = asked.get("user", asked.get("tool_result")), asked.get("tool_error")
    return ImportMessage(key, "tool_result", "", ts, None, None, call, text, error)
