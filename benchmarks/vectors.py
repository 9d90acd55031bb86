"""How finding by meaning compares with a plain numpy product over the same vectors, in turns, as ratios.

    python benchmarks/vectors.py                   10,000 and 100,000 vectors
    python benchmarks/vectors.py --sizes 1000000   others (a million takes 2 GB of disk)

The vectors are random, which is the hardest case for skipping rows: real ones lie further apart. The reference maps a
file of the same float32 rows, multiplies, and takes the best; it keeps no marks, forgets nothing and adds nothing.
Texts for the speed of embedding are made of common words.
"""

from __future__ import annotations

import argparse
import os
import random
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from statistics import median
from typing import Any

import numpy

from looseleaf.errors import Refused
from looseleaf.index import nearest
from looseleaf.index.embed import minilm
from looseleaf.index.vectors import Vectors

HERE = Path(__file__).parent.parent
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
    from looseleaf.index.vectors import Vectors
    Vectors(folder, "random").search(query, 100)
else:
    scores = numpy.memmap(rows, dtype=numpy.float32, mode="r").reshape(-1, 384) @ query
    numpy.argpartition(scores, -100)[-100:]
print((resident() - before) // 1024)
"""


@contextmanager
def folder() -> Iterator[Path]:
    path = Path(tempfile.mkdtemp(prefix=".bench-", dir=HERE))
    try:
        yield path
    finally:
        shutil.rmtree(path)


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


def fill(path: Path, count: int) -> tuple[Vectors, Path]:
    """Ours, and a plain file of the same rows."""
    vectors, plain, step = Vectors(str(path / "vectors"), "random"), path / "plain", 20_000
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


def searched(count: int) -> None:
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
        print(f"\n{count:,} vectors of {DIMENSIONS}, the best {TOP}")
        print(f"  the same ones as the product finds     {same / 5 / TOP:8.1%}")
        print(
            f"  search, to the product                 {seconds / reference:8.2f}x   ({1e3 * seconds:.0f} ms here)"
        )
        print(f"  … without the int8 rows                {plainly / reference:8.2f}x")
        runs = [(cold(path, plain, "ours"), cold(path, plain, "plain")) for _ in range(3)]
        ratio = median(one[0] for one, _ in runs) / median(other[0] for _, other in runs)
        print(f"  a process that searches once           {ratio:8.2f}x")
        print(f"  memory of that search, MB              {runs[0][0][1]:8,} (the product: {runs[0][1][1]:,})")
        size = sum(file.stat().st_size for file in Path(vectors.path).iterdir())
        print(
            f"  bytes a vector, to float32             {size / (4 * DIMENSIONS * count):8.2f}x   ({size / count:,.0f})"
        )
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
        print(
            f"  adding 1,000, to a bare synced append  {added / appended:8.2f}x   ({1e3 * added:.0f} ms here)"
        )


def embedded() -> None:
    try:
        start = time.perf_counter()
        model = minilm()
        model(["What did I say about the parser?"])
        first = time.perf_counter() - start
    except Refused as refused:
        print(f"\nThe speed of embedding is not measured. {refused}")
        return
    chance = random.Random(0)
    common = "the parser was written again last march because it lost every second comment and nobody knew why".split()
    print(
        f"\nembedding: ready, and the first question, {1e3 * first:.0f} ms here (numpy being loaded already)"
    )
    for words in (10, 30, 100):
        texts = [" ".join(chance.choices(common, k=words)) for _ in range(96)]
        start = time.process_time()
        model(texts)
        seconds = time.process_time() - start
        print(f"  texts of {words:3} words: {len(texts) / seconds:5.0f} in a second of one core")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0] if __doc__ else None)
    parser.add_argument("--sizes", type=int, nargs="+", default=[10_000, 100_000])
    for count in parser.parse_args().sizes:
        searched(count)
    embedded()


if __name__ == "__main__":
    main()
