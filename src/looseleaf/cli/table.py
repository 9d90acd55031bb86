"""Tables: rich on a terminal, aligned plain text in a pipe.

What stands in a cell is text of others: it steers no terminal, and markup in it is shown as it was written. Nothing is
cut off: a cell that is too wide goes on on the next line, and an id stands on one line, so that it can be copied.
"""

from __future__ import annotations

import sys

from looseleaf.cli.columns import columns, filled
from looseleaf.cli.output import plain, say

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Sequence
    from typing import Any

_ID = 26
"""Columns up to which a cell stands on one line: an id is as long."""

_LEAST = 24
"""Columns that words need; with fewer, they stand under the rest of their row."""

_GAP = 2

_STYLES = {"share": "cyan"}
"""Columns that have a colour, by their heads."""

MARKS = {"ok": "green", "look": "yellow", "broken": "red"}
"""Words that have a colour where a row begins with them."""


def on_terminal() -> bool:
    return sys.stdout.isatty()


def table(
    heads: Sequence[str],
    rows: Iterable[Sequence[str]],
    *,
    right: Collection[str] = (),
    lines: Iterable[str] | None = None,
) -> None:
    """Print rows under their heads. `right`: heads of columns that are set to the right. `lines`: what a pipe is given
    instead of columns, where other programs read that already."""
    cells = [tuple(map(str, row)) for row in rows]
    if on_terminal():
        _print_rich(heads, cells, right)
    elif lines is not None:
        say("\n".join(lines))
    else:
        say("\n".join(_aligned([tuple(heads), *cells], [head in right for head in heads])))


def _aligned(rows: Sequence[Sequence[str]], is_right: Sequence[bool]) -> Iterable[str]:
    cleaned = [[plain(" ".join(cell.split("\n"))) for cell in row] for row in rows]
    widths = [max(map(columns, column)) for column in zip(*cleaned, strict=True)]
    for row in cleaned:
        placed = (
            " " * (width - columns(cell)) + cell if right else filled(cell, width)
            for cell, width, right in zip(row, widths, is_right, strict=True)
        )
        yield (" " * _GAP).join(placed).rstrip()


# --- on a terminal -----------------------------------------------------------------------


def console() -> Any:
    """rich's, without anything that reads meaning into a text: no markup, no emoji, no highlighting."""
    import os

    from rich.console import Console

    # NO_COLOR asks for no colours; bold and dim are left out with them.
    without: Any = {"color_system": None} if os.environ.get("NO_COLOR") else {}
    return Console(markup=False, emoji=False, highlight=False, **without)


def _print_rich(heads: Sequence[str], rows: Sequence[Sequence[str]], right: Collection[str]) -> None:
    out = console()
    cleaned = [[plain(cell, keep="\n") for cell in row] for row in rows]
    widths = [
        max(columns(line) for cell in column for line in cell.split("\n"))
        for column in zip(heads, *cleaned, strict=True)
    ]
    fixed = [width if width <= _ID and at < len(widths) - 1 else 0 for at, width in enumerate(widths)]
    free = [min(width, _LEAST) for width, own in zip(widths, fixed, strict=True) if not own]
    if sum(fixed) + sum(free) + _GAP * (len(widths) - 1) > out.width:
        _print_stacked(out, cleaned)
    else:
        _print_table(out, heads, cleaned, [head in right for head in heads], fixed)


def _print_table(
    out: Any,
    heads: Sequence[str],
    rows: Sequence[Sequence[str]],
    is_right: Sequence[bool],
    fixed: Sequence[int],
) -> None:
    from rich.table import Table
    from rich.text import Text

    made = Table(box=None, pad_edge=False, padding=(0, _GAP, 0, 0), header_style="bold", show_edge=False)
    for head, right, width in zip(heads, is_right, fixed, strict=True):
        made.add_column(
            Text(head),
            justify="right" if right else "left",
            no_wrap=bool(width),
            min_width=width or None,
            overflow="fold",
            style=_STYLES.get(head),
        )
    for row in rows:
        made.add_row(*(Text(cell, MARKS.get(cell, "") if at == 0 else "") for at, cell in enumerate(row)))
    out.print(made)


def _print_stacked(out: Any, rows: Sequence[Sequence[str]]) -> None:
    """For a narrow terminal: a row on one line as far as it goes, and its words under that."""
    from rich.padding import Padding
    from rich.text import Text

    for *first, last in rows:
        head = (" " * _GAP).join(" ".join(cell.split("\n")) for cell in first if cell)
        if head:
            out.print(Text(head, "dim"), overflow="fold")
        if last:
            out.print(Padding(Text(last, overflow="fold"), (0, 0, 0, _GAP if head else 0)))
