"""How finding by meaning compares with a plain numpy product over the same vectors, in turns, as ratios.

    python benchmarks/vectors.py                   10,000 and 100,000 vectors
    python benchmarks/vectors.py --save            keeps the figures in results.json as well
    python benchmarks/vectors.py --sizes 1000000   others (a million takes 2 GB of disk)

The vectors are random, which is the hardest case for skipping rows: real ones lie further apart. The reference maps a
file of the same float32 rows, multiplies, and takes the best; it keeps no marks, forgets nothing and adds nothing.
Texts for the speed of embedding are made of common words.
"""

from __future__ import annotations

import os
import random
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from itertools import chain
from pathlib import Path
from statistics import median
from typing import Any

HERE = Path(__file__).parent.parent
if str(HERE) not in sys.path:
    sys.path.insert(0, str(HERE))  # the parts of this one are found from wherever it is run

from benchmarks.report import NO_GOAL, SKIPPED, Row, nothing_measured, options, report  # noqa: E402
from benchmarks.window import folder  # noqa: E402

try:
    import numpy
except ImportError:
    nothing_measured("numpy is not installed (extra `semantic`)")

from looseleaf.base.errors import Refused  # noqa: E402
from looseleaf.index import nearest  # noqa: E402
from looseleaf.index.embed import minilm  # noqa: E402
from looseleaf.index.vectors import FileVectors  # noqa: E402

DIMENSIONS, TOP, ROUNDS = 384, 100, 15

COLD = """
import sys, numpy
folder, rows, way = sys.argv[1:]
query = numpy.random.default_rng(5).standard_normal(384, dtype=numpy.float32)
def resident():
    with open("/proc/self/status") as file:
        return next(int(line.split()[1]) for line in file if line.startswith("VmHWM"))
before = resident()
if way == "ours":
    from looseleaf.index.vectors import FileVectors
    FileVectors(folder, "random").search(query, 100)
else:
    scores = numpy.memmap(rows, dtype=numpy.float32, mode="r").reshape(-1, 384) @ query
    numpy.argpartition(scores, -100)[-100:]
print((resident() - before) // 1024)
"""


def some(count: int, seed: int) -> Any:
    rows = numpy.random.default_rng(seed).standard_normal((count, DIMENSIONS), dtype=numpy.float32)
    return rows / numpy.linalg.norm(rows, axis=1, keepdims=True)


def in_turns(*ways: Callable[[], object], rounds: int = ROUNDS) -> list[float]:
    """The median seconds of each, run one after the other in every round."""
    times: list[list[float]] = [[] for _ in ways]
    for each in range(rounds + 1):
        for way, seconds in zip(ways, times, strict=True):
            start = time.perf_counter()
            way()
            if each:  # the first one warms
                seconds.append(time.perf_counter() - start)
    return [median(seconds) for seconds in times]


def fill(path: Path, count: int) -> tuple[FileVectors, Path]:
    """Ours, and a plain file of the same rows."""
    vectors, plain, step = FileVectors(str(path / "vectors"), "random"), path / "plain", 20_000
    with plain.open("wb") as file:
        for first in range(0, count, step):
            rows = some(min(step, count - first), first)
            vectors.add(range(first + 1, first + len(rows) + 1), rows)
            rows.tofile(file)
    return vectors, plain


def cold(path: Path, plain: Path, way: str) -> tuple[float, int]:
    """Seconds of a process that searches once, and the megabytes that it took for that."""
    start = time.perf_counter()
    ran = subprocess.run(
        [sys.executable, "-c", COLD, str(path / "vectors"), str(plain), way],
        check=True,
        capture_output=True,
        text=True,
    )
    return time.perf_counter() - start, int(ran.stdout)


def searched(count: int) -> Iterator[Row]:
    with folder() as path:
        vectors, plain = fill(path, count)
        rows = numpy.memmap(plain, dtype=numpy.float32, mode="r").reshape(-1, DIMENSIONS)
        queries = iter(some(10 * ROUNDS + 20, 1))
        query: Any = next(queries)

        def another() -> None:
            nonlocal query
            query = next(queries)

        def product() -> Any:
            scores = rows @ query
            best = numpy.argpartition(scores, count - TOP)[count - TOP :]
            return best[numpy.argsort(-scores[best])] + 1

        def ours() -> list[tuple[int, float]]:
            return vectors.search(query, TOP)

        def float32_only() -> object:
            before, nearest.SCAN_FROM = nearest.SCAN_FROM, count + 1
            try:
                return ours()
            finally:
                nearest.SCAN_FROM = before

        same = 0
        for _ in range(5):
            another()
            same += len({each for each, _ in ours()} & set(product().tolist()))
        _, reference, seconds, plainly = in_turns(another, product, ours, float32_only)
        what = f"the best {TOP} of {count:,} vectors of {DIMENSIONS}, against a numpy product"
        yield what, f"{seconds / reference:.2f} ({1e3 * seconds:.0f} ms)", NO_GOAL
        yield "the same ones as the product finds", f"{same / 5 / TOP:.3f}", NO_GOAL
        yield "the same without the int8 rows", f"{plainly / reference:.2f}", NO_GOAL
        runs = [(cold(path, plain, "ours"), cold(path, plain, "plain")) for _ in range(3)]
        ratio = median(one[0] for one, _ in runs) / median(other[0] for _, other in runs)
        yield "a process that searches once, against one that multiplies", f"{ratio:.2f}", NO_GOAL
        yield "memory of that search, MB", f"{runs[0][0][1]:,} (the product {runs[0][1][1]:,})", NO_GOAL
        size = sum(file.stat().st_size for file in Path(vectors.path).iterdir())
        whole = size / (4 * DIMENSIONS * count)
        yield "bytes a vector, against float32", f"{whole:.2f} ({size / count:,.0f})", NO_GOAL
        new, numbers = some(1000, 99), iter(range(10 * count, 20 * count, 1000))

        def append() -> None:
            with (path / "appended").open("ab") as file:
                new.tofile(file)
                file.flush()
                os.fsync(file.fileno())

        def add() -> None:
            first = next(numbers)
            vectors.add(range(first, first + 1000), new)

        appended, added = in_turns(append, add, rounds=5)
        took = f"{added / appended:.2f} ({1e3 * added:.0f} ms)"
        yield "adding 1,000, against a bare synced append", took, NO_GOAL


def embedded() -> Iterator[Row]:
    try:
        start = time.perf_counter()
        model = minilm()
        model(["What did I say about the parser?"])
        first = time.perf_counter() - start
    except Refused as refused:
        yield "texts embedded in a second of one core", f"{SKIPPED}: {refused}", NO_GOAL
        return
    chance = random.Random(0)
    common = "the parser was written again last march because it lost every second comment and nobody knew why".split()
    yield "the embedder loaded, and one question embedded: milliseconds", f"{1e3 * first:.0f}", NO_GOAL
    for words in (10, 30, 100):
        texts = [" ".join(chance.choices(common, k=words)) for _ in range(96)]
        start = time.process_time()
        model(texts)
        seconds = time.process_time() - start
        yield (
            f"texts of {words} words embedded in a second of one core",
            f"{len(texts) / seconds:.0f}",
            NO_GOAL,
        )


def main() -> None:
    parser = options(__doc__)
    parser.add_argument("--sizes", type=int, nargs="+", default=[10_000, 100_000])
    asked = parser.parse_args()
    rows = chain(*(searched(count) for count in asked.sizes), embedded())
    report("vectors", rows, save=asked.save)


if __name__ == "__main__":
    main()
