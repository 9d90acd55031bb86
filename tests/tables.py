"""Tables as one test: every row is tried, and those that fail are listed together."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

import pytest


def check_rows(check: Callable[..., object], rows: Iterable[Any]) -> None:
    """Call `check` with each row (a tuple: with its members), and fail once, with every row that failed."""
    tried = 0
    failed: list[str] = []
    for row in rows:
        tried += 1
        try:
            check(*row) if isinstance(row, tuple) else check(row)
        except (AssertionError, pytest.fail.Exception) as error:
            failed.append(f"{row!r:.300}: {str(error) or 'the assertion failed'}")
    assert tried, "the table is empty"
    assert not failed, f"{len(failed)} of {tried} rows fail:\n" + "\n".join(failed)


def in_folders(top: Path, rows: Iterable[Any]) -> Iterator[tuple[Any, ...]]:
    """Yield each row with an empty folder of its own before its members."""
    for number, row in enumerate(rows):
        folder = top / f"row-{number}"
        folder.mkdir()
        yield (folder, *row) if isinstance(row, tuple) else (folder, row)
