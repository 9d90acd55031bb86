"""A coding agent's own transcript: a file of JSON lines, read from where it was last left, as what is to be recorded.

Nothing here writes. The file belongs to another program, which may rewrite it, repeat lines in it, or be in the middle
of writing one: a line counts when it has ended, and a place in the file is believed only while the line before it is
the one that was there. No line is passed over in silence: what cannot be read leaves a note that something was there.
"""

from __future__ import annotations

import os
import re
from zlib import crc32

from looseleaf.base.errors import Refused
from looseleaf.base.immutable import frozen
from looseleaf.transfer.formats.agent_lines import Said, said_in, unread

AT_ONCE = 8 * 1024 * 1024
"""Bytes that are read in one go, some seconds of work; the next event goes on from there."""

WHILE_ASKED = 1024 * 1024
"""The same while somebody waits with a prompt. An answer is seldom longer; where hooks come into a session that has
gone on for long, it is caught up with when there is time."""

_NAMED = ".jsonl"


@frozen
class Spot:
    """A place in a transcript: how many bytes lie before it, and the line that ended there. `file`: its number, which
    another file of the same name has not."""

    file: int
    offset: int
    length: int
    line: int


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
        """A line that is longer than anything that is read is passed over, when it has ended; that it was there is
        noted."""
        at, last = offset, b""
        while piece := self._at(at, self._at_once):
            end = piece.find(b"\n") + 1
            last = (last + piece[: end or None])[-64:]
            at += end or len(piece)
            if end:
                mark = crc32(last)
                return [unread(f"long-{mark:08x}-{at - offset}")], Spot(self.file, at, len(last), mark), False
        return [], spot or Spot(self.file, 0, 0, 0), True

    def begun_by(self) -> str:
        """The session whose lines the file began with: a copy for another one keeps them."""
        found = re.search(rb'"sessionId" ?: ?"([^"\\]{1,200})"', self._at(0, 1 << 16))
        return found[1].decode("utf-8", "replace") if found is not None else ""

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
