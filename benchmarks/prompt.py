"""What a prompt costs: to assemble, to send, and to send again. Measured in one run.

    python benchmarks/prompt.py               prints the table
    python benchmarks/prompt.py --save        keeps the figures in results.json as well
    python benchmarks/prompt.py --only NAME   only that part: growth, prefix, agents, notation, layout
    python benchmarks/prompt.py --keep FOLDER keeps the large memory there, or takes the one that is there
    python benchmarks/prompt.py --quick       small sizes: whether it runs, not what it costs
    python benchmarks/prompt.py --profile     where the time of a prompt goes, in the large memory

`growth`: a prompt of a large memory against one of a small memory, which took turns. `prefix` and `agents`: how much of
what is sent a provider's cache knows (`cache_model.py`), in the order that prompts have here and in others. `notation`:
the state as JSON, TOON and lines. `layout`: the tokens of a prompt against those of other layouts of the same memory.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import nullcontext
from pathlib import Path
from statistics import median

HERE = Path(__file__).parent.parent
if str(HERE) not in sys.path:
    sys.path.insert(0, str(HERE))  # the parts of this one are found from wherever it is run

from benchmarks.report import NO_GOAL, Row, options, report, some  # noqa: E402
from benchmarks.window import QUICK, Speech, folder, run_child  # noqa: E402
from benchmarks.window import fill as fill_turns  # noqa: E402

from benchmarks import layouts, prefix  # noqa: E402
from looseleaf import Memory  # noqa: E402

BUDGET = 8_000
TASK = "Say what is left to be done before the release, and begin with the first of it."
PER_PAGE = 10
COMPACTED_EVERY = 200
RELATIONS = ("Colleague", "Plan", "Rule", "Likes", "Skill", "Event", "Decision", "Deadline", "Owner", "Place")

SMALL, LARGE = (100, 100), (10_000, 100_000)
"""Facts and turns; ten facts a page."""

Size = tuple[int, int]


# --- growth: a large memory against a small one ----------------------------------------------


def fill(path: Path, size: Size) -> None:
    """A memory with the same top of the folder for every size, and so many facts and turns; compacted, and built."""
    facts, turns = size
    speech = Speech(3)
    fill_turns(path, turns, compacted_every=COMPACTED_EVERY, result_characters=100)
    with Memory(path) as memory:
        (path / "SOUL.md").write_text(f"# Soul\n\n{speech.text(600)}\n")
        (path / "PROJECT.md").write_text(f"# Project\n\n{speech.text(1200)}\n")
        lines = "".join(f"- {relation}: {speech.text(40)}\n" for relation in RELATIONS)
        (path / "USER.md").write_text(f"# User\n\n{lines}")
        (path / "facts").mkdir(exist_ok=True)
        for number in range(facts // PER_PAGE):
            lines = "".join(f"- {relation}: {speech.text(40)}\n" for relation in RELATIONS)
            (path / f"facts/topic-{number:04d}.md").write_text(f"# Topic {number}\n\n{lines}")
        memory.pages.absorb()
        memory.state.update(goal=speech.text(60)[:100], now=speech.text(40)[:100])
        memory.window.compact()
        memory.views.build()


class Talking:
    """A memory in which somebody talks, and what its prompts took: those within an epoch, those of them that tell of a
    change of the state, and those that began one."""

    def __init__(self, path: Path, seed: int) -> None:
        self.memory = Memory(path)
        self._speech = Speech(seed)
        self.memory.prompt(TASK, budget=BUDGET)
        self.warm: list[float] = []
        self.changed: list[float] = []
        self.begun: list[float] = []

    def turn(self, *, is_changed: bool = False) -> bool:
        """Whether its prompt was one within an epoch."""
        if is_changed:
            self.memory.state.update(now=self._speech.text(40)[:60])
        before = self._mark()
        began = time.perf_counter()
        self.memory.prompt(TASK, budget=BUDGET)
        took = time.perf_counter() - began
        is_warm = self._mark() == before
        (self.begun if not is_warm else self.changed if is_changed else self.warm).append(took)
        self.memory.record(user=TASK)
        self.memory.record(assistant=self._speech.text(200))
        return is_warm

    def _mark(self) -> str | None:
        mark = self.memory.window.read().mark
        return mark.id if mark is not None else None


CHILD_PROMPT = """
import sys
from looseleaf import Memory
Memory(sys.argv[1]).prompt(sys.argv[2], budget=int(sys.argv[3]), dry_run=True)
"""


def filled(path: Path, size: Size) -> Path:
    """The memory of that size in a folder, made if it is missing."""
    where = path / f"{size[0]}-{size[1]}"
    if not where.exists():
        begun = path / f"{where.name}.part"
        fill(begun, size)
        begun.rename(where)
    return where


def cold(path: Path) -> float:
    began = time.perf_counter()
    run_child(CHILD_PROMPT, str(path), TASK, str(BUDGET))
    return time.perf_counter() - began


def growth(keep: Path | None, large: Size, rounds: int = 150) -> Iterator[Row]:
    with nullcontext(keep) if keep is not None else folder(QUICK) as path:
        paths = [filled(path, size) for size in (SMALL, large)]
        firsts = [[cold(each) for each in paths] for _ in range(min(5, rounds // 6))]
        nothing = median(_nothing() for _ in range(5))
        few, many = (Talking(each, 11) for each in paths)
        for number in range(rounds):
            few.turn(is_changed=number % 5 == 0)
            many.turn(is_changed=number % 5 == 0)
        few.memory.close()
        many.memory.close()
    sizes = f"{large[0]:,} facts, {large[0] // PER_PAGE:,} pages, {large[1]:,} turns"
    what = f"a prompt of {sizes} against of {SMALL[0]}, {SMALL[0] // PER_PAGE}, {SMALL[1]}"
    yield f"{what}, within an epoch", f"{median(many.warm) / median(few.warm):.2f}", "≤ 1.5"
    yield "the same: milliseconds", f"{1000 * median(many.warm):.1f}", "≤ 10"
    for name, one, other in (
        ("one that tells of a change of the state", few.changed, many.changed),
        ("one that begins a new epoch, its compaction included", few.begun, many.begun),
    ):
        if one and other:
            figure = f"{median(other) / median(one):.2f} ({1000 * median(other):.0f} ms)"
            yield f"the same of {name} ({len(other)} of {rounds})", figure, NO_GOAL
    small, big = (median(column) for column in zip(*firsts, strict=True))
    yield "the first prompt of a process, whole process", f"{big / small:.2f}", NO_GOAL
    yield "the same against `python -c pass`", f"{big / nothing:.1f}", NO_GOAL


def _nothing() -> float:
    began = time.perf_counter()
    run_child("pass")
    return time.perf_counter() - began


def profile(keep: Path | None, large: Size) -> None:
    import cProfile
    import pstats

    with nullcontext(keep) if keep is not None else folder(QUICK) as path:
        talking = Talking(filled(path, large), 12)
        found: dict[bool, cProfile.Profile] = {}
        for _ in range(60):
            profiler = cProfile.Profile()
            with profiler:
                is_warm = talking.turn()
            found[is_warm] = profiler
        talking.memory.close()
        for is_warm, profiler in found.items():
            print("a turn within an epoch" if is_warm else "a turn that begins an epoch", flush=True)
            pstats.Stats(profiler).sort_stats("cumulative").print_stats(60)


# --- the table -----------------------------------------------------------------------------


def parts(*, quick: bool, keep: Path | None) -> dict[str, Callable[[], Iterator[Row]]]:
    return {
        "growth": lambda: growth(keep, (200, 300) if quick else LARGE, 12 if quick else 150),
        "prefix": lambda: prefix.talking(25, (8_000,)) if quick else prefix.talking(500),
        "agents": lambda: prefix.working(1 if quick else None),
        "notation": lambda: layouts.notation(1 if quick else None),
        "layout": lambda: layouts.layout(1 if quick else None),
    }


def main() -> None:
    parser = options(__doc__)
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--profile", action="store_true")
    parser.add_argument("--keep", type=Path)
    parser.add_argument("--only", action="append", choices=tuple(parts(quick=True, keep=None)))
    asked = parser.parse_args()
    if asked.profile:
        profile(asked.keep, (200, 300) if asked.quick else LARGE)
    else:
        report("prompt", some(parts(quick=asked.quick, keep=asked.keep), asked.only), save=asked.save)


if __name__ == "__main__":
    main()
