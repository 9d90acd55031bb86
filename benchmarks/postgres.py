"""What the store in PostgreSQL costs: against bare statements of the same driver, and against a folder. In one run,
taking turns.

    python benchmarks/postgres.py              prints the table
    python benchmarks/postgres.py --save       keeps the figures in results.json as well
    python benchmarks/postgres.py --quick      a few of each: whether it runs, not what it costs

A server of its own is started, with `fsync` on. The program works as a role that owns nothing, under row security; the
bare statements insert the same lines into a table with one key, as its owner, and are all that a database can do.
"""

from __future__ import annotations

import multiprocessing
import shutil
import sys
import tempfile
import threading
import time
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from statistics import median
from typing import Any

HERE = Path(__file__).parent.parent
if str(HERE) not in sys.path:
    sys.path.insert(0, str(HERE))  # the parts of this one are found from wherever it is run

from benchmarks.report import NO_GOAL, NOTHING, Row, options, report  # noqa: E402
from benchmarks.window import folder  # noqa: E402

from looseleaf.base.errors import Refused, is_there  # noqa: E402
from looseleaf.base.ids import new_id  # noqa: E402
from looseleaf.store import JOURNAL  # noqa: E402
from looseleaf.store import records as codec  # noqa: E402
from looseleaf.store.files import FileStore  # noqa: E402

STREAM = "traces/main"
PROCESSES = THREADS = 8
BATCH = 100
TEXT = "I moved to Lyon in March, and work as a nurse in the hospital there, mostly nights. " * 2


def record(number: int) -> dict[str, Any]:
    return {
        "id": new_id(),
        "ts": 1.5,
        "turn_id": f"turn_{number:04d}",
        "seq": 1,
        "trace_type": "user",
        "content": TEXT,
        "source_event": "LLMUserMessageReadyEvent",
        "session_id": "s1",
        "origin": "user",
    }


class Addresses:
    """The database, as its owner and as the program."""

    def __init__(self, server: Any) -> None:
        from looseleaf.store.postgres.address import parse_address
        from looseleaf.store.postgres.embedded import OWNER
        from looseleaf.store.postgres.migrate import migrate

        self.owner = server.address(OWNER)
        self.program = server.address()
        migrate(parse_address(self.owner))

    def memory(self, name: str) -> str:
        return f"{self.program}&namespace={name}"


# --- those that write ----------------------------------------------------------------------


def bare_writer(addresses: Addresses, lines: int) -> Callable[[int], None]:
    """Insert lines into a table with one key, as quickly as the driver can: one statement for each batch."""
    import psycopg

    wire = psycopg.connect(addresses.owner, autocommit=True, prepare_threshold=2)
    wire.execute("CREATE TABLE IF NOT EXISTS bare (id bigserial PRIMARY KEY, line bytea NOT NULL)")

    def one(count: int) -> None:
        for number in range(count):
            wire.execute("INSERT INTO bare (line) VALUES (%s)", (codec.encode(record(number)),))

    def many(count: int) -> None:
        for start in range(0, count, lines):
            batch = [codec.encode(record(number)) for number in range(start, start + lines)]
            wire.execute("INSERT INTO bare (line) SELECT unnest(%s::bytea[])", (batch,))

    return one if lines == 1 else many


def store_writer(store: Any, lines: int) -> Callable[[int], None]:
    def write(count: int) -> None:
        for start in range(0, count, lines):
            store.append(STREAM, [record(number) for number in range(start, start + lines)])

    return write


def open_store(address: str) -> Any:
    from looseleaf.store.postgres.address import parse_address
    from looseleaf.store.postgres.store import PostgresStore

    return PostgresStore.open(parse_address(address), make=True)


def rate(write: Callable[[int], None], count: int) -> float:
    begin = time.perf_counter()
    write(count)
    return count / (time.perf_counter() - begin)


def compared(ours: list[float], others: list[float]) -> str:
    """Return the median of the ratios of neighbors, and both rates."""
    ratio = median(one / other for one, other in zip(ours, others, strict=True))
    return f"{ratio:.2f} ({median(ours):,.0f} a second against {median(others):,.0f})"


# --- one writer ------------------------------------------------------------------------------


def single(addresses: Addresses, path: Path, count: int, rounds: int) -> Iterator[Row]:
    for lines, what, goal in ((1, "one by one", "≥ 0.45"), (BATCH, f"in batches of {BATCH}", "≥ 0.8")):
        files = FileStore.make(path / f"files {lines}")
        writers = (
            store_writer(open_store(addresses.memory(f"single/{lines}")), lines),
            bare_writer(addresses, lines),
            store_writer(files, lines),
        )
        size = count if lines == 1 else 10 * count
        for write in writers:
            write(4 * lines)
        rates: tuple[list[float], ...] = ([], [], [])
        for _ in range(rounds):
            for found, write in zip(rates, writers, strict=True):
                found.append(rate(write, size))
        yield f"records {what}, against bare INSERTs", compared(rates[0], rates[1]), goal
        yield f"records {what}, against a folder on this disk", compared(rates[0], rates[2]), NO_GOAL
        files.close()


# --- many writers ----------------------------------------------------------------------------


def _work(addresses: Any, kind: str, number: int, lines: int, count: int, gate: Any, done: Any) -> None:
    """Write in a process of its own, from when all are ready."""
    name = f"many/{kind}/{lines}/{number if kind == 'own' else 'one'}"
    write = (
        bare_writer(addresses, lines)
        if kind == "bare"
        else store_writer(open_store(addresses.memory(name)), lines)
    )
    write(4 * lines)
    gate.wait()
    begin = time.monotonic()
    write(count)
    done.put((begin, time.monotonic()))


def together(addresses: Addresses, kind: str, lines: int, count: int) -> float:
    """Return how many records a second eight processes write at once."""
    context = multiprocessing.get_context("spawn")
    gate, done = context.Barrier(PROCESSES), context.Queue()
    given = [(addresses, kind, number, lines, count, gate, done) for number in range(PROCESSES)]
    processes = [context.Process(target=_work, args=each) for each in given]
    for process in processes:
        process.start()
    times = [done.get(timeout=120) for _ in processes]
    for process in processes:
        process.join()
    seconds: float = max(end for _, end in times) - min(begin for begin, _ in times)
    return PROCESSES * count / seconds


def many(addresses: Addresses, path: Path, count: int, rounds: int) -> Iterator[Row]:
    shapes = (
        ("one", 1, "8 processes on one stream, one by one", "≥ 0.3"),
        ("own", 1, "8 processes with a memory each, one by one", "≥ 0.55"),
        ("own", BATCH, f"8 processes with a memory each, in batches of {BATCH}", "≥ 0.75"),
    )
    for kind, lines, what, goal in shapes:
        size = count // 2 if lines == 1 else 5 * count
        ours, bare = [], []
        for _ in range(max(1, rounds // 2)):
            ours.append(together(addresses, kind, lines, size))
            bare.append(together(addresses, "bare", lines, size))
        yield f"{what}, against bare INSERTs", compared(ours, bare), goal


def threads(addresses: Addresses, path: Path, count: int, rounds: int) -> Iterator[Row]:
    store, alone = open_store(addresses.memory("threads")), bare_writer(addresses, 1)
    write = store_writer(store, 1)
    write(4)

    def at_once(size: int) -> None:
        own = [threading.Thread(target=write, args=(size // THREADS,)) for _ in range(THREADS)]
        for thread in own:
            thread.start()
        for thread in own:
            thread.join()

    ours, others = [], []
    for _ in range(rounds):
        ours.append(rate(at_once, count))
        others.append(rate(alone, count))
    yield f"{THREADS} threads on one store, against one bare loop", compared(ours, others), NO_GOAL


# --- reading, pages, opening -------------------------------------------------------------------


def quickest(act: Callable[[], object], times: int) -> float:
    """Return the median of what an act takes, in milliseconds."""
    found = []
    for _ in range(times):
        begin = time.perf_counter()
        act()
        found.append(1000 * (time.perf_counter() - begin))
    return median(found)


def last_20(store: Any) -> Callable[[], object]:
    def read() -> object:
        lines = store.read_back(STREAM)
        return [next(lines) for _ in range(20)]

    return read


def put_page(store: Any) -> Callable[[], object]:
    from looseleaf.base.values import sha256

    base: list[str | None] = [None]

    def put() -> object:
        data = f"# Garden\n\n- Tree: {uuid.uuid4()}\n".encode()
        edit = {
            "schema": "journal.v1",
            "id": new_id(),
            "ts": time.time(),
            "kind": "edit",
            "path": "facts/garden.md",
        }
        edit |= {"base": base[0], "new": sha256(data)}
        base[0] = store.put("facts/garden.md", data, base=base[0], record=edit)
        return base[0]

    return put


def reading(addresses: Addresses, path: Path, count: int, rounds: int) -> Iterator[Row]:
    files = FileStore.make(path / "files")
    address = addresses.memory("reading")
    store = open_store(address)
    size = 50 * count
    for each in (files, store):
        store_writer(each, 1000)(size)
    acts: dict[str, tuple[Callable[[], object], Callable[[], object]]] = {
        f"the last 20 of {size:,} records": (last_20(store), last_20(files)),
        "a page changed, with its record": (put_page(store), put_page(files)),
        "a page read": (lambda: store.get("facts/garden.md"), lambda: files.get("facts/garden.md")),
        "a memory opened": (lambda: open_store(address).close(), lambda: FileStore(path / "files").close()),
        f"all {size:,} records read": (
            lambda: sum(1 for _ in store.read(STREAM)),
            lambda: sum(1 for _ in files.read(STREAM)),
        ),
    }
    for what, (ours, others) in acts.items():
        times = 2 if what.startswith("all") else 10 * rounds
        mine, theirs = quickest(ours, times), quickest(others, times)
        yield (
            f"{what}, against a folder",
            f"{mine / theirs:.2f} ({mine:.2f} ms against {theirs:.2f})",
            NO_GOAL,
        )
    bytes_of = store.database.run(
        store.memory,
        "SELECT sum(pg_total_relation_size(inhrelid)) FROM pg_inherits WHERE inhparent = 'looseleaf.records'::regclass",
    )
    records_there = store.database.run(
        None, "SELECT sum(n_live_tup) FROM pg_stat_user_tables WHERE relname LIKE %s", ("records%",)
    )
    if records_there[0][0]:
        yield "bytes of the database for a record", f"{bytes_of[0][0] / records_there[0][0]:,.0f}", NO_GOAL
    assert list(store.read_back(JOURNAL))
    files.close()


PARTS = {"single": single, "many": many, "threads": threads, "reading": reading}


@contextmanager
def own_server(**settings: str) -> Iterator[Any]:
    """Start a server of one's own, in memory where that is possible; end as a skipped benchmark where there is none."""
    if not is_there("postgres"):
        print("the extra `postgres` is not installed")
        sys.exit(NOTHING)
    from looseleaf.store.postgres.database import close_all
    from looseleaf.store.postgres.embedded import EmbeddedServer

    place = Path("/dev/shm") if Path("/dev/shm").is_dir() else Path(tempfile.gettempdir())
    server = EmbeddedServer(place / f"looseleaf-bench-{uuid.uuid4().hex[:8]}", settings)
    try:
        with server.running():
            yield server
            close_all()
    except Refused as refused:
        print(refused)
        sys.exit(NOTHING)
    finally:
        shutil.rmtree(server.folder, ignore_errors=True)


@contextmanager
def database(address: str | None) -> Iterator[str]:
    """Yield the address of a database with tables: the one that was given, else one of a server of one's own."""
    if address is not None:
        yield address
        return
    with own_server() as server:
        yield Addresses(server).program


def rows(count: int, rounds: int, only: list[str] | None) -> Iterator[Row]:
    with folder() as path, own_server() as server:
        addresses = Addresses(server)
        for name, part in PARTS.items():
            if only is None or name in only:
                (path / name).mkdir()
                yield from part(addresses, path / name, count, rounds)


def main(arguments: list[str] | None = None) -> None:
    parser = options(__doc__)
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--only", action="append", choices=list(PARTS))
    asked = parser.parse_args(arguments)
    count, rounds = (50, 1) if asked.quick else (2000, 6)
    report("postgres", rows(count, rounds, asked.only), save=asked.save)


if __name__ == "__main__":
    main()
