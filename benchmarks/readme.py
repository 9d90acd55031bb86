"""Rows of figures, as the benchmarks tell them, and the tables of README.md that are made of them."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

HERE = Path(__file__).parent.parent
Row = tuple[str, str, str]
"""What was measured, the figure, its goal."""

NO_GOAL = "–"


def table(rows: Iterable[Row]) -> str:
    out = ["| what | measured | goal |", "|---|---|---|"]
    return "\n".join(out + [f"| {what} | {figure} | {goal} |" for what, figure, goal in rows])


def with_goals(rows: Iterable[Row]) -> str:
    return table(row for row in rows if row[2] != NO_GOAL)


def put(name: str, text: str) -> None:
    """Write a text between the marks of a benchmark in README.md."""
    begin, end = f"<!-- benchmark: {name} -->", "<!-- end -->"
    readme = HERE / "README.md"
    before, _, rest = readme.read_text().partition(begin)
    readme.write_text(f"{before}{begin}\n{text}\n{end}{rest.partition(end)[2]}")
