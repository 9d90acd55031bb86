"""Workers for tests: processes that take jobs from a database, and a model that they wait for.

The model answers when it is let: each call notes itself in a file, and ends when there is no file `hold` beside that.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from threading import Thread
from typing import TYPE_CHECKING, Any

from looseleaf import Memory
from looseleaf.distill.model import ModelDistiller
from looseleaf.models.providers.scripted import ScriptedModel
from looseleaf.store.postgres.address import database_of, parse_address
from looseleaf.work.worker import Timing, Worker

if TYPE_CHECKING:
    from looseleaf.store.postgres.store import PostgresStore
    from postgres import Running

FOLDER = "LOOSELEAF_TEST_MODEL"
"""The variable that names the folder of the model's files."""

PATIENCE = 30.0

QUICK = Timing(poll=0.1, beat=0.2, silent=2.0, keep=0.2, grace=10.0, pauses=(0.1, 0.1))


def _answer(messages: Sequence[Any], tools: Sequence[Any]) -> str:
    folder = Path(os.environ[FOLDER])
    with (folder / "calls").open("a") as calls:
        calls.write(f"{os.getpid()}\n")
    until = time.monotonic() + PATIENCE
    while (folder / "hold").exists() and time.monotonic() < until:
        time.sleep(0.02)
    return '{"summary": "They spoke of a town.", "facts": []}'


model = ModelDistiller(ScriptedModel(_answer, name="slow"))
"""A distiller that asks it."""


class Files:
    """What the model does, as its files tell."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        (folder / "hold").touch()

    def calls(self) -> list[int]:
        """Return the processes that called, in order."""
        path = self.folder / "calls"
        return [int(line) for line in path.read_text().split()] if path.exists() else []

    def let_go(self) -> None:
        (self.folder / "hold").unlink()


def talk(address: str, town: str = "Lyon", *, agent: str = "main") -> None:
    """Record a turn in a memory."""
    with Memory(address, agent=agent) as memory:
        memory.record(user=f"I live in {town}.")
        memory.record(assistant="Good to know.")


def open_store(address: str) -> PostgresStore:
    from looseleaf.store.postgres.store import PostgresStore

    return PostgresStore.open(parse_address(address))


def drain(address: str, **more: Any) -> Worker:
    """Do what is to be done now, in this process."""
    given: dict[str, Any] = {"timing": QUICK, "concurrency": 1} | more
    worker = Worker(parse_address(address), once=True, **given)
    assert worker.run()
    return worker


def make_due(postgres: Running, address: str) -> int:
    """Have all talk of a database be due; return how much there is."""
    return len(run_there(postgres, address, "UPDATE looseleaf_jobs.talk SET due = now() RETURNING 1"))


def run_there(postgres: Running, address: str, query: str) -> list[Any]:
    """Run a statement as the superuser in the database of an address."""
    return postgres.execute(query, database=database_of(address))


def until(is_so: Callable[[], object], seconds: float = PATIENCE) -> None:
    """Wait until something is so; fail where it is not to be."""
    end = time.monotonic() + seconds
    while not is_so():
        assert time.monotonic() < end, "waited in vain"
        time.sleep(0.02)


@contextmanager
def worker_thread(address: str, **more: Any) -> Iterator[Worker]:
    """A worker in a thread, which asks the model that waits; stopped at the end of the block."""
    worker = Worker(parse_address(address), distiller=model, timing=QUICK, **more)
    thread = Thread(target=worker.run)
    thread.start()
    try:
        yield worker
    finally:
        worker.stop()
        (Path(os.environ[FOLDER]) / "hold").unlink(missing_ok=True)
        thread.join()


_PROGRAM = """
import logging, os, sys
from looseleaf.store.postgres.address import parse_address
from looseleaf.work.worker import Timing, Worker
logging.basicConfig()
if "LOOSELEAF_TEST_MODEL" in os.environ:
    from working import model
else:
    model = None
work = Worker(parse_address(sys.argv[1]), concurrency=int(sys.argv[2]), once=sys.argv[4] == "once",
    timing=Timing(0.1, 0.2, 2.0, 0.2, float(sys.argv[3]), (0.1,) * 5), distiller=model)
is_done = work.run()
print(work.done, work.failed, flush=True)
if not is_done:
    os._exit(0)
"""


@contextmanager
def worker_process(
    address: str, files: Files | None = None, *, concurrency: int = 1, grace: float = 10.0, once: bool = False
) -> Iterator[subprocess.Popen[str]]:
    """A worker in a process of its own; killed at the end of the block."""
    given = [address, str(concurrency), str(grace), "once" if once else ""]
    place = {"PYTHONPATH": str(Path(__file__).parent)} | (
        {FOLDER: str(files.folder)} if files is not None else {}
    )
    process = subprocess.Popen(
        [sys.executable, "-c", _PROGRAM, *given], env=os.environ | place, stdout=subprocess.PIPE, text=True
    )
    try:
        yield process
    finally:
        if process.poll() is None:
            process.send_signal(signal.SIGKILL)
        process.communicate()


def entries(address: str) -> list[str]:
    """Return the names of the entries of a memory's talk."""
    from looseleaf.log.entries import entries_in

    with open_store(address) as store:
        return list(entries_in(store))
