"""What a command costs before it has done anything, against the least that any program in Python costs:
`python -c pass`.

    python benchmarks/cold.py               prints the table: every verb, whole processes
    python benchmarks/cold.py --save        keeps the figures in results.json as well
    python benchmarks/cold.py --quick       one round: whether it runs, not what it costs
    python benchmarks/cold.py --only VERB   one verb, with the modules that it loads and what each takes

Each verb is given as a person gives it, on a memory of some pages, facts and turns. A command and the reference take
turns, because machines are noisy; the ratio is the median of what each took of the one next to it. The promise is at
most 2.5 for every verb that does not need a heavy part. Heavy are: counting tokens (a vocabulary), searching (SQLite),
distilling (rules of three languages, or a model), an MCP server, a model's SDK. For those it is said what they take.
"""

from __future__ import annotations

import shlex
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

HERE = Path(__file__).parent.parent
if str(HERE) not in sys.path:
    sys.path.insert(0, str(HERE))  # the parts of this one are found from wherever it is run

from benchmarks.hook import command, environment, nothing  # noqa: E402
from benchmarks.recall import Times  # noqa: E402
from benchmarks.report import NO_GOAL, Row, options, report  # noqa: E402
from benchmarks.window import folder  # noqa: E402

from looseleaf import Memory  # noqa: E402

GOAL = "≤ 2.5"
ROUNDS = 7

LIGHT = {
    "": "",
    "init": "init {memory}",
    "settings": "settings",
    "log": "log",
    "show": "show USER.md",
    "diff": "diff USER.md",
    "undo": "undo facts/none.md",
    "record": 'record user "Hello."',
    "turns": "turns",
    "sessions": "sessions",
    "expand": "expand",
    "hook": "hook user-prompt",
    "merge-file": "merge-file {memory}/../base {memory}/../ours {memory}/../theirs USER.md",
    "facts": "facts",
    "score": "score USER.md:5 9",
    "pin": "pin USER.md:5",
    "history": "history USER.md:5",
    "why": "why USER.md:5",
    "topics": "topics",
    "index": "index",
    "receipts": "receipts",
    "review": "review",
    "vouch": "vouch",
    "settle": "settle",
    "state": "state",
    "cost": "cost",
    "completion": "completion bash",
    "open": "open USER.md#5-5",
}
"""Verbs that need nothing heavy, as they are given."""

HEAVY = {
    "recall": "recall garden",
    "remember": 'remember "I prefer green tea."',
    "distill": "distill",
    "prompt": 'prompt "Refactor the parser"',
    "window": "window",
    "analyze": "analyze",
    "compact": "compact --dry-run",
    "topic": "topic user",
    "global": "global",
    "build": "build",
    "tidy": "tidy --dry-run",
    "tool": "tool",
    "check": "check",
    "doctor": "doctor",
    "setup": "setup --dry-run",
    "export": "export - --as facts",
    "--help": "--help",
}
"""Verbs that need a heavy part, or that read everything."""


def filled(path: Path) -> Path:
    """A small memory, all of it up to date."""
    where = path / "memory"
    with Memory(where) as memory:
        for number in range(10):
            memory.record(user=f"My plant number {number} is a rose in garden {number}.")
            memory.record(assistant="I see.")
        memory.record(user="I'm Zhang San. I live in Lyon. I prefer short answers.")
        memory.pages.edit(
            "facts/garden.md", "# Garden\n\n- Soil: clay\n- Fence: oak\n", reason="seen", author="person"
        )
        memory.distill()
        memory.views.build()
        memory.views.build_index()
    for name, city in (("base", "Paris"), ("ours", "Rome"), ("theirs", "Lyon")):
        (path / name).write_text(f"# User Facts\n\n- Name: Ada\n- City: {city}\n", "utf-8")
    return where


def runs(memory: Path, given: str) -> None:
    arguments = shlex.split(given.format(memory=memory))
    subprocess.run(
        [*command(), "--memory", str(memory), *arguments],
        input=b'{"session_id": "cold", "prompt": "What is left?"}' if given.startswith("hook") else b"",
        capture_output=True,
        check=False,
        env=environment(),
    )


def measured(memory: Path, rounds: int) -> Iterator[Row]:
    for verbs, goal in ((LIGHT, GOAL), (HEAVY, NO_GOAL)):
        for verb, given in verbs.items():
            times, beside = Times(), Times()
            runs(memory, given)  # what it leaves for the next one, and its bytecode
            for _ in range(rounds):
                beside.run(nothing)
                times.run(runs, memory, given)
            yield f"`looseleaf {verb}`".replace(" `", "`"), times.against(beside), goal


def profile(memory: Path, given: str) -> None:
    """The modules that a command loads, those that take longest first; microseconds of each by itself."""
    runs(memory, given)
    done = subprocess.run(
        [sys.executable, "-X", "importtime", "-m", "looseleaf", "--memory", str(memory), *shlex.split(given)],
        capture_output=True,
        text=True,
        check=False,
        env=environment(),
    )
    rows = [line.removeprefix("import time:").split("|") for line in done.stderr.splitlines() if "|" in line]
    numbers = [(int(row[0]), row[2].strip()) for row in rows if row[0].strip().isdecimal()]
    for microseconds, name in sorted(numbers, reverse=True)[:40]:
        print(f"{microseconds:>8,}  {name}")


def main(arguments: list[str] | None = None) -> None:
    parser = options(__doc__)
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--only", metavar="VERB", choices=[*LIGHT, *HEAVY])
    asked = parser.parse_args(arguments)
    with folder() as path:
        memory = filled(path)
        if asked.only is not None:
            profile(memory, (LIGHT | HEAVY)[asked.only])
            return
        report("cold", measured(memory, 1 if asked.quick else ROUNDS), save=asked.save)


if __name__ == "__main__":
    main()
