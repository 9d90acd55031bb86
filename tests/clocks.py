"""A clock that tests set wrong, for one process after another."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from looseleaf.base import ids

if TYPE_CHECKING:
    import pytest

DAY = 86_400.0


class WrongClock:
    """The clock of the program, off by some days. It always goes on."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.off = 0.0
        monkeypatch.setattr(ids, "time", self)
        monkeypatch.setattr(ids, "_last", [0])

    def set(self, days: float, *, new_process: bool = True) -> None:
        """`new_process`: as in another process, which has made no id yet."""
        self.off = days * DAY
        if new_process:
            ids._last[0] = 0

    def time(self) -> float:
        return time.time() + self.off

    def time_ns(self) -> int:
        return int(self.time() * 1e9)
