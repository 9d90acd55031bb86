"""A coding agent's transcript, read from the last place on; the log's record of its lines; and when two texts match.

Only one thing is written here: checksums of prompts that came to a locked memory. The transcript will contain them,
and they are the user's words.
"""

from __future__ import annotations

import os
import re
import time
from zlib import crc32

from looseleaf.base.errors import NotFound, Refused
from looseleaf.base.immutable import frozen
from looseleaf.log.turns import recorded_at, traces_back
from looseleaf.store import records
from looseleaf.transfer.formats.agent_lines import AgentLine, of_clients, read_line, unreadable_line

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from looseleaf.base.values import Record
    from looseleaf.memory import Memory
    from looseleaf.store.protocol import Store


AT_ONCE = 8 * 1024 * 1024
"""Bytes read in one go, some seconds of work; the next event continues."""

WHILE_ASKED = 1024 * 1024
"""The same while a user waits with a prompt. An answer is seldom longer; a hook that joins a long session catches up
later."""

_NAMED = ".jsonl"


@frozen
class FileOffset:
    """A place in a transcript: the bytes before it, and the length and checksum of the line that ends there. `file`:
    the file's number, which tells it from another file of that name."""

    file: int
    offset: int
    length: int
    line: int


class NoTranscript(NotFound):
    """The transcript does not exist (yet): coding agents name it before they create it."""


class AgentTranscript:
    """An open transcript. `with Transcript(path) as transcript: lines, spot = transcript.read(spot)`."""

    def __init__(self, path: str, at_once: int = AT_ONCE) -> None:
        self._path = path
        self._at_once = at_once
        self._fd = _open_transcript(path)
        self.file = os.fstat(self._fd).st_ino

    def __enter__(self) -> AgentTranscript:
        return self

    def __exit__(self, *_: object) -> None:
        os.close(self._fd)

    def is_silent(self, seconds: float) -> bool:
        """True if nothing was written for some time."""
        return time.time() - os.fstat(self._fd).st_mtime > seconds

    def is_at(self, spot: FileOffset | None) -> bool:
        """True if the line before a place is still the one that was read."""
        if spot is None or spot.file != self.file:
            return False
        return spot.offset == 0 or crc32(self._read_at(spot.offset - spot.length, spot.length)) == spot.line

    def read(self, spot: FileOffset | None) -> tuple[list[AgentLine], FileOffset, bool]:
        """Return the lines after a place (None: all), the place after the last, and whether that is all."""
        offset = spot.offset if spot is not None else 0
        data = self._read_at(offset, self._at_once)
        end = data.rfind(b"\n") + 1
        if not end and len(data) == self._at_once:  # one long line, which must not be lost in a hurry
            data = self._read_at(offset, max(AT_ONCE, self._at_once))
            end = data.find(b"\n") + 1
            if not end and len(data) >= AT_ONCE:
                return self._skip_long_line(spot, offset)
            data = data[:end]
        lines = data[:end].split(b"\n")[:-1]
        found = [said for said in map(_read_any, lines) if said is not None]
        if not lines:
            return found, spot or FileOffset(self.file, 0, 0, 0), True
        last = lines[-1] + b"\n"
        return found, FileOffset(self.file, offset + end, len(last), crc32(last)), len(data) < self._at_once

    def _skip_long_line(
        self, spot: FileOffset | None, offset: int
    ) -> tuple[list[AgentLine], FileOffset, bool]:
        """Skip a line that is too long, once it has ended, and leave a note in its place."""
        at, last = offset, b""
        while piece := self._read_at(at, self._at_once):
            end = piece.find(b"\n") + 1
            last = (last + piece[: end or None])[-64:]
            at += end or len(piece)
            if end:
                mark = crc32(last)
                note = unreadable_line(f"long-{mark:08x}-{at - offset}")
                return [note], FileOffset(self.file, at, len(last), mark), False
        return [], spot or FileOffset(self.file, 0, 0, 0), True

    def queued_texts(self, before: float = float("inf")) -> list[tuple[str, float | None]]:
        """Return the texts that the user put into the queue (`before`: until then), as far as the last lines say, and
        when."""
        size = os.fstat(self._fd).st_size
        lines = self._read_at(max(0, size - AT_ONCE), AT_ONCE).split(b"\n")
        found = (read_line(line) for line in lines if b'"queue-operation"' in line)
        said = (each for each in found if each is not None and (each.ts or 0.0) < before)
        return [(each.queue[1], each.ts) for each in said if each.queue[:1] == ("enqueue",)]

    def first_session(self) -> str:
        """Return the session of the first lines: a copy for another session keeps them."""
        found = re.search(rb'"sessionId" ?: ?"([^"\\]{1,200})"', self._read_at(0, 1 << 16))
        return found[1].decode("utf-8", "replace") if found is not None else ""

    def _read_at(self, offset: int, length: int) -> bytes:
        parts: list[bytes] = []
        try:
            os.lseek(self._fd, offset, os.SEEK_SET)
            while length > 0 and (part := os.read(self._fd, min(length, 1 << 20))):
                parts.append(part)
                length -= len(part)
        except OSError as error:
            raise _not_read(self._path, error.strerror or str(error)) from error
        return b"".join(parts)


def _read_any(line: bytes) -> AgentLine | None:
    """Read a line of Claude Code or, if it is none, of another client."""
    found = read_line(line)
    if found is None and b'"message":' not in line and (b'"payload":' in line or b'"content":' in line):
        from looseleaf.transfer.formats.agent_dialects import read_dialect

        return read_dialect(line)
    return found


def queue_after(queue: list[str], act: str, text: str) -> list[str]:
    """Return a queue, as checksums of its texts, after an act of the client. A text that the agent takes comes again as
    a line of its own (`queue_without`): the client does not say which one it takes. Notices and commands are left
    out."""
    if act == "enqueue" and text.strip()[:1] not in ("", "/") and not of_clients(text):
        return [*queue, checksum_of(text)]
    return [] if act == "popAll" else queue


def queue_without(queue: list[str], text: str) -> list[str]:
    """Return a queue without the texts that the agent took: this one, or its lines."""
    if not queue or not text:
        return queue
    taken = {checksum_of(each) for each in (text, *text.split("\n"), *map(str.strip, text.split("\n")))}
    return [each for each in queue if each not in taken]


def _open_transcript(path: str) -> int:
    """Open only a regular file of this user, with a transcript's name: otherwise a caller could have any file recorded,
    and a pipe may never answer."""
    if not os.path.isabs(path) or not path.endswith(_NAMED):
        raise _not_read(path, f"it is not the absolute path of a {_NAMED} file")
    try:
        fd = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    except FileNotFoundError as error:
        raise NoTranscript(str(_not_read(path, "it does not exist"))) from error
    except (OSError, ValueError) as error:  # ValueError: a name with a NUL
        raise _not_read(path, getattr(error, "strerror", None) or str(error)) from error
    stat = os.fstat(fd)
    if stat.st_mode & 0o170000 != 0o100000 or stat.st_uid != os.getuid():
        os.close(fd)
        raise _not_read(path, "it is not your file")
    return fd


def _not_read(path: str, why: str) -> Refused:
    return Refused(f"The transcript was not read: {path[:200]!r} ({why}). Only the prompts are recorded.")


_SHELLS = (b"(sh)", b"(dash)", b"(bash)", b"(zsh)")


def calling_process() -> str:
    """Return the process of the client that runs this hook, with its start, so that a number used again is told apart;
    "" where the system does not say."""
    pid = os.getppid()
    for _ in range(3):
        parts = _process_parts(pid)
        if not parts or parts[0] not in _SHELLS:
            return f"{pid}-{parts[2].decode()}" if parts else ""
        pid = int(parts[1])
    return ""


def started_at(process: str) -> float:
    """Return when a process was started; 0 if that is unknown."""
    ticks = process.partition("-")[2]
    if not ticks.isdecimal():
        return 0.0
    return time.time() - time.clock_gettime(time.CLOCK_BOOTTIME) + int(ticks) / os.sysconf("SC_CLK_TCK")


def is_gone(process: str) -> bool:
    """True if that process has ended."""
    pid, _, start = process.partition("-")
    if not pid.isdecimal() or not os.path.isdir("/proc/self"):
        return False
    parts = _process_parts(int(pid))
    return not parts or parts[2].decode() != start


def _process_parts(pid: int) -> tuple[bytes, bytes, bytes] | tuple[()]:
    """Return the name, the parent and the start of a process; nothing if there is none, or the system does not say."""
    try:
        fd = os.open(f"/proc/{pid}/stat", os.O_RDONLY)
        try:
            name, _, rest = os.read(fd, 4096).partition(b" ")[2].rpartition(b")")
        finally:
            os.close(fd)
        fields = rest.split()
        return (name + b")", fields[1], fields[19]) if fields[0] not in (b"Z", b"X") else ()
    except (OSError, IndexError):
        return ()


PROMPT, ANSWER = "hook:user-prompt", "hook:stop"
"""The `source_event` of texts from a hook; those from a transcript have a key (`correlation_id`)."""

SLACK = 600.0
"""Seconds that a transcript may be ahead of the recording: a laptop may sleep in between."""

TAIL = 200
"""Characters that identify the end of an answer."""

_MISSED = 32
_LONGEST = 8_000
"""Characters of a text that is compared directly; a longer one is compared by checksum."""


class RecordedPast:
    """The recorded lines, read back as far as needed. `keys`: the turn of each line; `foreign`: lines of other
    sessions; `handed`: texts from hooks."""

    def __init__(self, memory: Memory, session: str, stream: str) -> None:
        self._traces = traces_back(memory.parts.context.store, stream)
        self._session = session
        self._reached = False
        self._since = float("inf")
        self.keys: dict[str, str] = {}
        self.foreign: set[str] = set()
        self.handed: dict[tuple[str, str], str] = {}

    def read(self, since: float | None, *, is_known: bool) -> None:
        """Read back to a time; without one, to the beginning of the session."""
        while not self._reached and (is_known if since is None else self._since >= since - SLACK):
            trace = next(self._traces, None)
            if trace is None:
                self._reached = True
                return
            self._since = min(self._since, recorded_at(trace))
            is_own = trace.session_id == self._session
            if trace.correlation_id is not None:
                self.keys.setdefault(trace.correlation_id, trace.turn_id)
                if not is_own:
                    self.foreign.add(trace.correlation_id)
            if is_own:
                if trace.source_event in (PROMPT, ANSWER) and trace.correlation_id is None:
                    self.handed.setdefault((trace.trace_type, match_key(trace.content)), trace.turn_id)
                if since is None and trace.session_start:
                    return


def speech_of(each: dict[str, Any]) -> tuple[str, str]:
    """Return the speaker and the text of a request; "" for a tool's."""
    role = next((role for role in ("user", "assistant") if isinstance(each.get(role), str)), "")
    return role, each.get(role, "")


def is_call(each: dict[str, Any]) -> bool:
    return "tool_call" in each and isinstance(each.get("tool_call_id"), str)


def is_result(each: dict[str, Any]) -> bool:
    return "tool_result" in each or "tool_error" in each


# --- prompts that could not be recorded ------------------------------------------------


def note_missed(store: Store, agent: str, session: str, text: str) -> None:
    """Note a prompt without the lock, which another process holds: at worst, one of two simultaneous notes is lost."""
    known = [*_read_missed(store, agent), [session, checksum_of(normalize_lines(text))]]
    try:
        store.view(_missed_path(agent), records.encode({"missed": known[-_MISSED:]}))
    except Refused:
        pass  # it will be recorded as a tool's words


def was_missed(store: Store, agent: str, session: str, text: str) -> bool:
    return [session, checksum_of(normalize_lines(text))] in _read_missed(store, agent)


def _read_missed(store: Store, agent: str) -> list[Any]:
    found = read_json_view(store, _missed_path(agent)).get("missed")
    return found if isinstance(found, list) else []


def _missed_path(agent: str) -> str:
    return f"views/agents/{agent}/missed.json"


def read_json_view(store: Store, path: str) -> Record:
    """Return the content of a view; nothing, if it is missing or broken."""
    try:
        document = store.get(path)
    except Refused:
        return {}
    return records.whole(document.data) if document is not None else {}


def ending_of(role: str, text: str) -> str:
    """Return the end of an answer, which identifies one in parts; of a prompt, the checksum of all of it."""
    own = normalize_lines(text)
    return checksum_of(own) if role == "user" else own[-TAIL:]


def match_key(text: str) -> str:
    """Return a key that ignores white space; line by line, so that a part of a text is found in it."""
    own = normalize_lines(text)
    return own if len(own) <= _LONGEST else checksum_of(own)


def normalize_lines(text: str) -> str:
    return "\n".join(found for line in text.splitlines() if (found := " ".join(line.split())))


def checksum_of(text: str) -> str:
    return f"{crc32(text.encode('utf-8', 'surrogatepass')):08x}-{len(text)}"
