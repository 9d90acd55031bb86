"""A worker: a process that takes jobs from the queue of a database, several at a time, each in a thread.

It says every few seconds that it is alive. When it says nothing for a while, its jobs wait again: so a job is tried
until it succeeds or has failed too often, whatever becomes of the process; and since a job finds what was done before,
it is done once in effect. The worker itself goes on after the database was away.
"""

from __future__ import annotations

import logging
import signal
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from queue import Empty, SimpleQueue

import psycopg

from looseleaf.base.errors import (
    Busy,
    Displaced,
    Invalid,
    ModelFailed,
    NotFound,
    Outdated,
    Refused,
    SpendingLimit,
    Stale,
    Unreadable,
    Unwritten,
)
from looseleaf.base.immutable import frozen
from looseleaf.memory.layers import nothing
from looseleaf.store.postgres.check_database import refuse_unfit
from looseleaf.store.postgres.database import database_at
from looseleaf.work.queue import KINDS, PAUSES, SILENT_SECONDS, return_lost, tell
from looseleaf.work.tasks import Asked, carry_out, give_up

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from concurrent.futures import Future
    from typing import Any

    from looseleaf.base.messages import Distiller
    from looseleaf.memory.layers import Walls
    from looseleaf.store.postgres.address import Address

CONCURRENCY = 4
"""Jobs at a time: they wait for models most of the time. Rules keep one processor busy: there, more workers help."""
MOST_AT_ONCE = 8
"""More would take connections from each other."""

POLL_SECONDS = 1.0
"""How often to look for jobs that no notification announces: those that had to wait."""
BEAT_SECONDS = 5.0
KEEP_SECONDS = 10.0
"""How often to look for lost jobs and for talk that is due."""
CLEAN_SECONDS = 600.0
GRACE_SECONDS = 20.0
"""How long a worker that is stopped lets its jobs run, before it gives them back."""

LIFT, OLD = "5 minutes", "7 days"
_DUE_AT_ONCE = 500

_PASSING = (Busy, Unreadable, Unwritten, ModelFailed, Outdated, Stale, SpendingLimit)
"""Failures that may pass by themselves."""

LOG = logging.getLogger("looseleaf.work")


@frozen
class Taken:
    """A job that this worker has."""

    id: int
    memory: int
    attempts: int
    asked: Asked
    made: float


@frozen
class Timing:
    """Seconds between the worker's own acts; for tests."""

    poll: float = POLL_SECONDS
    beat: float = BEAT_SECONDS
    silent: float = SILENT_SECONDS
    keep: float = KEEP_SECONDS
    grace: float = GRACE_SECONDS
    pauses: tuple[float, ...] = PAUSES


class Worker:
    """Takes jobs until it is stopped; with `once`, until none is left that could be done now."""

    def __init__(
        self,
        address: Address,
        *,
        kinds: Sequence[str] = (),
        concurrency: int = CONCURRENCY,
        once: bool = False,
        distiller: Distiller | None = None,
        timing: Timing | None = None,
        walls: Callable[[str], Walls] = lambda agent: nothing,
    ) -> None:
        """`distiller`: for all memories, in place of the one that their settings name. `walls`: what an agent may do in
        the memories under the one whose job runs."""
        unknown = [kind for kind in kinds if kind not in KINDS]
        if unknown:
            raise Invalid(
                f"No worker was started: there is no kind of job {unknown[0]!r:.40}. The kinds are {', '.join(KINDS)}."
            )
        if not 1 <= concurrency <= MOST_AT_ONCE:
            raise Invalid(
                f"No worker was started: it does 1 to {MOST_AT_ONCE} jobs at a time. Start another one for more."
            )
        self._address = address
        self._database = database_at(address)
        self._kinds = list(kinds) or None
        self._concurrency = concurrency
        self._is_once = once
        self._distiller, self._walls = distiller, walls
        self._timing = timing or Timing()
        self._wake: SimpleQueue[None] = SimpleQueue()
        self._is_stopping = False
        self._running: dict[Future[None], Taken] = {}
        self._id = 0
        self.done = self.failed = 0

    # --- the loop --------------------------------------------------------------------------

    def stop(self, *_: object) -> None:
        """Take no more jobs; signals call this."""
        self._is_stopping = True
        self._wake.put(None)

    def run(self) -> bool:
        """Take jobs. False: jobs were given back while their threads still run, and the process must end now."""
        refuse_unfit(self._database)
        self._register()
        listening = threading.Event()
        threading.Thread(target=self._listen, args=(listening,), name="looseleaf-listen", daemon=True).start()
        # Threads whose jobs were given back would keep the process alive: its caller then ends it.
        threads = ThreadPoolExecutor(self._concurrency, "looseleaf-job")
        try:
            with self._heeding_signals():
                self._take_jobs(threads)
                is_done = self._finish()
        finally:
            listening.set()
            threads.shutdown(wait=not self._running, cancel_futures=True)
        return is_done

    def _take_jobs(self, threads: ThreadPoolExecutor) -> None:
        beat = keep = clean = time.monotonic()
        self._keep()
        while not self._is_stopping:
            try:
                is_full = self._fill(threads)
                if self._is_once and not self._running and not is_full:
                    return
                self._wait(self._timing.poll)
                self._settle()
                now = time.monotonic()
                if now - beat >= self._timing.beat:
                    beat = now
                    self._beat()
                if now - keep >= self._timing.keep:
                    keep = now
                    self._keep()
                if now - clean >= CLEAN_SECONDS:
                    clean = now
                    self._database.run(None, "SELECT looseleaf_jobs.remove_old(%s::interval)", (OLD,))
            except (Unreadable, Busy) as away:
                if self._is_once:
                    raise
                LOG.warning("%s", away)
                self._wait(self._timing.poll)

    def _fill(self, threads: ThreadPoolExecutor) -> bool:
        """Take jobs while there is room; return whether there may be more."""
        while len(self._running) < self._concurrency and not self._is_stopping:
            taken = self._fetch()
            if taken is None:
                return False
            future = threads.submit(self._do, taken)
            self._running[future] = taken
            future.add_done_callback(lambda _: self._wake.put(None))
        return True

    def _wait(self, seconds: float) -> None:
        try:
            self._wake.get(timeout=seconds)
            while True:
                self._wake.get_nowait()
        except Empty:
            pass

    def _settle(self) -> None:
        """Say what came of the jobs that ended."""
        for future in [each for each in self._running if each.done()]:
            taken = self._running[future]
            self._end(taken, future.exception())
            del self._running[future]

    def _finish(self) -> bool:
        """Let the running jobs end, then give back those that have not; return whether all ended."""
        until = time.monotonic() + self._timing.grace
        while self._running and time.monotonic() < until:
            self._wait(min(self._timing.poll, max(0.0, until - time.monotonic())))
            self._settle()
            self._beat()
        for taken in self._running.values():
            self._database.run(
                None, "SELECT looseleaf_jobs.give_back(%s, %s, now(), false)", (taken.id, self._id)
            )
        self._database.run(None, "SELECT looseleaf_jobs.procrastinate_unregister_worker_v1(%s)", (self._id,))
        return not self._running

    @contextmanager
    def _heeding_signals(self) -> Iterator[None]:
        if threading.current_thread() is not threading.main_thread():
            yield
            return
        before = {each: signal.signal(each, self.stop) for each in (signal.SIGTERM, signal.SIGINT)}
        try:
            yield
        finally:
            for each, handler in before.items():
                signal.signal(each, handler)

    # --- the queue -------------------------------------------------------------------------

    def _register(self) -> None:
        ((self._id,),) = self._database.run(
            None, "SELECT worker_id FROM looseleaf_jobs.procrastinate_register_worker_v1()"
        )

    def _beat(self) -> None:
        """Say that this worker is alive. Another one may have taken it for dead, while it was cut off."""
        query = "UPDATE looseleaf_jobs.procrastinate_workers SET last_heartbeat = now() WHERE id = %s RETURNING id"
        if not self._database.run(None, query, (self._id,)):
            self._register()

    def _keep(self) -> None:
        """Return lost jobs to the queue, lift old ones, and defer what is due. Every worker does this, at any time."""
        running = [taken.id for taken in self._running.values()]
        return_lost(self._database, self._id, running, self._timing.silent)
        self._database.run(None, "SELECT looseleaf_jobs.lift(%s::interval)", (LIFT,))
        if self._kinds is None or "distill" in self._kinds:
            while (
                self._database.run(None, "SELECT looseleaf_jobs.defer_due(%s)", (_DUE_AT_ONCE,))[0][0]
                == _DUE_AT_ONCE
            ):
                pass

    def _fetch(self) -> Taken | None:
        query = (
            "SELECT j.id, j.lock, j.task_name, j.args, j.attempts, extract(epoch FROM now())::float8 "
            "FROM looseleaf_jobs.procrastinate_fetch_job_v2(%s::varchar[], %s) j"
        )
        try:
            ((id, lock, kind, args, attempts, now),) = self._database.run(
                None, query, (self._kinds, self._id)
            )
        except Unwritten as refused:
            # Another worker took another job of the same memory at the same moment; or we were taken for dead.
            if isinstance(refused.__cause__, psycopg.errors.UniqueViolation):
                return self._fetch()
            if isinstance(refused.__cause__, psycopg.errors.ForeignKeyViolation):
                self._register()
                return self._fetch()
            raise
        if id is None:
            return None
        more = {name: value for name, value in args.items() if name != "agent"}
        return Taken(
            int(id), int(lock), int(attempts), Asked(str(kind), str(args.get("agent") or ""), more), now
        )

    def _end(self, taken: Taken, error: BaseException | None) -> None:
        """Take a job out of the queue, or have it tried again."""
        if error is None:
            query = (
                "SELECT looseleaf_jobs.procrastinate_finish_job_v1(j.id, 'succeeded', true) "
                "FROM looseleaf_jobs.procrastinate_jobs j WHERE j.id = %s AND j.worker_id = %s AND j.status = 'doing'"
            )
            self._database.run(None, query, (taken.id, self._id))
            self.done += 1
            return
        pause = self._pause(taken, error)
        is_last = pause is None
        how = "failed" if is_last else f"is tried again in {pause:.0f} seconds"
        LOG.warning(
            "job %s (%s) %s: %s", taken.id, taken.asked.kind, how, type(error).__name__, exc_info=_bug(error)
        )
        query = "SELECT looseleaf_jobs.give_back(%s, %s, now() + %s::float8 * interval '1 second', true)"
        self._database.run(None, query, (taken.id, self._id, pause))
        self.failed += is_last

    def _pause(self, taken: Taken, error: BaseException) -> float | None:
        """Return the seconds until the next attempt; None: there is none."""
        pauses = self._timing.pauses
        if isinstance(error, Displaced) or taken.attempts >= len(pauses):
            return None
        return pauses[taken.attempts] if isinstance(error, _PASSING) or _bug(error) is not None else None

    def _listen(self, ended: threading.Event) -> None:
        """Wake the loop when a job comes."""
        while not ended.is_set():
            try:
                with self._database.connect() as wire:
                    wire.execute("LISTEN procrastinate_any_queue_v1")
                    self._wake.put(None)
                    while not ended.is_set():
                        for _ in wire.notifies(timeout=1.0, stop_after=1):
                            self._wake.put(None)
            except (psycopg.Error, Refused):
                ended.wait(self._timing.poll)  # the loop polls meanwhile

    # --- a job, in its thread --------------------------------------------------------------

    def _do(self, taken: Taken) -> None:
        """Do a job, and have its memory remember what came of it."""
        from looseleaf.memory import Memory
        from looseleaf.store.postgres.store import PostgresStore

        asked = taken.asked
        with PostgresStore.open(self._address.of(self._namespace(taken.memory))) as store:
            if store.memory != taken.memory:
                raise NotFound("Nothing was done: the memory is gone.")
            edition, began = store.edition(), time.time()
            told: dict[str, Any] = {"id": taken.id, "kind": asked.kind, "agent": asked.agent, "began": began}
            told |= {"made": taken.made} | (
                {"source": asked.more["source"]} if "source" in asked.more else {}
            )
            try:
                agent = asked.agent or "main"
                with Memory(store.address.where, agent=agent, distiller=self._distiller) as memory:
                    memory.parts.walls = self._walls(agent)
                    result = carry_out(memory, asked)
            except BaseException as error:
                is_last = self._pause(taken, error) is None
                told |= {"state": "failed" if is_last else "waiting", "error": _sentence(error)}
                tell(store, told, edition)
                if is_last:
                    give_up(store, asked)
                raise
            tell(store, told | {"state": "done", "result": result}, edition)

    def _namespace(self, memory: int) -> str:
        query = "SELECT namespace FROM looseleaf.memories WHERE memory = %s AND state = 'here'"
        rows = self._database.run(memory, query, (memory,))
        if not rows:
            raise NotFound("Nothing was done: the memory is gone.")
        return str(rows[0][0])


def _sentence(error: BaseException) -> str:
    if _bug(error) is None:
        return str(error)
    return f"A fault of the program stopped it ({type(error).__name__}). The worker's log says more."


def _bug(error: BaseException) -> BaseException | None:
    """Return an error that is none of ours to explain."""
    return None if isinstance(error, Refused) else error
