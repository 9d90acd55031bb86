"""What jobs cost in PostgreSQL: asking for one, handing it out, and each kind, with a turn to distill in each memory.

    python benchmarks/workers.py             prints the table, with a server of its own
    python benchmarks/workers.py ADDRESS     in migrated tables without jobs, as the role that memories are used by
    python benchmarks/workers.py --quick

The first run of `distill` distills a turn by rules; the second finds nothing to do, as the other kinds mostly do.
"""

from __future__ import annotations

import logging
import sys
import time
from collections.abc import Iterator
from pathlib import Path

HERE = Path(__file__).parent.parent
if str(HERE) not in sys.path:
    sys.path.insert(0, str(HERE))  # the parts of this one are found from wherever it is run

from benchmarks.postgres import database  # noqa: E402
from benchmarks.report import NO_GOAL, Row, options, report  # noqa: E402

from looseleaf import Memory  # noqa: E402
from looseleaf.store.postgres.address import Address, parse_address  # noqa: E402
from looseleaf.store.postgres.database import Database, database_at  # noqa: E402
from looseleaf.store.postgres.store import PostgresStore  # noqa: E402
from looseleaf.work.queue import defer, figures  # noqa: E402
from looseleaf.work.worker import Worker  # noqa: E402

MEMORIES, WAITING = 50, 10_000
KINDS = ("distill", "distill", "index", "embed", "build", "check", "compact", "improve")


def measure(address: Address, memories: int, waiting: int) -> Iterator[Row]:
    stores = list(make(address, memories))
    for number, kind in enumerate(KINDS):
        began = time.perf_counter()
        for store in stores:
            defer(store, kind)
        asked = (time.perf_counter() - began) / memories
        if not number:
            yield "asking for a job, ms", f"{1000 * asked:.2f}", NO_GOAL
        worker = Worker(address, once=True, concurrency=1)
        began = time.perf_counter()
        worker.run()
        took = (time.perf_counter() - began) / memories
        again = " again" if kind in KINDS[:number] else ""
        yield f"`{kind}`{again}, ms a job", f"{1000 * took:.0f}", NO_GOAL
        if (worker.done, worker.failed) != (memories, 0):
            raise SystemExit(f"{kind}: {worker.failed} failed")
    database = database_at(address)
    for size in (memories, waiting):
        name = f"handing out and ending jobs, three waiting for each of {size:,} memories, a second"
        yield name, f"{hand_out(database, size):,.0f}", NO_GOAL


def make(address: Address, count: int) -> Iterator[PostgresStore]:
    """Make memories of one turn each."""
    for number in range(count):
        where = address.of(f"benchmark/{time.time_ns()}").where
        with Memory(where) as memory:
            memory.record(user=f"I live in Lyon, at number {number}.")
            memory.record(assistant="Good to know.")
        yield PostgresStore.open(parse_address(where))


def hand_out(database: Database, memories: int, seconds: float = 5.0) -> float:
    """Take and end jobs that do nothing; return how many a second. Then the queue is empty again."""
    made = (
        "INSERT INTO looseleaf_jobs.procrastinate_jobs (queue_name, task_name, lock, queueing_lock, args) "
        "SELECT 'build', 'build', '-' || i, k || '/-' || i, '{}' FROM generate_series(1, %s) i, generate_series(1, 3) k"
    )
    database.run(None, made, (memories,))
    fetch = "SELECT id FROM looseleaf_jobs.procrastinate_fetch_job_v2(NULL, NULL)"
    end = "SELECT looseleaf_jobs.procrastinate_finish_job_v1(%s, 'succeeded', true)"
    count, began = 0, time.perf_counter()
    while (took := time.perf_counter() - began) < seconds:
        ((number,),) = database.run(None, fetch)
        if number is None:
            break
        database.run(None, end, (number,))
        count += 1
    database.run(None, "DELETE FROM looseleaf_jobs.procrastinate_jobs WHERE left(lock, 1) = '-'")
    return count / took


def main() -> None:
    parser = options(__doc__)
    parser.add_argument("address", nargs="?")
    parser.add_argument("--quick", action="store_true")
    chosen = parser.parse_args()
    logging.disable()
    memories, waiting = (5, 100) if chosen.quick else (MEMORIES, WAITING)
    with database(chosen.address) as where:
        address = parse_address(where)
        if figures(database_at(address))["jobs"]:
            raise SystemExit("There are jobs: measure with a database of its own.")
        report("workers", measure(address, memories, waiting), save=chosen.save)


if __name__ == "__main__":
    main()
