"""Rows of figures, as every benchmark tells them; kept in results.json, of which all tables and plots are made.

A row is what was measured, the figure, and its goal. A figure begins with the number that the goal is about; what
stands after it (in brackets, or after `of`) explains it. `report` prints the rows as they come and the table at the
end, and keeps it if it is asked to.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import re
import sqlite3
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NoReturn, TypeGuard

HERE = Path(__file__).parent.parent
RESULTS = HERE / "benchmarks/results.json"

Row = tuple[str, str, str]
"""What was measured, the figure, its goal."""

NO_GOAL = "–"
SKIPPED = "skipped"
NOTHING = 77
"""The exit code of a benchmark that had nothing to measure with."""


def table(rows: Iterable[Sequence[str]], head: Sequence[str] = ("what", "measured", "goal")) -> str:
    out = [f"| {' | '.join(head)} |", "|---" * len(head) + "|"]
    return "\n".join(out + [f"| {' | '.join(row)} |" for row in rows])


def with_goals(rows: Iterable[Row]) -> list[Row]:
    return [row for row in rows if row[2] != NO_GOAL]


# --- whether a goal was met ------------------------------------------------------------------


def met(figure: str, goal: str) -> bool | None:
    """None where there is no goal, or nothing was measured."""
    found = _numbers(figure.partition("(")[0].partition(" of ")[0])
    wanted = _numbers(goal)
    if not found or not wanted:
        return None
    if " to " in goal:
        low, high = wanted
        return low <= found[0] <= high
    pairs = list(zip(found, wanted, strict=False))
    if goal.startswith("≥"):
        return all(one >= other for one, other in pairs)
    if goal.startswith("≤"):
        return all(one <= other for one, other in pairs)
    return all(one == other for one, other in pairs)


def _numbers(text: str) -> list[float]:
    return [
        float(each.replace(",", "")) for each in re.findall(r"-?\d[\d,]*(?:\.\d+)?", text.replace(", ", " "))
    ]


# --- what a benchmark does with its rows -------------------------------------------------------


def options(description: str | None) -> argparse.ArgumentParser:
    """What every benchmark can be told; each adds its own."""
    parser = argparse.ArgumentParser(
        description=description, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--save", action="store_true", help="keep the figures in benchmarks/results.json")
    return parser


def some(parts: Mapping[str, Callable[[], Iterable[Row]]], only: Sequence[str] | None) -> Iterator[Row]:
    """The rows of the parts of a benchmark that were asked for, else of all."""
    for name, part in parts.items():
        if only is None or name in only:
            yield from part()


def report(
    name: str, rows: Iterable[Row], *, save: bool, path: Path = RESULTS, more: dict[str, Any] | None = None
) -> list[Row]:
    """Each row as it comes, the table of all, and if `save` is asked for, they are kept, with `more`: texts by their
    headings."""
    began = time.monotonic()
    said: list[Row] = []
    for row in rows:
        said.append(row)
        print(*row, sep=" | ", file=sys.stderr, flush=True)
    print(table(said))
    seconds = time.monotonic() - began
    print(f"{seconds:.0f} s in all", file=sys.stderr)
    if save:
        keep(name, {"rows": said, "seconds": round(seconds)} | ({"more": more} if more else {}), path)
    return said


def keep(name: str, measured: dict[str, Any], path: Path = RESULTS) -> None:
    """Put what a benchmark measured into the results, with the day and the machine; the others stay as they are."""
    with _alone(path):
        results = load(path)
        results[name] = {**measured, "machine": machine(), "load": load_average()}
        made = path.with_suffix(".new")
        made.write_text(json.dumps(results, ensure_ascii=False, indent=1, sort_keys=True) + "\n")
        made.replace(path)


def load(path: Path = RESULTS) -> dict[str, Any]:
    return dict(json.loads(path.read_text())) if path.exists() else {}


@contextmanager
def _alone(path: Path) -> Iterator[None]:
    """One at a time: benchmarks may be run side by side, if only by mistake."""
    lock = path.with_suffix(".lock")
    for _ in range(200):
        try:
            os.close(os.open(lock, os.O_CREAT | os.O_EXCL))
            break
        except FileExistsError:
            time.sleep(0.05)
    try:
        yield
    finally:
        lock.unlink(missing_ok=True)


def nothing_measured(why: str) -> NoReturn:
    """What a benchmark needs is not there: that is no failure."""
    print(f"nothing was measured: {why}", file=sys.stderr)
    raise SystemExit(NOTHING)


def is_rows(measured: Any) -> TypeGuard[dict[str, Any]]:
    return isinstance(measured, dict) and "rows" in measured


# --- the machine -------------------------------------------------------------------------------


def machine() -> dict[str, str]:
    """What a figure depends on, and nothing that says whose machine it is."""
    return {
        "date": time.strftime("%Y-%m-%d"),
        "processor": _processor(),
        "cores": str(os.cpu_count()),
        "memory": _memory(),
        "system": f"{platform.system()} {platform.release()}",
        "python": platform.python_version(),
        "sqlite": sqlite3.sqlite_version,
        "disk": disk_kind(HERE),
    }


def load_average() -> str:
    """How busy the machine was: processes that wanted to run, over the last minute."""
    return f"{os.getloadavg()[0]:.1f}" if hasattr(os, "getloadavg") else ""


def _processor() -> str:
    try:
        text = Path("/proc/cpuinfo").read_text()
    except OSError:
        return platform.machine()
    for name in ("model name", "Model", "CPU part"):
        if found := re.search(rf"^{name}\s*: (.+)$", text, re.MULTILINE):
            return (
                f"{platform.machine()} {found[1]}"
                if name != "CPU part"
                else f"{platform.machine()}, part {found[1]}"
            )
    return platform.machine()


def _memory() -> str:
    try:
        return f"{os.sysconf('SC_PAGE_SIZE') * os.sysconf('SC_PHYS_PAGES') / 2**30:.0f} GB"
    except (ValueError, OSError, AttributeError):
        return ""


def disk_kind(path: Path) -> str:
    """The kind of file system, and whether what is under it turns."""
    try:
        mounts = [line.split() for line in Path("/proc/mounts").read_text().splitlines()]
    except OSError:
        return ""
    inside = [each for each in mounts if path.is_relative_to(each[1].replace("\\040", " "))]
    if not inside:
        return ""
    device, _, kind, *_ = max(inside, key=lambda each: len(each[1]))
    turning = Path(f"/sys/block/{Path(device).name}/queue/rotational")
    try:
        how = "turning" if turning.read_text().strip() == "1" else "solid"
    except OSError:
        return kind
    return f"{kind}, virtual" if Path(device).name.startswith(("vd", "xvd")) else f"{kind}, {how}"
