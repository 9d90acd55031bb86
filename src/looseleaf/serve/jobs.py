"""Jobs: work that takes a while, each in a process of its own, so that no screen and no request waits for it.

One job of a memory runs at a time, and two in all; the others wait. Where a database has workers, they do what a job of
their queue does, too, and the server looks how it stands. What became of a job is kept in a document of its own beside
the tokens, outside of every memory, and outlives the server; servers of one database see each other's.
Invariants: of what was asked only a keyed hash is written down, so no document names what was forgotten; what a result
quotes of a memory is dropped when anything there is forgotten.
"""

from __future__ import annotations

import hashlib
import json
import os
import secrets
import shutil
import signal
import subprocess
import sys
import threading
import time
from contextlib import ExitStack, nullcontext, suppress

from looseleaf.base.errors import Busy, Invalid, NotFound, Refused, Unreachable, Unreadable
from looseleaf.base.ids import is_id, new_id
from looseleaf.serve.once import KeyUsed
from looseleaf.serve.state import FolderState, remove

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Any

    from looseleaf.serve.audit import Audit
    from looseleaf.serve.pool import Pool
    from looseleaf.serve.shared import SharedAudit
    from looseleaf.serve.state import Seen, State

FIELDS: dict[str, dict[str, type | tuple[type, ...]]] = {
    "forget": {
        **dict.fromkeys(("fact", "topic", "session", "origin", "match", "agent", "in_place_of"), str),
        "dry_run": bool,
    },
    "import": {
        **dict.fromkeys(("file", "sha256", "format", "agent"), str),
        **dict.fromkeys(("mine", "here", "dry_run"), bool),
    },
    "check": {},
    "analyze": {"last": int, "agent": str},
    "index": {"full": bool},
}
"""What may be asked of each kind of job. `file`: where an import was received, which is the job's from then on;
`sha256`: of its content."""
READS = frozenset({"check", "analyze", "index"})
"""Kinds that may be ended at any moment: they change no page and no log."""
LIVE = frozenset({"waiting", "running"})
FOLDER = "jobs"
INCOMING = "incoming"
"""The folder for what is received to be imported, beside the tokens: a folder for each."""

AT_ONCE = 2
_WAITING = 100
_KEPT = 1_000
"""How many jobs that ended are kept."""
_LOOK_SECONDS = 0.2
"""How often to look at a process that an earlier server started."""
_CLOSE_SECONDS = 5.0
_TELL_SECONDS = 1.0
"""How often other servers are told how far a job is."""
_TAKE_SECONDS = 10.0
"""How long a job may wait for a worker, before the server starts one."""
_OLD_SECONDS = 86_400.0
"""Age after which a server of a database clears what was received on its machine."""
_LONGEST = 1 << 26
"""Bytes of a line from a process."""

DIED = (
    "This may or may not have been done: its process ended before it could say so. Look, and start it again if it "
    "was not."
)
NOT_BEGUN = "Nothing was done: the server was stopped before it began. Start it again."
FORGOTTEN = (
    "Nothing was forgotten. The reason was told when it ended, and is not kept: it names what was to go."
)


class Job:
    """A job. `state`: waiting, running, done, refused, cancelled, or lost with its process. `done` of `total` (0: not
    known). `result`: what came of it; `is_outdated`: something has been forgotten since, and only numbers and ids
    are left.
    """

    def __init__(self, id: str, memory: str, kind: str) -> None:
        self.id, self.memory, self.kind = id, memory, kind
        self.state = "waiting"
        self.made = time.time()
        self.began: float | None = None
        self.ended: float | None = None
        self.done = self.total = 0
        self.expected: float | None = None
        """How many seconds the last one of its kind took."""
        self.result: dict[str, Any] | None = None
        self.error = ""
        self.problem = ""
        """What the refusal is: the name of its class."""
        self.is_outdated = False
        self.is_dry = False
        """True if it only says what would be done."""
        self.key = self.asked = ""
        self.server = ""
        """The server that has it, where several share them."""
        self.told = 0.0
        """When others were last told how far it is."""
        self.process: subprocess.Popen[bytes] | None = None
        self.is_handed = False
        """True if it was left to the workers of the database."""
        self.is_unwanted = False
        """True if it was cancelled before the queue had it."""
        self.queued = 0
        """Its number in their queue."""

    @property
    def is_live(self) -> bool:
        return self.state in LIVE

    @property
    def can_be_cancelled(self) -> bool:
        """True where nothing is left half done."""
        return self.state == "waiting" or (self.state == "running" and self.kind != "forget")

    @property
    def age(self) -> float:
        """Seconds since it ended; 0.0 while it has not."""
        return max(0.0, time.time() - self.ended) if self.ended is not None else 0.0

    @property
    def seconds_left(self) -> float | None:
        if self.state != "running" or self.began is None:
            return None
        so_far = time.time() - self.began
        if self.total and self.done:
            return max(0.0, so_far * (self.total - self.done) / self.done)
        return max(0.0, self.expected - so_far) if self.expected is not None else None

    def to_dict(self) -> dict[str, Any]:
        names = ("id", "memory", "kind", "state", "made", "began", "ended", "done", "total", "seconds_left")
        told: dict[str, Any] = {name: getattr(self, name) for name in names}
        told["result"] = self.result
        return told | ({"error": self.error} if self.error else {})

    def head(self) -> dict[str, Any]:
        """Return what its file has before it ends."""
        names = (
            "id",
            "memory",
            "kind",
            "state",
            "made",
            "began",
            "key",
            "asked",
            "is_dry",
            "server",
            "queued",
        )
        return {name: getattr(self, name) for name in names}


class Jobs:
    """The jobs of one server, or of several that share their state. Any thread may ask for one."""

    def __init__(self, pool: Pool, state: State | str, audit: Audit | SharedAudit) -> None:
        self._pool, self._audit = pool, audit
        self._state: State = FolderState(state) if isinstance(state, str) else state
        self._access_folder = self._state.folder
        self.folder = os.path.join(self._access_folder, FOLDER)
        self._own = new_id() if self._state.is_shared else ""
        self._alive = ExitStack()
        """What says that this process lives."""
        self.on_change: list[Callable[[Job], None]] = []
        """Told of each job that begins, goes on or ends, in any thread."""
        self._lock = threading.RLock()
        self._changed = threading.Condition(self._lock)
        self._jobs: dict[str, Job] = {}
        self._specs: dict[str, dict[str, Any]] = {}
        """What was asked of those that wait."""
        self._editions: dict[str, tuple[str, list[int]]] = {}
        """For each result: the file that a forget replaces ("": in a database), and how it looked."""
        self._seen: dict[str, Seen] = {}
        """The documents of jobs that other servers have."""
        self._lasting: dict[str, dict[str, Any]] = {}
        self._missed: set[str] = set()
        """Jobs that nobody had when they were last looked at."""
        self._left: list[str] = []
        """What an earlier server received."""
        self._is_stopping = threading.Event()
        self._is_read = False
        self._secret = b""

    # --- asking ------------------------------------------------------------------------------

    def start(self, memory: str, kind: str, spec: Mapping[str, Any] | None = None, key: str = "") -> Job:
        """Start a job, or have it wait for its turn. The same `key` again returns the same job; a second look of the
        same kind, while the first has not ended, returns that."""
        path, given = self._pool.path(memory), _checked(kind, spec or {})
        self._audit.require()
        asked = _asked(given)
        name = _hash(f"{memory}\n{kind}\n{key}") if key else ""
        # Other servers begin no job meanwhile: it might be this one.
        alone = self._state.changing(f"{FOLDER}/begin") if self._own else nullcontext()
        with self._lock, alone:
            if self._own:
                self._state.look_again()
            self._read()
            same = self._same(memory, kind, name, self._hash(asked))
            if same is not None:
                self._drop(given.get("file", ""))
                return same
            if self._is_stopping.is_set():
                raise Busy("Nothing was done: the server is being stopped.")
            if sum(job.state == "waiting" for job in self._jobs.values()) >= _WAITING:
                raise Busy(f"Nothing was done: {_WAITING} jobs wait already. Try again when some have ended.")
            job = Job(new_id(), memory, kind)
            job.key, job.asked = name, self._hash(asked)
            job.is_dry, job.server = bool(given.get("dry_run")), self._own
            before = self.last(memory, kind)
            if before is not None and before.began is not None and before.ended is not None:
                job.expected = before.ended - before.began
            self._write(job, job.head())
            self._jobs[job.id] = job
            self._specs[job.id] = given | {"path": path, "alone": self._pool.root is not None}
            self._audit.write(act="job begun", job=job.id, kind=kind, memory=memory)
            self._tell(job)
            self._go_on()
        return job

    def _same(self, memory: str, kind: str, key: str, asked: str) -> Job | None:
        for job in reversed(self._jobs.values()):
            if (job.memory, job.kind) != (memory, kind):
                continue
            if key and job.key == key:
                if job.asked != asked:
                    raise KeyUsed
                return job
            if not key and kind in READS and job.is_live and job.asked == asked:
                return job
        return None

    def get(self, id: str) -> Job:
        """Return a job, with what is known of it now."""
        with self._lock:
            self._read()
            if id not in self._jobs:
                raise NotFound("There is no job with this id.")
            return self._fresh(self._jobs[id])

    def last(self, memory: str, kind: str) -> Job | None:
        """Return the last job of a kind that was carried out; its `age` says how long ago. None: there was none."""
        done = (job for job in self.of(memory) if job.state == "done" and not job.is_dry)
        found = (job for job in done if job.kind == kind)
        return next(found, None)

    def current(self, memory: str, kind: str = "") -> Job | None:
        """Return the job of a memory (of a kind) that runs, or the next that will; None: there is none."""
        live = [job for job in self.of(memory) if job.is_live and kind in ("", job.kind)]
        return min(live, key=lambda job: (job.state != "running", job.id), default=None)

    def of(self, memory: str) -> list[Job]:
        """Return the jobs of a memory, newest first."""
        with self._lock:
            self._read()
            return [self._fresh(job) for job in reversed(self._jobs.values()) if job.memory == memory]

    def drop(self, memory: str) -> None:
        """Drop the jobs of a memory that is put aside. While one of them has not ended, it stays where it is."""
        with self._lock:
            if self.current(memory) is not None:
                raise Busy(
                    "Nothing was removed: a job of this memory has not ended. Wait until it has, or cancel it."
                )
            for job in [job for job in self._jobs.values() if job.memory == memory]:
                for told in (self._jobs, self._editions, self._lasting):
                    told.pop(job.id, None)
                self._state.put(_name_of(job.id), None)

    @property
    def live(self) -> int:
        """How many wait or run."""
        with self._lock:
            return sum(job.is_live for job in self._jobs.values())

    def wait(self, id: str, seconds: float) -> Job:
        """Wait until a job ends, or for so many seconds."""
        until = time.monotonic() + seconds
        with self._changed:
            while (job := self.get(id)).is_live and (left := until - time.monotonic()) > 0:
                self._changed.wait(left)
        return job

    def cancel(self, id: str) -> Job:
        """End a job that has not ended, where nothing is left half done by that."""
        with self._lock:
            job = self.get(id)
            if not job.is_live:
                raise Refused("Nothing was cancelled: the job has ended already.")
            if not job.can_be_cancelled:
                raise Refused(
                    "Nothing was cancelled: a forget is carried out whole, once it has begun. Wait until it ends."
                )
            if job.state == "waiting" and job.server == self._own:
                self._end(job, {"state": "cancelled"})
            elif job.process is not None:
                job.process.send_signal(signal.SIGTERM)  # its last line says what came of it
            elif job.queued and self._state.workers is not None:
                if not self._state.workers.take_back(self._pool.path(job.memory), job.queued):
                    raise Refused("Nothing was cancelled: a worker has begun this job. Wait until it ends.")
            elif job.is_handed and job.server == self._own:
                job.is_unwanted = True  # it is just being handed over
            elif self._own and job.server != self._own:
                self._write(job, job.head() | {"is_cancelled": True})  # whose it is hears that
            else:
                raise Refused("Nothing was cancelled: an earlier server began this job. Wait until it ends.")
        return job

    # --- running -----------------------------------------------------------------------------

    def _go_on(self) -> None:
        """Begin what may begin. Under the lock."""
        for id in list(self._specs):
            running = [
                job for job in self._jobs.values() if job.state == "running" and job.server == self._own
            ]
            if sum(not job.is_handed for job in running) >= AT_ONCE or self._is_stopping.is_set():
                return
            job = self._jobs[id]
            if job.memory not in {each.memory for each in running}:
                self._begin(job, self._specs.pop(id))

    def _begin(self, job: Job, spec: dict[str, Any]) -> None:
        job.state, job.began = "running", time.time()
        self._write(job, job.head())
        workers = self._state.workers
        job.is_handed = workers is not None and workers.may_have(job.kind, spec)
        if job.is_handed:
            self._tell(job)
            threading.Thread(
                target=self._hand_over, args=(job, spec), name="looseleaf-handed", daemon=True
            ).start()
        else:
            self._begin_here(job, spec)

    def _begin_here(self, job: Job, spec: dict[str, Any]) -> None:
        """Do a job in a process of this machine. Under the lock."""
        told = spec | {"kind": job.kind, "head": job.head(), "state": self._state.told()}
        with nullcontext() if self._own else self._state.hold(_chore(job.id)) as lock:
            job.process = subprocess.Popen(
                [sys.executable, "-P", "-m", "looseleaf.serve.job"],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                pass_fds=(lock,) if isinstance(lock, int) else (),  # held as long as the process lives
                start_new_session=True,  # what ends the server in its terminal does not end a forget
            )
        self._tell(job)
        given = (job, job.process, json.dumps(told).encode(), spec.get("file", ""))
        threading.Thread(target=self._follow, args=given, name="looseleaf-job", daemon=True).start()

    def _follow(self, job: Job, process: subprocess.Popen[bytes], told: bytes, file: str) -> None:
        """Read what the process of a job says until it ends."""
        assert process.stdin is not None
        assert process.stdout is not None
        try:
            process.stdin.write(told)
            process.stdin.close()
        except OSError:
            pass  # it ended at once, and that is what is said of it
        last: dict[str, Any] = {}
        while line := process.stdout.readline(_LONGEST):
            said = _object(line)
            if "state" in said:
                last = said
            elif said:
                with self._lock:
                    job.done, job.total = int(said.get("done", 0)), int(said.get("total", 0))
                    self._tell_others(job)
                    self._tell(job)
        process.stdout.close()
        process.wait()
        self._end_at_last(job, last or {"state": "lost", "error": DIED}, file)

    def _hand_over(self, job: Job, spec: dict[str, Any]) -> None:
        """Have a worker do a job."""
        assert self._state.workers is not None
        try:
            job.queued = self._state.workers.ask(spec["path"], job.kind, spec)
        except (Refused, OSError) as error:
            said = {"state": "refused", "error": str(error), "problem": type(error).__name__}
            self._end_at_last(job, said, spec.get("file", ""))
            return
        if job.is_unwanted:
            self._state.workers.take_back(spec["path"], job.queued)
        with suppress(Refused), self._lock:  # else another server could only say that it is lost
            self._write(job, job.head())
        self._look_on(job, spec.get("file", ""))

    def _look_on(self, job: Job, file: str = "") -> None:
        """Take in what becomes of a job that a worker has. Where none takes it, one is started. When this server is
        stopped, another one looks on."""
        workers = self._state.workers
        assert workers is not None
        since = time.monotonic()
        while not self._is_stopping.wait(_LOOK_SECONDS):
            try:
                state, said = workers.look(self._pool.path(job.memory), job.kind, job.queued)
                if said:
                    self._end_at_last(job, said, file)
                    return
                if state == "later" or (state == "running" and workers.are_there()):
                    since = time.monotonic()
                elif time.monotonic() - since > _TAKE_SECONDS:
                    since = time.monotonic()
                    workers.help()
            except (Busy, Unreadable):
                continue  # the database is away
            except Refused as gone:
                self._end_at_last(job, {"state": "lost", "error": str(gone)}, file)
                return

    def _end_at_last(self, job: Job, said: dict[str, Any], file: str = "") -> None:
        """Write down what became of a job, once the database is there."""
        self._drop(file)
        while True:
            with suppress(Busy, Unreadable), self._lock:
                self._end(job, said)
                self._go_on()
                return
            if self._is_stopping.wait(_TELL_SECONDS):
                return

    def _end(self, job: Job, said: dict[str, Any]) -> None:
        """Take in what became of a job. Under the lock."""
        spec = self._specs.pop(job.id, None)
        if spec is not None:
            self._drop(spec.get("file", ""))
        job.process = None
        job.ended = float(said.get("ended") or time.time())
        self._take(job, said)
        if not said.get("is_written"):
            self._write(job, kept(job.head(), said))
        if not self._own:
            remove(self._state.place(f"{_chore(job.id)}.lock"))
        self._audit.write(act="job ended", job=job.id, kind=job.kind, memory=job.memory, state=job.state)
        self._tell(job)

    def _take(self, job: Job, said: Mapping[str, Any]) -> None:
        job.state, job.error = str(said.get("state")), str(said.get("error") or "")
        job.problem = str(said.get("problem") or "")
        job.result = said.get("result")
        self._lasting[job.id] = said.get("lasting") or {}
        edition = said.get("edition")
        if isinstance(edition, list) and job.result is not None:
            self._editions[job.id] = str(edition[0]), edition[1]

    def _fresh(self, job: Job) -> Job:
        """Drop what a result quotes, if something has been forgotten since. Under the lock."""
        told = self._editions.get(job.id)
        if told is not None and self._edition(job.memory, told[0]) != told[1]:
            del self._editions[job.id]
            job.result, job.is_outdated = self._lasting[job.id], True
            self._write(job, kept(job.head(), {**self._said(job), "result": job.result, "edition": None}))
        return job

    def _edition(self, memory: str, file: str) -> list[int]:
        return edition_at(file) if file else self._pool.edition(memory)

    def _said(self, job: Job) -> dict[str, Any]:
        error = FORGOTTEN if job.kind == "forget" and job.error else job.error
        said = {"state": job.state, "ended": job.ended, "error": error, "problem": job.problem}
        return said | {"lasting": self._lasting.get(job.id), "is_outdated": job.is_outdated}

    def _tell(self, job: Job) -> None:
        self._changed.notify_all()
        for told in self.on_change:
            told(job)

    # --- the files ---------------------------------------------------------------------------

    def _hash(self, asked: str) -> str:
        """Return a hash of what was asked, by which words can be compared, and not guessed without the key."""
        if not self._secret:
            with self._state.changing(f"{FOLDER}/key") as draft:
                draft.data = self._secret = draft.data or secrets.token_bytes(32)
        return hashlib.blake2b(
            asked.encode("utf-8", "surrogatepass"), key=self._secret, digest_size=16
        ).hexdigest()

    def _write(self, job: Job, told: Mapping[str, Any]) -> None:
        self._state.put(_name_of(job.id), json.dumps(told).encode() + b"\n")

    def _drop(self, file: str) -> None:
        """Remove the file that an import was received in; no file elsewhere."""
        if os.path.realpath(file).startswith(os.path.realpath(self._access_folder) + os.sep):
            remove_received(file)

    def _clear(self) -> None:
        """Remove what an earlier server received; while its import still reads that, leave it. Under the lock."""
        if any(
            job.kind == "import" and job.state == "running" and job.process is None
            for job in self._jobs.values()
        ):
            return
        for name in self._left:
            shutil.rmtree(os.path.join(self._access_folder, INCOMING, name), ignore_errors=True)
        self._left = []

    def _read(self) -> None:
        """Read the jobs of earlier servers, once; follow those whose process still runs. Of servers that run, read
        again what changed."""
        if self._own:
            self._read_others()
        if self._is_read:
            return
        self._is_read = True
        if self._own:
            return
        ids = self._ids()
        for id in ids[:-_KEPT]:
            self._state.put(_name_of(id), None)
        followed = []
        for id in ids[-_KEPT:]:
            job = self._read_job(id)
            if job is None:
                continue
            self._jobs[id] = job
            if job.state == "waiting":
                self._end(job, {"state": "lost", "error": NOT_BEGUN})
            elif job.state == "running":
                followed.append(job)
        if followed:
            given = (followed,)
            threading.Thread(target=self._watch, args=given, name="looseleaf-jobs", daemon=True).start()

    def _ids(self) -> list[str]:
        names = (name.rpartition("/")[2] for name in self._state.names(FOLDER))
        return [name.removesuffix(".json") for name in names if is_id(name.removesuffix(".json"))]

    def _read_job(self, id: str) -> Job | None:
        said = _object(self._state.see(_name_of(id)).data or b"")
        if not {"memory", "kind", "state", "made"} <= said.keys():
            return None
        job = Job(id, str(said["memory"]), str(said["kind"]))
        job.made, job.began, job.ended = float(said["made"]), said.get("began"), said.get("ended")
        job.key, job.asked = str(said.get("key") or ""), str(said.get("asked") or "")
        job.server, job.queued = str(said.get("server") or ""), int(said.get("queued") or 0)
        job.done, job.total = int(said.get("done") or 0), int(said.get("total") or 0)
        job.is_outdated, job.is_dry = bool(said.get("is_outdated")), bool(said.get("is_dry"))
        self._take(job, said)
        return job

    def _watch(self, jobs: list[Job]) -> None:
        """Wait for the processes that an earlier server started."""
        while not self._is_stopping.is_set() and jobs:
            ended = [job for job in jobs if not self._state.is_held(_chore(job.id))]
            for job in ended:
                jobs.remove(job)
                with self._lock:
                    found = self._read_job(job.id)
                    said: dict[str, Any] = {"state": "lost", "error": DIED}
                    if found is not None and not found.is_live:
                        job.ended = found.ended
                        data = self._state.see(_name_of(job.id)).data or b""
                        said = {**_object(data), "is_written": True}
                    self._end(job, said)
                    self._clear()
                    self._go_on()
            self._is_stopping.wait(_LOOK_SECONDS)

    # --- other servers -----------------------------------------------------------------------

    def _read_others(self) -> None:
        """Take in what other servers wrote of their jobs. Under the lock."""
        there = self._ids()
        for id in there:
            seen = self._state.see(_name_of(id))
            if seen is self._seen.get(id):
                continue
            self._seen[id] = seen
            job, known = self._read_job(id), self._jobs.get(id)
            if known is not None and known.server == self._own:
                if _object(seen.data or b"").get("is_cancelled") and known.is_live and known.can_be_cancelled:
                    with suppress(Refused):  # it has just ended, or cannot be ended any more
                        self.cancel(id)
            elif job is not None:
                self._jobs[id] = job
                self._tell(job)
        for id in set(self._seen) - set(there):
            self._seen.pop(id)
            for told in (self._jobs, self._editions, self._lasting):
                told.pop(id, None)

    def _tell_others(self, job: Job) -> None:
        """Write down how far a job is, where other servers may be asked; not too often."""
        if self._own and time.monotonic() - job.told > _TELL_SECONDS:
            job.told = time.monotonic()
            with suppress(Refused):
                self._write(job, job.head() | {"done": job.done, "total": job.total})

    def hear(self, name: str = "") -> None:
        """Take in that a document changed."""
        if name.startswith(FOLDER):
            with self._lock:
                self._read()

    def outdate(self, memory: str) -> None:
        """Drop what results quote of a memory in which something was forgotten."""
        self.of(memory)

    def clear_lost(self) -> None:
        """Write down that the jobs of servers that were killed are lost, if their processes are too."""
        with self._lock:
            self._read()
            others = [job for job in self._jobs.values() if job.is_live and job.server != self._own]
        missed, self._missed = self._missed, set()
        for job in others:
            if self._state.is_held(f"servers/{job.server}") or self._state.is_held(_chore(job.id)):
                continue
            if job.id not in missed:  # its connection may have been cut: it has a moment to say that it lives
                self._missed.add(job.id)
                continue
            # Of several servers, one goes on with it.
            with self._lock, self._state.changing(f"{FOLDER}/begin"):
                self._state.look_again(_name_of(job.id))
                self._read()
                now = self._jobs.get(job.id)
                if now is None or not now.is_live or now.server != job.server:
                    continue
                if now.queued:
                    now.server, now.is_handed = self._own, True
                    self._write(now, now.head())
                    threading.Thread(
                        target=self._look_on, args=(now,), name="looseleaf-handed", daemon=True
                    ).start()
                else:
                    self._end(now, {"state": "lost", "error": NOT_BEGUN if now.state == "waiting" else DIED})
        with self._lock:
            for id in self._ids()[:-_KEPT]:
                if not self._jobs[id].is_live:
                    self._state.put(_name_of(id), None)

    # --- the end -----------------------------------------------------------------------------

    def open(self) -> None:
        """Take up the jobs of an earlier server, and clear what it had half received."""
        if self._own:
            self._alive.enter_context(self._state.hold(f"servers/{self._own}"))
        with self._lock, suppress(FileNotFoundError):
            self._read()
            found = os.scandir(os.path.join(self._access_folder, INCOMING))
            # What another server of this machine has just received is its own.
            self._left = [
                each.name
                for each in found
                if not self._own or each.stat().st_mtime < time.time() - _OLD_SECONDS
            ]
            self._clear()

    def close(self) -> None:
        """Begin no more, end what only reads, and let the rest go on by itself: the next server finds what came of
        it."""
        with self._lock:
            self._is_stopping.set()
            for id in list(self._specs):
                with suppress(Unreachable):
                    self._end(self._jobs[id], {"state": "lost", "error": NOT_BEGUN})
            ending = [job for job in self._jobs.values() if job.kind in READS and job.process is not None]
            for job in ending:
                if job.process is not None:
                    job.process.send_signal(signal.SIGTERM)
        for job in ending:
            with suppress(Unreachable):
                self.wait(job.id, _CLOSE_SECONDS)
        with suppress(Refused):
            self._alive.close()


def kept(head: Mapping[str, Any], said: Mapping[str, Any]) -> dict[str, Any]:
    """Return what the file of a job that ended has: nothing of what was forgotten."""
    told = {**head, **{name: value for name, value in said.items() if name != "is_written"}}
    told.setdefault("ended", time.time())
    if told["kind"] == "forget":
        error = said.get("error") or ""
        told |= {"error": error if error in ("", DIED, NOT_BEGUN) else FORGOTTEN}
    return told


def edition_at(path: str) -> list[int]:
    """Return how the file looks that each forget replaces, if it is there; and which folder it is in, as another memory
    may be put in the place of one."""
    told: list[int] = []
    try:
        told.append(os.stat(os.path.dirname(path)).st_ino)
        found = os.stat(path)
    except OSError:
        return told
    return [*told, found.st_ino, found.st_mtime_ns, found.st_size]


def _checked(kind: str, spec: Mapping[str, Any]) -> dict[str, Any]:
    fields = FIELDS.get(kind)
    if fields is None:
        raise Invalid(f"Nothing was done: the jobs are {', '.join(FIELDS)}.")
    given = {name: value for name, value in spec.items() if value is not None}
    for name, value in given.items():
        if name not in fields:
            raise Invalid(f"Nothing was done: {kind} has no {name[:40]!r}.")
        if not isinstance(value, fields[name]):
            raise Invalid(f"Nothing was done: {name!r} is of the wrong kind.")
    return given


def _asked(given: Mapping[str, Any]) -> str:
    """Return what is asked, to be compared: of what was received, the content, and not the place."""
    place = {"file": os.path.basename(given["file"])} if "sha256" in given else {}
    return json.dumps({**given, **place}, sort_keys=True)


def _object(line: bytes) -> dict[str, Any]:
    try:
        said = json.loads(line)
    except ValueError:
        return {}
    return said if isinstance(said, dict) else {}


def _hash(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def _chore(id: str) -> str:
    """Return the name by which a job's process says that it lives."""
    return f"{FOLDER}/{id}"


def _name_of(id: str) -> str:
    """Return the name of a job's document."""
    return f"{FOLDER}/{id}.json"


def remove_received(file: str) -> None:
    """Remove a file that was received, and the folder that was made for it."""
    for end, path in ((os.unlink, file), (os.rmdir, os.path.dirname(file))):
        with suppress(OSError):
            end(path)
