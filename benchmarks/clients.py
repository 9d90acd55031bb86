"""What our hooks and our server add to a turn of a real coding agent, which a scripted provider answers at once.

    python benchmarks/clients.py            prints the table
    python benchmarks/clients.py --save     keeps the figures in results.json as well
    python benchmarks/clients.py --quick    one round: whether it runs, not what it costs

Whole runs of `claude -p` and `codex exec`, each a session of one turn: with hooks and server, and without either. They
take turns, because machines are noisy; the ratio and the difference are medians of what each took beside its
neighbour. `make test-clients` installs the programs; LOOSELEAF_CLIENTS says where they are if not in .clients.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from pathlib import Path
from statistics import median

HERE = Path(__file__).parent.parent
for place in (str(HERE), str(HERE / "tests")):  # the parts of this one are found from wherever it is run
    if place not in sys.path:
        sys.path.insert(0, place)

from benchmarks.recall import Times  # noqa: E402
from benchmarks.report import NO_GOAL, Row, nothing_measured, options, report  # noqa: E402

from clients.driver import Project, found, project  # noqa: E402

CLIENTS = Path(os.environ.get("LOOSELEAF_CLIENTS") or HERE / ".clients")
RUNS = {"claude": "`claude -p`", "codex": "`codex exec`"}
ROUNDS = 20


def measured(client: str, rounds: int) -> Iterator[Row]:
    what = RUNS[client]
    with (
        project(CLIENTS, hooks=(client,)) as ours,
        project(CLIENTS, hooks=(), server=None) as bare,
    ):
        for each in (ours, bare):  # what a program does in its first run only
            turn(each, client)
        times, beside, offered = Times(), Times(), 0
        for _ in range(rounds):
            beside.run(turn, bare, client)
            before = len(ours.requests())
            times.run(turn, ours, client)
            offered += any(name.endswith("remember") for name in ours.requests()[before].tools)
    added = [one - other for one, other in zip(times.clock, beside.clock, strict=True)]
    yield f"{what} with hooks and server, against without", times.against(beside), NO_GOAL
    spread = f"{1000 * min(added):.0f} to {1000 * max(added):.0f}"
    yield "the same, milliseconds added", f"{1000 * median(added):.0f} ({spread})", NO_GOAL
    yield f"{what}: runs with our tools in their first request", f"{offered} of {rounds}", str(rounds)


def turn(each: Project, client: str) -> None:
    getattr(each, client)("What is left to be done?")


def main(arguments: list[str] | None = None) -> None:
    parser = options(__doc__)
    parser.add_argument("--quick", action="store_true")
    asked = parser.parse_args(arguments)
    there = [client for client in RUNS if found(client, CLIENTS) is not None]
    if not there:
        nothing_measured(f"no coding agent is in {CLIENTS}; `make test-clients` installs them")
    rows = (row for client in there for row in measured(client, 1 if asked.quick else ROUNDS))
    report("clients", rows, save=asked.save)


if __name__ == "__main__":
    main()
