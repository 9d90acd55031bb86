"""What finding costs, against the least that could find anything: a bare FTS5 table of the same texts. In one run.

    python benchmarks/recall.py               prints the table, for 1,000, 10,000 and 100,000 messages
    python benchmarks/recall.py --full        and for 1,000,000, which takes half an hour
    python benchmarks/recall.py --save        keeps the figures in results.json as well
    python benchmarks/recall.py --only NAME   only that part: rebuild, warm, cold, add
    python benchmarks/recall.py --keep FOLDER keeps the memories there, or takes those that are there
    python benchmarks/recall.py --quick       small sizes: whether it runs, not what it costs
    python benchmarks/recall.py --profile     where the time of a warm question goes, in the largest memory

The reference is what anybody would write first: texts in FTS5 (`porter unicode61`), all words of the question joined
by OR, the ten best by bm25. It knows nothing of neighbours, sessions, times or what is true, and never says "nothing".
`selective` is the same without the stop words, which is harder to be compared with. The talk is made up: words as
frequent as in a language, sessions of twenty messages, over five years. Questions are some words of one message. Ours
and the reference take turns, question by question, because machines are noisy.
"""

from __future__ import annotations

import os
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, nullcontext
from functools import cache
from itertools import accumulate, pairwise
from pathlib import Path
from random import Random
from statistics import median

HERE = Path(__file__).parent.parent
if str(HERE) not in sys.path:
    sys.path.insert(0, str(HERE))  # the parts of this one are found from wherever it is run

from benchmarks.report import NO_GOAL, Row, options, report, some  # noqa: E402
from benchmarks.window import STREAM, Record, folder, run_child  # noqa: E402

from looseleaf import Memory  # noqa: E402
from looseleaf.base.ids import new_id  # noqa: E402
from looseleaf.index.sqlite import VIEW  # noqa: E402

SIZES, FULL, QUICK = (1_000, 10_000, 100_000), (1_000_000,), (60, 200)
FELT = 100_000
"""The size for which goals are given in milliseconds and megabytes."""

SESSION = 20
FIRST_DAY, YEARS = 1_600_000_000.0, 5 * 31_557_600.0
K = 10

# --- what is said --------------------------------------------------------------------------

STOPS = (
    "the be to of and a in that have i it for not on with he as you do at this but his by from they we say her she or "
    "an will my one all would there their what so up out if about who get which go me when make can like no just him "
    "know take into your some could them see other than then now only its also after use two how our first way even "
    "because any these us is are was were been has had did does more am here where why very too should being over "
    "own such same each both few through before again once while during those don t s re ve ll m d"
).split()
NAMES = ("Ann", "Ben", "Carla", "Dora", "Emil", "Farid", "Greta", "Hugo")
ENDINGS = ("", "", "", "", "s", "ed", "ing", "er", "ly", "ment")


@cache
def vocabulary(size: int) -> list[str]:
    """The commonest first: those that are in any talk."""
    chance = Random(size)
    onsets = "b br c d f g gr h l m n p pl r s st t tr v".split()
    syllables = [a + b for a in onsets for b in "a e i o u ai an en or is".split()]
    made = dict.fromkeys(STOPS)
    while len(made) < size:
        stem = "".join(chance.choices(syllables, k=chance.choice((1, 2, 2, 3))))
        made[stem + chance.choice(ENDINGS)] = None
    return list(made)


class Talk:
    """Messages without end, the same for the same seed, mostly short ones."""

    def __init__(self, seed: int = 5, words: int = 30_000) -> None:
        self._random = Random(seed)
        self._words = vocabulary(words)
        self._weights = list(accumulate(1 / (rank + 2.7) for rank in range(words)))

    def text(self) -> str:
        chance = self._random
        sort = chance.random()
        least, most = (5, 30) if sort < 0.7 else (30, 80) if sort < 0.95 else (150, 400)
        count = chance.randint(least, most)
        words = chance.choices(self._words, cum_weights=self._weights, k=count)
        if sort < 0.3:  # numbers and names of things: what hardly anything else has
            words[chance.randrange(count)] = str(chance.randrange(100_000))
        return " ".join(" ".join(words[at : at + 12]).capitalize() + "." for at in range(0, count, 12))

    def question(self, text: str) -> str:
        """Some of its words, as they are asked for."""
        chance = self._random
        words = dict.fromkeys(text.lower().replace(".", "").split())
        telling = [word for word in words if word not in STOPS] or list(words)
        some = chance.sample(telling, min(len(telling), chance.randint(4, 8)))
        begin = chance.choice(
            ("What did we say about the", "When was it that", "Do you know who has the", "Was it")
        )
        return f"{begin} {' and '.join(some) if chance.random() < 0.2 else ' '.join(some)}?"


def lines(talk: Talk, size: int) -> Iterator[Record]:
    """As recording them would have written them."""
    gap = YEARS / size
    for number in range(size):
        session, place = divmod(number, SESSION)
        is_user = place % 2 == 0
        record: Record = {
            "id": new_id(),
            "ts": FIRST_DAY + number * gap,
            "turn_id": f"turn_{number // 2 + 1:04d}",
            "seq": 1 + place % 2,
            "trace_type": "user" if is_user else "assistant",
            "content": talk.text(),
            "source_event": "LLMUserMessageReadyEvent" if is_user else "LLMCompleteResponseReceivedEvent",
            "session_id": f"session-{session}",
            "origin": "user" if is_user else "assistant",
            "tags": [f"speaker:{NAMES[(session + (0 if is_user else 3)) % len(NAMES)]}"],
        }
        if place == 0:
            record["session_start"] = True
        yield record


# --- the two sides ---------------------------------------------------------------------------


class Bare:
    """The reference: one FTS5 table."""

    def __init__(self, path: Path) -> None:
        self._connection = sqlite3.connect(path, isolation_level=None)

    def make(self, texts: list[str]) -> None:
        self._connection.execute("PRAGMA journal_mode = WAL")
        self._connection.execute("CREATE VIRTUAL TABLE said USING fts5 (text, tokenize = 'porter unicode61')")
        self._connection.execute("BEGIN")
        self._connection.executemany("INSERT INTO said VALUES (?)", ((text,) for text in texts))
        self._connection.execute("COMMIT")

    def add(self, text: str) -> None:
        self._connection.execute("INSERT INTO said VALUES (?)", (text,))

    def ask(self, question: str, passed_over: frozenset[str] = frozenset()) -> list[str]:
        words = [word for word in _bare_words(question) if word not in passed_over]
        match = " OR ".join(f'"{word}"' for word in words)
        query = "SELECT text FROM said WHERE said MATCH ? ORDER BY bm25(said) LIMIT ?"
        return [str(row[0]) for row in self._connection.execute(query, (match, K))]

    def close(self) -> None:
        self._connection.close()


def _bare_words(question: str) -> list[str]:
    return question.lower().replace("?", "").split()


COLD_BARE = """import sqlite3
import sys

words = sys.argv[2].lower().replace("?", "").split()
match = " OR ".join(f'"{word}"' for word in words)
connection = sqlite3.connect(sys.argv[1])
query = "SELECT text FROM said WHERE said MATCH ? ORDER BY bm25(said) LIMIT 10"
for number, (text,) in enumerate(connection.execute(query, (match,)), 1):
    print(f"{number}. {text}")
"""

HEAVIEST = """import sys
from looseleaf.cli.main import main
sys.argv[1:] = ["--memory", sys.argv[1], "recall", sys.argv[2]]
try:
    main()
except SystemExit:
    pass
with open("/proc/self/status") as status:
    print("peak", next(line.split()[1] for line in status if line.startswith("VmHWM")))
"""


class Side:
    """Both of one size, in a folder; made if they are missing, and then it is known how long that took."""

    def __init__(self, path: Path, size: int) -> None:
        self.size = size
        self.memory = path / f"{size}/memory"
        self.bare = path / f"{size}/bare.sqlite"
        self.script = path / "bare.py"
        self.talk = Talk()
        self.bytes = 0
        if not (path / f"{size}").exists():
            begun = path / f"{size}.part"
            begun.mkdir(parents=True)
            self._fill(begun / "memory", begun / "bare.sqlite")
            begun.rename(path / f"{size}")
        self.script.write_text(COLD_BARE)
        with Memory(self.memory) as memory:
            texts = [str(line.record.get("content", "")) for line in memory.parts.context.store.read(STREAM)]
        self.bytes = sum(len(text.encode()) for text in texts)
        self._texts = texts[:: max(1, len(texts) // 2000)]
        self._chance = Random(size)

    def _fill(self, memory: Path, bare: Path) -> None:
        with Memory(memory) as filled:
            some: list[Record] = []
            texts: list[str] = []
            for record in lines(self.talk, self.size):
                some.append(record)
                texts.append(record["content"])
                if len(some) == 5000:
                    filled.parts.context.store.append(STREAM, some)
                    some = []
            filled.parts.context.store.append(STREAM, some)
        reference = Bare(bare)
        reference.make(texts)
        reference.close()

    def question(self) -> str:
        return self.talk.question(self._chance.choice(self._texts))

    def questions(self, count: int) -> list[str]:
        return [self.question() for _ in range(count)]


def took(job: Callable[..., object], *arguments: object) -> float:
    began = time.perf_counter()
    job(*arguments)
    return time.perf_counter() - began


def high(times: list[float], share: float = 0.99) -> float:
    return sorted(times)[min(int(len(times) * share), len(times) - 1)]


def of(ours: list[float], others: list[float]) -> float:
    """The median of what each of ours is of the one that ran next to it."""
    return median(one / other for one, other in zip(ours, others, strict=True) if other)


class Times:
    """How long runs of something took, by the clock and by the processor: a busy machine bends the first."""

    def __init__(self) -> None:
        self.clock: list[float] = []
        self.processor: list[float] = []

    def run(self, job: Callable[..., object], *arguments: object) -> None:
        before = _spent()
        self.clock.append(took(job, *arguments))
        self.processor.append(_spent() - before)

    def against(self, other: Times) -> str:
        by_processor = of(self.processor, other.processor)
        return f"{of(self.clock, other.clock):.2f} (by processor time {by_processor:.2f}; {ms(self.clock)})"


def _spent() -> float:
    """Processor time of this process and of those that it ran."""
    if sys.platform == "win32":
        return time.process_time()
    import resource

    children = resource.getrusage(resource.RUSAGE_CHILDREN)
    return time.process_time() + children.ru_utime + children.ru_stime


def ms(times: list[float] | float) -> str:
    value = 1000 * (median(times) if isinstance(times, list) else times)
    return f"{value:.1f} ms" if value < 100 else f"{value:.0f} ms"


# --- rebuild: made anew, how fast and how large ------------------------------------------------


def rebuild(sides: list[Side]) -> Iterator[Row]:
    for side in sides:
        again = side.bare.with_name("again.sqlite")
        for path in (side.memory / VIEW, again):
            for ending in ("", "-wal", "-shm"):
                Path(f"{path}{ending}").unlink(missing_ok=True)
        with Memory(side.memory) as memory:
            texts = [str(line.record.get("content", "")) for line in memory.parts.context.store.read(STREAM)]
            ours = took(memory.recall, "anything at all")
        reference = Bare(again)
        theirs = took(reference.make, texts)
        reference.close()
        at = f"at {side.size:,}"
        items = _items(side.memory)
        speed = f"{items / ours:,.0f} items/s, {side.bytes / ours / 1e6:.1f} MB/s"
        yield (
            f"the index made anew {at}, against filling the table",
            f"{ours / theirs:.2f} ({speed})",
            NO_GOAL,
        )
        own, other = (os.path.getsize(path) for path in (side.memory / VIEW, again))
        again.unlink()
        sizes = (
            f"{own / items:.0f}, the table {other / side.size:.0f}, the texts {side.bytes / side.size:.0f}"
        )
        yield f"the index {at}, bytes an item", sizes, NO_GOAL


def _items(memory: Path) -> int:
    connection = sqlite3.connect(memory / VIEW)
    try:
        return int(connection.execute("SELECT count(*) FROM item").fetchone()[0])
    finally:
        connection.close()


# --- warm: in a process that has asked before --------------------------------------------------


def warm(sides: list[Side], rounds: int) -> Iterator[Row]:
    """All sizes take turns, too, so that they can be compared."""
    ours, theirs, selective = ({side.size: Times() for side in sides} for _ in range(3))
    stops = frozenset(STOPS)
    with ExitStack() as stack:
        opened = []
        for side in sides:
            memory, bare = stack.enter_context(Memory(side.memory)), Bare(side.bare)
            stack.callback(bare.close)
            for question in side.questions(3):
                memory.recall(question, K)
                bare.ask(question)
            opened.append((side, memory, bare))
        for number in range(rounds):
            for side, memory, bare in opened:
                question = side.question()
                jobs = (
                    (ours, memory.recall, (question, K)),
                    (theirs, bare.ask, (question,)),
                    (selective, bare.ask, (question, stops)),
                )
                for times, job, arguments in jobs if number % 2 else reversed(jobs):
                    times[side.size].run(job, *arguments)
    for size, mine in ours.items():
        at = f"at {size:,} messages"
        yield f"a question {at}, warm, p50", mine.against(theirs[size]), "≤ 3"
        tail = high(mine.clock)
        yield "the same, p99 of ours to p99", f"{tail / high(theirs[size].clock):.2f} ({ms(tail)})", NO_GOAL
        yield "the same, p50, to the selective reference", mine.against(selective[size]), NO_GOAL
    for small, large in pairwise(sides):
        growth, its = (
            median(times[large.size].clock) / median(times[small.size].clock) for times in (ours, theirs)
        )
        goal = "≤ 4" if small.size == FELT else NO_GOAL
        yield (
            f"from {small.size:,} to {large.size:,}, p50 grows",
            f"{growth:.2f} (the reference {its:.2f})",
            goal,
        )


# --- cold: a process for one question ------------------------------------------------------------


def cold(sides: list[Side], rounds: int, weighed: int = 3) -> Iterator[Row]:
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    script = Path(sys.executable).with_name("looseleaf")
    command = [str(script)] if script.exists() else [sys.executable, "-m", "looseleaf"]

    def run(*arguments: str | Path) -> None:
        subprocess.run(arguments, check=True, stdout=subprocess.DEVNULL, env=environment)

    for side in sides:
        ours, theirs, nothing = Times(), Times(), Times()
        # The first writes the bytecode, as an installation does, and the index where it is missing.
        run(*command, "--memory", side.memory, "recall", side.question())
        for question in side.questions(rounds):
            ours.run(run, *command, "--memory", side.memory, "recall", question)
            theirs.run(run, sys.executable, side.script, side.bare, question)
            nothing.run(run, sys.executable, "-c", "pass")
        what = f"`looseleaf recall`, whole process, at {side.size:,} messages, against a script that asks the table"
        yield what, ours.against(theirs), "≤ 2.5"
        yield "the same against `python -c pass`", ours.against(nothing), NO_GOAL
        if os.path.exists("/proc/self/status"):
            peaks = [
                int(run_child(HEAVIEST, str(side.memory), each).split()[-1])
                for each in side.questions(weighed)
            ]
            goal = "≤ 60" if side.size == FELT else NO_GOAL
            yield "its resident memory at most, MB", f"{max(peaks) / 1024:.0f}", goal


# --- add: recorded, and found --------------------------------------------------------------------


def add(sides: list[Side], rounds: int) -> Iterator[Row]:
    for side in sides:
        times: dict[str, list[float]] = {"record": [], "found": [], "again": [], "bare": []}
        missed = 0
        talk = Talk(time.time_ns())  # in a memory that was kept, what was said before is told once
        bare = Bare(side.bare)
        with Memory(side.memory) as memory:
            memory.recall(side.question())
            for number in range(rounds):
                text = f"{talk.text()} The ticket is {side.size}x{number}."
                question = f"{talk.question(text)} ticket {side.size}x{number}"

                began = time.perf_counter()
                trace = memory.record(user=text)
                recorded = time.perf_counter()
                found = memory.recall(question, K)
                times["record"].append(recorded - began)
                times["found"].append(time.perf_counter() - recorded)
                missed += all(hit.where != trace.id for hit in found)
                times["again"].append(took(memory.recall, question, K))
                times["bare"].append(took(bare.add, text) + took(bare.ask, question))
        bare.close()
        at = f"at {side.size:,} messages"
        goal = "≤ 5" if side.size == FELT else NO_GOAL
        more = median(one - other for one, other in zip(times["found"], times["again"], strict=True))
        what = f"found as soon as it was recorded, {at}: milliseconds more than asking again"
        yield what, f"{max(1000 * more, 0.0):.1f}", goal
        yield (
            "the same: recording it, durably; the question; asking again; adding to and asking the table",
            "; ".join(ms(times[name]) for name in ("record", "found", "again", "bare")),
            NO_GOAL,
        )
        yield "the same: not found", f"{missed} of {rounds}", "0"


# --- the table -----------------------------------------------------------------------------


def profile(side: Side, rounds: int) -> None:
    import cProfile
    import pstats

    with Memory(side.memory) as memory:
        for question in side.questions(5):
            memory.recall(question, K)
        questions = side.questions(rounds)
        profiler = cProfile.Profile()
        with profiler:
            for question in questions:
                memory.recall(question, K)
    pstats.Stats(profiler).sort_stats("tottime").print_stats(45)


def parts(sides: list[Side], *, quick: bool) -> dict[str, Callable[[], Iterator[Row]]]:
    return {
        "rebuild": lambda: rebuild(sides),
        "warm": lambda: warm(sides, 5 if quick else 200),
        "cold": lambda: cold(sides[-1:], 1, 1) if quick else cold(sides, 15),
        "add": lambda: add(sides, 3 if quick else 60),
    }


def main(arguments: list[str] | None = None) -> None:
    parser = options(__doc__)
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--full", action="store_true")
    parser.add_argument("--profile", action="store_true")
    parser.add_argument("--keep", type=Path)
    parser.add_argument("--only", action="append", choices=tuple(parts([], quick=True)))
    asked = parser.parse_args(arguments)
    sizes = QUICK if asked.quick else (*SIZES, *(FULL if asked.full else ()))
    with nullcontext(asked.keep) if asked.keep is not None else folder() as path:
        if asked.profile:
            profile(Side(path, sizes[-1]), 10 if asked.quick else 100)
            return
        sides = [Side(path, size) for size in sizes]
        report("recall", some(parts(sides, quick=asked.quick), asked.only), save=asked.save)


if __name__ == "__main__":
    main()
