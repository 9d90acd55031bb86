"""Tables as one test: every row is tried, and those that fail are listed together."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator
from pathlib import Path
from typing import Any, TypeVar

import pytest

from drawing import is_steady

Row = TypeVar("Row")


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


def some(rows: Collection[Row], count: int) -> list[Row]:
    """So many rows of a table, spread over all of it, in `make test`; all of them in `make test-long`.

    For tables whose rows are of one kind and take long. The first and the last one are among them.
    """
    return spread(rows, count) if is_steady() else list(rows)


def spread(rows: Collection[Row], count: int) -> list[Row]:
    """So many of them at the same distance, with the first and the last one; all of them if there are not more."""
    every = list(rows)
    if len(every) <= count:
        return every
    return [every[number * (len(every) - 1) // (count - 1)] for number in range(count)]


def in_folders(top: Path, rows: Iterable[Any]) -> Iterator[tuple[Any, ...]]:
    """Yield each row with an empty folder of its own before its members."""
    for number, row in enumerate(rows):
        folder = top / f"row-{number}"
        folder.mkdir()
        yield (folder, *row) if isinstance(row, tuple) else (folder, row)
