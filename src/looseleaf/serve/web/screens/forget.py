"""The screen Forget: choose, see what would go, type `forget`, watch, and read the proof.

What is to be forgotten is in no address. A preview is a job that changes nothing; it alone knows what a yes is for.
"""

from __future__ import annotations

import asyncio
import re
import secrets
from functools import partial

from looseleaf.base.errors import Invalid, NotFound, Refused
from looseleaf.forget.forget import COUNTED
from looseleaf.serve.jobs import FORGOTTEN
from looseleaf.serve.pool import in_address
from looseleaf.serve.problems import status_of
from looseleaf.serve.web.ask import ask
from looseleaf.serve.web.forms import Note, WrongForm, done, read_form
from looseleaf.serve.web.render import day, page

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from starlette.requests import Request
    from starlette.responses import Response

    from looseleaf.base.values import Fact
    from looseleaf.memory import Memory
    from looseleaf.serve.jobs import Job
    from looseleaf.serve.serving import Serving
    from looseleaf.serve.web.ask import Screen

WAYS = (
    ("match", "Words", "every sentence and line that holds them"),
    ("fact", "A fact", "by its id, f_…, or its place, USER.md:5"),
    ("topic", "A topic", "all of its pages and facts"),
    ("session", "A session", "all that was said in it, and what was learnt from that"),
    ("origin", "An origin", "all that came from it: tool, assistant or import"),
)
"""How to say what is to be forgotten."""
KINDS = {
    "traces": "What was said or done. Where only some of its sentences go, the others stay.",
    "entries": "What was made of your talk. Each is taken away, or made again without this.",
    "facts": "",
    "lines": "",
    "prompts": "The record of what an agent was told. These words are cut out of it.",
}
"""What becomes of each kind, in a sentence."""
_DAY_LINE = re.compile(r"- \d\d:\d\d (.*?)…? \([\d,]+ facts?; entry \w+\)", re.ASCII)
"""A line of a day, which tells how a talk began, and how many facts it brought."""
WORD = "forget"
"""What a person types to have it done."""
PATIENCE = 3.0
"""Seconds that a post waits for a preview: mostly it is there by then."""
REFRESH = "2"
"""Seconds after which a screen of a job under way reloads itself."""


async def _choose(request: Request) -> Response:
    given = next((way for way, _, _ in WAYS if request.query_params.get(way)), "")
    return await _form(request, given or WAYS[0][0], request.query_params.get(given, ""), is_plain=True)


async def _form(
    request: Request, by: str, what: str, refused: Refused | None = None, *, is_plain: bool = False
) -> Response:
    """Show the form. `is_plain`: a fact or a session that another screen names is asked about, without choices."""
    name = what if is_plain and by == "fact" else ""
    told: dict[str, Any] = {"by": by, "what": what, "ways": WAYS, "key": secrets.token_urlsafe(16)}
    told |= {"fact": await ask(request, partial(_find, name=name))}
    told |= {"session": what if is_plain and by == "session" else ""}
    told |= {"error": str(refused)} if refused is not None else {}
    return page(request, "forget.html", status=200 if refused is None else status_of(refused)[0], **told)


def _find(memory: Memory, name: str) -> Fact | None:
    """Return a fact, to be asked about in its own words; None if it is not known by this name."""
    try:
        return memory.fact(name) if name else None
    except Refused:
        return None


async def _preview(request: Request) -> Response:
    """Begin to look for what would go."""
    try:
        form = await read_form(request)
    except WrongForm as wrong:
        return await _form(request, wrong.form["by"], wrong.form["what"], wrong)
    by, what = form["by"], form["what"].strip()
    try:
        if by not in {way for way, _, _ in WAYS}:
            raise Invalid(
                "Nothing was looked for: say whether these are words, a fact, a topic, a session or an origin."
            )
        if not what:
            raise Invalid("Nothing was looked for: say what is to be forgotten.")
        job = await _start(
            request, {by: what, "dry_run": True}, f"preview {form['key']}" if form["key"] else ""
        )
    except Refused as refused:
        return await _form(request, by, what, refused)
    if job.state == "refused":
        return await _form(request, by, what, Invalid(job.error))
    return done(request, f"/m/{in_address(job.memory)}/forget/{job.id}")


async def _start(request: Request, spec: dict[str, Any], key: str) -> Job:
    """Start a job, and wait for it a little."""
    jobs, name = _serving(request).jobs, request.state.memory
    job = await asyncio.to_thread(jobs.start, name, "forget", spec, key)
    return await asyncio.to_thread(jobs.wait, job.id, PATIENCE)


def _serving(request: Request) -> Serving:
    return request.app.state.serving  # type: ignore[no-any-return]


async def _job(request: Request) -> Job:
    job = await asyncio.to_thread(_serving(request).jobs.get, request.path_params["job"])
    if (job.memory, job.kind) != (request.state.memory, "forget"):
        raise NotFound("There is no such job here.")
    return job


async def _watch(request: Request) -> Response:
    return await _shown(request, await _job(request))


async def _shown(request: Request, job: Job, refused: Refused | None = None) -> Response:
    error = str(refused or "") or job.error
    told: dict[str, Any] = {"job": job, "kinds": COUNTED, "word": WORD, "error": error, "means": KINDS}
    seen = job.result or {}
    name = str(seen.get("what") or "") if job.is_dry and seen.get("by") == "fact" else ""
    # While a job is under way, nobody waits for the memory.
    told["fact"] = await ask(request, partial(_find, name=name)) if job.state == "done" else None
    told["is_kept"] = is_kept
    status = 200 if refused is None else status_of(refused)[0]
    told["is_told"] = job.error == FORGOTTEN
    answer = page(request, "forget_job.html", status=status, **told)
    if job.is_live:
        answer.headers["refresh"] = REFRESH
    return answer


def is_kept(line: str, told: dict[str, Any]) -> bool:
    """True for a line of a day that is only written again: what it says stays, and some of what it counts goes."""
    found = _DAY_LINE.fullmatch(line)
    said = told.get("first", {}).get("traces", ())
    is_all = len(said) == told.get("counts", {}).get("traces")
    return found is not None and is_all and not any(found[1] in each or each in found[1] for each in said)


def _last_copy(memory: Memory) -> str:
    """Return where the last export is, which may still hold what was forgotten; "" if there is none."""
    from looseleaf.transfer.export_folder import last_copy

    found = last_copy(memory.where)
    return (
        f"The export of {day(found[1])} may still hold it: {found[0]}. Delete it, and export again."
        if found is not None
        else ""
    )


async def _really(request: Request) -> Response:
    """Forget what a preview showed, once a person has typed the word."""
    job = await _job(request)
    try:
        form = await read_form(request)
        if form["really"].strip().casefold() != WORD:
            raise Invalid(f"Nothing was forgotten: type the word {WORD}, to say that you mean it.")
        seen = job.result or {}
        if not job.is_dry or not seen.get("what") or job.is_outdated:
            raise Invalid("Nothing was forgotten: this preview has ended. Look again at what would go.")
        copy = await ask(request, _last_copy)  # afterwards the views are gone, which name it
        # Twice the same yes is one job.
        begun = await _start(request, {str(seen["by"]): str(seen["what"])}, f"forget {job.id}")
    except Refused as refused:
        return await _shown(request, job, refused)
    return done(
        request,
        f"/m/{in_address(begun.memory)}/forget/{begun.id}",
        Note(copy, is_lasting=True) if copy else None,
    )


ROUTES: list[Screen] = [
    ("/forget", ["GET"], _choose),
    ("/forget", ["POST"], _preview),
    ("/forget/{job}", ["GET"], _watch),
    ("/forget/{job}", ["POST"], _really),
]
