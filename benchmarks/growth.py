"""How each command grows with what is remembered: turns, pages, notes, lines on one page.

    python benchmarks/growth.py                    prints the tables
    python benchmarks/growth.py --sizes 1000 10000 100000
    python benchmarks/growth.py --only talk        of: talk, pages, notes, series; or one row: talk:recall
    python benchmarks/growth.py --source FOLDER    runs the commands of another checkout: for before and after
    python benchmarks/growth.py --keep FOLDER      keeps the memories there, or takes those that are there
    python benchmarks/growth.py --limit SECONDS    gives a command up after so long (300), and says so

Whole processes, each on a memory that no other command has touched since it was copied, in processor time: machines are
busy. Each figure is a ratio to `python -c pass` next to it, with the highest memory in megabytes; the last columns say
how many times as long the larger size took as the one before it. The talk is LoCoMo's where that is there, with words
changed in each further round; else made up.
"""

from __future__ import annotations

import json
import os
import random
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent.parent
if str(HERE) not in sys.path:
    sys.path.insert(0, str(HERE))  # the parts of this one are found from wherever it is run

from benchmarks.report import NO_GOAL, Row, options, table  # noqa: E402
from benchmarks.report import keep as keep_results  # noqa: E402
from benchmarks.talks import DATA  # noqa: E402
from benchmarks.window import QUICK, folder  # noqa: E402

from looseleaf import Memory  # noqa: E402
from looseleaf.base.messages import Distilled, Material, Proposal  # noqa: E402

DAY = 86_400.0
TURNS = (100, 1_000, 10_000)
PAGES = (200, 20_000)
NOTES = (500, 2_000)
LINES = (2_000, 8_000)
GOALS = {"build --full": "≤ 12", "export facts": "≤ 12", "import notes": "≤ 4.5", "series": "≤ 5"}
PAGES_GOAL = "≤ 2"

# --- what is said --------------------------------------------------------------------------


@cache
def _said() -> list[str]:
    if not DATA.exists():
        chance = random.Random(1)
        words = [
            "".join(chance.choices("bcdfghlmnprst", k=2)) + chance.choice("aeiou") * 2 for _ in range(4000)
        ]
        return [" ".join(chance.choices(words, k=chance.randint(5, 60))) + "." for _ in range(5000)]
    talks = [each["conversation"] for each in json.loads(DATA.read_text())]
    keys = [sorted((key for key in talk if re.fullmatch(r"session_\d+", key)), key=len) for talk in talks]
    return [
        turn["text"]
        for talk, named in zip(talks, keys, strict=True)
        for key in named
        for turn in talk[key]
        if turn.get("text")
    ]


def text(number: int) -> str:
    """The message of that number; in later rounds with other words in it, so that no two rounds are alike."""
    said = _said()
    number_of_round, at = divmod(number, len(said))
    if not number_of_round:
        return said[at]
    chance = random.Random(number)

    def other(found: re.Match[str]) -> str:
        if chance.random() > 0.3:
            return found[0]
        return (
            chance.choice("bdfgklmnprstv")
            + chance.choice("aeiou")
            + chance.choice("lmnrst")
            + chance.choice("aeio")
        )

    return f"{re.sub(r'[A-Za-z]{6,}', other, said[at])} (no. {number})"


class Sentences:
    """A distiller that takes the first sentence of every tenth message of the user: quick, and as many facts as talk
    has."""

    name = "sentences/1"

    def distill(self, material: Material, tokens: int) -> Distilled:
        users = [trace for trace in material.traces() if trace.trace_type == "user"]
        facts: list[dict[str, Any]] = []
        for trace in users[::10]:
            first = re.split(r"(?<=[.!?])\s", trace.content)[0]
            if 20 <= len(first) <= 160:
                facts.append(Proposal("note", first, first, "user", source=trace.id).to_dict())
        return Distilled(" ".join(str(fact["object"]) for fact in facts)[:600], None, tuple(facts))


# --- memories ------------------------------------------------------------------------------


def talk(path: Path, turns: int) -> None:
    """A memory of so many turns, all but the last distilled."""
    with Memory(path, distiller=Sentences()) as memory:
        began = time.time() - 60.0 * turns - DAY
        with memory.batch() as batch:
            for number in range(turns):
                batch.record(user=text(2 * number), ts=began + 60 * number)
                batch.record(assistant=text(2 * number + 1), ts=began + 60 * number + 10)
        memory.distill()
        memory.remember("My name is Ana.")
        memory.views.build()
        memory.views.build_index()


def pages(path: Path, count: int) -> None:
    """A memory of so many pages that a person wrote."""
    with Memory(path) as memory:
        memory.remember("My name is Ana.")
        (path / "facts").mkdir(exist_ok=True)
        for number in range(count):
            head = f"# Topic {number}\n\n> Summary: about {number}\n\n"
            page = path / f"facts/topic-{number:05d}.md"
            page.write_text(f"{head}- Colour: shade {number}\n- Owner: person {number % 97}\n")
            os.utime(page, (time.time() - DAY,) * 2)
        time.sleep(0.2)  # so that no page is too young to be trusted by its times
        memory.pages.absorb()
        memory.views.build()
        memory.views.build_index()


def notes(path: Path, count: int) -> None:
    """A folder of so many notes."""
    chance = random.Random(3)
    words = [word for said in _said()[:300] for word in re.findall(r"[a-z]{4,}", said)]
    path.mkdir()
    for number in range(count):
        told = "\n\n".join(" ".join(chance.choices(words, k=12)).capitalize() + "." for _ in range(4))
        bullets = f"- Owner: person {number}\n- Colour: {chance.choice(words)} {number}\n"
        (path / f"note-{number:05d}.md").write_text(f"# Note {number}\n\n{told}\n\n{bullets}")


# --- commands ------------------------------------------------------------------------------

EVENT = {"session_id": "s", "transcript_path": "/nowhere.jsonl", "prompt": "Hello there, where do I live?"}
NEXT_TURN = """
import sys, time
from looseleaf import Memory
with Memory(sys.argv[1]) as memory:
    for when in (43_200, 3_600):
        memory.record(user="I moved to Lyon last month, and I like it.", ts=time.time() - when)
        memory.record(assistant="Good to know.", ts=time.time() - when + 5)
"""
SERIES = """
import sys
from looseleaf import Memory
with Memory(sys.argv[1]) as memory:
    for number in range(int(sys.argv[2])):
        memory.remember(f"Shelf {number % 90} of room {number % 7} holds box {number}.", topic="stock")
"""


@dataclass(frozen=True)
class Case:
    """A command; `first`: a program that is run before it, untimed."""

    name: str
    arguments: str
    first: str = ""
    given: str = ""


TALK = (
    Case("opening", "show USER.md"),
    Case("record", 'record user "The kettle is on the shelf."'),
    Case("remember", 'remember "I prefer green tea in the morning."'),
    Case("recall", 'recall "Where is the kettle?"'),
    Case("distill", "distill", first=NEXT_TURN),
    Case("status", ""),
    Case("check", "check"),
    Case("build", "build"),
    Case("build --full", "build --full"),
    Case("export facts", "export --as facts {out}"),
    Case("export", "export {out}"),
    Case("first prompt", 'prompt "Plan my week."'),
    Case("forget", "forget --match Lyon --yes", first=NEXT_TURN),
)
OF_PAGES = (
    Case("show", "show USER.md"),
    Case("facts of a topic", "facts --topic user"),
    Case("recall", 'recall "What is my name?"'),
    Case("remember", 'remember "I live in Lyon."'),
    Case("status", ""),
    Case("hook user-prompt", "hook user-prompt", given=json.dumps(EVENT)),
    Case("hook session-start", "hook session-start", given=json.dumps(EVENT)),
)


@dataclass(frozen=True)
class Cost:
    seconds: float
    megabytes: float
    is_over: bool = True
    """False: it was given up."""


class Bench:
    def __init__(self, source: Path, keep: Path, limit: float) -> None:
        self._keep, self._limit = keep, limit
        left = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
        self._environment = left | {"PYTHONPATH": str(source / "src"), "HOME": str(keep)}
        self.scratch = keep / "scratch"

    def made(self, make: Callable[[Path, int], None], size: int) -> Path:
        path = self._keep / f"{make.__name__}-{size}"
        if not path.exists():
            half = path.with_suffix(".half")
            shutil.rmtree(half, ignore_errors=True)
            make(half, size)
            half.rename(path)
        return path

    def run(self, *arguments: str, given: str = "") -> Cost:
        """Processor time and highest memory of a process, its children included."""
        process = subprocess.Popen(
            [sys.executable, *arguments],
            env=self._environment,
            cwd=self._keep,
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
        )
        assert process.stdin is not None
        process.stdin.write(given.encode())
        process.stdin.close()
        until = time.monotonic() + self._limit
        highest = 0.0
        while True:
            highest = max(highest, _highest(process.pid))
            pid, status, used = os.wait4(process.pid, os.WNOHANG)
            if pid:
                break
            if time.monotonic() > until:
                process.kill()
                _, _, used = os.wait4(process.pid, 0)
                process.returncode = -9
                return Cost(used.ru_utime + used.ru_stime, highest, is_over=False)
            time.sleep(0.005)
        process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode not in (0, 1):  # 1: nothing was found
            assert process.stderr is not None
            raise SystemExit(f"{' '.join(arguments)}: {process.stderr.read().decode()[-2000:]}")
        return Cost(used.ru_utime + used.ru_stime, highest)

    def nothing(self) -> float:
        return min(self.run("-c", "pass").seconds for _ in range(3))

    def cost(self, case: Case, memory: Path | None, rounds: int) -> Cost:
        """The least of some rounds, each on a fresh copy."""
        costs: list[Cost] = []
        for _ in range(rounds):
            self.copy(memory)
            if case.first:
                self.run("-c", case.first, str(self.scratch))
            asked = case.arguments.format(out=self._keep / "out")
            costs.append(
                self.run("-m", "looseleaf", "--memory", str(self.scratch), *_split(asked), given=case.given)
            )
            (self._keep / "out").unlink(missing_ok=True)
            if costs[-1].seconds > 5 or not costs[-1].is_over:
                break
        return min(costs, key=lambda cost: cost.seconds)

    def copy(self, memory: Path | None) -> None:
        shutil.rmtree(self.scratch, ignore_errors=True)
        if memory is not None:
            shutil.copytree(memory, self.scratch)
            # A copy looks changed to whoever knows its files: the first look is not what is measured.
            self.run("-m", "looseleaf", "--memory", str(self.scratch))
            time.sleep(0.15)
            self.run("-m", "looseleaf", "--memory", str(self.scratch))


def _highest(pid: int) -> float:
    """The highest memory of a process so far, in megabytes. What `wait4` says counts the process that started it."""
    try:
        found = re.search(r"VmHWM:\s+(\d+)", Path(f"/proc/{pid}/status").read_text())
    except OSError:
        return 0.0
    return int(found[1]) / 1024 if found else 0.0


def _split(arguments: str) -> list[str]:
    return [each.strip('"') for each in re.findall(r'"[^"]*"|\S+', arguments)]


# --- tables --------------------------------------------------------------------------------

Costs = dict[str, list[Cost]]


def rows_of(costs: Costs, reference: float, goals: dict[str, str]) -> Iterator[list[str]]:
    for name, found in costs.items():
        cells = [_cell(cost, reference) for cost in found]
        pairs = pairwise(found)
        grown = [f"{b.seconds / a.seconds:.1f}" if a.is_over and b.is_over else "–" for a, b in pairs]
        yield [name, *cells, *grown, goals.get(name, "–")]


def _cell(cost: Cost, reference: float) -> str:
    told = f"{cost.seconds / reference:,.1f} ({cost.megabytes:.0f} MB)"
    return told if cost.is_over else f"not done after {told}"


def show(
    title: str, sizes: Sequence[int], costs: Costs, reference: float, goals: dict[str, str]
) -> Iterator[Row]:
    """Print a table; give the growth to its last size as rows."""
    grown = [f"{b / a:.0f} × {a:,}" for a, b in pairwise(sizes)]
    head = [title, *(f"{size:,}" for size in sizes), *grown, "goal of the last"]
    print(table(rows_of(costs, reference, goals), head), "\n", flush=True)
    for name, (*_, few, many) in costs.items() if len(sizes) > 1 else ():
        figure = f"{many.seconds / few.seconds:.1f}" if few.is_over and many.is_over else "not done"
        told = f"{figure} (to {_cell(many, reference)})"
        yield f"{name}: {sizes[-1]:,} {title} against {sizes[-2]:,}", told, goals.get(name, NO_GOAL)


def measure(bench: Bench, cases: Sequence[Case], memories: Sequence[Path], rounds: int) -> Costs:
    costs: Costs = {case.name: [] for case in cases}
    for memory in memories:
        for case in cases:
            before = costs[case.name]
            if before and not before[-1].is_over:
                before.append(Cost(before[-1].seconds, before[-1].megabytes, is_over=False))
                continue
            before.append(bench.cost(case, memory, rounds))
            print(f"  {memory.name}: {case.name} {before[-1].seconds:.2f} s", file=sys.stderr, flush=True)
    return costs


def main() -> None:
    parser = options(__doc__)
    parser.add_argument("--sizes", type=int, nargs="+", default=TURNS)
    parser.add_argument(
        "--only", action="append", help="talk, pages, notes, series; or a row, as talk:recall"
    )
    parser.add_argument("--source", type=Path, default=HERE)
    parser.add_argument("--keep", type=Path)
    parser.add_argument("--limit", type=float, default=300.0)
    parser.add_argument("--rounds", type=int, default=3)
    asked = parser.parse_args()
    began = time.monotonic()
    groups = {"talk", "pages", "notes", "series"}
    wanted = set(asked.only or groups)

    def chosen(group: str, cases: Sequence[Case]) -> list[Case]:
        return [case for case in cases if {group, f"{group}:{case.name}"} & wanted]

    with nullcontext(asked.keep) if asked.keep else folder(QUICK) as keep:
        keep.mkdir(exist_ok=True, parents=True)
        bench = Bench(asked.source.resolve(), keep.resolve(), asked.limit)
        reference = bench.nothing()
        print(
            f"`python -c pass` took {1000 * reference:.0f} ms of the processor; all figures are times that.\n"
        )
        said: list[Row] = []
        if cases := chosen("talk", TALK):
            memories = [bench.made(talk, size) for size in asked.sizes]
            said += show(
                "turns", asked.sizes, measure(bench, cases, memories, asked.rounds), reference, GOALS
            )
        if cases := chosen("pages", OF_PAGES):
            memories = [bench.made(pages, size) for size in PAGES]
            goals = dict.fromkeys((case.name for case in cases), PAGES_GOAL)
            said += show("pages", PAGES, measure(bench, cases, memories, asked.rounds), reference, goals)
        if "notes" in wanted:
            costs = []
            for size in NOTES:
                bench.copy(None)
                bench.run("-m", "looseleaf", "init", str(bench.scratch))
                where = str(bench.made(notes, size))
                costs.append(
                    bench.run("-m", "looseleaf", "--memory", str(bench.scratch), "import", "--mine", where)
                )
            said += show("notes", NOTES, {"import notes": costs}, reference, GOALS)
        if "series" in wanted:
            costs = []
            for size in LINES:
                bench.copy(None)
                costs.append(bench.run("-c", SERIES, str(bench.scratch), str(size)))
            said += show("lines by `remember`", LINES, {"series": costs}, reference, GOALS)
        shutil.rmtree(bench.scratch, ignore_errors=True)
    if asked.save:
        keep_results("growth", {"rows": said, "seconds": round(time.monotonic() - began)})


if __name__ == "__main__":
    main()
