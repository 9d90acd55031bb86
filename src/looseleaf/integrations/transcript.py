"""A coding agent's own transcript: a file of JSON lines, read from where it was last left, as what is to be recorded.

Nothing here writes. The file belongs to another program, which may rewrite it, repeat lines in it, or be in the middle
of writing one: a line counts when it has ended, and a place in the file is believed only while the line before it is
the one that was there. What the agent's program put into the talk (reminders, summaries, notices, what a command
printed) is never taken for words of the user.
"""

from __future__ import annotations

import json
import os
import re
from zlib import crc32

from looseleaf.errors import Refused
from looseleaf.frozen import frozen

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

AT_ONCE = 8 * 1024 * 1024
"""Bytes that are read in one go, some seconds of work; the next event goes on from there."""

WHILE_ASKED = 1024 * 1024
"""The same while somebody waits with a prompt. An answer is seldom longer; where hooks come into a session that has
gone on for long, it is caught up with when there is time."""

_NAMED = ".jsonl"

# Elements by which coding agents tell a model what no user said.
_TOLD = (
    "system-reminder task-notification teammate-message user-prompt-submit-hook session-start-hook user-memory-input "
    "command-name command-message command-args command-contents local-command-stdout local-command-stderr "
    "local-command-caveat bash-input bash-stdout bash-stderr ide_opened_file ide_selection ide_diagnostics"
).split()
# From the first such mark to the last that ends it: what stands between may spell an end of its own.
_NOT_SAID = f"(?s)<({'|'.join(_TOLD)})\\b[^>]*>(?:.*</\\1>|.*)"
_ELEMENT = r"<[a-z][a-z0-9_-]*[ />]"
_NOTICES = ("[Request interrupted by user", "[MEMORY:", "Caveat: The messages below")
_ASIDE = ("isMeta", "isSidechain", "isCompactSummary", "isVisibleInTranscriptOnly", "isApiErrorMessage")
_KEY = r"[A-Za-z0-9_-]{1,64}"
# None of these is compiled before it is needed: a hook starts a process for every prompt.


@frozen
class Spot:
    """A place in a transcript: how many bytes lie before it, and the line that ended there. `file`: its number, which
    another file of the same name has not."""

    file: int
    offset: int
    length: int
    line: int


@frozen
class Said:
    """One line of it: its key, by which it is known if it comes again, its time, and what is to be recorded of it (as
    `Memory.record` takes it)."""

    key: str
    ts: float | None
    asked: tuple[dict[str, Any], ...]


class NoTranscript(Refused):
    """There is none (yet): coding agents name it before they begin it."""


class Transcript:
    """An open transcript. `with Transcript(path) as transcript: lines, spot = transcript.read(spot)`."""

    def __init__(self, path: str, at_once: int = AT_ONCE) -> None:
        self._path = path
        self._at_once = at_once
        self._fd = _opened(path)
        self.file = os.fstat(self._fd).st_ino

    def __enter__(self) -> Transcript:
        return self

    def __exit__(self, *_: object) -> None:
        os.close(self._fd)

    def goes_on(self, spot: Spot | None) -> bool:
        """Whether what was read up to a place is still what stands before it."""
        if spot is None or spot.file != self.file:
            return False
        return spot.offset == 0 or crc32(self._at(spot.offset - spot.length, spot.length)) == spot.line

    def read(self, spot: Spot | None) -> tuple[list[Said], Spot, bool]:
        """What lines say behind a place (None: all of them), the place behind the last, and whether that is all."""
        offset = spot.offset if spot is not None else 0
        data = self._at(offset, self._at_once)
        end = data.rfind(b"\n") + 1
        if not end and len(data) == self._at_once:  # one line, which must not be lost to who is in a hurry
            data = self._at(offset, max(AT_ONCE, self._at_once))
            end = data.find(b"\n") + 1
            if not end and len(data) >= AT_ONCE:
                return self._over_long(spot, offset)
            data = data[:end]
        lines = data[:end].split(b"\n")[:-1]
        found = [said for said in map(said_in, lines) if said is not None]
        if not lines:
            return found, spot or Spot(self.file, 0, 0, 0), True
        last = lines[-1] + b"\n"
        return found, Spot(self.file, offset + end, len(last), crc32(last)), len(data) < self._at_once

    def _over_long(self, spot: Spot | None, offset: int) -> tuple[list[Said], Spot, bool]:
        """A line that is longer than anything that is read is passed over, when it has ended."""
        at, last = offset, b""
        while piece := self._at(at, self._at_once):
            end = piece.find(b"\n") + 1
            last = (last + piece[: end or None])[-64:]
            at += end or len(piece)
            if end:
                return [], Spot(self.file, at, len(last), crc32(last)), False
        return [], spot or Spot(self.file, 0, 0, 0), True

    def _at(self, offset: int, length: int) -> bytes:
        parts: list[bytes] = []
        try:
            os.lseek(self._fd, offset, os.SEEK_SET)
            while length > 0 and (part := os.read(self._fd, min(length, 1 << 20))):
                parts.append(part)
                length -= len(part)
        except OSError as error:
            raise _unread(self._path, error.strerror or str(error)) from error
        return b"".join(parts)


def _opened(path: str) -> int:
    """Only a file, of the user himself, and named as transcripts are: whoever could name another one here would have
    it recorded, and a pipe may never answer."""
    if not os.path.isabs(path) or not path.endswith(_NAMED):
        raise _unread(path, f"it is not an absolute path of a {_NAMED} file")
    flags = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)
    try:
        fd = os.open(path, flags | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_BINARY", 0))
    except FileNotFoundError as error:
        raise NoTranscript(str(_unread(path, "it is not there"))) from error
    except (OSError, ValueError) as error:  # ValueError: a name with a NUL
        raise _unread(path, getattr(error, "strerror", None) or str(error)) from error
    stat = os.fstat(fd)
    own = getattr(os, "getuid", lambda: stat.st_uid)()
    if stat.st_mode & 0o170000 != 0o100000 or stat.st_uid != own:
        os.close(fd)
        raise _unread(path, "it is not a file of yours")
    return fd


def _unread(path: str, why: str) -> Refused:
    return Refused(
        f"The transcript was not read: {path[:200]!r} ({why}). What it says is not recorded; the prompts are."
    )


# --- one line --------------------------------------------------------------------------


def said_in(line: bytes) -> Said | None:
    """None for what is nobody's words: a line that is no JSON, a summary, a sub-agent's, a notice."""
    try:
        raw = json.loads(line)
    except (ValueError, RecursionError):
        return None
    if not isinstance(raw, dict) or any(raw.get(flag) for flag in _ASIDE):
        return None
    message = raw.get("message")
    if raw.get("type") not in ("user", "assistant") or not isinstance(message, dict):
        return None
    content = message.get("content")
    blocks = [{"type": "text", "text": content}] if isinstance(content, str) else content
    if not isinstance(blocks, list):
        return None
    own = [block for block in blocks if isinstance(block, dict)]
    asked = _of_assistant(own) if raw["type"] == "assistant" else _of_user(own)
    uuid = raw.get("uuid")
    is_key = isinstance(uuid, str) and re.fullmatch(_KEY, uuid)
    key = str(uuid) if is_key else f"line-{crc32(line):08x}-{len(line)}"
    return Said(key, moment_of(raw.get("timestamp")), tuple(asked)) if asked else None


def moment_of(text: object) -> float | None:
    if not isinstance(text, str) or len(text) > 40:
        return None
    from datetime import UTC, datetime

    try:
        found = datetime.fromisoformat(text)
    except ValueError:
        return None
    return (found if found.tzinfo is not None else found.replace(tzinfo=UTC)).timestamp()


def _of_assistant(blocks: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Its texts and calls. What it only thought is not said to anybody."""
    asked: list[dict[str, Any]] = []
    for block in blocks:
        text, name, call = block.get("text"), block.get("name"), block.get("id")
        if block.get("type") == "text" and isinstance(text, str) and text.strip():
            asked.append({"assistant": text})
        elif block.get("type") == "tool_use" and isinstance(name, str) and name:
            own = {"tool_call_id": call} if isinstance(call, str) and call else {}
            asked.append({"tool_call": name, "tool_args": block.get("input")} | own)
    return asked


def _of_user(blocks: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Results of tools; and what is plainly the user's own."""
    asked: list[dict[str, Any]] = []
    texts: list[str] = []
    for block in blocks:
        text, call = block.get("text"), block.get("tool_use_id")
        if block.get("type") == "text" and isinstance(text, str):
            texts.append(text)
        elif block.get("type") == "tool_result":
            what = "tool_error" if block.get("is_error") else "tool_result"
            own = {"tool_call_id": call} if isinstance(call, str) and call else {}
            asked.append({what: _result(block.get("content"))} | own)
    said = "\n\n".join(filter(None, map(own_words, texts)))
    return [*asked, {"user": said}] if said and not re.match(_ELEMENT, said) else asked


def _result(content: object) -> str:
    if isinstance(content, str):
        return content
    blocks = content if isinstance(content, list) else []
    parts = [block for block in blocks if isinstance(block, dict)]
    texts = [part["text"] if isinstance(part.get("text"), str) else f"[{part.get('type')}]" for part in parts]
    return "\n".join(texts)


def own_words(text: str) -> str:
    """What is left of a text without what the agent's program put into it; nothing, if it is a notice of that."""
    said = re.sub(_NOT_SAID, "", text).strip() if "<" in text else text.strip()
    return "" if said.startswith(_NOTICES) else said
