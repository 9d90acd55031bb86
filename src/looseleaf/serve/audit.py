"""The audit: a line for each write, refusal, export and change of access, without content."""

from __future__ import annotations

import json
import os
import threading
import time

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

FILE = "audit.jsonl"
_BYTES = 8 << 20
_OLD = 4
"""How many full files are kept beside the newest."""


class Audit:
    """The lines of one server, in its access folder."""

    def __init__(self, folder: str) -> None:
        self._path = os.path.join(folder, FILE)
        self._folder = folder
        self._lock = threading.Lock()

    def write(self, **told: Any) -> None:
        """Add a line. Members are names, numbers and ids: never words of a memory."""
        line = json.dumps({"ts": round(time.time(), 3), **told}, ensure_ascii=False).encode() + b"\n"
        with self._lock:
            os.makedirs(self._folder, mode=0o700, exist_ok=True)
            fd = os.open(self._path, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC, 0o600)
            try:
                os.write(fd, line)
                is_full = os.fstat(fd).st_size > _BYTES
            finally:
                os.close(fd)
            if is_full:
                self._rotate()

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
