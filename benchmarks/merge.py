"""What it costs to merge another copy, and to share a memory between machines.

    python benchmarks/merge.py            prints the table
    python benchmarks/merge.py --save     keeps the figures in results.json as well
    python benchmarks/merge.py --quick    small memories: whether it runs

Two copies with a common beginning each go on for 10,000 turns and 1,000 facts, one edit for each fact, a quarter of
them on pages that both change. The merge runs in a process of its own: processor time, and the most memory it held.
Then a memory with the logs of four machines, an agent on each, against one machine with all four agents: ratios of
processor time, the two taken in turns, each the least of several rounds.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

HERE = Path(__file__).parent.parent
if str(HERE) not in sys.path:
    sys.path.insert(0, str(HERE))  # the parts of this one are found from wherever it is run

from benchmarks.layers import ASKED, ratio, sentence  # noqa: E402
from benchmarks.report import Row, options, report  # noqa: E402
from benchmarks.window import QUICK, folder  # noqa: E402

from looseleaf import Memory  # noqa: E402

MACHINE = "LOOSELEAF_MACHINE"
MACHINES = ("desk", "lap", "phone", "stick")
GOAL = "≤ 1.1"


def go_on(memory: Memory, first: int, turns: int, facts: int) -> None:
    """Record turns and note facts, one edit for each: three of four on pages of this machine's own."""
    with memory.batch() as batch:
        for number in range(first, first + turns):
            batch.record(user=sentence(number))
            batch.record(assistant=f"Noted: crate {number * 7 % 1009}.")
    for number in range(first, first + facts):
        topic = f"crate-{number % 40}" if number % 4 == 0 else f"crate-{first}-{number % 40}"
        _note(memory, topic, f"- Part {number}: {sentence(number)}\n")


def _note(memory: Memory, topic: str, line: str) -> None:
    text = f"# {topic}\n\n"
    memory.pages.edit(
        f"facts/{topic}.md", lambda old: (old or text) + line, reason="benchmark", author="person"
    )


MERGE = """
import json, resource, sys, time
from looseleaf import Memory
told = []
with Memory(sys.argv[1]) as memory:
    for _ in range(2):
        began, clock = time.process_time(), time.perf_counter()
        merged = memory.merge(sys.argv[2])
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        spent = time.process_time() - began, time.perf_counter() - clock
        told.append([*spent, peak, len(merged.added), merged.talk.turns])
print(json.dumps(told))
"""


def merged(into: Path, other: Path) -> list[tuple[float, float, float, int, int]]:
    """Return, for a merge and one more: processor seconds, seconds, megabytes, facts and turns."""
    command = [sys.executable, "-c", MERGE, str(into), str(other)]
    done = subprocess.run(
        command, capture_output=True, text=True, check=True, env={**os.environ, MACHINE: "desk"}
    )
    return [tuple(each) for each in json.loads(done.stdout)]


def merging(place: Path, turns: int, facts: int) -> Iterator[Row]:
    os.environ[MACHINE] = "desk"
    with Memory(place / "desk") as memory:
        go_on(memory, 0, turns // 5, facts // 5)
    shutil.copytree(place / "desk", place / "lap")
    for number, name in enumerate(("desk", "lap"), 1):
        os.environ[MACHINE] = name
        with Memory(place / name) as memory:
            go_on(memory, number * 100_000, turns, facts)
    first, second = merged(place / "desk", place / "lap")
    if first[3:] != (facts, turns) or second[3:] != (0, 0):
        raise SystemExit(f"not all was merged: {first}, {second}")
    sizes = f"{turns:,} turns and {facts:,} facts on each side"
    yield f"merging a copy, {sizes}", f"{first[0]:.1f} s ({first[1]:.1f} s by the clock)", "≤ 20 s"
    yield "most memory held", f"{second[2]:.0f} MB", "≤ 150 MB"
    yield "merging it once more", f"{second[0]:.2f} s ({second[1]:.2f} s by the clock)", "≤ 1 s"


def sharing(place: Path, turns: int, facts: int, rounds: int) -> Iterator[Row]:
    alone, shared = place / "alone", place / "shared"
    for number, name in enumerate(MACHINES):
        for path, machine in ((alone, "desk"), (shared, name)):
            os.environ[MACHINE] = machine
            with Memory(path, agent="main" if name == "desk" else f"on-{name}") as memory:
                go_on(memory, number * 100_000, turns, facts)
    os.environ[MACHINE] = "desk"
    for path in (alone, shared):
        with Memory(path) as memory:
            memory.views.build_index()
            memory.views.build()
    opened = {path: Memory(path) for path in (shared, alone)}

    def begin(path: Path) -> None:
        with Memory(path) as memory:
            memory.facts()

    def begin_and_prompt(path: Path) -> None:
        with Memory(path) as memory:
            memory.prompt("Plan the week.", dry_run=True)

    def prompt(path: Path) -> None:
        opened[path].prompt("Plan the week.", dry_run=True)

    def recall(path: Path) -> None:
        for asked in ASKED:
            opened[path].recall(asked)

    works = {
        "opening, all facts": begin,
        "prompt, opened for it": begin_and_prompt,
        "prompt": prompt,
        "recall, four questions": recall,
    }
    try:
        for name, work in works.items():
            for path in (shared, alone):
                work(path)  # what is loaded and built once
            yield f"{name}: four machines against one", ratio(work, shared, alone, rounds), GOAL
    finally:
        for memory in opened.values():
            memory.close()


def rows(place: Path, *, quick: bool) -> Iterator[Row]:
    yield from merging(place, *((50, 20) if quick else (10_000, 1_000)))
    yield from sharing(place, *((20, 20, 3) if quick else (1_000, 200, 30)))


if __name__ == "__main__":
    parser = options(__doc__)
    parser.add_argument("--quick", action="store_true", help="small memories")
    given = parser.parse_args()
    with folder(QUICK) as made:
        report("merge", rows(made, quick=given.quick), save=given.save)
