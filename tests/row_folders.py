"""A fresh folder for each row of a table."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any


def in_folders(top: Path, rows: Iterable[Any]) -> Iterator[tuple[Any, ...]]:
    """Yield each row with an empty folder before its members."""
    for number, row in enumerate(rows):
        folder = top / f"row-{number}"
        folder.mkdir()
        yield (folder, *(row if isinstance(row, tuple) else (row,)))
