"""The screen Health: the last check, and what else a person may have to look at."""

from __future__ import annotations

import asyncio
import os
from urllib.parse import quote

from looseleaf.base.errors import Refused
from looseleaf.base.immutable import frozen
from looseleaf.base.paths import is_page
from looseleaf.serve.web.ask import ask
from looseleaf.serve.web.forms import Note, done, read_form
from looseleaf.serve.web.render import day, long_day, page
from looseleaf.serve.web.wording import plural

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from starlette.requests import Request
    from starlette.responses import Response

    from looseleaf.memory import Memory
    from looseleaf.serve.jobs import Job, Jobs
    from looseleaf.serve.web.ask import Screen
    from looseleaf.work.queue import JobState

SHOWN = 200
"""Problems that are listed."""
REFRESH = "2"
"""Seconds after which a screen of a job under way reloads itself."""
_SCARCE = 1 << 30
"""Free bytes below which a person should make room."""


@frozen
class Finding:
    """What was looked at, and whether all is well; `then` says what to do, `address` where, below the memory's."""

    name: str
    is_ok: bool
    says: str
    then: str = ""
    address: str = ""


@frozen
class Fault:
    """A problem of the last check. `address`: the line it is on, if that is a page's."""

    where: str
    message: str
    is_error: bool
    address: str


# --- what is looked at on every visit: quick, and nothing is changed -----------------------


def find(memory: Memory) -> Iterator[Finding]:
    """Yield what can be told of a memory at once."""
    yield _index(memory)
    yield _held(memory)
    yield _contested(memory)
    yield _unexplained(memory)
    yield _machines(memory)
    if memory.parts.store.tables is None:
        yield _space(memory)
        yield _permissions(memory)


def _index(memory: Memory) -> Finding:
    from looseleaf.index.sqlite import VIEW, DamagedIndex

    store = memory.parts.context.store
    if store.tables is None and not os.path.lexists(store.locate(VIEW)):
        return Finding("index", True, "not built yet; the first search builds it")
    try:
        is_current = memory.parts.recall.keep.is_current()
    except DamagedIndex as damaged:
        return Finding("index", False, f"damaged ({damaged})", "Build it again: nothing else is touched.")
    return Finding("index", True, "up to date" if is_current else "behind; the next search catches up")


def _held(memory: Memory) -> Finding:
    held = memory.review.held()
    if not held:
        return Finding("pages", True, "every page is what its file says")
    says = "; ".join(f"{each.path} {each.says}" for each in held[:3])
    more = f"; and {len(held) - 3} more" if len(held) > 3 else ""
    return Finding("pages", False, f"{says}{more}", "Decide on them", "/review")


def _contested(memory: Memory) -> Finding:
    found = memory.review.contested()
    if not found:
        return Finding("values", True, "no two values stand where there can be one")
    return Finding(
        "values", False, f"{plural(len(found), 'fact')} with two values", "Say which is right", "/review"
    )


def _unexplained(memory: Memory) -> Finding:
    found = memory.review.unexplained()
    if not found:
        return Finding("authors", True, "it is known who wrote each line")
    says = f"nobody knows who wrote {plural(len(found), 'line')}"
    return Finding("authors", False, says, "If they are yours, say so", "/review")


def _machines(memory: Memory) -> Finding:
    from looseleaf.log.talk_streams import machine_of, talk_elsewhere
    from looseleaf.store import JOURNAL
    from looseleaf.store.machines import stream_of

    store = memory.parts.store
    told = []
    for name in store.machines():
        streams = [each for each in talk_elsewhere(store) if machine_of(each) == name]
        ends = [next(store.read_back(each), None) for each in (stream_of(name, JOURNAL), *streams)]
        last = max((float(end.record.get("ts") or 0.0) for end in ends if end is not None), default=0.0)
        told.append(
            f"{name}, which last wrote on {long_day(day(last))}"
            if last
            else f"{name}, of which there is nothing here"
        )
    says = (
        f"this is {store.machine}; it is shared with {'; '.join(told)}"
        if told
        else "only this one writes here"
    )
    return Finding("machines", True, says)


def _space(memory: Memory) -> Finding:
    import shutil

    free = shutil.disk_usage(memory.path).free
    says = f"{free / 1e9:,.1f} GB are free"
    return Finding(
        "space", free >= _SCARCE, says, "" if free >= _SCARCE else "Make room before the disk is full."
    )


def _permissions(memory: Memory) -> Finding:
    found = os.stat(memory.path)
    if found.st_mode & 0o077:
        return Finding(
            "permissions", False, "other users may read the folder", "Close it: chmod -R go= on the folder."
        )
    return Finding("permissions", True, "only you may enter the folder")


# --- the check ---------------------------------------------------------------------------


def faults_of(job: Job) -> list[Fault]:
    """Return the problems that a check found, errors first."""
    found = (job.result or {}).get("problems") or ()
    faults = [_fault(each) for each in found]
    return sorted(faults, key=lambda fault: not fault.is_error)


def _fault(problem: dict[str, Any]) -> Fault:
    path, line = str(problem.get("path")), problem.get("line")
    address = f"/pages/{quote(path)}" if is_page(path) else ""
    if address and line:
        address += f"/who#L{line}"
    where = f"{path}:{line}" if line else path
    return Fault(where, str(problem.get("message")), problem.get("severity") == "error", address)


async def _health(request: Request) -> Response:
    def read(memory: Memory) -> dict[str, Any]:
        told = {"findings": list(find(memory)), "notes": list(memory.notes), "path": memory.name}
        return told | {"queued": _queued(memory)}

    told = await ask(request, read)
    jobs, name = _jobs(request), request.state.memory
    every = await asyncio.to_thread(jobs.of, name)
    last = next((job for job in every if job.kind == "check" and job.state == "done"), None)
    under_way = [job for job in every if job.is_live]
    # A check that did not finish is no check, and nobody should wait for it.
    newest = next((job for job in every if job.kind == "check"), None)
    failed = newest if newest is not None and newest.state in ("refused", "lost", "cancelled") else None
    faults = faults_of(last) if last is not None else []
    answer = page(
        request,
        "health.html",
        last=last,
        failed=failed,
        faults=faults[:SHOWN],
        more=max(0, len(faults) - SHOWN),
        jobs=under_way,
        **told,
    )
    if under_way:
        answer.headers["refresh"] = REFRESH
    return answer


def _queued(memory: Memory) -> list[JobState]:
    """Return the jobs of a memory in a database that workers do, or could not do."""
    if not memory.parts.store.is_far:
        return []
    from looseleaf.work.queue import jobs_of

    return [job for job in jobs_of(memory.parts.store) if job.is_live or job.state == "failed"]


def _jobs(request: Request) -> Jobs:
    return request.app.state.serving.jobs  # type: ignore[no-any-return]


async def _start(request: Request) -> Response:
    """Begin a check, or a new index."""
    form = await read_form(request)
    kind, name = request.path_params["kind"], request.state.memory
    if kind not in ("check", "index"):
        raise Refused("Nothing was begun: there is no such work here.")
    spec = {"full": True} if kind == "index" and form["full"] else {}
    await asyncio.to_thread(_jobs(request).start, name, kind, spec)
    said = "Everything is being read and hashed again." if kind == "check" else "The index is being built."
    return done(request, f"/m/{request.path_params['name']}/health", Note(said))


ROUTES: list[Screen] = [
    ("/health", ["GET"], _health),
    ("/health/{kind}", ["POST"], _start),
]
