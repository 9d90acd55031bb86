"""The queue: jobs of all memories of a database, in tables there.

A job has a kind, a memory and often an agent, and no text: what it works on, and what came of it, is in its memory,
behind row security, and goes with the next forgetting. Of each kind, one waits for a memory, also while one runs: work
that comes meanwhile is done by that one. Jobs of a memory run one at a time.

The tables and their rules are those of procrastinate; `schema/0003.jobs.sql` has them.
"""

from __future__ import annotations

import json
import time

from looseleaf.base.errors import Invalid, NotFound, Refused
from looseleaf.base.ids import is_id, new_id
from looseleaf.base.immutable import frozen, members_of
from looseleaf.base.paths import IMPORTER, INCOMING
from looseleaf.store.files import FileStore

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

    from looseleaf.base.values import Document, Edition
    from looseleaf.store.postgres.database import Database, Wire
    from looseleaf.store.postgres.store import PostgresStore
    from looseleaf.store.protocol import OpenStore

FIELDS: dict[str, dict[str, type]] = {
    "distill": {},
    "compact": {"since": str, "model": str},
    "embed": {},
    "build": {"full": bool},
    "index": {"full": bool},
    "import": {"source": str, "format": str, "mine": bool, "here": bool},
    "check": {},
    "improve": {},
}
"""What may be asked of each kind. `since`: the mark that the window must still have; `source`: what was received."""

KINDS = tuple(FIELDS)

_OF_AGENTS = frozenset({"distill", "compact", "import"})
"""Kinds that are an agent's own: one may wait for each."""

_TELLS_APART = ("source", "full", "model")
"""Fields that tell jobs of a kind apart."""

_WAITED_FOR = frozenset({"import", "check", "compact"})
"""Kinds that a person or a model waits for: they go first."""

TOLD = "views/jobs.json"
"""What came of the last jobs of a memory. It may quote what is forgotten: a view, which goes with a forgetting."""

_TOLD = 20
"""Ended jobs that a memory remembers."""

AGAIN = "1 hour"
"""When talk whose job was cancelled is looked at again."""

PAUSES = (10.0, 60.0, 300.0, 1800.0, 3600.0)
"""Seconds before each further attempt."""
ATTEMPTS = len(PAUSES) + 1

SILENT_SECONDS = 30.0
"""A worker that said nothing for so long is dead, or cut off."""

GONE = "It failed, and the reason was not kept. Try it again."

_STATES = {
    "todo": "waiting",
    "doing": "running",
    "succeeded": "done",
    "failed": "failed",
    "cancelled": "cancelled",
    "aborted": "cancelled",
}


@frozen
class JobState:
    """A job as a person sees it. `state`: waiting, running, done, failed or cancelled. `attempts`: those that failed;
    `error`: why the last one did; `next`: when it is tried again. Times are epoch seconds."""

    id: int
    kind: str
    agent: str
    state: str
    made: float | None
    began: float | None = None
    ended: float | None = None
    attempts: int = 0
    next: float | None = None
    error: str = ""
    result: dict[str, Any] | None = None

    @property
    def is_live(self) -> bool:
        return self.state in ("waiting", "running")

    def to_dict(self) -> dict[str, Any]:
        return members_of(self)


# --- asking ------------------------------------------------------------------------------

_DEFER = """
INSERT INTO looseleaf_jobs.procrastinate_jobs AS j (queue_name, task_name, priority, lock, queueing_lock, args)
VALUES (%s, %s, %s, %s, %s, %s::jsonb)
ON CONFLICT (queueing_lock) WHERE status = 'todo' DO UPDATE SET priority = greatest(j.priority, excluded.priority)
RETURNING id
"""
# The row of a job that waits already is locked until the transaction ends: so no worker takes it before it can see what
# this transaction writes.


def defer(store: OpenStore, kind: str, agent: str = "", *, on: Wire | None = None, **more: object) -> int:
    """Ask for a job, and return its number: that of the one that waits already, if there is one. `on`: a transaction of
    the store; the job is there if that commits. `agent`: else `main`, or for an import the one of histories."""
    database = in_database(store)
    given = _checked(kind, more)
    own = (
        (agent or (IMPORTER if kind == "import" and not given.get("mine") else "main"))
        if kind in _OF_AGENTS
        else ""
    )
    same = "/".join(
        (kind, str(database.memory), own, *(str(given[each]) for each in _TELLS_APART if each in given))
    )
    asked = json.dumps({"agent": own, **given})
    values = kind, kind, int(kind in _WAITED_FOR), str(database.memory), same, asked
    if on is not None:
        row = on.execute(_DEFER.encode(), values).fetchone()
        return int(str(row[0])) if row is not None else 0
    return int(database.run(_DEFER, values)[0][0])


def in_database(store: OpenStore) -> PostgresStore:
    """Return a store that has a queue."""
    if isinstance(store, FileStore):
        raise Refused(
            f"Nothing was done: {store.path} is a folder, and only a database has jobs and workers. In a folder, a "
            "command does its work itself; `looseleaf move` brings it into a database."
        )
    return store  # type: ignore[return-value]  # there are these two


def _checked(kind: str, given: Mapping[str, object]) -> dict[str, object]:
    fields = FIELDS.get(kind)
    if fields is None:
        raise Invalid(
            f"Nothing was done: there is no kind of job {kind!r:.40}. The kinds are {', '.join(KINDS)}."
        )
    for name, value in given.items():
        if name not in fields or (value is not None and not isinstance(value, fields[name])):
            raise Invalid(
                f"Nothing was done: {kind} has no {name[:40]!r}, or its value is of the wrong type."
            )
    if kind == "import" and not is_id(str(given.get("source"))):
        raise Invalid("Nothing was done: an import needs the source that `receive` returned.")
    return {name: value for name, value in given.items() if value not in (None, False)}


def receive(store: OpenStore, name: str, data: bytes) -> str:
    """Keep what is to be imported in the memory, and return its name for the job. It goes when the job ends, and with
    a forgetting."""
    source = new_id()
    bare = name.replace("\\", "/").rpartition("/")[2]
    kept = "".join(each if each.isalnum() or each in "-_." else "_" for each in bare).strip("._")[-100:]
    in_database(store).view(f"{INCOMING}/{source}/{kept or 'source'}", data)
    return source


def received(store: PostgresStore, source: str) -> tuple[str, Document]:
    """Return the name of what was received, and the document."""
    for name in store.names(f"{INCOMING}/{source}"):
        document = store.get(f"{INCOMING}/{source}/{name}")
        if document is not None:
            return name, document
    raise NotFound(
        "Nothing was imported: what was received is gone, because something was forgotten here or the import "
        "has ended. Send it again."
    )


def drop_received(store: PostgresStore, source: str) -> None:
    for name in store.names(f"{INCOMING}/{source}"):
        stat = store.get(f"{INCOMING}/{source}/{name}")
        if stat is not None:
            store.delete(f"{INCOMING}/{source}/{name}", base=stat.sha256)


def note_left(store: PostgresStore, agent: str, after: str) -> None:
    """Note that there is talk that is not distilled yet."""
    store.run("SELECT looseleaf_jobs.note_left(%s, %s, %s::interval)", (store.memory, agent, after))


# --- what became of it -------------------------------------------------------------------

_LIST = """
SELECT j.id, j.queue_name, j.args ->> 'agent', j.status::text, j.attempts, extract(epoch FROM j.scheduled_at)::float8,
    (SELECT extract(epoch FROM max(e.at))::float8 FROM looseleaf_jobs.procrastinate_events e
        WHERE e.job_id = j.id AND e.type = 'deferred'),
    (SELECT extract(epoch FROM max(e.at))::float8 FROM looseleaf_jobs.procrastinate_events e
        WHERE e.job_id = j.id AND e.type = 'started'),
    (SELECT extract(epoch FROM max(e.at))::float8 FROM looseleaf_jobs.procrastinate_events e WHERE e.job_id = j.id)
FROM looseleaf_jobs.procrastinate_jobs j WHERE j.lock = %s AND (%s::bigint IS NULL OR j.id = %s) ORDER BY j.id DESC
"""


def jobs_of(store: OpenStore, id: int | None = None) -> list[JobState]:
    """Return the jobs of a memory, newest first: those that wait, run or failed, and the last that are done."""
    database = in_database(store)
    told = {int(each["id"]): each for each in read_told(database)}
    found: dict[int, JobState] = {}
    for row in database.run(_LIST, (str(database.memory), id, id)):
        number, kind, agent, status, attempts, at, made, began, last = row
        state = _STATES[str(status)]
        said = told.pop(int(number), {})
        found[int(number)] = JobState(
            int(number),
            str(kind),
            str(agent or ""),
            state,
            made,
            began,
            None if state in ("waiting", "running") else last,
            int(attempts),
            at if state == "waiting" else None,
            str(said.get("error") or (GONE if state == "failed" else "")),
        )
    for number, said in told.items():
        if said.get("state") == "done" and id in (None, number):
            members = {
                name: said.get(name)
                for name in ("kind", "agent", "state", "made", "began", "ended", "result")
            }
            found[number] = JobState(number, **members)  # type: ignore[arg-type]
    return [found[number] for number in sorted(found, reverse=True)]


def job(store: OpenStore, id: int) -> JobState:
    """Return a job of a memory."""
    found = jobs_of(store, id)
    if not found:
        raise NotFound("There is no job with this number in this memory.")
    return found[0]


def cancel(store: OpenStore, id: int) -> JobState:
    """Take a waiting job out of the queue."""
    database = in_database(store)
    before = job(store, id)
    asked = "SELECT args ->> 'source' FROM looseleaf_jobs.procrastinate_jobs WHERE id = %s AND lock = %s"
    source = next((row[0] for row in database.run(asked, (id, str(database.memory)))), None)
    query = (
        "SELECT looseleaf_jobs.procrastinate_cancel_job_v1(id, false, false) FROM looseleaf_jobs.procrastinate_jobs "
        "WHERE id = %s AND lock = %s AND status = 'todo'"
    )
    rows = database.run(query, (id, str(database.memory)))
    if before.kind == "distill" and rows:
        note_left(database, before.agent, AGAIN)  # an earlier attempt may have taken the note away
    now = job(store, id)
    # The answer to a first attempt may have been lost.
    is_done = bool(rows and rows[0][0] is not None) or (before.state, now.state) == ("waiting", "cancelled")
    if not is_done:
        why = "it is running, and will be carried out" if before.state == "running" else "it has ended"
        raise Refused(f"Nothing was cancelled: {why}.")
    if source is not None:
        drop_received(database, str(source))
    return now


def retry(store: OpenStore, id: int) -> JobState:
    """Try a job at once that failed, or that waits to be tried again."""
    database = in_database(store)
    job(store, id)
    query = (
        "UPDATE looseleaf_jobs.procrastinate_jobs j SET status = 'todo', scheduled_at = NULL, priority = 1, "
        "attempts = CASE WHEN status = 'failed' THEN 0 ELSE attempts END WHERE id = %s AND lock = %s AND (status = "
        "'todo' OR (status = 'failed' AND NOT EXISTS (SELECT FROM looseleaf_jobs.procrastinate_jobs o "
        "WHERE o.queueing_lock = j.queueing_lock AND o.status = 'todo'))) RETURNING id"
    )
    if not database.run(query, (id, str(database.memory))):
        raise Refused("Nothing was done: the job runs or has ended, or the same one waits already.")
    return job(store, id)


def read_told(store: PostgresStore) -> list[dict[str, Any]]:
    """Return what the memory remembers of its jobs."""
    document = store.get(TOLD)
    try:
        told = json.loads(document.data) if document is not None else []
    except ValueError:
        return []
    return [each for each in told if isinstance(each, dict) and isinstance(each.get("id"), int)]


def already_imported(store: PostgresStore, source: str) -> dict[str, Any] | None:
    """Return what came of the import of a source, if it was done: one may be asked for twice whose answer was lost."""
    done = (told for told in read_told(store) if told.get("source") == source and told.get("state") == "done")
    return next((told.get("result") for told in done), None)


def tell(store: PostgresStore, told: dict[str, Any], of: Edition) -> None:
    """Have the memory remember what came of a job; nothing, if something was forgotten since `of`."""
    others = [each for each in read_told(store) if each["id"] != told["id"]]
    kept = [*others, {**told, "ended": time.time()}][-_TOLD:]
    store.view(TOLD, json.dumps(kept, ensure_ascii=False).encode(), of=of)
    store.run("SELECT pg_notify('looseleaf', %s)", (f"{store.memory} {TOLD}",))


# --- figures -----------------------------------------------------------------------------

_FIGURES = """
SELECT queue_name, status::text, count(*),
    count(*) FILTER (WHERE scheduled_at > now()),
    extract(epoch FROM now() - min((SELECT e.at FROM looseleaf_jobs.procrastinate_events e
        WHERE e.job_id = j.id AND e.type = 'deferred' LIMIT 1))
        FILTER (WHERE status = 'todo' AND (scheduled_at IS NULL OR scheduled_at <= now())))::float8
FROM looseleaf_jobs.procrastinate_jobs j WHERE status IN ('todo', 'doing', 'failed') GROUP BY 1, 2
"""
_TALK = "SELECT count(*), extract(epoch FROM now() - min(since))::float8 FROM looseleaf_jobs.talk"
_WORKERS = """
SELECT count(*) FROM looseleaf_jobs.procrastinate_workers WHERE last_heartbeat > now() - interval '30 seconds'
"""


def return_lost(
    database: Database, own: int = 0, running: Sequence[int] = (), silent: float = SILENT_SECONDS
) -> None:
    """Return the jobs of dead workers to the queue, and those that a worker (`own`) was given and is not `running`."""
    query = "SELECT looseleaf_jobs.return_lost(%s, %s::bigint[], %s::interval, %s)"
    database.run(None, query, (own, list(running), f"{silent} seconds", ATTEMPTS))


def count_workers(database: Database) -> int:
    """Return how many workers are alive."""
    return int(database.run(None, _WORKERS)[0][0])


def figures(database: Database) -> dict[str, Any]:
    """Return the figures of a database's queue: jobs by kind and state, how long the oldest has waited, how many
    agents' talk waits to be distilled and how old the oldest of it is, and how many workers there are."""
    jobs: dict[str, dict[str, int]] = {}
    oldest = 0.0
    paused = 0
    for kind, status, count, later, age in database.run(None, _FIGURES):
        jobs.setdefault(str(kind), {})[_STATES[str(status)]] = int(count)
        paused += int(later) if status == "todo" else 0
        oldest = max(oldest, float(age or 0.0))
    ((agents, lag),) = database.run(None, _TALK)
    return {
        "jobs": jobs,
        "paused": paused,
        "oldest_seconds": oldest,
        "talk": int(agents),
        "talk_seconds": float(lag or 0.0),
        "workers": count_workers(database),
    }
