"""A crowd: many memories in one database, asked by several processes at once, while workers distill.

    python benchmarks/crowd.py                          10,000 memories, 8 processes, 4 workers, ten minutes
    python benchmarks/crowd.py --seconds 60 --memories 500
    python benchmarks/crowd.py --save                   keeps the figures in results.json as well

Each process stands for a server: it keeps some memories open and takes requests one by one, for memories that are asked
for unevenly (Zipf: few are busy, most are quiet). Of a hundred requests, seventy record, fifteen ask for a prompt, and
fifteen recall. At the end every acknowledged message is looked for in the database. The load is as much as this machine
gives: the figures say where it ends, and that nothing is lost there.
"""

from __future__ import annotations

import multiprocessing
import os
import random
import subprocess
import sys
import time
from collections import Counter, OrderedDict
from collections.abc import Iterator
from pathlib import Path
from statistics import median, quantiles
from typing import Any

HERE = Path(__file__).parent.parent
if str(HERE) not in sys.path:
    sys.path.insert(0, str(HERE))  # the parts of this one are found from wherever it is run

from benchmarks.postgres import Addresses, own_server  # noqa: E402
from benchmarks.report import NO_GOAL, Row, options, report  # noqa: E402

from looseleaf.base.errors import Busy, Refused  # noqa: E402

OPEN = 500
"""Memories that a process keeps open."""

SKEW = 1.1
FIRST = 10
"""Messages that each memory has before."""

SAID = (
    "I live in Lyon and work as a nurse, mostly nights.",
    "We decided to keep the old parser until March.",
    "My sister is called Zora; she comes on Thursday.",
    "Please answer in short sentences.",
    "The deadline of the heron project is 30 September.",
    "I don't like coriander, but I love mint.",
    "What did we say about the parser?",
    "The build was red again this morning, because of the clock in the tests.",
)
ASKED = ("Where do I live?", "What did we decide about the parser?", "When is the deadline?", "Who is Zora?")


def namespace(number: int) -> str:
    return f"crowd/{number:05d}"


def _fill(addresses: Any, numbers: range, done: Any) -> None:
    from looseleaf import Memory

    for number in numbers:
        with Memory(addresses.memory(namespace(number))) as memory:
            with memory.batch() as batch:
                for at in range(FIRST):
                    batch.record(user=SAID[(number + at) % len(SAID)])
            memory.pages.edit("facts/garden.md", f"# Garden\n\n- Tree: quince {number}\n", reason="begun")
    done.put(len(numbers))


class Doors:
    """The memories that a process has open, the last asked for last."""

    def __init__(self, addresses: Any) -> None:
        self._addresses = addresses
        self._open: OrderedDict[int, Any] = OrderedDict()

    def memory(self, number: int) -> Any:
        from looseleaf import Memory

        found = self._open.pop(number, None) or Memory(self._addresses.memory(namespace(number)))
        self._open[number] = found
        if len(self._open) > OPEN:
            self._open.popitem(last=False)[1].close()
        return found

    def close(self) -> None:
        for memory in self._open.values():
            memory.close()


def _serve(addresses: Any, weights: list[float], seed: int, seconds: float, gate: Any, done: Any) -> None:
    """Take requests for a while; tell what was acknowledged, how long each kind took, and what was refused."""
    chance = random.Random(seed)
    doors = Doors(addresses)
    times: dict[str, list[float]] = {"record": [], "prompt": [], "recall": []}
    recorded: Counter[int] = Counter()
    refused: Counter[str] = Counter()
    numbers = range(len(weights))
    gate.wait()
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        for number in chance.choices(numbers, cum_weights=weights, k=50):
            kind = chance.choices(("record", "prompt", "recall"), weights=(70, 15, 15))[0]
            begin = time.perf_counter()
            try:
                memory = doors.memory(number)
                if kind == "record":
                    memory.record(user=chance.choice(SAID))
                    recorded[number] += 1
                elif kind == "prompt":
                    memory.prompt("Plan my week.", budget=4000)
                else:
                    memory.recall(chance.choice(ASKED), k=5)
            except Busy as busy:
                refused[str(busy)[:80]] += 1
                continue
            except Refused as error:
                refused[f"{type(error).__name__}: {str(error)[:120]}"] += 1
                continue
            times[kind].append(1000 * (time.perf_counter() - begin))
    size = _resident()
    doors.close()
    done.put((times, dict(recorded), dict(refused), size))


def _resident() -> int:
    try:
        return int(Path("/proc/self/statm").read_text("ascii").split()[1]) * os.sysconf("SC_PAGE_SIZE") >> 20
    except OSError:
        return 0


def _run(target: Any, given: list[tuple[Any, ...]], done: Any) -> list[Any]:
    context = multiprocessing.get_context("spawn")
    processes = [context.Process(target=target, args=each) for each in given]
    for process in processes:
        process.start()
    told = [done.get() for _ in processes]
    for process in processes:
        process.join()
    return told


def crowd(server: Any, memories: int, processes: int, workers: int, seconds: float) -> Iterator[Row]:
    addresses = Addresses(server)
    context = multiprocessing.get_context("spawn")
    done = context.Queue()
    begin = time.monotonic()
    share = -(-memories // processes)
    parts = [range(at, min(at + share, memories)) for at in range(0, memories, share)]
    _run(_fill, [(addresses, part, done) for part in parts], done)
    took = time.monotonic() - begin
    told = f"{memories:,} ({took:.0f} s, {memories / took:,.0f} a second)"
    yield f"memories made, with {FIRST} messages and a page each", told, NO_GOAL

    weights, total = [], 0.0
    order = random.Random(7).sample(range(1, memories + 1), memories)
    for rank in order:
        total += rank**-SKEW
        weights.append(total)
    running = [
        subprocess.Popen(
            [sys.executable, "-m", "looseleaf", "worker", "--postgres", addresses.program],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        for _ in range(workers)
    ]
    gate = context.Barrier(processes)
    served = [(addresses, weights, seed, seconds, gate, done) for seed in range(processes)]
    told_by = _run(_serve, served, done)
    waiting = _figures(addresses)
    for worker in running:
        worker.terminate()
    for worker in running:
        worker.wait(60)

    times: dict[str, list[float]] = {"record": [], "prompt": [], "recall": []}
    recorded: Counter[int] = Counter()
    refused: Counter[str] = Counter()
    for own_times, own_recorded, own_refused, _ in told_by:
        for kind, found in own_times.items():
            times[kind] += found
        recorded.update(own_recorded)
        refused.update(own_refused)
    count = sum(map(len, times.values()))
    yield (
        f"requests a second, by {processes} processes",
        f"{count / seconds:,.0f} ({count:,} in all)",
        NO_GOAL,
    )
    for kind, found in times.items():
        high = quantiles(found, n=100)[-1]
        yield f"{kind}: p50, p99", f"{median(found):.1f} ms, {high:.0f} ms ({len(found):,})", NO_GOAL
    yield "requests refused", f"{sum(refused.values()):,} ({'; '.join(refused) or 'none'})", NO_GOAL
    lost, doubled = _compare(server, recorded)
    yield "acknowledged messages that are not there", f"{lost} of {sum(recorded.values()):,}", "0"
    yield "messages that stand more often than they were acknowledged", str(doubled), NO_GOAL
    yield "memories that were asked for", f"{len(recorded):,}", NO_GOAL
    yield "megabytes of a process, at most", str(max(size for *_, size in told_by)), NO_GOAL
    for name, figure in waiting.items():
        yield f"jobs: {name}", str(figure), NO_GOAL


def _figures(addresses: Any) -> dict[str, Any]:
    from looseleaf.store.postgres.address import parse_address
    from looseleaf.store.postgres.database import database_at
    from looseleaf.work.queue import figures

    return dict(figures(database_at(parse_address(addresses.program))))


def _compare(server: Any, recorded: Counter[int]) -> tuple[int, int]:
    """Count what is missing and what is too much, by the rows of the database."""
    import psycopg

    from looseleaf.store.postgres.embedded import SUPERUSER

    query = (
        "SELECT k.namespace, count(*) FROM looseleaf.memories k JOIN looseleaf.streams s USING (memory) "
        "JOIN looseleaf.records r USING (memory, stream) WHERE s.name = 'traces/main' GROUP BY k.namespace"
    )
    with psycopg.connect(server.address(SUPERUSER)) as wire:
        there = {str(name): int(count) - FIRST for name, count in wire.execute(query)}
    found = [there.get(namespace(number), 0) - count for number, count in recorded.items()]
    return -sum(each for each in found if each < 0), sum(each for each in found if each > 0)


def main(arguments: list[str] | None = None) -> None:
    parser = options(__doc__)
    parser.add_argument("--memories", type=int, default=10_000)
    parser.add_argument("--processes", type=int, default=8)
    parser.add_argument("--workers", type=int, default=4)
    parser.add_argument("--seconds", type=float, default=600.0)
    asked = parser.parse_args(arguments)
    with own_server(max_connections="300") as server:
        rows = crowd(server, asked.memories, asked.processes, asked.workers, asked.seconds)
        report("crowd", rows, save=asked.save)


if __name__ == "__main__":
    main()
