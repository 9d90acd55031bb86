"""Where what people say goes: to the home memory, to the project's, or where others can read it.

    python benchmarks/belonging.py               the table, on the test authors
    python benchmarks/belonging.py --save        keeps it in results.json as well
    python benchmarks/belonging.py --sets dev    the same on the dev authors, which may be looked at
    python benchmarks/belonging.py --sets dev --errors 40    what went elsewhere

Each message (`data/belonging/README.md`) is said in a new project that git tracks, over an empty home memory, answered
and distilled. Private words are shown if a file that git would take holds them. Work crosses over if a fact of it is in
the home memory, where each other project reads it.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent.parent
if str(HERE) not in sys.path:
    sys.path.insert(0, str(HERE))  # the parts of this one are found from wherever it is run

from benchmarks.report import NO_GOAL, Row, nothing_measured, options, report  # noqa: E402
from benchmarks.window import QUICK, folder  # noqa: E402

from looseleaf import Memory  # noqa: E402
from looseleaf.pages.folder import init  # noqa: E402

SETS = Path(__file__).parent / "data/belonging"


def read(name: str) -> list[dict[str, Any]]:
    files = sorted((SETS / name).glob("*.jsonl"))
    return [json.loads(line) for file in files for line in file.read_text(encoding="utf-8").splitlines()]


def hear(place: Path, said: dict[str, Any]) -> tuple[bool, bool, bool]:
    """Say a message in a project. Return whether its words are shown, and whether facts are at home, and here."""
    for each in (place / "home", place / "project"):
        shutil.rmtree(each, ignore_errors=True)
        each.mkdir(parents=True)
    subprocess.run(("git", "init", "--quiet"), cwd=place / "project", check=True)
    init(str(place / "home/.looseleaf"))
    init(str(place / "project/.looseleaf"))
    with Memory(place / "project/.looseleaf") as memory:
        memory.record(user=said["text"])
        memory.record(assistant="Ok.")
        memory.distill()
        layers = [fact.layer for fact in memory.facts()]
    subprocess.run(("git", "add", "--all"), cwd=place / "project", check=True, capture_output=True)
    staged = ("git", "diff", "--cached", "--no-color")
    shown = subprocess.run(staged, cwd=place / "project", check=True, capture_output=True, text=True).stdout
    words = [word for word in said["keep"].casefold().split() if len(word) > 1]
    return any(word in shown.casefold() for word in words), any(layers), None in layers


def rows(place: Path, sets: str, errors: int) -> Iterator[Row]:
    os.environ["HOME"] = str(place / "home")
    os.environ.pop("LOOSELEAF_HOME", None)
    count: Counter[str] = Counter()
    for said in read(sets):
        is_shown, at_home, is_here = hear(place, said)
        where, is_private = said["where"], bool(said["private"])
        leaks = is_private and where == "home" and is_shown
        crosses = where == "project" and not is_private and at_home
        count["private"] += is_private and where == "home"
        count["leaks"] += leaks
        count["work"] += where == "project" and not is_private
        count["crosses"] += crosses
        count["work here"] += where == "project" and not is_private and is_here
        count["user"] += where == "home" and (at_home or is_here)
        count["user at home"] += where == "home" and at_home
        if errors and (leaks or crosses):
            errors -= 1
            print("LEAKS  " if leaks else "CROSSES", said["text"], file=sys.stderr)
    yield _share(
        "private sentences of which git would take a word", count["leaks"], count["private"], "≤ 5 %"
    )
    yield _share("facts about the work that the home memory has", count["crosses"], count["work"], "≤ 10 %")
    yield _share("facts about the work that the project has", count["work here"], count["work"], NO_GOAL)
    yield _share("of what is learnt about the user, at home", count["user at home"], count["user"], "≥ 90 %")


def _share(what: str, some: int, of: int, goal: str) -> Row:
    return what, f"{100 * some / max(of, 1):.1f} % ({some} of {of})", goal


if __name__ == "__main__":
    parser = options(__doc__)
    parser.add_argument("--sets", default="test", choices=("dev", "test"))
    parser.add_argument(
        "--errors", type=int, default=0, help="print this many that went elsewhere (dev only)"
    )
    given = parser.parse_args()
    if shutil.which("git") is None:
        nothing_measured("git is not installed")
    with folder(QUICK) as made:
        told = given.errors if given.sets == "dev" else 0
        report("belonging", rows(made, given.sets, told), save=given.save)
