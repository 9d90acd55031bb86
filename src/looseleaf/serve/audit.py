"""The audit: a line for each write, refusal, export and change of access, without content.

Invariant: what is done has its line. Room for the lines of what is under way is kept on the disk; where the next line
could not be written, nothing more is done.
"""

from __future__ import annotations

import json
import logging
import os
import threading
import time

from looseleaf.base.errors import Unwritten

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

FILE = "audit.jsonl"
ROOM = "audit.room"
"""A file that is removed when the disk is full, so that the lines of what is under way find room."""
_BYTES = 8 << 20
_OLD = 4
"""How many full files are kept beside the newest."""
_ROOM_BYTES = 1 << 16
_log = logging.getLogger("looseleaf")


class Audit:
    """The lines of one server, in its access folder."""

    def __init__(self, folder: str) -> None:
        self._path = os.path.join(folder, FILE)
        self._room = os.path.join(folder, ROOM)
        self._folder = folder
        self._lock = threading.Lock()
        self._owed: list[bytes] = []
        """Lines that could not be written yet."""
        self._has_room = False

    def require(self) -> None:
        """Refuse, before anything is done, where what is done could not be written down."""
        with self._lock:
            try:
                self._write_owed()
                if not self._has_room:
                    self._make_room()
            except OSError as error:
                raise Unwritten(
                    f"Nothing was done: the audit in {self._folder} cannot be written ({error.strerror}), and nothing "
                    "is done without a line in it. Make room there, and send it again."
                ) from None

    def write(self, **told: Any) -> None:
        """Add a line. Members are names, numbers and ids: never words of a memory."""
        line = json.dumps({"ts": round(time.time(), 3), **told}, ensure_ascii=False).encode() + b"\n"
        with self._lock:
            self._owed.append(line)
            for _ in range(2):
                try:
                    self._write_owed()
                    return
                except OSError as error:
                    why = error.strerror
                    self._give_room()
            _log.error("the audit cannot be written (%s): nothing more is done until it can", why)

    async def written(self) -> None:
        """Wait until all lines so far are written: here they are."""

    def close(self) -> None:
        """There is nothing left to do."""

    def _write_owed(self) -> None:
        if not self._owed:
            return
        os.makedirs(self._folder, mode=0o700, exist_ok=True)
        fd = os.open(self._path, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            while self._owed:
                written = os.write(fd, self._owed[0])
                if written < len(self._owed[0]):
                    self._owed[0] = self._owed[0][written:]  # the disk is full: the rest of it comes later
                else:
                    self._owed.pop(0)
            is_full = os.fstat(fd).st_size > _BYTES
        finally:
            os.close(fd)
        if is_full:
            self._rotate()

    def _make_room(self) -> None:
        os.makedirs(self._folder, mode=0o700, exist_ok=True)
        fd = os.open(self._room, os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            os.posix_fallocate(fd, 0, _ROOM_BYTES)
        except OSError:
            os.unlink(self._room)
            raise
        finally:
            os.close(fd)
        self._has_room = True

    def _give_room(self) -> None:
        self._has_room = False
        try:
            os.unlink(self._room)
        except OSError:
            pass

    def _rotate(self) -> None:
        for number in range(_OLD, 0, -1):
            older = f"{self._path}.{number - 1}" if number > 1 else self._path
            if os.path.exists(older):
                os.replace(older, f"{self._path}.{number}")

    def read_back(self) -> Iterator[dict[str, Any]]:
        """Yield the lines, newest first."""
        for path in (self._path, *(f"{self._path}.{number}" for number in range(1, _OLD + 1))):
            try:
                with open(path, "rb") as file:
                    lines = file.read().splitlines()
            except FileNotFoundError:
                continue
            for line in reversed(lines):
                try:
                    yield json.loads(line)
                except ValueError:
                    continue  # cut off by a crash
