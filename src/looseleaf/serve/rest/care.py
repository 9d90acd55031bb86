"""Forgetting, moving, costs and health. What takes long is a job: it is begun here, and looked at by its id."""

from __future__ import annotations

import asyncio
import hashlib
import os
import tempfile
from typing import Annotated, Any

from fastapi import Header, Path, Query, Request
from starlette.responses import Response, StreamingResponse

from looseleaf.base.errors import NotFound, Unwritten
from looseleaf.base.immutable import members_of
from looseleaf.base.version import VERSION
from looseleaf.serve.event_stream import stream_for
from looseleaf.serve.jobs import INCOMING, remove_received
from looseleaf.serve.problems import NotAllowed
from looseleaf.serve.rest import values
from looseleaf.serve.rest.cursors import Listing
from looseleaf.serve.rest.routes import Answer, Asking, Name, Read, Write, route
from looseleaf.transfer.export_folder import TarWriter, export_whole

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterable
    from typing import BinaryIO

    from looseleaf.explain.writes import Written
    from looseleaf.memory import Memory
    from looseleaf.models.costs import Share

_PIECE = 1 << 20
_MOST_RECEIPTS = 100_000
_OWN_JOBS = {"forget": ("admin",), "import": ("admin",), "analyze": ("admin", "review")}
"""Jobs that are seen only by a token that may one of these: they tell what was forgotten, or of an agent's prompts."""

_ACCEPTED: dict[int | str, dict[str, Any]] = {
    202: {
        "description": "It was begun. `Location` says where to look.",
        "headers": {"Location": {"description": "The job.", "schema": {"type": "string"}}},
    }
}


@route("POST", "/memories/{memory}/forget", "admin", values.Job, status=202, responses=_ACCEPTED)
async def forget(memory: Name, asking: Write, body: values.Forget) -> Response:
    """Remove a fact, a topic, a session, all of an origin, or every sentence with certain words, everywhere; then
    read every byte to prove it."""
    return asking.job("forget", body.model_dump(exclude_none=True))


@route("POST", "/memories/{memory}/check", "admin", values.Job, status=202, responses=_ACCEPTED)
async def check(memory: Name, asking: Write) -> Response:
    """Read and hash everything again. `GET …/problems` has what was found."""
    return asking.job("check", {})


@route("POST", "/memories/{memory}/analyze", "admin", values.Job, status=202, responses=_ACCEPTED)
async def analyze(memory: Name, asking: Write, body: values.Analyze) -> Response:
    """Say what prompts cost, slot by slot, and what they would cost otherwise."""
    return asking.job("analyze", body.model_dump(exclude_none=True) | {"agent": asking.token.agent})


@route("POST", "/memories/{memory}/index", "admin", values.Job, status=202, responses=_ACCEPTED)
async def index(memory: Name, asking: Write, body: values.MakeIndex) -> Response:
    """Bring the index of recall up to date, or make it again."""
    return asking.job("index", body.model_dump())


@route(
    "POST",
    "/memories/{memory}/import",
    "admin",
    values.Job,
    status=202,
    responses=_ACCEPTED,
    openapi_extra={
        "requestBody": {
            "required": True,
            "content": {"application/octet-stream": {"schema": {"type": "string", "format": "binary"}}},
        },
    },
)
async def import_history(
    memory: Name,
    asking: Write,
    request: Request,
    format: Annotated[str, Query(min_length=1, max_length=40, pattern="^[a-z0-9-]+$")],
    name: Annotated[
        str,
        Query(
            max_length=80, pattern=r"^[A-Za-z0-9_-]+(\.[A-Za-z0-9]+)?$", description="The name of the file."
        ),
    ] = "import.json",
    mine: Annotated[
        bool, Query(description="The user vouches for it; only a token with a voice may say so.")
    ] = False,
    dry_run: bool = False,
) -> Response:
    """Take in a history from elsewhere, each item once. The content is the file, up to 256 MiB. Unless the user vouches
    for it, it is recorded for the agent `import`, whoever sends it."""
    if mine and not asking.has_voice:
        raise NotAllowed(
            "Nothing was imported: only a token with a voice may say that the words are the user's."
        )
    folder, path = os.path.join(asking.serving.access.folder, INCOMING), ""
    try:
        os.makedirs(folder, mode=0o700, exist_ok=True)
        path = os.path.join(tempfile.mkdtemp(dir=folder), name)
        digest = await _receive(request, path)
        agent = asking.token.agent if mine else None
        spec = {"format": format, "mine": mine, "dry_run": dry_run, "agent": agent}
        return asking.job("import", spec | {"file": path, "sha256": digest})
    except BaseException as error:
        remove_received(path)
        if isinstance(error, OSError):
            raise Unwritten(
                f"Nothing was imported: the server could not keep the content ({error.strerror}). Free some space "
                "there, then send it again."
            ) from None
        raise


async def _receive(request: Request, path: str) -> str:
    """Write the content of a request into a new file; return its hash."""
    digest = hashlib.sha256()
    with open(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600), "wb") as file:
        async for piece in request.stream():
            digest.update(piece)
            await asyncio.to_thread(file.write, piece)
    return digest.hexdigest()


@route(
    "GET",
    "/memories/{memory}/export",
    "admin",
    writes=True,
    response_class=StreamingResponse,
    responses={
        200: {
            "description": "The whole memory, as one archive.",
            "content": {"application/gzip": {"schema": {"type": "string", "format": "binary"}}},
        }
    },
)
async def export(memory: Name, asking: Read) -> StreamingResponse:
    """Get the whole memory, as it is at one moment: a .tar.gz."""
    folder, name = asking.serving.access.folder, memory.rpartition("/")[2]
    os.makedirs(folder, mode=0o700, exist_ok=True)
    file = tempfile.TemporaryFile(dir=folder)  # noqa: SIM115  it is closed when all was sent
    try:
        await asking.read(lambda each: export_whole(each, TarWriter(file, name)))
    except BaseException:
        file.close()
        raise
    size = file.seek(0, os.SEEK_END)
    file.seek(0)
    headers = {"content-length": str(size), "content-disposition": f'attachment; filename="{name}.tar.gz"'}
    return StreamingResponse(_pieces(file), headers=headers, media_type="application/gzip")


async def _pieces(file: BinaryIO) -> AsyncIterator[bytes]:
    with file:
        while piece := await asyncio.to_thread(file.read, _PIECE):
            yield piece


@route("GET", "/memories/{memory}/jobs/{job}", "read", values.Job)
async def get_job(memory: Name, job: Annotated[str, Path(max_length=40)], asking: Read) -> Answer:
    """Look at a job."""
    found = await asyncio.to_thread(asking.serving.jobs.get, job)
    if found.memory != memory or not any(map(asking.token.may, _OWN_JOBS.get(found.kind, ("read",)))):
        raise NotFound("There is no job with this id.")
    return Answer(found.to_dict())


@route("GET", "/memories/{memory}/problems", "read", values.Problems)
async def get_problems(memory: Name, asking: Read) -> Answer:
    """Get what the last check found, and when it was made."""
    last = await asyncio.to_thread(asking.serving.jobs.last, memory, "check")
    if last is None:
        return Answer({"checked": None, "is_outdated": False, "result": None})
    return Answer({"checked": last.ended, "is_outdated": last.is_outdated, "result": last.result})


@route("GET", "/memories/{memory}/health", "read", values.Health)
async def get_health(memory: Name, asking: Read) -> Answer:
    """Say whether the memory answers, and what is at work on it."""
    has_talk = await asking.read(lambda each: bool(each.talk.sessions(1)))
    jobs = await asyncio.to_thread(asking.serving.jobs.of, memory)
    working = sorted({job.kind for job in jobs if job.is_live})
    return Answer({"memory": memory, "version": VERSION, "sessions": has_talk, "working": working})


@route("GET", "/memories/{memory}/costs", "read", values.Costs)
async def get_costs(memory: Name, asking: Read, days: Annotated[int, Query(ge=1, le=3_650)] = 30) -> Answer:
    """Say what models used today, against the ceilings; and in the last days. Numbers only, of all agents."""

    def shown(shares: Iterable[Share]) -> list[dict[str, Any]]:
        return [{"name": each.name, **each.spent.to_dict()} for each in shares]

    def read(memory: Memory) -> dict[str, Any]:
        costs = memory.costs
        ceiling, since = costs.ceiling(), costs.since(days)
        limits = {name: each for name, each in members_of(ceiling).items() if name != "spent"}
        by = {f"by_{what}": shown(costs.by(what, since)) for what in ("day", "purpose", "model")}
        return {"today": ceiling.spent.to_dict(), "limits": limits, **by}

    return Answer(await asking.read(read))


@route(
    "GET",
    "/memories/{memory}/events",
    "read",
    response_class=StreamingResponse,
    responses={
        200: {
            "description": "Events as they come: `traced`, `placed`, `edited`, `waiting`, `compacted`, `prompted`, "
            "`spent`, `job`; with ids, and no text.",
            "content": {"text/event-stream": {"schema": {"type": "string"}}},
        }
    },
)
async def follow_events(
    memory: Name,
    asking: Read,
    last: Annotated[
        str | None,
        Header(alias="Last-Event-ID", max_length=40, description="The id of the last event you have."),
    ] = None,
) -> Response:
    """Follow what is written into the memory, by whichever process. Of other agents' talk, nothing is told."""
    return stream_for(asking.serving, memory, asking.request)


@route("GET", "/memories/{memory}/receipts", "read", values.listed(values.Written))
async def list_receipts(memory: Name, asking: Read, part: Listing) -> Answer:
    """List what agents and distillation wrote, the newest first."""

    def read(memory: Memory) -> dict[str, Any]:
        count = 4 * part.limit
        while True:
            found = memory.explain.receipts(count)
            seen = [each for each in found if _is_seen(asking, memory, each)]
            rest = part.skip(seen, lambda each: [each.id], falls=True)
            if len(rest) > part.limit or len(found) < count or count >= _MOST_RECEIPTS:
                break
            count *= 4
        return part.from_found(rest, lambda each: [each.id], lambda each: each.to_dict())

    return Answer(await asking.read(read))


def _is_seen(asking: Asking, memory: Memory, written: Written) -> bool:
    """True for writes on pages; what waits in review is seen by those who may decide on it or asked for it."""
    own = f"agent:{memory.agent}"
    return asking.is_person or not written.path.startswith("review/") or written.author == own
