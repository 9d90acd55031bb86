"""How the half of the memory that carries a conversation grows, remembers and keeps still, measured in one run.

    python benchmarks/window.py              prints the table
    python benchmarks/window.py --save       keeps the figures in results.json as well
    python benchmarks/window.py --only NAME  only that part: growth, messages, kept, prefix, peak
    python benchmarks/window.py --turns N    with another length of the long memory (100,000)
    python benchmarks/window.py --megabytes N  with another size of the window whose compaction is weighed (200)

Machines differ and are noisy, so times are ratios of two sides that took turns, but for one: what stands between a
user and an answer is felt in milliseconds. Growth is measured in memory where that can be had: on a disk, the time of
a sync would hide what the length of the log costs.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from random import Random
from statistics import fmean, median
from typing import Any

from looseleaf import Memory, Policy
from looseleaf.base.ids import new_id
from looseleaf.base.messages import Message
from looseleaf.log.turns import Mark, texts_of
from looseleaf.models.tokens import TokenCounts
from looseleaf.window.window import count_messages

HERE = Path(__file__).parent.parent
if str(HERE) not in sys.path:
    sys.path.insert(0, str(HERE))  # the parts of this one are found from wherever it is run

from benchmarks.report import NO_GOAL, Row, options, report, some  # noqa: E402

TALKS = HERE.parent / "shared/data/tau_gpt4o_airline.json"
STREAM = "traces/main"
TOOL = "read_file"
MEGABYTE = 1 << 20
QUICK = Path("/dev/shm") if os.path.isdir("/dev/shm") else HERE
"""Where a sync costs nothing: for what a slow disk would hide, and for what has nothing to do with one."""

Record = dict[str, Any]
Told = dict[str, Any]
"""A message as an OpenAI-like provider has it."""


@contextmanager
def folder(beneath: Path = HERE) -> Iterator[Path]:
    path = Path(tempfile.mkdtemp(prefix=".bench-", dir=beneath))
    try:
        yield path
    finally:
        shutil.rmtree(path)


def timed(rounds: int, *jobs: Callable[[], object]) -> list[list[float]]:
    """The times of each job; the jobs take turns, so that a slow moment hits all of them."""
    times: list[list[float]] = [[] for _ in jobs]
    for _ in range(rounds):
        for job, seen in zip(jobs, times, strict=True):
            begin = time.perf_counter()
            job()
            seen.append(time.perf_counter() - begin)
    return times


def ratio(few: list[float], many: list[float]) -> str:
    return f"{median(many) / median(few):.2f} (mean {fmean(many) / fmean(few):.2f})"


# --- what is said --------------------------------------------------------------------------


class Speech:
    """Made-up talk: the same for the same seed, and no two pieces of it alike."""

    def __init__(self, seed: int = 7) -> None:
        self._random = Random(seed)
        syllables = [a + b for a in "bdfgklmnprstvz" for b in ("a", "e", "i", "o", "u", "an", "er", "ist")]
        self._words = [
            "".join(self._random.choices(syllables, k=self._random.randint(1, 4))) for _ in range(9000)
        ]
        self._sentences = [self._sentence() for _ in range(5000)]

    def _sentence(self) -> str:
        return " ".join(self._random.choices(self._words, k=self._random.randint(6, 18))).capitalize() + "."

    def text(self, characters: int) -> str:
        parts: list[str] = []
        size = 0
        while size < characters:
            parts.append(f"{self._random.choice(self._sentences)} ({self._random.getrandbits(32):08x})")
            size += len(parts[-1]) + 1
        return " ".join(parts)

    def rows(self, characters: int) -> list[Record]:
        """As a tool returns them."""
        found: list[Record] = []
        size = 0
        while size < characters:
            number = self._random.getrandbits(40)
            note = self._random.choice(self._sentences)
            found.append({"id": f"ORD-{number:010x}", "amount": (number % 100_000) / 100, "note": note})
            size += len(note) + 50
        return found

    def turn(self, number: int, result_characters: int) -> Iterator[dict[str, Any]]:
        """What is recorded of one turn, as `Memory.record` takes it."""
        call = f"call_{number:08d}"
        path = f"src/part_{number % 97}/module_{number}.py"
        yield {"user": self.text(150)}
        yield {"tool_call": TOOL, "tool_args": {"path": path, "lines": 200}, "tool_call_id": call}
        yield {"tool_result": self.rows(result_characters), "tool_call_id": call}
        yield {"assistant": self.text(300)}


_KINDS = {
    "user": ("LLMUserMessageReadyEvent", "user"),
    "assistant": ("LLMCompleteResponseReceivedEvent", "assistant"),
    "tool_call": ("PendingToolInvocationEvent", "assistant"),
    "tool_result": ("ToolResultEvent", "tool"),
}


def lines_of(number: int, asked: Iterable[Record]) -> Iterator[Record]:
    """The lines of one turn, as recording it would have written them. A session has fifty."""
    for seq, each in enumerate(asked, 1):
        kind = next(kind for kind in _KINDS if kind in each)
        record = {"id": new_id(), "ts": time.time(), "turn_id": f"turn_{number:04d}", "seq": seq}
        record |= {"trace_type": kind, "content": each[kind] if kind in ("user", "assistant") else ""}
        record |= zip(("source_event", "origin"), _KINDS[kind], strict=True)
        record["session_id"] = f"session-{(number - 1) // 50}"
        if "tool_call_id" in each:
            record |= {
                name: each[name] for name in ("tool_call_id", "tool_args", "tool_result") if name in each
            }
            record["tool_name"] = TOOL
        if seq == 1 and (number - 1) % 50 == 0:
            record["session_start"] = True
        yield record


def fill(path: Path, turns: int, *, compacted_every: int | None = None, result_characters: int = 300) -> None:
    """A memory of so many turns; `compacted_every` so many, the log was rotated and the window's mark moved on."""
    speech = Speech()
    parts = [list(speech.turn(number, result_characters)) for number in range(1, 1001)]
    with Memory(path) as memory:
        step = compacted_every or 2500
        for begin in range(1, turns + 1, step):
            numbers = range(begin, min(begin + step, turns + 1))
            lines = [line for number in numbers for line in lines_of(number, parts[number % 1000])]
            places = memory.parts.context.store.append(STREAM, lines)
            if compacted_every and numbers[-1] < turns:
                memory.parts.context.store.rotate(STREAM)
                last = str(lines[-1]["id"])
                mark = Mark(new_id(), "main", None, last, places[-1], (*places[-1], last), tail=(last,))
                head = {"schema": "journal.v1", "id": mark.id, "ts": time.time()}
                memory.parts.context.store.append("journal", [head | mark.to_record()])
        memory.record(user="The tally reads the log once, here.")


# --- growth: a long memory against a short one -----------------------------------------------


def recording(short: Path, long: Path) -> str:
    """One turn, each of its four traces durable."""

    def of(memory: Memory) -> Callable[[], object]:
        speech = Speech(8)
        turns = iter([list(speech.turn(number, 300)) for number in range(10**7, 10**7 + 300)])

        def job() -> None:
            for asked in next(turns):
                memory.record(**asked)

        return job

    with Memory(short) as one, Memory(long) as other:
        jobs = of(one), of(other)
        timed(3, *jobs)
        return ratio(*timed(128, *jobs))


def reading(short: Path, long: Path) -> tuple[str, str]:
    """The last 20 turns: by a memory that is open, and by one that is opened for it."""

    def opened(path: Path) -> Callable[[], object]:
        def job() -> None:
            with Memory(path) as memory:
                memory.talk.turns(20)

        return job

    with Memory(short) as one, Memory(long) as other:
        warm = ratio(*timed(100, lambda: one.talk.turns(20), lambda: other.talk.turns(20)))
    return warm, ratio(*timed(100, opened(short), opened(long)))


def growth(turns: int) -> Iterator[Row]:
    with folder(QUICK) as path:
        fill(path / "short", 100)
        for name, every in (("one long window", None), ("compacted every 200 turns", 200)):
            long = path / ("compacted" if every else "whole")
            fill(long, turns, compacted_every=every)
            sizes = f"at {turns:,} turns ({name}) against at 100"
            yield f"recording one turn, each trace durable, {sizes}", recording(path / "short", long), "≤ 1.3"
            warm, opened = reading(path / "short", long)
            yield f"reading the last 20 turns {sizes}", warm, "≤ 1.3"
            yield "the same, opening the memory for it", opened, "≤ 1.3"
            shutil.rmtree(long)


# --- messages: what is told to a model --------------------------------------------------------------


def telling() -> Iterator[Row]:
    with folder() as path:
        fill(path / "memory", 200, result_characters=200)
        raw = (path / "memory/log" / STREAM / "raw_traces.jsonl").read_bytes().splitlines()

        def parse() -> None:
            for line in raw:
                json.loads(line)

        def first() -> None:
            with Memory(path / "memory") as fresh:
                fresh.window.messages()

        with Memory(path / "memory") as memory:
            told = len(memory.window.messages())
            warm, reference = timed(50, memory.window.messages, parse)
        opened, _ = timed(15, first, parse)
        what = f"`messages()` of 200 turns ({told} messages), warm"
        yield f"{what}: milliseconds", f"{median(warm) * 1000:.2f}", "≤ 2"
        yield "the same against `json.loads` of its lines", f"{median(warm) / median(reference):.2f}", NO_GOAL
        yield "its first call, opening the memory: milliseconds", f"{median(opened) * 1000:.0f}", NO_GOAL
        yield (
            "the same against `json.loads` of its lines",
            f"{median(opened) / median(reference):.1f}",
            NO_GOAL,
        )
        nothing, process = timed(
            5, lambda: run_child("pass"), lambda: run_child(CHILD_MESSAGES, str(path / "memory"))
        )
        yield (
            "its first call, whole process, against `python -c pass`",
            f"{median(process) / median(nothing):.1f}",
            NO_GOAL,
        )


def run_child(code: str, *arguments: str) -> str:
    done = subprocess.run(
        [sys.executable, "-c", code, *arguments], check=True, stdout=subprocess.PIPE, text=True
    )
    return done.stdout


CHILD_MESSAGES = "import sys; from looseleaf import Memory; Memory(sys.argv[1]).window.messages()"


# --- kept: what a later call needs ----------------------------------------------------------------


def leaves(value: Any) -> Iterator[str]:
    """The values in a call's arguments that could come from what was said before."""
    if isinstance(value, dict):
        for each in value.values():
            yield from leaves(each)
    elif isinstance(value, list):
        for each in value:
            yield from leaves(each)
    elif isinstance(value, str | int | float) and not isinstance(value, bool) and str(value).strip():
        yield str(value)


def is_identifier(value: str) -> bool:
    """What nobody could guess or say in other words: no space in it, and a digit, a sign or only capitals."""
    return len(value) >= 3 and " " not in value and bool(re.search(r"[0-9_@/]|\A[A-Z]{3,}\Z", value))


def is_told(value: str, text: str) -> bool:
    """As a word of its own, not as a part of another."""
    return re.search(rf"(?<![A-Za-z0-9_]){re.escape(value)}(?![A-Za-z0-9_])", text) is not None


def replay(memory: Memory, messages: Iterable[Told]) -> None:
    with memory.batch() as batch:
        for message in messages:
            if message["role"] == "user":
                batch.record(user=message["content"])
            elif message["role"] == "tool":
                batch.record(tool_result=message["content"], tool_call_id=message["tool_call_id"])
            elif message["role"] == "assistant":
                if message.get("content"):
                    batch.record(assistant=message["content"])
                for call in message.get("tool_calls") or ():
                    function = call["function"]
                    arguments = json.loads(function["arguments"])
                    batch.record(tool_call=function["name"], tool_args=arguments, tool_call_id=call["id"])


def needed_later(messages: Iterable[Told]) -> set[str]:
    calls = [call for message in messages for call in message.get("tool_calls") or ()]
    return {leaf for call in calls for leaf in leaves(json.loads(call["function"]["arguments"]))}


def middle(talk: list[Told], *, within_turn: bool) -> int:
    """Where a talk is cut: in its middle; or there where a turn begins, just after the user spoke."""
    half = len(talk) // 2
    spoke = [place + 1 for place, message in enumerate(talk) if message["role"] == "user"]
    return half if within_turn else min(spoke, key=lambda place: abs(place - half))


LEAST_CONTEXT = 1_000
"""No model has a smaller one."""


class Kept:
    """What a compaction left of what later calls need, and of the tokens; over several talks."""

    def __init__(self) -> None:
        self.talks = self.compacted = self.before = self.after = self.held = 0
        self.needed = {"identifiers": 0, "values": 0}
        self.told = {"identifiers": 0, "values": 0}

    def share(self, kind: str) -> str:
        return f"{self.told[kind] / max(1, self.needed[kind]):.3f} of {self.needed[kind]}"

    def take(self, path: Path, agent: str, talk: list[Told], cut: int, policy: Policy) -> None:
        with Memory(path, agent=agent, policy=policy) as memory:
            replay(memory, talk[:cut])
            full, before = texts(memory.window.read().messages), memory.window.tokens()
            memory.window.request_compaction()
            left = texts(memory.window.messages())
            window = memory.window.read()
            self.talks += 1
            self.compacted += window.mark is not None
            self.before += before
            self.after += memory.window.tokens()
            raw = window.messages[window.mark is not None :]
            self.held += count_messages(raw, TokenCounts(None).count)
        for value in needed_later(talk[cut:]):
            if is_told(value, full):
                for kind in ("identifiers", "values") if is_identifier(value) else ("values",):
                    self.needed[kind] += 1
                    self.told[kind] += is_told(value, left)


def texts(messages: Iterable[Message]) -> str:
    return "\n".join(text for message in messages for text in texts_of(message))


def compacted(
    talks: list[list[Told]], policy: Policy, *, within_turn: bool = False, full: bool = False
) -> Kept:
    """`full`: with a context so small that the window was about to be compacted anyway."""
    kept = Kept()
    with folder(QUICK) as path:
        for number, talk in enumerate(talks):
            cut = middle(talk, within_turn=within_turn)
            if full:
                with Memory(path / "memory", agent=f"size-{number}") as memory:
                    replay(memory, talk[:cut])
                    context = int(memory.window.tokens() / 0.8) + 2
                if context < LEAST_CONTEXT:
                    continue
                policy = Policy(
                    tail_turns=policy.tail_turns, context_tokens=context, max_tokens=1, safety_margin_tokens=1
                )
            kept.take(path / "memory", f"agent-{number}", talk, cut, policy)
    return kept


def remembering() -> Iterator[Row]:
    if not TALKS.exists():
        yield "what real calls need later, after a compaction", f"skipped: no {TALKS.name}", "≥ 0.99"
        return
    talks: list[list[Told]] = [each["traj"] for each in json.loads(TALKS.read_text())]
    all_of_it = Policy(tail_turns=0)
    for kept, when, share, size in (
        (compacted(talks, all_of_it), "before a turn, all but the new message compacted", "≥ 0.99", "≤ 0.45"),
        (
            compacted(talks, all_of_it, within_turn=True),
            "within a turn, all before it compacted",
            "≥ 0.99",
            "≤ 0.45",
        ),
        (compacted(talks, Policy()), "before a turn, the last four left as they are", NO_GOAL, NO_GOAL),
        (
            compacted(talks, all_of_it, full=True),
            "before a turn, in a context that is nearly full",
            NO_GOAL,
            NO_GOAL,
        ),
    ):
        what = f"real talks cut in the middle, {when} ({kept.compacted} of {kept.talks} had something to compact)"
        yield f"{what}: identifiers that later calls use, still told", kept.share("identifiers"), share
        yield "the same of all values that later calls use", kept.share("values"), NO_GOAL
        yield "tokens of the windows after, against before", f"{kept.after / kept.before:.2f}", size
        if share != NO_GOAL and kept.held > kept.before // 10:
            part = (kept.after - kept.held) / max(1, kept.before - kept.held)
            yield "the same without the current turn, which may not be compacted", f"{part:.2f}", NO_GOAL


# --- prefix: what a provider's cache sees -----------------------------------------------------------


def common(one: list[str], other: list[str]) -> int:
    """Characters of the longest beginning that two prompts share."""
    size = 0
    for left, right in zip(one, other, strict=False):
        if left != right:
            pairs = zip(left, right, strict=False)
            return size + next((n for n, (a, b) in enumerate(pairs) if a != b), min(len(left), len(right)))
        size += len(left)
    return size


def stillness(turns: int = 300) -> Iterator[Row]:
    shares: list[tuple[int, int, bool]] = []
    speech = Speech(9)
    previous: list[str] = []
    marks: list[str | None] = [None]

    def tell(memory: Memory) -> None:
        nonlocal previous
        prompt = [
            json.dumps(message.to_dict(), ensure_ascii=False)
            for message in memory.window.messages("Be brief.")
        ]
        mark = memory.window.read().mark
        is_compacted = (mark.id if mark else None) != marks[-1]
        if is_compacted:
            marks.append(mark.id if mark else None)
        if previous:
            shares.append((common(previous, prompt), sum(map(len, previous)), is_compacted))
        previous = prompt

    with folder() as path, Memory(path / "memory", policy=Policy(**CONTEXT)) as memory:
        for number in range(1, turns + 1):
            memory.record(user=speech.text(150))
            tell(memory)
            for step in (1, 2):
                call = f"call_{number}_{step}"
                memory.record(tool_call="search", tool_args={"query": speech.text(40)}, tool_call_id=call)
                memory.record(tool_result=speech.rows(400), tool_call_id=call)
                tell(memory)
            memory.record(assistant=speech.text(300))
            memory.window.report_usage(prompt_tokens=memory.window.tokens("Be brief."))
    between = [(same, size) for same, size, is_compacted in shares if not is_compacted]
    share = sum(same for same, _ in between) / sum(size for _, size in between)
    whole = sum(same for same, _, _ in shares) / sum(size for _, size, _ in shares)
    what = f"prefix of the previous prompt unchanged, {turns} turns with tools, {len(marks) - 1} compactions"
    yield f"{what}: between compactions", f"{share:.3f}", "≥ 0.95"
    yield "the same, the worst call", f"{min(same / size for same, size in between):.3f}", NO_GOAL
    yield "the same, compactions included", f"{whole:.3f}", NO_GOAL


CONTEXT: dict[str, Any] = {"context_tokens": 80_000, "max_tokens": 4_000, "safety_margin_tokens": 1_000}
"""So that 300 turns are three compactions."""


# --- peak: how much memory a compaction takes -----------------------------------------------------


def fill_bytes(path: Path, size: int) -> None:
    """One window of so many bytes: short talk, results of some kilobytes, now and then one of a hundred."""
    speech, chance = Speech(10), Random(11)
    with Memory(path) as memory:
        written, number, waiting = 0, 0, list[Record]()
        while written < size:
            number += 1
            characters = chance.choices((300, 4_000, 20_000, 100_000), (40, 40, 12, 8))[0]
            waiting += lines_of(number, speech.turn(number, characters))
            written += characters + 1_500
            if len(waiting) >= 400:
                memory.parts.context.store.append(STREAM, waiting)
                waiting = []
        memory.parts.context.store.append(STREAM, waiting)


CHILD_COMPACT = """
import json, sys, time
from looseleaf import Memory

def peak():
    # Not ru_maxrss: that of a child begins with what its parent had.
    with open("/proc/self/status") as status:
        return next(int(line.split()[1]) for line in status if line.startswith("VmHWM")) * 1024

Memory(sys.argv[1], agent="idle").window.tokens("This loads the vocabulary.")
memory = Memory(sys.argv[1])
idle, begin = peak(), time.perf_counter()
if sys.argv[2] == "compact":
    assert memory.window.compact() is not None
else:
    memory.window.messages()
print(json.dumps([peak() - idle, idle, time.perf_counter() - begin]))
"""


def peak(megabytes: int) -> Iterator[Row]:
    if not os.path.exists("/proc/self/status"):
        yield "peak memory of a compaction", "skipped: no /proc here", "≤ 150"
        return
    for how, size, goal in (("compact", megabytes, "≤ 150"), ("messages", megabytes // 20, NO_GOAL)):
        with folder() as path:
            fill_bytes(path / "memory", size * MEGABYTE)
            over, idle, seconds = json.loads(run_child(CHILD_COMPACT, str(path / "memory"), how))
        what = f"`{how}()` of a window of {size} MB that was never compacted: memory over an idle process, MB"
        yield what, f"{over / MEGABYTE:.0f} (idle {idle / MEGABYTE:.0f}; {size / seconds:.1f} MB/s)", goal


# --- the table -----------------------------------------------------------------------------------


def main() -> None:
    parser = options(__doc__)
    parser.add_argument("--only", action="append", choices=("growth", "messages", "kept", "prefix", "peak"))
    parser.add_argument("--turns", type=int, default=100_000)
    parser.add_argument("--megabytes", type=int, default=200)
    asked = parser.parse_args()
    parts: dict[str, Callable[[], Iterator[Row]]] = {
        "growth": lambda: growth(asked.turns),
        "messages": telling,
        "kept": remembering,
        "prefix": stillness,
        "peak": lambda: peak(asked.megabytes),
    }
    report("window", some(parts, asked.only), save=asked.save)


if __name__ == "__main__":
    main()
