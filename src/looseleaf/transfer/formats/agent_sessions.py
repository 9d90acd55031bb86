"""Claude Code's transcripts: `~/.claude/projects/<project>/<session>.jsonl`, one file for each session.

Lines are read as the hooks read them: only what is plainly the user's own is taken for his words, and what sub-agents
said to each other is left out. A session that was gone on with in another file has its lines there once more; of lines
of one name the oldest file's count. A session that the hooks recorded is there already.
"""

from __future__ import annotations

import json

from looseleaf.transfer.formats.agent_lines import ATTACHED, HOSTED, OF_SUB_AGENTS, OTHERS, UNREAD, said_in
from looseleaf.transfer.json_stream import raw_lines
from looseleaf.transfer.source import Broken, Said, Talk, members, named, stem, to_read, when, words

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from looseleaf.transfer.source import Item, Note, Source

NAME = "claude-code"
ABOUT = "Claude Code's transcripts: ~/.claude/projects, one of its folders, or one .jsonl file"

HOOKED = True
"""The keys of talks are the names of the sessions in which hooks recorded the same."""

_LOOKED_AT = 500
"""Files that say what a folder is: many may have nothing but a summary of another one."""

_NOTED = frozenset((UNREAD, ATTACHED, OTHERS, HOSTED, OF_SUB_AGENTS))
"""What a hook records to say that something was there. An import needs no such sign: all of it is data."""


def detect(source: Source) -> float:
    return 0.95 if any(_is_session(source, name) for name in _names(source)[:_LOOKED_AT]) else 0.0


def _is_session(source: Source, name: str) -> bool:
    """By its lines; by its beginning, where the first line is longer than that."""
    head = source.head(name)
    if b'"sessionId"' not in head or b'"type"' not in head:
        return False
    lines = _first(source, name)
    return not lines or any("sessionId" in raw and "type" in raw for raw in lines)


def _names(source: Source) -> list[str]:
    """Without the files of sub-agents, whose lines are passed over."""
    return [name for name in named(source, ".jsonl") if not stem(name).startswith("agent-")]


def read(source: Source, note: Note) -> Iterator[Item]:
    seen: set[int] = set()
    for _, _, name in sorted(_order(source, name) for name in to_read(source, _names(source))):
        key, title = _about(source, name)
        yield Talk(key, title, _said(source, name, seen, note))


def _order(source: Source, name: str) -> tuple[float, float, str]:
    times = (when(raw.get("timestamp")) for raw in _first(source, name))
    return next((ts for ts in times if ts is not None), 0.0), source.modified(name) or 0.0, name


def _about(source: Source, name: str) -> tuple[str, str]:
    """The session's name and title: its file's name, and the first summary of it."""
    first = _first(source, name)
    return stem(name), next((words(raw.get("summary")) for raw in first if raw.get("type") == "summary"), "")


def _first(source: Source, name: str) -> list[dict[str, Any]]:
    """The lines at the beginning that can be read."""
    found: list[dict[str, Any]] = []
    for line in source.head(name).split(b"\n"):
        try:
            found.append(members(json.loads(line)))
        except (ValueError, RecursionError):
            continue
    return found


def _said(source: Source, name: str, seen: set[int], note: Note) -> Iterator[Said]:
    try:
        with source.open(name) as stream:
            for number, line in enumerate(raw_lines(stream), 1):
                found = said_in(_typed(line)) if line is not None else None
                if line is None or (found is not None and found.asked == ({"tool_result": UNREAD},)):
                    note(f"{name}:{number} was passed over, it is no JSON or too long.")
                    continue
                if found is None or hash(found.key) in seen:
                    continue
                seen.add(hash(found.key))
                for part, asked in enumerate(found.asked):
                    if asked.get("tool_result") not in _NOTED or "tool_call_id" in asked:
                        yield _of(f"{found.key}-{part}", asked, found.ts, is_sure=found.is_sure)
    except Broken as broken:
        note(str(broken))


def _typed(line: bytes) -> bytes:
    """What the user typed while the agent was at work, which its program hands over as an attachment, as if he had
    waited; any other line as it is."""
    if b'"queued_command"' not in line:
        return line
    try:
        raw = members(json.loads(line))
    except (ValueError, RecursionError):
        return line
    own = members(raw.get("attachment"))
    if (
        raw.get("type") != "attachment"
        or own.get("type") != "queued_command"
        or own.get("commandMode") != "prompt"
    ):
        return line
    about = {"type": "user", "origin": own.get("origin"), "isMeta": raw.get("isMeta") or own.get("isMeta")}
    return json.dumps(raw | about | {"message": {"role": "user", "content": own.get("prompt")}}).encode()


def _of(key: str, asked: dict[str, Any], ts: float | None, *, is_sure: bool) -> Said:
    """What a hook would record, as it is imported. What only may be the user's is data here."""
    call = asked.get("tool_call_id")
    if "assistant" in asked:
        return Said(key, "assistant", asked["assistant"], ts)
    if "tool_call" in asked:
        return Said(key, "tool_call", "", ts, asked["tool_call"], asked.get("tool_args"), call or key)
    if "user" in asked and is_sure:
        return Said(key, "user", asked["user"], ts)
    text, error = asked.get("user", asked.get("tool_result")), asked.get("tool_error")
    return Said(key, "tool_result", "", ts, None, None, call or key, text, error)
