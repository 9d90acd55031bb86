"""What layers cost: prompt and recall of a project's memory over a home memory, against one memory with the same
content.

    python benchmarks/layers.py            prints the table
    python benchmarks/layers.py --save     keeps the figures in results.json as well
    python benchmarks/layers.py --quick    small memories: whether it runs

Both have the same pages, facts and talk; of two layers, the home memory has the user's. Each figure is a ratio of
processor time, the two taken in turns, each the least of several rounds. `opened for it`: the memory is opened for each
prompt, and nothing is loaded anew.
"""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

HERE = Path(__file__).parent.parent
if str(HERE) not in sys.path:
    sys.path.insert(0, str(HERE))  # the parts of this one are found from wherever it is run

from benchmarks.report import Row, options, report  # noqa: E402
from benchmarks.window import QUICK, folder  # noqa: E402

from looseleaf import Memory  # noqa: E402
from looseleaf.pages.folder import init  # noqa: E402

GOAL = "≤ 1.15"
PLACES = ("Lyon", "Oslo", "Rome", "Ghent", "Porto", "Basel", "Turku", "Malmö")
THINGS = (
    "ferry",
    "kettle",
    "violin",
    "ledger",
    "orchard",
    "lantern",
    "harbour",
    "compass",
    "almanac",
    "saddle",
)
ASKED = (
    "Which pier does the ferry use?",
    "What do I like about Oslo?",
    "Who mends the violin?",
    "Where is the ledger?",
)


def sentence(number: int) -> str:
    thing, place = THINGS[number % len(THINGS)], PLACES[number // len(THINGS) % len(PLACES)]
    return (
        f"The {thing} number {number} went from {place} to pier {number % 17} with crate {number * 7 % 1009}."
    )


def fill(memory: Memory, first: int, turns: int, facts: int) -> None:
    lines = [
        f"- Likes: the {THINGS[n % 10]} of {PLACES[n % 8]}, kind {n}\n"
        for n in range(first, first + facts // 4)
    ]
    memory.pages.edit("USER.md", lambda old: old + "".join(lines), reason="benchmark", author="person")
    for topic in range(first, first + facts // 10):
        rows = "".join(f"- Part {n}: {sentence(topic * 31 + n)}\n" for n in range(8))
        memory.pages.edit(
            f"facts/crate-{topic}.md", f"# Crate {topic}\n\n{rows}", reason="benchmark", author="person"
        )
    with memory.batch() as batch:
        for number in range(first, first + turns):
            batch.record(user=sentence(number))
            batch.record(assistant=f"Noted: crate {number * 7 % 1009}.")
    memory.views.build_index()
    memory.views.build()


def least(work: Callable[[Path], object], path: Path) -> float:
    began = time.process_time()
    work(path)
    return time.process_time() - began


def ratio(work: Callable[[Path], object], layered: Path, alone: Path, rounds: int) -> str:
    """Return how many times as long it takes in layers; the least of each, taken in turns."""
    both: tuple[list[float], list[float]] = [], []
    for _ in range(rounds):
        for times, path in zip(both, (layered, alone), strict=True):
            times.append(least(work, path))
    return f"{min(both[0]) / min(both[1]):.2f} ({min(both[1]) * 1000:.1f} ms alone)"


def rows(place: Path, *, quick: bool) -> Iterator[Row]:
    turns, facts, rounds = (40, 40, 3) if quick else (1_500, 400, 40)
    os.environ["HOME"] = str(place / "home")
    os.environ.pop("LOOSELEAF_HOME", None)
    home, layered, alone = (place / name / ".looseleaf" for name in ("home", "project", "alone"))
    for path in (home, layered, alone):
        init(str(path))
    (alone / "looseleaf.toml").write_text("layers = false\n", encoding="utf-8")
    for path, first in ((home, 0), (layered, turns), (alone, 0), (alone, turns)):
        with Memory(path) as memory:
            fill(memory, first, turns, facts)
    opened = {path: Memory(path) for path in (layered, alone)}

    def recall(path: Path) -> None:
        for asked in ASKED:
            opened[path].recall(asked)

    def prompt(path: Path) -> None:
        opened[path].prompt("Plan the week.", dry_run=True)

    def begin(path: Path) -> None:
        with Memory(path) as memory:
            memory.prompt("Plan the week.", dry_run=True)

    works = {
        "recall, four questions": recall,
        "prompt": prompt,
        "prompt, opened for it": begin,
    }
    for work in works.values():
        for path in (layered, alone):
            work(path)  # what is loaded and built once
    try:
        yield from [
            (f"{name}: two layers against one memory", ratio(work, layered, alone, rounds), GOAL)
            for name, work in works.items()
        ]
    finally:
        for memory in opened.values():
            memory.close()
    yield (
        "`looseleaf recall`, a whole process: two layers against one memory",
        processes(layered, alone, rounds),
        GOAL,
    )


def processes(layered: Path, alone: Path, rounds: int) -> str:
    both: tuple[list[float], list[float]] = [], []
    for _ in range(rounds):
        for times, path in zip(both, (layered, alone), strict=True):
            began = os.times()
            command = [sys.executable, "-m", "looseleaf", "--memory", str(path), "recall", ASKED[0]]
            subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False)
            ended = os.times()
            times.append(
                ended.children_user + ended.children_system - began.children_user - began.children_system
            )
    return f"{min(both[0]) / min(both[1]):.2f} ({min(both[1]) * 1000:.0f} ms alone)"


if __name__ == "__main__":
    parser = options(__doc__)
    parser.add_argument("--quick", action="store_true", help="small memories")
    given = parser.parse_args()
    with folder(QUICK) as made:
        report("layers", rows(made, quick=given.quick), save=given.save)
