"""How far something is: a bar on a terminal, of what takes longer than a moment. A pipe is told nothing.

It is drawn on standard error and wiped away at the end, so that the answer stands alone.
"""

from __future__ import annotations

import os
import sys
import time

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import TracebackType
    from typing import Any

PATIENCE = 1.0
"""Seconds before it is shown how far something is."""

OFTEN = 0.1
"""Seconds between two drawings: as often as an eye can follow."""

_LONGEST, _SHORTEST = 40, 10
"""Columns of the bar. Where there is no room for the shortest, there is none."""


def progress(what: str, unit: str = "") -> Progress:
    """`with progress("importing", unit="conversations") as step:` and in it `step(done, total)`; a total that nobody
    knows is 0."""
    return Progress(what, unit)


class Progress:
    """Called with how much is done, and of how much. What never calls it is shown to be going on all the same, with
    the seconds that it took so far."""

    def __init__(self, what: str, unit: str = "") -> None:
        self._what, self._unit = what, unit
        self._since = time.monotonic()
        self._drawn = 0.0
        self._done = self._total = 0
        self._shown = 0
        self._is_terminal = sys.stderr is not None and sys.stderr.isatty()
        self._clock: Any = None

    def __enter__(self) -> Progress:
        if self._is_terminal:
            import threading

            self._ended, self._drawing = threading.Event(), threading.Lock()
            self._clock = threading.Thread(target=self._watch, daemon=True)
            self._clock.start()
        return self

    def __call__(self, done: int, total: int) -> None:
        self._done, self._total = done, total
        now = time.monotonic()
        if self._clock is not None and now - self._since >= PATIENCE and now - self._drawn >= OFTEN:
            self._draw()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._clock is None:
            return
        self._ended.set()
        self._clock.join()
        self._clock = None
        self._write("")

    def _watch(self) -> None:
        """In a thread of its own: what is waited for may say nothing for a long time."""
        wait = PATIENCE
        while not self._ended.wait(wait):
            self._draw()
            wait = OFTEN

    def _draw(self) -> None:
        with self._drawing:
            self._drawn = time.monotonic()
            self._write(self._line(_columns()))

    def _write(self, line: str) -> None:
        """Over what stood there, with spaces: every terminal can do that."""
        wiped = f"\r{' ' * self._shown}\r" if len(line) < self._shown else "\r" if line else ""
        self._shown = len(line)
        try:
            sys.stderr.write(f"{wiped}{line}")
            sys.stderr.flush()
        except (OSError, ValueError):  # nobody looks any more; what is done goes on
            self._ended.set()

    def _line(self, width: int) -> str:
        done, total = self._done, self._total
        unit = f" {self._unit}" if self._unit else ""
        if total <= 0:
            count = f"{done:,}{unit}, " if done else ""
            return f"{self._what} … {count}{time.monotonic() - self._since:.0f} s"[: width - 1]
        count = f"{min(done, total):,} of {total:,}{unit}"
        room = min(_LONGEST, width - len(self._what) - len(count) - 5)
        if room < _SHORTEST:
            return f"{self._what} {count}"[: width - 1]
        filled = room * min(done, total) // total
        return f"{self._what} [{'#' * filled}{' ' * (room - filled)}] {count}"


def _columns() -> int:
    try:
        return os.get_terminal_size(sys.stderr.fileno()).columns or 80
    except (OSError, ValueError):
        return 80
