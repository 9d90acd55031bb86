"""What each screen of a server asks of a large memory: sessions, turns, facts, edits, why, costs, a prompt.

    python benchmarks/screens.py                    prints the table, of 20,000 turns and 2,000 facts
    python benchmarks/screens.py --turns 100000     the size of the promise, with 10,000 facts; takes minutes
    python benchmarks/screens.py --save             keeps the figures in results.json as well
    python benchmarks/screens.py --quick            a small memory, one round: whether it runs, not what it costs
    python benchmarks/screens.py --keep FOLDER      keeps the memory there, or takes the one that is there
    python benchmarks/screens.py --source FOLDER    measures the package of another checkout: for before and after

A memory stays open in a server, so each act is measured as it is asked again, and with `first` as it is asked by a
program that has just opened the memory. Machines differ and are busy: each figure is the processor time over that of
reading a thousand of the log's own lines as JSON, which ran next to it; the smallest of some rounds. Commands are whole
processes, over `python -c pass`.
"""

from __future__ import annotations

import gc
import json
import random
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from itertools import islice
from pathlib import Path

HERE = Path(__file__).parent.parent
if str(HERE) not in sys.path:
    sys.path.insert(0, str(HERE))  # the parts of this one are found from wherever it is run
if "--source" in sys.argv[:-1]:
    sys.path.insert(0, str(Path(sys.argv[sys.argv.index("--source") + 1]) / "src"))

from benchmarks.growth import text  # noqa: E402
from benchmarks.hook import command, environment, nothing  # noqa: E402
from benchmarks.recall import Times  # noqa: E402
from benchmarks.report import NO_GOAL, Row, options, report  # noqa: E402
from benchmarks.window import QUICK, folder  # noqa: E402

from looseleaf import Memory  # noqa: E402

PER_SESSION, PER_TOPIC, PER_EDIT = 50, 50, 10
RELATIONS = ("Colleague", "Plan", "Rule", "Likes", "Skill", "Event", "Decision", "Owner", "Colour", "Uses")
NOWHERE = "xyzzyqq"


def fill(path: Path, turns: int, facts: int) -> None:
    """A memory in which people talked, and wrote pages; its index is up to date, and no prompt was ever made."""
    chance = random.Random(5)
    words = [word.strip(".,!?") for number in range(1000) for word in text(number).split() if len(word) > 4]
    with Memory(path) as memory:
        recorder = memory.parts.conversation.recorder
        began = time.time() - 60.0 * turns
        for first in range(0, turns, PER_SESSION):
            recorder.session = f"session_{first // PER_SESSION:05d}"
            with memory.batch() as batch:
                for number in range(first, min(first + PER_SESSION, turns)):
                    batch.record(user=text(2 * number), ts=began + 60 * number)
                    batch.record(assistant=text(2 * number + 1), ts=began + 60 * number + 10)
        for first in range(0, facts, PER_TOPIC):
            page = f"facts/topic-{first // PER_TOPIC:03d}.md"
            told = f"# Topic {first}\n\n> Summary: about topic {first}\n\n"
            for number in range(first, first + PER_TOPIC):
                said = " ".join(chance.choices(words, k=6))
                told += f"- {RELATIONS[number % 10]}: part {number} {said}\n"
                if number % PER_EDIT == PER_EDIT - 1:
                    memory.pages.edit(page, told, reason="more", author="person")
        memory.remember("I prefer green tea in the morning.")
        time.sleep(0.2)  # so that no page is too young to be trusted by its times
        memory.views.build()
        memory.views.build_index()


def acts(memory: Memory) -> dict[str, tuple[Callable[[], object], str, str]]:
    """Each with its goals, asked again and at first."""
    old = "session_00001"
    return {
        "the last 20 sessions": (lambda: memory.talk.sessions(20), "≤ 10", "≤ 10"),
        "the turns of the last session": (
            lambda: memory.talk.turns(session=memory.talk.sessions(1)[0].session_id),
            "≤ 15",
            NO_GOAL,
        ),
        "the turns of an old session": (lambda: memory.talk.turns(session=old), "≤ 15", "≤ 25"),
        "an old turn": (lambda: memory.talk.turn("turn_0050"), "≤ 15", "≤ 25"),
        "all facts": (memory.facts, "≤ 20", NO_GOAL),
        "the last 50 edits": (lambda: list(islice(memory.history.edits(), 50)), "≤ 15", NO_GOAL),
        "the last receipts": (memory.explain.receipts, "≤ 15", NO_GOAL),
        "what waits in review": (memory.review.pending, "≤ 15", NO_GOAL),
        "a prompt, not logged": (lambda: memory.prompt("Plan my week.", dry_run=True), "≤ 30", NO_GOAL),
        "what prompts cost": (memory.explain.costs, "≤ 50", NO_GOAL),
        "why a word stands nowhere": (lambda: memory.explain.why(NOWHERE), "≤ 80", NO_GOAL),
        "why a word of facts and talk": (lambda: memory.explain.why("painting"), "≤ 80", NO_GOAL),
        "why a word of the prompt": (lambda: memory.explain.why("green tea"), "≤ 80", NO_GOAL),
    }


def spent(act: Callable[[], object]) -> float:
    gc.collect()
    begin = time.process_time()
    act()
    return time.process_time() - begin


def reference(path: Path) -> Callable[[], object]:
    file = path / "log/traces/main/raw_traces.jsonl"
    archive = file.parent / "archive"
    files = [*sorted(archive.glob("*.jsonl")), file]
    lines = [line for each in files for line in each.read_bytes().splitlines()[:1000]][:1000]
    lines = (lines * 1000)[:1000]
    return lambda: [json.loads(line) for line in lines]


def run(path: Path, given: tuple[str, ...]) -> None:
    arguments = [*command(), "--memory", str(path), *given]
    subprocess.run(arguments, check=False, capture_output=True, env=environment())  # 1: it stands nowhere


def measured(path: Path, rounds: int, size: str) -> Iterator[Row]:
    beside = reference(path)
    with Memory(path) as memory:
        asked = acts(memory)
        for name, (act, goal, first_goal) in asked.items():
            first = spent(act) / min(spent(beside) for _ in range(3))
            again = min(spent(act) for _ in range(rounds)) / min(spent(beside) for _ in range(rounds))
            what = f"{name}, at {size}, over reading a thousand lines as JSON"
            yield what, f"{again:.1f}", goal
            yield f"{name}: the first time", f"{first:.1f}", first_goal
    commands = {"sessions": ("sessions",), "why": ("why", NOWHERE), "analyze": ("analyze",)}
    for name, given in commands.items():
        least, own = Times(), Times()
        for _ in range(rounds):
            least.run(nothing)
            own.run(run, path, given)
        yield f"`looseleaf {name}`, at {size}, against `python -c pass`", own.against(least), NO_GOAL


def main(arguments: list[str] | None = None) -> None:
    parser = options(__doc__)
    parser.add_argument("--turns", type=int, default=20_000)
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--keep", type=Path)
    parser.add_argument("--source", type=Path)
    asked = parser.parse_args(arguments)
    turns = 600 if asked.quick else asked.turns
    facts = max(PER_TOPIC, turns // 10)
    with folder(QUICK) as scratch:
        path = (asked.keep or scratch) / "memory"
        if not path.exists():
            fill(path, turns, facts)
        size = f"{turns:,} turns and {facts:,} facts"
        report("screens", measured(path, 1 if asked.quick else 5, size), save=asked.save)


if __name__ == "__main__":
    main()
