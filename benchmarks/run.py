"""Every benchmark, one after the other, each in a process of its own; then the tables and plots of what they measured.

    python benchmarks/run.py                 all of them, in three quarters of an hour
    python benchmarks/run.py --full          and larger sizes, which take hours
    python benchmarks/run.py --only NAME     that one; may be given again
    python benchmarks/run.py --envs FOLDER   where the environments of other memories are, or are made

One that fails, or has nothing to measure with, is said and stops nobody; what it had measured before stays in
results.json with its day. The exit code is 1 if any failed.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).parent.parent
if str(HERE) not in sys.path:
    sys.path.insert(0, str(HERE))  # the parts of this one are found from wherever it is run

from benchmarks.report import NOTHING  # noqa: E402


@dataclass(frozen=True)
class Job:
    name: str
    arguments: tuple[str, ...] = ()
    full: tuple[str, ...] = ()
    """Instead, for the larger sizes."""

    def command(self, *, is_full: bool, envs: Path | None) -> list[str]:
        path = "peers/run" if self.name == "peers" else self.name
        given = self.full if is_full and self.full else self.arguments
        where = ["--envs", str(envs)] if self.name == "peers" and envs is not None else []
        return [sys.executable, str(HERE / f"benchmarks/{path}.py"), "--save", *given, *where]


JOBS = (
    Job("identity"),
    Job("redaction"),
    Job("learn"),
    Job("model"),
    Job("chains"),
    Job("store", ("--lines", "300000"), ("--lines", "1000000")),
    Job("window", ("--turns", "20000", "--megabytes", "60"), ("--turns", "100000")),
    Job("build"),
    Job("growth", (), ("--sizes", "1000", "10000", "100000", "--limit", "3600")),
    Job("prompt"),
    Job("layers"),
    Job("belonging"),
    Job("merge"),
    Job("locomo"),
    Job("bearing"),
    Job("recall", (), ("--full",)),
    Job("vectors", (), ("--sizes", "10000", "100000", "1000000")),
    Job("hook"),
    Job("server"),
    Job("rest"),
    Job("screens", (), ("--turns", "100000")),
    Job("page", (), ("--turns", "100000")),
    Job("postgres"),
    Job("postgres_search"),
    Job("workers"),
    Job("crowd", ("--memories", "1000", "--seconds", "120"), ("--memories", "10000", "--seconds", "600")),
    Job("clients"),
    Job("agent"),
    Job("cold"),
    Job("peers"),
)
"""In this order: what measures right and wrong first, what measures time on a machine that is warm."""


def spent() -> float:
    """Processor time of all that was run: on a busy machine it says more than the clock."""
    if sys.platform == "win32":
        return 0.0
    import resource

    children = resource.getrusage(resource.RUSAGE_CHILDREN)
    return children.ru_utime + children.ru_stime


def run(jobs: tuple[Job, ...], *, is_full: bool, envs: Path | None) -> dict[str, str]:
    """How each ended: done, skipped or failed, and how long it took."""
    ended = {}
    for job in jobs:
        print(f"--- {job.name}", flush=True)
        began, before = time.monotonic(), spent()
        code = subprocess.run(job.command(is_full=is_full, envs=envs), cwd=HERE, check=False).returncode
        how = {0: "done", NOTHING: "skipped"}.get(code, f"failed ({code})")
        took = time.monotonic() - began
        ended[job.name] = f"{how}, {took:.0f} s (processor {spent() - before:.0f} s)"
        print(f"--- {job.name}: {ended[job.name]}", flush=True)
    return ended


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    there = tuple(job for job in JOBS if Path(job.command(is_full=False, envs=None)[1]).exists())
    parser.add_argument("--full", action="store_true")
    parser.add_argument("--only", action="append", choices=[job.name for job in there])
    parser.add_argument("--envs", type=Path)
    asked = parser.parse_args(arguments)
    jobs = tuple(job for job in there if not asked.only or job.name in asked.only)
    began = time.monotonic()
    ended = run(jobs, is_full=asked.full, envs=asked.envs)
    subprocess.run([sys.executable, str(HERE / "benchmarks/readme.py")], cwd=HERE, check=True)
    print(*(f"{name:10} {how}" for name, how in ended.items()), sep="\n")
    print(f"{(time.monotonic() - began) / 60:.1f} minutes in all, {spent() / 60:.1f} of the processor")
    return int(any("failed" in how for how in ended.values()))


if __name__ == "__main__":
    sys.exit(main())
